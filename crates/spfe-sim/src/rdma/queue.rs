//! Queue pairs: the operations of one `[[rdma]]`.

use super::hostile::HeldPacket;
use super::target::SimulatedRdmaTarget;
use super::{Outlet, ns, ps};
use crate::ledger::Ledger;
use crate::link::Side;
use crate::results::{LatencyRecorder, RdmaResults};
use crate::rng::{self, mix};
use crate::scenario::route::RouteFinder;
use crate::scenario::{RdmaOperation, RdmaTraffic, Scenario, UnitId};
use crate::time::Ps;
use crate::traffic::PacketSource;
use spfe_proto::sfrp::{ReplyPath, SEGMENT_DEFAULT};
use spfe_rdma::initiator::Execution;
use spfe_rdma::target::ReceivedMessage;
use spfe_rdma::{
    Local, PairState, RdmaInitiator, RdmaInitiatorOptions, WorkCompletion, WorkKind, WorkRequest,
};
use std::collections::{BTreeMap, VecDeque};

/// An operation that has not completed.
#[derive(Clone, Copy, Debug)]
struct Posted {
    number: u64,
    due_ps: Ps,
    bytes: u32,
    /// Requests that may have changed the region before it was posted.
    changes: u64,
}

/// The operations of one queue pair.
pub struct SimulatedQueue {
    settings: RdmaTraffic,
    node: u32,
    target: u32,
    number: u16,
    /// Its link, and the end it sends from.
    from: (usize, Side),
    initiator: RdmaInitiator,
    source: PacketSource,
    seed: u64,
    key: u32,
    address: u64,
    /// One memory with a place for each outstanding operation.
    memory: Vec<Vec<u8>>,
    place_bytes: u32,
    packet: Vec<u8>,
    posted: VecDeque<Posted>,
    next: u64,
    unrung: u16,
    polled_ps: Ps,
    /// Number of the message that has to arrive next.
    message: u64,
    /// Least and greatest old value that the next atomic operation may find.
    old: (u64, u64),
    span_ps: Option<(Ps, Ps)>,
    completed: u64,
    failed: BTreeMap<String, u64>,
    mismatches: u64,
    bytes: u64,
    latency: LatencyRecorder,
}

impl SimulatedQueue {
    /// Builds the queue pair of a scenario with this index, and opens that of its target.
    pub fn new(
        scenario: &Scenario,
        routes: &RouteFinder<'_>,
        index: usize,
        targets: &mut BTreeMap<u32, SimulatedRdmaTarget>,
    ) -> Result<Self, String> {
        let settings = scenario.rdmas.get(index).ok_or("no such operations")?.clone();
        let node = |unit: &str| match scenario.unit(unit) {
            Some(UnitId::Node(node)) => Ok(node as u32),
            _ => Err(format!("no node {unit}")),
        };
        let stream = &settings.stream;
        let to = settings.to().ok_or("no destination")?;
        let (from, to) = (node(&stream.from.unit)?, node(&to.unit)?);
        let (request, response) = routes.rdma(&settings)?;
        let request = request.accepted()?;
        let target = targets.get_mut(&to).ok_or("no target of RDMA")?;
        let own = scenario.nodes.get(to as usize).map(|node| node.logical_address);
        if own != Some(request.target) {
            return Err(format!("requests arrive with logical address {}", request.target));
        }
        let number = u16::try_from(index + 1).map_err(|_| "too many queue pairs")?;
        let place_bytes = u32::try_from(stream.size.range().1).map_err(|_| "too long")?;
        let (sends, buffers) = (settings.operation == RdmaOperation::Send, settings.buffers);
        if sends {
            target.open(number, buffers, place_bytes as usize)?;
        }
        let region = target.region(settings.region.as_deref()).filter(|_| !sends);
        let (key, base) = region.map_or((0, 0), |(key, base)| (key.0, base));
        let mut rng = rng::stream(scenario.seed, &format!("rdma {}", stream.name));
        let options = RdmaInitiatorOptions {
            path: request.path,
            target: request.target,
            target_queue: if sends { number } else { 0 },
            reply_path: ReplyPath::new(&response.path)
                .map_err(|error| format!("route of responses: {error}"))?,
            address: response.target,
            queue: number,
            protocol: target.protocol(),
            segment_bytes: target.segment_bytes().min(SEGMENT_DEFAULT),
            depth: settings.outstanding.into(),
            timeout_ns: settings.timeout.0.div_ceil(1000),
            retries: settings.retries.into(),
            ..RdmaInitiatorOptions::default()
        };
        let initiator = RdmaInitiator::with_seed(options, rng.u64(..));
        let places = usize::from(settings.outstanding) * place_bytes as usize;
        Ok(Self {
            node: from,
            target: to,
            number,
            from: scenario.link_at(&stream.from).ok_or("no link")?,
            packet: vec![0; initiator.packet_bytes_max()],
            initiator,
            source: PacketSource::new(stream, scenario.seed),
            seed: rng.u64(..),
            key: settings.key.unwrap_or(key),
            address: settings.address.unwrap_or(base),
            memory: vec![vec![0; places]],
            place_bytes,
            posted: VecDeque::new(),
            next: 0,
            unrung: 0,
            polled_ps: 0,
            message: 0,
            old: (0, 0),
            span_ps: None,
            completed: 0,
            failed: BTreeMap::new(),
            mismatches: 0,
            bytes: 0,
            latency: LatencyRecorder::new(),
            settings,
        })
    }

