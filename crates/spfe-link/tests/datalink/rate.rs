//! Saturated links against the arithmetic of the protocol: rows for SDF, EDF, FCT and ACK beside
//! the data rows, 8b/10b, and one SKIP in 5001 words.

use crate::harness::{EOP, Link, sizes};
use spfe_link::datalink::DataLinkConfig;
use spfe_link::word::Word;

/// An endless stream of packets of 64 KiB with an EOP.
struct Source(u32);

impl Source {
    fn next(&mut self) -> Word {
        let index = self.0;
        self.0 = (self.0 + 1) % 16385;
        if index == 16384 { EOP } else { Word::data(index) }
    }
}

/// User rate of the direction from end 0, as a share of the signalling rate.
fn rate<const L: usize>(both: bool) -> f64 {
    rate_with::<L>(both, DataLinkConfig::default().ack_gap_words)
}

fn rate_with<const L: usize>(both: bool, ack_gap_words: u8) -> f64 {
    let config = DataLinkConfig {
        ack_gap_words,
        fct_multiplier: L.min(8) as u8,
        segment_multiplier: L as u8,
        multi_lane_capable: L > 1,
        ..DataLinkConfig::default()
    };
    let mut link = Link::<L, 1>::started(config, sizes(L), 20);
    let mut sources = [Source(0), Source(0)];
    let mut words = 0;
    let mut rows = 0;
    let warm_up = 2000;
    let periods = warm_up + 20_000;
    for period in 0..periods {
        if period == warm_up {
            rows = link.ends[0].rows;
            words = 0;
        }
        for (end, source) in sources.iter_mut().enumerate() {
            if end == 0 || both {
                while link.ends[end].dl.writable(0) != 0 {
                    link.write(end, 0, &[source.next()]);
                }
            }
        }
        link.step();
        words += link.drain(1, 0);
        link.drain(0, 0);
    }
    rows = link.ends[0].rows - rows;
    assert_eq!(link.ends[0].dl.status().sent.fulls, 0, "the recovery buffer is large enough");
    0.8 * 5000.0 / 5001.0 * words as f64 / (rows as f64 * L as f64)
}

fn close(rate: f64, expected: f64) {
    assert!((rate / expected - 1.0).abs() < 0.005, "{rate:.4} R, expected {expected:.4} R");
}

#[test]
fn one_way() {
    close(rate::<1>(false), 0.7640);
    close(rate::<2>(false), 0.7640);
    close(rate::<3>(false), 0.7640);
    close(rate::<4>(false), 0.7640);
    close(rate::<8>(false), 0.7640);
}

#[test]
fn both_ways() {
    close(rate::<1>(true), 0.7419);
    close(rate::<2>(true), 0.7419);
    close(rate::<3>(true), 0.7419);
    close(rate::<4>(true), 0.7419);
    close(rate::<8>(true), 0.7419);
}

/// An FCT is worth at most eight segments of 64 words, so a frame of 16 lanes takes two FCTs, and
/// the far end acknowledges each as soon as it may. That costs one row more one way, and two both
/// ways. ACKs one frame apart cover both FCTs and the frame of the other direction, and give the
/// figures of fewer lanes.
#[test]
fn sixteen_lanes() {
    let base = 0.8 * 5000.0 / 5001.0 * 64.0;
    close(rate_with::<16>(false, 64), 0.7640);
    close(rate_with::<16>(true, 64), 0.7419);
    close(rate::<16>(false), base / 68.0);
    let both = rate::<16>(true);
    assert!((base / 71.0 * 0.995..base / 70.0 * 1.005).contains(&both), "{both:.4} R");
}

/// ACKs one frame apart cost fewer lanes nothing one way, and save a row both ways.
#[test]
fn rare_acks() {
    let base = 0.8 * 5000.0 / 5001.0 * 64.0;
    close(rate_with::<1>(false, 64), 0.7640);
    close(rate_with::<4>(true, 64), base / 68.0);
}

/// Rate with packets of some bytes, each a frame of its own: the next one is written when the last
/// one is taken.
fn small(bytes: usize) -> f64 {
    let mut link = Link::<1, 1>::started(DataLinkConfig::default(), sizes(1), 20);
    let mut words: Vec<Word> = (0..bytes as u32 / 4).map(Word::data).collect();
    words.push(match bytes % 4 {
        0 => EOP,
        _ => Word::from_symbols([1, 2, 3, 0xfd], 0b1000),
    });
    let empty = link.ends[0].dl.writable(0);
    let (mut rows, mut before, mut read) = (0, 0, 0);
    for period in 0..22_000 {
        if period == 2000 {
            (rows, read) = (link.ends[0].rows, 0);
            before = link.ends[0].dl.status().sent.data_frames;
        }
        if link.ends[0].dl.writable(0) == empty {
            link.write(0, 0, &words);
        }
        link.step();
        read += link.drain(1, 0);
    }
    rows = link.ends[0].rows - rows;
    let frames = link.ends[0].dl.status().sent.data_frames - before;
    assert!(read.abs_diff(frames as usize * words.len()) <= 2 * words.len(), "a frame for each");
    0.8 * 5000.0 / 5001.0 * (frames as usize * bytes) as f64 / 4.0 / rows as f64
}

/// A row for SDF, a row for EDF, and the words, with an ACK for each FCT of 64 words. The published
/// rates count an ACK for each packet, so they are lower bounds.
#[test]
fn small_packets() {
    for (bytes, least) in [(16, 0.400), (64, 0.640), (255, 0.761)] {
        let words = (bytes as f64 + 1.0) / 4.0;
        let words = words.ceil();
        let expected = 0.8 * 5000.0 / 5001.0 * bytes as f64 / 4.0 / (words + 2.0 + words / 64.0);
        let rate = small(bytes);
        close(rate, expected);
        assert!(rate > least - 0.001, "{bytes} bytes: {rate:.4} R");
    }
}
