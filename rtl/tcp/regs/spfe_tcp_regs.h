/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from rtl/tcp/regs/registers.toml: do not edit; run `python3 rtl/tcp/regs/generate.py`. */
#ifndef SPFE_TCP_REGS_H
#define SPFE_TCP_REGS_H

/* Offset: Identification: the letters STCP. */
#define SPFE_TCP_ID 0x00000000U
/* What ID reads. */
#define SPFE_TCP_ID_VALUE 0x53544350U
/* Offset: Version of this map: major in bits 31:16, minor in 15:0. Minor versions only add. */
#define SPFE_TCP_VERSION 0x00000004U
/* What VERSION reads. */
#define SPFE_TCP_VERSION_VALUE 0x00010000U
/* Offset: Tables of this build. */
#define SPFE_TCP_BUILD_SIZES 0x00000008U
/* Lowest bit: Sessions (SESSION_COUNT). */
#define SPFE_TCP_BUILD_SIZES_SESSIONS_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_BUILD_SIZES_SESSIONS_MASK 0x0000FFFFU
/* Lowest bit: Entries of the table of addresses (ARP_TABLE_ENTRY_COUNT). */
#define SPFE_TCP_BUILD_SIZES_ARP_ENTRIES_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_BUILD_SIZES_ARP_ENTRIES_MASK 0xFFFF0000U
/* Offset: Widths of the streams in bits. */
#define SPFE_TCP_BUILD_WIDTHS 0x0000000CU
/* Lowest bit: From the MAC (MAC2TCP_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_MAC_RX_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_BUILD_WIDTHS_MAC_RX_MASK 0x000000FFU
/* Lowest bit: To the MAC (TCP2MAC_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_MAC_TX_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_BUILD_WIDTHS_MAC_TX_MASK 0x0000FF00U
/* Lowest bit: From the user (USER2TCP_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_USER_TX_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_BUILD_WIDTHS_USER_TX_MASK 0x00FF0000U
/* Lowest bit: To the user (TCP2USER_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_USER_RX_SHIFT 24
/* Its bits, in place. */
#define SPFE_TCP_BUILD_WIDTHS_USER_RX_MASK 0xFF000000U
/* Offset: Limits of this build. */
#define SPFE_TCP_BUILD_LIMITS 0x00000010U
/* Lowest bit: Largest IP packet in bytes (MTU). */
#define SPFE_TCP_BUILD_LIMITS_MTU_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_BUILD_LIMITS_MTU_MASK 0x0000FFFFU
/* Lowest bit: Virtual interfaces (VIRTUAL_INTERFACES_COUNT). */
#define SPFE_TCP_BUILD_LIMITS_VIFS_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_BUILD_LIMITS_VIFS_MASK 0x000F0000U
/* Lowest bit: Different tags (VLAN_COUNT). */
#define SPFE_TCP_BUILD_LIMITS_VLANS_SHIFT 20
/* Its bits, in place. */
#define SPFE_TCP_BUILD_LIMITS_VLANS_MASK 0x00F00000U
/* Lowest bit: Different MAC addresses (MAC_ADDRESS_COUNT). */
#define SPFE_TCP_BUILD_LIMITS_MACS_SHIFT 24
/* Its bits, in place. */
#define SPFE_TCP_BUILD_LIMITS_MACS_MASK 0x0F000000U
/* Offset: Options of this build, 1: built in. */
#define SPFE_TCP_BUILD_FEATURES 0x00000014U
/* Lowest bit: Frames are padded to 60 bytes. */
#define SPFE_TCP_BUILD_FEATURES_MAC_TX_PAD_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_MAC_TX_PAD_MASK 0x00000001U
/* Lowest bit: Echo requests are answered (ICMP_SERVER_EN). */
#define SPFE_TCP_BUILD_FEATURES_ICMP_SERVER_SHIFT 1
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_ICMP_SERVER_MASK 0x00000002U
/* Lowest bit: Addresses are announced and refreshed (ARP_GRATUITOUS_REFRESH_EN). */
#define SPFE_TCP_BUILD_FEATURES_ARP_GRATUITOUS_SHIFT 2
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_ARP_GRATUITOUS_MASK 0x00000004U
/* Lowest bit: ARP requests are answered (ARP_SERVER_EN). */
#define SPFE_TCP_BUILD_FEATURES_ARP_SERVER_SHIFT 3
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_ARP_SERVER_MASK 0x00000008U
/* Lowest bit: Data is acknowledged at once (INSTANT_ACK_EN). */
#define SPFE_TCP_BUILD_FEATURES_INSTANT_ACK_SHIFT 4
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_INSTANT_ACK_MASK 0x00000010U
/* Lowest bit: Events of credit (EMI_CREDIT_EN). */
#define SPFE_TCP_BUILD_FEATURES_CREDIT_EVENTS_SHIFT 5
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_CREDIT_EVENTS_MASK 0x00000020U
/* Lowest bit: Events of status (EMI_STATUS_EN). */
#define SPFE_TCP_BUILD_FEATURES_STATUS_EVENTS_SHIFT 6
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_STATUS_EVENTS_MASK 0x00000040U
/* Lowest bit: PSH on all data (TX_PUSH_BIT_VALUE). */
#define SPFE_TCP_BUILD_FEATURES_TX_PUSH_SHIFT 7
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_PUSH_MASK 0x00000080U
/* Lowest bit: NewReno (TX_CONGESTION_CONTROL_EN). */
#define SPFE_TCP_BUILD_FEATURES_TX_CONGESTION_CONTROL_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_CONGESTION_CONTROL_MASK 0x00000100U
/* Lowest bit: Messages to closed sessions are discarded (TX_DROP_IF_NOT_ESTABLISHED_EN). */
#define SPFE_TCP_BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_SHIFT 9
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_MASK 0x00000200U
/* Lowest bit: Segments out of order are delivered (RX_OOS_SEQNUM_EN). */
#define SPFE_TCP_BUILD_FEATURES_RX_OUT_OF_SEQUENCE_SHIFT 10
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_OUT_OF_SEQUENCE_MASK 0x00000400U
/* Lowest bit: Segments are put in order (RX_REORDERING_EN). */
#define SPFE_TCP_BUILD_FEATURES_RX_REORDERING_SHIFT 11
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_REORDERING_MASK 0x00000800U
/* Lowest bit: The last beat waits for the end of the frame. */
#define SPFE_TCP_BUILD_FEATURES_RX_EOP_MERGE_SHIFT 12
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_EOP_MERGE_MASK 0x00001000U
/* Lowest bit: Full beats from the first one. */
#define SPFE_TCP_BUILD_FEATURES_RX_PACKED_SHIFT 13
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_PACKED_MASK 0x00002000U
/* Lowest bit: Store-and-forward (RX_CHECKSUM_VERIFICATION_EN). */
#define SPFE_TCP_BUILD_FEATURES_RX_CHECKSUM_SHIFT 14
/* Its bits, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_CHECKSUM_MASK 0x00004000U
/* Offset: Memories and registers of this build. */
#define SPFE_TCP_BUILD_MEMORIES 0x00000018U
/* Lowest bit: log2 of the 16-byte words for retransmission (TX_RETRANSMIT_MEM_ADDR_WIDTH). */
#define SPFE_TCP_BUILD_MEMORIES_TX_ADDR_BITS_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_BUILD_MEMORIES_TX_ADDR_BITS_MASK 0x000000FFU
/* Lowest bit: log2 of the words for reordering (RX_REORDERING_MEM_ADDR_WIDTH). */
#define SPFE_TCP_BUILD_MEMORIES_RX_ADDR_BITS_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_ADDR_BITS_MASK 0x0000FF00U
/* Lowest bit: Frames of MTU size in the receive FIFO (RX_FIFO_PACKET_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_RX_FIFO_PACKETS_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_FIFO_PACKETS_MASK 0x00FF0000U
/* Lowest bit: Registers behind the receiver (RX_OUTPUT_PIPE_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_RX_PIPE_SHIFT 24
/* Its bits, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_PIPE_MASK 0x0F000000U
/* Lowest bit: Registers before the MAC (TX_OUTPUT_PIPE_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_TX_PIPE_SHIFT 28
/* Its bits, in place. */
#define SPFE_TCP_BUILD_MEMORIES_TX_PIPE_MASK 0xF0000000U
/* Offset: Switches of the whole core. */
#define SPFE_TCP_CONTROL 0x00000020U
/* Lowest bit: 0: nothing is received or sent. */
#define SPFE_TCP_CONTROL_ENABLE_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_CONTROL_ENABLE_MASK 0x00000001U
/* Lowest bit: 1: no reset is sent to segments of no session. */
#define SPFE_TCP_CONTROL_RST_SILENT_SHIFT 1
/* Its bits, in place. */
#define SPFE_TCP_CONTROL_RST_SILENT_MASK 0x00000002U
/* Lowest bit: A message that finds its ring full is 1: refused with an event, 0: stalled. */
#define SPFE_TCP_CONTROL_RING_REFUSE_SHIFT 2
/* Its bits, in place. */
#define SPFE_TCP_CONTROL_RING_REFUSE_MASK 0x00000004U
/* Lowest bit: Window scaling is offered (RFC 7323, 2). */
#define SPFE_TCP_CONTROL_WSCALE_EN_SHIFT 3
/* Its bits, in place. */
#define SPFE_TCP_CONTROL_WSCALE_EN_MASK 0x00000008U
/* Lowest bit: Our shift of the window. */
#define SPFE_TCP_CONTROL_WSCALE_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_CONTROL_WSCALE_MASK 0x00000F00U
/* Offset: Commands for the whole core; a written 1 acts. */
#define SPFE_TCP_COMMAND 0x00000024U
/* Lowest bit: Resets all but the registers for 16 cycles: sessions are forgotten. Clear CONTROL.ENABLE before, or frames under way are cut off. */
#define SPFE_TCP_COMMAND_SOFT_RESET_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_COMMAND_SOFT_RESET_MASK 0x00000001U
/* Lowest bit: All counters become 0 within 64 cycles. */
#define SPFE_TCP_COMMAND_CLEAR_COUNTERS_SHIFT 1
/* Its bits, in place. */
#define SPFE_TCP_COMMAND_CLEAR_COUNTERS_MASK 0x00000002U
/* Lowest bit: All latencies measured are forgotten. */
#define SPFE_TCP_COMMAND_CLEAR_PROBES_SHIFT 2
/* Its bits, in place. */
#define SPFE_TCP_COMMAND_CLEAR_PROBES_MASK 0x00000004U
/* Offset: Receive window in bytes; what is above 65535 << CONTROL.WSCALE (or 65535 without scaling) cannot be announced. */
#define SPFE_TCP_RCV_WND 0x00000028U
/* Offset: Most bytes of payload in a segment, announced and never exceeded. */
#define SPFE_TCP_MSS 0x0000002CU
/* Offset: Secret mixed into initial sequence numbers (RFC 6528); set it to a random number. */
#define SPFE_TCP_ISS_KEY 0x00000030U
/* Offset: Least retransmission timeout in ticks (RFC 6298). */
#define SPFE_TCP_RTO_MIN 0x00000034U
/* Offset: Greatest retransmission timeout in ticks. */
#define SPFE_TCP_RTO_MAX 0x00000038U
/* Offset: Retransmission timeout in ticks before a round trip was measured. */
#define SPFE_TCP_RTO_INIT 0x0000003CU
/* Offset: How often something is sent without an answer before the session is given up. */
#define SPFE_TCP_TRIES 0x00000040U
/* Lowest bit: SYN and SYN-ACK. */
#define SPFE_TCP_TRIES_SYN_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_TRIES_SYN_MASK 0x000000FFU
/* Lowest bit: Data and FIN. */
#define SPFE_TCP_TRIES_DATA_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_TRIES_DATA_MASK 0x0000FF00U
/* Offset: Ticks an acknowledgement may wait (RFC 9293, 3.8.6.3: below half a second). */
#define SPFE_TCP_DELACK 0x00000044U
/* Offset: Ticks in TIME-WAIT. */
#define SPFE_TCP_TIME_WAIT 0x00000048U
/* Offset: Longest distance of probes of a closed window in ticks. */
#define SPFE_TCP_PERSIST_MAX 0x0000004CU
/* Offset: Ticks between ARP requests for one address. */
#define SPFE_TCP_ARP_RETRY 0x00000050U
/* Offset: ARP requests without an answer before an address counts as not resolvable. */
#define SPFE_TCP_ARP_TRIES 0x00000054U
/* Offset: Ticks between announcements of our addresses, and after which a known address is asked for again; 0: never. */
#define SPFE_TCP_ARP_REFRESH 0x00000058U
/* Offset: Virtual interface that the registers VIF_* show. */
#define SPFE_TCP_VIF_SELECT 0x00000080U
/* Offset: Switches of the interface; disable it while the other VIF registers change. */
#define SPFE_TCP_VIF_CONTROL 0x00000084U
/* Lowest bit: The interface is in use. When this is set, its address is announced. */
#define SPFE_TCP_VIF_CONTROL_ENABLE_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_VIF_CONTROL_ENABLE_MASK 0x00000001U
/* Lowest bit: Its frames carry an IEEE 802.1Q tag. */
#define SPFE_TCP_VIF_CONTROL_VLAN_SHIFT 1
/* Its bits, in place. */
#define SPFE_TCP_VIF_CONTROL_VLAN_MASK 0x00000002U
/* Lowest bit: The tag: priority, DEI and VLAN identifier. */
#define SPFE_TCP_VIF_CONTROL_TAG_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_VIF_CONTROL_TAG_MASK 0xFFFF0000U
/* Offset: MAC address, first two bytes: the first one in bits 15:8. */
#define SPFE_TCP_VIF_MAC_HIGH 0x00000088U
/* Offset: MAC address, last four bytes: the last one in bits 7:0. */
#define SPFE_TCP_VIF_MAC_LOW 0x0000008CU
/* Offset: IPv4 address; the first byte in bits 31:24. */
#define SPFE_TCP_VIF_IP 0x00000090U
/* Offset: Mask of its subnet. */
#define SPFE_TCP_VIF_MASK 0x00000094U
/* Offset: Next hop to addresses outside of the subnet. */
#define SPFE_TCP_VIF_GATEWAY 0x00000098U
/* Offset: Session that is operated on and shown. */
#define SPFE_TCP_SESSION_SELECT 0x00000100U
/* Offset: Address of the peer; LISTEN: 0 takes any. */
#define SPFE_TCP_SESSION_PEER_IP 0x00000104U
/* Offset: Ports for LISTEN and CONNECT. */
#define SPFE_TCP_SESSION_PORTS 0x00000108U
/* Lowest bit: Ours. */
#define SPFE_TCP_SESSION_PORTS_LOCAL_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_SESSION_PORTS_LOCAL_MASK 0x0000FFFFU
/* Lowest bit: The peer's; not for LISTEN. */
#define SPFE_TCP_SESSION_PORTS_PEER_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_SESSION_PORTS_PEER_MASK 0xFFFF0000U
/* Offset: Virtual interface for LISTEN and CONNECT. */
#define SPFE_TCP_SESSION_VIF 0x0000010CU
/* Offset: Starts an operation on the session; SESSION_STATUS tells when the core has taken it. */
#define SPFE_TCP_SESSION_OPERATION 0x00000110U
/* Lowest bit: 1 LISTEN, 2 CONNECT, 3 CLOSE (after all data), 4 ABORT (reset). */
#define SPFE_TCP_SESSION_OPERATION_CODE_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_SESSION_OPERATION_CODE_MASK 0x00000007U
/* Offset: A write of any value copies the state of the session into the registers VIEW_*. */
#define SPFE_TCP_SESSION_SNAPSHOT 0x00000114U
/* Offset: Operations under way. While one bit is set, writes to the registers SESSION_* are refused. */
#define SPFE_TCP_SESSION_STATUS 0x00000118U
/* Lowest bit: The operation is not taken yet. */
#define SPFE_TCP_SESSION_STATUS_OPERATION_BUSY_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_SESSION_STATUS_OPERATION_BUSY_MASK 0x00000001U
/* Lowest bit: The copy is not made yet. */
#define SPFE_TCP_SESSION_STATUS_SNAPSHOT_BUSY_SHIFT 1
/* Its bits, in place. */
#define SPFE_TCP_SESSION_STATUS_SNAPSHOT_BUSY_MASK 0x00000002U
/* Offset: State of the session when the copy was made. */
#define SPFE_TCP_VIEW_STATE 0x00000120U
/* Lowest bit: 0 CLOSED, 1 LISTEN, 2 SYN-SENT, 3 SYN-RECEIVED, 4 ESTABLISHED, 5 FIN-WAIT-1, 6 FIN-WAIT-2, 7 CLOSE-WAIT, 8 CLOSING, 9 LAST-ACK, 10 TIME-WAIT, 11 address of the next hop is asked for. */
#define SPFE_TCP_VIEW_STATE_STATE_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_VIEW_STATE_STATE_MASK 0x0000000FU
/* Lowest bit: Virtual interface. */
#define SPFE_TCP_VIEW_STATE_VIF_SHIFT 8
/* Its bits, in place. */
#define SPFE_TCP_VIEW_STATE_VIF_MASK 0x00000700U
/* Lowest bit: Most bytes of payload the peer takes in a segment. */
#define SPFE_TCP_VIEW_STATE_MSS_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_VIEW_STATE_MSS_MASK 0xFFFF0000U
/* Offset: Address of the peer. */
#define SPFE_TCP_VIEW_PEER_IP 0x00000124U
/* Offset: Ports of the session. */
#define SPFE_TCP_VIEW_PORTS 0x00000128U
/* Lowest bit: Ours. */
#define SPFE_TCP_VIEW_PORTS_LOCAL_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_VIEW_PORTS_LOCAL_MASK 0x0000FFFFU
/* Lowest bit: The peer's. */
#define SPFE_TCP_VIEW_PORTS_PEER_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_VIEW_PORTS_PEER_MASK 0xFFFF0000U
/* Offset: SND.UNA. */
#define SPFE_TCP_VIEW_SND_UNA 0x0000012CU
/* Offset: SND.NXT. */
#define SPFE_TCP_VIEW_SND_NXT 0x00000130U
/* Offset: RCV.NXT. */
#define SPFE_TCP_VIEW_RCV_NXT 0x00000134U
/* Offset: SND.WND in bytes. */
#define SPFE_TCP_VIEW_SND_WND 0x00000138U
/* Offset: Congestion window in bytes. */
#define SPFE_TCP_VIEW_CWND 0x0000013CU
/* Offset: Slow start threshold in bytes. */
#define SPFE_TCP_VIEW_SSTHRESH 0x00000140U
/* Offset: Round trip in ticks. */
#define SPFE_TCP_VIEW_TIMES 0x00000144U
/* Lowest bit: Retransmission timeout. */
#define SPFE_TCP_VIEW_TIMES_RTO_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_VIEW_TIMES_RTO_MASK 0x0000FFFFU
/* Lowest bit: Smoothed round trip. */
#define SPFE_TCP_VIEW_TIMES_SRTT_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_VIEW_TIMES_SRTT_MASK 0xFFFF0000U
/* Offset: Bytes free in the ring. */
#define SPFE_TCP_VIEW_CREDIT 0x00000148U
/* Offset: Cycles from the first beat of a frame from the MAC to the first beat of its payload. */
#define SPFE_TCP_PROBE_RX 0x00000400U
/* Lowest bit: Of the last one; 0: none was measured. */
#define SPFE_TCP_PROBE_RX_LAST_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_PROBE_RX_LAST_MASK 0x0000FFFFU
/* Offset: Extremes of PROBE_RX. */
#define SPFE_TCP_PROBE_RX_RANGE 0x00000404U
/* Lowest bit: Least one; 65535: none was measured. */
#define SPFE_TCP_PROBE_RX_RANGE_MIN_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_PROBE_RX_RANGE_MIN_MASK 0x0000FFFFU
/* Lowest bit: Greatest one; 0: none was measured. */
#define SPFE_TCP_PROBE_RX_RANGE_MAX_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_PROBE_RX_RANGE_MAX_MASK 0xFFFF0000U
/* Offset: Cycles from the first beat of a message to the first beat of a frame to the MAC. */
#define SPFE_TCP_PROBE_TX 0x00000408U
/* Lowest bit: Of the last one; 0: none was measured. */
#define SPFE_TCP_PROBE_TX_LAST_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_PROBE_TX_LAST_MASK 0x0000FFFFU
/* Offset: Extremes of PROBE_TX. */
#define SPFE_TCP_PROBE_TX_RANGE 0x0000040CU
/* Lowest bit: Least one; 65535: none was measured. */
#define SPFE_TCP_PROBE_TX_RANGE_MIN_SHIFT 0
/* Its bits, in place. */
#define SPFE_TCP_PROBE_TX_RANGE_MIN_MASK 0x0000FFFFU
/* Lowest bit: Greatest one; 0: none was measured. */
#define SPFE_TCP_PROBE_TX_RANGE_MAX_SHIFT 16
/* Its bits, in place. */
#define SPFE_TCP_PROBE_TX_RANGE_MAX_MASK 0xFFFF0000U
/* Offset of a counter: Frames received. */
#define SPFE_TCP_COUNT_RX_FRAMES 0x00000200U
/* Offset of a counter: Segments delivered or handed to the engine. */
#define SPFE_TCP_COUNT_RX_SEGMENTS 0x00000208U
/* Offset of a counter: Dropped: FCS wrong. */
#define SPFE_TCP_COUNT_RX_BAD_FCS 0x00000210U
/* Offset of a counter: Dropped: checksum of the IP header wrong. */
#define SPFE_TCP_COUNT_RX_BAD_IP_SUM 0x00000218U
/* Offset of a counter: Dropped: TCP checksum wrong. */
#define SPFE_TCP_COUNT_RX_BAD_TCP_SUM 0x00000220U
/* Offset of a counter: Other address, EtherType or protocol. */
#define SPFE_TCP_COUNT_RX_NOT_FOR_US 0x00000228U
/* Offset of a counter: Dropped: IP header with options. */
#define SPFE_TCP_COUNT_RX_IP_OPTIONS 0x00000230U
/* Offset of a counter: Dropped: IP fragment. */
#define SPFE_TCP_COUNT_RX_FRAGMENT 0x00000238U
/* Offset of a counter: Dropped: lengths contradict each other. */
#define SPFE_TCP_COUNT_RX_LENGTH 0x00000240U
/* Offset of a counter: Segments of no session. */
#define SPFE_TCP_COUNT_RX_NO_SESSION 0x00000248U
/* Offset of a counter: Segments that begin after RCV.NXT. */
#define SPFE_TCP_COUNT_RX_OUT_OF_ORDER 0x00000250U
/* Offset of a counter: Segments that begin before RCV.NXT. */
#define SPFE_TCP_COUNT_RX_OLD 0x00000258U
/* Offset of a counter: Dropped: receive FIFO full. */
#define SPFE_TCP_COUNT_RX_NO_ROOM 0x00000260U
/* Offset of a counter: Data for sessions that do not receive. */
#define SPFE_TCP_COUNT_RX_NOT_OPEN 0x00000268U
/* Offset of a counter: Dropped: longer than the MTU. */
#define SPFE_TCP_COUNT_RX_OVERSIZE 0x00000270U
/* Offset of a counter: ACK outside of what RFC 5961, 5.2 accepts. */
#define SPFE_TCP_COUNT_RX_BAD_ACK 0x00000278U
/* Offset of a counter: Frames sent. */
#define SPFE_TCP_COUNT_TX_FRAMES 0x00000280U
/* Offset of a counter: Messages sent at once. */
#define SPFE_TCP_COUNT_TX_LIVE 0x00000288U
/* Offset of a counter: Messages that had to wait in the ring. */
#define SPFE_TCP_COUNT_TX_DEFERRED 0x00000290U
/* Offset of a counter: Segments sent for the engine. */
#define SPFE_TCP_COUNT_TX_COMMAND 0x00000298U
/* Offset of a counter: Frames broken off. */
#define SPFE_TCP_COUNT_TX_ABORTED 0x000002A0U
/* Offset of a counter: Messages whose checksum was wrong. */
#define SPFE_TCP_COUNT_TX_BAD_SUM 0x000002A8U
/* Offset of a counter: Messages discarded. */
#define SPFE_TCP_COUNT_TX_REFUSED 0x000002B0U
/* Offset of a counter: Segments read from the ring. */
#define SPFE_TCP_COUNT_TX_MEM_SEGMENTS 0x000002B8U
/* Offset of a counter: Retransmission timeouts. */
#define SPFE_TCP_COUNT_ENG_RTO 0x000002C0U
/* Offset of a counter: Fast retransmissions. */
#define SPFE_TCP_COUNT_ENG_FAST_REXMIT 0x000002C8U
/* Offset of a counter: Duplicate acknowledgements received. */
#define SPFE_TCP_COUNT_ENG_DUP_ACK 0x000002D0U
/* Offset of a counter: Challenge acknowledgements (RFC 5961). */
#define SPFE_TCP_COUNT_ENG_CHALLENGE 0x000002D8U
/* Offset of a counter: Probes of a closed window. */
#define SPFE_TCP_COUNT_ENG_PROBE 0x000002E0U
/* Offset of a counter: Resets sent. */
#define SPFE_TCP_COUNT_ENG_RST_SENT 0x000002E8U
/* Offset of a counter: Sessions reset by the peer. */
#define SPFE_TCP_COUNT_ENG_RST_SEEN 0x000002F0U
/* Offset of a counter: Sessions that became ESTABLISHED. */
#define SPFE_TCP_COUNT_ENG_OPENED 0x000002F8U
/* Offset of a counter: Sessions that ended. */
#define SPFE_TCP_COUNT_ENG_CLOSED 0x00000300U
/* Offset of a counter: Events the engine could not report. */
#define SPFE_TCP_COUNT_ENG_LOST_EVENT 0x00000308U
/* Offset of a counter: SYN without a listening session. */
#define SPFE_TCP_COUNT_ENG_SYN_DROP 0x00000310U
/* Offset of a counter: ARP packets received on our interfaces. */
#define SPFE_TCP_COUNT_NET_ARP_RX 0x00000318U
/* Offset of a counter: ARP replies sent. */
#define SPFE_TCP_COUNT_NET_ARP_REPLY 0x00000320U
/* Offset of a counter: ARP requests and announcements sent. */
#define SPFE_TCP_COUNT_NET_ARP_REQUEST 0x00000328U
/* Offset of a counter: Addresses resolved or changed. */
#define SPFE_TCP_COUNT_NET_ARP_LEARNT 0x00000330U
/* Offset of a counter: ICMP echo requests to us. */
#define SPFE_TCP_COUNT_NET_ICMP_RX 0x00000338U
/* Offset of a counter: ICMP echo replies sent. */
#define SPFE_TCP_COUNT_NET_ICMP_REPLY 0x00000340U
/* Offset of a counter: Echo requests not answered: bad FCS, checksum or length, fragment, or buffer in use. */
#define SPFE_TCP_COUNT_NET_ICMP_DROP 0x00000348U
/* Offset of a counter: Events of receiver, transmitter and ARP that were lost because the FIFO was full. */
#define SPFE_TCP_COUNT_EVENT_LOST 0x00000350U

#endif
