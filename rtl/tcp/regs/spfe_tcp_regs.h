/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Generated from rtl/tcp/regs/registers.toml: do not edit; run `make gen`. */
#ifndef SPFE_TCP_REGS_H
#define SPFE_TCP_REGS_H

/* Offset: Identification: the letters 'STCP', S in the most significant byte. */
#define SPFE_TCP_ID 0x00000000U
/* Value that ID reads. */
#define SPFE_TCP_ID_VALUE 0x53544350U
/*
 * Offset: Version of this map: major in bits 31:16, minor in bits 15:0. A minor version only adds
 * registers.
 */
#define SPFE_TCP_VERSION 0x00000004U
/* Value that VERSION reads. */
#define SPFE_TCP_VERSION_VALUE 0x00020000U
/* Offset: Table sizes of this build. */
#define SPFE_TCP_BUILD_SIZES 0x00000008U
/* Lowest bit: Number of sessions (SESSION_COUNT). */
#define SPFE_TCP_BUILD_SIZES_SESSIONS_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_SIZES_SESSIONS_MASK 0x0000FFFFU
/* Lowest bit: Entries of the ARP table (ARP_TABLE_ENTRY_COUNT). */
#define SPFE_TCP_BUILD_SIZES_ARP_ENTRIES_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_SIZES_ARP_ENTRIES_MASK 0xFFFF0000U
/* Offset: Widths of the data streams in bits. */
#define SPFE_TCP_BUILD_WIDTHS 0x0000000CU
/* Lowest bit: MAC to core (MAC2TCP_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_MAC_RX_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_WIDTHS_MAC_RX_MASK 0x000000FFU
/* Lowest bit: Core to MAC (TCP2MAC_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_MAC_TX_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_WIDTHS_MAC_TX_MASK 0x0000FF00U
/* Lowest bit: User to core (USER2TCP_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_USER_TX_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_WIDTHS_USER_TX_MASK 0x00FF0000U
/* Lowest bit: Core to user (TCP2USER_DATA_WIDTH). */
#define SPFE_TCP_BUILD_WIDTHS_USER_RX_SHIFT 24
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_WIDTHS_USER_RX_MASK 0xFF000000U
/* Offset: Limits of this build. */
#define SPFE_TCP_BUILD_LIMITS 0x00000010U
/* Lowest bit: Longest IP packet in bytes (MTU). */
#define SPFE_TCP_BUILD_LIMITS_MTU_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_LIMITS_MTU_MASK 0x0000FFFFU
/* Lowest bit: Number of virtual interfaces (VIRTUAL_INTERFACES_COUNT). */
#define SPFE_TCP_BUILD_LIMITS_VIFS_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_LIMITS_VIFS_MASK 0x000F0000U
/* Offset: Options of this build; 1 means built in. */
#define SPFE_TCP_BUILD_FEATURES 0x00000014U
/* Lowest bit: The transmitter pads frames to 60 bytes. */
#define SPFE_TCP_BUILD_FEATURES_MAC_TX_PAD_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_MAC_TX_PAD_MASK 0x00000001U
/* Lowest bit: The core answers ICMP echo requests (ICMP_SERVER_EN). */
#define SPFE_TCP_BUILD_FEATURES_ICMP_SERVER_SHIFT 1
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_ICMP_SERVER_MASK 0x00000002U
/*
 * Lowest bit: The core announces its addresses and refreshes known ones
 * (ARP_GRATUITOUS_REFRESH_EN).
 */
