//! Lanes back to back, and each row of the state table (50-11C 5.5).

use std::collections::VecDeque;

use proptest::prelude::*;
use spfe_link::code::invert_word;
use spfe_link::control::ControlWord;
use spfe_link::lane::{
    ElasticBuffer, Lane, LaneCoder, LaneConfig, LaneState, LostSignalCause, SyncState, WordSync,
    capability,
};
use spfe_link::word::Word;

const CLEAR_LINE: u32 = 313;

fn config() -> LaneConfig {
    LaneConfig::new()
}

fn starting(config: LaneConfig) -> Lane {
    let mut lane = Lane::new(config);
    lane.parameters.lane_start = true;
    lane
}

/// One direction of a cable.
struct Wire {
    words: VecDeque<Option<Word>>,
    cut: bool,
    inverted: bool,
}

impl Wire {
    fn new(delay: usize) -> Self {
        Self { words: vec![None; delay].into(), cut: false, inverted: false }
    }

    fn pass(&mut self, word: Option<Word>) -> Option<Word> {
        self.words.push_back(word);
        let word = self.words.pop_front().unwrap().filter(|_| !self.cut)?;
        Some(if self.inverted { invert_word(word) } else { word })
    }
}

/// Two lanes and their cable.
struct Pair {
    lanes: [Lane; 2],
    wires: [Wire; 2],
    offered: [Option<Word>; 2],
    /// What each end last sent, and last passed to its upper layer.
    sent: [Option<Word>; 2],
    up: [Vec<Word>; 2],
    periods: u32,
}

impl Pair {
    fn new(a: Lane, b: Lane) -> Self {
        Self {
            lanes: [a, b],
            wires: [Wire::new(5), Wire::new(5)],
            offered: [None; 2],
            sent: [None; 2],
            up: [vec![], vec![]],
            periods: 0,
        }
    }

    fn step(&mut self) {
        for end in 0..2 {
            self.sent[end] = self.lanes[end].transmit(self.offered[end]).0;
        }
        for end in 0..2 {
            let line = self.wires[end ^ 1].pass(self.sent[end ^ 1]);
            self.up[end].extend(self.lanes[end].receive(line));
        }
        self.periods += 1;
    }

    fn run(&mut self, periods: u32) {
        for _ in 0..periods {
            self.step();
        }
    }

    fn states(&self) -> [LaneState; 2] {
        [self.lanes[0].state(), self.lanes[1].state()]
    }

    /// Runs until both are in these states.
    fn until(&mut self, states: [LaneState; 2]) -> u32 {
        let start = self.periods;
        while self.states() != states {
            assert!(self.periods - start < 20_000, "{:?}", self.states());
            self.step();
        }
        self.periods - start
    }

    fn active() -> Self {
        let mut pair = Self::new(starting(config()), starting(config()));
        pair.until([LaneState::Active; 2]);
        pair.run(20);
        pair.up = [vec![], vec![]];
        pair
    }
}

/// A single lane that is fed word by word.
struct Probe {
    lane: Lane,
    sent: Option<Word>,
    up: Vec<Word>,
}

impl Probe {
    fn new(config: LaneConfig) -> Self {
        Self {
            lane: starting(LaneConfig { rxerr_preceding: false, ..config }),
            sent: None,
            up: vec![],
        }
    }

    fn word(&mut self, line: Option<Word>) -> LaneState {
        self.sent = self.lane.transmit(None).0;
        self.up.extend(self.lane.receive(line));
        self.lane.state()
    }

    fn words(&mut self, word: Word, count: u32) -> LaneState {
        for _ in 0..count {
            self.word(Some(word));
        }
        self.lane.state()
    }

    fn silence(&mut self, count: u32) -> LaneState {
        for _ in 0..count {
            self.word(None);
        }
        self.lane.state()
    }

    /// Receives a control word, and a data word that pushes it through the receiver.
    fn control(&mut self, control: ControlWord) -> LaneState {
        self.word(Some(control.encode()));
        self.word(Some(Word::data(0)))
    }

    /// A lane brought to a state by the shortest path.
    fn in_state(state: LaneState) -> Self {
        let mut probe = Self::new(config());
        if state == LaneState::ClearLine {
            return probe;
        }
        assert_eq!(probe.silence(CLEAR_LINE), LaneState::Disabled);
        if state == LaneState::Disabled {
            return probe;
        }
        assert_eq!(probe.silence(1), LaneState::Wait);
        if state == LaneState::Wait {
            return probe;
        }
        assert_eq!(probe.silence(1), LaneState::Started);
        if state == LaneState::Started {
            return probe;
        }
        if state == LaneState::InvertRxPolarity {
            probe.word(Some(ControlWord::Idle.encode()));
            for _ in 0..3 {
                probe.control(ControlWord::Init1Inverted);
            }
            assert_eq!(probe.lane.state(), LaneState::InvertRxPolarity);
            return probe;
        }
        probe.words(ControlWord::Init1.encode(), 1026);
        assert_eq!(probe.lane.state(), LaneState::Connecting);
        if state == LaneState::Connecting {
            return probe;
        }
        for _ in 0..3 {
            probe.control(ControlWord::Init2);
        }
        assert_eq!(probe.lane.state(), LaneState::Connected);
        if state == LaneState::Connected {
            return probe;
        }
        for _ in 0..3 {
            probe.control(ControlWord::Init3 { capability: 4 });
        }
        assert_eq!(probe.lane.state(), LaneState::Active);
        probe.words(Word::data(0), 2);
        probe.up.clear();
        match state {
            LaneState::PrepareStandby => {
                probe.lane.parameters.lane_start = false;
                probe.lane.parameters.auto_start = false;
                probe.words(Word::data(0), 1);
            }
            LaneState::LossOfSignal => {
                probe.silence(1);
            }
            _ => {}
        }
        assert_eq!(probe.lane.state(), state);
        probe
    }
}

const ALL: [LaneState; 10] = [
    LaneState::ClearLine,
    LaneState::Disabled,
    LaneState::Wait,
    LaneState::Started,
    LaneState::InvertRxPolarity,
    LaneState::Connecting,
    LaneState::Connected,
    LaneState::Active,
    LaneState::PrepareStandby,
    LaneState::LossOfSignal,
];

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
