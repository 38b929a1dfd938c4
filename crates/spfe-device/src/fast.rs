//! The fast path of a step: short loops for the common cases.
//!
//! They move whole packets, each from one DATA entry or from a burst, into posted buffers that hold
//! them or into the packed area, on a link without pacing, time stamps or observer. Anything else
//! ends the loop, and the general path (`flow::run`) takes over at the same entry.
//!
//! There are two paths because they have different needs. The general path handles a packet in
//! pieces, with a call of a source and a sink for each, and stores its state after each piece. The
//! loops here keep cursors, sums and flags in registers for many packets and store the state once
//! at the end. One body for both would be as slow as the general path.
//! `tests/paths.rs` runs the same submissions through both paths and compares completions, payload,
//! positions and counters.
//!
//! If the runner dies inside a loop the stored state is old, but the rings tell how far it came
//! (`recover`). A function that is not inlined takes and returns values: a reference to a variable
//! of a loop would force all of them into memory.

mod alike;
mod send;
mod shared;
mod single;
mod sinks;

pub use send::FastSender;
pub use shared::SharePolicy;
pub(crate) use shared::{DRAIN_TURNS, PlanEnd, SharedCopies, SharedSender};
pub use single::{SingleEnd, SinglePath};
pub use sinks::{PackedSink, PostedSink};

use crate::memory::{Address, READ, RegionMap, RegionWindow, WRITE};
use crate::queue::QueueView;
use spfe_contract::{self as contract, EntryType, submit_flags as sf};
use spfe_ring::Ring;
use spfe_ring::cursor::{Mark, PHASE_BITS, RingCell, RingPair};
use std::cell::Cell;

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopEnd {
    /// No further entry is posted.
    Idle,
    /// A burst is open, or the next entry begins one.
    Burst,
    /// The next entry needs the general path.
    General,
    /// The budget is used up.
    Budget,
}

// Flags of entries, as bits of the upper half of their second word.
const BUFFER: u32 = EntryType::Buffer.raw() as u32;
const DATA: u32 = EntryType::Data.raw() as u32;
const BURST: u32 = EntryType::Burst.raw() as u32;
const TYPE: u32 = sf::TYPE_MASK as u32;
const SIGNAL: u32 = sf::SIGNAL as u32;
const TX_CHECK: u32 = PHASE_BITS | (sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK | sf::END_MASK) as u32;
const RX_CHECK: u32 = PHASE_BITS | (sf::TYPE_MASK | sf::MBZ_MASK) as u32;
const ONE_PACKET: u64 = 1 << 32;
const MOST: u32 = contract::PACKET_MAX_BYTES as u32;
/// Bytes that the packets of a whole ring may have in all. A completion reports at most 2^32 - 1
/// bytes, and up to 2^31 may be pending when a loop begins.
const PENDING_MOST: u32 = 0x8000_0000;

/// From this packet length on it pays to prefetch the next packet.
const AHEAD_BYTES: u32 = 512;
/// From this packet length on only the first cache lines are prefetched. The hardware prefetcher
/// finds the rest.
const LONG_BYTES: u32 = 2048;

/// Prefetches a packet that is assumed to be `length` bytes long, like the one before it.
#[inline(always)]
fn prefetch_packet(at: *const u8, length: u32) {
    let lines = if length < LONG_BYTES { length.div_ceil(64) } else { 8 };
    for line in 0..lines as usize {
        prefetch_write(at.wrapping_add(64 * line));
    }
}

/// Prefetches a cache line for writing.
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

/// What the loops know of a bound flow. The fields are cells for the reason given at
/// [`RegionWindow`].
pub struct FastState {
    /// Submission ring of the transmit queue.
    posted: RingCell<Ring>,
    /// Completion ring of the transmit queue.
    sent: Cell<Ring>,
    /// The region that the last packet came from.
    source: RegionWindow,
    /// Protection domain of the transmit queue, and the longest packet that the loops take.
    from: Cell<(u16, u32)>,
    /// Submission and completion ring of the receive queue.
    receive: RingCell<RingPair>,
    /// The region that the last packet went to.
    target: RegionWindow,
    /// Protection domain of the receive queue.
    to: Cell<u16>,
    /// Constant bits of the first word of a completion: virtual channel of the sender; virtual
    /// channel and packet count (1) of the receiver.
    vc: Cell<(u64, u64)>,
}

impl FastState {
    /// State for posted buffers. `None` if the configuration needs the general path. Both rings of
    /// the receive queue must have the same size, because one cursor serves both. `most` is the
    /// length of the longest packet that the loops may take.
    pub fn posted(tx: &QueueView, rx: &QueueView, most: u32) -> Option<Self> {
        let rings = RingPair::new(rx.submissions, rx.completions)?;
        Self::without_stamps(tx, rx, rings, most)
    }

