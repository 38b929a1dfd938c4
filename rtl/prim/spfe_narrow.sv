// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Splits a word into up to Ratio words, the reverse of spfe_widen. One word leaves in each cycle.
module spfe_narrow #(
  /// Bits in a word to the destination, 1 or more.
  parameter int unsigned Width = 32,
  /// Words in a joined word, 2 or more.
  parameter int unsigned Ratio = 4,
  /// Bits of a number of words; follows from Ratio.
  localparam int unsigned CountWidth = $clog2(Ratio + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Joined word from the source; word 0 leaves first.
  input logic [Ratio-1:0][Width-1:0] data_i,
  /// Number of words in data_i, 1 to Ratio; with data_i.
  input logic [CountWidth-1:0] count_i,
  /// It ends a packet; with data_i.
  input logic last_i,
  input logic valid_i,
  output logic ready_o,
  /// Word to the destination.
  output logic [Width-1:0] data_o,
  /// It ends a packet; with data_o.
  output logic last_o,
  output logic valid_o,
  input logic ready_i
);
  if (Ratio < 2 || Width < 1) begin : gen_bad_ratio
    $error("spfe_narrow: Ratio is %0d and Width %0d; from 2 and from 1 are possible", Ratio, Width);
  end

  logic [Ratio-1:0][Width-1:0] data_q;
  // Number of words left; 0: nothing is there.
  logic [CountWidth-1:0] left_q;
  logic last_q;
  logic ends;

  assign ends = left_q == CountWidth'(1);
  assign data_o = data_q[0];
  assign last_o = last_q && ends;
  assign valid_o = left_q != '0;
  assign ready_o = left_q == '0 || (ends && ready_i);

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      data_q <= data_i;
      left_q <= count_i;
      last_q <= last_i;
    end else if (valid_o && ready_i) begin
      data_q <= data_q >> Width;
      left_q <= left_q - 1'b1;
    end
    if (rst_i) left_q <= '0;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    a_count :
    assert (rst_i || !valid_i || (count_i != '0 && count_i <= CountWidth'(Ratio)))
    else $error("a word of %0d words", count_i);
  end
`endif
endmodule
