// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// SpaceWire characters to data and strobe (ECSS-E-ST-50-12C, 5.4.4, 5.4.5).
module spfe_sw_encode
  import spfe_sw_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// The link fell back: the character in progress ends.
  input logic clear_i,
  /// A bit period begins.
  input logic tick_i,
  /// Character to send, if none is in progress.
  input char_t char_i,
  /// The transmitter is on.
  input logic valid_i,
  /// No character is in progress.
  output logic idle_o,
  /// Data.
  output logic d_o,
  /// Strobe.
  output logic s_o
);
  logic [13:0] bits_q, bits;
  logic [3:0] count_q, count;
  logic odd_q, odd, d_q, s_q, d, s;

  // A control character after content with this parity.
  function automatic logic [3:0] control(input logic [1:0] kind, input logic earlier);
    return {kind, 1'b1, earlier};
  endfunction

  always_comb begin
    bits = bits_q;
    count = count_q;
    odd = odd_q;
    if (clear_i) begin
      count = '0;
      odd = 1'b0;
    end
    if (count == '0 && valid_i) begin
      unique case (char_i.kind)
        CharFct: begin
          bits = {10'd0, control(TypeFct, odd)};
          count = 4'd4;
          odd = ^TypeFct;
        end
        CharEop: begin
          bits = {10'd0, control(TypeEop, odd)};
          count = 4'd4;
          odd = ^TypeEop;
        end
        CharEep: begin
          bits = {10'd0, control(TypeEep, odd)};
          count = 4'd4;
          odd = ^TypeEep;
        end
        CharData: begin
          bits = {4'd0, char_i.data, 1'b0, !odd};
          count = 4'd10;
          odd = ^char_i.data;
        end
        CharCode: begin
          // ESC has an even number of ones.
          bits = {char_i.data, 1'b0, 1'b1, control(TypeEsc, odd)};
          count = 4'd14;
          odd = ^char_i.data;
        end
        default: begin
          bits = {6'd0, control(TypeFct, ^TypeEsc), control(TypeEsc, odd)};
          count = 4'd8;
          odd = ^TypeFct;
        end
      endcase
    end
    d = d_q;
    s = s_q;
    if (count != '0) begin
      d = bits[0];
      s = s_q ^ (bits[0] == d_q);
    end else if (s_q) begin
      // First strobe, then data: never both at once.
      s = 1'b0;
    end else begin
      d = 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (tick_i) begin
      bits_q <= bits >> 1;
      count_q <= count == '0 ? '0 : count - 1'b1;
      odd_q <= odd;
      d_q <= d;
      s_q <= s;
    end else if (clear_i) begin
      count_q <= '0;
      odd_q <= 1'b0;
    end
    if (rst_i) begin
      count_q <= '0;
      odd_q <= 1'b0;
      d_q <= 1'b0;
      s_q <= 1'b0;
    end
  end
  assign idle_o = count_q == '0;
  assign d_o = d_q;
  assign s_o = s_q;
endmodule
