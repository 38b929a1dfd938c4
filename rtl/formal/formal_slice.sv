// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_slice holds at most two words, and loses, repeats and changes none.
module formal_slice #(
  /// Bits in a word.
  parameter int unsigned Width = 3
) (
  input logic clk_i,
  /// Free: watch the word that enters in this cycle.
  input logic watch_i,
  /// Free: valid of the source.
  input logic valid_i,
  /// Free: word of the source.
  input logic [Width-1:0] data_i,
  /// Free: ready of the sink.
  input logic ready_i
);
  logic rst_q = 1'b1;
  logic ready;
  logic valid;
  logic [Width-1:0] data;
  logic [1:0] count;

  always_ff @(posedge clk_i) rst_q <= 1'b0;

  spfe_slice #(
    .Width(Width)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .valid_i,
    .ready_o(ready),
    .data_i,
    .valid_o(valid),
    .ready_i,
    .data_o(data)
  );
  formal_stream #(
    .Width(Width)
  ) i_stream (
    .clk_i,
    .rst_i(rst_q),
    .valid_i,
    .ready_o(ready),
    .data_i,
    .valid_o(valid),
    .ready_i,
    .data_o(data)
  );
  formal_order #(
    .Width(Width),
    .Depth(2)
  ) i_order (
    .clk_i,
    .rst_i(rst_q),
    .watch_i,
    .push_i(valid_i && ready),
    .data_i,
    .pop_i(valid && ready_i),
    .data_o(data),
    .count_o(count)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      // ready_o is low only while the slice is full, and it offers any word that it holds.
      a_ready : assert (ready == (count != 2'd2));
      a_valid : assert (valid == (count != 2'd0));
    end
  end
endmodule
