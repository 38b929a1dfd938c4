// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Holds one report of the transmitter until the pipeline takes it. The report of a reset without a
/// session causes no event; it frees the header entry that these resets share.
module spfe_tcp_eng_report
  import spfe_tcp_pkg::*;
#(
  /// Number of sessions, 2 to 256.
  parameter int unsigned SessionCount = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// Report from the transmitter.
  input tx_done_t done_i,
  /// done_i is valid; held until accepted.
  input logic valid_i,
  /// Accepts done_i.
  output logic ready_o,
  /// Report to the pipeline.
  output tx_done_t done_o,
  /// done_o is valid.
  output logic valid_o,
  /// Pipeline takes done_o.
  input logic take_i,
  /// A reset without a session was issued; one cycle.
  input logic reset_i,
  /// No reset without a session is in progress.
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
