//! The suite on networks inside this process.

use spfe::{Embedded, Endpoint, Link, LinkRate, Mode, Topology};
use spfe_conformance::{Capability, Fixture, run_all};

fn fixture(
    name: &str,
    capabilities: &[Capability],
    topology: impl Fn() -> Topology + Send + Sync + 'static,
) -> &'static Fixture {
    let open = move || {
        let network = Embedded::new(topology()).unwrap();
        let open = |endpoint| Endpoint::attach(&network, endpoint, "embedded").unwrap();
        (open(0), open(1))
    };
    Box::leak(Box::new(Fixture::new(name, capabilities, open)))
}

fn unlimited(mode: Mode) {
    let topology = move || Topology::pairs(2, LinkRate::Unlimited, mode);
    run_all(fixture(&format!("embedded, {mode}"), &Capability::UNLIMITED, topology));
}

fn paced() -> LinkRate {
    "4x7.5G".parse().unwrap()
}

#[test]
fn inline() {
    unlimited(Mode::Inline);
}

#[test]
fn coop() {
    unlimited(Mode::Coop);
}

#[test]
fn thread() {
    unlimited(Mode::Thread);
}

#[test]
fn paced_inline() {
    let mut capabilities = Capability::UNLIMITED.to_vec();
    capabilities.push(Capability::Paced);
    run_all(fixture("embedded, inline, 4x7.5G", &capabilities, || {
        Topology::pairs(2, paced(), Mode::Inline)
    }));
}

#[test]
fn paced_virtual_time() {
    let capabilities = [
        Capability::VirtualTime,
        Capability::Paced,
        Capability::Burst,
        Capability::Packed,
        Capability::Message,
    ];
    run_all(fixture("embedded, inline, 4x7.5G, virtual time", &capabilities, || Topology {
        virtual_time: true,
        ..Topology::pairs(2, paced(), Mode::Inline)
    }));
}

/// Links that are made word by word.
fn exact(link: &str, mode: Mode, virtual_time: bool) {
    let told = |capability: &Capability| *capability != Capability::EndToEnd;
    let mut capabilities: Vec<_> = Capability::UNLIMITED.into_iter().filter(told).collect();
    if virtual_time {
        let untimed = |capability: &Capability| {
            !matches!(capability, Capability::RealTime | Capability::Event | Capability::Reset)
        };
        capabilities.retain(untimed);
        capabilities.push(Capability::VirtualTime);
    }
    let Link { rate, model } = link.parse().unwrap();
    let topology =
        move || Topology { virtual_time, ..Topology::pairs(2, rate, mode).with_model(model) };
    let name = if virtual_time { "virtual time" } else { "real time" };
    run_all(fixture(&format!("embedded, {mode}, {link}, {name}"), &capabilities, topology));
}

#[test]
fn exact_one_lane_virtual_time() {
    exact("exact:1x6.25G", Mode::Inline, true);
}

#[test]
fn exact_four_lanes_virtual_time() {
    exact("exact:4x6.25G", Mode::Inline, true);
}

#[test]
fn exact_one_lane_inline() {
    exact("exact:1x6.25G", Mode::Inline, false);
}

#[test]
fn exact_one_lane_thread() {
    exact("exact:1x6.25G", Mode::Thread, false);
}

#[test]
fn exact_four_lanes_coop() {
    exact("exact:4x6.25G", Mode::Coop, false);
}
