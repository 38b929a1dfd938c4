//! Simulates a scenario and prints how long that took, compared with its links alone without
//! packets.
//!
//! `cargo run --release -p spfe-sim --example network -- FILE.toml [DURATION]`

use spfe_sim::link::NoObserver;
use spfe_sim::scenario::{Scenario, Time};
use spfe_sim::simulation::Simulation;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("give a scenario file")?;
    let mut scenario = Scenario::parse(&std::fs::read_to_string(file)?)?;
    if let Some(duration) = arguments.next() {
        scenario.duration = duration.parse::<Time>()?;
    }
    let mut simulation = Simulation::new(&scenario)?;
    let start = Instant::now();
    simulation.run(scenario.duration.0, &mut NoObserver);
    let seconds = start.elapsed().as_secs_f64();
    let results = simulation.results();
    for flow in &results.flows {
        println!(
            "{:20} {:>9} offered {:>9} delivered {:>6} cut {:>6} in flight {:>9.3} Mbit/s p50 {:>7} ns {:?}",
            flow.name,
            flow.offered.packets,
            flow.delivered.packets,
            flow.truncated.packets,
            flow.in_flight.packets,
            flow.goodput_bps / 1e6,
            flow.latency.p50_ps / 1000,
            flow.dropped,
        );
    }
    for rmap in &results.rmaps {
        println!(
            "{:20} {:>9} commands {:>7} succeeded {:>4} timed out {:?} p50 {} ns",
            rmap.name,
            rmap.commands,
            rmap.succeeded,
            rmap.timed_out,
            rmap.failed,
            rmap.latency.p50_ps / 1000
        );
    }
    for of in &results.broadcasts {
        println!(
            "{:20} {:>9} sent {:>9} received {:>4} refused",
            of.name, of.sent, of.received, of.refused
        );
    }
    for router in &results.routers {
        println!("{:20} {:?} {:?}", router.name, router.counters, router.drops);
    }
    let conservation = &results.conservation;
    println!(
        "kept {} of {} packets: {:#?}",
        conservation.kept,
        conservation.packets,
        conservation.violations.iter().take(9).collect::<Vec<_>>()
    );
    let words = results.words as f64;
    println!("{words} words in {seconds:.3} s: {:.1} ns a word", seconds * 1e9 / words);
    Ok(())
}
