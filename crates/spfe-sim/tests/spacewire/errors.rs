//! After each kind of error the link comes back, and packets arrive whole or end with an EEP.

use crate::kit::{A, B, Kit, config, n_chars, packet};
use spfe_link::Word;
use spfe_link::spacewire::{BroadcastCode, NChar};
use spfe_link::word::k;
use spfe_sim::fault::{EndCommand, FaultKind, FaultTarget, WireFault};
use spfe_sim::link::{EndEvent, SimulatedLink};
use spfe_sim::spacewire::SpaceWireConfig;
use spfe_sim::time::{MS, NS, US};
use std::collections::BTreeSet;

/// An end marker in a word of its own.
const EOP: Word = Word { bits: u32::from_le_bytes([k::EOP, k::FILL, k::FILL, k::FILL]), k: 0xf };

#[test]
fn a_cut_is_detected_850_ns_after_the_last_edge() {
    for mbps in [5, 10, 33, 200, 400] {
        let mut kit = Kit::running(config(mbps));
        let bit = 1_000_000 / u64::from(mbps) + 1;
        // In the middle of a character.
        kit.run(3 * bit / 2);
        let at = kit.inject(A, FaultTarget::Any, FaultKind::Cut { duration_ps: 5 * US });
        kit.run(10 * US);
        let [(heard, "disconnect")] = kit.log.errors(B)[..] else { panic!("{:?}", kit.log) };
        let last_edge = heard - 850 * NS - 20 * NS;
        assert!((at - bit - NS..at).contains(&last_edge), "{mbps}: {last_edge} {at}");
        assert_eq!(kit.log.entered(B, "ErrorReset"), [heard]);
        // B is silent from then on, except for the edges of its signals that return to 0.
        let (answer, name) = kit.log.errors(A)[0];
        assert!(["disconnect", "parity error"].contains(&name), "{name}");
        assert!(answer <= heard + 870 * NS + 3 * bit, "{}", answer - heard);
        let fault = |event: &EndEvent| matches!(event, EndEvent::Fault { lane: 0, .. });
        let seen = kit.log.events.iter().find(|(.., event)| fault(event)).unwrap();
        assert_eq!((seen.0, seen.1), (at, A));
        // Both ends return: 19.2 us of silence, then NULLs and FCTs.
        kit.until_running();
        let run = kit.log.entered(B, "Run")[1];
        assert!((20 * US..25 * US).contains(&(run - heard)), "{}", run - heard);
        let recovered = EndEvent::Recovered { after_ps: run - heard };
        assert!(kit.log.events.contains(&(run, B, recovered)));
        kit.run(MS);
        assert_eq!((kit.count(A, "runs"), kit.count(B, "runs")), (2, 2));
    }
}

#[test]
fn a_long_cut_keeps_the_link_down() {
    let mut kit = Kit::running(config(200));
    kit.inject(B, FaultTarget::Any, FaultKind::Cut { duration_ps: 500 * US });
    kit.run(400 * US);
    assert_eq!(kit.log.errors(A)[0].1, "disconnect");
    assert!(!kit.is_running());
    // A hears nothing. B hears A's attempts and answers.
    assert!(kit.count(A, "start time-outs") > 10);
    assert!(kit.count(B, "runs") == 1);
    kit.until_running();
}

#[test]
fn packets_in_flight_end_with_an_eep() {
    let mut kit = Kit::running(config(10));
    let (first, second): (Vec<u8>, Vec<u8>) = ((0..100).collect(), (100..150).collect());
    kit.write(A, &packet(&first));
    kit.run(30 * US);
    kit.inject(A, FaultTarget::Any, FaultKind::Cut { duration_ps: 2 * US });
    kit.run(100 * US);
    kit.write(A, &packet(&second));
    let received = n_chars(&kit.read_all(B));
    let cut = received.iter().position(|n_char| n_char.is_end()).unwrap();
    assert!((20..32).contains(&cut), "{cut}");
    assert_eq!(received[cut], NChar::Eep);
    let bytes = |list: &[u8]| list.iter().map(|byte| NChar::Data(*byte)).collect::<Vec<_>>();
    assert_eq!(received[..cut], bytes(&first[..cut]));
    assert_eq!(received[cut + 1..], n_chars(&packet(&second)));
    assert_eq!(kit.count(B, "EEPs appended"), 1);
    // All of the first packet was sent or discarded.
    let [data, eops, spilled] =
        ["data characters sent", "EOPs sent", "N-Chars spilled"].map(|name| kit.count(A, name));
    assert_eq!(data + eops + spilled, 101 + 51);
    assert!(spilled > 60);
}

