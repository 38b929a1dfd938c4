//! The library on exact links, which transfer each word.

use spfe::{
    Deadline, Embedded, End, Endpoint, LinkCommand, LinkModel, LinkRate, MibItem, Mode,
    PackedOptions, PortState, Ready, Scenario, Status, Threshold, Topology,
};
use std::time::Duration;

fn pair(rate: &str, mode: Mode, virtual_time: bool) -> (Endpoint, Endpoint) {
    let rate: LinkRate = rate.parse().unwrap();
    let topology = Topology::pairs(2, rate, mode).with_model(LinkModel::Exact);
    let network = Embedded::new(Topology { virtual_time, ..topology }).unwrap();
    let open = |endpoint| Endpoint::attach(&network, endpoint, "exact").unwrap();
    (open(0), open(1))
}

#[test]
fn a_packet_goes_word_by_word_in_virtual_time() {
    for rate in ["1x6.25G", "4x6.25G"] {
        let (a, b) = pair(rate, Mode::Inline, true);
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = b.port(0).unwrap().vc(0).unwrap().rx().unwrap();
        for length in [1, 2, 3, 4, 5, 63, 64, 255, 256, 257, 1000, 65536] {
            rx.post(b.alloc(65536).unwrap().buf(0..65536).unwrap()).unwrap();
            let mut buf = a.alloc(length).unwrap().buf(0..length).unwrap();
            buf.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7 + length) as u8);
            let sent: Vec<u8> = buf.to_vec();
            tx.send(buf).unwrap();
            let got = rx.recv(Deadline::NEVER).unwrap();
            assert_eq!(got.time_ns, Some(b.now_ns()));
            assert!(got.buf[..] == sent[..], "{length} bytes over {rate}");
        }
        assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
    }
}

/// A receive queue with posted buffers of `bytes`.
fn posted(endpoint: &Endpoint, bytes: usize, count: usize) -> spfe::Rx {
    let mut rx = endpoint.port(0).unwrap().vc(0).unwrap().rx().unwrap();
    let mut bufs = endpoint.alloc(bytes * count).unwrap().split(bytes, count).unwrap();
    assert_eq!(rx.post_all(&mut bufs), count);
    rx
}

#[test]
fn a_fault_at_a_port_meets_the_next_packet() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/endpoints.toml");
    let mut scenario = Scenario::parse(&std::fs::read_to_string(file).unwrap()).unwrap();
    scenario.faults.clear();
    scenario.flows.clear();
    let routed = Embedded::of_scenario(&scenario, Mode::Inline, true).unwrap();
    let topology = Topology::pairs(2, "1x1G".parse().unwrap(), Mode::Inline);
    let topology = Topology { virtual_time: true, ..topology.with_model(LinkModel::Exact) };
    let cabled = Embedded::new(topology).unwrap();
    for (network, port, path) in [(cabled, "0.0", &b""[..]), (routed, "alpha", b"\x03\x01")] {
        let [a, b] = [0, 1].map(|end| Endpoint::attach(&network, end, "faults").unwrap());
        let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
        let mut rx = posted(&b, 64, 8);
        for turn in 0..8 {
            if turn % 2 == 1 {
                network.add_fault(&format!("what = \"eep\"\nnode = \"{port}\"\n")).unwrap();
            }
            let mut buf = a.alloc(64).unwrap().buf(0..path.len() + 4).unwrap();
            buf[..path.len()].copy_from_slice(path);
            tx.send(buf).unwrap();
            let got = rx.recv(Deadline::NEVER).unwrap();
            assert_eq!(got.end, if turn % 2 == 1 { End::Eep } else { End::Eop }, "{port} {turn}");
        }
    }
}

#[test]
fn a_cut_of_the_wire_loses_no_packet() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = posted(&b, 4096, 8);
    let mut last = 0;
    for turn in 0..20u8 {
        let mut buf = a.alloc(4096).unwrap().buf(0..4096).unwrap();
        buf.fill(turn);
        tx.send(buf).unwrap();
        a.link_command(0, LinkCommand::Cut { lane: None, duration_ns: 3_000 }).unwrap();
        let got = rx.recv(Deadline::NEVER).unwrap();
        assert_eq!((got.end, got.buf.len()), (End::Eop, 4096), "packet {turn}");
        assert!(got.buf.iter().all(|byte| *byte == turn), "packet {turn}");
        rx.post(got.buf).unwrap();
        last = b.now_ns();
    }
    // Each cut lasts its time, and the lane then needs time to start.
    assert!(last > 20 * 3_000, "{last} ns");
    assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
}

