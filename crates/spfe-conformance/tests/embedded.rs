//! The suite on networks inside this process.

use spfe::{Embedded, Endpoint, LinkRate, Mode, Topology};
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
