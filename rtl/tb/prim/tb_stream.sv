// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// A stream goes through one of the primitives: all words arrive, once, in order, unchanged.
module tb_stream
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string       NAME  = "",
  /// Primitive to test: skid slice fifo async word.
  parameter string       KIND  = "fifo",
  /// Bits of a word.
  parameter int unsigned WIDTH = 32,
  /// Words of a FIFO.
  parameter int unsigned DEPTH = 16,
  /// Words to send.
  parameter int unsigned WORDS = 20000
);
  localparam bit          TWO_CLOCKS = KIND == "async" || KIND == "word";
  localparam int unsigned HANG = 10000;

  bit               run = 1'b0;
  logic             clk;
  logic             rclk;
  logic             rst = 1'b1;
  logic             valid = 1'b0;
  logic             ready;
  logic [WIDTH-1:0] data;
  logic             rvalid;
  logic             rready = 1'b0;
  logic [WIDTH-1:0] rdata;

  int unsigned      half = 5;
  int unsigned      rhalf = 5;
  int unsigned      fill = 50;
  int unsigned      drain = 50;
  int unsigned      offered = 0;
  int unsigned      received = 0;
  int unsigned      still = 0;
  logic [WIDTH-1:0] expected[$];

  initial begin
    run = chosen(NAME);
    if (run) begin
      if (TWO_CLOCKS) begin
        half  = $urandom_range(20, 2);
        rhalf = $urandom_range(20, 2);
      end
      #400 rst = 1'b0;
    end
  end

  spfe_tb_clock clock (.run_i(run), .half_i(half), .clk_o(clk));
  if (TWO_CLOCKS) begin : gen_two_clocks
    spfe_tb_clock #(.DRIFT(5)) clock (.run_i(run), .half_i(rhalf), .clk_o(rclk));
  end else begin : gen_one_clock
    assign rclk = clk;
  end

  always @(posedge clk) begin
    if (chance(1)) fill <= activity();
    if (!rst && (!valid || ready)) begin
      valid <= 1'b0;
      if (offered < WORDS && chance(fill)) begin
        logic [WIDTH-1:0] word;
        word = WIDTH'({$urandom, $urandom});
        expected.push_back(word);
        valid   <= 1'b1;
        data    <= word;
        offered <= offered + 1;
      end
    end
  end

  always @(posedge rclk) begin
    if (chance(1)) drain <= activity();
    rready <= chance(drain);
    still  <= still + 1;
    if (!rst && rvalid && rready) begin
      logic [WIDTH-1:0] word;
      if (expected.size() == 0) $fatal(1, "word %0d: %h out of nothing", received, rdata);
      word = expected.pop_front();
      if (rdata != word) $fatal(1, "word %0d: %h instead of %h", received, rdata, word);
      received <= received + 1;
      still    <= 0;
      if (received + 1 == WORDS) passed(NAME, WORDS);
    end
    if (still == HANG) $fatal(1, "nothing came for %0d cycles after word %0d", HANG, received);
  end

  if (KIND == "skid") begin : gen_skid
    spfe_skid #(.WIDTH(WIDTH)) dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (KIND == "slice") begin : gen_slice
    spfe_slice #(.WIDTH(WIDTH)) dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (KIND == "async") begin : gen_async
    spfe_fifo_async #(.WIDTH(WIDTH), .DEPTH(DEPTH)) dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .rclk_i(rclk), .rrst_i(rst), .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (KIND == "word") begin : gen_word
    spfe_cdc_word #(.WIDTH(WIDTH)) dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .rclk_i(rclk), .rrst_i(rst), .valid_o(rvalid), .ready_i(rready), .data_o(rdata)
    );
  end else if (KIND == "fifo") begin : gen_fifo
    localparam int unsigned ALMOST_FULL = DEPTH / 2;
    logic [$clog2(DEPTH+1)-1:0] count;
    logic                       almost_full;
    int unsigned                held;
    bit                         was_full = 1'b0;

    spfe_fifo #(.WIDTH(WIDTH), .DEPTH(DEPTH), .ALMOST_FULL(ALMOST_FULL)) dut (
      .clk_i(clk), .rst_i(rst), .valid_i(valid), .ready_o(ready), .data_i(data),
      .valid_o(rvalid), .ready_i(rready), .data_o(rdata),
      .count_o(count), .almost_full_o(almost_full)
    );

    // Between clock edges: all that was offered and not received, but for the word on offer.
    assign held = offered - received - (valid ? 1 : 0);
    always @(negedge clk) begin
      if (!rst) begin
        if (32'(count) != held) $fatal(1, "%0d words counted, %0d held", count, held);
        if (ready != (held < DEPTH)) $fatal(1, "ready is %b with %0d words", ready, held);
        if (almost_full != (DEPTH - held < ALMOST_FULL))
          $fatal(1, "almost full is %b with %0d words", almost_full, held);
        if (!ready) was_full <= 1'b1;
        if (received + 1 == WORDS && !was_full) $fatal(1, "the FIFO was never full");
      end
    end
  end else begin : gen_unknown
    $error("tb_stream: there is no primitive %s", KIND);
  end
endmodule
