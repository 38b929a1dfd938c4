//! Two data links joined row to row: columns with CRC-16, a line with a delay, faults, and
//! invariants that hold in every test.

use spfe_link::control::ControlWord;
use spfe_link::crc::Crc16;
use spfe_link::datalink::{
    Buffers, DataLink, DataLinkConfig, DataLinkParameters, EEP, LinkResetState, SEGMENT_WORDS,
    capability,
};
use spfe_link::word::Word;
use spfe_link::{ReceivedRow, Row, qos};
use std::collections::VecDeque;

pub const PAD: Word = Word { bits: 0xfbfb_fbfc, k: 0xf };

pub type Wire<const L: usize> = Option<[Word; L]>;
/// Changes a row that arrives: direction (0: from end 0), number of the row, and the row.
pub type Fault<const L: usize> = Box<dyn FnMut(usize, u64, &mut Wire<L>)>;

#[derive(Clone, Copy)]
pub struct Sizes {
    pub output: usize,
    pub input: usize,
    pub recovery: usize,
}

pub fn sizes(lanes: usize) -> Sizes {
    let segment = (SEGMENT_WORDS * lanes).next_power_of_two();
    Sizes { output: 4 * segment, input: 8 * segment, recovery: 16 * segment }
}

/// Columns of one direction, with a CRC-16 for each lane.
struct Column<const L: usize> {
    crc: [Crc16; L],
    in_data: bool,
    in_broadcast: bool,
}

impl<const L: usize> Column<L> {
    fn new() -> Self {
        Self { crc: [Crc16::new(); L], in_data: false, in_broadcast: false }
    }

    fn send(&mut self, row: Row<L>) -> [Word; L] {
        match row {
            Row::Control(word) => {
                if let Some(ControlWord::Sdf { .. }) = ControlWord::decode(word) {
                    self.crc = [Crc16::new().word(word); L];
                }
                let mut words = [word; L];
                if let Some(ControlWord::Edf { seq, .. }) = ControlWord::decode(word) {
                    for (word, crc) in words.iter_mut().zip(self.crc) {
                        *word = spfe_link::control::edf(crc, seq);
                    }
                }
                words
            }
            Row::Data { words, count } => {
                let mut out = [PAD; L];
                for lane in 0..usize::from(count) {
                    out[lane] = words[lane];
                    self.crc[lane] = self.crc[lane].word(words[lane]);
                }
                out
            }
        }
    }

    fn receive(&mut self, words: [Word; L]) -> ReceivedRow<L> {
        if words.contains(&Word::RXERR) {
            (self.in_data, self.in_broadcast) = (false, false);
            return ReceivedRow::RxErr;
        }
        let word = words[0];
        let mut crc16_good = true;
        match ControlWord::decode(word) {
            Some(ControlWord::Sdf { .. }) => {
                self.in_data = true;
                self.in_broadcast = false;
                for (crc, word) in self.crc.iter_mut().zip(words) {
                    *crc = Crc16::new().word(word);
                }
            }
            Some(ControlWord::Edf { .. }) => {
                self.in_data = false;
                crc16_good = (0..L).all(|lane| self.crc[lane].word(words[lane]).value() == 0);
            }
            Some(ControlWord::Sbf { .. }) => self.in_broadcast = true,
            Some(ControlWord::Ebf { .. }) => self.in_broadcast = false,
            Some(ControlWord::Sif { .. } | ControlWord::Retry) => {
                (self.in_data, self.in_broadcast) = (false, false);
            }
            None if word.is_n_chars() && self.in_data && !self.in_broadcast => {
                let count = words.iter().position(|w| *w == PAD).unwrap_or(L);
                for (crc, word) in self.crc.iter_mut().zip(words).take(count) {
                    *crc = crc.word(word);
                }
                return ReceivedRow::Data { words, count: count as u8 };
            }
            _ => {}
        }
        ReceivedRow::Control { word, crc16_good }
    }
}

/// Checks the rules that every sender of the data link layer has to keep.
pub struct Monitor {
    limit: usize,
    count: u8,
    negative: bool,
    retry: bool,
    rows: u64,
    last_ack: Option<u64>,
    broadcast: Option<u32>,
    frame: Option<usize>,
    idle: Option<usize>,
    acknowledged: u8,
}