#define SPFE_TCP_BUILD_FEATURES_ARP_GRATUITOUS_SHIFT 2
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_ARP_GRATUITOUS_MASK 0x00000004U
/* Lowest bit: The core answers ARP requests (ARP_SERVER_EN). */
#define SPFE_TCP_BUILD_FEATURES_ARP_SERVER_SHIFT 3
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_ARP_SERVER_MASK 0x00000008U
/* Lowest bit: The core acknowledges data without delay (INSTANT_ACK_EN). */
#define SPFE_TCP_BUILD_FEATURES_INSTANT_ACK_SHIFT 4
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_INSTANT_ACK_MASK 0x00000010U
/* Lowest bit: The core reports credit events (EMI_CREDIT_EN). */
#define SPFE_TCP_BUILD_FEATURES_CREDIT_EVENTS_SHIFT 5
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_CREDIT_EVENTS_MASK 0x00000020U
/* Lowest bit: The core reports status events (EMI_STATUS_EN). */
#define SPFE_TCP_BUILD_FEATURES_STATUS_EVENTS_SHIFT 6
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_STATUS_EVENTS_MASK 0x00000040U
/* Lowest bit: Every data segment carries PSH (TX_PUSH_BIT_VALUE). */
#define SPFE_TCP_BUILD_FEATURES_TX_PUSH_SHIFT 7
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_PUSH_MASK 0x00000080U
/* Lowest bit: NewReno congestion control (TX_CONGESTION_CONTROL_EN). */
#define SPFE_TCP_BUILD_FEATURES_TX_CONGESTION_CONTROL_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_CONGESTION_CONTROL_MASK 0x00000100U
/*
 * Lowest bit: The core discards messages to sessions that are not established
 * (TX_DROP_IF_NOT_ESTABLISHED_EN).
 */
#define SPFE_TCP_BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_SHIFT 9
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_MASK 0x00000200U
/* Lowest bit: The core delivers segments out of order (RX_OOS_SEQNUM_EN). */
#define SPFE_TCP_BUILD_FEATURES_RX_OUT_OF_SEQUENCE_SHIFT 10
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_OUT_OF_SEQUENCE_MASK 0x00000400U
/* Lowest bit: The core puts segments in order (RX_REORDERING_EN). */
#define SPFE_TCP_BUILD_FEATURES_RX_REORDERING_SHIFT 11
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_REORDERING_MASK 0x00000800U
/* Lowest bit: The last beat of the payload waits for the end of the frame. */
#define SPFE_TCP_BUILD_FEATURES_RX_EOP_MERGE_SHIFT 12
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_EOP_MERGE_MASK 0x00001000U
/*
 * Lowest bit: The payload starts at byte 0 of the first beat, and all beats but the last are full.
 */
#define SPFE_TCP_BUILD_FEATURES_RX_PACKED_SHIFT 13
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_PACKED_MASK 0x00002000U
/*
 * Lowest bit: Store-and-forward: the core delivers a segment after it checked the checksum
 * (RX_CHECKSUM_VERIFICATION_EN).
 */
#define SPFE_TCP_BUILD_FEATURES_RX_CHECKSUM_SHIFT 14
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_FEATURES_RX_CHECKSUM_MASK 0x00004000U
/* Offset: Memory sizes and pipeline stages of this build. */
#define SPFE_TCP_BUILD_MEMORIES 0x00000018U
/*
 * Lowest bit: log2 of the number of 16-byte words of the retransmission memory
 * (TX_RETRANSMIT_MEM_ADDR_WIDTH).
 */
#define SPFE_TCP_BUILD_MEMORIES_TX_ADDR_BITS_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_MEMORIES_TX_ADDR_BITS_MASK 0x000000FFU
/*
 * Lowest bit: log2 of the number of words of the reordering memory (RX_REORDERING_MEM_ADDR_WIDTH).
 */
#define SPFE_TCP_BUILD_MEMORIES_RX_ADDR_BITS_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_ADDR_BITS_MASK 0x0000FF00U
/* Lowest bit: Frames of MTU size that the receive FIFO holds (RX_FIFO_PACKET_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_RX_FIFO_PACKETS_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_FIFO_PACKETS_MASK 0x00FF0000U
/* Lowest bit: Pipeline stages after the receiver (RX_OUTPUT_PIPE_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_RX_PIPE_SHIFT 24
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_MEMORIES_RX_PIPE_MASK 0x0F000000U
/* Lowest bit: Pipeline stages before the MAC (TX_OUTPUT_PIPE_COUNT). */
#define SPFE_TCP_BUILD_MEMORIES_TX_PIPE_SHIFT 28
/* Mask of the field, in place. */
#define SPFE_TCP_BUILD_MEMORIES_TX_PIPE_MASK 0xF0000000U
/* Offset: Switches of the whole core. */
#define SPFE_TCP_CONTROL 0x00000020U
/* Lowest bit: 1: the core receives and sends frames. */
#define SPFE_TCP_CONTROL_ENABLE_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_ENABLE_MASK 0x00000001U
/* Lowest bit: 1: the core sends no reset in answer to segments that belong to no session. */
#define SPFE_TCP_CONTROL_RST_SILENT_SHIFT 1
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_RST_SILENT_MASK 0x00000002U
/*
 * Lowest bit: What happens to a message whose ring is full. 1: the core refuses it and reports an
 * event; 0: the message waits.
 */
