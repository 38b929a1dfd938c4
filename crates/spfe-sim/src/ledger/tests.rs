use super::*;

const INPUT: RouterInput = RouterInput { router: 5, port: 2, vc: 1 };

/// Stream 0 goes from node 0 to node 1 over links 3 and 7 and a router, stream 1 to node 2.
fn ledger() -> (Ledger, usize) {
    let mut ledger = Ledger::new();
    let flow = ledger.add_flow("telemetry", 254);
    let elements = RouteElements { links: vec![3, 7], inputs: vec![INPUT] };
    let track = ledger.add_track(flow, 1, elements, true);
    let other = ledger.add_flow("other", 254);
    ledger.add_track(other, 2, RouteElements { links: vec![4], inputs: vec![] }, true);
    (ledger, track)
}

fn header(number: u32) -> PacketHeader {
    PacketHeader { target: 254, flow: 0, number, bytes: 100 }
}

fn whole(number: u32) -> ArrivedPacket {
    ArrivedPacket::Traffic {
        header: header(number),
        bytes: 100,
        altered: None,
        end: PacketEnd::Eop,
    }
}

fn cut(number: u32) -> ArrivedPacket {
    ArrivedPacket::Traffic { header: header(number), bytes: 40, altered: None, end: PacketEnd::Eep }
}

fn send(ledger: &mut Ledger, count: u64) {
    for at in 0..count {
        ledger.begin(0, at * 10, 100);
    }
}

/// The text of the only violation.
fn violation(ledger: &Ledger) -> &str {
    assert_eq!(ledger.violation_count(), 1, "{:?}", ledger.violations());
    &ledger.violations()[0].text
}

#[test]
fn correct_packets_are_accepted() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 100);
    for number in 0..99 {
        let verdict = ledger.arrive(1, 5000, &whole(number));
        let latency_ps = 5000 - u64::from(number) * 10;
        let expected = PacketVerdict::Delivered { track, number: number.into(), latency_ps };
        assert_eq!(verdict, expected);
    }
    ledger.finish(6000, false);
    let totals = ledger.totals(track);
    assert_eq!((totals.sent, totals.delivered, totals.in_flight), (100, 99, 1));
    assert_eq!((totals.bytes, totals.cut, totals.lost), (9900, 0, 0));
    assert_eq!(totals.in_flight_bytes, 100);
    assert_eq!(ledger.violation_count(), 0);
}

#[test]
fn loss_is_found_with_the_next_packet() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 3);
    ledger.arrive(1, 50, &whole(0));
    assert!(matches!(ledger.arrive(1, 60, &whole(2)), PacketVerdict::Delivered { .. }));
    assert_eq!(violation(&ledger), "telemetry: packet 1 is lost without a reason");
}

#[test]
fn loss_of_the_last_packet_is_found_at_the_end() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 2);
    ledger.arrive(1, 50, &whole(0));
    ledger.finish(100, false);
    assert_eq!((ledger.violation_count(), ledger.totals(track).in_flight), (0, 1));
    ledger.finish(100, true);
    assert_eq!(violation(&ledger), "telemetry: packet 1 is lost without a reason");
}

#[test]
fn duplication_is_found() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 2);
    ledger.arrive(1, 50, &whole(0));
    assert_eq!(ledger.arrive(1, 60, &whole(0)), PacketVerdict::Bad);
    assert_eq!(violation(&ledger), "telemetry: packet 0 arrived twice");
}

#[test]
fn reordering_is_found() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 2);
    ledger.arrive(1, 50, &whole(1));
    ledger.arrive(1, 60, &whole(0));
    assert_eq!(ledger.violation_count(), 2);
    assert!(
        ledger.violations()[1].text.contains("arrived after it was counted as lost"),
        "{:?}",
        ledger.violations()
    );
}

#[test]
fn adaptive_routes_may_reorder_but_not_lose() {
    let mut ledger = Ledger::new();
    let flow = ledger.add_flow("group", 40);
    let track = ledger.add_track(flow, 1, RouteElements::default(), false);
    send(&mut ledger, 4);
    let arrived = |number| ArrivedPacket::Traffic {
        header: PacketHeader { target: 40, ..header(number) },
        bytes: 100,
        altered: None,
        end: PacketEnd::Eop,
    };
    for number in [1, 0, 3] {
        assert!(matches!(ledger.arrive(1, 99, &arrived(number)), PacketVerdict::Delivered { .. }));
    }
    assert_eq!(ledger.totals(track).in_flight, 1);
    assert_eq!(ledger.arrive(1, 99, &arrived(3)), PacketVerdict::Bad);
    ledger.finish(100, true);
    assert_eq!(ledger.violation_count(), 2);
}

