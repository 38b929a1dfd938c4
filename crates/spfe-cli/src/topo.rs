//! `spfe topo`: the network of a scenario as text, drawing or graph, and the routes through it.

mod tables;
mod way;

use crate::context::Context;
use crate::error::Failure;
use crate::output::{plural, printable, table};
use crate::scenario;
use clap::Args;
use serde_json::json;
use spfe_report::diagram::{self, Diagram, VertexKind};
use spfe_sim::scenario::route::{Route, RouteFinder, RoutePlan};
use spfe_sim::scenario::{Addressing, PortName, Scenario, Time, UnitId};
use std::fmt::Write;
use std::path::PathBuf;

/// Show the network of a scenario: units, links, and where packets go.
///
/// Without --svg and --dot it is printed as tables.
#[derive(Clone, Debug, Args)]
pub struct TopoArgs {
    /// Scenario (docs/scenarios.md); - for standard input.
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Draw it to a file; - for standard output.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Show the addresses that lead from one unit to another, and back: NODE, NODE:PORT or ROUTER.
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with_all = ["svg", "dot"])]
    path: Vec<PortName>,
    /// Virtual channel of --path on the first link.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "path")]
    vc: u8,
    /// Print it as a graph for Graphviz.
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    dot: bool,
}

/// Shows it.
pub fn run(args: &TopoArgs, context: &Context) -> Result<(), Failure> {
    let scenario = scenario::read(&args.file)?.scenario;
    if let [from, to] = &args.path[..] {
        print!("{}", way::show(&scenario, [from, to], args.vc, context.json)?);
        return Ok(());
    }
    if let Some(path) = &args.svg {
        let drawing = diagram::document(&Diagram::of(&scenario));
        if path.as_os_str() == "-" {
            print!("{drawing}");
            return Ok(());
        }
        std::fs::write(path, drawing)
            .map_err(|error| Failure::io(format_args!("drawing '{}'", path.display()), &error))?;
        context.say(&format!("drawing written to {}", path.display()));
        if !context.json {
            return Ok(());
        }
    }
    if context.json {
        println!("{}", document(&scenario));
    } else if args.dot {
        print!("{}", dot(&scenario));
    } else {
        print!("{}", text(&scenario));
    }
    Ok(())
}

/// Most routes that are listed for one kind of traffic.
const MAX_ROUTES: usize = 256;

/// A flow, or the commands of an RMAP initiator, with their routes.
struct Traffic<'a> {
    kind: &'static str,
    name: &'a str,
    from: &'a PortName,
    vc: u8,
    addressing: &'a Addressing,
    plan: Result<RoutePlan, String>,
}

impl Traffic<'_> {
    /// The routes in words, and what is wrong with them.
    fn routes(&self, scenario: &Scenario) -> FoundRoutes {
        let Ok(plan) = &self.plan else {
            let refused = self.plan.as_ref().err().cloned();
            return FoundRoutes { refused, ..FoundRoutes::default() };
        };
        let (routes, complete) = plan.trace.routes(MAX_ROUTES);
        FoundRoutes {
            routes: routes.iter().map(|route| words(scenario, self.from, route)).collect(),
            complete,
            discarded: plan.trace.dead_ends.iter().map(|end| end.text(scenario)).collect(),
            refused: plan.problem.clone(),
        }
    }
}

/// Routes of traffic in words.
#[derive(Default)]
struct FoundRoutes {
    routes: Vec<String>,
    /// There are no more routes than these.
    complete: bool,
    /// Where and why routers discard packets.
    discarded: Vec<String>,
    /// Why `spfe sim` refuses the scenario.
    refused: Option<String>,
}

fn traffic(scenario: &Scenario) -> Vec<Traffic<'_>> {
    let finder = RouteFinder::new(scenario);
    let flows = scenario.flows.iter().map(|flow| Traffic {
        kind: "flow",
        name: &flow.name,
        from: &flow.from,
        vc: flow.vc,
        addressing: &flow.route,
        plan: finder.flow(flow),
    });
    let rmaps = scenario.rmaps.iter().map(|rmap| Traffic {
        kind: "rmap",
        name: &rmap.name,
        from: &rmap.from,
        vc: rmap.vc,
        addressing: &rmap.route,
        plan: finder.rmap(rmap).map(|(command, _)| command),
    });
    let rdmas = scenario.rdmas.iter().map(|rdma| Traffic {
        kind: "rdma",
        name: &rdma.stream.name,
        from: &rdma.stream.from,
        vc: rdma.stream.vc,
        addressing: &rdma.stream.route,
        plan: finder.rdma(rdma).map(|(request, _)| request),
    });
    flows.chain(rmaps).chain(rdmas).collect()
}

