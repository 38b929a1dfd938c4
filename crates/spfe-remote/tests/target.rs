//! Remote memory over links: a target-only endpoint as an instrument, and a server on an exact link.

use spfe::rmap::{Initiator, InitiatorOptions, Remote};
use spfe::{Deadline, Embedded, Endpoint, Mode, Topology};
use spfe_proto::sfrp::SfrpStatus;
use spfe_rdma::{TargetFile, TargetNode, WorkError};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions, RdmaServer};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);
const FILE: &str = r#"
logical_address = 0x42
[rmap]
key = 0x20
[[region]]
name = "frames"
size = "8G"
generation = 0xabc
"#;

fn options() -> RdmaQueueOptions {
    let mut options = RdmaQueueOptions::default();
    options.initiator.target = 0x42;
    options
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// A node without software: its regions come from a file, and RMAP reaches the same memory.
#[test]
fn a_target_only_endpoint() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(FILE.as_bytes()).unwrap();
    let uri = format!("virtual:?peer=target:{}", file.path().display());
    let endpoint = Endpoint::open(&uri).unwrap();
    let port = endpoint.port(0).unwrap();
    let mut queue = RdmaQueue::open(&port.vc(0).unwrap(), options()).unwrap();
    let info = queue.info(PATIENCE).unwrap();
    assert_eq!((info.segment_log2, info.regions, info.reads_max), (12, 1, 16));
    let region = queue.regions(PATIENCE).unwrap()[0];
    assert_eq!((region.key, region.bytes), (0xabc, 8 << 30));
    queue.connect(PATIENCE).unwrap();

    let (data, far) = (pattern(5_000_003), (6 << 30) + 77);
    queue.write(region.key, far, data.clone(), PATIENCE).unwrap();
    assert!(queue.read(region.key, far, data.len(), PATIENCE).unwrap() == data);
    queue.write(region.key, 0x100, data[..64].to_vec(), PATIENCE).unwrap();
    assert!(queue.read(region.key, 0, 0, PATIENCE).unwrap().is_empty());

    // RMAP on another virtual channel: extended address 0 is region 0.
    let remote = Remote { key: 0x20, target: 0x42, ..Remote::default() };
    let mut rmap = Initiator::open(&port.vc(1).unwrap(), InitiatorOptions::new(remote)).unwrap();
    let mut back = [0; 64];
    rmap.read(0x100, &mut back, Deadline::NEVER).unwrap();
    assert_eq!(back[..], data[..64]);

    match queue.write(region.key ^ 1, 0, vec![1], PATIENCE).unwrap_err() {
        RdmaError::Work { error: WorkError::Refused(SfrpStatus::BAD_KEY, _), .. } => {}
        error => panic!("{error}"),
    }
    // An error ends the queue pair; connecting starts it again.
    assert!(queue.write(region.key, 0, vec![1], PATIENCE).is_err());
    queue.connect(PATIENCE).unwrap();
    queue.write(region.key, 0, vec![1], PATIENCE).unwrap();
    let beyond = queue.read(region.key, (8 << 30) - 1, 2, PATIENCE).unwrap_err();
    let words = "READ at 0x1ffffffff of region key 0x00000abc: refused with status 4";
    assert!(beyond.to_string().contains(words), "{beyond}");
}

#[test]
fn a_file_that_is_wrong_is_named() {
    let error = Endpoint::open("virtual:?peer=target:/no/such/file").err().unwrap().to_string();
    assert!(error.contains("/no/such/file"), "{error}");
}

/// Responses that wait for room in the transmit queue do not make a server fail: a read of 600 KB
/// takes seconds on this link, and the deadlines of the server pass meanwhile.
#[test]
fn a_server_without_room_returns_at_its_deadline() {
    let topology = Topology::pairs(2, "spw:2M".parse().unwrap(), Mode::Inline);
    let network = Embedded::new(topology).unwrap();
    let near = Endpoint::attach(&network, 0, "near").unwrap();
    let far = Endpoint::attach(&network, 1, "far").unwrap();
    let node = TargetNode::new(&TargetFile::parse(FILE).unwrap()).unwrap();
    let mut server = RdmaServer::open(&far.port(0).unwrap().vc(0).unwrap(), node).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                server.serve(far.deadline_after(Duration::from_millis(1)))?;
            }
            Ok::<(), RdmaError>(())
        });
        let mut queue = RdmaQueue::open(&near.port(0).unwrap().vc(0).unwrap(), options()).unwrap();
        let result = queue
            .connect(PATIENCE)
            .and_then(|()| queue.read(0xabc, 0, 600_000, Duration::from_millis(300)));
        stop.store(true, Ordering::Relaxed);
        served.join().unwrap().unwrap();
        assert!(result.unwrap_err().is_timeout());
    });
}

/// A software target at the other end of an exact link, on which every symbol is carried.
#[test]
fn a_server_on_an_exact_link() {
    let endpoint = Endpoint::open("virtual:?peer=pair&link=exact:1x6.25G").unwrap();
    let far = Endpoint::attach(endpoint.embedded().unwrap(), 1, "far").unwrap();
    let node = TargetNode::new(&TargetFile::parse(FILE).unwrap()).unwrap();
    let mut server = RdmaServer::open(&far.port(0).unwrap().vc(0).unwrap(), node).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                server.serve(far.deadline_after(Duration::from_millis(20))).unwrap();
            }
        });
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let mut queue = RdmaQueue::open(&vc, options()).unwrap();
        let data = pattern(50_000);
        let result = queue.connect(PATIENCE).and_then(|()| {
            queue.write(0xabc, 4095, data.clone(), PATIENCE)?;
            queue.read(0xabc, 4095, data.len(), PATIENCE)
        });
        stop.store(true, Ordering::Relaxed);
        assert!(result.unwrap() == data);
    });
}
