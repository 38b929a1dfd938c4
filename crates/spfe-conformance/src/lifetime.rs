//! Cancel, close, drop and reset at any moment. Every buffer is returned.

use crate::Capability::{EndToEnd, SpaceWire};
use crate::kit::{
    EndpointPair, LONG, Unpacked, depth, eventually, fill, matches, receive, receive_until, soon,
    spawn, tagged, tags_are_complete, take_all,
};
use crate::{Fixture, cases};
use fastrand::Rng;
use spfe::{
    Buf, Deadline, End, Endpoint, PackedRx, Peer, PortKind, PortState, Region, Rx, Status,
    Threshold, Tx,
};
use std::any::Any;

cases! {
    a_port_names_its_users: [Owners],
    cancel_of_transmit_returns_every_buffer: [],
    cancel_of_receive_returns_every_buffer: [],
    cancel_in_the_middle_of_a_packet_cuts_it: [],
    a_cut_waits_for_a_buffer: [],
    a_cut_waits_for_room_in_a_packed_area: [Packed],
    a_closed_receiver_ends_its_open_packet: [],
    pieces_without_their_receiver_are_no_packet: [],
    waiting_packets_survive_a_change_of_receiver: [],
    everything_drops_in_every_order: [Packed],
    a_region_stays_while_its_buffers_live: [],
    a_region_gives_each_byte_to_one_buffer: [],
    a_second_opener_learns_the_owner: [Owners],
    a_refused_second_opener_changes_nothing: [],
    a_reset_completes_pending_entries: [Reset],
    a_reset_under_load_ends_everything: [Reset],
    a_queue_replaced_after_a_reset_works: [Reset],
    a_queue_is_opened_and_closed_many_times: [],
    unknown_ports_and_channels_are_named: [],
}

const BUFFER: usize = 4096;
fn cancel_of_transmit_returns_every_buffer(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx_with(0, depth(64));
    let region = pair.a.alloc(40 * 64).unwrap();
    for turn in 0..5 {
        let mut group = tagged(&region, 64, 40);
        for buf in group.drain(..20) {
            tx.send(buf).unwrap();
        }
        assert_eq!(tx.send_group(&mut group), 20);
        // With a receiver some packets have been sent when the rest is cancelled.
        let rx = (turn % 2 == 1).then(|| pair.rx_posted(0, 64, 10));
        let back = tx.cancel().unwrap();
        // In the order of posting: first the packets that were sent, then the others.
        assert!(back.iter().map(|back| back.buf.tag()).eq(0..40), "turn {turn}");
        let sent = back.iter().take_while(|back| back.status == Status::Ok).count();
        assert!(back[sent..].iter().all(|back| back.status == Status::Cancelled), "{sent} sent");
        let most = if rx.is_some() { 10 } else { 0 };
        assert!(sent <= most || !fixture.has(EndToEnd), "{sent} sent");
        assert_eq!((tx.outstanding(), take_all(&mut tx).len()), (0, 0));
        drop((rx, back));
        let mut rx = pair.rx_posted(0, BUFFER, 4);
        tx.send(pair.packet(100, 5)).unwrap();
        let mut old = receive_until(&mut rx, 100, 5);
        assert!(old.is_empty() || !fixture.has(EndToEnd), "turn {turn}: {old:?}");
        // Packets that were sent arrive whole and in order. A packet that was being sent is cut.
        if old.last().is_some_and(|last| last.end == End::Eep) {
            old.pop();
        }
        if let Some(first) = old.first() {
            let first = (0..=most).find(|seed| matches(&first.bytes, *seed as u64, 0));
            let first = first.expect("a packet that the first receiver has not taken");
            old.iter().zip(first..).for_each(|(packet, seed)| packet.is(64, seed as u64));
            // A group is one completion, even if only some of its packets were sent.
            let last = first + old.len();
            assert!(last == sent || sent == 20 && last > sent, "{sent} sent, {last} received");
        } else {
            assert!(sent <= most, "{sent} sent, none received");
        }
        assert_eq!(tx.drain(soon()).unwrap(), 1);
        take_all(&mut tx);
    }
}

