// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Benches of ARP and ICMP; the command line selects one (see spfe_tb_pkg).
module tb_tcp_net;
  tb_net #(.Name("net-32-32"), .Rx(32), .Tx(32), .Vifs(1), .Mtu(1500), .Entries(32)) i_net_32_32 ();
  tb_net #(.Name("net-64-64"), .Rx(64), .Tx(64), .Vifs(3), .Mtu(1500), .Entries(5)) i_net_64_64 ();
  tb_net #(.Name("net-32-64"), .Rx(32), .Tx(64), .Vifs(8), .Mtu(576), .Entries(2)) i_net_32_64 ();
  tb_net #(.Name("net-64-32"), .Rx(64), .Tx(32), .Vifs(2), .Mtu(9000), .Entries(33)) i_net_64_32 ();
endmodule
