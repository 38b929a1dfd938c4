// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Transfers words to another clock with a handshake. It is small, but a word takes about six
/// cycles of the slower clock; spfe_fifo_async is faster. Reset both sides together.
module spfe_cdc_word #(
  /// Bits in a word, 1 or more.
  parameter int unsigned Width = 8
) (
  /// Clock of the source.
  input logic clk_i,
  /// Reset of the source's side, synchronous to clk_i.
  input logic rst_i,
  /// Word from the source.
  input logic [Width-1:0] data_i,
  input logic valid_i,
  output logic ready_o,
  /// Clock of the sink.
  input logic rclk_i,
  /// Reset of the sink's side, synchronous to rclk_i.
  input logic rrst_i,
  /// Word to the sink; belongs to rclk_i.
  output logic [Width-1:0] data_o,
  output logic valid_o,
  input logic ready_i
);
  if (Width < 1) begin : gen_bad_width
    $error("spfe_cdc_word: Width is %0d; 1 or more is possible", Width);
  end

  // The word is stable in a register of the source until the sink has read it. Only the two levels
  // pass through synchronisers.
  logic sent_q;
  logic [Width-1:0] word_q;
  logic returned;
  logic arrived;
  logic seen_q;

  assign ready_o = sent_q == returned;
  assign valid_o = arrived != seen_q;
  assign data_o = word_q;

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) begin
      sent_q <= !sent_q;
      word_q <= data_i;
    end
    if (rst_i) sent_q <= 1'b0;
  end

  always_ff @(posedge rclk_i) begin
    if (valid_o && ready_i) seen_q <= arrived;
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

`ifndef SYNTHESIS
  spfe_check_stream #(
    .Width(Width)
  ) i_check_sink (
    .clk_i(rclk_i),
    .rst_i(rrst_i),
    .valid_i(valid_o),
    .ready_i,
    .data_i(data_o)
  );
`endif
endmodule
