//! Deadlines, thresholds and descriptors. No wake-up is lost.

use crate::kit::{
    EndpointPair, LONG, SOON, Unpacked, depth, pause, receive, soon, spawn, take_all, within,
};
use crate::{Fixture, cases};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fd::BorrowedFd;
use spfe::{
    Deadline, PackedOptions, PoolOptions, QueueOptions, Ready, Rx, Status, Strategy, Threshold, Tx,
};
use std::time::Duration;

cases! {
    a_wait_that_times_out_consumes_nothing: [],
    every_strategy_waits_for_a_late_packet: [],
    a_count_ends_a_wait: [],
    bytes_end_a_wait: [],
    a_fill_level_ends_a_wait: [Packed],
    a_full_receiver_ends_a_wait: [RealTime, Packed, Event],
    a_time_after_the_first_packet_ends_a_wait: [],
    transmit_waits_for_completions: [],
    an_error_ends_a_wait: [],
    a_descriptor_is_readable_exactly_when_due: [RealTime, Event],
    a_sleep_leaves_at_most_one_event: [RealTime, Event],
    a_descriptor_of_a_packed_queue_counts_bytes: [RealTime, Event, Packed],
    a_descriptor_of_a_transmit_queue_signals_completions: [RealTime, Event],
    descriptors_of_pooled_queues_signal_packets_and_completions: [RealTime, Event],
    a_descriptor_signals_a_time_after_the_first_packet: [RealTime, Event],
    no_event_is_lost_to_a_concurrent_sender: [RealTime, Event],
    no_wake_up_is_lost_to_a_concurrent_sender: [],
    a_descriptor_is_refused_if_none_was_requested_at_opening: [],
    a_wait_is_cancelled_from_another_thread: [RealTime],
    waits_of_every_kind_of_queue_are_cancelled: [Packed, Message, SpaceWire],
    a_cancellation_ends_one_wait_that_found_nothing: [Fresh],
}

/// How long a case waits for an event that must not come.
const SHORT: Duration = Duration::from_millis(20);

fn a_wait_that_times_out_consumes_nothing(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 64, 8), pair.tx(0));
    for deadline in [Deadline::NOW, within(SHORT), Deadline::at_ns(1)] {
        assert!(rx.recv(deadline).unwrap_err().is_timeout());
        assert!(rx.wait(&Threshold::ONE, deadline).unwrap_err().is_timeout());
    }
    assert!(rx.poll().is_none());
    tx.send(pair.packet(64, 0)).unwrap();
    tx.send(pair.packet(64, 1)).unwrap();
    rx.wait(&Threshold::count(2), soon()).unwrap();
    assert!(rx.wait(&Threshold::count(3), within(SHORT)).unwrap_err().is_timeout());
    tx.send(pair.packet(64, 2)).unwrap();
    assert_eq!(rx.wait(&Threshold::count(3), soon()).unwrap(), Ready::Threshold);
    for seed in 0..3 {
        receive(&mut rx).is(64, seed);
    }
    assert_eq!(tx.drain(soon()).unwrap(), 3);
    assert!(tx.wait(within(SHORT)).unwrap_err().is_timeout());
}

fn every_strategy_waits_for_a_late_packet(fixture: &Fixture) {
    for strategy in [Strategy::Poll, Strategy::Block, Strategy::Adaptive] {
        let pair = EndpointPair::new(fixture);
        let mut rx = pair.rx_with(0, QueueOptions::default().strategy(strategy));
        let mut tx = pair.tx(0);
        rx.post_all(&mut pair.b.alloc(4096).unwrap().split(64, 64).unwrap());
        let packets: Vec<_> = (0..50).map(|seed| pair.packet(64, seed)).collect();
        let sender = spawn(move || {
            for (index, packet) in packets.into_iter().enumerate() {
                if index % 10 == 0 {
                    pause(Duration::from_millis(3));
                }
                tx.send(packet).unwrap();
            }
            tx.drain(soon()).unwrap()
        });
        for seed in 0..50 {
            receive(&mut rx).is(64, seed);
        }
        assert_eq!(sender.join().unwrap(), 50);
    }
}

