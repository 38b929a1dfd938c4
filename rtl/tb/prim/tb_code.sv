// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Compares spfe_crc and spfe_lfsr with bit-serial forms and with published values, and breaks
/// words of spfe_secded_encode: one wrong bit must be corrected, two must be detected.
module tb_code
  import spfe_tb_pkg::*;
  import spfe_secded_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Bits in a protected word.
  parameter int unsigned Width = 32,
  /// Rounds of random data.
  parameter int unsigned Rounds = 2000
);
  localparam int unsigned Checks = check_bits(Width);

  // CRC registers: 8, 16 and 32 bits wide, of one byte and of four.
  logic [7:0] in8, out8;
  logic [15:0] in16, out16, wide16;
  logic [31:0] in32, out32, wide32;
  logic [3:0][7:0] data;

  spfe_crc #(.Width(8), .Poly(8'hE0), .Bytes(1)) i_crc8 (
    .crc_i(in8), .data_i(data[0]), .crc_o(out8)
  );
  spfe_crc #(.Bytes(1)) i_crc16 (.crc_i(in16), .data_i(data[0]), .crc_o(out16));
  spfe_crc i_crc16_wide (.crc_i(in16), .data_i(data), .crc_o(wide16));
  spfe_crc #(.Width(32), .Poly(32'h82F63B78), .Bytes(1)) i_crc32 (
    .crc_i(in32), .data_i(data[0]), .crc_o(out32)
  );
  spfe_crc #(.Width(32), .Poly(32'h82F63B78)) i_crc32_wide (
    .crc_i(in32), .data_i(data), .crc_o(wide32)
  );

  logic [15:0] state, next;
  logic [31:0] prbs;
  spfe_lfsr i_lfsr (.state_i(state), .state_o(next), .bits_o(prbs));

  logic [Width-1:0] word, got;
  logic [Checks-1:0] check;
  logic [Width+Checks-1:0] broken;
  logic corrected, failed;
  spfe_secded_encode #(.Width(Width)) i_encode (.data_i(word), .check_o(check));
  spfe_secded_decode #(.Width(Width)) i_decode (
    .data_i(broken[Width-1:0]), .check_i(broken[Width+Checks-1:Width]),
    .data_o(got), .corrected_o(corrected), .failed_o(failed)
  );

  function automatic logic [31:0] serial(logic [31:0] crc, logic [31:0] poly, byte unsigned one);
    for (int i = 0; i < 8; i++) crc = (crc >> 1) ^ (crc[0] ^ one[i] ? poly : '0);
    return crc;
  endfunction

  // Words of the generator from the start FFFF: the first idle frame after a link reset.
  localparam logic [31:0] First[4] = '{32'h14C017FF, 32'h8202E7B2, 32'hA6286E72, 32'h8DBF6DBE};

  initial if (chosen(Name)) begin
    string digits;
    digits = "123456789";
    in8 = '0;
    in16 = '1;
    in32 = '1;
    for (int i = 0; i < 9; i++) begin
      data[0] = digits[i];
      #1 in8 = out8;
      in16 = out16;
      in32 = out32;
    end
    if (in8 != 8'h20) $fatal(1, "CRC-8 of 123456789 is %h", in8);
    if (in16 != 16'h6F91) $fatal(1, "CRC-16 of 123456789 is %h", in16);
    if (~in32 != 32'hE3069283) $fatal(1, "CRC-32C of 123456789 is %h", ~in32);

    state = '1;
    for (int i = 0; i < 64; i++) begin
      #1 if (i < 4 && prbs != First[i]) $fatal(1, "word %0d is %h", i, prbs);
      if (i == 63 && (prbs != 32'hD514AF76 || next != 16'hF223))
        $fatal(1, "word 64 is %h, the register then %h", prbs, next);
      state = next;
    end

    for (int round = 0; round < Rounds; round++) begin
      logic [31:0] want16, want32;
      int unsigned one, two;
      data = $urandom;
      in16 = 16'($urandom);
      in32 = $urandom;
      want16 = 32'(in16);
      want32 = in32;
      for (int i = 0; i < 4; i++) begin
        want16 = serial(want16, 32'h8408, data[i]);
        want32 = serial(want32, 32'h82F63B78, data[i]);
      end
      #1 if (wide16 != want16[15:0]) $fatal(1, "CRC-16 is %h instead of %h", wide16, want16);
      if (wide32 != want32) $fatal(1, "CRC-32C is %h instead of %h", wide32, want32);

      word = Width'({$urandom, $urandom, $urandom});
      #1 broken = {check, word};
      #1 if (corrected || failed || got != word) $fatal(1, "a good word of %h is wrong", word);
      one = $urandom_range(Width + Checks - 1);
      two = (one + 1 + $urandom_range(Width + Checks - 2)) % (Width + Checks);
      broken[one] = !broken[one];
      #1 if (!corrected || failed || got != word)
        $fatal(1, "bit %0d of %h is not corrected: %h", one, word, got);
      broken[two] = !broken[two];
      #1 if (corrected || !failed) $fatal(1, "bits %0d and %0d are not detected", one, two);
    end
    passed(Name, 5 * Rounds);
  end
endmodule
