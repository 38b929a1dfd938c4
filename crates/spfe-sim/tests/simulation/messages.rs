//! Broadcast messages and time-codes.

use super::simulate;

/// Three routers in a ring, each with a node: messages can go round.
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
fn each_message_comes_once_to_each_node_in_spite_of_loops() {
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
fn time_codes_go_round_as_messages() {
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
