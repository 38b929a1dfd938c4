// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from rtl/tcp/regs/registers.toml: do not edit; run `make gen`.
//! Registers of the TCP core: offsets in bytes, fields, counters.

/// Offset: Identification: the letters 'STCP', S in the most significant byte.
pub const ID: u32 = 0x0000_0000;
/// Value that ID reads.
pub const ID_VALUE: u32 = 0x5354_4350;
/// Offset: Version of this map: major in bits 31:16, minor in bits 15:0. A minor version only adds
/// registers.
pub const VERSION: u32 = 0x0000_0004;
/// Value that VERSION reads.
pub const VERSION_VALUE: u32 = 0x0002_0000;
/// Offset: Table sizes of this build.
pub const BUILD_SIZES: u32 = 0x0000_0008;
/// Lowest bit: Number of sessions (SESSION_COUNT).
pub const BUILD_SIZES_SESSIONS_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const BUILD_SIZES_SESSIONS_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Entries of the ARP table (ARP_TABLE_ENTRY_COUNT).
pub const BUILD_SIZES_ARP_ENTRIES_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const BUILD_SIZES_ARP_ENTRIES_MASK: u32 = 0xFFFF_0000;
/// Offset: Widths of the data streams in bits.
pub const BUILD_WIDTHS: u32 = 0x0000_000C;
/// Lowest bit: MAC to core (MAC2TCP_DATA_WIDTH).
pub const BUILD_WIDTHS_MAC_RX_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const BUILD_WIDTHS_MAC_RX_MASK: u32 = 0x0000_00FF;
/// Lowest bit: Core to MAC (TCP2MAC_DATA_WIDTH).
pub const BUILD_WIDTHS_MAC_TX_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const BUILD_WIDTHS_MAC_TX_MASK: u32 = 0x0000_FF00;
/// Lowest bit: User to core (USER2TCP_DATA_WIDTH).
pub const BUILD_WIDTHS_USER_TX_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const BUILD_WIDTHS_USER_TX_MASK: u32 = 0x00FF_0000;
/// Lowest bit: Core to user (TCP2USER_DATA_WIDTH).
pub const BUILD_WIDTHS_USER_RX_SHIFT: u32 = 24;
/// Mask of the field, in place.
pub const BUILD_WIDTHS_USER_RX_MASK: u32 = 0xFF00_0000;
/// Offset: Limits of this build.
pub const BUILD_LIMITS: u32 = 0x0000_0010;
/// Lowest bit: Longest IP packet in bytes (MTU).
pub const BUILD_LIMITS_MTU_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const BUILD_LIMITS_MTU_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Number of virtual interfaces (VIRTUAL_INTERFACES_COUNT).
pub const BUILD_LIMITS_VIFS_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const BUILD_LIMITS_VIFS_MASK: u32 = 0x000F_0000;
/// Offset: Options of this build; 1 means built in.
pub const BUILD_FEATURES: u32 = 0x0000_0014;
/// Lowest bit: The transmitter pads frames to 60 bytes.
pub const BUILD_FEATURES_MAC_TX_PAD_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const BUILD_FEATURES_MAC_TX_PAD_MASK: u32 = 0x0000_0001;
/// Lowest bit: The core answers ICMP echo requests (ICMP_SERVER_EN).
pub const BUILD_FEATURES_ICMP_SERVER_SHIFT: u32 = 1;
/// Mask of the field, in place.
pub const BUILD_FEATURES_ICMP_SERVER_MASK: u32 = 0x0000_0002;
/// Lowest bit: The core announces its addresses and refreshes known ones
/// (ARP_GRATUITOUS_REFRESH_EN).
pub const BUILD_FEATURES_ARP_GRATUITOUS_SHIFT: u32 = 2;
/// Mask of the field, in place.
pub const BUILD_FEATURES_ARP_GRATUITOUS_MASK: u32 = 0x0000_0004;
/// Lowest bit: The core answers ARP requests (ARP_SERVER_EN).
pub const BUILD_FEATURES_ARP_SERVER_SHIFT: u32 = 3;
/// Mask of the field, in place.
pub const BUILD_FEATURES_ARP_SERVER_MASK: u32 = 0x0000_0008;
/// Lowest bit: The core acknowledges data without delay (INSTANT_ACK_EN).
pub const BUILD_FEATURES_INSTANT_ACK_SHIFT: u32 = 4;
/// Mask of the field, in place.
pub const BUILD_FEATURES_INSTANT_ACK_MASK: u32 = 0x0000_0010;
/// Lowest bit: The core reports credit events (EMI_CREDIT_EN).
pub const BUILD_FEATURES_CREDIT_EVENTS_SHIFT: u32 = 5;
/// Mask of the field, in place.
pub const BUILD_FEATURES_CREDIT_EVENTS_MASK: u32 = 0x0000_0020;
/// Lowest bit: The core reports status events (EMI_STATUS_EN).
pub const BUILD_FEATURES_STATUS_EVENTS_SHIFT: u32 = 6;
/// Mask of the field, in place.
pub const BUILD_FEATURES_STATUS_EVENTS_MASK: u32 = 0x0000_0040;
/// Lowest bit: Every data segment carries PSH (TX_PUSH_BIT_VALUE).
pub const BUILD_FEATURES_TX_PUSH_SHIFT: u32 = 7;
/// Mask of the field, in place.
pub const BUILD_FEATURES_TX_PUSH_MASK: u32 = 0x0000_0080;
/// Lowest bit: NewReno congestion control (TX_CONGESTION_CONTROL_EN).
pub const BUILD_FEATURES_TX_CONGESTION_CONTROL_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const BUILD_FEATURES_TX_CONGESTION_CONTROL_MASK: u32 = 0x0000_0100;
/// Lowest bit: The core discards messages to sessions that are not established
/// (TX_DROP_IF_NOT_ESTABLISHED_EN).
pub const BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_SHIFT: u32 = 9;
/// Mask of the field, in place.
pub const BUILD_FEATURES_TX_DROP_IF_NOT_ESTABLISHED_MASK: u32 = 0x0000_0200;
/// Lowest bit: The core delivers segments out of order (RX_OOS_SEQNUM_EN).
pub const BUILD_FEATURES_RX_OUT_OF_SEQUENCE_SHIFT: u32 = 10;
/// Mask of the field, in place.
pub const BUILD_FEATURES_RX_OUT_OF_SEQUENCE_MASK: u32 = 0x0000_0400;
/// Lowest bit: The core puts segments in order (RX_REORDERING_EN).
pub const BUILD_FEATURES_RX_REORDERING_SHIFT: u32 = 11;
/// Mask of the field, in place.
pub const BUILD_FEATURES_RX_REORDERING_MASK: u32 = 0x0000_0800;
/// Lowest bit: The last beat of the payload waits for the end of the frame.
pub const BUILD_FEATURES_RX_EOP_MERGE_SHIFT: u32 = 12;
/// Mask of the field, in place.
pub const BUILD_FEATURES_RX_EOP_MERGE_MASK: u32 = 0x0000_1000;
/// Lowest bit: The payload starts at byte 0 of the first beat, and all beats but the last are full.
pub const BUILD_FEATURES_RX_PACKED_SHIFT: u32 = 13;
/// Mask of the field, in place.
pub const BUILD_FEATURES_RX_PACKED_MASK: u32 = 0x0000_2000;
/// Lowest bit: Store-and-forward: the core delivers a segment after it checked the checksum
/// (RX_CHECKSUM_VERIFICATION_EN).
pub const BUILD_FEATURES_RX_CHECKSUM_SHIFT: u32 = 14;
/// Mask of the field, in place.
pub const BUILD_FEATURES_RX_CHECKSUM_MASK: u32 = 0x0000_4000;
/// Offset: Memory sizes and pipeline stages of this build.
pub const BUILD_MEMORIES: u32 = 0x0000_0018;
/// Lowest bit: log2 of the number of 16-byte words of the retransmission memory
/// (TX_RETRANSMIT_MEM_ADDR_WIDTH).
pub const BUILD_MEMORIES_TX_ADDR_BITS_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const BUILD_MEMORIES_TX_ADDR_BITS_MASK: u32 = 0x0000_00FF;
/// Lowest bit: log2 of the number of words of the reordering memory (RX_REORDERING_MEM_ADDR_WIDTH).
pub const BUILD_MEMORIES_RX_ADDR_BITS_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const BUILD_MEMORIES_RX_ADDR_BITS_MASK: u32 = 0x0000_FF00;
/// Lowest bit: Frames of MTU size that the receive FIFO holds (RX_FIFO_PACKET_COUNT).
pub const BUILD_MEMORIES_RX_FIFO_PACKETS_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const BUILD_MEMORIES_RX_FIFO_PACKETS_MASK: u32 = 0x00FF_0000;
/// Lowest bit: Pipeline stages after the receiver (RX_OUTPUT_PIPE_COUNT).
pub const BUILD_MEMORIES_RX_PIPE_SHIFT: u32 = 24;
/// Mask of the field, in place.
pub const BUILD_MEMORIES_RX_PIPE_MASK: u32 = 0x0F00_0000;
/// Lowest bit: Pipeline stages before the MAC (TX_OUTPUT_PIPE_COUNT).
pub const BUILD_MEMORIES_TX_PIPE_SHIFT: u32 = 28;
/// Mask of the field, in place.
pub const BUILD_MEMORIES_TX_PIPE_MASK: u32 = 0xF000_0000;
/// Offset: Switches of the whole core.
pub const CONTROL: u32 = 0x0000_0020;
/// Lowest bit: 1: the core receives and sends frames.
pub const CONTROL_ENABLE_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const CONTROL_ENABLE_MASK: u32 = 0x0000_0001;
/// Lowest bit: 1: the core sends no reset in answer to segments that belong to no session.
pub const CONTROL_RST_SILENT_SHIFT: u32 = 1;
/// Mask of the field, in place.
pub const CONTROL_RST_SILENT_MASK: u32 = 0x0000_0002;
/// Lowest bit: What happens to a message whose ring is full. 1: the core refuses it and reports an
/// event; 0: the message waits.
pub const CONTROL_RING_REFUSE_SHIFT: u32 = 2;
/// Mask of the field, in place.
pub const CONTROL_RING_REFUSE_MASK: u32 = 0x0000_0004;
/// Lowest bit: 1: the core offers window scaling (RFC 7323, section 2).
pub const CONTROL_WSCALE_EN_SHIFT: u32 = 3;
/// Mask of the field, in place.
pub const CONTROL_WSCALE_EN_MASK: u32 = 0x0000_0008;
/// Lowest bit: 1: segments do not have the flag DF, so that routers may fragment them. Sessions
/// that are open may keep the old setting. See Path MTU in tcp-core.md.
pub const CONTROL_FRAGMENT_SHIFT: u32 = 4;
/// Mask of the field, in place.
pub const CONTROL_FRAGMENT_MASK: u32 = 0x0000_0010;
/// Lowest bit: Window shift that the core announces.
pub const CONTROL_WSCALE_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const CONTROL_WSCALE_MASK: u32 = 0x0000_0F00;
/// Offset: Commands for the whole core. Writing 1 to a bit starts the command.
pub const COMMAND: u32 = 0x0000_0024;
/// Lowest bit: Resets everything but the registers for 16 cycles; all sessions are lost. Clear
/// CONTROL.ENABLE first, or frames in progress are cut off.
pub const COMMAND_SOFT_RESET_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const COMMAND_SOFT_RESET_MASK: u32 = 0x0000_0001;
/// Lowest bit: Clears all counters within 64 cycles.
pub const COMMAND_CLEAR_COUNTERS_SHIFT: u32 = 1;
/// Mask of the field, in place.
pub const COMMAND_CLEAR_COUNTERS_MASK: u32 = 0x0000_0002;
/// Lowest bit: Clears all measured latencies.
pub const COMMAND_CLEAR_PROBES_SHIFT: u32 = 2;
/// Mask of the field, in place.
pub const COMMAND_CLEAR_PROBES_MASK: u32 = 0x0000_0004;
/// Offset: Receive window in bytes. The core cannot announce more than 65535 << CONTROL.WSCALE, or
/// 65535 without scaling.
pub const RCV_WND: u32 = 0x0000_0028;
/// Offset: Maximum payload bytes of a segment. The core announces this value and never sends more.
/// Locked once there may be sessions: messages that wait, and the room that was found for them, go
/// by the value of the time.
pub const MSS: u32 = 0x0000_002C;
/// Offset: Minimum retransmission timeout in ticks (RFC 6298).
pub const RTO_MIN: u32 = 0x0000_0034;
/// Offset: Maximum retransmission timeout in ticks.
pub const RTO_MAX: u32 = 0x0000_0038;
/// Offset: Initial retransmission timeout in ticks, before the first round-trip measurement.
pub const RTO_INIT: u32 = 0x0000_003C;
/// Offset: How often the core sends a segment without an answer before it gives the session up.
pub const TRIES: u32 = 0x0000_0040;
/// Lowest bit: Attempts for SYN and SYN-ACK.
pub const TRIES_SYN_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const TRIES_SYN_MASK: u32 = 0x0000_00FF;
/// Lowest bit: Attempts for data and FIN.
pub const TRIES_DATA_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const TRIES_DATA_MASK: u32 = 0x0000_FF00;
/// Offset: Maximum delay of an acknowledgement in ticks (RFC 9293, 3.8.6.3: less than half a
/// second).
pub const DELACK: u32 = 0x0000_0044;
/// Offset: Duration of TIME-WAIT in ticks.
pub const TIME_WAIT: u32 = 0x0000_0048;
/// Offset: Maximum interval between probes of a closed window in ticks.
pub const PERSIST_MAX: u32 = 0x0000_004C;
/// Offset: Interval between ARP requests for one address in ticks.
pub const ARP_RETRY: u32 = 0x0000_0050;
/// Offset: ARP requests without an answer after which an address counts as unreachable.
pub const ARP_TRIES: u32 = 0x0000_0054;
/// Offset: Interval in ticks at which the core announces its addresses and asks again for known
/// ones; 0: never.
pub const ARP_REFRESH: u32 = 0x0000_0058;
/// Offset: Bits 31:0 of the secret from which initial sequence numbers are made (RFC 6528, with
/// SipHash-2-4): 128 random bits that no peer can know. All four words must be written after each
/// reset of the hardware, before any session is opened.
pub const ISS_KEY_0: u32 = 0x0000_0060;
/// Offset: Bits 63:32 of the secret.
pub const ISS_KEY_1: u32 = 0x0000_0064;
/// Offset: Bits 95:64 of the secret.
pub const ISS_KEY_2: u32 = 0x0000_0068;
/// Offset: Bits 127:96 of the secret.
pub const ISS_KEY_3: u32 = 0x0000_006C;
/// Offset: Virtual interface that the VIF_* registers access.
pub const VIF_SELECT: u32 = 0x0000_0080;
/// Offset: Switches of the interface. Disable the interface before you change the other VIF
/// registers.
pub const VIF_CONTROL: u32 = 0x0000_0084;
/// Lowest bit: 1: the interface is in use. Setting this bit announces its address.
pub const VIF_CONTROL_ENABLE_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const VIF_CONTROL_ENABLE_MASK: u32 = 0x0000_0001;
/// Lowest bit: 1: frames carry an IEEE 802.1Q tag.
pub const VIF_CONTROL_VLAN_SHIFT: u32 = 1;
/// Mask of the field, in place.
pub const VIF_CONTROL_VLAN_MASK: u32 = 0x0000_0002;
/// Lowest bit: 802.1Q tag: priority, DEI and VLAN identifier.
pub const VIF_CONTROL_TAG_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const VIF_CONTROL_TAG_MASK: u32 = 0xFFFF_0000;
/// Offset: First two bytes of the MAC address; byte 0 is in bits 15:8.
pub const VIF_MAC_HIGH: u32 = 0x0000_0088;
/// Offset: Last four bytes of the MAC address; byte 5 is in bits 7:0.
pub const VIF_MAC_LOW: u32 = 0x0000_008C;
/// Offset: IPv4 address; byte 0 is in bits 31:24.
pub const VIF_IP: u32 = 0x0000_0090;
/// Offset: Subnet mask.
pub const VIF_MASK: u32 = 0x0000_0094;
/// Offset: Next hop to addresses outside the subnet.
pub const VIF_GATEWAY: u32 = 0x0000_0098;
/// Offset: Session that the SESSION_* and VIEW_* registers access.
pub const SESSION_SELECT: u32 = 0x0000_0100;
/// Offset: IPv4 address of the peer. For LISTEN, 0 accepts any peer.
pub const SESSION_PEER_IP: u32 = 0x0000_0104;
/// Offset: TCP ports for LISTEN and CONNECT.
pub const SESSION_PORTS: u32 = 0x0000_0108;
/// Lowest bit: Local port.
pub const SESSION_PORTS_LOCAL_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const SESSION_PORTS_LOCAL_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Port of the peer; ignored by LISTEN.
pub const SESSION_PORTS_PEER_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const SESSION_PORTS_PEER_MASK: u32 = 0xFFFF_0000;
/// Offset: Virtual interface for LISTEN and CONNECT.
pub const SESSION_VIF: u32 = 0x0000_010C;
/// Offset: Starts an operation on the session. SESSION_STATUS shows when the core has accepted it.
pub const SESSION_OPERATION: u32 = 0x0000_0110;
/// Lowest bit: 1 LISTEN, 2 CONNECT, 3 CLOSE (after all data is sent), 4 ABORT (sends a reset).
pub const SESSION_OPERATION_CODE_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const SESSION_OPERATION_CODE_MASK: u32 = 0x0000_0007;
/// Offset: Writing any value copies the state of the session into the VIEW_* registers.
pub const SESSION_SNAPSHOT: u32 = 0x0000_0114;
/// Offset: What keeps operations from starting. While a bit is set, the core refuses writes to the
/// SESSION_* registers.
pub const SESSION_STATUS: u32 = 0x0000_0118;
/// Lowest bit: 1: the core has not accepted the operation yet.
pub const SESSION_STATUS_OPERATION_BUSY_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const SESSION_STATUS_OPERATION_BUSY_MASK: u32 = 0x0000_0001;
/// Lowest bit: 1: the snapshot is not complete yet.
pub const SESSION_STATUS_SNAPSHOT_BUSY_SHIFT: u32 = 1;
/// Mask of the field, in place.
pub const SESSION_STATUS_SNAPSHOT_BUSY_MASK: u32 = 0x0000_0002;
/// Lowest bit: 1: a word of ISS_KEY_0 to ISS_KEY_3 has not been written since the reset.
pub const SESSION_STATUS_KEY_MISSING_SHIFT: u32 = 2;
/// Mask of the field, in place.
pub const SESSION_STATUS_KEY_MISSING_MASK: u32 = 0x0000_0004;
/// Offset: State of the session at the time of the snapshot.
pub const VIEW_STATE: u32 = 0x0000_0120;
/// Lowest bit: 0 CLOSED, 1 LISTEN, 2 SYN-SENT, 3 SYN-RECEIVED, 4 ESTABLISHED, 5 FIN-WAIT-1, 6
/// FIN-WAIT-2, 7 CLOSE-WAIT, 8 CLOSING, 9 LAST-ACK, 10 TIME-WAIT, 11 waiting for the MAC address of
/// the next hop.
pub const VIEW_STATE_STATE_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const VIEW_STATE_STATE_MASK: u32 = 0x0000_000F;
/// Lowest bit: Virtual interface of the session.
pub const VIEW_STATE_VIF_SHIFT: u32 = 8;
/// Mask of the field, in place.
pub const VIEW_STATE_VIF_MASK: u32 = 0x0000_0700;
/// Lowest bit: Maximum payload bytes of a segment that the peer accepts.
pub const VIEW_STATE_MSS_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const VIEW_STATE_MSS_MASK: u32 = 0xFFFF_0000;
/// Offset: IPv4 address of the peer.
pub const VIEW_PEER_IP: u32 = 0x0000_0124;
/// Offset: TCP ports of the session.
pub const VIEW_PORTS: u32 = 0x0000_0128;
/// Lowest bit: Local port.
pub const VIEW_PORTS_LOCAL_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const VIEW_PORTS_LOCAL_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Port of the peer.
pub const VIEW_PORTS_PEER_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const VIEW_PORTS_PEER_MASK: u32 = 0xFFFF_0000;
/// Offset: SND.UNA (RFC 9293): first byte that is not acknowledged.
pub const VIEW_SND_UNA: u32 = 0x0000_012C;
/// Offset: SND.NXT (RFC 9293): next byte to send.
pub const VIEW_SND_NXT: u32 = 0x0000_0130;
/// Offset: RCV.NXT (RFC 9293): next byte expected from the peer.
pub const VIEW_RCV_NXT: u32 = 0x0000_0134;
/// Offset: SND.WND (RFC 9293): send window in bytes.
pub const VIEW_SND_WND: u32 = 0x0000_0138;
/// Offset: Congestion window in bytes.
pub const VIEW_CWND: u32 = 0x0000_013C;
/// Offset: Slow-start threshold in bytes.
pub const VIEW_SSTHRESH: u32 = 0x0000_0140;
/// Offset: Round-trip times in ticks.
pub const VIEW_TIMES: u32 = 0x0000_0144;
/// Lowest bit: Retransmission timeout.
pub const VIEW_TIMES_RTO_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const VIEW_TIMES_RTO_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Smoothed round-trip time.
pub const VIEW_TIMES_SRTT_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const VIEW_TIMES_SRTT_MASK: u32 = 0xFFFF_0000;
/// Offset: Free bytes of the retransmission ring.
pub const VIEW_CREDIT: u32 = 0x0000_0148;
/// Offset: Cycles from the first beat of a frame from the MAC to the first beat of its payload.
pub const PROBE_RX: u32 = 0x0000_0400;
/// Lowest bit: Last measurement; 0: none yet.
pub const PROBE_RX_LAST_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const PROBE_RX_LAST_MASK: u32 = 0x0000_FFFF;
/// Offset: Minimum and maximum of PROBE_RX.
pub const PROBE_RX_RANGE: u32 = 0x0000_0404;
/// Lowest bit: Minimum; 65535: no measurement yet.
pub const PROBE_RX_RANGE_MIN_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const PROBE_RX_RANGE_MIN_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Maximum; 0: no measurement yet.
pub const PROBE_RX_RANGE_MAX_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const PROBE_RX_RANGE_MAX_MASK: u32 = 0xFFFF_0000;
/// Offset: Cycles from the first beat of a message to the first beat of a frame to the MAC.
pub const PROBE_TX: u32 = 0x0000_0408;
/// Lowest bit: Last measurement; 0: none yet.
pub const PROBE_TX_LAST_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const PROBE_TX_LAST_MASK: u32 = 0x0000_FFFF;
/// Offset: Minimum and maximum of PROBE_TX.
pub const PROBE_TX_RANGE: u32 = 0x0000_040C;
/// Lowest bit: Minimum; 65535: no measurement yet.
pub const PROBE_TX_RANGE_MIN_SHIFT: u32 = 0;
/// Mask of the field, in place.
pub const PROBE_TX_RANGE_MIN_MASK: u32 = 0x0000_FFFF;
/// Lowest bit: Maximum; 0: no measurement yet.
pub const PROBE_TX_RANGE_MAX_SHIFT: u32 = 16;
/// Mask of the field, in place.
pub const PROBE_TX_RANGE_MAX_MASK: u32 = 0xFFFF_0000;
/// Offset of a counter: Frames received.
pub const COUNT_RX_FRAMES: u32 = 0x0000_0200;
/// Offset of a counter: Segments delivered to the user or passed to the engine.
pub const COUNT_RX_SEGMENTS: u32 = 0x0000_0208;
/// Offset of a counter: Dropped: FCS wrong.
pub const COUNT_RX_BAD_FCS: u32 = 0x0000_0210;
/// Offset of a counter: Dropped: checksum of the IP header wrong.
pub const COUNT_RX_BAD_IP_SUM: u32 = 0x0000_0218;
/// Offset of a counter: Dropped: TCP checksum wrong.
pub const COUNT_RX_BAD_TCP_SUM: u32 = 0x0000_0220;
/// Offset of a counter: Ignored: other address, EtherType or protocol.
pub const COUNT_RX_NOT_FOR_US: u32 = 0x0000_0228;
/// Offset of a counter: Dropped: IP header with options.
pub const COUNT_RX_IP_OPTIONS: u32 = 0x0000_0230;
/// Offset of a counter: Dropped: IP fragment.
pub const COUNT_RX_FRAGMENT: u32 = 0x0000_0238;
/// Offset of a counter: Dropped: the length fields contradict each other.
pub const COUNT_RX_LENGTH: u32 = 0x0000_0240;
/// Offset of a counter: Segments that belong to no session.
pub const COUNT_RX_NO_SESSION: u32 = 0x0000_0248;
/// Offset of a counter: Segments that start after RCV.NXT.
pub const COUNT_RX_OUT_OF_ORDER: u32 = 0x0000_0250;
/// Offset of a counter: Segments that start before RCV.NXT.
pub const COUNT_RX_OLD: u32 = 0x0000_0258;
/// Offset of a counter: Dropped: the receive FIFO was full.
pub const COUNT_RX_NO_ROOM: u32 = 0x0000_0260;
/// Offset of a counter: Data segments for sessions that cannot receive.
pub const COUNT_RX_NOT_OPEN: u32 = 0x0000_0268;
/// Offset of a counter: Dropped: longer than the MTU.
pub const COUNT_RX_OVERSIZE: u32 = 0x0000_0270;
/// Offset of a counter: ACKs outside the range that RFC 5961, section 5.2 accepts.
pub const COUNT_RX_BAD_ACK: u32 = 0x0000_0278;
/// Offset of a counter: Frames sent.
pub const COUNT_TX_FRAMES: u32 = 0x0000_0280;
/// Offset of a counter: Messages sent without waiting.
pub const COUNT_TX_LIVE: u32 = 0x0000_0288;
/// Offset of a counter: Messages that waited in the ring.
pub const COUNT_TX_DEFERRED: u32 = 0x0000_0290;
/// Offset of a counter: Segments sent for the engine.
pub const COUNT_TX_COMMAND: u32 = 0x0000_0298;
/// Offset of a counter: Frames aborted.
pub const COUNT_TX_ABORTED: u32 = 0x0000_02A0;
/// Offset of a counter: Messages with a wrong checksum.
pub const COUNT_TX_BAD_SUM: u32 = 0x0000_02A8;
/// Offset of a counter: Messages refused.
pub const COUNT_TX_REFUSED: u32 = 0x0000_02B0;
/// Offset of a counter: Segments read from the ring.
pub const COUNT_TX_MEM_SEGMENTS: u32 = 0x0000_02B8;
/// Offset of a counter: Retransmission timeouts.
pub const COUNT_ENG_RTO: u32 = 0x0000_02C0;
/// Offset of a counter: Fast retransmissions.
pub const COUNT_ENG_FAST_REXMIT: u32 = 0x0000_02C8;
/// Offset of a counter: Duplicate acknowledgements received.
pub const COUNT_ENG_DUP_ACK: u32 = 0x0000_02D0;
/// Offset of a counter: Challenge acknowledgements (RFC 5961).
pub const COUNT_ENG_CHALLENGE: u32 = 0x0000_02D8;
/// Offset of a counter: Probes sent into a closed window.
pub const COUNT_ENG_PROBE: u32 = 0x0000_02E0;
/// Offset of a counter: Resets sent.
pub const COUNT_ENG_RST_SENT: u32 = 0x0000_02E8;
/// Offset of a counter: Sessions reset by the peer.
pub const COUNT_ENG_RST_SEEN: u32 = 0x0000_02F0;
/// Offset of a counter: Sessions that became ESTABLISHED.
pub const COUNT_ENG_OPENED: u32 = 0x0000_02F8;
/// Offset of a counter: Sessions that ended.
pub const COUNT_ENG_CLOSED: u32 = 0x0000_0300;
/// Offset of a counter: Events that the engine could not report.
pub const COUNT_ENG_LOST_EVENT: u32 = 0x0000_0308;
/// Offset of a counter: SYN segments without a listening session.
pub const COUNT_ENG_SYN_DROP: u32 = 0x0000_0310;
/// Offset of a counter: ARP packets received for our interfaces.
pub const COUNT_NET_ARP_RX: u32 = 0x0000_0318;
/// Offset of a counter: ARP replies sent.
pub const COUNT_NET_ARP_REPLY: u32 = 0x0000_0320;
/// Offset of a counter: ARP requests and announcements sent.
pub const COUNT_NET_ARP_REQUEST: u32 = 0x0000_0328;
/// Offset of a counter: Addresses that were resolved or changed.
pub const COUNT_NET_ARP_LEARNT: u32 = 0x0000_0330;
/// Offset of a counter: ICMP echo requests to our addresses.
pub const COUNT_NET_ICMP_RX: u32 = 0x0000_0338;
/// Offset of a counter: ICMP echo replies sent.
pub const COUNT_NET_ICMP_REPLY: u32 = 0x0000_0340;
/// Offset of a counter: Echo requests without an answer: bad FCS, checksum or length, a fragment,
/// or the buffer was in use.
pub const COUNT_NET_ICMP_DROP: u32 = 0x0000_0348;
/// Offset of a counter: Events of the receiver, transmitter and ARP that were lost because the FIFO
/// was full.
pub const COUNT_EVENT_LOST: u32 = 0x0000_0350;

