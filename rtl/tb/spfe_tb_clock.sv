// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Clock for benches, which can drift against other clocks.
module spfe_tb_clock #(
  /// Percent of half periods that last one unit of time longer.
  parameter int unsigned Drift = 0
) (
  /// Starts the clock.
  input bit run_i,
  /// Half a period in units of time; read when the clock starts.
  input int unsigned half_i,
  /// The clock, low until it starts.
  output logic clk_o
);
  initial begin
    clk_o = 1'b0;
    wait (run_i);
    forever #(half_i + (spfe_tb_pkg::chance(Drift) ? 1 : 0)) clk_o = !clk_o;
  end
endmodule
