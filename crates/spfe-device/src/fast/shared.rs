//! Packets that both ends of a flow copy, through its board ([`spfe_ring::board`]).
//!
//! The holder of the seat plans jobs of whole packets, each from one DATA entry into one posted
//! buffer, or of a part of a long packet. It copies as well, as soon as enough jobs wait for the
//! other end. Whoever finishes a job publishes the completions of all jobs before the first
//! unfinished one, which the notes of each job describe. The state of the flow counts planned
//! packets; the rings tell which of them have happened (`recover`).

use super::send::take;
use super::{BUFFER, DATA, FastState, LoopEnd, RX_CHECK, SIGNAL, prefetch_packet};
use crate::copy::move_bytes;
use crate::memory::{Address, RegionKey, Regions};
use crate::shared::{QueueCounters, RxState, TURNS, TxState, bump};
use crate::transmit::TxQueue;
use spfe_ring::board::{JOBS, NOTES, SEGMENTS, Segment};
use spfe_ring::cursor::{Cursor, PHASE_BITS, RingCell, RingPair};
use spfe_ring::sync::{AtomicU32, Ordering, light_fence, relax};
use spfe_ring::{Board, Ring};

/// When copies are shared with the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePolicy {
    /// Only while the far end polls on a processor nearby ([`crate::distance`]).
    pub near: bool,
    /// Shortest packet that begins a shared group.
    pub packet: u32,
    /// Bytes that have to be posted, in packets as long as the first.
    pub total: u32,
    /// Bytes for which there have to be buffers, one for each such packet. A receiver with few of them
    /// posts one at a time, and jobs would be as small.
    pub room: u32,
}

/// Bytes after which a job is complete. A longer packet is divided into parts of this size.
const JOB_BYTES: u32 = 64 * 1024;
/// Jobs that wait for the other end before the holder copies one itself.
const AHEAD: u32 = 2;
/// Jobs that a participant carries out before it looks after something else.
const JOBS_AT_ONCE: usize = 2 * JOBS;
/// Jobs and waits until the holder leaves its packets to a later step: another participant has a
/// job and does not go on.
const ROOM_TURNS: usize = 4 * JOBS;
/// Turns of [`SharedCopies::drain`] after which the holder does the same.
pub(crate) const DRAIN_TURNS: u32 = 64 * TURNS;

/// Note of a job that completes nothing: a part of a packet, but not the last one.
const PART: u32 = 1;

/// What the completions of a job are made of.
#[derive(Clone, Copy, Default)]
struct Notes {
    /// [`PART`], or 0.
    kind: u32,
    /// Position of the first buffer.
    buffer: u32,
    /// Position of the first completion of the sender.
    completion: u32,
    /// Position of the first entry.
    submission: u32,
    /// Packets and bytes (mod 2^32) sent before the job and not reported yet.
    pending: (u32, u32),
    /// Bytes of the packet whose last part this is, 0 for whole packets.
    packet: u32,
}

impl Notes {
    fn words(self) -> [u32; NOTES] {
        let (packets, bytes) = self.pending;
        [self.kind, self.buffer, self.completion, self.submission, packets, bytes, self.packet, 0]
    }

    fn from_words(words: [u32; NOTES]) -> Self {
        let [kind, buffer, completion, submission, packets, bytes, packet, _] = words;
        Self { kind, buffer, completion, submission, pending: (packets, bytes), packet }
    }
}

/// The jobs of a board as any runner of the flow carries them out.
#[derive(Clone, Copy)]
pub struct SharedCopies<'a> {
    pub(crate) board: &'a Board,
    pub(crate) fast: &'a FastState,
    pub(crate) tx_regions: &'a Regions,
    pub(crate) rx_regions: &'a Regions,
    /// This participant.
    pub(crate) id: u32,
}

/// A region that this process has not mapped; true for one of the sender.
type Missing = (bool, RegionKey);

