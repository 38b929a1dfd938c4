//! The common cases of a step, short: whole packets, one DATA entry each or in bursts, into posted
//! buffers that hold them or into the packed area, on a link without pacing, without stamps.
//! Anything else is left to the general path, which does the same things one packet at a time
//! (`flow::Run`).
//!
//! Places live in registers and positions are stored when a loop ends. Should the runner die inside
//! it, the rings say how far it came (`recover`). What is not inlined here gets and returns values:
//! a reference to a loop's variable would keep all of them in memory.

use crate::copy::move_bytes;
use crate::memory::{Address, READ, RegionMap, RegionWindow, WRITE};
use crate::queue::QueueView;
use crate::shared::{QueueCounters, RxState, TxState, bump};
use crate::transmit::TxQueue;
use spfe_contract::{self as contract, EntryType, submit_flags as sf};
use spfe_ring::Ring;
use spfe_ring::cursor::{Cursor, Mark, PHASE_BITS, RingCell, RingPair};
use spfe_ring::packed::{record_bytes, record_max};
use std::cell::Cell;

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopEnd {
    /// Nothing is posted.
    Idle,
    /// A burst is open or next.
    Burst,
    /// Something the loops do not do is next.
    General,
    /// The budget is used up.
    Budget,
}

/// Flags of entries, where the upper half of their second word has them.
const BUFFER: u32 = EntryType::Buffer.raw() as u32;
const DATA: u32 = EntryType::Data.raw() as u32;
const BURST: u32 = EntryType::Burst.raw() as u32;
const TYPE: u32 = sf::TYPE_MASK as u32;
const SIGNAL: u32 = sf::SIGNAL as u32;
const TX_CHECK: u32 = PHASE_BITS | (sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK | sf::END_MASK) as u32;
const RX_CHECK: u32 = PHASE_BITS | (sf::TYPE_MASK | sf::MBZ_MASK) as u32;
const ONE_PACKET: u64 = 1 << 32;
const MOST: u32 = contract::PACKET_MAX_BYTES as u32;
/// Bytes the loops may leave pending in a whole ring: what comes on top still fits a completion's
/// count.
const PENDING_MOST: u32 = 0x8000_0000;

/// Copies of at least this many bytes are worth a look ahead at where the next one begins.
const AHEAD_BYTES: u32 = 512;
/// Of longer ones the first lines are enough: the processor then sees where it goes.
const LONG_BYTES: u32 = 2048;

/// Hints the processor to get what will be copied next: a short packet whole, the beginning of a
/// long one, both taken to be as long as the one before.
#[inline(always)]
fn ahead(at: *const u8, length: u32) {
    let lines = if length < LONG_BYTES { length.div_ceil(64) } else { 8 };
    for line in 0..lines as usize {
        prefetch_write(at.wrapping_add(64 * line));
    }
}

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

/// What the loops use of a bound flow. Cells, for the reason given at [`RegionWindow`].
pub struct FastState {
    /// Transmit ring and its completions.
    posted: RingCell<Ring>,
    sent: Cell<Ring>,
    /// Where packets come from.
    source: RegionWindow,
    /// Domain and longest packet of the sender.
    from: Cell<(u16, u32)>,
    /// Posted buffers and their completions.
    receive: RingCell<RingPair>,
    /// Where packets go.
    target: RegionWindow,
    /// Domain of the receiver.
    to: Cell<u16>,
    /// The virtual channels where completions have them: of the sender, and of one received packet.
    vc: Cell<(u64, u64)>,
}

impl FastState {
    /// For posted buffers; `None` if their configuration needs the general path. The rings of the
    /// receive queue must have one size, because one cursor serves both.
    pub fn posted(tx: &QueueView, rx: &QueueView) -> Option<Self> {
        let rings = RingPair::new(rx.submissions, rx.completions)?;
        Self::without_stamps(tx, rx, rings)
    }

    /// For a packed area; `None` if its configuration needs the general path.
    pub fn packed(tx: &QueueView, rx: &QueueView) -> Option<Self> {
        // [`PackedSink`] uses no cursor, so any pair will do.
        let rings = RingPair::new(rx.completions, rx.completions)?;
        Self::without_stamps(tx, rx, rings)
    }

    fn without_stamps(tx: &QueueView, rx: &QueueView, receive: RingPair) -> Option<Self> {
        if tx.wants_stamps() || rx.wants_stamps() {
            return None;
        }
        let vc = |view: &QueueView| u64::from(view.config.vc as u8) << 48;
        Some(Self {
            posted: RingCell::new(tx.submissions),
            sent: tx.completions.into(),
            source: RegionWindow::default(),
            from: (tx.config.domain as u16, PENDING_MOST >> tx.config.sq_log2).into(),
            receive: RingCell::new(receive),
            target: RegionWindow::default(),
            to: (rx.config.domain as u16).into(),
            vc: (vc(tx), vc(rx) | ONE_PACKET).into(),
        })
    }