#[test]
fn a_packet_that_a_link_reset_cuts_ends_with_eep() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = posted(&b, 1024, 8);
    tx.send(a.alloc(65536).unwrap().buf(0..65536).unwrap()).unwrap();
    assert!(rx.recv(Deadline::NEVER).unwrap().more());
    b.link_command(0, LinkCommand::Reset).unwrap();
    let end = loop {
        let got = rx.recv(Deadline::NEVER).unwrap();
        let (end, status) = (got.end, got.status);
        rx.post(got.buf).unwrap();
        if end != End::More {
            break (end, status);
        }
    };
    assert_eq!(end, (End::Eep, Status::PacketCut));
    // The rest of the packet is dropped, and the next packet is whole.
    tx.drain(Deadline::NEVER).unwrap();
    tx.send(a.alloc(100).unwrap().buf(0..100).unwrap()).unwrap();
    let got = rx.recv(Deadline::NEVER).unwrap();
    assert_eq!((got.end, got.status, got.buf.len()), (End::Eop, Status::Ok, 100));
}

#[test]
fn the_next_receiver_does_not_get_the_rest_of_a_packet() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = posted(&b, 1024, 2);
    tx.send(a.alloc(65536).unwrap().buf(0..65536).unwrap()).unwrap();
    assert!(rx.recv(Deadline::NEVER).unwrap().more());
    drop(rx);
    let mut rx = posted(&b, 1024, 4);
    tx.send(a.alloc(100).unwrap().buf(0..100).unwrap()).unwrap();
    let got = rx.recv(Deadline::NEVER).unwrap();
    assert_eq!((got.end, got.status, got.buf.len()), (End::Eop, Status::Ok, 100));
}

#[test]
fn link_commands_that_do_not_apply_are_refused() {
    let (a, _b) = pair("2x6.25G", Mode::Inline, true);
    let mut rx = posted(&a, 64, 1);
    assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
    let list = a.port_mib(0).unwrap();
    let lanes = list.iter().filter(|entry| entry.layer == "lane" && entry.name == "state");
    assert_eq!(lanes.count(), 2, "{list:?}");
    for command in [
        LinkCommand::Cut { lane: Some(2), duration_ns: 1 },
        LinkCommand::Cut { lane: None, duration_ns: 0 },
        LinkCommand::Set { item: 200, index: 0, value: 0 },
        LinkCommand::Set { item: MibItem::Priority.raw(), index: 0, value: 16 },
    ] {
        assert!(a.link_command(0, command).is_err(), "{command:?}");
    }
    // SpaceWire has one lane and no quality of service.
    let slots = LinkCommand::Set { item: MibItem::TimeSlots.raw(), index: 0, value: 0 };
    for (command, status) in [
        (LinkCommand::Cut { lane: Some(1), duration_ns: 1 }, Status::BadField),
        (slots, Status::BadOpcode),
    ] {
        let error = a.link_command(1, command).unwrap_err();
        assert_eq!(error.status(), Some(status), "{command:?}");
    }
    let packet_level = Endpoint::open("virtual:?link=exact:1x6.25G&spw=100M").unwrap();
    let error = packet_level.link_command(2, LinkCommand::Reset).unwrap_err();
    assert_eq!(error.status(), Some(Status::BadOpcode));
}

#[test]
fn a_channel_sends_in_its_time_slots() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let (near, far) = (a.port(0).unwrap(), b.port(0).unwrap());
    let mut tx = near.vc(0).unwrap().tx().unwrap();
    let mut rx = posted(&b, 64, 16);
    let mut send = || tx.send(a.alloc(64).unwrap().buf(0..64).unwrap()).unwrap();
    let mut arrives = || match rx.recv(Deadline::NEVER) {
        Ok(got) => got.end == End::Eop,
        Err(error) if error.is_timeout() => false,
        Err(error) => panic!("{error}"),
    };
    let mib = near.mib();
    send();
    assert!(arrives(), "slot 0, in which everybody sends");
    mib.set("Time-slots[0]", 1 << 5 | 1 << 9).unwrap();
    send();
    assert!(!arrives(), "slot 0");
    mib.set("Schedule", 5).unwrap();
    assert!(arrives(), "slot 5, begun by software");
    assert_eq!(mib.get("Current Time-slot").unwrap(), 5);
    mib.set("Schedule", 6).unwrap();
    send();
    assert!(!arrives(), "slot 6");
    assert_eq!(mib.set("Schedule", 64).unwrap_err().status(), Some(Status::BadField));

    // A message of the type begins a slot at the port that sends it, and at the one that receives it.
    let (mut out, mut back) = (near.broadcast().unwrap(), far.broadcast().unwrap());
    assert_eq!(mib.get("Schedule Type").unwrap(), 256, "none after power-on");
    out.send(1, 0x30, [5; 8]).unwrap();
    assert!(!arrives(), "no type begins a slot");
    mib.set("Schedule Type", 0x30).unwrap();
    out.send(1, 0x30, [64 + 9, 5, 5, 5, 5, 5, 5, 5]).unwrap();
    assert!(arrives(), "slot 9, begun by the own message");
    mib.set("Schedule", 6).unwrap();
    send();
    back.send(1, 0x31, [9; 8]).unwrap();
    assert_eq!(out.recv(Deadline::NEVER).unwrap().kind, 0x31);
    assert!(!arrives(), "another type");
    back.send(1, 0x30, [9; 8]).unwrap();
    assert_eq!(out.recv(Deadline::NEVER).unwrap().kind, 0x30);
    assert_eq!(mib.get("Current Time-slot").unwrap(), 9);
    assert!(arrives(), "slot 9, begun by the far end");
}

