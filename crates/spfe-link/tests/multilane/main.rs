//! The multi-lane layer: two ends back to back (50-11C 5.6).

mod bench;

use bench::Bench;
use proptest::prelude::*;
use serde_json::Value;
use spfe_link::control::ControlWord;
use spfe_link::lane::{Lane, LaneState};
use spfe_link::multilane::{AlignCount, Alignment, FarEnd, Misaligned, MultiLane, MultiLaneConfig};
use spfe_link::row::{ReceivedRow, Row};
use spfe_link::word::Word;

const LENGTHS: [u32; 7] = [64, 1, 2, 3, 5, 128, 7];

fn config() -> MultiLaneConfig {
    MultiLaneConfig::new()
}

fn passes<const L: usize>(skew: &[usize], config: &MultiLaneConfig) {
    let mut bench = Bench::<L>::new(config, skew, &LENGTHS);
    if L > 1 {
        let took = bench.until_aligned();
        assert!(took < 1900, "{took} {skew:?}");
    } else {
        bench.until("active", |bench| bench.ends.iter().all(MultiLane::any_lane_active));
        bench.run(10);
    }
    bench.forget();
    bench.run(12_000);
    for end in 0..2 {
        let upper = &bench.uppers[end];
        let numbers = upper.numbers();
        assert!(numbers.len() > 100, "{}", numbers.len());
        assert!(numbers.windows(2).all(|two| two[1] == two[0] + 1), "no frame lost");
        assert_eq!((upper.rxerr, upper.bad_crc), (0, 0));
        assert!(upper.control.iter().any(|word| word.k == 0), "idle frames, one copy");
        let status = bench.ends[end].status();
        let all = (1u32 << L).wrapping_sub(1) as u16;
        assert_eq!(status.active, all);
        if L > 1 {
            assert_eq!((status.data_sending, status.data_receiving), (all, all));
            assert_eq!(status.far_end_active, all);
        }
    }
}

#[test]
fn rows_over_any_number_of_lanes() {
    passes::<1>(&[], &config());
    passes::<2>(&[], &config());
    passes::<3>(&[], &config());
    passes::<4>(&[], &config());
    passes::<16>(&[], &config());
    passes::<2>(&[], &MultiLaneConfig { data_scrambled: false, ..config() });
    passes::<2>(&[], &MultiLaneConfig { crc_covers_scrambled: false, ..config() });
    passes::<2>(&[], &MultiLaneConfig { align_count: AlignCount::Active, ..config() });
}

#[test]
fn skew_up_to_three_words() {
    for skew in 0..=3 {
        passes::<2>(&[skew, 0], &config());
        passes::<2>(&[0, skew], &config());
        passes::<4>(&[skew, 1, 0, 3], &config());
    }
    let mut bench = Bench::<2>::new(&config(), &[0, 4], &LENGTHS);
    bench.run(10_000);
    assert_eq!(bench.alignments(), [Alignment::NotReady; 2]);
    assert_eq!(bench.ends[0].status().misaligned_cause, Some(Misaligned::FifoOverflow));
}

/// The words that one end puts on its lanes. Its far end is a copy of itself.
fn wire_words<const L: usize>(rows: &[Row<L>], config: &MultiLaneConfig) -> Vec<[Option<Word>; L]> {
    let mut bench = Bench::<L>::new(config, &[], &[]);
    if L > 1 {
        bench.until_aligned();
    } else {
        bench.until("active", |bench| bench.ends[0].any_lane_active());
    }
    let end = &mut bench.ends[0];
    rows.iter()
        .map(|row| {
            let (words, taken) = end.transmit(Some(row));
            assert!(taken);
            words
        })
        .collect()
}

fn word(text: &str) -> Word {
    let (bits, k) = text.split_once('/').unwrap();
    Word { bits: u32::from_str_radix(bits, 16).unwrap(), k: k.parse::<u8>().unwrap_or(15) }
}

