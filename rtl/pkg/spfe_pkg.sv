// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from contract/spfe.toml: do not edit; run `make gen`.
/* verilator lint_off UNUSEDPARAM */
/* verilator lint_off DECLFILENAME */

/// The spfe contract: constants, enums, ring entries, register offsets.
package spfe_pkg;
  /// Value of the register MAGIC.
  localparam logic [31:0] CONTRACT_MAGIC = 32'h53504645;
  /// Must be equal on both sides.
  localparam logic [15:0] CONTRACT_VERSION_MAJOR = 16'h0001;
  /// A higher minor version only adds to the contract.
  localparam logic [15:0] CONTRACT_VERSION_MINOR = 16'h000a;
  /// Size of every ring entry, submission or completion.
  localparam logic [31:0] ENTRY_BYTES = 32'd16;
  /// Smallest ring: 4 entries, one cache line of 64 bytes.
  localparam logic [31:0] RING_LOG2_MIN = 32'd2;
  /// Largest ring: 32768 entries, so a 16-bit ring position is never ambiguous.
  localparam logic [31:0] RING_LOG2_MAX = 32'd15;
  /// Low bits of the 16-bit region field of an entry: index into the memory-region table.
  localparam logic [31:0] REGION_INDEX_BITS = 32'd12;
  /// High bits of the region field: generation of that index. It reveals an entry that names a
  /// revoked region.
  localparam logic [31:0] REGION_GENERATION_BITS = 32'd4;
  /// Bits of the byte offset inside a region.
  localparam logic [31:0] OFFSET_BITS = 32'd48;
  /// Maximum bytes in an inline entry (8 in the address word, 3 in the length word): enough for a
  /// SpaceFibre path address.
  localparam logic [31:0] INLINE_MAX_BYTES = 32'd11;
  /// Entries from which every device can gather one packet. A longer chain than register CHAIN_MAX
  /// of the device allows completes with CHAIN_TOO_LONG.
  localparam logic [31:0] CHAIN_MAX = 32'd16;
  /// Maximum packets that one burst entry describes.
  localparam logic [31:0] BURST_MAX = 32'd65535;
  /// Local elements of a work request, each of which is a DATA or INLINE slot.
  localparam logic [31:0] WORK_ELEMENTS_MAX = 32'd4;
  /// Slots of the longest work request: the first one, two operands and 4 local elements.
  localparam logic [31:0] WORK_SLOTS_MAX = 32'd7;
  /// Remote keys of a queue pair. The index of a key, its upper 20 bits, is less.
  localparam logic [31:0] REMOTE_KEYS_MAX = 32'd128;
  /// Longest piece one entry may describe (1 GiB). Longer packets are sent as pieces with end
  /// marker NONE.
  localparam logic [31:0] PACKET_MAX_BYTES = 32'd1073741824;
  /// Longest packet whose bytes a wide completion holds.
  localparam logic [31:0] BESIDE_BYTES = 32'd40;
  /// Records of a packed receive area start at multiples of this many bytes.
  localparam logic [31:0] PACKED_ALIGN = 32'd8;
  /// Size of the header in front of each record of a packed receive area.
  localparam logic [31:0] PACKED_HEADER_BYTES = 32'd8;
  /// Smallest packed receive area; larger areas are multiples of 8 bytes up to 1 GiB.
  localparam logic [31:0] PACKED_AREA_MIN_BYTES = 32'd4096;
  /// Maximum virtual channels of a SpaceFibre port (ECSS-E-ST-50-11C: VC 0 to 31).
  localparam logic [31:0] VC_MAX = 32'd32;
  /// Maximum virtual channels of a fabric port: VC 0 to 254, because 255 stands for message
  /// contexts.
  localparam logic [31:0] FABRIC_VC_MAX = 32'd255;
  /// Bytes of a value in the mib block. The value of item N is at N times this offset in its
  /// element.
  localparam logic [31:0] MIB_VALUE_BYTES = 32'd8;
  /// Bytes of a value in the pair block. The value of pair_counter N is at N times this offset in
  /// its element.
  localparam logic [31:0] PAIR_VALUE_BYTES = 32'd8;
  /// Bytes from one client's doorbell page to the next; 65536 where CAP_DOORBELL_64K is set.
  localparam logic [31:0] DOORBELL_STRIDE = 32'd4096;
  /// log2 of the smallest page size of a page list in bytes: 4 KiB.
  localparam logic [31:0] PAGE_LOG2_MIN = 32'd12;
  /// log2 of the largest page size of a page list in bytes: 1 GiB.
  localparam logic [31:0] PAGE_LOG2_MAX = 32'd30;
  /// Addresses in a table of a page list with levels: a table is 4 KiB, aligned to 4 KiB.
  localparam logic [31:0] PAGE_TABLE_ENTRIES = 32'd512;
  /// Most levels of a page list: 512 GiB in pages of 4 KiB.
  localparam logic [31:0] PAGE_LEVELS_MAX = 32'd3;
  /// Byte offset in doorbell page 0 of the 32-bit counts seen, 4 bytes for each event vector
  /// (capability LEVEL).
  localparam logic [31:0] SEEN_OFFSET = 32'd2048;
  /// Most event vectors that a device with the capability LEVEL has.
  localparam logic [31:0] SEEN_VECTORS = 32'd512;
  /// Most nodes of a PCIe fabric; node numbers are 1 to 64.
  localparam logic [31:0] FABRIC_NODES_MAX = 32'd64;
  /// Doorbells from one node of a fabric to another.
  localparam logic [31:0] PEER_DOORBELLS = 32'd16;
  /// Scratchpads from one node of a fabric to another, 32 bits each.
  localparam logic [31:0] PEER_SCRATCHPADS = 32'd16;
  /// PCI vendor ID and subsystem vendor ID of a virtual PCI Express device: that of Red Hat.
  /// Hardware has the IDs of its maker.
  localparam logic [31:0] PCI_VENDOR = 32'd6900;
  /// PCI device ID and subsystem ID of a virtual PCI Express device, from the range for
  /// experiments, 0x10f0 to 0x10ff, which is assigned to nobody.
  localparam logic [31:0] PCI_DEVICE = 32'd4341;
  /// PCI class code: other network controller.
  localparam logic [31:0] PCI_CLASS = 32'd163840;

  /// Type of a submission entry (bits 3:0 of its flags).
  typedef enum logic [7:0] {
    /// Never valid; an all-zero entry is an error, not a transfer.
    ENTRY_TYPE_INVALID = 8'h00,
    /// Transmit: send the bytes at an address.
    ENTRY_TYPE_DATA = 8'h01,
    /// Transmit: send up to 11 bytes from the entry itself.
    ENTRY_TYPE_INLINE = 8'h02,
    /// Transmit: send several packets of one length at a fixed stride. A BURST_EXT entry follows.
    ENTRY_TYPE_BURST = 8'h03,
    /// Second entry of a burst.
    ENTRY_TYPE_BURST_EXT = 8'h04,
    /// Receive: one buffer to fill.
    ENTRY_TYPE_BUFFER = 8'h05,
    /// Packed and message receive: return bytes and completion credits to the device.
    ENTRY_TYPE_RELEASE = 8'h06,
    /// Transmit: send one message: message_kind.
    ENTRY_TYPE_MESSAGE = 8'h07,
    /// First slot of a work request: remote address and key. Its flags are work_flags.
    ENTRY_TYPE_RDMA = 8'h08,
    /// Operand of a work request: immediate data, or an operand of an atomic operation.
    ENTRY_TYPE_OPERAND = 8'h09
  } entry_type_e;

  /// End of a packet or of a piece of it (ECSS-E-ST-50-11C 5.3.7).
  typedef enum logic [7:0] {
    /// End of packet.
    END_MARKER_EOP = 8'h00,
    /// Error end of packet: an error cut the packet.
    END_MARKER_EEP = 8'h01,
    /// No end marker: the packet continues in the next entry, buffer or record.
    END_MARKER_NONE = 8'h02
  } end_marker_e;

  /// Kind of a queue context.
  typedef enum logic [7:0] {
    /// Unused context.
    QUEUE_KIND_NONE = 8'h00,
    /// Transmits packets on one virtual channel.
    QUEUE_KIND_TX = 8'h01,
    /// Receives packets of one virtual channel into posted buffers.
    QUEUE_KIND_RX = 8'h02,
    /// Receives packets of one virtual channel, back to back in one area.
    QUEUE_KIND_RX_PACKED = 8'h03,
    /// Transmits broadcast messages or time-codes.
    QUEUE_KIND_MESSAGE_TX = 8'h04,
    /// Receives broadcast messages or time-codes.
    QUEUE_KIND_MESSAGE_RX = 8'h05,
    /// Work requests of a queue pair, in a transmit context of a virtual channel (capability RDMA).
    QUEUE_KIND_RDMA = 8'h06,
    /// Buffers for the messages to a queue pair, in a receive context of a virtual channel
    /// (capability RDMA).
    QUEUE_KIND_RDMA_RX = 8'h07
  } queue_kind_e;

  /// What a work request does (OPCODE of work_flags).
  typedef enum logic [7:0] {
    /// Write the local elements to remote memory.
    WORK_OPCODE_WRITE = 8'h01,
    /// Read remote memory into the local elements.
    WORK_OPCODE_READ = 8'h02,
    /// Send the local elements as a message.
    WORK_OPCODE_SEND = 8'h03,
    /// Add the operand to 8 bytes of remote memory. The local element gets the old value.
    WORK_OPCODE_FETCH_ADD = 8'h04,
    /// Exchange 8 bytes of remote memory for the second operand if they are equal to the first. The
    /// local element gets the old value.
    WORK_OPCODE_CMP_SWAP = 8'h05,
    /// Complete when all earlier writes are in remote memory.
    WORK_OPCODE_FLUSH = 8'h06,
    /// Ask the target what it can do; 32 bytes.
    WORK_OPCODE_INFO = 8'h07,
    /// Ask the target for its regions; 24 bytes each.
    WORK_OPCODE_REGIONS = 8'h08,
    /// WRITE, and the operand as immediate data for a receive buffer of the target.
    WORK_OPCODE_WRITE_IMM = 8'h09,
    /// SEND with the operand as immediate data.
    WORK_OPCODE_SEND_IMM = 8'h0b,
    /// Let others use the local element under the remote key of this entry, as the operand says
    /// (capability REMOTE_KEYS).
    WORK_OPCODE_BIND = 8'h0c,
    /// Take the remote key of this entry back (capability REMOTE_KEYS).
    WORK_OPCODE_UNBIND = 8'h0d
  } work_opcode_e;

  /// State of a queue pair.
  typedef enum logic [7:0] {
    /// Not connected. The first work request connects it.
    QUEUE_PAIR_STATE_RESET = 8'h00,
    /// Waits for the answer to CONNECT.
    QUEUE_PAIR_STATE_CONNECTING = 8'h01,
    /// Work requests are executed (RTS in verbs).
    QUEUE_PAIR_STATE_READY = 8'h02,
    /// A work request has failed, and the following ones complete with FLUSHED. Disable the queue
    /// and enable it again.
    QUEUE_PAIR_STATE_ERROR = 8'h03
  } queue_pair_state_e;

  /// What a queue pair waits for.
  typedef enum logic [7:0] {
    /// Nothing is outstanding.
    QUEUE_PAIR_WAIT_NOTHING = 8'h00,
    /// The virtual channel.
    QUEUE_PAIR_WAIT_TRANSMIT = 8'h01,
    /// The answer to CONNECT.
    QUEUE_PAIR_WAIT_CONNECT = 8'h02,
    /// The answer to a message.
    QUEUE_PAIR_WAIT_ANSWER = 8'h03,
    /// An acknowledgement: as many messages are outstanding as the window allows.
    QUEUE_PAIR_WAIT_WINDOW = 8'h04,
    /// Reads and atomic operations before a fence.
    QUEUE_PAIR_WAIT_FENCE = 8'h05,
    /// A result: as many reads and atomic operations are outstanding as the target allows.
    QUEUE_PAIR_WAIT_READS = 8'h06,
    /// A receive buffer of the partner.
    QUEUE_PAIR_WAIT_CREDIT = 8'h07,
    /// A time: the receiver was not ready or busy.
    QUEUE_PAIR_WAIT_RECEIVER = 8'h08
  } queue_pair_wait_e;

  /// Counter of a queue pair, in its element of the pair block. Those with TARGET count the packets
  /// of its partner and of others, the rest its own work requests. Their names are those that
  /// people see. Numbers are at most 62 and never reused.
  typedef enum logic [7:0] {
    /// Work requests completed.
    PAIR_COUNTER_COMPLETED = 8'h00,
    /// Work requests failed. Each ends the queue pair.
    PAIR_COUNTER_FAILED = 8'h01,
    /// Work requests completed with FLUSHED.
    PAIR_COUNTER_FLUSHED = 8'h02,
    /// Packets of work requests sent.
    PAIR_COUNTER_PACKETS = 8'h03,
    /// Payload bytes sent.
    PAIR_COUNTER_BYTES = 8'h04,
    /// Packets sent again.
    PAIR_COUNTER_RESENT = 8'h05,
    /// Messages repeated because no answer came in time.
    PAIR_COUNTER_TIMEOUTS = 8'h06,
    /// Refusals after which a message was repeated.
    PAIR_COUNTER_REFUSALS = 8'h07,
    /// Answers to nothing that is outstanding.
    PAIR_COUNTER_STALE = 8'h08,
    /// Packets that are no intact answer.
    PAIR_COUNTER_INVALID = 8'h09,
    /// Messages tried without credit because no announcement of buffers came.
    PAIR_COUNTER_PROBES = 8'h0a,
    /// Completed work requests that needed no packets.
    PAIR_COUNTER_NEAR = 8'h0b,
    /// Packets of WRITE executed.
    PAIR_COUNTER_TARGET_WRITES = 8'h0c,
    /// READ executed.
    PAIR_COUNTER_TARGET_READS = 8'h0d,
    /// Packets of SEND executed.
    PAIR_COUNTER_TARGET_SENDS = 8'h0e,
    /// FETCH_ADD executed.
    PAIR_COUNTER_TARGET_FETCH_ADDS = 8'h0f,
    /// CMP_SWAP executed.
    PAIR_COUNTER_TARGET_COMPARE_SWAPS = 8'h10,
    /// FLUSH executed.
    PAIR_COUNTER_TARGET_FLUSHES = 8'h11,
    /// INFO executed.
    PAIR_COUNTER_TARGET_INFOS = 8'h12,
    /// REGIONS executed.
    PAIR_COUNTER_TARGET_REGION_LISTS = 8'h13,
    /// Announcements of buffers executed.
    PAIR_COUNTER_TARGET_CREDITS = 8'h14,
    /// CONNECT executed.
    PAIR_COUNTER_TARGET_CONNECTS = 8'h15,
    /// DISCONNECT executed.
    PAIR_COUNTER_TARGET_DISCONNECTS = 8'h16,
    /// Refused: version of the protocol.
    PAIR_COUNTER_TARGET_BAD_VERSION = 8'h17,
    /// Refused: opcode.
    PAIR_COUNTER_TARGET_BAD_OPCODE = 8'h18,
    /// Refused: no memory has the remote key.
    PAIR_COUNTER_TARGET_BAD_KEY = 8'h19,
    /// Refused: outside the memory of the remote key.
    PAIR_COUNTER_TARGET_BOUNDS = 8'h1a,
    /// Refused: right or initiator.
    PAIR_COUNTER_TARGET_ACCESS = 8'h1b,
    /// Refused: length or alignment does not fit the opcode.
    PAIR_COUNTER_TARGET_BAD_LENGTH = 8'h1c,
    /// Refused: no receive buffer.
    PAIR_COUNTER_TARGET_RECEIVER_NOT_READY = 8'h1d,
    /// Refused: the message is longer than the receive buffer.
    PAIR_COUNTER_TARGET_MESSAGE_TOO_LONG = 8'h1e,
    /// Refused: wrong CRC of the payload.
    PAIR_COUNTER_TARGET_PAYLOAD_CRC = 8'h1f,
    /// Refused: the packet ended before its payload did.
    PAIR_COUNTER_TARGET_SHORT = 8'h20,
    /// Refused: bytes after the payload.
    PAIR_COUNTER_TARGET_LONG = 8'h21,
    /// Refused: the packet ended with EEP.
    PAIR_COUNTER_TARGET_EEP = 8'h22,
    /// Refused: the memory failed.
    PAIR_COUNTER_TARGET_MEMORY = 8'h23,
    /// Refused: too many reads and atomic operations wait.
    PAIR_COUNTER_TARGET_BUSY = 8'h24,
    /// Refused: no such queue pair, or not connected to the sender.
    PAIR_COUNTER_TARGET_BAD_QUEUE = 8'h25,
    /// Refused: a message before this one is missing.
    PAIR_COUNTER_TARGET_SEQUENCE = 8'h26,
    /// Refused: the remote key was taken back during the message.
    PAIR_COUNTER_TARGET_REVOKED = 8'h27,
    /// Refused: anything else.
    PAIR_COUNTER_TARGET_GENERAL = 8'h28,
    /// Packets of messages that had been executed before.
    PAIR_COUNTER_TARGET_REPEATED = 8'h29,
    /// Discarded: another protocol.
    PAIR_COUNTER_TARGET_OTHER_PROTOCOL = 8'h2a,
    /// Discarded: the packet ended in its header.
    PAIR_COUNTER_TARGET_SHORT_HEADER = 8'h2b,
    /// Discarded: a length of the header that is not allowed.
    PAIR_COUNTER_TARGET_HEADER_LENGTH = 8'h2c,
    /// Discarded: wrong CRC of the header.
    PAIR_COUNTER_TARGET_HEADER_CRC = 8'h2d,
    /// Discarded: the header contradicts itself.
    PAIR_COUNTER_TARGET_HEADER_LAYOUT = 8'h2e,
    /// Discarded: for another logical address.
    PAIR_COUNTER_TARGET_NOT_OURS = 8'h2f,
    /// Discarded: after a refusal or a gap that was reported.
    PAIR_COUNTER_TARGET_DRAINED = 8'h30,
    /// Discarded: a repeated atomic operation whose result is no longer kept.
    PAIR_COUNTER_TARGET_FORGOTTEN = 8'h31,
    /// Notifications lost because nobody read them in time.
    PAIR_COUNTER_TARGET_NOTIFICATIONS_DROPPED = 8'h32
  } pair_counter_e;

  /// Protocol of a port.
  typedef enum logic [7:0] {
    /// No port.
    PORT_KIND_NONE = 8'h00,
    /// SpaceFibre port: virtual channels and broadcast messages.
    PORT_KIND_SPACEFIBRE = 8'h01,
    /// SpaceWire port: one channel and time-codes.
    PORT_KIND_SPACEWIRE = 8'h02,
    /// Node of a PCIe fabric: virtual channels to every other node, doorbells and scratchpads
    /// (capability FABRIC).
    PORT_KIND_FABRIC = 8'h03
  } port_kind_e;

  /// State of a link for software. The port's MIB has the states of lanes and link in detail.
  typedef enum logic [7:0] {
    /// Not connected or disabled.
    PORT_STATE_DOWN = 8'h00,
    /// Initialising.
    PORT_STATE_STARTING = 8'h01,
    /// Packets can pass.
    PORT_STATE_UP = 8'h02
  } port_state_e;

  /// State of a node of a fabric, as another node sees it.
  typedef enum logic [7:0] {
    /// The node has not started its port, or there is no such node.
    NODE_STATE_ABSENT = 8'h00,
    /// No path leads to the node.
    NODE_STATE_NO_LINK = 8'h01,
    /// The node has started its port; this one has not.
    NODE_STATE_LINK = 8'h02,
    /// Packets, accesses and doorbells go both ways.
    NODE_STATE_READY = 8'h03,
    /// The node broke a rule of the fabric. It must start again.
    NODE_STATE_ERROR = 8'h04
  } node_state_e;

  /// State of a queue context.
  typedef enum logic [7:0] {
    /// Not configured, or disabled. The rings belong to the host.
    QUEUE_STATE_DISABLED = 8'h00,
    /// The queue works.
    QUEUE_STATE_ENABLED = 8'h01,
    /// The device could not read the rings. Destroy the queue and create it again.
    QUEUE_STATE_ERROR = 8'h02
  } queue_state_e;

  /// Content of a message entry.
  typedef enum logic [7:0] {
    /// SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5); BAD_OPCODE on other ports.
    MESSAGE_KIND_BROADCAST = 8'h01,
    /// SpaceWire time-code (ECSS-E-ST-50-12C); BAD_OPCODE on other ports.
    MESSAGE_KIND_TIME_CODE = 8'h02,
    /// SpaceWire distributed interrupt (ECSS-E-ST-50-12C 5.6.4, capability INTERRUPTS); BAD_OPCODE
    /// on other ports.
    MESSAGE_KIND_INTERRUPT = 8'h03
  } message_kind_e;

  /// Type of a register block. The list of blocks starts at offset 0; the next field of the header
  /// links it.
  typedef enum logic [15:0] {
    /// No block.
    BLOCK_TYPE_END = 16'h0000,
    /// Identity, capabilities, configuration latch, reset.
    BLOCK_TYPE_GLOBAL = 16'h0001,
    /// A port; one block per port.
    BLOCK_TYPE_PORT = 16'h0002,
    /// Queue contexts, an array.
    BLOCK_TYPE_QUEUE = 16'h0003,
    /// Memory-region table, an array.
    BLOCK_TYPE_REGION = 16'h0004,
    /// Event vectors, an array.
    BLOCK_TYPE_EVENT = 16'h0005,
    /// Broadcast configuration of one SpaceFibre port.
    BLOCK_TYPE_BROADCAST = 16'h0006,
    /// Time-code configuration of one SpaceWire port.
    BLOCK_TYPE_TIME_CODE = 16'h0007,
    /// Counters of one queue context, an array.
    BLOCK_TYPE_STATISTICS = 16'h0008,
    /// Management information base of one port, an array.
    BLOCK_TYPE_MIB = 16'h0009,
    /// The node behind one fabric port.
    BLOCK_TYPE_FABRIC = 16'h000a,
    /// Nodes that one fabric port sees, an array.
    BLOCK_TYPE_PEER = 16'h000b,
    /// Target of RDMA that serves memory without queues.
    BLOCK_TYPE_TARGET = 16'h000c,
    /// Counters of the queue pairs of one port, an array.
    BLOCK_TYPE_PAIR = 16'h000d
  } block_type_e;

  /// Reason for ringing a doorbell (KIND in the store to a doorbell page).
  typedef enum logic [7:0] {
    /// The host posted submissions.
    DOORBELL_KIND_SUBMIT = 8'h00,
    /// The host armed a completion ring.
    DOORBELL_KIND_ARM = 8'h01,
    /// The host wrote a new command to the configuration latch.
    DOORBELL_KIND_LATCH = 8'h02,
    /// Ring doorbell NUMBER of the node to which QUEUE leads, after publishing the scratchpads
    /// (capability FABRIC). Page 0 only.
    DOORBELL_KIND_PEER = 8'h03
  } doorbell_kind_e;

  /// Command of the configuration latch in the global block. The device carries it out when CFG_SEQ
  /// changes.
  typedef enum logic [7:0] {
    /// Acknowledge only.
    COMMAND_NOP = 8'h00,
    /// Read the queue context CFG_INDEX and start the queue.
    COMMAND_QUEUE_ENABLE = 8'h01,
    /// Stop the queue CFG_INDEX. After the acknowledgement the device no longer accesses its rings
    /// and buffers.
    COMMAND_QUEUE_DISABLE = 8'h02,
    /// Read the region entry CFG_INDEX and make the region usable.
    COMMAND_REGION_ENABLE = 8'h03,
    /// Revoke the region CFG_INDEX. After the acknowledgement no access is in flight.
    COMMAND_REGION_DISABLE = 8'h04,
    /// Apply the configuration of the port CFG_INDEX.
    COMMAND_PORT_CONFIGURE = 8'h05,
    /// Stop every queue and revoke every region.
    COMMAND_RESET = 8'h06,
    /// Set item MIB_ITEM in element MIB_ELEMENT of the port CFG_INDEX to MIB_VALUE (capability
    /// MIB).
    COMMAND_MIB_SET = 8'h07,
    /// Let others use the memory that the target block describes, as its entry CFG_INDEX
    /// (capability TARGET).
    COMMAND_TARGET_SET = 8'h08,
    /// Take the entry CFG_INDEX back. After the acknowledgement no access to its memory is in
    /// flight (capability TARGET).
    COMMAND_TARGET_CLEAR = 8'h09,
    /// The host has read the oldest notification; show the next one (capability TARGET).
    COMMAND_TARGET_TAKE = 8'h0a
  } command_e;

  /// Result of a submission. The class says where the cause lies.
  typedef enum logic [7:0] {
    /// Done.
    STATUS_OK = 8'h00,
    /// Cancelled by its owner before it started.
    STATUS_CANCELLED = 8'h10,
    /// The device was reset while the submission was pending.
    STATUS_DEVICE_RESET = 8'h11,
    /// The device or its daemon is gone.
    STATUS_DEVICE_GONE = 8'h12,
    /// The device has no free queue, region or memory for it.
    STATUS_NO_RESOURCES = 8'h13,
    /// Another owner holds the object.
    STATUS_BUSY = 8'h14,
    /// The client has its share of queues, regions, events or memory. The device may have room for
    /// others.
    STATUS_QUOTA_EXCEEDED = 8'h15,
    /// An earlier work request of the queue pair failed, so this one was not completed.
    STATUS_FLUSHED = 8'h16,
    /// The far end went away with the packet unfinished.
    STATUS_PEER_GONE = 8'h20,
    /// The target refuses the work request: version, opcode, length or queue pair.
    STATUS_REMOTE_REQUEST = 8'h21,
    /// The target refuses the access: key, bounds, right or initiator.
    STATUS_REMOTE_ACCESS = 8'h22,
    /// The memory of the target failed.
    STATUS_REMOTE_MEMORY = 8'h23,
    /// A packet was damaged however often it was repeated, or the answer does not fit the request.
    STATUS_REMOTE_DATA = 8'h24,
    /// The target did not answer, however often the message was repeated.
    STATUS_NO_ANSWER = 8'h25,
    /// The target had no receive buffer or was busy, however often it was asked.
    STATUS_NOT_READY = 8'h26,
    /// The link went down and the submission was not delivered.
    STATUS_LINK_DOWN = 8'h30,
    /// The packet ended with EEP.
    STATUS_PACKET_CUT = 8'h31,
    /// The entry type, message kind or command is unknown or not allowed here.
    STATUS_BAD_OPCODE = 8'h40,
    /// The region was never registered, was revoked, or belongs to another client.
    STATUS_BAD_REGION = 8'h41,
    /// Offset plus length goes past the end of the region.
    STATUS_OUT_OF_BOUNDS = 8'h42,
    /// The region does not allow this kind of access.
    STATUS_ACCESS_DENIED = 8'h43,
    /// A packet or buffer of zero bytes.
    STATUS_EMPTY = 8'h44,
    /// Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.
    STATUS_TOO_LONG = 8'h45,
    /// More than CHAIN_MAX entries before the end of the packet.
    STATUS_CHAIN_TOO_LONG = 8'h46,
    /// The port has no such virtual channel.
    STATUS_BAD_VC = 8'h47,
    /// A field that must be zero is not, or a value is out of its range.
    STATUS_BAD_FIELD = 8'h48,
    /// Ring address, size or alignment is not acceptable.
    STATUS_BAD_RING = 8'h49,
    /// Host and device speak different major versions of this contract.
    STATUS_BAD_VERSION = 8'h4a,
    /// No such endpoint, port, queue, region index or event vector.
    STATUS_NOT_FOUND = 8'h4b
  } status_e;

  /// Layer of an item of the management information base (ECSS-E-ST-50-11C 5.9).
  typedef enum logic [7:0] {
    /// Network layer, 5.8.
    MIB_LAYER_NETWORK = 8'h00,
    /// Data link layer, 5.7.
    MIB_LAYER_DATA_LINK = 8'h01,
    /// Multi-lane layer, 5.6.
    MIB_LAYER_MULTI_LANE = 8'h02,
    /// Lane layer, 5.5.
    MIB_LAYER_LANE = 8'h03,
    /// Physical layer, 5.4.
    MIB_LAYER_PHYSICAL = 8'h04
  } mib_layer_e;

  /// Kind of an item of the management information base.
  typedef enum logic [7:0] {
    /// A parameter, from table 5-36.
    MIB_KIND_PARAMETER = 8'h00,
    /// A status value, from table 5-37.
    MIB_KIND_STATUS = 8'h01,
    /// An error, from table 5-37. It stays set until LINK_RESET or INTERFACE_RESET resets the link.
    MIB_KIND_ERROR = 8'h02
  } mib_kind_e;

  /// Access to an item of the management information base.
  typedef enum logic [7:0] {
    /// Read-only.
    MIB_ACCESS_RO = 8'h00,
    /// Readable, and settable with MIB_SET.
    MIB_ACCESS_RW = 8'h01,
    /// Setting it to 1 starts an action; it reads as 0.
    MIB_ACCESS_COMMAND = 8'h02
  } mib_access_e;

  /// Scope of an item: whether it exists once, per lane, or per virtual channel.
  typedef enum logic [7:0] {
    /// Once per link, in element 0.
    MIB_SCOPE_LINK = 8'h00,
    /// Once per lane; element L belongs to lane L.
    MIB_SCOPE_LANE = 8'h01,
    /// Once per virtual channel; element V belongs to virtual channel V.
    MIB_SCOPE_VC = 8'h02
  } mib_scope_e;

  /// Item of the management information base of a port (ECSS-E-ST-50-11C tables 5-36 and 5-37).
  typedef enum logic [7:0] {
    /// Virtual Network Number: Virtual network of a virtual channel; fixed to 0 on channel 0.
    MIB_ITEM_VIRTUAL_NETWORK = 8'h00,
    /// Broadcast Channel: Channel on which a node sends broadcast messages.
    MIB_ITEM_BROADCAST_CHANNEL = 8'h01,
    /// Interface Reset: Resets the link, and sets the parameters to their power-on values.
    MIB_ITEM_INTERFACE_RESET = 8'h02,
    /// Link Reset: Resets both ends of the link.
    MIB_ITEM_LINK_RESET = 8'h03,
    /// Data Scrambled: 1: data frames are scrambled. Takes effect at the next link reset.
    MIB_ITEM_DATA_SCRAMBLED = 8'h04,
    /// Expected Broadcast Bandwidth: Share of the link's bandwidth for broadcast messages.
    MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH = 8'h05,
    /// Priority: Priority of the virtual channel; 0 is the highest.
    MIB_ITEM_PRIORITY = 8'h06,
    /// Expected Bandwidth: Share of the link's bandwidth; 65535 is the whole link, 0 stops the
    /// channel.
    MIB_ITEM_EXPECTED_BANDWIDTH = 8'h07,
    /// Time-slots: Bit T: the channel may send in time-slot T.
    MIB_ITEM_TIME_SLOTS = 8'h08,
    /// Continuous Mode: 1: writes to the channel never wait for room.
    MIB_ITEM_CONTINUOUS_MODE = 8'h09,
    /// Idle Time Limit: Full bandwidth credit for longer than this counts as under-use.
    MIB_ITEM_IDLE_TIME_LIMIT = 8'h0a,
    /// Bandwidth Credit Limit: Maximum bandwidth credit; fixed when the link is created.
    MIB_ITEM_BANDWIDTH_CREDIT_LIMIT = 8'h0b,
    /// Minimum Bandwidth Credit Threshold: In tenths of the credit limit, below zero; fixed when
    /// the link is created.
    MIB_ITEM_MINIMUM_BANDWIDTH_CREDIT_THRESHOLD = 8'h0c,
    /// FCT Multiplier: Words that an FCT grants; fixed when the link is created.
    MIB_ITEM_FCT_MULTIPLIER = 8'h0d,
    /// Segment Multiplier: Maximum length of a data frame; fixed when the link is created.
    MIB_ITEM_SEGMENT_MULTIPLIER = 8'h0e,
    /// TxEn: 1: the transmitter of the lane is enabled.
    MIB_ITEM_TX_EN = 8'h0f,
    /// RxEn: 1: the receiver of the lane is enabled.
    MIB_ITEM_RX_EN = 8'h10,
    /// Maximum Number of Data-Sending Lanes: No more than the number of lanes. Takes effect at a
    /// link reset, and while no lane is active.
    MIB_ITEM_MAX_DATA_SENDING_LANES = 8'h11,
    /// Bypass: 1: the link is a plain single lane on lane 0, by configuration or because the far
    /// end needs it.
    MIB_ITEM_BYPASS = 8'h12,
    /// LaneStart: 1: start the lane, and keep trying.
    MIB_ITEM_LANE_START = 8'h13,
    /// AutoStart: 1: start the lane when the far end starts.
    MIB_ITEM_AUTO_START = 8'h14,
    /// LaneReset: 1: hold the lane in ClearLine.
    MIB_ITEM_LANE_RESET = 8'h15,
    /// Near-End Parallel Loopback: 1: the lane receives its own words.
    MIB_ITEM_NEAR_END_PARALLEL_LOOPBACK = 8'h16,
    /// Far-End Parallel Loopback: 1: the lane sends back the words it receives.
    MIB_ITEM_FAR_END_PARALLEL_LOOPBACK = 8'h17,
    /// Standby Reason: Reason that the lane sends in STANDBY.
    MIB_ITEM_STANDBY_REASON = 8'h18,
    /// Near-End Serial Loopback: 1: the lane receives its own bits.
    MIB_ITEM_NEAR_END_SERIAL_LOOPBACK = 8'h19,
    /// Far-End Serial Loopback: 1: the lane sends back the bits it receives.
    MIB_ITEM_FAR_END_SERIAL_LOOPBACK = 8'h1a,
    /// Has Credit: 1: the channel has FCT credit.
    MIB_ITEM_HAS_CREDIT = 8'h1b,
    /// Input Buffer Overflow: A frame did not fit the input buffer. This resets the link.
    MIB_ITEM_INPUT_BUFFER_OVERFLOW = 8'h1c,
    /// FCT Credit Overflow: FCTs took the credit above its limit.
    MIB_ITEM_FCT_CREDIT_OVERFLOW = 8'h1d,
    /// Bandwidth Over-use: The channel sent far more than its expected bandwidth.
    MIB_ITEM_BANDWIDTH_OVER_USE = 8'h1e,
    /// Bandwidth Under-use: The channel had full bandwidth credit for longer than the idle time
    /// limit.
    MIB_ITEM_BANDWIDTH_UNDER_USE = 8'h1f,
    /// CRC-16 Error: A data frame had a wrong CRC-16.
    MIB_ITEM_CRC16_ERROR = 8'h20,
    /// CRC-8 Error: A broadcast frame or a single word had a wrong CRC-8.
    MIB_ITEM_CRC8_ERROR = 8'h21,
    /// Frame Error: A word came where the standard does not allow it.
    MIB_ITEM_FRAME_ERROR = 8'h22,
    /// Sequence Error: A sequence number was not the expected one.
    MIB_ITEM_SEQUENCE_ERROR = 8'h23,
    /// Error Recovery Buffer Empty: 1: everything sent is acknowledged.
    MIB_ITEM_ERROR_RECOVERY_BUFFER_EMPTY = 8'h24,
    /// Error Recovery Attempts: Number of valid NACKs received.
    MIB_ITEM_ERROR_RECOVERY_ATTEMPTS = 8'h25,
    /// Link Reset Caused by Protocol Error: An ACK or NACK matched no outstanding item.
    MIB_ITEM_PROTOCOL_ERROR = 8'h26,
    /// Far-End Link Reset: The far end asked for a link reset.
    MIB_ITEM_FAR_END_LINK_RESET = 8'h27,
    /// Current Time-slot: Time-slot of the last SCHEDULE.request; 0 before the first.
    MIB_ITEM_CURRENT_TIME_SLOT = 8'h28,
    /// Data-Sending Lanes: Bit L: lane L carries rows.
    MIB_ITEM_DATA_SENDING_LANES = 8'h29,
    /// Data-Receiving Lanes: Bit L: lane L delivers rows.
    MIB_ITEM_DATA_RECEIVING_LANES = 8'h2a,
    /// Alignment State: 0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready.
    MIB_ITEM_ALIGNMENT_STATE = 8'h2b,
    /// Misaligned Events: Number of times that alignment started again.
    MIB_ITEM_MISALIGNED_EVENTS = 8'h2c,
    /// Lane State: 0 ClearLine to 9 LossOfSignal.
    MIB_ITEM_LANE_STATE = 8'h2d,
    /// RXERR Count: The leaky counter of RXERR words.
    MIB_ITEM_RXERR_COUNT = 8'h2e,
    /// RXERR Overflow: The RXERR counter reached 255.
    MIB_ITEM_RXERR_OVERFLOW = 8'h2f,
    /// Far-End Standby: The far end went into standby.
    MIB_ITEM_FAR_END_STANDBY = 8'h30,
    /// Far-End Standby Reason: Reason in the STANDBY words of the far end.
    MIB_ITEM_FAR_END_STANDBY_REASON = 8'h31,
    /// Timeout: The initialisation timer expired.
    MIB_ITEM_TIMEOUT = 8'h32,
    /// Far-End Lost Signal: The far end sent LOST_SIGNAL.
    MIB_ITEM_FAR_END_LOST_SIGNAL = 8'h33,
    /// Far-End Lost Signal Cause: Cause in the LOST_SIGNAL words of the far end: 0 no signal, 1
    /// RXERR counter, 2 INIT1.
    MIB_ITEM_FAR_END_LOST_SIGNAL_CAUSE = 8'h34,
    /// Far-End Capabilities: Capability field of the last INIT3; 0 before the first one.
    MIB_ITEM_FAR_END_CAPABILITIES = 8'h35,
    /// RX Polarity: 1: the received bits are inverted.
    MIB_ITEM_RX_POLARITY = 8'h36,
    /// No Signal: 1: the receiver has no signal.
    MIB_ITEM_NO_SIGNAL = 8'h37,
    /// Bit Synchronised: 1: the receiver has found the word boundary.
    MIB_ITEM_BIT_SYNC = 8'h38,
    /// Schedule: SCHEDULE.request (6.3.4): the time-slot that begins.
    MIB_ITEM_SCHEDULE = 8'h39,
    /// Schedule Type: Type of the broadcast messages that begin a time-slot, sent or received: bits
    /// 5:0 of their first byte. 256: none.
    MIB_ITEM_SCHEDULE_TYPE = 8'h3a
  } mib_item_e;

  // submit_flags: Flags of a submission entry.
  /// Lowest bit of TYPE.
  localparam logic [31:0] SUBMIT_FLAGS_TYPE_SHIFT = 32'd0;
  /// entry_type. Mask, in place.
  localparam logic [15:0] SUBMIT_FLAGS_TYPE_MASK = 16'h000f;
  /// Write a completion when the entry is done. One completion frees all earlier entries. Errors
  /// are always signalled.
  localparam logic [15:0] SUBMIT_FLAGS_SIGNAL = 16'h0010;
  /// Last entry of a group: publish completions and receive runs at once.
  localparam logic [15:0] SUBMIT_FLAGS_LAST = 16'h0020;
  /// The packet continues in the next entry of this ring (gather).
  localparam logic [15:0] SUBMIT_FLAGS_CHAIN = 16'h0040;
  /// Lowest bit of END.
  localparam logic [31:0] SUBMIT_FLAGS_END_SHIFT = 32'd7;
  /// end_marker. Mask, in place.
  localparam logic [15:0] SUBMIT_FLAGS_END_MASK = 16'h0180;
  /// Start only after all earlier entries are done. No effect on transmit queues, which are in
  /// order; work requests have a flag of their own.
  localparam logic [15:0] SUBMIT_FLAGS_FENCE = 16'h0200;
  /// Lowest bit of MBZ.
  localparam logic [31:0] SUBMIT_FLAGS_MBZ_SHIFT = 32'd10;
  /// Must be zero. Mask, in place.
  localparam logic [15:0] SUBMIT_FLAGS_MBZ_MASK = 16'hfc00;

  // work_flags: Flags of the first slot of a work request. The other slots have TYPE and CHAIN of
  // submit_flags only.
  /// Lowest bit of TYPE.
  localparam logic [31:0] WORK_FLAGS_TYPE_SHIFT = 32'd0;
  /// entry_type RDMA. Mask, in place.
  localparam logic [15:0] WORK_FLAGS_TYPE_MASK = 16'h000f;
  /// Write a completion when the request is done. Errors are always signalled.
  localparam logic [15:0] WORK_FLAGS_SIGNAL = 16'h0010;
  /// Last request of a group: ask the target for an acknowledgement, which covers all earlier
  /// requests.
  localparam logic [15:0] WORK_FLAGS_LAST = 16'h0020;
  /// Another slot follows: always 1 in the first slot, 0 in the last.
  localparam logic [15:0] WORK_FLAGS_CHAIN = 16'h0040;
  /// Ask the target to wake its software.
  localparam logic [15:0] WORK_FLAGS_SOLICITED = 16'h0080;
  /// Must be zero.
  localparam logic [15:0] WORK_FLAGS_MBZ0 = 16'h0100;
  /// Start only after all earlier reads and atomic operations are done.
  localparam logic [15:0] WORK_FLAGS_FENCE = 16'h0200;
  /// Lowest bit of OPCODE.
  localparam logic [31:0] WORK_FLAGS_OPCODE_SHIFT = 32'd10;
  /// work_opcode. Mask, in place.
  localparam logic [15:0] WORK_FLAGS_OPCODE_MASK = 16'h3c00;
  /// Lowest bit of MBZ1.
  localparam logic [31:0] WORK_FLAGS_MBZ1_SHIFT = 32'd14;
  /// Must be zero. Mask, in place.
  localparam logic [15:0] WORK_FLAGS_MBZ1_MASK = 16'hc000;

  // queue_pair: Register PAIR of a queue context: the two ends of a queue pair.
  /// Lowest bit of OWN.
  localparam logic [31:0] QUEUE_PAIR_OWN_SHIFT = 32'd0;
  /// Own number, 1 to 65535. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_OWN_MASK = 64'h000000000000ffff;
  /// Lowest bit of PARTNER.
  localparam logic [31:0] QUEUE_PAIR_PARTNER_SHIFT = 32'd16;
  /// Number of the partner; 0 for a target-only endpoint. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_PARTNER_MASK = 64'h00000000ffff0000;
  /// Lowest bit of ADDRESS.
  localparam logic [31:0] QUEUE_PAIR_ADDRESS_SHIFT = 32'd32;
  /// Own logical address. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_ADDRESS_MASK = 64'h000000ff00000000;
  /// Lowest bit of TARGET.
  localparam logic [31:0] QUEUE_PAIR_TARGET_SHIFT = 32'd40;
  /// Logical address of the partner. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_TARGET_MASK = 64'h0000ff0000000000;
  /// Lowest bit of PROTOCOL.
  localparam logic [31:0] QUEUE_PAIR_PROTOCOL_SHIFT = 32'd48;
  /// Protocol identifier, 0xf0 to 0xfe; 0 stands for 0xf0. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_PROTOCOL_MASK = 64'h00ff000000000000;
  /// Lowest bit of SEGMENT_LOG2.
  localparam logic [31:0] QUEUE_PAIR_SEGMENT_LOG2_SHIFT = 32'd56;
  /// log2 of the largest payload of a packet in bytes, 8 to 16; 0 stands for 12. Mask, in place.
  localparam logic [63:0] QUEUE_PAIR_SEGMENT_LOG2_MASK = 64'hff00000000000000;

  // pair_limits: Register LIMITS of a queue context: when a queue pair repeats a message, and the
  // lengths of its paths.
  /// Lowest bit of RETRIES.
  localparam logic [31:0] PAIR_LIMITS_RETRIES_SHIFT = 32'd0;
  /// Repetitions of a message that brings no progress, at most 16. Mask, in place.
  localparam logic [63:0] PAIR_LIMITS_RETRIES_MASK = 64'h00000000000000ff;
  /// Lowest bit of NOT_READY.
  localparam logic [31:0] PAIR_LIMITS_NOT_READY_SHIFT = 32'd8;
  /// Repetitions for a receiver that was not ready or busy. Mask, in place.
  localparam logic [63:0] PAIR_LIMITS_NOT_READY_MASK = 64'h000000000000ff00;
  /// Lowest bit of PATH.
  localparam logic [31:0] PAIR_LIMITS_PATH_SHIFT = 32'd16;
  /// Bytes of PATH, at most 8. Mask, in place.
  localparam logic [63:0] PAIR_LIMITS_PATH_MASK = 64'h0000000000ff0000;
  /// Lowest bit of REPLY.
  localparam logic [31:0] PAIR_LIMITS_REPLY_SHIFT = 32'd24;
  /// Bytes of REPLY, at most 8. Mask, in place.
  localparam logic [63:0] PAIR_LIMITS_REPLY_MASK = 64'h00000000ff000000;
  /// Lowest bit of TIMEOUT_US.
  localparam logic [31:0] PAIR_LIMITS_TIMEOUT_US_SHIFT = 32'd32;
  /// Time without progress after which a message is repeated, in us; it doubles each time. 0 stands
  /// for 200000. Mask, in place.
  localparam logic [63:0] PAIR_LIMITS_TIMEOUT_US_MASK = 64'hffffffff00000000;

  // pair_status: State of a queue pair in the device line of its RDMA queue.
  /// Lowest bit of STATE.
  localparam logic [31:0] PAIR_STATUS_STATE_SHIFT = 32'd0;
  /// queue_pair_state. Mask, in place.
  localparam logic [63:0] PAIR_STATUS_STATE_MASK = 64'h00000000000000ff;
  /// Lowest bit of WAIT.
  localparam logic [31:0] PAIR_STATUS_WAIT_SHIFT = 32'd8;
  /// queue_pair_wait. Mask, in place.
  localparam logic [63:0] PAIR_STATUS_WAIT_MASK = 64'h000000000000ff00;
  /// Lowest bit of ATTEMPTS.
  localparam logic [31:0] PAIR_STATUS_ATTEMPTS_SHIFT = 32'd16;
  /// How often the message that it waits for was repeated. Mask, in place.
  localparam logic [63:0] PAIR_STATUS_ATTEMPTS_MASK = 64'h00000000ffff0000;
  /// Lowest bit of SEQUENCE.
  localparam logic [31:0] PAIR_STATUS_SEQUENCE_SHIFT = 32'd32;
  /// Number of that message. Mask, in place.
  localparam logic [63:0] PAIR_STATUS_SEQUENCE_MASK = 64'h0000ffff00000000;

  // key_options: What others may do with a remote key: the word immediate of the operand of BIND.
  /// READ. The region needs REMOTE_READ.
  localparam logic [31:0] KEY_OPTIONS_READ = 32'h00000001;
  /// WRITE. The region needs REMOTE_WRITE.
  localparam logic [31:0] KEY_OPTIONS_WRITE = 32'h00000002;
  /// FETCH_ADD and CMP_SWAP. The region needs REMOTE_READ and REMOTE_WRITE; address and offset are
  /// multiples of 8.
  localparam logic [31:0] KEY_OPTIONS_ATOMIC = 32'h00000004;
  /// A WRITE or an atomic operation of the partner uses a buffer of RDMA_RX, if there is one, and
  /// completes it with WRITE.
  localparam logic [31:0] KEY_OPTIONS_NOTIFY = 32'h00000008;
  /// REGIONS does not tell the key.
  localparam logic [31:0] KEY_OPTIONS_HIDDEN = 32'h00000010;
  /// Lowest bit of MBZ.
  localparam logic [31:0] KEY_OPTIONS_MBZ_SHIFT = 32'd5;
  /// Must be zero. Mask, in place.
  localparam logic [31:0] KEY_OPTIONS_MBZ_MASK = 32'hffffffe0;

  // completion_flags: Flags of a completion entry.
  /// Lowest bit of END.
  localparam logic [31:0] COMPLETION_FLAGS_END_SHIFT = 32'd0;
  /// end_marker of the packet or piece (posted receive). Mask, in place.
  localparam logic [15:0] COMPLETION_FLAGS_END_MASK = 16'h0003;
  /// The packet continues in the next buffer (posted receive).
  localparam logic [15:0] COMPLETION_FLAGS_MORE = 16'h0004;
  /// Must not be reported before the time in the side array (paced virtual links).
  localparam logic [15:0] COMPLETION_FLAGS_TIMED = 16'h0008;
  /// The side array holds a time for this completion.
  localparam logic [15:0] COMPLETION_FLAGS_STAMPED = 16'h0010;
  /// This run starts at offset 0 of the packed area. The bytes from the end of the previous run to
  /// the end of the area are unused.
  localparam logic [15:0] COMPLETION_FLAGS_WRAP = 16'h0020;
  /// Earlier messages were dropped because the ring was full (message receive only).
  localparam logic [15:0] COMPLETION_FLAGS_LOST = 16'h0040;
  /// The side array holds immediate data for this completion (RDMA_RX only).
  localparam logic [15:0] COMPLETION_FLAGS_IMMEDIATE = 16'h0080;
  /// A WRITE_IMM of the partner, or an operation on a remote key with NOTIFY, used the buffer and
  /// left it as it was (RDMA_RX only).
  localparam logic [15:0] COMPLETION_FLAGS_WRITE = 16'h0100;
  /// Whether the work request that failed was executed is not known. Without it, it was not
  /// executed (RDMA only).
  localparam logic [15:0] COMPLETION_FLAGS_UNKNOWN = 16'h0200;
  /// The bytes of the packet are in data of this wide completion, and the buffer is as it was
  /// (queue option BESIDE).
  localparam logic [15:0] COMPLETION_FLAGS_BESIDE = 16'h0400;

  // record_flags: Flags of a record header in a packed receive area.
  /// The packet continues in the next record.
  localparam logic [7:0] RECORD_FLAGS_MORE = 8'h01;

  // message_flags: Status of a broadcast message (ECSS-E-ST-50-11C 5.8.9).
  /// LATE: the message could not be sent at once.
  localparam logic [7:0] MESSAGE_FLAGS_LATE = 8'h01;
  /// DELAYED: the message waited for another broadcast message.
  localparam logic [7:0] MESSAGE_FLAGS_DELAYED = 8'h02;

  // capability: Optional features. Query them; never assume them.
  /// Burst entries.
  localparam logic [31:0] CAPABILITY_BURST = 32'h00000001;
  /// Packed receive.
  localparam logic [31:0] CAPABILITY_PACKED = 32'h00000002;
  /// Timestamps on completions.
  localparam logic [31:0] CAPABILITY_STAMP = 32'h00000004;
  /// Doorbell pages are 64 KiB apart.
  localparam logic [31:0] CAPABILITY_DOORBELL_64K = 32'h00000008;
  /// Broadcast and time-code queues.
  localparam logic [31:0] CAPABILITY_MESSAGE = 32'h00000010;
  /// Regions are described by bus addresses (page lists) instead of shared memory.
  localparam logic [31:0] CAPABILITY_IOVA = 32'h00000020;
  /// RESET while busy completes pending submissions with DEVICE_RESET.
  localparam logic [31:0] CAPABILITY_RESET = 32'h00000040;
  /// Each port has a mib block, and the device has the command MIB_SET.
  localparam logic [31:0] CAPABILITY_MIB = 32'h00000080;
  /// COUNT of an event vector rises before its interrupt is raised.
  localparam logic [31:0] CAPABILITY_COUNT_FIRST = 32'h00000100;
  /// A port signals the event vector in LINK_VECTOR when its STATE changes.
  localparam logic [31:0] CAPABILITY_LINK_EVENT = 32'h00000200;
  /// Regions with the option LOCAL_DMA, in domain 0 only. Needs IOVA.
  localparam logic [31:0] CAPABILITY_LOCAL_DMA = 32'h00000400;
  /// Page lists with more than one level. Needs IOVA.
  localparam logic [31:0] CAPABILITY_PAGE_LEVELS = 32'h00000800;
  /// Interrupt lines are level-sensitive: line n is high while vector n is enabled and its COUNT
  /// differs from the count seen.
  localparam logic [31:0] CAPABILITY_LEVEL = 32'h00001000;
  /// Queues of the kinds RDMA and RDMA_RX.
  localparam logic [31:0] CAPABILITY_RDMA = 32'h00002000;
  /// Queue option REMOTE_KEYS, and the work requests BIND and UNBIND. Needs RDMA.
  localparam logic [31:0] CAPABILITY_REMOTE_KEYS = 32'h00004000;
  /// Ports of kind FABRIC have the blocks fabric and peer. Needs LINK_EVENT.
  localparam logic [31:0] CAPABILITY_FABRIC = 32'h00008000;
  /// Target of RDMA: the target block, and the commands TARGET_SET, TARGET_CLEAR and TARGET_TAKE.
  localparam logic [31:0] CAPABILITY_TARGET = 32'h00010000;
  /// Queue option BESIDE.
  localparam logic [31:0] CAPABILITY_BESIDE = 32'h00020000;
  /// Each port has a pair block. Needs RDMA.
  localparam logic [31:0] CAPABILITY_PAIR_COUNTERS = 32'h00040000;
  /// Messages of kind INTERRUPT, and the filter INTERRUPTS of message queues. Needs MESSAGE.
  localparam logic [31:0] CAPABILITY_INTERRUPTS = 32'h00080000;

  // target_note_sender: Who made the operation that a notification of the target tells.
  /// Lowest bit of INITIATOR.
  localparam logic [31:0] TARGET_NOTE_SENDER_INITIATOR_SHIFT = 32'd0;
  /// Logical address of the initiator. Mask, in place.
  localparam logic [31:0] TARGET_NOTE_SENDER_INITIATOR_MASK = 32'h000000ff;
  /// Lowest bit of OPCODE.
  localparam logic [31:0] TARGET_NOTE_SENDER_OPCODE_SHIFT = 32'd8;
  /// Opcode of SFRP; the instruction byte if a command of RMAP made the operation. Mask, in place.
  localparam logic [31:0] TARGET_NOTE_SENDER_OPCODE_MASK = 32'h0000ff00;
  /// Lowest bit of PAIR.
  localparam logic [31:0] TARGET_NOTE_SENDER_PAIR_SHIFT = 32'd16;
  /// Queue pair of the initiator. Mask, in place.
  localparam logic [31:0] TARGET_NOTE_SENDER_PAIR_MASK = 32'hffff0000;

  // target_note_request: The operation that a notification of the target tells.
  /// Lowest bit of ENTRY.
  localparam logic [31:0] TARGET_NOTE_REQUEST_ENTRY_SHIFT = 32'd0;
  /// Entry of the table; 0 for a message. Mask, in place.
  localparam logic [31:0] TARGET_NOTE_REQUEST_ENTRY_MASK = 32'h0000ffff;
  /// Lowest bit of NUMBER.
  localparam logic [31:0] TARGET_NOTE_REQUEST_NUMBER_SHIFT = 32'd16;
  /// Number of the message in its sequence. Mask, in place.
  localparam logic [31:0] TARGET_NOTE_REQUEST_NUMBER_MASK = 32'hffff0000;

  // target_note_flags: What a notification of the target has.
  /// It is of an operation on an entry.
  localparam logic [31:0] TARGET_NOTE_FLAGS_ENTRY = 32'h00000001;
  /// It has immediate data.
  localparam logic [31:0] TARGET_NOTE_FLAGS_IMMEDIATE = 32'h00000002;

  // access: Permitted accesses to a memory region. The values are those of InfiniBand verbs where
  // they exist.
  /// The device may write to the region (receive).
  localparam logic [31:0] ACCESS_LOCAL_WRITE = 32'h00000001;
  /// A peer may write to the region with RDMA.
  localparam logic [31:0] ACCESS_REMOTE_WRITE = 32'h00000002;
  /// A peer may read the region with RDMA.
  localparam logic [31:0] ACCESS_REMOTE_READ = 32'h00000004;
  /// The device may read the region (transmit).
  localparam logic [31:0] ACCESS_LOCAL_READ = 32'h00000100;

  // region_options: Options of a region entry.
  /// The region is everything that the device can reach on the bus: an offset is a bus address
  /// (capability LOCAL_DMA).
  localparam logic [31:0] REGION_OPTIONS_LOCAL_DMA = 32'h00000001;

  // queue_options: Options of a queue context.
  /// Write a timestamp for every completion.
  localparam logic [31:0] QUEUE_OPTIONS_STAMP = 32'h00000001;
  /// Completions come in submission order. Today they always do.
  localparam logic [31:0] QUEUE_OPTIONS_RETURN_IN_ORDER = 32'h00000002;
  /// RDMA: the queue pair takes BIND and UNBIND (capability REMOTE_KEYS).
  localparam logic [31:0] QUEUE_OPTIONS_REMOTE_KEYS = 32'h00000004;
  /// RX: entries of the completion ring are wide completions, which take the bytes of short packets
  /// (capability BESIDE).
  localparam logic [31:0] QUEUE_OPTIONS_BESIDE = 32'h00000008;

  // arm_flags: Wake-up conditions of the host; any of them wakes it.
  /// want_count is valid.
  localparam logic [31:0] ARM_FLAGS_COUNT = 32'h00000001;
  /// want_bytes is valid.
  localparam logic [31:0] ARM_FLAGS_BYTES = 32'h00000002;
  /// after_first_ns is valid.
  localparam logic [31:0] ARM_FLAGS_TIME = 32'h00000004;
  /// Signal the event vector (file descriptor) as well.
  localparam logic [31:0] ARM_FLAGS_EVENT = 32'h00000008;

  // doorbell: The 64-bit store to a doorbell page. It is only a hint: the rings say what to do.
  // Only a store of kind PEER is an action of its own.
  /// Lowest bit of QUEUE.
  localparam logic [31:0] DOORBELL_QUEUE_SHIFT = 32'd0;
  /// Queue context index. PEER: any context of a virtual channel to the node. Mask, in place.
  localparam logic [63:0] DOORBELL_QUEUE_MASK = 64'h000000000000ffff;
  /// Lowest bit of KIND.
  localparam logic [31:0] DOORBELL_KIND_SHIFT = 32'd16;
  /// doorbell_kind. Mask, in place.
  localparam logic [63:0] DOORBELL_KIND_MASK = 64'h0000000000ff0000;
  /// Lowest bit of NUMBER.
  localparam logic [31:0] DOORBELL_NUMBER_SHIFT = 32'd24;
  /// PEER: number of the doorbell, less than PEER_DOORBELLS. Mask, in place.
  localparam logic [63:0] DOORBELL_NUMBER_MASK = 64'h00000000ff000000;
  /// Lowest bit of INDEX.
  localparam logic [31:0] DOORBELL_INDEX_SHIFT = 32'd32;
  /// Free-running producer index (submissions) or arm sequence (armed). Mask, in place.
  localparam logic [63:0] DOORBELL_INDEX_MASK = 64'hffffffff00000000;

  /// DATA and BUFFER entry: transmit from an address, or receive into it.
  typedef struct packed {
    /// Lap number of the ring position, from 1. The entry is valid when it matches the reader's
    /// lap.
    logic [15:0] phase;
    /// submit_flags.
    logic [15:0] flags;
    /// Length in bytes.
    logic [31:0] length;
    /// Region: index (12 bits) and generation (4 bits).
    logic [15:0] region;
    /// Byte offset in the region.
    logic [47:0] offset;
  } submission_t;

  /// INLINE entry: up to 11 data bytes in the entry.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags.
    logic [15:0] flags;
    /// Bytes 8 to 10.
    logic [23:0] data_hi;
    /// Number of data bytes, 1 to 11.
    logic [7:0] count;
    /// Bytes 0 to 7, byte 0 in the least significant byte.
    logic [63:0] data_lo;
  } inline_submission_t;

  /// Second entry of a BURST. The first entry is a submission with the address and length of packet
  /// 0.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags with TYPE = BURST_EXT.
    logic [15:0] flags;
    /// Must be zero.
    logic [31:0] reserved1;
    /// Must be zero.
    logic [15:0] reserved0;
    /// Number of packets, 1 to 65535.
    logic [15:0] count;
    /// Bytes from the start of one packet to the start of the next; 0 sends the same bytes each
    /// time.
    logic [31:0] stride;
  } burst_ext_t;

  /// RELEASE entry of packed and message receive queues.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags with TYPE = RELEASE.
    logic [15:0] flags;
    /// Must be zero.
    logic [31:0] reserved0;
    /// Number of completions consumed, 1 or more. The device may write as many again.
    logic [31:0] completions;
    /// Bytes of the packed area to return, including a skipped tail.
    logic [31:0] bytes;
  } release_t;

  /// Broadcast message, time-code or distributed interrupt: a MESSAGE entry for transmit, a
  /// completion ring entry for receive.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags (transmit) or completion_flags (receive).
    logic [15:0] flags;
    /// message_flags.
    logic [7:0] status;
    /// message_kind.
    logic [7:0] kind;
    /// Broadcast type.
    logic [7:0] type_;
    /// Broadcast channel number.
    logic [7:0] channel;
    /// Broadcast: the 8 data bytes, byte 0 least significant. Time-code: bits 5:0 time, 7:6 flags.
    /// Interrupt: bits 4:0 identifier, bit 5: acknowledgement.
    logic [63:0] data;
  } message_t;

  /// Completion of one or more submissions of one queue.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// completion_flags.
    logic [15:0] flags;
    /// Zero.
    logic [15:0] reserved0;
    /// Free-running position (mod 65536) of the last submission entry that this completion frees.
    logic [15:0] position;
    /// status.
    logic [7:0] status;
    /// Virtual channel.
    logic [7:0] vc;
    /// Number of packets that this completion reports (posted receive: 1 per buffer; packed
    /// receive: records).
    logic [15:0] packets;
    /// Bytes of all packets that this completion reports; a detail of the status if that is not OK.
    logic [31:0] bytes;
  } completion_t;

  // wide_completion: Entry of the completion ring of a queue with the option BESIDE, alone on its
  // cache line. The second word, with the phase, is stored last.
  /// Size in bytes.
  localparam logic [31:0] WIDE_COMPLETION_BYTES = 32'd64;
  /// First word of the completion.
  localparam logic [31:0] WIDE_COMPLETION_WORD0_OFFSET = 32'd0;
  /// Second word of the completion.
  localparam logic [31:0] WIDE_COMPLETION_WORD1_OFFSET = 32'd8;
  /// Time of the completion, if it is STAMPED.
  localparam logic [31:0] WIDE_COMPLETION_TIME_OFFSET = 32'd16;
  /// Bytes 0 to 7 of the packet, byte 0 least significant, if the completion has the flag BESIDE.
  localparam logic [31:0] WIDE_COMPLETION_DATA0_OFFSET = 32'd24;
  /// Bytes 8 to 15.
  localparam logic [31:0] WIDE_COMPLETION_DATA1_OFFSET = 32'd32;
  /// Bytes 16 to 23.
  localparam logic [31:0] WIDE_COMPLETION_DATA2_OFFSET = 32'd40;
  /// Bytes 24 to 31.
  localparam logic [31:0] WIDE_COMPLETION_DATA3_OFFSET = 32'd48;
  /// Bytes 32 to 39.
  localparam logic [31:0] WIDE_COMPLETION_DATA4_OFFSET = 32'd56;

  /// RDMA entry: first slot of a work request. A local element (DATA or INLINE), the operands of
  /// the opcode (OPERAND), and up to 3 more local elements follow.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// work_flags.
    logic [15:0] flags;
    /// Remote key: index (20 bits) and generation (12 bits).
    logic [31:0] key;
    /// Remote address; 0 for requests without one. BIND: the address that others use for the first
    /// byte.
    logic [63:0] address;
  } work_entry_t;

  /// OPERAND entry of a work request: one for immediate data, FETCH_ADD and BIND, two for CMP_SWAP
  /// (compare, swap).
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags with TYPE = OPERAND.
    logic [15:0] flags;
    /// Immediate data; key_options of BIND; otherwise zero.
    logic [31:0] immediate;
    /// Operand of an atomic operation. BIND: logical addresses that may use the key, up to 8 bytes
    /// of which zeros are not used; 0 for all. Otherwise zero.
    logic [63:0] value;
  } operand_t;

  // record_header: Header of a record in a packed receive area. The next record starts at the next
  // multiple of 8 bytes.
  /// Size in bytes.
  localparam logic [31:0] RECORD_HEADER_BYTES = 32'd8;
  /// Length of the record in bytes, without header and padding.
  localparam logic [31:0] RECORD_HEADER_LENGTH_OFFSET = 32'd0;
  /// end_marker.
  localparam logic [31:0] RECORD_HEADER_END_OFFSET = 32'd4;
  /// record_flags.
  localparam logic [31:0] RECORD_HEADER_FLAGS_OFFSET = 32'd5;
  /// Zero.
  localparam logic [31:0] RECORD_HEADER_RESERVED0_OFFSET = 32'd6;

  // host_line: Wake-up conditions of a queue, written by the host and read by the device. Alone on
  // its cache line.
  /// Size in bytes.
  localparam logic [31:0] HOST_LINE_BYTES = 32'd64;
  /// 0 if not armed, otherwise the arm sequence number: odd, and 2 more each time.
  localparam logic [31:0] HOST_LINE_ARM_OFFSET = 32'd0;
  /// arm_flags.
  localparam logic [31:0] HOST_LINE_FLAGS_OFFSET = 32'd4;
  /// Wake at or past this free-running completion position.
  localparam logic [31:0] HOST_LINE_WANT_COUNT_OFFSET = 32'd8;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED0_OFFSET = 32'd12;
  /// Wake at or past this free-running count of received or sent bytes.
  localparam logic [31:0] HOST_LINE_WANT_BYTES_OFFSET = 32'd16;
  /// Wake this many nanoseconds after the first completion at or past first_position.
  localparam logic [31:0] HOST_LINE_AFTER_FIRST_NS_OFFSET = 32'd24;
  /// Free-running position of the first completion that was not yet reported to the application.
  localparam logic [31:0] HOST_LINE_FIRST_POSITION_OFFSET = 32'd32;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED1_OFFSET = 32'd36;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED2_OFFSET = 32'd40;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED3_OFFSET = 32'd48;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED4_OFFSET = 32'd56;

  // device_line: State of a queue, written by the device and read by the host. Alone on its cache
  // line.
  /// Size in bytes.
  localparam logic [31:0] DEVICE_LINE_BYTES = 32'd64;
  /// Incremented at each wake-up. The host sleeps on this word (futex).
  localparam logic [31:0] DEVICE_LINE_WAKE_SEQ_OFFSET = 32'd0;
  /// 1: the device sleeps, so ring the doorbell after posting.
  localparam logic [31:0] DEVICE_LINE_NEED_DOORBELL_OFFSET = 32'd4;
  /// queue_state.
  localparam logic [31:0] DEVICE_LINE_STATE_OFFSET = 32'd8;
  /// status that stopped the queue; 0 if none did.
  localparam logic [31:0] DEVICE_LINE_ERROR_OFFSET = 32'd12;
  /// Receive: a packet waited for room when the device had written completions up to position 31:0
  /// and used submissions up to position 63:32.
  localparam logic [31:0] DEVICE_LINE_FULL_OFFSET = 32'd16;
  /// RDMA: pair_status, as of the last step of the device.
  localparam logic [31:0] DEVICE_LINE_PAIR_OFFSET = 32'd24;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED2_OFFSET = 32'd32;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED3_OFFSET = 32'd40;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED4_OFFSET = 32'd48;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED5_OFFSET = 32'd56;

  // global block: Identity, capabilities and configuration latch of the device.
  /// block_type GLOBAL.
  localparam logic [15:0] GLOBAL_BLOCK_TYPE = 16'h0001;
  /// Version of the block.
  localparam logic [15:0] GLOBAL_BLOCK_VERSION = 16'h0002;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] GLOBAL_BLOCK_SIZE = 32'h00000100;
  /// 0x53504645; 0xffffffff means the device is gone. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_MAGIC = 32'h00000010;
  /// major << 16 | minor. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CONTRACT_VERSION = 32'h00000014;
  /// capability bits. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CAPABILITY = 32'h00000018;
  /// Number of ports. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_PORTS = 32'h0000001c;
  /// Number of queue contexts. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_QUEUES = 32'h00000020;
  /// Entries of the memory-region table. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_REGIONS = 32'h00000024;
  /// Number of event vectors. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_EVENTS = 32'h00000028;
  /// Byte offset of the first doorbell page, a multiple of the stride. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_DOORBELL_OFFSET = 32'h0000002c;
  /// CFG_SEQ of the last command that the device carried out. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_ACK = 32'h00000030;
  /// status of that command. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_STATUS = 32'h00000034;
  /// Incremented at least once a second while the device is alive. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_HEARTBEAT = 32'h00000038;
  /// Number of resets since power-up. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_RESETS = 32'h0000003c;
  /// Device time in ns, low word; read HI, LO, HI. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_TIME_LO = 32'h00000040;
  /// Device time in ns, high word. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_TIME_HI = 32'h00000044;
  /// PACKET_MAX_BYTES of this device. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_PACKET_MAX = 32'h00000048;
  /// Number of doorbell pages, DOORBELL_STRIDE apart; 1 or more. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_DOORBELL_PAGES = 32'h0000004c;
  /// Number of protection domains; 1 or more, at most 65536. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_DOMAINS = 32'h00000050;
  /// Most entries from which this device gathers one packet, at least the constant CHAIN_MAX; 0
  /// stands for that constant. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CHAIN_MAX = 32'h00000054;
  /// Most pages of a page list; 0 if the device does not say. A region may fail with NO_RESOURCES
  /// before. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_PAGES_MAX = 32'h00000058;
  /// command. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_COMMAND = 32'h00000080;
  /// Index of the object of the command. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_INDEX = 32'h00000084;
  /// Write this register last, with a non-zero value other than CFG_ACK. Then ring the doorbell,
  /// and wait until CFG_ACK is equal. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_SEQ = 32'h00000088;
  /// mib_item that MIB_SET sets. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_ITEM = 32'h0000008c;
  /// Lane or virtual channel of the item; 0 for an item of the link. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_ELEMENT = 32'h00000090;
  /// New value of the item, low word. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_VALUE_LO = 32'h00000098;
  /// New value of the item, high word. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_VALUE_HI = 32'h0000009c;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] GLOBAL_BLOCK_RW_MASK = 128'h0000000000000000000000df00000000;

  // port block: One network port.
  /// block_type PORT.
  localparam logic [15:0] PORT_BLOCK_TYPE = 16'h0002;
  /// Version of the block.
  localparam logic [15:0] PORT_BLOCK_VERSION = 16'h0002;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] PORT_BLOCK_SIZE = 32'h00000100;
  /// port_kind. (ro)
  localparam logic [31:0] PORT_BLOCK_KIND = 32'h00000010;
  /// port_state. A fabric port is DOWN before LINK_START, and UP while any node is READY. (ro)
  localparam logic [31:0] PORT_BLOCK_STATE = 32'h00000014;
  /// Number of virtual channels, at most VC_MAX (fabric port: FABRIC_VC_MAX). (ro)
  localparam logic [31:0] PORT_BLOCK_VCS = 32'h00000018;
  /// Number of lanes. (ro)
  localparam logic [31:0] PORT_BLOCK_LANES = 32'h0000001c;
  /// Lane signalling rate in Mbit/s; 0 = not paced. (ro)
  localparam logic [31:0] PORT_BLOCK_LANE_RATE_MBPS = 32'h00000020;
  /// User data rate in one direction in kbit/s; 0 = not limited. (ro)
  localparam logic [31:0] PORT_BLOCK_USER_RATE_KBPS = 32'h00000024;
  /// Index of the port's first queue context. The order is TX of VC 0, RX of VC 0, TX of VC 1, ...;
  /// then the message contexts, the first half for transmit and the second half for receive. (ro)
  localparam logic [31:0] PORT_BLOCK_FIRST_QUEUE = 32'h00000028;
  /// Number of queue contexts of this port. (ro)
  localparam logic [31:0] PORT_BLOCK_QUEUE_COUNT = 32'h0000002c;
  /// Number of times that STATE has changed since power-up, mod 2^32 (capability LINK_EVENT). On a
  /// fabric port it counts changes of the nodes' states and epochs. (ro)
  localparam logic [31:0] PORT_BLOCK_CHANGES = 32'h00000030;
  /// 1: start the link; on a fabric port 0 stops it. A bus reset clears this register without
  /// changing the link. Write 1 before the first PORT_CONFIGURE of a port that must stay up. (rw)
  localparam logic [31:0] PORT_BLOCK_LINK_START = 32'h00000080;
  /// Priorities of VC 0 to 7, 4 bits each, 0 is the highest (ECSS-E-ST-50-11C 5.7.4). (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_0 = 32'h00000084;
  /// Priorities of VC 8 to 15. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_1 = 32'h00000088;
  /// Priorities of VC 16 to 23. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_2 = 32'h0000008c;
  /// Priorities of VC 24 to 31. Further channels of a fabric port have priority 0. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_3 = 32'h00000090;
  /// Event vector to signal when CHANGES rises, plus 1: 1 to EVENTS; 0 for none (capability
  /// LINK_EVENT). (rw)
  localparam logic [31:0] PORT_BLOCK_LINK_VECTOR = 32'h00000094;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] PORT_BLOCK_RW_MASK = 128'h00000000000000000000003f00000000;

  // queue block: Array of queue contexts: QUEUES elements, directly after the header.
  /// block_type QUEUE.
  localparam logic [15:0] QUEUE_BLOCK_TYPE = 16'h0003;
  /// Version of the block.
  localparam logic [15:0] QUEUE_BLOCK_VERSION = 16'h0002;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] QUEUE_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] QUEUE_BLOCK_STRIDE = 32'h000000c0;
  /// queue_state. (ro)
  localparam logic [31:0] QUEUE_BLOCK_STATE = 32'h00000000;
  /// status that stopped the queue; 0 if none did. (ro)
  localparam logic [31:0] QUEUE_BLOCK_ERROR = 32'h00000004;
  /// Port number. (ro)
  localparam logic [31:0] QUEUE_BLOCK_PORT = 32'h00000008;
  /// Virtual channel; 255 for message contexts. (ro)
  localparam logic [31:0] QUEUE_BLOCK_VC = 32'h0000000c;
  /// queue_kind. (rw)
  localparam logic [31:0] QUEUE_BLOCK_KIND = 32'h00000040;
  /// queue_options. (rw)
  localparam logic [31:0] QUEUE_BLOCK_OPTIONS = 32'h00000044;
  /// Protection domain whose regions the queue may use: less than DOMAINS. (rw)
  localparam logic [31:0] QUEUE_BLOCK_DOMAIN = 32'h00000048;
  /// Event vector: less than EVENTS. (rw)
  localparam logic [31:0] QUEUE_BLOCK_VECTOR = 32'h0000004c;
  /// log2 of the number of entries of the submission ring. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_LOG2 = 32'h00000050;
  /// log2 of the number of entries of the completion ring: at least SQ_LOG2, and equal to it for
  /// RX_PACKED and MESSAGE_RX. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_LOG2 = 32'h00000054;
  /// Submission ring address {region, offset}, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_LO = 32'h00000058;
  /// Submission ring address, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_HI = 32'h0000005c;
  /// Completion ring address, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_LO = 32'h00000060;
  /// Completion ring address, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_HI = 32'h00000064;
  /// Side array of 64-bit times, one per completion, low word. It is needed even without STAMP,
  /// because a device that paces its links in advance uses it. RDMA_RX: as many words follow, with
  /// immediate data in their low half and the remote key of a WRITE in their high half. With the
  /// option BESIDE it is not used: wide completions hold their times. (rw)
  localparam logic [31:0] QUEUE_BLOCK_STAMP_LO = 32'h00000068;
  /// Side array, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_STAMP_HI = 32'h0000006c;
  /// host_line followed by device_line, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_LINES_LO = 32'h00000070;
  /// Lines, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_LINES_HI = 32'h00000074;
  /// Packed area address, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_AREA_LO = 32'h00000078;
  /// Packed area address, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_AREA_HI = 32'h0000007c;
  /// Packed area size in bytes. (rw)
  localparam logic [31:0] QUEUE_BLOCK_AREA_BYTES = 32'h00000080;
  /// Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type; the others
  /// zero. On a SpaceWire port 0, or with the capability INTERRUPTS bit 18: only distributed
  /// interrupts. (rw)
  localparam logic [31:0] QUEUE_BLOCK_FILTER = 32'h00000084;
  /// RDMA and RDMA_RX: queue_pair, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_PAIR_LO = 32'h00000088;
  /// queue_pair, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_PAIR_HI = 32'h0000008c;
  /// RDMA: pair_limits, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_LIMITS_LO = 32'h00000090;
  /// pair_limits, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_LIMITS_HI = 32'h00000094;
  /// RDMA: path to the partner, the first byte least significant, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_PATH_LO = 32'h00000098;
  /// Path, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_PATH_HI = 32'h0000009c;
  /// RDMA: path from the partner back, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_REPLY_LO = 32'h000000a0;
  /// Path back, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_REPLY_HI = 32'h000000a4;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] QUEUE_BLOCK_RW_MASK = 128'h0000000000000000000003ffffff0000;

  // region block: Memory-region table: REGIONS elements, directly after the header.
  /// block_type REGION.
  localparam logic [15:0] REGION_BLOCK_TYPE = 16'h0004;
  /// Version of the block.
  localparam logic [15:0] REGION_BLOCK_VERSION = 16'h0002;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] REGION_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] REGION_BLOCK_STRIDE = 32'h00000080;
  /// Region field for entries and addresses: generation << 12 | index, 16 bits. Never 0 while the
  /// region is enabled, otherwise 0. (ro)
  localparam logic [31:0] REGION_BLOCK_KEY = 32'h00000000;
  /// Bus address of the memory or of the page list, low word (capability IOVA), or the segment
  /// number of shared memory. (rw)
  localparam logic [31:0] REGION_BLOCK_BASE_LO = 32'h00000040;
  /// Bus address, high word. (rw)
  localparam logic [31:0] REGION_BLOCK_BASE_HI = 32'h00000044;
  /// Size in bytes, low word. (rw)
  localparam logic [31:0] REGION_BLOCK_SIZE_LO = 32'h00000048;
  /// Size in bytes, high word. (rw)
  localparam logic [31:0] REGION_BLOCK_SIZE_HI = 32'h0000004c;
  /// access bits. (rw)
  localparam logic [31:0] REGION_BLOCK_ACCESS = 32'h00000050;
  /// Protection domain: less than DOMAINS. (rw)
  localparam logic [31:0] REGION_BLOCK_DOMAIN = 32'h00000054;
  /// 0: the memory is contiguous from BASE. Otherwise log2 of the page size (PAGE_LOG2_MIN to
  /// PAGE_LOG2_MAX), and BASE is the bus address of a list of 64-bit bus addresses, one per page.
  /// (rw)
  localparam logic [31:0] REGION_BLOCK_PAGE_LIST = 32'h00000058;
  /// 0 or 1: the page list is contiguous. 2 to PAGE_LEVELS_MAX: BASE is the bus address of the
  /// first of so many levels of tables (capability PAGE_LEVELS). (rw)
  localparam logic [31:0] REGION_BLOCK_PAGE_LEVELS = 32'h0000005c;
  /// region_options. (rw)
  localparam logic [31:0] REGION_BLOCK_OPTIONS = 32'h00000060;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] REGION_BLOCK_RW_MASK = 128'h00000000000000000000000001ff0000;

  // event block: Event vectors: EVENTS elements, directly after the header.
  /// block_type EVENT.
  localparam logic [15:0] EVENT_BLOCK_TYPE = 16'h0005;
  /// Version of the block.
  localparam logic [15:0] EVENT_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] EVENT_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] EVENT_BLOCK_STRIDE = 32'h00000080;
  /// Number of events signalled since power-up. The completion rings show the cause. (ro)
  localparam logic [31:0] EVENT_BLOCK_COUNT = 32'h00000000;
  /// 1: interrupt the host when the event is signalled. Every command latches this register. (rw)
  localparam logic [31:0] EVENT_BLOCK_ENABLE = 32'h00000040;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] EVENT_BLOCK_RW_MASK = 128'h00000000000000000000000000010000;

  // broadcast block: Broadcast configuration of the port in the block's instance field.
  /// block_type BROADCAST.
  localparam logic [15:0] BROADCAST_BLOCK_TYPE = 16'h0006;
  /// Version of the block.
  localparam logic [15:0] BROADCAST_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] BROADCAST_BLOCK_SIZE = 32'h00000100;
  /// Broadcast messages sent (mod 2^32). (ro)
  localparam logic [31:0] BROADCAST_BLOCK_SENT = 32'h00000010;
  /// Broadcast messages received. (ro)
  localparam logic [31:0] BROADCAST_BLOCK_RECEIVED = 32'h00000014;
  /// Broadcast messages dropped because a receive ring was full. (ro)
  localparam logic [31:0] BROADCAST_BLOCK_DROPPED = 32'h00000018;
  /// Broadcast channel, 0 to 255, for messages that the device itself sends. Entries carry a
  /// channel of their own. Latched by PORT_CONFIGURE. (rw)
  localparam logic [31:0] BROADCAST_BLOCK_CHANNEL = 32'h00000080;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] BROADCAST_BLOCK_RW_MASK = 128'h00000000000000000000000100000000;

  // time_code block: Time-code configuration of the port in the block's instance field.
  /// block_type TIME_CODE.
  localparam logic [15:0] TIME_CODE_BLOCK_TYPE = 16'h0007;
  /// Version of the block.
  localparam logic [15:0] TIME_CODE_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] TIME_CODE_BLOCK_SIZE = 32'h00000100;
  /// Last time-code received (bits 7:0). With the capability INTERRUPTS distributed interrupts do
  /// not count as time-codes here. (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_LAST = 32'h00000010;
  /// Time-codes and distributed interrupts received (mod 2^32). (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_RECEIVED = 32'h00000014;
  /// Received time-codes that were not the last value plus one (mod 64). (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_INVALID = 32'h00000018;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] TIME_CODE_BLOCK_RW_MASK = 128'h00000000000000000000000000000000;

  // statistics block: Counters: one element per queue context, directly after the header. 64-bit
  // pairs; read HI, LO, HI.
  /// block_type STATISTICS.
  localparam logic [15:0] STATISTICS_BLOCK_TYPE = 16'h0008;
  /// Version of the block.
  localparam logic [15:0] STATISTICS_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] STATISTICS_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] STATISTICS_BLOCK_STRIDE = 32'h00000040;
  /// Packets moved, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_PACKETS_LO = 32'h00000000;
  /// Packets moved, high word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_PACKETS_HI = 32'h00000004;
  /// Payload bytes moved, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_BYTES_LO = 32'h00000008;
  /// Payload bytes moved, high word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_BYTES_HI = 32'h0000000c;
  /// Submissions completed with an error status, and those that a queue discards when it closes,
  /// low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_ERRORS_LO = 32'h00000010;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_ERRORS_HI = 32'h00000014;
  /// Number of times a packet had to wait for a receive buffer or area, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_STALLS_LO = 32'h00000018;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_STALLS_HI = 32'h0000001c;
  /// Wake-ups of the host, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_WAKES_LO = 32'h00000020;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_WAKES_HI = 32'h00000024;
  /// Messages dropped (message receive only; packets are never dropped), low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_DROPPED_LO = 32'h00000028;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_DROPPED_HI = 32'h0000002c;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] STATISTICS_BLOCK_RW_MASK = 128'h00000000000000000000000000000000;

  // mib block: Management information base of the port in the block's instance field. It has as
  // many elements as the port has virtual channels or lanes, whichever is more. The 64-bit value of
  // mib_item N is at MIB_VALUE_BYTES times N in its element; read HI, LO, HI. It is 0 if PRESENT
  // does not list the item.
  /// block_type MIB.
  localparam logic [15:0] MIB_BLOCK_TYPE = 16'h0009;
  /// Version of the block.
  localparam logic [15:0] MIB_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] MIB_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] MIB_BLOCK_STRIDE = 32'h00000200;
  /// Bit N: this element has item N; items 0 to 31. (ro)
  localparam logic [31:0] MIB_BLOCK_PRESENT_LO = 32'h000001f8;
  /// Items 32 to 62. (ro)
  localparam logic [31:0] MIB_BLOCK_PRESENT_HI = 32'h000001fc;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] MIB_BLOCK_RW_MASK = 128'h00000000000000000000000000000000;

  // target block: Target of RDMA (capability TARGET): serves the memory in its table to the packets
  // of one virtual channel, without queues.
  /// block_type TARGET.
  localparam logic [15:0] TARGET_BLOCK_TYPE = 16'h000c;
  /// Version of the block.
  localparam logic [15:0] TARGET_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] TARGET_BLOCK_SIZE = 32'h00000100;
  /// Port of the target. (ro)
  localparam logic [31:0] TARGET_BLOCK_PORT = 32'h00000010;
  /// Virtual channel of the requests. It has no receive queue. (ro)
  localparam logic [31:0] TARGET_BLOCK_VC = 32'h00000014;
  /// Entries of the table, 2 to 128. (ro)
  localparam logic [31:0] TARGET_BLOCK_ENTRIES = 32'h00000018;
  /// Entries that are there from power-up on, the first ones. No command changes them. (ro)
  localparam logic [31:0] TARGET_BLOCK_FIXED = 32'h0000001c;
  /// Protocol identifier, 0xf0 to 0xfe. (ro)
  localparam logic [31:0] TARGET_BLOCK_PROTOCOL = 32'h00000020;
  /// Logical address of the target. (ro)
  localparam logic [31:0] TARGET_BLOCK_LOGICAL_ADDRESS = 32'h00000024;
  /// Largest payload of a packet in bytes. (ro)
  localparam logic [31:0] TARGET_BLOCK_SEGMENT = 32'h00000028;
  /// Requests executed (mod 2^32, as all counters of this block). (ro)
  localparam logic [31:0] TARGET_BLOCK_EXECUTED = 32'h0000002c;
  /// Requests that had been executed before. (ro)
  localparam logic [31:0] TARGET_BLOCK_REPEATED = 32'h00000030;
  /// Requests answered with an error. (ro)
  localparam logic [31:0] TARGET_BLOCK_REFUSED = 32'h00000034;
  /// Packets discarded without an answer. (ro)
  localparam logic [31:0] TARGET_BLOCK_DISCARDED = 32'h00000038;
  /// Notifications lost because too many waited. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTES_LOST = 32'h0000003c;
  /// Notifications that wait. The other registers of this line and the next show the oldest one;
  /// they are 0 if there is none. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTES = 32'h00000040;
  /// Its target_note_sender. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_SENDER = 32'h00000044;
  /// Its target_note_request. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_REQUEST = 32'h00000048;
  /// Bytes of the operation. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_LENGTH = 32'h0000004c;
  /// Address of the operation as the initiator gave it, low word. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_ADDRESS_LO = 32'h00000050;
  /// Address, high word. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_ADDRESS_HI = 32'h00000054;
  /// Device time of the operation in ns, low word. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_TIME_LO = 32'h00000058;
  /// Time, high word. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_TIME_HI = 32'h0000005c;
  /// Immediate data; 0 without. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_IMMEDIATE = 32'h00000060;
  /// target_note_flags. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_FLAGS = 32'h00000064;
  /// Bytes 0 to 3 of a message (SEND), the first one least significant. Up to 32 bytes follow each
  /// other from here. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_DATA_0 = 32'h00000080;
  /// Bytes 28 to 31 of a message. (ro)
  localparam logic [31:0] TARGET_BLOCK_NOTE_DATA_7 = 32'h0000009c;
  /// Remote key: index (20 bits), equal to CFG_INDEX, and generation (12 bits), which should be
  /// random and is not 0. (rw)
  localparam logic [31:0] TARGET_BLOCK_KEY = 32'h000000c0;
  /// key_options. With NOTIFY each operation makes a notification. (rw)
  localparam logic [31:0] TARGET_BLOCK_OPTIONS = 32'h000000c4;
  /// Address of the first byte as others see it, low word. (rw)
  localparam logic [31:0] TARGET_BLOCK_ADDRESS_LO = 32'h000000c8;
  /// Address, high word. (rw)
  localparam logic [31:0] TARGET_BLOCK_ADDRESS_HI = 32'h000000cc;
  /// Size in bytes, 1 or more, low word. (rw)
  localparam logic [31:0] TARGET_BLOCK_SIZE_LO = 32'h000000d0;
  /// Size, high word. (rw)
  localparam logic [31:0] TARGET_BLOCK_SIZE_HI = 32'h000000d4;
  /// Bus address of the first byte, low word. (rw)
  localparam logic [31:0] TARGET_BLOCK_MEMORY_LO = 32'h000000d8;
  /// Bus address, high word. (rw)
  localparam logic [31:0] TARGET_BLOCK_MEMORY_HI = 32'h000000dc;
  /// Logical addresses that may use the entry, 4 bytes; 0 stands for none, and 0 in all bytes for
  /// everybody. (rw)
  localparam logic [31:0] TARGET_BLOCK_INITIATORS = 32'h000000e0;
  /// Event vector to signal at a notification, plus 1; 0 for none. Each command on the target
  /// latches it. (rw)
  localparam logic [31:0] TARGET_BLOCK_NOTE_VECTOR = 32'h000000e4;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] TARGET_BLOCK_RW_MASK = 128'h000000000000000003ff000000000000;

  // pair block: Counters of queue pairs of the port in the block's instance field (capability
  // PAIR_COUNTERS): element V belongs to virtual channel V. The 64-bit value of pair_counter N is
  // at PAIR_VALUE_BYTES times N in its element; read HI, LO, HI. It is 0 if PRESENT does not list
  // the counter.
  /// block_type PAIR.
  localparam logic [15:0] PAIR_BLOCK_TYPE = 16'h000d;
  /// Version of the block.
  localparam logic [15:0] PAIR_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] PAIR_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] PAIR_BLOCK_STRIDE = 32'h00000200;
  /// Bit N: the queue pair has counter N; counters 0 to 31. 0 if the virtual channel has no queue
  /// pair. (ro)
  localparam logic [31:0] PAIR_BLOCK_PRESENT_LO = 32'h000001f8;
  /// Counters 32 to 62. (ro)
  localparam logic [31:0] PAIR_BLOCK_PRESENT_HI = 32'h000001fc;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] PAIR_BLOCK_RW_MASK = 128'h00000000000000000000000000000000;

  // fabric block: The node behind the fabric port in the block's instance field (capability
  // FABRIC).
  /// block_type FABRIC.
  localparam logic [15:0] FABRIC_BLOCK_TYPE = 16'h000a;
  /// Version of the block.
  localparam logic [15:0] FABRIC_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] FABRIC_BLOCK_SIZE = 32'h00000100;
  /// Number of this node, 1 to NODES. (ro)
  localparam logic [31:0] FABRIC_BLOCK_NODE = 32'h00000010;
  /// Number of nodes, at most FABRIC_NODES_MAX: elements of the peer block. (ro)
  localparam logic [31:0] FABRIC_BLOCK_NODES = 32'h00000014;
  /// Virtual channels to each node. Channel C to node N is virtual channel CHANNELS * (N - 1) + C
  /// of this port; at its other end it is channel C to this node. Those to the own node are not
  /// used. (ro)
  localparam logic [31:0] FABRIC_BLOCK_CHANNELS = 32'h00000018;
  /// Number of times that this node has started its port. (ro)
  localparam logic [31:0] FABRIC_BLOCK_EPOCH = 32'h0000001c;
  /// Doorbells that all nodes have rung here (mod 2^32). (ro)
  localparam logic [31:0] FABRIC_BLOCK_RINGS = 32'h00000020;
  /// Doorbells of this host that were refused (mod 2^32). (ro)
  localparam logic [31:0] FABRIC_BLOCK_REFUSED = 32'h00000024;
  /// status of the last one: BAD_FIELD (NUMBER), NOT_FOUND (QUEUE leads to no node of this port),
  /// LINK_DOWN (the node is not READY); OK if there was none. (ro)
  localparam logic [31:0] FABRIC_BLOCK_REFUSED_STATUS = 32'h00000028;
  /// Event vector to signal when RINGS rises, plus 1: 1 to EVENTS; 0 for none. Latched by
  /// PORT_CONFIGURE. (rw)
  localparam logic [31:0] FABRIC_BLOCK_BELL_VECTOR = 32'h00000080;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] FABRIC_BLOCK_RW_MASK = 128'h00000000000000000000000100000000;

  // peer block: What the fabric port in the block's instance field sees of each node: element N - 1
  // is node N. The first register of a row of PEER_DOORBELLS or PEER_SCRATCHPADS has its name; the
  // others follow, 4 bytes apart.
  /// block_type PEER.
  localparam logic [15:0] PEER_BLOCK_TYPE = 16'h000b;
  /// Version of the block.
  localparam logic [15:0] PEER_BLOCK_VERSION = 16'h0001;
  /// Size in bytes of the block, or of its header if it is an array.
  localparam logic [31:0] PEER_BLOCK_SIZE = 32'h00000010;
  /// Bytes from one element to the next.
  localparam logic [31:0] PEER_BLOCK_STRIDE = 32'h00000100;
  /// node_state. (ro)
  localparam logic [31:0] PEER_BLOCK_STATE = 32'h00000000;
  /// Number of times that the node has started its port. (ro)
  localparam logic [31:0] PEER_BLOCK_EPOCH = 32'h00000004;
  /// Doorbells that the node has rung here: the sum of all numbers (mod 2^32). (ro)
  localparam logic [31:0] PEER_BLOCK_RINGS = 32'h00000008;
  /// How often the node has rung doorbell 0 (mod 2^32); 0 again when it starts with a new epoch.
  /// (ro)
  localparam logic [31:0] PEER_BLOCK_DOORBELL = 32'h00000040;
  /// Scratchpad 0 that the node has published; 0 again when it starts with a new epoch. (ro)
  localparam logic [31:0] PEER_BLOCK_INWARD = 32'h00000080;
  /// Scratchpad 0 for the node. A doorbell to it publishes all of them. (rw)
  localparam logic [31:0] PEER_BLOCK_OUTWARD = 32'h000000c0;
  /// Words of the block, or of an element, that the host writes: bit N for word N.
  localparam logic [127:0] PEER_BLOCK_RW_MASK = 128'h00000000000000000001000000000000;

  // Masks of items of the management information base: bit N for item N.
  /// Items that can be set.
  localparam logic [63:0] MIB_RW_MASK = 64'h0400000007fb87f3;
  /// Items that start an action when set to 1.
  localparam logic [63:0] MIB_COMMAND_MASK = 64'h020000000000000c;
  /// Items that exist once per lane.
  localparam logic [63:0] MIB_LANE_MASK = 64'h01ffe00007f98000;
  /// Items that exist once per virtual channel.
  localparam logic [63:0] MIB_VC_MASK = 64'h00000000f80003c1;

  /// Smallest value of an item that can be set; 0 for others.
  function automatic logic [63:0] mib_min(input logic [7:0] item);
    case (item)
      8'd2: return 64'h0000000000000001;  // Interface Reset
      8'd3: return 64'h0000000000000001;  // Link Reset
      8'd17: return 64'h0000000000000001;  // Maximum Number of Data-Sending Lanes
      default: return 64'd0;
    endcase
  endfunction

  /// Largest value of an item that can be set; 0 for others.
  function automatic logic [63:0] mib_max(input logic [7:0] item);
    case (item)
      8'd0: return 64'h000000000000003f;  // Virtual Network Number
      8'd1: return 64'h00000000000000ff;  // Broadcast Channel
      8'd2: return 64'h0000000000000001;  // Interface Reset
      8'd3: return 64'h0000000000000001;  // Link Reset
      8'd4: return 64'h0000000000000001;  // Data Scrambled
      8'd5: return 64'h000000000000ffff;  // Expected Broadcast Bandwidth
      8'd6: return 64'h000000000000000f;  // Priority
      8'd7: return 64'h000000000000ffff;  // Expected Bandwidth
      8'd8: return 64'hffffffffffffffff;  // Time-slots
      8'd9: return 64'h0000000000000001;  // Continuous Mode
      8'd10: return 64'h00000000ffffffff;  // Idle Time Limit
      8'd15: return 64'h0000000000000001;  // TxEn
      8'd16: return 64'h0000000000000001;  // RxEn
      8'd17: return 64'h0000000000000010;  // Maximum Number of Data-Sending Lanes
      8'd19: return 64'h0000000000000001;  // LaneStart
      8'd20: return 64'h0000000000000001;  // AutoStart
      8'd21: return 64'h0000000000000001;  // LaneReset
      8'd22: return 64'h0000000000000001;  // Near-End Parallel Loopback
      8'd23: return 64'h0000000000000001;  // Far-End Parallel Loopback
      8'd24: return 64'h00000000000000ff;  // Standby Reason
      8'd25: return 64'h0000000000000001;  // Near-End Serial Loopback
      8'd26: return 64'h0000000000000001;  // Far-End Serial Loopback
      8'd57: return 64'h000000000000003f;  // Schedule
      8'd58: return 64'h0000000000000100;  // Schedule Type
      default: return 64'd0;
    endcase
  endfunction

  // Ranges of the items that can be set; a link may support less.
  /// Smallest value of Virtual Network Number.
  localparam logic [63:0] MIB_VIRTUAL_NETWORK_MIN = 64'h0000000000000000;
  /// Largest value of Virtual Network Number.
  localparam logic [63:0] MIB_VIRTUAL_NETWORK_MAX = 64'h000000000000003f;
  /// Smallest value of Broadcast Channel.
  localparam logic [63:0] MIB_BROADCAST_CHANNEL_MIN = 64'h0000000000000000;
  /// Largest value of Broadcast Channel.
  localparam logic [63:0] MIB_BROADCAST_CHANNEL_MAX = 64'h00000000000000ff;
  /// Smallest value of Data Scrambled.
  localparam logic [63:0] MIB_DATA_SCRAMBLED_MIN = 64'h0000000000000000;
  /// Largest value of Data Scrambled.
  localparam logic [63:0] MIB_DATA_SCRAMBLED_MAX = 64'h0000000000000001;
  /// Smallest value of Expected Broadcast Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BROADCAST_BANDWIDTH_MIN = 64'h0000000000000000;
  /// Largest value of Expected Broadcast Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BROADCAST_BANDWIDTH_MAX = 64'h000000000000ffff;
  /// Smallest value of Priority.
  localparam logic [63:0] MIB_PRIORITY_MIN = 64'h0000000000000000;
  /// Largest value of Priority.
  localparam logic [63:0] MIB_PRIORITY_MAX = 64'h000000000000000f;
  /// Smallest value of Expected Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BANDWIDTH_MIN = 64'h0000000000000000;
  /// Largest value of Expected Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BANDWIDTH_MAX = 64'h000000000000ffff;
  /// Smallest value of Time-slots.
  localparam logic [63:0] MIB_TIME_SLOTS_MIN = 64'h0000000000000000;
  /// Largest value of Time-slots.
  localparam logic [63:0] MIB_TIME_SLOTS_MAX = 64'hffffffffffffffff;
  /// Smallest value of Continuous Mode.
  localparam logic [63:0] MIB_CONTINUOUS_MODE_MIN = 64'h0000000000000000;
  /// Largest value of Continuous Mode.
  localparam logic [63:0] MIB_CONTINUOUS_MODE_MAX = 64'h0000000000000001;
  /// Smallest value of Idle Time Limit.
  localparam logic [63:0] MIB_IDLE_TIME_LIMIT_MIN = 64'h0000000000000000;
  /// Largest value of Idle Time Limit.
  localparam logic [63:0] MIB_IDLE_TIME_LIMIT_MAX = 64'h00000000ffffffff;
  /// Smallest value of TxEn.
  localparam logic [63:0] MIB_TX_EN_MIN = 64'h0000000000000000;
  /// Largest value of TxEn.
  localparam logic [63:0] MIB_TX_EN_MAX = 64'h0000000000000001;
  /// Smallest value of RxEn.
  localparam logic [63:0] MIB_RX_EN_MIN = 64'h0000000000000000;
  /// Largest value of RxEn.
  localparam logic [63:0] MIB_RX_EN_MAX = 64'h0000000000000001;
  /// Smallest value of Maximum Number of Data-Sending Lanes.
  localparam logic [63:0] MIB_MAX_DATA_SENDING_LANES_MIN = 64'h0000000000000001;
  /// Largest value of Maximum Number of Data-Sending Lanes.
  localparam logic [63:0] MIB_MAX_DATA_SENDING_LANES_MAX = 64'h0000000000000010;
  /// Smallest value of LaneStart.
  localparam logic [63:0] MIB_LANE_START_MIN = 64'h0000000000000000;
  /// Largest value of LaneStart.
  localparam logic [63:0] MIB_LANE_START_MAX = 64'h0000000000000001;
  /// Smallest value of AutoStart.
  localparam logic [63:0] MIB_AUTO_START_MIN = 64'h0000000000000000;
  /// Largest value of AutoStart.
  localparam logic [63:0] MIB_AUTO_START_MAX = 64'h0000000000000001;
  /// Smallest value of LaneReset.
  localparam logic [63:0] MIB_LANE_RESET_MIN = 64'h0000000000000000;
  /// Largest value of LaneReset.
  localparam logic [63:0] MIB_LANE_RESET_MAX = 64'h0000000000000001;
  /// Smallest value of Near-End Parallel Loopback.
  localparam logic [63:0] MIB_NEAR_END_PARALLEL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Largest value of Near-End Parallel Loopback.
  localparam logic [63:0] MIB_NEAR_END_PARALLEL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Smallest value of Far-End Parallel Loopback.
  localparam logic [63:0] MIB_FAR_END_PARALLEL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Largest value of Far-End Parallel Loopback.
  localparam logic [63:0] MIB_FAR_END_PARALLEL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Smallest value of Standby Reason.
  localparam logic [63:0] MIB_STANDBY_REASON_MIN = 64'h0000000000000000;
  /// Largest value of Standby Reason.
  localparam logic [63:0] MIB_STANDBY_REASON_MAX = 64'h00000000000000ff;
  /// Smallest value of Near-End Serial Loopback.
  localparam logic [63:0] MIB_NEAR_END_SERIAL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Largest value of Near-End Serial Loopback.
  localparam logic [63:0] MIB_NEAR_END_SERIAL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Smallest value of Far-End Serial Loopback.
  localparam logic [63:0] MIB_FAR_END_SERIAL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Largest value of Far-End Serial Loopback.
  localparam logic [63:0] MIB_FAR_END_SERIAL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Smallest value of Schedule Type.
  localparam logic [63:0] MIB_SCHEDULE_TYPE_MIN = 64'h0000000000000000;
  /// Largest value of Schedule Type.
  localparam logic [63:0] MIB_SCHEDULE_TYPE_MAX = 64'h0000000000000100;
