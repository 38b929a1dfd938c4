//! Threads that simulate the parts of a network side by side, with the same results as one thread.
//!
//! A step has two jobs that each thread does for its part: the units of the part exchange words with
//! their links, and the links run. In between, and alone, the leader does what touches more than one
//! part: units between the parts, commands and messages that are due, and everything that is counted
//! or shown. What the units of a part report is kept and replayed in the order of turns, and what
//! links report in the order of links, so that all of it has the order of a single thread.

use super::direct::DirectReports;
use super::gate::{Apart, Ends, Gate, Job};
use super::partition::Partition;
use super::units::{Stage, Turn, Units};
use super::{Simulation, begin_slot, send_due};
use crate::link::{EndEvent, Observer, Side};
use crate::links::{JoinedLinks, LinkSet};
use crate::records::LinkSample;
use crate::reports::{DeferredReport, DeferredReports};
use crate::scenario::UnitId;
use crate::tap::{PacketTap, RunningLinkObserver};
use crate::time::Ps;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Steps without an idle one before several threads begin.
const BUSY_STEPS: u32 = 32;
/// Shortest time for which they begin, in steps.
const LEAST_STEPS: Ps = 64;

/// An event at an end of a link.
type LinkEvent = (Ps, u32, Side, EndEvent);

/// Keeps the events of links.
struct KeptEvents(Vec<LinkEvent>);

impl Observer for KeptEvents {
    fn event(&mut self, at: Ps, link: u32, side: Side, event: EndEvent) {
        self.0.push((at, link, side, event));
    }
}

/// What a thread simulates.
struct Part {
    links: LinkSet,
    units: Units,
    reports: DeferredReports<Turn>,
    events: KeptEvents,
    samples: Vec<LinkSample>,
    /// Words of each link at its last sample.
    words: Vec<u64>,
    moved: bool,
}

impl Part {
    fn new(links: LinkSet, units: Units) -> Mutex<Apart<Self>> {
        Mutex::new(Apart(Self {
            links,
            units,
            reports: DeferredReports::new((Stage::Node, 0)),
            events: KeptEvents(Vec::new()),
            samples: Vec::new(),
            words: Vec::new(),
            moved: false,
        }))
    }

    fn work(&mut self, job: Job) {
        let Self { links, units, reports, events, moved, .. } = self;
        match job {
            Job::Exchange(now) => {
                *moved = false;
                for turn in 0..units.turns.len() {
                    let turn = units.turns[turn];
                    reports.begin(turn);
                    *moved |= units.act(turn, now, links, reports);
                }
            }
            Job::Run(until) => links.run(until, &mut |_, link| link.run(until, events)),
            Job::Sample(until) => {
                self.work(Job::Run(until));
                self.sample();
            }
        }
    }

    fn sample(&mut self) {
        for (link, of) in self.links.iter() {
            self.words.resize(self.words.len().max(link + 1), 0);
            if let Some(sample) = LinkSample::new(link, &mut **of, self.words[link]) {
                self.words[link] = sample.words;
                self.samples.push(sample);
            }
        }
    }
}

fn lock(part: &Mutex<Apart<Part>>) -> MutexGuard<'_, Apart<Part>> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The threads of a simulation.
#[derive(Debug, Default)]
pub(super) struct Threads {
    partition: Option<Partition>,
    /// Steps since one in which nothing happened.
    busy: u32,
    /// Steps that they have made together.
    steps: u64,
}

