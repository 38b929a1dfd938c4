// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Checks the Ethernet and IP headers and finds the interface that the frame addresses.
module spfe_tcp_rx_checks
  import spfe_tcp_pkg::*;
  import spfe_tcp_rx_pkg::*;
#(
  /// Largest IP packet in bytes.
  parameter int unsigned Mtu = 1500,
  /// Number of virtual interfaces, 1 to 8.
  parameter int unsigned VifCount = 1
) (
  input logic clk_i,
  /// Configuration; from the registers.
  input tcp_cfg_t cfg_i,
  /// Bit n: word n is on the bus.
  input logic [8:0] at_i,
  /// Word 0, in its cycle.
  input logic [31:0] addr_i,
  /// Word 4, 6 or 8, in its cycle.
  input logic [31:0] even_i,
  /// Word 1, 3, 5 or 7, in its cycle.
  input logic [31:0] odd_i,
  /// The frame has an IEEE 802.1Q tag.
  input logic tagged_i,
  /// VLAN identifier of the tag.
  input logic [11:0] vlan_i,
  /// Interfaces that the frame addresses; complete one cycle after word 8.
  output logic [VifCount-1:0] match_o,
  /// Faults in the words before this cycle. The TCP header is checked elsewhere.
  output fault_t fault_o
);
  logic [VifCount-1:0] match_q, match_d;
  fault_t fault_q, fault_d;
  logic unused_bits;

  assign unused_bits = ^{cfg_i, at_i[2], even_i[12:0]};

  always_comb begin
    match_d = match_q;
    for (int unsigned i = 0; i < VifCount; i++) begin
      if (at_i[0]) begin
        match_d[i] = cfg_i.enable && cfg_i.vif[i].enable && cfg_i.vif[i].mac[47:16] == addr_i;
      end
      if (at_i[1] && cfg_i.vif[i].mac[15:0] != odd_i[31:16]) match_d[i] = 1'b0;
      if (at_i[3] && tagged_i != cfg_i.vif[i].vlan) match_d[i] = 1'b0;
      if (at_i[3] && tagged_i && vlan_i != cfg_i.vif[i].tag[11:0]) match_d[i] = 1'b0;
      if (at_i[7] && cfg_i.vif[i].ip[31:16] != odd_i[15:0]) match_d[i] = 1'b0;
      if (at_i[8] && cfg_i.vif[i].ip[15:0] != even_i[31:16]) match_d[i] = 1'b0;
    end
  end

  always_comb begin
    fault_d = fault_q;
    if (at_i[0]) fault_d = '0;
    if (at_i[3]) begin
      if (odd_i[31:12] != 20'h08004) fault_d.not_for_us = 1'b1;
      if (odd_i[11:8] != 4'd5) fault_d.ip_options = 1'b1;
    end
    if (at_i[4]) begin
      if (even_i[31:16] < 16'd40) fault_d.length = 1'b1;
      if (even_i[31:16] > 16'(Mtu)) fault_d.oversize = 1'b1;
    end
    if (at_i[5]) begin
      // MF flag or fragment offset.
      if (odd_i[29:16] != '0) fault_d.fragment = 1'b1;
      if (odd_i[7:0] != 8'd6) fault_d.not_for_us = 1'b1;
    end
    // The source is a multicast, reserved or broadcast address (RFC 1122, 4.2.3.10).
    if (at_i[6] && even_i[15:13] == 3'b111) fault_d.not_for_us = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    match_q <= match_d;
    fault_q <= fault_d;
  end

  assign match_o = match_q;
  always_comb begin
    fault_o = fault_q;
    if (match_q == '0) fault_o.not_for_us = 1'b1;
  end
endmodule
