/// magic
pub const CONTRACT_MAGIC: u32 = 1397769797;
/// major
pub const CONTRACT_VERSION_MAJOR: u16 = 1;
/// minor
pub const CONTRACT_VERSION_MINOR: u16 = 0;
/// Size of every ring entry, submission or completion.
pub const ENTRY_BYTES: u64 = 16;
/// Smallest ring: 4 entries, one cache line of 64 bytes.
pub const RING_LOG2_MIN: u64 = 2;
/// Largest ring: 32768 entries, so a 16-bit ring position is never ambiguous.
pub const RING_LOG2_MAX: u64 = 15;
/// Low bits of the 16-bit region field of an entry: index into the memory-region table.
pub const REGION_INDEX_BITS: u64 = 12;
/// High bits of the region field: generation of that index, so that an entry naming a revoked region is caught.
pub const REGION_GENERATION_BITS: u64 = 4;
/// Bits of the byte offset inside a region.
pub const OFFSET_BITS: u64 = 48;
/// Most bytes one inline entry carries (8 in the address word, 3 in the length word): a SpaceFibre path address.
pub const INLINE_MAX_BYTES: u64 = 11;
/// Most entries one packet may be gathered from; a longer chain is CHAIN_TOO_LONG.
pub const CHAIN_MAX: u64 = 16;
/// Most packets one burst entry describes.
pub const BURST_MAX: u64 = 65535;
/// Longest piece one entry may describe (1 GiB). Longer packets are sent as pieces with end marker NONE.
pub const PACKET_MAX_BYTES: u64 = 1073741824;
/// Records of a packed receive area start at multiples of this many bytes.
pub const PACKED_ALIGN: u64 = 8;
/// Size of the header in front of each record of a packed receive area.
pub const PACKED_HEADER_BYTES: u64 = 8;
/// Smallest packed receive area; larger areas are multiples of 8 bytes up to 1 GiB.
pub const PACKED_AREA_MIN_BYTES: u64 = 4096;
/// Most virtual channels of one SpaceFibre port (ECSS-E-ST-50-11C: VC 0 to 31).
pub const VC_MAX: u64 = 32;
/// Bytes from one client's doorbell page to the next; 65536 where CAP_DOORBELL_64K is set.
pub const DOORBELL_STRIDE: u64 = 4096;
/// What a submission entry asks for (bits 3:0 of its flags).
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum EntryType {
/// Never valid; an all-zero entry is an error, not a transfer.
Invalid = 0,
/// Transmit: bytes at an address.
Data = 1,
/// Transmit: up to 11 bytes carried in the entry itself.
Inline = 2,
/// Transmit: count packets of one length at a stride; followed by one BURST_EXT entry.
Burst = 3,
/// Second half of a burst.
BurstExt = 4,
/// Receive: one buffer to fill.
Buffer = 5,
/// Packed and message receive: gives bytes and completion credits back.
Release = 6,
/// Transmit: one broadcast message or time-code.
Message = 7,
/// Reserved for RDMA work requests with extension entries.
Rdma = 8,
}
impl EntryType {
/// all
pub const ALL: &[Self] = &[Self::Invalid,Self::Data,Self::Inline,Self::Burst,Self::BurstExt,Self::Buffer,Self::Release,Self::Message,Self::Rdma];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Invalid), 1 => Some(Self::Data), 2 => Some(Self::Inline), 3 => Some(Self::Burst), 4 => Some(Self::BurstExt), 5 => Some(Self::Buffer), 6 => Some(Self::Release), 7 => Some(Self::Message), 8 => Some(Self::Rdma), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Invalid => "INVALID", Self::Data => "DATA", Self::Inline => "INLINE", Self::Burst => "BURST", Self::BurstExt => "BURST_EXT", Self::Buffer => "BUFFER", Self::Release => "RELEASE", Self::Message => "MESSAGE", Self::Rdma => "RDMA", } }
}
/// How a packet or a piece of one ends (ECSS-E-ST-50-11C 5.3.7).
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum EndMarker {
/// End of packet.
Eop = 0,
/// Error end of packet: the packet was cut by an error.
Eep = 1,
/// No end marker: the packet goes on in the next entry, buffer or record.
None = 2,
}
impl EndMarker {
/// all
pub const ALL: &[Self] = &[Self::Eop,Self::Eep,Self::None];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Eop), 1 => Some(Self::Eep), 2 => Some(Self::None), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Eop => "EOP", Self::Eep => "EEP", Self::None => "NONE", } }
}
/// What a queue context does.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum QueueKind {
/// Unused context.
None = 0,
/// Packets to one virtual channel.
Tx = 1,
/// Packets from one virtual channel into posted buffers.
Rx = 2,
/// Packets from one virtual channel, back to back in one area.
RxPacked = 3,
/// Broadcast messages or time-codes out.
MessageTx = 4,
/// Broadcast messages or time-codes in.
MessageRx = 5,
}
impl QueueKind {
/// all
pub const ALL: &[Self] = &[Self::None,Self::Tx,Self::Rx,Self::RxPacked,Self::MessageTx,Self::MessageRx];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::None), 1 => Some(Self::Tx), 2 => Some(Self::Rx), 3 => Some(Self::RxPacked), 4 => Some(Self::MessageTx), 5 => Some(Self::MessageRx), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::None => "NONE", Self::Tx => "TX", Self::Rx => "RX", Self::RxPacked => "RX_PACKED", Self::MessageTx => "MESSAGE_TX", Self::MessageRx => "MESSAGE_RX", } }
}
/// What a port speaks.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum PortKind {
/// No port.
None = 0,
/// SpaceFibre port: virtual channels and broadcast messages.
Spacefibre = 1,
/// SpaceWire port: one channel and time-codes.
Spacewire = 2,
/// PCIe fabric port.
Fabric = 3,
}
impl PortKind {
/// all
pub const ALL: &[Self] = &[Self::None,Self::Spacefibre,Self::Spacewire,Self::Fabric];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::None), 1 => Some(Self::Spacefibre), 2 => Some(Self::Spacewire), 3 => Some(Self::Fabric), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::None => "NONE", Self::Spacefibre => "SPACEFIBRE", Self::Spacewire => "SPACEWIRE", Self::Fabric => "FABRIC", } }
}
/// Link state as software needs it; the lane and link state machines are in the port's MIB.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum PortState {
/// Not connected or disabled.
Down = 0,
/// Initialising.
Starting = 1,
/// Moving packets.
Up = 2,
}
impl PortState {
/// all
pub const ALL: &[Self] = &[Self::Down,Self::Starting,Self::Up];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Down), 1 => Some(Self::Starting), 2 => Some(Self::Up), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Down => "DOWN", Self::Starting => "STARTING", Self::Up => "UP", } }
}
/// State of a queue context.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum QueueState {
/// Not configured, or disabled; the rings belong to the host.
Disabled = 0,
/// Working.
Enabled = 1,
/// The rings could not be read; destroy and create the queue again.
Error = 2,
}
impl QueueState {
/// all
pub const ALL: &[Self] = &[Self::Disabled,Self::Enabled,Self::Error];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Disabled), 1 => Some(Self::Enabled), 2 => Some(Self::Error), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Disabled => "DISABLED", Self::Enabled => "ENABLED", Self::Error => "ERROR", } }
}
/// What a message entry carries.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum MessageKind {
/// SpaceFibre broadcast message (ECSS-E-ST-50-11C 5.7.5).
Broadcast = 1,
/// SpaceWire time-code (ECSS-E-ST-50-12C).
TimeCode = 2,
}
impl MessageKind {
/// all
pub const ALL: &[Self] = &[Self::Broadcast,Self::TimeCode];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 1 => Some(Self::Broadcast), 2 => Some(Self::TimeCode), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Broadcast => "BROADCAST", Self::TimeCode => "TIME_CODE", } }
}
/// Type of a register block; the list starts at offset 0 and is linked by the next field.
#[repr(u16)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum BlockType {
/// No block.
End = 0,
/// Identity, capabilities, configuration latch, reset.
Global = 1,
/// One per port.
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
}
impl BlockType {
/// all
pub const ALL: &[Self] = &[Self::End,Self::Global,Self::Port,Self::Queue,Self::Region,Self::Event,Self::Broadcast,Self::TimeCode,Self::Statistics];
/// from
pub const fn from_raw(v: u16) -> Option<Self> { match v { 0 => Some(Self::End), 1 => Some(Self::Global), 2 => Some(Self::Port), 3 => Some(Self::Queue), 4 => Some(Self::Region), 5 => Some(Self::Event), 6 => Some(Self::Broadcast), 7 => Some(Self::TimeCode), 8 => Some(Self::Statistics), _ => None } }
/// raw
pub const fn raw(self) -> u16 { self as u16 }
/// name
pub const fn name(self) -> &'static str { match self { Self::End => "END", Self::Global => "GLOBAL", Self::Port => "PORT", Self::Queue => "QUEUE", Self::Region => "REGION", Self::Event => "EVENT", Self::Broadcast => "BROADCAST", Self::TimeCode => "TIME_CODE", Self::Statistics => "STATISTICS", } }
}
/// What the configuration latch of the global block does when CFG_SEQ changes.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum Command {
/// Acknowledge only.
Nop = 0,
/// Read the queue context named by CFG_INDEX and start it.
QueueEnable = 1,
/// Stop the queue; when acknowledged the device touches its rings and buffers no more.
QueueDisable = 2,
/// Read the region entry named by CFG_INDEX and make it usable.
RegionEnable = 3,
/// Revoke the region; when acknowledged no access is in flight.
RegionDisable = 4,
/// Apply the configuration of the port named by CFG_INDEX.
PortConfigure = 5,
/// Stop every queue and revoke every region.
Reset = 6,
}
impl Command {
/// all
pub const ALL: &[Self] = &[Self::Nop,Self::QueueEnable,Self::QueueDisable,Self::RegionEnable,Self::RegionDisable,Self::PortConfigure,Self::Reset];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Nop), 1 => Some(Self::QueueEnable), 2 => Some(Self::QueueDisable), 3 => Some(Self::RegionEnable), 4 => Some(Self::RegionDisable), 5 => Some(Self::PortConfigure), 6 => Some(Self::Reset), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Nop => "NOP", Self::QueueEnable => "QUEUE_ENABLE", Self::QueueDisable => "QUEUE_DISABLE", Self::RegionEnable => "REGION_ENABLE", Self::RegionDisable => "REGION_DISABLE", Self::PortConfigure => "PORT_CONFIGURE", Self::Reset => "RESET", } }
}
/// Outcome of a submission. The class says whose fault it was.
#[repr(u8)]
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum Status {
/// Done.
Ok = 0,
/// Cancelled by its owner before it started.
Cancelled = 16,
/// The device was reset while the submission was pending.
DeviceReset = 17,
/// The device or its daemon is gone.
DeviceGone = 18,
/// The device has no free queue, region or memory for it.
NoResources = 19,
/// Another owner holds the object.
Busy = 20,
/// The far end went away with the packet unfinished.
PeerGone = 32,
/// The link went down and the submission was not delivered.
LinkDown = 48,
/// The packet ended with EEP.
PacketCut = 49,
/// The entry type is unknown or not allowed on this queue.
BadOpcode = 64,
/// The region was never registered, was revoked, or belongs to another client.
BadRegion = 65,
/// Offset plus length goes past the end of the region.
OutOfBounds = 66,
/// The region does not allow this kind of access.
AccessDenied = 67,
/// A packet or buffer of zero bytes.
Empty = 68,
/// Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.
TooLong = 69,
/// More than CHAIN_MAX entries before the end of the packet.
ChainTooLong = 70,
/// The port has no such virtual channel.
BadVc = 71,
/// A field that must be zero is not, or a value is out of its range.
BadField = 72,
/// Ring address, size or alignment is not acceptable.
BadRing = 73,
/// Host and device speak different major versions of this contract.
BadVersion = 74,
/// No such endpoint, port or queue.
NotFound = 75,
}
impl Status {
/// all
pub const ALL: &[Self] = &[Self::Ok,Self::Cancelled,Self::DeviceReset,Self::DeviceGone,Self::NoResources,Self::Busy,Self::PeerGone,Self::LinkDown,Self::PacketCut,Self::BadOpcode,Self::BadRegion,Self::OutOfBounds,Self::AccessDenied,Self::Empty,Self::TooLong,Self::ChainTooLong,Self::BadVc,Self::BadField,Self::BadRing,Self::BadVersion,Self::NotFound];
/// from
pub const fn from_raw(v: u8) -> Option<Self> { match v { 0 => Some(Self::Ok), 16 => Some(Self::Cancelled), 17 => Some(Self::DeviceReset), 18 => Some(Self::DeviceGone), 19 => Some(Self::NoResources), 20 => Some(Self::Busy), 32 => Some(Self::PeerGone), 48 => Some(Self::LinkDown), 49 => Some(Self::PacketCut), 64 => Some(Self::BadOpcode), 65 => Some(Self::BadRegion), 66 => Some(Self::OutOfBounds), 67 => Some(Self::AccessDenied), 68 => Some(Self::Empty), 69 => Some(Self::TooLong), 70 => Some(Self::ChainTooLong), 71 => Some(Self::BadVc), 72 => Some(Self::BadField), 73 => Some(Self::BadRing), 74 => Some(Self::BadVersion), 75 => Some(Self::NotFound), _ => None } }
/// raw
pub const fn raw(self) -> u8 { self as u8 }
/// name
pub const fn name(self) -> &'static str { match self { Self::Ok => "OK", Self::Cancelled => "CANCELLED", Self::DeviceReset => "DEVICE_RESET", Self::DeviceGone => "DEVICE_GONE", Self::NoResources => "NO_RESOURCES", Self::Busy => "BUSY", Self::PeerGone => "PEER_GONE", Self::LinkDown => "LINK_DOWN", Self::PacketCut => "PACKET_CUT", Self::BadOpcode => "BAD_OPCODE", Self::BadRegion => "BAD_REGION", Self::OutOfBounds => "OUT_OF_BOUNDS", Self::AccessDenied => "ACCESS_DENIED", Self::Empty => "EMPTY", Self::TooLong => "TOO_LONG", Self::ChainTooLong => "CHAIN_TOO_LONG", Self::BadVc => "BAD_VC", Self::BadField => "BAD_FIELD", Self::BadRing => "BAD_RING", Self::BadVersion => "BAD_VERSION", Self::NotFound => "NOT_FOUND", } }
/// class
pub const fn class(self) -> StatusClass { match self { Self::Ok => StatusClass::Ok, Self::Cancelled => StatusClass::Local, Self::DeviceReset => StatusClass::Local, Self::DeviceGone => StatusClass::Local, Self::NoResources => StatusClass::Local, Self::Busy => StatusClass::Local, Self::PeerGone => StatusClass::Remote, Self::LinkDown => StatusClass::Link, Self::PacketCut => StatusClass::Link, Self::BadOpcode => StatusClass::Usage, Self::BadRegion => StatusClass::Usage, Self::OutOfBounds => StatusClass::Usage, Self::AccessDenied => StatusClass::Usage, Self::Empty => StatusClass::Usage, Self::TooLong => StatusClass::Usage, Self::ChainTooLong => StatusClass::Usage, Self::BadVc => StatusClass::Usage, Self::BadField => StatusClass::Usage, Self::BadRing => StatusClass::Usage, Self::BadVersion => StatusClass::Usage, Self::NotFound => StatusClass::Usage, } }
/// errno
pub const fn errno(self) -> i32 { match self { Self::Ok => 0, Self::Cancelled => 125, Self::DeviceReset => 108, Self::DeviceGone => 19, Self::NoResources => 12, Self::Busy => 16, Self::PeerGone => 32, Self::LinkDown => 100, Self::PacketCut => 5, Self::BadOpcode => 95, Self::BadRegion => 13, Self::OutOfBounds => 14, Self::AccessDenied => 1, Self::Empty => 22, Self::TooLong => 90, Self::ChainTooLong => 7, Self::BadVc => 6, Self::BadField => 22, Self::BadRing => 22, Self::BadVersion => 93, Self::NotFound => 2, } }
/// errno
pub const fn errno_name(self) -> &'static str { match self { Self::Ok => "0", Self::Cancelled => "ECANCELED", Self::DeviceReset => "ESHUTDOWN", Self::DeviceGone => "ENODEV", Self::NoResources => "ENOMEM", Self::Busy => "EBUSY", Self::PeerGone => "EPIPE", Self::LinkDown => "ENETDOWN", Self::PacketCut => "EIO", Self::BadOpcode => "EOPNOTSUPP", Self::BadRegion => "EACCES", Self::OutOfBounds => "EFAULT", Self::AccessDenied => "EPERM", Self::Empty => "EINVAL", Self::TooLong => "EMSGSIZE", Self::ChainTooLong => "E2BIG", Self::BadVc => "ENXIO", Self::BadField => "EINVAL", Self::BadRing => "EINVAL", Self::BadVersion => "EPROTONOSUPPORT", Self::NotFound => "ENOENT", } }
/// doc
pub const fn doc(self) -> &'static str { match self { Self::Ok => "Done.", Self::Cancelled => "Cancelled by its owner before it started.", Self::DeviceReset => "The device was reset while the submission was pending.", Self::DeviceGone => "The device or its daemon is gone.", Self::NoResources => "The device has no free queue, region or memory for it.", Self::Busy => "Another owner holds the object.", Self::PeerGone => "The far end went away with the packet unfinished.", Self::LinkDown => "The link went down and the submission was not delivered.", Self::PacketCut => "The packet ended with EEP.", Self::BadOpcode => "The entry type is unknown or not allowed on this queue.", Self::BadRegion => "The region was never registered, was revoked, or belongs to another client.", Self::OutOfBounds => "Offset plus length goes past the end of the region.", Self::AccessDenied => "The region does not allow this kind of access.", Self::Empty => "A packet or buffer of zero bytes.", Self::TooLong => "Longer than PACKET_MAX_BYTES, or a burst of 4 GiB or more.", Self::ChainTooLong => "More than CHAIN_MAX entries before the end of the packet.", Self::BadVc => "The port has no such virtual channel.", Self::BadField => "A field that must be zero is not, or a value is out of its range.", Self::BadRing => "Ring address, size or alignment is not acceptable.", Self::BadVersion => "Host and device speak different major versions of this contract.", Self::NotFound => "No such endpoint, port or queue.", } }
}
/// class
#[derive(Clone,Copy,Debug,PartialEq,Eq,Hash)]
pub enum StatusClass {
/// ok
Ok,
/// l
Local,
/// r
Remote,
/// l
Link,
/// u
Usage}
/// Flags of a submission entry.
pub mod submit_flags {
/// s
pub const TYPE_SHIFT: u32 = 0;
/// entry_type.
pub const TYPE_MASK: u16 = 15;
/// Write a completion when done; one completion frees every earlier entry. Errors are always signalled.
pub const SIGNAL: u16 = 1 << 4;
/// Last entry of a group: publish completions and receive runs now.
pub const LAST: u16 = 1 << 5;
/// The packet goes on in the next entry of this ring (gather).
pub const CHAIN: u16 = 1 << 6;
/// s
pub const END_SHIFT: u32 = 7;
/// end_marker.
pub const END_MASK: u16 = 384;
/// Start only after everything before it is done. Transmit queues are in order, so this matters for RDMA only.
pub const FENCE: u16 = 1 << 9;
/// s
pub const MBZ_SHIFT: u32 = 10;
/// Must be zero.
pub const MBZ_MASK: u16 = 64512;
}
/// Flags of a completion entry.
pub mod completion_flags {
/// s
pub const END_SHIFT: u32 = 0;
/// end_marker of the packet or piece (posted receive).
pub const END_MASK: u16 = 3;
/// The packet goes on in the next buffer (posted receive).
pub const MORE: u16 = 1 << 2;
/// Not to be reported before the time in the side array (paced virtual links).
pub const TIMED: u16 = 1 << 3;
/// The side array holds a time for this completion.
pub const STAMPED: u16 = 1 << 4;
/// This run starts at offset 0 of the packed area; the bytes from the end of the last run to the end of the area are unused.
pub const WRAP: u16 = 1 << 5;
/// Messages were dropped before this one because the ring was full (message receive only).
pub const LOST: u16 = 1 << 6;
}
/// Flags of a record header in a packed receive area.
pub mod record_flags {
/// The packet goes on in the next record.
pub const MORE: u8 = 1 << 0;
}
/// Status of a broadcast message (ECSS-E-ST-50-11C 5.8.9).
pub mod message_flags {
/// The message was sent late because a retry held it up.
pub const LATE: u8 = 1 << 0;
/// The message waited for another broadcast message.
pub const DELAYED: u8 = 1 << 1;
}
/// Optional features; query, never assume.
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
/// Regions are given as bus addresses (page lists), not as shared memory.
pub const IOVA: u32 = 1 << 5;
/// RESET while busy completes pending submissions with DEVICE_RESET.
pub const RESET: u32 = 1 << 6;
}
/// What a device may do with a memory region (values of InfiniBand verbs where they exist).
pub mod access {
/// The device may write (receive into it).
pub const LOCAL_WRITE: u32 = 1 << 0;
/// RDMA write from a peer.
pub const REMOTE_WRITE: u32 = 1 << 1;
/// RDMA read from a peer.
pub const REMOTE_READ: u32 = 1 << 2;
/// The device may read (transmit from it).
pub const LOCAL_READ: u32 = 1 << 8;
}
/// Options of a queue context.
pub mod queue_options {
/// Write a timestamp for every completion.
pub const STAMP: u32 = 1 << 0;
/// Completions in submission order (always so today).
pub const RETURN_IN_ORDER: u32 = 1 << 1;
}
/// What the host waits for; any condition that is met wakes.
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
/// The 64-bit store to a doorbell page. A hint: what is to be done is in the rings.
pub mod doorbell {
/// s
pub const QUEUE_SHIFT: u32 = 0;
/// Queue context index.
pub const QUEUE_MASK: u64 = 65535;
/// s
pub const KIND_SHIFT: u32 = 16;
/// 0 submissions, 1 completion queue armed, 2 configuration latch.
pub const KIND_MASK: u64 = 16711680;
/// s
pub const INDEX_SHIFT: u32 = 32;
/// Free-running producer index (submissions) or arm sequence (armed).
pub const INDEX_MASK: u64 = 18446744069414584320;
}
/// DATA and BUFFER entry: transmit from, or receive into, an address.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct Submission {
/// Byte offset in the region.
pub offset: u64,
/// Region: index (12 bits) and generation (4 bits).
pub region: u16,
/// Bytes.
pub length: u32,
/// submit_flags.
pub flags: u16,
/// Lap number of the ring position, from 1; the entry is valid when it matches.
pub phase: u16,
}
impl Submission {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.offset as u64) & 0xffffffffffff) << 0 | ((self.region as u64) & 0xffff) << 48,
((self.length as u64) & 0xffffffff) << 0 | ((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {offset: ((w[0] >> 0) & 0xffffffffffff) as u64, region: ((w[0] >> 48) & 0xffff) as u16, length: ((w[1] >> 0) & 0xffffffff) as u32, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// INLINE entry: up to 11 bytes in the entry.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct InlineSubmission {
/// Bytes 0 to 7, byte 0 in the least significant byte.
pub data_lo: u64,
/// Bytes used, 1 to 11.
pub count: u8,
/// Bytes 8 to 10.
pub data_hi: u32,
/// submit_flags.
pub flags: u16,
/// Lap number.
pub phase: u16,
}
impl InlineSubmission {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.data_lo as u64) & 0xffffffffffffffff) << 0,
((self.count as u64) & 0xff) << 0 | ((self.data_hi as u64) & 0xffffff) << 8 | ((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {data_lo: ((w[0] >> 0) & 0xffffffffffffffff) as u64, count: ((w[1] >> 0) & 0xff) as u8, data_hi: ((w[1] >> 8) & 0xffffff) as u32, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// Second entry of a BURST: the first is a submission with the address and length of packet 0.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct BurstExt {
/// Bytes from the start of one packet to the next; 0 sends the same bytes again.
pub stride: u32,
/// Packets, 1 to 65535.
pub count: u16,
/// Must be zero.
pub reserved0: u64,
/// submit_flags with TYPE = BURST_EXT.
pub flags: u16,
/// Lap number.
pub phase: u16,
}
impl BurstExt {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.stride as u64) & 0xffffffff) << 0 | ((self.count as u64) & 0xffff) << 32 | ((self.reserved0 as u64) & 0xffffffffffff) << 48,
((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {stride: ((w[0] >> 0) & 0xffffffff) as u32, count: ((w[0] >> 32) & 0xffff) as u16, reserved0: ((w[0] >> 48) & 0xffffffffffff) as u64, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// RELEASE entry of packed and message receive.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct Release {
/// Bytes of the packed area given back, skipped tail included.
pub bytes: u32,
/// Completions consumed, 1 or more: the device may write as many again.
pub completions: u32,
/// Must be zero.
pub reserved0: u32,
/// submit_flags with TYPE = RELEASE.
pub flags: u16,
/// Lap number.
pub phase: u16,
}
impl Release {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.bytes as u64) & 0xffffffff) << 0 | ((self.completions as u64) & 0xffffffff) << 32,
((self.reserved0 as u64) & 0xffffffff) << 0 | ((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {bytes: ((w[0] >> 0) & 0xffffffff) as u32, completions: ((w[0] >> 32) & 0xffffffff) as u32, reserved0: ((w[1] >> 0) & 0xffffffff) as u32, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// Broadcast message or time-code: MESSAGE entry on the way out, completion-ring entry on the way in.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct Message {
/// Broadcast: the 8 data bytes, byte 0 least significant. Time-code: bits 5:0 time, 7:6 flags.
pub data: u64,
/// Broadcast channel number.
pub channel: u8,
/// Broadcast type.
pub r#type: u8,
/// message_kind.
pub kind: u8,
/// message_flags.
pub status: u8,
/// submit_flags (out) or completion_flags (in).
pub flags: u16,
/// Lap number.
pub phase: u16,
}
impl Message {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.data as u64) & 0xffffffffffffffff) << 0,
((self.channel as u64) & 0xff) << 0 | ((self.r#type as u64) & 0xff) << 8 | ((self.kind as u64) & 0xff) << 16 | ((self.status as u64) & 0xff) << 24 | ((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {data: ((w[0] >> 0) & 0xffffffffffffffff) as u64, channel: ((w[1] >> 0) & 0xff) as u8, r#type: ((w[1] >> 8) & 0xff) as u8, kind: ((w[1] >> 16) & 0xff) as u8, status: ((w[1] >> 24) & 0xff) as u8, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// Completion of one or more submissions of one queue.
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct Completion {
/// Bytes of all packets this completion reports; status detail where status is not OK.
pub bytes: u32,
/// Packets (posted receive: 1 per buffer; packed receive: records) this completion reports.
pub packets: u16,
/// Virtual channel.
pub vc: u8,
/// status.
pub status: u8,
/// Free-running position (mod 65536) of the last submission entry this completion frees.
pub position: u16,
/// Zero.
pub reserved0: u16,
/// completion_flags.
pub flags: u16,
/// Lap number.
pub phase: u16,
}
impl Completion {
/// words
#[inline(always)]
pub const fn to_words(self) -> [u64; 2] { [
((self.bytes as u64) & 0xffffffff) << 0 | ((self.packets as u64) & 0xffff) << 32 | ((self.vc as u64) & 0xff) << 48 | ((self.status as u64) & 0xff) << 56,
((self.position as u64) & 0xffff) << 0 | ((self.reserved0 as u64) & 0xffff) << 16 | ((self.flags as u64) & 0xffff) << 32 | ((self.phase as u64) & 0xffff) << 48,
] }
/// from
#[inline(always)]
pub const fn from_words(w: [u64; 2]) -> Self { Self {bytes: ((w[0] >> 0) & 0xffffffff) as u32, packets: ((w[0] >> 32) & 0xffff) as u16, vc: ((w[0] >> 48) & 0xff) as u8, status: ((w[0] >> 56) & 0xff) as u8, position: ((w[1] >> 0) & 0xffff) as u16, reserved0: ((w[1] >> 16) & 0xffff) as u16, flags: ((w[1] >> 32) & 0xffff) as u16, phase: ((w[1] >> 48) & 0xffff) as u16} }
}
/// In front of each record of a packed receive area; the next one starts at the next multiple of 8 bytes.
#[repr(C)]
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct RecordHeader {
/// Bytes of the record without header and padding.
pub length: u32,
/// end_marker.
pub end: u8,
/// record_flags.
pub flags: u8,
/// Zero.
pub reserved0: u16,
}
/// offsets
pub mod record_header {
/// Bytes of the record without header and padding.
pub const LENGTH_OFFSET: usize = 0;
/// end_marker.
pub const END_OFFSET: usize = 4;
/// record_flags.
pub const FLAGS_OFFSET: usize = 5;
/// Zero.
pub const RESERVED0_OFFSET: usize = 6;
}
/// Per queue, written by the host, read by the device: what the host waits for. Alone on its cache line.
#[repr(C, align(64))]
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct HostLine {
/// 0 not armed; otherwise the arm sequence number (odd numbers, +2 each time).
pub arm: u32,
/// arm_flags.
pub flags: u32,
/// Free-running completion position at or past which to wake.
pub want_count: u32,
/// Zero.
pub reserved0: u32,
/// Free-running count of received or sent bytes at or past which to wake.
pub want_bytes: u64,
/// Wake this long after the first completion at or past first_position.
pub after_first_ns: u64,
/// Free-running completion position of the first completion not yet reported to the application.
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
/// offsets
pub mod host_line {
/// 0 not armed; otherwise the arm sequence number (odd numbers, +2 each time).
pub const ARM_OFFSET: usize = 0;
/// arm_flags.
pub const FLAGS_OFFSET: usize = 4;
/// Free-running completion position at or past which to wake.
pub const WANT_COUNT_OFFSET: usize = 8;
/// Zero.
pub const RESERVED0_OFFSET: usize = 12;
/// Free-running count of received or sent bytes at or past which to wake.
pub const WANT_BYTES_OFFSET: usize = 16;
/// Wake this long after the first completion at or past first_position.
pub const AFTER_FIRST_NS_OFFSET: usize = 24;
/// Free-running completion position of the first completion not yet reported to the application.
pub const FIRST_POSITION_OFFSET: usize = 32;
/// Zero.
pub const RESERVED1_OFFSET: usize = 36;
/// Zero.
pub const RESERVED2_OFFSET: usize = 40;
/// Zero.
pub const RESERVED3_OFFSET: usize = 48;
/// Zero.
pub const RESERVED4_OFFSET: usize = 56;
}
/// Per queue, written by the device, read by the host. Alone on its cache line.
#[repr(C, align(64))]
#[derive(Clone,Copy,Debug,Default,PartialEq,Eq)]
pub struct DeviceLine {
/// Goes up by one at each wake-up; the word a host sleeps on (futex).
pub wake_seq: u32,
/// 1: the device sleeps; ring the doorbell after posting.
pub need_doorbell: u32,
/// queue_state.
pub state: u32,
/// status that stopped the queue, or 0.
pub error: u32,
/// Zero.
pub reserved0: u64,
/// Zero.
pub reserved1: u64,
/// Zero.
pub reserved2: u64,
/// Zero.
pub reserved3: u64,
/// Zero.
pub reserved4: u64,
/// Zero.
pub reserved5: u64,
}
/// offsets
pub mod device_line {
/// Goes up by one at each wake-up; the word a host sleeps on (futex).
pub const WAKE_SEQ_OFFSET: usize = 0;
/// 1: the device sleeps; ring the doorbell after posting.
pub const NEED_DOORBELL_OFFSET: usize = 4;
/// queue_state.
pub const STATE_OFFSET: usize = 8;
/// status that stopped the queue, or 0.
pub const ERROR_OFFSET: usize = 12;
/// Zero.
pub const RESERVED0_OFFSET: usize = 16;
/// Zero.
pub const RESERVED1_OFFSET: usize = 24;
/// Zero.
pub const RESERVED2_OFFSET: usize = 32;
/// Zero.
pub const RESERVED3_OFFSET: usize = 40;
/// Zero.
pub const RESERVED4_OFFSET: usize = 48;
/// Zero.
pub const RESERVED5_OFFSET: usize = 56;
}
/// Identity, capabilities, the configuration latch.
pub mod global_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 256;
/// 0x53504645; 0xffffffff means the device is gone.
pub const MAGIC: u32 = 16;
/// major << 16 | minor.
pub const CONTRACT_VERSION: u32 = 20;
/// capability bits.
pub const CAPABILITY: u32 = 24;
/// Number of ports.
pub const PORTS: u32 = 28;
/// Number of queue contexts.
pub const QUEUES: u32 = 32;
/// Entries of the memory-region table.
pub const REGIONS: u32 = 36;
/// Number of event vectors.
pub const EVENTS: u32 = 40;
/// Byte offset of the first doorbell page.
pub const DOORBELL_OFFSET: u32 = 44;
/// CFG_SEQ of the last command carried out.
pub const CFG_ACK: u32 = 48;
/// status of that command.
pub const CFG_STATUS: u32 = 52;
/// Goes up while the device lives, at least once a second.
pub const HEARTBEAT: u32 = 56;
/// Resets since power-up.
pub const RESETS: u32 = 60;
/// Device time in ns, low word; read HI, LO, HI.
pub const TIME_LO: u32 = 64;
/// Device time in ns, high word.
pub const TIME_HI: u32 = 68;
/// PACKET_MAX_BYTES of this device.
pub const PACKET_MAX: u32 = 72;
/// command.
pub const CFG_COMMAND: u32 = 128;
/// Object the command is about.
pub const CFG_INDEX: u32 = 132;
/// Write a new non-zero value last, ring the doorbell, wait for CFG_ACK.
pub const CFG_SEQ: u32 = 136;
}
/// One network port.
pub mod port_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 256;
/// port_kind.
pub const KIND: u32 = 16;
/// port_state.
pub const STATE: u32 = 20;
/// Virtual channels.
pub const VCS: u32 = 24;
/// Lanes.
pub const LANES: u32 = 28;
/// Lane signalling rate in Mbit/s; 0 = not paced.
pub const LANE_RATE_MBPS: u32 = 32;
/// User data rate one way in kbit/s; 0 = not limited.
pub const USER_RATE_KBPS: u32 = 36;
/// Index of the port's first queue context: TX of VC 0, RX of VC 0, TX of VC 1, ... then message contexts.
pub const FIRST_QUEUE: u32 = 40;
/// Queue contexts of this port.
pub const QUEUE_COUNT: u32 = 44;
/// 1: start the link.
pub const LINK_START: u32 = 128;
/// Priorities of VC 0 to 7, 4 bits each, 0 is the highest (ECSS-E-ST-50-11C 5.7.4).
pub const VC_PRIORITY_0: u32 = 132;
/// Priorities of VC 8 to 15.
pub const VC_PRIORITY_1: u32 = 136;
/// Priorities of VC 16 to 23.
pub const VC_PRIORITY_2: u32 = 140;
/// Priorities of VC 24 to 31.
pub const VC_PRIORITY_3: u32 = 144;
}
/// Array of queue contexts, QUEUES elements of the stride, right behind the header.
pub mod queue_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 16;
/// s
pub const STRIDE: u32 = 192;
/// queue_state.
pub const STATE: u32 = 0;
/// status that stopped the queue.
pub const ERROR: u32 = 4;
/// Port.
pub const PORT: u32 = 8;
/// Virtual channel; 255 for message contexts.
pub const VC: u32 = 12;
/// queue_kind.
pub const KIND: u32 = 64;
/// queue_options.
pub const OPTIONS: u32 = 68;
/// Protection domain whose regions the queue may name.
pub const DOMAIN: u32 = 72;
/// Event vector.
pub const VECTOR: u32 = 76;
/// Submission ring entries, power of two.
pub const SQ_LOG2: u32 = 80;
/// Completion ring entries, power of two, not less than SQ_LOG2.
pub const CQ_LOG2: u32 = 84;
/// Submission ring address {region, offset}, low word.
pub const SQ_LO: u32 = 88;
/// Submission ring address, high word.
pub const SQ_HI: u32 = 92;
/// Completion ring address, low word.
pub const CQ_LO: u32 = 96;
/// Completion ring address, high word.
pub const CQ_HI: u32 = 100;
/// Side array of 64-bit times, one per completion, low word.
pub const STAMP_LO: u32 = 104;
/// Side array, high word.
pub const STAMP_HI: u32 = 108;
/// host_line followed by device_line, low word.
pub const LINES_LO: u32 = 112;
/// Lines, high word.
pub const LINES_HI: u32 = 116;
/// Packed area address, low word.
pub const AREA_LO: u32 = 120;
/// Packed area address, high word.
pub const AREA_HI: u32 = 124;
/// Packed area size in bytes.
pub const AREA_BYTES: u32 = 128;
/// Message receive: bits 7:0 channel, 15:8 type, 16 match channel, 17 match type.
pub const FILTER: u32 = 132;
}
/// Memory-region table, REGIONS elements of the stride, right behind the header.
pub mod region_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 16;
/// s
pub const STRIDE: u32 = 128;
/// lkey: generation << 20 | index, valid after REGION_ENABLE.
pub const KEY: u32 = 0;
/// Bus address, low word (CAP_IOVA), or the segment number of shared memory.
pub const BASE_LO: u32 = 64;
/// Bus address, high word.
pub const BASE_HI: u32 = 68;
/// Size in bytes, low word.
pub const SIZE_LO: u32 = 72;
/// Size in bytes, high word.
pub const SIZE_HI: u32 = 76;
/// access bits.
pub const ACCESS: u32 = 80;
/// Protection domain.
pub const DOMAIN: u32 = 84;
/// 0 contiguous; otherwise log2 of the page size of the page list at BASE.
pub const PAGE_LIST: u32 = 88;
}
/// Event vectors, EVENTS elements of the stride, right behind the header.
pub mod event_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 16;
/// s
pub const STRIDE: u32 = 128;
/// Events signalled since power-up; the cause is in the completion rings.
pub const COUNT: u32 = 0;
/// 1: signal.
pub const ENABLE: u32 = 64;
}
/// Broadcast configuration of the port named by the block's instance.
pub mod broadcast_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 256;
/// Broadcast messages sent (mod 2^32).
pub const SENT: u32 = 16;
/// Broadcast messages received.
pub const RECEIVED: u32 = 20;
/// Received but dropped because a receive ring was full.
pub const DROPPED: u32 = 24;
/// Broadcast channel number this endpoint sends on by default.
pub const CHANNEL: u32 = 128;
}
/// Time-code configuration of the port named by the block's instance.
pub mod time_code_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 256;
/// Last time-code received (bits 7:0).
pub const LAST: u32 = 16;
/// Time-codes received (mod 2^32).
pub const RECEIVED: u32 = 20;
/// Received time-codes that were not one more than the last (mod 64).
pub const INVALID: u32 = 24;
}
/// Counters, one element per queue context, right behind the header. 64-bit pairs; read HI, LO, HI.
pub mod statistics_block {
/// v
pub const VERSION: u16 = 1;
/// s
pub const SIZE: u32 = 16;
/// s
pub const STRIDE: u32 = 64;
/// Packets moved, low word.
pub const PACKETS_LO: u32 = 0;
/// Packets moved, high word.
pub const PACKETS_HI: u32 = 4;
/// Payload bytes moved, low word.
pub const BYTES_LO: u32 = 8;
/// Payload bytes moved, high word.
pub const BYTES_HI: u32 = 12;
/// Submissions refused with an error status, low word.
pub const ERRORS_LO: u32 = 16;
/// High word.
pub const ERRORS_HI: u32 = 20;
/// Times a packet had to wait for a receive buffer or area, low word.
pub const STALLS_LO: u32 = 24;
/// High word.
pub const STALLS_HI: u32 = 28;
/// Wake-ups given to the host, low word.
pub const WAKES_LO: u32 = 32;
/// High word.
pub const WAKES_HI: u32 = 36;
/// Messages dropped (message receive only; packets are never dropped), low word.
pub const DROPPED_LO: u32 = 40;
/// High word.
pub const DROPPED_HI: u32 = 44;
}