//! Error recovery (50-11C 5.7.7): lost and damaged words, one at a time.

use crate::harness::{Link, Sizes, control_of, packet, sizes};
use spfe_link::control::ControlWord;
use spfe_link::datalink::{DataLinkConfig, EEP, LinkBroadcast, ReceiveError};
use spfe_link::word::Word;
use std::cell::RefCell;
use std::rc::Rc;

/// Damages the first `count` words that `pick` selects. Returns a counter of damaged words.
fn damage<const V: usize>(
    link: &mut Link<1, V>,
    mut pick: impl FnMut(usize, ControlWord) -> bool + 'static,
    count: u32,
) -> Rc<RefCell<u32>> {
    let done = Rc::new(RefCell::new(0));
    let counter = done.clone();
    link.fault = Box::new(move |from, _, wire| {
        let Some(words) = wire else { return };
        let Some(control) = ControlWord::decode(words[0]) else { return };
        if *counter.borrow() < count && pick(from, control) {
            *counter.borrow_mut() += 1;
            words[0] = Word::RXERR;
        }
    });
    done
}

fn started() -> Link<1, 2> {
    let mut link = Link::started(DataLinkConfig::default(), sizes(1), 5);
    link.run(200);
    link
}

fn logged(link: &Link<1, 2>, end: usize) -> Vec<ControlWord> {
    link.ends[end].log.as_ref().unwrap().iter().filter_map(control_of).collect()
}

/// Sends data both ways through the fault.
fn traffic(link: &mut Link<1, 2>) {
    for round in 0..40 {
        link.write(0, 0, &packet(40, round * 100));
        link.write(0, 1, &packet(70, round * 100));
        link.write(1, 0, &packet(20, round * 100));
        link.run(200);
        for end in 0..2 {
            link.drain(end, 0);
            link.drain(end, 1);
        }
    }
    link.finish(3000);
    assert_eq!(link.resets, 1, "no link reset");
}

/// Each kind of control word is lost once, and several in a row, with data both ways.
#[test]
fn each_word_lost() {
    type Pick = fn(ControlWord) -> bool;
    let kinds: [Pick; 6] = [
        |c| matches!(c, ControlWord::Sdf { .. }),
        |c| matches!(c, ControlWord::Edf { .. }),
        |c| matches!(c, ControlWord::Fct { .. }),
        |c| matches!(c, ControlWord::Ack { .. }),
        |c| matches!(c, ControlWord::Sif { .. }),
        |c| matches!(c, ControlWord::Sdf { .. } | ControlWord::Ack { .. }),
    ];
    for (index, kind) in kinds.into_iter().enumerate() {
        for count in [1, 2, 3, 5] {
            let mut link = started();
            let done = damage(&mut link, move |_, control| kind(control), count);
            traffic(&mut link);
            assert_eq!(*done.borrow(), count, "kind {index}");
        }
    }
}

/// A data frame is damaged, and so is a word of the recovery that follows.
fn recovery_loses(pick: fn(usize, ControlWord) -> bool, count: u32) {
    let mut link = started();
    let mut first = true;
    let done = damage(
        &mut link,
        move |from, control| {
            if first && from == 0 && matches!(control, ControlWord::Edf { .. }) {
                first = false;
                return true;
            }
            !first && pick(from, control)
        },
        count + 1,
    );
    traffic(&mut link);
    assert_eq!(*done.borrow(), count + 1);
    assert!(link.ends[0].dl.status().error_recovery_attempts >= 1);
}

#[test]
fn nack_lost() {
    recovery_loses(|from, control| from == 1 && matches!(control, ControlWord::Nack { .. }), 1);
    recovery_loses(|from, control| from == 1 && matches!(control, ControlWord::Nack { .. }), 4);
}

#[test]
fn retry_lost() {
    recovery_loses(|_, control| matches!(control, ControlWord::Retry), 1);
}