impl SharedCopies<'_> {
    /// Makes the copies of a job.
    #[inline]
    fn copy(&self, job: u32) -> Result<(), Missing> {
        let mut segments = self.board.segments(job).peekable();
        while let Some(Segment { source, target, length, .. }) = segments.next() {
            if let Some(next) = segments.peek() {
                prefetch_packet(self.fast.source.guess(next.source), next.length);
                prefetch_packet(self.fast.target.guess(next.target), next.length);
            }
            let from = self
                .fast
                .source
                .at(source, length)
                .or_else(|| self.fast.other_source(&self.tx_regions.map, source, length));
            let to = self
                .fast
                .target
                .at(target, length)
                .or_else(|| self.fast.other_target(&self.rx_regions.map, target, length));
            let Some(from) = from else {
                self.missing(true, source)?;
                continue;
            };
            let Some(to) = to else {
                self.missing(false, target)?;
                continue;
            };
            // SAFETY: the windows were checked for `length` bytes, and the regions stay mapped while
            // a job is unfinished.
            unsafe { move_bytes(from, to, length) };
        }
        Ok(())
    }

    /// A copy that cannot be made now. If its region does not exist, nobody can make it any more.
    #[cold]
    fn missing(&self, tx: bool, address: u64) -> Result<(), Missing> {
        let key = Address(address).key();
        let regions = if tx { self.tx_regions } else { self.rx_regions };
        let tag = regions.table.get(key.index()).map(|shared| shared.tag());
        if regions.exists(key) && !tag.is_some_and(|tag| regions.map.has(tag)) {
            return Err((tx, key));
        }
        Ok(())
    }

    /// Writes the completions of a job.
    fn publish(&self, job: u32) {
        let notes = Notes::from_words(self.board.notes(job));
        if notes.kind == PART {
            return;
        }
        let (filled, sent) = (self.fast.receive.get().second(), self.fast.sent.get());
        let (tx_vc, rx_vc) = self.fast.vc.get();
        let (mut buffer, mut submission) = (notes.buffer, notes.submission);
        let mut completion = notes.completion;
        let (mut packets, mut bytes) = notes.pending;
        for segment in self.board.segments(job) {
            let length = if notes.packet != 0 { notes.packet } else { segment.length };
            filled.write(buffer, [u64::from(length) | rx_vc, u64::from(buffer as u16)]);
            buffer = buffer.wrapping_add(1);
            packets = packets.wrapping_add(1);
            bytes = bytes.wrapping_add(length);
            if segment.marked {
                let word0 = u64::from(bytes) | u64::from(packets as u16) << 32 | tx_vc;
                sent.write(completion, [word0, u64::from(submission as u16)]);
                completion = completion.wrapping_add(1);
                (packets, bytes) = (0, 0);
            }
            submission = submission.wrapping_add(1);
        }
    }

    /// Publishes what is finished. True if nothing is pending.
    #[inline]
    pub(crate) fn settle(&self, is_dead: impl FnMut(u32) -> bool) -> bool {
        self.board.settle(self.id, is_dead, |job| self.publish(job))
    }

    /// Helper: carries out jobs, as long as there are any. Returns their number and, if one could
    /// not be done, the region to map first.
    pub(crate) fn help(
        &self,
        is_stale: impl Fn() -> bool,
        is_dead: impl Fn(u32) -> bool,
    ) -> (u32, Option<Missing>) {
        let mut jobs = 0;
        for _ in 0..JOBS_AT_ONCE {
            let Some(job) = self.board.claim(self.id) else { break };
            // The configuration does not change while a job is unfinished.
            if is_stale() {
                self.board.decline(job);
                break;
            }
            if let Err(missing) = self.copy(job) {
                self.board.decline(job);
                return (jobs, Some(missing));
            }
            if self.board.finish(job) {
                self.settle(&is_dead);
            }
            jobs += 1;
        }
        (jobs, None)
    }

    /// Holder of the seat: makes the copies of one job, if there is one for it.
    #[inline]
    fn work(&self, is_dead: &mut dyn FnMut(u32) -> bool) -> Result<bool, Missing> {
        let claimed = self.board.claim(self.id);
        let Some(job) = claimed.or_else(|| self.board.take_left(self.id, &mut *is_dead)) else {
            return Ok(false);
        };
        if let Err(missing) = self.copy(job) {
            self.board.decline(job);
            return Err(missing);
        }
        if self.board.finish(job) {
            self.settle(&mut *is_dead);
        }
        Ok(true)
    }

    /// Holder of the seat: copies until there is room for another job, and few wait for the other
    /// end. `passed` is what is known of the claimed jobs. False if another participant does not
    /// finish its job.
    #[inline]
    fn make_room(
        &self,
        passed: &mut u32,
        is_dead: &mut dyn FnMut(u32) -> bool,
    ) -> Result<bool, Missing> {
        for _ in 0..ROOM_TURNS {
            if self.board.unclaimed(*passed) > AHEAD {
                *passed = self.board.passed();
            }
            if self.board.unclaimed(*passed) <= AHEAD && self.board.has_room() {
                return Ok(true);
            }
            if !self.work(is_dead)? {
                wait_for_room(*self, is_dead);
            }
        }
        Ok(false)
    }

    /// Holder of the seat: makes all copies that nobody else makes.
    pub(crate) fn work_off(&self, is_dead: &mut dyn FnMut(u32) -> bool) -> Result<(), Missing> {
        for _ in 0..JOBS_AT_ONCE {
            if !self.work(is_dead)? {
                break;
            }
        }
        Ok(())
    }

    /// Holder of the seat: waits until nothing is pending, for at most `turns`. False if it is not.
    pub(crate) fn drain(
        &self,
        turns: u32,
        is_dead: &mut dyn FnMut(u32) -> bool,
    ) -> Result<bool, Missing> {
        for turn in 0..turns {
            self.work_off(is_dead)?;
            if self.settle(&mut *is_dead) {
                return Ok(true);
            }
            relax();
            if turn % TURNS == TURNS - 1 {
                std::thread::yield_now();
            }
        }
        Ok(false)
    }
}