fn a_count_ends_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 64, 32), pair.tx(0));
    for count in [1, 2, 7] {
        for seed in 1..count {
            tx.send(pair.packet(64, u64::from(seed))).unwrap();
        }
        let goal = Threshold::count(count);
        assert!(rx.wait(&goal, within(SHORT)).unwrap_err().is_timeout());
        tx.send(pair.packet(64, 0)).unwrap();
        assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold);
        (0..count).for_each(|_| drop(receive(&mut rx)));
        assert!(rx.poll().is_none());
    }
}

fn bytes_end_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 1000, 32), pair.tx(0));
    for turn in 0..3 {
        let goal = Threshold::bytes(2500);
        for seed in 0..2 {
            tx.send(pair.packet(1000, seed)).unwrap();
        }
        assert!(rx.wait(&goal, within(SHORT)).unwrap_err().is_timeout());
        assert_eq!(rx.wait(&Threshold::count(9).or_bytes(2000), soon()).unwrap(), Ready::Threshold);
        tx.send(pair.packet(500, 2)).unwrap();
        assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold, "turn {turn}");
        (0..3).for_each(|_| drop(receive(&mut rx)));
    }
}

fn a_fill_level_ends_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 64, 10), pair.tx(0));
    for percent in [50, 100] {
        let goal = rx.fill_threshold(percent);
        assert_eq!(goal.count, Some(percent / 10));
        for seed in 1..u64::from(percent / 10) {
            tx.send(pair.packet(64, seed)).unwrap();
        }
        assert!(rx.wait(&goal, within(SHORT)).unwrap_err().is_timeout());
        tx.send(pair.packet(64, 0)).unwrap();
        rx.wait(&goal, soon()).unwrap();
        (0..percent / 10).for_each(|_| drop(receive(&mut rx)));
    }
    assert_eq!(pair.rx(1).fill_threshold(1).count, Some(1));
    let (mut rx, mut tx) = (pair.packed(2, 8192), pair.tx(2));
    let goal = rx.fill_threshold(50);
    assert_eq!(goal.bytes, Some(4096));
    for seed in 0..31 {
        tx.send(pair.packet(120, seed)).unwrap();
    }
    assert!(rx.wait(&goal, within(SHORT)).unwrap_err().is_timeout());
    tx.send(pair.packet(120, 31)).unwrap();
    assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold);
    let mut got = Unpacked::default();
    got.take(&mut rx);
    got.are((0..32).map(|seed| (120, seed)));
}

/// The threshold exceeds the room, so the sender waits. The receiver must not wait as well.
fn a_full_receiver_ends_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    for strategy in [Strategy::Block, Strategy::Poll] {
        let queue = QueueOptions::default().strategy(strategy).event(true).depth(64);
        let goals = [Threshold::count(1000), Threshold::bytes(1 << 30)];
        for goal in goals {
            let (mut rx, mut tx) = (pair.rx_with(0, queue), pair.tx(0));
            let region = pair.b.alloc(10 * 64).unwrap();
            rx.post_all(&mut region.split(64, 10).unwrap());
            let due = rx.request_event(&goal).unwrap();
            assert!(!due);
            tx.send_burst(pair.packet(64, 1), 64, 0, 100).unwrap();
            assert!(readable(rx.fd().unwrap(), SOON));
            assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold);
            assert_eq!(std::iter::from_fn(|| rx.poll()).count(), 10);
            // None may be on its way to the next queue.
            rx.post_all(&mut pair.b.alloc(50 * 64).unwrap().split(64, 50).unwrap());
            (0..90).for_each(|_| drop(receive(&mut rx)));
            drop((rx, tx));
            for length in [1000, 16] {
                let options = PackedOptions::default().area(4096).queue(queue);
                let vc = pair.b.port(0).unwrap().vc(0).unwrap();
                let (mut rx, mut tx) = (vc.rx_packed(options).unwrap(), pair.tx(0));
                let region = pair.a.alloc(300 * length).unwrap();
                for packet in region.split(length, 300).unwrap() {
                    tx.send(packet).unwrap();
                }
                assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold);
                Unpacked::default().wait(&mut rx, 300);
            }
        }
    }
}

