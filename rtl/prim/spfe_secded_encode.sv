// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Check bits of a word, by spfe_secded_pkg.
module spfe_secded_encode
  import spfe_secded_pkg::*;
#(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 32,
  /// Number of check bits; follows from Width.
  localparam int unsigned Checks = check_bits(Width)
) (
  /// Word.
  input logic [Width-1:0] data_i,
  /// Its check bits.
  output logic [Checks-1:0] check_o
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_secded_encode: Width is %0d; 1 or more is possible", Width);
  end

  for (genvar c = 0; c < Checks - 1; c++) begin : gen_check
    // Data bits whose position has bit c set.
    logic [Width-1:0] taken;
    for (genvar d = 0; d < Width; d++) begin : gen_bit
      localparam int unsigned Place = position(d);
      assign taken[d] = Place[c] && data_i[d];
    end
    assign check_o[c] = ^taken;
  end

  assign check_o[Checks-1] = ^{data_i, check_o[Checks-2:0]};
endmodule
