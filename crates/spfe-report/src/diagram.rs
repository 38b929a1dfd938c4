//! Drawings of networks: nodes and routers as boxes in columns, with links between them.

mod draw;
mod layout;

pub use draw::{document, svg};

use spfe_sim::scenario::{BitRate, Medium, NodeKind, Scenario, ScenarioLink, UnitId};

/// Role of a vertex, which decides its column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VertexKind {
    /// A node that receives at least as many flows as it sends.
    #[default]
    Sink,
    /// A node that sends more flows than it receives.
    Source,
    /// A routing switch.
    Router,
}

/// A node or router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vertex {
    /// Name in the scenario.
    pub name: String,
    /// Short description below the name.
    pub about: String,
    /// Role.
    pub kind: VertexKind,
}

/// A link between two vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiagramLink {
    /// Name in the scenario.
    pub name: String,
    /// Vertex index and port of end A and end B.
    pub ends: [(usize, u8); 2],
    /// Lanes and rate, for example "2 × 6.25 Gbit/s".
    pub label: String,
    /// Number of lanes, which decides the width of the line.
    pub lanes: u8,
    /// Whether it is a SpaceWire link.
    pub thin: bool,
    /// Text of the tool tip.
    pub tip: String,
}

/// A network to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagram {
    /// Nodes, followed by routers.
    pub vertices: Vec<Vertex>,
    /// Links between vertices.
    pub edges: Vec<DiagramLink>,
}

impl Diagram {
    /// Makes the diagram of a scenario's network.
    pub fn of(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes.iter().map(|node| Vertex {
            name: node.name.clone(),
            about: about(node.kind).to_owned(),
            kind: if sends_more(scenario, &node.name) {
                VertexKind::Source
            } else {
                VertexKind::Sink
            },
        });
        let routers = scenario.routers.iter().map(|router| Vertex {
            name: router.name.clone(),
            about: format!("router, {} ports", router.ports),
            kind: VertexKind::Router,
        });
        let vertices = nodes.chain(routers).collect();
        let edges = scenario.links.iter().filter_map(|link| edge(scenario, link)).collect();
        Self { vertices, edges }
    }
}

/// Lanes and rate of a link: "2 × 6.25 Gbit/s", or "2+1 × 6.25 Gbit/s" with one spare lane.
pub fn rate(link: &ScenarioLink) -> String {
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
        NodeKind::Foreign => "foreign",
    }
}

/// Whether a node is an instrument or sends more flows than it receives.
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

fn edge(scenario: &Scenario, link: &ScenarioLink) -> Option<DiagramLink> {
    let end = |index: usize| {
        let place = link.ends.get(index)?;
        let vertex = match scenario.unit(&place.unit)? {
            UnitId::Node(node) => node,
            UnitId::Router(router) => scenario.nodes.len() + router,
        };
        Some((vertex, place.port))
    };
    Some(DiagramLink {
        name: link.name.clone(),
        ends: [end(0)?, end(1)?],
        label: rate(link),
        lanes: link.lanes(),
        thin: link.is_spacewire(),
        tip: format!("{}: {} to {}, {}", link.name, link.ends[0], link.ends[1], rate(link)),
    })
}