fn a_time_after_the_first_packet_ends_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    for strategy in [Strategy::Block, Strategy::Adaptive] {
        let mut rx = pair.rx_with(0, QueueOptions::default().strategy(strategy));
        rx.post_all(&mut pair.b.alloc(4096).unwrap().split(64, 64).unwrap());
        let mut tx = pair.tx(0);
        let goal = Threshold::count(50).or_after_first(Duration::from_millis(5));
        // No packet comes, so the time after the first does not start. Only the deadline ends the
        // wait.
        let before = pair.b.now_ns();
        assert!(rx.wait(&goal, within(4 * SHORT)).unwrap_err().is_timeout());
        assert!(pair.b.now_ns() - before >= 80_000_000, "the wait ended before its deadline");
        tx.send(pair.packet(64, 0)).unwrap();
        assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::AfterFirst);
        receive(&mut rx).is(64, 0);
        let packets: Vec<_> = (0..2).map(|seed| pair.packet(64, seed)).collect();
        let sender = spawn(move || {
            for packet in packets {
                pause(2 * SHORT);
                tx.send(packet).unwrap();
            }
            tx
        });
        assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::AfterFirst);
        receive(&mut rx).is(64, 0);
        receive(&mut rx).is(64, 1);
        let mut tx = sender.join().unwrap();
        for seed in 0..50 {
            tx.send(pair.packet(64, seed)).unwrap();
        }
        let goal = Threshold::count(50).or_after_first(SOON * 3);
        assert_eq!(rx.wait(&goal, soon()).unwrap(), Ready::Threshold);
    }
}

fn transmit_waits_for_completions(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx(0), pair.tx(0));
    const BYTES: usize = LONG / 4;
    for _ in 0..3 {
        for _ in 0..4 {
            let mut group: Vec<_> = (0..4).map(|_| pair.packet(BYTES, 0)).collect();
            assert_eq!(tx.send_group(&mut group), 4);
        }
        let goal = Threshold::count(4);
        assert!(tx.wait_for(&goal, within(SHORT)).unwrap_err().is_timeout());
        rx.post_all(&mut pair.b.alloc(16 * BYTES).unwrap().split(BYTES, 16).unwrap());
        assert_eq!(tx.wait_for(&goal, soon()).unwrap(), Ready::Threshold);
        let sent: Vec<_> = std::iter::from_fn(|| tx.poll()).collect();
        assert_eq!(sent.iter().map(|sent| sent.packets).collect::<Vec<_>>(), [4; 4]);
        assert_eq!(take_all(&mut tx).len(), 16);
        for _ in 0..16 {
            rx.recv(soon()).unwrap();
        }
    }
}

fn an_error_ends_a_wait(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 64, 8), pair.tx(0));
    let mut empty = pair.buf(1);
    empty.set_len(0);
    tx.send(empty).unwrap();
    assert_eq!(tx.wait_for(&Threshold::count(9), soon()).unwrap(), Ready::Attention);
    assert_eq!(tx.poll().unwrap().status, Status::Empty);
    assert_eq!(take_all(&mut tx).len(), 1);
    tx.send_ending(pair.packet(64, 0), spfe::End::Eep).unwrap();
    assert_eq!(rx.wait(&Threshold::count(9), soon()).unwrap(), Ready::Attention);
    assert_eq!(rx.poll().unwrap().status, Status::PacketCut);
}

/// Whether a descriptor becomes readable within a time. Asks poll and epoll.
fn readable(fd: BorrowedFd<'_>, within: Duration) -> bool {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
    epoll::add(&set, fd, epoll::EventData::new_u64(7), epoll::EventFlags::IN).unwrap();
    let within = Timespec::try_from(within).unwrap();
    let mut events =
        [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 2];
    let count = epoll::wait(&set, &mut events[..], Some(&within)).unwrap();
    let mut fds = [PollFd::new(&fd, PollFlags::IN)];
    // It may become readable between the two calls, but not unreadable.
    assert!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() >= count);
    count == 1
}

