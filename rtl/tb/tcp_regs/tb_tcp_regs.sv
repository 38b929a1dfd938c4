// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// All benches of the registers and of the events; each runs by itself, see spfe_tb_pkg.
module tb_tcp_regs;
  tb_regs #(.NAME("regs"), .VIFS(3), .MTU(1500)) regs ();
  tb_events #(.NAME("events")) events ();
  tb_probe #(.NAME("probe")) probe ();
endmodule
