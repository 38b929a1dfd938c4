// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A step of both checks of SFRP over the first bytes of a word: CRC-16 of headers (0x1021, most
/// significant bit first) and CRC-32C of payloads. The register of the CRC-16 is kept with its bits
/// reversed.
module spfe_rdma_crc (
  /// CRC-16 before the step.
  input logic [15:0] crc16_i,
  /// CRC-32C before the step, not inverted.
  input logic [31:0] crc32_i,
  /// Bytes; byte 0 is the first.
  input logic [3:0][7:0] data_i,
  /// Number of bytes that count, 1 to 4.
  input logic [2:0] count_i,
  /// CRC-16 after the step over 2 or 4 bytes.
  output logic [15:0] crc16_o,
  /// CRC-32C after the step.
  output logic [31:0] crc32_o
);
  logic [3:0][7:0] mirrored;
  logic [1:0][15:0] crc16;
  logic [3:0][31:0] crc32;

  for (genvar i = 0; i < 4; i++) begin : gen_byte
    for (genvar j = 0; j < 8; j++) begin : gen_bit
      assign mirrored[i][j] = data_i[i][7-j];
    end
  end

  for (genvar i = 0; i < 2; i++) begin : gen_header
    spfe_crc #(
      .Width(16),
      .Poly(16'h8408),
      .Bytes(2 * i + 2)
    ) i_crc (
      .crc_i(crc16_i),
      .data_i(mirrored[2*i+1:0]),
      .crc_o(crc16[i])
    );
  end

  for (genvar i = 0; i < 4; i++) begin : gen_payload
    spfe_crc #(
      .Width(32),
      .Poly(32'h82F63B78),
      .Bytes(i + 1)
    ) i_crc (
      .crc_i(crc32_i),
      .data_i(data_i[i:0]),
      .crc_o(crc32[i])
    );
  end

  assign crc16_o = crc16[count_i==3'd4];
  always_comb begin
    unique case (count_i)
      3'd1: crc32_o = crc32[0];
      3'd2: crc32_o = crc32[1];
      3'd3: crc32_o = crc32[2];
      default: crc32_o = crc32[3];
    endcase
  end
endmodule
