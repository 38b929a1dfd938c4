//! Link reset, flow control, rate of control words (50-11C 5.7.2 to 5.7.5, 5.7.9).

use crate::harness::{EOP, Link, control_of, packet, sizes};
use spfe_link::Row;
use spfe_link::control::ControlWord;
use spfe_link::datalink::{DataLinkConfig, LinkBroadcast, LinkResetState};
use spfe_link::prbs::Prbs;
use spfe_link::word::Word;

#[test]
fn link_reset_handshake() {
    let mut link = Link::<1, 2>::new(DataLinkConfig::default(), sizes(1), 5);
    assert_eq!(link.ends[0].dl.reset_state(), LinkResetState::ConfigurationReset);
    link.run(200);
    assert!(link.is_initialised());
    assert_eq!(link.resets, 1, "both ends pass Near-End Reset once");
    link.ends[0].dl.link_reset();
    assert_eq!(link.ends[0].dl.reset_state(), LinkResetState::NearEndReset);
    link.run(200);
    assert!(link.is_initialised());
    assert!(link.ends[1].dl.status().far_end_link_reset);
    assert!(!link.ends[0].dl.status().far_end_link_reset);
    assert_eq!(link.resets, 3, "each end once more");
    link.write(0, 1, &packet(100, 7));
    link.finish(500);
}

#[test]
fn nothing_is_sent_in_check_far_end_reset() {
    let mut link = Link::<1, 2>::new(DataLinkConfig::default(), sizes(1), 5);
    let end = &mut link.ends[0].dl;
    while end.reset_state() != LinkResetState::CheckFarEndReset {
        end.take_lane_reset();
        end.transmit(0);
    }
    // A lane is active and the input buffers have room for FCTs.
    for _ in 0..1000 {
        assert_eq!(end.transmit(1), None);
    }
    assert_eq!(end.reset_state(), LinkResetState::CheckFarEndReset);
}

#[test]
fn first_words_after_link_reset() {
    let mut config = sizes(1);
    config.input = 256;
    let mut link = Link::<1, 1>::new(DataLinkConfig::default(), config, 5);
    link.ends.iter_mut().for_each(|end| end.log = Some(Vec::new()));
    link.run(400);
    let log = link.ends[0].log.as_ref().unwrap();
    let words: Vec<Word> = log
        .iter()
        .map(|row| match row {
            Row::Control(word) => *word,
            Row::Data { .. } => panic!("no data yet"),
        })
        .collect();
    // Four FCTs of 64 words with the first numbers; ACKs may come between.
    let fcts: Vec<u8> = log
        .iter()
        .filter_map(|row| match control_of(row) {
            Some(ControlWord::Fct { multiplier: 1, vc: 0, seq, .. }) => Some(seq),
            _ => None,
        })
        .collect();
    assert_eq!(fcts, [1, 2, 3, 4]);
    assert_eq!(words[0].bits, 0x2201_007c);
    assert_eq!(link.ends[0].dl.fct_credit(0), 256);
    // Idle frames of 64 words from one sequence; ACKs may come between.
    let sifs: Vec<usize> = (0..words.len())
        .filter(|i| matches!(ControlWord::decode(words[*i]), Some(ControlWord::Sif { .. })))
        .collect();
    assert!(sifs.len() >= 4);
    let mut prbs = Prbs::new();
    for pair in sifs.windows(2) {
        let data: Vec<Word> =
            words[pair[0]..pair[1]].iter().copied().filter(|w| w.k == 0).collect();
        assert_eq!(data.len(), 64, "a SIF every 64 words");
        data.iter().for_each(|word| assert_eq!(word.bits, prbs.word()));
    }
}

#[test]
fn first_idle_frame_vector() {
    // An input buffer smaller than an FCT of M = 8 is refused, so FCTs always come first. The first
    // SIF has the number of the last FCT.
    let mut link = Link::<1, 1>::new(DataLinkConfig::default(), sizes(1), 0);
    link.ends[0].log = Some(Vec::new());
    link.run(200);
    let log = link.ends[0].log.as_ref().unwrap();
    let at = log.iter().position(|row| matches!(control_of(row), Some(ControlWord::Sif { .. })));
    let data: Vec<u32> = log[at.unwrap()..]
        .iter()
        .filter_map(|row| match row {
            Row::Control(Word { bits, k: 0 }) => Some(*bits),
            _ => None,
        })
        .take(4)
        .collect();
    assert_eq!(data, [0x14c0_17ff, 0x8202_e7b2, 0xa628_6e72, 0x8dbf_6dbe]);
}