fn cancel_of_receive_returns_every_buffer(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_with(0, depth(64));
    let mut tx = pair.tx(0);
    let region = pair.b.alloc(40 * 64).unwrap();
    for turn in 0..5 {
        assert_eq!(rx.post_all(&mut tagged(&region, 64, 40)), 40);
        for seed in 0..turn * 3 {
            tx.send(pair.packet(64, seed)).unwrap();
        }
        let polled: Vec<Buf> = (0..turn).map(|_| rx.recv(soon()).unwrap().buf).collect();
        if turn != 0 {
            rx.wait(&Threshold::count(2 * turn as u32), soon()).unwrap();
        }
        let back = rx.cancel().unwrap();
        tags_are_complete(polled.iter().chain(back.iter().map(|back| &back.buf)), 40);
        for (index, back) in back.iter().enumerate() {
            let packet = turn + index as u64;
            if packet < turn * 3 {
                assert_eq!(back.status, Status::Ok, "turn {turn}, packet {packet}");
                assert!(back.buf.len() == 64 && matches(&back.buf, packet, 0));
            } else {
                assert_eq!((back.status, back.buf.len()), (Status::Cancelled, 0), "turn {turn}");
            }
        }
        assert_eq!(rx.posted_buffers(), 0);
        drop((polled, back));
        let _ = tx.cancel().unwrap();
        assert_eq!(rx.post_all(&mut region.split(64, 4).unwrap()), 4);
        tx.send(pair.packet(64, 9)).unwrap();
        receive(&mut rx).is(64, 9);
        tx.drain(soon()).unwrap();
        drop(rx.cancel().unwrap());
    }
}

/// The sender cancels after the first part of its packet has arrived.
fn cancel_in_the_middle_of_a_packet_cuts_it(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx(0);
    let mut tx = pair.tx(0);
    let region = pair.b.alloc(4 * BUFFER).unwrap();
    rx.post(region.buf(0..BUFFER).unwrap()).unwrap();
    rx.post(region.buf(BUFFER..2 * BUFFER).unwrap()).unwrap();
    tx.send(pair.packet(10 * BUFFER, 3)).unwrap();
    tx.send(pair.packet(100, 4)).unwrap();
    rx.wait(&Threshold::count(2), soon()).unwrap();
    rx.post(region.buf(2 * BUFFER..3 * BUFFER).unwrap()).unwrap();
    rx.wait(&Threshold::count(3), soon()).unwrap();
    rx.post(region.buf(3 * BUFFER..3 * BUFFER + 100).unwrap()).unwrap();
    eventually("the last buffer is full", || rx.wait(&Threshold::count(4), soon()).is_ok());
    let back = tx.cancel().unwrap();
    assert_eq!(back.iter().map(|back| back.status).collect::<Vec<_>>(), [Status::Cancelled; 2]);
    for part in 0..4 {
        let got = rx.recv(soon()).unwrap();
        assert!(got.more() && matches(&got.buf, 3, part * BUFFER));
    }
    rx.post_all(&mut region.split(BUFFER, 4).unwrap());
    let from = 3 * BUFFER + 100;
    cut_is_received(&mut rx, from, if fixture.has(EndToEnd) { from } else { 10 * BUFFER - 1 });
    tx.send(pair.packet(100, 4)).unwrap();
    receive(&mut rx).is(100, 4);
}

/// Receives the rest of packet 3 from byte `at`. It must end with EEP after at most `most` bytes.
fn cut_is_received(rx: &mut Rx, mut at: usize, most: usize) {
    loop {
        let got = rx.recv(soon()).unwrap();
        assert!(matches(&got.buf, 3, at), "bytes {at} and on differ");
        at += got.buf.len();
        let (end, status) = (got.end, got.status);
        rx.post(got.buf).unwrap();
        if end != End::More {
            assert_eq!((end, status), (End::Eep, Status::PacketCut));
            assert!(at <= most, "{at} bytes of at most {most}");
            return;
        }
    }
}

/// The sender cancels before the receiver has a buffer for the end of its packet.
fn a_cut_waits_for_a_buffer(fixture: &Fixture) {
    for (length, end) in [(LONG, End::Eop), (BUFFER, End::More)] {
        let most = if fixture.has(EndToEnd) { BUFFER } else { length };
        cut_without_buffer(&EndpointPair::new(fixture), length, end, most);
    }
}

