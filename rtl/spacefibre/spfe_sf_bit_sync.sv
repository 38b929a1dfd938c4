// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Finds the word boundary in the bits of a line (ECSS-E-ST-50-11C, 5.5.6). Only K28.5 and K28.7
/// contain a comma, and both are always symbol 0. For transceivers that do not align by themselves.
module spfe_sf_bit_sync (
  input logic clk_i,
  input logic rst_i,
  /// 40 bits of the line in each cycle; bit 0 was received first.
  input logic [39:0] bits_i,
  /// The received bits are to be inverted: the wires of the pair are swapped.
  input logic invert_i,
  /// 40 bits of a word, two cycles later.
  output logic [39:0] bits_o,
  /// The boundary moved: the word before is not whole. With bits_o.
  output logic moved_o
);
  logic [39:0] before_q;
  logic [39:0] now;
  logic [5:0] offset_q;
  logic [39:0] comma;
  logic [39:0] elsewhere;
  logic [5:0] found;
  logic moved;
  logic [79:0] both;
  logic [39:0] word_q;
  logic moved_q;

  assign now = invert_i ? ~bits_i : bits_i;
  assign both = {now, before_q};

  always_comb begin
    for (int unsigned i = 0; i < 40; i++) begin
      comma[i] = both[i+:7] == 7'b1111100 || both[i+:7] == 7'b0000011;
    end
    elsewhere = comma;
    elsewhere[offset_q] = 1'b0;
  end

  logic [39:0] unused_onehot;
  spfe_first_one #(
    .Width(40)
  ) i_first (
    .data_i(elsewhere),
    .found_o(moved),
    .onehot_o(unused_onehot),
    .index_o(found)
  );

  assign bits_o = word_q;
  assign moved_o = moved_q;

  always_ff @(posedge clk_i) begin
    before_q <= now;
    if (moved) offset_q <= found;
    word_q <= 40'(both >> (moved ? found : offset_q));
    moved_q <= moved;
    if (rst_i) begin
      offset_q <= '0;
      moved_q <= 1'b0;
    end
  end
endmodule