/// Why planning ended.
pub(crate) enum PlanEnd {
    /// The fast path, the general path or nobody goes on.
    Loop(LoopEnd),
    /// The receiver has no buffer for the next packet, or does not finish its copies.
    Stalled,
    /// Map this region first.
    Missing(Missing),
}

/// Plans shared copies. The caller holds the seat.
pub(crate) struct SharedSender<'a> {
    pub(crate) copies: SharedCopies<'a>,
    pub(crate) tx: &'a mut TxQueue,
    pub(crate) rx: (&'a mut RxState, &'a QueueCounters),
    /// Set while a packet waits for room at the receiver.
    pub(crate) stalled: &'a AtomicU32,
}

impl SharedSender<'_> {
    /// Whether the packets that are posted now are to be shared.
    #[inline]
    pub(crate) fn is_worth_it(&mut self, policy: SharePolicy) -> bool {
        let fast = self.copies.fast;
        let ring = fast.posted.get();
        let first = self.tx.parts().1.at.submission;
        let Some(entry) = ring.read(first) else { return false };
        let length = entry[1] as u32;
        if length < policy.packet {
            return false;
        }
        // A group is published as a whole.
        let buffers = fast.receive.get().first();
        let packets = |bytes: u32| bytes.saturating_sub(1) / length.max(1);
        let (more, room) = (packets(policy.total), packets(policy.room));
        more < ring.size()
            && room < buffers.size()
            && ring.read(first.wrapping_add(more)).is_some()
            && buffers.read(self.rx.0.at.submission.wrapping_add(room)).is_some()
    }

    /// Plans at most `budget` packets and copies. Afterwards every job is finished or in the hands
    /// of another participant. Returns the number of packets planned.
    pub(crate) fn run(
        &mut self,
        budget: u32,
        is_dead: &mut dyn FnMut(u32) -> bool,
    ) -> (u32, PlanEnd) {
        let copies = self.copies;
        let mut packets = 0;
        let mut passed = copies.board.passed();
        let ended = loop {
            if packets == budget {
                break PlanEnd::Loop(LoopEnd::Budget);
            }
            match copies.make_room(&mut passed, is_dead) {
                Ok(true) => {}
                Ok(false) => break self.wait(),
                Err(missing) => return (packets, PlanEnd::Missing(missing)),
            }
            match self.plan(budget - packets, is_dead) {
                Ok(count) => packets += count,
                Err(ended) => break ended,
            }
        };
        match copies.work_off(is_dead) {
            Ok(()) => (packets, ended),
            Err(missing) => (packets, PlanEnd::Missing(missing)),
        }
    }

    /// Posts a job of the next packets, or jobs of all parts of the next one. Returns the number of
    /// packets.
    fn plan(&mut self, budget: u32, is_dead: &mut dyn FnMut(u32) -> bool) -> Result<u32, PlanEnd> {
        let SharedCopies { board, fast, .. } = self.copies;
        let state = self.tx.parts().1;
        let rx = &mut *self.rx.0;
        if state.done | state.open | state.burst.left | rx.fill | rx.open | rx.cut != 0 {
            return Err(PlanEnd::Loop(LoopEnd::General));
        }
        let mut heads = Heads {
            from: Cursor::new(&fast.posted, state.at.submission),
            to: Cursor::new(&fast.receive, rx.at.submission),
        };
        let most = (SEGMENTS as u32).min(budget).min(heads.from.left()).min(heads.to.left());
        let mut notes = Notes {
            buffer: rx.at.completion,
            completion: state.at.completion,
            submission: state.at.submission,
            pending: (state.pending_packets, state.pending_bytes as u32),
            ..Notes::default()
        };
        let mut draft = board.draft();
        let (mut bytes, mut packets) = (0u32, 0u32);
        loop {
            let segment = match heads.segment(self.copies) {
                Ok(segment) if packets == 0 || bytes + segment.length <= JOB_BYTES => segment,
                Err(NoPacket::Full) if packets == 0 => return self.stall(),
                Err(NoPacket::Ended(ended)) if packets == 0 => return Err(PlanEnd::Loop(ended)),
                _ => break,
            };
            if segment.length >= 2 * JOB_BYTES {
                notes.packet = segment.length;
                let Some(last) = plan_parts(self.copies, segment, is_dead)? else {
                    return Err(self.wait());
                };
                draft = board.draft();
                draft.add(last);
            } else {
                draft.add(segment);
            }
            packets += 1;
            bytes += segment.length;
            count_planned(state, segment);
            if packets == most || bytes >= JOB_BYTES {
                break;
            }
            // SAFETY: `most` is at most what is left of both laps, and there is one more.
            unsafe {
                heads.from.step();
                heads.to.step();
            }
        }
        board.post(draft, notes.words());
        self.planned(packets, bytes);
        Ok(packets)
    }

    /// Moves the positions and counters past packets that were planned.
    fn planned(&mut self, packets: u32, bytes: u32) {
        let (_, state, count) = self.tx.parts();
        let (rx, rx_count) = (&mut *self.rx.0, self.rx.1);
        state.at.submission = state.at.submission.wrapping_add(packets);
        rx.at.submission = rx.at.submission.wrapping_add(packets);
        rx.at.completion = rx.at.completion.wrapping_add(packets);
        rx.at.reported_bytes = rx.at.reported_bytes.wrapping_add(u64::from(bytes));
        for count in [count, rx_count] {
            bump(&count.packets, u64::from(packets));
            bump(&count.bytes, u64::from(bytes));
        }
    }

    /// Another participant does not finish its job. The receiver goes on when it polls, or the next
    /// step.
    #[cold]
    pub(crate) fn wait(&mut self) -> PlanEnd {
        self.stalled.store(1, Ordering::Release);
        bump(&self.tx.parts().2.stalls, 1);
        PlanEnd::Stalled
    }

    /// Marks the flow as stalled, and looks for room again: a receiver that posted before it could
    /// see the mark will not run the engine.
    #[cold]
    fn stall(&mut self) -> Result<u32, PlanEnd> {
        self.stalled.store(1, Ordering::Release);
        // Pairs with the heavy fence of a receiver that falls asleep: either it sees the mark, or
        // this step sees its room.
        light_fence();
        let rings = self.copies.fast.receive.get();
        if rings.first().read(self.rx.0.at.submission).is_some() {
            return Ok(0);
        }
        bump(&self.tx.parts().2.stalls, 1);
        Err(PlanEnd::Stalled)
    }
}

