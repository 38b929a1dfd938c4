/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause */
/* Generated from contract/spfe.toml: do not edit; run `make gen`. */
#ifndef SPFE_HW_H
#define SPFE_HW_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
typedef __u8 spfe_u8;
typedef __le16 spfe_le16;
typedef __le32 spfe_le32;
typedef __le64 spfe_le64;
#else
#include <stddef.h>
#include <stdint.h>
/* Little-endian in memory. A big-endian host must swap the bytes of each load and store. */
typedef uint8_t spfe_u8;
typedef uint16_t spfe_le16;
typedef uint32_t spfe_le32;
typedef uint64_t spfe_le64;
#endif

#ifdef __cplusplus
#define SPFE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define SPFE_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define SPFE_ALIGNED(bytes) __attribute__((aligned(bytes)))

#define SPFE_CONTRACT_MAGIC 0x53504645U
#define SPFE_CONTRACT_VERSION_MAJOR 1
#define SPFE_CONTRACT_VERSION_MINOR 10
/* Size of every ring entry, submission or completion. */
#define SPFE_ENTRY_BYTES 16U
/* Smallest ring: 4 entries, one cache line of 64 bytes. */
#define SPFE_RING_LOG2_MIN 2U
/* Largest ring: 32768 entries, so a 16-bit ring position is never ambiguous. */
#define SPFE_RING_LOG2_MAX 15U
/* Low bits of the 16-bit region field of an entry: index into the memory-region table. */
#define SPFE_REGION_INDEX_BITS 12U
/*
 * High bits of the region field: generation of that index. It reveals an entry that names a revoked
 * region.
 */
#define SPFE_REGION_GENERATION_BITS 4U
/* Bits of the byte offset inside a region. */
#define SPFE_OFFSET_BITS 48U
/*
 * Maximum bytes in an inline entry (8 in the address word, 3 in the length word): enough for a
 * SpaceFibre path address.
 */
#define SPFE_INLINE_MAX_BYTES 11U
/*
 * Entries from which every device can gather one packet. A longer chain than register CHAIN_MAX of
 * the device allows completes with CHAIN_TOO_LONG.
 */
#define SPFE_CHAIN_MAX 16U
/* Maximum packets that one burst entry describes. */
#define SPFE_BURST_MAX 65535U
/* Local elements of a work request, each of which is a DATA or INLINE slot. */
#define SPFE_WORK_ELEMENTS_MAX 4U
/* Slots of the longest work request: the first one, two operands and 4 local elements. */
#define SPFE_WORK_SLOTS_MAX 7U
/* Remote keys of a queue pair. The index of a key, its upper 20 bits, is less. */
#define SPFE_REMOTE_KEYS_MAX 128U
/*
 * Longest piece one entry may describe (1 GiB). Longer packets are sent as pieces with end marker
 * NONE.
 */
#define SPFE_PACKET_MAX_BYTES 1073741824U
/* Longest packet whose bytes a wide completion holds. */
#define SPFE_BESIDE_BYTES 40U
/* Records of a packed receive area start at multiples of this many bytes. */
#define SPFE_PACKED_ALIGN 8U
/* Size of the header in front of each record of a packed receive area. */
#define SPFE_PACKED_HEADER_BYTES 8U
/* Smallest packed receive area; larger areas are multiples of 8 bytes up to 1 GiB. */
#define SPFE_PACKED_AREA_MIN_BYTES 4096U
/* Maximum virtual channels of a SpaceFibre port (ECSS-E-ST-50-11C: VC 0 to 31). */
#define SPFE_VC_MAX 32U
/*
 * Maximum virtual channels of a fabric port: VC 0 to 254, because 255 stands for message contexts.
 */
#define SPFE_FABRIC_VC_MAX 255U
/*
 * Bytes of a value in the mib block. The value of item N is at N times this offset in its element.
 */
#define SPFE_MIB_VALUE_BYTES 8U
/*
 * Bytes of a value in the pair block. The value of pair_counter N is at N times this offset in its
 * element.
 */
#define SPFE_PAIR_VALUE_BYTES 8U
/* Bytes from one client's doorbell page to the next; 65536 where CAP_DOORBELL_64K is set. */
#define SPFE_DOORBELL_STRIDE 4096U
/* log2 of the smallest page size of a page list in bytes: 4 KiB. */
#define SPFE_PAGE_LOG2_MIN 12U
/* log2 of the largest page size of a page list in bytes: 1 GiB. */
#define SPFE_PAGE_LOG2_MAX 30U
/* Addresses in a table of a page list with levels: a table is 4 KiB, aligned to 4 KiB. */
#define SPFE_PAGE_TABLE_ENTRIES 512U
/* Most levels of a page list: 512 GiB in pages of 4 KiB. */
#define SPFE_PAGE_LEVELS_MAX 3U
/*
 * Byte offset in doorbell page 0 of the 32-bit counts seen, 4 bytes for each event vector
 * (capability LEVEL).
 */
#define SPFE_SEEN_OFFSET 2048U
/* Most event vectors that a device with the capability LEVEL has. */
#define SPFE_SEEN_VECTORS 512U
/* Most nodes of a PCIe fabric; node numbers are 1 to 64. */
#define SPFE_FABRIC_NODES_MAX 64U
/* Doorbells from one node of a fabric to another. */
#define SPFE_PEER_DOORBELLS 16U
/* Scratchpads from one node of a fabric to another, 32 bits each. */
#define SPFE_PEER_SCRATCHPADS 16U
/*
 * PCI vendor ID and subsystem vendor ID of a virtual PCI Express device: that of Red Hat. Hardware
 * has the IDs of its maker.
 */
#define SPFE_PCI_VENDOR 6900U
/*
 * PCI device ID and subsystem ID of a virtual PCI Express device, from the range for experiments,
 * 0x10f0 to 0x10ff, which is assigned to nobody.
 */
#define SPFE_PCI_DEVICE 4341U
/* PCI class code: other network controller. */
#define SPFE_PCI_CLASS 163840U

/* Type of a submission entry (bits 3:0 of its flags). */
enum spfe_entry_type {
	/* Never valid; an all-zero entry is an error, not a transfer. */
	SPFE_ENTRY_TYPE_INVALID = 0x00,
	/* Transmit: send the bytes at an address. */
	SPFE_ENTRY_TYPE_DATA = 0x01,
	/* Transmit: send up to 11 bytes from the entry itself. */
	SPFE_ENTRY_TYPE_INLINE = 0x02,
	/*
	 * Transmit: send several packets of one length at a fixed stride. A BURST_EXT entry
	 * follows.
	 */
	SPFE_ENTRY_TYPE_BURST = 0x03,
	/* Second entry of a burst. */
	SPFE_ENTRY_TYPE_BURST_EXT = 0x04,
	/* Receive: one buffer to fill. */
	SPFE_ENTRY_TYPE_BUFFER = 0x05,
	/* Packed and message receive: return bytes and completion credits to the device. */
	SPFE_ENTRY_TYPE_RELEASE = 0x06,
	/* Transmit: send one message: message_kind. */
	SPFE_ENTRY_TYPE_MESSAGE = 0x07,
	/* First slot of a work request: remote address and key. Its flags are work_flags. */
	SPFE_ENTRY_TYPE_RDMA = 0x08,
	/* Operand of a work request: immediate data, or an operand of an atomic operation. */
	SPFE_ENTRY_TYPE_OPERAND = 0x09,
};

/* End of a packet or of a piece of it (ECSS-E-ST-50-11C 5.3.7). */
enum spfe_end_marker {
	/* End of packet. */
	SPFE_END_MARKER_EOP = 0x00,
	/* Error end of packet: an error cut the packet. */
	SPFE_END_MARKER_EEP = 0x01,
	/* No end marker: the packet continues in the next entry, buffer or record. */
	SPFE_END_MARKER_NONE = 0x02,
};

/* Kind of a queue context. */
enum spfe_queue_kind {
	/* Unused context. */
	SPFE_QUEUE_KIND_NONE = 0x00,
	/* Transmits packets on one virtual channel. */
	SPFE_QUEUE_KIND_TX = 0x01,
	/* Receives packets of one virtual channel into posted buffers. */
	SPFE_QUEUE_KIND_RX = 0x02,
	/* Receives packets of one virtual channel, back to back in one area. */
	SPFE_QUEUE_KIND_RX_PACKED = 0x03,
	/* Transmits broadcast messages or time-codes. */
	SPFE_QUEUE_KIND_MESSAGE_TX = 0x04,
	/* Receives broadcast messages or time-codes. */
	SPFE_QUEUE_KIND_MESSAGE_RX = 0x05,
	/*
	 * Work requests of a queue pair, in a transmit context of a virtual channel (capability
	 * RDMA).
	 */
	SPFE_QUEUE_KIND_RDMA = 0x06,
	/*
	 * Buffers for the messages to a queue pair, in a receive context of a virtual channel
	 * (capability RDMA).
	 */
	SPFE_QUEUE_KIND_RDMA_RX = 0x07,
};

/* What a work request does (OPCODE of work_flags). */
enum spfe_work_opcode {
	/* Write the local elements to remote memory. */
	SPFE_WORK_OPCODE_WRITE = 0x01,
	/* Read remote memory into the local elements. */
	SPFE_WORK_OPCODE_READ = 0x02,
	/* Send the local elements as a message. */
	SPFE_WORK_OPCODE_SEND = 0x03,
	/* Add the operand to 8 bytes of remote memory. The local element gets the old value. */
	SPFE_WORK_OPCODE_FETCH_ADD = 0x04,
	/*
	 * Exchange 8 bytes of remote memory for the second operand if they are equal to the first.
	 * The local element gets the old value.
	 */
	SPFE_WORK_OPCODE_CMP_SWAP = 0x05,
	/* Complete when all earlier writes are in remote memory. */
	SPFE_WORK_OPCODE_FLUSH = 0x06,
	/* Ask the target what it can do; 32 bytes. */
	SPFE_WORK_OPCODE_INFO = 0x07,
	/* Ask the target for its regions; 24 bytes each. */
	SPFE_WORK_OPCODE_REGIONS = 0x08,
	/* WRITE, and the operand as immediate data for a receive buffer of the target. */
	SPFE_WORK_OPCODE_WRITE_IMM = 0x09,
	/* SEND with the operand as immediate data. */
	SPFE_WORK_OPCODE_SEND_IMM = 0x0b,
	/*
	 * Let others use the local element under the remote key of this entry, as the operand says
	 * (capability REMOTE_KEYS).
	 */
	SPFE_WORK_OPCODE_BIND = 0x0c,
	/* Take the remote key of this entry back (capability REMOTE_KEYS). */
	SPFE_WORK_OPCODE_UNBIND = 0x0d,
};

/* State of a queue pair. */
enum spfe_queue_pair_state {
	/* Not connected. The first work request connects it. */
	SPFE_QUEUE_PAIR_STATE_RESET = 0x00,
	/* Waits for the answer to CONNECT. */
	SPFE_QUEUE_PAIR_STATE_CONNECTING = 0x01,
	/* Work requests are executed (RTS in verbs). */
	SPFE_QUEUE_PAIR_STATE_READY = 0x02,
	/*
	 * A work request has failed, and the following ones complete with FLUSHED. Disable the
	 * queue and enable it again.
	 */
	SPFE_QUEUE_PAIR_STATE_ERROR = 0x03,
};

/* What a queue pair waits for. */
enum spfe_queue_pair_wait {
	/* Nothing is outstanding. */
	SPFE_QUEUE_PAIR_WAIT_NOTHING = 0x00,
	/* The virtual channel. */
	SPFE_QUEUE_PAIR_WAIT_TRANSMIT = 0x01,
	/* The answer to CONNECT. */
	SPFE_QUEUE_PAIR_WAIT_CONNECT = 0x02,
	/* The answer to a message. */
	SPFE_QUEUE_PAIR_WAIT_ANSWER = 0x03,
	/* An acknowledgement: as many messages are outstanding as the window allows. */
	SPFE_QUEUE_PAIR_WAIT_WINDOW = 0x04,
	/* Reads and atomic operations before a fence. */
	SPFE_QUEUE_PAIR_WAIT_FENCE = 0x05,
	/* A result: as many reads and atomic operations are outstanding as the target allows. */
	SPFE_QUEUE_PAIR_WAIT_READS = 0x06,
	/* A receive buffer of the partner. */
	SPFE_QUEUE_PAIR_WAIT_CREDIT = 0x07,
	/* A time: the receiver was not ready or busy. */
	SPFE_QUEUE_PAIR_WAIT_RECEIVER = 0x08,
};

/*
 * Counter of a queue pair, in its element of the pair block. Those with TARGET count the packets of
 * its partner and of others, the rest its own work requests. Their names are those that people see.
 * Numbers are at most 62 and never reused.
 */
