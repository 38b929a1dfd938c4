//! Faults have their effect and no other.

use super::{flow, run, simulate};
use fastrand::Rng;
use spfe_sim::scenario::Scenario;

const HEAD: &str = "title = 'faults'\nduration = '300us'\nnode = [{ name = 'a' }, { name = 'b' }, { name = 'c' }]\n";
const LINKS: &str = "link = [\n{ name = 'a', ends = ['a', 'r:1'] },\n{ name = 'b', ends = ['b', 'r:2'] },\n{ name = 'c', ends = ['c', 'r:3'] },\n]\n";

fn of(name: &str, from: &str, to: &str, vc: u8, more: &str) -> String {
    format!("\n[[flow]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nvc = {vc}\n{more}\n")
}

#[test]
fn a_link_reset_explains_the_packets_it_costs() {
    let router = "router = [{ name = 'r', ports = 3 }]\n";
    let flows = of("f", "a", "b", 1, "size = 2000\nrate = 'saturate'");
    let others = of("g", "c", "b", 2, "size = 300\nrate = '500M'");
    let fault = "\n[[fault]]\nwhat = 'link-reset'\nlink = 'a'\nend = 'b'\nat = '100us'\n\
                 [[fault]]\nwhat = 'interface-reset'\nlink = 'b'\nend = 'a'\nat = '180us'\n";
    let parts = [HEAD, router, LINKS, &flows, &others, fault].concat();
    let results = simulate(&parts);
    let f = flow(&results, "f");
    let lost: u64 = f.dropped.iter().map(|drop| drop.packets).sum();
    assert!(f.truncated.packets + lost > 0, "{f:?}");
    assert!(f.dropped.iter().all(|drop| drop.reason == "link reset"), "{:?}", f.dropped);
    assert_eq!(
        f.offered.packets,
        f.delivered.packets + f.truncated.packets + lost + f.in_flight.packets
    );
    // Traffic continues after the resets.
    assert!(f.series[90..].iter().sum::<u64>() > 0);
    assert_eq!((results.faults[0].times, results.faults[1].times), (1, 1));
}

#[test]
fn time_outs_truncate_and_discard_packets() {
    let router =
        "router = [{ name = 'r', ports = 3, packet-timeout = '20us', wait-timeout = '30us' }]\n";
    let flows = [
        of("f", "a", "b", 1, "size = 20000\nrate = '2G'"),
        of("g", "c", "b", 1, "size = 500\nrate = '100M'"),
        of("nowhere", "c", "b", 2, "size = 100\nperiod = '20us'\nroute = [9]"),
    ];
    let fault = "\n[[fault]]\nwhat = 'blocked-receiver'\nnode = 'b'\nvc = 1\nfrom = '80us'\nuntil = '200us'\n";
    let results = simulate(&[HEAD, router, LINKS, &flows.concat(), fault].concat());
    let reasons: Vec<_> =
        results.routers[0].drops.iter().map(|drop| drop.reason.as_str()).collect();
    assert!(
        reasons.contains(&"packet time-out") && reasons.contains(&"no such port"),
        "{reasons:?}"
    );
    let nowhere = flow(&results, "nowhere");
    assert_eq!(
        (nowhere.delivered.packets, nowhere.dropped[0].reason.as_str()),
        (0, "no such port")
    );
    let f = flow(&results, "f");
    assert!(f.truncated.packets > 0, "{f:?}");
    assert!(f.series[85..].iter().sum::<u64>() > 0, "it goes on: {f:?}");
}

#[test]
fn a_failed_spacewire_link_truncates_packets_with_eep() {
    let text = r#"
        title = "spacewire"
        duration = "2ms"
        node = [{ name = "a" }, { name = "b" }]
        router = [{ name = "r", ports = 2 }]
        link = [
            { name = "a", ends = ["a", "r:1"], spacewire = {}, rate = "100M" },
            { name = "b", ends = ["b", "r:2"] },
        ]
        [[flow]]
        name = "f"
        from = "a"
        to = "b"
        size = 500
        rate = "saturate"
        [[flow]]
        name = "g"
        from = "b"
        to = "a"
        size = { min = 12, max = 700 }
        rate = "40M"
        [[fault]]
        what = "cut"
        link = "a"
        duration = "2us"
        every = "300us"
        from = "200us"
    "#;
    let results = simulate(text);
    let f = flow(&results, "f");
    assert!(f.truncated.packets > 0 && f.delivered.packets > 10, "{f:?}");
    assert!(results.faults[0].times >= 5);
}

