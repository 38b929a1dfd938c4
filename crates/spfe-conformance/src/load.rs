//! Many things at once, and counters that add up.

use crate::kit::{EndpointPair, Unpacked, depth, fill, matches, receive, soon, spawn, take_all};
use crate::{Fixture, cases};
use fastrand::Rng;
use spfe::{Buf, Endpoint, QueueOptions, Rx, Tx};

cases! {
    every_channel_at_once: [],
    both_directions_at_once: [],
    posted_and_packed_side_by_side: [Packed],
    counters_account_for_every_byte: [Burst, Fresh],
    host_counters_count_what_the_host_does: [],
    space_wire_carries_packets: [SpaceWire],
}

/// Sends `count` packets of random lengths on one end.
fn pump(mut tx: Tx, mut free: Vec<Buf>, count: u64, salt: u64) -> u64 {
    let mut random = Rng::with_seed(salt);
    let mut bytes = 0;
    for seed in 0..count {
        while free.is_empty() {
            tx.wait(soon()).unwrap();
            while tx.poll().is_some() {}
            free = take_all(&mut tx);
        }
        let mut buf = free.pop().unwrap();
        let length = 1 + random.usize(..buf.capacity());
        buf.set_len(length);
        bytes += length as u64;
        fill(&mut buf, seed ^ salt, 0);
        tx.send(buf).unwrap();
    }
    tx.drain(soon()).unwrap();
    bytes
}

/// Receives those packets and checks every byte.
fn check(mut rx: Rx, capacity: usize, count: u64, salt: u64) {
    let mut random = Rng::with_seed(salt);
    for seed in 0..count {
        receive(&mut rx).is(1 + random.usize(..capacity), seed ^ salt);
    }
}

/// Opens both ends of a channel from one endpoint to another.
fn ends(from: &Endpoint, to: &Endpoint, vc: u32, capacity: usize) -> (Tx, Vec<Buf>, Rx) {
    let options = QueueOptions::default().depth(32);
    let tx = from.port(0).unwrap().vc(vc).unwrap().tx_with(options).unwrap();
    let mut rx = to.port(0).unwrap().vc(vc).unwrap().rx_with(options).unwrap();
    rx.post_all(&mut to.alloc(16 * 2048).unwrap().split(2048, 16).unwrap());
    (tx, from.alloc(8 * capacity).unwrap().split(capacity, 8).unwrap(), rx)
}

fn run_channels(ways: &[(&Endpoint, &Endpoint)], vcs: u32, count: u64) {
    const CAPACITY: usize = 10_000;
    let mut threads = Vec::new();
    for (way, (from, to)) in ways.iter().enumerate() {
        for vc in 0..vcs {
            let salt = 1000 * way as u64 + u64::from(vc);
            let (tx, free, rx) = ends(from, to, vc, CAPACITY);
            threads.push(spawn(move || {
                pump(tx, free, count, salt);
            }));
            threads.push(spawn(move || check(rx, CAPACITY, count, salt)));
        }
    }
    let failed = threads.into_iter().filter_map(|thread| thread.join().err()).count();
    assert_eq!(failed, 0, "failed threads");
}

fn every_channel_at_once(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    run_channels(&[(&pair.a, &pair.b)], 8, 300);
}

fn both_directions_at_once(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    run_channels(&[(&pair.a, &pair.b), (&pair.b, &pair.a)], 3, 500);
}

fn posted_and_packed_side_by_side(fixture: &Fixture) {
    const CAPACITY: usize = 3000;
    let pair = EndpointPair::new(fixture);
    let (tx, free, rx) = ends(&pair.a, &pair.b, 0, CAPACITY);
    let mut packed = pair.packed(1, 8192);
    let out = pair.tx_with(1, depth(16));
    let bufs = pair.a.alloc(8 * CAPACITY).unwrap().split(CAPACITY, 8).unwrap();
    let threads = [
        spawn(move || {
            pump(tx, free, 500, 1);
        }),
        spawn(move || check(rx, CAPACITY, 500, 1)),
        spawn(move || {
            pump(out, bufs, 500, 2);
        }),
    ];
    let mut got = Unpacked::default();
    got.wait(&mut packed, 500);
    let mut random = Rng::with_seed(2);
    got.are((0..500).map(|seed| (1 + random.usize(..CAPACITY), seed ^ 2)));
    assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
}

fn counters_account_for_every_byte(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, free, rx) = ends(&pair.a, &pair.b, 2, 5000);
    let counters = |endpoint: &Endpoint| {
        let channel = endpoint.port(0).unwrap().info().unwrap().channels[2];
        (channel.tx, channel.rx)
    };
    let none = (counters(&pair.a).0, counters(&pair.b).1);
    assert_eq!((none.0.packets, none.0.bytes, none.1.packets, none.1.bytes), (0, 0, 0, 0));
    let mut batch = tx.batch();
    batch.push_burst(pair.packet(4096, 0), 64, 64, 64).unwrap();
    batch.push_with_path(&[1, 2, 3], pair.packet(100, 0)).unwrap();
    batch.push_gather(vec![pair.packet(10, 0), pair.packet(20, 0)]).unwrap();
    batch.submit();
    tx.send_ending(pair.packet(7, 0), spfe::End::More).unwrap();
    tx.send_ending(pair.packet(8, 0), spfe::End::Eep).unwrap();
    let expected = 64 + 2 + 1;
    let receiver = spawn(move || {
        let mut rx = rx;
        let bytes: usize = (0..expected).map(|_| receive(&mut rx).bytes.len()).sum();
        check(rx, 5000, 200, 4);
        bytes as u64
    });
    assert_eq!(tx.drain(soon()).unwrap(), expected);
    take_all(&mut tx);
    let more = pump(tx, free, 200, 4);
    let bytes = receiver.join().unwrap();
    assert_eq!(bytes, 4096 + 103 + 30 + 15);
    let (sent, got) = (counters(&pair.a).0, counters(&pair.b).1);
    assert_eq!((sent.packets, sent.bytes, sent.errors), (expected + 200, bytes + more, 0));
    assert_eq!((got.packets, got.bytes, got.errors), (sent.packets, sent.bytes, 0));
}

fn host_counters_count_what_the_host_does(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx_with(0, depth(4)), pair.rx(0));
    assert!(rx.poll().is_none());
    assert_eq!((rx.stats().polls, rx.stats().empty_polls), (1, 1));
    for seed in 0..4 {
        tx.send(pair.packet(64, seed)).unwrap();
    }
    assert!(tx.send(pair.packet(64, 9)).is_err());
    assert_eq!(tx.stats().full, 1);
    rx.post_all(&mut pair.b.alloc(256).unwrap().split(64, 4).unwrap());
    for seed in 0..4 {
        let got = rx.recv(soon()).unwrap();
        assert!(matches(&got.buf, seed, 0));
    }
    assert!(rx.stats().polls >= 5);
}

fn space_wire_carries_packets(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (from, to) = (pair.a.port(1).unwrap(), pair.b.port(1).unwrap());
    let (mut tx, mut rx) = (from.vc(0).unwrap().tx().unwrap(), to.vc(0).unwrap().rx().unwrap());
    assert!(from.vc(1).is_err());
    rx.post_all(&mut pair.b.alloc(4096).unwrap().split(256, 16).unwrap());
    for seed in 0..20 {
        tx.send(pair.packet(1000, seed)).unwrap();
        receive(&mut rx).is(1000, seed);
    }
    assert_eq!(tx.drain(soon()).unwrap(), 20);
}
