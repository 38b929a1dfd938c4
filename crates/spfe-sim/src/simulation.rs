//! The simulation of a scenario.
//!
//! Time advances in steps of [`Scenario::quantum_ps`]. In each step, nodes and routers exchange
//! words with the ends of links, then each link runs to the end of the step. A link on which nothing
//! happens sleeps until somebody uses it, and so do the nodes and routers around it. The same
//! scenario with the same seed gives the same words.

mod agenda;
mod build;
mod finish;
mod live;

pub use build::SimulationError;

use crate::fault::WireFault;
use crate::foreign::OpenStream;
use crate::ledger::Ledger;
use crate::link::{EndEvent, Observer, Side, SimulatedEnd, SimulatedLink};
use crate::links::LinkSet;
use crate::live::LiveFaults;
use crate::messages::{self, DueMessage, Relay, Sender};
use crate::node::{ExchangeContext, SimulatedNode};
use crate::rdma::RdmaUnits;
use crate::records::Measurements;
use crate::rmap::{ExecutedCommands, RmapUnits};
use crate::router::{Port0, RouterSwitch};
use crate::scenario::{PortName, Scenario, UnitId};
use crate::stream::ActiveStream;
use crate::tap::{OpenPackets, PacketTap, RunningLinkObserver};
use crate::time::Ps;
use agenda::Agenda;
use spfe_proto::PacketEnd;
use std::time::Duration;

/// A router: its packet switch, its message relay and its configuration port.
struct SimulatedRouter {
    switch: RouterSwitch,
    relay: Relay,
    port0: Port0,
    /// Before this time it has nothing to do unless one of its links is simulated.
    due_ps: Ps,
}

impl SimulatedRouter {
    /// Whether it holds no words and no messages.
    fn is_empty(&self) -> bool {
        self.switch.is_empty() && self.relay.is_empty()
    }
}

/// A running network.
pub struct Simulation {
    scenario: Scenario,
    /// Nodes own them, and, counted behind the nodes, routers.
    links: LinkSet,
    nodes: Vec<SimulatedNode>,
    routers: Vec<SimulatedRouter>,
    flows: Vec<ActiveStream>,
    units: RmapUnits,
    rdma: RdmaUnits,
    senders: Vec<Sender>,
    ledger: Ledger,
    records: Measurements,
    agenda: Agenda,
    live: LiveFaults,
    open: OpenPackets,
    now: Ps,
    quantum_ps: Ps,
    ended: bool,
}

impl Simulation {
    /// Builds the network of a checked scenario without foreign ends.
    pub fn new(scenario: &Scenario) -> Result<Self, SimulationError> {
        Self::with_streams(scenario, &mut |_| Err("nothing opens its stream".to_owned()))
    }

    /// Builds the network of a checked scenario. `open` opens the streams to foreign ends.
    pub fn with_streams(
        scenario: &Scenario,
        open: &mut OpenStream<'_>,
    ) -> Result<Self, SimulationError> {
        let links = build::links(scenario, open)?;
        Self::with_links(scenario, links)
    }

    /// Builds the network with other links, in the order of the scenario.
    pub fn with_links(
        scenario: &Scenario,
        links: Vec<Box<dyn SimulatedLink>>,
    ) -> Result<Self, SimulationError> {
        build::simulation(scenario, links)
    }

    /// The scenario.
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Simulated time.
    pub const fn now(&self) -> Ps {
        self.now
    }

    /// Words (SpaceWire: characters) sent on all lanes of all links.
    pub fn words(&self) -> u64 {
        self.links.words()
    }

    /// Sets whether observers see the words or characters of a link. False if there is no such
    /// link.
    pub fn show_words(&mut self, link: &str, on: bool) -> bool {
        let Some(link) = self.scenario.link(link).and_then(|index| self.links.get_mut(index))
        else {
            return false;
        };
        link.show_words(on);
        if on {
            self.links.never_sleep();
        }
        true
    }

    /// Gives an application the end of the link at a node's port. From the first call on, the
    /// simulation itself no longer reads or writes the ports of that node. The application reads
    /// and writes words, messages and codes between two calls of [`Simulation::run`].
    pub fn endpoint(&mut self, place: &PortName) -> Option<&mut dyn SimulatedEnd> {
        let end = self.attach(place)?;
        self.links.end(end)
    }

    /// Does the same and returns the link and its end for [`Simulation::end`].
    pub fn attach(&mut self, place: &PortName) -> Option<(usize, Side)> {
        let UnitId::Node(node) = self.scenario.unit(&place.unit)? else { return None };
        self.ledger.hand_over(node as u32);
        self.nodes.get_mut(node)?.attach(place.port)
    }