/// The reference frames for two lanes, plain and scrambled.
#[test]
fn two_lane_vectors() {
    let data = |words: &[Word]| {
        let mut row = [Word::default(); 2];
        row[..words.len()].copy_from_slice(words);
        Row::Data { words: row, count: words.len() as u8 }
    };
    let words: Vec<Word> = (0..4u32)
        .map(|at| Word::data(0x4342_4140 + at * 0x0404_0404))
        .chain([Word { bits: 0xfbfd_5150, k: 0xc }])
        .collect();
    let rows = [
        Row::Control(ControlWord::Sdf { vc: 4 }.encode()),
        data(&words[..2]),
        data(&words[2..4]),
        data(&words[4..]),
        Row::Control(ControlWord::Edf { seq: 0x11, crc: 0 }.encode()),
    ];
    for (data_scrambled, lanes) in [
        (
            false,
            [
                ["000450FC/1", "43424140/0", "4B4A4948/0", "FBFD5150/C", "88D3111C/1"],
                ["000450FC/1", "47464544/0", "4F4E4D4C/0", "FBFBFBFC/F", "8AAD111C/1"],
            ],
        ),
        (
            true,
            [
                ["000450FC/1", "578256BF/0", "C948AEFA/0", "FBFD3F22/C", "3A68111C/1"],
                ["000450FC/1", "538652BB/0", "CD4CAAFE/0", "FBFBFBFC/F", "99FD111C/1"],
            ],
        ),
    ] {
        let sent = wire_words(&rows, &MultiLaneConfig { data_scrambled, ..config() });
        for (row, sent) in sent.iter().enumerate() {
            for lane in 0..2 {
                let text = lanes[lane][row].replace("/C", "/12");
                assert_eq!(sent[lane], Some(word(&text)), "row {row} lane {lane}");
            }
        }
    }
}

/// The data frames of `vectors/spacefibre.json` through one lane.
#[test]
fn single_lane_vectors() {
    let all: Value =
        serde_json::from_str(include_str!("../../../../vectors/spacefibre.json")).unwrap();
    let mut count = 0;
    for frame in all["data_frames"].as_array().unwrap() {
        let scrambled = frame["scrambled"].as_bool().unwrap();
        let number = |value: &Value| u8::try_from(value.as_u64().unwrap()).unwrap();
        let words: Vec<Word> = frame["words"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| Word {
                bits: u32::from_str_radix(word["w"].as_str().unwrap(), 16).unwrap(),
                k: number(&word["k"]),
            })
            .collect();
        let mut prbs = spfe_link::prbs::Prbs::new();
        let (first, last) = (words[0], *words.last().unwrap());
        let mut rows = vec![Row::<1>::Control(first)];
        for word in &words[1..words.len() - 1] {
            let plain = if scrambled { prbs.scramble(*word) } else { *word };
            rows.push(Row::Data { words: [plain], count: 1 });
        }
        rows.push(Row::Control(ControlWord::Edf { seq: last.symbol(1), crc: 0 }.encode()));
        let sent = wire_words(&rows, &MultiLaneConfig { data_scrambled: scrambled, ..config() });
        let sent: Vec<Word> = sent.into_iter().map(|words| words[0].unwrap()).collect();
        assert_eq!(sent, words);
        count += 1;
    }
    assert!(count >= 20);
}

/// A word period for which there is no row.
#[test]
fn idle_on_all_data_sending_lanes_without_a_row() {
    let idle = Some(ControlWord::Idle.encode());
    let mut bench = Bench::<3>::new(&config(), &[], &LENGTHS);
    for end in &mut bench.ends {
        end.parameters.max_data_sending = 2;
    }
    bench.until_aligned();
    let end = &mut bench.ends[0];
    assert_eq!((end.status().data_sending, end.status().hot_redundant), (0b011, 0b100));
    let mut periods = 0;
    while periods < 20 {
        if end.wants() == 0 {
            end.transmit(None);
            continue;
        }
        periods += 1;
        let (words, taken) = end.transmit(None);
        assert!(!taken);
        assert_eq!(words[..2], [idle; 2]);
        assert!(words[2].is_some_and(|word| word.k == 0), "idle data on the hot redundant lane");
    }
}

