// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Numbers the 32-bit words of a frame from the MAC, in the cycle in which they arrive.
///
/// The numbers are those of a frame without an IEEE 802.1Q tag, so a field has the same number for
/// all widths, with or without a tag. Word 3 begins with the EtherType; a tag comes before it and
/// has no number of its own. On a 64-bit bus the tag is in the last lane of its beat, so no number
/// depends on data of the same cycle.
module spfe_tcp_front
  import spfe_tcp_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Number of words in a beat; follows from Width.
  localparam int unsigned Lanes = Width / 32
) (
  input logic clk_i,
  input logic rst_i,
  /// Data of a beat, the first byte in bits 7:0; from the MAC, which cannot be stalled.
  input logic [Width-1:0] data_i,
  /// Bytes that belong to the frame: all, but in the last beat.
  input logic [Width/8-1:0] keep_i,
  /// A beat is on the bus.
  input logic valid_i,
  /// Last beat of the frame.
  input logic last_i,

  /// The lane has a word of the frame that is not the tag.
  output logic [Lanes-1:0] word_valid_o,
  /// Number of the word without the tag, at most 511.
  output logic [Lanes-1:0][8:0] word_index_o,
  /// The word, its first byte in bits 31:24.
  output logic [Lanes-1:0][31:0] word_data_o,
  /// Bytes of the word that belong to the frame, 1 to 4.
  output logic [Lanes-1:0][2:0] word_bytes_o,
  /// First beat of a frame.
  output logic start_o,
  /// The frame has a tag; from a register, valid from the beat after the tag on.
  output logic tagged_o,
  /// With tagged_o: tag control information; from a register.
  output logic [15:0] tag_o
);
  localparam logic [8:0] Last = 9'd511;

  if (Width != 32 && Width != 64) begin : gen_width
    $error("spfe_tcp_front: Width is %0d, 32 and 64 are possible", Width);
  end

  logic inside_q;  // after the first beat of a frame
  // Numbers of the words of the next beat, unless it has a tag.
  logic [Lanes-1:0][8:0] index_q, index_d;
  logic tagged_q;
  logic [15:0] tag_q;
  logic is_tag;
  logic [Lanes-1:0][31:0] word;

  assign is_tag = index_q[Lanes-1] == 9'd3 && !tagged_q && word[Lanes-1][31:16] == 16'h8100;

  always_comb begin
    for (int unsigned lane = 0; lane < Lanes; lane++) begin
      word[lane] = {
        data_i[lane*32+:8], data_i[lane*32+8+:8], data_i[lane*32+16+:8], data_i[lane*32+24+:8]
      };
      word_bytes_o[lane] = {2'd0, keep_i[lane*4]} + {2'd0, keep_i[lane*4+1]} +
          {2'd0, keep_i[lane*4+2]} + {2'd0, keep_i[lane*4+3]};
      word_valid_o[lane] = valid_i && keep_i[lane*4] && !(lane == Lanes - 1 && is_tag);
      index_d[lane] = index_q[lane] > Last - 9'(Lanes) ? Last : index_q[lane] + 9'(Lanes);
      if (is_tag) index_d[lane] = 9'd3 + 9'(lane);
      if (last_i) index_d[lane] = 9'(lane);
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      inside_q <= !last_i;
      index_q <= index_d;
      tagged_q <= !last_i && (tagged_q || is_tag);
      if (is_tag) tag_q <= word[Lanes-1][15:0];
    end
    if (rst_i) begin
      inside_q <= 1'b0;
      tagged_q <= 1'b0;
      for (int unsigned lane = 0; lane < Lanes; lane++) index_q[lane] <= 9'(lane);
    end
  end

  assign word_data_o = word;
  assign word_index_o = index_q;
  assign start_o = valid_i && !inside_q;
  assign tagged_o = tagged_q;
  assign tag_o = tag_q;
endmodule
