// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Device time.
module spfe_ep_clock #(
  /// Picoseconds in a cycle, at most 1000000.
  parameter int unsigned CyclePs = 6400
) (
  input logic clk_i,
  input logic rst_i,
  /// Nanoseconds since the reset.
  output logic [63:0] time_o
);
  localparam int unsigned Whole = CyclePs / 1000;
  localparam int unsigned Part = CyclePs % 1000;

  logic [63:0] time_q;
  logic [9:0] part_q;
  logic [10:0] sum;
  logic carry;
  assign sum = {1'b0, part_q} + 11'(Part);
  assign carry = sum >= 11'd1000;
  assign time_o = time_q;

  always_ff @(posedge clk_i) begin
    time_q <= time_q + 64'(Whole) + 64'(carry);
    part_q <= carry ? 10'(sum - 11'd1000) : sum[9:0];
    if (rst_i) begin
      time_q <= '0;
      part_q <= '0;
    end
  end

  if (CyclePs < 1 || CyclePs > 1_000_000) begin : gen_bad_cycle
    $error("spfe_ep_clock: CyclePs is %0d; 1 to 1000000 are possible", CyclePs);
  end
endmodule
