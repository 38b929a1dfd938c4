// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Simulation only: a word that is offered stays, unchanged, until it is taken.
module spfe_check_stream #(
  /// Bits of a word.
  parameter int unsigned Width = 8
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high; nothing is checked across it.
  input logic rst_i,
  /// A word is offered.
  input logic valid_i,
  /// The word is taken.
  input logic ready_i,
  /// The word.
  input logic [Width-1:0] data_i
);
  logic waiting_q;
  logic [Width-1:0] data_q;

  always_ff @(posedge clk_i) begin
    waiting_q <= !rst_i && valid_i && !ready_i;
    data_q <= data_i;
    if (!rst_i && waiting_q) begin
      a_valid_stays :
      assert (valid_i)
      else $error("valid fell before ready came");
      a_data_stays :
      assert (!valid_i || data_i == data_q)
      else $error("the word changed from %h to %h before ready came", data_q, data_i);
    end
  end
endmodule
