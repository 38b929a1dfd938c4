// SPDX-License-Identifier: MIT OR Apache-2.0
// Two word streams joined by registers: what arrives on one side leaves on the other.
//
// A cell has the symbols of a lane in 31:0, their K flags in 35:32, their error flags in 39:36, and
// a signal flag in 63 (docs/foreign-ends.md). Replace this module with your core.
module repeater #(
    parameter int LANES = 1,
    parameter int STAGES = 3
) (
    input  logic clk_i,
    input  logic [LANES-1:0][63:0] a_i,
    output logic [LANES-1:0][63:0] a_o,
    input  logic [LANES-1:0][63:0] b_i,
    output logic [LANES-1:0][63:0] b_o
);
  // There is no reset: without a start value other simulators would show unknown cells.
  // verilator lint_off PROCASSINIT
  logic [STAGES-1:0][LANES-1:0][63:0] forth_q = '0, back_q = '0;
  // verilator lint_on PROCASSINIT

  always_ff @(posedge clk_i) begin
    forth_q <= {forth_q[STAGES-2:0], a_i};
    back_q  <= {back_q[STAGES-2:0], b_i};
  end

  assign b_o = forth_q[STAGES-1];
  assign a_o = back_q[STAGES-1];
endmodule
