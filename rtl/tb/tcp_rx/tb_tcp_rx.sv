// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of the receiver of the TCP core; each runs by itself, see spfe_tb_pkg.
module tb_tcp_rx;
  tb_rx #(.NAME("rx-cut-raw-32"), .USER(32), .SUM(0), .PACKED(0)) cut_raw_32 ();
  tb_rx #(.NAME("rx-cut-32"), .USER(32), .SUM(0)) cut_32 ();
  tb_rx #(.NAME("rx-cut-64"), .SUM(0), .MTU(9000), .SESSIONS(64)) cut_64 ();
  tb_rx #(.NAME("rx-cut-64-merge"), .SUM(0), .MERGE(1)) cut_64_merge ();
  tb_rx #(.NAME("rx-cut-raw-128-merge"), .USER(128), .SUM(0), .PACKED(0), .MERGE(1), .PIPE(1))
      cut_raw_128_merge ();
  tb_rx #(.NAME("rx-store-64"), .SESSIONS(5)) store_64 ();
  tb_rx #(.NAME("rx-store-128"), .USER(128), .MTU(9000)) store_128 ();
  tb_rx #(.NAME("rx-store-raw-32"), .USER(32), .PACKED(0), .PIPE(2)) store_raw_32 ();
  tb_rx #(.NAME("rx64-cut-raw-64"), .MAC(64), .SUM(0), .PACKED(0)) wide_cut_raw_64 ();
  tb_rx #(.NAME("rx64-cut-64"), .MAC(64), .SUM(0)) wide_cut_64 ();
  tb_rx #(.NAME("rx64-cut-128-merge"), .MAC(64), .USER(128), .SUM(0), .MERGE(1)) wide_cut_128 ();
  tb_rx #(.NAME("rx64-store-64"), .MAC(64)) wide_store_64 ();
  tb_rx #(.NAME("rx64-store-128"), .MAC(64), .USER(128), .PIPE(1)) wide_store_128 ();
endmodule
