// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from rtl/tcp/regs/registers.toml: do not edit; run `python3 rtl/tcp/regs/generate.py`.

/// Registers of the TCP core: what is stored, read and written, and the order of the counters.
package spfe_tcp_regs_pkg;
  import spfe_tcp_pkg::*;

  /* verilator lint_off UNUSEDPARAM */
  /// Counters.
  localparam int unsigned CounterCount = 43;
  /// Number of the 32-bit word of the first one.
  localparam int unsigned CounterWord = 128;
  /* verilator lint_on UNUSEDPARAM */

  /// Values of the stored registers.
  typedef struct packed {
    /// 0: nothing is received or sent.
    logic control_enable;
    /// 1: no reset is sent to segments of no session.
    logic control_rst_silent;
    /// A message that finds its ring full is 1: refused with an event, 0: stalled.
    logic control_ring_refuse;
    /// Window scaling is offered (RFC 7323, 2).
    logic control_wscale_en;
    /// Our shift of the window.
    logic [3:0] control_wscale;
    /// Receive window in bytes; what is above 65535 << CONTROL.WSCALE (or 65535 without scaling) cannot be announced.
    logic [29:0] rcv_wnd;
    /// Most bytes of payload in a segment, announced and never exceeded.
    logic [15:0] mss;
    /// Secret mixed into initial sequence numbers (RFC 6528); set it to a random number.
    logic [31:0] iss_key;
    /// Least retransmission timeout in ticks (RFC 6298).
    logic [15:0] rto_min;
    /// Greatest retransmission timeout in ticks.
    logic [15:0] rto_max;
    /// Retransmission timeout in ticks before a round trip was measured.
    logic [15:0] rto_init;
    /// SYN and SYN-ACK.
    logic [7:0] tries_syn;
    /// Data and FIN.
    logic [7:0] tries_data;
    /// Ticks an acknowledgement may wait (RFC 9293, 3.8.6.3: below half a second).
    logic [15:0] delack;
    /// Ticks in TIME-WAIT.
    logic [15:0] time_wait;
    /// Longest distance of probes of a closed window in ticks.
    logic [15:0] persist_max;
    /// Ticks between ARP requests for one address.
    logic [15:0] arp_retry;
    /// ARP requests without an answer before an address counts as not resolvable.
    logic [7:0] arp_tries;
    /// Ticks between announcements of our addresses, and after which a known address is asked for again; 0: never.
    logic [31:0] arp_refresh;
    /// Session that is operated on and shown.
    logic [8:0] session_select;
    /// Address of the peer; LISTEN: 0 takes any.
    logic [31:0] session_peer_ip;
    /// Ours.
    logic [15:0] session_ports_local;
    /// The peer's; not for LISTEN.
    logic [15:0] session_ports_peer;
    /// Virtual interface for LISTEN and CONNECT.
    logic [2:0] session_vif;
  } regs_rw_t;

  /// Values that come from the core.
  typedef struct packed {
    /// Sessions (SESSION_COUNT).
    logic [15:0] build_sizes_sessions;
    /// Entries of the table of addresses (ARP_TABLE_ENTRY_COUNT).
    logic [15:0] build_sizes_arp_entries;
    /// From the MAC (MAC2TCP_DATA_WIDTH).
    logic [7:0] build_widths_mac_rx;
    /// To the MAC (TCP2MAC_DATA_WIDTH).
    logic [7:0] build_widths_mac_tx;
    /// From the user (USER2TCP_DATA_WIDTH).
    logic [7:0] build_widths_user_tx;
    /// To the user (TCP2USER_DATA_WIDTH).
    logic [7:0] build_widths_user_rx;
    /// Largest IP packet in bytes (MTU).
    logic [15:0] build_limits_mtu;
    /// Virtual interfaces (VIRTUAL_INTERFACES_COUNT).
    logic [3:0] build_limits_vifs;
    /// Different tags (VLAN_COUNT).
    logic [3:0] build_limits_vlans;
    /// Different MAC addresses (MAC_ADDRESS_COUNT).
    logic [3:0] build_limits_macs;
    /// Frames are padded to 60 bytes.
    logic build_features_mac_tx_pad;
    /// Echo requests are answered (ICMP_SERVER_EN).
    logic build_features_icmp_server;
    /// Addresses are announced and refreshed (ARP_GRATUITOUS_REFRESH_EN).
    logic build_features_arp_gratuitous;
    /// ARP requests are answered (ARP_SERVER_EN).
    logic build_features_arp_server;
    /// Data is acknowledged at once (INSTANT_ACK_EN).
    logic build_features_instant_ack;
    /// Events of credit (EMI_CREDIT_EN).
    logic build_features_credit_events;
    /// Events of status (EMI_STATUS_EN).
    logic build_features_status_events;
    /// PSH on all data (TX_PUSH_BIT_VALUE).
    logic build_features_tx_push;
    /// NewReno (TX_CONGESTION_CONTROL_EN).
    logic build_features_tx_congestion_control;
    /// Messages to closed sessions are discarded (TX_DROP_IF_NOT_ESTABLISHED_EN).
    logic build_features_tx_drop_if_not_established;
    /// Segments out of order are delivered (RX_OOS_SEQNUM_EN).
    logic build_features_rx_out_of_sequence;
    /// Segments are put in order (RX_REORDERING_EN).
    logic build_features_rx_reordering;
    /// The last beat waits for the end of the frame.
    logic build_features_rx_eop_merge;
    /// Full beats from the first one.
    logic build_features_rx_packed;
    /// Store-and-forward (RX_CHECKSUM_VERIFICATION_EN).
    logic build_features_rx_checksum;
    /// log2 of the 16-byte words for retransmission (TX_RETRANSMIT_MEM_ADDR_WIDTH).
    logic [7:0] build_memories_tx_addr_bits;
    /// log2 of the words for reordering (RX_REORDERING_MEM_ADDR_WIDTH).
    logic [7:0] build_memories_rx_addr_bits;
    /// Frames of MTU size in the receive FIFO (RX_FIFO_PACKET_COUNT).
    logic [7:0] build_memories_rx_fifo_packets;
    /// Registers behind the receiver (RX_OUTPUT_PIPE_COUNT).
    logic [3:0] build_memories_rx_pipe;
    /// Registers before the MAC (TX_OUTPUT_PIPE_COUNT).
    logic [3:0] build_memories_tx_pipe;
    /// Virtual interface that the registers VIF_* show.
    logic [2:0] vif_select;
    /// The interface is in use. When this is set, its address is announced.
    logic vif_control_enable;
    /// Its frames carry an IEEE 802.1Q tag.
    logic vif_control_vlan;
    /// The tag: priority, DEI and VLAN identifier.
    logic [15:0] vif_control_tag;
    /// MAC address, first two bytes: the first one in bits 15:8.
    logic [15:0] vif_mac_high;
    /// MAC address, last four bytes: the last one in bits 7:0.
    logic [31:0] vif_mac_low;
    /// IPv4 address; the first byte in bits 31:24.
    logic [31:0] vif_ip;
    /// Mask of its subnet.
    logic [31:0] vif_mask;
    /// Next hop to addresses outside of the subnet.
    logic [31:0] vif_gateway;
    /// The operation is not taken yet.
    logic session_status_operation_busy;
    /// The copy is not made yet.
    logic session_status_snapshot_busy;
    /// 0 CLOSED, 1 LISTEN, 2 SYN-SENT, 3 SYN-RECEIVED, 4 ESTABLISHED, 5 FIN-WAIT-1, 6 FIN-WAIT-2, 7 CLOSE-WAIT, 8 CLOSING, 9 LAST-ACK, 10 TIME-WAIT, 11 address of the next hop is asked for.
    logic [3:0] view_state_state;
    /// Virtual interface.
    logic [2:0] view_state_vif;
    /// Most bytes of payload the peer takes in a segment.
    logic [15:0] view_state_mss;
    /// Address of the peer.
    logic [31:0] view_peer_ip;
    /// Ours.
    logic [15:0] view_ports_local;
    /// The peer's.
    logic [15:0] view_ports_peer;
    /// SND.UNA.
    logic [31:0] view_snd_una;
    /// SND.NXT.
    logic [31:0] view_snd_nxt;
    /// RCV.NXT.
    logic [31:0] view_rcv_nxt;
    /// SND.WND in bytes.
    logic [31:0] view_snd_wnd;
    /// Congestion window in bytes.
    logic [31:0] view_cwnd;
    /// Slow start threshold in bytes.
    logic [31:0] view_ssthresh;
    /// Retransmission timeout.
    logic [15:0] view_times_rto;
    /// Smoothed round trip.
    logic [15:0] view_times_srtt;
    /// Bytes free in the ring.
    logic [31:0] view_credit;
    /// Of the last one; 0: none was measured.
    logic [15:0] probe_rx_last;
    /// Least one; 65535: none was measured.
    logic [15:0] probe_rx_range_min;
    /// Greatest one; 0: none was measured.
    logic [15:0] probe_rx_range_max;
    /// Of the last one; 0: none was measured.
    logic [15:0] probe_tx_last;
    /// Least one; 65535: none was measured.
    logic [15:0] probe_tx_range_min;
    /// Greatest one; 0: none was measured.
    logic [15:0] probe_tx_range_max;
  } regs_hw_t;

  /// Register is written in this cycle.
  typedef struct packed {
    /// Commands for the whole core; a written 1 acts.
    logic command;
    /// Virtual interface that the registers VIF_* show.
    logic vif_select;
    /// Switches of the interface; disable it while the other VIF registers change.
    logic vif_control;
    /// MAC address, first two bytes: the first one in bits 15:8.
    logic vif_mac_high;
    /// MAC address, last four bytes: the last one in bits 7:0.
    logic vif_mac_low;
    /// IPv4 address; the first byte in bits 31:24.
    logic vif_ip;
    /// Mask of its subnet.
    logic vif_mask;
    /// Next hop to addresses outside of the subnet.
    logic vif_gateway;
    /// Starts an operation on the session; SESSION_STATUS tells when the core has taken it.
    logic session_operation;
    /// A write of any value copies the state of the session into the registers VIEW_*.
    logic session_snapshot;
  } regs_wr_t;

  /// Events of this cycle, one bit for each counter.
  function automatic logic [CounterCount-1:0] counter_events(
      rx_count_t rx, tx_count_t tx, eng_count_t eng, net_count_t net, logic event_lost);
    logic [CounterCount-1:0] v;
    v[0] = rx.frames;
    v[1] = rx.segments;
    v[2] = rx.bad_fcs;
    v[3] = rx.bad_ip_sum;
    v[4] = rx.bad_tcp_sum;
    v[5] = rx.not_for_us;
    v[6] = rx.ip_options;
    v[7] = rx.fragment;
    v[8] = rx.length;
    v[9] = rx.no_session;
    v[10] = rx.out_of_order;
    v[11] = rx.old;
    v[12] = rx.no_room;
    v[13] = rx.not_open;
    v[14] = rx.oversize;
    v[15] = rx.bad_ack;
    v[16] = tx.frames;
    v[17] = tx.live;
    v[18] = tx.deferred;
    v[19] = tx.command;
    v[20] = tx.aborted;
    v[21] = tx.bad_sum;
    v[22] = tx.refused;
    v[23] = tx.mem_segments;
    v[24] = eng.rto;
    v[25] = eng.fast_rexmit;
    v[26] = eng.dup_ack;
    v[27] = eng.challenge;
    v[28] = eng.probe;
    v[29] = eng.rst_sent;
    v[30] = eng.rst_seen;
    v[31] = eng.opened;
    v[32] = eng.closed;
    v[33] = eng.lost_event;
    v[34] = eng.syn_drop;
    v[35] = net.arp_rx;
    v[36] = net.arp_reply;
    v[37] = net.arp_request;
    v[38] = net.arp_learnt;
    v[39] = net.icmp_rx;
    v[40] = net.icmp_reply;
    v[41] = net.icmp_drop;
    v[42] = event_lost;
    return v;
  endfunction
endpackage
