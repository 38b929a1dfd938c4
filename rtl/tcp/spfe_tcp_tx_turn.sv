// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Fairness of the sender: after Turn live frames in a row, a waiting command or network frame goes
/// first, so that busy users cannot starve it.
module spfe_tcp_tx_turn #(
  /// Number of consecutive live frames before others have priority; a power of 2.
  parameter int unsigned Turn = 16
) (
  input logic clk_i,
  input logic rst_i,
  /// A live frame starts.
  input logic live_i,
  /// A frame of a command or of the network starts.
  input logic other_i,
  /// A command or a network frame waits.
  input logic waiting_i,
  /// Others have priority over live messages.
  output logic turn_o
);
  logic [$clog2(Turn)-1:0] passed_q;
  logic turn_q, live_q, other_q;

  assign turn_o = turn_q;

  // Frames are counted in the cycle after their start, which is known too late to count at once.
  always_ff @(posedge clk_i) begin
    live_q <= live_i;
    other_q <= other_i;
    if (live_q) passed_q <= passed_q + 1'b1;
    if (live_q && passed_q == '1) turn_q <= 1'b1;
    if (rst_i || other_q || !waiting_i) begin
      passed_q <= '0;
      turn_q <= 1'b0;
    end
  end
endmodule
