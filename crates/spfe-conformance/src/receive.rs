//! Packed areas and posted buffers, full and empty. No packet is lost.

use crate::Capability::EndToEnd;
use crate::kit::{EndpointPair, Unpacked, depth, fill, give_way, matches, receive, soon, take_all};
use crate::{Fixture, cases};
use fastrand::Rng;
use spfe::{
    Buf, Deadline, End, Error, PackedOptions, QueueOptions, Status, Strategy, Threshold, Tx,
};
use std::sync::mpsc::channel;

cases! {
    packed_receive_takes_every_size: [Packed],
    a_packed_area_wraps_many_times: [Packed],
    a_full_packed_area_makes_the_sender_wait: [Packed],
    a_held_run_is_not_overwritten: [Packed],
    packed_completions_run_out_before_the_area: [Packed],
    a_packed_area_of_wrong_size_is_refused: [Packed],
    without_buffers_the_sender_waits: [],
    each_posted_buffer_lets_the_sender_continue: [],
    a_sleeping_receiver_gets_packets_of_an_idle_sender: [RealTime],
    a_sleeping_packed_receiver_gets_packets_of_an_idle_sender: [RealTime, Packed],
    a_channel_can_change_its_kind_of_receive_queue: [Packed],
}

const BUFFER: usize = 4096;

/// Sends packets of these lengths as buffers become free. `step` receives meanwhile.
fn send_all(pair: &EndpointPair, tx: &mut Tx, lengths: &[usize], mut step: impl FnMut(usize)) {
    let longest = lengths.iter().copied().max().unwrap_or(1);
    let mut free = pair.a.alloc(8 * longest).unwrap().split(longest, 8).unwrap();
    for (seed, length) in lengths.iter().enumerate() {
        while free.is_empty() {
            step(seed);
            while tx.poll().is_some() {}
            free = take_all(tx);
            give_way();
        }
        let mut buf: Buf = free.pop().unwrap();
        buf.set_len(*length);
        fill(&mut buf, seed as u64, 0);
        tx.send(buf).unwrap();
    }
}

fn packed_receive_takes_every_size(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    const AREA: u32 = 16384;
    let mut rx = pair.packed(0, AREA);
    let mut tx = pair.tx_with(0, depth(64));
    let record = AREA as usize / 4 - 8;
    let around = [record - 1, record, record + 1, AREA as usize, 3 * AREA as usize + 7];
    let lengths: Vec<usize> = (1..70).chain([255, 256, 257, 2000]).chain(around).collect();
    let mut got = Unpacked::default();
    send_all(&pair, &mut tx, &lengths, |_| got.take(&mut rx));
    got.wait(&mut rx, lengths.len());
    got.are(lengths.iter().enumerate().map(|(seed, length)| (*length, seed as u64)));
    tx.drain(soon()).unwrap();
}

fn a_packed_area_wraps_many_times(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.packed(0, 4096);
    let mut tx = pair.tx_with(0, depth(64));
    let mut random = Rng::with_seed(7);
    let lengths: Vec<usize> = (0..6000).map(|_| 1 + random.usize(..1500)).collect();
    let mut got = Unpacked::default();
    send_all(&pair, &mut tx, &lengths, |_| got.take(&mut rx));
    got.wait(&mut rx, lengths.len());
    got.are(lengths.iter().enumerate().map(|(seed, length)| (*length, seed as u64)));
    tx.drain(soon()).unwrap();
}

fn a_full_packed_area_makes_the_sender_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.packed(0, 4096);
    let mut tx = pair.tx_with(0, depth(128));
    for seed in 0..100 {
        tx.send(pair.packet(500, seed)).unwrap();
    }
    rx.wait(&Threshold::count(4), soon()).unwrap();
    assert!(matches!(tx.wait_for(&Threshold::count(100), Deadline::NOW), Err(Error::TimedOut(_))));
    let mut got = Unpacked::default();
    got.wait(&mut rx, 100);
    got.are((0..100).map(|seed| (500, seed)));
    assert_eq!(tx.drain(soon()).unwrap(), 100);
}

