// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Broadcast codes of SpaceWire that wait to be sent (ECSS-E-ST-50-12C, 5.5.3, 5.6): a time-code,
/// 32 acknowledges, 32 interrupts, and a code of a type that the standard reserves.
module spfe_sw_codes (
  input logic clk_i,
  input logic rst_i,
  /// The link fell back: all are dropped.
  input logic clear_i,
  /// Code to send, with its type in bits 7:6.
  input logic [7:0] code_i,
  /// There is one.
  input logic valid_i,
  /// Next code: the time-code, then acknowledges, then interrupts, the lowest number first, then
  /// that of a reserved type.
  output logic [7:0] code_o,
  /// There is one.
  output logic valid_o,
  /// It is sent.
  input logic take_i
);
  logic time_q, reserved_q;
  logic [5:0] value_q;
  logic [7:0] reserved_code_q;
  logic [31:0] acknowledges_q, interrupts_q, acknowledge, interrupt;
  logic [7:0] code;

  // The lowest bit that is set.
  assign acknowledge = acknowledges_q & -acknowledges_q;
  assign interrupt = interrupts_q & -interrupts_q;
  always_comb begin
    code = reserved_code_q;
    if (time_q) begin
      code = {2'b00, value_q};
    end else if (acknowledges_q != '0) begin
      for (int unsigned i = 0; i < 32; i++) if (acknowledge[i]) code = 8'hA0 | 8'(i);
    end else if (interrupts_q != '0) begin
      for (int unsigned i = 0; i < 32; i++) if (interrupt[i]) code = 8'h80 | 8'(i);
    end
  end
  assign code_o = code;
  assign valid_o = time_q || acknowledges_q != '0 || interrupts_q != '0 || reserved_q;

  always_ff @(posedge clk_i) begin
    if (take_i) begin
      time_q <= 1'b0;
      if (!time_q && acknowledges_q != '0) acknowledges_q <= acknowledges_q & ~acknowledge;
      else if (!time_q) interrupts_q <= interrupts_q & ~interrupt;
      if (!time_q && acknowledges_q == '0 && interrupts_q == '0) reserved_q <= 1'b0;
    end
    if (valid_i) begin
      case (code_i[7:5])
        3'd0, 3'd1: begin
          time_q <= 1'b1;
          value_q <= code_i[5:0];
        end
        3'd4: interrupts_q[code_i[4:0]] <= 1'b1;
        3'd5: acknowledges_q[code_i[4:0]] <= 1'b1;
        default: begin
          reserved_q <= 1'b1;
          reserved_code_q <= code_i;
        end
      endcase
    end
    if (rst_i || clear_i) begin
      time_q <= 1'b0;
      reserved_q <= 1'b0;
      acknowledges_q <= '0;
      interrupts_q <= '0;
    end
  end
endmodule
