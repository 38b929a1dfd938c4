// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// spfe_packet_fifo returns all committed words in order, and none that was rolled back.
module formal_packet_fifo #(
  /// Bits in a word.
  parameter int unsigned Width = 1,
  /// Number of words in the FIFO.
  parameter int unsigned Depth = 4,
  /// Largest Depth for which the memory is distributed RAM.
  parameter int unsigned LutramMax = 64,
  /// 1: every word is committed at once, as in spfe_fifo.
  parameter bit Plain = 1'b0
) (
  input logic clk_i,
  /// Free: watch the word that enters in this cycle.
  input logic watch_i,
  /// Free: valid of the writer.
  input logic valid_i,
  /// Free: word of the writer.
  input logic [Width-1:0] data_i,
  /// Free: the writer commits.
  input logic commit_i,
  /// Free: the writer rolls back.
  input logic rollback_i,
  /// Free: ready of the reader.
  input logic ready_i
);
  localparam int unsigned CountWidth = $clog2(Depth + 1);

  logic rst_q = 1'b1;
  logic commit;
  logic rollback;
  logic ready;
  logic valid;
  logic [Width-1:0] data;
  logic [CountWidth-1:0] count;
  logic [CountWidth-1:0] used;
  logic almost_full;
  logic push;
  logic pop;

  assign commit = Plain || commit_i;
  assign rollback = !Plain && rollback_i && !commit_i;

  spfe_packet_fifo #(
    .Width(Width),
    .Depth(Depth),
    .AlmostFull(2),
    .LutramMax(LutramMax)
  ) i_dut (
    .clk_i,
    .rst_i(rst_q),
    .valid_i,
    .ready_o(ready),
    .data_i,
    .commit_i(commit),
    .rollback_i(rollback),
    .valid_o(valid),
    .ready_i,
    .data_o(data),
    .count_o(count),
    .used_o(used),
    .almost_full_o(almost_full)
  );

  // Number of words in the FIFO and in the open packet; and the watched word.
  logic [CountWidth-1:0] used_q;
  logic [CountWidth-1:0] open_q, open_d;
  logic watching_q, watching_d;
  logic sure_q;
  logic [Width-1:0] word_q;
  logic [CountWidth-1:0] ahead_q;
  logic valid_q;
  logic taken_q;
  logic [Width-1:0] data_q;

  assign push = valid_i && ready;
  assign pop = valid && ready_i;

  always_comb begin
    open_d = open_q + CountWidth'(push);
    if (commit || rollback) open_d = '0;
    watching_d = watching_q || (push && watch_i);
    if (rollback && !sure_q) watching_d = 1'b0;
    if (watching_q && pop && ahead_q == '0) watching_d = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    rst_q <= 1'b0;
    open_q <= open_d;
    used_q     <= used_q + CountWidth'(push) - CountWidth'(pop)
                  - (rollback ? open_q + CountWidth'(push) : '0);
    watching_q <= watching_d;
    if (!watching_q) begin
      word_q <= data_i;
      ahead_q <= used_q - CountWidth'(pop);
    end else if (pop) begin
      ahead_q <= ahead_q - 1'b1;
    end
    // The watched word is committed.
    sure_q <= watching_d && (sure_q || commit);
    valid_q <= valid;
    taken_q <= ready_i;
    data_q <= data;
    if (rst_q) begin
      open_q <= '0;
      used_q <= '0;
      watching_q <= 1'b0;
      sure_q <= 1'b0;
      valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_q) begin
      a_used : assert (used == used_q);
      a_count : assert (count == used_q - open_q);
      a_ready : assert (ready == (used_q != CountWidth'(Depth)));
      a_almost_full : assert (almost_full == (used_q > CountWidth'(Depth - 2)));
      a_nothing : assert (!valid || count != '0);
      a_shown : assert (LutramMax < Depth || valid == (count != '0));
      a_stays : assert (!(valid_q && !taken_q) || (valid && data == data_q));
      a_order : assert (!(watching_q && pop && ahead_q == '0) || (sure_q && data == word_q));
      c_full : cover (used_q == CountWidth'(Depth) && open_q == '0);
      c_watched : cover (watching_q && pop && ahead_q == '0);
      c_rollback : cover (Plain || (rollback && open_q > 1));
    end
  end
endmodule
