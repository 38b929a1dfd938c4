//! The initiator: writes commands, and matches replies to transactions (50-52C 5.3.3, 5.4.3,
//! 5.5.3).

mod counters;
mod request;

pub use counters::{InitiatorDiscard, TransactionCounters, TransactionFailure};
pub use request::{RmapNode, RmapRequest};

use super::{BuildError, CommandHeader, Instruction, ReplyHeader, RmapStatus, body};
use crate::packet::PacketEnd;

/// A command that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCommand {
    /// Transaction identifier.
    pub transaction: u16,
    /// Bytes of the packet, including the path.
    pub bytes: usize,
    /// Whether the transaction is outstanding: it ends with a reply or a time-out.
    pub outstanding: bool,
}

/// A transaction that ended with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedTransaction<'a> {
    /// Transaction identifier.
    pub transaction: u16,
    /// Data of the reply, borrowed from the packet; empty for a write.
    pub result: Result<&'a [u8], TransactionFailure>,
}

/// A transaction that waits for its reply.
#[derive(Clone, Copy, Debug)]
struct Pending {
    transaction: u16,
    initiator: u8,
    target: u8,
    instruction: Instruction,
    length: u32,
    deadline_ns: u64,
}

/// An initiator with at most `N` outstanding transactions, 1 to 65536.
///
/// A transaction is in the table before the caller gets the packet, so a reply cannot come too
/// early.
/// The slot of a transaction is its identifier modulo `N`, so outstanding identifiers never
/// collide.
#[derive(Clone, Debug)]
pub struct RmapInitiator<const N: usize> {
    table: [Option<Pending>; N],
    outstanding: usize,
    next: u16,
    /// Lower bound of all deadlines.
    earliest_ns: u64,
    counters: TransactionCounters,
}

impl<const N: usize> Default for RmapInitiator<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> RmapInitiator<N> {
    /// Creates an initiator without transactions.
    pub const fn new() -> Self {
        const { assert!(0 < N && N <= 0x1_0000) };
        Self {
            table: [None; N],
            outstanding: 0,
            next: 0,
            earliest_ns: u64::MAX,
            counters: TransactionCounters::NONE,
        }
    }

    /// Sets the first transaction identifier, so that a restarted initiator does not take old
    /// replies for new ones.
    pub const fn with_transaction(mut self, next: u16) -> Self {
        self.next = next;
        self
    }

    /// Counters of the initiator.
    pub const fn counters(&self) -> &TransactionCounters {
        &self.counters
    }

    /// Number of transactions that wait for their replies.
    pub const fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Writes path bytes and a command to the start of `out`. If the command gets a reply, its
    /// transaction is outstanding until `now_ns + timeout_ns`.
    ///
    /// # Errors
    ///
    /// The command cannot be encoded, `out` is too small, or all slots are taken; nothing was done.
    pub fn begin(
        &mut self,
        node: &RmapNode<'_>,
        address: u64,
        request: &RmapRequest<'_>,
        now_ns: u64,
        timeout_ns: u64,
        out: &mut [u8],
    ) -> Result<SentCommand, BuildError> {
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
        let bytes = header.write_packet(node.path, request.parts()?, out)?;
        self.next = transaction.wrapping_add(1);
        self.counters.commands += 1;
        if outstanding {
            let deadline_ns = now_ns.saturating_add(timeout_ns);
            self.remember(&header, reply_length, deadline_ns);
        }
        Ok(SentCommand { transaction, bytes, outstanding })
    }

    /// The next identifier whose slot is free.
    fn free(&self) -> Result<u16, BuildError> {
        let full = BuildError::Outstanding { capacity: N };
        if self.outstanding >= N {
            return Err(full);
        }
        // Twice, because the slots start again where the identifiers wrap.
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

    /// Gives a transaction up; its reply will be discarded. Returns false if it is not outstanding.
    pub fn cancel(&mut self, transaction: u16) -> bool {
        let known = self.pending(transaction).is_some();
        if known {
            self.forget(transaction);
        }
        known
    }

    /// Processes a packet that starts at its initiator logical address.
    ///
    /// # Errors
    ///
    /// The packet completes no transaction. It is counted; outstanding transactions stay
    /// outstanding.
    pub fn handle<'a>(
        &mut self,
        packet: &'a [u8],
        end: PacketEnd,
    ) -> Result<CompletedTransaction<'a>, InitiatorDiscard> {
        let found = self.find(packet).inspect_err(|discard| self.counters.discarded(*discard));
        let (header, length) = found?;
        self.forget(header.transaction);
        let rest = packet.get(header.bytes()..).unwrap_or(&[]);
        let result = outcome(&header, rest, length, end);
        self.counters.ended(result);
        Ok(CompletedTransaction { transaction: header.transaction, result })
    }

    /// Finds the outstanding transaction of a reply. Returns the header and the expected data
    /// length.
    fn find(&self, packet: &[u8]) -> Result<(ReplyHeader, u32), InitiatorDiscard> {
        let header = ReplyHeader::parse(packet).map_err(InitiatorDiscard::Header)?;
        let (instruction, transaction) = (header.instruction, header.transaction);
        if !instruction.wants_reply() || instruction.operation().is_none() {
            return Err(InitiatorDiscard::Instruction { instruction });
        }
        let pending = self.pending(transaction).ok_or(InitiatorDiscard::Unknown { transaction })?;
        let found = (header.initiator, header.target, instruction);
        if found != (pending.initiator, pending.target, pending.instruction) {
            return Err(InitiatorDiscard::Mismatch { transaction });
        }
        Ok((header, pending.length))
    }

    /// Removes the next transaction that has timed out. Call it until it returns `None`. The
    /// standard defines neither time-outs nor retries; the caller decides what to do.
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

    /// Time of the next time-out.
    pub fn next_deadline_ns(&self) -> Option<u64> {
        self.table.iter().flatten().map(|pending| pending.deadline_ns).min()
    }
}

/// Evaluates a reply. The header CRC covers the status, so an error status counts whatever follows
/// it.
fn outcome<'a>(
    header: &ReplyHeader,
    rest: &'a [u8],
    expected: u32,
    end: PacketEnd,
) -> Result<&'a [u8], TransactionFailure> {
    if header.status != RmapStatus::SUCCESS {
        return Err(TransactionFailure::Status(header.status));
    }
    let length = header.length;
    if length != expected {
        return Err(TransactionFailure::Length { length, expected });
    }
    if header.instruction.is_write() {
        body::nothing(rest, end).map_err(TransactionFailure::Body)?;
        return Ok(&[]);
    }
    body::data(rest, length, end).map_err(TransactionFailure::Body)
}
