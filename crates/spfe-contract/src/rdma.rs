// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from contract/spfe.toml: do not edit; run `make gen`.

/// Local elements of a work request, each of which is a DATA or INLINE slot.
pub const WORK_ELEMENTS_MAX: u64 = 4;
/// Slots of the longest work request: the first one, two operands and 4 local elements.
pub const WORK_SLOTS_MAX: u64 = 7;
/// Remote keys of a queue pair. The index of a key, its upper 20 bits, is less.
pub const REMOTE_KEYS_MAX: u64 = 128;
/// Bytes of a value in the pair block. The value of pair_counter N is at N times this offset in its
/// element.
pub const PAIR_VALUE_BYTES: u64 = 8;

/// What a work request does (OPCODE of work_flags).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkOpcode {
    /// Write the local elements to remote memory.
    Write = 1,
    /// Read remote memory into the local elements.
    Read = 2,
    /// Send the local elements as a message.
    Send = 3,
    /// Add the operand to 8 bytes of remote memory. The local element gets the old value.
    FetchAdd = 4,
    /// Exchange 8 bytes of remote memory for the second operand if they are equal to the first. The
    /// local element gets the old value.
    CmpSwap = 5,
    /// Complete when all earlier writes are in remote memory.
    Flush = 6,
    /// Ask the target what it can do; 32 bytes.
    Info = 7,
    /// Ask the target for its regions; 24 bytes each.
    Regions = 8,
    /// WRITE, and the operand as immediate data for a receive buffer of the target.
    WriteImm = 9,
    /// SEND with the operand as immediate data.
    SendImm = 0xb,
    /// Let others use the local element under the remote key of this entry, as the operand says
    /// (capability REMOTE_KEYS).
    Bind = 0xc,
    /// Take the remote key of this entry back (capability REMOTE_KEYS).
    Unbind = 0xd,
}

impl WorkOpcode {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Write, Self::Read, Self::Send, Self::FetchAdd, Self::CmpSwap, Self::Flush, Self::Info,
        Self::Regions, Self::WriteImm, Self::SendImm, Self::Bind, Self::Unbind,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            1 => Some(Self::Write),
            2 => Some(Self::Read),
            3 => Some(Self::Send),
            4 => Some(Self::FetchAdd),
            5 => Some(Self::CmpSwap),
            6 => Some(Self::Flush),
            7 => Some(Self::Info),
            8 => Some(Self::Regions),
            9 => Some(Self::WriteImm),
            0xb => Some(Self::SendImm),
            0xc => Some(Self::Bind),
            0xd => Some(Self::Unbind),
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
            Self::Write => "WRITE",
            Self::Read => "READ",
            Self::Send => "SEND",
            Self::FetchAdd => "FETCH_ADD",
            Self::CmpSwap => "CMP_SWAP",
            Self::Flush => "FLUSH",
            Self::Info => "INFO",
            Self::Regions => "REGIONS",
            Self::WriteImm => "WRITE_IMM",
            Self::SendImm => "SEND_IMM",
            Self::Bind => "BIND",
            Self::Unbind => "UNBIND",
        }
    }
}

/// State of a queue pair.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueuePairState {
    /// Not connected. The first work request connects it.
    Reset = 0,
    /// Waits for the answer to CONNECT.
    Connecting = 1,
    /// Work requests are executed (RTS in verbs).
    Ready = 2,
    /// A work request has failed, and the following ones complete with FLUSHED. Disable the queue
    /// and enable it again.
    Error = 3,
}

impl QueuePairState {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Reset, Self::Connecting, Self::Ready, Self::Error,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Reset),
            1 => Some(Self::Connecting),
            2 => Some(Self::Ready),
            3 => Some(Self::Error),
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
            Self::Reset => "RESET",
            Self::Connecting => "CONNECTING",
            Self::Ready => "READY",
            Self::Error => "ERROR",
        }
    }
}

