// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from contract/spfe.toml: do not edit; run `make gen`.

/// Value of the register MAGIC.
pub const CONTRACT_MAGIC: u32 = 0x53504645;
/// Must be equal on both sides.
pub const CONTRACT_VERSION_MAJOR: u16 = 1;
/// A higher minor version only adds to the contract.
pub const CONTRACT_VERSION_MINOR: u16 = 10;
/// Size of every ring entry, submission or completion.
pub const ENTRY_BYTES: u64 = 16;
/// Smallest ring: 4 entries, one cache line of 64 bytes.
pub const RING_LOG2_MIN: u64 = 2;
/// Largest ring: 32768 entries, so a 16-bit ring position is never ambiguous.
pub const RING_LOG2_MAX: u64 = 15;
/// Low bits of the 16-bit region field of an entry: index into the memory-region table.
pub const REGION_INDEX_BITS: u64 = 12;
/// High bits of the region field: generation of that index. It reveals an entry that names a
/// revoked region.
pub const REGION_GENERATION_BITS: u64 = 4;
/// Bits of the byte offset inside a region.
pub const OFFSET_BITS: u64 = 48;
/// Maximum bytes in an inline entry (8 in the address word, 3 in the length word): enough for a
/// SpaceFibre path address.
pub const INLINE_MAX_BYTES: u64 = 11;
/// Entries from which every device can gather one packet. A longer chain than register CHAIN_MAX of
/// the device allows completes with CHAIN_TOO_LONG.
pub const CHAIN_MAX: u64 = 16;
/// Maximum packets that one burst entry describes.
pub const BURST_MAX: u64 = 65535;
/// Longest piece one entry may describe (1 GiB). Longer packets are sent as pieces with end marker
/// NONE.
pub const PACKET_MAX_BYTES: u64 = 1073741824;
/// Longest packet whose bytes a wide completion holds.
pub const BESIDE_BYTES: u64 = 40;
/// Records of a packed receive area start at multiples of this many bytes.
pub const PACKED_ALIGN: u64 = 8;
/// Size of the header in front of each record of a packed receive area.
pub const PACKED_HEADER_BYTES: u64 = 8;
/// Smallest packed receive area; larger areas are multiples of 8 bytes up to 1 GiB.
pub const PACKED_AREA_MIN_BYTES: u64 = 4096;
/// Maximum virtual channels of a SpaceFibre port (ECSS-E-ST-50-11C: VC 0 to 31).
pub const VC_MAX: u64 = 32;
/// Bytes of a value in the mib block. The value of item N is at N times this offset in its element.
pub const MIB_VALUE_BYTES: u64 = 8;
/// Bytes from one client's doorbell page to the next; 65536 where CAP_DOORBELL_64K is set.
pub const DOORBELL_STRIDE: u64 = 4096;
/// log2 of the smallest page size of a page list in bytes: 4 KiB.
pub const PAGE_LOG2_MIN: u64 = 12;
/// log2 of the largest page size of a page list in bytes: 1 GiB.
pub const PAGE_LOG2_MAX: u64 = 30;
/// Addresses in a table of a page list with levels: a table is 4 KiB, aligned to 4 KiB.
pub const PAGE_TABLE_ENTRIES: u64 = 512;
/// Most levels of a page list: 512 GiB in pages of 4 KiB.
pub const PAGE_LEVELS_MAX: u64 = 3;
/// Byte offset in doorbell page 0 of the 32-bit counts seen, 4 bytes for each event vector
/// (capability LEVEL).
pub const SEEN_OFFSET: u64 = 2048;
/// Most event vectors that a device with the capability LEVEL has.
pub const SEEN_VECTORS: u64 = 512;
/// PCI vendor ID and subsystem vendor ID of a virtual PCI Express device: that of Red Hat. Hardware
/// has the IDs of its maker.
pub const PCI_VENDOR: u64 = 6900;
/// PCI device ID and subsystem ID of a virtual PCI Express device, from the range for experiments,
/// 0x10f0 to 0x10ff, which is assigned to nobody.
pub const PCI_DEVICE: u64 = 4341;
/// PCI class code: other network controller.
pub const PCI_CLASS: u64 = 163840;

/// Type of a submission entry (bits 3:0 of its flags).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryType {
    /// Never valid; an all-zero entry is an error, not a transfer.
    Invalid = 0,
    /// Transmit: send the bytes at an address.
    Data = 1,
    /// Transmit: send up to 11 bytes from the entry itself.
    Inline = 2,
    /// Transmit: send several packets of one length at a fixed stride. A BURST_EXT entry follows.
    Burst = 3,
    /// Second entry of a burst.
    BurstExt = 4,
    /// Receive: one buffer to fill.
    Buffer = 5,
    /// Packed and message receive: return bytes and completion credits to the device.
    Release = 6,
    /// Transmit: send one message: message_kind.
    Message = 7,
    /// First slot of a work request: remote address and key. Its flags are work_flags.
    Rdma = 8,
    /// Operand of a work request: immediate data, or an operand of an atomic operation.
    Operand = 9,
}

impl EntryType {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Invalid, Self::Data, Self::Inline, Self::Burst, Self::BurstExt, Self::Buffer,
        Self::Release, Self::Message, Self::Rdma, Self::Operand,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Invalid),
            1 => Some(Self::Data),
            2 => Some(Self::Inline),
            3 => Some(Self::Burst),
            4 => Some(Self::BurstExt),
            5 => Some(Self::Buffer),
            6 => Some(Self::Release),
            7 => Some(Self::Message),
            8 => Some(Self::Rdma),
            9 => Some(Self::Operand),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "INVALID",
            Self::Data => "DATA",
            Self::Inline => "INLINE",
            Self::Burst => "BURST",
            Self::BurstExt => "BURST_EXT",
            Self::Buffer => "BUFFER",
            Self::Release => "RELEASE",
            Self::Message => "MESSAGE",
            Self::Rdma => "RDMA",
            Self::Operand => "OPERAND",
        }
    }
}

/// End of a packet or of a piece of it (ECSS-E-ST-50-11C 5.3.7).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMarker {
    /// End of packet.
    Eop = 0,
    /// Error end of packet: an error cut the packet.
    Eep = 1,
    /// No end marker: the packet continues in the next entry, buffer or record.
    None = 2,
}

impl EndMarker {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Eop, Self::Eep, Self::None,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Eop),
            1 => Some(Self::Eep),
            2 => Some(Self::None),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Eop => "EOP",
            Self::Eep => "EEP",
            Self::None => "NONE",
        }
    }
}

/// Kind of a queue context.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// Unused context.
    None = 0,
    /// Transmits packets on one virtual channel.
    Tx = 1,
    /// Receives packets of one virtual channel into posted buffers.
    Rx = 2,
    /// Receives packets of one virtual channel, back to back in one area.
    RxPacked = 3,
    /// Transmits broadcast messages or time-codes.
    MessageTx = 4,
    /// Receives broadcast messages or time-codes.
    MessageRx = 5,
    /// Work requests of a queue pair, in a transmit context of a virtual channel (capability RDMA).
    Rdma = 6,
    /// Buffers for the messages to a queue pair, in a receive context of a virtual channel
    /// (capability RDMA).
    RdmaRx = 7,
}

impl QueueKind {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::None, Self::Tx, Self::Rx, Self::RxPacked, Self::MessageTx, Self::MessageRx,
        Self::Rdma, Self::RdmaRx,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::None),
            1 => Some(Self::Tx),
            2 => Some(Self::Rx),
            3 => Some(Self::RxPacked),
            4 => Some(Self::MessageTx),
            5 => Some(Self::MessageRx),
            6 => Some(Self::Rdma),
            7 => Some(Self::RdmaRx),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Tx => "TX",
            Self::Rx => "RX",
            Self::RxPacked => "RX_PACKED",
            Self::MessageTx => "MESSAGE_TX",
            Self::MessageRx => "MESSAGE_RX",
            Self::Rdma => "RDMA",
            Self::RdmaRx => "RDMA_RX",
        }
    }
}

/// Protocol of a port.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortKind {
    /// No port.
    None = 0,
    /// SpaceFibre port: virtual channels and broadcast messages.
    Spacefibre = 1,
    /// SpaceWire port: one channel and time-codes.
    Spacewire = 2,
    /// Node of a PCIe fabric: virtual channels to every other node, doorbells and scratchpads
    /// (capability FABRIC).
    Fabric = 3,
}

impl PortKind {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::None, Self::Spacefibre, Self::Spacewire, Self::Fabric,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::None),
            1 => Some(Self::Spacefibre),
            2 => Some(Self::Spacewire),
            3 => Some(Self::Fabric),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Spacefibre => "SPACEFIBRE",
            Self::Spacewire => "SPACEWIRE",
            Self::Fabric => "FABRIC",
        }
    }
}

/// State of a link for software. The port's MIB has the states of lanes and link in detail.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortState {
    /// Not connected or disabled.
    Down = 0,
    /// Initialising.
    Starting = 1,
    /// Packets can pass.
    Up = 2,
}

impl PortState {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Down, Self::Starting, Self::Up,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Down),
            1 => Some(Self::Starting),
            2 => Some(Self::Up),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "DOWN",
            Self::Starting => "STARTING",
            Self::Up => "UP",
        }
    }
}

/// State of a queue context.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueState {
    /// Not configured, or disabled. The rings belong to the host.
    Disabled = 0,
    /// The queue works.
    Enabled = 1,
    /// The device could not read the rings. Destroy the queue and create it again.
    Error = 2,
}

impl QueueState {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Disabled, Self::Enabled, Self::Error,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Disabled),
            1 => Some(Self::Enabled),
            2 => Some(Self::Error),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disabled => "DISABLED",
            Self::Enabled => "ENABLED",
            Self::Error => "ERROR",
        }
    }
}

/// Content of a message entry.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5); BAD_OPCODE on other ports.
    Broadcast = 1,
    /// SpaceWire time-code (ECSS-E-ST-50-12C); BAD_OPCODE on other ports.
    TimeCode = 2,
    /// SpaceWire distributed interrupt (ECSS-E-ST-50-12C 5.6.4, capability INTERRUPTS); BAD_OPCODE
    /// on other ports.
    Interrupt = 3,
}

impl MessageKind {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Broadcast, Self::TimeCode, Self::Interrupt,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            1 => Some(Self::Broadcast),
            2 => Some(Self::TimeCode),
            3 => Some(Self::Interrupt),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "BROADCAST",
            Self::TimeCode => "TIME_CODE",
            Self::Interrupt => "INTERRUPT",
        }
    }
}

/// Type of a register block. The list of blocks starts at offset 0; the next field of the header
/// links it.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockType {
    /// No block.
    End = 0,
    /// Identity, capabilities, configuration latch, reset.
    Global = 1,
    /// A port; one block per port.
    Port = 2,
    /// Queue contexts, an array.
    Queue = 3,
    /// Memory-region table, an array.
    Region = 4,
    /// Event vectors, an array.
    Event = 5,
    /// Broadcast configuration of one SpaceFibre port.
    Broadcast = 6,
    /// Time-code configuration of one SpaceWire port.
    TimeCode = 7,
    /// Counters of one queue context, an array.
    Statistics = 8,
    /// Management information base of one port, an array.
    Mib = 9,
    /// The node behind one fabric port.
    Fabric = 0xa,
    /// Nodes that one fabric port sees, an array.
    Peer = 0xb,
    /// Target of RDMA that serves memory without queues.
    Target = 0xc,
    /// Counters of the queue pairs of one port, an array.
    Pair = 0xd,
}

impl BlockType {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::End, Self::Global, Self::Port, Self::Queue, Self::Region, Self::Event,
        Self::Broadcast, Self::TimeCode, Self::Statistics, Self::Mib, Self::Fabric, Self::Peer,
        Self::Target, Self::Pair,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u16) -> Option<Self> {
        match v {
            0 => Some(Self::End),
            1 => Some(Self::Global),
            2 => Some(Self::Port),
            3 => Some(Self::Queue),
            4 => Some(Self::Region),
            5 => Some(Self::Event),
            6 => Some(Self::Broadcast),
            7 => Some(Self::TimeCode),
            8 => Some(Self::Statistics),
            9 => Some(Self::Mib),
            0xa => Some(Self::Fabric),
            0xb => Some(Self::Peer),
            0xc => Some(Self::Target),
            0xd => Some(Self::Pair),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u16 {
        self as u16
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "END",
            Self::Global => "GLOBAL",
            Self::Port => "PORT",
            Self::Queue => "QUEUE",
            Self::Region => "REGION",
            Self::Event => "EVENT",
            Self::Broadcast => "BROADCAST",
            Self::TimeCode => "TIME_CODE",
            Self::Statistics => "STATISTICS",
            Self::Mib => "MIB",
            Self::Fabric => "FABRIC",
            Self::Peer => "PEER",
            Self::Target => "TARGET",
            Self::Pair => "PAIR",
        }
    }
}

