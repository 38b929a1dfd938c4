// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A step of the CRC of RMAP (50-52C 5.2) over the first bytes of a word. The CRC over bytes and
/// their CRC is 0.
module spfe_rmap_crc (
  /// CRC before the step; 0 at the start.
  input logic [7:0] crc_i,
  /// Bytes; byte 0 is the first.
  input logic [3:0][7:0] data_i,
  /// Number of bytes that count, 0 to 4.
  input logic [2:0] count_i,
  /// CRC after the step.
  output logic [7:0] crc_o
);
  logic [4:0][7:0] crc;
  assign crc[0] = crc_i;
  for (genvar i = 0; i < 4; i++) begin : gen_bytes
    spfe_crc #(
      .Width(8),
      .Poly(8'hE0),
      .Bytes(i + 1)
    ) i_crc (
      .crc_i(crc_i),
      .data_i(data_i[i:0]),
      .crc_o(crc[i+1])
    );
  end
  assign crc_o = count_i > 3'd4 ? crc[4] : crc[count_i];
endmodule
