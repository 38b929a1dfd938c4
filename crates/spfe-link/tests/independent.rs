//! Words of an independent core (`vectors/cnes_b2b*.txt.gz`) through a lane and its columns.

use std::path::Path;
use std::process::Command;

use spfe_link::control::ControlWord;
use spfe_link::lane::LaneState;
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::row::ReceivedRow;
use spfe_link::word::Word;

/// Both directions, word by word.
fn trace(name: &str) -> Vec<[Word; 2]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors").join(name);
    let text = Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout;
    let mut words = vec![];
    for line in core::str::from_utf8(&text).unwrap().lines().filter(|line| !line.starts_with('#')) {
        let part: Vec<&str> = line.split_whitespace().collect();
        let word = |at: usize| Word {
            bits: u32::from_str_radix(part[at], 16).unwrap(),
            k: u8::from_str_radix(part[at + 1], 16).unwrap(),
        };
        let times = part.get(4).map_or(1, |times| times[1..].parse().unwrap());
        words.extend(core::iter::repeat_n([word(0), word(2)], times));
    }
    assert!(words.len() > 1000);
    words
}

struct Seen {
    good: u32,
    bad: u32,
    rxerr: u32,
    broadcasts: u32,
    nacks: u32,
}

fn listen(words: &[[Word; 2]], direction: usize) -> Seen {
    let mut end = MultiLane::<1>::new(&MultiLaneConfig::new());
    let mut states = vec![LaneState::ClearLine];
    let mut seen = Seen { good: 0, bad: 0, rxerr: 0, broadcasts: 0, nacks: 0 };
    for word in
        core::iter::repeat_n(None, 1000).chain(words.iter().map(|word| Some(word[direction])))
    {
        end.transmit(None);
        match end.receive([word]) {
            Some(ReceivedRow::Control { word, crc16_good }) => match ControlWord::decode(word) {
                Some(ControlWord::Edf { .. }) if crc16_good => seen.good += 1,
                Some(ControlWord::Edf { .. }) => seen.bad += 1,
                Some(nack @ ControlWord::Nack { .. }) => {
                    seen.nacks += u32::from(nack.crc8_is_good())
                }
                Some(ControlWord::Ebf { .. }) => seen.broadcasts += 1,
                _ => {}
            },
            Some(ReceivedRow::RxErr) => seen.rxerr += 1,
            _ => {}
        }
        states.push(end.lanes()[0].state());
    }
    states.dedup();
    assert_eq!(
        states,
        [
            LaneState::ClearLine,
            LaneState::Disabled,
            LaneState::Wait,
            LaneState::Started,
            LaneState::Connecting,
            LaneState::Connected,
            LaneState::Active
        ]
    );
    assert_eq!(end.lanes()[0].status().far_end_capability, Some(1));
    seen
}

#[test]
fn lane_comes_up_and_every_frame_is_good() {
    let words = trace("cnes_b2b.txt.gz");
    for direction in 0..2 {
        let seen = listen(&words, direction);
        assert!(seen.good > 40 && seen.broadcasts == 4);
        assert_eq!((seen.bad, seen.rxerr, seen.nacks), (0, 0, 0));
    }
}

/// The recorded words are those before the line, so the bit error shows only in the answers.
#[test]
fn nacks_after_a_bit_error() {
    let words = trace("cnes_b2b_biterror.txt.gz");
    for direction in 0..2 {
        let seen = listen(&words, direction);
        assert!(seen.good > 40 && seen.nacks > 0);
        assert_eq!((seen.bad, seen.rxerr), (0, 0));
    }
}
