// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Synchroniser of signals from another clock. Bits may arrive in different cycles, so a word of
/// several bits must be in Gray code, or its bits must be independent.
module spfe_sync #(
  /// Number of signals, 1 or more.
  parameter int unsigned Width = 1,
  /// Number of registers in a row, 2 or more.
  parameter int unsigned Stages = 2
) (
  /// Clock of the destination.
  input logic clk_i,
  /// Signals from registers of any other clock.
  input logic [Width-1:0] data_i,
  /// Signals in the clock of the destination, Stages cycles later.
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