impl Simulation {
    /// Sets the number of threads that [`Simulation::run`] may use. The results do not depend on it.
    /// Returns the number it will use: 1 if the network does not consist of parts of about the same
    /// size, or has hostile links or foreign ends.
    ///
    /// Observers that want packets, or the words of links, have one thread.
    pub fn set_threads(&mut self, threads: usize) -> usize {
        self.threads.partition = None;
        if threads > 1 && !self.rdma.hostile.exist() && !self.has_foreign_ends() {
            let units = self.scenario.nodes.len() + self.scenario.routers.len();
            let mut together = vec![false; units];
            // Units that reply at once to what arrives.
            let rmap = self.rmap.targets.keys().copied();
            let rmap = rmap.chain(self.rmap.initiators.iter().map(|of| of.node()));
            let rdma = self.rdma.targets.keys().copied();
            let rdma = rdma.chain(self.rdma.queues.iter().map(|of| of.node()));
            for node in rmap.chain(rdma) {
                together[node as usize] = true;
            }
            self.threads.partition = Partition::new(&self.scenario, threads, &together);
        }
        self.threads.partition.as_ref().map_or(1, |partition| partition.parts)
    }

    /// Number of steps that several threads have made together so far.
    pub const fn shared_steps(&self) -> u64 {
        self.threads.steps
    }

    /// Notes whether something has happened in a step.
    pub(super) fn note_busy(&mut self, busy: bool) {
        self.threads.busy = if busy { self.threads.busy.saturating_add(1) } else { 0 };
    }

    /// Until when several threads can simulate now, which take samples as well. `None`: it is not worth
    /// it.
    pub(super) fn shared_until(&self, until: Ps, observer: &dyn Observer) -> Option<Ps> {
        let partition = self.threads.partition.as_ref()?;
        if self.threads.busy < BUSY_STEPS || self.shows_words || observer.wants_packets() {
            return None;
        }
        let next =
            [self.agenda.next_but_samples_ps(), self.live.next_ps()].into_iter().flatten().min();
        let until = next.map_or(until, |next| next.min(until));
        let links = self.links.awake().count() >= 2 * partition.parts;
        (links && until.saturating_sub(self.now) >= LEAST_STEPS * self.quantum_ps).then_some(until)
    }

    /// Simulates until a time before which no action is planned, with several threads. True if it
    /// stopped before, because nothing moves any more; the exchange of the step has been made then.
    pub(super) fn run_shared(&mut self, until: Ps, observer: &mut dyn Observer) -> bool {
        let Some(partition) = self.threads.partition.take() else { return false };
        let nodes = self.scenario.nodes.len();
        let sender = |stream: usize| {
            let from = self.scenario.flows.get(stream).map(|flow| &flow.from.unit);
            match from.and_then(|unit| self.scenario.unit(unit)) {
                Some(UnitId::Node(node)) => node,
                Some(UnitId::Router(router)) => nodes + router,
                None => usize::MAX,
            }
        };
        let senders: Vec<_> = (0..self.scenario.flows.len()).map(sender).collect();
        let sets = self.links.split(partition.parts, |link| partition.links[link]);
        let parts: Vec<_> = sets
            .into_iter()
            .enumerate()
            .map(|(part, links)| {
                let belongs = |unit: usize| partition.units.get(unit) == Some(&Some(part));
                Part::new(links, self.units.split(belongs, |stream| senders[stream]))
            })
            .collect();
        let gate = Gate::default();
        let stopped = std::thread::scope(|scope| {
            let _ends = Ends(&gate);
            for part in &parts[1..] {
                let gate = &gate;
                scope.spawn(move || gate.help(|job| lock(part).0.work(job)));
            }
            self.lead(until, &gate, &parts, &partition, observer)
        });
        for part in parts {
            let Apart(Part { links, units, .. }) =
                part.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.links.join(links);
            self.units.join(units);
        }
        self.threads.partition = Some(partition);
        stopped
    }

