//! Queues with their own buffers: reserve, fill, submit; peek, use, release.

use crate::kit::{EndpointPair, LONG, depth, fill, matches, soon, spawn};
use crate::{Capability, Fixture, cases};
use fastrand::Rng;
use spfe::{
    Deadline, End, PoolOptions, PooledRx, PooledTx, QueueOptions, Status, Strategy, Threshold,
};
use std::sync::mpsc::channel;

cases! {
    pooled_packets_of_every_size_arrive_whole: [],
    a_pooled_group_is_one_completion: [],
    a_pooled_queue_wraps_many_times: [],
    a_full_pool_makes_the_sender_wait: [],
    a_packet_longer_than_a_slot_continues_in_the_next: [],
    a_peeked_packet_is_not_overwritten: [],
    pooled_queues_work_with_other_kinds: [Packed],
    a_sleeping_pooled_receiver_gets_packets_of_an_idle_sender: [RealTime],
    a_staged_group_that_is_dropped_is_not_sent: [],
    a_length_that_fits_no_slot_is_refused: [],
    a_reset_ends_pooled_queues: [Reset],
    short_packets_come_beside_their_completions: [],
    what_is_no_short_packet_comes_in_slots: [],
    a_sleeping_receiver_gets_packets_beside_completions: [RealTime],
}

fn open(pair: &EndpointPair, slots: u32, bytes: u32) -> (PooledTx, PooledRx) {
    let options = PoolOptions::new(slots, bytes);
    let vc = |endpoint: &spfe::Endpoint| endpoint.port(0).unwrap().vc(0).unwrap();
    (vc(&pair.a).tx_pooled(options).unwrap(), vc(&pair.b).rx_pooled(options).unwrap())
}

/// Fills the next slot with packet `seed`. Waits until a slot is free.
#[track_caller]
fn put(tx: &mut PooledTx, length: usize, seed: u64) {
    while tx.slot().is_none() {
        tx.wait(soon()).unwrap();
        while tx.poll().is_some() {}
    }
    fill(&mut tx.slot().unwrap()[..length], seed, 0);
}

/// Takes the next packet and checks that it is packet `seed`, in one slot.
#[track_caller]
fn expect(rx: &mut PooledRx, length: usize, seed: u64) {
    rx.wait(&Threshold::ONE, soon()).unwrap();
    let packet = rx.peek().unwrap();
    assert_eq!((packet.bytes.len(), packet.end, packet.status), (length, End::Eop, Status::Ok));
    assert!(matches(packet.bytes, seed, 0), "packet {seed} differs");
    rx.release();
}

fn pooled_packets_of_every_size_arrive_whole(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 16, 4096);
    for (seed, length) in (1..70).chain([255, 256, 257, 4095, 4096]).enumerate() {
        put(&mut tx, length, seed as u64);
        tx.send(length).unwrap();
        expect(&mut rx, length, seed as u64);
    }
    assert!(rx.peek().is_none());
}

fn a_pooled_group_is_one_completion(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 256, 64);
    for count in [1, 2, 3, 127, 128, 129, 256] {
        for seed in 0..count {
            put(&mut tx, 40, seed);
            if seed + 1 < count {
                tx.stage(40).unwrap();
            }
        }
        assert!(rx.peek().is_none(), "a part of a group is visible");
        // The last packet ends the group.
        tx.send(40).unwrap();
        for seed in 0..count {
            expect(&mut rx, 40, seed);
        }
        tx.wait(soon()).unwrap();
        let sent = tx.poll().unwrap();
        assert_eq!((sent.status, u64::from(sent.packets)), (Status::Ok, count));
        assert!(tx.poll().is_none());
        assert_eq!(tx.free(), 256);
    }
}

fn a_pooled_queue_wraps_many_times(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 8, 512);
    let sender = spawn(move || {
        let mut random = Rng::with_seed(5);
        for seed in 0..5000 {
            let length = 1 + random.usize(..512);
            put(&mut tx, length, seed);
            if random.usize(..3) == 0 {
                tx.stage(length).unwrap();
                if tx.free() == 0 {
                    tx.submit();
                }
            } else {
                tx.send(length).unwrap();
            }
        }
        tx.submit();
        while tx.free() != 8 {
            tx.wait(soon()).unwrap();
            while tx.poll().is_some() {}
        }
    });
    let mut random = Rng::with_seed(5);
    for seed in 0..5000 {
        expect(&mut rx, 1 + random.usize(..512), seed);
        random.usize(..3);
    }
    sender.join().unwrap();
}