/// Reads the descriptor, so that it is no longer readable.
fn clear(fd: BorrowedFd<'_>) {
    rustix::io::read(fd, &mut [0u8; 8]).unwrap();
}

/// Waits as a program with an event loop does: requests the event, and polls only if it is not due.
fn await_event(rx: &mut Rx, goal: &Threshold) {
    if !rx.request_event(goal).unwrap() {
        assert!(readable(rx.fd().unwrap(), SOON), "no event");
        clear(rx.fd().unwrap());
    }
}

fn with_event(pair: &EndpointPair, bytes: usize, count: usize) -> Rx {
    posted(pair, QueueOptions::default().event(true), bytes, count)
}

fn posted(pair: &EndpointPair, options: QueueOptions, bytes: usize, count: usize) -> Rx {
    let mut rx = pair.rx_with(0, options);
    let region = pair.b.alloc(bytes * count).unwrap();
    rx.post_all(&mut region.split(bytes, count).unwrap());
    rx
}

fn a_descriptor_is_readable_exactly_when_due(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    // A receiver that never sleeps: an interrupt that ends a sleep signals the descriptor too.
    let options = QueueOptions::default().event(true).strategy(Strategy::Poll);
    let (mut rx, mut tx) = (posted(&pair, options, 64, 64), pair.tx(0));
    assert!(!readable(rx.fd().unwrap(), Duration::ZERO));
    tx.send(pair.packet(64, 0)).unwrap();
    rx.wait(&Threshold::ONE, soon()).unwrap();
    assert!(!readable(rx.fd().unwrap(), SHORT), "readable without a request");
    assert!(rx.request_event(&Threshold::ONE).unwrap(), "the packet is there already");
    receive(&mut rx).is(64, 0);
    for turn in 0..5u64 {
        let goal = if turn % 2 == 0 { Threshold::count(3) } else { Threshold::bytes(3 * 64) };
        assert!(!rx.request_event(&goal).unwrap());
        for seed in 0..2 {
            tx.send(pair.packet(64, seed)).unwrap();
        }
        assert!(!readable(rx.fd().unwrap(), SHORT), "readable after two of three packets");
        tx.send(pair.packet(64, 2)).unwrap();
        assert!(readable(rx.fd().unwrap(), SOON), "turn {turn}");
        clear(rx.fd().unwrap());
        tx.send(pair.packet(64, 3)).unwrap();
        assert!(!readable(rx.fd().unwrap(), SHORT), "a second event for one request");
        for seed in 0..4 {
            receive(&mut rx).is(64, seed);
        }
        tx.drain(soon()).unwrap();
    }
}

fn a_sleep_leaves_at_most_one_event(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = QueueOptions::default().event(true).strategy(Strategy::Block);
    let (mut rx, mut tx) = (posted(&pair, options, 64, 64), pair.tx(0));
    for seed in 0..20 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(50 * seed));
                tx.send(pair.packet(64, seed)).unwrap();
            });
            receive(&mut rx).is(64, seed);
        });
        tx.drain(soon()).unwrap();
    }
    if readable(rx.fd().unwrap(), SHORT) {
        let mut count = [0u8; 8];
        rustix::io::read(rx.fd().unwrap(), &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 1, "each sleep has cleared what came before");
    }
    assert!(!readable(rx.fd().unwrap(), SHORT), "a second event without a request");
    // A request begins with a silent descriptor.
    assert!(!rx.request_event(&Threshold::ONE).unwrap());
    assert!(!readable(rx.fd().unwrap(), SHORT), "readable without a packet");
    tx.send(pair.packet(64, 0)).unwrap();
    assert!(readable(rx.fd().unwrap(), SOON), "no event");
    receive(&mut rx).is(64, 0);
}

