// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Synchroniser: brings signals of another clock over through two or more registers, each bit by
/// itself. A word of several bits has to be a Gray code or to change one bit at a time.
module spfe_sync #(
  /// Signals; 1 or more.
  parameter int unsigned Width = 1,
  /// Registers; 2 or more.
  parameter int unsigned Stages = 2
) (
  /// Clock of the side that reads.
  input logic clk_i,
  /// From registers of any other clock.
  input logic [Width-1:0] data_i,
  /// The same, Stages cycles of clk_i later.
  output logic [Width-1:0] data_o
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_sync: Width is %0d; 1 or more is possible", Width);
  end
  if (Stages < 2) begin : gen_bad_stages
    $error("spfe_sync: Stages is %0d; 2 or more is possible", Stages);
  end

  (* ASYNC_REG = "TRUE", keep, shreg_extract = "no" *)
  logic [Stages-1:0][Width-1:0] stage_q;

  always_ff @(posedge clk_i) stage_q <= {stage_q[Stages-2:0], data_i};

  assign data_o = stage_q[Stages-1];
endmodule
