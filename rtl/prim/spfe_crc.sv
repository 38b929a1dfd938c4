// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// One step of a cyclic redundancy check that takes the low bit of each byte first: the register
/// after Bytes more bytes. Each bit of the result is the parity of a fixed set of input bits.
///
/// | check | Width | Poly | start | inverted at the end |
/// | --- | --- | --- | --- | --- |
/// | CRC-8 of SpaceFibre and of RMAP | 8 | E0 | 00 | no |
/// | CRC-16 of SpaceFibre's data frames | 16 | 8408 | FFFF | no |
/// | CRC-32C of SFRP | 32 | 82F63B78 | FFFFFFFF | yes |
module spfe_crc #(
  /// Bits of the register.
  parameter int unsigned Width = 16,
  /// Polynomial without its highest term, the lowest term in the highest bit.
  parameter logic [Width-1:0] Poly = 16'h8408,
  /// Bytes of a step, 1 or more.
  parameter int unsigned Bytes = 4
) (
  /// Register before the step.
  input logic [Width-1:0] crc_i,
  /// Bytes; byte 0 is the first.
  input logic [Bytes-1:0][7:0] data_i,
  /// Register after the step.
  output logic [Width-1:0] crc_o
);
  localparam int unsigned Inputs = Width + 8 * Bytes;

  if (Width < 8 || Bytes < 1) begin : gen_bad_size
    $error("spfe_crc: Width is %0d and Bytes %0d; from 8 and from 1 are possible", Width, Bytes);
  end

  typedef logic [Width-1:0][Inputs-1:0] rows_t;

  // For each bit of the register, the input bits on which it depends; all bits take the steps of
  // the shift register at once.
  function automatic rows_t rows();
    rows_t state;
    logic [Inputs-1:0] feedback;
    for (int unsigned row = 0; row < Width; row++) state[row] = Inputs'(1) << row;
    for (int unsigned b = 0; b < 8 * Bytes; b++) begin
      feedback = state[0] ^ (Inputs'(1) << (Width + b));
      for (int unsigned row = 0; row < Width; row++) begin
        state[row] = (row + 1 < Width ? state[(row+1)%Width] : '0) ^ (Poly[row] ? feedback : '0);
      end
    end
    return state;
  endfunction

  localparam rows_t Rows = rows();

  for (genvar i = 0; i < Width; i++) begin : gen_bit
    assign crc_o[i] = ^({data_i, crc_i} & Rows[i]);
  end
endmodule
