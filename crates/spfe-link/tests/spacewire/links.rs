//! Two ports back to back: start, credit, errors, recovery.

use crate::pair::{Pair, Wires, drain, packet, push};
use spfe_link::spacewire::port::{START_RATE_BPS, SpaceWireErrors, SpaceWirePort};
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::{
    BroadcastCode, DecodedCharacter, NChar, SpaceWireCharacter, SpaceWireState, SpaceWireTiming,
};

const M: u64 = 1_000_000;

#[test]
fn timers_inside_the_limits() {
    assert!(SpaceWireTiming::NOMINAL.is_standard());
    assert!(!SpaceWireTiming { reset_ns: 5_819, ..SpaceWireTiming::NOMINAL }.is_standard());
    assert!(!SpaceWireTiming { wait_ns: 14_331, ..SpaceWireTiming::NOMINAL }.is_standard());
    assert!(!SpaceWireTiming { disconnect_ns: 726, ..SpaceWireTiming::NOMINAL }.is_standard());
}

#[test]
fn start_bit_by_bit() {
    let mut wires = Wires::new([200 * M, 100 * M]);
    wires.until(|wires| wires.both(SpaceWireState::Ready) || wires.both(SpaceWireState::Started));
    assert!((19_200..=19_210).contains(&wires.now_ns), "{} ns", wires.now_ns);
    assert_eq!(wires.sides[0].port.rate_bps(), START_RATE_BPS);
    wires.until(|wires| wires.both(SpaceWireState::Run));
    assert!((20_800..=23_000).contains(&wires.now_ns), "{} ns", wires.now_ns);
    assert_eq!(wires.sides[0].port.bit_ps(), 5_000);
    assert_eq!(wires.sides[1].port.bit_ps(), 10_000);
    wires.run_ns(20_000);
    assert!(wires.both(SpaceWireState::Run));
    assert_eq!(wires.sides[0].port.errors(), SpaceWireErrors::default());
    assert_eq!(wires.sides[0].port.credit().transmit(), 56);
}

#[test]
fn start_character_by_character() {
    let pair = Pair::<64, 64>::running([200 * M, 10 * M]);
    assert!((20_400..=23_000).contains(&pair.now_ns), "{} ns", pair.now_ns);
}

#[test]
fn packets_bit_by_bit() {
    let mut wires = Wires::running();
    let n_chars = packet(&[1, 2, 3, 0x55, 0xff, 0]);
    push(&mut wires.sides[0].port, &n_chars);
    push(&mut wires.sides[1].port, &packet(&[9]));
    wires.run_ns(20_000);
    assert_eq!(drain(&mut wires.sides[1].port), n_chars);
    assert_eq!(drain(&mut wires.sides[0].port), packet(&[9]));
    assert_eq!(wires.sides[1].port.counters().received_packets, 1);
}

#[test]
fn a_port_alone_keeps_trying() {
    let mut port = SpaceWirePort::<8, 8>::new(
        0,
        SpaceWireControl::default(),
        SpaceWireTiming::NOMINAL,
        START_RATE_BPS,
    );
    let mut now_ns = 0;
    for state in [
        SpaceWireState::ErrorReset,
        SpaceWireState::ErrorWait,
        SpaceWireState::Started,
        SpaceWireState::ErrorReset,
    ] {
        assert_eq!(port.state(), state);
        now_ns = port.deadline_ns().unwrap();
        port.poll(now_ns);
    }
    // 6.4 + 12.8 + 12.8 us, and ErrorReset once more.
    assert_eq!(now_ns, 38_400);
    assert!(port.errors().timeout);
}

#[test]
fn auto_start_waits_for_a_null() {
    let control =
        SpaceWireControl { link_start: false, auto_start: true, ..SpaceWireControl::default() };
    let mut port = SpaceWirePort::<8, 8>::new(0, control, SpaceWireTiming::NOMINAL, START_RATE_BPS);
    port.poll(6_400);
    port.poll(50_000);
    port.poll(60_000);
    assert_eq!(port.state(), SpaceWireState::Ready);
    port.receive(70_000, DecodedCharacter::Character(SpaceWireCharacter::Null));
    assert_eq!(port.state(), SpaceWireState::Started);
    // Connecting also needs a NULL to be sent.
    assert_eq!(port.transmit(70_000), Some(SpaceWireCharacter::Null));
    assert_eq!(port.state(), SpaceWireState::Started);
    port.signal(70_000, 71_000);
    assert_eq!(port.transmit(70_800), Some(SpaceWireCharacter::Fct));
    assert_eq!(port.state(), SpaceWireState::Connecting);
}

