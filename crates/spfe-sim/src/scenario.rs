//! Scenarios: a network, its traffic and its faults, described in a TOML file.
//!
//! [`Scenario::parse`] reads and checks a file. Objects refer to each other by name;
//! [`Scenario::unit`] and [`Scenario::link_at`] look names up. `docs/scenarios.md` describes every
//! key with its unit and default.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`units`] | times, rates, sizes, shares |
//! | [`port`] | ports, directions, addressing, time-slots |
//! | [`mod@unit`] | nodes and routers |
//! | [`link`] | links |
//! | [`traffic`] | traffic streams, broadcast messages, time-codes, RMAP commands, the schedule |
//! | [`rdma`] | RDMA operations |
//! | [`fault`] | faults and their times |
//! | [`route`] | routes through the network |
//! | [`error`] | errors in a file |

mod check;
pub mod error;
pub mod fault;
pub mod link;
pub mod port;
pub mod rdma;
pub mod route;
pub mod traffic;
pub mod unit;
pub mod units;

pub use error::{Problem, ScenarioError};
pub use fault::{FaultAction, FaultTiming, ScenarioFault};
pub use link::{Medium, Qos, ScenarioLink, SpaceFibreSettings, SpaceWireSettings, StartMode};
pub use port::{Addressing, Directions, PortName, TimeSlots};
pub use rdma::{RdmaOperation, RdmaTraffic};
pub use traffic::{
    BroadcastTraffic, Operation, PacketPace, PacketSize, RmapTraffic, Schedule, TimeCodes,
    TrafficStream,
};
pub use unit::{
    ChannelMap, EntryMode, NodeKind, ScenarioNode, ScenarioRouter, TableEntry, TargetSettings,
};
pub use units::{BitRate, Cable, Probability, Share, Size, Time};

use crate::link::Side;
use crate::time::{MS, Ps};
use serde::Deserialize;

/// Selects what a capture of the simulation records.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CaptureSelection {
    /// Packets, as nodes and routers take them from links.
    pub packets: bool,
    /// Broadcast messages, time-codes and interrupts.
    pub messages: bool,
    /// Events of links.
    pub events: bool,
    /// Links to record; empty for all.
    pub links: Vec<String>,
    /// Links whose words or characters are all recorded.
    pub words: Vec<String>,
}

impl Default for CaptureSelection {
    fn default() -> Self {
        Self { packets: true, messages: true, events: true, links: Vec::new(), words: Vec::new() }
    }
}

/// A scenario.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// Title.
    pub title: String,
    /// What the scenario demonstrates.
    #[serde(default)]
    pub description: String,
    /// Seed of all random numbers.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Simulated time.
    #[serde(default = "default_duration")]
    pub duration: Time,
    /// Time step at which nodes and routers exchange words with links. `None`: 8 word periods of
    /// the fastest lane, see [`Scenario::quantum_ps`].
    pub quantum: Option<Time>,
    /// Time step of the results. `None`: a hundredth of the duration.
    pub step: Option<Time>,
    /// Maximum number of recorded events. Further ones are counted.
    #[serde(default = "default_events")]
    pub events: usize,
    /// Nodes.
    #[serde(rename = "node", default)]
    pub nodes: Vec<ScenarioNode>,
    /// Routers.
    #[serde(rename = "router", default)]
    pub routers: Vec<ScenarioRouter>,
    /// Links.
    #[serde(rename = "link", default)]
    pub links: Vec<ScenarioLink>,
    /// The schedule of time-slots.
    pub schedule: Option<Schedule>,
    /// Traffic streams.
    #[serde(rename = "flow", default)]
    pub flows: Vec<TrafficStream>,
    /// Broadcast messages.
    #[serde(rename = "broadcast", default)]
    pub broadcasts: Vec<BroadcastTraffic>,
    /// Time-codes.
    pub time_codes: Option<TimeCodes>,
    /// RMAP commands.
    #[serde(rename = "rmap", default)]
    pub rmaps: Vec<RmapTraffic>,
    /// RDMA operations.
    #[serde(rename = "rdma", default)]
    pub rdmas: Vec<RdmaTraffic>,
    /// Faults.
    #[serde(rename = "fault", default)]
    pub faults: Vec<ScenarioFault>,
    /// Selects what a capture records.
    #[serde(default)]
    pub capture: CaptureSelection,
}

const fn default_seed() -> u64 {
    1
}

