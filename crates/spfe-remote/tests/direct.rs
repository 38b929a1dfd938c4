//! On a packet-level link packets of RDMA are handed over in one copy, and on one that takes no time
//! writes and reads need no packets. With a capture of the link packets are sent. Nothing else differs:
//! the times, statuses and completions, the memory, all counters but the one that tells which requests
//! needed no packets.

use fastrand::Rng;
use spfe::pair::KeyOptions;
use spfe::{CaptureOptions, Embedded, Endpoint, Link, Mode, Peer, QueueOptions, Topology};
use spfe_rdma::{Local, RemoteKey, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{RdmaQueue, RdmaQueueOptions};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);
const BYTES: usize = 60_000;
/// Address of a region's first byte: no multiple of a packet's largest payload.
const BASE: u64 = 40_008;

/// Remote memory.
struct Remote {
    keys: Vec<u32>,
    bytes: u64,
}

/// A file in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn options(own: u16, partner: u16) -> RdmaQueueOptions {
    let mut options = RdmaQueueOptions::default();
    (options.initiator.queue, options.initiator.target_queue) = (own, partner);
    (options.initiator.address, options.initiator.target) =
        (0x50 + own as u8, 0x50 + partner as u8);
    if partner == 0 {
        options.initiator.target = 254;
    }
    options
}

/// A random request. Without a fence a read may be executed after what follows it, which is not so
/// when no packets are needed; then every request has one.
fn work(rng: &mut Rng, id: u64, memory: u32, remote: &Remote, fenced: bool) -> WorkRequest {
    let keys = &remote.keys;
    let kind = match rng.u32(..if fenced { 25 } else { 9 }) {
        0..3 | 9..17 => WorkKind::Write,
        3..6 | 17..25 => WorkKind::Read,
        6 => WorkKind::FetchAdd { add: rng.u64(..) },
        7 if keys.len() > 1 => WorkKind::Send,
        _ => WorkKind::Flush,
    };
    let mut request = WorkRequest::new(id, kind);
    let length = if rng.bool() { rng.u32(1..9000) } else { rng.u32(1..40) };
    let place = |rng: &mut Rng, length| Local { memory, offset: rng.u64(..50_000), length };
    match kind {
        WorkKind::Flush => {}
        WorkKind::FetchAdd { .. } => request.local = [place(rng, 8)].into(),
        WorkKind::Send => request.local = [place(rng, length.min(3000))].into(),
        _ => request.local = [place(rng, length)].into(),
    }
    if kind == WorkKind::Write && keys.len() > 1 && rng.u32(..if fenced { 8 } else { 2 }) == 0 {
        request.immediate = Some(rng.u32(..));
    }
    request.key = keys[rng.usize(..keys.len())];
    // Sometimes before or beyond it.
    request.address = match rng.u32(..90) {
        0 if !kind.opcode().is_atomic() => u64::MAX,
        1 => BASE - 8,
        2..4 => BASE + 200_000,
        _ => BASE + rng.u64(..(remote.bytes - 4000) / 8) * 8,
    };
    let (fence, solicited) = (fenced || rng.bool(), fenced && rng.u32(..20) == 0);
    request.flags = WorkFlags { signaled: !fenced || rng.bool(), fence, solicited };
    request
}

/// What a run showed, line by line.
struct Run {
    log: Vec<String>,
    rng: Rng,
    fenced: bool,
    /// Requests of earlier connections that needed no packets.
    without_packets: u64,
}