impl Monitor {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            count: 0,
            negative: false,
            retry: false,
            rows: 0,
            last_ack: None,
            broadcast: None,
            frame: None,
            idle: None,
            acknowledged: 0,
        }
    }

    fn numbered(&mut self, seq: u8) {
        let negative = seq >> 7 != 0;
        if self.retry {
            assert_ne!(negative, self.negative, "RETRY changes the polarity");
            self.acknowledged = seq.wrapping_sub(1) & 0x7f;
        } else {
            assert_eq!(negative, self.negative, "polarity changes only after RETRY");
            assert_eq!(seq & 0x7f, (self.count + 1) & 0x7f, "numbers are consecutive");
        }
        self.retry = false;
        (self.count, self.negative) = (seq & 0x7f, negative);
        assert!(self.outstanding() <= 127);
    }

    fn current(&mut self, seq: u8) {
        if self.retry {
            assert_ne!(seq >> 7 != 0, self.negative);
            self.negative = !self.negative;
            self.retry = false;
            self.count = seq & 0x7f;
            self.acknowledged = self.count;
        }
        assert_eq!(seq & 0x7f, self.count, "SIF and FULL have the number of the last item");
        assert_eq!(seq >> 7 != 0, self.negative);
    }

    /// Sequence number of the last item sent.
    pub fn last(&self) -> u8 {
        self.count | u8::from(self.negative) << 7
    }

    fn outstanding(&self) -> u8 {
        self.count.wrapping_sub(self.acknowledged) & 0x7f
    }

    fn data(&mut self, count: usize) {
        if let Some(words) = &mut self.broadcast {
            *words += 1;
            assert!(*words <= 2, "two words in a broadcast frame");
        } else if let Some(words) = &mut self.frame {
            *words += count;
            assert!(*words <= self.limit, "words of a data frame");
        } else if let Some(words) = &mut self.idle {
            *words += 1;
            assert!(*words <= 64, "words of an idle frame");
        } else {
            panic!("a data word outside a frame");
        }
    }

    pub fn row<const L: usize>(&mut self, row: &Row<L>) {
        self.rows += 1;
        let word = match row {
            Row::Data { words, count } => {
                assert!(self.frame.is_some() && self.broadcast.is_none());
                assert!(words[..usize::from(*count)].iter().all(|word| word.is_n_chars()));
                return self.data(usize::from(*count));
            }
            Row::Control(word) if word.k == 0 => {
                assert!(self.frame.is_none() || self.broadcast.is_some());
                return self.data(1);
            }
            Row::Control(word) => *word,
        };
        assert_eq!(word.k, 1);
        let control = ControlWord::decode(word).expect("a control word");
        assert!(control.crc8_is_good());
        if let Some(words) = self.broadcast {
            let end = matches!(control, ControlWord::Ebf { .. }) && words == 2;
            assert!(end || control == ControlWord::Retry, "{control:?} in a broadcast frame");
        }
        match control {
            ControlWord::Sdf { .. } => {
                assert!(self.frame.is_none());
                (self.frame, self.idle) = (Some(0), None);
            }
            ControlWord::Edf { seq, .. } => {
                assert!(self.frame.take().is_some_and(|words| words != 0));
                self.numbered(seq);
            }
            ControlWord::Sbf { .. } => (self.broadcast, self.idle) = (Some(0), None),
            ControlWord::Ebf { seq, .. } => {
                self.broadcast = None;
                self.numbered(seq);
            }
            ControlWord::Fct { seq, .. } => self.numbered(seq),
            ControlWord::Sif { seq, .. } => {
                assert!(self.frame.is_none());
                self.idle = Some(0);
                self.current(seq);
            }
            ControlWord::Full { seq, .. } => self.current(seq),
            ControlWord::Ack { .. } => {
                let gap = self.last_ack.map_or(u64::MAX, |last| self.rows - last - 1);
                assert!(gap >= 15, "{gap} words between ACKs");
                self.last_ack = Some(self.rows);
            }
            ControlWord::Nack { .. } => {}
            ControlWord::Retry => {
                (self.broadcast, self.frame, self.idle) = (None, None, None);
                if self.retry {
                    // Two RETRYs without a numbered word between them: the polarity has changed
                    // twice.
                    self.negative = !self.negative;
                }
                self.retry = true;
            }
            other => panic!("{other:?} is not a word of this layer"),
        }
    }

    /// An ACK arrives undamaged.
    pub fn arrived(&mut self, word: Word) {
        if let Some(ControlWord::Ack { seq, .. }) = ControlWord::decode(word)
            && ControlWord::decode(word).unwrap().crc8_is_good()
            && (seq >> 7 != 0) == self.negative
            && !self.retry
        {
            self.acknowledged = seq & 0x7f;
        }
    }
}