#[test]
fn packets_and_time_codes_go_over_spacewire_character_by_character() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(1).unwrap().vc(0).unwrap().tx().unwrap();
    let mut rx = b.port(1).unwrap().vc(0).unwrap().rx().unwrap();
    let mut codes = b.port(1).unwrap().time_code().unwrap();
    let mut sender = a.port(1).unwrap().time_code().unwrap();
    let mut last = 0;
    for length in [1, 2, 3, 4, 5, 7, 64, 1000, 4096] {
        rx.post(b.alloc(4096).unwrap().buf(0..4096).unwrap()).unwrap();
        let mut buf = a.alloc(length).unwrap().buf(0..length).unwrap();
        buf.iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 7 + length) as u8);
        let sent: Vec<u8> = buf.to_vec();
        tx.send(buf).unwrap();
        let got = rx.recv(Deadline::NEVER).unwrap();
        assert_eq!((got.end, got.time_ns), (End::Eop, Some(b.now_ns())), "{length} bytes");
        assert!(got.buf[..] == sent[..], "{length} bytes");
        // At 200 Mbit/s a character of ten bits takes 50 ns.
        assert!(b.now_ns() >= last + 50 * length as u64, "{length} bytes");
        last = b.now_ns();
    }
    for code in 1..=70u8 {
        sender.send(code & 63, 0).unwrap();
        assert_eq!(codes.recv(Deadline::NEVER).unwrap().time, code & 63);
    }
    assert!(rx.recv(Deadline::NEVER).unwrap_err().is_timeout());
}

/// SpaceWire does not send again: a packet cut by a disconnect ends with EEP, and packets that wait
/// are sent after the link has started again.
#[test]
fn a_spacewire_disconnect_ends_the_current_packet_with_eep() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(1).unwrap().vc(0).unwrap().tx().unwrap();
    let port = b.port(1).unwrap();
    let mut rx = port.vc(0).unwrap().rx().unwrap();
    let mut bufs = b.alloc(8 * 1024).unwrap().split(1024, 8).unwrap();
    assert_eq!(rx.post_all(&mut bufs), 8);
    tx.send(a.alloc(65536).unwrap().buf(0..65536).unwrap()).unwrap();
    assert!(rx.recv(Deadline::NEVER).unwrap().more());
    assert_eq!(port.info().unwrap().state, PortState::Up);
    a.link_command(1, LinkCommand::Cut { lane: None, duration_ns: 100_000 }).unwrap();
    let (end, status) = loop {
        let got = rx.recv(Deadline::NEVER).unwrap();
        let found = (got.end, got.status);
        rx.post(got.buf).unwrap();
        if found.0 != End::More {
            break found;
        }
    };
    assert_eq!((end, status), (End::Eep, Status::PacketCut));
    assert_eq!(port.info().unwrap().state, PortState::Starting);
    tx.drain(Deadline::NEVER).unwrap();
    tx.send(a.alloc(100).unwrap().buf(0..100).unwrap()).unwrap();
    let got = rx.recv(Deadline::NEVER).unwrap();
    assert_eq!((got.end, got.status, got.buf.len()), (End::Eop, Status::Ok, 100));
    assert_eq!(port.info().unwrap().state, PortState::Up);
    let mib = b.port_mib(1).unwrap();
    let state = mib.iter().find(|entry| entry.layer == "lane" && entry.name == "state");
    assert!(state.is_some_and(|entry| entry.value == "Run".into()), "{mib:?}");
}

/// A wait for more packets than have arrived advances the link.
#[test]
fn a_wait_for_more_packets_advances_virtual_time() {
    let (a, b) = pair("1x6.25G", Mode::Inline, true);
    let mut tx = a.port(0).unwrap().vc(0).unwrap().tx().unwrap();
    let options = PackedOptions::default().area(65536);
    let mut rx = b.port(0).unwrap().vc(0).unwrap().rx_packed(options).unwrap();
    let packet = || a.alloc(1000).unwrap().buf(0..1000).unwrap();
    tx.send(packet()).unwrap();
    rx.wait(&Threshold::ONE, Deadline::NEVER).unwrap();
    (0..9).for_each(|_| tx.send(packet()).unwrap());
    let soon = b.deadline_after(Duration::from_secs(1));
    assert_eq!(rx.wait(&Threshold::count(10), soon).unwrap(), Ready::Threshold);
    let goal = Threshold::count(20).or_after_first(Duration::from_secs(2));
    (0..10).for_each(|_| tx.send(packet()).unwrap());
    assert_eq!(rx.wait(&goal, soon).unwrap(), Ready::Threshold);
}
