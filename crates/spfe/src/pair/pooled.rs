//! Requests that never change: each has its place in the ring, and posting it again writes the two
//! words with the phase.

use super::{PairQueue, slots};
use crate::queue::{Queue, status_of};
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Error, Result};
use spfe_contract::{Completion, Status, completion_flags as cf, work_flags as wf};
use spfe_rdma::{Local, PairState, WorkError, WorkKind, WorkRequest};
use spfe_ring::Ring;
use spfe_ring::cursor::{Cursor, Mark};
use spfe_ring::ring::RingEntry;

/// Slots of a request: the first one, and one element.
const SLOTS: u32 = 2;
const SIGNAL: u64 = (wf::SIGNAL as u64) << 32;
const TIMED: u64 = (cf::TIMED as u64) << 32;

/// A completed group, or the part of one before an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PooledWork {
    /// Number of requests that ended; the last one has this status.
    pub requests: u32,
    /// Bytes of all of them; the status of the target if they failed.
    pub bytes: u32,
    /// OK, or why the last request failed.
    pub status: Status,
    /// Nobody knows whether the last request, which failed, was executed.
    pub unknown: bool,
}

impl PooledWork {
    /// Why the last request failed, in the terms of other queue pairs.
    pub fn error(&self) -> Option<WorkError> {
        let failed = self.status != Status::Ok;
        failed.then(|| slots::error_of(self.status, self.bytes, self.unknown))
    }
}

/// A queue pair whose requests differ only in their place: one kind, key and length, with local bytes
/// and remote addresses at regular distances. Posting a request stores two words and looks nothing
/// up.
pub struct PooledPair {
    pair: PairQueue,
    next: Cursor<Ring>,
    done: Cursor<Ring>,
    /// Second words of the two slots of every request, without phase.
    words: [u64; 2],
    /// Local bytes of the first request.
    base: *mut u8,
    length: usize,
    stride: usize,
    /// Requests that can be staged.
    free: u32,
    /// Requests posted and not completed.
    posted: u32,
    staged: u32,
    /// Position behind the last completed slot, as completions carry it.
    freed: u16,
    /// First slots of the first and of the last staged request. The store of the first one makes the
    /// group visible.
    first: Mark,
    last: Mark,
}

// SAFETY: `base` points into memory of the queue pair, which moves with it.
unsafe impl Send for PooledPair {}

impl PairQueue {
    /// Starts the queue pair anew with a ring that is full of one request: the write, read or message
    /// `request` with one local piece, each time `local` bytes further in its memory and `remote` bytes
    /// further at the target. The ring has [`PooledPair::requests`] of them.
    ///
    /// # Errors
    /// Those of [`PairQueue::can_pool`]; what [`PairQueue::restart`] reports.
    pub fn pooled(mut self, request: &WorkRequest, local: u32, remote: u64) -> Result<PooledPair> {
        let (base, address, piece) = self.pool_memory(request, local)?;
        let count = self.pooled_requests();
        self.halt(spfe_rdma::Execution::Unknown)?;
        self.send.start_again()?;
        self.halted = false;
        let ring = self.send.sq.ring;
        let mut words = [0; 2];
        for index in 0..count {
            let at = request.address.wrapping_add(remote.wrapping_mul(index.into()));
            let mut entry = slots::Slots::new(request.key, at, slots::flags(request) & !wf::SIGNAL);
            entry.element(address + u64::from(local) * u64::from(index), piece.length);
            let [one, two]: [RingEntry; 2] = entry.question().try_into().unwrap_or_default();
            ring.prepare(SLOTS * index, one[0]);
            ring.prepare(SLOTS * index + 1, two[0]);
            words = [one[1], two[1]];
        }
        // The memory belongs to the requests from here on.
        self.memory[piece.memory as usize].busy += 1;
        let (next, done) = (Cursor::new(ring, 0), Cursor::new(self.send.cq.ring, 0));
        Ok(PooledPair {
            base,
            length: piece.length as usize,
            stride: local as usize,
            free: count,
            posted: 0,
            staged: 0,
            freed: 0,
            first: next.mark(),
            last: next.mark(),
            words,
            next,
            done,
            pair: self,
        })
    }