    /// The next packet is in another region than the last one, or not where it says.
    #[cold]
    #[inline(never)]
    fn other_source(&self, map: &RegionMap, from: u64, length: u32) -> Option<*mut u8> {
        let (domain, most) = self.from.get();
        self.source.set(map.window(Address(from), domain, READ, most)?);
        self.source.at(from, length)
    }

    /// Hints the processor to get what will be copied after this one.
    #[inline(never)]
    fn look_ahead(&self, from: Mark, to: Option<Mark>, length: u32) {
        let posted = self.posted.get();
        ahead(self.source.guess(posted.word0_behind(from)), length);
        if let Some(to) = to {
            ahead(self.target.guess(self.receive.get().first().word0_behind(to)), length);
        }
    }

    /// The next buffer is in another region than the last one, or not where it says.
    #[cold]
    #[inline(never)]
    fn other_target(&self, map: &RegionMap, to: u64, room: u32) -> Option<*mut u8> {
        self.target.set(map.window(Address(to), self.to.get(), WRITE, MOST)?);
        self.target.at(to, room)
    }
}

/// A receive queue as the loops use it, for the time of a step.
pub trait FastSink {
    /// Packets that can be put there before the next turn, at least 1 after it.
    fn left(&self) -> u32;
    /// Begins the next lap if one has ended.
    fn turn(&mut self);
    /// Puts one whole packet there, one of those left; false if it takes the general path.
    fn put(&mut self, source: *const u8, length: u32) -> bool;
    /// Where the next packet's buffer is posted, if that is how it takes them.
    fn place(&self) -> Option<Mark>;
    /// Stores what the loops kept in registers, after so many packets and bytes.
    fn finish(self, packets: u32, bytes: u64);
}

/// Posted buffers. Every buffer has exactly one completion, so one place serves both rings.
pub struct PostedSink<'a> {
    places: &'a FastState,
    at: Cursor<&'a RingCell<RingPair>>,
    /// The next completion's second word.
    done: u64,
    map: &'a RegionMap,
    state: &'a mut RxState,
    count: &'a QueueCounters,
}

impl<'a> PostedSink<'a> {
    /// For one loop, if nothing is half done.
    #[inline(always)]
    pub fn new(
        places: &'a FastState,
        state: &'a mut RxState,
        count: &'a QueueCounters,
        map: &'a RegionMap,
    ) -> Option<Self> {
        if state.fill | state.open | state.cut != 0 {
            return None;
        }
        let position = state.at.submission;
        let at = Cursor::new(&places.receive, position);
        Some(Self { places, at, done: done_at(&at, position), map, state, count })
    }
}

/// The second word of the completion of the buffer posted at a position.
#[inline(always)]
fn done_at(at: &Cursor<&RingCell<RingPair>>, position: u32) -> u64 {
    u64::from(at.phase()) << 32 | u64::from(position as u16)
}

impl FastSink for PostedSink<'_> {
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
        let target = match self.places.target.at(to, room) {
            Some(target) => target,
            None => match self.places.other_target(self.map, to, room) {
                Some(target) => target,
                None => return false,
            },
        };
        // SAFETY: the caller's source and this buffer are mapped until the end of the step.
        unsafe { move_bytes(source, target, length) };
        let word0 = u64::from(length) | self.places.vc.get().1;
        self.at.partner_write([word0, self.done]);
        // SAFETY: the caller counts what is left.
        unsafe { self.at.step() };
        // Positions of one lap do not carry into the phase: a lap divides their 16 bits.
        self.done += 1;
        true
    }

    #[inline(always)]
    fn finish(self, packets: u32, bytes: u64) {
        // The lines the next packet will touch, while there is time. A stale address does no harm.
        let (mut at, buffers) = (self.at, self.places.receive.get().first());
        at.turn();
        prefetch_write(self.places.target.guess(at.slot().word0()));
        let next = self.state.at.submission.wrapping_add(packets);
        buffers.prefetch(next.wrapping_add(4));
        self.state.at.submission = next;
        self.state.at.completion = self.state.at.completion.wrapping_add(packets);
        self.state.at.reported_bytes = self.state.at.reported_bytes.wrapping_add(bytes);
        bump(&self.count.packets, u64::from(packets));
        bump(&self.count.bytes, bytes);
    }
}

