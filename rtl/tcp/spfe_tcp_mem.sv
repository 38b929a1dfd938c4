// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Memory for retransmission in block RAM, as spfe_tcp expects it: writes of up to 16 bytes, and
/// reads with answers in order. A read returns what was written before it was accepted.
module spfe_tcp_mem
  import spfe_tcp_io_pkg::*;
#(
  /// log2 of the number of 16-byte words.
  parameter int unsigned AddrBits = 16,
  /// Cycles of the memory's clock from a read to its answer, 1 to 16. Cycles above 2 are registers
  /// after the memory, which shorten its wires.
  parameter int unsigned Latency = 2,
  /// 1: the memory runs on mem_clk_i; 0: on clk_i.
  parameter bit DualClock = 1'b0
) (
  input logic clk_i,
  input logic rst_i,
  /// Clock of the memory, with DualClock.
  input logic mem_clk_i,
  /// Reset in the memory's clock, active high, together with rst_i; each has to last until both
  /// clocks have ticked three times. Neither clears the memory.
  input logic mem_rst_i,

  /// Word to write. Addresses above the memory wrap round.
  input mem_write_t wr_i,
  input logic wr_valid_i,
  output logic wr_ready_o,
  /// Address of a word to read. At most 16 reads may be without an answer.
  input logic [31:0] rd_i,
  input logic rd_valid_i,
  output logic rd_ready_o,
  /// Answer to the oldest read, for one cycle; cannot be stalled.
  output logic [127:0] rsp_o,
  output logic rsp_valid_o
);
  localparam int unsigned RamLatency = Latency > 1 ? 2 : 1;
  localparam int unsigned Stages = Latency - RamLatency;

  // Depth of the FIFOs between the clocks.
  localparam int unsigned Pending = 16;

  if (Latency < 1 || Latency > 16) begin : gen_bad_latency
    $error("spfe_tcp_mem: Latency is %0d; 1 to 16 are possible", Latency);
  end

  logic unused_address;
  assign unused_address = ^{wr_i.addr, rd_i};

  // ---- the memory, in its own clock
  logic clk, rst, write, read, answer;
  logic [AddrBits-1:0] addr, raddr;
  logic [15:0] mask;
  logic [127:0] data, answer_data, word;
  logic [RamLatency-1:0] read_q;

  spfe_bram #(
    .Width(128),
    .Depth(2 ** AddrBits),
    .ByteWidth(8),
    .Latency(RamLatency)
  ) i_ram (
    .clk_i(clk),
    .we_i(write ? mask : '0),
    .addr_i(addr),
    .data_i(data),
    .re_i(read),
    .raddr_i(raddr),
    .data_o(word)
  );

  always_ff @(posedge clk) begin
    read_q <= RamLatency'({read_q, read});
    if (rst) read_q <= '0;
  end

  if (Stages == 0) begin : gen_no_stages
    assign answer = read_q[RamLatency-1];
    assign answer_data = word;
  end else begin : gen_stages
    logic [Stages-1:0] valid_q;
    logic [Stages-1:0][127:0] word_q;
    always_ff @(posedge clk) begin
      valid_q <= Stages'({valid_q, read_q[RamLatency-1]});
      word_q <= (Stages * 128)'({word_q, word});
      if (rst) valid_q <= '0;
    end
    assign answer = valid_q[Stages-1];
    assign answer_data = word_q[Stages-1];
  end

  // A read waits while its word is written, and never overtakes a write that was accepted before
  // it.
  if (!DualClock) begin : gen_one_clock
    logic unused_clock;
    assign unused_clock = mem_clk_i ^ mem_rst_i;
    assign clk = clk_i;
    assign rst = rst_i;
    assign write = wr_valid_i;
    assign wr_ready_o = 1'b1;
    assign addr = wr_i.addr[AddrBits-1:0];
    assign data = wr_i.data;
    assign mask = wr_i.mask;
    assign rd_ready_o = !(write && addr == raddr);
    assign read = rd_valid_i && rd_ready_o;
    assign raddr = rd_i[AddrBits-1:0];
    assign rsp_valid_o = answer;
    assign rsp_o = answer_data;
  end else begin : gen_two_clocks
    // A read carries the number of writes that were accepted before it, and waits until all of them
    // are done.
    logic [7:0] taken_q, done_q, mark, missing;
    logic read_there, early, answer_ready;

    assign clk = mem_clk_i;
    assign rst = mem_rst_i;
    always_ff @(posedge clk_i) begin
      taken_q <= taken_q + 8'(wr_valid_i && wr_ready_o);
      if (rst_i) taken_q <= '0;
    end
    always_ff @(posedge clk) begin
      done_q <= done_q + 8'(write);
      if (rst) done_q <= '0;
    end
    assign missing = mark - done_q;
    assign early = (missing != '0 && !missing[7]) || (write && addr == raddr);
    assign read = read_there && !early;

    // The memories of these FIFOs have no check bits.
    logic [5:0] unused_memory;
    spfe_fifo_async #(
      .Width(AddrBits + 144),
      .Depth(Pending)
    ) i_writes (
      .clk_i,
      .rst_i,
      .valid_i(wr_valid_i),
      .ready_o(wr_ready_o),
      .data_i({wr_i.addr[AddrBits-1:0], wr_i.mask, wr_i.data}),
      .rclk_i(mem_clk_i),
      .rrst_i(mem_rst_i),
      .valid_o(write),
      .ready_i(1'b1),
      .data_o({addr, mask, data}),
      .corrected_o(unused_memory[0]),
      .failed_o(unused_memory[1])
    );
    spfe_fifo_async #(
      .Width(AddrBits + 8),
      .Depth(Pending)
    ) i_reads (
      .clk_i,
      .rst_i,
      .valid_i(rd_valid_i),
      .ready_o(rd_ready_o),
      .data_i({rd_i[AddrBits-1:0], taken_q}),
      .rclk_i(mem_clk_i),
      .rrst_i(mem_rst_i),
      .valid_o(read_there),
      .ready_i(!early),
      .data_o({raddr, mark}),
      .corrected_o(unused_memory[2]),
      .failed_o(unused_memory[3])
    );
    spfe_fifo_async #(
      .Width(128),
      .Depth(Pending)
    ) i_answers (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .valid_i(answer),
      .ready_o(answer_ready),
      .data_i(answer_data),
      .rclk_i(clk_i),
      .rrst_i(rst_i),
      .valid_o(rsp_valid_o),
      .ready_i(1'b1),
      .data_o(rsp_o),
      .corrected_o(unused_memory[4]),
      .failed_o(unused_memory[5])
    );
`ifndef SYNTHESIS
    always_ff @(posedge clk) begin
      a_answer :
      assert (rst || !answer || answer_ready)
      else $error("the FIFO of answers is full");
    end
`else
    logic unused_ready;
    assign unused_ready = answer_ready;
`endif
  end
endmodule
