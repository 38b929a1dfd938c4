// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of rtl/prim; each runs by itself, see spfe_tb_pkg.
module tb_prim;
  tb_stream #(.NAME("skid"), .KIND("skid"), .WIDTH(17)) skid ();
  tb_stream #(.NAME("slice"), .KIND("slice"), .WIDTH(33)) slice ();
  tb_stream #(.NAME("fifo-2"), .KIND("fifo"), .WIDTH(1), .DEPTH(2)) fifo_2 ();
  tb_stream #(.NAME("fifo-16"), .KIND("fifo"), .WIDTH(40), .DEPTH(16)) fifo_16 ();
  tb_stream #(.NAME("fifo-128"), .KIND("fifo"), .WIDTH(36), .DEPTH(128)) fifo_128 ();
  tb_stream #(.NAME("fifo-async-4"), .KIND("async"), .WIDTH(12), .DEPTH(4)) fifo_async_4 ();
  tb_stream #(.NAME("fifo-async-32"), .KIND("async"), .WIDTH(64), .DEPTH(32)) fifo_async_32 ();
  tb_stream #(.NAME("cdc-word"), .KIND("word"), .WIDTH(20), .WORDS(3000)) cdc_word ();
  tb_packet_fifo #(.NAME("packet-fifo-8"), .WIDTH(9), .DEPTH(8)) packet_fifo_8 ();
  tb_packet_fifo #(.NAME("packet-fifo-128"), .WIDTH(36), .DEPTH(128)) packet_fifo_128 ();
  tb_arb #(.NAME("arb-2"), .PORTS(2)) arb_2 ();
  tb_arb #(.NAME("arb-7"), .PORTS(7)) arb_7 ();
  tb_arb #(.NAME("arb-16"), .PORTS(16)) arb_16 ();
  tb_ram #(.NAME("lutram"), .LATENCY(0)) lutram ();
  tb_ram #(.NAME("bram-1"), .LATENCY(1), .BYTES(4), .BITS(8)) bram_1 ();
  tb_ram #(.NAME("bram-2"), .LATENCY(2), .BYTES(2), .BITS(9)) bram_2 ();
  tb_ram #(.NAME("bram-1-old"), .LATENCY(1), .READ_OLD(1'b1)) bram_1_old ();
  tb_ram #(.NAME("bram-2-old"), .LATENCY(2), .READ_OLD(1'b1), .BYTES(3), .BITS(8)) bram_2_old ();
  tb_cdc_pulse #(.NAME("cdc-pulse")) cdc_pulse ();
  tb_oc #(.NAME("oc-2"), .WORDS(2)) oc_2 ();
  tb_oc #(.NAME("oc-10"), .WORDS(10)) oc_10 ();
endmodule
