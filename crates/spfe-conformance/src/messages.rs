//! Broadcast messages, time-codes and distributed interrupts.

use crate::kit::{EndpointPair, soon, spawn};
use crate::{Fixture, cases};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use spfe::{
    Broadcast, Deadline, InterruptCodes, MessageOptions, QueueOptions, Status, Strategy, Threshold,
    TimeCode,
};

cases! {
    messages_arrive_in_order: [Message],
    a_filter_passes_its_channel_and_type: [Message],
    a_full_ring_drops_messages_and_reports_it: [Message],
    messages_do_not_wait_behind_packets: [Message],
    a_sleeping_listener_is_woken: [Message],
    a_descriptor_signals_messages: [RealTime, Message, Event, SpaceWire],
    draining_waits_until_all_messages_are_sent: [Message, SpaceWire],
    listeners_open_and_close_independently: [Message],
    a_message_posted_before_closing_arrives: [Message],
    a_fifth_listener_is_refused: [Message],
    a_reset_ends_listening: [Message, Reset],
    time_codes_tick_and_wrap: [Message, Fresh, SpaceWire],
    a_time_code_out_of_sequence_is_counted: [Message, Fresh, SpaceWire],
    time_codes_have_flags: [Message, SpaceWire],
    interrupts_are_sent_and_acknowledged: [Message, SpaceWire],
    interrupts_are_no_time_codes: [Message, Fresh, SpaceWire],
    a_full_ring_drops_interrupts_and_reports_it: [Message, SpaceWire],
}

fn broadcast(endpoint: &spfe::Endpoint) -> Broadcast {
    endpoint.port(0).unwrap().broadcast().unwrap()
}

fn time_code(endpoint: &spfe::Endpoint) -> TimeCode {
    endpoint.port(1).unwrap().time_code().unwrap()
}

fn interrupts(endpoint: &spfe::Endpoint) -> InterruptCodes {
    endpoint.port(1).unwrap().interrupts().unwrap()
}

fn messages_arrive_in_order(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    let mut last = 0;
    for number in 0..500u64 {
        let (channel, kind) = (number as u8, (number * 3) as u8);
        sender.send(channel, kind, number.to_le_bytes()).unwrap();
        let got = listener.recv(soon()).unwrap();
        assert_eq!((got.channel, got.kind, got.data), (channel, kind, number.to_le_bytes()));
        assert!(!got.lost_before && !got.late && !got.delayed);
        assert!(got.time_ns >= last, "time goes back");
        last = got.time_ns;
        listener.send(1, 2, [3; 8]).unwrap();
        assert_eq!(sender.recv(soon()).unwrap().data, [3; 8], "the message of the other direction");
    }
    assert!(listener.poll().is_none() && sender.poll().is_none());
    assert!(listener.recv(Deadline::NOW).unwrap_err().is_timeout());
}

fn a_filter_passes_its_channel_and_type(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut sender = broadcast(&pair.a);
    let port = pair.b.port(0).unwrap();
    let mut listeners = [(None, None), (Some(2), None), (None, Some(1)), (Some(2), Some(1))]
        .map(|(channel, kind)| port.broadcast_filtered(channel, kind).unwrap());
    for channel in 0..4 {
        for kind in 0..3 {
            sender.send(channel, kind, [channel, kind, 0, 0, 0, 0, 0, 0]).unwrap();
        }
    }
    let mut expect = |listener: usize, wanted: &dyn Fn(u8, u8) -> bool| {
        for (channel, kind) in (0..4).flat_map(|c| (0..3).map(move |k| (c, k))) {
            if wanted(channel, kind) {
                let got = listeners[listener].recv(soon()).unwrap();
                assert_eq!((got.channel, got.kind), (channel, kind), "listener {listener}");
            }
        }
        assert!(listeners[listener].poll().is_none(), "listener {listener}");
    };
    expect(0, &|_, _| true);
    expect(1, &|channel, _| channel == 2);
    expect(2, &|_, kind| kind == 1);
    expect(3, &|channel, kind| channel == 2 && kind == 1);
}

