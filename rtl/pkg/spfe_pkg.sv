// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Generated from contract/spfe.toml: do not edit; run `make gen`.
/* verilator lint_off UNUSEDPARAM */
/* verilator lint_off DECLFILENAME */

/// The spfe contract: constants, enums, ring entries, register offsets.
package spfe_pkg;
  /// What the register MAGIC holds.
  localparam logic [31:0] CONTRACT_MAGIC = 32'h53504645;
  /// Equal on both sides.
  localparam logic [15:0] CONTRACT_VERSION_MAJOR = 16'h0001;
  /// Only ever adds things.
  localparam logic [15:0] CONTRACT_VERSION_MINOR = 16'h0001;
  /// Size of every ring entry, submission or completion.
  localparam logic [31:0] ENTRY_BYTES = 32'd16;
  /// Smallest ring: 4 entries, one cache line of 64 bytes.
  localparam logic [31:0] RING_LOG2_MIN = 32'd2;
  /// Largest ring: 32768 entries, so a 16-bit ring position is never ambiguous.
  localparam logic [31:0] RING_LOG2_MAX = 32'd15;
  /// Low bits of the 16-bit region field of an entry: index into the memory-region table.
  localparam logic [31:0] REGION_INDEX_BITS = 32'd12;
  /// High bits of the region field: generation of that index, so that an entry naming a revoked
  /// region is caught.
  localparam logic [31:0] REGION_GENERATION_BITS = 32'd4;
  /// Bits of the byte offset inside a region.
  localparam logic [31:0] OFFSET_BITS = 32'd48;
  /// Most bytes one inline entry carries (8 in the address word, 3 in the length word): a
  /// SpaceFibre path address.
  localparam logic [31:0] INLINE_MAX_BYTES = 32'd11;
  /// Most entries one packet may be gathered from; a longer chain is CHAIN_TOO_LONG.
  localparam logic [31:0] CHAIN_MAX = 32'd16;
  /// Most packets one burst entry describes.
  localparam logic [31:0] BURST_MAX = 32'd65535;
  /// Longest piece one entry may describe (1 GiB). Longer packets are sent as pieces with end
  /// marker NONE.
  localparam logic [31:0] PACKET_MAX_BYTES = 32'd1073741824;
  /// Records of a packed receive area start at multiples of this many bytes.
  localparam logic [31:0] PACKED_ALIGN = 32'd8;
  /// Size of the header in front of each record of a packed receive area.
  localparam logic [31:0] PACKED_HEADER_BYTES = 32'd8;
  /// Smallest packed receive area; larger areas are multiples of 8 bytes up to 1 GiB.
  localparam logic [31:0] PACKED_AREA_MIN_BYTES = 32'd4096;
  /// Most virtual channels of one SpaceFibre port (ECSS-E-ST-50-11C: VC 0 to 31).
  localparam logic [31:0] VC_MAX = 32'd32;
  /// Bytes of a value in the mib block: that of item N is at N times this in its element.
  localparam logic [31:0] MIB_VALUE_BYTES = 32'd8;
  /// Bytes from one client's doorbell page to the next; 65536 where CAP_DOORBELL_64K is set.
  localparam logic [31:0] DOORBELL_STRIDE = 32'd4096;
  /// Smallest page of a page list, log2 of its bytes: 4 KiB.
  localparam logic [31:0] PAGE_LOG2_MIN = 32'd12;
  /// Largest page of a page list, log2 of its bytes: 1 GiB.
  localparam logic [31:0] PAGE_LOG2_MAX = 32'd30;
  /// PCI vendor of a device on PCI Express (pid.codes), subsystem vendor too.
  localparam logic [31:0] PCI_VENDOR = 32'd4617;
  /// PCI device of a device on PCI Express, subsystem too. Registers are BAR 0; event vector n is
  /// MSI-X entry n.
  localparam logic [31:0] PCI_DEVICE = 32'd24334;
  /// PCI class code: network controller, other.
  localparam logic [31:0] PCI_CLASS = 32'd163840;

  /// What a submission entry asks for (bits 3:0 of its flags).
  typedef enum logic [7:0] {
    /// Never valid; an all-zero entry is an error, not a transfer.
    ENTRY_TYPE_INVALID = 8'h00,
    /// Transmit: bytes at an address.
    ENTRY_TYPE_DATA = 8'h01,
    /// Transmit: up to 11 bytes carried in the entry itself.
    ENTRY_TYPE_INLINE = 8'h02,
    /// Transmit: count packets of one length at a stride; followed by one BURST_EXT entry.
    ENTRY_TYPE_BURST = 8'h03,
    /// Second half of a burst.
    ENTRY_TYPE_BURST_EXT = 8'h04,
    /// Receive: one buffer to fill.
    ENTRY_TYPE_BUFFER = 8'h05,
    /// Packed and message receive: gives bytes and completion credits back.
    ENTRY_TYPE_RELEASE = 8'h06,
    /// Transmit: one broadcast message or time-code.
    ENTRY_TYPE_MESSAGE = 8'h07,
    /// Reserved for RDMA work requests with extension entries.
    ENTRY_TYPE_RDMA = 8'h08
  } entry_type_e;

  /// How a packet or a piece of one ends (ECSS-E-ST-50-11C 5.3.7).
  typedef enum logic [7:0] {
    /// End of packet.
    END_MARKER_EOP = 8'h00,
    /// Error end of packet: the packet was cut by an error.
    END_MARKER_EEP = 8'h01,
    /// No end marker: the packet goes on in the next entry, buffer or record.
    END_MARKER_NONE = 8'h02
  } end_marker_e;

  /// What a queue context does.
  typedef enum logic [7:0] {
    /// Unused context.
    QUEUE_KIND_NONE = 8'h00,
    /// Packets to one virtual channel.
    QUEUE_KIND_TX = 8'h01,
    /// Packets from one virtual channel into posted buffers.
    QUEUE_KIND_RX = 8'h02,
    /// Packets from one virtual channel, back to back in one area.
    QUEUE_KIND_RX_PACKED = 8'h03,
    /// Broadcast messages or time-codes out.
    QUEUE_KIND_MESSAGE_TX = 8'h04,
    /// Broadcast messages or time-codes in.
    QUEUE_KIND_MESSAGE_RX = 8'h05
  } queue_kind_e;

  /// What a port speaks.
  typedef enum logic [7:0] {
    /// No port.
    PORT_KIND_NONE = 8'h00,
    /// SpaceFibre port: virtual channels and broadcast messages.
    PORT_KIND_SPACEFIBRE = 8'h01,
    /// SpaceWire port: one channel and time-codes.
    PORT_KIND_SPACEWIRE = 8'h02,
    /// PCIe fabric port.
    PORT_KIND_FABRIC = 8'h03
  } port_kind_e;

  /// Link state as software needs it; the lane and link state machines are in the port's MIB.
  typedef enum logic [7:0] {
    /// Not connected or disabled.
    PORT_STATE_DOWN = 8'h00,
    /// Initialising.
    PORT_STATE_STARTING = 8'h01,
    /// Moving packets.
    PORT_STATE_UP = 8'h02
  } port_state_e;

  /// State of a queue context.
  typedef enum logic [7:0] {
    /// Not configured, or disabled; the rings belong to the host.
    QUEUE_STATE_DISABLED = 8'h00,
    /// Working.
    QUEUE_STATE_ENABLED = 8'h01,
    /// The rings could not be read; destroy and create the queue again.
    QUEUE_STATE_ERROR = 8'h02
  } queue_state_e;

  /// What a message entry carries.
  typedef enum logic [7:0] {
    /// SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5); BAD_OPCODE on other ports.
    MESSAGE_KIND_BROADCAST = 8'h01,
    /// SpaceWire time-code (ECSS-E-ST-50-12C); BAD_OPCODE on other ports.
    MESSAGE_KIND_TIME_CODE = 8'h02
  } message_kind_e;

  /// Type of a register block; the list starts at offset 0 and is linked by the next field.
  typedef enum logic [15:0] {
    /// No block.
    BLOCK_TYPE_END = 16'h0000,
    /// Identity, capabilities, configuration latch, reset.
    BLOCK_TYPE_GLOBAL = 16'h0001,
    /// One per port.
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
    BLOCK_TYPE_MIB = 16'h0009
  } block_type_e;

  /// What a doorbell is rung for (KIND of the store to a doorbell page).
  typedef enum logic [7:0] {
    /// Submissions were posted.
    DOORBELL_KIND_SUBMIT = 8'h00,
    /// A completion ring was armed.
    DOORBELL_KIND_ARM = 8'h01,
    /// The configuration latch has a new command.
    DOORBELL_KIND_LATCH = 8'h02
  } doorbell_kind_e;

  /// What the configuration latch of the global block does when CFG_SEQ changes.
  typedef enum logic [7:0] {
    /// Acknowledge only.
    COMMAND_NOP = 8'h00,
    /// Read the queue context named by CFG_INDEX and start it.
    COMMAND_QUEUE_ENABLE = 8'h01,
    /// Stop the queue; when acknowledged the device touches its rings and buffers no more.
    COMMAND_QUEUE_DISABLE = 8'h02,
    /// Read the region entry named by CFG_INDEX and make it usable.
    COMMAND_REGION_ENABLE = 8'h03,
    /// Revoke the region; when acknowledged no access is in flight.
    COMMAND_REGION_DISABLE = 8'h04,
    /// Apply the configuration of the port named by CFG_INDEX.
    COMMAND_PORT_CONFIGURE = 8'h05,
    /// Stop every queue and revoke every region.
    COMMAND_RESET = 8'h06,
    /// Set MIB_ITEM, of MIB_ELEMENT, of the port named by CFG_INDEX, to MIB_VALUE (capability MIB).
    COMMAND_MIB_SET = 8'h07
  } command_e;

  /// Outcome of a submission. The class says whose fault it was.
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
    /// The far end went away with the packet unfinished.
    STATUS_PEER_GONE = 8'h20,
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

  /// What an item of the management information base is.
  typedef enum logic [7:0] {
    /// Of table 5-36.
    MIB_KIND_PARAMETER = 8'h00,
    /// Of table 5-37.
    MIB_KIND_STATUS = 8'h01,
    /// Of table 5-37; it stays until the link is reset by LINK_RESET or INTERFACE_RESET.
    MIB_KIND_ERROR = 8'h02
  } mib_kind_e;

  /// How an item of the management information base is used.
  typedef enum logic [7:0] {
    /// Read only.
    MIB_ACCESS_RO = 8'h00,
    /// Read, and set with MIB_SET.
    MIB_ACCESS_RW = 8'h01,
    /// Setting it to 1 does something; it reads 0.
    MIB_ACCESS_COMMAND = 8'h02
  } mib_access_e;

  /// What there is one of an item for.
  typedef enum logic [7:0] {
    /// The link: element 0.
    MIB_SCOPE_LINK = 8'h00,
    /// Each lane: element L is of lane L.
    MIB_SCOPE_LANE = 8'h01,
    /// Each virtual channel: element V is of virtual channel V.
    MIB_SCOPE_VC = 8'h02
  } mib_scope_e;

  /// Item of the management information base of a port (ECSS-E-ST-50-11C tables 5-36 and 5-37).
  typedef enum logic [7:0] {
    /// Virtual Network Number: Virtual network of a virtual channel; 0 on channel 0 for ever.
    MIB_ITEM_VIRTUAL_NETWORK = 8'h00,
    /// Broadcast Channel: Channel that a node sends broadcast messages on.
    MIB_ITEM_BROADCAST_CHANNEL = 8'h01,
    /// Interface Reset: Link reset, and parameters as after power-on.
    MIB_ITEM_INTERFACE_RESET = 8'h02,
    /// Link Reset: Link reset of both ends.
    MIB_ITEM_LINK_RESET = 8'h03,
    /// Data Scrambled: Data frames are scrambled, from the next link reset on.
    MIB_ITEM_DATA_SCRAMBLED = 8'h04,
    /// Expected Broadcast Bandwidth: Share of the link for broadcast messages.
    MIB_ITEM_EXPECTED_BROADCAST_BANDWIDTH = 8'h05,
    /// Priority: 0 is the highest.
    MIB_ITEM_PRIORITY = 8'h06,
    /// Expected Bandwidth: Share of the link; 65535 is all of it, 0 bars the channel.
    MIB_ITEM_EXPECTED_BANDWIDTH = 8'h07,
    /// Time-slots: Bit T: may send in time-slot T.
    MIB_ITEM_TIME_SLOTS = 8'h08,
    /// Continuous Mode: The user never waits.
    MIB_ITEM_CONTINUOUS_MODE = 8'h09,
    /// Idle Time Limit: Full credit for longer is under-use.
    MIB_ITEM_IDLE_TIME_LIMIT = 8'h0a,
    /// Bandwidth Credit Limit: Fixed when the link is made.
    MIB_ITEM_BANDWIDTH_CREDIT_LIMIT = 8'h0b,
    /// Minimum Bandwidth Credit Threshold: In tenths of the limit below zero; fixed when the link
    /// is made.
    MIB_ITEM_MINIMUM_BANDWIDTH_CREDIT_THRESHOLD = 8'h0c,
    /// FCT Multiplier: Worth of an FCT; fixed when the link is made.
    MIB_ITEM_FCT_MULTIPLIER = 8'h0d,
    /// Segment Multiplier: Longest data frame; fixed when the link is made.
    MIB_ITEM_SEGMENT_MULTIPLIER = 8'h0e,
    /// TxEn: The lane sends.
    MIB_ITEM_TX_EN = 8'h0f,
    /// RxEn: The lane receives.
    MIB_ITEM_RX_EN = 8'h10,
    /// Maximum Number of Data-Sending Lanes: At most the lanes there are; taken over by a link
    /// reset, and while no lane is active.
    MIB_ITEM_MAX_DATA_SENDING_LANES = 8'h11,
    /// Bypass: A plain single lane on lane 0: as configured, or as the far end needs it.
    MIB_ITEM_BYPASS = 8'h12,
    /// LaneStart: Start, and keep trying.
    MIB_ITEM_LANE_START = 8'h13,
    /// AutoStart: Start when the far end does.
    MIB_ITEM_AUTO_START = 8'h14,
    /// LaneReset: Held in ClearLine.
    MIB_ITEM_LANE_RESET = 8'h15,
    /// Near-End Parallel Loopback: Words received are those sent.
    MIB_ITEM_NEAR_END_PARALLEL_LOOPBACK = 8'h16,
    /// Far-End Parallel Loopback: Words sent are those received.
    MIB_ITEM_FAR_END_PARALLEL_LOOPBACK = 8'h17,
    /// Standby Reason: Sent in STANDBY.
    MIB_ITEM_STANDBY_REASON = 8'h18,
    /// Near-End Serial Loopback: Bits received are those sent.
    MIB_ITEM_NEAR_END_SERIAL_LOOPBACK = 8'h19,
    /// Far-End Serial Loopback: Bits sent are those received.
    MIB_ITEM_FAR_END_SERIAL_LOOPBACK = 8'h1a,
    /// Has Credit: There is FCT credit.
    MIB_ITEM_HAS_CREDIT = 8'h1b,
    /// Input Buffer Overflow: A frame found no room; it resets the link.
    MIB_ITEM_INPUT_BUFFER_OVERFLOW = 8'h1c,
    /// FCT Credit Overflow: More FCTs than the credit counter holds.
    MIB_ITEM_FCT_CREDIT_OVERFLOW = 8'h1d,
    /// Bandwidth Over-use: The channel sent far more than its share.
    MIB_ITEM_BANDWIDTH_OVER_USE = 8'h1e,
    /// Bandwidth Under-use: It had full credit for the idle time limit.
    MIB_ITEM_BANDWIDTH_UNDER_USE = 8'h1f,
    /// CRC-16 Error: In a data frame.
    MIB_ITEM_CRC16_ERROR = 8'h20,
    /// CRC-8 Error: In a broadcast frame or a single word.
    MIB_ITEM_CRC8_ERROR = 8'h21,
    /// Frame Error: A word where it does not belong.
    MIB_ITEM_FRAME_ERROR = 8'h22,
    /// Sequence Error: A number out of sequence.
    MIB_ITEM_SEQUENCE_ERROR = 8'h23,
    /// Error Recovery Buffer Empty: All that was sent is acknowledged.
    MIB_ITEM_ERROR_RECOVERY_BUFFER_EMPTY = 8'h24,
    /// Error Recovery Attempts: Valid NACKs received.
    MIB_ITEM_ERROR_RECOVERY_ATTEMPTS = 8'h25,
    /// Link Reset Caused by Protocol Error: An acknowledgement that matches nothing.
    MIB_ITEM_PROTOCOL_ERROR = 8'h26,
    /// Far-End Link Reset: The far end asked for a link reset.
    MIB_ITEM_FAR_END_LINK_RESET = 8'h27,
    /// Current Time-slot: Of the last SCHEDULE.request.
    MIB_ITEM_CURRENT_TIME_SLOT = 8'h28,
    /// Data-Sending Lanes: Bit L: lane L carries rows.
    MIB_ITEM_DATA_SENDING_LANES = 8'h29,
    /// Data-Receiving Lanes: Bit L: rows are received from lane L.
    MIB_ITEM_DATA_RECEIVING_LANES = 8'h2a,
    /// Alignment State: 0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready.
    MIB_ITEM_ALIGNMENT_STATE = 8'h2b,
    /// Misaligned Events: Times that alignment started again.
    MIB_ITEM_MISALIGNED_EVENTS = 8'h2c,
    /// Lane State: 0 ClearLine to 9 LossOfSignal.
    MIB_ITEM_LANE_STATE = 8'h2d,
    /// RXERR Count: The leaky counter.
    MIB_ITEM_RXERR_COUNT = 8'h2e,
    /// RXERR Overflow: It reached 255.
    MIB_ITEM_RXERR_OVERFLOW = 8'h2f,
    /// Far-End Standby: The far end went to standby.
    MIB_ITEM_FAR_END_STANDBY = 8'h30,
    /// Far-End Standby Reason: As it said.
    MIB_ITEM_FAR_END_STANDBY_REASON = 8'h31,
    /// Timeout: The initialisation timer ran out.
    MIB_ITEM_TIMEOUT = 8'h32,
    /// Far-End Lost Signal: The far end sent LOST_SIGNAL.
    MIB_ITEM_FAR_END_LOST_SIGNAL = 8'h33,
    /// Far-End Lost Signal Cause: 0 no signal, 1 RXERR counter, 2 INIT1.
    MIB_ITEM_FAR_END_LOST_SIGNAL_CAUSE = 8'h34,
    /// Far-End Capabilities: Field of the last INIT3; 0 before one came.
    MIB_ITEM_FAR_END_CAPABILITIES = 8'h35,
    /// RX Polarity: 1: received bits are inverted.
    MIB_ITEM_RX_POLARITY = 8'h36,
    /// No Signal: Nothing is received.
    MIB_ITEM_NO_SIGNAL = 8'h37,
    /// Bit Synchronised: The receiver has a word boundary.
    MIB_ITEM_BIT_SYNC = 8'h38
  } mib_item_e;

  // submit_flags: Flags of a submission entry.
  /// Lowest bit of TYPE.
  localparam logic [31:0] SUBMIT_FLAGS_TYPE_SHIFT = 32'd0;
  /// entry_type. In place.
  localparam logic [15:0] SUBMIT_FLAGS_TYPE_MASK = 16'h000f;
  /// Write a completion when done; one completion frees every earlier entry. Errors are always
  /// signalled.
  localparam logic [15:0] SUBMIT_FLAGS_SIGNAL = 16'h0010;
  /// Last entry of a group: publish completions and receive runs now.
  localparam logic [15:0] SUBMIT_FLAGS_LAST = 16'h0020;
  /// The packet goes on in the next entry of this ring (gather).
  localparam logic [15:0] SUBMIT_FLAGS_CHAIN = 16'h0040;
  /// Lowest bit of END.
  localparam logic [31:0] SUBMIT_FLAGS_END_SHIFT = 32'd7;
  /// end_marker. In place.
  localparam logic [15:0] SUBMIT_FLAGS_END_MASK = 16'h0180;
  /// Start only after everything before it is done. Transmit queues are in order, so this matters
  /// for RDMA only.
  localparam logic [15:0] SUBMIT_FLAGS_FENCE = 16'h0200;
  /// Lowest bit of MBZ.
  localparam logic [31:0] SUBMIT_FLAGS_MBZ_SHIFT = 32'd10;
  /// Must be zero. In place.
  localparam logic [15:0] SUBMIT_FLAGS_MBZ_MASK = 16'hfc00;

  // completion_flags: Flags of a completion entry.
  /// Lowest bit of END.
  localparam logic [31:0] COMPLETION_FLAGS_END_SHIFT = 32'd0;
  /// end_marker of the packet or piece (posted receive). In place.
  localparam logic [15:0] COMPLETION_FLAGS_END_MASK = 16'h0003;
  /// The packet goes on in the next buffer (posted receive).
  localparam logic [15:0] COMPLETION_FLAGS_MORE = 16'h0004;
  /// Not to be reported before the time in the side array (paced virtual links).
  localparam logic [15:0] COMPLETION_FLAGS_TIMED = 16'h0008;
  /// The side array holds a time for this completion.
  localparam logic [15:0] COMPLETION_FLAGS_STAMPED = 16'h0010;
  /// This run starts at offset 0 of the packed area; the bytes from the end of the last run to the
  /// end of the area are unused.
  localparam logic [15:0] COMPLETION_FLAGS_WRAP = 16'h0020;
  /// Messages were dropped before this one because the ring was full (message receive only).
  localparam logic [15:0] COMPLETION_FLAGS_LOST = 16'h0040;

  // record_flags: Flags of a record header in a packed receive area.
  /// The packet goes on in the next record.
  localparam logic [7:0] RECORD_FLAGS_MORE = 8'h01;

  // message_flags: Status of a broadcast message (ECSS-E-ST-50-11C 5.8.9).
  /// The message was sent late because a retry held it up.
  localparam logic [7:0] MESSAGE_FLAGS_LATE = 8'h01;
  /// The message waited for another broadcast message.
  localparam logic [7:0] MESSAGE_FLAGS_DELAYED = 8'h02;

  // capability: Optional features; query, never assume.
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
  /// Regions are given as bus addresses (page lists), not as shared memory.
  localparam logic [31:0] CAPABILITY_IOVA = 32'h00000020;
  /// RESET while busy completes pending submissions with DEVICE_RESET.
  localparam logic [31:0] CAPABILITY_RESET = 32'h00000040;
  /// A mib block for each port, and the command MIB_SET.
  localparam logic [31:0] CAPABILITY_MIB = 32'h00000080;

  // access: What a device may do with a memory region (values of InfiniBand verbs where they
  // exist).
  /// The device may write (receive into it).
  localparam logic [31:0] ACCESS_LOCAL_WRITE = 32'h00000001;
  /// RDMA write from a peer.
  localparam logic [31:0] ACCESS_REMOTE_WRITE = 32'h00000002;
  /// RDMA read from a peer.
  localparam logic [31:0] ACCESS_REMOTE_READ = 32'h00000004;
  /// The device may read (transmit from it).
  localparam logic [31:0] ACCESS_LOCAL_READ = 32'h00000100;

  // queue_options: Options of a queue context.
  /// Write a timestamp for every completion.
  localparam logic [31:0] QUEUE_OPTIONS_STAMP = 32'h00000001;
  /// Completions in submission order (always so today).
  localparam logic [31:0] QUEUE_OPTIONS_RETURN_IN_ORDER = 32'h00000002;

  // arm_flags: What the host waits for; any condition that is met wakes.
  /// want_count is valid.
  localparam logic [31:0] ARM_FLAGS_COUNT = 32'h00000001;
  /// want_bytes is valid.
  localparam logic [31:0] ARM_FLAGS_BYTES = 32'h00000002;
  /// after_first_ns is valid.
  localparam logic [31:0] ARM_FLAGS_TIME = 32'h00000004;
  /// Signal the event vector (file descriptor) as well.
  localparam logic [31:0] ARM_FLAGS_EVENT = 32'h00000008;

  // doorbell: The 64-bit store to a doorbell page. A hint: what is to be done is in the rings.
  /// Lowest bit of QUEUE.
  localparam logic [31:0] DOORBELL_QUEUE_SHIFT = 32'd0;
  /// Queue context index. In place.
  localparam logic [63:0] DOORBELL_QUEUE_MASK = 64'h000000000000ffff;
  /// Lowest bit of KIND.
  localparam logic [31:0] DOORBELL_KIND_SHIFT = 32'd16;
  /// doorbell_kind. In place.
  localparam logic [63:0] DOORBELL_KIND_MASK = 64'h0000000000ff0000;
  /// Lowest bit of INDEX.
  localparam logic [31:0] DOORBELL_INDEX_SHIFT = 32'd32;
  /// Free-running producer index (submissions) or arm sequence (armed). In place.
  localparam logic [63:0] DOORBELL_INDEX_MASK = 64'hffffffff00000000;

  /// DATA and BUFFER entry: transmit from, or receive into, an address.
  typedef struct packed {
    /// Lap number of the ring position, from 1; the entry is valid when it matches.
    logic [15:0] phase;
    /// submit_flags.
    logic [15:0] flags;
    /// Bytes.
    logic [31:0] length;
    /// Region: index (12 bits) and generation (4 bits).
    logic [15:0] region;
    /// Byte offset in the region.
    logic [47:0] offset;
  } submission_t;

  /// INLINE entry: up to 11 bytes in the entry.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags.
    logic [15:0] flags;
    /// Bytes 8 to 10.
    logic [23:0] data_hi;
    /// Bytes used, 1 to 11.
    logic [7:0] count;
    /// Bytes 0 to 7, byte 0 in the least significant byte.
    logic [63:0] data_lo;
  } inline_submission_t;

  /// Second entry of a BURST: the first is a submission with the address and length of packet 0.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags with TYPE = BURST_EXT.
    logic [15:0] flags;
    /// Must be zero.
    logic [31:0] reserved1;
    /// Must be zero.
    logic [15:0] reserved0;
    /// Packets, 1 to 65535.
    logic [15:0] count;
    /// Bytes from the start of one packet to the next; 0 sends the same bytes again.
    logic [31:0] stride;
  } burst_ext_t;

  /// RELEASE entry of packed and message receive.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags with TYPE = RELEASE.
    logic [15:0] flags;
    /// Must be zero.
    logic [31:0] reserved0;
    /// Completions consumed, 1 or more: the device may write as many again.
    logic [31:0] completions;
    /// Bytes of the packed area given back, skipped tail included.
    logic [31:0] bytes;
  } release_t;

  /// Broadcast message or time-code: MESSAGE entry on the way out, completion-ring entry on the way
  /// in.
  typedef struct packed {
    /// Lap number.
    logic [15:0] phase;
    /// submit_flags (out) or completion_flags (in).
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
    /// Free-running position (mod 65536) of the last submission entry this completion frees.
    logic [15:0] position;
    /// status.
    logic [7:0] status;
    /// Virtual channel.
    logic [7:0] vc;
    /// Packets (posted receive: 1 per buffer; packed receive: records) this completion reports.
    logic [15:0] packets;
    /// Bytes of all packets this completion reports; status detail where status is not OK.
    logic [31:0] bytes;
  } completion_t;

  // record_header: In front of each record of a packed receive area; the next one starts at the
  // next multiple of 8 bytes.
  /// Size in bytes.
  localparam logic [31:0] RECORD_HEADER_BYTES = 32'd8;
  /// Bytes of the record without header and padding.
  localparam logic [31:0] RECORD_HEADER_LENGTH_OFFSET = 32'd0;
  /// end_marker.
  localparam logic [31:0] RECORD_HEADER_END_OFFSET = 32'd4;
  /// record_flags.
  localparam logic [31:0] RECORD_HEADER_FLAGS_OFFSET = 32'd5;
  /// Zero.
  localparam logic [31:0] RECORD_HEADER_RESERVED0_OFFSET = 32'd6;

  // host_line: Per queue, written by the host, read by the device: what the host waits for. Alone
  // on its cache line.
  /// Size in bytes.
  localparam logic [31:0] HOST_LINE_BYTES = 32'd64;
  /// 0 not armed; otherwise the arm sequence number (odd numbers, +2 each time).
  localparam logic [31:0] HOST_LINE_ARM_OFFSET = 32'd0;
  /// arm_flags.
  localparam logic [31:0] HOST_LINE_FLAGS_OFFSET = 32'd4;
  /// Free-running completion position at or past which to wake.
  localparam logic [31:0] HOST_LINE_WANT_COUNT_OFFSET = 32'd8;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED0_OFFSET = 32'd12;
  /// Free-running count of received or sent bytes at or past which to wake.
  localparam logic [31:0] HOST_LINE_WANT_BYTES_OFFSET = 32'd16;
  /// Wake this long after the first completion at or past first_position.
  localparam logic [31:0] HOST_LINE_AFTER_FIRST_NS_OFFSET = 32'd24;
  /// Free-running completion position of the first completion not yet reported to the application.
  localparam logic [31:0] HOST_LINE_FIRST_POSITION_OFFSET = 32'd32;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED1_OFFSET = 32'd36;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED2_OFFSET = 32'd40;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED3_OFFSET = 32'd48;
  /// Zero.
  localparam logic [31:0] HOST_LINE_RESERVED4_OFFSET = 32'd56;

  // device_line: Per queue, written by the device, read by the host. Alone on its cache line.
  /// Size in bytes.
  localparam logic [31:0] DEVICE_LINE_BYTES = 32'd64;
  /// Goes up by one at each wake-up; the word a host sleeps on (futex).
  localparam logic [31:0] DEVICE_LINE_WAKE_SEQ_OFFSET = 32'd0;
  /// 1: the device sleeps; ring the doorbell after posting.
  localparam logic [31:0] DEVICE_LINE_NEED_DOORBELL_OFFSET = 32'd4;
  /// queue_state.
  localparam logic [31:0] DEVICE_LINE_STATE_OFFSET = 32'd8;
  /// status that stopped the queue, or 0.
  localparam logic [31:0] DEVICE_LINE_ERROR_OFFSET = 32'd12;
  /// Receive: a packet waited for room when completions up to position 31:0 were written and
  /// submissions up to position 63:32 used.
  localparam logic [31:0] DEVICE_LINE_FULL_OFFSET = 32'd16;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED1_OFFSET = 32'd24;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED2_OFFSET = 32'd32;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED3_OFFSET = 32'd40;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED4_OFFSET = 32'd48;
  /// Zero.
  localparam logic [31:0] DEVICE_LINE_RESERVED5_OFFSET = 32'd56;

  // global block: Identity, capabilities, the configuration latch.
  /// block_type GLOBAL.
  localparam logic [15:0] GLOBAL_BLOCK_TYPE = 16'h0001;
  /// Version of this block.
  localparam logic [15:0] GLOBAL_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
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
  /// Byte offset of the first doorbell page: a multiple of the stride. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_DOORBELL_OFFSET = 32'h0000002c;
  /// CFG_SEQ of the last command carried out. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_ACK = 32'h00000030;
  /// status of that command. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_STATUS = 32'h00000034;
  /// Goes up while the device lives, at least once a second. (ro)
  localparam logic [31:0] GLOBAL_BLOCK_HEARTBEAT = 32'h00000038;
  /// Resets since power-up. (ro)
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
  /// command. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_COMMAND = 32'h00000080;
  /// Object the command is about. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_INDEX = 32'h00000084;
  /// Write a non-zero value that is not CFG_ACK last, ring the doorbell, wait until CFG_ACK is
  /// equal. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_CFG_SEQ = 32'h00000088;
  /// mib_item that MIB_SET sets. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_ITEM = 32'h0000008c;
  /// Lane or virtual channel it is of; 0 for an item of the link. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_ELEMENT = 32'h00000090;
  /// What it is set to, low word. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_VALUE_LO = 32'h00000098;
  /// What it is set to, high word. (rw)
  localparam logic [31:0] GLOBAL_BLOCK_MIB_VALUE_HI = 32'h0000009c;

  // port block: One network port.
  /// block_type PORT.
  localparam logic [15:0] PORT_BLOCK_TYPE = 16'h0002;
  /// Version of this block.
  localparam logic [15:0] PORT_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] PORT_BLOCK_SIZE = 32'h00000100;
  /// port_kind. (ro)
  localparam logic [31:0] PORT_BLOCK_KIND = 32'h00000010;
  /// port_state. (ro)
  localparam logic [31:0] PORT_BLOCK_STATE = 32'h00000014;
  /// Virtual channels. (ro)
  localparam logic [31:0] PORT_BLOCK_VCS = 32'h00000018;
  /// Lanes. (ro)
  localparam logic [31:0] PORT_BLOCK_LANES = 32'h0000001c;
  /// Lane signalling rate in Mbit/s; 0 = not paced. (ro)
  localparam logic [31:0] PORT_BLOCK_LANE_RATE_MBPS = 32'h00000020;
  /// User data rate one way in kbit/s; 0 = not limited. (ro)
  localparam logic [31:0] PORT_BLOCK_USER_RATE_KBPS = 32'h00000024;
  /// Index of the port's first queue context: TX of VC 0, RX of VC 0, TX of VC 1, ...; then the
  /// message contexts, one half that transmit, then one half that receive. (ro)
  localparam logic [31:0] PORT_BLOCK_FIRST_QUEUE = 32'h00000028;
  /// Queue contexts of this port. (ro)
  localparam logic [31:0] PORT_BLOCK_QUEUE_COUNT = 32'h0000002c;
  /// 1: start the link. 0 after a reset of the bus, whatever the link does: write 1 before the
  /// first PORT_CONFIGURE of a port that is to stay up. (rw)
  localparam logic [31:0] PORT_BLOCK_LINK_START = 32'h00000080;
  /// Priorities of VC 0 to 7, 4 bits each, 0 is the highest (ECSS-E-ST-50-11C 5.7.4). (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_0 = 32'h00000084;
  /// Priorities of VC 8 to 15. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_1 = 32'h00000088;
  /// Priorities of VC 16 to 23. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_2 = 32'h0000008c;
  /// Priorities of VC 24 to 31. (rw)
  localparam logic [31:0] PORT_BLOCK_VC_PRIORITY_3 = 32'h00000090;

  // queue block: Array of queue contexts, QUEUES elements of the stride, right behind the header.
  /// block_type QUEUE.
  localparam logic [15:0] QUEUE_BLOCK_TYPE = 16'h0003;
  /// Version of this block.
  localparam logic [15:0] QUEUE_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] QUEUE_BLOCK_SIZE = 32'h00000010;
  /// Bytes from element to element.
  localparam logic [31:0] QUEUE_BLOCK_STRIDE = 32'h000000c0;
  /// queue_state. (ro)
  localparam logic [31:0] QUEUE_BLOCK_STATE = 32'h00000000;
  /// status that stopped the queue. (ro)
  localparam logic [31:0] QUEUE_BLOCK_ERROR = 32'h00000004;
  /// Port. (ro)
  localparam logic [31:0] QUEUE_BLOCK_PORT = 32'h00000008;
  /// Virtual channel; 255 for message contexts. (ro)
  localparam logic [31:0] QUEUE_BLOCK_VC = 32'h0000000c;
  /// queue_kind. (rw)
  localparam logic [31:0] QUEUE_BLOCK_KIND = 32'h00000040;
  /// queue_options. (rw)
  localparam logic [31:0] QUEUE_BLOCK_OPTIONS = 32'h00000044;
  /// Protection domain whose regions the queue may name: less than DOMAINS. (rw)
  localparam logic [31:0] QUEUE_BLOCK_DOMAIN = 32'h00000048;
  /// Event vector: less than EVENTS. (rw)
  localparam logic [31:0] QUEUE_BLOCK_VECTOR = 32'h0000004c;
  /// log2 of the entries of the submission ring. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_LOG2 = 32'h00000050;
  /// log2 of the entries of the completion ring: not less than SQ_LOG2, equal for RX_PACKED and
  /// MESSAGE_RX. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_LOG2 = 32'h00000054;
  /// Submission ring address {region, offset}, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_LO = 32'h00000058;
  /// Submission ring address, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_SQ_HI = 32'h0000005c;
  /// Completion ring address, low word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_LO = 32'h00000060;
  /// Completion ring address, high word. (rw)
  localparam logic [31:0] QUEUE_BLOCK_CQ_HI = 32'h00000064;
  /// Side array of 64-bit times, one per completion, low word. Needed without STAMP too: a device
  /// that paces its links in advance uses it. (rw)
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
  /// Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type; 31:18 zero. 0
  /// on a SpaceWire port. (rw)
  localparam logic [31:0] QUEUE_BLOCK_FILTER = 32'h00000084;

  // region block: Memory-region table, REGIONS elements of the stride, right behind the header.
  /// block_type REGION.
  localparam logic [15:0] REGION_BLOCK_TYPE = 16'h0004;
  /// Version of this block.
  localparam logic [15:0] REGION_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] REGION_BLOCK_SIZE = 32'h00000010;
  /// Bytes from element to element.
  localparam logic [31:0] REGION_BLOCK_STRIDE = 32'h00000080;
  /// Region field of entries and addresses: generation << 12 | index, 16 bits. Never 0 while the
  /// region is enabled, else 0. (ro)
  localparam logic [31:0] REGION_BLOCK_KEY = 32'h00000000;
  /// Bus address of the memory or of the page list, low word (CAP_IOVA), or the segment number of
  /// shared memory. (rw)
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
  /// 0 contiguous from BASE; otherwise log2 of the page size (PAGE_LOG2_MIN to PAGE_LOG2_MAX): BASE
  /// is the bus address of a list of 64-bit bus addresses, one per page. (rw)
  localparam logic [31:0] REGION_BLOCK_PAGE_LIST = 32'h00000058;

  // event block: Event vectors, EVENTS elements of the stride, right behind the header.
  /// block_type EVENT.
  localparam logic [15:0] EVENT_BLOCK_TYPE = 16'h0005;
  /// Version of this block.
  localparam logic [15:0] EVENT_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] EVENT_BLOCK_SIZE = 32'h00000010;
  /// Bytes from element to element.
  localparam logic [31:0] EVENT_BLOCK_STRIDE = 32'h00000080;
  /// Events signalled since power-up; the cause is in the completion rings. (ro)
  localparam logic [31:0] EVENT_BLOCK_COUNT = 32'h00000000;
  /// 1: interrupt the host when signalled. Latched by every command. (rw)
  localparam logic [31:0] EVENT_BLOCK_ENABLE = 32'h00000040;

  // broadcast block: Broadcast configuration of the port named by the block's instance.
  /// block_type BROADCAST.
  localparam logic [15:0] BROADCAST_BLOCK_TYPE = 16'h0006;
  /// Version of this block.
  localparam logic [15:0] BROADCAST_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] BROADCAST_BLOCK_SIZE = 32'h00000100;
  /// Broadcast messages sent (mod 2^32). (ro)
  localparam logic [31:0] BROADCAST_BLOCK_SENT = 32'h00000010;
  /// Broadcast messages received. (ro)
  localparam logic [31:0] BROADCAST_BLOCK_RECEIVED = 32'h00000014;
  /// Received but dropped because a receive ring was full. (ro)
  localparam logic [31:0] BROADCAST_BLOCK_DROPPED = 32'h00000018;
  /// Broadcast channel, 0 to 255, of messages the device sends of itself; entries carry their own.
  /// Latched by PORT_CONFIGURE. (rw)
  localparam logic [31:0] BROADCAST_BLOCK_CHANNEL = 32'h00000080;

  // time_code block: Time-code configuration of the port named by the block's instance.
  /// block_type TIME_CODE.
  localparam logic [15:0] TIME_CODE_BLOCK_TYPE = 16'h0007;
  /// Version of this block.
  localparam logic [15:0] TIME_CODE_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] TIME_CODE_BLOCK_SIZE = 32'h00000100;
  /// Last time-code received (bits 7:0). (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_LAST = 32'h00000010;
  /// Time-codes received (mod 2^32). (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_RECEIVED = 32'h00000014;
  /// Received time-codes that were not one more than the last (mod 64). (ro)
  localparam logic [31:0] TIME_CODE_BLOCK_INVALID = 32'h00000018;

  // statistics block: Counters, one element per queue context, right behind the header. 64-bit
  // pairs; read HI, LO, HI.
  /// block_type STATISTICS.
  localparam logic [15:0] STATISTICS_BLOCK_TYPE = 16'h0008;
  /// Version of this block.
  localparam logic [15:0] STATISTICS_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] STATISTICS_BLOCK_SIZE = 32'h00000010;
  /// Bytes from element to element.
  localparam logic [31:0] STATISTICS_BLOCK_STRIDE = 32'h00000040;
  /// Packets moved, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_PACKETS_LO = 32'h00000000;
  /// Packets moved, high word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_PACKETS_HI = 32'h00000004;
  /// Payload bytes moved, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_BYTES_LO = 32'h00000008;
  /// Payload bytes moved, high word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_BYTES_HI = 32'h0000000c;
  /// Submissions refused with an error status, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_ERRORS_LO = 32'h00000010;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_ERRORS_HI = 32'h00000014;
  /// Times a packet had to wait for a receive buffer or area, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_STALLS_LO = 32'h00000018;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_STALLS_HI = 32'h0000001c;
  /// Wake-ups given to the host, low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_WAKES_LO = 32'h00000020;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_WAKES_HI = 32'h00000024;
  /// Messages dropped (message receive only; packets are never dropped), low word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_DROPPED_LO = 32'h00000028;
  /// High word. (ro)
  localparam logic [31:0] STATISTICS_BLOCK_DROPPED_HI = 32'h0000002c;

  // mib block: Management information base of the port named by the block's instance: as many
  // elements as the port has virtual channels or lanes, whichever is more. The 64-bit value of
  // mib_item N is at MIB_VALUE_BYTES times N in its element; read HI, LO, HI. 0 where PRESENT says
  // that there is none.
  /// block_type MIB.
  localparam logic [15:0] MIB_BLOCK_TYPE = 16'h0009;
  /// Version of this block.
  localparam logic [15:0] MIB_BLOCK_VERSION = 16'h0001;
  /// Bytes of the block, or of its header.
  localparam logic [31:0] MIB_BLOCK_SIZE = 32'h00000010;
  /// Bytes from element to element.
  localparam logic [31:0] MIB_BLOCK_STRIDE = 32'h00000200;
  /// Bit N: this element has item N; items 0 to 31. (ro)
  localparam logic [31:0] MIB_BLOCK_PRESENT_LO = 32'h000001f8;
  /// Items 32 to 62. (ro)
  localparam logic [31:0] MIB_BLOCK_PRESENT_HI = 32'h000001fc;

  // Sets of items of the management information base: bit N for item N.
  /// Items that can be set.
  localparam logic [63:0] MIB_RW_MASK = 64'h0000000007fb87f3;
  /// Items that do something when set to 1.
  localparam logic [63:0] MIB_COMMAND_MASK = 64'h000000000000000c;
  /// Items there is one of for each lane.
  localparam logic [63:0] MIB_LANE_MASK = 64'h01ffe00007f98000;
  /// Items there is one of for each virtual channel.
  localparam logic [63:0] MIB_VC_MASK = 64'h00000000f80003c1;

  // Ranges of those that can be set; a link may have less.
  /// Least value of Virtual Network Number.
  localparam logic [63:0] MIB_VIRTUAL_NETWORK_MIN = 64'h0000000000000000;
  /// Greatest one of Virtual Network Number.
  localparam logic [63:0] MIB_VIRTUAL_NETWORK_MAX = 64'h000000000000003f;
  /// Least value of Broadcast Channel.
  localparam logic [63:0] MIB_BROADCAST_CHANNEL_MIN = 64'h0000000000000000;
  /// Greatest one of Broadcast Channel.
  localparam logic [63:0] MIB_BROADCAST_CHANNEL_MAX = 64'h00000000000000ff;
  /// Least value of Data Scrambled.
  localparam logic [63:0] MIB_DATA_SCRAMBLED_MIN = 64'h0000000000000000;
  /// Greatest one of Data Scrambled.
  localparam logic [63:0] MIB_DATA_SCRAMBLED_MAX = 64'h0000000000000001;
  /// Least value of Expected Broadcast Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BROADCAST_BANDWIDTH_MIN = 64'h0000000000000000;
  /// Greatest one of Expected Broadcast Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BROADCAST_BANDWIDTH_MAX = 64'h000000000000ffff;
  /// Least value of Priority.
  localparam logic [63:0] MIB_PRIORITY_MIN = 64'h0000000000000000;
  /// Greatest one of Priority.
  localparam logic [63:0] MIB_PRIORITY_MAX = 64'h000000000000000f;
  /// Least value of Expected Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BANDWIDTH_MIN = 64'h0000000000000000;
  /// Greatest one of Expected Bandwidth.
  localparam logic [63:0] MIB_EXPECTED_BANDWIDTH_MAX = 64'h000000000000ffff;
  /// Least value of Time-slots.
  localparam logic [63:0] MIB_TIME_SLOTS_MIN = 64'h0000000000000000;
  /// Greatest one of Time-slots.
  localparam logic [63:0] MIB_TIME_SLOTS_MAX = 64'hffffffffffffffff;
  /// Least value of Continuous Mode.
  localparam logic [63:0] MIB_CONTINUOUS_MODE_MIN = 64'h0000000000000000;
  /// Greatest one of Continuous Mode.
  localparam logic [63:0] MIB_CONTINUOUS_MODE_MAX = 64'h0000000000000001;
  /// Least value of Idle Time Limit.
  localparam logic [63:0] MIB_IDLE_TIME_LIMIT_MIN = 64'h0000000000000000;
  /// Greatest one of Idle Time Limit.
  localparam logic [63:0] MIB_IDLE_TIME_LIMIT_MAX = 64'h00000000ffffffff;
  /// Least value of TxEn.
  localparam logic [63:0] MIB_TX_EN_MIN = 64'h0000000000000000;
  /// Greatest one of TxEn.
  localparam logic [63:0] MIB_TX_EN_MAX = 64'h0000000000000001;
  /// Least value of RxEn.
  localparam logic [63:0] MIB_RX_EN_MIN = 64'h0000000000000000;
  /// Greatest one of RxEn.
  localparam logic [63:0] MIB_RX_EN_MAX = 64'h0000000000000001;
  /// Least value of Maximum Number of Data-Sending Lanes.
  localparam logic [63:0] MIB_MAX_DATA_SENDING_LANES_MIN = 64'h0000000000000001;
  /// Greatest one of Maximum Number of Data-Sending Lanes.
  localparam logic [63:0] MIB_MAX_DATA_SENDING_LANES_MAX = 64'h0000000000000010;
  /// Least value of LaneStart.
  localparam logic [63:0] MIB_LANE_START_MIN = 64'h0000000000000000;
  /// Greatest one of LaneStart.
  localparam logic [63:0] MIB_LANE_START_MAX = 64'h0000000000000001;
  /// Least value of AutoStart.
  localparam logic [63:0] MIB_AUTO_START_MIN = 64'h0000000000000000;
  /// Greatest one of AutoStart.
  localparam logic [63:0] MIB_AUTO_START_MAX = 64'h0000000000000001;
  /// Least value of LaneReset.
  localparam logic [63:0] MIB_LANE_RESET_MIN = 64'h0000000000000000;
  /// Greatest one of LaneReset.
  localparam logic [63:0] MIB_LANE_RESET_MAX = 64'h0000000000000001;
  /// Least value of Near-End Parallel Loopback.
  localparam logic [63:0] MIB_NEAR_END_PARALLEL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Greatest one of Near-End Parallel Loopback.
  localparam logic [63:0] MIB_NEAR_END_PARALLEL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Least value of Far-End Parallel Loopback.
  localparam logic [63:0] MIB_FAR_END_PARALLEL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Greatest one of Far-End Parallel Loopback.
  localparam logic [63:0] MIB_FAR_END_PARALLEL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Least value of Standby Reason.
  localparam logic [63:0] MIB_STANDBY_REASON_MIN = 64'h0000000000000000;
  /// Greatest one of Standby Reason.
  localparam logic [63:0] MIB_STANDBY_REASON_MAX = 64'h00000000000000ff;
  /// Least value of Near-End Serial Loopback.
  localparam logic [63:0] MIB_NEAR_END_SERIAL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Greatest one of Near-End Serial Loopback.
  localparam logic [63:0] MIB_NEAR_END_SERIAL_LOOPBACK_MAX = 64'h0000000000000001;
  /// Least value of Far-End Serial Loopback.
  localparam logic [63:0] MIB_FAR_END_SERIAL_LOOPBACK_MIN = 64'h0000000000000000;
  /// Greatest one of Far-End Serial Loopback.
  localparam logic [63:0] MIB_FAR_END_SERIAL_LOOPBACK_MAX = 64'h0000000000000001;
endpackage

/// Stops elaboration where a tool lays a type out in another size.
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
  if ($bits(spfe_pkg::entry_type_e) != 8) begin : gen_entry_type_e
    $error("spfe_pkg::entry_type_e has %0d bits, not 8", $bits(spfe_pkg::entry_type_e));
  end
  if ($bits(spfe_pkg::end_marker_e) != 8) begin : gen_end_marker_e
    $error("spfe_pkg::end_marker_e has %0d bits, not 8", $bits(spfe_pkg::end_marker_e));
  end
  if ($bits(spfe_pkg::queue_kind_e) != 8) begin : gen_queue_kind_e
    $error("spfe_pkg::queue_kind_e has %0d bits, not 8", $bits(spfe_pkg::queue_kind_e));
  end
  if ($bits(spfe_pkg::port_kind_e) != 8) begin : gen_port_kind_e
    $error("spfe_pkg::port_kind_e has %0d bits, not 8", $bits(spfe_pkg::port_kind_e));
  end
  if ($bits(spfe_pkg::port_state_e) != 8) begin : gen_port_state_e
    $error("spfe_pkg::port_state_e has %0d bits, not 8", $bits(spfe_pkg::port_state_e));
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