#define SPFE_TCP_CONTROL_RING_REFUSE_SHIFT 2
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_RING_REFUSE_MASK 0x00000004U
/* Lowest bit: 1: the core offers window scaling (RFC 7323, section 2). */
#define SPFE_TCP_CONTROL_WSCALE_EN_SHIFT 3
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_WSCALE_EN_MASK 0x00000008U
/*
 * Lowest bit: 1: segments do not have the flag DF, so that routers may fragment them. Sessions that
 * are open may keep the old setting. See Path MTU in tcp-core.md.
 */
#define SPFE_TCP_CONTROL_FRAGMENT_SHIFT 4
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_FRAGMENT_MASK 0x00000010U
/* Lowest bit: Window shift that the core announces. */
#define SPFE_TCP_CONTROL_WSCALE_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_CONTROL_WSCALE_MASK 0x00000F00U
/* Offset: Commands for the whole core. Writing 1 to a bit starts the command. */
#define SPFE_TCP_COMMAND 0x00000024U
/*
 * Lowest bit: Resets everything but the registers for 16 cycles; all sessions are lost. Clear
 * CONTROL.ENABLE first, or frames in progress are cut off.
 */
#define SPFE_TCP_COMMAND_SOFT_RESET_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_COMMAND_SOFT_RESET_MASK 0x00000001U
/* Lowest bit: Clears all counters within 64 cycles. */
#define SPFE_TCP_COMMAND_CLEAR_COUNTERS_SHIFT 1
/* Mask of the field, in place. */
#define SPFE_TCP_COMMAND_CLEAR_COUNTERS_MASK 0x00000002U
/* Lowest bit: Clears all measured latencies. */
#define SPFE_TCP_COMMAND_CLEAR_PROBES_SHIFT 2
/* Mask of the field, in place. */
#define SPFE_TCP_COMMAND_CLEAR_PROBES_MASK 0x00000004U
/*
 * Offset: Receive window in bytes. The core cannot announce more than 65535 << CONTROL.WSCALE, or
 * 65535 without scaling.
 */
#define SPFE_TCP_RCV_WND 0x00000028U
/*
 * Offset: Maximum payload bytes of a segment. The core announces this value and never sends more.
 * Locked once there may be sessions: messages that wait, and the room that was found for them, go
 * by the value of the time.
 */
#define SPFE_TCP_MSS 0x0000002CU
/* Offset: Minimum retransmission timeout in ticks (RFC 6298). */
#define SPFE_TCP_RTO_MIN 0x00000034U
/* Offset: Maximum retransmission timeout in ticks. */
#define SPFE_TCP_RTO_MAX 0x00000038U
/* Offset: Initial retransmission timeout in ticks, before the first round-trip measurement. */
#define SPFE_TCP_RTO_INIT 0x0000003CU
/* Offset: How often the core sends a segment without an answer before it gives the session up. */
#define SPFE_TCP_TRIES 0x00000040U
/* Lowest bit: Attempts for SYN and SYN-ACK. */
#define SPFE_TCP_TRIES_SYN_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_TRIES_SYN_MASK 0x000000FFU
/* Lowest bit: Attempts for data and FIN. */
#define SPFE_TCP_TRIES_DATA_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_TRIES_DATA_MASK 0x0000FF00U
/*
 * Offset: Maximum delay of an acknowledgement in ticks (RFC 9293, 3.8.6.3: less than half a
 * second).
 */
