//! Nodes: they send the packets of traffic streams, RMAP and RDMA, and receive packets.

use crate::link::Side;
use crate::links::Links;
use crate::packet::{ArrivedPacket, PacketChecker, PacketHeader, PacketMaker};
use crate::rdma::{Outlet, Outlets};
use crate::reports::Reports;
use crate::results::PacketTally;
use crate::scenario::Scenario;
use crate::stream::ActiveStream;
use crate::time::Ps;
use crate::traffic::PacketSource;
use spfe_link::Word;
use spfe_proto::PacketEnd;
use std::collections::VecDeque;

/// Words moved at a time.
const CHUNK: usize = 64;

/// What nodes need to exchange words with links.
pub struct ExchangeContext<'a, R> {
    /// Traffic streams of the scenario; a node uses those that begin there.
    pub streams: &'a mut [Option<ActiveStream>],
    pub reports: &'a mut R,
}

impl<R> ExchangeContext<'_, R> {
    fn stream(&mut self, number: usize) -> Option<&mut ActiveStream> {
        self.streams.get_mut(number)?.as_mut()
    }
}

/// A packet that the node itself sends, such as an RMAP reply.
#[derive(Clone, Debug)]
struct QueuedPacket {
    from_ps: Ps,
    bytes: Vec<u8>,
    end: PacketEnd,
}

/// Sending side of a virtual channel.
#[derive(Clone, Debug, Default)]
struct SendChannel {
    /// Traffic streams, served in turn.
    flows: Vec<usize>,
    turn: usize,
    /// No packet of a stream is due before this time.
    due_ps: Ps,
    /// The streams that drop packets which find no room.
    dropping: Vec<usize>,
    current: Option<(PacketMaker, Option<(usize, PacketHeader)>)>,
    queue: VecDeque<QueuedPacket>,
}

/// A port with its link.
#[derive(Clone, Debug)]
struct NodePort {
    number: u8,
    link: usize,
    side: Side,
    outlets: Vec<SendChannel>,
    /// Virtual channels with traffic streams or queued packets, a bit for each.
    used: u32,
    inlets: Vec<PacketChecker>,
    /// Virtual channels that a fault blocks: the node reads nothing from them.
    blocked: u32,
}

/// A node of the network.
#[derive(Clone, Debug)]
pub struct SimulatedNode {
    index: u32,
    ports: Vec<NodePort>,
    /// An application reads and writes the ports.
    attached: bool,
    /// Before this time it has nothing to do unless one of its links is simulated.
    due_ps: Ps,
    sent: PacketTally,
    received: PacketTally,
    truncated: PacketTally,
    /// Room for words on their way from or to a link.
    words: [Word; CHUNK],
}

impl SimulatedNode {
    /// Builds a node of a scenario.
    pub fn new(scenario: &Scenario, index: usize) -> Self {
        let name = scenario.nodes.get(index).map_or("", |node| &node.name);
        let mut ports = Vec::new();
        for (link, of) in scenario.links.iter().enumerate() {
            for (place, side) in of.ends.iter().zip(Side::BOTH) {
                if place.unit != name {
                    continue;
                }
                let channels = usize::from(of.channels());
                ports.push(NodePort {
                    number: place.port,
                    link,
                    side,
                    outlets: vec![SendChannel::default(); channels],
                    used: 0,
                    inlets: vec![PacketChecker::new(); channels],
                    blocked: 0,
                });
            }
        }
        let (sent, received, truncated) = Default::default();
        let words = [Word::default(); CHUNK];
        let index = index as u32;
        Self { index, ports, attached: false, due_ps: 0, sent, received, truncated, words }
    }

    /// Adds a traffic stream that starts at this node.
    pub fn add_flow(&mut self, flow: &ActiveStream, vc: u8, number: usize) {
        let link = flow.from;
        if let Some(port) = self.ports.iter_mut().find(|port| (port.link, port.side) == link)
            && let Some(outlet) = port.outlets.get_mut(usize::from(vc))
        {
            outlet.flows.push(number);
            if flow.source.drops() {
                outlet.dropping.push(number);
            }
            port.used |= 1 << vc;
        }
    }

    /// Queues a packet of the node itself. It may leave from `from_ps` on.
    pub fn send(
        &mut self,
        link: (usize, Side),
        vc: u8,
        from_ps: Ps,
        bytes: Vec<u8>,
        end: PacketEnd,
    ) {
        if let Some(port) = self.ports.iter_mut().find(|port| (port.link, port.side) == link)
            && let Some(outlet) = port.outlets.get_mut(usize::from(vc))
        {
            outlet.queue.push_back(QueuedPacket { from_ps, bytes, end });
            port.used |= 1 << vc;
            self.due_ps = self.due_ps.min(from_ps);
        }
    }

