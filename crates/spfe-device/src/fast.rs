//! The common cases of a step, short: whole packets, one DATA entry each or in bursts, into posted
//! buffers that hold them or into the packed area, on a link without pacing, without stamps.
//! Anything else is left to the general path, which does the same things one packet at a time
//! (`flow::Run`).
//!
//! Places live in registers and positions are stored when a loop ends. Should the runner die inside
//! it, the rings say how far it came (`recover`).

use crate::copy::move_bytes;
use crate::memory::{Address, READ, RegionMap, WRITE, Window};
use crate::queue::QueueView;
use crate::shared::{Counters, RxState, TxState, bump};
use crate::transmit::TxQueue;
use spfe_contract::{self as contract, EntryType, submit_flags as sf};
use spfe_ring::Ring;
use spfe_ring::packed::{record_bytes, record_max};
use spfe_ring::ring::Spot;

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is posted.
    Idle,
    /// Something the loop does not do is next.
    General,
    /// The budget is used up.
    Budget,
}

const BUFFER: u64 = (EntryType::Buffer.raw() as u64) << 32;
const DATA: u64 = (EntryType::Data.raw() as u64) << 32;
const BURST: u64 = (EntryType::Burst.raw() as u64) << 32;
const TYPE: u64 = (sf::TYPE_MASK as u64) << 32;
const TX_CHECK: u64 = ((sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK | sf::END_MASK) as u64) << 32;
const RX_CHECK: u64 = ((sf::TYPE_MASK | sf::MBZ_MASK) as u64) << 32;
const SIGNAL: u64 = (sf::SIGNAL as u64) << 32;
const ONE_PACKET: u64 = 1 << 32;
const MOST: u32 = contract::PACKET_MAX_BYTES as u32;
/// More pending bytes than this would not fit a completion's count.
const PENDING_MOST: u64 = 0x8000_0000;

/// Hints the processor to get a line for writing.
#[inline(always)]
fn prefetch_write(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no effect on memory, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_ET0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A receive queue as the loops use it, for the time of a step.
pub trait Quick {
    /// Puts one whole packet there; false if it takes the general path.
    fn put(&mut self, source: *const u8, length: u32) -> bool;
    /// Stores what the loops kept in registers. Nothing may be put after it.
    fn finish(self);
}

/// Posted buffers. Every buffer has exactly one completion, so one place serves both rings.
pub struct Posted<'a> {
    buffers: Ring,
    received: Ring,
    at: Spot,
    first: u32,
    vc: u64,
    packets: u32,
    bytes: u64,
    window: &'a mut Window,
    map: &'a RegionMap,
    domain: u16,
    state: &'a mut RxState,
    count: &'a Counters,
}

impl<'a> Posted<'a> {
    /// Whether a queue can use the fast path at all (its configuration does not change that).
    pub fn suits(view: &QueueView) -> bool {
        view.config.sq_log2 == view.config.cq_log2 && !view.wants_stamps()
    }

    /// For one step, if nothing is half done.
    #[inline(always)]
    pub fn new(
        view: &QueueView,
        state: &'a mut RxState,
        count: &'a Counters,
        map: &'a RegionMap,
        window: &'a mut Window,
    ) -> Option<Self> {
        if state.fill | state.open | state.cut != 0 {
            return None;
        }
        let first = state.at.submission;
        Some(Self {
            buffers: view.submissions,
            received: view.completions,
            at: Spot::new(&view.submissions, first),
            first,
            vc: ONE_PACKET | u64::from(view.config.vc as u8) << 48,
            packets: 0,
            bytes: 0,
            window,
            map,
            domain: view.config.domain as u16,
            state,
            count,
        })
    }

    /// The next buffer is in another region than the last one, or not where it says.
    #[cold]
    #[inline(never)]
    fn look_up(&mut self, to: u64, room: u32) -> Option<*mut u8> {
        *self.window = self.map.window(Address(to), self.domain, WRITE)?;
        self.window.at(to, room)
    }
}