impl Run {
    /// Posts groups, and notes each completion with its time.
    fn groups(
        &mut self,
        (network, endpoint): (&Embedded, &Endpoint),
        near: &mut RdmaQueue,
        remote: &Remote,
        far: &mut Far,
    ) {
        let memory = near.register((0..BYTES).map(|n| ((n * 7) >> 3) as u8).collect()).unwrap();
        for round in 0..if self.fenced { 200 } else { 60 } {
            let count = self.rng.u64(1..if self.fenced { 30 } else { 7 });
            let mut signaled = 0;
            for id in 0..count {
                let mut work = work(&mut self.rng, 100 * round + id, memory, remote, self.fenced);
                work.flags.signaled |= id + 1 == count;
                signaled += usize::from(work.flags.signaled);
                near.post(work).unwrap();
            }
            near.ring().unwrap();
            near.wait(signaled, SOON).unwrap();
            while let Some(done) = near.poll().unwrap() {
                self.log.push(format!("{} {done:?}", endpoint.now_ns()));
            }
            far.messages(&mut self.log);
            if near.state() == spfe_rdma::PairState::Error {
                self.without_packets += without_packets(network);
                near.connect(SOON).unwrap();
            }
        }
        let bytes = near.release(memory);
        self.log.push(format!("local {:?}", bytes));
    }
}

/// The far end, if it has a program.
struct Far(Option<(RdmaQueue, u32, u32)>);

impl Far {
    fn messages(&mut self, log: &mut Vec<String>) {
        let Some((queue, _, buffers)) = &mut self.0 else { return };
        while let Some(message) = queue.poll_message() {
            log.push(format!(
                "{message:?} {:?}",
                &queue.memory(*buffers)[..16.min(queue.memory(*buffers).len())]
            ));
            queue.post_buffer(message.id, buffer(*buffers, message.id)).unwrap();
        }
    }
}

fn buffer(memory: u32, id: u64) -> Local {
    Local { memory, offset: 4096 * id, length: 4096 }
}

/// Counters of the port, and of the engines at both ends.
fn counters(network: &Embedded, endpoint: &Endpoint, number: u32, log: &mut Vec<String>) {
    let port = endpoint.port(0).unwrap();
    log.push(format!("{:?}", port.info()));
    let mut report = network.network().pair_report(number, 0, 0);
    if let Some(report) = &mut report {
        report.counters.retain(|(counter, _)| counter.name() != "NEAR");
    }
    log.push(format!("{report:?}"));
    let target = network.network().arena().target(number, 0);
    log.push(format!("{:?}", target.map(|target| target.counts())));
}

/// Requests of the near end that needed no packets, since it connected.
fn without_packets(network: &Embedded) -> u64 {
    let report = network.network().pair_report(0, 0, 0).unwrap();
    report.counters.iter().find(|(counter, _)| counter.name() == "NEAR").unwrap().1
}

/// What a run showed, how many requests needed no packets, and the capture.
struct Shown {
    log: Vec<String>,
    near: u64,
    capture: Vec<u8>,
}

