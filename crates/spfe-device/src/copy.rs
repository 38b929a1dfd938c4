//! Copying payload: by the runner alone, or shared with the far end through the board of the flow.

use crate::memory::{Address, READ, RegionKey, RegionMap, WRITE};
use crate::queue::{CompletionTime, QueueView};
use spfe_contract::Completion;
use spfe_ring::Board;
use spfe_ring::board::{RoundPlan, Segment};

/// A stretch of bytes to send.
#[derive(Clone, Copy, Debug)]
pub struct CopySource {
    /// First byte, in this process.
    pub at: *const u8,
    /// Address of the first byte. `None` for bytes outside of any region: inline data and
    /// instruments.
    pub address: Option<Address>,
    /// Number of bytes.
    pub length: u32,
}

/// A place to copy to.
#[derive(Clone, Copy, Debug)]
pub struct CopyTarget {
    /// First byte, in this process.
    pub at: *mut u8,
    /// Address of the first byte. `None` for memory outside of any region.
    pub address: Option<Address>,
}

impl CopyTarget {
    /// The place `bytes` further.
    #[inline(always)]
    pub fn plus(self, bytes: u32) -> Self {
        Self {
            at: self.at.wrapping_add(bytes as usize),
            address: self.address.map(|a| Address(a.0 + u64::from(bytes))),
        }
    }
}

/// One of the two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowEnd {
    /// The sender.
    Tx,
    /// The receiver.
    Rx,
}

/// Shorter copies are never shared.
pub const SHARE_MIN_BYTES: u32 = 2048;
/// A longer copy is divided, so that both ends can work on it.
const CUT_BYTES: u32 = 32 * 1024;

/// A completion that waits for a job of the round.
struct Deferred {
    end: FlowEnd,
    job: u32,
    position: u32,
    completion: Completion,
    time: CompletionTime,
}

/// A round being planned: copies on the board, and completions that wait for them.
pub struct CopyRound<'a> {
    board: &'a Board,
    plan: RoundPlan,
    job_bytes: u32,
    deferred: &'a mut DeferredList,
    id: u32,
}

/// The completions of one round. Allocated once for each flow.
pub struct DeferredList(Vec<Deferred>);

impl Default for DeferredList {
    fn default() -> Self {
        Self(Vec::with_capacity(spfe_ring::board::SEGMENTS * 2))
    }
}

/// How a step copies payload.
pub enum Copier<'a> {
    /// The runner copies at once.
    Alone,
    /// The runner plans rounds, and the far end helps.
    Shared(CopyRound<'a>),
}

/// Copies payload. A host may write to the memory at the same time; then the bytes are undefined,
/// but nothing else is affected.
///
/// # Safety
/// Source and target are mapped for `length` bytes ([`RegionMap::translate`]).
#[inline(always)]
pub unsafe fn move_bytes(source: *const u8, target: *mut u8, length: u32) {
    // SAFETY: both are mapped for `length` bytes. The two words of a short copy may overlap, and
    // both are loaded before the first store. `copy` allows source and target to overlap.
    unsafe {
        match length {
            8..=16 => {
                let tail = length as usize - 8;
                let first = source.cast::<u64>().read_unaligned();
                let last = source.add(tail).cast::<u64>().read_unaligned();
                target.cast::<u64>().write_unaligned(first);
                target.add(tail).cast::<u64>().write_unaligned(last);
            }
            _ => core::ptr::copy(source, target, length as usize),
        }
    };
}

impl<'a> Copier<'a> {
    /// A copier that shares large copies with helpers.
    pub fn shared(board: &'a Board, deferred: &'a mut DeferredList, id: u32) -> Self {
        let shared =
            CopyRound { board, plan: RoundPlan::default(), job_bytes: CUT_BYTES, deferred, id };
        Self::Shared(shared)
    }

    /// Whether completions wait for planned copies. Then every later completion waits as well.
    #[inline(always)]
    pub fn is_deferring(&self) -> bool {
        match self {
            Self::Alone => false,
            Self::Shared(shared) => !shared.plan.is_empty(),
        }
    }

