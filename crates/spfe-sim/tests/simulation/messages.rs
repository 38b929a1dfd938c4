//! Broadcast messages and time-codes.

use super::simulate;
use spfe_sim::link::NoObserver;
use spfe_sim::results::Results;
use spfe_sim::scenario::Scenario;
use spfe_sim::simulation::Simulation;

/// Three routers in a ring, each with a node, so that messages could circulate.
const RING: &str = r#"
    title = "ring"
    duration = "300us"
    node = [{ name = "a" }, { name = "b" }, { name = "c" }]
    router = [{ name = "r", ports = 3 }, { name = "s", ports = 3 }, { name = "t", ports = 3 }]
    link = [
        { name = "a", ends = ["a", "r:1"] },
        { name = "b", ends = ["b", "s:1"] },
        { name = "c", ends = ["c", "t:1"] },
        { name = "rs", ends = ["r:2", "s:3"] },
        { name = "st", ends = ["s:2", "t:3"] },
        { name = "tr", ends = ["t:2", "r:3"] },
    ]
"#;

#[test]
fn each_message_reaches_each_node_once_despite_loops() {
    let results = simulate(&format!(
        "{RING}\n[[broadcast]]\nname = 'm'\nfrom = 'a'\nchannel = 7\ntype = 3\nperiod = '5us'\nstart = '30us'\ncount = 40\n"
    ));
    let of = &results.broadcasts[0];
    assert_eq!((of.sent, of.refused, of.received), (40, 0, 80));
    let copies: u64 =
        results.routers.iter().map(|router| router.counters["broadcast copies discarded"]).sum();
    assert!(copies >= 40, "{copies} copies");
    assert!(of.latency.max_ps < 5_000_000, "{:?}", of.latency);
}

#[test]
fn time_codes_travel_as_broadcast_messages() {
    let results = simulate(&format!(
        "{RING}\n[time-codes]\nmaster = 'b'\nchannel = 1\ntype = 9\nperiod = '10us'\nstart = '30us'\ncount = 20\n"
    ));
    let of = &results.broadcasts[0];
    assert_eq!((of.name.as_str(), of.sent, of.received), ("time-codes", 20, 40));
}

#[test]
fn time_codes_pass_between_spacefibre_and_spacewire() {
    let results = simulate(
        r#"
        title = "bridge"
        duration = "600us"
        node = [{ name = "a" }, { name = "b" }, { name = "c" }]
        router = [{ name = "r", ports = 3 }]
        link = [
            { name = "a", ends = ["a", "r:1"], spacewire = {}, rate = "100M" },
            { name = "b", ends = ["b", "r:2"], spacewire = {}, rate = "100M" },
            { name = "c", ends = ["c", "r:3"] },
        ]
        time-codes = { master = "a", channel = 1, type = 9, period = "20us", start = "100us", count = 20 }
        "#,
    );
    assert_eq!((results.broadcasts[0].sent, results.broadcasts[0].received), (20, 40));
}

/// Two sources, and a third node that hears both. A message that reaches a router's output port
/// while another one is being sent is marked DELAYED; others are not.
#[test]
fn a_router_marks_messages_that_wait() {
    let simulate = |second: &str| {
        simulate(&format!(
            r#"
            title = "two sources"
            duration = "300us"
            node = [{{ name = "a" }}, {{ name = "b" }}, {{ name = "c" }}]
            router = [{{ name = "r", ports = 3 }}]
            link = [
                {{ name = "a", ends = ["a", "r:1"] }},
                {{ name = "b", ends = ["b", "r:2"] }},
                {{ name = "c", ends = ["c", "r:3"] }},
            ]
            [[broadcast]]
            name = "first"
            from = "a"
            channel = 1
            period = "10us"
            start = "30us"
            count = 20
            [[broadcast]]
            name = "second"
            from = "b"
            channel = 2
            period = "10us"
            start = "{second}"
            count = 20
            "#
        ))
    };
    let apart = simulate("35us");
    for of in &apart.broadcasts {
        assert_eq!((of.received, of.delayed, of.late), (40, 0, 0), "{}", of.name);
    }
    let together = simulate("30us");
    let delayed: u64 = together.broadcasts.iter().map(|of| of.delayed).sum();
    // Only towards c: the paths between a and b are free.
    assert_eq!(delayed, 20);
    assert!(together.broadcasts.iter().all(|of| (of.received, of.late) == (40, 0)));
}

/// Time-codes from SpaceWire that wait for broadcast bandwidth credit are marked DELAYED.
#[test]
fn time_codes_that_wait_are_delayed() {
    let results = simulate(
        r#"
        title = "bridge"
        duration = "600us"
        node = [{ name = "a" }, { name = "b" }]
        router = [{ name = "r", ports = 2 }]
        link = [
            { name = "a", ends = ["a", "r:1"], spacewire = {}, rate = "100M" },
            { name = "b", ends = ["b", "r:2"], spacefibre = { broadcast-bandwidth = 0.001 } },
        ]
        time-codes = { master = "a", channel = 1, type = 9, period = "10us", start = "100us", count = 20 }
        "#,
    );
    let of = &results.broadcasts[0];
    assert_eq!((of.sent, of.received, of.late), (20, 20, 0));
    // Credit accumulates during the first 100 us and suffices for a few; then one is available
    // every 26 us and each time-code waits.
    assert!((10..20).contains(&of.delayed), "{} delayed", of.delayed);
}

/// Two trunks, one of them cut: the copy of a message that waits there comes after the routers have
/// forgotten the message.
fn storm(timeout: &str) -> Results {
    let text = format!(
        r#"
        title = "storm"
        duration = "5ms"
        node = [{{ name = "clock" }}, {{ name = "camera" }}]
        router = [
            {{ name = "r", ports = 3, broadcast-timeout = "{timeout}" }},
            {{ name = "s", ports = 3, broadcast-timeout = "{timeout}" }},
        ]
        link = [
            {{ name = "a", ends = ["clock", "r:1"], rate = "500M" }},
            {{ name = "b", ends = ["camera", "s:1"], rate = "500M" }},
            {{ name = "one", ends = ["r:2", "s:2"], rate = "500M" }},
            {{ name = "two", ends = ["r:3", "s:3"], rate = "500M" }},
        ]
        broadcast = [{{ name = "tick", from = "clock", channel = 7, period = "300us", start = "1ms", count = 3 }}]
        fault = [{{ what = "cut", link = "two", at = "900us", duration = "2ms" }}]
        "#
    );
    let scenario = Scenario::parse(&text).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    simulation.run(scenario.duration.0, &mut NoObserver);
    simulation.results()
}

#[test]
fn a_circulating_message_is_reported_once_with_its_remedy() {
    let results = storm("20us");
    let violations = &results.conservation.violations;
    assert_eq!((violations.len(), results.conservation.left_out), (1, 0), "{violations:?}");
    assert!(violations[0].contains("tick: message 0 reached node 'c"), "{violations:?}");
    assert!(violations[0].contains("Set broadcast-timeout above"), "{violations:?}");
    let cut = results.events.iter().find(|event| event.text.contains("cut for")).unwrap();
    assert_eq!((cut.link_name.as_deref(), cut.end_name.as_deref()), (Some("two"), Some("r:3")));
}

#[test]
fn a_broadcast_timeout_longer_than_the_cut_keeps_copies_out() {
    let results = storm("4ms");
    assert!(results.conservation.kept, "{:?}", results.conservation.violations);
    assert_eq!(results.broadcasts[0].received, 3);
}
