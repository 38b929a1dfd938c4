// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transfers single-cycle pulses to another clock. ready_o is low until the last pulse has arrived;
/// a pulse in that time is lost. Reset both sides together.
module spfe_cdc_pulse (
  /// Clock of the source.
  input logic clk_i,
  /// Reset of the source's side, synchronous to clk_i.
  input logic rst_i,
  /// Pulse of one cycle of clk_i; counts only while ready_o is high.
  input logic pulse_i,
  /// The last pulse has arrived, and the next one can be sent.
  output logic ready_o,
  /// Clock of the sink.
  input logic rclk_i,
  /// Reset of the sink's side, synchronous to rclk_i.
  input logic rrst_i,
  /// Pulse of one cycle of rclk_i, to the sink.
  output logic pulse_o
);
  // A pulse crosses as a change of level, and the change comes back as the acknowledgement.
  logic sent_q;
  logic returned;
  logic arrived;
  logic seen_q;

  assign ready_o = sent_q == returned;
  assign pulse_o = arrived != seen_q;

  always_ff @(posedge clk_i) begin
    if (pulse_i && ready_o) sent_q <= !sent_q;
    if (rst_i) sent_q <= 1'b0;
  end

  always_ff @(posedge rclk_i) begin
    seen_q <= arrived;
    if (rrst_i) seen_q <= 1'b0;
  end

  spfe_sync i_sync_there (
    .clk_i(rclk_i),
    .data_i(sent_q),
    .data_o(arrived)
  );
  spfe_sync i_sync_back (
    .clk_i,
    .data_i(seen_q),
    .data_o(returned)
  );
endmodule
