// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A lane's share of the data frames that are received: its scrambler and its CRC-16
/// (ECSS-E-ST-50-11C, 5.6.4.2, 5.7.6.2, 5.7.6.4).
module spfe_sf_column_rx
  import spfe_sf_pkg::*;
#(
  /// 1: the CRC covers the words as they are on the line; 0: after unscrambling.
  parameter bit CrcCoversScrambled = 1'b1,
  /// 1: the CRC is a cycle late, which takes less logic.
  parameter bit Late = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// The far end scrambles data frames; read at each SDF.
  input logic scrambled_i,
  /// Word received.
  input word_t word_i,
  /// It belongs to a row of data in a data frame; otherwise it has no scrambling.
  input logic in_frame_i,
  /// It is an SDF.
  input logic start_i,
  /// It is a word of a data frame, not PAD.
  input logic data_i,
  /// The word without scrambling.
  output word_t word_o,
  /// As an EDF it has the right CRC; a cycle later with Late.
  output logic good_o
);
  logic [15:0] crc_q;
  logic [15:0] prbs_q, prbs_next;
  logic [31:0] random;
  logic scrambled_q;

  spfe_lfsr i_random (
    .state_i(prbs_q),
    .state_o(prbs_next),
    .bits_o(random)
  );
  logic [31:0] covered;
  assign covered = CrcCoversScrambled ? word_i.bits : word_o.bits;
  if (Late) begin : gen_late
    logic [31:0] covered_q;
    logic [15:0] half, crc;
    logic start_q, data_q;
    spfe_crc #(
      .Bytes(2)
    ) i_half (
      .crc_i(start_q ? 16'hFFFF : crc_q),
      .data_i(covered_q[15:0]),
      .crc_o(half)
    );
    spfe_crc #(
      .Bytes(2)
    ) i_crc (
      .crc_i(half),
      .data_i(covered_q[31:16]),
      .crc_o(crc)
    );
    assign good_o = half == covered_q[31:16];
    always_ff @(posedge clk_i) begin
      covered_q <= covered;
      start_q <= start_i;
      data_q <= data_i;
      if (start_q || data_q) crc_q <= crc;
      if (rst_i) {start_q, data_q} <= '0;
    end
  end else begin : gen_now
    logic [15:0] crc_start, crc_word, crc_end;
    // start_i comes late.
    spfe_crc i_crc_start (
      .crc_i(16'hFFFF),
      .data_i(word_i.bits),
      .crc_o(crc_start)
    );
    spfe_crc i_crc (
      .crc_i(crc_q),
      .data_i(covered),
      .crc_o(crc_word)
    );
    spfe_crc #(
      .Bytes(2)
    ) i_crc_end (
      .crc_i(crc_q),
      .data_i(word_i.bits[15:0]),
      .crc_o(crc_end)
    );
    assign good_o = crc_end == word_i.bits[31:16];
    always_ff @(posedge clk_i) begin
      if (start_i) crc_q <= crc_start;
      else if (data_i) crc_q <= crc_word;
      if (rst_i) crc_q <= '1;
    end
  end

  always_comb begin
    word_o = word_i;
    for (int unsigned s = 0; s < 4; s++) begin
      if (scrambled_q && in_frame_i && !word_i.k[s]) begin
        word_o.bits[8*s+:8] = word_i.bits[8*s+:8] ^ random[8*s+:8];
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      prbs_q <= '1;
      scrambled_q <= scrambled_i;
    end else if (data_i) begin
      prbs_q <= prbs_next;
    end
    if (rst_i) begin
      prbs_q <= '1;
      scrambled_q <= 1'b0;
    end
  end
endmodule
