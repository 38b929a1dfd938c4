//! The simulation of a scenario.
//!
//! Time advances in steps of [`Scenario::quantum_ps`]. In each step, nodes and routers exchange
//! words with the ends of links, then each link runs to the end of the step. A link on which nothing
//! happens sleeps until somebody uses it, and so do the nodes and routers around it. The same
//! scenario with the same seed gives the same words.

mod agenda;
mod build;
mod direct;
mod finish;
mod gate;
mod live;
mod parallel;
mod partition;
mod units;

pub use build::SimulationError;

use crate::fault::WireFault;
use crate::foreign::OpenStream;
use crate::ledger::Ledger;
use crate::link::{EndEvent, Observer, Side, SimulatedEnd, SimulatedLink};
use crate::links::{LinkSet, Links};
use crate::live::LiveFaults;
use crate::messages::{self, DueMessage, Sender};
use crate::rdma::RdmaUnits;
use crate::records::Measurements;
use crate::rmap::RmapUnits;
use crate::scenario::{PortName, Scenario, UnitId};
use crate::tap::{OpenPackets, PacketTap, RunningLinkObserver};
use crate::time::Ps;
use agenda::Agenda;
use direct::DirectReports;
use parallel::Threads;
use spfe_proto::PacketEnd;
use std::time::Duration;
use units::Units;

/// A running network.
pub struct Simulation {
    scenario: Scenario,
    /// Nodes own them, and, counted behind the nodes, routers.
    links: LinkSet,
    units: Units,
    rmap: RmapUnits,
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
    /// Observers see the words of a link, or have seen them.
    shows_words: bool,
    threads: Threads,
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
        self.shows_words |= on;
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
        self.units.nodes.get_mut(node)?.as_mut()?.attach(place.port)
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
            self.shows_words |= on;
        }
    }

    /// Time up to which [`Simulation::run`] does not wait for a foreign end. Waits for at most
    /// `wait` until their next words are here.
    pub fn ready(&mut self, wait: Duration) -> Ps {
        self.links.as_they_are().map(|link| link.ready(wait)).min().unwrap_or(Ps::MAX)
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
            let mut exchanged = false;
            if let Some(until) = self.shared_until(until, observer) {
                exchanged = self.run_shared(until, observer);
                if !exchanged {
                    continue;
                }
            }
            let moved = !exchanged && self.exchange(observer);
            let next = self.next_stop(until);
            let skips = !moved && self.is_quiet();
            self.note_busy(!skips);
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
        self.sample();
    }

    /// End of the current step.
    fn next_stop(&self, until: Ps) -> Ps {
        let step = self.now.saturating_add(self.quantum_ps).min(until);
        let next = self.live.next_ps().unwrap_or(Ps::MAX).min(self.agenda.next_ps());
        next.clamp(self.now + 1, step)
    }

    /// Time of the next event, provided that the links are idle.
    pub fn next_event(&self) -> Option<Ps> {
        let senders = self.senders.iter().filter_map(Sender::next_ps);
        let others = [
            self.units.next_ps(),
            self.rmap.next_ps(),
            self.rdma.next_ps(),
            Some(self.agenda.next_ps()),
            self.live.next_ps(),
        ];
        others.into_iter().flatten().chain(senders).min()
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
        let mut reports = DirectReports::new(
            &mut self.rmap,
            &mut self.rdma,
            &mut self.ledger,
            &mut self.senders,
            &mut tap,
        );
        let links = &mut self.links;
        let mut moved = send_due(now, &mut self.units, links, &mut self.records, &mut reports);
        moved |= self.units.act_all(now, links, &mut reports);
        for router in 0..self.units.routers.len() {
            moved |= self.units.configure(router, now, links, &mut reports.rmap.truth);
        }
        let (delivered, slots) = reports.finish();
        for packet in delivered {
            if let Some(Some(stream)) = self.units.streams.get_mut(packet.stream) {
                packet.count(now, stream);
            }
        }
        for (unit, slot) in slots {
            let ends = self.units.links_of(unit).unwrap_or_default();
            begin_slot(links, ends, slot);
        }
        moved
    }
}

/// Sends what is due besides traffic streams: commands of RMAP, packets of RDMA, and messages. True
/// if a message was due.
fn send_due(
    now: Ps,
    units: &mut Units,
    links: &mut dyn Links,
    records: &mut Measurements,
    reports: &mut DirectReports<'_, '_>,
) -> bool {
    for initiator in &mut reports.rmap.initiators {
        while let Some(packet) = initiator.poll(now, reports.ledger) {
            if let Some(Some(node)) = units.nodes.get_mut(initiator.node() as usize) {
                node.send(initiator.from, initiator.vc(), now, packet, PacketEnd::Eop);
            }
        }
    }
    reports.rdma.poll(now, &mut units.nodes, reports.ledger);
    let mut moved = false;
    for sender in 0..reports.senders.len() {
        while let Some(due) = reports.senders[sender].poll(now) {
            moved = true;
            let (link, side) = reports.senders[sender].link;
            match due {
                DueMessage::Message(message) => {
                    let taken = messages::give(now, links, (link, side), message, reports);
                    reports.senders[sender].given(taken);
                }
                DueMessage::Lost(code) => {
                    let event = EndEvent::CodeLost { code };
                    records.event(now, link as u32, side, &event);
                    reports.tap.outer.event(now, link as u32, side, event);
                }
            }
        }
    }
    moved
}

/// Begins a time-slot at ends of links.
fn begin_slot(links: &mut dyn Links, ends: Vec<(usize, Side)>, slot: u8) {
    for (link, side) in ends {
        if let Some(link) = links.get_mut(link) {
            link.end(side).schedule(slot);
        }
    }
}