fn a_full_ring_drops_messages_and_reports_it(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    let mut quiet = pair.b.port(0).unwrap().broadcast_filtered(Some(9), None).unwrap();
    let dropped = || pair.b.port(0).unwrap().info().unwrap().messages.dropped;
    let mut number = 0u64;
    for turn in 1..4 {
        // The ring of the listener has 64 entries, so 36 of 100 messages do not fit.
        for _ in 0..100 {
            send(&mut sender, number);
            number += 1;
        }
        crate::kit::eventually("36 dropped", || dropped() == 36 * turn);
        for index in 0..64 {
            let got = listener.recv(soon()).unwrap();
            assert_eq!(got.data, (number - 100 + index).to_le_bytes());
            assert_eq!(got.lost_before, index == 0 && turn > 1, "message {index} of turn {turn}");
        }
        assert!(listener.poll().is_none());
    }
    assert!(quiet.poll().is_none());
}

/// Sends a message. If 64 wait already, it first waits until one is sent.
fn send(sender: &mut Broadcast, number: u64) {
    crate::kit::eventually("room for a message", || {
        match sender.send(1, 0, number.to_le_bytes()) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.status(), Some(Status::Busy), "{error}");
                false
            }
        }
    });
}

fn messages_do_not_wait_behind_packets(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    // These have no receiver and stall their channels for good.
    let mut stalled: Vec<_> = (0..8).map(|vc| pair.tx(vc)).collect();
    let _rx = pair.rx(0);
    for (vc, tx) in stalled.iter_mut().enumerate() {
        for packet in pair.a.alloc(10_000).unwrap().split(100, 100).unwrap() {
            tx.send(packet).unwrap();
        }
        sender.send(7, 7, [vc as u8; 8]).unwrap();
        assert_eq!(listener.recv(soon()).unwrap().data, [vc as u8; 8]);
    }
}

fn a_sleeping_listener_is_woken(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    listener.set_strategy(Strategy::Block);
    let thread = spawn(move || {
        for number in 0..1000u64 {
            let got = listener.recv(soon());
            let got = got.unwrap_or_else(|error| panic!("listener, {number}: {error}"));
            assert_eq!(got.data, number.to_le_bytes());
            listener.send(0, 0, number.to_le_bytes()).unwrap();
        }
    });
    sender.set_strategy(Strategy::Block);
    for number in 0..1000u64 {
        sender.send(0, 0, number.to_le_bytes()).unwrap();
        let got = sender.recv(soon());
        let got = got.unwrap_or_else(|error| panic!("sender, {number}: {error}"));
        assert_eq!(got.data, number.to_le_bytes());
    }
    thread.join().unwrap();
}

/// Closing a listener does not affect the others of the port.
fn a_descriptor_signals_messages(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let event = QueueOptions::default().depth(16).event(true);
    let options = MessageOptions::default().channel(1).queue(event);
    let mut listener = pair.b.port(0).unwrap().broadcast_with(options).unwrap();
    let mut clock = pair.b.port(1).unwrap().time_code_with(event).unwrap();
    let (mut sender, mut codes) = (broadcast(&pair.a), time_code(&pair.a));
    let readable = |fd: BorrowedFd<'_>, seconds| {
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&Timespec { tv_sec: seconds, tv_nsec: 0 })).unwrap() == 1;
        if ready {
            rustix::io::read(fd, &mut [0u8; 8]).unwrap();
        }
        ready
    };
    let soon_s = crate::kit::SOON.as_secs() as i64;
    for turn in 0..5 {
        assert!(!listener.request_event(&Threshold::count(2)).unwrap());
        assert!(!clock.request_event(&Threshold::ONE).unwrap());
        send(&mut sender, 2 * turn);
        // A message of another channel does not count.
        sender.send(2, 0, [0; 8]).unwrap();
        sender.drain(soon()).unwrap();
        assert!(!readable(listener.fd().unwrap(), 0), "one of two");
        send(&mut sender, 2 * turn + 1);
        codes.tick().unwrap();
        assert!(readable(listener.fd().unwrap(), soon_s) && readable(clock.fd().unwrap(), soon_s));
        assert!(
            listener.request_event(&Threshold::count(2)).unwrap(),
            "the messages are there already"
        );
        for number in [2 * turn, 2 * turn + 1] {
            assert_eq!(listener.poll().unwrap().data, number.to_le_bytes());
        }
        assert_eq!(u64::from(clock.poll().unwrap().time), turn + 1);
    }
    assert_eq!(sender.request_event(&Threshold::ONE).unwrap_err().status(), Some(Status::BadField));
}