/// The packed area, while records go one behind the other. Wrapping, publishing a full run and
/// taking releases are left to the general path, once per run.
pub struct PackedSink<'a> {
    area: *mut u8,
    room: u32,
    most: u32,
    bytes: u32,
    state: &'a mut RxState,
    count: &'a QueueCounters,
}

/// Most records of a run; the loops add half as many at most.
const RUN_RECORDS: u32 = 0xf000;

impl<'a> PackedSink<'a> {
    /// For one loop, if nothing is half done and a run can be begun or added to.
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
            // Length, EOP, no flags.
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

/// What the transmit side of a step needs.
pub struct FastSender<'a> {
    /// The transmit queue.
    pub tx: &'a mut TxQueue,
    /// Its regions.
    pub map: &'a RegionMap,
    /// What the loops use.
    pub places: &'a FastState,
}

impl FastSender<'_> {
    /// Moves DATA entries. Returns how many, and why it ended.
    #[inline(always)]
    pub fn packets<K: FastSink>(&mut self, sink: K, budget: u32) -> (u32, LoopEnd) {
        let places = self.places;
        let (_, state, _) = self.tx.parts();
        if state.done | state.open | state.burst.left != 0 {
            let other = state.done | state.open != 0;
            return (0, if other { LoopEnd::General } else { LoopEnd::Burst });
        }
        // One alone is worth a way without the loop's preparations.
        let second = state.at.submission.wrapping_add(1);
        if budget != 0 && places.posted.get().read(second).is_none() {
            self.one(sink)
        } else {
            self.many(sink, budget)
        }
    }

    /// The next entry alone.
    #[inline(always)]
    fn one<K: FastSink>(&mut self, mut sink: K) -> (u32, LoopEnd) {
        let places = self.places;
        let first = self.tx.parts().1.at.submission;
        let at = Cursor::new(&places.posted, first);
        let (source, length, flags) = match take(places, self.map, at, at.phase() | DATA) {
            Ok(taken) => taken,
            Err(ended) => return (0, ended),
        };
        if !sink.put(source, length) {
            return (0, LoopEnd::General);
        }
        let (_, state, count) = self.tx.parts();
        let (next, bytes) = (first.wrapping_add(1), u64::from(length));
        if flags & SIGNAL != 0 {
            signal(places, state, next, state.pending_bytes + bytes);
            state.pending_bytes = 0;
        } else {
            state.at.submission = next;
            state.pending_packets += 1;
            state.pending_bytes += bytes;
        }
        bump(&count.packets, 1);
        bump(&count.bytes, bytes);
        sink.finish(1, bytes);
        (1, LoopEnd::Idle)
    }

    /// Entries until none is left.
    #[inline(always)]
    fn many<K: FastSink>(&mut self, mut sink: K, budget: u32) -> (u32, LoopEnd) {
        let places = self.places;
        let map = self.map;
        let (_, state, count) = self.tx.parts();
        let first = state.at.submission;
        let mut next = first;
        let mut at = Cursor::new(&places.posted, first);
        // All bytes that were pending or are sent here, and those of them that are reported.
        let before = state.pending_bytes;
        let (mut bytes, mut reported) = (before, 0);
        let ended = loop {
            let straight = at.left().min(sink.left());
            let straight = straight.min(budget - next.wrapping_sub(first));
            if straight == 0 {
                break LoopEnd::Budget;
            }
            let expected = at.phase() | DATA;
            let lap = next.wrapping_add(straight);
            let mut left = straight;
            let ended = loop {
                let (source, length, flags) = match take(places, map, at, expected) {
                    Ok(taken) => taken,
                    Err(ended) => break Some(ended),
                };
                if length >= AHEAD_BYTES {
                    places.look_ahead(at.mark(), sink.place(), length);
                }
                if !sink.put(source, length) {
                    break Some(LoopEnd::General);
                }
                // SAFETY: `left` counts them.
                unsafe { at.step() };
                left -= 1;
                bytes += u64::from(length);
                if flags & SIGNAL != 0 {
                    signal(places, state, lap.wrapping_sub(left), bytes - reported);
                    reported = bytes;
                }
                if left == 0 {
                    break None;
                }
            };
            next = lap.wrapping_sub(left);
            if let Some(ended) = ended {
                break ended;
            }
            at.turn();
            sink.turn();
        };
        let packets = next.wrapping_sub(first);
        if packets != 0 {
            // `signal` has counted those that were reported.
            state.pending_packets += next.wrapping_sub(state.at.submission);
            state.pending_bytes = bytes - reported;
            state.at.submission = next;
            bump(&count.packets, u64::from(packets));
            bump(&count.bytes, bytes - before);
            sink.finish(packets, bytes - before);
        }
        (packets, ended)
    }

    /// The rest of the open burst, or the next one. [`LoopEnd::Burst`] when it is done (and
    /// completed, if that was asked for).
    #[inline(always)]
    pub fn burst<K: FastSink>(&mut self, mut sink: K, budget: u32) -> (u32, LoopEnd) {
        if self.tx.parts().1.burst.left == 0 {
            let (view, state, _) = self.tx.parts();
            match view.submissions.read(state.at.submission) {
                Some(entry) if self.tx.open_burst_plain(self.map, entry) => {}
                _ => return (0, LoopEnd::General),
            }
        }
        let burst = self.tx.parts().1.burst;
        let (length, stride) = (burst.length, u64::from(burst.stride));
        let plain = (burst.flags as u16 & sf::END_MASK) == 0;
        let span = u64::from(burst.left - 1) * stride + u64::from(length);
        let whole = u32::try_from(span).ok().and_then(|span| self.source(burst.address, span));
        let (true, Some(mut source)) = (plain, whole) else { return (0, LoopEnd::General) };
        let most = burst.left.min(budget);
        let mut packets = 0;
        'laps: while packets < most {
            let lap = most.min(packets.saturating_add(sink.left()));
            while packets < lap {
                if !sink.put(source, length) {
                    break 'laps;
                }
                source = source.wrapping_add(stride as usize);
                packets += 1;
            }
            sink.turn();
        }
        let bytes = u64::from(packets) * u64::from(length);
        let (_, state, count) = self.tx.parts();
        state.burst.address = burst.address + u64::from(packets) * stride;
        state.burst.left -= packets;
        state.pending_packets += packets;
        state.pending_bytes += bytes;
        bump(&count.packets, u64::from(packets));
        bump(&count.bytes, bytes);
        if packets != 0 {
            sink.finish(packets, bytes);
        }
        if state.burst.left != 0 {
            return (packets, if packets == budget { LoopEnd::Budget } else { LoopEnd::General });
        }
        let next = state.at.submission.wrapping_add(2);
        if burst.flags & u32::from(sf::SIGNAL) != 0 {
            let (pending, bytes) = (state.pending_packets, state.pending_bytes);
            // `signal` counts positions; a burst's packets are counted already.
            state.pending_packets = pending.wrapping_sub(2);
            signal(self.places, state, next, bytes);
            state.pending_bytes = 0;
        }
        state.at.submission = next;
        (packets, LoopEnd::Burst)
    }

    /// Where the packets of a burst begin.
    #[inline(always)]
    fn source(&mut self, from: u64, span: u32) -> Option<*const u8> {
        let domain = self.tx.view.config.domain as u16;
        let window = self.map.window(Address(from), domain, READ, u32::MAX)?;
        window.at(from, span).map(<*mut u8>::cast_const)
    }
}