fn a_full_pool_makes_the_sender_wait(fixture: &Fixture) {
    const SLOTS: u32 = 4;
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, SLOTS, LONG as u32);
    let half = u64::from(SLOTS);
    for seed in 0..half {
        put(&mut tx, LONG, seed);
        tx.send(LONG).unwrap();
    }
    rx.wait(&Threshold::count(SLOTS), soon()).unwrap();
    for seed in half..2 * half {
        put(&mut tx, LONG, seed);
        tx.send(LONG).unwrap();
    }
    while tx.poll().is_some() {}
    assert!(tx.slot().is_none(), "more slots than packets");
    assert_eq!(tx.send(LONG).unwrap_err().status(), Some(Status::Busy));
    assert!(tx.wait(Deadline::NOW).unwrap_err().is_timeout());
    for seed in 0..2 * half {
        expect(&mut rx, LONG, seed);
    }
}

fn a_packet_longer_than_a_slot_continues_in_the_next(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = PoolOptions::new(4, 100);
    let mut rx = pair.b.port(0).unwrap().vc(0).unwrap().rx_pooled(options).unwrap();
    let mut tx = pair.tx(0);
    for (seed, length) in [1234, 100, 101, 400, 5000].into_iter().enumerate() {
        tx.send(pair.packet(length, seed as u64)).unwrap();
        let mut at = 0;
        loop {
            rx.wait(&Threshold::ONE, soon()).unwrap();
            let part = rx.peek().unwrap();
            assert!(matches(part.bytes, seed as u64, at));
            at += part.bytes.len();
            let end = part.end;
            rx.release();
            if end != End::More {
                break;
            }
        }
        assert_eq!(at, length);
        tx.drain(soon()).unwrap();
    }
}

fn a_peeked_packet_is_not_overwritten(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 4, 64);
    for seed in 0..8 {
        put(&mut tx, 64, seed);
        tx.send(64).unwrap();
        rx.wait(&Threshold::ONE, soon()).unwrap();
        for _ in 0..20 {
            while tx.poll().is_some() {}
            assert!(matches(rx.peek().unwrap().bytes, 0, 0));
        }
        if seed == 3 {
            rx.wait(&Threshold::count(4), soon()).unwrap();
        }
    }
    for seed in 0..8 {
        expect(&mut rx, 64, seed);
    }
    assert!(rx.peek().is_none());
    // There is no packet to release.
    rx.release();
    put(&mut tx, 64, 9);
    tx.send(64).unwrap();
    expect(&mut rx, 64, 9);
}

fn pooled_queues_work_with_other_kinds(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = PoolOptions::new(16, 256);
    let vc = |endpoint: &spfe::Endpoint, vc| endpoint.port(0).unwrap().vc(vc).unwrap();
    let mut out = vc(&pair.a, 0).tx_pooled(options).unwrap();
    let mut into = vc(&pair.b, 1).rx_pooled(options).unwrap();
    let (mut packed, mut tx) = (pair.packed(0, 8192), pair.tx_with(1, depth(16)));
    let mut got = crate::kit::Unpacked::default();
    for seed in 0..200 {
        put(&mut out, 200, seed);
        out.send(200).unwrap();
        got.wait(&mut packed, seed as usize + 1);
        tx.send(pair.packet(200, seed)).unwrap();
        expect(&mut into, 200, seed);
        tx.drain(soon()).unwrap();
        drop(tx.take());
    }
    got.are((0..200).map(|seed| (200, seed)));
    drop(packed);
    let mut rx = pair.rx_posted(0, 64, 8);
    put(&mut out, 200, 1);
    out.send(200).unwrap();
    crate::kit::receive(&mut rx).is(200, 1);
}

fn a_sleeping_pooled_receiver_gets_packets_of_an_idle_sender(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let queue = QueueOptions::default().strategy(Strategy::Block);
    let (from, into) = (PoolOptions::new(16, 64), PoolOptions::new(4, 64).queue(queue));
    let vc = |endpoint: &spfe::Endpoint| endpoint.port(0).unwrap().vc(0).unwrap();
    let mut tx = vc(&pair.a).tx_pooled(from).unwrap();
    let mut rx = vc(&pair.b).rx_pooled(into).unwrap();
    let (go, turns) = channel::<u64>();
    let thread = std::thread::spawn(move || {
        for turn in turns {
            while tx.poll().is_some() {}
            for part in 0..8 {
                put(&mut tx, 64, 8 * turn + part);
                tx.send(64).unwrap();
            }
        }
    });
    for turn in 0..1000 {
        go.send(turn).unwrap();
        for part in 0..8 {
            expect(&mut rx, 64, 8 * turn + part);
        }
    }
    drop(go);
    thread.join().unwrap();
}

