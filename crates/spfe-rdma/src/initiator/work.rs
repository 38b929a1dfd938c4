//! Work requests.

use crate::few::Few;
use crate::local::{Local, LocalMemory};
use spfe_proto::sfrp::{Opcode, READ_MAX};

/// Pieces of local memory in a request.
pub type Pieces = Few<Local, 4>;
/// Bytes in a request.
pub type InlineBytes = Few<u8, 44>;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Writes local bytes to remote memory.
    Write,
    /// Reads remote memory into local bytes.
    Read,
    /// Sends local bytes as a message.
    Send,
    /// Adds to 8 bytes of remote memory.
    FetchAdd {
        /// What is added.
        add: u64,
    },
    /// Exchanges 8 bytes of remote memory if they have a value.
    CompareSwap {
        /// The expected value.
        compare: u64,
        /// The new value.
        swap: u64,
    },
    /// Completes when all earlier writes are in memory.
    Flush,
}

impl WorkKind {
    /// The opcode of its packets.
    pub const fn opcode(self) -> Opcode {
        match self {
            Self::Write => Opcode::Write,
            Self::Read => Opcode::Read,
            Self::Send => Opcode::Send,
            Self::FetchAdd { .. } => Opcode::FetchAdd,
            Self::CompareSwap { .. } => Opcode::CompareSwap,
            Self::Flush => Opcode::Flush,
        }
    }

    /// Whether it brings data back, and a later request with a fence waits for it.
    pub const fn brings_data(self) -> bool {
        matches!(self, Self::Read | Self::FetchAdd { .. } | Self::CompareSwap { .. })
    }
}

/// Flags of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkFlags {
    /// Success makes a completion; an error always does.
    pub signaled: bool,
    /// Starts only when earlier reads and atomic operations are done.
    pub fence: bool,
    /// The receiver shall wake its software.
    pub solicited: bool,
}

/// A work request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// Identifier for the completion.
    pub id: u64,
    /// What it does.
    pub kind: WorkKind,
    /// Local bytes, gathered or scattered in this order.
    pub local: Pieces,
    /// Bytes to write or send that were copied when it was posted; `local` is empty then.
    pub inline: Option<InlineBytes>,
    /// Remote address.
    pub address: u64,
    /// Remote key.
    pub key: u32,
    /// Immediate data of a write or message.
    pub immediate: Option<u32>,
    /// Flags.
    pub flags: WorkFlags,
}

impl WorkRequest {
    /// A signalled request without bytes.
    pub fn new(id: u64, kind: WorkKind) -> Self {
        let flags = WorkFlags { signaled: true, ..WorkFlags::default() };
        let (local, inline, immediate) = (Pieces::default(), None, None);
        Self { id, kind, local, inline, address: 0, key: 0, immediate, flags }
    }

    /// A write of local bytes.
    pub fn write(id: u64, local: Local, key: u32, address: u64) -> Self {
        Self { local: [local].into(), key, address, ..Self::new(id, WorkKind::Write) }
    }

    /// A read into local bytes.
    pub fn read(id: u64, local: Local, key: u32, address: u64) -> Self {
        Self { local: [local].into(), key, address, ..Self::new(id, WorkKind::Read) }
    }

    /// A message.
    pub fn send(id: u64, local: Local) -> Self {
        Self { local: [local].into(), ..Self::new(id, WorkKind::Send) }
    }

    /// Whether it takes a receive buffer of the partner.
    pub(super) fn takes_buffer(&self) -> bool {
        match self.kind {
            WorkKind::Send => true,
            WorkKind::Write => self.immediate.is_some(),
            _ => false,
        }
    }
}

/// Why a request cannot be posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The queue is full.
    #[error("work queue of {depth} requests is full: poll completions first")]
    Full {
        /// Its depth.
        depth: usize,
    },
    /// A local piece does not exist.
    #[error("local memory {}: no {} bytes at {:#x}", .0.memory, .0.length, .0.offset)]
    Local(Local),
    /// The request is too long.
    #[error("request of {bytes} bytes: at most {READ_MAX} allowed")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// Atomic operations have 8 aligned bytes; inline data is for writes and messages.
    #[error(
        "request does not fit its kind: an atomic operation takes 8 or no local bytes at an \
             address that is a multiple of 8; only writes and messages have inline or immediate data"
    )]
    Shape,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkProgress {
    /// Nothing was sent.
    Waiting,
    /// Packets have been sent; more of them may follow.
    Sent,
    /// Answered.
    Done,
}

/// A request in the queue.
#[derive(Debug)]
pub struct Work {
    pub request: WorkRequest,
    pub number: u32,
    pub bytes: u32,
    pub progress: WorkProgress,
    pub ends_group: bool,
    /// It asked for an acknowledgement, and does so again when repeated.
    pub asks: bool,
    /// Sent before: packets carry RETRY.
    pub retry: bool,
    pub attempts: u32,
    pub not_ready: u32,
    /// Bytes of a read that have arrived.
    pub arrived: u32,
    pub old: Option<u64>,
}

impl Work {
    pub fn new(
        request: WorkRequest,
        number: u32,
        memory: &impl LocalMemory,
    ) -> Result<Self, PostError> {
        if let Some(piece) = request.local.iter().find(|piece| !memory.check(**piece)) {
            return Err(PostError::Local(*piece));
        }
        let local: u64 = request.local.iter().map(|piece| u64::from(piece.length)).sum();
        let bytes = request.inline.as_ref().map_or(local, |inline| inline.len() as u64);
        let bytes = u32::try_from(bytes).ok().filter(|bytes| *bytes <= READ_MAX);
        let bytes = bytes.ok_or(PostError::TooLong { bytes: local })?;
        let sends = matches!(request.kind, WorkKind::Write | WorkKind::Send);
        let atomic = request.kind.opcode().is_atomic();
        if (request.inline.is_some() || request.immediate.is_some()) && !sends
            || request.inline.is_some() && local > 0
            || atomic && !(matches!(bytes, 0 | 8) && request.address.is_multiple_of(8))
            || request.kind == WorkKind::Flush && bytes > 0
        {
            return Err(PostError::Shape);
        }
        Ok(Self {
            request,
            number,
            bytes,
            progress: WorkProgress::Waiting,
            ends_group: false,
            asks: false,
            retry: false,
            attempts: 0,
            not_ready: 0,
            arrived: 0,
            old: None,
        })
    }
}