/// Where the packet of a valid DATA entry is, how long it is, and the entry's flags.
#[inline(always)]
fn take(
    places: &FastState,
    map: &RegionMap,
    at: Cursor<&RingCell<Ring>>,
    expected: u32,
) -> Result<(*const u8, u32, u32), LoopEnd> {
    let slot = at.slot();
    let entry = slot.word1();
    let (flags, length) = ((entry >> 32) as u32, entry as u32);
    if (flags ^ expected) & TX_CHECK != 0 {
        return Err(other_than_data(flags, at.phase()));
    }
    let from = slot.word0();
    let source = match places.source.at(from, length) {
        Some(source) => source,
        None => places.other_source(map, from, length).ok_or(LoopEnd::General)?,
    };
    Ok((source, length, flags))
}

/// What the entry where a loop of DATA entries ended means.
#[inline(always)]
fn other_than_data(flags: u32, phase: u32) -> LoopEnd {
    match flags & TYPE {
        _ if flags & PHASE_BITS != phase => LoopEnd::Idle,
        BURST => LoopEnd::Burst,
        _ => LoopEnd::General,
    }
}

/// Writes the sender's completion for everything before position `next`.
#[inline(always)]
fn signal(places: &FastState, state: &mut TxState, next: u32, bytes: u64) {
    let count = state.pending_packets.wrapping_add(next).wrapping_sub(state.at.submission);
    let word0 = bytes & 0xffff_ffff | u64::from(count as u16) << 32 | places.vc.get().0;
    let done = state.at.completion;
    places.sent.get().write(done, [word0, u64::from(next.wrapping_sub(1) as u16)]);
    state.at.completion = done.wrapping_add(1);
    state.at.submission = next;
    state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
    state.pending_packets = 0;
}