fn a_held_run_is_not_overwritten(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.packed(0, 4096);
    let mut tx = pair.tx_with(0, depth(128));
    tx.send(pair.packet(700, 0)).unwrap();
    rx.wait(&Threshold::ONE, soon()).unwrap();
    let run = rx.poll().unwrap();
    for seed in 1..40 {
        tx.send(pair.packet(700, seed)).unwrap();
    }
    for _ in 0..50 {
        while tx.poll().is_some() {}
        let record = run.records().next().unwrap();
        assert!(matches(record.bytes, 0, 0), "a run was overwritten before it was given back");
        std::thread::yield_now();
    }
    drop(run);
    let mut got = Unpacked::default();
    got.wait(&mut rx, 39);
    got.are((1..40).map(|seed| (700, seed)));
}

/// Four completions, and each group ends a run. So the sender waits although the area has room.
fn packed_completions_run_out_before_the_area(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = PackedOptions::default().area(1 << 16).queue(depth(4));
    let vc = pair.b.port(0).unwrap().vc(0).unwrap();
    let mut rx = vc.rx_packed(options).unwrap();
    let mut tx = pair.tx_with(0, depth(128));
    for seed in 0..100 {
        tx.send(pair.packet(40, seed)).unwrap();
    }
    let mut got = Unpacked::default();
    got.wait(&mut rx, 100);
    got.are((0..100).map(|seed| (40, seed)));
    assert_eq!(tx.drain(soon()).unwrap(), 100);
}

fn a_packed_area_of_wrong_size_is_refused(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let vc = pair.b.port(0).unwrap().vc(0).unwrap();
    for area in [0, 4095, (1 << 30) + 1, u32::MAX] {
        let error = vc.rx_packed(PackedOptions::default().area(area)).map(drop).unwrap_err();
        assert_eq!(error.status(), Some(Status::BadRing), "{area}: {error}");
    }
    for entries in [0, 3, 32769, u32::MAX] {
        let error = vc.rx_with(depth(entries)).map(drop).unwrap_err();
        assert_eq!(error.status(), Some(Status::BadRing), "{entries}: {error}");
    }
    assert_eq!(vc.rx_packed(PackedOptions::default().area(4097)).unwrap().area_bytes(), 4104);
}

fn without_buffers_the_sender_waits(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let errors = || pair.a.port(0).unwrap().info().unwrap().channels[0].tx.errors;
    let before = errors();
    let mut rx = pair.rx(0);
    let mut tx = pair.tx_with(0, depth(128));
    for seed in 0..100 {
        tx.send(pair.packet(300 + seed as usize, seed)).unwrap();
    }
    assert!(rx.recv(Deadline::NOW).unwrap_err().is_timeout());
    let waits = tx.wait(Deadline::NOW).is_err() && tx.outstanding() == 100;
    // An exact link stores some of the packets.
    assert!(waits || !fixture.has(EndToEnd));
    assert_eq!(rx.posted_buffers(), 0);
    let region = pair.b.alloc(200 * 256).unwrap();
    rx.post_all(&mut region.split(256, 200).unwrap());
    for seed in 0..100 {
        receive(&mut rx).is(300 + seed as usize, seed);
    }
    assert_eq!(tx.drain(soon()).unwrap(), 100);
    assert_eq!(errors(), before, "errors");
}

fn each_posted_buffer_lets_the_sender_continue(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx(0);
    let mut tx = pair.tx(0);
    tx.send(pair.packet(40 * 100, 0)).unwrap();
    tx.send(pair.packet(100, 1)).unwrap();
    let mut buf = pair.b.alloc(100).unwrap().buf(0..100).unwrap();
    for part in 0..40 {
        rx.post(buf).unwrap();
        let got = rx.recv(soon()).unwrap();
        assert!(matches(&got.buf, 0, part * 100));
        assert_eq!((got.buf.len(), got.more()), (100, part < 39));
        buf = got.buf;
    }
    rx.post(buf).unwrap();
    receive(&mut rx).is(100, 1);
}

