//! How the cost of simulating a network grows with its size.
//!
//! `network_speed SHAPE [SIZE [MICROSECONDS [THREADS]]]` simulates one network and prints what it took:
//!
//! | shape | network |
//! | --- | --- |
//! | pairs | SIZE nodes, each two with a link, saturated both ways |
//! | tree | SIZE nodes, eight at each router, the routers around another one; each node sends as much as it can to one at another router |
//! | idle | two nodes with a saturated link, and SIZE links beside it on which nothing happens |
//! | flows | SIZE streams of packets between two nodes |
//!
//! All links have one lane of 6.25 Gbit/s, but those between routers, which have four; packets have
//! 1 KiB.

use spfe_sim::link::NoObserver;
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;
use std::fmt::Write;
use std::time::Instant;

/// Most nodes at a router of a tree.
const LEAVES: usize = 8;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let shape = arguments.next().unwrap_or_else(|| "pairs".to_owned());
    let mut numbers = arguments.map(|text| text.parse().expect("a whole number"));
    let size = numbers.next().unwrap_or(8);
    let microseconds = numbers.next().unwrap_or(200);
    let threads = numbers.next().unwrap_or(1);
    let begun = Instant::now();
    let scenario = Scenario::parse(&network(&shape, size, microseconds)).expect("a network");
    let mut simulation = Simulation::new(&scenario).expect("a simulation");
    let threads = simulation.set_threads(threads);
    let start = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    simulation.run(scenario.duration.0, &mut NoObserver);
    let took = begun.elapsed().as_secs_f64();
    let results = simulation.results();
    assert!(results.conservation.kept, "{:?}", results.conservation);
    println!(
        "{shape} {size}, threads {threads}: start {start:.3} s, {} words in {took:.3} s, {:.1} Mword/s, {} packets, {:.0} \
         times slower than real time, {} MiB",
        results.words,
        results.words as f64 / took / 1e6,
        results.conservation.packets,
        took / (microseconds as f64 / 1e6),
        peak_kib() / 1024,
    );
}

/// The scenario of a network.
fn network(shape: &str, size: usize, microseconds: usize) -> String {
    let mut text = format!("title = '{shape} of {size}'\nduration = '{microseconds}us'\n");
    match shape {
        "pairs" => (0..size / 2).for_each(|pair| saturated(&mut text, pair)),
        "tree" => tree(&mut text, size),
        "idle" => {
            saturated(&mut text, 0);
            for pair in 1..=size {
                connected(&mut text, &format!("a{pair}"), &format!("b{pair}"), 1);
            }
        }
        "flows" => {
            connected(&mut text, "a", "b", 1);
            (0..size).for_each(|number| stream(&mut text, number, "a", "b"));
        }
        _ => panic!("no shape '{shape}': pairs, tree, idle or flows"),
    }
    text
}

fn saturated(text: &mut String, pair: usize) {
    let (a, b) = (format!("a{pair}"), format!("b{pair}"));
    connected(text, &a, &b, 1);
    stream(text, 2 * pair, &a, &b);
    stream(text, 2 * pair + 1, &b, &a);
}

fn tree(text: &mut String, size: usize) {
    let leaves = LEAVES.min(size / 2);
    let routers = size.div_ceil(leaves);
    add(text, &format!("[[router]]\nname = 'top'\nports = {routers}\n"));
    for router in 0..routers {
        add(text, &format!("[[router]]\nname = 'r{router}'\nports = {}\n", leaves + 1));
        link(text, &format!("r{router}:{}", leaves + 1), &format!("top:{}", router + 1), 4);
    }
    for node in 0..size {
        add(text, &format!("[[node]]\nname = 'n{node}'\n"));
        link(text, &format!("n{node}"), &format!("r{}:{}", node / leaves, node % leaves + 1), 1);
        stream(text, node, &format!("n{node}"), &format!("n{}", (node + leaves) % size));
    }
}

/// Two nodes with a link.
fn connected(text: &mut String, a: &str, b: &str, lanes: u32) {
    add(text, &format!("[[node]]\nname = '{a}'\n[[node]]\nname = '{b}'\n"));
    link(text, a, b, lanes);
}

fn link(text: &mut String, a: &str, b: &str, lanes: u32) {
    let name = format!("{a}-{b}").replace(':', ".");
    let ends = format!("name = '{name}'\nends = ['{a}', '{b}']\n");
    add(text, &format!("[[link]]\n{ends}rate = '6.25G'\nspacefibre = {{ lanes = {lanes} }}\n"));
}

fn stream(text: &mut String, number: usize, from: &str, to: &str) {
    let ends = format!("name = 's{number}'\nfrom = '{from}'\nto = ['{to}']\n");
    add(text, &format!("[[flow]]\n{ends}size = '1KiB'\n"));
}

fn add(text: &mut String, more: &str) {
    text.write_str(more).expect("memory for a string");
}

/// Most memory that this process has had, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