#[test]
fn alteration_is_found() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    let arrived = ArrivedPacket::Traffic {
        header: header(0),
        bytes: 100,
        altered: Some(44),
        end: PacketEnd::Eop,
    };
    assert_eq!(ledger.arrive(1, 50, &arrived), PacketVerdict::Bad);
    assert_eq!(violation(&ledger), "telemetry: packet 0 is altered at byte 44");
}

#[test]
fn another_address_is_an_alteration() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    let header = PacketHeader { target: 253, ..header(0) };
    let arrived = ArrivedPacket::Traffic { header, bytes: 100, altered: None, end: PacketEnd::Eop };
    assert_eq!(ledger.arrive(1, 50, &arrived), PacketVerdict::Bad);
}

#[test]
fn misdelivery_is_found() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    assert_eq!(ledger.arrive(2, 50, &whole(0)), PacketVerdict::Bad);
    assert!(violation(&ledger).contains("packet 0 arrived here, which is not its destination"));
}

#[test]
fn packets_that_were_never_sent_are_found() {
    let (mut ledger, _) = ledger();
    assert_eq!(ledger.arrive(1, 50, &whole(0)), PacketVerdict::Bad);
    let other = ArrivedPacket::Other { bytes: vec![1, 2, 3], end: PacketEnd::Eop };
    assert_eq!(ledger.arrive(1, 50, &other), PacketVerdict::Bad);
    let unknown = PacketHeader { flow: 9, ..header(0) };
    let unknown =
        ArrivedPacket::Traffic { header: unknown, bytes: 100, altered: None, end: PacketEnd::Eop };
    assert_eq!(ledger.arrive(1, 50, &unknown), PacketVerdict::Bad);
    assert_eq!(ledger.violation_count(), 3);
}

#[test]
fn silent_truncation_is_found() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    let arrived =
        ArrivedPacket::Traffic { header: header(0), bytes: 40, altered: None, end: PacketEnd::Eop };
    assert_eq!(ledger.arrive(1, 50, &arrived), PacketVerdict::Bad);
    assert_eq!(violation(&ledger), "telemetry: packet 0 has 40 of 100 bytes but no EEP");
}

#[test]
fn an_eep_needs_a_reason() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    ledger.link_event(Cause::LinkReset(4));
    assert_eq!(ledger.arrive(1, 50, &cut(0)), PacketVerdict::Bad);
    assert!(violation(&ledger).ends_with("has 40 of 100 bytes and an EEP without a reason"));
}

#[test]
fn a_link_reset_explains_only_losses_in_flight() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 3);
    ledger.link_event(Cause::LinkReset(7));
    ledger.begin(0, 40, 100);
    ledger.begin(0, 50, 100);
    assert_eq!(ledger.arrive(1, 60, &cut(0)), PacketVerdict::Cut);
    assert!(matches!(ledger.arrive(1, 70, &whole(2)), PacketVerdict::Delivered { .. }));
    let totals = ledger.totals(track);
    assert_eq!((totals.cut, totals.lost, totals.delivered), (1, 1, 1));
    assert_eq!(totals.causes.get(&Cause::LinkReset(7)), Some(&[1, 1]));
    assert_eq!(ledger.violation_count(), 0);
    // Packet 3 was sent after the reset.
    ledger.arrive(1, 80, &whole(4));
    assert_eq!(violation(&ledger), "telemetry: packet 3 is lost without a reason");
}

#[test]
fn a_reset_explains_no_alteration_or_silent_truncation() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 2);
    ledger.link_event(Cause::LinkReset(3));
    let short =
        ArrivedPacket::Traffic { header: header(0), bytes: 40, altered: None, end: PacketEnd::Eop };
    assert_eq!(ledger.arrive(1, 50, &short), PacketVerdict::Bad);
    let arrived = ArrivedPacket::Traffic {
        header: header(1),
        bytes: 100,
        altered: Some(44),
        end: PacketEnd::Eop,
    };
    assert_eq!(ledger.arrive(1, 50, &arrived), PacketVerdict::Bad);
}

#[test]
fn a_fault_on_a_spacewire_link_may_alter_packets() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 1);
    ledger.link_event(Cause::Fault(3));
    let arrived = ArrivedPacket::Traffic {
        header: header(0),
        bytes: 100,
        altered: Some(44),
        end: PacketEnd::Eop,
    };
    assert_eq!(ledger.arrive(1, 50, &arrived), PacketVerdict::Cut);
    assert_eq!((ledger.totals(track).lost, ledger.violation_count()), (1, 0));
}

