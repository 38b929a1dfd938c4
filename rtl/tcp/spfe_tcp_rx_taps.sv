// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Gives access to the words of the headers by number.
///
/// On a 64-bit bus the odd words are in the upper lane. After a tag, words 3 and up are in the
/// other lane. Words 0 and 2 are always in lane 0.
module spfe_tcp_rx_taps
  import spfe_tcp_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Number of words in a beat; follows from Width.
  localparam int unsigned Lanes = Width / 32
) (
  input logic clk_i,
  input logic rst_i,
  /// Data of a beat, the first byte in bits 7:0; from the MAC.
  input logic [Width-1:0] data_i,
  /// Bytes of the beat that belong to the frame.
  input logic [Width/8-1:0] keep_i,
  /// A beat is on the bus.
  input logic valid_i,
  /// Last beat of the frame.
  input logic last_i,
  /// First beat of a frame.
  output logic start_o,
  /// The frame has an IEEE 802.1Q tag; valid from the beat after the tag on.
  output logic tagged_o,
  /// VLAN identifier of the tag.
  output logic [11:0] vlan_o,
  /// The lane has a word, which may be the tag.
  output logic [Lanes-1:0] word_there_o,
  /// The lane has a word that is not the tag.
  output logic [Lanes-1:0] word_valid_o,
  /// Number of the word in the lane.
  output logic [Lanes-1:0][8:0] word_index_o,
  /// Word in the lane, its first byte in bits 31:24.
  output logic [Lanes-1:0][31:0] word_data_o,
  /// Bit n: word n is on the bus.
  output logic [13:0] at_o,
  /// Word 0 or 2, in its cycle.
  output logic [31:0] addr_o,
  /// Word 4, 6, 8, 10 or 12, in its cycle.
  output logic [31:0] even_o,
  /// Word 1, 3, 5, 7, 9, 11 or 13, in its cycle.
  output logic [31:0] odd_o
);
  logic [15:0] tag;
  logic [Lanes-1:0][2:0] word_bytes;
  logic unused_bits;

  spfe_tcp_front #(
    .Width(Width)
  ) i_front (
    .clk_i,
    .rst_i,
    .data_i,
    .keep_i,
    .valid_i,
    .last_i,
    .word_valid_o,
    .word_index_o,
    .word_data_o,
    .word_bytes_o(word_bytes),
    .start_o,
    .tagged_o,
    .tag_o(tag)
  );

  assign vlan_o = tag[11:0];
  assign unused_bits = ^{tag[15:12], word_bytes};
  assign addr_o = word_data_o[0];

  if (Lanes == 1) begin : gen_one
    assign even_o = word_data_o[0];
    assign odd_o = word_data_o[0];
  end else begin : gen_two
    assign even_o = word_data_o[tagged_o];
    assign odd_o = word_data_o[!tagged_o];
  end

  // Number of the first word of the next beat, one-hot; zero after word 13.
  logic [13:0] next_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      if (last_i) next_q <= 14'd1;
      else next_q <= word_valid_o[Lanes-1] ? next_q << Lanes : next_q << (Lanes - 1);
    end
    if (rst_i) next_q <= 14'd1;
  end

  // Only word 3 can be hidden by a tag.
  always_comb begin
    at_o = '0;
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      word_there_o[lane] = valid_i && keep_i[lane*4];
      for (int unsigned n = lane; n < 14; n++) begin
        if (next_q[n-lane] && (n == 3 ? word_valid_o[lane] : word_there_o[lane])) at_o[n] = 1'b1;
      end
    end
  end
endmodule
