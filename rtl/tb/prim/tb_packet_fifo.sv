// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Random packets, committed or rolled back: the reader must get the words of the committed
/// packets, in order, and no others.
module tb_packet_fifo
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Bits in a word.
  parameter int unsigned Width = 36,
  /// Number of words in the FIFO.
  parameter int unsigned Depth = 16,
  /// Number of words to receive.
  parameter int unsigned Words = 20000
);
  localparam int unsigned AlmostFull = 3;
  localparam int unsigned Hang = 20000;

  bit run = 1'b0;
  logic clk;
  logic rst = 1'b1;
  logic valid = 1'b0;
  logic ready;
  logic [Width-1:0] data;
  logic commit = 1'b0;
  logic rollback = 1'b0;
  logic rvalid;
  logic rready = 1'b0;
  logic [Width-1:0] rdata;
  logic [$clog2(Depth+1)-1:0] count;
  logic [$clog2(Depth+1)-1:0] used;
  logic almost_full;

  logic [Width-1:0] open[$];
  logic [Width-1:0] committed[$];
  int unsigned fill = 50;
  int unsigned drain = 50;
  int unsigned received = 0;
  int unsigned rollbacks = 0;
  int unsigned still = 0;
  bit was_full = 1'b0;

  initial begin
    run = chosen(Name);
    #100 rst = 1'b0;
  end

  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  spfe_packet_fifo #(.Width(Width), .Depth(Depth), .AlmostFull(AlmostFull)) i_dut (
    .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
    .commit_i(commit), .rollback_i(rollback),
    .valid_o(rvalid), .ready_i(rready), .data_o(rdata),
    .count_o(count), .used_o(used), .almost_full_o(almost_full)
  );

  // One process, so that words of a cycle leave the model before new ones enter.
  always @(posedge clk) begin
    if (!rst) begin
      if (rvalid && rready) begin
        logic [Width-1:0] word;
        if (committed.size() == 0) $fatal(1, "word %0d: %h was never committed", received, rdata);
        word = committed.pop_front();
        if (rdata != word) $fatal(1, "word %0d: %h instead of %h", received, rdata, word);
        received <= received + 1;
      end
      if (valid && ready) open.push_back(data);
      if (commit) while (open.size() != 0) committed.push_back(open.pop_front());
      if (rollback) begin
        rollbacks <= rollbacks + (open.size() != 0 ? 1 : 0);
        open.delete();
      end
    end
    // A packet that fills the FIFO cannot grow, so it must be committed or rolled back at some
    // time.
    if (chance(1)) fill <= activity();
    if (chance(1)) drain <= activity();
    valid <= chance(fill);
    data <= Width'({$urandom, $urandom});
    commit <= 1'b0;
    rollback <= 1'b0;
    if (chance(15)) commit <= 1'b1;
    else if (chance(5)) rollback <= 1'b1;
    rready <= chance(drain);
  end

  // Outputs are checked between clock edges.
  always @(negedge clk) begin
    if (!rst) begin
      if (32'(count) != committed.size())
        $fatal(1, "%0d words counted, %0d committed", count, committed.size());
      if (32'(used) != committed.size() + open.size())
        $fatal(1, "%0d words used, %0d held", used, committed.size() + open.size());
      if (ready != (32'(used) < Depth)) $fatal(1, "ready is %b with %0d words", ready, used);
      if (almost_full != (Depth - 32'(used) < AlmostFull))
        $fatal(1, "almost full is %b with %0d words", almost_full, used);
      if (!ready) was_full <= 1'b1;
      still <= rvalid || committed.size() == 0 ? 0 : still + 1;
      if (still > 2) $fatal(1, "a committed word is not shown");
      if (received >= Words) begin
        if (!was_full || rollbacks < 100) $fatal(1, "never full, or %0d rollbacks", rollbacks);
        passed(Name, received);
      end
    end
  end

  initial begin
    wait (run);
    repeat (Hang * 50) @(posedge clk);
    $fatal(1, "only %0d words arrived", received);
  end
endmodule