/// What a queue pair waits for.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueuePairWait {
    /// Nothing is outstanding.
    Nothing = 0,
    /// The virtual channel.
    Transmit = 1,
    /// The answer to CONNECT.
    Connect = 2,
    /// The answer to a message.
    Answer = 3,
    /// An acknowledgement: as many messages are outstanding as the window allows.
    Window = 4,
    /// Reads and atomic operations before a fence.
    Fence = 5,
    /// A result: as many reads and atomic operations are outstanding as the target allows.
    Reads = 6,
    /// A receive buffer of the partner.
    Credit = 7,
    /// A time: the receiver was not ready or busy.
    Receiver = 8,
}

impl QueuePairWait {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Nothing, Self::Transmit, Self::Connect, Self::Answer, Self::Window, Self::Fence,
        Self::Reads, Self::Credit, Self::Receiver,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Nothing),
            1 => Some(Self::Transmit),
            2 => Some(Self::Connect),
            3 => Some(Self::Answer),
            4 => Some(Self::Window),
            5 => Some(Self::Fence),
            6 => Some(Self::Reads),
            7 => Some(Self::Credit),
            8 => Some(Self::Receiver),
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
            Self::Nothing => "NOTHING",
            Self::Transmit => "TRANSMIT",
            Self::Connect => "CONNECT",
            Self::Answer => "ANSWER",
            Self::Window => "WINDOW",
            Self::Fence => "FENCE",
            Self::Reads => "READS",
            Self::Credit => "CREDIT",
            Self::Receiver => "RECEIVER",
        }
    }
}

/// Counter of a queue pair, in its element of the pair block. Those with TARGET count the packets
/// of its partner and of others, the rest its own work requests. Their names are those that people
/// see. Numbers are at most 62 and never reused.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairCounter {
    /// Work requests completed.
    Completed = 0,
    /// Work requests failed. Each ends the queue pair.
    Failed = 1,
    /// Work requests completed with FLUSHED.
    Flushed = 2,
    /// Packets of work requests sent.
    Packets = 3,
    /// Payload bytes sent.
    Bytes = 4,
    /// Packets sent again.
    Resent = 5,
    /// Messages repeated because no answer came in time.
    Timeouts = 6,
    /// Refusals after which a message was repeated.
    Refusals = 7,
    /// Answers to nothing that is outstanding.
    Stale = 8,
    /// Packets that are no intact answer.
    Invalid = 9,
    /// Messages tried without credit because no announcement of buffers came.
    Probes = 0xa,
    /// Completed work requests that needed no packets.
    Near = 0xb,
    /// Packets of WRITE executed.
    TargetWrites = 0xc,
    /// READ executed.
    TargetReads = 0xd,
    /// Packets of SEND executed.
    TargetSends = 0xe,
    /// FETCH_ADD executed.
    TargetFetchAdds = 0xf,
    /// CMP_SWAP executed.
    TargetCompareSwaps = 0x10,
    /// FLUSH executed.
    TargetFlushes = 0x11,
    /// INFO executed.
    TargetInfos = 0x12,
    /// REGIONS executed.
    TargetRegionLists = 0x13,
    /// Announcements of buffers executed.
    TargetCredits = 0x14,
    /// CONNECT executed.
    TargetConnects = 0x15,
    /// DISCONNECT executed.
    TargetDisconnects = 0x16,
    /// Refused: version of the protocol.
    TargetBadVersion = 0x17,
    /// Refused: opcode.
    TargetBadOpcode = 0x18,
    /// Refused: no memory has the remote key.
    TargetBadKey = 0x19,
    /// Refused: outside the memory of the remote key.
    TargetBounds = 0x1a,
    /// Refused: right or initiator.
    TargetAccess = 0x1b,
    /// Refused: length or alignment does not fit the opcode.
    TargetBadLength = 0x1c,
    /// Refused: no receive buffer.
    TargetReceiverNotReady = 0x1d,
    /// Refused: the message is longer than the receive buffer.
    TargetMessageTooLong = 0x1e,
    /// Refused: wrong CRC of the payload.
    TargetPayloadCrc = 0x1f,
    /// Refused: the packet ended before its payload did.
    TargetShort = 0x20,
    /// Refused: bytes after the payload.
    TargetLong = 0x21,
    /// Refused: the packet ended with EEP.
    TargetEep = 0x22,
    /// Refused: the memory failed.
    TargetMemory = 0x23,
    /// Refused: too many reads and atomic operations wait.
    TargetBusy = 0x24,
    /// Refused: no such queue pair, or not connected to the sender.
    TargetBadQueue = 0x25,
    /// Refused: a message before this one is missing.
    TargetSequence = 0x26,
    /// Refused: the remote key was taken back during the message.
    TargetRevoked = 0x27,
    /// Refused: anything else.
    TargetGeneral = 0x28,
    /// Packets of messages that had been executed before.
    TargetRepeated = 0x29,
    /// Discarded: another protocol.
    TargetOtherProtocol = 0x2a,
    /// Discarded: the packet ended in its header.
    TargetShortHeader = 0x2b,
    /// Discarded: a length of the header that is not allowed.
    TargetHeaderLength = 0x2c,
    /// Discarded: wrong CRC of the header.
    TargetHeaderCrc = 0x2d,
    /// Discarded: the header contradicts itself.
    TargetHeaderLayout = 0x2e,
    /// Discarded: for another logical address.
    TargetNotOurs = 0x2f,
    /// Discarded: after a refusal or a gap that was reported.
    TargetDrained = 0x30,
    /// Discarded: a repeated atomic operation whose result is no longer kept.
    TargetForgotten = 0x31,
    /// Notifications lost because nobody read them in time.
    TargetNotificationsDropped = 0x32,
}

