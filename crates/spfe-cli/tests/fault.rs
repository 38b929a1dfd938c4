//! `spfe fault`: faults on the links of running daemons.

mod common;

use common::{Directory, Run, spfe, wait_until};
use spfe::{Deadline, End, Endpoint, PortState, Scenario};
use spfe_host::{LinkModel, LinkRate, Mode, Topology};
use spfed::{Server, ServerConfig};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);

struct Network {
    _server: Server,
    _directory: Directory,
    device: String,
}

impl Network {
    fn new(name: &str, make: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        let directory = Directory::new(name);
        let socket = directory.path("sock");
        let rate = LinkRate::SpaceFibre { lanes: 2, mbps: 1000 };
        let mut topology = Topology::pairs(2, rate, Mode::Thread);
        for port in topology.endpoints.iter_mut().flatten().filter(|port| !port.space_wire) {
            port.model = LinkModel::Exact;
        }
        let config = make(ServerConfig::new(topology).listen(&socket));
        let server = Server::start(config).unwrap();
        Self { _server: server, _directory: directory, device: format!("unix:{socket}") }
    }

    /// Two endpoints, joined by a link of two lanes.
    fn pair(name: &str) -> Self {
        Self::new(name, |config| config)
    }

    fn fault(&self, words: &[&str]) -> Run {
        spfe(&[&["fault", &self.device], words].concat())
    }

    fn open(&self, endpoint: &str) -> Endpoint {
        Endpoint::open(&format!("{}/{endpoint}", self.device)).unwrap()
    }

    /// States of the faults that are listed.
    fn listed(&self) -> Vec<(String, bool)> {
        let text = self.fault(&["list", "--json"]).exits(0).text();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|fault: serde_json::Value| {
                (fault["name"].as_str().unwrap().to_owned(), fault["active"] == true)
            })
            .collect()
    }
}

/// Sends one packet of 40 bytes and returns how it ends at the receiver.
fn pass(ends: &[Endpoint; 2], vc: u32, bytes: &[u8]) -> (Vec<u8>, End) {
    let mut tx = ends[0].port(0).unwrap().vc(vc).unwrap().tx().unwrap();
    let mut rx = ends[1].port(0).unwrap().vc(vc).unwrap().rx().unwrap();
    rx.post(ends[1].alloc(4096).unwrap().buf(0..4096).unwrap()).unwrap();
    let mut buf = ends[0].alloc(4096).unwrap().buf(0..bytes.len()).unwrap();
    buf.copy_from_slice(bytes);
    tx.send(buf).unwrap();
    let got = rx.recv(Deadline::after(SOON)).unwrap();
    (got.buf.to_vec(), got.end)
}

fn is(endpoint: &Endpoint, state: PortState) -> bool {
    endpoint.port(0).unwrap().info().unwrap().state == state
}

#[test]
fn a_cut_lasts_until_it_is_restored() {
    let network = Network::pair("fault-cut");
    let ends = ["0", "1"].map(|end| network.open(end));
    assert_eq!(pass(&ends, 0, b"before").0, b"before");
    network.fault(&["cut", "0.0-1.0"]).exits(0);
    wait_until("the link to be down", || is(&ends[0], PortState::Starting));
    assert_eq!(network.listed(), [("cut on 0.0-1.0".to_owned(), true)]);
    // The client need not be attached to the port, and a fault on the same link is independent.
    let run = network.fault(&["bit-errors", "0.0-1.0", "--rate", "1e-9", "--json"]).exits(0);
    assert_eq!(run.json()["fault"], 2);
    network.fault(&["restore", "1"]).exits(0);
    wait_until("the link to run", || is(&ends[0], PortState::Up) && is(&ends[1], PortState::Up));
    assert_eq!(pass(&ends, 1, b"after").0, b"after");
    assert_eq!(network.listed(), [("bit-errors on 0.0-1.0".to_owned(), true)]);
    let run = network.fault(&["restore", "--json"]).exits(0);
    assert_eq!(run.json()["ended"], 1);
    assert_eq!(network.listed(), []);
}

#[test]
fn a_stuck_lane_is_left_out_until_its_time_is_over() {
    let network = Network::pair("fault-stuck");
    let ends = ["0", "1"].map(|end| network.open(end));
    assert_eq!(pass(&ends, 0, b"two lanes").0, b"two lanes");
    let mib = ends[1].port(0).unwrap();
    let lane = |state: &str| {
        let items = mib.mib().items().unwrap();
        items.iter().any(|(name, value)| {
            let is_lane = name.item == spfe::MibItem::LaneState && name.index == 1;
            is_lane && name.item.info().values.get(*value as usize) == Some(&state)
        })
    };
    assert!(lane("Active"));
    let words = ["stuck", "0.0-1.0", "--lane", "1", "--direction", "a-to-b", "--level", "1"];
    network.fault(&words).exits(0);
    wait_until("lane 1 to stop", || !lane("Active"));
    assert_eq!(pass(&ends, 1, b"one lane").0, b"one lane");
    network.fault(&["restore", "0.0-1.0"]).exits(0);
    wait_until("lane 1 to work", || lane("Active"));
}

