// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sessions that have work, in order of arrival, each in it once.
module spfe_tcp_eng_queue #(
    /// Sessions, 2 or more.
    parameter int unsigned SessionCount = 16,
    /// Bits of a session number; not to be set.
    localparam int unsigned Bits = $clog2(SessionCount)
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// A session has work; from the pipeline, looked at one cycle later.
    input logic push_i,
    /// Its number.
    input logic [Bits-1:0] push_sid_i,
    /// A session's timer has run out; from the walk. Waits in the cycle behind push_i.
    input logic walk_i,
    /// Its number.
    input logic [Bits-1:0] walk_sid_i,
    /// The walk may go on.
    output logic walk_ready_o,
    /// A session waits.
    output logic valid_o,
    /// Its number.
    output logic [Bits-1:0] sid_o,
    /// It is taken.
    input logic pop_i
);
  logic [SessionCount-1:0] queued_q;
  logic push_q;
  logic [Bits-1:0] push_sid_q, sid;
  logic add, unused_ready;
  logic [$clog2(2**Bits+1)-1:0] unused_count;
  logic unused_almost;

  assign sid = push_q ? push_sid_q : walk_sid_i;
  // A session that is taken in this cycle is looked at afterwards: it need not come in again.
  assign add = (push_q || walk_i) && !queued_q[sid];
  assign walk_ready_o = !push_q;

  spfe_fifo #(
      .WIDTH(Bits),
      .DEPTH(2 ** Bits)
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
    a_room: assert (rst_i || !add || unused_ready)
      else $error("session %0d is in the queue twice", sid);
  end
`endif
endmodule