#[test]
fn alignment_words_and_skip_on_all_lanes() {
    let mut bench = Bench::<4>::new(&config(), &[0, 1, 2, 3], &LENGTHS);
    bench.until("active", |bench| bench.ends[0].status().active == 0xf);
    let align = |lane: u8| {
        let lanes = lane << 4 | 4;
        ControlWord::Align { lanes, inverse: !lanes }
    };
    // Not Ready: seven ACTIVE, one ALIGN.
    let mut sent = vec![];
    while bench.alignments()[0] == Alignment::NotReady {
        bench.step();
        sent.push(bench.sent[0].map(|word| ControlWord::decode(word.unwrap()).unwrap()));
    }
    let active = ControlWord::Active { lanes: 0xf };
    for (at, row) in sent.iter().enumerate().skip(1) {
        assert!(row[0] == active || row == &[align(0), align(1), align(2), align(3)], "{at}");
    }
    let aligns: Vec<usize> = (0..sent.len()).filter(|at| sent[*at][1] == align(1)).collect();
    assert!(aligns.windows(2).all(|two| two[1] - two[0] == 8), "{aligns:?}");
    // Near-End Ready: an ALIGN after every seven rows.
    bench.uppers[1].lengths.clear();
    let (mut since, mut seen) = (0, 0);
    while bench.alignments()[0] == Alignment::NearEndReady && seen < 10 {
        bench.step();
        let words = bench.sent[0].map(Option::unwrap);
        if ControlWord::decode(words[0]) == Some(align(0)) {
            assert_eq!(since, 7);
            since = 0;
            seen += 1;
        } else {
            since += 1;
        }
    }
    assert!(seen > 0);
    // Both-Ends Ready: no more ALIGN, and SKIP on all lanes in the same word period.
    bench.uppers[1].lengths = LENGTHS.to_vec();
    bench.until_aligned();
    bench.run(20);
    let mut skips = vec![];
    for period in 0..20_000 {
        bench.step();
        let words = bench.sent[0].map(|word| ControlWord::decode(word.unwrap()));
        let skip = words.iter().filter(|word| **word == Some(ControlWord::Skip)).count();
        assert!(skip == 0 || skip == 4);
        assert_eq!(bench.ends[0].width(), 4, "also in the word period of a SKIP");
        if skip != 0 {
            skips.push(period);
        }
        assert!(!matches!(words[0], Some(ControlWord::Align { .. } | ControlWord::Active { .. })));
    }
    assert!(skips.len() >= 3 && skips.windows(2).all(|two| two[1] - two[0] == 5000), "{skips:?}");
}

#[test]
fn a_lane_is_lost_and_comes_back() {
    let mut bench = Bench::<3>::new(&config(), &[0, 2, 1], &LENGTHS);
    bench.until_aligned();
    bench.run(500);
    bench.forget();
    for lane in [1, 0, 2] {
        bench.cut = [1 << lane; 2];
        bench.step();
        let took = bench.until("two lanes", |bench| {
            bench.alignments() == [Alignment::BothEndsReady; 2]
                && bench.ends[0].status().data_sending == 7 & !(1 << lane)
        });
        assert!(took < 200, "{took} words");
        assert!(bench.uppers[0].rxerr >= 1 && bench.uppers[1].rxerr >= 1);
        assert!(bench.ends[0].status().misaligned_cause.is_some());
        bench.run(500);
        bench.forget();
        bench.run(2000);
        for upper in &bench.uppers {
            assert!(upper.numbers().len() > 10);
            assert_eq!((upper.rxerr, upper.bad_crc), (0, 0));
        }
        assert_eq!(bench.ends[1].status().data_receiving, 7 & !(1 << lane));
        bench.cut = [0; 2];
        bench.until("three lanes", |bench| {
            bench.alignments() == [Alignment::BothEndsReady; 2]
                && bench.ends.iter().all(|end| end.status().data_receiving == 7)
        });
        bench.run(500);
        bench.forget();
        bench.run(2000);
        for upper in &bench.uppers {
            assert!(upper.numbers().len() > 10);
            assert_eq!((upper.rxerr, upper.bad_crc), (0, 0));
        }
    }
}

#[test]
fn a_hot_redundant_lane_takes_over() {
    let mut bench = Bench::<3>::new(&config(), &[1, 0, 2], &LENGTHS);
    for end in &mut bench.ends {
        end.parameters.max_data_sending = 2;
    }
    bench.until_aligned();
    for end in &bench.ends {
        assert_eq!(end.max_data_sending(), 2);
        let status = end.status();
        assert_eq!((status.active, status.data_sending, status.hot_redundant), (7, 3, 4));
        assert_eq!(status.data_receiving, 3);
    }
    bench.run(300);
    bench.forget();
    // The hot redundant lane carries data words and SKIP, but no words of the data link layer.
    for _ in 0..6000 {
        bench.step();
        let word = bench.sent[0][2].unwrap();
        assert!(word.k == 0 || word == ControlWord::Skip.encode());
    }
    assert!(bench.uppers[1].numbers().len() > 50);
    assert_eq!(bench.uppers[1].rxerr, 0);
    bench.cut = [1; 2];
    bench.step();
    let took = bench.until("the hot lane", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends.iter().all(|end| end.status().data_receiving == 6)
    });
    assert!(took < 200);
    bench.run(300);
    bench.forget();
    bench.run(1000);
    assert!(bench.uppers[1].numbers().len() > 10);
    assert_eq!(bench.uppers[1].bad_crc, 0);
    // The lane comes back, and the third lane is in reserve again.
    bench.cut = [0; 2];
    bench.until("the first lane", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends.iter().all(|end| end.status().data_receiving == 3)
    });
}

