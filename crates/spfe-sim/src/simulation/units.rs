//! Nodes and routers with the traffic streams of the nodes. Each unit has turns in every step.

use crate::link::Side;
use crate::links::Links;
use crate::messages::{self, Relay};
use crate::node::{ExchangeContext, SimulatedNode};
use crate::reports::Reports;
use crate::rmap::ExecutedCommands;
use crate::router::{Port0, RouterSwitch};
use crate::scenario::UnitId;
use crate::stream::ActiveStream;
use crate::time::Ps;

/// A router: its packet switch, its message relay and its configuration port.
pub(super) struct SimulatedRouter {
    pub switch: RouterSwitch,
    pub relay: Relay,
    pub port0: Port0,
    /// Before this time it has nothing to do unless one of its links is simulated.
    pub due_ps: Ps,
}

impl SimulatedRouter {
    /// Whether it holds no words and no messages.
    fn is_empty(&self) -> bool {
        self.switch.is_empty() && self.relay.is_empty()
    }
}

/// What a unit does in its turn. The order of the variants is the order in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// A node exchanges words with its links.
    Node,
    /// A router exchanges words with its links.
    Switch,
    /// A node takes messages.
    Messages,
    /// A router forwards messages.
    Relay,
}

/// A turn: of a node or a router, by its number.
pub(super) type Turn = (Stage, usize);

/// Nodes, routers and streams by their numbers. Units that work side by side are in several of these;
/// each has `None` in place of those of the others.
#[derive(Default)]
pub(super) struct Units {
    pub nodes: Vec<Option<SimulatedNode>>,
    pub routers: Vec<Option<SimulatedRouter>>,
    /// Streams are where the node is that sends them.
    pub streams: Vec<Option<ActiveStream>>,
    /// All turns of a step, in order.
    pub turns: Vec<Turn>,
}

impl Units {
    /// These units, with their turns.
    pub fn new(
        nodes: Vec<Option<SimulatedNode>>,
        routers: Vec<Option<SimulatedRouter>>,
        streams: Vec<Option<ActiveStream>>,
    ) -> Self {
        let present = |here: bool, index: usize| here.then_some(index);
        let own: Vec<_> =
            nodes.iter().enumerate().filter_map(|(at, of)| present(of.is_some(), at)).collect();
        let between: Vec<_> =
            routers.iter().enumerate().filter_map(|(at, of)| present(of.is_some(), at)).collect();
        let order = [
            (Stage::Node, &own),
            (Stage::Switch, &between),
            (Stage::Messages, &own),
            (Stage::Relay, &between),
        ];
        let turns = order.iter().flat_map(|(stage, of)| of.iter().map(|index| (*stage, *index)));
        Self { turns: turns.collect(), nodes, routers, streams }
    }

    /// Number of a router among the owners of links.
    fn owner(&self, router: usize) -> usize {
        self.nodes.len() + router
    }

    /// All units have their turns. True if anything moved.
    pub fn act_all(&mut self, now: Ps, links: &mut impl Links, reports: &mut impl Reports) -> bool {
        let turns = std::mem::take(&mut self.turns);
        let mut moved = false;
        for turn in &turns {
            moved |= self.act(*turn, now, links, reports);
        }
        self.turns = turns;
        moved
    }

    /// A unit has its turn. True if anything moved.
    #[inline(always)]
    pub fn act(
        &mut self,
        (stage, index): Turn,
        now: Ps,
        links: &mut impl Links,
        reports: &mut impl Reports,
    ) -> bool {
        match stage {
            Stage::Node => {
                let Some(Some(node)) = self.nodes.get_mut(index) else { return false };
                if now < node.due_ps() && !links.any_awake_of(index) {
                    return false;
                }
                let streams = &mut self.streams;
                node.exchange(now, links, &mut ExchangeContext { streams, reports })
            }
            Stage::Switch => {
                let Some(router) = self.busy_router(index, now, links) else { return false };
                router.switch.exchange(now, links, reports)
            }
            Stage::Messages => {
                let Some(Some(node)) = self.nodes.get(index) else { return false };
                if !links.any_awake_of(index) || node.is_attached() {
                    return false;
                }
                let mut moved = false;
                for end in node.links() {
                    while let Some(message) = messages::take(now, links, end, reports) {
                        moved = true;
                        reports.heard(now, UnitId::Node(index), &message);
                    }
                }
                moved
            }
            Stage::Relay => {
                let Some(router) = self.busy_router(index, now, links) else { return false };
                router.relay.exchange(now, index, links, reports)
            }
        }
    }