#[test]
fn the_rest_of_a_truncated_packet_is_discarded() {
    let mut kit = Kit::running(config(100));
    let words = packet(&[7; 400]);
    kit.write(A, &words[..30]);
    kit.run(50 * US);
    kit.inject(B, FaultTarget::Null, FaultKind::BitError);
    kit.run(200 * NS);
    kit.run(2 * US);
    // The link is down, so there is no need to wait for it.
    assert!(!kit.is_running());
    kit.write(A, &words[30..90]);
    kit.write(A, &words[90..]);
    kit.write(A, &packet(&[8]));
    let received = n_chars(&kit.read_all(B));
    let end = [NChar::Eep, NChar::Data(8), NChar::Eop];
    assert_eq!(received[120..], end);
    assert_eq!(kit.count(A, "N-Chars spilled"), 401 - 120);
}

/// Inverts one bit in a character of each kind, at many positions.
#[test]
fn each_bit_error_is_detected() {
    let mut names = BTreeSet::new();
    for target in [
        FaultTarget::Null,
        FaultTarget::Fct,
        FaultTarget::Data,
        FaultTarget::EndMarker,
        FaultTarget::Code,
    ] {
        for seed in 0..40 {
            let mut kit = Kit::running(SpaceWireConfig { seed, ..config(100) });
            kit.inject(A, target, FaultKind::BitError);
            let words = packet(&[0xa5; 30]);
            kit.write(A, &words);
            kit.write(B, &words);
            kit.run(US);
            kit.link.end(A).send_code(BroadcastCode::time(1));
            let received = kit.read_all(B);
            let error = kit.log.errors(B)[0].1;
            names.insert(error);
            kit.until_running();
            assert_eq!(kit.count(B, "runs"), 2, "{target:?} {seed}");
            // A packet arrives whole, or a part of it with an EEP.
            let received = n_chars(&received);
            let sent = n_chars(&words);
            if received != sent && !received.is_empty() {
                let (end, data) = received.split_last().unwrap();
                assert_eq!(*end, NChar::Eep, "{target:?} {seed} {received:?}");
                assert_eq!(*data, sent[..data.len()], "{target:?} {seed}");
            }
            kit.write(A, &words);
            assert_eq!(kit.read_all(B), words);
        }
    }
    let expected = ["disconnect", "escape error", "parity error"];
    assert!(names.is_subset(&expected.into()), "{names:?}");
    assert!(names.contains("parity error"), "{names:?}");
}

#[test]
fn escape_errors() {
    // Random bits for some characters, until an ESC is followed by an end marker or another ESC.
    let found = (0..400).any(|seed| {
        let mut kit = Kit::running(SpaceWireConfig { seed, ..config(100) });
        kit.inject(A, FaultTarget::Null, FaultKind::Burst { bits: 16 });
        kit.run(100 * US);
        kit.until_running();
        kit.count(B, "escape errors") == 1
    });
    assert!(found);
}

#[test]
fn bursts_of_any_length_are_detected() {
    for bits in [1, 5, 10, 100, 1_000, 10_000] {
        let mut kit = Kit::running(SpaceWireConfig { seed: u64::from(bits), ..config(100) });
        kit.inject(A, FaultTarget::Any, FaultKind::Burst { bits });
        // Each attempt to start sends 128 bits and takes 32 us or more; the longest takes 3 ms.
        kit.run(5 * MS);
        kit.until_running();
        kit.run(100 * US);
        assert!(kit.is_running(), "{bits}");
        // Random bits may be end markers.
        kit.read(B);
        kit.write(A, &packet(&[1, 2, 3]));
        assert_eq!(kit.read_all(B), packet(&[1, 2, 3]));
    }
}

#[test]
fn an_extra_fct_is_a_credit_error() {
    let mut kit = Kit::running(config(100));
    kit.inject(B, FaultTarget::Fct, FaultKind::Duplicate);
    kit.write(A, &packet(&[1; 7]));
    kit.run(10 * US);
    assert_eq!(
        kit.log.errors(A).iter().map(|(_, name)| *name).collect::<Vec<_>>(),
        ["credit error"]
    );
    kit.until_running();
    assert_eq!(kit.read(B), packet(&[1; 7]));
    kit.write(A, &packet(&[2; 70]));
    assert_eq!(kit.read_all(B), packet(&[2; 70]));
}

#[test]
fn a_missing_fct_costs_credit_for_eight_characters() {
    let mut kit = Kit::running(config(100));
    kit.inject(B, FaultTarget::Fct, FaultKind::Drop);
    // Neither this character nor the NULL before it contains a one, so the parity after it matches.
    kit.write(A, &packet(&[1; 7]));
    kit.run(10 * US);
    assert!(kit.log.errors(A).is_empty());
    assert_eq!((kit.count(A, "transmit credit"), kit.count(B, "receive credit")), (48, 56));
    assert!(!kit.link.is_quiet() || kit.count(B, "FCTs sent") == 8);
    kit.write(A, &packet(&[2; 200]));
    assert_eq!(kit.read_all(B), [packet(&[1; 7]), packet(&[2; 200])].concat());
    // The bit is inverted again after the next start.
    kit.link.end(A).command(EndCommand::LinkReset);
    kit.run(US);
    kit.until_running();
    kit.run(10 * US);
    assert_eq!(kit.count(A, "transmit credit"), 56);
}

