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
endmodule