enum spfe_pair_counter {
	/* Work requests completed. */
	SPFE_PAIR_COUNTER_COMPLETED = 0x00,
	/* Work requests failed. Each ends the queue pair. */
	SPFE_PAIR_COUNTER_FAILED = 0x01,
	/* Work requests completed with FLUSHED. */
	SPFE_PAIR_COUNTER_FLUSHED = 0x02,
	/* Packets of work requests sent. */
	SPFE_PAIR_COUNTER_PACKETS = 0x03,
	/* Payload bytes sent. */
	SPFE_PAIR_COUNTER_BYTES = 0x04,
	/* Packets sent again. */
	SPFE_PAIR_COUNTER_RESENT = 0x05,
	/* Messages repeated because no answer came in time. */
	SPFE_PAIR_COUNTER_TIMEOUTS = 0x06,
	/* Refusals after which a message was repeated. */
	SPFE_PAIR_COUNTER_REFUSALS = 0x07,
	/* Answers to nothing that is outstanding. */
	SPFE_PAIR_COUNTER_STALE = 0x08,
	/* Packets that are no intact answer. */
	SPFE_PAIR_COUNTER_INVALID = 0x09,
	/* Messages tried without credit because no announcement of buffers came. */
	SPFE_PAIR_COUNTER_PROBES = 0x0a,
	/* Completed work requests that needed no packets. */
	SPFE_PAIR_COUNTER_NEAR = 0x0b,
	/* Packets of WRITE executed. */
	SPFE_PAIR_COUNTER_TARGET_WRITES = 0x0c,
	/* READ executed. */
	SPFE_PAIR_COUNTER_TARGET_READS = 0x0d,
	/* Packets of SEND executed. */
	SPFE_PAIR_COUNTER_TARGET_SENDS = 0x0e,
	/* FETCH_ADD executed. */
	SPFE_PAIR_COUNTER_TARGET_FETCH_ADDS = 0x0f,
	/* CMP_SWAP executed. */
	SPFE_PAIR_COUNTER_TARGET_COMPARE_SWAPS = 0x10,
	/* FLUSH executed. */
	SPFE_PAIR_COUNTER_TARGET_FLUSHES = 0x11,
	/* INFO executed. */
	SPFE_PAIR_COUNTER_TARGET_INFOS = 0x12,
	/* REGIONS executed. */
	SPFE_PAIR_COUNTER_TARGET_REGION_LISTS = 0x13,
	/* Announcements of buffers executed. */
	SPFE_PAIR_COUNTER_TARGET_CREDITS = 0x14,
	/* CONNECT executed. */
	SPFE_PAIR_COUNTER_TARGET_CONNECTS = 0x15,
	/* DISCONNECT executed. */
	SPFE_PAIR_COUNTER_TARGET_DISCONNECTS = 0x16,
	/* Refused: version of the protocol. */
	SPFE_PAIR_COUNTER_TARGET_BAD_VERSION = 0x17,
	/* Refused: opcode. */
	SPFE_PAIR_COUNTER_TARGET_BAD_OPCODE = 0x18,
	/* Refused: no memory has the remote key. */
	SPFE_PAIR_COUNTER_TARGET_BAD_KEY = 0x19,
	/* Refused: outside the memory of the remote key. */
	SPFE_PAIR_COUNTER_TARGET_BOUNDS = 0x1a,
	/* Refused: right or initiator. */
	SPFE_PAIR_COUNTER_TARGET_ACCESS = 0x1b,
	/* Refused: length or alignment does not fit the opcode. */
	SPFE_PAIR_COUNTER_TARGET_BAD_LENGTH = 0x1c,
	/* Refused: no receive buffer. */
	SPFE_PAIR_COUNTER_TARGET_RECEIVER_NOT_READY = 0x1d,
	/* Refused: the message is longer than the receive buffer. */
	SPFE_PAIR_COUNTER_TARGET_MESSAGE_TOO_LONG = 0x1e,
	/* Refused: wrong CRC of the payload. */
	SPFE_PAIR_COUNTER_TARGET_PAYLOAD_CRC = 0x1f,
	/* Refused: the packet ended before its payload did. */
	SPFE_PAIR_COUNTER_TARGET_SHORT = 0x20,
	/* Refused: bytes after the payload. */
	SPFE_PAIR_COUNTER_TARGET_LONG = 0x21,
	/* Refused: the packet ended with EEP. */
	SPFE_PAIR_COUNTER_TARGET_EEP = 0x22,
	/* Refused: the memory failed. */
	SPFE_PAIR_COUNTER_TARGET_MEMORY = 0x23,
	/* Refused: too many reads and atomic operations wait. */
	SPFE_PAIR_COUNTER_TARGET_BUSY = 0x24,
	/* Refused: no such queue pair, or not connected to the sender. */
	SPFE_PAIR_COUNTER_TARGET_BAD_QUEUE = 0x25,
	/* Refused: a message before this one is missing. */
	SPFE_PAIR_COUNTER_TARGET_SEQUENCE = 0x26,
	/* Refused: the remote key was taken back during the message. */
	SPFE_PAIR_COUNTER_TARGET_REVOKED = 0x27,
	/* Refused: anything else. */
	SPFE_PAIR_COUNTER_TARGET_GENERAL = 0x28,
	/* Packets of messages that had been executed before. */
	SPFE_PAIR_COUNTER_TARGET_REPEATED = 0x29,
	/* Discarded: another protocol. */
	SPFE_PAIR_COUNTER_TARGET_OTHER_PROTOCOL = 0x2a,
	/* Discarded: the packet ended in its header. */
	SPFE_PAIR_COUNTER_TARGET_SHORT_HEADER = 0x2b,
	/* Discarded: a length of the header that is not allowed. */
	SPFE_PAIR_COUNTER_TARGET_HEADER_LENGTH = 0x2c,
	/* Discarded: wrong CRC of the header. */
	SPFE_PAIR_COUNTER_TARGET_HEADER_CRC = 0x2d,
	/* Discarded: the header contradicts itself. */
	SPFE_PAIR_COUNTER_TARGET_HEADER_LAYOUT = 0x2e,
	/* Discarded: for another logical address. */
	SPFE_PAIR_COUNTER_TARGET_NOT_OURS = 0x2f,
	/* Discarded: after a refusal or a gap that was reported. */
	SPFE_PAIR_COUNTER_TARGET_DRAINED = 0x30,
	/* Discarded: a repeated atomic operation whose result is no longer kept. */
	SPFE_PAIR_COUNTER_TARGET_FORGOTTEN = 0x31,
	/* Notifications lost because nobody read them in time. */
	SPFE_PAIR_COUNTER_TARGET_NOTIFICATIONS_DROPPED = 0x32,
};

/* Protocol of a port. */
enum spfe_port_kind {
	/* No port. */
	SPFE_PORT_KIND_NONE = 0x00,
	/* SpaceFibre port: virtual channels and broadcast messages. */
	SPFE_PORT_KIND_SPACEFIBRE = 0x01,
	/* SpaceWire port: one channel and time-codes. */
	SPFE_PORT_KIND_SPACEWIRE = 0x02,
	/*
	 * Node of a PCIe fabric: virtual channels to every other node, doorbells and scratchpads
	 * (capability FABRIC).
	 */
	SPFE_PORT_KIND_FABRIC = 0x03,
};

/* State of a link for software. The port's MIB has the states of lanes and link in detail. */
enum spfe_port_state {
	/* Not connected or disabled. */
	SPFE_PORT_STATE_DOWN = 0x00,
	/* Initialising. */
	SPFE_PORT_STATE_STARTING = 0x01,
	/* Packets can pass. */
	SPFE_PORT_STATE_UP = 0x02,
};

/* State of a node of a fabric, as another node sees it. */
enum spfe_node_state {
	/* The node has not started its port, or there is no such node. */
	SPFE_NODE_STATE_ABSENT = 0x00,
	/* No path leads to the node. */
	SPFE_NODE_STATE_NO_LINK = 0x01,
	/* The node has started its port; this one has not. */
	SPFE_NODE_STATE_LINK = 0x02,
	/* Packets, accesses and doorbells go both ways. */
	SPFE_NODE_STATE_READY = 0x03,
	/* The node broke a rule of the fabric. It must start again. */
	SPFE_NODE_STATE_ERROR = 0x04,
};

/* State of a queue context. */
enum spfe_queue_state {
	/* Not configured, or disabled. The rings belong to the host. */
	SPFE_QUEUE_STATE_DISABLED = 0x00,
	/* The queue works. */
	SPFE_QUEUE_STATE_ENABLED = 0x01,
	/* The device could not read the rings. Destroy the queue and create it again. */
	SPFE_QUEUE_STATE_ERROR = 0x02,
};

/* Content of a message entry. */
enum spfe_message_kind {
	/* SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5); BAD_OPCODE on other ports. */
	SPFE_MESSAGE_KIND_BROADCAST = 0x01,
	/* SpaceWire time-code (ECSS-E-ST-50-12C); BAD_OPCODE on other ports. */
	SPFE_MESSAGE_KIND_TIME_CODE = 0x02,
	/*
	 * SpaceWire distributed interrupt (ECSS-E-ST-50-12C 5.6.4, capability INTERRUPTS);
	 * BAD_OPCODE on other ports.
	 */
	SPFE_MESSAGE_KIND_INTERRUPT = 0x03,
};

/*
 * Type of a register block. The list of blocks starts at offset 0; the next field of the header
 * links it.
 */
enum spfe_block_type {
	/* No block. */
	SPFE_BLOCK_TYPE_END = 0x00,
	/* Identity, capabilities, configuration latch, reset. */
	SPFE_BLOCK_TYPE_GLOBAL = 0x01,
	/* A port; one block per port. */
	SPFE_BLOCK_TYPE_PORT = 0x02,
	/* Queue contexts, an array. */
	SPFE_BLOCK_TYPE_QUEUE = 0x03,
	/* Memory-region table, an array. */
	SPFE_BLOCK_TYPE_REGION = 0x04,
	/* Event vectors, an array. */
	SPFE_BLOCK_TYPE_EVENT = 0x05,
	/* Broadcast configuration of one SpaceFibre port. */
	SPFE_BLOCK_TYPE_BROADCAST = 0x06,
	/* Time-code configuration of one SpaceWire port. */
	SPFE_BLOCK_TYPE_TIME_CODE = 0x07,
	/* Counters of one queue context, an array. */
	SPFE_BLOCK_TYPE_STATISTICS = 0x08,
	/* Management information base of one port, an array. */
	SPFE_BLOCK_TYPE_MIB = 0x09,
	/* The node behind one fabric port. */
	SPFE_BLOCK_TYPE_FABRIC = 0x0a,
	/* Nodes that one fabric port sees, an array. */
	SPFE_BLOCK_TYPE_PEER = 0x0b,
	/* Target of RDMA that serves memory without queues. */
	SPFE_BLOCK_TYPE_TARGET = 0x0c,
	/* Counters of the queue pairs of one port, an array. */
	SPFE_BLOCK_TYPE_PAIR = 0x0d,
};

/* Reason for ringing a doorbell (KIND in the store to a doorbell page). */
enum spfe_doorbell_kind {
	/* The host posted submissions. */
	SPFE_DOORBELL_KIND_SUBMIT = 0x00,
	/* The host armed a completion ring. */
	SPFE_DOORBELL_KIND_ARM = 0x01,
	/* The host wrote a new command to the configuration latch. */
	SPFE_DOORBELL_KIND_LATCH = 0x02,
	/*
	 * Ring doorbell NUMBER of the node to which QUEUE leads, after publishing the scratchpads
	 * (capability FABRIC). Page 0 only.
	 */
	SPFE_DOORBELL_KIND_PEER = 0x03,
};

/*
 * Command of the configuration latch in the global block. The device carries it out when CFG_SEQ
 * changes.
 */
enum spfe_command {
	/* Acknowledge only. */
	SPFE_COMMAND_NOP = 0x00,
	/* Read the queue context CFG_INDEX and start the queue. */
	SPFE_COMMAND_QUEUE_ENABLE = 0x01,
	/*
	 * Stop the queue CFG_INDEX. After the acknowledgement the device no longer accesses its
	 * rings and buffers.
	 */
	SPFE_COMMAND_QUEUE_DISABLE = 0x02,
	/* Read the region entry CFG_INDEX and make the region usable. */
	SPFE_COMMAND_REGION_ENABLE = 0x03,
	/* Revoke the region CFG_INDEX. After the acknowledgement no access is in flight. */
	SPFE_COMMAND_REGION_DISABLE = 0x04,
	/* Apply the configuration of the port CFG_INDEX. */
	SPFE_COMMAND_PORT_CONFIGURE = 0x05,
	/* Stop every queue and revoke every region. */
	SPFE_COMMAND_RESET = 0x06,
	/*
	 * Set item MIB_ITEM in element MIB_ELEMENT of the port CFG_INDEX to MIB_VALUE (capability
	 * MIB).
	 */
	SPFE_COMMAND_MIB_SET = 0x07,
	/*
	 * Let others use the memory that the target block describes, as its entry CFG_INDEX
	 * (capability TARGET).
	 */
	SPFE_COMMAND_TARGET_SET = 0x08,
	/*
	 * Take the entry CFG_INDEX back. After the acknowledgement no access to its memory is in
	 * flight (capability TARGET).
	 */
	SPFE_COMMAND_TARGET_CLEAR = 0x09,
	/* The host has read the oldest notification; show the next one (capability TARGET). */
	SPFE_COMMAND_TARGET_TAKE = 0x0a,
};

/* Result of a submission. The class says where the cause lies. */
enum spfe_status {
	/* Done. */
	SPFE_STATUS_OK = 0x00,
	/* Cancelled by its owner before it started. */
	SPFE_STATUS_CANCELLED = 0x10,
	/* The device was reset while the submission was pending. */
	SPFE_STATUS_DEVICE_RESET = 0x11,
	/* The device or its daemon is gone. */
	SPFE_STATUS_DEVICE_GONE = 0x12,
	/* The device has no free queue, region or memory for it. */
	SPFE_STATUS_NO_RESOURCES = 0x13,
	/* Another owner holds the object. */
	SPFE_STATUS_BUSY = 0x14,
	/*
	 * The client has its share of queues, regions, events or memory. The device may have room
	 * for others.
	 */
	SPFE_STATUS_QUOTA_EXCEEDED = 0x15,
	/* An earlier work request of the queue pair failed, so this one was not completed. */
	SPFE_STATUS_FLUSHED = 0x16,
	/* The far end went away with the packet unfinished. */
	SPFE_STATUS_PEER_GONE = 0x20,
	/* The target refuses the work request: version, opcode, length or queue pair. */
	SPFE_STATUS_REMOTE_REQUEST = 0x21,
	/* The target refuses the access: key, bounds, right or initiator. */
	SPFE_STATUS_REMOTE_ACCESS = 0x22,
	/* The memory of the target failed. */
	SPFE_STATUS_REMOTE_MEMORY = 0x23,
	/*
	 * A packet was damaged however often it was repeated, or the answer does not fit the
	 * request.
	 */
	SPFE_STATUS_REMOTE_DATA = 0x24,
	/* The target did not answer, however often the message was repeated. */
	SPFE_STATUS_NO_ANSWER = 0x25,
	/* The target had no receive buffer or was busy, however often it was asked. */
	SPFE_STATUS_NOT_READY = 0x26,
	/* The link went down and the submission was not delivered. */
	SPFE_STATUS_LINK_DOWN = 0x30,
	/* The packet ended with EEP. */
	SPFE_STATUS_PACKET_CUT = 0x31,
	/* The entry type, message kind or command is unknown or not allowed here. */
	SPFE_STATUS_BAD_OPCODE = 0x40,
	/* The region was never registered, was revoked, or belongs to another client. */
	SPFE_STATUS_BAD_REGION = 0x41,
	/* Offset plus length goes past the end of the region. */
	SPFE_STATUS_OUT_OF_BOUNDS = 0x42,
	/* The region does not allow this kind of access. */
	SPFE_STATUS_ACCESS_DENIED = 0x43,
	/* A packet or buffer of zero bytes. */
	SPFE_STATUS_EMPTY = 0x44,
	/* Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more. */
	SPFE_STATUS_TOO_LONG = 0x45,
	/* More than CHAIN_MAX entries before the end of the packet. */
	SPFE_STATUS_CHAIN_TOO_LONG = 0x46,
	/* The port has no such virtual channel. */
	SPFE_STATUS_BAD_VC = 0x47,
	/* A field that must be zero is not, or a value is out of its range. */
	SPFE_STATUS_BAD_FIELD = 0x48,
	/* Ring address, size or alignment is not acceptable. */
	SPFE_STATUS_BAD_RING = 0x49,
	/* Host and device speak different major versions of this contract. */
	SPFE_STATUS_BAD_VERSION = 0x4a,
	/* No such endpoint, port, queue, region index or event vector. */
	SPFE_STATUS_NOT_FOUND = 0x4b,
};