    /// An end of a link.
    ///
    /// # Panics
    ///
    /// `link` is not an index into [`Scenario::links`].
    pub fn end(&mut self, link: usize, side: Side) -> &mut dyn SimulatedEnd {
        self.links.end((link, side)).expect("an index into the links of the scenario")
    }

    /// Injects a fault now into words that an end sends. False if there is no such link, or if it
    /// does not have this fault.
    pub fn inject(&mut self, link: usize, from: Side, fault: WireFault) -> bool {
        let now = self.now;
        self.links.get_mut(link).is_some_and(|link| link.inject(now, from, fault))
    }

    /// Sets whether observers see the words or characters of a link. Unlike
    /// [`Simulation::show_words`], idle time is still skipped.
    pub fn show_words_of(&mut self, link: usize, on: bool) {
        if let Some(link) = self.links.get_mut(link) {
            link.show_words(on);
        }
    }

    /// Time up to which [`Simulation::run`] does not wait for a foreign end. Waits for at most
    /// `wait` until their next words are here.
    pub fn ready(&mut self, wait: Duration) -> Ps {
        self.links.as_they_are().iter_mut().map(|link| link.ready(wait)).min().unwrap_or(Ps::MAX)
    }

    /// An end of a link, to look at.
    ///
    /// # Panics
    ///
    /// `link` is not an index into [`Scenario::links`].
    pub fn look(&mut self, link: usize, side: Side) -> &dyn SimulatedEnd {
        self.links.look((link, side)).expect("an index into the links of the scenario")
    }

    /// An end of a link, to take received messages out of it; see [`LinkSet::messages`].
    ///
    /// # Panics
    ///
    /// `link` is not an index into [`Scenario::links`].
    pub fn messages(&mut self, link: usize, side: Side) -> &mut dyn SimulatedEnd {
        self.links.messages((link, side)).expect("an index into the links of the scenario")
    }

    /// Whether a link is simulated at the moment; nothing arrives at the ends of the others.
    pub fn is_awake(&self, link: usize) -> bool {
        self.links.is_awake(link)
    }

    /// Numbers of the links that are simulated at the moment, in any order.
    pub fn awake_links(&self) -> impl Iterator<Item = usize> {
        self.links.awake()
    }

    /// Whether a link has a foreign end.
    pub fn has_foreign_ends(&self) -> bool {
        self.links.has_foreign_ends()
    }

    /// Simulates until a time.
    pub fn run(&mut self, until: Ps, observer: &mut dyn Observer) {
        while self.now < until {
            self.act(observer);
            self.apply_faults(observer);
            let moved = self.exchange(observer);
            let next = self.next_stop(until);
            let skips = !moved && self.is_quiet();
            let next = match skips {
                true => self.next_event().map_or(until, |event| event.clamp(next, until)),
                false => next,
            };
            let run = &mut |index: usize, link: &mut dyn SimulatedLink| {
                let of = self.scenario.links.get(index);
                let mut listener = RunningLinkObserver {
                    outer: &mut *observer,
                    ledger: &mut self.ledger,
                    records: &mut self.records,
                    spacewire: of.is_some_and(|of| of.is_spacewire()),
                };
                link.run(next, &mut listener);
            };
            if skips {
                self.links.skip_to(next, run);
            } else {
                self.links.run(next, run);
            }
            self.now = next;
        }
    }

    /// End of the current step.
    fn next_stop(&self, until: Ps) -> Ps {
        let step = self.now.saturating_add(self.quantum_ps).min(until);
        let next = [self.agenda.next_ps(), self.live.next_ps()].into_iter().flatten().min();
        next.map_or(step, |next| next.clamp(self.now + 1, step))
    }

    /// Time of the next event, provided that the links are idle.
    pub fn next_event(&self) -> Option<Ps> {
        let flows = self.flows.iter().filter_map(|flow| flow.source.next_ps());
        let nodes = self.nodes.iter().filter_map(SimulatedNode::next_ps);
        let routers = self.routers.iter().filter_map(|router| router.switch.deadline_ps());
        let senders = self.senders.iter().filter_map(Sender::next_ps);
        let others =
            [self.units.next_ps(), self.rdma.next_ps(), self.agenda.next_ps(), self.live.next_ps()];
        let others = others.into_iter().flatten();
        flows.chain(nodes).chain(routers).chain(senders).chain(others).min()
    }

