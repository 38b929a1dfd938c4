//! The state of a flow, in memory that every possible runner can map.
//!
//! Only who holds the seat touches anything here except the atomics; the control plane claims the
//! seat before it changes a configuration and then bumps the epoch, which makes every runner read
//! the configuration again before its next step.

use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering};
use spfe_ring::{Board, PackedWriter, Seat};
use std::cell::UnsafeCell;

/// What a queue is: the configuration area of its context (contract block `queue`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// `queue_kind`; 0 when disabled.
    pub kind: u32,
    /// `queue_options`.
    pub options: u32,
    /// Protection domain.
    pub domain: u32,
    /// Event vector.
    pub vector: u32,
    /// Submission ring entries, log2.
    pub sq_log2: u32,
    /// Completion ring entries, log2.
    pub cq_log2: u32,
    /// Submission ring {region, offset}.
    pub sq: u64,
    /// Completion ring.
    pub cq: u64,
    /// Side array of times.
    pub stamps: u64,
    /// Host line, then device line.
    pub lines: u64,
    /// Packed area.
    pub area: u64,
    /// Packed area size in bytes.
    pub area_bytes: u32,
    /// Message receive filter.
    pub filter: u32,
    /// Virtual channel, copied into completions.
    pub vc: u32,
    /// Who runs it: the participant the queue belongs to (0: nobody).
    pub owner: u32,
}

/// Counters of one queue. Written by the seat holder, read by anyone.
#[repr(C)]
#[derive(Default)]
pub struct QueueCounters {
    /// Packets moved.
    pub packets: AtomicU64,
    /// Payload bytes moved.
    pub bytes: AtomicU64,
    /// Submissions refused with an error status.
    pub errors: AtomicU64,
    /// Times a packet had to wait for a receive buffer.
    pub stalls: AtomicU64,
    /// Wake-ups given to the host.
    pub wakes: AtomicU64,
    /// Messages dropped.
    pub dropped: AtomicU64,
}

/// Adds to a counter only the seat holder writes: no lock prefix needed.
#[inline(always)]
pub fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

/// A snapshot of [`QueueCounters`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Packets moved.
    pub packets: u64,
    /// Payload bytes moved.
    pub bytes: u64,
    /// Submissions refused.
    pub errors: u64,
    /// Stalls for want of a receive buffer.
    pub stalls: u64,
    /// Wake-ups given to the host.
    pub wakes: u64,
    /// Messages dropped.
    pub dropped: u64,
}

impl QueueCounters {
    /// The values now; each is exact, together they are a close look at a moving thing.
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

/// Positions both kinds of queue have.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Positions {
    /// Next submission to read.
    pub submission: u32,
    /// Next completion to write.
    pub completion: u32,
    /// Arm sequence that has been answered with a wake-up.
    pub answered: u32,
    /// Arm sequence whose first completion has been seen (time condition).
    pub timed: u32,
    /// Not 0: something ended with an error since the host was last woken. It wakes.
    pub urgent: u32,
    /// Keeps the layout without holes.
    pub reserved: u32,
    /// When that first completion came.
    pub first_ns: u64,
    /// Payload bytes reported in completions since the queue was enabled.
    pub reported_bytes: u64,
}

/// A burst being sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct BurstState {
    /// Address of the next packet.
    pub address: u64,
    /// Bytes of each packet.
    pub length: u32,
    /// Bytes from one packet to the next.
    pub stride: u32,
    /// Packets left; 0 when no burst is open.
    pub left: u32,
    /// Flags of the burst entry.
    pub flags: u32,
}

/// Transmit side of a flow.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub struct TxState {
    /// Positions.
    pub at: Positions,
    /// Bytes of the current piece already delivered.
    pub done: u32,
    /// A piece without end marker was the last thing sent: the packet is open (1), or its receiver
    /// is gone (2).
    pub open: u32,
    /// The burst being sent.
    pub burst: BurstState,
    /// Packets since the last completion.
    pub pending_packets: u32,
    /// Keeps the layout without holes.
    pub reserved: u32,
    /// Bytes since the last completion.
    pub pending_bytes: u64,
}

/// How far a packed area has been filled: what a recovery starts from.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaMark {
    /// Offset behind the last record.
    pub head: u32,
    /// Bytes used since the queue was enabled, skipped tails included (mod 2^32).
    pub bytes: u32,
    /// The last record's packet goes on.
    pub open: u32,
    /// Completion position of the next run.
    pub position: u32,
}

/// Receive side of a flow.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default)]
pub struct RxState {
    /// Positions.
    pub at: Positions,
    /// Bytes in the buffer being filled.
    pub fill: u32,
    /// A packet has begun and not ended.
    pub open: u32,
    /// The open packet has to be ended with EEP as soon as there is room.
    pub cut: u32,
    /// Packed area.
    pub packed: PackedWriter,
    /// The area after the last run that was handed out to be published.
    pub handed: AreaMark,
    /// The same after a run that has been published for sure, with all runs before it.
    pub known: AreaMark,
    /// Bytes the host has given back since the queue was enabled (mod 2^32).
    pub released_bytes: u32,
    /// Completions the host has given back since the queue was enabled (mod 2^32).
    pub released: u32,
    /// Completions the device may still write (packed receive).
    pub credits: u32,
    /// The run being built: offset, bytes, records, payload bytes.
    pub run_offset: u32,
    /// Bytes of the run, headers and padding included.
    pub run_bytes: u32,
    /// Records of the run.
    pub run_records: u32,
    /// The run starts after a skipped tail.
    pub run_wrapped: u32,
    /// Time of the first record in the run, ns (paced links).
    pub run_first_ns: u64,
}

/// One direction of one virtual channel of one link.
#[repr(C, align(64))]
#[derive(Default)]
pub struct FlowShared {
    /// Who runs the engine. Alone on its line: its owner writes it at every step.
    pub seat: Seat,
    pad0: [AtomicU32; 14],
    /// Goes up when the configuration or a region of either end changes.
    pub epoch: AtomicU32,
    /// Not 0: the sender has something that waits for a receive buffer.
    pub stalled: AtomicU32,
    /// Not 0: a participant of this flow is known to be dead (its id).
    pub dead: AtomicU32,
    pad1: [AtomicU32; 13],
    /// Transmit side; seat holder only.
    pub tx: UnsafeCell<TxState>,
    /// Receive side; seat holder only.
    pub rx: UnsafeCell<RxState>,
    /// Transmit queue configuration; written with the seat claimed.
    pub tx_config: UnsafeCell<QueueConfig>,
    /// Receive queue configuration; written with the seat claimed.
    pub rx_config: UnsafeCell<QueueConfig>,
    /// Transmit counters.
    pub tx_count: QueueCounters,
    /// Receive counters.
    pub rx_count: QueueCounters,
    /// Copies shared out between the ends (cooperative mode).
    pub board: Board,
}

// SAFETY: the cells are only touched by who holds the seat; everything else is atomic.
unsafe impl Sync for FlowShared {}
// SAFETY: plain data and atomics, no thread affinity.
unsafe impl Send for FlowShared {}

impl FlowShared {
    /// The epoch now.
    #[inline(always)]
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Makes every runner read configuration and regions again.
    pub fn bump_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }
}
