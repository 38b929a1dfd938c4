// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Sends a random stream through a primitive: each word must arrive once, in order, unchanged.
module tb_stream
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Primitive under test: skid, slice, fifo, async (spfe_fifo_async) or word (spfe_cdc_word).
  parameter string Kind = "fifo",
  /// Bits in a word.
  parameter int unsigned Width = 32,
  /// Number of words in a FIFO.
  parameter int unsigned Depth = 16,
  /// Check bits of the memory of a FIFO between two clocks.
  parameter int unsigned Protect = 0,
  /// Number of words to send.
  parameter int unsigned Words = 20000
);
  localparam bit TwoClocks = Kind == "async" || Kind == "word";
  localparam int unsigned Hang = 10000;

  bit run = 1'b0;
  logic clk;
  logic rclk;
  logic rst = 1'b1;
  logic valid = 1'b0;
  logic ready;
  logic [Width-1:0] data;
  logic rvalid;
  logic rready = 1'b0;
  logic [Width-1:0] rdata;

  int unsigned half = 5;
  int unsigned rhalf = 5;
  int unsigned fill = 50;
  int unsigned drain = 50;
  int unsigned offered = 0;
  int unsigned received = 0;
  int unsigned still = 0;
  logic [Width-1:0] expected[$];

  initial begin
    run = chosen(Name);
    if (run) begin
      if (TwoClocks) begin
        half = $urandom_range(20, 2);
        rhalf = $urandom_range(20, 2);
      end
      #400 rst = 1'b0;
    end
  end

  spfe_tb_clock i_clock (.run_i(run), .half_i(half), .clk_o(clk));
  if (TwoClocks) begin : gen_two_clocks
    spfe_tb_clock #(.Drift(5)) i_clock (.run_i(run), .half_i(rhalf), .clk_o(rclk));
  end else begin : gen_one_clock
    assign rclk = clk;
  end

  always @(posedge clk) begin
    if (chance(1)) fill <= activity();
    if (!rst && (!valid || ready)) begin
      valid <= 1'b0;
      if (offered < Words && chance(fill)) begin
        logic [Width-1:0] word;
        word = Width'({$urandom, $urandom});
        expected.push_back(word);
        valid <= 1'b1;
        data <= word;
        offered <= offered + 1;
      end
    end
  end

  always @(posedge rclk) begin
    if (chance(1)) drain <= activity();
    rready <= chance(drain);
    still <= still + 1;
    if (!rst && rvalid && rready) begin
      logic [Width-1:0] word;
      if (expected.size() == 0) $fatal(1, "word %0d: %h was never sent", received, rdata);
      word = expected.pop_front();
      if (rdata != word) $fatal(1, "word %0d: %h instead of %h", received, rdata, word);
      received <= received + 1;
      still <= 0;
      if (received + 1 == Words) passed(Name, Words);
    end
    if (still == Hang) $fatal(1, "nothing arrived for %0d cycles after word %0d", Hang, received);
  end

  if (Kind == "skid") begin : gen_skid
    spfe_skid #(.Width(Width)) i_dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (Kind == "slice") begin : gen_slice
    spfe_slice #(.Width(Width)) i_dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (Kind == "async") begin : gen_async
    logic corrected, failed;
    spfe_fifo_async #(.Width(Width), .Depth(Depth), .Protect(Protect)) i_dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .rclk_i(rclk), .rrst_i(rst), .valid_o(rvalid), .ready_i(rready), .data_o(rdata),
      .corrected_o(corrected), .failed_o(failed)
    );
    always @(posedge rclk) if (!rst && (corrected || failed)) $fatal(1, "a wrong bit");
  end else if (Kind == "word") begin : gen_word
    spfe_cdc_word #(.Width(Width)) i_dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .rclk_i(rclk), .rrst_i(rst), .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (Kind == "fifo") begin : gen_fifo
    localparam int unsigned AlmostFull = Depth / 2;
    logic [$clog2(Depth+1)-1:0] count;
    logic almost_full;
    int unsigned held;
    bit was_full = 1'b0;

    spfe_fifo #(.Width(Width), .Depth(Depth), .AlmostFull(AlmostFull)) i_dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata),
      .count_o(count), .almost_full_o(almost_full)
    );

    // Words in the FIFO: offered and not received, without the word on offer.
    assign held = offered - received - (valid ? 1 : 0);
    always @(negedge clk) begin
      if (!rst) begin
        if (32'(count) != held) $fatal(1, "%0d words counted, %0d held", count, held);
        if (ready != (held < Depth)) $fatal(1, "ready is %b with %0d words", ready, held);
        if (almost_full != (Depth - held < AlmostFull))
          $fatal(1, "almost full is %b with %0d words", almost_full, held);
        if (!ready) was_full <= 1'b1;
        if (received + 1 == Words && !was_full) $fatal(1, "the FIFO was never full");
      end
    end
  end else begin : gen_unknown
    $error("tb_stream: there is no primitive %s", Kind);
  end
endmodule
