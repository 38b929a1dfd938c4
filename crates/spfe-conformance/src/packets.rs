//! Every size, group, burst, chain and end arrives byte for byte.

use crate::kit::{EndpointPair, cut, depth, fill, matches, receive, soon, tagged, take_all};
use crate::{Fixture, cases};
use spfe::{Deadline, End, Status, Threshold};

cases! {
    packets_of_every_size_arrive_whole: [],
    a_packet_of_more_than_16_mib_arrives_whole: [],
    a_group_is_one_completion: [],
    a_group_is_partial_when_the_queue_is_full: [],
    a_burst_is_as_many_packets: [Burst, Packed],
    a_burst_beyond_its_buffer_is_refused: [Burst],
    a_packet_is_gathered_from_as_many_buffers_as_the_device_takes: [],
    parts_that_never_fit_are_refused: [],
    a_path_of_1_to_11_bytes_goes_in_front: [],
    an_error_end_arrives_as_one: [],
    pieces_make_one_packet: [],
    pieces_continue_whichever_side_runs_the_device: [],
    untaken_buffers_never_alias_posted_ones: [Burst],
    a_dropped_batch_posts_nothing: [],
}

const BUFFER: usize = 4096;

fn packets_of_every_size_arrive_whole(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx(0);
    let around = [BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 2 * BUFFER + 1];
    let small = [1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 255, 256, 257];
    for (seed, length) in small.into_iter().chain(around).chain([1 << 20]).enumerate() {
        tx.send(pair.packet(length, seed as u64)).unwrap();
        let packet = receive(&mut rx);
        packet.is(length, seed as u64);
        assert_eq!(packet.parts, length.div_ceil(BUFFER), "parts of {length} bytes");
        assert_eq!(tx.drain(soon()).unwrap(), 1);
        assert_eq!(tx.take().unwrap().len(), length);
    }
    assert_eq!(rx.posted_buffers(), 16);
}

fn a_packet_of_more_than_16_mib_arrives_whole(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, 65536, 16);
    let mut tx = pair.tx(0);
    let length = (16 << 20) + 65537;
    tx.send(pair.packet(length, 5)).unwrap();
    let mut at = 0;
    loop {
        let part = rx.recv(soon()).unwrap();
        assert!(matches(&part.buf, 5, at), "bytes {at} and on differ");
        at += part.buf.len();
        let more = part.more();
        rx.post(part.buf).unwrap();
        if !more {
            break;
        }
    }
    assert_eq!(at, length);
    assert_eq!(tx.drain(soon()).unwrap(), 1);
}

fn a_group_is_one_completion(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 129);
    let mut tx = pair.tx_with(0, depth(256));
    let region = pair.a.alloc(129 * 64).unwrap();
    for count in [1, 2, 127, 128, 129] {
        let mut group = tagged(&region, 64, count);
        assert_eq!(tx.send_group(&mut group), count);
        for seed in 0..count as u64 {
            receive(&mut rx).is(64, seed);
        }
        tx.wait(soon()).unwrap();
        let sent = tx.poll().unwrap();
        assert_eq!((sent.status, sent.packets as usize), (Status::Ok, count));
        assert_eq!(sent.bytes as usize, 64 * count);
        assert!(tx.poll().is_none());
        let tags: Vec<u64> = take_all(&mut tx).iter().map(|buf| buf.tag()).collect();
        assert_eq!(tags, (0..count as u64).collect::<Vec<_>>());
    }
}

fn a_group_is_partial_when_the_queue_is_full(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx_with(0, depth(16));
    let region = pair.a.alloc(21 * 64).unwrap();
    let mut group = tagged(&region, 64, 21);
    assert_eq!(tx.send_group(&mut group), 16);
    assert_eq!((group.len(), group[0].tag()), (5, 16), "the rest of the group stays, in order");
    assert_eq!((tx.free(), tx.outstanding()), (0, 16));
    assert_eq!(tx.send_group(&mut group), 0);
    assert_eq!(tx.send(group.remove(0)).unwrap_err().0.tag(), 16);
    assert_eq!(tx.stats().full, 2);
    let mut rx = pair.rx_posted(0, BUFFER, 4);
    for seed in 0..16 {
        receive(&mut rx).is(64, seed);
    }
    assert_eq!(tx.drain(soon()).unwrap(), 16);
    assert_eq!(tx.send_group(&mut group), 4);
    for seed in 17..21 {
        receive(&mut rx).is(64, seed);
    }
}

