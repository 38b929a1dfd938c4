// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Queue of sessions that need service, in order of arrival. Each session is in it at most once.
module spfe_tcp_eng_queue #(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16,
  /// Width of a session number; derived.
  localparam int unsigned Bits = $clog2(SessionCount)
) (
  input logic clk_i,
  input logic rst_i,
  /// A session needs service; it enters the queue one cycle later.
  input logic push_i,
  /// Session of push_i.
  input logic [Bits-1:0] push_sid_i,
  /// A timer of a session has expired. Stalled in the cycle after push_i.
  input logic walk_i,
  /// Session of walk_i.
  input logic [Bits-1:0] walk_sid_i,
  output logic walk_ready_o,
  /// A session waits.
  output logic valid_o,
  /// Oldest waiting session.
  output logic [Bits-1:0] sid_o,
  /// Removes the oldest session.
  input logic pop_i
);
  logic [SessionCount-1:0] queued_q;
  logic push_q;
  logic [Bits-1:0] push_sid_q, sid;
  logic add, unused_ready;
  logic [$clog2(2**Bits+1)-1:0] unused_count;
  logic unused_almost;

  assign sid = push_q ? push_sid_q : walk_sid_i;
  // A session removed in this cycle is examined afterwards, so it need not enter again.
  assign add = (push_q || walk_i) && !queued_q[sid];
  assign walk_ready_o = !push_q;

  spfe_fifo #(
    .Width(Bits),
    .Depth(2 ** Bits)
  ) i_fifo (
    .clk_i,
    .rst_i,
    .valid_i(add),
    .ready_o(unused_ready),
    .data_i(sid),
    .valid_o,
    .ready_i(pop_i),
    .data_o(sid_o),
    .count_o(unused_count),
    .almost_full_o(unused_almost)
  );

  always_ff @(posedge clk_i) begin
    push_q <= push_i && !rst_i;
    push_sid_q <= push_sid_i;
    if (rst_i) begin
      queued_q <= '0;
    end else begin
      if (valid_o && pop_i) queued_q[sid_o] <= 1'b0;
      if (add) queued_q[sid] <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_room :
    assert (rst_i || !add || unused_ready)
    else $error("session %0d is in the queue twice", sid);
  end
`endif
endmodule
