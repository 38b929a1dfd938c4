//! The suite on networks inside this process.

mod common;

use spfe::{Embedded, Endpoint, Link, LinkModel, LinkRate, Mode, Topology};
use spfe_conformance::{Capability, Fixture};
use std::process::ExitCode;

fn fixture(
    name: &str,
    capabilities: &[Capability],
    topology: impl Fn() -> Topology + Send + Sync + 'static,
) -> Fixture {
    let open = move || {
        let network = Embedded::new(topology()).unwrap();
        let open = |endpoint| Endpoint::attach(&network, endpoint, "embedded").unwrap();
        (open(0), open(1))
    };
    Fixture::new(name, &[capabilities, &[Capability::Beside]].concat(), open)
}

fn unlimited(name: &str, mode: Mode) -> Fixture {
    let topology = move || Topology::pairs(2, LinkRate::Unlimited, mode);
    fixture(name, &Capability::UNLIMITED, topology)
}

/// A device whose link takes time, in real or in virtual time.
fn paced(name: &str, link: &str, mode: Mode, virtual_time: bool) -> Fixture {
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
    fixture(name, &capabilities, topology)
}

fn main() -> ExitCode {
    common::run(vec![
        unlimited("auto", Mode::Auto),
        unlimited("inline", Mode::Inline),
        unlimited("coop", Mode::Coop),
        unlimited("thread", Mode::Thread),
        paced("paced_inline", "4x7.5G", Mode::Inline, false),
        paced("paced_virtual_time", "4x7.5G", Mode::Inline, true),
        paced("exact_one_lane_virtual_time", "exact:1x6.25G", Mode::Inline, true),
        paced("exact_four_lanes_virtual_time", "exact:4x6.25G", Mode::Inline, true),
        paced("exact_one_lane_inline", "exact:1x6.25G", Mode::Inline, false),
        paced("exact_one_lane_thread", "exact:1x6.25G", Mode::Thread, false),
        paced("exact_four_lanes_coop", "exact:4x6.25G", Mode::Coop, false),
    ])
}
