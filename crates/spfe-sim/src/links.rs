//! Links side by side, of which only those are simulated where something happens.

use crate::link::{NoObserver, Side, SimulatedEnd, SimulatedLink};
use crate::time::Ps;

/// What nodes and routers do with links.
pub(crate) trait Links {
    /// See [`LinkSet::end`].
    fn end(&mut self, end: (usize, Side)) -> Option<&mut dyn SimulatedEnd>;
    /// See [`LinkSet::get_mut`].
    fn get_mut(&mut self, link: usize) -> Option<&mut Box<dyn SimulatedLink>>;
    /// See [`LinkSet::used`].
    fn used(&mut self, link: usize);
    /// See [`LinkSet::is_awake`].
    fn is_awake(&self, link: usize) -> bool;
    /// See [`LinkSet::any_awake_of`].
    fn any_awake_of(&self, owner: usize) -> bool;
}

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
    /// By number; `None` for those that are in another set.
    all: Vec<Option<Box<dyn SimulatedLink>>>,
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
            all: all.into_iter().map(Some).collect(),
        };
        links.wake_all();
        links
    }

    /// Whether a link is simulated. Nothing arrives at the ends of the others.
    #[inline]
    pub fn is_awake(&self, link: usize) -> bool {
        self.states.get(link).is_some_and(|state| state.awake)
    }

    /// Numbers of the links that are simulated, in any order.
    pub fn awake(&self) -> impl Iterator<Item = usize> {
        self.awake.iter().chain(&self.woken).copied()
    }

    /// Whether a link of an owner is simulated.
    #[inline]
    pub fn any_awake_of(&self, owner: usize) -> bool {
        self.of_owners.get(owner).is_some_and(|count| *count != 0)
    }

    /// Brings a link that sleeps to the present.
    #[inline]
    fn wake(&mut self, link: usize) {
        if self.states.get(link).is_some_and(|state| !state.awake) {
            self.wake_up(link);
        }
    }

    #[cold]
    fn wake_up(&mut self, link: usize) {
        let (Some(state), Some(Some(of))) = (self.states.get_mut(link), self.all.get_mut(link))
        else {
            return;
        };
        state.awake = true;
        state.used = true;
        for owner in state.owners.into_iter().flatten() {
            self.of_owners[owner] += 1;
        }
        self.woken.push(link);
        of.skip_to(self.now);
        // A link that sleeps has nothing to tell.
        of.run(self.now, &mut NoObserver);
    }

    /// Brings all links to the present.
    pub fn wake_all(&mut self) {
        (0..self.all.len()).for_each(|link| self.wake(link));
    }

    /// An end of a link, to look at or to use; see [`LinkSet::used`].
    #[inline]
    pub fn end(&mut self, (link, side): (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        self.wake(link);
        self.all.get_mut(link)?.as_mut().map(|link| link.end(side))
    }

    /// An end of a link, to look at. Nothing has changed there since the link fell asleep.
    pub fn look(&mut self, (link, side): (usize, Side)) -> Option<&dyn SimulatedEnd> {
        self.all.get_mut(link)?.as_mut().map(|link| &*link.end(side))
    }

    /// An end of a link, to take received messages out of it. Nothing is sent for them, so a link that
    /// sleeps goes on sleeping.
    pub fn messages(&mut self, (link, side): (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        self.all.get_mut(link)?.as_mut().map(|link| link.end(side))
    }

    /// Says that somebody has put words or messages into a link or taken them out.
    #[inline]
    pub fn used(&mut self, link: usize) {
        if let Some(state) = self.states.get_mut(link) {
            state.used = true;
        }
    }

    /// A link, to change it.
    pub fn get_mut(&mut self, link: usize) -> Option<&mut Box<dyn SimulatedLink>> {
        self.wake(link);
        self.used(link);
        self.all.get_mut(link)?.as_mut()
    }

    /// All links, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn SimulatedLink>> {
        self.wake_all();
        self.states.iter_mut().for_each(|state| state.used = true);
        self.all.iter_mut().flatten()
    }

    /// The links of this set with their numbers, as they are.
    pub fn iter(&mut self) -> impl Iterator<Item = (usize, &mut Box<dyn SimulatedLink>)> {
        let all = self.all.iter_mut().enumerate();
        all.filter_map(|(index, link)| Some((index, link.as_mut()?)))
    }

    /// All links as they are. The time of those that sleep stands still.
    pub fn as_they_are(&mut self) -> impl Iterator<Item = &mut Box<dyn SimulatedLink>> {
        self.all.iter_mut().flatten()
    }

    /// Words (SpaceWire: characters) sent on all lanes of all links.
    pub fn words(&self) -> u64 {
        self.all.iter().flatten().map(|link| link.words()).sum()
    }

    /// Whether a link has a foreign end.
    pub fn has_foreign_ends(&self) -> bool {
        self.all.iter().flatten().any(|link| link.has_foreign_end())
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

    /// The links that are awake, in any order.
    fn these_awake(&self) -> impl Iterator<Item = &dyn SimulatedLink> {
        let awake = self.awake.iter().chain(&self.woken);
        awake.filter_map(|link| self.all.get(*link)?.as_deref())
    }

    /// Whether nothing happens on any link, so that time may be skipped.
    pub fn is_quiet(&self) -> bool {
        !self.sleepless && self.these_awake().all(|link| link.is_quiet())
    }

    /// Whether words can come from foreign ends only.
    pub fn waits_for_foreign_ends(&self) -> bool {
        self.these_awake().all(|link| link.has_foreign_end() || link.is_quiet())
    }

    /// The links that are awake, with their numbers.
    pub fn iter_awake(&mut self) -> impl Iterator<Item = (usize, &mut Box<dyn SimulatedLink>)> {
        let Self { all, states, .. } = self;
        let links = all.iter_mut().zip(states).enumerate();
        links.filter_map(|(index, (link, state))| {
            Some((index, link.as_mut()?)).filter(|_| state.awake)
        })
    }

    /// Whether nothing happens on any link, and no end holds words that nobody has read.
    pub fn is_drained(&mut self) -> bool {
        self.gather();
        let Self { all, awake, .. } = self;
        awake.iter().all(|link| {
            all[*link].as_mut().is_none_or(|link| link.is_quiet() && !has_words(&mut **link))
        })
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

    /// Moves the links of each of some parts into a set of its own, in which they keep their numbers.
    pub fn split(&mut self, parts: usize, part: impl Fn(usize) -> usize) -> Vec<Self> {
        let sets = (0..parts).map(|of| {
            let mut set = Self {
                all: self.all.iter().map(|_| None).collect(),
                states: self.states.clone(),
                awake: Vec::new(),
                woken: Vec::new(),
                of_owners: vec![0; self.of_owners.len()],
                sleepless: self.sleepless,
                now: self.now,
            };
            for link in (0..self.all.len()).filter(|link| part(*link) == of) {
                set.all[link] = self.all[link].take();
            }
            set.list_awake();
            set
        });
        let sets = sets.collect();
        self.list_awake();
        sets
    }

    /// Takes the links of another set back.
    pub fn join(&mut self, other: Self) {
        for (link, (of, state)) in other.all.into_iter().zip(other.states).enumerate() {
            if of.is_some() {
                self.all[link] = of;
                self.states[link] = state;
            }
        }
        self.now = other.now;
        self.list_awake();
    }

    /// Makes the lists of links that are awake.
    fn list_awake(&mut self) {
        self.woken.clear();
        self.awake.clear();
        self.of_owners.fill(0);
        for (link, state) in self.states.iter().enumerate() {
            if state.awake && self.all[link].is_some() {
                self.awake.push(link);
                state.owners.into_iter().flatten().for_each(|owner| self.of_owners[owner] += 1);
            }
        }
    }

    /// Lets links on which nothing happens go to sleep, and does something with each of the others,
    /// which may be quiet.
    fn rest_or(&mut self, act: &mut dyn FnMut(usize, &mut dyn SimulatedLink, bool)) {
        self.gather();
        let Self { all, states, awake, of_owners, sleepless, .. } = self;
        awake.retain(|index| {
            let (Some(link), state) = (&mut all[*index], &mut states[*index]) else { return false };
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

/// The links of several sets.
pub(crate) struct JoinedLinks<'a> {
    pub sets: Vec<&'a mut LinkSet>,
    /// Set of each link.
    pub set_of: &'a [usize],
}

impl JoinedLinks<'_> {
    fn set(&mut self, link: usize) -> Option<&mut LinkSet> {
        self.sets.get_mut(*self.set_of.get(link)?).map(|set| &mut **set)
    }
}

impl Links for JoinedLinks<'_> {
    fn end(&mut self, end: (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        self.set(end.0)?.end(end)
    }

    fn get_mut(&mut self, link: usize) -> Option<&mut Box<dyn SimulatedLink>> {
        self.set(link)?.get_mut(link)
    }

    fn used(&mut self, link: usize) {
        if let Some(set) = self.set(link) {
            set.used(link);
        }
    }

    fn is_awake(&self, link: usize) -> bool {
        let set = self.set_of.get(link).and_then(|set| self.sets.get(*set));
        set.is_some_and(|set| set.is_awake(link))
    }

    fn any_awake_of(&self, owner: usize) -> bool {
        self.sets.iter().any(|set| set.any_awake_of(owner))
    }
}

impl Links for LinkSet {
    #[inline]
    fn end(&mut self, end: (usize, Side)) -> Option<&mut dyn SimulatedEnd> {
        Self::end(self, end)
    }

    #[inline]
    fn get_mut(&mut self, link: usize) -> Option<&mut Box<dyn SimulatedLink>> {
        Self::get_mut(self, link)
    }

    #[inline]
    fn used(&mut self, link: usize) {
        Self::used(self, link);
    }

    #[inline]
    fn is_awake(&self, link: usize) -> bool {
        Self::is_awake(self, link)
    }

    #[inline]
    fn any_awake_of(&self, owner: usize) -> bool {
        Self::any_awake_of(self, owner)
    }
}

/// Whether an end holds words that nobody has read.
fn has_words(link: &mut dyn SimulatedLink) -> bool {
    Side::BOTH.iter().any(|side| link.end(*side).waiting() != 0)
}