/// Reason for ringing a doorbell (KIND in the store to a doorbell page).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoorbellKind {
    /// The host posted submissions.
    Submit = 0,
    /// The host armed a completion ring.
    Arm = 1,
    /// The host wrote a new command to the configuration latch.
    Latch = 2,
    /// Ring doorbell NUMBER of the node to which QUEUE leads, after publishing the scratchpads
    /// (capability FABRIC). Page 0 only.
    Peer = 3,
}

impl DoorbellKind {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Submit, Self::Arm, Self::Latch, Self::Peer,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Submit),
            1 => Some(Self::Arm),
            2 => Some(Self::Latch),
            3 => Some(Self::Peer),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submit => "SUBMIT",
            Self::Arm => "ARM",
            Self::Latch => "LATCH",
            Self::Peer => "PEER",
        }
    }
}

/// Command of the configuration latch in the global block. The device carries it out when CFG_SEQ
/// changes.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Acknowledge only.
    Nop = 0,
    /// Read the queue context CFG_INDEX and start the queue.
    QueueEnable = 1,
    /// Stop the queue CFG_INDEX. After the acknowledgement the device no longer accesses its rings
    /// and buffers.
    QueueDisable = 2,
    /// Read the region entry CFG_INDEX and make the region usable.
    RegionEnable = 3,
    /// Revoke the region CFG_INDEX. After the acknowledgement no access is in flight.
    RegionDisable = 4,
    /// Apply the configuration of the port CFG_INDEX.
    PortConfigure = 5,
    /// Stop every queue and revoke every region.
    Reset = 6,
    /// Set item MIB_ITEM in element MIB_ELEMENT of the port CFG_INDEX to MIB_VALUE (capability
    /// MIB).
    MibSet = 7,
    /// Let others use the memory that the target block describes, as its entry CFG_INDEX
    /// (capability TARGET).
    TargetSet = 8,
    /// Take the entry CFG_INDEX back. After the acknowledgement no access to its memory is in
    /// flight (capability TARGET).
    TargetClear = 9,
    /// The host has read the oldest notification; show the next one (capability TARGET).
    TargetTake = 0xa,
}

impl Command {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Nop, Self::QueueEnable, Self::QueueDisable, Self::RegionEnable, Self::RegionDisable,
        Self::PortConfigure, Self::Reset, Self::MibSet, Self::TargetSet, Self::TargetClear,
        Self::TargetTake,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Nop),
            1 => Some(Self::QueueEnable),
            2 => Some(Self::QueueDisable),
            3 => Some(Self::RegionEnable),
            4 => Some(Self::RegionDisable),
            5 => Some(Self::PortConfigure),
            6 => Some(Self::Reset),
            7 => Some(Self::MibSet),
            8 => Some(Self::TargetSet),
            9 => Some(Self::TargetClear),
            0xa => Some(Self::TargetTake),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nop => "NOP",
            Self::QueueEnable => "QUEUE_ENABLE",
            Self::QueueDisable => "QUEUE_DISABLE",
            Self::RegionEnable => "REGION_ENABLE",
            Self::RegionDisable => "REGION_DISABLE",
            Self::PortConfigure => "PORT_CONFIGURE",
            Self::Reset => "RESET",
            Self::MibSet => "MIB_SET",
            Self::TargetSet => "TARGET_SET",
            Self::TargetClear => "TARGET_CLEAR",
            Self::TargetTake => "TARGET_TAKE",
        }
    }
}

/// Result of a submission. The class says where the cause lies.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// Cancelled by its owner before it started.
    Cancelled = 0x10,
    /// The device was reset while the submission was pending.
    DeviceReset = 0x11,
    /// The device or its daemon is gone.
    DeviceGone = 0x12,
    /// The device has no free queue, region or memory for it.
    NoResources = 0x13,
    /// Another owner holds the object.
    Busy = 0x14,
    /// The client has its share of queues, regions, events or memory. The device may have room for
    /// others.
    QuotaExceeded = 0x15,
    /// An earlier work request of the queue pair failed, so this one was not completed.
    Flushed = 0x16,
    /// The far end went away with the packet unfinished.
    PeerGone = 0x20,
    /// The target refuses the work request: version, opcode, length or queue pair.
    RemoteRequest = 0x21,
    /// The target refuses the access: key, bounds, right or initiator.
    RemoteAccess = 0x22,
    /// The memory of the target failed.
    RemoteMemory = 0x23,
    /// A packet was damaged however often it was repeated, or the answer does not fit the request.
    RemoteData = 0x24,
    /// The target did not answer, however often the message was repeated.
    NoAnswer = 0x25,
    /// The target had no receive buffer or was busy, however often it was asked.
    NotReady = 0x26,
    /// The link went down and the submission was not delivered.
    LinkDown = 0x30,
    /// The packet ended with EEP.
    PacketCut = 0x31,
    /// The entry type, message kind or command is unknown or not allowed here.
    BadOpcode = 0x40,
    /// The region was never registered, was revoked, or belongs to another client.
    BadRegion = 0x41,
    /// Offset plus length goes past the end of the region.
    OutOfBounds = 0x42,
    /// The region does not allow this kind of access.
    AccessDenied = 0x43,
    /// A packet or buffer of zero bytes.
    Empty = 0x44,
    /// Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.
    TooLong = 0x45,
    /// More than CHAIN_MAX entries before the end of the packet.
    ChainTooLong = 0x46,
    /// The port has no such virtual channel.
    BadVc = 0x47,
    /// A field that must be zero is not, or a value is out of its range.
    BadField = 0x48,
    /// Ring address, size or alignment is not acceptable.
    BadRing = 0x49,
    /// Host and device speak different major versions of this contract.
    BadVersion = 0x4a,
    /// No such endpoint, port, queue, region index or event vector.
    NotFound = 0x4b,
}

impl Status {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Ok, Self::Cancelled, Self::DeviceReset, Self::DeviceGone, Self::NoResources,
        Self::Busy, Self::QuotaExceeded, Self::Flushed, Self::PeerGone, Self::RemoteRequest,
        Self::RemoteAccess, Self::RemoteMemory, Self::RemoteData, Self::NoAnswer, Self::NotReady,
        Self::LinkDown, Self::PacketCut, Self::BadOpcode, Self::BadRegion, Self::OutOfBounds,
        Self::AccessDenied, Self::Empty, Self::TooLong, Self::ChainTooLong, Self::BadVc,
        Self::BadField, Self::BadRing, Self::BadVersion, Self::NotFound,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Ok),
            0x10 => Some(Self::Cancelled),
            0x11 => Some(Self::DeviceReset),
            0x12 => Some(Self::DeviceGone),
            0x13 => Some(Self::NoResources),
            0x14 => Some(Self::Busy),
            0x15 => Some(Self::QuotaExceeded),
            0x16 => Some(Self::Flushed),
            0x20 => Some(Self::PeerGone),
            0x21 => Some(Self::RemoteRequest),
            0x22 => Some(Self::RemoteAccess),
            0x23 => Some(Self::RemoteMemory),
            0x24 => Some(Self::RemoteData),
            0x25 => Some(Self::NoAnswer),
            0x26 => Some(Self::NotReady),
            0x30 => Some(Self::LinkDown),
            0x31 => Some(Self::PacketCut),
            0x40 => Some(Self::BadOpcode),
            0x41 => Some(Self::BadRegion),
            0x42 => Some(Self::OutOfBounds),
            0x43 => Some(Self::AccessDenied),
            0x44 => Some(Self::Empty),
            0x45 => Some(Self::TooLong),
            0x46 => Some(Self::ChainTooLong),
            0x47 => Some(Self::BadVc),
            0x48 => Some(Self::BadField),
            0x49 => Some(Self::BadRing),
            0x4a => Some(Self::BadVersion),
            0x4b => Some(Self::NotFound),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Cancelled => "CANCELLED",
            Self::DeviceReset => "DEVICE_RESET",
            Self::DeviceGone => "DEVICE_GONE",
            Self::NoResources => "NO_RESOURCES",
            Self::Busy => "BUSY",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::Flushed => "FLUSHED",
            Self::PeerGone => "PEER_GONE",
            Self::RemoteRequest => "REMOTE_REQUEST",
            Self::RemoteAccess => "REMOTE_ACCESS",
            Self::RemoteMemory => "REMOTE_MEMORY",
            Self::RemoteData => "REMOTE_DATA",
            Self::NoAnswer => "NO_ANSWER",
            Self::NotReady => "NOT_READY",
            Self::LinkDown => "LINK_DOWN",
            Self::PacketCut => "PACKET_CUT",
            Self::BadOpcode => "BAD_OPCODE",
            Self::BadRegion => "BAD_REGION",
            Self::OutOfBounds => "OUT_OF_BOUNDS",
            Self::AccessDenied => "ACCESS_DENIED",
            Self::Empty => "EMPTY",
            Self::TooLong => "TOO_LONG",
            Self::ChainTooLong => "CHAIN_TOO_LONG",
            Self::BadVc => "BAD_VC",
            Self::BadField => "BAD_FIELD",
            Self::BadRing => "BAD_RING",
            Self::BadVersion => "BAD_VERSION",
            Self::NotFound => "NOT_FOUND",
        }
    }

    /// Where the cause lies.
    pub const fn class(self) -> StatusClass {
        match self {
            Self::Ok => StatusClass::Ok,
            Self::Cancelled | Self::DeviceReset | Self::DeviceGone | Self::NoResources | Self::Busy | Self::QuotaExceeded | Self::Flushed => StatusClass::Local,
            Self::PeerGone | Self::RemoteRequest | Self::RemoteAccess | Self::RemoteMemory | Self::RemoteData | Self::NoAnswer | Self::NotReady => StatusClass::Remote,
            Self::LinkDown | Self::PacketCut => StatusClass::Link,
            Self::BadOpcode | Self::BadRegion | Self::OutOfBounds | Self::AccessDenied | Self::Empty | Self::TooLong | Self::ChainTooLong | Self::BadVc | Self::BadField | Self::BadRing | Self::BadVersion | Self::NotFound => StatusClass::Usage,
        }
    }

    /// Name of the Linux error for this status; "0" for none.
    pub const fn errno_name(self) -> &'static str {
        match self {
            Self::Ok => "0",
            Self::Cancelled => "ECANCELED",
            Self::DeviceReset => "ESHUTDOWN",
            Self::DeviceGone => "ENODEV",
            Self::NoResources => "ENOMEM",
            Self::Busy => "EBUSY",
            Self::QuotaExceeded => "EDQUOT",
            Self::Flushed => "ECONNRESET",
            Self::PeerGone => "EPIPE",
            Self::RemoteRequest => "EPROTO",
            Self::RemoteAccess | Self::BadRegion => "EACCES",
            Self::RemoteMemory | Self::OutOfBounds => "EFAULT",
            Self::RemoteData => "EBADMSG",
            Self::NoAnswer => "ETIMEDOUT",
            Self::NotReady => "EAGAIN",
            Self::LinkDown => "ENETDOWN",
            Self::PacketCut => "EIO",
            Self::BadOpcode => "EOPNOTSUPP",
            Self::AccessDenied => "EPERM",
            Self::Empty | Self::BadField | Self::BadRing => "EINVAL",
            Self::TooLong => "EMSGSIZE",
            Self::ChainTooLong => "E2BIG",
            Self::BadVc => "ENXIO",
            Self::BadVersion => "EPROTONOSUPPORT",
            Self::NotFound => "ENOENT",
        }
    }

    /// Number of the Linux error for this status; 0 for none.
    pub const fn errno(self) -> i32 {
        match self {
            Self::Ok => 0,
            Self::Cancelled => 125,
            Self::DeviceReset => 108,
            Self::DeviceGone => 19,
            Self::NoResources => 12,
            Self::Busy => 16,
            Self::QuotaExceeded => 122,
            Self::Flushed => 104,
            Self::PeerGone => 32,
            Self::RemoteRequest => 71,
            Self::RemoteAccess | Self::BadRegion => 13,
            Self::RemoteMemory | Self::OutOfBounds => 14,
            Self::RemoteData => 74,
            Self::NoAnswer => 110,
            Self::NotReady => 11,
            Self::LinkDown => 100,
            Self::PacketCut => 5,
            Self::BadOpcode => 95,
            Self::AccessDenied => 1,
            Self::Empty | Self::BadField | Self::BadRing => 22,
            Self::TooLong => 90,
            Self::ChainTooLong => 7,
            Self::BadVc => 6,
            Self::BadVersion => 93,
            Self::NotFound => 2,
        }
    }

    /// Description in one sentence.
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Ok => "Done.",
            Self::Cancelled => "Cancelled by its owner before it started.",
            Self::DeviceReset => "The device was reset while the submission was pending.",
            Self::DeviceGone => "The device or its daemon is gone.",
            Self::NoResources => "The device has no free queue, region or memory for it.",
            Self::Busy => "Another owner holds the object.",
            Self::QuotaExceeded => "The client has its share of queues, regions, events or memory. The device may have room for others.",
            Self::Flushed => "An earlier work request of the queue pair failed, so this one was not completed.",
            Self::PeerGone => "The far end went away with the packet unfinished.",
            Self::RemoteRequest => "The target refuses the work request: version, opcode, length or queue pair.",
            Self::RemoteAccess => "The target refuses the access: key, bounds, right or initiator.",
            Self::RemoteMemory => "The memory of the target failed.",
            Self::RemoteData => "A packet was damaged however often it was repeated, or the answer does not fit the request.",
            Self::NoAnswer => "The target did not answer, however often the message was repeated.",
            Self::NotReady => "The target had no receive buffer or was busy, however often it was asked.",
            Self::LinkDown => "The link went down and the submission was not delivered.",
            Self::PacketCut => "The packet ended with EEP.",
            Self::BadOpcode => "The entry type, message kind or command is unknown or not allowed here.",
            Self::BadRegion => "The region was never registered, was revoked, or belongs to another client.",
            Self::OutOfBounds => "Offset plus length goes past the end of the region.",
            Self::AccessDenied => "The region does not allow this kind of access.",
            Self::Empty => "A packet or buffer of zero bytes.",
            Self::TooLong => "Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.",
            Self::ChainTooLong => "More than CHAIN_MAX entries before the end of the packet.",
            Self::BadVc => "The port has no such virtual channel.",
            Self::BadField => "A field that must be zero is not, or a value is out of its range.",
            Self::BadRing => "Ring address, size or alignment is not acceptable.",
            Self::BadVersion => "Host and device speak different major versions of this contract.",
            Self::NotFound => "No such endpoint, port, queue, region index or event vector.",
        }
    }
}