#[test]
fn parity_detects_lost_and_duplicated_odd_characters() {
    // 0x03 and 0x05 have the same parity, so SpaceWire cannot detect the error.
    let mut kit = Kit::running(config(100));
    kit.inject(A, FaultTarget::Data, FaultKind::Drop);
    kit.run(200 * NS);
    kit.write(A, &packet(&[3, 5, 3, 5]));
    let received = n_chars(&kit.read_all(B));
    // The NULL before is even, too, so the first error is not detected.
    assert_eq!(received, n_chars(&packet(&[5, 3, 5])));
    assert!(kit.log.errors(B).is_empty());
    kit.inject(A, FaultTarget::Data, FaultKind::Duplicate);
    kit.run(200 * NS);
    kit.write(A, &packet(&[3, 5, 3, 5]));
    assert_eq!(n_chars(&kit.read_all(B)), n_chars(&packet(&[3, 3, 5, 3, 5])));
    assert!(kit.log.errors(B).is_empty());
    // The parity of the next character reveals an odd one.
    for kind in [FaultKind::Drop, FaultKind::Duplicate] {
        let mut kit = Kit::running(config(100));
        kit.inject(A, FaultTarget::Data, kind);
        kit.run(200 * NS);
        kit.write(A, &packet(&[1, 5, 3, 5]));
        let received = n_chars(&kit.read_all(B));
        assert_eq!(kit.log.errors(B)[0].1, "parity error", "{kind:?}");
        assert!(received.iter().all(|n_char| *n_char != NChar::Eop), "{received:?}");
        kit.until_running();
    }
}

#[test]
fn a_lost_end_marker_truncates_its_packet() {
    let mut kit = Kit::running(config(100));
    kit.inject(A, FaultTarget::EndMarker, FaultKind::Cut { duration_ps: 3 * US });
    kit.write(A, &packet(&[1, 2]));
    kit.run(40 * US);
    kit.write(A, &packet(&[3]));
    // A packet without its end marker ends with an EEP. Without the parity bit of the end marker,
    // the last character is invalid.
    let eep = [NChar::Data(1), NChar::Eep, NChar::Data(3), NChar::Eop];
    assert_eq!(n_chars(&kit.read_all(B)), eep);
    assert_eq!(kit.log.errors(B)[0].1, "disconnect");
}

#[test]
fn an_empty_packet_passes() {
    let mut kit = Kit::running(config(100));
    kit.write(A, &[EOP, EOP]);
    assert_eq!(kit.read_all(B), [EOP, EOP]);
}

#[test]
fn spacefibre_faults_are_refused() {
    let mut kit = Kit::running(config(100));
    let now = kit.link.now();
    let any = WireFault { lane: None, target: FaultTarget::Any, kind: FaultKind::BitError };
    for fault in [
        WireFault { kind: FaultKind::PolaritySwap, ..any },
        WireFault { kind: FaultKind::Skew { bits: 1 }, ..any },
        WireFault { kind: FaultKind::Reorder, ..any },
        WireFault { target: FaultTarget::Nack, ..any },
        WireFault { target: FaultTarget::Sdf, ..any },
        WireFault { lane: Some(1), ..any },
    ] {
        assert!(!kit.link.inject(now, A, fault), "{fault:?}");
    }
    // A fault in the past is refused, too.
    assert!(!kit.link.inject(now - 1, A, any));
    assert!(kit.link.inject(now, A, any));
    assert!(!kit.link.is_quiet());
}

#[test]
fn bit_errors_occur_at_their_rate() {
    // So rare that each error takes the link down once, with NULLs only.
    let rate = 1e-5;
    let mut kit = Kit::new(SpaceWireConfig { seed: 5, ..config(100) });
    kit.link.set_bit_error_rate(A, None, rate);
    kit.link.set_bit_error_rate(B, Some(3), 1.0);
    kit.run(200 * MS);
    let falls: u64 = ["parity errors", "escape errors", "disconnect errors"]
        .iter()
        .map(|name| kit.count(B, name))
        .sum();
    let bits = 8 * kit.count(A, "NULLs sent");
    let expected = bits as f64 * rate;
    assert!((falls as f64 - expected).abs() < 5.0 * expected.sqrt(), "{falls} {expected}");
    kit.link.set_bit_error_rate(A, None, 0.0);
    kit.until_running();
    // With every bit inverted there is no first NULL.
    kit.link.set_bit_error_rate(A, None, 1.0);
    kit.run(MS);
    assert!(kit.link.words() > 0 && !kit.is_running());
}
