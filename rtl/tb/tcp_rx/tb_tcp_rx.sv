// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the receiver. They make several programs, because each variant takes long to compile.
module tb_tcp_rx #(
  /// Benches in this program. 0: those of `make test`; 1: others with a 32-bit MAC; 2: with a
  /// 64-bit MAC.
  parameter int unsigned Part = 0
);
  if (Part == 0) begin : gen_first
    tb_rx #(.Name("rx-cut-raw-32"), .User(32), .Sum(0), .Packed(0)) i_cut_raw_32 ();
    tb_rx #(.Name("rx-cut-64-ahead"), .Sum(0), .Ahead(1)) i_cut_64_ahead ();
    tb_rx #(.Name("rx-store-64"), .Sessions(5)) i_store_64 ();
    tb_rx #(.Name("rx-store-64-order"), .Order(1)) i_store_64_order ();
    tb_rx #(.Name("rx64-cut-64"), .Mac(64), .Sum(0)) i_wide_cut_64 ();
    tb_rx #(.Name("rx64-store-128"), .Mac(64), .User(128), .Pipe(1)) i_wide_store_128 ();
  end else if (Part == 1) begin : gen_narrow
    tb_rx #(.Name("rx-cut-32"), .User(32), .Sum(0)) i_cut_32 ();
    tb_rx #(.Name("rx-cut-64"), .Sum(0), .Mtu(9000), .Sessions(64)) i_cut_64 ();
    tb_rx #(.Name("rx-cut-64-merge"), .Sum(0), .Merge(1)) i_cut_64_merge ();
    tb_rx #(.Name("rx-cut-raw-128-merge"), .User(128), .Sum(0), .Packed(0), .Merge(1), .Pipe(1))
        i_cut_raw_128_merge ();
    tb_rx #(.Name("rx-store-128"), .User(128), .Mtu(9000)) i_store_128 ();
    tb_rx #(.Name("rx-store-raw-32"), .User(32), .Packed(0), .Pipe(2)) i_store_raw_32 ();
    tb_rx #(.Name("rx-store-64-ahead"), .Ahead(1)) i_store_64_ahead ();
    tb_rx #(.Name("rx-store-32-order"), .User(32), .Order(1), .Sessions(7), .Mem(10))
        i_store_32_order ();
  end else begin : gen_wide
    tb_rx #(.Name("rx64-cut-raw-64"), .Mac(64), .Sum(0), .Packed(0)) i_cut_raw_64 ();
    tb_rx #(.Name("rx64-cut-64-ahead"), .Mac(64), .Sum(0), .Ahead(1)) i_cut_64_ahead ();
    tb_rx #(.Name("rx64-cut-128-merge"), .Mac(64), .User(128), .Sum(0), .Merge(1)) i_cut_128 ();
    tb_rx #(.Name("rx64-store-64"), .Mac(64)) i_store_64 ();
    tb_rx #(.Name("rx64-store-128-order"), .Mac(64), .User(128), .Order(1), .Mem(12),
            .Sessions(32)) i_store_128_order ();
  end
endmodule
