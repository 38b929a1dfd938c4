//! Two ends, the cable between them, and a source and a sink of frames above each.

use std::collections::VecDeque;

use spfe_link::control::ControlWord;
use spfe_link::lane::LaneState;
use spfe_link::multilane::{Alignment, MultiLane, MultiLaneConfig};
use spfe_link::row::{ReceivedRow, Row};
use spfe_link::word::Word;

/// A frame whose number is in the channel and sequence number, and whose words count up.
pub fn frame(number: u32, words: u32) -> Vec<Word> {
    (0..words).map(|word| Word::data(number << 16 | word)).collect()
}

/// The layer above an end: sends data and idle frames, and receives frames.
pub struct Upper<const L: usize> {
    pub lengths: Vec<u32>,
    pub number: u32,
    queue: VecDeque<Word>,
    phase: u32,
    pub idle_rows: u32,
    pub received: Vec<Vec<Word>>,
    current: Option<Vec<Word>>,
    pub rxerr: u32,
    pub bad_crc: u32,
    pub control: Vec<Word>,
}

impl<const L: usize> Upper<L> {
    fn new(lengths: &[u32]) -> Self {
        Self {
            lengths: lengths.to_vec(),
            number: 0,
            queue: VecDeque::new(),
            phase: 0,
            idle_rows: 3,
            received: vec![],
            current: None,
            rxerr: 0,
            bad_crc: 0,
            control: vec![],
        }
    }

    /// The next row, with `wants` data words.
    fn row(&mut self, wants: usize) -> Row<L> {
        match self.phase {
            0 if !self.lengths.is_empty() => {
                let length = self.lengths[self.number as usize % self.lengths.len()];
                self.queue = frame(self.number, length).into();
                self.phase = 1;
                Row::Control(ControlWord::Sdf { vc: (self.number % 32) as u8 }.encode())
            }
            1 if !self.queue.is_empty() => {
                let count = self.queue.len().min(wants);
                let mut words = [Word::default(); L];
                for word in &mut words[..count] {
                    *word = self.queue.pop_front().unwrap();
                }
                Row::Data { words, count: count as u8 }
            }
            1 => {
                self.phase = 2;
                let seq = self.number as u8;
                self.number += 1;
                Row::Control(ControlWord::Edf { seq, crc: 0 }.encode())
            }
            phase if phase < 2 + self.idle_rows => {
                self.phase = phase + 1;
                let sif = ControlWord::Sif { seq: 0, crc: 0 }.sealed();
                Row::Control(if phase == 2 { sif } else { Word::data(0xaaaa_0000 | phase) })
            }
            _ => {
                self.phase = 0;
                Row::Control(ControlWord::Sif { seq: 0, crc: 0 }.sealed())
            }
        }
    }

    fn take(&mut self, row: ReceivedRow<L>) {
        match row {
            ReceivedRow::RxErr => {
                self.rxerr += 1;
                self.current = None;
            }
            ReceivedRow::Data { words, count } => {
                if let Some(current) = &mut self.current {
                    current.extend(&words[..usize::from(count)]);
                }
            }
            ReceivedRow::Control { word, crc16_good } => match ControlWord::decode(word) {
                Some(ControlWord::Sdf { .. }) => self.current = Some(vec![]),
                Some(ControlWord::Edf { .. }) => {
                    self.bad_crc += u32::from(!crc16_good);
                    self.received.extend(self.current.take().filter(|_| crc16_good));
                }
                _ => self.control.push(word),
            },
        }
    }

    /// Numbers of the received frames. Fails if one was never sent.
    pub fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![];
        for words in &self.received {
            let number = words[0].bits >> 16;
            let length = self.lengths[number as usize % self.lengths.len()];
            assert_eq!(*words, frame(number, length));
            numbers.push(number);
        }
        numbers
    }
}

pub struct Bench<const L: usize> {
    pub ends: [MultiLane<L>; 2],
    pub uppers: [Upper<L>; 2],
    /// `wires[end][lane]`: the wire from an end to the other.
    wires: [Vec<VecDeque<Option<Word>>>; 2],
    pub cut: [u16; 2],
    pub sent: [[Option<Word>; L]; 2],
}

impl<const L: usize> Bench<L> {
    pub fn new(config: &MultiLaneConfig, skew: &[usize], lengths: &[u32]) -> Self {
        let end = || {
            let mut end = MultiLane::<L>::new(config);
            for lane in end.lanes_mut() {
                lane.parameters.lane_start = true;
            }
            end
        };
        let delay = |lane: usize| vec![None; 4 + skew.get(lane).unwrap_or(&0)].into();
        let wires = || (0..L).map(delay).collect();
        Self {
            ends: [end(), end()],
            uppers: [Upper::new(lengths), Upper::new(lengths)],
            wires: [wires(), wires()],
            cut: [0; 2],
            sent: [[None; L]; 2],
        }
    }

    pub fn step(&mut self) {
        for end in 0..2 {
            let wants = self.ends[end].wants();
            assert!(wants == 0 || wants == self.ends[end].width());
            let row = (wants > 0).then(|| self.uppers[end].row(usize::from(wants)));
            let (sent, taken) = self.ends[end].transmit(row.as_ref());
            assert_eq!(taken, row.is_some());
            self.sent[end] = sent;
        }
        for end in 0..2 {
            let mut lines = [None; L];
            for (lane, line) in lines.iter_mut().enumerate() {
                let wire = &mut self.wires[end ^ 1][lane];
                wire.push_back(self.sent[end ^ 1][lane]);
                *line = wire.pop_front().unwrap();
                if self.cut[end ^ 1] >> lane & 1 != 0 {
                    *line = None;
                }
            }
            if let Some(row) = self.ends[end].receive(lines) {
                self.uppers[end].take(row);
            }
        }
    }

    pub fn run(&mut self, periods: u32) {
        for _ in 0..periods {
            self.step();
        }
    }

    pub fn alignments(&self) -> [Alignment; 2] {
        [self.ends[0].status().alignment, self.ends[1].status().alignment]
    }

    pub fn until(&mut self, what: &str, mut ready: impl FnMut(&Self) -> bool) -> u32 {
        for period in 0..30_000 {
            if ready(self) {
                return period;
            }
            self.step();
        }
        let states: Vec<[LaneState; 2]> = (0..L)
            .map(|lane| [0, 1].map(|end: usize| self.ends[end].lanes()[lane].state()))
            .collect();
        panic!("{what}: {:?} {:?} {states:?}", self.ends[0].status(), self.ends[1].status());
    }

    pub fn until_aligned(&mut self) -> u32 {
        self.until("both ends ready", |bench| bench.alignments() == [Alignment::BothEndsReady; 2])
    }

    /// Replaces a word on its way.
    pub fn damage(&mut self, end: usize, lane: usize, word: Word) {
        let last = self.wires[end][lane].len() - 1;
        self.wires[end][lane][last] = Some(word);
    }

    pub fn forget(&mut self) {
        for upper in &mut self.uppers {
            upper.received.clear();
            upper.rxerr = 0;
            upper.bad_crc = 0;
            upper.control.clear();
        }
    }
}
