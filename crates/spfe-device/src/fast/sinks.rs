//! Posted buffers and packed area as the loops of the fast path use them.

use super::alike::{self, Run};
use super::{BUFFER, FastSink, FastState, RX_CHECK, prefetch_write};
use crate::copy::move_bytes;
use crate::memory::RegionMap;
use crate::shared::{QueueCounters, RxState, bump};
use spfe_contract as contract;
use spfe_ring::cursor::{Cursor, Mark, RingCell, RingPair};
use spfe_ring::packed::{record_bytes, record_max};

/// Posted buffers. Every buffer has exactly one completion, so one cursor serves both rings.
pub struct PostedSink<'a> {
    fast: &'a FastState,
    at: Cursor<&'a RingCell<RingPair>>,
    /// Second word of the next completion.
    done: u64,
    map: &'a RegionMap,
    state: &'a mut RxState,
    count: &'a QueueCounters,
}

impl<'a> PostedSink<'a> {
    /// A sink for one loop. `None` while a packet is open or a buffer is partly filled.
    #[inline(always)]
    pub fn new(
        fast: &'a FastState,
        state: &'a mut RxState,
        count: &'a QueueCounters,
        map: &'a RegionMap,
    ) -> Option<Self> {
        if state.fill | state.open | state.cut != 0 {
            return None;
        }
        let position = state.at.submission;
        let at = Cursor::new(&fast.receive, position);
        Some(Self { fast, at, done: done_at(&at, position), map, state, count })
    }
}

impl PostedSink<'_> {
    /// Goes on after `count` completions of a run.
    #[inline(always)]
    fn pass(&mut self, count: u32) -> u32 {
        // SAFETY: a run ends at the end of the lap, and the caller counts `left` and calls `turn`.
        unsafe { self.at.skip(count) };
        // As in `put`: no carry into the phase.
        self.done += u64::from(count);
        count
    }
}

/// Second word of the completion for the buffer posted at a position.
#[inline(always)]
fn done_at(at: &Cursor<&RingCell<RingPair>>, position: u32) -> u64 {
    u64::from(at.phase()) << 32 | u64::from(position as u16)
}

impl FastSink for PostedSink<'_> {
    const ALIKE: bool = true;

    #[inline(always)]
    fn place(&self) -> Option<Mark> {
        Some(self.at.mark())
    }

    #[inline(always)]
    fn left(&self) -> u32 {
        self.at.left()
    }

    #[inline(always)]
    fn turn(&mut self) {
        self.at.turn();
        self.done = u64::from(self.at.phase()) << 32 | u64::from(self.done as u16);
    }

    #[inline(always)]
    fn put(&mut self, source: *const u8, length: u32) -> bool {
        let slot = self.at.slot();
        let entry = slot.word1();
        let (flags, room) = ((entry >> 32) as u32, entry as u32);
        if (flags ^ (self.at.phase() | BUFFER)) & RX_CHECK != 0 || length > room {
            return false;
        }
        let to = slot.word0();
        let target = match self.fast.target.at(to, room) {
            Some(target) => target,
            None => match self.fast.other_target(self.map, to, room) {
                Some(target) => target,
                None => return false,
            },
        };
        // SAFETY: the source is the caller's promise, and the window has just been checked for
        // `room` bytes; both stay mapped until the end of the step.
        unsafe { move_bytes(source, target, length) };
        let word0 = u64::from(length) | self.fast.vc.get().1;
        self.at.partner_write([word0, self.done]);
        // SAFETY: the caller counts `left` and calls `turn` when none is left.
        unsafe { self.at.step() };
        // The position is in the low 16 bits. It cannot carry into the phase before `turn` sets the
        // word anew, because the ring size divides 65536.
        self.done += 1;
        true
    }

    #[inline(always)]
    fn put_alike(&mut self, from: Mark, word1: u64, length: u32, most: u32) -> u32 {
        let run = Run { length, most, done: self.done };
        let count = alike::entries(self.fast, from, word1, self.at.mark(), run);
        self.pass(count)
    }

    #[inline(always)]
    fn put_strides(&mut self, next: *const u8, stride: usize, length: u32, most: u32) -> u32 {
        let run = Run { length, most, done: self.done };
        let count = alike::strides(self.fast, next, stride, self.at.mark(), run);
        self.pass(count)
    }

    #[inline(always)]
    fn finish(self, packets: u32, bytes: u64) {
        // Prefetches what the next packet will touch. A stale address does no harm.
        let (mut at, buffers) = (self.at, self.fast.receive.get().first());
        at.turn();
        prefetch_write(self.fast.target.guess(at.slot().word0()));
        let next = self.state.at.submission.wrapping_add(packets);
        buffers.prefetch(next.wrapping_add(4));
        self.state.at.submission = next;
        self.state.at.completion = self.state.at.completion.wrapping_add(packets);
        self.state.at.reported_bytes = self.state.at.reported_bytes.wrapping_add(bytes);
        bump(&self.count.packets, u64::from(packets));
        bump(&self.count.bytes, bytes);
    }
}

/// The packed area, as long as records follow each other without a gap. The general path wraps,
/// publishes full runs and takes releases, once for each run.
pub struct PackedSink<'a> {
    area: *mut u8,
    room: u32,
    most: u32,
    bytes: u32,
    state: &'a mut RxState,
    count: &'a QueueCounters,
}

/// Maximum number of records in a run before a loop begins. A loop adds at most half as many, so
/// that the count fits 16 bits.
const RUN_RECORDS: u32 = 0xf000;

impl<'a> PackedSink<'a> {
    /// A sink for one loop. `None` while a packet is open, or if no record may be added to the run.
    #[inline(always)]
    pub fn new(
        area: *mut u8,
        size: u32,
        run_limit: u32,
        state: &'a mut RxState,
        count: &'a QueueCounters,
    ) -> Option<Self> {
        if state.open | state.cut != 0 || state.credits < 2 || state.run_records >= RUN_RECORDS {
            return None;
        }
        if state.run_records == 0 {
            state.run_offset = state.packed.head();
            state.run_wrapped = 0;
            state.run_first_ns = 0;
        }
        let run_room = run_limit.saturating_sub(state.run_bytes);
        Some(Self {
            area: area.wrapping_add(state.packed.head() as usize),
            room: state.packed.straight().min(run_room),
            most: record_max(size),
            bytes: 0,
            state,
            count,
        })
    }
}

impl FastSink for PackedSink<'_> {
    #[inline(always)]
    fn place(&self) -> Option<Mark> {
        None
    }

    #[inline(always)]
    fn left(&self) -> u32 {
        RUN_RECORDS / 2
    }

    #[inline(always)]
    fn turn(&mut self) {}

    #[inline(always)]
    fn put(&mut self, source: *const u8, length: u32) -> bool {
        let end = self.bytes + record_bytes(length);
        if length > self.most || end > self.room {
            return false;
        }
        // SAFETY: `room` bytes from the head are free and inside the area; the record is aligned
        // because all of them are. The caller's source is mapped for `length`.
        unsafe {
            let record = self.area.add(self.bytes as usize);
            // Header: length, EOP, no flags.
            record.cast::<u64>().write(u64::from(length));
            move_bytes(source, record.add(contract::PACKED_HEADER_BYTES as usize), length);
        }
        self.bytes = end;
        true
    }

    #[inline(always)]
    fn finish(self, packets: u32, bytes: u64) {
        self.state.packed.take_straight(self.bytes);
        self.state.run_bytes += self.bytes;
        self.state.run_records += packets;
        bump(&self.count.packets, u64::from(packets));
        bump(&self.count.bytes, bytes);
    }
}