impl PairCounter {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Completed, Self::Failed, Self::Flushed, Self::Packets, Self::Bytes, Self::Resent,
        Self::Timeouts, Self::Refusals, Self::Stale, Self::Invalid, Self::Probes, Self::Near,
        Self::TargetWrites, Self::TargetReads, Self::TargetSends, Self::TargetFetchAdds,
        Self::TargetCompareSwaps, Self::TargetFlushes, Self::TargetInfos, Self::TargetRegionLists,
        Self::TargetCredits, Self::TargetConnects, Self::TargetDisconnects, Self::TargetBadVersion,
        Self::TargetBadOpcode, Self::TargetBadKey, Self::TargetBounds, Self::TargetAccess,
        Self::TargetBadLength, Self::TargetReceiverNotReady, Self::TargetMessageTooLong,
        Self::TargetPayloadCrc, Self::TargetShort, Self::TargetLong, Self::TargetEep,
        Self::TargetMemory, Self::TargetBusy, Self::TargetBadQueue, Self::TargetSequence,
        Self::TargetRevoked, Self::TargetGeneral, Self::TargetRepeated, Self::TargetOtherProtocol,
        Self::TargetShortHeader, Self::TargetHeaderLength, Self::TargetHeaderCrc,
        Self::TargetHeaderLayout, Self::TargetNotOurs, Self::TargetDrained, Self::TargetForgotten,
        Self::TargetNotificationsDropped,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Completed),
            1 => Some(Self::Failed),
            2 => Some(Self::Flushed),
            3 => Some(Self::Packets),
            4 => Some(Self::Bytes),
            5 => Some(Self::Resent),
            6 => Some(Self::Timeouts),
            7 => Some(Self::Refusals),
            8 => Some(Self::Stale),
            9 => Some(Self::Invalid),
            0xa => Some(Self::Probes),
            0xb => Some(Self::Near),
            0xc => Some(Self::TargetWrites),
            0xd => Some(Self::TargetReads),
            0xe => Some(Self::TargetSends),
            0xf => Some(Self::TargetFetchAdds),
            0x10 => Some(Self::TargetCompareSwaps),
            0x11 => Some(Self::TargetFlushes),
            0x12 => Some(Self::TargetInfos),
            0x13 => Some(Self::TargetRegionLists),
            0x14 => Some(Self::TargetCredits),
            0x15 => Some(Self::TargetConnects),
            0x16 => Some(Self::TargetDisconnects),
            0x17 => Some(Self::TargetBadVersion),
            0x18 => Some(Self::TargetBadOpcode),
            0x19 => Some(Self::TargetBadKey),
            0x1a => Some(Self::TargetBounds),
            0x1b => Some(Self::TargetAccess),
            0x1c => Some(Self::TargetBadLength),
            0x1d => Some(Self::TargetReceiverNotReady),
            0x1e => Some(Self::TargetMessageTooLong),
            0x1f => Some(Self::TargetPayloadCrc),
            0x20 => Some(Self::TargetShort),
            0x21 => Some(Self::TargetLong),
            0x22 => Some(Self::TargetEep),
            0x23 => Some(Self::TargetMemory),
            0x24 => Some(Self::TargetBusy),
            0x25 => Some(Self::TargetBadQueue),
            0x26 => Some(Self::TargetSequence),
            0x27 => Some(Self::TargetRevoked),
            0x28 => Some(Self::TargetGeneral),
            0x29 => Some(Self::TargetRepeated),
            0x2a => Some(Self::TargetOtherProtocol),
            0x2b => Some(Self::TargetShortHeader),
            0x2c => Some(Self::TargetHeaderLength),
            0x2d => Some(Self::TargetHeaderCrc),
            0x2e => Some(Self::TargetHeaderLayout),
            0x2f => Some(Self::TargetNotOurs),
            0x30 => Some(Self::TargetDrained),
            0x31 => Some(Self::TargetForgotten),
            0x32 => Some(Self::TargetNotificationsDropped),
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
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Flushed => "FLUSHED",
            Self::Packets => "PACKETS",
            Self::Bytes => "BYTES",
            Self::Resent => "RESENT",
            Self::Timeouts => "TIMEOUTS",
            Self::Refusals => "REFUSALS",
            Self::Stale => "STALE",
            Self::Invalid => "INVALID",
            Self::Probes => "PROBES",
            Self::Near => "NEAR",
            Self::TargetWrites => "TARGET_WRITES",
            Self::TargetReads => "TARGET_READS",
            Self::TargetSends => "TARGET_SENDS",
            Self::TargetFetchAdds => "TARGET_FETCH_ADDS",
            Self::TargetCompareSwaps => "TARGET_COMPARE_SWAPS",
            Self::TargetFlushes => "TARGET_FLUSHES",
            Self::TargetInfos => "TARGET_INFOS",
            Self::TargetRegionLists => "TARGET_REGION_LISTS",
            Self::TargetCredits => "TARGET_CREDITS",
            Self::TargetConnects => "TARGET_CONNECTS",
            Self::TargetDisconnects => "TARGET_DISCONNECTS",
            Self::TargetBadVersion => "TARGET_BAD_VERSION",
            Self::TargetBadOpcode => "TARGET_BAD_OPCODE",
            Self::TargetBadKey => "TARGET_BAD_KEY",
            Self::TargetBounds => "TARGET_BOUNDS",
            Self::TargetAccess => "TARGET_ACCESS",
            Self::TargetBadLength => "TARGET_BAD_LENGTH",
            Self::TargetReceiverNotReady => "TARGET_RECEIVER_NOT_READY",
            Self::TargetMessageTooLong => "TARGET_MESSAGE_TOO_LONG",
            Self::TargetPayloadCrc => "TARGET_PAYLOAD_CRC",
            Self::TargetShort => "TARGET_SHORT",
            Self::TargetLong => "TARGET_LONG",
            Self::TargetEep => "TARGET_EEP",
            Self::TargetMemory => "TARGET_MEMORY",
            Self::TargetBusy => "TARGET_BUSY",
            Self::TargetBadQueue => "TARGET_BAD_QUEUE",
            Self::TargetSequence => "TARGET_SEQUENCE",
            Self::TargetRevoked => "TARGET_REVOKED",
            Self::TargetGeneral => "TARGET_GENERAL",
            Self::TargetRepeated => "TARGET_REPEATED",
            Self::TargetOtherProtocol => "TARGET_OTHER_PROTOCOL",
            Self::TargetShortHeader => "TARGET_SHORT_HEADER",
            Self::TargetHeaderLength => "TARGET_HEADER_LENGTH",
            Self::TargetHeaderCrc => "TARGET_HEADER_CRC",
            Self::TargetHeaderLayout => "TARGET_HEADER_LAYOUT",
            Self::TargetNotOurs => "TARGET_NOT_OURS",
            Self::TargetDrained => "TARGET_DRAINED",
            Self::TargetForgotten => "TARGET_FORGOTTEN",
            Self::TargetNotificationsDropped => "TARGET_NOTIFICATIONS_DROPPED",
        }
    }
}