    /// State for wide completions, which [`SinglePath`] alone fills: the loops must not get it. `None`
    /// if the configuration needs the general path.
    pub fn wide(tx: &QueueView, rx: &QueueView, most: u32) -> Option<Self> {
        let rings = RingPair::new(rx.submissions, rx.submissions)?;
        Self::without_stamps(tx, rx, rings, most).filter(|_| rx.completions.is_wide())
    }

    /// Looks up the windows of the next packet and the next buffer. False if there are none, or none
    /// that are plain.
    pub(crate) fn find_windows(&self, maps: (&RegionMap, &RegionMap), at: (u32, u32)) -> bool {
        let entry = self.posted.get().read(at.0);
        let buffer = self.receive.get().first().read(at.1);
        let (Some([from, length]), Some([to, room])) = (entry, buffer) else { return false };
        self.other_source(maps.0, from, length as u32).is_some()
            && self.other_target(maps.1, to, room as u32).is_some()
    }

    /// State for a packed area. `None` if the configuration needs the general path.
    pub fn packed(tx: &QueueView, rx: &QueueView, most: u32) -> Option<Self> {
        // [`PackedSink`] uses no cursor, so any pair will do.
        let rings = RingPair::new(rx.completions, rx.completions)?;
        Self::without_stamps(tx, rx, rings, most)
    }

    fn without_stamps(
        tx: &QueueView,
        rx: &QueueView,
        receive: RingPair,
        most: u32,
    ) -> Option<Self> {
        if tx.wants_stamps() || rx.wants_stamps() {
            return None;
        }
        let vc = |view: &QueueView| u64::from(view.config.vc as u8) << 48;
        Some(Self {
            posted: RingCell::new(tx.submissions),
            sent: tx.completions.into(),
            source: RegionWindow::default(),
            from: (tx.config.domain as u16, most.min(PENDING_MOST >> tx.config.sq_log2)).into(),
            receive: RingCell::new(receive),
            target: RegionWindow::default(),
            to: (rx.config.domain as u16).into(),
            vc: (vc(tx), vc(rx) | ONE_PACKET).into(),
        })
    }

    /// Looks up a packet outside of the last window: in another region, or at no valid address.
    #[cold]
    #[inline(never)]
    fn other_source(&self, map: &RegionMap, from: u64, length: u32) -> Option<*mut u8> {
        let (domain, most) = self.from.get();
        self.source.set(map.window(Address(from), domain, READ, most)?);
        self.source.at(from, length)
    }

    /// Prefetches the packet after this one and its buffer.
    #[inline(never)]
    fn look_ahead(&self, from: Mark, to: Option<Mark>, length: u32) {
        let posted = self.posted.get();
        prefetch_packet(self.source.guess(posted.word0_behind(from)), length);
        if let Some(to) = to {
            prefetch_packet(self.target.guess(self.receive.get().first().word0_behind(to)), length);
        }
    }

    /// Looks up a buffer outside of the last window: in another region, or at no valid address.
    #[cold]
    #[inline(never)]
    fn other_target(&self, map: &RegionMap, to: u64, room: u32) -> Option<*mut u8> {
        self.target.set(map.window(Address(to), self.to.get(), WRITE, MOST)?);
        self.target.at(to, room)
    }
}

/// A receive queue as a loop uses it. It lives for one loop.
pub trait FastSink {
    /// Whether [`FastSink::put_alike`] and [`FastSink::put_strides`] may store anything.
    const ALIKE: bool = false;
    /// Packets that fit before the next [`FastSink::turn`]. At least 1 right after it.
    fn left(&self) -> u32;
    /// Begins the next lap of the ring if the last slot was used.
    fn turn(&mut self);
    /// Stores one whole packet. The caller counts [`FastSink::left`]. False if the packet needs the
    /// general path.
    fn put(&mut self, source: *const u8, length: u32) -> bool;
    /// Stores packets of one DATA entry each, from a mark on, whose second words equal `word1`, each
    /// `length` bytes long. At most `most`, which is at most [`FastSink::left`]; the caller counts
    /// it. Returns their number.
    fn put_alike(&mut self, _from: Mark, _word1: u64, _length: u32, _most: u32) -> u32 {
        0
    }
    /// Stores packets of `length` bytes that are `stride` bytes apart, as [`FastSink::put_alike`].
    fn put_strides(&mut self, _next: *const u8, _stride: usize, _length: u32, _most: u32) -> u32 {
        0
    }
    /// Place of the next posted buffer, for prefetching. `None` for a packed area.
    fn place(&self) -> Option<Mark>;
    /// Stores the state that the loop kept in registers, after this many packets and bytes.
    fn finish(self, packets: u32, bytes: u64);
}