/* Every status: X(name, number, class, errno, text). */
#define SPFE_STATUS_TABLE(X) \
	X(OK, 0x00, OK, 0, "Done.") \
	X(CANCELLED, 0x10, LOCAL, ECANCELED, "Cancelled by its owner before it started.") \
	X(DEVICE_RESET, 0x11, LOCAL, ESHUTDOWN, "The device was reset while the submission was pending.") \
	X(DEVICE_GONE, 0x12, LOCAL, ENODEV, "The device or its daemon is gone.") \
	X(NO_RESOURCES, 0x13, LOCAL, ENOMEM, "The device has no free queue, region or memory for it.") \
	X(BUSY, 0x14, LOCAL, EBUSY, "Another owner holds the object.") \
	X(QUOTA_EXCEEDED, 0x15, LOCAL, EDQUOT, "The client has its share of queues, regions, events or memory. The device may have room for others.") \
	X(FLUSHED, 0x16, LOCAL, ECONNRESET, "An earlier work request of the queue pair failed, so this one was not completed.") \
	X(PEER_GONE, 0x20, REMOTE, EPIPE, "The far end went away with the packet unfinished.") \
	X(REMOTE_REQUEST, 0x21, REMOTE, EPROTO, "The target refuses the work request: version, opcode, length or queue pair.") \
	X(REMOTE_ACCESS, 0x22, REMOTE, EACCES, "The target refuses the access: key, bounds, right or initiator.") \
	X(REMOTE_MEMORY, 0x23, REMOTE, EFAULT, "The memory of the target failed.") \
	X(REMOTE_DATA, 0x24, REMOTE, EBADMSG, "A packet was damaged however often it was repeated, or the answer does not fit the request.") \
	X(NO_ANSWER, 0x25, REMOTE, ETIMEDOUT, "The target did not answer, however often the message was repeated.") \
	X(NOT_READY, 0x26, REMOTE, EAGAIN, "The target had no receive buffer or was busy, however often it was asked.") \
	X(LINK_DOWN, 0x30, LINK, ENETDOWN, "The link went down and the submission was not delivered.") \
	X(PACKET_CUT, 0x31, LINK, EIO, "The packet ended with EEP.") \
	X(BAD_OPCODE, 0x40, USAGE, EOPNOTSUPP, "The entry type, message kind or command is unknown or not allowed here.") \
	X(BAD_REGION, 0x41, USAGE, EACCES, "The region was never registered, was revoked, or belongs to another client.") \
	X(OUT_OF_BOUNDS, 0x42, USAGE, EFAULT, "Offset plus length goes past the end of the region.") \
	X(ACCESS_DENIED, 0x43, USAGE, EPERM, "The region does not allow this kind of access.") \
	X(EMPTY, 0x44, USAGE, EINVAL, "A packet or buffer of zero bytes.") \
	X(TOO_LONG, 0x45, USAGE, EMSGSIZE, "Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.") \
	X(CHAIN_TOO_LONG, 0x46, USAGE, E2BIG, "More than CHAIN_MAX entries before the end of the packet.") \
	X(BAD_VC, 0x47, USAGE, ENXIO, "The port has no such virtual channel.") \
	X(BAD_FIELD, 0x48, USAGE, EINVAL, "A field that must be zero is not, or a value is out of its range.") \
	X(BAD_RING, 0x49, USAGE, EINVAL, "Ring address, size or alignment is not acceptable.") \
	X(BAD_VERSION, 0x4a, USAGE, EPROTONOSUPPORT, "Host and device speak different major versions of this contract.") \
	X(NOT_FOUND, 0x4b, USAGE, ENOENT, "No such endpoint, port, queue, region index or event vector.")

/* Layer of an item of the management information base (ECSS-E-ST-50-11C 5.9). */
enum spfe_mib_layer {
	/* Network layer, 5.8. */
	SPFE_MIB_LAYER_NETWORK = 0x00,
	/* Data link layer, 5.7. */
	SPFE_MIB_LAYER_DATA_LINK = 0x01,
	/* Multi-lane layer, 5.6. */
	SPFE_MIB_LAYER_MULTI_LANE = 0x02,
	/* Lane layer, 5.5. */
	SPFE_MIB_LAYER_LANE = 0x03,
	/* Physical layer, 5.4. */
	SPFE_MIB_LAYER_PHYSICAL = 0x04,
};

/* Kind of an item of the management information base. */
enum spfe_mib_kind {
	/* A parameter, from table 5-36. */
	SPFE_MIB_KIND_PARAMETER = 0x00,
	/* A status value, from table 5-37. */
	SPFE_MIB_KIND_STATUS = 0x01,
	/*
	 * An error, from table 5-37. It stays set until LINK_RESET or INTERFACE_RESET resets the
	 * link.
	 */
	SPFE_MIB_KIND_ERROR = 0x02,
};

/* Access to an item of the management information base. */
enum spfe_mib_access {
	/* Read-only. */
	SPFE_MIB_ACCESS_RO = 0x00,
	/* Readable, and settable with MIB_SET. */
	SPFE_MIB_ACCESS_RW = 0x01,
	/* Setting it to 1 starts an action; it reads as 0. */
	SPFE_MIB_ACCESS_COMMAND = 0x02,
};

/* Scope of an item: whether it exists once, per lane, or per virtual channel. */
enum spfe_mib_scope {
	/* Once per link, in element 0. */
	SPFE_MIB_SCOPE_LINK = 0x00,
	/* Once per lane; element L belongs to lane L. */
	SPFE_MIB_SCOPE_LANE = 0x01,
	/* Once per virtual channel; element V belongs to virtual channel V. */
	SPFE_MIB_SCOPE_VC = 0x02,
};

/* Item of the management information base of a port (ECSS-E-ST-50-11C tables 5-36 and 5-37). */
enum spfe_mib_item {
	/* Virtual Network Number: Virtual network of a virtual channel; fixed to 0 on channel 0. */
	SPFE_MIB_ITEM_VIRTUAL_NETWORK = 0x00,
	/* Broadcast Channel: Channel on which a node sends broadcast messages. */
	SPFE_MIB_ITEM_BROADCAST_CHANNEL = 0x01,
	/* Interface Reset: Resets the link, and sets the parameters to their power-on values. */
	SPFE_MIB_ITEM_INTERFACE_RESET = 0x02,
	/* Link Reset: Resets both ends of the link. */
	SPFE_MIB_ITEM_LINK_RESET = 0x03,
	/* Data Scrambled: 1: data frames are scrambled. Takes effect at the next link reset. */
	SPFE_MIB_ITEM_DATA_SCRAMBLED = 0x04,
	/* Expected Broadcast Bandwidth: Share of the link's bandwidth for broadcast messages. */
	SPFE_MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH = 0x05,
	/* Priority: Priority of the virtual channel; 0 is the highest. */
	SPFE_MIB_ITEM_PRIORITY = 0x06,
	/*
	 * Expected Bandwidth: Share of the link's bandwidth; 65535 is the whole link, 0 stops the
	 * channel.
	 */
	SPFE_MIB_ITEM_EXPECTED_BANDWIDTH = 0x07,
	/* Time-slots: Bit T: the channel may send in time-slot T. */
	SPFE_MIB_ITEM_TIME_SLOTS = 0x08,
	/* Continuous Mode: 1: writes to the channel never wait for room. */
	SPFE_MIB_ITEM_CONTINUOUS_MODE = 0x09,
	/* Idle Time Limit: Full bandwidth credit for longer than this counts as under-use. */
	SPFE_MIB_ITEM_IDLE_TIME_LIMIT = 0x0a,
	/* Bandwidth Credit Limit: Maximum bandwidth credit; fixed when the link is created. */
	SPFE_MIB_ITEM_BANDWIDTH_CREDIT_LIMIT = 0x0b,
	/*
	 * Minimum Bandwidth Credit Threshold: In tenths of the credit limit, below zero; fixed when
	 * the link is created.
	 */
	SPFE_MIB_ITEM_MINIMUM_BANDWIDTH_CREDIT_THRESHOLD = 0x0c,
	/* FCT Multiplier: Words that an FCT grants; fixed when the link is created. */
	SPFE_MIB_ITEM_FCT_MULTIPLIER = 0x0d,
	/* Segment Multiplier: Maximum length of a data frame; fixed when the link is created. */
	SPFE_MIB_ITEM_SEGMENT_MULTIPLIER = 0x0e,
	/* TxEn: 1: the transmitter of the lane is enabled. */
	SPFE_MIB_ITEM_TX_EN = 0x0f,
	/* RxEn: 1: the receiver of the lane is enabled. */
	SPFE_MIB_ITEM_RX_EN = 0x10,
	/*
	 * Maximum Number of Data-Sending Lanes: No more than the number of lanes. Takes effect at a
	 * link reset, and while no lane is active.
	 */
	SPFE_MIB_ITEM_MAX_DATA_SENDING_LANES = 0x11,
	/*
	 * Bypass: 1: the link is a plain single lane on lane 0, by configuration or because the far
	 * end needs it.
	 */
	SPFE_MIB_ITEM_BYPASS = 0x12,
	/* LaneStart: 1: start the lane, and keep trying. */
	SPFE_MIB_ITEM_LANE_START = 0x13,
	/* AutoStart: 1: start the lane when the far end starts. */
	SPFE_MIB_ITEM_AUTO_START = 0x14,
	/* LaneReset: 1: hold the lane in ClearLine. */
	SPFE_MIB_ITEM_LANE_RESET = 0x15,
	/* Near-End Parallel Loopback: 1: the lane receives its own words. */
	SPFE_MIB_ITEM_NEAR_END_PARALLEL_LOOPBACK = 0x16,
	/* Far-End Parallel Loopback: 1: the lane sends back the words it receives. */
	SPFE_MIB_ITEM_FAR_END_PARALLEL_LOOPBACK = 0x17,
	/* Standby Reason: Reason that the lane sends in STANDBY. */
	SPFE_MIB_ITEM_STANDBY_REASON = 0x18,
	/* Near-End Serial Loopback: 1: the lane receives its own bits. */
	SPFE_MIB_ITEM_NEAR_END_SERIAL_LOOPBACK = 0x19,
	/* Far-End Serial Loopback: 1: the lane sends back the bits it receives. */
	SPFE_MIB_ITEM_FAR_END_SERIAL_LOOPBACK = 0x1a,
	/* Has Credit: 1: the channel has FCT credit. */
	SPFE_MIB_ITEM_HAS_CREDIT = 0x1b,
	/* Input Buffer Overflow: A frame did not fit the input buffer. This resets the link. */
	SPFE_MIB_ITEM_INPUT_BUFFER_OVERFLOW = 0x1c,
	/* FCT Credit Overflow: FCTs took the credit above its limit. */
	SPFE_MIB_ITEM_FCT_CREDIT_OVERFLOW = 0x1d,
	/* Bandwidth Over-use: The channel sent far more than its expected bandwidth. */
	SPFE_MIB_ITEM_BANDWIDTH_OVER_USE = 0x1e,
	/*
	 * Bandwidth Under-use: The channel had full bandwidth credit for longer than the idle time
	 * limit.
	 */
	SPFE_MIB_ITEM_BANDWIDTH_UNDER_USE = 0x1f,
	/* CRC-16 Error: A data frame had a wrong CRC-16. */
	SPFE_MIB_ITEM_CRC16_ERROR = 0x20,
	/* CRC-8 Error: A broadcast frame or a single word had a wrong CRC-8. */
	SPFE_MIB_ITEM_CRC8_ERROR = 0x21,
	/* Frame Error: A word came where the standard does not allow it. */
	SPFE_MIB_ITEM_FRAME_ERROR = 0x22,
	/* Sequence Error: A sequence number was not the expected one. */
	SPFE_MIB_ITEM_SEQUENCE_ERROR = 0x23,
	/* Error Recovery Buffer Empty: 1: everything sent is acknowledged. */
	SPFE_MIB_ITEM_ERROR_RECOVERY_BUFFER_EMPTY = 0x24,
	/* Error Recovery Attempts: Number of valid NACKs received. */
	SPFE_MIB_ITEM_ERROR_RECOVERY_ATTEMPTS = 0x25,
	/* Link Reset Caused by Protocol Error: An ACK or NACK matched no outstanding item. */
	SPFE_MIB_ITEM_PROTOCOL_ERROR = 0x26,
	/* Far-End Link Reset: The far end asked for a link reset. */
	SPFE_MIB_ITEM_FAR_END_LINK_RESET = 0x27,
	/* Current Time-slot: Time-slot of the last SCHEDULE.request; 0 before the first. */
	SPFE_MIB_ITEM_CURRENT_TIME_SLOT = 0x28,
	/* Data-Sending Lanes: Bit L: lane L carries rows. */
	SPFE_MIB_ITEM_DATA_SENDING_LANES = 0x29,
	/* Data-Receiving Lanes: Bit L: lane L delivers rows. */
	SPFE_MIB_ITEM_DATA_RECEIVING_LANES = 0x2a,
	/* Alignment State: 0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready. */
	SPFE_MIB_ITEM_ALIGNMENT_STATE = 0x2b,
	/* Misaligned Events: Number of times that alignment started again. */
	SPFE_MIB_ITEM_MISALIGNED_EVENTS = 0x2c,
	/* Lane State: 0 ClearLine to 9 LossOfSignal. */
	SPFE_MIB_ITEM_LANE_STATE = 0x2d,
	/* RXERR Count: The leaky counter of RXERR words. */
	SPFE_MIB_ITEM_RXERR_COUNT = 0x2e,
	/* RXERR Overflow: The RXERR counter reached 255. */
	SPFE_MIB_ITEM_RXERR_OVERFLOW = 0x2f,
	/* Far-End Standby: The far end went into standby. */
	SPFE_MIB_ITEM_FAR_END_STANDBY = 0x30,
	/* Far-End Standby Reason: Reason in the STANDBY words of the far end. */
	SPFE_MIB_ITEM_FAR_END_STANDBY_REASON = 0x31,
	/* Timeout: The initialisation timer expired. */
	SPFE_MIB_ITEM_TIMEOUT = 0x32,
	/* Far-End Lost Signal: The far end sent LOST_SIGNAL. */
	SPFE_MIB_ITEM_FAR_END_LOST_SIGNAL = 0x33,
	/*
	 * Far-End Lost Signal Cause: Cause in the LOST_SIGNAL words of the far end: 0 no signal, 1
	 * RXERR counter, 2 INIT1.
	 */
	SPFE_MIB_ITEM_FAR_END_LOST_SIGNAL_CAUSE = 0x34,
	/* Far-End Capabilities: Capability field of the last INIT3; 0 before the first one. */
	SPFE_MIB_ITEM_FAR_END_CAPABILITIES = 0x35,
	/* RX Polarity: 1: the received bits are inverted. */
	SPFE_MIB_ITEM_RX_POLARITY = 0x36,
	/* No Signal: 1: the receiver has no signal. */
	SPFE_MIB_ITEM_NO_SIGNAL = 0x37,
	/* Bit Synchronised: 1: the receiver has found the word boundary. */
	SPFE_MIB_ITEM_BIT_SYNC = 0x38,
	/* Schedule: SCHEDULE.request (6.3.4): the time-slot that begins. */
	SPFE_MIB_ITEM_SCHEDULE = 0x39,
	/*
	 * Schedule Type: Type of the broadcast messages that begin a time-slot, sent or received:
	 * bits 5:0 of their first byte. 256: none.
	 */
	SPFE_MIB_ITEM_SCHEDULE_TYPE = 0x3a,
};