#[test]
fn without_a_start_the_port_stays_ready() {
    let still = SpaceWireControl { link_start: false, ..SpaceWireControl::default() };
    let mut port = SpaceWirePort::<8, 8>::new(0, still, SpaceWireTiming::NOMINAL, START_RATE_BPS);
    for now_ns in [10_000, 30_000, 100_000] {
        port.poll(now_ns);
    }
    assert_eq!(port.state(), SpaceWireState::Ready);
    port.set_control(100_000, SpaceWireControl { enabled: false, ..still });
    assert_eq!(port.state(), SpaceWireState::ErrorReset);
    port.poll(900_000);
    assert_eq!((port.state(), port.deadline_ns()), (SpaceWireState::ErrorReset, None));
}

/// LinkDisabled of the standard of 2008 (5.5.7.8): the link reaches Ready but no further, and only
/// Run is ended.
#[test]
fn legacy_disable() {
    let off =
        SpaceWireControl { enabled: false, legacy_disable: true, ..SpaceWireControl::default() };
    let mut port = SpaceWirePort::<8, 8>::new(0, off, SpaceWireTiming::NOMINAL, START_RATE_BPS);
    assert_eq!(port.deadline_ns(), Some(6_400));
    for now_ns in [6_400, 19_200, 100_000] {
        port.poll(now_ns);
    }
    assert_eq!((port.state(), port.deadline_ns()), (SpaceWireState::Ready, None));
    // A NULL does not start the link before it is enabled.
    let automatic = SpaceWireControl { link_start: false, auto_start: true, ..off };
    port.set_control(100_000, automatic);
    port.receive(100_100, DecodedCharacter::Character(SpaceWireCharacter::Null));
    assert_eq!(port.state(), SpaceWireState::Ready);
    port.set_control(100_200, SpaceWireControl { enabled: true, ..automatic });
    assert_eq!(port.state(), SpaceWireState::Started);
    // When disabled in Started or Connecting the link continues; in Run it falls.
    port.set_control(100_300, automatic);
    assert_eq!(port.state(), SpaceWireState::Started);
    let mut now_ns = 100_300;
    let (mut fcts, mut states) = (0, vec![]);
    while port.counters().runs == 0 && now_ns < 102_000 {
        states.push(port.state());
        let first = port.state() == SpaceWireState::Connecting && fcts == 0;
        fcts += u32::from(first);
        let character = if first { SpaceWireCharacter::Fct } else { SpaceWireCharacter::Null };
        port.receive(now_ns, DecodedCharacter::Character(character));
        port.transmit(now_ns);
        now_ns += 100;
    }
    states.dedup();
    assert_eq!(states, [SpaceWireState::Started, SpaceWireState::Connecting]);
    assert_eq!(port.counters().runs, 1, "it came to Run");
    assert_eq!(port.state(), SpaceWireState::ErrorReset, "and fell at once");
    assert_eq!(port.errors(), Default::default(), "which is no error");
}

#[test]
fn disconnect_and_recovery() {
    let mut wires = Wires::running();
    wires.run_ns(5_000);
    wires.cut = true;
    let cut_ns = wires.now_ns;
    wires.until(|wires| wires.sides[0].port.state() == SpaceWireState::ErrorReset);
    let fallen_ns = wires.now_ns;
    assert!((800..=960).contains(&(fallen_ns - cut_ns)), "{} ns", fallen_ns - cut_ns);
    wires.until(|wires| wires.sides[1].port.state() == SpaceWireState::ErrorReset);
    wires.cut = false;
    assert!(wires.sides[0].port.errors().disconnect);
    wires.until(|wires| wires.sides[0].port.transmits());
    let silence_ns = wires.now_ns - fallen_ns;
    assert!((19_190..=19_310).contains(&silence_ns), "{silence_ns} ns");
    wires.until(|wires| wires.both(SpaceWireState::Run));
    assert!((20_400..=23_000).contains(&(wires.now_ns - fallen_ns)));
}

