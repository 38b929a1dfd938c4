//! A target-only endpoint of RDMA as an instrument, with RMAP on the same memory. Its description is
//! a TOML file (docs/rdma.md).

use super::{count, own};
use spfe_contract::EndMarker;
use spfe_device::copy::CopyTarget;
use spfe_device::flow::{Accepted, NextPiece, Piece, StepContext};
use spfe_device::memory::RegionMap;
use spfe_device::queue::Host;
use spfe_device::shared::{self, FlowShared, bump};
use spfe_device::step::{HandRoom, HandSink, HandSource, NearFar, NextHanded};
use spfe_host::Clock;
use spfe_host::topology::{Peer, Topology};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::SfrpHeader;
use spfe_rdma::direct::{Payload, Taker};
use spfe_rdma::near::NearTally;
use spfe_rdma::target::TargetCounts;
use spfe_rdma::{Notification, TargetFile, TargetNode};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The target on a port, and the packet that each virtual channel sends.
pub struct TargetPort {
    state: Mutex<TargetState>,
    /// Longest packet that is kept, and one byte more to detect longer ones.
    kept_max: usize,
}

/// Both directions of all virtual channels.
struct TargetState {
    node: TargetNode,
    sending: Vec<Sending>,
}

/// A packet, and the number of its bytes that have been sent.
#[derive(Default)]
struct Sending {
    packet: Vec<u8>,
    done: u32,
    busy: bool,
}

/// Creates the targets of a network, by endpoint and port. Clients of a daemon have no files, and
/// do not run the flows of instruments.
pub fn ports(topology: &Topology) -> io::Result<HashMap<(u32, u32), Arc<TargetPort>>> {
    let mut ports = HashMap::new();
    for (endpoint, configs) in topology.endpoints.iter().enumerate() {
        for (port, config) in configs.iter().enumerate() {
            let Peer::Target { file } = config.peer else { continue };
            let Some(path) = topology.targets.get(file as usize) else { continue };
            let target = TargetPort::open(path, config.vcs)?;
            ports.insert((endpoint as u32, port as u32), Arc::new(target));
        }
    }
    Ok(ports)
}

impl TargetPort {
    fn open(path: &str, vcs: u32) -> io::Result<Self> {
        let node = TargetFile::open(path).and_then(|file| TargetNode::new(&file));
        let mut node = node.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        node.target.set_vcs(vcs);
        let kept_max = node.packet_bytes_max() + 1;
        let sending = (0..vcs).map(|_| Sending::default()).collect();
        Ok(Self { state: Mutex::new(TargetState { node, sending }), kept_max })
    }

    fn lock(&self) -> MutexGuard<'_, TargetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counters of the target.
    pub fn counts(&self) -> TargetCounts {
        *self.lock().node.target.counts()
    }

    /// The next notification for optional software.
    pub fn notification(&self) -> Option<Notification> {
        self.lock().node.target.notification()
    }

    /// The two ends of the target on a virtual channel: of the flow of requests and of the flow of
    /// responses.
    pub fn ends(
        self: &Arc<Self>,
        vc: u32,
        requests: &'static FlowShared,
        responses: &'static FlowShared,
        clock: &Clock,
    ) -> (TargetIn, TargetOut) {
        let listener = TargetIn {
            port: self.clone(),
            vc,
            shared: requests,
            responses,
            clock: clock.clone(),
            packet: Vec::new(),
            open: false,
        };
        let (port, clock) = (self.clone(), clock.clone());
        (listener, TargetOut { port, vc, shared: responses, clock })
    }
}

/// Receiving end of a target: collects packets.
pub struct TargetIn {
    port: Arc<TargetPort>,
    vc: u32,
    shared: &'static FlowShared,
    responses: &'static FlowShared,
    clock: Clock,
    packet: Vec<u8>,
    open: bool,
}

impl TargetIn {
    /// Whether a packet has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Takes a piece. The last piece of a packet waits while too many responses wait.
    pub fn take<H: Host>(&mut self, piece: &mut Piece, cx: &mut StepContext<'_, H>) -> Accepted {
        let ends = piece.end != EndMarker::None;
        if ends && self.port.lock().node.is_full(self.vc as u8) {
            return Accepted::Full;
        }
        let rest = piece.rest();
        let kept = (rest as usize).min(self.port.kept_max.saturating_sub(self.packet.len()));
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
        // On a paced link the packet arrives later than now.
        let now_ns = self.clock.now_ns().max(through_ns);
        let executed = self.port.lock().node.handle(&self.packet, end, self.vc as u8, now_ns);
        bump(&self.shared.rx_count.packets, 1);
        if !executed {
            bump(&self.shared.rx_count.errors, 1);
        }
        self.packet.clear();
        self.open = false;
    }
}