#[test]
fn a_lane_of_one_direction() {
    let mut bench = Bench::<3>::new(&config(), &[0, 1, 0], &LENGTHS);
    // Lane 2 leads only from end 0 to end 1.
    bench.ends[0].lane_mut(2).unwrap().parameters.rx_en = false;
    bench.ends[1].lane_mut(2).unwrap().parameters.tx_en = false;
    bench.until("three lanes and two", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends[1].status().data_receiving == 7
            && bench.ends[0].status().data_receiving == 3
    });
    assert_eq!(bench.ends[0].status().data_sending, 7);
    assert_eq!(bench.ends[1].status().data_sending, 3);
    assert_eq!(bench.ends[0].lanes()[2].state(), LaneState::Active);
    assert!(bench.sent[1][2].is_none(), "the driver stays off");
    bench.run(500);
    bench.forget();
    bench.run(3000);
    for upper in &bench.uppers {
        assert!(upper.numbers().len() > 30);
        assert_eq!((upper.rxerr, upper.bad_crc), (0, 0));
    }
    // Cut: the receiver leaves Active and says so, and the sender starts again.
    bench.cut[0] = 4;
    bench.until("two lanes", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends.iter().all(|end| end.status().active == 3)
    });
    bench.cut[0] = 0;
    bench.until("three lanes", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends[1].status().data_receiving == 7
    });
    // Without a bidirectional lane nothing can come up.
    bench.cut = [3; 2];
    bench.run(5000);
    assert_eq!(bench.ends[0].status().active, 0);
    // With neither direction enabled a lane is held in reset.
    let mut bench = Bench::<2>::new(&config(), &[], &LENGTHS);
    bench.ends[0].lane_mut(1).unwrap().parameters.rx_en = false;
    bench.ends[0].lane_mut(1).unwrap().parameters.tx_en = false;
    bench.run(3000);
    assert_eq!(bench.ends[0].lanes()[1].state(), LaneState::ClearLine);
    assert_eq!(bench.alignments(), [Alignment::BothEndsReady; 2]);
}

#[test]
fn lanes_of_both_single_directions() {
    let mut bench = Bench::<4>::new(&config(), &[0, 1, 2, 3], &LENGTHS);
    // Lanes 1 and 3 lead one way, lane 2 the other.
    for (lane, sender) in [(1, 0), (3, 0), (2, 1)] {
        bench.ends[sender].lane_mut(lane).unwrap().parameters.rx_en = false;
        bench.ends[sender ^ 1].lane_mut(lane).unwrap().parameters.tx_en = false;
    }
    bench.until("three lanes and two", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends[1].status().data_receiving == 0b1011
            && bench.ends[0].status().data_receiving == 0b0101
    });
    bench.run(500);
    bench.forget();
    bench.run(3000);
    for upper in &bench.uppers {
        assert!(upper.numbers().len() > 20);
        assert_eq!((upper.rxerr, upper.bad_crc), (0, 0));
    }
}

/// A lane becomes RxOnly while another one works in both directions, and stays so (50-11C 5.6.5).
#[test]
fn a_link_without_a_transmitter_waits_for_one() {
    let mut bench = Bench::<2>::new(&config(), &[], &LENGTHS);
    bench.until("two lanes", |bench| bench.alignments() == [Alignment::BothEndsReady; 2]);
    for lane in [1, 0] {
        bench.ends[0].lane_mut(lane).unwrap().parameters.tx_en = false;
        bench.run(100);
    }
    bench.run(20_000);
    assert!(bench.sent[0].iter().all(Option::is_none), "the drivers stay off");
    assert_eq!(bench.ends[0].lanes()[1].state(), LaneState::Active, "receives only");
    assert_ne!(bench.ends[0].lanes()[0].state(), LaneState::Active, "needs an answer");
    assert_eq!(bench.ends[1].status().active, 0);
    bench.ends[0].lane_mut(0).unwrap().parameters.tx_en = true;
    bench.until("a lane in both directions", |bench| {
        bench.alignments() == [Alignment::BothEndsReady; 2]
            && bench.ends.iter().all(|end| end.status().active & 1 == 1)
    });
}

