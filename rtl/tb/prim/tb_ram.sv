// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Compares a memory with an array, under random writes and reads.
module tb_ram
  import spfe_tb_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "",
  /// Cycles from a read to its word; 0 selects distributed RAM with two readers.
  parameter int unsigned Latency = 1,
  /// 1: also read the word that is written in the same cycle.
  parameter bit ReadOld = 1'b0,
  /// Number of bytes in a word, each with a write enable (block RAM).
  parameter int unsigned Bytes = 1,
  /// Bits in a byte.
  parameter int unsigned Bits = 12,
  /// Number of words.
  parameter int unsigned Depth = 24,
  /// Number of cycles to run.
  parameter int unsigned Cycles = 20000
);
  localparam int unsigned Width = Bytes * Bits;
  localparam int unsigned AddrWidth = $clog2(Depth);

  bit run = 1'b0;
  logic clk;
  logic [Bytes-1:0] we = '0;
  logic [AddrWidth-1:0] addr = '0;
  logic [Width-1:0] data = '0;
  logic re = 1'b0;
  logic [1:0][AddrWidth-1:0] raddr = '0;

  logic [Width-1:0] model[Depth] = '{default: '0};
  int unsigned cycles = 0;

  initial run = chosen(Name);
  spfe_tb_clock i_clock (.run_i(run), .half_i(5), .clk_o(clk));

  always @(posedge clk) begin
    bit [AddrWidth-1:0] write, read;
    write = AddrWidth'($urandom_range(Depth - 1));
    read = AddrWidth'($urandom_range(Depth - 1));
    if (chance(20) && (ReadOld || Latency == 0)) read = write;
    we <= chance(50) ? Bytes'($urandom) : '0;
    addr <= write;
    data <= Width'({$urandom, $urandom});
    re <= chance(60) && (ReadOld || read != write);
    raddr <= {AddrWidth'($urandom_range(Depth - 1)), read};
    // Non-blocking: reads of this cycle still see the old word.
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (we[i]) model[addr][i*Bits+:Bits] <= data[i*Bits+:Bits];
    end
    cycles <= cycles + 1;
    if (cycles == Cycles) passed(Name, Cycles);
  end

  if (Latency == 0) begin : gen_lutram
    logic [1:0][Width-1:0] rdata;

    spfe_lutram #(.Width(Width), .Depth(Depth), .Ports(2)) i_dut (
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
    logic [Width-1:0] rdata;
    // Expected words, delayed by Latency cycles; the output keeps the last word.
    logic [Width-1:0] expected[Latency];
    bit known[Latency] = '{default: 1'b0};

    spfe_bram #(
      .Width(Width), .Depth(Depth), .ByteWidth(Bits), .Latency(Latency), .ReadOld(ReadOld)
    ) i_dut (
      .clk_i(clk), .we_i(we), .addr_i(addr), .data_i(data),
      .re_i(re), .raddr_i(raddr[0]), .data_o(rdata)
    );

    always @(posedge clk) begin
      if (known[Latency-1] && rdata != expected[Latency-1])
        $fatal(1, "%h instead of %h", rdata, expected[Latency-1]);
      if (re) begin
        expected[0] <= model[raddr[0]];
        known[0] <= 1'b1;
      end
      for (int unsigned i = 1; i < Latency; i++) begin
        expected[i] <= expected[i-1];
        known[i] <= known[i-1];
      end
    end
  end
endmodule
