// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_widen and spfe_narrow behind each other lose, repeat and change no word.
module formal_ratio #(
  /// Words in a joined word.
  parameter int unsigned Ratio = 3
) (
  input logic clk_i,
  /// Free: valid of the source.
  input logic valid_i,
  /// Free: word of the source.
  input logic [1:0] data_i,
  /// Free: the word ends a packet.
  input logic last_i,
  /// Free: watch the word of this cycle.
  input logic watch_i,
  /// Free: ready of the sink.
  input logic ready_i
);
  localparam int unsigned CountWidth = $clog2(Ratio + 1);

  logic rst_q = 1'b1;
  logic ready;
  logic [Ratio-1:0][1:0] wide;
  logic [CountWidth-1:0] count;
  logic wide_last;
  logic wide_valid;
  logic wide_ready;
  logic [1:0] data;
  logic last;
  logic valid;

  spfe_widen #(
    .Width(2),
    .Ratio(Ratio)
  ) i_widen (
    .clk_i,
    .rst_i(rst_q),
    .data_i,
    .last_i,
    .valid_i,
    .ready_o(ready),
    .data_o(wide),
    .count_o(count),
    .last_o(wide_last),
    .valid_o(wide_valid),
    .ready_i(wide_ready)
  );

  spfe_narrow #(
    .Width(2),
    .Ratio(Ratio)
  ) i_narrow (
    .clk_i,
    .rst_i(rst_q),
    .data_i(wide),
    .count_i(count),
    .last_i(wide_last),
    .valid_i(wide_valid),
    .ready_o(wide_ready),
    .data_o(data),
    .last_o(last),
    .valid_o(valid),
    .ready_i
  );

  logic [3:0] sent_q = '0;
  logic [3:0] received_q = '0;
  logic watching_q = 1'b0;
  logic seen_q = 1'b0;
  logic [2:0] word_q = '0;
  logic [3:0] number_q = '0;

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    if (!rst_q && valid_i && ready) begin
      sent_q <= sent_q + 1'b1;
      if (watch_i && !watching_q) begin
        watching_q <= 1'b1;
        word_q <= {last_i, data_i};
        number_q <= sent_q;
      end
    end
    if (!rst_q && valid && ready_i) begin
      received_q <= received_q + 1'b1;
      if (watching_q && received_q == number_q) seen_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      if (valid) a_sent : assert (received_q != sent_q);
      if (valid && watching_q && !seen_q && received_q == number_q)
        a_word : assert ({last, data} == word_q);
      c_seen : cover (seen_q && word_q == 3'b101);
    end
  end
endmodule
