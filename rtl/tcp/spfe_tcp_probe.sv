// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Latency of a path in cycles: from the first beat of a packet that goes in (taken) to the first beat
/// of one that comes out (offered). Exact while the next does not go in before the first beat of the
/// former has come out, and nothing else comes out between.
module spfe_tcp_probe (
  /// Clock.
  input logic clk_i,
  /// Synchronous reset, active high.
  input logic rst_i,
  /// Forget what was measured; from the registers.
  input logic clear_i,
  /// A beat is offered at the entrance.
  input logic in_valid_i,
  /// It is taken.
  input logic in_ready_i,
  /// It is the last one of its packet.
  input logic in_last_i,
  /// A beat is offered at the exit.
  input logic out_valid_i,
  /// It is taken.
  input logic out_ready_i,
  /// It is the last one of its packet.
  input logic out_last_i,
  /// Latency of the last packet, 65535: this or more; 0: none was measured.
  output logic [15:0] last_o,
  /// Least one; 65535: none was measured.
  output logic [15:0] min_o,
  /// Greatest one; 0: none was measured.
  output logic [15:0] max_o
);
  // Registered, so that the paths that are measured carry little more load.
  logic in_taken_q, in_last_q, out_valid_q, out_taken_q, out_last_q;
  logic in_inside_q;  // after the first beat
  logic out_seen_q;  // the first beat at the exit has been offered
  logic armed_q;  // a packet has gone in
  logic [15:0] age_q;  // cycles since then
  logic in_first, out_first, measured;

  assign in_first = in_taken_q && !in_inside_q;
  assign out_first = out_valid_q && !out_seen_q;
  assign measured = out_first && armed_q;

  always_ff @(posedge clk_i) begin
    in_taken_q <= in_valid_i && in_ready_i;
    in_last_q <= in_last_i;
    out_valid_q <= out_valid_i;
    out_taken_q <= out_valid_i && out_ready_i;
    out_last_q <= out_last_i;
    if (in_taken_q) in_inside_q <= !in_last_q;
    if (out_valid_q) out_seen_q <= !(out_taken_q && out_last_q);
    armed_q <= in_first || (armed_q && !out_first);
    if (in_first) age_q <= 16'd1;
    else if (age_q != '1) age_q <= age_q + 16'd1;
    if (measured) begin
      last_o <= age_q;
      if (age_q < min_o) min_o <= age_q;
      if (age_q > max_o) max_o <= age_q;
    end
    if (rst_i || clear_i) begin
      armed_q <= 1'b0;
      last_o <= '0;
      min_o <= '1;
      max_o <= '0;
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
