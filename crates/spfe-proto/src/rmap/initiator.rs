//! The initiator: writes commands, and finds the transaction of each reply (50-52C 5.3.3, 5.4.3,
//! 5.5.3).

use super::{
    BodyError, BuildError, CommandHeader, HeaderError, Instruction, Operation, RMW_MAX,
    ReplyAddress, ReplyHeader, Status, body,
};
use crate::packet::{DEFAULT_LOGICAL_ADDRESS, End};
use core::fmt;

/// A target as an initiator reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Path bytes in front of commands.
    pub path: &'a [u8],
    /// Target logical address.
    pub target: u8,
    /// The key the target wants.
    pub key: u8,
    /// The path back.
    pub reply_address: ReplyAddress,
    /// Logical address of the initiator.
    pub initiator: u8,
}

impl Default for Node<'_> {
    fn default() -> Self {
        Self {
            path: &[],
            target: DEFAULT_LOGICAL_ADDRESS,
            key: 0,
            reply_address: ReplyAddress::NONE,
            initiator: DEFAULT_LOGICAL_ADDRESS,
        }
    }
}

/// What an initiator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Read.
    Read {
        /// Consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// Bytes.
        length: u32,
    },
    /// Write.
    Write {
        /// The target checks all data before it writes any.
        verify: bool,
        /// The target acknowledges. If not, the initiator forgets the command once it is written.
        reply: bool,
        /// Consecutive addresses; otherwise one address for all data.
        increment: bool,
        /// The data.
        data: &'a [u8],
    },
    /// Write the bits of `data` where `mask` is one, and read what was there.
    ReadModifyWrite {
        /// 0 to 4 bytes.
        data: &'a [u8],
        /// As many.
        mask: &'a [u8],
    },
}

impl<'a> Request<'a> {
    /// A read of consecutive addresses.
    pub const fn read(length: u32) -> Self {
        Self::Read { increment: true, length }
    }

    /// A verified, acknowledged write to consecutive addresses.
    pub const fn write(data: &'a [u8]) -> Self {
        Self::Write { verify: true, reply: true, increment: true, data }
    }

    fn operation(&self) -> Operation {
        match *self {
            Self::Read { increment, .. } => Operation::Read { increment },
            Self::Write { verify, reply, increment, .. } => {
                Operation::Write { verify, reply, increment }
            }
            Self::ReadModifyWrite { .. } => Operation::ReadModifyWrite,
        }
    }

    /// The data length of the command, and of its reply.
    fn lengths(&self) -> (usize, u32) {
        match self {
            Self::Read { length, .. } => (*length as usize, *length),
            Self::Write { data, .. } => (data.len(), 0),
            Self::ReadModifyWrite { data, mask } => (data.len() + mask.len(), data.len() as u32),
        }
    }
}

/// A command on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its transaction identifier.
    pub transaction: u16,
    /// Bytes of the packet, path in front.
    pub bytes: usize,
    /// A reply will come, or a time-out.
    pub outstanding: bool,
}

/// A transaction that ended with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion<'a> {
    /// Its transaction identifier.
    pub transaction: u16,
    /// The data of the reply, in the packet; none for a write.
    pub result: Result<&'a [u8], Failure>,
}

/// Why a transaction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The target said so.
    Status(Status),
    /// The reply says success, with another amount of data than asked for.
    Length {
        /// Bytes in the reply.
        length: u32,
        /// Bytes asked for.
        expected: u32,
    },
    /// The reply says success, but is cut, too long or damaged.
    Body(BodyError),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => status.fmt(f),
            Self::Length { length, expected } => {
                write!(f, "data length of reply: {length}, {expected} expected")
            }
            Self::Body(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Failure {}

/// Why a packet completes no transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Its header.
    Header(HeaderError),
    /// An instruction that no reply has: no reply bit, or a command code not in use.
    Instruction {
        /// The instruction byte.
        instruction: Instruction,
    },
    /// Nobody waits for this transaction: it timed out, was cancelled, or never was.
    Unknown {
        /// Its identifier.
        transaction: u16,
    },
    /// Somebody waits for this transaction, from another target or of another kind. That one goes on.
    Mismatch {
        /// Its identifier.
        transaction: u16,
    },
}

impl fmt::Display for Discard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(error) => error.fmt(f),
            Self::Instruction { instruction } => {
                write!(f, "instruction: {:#04x}, of no reply", instruction.0)
            }
            Self::Unknown { transaction } => {
                write!(f, "transaction {transaction}: not outstanding")
            }
            Self::Mismatch { transaction } => {
                write!(f, "transaction {transaction}: reply of another target or command")
            }
        }
    }
}

impl core::error::Error for Discard {}