    /// Number of requests that the ring of [`PairQueue::pooled`] has.
    pub fn pooled_requests(&self) -> u32 {
        self.send.sq.ring.size() / SLOTS
    }

    /// Whether [`PairQueue::pooled`] takes a request with this distance of local bytes.
    ///
    /// # Errors
    /// BAD_FIELD for another request, or for pieces that overlap; OUT_OF_BOUNDS if the memory does not
    /// have them all; BUSY while requests are outstanding or remote keys are bound.
    pub fn can_pool(&self, request: &WorkRequest, local: u32) -> Result<()> {
        self.pool_memory(request, local).map(drop)
    }

    /// The local bytes of the first request, their address in entries, and its piece.
    fn pool_memory(&self, request: &WorkRequest, local: u32) -> Result<(*mut u8, u64, Local)> {
        let wrong = |status, what: String| Err(Error::device(status, what));
        if !self.posted.is_empty() || !self.bound.is_empty() {
            let what = "a pooled queue pair begins without requests and remote keys of its own";
            return wrong(Status::Busy, what.to_owned());
        }
        let [piece] = request.local[..] else {
            let what = format!("{} local pieces: a pooled request has 1", request.local.len());
            return wrong(Status::BadField, what);
        };
        let moves = matches!(request.kind, WorkKind::Write | WorkKind::Read | WorkKind::Send);
        let fits = slots::check(request).is_ok() && moves && request.immediate.is_none();
        if !fits || piece.length == 0 || piece.length > local {
            let what = "a pooled request is a write, read or message of 1 byte and more, without \
                        immediate data, whose next one begins behind it";
            return wrong(Status::BadField, what.to_owned());
        }
        let count = self.pooled_requests();
        let buf = self.memory.get(piece.memory as usize).and_then(|memory| memory.buf.as_ref());
        let bytes = u64::from(local) * u64::from(count - 1) + u64::from(piece.length);
        let end = piece.offset.checked_add(bytes);
        let Some(buf) = buf.filter(|buf| end.is_some_and(|end| end <= buf.len() as u64)) else {
            let what = format!(
                "local memory {}: no {bytes} bytes at {:#x} for {count} requests",
                piece.memory, piece.offset
            );
            return wrong(Status::OutOfBounds, what);
        };
        let base = buf.as_ptr().cast_mut().wrapping_add(piece.offset as usize);
        Ok((base, buf.address() + piece.offset, piece))
    }
}

impl PooledPair {
    /// Number of requests in the ring.
    pub fn requests(&self) -> u32 {
        self.pair.pooled_requests()
    }

    /// Number of requests that can be staged now.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Number of requests staged or posted, and not completed.
    pub fn outstanding(&self) -> u32 {
        self.posted + self.staged
    }

    /// Number of the request that completes next, of those that are outstanding.
    pub fn oldest_request(&self) -> u32 {
        (self.next_request() + self.requests() - self.outstanding()) % self.requests()
    }

    /// State of the queue pair.
    pub fn state(&self) -> PairState {
        self.pair.state()
    }

    /// Number of the request that is staged next, 0 to [`PooledPair::requests`] - 1.
    pub fn next_request(&self) -> u32 {
        self.next.index() / SLOTS
    }

    /// Local bytes of a request; `None` while it is outstanding.
    pub fn bytes(&mut self, request: u32) -> Option<&mut [u8]> {
        let ahead = request.wrapping_sub(self.next_request()) % self.requests();
        if request >= self.requests() || ahead >= self.free {
            return None;
        }
        let at = self.base.wrapping_add(self.stride * request as usize);
        // SAFETY: the memory has the bytes of all requests (`PairQueue::pooled`), which do not
        // overlap. The device does not access those of a free request, and the queue is borrowed.
        Some(unsafe { std::slice::from_raw_parts_mut(at, self.length) })
    }

