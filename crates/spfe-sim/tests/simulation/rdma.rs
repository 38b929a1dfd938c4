//! RDMA between nodes: targets, queue pairs, hostile links and faults of words.

use super::{memory_network, simulate};
use spfe_sim::link::NoObserver;
use spfe_sim::results::{RdmaResults, Results};
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;

/// Regions of the memory.
const REGIONS: &str = r#"
    rdma = { region = [
        { name = "data", size = "256K", base = 0x1000 },
        { name = "words", size = 64 },
        { name = "rom", size = "8K", rights = "r" },
    ] }
"#;

/// A processor and a memory, with keys of the processor's link and operations.
fn network(link: &str, operations: &str) -> String {
    memory_network(REGIONS, "", link, operations)
}

/// Operations of every kind. Writes and reads take several packets.
const ALL: &str = r#"
    [[rdma]]
    name = "write"
    from = "cpu"
    to = "mem"
    operation = "write"
    size = { min = 1, max = "6KiB" }
    group = 3
    outstanding = 6
    timeout = "60us"
    retries = 8
    start = "20us"
    count = 40
    [[rdma]]
    name = "read"
    from = "cpu"
    to = "mem"
    operation = "read"
    address = 0x30000
    size = 5000
    outstanding = 2
    timeout = "60us"
    retries = 8
    start = "20us"
    count = 30
    [[rdma]]
    name = "send"
    from = "cpu"
    to = "mem"
    operation = "send"
    size = 300
    rate = "200M"
    outstanding = 4
    buffers = 2
    timeout = "60us"
    retries = 8
    start = "20us"
    count = 30
    [[rdma]]
    name = "atomic"
    from = "cpu"
    to = "mem"
    operation = "atomic"
    region = "words"
    address = 8
    period = "10us"
    timeout = "60us"
    retries = 8
    start = "20us"
    count = 20
"#;

/// That each operation completed once, with OK, as often as its traffic says.
fn all_complete(results: &Results) {
    let complete = |of: &RdmaResults| (of.posted, of.completed, of.outstanding, of.mismatches);
    for (of, count) in results.rdmas.iter().zip([40, 30, 30, 20]) {
        assert_eq!(complete(of), (count, count, 0, 0), "{of:?}");
        assert!(of.failed.is_empty() && of.latency.count == count, "{of:?}");
    }
}

fn resent(results: &Results) -> u64 {
    results.rdmas.iter().map(|of| of.resent).sum()
}

#[test]
fn operations_reach_the_memory() {
    let results = simulate(&network("", ALL));
    all_complete(&results);
    assert_eq!(resent(&results), 0);
    let counters = &results.nodes[1].counters;
    assert_eq!((counters["RDMA sends"], counters["RDMA fetch_adds"]), (30, 20));
    // 5000 bytes are two packets of the answer; the groups ask for one acknowledgement each.
    assert_eq!(results.rdmas[1].bytes, 30 * 5000);
    assert!(results.rdmas[1].goodput_bps > 1e8, "{:?}", results.rdmas[1]);
    assert!(results.hostile.is_empty());
}

#[test]
fn every_operation_completes_once_over_a_hostile_link() {
    for hostile in [
        "drop=0.05",
        "duplicate=0.1",
        "reorder=0.1,time=5us",
        "delay=0.05,time=20us",
        "damage=0.05",
        "cut=0.05",
        "drop=0.01,duplicate=0.01,reorder=0.01,delay=0.01,damage=0.01,cut=0.01,time=5us",
    ] {
        let text = network(&format!("hostile = \"{hostile}\""), ALL);
        let results = simulate(&text.replace("\"1ms\"", "\"20ms\""));
        all_complete(&results);
        let [there, back] = &results.hostile[..] else { panic!("{:?}", results.hostile) };
        assert_eq!((there.from.as_str(), back.from.as_str()), ("cpu:1", "r:1"));
        for of in [there, back] {
            let met = [of.dropped, of.duplicated, of.reordered, of.delayed, of.damaged, of.cut];
            assert!(of.packets > 100 && met.iter().sum::<u64>() > 0, "{of:?}");
        }
        let lost = there.dropped + there.damaged + there.cut;
        assert!(lost == 0 || resent(&results) > 0, "{hostile}: {:?}", results.rdmas);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = network("hostile = \"drop=0.05,reorder=0.05\"", ALL);
    let run = |seed| {
        let mut scenario = Scenario::parse(&text).unwrap();
        scenario.seed = seed;
        let mut simulation = Simulation::new(&scenario).unwrap();
        simulation.run(scenario.duration.0, &mut NoObserver);
        simulation.results()
    };
    let (first, again, other) = (run(3), run(3), run(4));
    assert_eq!((&first.rdmas, &first.hostile), (&again.rdmas, &again.hostile));
    assert_ne!(first.hostile, other.hostile);
}

#[test]
fn faults_of_words_lose_no_operation() {
    let faults = r#"
        [[fault]]
        what = "bit-errors"
        link = "mem"
        rate = 1e-5
        from = "20us"
        until = "2ms"
        [[fault]]
        what = "link-reset"
        link = "mem"
        end = "a"
        every = "150us"
        from = "50us"
        count = 6
        [[fault]]
        what = "cut"
        link = "cpu"
        duration = "5us"
        every = "300us"
        from = "100us"
        count = 3
    "#;
    let text = network("", &format!("{ALL}{faults}"));
    let results = simulate(&text.replace("\"1ms\"", "\"20ms\""));
    all_complete(&results);
    assert!(resent(&results) > 0, "{:?}", results.rdmas);
}

#[test]
fn refusals_and_lost_links_are_errors_and_not_violations() {
    let results = simulate(&network(
        "",
        r#"
        [[rdma]]
        name = "rom"
        from = "cpu"
        to = "mem"
        operation = "write"
        region = "rom"
        size = 100
        outstanding = 2
        start = "20us"
        count = 4
        [[rdma]]
        name = "key"
        from = "cpu"
        to = "mem"
        operation = "read"
        key = 1
        start = "20us"
        count = 1
        "#,
    ));
    let [rom, key] = &results.rdmas[..] else { panic!("{:?}", results.rdmas) };
    assert_eq!((rom.posted, rom.completed, rom.failed.values().sum::<u64>()), (4, 0, 4));
    assert!(rom.failed.keys().any(|text| text.contains("not executed")), "{:?}", rom.failed);
    assert_eq!((key.completed, key.failed.len()), (0, 1), "{:?}", key.failed);

    let text = network("hostile = \"drop=1\"", ALL).replace("\"1ms\"", "\"200ms\"");
    let text = text.replace("retries = 8", "retries = 1");
    let results = simulate(&text);
    for of in &results.rdmas {
        assert_eq!((of.completed, of.outstanding, of.mismatches), (0, 0, 0), "{of:?}");
        assert_eq!(of.failed.values().sum::<u64>(), of.posted, "{of:?}");
    }
}

#[test]
fn spacewire_links_carry_it_too() {
    let text = network("spacewire = {}", ALL)
        .replace("ends = [\"mem\", \"r:2\"]", "ends = [\"mem\", \"r:2\"]\nspacewire = {}");
    let text = text.replace("\"60us\"", "\"20ms\"").replace("\"1ms\"", "\"60ms\"");
    let results = simulate(&text);
    all_complete(&results);
}
