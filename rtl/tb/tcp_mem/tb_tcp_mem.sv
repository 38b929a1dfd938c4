// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// The memory for retransmission in one clock and in two; see spfe_tb_pkg.
module tb_tcp_mem;
  tb_mem #(.NAME("tcp-mem-1"), .LATENCY(1)) mem_1 ();
  tb_mem #(.NAME("tcp-mem-6"), .LATENCY(6)) mem_6 ();
  tb_mem #(.NAME("tcp-mem-dual"), .LATENCY(6), .DUAL(1'b1)) mem_dual ();
endmodule