#define SPFE_TCP_DELACK 0x00000044U
/* Offset: Duration of TIME-WAIT in ticks. */
#define SPFE_TCP_TIME_WAIT 0x00000048U
/* Offset: Maximum interval between probes of a closed window in ticks. */
#define SPFE_TCP_PERSIST_MAX 0x0000004CU
/* Offset: Interval between ARP requests for one address in ticks. */
#define SPFE_TCP_ARP_RETRY 0x00000050U
/* Offset: ARP requests without an answer after which an address counts as unreachable. */
#define SPFE_TCP_ARP_TRIES 0x00000054U
/*
 * Offset: Interval in ticks at which the core announces its addresses and asks again for known
 * ones; 0: never.
 */
#define SPFE_TCP_ARP_REFRESH 0x00000058U
/*
 * Offset: Bits 31:0 of the secret from which initial sequence numbers are made (RFC 6528, with
 * SipHash-2-4): 128 random bits that no peer can know. All four words must be written after each
 * reset of the hardware, before any session is opened.
 */
#define SPFE_TCP_ISS_KEY_0 0x00000060U
/* Offset: Bits 63:32 of the secret. */
#define SPFE_TCP_ISS_KEY_1 0x00000064U
/* Offset: Bits 95:64 of the secret. */
#define SPFE_TCP_ISS_KEY_2 0x00000068U
/* Offset: Bits 127:96 of the secret. */
#define SPFE_TCP_ISS_KEY_3 0x0000006CU
/* Offset: Virtual interface that the VIF_* registers access. */
#define SPFE_TCP_VIF_SELECT 0x00000080U
/*
 * Offset: Switches of the interface. Disable the interface before you change the other VIF
 * registers.
 */
#define SPFE_TCP_VIF_CONTROL 0x00000084U
/* Lowest bit: 1: the interface is in use. Setting this bit announces its address. */
#define SPFE_TCP_VIF_CONTROL_ENABLE_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_VIF_CONTROL_ENABLE_MASK 0x00000001U
/* Lowest bit: 1: frames carry an IEEE 802.1Q tag. */
#define SPFE_TCP_VIF_CONTROL_VLAN_SHIFT 1
/* Mask of the field, in place. */
#define SPFE_TCP_VIF_CONTROL_VLAN_MASK 0x00000002U
/* Lowest bit: 802.1Q tag: priority, DEI and VLAN identifier. */
#define SPFE_TCP_VIF_CONTROL_TAG_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_VIF_CONTROL_TAG_MASK 0xFFFF0000U
/* Offset: First two bytes of the MAC address; byte 0 is in bits 15:8. */
#define SPFE_TCP_VIF_MAC_HIGH 0x00000088U
/* Offset: Last four bytes of the MAC address; byte 5 is in bits 7:0. */
#define SPFE_TCP_VIF_MAC_LOW 0x0000008CU
/* Offset: IPv4 address; byte 0 is in bits 31:24. */
#define SPFE_TCP_VIF_IP 0x00000090U
/* Offset: Subnet mask. */
#define SPFE_TCP_VIF_MASK 0x00000094U
/* Offset: Next hop to addresses outside the subnet. */
#define SPFE_TCP_VIF_GATEWAY 0x00000098U
/* Offset: Session that the SESSION_* and VIEW_* registers access. */
#define SPFE_TCP_SESSION_SELECT 0x00000100U
/* Offset: IPv4 address of the peer. For LISTEN, 0 accepts any peer. */
#define SPFE_TCP_SESSION_PEER_IP 0x00000104U
/* Offset: TCP ports for LISTEN and CONNECT. */
#define SPFE_TCP_SESSION_PORTS 0x00000108U
/* Lowest bit: Local port. */
#define SPFE_TCP_SESSION_PORTS_LOCAL_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_PORTS_LOCAL_MASK 0x0000FFFFU
/* Lowest bit: Port of the peer; ignored by LISTEN. */
#define SPFE_TCP_SESSION_PORTS_PEER_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_PORTS_PEER_MASK 0xFFFF0000U
/* Offset: Virtual interface for LISTEN and CONNECT. */
#define SPFE_TCP_SESSION_VIF 0x0000010CU
/*
 * Offset: Starts an operation on the session. SESSION_STATUS shows when the core has accepted it.
 */