#[test]
fn bypass_with_a_far_end_of_one_lane() {
    let mut many = MultiLane::<2>::new(&config());
    let mut single = MultiLane::<1>::new(&config());
    many.lane_mut(0).unwrap().parameters.lane_start = true;
    many.lane_mut(1).unwrap().parameters.lane_start = true;
    single.lane_mut(0).unwrap().parameters.lane_start = true;
    assert!(single.status().bypass && !many.status().bypass);
    let (mut got, mut next) = (vec![], 0);
    for _ in 0..4000 {
        let row = (many.wants() == 1).then(|| Row::Control(Word::data(next)));
        next += u32::from(row.is_some());
        let (sent, _) = many.transmit(row.as_ref());
        let (back, _) = single.transmit(None);
        if let Some(ReceivedRow::Data { words, count: 1 }) = single.receive([sent[0]]) {
            got.push(words[0].bits);
        }
        assert_eq!(many.receive([back[0], sent[1]]), None);
    }
    assert!(many.status().bypass);
    assert_eq!(many.lanes()[1].state(), LaneState::ClearLine);
    assert!(got.len() > 2000 && got.windows(2).all(|two| two[1] == two[0] + 1));
    // Bypassed by configuration.
    let plain = MultiLane::<4>::new(&MultiLaneConfig { bypass: true, ..config() });
    assert!(plain.status().bypass);
}

/// The elastic buffer of a far end of one lane needs SKIPs as any other.
#[test]
fn skip_goes_on_in_bypass() {
    let mut config = config();
    config.lane.skip_interval_words = 100;
    let mut many = MultiLane::<2>::new(&config);
    let mut single = MultiLane::<1>::new(&config);
    for index in 0..2 {
        many.lane_mut(index).unwrap().parameters.lane_start = true;
    }
    single.lane_mut(0).unwrap().parameters.lane_start = true;
    let mut skips = vec![];
    for period in 0..4000 {
        let wanted = many.wants();
        let row = Row::Control(Word::data(period));
        let (sent, taken) = many.transmit(Some(&row));
        assert_eq!(taken, wanted == 1);
        if sent[0] == Some(ControlWord::Skip.encode()) {
            assert!(!taken);
            skips.push(period);
        }
        let (back, _) = single.transmit(None);
        single.receive([sent[0]]);
        many.receive([back[0], None]);
    }
    assert!(many.status().bypass);
    assert!(skips.len() > 20 && skips.windows(2).all(|two| two[1] == two[0] + 100), "{skips:?}");
}

#[test]
fn capabilities_come_as_events() {
    let mut bench = Bench::<2>::new(&config(), &[], &LENGTHS);
    bench.ends[0].set_capability(1 | 4 | 16);
    let mut events = vec![];
    for _ in 0..2500 {
        bench.step();
        while let Some(event) = bench.ends[1].take_far_end_capability() {
            events.push(event);
        }
    }
    let event = |lane, capability, lane_active| FarEnd { lane, capability, lane_active };
    assert_eq!(events, [event(0, 1 | 2 | 4 | 8 | 16, false), event(1, 1 | 2 | 4 | 8 | 16, false)]);
    events.clear();
    bench.ends[0].set_capability(4);
    bench.ends[0].lane_mut(1).unwrap().reset();
    for _ in 0..3000 {
        bench.step();
        events.extend(bench.ends[1].take_far_end_capability());
    }
    assert_eq!(events, [event(1, 2 | 4 | 8, true)]);
}

/// A link of two aligned lanes.
fn aligned_pair() -> Bench<2> {
    let mut bench = Bench::<2>::new(&config(), &[], &LENGTHS);
    bench.until_aligned();
    // Past the first 4 us.
    bench.run(1000);
    bench.forget();
    bench
}

#[test]
fn misalignment_causes() {
    let one_word = |word: Word, expected: Option<Misaligned>| {
        let mut bench = aligned_pair();
        // Into a row of data words.
        while bench.sent[0].iter().any(|word| word.unwrap().k != 0) {
            bench.step();
        }
        let before = bench.ends[1].status().misaligned_events;
        bench.damage(0, 1, word);
        bench.run(8);
        let status = *bench.ends[1].status();
        assert_eq!(status.misaligned_events > before, expected.is_some(), "{word}");
        if expected.is_some() {
            assert_eq!(status.misaligned_cause, expected, "{word}");
        }
        // One RXERR for the row, then those for the rows that the far end had sent already.
        let most = if expected.is_some() { 8 } else { 1 };
        assert!((1..=most).contains(&bench.uppers[1].rxerr), "{word}");
        bench.until_aligned();
        bench.run(500);
        bench.forget();
        bench.run(1000);
        assert_eq!((bench.uppers[1].rxerr, bench.uppers[1].bad_crc), (0, 0));
    };
    one_word(ControlWord::Retry.encode(), Some(Misaligned::InvalidRow));
    let align = |lanes: u8, inverse: u8| ControlWord::Align { lanes, inverse }.encode();
    one_word(align(0x02, 0xfd), Some(Misaligned::InvalidAlign));
    one_word(align(0x13, 0xec), Some(Misaligned::InvalidAlign));
    one_word(align(0x12, 0xed), Some(Misaligned::HeldAlign));
    one_word(align(0, 0), Some(Misaligned::DataReceivingLanes));
    // No restart of the alignment, but the row is lost.
    one_word(ControlWord::Active { lanes: 3 }.encode(), None);
    one_word(align(0x12, 0x12), None);
}