fn cut_without_buffer(pair: &EndpointPair, length: usize, end: End, most: usize) {
    let mut rx = pair.rx_posted(0, BUFFER, 1);
    let mut tx = pair.tx(0);
    tx.send_ending(pair.packet(length, 3), end).unwrap();
    let part = rx.recv(soon()).unwrap();
    assert!(part.more() && matches(&part.buf, 3, 0));
    drop(tx);
    assert!(rx.recv(Deadline::NOW).unwrap_err().is_timeout());
    rx.post(part.buf).unwrap();
    cut_is_received(&mut rx, BUFFER, most);
    let mut tx = pair.tx(0);
    tx.send(pair.packet(BUFFER, 4)).unwrap();
    receive(&mut rx).is(BUFFER, 4);
}

fn a_cut_waits_for_room_in_a_packed_area(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.packed(0, 4096);
    let mut tx = pair.tx(0);
    tx.send(pair.packet(LONG, 3)).unwrap();
    rx.wait(&Threshold::bytes(3000), soon()).unwrap();
    drop(tx);
    let mut got = Unpacked::default();
    got.wait(&mut rx, 1);
    let (bytes, end) = &got.packets[0];
    assert!(*end == End::Eep && bytes.len() < LONG && matches(bytes, 3, 0));
    let mut tx = pair.tx(0);
    tx.send(pair.packet(50, 4)).unwrap();
    got.wait(&mut rx, 2);
    assert_eq!((got.packets[1].0.len(), got.packets[1].1), (50, End::Eop));
    assert!(matches(&got.packets[1].0, 4, 0));
}

/// The sender gets PEER_GONE, unless an exact link has taken the packet and goes on with it.
fn a_closed_receiver_ends_its_open_packet(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 2);
    let mut tx = pair.tx(0);
    tx.send(pair.packet(100, 1)).unwrap();
    tx.send(pair.packet(5 * BUFFER, 2)).unwrap();
    tx.send(pair.packet(100, 3)).unwrap();
    rx.wait(&Threshold::count(2), soon()).unwrap();
    drop(rx);
    if fixture.has(EndToEnd) {
        tx.wait_for(&Threshold::count(2), soon()).unwrap();
        let sent: Vec<_> = (0..2).map(|_| tx.poll().unwrap()).collect();
        assert_eq!((sent[0].status, sent[0].packets), (Status::Ok, 1));
        assert_eq!((sent[1].status, sent[1].packets), (Status::PeerGone, 0));
        assert_eq!(sent[1].bytes as usize, BUFFER, "the bytes that the receiver had");
        assert!(tx.poll().is_none(), "a packet that has not begun waits for the next receiver");
    }
    let mut rx = pair.rx_posted(0, BUFFER, 2);
    receive(&mut rx).is(100, 3);
    assert_eq!(tx.drain(soon()).unwrap(), if fixture.has(EndToEnd) { 1 } else { 3 });
    assert_eq!(take_all(&mut tx).len(), 3);
}

/// The first piece went to a receiver that is closed. The other pieces must not become a packet.
fn pieces_without_their_receiver_are_no_packet(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, BUFFER, 2);
    let mut tx = pair.tx(0);
    tx.send_ending(pair.packet(BUFFER, 1), End::More).unwrap();
    assert_eq!(tx.drain(soon()).unwrap(), 0);
    assert!(rx.recv(soon()).unwrap().more());
    drop(rx);
    tx.send_ending(pair.packet(50, 1), End::More).unwrap();
    tx.send_ending(pair.packet(60, 1), End::Eop).unwrap();
    tx.send(pair.packet(100, 3)).unwrap();
    let mut rx = pair.rx_posted(0, BUFFER, 4);
    receive(&mut rx).is(100, 3);
    let mut statuses = Vec::new();
    while statuses.len() < 3 {
        // A completion with an error ends a wait.
        tx.wait(soon()).unwrap();
        statuses.extend(std::iter::from_fn(|| tx.poll()).map(|sent| sent.status));
    }
    let lost = if fixture.has(EndToEnd) { Status::PeerGone } else { Status::Ok };
    assert_eq!(statuses, [lost, lost, Status::Ok]);
}

