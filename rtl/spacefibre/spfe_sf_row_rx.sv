// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Follows the frames through the received rows, removes scrambling, checks the CRC-16 of each
/// lane, and packs the words (ECSS-E-ST-50-11C, 5.6.4.2).
module spfe_sf_row_rx
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// Lanes, 2 to 16.
  parameter int unsigned Lanes = 4,
  /// 1: the CRC-16 covers the words as they are on the line; 0: before scrambling.
  parameter bit CrcCoversScrambled = 1'b1,
  /// Bits of a number of words in a row; follows from Lanes.
  localparam int unsigned CountWidth = $clog2(Lanes + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset.
  input logic clear_i,
  /// The far end scrambles the data frames on these lanes.
  input logic [Lanes-1:0] scrambled_i,

  /// Row of the lanes: RowNone, RowRxErr, RowControl or RowData.
  input row_kind_e row_i,
  /// Word of each lane.
  input word_t [Lanes-1:0] words_i,
  /// Lanes that belong to the row.
  input logic [Lanes-1:0] lanes_i,
  /// Lanes of it with data.
  input logic [Lanes-1:0] data_i,

  /// Row for the data link layer.
  output row_kind_e row_o,
  /// Its words, without gaps; a control word is in word 0.
  output word_t [Lanes-1:0] words_o,
  /// Number of data words.
  output logic [CountWidth-1:0] count_o,
  /// For an EDF: the CRC-16 of all lanes is right.
  output logic crc16_good_o
);
  /// Frame that the received rows belong to.
  typedef enum logic [2:0] {
    InNone,
    InData,
    InBroadcast,
    InBroadcastInData,
    InIdle
  } in_e;

  in_e in_q, in_d;
  row_kind_e row, row_q;
  link_kind_e kind;
  word_t first;
  word_t [Lanes-1:0] plain, packed_words, words_q;
  logic [CountWidth-1:0] count_q;
  // The CRC-16 is a cycle late.
  logic in_data_q;
  logic [Lanes-1:0] good, lanes_q, ends_q;
  logic [CountWidth-1:0] count;
  logic in_frame;

  assign in_frame = in_q == InData && row_i == RowData;
  // Word of the lowest lane. Only data of a data frame has scrambling.
  assign first = packed_words[0];
  assign kind = link_kind(first);

  always_comb begin
    in_d = in_q;
    row = row_i;
    if (row_i == RowRxErr) in_d = InNone;
    // Copies of a word become one.
    if (row_i == RowData && in_q != InNone && in_q != InData) row = RowControl;
    if (row_i == RowControl) begin
      case (kind)
        LinkSdf: in_d = InData;
        LinkEdf, LinkRetry: in_d = InNone;
        LinkSbf: begin
          if (in_q == InData) in_d = InBroadcastInData;
          else in_d = in_q == InBroadcast || in_q == InBroadcastInData ? InNone : InBroadcast;
        end
        LinkEbf: in_d = in_q == InBroadcastInData ? InData : InNone;
        LinkSif: in_d = InIdle;
        default: ;
      endcase
    end
  end

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    logic crc_good;
    spfe_sf_column_rx #(
      .CrcCoversScrambled(CrcCoversScrambled),
      .Late(1'b1)
    ) i_column (
      .clk_i,
      .rst_i,
      .scrambled_i(scrambled_i[l]),
      .word_i(words_i[l]),
      .in_frame_i(in_frame),
      .start_i(row_i == RowControl && kind == LinkSdf && lanes_i[l]),
      .data_i(in_frame && data_i[l]),
      .word_o(plain[l]),
      .good_o(crc_good)
    );
    // The other words of the row may be anything.
    assign good[l] = !lanes_q[l] || (crc_good && ends_q[l]);
    always_ff @(posedge clk_i) begin
      lanes_q[l] <= lanes_i[l];
      ends_q[l] <= words_i[l].k == 4'h1 && words_i[l].bits[7:0] == KEdf;
    end
  end

  // Place of each lane's word in the row, the lowest lane first.
  logic [Lanes-1:0][CountWidth-1:0] place;
  always_comb begin
    logic [CountWidth-1:0] below;
    below = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      place[l] = below;
      below = below + CountWidth'(lanes_i[l]);
    end
  end
  for (genvar i = 0; i < Lanes; i++) begin : gen_place
    if (i == Lanes - 1) begin : gen_last
      assign packed_words[i] = plain[i];
    end else begin : gen_other
      // The word is of a lane from number i on.
      localparam int unsigned FurtherWidth = $clog2(Lanes - i);
      logic [FurtherWidth-1:0] further;
      word_t [(1<<FurtherWidth)-1:0] words;
      always_comb begin
        further = '0;
        for (int unsigned j = 0; j < 1 << FurtherWidth; j++) begin
          words[j] = plain[i+j<Lanes?i+j : Lanes-1];
          if (i + j < Lanes && lanes_i[(i+j)%Lanes] && place[(i+j)%Lanes] == CountWidth'(i)) begin
            further |= FurtherWidth'(j);
          end
        end
      end
      assign packed_words[i] = words[further];
    end
  end
  always_comb begin
    count = '0;
    for (int unsigned l = 0; l < Lanes; l++) count = count + CountWidth'(data_i[l]);
  end

  always_ff @(posedge clk_i) begin
    in_q <= in_d;
    row_q <= row;
    words_q <= packed_words;
    count_q <= count;
    in_data_q <= in_q == InData;
    if (rst_i || clear_i) begin
      in_q <= InNone;
      row_q <= RowNone;
    end
  end
  assign row_o = row_q;
  assign words_o = words_q;
  assign count_o = count_q;
  assign crc16_good_o = good == '1 && in_data_q;
endmodule
