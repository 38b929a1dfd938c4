//! The state of a flow, in memory that every possible runner maps.
//!
//! Only the holder of the seat accesses the fields that are not atomic. The control plane claims
//! the seat before it changes a configuration. Then it increments the epoch, which makes every
//! runner read the configuration again before its next step.

use spfe_contract::QueueSetup;
use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering};
use spfe_ring::{Board, PackedWriter, Seat};
use std::cell::UnsafeCell;
use std::ops::Deref;

/// Turns of a wait for another participant between two yields of the core.
pub(crate) const TURNS: u32 = 256;

/// A queue as the control plane has configured it. Reads as its [`QueueSetup`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// What the host has written; `kind` is 0 while the queue is disabled.
    pub setup: QueueSetup,
    /// Virtual channel, copied into completions.
    pub vc: u32,
    /// Participant that the queue belongs to, 0 for none.
    pub owner: u32,
}

impl Deref for QueueConfig {
    type Target = QueueSetup;
    #[inline(always)]
    fn deref(&self) -> &QueueSetup {
        &self.setup
    }
}

/// Counters of one queue. The holder of the seat writes them; anyone may read them.
#[repr(C)]
#[derive(Default)]
pub struct QueueCounters {
    /// Packets moved.
    pub packets: AtomicU64,
    /// Payload bytes moved.
    pub bytes: AtomicU64,
    /// Submissions that ended with an error status, or were discarded when their queue closed.
    pub errors: AtomicU64,
    /// Times a packet had to wait for a receive buffer.
    pub stalls: AtomicU64,
    /// Wake-ups of the host.
    pub wakes: AtomicU64,
    /// Messages dropped.
    pub dropped: AtomicU64,
}

/// Adds to a counter. Only the holder of the seat writes it, so no atomic addition is needed.
#[inline(always)]
pub fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

/// Counts packets and their bytes.
pub fn count(counters: &QueueCounters, packets: u64, bytes: u64) {
    bump(&counters.packets, packets);
    bump(&counters.bytes, bytes);
}

/// A snapshot of [`QueueCounters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets moved.
    pub packets: u64,
    /// Payload bytes moved.
    pub bytes: u64,
    /// Submissions that ended with an error status, or were discarded when their queue closed.
    pub errors: u64,
    /// Times a packet had to wait for a receive buffer.
    pub stalls: u64,
    /// Wake-ups of the host.
    pub wakes: u64,
    /// Messages dropped.
    pub dropped: u64,
}

impl QueueCounters {
    /// The current values. Each is exact, but they are not all from the same moment.
    pub fn values(&self) -> QueueCounts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        QueueCounts {
            packets: get(&self.packets),
            bytes: get(&self.bytes),
            errors: get(&self.errors),
            stalls: get(&self.stalls),
            wakes: get(&self.wakes),
            dropped: get(&self.dropped),
        }
    }
}

/// Positions in the rings of a queue, and the state of its wake-ups.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Positions {
    /// Position of the next submission to read.
    pub submission: u32,
    /// Position of the next completion to write.
    pub completion: u32,
    /// Sequence number of the last arming that was answered with a wake-up.
    pub answered: u32,
    /// Sequence number of the arming that `first_ns` belongs to.
    pub timed: u32,
    /// Not 0: a completion with an error was written since the last wake-up. It wakes the host.
    pub urgent: u32,
    /// Fills the layout.
    pub reserved: u32,
    /// Device time of the first completion after the arming, ns. For hosts that wait for a time
    /// after it.
    pub first_ns: u64,
    /// Payload bytes reported in completions since the queue was enabled.
    pub reported_bytes: u64,
}

impl Positions {
    /// Both positions as one word: submission in the lower half, completion in the upper one.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        // SAFETY: the two are the first fields of an aligned struct with a C layout. One load, which
        // the compiler does not make of two.
        let word = unsafe { std::ptr::from_ref(self).cast::<u64>().read() };
        if cfg!(target_endian = "big") { word.rotate_left(32) } else { word }
    }

    /// Sets both positions from one word.
    #[inline(always)]
    pub fn set_word(&mut self, word: u64) {
        self.submission = word as u32;
        self.completion = (word >> 32) as u32;
    }
}

