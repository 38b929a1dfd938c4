//! Between the state machine and the line: synchronisation, clocks, bits, and any input.

use proptest::prelude::*;
use spfe_link::control::ControlWord;
use spfe_link::lane::{ElasticBuffer, Lane, LaneCoder, LaneConfig, LaneState, SyncState, WordSync};
use spfe_link::word::Word;

use crate::harness::{Probe, config, starting};

#[test]
fn synchronisation() {
    let (data, comma) = (Word::data(7), ControlWord::Init1.encode());
    let bad = Word { bits: 0x0102_0300, k: 1 };
    for (counts_first, limit) in [(true, 5), (false, 6)] {
        let config = LaneConfig { sync_counts_first: counts_first, ..config() };
        let mut sync = WordSync::new(&config);
        for _ in 0..10 {
            assert_eq!(sync.receive(data), Word::RXERR);
        }
        assert_eq!(sync.receive(comma), Word::RXERR);
        assert_eq!(sync.state(), SyncState::CheckSync);
        assert_eq!(sync.receive(data), Word::RXERR);
        assert_eq!(sync.state(), SyncState::Ready);
        assert_eq!(sync.receive(comma), data);
        // The damaged word and the word before it.
        assert_eq!(sync.receive(bad), Word::RXERR);
        assert_eq!(sync.state(), SyncState::CheckSync);
        assert_eq!(sync.receive(data), Word::RXERR);
        assert_eq!(sync.state(), SyncState::Ready);
        assert_eq!(sync.receive(comma), data);
        for _ in 0..limit - 1 {
            sync.receive(Word::RXERR);
            assert_eq!(sync.state(), SyncState::CheckSync);
        }
        sync.receive(Word::RXERR);
        assert_eq!(sync.state(), SyncState::LostSync);
        sync.receive(comma);
        sync.receive(data);
        assert_eq!(sync.state(), SyncState::Ready);
        sync.lose();
        assert_eq!(sync.receive(data), Word::RXERR);
    }
    let mut only_itself = WordSync::new(&LaneConfig { rxerr_preceding: false, ..config() });
    let out: Vec<Word> = [comma, data, data, bad, data, data]
        .into_iter()
        .map(|word| only_itself.receive(word))
        .collect();
    assert_eq!(out, [Word::RXERR, Word::RXERR, data, data, Word::RXERR, data]);
}

#[test]
fn elastic_buffer_absorbs_200_ppm() {
    for (writes, reads) in [(5001u32, 5000u32), (5000, 5001), (5000, 5000)] {
        let mut buffer = ElasticBuffer::new();
        let (mut next, mut expected) = (0, 0);
        for _ in 0..200 {
            let mut written = 0;
            for read in 0..reads.max(writes) {
                // Spread the two clocks over the interval.
                if written < writes && written <= read {
                    if written == 0 {
                        buffer.write(ControlWord::Skip.encode());
                    } else {
                        buffer.write(Word::data(next));
                        next += 1;
                    }
                    written += 1;
                }
                if read < reads {
                    let word = buffer.read();
                    if word != ControlWord::Skip.encode() {
                        assert_eq!(word, Word::data(expected));
                        expected += 1;
                    }
                }
            }
        }
        assert_eq!(buffer.slips(), 0);
        assert!((buffer.deleted() > 150) == (writes > reads), "{}", buffer.deleted());
        assert!((buffer.repeated() > 150) == (writes < reads), "{}", buffer.repeated());
        assert!(next - expected <= 8);
    }
    // Without SKIP words the buffer loses words, and reports that.
    let mut buffer = ElasticBuffer::new();
    for value in 0..10 {
        buffer.write(Word::data(value));
    }
    for _ in 0..8 {
        assert_ne!(buffer.read(), Word::RXERR);
    }
    buffer.write(Word::data(10));
    assert_eq!(buffer.read(), Word::RXERR);
    assert_eq!(buffer.read(), Word::RXERR, "empty");
}

/// Two clocks 200 ppm apart, with an elastic buffer before each receiver.
#[test]
fn lanes_with_two_clocks() {
    let mut lanes = [starting(config()), starting(config())];
    let mut buffers = [ElasticBuffer::new(), ElasticBuffer::new()];
    let mut silent = [true; 2];
    let (mut next, mut expected) = (0, 0);
    for tick in 0..300_000 {
        for end in 0..2 {
            if end == 1 && tick % 5000 == 0 {
                continue;
            }
            // A comma every few words, as in any traffic.
            let offered = (end == 0 && tick % 9 != 0).then_some(Word::data(next));
            let (sent, taken) = lanes[end].transmit(offered);
            next += u32::from(taken);
            silent[end ^ 1] = sent.is_none();
            if let Some(word) = sent {
                buffers[end ^ 1].write(word);
            }
            let line = if silent[end] { None } else { Some(buffers[end].read()) };
            if let Some(word) = lanes[end].receive(line) {
                assert_ne!(word, Word::RXERR);
                assert!(end == 1 && word == Word::data(expected));
                expected += 1;
            }
        }
    }
    assert_eq!([lanes[0].state(), lanes[1].state()], [LaneState::Active; 2]);
    assert!(expected > 200_000);
    assert!(buffers[1].deleted() > 40 && buffers[0].repeated() > 40);
}

