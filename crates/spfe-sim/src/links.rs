//! Links side by side, of which only those are simulated where something happens.

use crate::link::{NoObserver, Side, SimulatedEnd, SimulatedLink};
use crate::time::Ps;

/// What is known of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkState {
    /// It is simulated. The time of the others stands still until somebody uses them.
    awake: bool,
    /// Somebody used it since it ran, so it runs even if it is quiet.
    used: bool,
    /// Who owns its ends.
    owners: [Option<usize>; 2],
}

/// Links that run side by side.
pub struct LinkSet {
    all: Vec<Box<dyn SimulatedLink>>,
    states: Vec<LinkState>,
    /// Links that are awake, in order.
    awake: Vec<usize>,
    /// Links that were woken and are not in that list yet.
    woken: Vec<usize>,
    /// Number of links of each owner that are awake.
    of_owners: Vec<u32>,
    /// Links never sleep: their words are shown.
    sleepless: bool,
    now: Ps,
}

impl LinkSet {
    /// These links, which are all awake. `owners` says who owns the ends of each: numbers that count
    /// from 0.
    pub fn new(
        all: Vec<Box<dyn SimulatedLink>>,
        owners: impl Fn(usize) -> [Option<usize>; 2],
    ) -> Self {
        let state = |link: usize| LinkState { owners: owners(link), ..LinkState::default() };
        let states: Vec<_> = (0..all.len()).map(state).collect();
        let most = states.iter().flat_map(|state| state.owners).flatten().max();
        let mut links = Self {
            of_owners: vec![0; most.map_or(0, |most| most + 1)],
            states,
            awake: Vec::new(),
            woken: Vec::new(),
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

    /// Numbers of the links that are simulated, in any order.
    pub fn awake(&self) -> impl Iterator<Item = usize> {
        self.awake.iter().chain(&self.woken).copied()
    }

    /// Whether a link of an owner is simulated.
    pub fn any_awake_of(&self, owner: usize) -> bool {
        self.of_owners.get(owner).is_some_and(|count| *count != 0)
    }

    /// Brings a link that sleeps to the present.
    fn wake(&mut self, link: usize) {
        let Some(state) = self.states.get_mut(link) else { return };
        if state.awake {
            return;
        }
        state.awake = true;
        state.used = true;
        for owner in state.owners.into_iter().flatten() {
            self.of_owners[owner] += 1;
        }
        self.woken.push(link);
        self.all[link].skip_to(self.now);
        // A link that sleeps has nothing to tell.
        self.all[link].run(self.now, &mut NoObserver);
    }

    /// Brings all links to the present.
    pub fn wake_all(&mut self) {
        (0..self.all.len()).for_each(|link| self.wake(link));
    }

    /// An end of a link, to look at or to use; see [`LinkSet::used`].
    pub fn end(&mut self, (link, side): (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        self.wake(link);
        self.all.get_mut(link).map(|link| link.end(side))
    }

    /// An end of a link, to look at. Nothing has changed there since the link fell asleep.
    pub fn look(&mut self, (link, side): (usize, Side)) -> Option<&dyn SimulatedEnd> {
        self.all.get_mut(link).map(|link| &*link.end(side))
    }

    /// An end of a link, to take received messages out of it. Nothing is sent for them, so a link that
    /// sleeps goes on sleeping.
    pub fn messages(&mut self, (link, side): (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
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
        !self.sleepless && awake.all(|link| self.all[*link].is_quiet())
    }

    /// Whether words can come from foreign ends only.
    pub fn waits_for_foreign_ends(&self) -> bool {
        let mut awake = self.awake.iter().chain(&self.woken).map(|link| &self.all[*link]);
        awake.all(|link| link.has_foreign_end() || link.is_quiet())
    }

    /// The links that are awake, with their numbers.
    pub fn iter_awake(&mut self) -> impl Iterator<Item = (usize, &mut Box<dyn SimulatedLink>)> {
        let Self { all, states, .. } = self;
        all.iter_mut()
            .zip(states)
            .enumerate()
            .filter_map(|(index, (link, state))| state.awake.then_some((index, link)))
    }

    /// Whether nothing happens on any link, and no end holds words that nobody has read.
    pub fn is_drained(&mut self) -> bool {
        self.gather();
        let Self { all, awake, .. } = self;
        awake.iter().all(|link| all[*link].is_quiet() && !has_words(&mut *all[*link]))
    }

    /// Skips time on all links. `run` gets each that stays awake with its number, for those that cannot
    /// skip all of it.
    pub fn skip_to(&mut self, time: Ps, run: &mut dyn FnMut(usize, &mut dyn SimulatedLink)) {
        let mut reached = time;
        self.rest_or(&mut |index, link, _| {
            link.skip_to(time);
            run(index, link);
            reached = reached.min(link.now());
        });
        self.now = reached;
    }

    /// Simulates all links until a time, but those on which nothing happens: they go to sleep. `run`
    /// runs a link, by its number, until that time.
    pub fn run(&mut self, until: Ps, run: &mut dyn FnMut(usize, &mut dyn SimulatedLink)) {
        self.rest_or(&mut |index, link, quiet| {
            if quiet && link.may_sleep() {
                link.skip_to(until);
            }
            run(index, link);
        });
        self.now = until;
    }

    /// Lets links on which nothing happens go to sleep, and does something with each of the others,
    /// which may be quiet.
    fn rest_or(&mut self, act: &mut dyn FnMut(usize, &mut dyn SimulatedLink, bool)) {
        self.gather();
        let Self { all, states, awake, of_owners, sleepless, .. } = self;
        awake.retain(|index| {
            let (link, state) = (&mut all[*index], &mut states[*index]);
            let quiet = !std::mem::take(&mut state.used) && !*sleepless && link.is_quiet();
            state.awake = !quiet || !link.may_sleep() || has_words(&mut **link);
            if state.awake {
                act(*index, &mut **link, quiet);
            } else {
                state.owners.into_iter().flatten().for_each(|owner| of_owners[owner] -= 1);
            }
            state.awake
        });
    }
}

/// Whether an end holds words that nobody has read.
fn has_words(link: &mut dyn SimulatedLink) -> bool {
    Side::BOTH.iter().any(|side| link.end(*side).waiting() != 0)
}