const fn default_duration() -> Time {
    Time(MS)
}

const fn default_events() -> usize {
    10_000
}

/// A node or router of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitId {
    /// A node, as an index into [`Scenario::nodes`].
    Node(usize),
    /// A router, as an index into [`Scenario::routers`].
    Router(usize),
}

impl Scenario {
    /// Reads and checks the text of a file.
    ///
    /// # Errors
    ///
    /// All errors of the file.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| error::line_of(text, span.start));
            let message = error.message().to_owned();
            ScenarioError { problems: vec![Problem { line, message }] }
        })?;
        check::check(&scenario, text)?;
        Ok(scenario)
    }

    /// Checks a scenario that was not read from a file, or was changed.
    ///
    /// # Errors
    ///
    /// All errors of the scenario.
    pub fn check(&self) -> Result<(), ScenarioError> {
        check::check(self, "")
    }

    /// Checks a fault for a running network of this scenario.
    ///
    /// # Errors
    ///
    /// All errors of the fault.
    pub fn check_fault(&self, fault: &ScenarioFault) -> Result<(), String> {
        check::check_fault(self, fault)
    }

    /// Looks up a node or router.
    pub fn unit(&self, name: &str) -> Option<UnitId> {
        let node = self.nodes.iter().position(|node| node.name == name).map(UnitId::Node);
        node.or_else(|| {
            self.routers.iter().position(|router| router.name == name).map(UnitId::Router)
        })
    }

    /// Whether a node is a target of RDMA, or sends its requests.
    pub fn has_rdma(&self, name: &str) -> bool {
        self.rdmas.iter().any(|rdma| rdma.stream.from.unit == name)
            || self.nodes.iter().any(|node| node.name == name && node.rdma.is_some())
    }

    /// Name of a node or router.
    pub fn name_of(&self, unit: UnitId) -> &str {
        match unit {
            UnitId::Node(index) => self.nodes.get(index).map_or("", |node| &node.name),
            UnitId::Router(index) => self.routers.get(index).map_or("", |router| &router.name),
        }
    }

    /// The link at a port, as an index into [`Scenario::links`], and the port's end of it.
    pub fn link_at(&self, place: &PortName) -> Option<(usize, Side)> {
        self.links.iter().enumerate().find_map(|(index, link)| {
            let [a, b] = &link.ends;
            let side = if a == place {
                Side::A
            } else if b == place {
                Side::B
            } else {
                return None;
            };
            Some((index, side))
        })
    }

    /// Looks up a link; an index into [`Scenario::links`].
    pub fn link(&self, name: &str) -> Option<usize> {
        self.links.iter().position(|link| link.name == name)
    }

    /// Time step at which nodes and routers exchange words with links.
    pub fn quantum_ps(&self) -> Ps {
        const PERIODS: u64 = 8;
        const BITS: u64 = 40;
        let fastest = |spacewire: bool| {
            let rates =
                self.links.iter().filter(|link| link.is_spacewire() == spacewire).map(|l| l.rate.0);
            rates.max()
        };
        // A SpaceWire word is four characters of ten bits, as long as a word on a lane.
        let rate = fastest(false).or_else(|| fastest(true)).unwrap_or(6_250_000_000).max(1);
        let usual = (PERIODS * BITS * 1_000_000_000_000).div_ceil(rate);
        let quantum = self.quantum.map_or(usual, |quantum| quantum.0);
        // One simulator may be the foreign end of several links: none of them gets ahead of another
        // by more than a message.
        let message = |link: &ScenarioLink| {
            let words = u64::from(link.foreign.as_ref()?.words);
            Some(words * BITS * 1_000_000_000_000 / link.rate.0.max(1))
        };
        self.links.iter().filter_map(message).fold(quantum, Ps::min).max(1)
    }

    /// The end of a link that belongs to a foreign node.
    pub fn foreign_side(&self, link: &ScenarioLink) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| {
            let unit = link.ends.get(*side as usize).and_then(|place| self.unit(&place.unit));
            let node = unit.and_then(|unit| match unit {
                UnitId::Node(node) => self.nodes.get(node),
                UnitId::Router(_) => None,
            });
            node.is_some_and(|node| node.kind == NodeKind::Foreign)
        })
    }

    /// Time step of the results.
    pub fn step_ps(&self) -> Ps {
        self.step.map_or(self.duration.0.div_ceil(100), |step| step.0).max(1)
    }
}