#define SPFE_TCP_SESSION_OPERATION 0x00000110U
/* Lowest bit: 1 LISTEN, 2 CONNECT, 3 CLOSE (after all data is sent), 4 ABORT (sends a reset). */
#define SPFE_TCP_SESSION_OPERATION_CODE_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_OPERATION_CODE_MASK 0x00000007U
/* Offset: Writing any value copies the state of the session into the VIEW_* registers. */
#define SPFE_TCP_SESSION_SNAPSHOT 0x00000114U
/*
 * Offset: What keeps operations from starting. While a bit is set, the core refuses writes to the
 * SESSION_* registers.
 */
#define SPFE_TCP_SESSION_STATUS 0x00000118U
/* Lowest bit: 1: the core has not accepted the operation yet. */
#define SPFE_TCP_SESSION_STATUS_OPERATION_BUSY_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_STATUS_OPERATION_BUSY_MASK 0x00000001U
/* Lowest bit: 1: the snapshot is not complete yet. */
#define SPFE_TCP_SESSION_STATUS_SNAPSHOT_BUSY_SHIFT 1
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_STATUS_SNAPSHOT_BUSY_MASK 0x00000002U
/* Lowest bit: 1: a word of ISS_KEY_0 to ISS_KEY_3 has not been written since the reset. */
#define SPFE_TCP_SESSION_STATUS_KEY_MISSING_SHIFT 2
/* Mask of the field, in place. */
#define SPFE_TCP_SESSION_STATUS_KEY_MISSING_MASK 0x00000004U
/* Offset: State of the session at the time of the snapshot. */
#define SPFE_TCP_VIEW_STATE 0x00000120U
/*
 * Lowest bit: 0 CLOSED, 1 LISTEN, 2 SYN-SENT, 3 SYN-RECEIVED, 4 ESTABLISHED, 5 FIN-WAIT-1, 6
 * FIN-WAIT-2, 7 CLOSE-WAIT, 8 CLOSING, 9 LAST-ACK, 10 TIME-WAIT, 11 waiting for the MAC address of
 * the next hop.
 */