/// The sender posts and does nothing more. Packets that it could not deliver arrive all the same,
/// whatever the order of its posting and the receiver's falling asleep.
fn a_sleeping_receiver_gets_packets_of_an_idle_sender(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = QueueOptions::default().depth(4).strategy(Strategy::Block);
    let (mut rx, mut tx) = (pair.rx_with(0, options), pair.tx_with(0, depth(16)));
    let (go, turns) = channel::<u64>();
    let region = pair.a.alloc(2 * 64).unwrap();
    let thread = std::thread::spawn(move || {
        for turn in turns {
            // Delivered packets are completed at once or, by a device thread, a little later.
            let sent = if turn == 0 { 0 } else { 2 };
            let mut back = 0;
            while back < sent {
                while tx.poll().is_some() {}
                back += take_all(&mut tx).len();
            }
            for half in 0..2 {
                let mut buf = region.buf(half * 64..half * 64 + 64).unwrap();
                fill(&mut buf, 2 * turn + half as u64, 0);
                tx.send(buf).unwrap();
            }
        }
    });
    let mut buf = pair.b.alloc(64).unwrap().buf(0..64).unwrap();
    for turn in 0..3000 {
        rx.post(buf).unwrap();
        go.send(turn).unwrap();
        let got = rx.recv(soon()).unwrap_or_else(|error| panic!("turn {turn}: {error}"));
        assert!(matches(&got.buf, 2 * turn, 0));
        rx.post(got.buf).unwrap();
        let got = rx.recv(soon()).unwrap_or_else(|error| panic!("turn {turn}, second: {error}"));
        assert!(matches(&got.buf, 2 * turn + 1, 0));
        buf = got.buf;
    }
    drop(go);
    thread.join().unwrap();
}

/// The same with an area that has room for half of what is sent.
fn a_sleeping_packed_receiver_gets_packets_of_an_idle_sender(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let queue = QueueOptions::default().strategy(Strategy::Block);
    let options = PackedOptions::default().area(4096).queue(queue);
    let mut rx = pair.b.port(0).unwrap().vc(0).unwrap().rx_packed(options).unwrap();
    let mut tx = pair.tx_with(0, depth(16));
    let (go, turns) = channel::<u64>();
    let region = pair.a.alloc(8 * 1000).unwrap();
    let thread = std::thread::spawn(move || {
        for turn in turns {
            while tx.poll().is_some() {}
            drop(take_all(&mut tx));
            for part in 0..8 {
                let mut buf = region.buf(part * 1000..part * 1000 + 1000).unwrap();
                fill(&mut buf, 8 * turn + part as u64, 0);
                tx.send(buf).unwrap();
            }
        }
    });
    for turn in 0..1500 {
        go.send(turn).unwrap();
        let mut got = Unpacked::default();
        got.wait(&mut rx, 8);
        got.are((0..8).map(|part| (1000, 8 * turn + part)));
    }
    drop(go);
    thread.join().unwrap();
}

fn a_channel_can_change_its_kind_of_receive_queue(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx(0);
    for turn in 0..6 {
        let mut rx = pair.rx_posted(0, BUFFER, 2);
        tx.send(pair.packet(BUFFER + 1, turn)).unwrap();
        receive(&mut rx).is(BUFFER + 1, turn);
        tx.drain(soon()).unwrap();
        drop(rx);
        let mut rx = pair.packed(0, 8192);
        tx.send(pair.packet(BUFFER + 1, turn)).unwrap();
        let mut got = Unpacked::default();
        got.wait(&mut rx, 1);
        got.are([(BUFFER + 1, turn)].into_iter());
        assert_eq!(got.packets[0].1, End::Eop);
        tx.drain(soon()).unwrap();
    }
}
