// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the memory for retransmission, with one clock and with two.
module tb_tcp_mem;
  tb_mem #(.Name("tcp-mem-1"), .Latency(1)) i_mem_1 ();
  tb_mem #(.Name("tcp-mem-6"), .Latency(6)) i_mem_6 ();
  tb_mem #(.Name("tcp-mem-dual"), .Latency(6), .Dual(1'b1)) i_mem_dual ();
endmodule