#[test]
fn credit_stalls_and_goes_on() {
    let mut config = sizes(1);
    config.input = 256;
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), config, 5);
    let mut next = 0;
    for _ in 0..1000 {
        if link.offer(0, 1, &[Word::data(next)]) == 1 {
            next += 1;
        }
        link.step();
    }
    assert_eq!(link.ends[1].dl.readable(1), 256, "four FCTs");
    assert_eq!(link.ends[0].dl.fct_credit(1), 0);
    assert_eq!(link.ends[0].dl.status().has_credit, 0b01);
    // The other channel is not affected.
    link.write(0, 0, &packet(30, 5));
    link.run(100);
    assert_eq!(link.drain(1, 0), 31);
    // Reading 64 words gives 64 words of credit; reading 63 gives none.
    let mut words = [Word::default(); 63];
    assert_eq!(link.ends[1].dl.read(1, &mut words), 63);
    link.ends[1].words_read += 63;
    link.ends[0].expected[1].drain(..63);
    link.run(200);
    assert_eq!(link.ends[1].dl.readable(1), 193);
    assert_eq!(link.ends[1].dl.read(1, &mut words[..1]), 1);
    link.ends[1].words_read += 1;
    link.ends[0].expected[1].pop_front();
    link.run(200);
    assert_eq!(link.ends[1].dl.readable(1), 256);
}

#[test]
fn acks_keep_their_distance() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    link.ends[1].log = Some(Vec::new());
    for index in 0..400 {
        link.write(0, 0, &packet(1, index));
        link.run(6);
        link.drain(1, 0);
    }
    let log = link.ends[1].log.as_ref().unwrap();
    let acks: Vec<usize> = (0..log.len())
        .filter(|i| matches!(control_of(&log[*i]), Some(ControlWord::Ack { .. })))
        .collect();
    assert!(acks.len() > 100);
    let gaps: Vec<usize> = acks.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
    assert_eq!(gaps.iter().min(), Some(&15), "as soon as possible, after 15 words");
    assert!(gaps.iter().filter(|gap| **gap == 15).count() * 10 > gaps.len() * 8);
    link.finish(300);
}

#[test]
fn broadcast_frames_and_their_flow_control() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let credit = link.ends[0].dl.broadcast_credit();
    let rows = link.ends[0].rows;
    assert_eq!(u64::from(credit), rows / 40, "one for every 40 words at 10 %");
    link.run(40);
    assert_eq!(link.ends[0].dl.broadcast_credit(), credit + 1);
    link.run(40 * 300);
    assert_eq!(link.ends[0].dl.broadcast_credit(), 256);
    let message = |index: u8| LinkBroadcast {
        channel: index,
        kind: 0x81,
        data: [index; 8],
        late: false,
        delayed: index & 1 != 0,
    };
    // The broadcast frame goes inside a data frame, and the data stays intact.
    link.write(0, 0, &packet(60, 1));
    link.run(10);
    for index in 0..4 {
        assert!(link.ends[0].dl.send_broadcast(message(index)));
    }
    link.run(100);
    for index in 0..4 {
        assert_eq!(link.ends[1].dl.receive_broadcast(), Some(message(index)));
    }
    assert_eq!(link.ends[1].dl.receive_broadcast(), None);
    assert_eq!(link.drain(1, 0), 61);
    // Full speed until the credit is used up, then one message in 40 words.
    let mut count = 0;
    let rows = 20_000;
    for _ in 0..rows {
        link.ends[0].dl.send_broadcast(message(9));
        link.step();
        count += u32::from(link.ends[1].dl.receive_broadcast().is_some());
    }
    assert!((count as i32 - 252 - rows / 40).abs() <= 8, "{count} messages");
    assert_eq!(link.ends[1].dl.status().broadcasts_dropped, 0);
}

#[test]
fn broadcast_without_a_lane_is_late() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    link.run(100);
    link.lane_failure(30);
    link.step();
    link.ends[0].dl.send_broadcast(LinkBroadcast::default());
    link.run(100);
    assert!(link.ends[1].dl.receive_broadcast().unwrap().late);
    assert_eq!(link.resets, 1, "lanes that fail do not reset the link");
}

#[test]
fn truncation_at_link_reset() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    let words: Vec<Word> = (0..100).map(Word::data).collect();
    // The user has read part of the packet on VC 0, and nothing of the packet on VC 1.
    link.write(0, 0, &words);
    link.write(0, 1, &packet(40, 0));
    link.run(300);
    assert_eq!(link.drain(1, 0), 64);
    link.ends[0].dl.link_reset();
    link.run(200);
    assert!(link.is_initialised());
    let mut out = [Word::default(); 4];
    assert_eq!(link.ends[1].dl.read(0, &mut out), 1);
    assert!(crate::harness::is_eep(out[0]));
    assert_eq!(link.ends[1].dl.read(1, &mut out), 0);
    // The rest of the open packet is dropped; the next packet passes.
    link.ends[0].expected[0].clear();
    link.ends[0].expected[1].clear();
    assert_eq!(link.ends[0].dl.write(0, &words[..5]), 5);
    assert_eq!(link.ends[0].dl.write(0, &[EOP]), 1);
    link.write(0, 0, &packet(3, 9));
    link.write(0, 1, &packet(3, 9));
    link.finish(300);
    assert_eq!(link.ends[1].dl.readable(0), 0);
}