    /// Stops or resumes reading some virtual channels of a port.
    pub fn block(&mut self, port: u8, channels: u32, on: bool) {
        for port in self.ports.iter_mut().filter(|of| of.number == port) {
            port.blocked = if on { port.blocked | channels } else { port.blocked & !channels };
        }
    }

    /// Hands the ports over to an application. Returns link and end of one port.
    pub fn attach(&mut self, port: u8) -> Option<(usize, Side)> {
        let port = self.ports.iter().find(|of| of.number == port)?;
        self.attached = true;
        Some((port.link, port.side))
    }

    /// Hands all ports over.
    pub const fn hand_over(&mut self) {
        self.attached = true;
    }

    /// Whether an application reads and writes the ports.
    pub const fn is_attached(&self) -> bool {
        self.attached
    }

    /// Links of this node, with its end of each.
    pub fn links(&self) -> impl Iterator<Item = (usize, Side)> {
        self.ports.iter().map(|port| (port.link, port.side))
    }

    /// Packets sent, received with an EOP, and received with an EEP.
    pub const fn tallies(&self) -> [PacketTally; 3] {
        [self.sent, self.received, self.truncated]
    }

    /// Whether no packet is partly sent or received.
    pub fn is_idle(&self) -> bool {
        self.ports.iter().all(|port| {
            port.inlets.iter().all(|inlet| !inlet.is_open())
                && port.outlets.iter().all(|out| out.current.is_none() && out.queue.is_empty())
        })
    }

    /// Time at which the next queued packet may leave.
    pub fn next_ps(&self) -> Option<Ps> {
        let outlets = self.ports.iter().flat_map(|port| &port.outlets);
        outlets.filter_map(|outlet| outlet.queue.front().map(|queued| queued.from_ps)).min()
    }

    /// Makes it look at its streams, which have changed.
    pub fn wake(&mut self) {
        self.due_ps = 0;
        let outlets = self.ports.iter_mut().flat_map(|port| &mut port.outlets);
        outlets.for_each(|outlet| outlet.due_ps = 0);
    }

    /// When it has something to do, although none of its links is simulated.
    pub const fn due_ps(&self) -> Ps {
        self.due_ps
    }

    /// Exchanges words with links. True if any moved.
    pub fn exchange(
        &mut self,
        now: Ps,
        links: &mut impl Links,
        context: &mut ExchangeContext<'_, impl Reports>,
    ) -> bool {
        if self.attached {
            self.due_ps = Ps::MAX;
            return false;
        }
        let received = self.receive(now, links, context);
        let moved = self.transmit(now, links, context) || received;
        let awake = links.any_awake_of(self.index as usize);
        self.due_ps = if awake { 0 } else { self.next_due(context.streams) };
        moved
    }

    /// When the next packet is due.
    fn next_due(&self, streams: &[Option<ActiveStream>]) -> Ps {
        let outlets = self.ports.iter().flat_map(|port| &port.outlets);
        let own = outlets.flat_map(|outlet| &outlet.flows);
        let own = own.filter_map(|flow| streams.get(*flow)?.as_ref()?.source.next_ps());
        own.chain(self.next_ps()).min().unwrap_or(Ps::MAX)
    }

    fn transmit(
        &mut self,
        now: Ps,
        links: &mut impl Links,
        context: &mut ExchangeContext<'_, impl Reports>,
    ) -> bool {
        let mut moved = false;
        for port in &mut self.ports {
            let mut used = port.used;
            while used != 0 {
                let vc = used.trailing_zeros() as usize;
                used &= used - 1;
                let Some(outlet) = port.outlets.get_mut(vc) else { continue };
                if !outlet.has_work(now, context.streams) {
                    continue;
                }
                let Some(end) = links.end((port.link, port.side)) else { break };
                let (running, mut room) = (end.is_running(), end.writable(vc));
                let before = room;
                while room != 0 && outlet.begin(now, running, (port.link, port.side), vc, context) {
                    let Some((maker, of)) = &mut outlet.current else { break };
                    let words = &mut self.words;
                    let count = maker.fill(words.get_mut(..room.min(CHUNK)).unwrap_or_default());
                    end.write(vc, words.get(..count).unwrap_or_default());
                    room -= count;
                    if maker.is_done() {
                        let bytes = of.map_or(0, |(_, header)| header.bytes);
                        self.sent.add(bytes.into());
                        if let Some(flow) = of.and_then(|(flow, _)| context.stream(flow)) {
                            flow.sent(bytes);
                        }
                        outlet.current = None;
                    }
                }
                if room != before {
                    links.used(port.link);
                    moved = true;
                }
                for flow in &outlet.dropping {
                    if let Some(flow) = context.stream(*flow) {
                        flow.source.drop_due(now);
                    }
                }
            }
        }
        moved
    }