pub struct End<const L: usize, const V: usize> {
    pub dl: DataLink<Vec<Word>, L, V>,
    tx: Column<L>,
    rx: Column<L>,
    pub monitor: Monitor,
    /// Words written here that the far end's user has not read yet.
    pub expected: [VecDeque<Word>; V],
    pub words_read: u64,
    /// Rows sent, if the test records them.
    pub log: Option<Vec<Row<L>>>,
    /// Number of rows sent on the line.
    pub rows: u64,
}

pub struct Link<const L: usize, const V: usize> {
    pub ends: [End<L, V>; 2],
    wires: [VecDeque<Wire<L>>; 2],
    pub fault: Fault<L>,
    pub time: u64,
    pub lanes_down: u64,
    /// Number of data-sending lanes in each direction.
    pub lanes: usize,
    pub resets: u32,
    input: usize,
    numbers: [u64; 2],
}

pub fn all_bandwidth<const L: usize, const V: usize>(dl: &mut DataLink<Vec<Word>, L, V>) {
    for vc in 0..V {
        let expected_bandwidth = (65535 / V) as u16;
        let p = qos::QosParameters { expected_bandwidth, ..dl.qos_parameters(vc).unwrap() };
        dl.set_qos_parameters(vc, p);
    }
}

impl<const L: usize, const V: usize> Link<L, V> {
    /// A link whose lanes are about to start.
    pub fn new(config: DataLinkConfig, sizes: Sizes, delay: usize) -> Self {
        let end = || {
            let buffers = Buffers {
                output: std::array::from_fn(|_| vec![Word::default(); sizes.output]),
                input: std::array::from_fn(|_| vec![Word::default(); sizes.input]),
                recovery: vec![Word::default(); sizes.recovery],
            };
            let mut dl = DataLink::new(config, buffers).unwrap();
            dl.set_parameters(DataLinkParameters {
                data_scrambled: false,
                ..DataLinkParameters::default()
            });
            all_bandwidth(&mut dl);
            End {
                dl,
                tx: Column::new(),
                rx: Column::new(),
                monitor: Monitor::new(SEGMENT_WORDS * usize::from(config.segment_multiplier)),
                expected: std::array::from_fn(|_| VecDeque::new()),
                words_read: 0,
                log: None,
                rows: 0,
            }
        };
        let wire = || VecDeque::from(vec![None; delay]);
        Self {
            ends: [end(), end()],
            wires: [wire(), wire()],
            fault: Box::new(|_, _, _| {}),
            time: 0,
            lanes_down: 20,
            lanes: L,
            resets: 0,
            input: sizes.input,
            numbers: [0; 2],
        }
    }

    /// A link whose reset is complete.
    pub fn started(config: DataLinkConfig, sizes: Sizes, delay: usize) -> Self {
        let mut link = Self::new(config, sizes, delay);
        for _ in 0..200 {
            link.step();
        }
        assert!(link.is_initialised());
        link
    }

    pub fn is_initialised(&self) -> bool {
        self.ends.iter().all(|end| end.dl.reset_state() == LinkResetState::LinkInitialised)
    }

    /// Runs one word period.
    pub fn step(&mut self) {
        self.time += 1;
        self.start_lanes();
        for from in 0..2 {
            let lanes = if self.lanes_down == 0 { self.lanes } else { 0 };
            let end = &mut self.ends[from];
            let row = end.dl.transmit(lanes);
            let mut sent = None;
            if let Some(row) = row {
                end.monitor.row(&row);
                end.rows += 1;
                if let Some(log) = &mut end.log {
                    log.push(row);
                }
                sent = Some(end.tx.send(row));
            }
            self.wires[from].push_back(sent);
        }
        for from in 0..2 {
            let Some(mut wire) = self.wires[from].pop_front() else { continue };
            if wire.is_some() {
                self.numbers[from] += 1;
                (self.fault)(from, self.numbers[from], &mut wire);
            }
            if let Some(words) = wire {
                let end = &mut self.ends[1 - from];
                end.monitor.arrived(words[0]);
                let received = end.rx.receive(words);
                end.dl.receive(received);
            }
        }
        self.check();
    }