#define SPFE_TCP_VIEW_STATE_STATE_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_STATE_STATE_MASK 0x0000000FU
/* Lowest bit: Virtual interface of the session. */
#define SPFE_TCP_VIEW_STATE_VIF_SHIFT 8
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_STATE_VIF_MASK 0x00000700U
/* Lowest bit: Maximum payload bytes of a segment that the peer accepts. */
#define SPFE_TCP_VIEW_STATE_MSS_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_STATE_MSS_MASK 0xFFFF0000U
/* Offset: IPv4 address of the peer. */
#define SPFE_TCP_VIEW_PEER_IP 0x00000124U
/* Offset: TCP ports of the session. */
#define SPFE_TCP_VIEW_PORTS 0x00000128U
/* Lowest bit: Local port. */
#define SPFE_TCP_VIEW_PORTS_LOCAL_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_PORTS_LOCAL_MASK 0x0000FFFFU
/* Lowest bit: Port of the peer. */
#define SPFE_TCP_VIEW_PORTS_PEER_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_PORTS_PEER_MASK 0xFFFF0000U
/* Offset: SND.UNA (RFC 9293): first byte that is not acknowledged. */
#define SPFE_TCP_VIEW_SND_UNA 0x0000012CU
/* Offset: SND.NXT (RFC 9293): next byte to send. */
#define SPFE_TCP_VIEW_SND_NXT 0x00000130U
/* Offset: RCV.NXT (RFC 9293): next byte expected from the peer. */
#define SPFE_TCP_VIEW_RCV_NXT 0x00000134U
/* Offset: SND.WND (RFC 9293): send window in bytes. */
#define SPFE_TCP_VIEW_SND_WND 0x00000138U
/* Offset: Congestion window in bytes. */
#define SPFE_TCP_VIEW_CWND 0x0000013CU
/* Offset: Slow-start threshold in bytes. */
#define SPFE_TCP_VIEW_SSTHRESH 0x00000140U
/* Offset: Round-trip times in ticks. */
#define SPFE_TCP_VIEW_TIMES 0x00000144U
/* Lowest bit: Retransmission timeout. */
#define SPFE_TCP_VIEW_TIMES_RTO_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_TIMES_RTO_MASK 0x0000FFFFU
/* Lowest bit: Smoothed round-trip time. */
#define SPFE_TCP_VIEW_TIMES_SRTT_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_VIEW_TIMES_SRTT_MASK 0xFFFF0000U
/* Offset: Free bytes of the retransmission ring. */
#define SPFE_TCP_VIEW_CREDIT 0x00000148U
/* Offset: Cycles from the first beat of a frame from the MAC to the first beat of its payload. */
#define SPFE_TCP_PROBE_RX 0x00000400U
/* Lowest bit: Last measurement; 0: none yet. */
#define SPFE_TCP_PROBE_RX_LAST_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_RX_LAST_MASK 0x0000FFFFU
/* Offset: Minimum and maximum of PROBE_RX. */
#define SPFE_TCP_PROBE_RX_RANGE 0x00000404U
/* Lowest bit: Minimum; 65535: no measurement yet. */
#define SPFE_TCP_PROBE_RX_RANGE_MIN_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_RX_RANGE_MIN_MASK 0x0000FFFFU
/* Lowest bit: Maximum; 0: no measurement yet. */
#define SPFE_TCP_PROBE_RX_RANGE_MAX_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_RX_RANGE_MAX_MASK 0xFFFF0000U
/* Offset: Cycles from the first beat of a message to the first beat of a frame to the MAC. */
#define SPFE_TCP_PROBE_TX 0x00000408U
/* Lowest bit: Last measurement; 0: none yet. */
#define SPFE_TCP_PROBE_TX_LAST_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_TX_LAST_MASK 0x0000FFFFU
/* Offset: Minimum and maximum of PROBE_TX. */
#define SPFE_TCP_PROBE_TX_RANGE 0x0000040CU
/* Lowest bit: Minimum; 65535: no measurement yet. */
#define SPFE_TCP_PROBE_TX_RANGE_MIN_SHIFT 0
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_TX_RANGE_MIN_MASK 0x0000FFFFU
/* Lowest bit: Maximum; 0: no measurement yet. */
#define SPFE_TCP_PROBE_TX_RANGE_MAX_SHIFT 16
/* Mask of the field, in place. */
#define SPFE_TCP_PROBE_TX_RANGE_MAX_MASK 0xFFFF0000U
/* Offset of a counter: Frames received. */
#define SPFE_TCP_COUNT_RX_FRAMES 0x00000200U
/* Offset of a counter: Segments delivered to the user or passed to the engine. */
#define SPFE_TCP_COUNT_RX_SEGMENTS 0x00000208U
/* Offset of a counter: Dropped: FCS wrong. */
#define SPFE_TCP_COUNT_RX_BAD_FCS 0x00000210U
/* Offset of a counter: Dropped: checksum of the IP header wrong. */
#define SPFE_TCP_COUNT_RX_BAD_IP_SUM 0x00000218U
/* Offset of a counter: Dropped: TCP checksum wrong. */
#define SPFE_TCP_COUNT_RX_BAD_TCP_SUM 0x00000220U
/* Offset of a counter: Ignored: other address, EtherType or protocol. */
#define SPFE_TCP_COUNT_RX_NOT_FOR_US 0x00000228U
/* Offset of a counter: Dropped: IP header with options. */
#define SPFE_TCP_COUNT_RX_IP_OPTIONS 0x00000230U
/* Offset of a counter: Dropped: IP fragment. */
#define SPFE_TCP_COUNT_RX_FRAGMENT 0x00000238U
/* Offset of a counter: Dropped: the length fields contradict each other. */
#define SPFE_TCP_COUNT_RX_LENGTH 0x00000240U
/* Offset of a counter: Segments that belong to no session. */
#define SPFE_TCP_COUNT_RX_NO_SESSION 0x00000248U
/* Offset of a counter: Segments that start after RCV.NXT. */
#define SPFE_TCP_COUNT_RX_OUT_OF_ORDER 0x00000250U
/* Offset of a counter: Segments that start before RCV.NXT. */
#define SPFE_TCP_COUNT_RX_OLD 0x00000258U
/* Offset of a counter: Dropped: the receive FIFO was full. */
#define SPFE_TCP_COUNT_RX_NO_ROOM 0x00000260U
/* Offset of a counter: Data segments for sessions that cannot receive. */
#define SPFE_TCP_COUNT_RX_NOT_OPEN 0x00000268U
/* Offset of a counter: Dropped: longer than the MTU. */
#define SPFE_TCP_COUNT_RX_OVERSIZE 0x00000270U
/* Offset of a counter: ACKs outside the range that RFC 5961, section 5.2 accepts. */
#define SPFE_TCP_COUNT_RX_BAD_ACK 0x00000278U
/* Offset of a counter: Frames sent. */
#define SPFE_TCP_COUNT_TX_FRAMES 0x00000280U
/* Offset of a counter: Messages sent without waiting. */
#define SPFE_TCP_COUNT_TX_LIVE 0x00000288U
/* Offset of a counter: Messages that waited in the ring. */
#define SPFE_TCP_COUNT_TX_DEFERRED 0x00000290U
/* Offset of a counter: Segments sent for the engine. */
#define SPFE_TCP_COUNT_TX_COMMAND 0x00000298U
/* Offset of a counter: Frames aborted. */
#define SPFE_TCP_COUNT_TX_ABORTED 0x000002A0U
/* Offset of a counter: Messages with a wrong checksum. */
#define SPFE_TCP_COUNT_TX_BAD_SUM 0x000002A8U
/* Offset of a counter: Messages refused. */
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
/* Offset of a counter: Probes sent into a closed window. */
#define SPFE_TCP_COUNT_ENG_PROBE 0x000002E0U
/* Offset of a counter: Resets sent. */
#define SPFE_TCP_COUNT_ENG_RST_SENT 0x000002E8U
/* Offset of a counter: Sessions reset by the peer. */
#define SPFE_TCP_COUNT_ENG_RST_SEEN 0x000002F0U
/* Offset of a counter: Sessions that became ESTABLISHED. */
#define SPFE_TCP_COUNT_ENG_OPENED 0x000002F8U
/* Offset of a counter: Sessions that ended. */
#define SPFE_TCP_COUNT_ENG_CLOSED 0x00000300U
/* Offset of a counter: Events that the engine could not report. */
#define SPFE_TCP_COUNT_ENG_LOST_EVENT 0x00000308U
/* Offset of a counter: SYN segments without a listening session. */
#define SPFE_TCP_COUNT_ENG_SYN_DROP 0x00000310U
/* Offset of a counter: ARP packets received for our interfaces. */
#define SPFE_TCP_COUNT_NET_ARP_RX 0x00000318U
/* Offset of a counter: ARP replies sent. */
#define SPFE_TCP_COUNT_NET_ARP_REPLY 0x00000320U
/* Offset of a counter: ARP requests and announcements sent. */
#define SPFE_TCP_COUNT_NET_ARP_REQUEST 0x00000328U
/* Offset of a counter: Addresses that were resolved or changed. */
#define SPFE_TCP_COUNT_NET_ARP_LEARNT 0x00000330U
/* Offset of a counter: ICMP echo requests to our addresses. */
#define SPFE_TCP_COUNT_NET_ICMP_RX 0x00000338U
/* Offset of a counter: ICMP echo replies sent. */
#define SPFE_TCP_COUNT_NET_ICMP_REPLY 0x00000340U
/*
 * Offset of a counter: Echo requests without an answer: bad FCS, checksum or length, a fragment, or
 * the buffer was in use.
 */
#define SPFE_TCP_COUNT_NET_ICMP_DROP 0x00000348U
/*
 * Offset of a counter: Events of the receiver, transmitter and ARP that were lost because the FIFO
 * was full.
 */
#define SPFE_TCP_COUNT_EVENT_LOST 0x00000350U

#endif
