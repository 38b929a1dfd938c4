//! The page of a simulation: its network, the traffic of links over time, latencies, errors and
//! recoveries, and whether every packet is accounted for.

mod area;
mod axis;
mod bars;
mod grid;
mod head;
mod links;
mod rdma;
mod tables;
mod text;
mod timeline;

pub use text::text;

use crate::diagram::{self, Diagram};
use crate::markup;
use spfe_sim::results::Results;

/// Renders the results as one HTML page. `diagram` is that of the scenario.
#[must_use]
pub fn html(results: &Results, diagram: &Diagram) -> String {
    let mut out = head::header(results);
    out.push_str("<main>\n<section id=\"network\">\n<h2>Network</h2>\n<figure class=\"wide\">\n");
    out.push_str(&diagram::svg(diagram, "topology"));
    out.push_str(
        "<figcaption>Green: sources. Violet: routers. Width: lanes; orange: SpaceWire. \
         Small numbers: ports.</figcaption>\n</figure>\n</section>\n",
    );
    out.push_str(&tables::flows(results));
    for index in 0..results.links.len() {
        out.push_str(&links::section(results, index));
    }
    out.push_str(&tables::units(results));
    out.push_str(&tables::faults(results));
    out.push_str(&tables::events(results));
    out.push_str(&head::definitions());
    out.push_str("</main>\n");
    markup::page(&format!("{}: spfe simulation", results.title), "", &out)
}
