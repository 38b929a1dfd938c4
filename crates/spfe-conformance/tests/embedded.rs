//! The suite on networks inside this process.

use spfe::{Embedded, Endpoint, Link, LinkModel, LinkRate, Mode, Topology};
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

/// A link that takes time, in real or in virtual time.
fn paced(link: &str, mode: Mode, virtual_time: bool) {
    let Link { rate, model } = link.parse().unwrap();
    let mut capabilities = Capability::UNLIMITED.to_vec();
    capabilities.push(Capability::Paced);
    if model == LinkModel::Exact {
        capabilities.retain(|capability| *capability != Capability::EndToEnd);
    }
    if virtual_time {
        let real = [Capability::RealTime, Capability::Event];
        capabilities.retain(|capability| !real.contains(capability));
        capabilities.push(Capability::VirtualTime);
    }
    let topology =
        move || Topology { virtual_time, ..Topology::pairs(2, rate, mode).with_model(model) };
    let name = if virtual_time { "virtual time" } else { "real time" };
    run_all(fixture(&format!("embedded, {mode}, {link}, {name}"), &capabilities, topology));
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
    paced("4x7.5G", Mode::Inline, false);
}

#[test]
fn paced_virtual_time() {
    paced("4x7.5G", Mode::Inline, true);
}

// Links that are made word by word.

#[test]
fn exact_one_lane_virtual_time() {
    paced("exact:1x6.25G", Mode::Inline, true);
}

#[test]
fn exact_four_lanes_virtual_time() {
    paced("exact:4x6.25G", Mode::Inline, true);
}

#[test]
fn exact_one_lane_inline() {
    paced("exact:1x6.25G", Mode::Inline, false);
}

#[test]
fn exact_one_lane_thread() {
    paced("exact:1x6.25G", Mode::Thread, false);
}

#[test]
fn exact_four_lanes_coop() {
    paced("exact:4x6.25G", Mode::Coop, false);
}
