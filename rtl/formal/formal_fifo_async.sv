// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_fifo_async loses, repeats and changes no word, for any relation of the two clocks.
module formal_fifo_async #(
  /// Bits in a word.
  parameter int unsigned Width = 1,
  /// Number of words in the FIFO.
  parameter int unsigned Depth = 4
) (
  /// Free: clock of the writer.
  input logic clk_i,
  /// Free: clock of the reader.
  input logic rclk_i,
  /// Free: watch the word that enters in this cycle.
  input logic watch_i,
  /// Free: valid of the writer.
  input logic valid_i,
  /// Free: word of the writer.
  input logic [Width-1:0] data_i,
  /// Free: ready of the reader.
  input logic ready_i
);
  // The register at the output holds one word more.
  localparam int unsigned CountWidth = $clog2(Depth) + 1;

  logic ready;
  logic unused_corrected;
  logic unused_failed;
  logic valid;
  logic [Width-1:0] data;

  // Number of words written and read. The registers of the FIFO start as after a reset.
  logic [CountWidth-1:0] written_q = '0;
  logic [CountWidth-1:0] read_q = '0;
  logic watching_q = 1'b0;
  logic [Width-1:0] word_q = '0;
  logic [CountWidth-1:0] number_q = '0;
  logic seen_q = 1'b0;

  spfe_fifo_async #(
    .Width(Width),
    .Depth(Depth)
  ) i_dut (
    .clk_i,
    .rst_i(1'b0),
    .valid_i,
    .ready_o(ready),
    .data_i,
    .rclk_i,
    .rrst_i(1'b0),
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .corrected_o(unused_corrected),
    .failed_o(unused_failed)
  );

  always_ff @(posedge clk_i) begin
    if (valid_i && ready) begin
      written_q <= written_q + 1'b1;
      if (watch_i && !watching_q) begin
        watching_q <= 1'b1;
        word_q <= data_i;
        number_q <= written_q;
      end
      a_room : assert (written_q - read_q != CountWidth'(Depth + 1));
    end
    c_full : cover (!ready);
  end

  always_ff @(posedge rclk_i) begin
    if (valid && ready_i) begin
      read_q <= read_q + 1'b1;
      if (watching_q && !seen_q && read_q == number_q) begin
        seen_q <= 1'b1;
        a_word : assert (data == word_q);
      end
      a_nothing : assert (written_q != read_q);
    end
    c_seen : cover (seen_q);
  end
endmodule