impl Quick for Posted<'_> {
    #[inline(always)]
    fn put(&mut self, source: *const u8, length: u32) -> bool {
        let Some([to, r]) = self.at.read(&self.buffers) else { return false };
        let room = r as u32;
        if r & RX_CHECK != BUFFER || length > room || room > MOST {
            return false;
        }
        let target = match self.window.at(to, room) {
            Some(target) => target,
            None => match self.look_up(to, room) {
                Some(target) => target,
                None => return false,
            },
        };
        // SAFETY: the caller's source and this buffer are mapped until the end of the step.
        unsafe { move_bytes(source, target, length) };
        let position = u64::from(self.first.wrapping_add(self.packets) as u16);
        self.at.write(&self.received, [u64::from(length) | self.vc, position]);
        self.at.advance(&self.buffers);
        self.packets += 1;
        self.bytes += u64::from(length);
        true
    }

    #[inline(always)]
    fn finish(self) {
        if self.packets == 0 {
            return;
        }
        // The next packet's buffer and the lines it will touch, while there is time.
        if let Some([to, _]) = self.at.read(&self.buffers)
            && let Some(target) = self.window.at(to, 1)
        {
            prefetch_write(target);
        }
        let next = self.first.wrapping_add(self.packets);
        self.buffers.prefetch(next.wrapping_add(4));
        self.state.at.submission = next;
        self.state.at.completion = self.state.at.completion.wrapping_add(self.packets);
        self.state.at.reported_bytes = self.state.at.reported_bytes.wrapping_add(self.bytes);
        bump(&self.count.packets, u64::from(self.packets));
        bump(&self.count.bytes, self.bytes);
    }
}

/// The packed area, while records go one behind the other. Wrapping, publishing a full run and
/// taking releases are left to the general path, once per run.
pub struct Packed<'a> {
    area: *mut u8,
    head: u32,
    room: u32,
    run_room: u32,
    most: u32,
    records: u32,
    run_bytes: u32,
    bytes: u64,
    state: &'a mut RxState,
    count: &'a Counters,
}

/// Most records of a run.
const RUN_RECORDS: u32 = 0xf000;

impl<'a> Packed<'a> {
    /// For one step, if nothing is half done and a run can be begun or added to.
    #[inline(always)]
    pub fn new(
        area: *mut u8,
        size: u32,
        run_limit: u32,
        state: &'a mut RxState,
        count: &'a Counters,
    ) -> Option<Self> {
        if state.open | state.cut != 0 || state.credits < 2 || state.run_records >= RUN_RECORDS {
            return None;
        }
        if state.run_records == 0 {
            state.run_offset = state.packed.head();
            state.run_wrapped = 0;
            state.run_first_ns = 0;
        }
        Some(Self {
            area,
            head: state.packed.head(),
            room: state.packed.straight(),
            run_room: run_limit.saturating_sub(state.run_bytes),
            most: record_max(size),
            records: 0,
            run_bytes: 0,
            bytes: 0,
            state,
            count,
        })
    }
}

impl Quick for Packed<'_> {
    #[inline(always)]
    fn put(&mut self, source: *const u8, length: u32) -> bool {
        let need = record_bytes(length);
        let full = self.run_bytes + need > self.run_room || self.records >= RUN_RECORDS / 2;
        if length > self.most || self.run_bytes + need > self.room || full {
            return false;
        }
        // SAFETY: `straight` bytes from the head are free and inside the area; the record is
        // aligned because all of them are. The caller's source is mapped for `length`.
        unsafe {
            let record = self.area.add((self.head + self.run_bytes) as usize);
            // Length, EOP, no flags.
            record.cast::<u64>().write(u64::from(length));
            move_bytes(source, record.add(contract::PACKED_HEADER_BYTES as usize), length);
        }
        self.run_bytes += need;
        self.records += 1;
        self.bytes += u64::from(length);
        true
    }

    #[inline(always)]
    fn finish(self) {
        self.state.packed.take_straight(self.run_bytes);
        self.state.run_bytes += self.run_bytes;
        self.state.run_records += self.records;
        bump(&self.count.packets, u64::from(self.records));
        bump(&self.count.bytes, self.bytes);
    }
}

/// What the transmit side of a step needs.
pub struct Sender<'a> {
    /// The transmit queue.
    pub tx: &'a mut TxQueue,
    /// Its regions.
    pub map: &'a RegionMap,
    /// The region the last packet came from; forgotten whenever regions change.
    pub window: &'a mut Window,
}

