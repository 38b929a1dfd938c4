// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Recognises ARP packets (RFC 826) for Ethernet and IPv4 among the received frames.
module spfe_tcp_arp_rx
  import spfe_tcp_pkg::*;
  import spfe_tcp_net_pkg::*;
#(
  /// Number of virtual interfaces, 1 to MaxVifs.
  parameter int unsigned VifCount = 1
) (
  input logic clk_i,
  input logic rst_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// end_i is valid: a frame has ended.
  input logic end_valid_i,
  /// The frame.
  input frame_end_t end_i,
  /// arp_o is valid: one of our interfaces received a good ARP packet; one cycle.
  output logic arp_valid_o,
  /// The ARP packet.
  output arp_rx_t arp_o
);
  localparam logic [15:0] Bytes = 16'd42;
  localparam logic [15:0] Request = 16'd1;
  localparam logic [15:0] Reply = 16'd2;

  logic [15:0] op;
  mac_t sha;
  ip_t spa, tpa;
  vif_set_t vifs, ours;
  logic shape;

  assign op = end_i.header[5][31:16];
  assign sha = {end_i.header[5][15:0], end_i.header[6]};
  assign spa = end_i.header[7];
  assign tpa = {end_i.header[9][15:0], end_i.header[10][31:16]};
  assign vifs = end_i.unicast | end_i.broadcast;
  // Hardware type 1, protocol type IPv4, lengths 6 and 4; the sender's MAC address is not a group.
  assign shape = end_i.header[3] == {TypeArp, 16'd1} && end_i.header[4] == {TypeIp, 16'h0604}
      && (op == Request || op == Reply) && end_i.bytes >= Bytes && !end_i.err && !sha[40];

  always_comb begin
    ours = '0;
    for (int unsigned i = 0; i < VifCount; i++) ours[i] = vifs[i] && tpa == cfg_i.vif[i].ip;
  end

  // Register the comparisons, then combine them.
  logic valid_q, shape_q;
  vif_set_t vifs_q, ours_q;
  logic request_q;
  mac_t sha_q;
  ip_t spa_q;

  always_ff @(posedge clk_i) begin
    valid_q <= end_valid_i;
    shape_q <= shape;
    vifs_q <= vifs;
    ours_q <= ours;
    request_q <= op == Request;
    sha_q <= sha;
    spa_q <= spa;
    if (rst_i) valid_q <= 1'b0;
  end

  assign arp_valid_o = valid_q && shape_q && vifs_q != '0;
  assign arp_o.request = request_q;
  assign arp_o.ours = ours_q != '0;
  assign arp_o.vif = first_vif(ours_q);
  assign arp_o.vifs = vifs_q;
  assign arp_o.sha = sha_q;
  assign arp_o.spa = spa_q;

  // The configuration is used in part.
  logic unused;
  assign unused = ^cfg_i;
endmodule