/// What an initiator counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Commands written.
    pub commands: u64,
    /// Transactions that ended with success.
    pub completed: u64,
    /// Transactions that ended with an error status of the target.
    pub refused: u64,
    /// Transactions that ended with an invalid reply.
    pub invalid: u64,
    /// Transactions that timed out.
    pub timed_out: u64,
    /// Packets discarded: of another protocol.
    pub other_protocol: u64,
    /// Packets discarded: commands and reserved packet types.
    pub not_reply: u64,
    /// Packets discarded: cut in their header, or their header damaged.
    pub header_errors: u64,
    /// Packets discarded: instructions that no reply has.
    pub instruction_errors: u64,
    /// Packets discarded: replies that nobody waits for.
    pub unknown: u64,
    /// Packets discarded: replies of another target or command.
    pub mismatched: u64,
}

/// A transaction that awaits its reply.
#[derive(Clone, Copy, Debug)]
struct Pending {
    transaction: u16,
    initiator: u8,
    target: u8,
    instruction: Instruction,
    length: u32,
    deadline_ns: u64,
}

/// An initiator with at most `N` transactions outstanding, 1 to 65536.
///
/// A transaction is in its table before the caller sees the packet: a reply cannot be too early. The
/// identifier's remainder by `N` is its place, so no two outstanding ones are the same.
#[derive(Clone, Debug)]
pub struct Initiator<const N: usize> {
    table: [Option<Pending>; N],
    outstanding: usize,
    next: u16,
    /// No deadline is earlier.
    earliest_ns: u64,
    counters: Counters,
}

impl<const N: usize> Default for Initiator<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Initiator<N> {
    /// An initiator that asked for nothing.
    pub const fn new() -> Self {
        const { assert!(0 < N && N <= 0x1_0000) };
        Self {
            table: [None; N],
            outstanding: 0,
            next: 0,
            earliest_ns: u64::MAX,
            counters: Counters {
                commands: 0,
                completed: 0,
                refused: 0,
                invalid: 0,
                timed_out: 0,
                other_protocol: 0,
                not_reply: 0,
                header_errors: 0,
                instruction_errors: 0,
                unknown: 0,
                mismatched: 0,
            },
        }
    }

    /// The same with another first transaction identifier, so that a restarted initiator does not
    /// take old replies for new ones.
    pub const fn with_transaction(mut self, next: u16) -> Self {
        self.next = next;
        self
    }

    /// What it counted.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Transactions that await their replies.
    pub const fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Writes a command, path bytes in front, to the start of `out`. If it gets a reply, that is
    /// awaited until `now_ns + timeout_ns`.
    ///
    /// # Errors
    ///
    /// The command cannot be said, `out` is too small, or all places are taken; nothing was done.
    pub fn begin(
        &mut self,
        node: &Node<'_>,
        address: u64,
        request: &Request<'_>,
        now_ns: u64,
        timeout_ns: u64,
        out: &mut [u8],
    ) -> Result<Sent, BuildError> {
        let (length, reply_length) = request.lengths();
        let instruction = Instruction::command(request.operation());
        let outstanding = instruction.wants_reply();
        let transaction = if outstanding { self.free()? } else { self.next };
        let header = CommandHeader {
            target: node.target,
            instruction: instruction.with_words(node.reply_address.words()),
            key: node.key,
            reply_address: node.reply_address,
            initiator: node.initiator,
            transaction,
            address,
            length: u32::try_from(length).map_err(|_| BuildError::Length { length })?,
        };
        let bytes = header.write_packet(node.path, parts(request)?, out)?;
        self.next = transaction.wrapping_add(1);
        self.counters.commands += 1;
        if outstanding {
            let deadline_ns = now_ns.saturating_add(timeout_ns);
            self.remember(&header, reply_length, deadline_ns);
        }
        Ok(Sent { transaction, bytes, outstanding })
    }

    /// The next identifier whose place is free.
    fn free(&self) -> Result<u16, BuildError> {
        let full = BuildError::Outstanding { capacity: N };
        if self.outstanding >= N {
            return Err(full);
        }
        // Twice, because the places start again where the identifiers wrap.
        let mut ids = (0..2 * N).map(|step| self.next.wrapping_add(step as u16));
        ids.find(|id| self.table[usize::from(*id) % N].is_none()).ok_or(full)
    }

    fn remember(&mut self, header: &CommandHeader, length: u32, deadline_ns: u64) {
        self.table[usize::from(header.transaction) % N] = Some(Pending {
            transaction: header.transaction,
            initiator: header.initiator,
            target: header.target,
            instruction: header.instruction.to_reply(),
            length,
            deadline_ns,
        });
        self.outstanding += 1;
        self.earliest_ns = self.earliest_ns.min(deadline_ns);
    }

