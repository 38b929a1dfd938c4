// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from rtl/tcp/regs/registers.toml: do not edit; run `make gen`.

/// Registers of the TCP core. Types of the stored values, the values from the core and the write
/// strobes, and the order of the counters.
package spfe_tcp_regs_pkg;
  import spfe_tcp_pkg::*;

  /* verilator lint_off UNUSEDPARAM */
  /// Number of counters.
  localparam int unsigned CounterCount = 43;
  /// Word number of the first counter.
  localparam int unsigned CounterWord = 128;
  /* verilator lint_on UNUSEDPARAM */

  /// Values of the stored registers.
  typedef struct packed {
    /// 1: the core receives and sends frames.
    logic control_enable;
    /// 1: the core sends no reset in answer to segments that belong to no session.
    logic control_rst_silent;
    /// What happens to a message whose ring is full. 1: the core refuses it and reports an event;
    /// 0: the message waits.
    logic control_ring_refuse;
    /// 1: the core offers window scaling (RFC 7323, section 2).
    logic control_wscale_en;
    /// 1: segments do not have the flag DF, so that routers may fragment them. Sessions that are
    /// open may keep the old setting. See Path MTU in tcp-core.md.
    logic control_fragment;
    /// Window shift that the core announces.
    logic [3:0] control_wscale;
    /// Receive window in bytes. The core cannot announce more than 65535 << CONTROL.WSCALE, or
    /// 65535 without scaling.
    logic [29:0] rcv_wnd;
    /// Maximum payload bytes of a segment. The core announces this value and never sends more.
    /// Locked once there may be sessions: messages that wait, and the room that was found for them,
    /// go by the value of the time.
    logic [15:0] mss;
    /// Minimum retransmission timeout in ticks (RFC 6298).
    logic [15:0] rto_min;
    /// Maximum retransmission timeout in ticks.
    logic [15:0] rto_max;
    /// Initial retransmission timeout in ticks, before the first round-trip measurement.
    logic [15:0] rto_init;
    /// Attempts for SYN and SYN-ACK.
    logic [7:0] tries_syn;
    /// Attempts for data and FIN.
    logic [7:0] tries_data;
    /// Maximum delay of an acknowledgement in ticks (RFC 9293, 3.8.6.3: less than half a second).
    logic [15:0] delack;
    /// Duration of TIME-WAIT in ticks.
    logic [15:0] time_wait;
    /// Maximum interval between probes of a closed window in ticks.
    logic [15:0] persist_max;
    /// Interval between ARP requests for one address in ticks.
    logic [15:0] arp_retry;
    /// ARP requests without an answer after which an address counts as unreachable.
    logic [7:0] arp_tries;
    /// Interval in ticks at which the core announces its addresses and asks again for known ones;
    /// 0: never.
    logic [31:0] arp_refresh;
    /// Session that the SESSION_* and VIEW_* registers access.
    logic [8:0] session_select;
    /// IPv4 address of the peer. For LISTEN, 0 accepts any peer.
    logic [31:0] session_peer_ip;
    /// Local port.
    logic [15:0] session_ports_local;
    /// Port of the peer; ignored by LISTEN.
    logic [15:0] session_ports_peer;
    /// Virtual interface for LISTEN and CONNECT.
    logic [2:0] session_vif;
  } regs_rw_t;

  /// Values that the core drives.
  typedef struct packed {
    /// Number of sessions (SESSION_COUNT).
    logic [15:0] build_sizes_sessions;
    /// Entries of the ARP table (ARP_TABLE_ENTRY_COUNT).
    logic [15:0] build_sizes_arp_entries;
    /// MAC to core (MAC2TCP_DATA_WIDTH).
    logic [7:0] build_widths_mac_rx;
    /// Core to MAC (TCP2MAC_DATA_WIDTH).
    logic [7:0] build_widths_mac_tx;
    /// User to core (USER2TCP_DATA_WIDTH).
    logic [7:0] build_widths_user_tx;
    /// Core to user (TCP2USER_DATA_WIDTH).
    logic [7:0] build_widths_user_rx;
    /// Longest IP packet in bytes (MTU).
    logic [15:0] build_limits_mtu;
    /// Number of virtual interfaces (VIRTUAL_INTERFACES_COUNT).
    logic [3:0] build_limits_vifs;
    /// The transmitter pads frames to 60 bytes.
    logic build_features_mac_tx_pad;
    /// The core answers ICMP echo requests (ICMP_SERVER_EN).
    logic build_features_icmp_server;
    /// The core announces its addresses and refreshes known ones (ARP_GRATUITOUS_REFRESH_EN).
    logic build_features_arp_gratuitous;
    /// The core answers ARP requests (ARP_SERVER_EN).
    logic build_features_arp_server;
    /// The core acknowledges data without delay (INSTANT_ACK_EN).
    logic build_features_instant_ack;
    /// The core reports credit events (EMI_CREDIT_EN).
    logic build_features_credit_events;
    /// The core reports status events (EMI_STATUS_EN).
    logic build_features_status_events;
    /// Every data segment carries PSH (TX_PUSH_BIT_VALUE).
    logic build_features_tx_push;
    /// NewReno congestion control (TX_CONGESTION_CONTROL_EN).
    logic build_features_tx_congestion_control;
    /// The core discards messages to sessions that are not established
    /// (TX_DROP_IF_NOT_ESTABLISHED_EN).
    logic build_features_tx_drop_if_not_established;
    /// The core delivers segments out of order (RX_OOS_SEQNUM_EN).
    logic build_features_rx_out_of_sequence;
    /// The core puts segments in order (RX_REORDERING_EN).
    logic build_features_rx_reordering;
    /// The last beat of the payload waits for the end of the frame.
    logic build_features_rx_eop_merge;
    /// The payload starts at byte 0 of the first beat, and all beats but the last are full.
    logic build_features_rx_packed;
    /// Store-and-forward: the core delivers a segment after it checked the checksum
    /// (RX_CHECKSUM_VERIFICATION_EN).
    logic build_features_rx_checksum;
    /// log2 of the number of 16-byte words of the retransmission memory
    /// (TX_RETRANSMIT_MEM_ADDR_WIDTH).
    logic [7:0] build_memories_tx_addr_bits;
    /// log2 of the number of words of the reordering memory (RX_REORDERING_MEM_ADDR_WIDTH).
    logic [7:0] build_memories_rx_addr_bits;
    /// Frames of MTU size that the receive FIFO holds (RX_FIFO_PACKET_COUNT).
    logic [7:0] build_memories_rx_fifo_packets;
    /// Pipeline stages after the receiver (RX_OUTPUT_PIPE_COUNT).
    logic [3:0] build_memories_rx_pipe;
    /// Pipeline stages before the MAC (TX_OUTPUT_PIPE_COUNT).
    logic [3:0] build_memories_tx_pipe;
    /// Virtual interface that the VIF_* registers access.
    logic [2:0] vif_select;
    /// 1: the interface is in use. Setting this bit announces its address.
    logic vif_control_enable;
    /// 1: frames carry an IEEE 802.1Q tag.
    logic vif_control_vlan;
    /// 802.1Q tag: priority, DEI and VLAN identifier.
    logic [15:0] vif_control_tag;
    /// First two bytes of the MAC address; byte 0 is in bits 15:8.
    logic [15:0] vif_mac_high;
    /// Last four bytes of the MAC address; byte 5 is in bits 7:0.
    logic [31:0] vif_mac_low;
    /// IPv4 address; byte 0 is in bits 31:24.
    logic [31:0] vif_ip;
    /// Subnet mask.
    logic [31:0] vif_mask;
    /// Next hop to addresses outside the subnet.
    logic [31:0] vif_gateway;
    /// 1: the core has not accepted the operation yet.
    logic session_status_operation_busy;
    /// 1: the snapshot is not complete yet.
    logic session_status_snapshot_busy;
    /// 1: a word of ISS_KEY_0 to ISS_KEY_3 has not been written since the reset.
    logic session_status_key_missing;
    /// 0 CLOSED, 1 LISTEN, 2 SYN-SENT, 3 SYN-RECEIVED, 4 ESTABLISHED, 5 FIN-WAIT-1, 6 FIN-WAIT-2, 7
    /// CLOSE-WAIT, 8 CLOSING, 9 LAST-ACK, 10 TIME-WAIT, 11 waiting for the MAC address of the next
    /// hop.
    logic [3:0] view_state_state;
    /// Virtual interface of the session.
    logic [2:0] view_state_vif;
    /// Maximum payload bytes of a segment that the peer accepts.
    logic [15:0] view_state_mss;
    /// IPv4 address of the peer.
    logic [31:0] view_peer_ip;
    /// Local port.
    logic [15:0] view_ports_local;
    /// Port of the peer.
    logic [15:0] view_ports_peer;
    /// SND.UNA (RFC 9293): first byte that is not acknowledged.
    logic [31:0] view_snd_una;
    /// SND.NXT (RFC 9293): next byte to send.
    logic [31:0] view_snd_nxt;
    /// RCV.NXT (RFC 9293): next byte expected from the peer.
    logic [31:0] view_rcv_nxt;
    /// SND.WND (RFC 9293): send window in bytes.
    logic [31:0] view_snd_wnd;
    /// Congestion window in bytes.
    logic [31:0] view_cwnd;
    /// Slow-start threshold in bytes.
    logic [31:0] view_ssthresh;
    /// Retransmission timeout.
    logic [15:0] view_times_rto;
    /// Smoothed round-trip time.
    logic [15:0] view_times_srtt;
    /// Free bytes of the retransmission ring.
    logic [31:0] view_credit;
    /// Last measurement; 0: none yet.
    logic [15:0] probe_rx_last;
    /// Minimum; 65535: no measurement yet.
    logic [15:0] probe_rx_range_min;
    /// Maximum; 0: no measurement yet.
    logic [15:0] probe_rx_range_max;
    /// Last measurement; 0: none yet.
    logic [15:0] probe_tx_last;
    /// Minimum; 65535: no measurement yet.
    logic [15:0] probe_tx_range_min;
    /// Maximum; 0: no measurement yet.
    logic [15:0] probe_tx_range_max;
  } regs_hw_t;

  /// Strobes: a write to the register takes effect in this cycle.
  typedef struct packed {
    /// Commands for the whole core. Writing 1 to a bit starts the command.
    logic command;
    /// Bits 31:0 of the secret from which initial sequence numbers are made (RFC 6528, with
    /// SipHash-2-4): 128 random bits that no peer can know. All four words must be written after
    /// each reset of the hardware, before any session is opened.
    logic iss_key_0;
    /// Bits 63:32 of the secret.
    logic iss_key_1;
    /// Bits 95:64 of the secret.
    logic iss_key_2;
    /// Bits 127:96 of the secret.
    logic iss_key_3;
    /// Virtual interface that the VIF_* registers access.
    logic vif_select;
    /// Switches of the interface. Disable the interface before you change the other VIF registers.
    logic vif_control;
    /// First two bytes of the MAC address; byte 0 is in bits 15:8.
    logic vif_mac_high;
    /// Last four bytes of the MAC address; byte 5 is in bits 7:0.
    logic vif_mac_low;
    /// IPv4 address; byte 0 is in bits 31:24.
    logic vif_ip;
    /// Subnet mask.
    logic vif_mask;
    /// Next hop to addresses outside the subnet.
    logic vif_gateway;
    /// Starts an operation on the session. SESSION_STATUS shows when the core has accepted it.
    logic session_operation;
    /// Writing any value copies the state of the session into the VIEW_* registers.
    logic session_snapshot;
  } regs_wr_t;

  /// Events of this cycle, one bit for each counter.
  function automatic logic [CounterCount-1:0] counter_events(
    rx_count_t rx, tx_count_t tx, eng_count_t eng, net_count_t net, logic event_lost
  );
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
