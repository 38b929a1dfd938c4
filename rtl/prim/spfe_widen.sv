// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins Ratio words of a packet into one. The last word of a packet ends the joined word early.
module spfe_widen #(
  /// Bits in a word from the source, 1 or more.
  parameter int unsigned Width = 32,
  /// Words in a joined word, 2 or more.
  parameter int unsigned Ratio = 4,
  /// Bits of a number of words; follows from Ratio.
  localparam int unsigned CountWidth = $clog2(Ratio + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Word from the source.
  input logic [Width-1:0] data_i,
  /// It ends a packet; with data_i.
  input logic last_i,
  input logic valid_i,
  output logic ready_o,
  /// Joined word to the destination; word 0 came first. Words beyond count_o are not defined.
  output logic [Ratio-1:0][Width-1:0] data_o,
  /// Number of words in data_o, 1 to Ratio; with data_o.
  output logic [CountWidth-1:0] count_o,
  /// It ends a packet; with data_o.
  output logic last_o,
  output logic valid_o,
  input logic ready_i
);
  if (Ratio < 2 || Width < 1) begin : gen_bad_ratio
    $error("spfe_widen: Ratio is %0d and Width %0d; from 2 and from 1 are possible", Ratio, Width);
  end

  logic [Ratio-1:0][Width-1:0] data_q;
  logic [CountWidth-1:0] count_q;
  logic last_q;
  logic valid_q;

  assign data_o = data_q;
  assign count_o = count_q;
  assign last_o = last_q;
  assign valid_o = valid_q;
  assign ready_o = !valid_q || ready_i;

  // Number of words that are there before the one of this cycle.
  logic [CountWidth-1:0] have;
  assign have = valid_q ? '0 : count_q;

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      for (int unsigned i = 0; i < Ratio; i++) begin
        if (have == CountWidth'(i)) data_q[i] <= data_i;
      end
      count_q <= have + 1'b1;
      last_q <= last_i;
      valid_q <= last_i || have == CountWidth'(Ratio - 1);
    end else if (valid_q && ready_i) begin
      valid_q <= 1'b0;
      count_q <= '0;
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      count_q <= '0;
    end
  end
endmodule
