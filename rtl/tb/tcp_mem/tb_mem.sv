// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks that the memory for retransmission answers in order, and that an answer shows all writes
/// that were accepted before the read.
module tb_mem
  import spfe_tb_pkg::*;
  import spfe_tcp_io_pkg::*;
#(
  /// Name of the bench.
  parameter string Name = "tcp-mem",
  /// Passed to spfe_tcp_mem.
  parameter int unsigned Latency = 2,
  /// Passed to spfe_tcp_mem as DualClock.
  parameter bit Dual = 1'b0
);
  localparam int unsigned Bits = 4;
  localparam int unsigned Reads = 5000;

  bit run;
  int unsigned half, mem_half;
  logic clk, mem_clk, rst, mem_rst;
  spfe_tb_clock #(.Drift(5)) i_clock (.run_i(run), .half_i(half), .clk_o(clk));
  spfe_tb_clock #(.Drift(5)) i_mem_clock (.run_i(run), .half_i(mem_half), .clk_o(mem_clk));

  logic wr_valid, wr_ready, rd_valid, rd_ready, rsp_valid;
  logic [Bits-1:0] wr_addr, rd_addr;
  logic [127:0] wr_data, rsp_data;
  logic [15:0] wr_mask;
  mem_write_t wr;
  assign wr = '{addr: 32'(wr_addr), data: wr_data, mask: wr_mask};
  spfe_tcp_mem #(.AddrBits(Bits), .Latency(Latency), .DualClock(Dual)) i_dut (
    .clk_i(clk), .rst_i(rst), .mem_clk_i(mem_clk), .mem_rst_i(mem_rst),
    .wr_i(wr), .wr_valid_i(wr_valid), .wr_ready_o(wr_ready),
    .rd_i(32'(rd_addr)), .rd_valid_i(rd_valid), .rd_ready_o(rd_ready),
    .rsp_o(rsp_data), .rsp_valid_o(rsp_valid)
  );

  logic [127:0] model [2 ** Bits];
  logic [127:0] expected [$];
  logic [Bits-1:0] asked [$];
  int unsigned answers, write_rate, read_rate;

  function automatic bit free(logic [Bits-1:0] addr);
    foreach (asked[i]) if (asked[i] == addr) return 1'b0;
    return !(rd_valid && rd_addr == addr);
  endfunction

  function automatic void store();
    for (int i = 0; i < 16; i++) if (wr_mask[i]) model[wr_addr][i*8+:8] = wr_data[i*8+:8];
  endfunction

  always @(posedge clk) if (!rst) begin
    if (rsp_valid) begin
      if (expected.size() == 0) $fatal(1, "an answer without a read");
      if (rsp_data !== expected[0]) $fatal(1, "word %0d is %h, not %h", asked[0], rsp_data, expected[0]);
      void'(expected.pop_front());
      void'(asked.pop_front());
      answers <= answers + 1;
    end
    // The read comes first: it need not show a write that is accepted at the same edge.
    if (rd_valid && rd_ready) begin
      expected.push_back(model[rd_addr]);
      asked.push_back(rd_addr);
      rd_valid <= 1'b0;
    end
    if (wr_valid && wr_ready) begin
      store();
      wr_valid <= 1'b0;
    end
    if ((!rd_valid || rd_ready) && asked.size() < 15 && chance(read_rate)) begin
      automatic logic [Bits-1:0] addr = Bits'($urandom);
      if (!wr_valid || wr_ready || wr_addr != addr) begin
        rd_valid <= 1'b1;
        rd_addr <= addr;
      end
    end else if ((!wr_valid || wr_ready) && chance(write_rate)) begin
      automatic logic [Bits-1:0] addr = Bits'($urandom);
      if (free(addr)) begin
        wr_valid <= 1'b1;
        wr_addr <= addr;
        wr_data <= {$urandom, $urandom, $urandom, $urandom};
        wr_mask <= 16'($urandom);
      end
    end
    if (answers >= Reads) passed(Name, answers);
  end

  initial if (chosen(Name)) begin
    half = $urandom_range(20, 5);
    mem_half = $urandom_range(20, 5);
    write_rate = activity();
    read_rate = activity();
    foreach (model[i]) model[i] = '0;
    rst = 1'b1;
    mem_rst = 1'b1;
    wr_valid = 1'b0;
    rd_valid = 1'b0;
    run = 1'b1;
    repeat (10) @(posedge clk);
    repeat (10) @(negedge mem_clk);
    mem_rst = 1'b0;
    @(negedge clk);
    rst = 1'b0;
  end
endmodule