#[test]
fn damaged_words() {
    let mut bench = aligned_pair();
    let before = bench.ends[1].status().misaligned_events;
    bench.damage(0, 1, Word::RXERR);
    bench.run(10);
    // The word and the word before it.
    assert_eq!(bench.uppers[1].rxerr, 2);
    assert_eq!(bench.ends[1].status().misaligned_events, before);
    bench.run(500);
    bench.forget();
    bench.run(1000);
    assert!(bench.uppers[1].numbers().len() > 10);
    assert_eq!((bench.uppers[1].rxerr, bench.uppers[1].bad_crc), (0, 0));
    // Alignment starts again if the configuration says so, and within 4 us of Near-End Ready.
    let strict = MultiLaneConfig { rxerr_row_misaligns: true, ..config() };
    let mut bench = Bench::<2>::new(&strict, &[], &LENGTHS);
    bench.until_aligned();
    bench.run(1000);
    bench.damage(0, 1, Word::RXERR);
    bench.run(7);
    assert_eq!(bench.ends[1].status().misaligned_cause, Some(Misaligned::RxErrRow));
    let mut bench = Bench::<2>::new(&config(), &[], &LENGTHS);
    bench.until_aligned();
    bench.run(100);
    bench.damage(0, 1, Word::RXERR);
    bench.run(7);
    assert_eq!(bench.ends[1].status().misaligned_cause, Some(Misaligned::EarlyRxErr));
    bench.until_aligned();
    // A wrong bit in a data word is left to the CRC of its lane.
    let mut bench = aligned_pair();
    while bench.sent[0].iter().any(|word| word.unwrap().k != 0) {
        bench.step();
    }
    let word = bench.sent[0][1].unwrap();
    bench.damage(0, 1, Word::data(word.bits ^ 0x100));
    bench.run(300);
    assert_eq!(bench.uppers[1].bad_crc, 1);
    assert_eq!(bench.uppers[1].rxerr, 0);
}

#[test]
fn broadcast_inside_a_data_frame() {
    for lanes in [1, 2] {
        let rows = |words: &[Word]| -> Vec<Row<2>> {
            let data = |words: [Word; 2]| Row::Data { words, count: lanes };
            let two = [Word::data(1), Word::data(2)];
            let mut rows = vec![Row::Control(ControlWord::Sdf { vc: 0 }.encode()), data(two)];
            rows.extend(words.iter().map(|word| Row::Control(*word)));
            rows.extend([data(two), Row::Control(ControlWord::Edf { seq: 1, crc: 0 }.encode())]);
            rows
        };
        let inside = [
            ControlWord::Sbf { channel: 1, kind: 2 }.encode(),
            Word::data(3),
            Word::data(4),
            ControlWord::Ebf { status: 0, seq: 1, crc: 0 }.encode(),
            ControlWord::Fct { multiplier: 1, vc: 0, seq: 2, crc: 0 }.sealed(),
        ];
        let mut bench =
            Bench::<2>::new(&MultiLaneConfig { bypass: lanes == 1, ..config() }, &[], &[]);
        bench.run(3000);
        let mut got = vec![];
        let mut rows = rows(&inside).into_iter().peekable();
        for _ in 0..40 {
            let row = if bench.ends[0].wants() > 0 { rows.next() } else { None };
            let (sent, _) = bench.ends[0].transmit(row.as_ref());
            bench.ends[1].transmit(None);
            got.extend(bench.ends[1].receive(sent));
        }
        assert!(rows.peek().is_none());
        let control: Vec<Word> = got
            .iter()
            .filter_map(|row| match row {
                ReceivedRow::Control { word, .. } => Some(*word),
                _ => None,
            })
            .filter(|word| word.k == 0 && word.bits < 10 || inside.contains(word))
            .collect();
        assert_eq!(control, inside);
        let good = got.iter().any(|row| {
            matches!(row, ReceivedRow::Control { word, crc16_good: true } if word.symbol(0) == 0x1c)
        });
        assert!(good, "{got:?}");
        let data = got.iter().filter(|row| {
            let words = [Word::data(1), Word::data(2)];
            match row {
                ReceivedRow::Data { words: seen, count } => {
                    *count == lanes && seen[..lanes as usize] == words[..lanes as usize]
                }
                _ => false,
            }
        });
        assert_eq!(data.count(), 2);
    }
}