/// Flags of the first slot of a work request. The other slots have TYPE and CHAIN of submit_flags
/// only.
pub mod work_flags {
    /// Lowest bit of TYPE.
    pub const TYPE_SHIFT: u32 = 0;
    /// entry_type RDMA. Mask, in place.
    pub const TYPE_MASK: u16 = 0x000f;
    /// Write a completion when the request is done. Errors are always signalled.
    pub const SIGNAL: u16 = 1 << 4;
    /// Last request of a group: ask the target for an acknowledgement, which covers all earlier
    /// requests.
    pub const LAST: u16 = 1 << 5;
    /// Another slot follows: always 1 in the first slot, 0 in the last.
    pub const CHAIN: u16 = 1 << 6;
    /// Ask the target to wake its software.
    pub const SOLICITED: u16 = 1 << 7;
    /// Must be zero.
    pub const MBZ0: u16 = 1 << 8;
    /// Start only after all earlier reads and atomic operations are done.
    pub const FENCE: u16 = 1 << 9;
    /// Lowest bit of OPCODE.
    pub const OPCODE_SHIFT: u32 = 10;
    /// work_opcode. Mask, in place.
    pub const OPCODE_MASK: u16 = 0x3c00;
    /// Lowest bit of MBZ1.
    pub const MBZ1_SHIFT: u32 = 14;
    /// Must be zero. Mask, in place.
    pub const MBZ1_MASK: u16 = 0xc000;
}