fn a_burst_is_as_many_packets(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.packed(0, 1 << 20);
    let mut tx = pair.tx(0);
    let length = 24;
    for count in [1, 128, 1000, 65535] {
        for stride in [0, length, length + 8] {
            let packet = pair.packet(stride * (count - 1) + length, 3);
            tx.send_burst(packet, length as u32, stride as u32, count as u32).unwrap();
            let (mut got, mut records) = (0, 0);
            while got < count {
                rx.wait(&Threshold::ONE, soon()).unwrap();
                while let Some(run) = rx.poll() {
                    for record in run.records() {
                        assert_eq!((record.bytes.len(), record.end), (length, End::Eop));
                        assert!(matches(record.bytes, 3, got * stride), "{count} {stride}: {got}");
                        got += 1;
                    }
                    records += run.packets as usize;
                }
            }
            assert_eq!((got, records), (count, count));
            tx.wait(soon()).unwrap();
            let sent = tx.poll().unwrap();
            assert_eq!((sent.status, sent.packets as usize), (Status::Ok, count));
            assert_eq!(sent.bytes as usize, count * length);
            assert_eq!((tx.outstanding(), take_all(&mut tx).len()), (0, 1));
        }
    }
}

fn a_burst_beyond_its_buffer_is_refused(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx_with(0, depth(4));
    let mut refused = |length, stride, count| {
        let refused = tx.send_burst(pair.packet(4096, 5), length, stride, count).unwrap_err();
        assert!(refused.back.len() == 4096 && matches(&refused.back, 5, 0), "another buffer");
        refused.status().unwrap()
    };
    assert_eq!(refused(64, 64, 65), Status::OutOfBounds);
    assert_eq!(refused(64, u32::MAX, 65535), Status::OutOfBounds);
    assert_eq!(refused(0, 64, 1), Status::Empty);
    assert_eq!(refused(64, 64, 0), Status::Empty);
    assert_eq!(refused(64, 0, 65536), Status::TooLong);
    tx.send_burst(pair.buf(4096), 64, 64, 64).unwrap();
    tx.send_burst(pair.buf(4096), 4096, 0, 2).unwrap();
    let full = tx.send_burst(pair.buf(4096), 64, 64, 64).unwrap_err();
    assert_eq!((full.status(), full.back.len()), (Some(Status::Busy), 4096), "{full}");
}

/// At least 16, whatever the device.
fn a_packet_is_gathered_from_as_many_buffers_as_the_device_takes(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx_with(0, depth(256));
    let most = tx.chain_max() as usize;
    assert!((16..=256).contains(&most), "{most} buffers");
    let region = pair.a.alloc(1 << 20).unwrap();
    for (turn, count) in (2..=most).chain([most, 2]).enumerate() {
        let (mut at, mut parts, seed) = (0, Vec::new(), turn as u64);
        for part in 0..count {
            let length = 1 + (part * 977 + turn * 131) % 3000;
            let mut buf = region.buf(at..at + length).unwrap();
            fill(&mut buf, seed, at);
            at += length;
            parts.push(buf);
        }
        let mut batch = tx.batch();
        batch.push_gather(parts).unwrap();
        assert_eq!(batch.submit(), count as u32);
        receive(&mut rx).is(at, seed);
        assert_eq!(tx.drain(soon()).unwrap(), 1);
        assert_eq!(take_all(&mut tx).len(), count);
    }
}

