// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// What the transmitter tells: kept in a register until its turn comes. The end of a reset that answers
/// a segment of no session is no event: it sets free the header that all of them share.
module spfe_tcp_eng_sent
  import spfe_tcp_pkg::*;
#(
    /// Sessions, 2 to 256.
    parameter int unsigned SessionCount = 16
) (
    /// Clock.
    input logic clk_i,
    /// Synchronous reset, active high.
    input logic rst_i,
    /// Something was sent or left to us; from the transmitter.
    input tx_done_t done_i,
    /// done_i is there and stays until it is taken.
    input logic valid_i,
    /// It is taken; from a register.
    output logic ready_o,
    /// The oldest one; to the pipeline.
    output tx_done_t done_o,
    /// done_o is there; from a register.
    output logic valid_o,
    /// The pipeline takes it.
    input logic take_i,
    /// A reset of no session is on its way; from the pipeline.
    input logic reset_i,
    /// None is.
    output logic anon_free_o
);
  logic valid_q, anon_q, anon_end;
  tx_done_t done_q;

  assign ready_o = !valid_q;
  assign valid_o = valid_q;
  assign done_o = done_q;
  assign anon_free_o = !anon_q;
  assign anon_end = valid_i && ready_o && 32'(done_i.sid) >= SessionCount;

  always_ff @(posedge clk_i) begin
    if (ready_o) begin
      valid_q <= valid_i && !anon_end;
      done_q <= done_i;
    end else if (take_i) begin
      valid_q <= 1'b0;
    end
    if (reset_i) anon_q <= 1'b1;
    else if (anon_end) anon_q <= 1'b0;
    if (rst_i) begin
      valid_q <= 1'b0;
      anon_q <= 1'b0;
    end
  end

endmodule