#[test]
fn illegal_words_end_the_packet() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let bad = Word::from_symbols([1, 0x3c, 2, 3], 0b0010);
    let last = Word::from_symbols([1, 2, 0xfd, 0xfb], 0b1100);
    let after = Word::from_symbols([1, 0xfd, 2, 0xfb], 0b1010);
    let words =
        [Word::data(1), bad, Word::data(2), last, Word::data(3), last, after, Word::data(4), EOP];
    assert_eq!(link.ends[0].dl.write(0, &words), words.len());
    link.run(200);
    let mut out = [Word::default(); 16];
    let count = link.ends[1].dl.read(0, &mut out);
    let eep = spfe_link::datalink::EEP;
    assert_eq!(out[..count], [Word::data(1), eep, Word::data(3), last, eep, Word::data(4), EOP]);
}

#[test]
fn continuous_mode_never_waits() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    for end in &mut link.ends {
        let parameters = end.dl.parameters();
        end.dl.set_parameters(spfe_link::datalink::DataLinkParameters {
            continuous_mode: 1,
            ..parameters
        });
    }
    // Nothing is read: the credit ends, the buffer overflows, and the user continues to write.
    for index in 0..5000 {
        let word = if index % 100 == 99 { EOP } else { Word::data(index) };
        assert_eq!(link.ends[0].dl.write(0, &[word]), 1);
        link.step();
    }
    let mut all = Vec::new();
    let mut words = [Word::default(); 64];
    for _ in 0..3000 {
        let count = link.ends[1].dl.read(0, &mut words);
        link.ends[1].words_read += count as u64;
        all.extend_from_slice(&words[..count]);
        link.step();
    }
    let eep = all.iter().position(|word| crate::harness::is_eep(*word)).expect("an EEP");
    let begun = all[..eep].iter().rposition(|word| *word == EOP).map_or(0, |at| at + 1);
    assert!(all[begun..eep].iter().all(|word| word.k == 0));
    assert!(!link.ends[0].dl.status().protocol_error);
}

/// The same without a lane: the words in the buffer are replaced with an EEP, and the rest of the
/// packet is dropped. A channel that is not in continuous mode keeps its words.
#[test]
fn continuous_mode_without_a_lane() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    let parameters = link.ends[0].dl.parameters();
    let parameters =
        spfe_link::datalink::DataLinkParameters { continuous_mode: 0b01, ..parameters };
    link.ends[0].dl.set_parameters(parameters);
    link.lane_failure(100);
    link.run(2);
    let begun: Vec<Word> = (0..20).map(Word::data).collect();
    for vc in 0..2 {
        assert_eq!(link.ends[0].dl.write(vc, &begun), 20);
    }
    link.run(10);
    let [lost, kept] = [0, 1].map(|vc| 256 - link.ends[0].dl.writable(vc));
    assert_eq!((lost, kept), (1, 20), "words that wait");
    // The rest of the packet, and another packet, are dropped too until a lane is there.
    for vc in 0..2 {
        assert_eq!(link.ends[0].dl.write(vc, &packet(10, 20)), 11);
    }
    link.run(300);
    for vc in 0..2 {
        assert_eq!(link.ends[0].dl.write(vc, &packet(5, 90)), 6);
    }
    link.run(300);
    let mut words = [Word::default(); 64];
    let count = link.ends[1].dl.read(0, &mut words);
    let expected = [vec![spfe_link::datalink::EEP], packet(5, 90)].concat();
    assert_eq!(words[..count], expected);
    let count = link.ends[1].dl.read(1, &mut words);
    assert_eq!(words[..count], [packet(30, 0), packet(5, 90)].concat());
}

/// A frame without words is accepted. The monitor of the harness checks that none is ever sent.
#[test]
fn a_data_frame_without_words_is_accepted() {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 5);
    let before = link.ends[1].dl.sequence().count();
    let control = |word| spfe_link::ReceivedRow::Control { word, crc16_good: true };
    link.ends[1].dl.receive(control(ControlWord::Sdf { vc: 0 }.encode()));
    link.ends[1].dl.receive(control(ControlWord::Edf { seq: before + 1, crc: 0 }.encode()));
    assert_eq!(link.ends[1].dl.sequence().count(), before + 1);
    assert_eq!(link.ends[1].dl.readable(0), 0);
    let status = link.ends[1].dl.status();
    assert_eq!((status.received.data_frames, status.received.data_words), (1, 0));
    assert!(!status.frame_error && !status.sequence_error);
}

#[test]
fn channel_that_does_not_exist() {
    let mut link = Link::<1, 2>::started(DataLinkConfig::default(), sizes(1), 5);
    link.fault = Box::new(|_, _, _| {});
    let sdf = ControlWord::Sdf { vc: 31 }.encode();
    let before = link.ends[1].dl.sequence().count();
    let control = |word| spfe_link::ReceivedRow::Control { word, crc16_good: true };
    link.ends[1].dl.receive(control(sdf));
    link.ends[1].dl.receive(spfe_link::ReceivedRow::Data { words: [Word::data(1)], count: 1 });
    let edf = ControlWord::Edf { seq: before + 1, crc: 0 }.encode();
    link.ends[1].dl.receive(control(edf));
    assert_eq!(link.ends[1].dl.sequence().count(), before + 1);
    assert_eq!(link.ends[1].dl.readable(0) + link.ends[1].dl.readable(1), 0);
}