    /// The leader: works on the first part, and alone between the jobs.
    fn lead(
        &mut self,
        until: Ps,
        gate: &Gate,
        parts: &[Mutex<Apart<Part>>],
        partition: &Partition,
        observer: &mut dyn Observer,
    ) -> bool {
        let all = |job: Job| {
            gate.give(job);
            lock(&parts[0]).0.work(job);
            gate.wait(parts.len() - 1);
        };
        let set_of = &partition.links;
        while self.now < until && !gate.is_over() {
            let now = self.now;
            let mut tap = PacketTap { packets: false, outer: observer, open: &mut self.open };
            let mut reports = DirectReports::new(
                &mut self.rmap,
                &mut self.rdma,
                &mut self.ledger,
                &mut self.senders,
                &mut tap,
            );
            let mut locked: Vec<_> = parts.iter().map(lock).collect();
            let sets = locked.iter_mut().map(|part| &mut part.0.links).collect();
            let mut links = JoinedLinks { sets, set_of };
            let mut moved =
                send_due(now, &mut self.units, &mut links, &mut self.records, &mut reports);
            drop(locked);

            all(Job::Exchange(now));

            let mut locked: Vec<_> = parts.iter().map(lock).collect();
            let mut kept: Vec<(Turn, DeferredReport)> = Vec::new();
            for part in &mut locked {
                moved |= part.0.moved;
                kept.append(&mut part.0.reports.log);
            }
            // Reports of the same turn stay in order.
            kept.sort_by_key(|(turn, _)| *turn);
            let mut kept = kept.into_iter().peekable();
            let (sets, mut units): (Vec<_>, Vec<_>) = locked
                .iter_mut()
                .map(|part| {
                    let Part { links, units, .. } = &mut part.0;
                    (links, units)
                })
                .unzip();
            let mut links = JoinedLinks { sets, set_of };
            for turn in 0..self.units.turns.len() {
                let turn = self.units.turns[turn];
                while let Some((_, report)) = kept.next_if(|(of, _)| *of < turn) {
                    report.replay(now, &mut reports);
                }
                moved |= self.units.act(turn, now, &mut links, &mut reports);
            }
            kept.for_each(|(_, report)| report.replay(now, &mut reports));
            for router in 0..self.scenario.routers.len() {
                for units in units.iter_mut().map(|units| &mut **units).chain([&mut self.units]) {
                    moved |= units.configure(router, now, &mut links, &mut reports.rmap.truth);
                }
            }
            let (delivered, slots) = reports.finish();
            for packet in delivered {
                let units = units.iter_mut().map(|units| &mut **units).chain([&mut self.units]);
                let of = units.filter_map(|units| units.streams.get_mut(packet.stream)?.as_mut());
                of.for_each(|stream| packet.count(now, stream));
            }
            for (unit, slot) in slots {
                let ends = self.units.links_of(unit);
                let ends = ends.or_else(|| units.iter().find_map(|units| units.links_of(unit)));
                begin_slot(&mut links, ends.unwrap_or_default(), slot);
            }
            if !moved && links.sets.iter().all(|set| set.is_quiet()) {
                return true;
            }
            drop(locked);

            let next = self.next_stop(until);
            let samples = self.agenda.samples_at(next);
            all(if samples { Job::Sample(next) } else { Job::Run(next) });
            self.replay_events(parts, observer);
            self.now = next;
            self.threads.steps += 1;
            while let Some(step) = self.agenda.take_sample(next) {
                for sample in
                    parts.iter().flat_map(|part| std::mem::take(&mut lock(part).0.samples))
                {
                    self.records.add(&sample, step);
                }
            }
        }
        false
    }

    /// Hands on what links have reported in a step.
    fn replay_events(&mut self, parts: &[Mutex<Apart<Part>>], observer: &mut dyn Observer) {
        let mut events = Vec::new();
        parts.iter().for_each(|part| events.append(&mut lock(part).0.events.0));
        events.sort_by_key(|(_, link, ..)| *link);
        for (at, link, side, event) in events {
            let of = self.scenario.links.get(link as usize);
            let mut listener = RunningLinkObserver {
                outer: &mut *observer,
                ledger: &mut self.ledger,
                records: &mut self.records,
                spacewire: of.is_some_and(|of| of.is_spacewire()),
            };
            listener.event(at, link, side, event);
        }
    }
}
