// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Joins the data link layer to a single lane, as a link without the multi-lane protocol does: rows
/// are words (ECSS-E-ST-50-11C, 5.6.4.2).
module spfe_sf_single
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// 1: the CRC-16 covers the words as they are on the line; 0: before scrambling.
  parameter bit CrcCoversScrambled = 1'b1
) (
  input logic clk_i,
  input logic rst_i,
  /// Link reset.
  input logic clear_i,
  /// This end scrambles data frames.
  input logic scrambled_i,
  /// The far end does.
  input logic far_scrambled_i,

  /// Row of the data link layer.
  input row_kind_e row_i,
  /// Its word.
  input word_t word_i,
  /// The row is taken.
  output logic ready_o,
  /// The lane is active.
  input logic active_i,
  /// Word for the lane, from a register.
  output word_t lane_o,
  output logic lane_valid_o,
  input logic lane_ready_i,

  /// Word of the lane.
  input word_t lane_i,
  input logic lane_valid_i,
  /// Row for the data link layer.
  output row_kind_e row_o,
  /// Its word.
  output word_t word_o,
  /// For an EDF: the CRC-16 is right.
  output logic crc16_good_o
);
  word_t lane, lane_q, sent;
  logic [15:0] crc;
  logic lane_valid_q;
  assign ready_o = lane_ready_i || (active_i && !lane_valid_q);
  assign lane_o = lane_q;
  assign lane_valid_o = lane_valid_q;
  always_ff @(posedge clk_i) begin
    if (ready_o) begin
      lane_q <= lane;
      lane_valid_q <= row_i != RowNone;
    end
    if (rst_i || clear_i) lane_valid_q <= 1'b0;
  end

  spfe_sf_column_tx #(
    .CrcCoversScrambled(CrcCoversScrambled)
  ) i_tx (
    .clk_i,
    .rst_i,
    .scrambled_i,
    .row_i,
    .word_i,
    .pad_i(1'b0),
    .take_i(row_i != RowNone && ready_o),
    .word_o(sent),
    .crc_o(crc)
  );
  always_comb begin
    lane = sent;
    if (row_i == RowEdf) lane.bits[31:16] = crc;
  end

  /// Frame that the received words belong to.
  typedef enum logic [2:0] {
    InNone,
    InData,
    InBroadcast,
    InBroadcastInData,
    InIdle
  } in_e;

  in_e in_q, in_d;
  link_kind_e kind;
  row_kind_e row_q, row;
  word_t word_q, plain;
  logic good_q, good;
  logic data;

  assign kind = link_kind(lane_i);
  // Data and characters of a virtual channel.
  assign data = !lane_i.k[0] || lane_i.bits[7:0] == Fill || lane_i.bits[7:0] == Eop
      || lane_i.bits[7:0] == Eep;

  always_comb begin
    in_d = in_q;
    row = RowNone;
    if (lane_valid_i) begin
      row = RowControl;
      if (data) begin
        if (in_q == InNone || in_q == InData) row = RowData;
      end else begin
        case (kind)
          LinkRxErr: begin
            row = RowRxErr;
            in_d = InNone;
          end
          LinkSdf: in_d = InData;
          LinkEdf, LinkRetry: in_d = InNone;
          LinkSbf: begin
            if (in_q == InData) in_d = InBroadcastInData;
            else in_d = in_q == InBroadcast || in_q == InBroadcastInData ? InNone : InBroadcast;
          end
          LinkEbf: in_d = in_q == InBroadcastInData ? InData : InNone;
          LinkSif: in_d = InIdle;
          LinkNothing: row = RowNone;
          default: ;
        endcase
      end
    end
  end

  spfe_sf_column_rx #(
    .CrcCoversScrambled(CrcCoversScrambled)
  ) i_rx (
    .clk_i,
    .rst_i,
    .scrambled_i(far_scrambled_i),
    .word_i(lane_i),
    .in_frame_i(1'b1),
    .start_i(lane_valid_i && !data && kind == LinkSdf),
    .data_i(lane_valid_i && data && in_q == InData),
    .word_o(plain),
    .good_o(good)
  );

  always_ff @(posedge clk_i) begin
    in_q <= in_d;
    row_q <= row;
    word_q <= data && in_q == InData ? plain : lane_i;
    good_q <= good && in_q == InData;
    if (rst_i || clear_i) begin
      in_q <= InNone;
      row_q <= RowNone;
    end
  end
  assign row_o = row_q;
  assign word_o = word_q;
  assign crc16_good_o = good_q;
endmodule
