//! A scenario as a daemon's network: two clients beside simulated traffic and faults.

mod common;

use common::{SOON, config, place};
use rustix::fd::OwnedFd;
use spfe::backend::daemon::{LiveCapture, NetworkQuery};
use spfe::{CaptureRequest, Deadline, Embedded, End, Endpoint, Mode, Scenario, Status};
use spfe_capture::{CaptureReader, EventCode, RecordContent};
use spfed::{Server, ServerConfig};
use std::collections::BTreeMap;
use std::path::Path;

const PACKETS: usize = 40;
const BYTES: usize = 1500;
/// Path address over both routers to the other endpoint.
const PATH: [u8; 2] = [3, 1];

fn scenario() -> Scenario {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    Scenario::parse(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn server(mode: Mode, path: &Path) -> Server {
    let config = ServerConfig { scenario: Some(scenario()), ..config(mode).listen(path) };
    Server::start(config).unwrap()
}

fn payload(number: usize, side: u8) -> Vec<u8> {
    (0..BYTES).map(|at| (at + number * 31) as u8 ^ side).collect()
}

/// Sends packets in both directions; checks that each arrives once, whole and in order.
fn exchange(ends: &[Endpoint; 2]) {
    let channel = |end: usize| ends[end].port(0).unwrap().vc(0).unwrap();
    let mut tx = [0, 1].map(|end| channel(end).tx().unwrap());
    let mut rx = [0, 1].map(|end| channel(end).rx().unwrap());
    for end in [0, 1] {
        let bufs = ends[end].alloc(2048 * PACKETS).unwrap();
        assert_eq!(rx[end].post_all(&mut bufs.split(2048, PACKETS).unwrap()), PACKETS);
        let from = ends[end].alloc(2048 * PACKETS).unwrap();
        for number in 0..PACKETS {
            let at = 2048 * number;
            let mut buf = from.buf(at..at + BYTES + PATH.len()).unwrap();
            buf[..2].copy_from_slice(&PATH);
            buf[2..].copy_from_slice(&payload(number, end as u8));
            tx[end].send(buf).unwrap();
        }
    }
    for number in 0..PACKETS {
        for end in [0, 1] {
            let got = rx[end].recv(Deadline::after(SOON)).unwrap();
            assert_eq!((got.end, got.status), (End::Eop, Status::Ok), "packet {number}");
            assert!(got.buf[..] == payload(number, 1 - end as u8)[..], "packet {number} to {end}");
        }
    }
}

/// Reads a pipe to its end.
fn all(pipe: &OwnedFd) -> Vec<u8> {
    let (mut file, mut part) = (Vec::new(), vec![0; 65536]);
    loop {
        match rustix::io::read(pipe, &mut part[..]) {
            Ok(0) => return file,
            Ok(count) => file.extend_from_slice(&part[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn clients_talk_over_two_routers_while_a_lane_is_cut() {
    for mode in [Mode::Thread, Mode::Inline] {
        let path = place(&format!("scenario-{mode}"));
        let server = server(mode, &path);
        assert_eq!(server.network().names(), ["alpha", "beta"]);
        let mut live = LiveCapture::open(&path, CaptureRequest::default()).unwrap();
        let pipe = rustix::io::dup(live.pipe()).unwrap();
        let reader = std::thread::spawn(move || all(&pipe));
        let open = |name: &str| Endpoint::open(&format!("unix:{}/{name}", path.display()));
        let ends = ["alpha", "beta"].map(|name| open(name).unwrap());
        assert_eq!((ends[0].info().endpoint, ends[1].info().endpoint), (0, 1));
        let shown = ends.each_ref().map(|end| end.info().uri);
        assert_eq!(shown, ["alpha", "beta"].map(|name| format!("unix:{}/{name}", path.display())));
        assert_eq!(open("1").unwrap().info().uri, shown[1], "a number finds the name");
        let listed = NetworkQuery::open(&path).unwrap().endpoints();
        assert_eq!(listed.into_iter().map(|info| info.uri).collect::<Vec<_>>(), shown);
        let error = open("gamma").err().unwrap();
        assert!(error.to_string().contains("its endpoints are alpha, beta"), "{error}");
        exchange(&ends);
        let (records, left_out) = live.end().unwrap();
        let file = reader.join().unwrap();
        let mut packets: BTreeMap<String, usize> = BTreeMap::new();
        let (mut cuts, mut found) = (0, 0);
        let mut reader = CaptureReader::new(&file[..]);
        let mut interfaces = Vec::new();
        while let Some(record) = reader.record().unwrap() {
            found += 1;
            interfaces.push((record.interface, matches!(record.content, RecordContent::Packet(_))));
            let cut = Some(EventCode::FaultLaneCut);
            cuts += usize::from(
                matches!(record.content, RecordContent::Event { code, .. } if code == cut),
            );
        }
        for (interface, _) in interfaces.iter().filter(|(_, packet)| *packet) {
            let name = reader.interfaces()[*interface as usize].name.clone();
            *packets.entry(name).or_default() += 1;
        }
        assert_eq!((found, left_out), (records, 0));
        // Each link shows the packets of the clients and those of the camera.
        for link in ["alpha.1>left.1", "left.1>alpha.1", "right.1>beta.1"] {
            assert_eq!(packets.get(link), Some(&PACKETS), "{link}: {packets:?}");
        }
        assert!(packets["left.3>right.3"] > PACKETS, "{packets:?}");
        assert!(packets["right.2>memory.1"] > 0 && cuts > 0, "{cuts} cuts, {packets:?}");
    }
}

#[test]
fn clients_talk_in_virtual_time_in_one_process() {
    let times = [0, 1].map(|_| {
        let network = Embedded::of_scenario(&scenario(), Mode::Inline, true).unwrap();
        let ends = [0, 1].map(|end| Endpoint::attach(&network, end, "scenario").unwrap());
        exchange(&ends);
        ends[0].now_ns()
    });
    assert!(times[0] == times[1] && times[0] > 100_000, "{times:?} ns");
}

#[test]
fn a_scenario_without_endpoints_is_refused() {
    let mut scenario = scenario();
    scenario.nodes.iter_mut().for_each(|node| node.kind = Default::default());
    let config = ServerConfig { scenario: Some(scenario), ..config(Mode::Thread) };
    let error = Server::start(config).err().unwrap();
    assert_eq!(error.status(), Status::BadField);
    assert!(error.what.contains("kind = \"endpoint\""), "{error}");
}