fn draining_waits_until_all_messages_are_sent(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    let (mut codes, mut clock) = (time_code(&pair.a), time_code(&pair.b));
    for strategy in [Strategy::Block, Strategy::Adaptive, Strategy::Poll] {
        sender.set_strategy(strategy);
        codes.set_strategy(strategy);
        for turn in 1..=60 {
            send(&mut sender, turn);
            codes.tick().unwrap();
            if turn % 20 == 0 {
                sender.drain(soon()).unwrap();
                codes.drain(soon()).unwrap();
                assert_eq!((sender.outstanding(), codes.outstanding()), (0, 0));
            }
        }
        // Every message that was sent has arrived.
        sender.drain(Deadline::NOW).unwrap();
        listener.wait(&Threshold::count(60), soon()).unwrap();
        clock.wait(&Threshold::count(60), soon()).unwrap();
        assert_eq!(std::iter::from_fn(|| listener.poll()).count(), 60);
        assert_eq!(std::iter::from_fn(|| clock.poll()).count(), 60);
        assert!(listener.stats().polls >= 60 && clock.stats().empty_polls > 0);
    }
}

fn listeners_open_and_close_independently(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut sender = broadcast(&pair.a);
    let mut kept = broadcast(&pair.b);
    for number in 0..20u64 {
        let mut other = broadcast(&pair.b);
        let third = pair.b.port(0).unwrap().broadcast_filtered(Some(1), None).unwrap();
        sender.send(1, 1, number.to_le_bytes()).unwrap();
        assert_eq!(other.recv(soon()).unwrap().data, number.to_le_bytes());
        assert_eq!(kept.recv(soon()).unwrap().data, number.to_le_bytes());
        if number % 2 == 0 {
            drop(std::mem::replace(&mut kept, other));
        } else {
            drop(other);
        }
        drop(third);
        kept.send(1, 1, number.to_le_bytes()).unwrap();
        assert_eq!(sender.recv(soon()).unwrap().data, number.to_le_bytes());
        assert!(kept.poll().is_none());
    }
}

fn a_message_posted_before_closing_arrives(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut listener = broadcast(&pair.b);
    for number in 0..100u64 {
        let mut sender = broadcast(&pair.a);
        sender.send(1, 1, number.to_le_bytes()).unwrap();
        drop(sender);
        let got = listener.recv(soon());
        let got = got.unwrap_or_else(|error| panic!("message {number}: {error}"));
        assert_eq!(got.data, number.to_le_bytes());
    }
}

fn a_fifth_listener_is_refused(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let mut open: Vec<Broadcast> = (0..4).map(|_| broadcast(&pair.b)).collect();
    let error = pair.b.port(0).unwrap().broadcast().map(drop).unwrap_err();
    assert_eq!(error.status(), Some(Status::NoResources), "{error}");
    let mut sender = broadcast(&pair.a);
    sender.send(1, 1, [5; 8]).unwrap();
    for listener in &mut open {
        assert_eq!(
            listener.recv(soon()).unwrap().data,
            [5; 8],
            "the refusal affected an open listener"
        );
    }
    open.pop();
    open.push(broadcast(&pair.b));
    sender.send(1, 1, [6; 8]).unwrap();
    for listener in &mut open {
        assert_eq!(listener.recv(soon()).unwrap().data, [6; 8]);
    }
}

fn a_reset_ends_listening(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut sender, mut listener) = (broadcast(&pair.a), broadcast(&pair.b));
    pair.b.reset().unwrap();
    let error = listener.recv(soon()).unwrap_err();
    assert_eq!(error.status(), Some(Status::DeviceReset), "{error}");
    listener = broadcast(&pair.b);
    sender.send(1, 1, [7; 8]).unwrap();
    assert_eq!(listener.recv(soon()).unwrap().data, [7; 8]);
}

fn time_codes_tick_and_wrap(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut master, mut slave) = (time_code(&pair.a), time_code(&pair.b));
    for number in 1..=150u32 {
        assert_eq!(u32::from(master.tick().unwrap()), number % 64);
        let got = slave.recv(soon()).unwrap();
        assert_eq!((u32::from(got.time), got.flags), (number % 64, 0));
    }
    let info = pair.b.port(1).unwrap().info().unwrap();
    assert_eq!((info.time_codes.last.time, info.time_codes.out_of_sequence), (150 % 64, 0));
    assert!(slave.poll().is_none());
}