/// Parts that can never fit get a status of their own, not that of a full queue. Every buffer is
/// returned.
fn parts_that_never_fit_are_refused(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx_with(0, depth(256));
    let most = tx.chain_max() as usize;
    let region = pair.a.alloc(256 * 8).unwrap();
    let parts = |count| region.split(8, count).unwrap();
    let mut gather = |parts: Vec<spfe::Buf>| {
        let count = parts.len();
        let refused = tx.batch().push_gather(parts).unwrap_err();
        assert_eq!(refused.back.len(), count, "{refused}");
        refused.status().unwrap()
    };
    assert_eq!(gather(Vec::new()), Status::Empty);
    assert_eq!(gather(parts(most + 1)), Status::ChainTooLong);
    let refused = tx.batch().push_with_path(&[1; 12], pair.packet(8, 1)).unwrap_err();
    assert_eq!((refused.status(), refused.back.len()), (Some(Status::TooLong), 8), "{refused}");

    // BUSY if there is no room now, CHAIN_TOO_LONG if the ring is too small.
    let mut tx = pair.tx_with(1, depth(4));
    assert_eq!(tx.batch().push_gather(parts(5)).unwrap_err().status(), Some(Status::ChainTooLong));
    let mut batch = tx.batch();
    batch.push_gather(parts(3)).unwrap();
    let refused = batch.push_with_path(&[1], pair.packet(8, 1)).unwrap_err();
    assert_eq!((refused.status(), refused.back.len()), (Some(Status::Busy), 8), "{refused}");
    let two = (0..2).map(|_| pair.packet(8, 1)).collect();
    let refused = batch.push_gather(two).unwrap_err();
    assert_eq!((refused.status(), refused.back.len()), (Some(Status::Busy), 2), "{refused}");
    // A path of no bytes takes no entry.
    batch.push_with_path(&[], pair.packet(8, 1)).unwrap();
    assert_eq!(batch.submit(), 4);
    let mut rx = pair.rx_posted(1, BUFFER, 4);
    assert_eq!(receive(&mut rx).bytes.len(), 24);
    receive(&mut rx).is(8, 1);
}

fn a_path_of_1_to_11_bytes_goes_in_front(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx_with(0, depth(16));
    let path: Vec<u8> = (1..=11).collect();
    for count in 0..=11 {
        for length in [1, 500, BUFFER] {
            let mut batch = tx.batch();
            batch.push_with_path(&path[..count], pair.packet(length, 9)).unwrap();
            batch.submit();
            let packet = receive(&mut rx);
            assert_eq!((packet.end, packet.bytes.len()), (End::Eop, count + length));
            assert_eq!(packet.bytes[..count], path[..count]);
            assert!(matches(&packet.bytes[count..], 9, 0), "{count} + {length}");
            assert_eq!(tx.drain(soon()).unwrap(), 1);
            assert_eq!(take_all(&mut tx).len(), 1);
        }
    }
}

fn an_error_end_arrives_as_one(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx(0);
    for length in [1, 100, BUFFER, 3 * BUFFER + 5] {
        tx.send_ending(pair.packet(length, 1), End::Eep).unwrap();
        let packet = receive(&mut rx);
        assert_eq!((packet.end, packet.status), (End::Eep, Status::PacketCut));
        assert_eq!(packet.bytes.len(), length);
        assert!(matches(&packet.bytes, 1, 0));
        assert_eq!(tx.drain(soon()).unwrap(), 1, "an error end is no error of the sender");
        tx.send(pair.packet(length, 2)).unwrap();
        receive(&mut rx).is(length, 2);
        tx.drain(soon()).unwrap();
    }
}

fn pieces_make_one_packet(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx(0);
    let lengths: [&[usize]; 5] =
        [&[1, 1], &[100, 200, 300], &[BUFFER, BUFFER], &[5000, 1, 9000, 3], &[BUFFER - 1, 1, 1]];
    for (turn, lengths) in lengths.into_iter().enumerate() {
        for empty in [false, true] {
            let (mut at, seed) = (0, turn as u64);
            for (index, length) in lengths.iter().enumerate() {
                let mut piece = pair.buf(*length);
                fill(&mut piece, seed, at);
                at += length;
                let last = index + 1 == lengths.len() && !empty;
                tx.send_ending(piece, if last { End::Eop } else { End::More }).unwrap();
            }
            if empty {
                let mut closing = pair.buf(1);
                closing.set_len(0);
                tx.send_ending(closing, End::Eop).unwrap();
            }
            receive(&mut rx).is(at, seed);
            assert_eq!(tx.drain(soon()).unwrap(), 1, "one packet in pieces is one packet");
            take_all(&mut tx);
        }
    }
    let mut empty = pair.buf(1);
    empty.set_len(0);
    tx.send(empty).unwrap();
    assert_eq!(tx.drain(soon()).unwrap_err().status(), Some(Status::Empty));
}