/// One run in virtual time.
fn run(seed: u64, target: bool, link: &str, mode: Mode, captured: bool) -> Shown {
    // Its name is random.
    let file = tempfile::NamedTempFile::new().unwrap();
    let region = format!("[[region]]\nname = \"m\"\nsize = 131072\nbase = {BASE}\n");
    std::fs::write(file.path(), region).unwrap();
    fastrand::seed(seed);
    let rate = link.parse::<Link>().unwrap().rate;
    let mut topology =
        Topology { virtual_time: mode != Mode::Thread, ..Topology::pairs(2, rate, mode) };
    if target {
        topology.endpoints[0][0].peer = Peer::Target { file: 0 };
        topology.endpoints[1][0].peer = Peer::None;
        topology.targets = vec![file.path().to_str().unwrap().to_owned()];
    }
    let network = Embedded::new(topology).unwrap();
    let kept = Kept::default();
    let capture =
        captured.then(|| network.capture(&CaptureOptions::default(), kept.clone()).unwrap());
    let a = Endpoint::attach(&network, 0, "a").unwrap();
    let b = Endpoint::attach(&network, 1, "b").unwrap();
    let fenced = link == "unlimited";
    let mut run = Run { log: Vec::new(), rng: Rng::with_seed(seed), fenced, without_packets: 0 };
    let mut near =
        RdmaQueue::open(&a.port(0).unwrap().vc(0).unwrap(), options(5, if target { 0 } else { 7 }))
            .unwrap();
    assert!(near.is_on_device());
    let mut remote = Remote { keys: Vec::new(), bytes: BYTES as u64 };
    let mut far = Far(None);
    if !target {
        let mut queue = RdmaQueue::open(&b.port(0).unwrap().vc(0).unwrap(), options(7, 5)).unwrap();
        queue.open_buffers(&QueueOptions::default()).unwrap();
        let buffers = queue.register(vec![0; 8 * 4096]).unwrap();
        (0..8).for_each(|id| queue.post_buffer(id, buffer(buffers, id)).unwrap());
        let shared = queue.register_shared(&vec![3; BYTES]).unwrap();
        for notify in [false, true] {
            let local = Local { memory: shared, offset: 0, length: BYTES as u32 };
            let options = KeyOptions { address: BASE, notify, ..KeyOptions::default() };
            remote.keys.push(queue.share(local, &options, SOON).unwrap().0);
        }
        far = Far(Some((queue, shared, buffers)));
    }
    near.connect(SOON).unwrap();
    if target {
        let region = &near.regions(SOON).unwrap()[0];
        remote = Remote { keys: vec![region.key], bytes: region.bytes };
    }
    run.groups((&network, &a), &mut near, &remote, &mut far);
    if let Some((queue, shared, _)) = &mut far.0 {
        let mut bytes = vec![0; BYTES];
        queue.load(*shared, 0, &mut bytes).unwrap();
        run.log.push(format!("remote {bytes:?}"));
        let wrong = queue.unshare(RemoteKey(remote.keys[0]), SOON);
        run.log.push(format!("{wrong:?}"));
    } else {
        run.log.push(format!("{:?}", near.read(remote.keys[0], BASE, 100_000, SOON).unwrap()));
    }
    counters(&network, &a, 0, &mut run.log);
    counters(&network, &b, 1, &mut run.log);
    let without = run.without_packets + without_packets(&network);
    drop((near, far));
    if let Some(capture) = capture {
        capture.finish().unwrap();
    }
    let capture = std::mem::take(&mut *kept.0.lock().unwrap());
    Shown { log: run.log, near: without, capture }
}

fn check(target: bool, link: &str) {
    for seed in 0..3 {
        let captured = run(seed, target, link, Mode::Inline, true);
        let other = run(seed, target, link, Mode::Inline, false);
        let bytes = captured.capture.len();
        assert!(bytes > 200_000 && other.capture.is_empty(), "{bytes} bytes captured");
        assert_eq!(captured.near, 0, "a capture sees every packet");
        // Half of the writes and reads of a queue pair notify, which ends the row of a group.
        let least = match (link, target) {
            ("unlimited", true) => 300,
            ("unlimited", false) => 50,
            _ => 0,
        };
        assert!(other.near >= least, "{} requests without packets", other.near);
        assert!(other.near == 0 || least != 0, "packets take time on this link");
        let (sent, handed) = (captured.log, other.log);
        for (line, (sent, handed)) in sent.iter().zip(&handed).enumerate() {
            assert!(sent == handed, "seed {seed}, line {line}\n{sent:.300}\n{handed:.300}");
        }
        assert_eq!(sent.len(), handed.len());
        assert!(sent.iter().any(|line| line.contains("Refused(")), "nothing was refused");
    }
}

#[test]
fn with_a_target_only_endpoint() {
    check(true, "4x6.25G");
}

#[test]
fn between_queue_pairs() {
    check(false, "4x6.25G");
}

#[test]
fn with_a_target_only_endpoint_without_packets() {
    check(true, "unlimited");
}

#[test]
fn between_queue_pairs_without_packets() {
    check(false, "unlimited");
}
