//! Drawings of networks: units as boxes in columns, links between them.

mod draw;
mod layout;

pub use draw::{document, svg};

use spfe_sim::scenario::{BitRate, Link, Medium, NodeKind, Scenario, Unit};

/// What a box is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Takes more than it sends.
    #[default]
    Sink,
    /// Sends more than it takes.
    Source,
    /// A routing switch.
    Router,
}

/// A node or router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vertex {
    /// Name.
    pub name: String,
    /// What it is, in a word.
    pub about: String,
    /// Where it is put.
    pub kind: Kind,
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Name.
    pub name: String,
    /// Vertices at end A and end B, and their ports.
    pub ends: [(usize, u8); 2],
    /// Lanes and rate.
    pub label: String,
    /// Lanes: how wide it is drawn.
    pub lanes: u8,
    /// SpaceWire.
    pub thin: bool,
    /// More about it, as a tool tip.
    pub tip: String,
}

/// A network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Nodes, then routers.
    pub vertices: Vec<Vertex>,
    /// Links.
    pub edges: Vec<Edge>,
}

impl Diagram {
    /// The network of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes.iter().map(|node| Vertex {
            name: node.name.clone(),
            about: about(node.kind).to_owned(),
            kind: if sends_more(scenario, &node.name) { Kind::Source } else { Kind::Sink },
        });
        let routers = scenario.routers.iter().map(|router| Vertex {
            name: router.name.clone(),
            about: format!("router, {} ports", router.ports),
            kind: Kind::Router,
        });
        let vertices = nodes.chain(routers).collect();
        let edges = scenario.links.iter().filter_map(|link| edge(scenario, link)).collect();
        Self { vertices, edges }
    }
}

/// Lanes and rate of a link: "2 × 6.25 Gbit/s", with what is in reserve.
pub fn rate(link: &Link) -> String {
    let rate = BitRate(link.rate.0).to_string();
    match &link.medium {
        Medium::SpaceWire(_) => format!("SpaceWire {rate}"),
        Medium::SpaceFibre(fibre) => match fibre.sending_lanes {
            Some(sending) if sending < fibre.lanes => {
                format!("{sending}+{} × {rate}", fibre.lanes - sending)
            }
            _ => format!("{} × {rate}", fibre.lanes),
        },
    }
}

fn about(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Host => "host",
        NodeKind::Instrument => "instrument",
        NodeKind::Processor => "processor",
        NodeKind::Memory => "memory",
        NodeKind::Endpoint => "endpoint",
    }
}

/// Instruments, and what sends on more flows than it takes.
fn sends_more(scenario: &Scenario, name: &str) -> bool {
    let sent = scenario.flows.iter().filter(|flow| flow.from.unit == name).count();
    let taken = scenario.flows.iter().filter(|flow| flow.to.iter().any(|to| to.unit == name));
    let instrument =
        scenario.nodes.iter().any(|node| node.name == name && node.kind == NodeKind::Instrument);
    let taken = taken.count();
    instrument
        || sent > taken
        || sent == taken && scenario.nodes.first().is_some_and(|n| n.name == name)
}

fn edge(scenario: &Scenario, link: &Link) -> Option<Edge> {
    let end = |index: usize| {
        let place = link.ends.get(index)?;
        let vertex = match scenario.unit(&place.unit)? {
            Unit::Node(node) => node,
            Unit::Router(router) => scenario.nodes.len() + router,
        };
        Some((vertex, place.port))
    };
    Some(Edge {
        name: link.name.clone(),
        ends: [end(0)?, end(1)?],
        label: rate(link),
        lanes: link.lanes(),
        thin: link.is_spacewire(),
        tip: format!("{}: {} to {}, {}", link.name, link.ends[0], link.ends[1], rate(link)),
    })
}