#[test]
fn a_flipped_bit_brings_the_link_down_and_back() {
    let mut wires = Wires::running();
    wires.run_ns(3_000);
    wires.sides[0].flip_next_bit();
    wires.until(|wires| wires.both(SpaceWireState::ErrorReset));
    let errors = wires.sides[1].port.errors();
    assert!(errors.parity || errors.escape || errors.sequence, "{errors:?}");
    // The other side sees signals that may end anywhere in a character.
    assert_ne!(wires.sides[0].port.errors(), SpaceWireErrors::default());
    wires.until(|wires| wires.both(SpaceWireState::Run));
}

#[test]
fn wires_before_and_after_a_fall() {
    let mut wires = Wires::running();
    // Contents with an odd number of ones: a parity kept from before the fall would show.
    push(&mut wires.sides[0].port, &[NChar::Data(1); 40]);
    wires.until(|wires| wires.sides[1].port.waiting() == 5);
    wires.sides[1].flip_next_bit();
    wires.until(|wires| wires.both(SpaceWireState::ErrorReset));
    wires.until(|wires| wires.both(SpaceWireState::Run));
    let mut starts = 0;
    for (index, pair) in wires.trace.windows(2).enumerate() {
        let ((before_ns, before), (after_ns, after)) = (pair[0], pair[1]);
        // Never both signals at once; at 10 Mbit/s a bit lasts 100 ns.
        assert!((before.d == after.d) != (before.s == after.s), "{index}");
        assert!(index == 0 || after_ns - before_ns >= 100);
        if after_ns - before_ns < 6_400 {
            continue;
        }
        starts += 1;
        let first: Vec<_> = wires.trace[index + 1..index + 9].iter().map(|(_, s)| *s).collect();
        let of = |bits: &str| bits.chars().map(|bit| bit == '1').collect::<Vec<_>>();
        assert_eq!(first.iter().map(|s| s.d).collect::<Vec<_>>(), of("01110100"));
        assert_eq!(first.iter().map(|s| s.s).collect::<Vec<_>>(), of("11011110"));
    }
    assert_eq!(starts, 2);
}

#[test]
fn credit_stops_the_sender_at_fifty_six() {
    let mut pair = Pair::<100, 64>::running([100 * M; 2]);
    push(&mut pair.sides[0].port, &packet(&[7; 99]));
    pair.run_ns(40_000);
    // 64 places: at most 56 N-Chars of credit, then 8 more for the 8 places left.
    assert_eq!(pair.sides[1].port.waiting(), 64);
    assert_eq!(pair.sides[0].port.credit().transmit(), 0);
    for _ in 0..7 {
        pair.sides[1].port.pop();
    }
    pair.run_ns(5_000);
    assert_eq!(pair.sides[1].port.waiting(), 57);
    pair.sides[1].port.pop();
    pair.run_ns(5_000);
    assert_eq!(pair.sides[1].port.waiting(), 64);
    assert_eq!(pair.sides[0].port.counters().sent_n_chars, 72);
    assert!(pair.both(SpaceWireState::Run));
}

#[test]
fn at_most_seven_fcts_to_start_with() {
    let mut pair = Pair::<8, 200>::running([100 * M; 2]);
    pair.run_ns(20_000);
    let fcts = pair.sides[0].seen.iter().filter(|character| **character == SpaceWireCharacter::Fct);
    assert_eq!(fcts.count(), 7);
    let mut small = Pair::<8, 20>::running([100 * M; 2]);
    small.run_ns(20_000);
    assert_eq!(small.sides[0].port.credit().transmit(), 16);
}

#[test]
fn credit_errors() {
    // An FCT that takes the credit above 56.
    let mut pair = Pair::<8, 64>::running([100 * M; 2]);
    pair.run_ns(20_000);
    pair.inject(0, DecodedCharacter::Character(SpaceWireCharacter::Fct));
    assert_eq!(pair.sides[0].port.state(), SpaceWireState::ErrorReset);
    assert!(pair.sides[0].port.errors().credit);
    // An N-Char without credit.
    let mut pair = Pair::<8, 8>::running([100 * M; 2]);
    pair.run_ns(20_000);
    for left in (0..=8).rev() {
        assert_eq!(pair.sides[0].port.state(), SpaceWireState::Run, "{left}");
        pair.inject(0, DecodedCharacter::Character(SpaceWireCharacter::NChar(NChar::Data(left))));
    }
    assert_eq!(pair.sides[0].port.state(), SpaceWireState::ErrorReset);
    assert!(pair.sides[0].port.errors().credit);
}