    pub const fn node(&self) -> u32 {
        self.node
    }

    /// Node of the target.
    pub const fn target(&self) -> u32 {
        self.target
    }

    /// Number of the queue pair.
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// Where it sends its packets.
    pub const fn outlet(&self) -> Outlet {
        Outlet { node: self.node, link: self.from, vc: self.settings.stream.vc }
    }

    fn may_post(&self) -> bool {
        self.posted.len() < usize::from(self.settings.outstanding)
    }

    /// Time at which it has to act next.
    pub fn next_ps(&self) -> Option<Ps> {
        let due = self.source.next_ps().filter(|_| self.may_post());
        let timer = ps(self.initiator.wake_ns(ns(self.polled_ps)));
        [due, timer].into_iter().flatten().min()
    }

    /// Takes a packet for this queue pair.
    pub fn handle(&mut self, now: Ps, packet: &HeldPacket) {
        self.initiator.handle(&packet.bytes, packet.end, ns(now), &mut self.memory);
    }

    /// The next packet to send.
    pub fn transmit(&mut self, now: Ps) -> Option<Vec<u8>> {
        let bytes = self.initiator.transmit(ns(now), &self.memory, &mut self.packet)?;
        self.packet.get(..bytes).map(<[u8]>::to_vec)
    }

    /// Takes messages and completions, and posts what is due.
    pub fn poll(
        &mut self,
        now: Ps,
        mut target: Option<&mut SimulatedRdmaTarget>,
        ledger: &mut Ledger,
    ) {
        self.polled_ps = now;
        if self.settings.operation == RdmaOperation::Send
            && let Some(target) = target.as_deref_mut()
        {
            while let Some(message) = target.received(self.number) {
                self.check_message(now, &message, ledger);
                target.post(self.number, message.id, message.buffer);
            }
        }
        while let Some(completion) = self.initiator.poll() {
            self.complete(now, &completion, target.as_deref(), ledger);
        }
        self.post(now, target.as_deref(), ledger);
        if !self.posted.is_empty()
            && matches!(self.initiator.state(), PairState::Reset | PairState::Error)
        {
            self.initiator.connect();
        }
    }

    fn post(&mut self, now: Ps, target: Option<&SimulatedRdmaTarget>, ledger: &mut Ledger) {
        while self.may_post()
            && let Some(due) = self.source.due(now)
        {
            self.source.take(now);
            let changes = target.map_or(0, |target| target.changes(self.key));
            let posted = Posted { number: self.next, due_ps: due.at_ps, bytes: due.bytes, changes };
            let request = self.request(&posted);
            if let Err(error) = self.initiator.post(request, &self.memory) {
                ledger.violation(now, format!("{}: {error}", self.name()));
                return;
            }
            self.span_ps.get_or_insert((now, now));
            self.posted.push_back(posted);
            self.next += 1;
            self.unrung += 1;
            if self.unrung == self.settings.group {
                self.ring();
            }
        }
        // The last group may be shorter.
        if self.source.next_ps().is_none() {
            self.ring();
        }
    }

    fn ring(&mut self) {
        if self.unrung > 0 {
            // A ring on a queue pair that is not connected would flush.
            if matches!(self.initiator.state(), PairState::Reset | PairState::Error) {
                self.initiator.connect();
            }
            self.initiator.ring();
            self.unrung = 0;
        }
    }

    /// The place of an operation in local and remote memory.
    fn place(&self, posted: &Posted) -> u64 {
        let number = posted.number % u64::from(self.settings.outstanding);
        number * u64::from(self.place_bytes)
    }

    fn local(&self, posted: &Posted) -> Local {
        Local { memory: 0, offset: self.place(posted), length: posted.bytes }
    }

    fn local_bytes(&mut self, posted: &Posted) -> &mut [u8] {
        let (start, bytes) = (self.place(posted) as usize, posted.bytes as usize);
        let memory = self.memory.first_mut();
        memory.and_then(|memory| memory.get_mut(start..start + bytes)).unwrap_or_default()
    }

