//! The initiator: sends commands and matches replies.

use super::error::{Access, Error};
use super::options::{InitiatorCounters, InitiatorOptions, Remote, Write};
use crate::cancel::Canceller;
use crate::endpoint::Vc;
use crate::pooled::{PoolOptions, PooledRx, PooledTx};
use crate::tx::End;
use crate::wait::{Deadline, Threshold};
use spfe_contract::Status as QueueStatus;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::command::HEADER_MAX;
use spfe_proto::rmap::initiator::{RmapNode, RmapRequest, TransactionFailure};
use spfe_proto::rmap::reply::READ_HEADER;
use spfe_proto::rmap::{BuildError, LENGTH_MAX, initiator};
use std::collections::VecDeque;
use std::ops::Range;

/// Maximum number of outstanding transactions.
const OUTSTANDING_MAX: usize = 64;
/// Maximum length of a path address, bytes.
const PATH_MAX: usize = 32;
/// Long accesses are split at multiples of this number of bytes, so that no memory word is split.
const CUT: usize = 16;

type Result<T, E = Error> = std::result::Result<T, E>;

/// A transaction that has ended: identifier, and the data read.
type Ended = (u16, Result<Vec<u8>>);

/// Reads and writes the memory of other nodes.
///
/// [`Initiator::read`] and [`Initiator::write`] split long accesses into commands and keep several of
/// them outstanding. [`Initiator::begin`] sends a single command, and [`Initiator::finish`] waits for
/// the next reply, in any order. A deadline covers the whole call; transactions that are still
/// outstanding then have failed.
pub struct Initiator {
    core: Box<initiator::RmapInitiator<OUTSTANDING_MAX>>,
    accesses: [Option<Access>; OUTSTANDING_MAX],
    tx: PooledTx,
    rx: PooledRx,
    remote: Remote,
    max_data: usize,
    outstanding: usize,
    /// Transactions that ended while the caller waited for another one.
    ended: VecDeque<Ended>,
    /// The packet being received is longer than a slot.
    inside: bool,
    too_long: u64,
}

impl Initiator {
    /// An initiator on two queues. Their slots limit the data of a command: a command needs 29 bytes
    /// and the path address in addition, a reply 13 bytes.
    pub fn new(tx: PooledTx, rx: PooledRx, options: InitiatorOptions) -> Self {
        let InitiatorOptions { remote, max_data, outstanding, first_transaction } = options;
        let commands = tx.slot_bytes().saturating_sub(PATH_MAX + HEADER_MAX + 1);
        let replies = rx.slot_bytes().saturating_sub(READ_HEADER + 1);
        let max_data = (max_data.clamp(1, LENGTH_MAX) as usize).min(commands).min(replies);
        let core = initiator::RmapInitiator::new().with_transaction(first_transaction);
        Self {
            core: Box::new(core),
            accesses: [None; OUTSTANDING_MAX],
            tx,
            rx,
            remote,
            max_data,
            outstanding: outstanding.clamp(1, OUTSTANDING_MAX),
            ended: VecDeque::new(),
            inside: false,
            too_long: 0,
        }
    }

    /// Opens an initiator on a virtual channel, with queues that fit the options.
    ///
    /// # Errors
    /// BUSY if another client has the virtual channel open.
    pub fn open(vc: &Vc, options: InitiatorOptions) -> crate::Result<Self> {
        let bytes = options.max_data.clamp(1, LENGTH_MAX) + 128;
        let slots = options.outstanding.clamp(4, OUTSTANDING_MAX) as u32;
        let pool = PoolOptions::new(slots, bytes);
        Ok(Self::new(vc.tx_pooled(pool)?, vc.rx_pooled(pool)?, options))
    }

    /// Sets the target of further commands. Replies of earlier targets are still accepted.
    pub fn set_remote(&mut self, remote: Remote) {
        self.remote = remote;
    }

    /// The target of further commands.
    pub fn remote(&self) -> &Remote {
        &self.remote
    }

    /// Maximum number of data bytes in a command.
    pub fn max_data(&self) -> usize {
        self.max_data
    }