/// A random tree of routers with nodes, random traffic, and random faults on all links.
fn random(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let routers = rng.u64(1..=3);
    let mut used = vec![0u64; routers as usize];
    let mut port = |router: u64| {
        used[router as usize] += 1;
        format!("r{router}:{}", used[router as usize])
    };
    let mut links = Vec::new();
    for router in 1..routers {
        let before = rng.u64(..router);
        links.push((port(before), port(router)));
    }
    let nodes = rng.u64(2..=5);
    for node in 0..nodes {
        let router = rng.u64(..routers);
        links.push((format!("n{node}"), port(router)));
    }
    let mut text = format!("title = 'random {seed}'\nduration = '150us'\nseed = {seed}\n");
    for node in 0..nodes {
        text += &format!("[[node]]\nname = 'n{node}'\nlogical-address = {}\n", 40 + node);
    }
    for router in 0..routers {
        text += &format!("[[router]]\nname = 'r{router}'\nports = 8\n");
        if rng.u64(..2) == 0 {
            text += "packet-timeout = '20us'\nwait-timeout = '40us'\n";
        }
    }
    for (index, (a, b)) in links.iter().enumerate() {
        let lanes = rng.u64(1..=2);
        text += &format!(
            "[[link]]\nname = 'l{index}'\nends = ['{a}', '{b}']\nspacefibre = {{ channels = 4, lanes = {lanes} }}\n"
        );
    }
    for index in 0..rng.u64(1..=6) {
        let (from, vc) = (rng.u64(..nodes), rng.u64(..4));
        let to = (from + 1 + rng.u64(..nodes - 1)) % nodes;
        let most = rng.u64(20..=3000);
        let rate = ["saturate", "1G", "50M"][rng.u64(..3) as usize];
        text += &format!(
            "[[flow]]\nname = 'f{index}'\nfrom = 'n{from}'\nto = 'n{to}'\nvc = {vc}\nsize = {{ min = 12, max = {most} }}\nrate = '{rate}'\n"
        );
    }
    let link = rng.u64(..links.len() as u64);
    text += &format!("[[fault]]\nwhat = 'bit-errors'\nlink = 'l{link}'\nrate = 1e-5\n");
    for _ in 0..rng.u64(0..=4) {
        let (link, at) = (rng.u64(..links.len() as u64), rng.u64(30..=140));
        text += &match rng.u64(..3) {
            0 => format!(
                "[[fault]]\nwhat = 'link-reset'\nlink = 'l{link}'\nend = 'a'\nat = '{at}us'\n"
            ),
            1 => format!(
                "[[fault]]\nwhat = 'cut'\nlink = 'l{link}'\nduration = '3us'\nat = '{at}us'\n"
            ),
            _ => {
                let node = rng.u64(..nodes);
                format!(
                    "[[fault]]\nwhat = 'blocked-receiver'\nnode = 'n{node}'\nfrom = '{at}us'\nuntil = '{}us'\n",
                    at + 15
                )
            }
        };
    }
    text
}

#[test]
fn random_networks_lose_nothing_without_a_reason() {
    let (first, count) = match std::env::var("SPFE_SEED") {
        Ok(seed) => (seed.parse().unwrap(), 1),
        Err(_) => (1, 12),
    };
    let mut delivered = 0;
    for seed in first..first + count {
        let text = random(seed);
        println!("SPFE_SEED={seed}\n{text}");
        let results = simulate(&text);
        delivered += results.flows.iter().map(|flow| flow.delivered.packets).sum::<u64>();
    }
    // Some of these networks carry almost nothing.
    assert!(count == 1 || delivered > count * 20, "{delivered} packets");
}

#[test]
fn results_depend_on_the_seed_only() {
    let mut scenario = Scenario::parse(&random(5)).unwrap();
    let json = |scenario: &Scenario| run(scenario).to_json().unwrap();
    let first = json(&scenario);
    assert_eq!(first, json(&scenario));
    scenario.seed += 1;
    let other = json(&scenario);
    assert_ne!(first.replace("\"seed\": 5", ""), other.replace("\"seed\": 6", ""));
}
