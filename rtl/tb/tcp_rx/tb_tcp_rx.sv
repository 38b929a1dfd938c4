// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the receiver of the TCP core; each runs by itself, see spfe_tb_pkg. They make more
/// than one program, as each variant takes its time to compile.
module tb_tcp_rx #(
  /// Which of them: 0: in `make test`; 1: others for a 32-bit MAC; 2: for a 64-bit one.
  parameter int unsigned PART = 0
);
  if (PART == 0) begin : gen_first
    tb_rx #(.NAME("rx-cut-raw-32"), .USER(32), .SUM(0), .PACKED(0)) cut_raw_32 ();
    tb_rx #(.NAME("rx-cut-64-ahead"), .SUM(0), .AHEAD(1)) cut_64_ahead ();
    tb_rx #(.NAME("rx-store-64"), .SESSIONS(5)) store_64 ();
    tb_rx #(.NAME("rx-store-64-order"), .ORDER(1)) store_64_order ();
    tb_rx #(.NAME("rx64-cut-64"), .MAC(64), .SUM(0)) wide_cut_64 ();
    tb_rx #(.NAME("rx64-store-128"), .MAC(64), .USER(128), .PIPE(1)) wide_store_128 ();
  end else if (PART == 1) begin : gen_narrow
    tb_rx #(.NAME("rx-cut-32"), .USER(32), .SUM(0)) cut_32 ();
    tb_rx #(.NAME("rx-cut-64"), .SUM(0), .MTU(9000), .SESSIONS(64)) cut_64 ();
    tb_rx #(.NAME("rx-cut-64-merge"), .SUM(0), .MERGE(1)) cut_64_merge ();
    tb_rx #(.NAME("rx-cut-raw-128-merge"), .USER(128), .SUM(0), .PACKED(0), .MERGE(1), .PIPE(1))
        cut_raw_128_merge ();
    tb_rx #(.NAME("rx-store-128"), .USER(128), .MTU(9000)) store_128 ();
    tb_rx #(.NAME("rx-store-raw-32"), .USER(32), .PACKED(0), .PIPE(2)) store_raw_32 ();
    tb_rx #(.NAME("rx-store-64-ahead"), .AHEAD(1)) store_64_ahead ();
    tb_rx #(.NAME("rx-store-32-order"), .USER(32), .ORDER(1), .SESSIONS(7), .MEM(10))
        store_32_order ();
  end else begin : gen_wide
    tb_rx #(.NAME("rx64-cut-raw-64"), .MAC(64), .SUM(0), .PACKED(0)) cut_raw_64 ();
    tb_rx #(.NAME("rx64-cut-64-ahead"), .MAC(64), .SUM(0), .AHEAD(1)) cut_64_ahead ();
    tb_rx #(.NAME("rx64-cut-128-merge"), .MAC(64), .USER(128), .SUM(0), .MERGE(1)) cut_128 ();
    tb_rx #(.NAME("rx64-store-64"), .MAC(64)) store_64 ();
    tb_rx #(.NAME("rx64-store-128-order"), .MAC(64), .USER(128), .ORDER(1), .MEM(12),
            .SESSIONS(32)) store_128_order ();
  end
endmodule