endpackage

/// Stops elaboration if a tool gives a type another size.
module spfe_pkg_check;
`ifndef __ICARUS__  // Icarus 11 has no elaboration tasks
  if ($bits(spfe_pkg::submission_t) != 128) begin : gen_submission_t
    $error("spfe_pkg::submission_t has %0d bits, not 128", $bits(spfe_pkg::submission_t));
  end
  if ($bits(spfe_pkg::inline_submission_t) != 128) begin : gen_inline_submission_t
    $error("spfe_pkg::inline_submission_t has %0d bits, not 128", $bits(spfe_pkg::inline_submission_t));
  end
  if ($bits(spfe_pkg::burst_ext_t) != 128) begin : gen_burst_ext_t
    $error("spfe_pkg::burst_ext_t has %0d bits, not 128", $bits(spfe_pkg::burst_ext_t));
  end
  if ($bits(spfe_pkg::release_t) != 128) begin : gen_release_t
    $error("spfe_pkg::release_t has %0d bits, not 128", $bits(spfe_pkg::release_t));
  end
  if ($bits(spfe_pkg::message_t) != 128) begin : gen_message_t
    $error("spfe_pkg::message_t has %0d bits, not 128", $bits(spfe_pkg::message_t));
  end
  if ($bits(spfe_pkg::completion_t) != 128) begin : gen_completion_t
    $error("spfe_pkg::completion_t has %0d bits, not 128", $bits(spfe_pkg::completion_t));
  end
  if ($bits(spfe_pkg::work_entry_t) != 128) begin : gen_work_entry_t
    $error("spfe_pkg::work_entry_t has %0d bits, not 128", $bits(spfe_pkg::work_entry_t));
  end
  if ($bits(spfe_pkg::operand_t) != 128) begin : gen_operand_t
    $error("spfe_pkg::operand_t has %0d bits, not 128", $bits(spfe_pkg::operand_t));
  end
  if ($bits(spfe_pkg::entry_type_e) != 8) begin : gen_entry_type_e
    $error("spfe_pkg::entry_type_e has %0d bits, not 8", $bits(spfe_pkg::entry_type_e));
  end
  if ($bits(spfe_pkg::end_marker_e) != 8) begin : gen_end_marker_e
    $error("spfe_pkg::end_marker_e has %0d bits, not 8", $bits(spfe_pkg::end_marker_e));
  end
  if ($bits(spfe_pkg::queue_kind_e) != 8) begin : gen_queue_kind_e
    $error("spfe_pkg::queue_kind_e has %0d bits, not 8", $bits(spfe_pkg::queue_kind_e));
  end
  if ($bits(spfe_pkg::work_opcode_e) != 8) begin : gen_work_opcode_e
    $error("spfe_pkg::work_opcode_e has %0d bits, not 8", $bits(spfe_pkg::work_opcode_e));
  end
  if ($bits(spfe_pkg::queue_pair_state_e) != 8) begin : gen_queue_pair_state_e
    $error("spfe_pkg::queue_pair_state_e has %0d bits, not 8", $bits(spfe_pkg::queue_pair_state_e));
  end
  if ($bits(spfe_pkg::queue_pair_wait_e) != 8) begin : gen_queue_pair_wait_e
    $error("spfe_pkg::queue_pair_wait_e has %0d bits, not 8", $bits(spfe_pkg::queue_pair_wait_e));
  end
  if ($bits(spfe_pkg::pair_counter_e) != 8) begin : gen_pair_counter_e
    $error("spfe_pkg::pair_counter_e has %0d bits, not 8", $bits(spfe_pkg::pair_counter_e));
  end
  if ($bits(spfe_pkg::port_kind_e) != 8) begin : gen_port_kind_e
    $error("spfe_pkg::port_kind_e has %0d bits, not 8", $bits(spfe_pkg::port_kind_e));
  end
  if ($bits(spfe_pkg::port_state_e) != 8) begin : gen_port_state_e
    $error("spfe_pkg::port_state_e has %0d bits, not 8", $bits(spfe_pkg::port_state_e));
  end
  if ($bits(spfe_pkg::node_state_e) != 8) begin : gen_node_state_e
    $error("spfe_pkg::node_state_e has %0d bits, not 8", $bits(spfe_pkg::node_state_e));
  end
  if ($bits(spfe_pkg::queue_state_e) != 8) begin : gen_queue_state_e
    $error("spfe_pkg::queue_state_e has %0d bits, not 8", $bits(spfe_pkg::queue_state_e));
  end
  if ($bits(spfe_pkg::message_kind_e) != 8) begin : gen_message_kind_e
    $error("spfe_pkg::message_kind_e has %0d bits, not 8", $bits(spfe_pkg::message_kind_e));
  end
  if ($bits(spfe_pkg::block_type_e) != 16) begin : gen_block_type_e
    $error("spfe_pkg::block_type_e has %0d bits, not 16", $bits(spfe_pkg::block_type_e));
  end
  if ($bits(spfe_pkg::doorbell_kind_e) != 8) begin : gen_doorbell_kind_e
    $error("spfe_pkg::doorbell_kind_e has %0d bits, not 8", $bits(spfe_pkg::doorbell_kind_e));
  end
  if ($bits(spfe_pkg::command_e) != 8) begin : gen_command_e
    $error("spfe_pkg::command_e has %0d bits, not 8", $bits(spfe_pkg::command_e));
  end
  if ($bits(spfe_pkg::status_e) != 8) begin : gen_status_e
    $error("spfe_pkg::status_e has %0d bits, not 8", $bits(spfe_pkg::status_e));
  end
  if ($bits(spfe_pkg::mib_layer_e) != 8) begin : gen_mib_layer_e
    $error("spfe_pkg::mib_layer_e has %0d bits, not 8", $bits(spfe_pkg::mib_layer_e));
  end
  if ($bits(spfe_pkg::mib_kind_e) != 8) begin : gen_mib_kind_e
    $error("spfe_pkg::mib_kind_e has %0d bits, not 8", $bits(spfe_pkg::mib_kind_e));
  end
  if ($bits(spfe_pkg::mib_access_e) != 8) begin : gen_mib_access_e
    $error("spfe_pkg::mib_access_e has %0d bits, not 8", $bits(spfe_pkg::mib_access_e));
  end
  if ($bits(spfe_pkg::mib_scope_e) != 8) begin : gen_mib_scope_e
    $error("spfe_pkg::mib_scope_e has %0d bits, not 8", $bits(spfe_pkg::mib_scope_e));
  end
  if ($bits(spfe_pkg::mib_item_e) != 8) begin : gen_mib_item_e
    $error("spfe_pkg::mib_item_e has %0d bits, not 8", $bits(spfe_pkg::mib_item_e));
  end
`endif
endmodule

/* verilator lint_on DECLFILENAME */
/* verilator lint_on UNUSEDPARAM */
