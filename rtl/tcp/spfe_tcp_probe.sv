// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Measures the latency of a path in cycles: from the first beat that a packet transfers at the
/// entrance to the first beat that is offered at the exit. The figure is exact while packets do not
/// overlap, that is, while each leaves before the next one enters.
module spfe_tcp_probe
  import spfe_tcp_io_pkg::*;
(
  input logic clk_i,
  input logic rst_i,
  /// Discards all measurements; from the registers.
  input logic clear_i,
  /// Stream at the entrance.
  input probed_t in_i,
  /// Stream at the exit.
  input probed_t out_i,
  /// Latency of the last packet, 65535 if longer; 0 before the first measurement.
  output logic [15:0] last_o,
  /// Least latency; 65535 before the first measurement.
  output logic [15:0] min_o,
  /// Greatest latency; 0 before the first measurement.
  output logic [15:0] max_o
);
  // The inputs are registered so that the probe adds little load to the measured paths.
  logic in_taken_q, in_last_q, out_valid_q, out_taken_q, out_last_q;
  logic in_inside_q;  // between the first and the last beat of a packet
  logic out_seen_q;  // the first beat at the exit has been offered
  logic armed_q;  // a packet is on its way
  logic [15:0] last_q, min_q, max_q;
  logic [15:0] age_q;  // cycles since it entered, at most 65535
  logic in_first, out_first, measured;

  assign in_first = in_taken_q && !in_inside_q;
  assign out_first = out_valid_q && !out_seen_q;
  assign measured = out_first && armed_q;
  assign last_o = last_q;
  assign min_o = min_q;
  assign max_o = max_q;

  always_ff @(posedge clk_i) begin
    in_taken_q <= in_i.valid && in_i.ready;
    in_last_q <= in_i.last;
    out_valid_q <= out_i.valid;
    out_taken_q <= out_i.valid && out_i.ready;
    out_last_q <= out_i.last;
    if (in_taken_q) in_inside_q <= !in_last_q;
    if (out_valid_q) out_seen_q <= !(out_taken_q && out_last_q);
    armed_q <= in_first || (armed_q && !out_first);
    if (in_first) age_q <= 16'd1;
    else if (age_q != '1) age_q <= age_q + 16'd1;
    if (measured) begin
      last_q <= age_q;
      if (age_q < min_q) min_q <= age_q;
      if (age_q > max_q) max_q <= age_q;
    end
    if (rst_i || clear_i) begin
      armed_q <= 1'b0;
      last_q <= '0;
      min_q <= '1;
      max_q <= '0;
    end
    if (rst_i) begin
      in_taken_q <= 1'b0;
      out_valid_q <= 1'b0;
      out_taken_q <= 1'b0;
      in_inside_q <= 1'b0;
      out_seen_q <= 1'b0;
      age_q <= '0;
    end
  end
endmodule