/// Register PAIR of a queue context: the two ends of a queue pair.
pub mod queue_pair {
    /// Lowest bit of OWN.
    pub const OWN_SHIFT: u32 = 0;
    /// Own number, 1 to 65535. Mask, in place.
    pub const OWN_MASK: u64 = 0x000000000000ffff;
    /// Lowest bit of PARTNER.
    pub const PARTNER_SHIFT: u32 = 16;
    /// Number of the partner; 0 for a target-only endpoint. Mask, in place.
    pub const PARTNER_MASK: u64 = 0x00000000ffff0000;
    /// Lowest bit of ADDRESS.
    pub const ADDRESS_SHIFT: u32 = 32;
    /// Own logical address. Mask, in place.
    pub const ADDRESS_MASK: u64 = 0x000000ff00000000;
    /// Lowest bit of TARGET.
    pub const TARGET_SHIFT: u32 = 40;
    /// Logical address of the partner. Mask, in place.
    pub const TARGET_MASK: u64 = 0x0000ff0000000000;
    /// Lowest bit of PROTOCOL.
    pub const PROTOCOL_SHIFT: u32 = 48;
    /// Protocol identifier, 0xf0 to 0xfe; 0 stands for 0xf0. Mask, in place.
    pub const PROTOCOL_MASK: u64 = 0x00ff000000000000;
    /// Lowest bit of SEGMENT_LOG2.
    pub const SEGMENT_LOG2_SHIFT: u32 = 56;
    /// log2 of the largest payload of a packet in bytes, 8 to 16; 0 stands for 12. Mask, in place.
    pub const SEGMENT_LOG2_MASK: u64 = 0xff00000000000000;
}