/// Cause of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusClass {
    /// No error.
    Ok,
    /// Cause: the host, its device or its daemon.
    Local,
    /// Cause: the far end.
    Remote,
    /// Cause: the link between the two ends.
    Link,
    /// Cause: the submission itself. It would fail again.
    Usage,
}

/// Layer of an item of the management information base (ECSS-E-ST-50-11C 5.9).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MibLayer {
    /// Network layer, 5.8.
    Network = 0,
    /// Data link layer, 5.7.
    DataLink = 1,
    /// Multi-lane layer, 5.6.
    MultiLane = 2,
    /// Lane layer, 5.5.
    Lane = 3,
    /// Physical layer, 5.4.
    Physical = 4,
}

impl MibLayer {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Network, Self::DataLink, Self::MultiLane, Self::Lane, Self::Physical,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Network),
            1 => Some(Self::DataLink),
            2 => Some(Self::MultiLane),
            3 => Some(Self::Lane),
            4 => Some(Self::Physical),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "NETWORK",
            Self::DataLink => "DATA_LINK",
            Self::MultiLane => "MULTI_LANE",
            Self::Lane => "LANE",
            Self::Physical => "PHYSICAL",
        }
    }
}

/// Kind of an item of the management information base.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MibKind {
    /// A parameter, from table 5-36.
    Parameter = 0,
    /// A status value, from table 5-37.
    Status = 1,
    /// An error, from table 5-37. It stays set until LINK_RESET or INTERFACE_RESET resets the link.
    Error = 2,
}

impl MibKind {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Parameter, Self::Status, Self::Error,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Parameter),
            1 => Some(Self::Status),
            2 => Some(Self::Error),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parameter => "PARAMETER",
            Self::Status => "STATUS",
            Self::Error => "ERROR",
        }
    }
}

/// Access to an item of the management information base.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MibAccess {
    /// Read-only.
    Ro = 0,
    /// Readable, and settable with MIB_SET.
    Rw = 1,
    /// Setting it to 1 starts an action; it reads as 0.
    Command = 2,
}

impl MibAccess {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Ro, Self::Rw, Self::Command,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Ro),
            1 => Some(Self::Rw),
            2 => Some(Self::Command),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ro => "RO",
            Self::Rw => "RW",
            Self::Command => "COMMAND",
        }
    }
}

/// Scope of an item: whether it exists once, per lane, or per virtual channel.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MibScope {
    /// Once per link, in element 0.
    Link = 0,
    /// Once per lane; element L belongs to lane L.
    Lane = 1,
    /// Once per virtual channel; element V belongs to virtual channel V.
    Vc = 2,
}

impl MibScope {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Link, Self::Lane, Self::Vc,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Link),
            1 => Some(Self::Lane),
            2 => Some(Self::Vc),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "LINK",
            Self::Lane => "LANE",
            Self::Vc => "VC",
        }
    }
}

/// Item of the management information base of a port (ECSS-E-ST-50-11C tables 5-36 and 5-37).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MibItem {
    /// Virtual Network Number: Virtual network of a virtual channel; fixed to 0 on channel 0.
    VirtualNetwork = 0,
    /// Broadcast Channel: Channel on which a node sends broadcast messages.
    BroadcastChannel = 1,
    /// Interface Reset: Resets the link, and sets the parameters to their power-on values.
    InterfaceReset = 2,
    /// Link Reset: Resets both ends of the link.
    LinkReset = 3,
    /// Data Scrambled: 1: data frames are scrambled. Takes effect at the next link reset.
    DataScrambled = 4,
    /// Expected Broadcast Bandwidth: Share of the link's bandwidth for broadcast messages.
    ExpectedBroadcastBandwidth = 5,
    /// Priority: Priority of the virtual channel; 0 is the highest.
    Priority = 6,
    /// Expected Bandwidth: Share of the link's bandwidth; 65535 is the whole link, 0 stops the
    /// channel.
    ExpectedBandwidth = 7,
    /// Time-slots: Bit T: the channel may send in time-slot T.
    TimeSlots = 8,
    /// Continuous Mode: 1: writes to the channel never wait for room.
    ContinuousMode = 9,
    /// Idle Time Limit: Full bandwidth credit for longer than this counts as under-use.
    IdleTimeLimit = 0xa,
    /// Bandwidth Credit Limit: Maximum bandwidth credit; fixed when the link is created.
    BandwidthCreditLimit = 0xb,
    /// Minimum Bandwidth Credit Threshold: In tenths of the credit limit, below zero; fixed when
    /// the link is created.
    MinimumBandwidthCreditThreshold = 0xc,
    /// FCT Multiplier: Words that an FCT grants; fixed when the link is created.
    FctMultiplier = 0xd,
    /// Segment Multiplier: Maximum length of a data frame; fixed when the link is created.
    SegmentMultiplier = 0xe,
    /// TxEn: 1: the transmitter of the lane is enabled.
    TxEn = 0xf,
    /// RxEn: 1: the receiver of the lane is enabled.
    RxEn = 0x10,
    /// Maximum Number of Data-Sending Lanes: No more than the number of lanes. Takes effect at a
    /// link reset, and while no lane is active.
    MaxDataSendingLanes = 0x11,
    /// Bypass: 1: the link is a plain single lane on lane 0, by configuration or because the far
    /// end needs it.
    Bypass = 0x12,
    /// LaneStart: 1: start the lane, and keep trying.
    LaneStart = 0x13,
    /// AutoStart: 1: start the lane when the far end starts.
    AutoStart = 0x14,
    /// LaneReset: 1: hold the lane in ClearLine.
    LaneReset = 0x15,
    /// Near-End Parallel Loopback: 1: the lane receives its own words.
    NearEndParallelLoopback = 0x16,
    /// Far-End Parallel Loopback: 1: the lane sends back the words it receives.
    FarEndParallelLoopback = 0x17,
    /// Standby Reason: Reason that the lane sends in STANDBY.
    StandbyReason = 0x18,
    /// Near-End Serial Loopback: 1: the lane receives its own bits.
    NearEndSerialLoopback = 0x19,
    /// Far-End Serial Loopback: 1: the lane sends back the bits it receives.
    FarEndSerialLoopback = 0x1a,
    /// Has Credit: 1: the channel has FCT credit.
    HasCredit = 0x1b,
    /// Input Buffer Overflow: A frame did not fit the input buffer. This resets the link.
    InputBufferOverflow = 0x1c,
    /// FCT Credit Overflow: FCTs took the credit above its limit.
    FctCreditOverflow = 0x1d,
    /// Bandwidth Over-use: The channel sent far more than its expected bandwidth.
    BandwidthOverUse = 0x1e,
    /// Bandwidth Under-use: The channel had full bandwidth credit for longer than the idle time
    /// limit.
    BandwidthUnderUse = 0x1f,
    /// CRC-16 Error: A data frame had a wrong CRC-16.
    Crc16Error = 0x20,
    /// CRC-8 Error: A broadcast frame or a single word had a wrong CRC-8.
    Crc8Error = 0x21,
    /// Frame Error: A word came where the standard does not allow it.
    FrameError = 0x22,
    /// Sequence Error: A sequence number was not the expected one.
    SequenceError = 0x23,
    /// Error Recovery Buffer Empty: 1: everything sent is acknowledged.
    ErrorRecoveryBufferEmpty = 0x24,
    /// Error Recovery Attempts: Number of valid NACKs received.
    ErrorRecoveryAttempts = 0x25,
    /// Link Reset Caused by Protocol Error: An ACK or NACK matched no outstanding item.
    ProtocolError = 0x26,
    /// Far-End Link Reset: The far end asked for a link reset.
    FarEndLinkReset = 0x27,
    /// Current Time-slot: Time-slot of the last SCHEDULE.request; 0 before the first.
    CurrentTimeSlot = 0x28,
    /// Data-Sending Lanes: Bit L: lane L carries rows.
    DataSendingLanes = 0x29,
    /// Data-Receiving Lanes: Bit L: lane L delivers rows.
    DataReceivingLanes = 0x2a,
    /// Alignment State: 0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready.
    AlignmentState = 0x2b,
    /// Misaligned Events: Number of times that alignment started again.
    MisalignedEvents = 0x2c,
    /// Lane State: 0 ClearLine to 9 LossOfSignal.
    LaneState = 0x2d,
    /// RXERR Count: The leaky counter of RXERR words.
    RxerrCount = 0x2e,
    /// RXERR Overflow: The RXERR counter reached 255.
    RxerrOverflow = 0x2f,
    /// Far-End Standby: The far end went into standby.
    FarEndStandby = 0x30,
    /// Far-End Standby Reason: Reason in the STANDBY words of the far end.
    FarEndStandbyReason = 0x31,
    /// Timeout: The initialisation timer expired.
    Timeout = 0x32,
    /// Far-End Lost Signal: The far end sent LOST_SIGNAL.
    FarEndLostSignal = 0x33,
    /// Far-End Lost Signal Cause: Cause in the LOST_SIGNAL words of the far end: 0 no signal, 1
    /// RXERR counter, 2 INIT1.
    FarEndLostSignalCause = 0x34,
    /// Far-End Capabilities: Capability field of the last INIT3; 0 before the first one.
    FarEndCapabilities = 0x35,
    /// RX Polarity: 1: the received bits are inverted.
    RxPolarity = 0x36,
    /// No Signal: 1: the receiver has no signal.
    NoSignal = 0x37,
    /// Bit Synchronised: 1: the receiver has found the word boundary.
    BitSync = 0x38,
    /// Schedule: SCHEDULE.request (6.3.4): the time-slot that begins.
    Schedule = 0x39,
    /// Schedule Type: Type of the broadcast messages that begin a time-slot, sent or received: bits
    /// 5:0 of their first byte. 256: none.
    ScheduleType = 0x3a,
}

