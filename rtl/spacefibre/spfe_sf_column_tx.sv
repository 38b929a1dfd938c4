// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A lane's share of the data frames that are sent: its scrambler and its CRC-16
/// (ECSS-E-ST-50-11C, 5.6.4.2, 5.7.6.2, 5.7.6.4).
module spfe_sf_column_tx
  import spfe_sf_pkg::*;
  import spfe_sf_link_pkg::*;
#(
  /// 1: the CRC covers the words as they are on the line; 0: before scrambling.
  parameter bit CrcCoversScrambled = 1'b1,
  /// 1: the CRC of a word is made of that of its first half, which takes less logic and more time.
  parameter bit Chained = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// Data frames are scrambled; read at each SDF.
  input logic scrambled_i,
  /// Kind of the row.
  input row_kind_e row_i,
  /// Word of this lane.
  input word_t word_i,
  /// The lane carries PAD in this row of data.
  input logic pad_i,
  /// The row is taken.
  input logic take_i,
  /// Word for the lane, unless it is PAD or an EDF.
  output word_t word_o,
  /// Upper half of an EDF.
  output logic [15:0] crc_o
);
  logic [15:0] crc_q, crc_before, crc_word;
  logic [15:0] prbs_q, prbs_next;
  logic [31:0] random;
  logic scrambled_q;
  word_t sent;

  spfe_lfsr i_random (
    .state_i(prbs_q),
    .state_o(prbs_next),
    .bits_o(random)
  );
  logic [31:0] covered;
  assign covered = CrcCoversScrambled ? sent.bits : word_i.bits;
  assign crc_before = row_i == RowSdf ? 16'hFFFF : crc_q;
  if (Chained) begin : gen_chained
    spfe_crc #(
      .Bytes(2)
    ) i_crc_end (
      .crc_i(crc_before),
      .data_i(covered[15:0]),
      .crc_o
    );
    spfe_crc #(
      .Bytes(2)
    ) i_crc (
      .crc_i(crc_o),
      .data_i(covered[31:16]),
      .crc_o(crc_word)
    );
  end else begin : gen_fast
    spfe_crc i_crc (
      .crc_i(crc_before),
      .data_i(covered),
      .crc_o(crc_word)
    );
    spfe_crc #(
      .Bytes(2)
    ) i_crc_end (
      .crc_i(crc_q),
      .data_i(word_i.bits[15:0]),
      .crc_o
    );
  end

  always_comb begin
    sent = word_i;
    for (int unsigned s = 0; s < 4; s++) begin
      if (row_i == RowData && scrambled_q && !word_i.k[s]) begin
        sent.bits[8*s+:8] = word_i.bits[8*s+:8] ^ random[8*s+:8];
      end
    end
  end
  assign word_o = sent;

  always_ff @(posedge clk_i) begin
    if (take_i) begin
      if (row_i == RowSdf) begin
        prbs_q <= '1;
        scrambled_q <= scrambled_i;
        crc_q <= crc_word;
      end
      if (row_i == RowData && !pad_i) begin
        prbs_q <= prbs_next;
        crc_q <= crc_word;
      end
    end
    if (rst_i) begin
      crc_q <= '1;
      prbs_q <= '1;
      scrambled_q <= 1'b0;
    end
  end
endmodule
