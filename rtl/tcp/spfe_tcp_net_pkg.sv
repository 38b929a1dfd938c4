// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types shared by the blocks of ARP and ICMP.
package spfe_tcp_net_pkg;
  import spfe_tcp_pkg::*;

  /* verilator lint_off UNUSEDPARAM */
  /// Words that hold the headers of ARP and of ICMP over IP: numbers 0 to 10, without a tag.
  localparam int unsigned HeaderWords = 11;
  /// Bits of the number of a word: up to 16 KiB.
  localparam int unsigned PosBits = 12;
  /// Bytes of an Ethernet header.
  localparam int unsigned EthBytes = 14;
  /// Bytes of a frame without FCS, at least (IEEE 802.3).
  localparam int unsigned FrameMin = 60;
  localparam logic [15:0] TypeIp = 16'h0800;
  localparam logic [15:0] TypeArp = 16'h0806;
  localparam logic [15:0] TypeVlan = 16'h8100;
  /// Time to live of what we send.
  localparam logic [7:0] Ttl = 8'd64;
  localparam logic [7:0] ProtoIcmp = 8'd1;
  /* verilator lint_on UNUSEDPARAM */

  typedef logic [PosBits-1:0] pos_t;
  typedef logic [HeaderWords-1:0][31:0] header_t;
  typedef logic [MaxVifs-1:0] vif_set_t;

  /// A frame has ended. Valid in the cycle after its last beat.
  typedef struct packed {
    header_t header;  // bytes that the frame did not have are left over from others
    logic [15:0] bytes;  // without tag; stays at its end when there are more
    logic err;  // the FCS was wrong
    vif_set_t unicast;  // interfaces whose tag and MAC address it has
    vif_set_t broadcast;  // interfaces whose tag it has, if it is a broadcast
  } frame_end_t;

  /// An ARP packet that was received.
  typedef struct packed {
    logic request;
    logic ours;  // it asks for, or is for, the address of `vif`
    vif_t vif;
    vif_set_t vifs;  // interfaces it may have come in by
    mac_t sha;  // of the sender
    ip_t spa;  // of the sender
  } arp_rx_t;

  /// An ARP packet to send; the sender is an interface of ours.
  typedef struct packed {
    logic reply;
    vif_t vif;
    mac_t dmac;
    mac_t tha;  // of the target
    ip_t tpa;  // of the target
  } arp_tx_t;

  /// An echo reply to send; the rest is in the buffer.
  typedef struct packed {
    vif_t vif;
    mac_t dmac;
    ip_t dip;
    logic [15:0] len;  // bytes of the IP packet
    logic [15:0] ip_check;  // field of the header
    logic [15:0] icmp_check;  // field of the header
  } echo_t;

  typedef enum logic [1:0] {
    ArpAsking,
    ArpKnown,
    ArpAgain,  // known, and asked for again
    ArpFailed
  } arp_state_e;

  /// An entry of the table of addresses.
  typedef struct packed {
    arp_state_e state;
    vif_t vif;
    ip_t ip;
    mac_t mac;
    logic [7:0] tries;  // requests sent
    logic [31:0] timer;  // ticks until something is done
  } arp_entry_t;

  /// Words of one half of the buffer for an echo request; one more than the frame has may be read.
  function automatic int unsigned echo_depth(int unsigned mtu);
    return (EthBytes + mtu + 15) / 8;
  endfunction

  /// The lowest member of a set of interfaces; 0 if there is none.
  function automatic vif_t first_vif(vif_set_t set);
    vif_t found;
    found = '0;
    for (int unsigned i = MaxVifs; i > 0; i--) begin
      if (set[i-1]) found = vif_t'(i - 1);
    end
    return found;
  endfunction
endpackage