/// Posts jobs of all parts of a long packet but the last one, which it returns. `None` if there is
/// no room for them.
fn plan_parts(
    copies: SharedCopies<'_>,
    whole: Segment,
    is_dead: &mut dyn FnMut(u32) -> bool,
) -> Result<Option<Segment>, PlanEnd> {
    let board = copies.board;
    let mut passed = board.passed();
    let mut rest = whole;
    while rest.length >= 2 * JOB_BYTES {
        let mut draft = board.draft();
        draft.add(Segment { length: JOB_BYTES, marked: false, ..rest });
        board.post(draft, Notes { kind: PART, ..Notes::default() }.words());
        rest.source += u64::from(JOB_BYTES);
        rest.target += u64::from(JOB_BYTES);
        rest.length -= JOB_BYTES;
        // The parts posted so far complete nothing, so the packet can begin again.
        if !copies.make_room(&mut passed, is_dead).map_err(PlanEnd::Missing)? {
            return Ok(None);
        }
    }
    Ok(Some(rest))
}

/// All jobs are in the hands of others: waits until one is done.
#[cold]
fn wait_for_room(copies: SharedCopies<'_>, is_dead: &mut dyn FnMut(u32) -> bool) {
    let mut turns = 0u32;
    while !copies.board.has_room() && !copies.board.has_work() {
        copies.settle(&mut *is_dead);
        turns = turns.wrapping_add(1);
        if turns.is_multiple_of(TURNS) {
            std::thread::yield_now();
            // Its owner may have died.
            return;
        }
        relax();
    }
}

