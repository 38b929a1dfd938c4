//! The suite over a daemon in this process, whose clients are connected by sockets.

use spfe::{Endpoint, Link, Mode, Topology};
use spfe_conformance::{Capability, Fixture, run_all};
use spfed::{Server, ServerConfig};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Servers whose clients may still be there: each network is a fresh one.
#[derive(Default)]
struct Servers(Mutex<Vec<Arc<Server>>>);

impl Servers {
    /// A fresh server; those nobody is attached to any more are stopped.
    fn start(&self, link: Link, mode: Mode) -> Arc<Server> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("spfe-conformance-{}-{number}.sock", std::process::id());
        let topology = Topology::pairs(2, link.rate, mode).with_model(link.model);
        let config = ServerConfig::new(topology).listen(std::env::temp_dir().join(name));
        let server = Arc::new(Server::start(config).unwrap());
        let mut servers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|server| !server.network().clients().is_empty());
        servers.push(server.clone());
        server
    }
}

fn run(mode: Mode) {
    run_over("unlimited", mode, &Capability::UNLIMITED);
}

/// Links that are made word by word, in the daemon.
fn run_exact(link: &str, mode: Mode) {
    let told = |capability: &Capability| *capability != Capability::EndToEnd;
    let mut capabilities: Vec<_> = Capability::UNLIMITED.into_iter().filter(told).collect();
    capabilities.push(Capability::Paced);
    run_over(link, mode, &capabilities);
}

fn run_over(text: &str, mode: Mode, capabilities: &[Capability]) {
    let link: Link = text.parse().unwrap();
    let servers = Servers::default();
    let open = move || {
        let server = servers.start(link, mode);
        let path = server.path().unwrap().display().to_string();
        let open = |endpoint| Endpoint::open(&format!("unix:{path}/{endpoint}")).unwrap();
        (open(0), open(1))
    };
    let name = format!("daemon, {mode}, {text}");
    run_all(Box::leak(Box::new(Fixture::new(name, capabilities, open))));
}

#[test]
fn thread() {
    run(Mode::Thread);
}

#[test]
fn inline() {
    run(Mode::Inline);
}

#[test]
fn coop() {
    run(Mode::Coop);
}

#[test]
fn exact_thread() {
    run_exact("exact:1x6.25G", Mode::Thread);
}

#[test]
fn exact_inline() {
    run_exact("exact:4x6.25G", Mode::Inline);
}