#[test]
fn errors_of_each_kind() {
    let bad = [DecodedCharacter::ParityError, DecodedCharacter::EscapeError];
    for received in bad {
        let mut pair = Pair::<8, 8>::running([100 * M; 2]);
        pair.inject(0, received);
        assert_eq!(pair.sides[0].port.state(), SpaceWireState::ErrorReset);
        let errors = pair.sides[0].port.errors();
        assert_eq!(errors.parity, received == DecodedCharacter::ParityError);
        assert_eq!(errors.escape, received == DecodedCharacter::EscapeError);
        let fallen_ns = pair.now_ns;
        pair.until(|pair| pair.both(SpaceWireState::ErrorReset));
        assert!(pair.sides[1].port.errors().disconnect);
        // Silence for 850 ns, and a delay of 20 ns.
        assert!((850..=890).contains(&(pair.now_ns - fallen_ns)));
        pair.until(|pair| pair.both(SpaceWireState::Run));
    }
}

#[test]
fn characters_out_of_sequence() {
    let n_char = SpaceWireCharacter::NChar(NChar::Data(0));
    let code = SpaceWireCharacter::Broadcast(BroadcastCode::time(1));
    for character in [SpaceWireCharacter::Fct, n_char, code] {
        let mut port = SpaceWirePort::<8, 8>::new(
            0,
            SpaceWireControl::default(),
            SpaceWireTiming::NOMINAL,
            START_RATE_BPS,
        );
        port.poll(6_400);
        assert_eq!(port.state(), SpaceWireState::ErrorWait);
        // Nothing counts before gotNull.
        assert_eq!(port.receive(6_500, DecodedCharacter::Character(character)), None);
        assert_eq!(port.receive(6_500, DecodedCharacter::ParityError), None);
        assert_eq!(port.state(), SpaceWireState::ErrorWait);
        port.receive(6_600, DecodedCharacter::Character(SpaceWireCharacter::Null));
        assert_eq!(port.receive(6_700, DecodedCharacter::Character(character)), None);
        assert_eq!(port.state(), SpaceWireState::ErrorReset, "{character:?}");
        assert!(port.errors().sequence);
    }
}

/// A port in Connecting at 20 us.
fn connecting() -> SpaceWirePort<8, 16> {
    let mut port = SpaceWirePort::new(
        0,
        SpaceWireControl::default(),
        SpaceWireTiming::NOMINAL,
        START_RATE_BPS,
    );
    port.poll(6_400);
    port.poll(19_200);
    port.transmit(19_200);
    port.receive(20_000, DecodedCharacter::Character(SpaceWireCharacter::Null));
    port.transmit(20_000);
    assert_eq!(port.state(), SpaceWireState::Connecting);
    port
}

#[test]
fn connecting_takes_n_chars_only_after_an_fct() {
    let data = DecodedCharacter::Character(SpaceWireCharacter::NChar(NChar::Data(5)));
    let mut port = connecting();
    port.receive(20_100, data);
    assert_eq!(port.state(), SpaceWireState::ErrorReset);
    assert!(port.errors().sequence);
    let mut port = connecting();
    port.receive(20_100, DecodedCharacter::Character(SpaceWireCharacter::Fct));
    // Its own FCT is still on the wire.
    assert_eq!(port.state(), SpaceWireState::Connecting);
    port.receive(20_200, data);
    assert_eq!((port.state(), port.front()), (SpaceWireState::Connecting, Some(NChar::Data(5))));
    port.transmit(20_400);
    assert_eq!(port.state(), SpaceWireState::Run);
}

#[test]
fn a_credit_error_in_connecting_waits_for_run() {
    let mut port = connecting();
    for _ in 0..8 {
        port.receive(20_100, DecodedCharacter::Character(SpaceWireCharacter::Fct));
    }
    assert_eq!((port.state(), port.credit().transmit()), (SpaceWireState::Connecting, 56));
    port.transmit(20_400);
    assert_eq!((port.state(), port.counters().runs), (SpaceWireState::ErrorReset, 1));
    assert!(port.errors().credit);
    // Any other error takes effect at once, and is the one that is recorded.
    let mut port = connecting();
    for _ in 0..8 {
        port.receive(20_100, DecodedCharacter::Character(SpaceWireCharacter::Fct));
    }
    port.receive(20_200, DecodedCharacter::EscapeError);
    assert_eq!((port.state(), port.counters().runs), (SpaceWireState::ErrorReset, 0));
    assert!(port.errors().escape && !port.errors().credit);
}

