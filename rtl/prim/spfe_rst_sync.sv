// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Reset synchroniser: the reset begins at once, without a clock, and ends with a clock edge.
/// The tools take no timing path through arst_i; rtl/constraints says so to them.
module spfe_rst_sync #(
  /// Registers between the end of arst_i and the end of rst_o, 2 or more.
  parameter int unsigned Stages = 3
) (
  input logic clk_i,
  /// Reset from outside, active high, of any timing.
  input logic arst_i,
  /// Reset of the modules of clk_i, active high; ends Stages cycles after arst_i.
  output logic rst_o
);
  if (Stages < 2) begin : gen_bad_stages
    $error("spfe_rst_sync: Stages is %0d; 2 or more is possible", Stages);
  end

  (* ASYNC_REG = "TRUE", keep, shreg_extract = "no" *)
  logic [Stages-1:0] stage_q;

  always_ff @(posedge clk_i or posedge arst_i) begin
    if (arst_i) stage_q <= '1;
    else stage_q <= {stage_q[Stages-2:0], 1'b0};
  end

  assign rst_o = stage_q[Stages-1];
endmodule