fn a_descriptor_of_a_packed_queue_counts_bytes(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let options = PackedOptions::default().area(8192).queue(QueueOptions::default().event(true));
    let mut rx = pair.b.port(0).unwrap().vc(0).unwrap().rx_packed(options).unwrap();
    let mut tx = pair.tx(0);
    for _ in 0..5 {
        assert!(!rx.request_event(&Threshold::bytes(3 * 128)).unwrap());
        tx.send(pair.packet(120, 0)).unwrap();
        tx.send(pair.packet(120, 1)).unwrap();
        assert!(!readable(rx.fd().unwrap(), SHORT));
        tx.send(pair.packet(120, 2)).unwrap();
        assert!(readable(rx.fd().unwrap(), SOON));
        clear(rx.fd().unwrap());
        let mut got = Unpacked::default();
        got.take(&mut rx);
        got.are((0..3).map(|seed| (120, seed)));
    }
}

fn a_descriptor_of_a_transmit_queue_signals_completions(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut rx = pair.rx(0);
    let mut tx: Tx = pair.tx_with(0, QueueOptions::default().event(true));
    for turn in 0..5 {
        tx.send(pair.packet(LONG, turn)).unwrap();
        assert!(!tx.request_event(&Threshold::ONE).unwrap());
        assert!(!readable(tx.fd().unwrap(), SHORT));
        rx.post(pair.b.alloc(LONG).unwrap().buf(0..LONG).unwrap()).unwrap();
        let got = rx.recv(soon()).unwrap();
        assert!(readable(tx.fd().unwrap(), SOON));
        clear(tx.fd().unwrap());
        assert_eq!(tx.poll().unwrap().packets, 1);
        drop(got);
        take_all(&mut tx);
    }
}

fn descriptors_of_pooled_queues_signal_packets_and_completions(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let vc = |endpoint: &spfe::Endpoint| endpoint.port(0).unwrap().vc(0).unwrap();
    let options = PoolOptions::new(4, LONG as u32).queue(QueueOptions::default().event(true));
    let mut tx = vc(&pair.a).tx_pooled(options).unwrap();
    let mut rx = vc(&pair.b).rx_pooled(options).unwrap();
    for turn in 0..5 {
        // The receiver is full after 4 packets. The descriptor of the sender signals the fifth.
        assert!(!rx.request_event(&Threshold::count(4)).unwrap());
        for seed in 0..4 {
            assert!(!readable(rx.fd().unwrap(), SHORT), "{seed} of 4 packets");
            crate::kit::fill(tx.slot().unwrap(), seed, 0);
            tx.send(LONG).unwrap();
        }
        assert!(readable(rx.fd().unwrap(), SOON), "turn {turn}");
        clear(rx.fd().unwrap());
        tx.wait_for(&Threshold::count(4), soon()).unwrap();
        assert_eq!(std::iter::from_fn(|| tx.poll()).count(), 4);
        tx.send(LONG).unwrap();
        assert!(!tx.request_event(&Threshold::ONE).unwrap());
        assert!(!readable(tx.fd().unwrap(), SHORT), "readable without room");
        for _ in 0..5 {
            rx.wait(&Threshold::ONE, soon()).unwrap();
            assert_eq!(rx.peek().unwrap().bytes.len(), LONG);
            rx.release();
        }
        assert!(readable(tx.fd().unwrap(), SOON), "turn {turn}");
        clear(tx.fd().unwrap());
        assert_eq!(tx.poll().unwrap().packets, 1);
    }
    let mut rx = pair.b.port(0).unwrap().vc(1).unwrap().rx_pooled(PoolOptions::new(4, 64)).unwrap();
    assert_eq!(rx.fd().unwrap_err().status(), Some(Status::BadField));
    assert_eq!(rx.request_event(&Threshold::ONE).unwrap_err().status(), Some(Status::BadField));
}