/// A piece fills half of a buffer. The participant that runs the device next continues the packet:
/// the sender that posts, or the receiver that makes room.
fn pieces_continue_whichever_side_runs_the_device(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 2);
    let mut tx = pair.tx(0);
    for turn in 0..20u64 {
        let lengths = [3 * BUFFER + 100, 50, 2 * BUFFER, 3 * BUFFER + 9];
        let ends = [End::More, End::More, End::Eop, End::Eop];
        let mut at = 0;
        for (length, end) in lengths.into_iter().zip(ends) {
            let mut piece = pair.buf(length);
            fill(&mut piece, turn, at);
            at = if end == End::More { at + length } else { 0 };
            tx.send_ending(piece, end).unwrap();
        }
        // Receiving makes room, so the receiver may move the rest.
        receive(&mut rx).is(lengths[0] + lengths[1] + lengths[2], turn);
        receive(&mut rx).is(lengths[3], turn);
        tx.drain(soon()).unwrap();
        tx.send(pair.packet(BUFFER / 2, 77)).unwrap();
        receive(&mut rx).is(BUFFER / 2, 77);
        tx.drain(soon()).unwrap();
        take_all(&mut tx);
    }
}

/// Returned buffers are not taken before the queue wraps. Buffers that are given out later must be
/// ones that the device no longer uses.
fn untaken_buffers_never_alias_posted_ones(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx_with(0, depth(4));
    for seed in 0..4 {
        tx.send(pair.packet(32, seed)).unwrap();
        receive(&mut rx).is(32, seed);
    }
    tx.drain(soon()).unwrap();
    drop(rx.cancel().unwrap());
    let region = pair.a.alloc(4096).unwrap();
    let mut at = 0;
    let mut group: Vec<_> = (10..13).map(|seed| cut(&region, &mut at, 32, seed)).collect();
    group.iter_mut().for_each(|buf| buf.set_tag(99));
    assert_eq!(tx.send_group(&mut group), 3);
    assert!(take_all(&mut tx).iter().all(|buf| buf.tag() != 99), "posted buffers were returned");
    let region = pair.b.alloc(16 * BUFFER).unwrap();
    rx.post_all(&mut region.split(BUFFER, 16).unwrap());
    for seed in 10..13 {
        receive(&mut rx).is(32, seed);
    }
    tx.drain(soon()).unwrap();
    drop(rx.cancel().unwrap());
    for turn in 0..2 {
        let mut burst = pair.packet(64, turn);
        burst.set_tag(98);
        tx.send_burst(burst, 32, 32, 2).unwrap();
    }
    let early = take_all(&mut tx);
    assert!(early.iter().all(|buf| buf.tag() != 98), "posted buffers were returned");
    assert_eq!(tx.outstanding(), 4);
    drop(early);
    rx.post_all(&mut region.split(BUFFER, 16).unwrap());
    for seed in [0, 0, 1, 1] {
        let packet = receive(&mut rx);
        assert_eq!(packet.bytes.len(), 32);
        assert!(matches(&packet.bytes, seed, 0) || matches(&packet.bytes, seed, 32));
    }
}

fn a_dropped_batch_posts_nothing(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 16);
    let mut tx = pair.tx_with(0, depth(16));
    let region = pair.a.alloc(1 << 16).unwrap();
    for turn in 0..3 {
        let mut at = 0;
        let mut batch = tx.batch();
        for seed in 100..112 {
            batch.push(cut(&region, &mut at, 64, seed)).unwrap();
        }
        drop(batch);
        assert_eq!((tx.outstanding(), rx.wait(&Threshold::ONE, Deadline::NOW).is_ok()), (0, false));
        region.buf(0..at).unwrap_or_else(|error| panic!("buffers of the batch are free: {error}"));
        for seed in 0..7 {
            tx.send(pair.packet(64, seed)).unwrap();
            receive(&mut rx).is(64, seed);
        }
        assert_eq!(tx.drain(soon()).unwrap(), 7, "turn {turn}");
        take_all(&mut tx);
        assert!(rx.wait(&Threshold::ONE, Deadline::NOW).is_err(), "a packet that was not sent");
    }
}
