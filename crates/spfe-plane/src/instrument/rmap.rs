//! Memory behind an RMAP target (ECSS-E-ST-50-52C): the instrument `rmap:1M`.
//!
//! All virtual channels of a port share target and memory. A reply leaves on the channel of its
//! command. Each process that runs the engine has its own memory, so all clients of an embedded
//! network share one, and all clients of a daemon in mode thread.

use super::{count, own};
use spfe_contract::EndMarker;
use spfe_device::copy::CopyTarget;
use spfe_device::flow::{Accepted, NextPiece, Piece, StepContext};
use spfe_device::queue::Host;
use spfe_device::shared::{FlowShared, bump};
use spfe_host::topology::{
    PortConfig, RMAP_ADDRESS_MAX, RMAP_LOGICAL_ADDRESS, RmapUnit, WORD_BYTES,
};
use spfe_host::{Clock, Peer, Topology};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::command::HEADER_MAX;
use spfe_proto::rmap::target::{REPLY_OVERHEAD, TargetCounters};
use spfe_proto::rmap::{
    CommandHeader, Denial, LENGTH_MAX, RMW_MAX, Ram, RmapOperation, RmapTarget, RmapTargetConfig,
    TargetOutcome,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Length of the longest command, and one byte more to detect longer packets.
const KEPT_MAX: usize = HEADER_MAX + LENGTH_MAX as usize + 2;
/// Maximum number of waiting replies of a virtual channel. Further commands wait.
const REPLIES_MAX: usize = 256;
/// Number of bytes of waiting replies beyond which commands wait.
const REPLY_BYTES_MAX: usize = 4 << 20;
/// Maximum number of reply buffers kept for reuse, and of bytes in each.
const SPARE_MAX: usize = 16;
const SPARE_BYTES_MAX: usize = 64 << 10;

const _: () = assert!(RMAP_ADDRESS_MAX == spfe_proto::rmap::ADDRESS_MAX);
const _: () = assert!(RMAP_LOGICAL_ADDRESS == spfe_proto::DEFAULT_LOGICAL_ADDRESS);

/// A target and its memory.
struct Unit {
    config: RmapUnit,
    target: RmapTarget,
    bytes: Vec<u8>,
}

/// The target on a port, and the replies of each virtual channel.
pub struct RmapPort {
    unit: Mutex<Unit>,
    replies: Vec<Mutex<Replies>>,
}

#[derive(Default)]
struct Replies {
    waiting: VecDeque<Reply>,
    /// The reply being sent, and the number of its bytes that have been sent.
    current: Option<Reply>,
    done: u32,
    bytes: usize,
    spare: Vec<Vec<u8>>,
}

struct Reply {
    bytes: Vec<u8>,
    /// When the command has arrived over a paced link, ns. The reply is not sent before.
    through_ns: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the targets of a network, by endpoint and port.
pub fn ports(topology: &Topology) -> Vec<Vec<Option<Arc<RmapPort>>>> {
    let on = |port: &PortConfig| match port.peer {
        Peer::Rmap(config) => Some(Arc::new(RmapPort::new(config, port.vcs))),
        _ => None,
    };
    topology.endpoints.iter().map(|ports| ports.iter().map(on).collect()).collect()
}

impl RmapPort {
    fn new(config: RmapUnit, vcs: u32) -> Self {
        let target = RmapTarget::new(target(&config));
        let bytes = vec![0; config.bytes as usize];
        let replies = (0..vcs).map(|_| Mutex::default()).collect();
        Self { unit: Mutex::new(Unit { config, target, bytes }), replies }
    }

    /// Counters of the target.
    pub fn counters(&self) -> TargetCounters {
        *lock(&self.unit).target.counters()
    }

    /// The two ends of the target on a virtual channel: of the flow of commands and of the flow of
    /// replies.
    pub fn ends(
        self: &Arc<Self>,
        vc: u32,
        commands: &'static FlowShared,
        replies: &'static FlowShared,
        clock: &Clock,
    ) -> (RmapIn, RmapOut) {
        let (port, packet) = (self.clone(), Vec::new());
        let listener = RmapIn { port, vc, shared: commands, packet, open: false };
        let (port, clock) = (self.clone(), clock.clone());
        (listener, RmapOut { port, vc, shared: replies, clock })
    }
}

/// Configuration of the target. It buffers whole commands, so it can verify data of any length.
fn target(unit: &RmapUnit) -> RmapTargetConfig {
    RmapTargetConfig {
        logical_address: Some(unit.logical_address),
        accept_default: false,
        key: unit.key,
        verify_bytes: LENGTH_MAX,
        ..RmapTargetConfig::default()
    }
}

impl Unit {
    /// Executes a command and stores its reply, if any, in `reply`. False if the command was refused
    /// or discarded.
    fn handle(&mut self, packet: &[u8], end: PacketEnd, reply: &mut Vec<u8>) -> bool {
        let header = CommandHeader::parse(packet).ok();
        let data = match header.as_ref().map(|header| (header.instruction.operation(), header)) {
            // A longer read is refused and needs no room.
            Some((Some(RmapOperation::Read { increment: true }), header)) => {
                (header.length as usize).min(self.bytes.len())
            }
            Some((Some(RmapOperation::Read { increment: false }), header)) => {
                header.length as usize
            }
            _ => RMW_MAX,
        };
        reply.clear();
        reply.resize(REPLY_OVERHEAD + data, 0);
        let base = self.config.base;
        let mut memory = Ram { base, word_bytes: WORD_BYTES, bytes: &mut self.bytes };
        let allow = self.config.allow;
        let permit = |header: &CommandHeader| match header.instruction.operation() {
            Some(operation) if !operation.is_among(allow.read, allow.write, allow.modify) => {
                Err(Denial::Access)
            }
            _ => Ok(()),
        };
        let outcome = self.target.handle(packet, end, &mut memory, permit, reply);
        // Cannot fail: there is room for the smallest reply.
        reply.truncate(outcome.map_or(0, |outcome| outcome.reply_bytes()));
        matches!(outcome, Ok(TargetOutcome::Executed { .. }))
    }
}

impl Replies {
    fn is_full(&self) -> bool {
        self.waiting.len() >= REPLIES_MAX || self.bytes >= REPLY_BYTES_MAX
    }

    fn put(&mut self, bytes: Vec<u8>, through_ns: u64) {
        if bytes.is_empty() {
            self.keep(bytes);
            return;
        }
        self.bytes += bytes.len();
        self.waiting.push_back(Reply { bytes, through_ns });
    }

    fn keep(&mut self, bytes: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && bytes.capacity() <= SPARE_BYTES_MAX {
            self.spare.push(bytes);
        }
    }
}

/// Receiving end of a target: collects commands.
pub struct RmapIn {
    port: Arc<RmapPort>,
    vc: u32,
    shared: &'static FlowShared,
    packet: Vec<u8>,
    open: bool,
}

impl RmapIn {
    fn replies(&self) -> MutexGuard<'_, Replies> {
        lock(&self.port.replies[self.vc as usize])
    }

    /// Whether a packet has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Takes a piece. The last piece of a packet waits while too many replies wait.
    pub fn take<H: Host>(&mut self, piece: &mut Piece, cx: &mut StepContext<'_, H>) -> Accepted {
        let ends = piece.end != EndMarker::None;
        if ends && self.replies().is_full() {
            return Accepted::Full;
        }
        let rest = piece.rest();
        let kept = (rest as usize).min(KEPT_MAX - self.packet.len());
        let start = self.packet.len();
        self.packet.resize(start + kept, 0);
        let target = CopyTarget { at: self.packet[start..].as_mut_ptr(), address: None };
        // SAFETY: `packet` has `kept` bytes from `start` on.
        unsafe { piece.take(target, kept as u32) };
        piece.done = piece.length;
        bump(&self.shared.rx_count.bytes, u64::from(rest));
        cx.book(rest, ends);
        self.open = !ends;
        if ends {
            self.finish(piece.end, cx.through_ns);
        }
        Accepted::Whole
    }

    /// Ends an open packet with EEP.
    pub fn cut(&mut self, through_ns: u64) {
        if self.open {
            self.finish(EndMarker::Eep, through_ns);
        }
    }

    fn finish(&mut self, end: EndMarker, through_ns: u64) {
        let end = if end == EndMarker::Eep { PacketEnd::Eep } else { PacketEnd::Eop };
        let mut reply = self.replies().spare.pop().unwrap_or_default();
        let executed = lock(&self.port.unit).handle(&self.packet, end, &mut reply);
        self.replies().put(reply, through_ns);
        bump(&self.shared.rx_count.packets, 1);
        if !executed {
            bump(&self.shared.rx_count.errors, 1);
        }
        self.packet.clear();
        self.open = false;
    }
}

/// Sending end of a target: sends replies.
pub struct RmapOut {
    port: Arc<RmapPort>,
    vc: u32,
    shared: &'static FlowShared,
    clock: Clock,
}

impl RmapOut {
    fn replies(&self) -> MutexGuard<'_, Replies> {
        lock(&self.port.replies[self.vc as usize])
    }

    /// The next reply, or the rest of it.
    pub fn next(&mut self, piece: &mut Piece) -> NextPiece {
        let mut replies = self.replies();
        if replies.current.is_none() {
            replies.current = replies.waiting.pop_front();
        }
        let Some(reply) = &replies.current else { return NextPiece::Idle };
        if reply.through_ns != 0 && reply.through_ns > self.clock.now_ns() {
            return NextPiece::At(reply.through_ns);
        }
        piece.clear();
        // The bytes stay in place until `finish` removes the reply.
        piece.add(own(&reply.bytes));
        piece.finish(EndMarker::Eop, 0, 1);
        piece.done = replies.done;
        NextPiece::Ready
    }

    /// Stores how many bytes of the reply have been sent.
    pub fn pause(&mut self, done: u32) {
        self.replies().done = done;
    }

    /// Removes the reply, which has been sent.
    pub fn finish(&mut self, piece: &Piece) {
        count(&self.shared.tx_count, piece.length);
        let mut replies = self.replies();
        replies.done = 0;
        if let Some(reply) = replies.current.take() {
            replies.bytes -= reply.bytes.len();
            replies.keep(reply.bytes);
        }
    }
}