#[test]
fn a_router_identifies_discarded_packets() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 3);
    ledger.dropped(5, INPUT, DiscardReason::InvalidAddress, Some(header(1)));
    ledger.arrive(1, 50, &whole(0));
    ledger.arrive(1, 50, &whole(2));
    let totals = ledger.totals(track);
    assert_eq!((totals.lost, totals.in_flight, ledger.violation_count()), (1, 0, 0));
    assert_eq!(ledger.arrive(1, 60, &whole(1)), PacketVerdict::Bad, "it was thrown away");
}

#[test]
fn a_packet_time_out_explains_one_packet() {
    let (mut ledger, track) = ledger();
    send(&mut ledger, 2);
    ledger.dropped(15, INPUT, DiscardReason::Timeout, None);
    assert_eq!(ledger.arrive(1, 60, &cut(0)), PacketVerdict::Cut);
    assert_eq!(ledger.arrive(1, 60, &cut(1)), PacketVerdict::Bad);
    assert_eq!(ledger.totals(track).cut, 1);
    // A truncation before the packet was sent explains nothing.
    ledger.begin(0, 100, 100);
    ledger.dropped(99, INPUT, DiscardReason::Timeout, None);
    assert_eq!(ledger.arrive(1, 110, &cut(2)), PacketVerdict::Bad);
    assert_eq!(ledger.violation_count(), 2);
}

#[test]
fn fragments_without_a_header_need_a_reason() {
    let (mut ledger, _) = ledger();
    send(&mut ledger, 1);
    let runt = ArrivedPacket::Other { bytes: vec![254], end: PacketEnd::Eep };
    assert_eq!(ledger.arrive(1, 50, &runt), PacketVerdict::Bad);
    ledger.link_event(Cause::LinkReset(3));
    assert_eq!(ledger.arrive(1, 50, &runt), PacketVerdict::Cut);
    assert_eq!(ledger.violation_count(), 1);
}

#[test]
fn a_multicast_reaches_each_destination_once() {
    let mut ledger = Ledger::new();
    let flow = ledger.add_flow("multicast", 254);
    let first = ledger.add_track(flow, 1, RouteElements::default(), true);
    let second =
        ledger.add_track(flow, 2, RouteElements { links: vec![], inputs: vec![INPUT] }, true);
    send(&mut ledger, 2);
    for node in [1, 2] {
        assert!(matches!(ledger.arrive(node, 9, &whole(0)), PacketVerdict::Delivered { .. }));
    }
    ledger.dropped(9, INPUT, DiscardReason::Blocked, Some(header(1)));
    ledger.arrive(1, 9, &whole(1));
    let lost = [first, second].map(|track| ledger.totals(track).lost);
    assert_eq!((lost, ledger.violation_count()), ([0, 1], 0));
}

#[test]
fn numbers_exceed_32_bits() {
    let mut track = Track::new(0, 0, RouteElements::default(), true);
    for number in 0..10 {
        track.begin(number, 9);
    }
    track.delivered(0, 1);
    assert_eq!((track.number_of(0), track.number_of(5), track.number_of(1)), (0, 5, 1));
    let low = u32::MAX;
    assert_eq!(track.number_of(low), 0, "before the first there is none");
}

#[test]
fn a_repeated_violation_is_one_line_with_a_count() {
    let (mut ledger, _) = ledger();
    ledger.repeated(5_000_000, "copies of a", |_| "a: twice".to_owned());
    assert_eq!(ledger.violations()[0].to_string(), "at 5 µs: a: twice");
    for at in 1..=7061 {
        // Only the first text is made.
        ledger.repeated(5_000_000 + at, "copies of a", |_| unreachable!());
    }
    assert_eq!(violation(&ledger), "a: twice");
    assert_eq!(ledger.violations()[0].to_string(), "at 5 µs: a: twice (7061 more of these)");
    // Another cause has a line and a count of its own.
    for _ in 0..3 {
        ledger.repeated(6_000_000, "copies of b", |_| "b: twice".to_owned());
    }
    let lines: Vec<_> = ledger.violations().iter().map(ToString::to_string).collect();
    let expected =
        ["at 5 µs: a: twice (7061 more of these)", "at 6 µs: b: twice (2 more of these)"];
    assert_eq!((lines, ledger.violation_count()), (expected.map(String::from).to_vec(), 2));
}

#[test]
fn repetitions_of_a_violation_without_text_count_once() {
    let (mut ledger, _) = ledger();
    for number in 0..KEPT {
        ledger.violation(0, number.to_string());
    }
    for _ in 0..5 {
        ledger.repeated(1, "copies", |_| "twice".to_owned());
    }
    assert_eq!((ledger.violations().len(), ledger.violation_count()), (KEPT, KEPT as u64 + 1));
    assert!(ledger.violations().iter().all(|violation| violation.more == 0));
}
