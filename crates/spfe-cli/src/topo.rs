//! `spfe topo`: the network of a scenario as text, as a drawing, as a graph, and the ways through it.

use crate::context::Context;
use crate::error::Failure;
use crate::output::{plural, printable, table};
use crate::scenario;
use clap::Args;
use serde_json::json;
use spfe_report::diagram::{self, Diagram, Kind};
use spfe_sim::scenario::way::{Reach, Way, Ways};
use spfe_sim::scenario::{Place, Route, Scenario, Time, Unit};
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
    /// Print it as a graph for Graphviz.
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    dot: bool,
}

/// Shows it.
pub fn run(args: &TopoArgs, context: &Context) -> Result<(), Failure> {
    let scenario = scenario::read(&args.file)?.scenario;
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

/// Traffic with a way: its kind, name, where from, channel, route and where to.
struct Traffic<'a> {
    kind: &'static str,
    name: &'a str,
    from: &'a Place,
    vc: u8,
    route: &'a Route,
    to: &'a [Place],
}

impl Traffic<'_> {
    fn reach(&self, ways: &Ways<'_>) -> Reach {
        self.to
            .first()
            .map_or_else(Reach::default, |to| ways.follow(self.from, self.vc, self.route, to))
    }
}

fn traffic(scenario: &Scenario) -> Vec<Traffic<'_>> {
    let flows = scenario.flows.iter().map(|flow| Traffic {
        kind: "flow",
        name: &flow.name,
        from: &flow.from,
        vc: flow.vc,
        route: &flow.route,
        to: &flow.to,
    });
    let rmaps = scenario.rmaps.iter().map(|rmap| Traffic {
        kind: "rmap",
        name: &rmap.name,
        from: &rmap.from,
        vc: rmap.vc,
        route: &rmap.route,
        to: std::slice::from_ref(&rmap.to),
    });
    flows.chain(rmaps).collect()
}

/// A way in words: `camera:1 > front 1>4 > back 4>1 > memory:1`.
fn words(scenario: &Scenario, from: &Place, way: &Way) -> String {
    let mut out = from.to_string();
    for hop in &way.hops {
        let name = scenario.name_of(Unit::Router(hop.router));
        let _ = write!(out, " > {name} {}>{}", hop.input, hop.output);
    }
    if let (Unit::Node(_), port) = way.to {
        let _ = write!(out, " > {}:{port}", scenario.name_of(way.to.0));
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
    let ways = Ways::new(scenario);
    let mut rows = Vec::new();
    for one in traffic(scenario) {
        let reach = one.reach(&ways);
        let mut row = |way: String| {
            rows.push(vec![
                one.kind.to_owned(),
                one.name.to_owned(),
                one.route.to_string(),
                format!("VC {}", one.vc),
                way,
            ]);
        };
        reach.ways.iter().for_each(|way| row(words(scenario, one.from, way)));
        reach.dead_ends.iter().for_each(|why| row(format!("discarded: {why}")));
    }
    if !rows.is_empty() {
        let _ = write!(out, "\n{}", table(&["", "TRAFFIC", "ROUTE", "", "WAY"], 5, &rows));
    }
    out
}

fn document(scenario: &Scenario) -> serde_json::Value {
    let ways = Ways::new(scenario);
    let routes: Vec<serde_json::Value> = traffic(scenario)
        .iter()
        .map(|one| {
            let reach = one.reach(&ways);
            let found = reach.ways.iter().map(|way| words(scenario, one.from, way));
            json!({
                "kind": one.kind,
                "name": one.name,
                "vc": one.vc,
                "route": one.route.to_string(),
                "ways": found.collect::<Vec<_>>(),
                "discarded": reach.dead_ends,
            })
        })
        .collect();
    let diagram = Diagram::of(scenario);
    let units =
        diagram.vertices.iter().map(|vertex| json!({ "name": vertex.name, "kind": vertex.about }));
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
        "units": units.collect::<Vec<_>>(),
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
        let shape = if vertex.kind == Kind::Router { ", shape=octagon" } else { "" };
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