/// Register LIMITS of a queue context: when a queue pair repeats a message, and the lengths of its
/// paths.
pub mod pair_limits {
    /// Lowest bit of RETRIES.
    pub const RETRIES_SHIFT: u32 = 0;
    /// Repetitions of a message that brings no progress, at most 16. Mask, in place.
    pub const RETRIES_MASK: u64 = 0x00000000000000ff;
    /// Lowest bit of NOT_READY.
    pub const NOT_READY_SHIFT: u32 = 8;
    /// Repetitions for a receiver that was not ready or busy. Mask, in place.
    pub const NOT_READY_MASK: u64 = 0x000000000000ff00;
    /// Lowest bit of PATH.
    pub const PATH_SHIFT: u32 = 16;
    /// Bytes of PATH, at most 8. Mask, in place.
    pub const PATH_MASK: u64 = 0x0000000000ff0000;
    /// Lowest bit of REPLY.
    pub const REPLY_SHIFT: u32 = 24;
    /// Bytes of REPLY, at most 8. Mask, in place.
    pub const REPLY_MASK: u64 = 0x00000000ff000000;
    /// Lowest bit of TIMEOUT_US.
    pub const TIMEOUT_US_SHIFT: u32 = 32;
    /// Time without progress after which a message is repeated, in us; it doubles each time. 0
    /// stands for 200000. Mask, in place.
    pub const TIMEOUT_US_MASK: u64 = 0xffffffff00000000;
}

/// State of a queue pair in the device line of its RDMA queue.
pub mod pair_status {
    /// Lowest bit of STATE.
    pub const STATE_SHIFT: u32 = 0;
    /// queue_pair_state. Mask, in place.
    pub const STATE_MASK: u64 = 0x00000000000000ff;
    /// Lowest bit of WAIT.
    pub const WAIT_SHIFT: u32 = 8;
    /// queue_pair_wait. Mask, in place.
    pub const WAIT_MASK: u64 = 0x000000000000ff00;
    /// Lowest bit of ATTEMPTS.
    pub const ATTEMPTS_SHIFT: u32 = 16;
    /// How often the message that it waits for was repeated. Mask, in place.
    pub const ATTEMPTS_MASK: u64 = 0x00000000ffff0000;
    /// Lowest bit of SEQUENCE.
    pub const SEQUENCE_SHIFT: u32 = 32;
    /// Number of that message. Mask, in place.
    pub const SEQUENCE_MASK: u64 = 0x0000ffff00000000;
}

/// What others may do with a remote key: the word immediate of the operand of BIND.
pub mod key_options {
    /// READ. The region needs REMOTE_READ.
    pub const READ: u32 = 1 << 0;
    /// WRITE. The region needs REMOTE_WRITE.
    pub const WRITE: u32 = 1 << 1;
    /// FETCH_ADD and CMP_SWAP. The region needs REMOTE_READ and REMOTE_WRITE; address and offset
    /// are multiples of 8.
    pub const ATOMIC: u32 = 1 << 2;
    /// A WRITE or an atomic operation of the partner uses a buffer of RDMA_RX, if there is one, and
    /// completes it with WRITE.
    pub const NOTIFY: u32 = 1 << 3;
    /// REGIONS does not tell the key.
    pub const HIDDEN: u32 = 1 << 4;
    /// Lowest bit of MBZ.
    pub const MBZ_SHIFT: u32 = 5;
    /// Must be zero. Mask, in place.
    pub const MBZ_MASK: u32 = 0xffffffe0;
}

/// Who made the operation that a notification of the target tells.
pub mod target_note_sender {
    /// Lowest bit of INITIATOR.
    pub const INITIATOR_SHIFT: u32 = 0;
    /// Logical address of the initiator. Mask, in place.
    pub const INITIATOR_MASK: u32 = 0x000000ff;
    /// Lowest bit of OPCODE.
    pub const OPCODE_SHIFT: u32 = 8;
    /// Opcode of SFRP; the instruction byte if a command of RMAP made the operation. Mask, in
    /// place.
    pub const OPCODE_MASK: u32 = 0x0000ff00;
    /// Lowest bit of PAIR.
    pub const PAIR_SHIFT: u32 = 16;
    /// Queue pair of the initiator. Mask, in place.
    pub const PAIR_MASK: u32 = 0xffff0000;
}

