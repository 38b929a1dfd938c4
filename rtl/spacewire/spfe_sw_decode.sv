// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Bits to SpaceWire characters (ECSS-E-ST-50-12C, 5.4.4, 5.4.7): the first NULL, parity and escape
/// errors. The parity of a character is in the one after it, so a character comes with the flag of
/// the next one.
module spfe_sw_decode
  import spfe_sw_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Searches for the first NULL again.
  input logic clear_i,
  /// Bit received.
  input logic bit_i,
  /// There is one.
  input logic valid_i,
  /// Character, a cycle later. After an error there are no more.
  output char_t char_o,
  /// There is one.
  output logic valid_o
);
  logic got_null_q, stopped_q, escape_q, odd_q, held_q, held_control_q;
  // The last bits, while the first NULL is searched.
  logic [7:0] recent_q;
  logic [8:0] recent;
  logic [9:0] shift_q, shift;
  logic [3:0] count_q, count;
  logic [7:0] data_q;
  char_t char_q, char;
  logic valid_q, valid, is_escape, wrong, complete;

  assign recent = {recent_q, bit_i};
  assign count = count_q + 1'b1;
  always_comb begin
    shift = shift_q;
    shift[count_q] = bit_i;
  end
  assign wrong = !(shift[0] ^ shift[1] ^ odd_q);
  assign complete = count == (shift[1] ? 4'd4 : 4'd10);
  assign is_escape = held_control_q && data_q[1:0] == TypeEsc;

  always_comb begin
    char = '{kind: CharNull, data: data_q};
    valid = 1'b0;
    if (!got_null_q) begin
      valid = recent == 9'b0_1110_1000;
    end else if (count == 4'd2 && wrong) begin
      char.kind = CharParity;
      valid = 1'b1;
    end else if (count == 4'd2 && held_q) begin
      valid = escape_q || !is_escape;
      if (!held_control_q) char.kind = escape_q ? CharCode : CharData;
      else if (data_q[1:0] == TypeFct) char.kind = escape_q ? CharNull : CharFct;
      else if (escape_q) char.kind = CharEscape;
      else char.kind = data_q[1:0] == TypeEop ? CharEop : CharEep;
    end
    valid &= valid_i && !stopped_q;
  end

  always_ff @(posedge clk_i) begin
    valid_q <= valid;
    char_q <= char;
    if (valid_i && !stopped_q) begin
      recent_q <= recent[7:0];
      if (!got_null_q) begin
        if (valid) begin
          // The ninth bit is the parity bit of the next character.
          got_null_q <= 1'b1;
          shift_q <= '0;
          count_q <= 4'd1;
        end
      end else begin
        shift_q <= shift;
        count_q <= count;
        if (count == 4'd2) begin
          if (held_q) escape_q <= is_escape;
          held_q <= 1'b0;
          stopped_q <= valid && (char.kind == CharParity || char.kind == CharEscape);
        end
        if (complete) begin
          held_q <= 1'b1;
          held_control_q <= shift[1];
          data_q <= shift[1] ? {6'd0, shift[3:2]} : shift[9:2];
          odd_q <= shift[1] ? ^shift[3:2] : ^shift[9:2];
          shift_q <= '0;
          count_q <= '0;
        end
      end
    end
    if (rst_i || clear_i) begin
      got_null_q <= 1'b0;
      stopped_q <= 1'b0;
      recent_q <= '1;
      shift_q <= '0;
      count_q <= '0;
      held_q <= 1'b0;
      escape_q <= 1'b0;
      odd_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end
  assign char_o = char_q;
  assign valid_o = valid_q;
endmodule
