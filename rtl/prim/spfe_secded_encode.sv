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

  // Data bits whose position has a bit set.
  function automatic logic [Width-1:0] covered(int unsigned place_bit);
    for (int unsigned d = 0; d < Width; d++) covered[d] = 1'(position(d) >> place_bit);
  endfunction

  for (genvar c = 0; c < Checks - 1; c++) begin : gen_check
    localparam logic [Width-1:0] Covered = covered(c);
    assign check_o[c] = ^(data_i & Covered);
  end

  assign check_o[Checks-1] = ^{data_i, check_o[Checks-2:0]};
endmodule