impl MibItem {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::VirtualNetwork, Self::BroadcastChannel, Self::InterfaceReset, Self::LinkReset,
        Self::DataScrambled, Self::ExpectedBroadcastBandwidth, Self::Priority,
        Self::ExpectedBandwidth, Self::TimeSlots, Self::ContinuousMode, Self::IdleTimeLimit,
        Self::BandwidthCreditLimit, Self::MinimumBandwidthCreditThreshold, Self::FctMultiplier,
        Self::SegmentMultiplier, Self::TxEn, Self::RxEn, Self::MaxDataSendingLanes, Self::Bypass,
        Self::LaneStart, Self::AutoStart, Self::LaneReset, Self::NearEndParallelLoopback,
        Self::FarEndParallelLoopback, Self::StandbyReason, Self::NearEndSerialLoopback,
        Self::FarEndSerialLoopback, Self::HasCredit, Self::InputBufferOverflow,
        Self::FctCreditOverflow, Self::BandwidthOverUse, Self::BandwidthUnderUse, Self::Crc16Error,
        Self::Crc8Error, Self::FrameError, Self::SequenceError, Self::ErrorRecoveryBufferEmpty,
        Self::ErrorRecoveryAttempts, Self::ProtocolError, Self::FarEndLinkReset,
        Self::CurrentTimeSlot, Self::DataSendingLanes, Self::DataReceivingLanes,
        Self::AlignmentState, Self::MisalignedEvents, Self::LaneState, Self::RxerrCount,
        Self::RxerrOverflow, Self::FarEndStandby, Self::FarEndStandbyReason, Self::Timeout,
        Self::FarEndLostSignal, Self::FarEndLostSignalCause, Self::FarEndCapabilities,
        Self::RxPolarity, Self::NoSignal, Self::BitSync, Self::Schedule, Self::ScheduleType,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::VirtualNetwork),
            1 => Some(Self::BroadcastChannel),
            2 => Some(Self::InterfaceReset),
            3 => Some(Self::LinkReset),
            4 => Some(Self::DataScrambled),
            5 => Some(Self::ExpectedBroadcastBandwidth),
            6 => Some(Self::Priority),
            7 => Some(Self::ExpectedBandwidth),
            8 => Some(Self::TimeSlots),
            9 => Some(Self::ContinuousMode),
            0xa => Some(Self::IdleTimeLimit),
            0xb => Some(Self::BandwidthCreditLimit),
            0xc => Some(Self::MinimumBandwidthCreditThreshold),
            0xd => Some(Self::FctMultiplier),
            0xe => Some(Self::SegmentMultiplier),
            0xf => Some(Self::TxEn),
            0x10 => Some(Self::RxEn),
            0x11 => Some(Self::MaxDataSendingLanes),
            0x12 => Some(Self::Bypass),
            0x13 => Some(Self::LaneStart),
            0x14 => Some(Self::AutoStart),
            0x15 => Some(Self::LaneReset),
            0x16 => Some(Self::NearEndParallelLoopback),
            0x17 => Some(Self::FarEndParallelLoopback),
            0x18 => Some(Self::StandbyReason),
            0x19 => Some(Self::NearEndSerialLoopback),
            0x1a => Some(Self::FarEndSerialLoopback),
            0x1b => Some(Self::HasCredit),
            0x1c => Some(Self::InputBufferOverflow),
            0x1d => Some(Self::FctCreditOverflow),
            0x1e => Some(Self::BandwidthOverUse),
            0x1f => Some(Self::BandwidthUnderUse),
            0x20 => Some(Self::Crc16Error),
            0x21 => Some(Self::Crc8Error),
            0x22 => Some(Self::FrameError),
            0x23 => Some(Self::SequenceError),
            0x24 => Some(Self::ErrorRecoveryBufferEmpty),
            0x25 => Some(Self::ErrorRecoveryAttempts),
            0x26 => Some(Self::ProtocolError),
            0x27 => Some(Self::FarEndLinkReset),
            0x28 => Some(Self::CurrentTimeSlot),
            0x29 => Some(Self::DataSendingLanes),
            0x2a => Some(Self::DataReceivingLanes),
            0x2b => Some(Self::AlignmentState),
            0x2c => Some(Self::MisalignedEvents),
            0x2d => Some(Self::LaneState),
            0x2e => Some(Self::RxerrCount),
            0x2f => Some(Self::RxerrOverflow),
            0x30 => Some(Self::FarEndStandby),
            0x31 => Some(Self::FarEndStandbyReason),
            0x32 => Some(Self::Timeout),
            0x33 => Some(Self::FarEndLostSignal),
            0x34 => Some(Self::FarEndLostSignalCause),
            0x35 => Some(Self::FarEndCapabilities),
            0x36 => Some(Self::RxPolarity),
            0x37 => Some(Self::NoSignal),
            0x38 => Some(Self::BitSync),
            0x39 => Some(Self::Schedule),
            0x3a => Some(Self::ScheduleType),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VirtualNetwork => "VIRTUAL_NETWORK",
            Self::BroadcastChannel => "BROADCAST_CHANNEL",
            Self::InterfaceReset => "INTERFACE_RESET",
            Self::LinkReset => "LINK_RESET",
            Self::DataScrambled => "DATA_SCRAMBLED",
            Self::ExpectedBroadcastBandwidth => "EXPECTED_BROADCAST_BANDWIDTH",
            Self::Priority => "PRIORITY",
            Self::ExpectedBandwidth => "EXPECTED_BANDWIDTH",
            Self::TimeSlots => "TIME_SLOTS",
            Self::ContinuousMode => "CONTINUOUS_MODE",
            Self::IdleTimeLimit => "IDLE_TIME_LIMIT",
            Self::BandwidthCreditLimit => "BANDWIDTH_CREDIT_LIMIT",
            Self::MinimumBandwidthCreditThreshold => "MINIMUM_BANDWIDTH_CREDIT_THRESHOLD",
            Self::FctMultiplier => "FCT_MULTIPLIER",
            Self::SegmentMultiplier => "SEGMENT_MULTIPLIER",
            Self::TxEn => "TX_EN",
            Self::RxEn => "RX_EN",
            Self::MaxDataSendingLanes => "MAX_DATA_SENDING_LANES",
            Self::Bypass => "BYPASS",
            Self::LaneStart => "LANE_START",
            Self::AutoStart => "AUTO_START",
            Self::LaneReset => "LANE_RESET",
            Self::NearEndParallelLoopback => "NEAR_END_PARALLEL_LOOPBACK",
            Self::FarEndParallelLoopback => "FAR_END_PARALLEL_LOOPBACK",
            Self::StandbyReason => "STANDBY_REASON",
            Self::NearEndSerialLoopback => "NEAR_END_SERIAL_LOOPBACK",
            Self::FarEndSerialLoopback => "FAR_END_SERIAL_LOOPBACK",
            Self::HasCredit => "HAS_CREDIT",
            Self::InputBufferOverflow => "INPUT_BUFFER_OVERFLOW",
            Self::FctCreditOverflow => "FCT_CREDIT_OVERFLOW",
            Self::BandwidthOverUse => "BANDWIDTH_OVER_USE",
            Self::BandwidthUnderUse => "BANDWIDTH_UNDER_USE",
            Self::Crc16Error => "CRC16_ERROR",
            Self::Crc8Error => "CRC8_ERROR",
            Self::FrameError => "FRAME_ERROR",
            Self::SequenceError => "SEQUENCE_ERROR",
            Self::ErrorRecoveryBufferEmpty => "ERROR_RECOVERY_BUFFER_EMPTY",
            Self::ErrorRecoveryAttempts => "ERROR_RECOVERY_ATTEMPTS",
            Self::ProtocolError => "PROTOCOL_ERROR",
            Self::FarEndLinkReset => "FAR_END_LINK_RESET",
            Self::CurrentTimeSlot => "CURRENT_TIME_SLOT",
            Self::DataSendingLanes => "DATA_SENDING_LANES",
            Self::DataReceivingLanes => "DATA_RECEIVING_LANES",
            Self::AlignmentState => "ALIGNMENT_STATE",
            Self::MisalignedEvents => "MISALIGNED_EVENTS",
            Self::LaneState => "LANE_STATE",
            Self::RxerrCount => "RXERR_COUNT",
            Self::RxerrOverflow => "RXERR_OVERFLOW",
            Self::FarEndStandby => "FAR_END_STANDBY",
            Self::FarEndStandbyReason => "FAR_END_STANDBY_REASON",
            Self::Timeout => "TIMEOUT",
            Self::FarEndLostSignal => "FAR_END_LOST_SIGNAL",
            Self::FarEndLostSignalCause => "FAR_END_LOST_SIGNAL_CAUSE",
            Self::FarEndCapabilities => "FAR_END_CAPABILITIES",
            Self::RxPolarity => "RX_POLARITY",
            Self::NoSignal => "NO_SIGNAL",
            Self::BitSync => "BIT_SYNC",
            Self::Schedule => "SCHEDULE",
            Self::ScheduleType => "SCHEDULE_TYPE",
        }
    }
}

/// Flags of a submission entry.
pub mod submit_flags {
    /// Lowest bit of TYPE.
    pub const TYPE_SHIFT: u32 = 0;
    /// entry_type. Mask, in place.
    pub const TYPE_MASK: u16 = 0x000f;
    /// Write a completion when the entry is done. One completion frees all earlier entries. Errors
    /// are always signalled.
    pub const SIGNAL: u16 = 1 << 4;
    /// Last entry of a group: publish completions and receive runs at once.
    pub const LAST: u16 = 1 << 5;
    /// The packet continues in the next entry of this ring (gather).
    pub const CHAIN: u16 = 1 << 6;
    /// Lowest bit of END.
    pub const END_SHIFT: u32 = 7;
    /// end_marker. Mask, in place.
    pub const END_MASK: u16 = 0x0180;
    /// Start only after all earlier entries are done. No effect on transmit queues, which are in
    /// order; work requests have a flag of their own.
    pub const FENCE: u16 = 1 << 9;
    /// Lowest bit of MBZ.
    pub const MBZ_SHIFT: u32 = 10;
    /// Must be zero. Mask, in place.
    pub const MBZ_MASK: u16 = 0xfc00;
}

/// Flags of a completion entry.
pub mod completion_flags {
    /// Lowest bit of END.
    pub const END_SHIFT: u32 = 0;
    /// end_marker of the packet or piece (posted receive). Mask, in place.
    pub const END_MASK: u16 = 0x0003;
    /// The packet continues in the next buffer (posted receive).
    pub const MORE: u16 = 1 << 2;
    /// Must not be reported before the time in the side array (paced virtual links).
    pub const TIMED: u16 = 1 << 3;
    /// The side array holds a time for this completion.
    pub const STAMPED: u16 = 1 << 4;
    /// This run starts at offset 0 of the packed area. The bytes from the end of the previous run
    /// to the end of the area are unused.
    pub const WRAP: u16 = 1 << 5;
    /// Earlier messages were dropped because the ring was full (message receive only).
    pub const LOST: u16 = 1 << 6;
    /// The side array holds immediate data for this completion (RDMA_RX only).
    pub const IMMEDIATE: u16 = 1 << 7;
    /// A WRITE_IMM of the partner, or an operation on a remote key with NOTIFY, used the buffer and
    /// left it as it was (RDMA_RX only).
    pub const WRITE: u16 = 1 << 8;
    /// Whether the work request that failed was executed is not known. Without it, it was not
    /// executed (RDMA only).
    pub const UNKNOWN: u16 = 1 << 9;
    /// The bytes of the packet are in data of this wide completion, and the buffer is as it was
    /// (queue option BESIDE).
    pub const BESIDE: u16 = 1 << 10;
}

/// Flags of a record header in a packed receive area.
pub mod record_flags {
    /// The packet continues in the next record.
    pub const MORE: u8 = 1 << 0;
}

/// Status of a broadcast message (ECSS-E-ST-50-11C 5.8.9).
pub mod message_flags {
    /// LATE: the message could not be sent at once.
    pub const LATE: u8 = 1 << 0;
    /// DELAYED: the message waited for another broadcast message.
    pub const DELAYED: u8 = 1 << 1;
}

