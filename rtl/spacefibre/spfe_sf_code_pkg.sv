// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The 8b/10b code of Widmer and Franaszek (ECSS-E-ST-50-11C, 5.5.9). Bit 0 of the ten bits of a
/// symbol is `a`, the first on the line.
package spfe_sf_code_pkg;
  /// Ten bits of a symbol, and what they do to the running disparity.
  typedef struct packed {
    logic valid;  // the symbol exists
    logic flips;  // the disparity changes its sign
    logic [9:0] bits;
  } code_t;

  /// What ten bits of the line mean.
  typedef struct packed {
    logic valid_minus;  // a code while the disparity is negative
    logic valid_plus;  // a code while the disparity is positive
    logic after_minus;  // disparity afterwards, if it was negative: 1 is positive
    logic after_plus;  // disparity afterwards, if it was positive
    logic k;
    logic [7:0] value;
  } decoded_t;

  /// `abcdei` of D0 to D31 at negative disparity, `a` leftmost.
  function automatic logic [5:0] six(input logic [4:0] x);
    case (x)
      5'd0: return 6'b100111;
      5'd1: return 6'b011101;
      5'd2: return 6'b101101;
      5'd3: return 6'b110001;
      5'd4: return 6'b110101;
      5'd5: return 6'b101001;
      5'd6: return 6'b011001;
      5'd7: return 6'b111000;
      5'd8: return 6'b111001;
      5'd9: return 6'b100101;
      5'd10: return 6'b010101;
      5'd11: return 6'b110100;
      5'd12: return 6'b001101;
      5'd13: return 6'b101100;
      5'd14: return 6'b011100;
      5'd15: return 6'b010111;
      5'd16: return 6'b011011;
      5'd17: return 6'b100011;
      5'd18: return 6'b010011;
      5'd19: return 6'b110010;
      5'd20: return 6'b001011;
      5'd21: return 6'b101010;
      5'd22: return 6'b011010;
      5'd23: return 6'b111010;
      5'd24: return 6'b110011;
      5'd25: return 6'b100110;
      5'd26: return 6'b010110;
      5'd27: return 6'b110110;
      5'd28: return 6'b001110;
      5'd29: return 6'b101110;
      5'd30: return 6'b011110;
      default: return 6'b101011;
    endcase
  endfunction

  /// `fghj` of D.0 to D.7 at negative disparity, `f` leftmost.
  function automatic logic [3:0] four(input logic [2:0] y);
    case (y)
      3'd0: return 4'b1011;
      3'd1: return 4'b1001;
      3'd2: return 4'b0101;
      3'd3: return 4'b1100;
      3'd4: return 4'b1101;
      3'd5: return 4'b1010;
      3'd6: return 4'b0110;
      default: return 4'b1110;
    endcase
  endfunction

  /// `fghj` of K.0 to K.7 at negative disparity.
  function automatic logic [3:0] four_k(input logic [2:0] y);
    case (y)
      3'd0: return 4'b1011;
      3'd1: return 4'b0110;
      3'd2: return 4'b1010;
      3'd3: return 4'b1100;
      3'd4: return 4'b1101;
      3'd5: return 4'b0101;
      3'd6: return 4'b1001;
      default: return 4'b0111;
    endcase
  endfunction

  /// Code of a symbol; `plus` is the sign of the disparity before it.
  function automatic code_t encode(input logic k, input logic [7:0] value, input logic plus);
    logic [4:0] x;
    logic [2:0] y;
    logic [5:0] abcdei;
    logic [3:0] fghj;
    logic uneven6;
    logic uneven4;
    logic between;
    logic alternate;
    code_t code;
    x = value[4:0];
    y = value[7:5];
    abcdei = k && x == 5'd28 ? 6'b001111 : six(x);
    // A block with as many ones as zeros stays as it is, except 111000 and 1100, which alternate.
    uneven6 = $countones(abcdei) != 3;
    if (plus && (uneven6 || x == 5'd7)) abcdei = ~abcdei;
    between = plus ^ uneven6;
    // The other code of .7 keeps five equal bits in a row from being sent.
    alternate = between ? x == 5'd11 || x == 5'd13 || x == 5'd14
        : x == 5'd17 || x == 5'd18 || x == 5'd20;
    fghj = k ? four_k(y) : y == 3'd7 && alternate ? 4'b0111 : four(y);
    uneven4 = $countones(fghj) != 2;
    if (between && (k || uneven4 || y == 3'd3)) fghj = ~fghj;
    code.valid = !k || x == 5'd28
        || value == 8'hF7 || value == 8'hFB || value == 8'hFD || value == 8'hFE;
    code.flips = uneven6 ^ uneven4;
    code.bits = {<<{abcdei, fghj}};
    return code;
  endfunction

  /// Table of all ten-bit patterns, the reverse of encode.
  typedef decoded_t [1023:0] table_t;

  /// Makes the table.
  function automatic table_t decode_table();
    table_t all;
    code_t code;
    for (int unsigned i = 0; i < 1024; i++) begin
      // Bits that are no code move the disparity by their number of ones.
      all[i] = '0;
      all[i].after_minus = $countones(10'(i)) > 5;
      all[i].after_plus = $countones(10'(i)) > 4;
    end
    // Codes of the other disparity are errors, but tell the disparity afterwards.
    for (int unsigned i = 0; i < 1024; i++) begin
      code = encode(i[8], i[7:0], i[9]);
      if (code.valid && i[9]) all[code.bits].after_minus = !code.flips;
      if (code.valid && !i[9]) all[code.bits].after_plus = code.flips;
    end
    for (int unsigned i = 0; i < 1024; i++) begin
      code = encode(i[8], i[7:0], i[9]);
      if (code.valid) begin
        all[code.bits].k = i[8];
        all[code.bits].value = i[7:0];
        if (i[9]) begin
          all[code.bits].valid_plus = 1'b1;
          all[code.bits].after_plus = !code.flips;
        end else begin
          all[code.bits].valid_minus = 1'b1;
          all[code.bits].after_minus = code.flips;
        end
      end
    end
    return all;
  endfunction
endpackage