#[test]
fn link_reset_starts_alignment_again() {
    let mut bench = aligned_pair();
    bench.ends[0].parameters.max_data_sending = 1;
    bench.ends[0].link_reset();
    bench.ends[0].lane_reset();
    assert_eq!(bench.ends[0].status().alignment, Alignment::NotReady);
    assert_eq!(bench.ends[0].max_data_sending(), 1);
    bench.step();
    assert_eq!(bench.ends[0].lanes().iter().filter(|lane| Lane::is_active(lane)).count(), 0);
    bench.until_aligned();
    assert_eq!(bench.ends[0].status().data_sending, 1);
    assert_eq!(bench.ends[1].status().data_receiving, 1);
}

/// Both ends hear of a lane at about the same time, but one is ready first. It repeats ACTIVE until
/// the other end has received it twice.
#[test]
fn neither_end_waits_for_ever() {
    let lanes_back = |repeats_active| {
        let mut bench =
            Bench::<3>::new(&MultiLaneConfig { repeats_active, ..config() }, &[1, 0, 0], &[1]);
        bench.until_aligned();
        bench.cut[0] ^= 2;
        bench.run(2);
        bench.cut[0] ^= 1;
        bench.run(1);
        bench.cut = [0; 2];
        bench.run(20_000);
        bench.alignments() == [Alignment::BothEndsReady; 2]
    };
    assert!(lanes_back(true));
    assert!(!lanes_back(false), "the rule is needed");
}

/// A forged ALIGN during alignment puts a lane in reserve. The lane takes part again as soon as it
/// delivers a control word of the data link layer.
#[test]
fn a_forged_reserve_lane_comes_back() {
    let hits = [
        (0, Word::data(0), 9),
        (0, Word::data(0), 19),
        (1, ControlWord::Pad.encode(), 1),
        (0, ControlWord::Skip.encode(), 12),
        (0, ControlWord::Skip.encode(), 14),
        (1, ControlWord::Align { lanes: 0, inverse: 0 }.encode(), 0),
    ];
    let comes_back = |checks_reserve| {
        let mut bench = Bench::<3>::new(&MultiLaneConfig { checks_reserve, ..config() }, &[], &[3]);
        bench.until_aligned();
        for (lane, word, after) in hits {
            bench.damage(0, lane, word);
            bench.run(after);
        }
        let mut found_out = false;
        for _ in 0..1000 {
            bench.step();
            let cause = bench.ends[1].status().misaligned_cause;
            found_out |= cause == Some(Misaligned::ReserveInUse);
        }
        let back = bench.ends.iter().all(|end| end.status().data_receiving == 7)
            && bench.alignments() == [Alignment::BothEndsReady; 2];
        assert_eq!(back, found_out);
        if back {
            // Every frame since then arrives, and none lacks the words of a lane.
            bench.forget();
            bench.run(1000);
            assert!(bench.uppers[1].numbers().len() > 100);
        }
        back
    };
    assert!(comes_back(true));
    assert!(!comes_back(false), "the rule is needed");
}

/// Bits instead of words, with different cuts and polarities on the lanes.
#[test]
fn coded_lines() {
    use spfe_link::lane::LaneCoder;
    const BITS: u64 = 0xff_ffff_ffff;
    let mut inner = config();
    inner.lane.inverts_words = false;
    let mut ends = [MultiLane::<2>::new(&inner), MultiLane::<2>::new(&inner)];
    let mut codes = [[LaneCoder::new(); 2]; 2];
    let mut rest = [[0u64; 2]; 2];
    for lane in ends.iter_mut().flat_map(MultiLane::lanes_mut) {
        lane.parameters.lane_start = true;
    }
    let (mut next, mut expected) = (0, 0);
    for _ in 0..6000 {
        for end in 0..2 {
            let wants = ends[end].wants();
            let row = (wants == 2 && end == 0)
                .then_some(Row::Data { words: [Word::data(next), Word::data(next + 1)], count: 2 });
            next += if row.is_some() { 2 } else { 0 };
            let idle = Row::Control(ControlWord::Retry.encode());
            let (sent, _) = ends[end].transmit(row.as_ref().or((wants > 0).then_some(&idle)));
            let mut lines = [None; 2];
            for lane in 0..2 {
                let (shift, inverted) = ([7, 33][lane], lane == end);
                lines[lane] = codes[end][lane].transmit(sent[lane]).map(|bits| {
                    let window = u128::from(bits) << shift | u128::from(rest[end][lane]);
                    rest[end][lane] = (window >> 40) as u64;
                    let bits = window as u64 & BITS;
                    if inverted { !bits & BITS } else { bits }
                });
            }
            let other = end ^ 1;
            let mut words = [None; 2];
            for lane in 0..2 {
                let at = ends[other].lane_mut(lane).unwrap();
                words[lane] = codes[other][lane].receive(at, lines[lane]);
            }
            if let Some(ReceivedRow::Data { words, count: 2 }) = ends[other].receive(words) {
                // Rows sent before the far end is ready are lost.
                assert!(words[0].bits >= expected && words[1].bits == words[0].bits + 1);
                expected = words[0].bits + 2;
            }
        }
    }
    assert_eq!(ends[0].status().alignment, Alignment::NearEndReady, "no data rows come back");
    assert_eq!(ends[1].status().alignment, Alignment::BothEndsReady);
    assert!(expected > 5000 && next - expected < 20);
}