/* Flags of a submission entry. */
/* entry_type. */
#define SPFE_SUBMIT_FLAGS_TYPE_SHIFT 0
#define SPFE_SUBMIT_FLAGS_TYPE_MASK 0x000fU
/*
 * Write a completion when the entry is done. One completion frees all earlier entries. Errors are
 * always signalled.
 */
#define SPFE_SUBMIT_FLAGS_SIGNAL 0x0010U
/* Last entry of a group: publish completions and receive runs at once. */
#define SPFE_SUBMIT_FLAGS_LAST 0x0020U
/* The packet continues in the next entry of this ring (gather). */
#define SPFE_SUBMIT_FLAGS_CHAIN 0x0040U
/* end_marker. */
#define SPFE_SUBMIT_FLAGS_END_SHIFT 7
#define SPFE_SUBMIT_FLAGS_END_MASK 0x0180U
/*
 * Start only after all earlier entries are done. No effect on transmit queues, which are in order;
 * work requests have a flag of their own.
 */
#define SPFE_SUBMIT_FLAGS_FENCE 0x0200U
/* Must be zero. */
#define SPFE_SUBMIT_FLAGS_MBZ_SHIFT 10
#define SPFE_SUBMIT_FLAGS_MBZ_MASK 0xfc00U

/*
 * Flags of the first slot of a work request. The other slots have TYPE and CHAIN of submit_flags
 * only.
 */
/* entry_type RDMA. */
#define SPFE_WORK_FLAGS_TYPE_SHIFT 0
#define SPFE_WORK_FLAGS_TYPE_MASK 0x000fU
/* Write a completion when the request is done. Errors are always signalled. */
#define SPFE_WORK_FLAGS_SIGNAL 0x0010U
/*
 * Last request of a group: ask the target for an acknowledgement, which covers all earlier
 * requests.
 */
#define SPFE_WORK_FLAGS_LAST 0x0020U
/* Another slot follows: always 1 in the first slot, 0 in the last. */
#define SPFE_WORK_FLAGS_CHAIN 0x0040U
/* Ask the target to wake its software. */
#define SPFE_WORK_FLAGS_SOLICITED 0x0080U
/* Must be zero. */
#define SPFE_WORK_FLAGS_MBZ0 0x0100U
/* Start only after all earlier reads and atomic operations are done. */
#define SPFE_WORK_FLAGS_FENCE 0x0200U
/* work_opcode. */
#define SPFE_WORK_FLAGS_OPCODE_SHIFT 10
#define SPFE_WORK_FLAGS_OPCODE_MASK 0x3c00U
/* Must be zero. */
#define SPFE_WORK_FLAGS_MBZ1_SHIFT 14
#define SPFE_WORK_FLAGS_MBZ1_MASK 0xc000U

/* Register PAIR of a queue context: the two ends of a queue pair. */
/* Own number, 1 to 65535. */
#define SPFE_QUEUE_PAIR_OWN_SHIFT 0
#define SPFE_QUEUE_PAIR_OWN_MASK 0x000000000000ffffULL
/* Number of the partner; 0 for a target-only endpoint. */
#define SPFE_QUEUE_PAIR_PARTNER_SHIFT 16
#define SPFE_QUEUE_PAIR_PARTNER_MASK 0x00000000ffff0000ULL
/* Own logical address. */
#define SPFE_QUEUE_PAIR_ADDRESS_SHIFT 32
#define SPFE_QUEUE_PAIR_ADDRESS_MASK 0x000000ff00000000ULL
/* Logical address of the partner. */
#define SPFE_QUEUE_PAIR_TARGET_SHIFT 40
#define SPFE_QUEUE_PAIR_TARGET_MASK 0x0000ff0000000000ULL
/* Protocol identifier, 0xf0 to 0xfe; 0 stands for 0xf0. */
#define SPFE_QUEUE_PAIR_PROTOCOL_SHIFT 48
#define SPFE_QUEUE_PAIR_PROTOCOL_MASK 0x00ff000000000000ULL
/* log2 of the largest payload of a packet in bytes, 8 to 16; 0 stands for 12. */
#define SPFE_QUEUE_PAIR_SEGMENT_LOG2_SHIFT 56
#define SPFE_QUEUE_PAIR_SEGMENT_LOG2_MASK 0xff00000000000000ULL

/*
 * Register LIMITS of a queue context: when a queue pair repeats a message, and the lengths of its
 * paths.
 */
/* Repetitions of a message that brings no progress, at most 16. */
#define SPFE_PAIR_LIMITS_RETRIES_SHIFT 0
#define SPFE_PAIR_LIMITS_RETRIES_MASK 0x00000000000000ffULL
/* Repetitions for a receiver that was not ready or busy. */
#define SPFE_PAIR_LIMITS_NOT_READY_SHIFT 8
#define SPFE_PAIR_LIMITS_NOT_READY_MASK 0x000000000000ff00ULL
/* Bytes of PATH, at most 8. */
#define SPFE_PAIR_LIMITS_PATH_SHIFT 16
#define SPFE_PAIR_LIMITS_PATH_MASK 0x0000000000ff0000ULL
/* Bytes of REPLY, at most 8. */
#define SPFE_PAIR_LIMITS_REPLY_SHIFT 24
#define SPFE_PAIR_LIMITS_REPLY_MASK 0x00000000ff000000ULL
/*
 * Time without progress after which a message is repeated, in us; it doubles each time. 0 stands
 * for 200000.
 */
#define SPFE_PAIR_LIMITS_TIMEOUT_US_SHIFT 32
#define SPFE_PAIR_LIMITS_TIMEOUT_US_MASK 0xffffffff00000000ULL

/* State of a queue pair in the device line of its RDMA queue. */
/* queue_pair_state. */
#define SPFE_PAIR_STATUS_STATE_SHIFT 0
#define SPFE_PAIR_STATUS_STATE_MASK 0x00000000000000ffULL
/* queue_pair_wait. */
#define SPFE_PAIR_STATUS_WAIT_SHIFT 8
#define SPFE_PAIR_STATUS_WAIT_MASK 0x000000000000ff00ULL
/* How often the message that it waits for was repeated. */
#define SPFE_PAIR_STATUS_ATTEMPTS_SHIFT 16
#define SPFE_PAIR_STATUS_ATTEMPTS_MASK 0x00000000ffff0000ULL
/* Number of that message. */
#define SPFE_PAIR_STATUS_SEQUENCE_SHIFT 32
#define SPFE_PAIR_STATUS_SEQUENCE_MASK 0x0000ffff00000000ULL

/* What others may do with a remote key: the word immediate of the operand of BIND. */
/* READ. The region needs REMOTE_READ. */
#define SPFE_KEY_OPTIONS_READ 0x00000001U
/* WRITE. The region needs REMOTE_WRITE. */
#define SPFE_KEY_OPTIONS_WRITE 0x00000002U
/*
 * FETCH_ADD and CMP_SWAP. The region needs REMOTE_READ and REMOTE_WRITE; address and offset are
 * multiples of 8.
 */
#define SPFE_KEY_OPTIONS_ATOMIC 0x00000004U
/*
 * A WRITE or an atomic operation of the partner uses a buffer of RDMA_RX, if there is one, and
 * completes it with WRITE.
 */
#define SPFE_KEY_OPTIONS_NOTIFY 0x00000008U
/* REGIONS does not tell the key. */
#define SPFE_KEY_OPTIONS_HIDDEN 0x00000010U
/* Must be zero. */
#define SPFE_KEY_OPTIONS_MBZ_SHIFT 5
#define SPFE_KEY_OPTIONS_MBZ_MASK 0xffffffe0U

/* Flags of a completion entry. */
/* end_marker of the packet or piece (posted receive). */
#define SPFE_COMPLETION_FLAGS_END_SHIFT 0
#define SPFE_COMPLETION_FLAGS_END_MASK 0x0003U
/* The packet continues in the next buffer (posted receive). */
#define SPFE_COMPLETION_FLAGS_MORE 0x0004U
/* Must not be reported before the time in the side array (paced virtual links). */
#define SPFE_COMPLETION_FLAGS_TIMED 0x0008U
/* The side array holds a time for this completion. */
#define SPFE_COMPLETION_FLAGS_STAMPED 0x0010U
/*
 * This run starts at offset 0 of the packed area. The bytes from the end of the previous run to the
 * end of the area are unused.
 */
#define SPFE_COMPLETION_FLAGS_WRAP 0x0020U
/* Earlier messages were dropped because the ring was full (message receive only). */
#define SPFE_COMPLETION_FLAGS_LOST 0x0040U
/* The side array holds immediate data for this completion (RDMA_RX only). */
#define SPFE_COMPLETION_FLAGS_IMMEDIATE 0x0080U
/*
 * A WRITE_IMM of the partner, or an operation on a remote key with NOTIFY, used the buffer and left
 * it as it was (RDMA_RX only).
 */
#define SPFE_COMPLETION_FLAGS_WRITE 0x0100U
/*
 * Whether the work request that failed was executed is not known. Without it, it was not executed
 * (RDMA only).
 */
#define SPFE_COMPLETION_FLAGS_UNKNOWN 0x0200U
/*
 * The bytes of the packet are in data of this wide completion, and the buffer is as it was (queue
 * option BESIDE).
 */
#define SPFE_COMPLETION_FLAGS_BESIDE 0x0400U

/* Flags of a record header in a packed receive area. */
/* The packet continues in the next record. */
#define SPFE_RECORD_FLAGS_MORE 0x01U

/* Status of a broadcast message (ECSS-E-ST-50-11C 5.8.9). */
/* LATE: the message could not be sent at once. */
#define SPFE_MESSAGE_FLAGS_LATE 0x01U
/* DELAYED: the message waited for another broadcast message. */
#define SPFE_MESSAGE_FLAGS_DELAYED 0x02U

/* Optional features. Query them; never assume them. */
/* Burst entries. */
#define SPFE_CAPABILITY_BURST 0x00000001U
/* Packed receive. */
#define SPFE_CAPABILITY_PACKED 0x00000002U
/* Timestamps on completions. */
#define SPFE_CAPABILITY_STAMP 0x00000004U
/* Doorbell pages are 64 KiB apart. */
#define SPFE_CAPABILITY_DOORBELL_64K 0x00000008U
/* Broadcast and time-code queues. */
#define SPFE_CAPABILITY_MESSAGE 0x00000010U
/* Regions are described by bus addresses (page lists) instead of shared memory. */
#define SPFE_CAPABILITY_IOVA 0x00000020U
/* RESET while busy completes pending submissions with DEVICE_RESET. */
#define SPFE_CAPABILITY_RESET 0x00000040U
/* Each port has a mib block, and the device has the command MIB_SET. */
#define SPFE_CAPABILITY_MIB 0x00000080U
/* COUNT of an event vector rises before its interrupt is raised. */
#define SPFE_CAPABILITY_COUNT_FIRST 0x00000100U
/* A port signals the event vector in LINK_VECTOR when its STATE changes. */
#define SPFE_CAPABILITY_LINK_EVENT 0x00000200U
/* Regions with the option LOCAL_DMA, in domain 0 only. Needs IOVA. */
#define SPFE_CAPABILITY_LOCAL_DMA 0x00000400U
/* Page lists with more than one level. Needs IOVA. */
#define SPFE_CAPABILITY_PAGE_LEVELS 0x00000800U
/*
 * Interrupt lines are level-sensitive: line n is high while vector n is enabled and its COUNT
 * differs from the count seen.
 */
#define SPFE_CAPABILITY_LEVEL 0x00001000U
/* Queues of the kinds RDMA and RDMA_RX. */
#define SPFE_CAPABILITY_RDMA 0x00002000U
/* Queue option REMOTE_KEYS, and the work requests BIND and UNBIND. Needs RDMA. */
#define SPFE_CAPABILITY_REMOTE_KEYS 0x00004000U
/* Ports of kind FABRIC have the blocks fabric and peer. Needs LINK_EVENT. */
#define SPFE_CAPABILITY_FABRIC 0x00008000U
/* Target of RDMA: the target block, and the commands TARGET_SET, TARGET_CLEAR and TARGET_TAKE. */
#define SPFE_CAPABILITY_TARGET 0x00010000U
/* Queue option BESIDE. */
#define SPFE_CAPABILITY_BESIDE 0x00020000U
/* Each port has a pair block. Needs RDMA. */
#define SPFE_CAPABILITY_PAIR_COUNTERS 0x00040000U
/* Messages of kind INTERRUPT, and the filter INTERRUPTS of message queues. Needs MESSAGE. */
#define SPFE_CAPABILITY_INTERRUPTS 0x00080000U

/* Who made the operation that a notification of the target tells. */
/* Logical address of the initiator. */
#define SPFE_TARGET_NOTE_SENDER_INITIATOR_SHIFT 0
#define SPFE_TARGET_NOTE_SENDER_INITIATOR_MASK 0x000000ffU
/* Opcode of SFRP; the instruction byte if a command of RMAP made the operation. */
#define SPFE_TARGET_NOTE_SENDER_OPCODE_SHIFT 8
#define SPFE_TARGET_NOTE_SENDER_OPCODE_MASK 0x0000ff00U
/* Queue pair of the initiator. */
#define SPFE_TARGET_NOTE_SENDER_PAIR_SHIFT 16
#define SPFE_TARGET_NOTE_SENDER_PAIR_MASK 0xffff0000U

/* The operation that a notification of the target tells. */
/* Entry of the table; 0 for a message. */
#define SPFE_TARGET_NOTE_REQUEST_ENTRY_SHIFT 0
#define SPFE_TARGET_NOTE_REQUEST_ENTRY_MASK 0x0000ffffU
/* Number of the message in its sequence. */
#define SPFE_TARGET_NOTE_REQUEST_NUMBER_SHIFT 16
#define SPFE_TARGET_NOTE_REQUEST_NUMBER_MASK 0xffff0000U

