//! Each row of the state table, and lanes back to back.

use spfe_link::code::invert_word;
use spfe_link::control::ControlWord;
use spfe_link::lane::{Lane, LaneConfig, LaneState, LostSignalCause, capability};
use spfe_link::word::Word;

use crate::harness::{ALL, CLEAR_LINE, Pair, Probe, config, starting};

#[test]
fn clear_line_lasts_two_microseconds() {
    assert_eq!(config().words_in_ns(2000), CLEAR_LINE);
    let slow = LaneConfig { word_rate_hz: 62_500_000, ..config() };
    assert_eq!(slow.words_in_ns(2000), 125);
    let mut probe = Probe::new(slow);
    assert_eq!(probe.silence(124), LaneState::ClearLine);
    assert_eq!(probe.silence(1), LaneState::Disabled);
}

#[test]
fn lane_reset_from_every_state() {
    for state in ALL {
        let mut probe = Probe::in_state(state);
        probe.lane.reset();
        assert_eq!(probe.words(Word::data(0), 1), LaneState::ClearLine, "{state:?}");
        assert_eq!(probe.silence(CLEAR_LINE - 1), LaneState::ClearLine);
        assert_eq!(probe.silence(1), LaneState::Disabled);
    }
    let mut held = Probe::new(config());
    held.lane.parameters.lane_reset = true;
    assert_eq!(held.silence(10_000), LaneState::ClearLine);
}

#[test]
fn driver_in_every_state() {
    for state in ALL {
        let mut probe = Probe::in_state(state);
        let sent = probe.lane.transmit(Some(Word::data(1)));
        assert_eq!(sent.0.is_some(), state >= LaneState::Started, "{state:?}");
        assert_eq!(sent.1, state == LaneState::Active);
        let first = sent.0.and_then(ControlWord::decode);
        match state {
            LaneState::Connected => {
                assert!(matches!(first, Some(ControlWord::Init3 { capability: 2 })))
            }
            LaneState::PrepareStandby => {
                assert_eq!(first, Some(ControlWord::Standby { reason: 0 }))
            }
            LaneState::LossOfSignal => {
                assert_eq!(first, Some(ControlWord::LostSignal { cause: 0 }))
            }
            _ => {}
        }
    }
}

#[test]
fn disabled_and_wait() {
    let mut probe = Probe::in_state(LaneState::Disabled);
    probe.lane.parameters.lane_start = false;
    probe.lane.parameters.auto_start = false;
    assert_eq!(probe.silence(100), LaneState::Disabled);
    probe.lane.parameters.auto_start = true;
    assert_eq!(probe.silence(1), LaneState::Wait);
    assert_eq!(probe.silence(100), LaneState::Wait, "no signal");
    probe.lane.parameters.auto_start = false;
    assert_eq!(probe.silence(1), LaneState::Disabled);
    probe.lane.parameters.auto_start = true;
    assert_eq!(probe.silence(1), LaneState::Wait);
    assert_eq!(probe.words(Word::RXERR, 1), LaneState::Started, "any signal starts it");
}

#[test]
fn started_needs_1023_good_words_and_an_init() {
    // Without an INIT1 or INIT2 nothing happens, however many words come.
    let mut probe = Probe::in_state(LaneState::Started);
    probe.word(Some(ControlWord::Idle.encode()));
    assert_eq!(probe.words(Word::data(0), 2000), LaneState::Started);
    assert_eq!(probe.control(ControlWord::Init2), LaneState::Connecting);
    // One RXERR restarts the count, and the INIT no longer counts.
    let mut probe = Probe::in_state(LaneState::Started);
    probe.word(Some(ControlWord::Idle.encode()));
    probe.control(ControlWord::Init1);
    probe.words(Word::data(0), 1000);
    probe.word(Some(Word::RXERR));
    assert_eq!(probe.words(Word::data(0), 1100), LaneState::Started);
    assert_eq!(probe.control(ControlWord::Init1), LaneState::Connecting);
    // Exactly 1023 words, after the comma that synchronises and the one word of delay.
    let mut probe = Probe::in_state(LaneState::Started);
    assert_eq!(probe.words(ControlWord::Init1.encode(), 1 + 1023), LaneState::Started);
    assert_eq!(probe.words(ControlWord::Init1.encode(), 1), LaneState::Connecting);
    // With FarEndActive the lane goes on at once.
    let mut probe = Probe::in_state(LaneState::Started);
    probe.lane.set_far_end_active(true);
    assert_eq!(probe.silence(1), LaneState::Connecting);
}