/// The open burst of a transmit queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstState {
    /// Address of the next packet.
    pub address: u64,
    /// Bytes of each packet.
    pub length: u32,
    /// Bytes from one packet to the next.
    pub stride: u32,
    /// Packets left. 0 if no burst is open.
    pub left: u32,
    /// Flags of its first entry.
    pub flags: u32,
}

/// Transmit side of a flow.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxState {
    /// Positions and wake-ups.
    pub at: Positions,
    /// Bytes of the current piece that the receiver has already.
    pub done: u32,
    /// 1: the last piece sent had no end marker, so a packet is open. 2: its receiver is gone. 0:
    /// no packet is open.
    pub open: u32,
    /// The open burst.
    pub burst: BurstState,
    /// Packets sent and not reported in a completion yet.
    pub pending_packets: u32,
    /// Fills the layout.
    pub reserved: u32,
    /// Bytes sent and not reported in a completion yet.
    pub pending_bytes: u64,
}

/// How far a packed area is filled. A recovery starts from it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaMark {
    /// Offset of the first byte after the last record.
    pub head: u32,
    /// Bytes used since the queue was enabled, skipped tails included (mod 2^32).
    pub bytes: u32,
    /// Not 0: the packet of the last record continues.
    pub open: u32,
    /// Completion position of the next run.
    pub position: u32,
}

/// Receive side of a flow.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxState {
    /// Positions and wake-ups.
    pub at: Positions,
    /// Bytes in the buffer being filled.
    pub fill: u32,
    /// Not 0: a packet has begun and not ended.
    pub open: u32,
    /// Not 0: the open packet must be ended with EEP as soon as there is room.
    pub cut: u32,
    /// Use of the packed area.
    pub packed: PackedWriter,
    /// The area after the last run whose completion was written or planned.
    pub handed: AreaMark,
    /// The area after a run that is certainly published, with all runs before it.
    pub known: AreaMark,
    /// Bytes the host has given back since the queue was enabled (mod 2^32).
    pub released_bytes: u32,
    /// Completions the host has given back since the queue was enabled (mod 2^32).
    pub released: u32,
    /// Completions the device may still write (packed receive).
    pub credits: u32,
    /// Offset of the run being built.
    pub run_offset: u32,
    /// Bytes of that run, headers and padding included.
    pub run_bytes: u32,
    /// Records of that run. 0 if no run is being built.
    pub run_records: u32,
    /// Not 0: that run begins at offset 0, after a skipped tail.
    pub run_wrapped: u32,
    /// Link time of its first record, ns (paced links).
    pub run_first_ns: u64,
}

/// State of a flow: one virtual channel in one direction of one link.
#[repr(C, align(64))]
#[derive(Default)]
pub struct FlowShared {
    /// Held by the runner of the engine. It has a cache line of its own, because the owner writes
    /// it at every step.
    pub seat: Seat,
    pad0: [AtomicU32; 14],
    /// Incremented when the configuration or a region of either end changes.
    pub epoch: AtomicU32,
    /// Not 0: a packet waits for room at the receiver.
    pub stalled: AtomicU32,
    /// Id of a dead participant of this flow, or 0.
    pub dead: AtomicU32,
    /// Last question for the distance of the far end ([`crate::distance`]).
    pub asked: AtomicU32,
    pad1: [AtomicU32; 12],
    /// The last answer, on a line that only the far end writes.
    pub answered: AtomicU32,
    pad2: [AtomicU32; 15],
    /// Transmit side. Only for the holder of the seat.
    pub tx: UnsafeCell<TxState>,
    /// Receive side. Only for the holder of the seat.
    pub rx: UnsafeCell<RxState>,
    /// Configuration of the transmit queue. Written with the seat claimed.
    pub tx_config: UnsafeCell<QueueConfig>,
    /// Configuration of the receive queue. Written with the seat claimed.
    pub rx_config: UnsafeCell<QueueConfig>,
    /// Transmit counters.
    pub tx_count: QueueCounters,
    /// Receive counters.
    pub rx_count: QueueCounters,
    /// Copies that both ends share (mode coop).
    pub board: Board,
}

// SAFETY: only the holder of the seat accesses the cells; the other fields are atomics.
unsafe impl Sync for FlowShared {}
// SAFETY: plain data and atomics that belong to no thread.
unsafe impl Send for FlowShared {}

impl FlowShared {
    /// The current epoch.
    #[inline(always)]
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Makes every runner read configuration and regions again before its next step.
    pub fn bump_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }
}