#[test]
fn resend_damaged() {
    let edf = |from, control| {
        from == 0 && matches!(control, ControlWord::Edf { seq, .. } if seq & 0x80 != 0)
    };
    recovery_loses(edf, 1);
    recovery_loses(edf, 3);
    // A second resend follows the first, whatever its polarity.
    recovery_loses(|from, control| from == 0 && matches!(control, ControlWord::Edf { .. }), 8);
}

#[test]
fn last_frame_lost_is_found_by_the_next_sif() {
    let mut link = started();
    // Not one word of the frame arrives, and only idle frames follow.
    link.fault = Box::new({
        let mut inside = false;
        move |from, _, wire| {
            let Some(words) = wire else { return };
            let control = ControlWord::decode(words[0]);
            inside |= from == 0 && matches!(control, Some(ControlWord::Sdf { .. }));
            if from == 0 && inside {
                words[0] = Word::data(0);
                inside = !matches!(control, Some(ControlWord::Edf { .. }));
            }
        }
    });
    link.ends[1].log = Some(Vec::new());
    link.write(0, 0, &packet(10, 1));
    link.run(24);
    link.fault = Box::new(|_, _, _| {});
    link.finish(200);
    assert!(logged(&link, 1).iter().any(|control| matches!(control, ControlWord::Nack { .. })));
    assert!(link.ends[1].dl.status().sequence_error);
    assert!(!link.ends[1].dl.status().crc16_error);
}

#[test]
fn full_asks_for_an_acknowledgement() {
    let small = Sizes { recovery: 64, ..sizes(1) };
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), small, 40);
    link.run(200);
    link.ends[0].log = Some(Vec::new());
    for index in 0..64 {
        link.write(0, 0, &[Word::data(index)]);
    }
    link.run(70);
    link.write(0, 0, &packet(63, 9));
    link.finish(2000);
    let fulls = |log: &Vec<_>| {
        let is_full = |i: &usize| matches!(control_of(&log[*i]), Some(ControlWord::Full { .. }));
        (0..log.len()).filter(is_full).collect::<Vec<_>>()
    };
    assert_eq!(fulls(link.ends[0].log.as_ref().unwrap()).len(), 2, "at once and after 64 words");
    // All ACKs of a frame are lost; only FULL causes another one.
    let mut lost = 0;
    link.fault = Box::new(move |from, _, wire| {
        let Some([word]) = wire else { return };
        let hit = from == 1 && matches!(ControlWord::decode(*word), Some(ControlWord::Ack { .. }));
        if hit && lost < 1 {
            lost += 1;
            *word = Word::data(0);
        }
    });
    link.ends[0].log = Some(Vec::new());
    for index in 0..64 {
        link.write(0, 0, &[Word::data(index)]);
    }
    link.run(70);
    link.write(0, 0, &packet(63, 9));
    link.finish(2000);
    let at = fulls(link.ends[0].log.as_ref().unwrap());
    assert!(at.len() >= 2);
    assert_eq!(at[1] - at[0], 64);
    assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= 64), "{at:?}");
    assert_eq!(link.ends[0].dl.status().error_recovery_attempts, 0);
}

#[test]
fn full_once_after_an_error_when_idle() {
    // The only ACK is damaged, either visibly to the code or to the CRC-8 only, and nothing else is
    // to be sent.
    for wrong in [None, Some(1 << 27)] {
        let mut link = started();
        let mut hit = false;
        link.fault = Box::new(move |from, _, wire| {
            let Some([word]) = wire else { return };
            if from == 1
                && !hit
                && matches!(ControlWord::decode(*word), Some(ControlWord::Ack { .. }))
            {
                hit = true;
                *word = wrong.map_or(Word::RXERR, |bit| Word { bits: word.bits ^ bit, ..*word });
            }
        });
        link.ends[0].log = Some(Vec::new());
        link.write(0, 0, &packet(10, 1));
        link.run(200);
        let fulls =
            logged(&link, 0).iter().filter(|c| matches!(c, ControlWord::Full { .. })).count();
        assert_eq!(fulls, 1);
        assert!(link.ends[0].dl.status().error_recovery_buffer_empty);
        assert_eq!(link.ends[0].dl.status().crc8_error, wrong.is_some());
        link.finish(1);
    }
}

