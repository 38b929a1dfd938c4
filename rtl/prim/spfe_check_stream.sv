// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Simulation only: asserts that valid and the word stay unchanged until ready.
module spfe_check_stream #(
  /// Bits in a word.
  parameter int unsigned Width = 8
) (
  input logic clk_i,
  /// Synchronous reset, active high; nothing is checked across it.
  input logic rst_i,
  /// Word of the stream under observation.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  input logic ready_i
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
