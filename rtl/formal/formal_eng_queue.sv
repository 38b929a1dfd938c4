// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The queue of the engine serves each session with work once. Whatever the pipeline and the timer
/// walk push at the same time, it never returns a session without new work, no session waits for
/// more than all the others, and the queue never overflows.
module formal_eng_queue #(
  /// Bits in a session number.
  localparam int unsigned Bits = 2
) (
  input logic clk_i,
  /// Free: the watched session; its value in the first cycle counts.
  input logic [Bits-1:0] watched_i,
  /// Free: the pipeline pushes a session.
  input logic push_i,
  /// Free: with push_i: the session.
  input logic [Bits-1:0] push_sid_i,
  /// Free: the timer walk pushes a session.
  input logic walk_i,
  /// Free: with walk_i: the session.
  input logic [Bits-1:0] walk_sid_i,
  /// Free: the pipeline pops a session.
  input logic pop_i
);
  localparam int unsigned Sessions = 2 ** Bits;

  logic rst_q = 1'b1;
  logic [Bits-1:0] watched_q;
  logic walk_ready, valid;
  logic [Bits-1:0] sid;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (rst_q) watched_q <= watched_i;
  end

  spfe_tcp_eng_queue #(
    .SessionCount(Sessions)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .push_i(push_i && !rst_q),
    .push_sid_i,
    .walk_i(walk_i && !rst_q),
    .walk_sid_i,
    .walk_ready_o(walk_ready),
    .valid_o(valid),
    .sid_o(sid),
    .pop_i
  );

  // The watched session has work that was not served yet; number of sessions served meanwhile.
  logic work_q, given, taken;
  logic [Bits:0] others_q, quiet_q;
  logic pushed_q;  // the queue reads the pipeline's push one cycle later

  assign given = !rst_q && (pushed_q || (walk_i && walk_ready && walk_sid_i == watched_q));
  assign taken = valid && pop_i && sid == watched_q;

  always_ff @(posedge clk_i) begin
    pushed_q <= !rst_q && push_i && push_sid_i == watched_q;
    work_q <= !rst_q && !taken && (work_q || given);
    others_q <= rst_q || taken || !work_q ? '0 : others_q + {{Bits{1'b0}}, valid && pop_i};
    quiet_q <= rst_q || valid || !work_q ? '0 : quiet_q + 1'b1;
    if (!rst_q) begin
      a_work : assert (!taken || work_q);
      a_fair : assert (32'(others_q) < Sessions);
      // A session in the queue appears at its output within two cycles.
      a_shown : assert (32'(quiet_q) < 2);
      c_all : cover (taken && 32'(others_q) == Sessions - 1);
      c_again : cover (taken && given);
    end
  end
endmodule
