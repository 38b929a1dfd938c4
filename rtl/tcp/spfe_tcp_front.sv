// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Where in a frame each 32-bit word of the MAC stream is.
///
/// Combinational beside a small state: words of this cycle come out in this cycle, numbered as if the
/// frame had no tag, so that a field has one number for all widths and with or without IEEE 802.1Q.
/// Word 3 begins with the EtherType: the tag, which stands before it, is taken out. Where it stands it
/// is in the last lane of its beat, so that no number depends on the data of the same cycle.
module spfe_tcp_front
  import spfe_tcp_pkg::*;
#(
  /// Width of the MAC stream in bits: 32 or 64.
  parameter int unsigned Width = 32,
  /// Words in a cycle; not to be set.
  localparam int unsigned Lanes = Width / 32
) (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,

  /// Frame without preamble and FCS, first byte in bits 7:0; from the MAC, which cannot be stalled.
  input logic [Width-1:0] data_i,
  /// Bytes that count; all but in the last beat.
  input logic [Width/8-1:0] keep_i,
  /// The beat is there.
  input logic valid_i,
  /// Last beat of the frame.
  input logic last_i,

  /// Lane carries a word of the frame that is not a tag.
  output logic [Lanes-1:0] word_valid_o,
  /// Its number without the tag; stays at 511 in frames that are longer.
  output logic [Lanes-1:0][8:0] word_index_o,
  /// Its bytes, the first one in bits 31:24.
  output logic [Lanes-1:0][31:0] word_data_o,
  /// Bytes of it that are part of the frame: 1 to 4.
  output logic [Lanes-1:0][2:0] word_bytes_o,
  /// First beat of a frame.
  output logic start_o,
  /// The frame has a tag; from the beat behind it on, from a register.
  output logic tagged_o,
  /// Tag control information; valid with tagged_o, from a register.
  output logic [15:0] tag_o
);
  localparam logic [8:0] Last = 9'd511;

  if (Width != 32 && Width != 64) begin : gen_width
    $error("spfe_tcp_front: Width is %0d, must be 32 or 64", Width);
  end

  logic inside_q;  // within a frame, after its first beat
  // Numbers of the words of the next beat, if no tag is in it.
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