/// Optional features. Query them; never assume them.
pub mod capability {
    /// Burst entries.
    pub const BURST: u32 = 1 << 0;
    /// Packed receive.
    pub const PACKED: u32 = 1 << 1;
    /// Timestamps on completions.
    pub const STAMP: u32 = 1 << 2;
    /// Doorbell pages are 64 KiB apart.
    pub const DOORBELL_64K: u32 = 1 << 3;
    /// Broadcast and time-code queues.
    pub const MESSAGE: u32 = 1 << 4;
    /// Regions are described by bus addresses (page lists) instead of shared memory.
    pub const IOVA: u32 = 1 << 5;
    /// RESET while busy completes pending submissions with DEVICE_RESET.
    pub const RESET: u32 = 1 << 6;
    /// Each port has a mib block, and the device has the command MIB_SET.
    pub const MIB: u32 = 1 << 7;
    /// COUNT of an event vector rises before its interrupt is raised.
    pub const COUNT_FIRST: u32 = 1 << 8;
    /// A port signals the event vector in LINK_VECTOR when its STATE changes.
    pub const LINK_EVENT: u32 = 1 << 9;
    /// Regions with the option LOCAL_DMA, in domain 0 only. Needs IOVA.
    pub const LOCAL_DMA: u32 = 1 << 10;
    /// Page lists with more than one level. Needs IOVA.
    pub const PAGE_LEVELS: u32 = 1 << 11;
    /// Interrupt lines are level-sensitive: line n is high while vector n is enabled and its COUNT
    /// differs from the count seen.
    pub const LEVEL: u32 = 1 << 12;
    /// Queues of the kinds RDMA and RDMA_RX.
    pub const RDMA: u32 = 1 << 13;
    /// Queue option REMOTE_KEYS, and the work requests BIND and UNBIND. Needs RDMA.
    pub const REMOTE_KEYS: u32 = 1 << 14;
    /// Ports of kind FABRIC have the blocks fabric and peer. Needs LINK_EVENT.
    pub const FABRIC: u32 = 1 << 15;
    /// Target of RDMA: the target block, and the commands TARGET_SET, TARGET_CLEAR and TARGET_TAKE.
    pub const TARGET: u32 = 1 << 16;
    /// Queue option BESIDE.
    pub const BESIDE: u32 = 1 << 17;
    /// Each port has a pair block. Needs RDMA.
    pub const PAIR_COUNTERS: u32 = 1 << 18;
    /// Messages of kind INTERRUPT, and the filter INTERRUPTS of message queues. Needs MESSAGE.
    pub const INTERRUPTS: u32 = 1 << 19;
}

/// Permitted accesses to a memory region. The values are those of InfiniBand verbs where they
/// exist.
pub mod access {
    /// The device may write to the region (receive).
    pub const LOCAL_WRITE: u32 = 1 << 0;
    /// A peer may write to the region with RDMA.
    pub const REMOTE_WRITE: u32 = 1 << 1;
    /// A peer may read the region with RDMA.
    pub const REMOTE_READ: u32 = 1 << 2;
    /// The device may read the region (transmit).
    pub const LOCAL_READ: u32 = 1 << 8;
}

/// Options of a region entry.
pub mod region_options {
    /// The region is everything that the device can reach on the bus: an offset is a bus address
    /// (capability LOCAL_DMA).
    pub const LOCAL_DMA: u32 = 1 << 0;
}

/// Options of a queue context.
pub mod queue_options {
    /// Write a timestamp for every completion.
    pub const STAMP: u32 = 1 << 0;
    /// Completions come in submission order. Today they always do.
    pub const RETURN_IN_ORDER: u32 = 1 << 1;
    /// RDMA: the queue pair takes BIND and UNBIND (capability REMOTE_KEYS).
    pub const REMOTE_KEYS: u32 = 1 << 2;
    /// RX: entries of the completion ring are wide completions, which take the bytes of short
    /// packets (capability BESIDE).
    pub const BESIDE: u32 = 1 << 3;
}

/// Wake-up conditions of the host; any of them wakes it.
pub mod arm_flags {
    /// want_count is valid.
    pub const COUNT: u32 = 1 << 0;
    /// want_bytes is valid.
    pub const BYTES: u32 = 1 << 1;
    /// after_first_ns is valid.
    pub const TIME: u32 = 1 << 2;
    /// Signal the event vector (file descriptor) as well.
    pub const EVENT: u32 = 1 << 3;
}

/// The 64-bit store to a doorbell page. It is only a hint: the rings say what to do. Only a store
/// of kind PEER is an action of its own.
pub mod doorbell {
    /// Lowest bit of QUEUE.
    pub const QUEUE_SHIFT: u32 = 0;
    /// Queue context index. PEER: any context of a virtual channel to the node. Mask, in place.
    pub const QUEUE_MASK: u64 = 0x000000000000ffff;
    /// Lowest bit of KIND.
    pub const KIND_SHIFT: u32 = 16;
    /// doorbell_kind. Mask, in place.
    pub const KIND_MASK: u64 = 0x0000000000ff0000;
    /// Lowest bit of NUMBER.
    pub const NUMBER_SHIFT: u32 = 24;
    /// PEER: number of the doorbell, less than PEER_DOORBELLS. Mask, in place.
    pub const NUMBER_MASK: u64 = 0x00000000ff000000;
    /// Lowest bit of INDEX.
    pub const INDEX_SHIFT: u32 = 32;
    /// Free-running producer index (submissions) or arm sequence (armed). Mask, in place.
    pub const INDEX_MASK: u64 = 0xffffffff00000000;
}

/// DATA and BUFFER entry: transmit from an address, or receive into it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// Byte offset in the region.
    pub offset: u64,
    /// Region: index (12 bits) and generation (4 bits).
    pub region: u16,
    /// Length in bytes.
    pub length: u32,
    /// submit_flags.
    pub flags: u16,
    /// Lap number of the ring position, from 1. The entry is valid when it matches the reader's
    /// lap.
    pub phase: u16,
}

impl Submission {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            (self.offset & 0xffffffffffff) | ((self.region as u64) << 48),
            (self.length as u64) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            offset: w[0] & 0xffffffffffff,
            region: (w[0] >> 48) as u16,
            length: w[1] as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// INLINE entry: up to 11 data bytes in the entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InlineSubmission {
    /// Bytes 0 to 7, byte 0 in the least significant byte.
    pub data_lo: u64,
    /// Number of data bytes, 1 to 11.
    pub count: u8,
    /// Bytes 8 to 10.
    pub data_hi: u32,
    /// submit_flags.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl InlineSubmission {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            self.data_lo,
            (self.count as u64) | (((self.data_hi & 0xffffff) as u64) << 8) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            data_lo: w[0],
            count: w[1] as u8,
            data_hi: ((w[1] >> 8) & 0xffffff) as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// Second entry of a BURST. The first entry is a submission with the address and length of packet
/// 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstExt {
    /// Bytes from the start of one packet to the start of the next; 0 sends the same bytes each
    /// time.
    pub stride: u32,
    /// Number of packets, 1 to 65535.
    pub count: u16,
    /// Must be zero.
    pub reserved0: u16,
    /// Must be zero.
    pub reserved1: u32,
    /// submit_flags with TYPE = BURST_EXT.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl BurstExt {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            (self.stride as u64) | ((self.count as u64) << 32) | ((self.reserved0 as u64) << 48),
            (self.reserved1 as u64) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            stride: w[0] as u32,
            count: (w[0] >> 32) as u16,
            reserved0: (w[0] >> 48) as u16,
            reserved1: w[1] as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// RELEASE entry of packed and message receive queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// Bytes of the packed area to return, including a skipped tail.
    pub bytes: u32,
    /// Number of completions consumed, 1 or more. The device may write as many again.
    pub completions: u32,
    /// Must be zero.
    pub reserved0: u32,
    /// submit_flags with TYPE = RELEASE.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl Release {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            (self.bytes as u64) | ((self.completions as u64) << 32),
            (self.reserved0 as u64) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            bytes: w[0] as u32,
            completions: (w[0] >> 32) as u32,
            reserved0: w[1] as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// Broadcast message, time-code or distributed interrupt: a MESSAGE entry for transmit, a
/// completion ring entry for receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Broadcast: the 8 data bytes, byte 0 least significant. Time-code: bits 5:0 time, 7:6 flags.
    /// Interrupt: bits 4:0 identifier, bit 5: acknowledgement.
    pub data: u64,
    /// Broadcast channel number.
    pub channel: u8,
    /// Broadcast type.
    pub r#type: u8,
    /// message_kind.
    pub kind: u8,
    /// message_flags.
    pub status: u8,
    /// submit_flags (transmit) or completion_flags (receive).
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl Message {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            self.data,
            (self.channel as u64) | ((self.r#type as u64) << 8) | ((self.kind as u64) << 16) | ((self.status as u64) << 24) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            data: w[0],
            channel: w[1] as u8,
            r#type: (w[1] >> 8) as u8,
            kind: (w[1] >> 16) as u8,
            status: (w[1] >> 24) as u8,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// Completion of one or more submissions of one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Bytes of all packets that this completion reports; a detail of the status if that is not OK.
    pub bytes: u32,
    /// Number of packets that this completion reports (posted receive: 1 per buffer; packed
    /// receive: records).
    pub packets: u16,
    /// Virtual channel.
    pub vc: u8,
    /// status.
    pub status: u8,
    /// Free-running position (mod 65536) of the last submission entry that this completion frees.
    pub position: u16,
    /// Zero.
    pub reserved0: u16,
    /// completion_flags.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl Completion {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            (self.bytes as u64) | ((self.packets as u64) << 32) | ((self.vc as u64) << 48) | ((self.status as u64) << 56),
            (self.position as u64) | ((self.reserved0 as u64) << 16) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            bytes: w[0] as u32,
            packets: (w[0] >> 32) as u16,
            vc: (w[0] >> 48) as u8,
            status: (w[0] >> 56) as u8,
            position: w[1] as u16,
            reserved0: (w[1] >> 16) as u16,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// Entry of the completion ring of a queue with the option BESIDE, alone on its cache line. The
/// second word, with the phase, is stored last.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WideCompletion {
    /// First word of the completion.
    pub word0: u64,
    /// Second word of the completion.
    pub word1: u64,
    /// Time of the completion, if it is STAMPED.
    pub time: u64,
    /// Bytes 0 to 7 of the packet, byte 0 least significant, if the completion has the flag BESIDE.
    pub data0: u64,
    /// Bytes 8 to 15.
    pub data1: u64,
    /// Bytes 16 to 23.
    pub data2: u64,
    /// Bytes 24 to 31.
    pub data3: u64,
    /// Bytes 32 to 39.
    pub data4: u64,
}

/// Offsets of the fields of `WideCompletion`.
pub mod wide_completion {
    /// Size in bytes.
    pub const SIZE: usize = 64;
    /// First word of the completion.
    pub const WORD0_OFFSET: usize = 0;
    /// Second word of the completion.
    pub const WORD1_OFFSET: usize = 8;
    /// Time of the completion, if it is STAMPED.
    pub const TIME_OFFSET: usize = 16;
    /// Bytes 0 to 7 of the packet, byte 0 least significant, if the completion has the flag BESIDE.
    pub const DATA0_OFFSET: usize = 24;
    /// Bytes 8 to 15.
    pub const DATA1_OFFSET: usize = 32;
    /// Bytes 16 to 23.
    pub const DATA2_OFFSET: usize = 40;
    /// Bytes 24 to 31.
    pub const DATA3_OFFSET: usize = 48;
    /// Bytes 32 to 39.
    pub const DATA4_OFFSET: usize = 56;
}
const _: () = {
    use wide_completion as at;
    assert!(size_of::<WideCompletion>() == 64 && at::SIZE == 64);
    assert!(align_of::<WideCompletion>() == 64);
    assert!(core::mem::offset_of!(WideCompletion, word0) == at::WORD0_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, word1) == at::WORD1_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, time) == at::TIME_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, data0) == at::DATA0_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, data1) == at::DATA1_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, data2) == at::DATA2_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, data3) == at::DATA3_OFFSET);
    assert!(core::mem::offset_of!(WideCompletion, data4) == at::DATA4_OFFSET);
};

/// Header of a record in a packed receive area. The next record starts at the next multiple of 8
/// bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordHeader {
    /// Length of the record in bytes, without header and padding.
    pub length: u32,
    /// end_marker.
    pub end: u8,
    /// record_flags.
    pub flags: u8,
    /// Zero.
    pub reserved0: u16,
}

/// Offsets of the fields of `RecordHeader`.
pub mod record_header {
    /// Size in bytes.
    pub const SIZE: usize = 8;
    /// Length of the record in bytes, without header and padding.
    pub const LENGTH_OFFSET: usize = 0;
    /// end_marker.
    pub const END_OFFSET: usize = 4;
    /// record_flags.
    pub const FLAGS_OFFSET: usize = 5;
}
const _: () = {
    use record_header as at;
    assert!(size_of::<RecordHeader>() == 8 && at::SIZE == 8);
    assert!(align_of::<RecordHeader>() == 4);
    assert!(core::mem::offset_of!(RecordHeader, length) == at::LENGTH_OFFSET);
    assert!(core::mem::offset_of!(RecordHeader, end) == at::END_OFFSET);
    assert!(core::mem::offset_of!(RecordHeader, flags) == at::FLAGS_OFFSET);
};