    /// Number of transactions that wait for a reply.
    pub fn outstanding(&self) -> usize {
        self.core.outstanding()
    }

    /// Counters of this initiator.
    pub fn counters(&self) -> InitiatorCounters {
        InitiatorCounters { packets: *self.core.counters(), too_long: self.too_long }
    }

    /// A handle with which other threads end waits for replies.
    pub fn canceller(&mut self) -> Canceller {
        self.rx.canceller()
    }

    /// Reads consecutive addresses.
    ///
    /// # Errors
    /// The error of the first command that failed. `data` has what the other commands read.
    pub fn read(&mut self, address: u64, data: &mut [u8], deadline: Deadline) -> Result<()> {
        self.read_from(address, true, data, deadline)
    }

    /// Reads consecutive addresses, or one address repeatedly.
    ///
    /// # Errors
    /// Those of [`Initiator::read`].
    pub fn read_from(
        &mut self,
        address: u64,
        increment: bool,
        data: &mut [u8],
        deadline: Deadline,
    ) -> Result<()> {
        let ask = |part: Range<usize>| {
            let length = part.len() as u32;
            (at(address, increment, &part), RmapRequest::Read { increment, length })
        };
        self.in_parts(data.len(), deadline, ask, |part, bytes| {
            if let Some(place) = data.get_mut(part).filter(|place| place.len() == bytes.len()) {
                place.copy_from_slice(bytes);
            }
        })
    }

    /// Writes to consecutive addresses, verified and with a reply.
    ///
    /// # Errors
    /// The error of the first command that failed. Other commands may have been executed.
    pub fn write(&mut self, address: u64, data: &[u8], deadline: Deadline) -> Result<()> {
        self.write_as(address, Write::default(), data, deadline)
    }

    /// Writes with a given kind of command. Without replies, read the data back to learn whether the
    /// write was executed.
    ///
    /// # Errors
    /// Those of [`Initiator::write`].
    pub fn write_as(
        &mut self,
        address: u64,
        how: Write,
        data: &[u8],
        deadline: Deadline,
    ) -> Result<()> {
        let Write { verify, reply, increment } = how;
        let ask = |part: Range<usize>| {
            let place = at(address, increment, &part);
            let data = data.get(part).unwrap_or(&[]);
            (place, RmapRequest::Write { verify, reply, increment, data })
        };
        self.in_parts(data.len(), deadline, ask, |_, _| {})
    }

    /// Writes the bits of `data` where `mask` is one and returns the previous value in `old`. All
    /// three have the same length of 0 to 4 bytes.
    ///
    /// # Errors
    /// The lengths differ, or the error of the command.
    pub fn modify(
        &mut self,
        address: u64,
        data: &[u8],
        mask: &[u8],
        old: &mut [u8],
        deadline: Deadline,
    ) -> Result<()> {
        if old.len() != data.len() {
            let (bytes, expected) = (old.len(), data.len());
            return Err(BuildError::Data { bytes, expected }.into());
        }
        let Some(transaction) =
            self.begin(address, &RmapRequest::ReadModifyWrite { data, mask }, deadline)?
        else {
            return Ok(());
        };
        let read = self.finish_one(transaction, deadline)?;
        if read.len() == old.len() {
            old.copy_from_slice(&read);
        }
        Ok(())
    }