    /// LaneReset takes the lanes down for a while; then both ends receive the capability of the
    /// other.
    fn start_lanes(&mut self) {
        let asked = [0, 1].map(|end: usize| self.ends[end].dl.take_lane_reset());
        if asked != [false; 2] {
            self.resets += 1;
            self.lanes_down = 20;
        } else if self.lanes_down != 0 {
            self.lanes_down -= 1;
            if self.lanes_down == 0 {
                let fields = [0, 1].map(|end: usize| self.ends[end].dl.capability());
                for (end, field) in [(0, fields[1]), (1, fields[0])] {
                    self.ends[end].dl.far_end_capability(0, field, false);
                }
                let again = (0..2).any(|end| {
                    fields[end] & capability::LINK_RESET == 0
                        && self.ends[end].dl.reset_state() != LinkResetState::LinkInitialised
                });
                if again {
                    self.lanes_down = 1;
                }
            }
        }
        if self.lanes_down != 0 {
            for end in 0..2 {
                self.wires[end].iter_mut().for_each(|wire| *wire = None);
                if self.ends[end].dl.reset_state() != LinkResetState::LinkInitialised {
                    let limit = self.ends[end].monitor.limit;
                    self.ends[end].monitor = Monitor::new(limit);
                }
            }
        }
    }

    /// Takes the lanes down for some word periods, without a link reset.
    pub fn lane_failure(&mut self, periods: u64) {
        self.lanes_down = periods;
        for end in &mut self.ends {
            end.dl.receive(ReceivedRow::RxErr);
        }
    }

    fn check(&mut self) {
        if self.resets > 1 {
            return;
        }
        let quantum = 64 * u64::from(self.ends[0].dl.config().fct_multiplier);
        for (near, far) in [(0, 1), (1, 0)] {
            let fcts = self.ends[near].dl.status().received.fcts * quantum;
            let status = self.ends[far].dl.status();
            assert!(status.received.data_words <= fcts, "credit is kept");
            let room = (self.input * V) as u64 + self.ends[far].words_read;
            assert!(fcts <= room, "credit is given for room only");
            let items = status.received.data_frames
                + status.received.broadcast_frames
                + status.received.fcts;
            assert_eq!((items & 0x7f) as u8, self.ends[far].dl.sequence().count());
        }
    }

    pub fn run(&mut self, periods: u64) {
        for _ in 0..periods {
            self.step();
        }
    }

    /// Writes all words; fails if they do not fit.
    pub fn write(&mut self, end: usize, vc: usize, words: &[Word]) {
        assert_eq!(self.offer(end, vc, words), words.len(), "output buffer of VC {vc}");
    }

    /// Writes as many words as fit.
    pub fn offer(&mut self, end: usize, vc: usize, words: &[Word]) -> usize {
        let taken = self.ends[end].dl.write(vc, words);
        self.ends[end].expected[vc].extend(&words[..taken]);
        taken
    }

    /// Reads everything available at an end and compares it. Returns the number of words.
    pub fn drain(&mut self, end: usize, vc: usize) -> usize {
        let mut words = [Word::default(); 64];
        let mut all = 0;
        loop {
            let count = self.ends[end].dl.read(vc, &mut words);
            if count == 0 {
                return all;
            }
            self.ends[end].words_read += count as u64;
            all += count;
            for word in &words[..count] {
                let expected = self.ends[1 - end].expected[vc].pop_front();
                assert_eq!(Some(*word), expected, "VC {vc} of end {end}");
            }
        }
    }

    /// Whether everything written has been read.
    pub fn is_drained(&self) -> bool {
        self.ends.iter().all(|end| end.expected.iter().all(VecDeque::is_empty))
    }

    /// Runs both directions until everything is read.
    pub fn finish(&mut self, periods: u64) {
        for _ in 0..periods {
            self.step();
            for vc in 0..V {
                self.drain(0, vc);
                self.drain(1, vc);
            }
            if self.is_drained() {
                return;
            }
        }
        panic!("words are left after {periods} word periods");
    }
}

pub const EOP: Word = Word { bits: 0xfbfb_fbfd, k: 0xf };

/// A packet of data words and an EOP.
pub fn packet(words: usize, first: u32) -> Vec<Word> {
    let mut packet: Vec<Word> =
        (0..words).map(|index| Word::data(first.wrapping_add(index as u32))).collect();
    packet.push(EOP);
    packet
}

pub fn is_eep(word: Word) -> bool {
    word == EEP
}

pub fn control_of<const L: usize>(row: &Row<L>) -> Option<ControlWord> {
    match row {
        Row::Control(word) => ControlWord::decode(*word),
        Row::Data { .. } => None,
    }
}

/// Seeds of a campaign: `SPFE_SEED` repeats one of them, `SPFE_SEEDS` sets their number.
pub fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SPFE_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("SPFE_SEEDS").unwrap_or(count),
    }
}
