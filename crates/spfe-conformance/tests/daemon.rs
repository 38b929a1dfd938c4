//! The suite on a daemon in this process. Its clients connect to it by sockets.

mod common;

use spfe::{Endpoint, Link, Mode, Topology};
use spfe_conformance::{Capability, Fixture};
use spfed::{Server, ServerConfig};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Servers that may still have clients. Each case gets a fresh server with a network of its own.
#[derive(Default)]
struct Servers(Mutex<Vec<Server>>);

impl Servers {
    /// Opens both endpoints of a fresh server, and stops servers that have no client any more. The
    /// lock is held throughout, so that no server is stopped before its first client connects.
    fn open(&self, link: Link, mode: Mode) -> (Endpoint, Endpoint) {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("spfe-conformance-{}-{number}.sock", std::process::id());
        let topology = Topology::pairs(2, link.rate, mode).with_model(link.model);
        let config = ServerConfig::new(topology).listen(std::env::temp_dir().join(name));
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|server| !server.network().clients().is_empty());
        let server = Server::start(config).unwrap();
        let path = server.path().unwrap().display().to_string();
        let open = |endpoint| Endpoint::open(&format!("unix:{path}/{endpoint}")).unwrap();
        let ends = (open(0), open(1));
        servers.push(server);
        ends
    }
}

fn unlimited(name: &str, mode: Mode) -> Fixture {
    fixture(name, "unlimited", mode, &Capability::UNLIMITED)
}

/// A daemon whose links are simulated word by word.
fn exact(name: &str, link: &str, mode: Mode) -> Fixture {
    let told = |capability: &Capability| *capability != Capability::EndToEnd;
    let mut capabilities: Vec<_> = Capability::UNLIMITED.into_iter().filter(told).collect();
    capabilities.push(Capability::Paced);
    fixture(name, link, mode, &capabilities)
}

fn fixture(name: &str, link: &str, mode: Mode, capabilities: &[Capability]) -> Fixture {
    let link: Link = link.parse().unwrap();
    // Where clients run the flows themselves there are no queue pairs.
    let told = |capability: &Capability| *capability != Capability::Pairs || mode == Mode::Thread;
    let capabilities = capabilities.iter().copied().chain([Capability::Beside]);
    let capabilities: Vec<_> = capabilities.filter(told).collect();
    let servers = Servers::default();
    Fixture::new(name, &capabilities, move || servers.open(link, mode))
}

fn main() -> ExitCode {
    common::run(vec![
        unlimited("thread", Mode::Thread),
        unlimited("auto", Mode::Auto),
        unlimited("inline", Mode::Inline),
        unlimited("coop", Mode::Coop),
        exact("exact_thread", "exact:1x6.25G", Mode::Thread),
        exact("exact_inline", "exact:4x6.25G", Mode::Inline),
    ])
}
