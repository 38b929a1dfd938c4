// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1

/// Types shared by the blocks of ARP and ICMP.
package spfe_tcp_net_pkg;
  import spfe_tcp_pkg::*;

  /* verilator lint_off UNUSEDPARAM */
  /// Number of 32-bit words that hold the headers of ARP, or of IP and ICMP, without a tag.
  localparam int unsigned HeaderWords = 11;
  /// Width of a word number, for frames up to 16 KiB.
  localparam int unsigned PosBits = 12;
  /// Length of an Ethernet header.
  localparam int unsigned EthBytes = 14;
  /// Minimum length of a frame without FCS (IEEE 802.3).
  localparam int unsigned FrameMin = 60;
  localparam logic [15:0] TypeIp = 16'h0800;
  localparam logic [15:0] TypeArp = 16'h0806;
  localparam logic [15:0] TypeVlan = 16'h8100;
  /// Time to live of the packets we send.
  localparam logic [7:0] Ttl = 8'd64;
  localparam logic [7:0] ProtoIcmp = 8'd1;
  /* verilator lint_on UNUSEDPARAM */

  typedef logic [PosBits-1:0] pos_t;
  typedef logic [HeaderWords-1:0][31:0] header_t;
  typedef logic [MaxVifs-1:0] vif_set_t;

  /// A received frame; valid in the cycle after its last beat.
  typedef struct packed {
    header_t header;  // words beyond the end of the frame hold data of earlier frames
    logic [15:0] bytes;  // frame length without the tag, saturating
    logic err;  // the FCS was wrong
    vif_set_t unicast;  // interfaces that match its tag and MAC address
    vif_set_t broadcast;  // interfaces that match its tag, if it is a broadcast
  } frame_end_t;

  /// A received ARP packet.
  typedef struct packed {
    logic request;
    logic ours;  // the target address is that of interface `vif`
    vif_t vif;
    vif_set_t vifs;  // interfaces that may have received it
    mac_t sha;  // MAC address of the sender
    ip_t spa;  // IP address of the sender
  } arp_rx_t;

  /// An ARP packet to send from one of our interfaces.
  typedef struct packed {
    logic reply;
    vif_t vif;
    mac_t dmac;
    mac_t tha;  // MAC address of the target
    ip_t tpa;  // IP address of the target
  } arp_tx_t;

  /// An echo reply to send; the buffer holds the payload.
  typedef struct packed {
    vif_t vif;
    mac_t dmac;
    ip_t dip;
    logic [15:0] len;  // length of the IP packet in bytes
    logic [15:0] ip_check;  // header checksum field
    logic [15:0] icmp_check;  // ICMP checksum field
  } echo_t;

  typedef enum logic [1:0] {
    ArpAsking,
    ArpKnown,
    ArpAgain,  // known, being refreshed
    ArpFailed
  } arp_state_e;

  /// An entry of the ARP table.
  typedef struct packed {
    arp_state_e state;
    vif_t vif;
    ip_t ip;
    mac_t mac;
    logic [7:0] tries;  // requests sent so far
    logic [31:0] timer;  // ticks until the next action
  } arp_entry_t;

  /// Kinds of passes over the ARP table.
  typedef enum logic [1:0] {
    JobUpdate,  // a packet was received
    JobInsert,  // a query found no entry
    JobDeliver,  // report a change to the engine; touches one entry only
    JobAge  // a tick has passed
  } arp_job_e;

  /// Suitability of an entry for replacement, in ascending order.
  typedef enum logic [1:0] {
    RoomNone,
    RoomInUse,
    RoomUseless,
    RoomVacant
  } arp_room_e;

  /// Comparison results of an entry in a pass.
  typedef struct packed {
    logic used;
    logic heard;  // the entry is the sender of the received packet
    logic moved;  // the packet has another MAC address
    logic same;  // the entry matches the query
    logic enabled;  // its interface is enabled
    logic reported;  // its failure was reported to the engine
    logic due;  // its timer has expired
    logic try_again;  // requests are left to send
    logic past;  // at or after the next entry to replace in rotation
    arp_room_e room;
    logic [7:0] tries;  // incremented
    logic [31:0] timer;  // decremented
  } arp_judged_t;

  /// Effect of a pass on an entry.
  typedef struct packed {
    arp_entry_t entry;  // new value
    logic write;  // store it
    logic drop;  // remove the entry
    logic changed;  // it was resolved, or its MAC address has changed
    logic send;  // send a request
    logic fail;  // the address cannot be resolved
  } arp_change_t;

  /// Words per half of the echo buffer. The transmitter may read one word past the end of a frame.
  function automatic int unsigned echo_depth(int unsigned mtu);
    return (EthBytes + mtu + 15) / 8;
  endfunction

  /// Lowest member of a set of interfaces, or 0 if it is empty.
  function automatic vif_t first_vif(vif_set_t set);
    vif_t found;
    found = '0;
    for (int unsigned i = MaxVifs; i > 0; i--) begin
      if (set[i-1]) found = vif_t'(i - 1);
    end
    return found;
  endfunction
endpackage