    /// Whether all links are idle, so that time may be skipped.
    pub fn is_quiet(&self) -> bool {
        self.links.is_quiet()
    }

    /// Lets nodes and routers exchange words and messages with links. True if anything moved.
    fn exchange(&mut self, observer: &mut dyn Observer) -> bool {
        let now = self.now;
        let mut tap =
            PacketTap { packets: observer.wants_packets(), outer: observer, open: &mut self.open };
        let mut moved = false;
        for initiator in &mut self.units.initiators {
            while let Some(packet) = initiator.poll(now, &mut self.ledger) {
                if let Some(node) = self.nodes.get_mut(initiator.node() as usize) {
                    node.send(initiator.from, initiator.vc(), now, packet, PacketEnd::Eop);
                }
            }
        }
        self.rdma.poll(now, &mut self.nodes, &mut self.ledger);
        for sender in &mut self.senders {
            while let Some(due) = sender.poll(now) {
                moved = true;
                let (link, side) = sender.link;
                match due {
                    DueMessage::Message(message) => {
                        let end = (link, side);
                        sender.given(messages::give(now, &mut self.links, end, message, &mut tap));
                    }
                    DueMessage::Lost(code) => {
                        let event = EndEvent::CodeLost { code };
                        self.records.event(now, link as u32, side, &event);
                        tap.outer.event(now, link as u32, side, event);
                    }
                }
            }
        }
        let mut context = ExchangeContext {
            flows: &mut self.flows,
            units: &mut self.units,
            rdma: &mut self.rdma,
            ledger: &mut self.ledger,
            tap: &mut tap,
        };
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if node.due_ps() <= now || self.links.any_awake_of(index) {
                moved |= node.exchange(now, &mut self.links, &mut context);
            }
        }
        let RmapUnits { truth, .. } = &mut self.units;
        for (router, owner) in self.routers.iter_mut().zip(self.nodes.len()..) {
            if now < router.due_ps && !self.links.any_awake_of(owner) {
                continue;
            }
            let truth: &mut ExecutedCommands = truth;
            moved |= router.switch.exchange(now, &mut self.links, &mut self.ledger, &mut tap);
            moved |= router.port0.exchange(&mut router.switch, &mut self.links, truth);
        }
        self.deliver_messages(observer) || moved
    }

    /// Delivers received messages to nodes and routers. True if there were any.
    fn deliver_messages(&mut self, observer: &mut dyn Observer) -> bool {
        let now = self.now;
        let mut tap = PacketTap { packets: false, outer: observer, open: &mut self.open };
        let mut moved = false;
        let mut slots = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.is_attached() || !self.links.any_awake_of(index) {
                continue;
            }
            for end in node.links() {
                while let Some(message) = messages::take(now, &mut self.links, end, &mut tap) {
                    moved = true;
                    for sender in &mut self.senders {
                        let Some(mark) = sender.recognise(&message) else { continue };
                        sender.arrived(now, index, mark, &message, &mut self.ledger);
                        if sender.is_schedule() {
                            slots.push((UnitId::Node(index), mark as u8));
                        }
                    }
                }
            }
        }
        let senders = &self.senders;
        for (index, router) in self.routers.iter_mut().enumerate() {
            let owner = self.nodes.len() + index;
            if now < router.due_ps && !self.links.any_awake_of(owner) {
                continue;
            }
            moved |= router.relay.exchange(now, &mut self.links, &mut tap, |message| {
                let schedules = senders.iter().filter(|sender| sender.is_schedule());
                let marks = schedules.filter_map(|sender| sender.recognise(message));
                slots.extend(marks.map(|mark| (UnitId::Router(index), mark as u8)));
            });
            let still = !self.links.any_awake_of(owner) && router.is_empty();
            router.due_ps = if still { router.switch.deadline_ps().unwrap_or(Ps::MAX) } else { 0 };
        }
        for (unit, slot) in slots {
            self.schedule(unit, slot);
        }
        moved
    }

    /// Begins a time-slot on all links of a unit.
    fn schedule(&mut self, unit: UnitId, slot: u8) {
        let ends: Vec<(usize, Side)> = match unit {
            UnitId::Node(index) => self.nodes.get(index).map(|n| n.links().collect()),
            UnitId::Router(index) => self
                .routers
                .get(index)
                .map(|router| router.switch.ports().map(|(_, link, side)| (link, side)).collect()),
        }
        .unwrap_or_default();
        for (link, side) in ends {
            if let Some(link) = self.links.get_mut(link) {
                link.end(side).schedule(slot);
            }
        }
    }
}
