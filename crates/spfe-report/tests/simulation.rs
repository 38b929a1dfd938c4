//! Pages and tables of simulations.

#[path = "common/simulation.rs"]
mod sample;

use spfe_report::diagram::{self, Diagram};
use spfe_report::simulation;
use spfe_sim::results::{Conservation, Results};

#[test]
fn show() {
    let results = sample::results();
    std::fs::write(
        "/tmp/draw-scenario/page.html",
        simulation::html(&results, &Diagram::of(&sample::scenario())),
    )
    .unwrap();
    std::fs::write("/tmp/draw-scenario/page.txt", simulation::text(&results)).unwrap();
    let _ = (Conservation::default(), diagram::document(&Diagram::default()), Results::default());
}
