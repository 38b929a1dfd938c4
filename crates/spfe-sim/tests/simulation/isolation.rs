//! Virtual networks do not delay each other, and a babbling node takes no bandwidth from others.

use super::{flow, simulate, words};
use spfe_sim::results::Results;

/// Two sources and two sinks on two routers, with one link between them that carries all four
/// channels.
fn network(traffic: &str) -> String {
    let link = |name: &str, ends: &str| {
        format!(
            r#"
            [[link]]
            name = "{name}"
            ends = {ends}
            spacefibre = {{ channels = 4, qos = [
                {{ vc = 1, bandwidth = "30%" }}, {{ vc = 2, bandwidth = "30%" }}, {{ vc = 3, bandwidth = "30%" }} ] }}
            "#
        )
    };
    let head = r#"
        title = "two routers"
        duration = "200us"
        node = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
        router = [{ name = "r", ports = 3 }, { name = "s", ports = 3 }]
    "#;
    let parts = [
        head.to_string(),
        link("a", r#"["a", "r:1"]"#),
        link("b", r#"["b", "r:2"]"#),
        link("rs", r#"["r:3", "s:3"]"#),
        link("c", r#"["c", "s:1"]"#),
        link("d", r#"["d", "s:2"]"#),
        traffic.to_string(),
    ];
    parts.concat()
}

fn of(name: &str, from: &str, to: &str, vc: u8, rate: &str) -> String {
    format!(
        "\n[[flow]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nvc = {vc}\nsize = 1000\nrate = '{rate}'\n"
    )
}

#[test]
fn a_blocked_receiver_delays_only_its_own_virtual_network() {
    let flows = [
        of("blocked", "a", "c", 1, "saturate"),
        of("same-network", "b", "d", 1, "500M"),
        of("other", "a", "c", 2, "1G"),
        of("another", "b", "d", 3, "1G"),
    ];
    let fault = "\n[[fault]]\nwhat = 'blocked-receiver'\nnode = 'c'\nvc = 1\nfrom = '50us'\n";
    let results = simulate(&network(&[&flows.concat(), fault].concat()));
    // All traffic of the blocked network stands still from 100 us on.
    let late = |name: &str| flow(&results, name).series[50..].iter().sum::<u64>();
    assert_eq!((late("blocked"), late("same-network")), (0, 0));
    for name in ["other", "another"] {
        let bits = late(name) as f64 * 8.0;
        assert!((bits / 100_000.0 - 1.0).abs() < 0.1, "{name}: {bits} in 100 us");
    }
}

/// A network that is blocked forever costs another network on the same links no bandwidth.
#[test]
fn a_blocked_virtual_network_leaves_others_the_full_rate() {
    let full = of("full", "a", "c", 2, "saturate");
    let blocked = [
        of("blocked", "a", "c", 1, "saturate"),
        of("too", "b", "c", 1, "saturate"),
        "\n[[fault]]\nwhat = 'blocked-receiver'\nnode = 'c'\nvc = 1\n".to_string(),
    ];
    // The blocked network stands still by then.
    // The last 400 us of 800: a step may end before or behind a segment of 64 words.
    let late = |results: &Results| words(results, "rs", 50..100) as f64 * 32.0 / 400.0;
    let network = |traffic: &str| network(traffic).replace("200us", "800us");
    let alone = late(&simulate(&network(&full)));
    let beside = simulate(&network(&[full, blocked.concat()].concat()));
    assert_eq!(flow(&beside, "blocked").delivered.packets, 0);
    assert!(flow(&beside, "blocked").in_flight.packets > 0);
    // A switch begins a packet in the step after the last one ends.
    assert!((0.975..1.0).contains(&(alone / (0.7640 * 6250.0))), "{alone} Mbit/s");
    assert!((late(&beside) / alone - 1.0).abs() < 0.002, "{} of {alone} Mbit/s", late(&beside));
}

#[test]
fn a_babbling_channel_takes_no_bandwidth_from_others() {
    let flows = [
        of("babbler", "a", "c", 1, "10M"),
        of("other", "a", "c", 2, "1.3G"),
        of("another", "b", "d", 3, "1.3G"),
    ];
    let quiet = simulate(&network(&flows.concat()));
    let fault = "\n[[fault]]\nwhat = 'babble'\nflow = 'babbler'\nfrom = '60us'\n";
    let loud = simulate(&network(&[&flows.concat(), fault].concat()));
    assert!(flow(&loud, "babbler").delivered.packets > flow(&quiet, "babbler").delivered.packets);
    for name in ["other", "another"] {
        let packets = [&quiet, &loud].map(|results| flow(results, name).delivered.packets);
        assert!(packets[0].abs_diff(packets[1]) <= 2, "{name}: {packets:?}");
    }
}