/// Counts a packet as sent, and as reported if it asks for a completion.
#[inline(always)]
fn count_planned(state: &mut TxState, packet: Segment) {
    state.pending_packets += 1;
    state.pending_bytes += u64::from(packet.length);
    if packet.marked {
        let reported = state.at.reported_bytes;
        state.at.reported_bytes = reported.wrapping_add(state.pending_bytes);
        state.at.completion = state.at.completion.wrapping_add(1);
        (state.pending_packets, state.pending_bytes) = (0, 0);
    }
}

/// Why there is no packet to plan.
enum NoPacket {
    /// None is posted, or the next one needs another path.
    Ended(LoopEnd),
    /// No buffer is posted.
    Full,
}

/// The places of the next packet and its buffer.
struct Heads<'a> {
    from: Cursor<&'a RingCell<Ring>>,
    to: Cursor<&'a RingCell<RingPair>>,
}

impl Heads<'_> {
    /// The copy of the next packet, if it is a plain one and its buffer holds it.
    #[inline(always)]
    fn segment(&self, copies: SharedCopies<'_>) -> Result<Segment, NoPacket> {
        let SharedCopies { fast, tx_regions, rx_regions, .. } = copies;
        let taken = take(fast, &tx_regions.map, self.from, self.from.phase() | DATA);
        let (_, length, flags) = taken.map_err(NoPacket::Ended)?;
        let slot = self.to.slot();
        let (entry, target) = (slot.word1(), slot.word0());
        let (kind, room) = ((entry >> 32) as u32, entry as u32);
        if (kind ^ (self.to.phase() | BUFFER)) & RX_CHECK != 0 || length > room {
            let empty = (kind ^ self.to.phase()) & PHASE_BITS != 0;
            return Err(if empty { NoPacket::Full } else { NoPacket::Ended(LoopEnd::General) });
        }
        let window = fast.target.at(target, room);
        if window.or_else(|| fast.other_target(&rx_regions.map, target, room)).is_none() {
            return Err(NoPacket::Ended(LoopEnd::General));
        }
        let source = self.from.slot().word0();
        Ok(Segment { source, target, length, marked: flags & SIGNAL != 0 })
    }
}