#[test]
fn started_finds_a_swapped_pair() {
    for control in [ControlWord::Init1Inverted, ControlWord::Init2Inverted] {
        let mut probe = Probe::in_state(LaneState::Started);
        probe.word(Some(ControlWord::Idle.encode()));
        probe.control(control);
        probe.control(control);
        probe.word(Some(Word::RXERR));
        probe.control(control);
        assert_eq!(probe.control(control), LaneState::Started, "an RXERR between");
        assert_eq!(probe.control(control), LaneState::InvertRxPolarity);
        assert!(probe.lane.status().rx_polarity_inverted);
        let inverted = invert_word(ControlWord::Init1.encode());
        assert_eq!(probe.words(inverted, 1026), LaneState::Connecting);
        assert!(probe.lane.status().rx_polarity_inverted);
        probe.lane.reset();
        probe.silence(1);
        assert!(!probe.lane.status().rx_polarity_inverted);
    }
    assert_eq!(Probe::in_state(LaneState::InvertRxPolarity).silence(1), LaneState::ClearLine);
}

#[test]
fn connecting() {
    let mut probe = Probe::in_state(LaneState::Connecting);
    assert_eq!(probe.words(Word::data(0), 500), LaneState::Connecting);
    probe.control(ControlWord::Init2);
    probe.control(ControlWord::Init2);
    probe.word(Some(Word::RXERR));
    assert_eq!(probe.control(ControlWord::Init2), LaneState::Connecting);
    probe.control(ControlWord::Init2);
    assert_eq!(probe.control(ControlWord::Init2), LaneState::Connected);
    // Three identical INIT3, which still count in Connected.
    let mut probe = Probe::in_state(LaneState::Connecting);
    probe.control(ControlWord::Init3 { capability: 1 });
    probe.control(ControlWord::Init3 { capability: 0 });
    assert_eq!(probe.control(ControlWord::Init3 { capability: 0 }), LaneState::Connecting);
    assert_eq!(probe.control(ControlWord::Init3 { capability: 0 }), LaneState::Connected);
    assert_eq!(probe.lane.take_far_end_capability(), Some(0));
    assert_eq!(probe.lane.take_far_end_capability(), None);
    assert_eq!(probe.words(Word::data(0), 2), LaneState::Connected, "two INIT3 sent");
    assert_eq!(probe.words(Word::data(0), 1), LaneState::Active);
    assert_eq!(Probe::in_state(LaneState::Connecting).silence(1), LaneState::ClearLine);
    for rx_only in [false, true] {
        let mut probe = Probe::in_state(LaneState::Connecting);
        probe.lane.set_rx_only(rx_only);
        probe.lane.set_far_end_active(!rx_only);
        assert_eq!(probe.words(Word::data(0), 1), LaneState::Connected);
        // One INIT3 must be sent, unless the lane only receives.
        assert_eq!(probe.words(Word::data(0), 1), LaneState::Active);
    }
}

