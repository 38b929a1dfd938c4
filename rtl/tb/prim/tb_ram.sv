// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Random writes and reads of a memory beside a plain array.
module tb_ram
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string       NAME     = "",
  /// Cycles from a read to its word; 0: distributed RAM with two readers.
  parameter int unsigned LATENCY  = 1,
  /// Words are read while they are written.
  parameter bit          READ_OLD = 1'b0,
  /// Bytes of a word, each with its own write enable (block RAM).
  parameter int unsigned BYTES    = 1,
  /// Bits of a byte.
  parameter int unsigned BITS     = 12,
  /// Words.
  parameter int unsigned DEPTH    = 24,
  /// Cycles to run.
  parameter int unsigned CYCLES   = 20000
);
  localparam int unsigned WIDTH = BYTES * BITS;
  localparam int unsigned ADDR_WIDTH = $clog2(DEPTH);

  bit                         run = 1'b0;
  logic                       clk;
  logic [BYTES-1:0]           we = '0;
  logic [ADDR_WIDTH-1:0]      addr = '0;
  logic [WIDTH-1:0]           data = '0;
  logic                       re = 1'b0;
  logic [1:0][ADDR_WIDTH-1:0] raddr = '0;

  logic [WIDTH-1:0]           model[DEPTH] = '{default: '0};
  int unsigned                cycles = 0;

  initial run = chosen(NAME);
  spfe_tb_clock clock (.run_i(run), .half_i(5), .clk_o(clk));

  always @(posedge clk) begin
    bit [ADDR_WIDTH-1:0] write, read;
    write = ADDR_WIDTH'($urandom_range(DEPTH - 1));
    read  = ADDR_WIDTH'($urandom_range(DEPTH - 1));
    if (chance(20) && (READ_OLD || LATENCY == 0)) read = write;
    we   <= chance(50) ? BYTES'($urandom) : '0;
    addr <= write;
    data <= WIDTH'({$urandom, $urandom});
    re   <= chance(60) && (READ_OLD || read != write);
    raddr <= {ADDR_WIDTH'($urandom_range(DEPTH - 1)), read};
    // After those that look at it in this cycle.
    for (int unsigned i = 0; i < BYTES; i++) begin
      if (we[i]) model[addr][i*BITS+:BITS] <= data[i*BITS+:BITS];
    end
    cycles <= cycles + 1;
    if (cycles == CYCLES) passed(NAME, CYCLES);
  end

  if (LATENCY == 0) begin : gen_lutram
    logic [1:0][WIDTH-1:0] rdata;

    spfe_lutram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .PORTS(2)) dut (
      .clk_i(clk), .we_i(we[0]), .addr_i(addr), .data_i(data),
      .raddr_i(raddr), .rdata_o(rdata)
    );

    always @(posedge clk) begin
      for (int unsigned i = 0; i < 2; i++) begin
        if (rdata[i] != model[raddr[i]])
          $fatal(1, "reader %0d, word %0d: %h instead of %h", i, raddr[i], rdata[i],
                 model[raddr[i]]);
      end
    end
  end else begin : gen_bram
    logic [WIDTH-1:0] rdata;
    // What the reader is to have, LATENCY cycles after it asked; it keeps the last word.
    logic [WIDTH-1:0] expected[LATENCY];
    bit               known[LATENCY] = '{default: 1'b0};

    spfe_bram #(
      .WIDTH(WIDTH), .DEPTH(DEPTH), .BYTE_WIDTH(BITS), .LATENCY(LATENCY), .READ_OLD(READ_OLD)
    ) dut (
      .clk_i(clk), .we_i(we), .addr_i(addr), .data_i(data),
      .re_i(re), .raddr_i(raddr[0]), .data_o(rdata)
    );

    always @(posedge clk) begin
      if (known[LATENCY-1] && rdata != expected[LATENCY-1])
        $fatal(1, "%h instead of %h", rdata, expected[LATENCY-1]);
      if (re) begin
        expected[0] <= model[raddr[0]];
        known[0]    <= 1'b1;
      end
      for (int unsigned i = 1; i < LATENCY; i++) begin
        expected[i] <= expected[i-1];
        known[i]    <= known[i-1];
      end
    end
  end
endmodule