    fn receive(
        &mut self,
        now: Ps,
        links: &mut impl Links,
        context: &mut ExchangeContext<'_, impl Reports>,
    ) -> bool {
        let mut moved = false;
        let mut answers = Vec::new();
        for port in &mut self.ports {
            let (link, side) = (port.link, port.side);
            if !links.is_awake(link) {
                continue;
            }
            let Some(end) = links.end((link, side)) else { continue };
            let mut waiting = end.waiting() & !port.blocked;
            let any = waiting != 0;
            while waiting != 0 {
                let vc = waiting.trailing_zeros() as usize;
                waiting &= waiting - 1;
                let Some(inlet) = port.inlets.get_mut(vc) else { break };
                // Ends, because a link holds a bounded number of words and receives none meanwhile.
                loop {
                    let count = end.read(vc, &mut self.words);
                    if count == 0 {
                        break;
                    }
                    moved = true;
                    let mut words = self.words.get(..count).unwrap_or_default();
                    if context.reports.wants_words() {
                        context.reports.words(now, (link, side), vc, words);
                    }
                    while !words.is_empty() {
                        let (taken, arrived) = inlet.take(words);
                        words = words.get(taken..).unwrap_or_default();
                        let Some(arrived) = arrived else { continue };
                        let place = (link, side, vc as u8);
                        let (bytes, end) = match &arrived {
                            ArrivedPacket::Traffic { bytes, end, .. } => (*bytes, *end),
                            ArrivedPacket::Other { bytes, end } => (bytes.len() as u64, *end),
                        };
                        match end {
                            PacketEnd::Eop => self.received.add(bytes),
                            PacketEnd::Eep => self.truncated.add(bytes),
                        }
                        let reply = context.reports.arrived(now, self.index, place, arrived);
                        answers.extend(reply.map(|(from_ps, bytes)| (place, from_ps, bytes)));
                    }
                }
            }
            if any {
                links.used(link);
            }
        }
        for ((link, side, vc), from_ps, bytes) in answers {
            self.send((link, side), vc, from_ps, bytes, PacketEnd::Eop);
        }
        moved
    }
}

impl Outlets for Vec<Option<SimulatedNode>> {
    fn has_room(&self, outlet: Outlet, most: usize) -> bool {
        let node = self.get(outlet.node as usize).and_then(Option::as_ref);
        let node = node.filter(|node| !node.attached);
        let mut ports = node.into_iter().flat_map(|node| &node.ports);
        let port = ports.find(|port| (port.link, port.side) == outlet.link);
        let channel = port.and_then(|port| port.outlets.get(usize::from(outlet.vc)));
        channel.is_some_and(|channel| channel.queue.len() < most)
    }

    fn send(&mut self, outlet: Outlet, now: Ps, bytes: Vec<u8>, end: PacketEnd) {
        if let Some(Some(node)) = self.get_mut(outlet.node as usize) {
            node.send(outlet.link, outlet.vc, now, bytes, end);
        }
    }
}

impl SendChannel {
    /// Whether there is anything to send.
    fn has_work(&mut self, now: Ps, streams: &[Option<ActiveStream>]) -> bool {
        if self.current.is_some() || self.queue.front().is_some_and(|queued| queued.from_ps <= now)
        {
            return true;
        }
        if now < self.due_ps {
            return false;
        }
        let own =
            || self.flows.iter().filter_map(|flow| Some(&streams.get(*flow)?.as_ref()?.source));
        let due = own().any(|source| source.due(now).is_some());
        if !due {
            self.due_ps = own().filter_map(PacketSource::next_ps).min().unwrap_or(Ps::MAX);
        }
        due
    }

    /// Begins the next packet unless one is in progress. False if there is none.
    fn begin(
        &mut self,
        now: Ps,
        running: bool,
        (link, side): (usize, Side),
        vc: usize,
        context: &mut ExchangeContext<'_, impl Reports>,
    ) -> bool {
        if self.current.is_some() {
            return true;
        }
        if !running {
            return false;
        }
        if self.queue.front().is_some_and(|queued| queued.from_ps <= now) {
            let Some(QueuedPacket { bytes, end, .. }) = self.queue.pop_front() else {
                return false;
            };
            self.current = Some((PacketMaker::bytes(bytes, end), None));
            return true;
        }
        for step in 0..self.flows.len() {
            let place = (self.turn + step) % self.flows.len();
            let Some(index) = self.flows.get(place).copied() else { continue };
            let Some(flow) = context.stream(index) else { continue };
            if let Some((maker, header, since)) = flow.begin(now) {
                self.turn = place + 1;
                self.current = Some((maker, Some((index, header))));
                context.reports.began(now, since, (link, side, vc as u8), header);
                return true;
            }
        }
        false
    }
}
