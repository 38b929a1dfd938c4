// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A clock for benches, which can drift against others.
module spfe_tb_clock #(
  /// Percent of half periods that last a unit of time longer.
  parameter int unsigned Drift = 0
) (
  /// The clock ticks from when this is high.
  input  bit          run_i,
  /// Half a period, in units of time; read when the clock starts.
  input  int unsigned half_i,
  /// The clock; starts low.
  output logic        clk_o
);
  initial begin
    clk_o = 1'b0;
    wait (run_i);
    forever #(half_i + (spfe_tb_pkg::chance(Drift) ? 1 : 0)) clk_o = !clk_o;
  end
endmodule