    /// Adds the next request to the group. False if all are outstanding.
    #[inline(always)]
    pub fn stage(&mut self) -> bool {
        if self.free == 0 {
            return false;
        }
        let [one, two] = self.words;
        self.last = self.next.mark();
        if self.staged == 0 {
            // The first slot is stored last: its phase makes the whole group visible.
            self.first = self.last;
            self.next.advance();
        } else {
            self.next.publish_next(one);
        }
        self.next.publish_next(two);
        self.staged += 1;
        self.free -= 1;
        true
    }

    /// Shows the device what was staged: one doorbell, one acknowledgement, one completion.
    #[inline(always)]
    pub fn submit(&mut self) {
        let mut word = self.words[0];
        match self.staged {
            0 => return,
            1 => word |= SIGNAL,
            _ => self.next.at(self.last).publish(word | SIGNAL),
        }
        self.next.at(self.first).publish(word);
        self.posted += std::mem::take(&mut self.staged);
        self.pair.send.start_posted();
    }

    /// The next completion, if there is one. Its requests are free afterwards. After an error all
    /// that were posted complete, and [`PooledPair::into_pair`] leads to a queue pair that can be
    /// connected again.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<PooledWork> {
        match self.done.take_plain() {
            Some(words) => self.finish(words),
            None => self.poll_other(),
        }
    }

    /// Looks for a completion with flags.
    #[inline(never)]
    fn poll_other(&mut self) -> Option<PooledWork> {
        let queue = &mut self.pair.send;
        let Some(words) = self.done.read() else {
            if self.posted != 0 {
                queue.progress();
            }
            return None;
        };
        if words[1] & TIMED != 0 && !queue.is_due() {
            return None;
        }
        self.done.advance();
        self.finish(words)
    }

    #[inline(always)]
    fn finish(&mut self, words: RingEntry) -> Option<PooledWork> {
        let done = Completion::from_words(words);
        let slots = u32::from(done.position.wrapping_sub(self.freed).wrapping_add(1));
        let count = slots / SLOTS;
        if count.wrapping_sub(1) >= self.posted || !slots.is_multiple_of(SLOTS) {
            self.pair.send.set_broken();
            return None;
        }
        self.freed = done.position.wrapping_add(1);
        self.posted -= count;
        self.free += count;
        self.pair.send.take_uncredited(&done);
        let (bytes, status) = (done.bytes, status_of(&done));
        let unknown = done.flags & cf::UNKNOWN != 0;
        Some(PooledWork { requests: count, bytes, status, unknown })
    }

    /// Waits for a completion and leaves it to [`PooledPair::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more completions will arrive.
    pub fn wait(&mut self, deadline: Deadline) -> Result<Ready> {
        self.wait_for(&Threshold::ONE, deadline)
    }

    /// Waits until the completions of groups meet a threshold.
    ///
    /// # Errors
    /// Those of [`PooledPair::wait`].
    pub fn wait_for(&mut self, goal: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.queue().wait(goal, deadline)
    }

    fn queue(&mut self) -> &mut Queue {
        &mut self.pair.send
    }

    /// Device time, ns.
    pub fn now_ns(&self) -> u64 {
        self.pair.now_ns()
    }

    /// Times that the thread slept in a wait.
    pub fn sleeps(&self) -> u64 {
        self.pair.sleeps()
    }

    /// Time that the engine took in this thread, ns.
    pub fn engine_ns(&self) -> u64 {
        self.pair.engine_ns()
    }

    /// What the queue pair waits for, as a sentence that names the partner.
    pub fn why(&self) -> String {
        self.pair.why()
    }

    /// The queue pair, stopped: what was outstanding is forgotten. Its memory can be used again.
    pub fn into_pair(self) -> PairQueue {
        let mut pair = self.pair;
        pair.abort();
        if pair.halted {
            pair.memory.iter_mut().for_each(|memory| memory.busy = 0);
        }
        pair
    }
}