#[test]
fn connected() {
    let mut probe = Probe::in_state(LaneState::Connected);
    assert_eq!(probe.control(ControlWord::Init3 { capability: 5 }), LaneState::Connected);
    probe.control(ControlWord::Init3 { capability: 5 });
    assert_eq!(probe.control(ControlWord::Init3 { capability: 5 }), LaneState::Active);
    assert_eq!(probe.lane.status().far_end_capability, Some(5));
    assert_eq!(Probe::in_state(LaneState::Connected).silence(1), LaneState::ClearLine);
    let mut probe = Probe::in_state(LaneState::Connected);
    assert_eq!(probe.control(ControlWord::Idle), LaneState::ClearLine, "a comma of K28.7");
}

#[test]
fn capability_is_latched_in_connected() {
    let mut probe = Probe::in_state(LaneState::Connecting);
    probe.lane.set_capability(capability::LINK_RESET | capability::MULTI_LANE);
    for _ in 0..3 {
        probe.control(ControlWord::Init2);
    }
    probe.lane.set_capability(0);
    for _ in 0..50 {
        probe.word(Some(Word::data(0)));
        let Some(ControlWord::Init3 { capability }) = probe.sent.and_then(ControlWord::decode)
        else {
            panic!("{:?}", probe.sent);
        };
        assert_eq!(capability, 1 | 2 | 8);
    }
    assert_eq!(probe.lane.capability_sent(), 11);
}

#[test]
fn three_word_stop_rule() {
    let standby = ControlWord::Standby { reason: 0x5a }.encode();
    let lost = ControlWord::LostSignal { cause: 1 }.encode();
    let skip = ControlWord::Skip.encode();
    let from = [
        LaneState::Started,
        LaneState::InvertRxPolarity,
        LaneState::Connecting,
        LaneState::Active,
        LaneState::PrepareStandby,
        LaneState::LossOfSignal,
    ];
    for state in from {
        for word in [standby, lost] {
            let mut probe = Probe::in_state(state);
            let line =
                |word| if state == LaneState::InvertRxPolarity { invert_back(word) } else { word };
            if state == LaneState::Started || state == LaneState::InvertRxPolarity {
                probe.word(Some(line(ControlWord::Idle.encode())));
            }
            let other = if word == standby { lost } else { standby };
            for word in [word, word, other, word, word] {
                probe.word(Some(line(word)));
            }
            assert_eq!(probe.word(Some(line(skip))), state, "two in a row");
            probe.word(Some(line(word)));
            assert_eq!(probe.word(Some(line(Word::data(0)))), LaneState::ClearLine, "{state:?}");
            let status = *probe.lane.status();
            assert_eq!(status.far_end_standby, word == standby);
            assert_eq!(status.far_end_lost_signal, word == lost);
            assert_eq!(status.far_end_standby_reason, if word == standby { 0x5a } else { 0 });
            assert_eq!(status.far_end_lost_signal_cause, u8::from(word == lost));
        }
    }
}

/// The word that a swapped pair turns into `word`, if there is one.
fn invert_back(word: Word) -> Word {
    let back = invert_word(word);
    assert_eq!(invert_word(back), word);
    back
}

#[test]
fn initialisation_times_out() {
    let mut probe = Probe::in_state(LaneState::Started);
    assert_eq!(probe.silence(4999), LaneState::Started);
    assert!(!probe.lane.status().timeout);
    assert_eq!(probe.silence(1), LaneState::ClearLine);
    assert!(probe.lane.status().timeout);
    probe.lane.clear_status();
    assert!(!probe.lane.status().timeout);
    let mut probe = Probe::in_state(LaneState::InvertRxPolarity);
    assert_eq!(probe.words(Word::data(0), 4900), LaneState::InvertRxPolarity);
    assert_eq!(probe.words(Word::data(0), 100), LaneState::ClearLine);
    assert!(probe.lane.status().timeout);
    // Connecting and Connected share the timer that Started began.
    for (state, spent) in [(LaneState::Connecting, 1026), (LaneState::Connected, 1032)] {
        let mut probe = Probe::in_state(state);
        assert_eq!(probe.words(Word::data(0), 5000 - spent - 1), state);
        assert_eq!(probe.words(Word::data(0), 1), LaneState::ClearLine);
        assert!(probe.lane.status().timeout);
    }
}