/// Wake-up conditions of a queue, written by the host and read by the device. Alone on its cache
/// line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostLine {
    /// 0 if not armed, otherwise the arm sequence number: odd, and 2 more each time.
    pub arm: u32,
    /// arm_flags.
    pub flags: u32,
    /// Wake at or past this free-running completion position.
    pub want_count: u32,
    /// Zero.
    pub reserved0: u32,
    /// Wake at or past this free-running count of received or sent bytes.
    pub want_bytes: u64,
    /// Wake this many nanoseconds after the first completion at or past first_position.
    pub after_first_ns: u64,
    /// Free-running position of the first completion that was not yet reported to the application.
    pub first_position: u32,
    /// Zero.
    pub reserved1: u32,
    /// Zero.
    pub reserved2: u64,
    /// Zero.
    pub reserved3: u64,
    /// Zero.
    pub reserved4: u64,
}

/// Offsets of the fields of `HostLine`.
pub mod host_line {
    /// Size in bytes.
    pub const SIZE: usize = 64;
    /// 0 if not armed, otherwise the arm sequence number: odd, and 2 more each time.
    pub const ARM_OFFSET: usize = 0;
    /// arm_flags.
    pub const FLAGS_OFFSET: usize = 4;
    /// Wake at or past this free-running completion position.
    pub const WANT_COUNT_OFFSET: usize = 8;
    /// Wake at or past this free-running count of received or sent bytes.
    pub const WANT_BYTES_OFFSET: usize = 16;
    /// Wake this many nanoseconds after the first completion at or past first_position.
    pub const AFTER_FIRST_NS_OFFSET: usize = 24;
    /// Free-running position of the first completion that was not yet reported to the application.
    pub const FIRST_POSITION_OFFSET: usize = 32;
}
const _: () = {
    use host_line as at;
    assert!(size_of::<HostLine>() == 64 && at::SIZE == 64);
    assert!(align_of::<HostLine>() == 64);
    assert!(core::mem::offset_of!(HostLine, arm) == at::ARM_OFFSET);
    assert!(core::mem::offset_of!(HostLine, flags) == at::FLAGS_OFFSET);
    assert!(core::mem::offset_of!(HostLine, want_count) == at::WANT_COUNT_OFFSET);
    assert!(core::mem::offset_of!(HostLine, want_bytes) == at::WANT_BYTES_OFFSET);
    assert!(core::mem::offset_of!(HostLine, after_first_ns) == at::AFTER_FIRST_NS_OFFSET);
    assert!(core::mem::offset_of!(HostLine, first_position) == at::FIRST_POSITION_OFFSET);
};

/// State of a queue, written by the device and read by the host. Alone on its cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceLine {
    /// Incremented at each wake-up. The host sleeps on this word (futex).
    pub wake_seq: u32,
    /// 1: the device sleeps, so ring the doorbell after posting.
    pub need_doorbell: u32,
    /// queue_state.
    pub state: u32,
    /// status that stopped the queue; 0 if none did.
    pub error: u32,
    /// Receive: a packet waited for room when the device had written completions up to position
    /// 31:0 and used submissions up to position 63:32.
    pub full: u64,
    /// RDMA: pair_status, as of the last step of the device.
    pub pair: u64,
    /// Zero.
    pub reserved2: u64,
    /// Zero.
    pub reserved3: u64,
    /// Zero.
    pub reserved4: u64,
    /// Zero.
    pub reserved5: u64,
}

/// Offsets of the fields of `DeviceLine`.
pub mod device_line {
    /// Size in bytes.
    pub const SIZE: usize = 64;
    /// Incremented at each wake-up. The host sleeps on this word (futex).
    pub const WAKE_SEQ_OFFSET: usize = 0;
    /// 1: the device sleeps, so ring the doorbell after posting.
    pub const NEED_DOORBELL_OFFSET: usize = 4;
    /// queue_state.
    pub const STATE_OFFSET: usize = 8;
    /// status that stopped the queue; 0 if none did.
    pub const ERROR_OFFSET: usize = 12;
    /// Receive: a packet waited for room when the device had written completions up to position
    /// 31:0 and used submissions up to position 63:32.
    pub const FULL_OFFSET: usize = 16;
    /// RDMA: pair_status, as of the last step of the device.
    pub const PAIR_OFFSET: usize = 24;
}
const _: () = {
    use device_line as at;
    assert!(size_of::<DeviceLine>() == 64 && at::SIZE == 64);
    assert!(align_of::<DeviceLine>() == 64);
    assert!(core::mem::offset_of!(DeviceLine, wake_seq) == at::WAKE_SEQ_OFFSET);
    assert!(core::mem::offset_of!(DeviceLine, need_doorbell) == at::NEED_DOORBELL_OFFSET);
    assert!(core::mem::offset_of!(DeviceLine, state) == at::STATE_OFFSET);
    assert!(core::mem::offset_of!(DeviceLine, error) == at::ERROR_OFFSET);
    assert!(core::mem::offset_of!(DeviceLine, full) == at::FULL_OFFSET);
    assert!(core::mem::offset_of!(DeviceLine, pair) == at::PAIR_OFFSET);
};

/// Identity, capabilities and configuration latch of the device.
pub mod global_block {
    /// block_type GLOBAL.
    pub const TYPE: u16 = 1;
    /// Version of the block.
    pub const VERSION: u16 = 2;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// 0x53504645; 0xffffffff means the device is gone. (ro)
    pub const MAGIC: u32 = 0x10;
    /// major << 16 | minor. (ro)
    pub const CONTRACT_VERSION: u32 = 0x14;
    /// capability bits. (ro)
    pub const CAPABILITY: u32 = 0x18;
    /// Number of ports. (ro)
    pub const PORTS: u32 = 0x1c;
    /// Number of queue contexts. (ro)
    pub const QUEUES: u32 = 0x20;
    /// Entries of the memory-region table. (ro)
    pub const REGIONS: u32 = 0x24;
    /// Number of event vectors. (ro)
    pub const EVENTS: u32 = 0x28;
    /// Byte offset of the first doorbell page, a multiple of the stride. (ro)
    pub const DOORBELL_OFFSET: u32 = 0x2c;
    /// CFG_SEQ of the last command that the device carried out. (ro)
    pub const CFG_ACK: u32 = 0x30;
    /// status of that command. (ro)
    pub const CFG_STATUS: u32 = 0x34;
    /// Incremented at least once a second while the device is alive. (ro)
    pub const HEARTBEAT: u32 = 0x38;
    /// Number of resets since power-up. (ro)
    pub const RESETS: u32 = 0x3c;
    /// Device time in ns, low word; read HI, LO, HI. (ro)
    pub const TIME_LO: u32 = 0x40;
    /// Device time in ns, high word. (ro)
    pub const TIME_HI: u32 = 0x44;
    /// PACKET_MAX_BYTES of this device. (ro)
    pub const PACKET_MAX: u32 = 0x48;
    /// Number of doorbell pages, DOORBELL_STRIDE apart; 1 or more. (ro)
    pub const DOORBELL_PAGES: u32 = 0x4c;
    /// Number of protection domains; 1 or more, at most 65536. (ro)
    pub const DOMAINS: u32 = 0x50;
    /// Most entries from which this device gathers one packet, at least the constant CHAIN_MAX; 0
    /// stands for that constant. (ro)
    pub const CHAIN_MAX: u32 = 0x54;
    /// Most pages of a page list; 0 if the device does not say. A region may fail with NO_RESOURCES
    /// before. (ro)
    pub const PAGES_MAX: u32 = 0x58;
    /// command. (rw)
    pub const CFG_COMMAND: u32 = 0x80;
    /// Index of the object of the command. (rw)
    pub const CFG_INDEX: u32 = 0x84;
    /// Write this register last, with a non-zero value other than CFG_ACK. Then ring the doorbell,
    /// and wait until CFG_ACK is equal. (rw)
    pub const CFG_SEQ: u32 = 0x88;
    /// mib_item that MIB_SET sets. (rw)
    pub const MIB_ITEM: u32 = 0x8c;
    /// Lane or virtual channel of the item; 0 for an item of the link. (rw)
    pub const MIB_ELEMENT: u32 = 0x90;
    /// New value of the item, low word. (rw)
    pub const MIB_VALUE_LO: u32 = 0x98;
    /// New value of the item, high word. (rw)
    pub const MIB_VALUE_HI: u32 = 0x9c;
}

/// One network port.
pub mod port_block {
    /// block_type PORT.
    pub const TYPE: u16 = 2;
    /// Version of the block.
    pub const VERSION: u16 = 2;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// port_kind. (ro)
    pub const KIND: u32 = 0x10;
    /// port_state. A fabric port is DOWN before LINK_START, and UP while any node is READY. (ro)
    pub const STATE: u32 = 0x14;
    /// Number of virtual channels, at most VC_MAX (fabric port: FABRIC_VC_MAX). (ro)
    pub const VCS: u32 = 0x18;
    /// Number of lanes. (ro)
    pub const LANES: u32 = 0x1c;
    /// Lane signalling rate in Mbit/s; 0 = not paced. (ro)
    pub const LANE_RATE_MBPS: u32 = 0x20;
    /// User data rate in one direction in kbit/s; 0 = not limited. (ro)
    pub const USER_RATE_KBPS: u32 = 0x24;
    /// Index of the port's first queue context. The order is TX of VC 0, RX of VC 0, TX of VC 1,
    /// ...; then the message contexts, the first half for transmit and the second half for receive.
    /// (ro)
    pub const FIRST_QUEUE: u32 = 0x28;
    /// Number of queue contexts of this port. (ro)
    pub const QUEUE_COUNT: u32 = 0x2c;
    /// Number of times that STATE has changed since power-up, mod 2^32 (capability LINK_EVENT). On
    /// a fabric port it counts changes of the nodes' states and epochs. (ro)
    pub const CHANGES: u32 = 0x30;
    /// 1: start the link; on a fabric port 0 stops it. A bus reset clears this register without
    /// changing the link. Write 1 before the first PORT_CONFIGURE of a port that must stay up. (rw)
    pub const LINK_START: u32 = 0x80;
    /// Priorities of VC 0 to 7, 4 bits each, 0 is the highest (ECSS-E-ST-50-11C 5.7.4). (rw)
    pub const VC_PRIORITY_0: u32 = 0x84;
    /// Priorities of VC 8 to 15. (rw)
    pub const VC_PRIORITY_1: u32 = 0x88;
    /// Priorities of VC 16 to 23. (rw)
    pub const VC_PRIORITY_2: u32 = 0x8c;
    /// Priorities of VC 24 to 31. Further channels of a fabric port have priority 0. (rw)
    pub const VC_PRIORITY_3: u32 = 0x90;
    /// Event vector to signal when CHANGES rises, plus 1: 1 to EVENTS; 0 for none (capability
    /// LINK_EVENT). (rw)
    pub const LINK_VECTOR: u32 = 0x94;
}

