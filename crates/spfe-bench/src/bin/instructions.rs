//! The program behind `tools/callgrind.sh`. Application and engine move packets in one thread, in
//! functions that are never inlined, so that callgrind counts each side by name.
//!
//! `instructions SCENARIO ROUNDS`. The scenarios are `single`, `group`, `group-all`,
//! `pooled-single`, `pooled-group`, `burst`, `packed`, and `rdma-write`, `rdma-read`, `rdma-pooled-write`,
//! `rdma-pooled-read`. A round is 16 packets or operations of 8 bytes, or 128 packets for `burst` and
//! `packed`.

use spfe::{
    Buf, Embedded, Endpoint, LinkRate, Mode, PackedOptions, PackedRx, Peer, PoolOptions, PooledRx,
    PooledTx, Rx, Topology, Tx,
};
use spfe_plane::Runner;
use spfe_remote::engine::{Local, RemoteKey, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{PooledPair, RdmaQueue, RdmaQueueOptions};

const SIZE: usize = 8;
const GROUP: usize = 16;
const BURST: usize = 128;

struct Rig {
    tx: Option<Tx>,
    out: Vec<Buf>,
    engine: Runner,
    ends: (Endpoint, Endpoint),
}

/// A network in mode thread without a device thread. The program calls the engine itself.
fn rig(with_tx: bool) -> (Rig, Endpoint) {
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let network = Embedded::without_device(topology).expect("a network");
    let a = Endpoint::attach(&network, 0, "a").expect("endpoint 0");
    let b = Endpoint::attach(&network, 1, "b").expect("endpoint 1");
    let tx =
        with_tx.then(|| a.port(0).and_then(|port| port.vc(0)).and_then(|vc| vc.tx()).expect("tx"));
    let mut out = a.alloc(1 << 16).and_then(|region| region.split(64, 256)).expect("buffers");
    out.iter_mut().for_each(|buf| buf.set_len(SIZE));
    let engine = network.network().view(spfe_plane::arena::DEVICE).runner_out(0, 0, 0, true);
    (Rig { tx, out, engine, ends: (a, b.clone()) }, b)
}

fn receiver(b: &Endpoint) -> Rx {
    let mut rx = b.port(0).and_then(|port| port.vc(0)).and_then(|vc| vc.rx()).expect("rx");
    rx.post_all(&mut b.alloc(1 << 16).and_then(|region| region.split(64, 256)).expect("buffers"));
    rx
}

#[inline(never)]
fn measured_engine_step(engine: &mut Runner) {
    engine.run_posted();
}

/// Posts a packet, runs the engine (callgrind does not count it here), polls both ends and reposts,
/// for one packet after the other.
#[inline(never)]
fn measured_app_single(
    tx: &mut Tx,
    rx: &mut Rx,
    engine: &mut Runner,
    next: &mut Option<Buf>,
) -> usize {
    let (mut bytes, mut buf) = (0, next.take());
    for _ in 0..GROUP {
        if let Some(buf) = buf.take() {
            let _ = tx.send(buf);
        }
        measured_engine_step(engine);
        if tx.poll().is_some() {
            buf = tx.take();
        }
        if let Some(received) = rx.poll() {
            bytes += received.buf.len();
            let _ = rx.post(received.buf);
        }
    }
    *next = buf;
    bytes
}

/// Posts a packet, runs the engine (callgrind does not count it here), polls both ends and releases
/// the buffer, for one packet after the other.
#[inline(never)]
fn measured_app_pooled_single(tx: &mut PooledTx, rx: &mut PooledRx, engine: &mut Runner) -> usize {
    let mut bytes = 0;
    for _ in 0..GROUP {
        let _ = tx.send(SIZE);
        measured_engine_step(engine);
        tx.poll();
        bytes += rx.take(|packet| packet.bytes.len()).unwrap_or_default();
    }
    bytes
}

#[inline(never)]
fn measured_app_pooled_group(tx: &mut PooledTx, rx: &mut PooledRx, engine: &mut Runner) -> usize {
    for _ in 0..GROUP {
        let _ = tx.stage(SIZE);
    }
    tx.submit();
    measured_engine_step(engine);
    tx.poll();
    let mut bytes = 0;
    while let Some(length) = rx.take(|packet| packet.bytes.len()) {
        bytes += length;
    }
    bytes
}

fn pooled(rounds: usize, grouped: bool) -> usize {
    let (rig, b) = rig(false);
    let options = PoolOptions::new(256, 64);
    let vc = |end: &Endpoint| end.port(0).and_then(|port| port.vc(0)).expect("VC 0");
    let mut tx = vc(&rig.ends.0).tx_pooled(options).expect("tx");
    let mut rx = vc(&b).rx_pooled(options).expect("rx");
    let mut engine = rig.engine;
    let mut bytes = 0;
    for _ in 0..rounds {
        bytes += if grouped {
            measured_app_pooled_group(&mut tx, &mut rx, &mut engine)
        } else {
            measured_app_pooled_single(&mut tx, &mut rx, &mut engine)
        };
    }
    bytes
}

fn single(rounds: usize) -> usize {
    let (mut rig, b) = rig(true);
    let (mut rx, mut next) = (receiver(&b), rig.out.pop());
    let Rig { tx: Some(tx), engine, .. } = &mut rig else { unreachable!("rig(true) has a sender") };
    (0..rounds).map(|_| measured_app_single(tx, &mut rx, engine, &mut next)).sum()
}

/// A group with buffers that move: sends, runs the engine, takes buffers back, receives and
/// reposts.
#[inline(never)]
fn measured_app_group(
    rig: &mut Rig,
    rx: &mut Rx,
    group: &mut Vec<Buf>,
    used: &mut Vec<Buf>,
) -> usize {
    let tx = rig.tx.as_mut().expect("tx");
    tx.send_group(group);
    measured_engine_step(&mut rig.engine);
    tx.poll();
    tx.take_all(group);
    let mut bytes = 0;
    while let Some(received) = rx.poll() {
        bytes += received.buf.len();
        used.push(received.buf);
    }
    rx.post_all(used);
    bytes
}

/// The same with all packets received at once.
#[inline(never)]
fn measured_app_group_all(
    rig: &mut Rig,
    rx: &mut Rx,
    group: &mut Vec<Buf>,
    used: &mut Vec<Buf>,
) -> usize {
    let tx = rig.tx.as_mut().expect("tx");
    tx.send_group(group);
    measured_engine_step(&mut rig.engine);
    tx.poll();
    tx.take_all(group);
    if rx.take_all(used) == 0
        && let Some(received) = rx.poll()
    {
        used.push(received.buf);
    }
    let bytes = used.iter().map(|buf| buf.len()).sum();
    rx.post_all(used);
    bytes
}

fn group(rounds: usize, all: bool) -> usize {
    let (mut rig, b) = rig(true);
    let mut rx = receiver(&b);
    let mut used = Vec::with_capacity(256);
    let mut group: Vec<Buf> = rig.out.drain(..GROUP).collect();
    let round = if all { measured_app_group_all } else { measured_app_group };
    (0..rounds).map(|_| round(&mut rig, &mut rx, &mut group, &mut used)).sum()
}

/// A burst of 128 packets, received in a packed area or by a pooled queue.
#[inline(never)]
fn measured_app_burst(rig: &mut Rig, rx: &mut Receiver, back: &mut Option<Buf>) -> usize {
    let tx = rig.tx.as_mut().expect("tx");
    if let Some(buf) = back.take() {
        let _ = tx.send_burst(buf, SIZE as u32, SIZE as u32, BURST as u32);
    }
    measured_engine_step(&mut rig.engine);
    tx.poll();
    *back = tx.take();
    let mut bytes = 0;
    match rx {
        Receiver::Packed(rx) => {
            while let Some(run) = rx.poll() {
                bytes += run.records().map(|record| record.bytes.len()).sum::<usize>();
            }
        }
        Receiver::Pooled(rx) => {
            while let Some(length) = rx.take(|packet| packet.bytes.len()) {
                bytes += length;
            }
        }
    }
    bytes
}

enum Receiver {
    Packed(PackedRx),
    Pooled(PooledRx),
}

fn burst(rounds: usize, packed: bool) -> usize {
    let (mut rig, b) = rig(true);
    let region = rig.ends.0.alloc(1 << 16).expect("memory");
    let mut back = Some(region.buf(0..SIZE * BURST).expect("a buffer"));
    let vc = b.port(0).and_then(|port| port.vc(0)).expect("VC 0");
    let mut rx = if packed {
        Receiver::Packed(vc.rx_packed(PackedOptions::default()).expect("packed"))
    } else {
        Receiver::Pooled(vc.rx_pooled(PoolOptions::new(256, 64)).expect("pooled"))
    };
    (0..rounds).map(|_| measured_app_burst(&mut rig, &mut rx, &mut back)).sum()
}

/// A queue pair to a target-only endpoint, and the engine of both directions.
fn rdma_rig() -> (RdmaQueue, Runner) {
    let folder = std::env::temp_dir();
    let file = folder.join(format!("spfe-instructions-{}.toml", std::process::id()));
    // The key is known without a question, which nobody would answer here.
    std::fs::write(&file, "[[region]]\nname = \"m\"\nsize = \"1M\"\ngeneration = 1\n")
        .expect("a file");
    let mut topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    topology.endpoints[0][0].peer = Peer::Target { file: 0 };
    topology.endpoints[1][0].peer = Peer::None;
    topology.targets = vec![file.to_str().expect("a path in UTF-8").to_owned()];
    let network = Embedded::without_device(topology);
    let _ = std::fs::remove_file(&file);
    let network = network.expect("a network");
    let endpoint = Endpoint::attach(&network, 0, "a").expect("endpoint 0");
    let vc = endpoint.port(0).and_then(|port| port.vc(0)).expect("VC 0");
    let queue = RdmaQueue::open(&vc, RdmaQueueOptions::default()).expect("a queue pair");
    let view = network.network().view(spfe_plane::arena::DEVICE);
    let (out, into) = view.runners_answering(0, 0, 0);
    (queue, out.with_partner(into))
}

/// Groups of operations of one kind.
fn rdma(rounds: usize, kind: WorkKind, is_pooled: bool) -> usize {
    let (mut queue, mut engine) = rdma_rig();
    let key = RemoteKey::new(0, 1).expect("a key").0;
    let memory = queue.register(vec![1; 1 << 16]).expect("memory");
    let request = |index: usize| WorkRequest {
        local: [Local { memory, offset: (SIZE * index) as u64, length: SIZE as u32 }].into(),
        key,
        address: (SIZE * index) as u64,
        flags: WorkFlags { signaled: index + 1 == GROUP, ..WorkFlags::default() },
        ..WorkRequest::new(index as u64, kind)
    };
    if is_pooled {
        let mut pooled = queue.pooled(&request(0), SIZE as u32, SIZE as u64).expect("pooled");
        return (0..rounds).map(|_| measured_app_rdma_pooled(&mut pooled, &mut engine)).sum();
    }
    let requests: Vec<WorkRequest> = (0..GROUP).map(request).collect();
    (0..rounds).map(|_| measured_app_rdma(&mut queue, &mut engine, &requests)).sum()
}

#[inline(never)]
fn measured_app_rdma(
    queue: &mut RdmaQueue,
    engine: &mut Runner,
    requests: &[WorkRequest],
) -> usize {
    for request in requests {
        let _ = queue.post(request.clone());
    }
    let _ = queue.ring();
    loop {
        // The first group takes a step more: it connects.
        measured_engine_step(engine);
        if let Ok(Some(done)) = queue.poll() {
            return if done.result.is_ok() { SIZE * requests.len() } else { 0 };
        }
    }
}

#[inline(never)]
fn measured_app_rdma_pooled(pooled: &mut PooledPair, engine: &mut Runner) -> usize {
    for _ in 0..GROUP {
        pooled.stage();
    }
    pooled.submit();
    loop {
        measured_engine_step(engine);
        if let Some(done) = pooled.poll() {
            return done.bytes as usize;
        }
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let scenario = args.next().unwrap_or_default();
    let rounds = args.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let (bytes, packets) = match scenario.as_str() {
        "single" => (single(rounds), rounds * GROUP),
        "pooled-single" => (pooled(rounds, false), rounds * GROUP),
        "pooled-group" => (pooled(rounds, true), rounds * GROUP),
        "group" => (group(rounds, false), rounds * GROUP),
        "group-all" => (group(rounds, true), rounds * GROUP),
        "burst" => (burst(rounds, false), rounds * BURST),
        "packed" => (burst(rounds, true), rounds * BURST),
        "rdma-write" => (rdma(rounds, WorkKind::Write, false), rounds * GROUP),
        "rdma-read" => (rdma(rounds, WorkKind::Read, false), rounds * GROUP),
        "rdma-pooled-write" => (rdma(rounds, WorkKind::Write, true), rounds * GROUP),
        "rdma-pooled-read" => (rdma(rounds, WorkKind::Read, true), rounds * GROUP),
        other => {
            eprintln!(
                "scenario '{other}': must be single, group, group-all, pooled-single, pooled-group, burst, \
                 packed, or rdma- with write, read, pooled-write or pooled-read"
            );
            std::process::exit(2);
        }
    };
    assert_eq!(bytes, packets * SIZE, "{scenario}: bytes received");
    println!("{packets}");
}