/* What a notification of the target has. */
/* It is of an operation on an entry. */
#define SPFE_TARGET_NOTE_FLAGS_ENTRY 0x00000001U
/* It has immediate data. */
#define SPFE_TARGET_NOTE_FLAGS_IMMEDIATE 0x00000002U

/*
 * Permitted accesses to a memory region. The values are those of InfiniBand verbs where they exist.
 */
/* The device may write to the region (receive). */
#define SPFE_ACCESS_LOCAL_WRITE 0x00000001U
/* A peer may write to the region with RDMA. */
#define SPFE_ACCESS_REMOTE_WRITE 0x00000002U
/* A peer may read the region with RDMA. */
#define SPFE_ACCESS_REMOTE_READ 0x00000004U
/* The device may read the region (transmit). */
#define SPFE_ACCESS_LOCAL_READ 0x00000100U

/* Options of a region entry. */
/*
 * The region is everything that the device can reach on the bus: an offset is a bus address
 * (capability LOCAL_DMA).
 */
#define SPFE_REGION_OPTIONS_LOCAL_DMA 0x00000001U

/* Options of a queue context. */
/* Write a timestamp for every completion. */
#define SPFE_QUEUE_OPTIONS_STAMP 0x00000001U
/* Completions come in submission order. Today they always do. */
#define SPFE_QUEUE_OPTIONS_RETURN_IN_ORDER 0x00000002U
/* RDMA: the queue pair takes BIND and UNBIND (capability REMOTE_KEYS). */
#define SPFE_QUEUE_OPTIONS_REMOTE_KEYS 0x00000004U
/*
 * RX: entries of the completion ring are wide completions, which take the bytes of short packets
 * (capability BESIDE).
 */
#define SPFE_QUEUE_OPTIONS_BESIDE 0x00000008U

/* Wake-up conditions of the host; any of them wakes it. */
/* want_count is valid. */
#define SPFE_ARM_FLAGS_COUNT 0x00000001U
/* want_bytes is valid. */
#define SPFE_ARM_FLAGS_BYTES 0x00000002U
/* after_first_ns is valid. */
#define SPFE_ARM_FLAGS_TIME 0x00000004U
/* Signal the event vector (file descriptor) as well. */
#define SPFE_ARM_FLAGS_EVENT 0x00000008U

/*
 * The 64-bit store to a doorbell page. It is only a hint: the rings say what to do. Only a store of
 * kind PEER is an action of its own.
 */
/* Queue context index. PEER: any context of a virtual channel to the node. */
#define SPFE_DOORBELL_QUEUE_SHIFT 0
#define SPFE_DOORBELL_QUEUE_MASK 0x000000000000ffffULL
/* doorbell_kind. */
#define SPFE_DOORBELL_KIND_SHIFT 16
#define SPFE_DOORBELL_KIND_MASK 0x0000000000ff0000ULL
/* PEER: number of the doorbell, less than PEER_DOORBELLS. */
#define SPFE_DOORBELL_NUMBER_SHIFT 24
#define SPFE_DOORBELL_NUMBER_MASK 0x00000000ff000000ULL
/* Free-running producer index (submissions) or arm sequence (armed). */
#define SPFE_DOORBELL_INDEX_SHIFT 32
#define SPFE_DOORBELL_INDEX_MASK 0xffffffff00000000ULL

/* DATA and BUFFER entry: transmit from an address, or receive into it. */
struct spfe_submission {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_submission) == 16, "size of spfe_submission");
/* Byte offset in the region. */
#define SPFE_SUBMISSION_OFFSET_WORD 0
#define SPFE_SUBMISSION_OFFSET_SHIFT 0
#define SPFE_SUBMISSION_OFFSET_MASK 0x0000ffffffffffffULL
/* Region: index (12 bits) and generation (4 bits). */
#define SPFE_SUBMISSION_REGION_WORD 0
#define SPFE_SUBMISSION_REGION_SHIFT 48
#define SPFE_SUBMISSION_REGION_MASK 0xffff000000000000ULL
/* Length in bytes. */
#define SPFE_SUBMISSION_LENGTH_WORD 1
#define SPFE_SUBMISSION_LENGTH_SHIFT 0
#define SPFE_SUBMISSION_LENGTH_MASK 0x00000000ffffffffULL
/* submit_flags. */
#define SPFE_SUBMISSION_FLAGS_WORD 1
#define SPFE_SUBMISSION_FLAGS_SHIFT 32
#define SPFE_SUBMISSION_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number of the ring position, from 1. The entry is valid when it matches the reader's lap. */
#define SPFE_SUBMISSION_PHASE_WORD 1
#define SPFE_SUBMISSION_PHASE_SHIFT 48
#define SPFE_SUBMISSION_PHASE_MASK 0xffff000000000000ULL

/* INLINE entry: up to 11 data bytes in the entry. */
struct spfe_inline_submission {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_inline_submission) == 16, "size of spfe_inline_submission");
/* Bytes 0 to 7, byte 0 in the least significant byte. */
#define SPFE_INLINE_SUBMISSION_DATA_LO_WORD 0
#define SPFE_INLINE_SUBMISSION_DATA_LO_SHIFT 0
#define SPFE_INLINE_SUBMISSION_DATA_LO_MASK 0xffffffffffffffffULL
/* Number of data bytes, 1 to 11. */
#define SPFE_INLINE_SUBMISSION_COUNT_WORD 1
#define SPFE_INLINE_SUBMISSION_COUNT_SHIFT 0
#define SPFE_INLINE_SUBMISSION_COUNT_MASK 0x00000000000000ffULL
/* Bytes 8 to 10. */
#define SPFE_INLINE_SUBMISSION_DATA_HI_WORD 1
#define SPFE_INLINE_SUBMISSION_DATA_HI_SHIFT 8
#define SPFE_INLINE_SUBMISSION_DATA_HI_MASK 0x00000000ffffff00ULL
/* submit_flags. */
#define SPFE_INLINE_SUBMISSION_FLAGS_WORD 1
#define SPFE_INLINE_SUBMISSION_FLAGS_SHIFT 32
#define SPFE_INLINE_SUBMISSION_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_INLINE_SUBMISSION_PHASE_WORD 1
#define SPFE_INLINE_SUBMISSION_PHASE_SHIFT 48
#define SPFE_INLINE_SUBMISSION_PHASE_MASK 0xffff000000000000ULL

/*
 * Second entry of a BURST. The first entry is a submission with the address and length of packet 0.
 */
struct spfe_burst_ext {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_burst_ext) == 16, "size of spfe_burst_ext");
/* Bytes from the start of one packet to the start of the next; 0 sends the same bytes each time. */
#define SPFE_BURST_EXT_STRIDE_WORD 0
#define SPFE_BURST_EXT_STRIDE_SHIFT 0
#define SPFE_BURST_EXT_STRIDE_MASK 0x00000000ffffffffULL
/* Number of packets, 1 to 65535. */
#define SPFE_BURST_EXT_COUNT_WORD 0
#define SPFE_BURST_EXT_COUNT_SHIFT 32
#define SPFE_BURST_EXT_COUNT_MASK 0x0000ffff00000000ULL
/* Must be zero. */
#define SPFE_BURST_EXT_RESERVED0_WORD 0
#define SPFE_BURST_EXT_RESERVED0_SHIFT 48
#define SPFE_BURST_EXT_RESERVED0_MASK 0xffff000000000000ULL
/* Must be zero. */
#define SPFE_BURST_EXT_RESERVED1_WORD 1
#define SPFE_BURST_EXT_RESERVED1_SHIFT 0
#define SPFE_BURST_EXT_RESERVED1_MASK 0x00000000ffffffffULL
/* submit_flags with TYPE = BURST_EXT. */
#define SPFE_BURST_EXT_FLAGS_WORD 1
#define SPFE_BURST_EXT_FLAGS_SHIFT 32
#define SPFE_BURST_EXT_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_BURST_EXT_PHASE_WORD 1
#define SPFE_BURST_EXT_PHASE_SHIFT 48
#define SPFE_BURST_EXT_PHASE_MASK 0xffff000000000000ULL

/* RELEASE entry of packed and message receive queues. */
struct spfe_release {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_release) == 16, "size of spfe_release");
/* Bytes of the packed area to return, including a skipped tail. */
#define SPFE_RELEASE_BYTES_WORD 0
#define SPFE_RELEASE_BYTES_SHIFT 0
#define SPFE_RELEASE_BYTES_MASK 0x00000000ffffffffULL
/* Number of completions consumed, 1 or more. The device may write as many again. */
#define SPFE_RELEASE_COMPLETIONS_WORD 0
#define SPFE_RELEASE_COMPLETIONS_SHIFT 32
#define SPFE_RELEASE_COMPLETIONS_MASK 0xffffffff00000000ULL
/* Must be zero. */
#define SPFE_RELEASE_RESERVED0_WORD 1
#define SPFE_RELEASE_RESERVED0_SHIFT 0
#define SPFE_RELEASE_RESERVED0_MASK 0x00000000ffffffffULL
/* submit_flags with TYPE = RELEASE. */
#define SPFE_RELEASE_FLAGS_WORD 1
#define SPFE_RELEASE_FLAGS_SHIFT 32
#define SPFE_RELEASE_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_RELEASE_PHASE_WORD 1
#define SPFE_RELEASE_PHASE_SHIFT 48
#define SPFE_RELEASE_PHASE_MASK 0xffff000000000000ULL

/*
 * Broadcast message, time-code or distributed interrupt: a MESSAGE entry for transmit, a completion
 * ring entry for receive.
 */
struct spfe_message {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_message) == 16, "size of spfe_message");
/*
 * Broadcast: the 8 data bytes, byte 0 least significant. Time-code: bits 5:0 time, 7:6 flags.
 * Interrupt: bits 4:0 identifier, bit 5: acknowledgement.
 */
#define SPFE_MESSAGE_DATA_WORD 0
#define SPFE_MESSAGE_DATA_SHIFT 0
#define SPFE_MESSAGE_DATA_MASK 0xffffffffffffffffULL
/* Broadcast channel number. */
#define SPFE_MESSAGE_CHANNEL_WORD 1
#define SPFE_MESSAGE_CHANNEL_SHIFT 0
#define SPFE_MESSAGE_CHANNEL_MASK 0x00000000000000ffULL
/* Broadcast type. */
#define SPFE_MESSAGE_TYPE_WORD 1
#define SPFE_MESSAGE_TYPE_SHIFT 8
#define SPFE_MESSAGE_TYPE_MASK 0x000000000000ff00ULL
/* message_kind. */
#define SPFE_MESSAGE_KIND_WORD 1
#define SPFE_MESSAGE_KIND_SHIFT 16
#define SPFE_MESSAGE_KIND_MASK 0x0000000000ff0000ULL
/* message_flags. */
#define SPFE_MESSAGE_STATUS_WORD 1
#define SPFE_MESSAGE_STATUS_SHIFT 24
#define SPFE_MESSAGE_STATUS_MASK 0x00000000ff000000ULL
/* submit_flags (transmit) or completion_flags (receive). */
#define SPFE_MESSAGE_FLAGS_WORD 1
#define SPFE_MESSAGE_FLAGS_SHIFT 32
#define SPFE_MESSAGE_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_MESSAGE_PHASE_WORD 1
#define SPFE_MESSAGE_PHASE_SHIFT 48
#define SPFE_MESSAGE_PHASE_MASK 0xffff000000000000ULL

/* Completion of one or more submissions of one queue. */
struct spfe_completion {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_completion) == 16, "size of spfe_completion");
/* Bytes of all packets that this completion reports; a detail of the status if that is not OK. */
#define SPFE_COMPLETION_BYTES_WORD 0
#define SPFE_COMPLETION_BYTES_SHIFT 0
#define SPFE_COMPLETION_BYTES_MASK 0x00000000ffffffffULL
/*
 * Number of packets that this completion reports (posted receive: 1 per buffer; packed receive:
 * records).
 */
#define SPFE_COMPLETION_PACKETS_WORD 0
#define SPFE_COMPLETION_PACKETS_SHIFT 32
#define SPFE_COMPLETION_PACKETS_MASK 0x0000ffff00000000ULL
/* Virtual channel. */
#define SPFE_COMPLETION_VC_WORD 0
#define SPFE_COMPLETION_VC_SHIFT 48
#define SPFE_COMPLETION_VC_MASK 0x00ff000000000000ULL
/* status. */
#define SPFE_COMPLETION_STATUS_WORD 0
#define SPFE_COMPLETION_STATUS_SHIFT 56
#define SPFE_COMPLETION_STATUS_MASK 0xff00000000000000ULL
/* Free-running position (mod 65536) of the last submission entry that this completion frees. */
#define SPFE_COMPLETION_POSITION_WORD 1
#define SPFE_COMPLETION_POSITION_SHIFT 0
#define SPFE_COMPLETION_POSITION_MASK 0x000000000000ffffULL
/* Zero. */
#define SPFE_COMPLETION_RESERVED0_WORD 1
#define SPFE_COMPLETION_RESERVED0_SHIFT 16
#define SPFE_COMPLETION_RESERVED0_MASK 0x00000000ffff0000ULL
/* completion_flags. */
#define SPFE_COMPLETION_FLAGS_WORD 1
#define SPFE_COMPLETION_FLAGS_SHIFT 32
#define SPFE_COMPLETION_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_COMPLETION_PHASE_WORD 1
#define SPFE_COMPLETION_PHASE_SHIFT 48
#define SPFE_COMPLETION_PHASE_MASK 0xffff000000000000ULL

/*
 * Entry of the completion ring of a queue with the option BESIDE, alone on its cache line. The
 * second word, with the phase, is stored last.
 */
struct spfe_wide_completion {
	/* First word of the completion. */
	spfe_le64 word0;
	/* Second word of the completion. */
	spfe_le64 word1;
	/* Time of the completion, if it is STAMPED. */
	spfe_le64 time;
	/*
	 * Bytes 0 to 7 of the packet, byte 0 least significant, if the completion has the flag
	 * BESIDE.
	 */
	spfe_le64 data0;
	/* Bytes 8 to 15. */
	spfe_le64 data1;
	/* Bytes 16 to 23. */
	spfe_le64 data2;
	/* Bytes 24 to 31. */
	spfe_le64 data3;
	/* Bytes 32 to 39. */
	spfe_le64 data4;
} SPFE_ALIGNED(64);
SPFE_STATIC_ASSERT(sizeof(struct spfe_wide_completion) == 64, "size of spfe_wide_completion");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, word0) == 0, "offset of wide_completion.word0");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, word1) == 8, "offset of wide_completion.word1");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, time) == 16, "offset of wide_completion.time");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, data0) == 24, "offset of wide_completion.data0");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, data1) == 32, "offset of wide_completion.data1");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, data2) == 40, "offset of wide_completion.data2");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, data3) == 48, "offset of wide_completion.data3");
SPFE_STATIC_ASSERT(offsetof(struct spfe_wide_completion, data4) == 56, "offset of wide_completion.data4");