fn waiting_packets_survive_a_change_of_receiver(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx_with(0, depth(128));
    for seed in 0..100 {
        tx.send(pair.packet(100, seed)).unwrap();
    }
    let mut next = 0;
    for turn in 0..10 {
        let mut rx = pair.rx_posted(0, 128, 7);
        for _ in 0..7 {
            let got = rx.recv(soon()).unwrap();
            assert!(got.buf.len() == 100 && matches(&got.buf, next, 0), "turn {turn}");
            next += 1;
        }
        drop(rx);
    }
    let mut rx = pair.rx_posted(0, 128, 30);
    for seed in next..100 {
        receive(&mut rx).is(100, seed);
    }
    assert_eq!(tx.drain(soon()).unwrap(), 100);
}

/// Objects of a pair with traffic, in the order in which they are dropped.
fn things(fixture: &Fixture) -> Vec<Box<dyn Any + Send>> {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx): (Tx, Rx) = (pair.tx(0), pair.rx_posted(0, 64, 8));
    let (mut out, mut into): (Tx, PackedRx) = (pair.tx(1), pair.packed(1, 4096));
    let region: Region = pair.a.alloc(1 << 16).unwrap();
    for seed in 0..10 {
        tx.send(pair.packet(100, seed)).unwrap();
        let at = seed as usize * 1000;
        out.send(region.buf(at..at + 1000).unwrap()).unwrap();
    }
    rx.wait(&Threshold::count(3), soon()).unwrap();
    into.wait(&Threshold::ONE, soon()).unwrap();
    let (part, kept): (Buf, Buf) = (rx.recv(soon()).unwrap().buf, pair.packet(10, 1));
    let EndpointPair { a, b } = pair;
    let (a, b): (Endpoint, Endpoint) = (a, b);
    vec![
        Box::new(tx),
        Box::new(rx),
        Box::new(out),
        Box::new(into),
        Box::new(region),
        Box::new(part),
        Box::new(kept),
        Box::new(a),
        Box::new(b),
    ]
}

fn everything_drops_in_every_order(fixture: &Fixture) {
    let mut random = Rng::with_seed(3);
    for turn in 0..40 {
        let mut things = things(fixture);
        let count = things.len();
        for _ in 0..count {
            // The first two orders are the extremes. The others are shuffled.
            let at = match turn {
                0 => 0,
                1 => things.len() - 1,
                _ => random.usize(..things.len()),
            };
            let thing = things.remove(at);
            if turn % 5 == 4 {
                std::thread::spawn(move || drop(thing)).join().unwrap();
            } else {
                drop(thing);
            }
        }
    }
}

fn a_region_stays_while_its_buffers_live(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut tx = pair.tx(0);
    let mut rx = pair.rx(0);
    let mut bufs = pair.b.alloc(4 * BUFFER).unwrap().split(BUFFER, 4).unwrap();
    let region = pair.a.alloc(BUFFER).unwrap();
    let mut packet = region.buf(0..BUFFER).unwrap();
    drop(region);
    fill(&mut packet, 1, 0);
    rx.post_all(&mut bufs);
    tx.send(packet).unwrap();
    // Other regions are registered and removed. Regions in use keep their keys.
    for _ in 0..20 {
        drop(pair.a.alloc(BUFFER).unwrap());
    }
    receive(&mut rx).is(BUFFER, 1);
    tx.drain(soon()).unwrap();
    let packet = tx.take().unwrap();
    assert!(matches(&packet, 1, 0));
    let again = packet.region().clone();
    drop(packet);
    drop(again.buf(0..BUFFER).unwrap());
}

fn a_region_gives_each_byte_to_one_buffer(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let region = pair.a.alloc(10_000).unwrap();
    let size = region.size();
    assert!(size >= 10_000);
    let status = |range| region.buf(range).unwrap_err().status().unwrap();
    assert_eq!(status(0..size + 1), Status::OutOfBounds);
    assert_eq!(status(5..5), Status::Empty);
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = 6..5;
    assert_eq!(status(reversed), Status::Empty);
    let middle = region.buf(100..200).unwrap();
    for taken in [100..101, 199..200, 0..101, 199..300, 0..300, 120..130] {
        assert_eq!(status(taken), Status::Busy);
    }
    let sides = (region.buf(0..100).unwrap(), region.buf(200..size).unwrap());
    drop((middle, sides));
    assert_eq!(region.buf(0..size).unwrap().len(), size);
}

