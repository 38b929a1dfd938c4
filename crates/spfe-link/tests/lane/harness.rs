//! Two lanes back to back, and one that is fed word by word.

use std::collections::VecDeque;

use spfe_link::code::invert_word;
use spfe_link::control::ControlWord;
use spfe_link::lane::{Lane, LaneConfig, LaneState};
use spfe_link::word::Word;

pub const CLEAR_LINE: u32 = 313;

pub fn config() -> LaneConfig {
    LaneConfig::new()
}

pub fn starting(config: LaneConfig) -> Lane {
    let mut lane = Lane::new(config);
    lane.parameters.lane_start = true;
    lane
}

/// One direction of a cable.
pub struct Wire {
    pub words: VecDeque<Option<Word>>,
    pub cut: bool,
    pub inverted: bool,
}

impl Wire {
    pub fn new(delay: usize) -> Self {
        Self { words: vec![None; delay].into(), cut: false, inverted: false }
    }

    pub fn pass(&mut self, word: Option<Word>) -> Option<Word> {
        self.words.push_back(word);
        let word = self.words.pop_front().unwrap().filter(|_| !self.cut)?;
        Some(if self.inverted { invert_word(word) } else { word })
    }
}

/// Two lanes and their cable.
pub struct Pair {
    pub lanes: [Lane; 2],
    pub wires: [Wire; 2],
    pub offered: [Option<Word>; 2],
    /// What each end last sent, and last passed to its upper layer.
    pub sent: [Option<Word>; 2],
    pub up: [Vec<Word>; 2],
    pub periods: u32,
}

impl Pair {
    pub fn new(a: Lane, b: Lane) -> Self {
        Self {
            lanes: [a, b],
            wires: [Wire::new(5), Wire::new(5)],
            offered: [None; 2],
            sent: [None; 2],
            up: [vec![], vec![]],
            periods: 0,
        }
    }

    pub fn step(&mut self) {
        for end in 0..2 {
            self.sent[end] = self.lanes[end].transmit(self.offered[end]).0;
        }
        for end in 0..2 {
            let line = self.wires[end ^ 1].pass(self.sent[end ^ 1]);
            self.up[end].extend(self.lanes[end].receive(line));
        }
        self.periods += 1;
    }

    pub fn run(&mut self, periods: u32) {
        for _ in 0..periods {
            self.step();
        }
    }

    pub fn states(&self) -> [LaneState; 2] {
        [self.lanes[0].state(), self.lanes[1].state()]
    }

    /// Runs until both are in these states.
    pub fn until(&mut self, states: [LaneState; 2]) -> u32 {
        let start = self.periods;
        while self.states() != states {
            assert!(self.periods - start < 20_000, "{:?}", self.states());
            self.step();
        }
        self.periods - start
    }

    pub fn active() -> Self {
        let mut pair = Self::new(starting(config()), starting(config()));
        pair.until([LaneState::Active; 2]);
        pair.run(20);
        pair.up = [vec![], vec![]];
        pair
    }
}

/// A single lane that is fed word by word.
pub struct Probe {
    pub lane: Lane,
    pub sent: Option<Word>,
    pub up: Vec<Word>,
}

impl Probe {
    pub fn new(config: LaneConfig) -> Self {
        Self {
            lane: starting(LaneConfig { rxerr_preceding: false, ..config }),
            sent: None,
            up: vec![],
        }
    }

    pub fn word(&mut self, line: Option<Word>) -> LaneState {
        self.sent = self.lane.transmit(None).0;
        self.up.extend(self.lane.receive(line));
        self.lane.state()
    }

    pub fn words(&mut self, word: Word, count: u32) -> LaneState {
        for _ in 0..count {
            self.word(Some(word));
        }
        self.lane.state()
    }

    pub fn silence(&mut self, count: u32) -> LaneState {
        for _ in 0..count {
            self.word(None);
        }
        self.lane.state()
    }

    /// Receives a control word, and a data word that pushes it through the receiver.
    pub fn control(&mut self, control: ControlWord) -> LaneState {
        self.word(Some(control.encode()));
        self.word(Some(Word::data(0)))
    }

    /// A lane brought to a state by the shortest path.
    pub fn in_state(state: LaneState) -> Self {
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

pub const ALL: [LaneState; 10] = [
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