#[test]
fn numbers_and_polarity_wrap() {
    let mut link = started();
    link.ends[0].log = Some(Vec::new());
    let mut frames = 0;
    link.fault = Box::new(move |from, _, wire| {
        let Some([word]) = wire else { return };
        if from == 0 && matches!(ControlWord::decode(*word), Some(ControlWord::Edf { .. })) {
            frames += 1;
            if frames % 30 == 0 {
                *word = Word::RXERR;
            }
        }
    });
    for round in 0..400 {
        link.write(0, 1, &packet(3, round));
        link.run(20);
        link.drain(1, 1);
    }
    link.finish(1000);
    let log = logged(&link, 0);
    let numbers: Vec<u8> = log
        .iter()
        .filter_map(|control| match control {
            ControlWord::Edf { seq, .. } | ControlWord::Fct { seq, .. } => Some(*seq),
            _ => None,
        })
        .collect();
    assert!(numbers.windows(2).any(|pair| pair == [0x7f, 0x00] || pair == [0xff, 0x80]));
    let flips = numbers.windows(2).filter(|pair| (pair[0] ^ pair[1]) & 0x80 != 0).count();
    assert!(flips >= 10, "{flips} changes of polarity");
    assert_eq!(link.resets, 1);
}

/// A worked example: EDF 05 is damaged while FCT 06 and EDF 07 follow it on the line.
#[test]
fn worked_example() {
    let mut link =
        Link::<1, 1>::started(DataLinkConfig::default(), Sizes { input: 256, ..sizes(1) }, 30);
    link.run(300);
    // Four FCTs have been sent. B has sent 256 words to A, so that reading them causes FCTs.
    link.write(1, 0, &packet(63, 0));
    link.run(300);
    assert_eq!(link.ends[1].dl.sequence().count(), 4);
    link.ends.iter_mut().for_each(|end| end.log = Some(Vec::new()));
    let mut first = true;
    link.fault = Box::new(move |from, _, wire| {
        let Some([word]) = wire else { return };
        let edf = from == 0 && matches!(ControlWord::decode(*word), Some(ControlWord::Edf { .. }));
        if edf && first {
            first = false;
            word.bits ^= 1 << 20;
        }
    });
    link.write(0, 0, &packet(10, 1));
    link.run(13);
    link.drain(0, 0);
    link.run(1);
    link.write(0, 0, &packet(10, 2));
    let mut seen = Vec::new();
    for _ in 0..300 {
        link.step();
        let state = link.ends[1].dl.sequence().state();
        if seen.last() != Some(&state) {
            seen.push(state);
        }
    }
    assert_eq!(
        seen,
        [ReceiveError::ValidPositive, ReceiveError::ErrorNegative, ReceiveError::ValidNegative]
    );
    let log = link.ends[0].log.as_ref().unwrap().iter().filter_map(control_of);
    let sent: Vec<(char, u8)> = log
        .filter_map(|control| match control {
            ControlWord::Edf { seq, .. } => Some(('D', seq)),
            ControlWord::Fct { seq, .. } => Some(('F', seq)),
            ControlWord::Retry => Some(('R', 0)),
            _ => None,
        })
        .collect();
    let first = [('D', 0x05), ('F', 0x06), ('D', 0x07)];
    let again = [('R', 0), ('F', 0x85), ('D', 0x86), ('D', 0x87)];
    assert_eq!(sent, [&first[..], &again[..]].concat());
    let log = link.ends[1].log.as_ref().unwrap().iter().filter_map(control_of);
    let replies: Vec<(char, u8)> = log
        .filter_map(|control| match control {
            ControlWord::Ack { seq, .. } => Some(('A', seq)),
            ControlWord::Nack { seq, .. } => Some(('N', seq)),
            _ => None,
        })
        .collect();
    assert_eq!(replies[0], ('N', 0x04));
    assert!(replies.contains(&('A', 0x85)));
    assert_eq!(*replies.last().unwrap(), ('A', 0x87));
    assert!(replies.iter().take_while(|r| r.0 == 'N').all(|r| r.1 == 0x04), "the same NACK");
    link.drain(1, 0);
    assert!(link.is_drained());
}