impl HandSink for TargetIn {
    fn hand_room(&mut self, _map: &RegionMap) -> HandRoom {
        let full = self.open || self.port.lock().node.is_full(self.vc as u8);
        if full { HandRoom::Packet } else { HandRoom::Free }
    }

    fn take_handed<H: Host>(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        _map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) {
        let bytes = header.packet_bytes() as u32;
        bump(&self.shared.rx_count.bytes, bytes.into());
        cx.book(bytes, true);
        let now_ns = self.clock.now_ns().max(cx.through_ns);
        let node = &mut self.port.lock().node;
        let executed = node.handle_direct(header, payload, self.vc as u8, now_ns);
        bump(&self.shared.rx_count.packets, 1);
        bump(&self.shared.rx_count.errors, u64::from(!executed));
    }

    fn lend(&mut self, work: impl FnOnce(NearFar<'_>) -> NearTally) -> NearTally {
        let TargetState { node, sending } = &mut *self.port.lock();
        let busy = self.open || sending[self.vc as usize].busy;
        if busy || node.has_replies(self.vc as u8) {
            return NearTally::default();
        }
        // Regions of a node are its own memory, so no domain of programs is needed.
        let tally = work(NearFar { target: &mut node.target, domain: 0 });
        shared::count(&self.shared.rx_count, tally.requests, tally.request_bytes);
        shared::count(&self.responses.tx_count, tally.responses, tally.response_bytes);
        tally
    }
}

/// Sending end of a target: sends responses.
pub struct TargetOut {
    port: Arc<TargetPort>,
    vc: u32,
    shared: &'static FlowShared,
    clock: Clock,
}

impl TargetOut {
    /// The next response, or the rest of it.
    pub fn next(&mut self, piece: &mut Piece) -> NextPiece {
        let TargetState { node, sending } = &mut *self.port.lock();
        let sending = &mut sending[self.vc as usize];
        if !sending.busy {
            if let Some(later) = self.ready(node) {
                return later;
            }
            if node.respond(self.vc as u8, &mut sending.packet).is_none() {
                return NextPiece::Idle;
            }
            sending.busy = true;
        }
        piece.clear();
        // The bytes stay in place until `finish` allows the next packet.
        piece.add(own(&sending.packet));
        piece.finish(EndMarker::Eop, 0, 1);
        piece.done = sending.done;
        NextPiece::Ready
    }

    /// The time before which nothing can be sent; or that there is nothing.
    fn ready(&self, node: &TargetNode) -> Option<NextPiece> {
        match node.ready_ns(self.vc as u8) {
            None => Some(NextPiece::Idle),
            Some(ready_ns) if ready_ns > self.clock.now_ns() => Some(NextPiece::At(ready_ns)),
            Some(_) => None,
        }
    }

    /// Stores how many bytes of the packet have been sent.
    pub fn pause(&mut self, done: u32) {
        self.port.lock().sending[self.vc as usize].done = done;
    }

    /// The packet has been sent.
    pub fn finish(&mut self, piece: &Piece) {
        // The other direction counts answers as well, while it has the lock.
        let sending = &mut self.port.lock().sending[self.vc as usize];
        count(&self.shared.tx_count, piece.length);
        (sending.done, sending.busy) = (0, false);
    }
}

impl HandSource for TargetOut {
    fn hand(&mut self, _map: &RegionMap, take: Taker<'_>) -> NextHanded {
        let TargetState { node, sending } = &mut *self.port.lock();
        if sending[self.vc as usize].busy {
            return NextHanded::Packet;
        }
        match self.ready(node) {
            Some(NextPiece::At(ns)) => return NextHanded::At(ns),
            Some(_) => return NextHanded::Idle,
            None => {}
        }
        let handed = node.hand_response(self.vc as u8, take);
        let Some(bytes) = handed else { return NextHanded::Packet };
        count(&self.shared.tx_count, bytes as u32);
        NextHanded::Handed(bytes as u32)
    }
}