fn a_time_code_out_of_sequence_is_counted(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut master, mut slave) = (time_code(&pair.a), time_code(&pair.b));
    let invalid = || pair.b.port(1).unwrap().info().unwrap().time_codes.out_of_sequence;
    for (time, expected) in [(1, 0), (2, 0), (4, 1), (5, 1), (5, 2), (63, 3), (0, 3), (1, 3)] {
        master.send(time, 0).unwrap();
        assert_eq!(
            slave.recv(soon()).unwrap().time,
            time,
            "it is delivered although it is out of sequence"
        );
        assert_eq!(invalid(), expected, "after {time}");
    }
    for (time, flags) in [(64, 0), (0, 4), (255, 255)] {
        let error = master.send(time, flags).unwrap_err();
        assert_eq!(error.status(), Some(Status::BadField), "{error}");
    }
}

fn time_codes_have_flags(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut master, mut slave) = (time_code(&pair.a), time_code(&pair.b));
    for (time, flags) in [(1, 0), (2, 1), (3, 2), (4, 3), (63, 3)] {
        master.send(time, flags).unwrap();
        let got = slave.recv(soon()).unwrap();
        assert_eq!((got.time, got.flags), (time, flags));
    }
}

fn interrupts_are_sent_and_acknowledged(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut node, mut handler) = (interrupts(&pair.a), interrupts(&pair.b));
    for number in 0..32 {
        node.send(number).unwrap();
        let got = handler.recv(soon()).unwrap();
        assert_eq!((got.number, got.acknowledge, got.lost_before), (number, false, false));
        handler.acknowledge(number).unwrap();
        let got = node.recv(soon()).unwrap();
        assert_eq!((got.number, got.acknowledge), (number, true));
    }
    assert!(node.poll().is_none() && handler.poll().is_none());
    for refused in [node.send(32), node.acknowledge(255)] {
        assert_eq!(refused.unwrap_err().status(), Some(Status::BadField));
    }
    let other = pair.a.port(0).unwrap().interrupts().map(drop).unwrap_err();
    assert_eq!(other.status(), Some(Status::BadOpcode), "SpaceFibre: {other}");
}

/// An interrupt reaches queues for interrupts as such, and other queues of the port as a time-code
/// with flags 2. Time-codes with these flags are interrupts, and count as such.
fn interrupts_are_no_time_codes(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let (mut codes, mut node) = (time_code(&pair.a), interrupts(&pair.a));
    let (mut clock, mut handler) = (time_code(&pair.b), interrupts(&pair.b));
    for (number, acknowledge) in [(20, false), (1, true), (31, true)] {
        let code = number + if acknowledge { 32 } else { 0 };
        for as_code in [false, true] {
            match (as_code, acknowledge) {
                (true, _) => codes.send(code, 2).unwrap(),
                (false, false) => node.send(number).unwrap(),
                (false, true) => node.acknowledge(number).unwrap(),
            }
            let got = handler.recv(soon()).unwrap();
            assert_eq!((got.number, got.acknowledge), (number, acknowledge));
            let got = clock.recv(soon()).unwrap();
            assert_eq!((got.time, got.flags), (code, 2));
        }
    }
    // Reserved types are time-codes with flags.
    for flags in [0, 1, 3] {
        codes.send(7, flags).unwrap();
        assert_eq!(clock.recv(soon()).unwrap().flags, flags);
    }
    assert!(handler.poll().is_none());
    let info = pair.b.port(1).unwrap().info().unwrap();
    assert_eq!(info.time_codes.last.time, 7);
    // 7 after 0, and twice 7 after 7.
    assert_eq!(info.time_codes.out_of_sequence, 3);
}

fn a_full_ring_drops_interrupts_and_reports_it(fixture: &Fixture) {
    let pair = EndpointPair::new(fixture);
    let port = pair.b.port(1).unwrap();
    let mut handler = port.interrupts_with(QueueOptions::default().depth(16)).unwrap();
    let (mut node, mut other) = (interrupts(&pair.a), interrupts(&pair.b));
    for turn in 0..3 {
        for number in 0..20 {
            node.send(number).unwrap();
            // It is in the ring of the handler already, or dropped.
            assert_eq!(other.recv(soon()).unwrap().number, number);
        }
        for number in 0..16 {
            let got = handler.recv(soon()).unwrap();
            let lost = number == 0 && turn > 0;
            assert_eq!((got.number, got.lost_before), (number, lost), "turn {turn}");
        }
        assert!(handler.poll().is_none());
    }
}