/// A route in words: `camera:1 > front 1>4 > back 4>1 > memory:1`.
fn words(scenario: &Scenario, from: &PortName, route: &Route) -> String {
    let mut out = from.to_string();
    for hop in &route.hops {
        let name = scenario.name_of(UnitId::Router(hop.input.router as usize));
        let _ = write!(out, " > {name} {}>{}", hop.input.port, hop.output);
    }
    if let UnitId::Node(_) = route.to.unit {
        let _ = write!(out, " > {}:{}", scenario.name_of(route.to.unit), route.to.port);
    }
    out
}

fn text(scenario: &Scenario) -> String {
    let mut out = format!(
        "{}: {}, {}, {}\n\n",
        printable(&scenario.title),
        plural(scenario.nodes.len() as u64, "node"),
        plural(scenario.routers.len() as u64, "router"),
        plural(scenario.links.len() as u64, "link"),
    );
    let rows: Vec<Vec<String>> = scenario
        .links
        .iter()
        .map(|link| {
            let [a, b] = &link.ends;
            vec![
                link.name.clone(),
                a.to_string(),
                b.to_string(),
                diagram::rate(link),
                link.channels().to_string(),
                Time(link.cable.0).to_string(),
            ]
        })
        .collect();
    out.push_str(&table(&["LINK", "A", "B", "LANES AND RATE", "VCS", "CABLE"], 4, &rows));
    out.push_str(&tables::text(scenario));
    let mut rows = Vec::new();
    for one in traffic(scenario) {
        let found = one.routes(scenario);
        let mut row = |hops: String| {
            rows.push(vec![
                one.kind.to_owned(),
                one.name.to_owned(),
                one.addressing.to_string(),
                format!("VC {}", one.vc),
                hops,
            ]);
        };
        let all = found.complete || found.refused.is_some();
        found.routes.into_iter().for_each(&mut row);
        if !all {
            row(format!("more than {MAX_ROUTES} routes"));
        }
        found.discarded.iter().for_each(|why| row(format!("discarded: {why}")));
        found.refused.iter().for_each(|why| row(format!("refused by spfe sim: {why}")));
    }
    if !rows.is_empty() {
        let _ = write!(out, "\n{}", table(&["", "TRAFFIC", "ADDRESSING", "", "ROUTE"], 5, &rows));
    }
    out
}

fn document(scenario: &Scenario) -> serde_json::Value {
    let routes: Vec<serde_json::Value> = traffic(scenario)
        .iter()
        .map(|one| {
            let found = one.routes(scenario);
            json!({
                "kind": one.kind,
                "name": one.name,
                "vc": one.vc,
                "route": one.addressing.to_string(),
                "ways": found.routes,
                "discarded": found.discarded,
                "refused": found.refused,
            })
        })
        .collect();
    let links = scenario.links.iter().map(|link| {
        json!({
            "name": link.name,
            "ends": [link.ends[0].to_string(), link.ends[1].to_string()],
            "kind": if link.is_spacewire() { "spacewire" } else { "spacefibre" },
            "lanes": link.lanes(),
            "rate_bps": link.rate.0,
            "channels": link.channels(),
            "cable_ps": link.cable.0,
        })
    });
    json!({
        "title": scenario.title,
        "units": tables::units(scenario),
        "tables": tables::entries(scenario),
        "links": links.collect::<Vec<_>>(),
        "routes": routes,
    })
}

fn dot(scenario: &Scenario) -> String {
    let diagram = Diagram::of(scenario);
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out =
        format!("graph {} {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(&scenario.title));
    for (index, vertex) in diagram.vertices.iter().enumerate() {
        let shape = if vertex.kind == VertexKind::Router { ", shape=octagon" } else { "" };
        let label = quoted(&vertex.name);
        let _ = writeln!(out, "  u{index} [label={label}{shape}];");
    }
    for edge in &diagram.edges {
        let [(a, from), (b, to)] = edge.ends;
        let width = if edge.thin { 1 } else { 1 + edge.lanes };
        let label = quoted(&format!("{}: {}", edge.name, edge.label));
        let _ = writeln!(
            out,
            "  u{a} -- u{b} [label={label}, taillabel=\"{from}\", headlabel=\"{to}\", penwidth={width}];"
        );
    }
    out.push_str("}\n");
    out
}
