// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of the protocol engine; each runs by itself, see spfe_tb_pkg.
module tb_tcp_engine;
  tb_tcp_engine_directed directed ();
endmodule