fn a_descriptor_signals_a_time_after_the_first_packet(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (with_event(&pair, 64, 64), pair.tx(0));
    let goal = Threshold::count(50).or_after_first(SHORT);
    for turn in 0..3 {
        assert!(!rx.request_event(&goal).unwrap());
        assert!(!readable(rx.fd().unwrap(), 2 * SHORT), "readable without a packet");
        tx.send(pair.packet(64, turn)).unwrap();
        // It may be readable at the first packet already. Then the caller requests the event again.
        while rx.wait(&goal, Deadline::NOW).is_err() {
            if !rx.request_event(&goal).unwrap() {
                readable(rx.fd().unwrap(), SHORT);
            }
        }
        receive(&mut rx).is(64, turn);
        // The last request may be answered although its packet has been taken since.
        while readable(rx.fd().unwrap(), 3 * SHORT) {
            clear(rx.fd().unwrap());
        }
    }
}

/// Requests events while packets arrive. A packet that arrives between the request and the second
/// look is seen by one of the two.
fn no_event_is_lost_to_a_concurrent_sender(fixture: &Fixture) {
    const PACKETS: u64 = 4000;
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (with_event(&pair, 64, 16), pair.tx_with(0, depth(16)));
    let mut free: Vec<_> = (0..8).map(|_| pair.buf(64)).collect();
    let sender = std::thread::spawn(move || {
        for seed in 0..PACKETS {
            while free.is_empty() {
                tx.wait(soon()).unwrap();
                while tx.poll().is_some() {}
                free = take_all(&mut tx);
            }
            let mut buf = free.pop().unwrap();
            crate::kit::fill(&mut buf, seed, 0);
            tx.send(buf).unwrap();
            if seed % 3 == 0 {
                tx.drain(soon()).unwrap();
                free.extend(take_all(&mut tx));
            }
        }
        tx.drain(soon()).unwrap();
    });
    for seed in 0..PACKETS {
        await_event(&mut rx, &Threshold::ONE);
        receive(&mut rx).is(64, seed);
    }
    sender.join().unwrap();
}

/// The same with sleeping threads: each waits for a packet of the other.
fn no_wake_up_is_lost_to_a_concurrent_sender(fixture: &Fixture) {
    const TURNS: u64 = 3000;
    let pair = EndpointPair::new(fixture);
    let block = QueueOptions::default().strategy(Strategy::Block);
    let open = |endpoint: &spfe::Endpoint| {
        let vc = endpoint.port(0).unwrap().vc(0).unwrap();
        let (tx, mut rx) = (vc.tx_with(block).unwrap(), vc.rx_with(block).unwrap());
        rx.post_all(&mut endpoint.alloc(4 * 64).unwrap().split(64, 4).unwrap());
        (tx, rx, endpoint.alloc(64).unwrap().buf(0..64).unwrap())
    };
    let (mut tx, mut rx, mut packet) = open(&pair.a);
    let (mut back, mut at, mut answer) = open(&pair.b);
    let echo = spawn(move || {
        for seed in 0..TURNS {
            receive(&mut at).is(64, seed);
            crate::kit::fill(&mut answer, seed + 1, 0);
            back.send(answer).unwrap();
            back.drain(soon()).unwrap();
            answer = back.take().unwrap();
        }
    });
    for seed in 0..TURNS {
        crate::kit::fill(&mut packet, seed, 0);
        tx.send(packet).unwrap();
        receive(&mut rx).is(64, seed + 1);
        tx.drain(soon()).unwrap();
        packet = tx.take().unwrap();
    }
    echo.join().unwrap();
}

fn a_descriptor_is_refused_if_none_was_requested_at_opening(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx(0), pair.tx(0));
    assert_eq!(rx.fd().unwrap_err().status(), Some(Status::BadField));
    assert_eq!(rx.request_event(&Threshold::ONE).unwrap_err().status(), Some(Status::BadField));
    assert_eq!(tx.request_event(&Threshold::ONE).unwrap_err().status(), Some(Status::BadField));
}

