//! Options and counters of an initiator.

use spfe_contract::PairCounter;
use spfe_proto::DEFAULT_LOGICAL_ADDRESS;
use spfe_proto::sfrp::{PID, ReplyPath, SEGMENT_DEFAULT, SEGMENT_MAX, SEGMENT_MIN, VC_OF_ARRIVAL};

/// Maximum number of requests in a queue.
pub const DEPTH_MAX: usize = 1 << 14;
/// Maximum time that a receiver can make an initiator wait, ns.
pub const PAUSE_MAX_NS: u64 = 1_000_000_000;

/// Address of the partner, and the limits of a queue pair.
#[derive(Clone, Debug)]
pub struct RdmaInitiatorOptions {
    /// Path bytes to the target.
    pub path: Vec<u8>,
    /// Logical address of the target.
    pub target: u8,
    /// Queue pair of the target; 0 for a target-only endpoint.
    pub target_queue: u16,
    /// Path bytes from the target back.
    pub reply_path: ReplyPath,
    /// Virtual channel of the responses, or that of the request.
    pub reply_vc: u8,
    /// Own logical address.
    pub address: u8,
    /// Own queue pair.
    pub queue: u16,
    /// Protocol identifier.
    pub protocol: u8,
    /// Largest payload of a packet, a power of two from 256 to 65536.
    pub segment_bytes: u32,
    /// Requests that may be posted and not completed.
    pub depth: usize,
    /// Messages that may be sent and not acknowledged.
    pub window: usize,
    /// Reads and atomic operations that may be outstanding, at most 16.
    pub reads: usize,
    /// Time without progress after which a message is repeated, ns. Doubles with each repetition.
    pub timeout_ns: u64,
    /// Number of repetitions.
    pub retries: u32,
    /// Number of repetitions after the receiver was not ready or busy.
    pub not_ready_retries: u32,
}

impl Default for RdmaInitiatorOptions {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            target: DEFAULT_LOGICAL_ADDRESS,
            target_queue: 0,
            reply_path: ReplyPath::default(),
            reply_vc: VC_OF_ARRIVAL,
            address: DEFAULT_LOGICAL_ADDRESS,
            queue: 1,
            protocol: PID,
            segment_bytes: SEGMENT_DEFAULT,
            depth: 1024,
            window: 256,
            reads: 16,
            timeout_ns: 10_000_000,
            retries: 3,
            not_ready_retries: 7,
        }
    }
}

impl RdmaInitiatorOptions {
    pub(super) fn within_limits(mut self) -> Self {
        let segment = self.segment_bytes.clamp(SEGMENT_MIN, SEGMENT_MAX);
        self.segment_bytes = 1 << segment.ilog2();
        self.depth = self.depth.clamp(1, DEPTH_MAX);
        self.window = self.window.clamp(1, self.depth);
        self.reads = self.reads.clamp(1, crate::target::READS_MAX);
        self.timeout_ns = self.timeout_ns.max(1);
        self.retries = self.retries.min(16);
        self
    }

    /// Longest time without progress after which an operation has failed, ns.
    pub fn bound_ns(&self) -> u64 {
        let tries = (1u64 << (self.retries + 1)) - 1;
        let not_ready = u64::from(self.not_ready_retries).saturating_add(1) * PAUSE_MAX_NS;
        self.timeout_ns.saturating_mul(tries).saturating_add(not_ready)
    }
}

/// What happened to the requests and packets of an initiator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitiatorCounts {
    /// Requests completed.
    pub completed: u64,
    /// Requests failed; each ends the queue pair.
    pub failed: u64,
    /// Requests flushed.
    pub flushed: u64,
    /// Packets sent.
    pub packets: u64,
    /// Payload bytes sent.
    pub bytes: u64,
    /// Packets sent again.
    pub resent: u64,
    /// Messages repeated because no answer came in time.
    pub timeouts: u64,
    /// Refusals after which messages were repeated.
    pub refusals: u64,
    /// Responses that belong to nothing outstanding.
    pub stale: u64,
    /// Packets that are no intact response.
    pub invalid: u64,
    /// Messages tried without credit because no announcement came.
    pub probes: u64,
    /// Completed requests that needed no packets ([`crate::near`]). The other counters do not tell them
    /// from those that did.
    pub near: u64,
}

impl InitiatorCounts {
    /// Every counter with its number in the contract, in the contract's order.
    pub fn numbered(&self) -> [(PairCounter, u64); 12] {
        [
            (PairCounter::Completed, self.completed),
            (PairCounter::Failed, self.failed),
            (PairCounter::Flushed, self.flushed),
            (PairCounter::Packets, self.packets),
            (PairCounter::Bytes, self.bytes),
            (PairCounter::Resent, self.resent),
            (PairCounter::Timeouts, self.timeouts),
            (PairCounter::Refusals, self.refusals),
            (PairCounter::Stale, self.stale),
            (PairCounter::Invalid, self.invalid),
            (PairCounter::Probes, self.probes),
            (PairCounter::Near, self.near),
        ]
    }
}
