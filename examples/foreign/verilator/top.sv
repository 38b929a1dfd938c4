// SPDX-License-Identifier: MIT OR Apache-2.0
// Connects the repeater to two word streams, one word period in each clock cycle.
module top #(
    parameter int LANES = 1
) (
    input logic clk_i
);
  import "DPI-C" function chandle spfe_foreign_open(
    string address, int kind, int lanes, int words, longint rate, string name);
  import "DPI-C" function longint spfe_foreign_rx(chandle line, int lane);
  import "DPI-C" function void spfe_foreign_tx(chandle line, int lane, longint cell_);
  import "DPI-C" function int spfe_foreign_step(chandle line);
  import "DPI-C" function void spfe_foreign_close(chandle line);

  localparam int Words = 1;  // kind: words with flags; word periods and rate are the other side's

  chandle line_a, line_b;
  logic [LANES-1:0][63:0] a_i, a_o, b_i, b_o;

  repeater #(.LANES(LANES)) i_repeater (.clk_i, .a_i, .a_o, .b_i, .b_o);

  initial begin
    string a, b;
    if (!$value$plusargs("a=%s", a) || !$value$plusargs("b=%s", b))
      $fatal(1, "usage: +a=unix:PATH +b=unix:PATH");
    line_a = spfe_foreign_open(a, Words, LANES, 0, 0, "repeater a");
    line_b = spfe_foreign_open(b, Words, LANES, 0, 0, "repeater b");
    if (line_a == null || line_b == null) $fatal(1, "no connection");
  end

  // The falling edge is the border between two word periods.
  always @(negedge clk_i) begin
    for (int lane = 0; lane < LANES; lane++) begin
      spfe_foreign_tx(line_a, lane, a_o[lane]);
      spfe_foreign_tx(line_b, lane, b_o[lane]);
    end
    if (spfe_foreign_step(line_a) == 0 || spfe_foreign_step(line_b) == 0) begin
      spfe_foreign_close(line_a);
      spfe_foreign_close(line_b);
      $finish;
    end
    for (int lane = 0; lane < LANES; lane++) begin
      a_i[lane] <= spfe_foreign_rx(line_a, lane);
      b_i[lane] <= spfe_foreign_rx(line_b, lane);
    end
  end
endmodule