fn any_word() -> impl Strategy<Value = Option<Word>> {
    let control = prop_oneof![
        Just(ControlWord::Init1),
        Just(ControlWord::Skip),
        Just(ControlWord::Idle),
        Just(ControlWord::RxErr),
        Just(ControlWord::Pad),
        Just(ControlWord::Retry),
        Just(ControlWord::Sdf { vc: 1 }),
        Just(ControlWord::Edf { seq: 1, crc: 0 }),
        Just(ControlWord::Sbf { channel: 0, kind: 0 }),
        Just(ControlWord::Ebf { status: 0, seq: 0, crc: 0 }),
        any::<u16>().prop_map(|lanes| ControlWord::Active { lanes }),
        any::<u8>().prop_map(|lanes| ControlWord::Align { lanes, inverse: !lanes }),
        Just(ControlWord::Align { lanes: 0, inverse: 0 }),
    ];
    prop_oneof![
        6 => control.prop_map(|control| Some(control.encode())),
        4 => any::<u32>().prop_map(|bits| Some(Word::data(bits))),
        2 => (any::<u32>(), any::<u8>()).prop_map(|(bits, k)| Some(Word { bits, k: k & 0xf })),
        1 => Just(None),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any words in place of those of an aligned link: no panic, counters stay in range, and the
    /// link comes back.
    #[test]
    fn any_words(
        hits in proptest::collection::vec((0..3usize, any_word(), 0..20u32), 0..80),
        skew in proptest::collection::vec(0..3usize, 3),
        lengths in proptest::collection::vec(1..200u32, 1..5),
    ) {
        let mut bench = Bench::<3>::new(&config(), &skew, &lengths);
        bench.until_aligned();
        for (lane, word, after) in hits {
            match word {
                Some(word) => bench.damage(0, lane, word),
                None => bench.cut[0] ^= 1 << lane,
            }
            bench.run(after);
            let status = bench.ends[1].status();
            prop_assert!(status.data_receiving & !status.active == 0);
            prop_assert!(status.data_sending & status.hot_redundant == 0);
        }
        bench.cut = [0; 2];
        // Every received frame was sent, and is complete.
        bench.uppers[1].numbers();
        bench.until("all lanes", |bench| {
            bench.ends.iter().all(|end| end.status().data_receiving == 7)
                && bench.alignments() == [Alignment::BothEndsReady; 2]
        });
        bench.run(500);
        bench.forget();
        bench.run(1000);
        prop_assert!(!bench.uppers[1].numbers().is_empty());
        prop_assert_eq!(bench.uppers[1].bad_crc, 0);
    }

    /// Rows of any kind to send: a row that does not fit is not taken.
    #[test]
    fn any_rows(rows in proptest::collection::vec((any::<bool>(), any::<u8>(), any_word()), 1..200)) {
        let mut bench = Bench::<2>::new(&config(), &[], &[]);
        bench.run(2500);
        for (data, count, word) in rows {
            let words = [word.unwrap_or_default(); 2];
            let row =
                if data { Row::Data { words, count } } else { Row::Control(words[0]) };
            let wants = bench.ends[0].wants();
            let (sent, taken) = bench.ends[0].transmit(Some(&row));
            let fits = !data || count >= 1 && count <= wants;
            prop_assert_eq!(taken, wants > 0 && fits);
            bench.ends[1].transmit(None);
            if let Some(ReceivedRow::Data { count, .. }) = bench.ends[1].receive(sent) {
                prop_assert!((1..=2).contains(&count));
            }
            bench.ends[0].receive([Some(Word::data(0)); 2]);
        }
    }
}
