//! Frames of `vectors/spacefibre.json` through the layer in both directions, and words that an
//! independent core sent.

use crate::harness::{Link, sizes};
use serde_json::Value;
use spfe_link::control::{ControlWord, edf};
use spfe_link::crc::Crc16;
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig, LinkBroadcast, LinkResetState};
use spfe_link::{ReceivedRow, Row, Word};

type Dl = DataLink<Vec<Word>, 1, 32>;

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../vectors/spacefibre.json")).unwrap()
}

fn words(frame: &Value) -> Vec<Word> {
    let word = |word: &Value| Word {
        bits: u32::from_str_radix(word["w"].as_str().unwrap(), 16).unwrap(),
        k: word["k"].as_u64().unwrap() as u8,
    };
    frame["words"].as_array().unwrap().iter().map(word).collect()
}

fn seq(frame: &Value) -> u8 {
    u8::try_from(frame["seq"].as_u64().unwrap()).unwrap()
}

fn data(frame: &Value) -> [u8; 8] {
    let hex = frame["data"].as_str().unwrap();
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

fn flag(value: &Value) -> bool {
    value.as_u64().unwrap() != 0
}

/// A link whose far end is the test itself.
fn alone() -> Dl {
    let memory = || vec![Word::default(); 256];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory()),
        input: std::array::from_fn(|_| memory()),
        recovery: memory(),
    };
    let mut dl = Dl::new(DataLinkConfig::default(), buffers).unwrap();
    for _ in 0..4 {
        dl.transmit(0);
        dl.take_lane_reset();
    }
    dl.far_end_capability(0, 1, false);
    assert_eq!(dl.reset_state(), LinkResetState::LinkInitialised);
    dl
}

fn give(dl: &mut Dl, word: Word, crc16_good: bool) {
    dl.receive(ReceivedRow::Control { word, crc16_good });
}

fn fct(vc: u8, seq: u8) -> Word {
    ControlWord::Fct { multiplier: 1, vc, seq, crc: 0 }.sealed()
}

/// A receiver whose next number is `seq`.
fn expects(seq: u8) -> Dl {
    let mut dl = alone();
    if seq & 0x80 != 0 {
        give(&mut dl, ControlWord::Sdf { vc: 0 }.encode(), true);
        dl.receive(ReceivedRow::RxErr);
    }
    let before = seq.wrapping_sub(1) & 0x7f;
    for count in 1..=before {
        give(&mut dl, fct(0, count | seq & 0x80), true);
    }
    // Number 0 follows 127.
    assert_eq!(dl.sequence().count(), before);
    dl
}

/// Feeds the words of a frame to a receiver; checks the CRC-16 as a column does.
fn receive(dl: &mut Dl, words: &[Word]) {
    let mut crc = Crc16::new();
    for word in words {
        crc = crc.word(*word);
        give(dl, *word, crc.value() == 0);
    }
}

#[test]
fn data_frames_received() {
    let all = vectors();
    let mut count = 0;
    for frame in all["data_frames"].as_array().unwrap() {
        let words = words(frame);
        let mut dl = expects(seq(frame));
        receive(&mut dl, &words);
        assert_eq!(dl.sequence().count(), seq(frame) & 0x7f, "{frame}");
        let vc = frame["vc"].as_u64().unwrap() as usize;
        let mut out = [Word::default(); 256];
        let got = dl.read(vc, &mut out);
        // The column unscrambles, so scrambled words arrive here as they are.
        assert_eq!(out[..got], words[1..words.len() - 1]);
        assert!(!dl.status().crc16_error);
        count += 1;
    }
    assert!(count > 4);
}

#[test]
fn broadcast_frames_received() {
    let all = vectors();
    for frame in all["broadcast_frames"].as_array().unwrap() {
        let mut dl = expects(seq(frame));
        receive(&mut dl, &words(frame));
        let message = dl.receive_broadcast().expect("a message");
        assert_eq!(message.data, data(frame));
        assert_eq!(u64::from(message.channel), frame["channel"].as_u64().unwrap());
        assert_eq!(u64::from(message.kind), frame["type"].as_u64().unwrap());
        assert_eq!(
            (message.late, message.delayed),
            (flag(&frame["late"]), flag(&frame["delayed"]))
        );
        assert_eq!(dl.receive_broadcast(), None);
    }
}