impl Sender<'_> {
    #[cold]
    #[inline(never)]
    fn look_up(&mut self, from: u64, length: u32) -> Option<*mut u8> {
        let domain = self.tx.view.config.domain as u16;
        *self.window = self.map.window(Address(from), domain, READ)?;
        self.window.at(from, length)
    }

    #[inline(always)]
    fn source(&mut self, from: u64, length: u32) -> Option<*const u8> {
        match self.window.at(from, length) {
            Some(source) => Some(source),
            None => self.look_up(from, length).map(<*mut u8>::cast_const),
        }
    }

    /// Moves packets while they are of the common kinds. Returns how many, and why it ended.
    #[inline(always)]
    pub fn run<K: Quick>(&mut self, mut sink: K, budget: u32) -> (u32, Ended) {
        let state = self.tx.parts().1;
        if state.done | state.open != 0 {
            return (0, Ended::General);
        }
        let mut moved = 0;
        let ended = loop {
            if self.tx.parts().1.burst.left != 0 {
                let (packets, whole) = self.burst(&mut sink, budget - moved);
                moved += packets;
                if !whole {
                    break if moved == budget { Ended::Budget } else { Ended::General };
                }
                continue;
            }
            let (packets, ended, burst) = self.packets(&mut sink, budget - moved);
            moved += packets;
            match burst {
                Some(entry) if self.tx.open_burst_plain(self.map, entry) => {}
                _ => break ended,
            }
        };
        sink.finish();
        if moved != 0 {
            let (_, _, count) = self.tx.parts();
            bump(&count.packets, u64::from(moved));
        }
        (moved, ended)
    }

    /// DATA entries. Also returns the burst entry it stopped at, if it did.
    #[inline(always)]
    fn packets<K: Quick>(&mut self, sink: &mut K, budget: u32) -> (u32, Ended, Option<[u64; 2]>) {
        let posted = self.tx.view.submissions;
        let first = self.tx.parts().1.at.submission;
        let mut at = Spot::new(&posted, first);
        let mut pending_bytes = self.tx.parts().1.pending_bytes;
        let (mut packets, mut bytes) = (0u32, 0u64);
        let mut burst = None;
        let ended = loop {
            let Some([from, w]) = at.read(&posted) else { break Ended::Idle };
            let length = w as u32;
            if packets == budget {
                break Ended::Budget;
            }
            if w & TX_CHECK != DATA || length.wrapping_sub(1) >= MOST {
                burst = (w & TYPE == BURST).then_some([from, w]);
                break Ended::General;
            }
            let Some(source) = self.source(from, length) else { break Ended::General };
            if !sink.put(source, length) {
                break Ended::General;
            }
            at.advance(&posted);
            packets += 1;
            bytes += u64::from(length);
            pending_bytes += u64::from(length);
            if w & SIGNAL != 0 || pending_bytes > PENDING_MOST {
                let (view, state, _) = self.tx.parts();
                signal(view, state, first.wrapping_add(packets), pending_bytes);
                pending_bytes = 0;
            }
        };
        if packets != 0 {
            let (_, state, count) = self.tx.parts();
            let next = first.wrapping_add(packets);
            // `signal` has counted those that were reported.
            state.pending_packets += next.wrapping_sub(state.at.submission);
            state.pending_bytes = pending_bytes;
            state.at.submission = next;
            bump(&count.bytes, bytes);
        }
        (packets, ended, burst)
    }

    /// The rest of the open burst; true when it is done (and completed, if that was asked for).
    #[inline(always)]
    fn burst<K: Quick>(&mut self, sink: &mut K, budget: u32) -> (u32, bool) {
        let burst = self.tx.parts().1.burst;
        let (length, stride) = (burst.length, u64::from(burst.stride));
        let plain = (burst.flags as u16 & sf::END_MASK) == 0;
        let span = u64::from(burst.left - 1) * stride + u64::from(length);
        let whole = u32::try_from(span).ok().and_then(|span| self.source(burst.address, span));
        let (true, Some(mut source)) = (plain, whole) else { return (0, false) };
        let most = burst.left.min(budget);
        let mut packets = 0;
        while packets < most && sink.put(source, length) {
            source = source.wrapping_add(stride as usize);
            packets += 1;
        }
        let bytes = u64::from(packets) * u64::from(length);
        let (view, state, count) = self.tx.parts();
        state.burst.address = burst.address + u64::from(packets) * stride;
        state.burst.left -= packets;
        state.pending_packets += packets;
        state.pending_bytes += bytes;
        bump(&count.bytes, bytes);
        if state.burst.left != 0 {
            return (packets, false);
        }
        let next = state.at.submission.wrapping_add(2);
        if burst.flags & u32::from(sf::SIGNAL) != 0 {
            let (pending, bytes) = (state.pending_packets, state.pending_bytes);
            // `signal` counts positions; a burst's packets are counted already.
            state.pending_packets = pending.wrapping_sub(2);
            signal(view, state, next, bytes);
        }
        state.at.submission = next;
        (packets, true)
    }
}

/// Writes the sender's completion for everything before position `next`.
#[inline(always)]
fn signal(view: &QueueView, state: &mut TxState, next: u32, bytes: u64) {
    let count = state.pending_packets.wrapping_add(next).wrapping_sub(state.at.submission);
    let word0 =
        bytes & 0xffff_ffff | u64::from(count as u16) << 32 | u64::from(view.config.vc as u8) << 48;
    let done = state.at.completion;
    view.completions.write(done, [word0, u64::from(next.wrapping_sub(1) as u16)]);
    state.at.completion = done.wrapping_add(1);
    state.at.submission = next;
    state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
    state.pending_packets = 0;
    state.pending_bytes = 0;
}
