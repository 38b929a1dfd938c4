// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of rtl/prim. spfe_tb_pkg selects the one that runs.
module tb_prim;
  tb_stream #(.Name("skid"), .Kind("skid"), .Width(17)) i_skid ();
  tb_stream #(.Name("slice"), .Kind("slice"), .Width(33)) i_slice ();
  tb_stream #(.Name("fifo-2"), .Kind("fifo"), .Width(1), .Depth(2)) i_fifo_2 ();
  tb_stream #(.Name("fifo-16"), .Kind("fifo"), .Width(40), .Depth(16)) i_fifo_16 ();
  tb_stream #(.Name("fifo-128"), .Kind("fifo"), .Width(36), .Depth(128)) i_fifo_128 ();
  tb_stream #(.Name("fifo-async-4"), .Kind("async"), .Width(12), .Depth(4)) i_fifo_async_4 ();
  tb_stream #(.Name("fifo-async-32"), .Kind("async"), .Width(64), .Depth(32)) i_fifo_async_32 ();
  tb_stream #(.Name("cdc-word"), .Kind("word"), .Width(20), .Words(3000)) i_cdc_word ();
  tb_packet_fifo #(.Name("packet-fifo-8"), .Width(9), .Depth(8)) i_packet_fifo_8 ();
  tb_packet_fifo #(.Name("packet-fifo-128"), .Width(36), .Depth(128)) i_packet_fifo_128 ();
  tb_arb #(.Name("arb-2"), .Ports(2)) i_arb_2 ();
  tb_arb #(.Name("arb-7"), .Ports(7)) i_arb_7 ();
  tb_arb #(.Name("arb-16"), .Ports(16)) i_arb_16 ();
  tb_ram #(.Name("lutram"), .Latency(0)) i_lutram ();
  tb_ram #(.Name("bram-1"), .Latency(1), .Bytes(4), .Bits(8)) i_bram_1 ();
  tb_ram #(.Name("bram-2"), .Latency(2), .Bytes(2), .Bits(9)) i_bram_2 ();
  tb_ram #(.Name("bram-1-old"), .Latency(1), .ReadOld(1'b1)) i_bram_1_old ();
  tb_ram #(.Name("bram-2-old"), .Latency(2), .ReadOld(1'b1), .Bytes(3), .Bits(8)) i_bram_2_old ();
  tb_cdc_pulse #(.Name("cdc-pulse")) i_cdc_pulse ();
  tb_oc #(.Name("oc-2"), .Words(2)) i_oc_2 ();
  tb_oc #(.Name("oc-10"), .Words(10)) i_oc_10 ();
  tb_code #(.Name("code-8"), .Width(8)) i_code_8 ();
  tb_code #(.Name("code-32"), .Width(32)) i_code_32 ();
  tb_code #(.Name("code-72"), .Width(72)) i_code_72 ();
  tb_siphash #(.Name("siphash-1"), .Blocks(1)) i_siphash_1 ();
  tb_siphash #(.Name("siphash-2")) i_siphash_2 ();
  tb_ratio #(.Name("ratio-2"), .Ratio(2)) i_ratio_2 ();
  tb_ratio #(.Name("ratio-5"), .Ratio(5)) i_ratio_5 ();
  tb_share #(.Name("share-2"), .Ports(2)) i_share_2 ();
  tb_share #(.Name("share-5"), .Ports(5)) i_share_5 ();
  tb_stream #(
    .Name("fifo-async-128"), .Kind("async"), .Width(36), .Depth(128), .Protect(2)
  ) i_fifo_async_128 ();
endmodule