#[test]
fn ports_babble_block_and_end_packets_with_eep() {
    let network = Network::pair("fault-ports");
    let ends = ["0", "1"].map(|end| network.open(end));
    network.fault(&["eep", "0.0", "--vc", "2"]).exits(0);
    assert_eq!(pass(&ends, 2, b"spoilt"), (b"spoilt".to_vec(), End::Eep));
    assert_eq!(pass(&ends, 2, b"whole"), (b"whole".to_vec(), End::Eop));

    network.fault(&["babble", "0.0", "--vc", "3"]).exits(0);
    let mut rx = ends[1].port(0).unwrap().vc(3).unwrap().rx().unwrap();
    let memory = ends[1].alloc(4 * 4096).unwrap();
    rx.post_all(&mut memory.split(4096, 4).unwrap());
    for _ in 0..4 {
        assert_eq!(rx.recv(Deadline::after(SOON)).unwrap().buf[..], [0xba; 64]);
    }
    network.fault(&["restore", "0.0"]).exits(0);

    network.fault(&["blocked-receiver", "1.0", "--vc", "4"]).exits(0);
    let mut tx = ends[0].port(0).unwrap().vc(4).unwrap().tx().unwrap();
    let mut rx = ends[1].port(0).unwrap().vc(4).unwrap().rx().unwrap();
    rx.post(ends[1].alloc(4096).unwrap().buf(0..64).unwrap()).unwrap();
    tx.send(ends[0].alloc(4096).unwrap().buf(0..64).unwrap()).unwrap();
    // A packet on another channel passes, so this one has had the time to.
    assert_eq!(pass(&ends, 5, b"other").0, b"other");
    assert!(rx.recv(Deadline::after(Duration::from_millis(50))).unwrap_err().is_timeout());
    network.fault(&["restore"]).exits(0);
    assert_eq!(rx.recv(Deadline::after(SOON)).unwrap().buf.len(), 64);
}

#[test]
fn networks_of_scenarios_have_faults_by_name() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    let mut scenario = Scenario::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    scenario.faults.clear();
    scenario.flows.clear();
    let network = Network::new("fault-scenario", |config| ServerConfig {
        scenario: Some(scenario),
        ..config
    });
    let ends = ["alpha", "beta"].map(|end| network.open(end));
    // Path addresses over both routers.
    assert_eq!(pass(&ends, 0, b"\x03\x01here").0, b"here");
    network.fault(&["cut", "alpha-left", "--name"]).fails(2, "--name");
    network.fault(&["cut", "alpha-left"]).exits(0);
    wait_until("the link to be down", || is(&ends[0], PortState::Starting));
    network.fault(&["restore", "alpha-left"]).exits(0);
    wait_until("the link to run", || is(&ends[0], PortState::Up));
    network.fault(&["eep", "alpha"]).exits(0);
    assert_eq!(pass(&ends, 0, b"\x03\x01here"), (b"here".to_vec(), End::Eep));
    // A router has no port 9: `spfe stats` tells, here of the other endpoint.
    let mut tx = ends[0].port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut buf = ends[0].alloc(64).unwrap().buf(0..64).unwrap();
    buf.fill(9);
    tx.send(buf).unwrap();
    let beta = format!("{}/beta", network.device);
    let discarded = || spfe(&["stats", &beta, "--json"]).exits(0).json()["discarded"].clone();
    wait_until("the router to discard it", || {
        let list = discarded();
        list.as_array().unwrap().iter().any(|of| of["what"] == "left port 1: no such port")
    });
    let text = spfe(&["stats", &beta]).exits(0).text();
    assert!(text.contains("link time ") && text.contains("DISCARDED BY ROUTER"), "{text}");
    drop(tx);
    network.fault(&["eep", "camera"]).fails(2, "'camera' is not an endpoint");
    network.fault(&["cut", "left"]).fails(2, "no link 'left'; there are: alpha-left");
}

#[test]
fn errors_say_what_is_wrong() {
    let network = Network::pair("fault-errors");
    network.fault(&["cut", "7"]).fails(2, "no link '7'; there are: 0.0-1.0");
    network.fault(&["cut", "0.0-1.0", "--lane", "2"]).fails(2, "lane 2 does not exist");
    network.fault(&["cut", "0.0-1.0", "--for", "x"]).fails(2, "x");
    network.fault(&["bit-errors", "0.0-1.0", "--rate", "2"]).fails(2, "rate 2 is not in 0 to 0.5");
    network.fault(&["burst", "0.0-1.0", "--bits", "0"]).fails(2, "bits 0 is not in 1 to");
    network.fault(&["babble-flow", "x"]).fails(2, "no flow 'x'");
    spfe(&["fault", "virtual:", "list"]).fails(2, "unix:SOCKET");
    spfe(&["fault", "unix:/no/such", "list"]).fails(5, "no daemon");
    let plain = Network::new("fault-plain", |config| {
        let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
        ServerConfig { topology, ..config }
    });
    plain.fault(&["cut", "0.0-1.0"]).fails(2, "packet level");
    assert_eq!(plain.listed(), []);
}
