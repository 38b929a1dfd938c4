//! The links of a simulation, of which only those are simulated where something happens.

use super::RunningLinkObserver;
use crate::ledger::Ledger;
use crate::link::{NoObserver, Observer, Side, SimulatedEnd, SimulatedLink};
use crate::records::Measurements;
use crate::scenario::{Scenario, UnitId};
use crate::time::Ps;

/// What the simulation knows of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// It is simulated. The time of the others stands still until somebody uses them.
    awake: bool,
    /// Somebody used it since it ran, so it runs even if it is quiet.
    used: bool,
    /// Number of bit error rates. With one, every word counts.
    errors: u32,
    /// Nodes and routers at its ends.
    units: [Option<UnitId>; 2],
}

/// The links of a simulation.
pub struct Links {
    all: Vec<Box<dyn SimulatedLink>>,
    states: Vec<LinkState>,
    /// Links that are awake, in order.
    awake: Vec<usize>,
    /// Links that were woken and are not in that list yet.
    woken: Vec<usize>,
    /// Number of links that are awake at each node and router.
    at_nodes: Vec<u32>,
    at_routers: Vec<u32>,
    /// Links never sleep: their words are shown.
    sleepless: bool,
    now: Ps,
}

impl Links {
    /// The links of a scenario, in its order. All are awake.
    pub fn new(scenario: &Scenario, all: Vec<Box<dyn SimulatedLink>>) -> Self {
        let units = |link: usize| {
            let ends = scenario.links.get(link).map(|of| &of.ends);
            Side::BOTH.map(|side| ends.and_then(|ends| scenario.unit(&ends[side as usize].unit)))
        };
        let state = |link: usize| LinkState { units: units(link), ..LinkState::default() };
        let mut links = Self {
            states: (0..all.len()).map(state).collect(),
            awake: Vec::new(),
            woken: Vec::new(),
            at_nodes: vec![0; scenario.nodes.len()],
            at_routers: vec![0; scenario.routers.len()],
            sleepless: false,
            now: 0,
            all,
        };
        links.wake_all();
        links
    }

    /// Whether a link is simulated. Nothing arrives at the ends of the others.
    pub fn is_awake(&self, link: usize) -> bool {
        self.states.get(link).is_some_and(|state| state.awake)
    }

    /// Number of links of a node or router that are simulated.
    pub fn awake_at(&self, unit: UnitId) -> u32 {
        let count = match unit {
            UnitId::Node(node) => self.at_nodes.get(node),
            UnitId::Router(router) => self.at_routers.get(router),
        };
        count.copied().unwrap_or(0)
    }

    fn count(&mut self, link: usize, change: impl Fn(u32) -> u32) {
        for unit in self.states[link].units.into_iter().flatten() {
            let count = match unit {
                UnitId::Node(node) => &mut self.at_nodes[node],
                UnitId::Router(router) => &mut self.at_routers[router],
            };
            *count = change(*count);
        }
    }

    /// Brings a link that sleeps to the present.
    fn wake(&mut self, link: usize) {
        let Some(state) = self.states.get_mut(link) else { return };
        if state.awake {
            return;
        }
        state.awake = true;
        state.used = true;
        self.count(link, |count| count + 1);
        self.woken.push(link);
        self.all[link].skip_to(self.now);
        // A link that sleeps has nothing to tell.
        self.all[link].run(self.now, &mut NoObserver);
    }

    /// Brings all links to the present.
    pub fn wake_all(&mut self) {
        (0..self.all.len()).for_each(|link| self.wake(link));
    }

    /// An end of a link, to look at or to use; see [`Links::used`].
    pub fn end(&mut self, (link, side): (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        self.wake(link);
        self.all.get_mut(link).map(|link| link.end(side))
    }

    /// Says that somebody has put words or messages into a link or taken them out.
    pub fn used(&mut self, link: usize) {
        if let Some(state) = self.states.get_mut(link) {
            state.used = true;
        }
    }

    /// A link, to change it.
    pub fn get_mut(&mut self, link: usize) -> Option<&mut Box<dyn SimulatedLink>> {
        self.wake(link);
        self.used(link);
        self.all.get_mut(link)
    }

    /// All links, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn SimulatedLink>> {
        self.wake_all();
        self.states.iter_mut().for_each(|state| state.used = true);
        self.all.iter_mut()
    }