    fn pending(&self, transaction: u16) -> Option<&Pending> {
        let pending = self.table[usize::from(transaction) % N].as_ref()?;
        (pending.transaction == transaction).then_some(pending)
    }

    fn forget(&mut self, transaction: u16) {
        self.table[usize::from(transaction) % N] = None;
        self.outstanding -= 1;
    }

    /// Gives a transaction up; its reply will be discarded. False if it is not outstanding.
    pub fn cancel(&mut self, transaction: u16) -> bool {
        let known = self.pending(transaction).is_some();
        if known {
            self.forget(transaction);
        }
        known
    }

    /// Takes a packet that starts at its initiator logical address.
    ///
    /// # Errors
    ///
    /// The packet completes no transaction. It was counted; outstanding transactions go on.
    pub fn handle<'a>(&mut self, packet: &'a [u8], end: End) -> Result<Completion<'a>, Discard> {
        let (header, length) = self.find(packet).inspect_err(|discard| self.discarded(*discard))?;
        self.forget(header.transaction);
        let rest = packet.get(header.bytes()..).unwrap_or(&[]);
        let result = outcome(&header, rest, length, end);
        *match result {
            Ok(_) => &mut self.counters.completed,
            Err(Failure::Status(_)) => &mut self.counters.refused,
            Err(Failure::Length { .. } | Failure::Body(_)) => &mut self.counters.invalid,
        } += 1;
        Ok(Completion { transaction: header.transaction, result })
    }

    /// The header of a reply that somebody waits for, and how much data it should have.
    fn find(&self, packet: &[u8]) -> Result<(ReplyHeader, u32), Discard> {
        let header = ReplyHeader::parse(packet).map_err(Discard::Header)?;
        let (instruction, transaction) = (header.instruction, header.transaction);
        if !instruction.wants_reply() || instruction.operation().is_none() {
            return Err(Discard::Instruction { instruction });
        }
        let pending = self.pending(transaction).ok_or(Discard::Unknown { transaction })?;
        let found = (header.initiator, header.target, instruction);
        if found != (pending.initiator, pending.target, pending.instruction) {
            return Err(Discard::Mismatch { transaction });
        }
        Ok((header, pending.length))
    }

    fn discarded(&mut self, discard: Discard) {
        let counters = &mut self.counters;
        *match discard {
            Discard::Header(HeaderError::Protocol { .. }) => &mut counters.other_protocol,
            Discard::Header(HeaderError::PacketType { .. }) => &mut counters.not_reply,
            Discard::Header(_) => &mut counters.header_errors,
            Discard::Instruction { .. } => &mut counters.instruction_errors,
            Discard::Unknown { .. } => &mut counters.unknown,
            Discard::Mismatch { .. } => &mut counters.mismatched,
        } += 1;
    }

    /// The next transaction whose time is over, if there is one; ask until there is none. The
    /// standard knows no time-outs and no retry: what to do then is the user's.
    pub fn expire(&mut self, now_ns: u64) -> Option<u16> {
        if now_ns < self.earliest_ns {
            return None;
        }
        let late = |pending: &&Pending| pending.deadline_ns <= now_ns;
        let Some(transaction) = self.table.iter().flatten().find(late).map(|p| p.transaction)
        else {
            self.earliest_ns = self.next_deadline_ns().unwrap_or(u64::MAX);
            return None;
        };
        self.forget(transaction);
        self.counters.timed_out += 1;
        Some(transaction)
    }

    /// When the next transaction times out.
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.table.iter().flatten().map(|pending| pending.deadline_ns).min()
    }
}

/// The data of a command, in its parts.
fn parts<'a>(request: &Request<'a>) -> Result<[&'a [u8]; 2], BuildError> {
    match *request {
        Request::Read { .. } => Ok([&[], &[]]),
        Request::Write { data, .. } => Ok([data, &[]]),
        Request::ReadModifyWrite { data, mask }
            if data.len() != mask.len() || data.len() > RMW_MAX =>
        {
            Err(BuildError::Mask { data: data.len(), mask: mask.len() })
        }
        Request::ReadModifyWrite { data, mask } => Ok([data, mask]),
    }
}

/// What a reply says. An error status stands whatever follows it: the header CRC covers it.
fn outcome<'a>(
    header: &ReplyHeader,
    rest: &'a [u8],
    expected: u32,
    end: End,
) -> Result<&'a [u8], Failure> {
    if header.status != Status::SUCCESS {
        return Err(Failure::Status(header.status));
    }
    let length = header.length;
    if length != expected {
        return Err(Failure::Length { length, expected });
    }
    if header.instruction.is_write() {
        body::nothing(rest, end).map_err(Failure::Body)?;
        return Ok(&[]);
    }
    body::data(rest, length, end).map_err(Failure::Body)
}