    fn request(&mut self, posted: &Posted) -> WorkRequest {
        let (local, key, number) = (self.local(posted), self.key, posted.number);
        let address = self.address.saturating_add(self.place(posted));
        // Before a read the place has bytes that the remote memory does not have.
        let reads = self.settings.operation == RdmaOperation::Read;
        let seed = if reads { !self.seed } else { self.seed };
        fill(seed, number, self.local_bytes(posted));
        match self.settings.operation {
            RdmaOperation::Write => WorkRequest::write(number, local, key, address),
            RdmaOperation::Read => WorkRequest::read(number, local, key, address),
            RdmaOperation::Send => {
                let immediate = Some(number as u32);
                WorkRequest { immediate, ..WorkRequest::send(number, local) }
            }
            RdmaOperation::Atomic => {
                let kind = WorkKind::FetchAdd { add: 1 };
                WorkRequest { key, address: self.address, ..WorkRequest::new(number, kind) }
            }
        }
    }

    /// Checks that messages arrive once, in order and unaltered.
    fn check_message(&mut self, now: Ps, message: &ReceivedMessage, ledger: &mut Ledger) {
        let number = u64::from(message.immediate.unwrap_or(u32::MAX));
        // Only what was posted before a failure may be missing.
        let next = number == self.message || number > self.message && !self.failed.is_empty();
        let mut expected = vec![0; message.bytes as usize];
        fill(self.seed, number, &mut expected);
        let content = message.buffer.get(..message.bytes as usize);
        if !next || content != Some(&expected) {
            self.mismatches += 1;
            let what = if next { "is altered" } else { "arrived out of turn" };
            ledger.violation(now, format!("{}: message {number} {what}", self.name()));
        }
        self.message = number.saturating_add(1).max(self.message);
    }

    fn complete(
        &mut self,
        now: Ps,
        completion: &WorkCompletion,
        target: Option<&SimulatedRdmaTarget>,
        ledger: &mut Ledger,
    ) {
        let posted = self.posted.pop_front().filter(|posted| posted.number == completion.id);
        let Some(posted) = posted else {
            let text = format!("operation {} completed out of turn", completion.id);
            return ledger.violation(now, format!("{}: {text}", self.name()));
        };
        // A failure also ends what was posted and not released.
        self.unrung = self.unrung.min(self.posted.len() as u16);
        if let Err(error) = completion.result {
            *self.failed.entry(error.to_string()).or_default() += 1;
            self.old.1 += u64::from(error.execution() == Execution::Unknown);
            return;
        }
        if !self.is_right(&posted, completion, target) {
            self.mismatches += 1;
            let text = format!("operation {} did not do what it should", posted.number);
            ledger.violation(now, format!("{}: {text}", self.name()));
        }
        self.completed += 1;
        self.bytes += u64::from(posted.bytes);
        self.latency.record(now.saturating_sub(posted.due_ps));
        if let Some((_, end)) = &mut self.span_ps {
            *end = now;
        }
    }

    /// Compares what an operation did with what it should do.
    fn is_right(
        &mut self,
        posted: &Posted,
        completion: &WorkCompletion,
        target: Option<&SimulatedRdmaTarget>,
    ) -> bool {
        let Some(target) = target else { return false };
        let (key, bytes) = (self.key, posted.bytes);
        let remote = target.read(key, self.address.saturating_add(self.place(posted)), bytes);
        match self.settings.operation {
            RdmaOperation::Write => remote.as_deref() == Some(self.local_bytes(posted)),
            RdmaOperation::Read => {
                // Somebody may have written since.
                target.changes(key) != posted.changes
                    || remote.as_deref() == Some(self.local_bytes(posted))
            }
            RdmaOperation::Send => self.message > posted.number,
            RdmaOperation::Atomic => {
                let (least, most) = self.old;
                let old = completion.old.unwrap_or(u64::MAX);
                self.old = (old.saturating_add(1), old.saturating_add(1));
                (least..=most).contains(&old)
            }
        }
    }

    fn name(&self) -> String {
        format!("rdma '{}'", self.settings.stream.name)
    }

    /// Measurements of this queue pair.
    pub fn results(&self) -> RdmaResults {
        let counts = self.initiator.counts();
        let span_ps = self.span_ps.map_or(0, |(start, end)| end - start);
        let rate = |bytes: u64| bytes as f64 * 8e12 / span_ps as f64;
        RdmaResults {
            name: self.settings.stream.name.clone(),
            from: self.settings.stream.from.to_string(),
            to: self.settings.to().map(ToString::to_string).unwrap_or_default(),
            operation: self.settings.operation.name().to_owned(),
            posted: self.next,
            completed: self.completed,
            failed: self.failed.clone(),
            outstanding: self.posted.len() as u64,
            mismatches: self.mismatches,
            bytes: self.bytes,
            goodput_bps: if span_ps > 0 { rate(self.bytes) } else { 0.0 },
            packets: counts.packets,
            resent: counts.resent,
            timeouts: counts.timeouts,
            refusals: counts.refusals,
            latency: self.latency.histogram(),
        }
    }
}

/// Fills a place with the bytes of an operation.
fn fill(seed: u64, number: u64, place: &mut [u8]) {
    for (index, part) in place.chunks_mut(8).enumerate() {
        let bytes = mix(seed ^ mix(number) ^ index as u64).to_le_bytes();
        part.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }
}