#[test]
fn bring_up_time() {
    for (init3_filler_words, expected) in [(64, 1023 + 3 * 65 + 3 * 65), (0, 1023 + 3 * 65 + 3)] {
        let config = LaneConfig { init3_filler_words, ..config() };
        let mut pair = Pair::new(starting(config), starting(config));
        let took = pair.until([LaneState::Active; 2]) - CLEAR_LINE;
        // The first INIT2 and the first INIT3 are sent at once, without 64 words before them.
        assert!((expected - 2 * 65..=expected + 20).contains(&took), "{took} against {expected}");
    }
}

#[test]
fn auto_start_follows_the_far_end() {
    let mut pair = Pair::new(starting(config()), Lane::new(config()));
    pair.run(CLEAR_LINE + 1);
    assert_eq!(pair.states(), [LaneState::Wait; 2]);
    pair.until([LaneState::Active; 2]);
    let mut pair = Pair::new(Lane::new(config()), Lane::new(config()));
    pair.run(20_000);
    assert_eq!(pair.states(), [LaneState::Wait; 2]);
}

#[test]
fn swapped_pairs() {
    for (to_b, to_a) in [(true, false), (false, true), (true, true)] {
        let mut pair = Pair::new(starting(config()), starting(config()));
        pair.wires[0].inverted = to_b;
        pair.wires[1].inverted = to_a;
        pair.until([LaneState::Active; 2]);
        assert_eq!(pair.lanes[0].status().rx_polarity_inverted, to_a);
        assert_eq!(pair.lanes[1].status().rx_polarity_inverted, to_b);
    }
}

#[test]
fn cable_pulled_is_cause_0() {
    let mut pair = Pair::active();
    pair.wires[0].cut = true;
    pair.step();
    assert_eq!(pair.lanes[1].state(), LaneState::LossOfSignal);
    assert_eq!(pair.lanes[1].status().lost_signal_cause, Some(LostSignalCause::NoSignal));
    assert_eq!(pair.up[1], [Word::RXERR], "one RXERR as Active is left");
    let mut burst = 0;
    while pair.lanes[1].state() == LaneState::LossOfSignal {
        pair.step();
        let lost = ControlWord::LostSignal { cause: 0 };
        burst += u32::from(pair.sent[1].and_then(ControlWord::decode) == Some(lost));
    }
    assert_eq!(burst, 32);
    pair.run(10);
    assert!(pair.lanes[0].status().far_end_lost_signal);
    assert_eq!(pair.lanes[0].status().far_end_lost_signal_cause, 0);
    assert!(pair.up[0].contains(&Word::RXERR));
    pair.wires[0].cut = false;
    pair.until([LaneState::Active; 2]);
}

#[test]
fn rxerr_overflow_is_cause_1() {
    let mut pair = Pair::active();
    for count in 1..255 {
        pair.wires[0].words[0] = Some(Word::RXERR);
        // The word before becomes an RXERR as well: let another one pass first.
        pair.step();
        pair.run(4);
        assert!(u32::from(pair.lanes[1].status().rxerr_count) <= 2 * count);
        if pair.lanes[1].state() != LaneState::Active {
            break;
        }
    }
    assert_eq!(pair.lanes[1].status().lost_signal_cause, Some(LostSignalCause::RxerrOverflow));
    assert!(pair.lanes[1].status().rxerr_overflow);
    assert_eq!(pair.lanes[1].status().rxerr_count, 255, "kept until Connected");
    pair.run(60);
    assert_eq!(pair.lanes[0].status().far_end_lost_signal_cause, 1);
    pair.until([LaneState::Active; 2]);
    assert_eq!(pair.lanes[1].status().rxerr_count, 0);
}

