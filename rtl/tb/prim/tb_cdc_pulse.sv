// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Pulses between two random clocks: each accepted pulse arrives once, for one cycle.
module tb_cdc_pulse
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Number of pulses to send.
  parameter int unsigned Pulses = 3000
);
  localparam int unsigned Hang = 10000;

  bit run = 1'b0;
  logic clk;
  logic rclk;
  logic rst = 1'b1;
  logic pulse = 1'b0;
  logic ready;
  logic rpulse;

  int unsigned half = 5;
  int unsigned rhalf = 5;
  int unsigned often = 50;
  int unsigned refused = 0;
  int unsigned taken = 0;
  int unsigned arrived = 0;
  int unsigned still = 0;

  initial begin
    run = chosen(Name);
    if (run) begin
      half = $urandom_range(20, 2);
      rhalf = $urandom_range(20, 2);
      #400 rst = 1'b0;
    end
  end

  spfe_tb_clock i_clock (.run_i(run), .half_i(half), .clk_o(clk));
  spfe_tb_clock #(.Drift(5)) i_rclock (.run_i(run), .half_i(rhalf), .clk_o(rclk));

  spfe_cdc_pulse i_dut (
    .clk_i(clk), .rst_i(rst), .pulse_i(pulse), .ready_o(ready),
    .rclk_i(rclk), .rrst_i(rst), .pulse_o(rpulse)
  );

  always @(posedge clk) begin
    if (chance(1)) often <= activity();
    pulse <= !rst && taken < Pulses - 1 && chance(often);
    if (!rst && pulse) begin
      if (ready) taken <= taken + 1;
      else refused <= refused + 1;
    end
    still <= ready ? 0 : still + 1;
    if (still == Hang) $fatal(1, "pulse %0d did not come back", taken);
    if (!rst && taken >= Pulses - 1 && !pulse && ready) begin
      if (arrived != taken) $fatal(1, "%0d pulses taken, %0d arrived", taken, arrived);
      if (refused == 0) $fatal(1, "no pulse was refused");
      passed(Name, taken);
    end
  end

  always @(posedge rclk) begin
    if (!rst && rpulse) begin
      arrived <= arrived + 1;
      if (arrived + 1 > taken) $fatal(1, "pulse %0d was never sent", arrived);
    end
  end
endmodule