fn a_second_opener_learns_the_owner(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (tx, rx) = (pair.tx(0), pair.rx(0));
    let refused = |endpoint: &Endpoint, sends: bool| {
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let error = if sends { vc.tx().map(drop) } else { vc.rx().map(drop) }.unwrap_err();
        assert_eq!(error.status(), Some(Status::Busy), "{error}");
        let owner = format!("client {}", endpoint.info().client);
        assert!(error.to_string().contains(&owner), "{error} does not name {owner}");
        assert!(error.to_string().contains("port 0 VC 0"), "{error}");
    };
    refused(&pair.a, true);
    refused(&pair.b, false);
    drop((tx, rx));
    let _ = (pair.tx(0), pair.rx(0));
}

fn a_refused_second_opener_changes_nothing(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, 64, 8));
    for seed in 0..5 {
        assert!(pair.a.port(0).unwrap().vc(0).unwrap().tx().is_err());
        assert!(pair.b.port(0).unwrap().vc(0).unwrap().rx().is_err());
        assert!(pair.b.port(0).unwrap().vc(0).unwrap().rx_packed(Default::default()).is_err());
        tx.send(pair.packet(64, seed)).unwrap();
        receive(&mut rx).is(64, seed);
        assert_eq!(tx.drain(soon()).unwrap(), 1);
    }
}

fn a_reset_completes_pending_entries(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, BUFFER, 1));
    let mut posted = pair.rx_posted(1, 64, 8);
    tx.send(pair.packet(LONG, 3)).unwrap();
    tx.send(pair.packet(64, 2)).unwrap();
    rx.wait(&Threshold::ONE, soon()).unwrap();
    pair.a.reset().unwrap();
    tx.wait(soon()).unwrap();
    let statuses: Vec<_> = std::iter::from_fn(|| tx.poll()).map(|sent| sent.status).collect();
    assert_eq!(statuses, [Status::DeviceReset; 2]);
    assert_eq!(take_all(&mut tx).len(), 2);
    assert_eq!(tx.wait(soon()).unwrap_err().status(), Some(Status::DeviceReset));
    let part = rx.recv(soon()).unwrap();
    assert!(part.more());
    rx.post(part.buf).unwrap();
    cut_is_received(&mut rx, BUFFER, if fixture.has(EndToEnd) { BUFFER } else { LONG - 1 });
    pair.b.reset().unwrap();
    for _ in 0..8 {
        assert_eq!(posted.recv(soon()).unwrap().status, Status::DeviceReset);
    }
    assert_eq!(posted.recv(soon()).unwrap_err().status(), Some(Status::DeviceReset));
}

fn a_reset_under_load_ends_everything(fixture: &Fixture) {
    for turn in 0..4 {
        let pair = EndpointPair::new(fixture);
        let (mut tx, mut rx) = (pair.tx_with(0, depth(32)), pair.rx_posted(0, BUFFER, 16));
        let (mut out, mut into) = (pair.tx(1), pair.packed(1, 16384));
        let region = pair.a.alloc(16 * BUFFER).unwrap();
        let bufs = tagged(&region, 2 * BUFFER, 8);
        let burst: Vec<Buf> = (0..4).map(|tag| pair.packet(BUFFER, tag)).collect();
        let sender = spawn(move || {
            let (mut free, mut reset) = (bufs, false);
            let ended = loop {
                while !reset && let Some(buf) = free.pop() {
                    tx.send(buf).unwrap();
                }
                if let Err(error) = tx.wait(soon()) {
                    break error;
                }
                while let Some(sent) = tx.poll() {
                    reset |= sent.status == Status::DeviceReset;
                }
                free.extend(take_all(&mut tx));
            };
            // Buffers posted before the reset are completed. Later ones are still posted.
            let held = tx.outstanding() as usize;
            assert_eq!(free.len() + held, 8);
            drop((tx, free));
            ended.status()
        });
        let receiver = spawn(move || {
            loop {
                match rx.recv(soon()) {
                    Ok(got) => drop(rx.post(got.buf)),
                    Err(error) => break error.status(),
                }
            }
        });
        for buf in burst {
            out.send_burst(buf, 64, 64, 64).unwrap();
        }
        into.wait(&Threshold::ONE, soon()).unwrap();
        let (first, second) = if turn % 2 == 0 { (&pair.a, &pair.b) } else { (&pair.b, &pair.a) };
        first.reset().unwrap();
        second.reset().unwrap();
        assert_eq!(sender.join().unwrap(), Some(Status::DeviceReset));
        drop(region.buf(0..16 * BUFFER).expect("every buffer is free"));
        assert_eq!(receiver.join().unwrap(), Some(Status::DeviceReset));
        drop((out, into));
        works_again(&pair, fixture);
    }
}