/*
 * RDMA entry: first slot of a work request. A local element (DATA or INLINE), the operands of the
 * opcode (OPERAND), and up to 3 more local elements follow.
 */
struct spfe_work_entry {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_work_entry) == 16, "size of spfe_work_entry");
/*
 * Remote address; 0 for requests without one. BIND: the address that others use for the first byte.
 */
#define SPFE_WORK_ENTRY_ADDRESS_WORD 0
#define SPFE_WORK_ENTRY_ADDRESS_SHIFT 0
#define SPFE_WORK_ENTRY_ADDRESS_MASK 0xffffffffffffffffULL
/* Remote key: index (20 bits) and generation (12 bits). */
#define SPFE_WORK_ENTRY_KEY_WORD 1
#define SPFE_WORK_ENTRY_KEY_SHIFT 0
#define SPFE_WORK_ENTRY_KEY_MASK 0x00000000ffffffffULL
/* work_flags. */
#define SPFE_WORK_ENTRY_FLAGS_WORD 1
#define SPFE_WORK_ENTRY_FLAGS_SHIFT 32
#define SPFE_WORK_ENTRY_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_WORK_ENTRY_PHASE_WORD 1
#define SPFE_WORK_ENTRY_PHASE_SHIFT 48
#define SPFE_WORK_ENTRY_PHASE_MASK 0xffff000000000000ULL

/*
 * OPERAND entry of a work request: one for immediate data, FETCH_ADD and BIND, two for CMP_SWAP
 * (compare, swap).
 */
struct spfe_operand {
	spfe_le64 word0;
	spfe_le64 word1;
} SPFE_ALIGNED(16);
SPFE_STATIC_ASSERT(sizeof(struct spfe_operand) == 16, "size of spfe_operand");
/*
 * Operand of an atomic operation. BIND: logical addresses that may use the key, up to 8 bytes of
 * which zeros are not used; 0 for all. Otherwise zero.
 */
#define SPFE_OPERAND_VALUE_WORD 0
#define SPFE_OPERAND_VALUE_SHIFT 0
#define SPFE_OPERAND_VALUE_MASK 0xffffffffffffffffULL
/* Immediate data; key_options of BIND; otherwise zero. */
#define SPFE_OPERAND_IMMEDIATE_WORD 1
#define SPFE_OPERAND_IMMEDIATE_SHIFT 0
#define SPFE_OPERAND_IMMEDIATE_MASK 0x00000000ffffffffULL
/* submit_flags with TYPE = OPERAND. */
#define SPFE_OPERAND_FLAGS_WORD 1
#define SPFE_OPERAND_FLAGS_SHIFT 32
#define SPFE_OPERAND_FLAGS_MASK 0x0000ffff00000000ULL
/* Lap number. */
#define SPFE_OPERAND_PHASE_WORD 1
#define SPFE_OPERAND_PHASE_SHIFT 48
#define SPFE_OPERAND_PHASE_MASK 0xffff000000000000ULL

/*
 * Header of a record in a packed receive area. The next record starts at the next multiple of 8
 * bytes.
 */
struct spfe_record_header {
	/* Length of the record in bytes, without header and padding. */
	spfe_le32 length;
	/* end_marker. */
	spfe_u8 end;
	/* record_flags. */
	spfe_u8 flags;
	/* Zero. */
	spfe_le16 reserved0;
} SPFE_ALIGNED(4);
SPFE_STATIC_ASSERT(sizeof(struct spfe_record_header) == 8, "size of spfe_record_header");
SPFE_STATIC_ASSERT(offsetof(struct spfe_record_header, length) == 0, "offset of record_header.length");
SPFE_STATIC_ASSERT(offsetof(struct spfe_record_header, end) == 4, "offset of record_header.end");
SPFE_STATIC_ASSERT(offsetof(struct spfe_record_header, flags) == 5, "offset of record_header.flags");
SPFE_STATIC_ASSERT(offsetof(struct spfe_record_header, reserved0) == 6, "offset of record_header.reserved0");

/*
 * Wake-up conditions of a queue, written by the host and read by the device. Alone on its cache
 * line.
 */
struct spfe_host_line {
	/* 0 if not armed, otherwise the arm sequence number: odd, and 2 more each time. */
	spfe_le32 arm;
	/* arm_flags. */
	spfe_le32 flags;
	/* Wake at or past this free-running completion position. */
	spfe_le32 want_count;
	/* Zero. */
	spfe_le32 reserved0;
	/* Wake at or past this free-running count of received or sent bytes. */
	spfe_le64 want_bytes;
	/* Wake this many nanoseconds after the first completion at or past first_position. */
	spfe_le64 after_first_ns;
	/*
	 * Free-running position of the first completion that was not yet reported to the
	 * application.
	 */
	spfe_le32 first_position;
	/* Zero. */
	spfe_le32 reserved1;
	/* Zero. */
	spfe_le64 reserved2;
	/* Zero. */
	spfe_le64 reserved3;
	/* Zero. */
	spfe_le64 reserved4;
} SPFE_ALIGNED(64);
SPFE_STATIC_ASSERT(sizeof(struct spfe_host_line) == 64, "size of spfe_host_line");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, arm) == 0, "offset of host_line.arm");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, flags) == 4, "offset of host_line.flags");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, want_count) == 8, "offset of host_line.want_count");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, reserved0) == 12, "offset of host_line.reserved0");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, want_bytes) == 16, "offset of host_line.want_bytes");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, after_first_ns) == 24, "offset of host_line.after_first_ns");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, first_position) == 32, "offset of host_line.first_position");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, reserved1) == 36, "offset of host_line.reserved1");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, reserved2) == 40, "offset of host_line.reserved2");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, reserved3) == 48, "offset of host_line.reserved3");
SPFE_STATIC_ASSERT(offsetof(struct spfe_host_line, reserved4) == 56, "offset of host_line.reserved4");

/* State of a queue, written by the device and read by the host. Alone on its cache line. */
struct spfe_device_line {
	/* Incremented at each wake-up. The host sleeps on this word (futex). */
	spfe_le32 wake_seq;
	/* 1: the device sleeps, so ring the doorbell after posting. */
	spfe_le32 need_doorbell;
	/* queue_state. */
	spfe_le32 state;
	/* status that stopped the queue; 0 if none did. */
	spfe_le32 error;
	/*
	 * Receive: a packet waited for room when the device had written completions up to position
	 * 31:0 and used submissions up to position 63:32.
	 */
	spfe_le64 full;
	/* RDMA: pair_status, as of the last step of the device. */
	spfe_le64 pair;
	/* Zero. */
	spfe_le64 reserved2;
	/* Zero. */
	spfe_le64 reserved3;
	/* Zero. */
	spfe_le64 reserved4;
	/* Zero. */
	spfe_le64 reserved5;
} SPFE_ALIGNED(64);
SPFE_STATIC_ASSERT(sizeof(struct spfe_device_line) == 64, "size of spfe_device_line");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, wake_seq) == 0, "offset of device_line.wake_seq");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, need_doorbell) == 4, "offset of device_line.need_doorbell");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, state) == 8, "offset of device_line.state");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, error) == 12, "offset of device_line.error");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, full) == 16, "offset of device_line.full");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, pair) == 24, "offset of device_line.pair");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, reserved2) == 32, "offset of device_line.reserved2");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, reserved3) == 40, "offset of device_line.reserved3");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, reserved4) == 48, "offset of device_line.reserved4");
SPFE_STATIC_ASSERT(offsetof(struct spfe_device_line, reserved5) == 56, "offset of device_line.reserved5");

/* Identity, capabilities and configuration latch of the device. */
#define SPFE_GLOBAL_BLOCK_TYPE 1
#define SPFE_GLOBAL_BLOCK_VERSION 2
#define SPFE_GLOBAL_BLOCK_SIZE 0x00000100U
/* 0x53504645; 0xffffffff means the device is gone. (ro) */
#define SPFE_GLOBAL_BLOCK_MAGIC 0x00000010U
/* major << 16 | minor. (ro) */
#define SPFE_GLOBAL_BLOCK_CONTRACT_VERSION 0x00000014U
/* capability bits. (ro) */
#define SPFE_GLOBAL_BLOCK_CAPABILITY 0x00000018U
/* Number of ports. (ro) */
#define SPFE_GLOBAL_BLOCK_PORTS 0x0000001cU
/* Number of queue contexts. (ro) */
#define SPFE_GLOBAL_BLOCK_QUEUES 0x00000020U
/* Entries of the memory-region table. (ro) */
#define SPFE_GLOBAL_BLOCK_REGIONS 0x00000024U
/* Number of event vectors. (ro) */
#define SPFE_GLOBAL_BLOCK_EVENTS 0x00000028U
/* Byte offset of the first doorbell page, a multiple of the stride. (ro) */
#define SPFE_GLOBAL_BLOCK_DOORBELL_OFFSET 0x0000002cU
/* CFG_SEQ of the last command that the device carried out. (ro) */
#define SPFE_GLOBAL_BLOCK_CFG_ACK 0x00000030U
/* status of that command. (ro) */
#define SPFE_GLOBAL_BLOCK_CFG_STATUS 0x00000034U
/* Incremented at least once a second while the device is alive. (ro) */
#define SPFE_GLOBAL_BLOCK_HEARTBEAT 0x00000038U
/* Number of resets since power-up. (ro) */
#define SPFE_GLOBAL_BLOCK_RESETS 0x0000003cU
/* Device time in ns, low word; read HI, LO, HI. (ro) */
#define SPFE_GLOBAL_BLOCK_TIME_LO 0x00000040U
/* Device time in ns, high word. (ro) */
#define SPFE_GLOBAL_BLOCK_TIME_HI 0x00000044U
/* PACKET_MAX_BYTES of this device. (ro) */
#define SPFE_GLOBAL_BLOCK_PACKET_MAX 0x00000048U
/* Number of doorbell pages, DOORBELL_STRIDE apart; 1 or more. (ro) */
#define SPFE_GLOBAL_BLOCK_DOORBELL_PAGES 0x0000004cU
/* Number of protection domains; 1 or more, at most 65536. (ro) */
#define SPFE_GLOBAL_BLOCK_DOMAINS 0x00000050U
/*
 * Most entries from which this device gathers one packet, at least the constant CHAIN_MAX; 0 stands
 * for that constant. (ro)
 */
#define SPFE_GLOBAL_BLOCK_CHAIN_MAX 0x00000054U
/*
 * Most pages of a page list; 0 if the device does not say. A region may fail with NO_RESOURCES
 * before. (ro)
 */
#define SPFE_GLOBAL_BLOCK_PAGES_MAX 0x00000058U
/* command. (rw) */
#define SPFE_GLOBAL_BLOCK_CFG_COMMAND 0x00000080U
/* Index of the object of the command. (rw) */
#define SPFE_GLOBAL_BLOCK_CFG_INDEX 0x00000084U
/*
 * Write this register last, with a non-zero value other than CFG_ACK. Then ring the doorbell, and
 * wait until CFG_ACK is equal. (rw)
 */
#define SPFE_GLOBAL_BLOCK_CFG_SEQ 0x00000088U
/* mib_item that MIB_SET sets. (rw) */
#define SPFE_GLOBAL_BLOCK_MIB_ITEM 0x0000008cU
/* Lane or virtual channel of the item; 0 for an item of the link. (rw) */
#define SPFE_GLOBAL_BLOCK_MIB_ELEMENT 0x00000090U
/* New value of the item, low word. (rw) */
#define SPFE_GLOBAL_BLOCK_MIB_VALUE_LO 0x00000098U
/* New value of the item, high word. (rw) */
#define SPFE_GLOBAL_BLOCK_MIB_VALUE_HI 0x0000009cU

/* One network port. */
#define SPFE_PORT_BLOCK_TYPE 2
#define SPFE_PORT_BLOCK_VERSION 2
#define SPFE_PORT_BLOCK_SIZE 0x00000100U
/* port_kind. (ro) */
#define SPFE_PORT_BLOCK_KIND 0x00000010U
/* port_state. A fabric port is DOWN before LINK_START, and UP while any node is READY. (ro) */
#define SPFE_PORT_BLOCK_STATE 0x00000014U
/* Number of virtual channels, at most VC_MAX (fabric port: FABRIC_VC_MAX). (ro) */
#define SPFE_PORT_BLOCK_VCS 0x00000018U
/* Number of lanes. (ro) */
#define SPFE_PORT_BLOCK_LANES 0x0000001cU
/* Lane signalling rate in Mbit/s; 0 = not paced. (ro) */
#define SPFE_PORT_BLOCK_LANE_RATE_MBPS 0x00000020U
/* User data rate in one direction in kbit/s; 0 = not limited. (ro) */
#define SPFE_PORT_BLOCK_USER_RATE_KBPS 0x00000024U
/*
 * Index of the port's first queue context. The order is TX of VC 0, RX of VC 0, TX of VC 1, ...;
 * then the message contexts, the first half for transmit and the second half for receive. (ro)
 */
#define SPFE_PORT_BLOCK_FIRST_QUEUE 0x00000028U
/* Number of queue contexts of this port. (ro) */
#define SPFE_PORT_BLOCK_QUEUE_COUNT 0x0000002cU
/*
 * Number of times that STATE has changed since power-up, mod 2^32 (capability LINK_EVENT). On a
 * fabric port it counts changes of the nodes' states and epochs. (ro)
 */
#define SPFE_PORT_BLOCK_CHANGES 0x00000030U
/*
 * 1: start the link; on a fabric port 0 stops it. A bus reset clears this register without changing
 * the link. Write 1 before the first PORT_CONFIGURE of a port that must stay up. (rw)
 */
#define SPFE_PORT_BLOCK_LINK_START 0x00000080U
/* Priorities of VC 0 to 7, 4 bits each, 0 is the highest (ECSS-E-ST-50-11C 5.7.4). (rw) */
#define SPFE_PORT_BLOCK_VC_PRIORITY_0 0x00000084U
/* Priorities of VC 8 to 15. (rw) */
#define SPFE_PORT_BLOCK_VC_PRIORITY_1 0x00000088U
/* Priorities of VC 16 to 23. (rw) */
#define SPFE_PORT_BLOCK_VC_PRIORITY_2 0x0000008cU
/* Priorities of VC 24 to 31. Further channels of a fabric port have priority 0. (rw) */
#define SPFE_PORT_BLOCK_VC_PRIORITY_3 0x00000090U
/*
 * Event vector to signal when CHANGES rises, plus 1: 1 to EVENTS; 0 for none (capability
 * LINK_EVENT). (rw)
 */