#[test]
fn rxerr_counter_leaks() {
    let mut probe = Probe::in_state(LaneState::Active);
    // Single RXERRs: several in a row would lose synchronisation.
    let error = |probe: &mut Probe| {
        probe.word(Some(Word::RXERR));
        probe.words(Word::data(0), 3)
    };
    for _ in 0..254 {
        assert_eq!(error(&mut probe), LaneState::Active);
    }
    assert_eq!(probe.lane.status().rxerr_count, 254);
    probe.words(Word::data(0), 16384);
    assert_eq!(probe.lane.status().rxerr_count, 253);
    probe.words(Word::data(0), 16384);
    assert_eq!(probe.lane.status().rxerr_count, 252);
    assert_eq!(error(&mut probe), LaneState::Active);
    error(&mut probe);
    assert_eq!(error(&mut probe), LaneState::LossOfSignal);
}

#[test]
fn far_end_restart_is_cause_2() {
    let mut pair = Pair::active();
    // The far end was reset, and its silence was not noticed.
    let mut probe = Probe::in_state(LaneState::Active);
    assert_eq!(probe.control(ControlWord::Init1), LaneState::LossOfSignal);
    assert_eq!(probe.lane.status().lost_signal_cause, Some(LostSignalCause::Init1Received));
    assert_eq!(probe.up, [Word::data(0), Word::RXERR]);
    let mut probe = Probe::in_state(LaneState::Active);
    probe.lane.set_rx_only(true);
    assert_eq!(probe.control(ControlWord::Init1), LaneState::Active);
    pair.lanes[1].reset();
    pair.run(10);
    assert_eq!(pair.lanes[0].state(), LaneState::LossOfSignal);
    pair.until([LaneState::Active; 2]);
}

#[test]
fn standby() {
    let mut pair = Pair::active();
    pair.lanes[0].parameters.lane_start = false;
    pair.lanes[0].parameters.auto_start = false;
    pair.lanes[0].parameters.standby_reason = 7;
    let mut burst = 0;
    pair.step();
    while pair.lanes[0].state() == LaneState::PrepareStandby {
        pair.step();
        let standby = ControlWord::Standby { reason: 7 };
        burst += u32::from(pair.sent[0].and_then(ControlWord::decode) == Some(standby));
    }
    assert!((3..=32).contains(&burst));
    pair.run(10);
    assert!(pair.lanes[1].status().far_end_standby);
    assert_eq!(pair.lanes[1].status().far_end_standby_reason, 7);
    pair.run(1000);
    assert_eq!(pair.lanes[0].state(), LaneState::Disabled);
    // Without an answer, the burst has 32 words.
    let mut probe = Probe::in_state(LaneState::PrepareStandby);
    assert_eq!(probe.words(Word::data(0), 31), LaneState::PrepareStandby);
    assert_eq!(probe.words(Word::data(0), 1), LaneState::ClearLine);
}

#[test]
fn receive_filter_in_active() {
    let mut probe = Probe::in_state(LaneState::Active);
    for control in [
        ControlWord::Skip,
        ControlWord::Idle,
        ControlWord::Init2,
        ControlWord::Init3 { capability: 1 },
        ControlWord::Init1Inverted,
        ControlWord::Init2Inverted,
    ] {
        probe.words(Word::data(9), 1);
        probe.up.clear();
        probe.word(Some(control.encode()));
        probe.word(Some(Word::data(1)));
        probe.word(Some(Word::data(2)));
        assert_eq!(probe.up, [Word::data(9), Word::data(1)], "{control:?}");
    }
    for control in [ControlWord::Standby { reason: 0 }, ControlWord::LostSignal { cause: 0 }] {
        probe.up.clear();
        probe.control(control);
        assert_eq!(probe.up[1], Word::RXERR);
    }
    // Words of other layers pass, including unknown control words.
    for word in [Word::control(0x0000_00fc), ControlWord::Pad.encode(), ControlWord::Retry.encode()]
    {
        probe.up.clear();
        probe.word(Some(word));
        probe.word(Some(Word::data(0)));
        assert_eq!(probe.up[1], word);
    }
    // Outside Active nothing passes.
    for state in ALL.into_iter().filter(|state| *state != LaneState::Active) {
        let mut probe = Probe::in_state(state);
        probe.up.clear();
        probe.words(Word::data(3), 3);
        assert!(probe.up.is_empty(), "{state:?}");
    }
}