    /// Whether the round is full. Then [`Copier::settle`] comes before the next copy.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        match self {
            Self::Alone => false,
            Self::Shared(shared) => {
                !shared.plan.has_room()
                    || shared.deferred.0.len() + 2 > spfe_ring::board::SEGMENTS * 2
            }
        }
    }

    /// Copies now, or plans the copy for the round.
    ///
    /// # Safety
    /// Source and target are mapped for `length` bytes until the round is settled.
    #[inline(always)]
    pub unsafe fn copy(&mut self, source: CopySource, target: CopyTarget, length: u32) {
        if let Self::Shared(shared) = self
            && length >= SHARE_MIN_BYTES
            && let (Some(from), Some(to)) = (source.address, target.address)
        {
            shared.add(from, to, length, source.at, target.at);
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { move_bytes(source.at, target.at, length) };
    }

    /// Writes a completion now, or after the copies that are planned so far.
    #[inline(always)]
    pub fn complete(
        &mut self,
        end: FlowEnd,
        view: &QueueView,
        position: u32,
        completion: Completion,
        time: CompletionTime,
    ) {
        if self.is_deferring()
            && let Self::Shared(shared) = self
        {
            let job = shared.plan.last_job();
            shared.deferred.0.push(Deferred { end, job, position, completion, time });
        } else {
            view.complete_at(position, completion, time);
        }
    }
}

impl CopyRound<'_> {
    #[inline]
    fn add(&mut self, from: Address, to: Address, length: u32, source: *const u8, target: *mut u8) {
        let mut done = 0;
        while done < length {
            let rest = length - done;
            let cut = if rest > CUT_BYTES + CUT_BYTES / 2 { CUT_BYTES } else { rest };
            let at = done as usize;
            if !self.plan.has_room() {
                // The round is full, so the runner copies the rest now. Nothing is published before
                // the round ends anyway.
                // SAFETY: source and target are mapped for the whole length (`Copier::copy`).
                unsafe { move_bytes(source.wrapping_add(at), target.wrapping_add(at), rest) };
                return;
            }
            let segment = Segment {
                source: from.0 + u64::from(done),
                target: to.0 + u64::from(done),
                length: cut,
            };
            self.board.add(&mut self.plan, segment, self.job_bytes);
            done += cut;
        }
    }
}

/// The regions that the jobs of a board refer to.
pub struct CopyRegions<'a> {
    /// Regions of the sender.
    pub tx_map: &'a RegionMap,
    /// Regions of the receiver.
    pub rx_map: &'a RegionMap,
    /// Protection domain of the transmit queue.
    pub tx_domain: u16,
    /// Protection domain of the receive queue.
    pub rx_domain: u16,
}

impl CopyRegions<'_> {
    /// Makes one copy of a job. `Err` names a region that this process has not mapped; true if it
    /// is a region of the sender.
    pub fn carry_out(&self, segment: Segment) -> Result<(), (bool, RegionKey)> {
        let length = u64::from(segment.length);
        let (from, to) = (Address(segment.source), Address(segment.target));
        let source = self.tx_map.translate(from, length, self.tx_domain, READ);
        let target = self.rx_map.translate(to, length, self.rx_domain, WRITE);
        let source = source.map_err(|_| (true, from.key()))?;
        let target = target.map_err(|_| (false, to.key()))?;
        // SAFETY: both were just translated for this length.
        unsafe { move_bytes(source, target, segment.length) };
        Ok(())
    }

    /// Helper: takes jobs until none is left. Returns the number of jobs done and, if one could not
    /// be done, the region to map first.
    pub fn help(&self, board: &Board, id: u32) -> (u32, Option<(bool, RegionKey)>) {
        let mut jobs = 0;
        while let Some(taken) = board.take(id) {
            let done = board.segments(taken).try_for_each(|segment| self.carry_out(segment));
            board.finish(taken, done.is_ok());
            match done {
                Ok(()) => jobs += 1,
                Err(missing) => return (jobs, Some(missing)),
            }
        }
        (jobs, None)
    }
}

impl Copier<'_> {
    /// Ends the round: copies, waits for the jobs that helpers took, and writes the completions
    /// that waited for them.
    pub fn settle(
        &mut self,
        ends: &CopyRegions<'_>,
        tx: Option<&QueueView>,
        rx: Option<&QueueView>,
        is_dead: &mut dyn FnMut(u32) -> bool,
    ) {
        let Self::Shared(shared) = self else { return };
        if shared.plan.is_empty() {
            return;
        }
        let jobs = shared.board.open(&mut shared.plan);
        ends.help(shared.board, shared.id);
        let mut waiting = shared.deferred.0.drain(..).peekable();
        for job in 0..jobs {
            let again = |segment| {
                // Cannot fail: the runner translated these addresses when it planned the round.
                let _ = ends.carry_out(segment);
            };
            let mut turns = 0u32;
            shared.board.settle(job, &mut *is_dead, again, || {
                turns = turns.wrapping_add(1);
                if turns.is_multiple_of(256) {
                    std::thread::yield_now();
                }
            });
            while let Some(next) = waiting.next_if(|next| next.job <= job) {
                if let Some(view) = if next.end == FlowEnd::Tx { tx } else { rx } {
                    view.complete_at(next.position, next.completion, next.time);
                }
            }
        }
        shared.plan = RoundPlan::default();
    }
}