#[test]
fn recovery_cuts_both_packets() {
    let mut pair = Pair::<64, 64>::running([10 * M; 2]);
    let mut n_chars = packet(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    n_chars.extend(packet(&[10, 11]));
    push(&mut pair.sides[0].port, &n_chars);
    pair.until(|pair| pair.sides[1].port.waiting() == 4);
    pair.inject(1, DecodedCharacter::ParityError);
    // The end marker of the packet in progress follows at once.
    let received = drain(&mut pair.sides[1].port);
    assert_eq!(received[..4], n_chars[..4]);
    assert_eq!(received[4..], [NChar::Eep]);
    pair.until(|pair| pair.both(SpaceWireState::ErrorReset));
    assert!(pair.sides[0].port.counters().spilled_n_chars >= 4);
    pair.until(|pair| pair.both(SpaceWireState::Run));
    pair.run_ns(20_000);
    assert_eq!(drain(&mut pair.sides[1].port), packet(&[10, 11]));
}

#[test]
fn spilling_includes_later_n_chars() {
    let mut pair = Pair::<64, 64>::running([10 * M; 2]);
    push(&mut pair.sides[0].port, &[NChar::Data(1), NChar::Data(2)]);
    pair.until(|pair| pair.sides[1].port.waiting() == 2);
    let off = SpaceWireControl { enabled: false, ..SpaceWireControl::default() };
    let now_ns = pair.now_ns;
    pair.sides[0].port.set_control(now_ns, off);
    push(&mut pair.sides[0].port, &packet(&[3]));
    push(&mut pair.sides[0].port, &packet(&[4]));
    pair.sides[0].port.set_control(now_ns, SpaceWireControl::default());
    pair.run_ns(60_000);
    let end = [NChar::Data(1), NChar::Data(2), NChar::Eep, NChar::Data(4), NChar::Eop];
    assert_eq!(drain(&mut pair.sides[1].port), end);
    assert_eq!(pair.sides[0].port.counters().spilled_n_chars, 2);
}

#[test]
fn an_eep_waits_for_a_place() {
    let mut pair = Pair::<64, 8>::running([10 * M; 2]);
    push(&mut pair.sides[0].port, &packet(&[1; 20]));
    pair.until(|pair| pair.sides[1].port.waiting() == 8);
    pair.inject(1, DecodedCharacter::EscapeError);
    let mut n_chars = vec![NChar::Data(1); 8];
    n_chars.push(NChar::Eep);
    assert_eq!(pair.sides[1].port.waiting(), 8);
    assert_eq!(drain(&mut pair.sides[1].port), n_chars);
}

#[test]
fn port_reset_empties_the_queues() {
    let mut pair = Pair::<64, 64>::running([10 * M; 2]);
    push(&mut pair.sides[0].port, &packet(&[1; 20]));
    pair.until(|pair| pair.sides[1].port.waiting() == 3);
    let now_ns = pair.now_ns;
    for side in &mut pair.sides {
        side.port
            .set_control(now_ns, SpaceWireControl { reset: true, ..SpaceWireControl::default() });
        assert_eq!((side.port.waiting(), side.port.push_room()), (0, 64));
    }
    pair.run_ns(50_000);
    assert!(pair.both(SpaceWireState::ErrorReset));
    let now_ns = pair.now_ns;
    for side in &mut pair.sides {
        side.port.set_control(now_ns, SpaceWireControl::default());
    }
    push(&mut pair.sides[0].port, &packet(&[5]));
    pair.run_ns(30_000);
    assert_eq!(drain(&mut pair.sides[1].port), packet(&[5]));
}

/// Rates of 60-byte packets at 200 Mbit/s: 604 bits each in one direction; 10.5 n + 4.5 with the
/// same traffic in the other direction.
#[test]
fn rate_of_packets() {
    for (both, bits) in [(false, 604.0), (true, 634.5)] {
        let mut pair = Pair::<256, 256>::running([200 * M; 2]);
        let mut ends = 0;
        let start_ns = pair.now_ns;
        pair.until(|pair| {
            for (index, side) in pair.sides.iter_mut().enumerate() {
                while (both || index == 0) && side.port.push_room() > 61 {
                    push(&mut side.port, &packet(&[0; 60]));
                }
                let n_chars = drain(&mut side.port);
                ends += n_chars.iter().filter(|n_char| index == 1 && n_char.is_end()).count();
            }
            ends == 300
        });
        let ratio = (pair.now_ns - start_ns) as f64 / (300.0 * bits * 5.0);
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }
}