fn a_staged_group_that_is_dropped_is_not_sent(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 16, 64);
    for turn in 0..3 {
        put(&mut tx, 64, 1);
        tx.send(64).unwrap();
        expect(&mut rx, 64, 1);
        for seed in 0..5 {
            put(&mut tx, 64, seed);
            tx.stage(64).unwrap();
        }
        drop(tx);
        assert!(rx.wait(&Threshold::ONE, Deadline::NOW).is_err(), "turn {turn}");
        let options = PoolOptions::new(16, 64);
        tx = pair.a.port(0).unwrap().vc(0).unwrap().tx_pooled(options).unwrap();
    }
}

fn a_length_that_fits_no_slot_is_refused(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, _rx) = open(&pair, 16, 64);
    for (length, expected) in
        [(0, Status::Empty), (65, Status::TooLong), (1 << 40, Status::TooLong)]
    {
        assert_eq!(tx.send(length).unwrap_err().status(), Some(expected));
        assert_eq!(tx.stage(length).unwrap_err().status(), Some(expected));
    }
    let vc = pair.a.port(0).unwrap().vc(1).unwrap();
    for (slots, bytes, expected) in
        [(16, 0, Status::BadField), (16, u32::MAX, Status::BadField), (3, 64, Status::BadRing)]
    {
        let error = vc.tx_pooled(PoolOptions::new(slots, bytes)).map(drop).unwrap_err();
        assert_eq!(error.status(), Some(expected), "{error}");
    }
}

fn a_reset_ends_pooled_queues(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open(&pair, 16, 64);
    put(&mut tx, 64, 1);
    tx.send(64).unwrap();
    expect(&mut rx, 64, 1);
    pair.b.reset().unwrap();
    for _ in 0..16 {
        // The slots are returned as posted and not filled.
        rx.wait(&Threshold::ONE, soon()).unwrap();
        assert_eq!(rx.peek().unwrap().status, Status::DeviceReset);
        rx.release();
    }
    assert_eq!(rx.wait(&Threshold::ONE, soon()).unwrap_err().status(), Some(Status::DeviceReset));
    pair.a.reset().unwrap();
    tx.wait(soon()).unwrap();
    while tx.poll().is_some() {}
    assert_eq!(tx.wait(soon()).unwrap_err().status(), Some(Status::DeviceReset));
    let (mut new_tx, mut new_rx) = open(&pair, 16, 64);
    drop((tx, rx));
    put(&mut new_tx, 64, 2);
    new_tx.send(64).unwrap();
    expect(&mut new_rx, 64, 2);
}

/// A sender, and a receiver that asks for short packets beside their completions.
fn open_beside(pair: &EndpointPair, slots: u32, bytes: u32) -> (PooledTx, PooledRx) {
    let beside = PoolOptions::new(slots, bytes).queue(QueueOptions::default().beside(true));
    let vc = |endpoint: &spfe::Endpoint| endpoint.port(0).unwrap().vc(0).unwrap();
    // At a sender the option has no effect.
    (vc(&pair.a).tx_pooled(beside).unwrap(), vc(&pair.b).rx_pooled(beside).unwrap())
}

/// Whether bytes are in a completion: behind its words and its time. Slots begin a cache line.
fn is_beside(bytes: &[u8]) -> bool {
    match bytes.as_ptr() as usize % 64 {
        0 => false,
        24 => true,
        other => panic!("a packet begins at byte {other} of a line"),
    }
}