/// The operation that a notification of the target tells.
pub mod target_note_request {
    /// Lowest bit of ENTRY.
    pub const ENTRY_SHIFT: u32 = 0;
    /// Entry of the table; 0 for a message. Mask, in place.
    pub const ENTRY_MASK: u32 = 0x0000ffff;
    /// Lowest bit of NUMBER.
    pub const NUMBER_SHIFT: u32 = 16;
    /// Number of the message in its sequence. Mask, in place.
    pub const NUMBER_MASK: u32 = 0xffff0000;
}

/// What a notification of the target has.
pub mod target_note_flags {
    /// It is of an operation on an entry.
    pub const ENTRY: u32 = 1 << 0;
    /// It has immediate data.
    pub const IMMEDIATE: u32 = 1 << 1;
}

/// RDMA entry: first slot of a work request. A local element (DATA or INLINE), the operands of the
/// opcode (OPERAND), and up to 3 more local elements follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkEntry {
    /// Remote address; 0 for requests without one. BIND: the address that others use for the first
    /// byte.
    pub address: u64,
    /// Remote key: index (20 bits) and generation (12 bits).
    pub key: u32,
    /// work_flags.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl WorkEntry {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            self.address,
            (self.key as u64) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            address: w[0],
            key: w[1] as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// OPERAND entry of a work request: one for immediate data, FETCH_ADD and BIND, two for CMP_SWAP
/// (compare, swap).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    /// Operand of an atomic operation. BIND: logical addresses that may use the key, up to 8 bytes
    /// of which zeros are not used; 0 for all. Otherwise zero.
    pub value: u64,
    /// Immediate data; key_options of BIND; otherwise zero.
    pub immediate: u32,
    /// submit_flags with TYPE = OPERAND.
    pub flags: u16,
    /// Lap number.
    pub phase: u16,
}

impl Operand {
    /// Encodes the entry to its two words. Bits beyond the width of a field are dropped.
    #[inline(always)]
    pub const fn to_words(self) -> [u64; 2] {
        [
            self.value,
            (self.immediate as u64) | ((self.flags as u64) << 32) | ((self.phase as u64) << 48),
        ]
    }

    /// Decodes an entry from its two words. Any words are valid.
    #[inline(always)]
    pub const fn from_words(w: [u64; 2]) -> Self {
        Self {
            value: w[0],
            immediate: w[1] as u32,
            flags: (w[1] >> 32) as u16,
            phase: (w[1] >> 48) as u16,
        }
    }
}

