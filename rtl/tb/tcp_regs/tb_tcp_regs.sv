// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of the registers, the events and the latency probe.
module tb_tcp_regs;
  tb_regs #(.Name("regs"), .Vifs(3), .Mtu(1500)) i_regs ();
  tb_events #(.Name("events")) i_events ();
  tb_probe #(.Name("probe")) i_probe ();
endmodule