/// Opens queues again and checks that packets move.
fn works_again(pair: &EndpointPair, fixture: &Fixture) {
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, BUFFER, 16));
    tx.send(pair.packet(100, 5)).unwrap();
    let old = receive_until(&mut rx, 100, 5);
    assert!(old.is_empty() || !fixture.has(EndToEnd), "{old:?}");
    for seed in 0..20 {
        tx.send(pair.packet(2 * BUFFER, seed)).unwrap();
        receive(&mut rx).is(2 * BUFFER, seed);
    }
    tx.drain(soon()).unwrap();
}

/// The old queue is dropped after the new one was opened, as in an assignment.
fn a_queue_replaced_after_a_reset_works(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut tx, mut rx) = (pair.tx(0), pair.rx_posted(0, 64, 4));
    for seed in 0..4 {
        assert!(tx.poll().is_none() && rx.poll().is_none());
        pair.a.reset().unwrap();
        pair.b.reset().unwrap();
        tx = pair.tx(0);
        rx = pair.rx_posted(0, 64, 4);
        tx.send(pair.packet(64, seed)).unwrap();
        receive(&mut rx).is(64, seed);
        tx.drain(soon()).unwrap();
    }
}

fn a_queue_is_opened_and_closed_many_times(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx_posted(0, 64, 4);
    for seed in 0..50 {
        let mut tx = pair.tx(0);
        tx.send(pair.packet(64, seed)).unwrap();
        tx.drain(soon()).unwrap();
        drop(tx);
        receive(&mut rx).is(64, seed);
    }
    let mut tx = pair.tx(0);
    drop(rx);
    for seed in 0..50 {
        tx.send(pair.packet(64, seed)).unwrap();
        receive(&mut pair.rx_posted(0, 64, 4)).is(64, seed);
        tx.drain(soon()).unwrap();
        take_all(&mut tx);
    }
}

fn unknown_ports_and_channels_are_named(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let error = pair.a.port(99).map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::NotFound), "{error}");
    assert!(error.to_string().contains("99"), "{error}");
    let error = pair.a.port(0).unwrap().vc(99).map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::BadVc), "{error}");
    if fixture.has(SpaceWire) {
        let error = pair.a.port(1).unwrap().broadcast().map(drop).unwrap_err();
        assert_eq!(error.status(), Some(Status::BadOpcode), "{error}");
    }
    let error = pair.a.port(0).unwrap().time_code().map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::BadOpcode), "{error}");
}

fn a_port_names_its_users(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let info = |endpoint: &Endpoint, port| endpoint.port(port).unwrap().info().unwrap();
    for (port, kind) in [(0, PortKind::Spacefibre), (1, PortKind::Spacewire)] {
        eventually("the link is up", || info(&pair.a, port).state == PortState::Up);
        let info = info(&pair.a, port);
        assert_eq!((info.kind, info.state), (kind, PortState::Up));
        assert_eq!(pair.a.port(port).unwrap().kind(), kind);
        assert!(if kind == PortKind::Spacewire { info.vcs == 1 } else { info.vcs > 3 });
        assert_eq!(info.channels.len(), info.vcs as usize);
        assert!(matches!(info.peer, Peer::Port { port: far, .. } if far == port), "{info:?}");
    }
    let ends = |endpoint: &Endpoint| {
        let channel = info(endpoint, 0).channels[3];
        (channel.sender, channel.receiver, channel.far_sends, channel.far_receives)
    };
    assert_eq!(ends(&pair.a), (None, None, false, false));
    let tx = pair.tx(3);
    assert_eq!(ends(&pair.a), (Some(pair.a.info().client), None, false, false));
    assert_eq!(ends(&pair.b), (None, None, true, false));
    let rx = pair.rx(3);
    assert_eq!(ends(&pair.a), (Some(pair.a.info().client), None, false, true));
    assert_eq!(ends(&pair.b), (None, Some(pair.b.info().client), true, false));
    drop((tx, rx));
    assert_eq!(ends(&pair.a), (None, None, false, false));
}
