// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of ARP and ICMP; the command line selects one (see spfe_tb_pkg).
module tb_tcp_net;
  tb_net #(.NAME("net-32-32"), .RX(32), .TX(32), .VIFS(1), .MTU(1500), .ENTRIES(32)) net_32_32 ();
  tb_net #(.NAME("net-64-64"), .RX(64), .TX(64), .VIFS(3), .MTU(1500), .ENTRIES(5)) net_64_64 ();
  tb_net #(.NAME("net-32-64"), .RX(32), .TX(64), .VIFS(8), .MTU(576), .ENTRIES(2)) net_32_64 ();
  tb_net #(.NAME("net-64-32"), .RX(64), .TX(32), .VIFS(2), .MTU(9000), .ENTRIES(33)) net_64_32 ();
endmodule