#define SPFE_PORT_BLOCK_LINK_VECTOR 0x00000094U

/* Array of queue contexts: QUEUES elements, directly after the header. */
#define SPFE_QUEUE_BLOCK_TYPE 3
#define SPFE_QUEUE_BLOCK_VERSION 2
#define SPFE_QUEUE_BLOCK_SIZE 0x00000010U
#define SPFE_QUEUE_BLOCK_STRIDE 0x000000c0U
/* queue_state. (ro) */
#define SPFE_QUEUE_BLOCK_STATE 0x00000000U
/* status that stopped the queue; 0 if none did. (ro) */
#define SPFE_QUEUE_BLOCK_ERROR 0x00000004U
/* Port number. (ro) */
#define SPFE_QUEUE_BLOCK_PORT 0x00000008U
/* Virtual channel; 255 for message contexts. (ro) */
#define SPFE_QUEUE_BLOCK_VC 0x0000000cU
/* queue_kind. (rw) */
#define SPFE_QUEUE_BLOCK_KIND 0x00000040U
/* queue_options. (rw) */
#define SPFE_QUEUE_BLOCK_OPTIONS 0x00000044U
/* Protection domain whose regions the queue may use: less than DOMAINS. (rw) */
#define SPFE_QUEUE_BLOCK_DOMAIN 0x00000048U
/* Event vector: less than EVENTS. (rw) */
#define SPFE_QUEUE_BLOCK_VECTOR 0x0000004cU
/* log2 of the number of entries of the submission ring. (rw) */
#define SPFE_QUEUE_BLOCK_SQ_LOG2 0x00000050U
/*
 * log2 of the number of entries of the completion ring: at least SQ_LOG2, and equal to it for
 * RX_PACKED and MESSAGE_RX. (rw)
 */
#define SPFE_QUEUE_BLOCK_CQ_LOG2 0x00000054U
/* Submission ring address {region, offset}, low word. (rw) */
#define SPFE_QUEUE_BLOCK_SQ_LO 0x00000058U
/* Submission ring address, high word. (rw) */
#define SPFE_QUEUE_BLOCK_SQ_HI 0x0000005cU
/* Completion ring address, low word. (rw) */
#define SPFE_QUEUE_BLOCK_CQ_LO 0x00000060U
/* Completion ring address, high word. (rw) */
#define SPFE_QUEUE_BLOCK_CQ_HI 0x00000064U
/*
 * Side array of 64-bit times, one per completion, low word. It is needed even without STAMP,
 * because a device that paces its links in advance uses it. RDMA_RX: as many words follow, with
 * immediate data in their low half and the remote key of a WRITE in their high half. With the
 * option BESIDE it is not used: wide completions hold their times. (rw)
 */
#define SPFE_QUEUE_BLOCK_STAMP_LO 0x00000068U
/* Side array, high word. (rw) */
#define SPFE_QUEUE_BLOCK_STAMP_HI 0x0000006cU
/* host_line followed by device_line, low word. (rw) */
#define SPFE_QUEUE_BLOCK_LINES_LO 0x00000070U
/* Lines, high word. (rw) */
#define SPFE_QUEUE_BLOCK_LINES_HI 0x00000074U
/* Packed area address, low word. (rw) */
#define SPFE_QUEUE_BLOCK_AREA_LO 0x00000078U
/* Packed area address, high word. (rw) */
#define SPFE_QUEUE_BLOCK_AREA_HI 0x0000007cU
/* Packed area size in bytes. (rw) */
#define SPFE_QUEUE_BLOCK_AREA_BYTES 0x00000080U
/*
 * Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type; the others zero.
 * On a SpaceWire port 0, or with the capability INTERRUPTS bit 18: only distributed interrupts.
 * (rw)
 */
#define SPFE_QUEUE_BLOCK_FILTER 0x00000084U
/* RDMA and RDMA_RX: queue_pair, low word. (rw) */
#define SPFE_QUEUE_BLOCK_PAIR_LO 0x00000088U
/* queue_pair, high word. (rw) */
#define SPFE_QUEUE_BLOCK_PAIR_HI 0x0000008cU
/* RDMA: pair_limits, low word. (rw) */
#define SPFE_QUEUE_BLOCK_LIMITS_LO 0x00000090U
/* pair_limits, high word. (rw) */
#define SPFE_QUEUE_BLOCK_LIMITS_HI 0x00000094U
/* RDMA: path to the partner, the first byte least significant, low word. (rw) */
#define SPFE_QUEUE_BLOCK_PATH_LO 0x00000098U
/* Path, high word. (rw) */
#define SPFE_QUEUE_BLOCK_PATH_HI 0x0000009cU
/* RDMA: path from the partner back, low word. (rw) */
#define SPFE_QUEUE_BLOCK_REPLY_LO 0x000000a0U
/* Path back, high word. (rw) */
#define SPFE_QUEUE_BLOCK_REPLY_HI 0x000000a4U

/* Memory-region table: REGIONS elements, directly after the header. */
#define SPFE_REGION_BLOCK_TYPE 4
#define SPFE_REGION_BLOCK_VERSION 2
#define SPFE_REGION_BLOCK_SIZE 0x00000010U
#define SPFE_REGION_BLOCK_STRIDE 0x00000080U
/*
 * Region field for entries and addresses: generation << 12 | index, 16 bits. Never 0 while the
 * region is enabled, otherwise 0. (ro)
 */
#define SPFE_REGION_BLOCK_KEY 0x00000000U
/*
 * Bus address of the memory or of the page list, low word (capability IOVA), or the segment number
 * of shared memory. (rw)
 */
#define SPFE_REGION_BLOCK_BASE_LO 0x00000040U
/* Bus address, high word. (rw) */
#define SPFE_REGION_BLOCK_BASE_HI 0x00000044U
/* Size in bytes, low word. (rw) */
#define SPFE_REGION_BLOCK_SIZE_LO 0x00000048U
/* Size in bytes, high word. (rw) */
#define SPFE_REGION_BLOCK_SIZE_HI 0x0000004cU
/* access bits. (rw) */
#define SPFE_REGION_BLOCK_ACCESS 0x00000050U
/* Protection domain: less than DOMAINS. (rw) */
#define SPFE_REGION_BLOCK_DOMAIN 0x00000054U
/*
 * 0: the memory is contiguous from BASE. Otherwise log2 of the page size (PAGE_LOG2_MIN to
 * PAGE_LOG2_MAX), and BASE is the bus address of a list of 64-bit bus addresses, one per page. (rw)
 */
#define SPFE_REGION_BLOCK_PAGE_LIST 0x00000058U
/*
 * 0 or 1: the page list is contiguous. 2 to PAGE_LEVELS_MAX: BASE is the bus address of the first
 * of so many levels of tables (capability PAGE_LEVELS). (rw)
 */
#define SPFE_REGION_BLOCK_PAGE_LEVELS 0x0000005cU
/* region_options. (rw) */
#define SPFE_REGION_BLOCK_OPTIONS 0x00000060U

/* Event vectors: EVENTS elements, directly after the header. */
#define SPFE_EVENT_BLOCK_TYPE 5
#define SPFE_EVENT_BLOCK_VERSION 1
#define SPFE_EVENT_BLOCK_SIZE 0x00000010U
#define SPFE_EVENT_BLOCK_STRIDE 0x00000080U
/* Number of events signalled since power-up. The completion rings show the cause. (ro) */
#define SPFE_EVENT_BLOCK_COUNT 0x00000000U
/* 1: interrupt the host when the event is signalled. Every command latches this register. (rw) */
#define SPFE_EVENT_BLOCK_ENABLE 0x00000040U

/* Broadcast configuration of the port in the block's instance field. */
#define SPFE_BROADCAST_BLOCK_TYPE 6
#define SPFE_BROADCAST_BLOCK_VERSION 1
#define SPFE_BROADCAST_BLOCK_SIZE 0x00000100U
/* Broadcast messages sent (mod 2^32). (ro) */
#define SPFE_BROADCAST_BLOCK_SENT 0x00000010U
/* Broadcast messages received. (ro) */
#define SPFE_BROADCAST_BLOCK_RECEIVED 0x00000014U
/* Broadcast messages dropped because a receive ring was full. (ro) */
#define SPFE_BROADCAST_BLOCK_DROPPED 0x00000018U
/*
 * Broadcast channel, 0 to 255, for messages that the device itself sends. Entries carry a channel
 * of their own. Latched by PORT_CONFIGURE. (rw)
 */
#define SPFE_BROADCAST_BLOCK_CHANNEL 0x00000080U

/* Time-code configuration of the port in the block's instance field. */
#define SPFE_TIME_CODE_BLOCK_TYPE 7
#define SPFE_TIME_CODE_BLOCK_VERSION 1
#define SPFE_TIME_CODE_BLOCK_SIZE 0x00000100U
/*
 * Last time-code received (bits 7:0). With the capability INTERRUPTS distributed interrupts do not
 * count as time-codes here. (ro)
 */
#define SPFE_TIME_CODE_BLOCK_LAST 0x00000010U
/* Time-codes and distributed interrupts received (mod 2^32). (ro) */
#define SPFE_TIME_CODE_BLOCK_RECEIVED 0x00000014U
/* Received time-codes that were not the last value plus one (mod 64). (ro) */
#define SPFE_TIME_CODE_BLOCK_INVALID 0x00000018U

/*
 * Counters: one element per queue context, directly after the header. 64-bit pairs; read HI, LO,
 * HI.
 */
#define SPFE_STATISTICS_BLOCK_TYPE 8
#define SPFE_STATISTICS_BLOCK_VERSION 1
#define SPFE_STATISTICS_BLOCK_SIZE 0x00000010U
#define SPFE_STATISTICS_BLOCK_STRIDE 0x00000040U
/* Packets moved, low word. (ro) */
#define SPFE_STATISTICS_BLOCK_PACKETS_LO 0x00000000U
/* Packets moved, high word. (ro) */
#define SPFE_STATISTICS_BLOCK_PACKETS_HI 0x00000004U
/* Payload bytes moved, low word. (ro) */
#define SPFE_STATISTICS_BLOCK_BYTES_LO 0x00000008U
/* Payload bytes moved, high word. (ro) */
#define SPFE_STATISTICS_BLOCK_BYTES_HI 0x0000000cU
/*
 * Submissions completed with an error status, and those that a queue discards when it closes, low
 * word. (ro)
 */
#define SPFE_STATISTICS_BLOCK_ERRORS_LO 0x00000010U
/* High word. (ro) */
#define SPFE_STATISTICS_BLOCK_ERRORS_HI 0x00000014U
/* Number of times a packet had to wait for a receive buffer or area, low word. (ro) */
#define SPFE_STATISTICS_BLOCK_STALLS_LO 0x00000018U
/* High word. (ro) */
#define SPFE_STATISTICS_BLOCK_STALLS_HI 0x0000001cU
/* Wake-ups of the host, low word. (ro) */
#define SPFE_STATISTICS_BLOCK_WAKES_LO 0x00000020U
/* High word. (ro) */
#define SPFE_STATISTICS_BLOCK_WAKES_HI 0x00000024U
/* Messages dropped (message receive only; packets are never dropped), low word. (ro) */
#define SPFE_STATISTICS_BLOCK_DROPPED_LO 0x00000028U
/* High word. (ro) */
#define SPFE_STATISTICS_BLOCK_DROPPED_HI 0x0000002cU

/*
 * Management information base of the port in the block's instance field. It has as many elements as
 * the port has virtual channels or lanes, whichever is more. The 64-bit value of mib_item N is at
 * MIB_VALUE_BYTES times N in its element; read HI, LO, HI. It is 0 if PRESENT does not list the
 * item.
 */
#define SPFE_MIB_BLOCK_TYPE 9
#define SPFE_MIB_BLOCK_VERSION 1
#define SPFE_MIB_BLOCK_SIZE 0x00000010U
#define SPFE_MIB_BLOCK_STRIDE 0x00000200U
/* Bit N: this element has item N; items 0 to 31. (ro) */
#define SPFE_MIB_BLOCK_PRESENT_LO 0x000001f8U
/* Items 32 to 62. (ro) */
#define SPFE_MIB_BLOCK_PRESENT_HI 0x000001fcU

/*
 * Target of RDMA (capability TARGET): serves the memory in its table to the packets of one virtual
 * channel, without queues.
 */
#define SPFE_TARGET_BLOCK_TYPE 12
#define SPFE_TARGET_BLOCK_VERSION 1
#define SPFE_TARGET_BLOCK_SIZE 0x00000100U
/* Port of the target. (ro) */
#define SPFE_TARGET_BLOCK_PORT 0x00000010U
/* Virtual channel of the requests. It has no receive queue. (ro) */
#define SPFE_TARGET_BLOCK_VC 0x00000014U
/* Entries of the table, 2 to 128. (ro) */
#define SPFE_TARGET_BLOCK_ENTRIES 0x00000018U
/* Entries that are there from power-up on, the first ones. No command changes them. (ro) */
#define SPFE_TARGET_BLOCK_FIXED 0x0000001cU
/* Protocol identifier, 0xf0 to 0xfe. (ro) */
#define SPFE_TARGET_BLOCK_PROTOCOL 0x00000020U
/* Logical address of the target. (ro) */
#define SPFE_TARGET_BLOCK_LOGICAL_ADDRESS 0x00000024U
/* Largest payload of a packet in bytes. (ro) */
#define SPFE_TARGET_BLOCK_SEGMENT 0x00000028U
/* Requests executed (mod 2^32, as all counters of this block). (ro) */
#define SPFE_TARGET_BLOCK_EXECUTED 0x0000002cU
/* Requests that had been executed before. (ro) */
#define SPFE_TARGET_BLOCK_REPEATED 0x00000030U
/* Requests answered with an error. (ro) */
#define SPFE_TARGET_BLOCK_REFUSED 0x00000034U
/* Packets discarded without an answer. (ro) */
#define SPFE_TARGET_BLOCK_DISCARDED 0x00000038U
/* Notifications lost because too many waited. (ro) */
#define SPFE_TARGET_BLOCK_NOTES_LOST 0x0000003cU
/*
 * Notifications that wait. The other registers of this line and the next show the oldest one; they
 * are 0 if there is none. (ro)
 */
#define SPFE_TARGET_BLOCK_NOTES 0x00000040U
/* Its target_note_sender. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_SENDER 0x00000044U
/* Its target_note_request. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_REQUEST 0x00000048U
/* Bytes of the operation. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_LENGTH 0x0000004cU
/* Address of the operation as the initiator gave it, low word. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_ADDRESS_LO 0x00000050U
/* Address, high word. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_ADDRESS_HI 0x00000054U
/* Device time of the operation in ns, low word. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_TIME_LO 0x00000058U
/* Time, high word. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_TIME_HI 0x0000005cU
/* Immediate data; 0 without. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_IMMEDIATE 0x00000060U
/* target_note_flags. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_FLAGS 0x00000064U
/*
 * Bytes 0 to 3 of a message (SEND), the first one least significant. Up to 32 bytes follow each
 * other from here. (ro)
 */