/// Array of queue contexts: QUEUES elements, directly after the header.
pub mod queue_block {
    /// block_type QUEUE.
    pub const TYPE: u16 = 3;
    /// Version of the block.
    pub const VERSION: u16 = 2;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0xc0;
    /// queue_state. (ro)
    pub const STATE: u32 = 0x00;
    /// status that stopped the queue; 0 if none did. (ro)
    pub const ERROR: u32 = 0x04;
    /// Port number. (ro)
    pub const PORT: u32 = 0x08;
    /// Virtual channel; 255 for message contexts. (ro)
    pub const VC: u32 = 0x0c;
    /// queue_kind. (rw)
    pub const KIND: u32 = 0x40;
    /// queue_options. (rw)
    pub const OPTIONS: u32 = 0x44;
    /// Protection domain whose regions the queue may use: less than DOMAINS. (rw)
    pub const DOMAIN: u32 = 0x48;
    /// Event vector: less than EVENTS. (rw)
    pub const VECTOR: u32 = 0x4c;
    /// log2 of the number of entries of the submission ring. (rw)
    pub const SQ_LOG2: u32 = 0x50;
    /// log2 of the number of entries of the completion ring: at least SQ_LOG2, and equal to it for
    /// RX_PACKED and MESSAGE_RX. (rw)
    pub const CQ_LOG2: u32 = 0x54;
    /// Submission ring address {region, offset}, low word. (rw)
    pub const SQ_LO: u32 = 0x58;
    /// Submission ring address, high word. (rw)
    pub const SQ_HI: u32 = 0x5c;
    /// Completion ring address, low word. (rw)
    pub const CQ_LO: u32 = 0x60;
    /// Completion ring address, high word. (rw)
    pub const CQ_HI: u32 = 0x64;
    /// Side array of 64-bit times, one per completion, low word. It is needed even without STAMP,
    /// because a device that paces its links in advance uses it. RDMA_RX: as many words follow,
    /// with immediate data in their low half and the remote key of a WRITE in their high half. With
    /// the option BESIDE it is not used: wide completions hold their times. (rw)
    pub const STAMP_LO: u32 = 0x68;
    /// Side array, high word. (rw)
    pub const STAMP_HI: u32 = 0x6c;
    /// host_line followed by device_line, low word. (rw)
    pub const LINES_LO: u32 = 0x70;
    /// Lines, high word. (rw)
    pub const LINES_HI: u32 = 0x74;
    /// Packed area address, low word. (rw)
    pub const AREA_LO: u32 = 0x78;
    /// Packed area address, high word. (rw)
    pub const AREA_HI: u32 = 0x7c;
    /// Packed area size in bytes. (rw)
    pub const AREA_BYTES: u32 = 0x80;
    /// Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type; the others
    /// zero. On a SpaceWire port 0, or with the capability INTERRUPTS bit 18: only distributed
    /// interrupts. (rw)
    pub const FILTER: u32 = 0x84;
    /// RDMA and RDMA_RX: queue_pair, low word. (rw)
    pub const PAIR_LO: u32 = 0x88;
    /// queue_pair, high word. (rw)
    pub const PAIR_HI: u32 = 0x8c;
    /// RDMA: pair_limits, low word. (rw)
    pub const LIMITS_LO: u32 = 0x90;
    /// pair_limits, high word. (rw)
    pub const LIMITS_HI: u32 = 0x94;
    /// RDMA: path to the partner, the first byte least significant, low word. (rw)
    pub const PATH_LO: u32 = 0x98;
    /// Path, high word. (rw)
    pub const PATH_HI: u32 = 0x9c;
    /// RDMA: path from the partner back, low word. (rw)
    pub const REPLY_LO: u32 = 0xa0;
    /// Path back, high word. (rw)
    pub const REPLY_HI: u32 = 0xa4;
}

/// Values that a host writes to set up an element of the block `queue`: its registers with access
/// rw, in their order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QueueSetup {
    /// queue_kind.
    pub kind: u32,
    /// queue_options.
    pub options: u32,
    /// Protection domain whose regions the queue may use: less than DOMAINS.
    pub domain: u32,
    /// Event vector: less than EVENTS.
    pub vector: u32,
    /// log2 of the number of entries of the submission ring.
    pub sq_log2: u32,
    /// log2 of the number of entries of the completion ring: at least SQ_LOG2, and equal to it for
    /// RX_PACKED and MESSAGE_RX.
    pub cq_log2: u32,
    /// Submission ring address {region, offset}.
    pub sq: u64,
    /// Completion ring address.
    pub cq: u64,
    /// Side array of 64-bit times, one per completion. It is needed even without STAMP, because a
    /// device that paces its links in advance uses it. RDMA_RX: as many words follow, with
    /// immediate data in their low half and the remote key of a WRITE in their high half. With the
    /// option BESIDE it is not used: wide completions hold their times.
    pub stamp: u64,
    /// host_line followed by device_line.
    pub lines: u64,
    /// Packed area address.
    pub area: u64,
    /// Packed area size in bytes.
    pub area_bytes: u32,
    /// Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type; the others
    /// zero. On a SpaceWire port 0, or with the capability INTERRUPTS bit 18: only distributed
    /// interrupts.
    pub filter: u32,
    /// RDMA and RDMA_RX: queue_pair.
    pub pair: u64,
    /// RDMA: pair_limits.
    pub limits: u64,
    /// RDMA: path to the partner, the first byte least significant.
    pub path: u64,
    /// RDMA: path from the partner back.
    pub reply: u64,
}

impl QueueSetup {
    /// Reads the values from registers. `read` gets the offset of a register in the element.
    pub fn from_registers(mut read: impl FnMut(u32) -> u32) -> Self {
        use queue_block as at;
        Self {
            kind: read(at::KIND),
            options: read(at::OPTIONS),
            domain: read(at::DOMAIN),
            vector: read(at::VECTOR),
            sq_log2: read(at::SQ_LOG2),
            cq_log2: read(at::CQ_LOG2),
            sq: read(at::SQ_LO) as u64 | (read(at::SQ_HI) as u64) << 32,
            cq: read(at::CQ_LO) as u64 | (read(at::CQ_HI) as u64) << 32,
            stamp: read(at::STAMP_LO) as u64 | (read(at::STAMP_HI) as u64) << 32,
            lines: read(at::LINES_LO) as u64 | (read(at::LINES_HI) as u64) << 32,
            area: read(at::AREA_LO) as u64 | (read(at::AREA_HI) as u64) << 32,
            area_bytes: read(at::AREA_BYTES),
            filter: read(at::FILTER),
            pair: read(at::PAIR_LO) as u64 | (read(at::PAIR_HI) as u64) << 32,
            limits: read(at::LIMITS_LO) as u64 | (read(at::LIMITS_HI) as u64) << 32,
            path: read(at::PATH_LO) as u64 | (read(at::PATH_HI) as u64) << 32,
            reply: read(at::REPLY_LO) as u64 | (read(at::REPLY_HI) as u64) << 32,
        }
    }
}

/// Memory-region table: REGIONS elements, directly after the header.
pub mod region_block {
    /// block_type REGION.
    pub const TYPE: u16 = 4;
    /// Version of the block.
    pub const VERSION: u16 = 2;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x80;
    /// Region field for entries and addresses: generation << 12 | index, 16 bits. Never 0 while the
    /// region is enabled, otherwise 0. (ro)
    pub const KEY: u32 = 0x00;
    /// Bus address of the memory or of the page list, low word (capability IOVA), or the segment
    /// number of shared memory. (rw)
    pub const BASE_LO: u32 = 0x40;
    /// Bus address, high word. (rw)
    pub const BASE_HI: u32 = 0x44;
    /// Size in bytes, low word. (rw)
    pub const SIZE_LO: u32 = 0x48;
    /// Size in bytes, high word. (rw)
    pub const SIZE_HI: u32 = 0x4c;
    /// access bits. (rw)
    pub const ACCESS: u32 = 0x50;
    /// Protection domain: less than DOMAINS. (rw)
    pub const DOMAIN: u32 = 0x54;
    /// 0: the memory is contiguous from BASE. Otherwise log2 of the page size (PAGE_LOG2_MIN to
    /// PAGE_LOG2_MAX), and BASE is the bus address of a list of 64-bit bus addresses, one per page.
    /// (rw)
    pub const PAGE_LIST: u32 = 0x58;
    /// 0 or 1: the page list is contiguous. 2 to PAGE_LEVELS_MAX: BASE is the bus address of the
    /// first of so many levels of tables (capability PAGE_LEVELS). (rw)
    pub const PAGE_LEVELS: u32 = 0x5c;
    /// region_options. (rw)
    pub const OPTIONS: u32 = 0x60;
}

/// Event vectors: EVENTS elements, directly after the header.
pub mod event_block {
    /// block_type EVENT.
    pub const TYPE: u16 = 5;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x80;
    /// Number of events signalled since power-up. The completion rings show the cause. (ro)
    pub const COUNT: u32 = 0x00;
    /// 1: interrupt the host when the event is signalled. Every command latches this register. (rw)
    pub const ENABLE: u32 = 0x40;
}

/// Broadcast configuration of the port in the block's instance field.
pub mod broadcast_block {
    /// block_type BROADCAST.
    pub const TYPE: u16 = 6;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// Broadcast messages sent (mod 2^32). (ro)
    pub const SENT: u32 = 0x10;
    /// Broadcast messages received. (ro)
    pub const RECEIVED: u32 = 0x14;
    /// Broadcast messages dropped because a receive ring was full. (ro)
    pub const DROPPED: u32 = 0x18;
    /// Broadcast channel, 0 to 255, for messages that the device itself sends. Entries carry a
    /// channel of their own. Latched by PORT_CONFIGURE. (rw)
    pub const CHANNEL: u32 = 0x80;
}

/// Time-code configuration of the port in the block's instance field.
pub mod time_code_block {
    /// block_type TIME_CODE.
    pub const TYPE: u16 = 7;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// Last time-code received (bits 7:0). With the capability INTERRUPTS distributed interrupts do
    /// not count as time-codes here. (ro)
    pub const LAST: u32 = 0x10;
    /// Time-codes and distributed interrupts received (mod 2^32). (ro)
    pub const RECEIVED: u32 = 0x14;
    /// Received time-codes that were not the last value plus one (mod 64). (ro)
    pub const INVALID: u32 = 0x18;
}

/// Counters: one element per queue context, directly after the header. 64-bit pairs; read HI, LO,
/// HI.
pub mod statistics_block {
    /// block_type STATISTICS.
    pub const TYPE: u16 = 8;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x40;
    /// Packets moved, low word. (ro)
    pub const PACKETS_LO: u32 = 0x00;
    /// Packets moved, high word. (ro)
    pub const PACKETS_HI: u32 = 0x04;
    /// Payload bytes moved, low word. (ro)
    pub const BYTES_LO: u32 = 0x08;
    /// Payload bytes moved, high word. (ro)
    pub const BYTES_HI: u32 = 0x0c;
    /// Submissions completed with an error status, and those that a queue discards when it closes,
    /// low word. (ro)
    pub const ERRORS_LO: u32 = 0x10;
    /// High word. (ro)
    pub const ERRORS_HI: u32 = 0x14;
    /// Number of times a packet had to wait for a receive buffer or area, low word. (ro)
    pub const STALLS_LO: u32 = 0x18;
    /// High word. (ro)
    pub const STALLS_HI: u32 = 0x1c;
    /// Wake-ups of the host, low word. (ro)
    pub const WAKES_LO: u32 = 0x20;
    /// High word. (ro)
    pub const WAKES_HI: u32 = 0x24;
    /// Messages dropped (message receive only; packets are never dropped), low word. (ro)
    pub const DROPPED_LO: u32 = 0x28;
    /// High word. (ro)
    pub const DROPPED_HI: u32 = 0x2c;
}

/// Management information base of the port in the block's instance field. It has as many elements
/// as the port has virtual channels or lanes, whichever is more. The 64-bit value of mib_item N is
/// at MIB_VALUE_BYTES times N in its element; read HI, LO, HI. It is 0 if PRESENT does not list the
/// item.
pub mod mib_block {
    /// block_type MIB.
    pub const TYPE: u16 = 9;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x200;
    /// Bit N: this element has item N; items 0 to 31. (ro)
    pub const PRESENT_LO: u32 = 0x1f8;
    /// Items 32 to 62. (ro)
    pub const PRESENT_HI: u32 = 0x1fc;
}

/// Description of an item of the management information base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MibInfo {
    /// The item.
    pub item: MibItem,
    /// Name in the standard.
    pub title: &'static str,
    /// Layer that the item belongs to.
    pub layer: MibLayer,
    /// Parameter, status or error.
    pub kind: MibKind,
    /// Access to the item.
    pub access: MibAccess,
    /// Whether the item exists once, per lane, or per virtual channel.
    pub scope: MibScope,
    /// Smallest value.
    pub min: u64,
    /// Largest value.
    pub max: u64,
    /// Unit of the value; empty for a plain number.
    pub unit: &'static str,
    /// Names of the values from 0 on; empty if they have none.
    pub values: &'static [&'static str],
    /// Meaning of the value.
    pub doc: &'static str,
}

impl MibItem {
    /// Description of the item.
    pub const fn info(self) -> &'static MibInfo {
        &MIB_ITEMS[self as usize]
    }
}