/// With a serial loopback at either end the lane comes up by itself.
#[test]
fn serial_loopbacks() {
    let config = LaneConfig { inverts_words: false, ..config() };
    for near_end in [false, true] {
        let mut lanes = [starting(config), Lane::new(config)];
        lanes[0].parameters.near_end_serial_loopback = near_end;
        lanes[1].parameters.far_end_serial_loopback = !near_end;
        lanes[1].parameters.auto_start = false;
        let mut codes = [LaneCoder::new(); 2];
        let (mut up, mut next) = (vec![], 0);
        for _ in 0..4000 {
            let takes = lanes[0].takes();
            let words = [lanes[0].transmit(Some(Word::data(next))).0, lanes[1].transmit(None).0];
            next += u32::from(takes);
            let lines = [codes[0].transmit(words[0]), codes[1].transmit(words[1])];
            // The near-end loopback needs no cable.
            let to_near = lines[1].filter(|_| !near_end);
            let word = codes[0].receive(&mut lanes[0], to_near);
            up.extend(lanes[0].receive(word));
            let word = codes[1].receive(&mut lanes[1], lines[0].filter(|_| !near_end));
            assert_eq!(lanes[1].receive(word), None);
        }
        assert_eq!(lanes[0].state(), LaneState::Active, "near end {near_end}");
        assert_ne!(lanes[1].state(), LaneState::Active);
        let data: Vec<u32> = up.iter().filter(|word| word.k == 0).map(|word| word.bits).collect();
        assert!(data.len() > 1000 && data.windows(2).all(|two| two[1] == two[0] + 1));
    }
}

/// The line as bits: cut at any position, either polarity, one wrong bit.
#[test]
fn coded_lanes() {
    for (offset, inverted) in (0..40).map(|offset| (offset, offset % 3 == 0)) {
        // Either the coder or the lane corrects swapped wires.
        let config = LaneConfig { inverts_words: offset % 2 == 0, ..config() };
        let mut lanes = [starting(config), starting(config)];
        let mut codes = [LaneCoder::new(), LaneCoder::new()];
        let mut rest = [0u64; 2];
        let (mut up, mut next, mut damaged) = (vec![], 0, false);
        for period in 0..4000 {
            // A comma now and then, as in any traffic, because a wrong bit can look like one.
            let offered = (period % 16 != 0).then_some(Word::data(next));
            let takes = lanes[0].takes() && offered.is_some();
            let words = [lanes[0].transmit(offered).0, lanes[1].transmit(None).0];
            next += u32::from(takes);
            for end in 0..2 {
                let line = codes[end].transmit(words[end]);
                let shifted = line.map(|bits| {
                    let window = u128::from(bits) << offset | u128::from(rest[end]);
                    rest[end] = (window >> 40) as u64;
                    let bits = window as u64 & 0xff_ffff_ffff;
                    if inverted { !bits & 0xff_ffff_ffff } else { bits }
                });
                let hit = end == 0 && period == 3000;
                let shifted = shifted.map(|bits| if hit { bits ^ 1 << 20 } else { bits });
                damaged |= hit;
                let word = codes[end ^ 1].receive(&mut lanes[end ^ 1], shifted);
                let received = lanes[end ^ 1].receive(word);
                if end == 0 {
                    up.extend(received);
                }
            }
        }
        assert!(damaged);
        assert_eq!([lanes[0].state(), lanes[1].state()], [LaneState::Active; 2], "offset {offset}");
        assert_eq!(lanes[1].status().rx_polarity_inverted, inverted);
        let errors = lanes[1].status().rxerr_count;
        assert!(errors <= 4 || codes[1].realignments() > 1, "{errors}");
        let numbers: Vec<u32> =
            up.iter().filter(|word| word.k == 0).map(|word| word.bits).collect();
        assert!(numbers.len() > 1500);
        let gaps = numbers.windows(2).filter(|two| two[1] != two[0] + 1).count();
        assert!(gaps <= 2, "{gaps}");
    }
}

