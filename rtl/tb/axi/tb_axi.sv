// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the AXI4 masters in rtl/prim. spfe_tb_pkg selects the one that runs.
module tb_axi;
  tb_axi_copy #(.Name("axi-4"), .Bytes(4), .BurstBytes(64), .Bursts(2)) i_axi_4 ();
  tb_axi_copy #(.Name("axi-16"), .Bytes(16), .BurstBytes(256), .Bursts(8)) i_axi_16 ();
  tb_axi_copy #(.Name("axi-32"), .Bytes(32), .BurstBytes(4096), .Bursts(4), .Protect(2)) i_axi_32 ();
endmodule