/// Target of RDMA (capability TARGET): serves the memory in its table to the packets of one virtual
/// channel, without queues.
pub mod target_block {
    /// block_type TARGET.
    pub const TYPE: u16 = 12;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// Port of the target. (ro)
    pub const PORT: u32 = 0x10;
    /// Virtual channel of the requests. It has no receive queue. (ro)
    pub const VC: u32 = 0x14;
    /// Entries of the table, 2 to 128. (ro)
    pub const ENTRIES: u32 = 0x18;
    /// Entries that are there from power-up on, the first ones. No command changes them. (ro)
    pub const FIXED: u32 = 0x1c;
    /// Protocol identifier, 0xf0 to 0xfe. (ro)
    pub const PROTOCOL: u32 = 0x20;
    /// Logical address of the target. (ro)
    pub const LOGICAL_ADDRESS: u32 = 0x24;
    /// Largest payload of a packet in bytes. (ro)
    pub const SEGMENT: u32 = 0x28;
    /// Requests executed (mod 2^32, as all counters of this block). (ro)
    pub const EXECUTED: u32 = 0x2c;
    /// Requests that had been executed before. (ro)
    pub const REPEATED: u32 = 0x30;
    /// Requests answered with an error. (ro)
    pub const REFUSED: u32 = 0x34;
    /// Packets discarded without an answer. (ro)
    pub const DISCARDED: u32 = 0x38;
    /// Notifications lost because too many waited. (ro)
    pub const NOTES_LOST: u32 = 0x3c;
    /// Notifications that wait. The other registers of this line and the next show the oldest one;
    /// they are 0 if there is none. (ro)
    pub const NOTES: u32 = 0x40;
    /// Its target_note_sender. (ro)
    pub const NOTE_SENDER: u32 = 0x44;
    /// Its target_note_request. (ro)
    pub const NOTE_REQUEST: u32 = 0x48;
    /// Bytes of the operation. (ro)
    pub const NOTE_LENGTH: u32 = 0x4c;
    /// Address of the operation as the initiator gave it, low word. (ro)
    pub const NOTE_ADDRESS_LO: u32 = 0x50;
    /// Address, high word. (ro)
    pub const NOTE_ADDRESS_HI: u32 = 0x54;
    /// Device time of the operation in ns, low word. (ro)
    pub const NOTE_TIME_LO: u32 = 0x58;
    /// Time, high word. (ro)
    pub const NOTE_TIME_HI: u32 = 0x5c;
    /// Immediate data; 0 without. (ro)
    pub const NOTE_IMMEDIATE: u32 = 0x60;
    /// target_note_flags. (ro)
    pub const NOTE_FLAGS: u32 = 0x64;
    /// Bytes 0 to 3 of a message (SEND), the first one least significant. Up to 32 bytes follow
    /// each other from here. (ro)
    pub const NOTE_DATA_0: u32 = 0x80;
    /// Bytes 28 to 31 of a message. (ro)
    pub const NOTE_DATA_7: u32 = 0x9c;
    /// Remote key: index (20 bits), equal to CFG_INDEX, and generation (12 bits), which should be
    /// random and is not 0. (rw)
    pub const KEY: u32 = 0xc0;
    /// key_options. With NOTIFY each operation makes a notification. (rw)
    pub const OPTIONS: u32 = 0xc4;
    /// Address of the first byte as others see it, low word. (rw)
    pub const ADDRESS_LO: u32 = 0xc8;
    /// Address, high word. (rw)
    pub const ADDRESS_HI: u32 = 0xcc;
    /// Size in bytes, 1 or more, low word. (rw)
    pub const SIZE_LO: u32 = 0xd0;
    /// Size, high word. (rw)
    pub const SIZE_HI: u32 = 0xd4;
    /// Bus address of the first byte, low word. (rw)
    pub const MEMORY_LO: u32 = 0xd8;
    /// Bus address, high word. (rw)
    pub const MEMORY_HI: u32 = 0xdc;
    /// Logical addresses that may use the entry, 4 bytes; 0 stands for none, and 0 in all bytes for
    /// everybody. (rw)
    pub const INITIATORS: u32 = 0xe0;
    /// Event vector to signal at a notification, plus 1; 0 for none. Each command on the target
    /// latches it. (rw)
    pub const NOTE_VECTOR: u32 = 0xe4;
}

/// Counters of queue pairs of the port in the block's instance field (capability PAIR_COUNTERS):
/// element V belongs to virtual channel V. The 64-bit value of pair_counter N is at
/// PAIR_VALUE_BYTES times N in its element; read HI, LO, HI. It is 0 if PRESENT does not list the
/// counter.
pub mod pair_block {
    /// block_type PAIR.
    pub const TYPE: u16 = 13;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x200;
    /// Bit N: the queue pair has counter N; counters 0 to 31. 0 if the virtual channel has no queue
    /// pair. (ro)
    pub const PRESENT_LO: u32 = 0x1f8;
    /// Counters 32 to 62. (ro)
    pub const PRESENT_HI: u32 = 0x1fc;
}