    /// All links as they are. The time of those that sleep stands still.
    pub fn as_they_are(&mut self) -> &mut [Box<dyn SimulatedLink>] {
        &mut self.all
    }

    /// Words (SpaceWire: characters) sent on all lanes of all links.
    pub fn words(&self) -> u64 {
        self.all.iter().map(|link| link.words()).sum()
    }

    /// Whether a link has a foreign end.
    pub fn has_foreign_ends(&self) -> bool {
        self.all.iter().any(|link| link.has_foreign_end())
    }

    /// Keeps all links awake from now on.
    pub fn never_sleep(&mut self) {
        self.wake_all();
        self.sleepless = true;
    }

    /// A bit error rate of a link begins or ends.
    pub fn count_errors(&mut self, link: usize, begins: bool) {
        self.wake(link);
        if let Some(state) = self.states.get_mut(link) {
            state.errors = if begins { state.errors + 1 } else { state.errors.saturating_sub(1) };
        }
    }

    /// Puts the woken links into the list.
    fn gather(&mut self) {
        if !self.woken.is_empty() {
            self.awake.append(&mut self.woken);
            self.awake.sort_unstable();
        }
    }

    /// Whether nothing happens on any link, so that time may be skipped.
    pub fn is_quiet(&self) -> bool {
        let mut awake = self.awake.iter().chain(&self.woken);
        !self.sleepless
            && awake.all(|link| self.states[*link].errors == 0 && self.all[*link].is_quiet())
    }

    /// Whether nothing happens on any link, and no end holds words that nobody has read.
    pub fn is_drained(&mut self) -> bool {
        self.gather();
        let Self { all, awake, .. } = self;
        awake.iter().all(|link| is_drained(&mut all[*link]))
    }

    /// Skips time on all links. Those that cannot are simulated.
    pub fn skip_to(&mut self, time: Ps, observed: &mut Observed<'_>) {
        self.gather();
        for link in &self.awake {
            self.all[*link].skip_to(time);
            observed.run(*link, &mut self.all[*link], time);
        }
        self.now = time;
    }

    /// Simulates all links until a time, but those on which nothing happens: they go to sleep.
    pub fn run(&mut self, until: Ps, observed: &mut Observed<'_>) {
        self.gather();
        let mut awake = std::mem::take(&mut self.awake);
        awake.retain(|index| {
            let (link, state) = (&mut self.all[*index], &mut self.states[*index]);
            let used = std::mem::take(&mut state.used);
            if !used && !self.sleepless && state.errors == 0 && link.may_sleep() && is_drained(link)
            {
                state.awake = false;
                self.count(*index, |count| count - 1);
                return false;
            }
            observed.run(*index, link, until);
            true
        });
        self.awake = awake;
        self.now = until;
    }
}

fn is_drained(link: &mut Box<dyn SimulatedLink>) -> bool {
    link.is_quiet() && Side::BOTH.iter().all(|side| link.end(*side).waiting() == 0)
}

/// Who hears of the events of links that run.
pub struct Observed<'a> {
    pub outer: &'a mut dyn Observer,
    pub ledger: &'a mut Ledger,
    pub records: &'a mut Measurements,
    pub scenario: &'a Scenario,
}

impl Observed<'_> {
    fn run(&mut self, index: usize, link: &mut Box<dyn SimulatedLink>, until: Ps) {
        let mut listener = RunningLinkObserver {
            outer: &mut *self.outer,
            ledger: &mut *self.ledger,
            records: &mut *self.records,
            spacewire: self.scenario.links.get(index).is_some_and(|of| of.is_spacewire()),
        };
        link.run(until, &mut listener);
    }
}