/// Name and offset of every counter; 64 bits each, bits 31:0 at the lower offset.
pub const COUNTERS: [(&str, u32); 43] = [
    ("rx.frames", COUNT_RX_FRAMES),
    ("rx.segments", COUNT_RX_SEGMENTS),
    ("rx.bad_fcs", COUNT_RX_BAD_FCS),
    ("rx.bad_ip_sum", COUNT_RX_BAD_IP_SUM),
    ("rx.bad_tcp_sum", COUNT_RX_BAD_TCP_SUM),
    ("rx.not_for_us", COUNT_RX_NOT_FOR_US),
    ("rx.ip_options", COUNT_RX_IP_OPTIONS),
    ("rx.fragment", COUNT_RX_FRAGMENT),
    ("rx.length", COUNT_RX_LENGTH),
    ("rx.no_session", COUNT_RX_NO_SESSION),
    ("rx.out_of_order", COUNT_RX_OUT_OF_ORDER),
    ("rx.old", COUNT_RX_OLD),
    ("rx.no_room", COUNT_RX_NO_ROOM),
    ("rx.not_open", COUNT_RX_NOT_OPEN),
    ("rx.oversize", COUNT_RX_OVERSIZE),
    ("rx.bad_ack", COUNT_RX_BAD_ACK),
    ("tx.frames", COUNT_TX_FRAMES),
    ("tx.live", COUNT_TX_LIVE),
    ("tx.deferred", COUNT_TX_DEFERRED),
    ("tx.command", COUNT_TX_COMMAND),
    ("tx.aborted", COUNT_TX_ABORTED),
    ("tx.bad_sum", COUNT_TX_BAD_SUM),
    ("tx.refused", COUNT_TX_REFUSED),
    ("tx.mem_segments", COUNT_TX_MEM_SEGMENTS),
    ("eng.rto", COUNT_ENG_RTO),
    ("eng.fast_rexmit", COUNT_ENG_FAST_REXMIT),
    ("eng.dup_ack", COUNT_ENG_DUP_ACK),
    ("eng.challenge", COUNT_ENG_CHALLENGE),
    ("eng.probe", COUNT_ENG_PROBE),
    ("eng.rst_sent", COUNT_ENG_RST_SENT),
    ("eng.rst_seen", COUNT_ENG_RST_SEEN),
    ("eng.opened", COUNT_ENG_OPENED),
    ("eng.closed", COUNT_ENG_CLOSED),
    ("eng.lost_event", COUNT_ENG_LOST_EVENT),
    ("eng.syn_drop", COUNT_ENG_SYN_DROP),
    ("net.arp_rx", COUNT_NET_ARP_RX),
    ("net.arp_reply", COUNT_NET_ARP_REPLY),
    ("net.arp_request", COUNT_NET_ARP_REQUEST),
    ("net.arp_learnt", COUNT_NET_ARP_LEARNT),
    ("net.icmp_rx", COUNT_NET_ICMP_RX),
    ("net.icmp_reply", COUNT_NET_ICMP_REPLY),
    ("net.icmp_drop", COUNT_NET_ICMP_DROP),
    ("event_lost", COUNT_EVENT_LOST),
];