/// A sender whose next number is `target`, and that has nothing to send.
fn numbers_next(target: u8) -> Dl {
    let mut dl = alone();
    let mut next = 1u8;
    let mut negative = 0;
    let mut received = 0u8;
    let filler = [Word::data(0)];
    for period in 0..60_000u32 {
        let row = dl.transmit(1);
        if let Some(Row::Control(word)) = row
            && let Some(ControlWord::Edf { seq, .. } | ControlWord::Fct { seq, .. }) =
                ControlWord::decode(word)
        {
            next = seq.wrapping_add(1) & 0x7f;
            negative = seq & 0x80;
            let reply = if target & 0x80 != 0 && negative == 0 && period > 4000 {
                negative = 0x80;
                ControlWord::Nack { seq, crc: 0 }
            } else {
                ControlWord::Ack { seq, crc: 0 }
            };
            give(&mut dl, reply.sealed(), true);
        }
        let ready = period > 6000 && next == target & 0x7f && negative == target & 0x80;
        if ready && dl.status().error_recovery_buffer_empty {
            return dl;
        }
        if period > 3900 && period % 100 == 0 {
            received = (received + 1) & 0x7f;
            give(&mut dl, fct(31, received), true);
            dl.write(31, &filler);
            dl.write(31, &[spfe_link::datalink::EEP]);
        }
    }
    panic!("number {target} never came");
}

/// The next frame of a sender, with the CRC-16 that a column inserts.
fn next_frame(dl: &mut Dl) -> Vec<Word> {
    let mut crc = Crc16::new();
    let mut words = Vec::new();
    for _ in 0..500 {
        let word = match dl.transmit(1) {
            Some(Row::Control(word)) => word,
            Some(Row::Data { words: [word], .. }) => word,
            None => panic!("no row"),
        };
        match ControlWord::decode(word) {
            Some(ControlWord::Sdf { .. } | ControlWord::Sbf { .. }) => {
                words = vec![word];
                crc = Crc16::new().word(word);
            }
            Some(ControlWord::Edf { seq, .. }) => {
                words.push(edf(crc, seq));
                return words;
            }
            Some(ControlWord::Ebf { .. }) => {
                words.push(word);
                return words;
            }
            None if !words.is_empty() => {
                words.push(word);
                crc = crc.word(word);
            }
            _ => {}
        }
    }
    panic!("no frame");
}

#[test]
fn data_frames_sent() {
    let all = vectors();
    for frame in all["data_frames"].as_array().unwrap() {
        let words = words(frame);
        let mut dl = numbers_next(seq(frame));
        let vc = frame["vc"].as_u64().unwrap() as u8;
        let next = (dl.sequence().count() + 1) & 0x7f;
        give(&mut dl, fct(vc, next), true);
        let parameters = dl.qos_parameters(0).unwrap();
        dl.set_qos_parameters(usize::from(vc), parameters);
        let inside = &words[1..words.len() - 1];
        assert_eq!(dl.write(usize::from(vc), inside), inside.len());
        assert_eq!(next_frame(&mut dl), words, "{frame}");
    }
}

#[test]
fn broadcast_frames_sent() {
    let all = vectors();
    for frame in all["broadcast_frames"].as_array().unwrap() {
        let mut dl = numbers_next(seq(frame));
        let late = flag(&frame["late"]);
        if late {
            dl.transmit(0);
        }
        assert!(dl.send_broadcast(LinkBroadcast {
            channel: frame["channel"].as_u64().unwrap() as u8,
            kind: frame["type"].as_u64().unwrap() as u8,
            data: data(frame),
            late: false,
            delayed: flag(&frame["delayed"]),
        }));
        assert_eq!(next_frame(&mut dl), words(frame), "{frame}");
    }
}