    /// Sends a command. Returns its transaction identifier, or `None` for a command without a reply.
    ///
    /// # Errors
    /// The command cannot be encoded, the maximum number of transactions is outstanding, or the
    /// transmit queue has no room by the deadline.
    pub fn begin(
        &mut self,
        address: u64,
        request: &RmapRequest<'_>,
        deadline: Deadline,
    ) -> Result<Option<u16>> {
        let access = self.access(address, request);
        if access.bytes > self.max_data {
            let (bytes, expected) = (access.bytes, self.max_data);
            return Err(BuildError::Data { bytes, expected }.into());
        }
        if self.remote.path.len() > PATH_MAX {
            return Err(BuildError::Length { length: self.remote.path.len() }.into());
        }
        if self.core.outstanding() >= self.outstanding {
            return Err(BuildError::Outstanding { capacity: self.outstanding }.into());
        }
        self.reclaim()?;
        while self.tx.free() == 0 {
            self.tx.wait(deadline)?;
            self.reclaim()?;
        }
        let now_ns = self.tx.now_ns();
        let timeout_ns = deadline.ns().saturating_sub(now_ns);
        let Remote { path, target, key, reply_address, initiator } = &self.remote;
        let node = RmapNode {
            path,
            target: *target,
            key: *key,
            reply_address: *reply_address,
            initiator: *initiator,
        };
        let Some(slot) = self.tx.slot() else {
            return Err(BuildError::Outstanding { capacity: self.outstanding }.into());
        };
        let sent = self.core.begin(&node, address, request, now_ns, timeout_ns, slot)?;
        if let Err(error) = self.tx.send(sent.bytes) {
            self.core.cancel(sent.transaction);
            return Err(error.into());
        }
        if !sent.outstanding {
            return Ok(None);
        }
        self.accesses[usize::from(sent.transaction) % OUTSTANDING_MAX] = Some(access);
        Ok(Some(sent.transaction))
    }

    /// Waits until any transaction ends. Returns its identifier and the data it read.
    ///
    /// # Errors
    /// Timed out: the deadline of this call has passed; transactions stay outstanding.
    pub fn finish(&mut self, deadline: Deadline) -> Result<(u16, Result<Vec<u8>>)> {
        if let Some(ended) = self.ended.pop_front() {
            return Ok(ended);
        }
        self.next(deadline, |transaction, result| (transaction, result.map(<[u8]>::to_vec)))
    }

    /// Waits until all commands have been sent.
    ///
    /// # Errors
    /// Timed out, or why a command was not sent.
    pub fn flush(&mut self, deadline: Deadline) -> Result<()> {
        self.reclaim()?;
        while self.tx.outstanding() != 0 {
            self.tx.wait(deadline)?;
            self.reclaim()?;
        }
        Ok(())
    }

    /// Abandons a transaction; its reply will be discarded. False if it is not outstanding.
    pub fn cancel(&mut self, transaction: u16) -> bool {
        self.core.cancel(transaction)
    }

    fn access(&self, address: u64, request: &RmapRequest<'_>) -> Access {
        let (kind, bytes) = match *request {
            RmapRequest::Read { length, .. } => ("read", length as usize),
            RmapRequest::Write { data, .. } => ("write", data.len()),
            RmapRequest::ReadModifyWrite { data, .. } => ("read-modify-write", data.len()),
        };
        Access { kind, address, bytes, target: self.remote.target }
    }

    /// Waits for one transaction. Others that end before are kept for [`Initiator::finish`].
    fn finish_one(&mut self, transaction: u16, deadline: Deadline) -> Result<Vec<u8>> {
        loop {
            let ended = self.next(deadline, |id, result| (id, result.map(<[u8]>::to_vec)));
            match ended {
                Ok((id, result)) if id == transaction => return result,
                Ok(ended) => self.ended.push_back(ended),
                Err(error) => {
                    self.core.cancel(transaction);
                    return Err(error);
                }
            }
        }
    }

    /// Executes an access in as many commands as it needs, several of them outstanding.
    fn in_parts<'d>(
        &mut self,
        bytes: usize,
        deadline: Deadline,
        ask: impl Fn(Range<usize>) -> (u64, RmapRequest<'d>),
        mut done: impl FnMut(Range<usize>, &[u8]),
    ) -> Result<()> {
        let most = if self.max_data > CUT { self.max_data / CUT * CUT } else { self.max_data };
        let mut under_way: Vec<(u16, Range<usize>)> = Vec::with_capacity(self.outstanding);
        // An access of no bytes takes one command.
        let (mut start, mut left) = (0, true);
        let outcome = loop {
            if left && self.core.outstanding() < self.outstanding {
                let part = start..bytes.min(start + most.max(1));
                let (address, request) = ask(part.clone());
                match self.begin(address, &request, deadline) {
                    Ok(Some(transaction)) => under_way.push((transaction, part.clone())),
                    Ok(None) => {}
                    Err(error) => break Err(error),
                }
                start = part.end;
                left = start < bytes;
                continue;
            }
            if under_way.is_empty() && !left {
                break Ok(());
            }
            let mut other = None;
            let next = self.next(deadline, |transaction, result| {
                let place = under_way.iter().position(|(id, _)| *id == transaction);
                let Some((_, part)) = place.map(|place| under_way.swap_remove(place)) else {
                    other = Some((transaction, result.map(<[u8]>::to_vec)));
                    return Ok(());
                };
                result.map(|bytes| done(part, bytes))
            });
            self.ended.extend(other);
            if let Err(error) = next.and_then(|result| result) {
                break Err(error);
            }
        };
        for (transaction, _) in under_way {
            self.core.cancel(transaction);
        }
        outcome
    }