fn any_line() -> impl Strategy<Value = Option<Word>> {
    let control = prop_oneof![
        Just(ControlWord::Init1),
        Just(ControlWord::Init2),
        Just(ControlWord::Init3 { capability: 4 }),
        Just(ControlWord::Init1Inverted),
        Just(ControlWord::Init2Inverted),
        Just(ControlWord::Skip),
        Just(ControlWord::Idle),
        Just(ControlWord::RxErr),
        any::<u8>().prop_map(|reason| ControlWord::Standby { reason }),
        any::<u8>().prop_map(|cause| ControlWord::LostSignal { cause }),
    ];
    prop_oneof![
        8 => control.prop_map(|control| Some(control.encode())),
        4 => any::<u32>().prop_map(|bits| Some(Word::data(bits))),
        2 => (any::<u32>(), any::<u8>()).prop_map(|(bits, k)| Some(Word { bits, k: k & 0xf })),
        1 => Just(None),
    ]
}

proptest! {
    /// Any words, in runs of any length: no panic, at most one word up for each word in, and the
    /// lane sends only what its state allows.
    #[test]
    fn any_words(
        runs in proptest::collection::vec((any_line(), 1u32..1100), 1..40),
        flags in any::<[bool; 5]>(),
    ) {
        let mut lane = Lane::new(config());
        lane.parameters.lane_start = flags[0];
        lane.parameters.tx_en = flags[1];
        lane.parameters.rx_en = flags[2];
        lane.set_far_end_active(flags[3]);
        lane.set_rx_only(flags[4]);
        for (line, count) in runs {
            for _ in 0..count {
                let before = lane.state();
                let (sent, taken) = lane.transmit(Some(Word::data(1)));
                prop_assert!(!taken || before == LaneState::Active);
                prop_assert!(sent.is_none() || before >= LaneState::Started);
                let up = lane.receive(line);
                prop_assert!(up.is_none() || before == LaneState::Active);
            }
        }
    }

    /// Any bits: no panic, and bits that the decoder does not know become RXERR or nothing.
    #[test]
    fn any_bits(groups in proptest::collection::vec(any::<u64>(), 1..200), active in any::<bool>()) {
        let state = if active { LaneState::Active } else { LaneState::Started };
        let mut lane = Probe::in_state(state).lane;
        let mut code = LaneCoder::new();
        for group in groups {
            lane.transmit(None);
            let word = code.receive(&mut lane, Some(group));
            let up = lane.receive(word);
            prop_assert!(up.is_none() || active);
        }
    }
}

#[test]
fn realignment_damages_one_word() {
    let mut sync = WordSync::new(&config());
    let idle = ControlWord::Idle.encode();
    for _ in 0..3 {
        sync.receive(idle);
    }
    sync.receive(Word::data(1));
    assert_eq!(sync.receive(Word::data(2)), Word::data(1));
    sync.realign();
    // The word before the one in progress is good; the one in progress is an RXERR.
    assert_eq!(sync.receive(idle), Word::data(2));
    assert_eq!(sync.receive(Word::data(3)), Word::RXERR);
    assert_eq!(sync.receive(Word::data(4)), Word::data(3));
}

/// Passing many words at once is writing and reading them in turn, in either order.
#[test]
fn an_elastic_buffer_passes_words_at_once() {
    let skip = ControlWord::Skip.encode();
    let mut state = 5u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32
    };
    let (mut one, mut all) = (ElasticBuffer::new(), ElasticBuffer::new());
    for step in 0..20_000 {
        // The clocks drift: now and then one end has a word period more.
        match (random() % 20, step / 500 % 2) {
            (0, 0) => {
                let word = Word::data(random());
                one.write(word);
                all.write(word);
            }
            (0, 1) => assert_eq!(one.read(), all.read()),
            _ => {}
        }
        let (count, skips) = (random() as usize % 16, step / 2000 % 2 == 0);
        let mut word = || if skips && random() % 12 == 0 { skip } else { Word::data(random()) };
        let words: Vec<Word> = (0..count).map(|_| word()).collect();
        let first = random() % 2 == 0;
        let mut passed = words.clone();
        all.pass(&mut passed, first);
        let single = words.iter().map(|word| {
            if first {
                one.write(*word);
                one.read()
            } else {
                let read = one.read();
                one.write(*word);
                read
            }
        });
        assert_eq!(single.collect::<Vec<_>>(), passed);
        assert_eq!((one.fill(), one.slips()), (all.fill(), all.slips()));
        assert_eq!((one.deleted(), one.repeated()), (all.deleted(), all.repeated()));
    }
    assert!(one.slips() != 0 && one.deleted() != 0 && one.repeated() != 0);
}
