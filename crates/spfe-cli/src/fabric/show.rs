//! `spfe fabric status`, `watch`, `counters`, `topo`: what a fabric is and does.

use super::{FabricSocket, node_number, topology};
use crate::context::Context;
use crate::error::Failure;
use crate::output::{plural, table};
use crate::signal;
use clap::Args;
use serde_json::json;
use spfe_fabric::status::FabricStatus;
use spfe_fabric::topology::{FabricTopology, NodeNumber};
use spfe_fabric::wire::FabricRequest;
use spfe_report::diagram::{self, Diagram, DiagramLink, Vertex, VertexKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Show the nodes as `vxfabric` does: number, slot, state, CPU, windows, addresses.
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// The node whose view is shown [default: $SPFE_FABRIC_NODE, else the system controller].
    #[arg(long, value_name = "NODE", env = "SPFE_FABRIC_NODE", value_parser = node_number)]
    node: Option<NodeNumber>,
    /// Show nodes that are absent, too.
    #[arg(long, short)]
    all: bool,
    /// Draw the fabric with its states to a file; - for standard output.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Wait until every node is READY, for at most this many seconds.
    #[arg(long, value_name = "S")]
    wait: Option<u32>,
}

/// Show the nodes again whenever a state changes.
#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    #[command(flatten)]
    status: StatusArgs,
}

/// Show what went over each link, and the counters of the nodes with `--json`.
#[derive(Clone, Debug, Args)]
pub struct CountersArgs {
    #[command(flatten)]
    socket: FabricSocket,
    /// Show the counters of this node about its peers.
    #[arg(long, value_name = "NODE", value_parser = node_number)]
    node: Option<NodeNumber>,
}

/// Check a topology and show it.
#[derive(Clone, Debug, Args)]
pub struct TopoArgs {
    /// File, or name of a preset.
    topology: String,
    /// Draw it to a file; - for standard output.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Print it as a topology file.
    #[arg(long, conflicts_with = "svg")]
    toml: bool,
}

fn read(socket: &FabricSocket) -> Result<FabricStatus, Failure> {
    Ok(socket.connect()?.document(&FabricRequest::Status)?)
}

/// Shows the nodes.
pub fn status(args: &StatusArgs, context: &Context) -> Result<(), Failure> {
    let mut status = read(&args.socket)?;
    if let Some(seconds) = args.wait {
        let mut slices = seconds.saturating_mul(50);
        while !status.is_ready() {
            if slices == 0 {
                print_status(args, &status, context)?;
                let ready = status.nodes.iter().filter(|node| node.state.name() == "READY").count();
                let what =
                    format!("{ready} of {} nodes READY after {seconds} s", status.nodes.len());
                return Err(Failure::timed_out(what));
            }
            if !signal::sleep(Duration::from_millis(20)) {
                return Err(Failure::interrupted());
            }
            slices -= 1;
            status = read(&args.socket)?;
        }
    }
    print_status(args, &status, context)
}

fn print_status(
    args: &StatusArgs,
    status: &FabricStatus,
    context: &Context,
) -> Result<(), Failure> {
    if let Some(path) = &args.svg {
        return draw(&of_status(status), path, context);
    }
    let master = status.nodes.iter().find(|node| node.master).or(status.nodes.first());
    let local = args.node.or(master.map(|node| node.node)).unwrap_or(NodeNumber(1));
    if context.json {
        println!("{}", json!(status));
    } else {
        print!("{}", status.table(local, args.all));
    }
    Ok(())
}

/// Shows the nodes until a signal arrives or the fabric ends.
pub fn watch(args: &WatchArgs, context: &Context) -> Result<(), Failure> {
    let client = args.status.socket.connect()?;
    let mut last = Vec::new();
    loop {
        let status: FabricStatus = client.document(&FabricRequest::Status)?;
        let states: Vec<_> =
            status.nodes.iter().map(|node| (node.node, node.state, node.epoch)).collect();
        if states != last {
            if !last.is_empty() && !context.json {
                println!();
            }
            print_status(&args.status, &status, context)?;
            last = states;
        }
        if !signal::sleep(Duration::from_millis(50)) {
            return Ok(());
        }
    }
}

/// Shows counters.
pub fn counters(args: &CountersArgs, context: &Context) -> Result<(), Failure> {
    let status = read(&args.socket)?;
    let of_node = |node| status.traffic.iter().filter(move |one| one.node == node);
    if context.json {
        let traffic: Vec<_> = match args.node {
            Some(node) => of_node(node).collect(),
            None => status.traffic.iter().collect(),
        };
        println!("{}", json!({ "links": status.links, "traffic": traffic }));
        return Ok(());
    }
    let Some(node) = args.node else {
        print!("{}", status.link_table());
        return Ok(());
    };
    let mut rows = Vec::new();
    for one in of_node(node) {
        for (name, value) in &one.counters {
            rows.push(vec![one.peer.to_string(), name.clone(), value.to_string()]);
        }
    }
    print!("{}", table(&["PEER", "COUNTER", "VALUE"], 2, &rows));
    Ok(())
}