    /// Waits until any transaction ends.
    fn next<R>(
        &mut self,
        deadline: Deadline,
        take: impl FnOnce(u16, Result<&[u8]>) -> R,
    ) -> Result<R> {
        loop {
            while let Some(packet) = self.rx.peek() {
                if !matches!(packet.status, QueueStatus::Ok | QueueStatus::PacketCut) {
                    let status = packet.status;
                    let what = format!("a reply was not received: {}", status.doc());
                    return Err(crate::Error::device(status, what).into());
                }
                let (more, part) = (packet.end == End::More, self.inside);
                self.inside = more;
                if more || part {
                    self.too_long += u64::from(!more);
                    self.rx.release();
                    continue;
                }
                let end = if packet.end == End::Eep { PacketEnd::Eep } else { PacketEnd::Eop };
                if let Ok(done) = self.core.handle(packet.bytes, end) {
                    let access = access_of(&self.accesses, done.transaction);
                    let result = done.result.map_err(|failure| match failure {
                        TransactionFailure::Status(status) => Error::Refused { access, status },
                        failure => Error::Invalid { access, failure },
                    });
                    let taken = take(done.transaction, result);
                    self.rx.release();
                    return Ok(taken);
                }
                self.rx.release();
            }
            let now_ns = self.tx.now_ns();
            if let Some(transaction) = self.core.expire(now_ns) {
                let access = access_of(&self.accesses, transaction);
                return Ok(take(transaction, Err(Error::TimedOut { access, transaction })));
            }
            self.wait(deadline)?;
        }
    }

    /// Waits until a packet arrives or a transaction times out.
    fn wait(&mut self, deadline: Deadline) -> Result<()> {
        // If this thread is the engine, polling moves the commands.
        match self.tx.wait(Deadline::NOW) {
            Err(error) if !error.is_timeout() => return Err(error.into()),
            _ => self.reclaim()?,
        }
        let first = self.core.next_deadline_ns().filter(|at| *at < deadline.ns());
        let until = first.map_or(deadline, Deadline::at_ns);
        match self.rx.wait(&Threshold::ONE, until) {
            Err(error) if error.is_timeout() && first.is_some() => Ok(()),
            // A transaction with the same deadline gives a better error message.
            Err(error) if error.is_timeout() && self.core.outstanding() != 0 => {
                let now_ns = self.tx.now_ns();
                match self.core.next_deadline_ns().is_some_and(|at| at <= now_ns) {
                    true => Ok(()),
                    false => Err(error.into()),
                }
            }
            result => Ok(result.map(drop)?),
        }
    }

    /// Takes the completions of commands.
    fn reclaim(&mut self) -> Result<()> {
        while let Some(sent) = self.tx.poll() {
            if sent.status != QueueStatus::Ok {
                let what = format!("a command was not sent: {}", sent.status.doc());
                return Err(crate::Error::device(sent.status, what).into());
            }
        }
        Ok(())
    }
}

/// Address of a part of an access.
fn at(address: u64, increment: bool, part: &Range<usize>) -> u64 {
    if increment { address.saturating_add(part.start as u64) } else { address }
}

fn access_of(accesses: &[Option<Access>; OUTSTANDING_MAX], transaction: u16) -> Access {
    let unknown = Access { kind: "command", address: 0, bytes: 0, target: 0 };
    accesses[usize::from(transaction) % OUTSTANDING_MAX].unwrap_or(unknown)
}