#[test]
fn skip_every_5000_words_and_idle_between() {
    let mut lane = Probe::in_state(LaneState::Active).lane;
    let (mut since, mut skips) = (None, 0);
    for period in 0..30_000u32 {
        let offered = (period % 3 == 0).then_some(Word::data(period));
        let takes = lane.takes();
        let (sent, taken) = lane.transmit(offered);
        if sent == Some(ControlWord::Skip.encode()) {
            assert!(!taken && !takes);
            assert_eq!(period - since.unwrap_or(period), if since.is_some() { 5000 } else { 0 });
            since = Some(period);
            skips += 1;
        } else {
            assert_eq!(sent, Some(offered.unwrap_or(ControlWord::Idle.encode())));
            assert_eq!(taken, offered.is_some());
            assert!(takes);
        }
        lane.receive(Some(Word::data(0)));
    }
    assert!((5..=6).contains(&skips));
}

#[test]
fn words_pass_in_order() {
    let mut pair = Pair::active();
    pair.up[1].clear();
    let mut next = 0;
    for _ in 0..12_000 {
        pair.offered[0] = Some(Word::data(next));
        next += u32::from(pair.lanes[0].takes());
        pair.step();
    }
    let words: Vec<Word> = (0..pair.up[1].len() as u32).map(Word::data).collect();
    assert!(words.len() > 11_900);
    assert_eq!(pair.up[1], words);
}

#[test]
fn near_end_loopback_needs_no_line() {
    let mut probe = Probe::new(config());
    probe.lane.parameters.near_end_parallel_loopback = true;
    assert_eq!(probe.silence(2000), LaneState::Active);
    probe.up.clear();
    for value in 0..10 {
        assert!(probe.lane.transmit(Some(Word::data(value))).1);
        probe.up.extend(probe.lane.receive(None));
    }
    let words: Vec<Word> = (0..9).map(Word::data).collect();
    assert_eq!(probe.up, words);
}

#[test]
fn far_end_loopback_sends_what_comes() {
    let mut probe = Probe::in_state(LaneState::Active);
    probe.lane.parameters.far_end_parallel_loopback = true;
    for value in 0..10 {
        let (sent, taken) = probe.lane.transmit(Some(Word::data(99)));
        assert!(!taken);
        assert_eq!(sent, Some(Word::data(if value == 0 { 0 } else { value - 1 })));
        probe.lane.receive(Some(Word::data(value)));
    }
}

#[test]
fn lanes_of_one_direction() {
    // A lane that only sends comes up on FarEndActive alone, and has no signal to lose.
    let mut probe = Probe::new(config());
    probe.lane.parameters.rx_en = false;
    assert_eq!(probe.silence(1000), LaneState::Started);
    probe.lane.set_far_end_active(true);
    assert_eq!(probe.silence(3), LaneState::Active);
    assert_eq!(probe.silence(5000), LaneState::Active);
    assert!(probe.sent.is_some() && probe.up.is_empty());
    // A lane that only receives never drives the line.
    let mut probe = Probe::new(config());
    probe.lane.parameters.tx_en = false;
    probe.lane.set_rx_only(true);
    let mut states = vec![];
    for _ in 0..2000 {
        states.push(probe.word(Some(ControlWord::Init1.encode())));
        assert_eq!(probe.sent, None);
    }
    states.dedup();
    assert_eq!(states[1..].last(), Some(&LaneState::Active));
    assert!(states.contains(&LaneState::Connected));
}