/// All items; item number N is at index N.
pub static MIB_ITEMS: [MibInfo; 59] = [
    MibInfo {
        item: MibItem::VirtualNetwork,
        title: "Virtual Network Number",
        layer: MibLayer::Network,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Vc,
        min: 0,
        max: 0x3f,
        unit: "",
        values: &[],
        doc: "Virtual network of a virtual channel; fixed to 0 on channel 0.",
    },
    MibInfo {
        item: MibItem::BroadcastChannel,
        title: "Broadcast Channel",
        layer: MibLayer::Network,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 0,
        max: 0xff,
        unit: "",
        values: &[],
        doc: "Channel on which a node sends broadcast messages.",
    },
    MibInfo {
        item: MibItem::InterfaceReset,
        title: "Interface Reset",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Command,
        scope: MibScope::Link,
        min: 1,
        max: 1,
        unit: "",
        values: &[],
        doc: "Resets the link, and sets the parameters to their power-on values.",
    },
    MibInfo {
        item: MibItem::LinkReset,
        title: "Link Reset",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Command,
        scope: MibScope::Link,
        min: 1,
        max: 1,
        unit: "",
        values: &[],
        doc: "Resets both ends of the link.",
    },
    MibInfo {
        item: MibItem::DataScrambled,
        title: "Data Scrambled",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: data frames are scrambled. Takes effect at the next link reset.",
    },
    MibInfo {
        item: MibItem::ExpectedBroadcastBandwidth,
        title: "Expected Broadcast Bandwidth",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 0,
        max: 0xffff,
        unit: "1/65536",
        values: &[],
        doc: "Share of the link's bandwidth for broadcast messages.",
    },
    MibInfo {
        item: MibItem::Priority,
        title: "Priority",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Vc,
        min: 0,
        max: 0xf,
        unit: "",
        values: &[],
        doc: "Priority of the virtual channel; 0 is the highest.",
    },
    MibInfo {
        item: MibItem::ExpectedBandwidth,
        title: "Expected Bandwidth",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Vc,
        min: 0,
        max: 0xffff,
        unit: "1/65536",
        values: &[],
        doc: "Share of the link's bandwidth; 65535 is the whole link, 0 stops the channel.",
    },
    MibInfo {
        item: MibItem::TimeSlots,
        title: "Time-slots",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Vc,
        min: 0,
        max: 0xffffffffffffffff,
        unit: "mask",
        values: &[],
        doc: "Bit T: the channel may send in time-slot T.",
    },
    MibInfo {
        item: MibItem::ContinuousMode,
        title: "Continuous Mode",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: writes to the channel never wait for room.",
    },
    MibInfo {
        item: MibItem::IdleTimeLimit,
        title: "Idle Time Limit",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 0,
        max: 0xffffffff,
        unit: "rows",
        values: &[],
        doc: "Full bandwidth credit for longer than this counts as under-use.",
    },
    MibInfo {
        item: MibItem::BandwidthCreditLimit,
        title: "Bandwidth Credit Limit",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 1,
        max: 0x1000000,
        unit: "rows",
        values: &[],
        doc: "Maximum bandwidth credit; fixed when the link is created.",
    },
    MibInfo {
        item: MibItem::MinimumBandwidthCreditThreshold,
        title: "Minimum Bandwidth Credit Threshold",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0xa,
        unit: "-1/10",
        values: &[],
        doc: "In tenths of the credit limit, below zero; fixed when the link is created.",
    },
    MibInfo {
        item: MibItem::FctMultiplier,
        title: "FCT Multiplier",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 1,
        max: 8,
        unit: "64 words",
        values: &[],
        doc: "Words that an FCT grants; fixed when the link is created.",
    },
    MibInfo {
        item: MibItem::SegmentMultiplier,
        title: "Segment Multiplier",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 1,
        max: 0x10,
        unit: "64 words",
        values: &[],
        doc: "Maximum length of a data frame; fixed when the link is created.",
    },
    MibInfo {
        item: MibItem::TxEn,
        title: "TxEn",
        layer: MibLayer::MultiLane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the transmitter of the lane is enabled.",
    },
    MibInfo {
        item: MibItem::RxEn,
        title: "RxEn",
        layer: MibLayer::MultiLane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the receiver of the lane is enabled.",
    },
    MibInfo {
        item: MibItem::MaxDataSendingLanes,
        title: "Maximum Number of Data-Sending Lanes",
        layer: MibLayer::MultiLane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 1,
        max: 0x10,
        unit: "lanes",
        values: &[],
        doc: "No more than the number of lanes. Takes effect at a link reset, and while no lane is active.",
    },
    MibInfo {
        item: MibItem::Bypass,
        title: "Bypass",
        layer: MibLayer::MultiLane,
        kind: MibKind::Parameter,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the link is a plain single lane on lane 0, by configuration or because the far end needs it.",
    },
    MibInfo {
        item: MibItem::LaneStart,
        title: "LaneStart",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: start the lane, and keep trying.",
    },
    MibInfo {
        item: MibItem::AutoStart,
        title: "AutoStart",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: start the lane when the far end starts.",
    },
    MibInfo {
        item: MibItem::LaneReset,
        title: "LaneReset",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: hold the lane in ClearLine.",
    },
    MibInfo {
        item: MibItem::NearEndParallelLoopback,
        title: "Near-End Parallel Loopback",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the lane receives its own words.",
    },
    MibInfo {
        item: MibItem::FarEndParallelLoopback,
        title: "Far-End Parallel Loopback",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the lane sends back the words it receives.",
    },
    MibInfo {
        item: MibItem::StandbyReason,
        title: "Standby Reason",
        layer: MibLayer::Lane,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 0xff,
        unit: "",
        values: &[],
        doc: "Reason that the lane sends in STANDBY.",
    },
    MibInfo {
        item: MibItem::NearEndSerialLoopback,
        title: "Near-End Serial Loopback",
        layer: MibLayer::Physical,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the lane receives its own bits.",
    },
    MibInfo {
        item: MibItem::FarEndSerialLoopback,
        title: "Far-End Serial Loopback",
        layer: MibLayer::Physical,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the lane sends back the bits it receives.",
    },
    MibInfo {
        item: MibItem::HasCredit,
        title: "Has Credit",
        layer: MibLayer::DataLink,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the channel has FCT credit.",
    },
    MibInfo {
        item: MibItem::InputBufferOverflow,
        title: "Input Buffer Overflow",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "A frame did not fit the input buffer. This resets the link.",
    },
    MibInfo {
        item: MibItem::FctCreditOverflow,
        title: "FCT Credit Overflow",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "FCTs took the credit above its limit.",
    },
    MibInfo {
        item: MibItem::BandwidthOverUse,
        title: "Bandwidth Over-use",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The channel sent far more than its expected bandwidth.",
    },
    MibInfo {
        item: MibItem::BandwidthUnderUse,
        title: "Bandwidth Under-use",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Vc,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The channel had full bandwidth credit for longer than the idle time limit.",
    },
    MibInfo {
        item: MibItem::Crc16Error,
        title: "CRC-16 Error",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "A data frame had a wrong CRC-16.",
    },
    MibInfo {
        item: MibItem::Crc8Error,
        title: "CRC-8 Error",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "A broadcast frame or a single word had a wrong CRC-8.",
    },
    MibInfo {
        item: MibItem::FrameError,
        title: "Frame Error",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "A word came where the standard does not allow it.",
    },
    MibInfo {
        item: MibItem::SequenceError,
        title: "Sequence Error",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "A sequence number was not the expected one.",
    },
    MibInfo {
        item: MibItem::ErrorRecoveryBufferEmpty,
        title: "Error Recovery Buffer Empty",
        layer: MibLayer::DataLink,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: everything sent is acknowledged.",
    },
    MibInfo {
        item: MibItem::ErrorRecoveryAttempts,
        title: "Error Recovery Attempts",
        layer: MibLayer::DataLink,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0xffffffffffffffff,
        unit: "NACKs",
        values: &[],
        doc: "Number of valid NACKs received.",
    },
    MibInfo {
        item: MibItem::ProtocolError,
        title: "Link Reset Caused by Protocol Error",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "An ACK or NACK matched no outstanding item.",
    },
    MibInfo {
        item: MibItem::FarEndLinkReset,
        title: "Far-End Link Reset",
        layer: MibLayer::DataLink,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The far end asked for a link reset.",
    },
    MibInfo {
        item: MibItem::CurrentTimeSlot,
        title: "Current Time-slot",
        layer: MibLayer::DataLink,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0x3f,
        unit: "",
        values: &[],
        doc: "Time-slot of the last SCHEDULE.request; 0 before the first.",
    },
    MibInfo {
        item: MibItem::DataSendingLanes,
        title: "Data-Sending Lanes",
        layer: MibLayer::MultiLane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0xffff,
        unit: "mask",
        values: &[],
        doc: "Bit L: lane L carries rows.",
    },
    MibInfo {
        item: MibItem::DataReceivingLanes,
        title: "Data-Receiving Lanes",
        layer: MibLayer::MultiLane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0xffff,
        unit: "mask",
        values: &[],
        doc: "Bit L: lane L delivers rows.",
    },
    MibInfo {
        item: MibItem::AlignmentState,
        title: "Alignment State",
        layer: MibLayer::MultiLane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 2,
        unit: "",
        values: &["Not Ready", "Near-End Ready", "Both-Ends Ready"],
        doc: "0 Not Ready, 1 Near-End Ready, 2 Both-Ends Ready.",
    },
    MibInfo {
        item: MibItem::MisalignedEvents,
        title: "Misaligned Events",
        layer: MibLayer::MultiLane,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Link,
        min: 0,
        max: 0xffffffff,
        unit: "events",
        values: &[],
        doc: "Number of times that alignment started again.",
    },
    MibInfo {
        item: MibItem::LaneState,
        title: "Lane State",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 9,
        unit: "",
        values: &["ClearLine", "Disabled", "Wait", "Started", "InvertRxPolarity", "Connecting", "Connected", "Active", "PrepareStandby", "LossOfSignal"],
        doc: "0 ClearLine to 9 LossOfSignal.",
    },
    MibInfo {
        item: MibItem::RxerrCount,
        title: "RXERR Count",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 0xff,
        unit: "words",
        values: &[],
        doc: "The leaky counter of RXERR words.",
    },
    MibInfo {
        item: MibItem::RxerrOverflow,
        title: "RXERR Overflow",
        layer: MibLayer::Lane,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The RXERR counter reached 255.",
    },
    MibInfo {
        item: MibItem::FarEndStandby,
        title: "Far-End Standby",
        layer: MibLayer::Lane,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The far end went into standby.",
    },
    MibInfo {
        item: MibItem::FarEndStandbyReason,
        title: "Far-End Standby Reason",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 0xff,
        unit: "",
        values: &[],
        doc: "Reason in the STANDBY words of the far end.",
    },
    MibInfo {
        item: MibItem::Timeout,
        title: "Timeout",
        layer: MibLayer::Lane,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The initialisation timer expired.",
    },
    MibInfo {
        item: MibItem::FarEndLostSignal,
        title: "Far-End Lost Signal",
        layer: MibLayer::Lane,
        kind: MibKind::Error,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "The far end sent LOST_SIGNAL.",
    },
    MibInfo {
        item: MibItem::FarEndLostSignalCause,
        title: "Far-End Lost Signal Cause",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 3,
        unit: "",
        values: &[],
        doc: "Cause in the LOST_SIGNAL words of the far end: 0 no signal, 1 RXERR counter, 2 INIT1.",
    },
    MibInfo {
        item: MibItem::FarEndCapabilities,
        title: "Far-End Capabilities",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 0xff,
        unit: "mask",
        values: &[],
        doc: "Capability field of the last INIT3; 0 before the first one.",
    },
    MibInfo {
        item: MibItem::RxPolarity,
        title: "RX Polarity",
        layer: MibLayer::Lane,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the received bits are inverted.",
    },
    MibInfo {
        item: MibItem::NoSignal,
        title: "No Signal",
        layer: MibLayer::Physical,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the receiver has no signal.",
    },
    MibInfo {
        item: MibItem::BitSync,
        title: "Bit Synchronised",
        layer: MibLayer::Physical,
        kind: MibKind::Status,
        access: MibAccess::Ro,
        scope: MibScope::Lane,
        min: 0,
        max: 1,
        unit: "",
        values: &[],
        doc: "1: the receiver has found the word boundary.",
    },
    MibInfo {
        item: MibItem::Schedule,
        title: "Schedule",
        layer: MibLayer::DataLink,
        kind: MibKind::Parameter,
        access: MibAccess::Command,
        scope: MibScope::Link,
        min: 0,
        max: 0x3f,
        unit: "",
        values: &[],
        doc: "SCHEDULE.request (6.3.4): the time-slot that begins.",
    },
    MibInfo {
        item: MibItem::ScheduleType,
        title: "Schedule Type",
        layer: MibLayer::Network,
        kind: MibKind::Parameter,
        access: MibAccess::Rw,
        scope: MibScope::Link,
        min: 0,
        max: 0x100,
        unit: "",
        values: &[],
        doc: "Type of the broadcast messages that begin a time-slot, sent or received: bits 5:0 of their first byte. 256: none.",
    },
];