/// Each cancellation ends one wait soon, whatever the waiting thread is doing.
fn a_wait_is_cancelled_from_another_thread(fixture: &Fixture) {
    for strategy in [Strategy::Block, Strategy::Adaptive, Strategy::Poll] {
        let pair = EndpointPair::new(fixture);
        let mut rx = pair.rx_with(0, QueueOptions::default().strategy(strategy));
        rx.post(pair.b.alloc(64).unwrap().buf(0..64).unwrap()).unwrap();
        let canceller = rx.canceller();
        let (ended, ends) = std::sync::mpsc::channel();
        let waiter = std::thread::spawn(move || {
            for _ in 0..500 {
                ended.send(rx.recv(soon()).unwrap_err()).unwrap();
            }
            rx
        });
        for turn in 0..500 {
            if turn % 100 == 0 {
                // The thread has fallen asleep by now, if it does at all.
                std::thread::sleep(Duration::from_millis(2));
            }
            canceller.clone().cancel();
            let error = ends.recv_timeout(SOON).expect("the cancellation did not end the wait");
            assert!(error.is_cancelled(), "{error}");
            assert_eq!(error.status(), Some(Status::Cancelled));
        }
        let mut rx = waiter.join().unwrap();
        let mut tx = pair.tx(0);
        tx.send(pair.packet(64, 3)).unwrap();
        receive(&mut rx).is(64, 3);
        // The handle does not keep the queue open. It does nothing after the queue was closed.
        drop(rx);
        canceller.cancel();
    }
}

fn waits_of_every_kind_of_queue_are_cancelled(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let vc = |number| pair.a.port(0).unwrap().vc(number).unwrap();
    let (mut tx, mut rx) = (vc(0).tx().unwrap(), vc(0).rx().unwrap());
    let mut pooled_tx = vc(1).tx_pooled(PoolOptions::new(4, LONG as u32)).unwrap();
    let mut pooled_rx = vc(1).rx_pooled(PoolOptions::new(4, 64)).unwrap();
    let mut packed = vc(2).rx_packed(PackedOptions::default()).unwrap();
    let mut broadcast = pair.a.port(0).unwrap().broadcast().unwrap();
    let mut codes = pair.a.port(1).unwrap().time_code().unwrap();
    // There is no receiver, so these never complete.
    tx.send(pair.packet(LONG, 0)).unwrap();
    pooled_tx.send(LONG).unwrap();
    let one = Threshold::ONE;
    let check = |canceller: spfe::Canceller, wait: &mut dyn FnMut() -> spfe::Result<()>| {
        canceller.cancel();
        let error = wait().unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        assert!(wait().unwrap_err().is_timeout(), "the cancellation ended a second wait");
    };
    let short = || within(SHORT);
    check(tx.canceller(), &mut || tx.drain(short()).map(drop));
    check(rx.canceller(), &mut || rx.wait(&one, short()).map(drop));
    check(pooled_tx.canceller(), &mut || pooled_tx.wait(short()).map(drop));
    check(pooled_rx.canceller(), &mut || pooled_rx.wait(&one, short()).map(drop));
    check(packed.canceller(), &mut || packed.wait(&one, short()).map(drop));
    check(broadcast.canceller(), &mut || broadcast.recv(short()).map(drop));
    check(codes.canceller(), &mut || codes.wait(&one, short()).map(drop));
}

fn a_cancellation_ends_one_wait_that_found_nothing(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut rx, mut tx) = (pair.rx_posted(0, 64, 4), pair.tx(0));
    let canceller = rx.canceller();
    canceller.cancel();
    canceller.cancel();
    tx.send(pair.packet(64, 1)).unwrap();
    tx.drain(soon()).unwrap();
    let received = || pair.b.port(0).unwrap().info().unwrap().channels[0].rx.packets;
    crate::kit::eventually("it is there", || received() == 1);
    // Packets that are there are reported first. The cancellation ends the wait after that, and no
    // other.
    assert_eq!(rx.wait(&Threshold::ONE, soon()).unwrap(), Ready::Threshold);
    receive(&mut rx).is(64, 1);
    assert!(rx.wait(&Threshold::ONE, soon()).unwrap_err().is_cancelled());
    assert!(rx.wait(&Threshold::ONE, Deadline::NOW).unwrap_err().is_timeout());
}