/// Prints lines for /etc/hosts: each address with the name of its node.
pub fn hosts(socket: &FabricSocket) -> Result<(), Failure> {
    for node in &read(socket)?.nodes {
        for address in &node.addresses {
            println!("{address}\tnode{}", node.node);
        }
    }
    Ok(())
}

/// Checks and shows a topology.
pub fn topo(args: &TopoArgs, context: &Context) -> Result<(), Failure> {
    let topology = topology(&args.topology)?;
    if let Some(path) = &args.svg {
        return draw(&of_topology(&topology), path, context);
    }
    if args.toml {
        print!("{}", topology.to_toml());
        return Ok(());
    }
    if context.json {
        println!("{}", json!(topology));
        return Ok(());
    }
    println!(
        "{}: {}, {}, {}",
        topology.name,
        plural(topology.nodes.len() as u64, "node"),
        plural(topology.switches.len() as u64, "PCIe switch").replace("switchs", "switches"),
        plural(topology.links.len() as u64, "link")
    );
    let rows: Vec<Vec<String>> = topology
        .links
        .iter()
        .map(|link| {
            let [a, b] = link.ends.map(|end| topology.end_name(end));
            let kind = if link.cable { "cable" } else { "" }.to_owned();
            let rate = format!("{:.3} GB/s", link.rate.bytes_per_s() as f64 / 1e9);
            let rounded = format!("{} GB/s", link.rate.rounded_bytes_per_s() as f64 / 1e9);
            vec![a, b, link.rate.to_string(), rate, rounded, kind]
        })
        .collect();
    print!("{}", table(&["A", "B", "LINK", "RATE", "PRODUCT SHEET", ""], 6, &rows));
    Ok(())
}

fn draw(diagram: &Diagram, path: &Path, context: &Context) -> Result<(), Failure> {
    let drawing = diagram::document(diagram);
    if path.as_os_str() == "-" {
        print!("{drawing}");
        return Ok(());
    }
    std::fs::write(path, drawing)
        .map_err(|error| Failure::io(format_args!("drawing '{}'", path.display()), &error))?;
    context.say(&format!("drawing written to {}", path.display()));
    Ok(())
}

fn of_topology(topology: &FabricTopology) -> Diagram {
    let nodes = topology.nodes.iter().map(|node| {
        let about = format!("node {}", node.number);
        (node.number.name(), about)
    });
    let links = topology.links.iter().map(|link| {
        (link.ends.map(|end| topology.end_name(end)), link.rate.to_string(), String::new())
    });
    drawing(nodes.collect(), links.collect())
}

fn of_status(status: &FabricStatus) -> Diagram {
    let nodes = status
        .nodes
        .iter()
        .map(|node| (node.node.name(), format!("node {} {}", node.node, node.state.name())));
    let links = status.links.iter().map(|link| {
        let state = if link.up { "" } else { " DOWN" };
        let tip = format!("{} bytes one way, {} back", link.bytes[0], link.bytes[1]);
        (link.ends.clone(), format!("{}{state}", link.rate), tip)
    });
    drawing(nodes.collect(), links.collect())
}

/// A drawing of named nodes and of links between names; names that are no node's are switches.
fn drawing(nodes: Vec<(String, String)>, links: Vec<([String; 2], String, String)>) -> Diagram {
    let mut vertices: Vec<Vertex> = nodes
        .into_iter()
        .enumerate()
        .map(|(index, (name, about))| {
            // Two columns, so that nodes without a switch do not lie above each other.
            let kind = if index % 2 == 0 { VertexKind::Source } else { VertexKind::Sink };
            Vertex { name, about, kind }
        })
        .collect();
    let mut edges = Vec::new();
    for (ends, label, tip) in links {
        let mut place = |name: &String| {
            vertices.iter().position(|vertex| vertex.name == *name).unwrap_or_else(|| {
                let (name, about) = (name.clone(), "switch".to_owned());
                vertices.push(Vertex { name, about, kind: VertexKind::Router });
                vertices.len() - 1
            })
        };
        let ends = [(place(&ends[0]), 1), (place(&ends[1]), 1)];
        let name = format!("link {}", edges.len() + 1);
        edges.push(DiagramLink { name, ends, label, lanes: 2, thin: false, tip });
    }
    Diagram { vertices, edges }
}
