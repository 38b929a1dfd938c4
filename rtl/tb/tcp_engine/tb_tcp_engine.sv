// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of the protocol engine; each runs by itself, see spfe_tb_pkg.
module tb_tcp_engine;
  tb_engine_directed directed ();
  tb_engine_rate rate ();
  tb_engine_random #(.NAME("engine")) plain ();
  tb_engine_random #(
    .NAME("engine-64"), .SESSIONS(64), .CongestionControl(1), .StatusEvents(1), .CreditEvents(1),
    .InstantAck(1)
  ) full ();
endmodule