    /// A router that has something to do.
    fn busy_router(
        &mut self,
        index: usize,
        now: Ps,
        links: &impl Links,
    ) -> Option<&mut SimulatedRouter> {
        let owner = self.owner(index);
        let router = self.routers.get_mut(index)?.as_mut()?;
        (now >= router.due_ps || links.any_awake_of(owner)).then_some(router)
    }

    /// The configuration port of a router handles its packets, after all turns of a step. True if
    /// there were any.
    pub fn configure(
        &mut self,
        index: usize,
        now: Ps,
        links: &mut impl Links,
        truth: &mut ExecutedCommands,
    ) -> bool {
        let owner = self.owner(index);
        let Some(router) = self.busy_router(index, now, links) else { return false };
        let mut moved = false;
        if router.switch.has_configuration_words() {
            moved = router.port0.exchange(&mut router.switch, links, truth);
        }
        let still = !links.any_awake_of(owner) && router.is_empty();
        router.due_ps = if still { router.switch.deadline_ps().unwrap_or(Ps::MAX) } else { 0 };
        moved
    }

    /// Moves the units of a part, and the streams of its nodes, into a set of their own. `part` says
    /// which a unit belongs to: by its number, that of a router behind those of all nodes.
    pub fn split(&mut self, part: impl Fn(usize) -> bool, sender: impl Fn(usize) -> usize) -> Self {
        fn take<T>(from: &mut [Option<T>], which: impl Fn(usize) -> bool) -> Vec<Option<T>> {
            let all = from.iter_mut().enumerate();
            all.map(|(index, of)| if which(index) { of.take() } else { None }).collect()
        }
        let nodes = self.nodes.len();
        let taken = Self::new(
            take(&mut self.nodes, &part),
            take(&mut self.routers, |router| part(nodes + router)),
            take(&mut self.streams, |stream| part(sender(stream))),
        );
        let own = std::mem::take(self);
        *self = Self::new(own.nodes, own.routers, own.streams);
        taken
    }

    /// Takes the units of another set back.
    pub fn join(&mut self, other: Self) {
        fn put<T>(to: &mut [Option<T>], from: Vec<Option<T>>) {
            for (to, from) in to.iter_mut().zip(from) {
                if from.is_some() {
                    *to = from;
                }
            }
        }
        put(&mut self.nodes, other.nodes);
        put(&mut self.routers, other.routers);
        put(&mut self.streams, other.streams);
        let own = std::mem::take(self);
        *self = Self::new(own.nodes, own.routers, own.streams);
    }

    /// Links of a unit, with its end of each; `None` if the unit is not here.
    pub fn links_of(&self, unit: UnitId) -> Option<Vec<(usize, Side)>> {
        Some(match unit {
            UnitId::Node(index) => self.nodes.get(index)?.as_ref()?.links().collect(),
            UnitId::Router(index) => {
                let switch = &self.routers.get(index)?.as_ref()?.switch;
                switch.ports().map(|(_, link, side)| (link, side)).collect()
            }
        })
    }

    /// Time of the next event, provided that the links are idle.
    pub fn next_ps(&self) -> Option<Ps> {
        let streams = self.streams.iter().flatten().filter_map(|of| of.source.next_ps());
        let nodes = self.nodes.iter().flatten().filter_map(SimulatedNode::next_ps);
        let routers = self.routers.iter().flatten();
        let routers = routers.filter_map(|router| router.switch.deadline_ps());
        streams.chain(nodes).chain(routers).min()
    }

    /// Whether no packet is in them.
    pub fn are_empty(&self) -> bool {
        self.nodes.iter().flatten().all(SimulatedNode::is_idle)
            && self.routers.iter().flatten().all(|router| router.switch.is_empty())
    }
}
