//! The suite on the soft device behind its registers.

mod common;
#[path = "../../spfe-conformance/tests/common/mod.rs"]
mod suite;

use common::Face;
use spfe::Endpoint;
use spfe_conformance::{Capability, Fixture};
use spfe_host::{LinkRate, Mode, Topology};
use spfe_plane::{DeviceThread, Network};
use spfe_registers::Registers;
use std::process::ExitCode;
use std::sync::Arc;

fn fixture() -> Fixture {
    let open = move || {
        let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
        let network = Network::new(topology).unwrap();
        let device = Arc::new(DeviceThread::start(&network).unwrap());
        let open = |endpoint| {
            let face = Face::new(&network, &device, endpoint, true);
            Endpoint::with_backend(Registers::open(face, "registers:", "registers").unwrap())
        };
        (open(0), open(1))
    };
    let mut capabilities = Capability::UNLIMITED.to_vec();
    // Registers do not say who uses a port.
    capabilities.retain(|capability| *capability != Capability::Owners);
    capabilities.push(Capability::Beside);
    Fixture::new("registers", &capabilities, open)
}

fn main() -> ExitCode {
    suite::run(vec![fixture()])
}