#define SPFE_TARGET_BLOCK_NOTE_DATA_0 0x00000080U
/* Bytes 28 to 31 of a message. (ro) */
#define SPFE_TARGET_BLOCK_NOTE_DATA_7 0x0000009cU
/*
 * Remote key: index (20 bits), equal to CFG_INDEX, and generation (12 bits), which should be random
 * and is not 0. (rw)
 */
#define SPFE_TARGET_BLOCK_KEY 0x000000c0U
/* key_options. With NOTIFY each operation makes a notification. (rw) */
#define SPFE_TARGET_BLOCK_OPTIONS 0x000000c4U
/* Address of the first byte as others see it, low word. (rw) */
#define SPFE_TARGET_BLOCK_ADDRESS_LO 0x000000c8U
/* Address, high word. (rw) */
#define SPFE_TARGET_BLOCK_ADDRESS_HI 0x000000ccU
/* Size in bytes, 1 or more, low word. (rw) */
#define SPFE_TARGET_BLOCK_SIZE_LO 0x000000d0U
/* Size, high word. (rw) */
#define SPFE_TARGET_BLOCK_SIZE_HI 0x000000d4U
/* Bus address of the first byte, low word. (rw) */
#define SPFE_TARGET_BLOCK_MEMORY_LO 0x000000d8U
/* Bus address, high word. (rw) */
#define SPFE_TARGET_BLOCK_MEMORY_HI 0x000000dcU
/*
 * Logical addresses that may use the entry, 4 bytes; 0 stands for none, and 0 in all bytes for
 * everybody. (rw)
 */
#define SPFE_TARGET_BLOCK_INITIATORS 0x000000e0U
/*
 * Event vector to signal at a notification, plus 1; 0 for none. Each command on the target latches
 * it. (rw)
 */
#define SPFE_TARGET_BLOCK_NOTE_VECTOR 0x000000e4U

/*
 * Counters of queue pairs of the port in the block's instance field (capability PAIR_COUNTERS):
 * element V belongs to virtual channel V. The 64-bit value of pair_counter N is at PAIR_VALUE_BYTES
 * times N in its element; read HI, LO, HI. It is 0 if PRESENT does not list the counter.
 */
#define SPFE_PAIR_BLOCK_TYPE 13
#define SPFE_PAIR_BLOCK_VERSION 1
#define SPFE_PAIR_BLOCK_SIZE 0x00000010U
#define SPFE_PAIR_BLOCK_STRIDE 0x00000200U
/*
 * Bit N: the queue pair has counter N; counters 0 to 31. 0 if the virtual channel has no queue
 * pair. (ro)
 */
#define SPFE_PAIR_BLOCK_PRESENT_LO 0x000001f8U
/* Counters 32 to 62. (ro) */
#define SPFE_PAIR_BLOCK_PRESENT_HI 0x000001fcU

/* The node behind the fabric port in the block's instance field (capability FABRIC). */
#define SPFE_FABRIC_BLOCK_TYPE 10
#define SPFE_FABRIC_BLOCK_VERSION 1
#define SPFE_FABRIC_BLOCK_SIZE 0x00000100U
/* Number of this node, 1 to NODES. (ro) */
#define SPFE_FABRIC_BLOCK_NODE 0x00000010U
/* Number of nodes, at most FABRIC_NODES_MAX: elements of the peer block. (ro) */
#define SPFE_FABRIC_BLOCK_NODES 0x00000014U
/*
 * Virtual channels to each node. Channel C to node N is virtual channel CHANNELS * (N - 1) + C of
 * this port; at its other end it is channel C to this node. Those to the own node are not used.
 * (ro)
 */
#define SPFE_FABRIC_BLOCK_CHANNELS 0x00000018U
/* Number of times that this node has started its port. (ro) */
#define SPFE_FABRIC_BLOCK_EPOCH 0x0000001cU
/* Doorbells that all nodes have rung here (mod 2^32). (ro) */
#define SPFE_FABRIC_BLOCK_RINGS 0x00000020U
/* Doorbells of this host that were refused (mod 2^32). (ro) */
#define SPFE_FABRIC_BLOCK_REFUSED 0x00000024U
/*
 * status of the last one: BAD_FIELD (NUMBER), NOT_FOUND (QUEUE leads to no node of this port),
 * LINK_DOWN (the node is not READY); OK if there was none. (ro)
 */
#define SPFE_FABRIC_BLOCK_REFUSED_STATUS 0x00000028U
/*
 * Event vector to signal when RINGS rises, plus 1: 1 to EVENTS; 0 for none. Latched by
 * PORT_CONFIGURE. (rw)
 */
#define SPFE_FABRIC_BLOCK_BELL_VECTOR 0x00000080U

/*
 * What the fabric port in the block's instance field sees of each node: element N - 1 is node N.
 * The first register of a row of PEER_DOORBELLS or PEER_SCRATCHPADS has its name; the others
 * follow, 4 bytes apart.
 */
#define SPFE_PEER_BLOCK_TYPE 11
#define SPFE_PEER_BLOCK_VERSION 1
#define SPFE_PEER_BLOCK_SIZE 0x00000010U
#define SPFE_PEER_BLOCK_STRIDE 0x00000100U
/* node_state. (ro) */
#define SPFE_PEER_BLOCK_STATE 0x00000000U
/* Number of times that the node has started its port. (ro) */
#define SPFE_PEER_BLOCK_EPOCH 0x00000004U
/* Doorbells that the node has rung here: the sum of all numbers (mod 2^32). (ro) */
#define SPFE_PEER_BLOCK_RINGS 0x00000008U
/*
 * How often the node has rung doorbell 0 (mod 2^32); 0 again when it starts with a new epoch. (ro)
 */
#define SPFE_PEER_BLOCK_DOORBELL 0x00000040U
/* Scratchpad 0 that the node has published; 0 again when it starts with a new epoch. (ro) */
#define SPFE_PEER_BLOCK_INWARD 0x00000080U
/* Scratchpad 0 for the node. A doorbell to it publishes all of them. (rw) */
#define SPFE_PEER_BLOCK_OUTWARD 0x000000c0U

/* Every item: X(name, number, layer, kind, access, scope, min, max, unit, title). */
#define SPFE_MIB_TABLE(X) \
	X(VIRTUAL_NETWORK, 0, NETWORK, PARAMETER, RW, VC, 0x0000000000000000ULL, 0x000000000000003fULL, "", "Virtual Network Number") \
	X(BROADCAST_CHANNEL, 1, NETWORK, PARAMETER, RW, LINK, 0x0000000000000000ULL, 0x00000000000000ffULL, "", "Broadcast Channel") \
	X(INTERFACE_RESET, 2, DATA_LINK, PARAMETER, COMMAND, LINK, 0x0000000000000001ULL, 0x0000000000000001ULL, "", "Interface Reset") \
	X(LINK_RESET, 3, DATA_LINK, PARAMETER, COMMAND, LINK, 0x0000000000000001ULL, 0x0000000000000001ULL, "", "Link Reset") \
	X(DATA_SCRAMBLED, 4, DATA_LINK, PARAMETER, RW, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Data Scrambled") \
	X(EXPECTED_BROADCAST_BANDWIDTH, 5, DATA_LINK, PARAMETER, RW, LINK, 0x0000000000000000ULL, 0x000000000000ffffULL, "1/65536", "Expected Broadcast Bandwidth") \
	X(PRIORITY, 6, DATA_LINK, PARAMETER, RW, VC, 0x0000000000000000ULL, 0x000000000000000fULL, "", "Priority") \
	X(EXPECTED_BANDWIDTH, 7, DATA_LINK, PARAMETER, RW, VC, 0x0000000000000000ULL, 0x000000000000ffffULL, "1/65536", "Expected Bandwidth") \
	X(TIME_SLOTS, 8, DATA_LINK, PARAMETER, RW, VC, 0x0000000000000000ULL, 0xffffffffffffffffULL, "mask", "Time-slots") \
	X(CONTINUOUS_MODE, 9, DATA_LINK, PARAMETER, RW, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Continuous Mode") \
	X(IDLE_TIME_LIMIT, 10, DATA_LINK, PARAMETER, RW, LINK, 0x0000000000000000ULL, 0x00000000ffffffffULL, "rows", "Idle Time Limit") \
	X(BANDWIDTH_CREDIT_LIMIT, 11, DATA_LINK, PARAMETER, RO, LINK, 0x0000000000000001ULL, 0x0000000001000000ULL, "rows", "Bandwidth Credit Limit") \
	X(MINIMUM_BANDWIDTH_CREDIT_THRESHOLD, 12, DATA_LINK, PARAMETER, RO, LINK, 0x0000000000000000ULL, 0x000000000000000aULL, "-1/10", "Minimum Bandwidth Credit Threshold") \
	X(FCT_MULTIPLIER, 13, DATA_LINK, PARAMETER, RO, LINK, 0x0000000000000001ULL, 0x0000000000000008ULL, "64 words", "FCT Multiplier") \
	X(SEGMENT_MULTIPLIER, 14, DATA_LINK, PARAMETER, RO, LINK, 0x0000000000000001ULL, 0x0000000000000010ULL, "64 words", "Segment Multiplier") \
	X(TX_EN, 15, MULTI_LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "TxEn") \
	X(RX_EN, 16, MULTI_LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "RxEn") \
	X(MAX_DATA_SENDING_LANES, 17, MULTI_LANE, PARAMETER, RW, LINK, 0x0000000000000001ULL, 0x0000000000000010ULL, "lanes", "Maximum Number of Data-Sending Lanes") \
	X(BYPASS, 18, MULTI_LANE, PARAMETER, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Bypass") \
	X(LANE_START, 19, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "LaneStart") \
	X(AUTO_START, 20, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "AutoStart") \
	X(LANE_RESET, 21, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "LaneReset") \
	X(NEAR_END_PARALLEL_LOOPBACK, 22, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Near-End Parallel Loopback") \
	X(FAR_END_PARALLEL_LOOPBACK, 23, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Far-End Parallel Loopback") \
	X(STANDBY_REASON, 24, LANE, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x00000000000000ffULL, "", "Standby Reason") \
	X(NEAR_END_SERIAL_LOOPBACK, 25, PHYSICAL, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Near-End Serial Loopback") \
	X(FAR_END_SERIAL_LOOPBACK, 26, PHYSICAL, PARAMETER, RW, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Far-End Serial Loopback") \
	X(HAS_CREDIT, 27, DATA_LINK, STATUS, RO, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Has Credit") \
	X(INPUT_BUFFER_OVERFLOW, 28, DATA_LINK, ERROR, RO, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Input Buffer Overflow") \
	X(FCT_CREDIT_OVERFLOW, 29, DATA_LINK, ERROR, RO, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "FCT Credit Overflow") \
	X(BANDWIDTH_OVER_USE, 30, DATA_LINK, ERROR, RO, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Bandwidth Over-use") \
	X(BANDWIDTH_UNDER_USE, 31, DATA_LINK, ERROR, RO, VC, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Bandwidth Under-use") \
	X(CRC16_ERROR, 32, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "CRC-16 Error") \
	X(CRC8_ERROR, 33, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "CRC-8 Error") \
	X(FRAME_ERROR, 34, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Frame Error") \
	X(SEQUENCE_ERROR, 35, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Sequence Error") \
	X(ERROR_RECOVERY_BUFFER_EMPTY, 36, DATA_LINK, STATUS, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Error Recovery Buffer Empty") \
	X(ERROR_RECOVERY_ATTEMPTS, 37, DATA_LINK, STATUS, RO, LINK, 0x0000000000000000ULL, 0xffffffffffffffffULL, "NACKs", "Error Recovery Attempts") \
	X(PROTOCOL_ERROR, 38, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Link Reset Caused by Protocol Error") \
	X(FAR_END_LINK_RESET, 39, DATA_LINK, ERROR, RO, LINK, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Far-End Link Reset") \
	X(CURRENT_TIME_SLOT, 40, DATA_LINK, STATUS, RO, LINK, 0x0000000000000000ULL, 0x000000000000003fULL, "", "Current Time-slot") \
	X(DATA_SENDING_LANES, 41, MULTI_LANE, STATUS, RO, LINK, 0x0000000000000000ULL, 0x000000000000ffffULL, "mask", "Data-Sending Lanes") \
	X(DATA_RECEIVING_LANES, 42, MULTI_LANE, STATUS, RO, LINK, 0x0000000000000000ULL, 0x000000000000ffffULL, "mask", "Data-Receiving Lanes") \
	X(ALIGNMENT_STATE, 43, MULTI_LANE, STATUS, RO, LINK, 0x0000000000000000ULL, 0x0000000000000002ULL, "", "Alignment State") \
	X(MISALIGNED_EVENTS, 44, MULTI_LANE, ERROR, RO, LINK, 0x0000000000000000ULL, 0x00000000ffffffffULL, "events", "Misaligned Events") \
	X(LANE_STATE, 45, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x0000000000000009ULL, "", "Lane State") \
	X(RXERR_COUNT, 46, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x00000000000000ffULL, "words", "RXERR Count") \
	X(RXERR_OVERFLOW, 47, LANE, ERROR, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "RXERR Overflow") \
	X(FAR_END_STANDBY, 48, LANE, ERROR, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Far-End Standby") \
	X(FAR_END_STANDBY_REASON, 49, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x00000000000000ffULL, "", "Far-End Standby Reason") \
	X(TIMEOUT, 50, LANE, ERROR, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Timeout") \
	X(FAR_END_LOST_SIGNAL, 51, LANE, ERROR, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Far-End Lost Signal") \
	X(FAR_END_LOST_SIGNAL_CAUSE, 52, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x0000000000000003ULL, "", "Far-End Lost Signal Cause") \
	X(FAR_END_CAPABILITIES, 53, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x00000000000000ffULL, "mask", "Far-End Capabilities") \
	X(RX_POLARITY, 54, LANE, STATUS, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "RX Polarity") \
	X(NO_SIGNAL, 55, PHYSICAL, STATUS, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "No Signal") \
	X(BIT_SYNC, 56, PHYSICAL, STATUS, RO, LANE, 0x0000000000000000ULL, 0x0000000000000001ULL, "", "Bit Synchronised") \
	X(SCHEDULE, 57, DATA_LINK, PARAMETER, COMMAND, LINK, 0x0000000000000000ULL, 0x000000000000003fULL, "", "Schedule") \
	X(SCHEDULE_TYPE, 58, NETWORK, PARAMETER, RW, LINK, 0x0000000000000000ULL, 0x0000000000000100ULL, "", "Schedule Type")

#endif