/// Single words as the layer sends them.
#[test]
fn single_words_sent() {
    let mut link = Link::<1, 1>::new(DataLinkConfig::default(), sizes(1), 5);
    link.ends[0].log = Some(Vec::new());
    link.run(300);
    let log = link.ends[0].log.as_ref().unwrap();
    let all = vectors();
    let hex = |text: &Value| u32::from_str_radix(text.as_str().unwrap(), 16).unwrap();
    let mut found = 0;
    for case in all["single_words"].as_array().unwrap() {
        for row in log {
            let Row::Control(word) = row else { continue };
            let Some(control) = ControlWord::decode(*word) else { continue };
            let (name, seq) = match control {
                ControlWord::Sif { seq, .. } => ("SIF", seq),
                ControlWord::Ack { seq, .. } => ("ACK", seq),
                _ => continue,
            };
            if u64::from(seq) == case["seq"].as_u64().unwrap() {
                assert_eq!(word.bits, hex(&case[name]));
                found += 1;
            }
        }
    }
    assert!(found != 0);
}

/// Words of each direction in a recording of two other cores.
fn recording(name: &str) -> [Vec<Word>; 2] {
    let path = format!("{}/../../vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    let out = std::process::Command::new("gzip").args(["-dc", &path]).output().expect("gzip");
    assert!(out.status.success(), "{path}");
    let text = String::from_utf8(out.stdout).unwrap();
    let mut words = [Vec::new(), Vec::new()];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let times = fields.get(4).map_or(1, |x| x[1..].parse().unwrap());
        for _ in 0..times {
            for (direction, words) in words.iter_mut().enumerate() {
                let hex = |at: usize| u32::from_str_radix(fields[2 * direction + at], 16).unwrap();
                words.push(Word { bits: hex(0), k: hex(1) as u8 });
            }
        }
    }
    words
}

/// The words of an independent core are accepted without an error. Its idle frames differ from the
/// standard and are ignored. ACKs are left out, because nothing here was sent to the core.
#[test]
fn words_of_an_independent_core_are_accepted() {
    for (direction, words) in recording("cnes_b2b.txt.gz").iter().enumerate() {
        let init =
            |word: &Word| matches!(ControlWord::decode(*word), Some(ControlWord::Init3 { .. }));
        let start = words.iter().rposition(init).unwrap();
        let mut dl = alone();
        let mut crc = Crc16::new();
        let (mut in_data, mut in_broadcast) = (false, false);
        let mut out = [Word::default(); 256];
        let mut sent = Vec::new();
        let mut read = Vec::new();
        for word in &words[start + 1..] {
            let control = ControlWord::decode(*word);
            match control {
                Some(ControlWord::Ack { .. }) => continue,
                Some(ControlWord::Sdf { .. }) => (in_data, crc) = (true, Crc16::new().word(*word)),
                Some(ControlWord::Sbf { .. }) => in_broadcast = true,
                Some(ControlWord::Ebf { .. }) => in_broadcast = false,
                Some(ControlWord::Edf { .. }) => (in_data, crc) = (false, crc.word(*word)),
                None if in_data && !in_broadcast => {
                    crc = crc.word(*word);
                    sent.push(*word);
                }
                _ => {}
            }
            give(&mut dl, *word, crc.value() == 0);
            for vc in 0..8 {
                let count = dl.read(vc, &mut out);
                read.extend_from_slice(&out[..count]);
            }
        }
        let status = dl.status();
        assert!(!status.crc16_error && !status.crc8_error && !status.sequence_error);
        assert!(!status.frame_error && !status.protocol_error);
        assert_eq!(dl.sequence().count(), 0x5f);
        assert_eq!(status.received.data_frames, [44, 46][direction]);
        assert_eq!(status.received.fcts, [47, 45][direction]);
        assert_eq!(status.received.broadcast_frames, 4);
        assert_eq!(read, sent);
    }
}
