// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of the protocol engine; each runs by itself, see spfe_tb_pkg.
module tb_tcp_engine;
  tb_engine_directed directed ();
  tb_engine_random #(.NAME("engine-clean"), .LOSS(0), .ROUNDS(60)) clean ();
  tb_engine_random #(.NAME("engine-lossy"), .LOSS(5), .ROUNDS(40)) lossy ();
  tb_engine_random #(.NAME("engine-cycles"), .LOSS(2), .ROUNDS(1000), .BYTES(200), .TICK(50),
      .WAIT(10)) cycles ();
endmodule
