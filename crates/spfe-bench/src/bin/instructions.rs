//! The program behind `tools/callgrind.sh`: moves packets with application and engine in one
//! thread, in functions that are never inlined, so that callgrind can count each side by name.
//!
//! `instructions SCENARIO ROUNDS`, SCENARIO one of `single`, `group`, `burst`, `packed`. A round is
//! 16 packets of 8 bytes for `single` and `group` (16 at a time), 128 for `burst` and `packed`.

use spfe::{Buf, Embedded, Endpoint, LinkRate, Mode, PackedOptions, PackedRx, Rx, Topology, Tx};
use spfe_net::Runner;

const SIZE: usize = 8;
const GROUP: usize = 16;
const BURST: usize = 128;

struct Rig {
    tx: Tx,
    out: Vec<Buf>,
    engine: Runner,
    _ends: (Endpoint, Endpoint),
}

/// Mode thread without the thread: the engine is run by hand.
fn rig() -> (Rig, Endpoint) {
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let network = Embedded::without_device(topology).expect("a network");
    let a = Endpoint::attach(&network, 0, "a").expect("endpoint 0");
    let b = Endpoint::attach(&network, 1, "b").expect("endpoint 1");
    let tx = a.port(0).and_then(|port| port.vc(0)).and_then(|vc| vc.tx()).expect("tx");
    let mut out = a.alloc(1 << 16).and_then(|region| region.split(64, 256)).expect("buffers");
    out.iter_mut().for_each(|buf| buf.set_len(SIZE));
    let engine = network.network().view(spfe_net::arena::DEVICE).runner_out(0, 0, 0, true);
    (Rig { tx, out, engine, _ends: (a, b.clone()) }, b)
}

fn receiver(b: &Endpoint) -> Rx {
    let mut rx = b.port(0).and_then(|port| port.vc(0)).and_then(|vc| vc.rx()).expect("rx");
    rx.post_all(&mut b.alloc(1 << 16).and_then(|region| region.split(64, 256)).expect("buffers"));
    rx
}

#[inline(never)]
fn measured_engine_step(engine: &mut Runner) {
    engine.kick();
}

/// Post, let the engine work (callgrind stops counting inside it), poll both ends, repost.
#[inline(never)]
fn measured_app_single(rig: &mut Rig, rx: &mut Rx, next: &mut Option<Buf>) -> usize {
    if let Some(buf) = next.take() {
        let _ = rig.tx.send(buf);
    }
    measured_engine_step(&mut rig.engine);
    if rig.tx.poll().is_some() {
        *next = rig.tx.take();
    }
    match rx.poll() {
        Some(received) => {
            let length = received.buf.len();
            let _ = rx.post(received.buf);
            length
        }
        None => 0,
    }
}

#[inline(never)]
fn measured_app_send_group(tx: &mut Tx, group: &mut Vec<Buf>) {
    tx.send_group(group);
}

#[inline(never)]
fn measured_app_take_sent(tx: &mut Tx, out: &mut Vec<Buf>) {
    while tx.poll().is_some() {}
    while let Some(buf) = tx.take() {
        out.push(buf);
    }
}

#[inline(never)]
fn measured_app_receive_group(rx: &mut Rx, used: &mut Vec<Buf>) -> usize {
    let mut bytes = 0;
    while let Some(received) = rx.poll() {
        bytes += received.buf.len();
        used.push(received.buf);
    }
    rx.post_all(used);
    bytes
}

#[inline(never)]
fn measured_app_send_burst(tx: &mut Tx, buf: Buf) {
    let _ = tx.send_burst(buf, SIZE as u32, SIZE as u32, BURST as u32);
}

#[inline(never)]
fn measured_app_receive_packed(rx: &mut PackedRx) -> usize {
    let mut bytes = 0;
    while let Some(run) = rx.poll() {
        bytes += run.records().map(|record| record.bytes.len()).sum::<usize>();
    }
    bytes
}

fn single(rounds: usize) -> usize {
    let (mut rig, b) = rig();
    let mut rx = receiver(&b);
    let mut bytes = 0;
    let mut next = rig.out.pop();
    for _ in 0..rounds * GROUP {
        bytes += measured_app_single(&mut rig, &mut rx, &mut next);
    }
    bytes
}

fn group(rounds: usize) -> usize {
    let (mut rig, b) = rig();
    let mut rx = receiver(&b);
    let mut used = Vec::with_capacity(256);
    let mut group: Vec<Buf> = rig.out.drain(..GROUP).collect();
    let mut bytes = 0;
    for _ in 0..rounds {
        measured_app_send_group(&mut rig.tx, &mut group);
        measured_engine_step(&mut rig.engine);
        measured_app_take_sent(&mut rig.tx, &mut group);
        bytes += measured_app_receive_group(&mut rx, &mut used);
    }
    bytes
}

fn burst(rounds: usize, packed: bool) -> usize {
    let (mut rig, b) = rig();
    rig.out.clear();
    let region = rig._ends.0.alloc(1 << 16).expect("memory");
    let mut back = vec![region.buf(0..SIZE * BURST).expect("a buffer")];
    let vc = b.port(0).and_then(|port| port.vc(0)).expect("VC 0");
    let mut posted = (!packed).then(|| receiver(&b));
    let mut area = packed.then(|| vc.rx_packed(PackedOptions::default()).expect("packed"));
    let mut used = Vec::with_capacity(256);
    let mut bytes = 0;
    for _ in 0..rounds {
        if let Some(buf) = back.pop() {
            measured_app_send_burst(&mut rig.tx, buf);
        }
        measured_engine_step(&mut rig.engine);
        measured_app_take_sent(&mut rig.tx, &mut back);
        bytes += match (&mut posted, &mut area) {
            (Some(rx), _) => measured_app_receive_group(rx, &mut used),
            (_, Some(rx)) => measured_app_receive_packed(rx),
            _ => 0,
        };
    }
    bytes
}

fn main() {
    let mut args = std::env::args().skip(1);
    let scenario = args.next().unwrap_or_default();
    let rounds = args.next().and_then(|text| text.parse().ok()).unwrap_or(100);
    let (bytes, packets) = match scenario.as_str() {
        "single" => (single(rounds), rounds * GROUP),
        "group" => (group(rounds), rounds * GROUP),
        "burst" => (burst(rounds, false), rounds * BURST),
        "packed" => (burst(rounds, true), rounds * BURST),
        other => {
            eprintln!("scenario '{other}' is none of single, group, burst, packed");
            std::process::exit(2);
        }
    };
    assert_eq!(bytes, packets * SIZE, "{scenario}: bytes received");
    println!("{packets}");
}