#[test]
fn broadcasts_are_sent_again_first_and_late() {
    let mut link = started();
    link.run(400);
    link.ends[0].log = Some(Vec::new());
    damage(&mut link, |from, control| from == 0 && matches!(control, ControlWord::Edf { .. }), 1);
    link.write(0, 0, &packet(10, 1));
    link.run(13);
    link.ends[0].dl.send_broadcast(LinkBroadcast { channel: 7, ..LinkBroadcast::default() });
    link.finish(300);
    let message = link.ends[1].dl.receive_broadcast().unwrap();
    assert!(message.late && message.channel == 7);
    assert_eq!(link.ends[1].dl.receive_broadcast(), None, "once only");
    let log = logged(&link, 0);
    let retry = log.iter().position(|control| *control == ControlWord::Retry).unwrap();
    assert!(matches!(log[retry + 1], ControlWord::Sbf { .. }));
}

#[test]
fn impossible_ack_resets_the_link() {
    let mut link = started();
    let seq = link.ends[1].dl.sequence().count().wrapping_add(40) & 0x7f;
    let word = ControlWord::Ack { seq, crc: 0 }.sealed();
    link.ends[0].dl.receive(spfe_link::ReceivedRow::Control { word, crc16_good: true });
    assert!(link.ends[0].dl.status().protocol_error);
    link.run(300);
    assert!(link.is_initialised());
    assert!(link.ends[1].dl.status().far_end_link_reset);
}

#[test]
fn overflow_of_an_input_buffer_resets_the_link() {
    let mut link =
        Link::<1, 1>::started(DataLinkConfig::default(), Sizes { input: 64, ..sizes(1) }, 5);
    link.run(200);
    let base = link.ends[1].dl.sequence().count();
    let control = |word| spfe_link::ReceivedRow::Control { word, crc16_good: true };
    for frame in 1..=2u8 {
        link.ends[1].dl.receive(control(ControlWord::Sdf { vc: 0 }.encode()));
        for _ in 0..40 {
            link.ends[1].dl.receive(spfe_link::ReceivedRow::Data { words: [EEP], count: 1 });
        }
        assert_eq!(link.ends[1].dl.status().input_buffer_overflow, 0, "not before the EDF");
        let edf = ControlWord::Edf { seq: base + frame, crc: 0 }.encode();
        link.ends[1].dl.receive(control(edf));
    }
    assert_eq!(link.ends[1].dl.status().input_buffer_overflow, 1);
    assert_eq!(link.ends[1].dl.reset_state(), spfe_link::datalink::LinkResetState::NearEndReset);
}

#[test]
fn lanes_fail_and_come_back() {
    let mut link = started();
    for round in 0..30 {
        link.write(0, 0, &packet(50, round * 64));
        link.write(1, 1, &packet(50, round * 64));
        link.run(20 + u64::from(round));
        link.lane_failure(25);
        link.run(120);
        for end in 0..2 {
            link.drain(end, 0);
            link.drain(end, 1);
        }
    }
    link.finish(1000);
    assert_eq!(link.resets, 1);
}

/// Late words from before a link reset have no effect.
#[test]
fn late_words_from_before_a_reset_are_ignored() {
    let mut link = started();
    let dl = &mut link.ends[0].dl;
    dl.link_reset();
    dl.transmit(0);
    dl.take_lane_reset();
    dl.transmit(0);
    let before = dl.status();
    for control in [
        ControlWord::Ack { seq: 40, crc: 0 },
        ControlWord::Fct { multiplier: 1, vc: 0, seq: 1, crc: 0 },
        ControlWord::Nack { seq: 99, crc: 0 },
    ] {
        let word = control.sealed();
        dl.receive(spfe_link::ReceivedRow::Control { word, crc16_good: true });
    }
    dl.receive(spfe_link::ReceivedRow::RxErr);
    assert_eq!(dl.status(), before);
    assert_eq!((dl.fct_credit(0), dl.sequence().count()), (0, 0));
    assert_eq!(dl.reset_state(), spfe_link::datalink::LinkResetState::CheckFarEndReset);
}

