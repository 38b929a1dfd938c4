// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Corrects one wrong bit of a word and its check bits (spfe_secded_encode) and detects two.
module spfe_secded_decode
  import spfe_secded_pkg::*;
#(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 32,
  /// Number of check bits; follows from Width.
  localparam int unsigned Checks = check_bits(Width)
) (
  /// Word from the memory.
  input logic [Width-1:0] data_i,
  /// Its check bits from the memory.
  input logic [Checks-1:0] check_i,
  /// Word with its wrong bit corrected.
  output logic [Width-1:0] data_o,
  /// One bit of data_i or check_i was wrong.
  output logic corrected_o,
  /// More than one bit was wrong; data_o is not to be used.
  output logic failed_o
);
  logic [Checks-1:0] again;
  logic [Checks-2:0] syndrome;
  logic odd;

  spfe_secded_encode #(
    .Width(Width)
  ) i_encode (
    .data_i,
    .check_o(again)
  );

  assign syndrome = again[Checks-2:0] ^ check_i[Checks-2:0];
  // Parity of all bits as they were read: odd if an odd number of them is wrong.
  assign odd = ^{data_i, check_i};

  // A syndrome that is no position of the code word comes of three or more wrong bits.
  localparam int unsigned Last = position(Width - 1);
  logic outside;
  /* verilator lint_off CMPCONST */  // Some widths use all syndromes.
  assign outside = 32'(syndrome) > Last && (syndrome & (syndrome - 1'b1)) != '0;
  /* verilator lint_on CMPCONST */

  assign corrected_o = odd && !outside;
  assign failed_o = odd ? outside : syndrome != '0;

  for (genvar d = 0; d < Width; d++) begin : gen_bit
    assign data_o[d] = data_i[d] ^ (odd && syndrome == (Checks - 1)'(position(d)));
  end

  logic unused_parity;
  assign unused_parity = again[Checks-1];
endmodule