fn short_packets_come_beside_their_completions(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = open_beside(&pair, 8, 128);
    for seed in 0..600 {
        let length = 1 + seed as usize % 71;
        put(&mut tx, length, seed);
        tx.send(length).unwrap();
        rx.wait(&Threshold::ONE, soon()).unwrap();
        let packet = rx.peek().unwrap();
        assert_eq!((packet.bytes.len(), packet.end, packet.status), (length, End::Eop, Status::Ok));
        let beside = is_beside(packet.bytes);
        // A device that gets a packet in parts may keep it in its slot.
        if length > 40 || !fixture.has(Capability::Beside) || fixture.has(Capability::EndToEnd) {
            let expected = length <= 40 && fixture.has(Capability::Beside);
            assert_eq!(beside, expected, "{length} bytes");
        }
        assert!(matches(packet.bytes, seed, 0), "packet {seed} differs");
        if seed % 2 == 0 {
            rx.release();
        } else {
            assert_eq!(rx.take(|packet| packet.bytes.len()), Some(length));
        }
    }
    assert!(rx.peek().is_none());
    drop(rx);
    // Nor has it where the buffers of the program are filled.
    let mut rx = pair.rx_with(0, QueueOptions::default().beside(true));
    rx.post(pair.b.alloc(64).unwrap().buf(0..64).unwrap()).unwrap();
    put(&mut tx, 20, 7);
    tx.send(20).unwrap();
    assert!(matches(&rx.recv(soon()).unwrap().buf, 7, 0));
}

fn what_is_no_short_packet_comes_in_slots(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (tx, mut rx) = open_beside(&pair, 16, 32);
    drop(tx);
    let mut tx = pair.tx(0);
    // Takes a packet or a part of one that consists of pieces of packets: their length, number and
    // first byte. Returns whether it was beside its completion.
    let mut expect = |pieces: &[(usize, u64, usize)], end, status| {
        rx.wait(&Threshold::ONE, soon()).unwrap();
        let packet = rx.peek().unwrap();
        assert_eq!((packet.end, packet.status), (end, status));
        let mut rest = packet.bytes;
        for &(bytes, seed, from) in pieces {
            let (piece, others) = rest.split_at(bytes);
            assert!(matches(piece, seed, from), "packet {seed} differs");
            rest = others;
        }
        assert!(rest.is_empty(), "{} bytes too many", rest.len());
        let beside = is_beside(packet.bytes);
        rx.release();
        beside
    };
    // A link that stores packets joins their pieces.
    let [has, whole] = [Capability::Beside, Capability::EndToEnd].map(|one| fixture.has(one));
    for round in 0..20 {
        // Two pieces of one packet, a packet that was cut, one longer than a slot, and a chain.
        tx.send_ending(pair.packet(8, 1), End::More).unwrap();
        tx.send_ending(pair.packet(8, 2), End::Eop).unwrap();
        tx.send_ending(pair.packet(16, 3), End::Eep).unwrap();
        tx.send(pair.packet(40, 4)).unwrap();
        let mut batch = tx.batch();
        batch.push_gather(vec![pair.packet(12, 5), pair.packet(12, 6)]).unwrap();
        batch.submit();
        let beside = expect(&[(8, 1, 0), (8, 2, 0)], End::Eop, Status::Ok);
        assert!(!(beside && (whole || !has)), "round {round}");
        assert!(!expect(&[(16, 3, 0)], End::Eep, Status::PacketCut), "round {round}");
        assert!(!expect(&[(32, 4, 0)], End::More, Status::Ok), "round {round}");
        assert!(!expect(&[(8, 4, 32)], End::Eop, Status::Ok), "round {round}");
        let beside = expect(&[(12, 5, 0), (12, 6, 0)], End::Eop, Status::Ok);
        assert!(beside == has || !whole, "round {round}");
        tx.drain(soon()).unwrap();
        while tx.take().is_some() {}
    }
}

fn a_sleeping_receiver_gets_packets_beside_completions(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let block = QueueOptions::default().strategy(Strategy::Block);
    let vc = |endpoint: &spfe::Endpoint| endpoint.port(0).unwrap().vc(0).unwrap();
    let mut tx = vc(&pair.a).tx_pooled(PoolOptions::new(8, 64).queue(block)).unwrap();
    let mut rx = vc(&pair.b).rx_pooled(PoolOptions::new(8, 64).queue(block.beside(true))).unwrap();
    let sender = spawn(move || {
        for seed in 0..200 {
            put(&mut tx, 1 + seed as usize % 50, seed);
            tx.send(1 + seed as usize % 50).unwrap();
        }
        while tx.free() != 8 {
            tx.wait(soon()).unwrap();
            while tx.poll().is_some() {}
        }
    });
    for seed in 0..200 {
        expect(&mut rx, 1 + seed as usize % 50, seed);
    }
    sender.join().unwrap();
}