/// Both readings of the rules that the standard does not settle.
#[test]
fn configurable_nack_rules() {
    let bad = ControlWord::Ack { seq: 1, crc: 0 }.encode();
    let control = |word| spfe_link::ReceivedRow::Control { word, crc16_good: true };
    for nack_on_single_crc in [true, false] {
        let config = DataLinkConfig { nack_on_single_crc, ..DataLinkConfig::default() };
        let mut link = Link::<1, 1>::started(config, sizes(1), 5);
        let dl = &mut link.ends[0].dl;
        dl.receive(control(ControlWord::Sdf { vc: 0 }.encode()));
        dl.receive(control(bad));
        assert!(dl.status().crc8_error);
        let in_error = dl.sequence().state() == ReceiveError::ErrorNegative;
        assert_eq!(in_error, nack_on_single_crc);
    }
    for nack_keeps_gap in [true, false] {
        let config = DataLinkConfig { nack_keeps_gap, ..DataLinkConfig::default() };
        let mut link = Link::<1, 1>::started(config, sizes(1), 5);
        link.run(100);
        link.ends[1].log = Some(Vec::new());
        // A good frame is acknowledged; the damaged frame after it is refused.
        link.write(0, 0, &[Word::data(1), EEP]);
        link.run(5);
        link.write(0, 0, &[Word::data(2), EEP]);
        let mut frames = 0;
        link.fault = Box::new(move |from, _, wire| {
            let Some([word]) = wire else { return };
            if from == 0 && matches!(ControlWord::decode(*word), Some(ControlWord::Edf { .. })) {
                frames += 1;
                if frames == 2 {
                    *word = Word::RXERR;
                }
            }
        });
        link.run(60);
        let log = link.ends[1].log.as_ref().unwrap();
        let find = |is: fn(ControlWord) -> bool| {
            log.iter().position(|row| control_of(row).is_some_and(is)).unwrap()
        };
        let ack = find(|control| matches!(control, ControlWord::Ack { .. }));
        let nack = find(|control| matches!(control, ControlWord::Nack { .. }));
        let gap = nack - ack - 1;
        assert_eq!(gap >= 15, nack_keeps_gap, "{gap} words");
        link.finish(200);
    }
}

/// An end that has lost the sequence for good: each of its words out of sequence asks for the same
/// NACK again.
#[test]
fn equal_nacks_keep_a_distance() {
    for (nack_repeat_words, most) in [(0, 1200), (15, 76), (63, 20)] {
        let config = DataLinkConfig { nack_repeat_words, ..DataLinkConfig::default() };
        let mut link = Link::<1, 1>::started(config, sizes(1), 5);
        let control = |word| spfe_link::ReceivedRow::Control { word, crc16_good: true };
        let dl = &mut link.ends[0].dl;
        let mut nacks = Vec::new();
        for row in 0..1200 {
            dl.receive(control(ControlWord::Full { seq: 0x45, crc: 0 }.sealed()));
            let sent = dl.transmit(1).and_then(|row| control_of(&row));
            if let Some(ControlWord::Nack { seq, .. }) = sent {
                nacks.push((row, seq));
            }
        }
        assert!(nacks[0].0 <= 4, "the first NACK goes at once, not in row {}", nacks[0].0);
        assert!(nacks.len() <= most && nacks.len() > most / 2, "{} NACKs", nacks.len());
        let apart = nacks.windows(2).map(|pair| pair[1].0 - pair[0].0 - 1).min().unwrap();
        assert!(apart >= i32::from(nack_repeat_words), "{apart} words between two NACKs");
    }
}
