// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Words leave a queue once and in order. The proof watches an arbitrary word until it leaves.
module formal_order #(
  /// Bits in a word.
  parameter int unsigned Width = 4,
  /// Number of words that the queue can hold.
  parameter int unsigned Depth = 4,
  /// Bits in a number of words; follows from Depth.
  localparam int unsigned CountWidth = $clog2(Depth + 1)
) (
  input logic clk_i,
  input logic rst_i,
  /// Free: watch the word that enters in this cycle.
  input logic watch_i,
  /// A word enters.
  input logic push_i,
  /// The word that enters.
  input logic [Width-1:0] data_i,
  /// A word leaves; it may be the one that enters in this cycle.
  input logic pop_i,
  /// The word that leaves.
  input logic [Width-1:0] data_o,
  /// Number of words in the queue.
  output logic [CountWidth-1:0] count_o
);
  logic watching_q;
  logic [Width-1:0] word_q;
  // Number of words ahead of the watched one.
  logic [CountWidth-1:0] ahead_q;

  always_ff @(posedge clk_i) begin
    count_o <= count_o + CountWidth'(push_i) - CountWidth'(pop_i);
    if (!watching_q) begin
      if (push_i && watch_i && !(pop_i && count_o == '0)) begin
        watching_q <= 1'b1;
        word_q <= data_i;
        ahead_q <= count_o - CountWidth'(pop_i);
      end
    end else if (pop_i) begin
      if (ahead_q == '0) watching_q <= 1'b0;
      else ahead_q <= ahead_q - 1'b1;
    end
    if (rst_i) begin
      count_o <= '0;
      watching_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_nothing : assert (!pop_i || count_o != '0 || (push_i && data_o == data_i));
      a_room : assert (!push_i || pop_i || count_o != CountWidth'(Depth));
      a_order : assert (!(watching_q && pop_i && ahead_q == '0) || data_o == word_q);
      c_full : cover (count_o == CountWidth'(Depth));
      c_watched : cover (watching_q && pop_i && ahead_q == '0);
    end
  end
endmodule
