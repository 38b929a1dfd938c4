//! A far end that breaks every rule sends rows of any kind in any order. A reference model checks
//! after each row which words may be read, and how numbers, credit and errors may change.

use crate::harness::{EOP, Monitor, Sizes, all_bandwidth, seeds, sizes};
use spfe_link::control::{self, ControlWord};
use spfe_link::crc::Crc8;
use spfe_link::datalink::{
    Buffers, DataLink, DataLinkConfig, DataLinkCounters, DataLinkErrors, EEP, IdentificationState,
    LinkResetState, SEGMENT_WORDS, Sequence, WordContent, content,
};
use spfe_link::{ReceivedRow, Row, Word};
use std::collections::{BTreeMap, VecDeque};

const LANES: usize = 2;
const VCS: usize = 2;
const MULTIPLIER: u8 = 2;
/// Words of an input buffer: a single frame, so that a far end that ignores credit overruns it.
const INPUT: usize = 128;

type Link = DataLink<Vec<Word>, LANES, VCS>;

/// Everything that a row may change.
#[derive(Clone, Copy, Debug)]
struct State {
    sequence: Sequence,
    received: DataLinkCounters,
    errors: DataLinkErrors,
    attempts: u64,
    identification: IdentificationState,
    reset: LinkResetState,
    credit: [u32; VCS],
    readable: [usize; VCS],
}

impl State {
    fn of(dl: &Link) -> Self {
        let status = dl.status();
        Self {
            sequence: *dl.sequence(),
            received: status.received,
            errors: status.errors,
            attempts: status.error_recovery_attempts,
            identification: dl.identification(),
            reset: dl.reset_state(),
            credit: std::array::from_fn(|vc| dl.fct_credit(vc)),
            readable: std::array::from_fn(|vc| dl.readable(vc)),
        }
    }

    /// Number of accepted items that have a number of their own.
    fn items(&self) -> u64 {
        self.received.data_frames + self.received.broadcast_frames + self.received.fcts
    }

    /// Number of word and frame errors.
    fn damage(&self) -> u64 {
        let errors = &self.errors;
        errors.rxerr + errors.crc16 + errors.crc8 + errors.frame + errors.sequence
    }

    fn in_broadcast(&self) -> bool {
        matches!(
            self.identification,
            IdentificationState::RxBroadcastFrame | IdentificationState::RxBroadcastAndDataFrame
        )
    }

    fn is_initialised(&self) -> bool {
        self.reset == LinkResetState::LinkInitialised
    }
}

struct Hostile {
    dl: Link,
    random: fastrand::Rng,
    /// CRC-8 of the broadcast frame that the far end is sending, and the number of its data words.
    crc8: Crc8,
    broadcast_words: u32,
    /// Virtual channel of the data frame in progress, and its words that found room.
    vc: usize,
    staged: Vec<Word>,
    overflow: bool,
    /// Words of accepted frames that the user has not read.
    expected: [VecDeque<Word>; VCS],
    /// The user has read the start of a packet but not its end.
    open: [bool; VCS],
    /// A link reset cut the packet that the user was reading; the next word is an EEP.
    eep_due: [bool; VCS],
    /// Words that each virtual channel may send because of accepted FCTs.
    granted: [u64; VCS],
    monitor: Monitor,
    words_read: u64,
    retries: u64,
    rows_before_up: u64,
}

impl Hostile {
    fn new(seed: u64) -> Self {
        let config = DataLinkConfig {
            segment_multiplier: MULTIPLIER,
            fct_multiplier: MULTIPLIER,
            ..DataLinkConfig::default()
        };
        let sizes = Sizes { input: INPUT, ..sizes(LANES) };
        let buffers = Buffers {
            output: std::array::from_fn(|_| vec![Word::default(); sizes.output]),
            input: std::array::from_fn(|_| vec![Word::default(); sizes.input]),
            recovery: vec![Word::default(); sizes.recovery],
        };
        let mut dl = DataLink::new(config, buffers).unwrap();
        all_bandwidth(&mut dl);
        Self {
            dl,
            random: fastrand::Rng::with_seed(seed),
            crc8: Crc8::new(),
            broadcast_words: 0,
            vc: usize::MAX,
            staged: Vec::new(),
            overflow: false,
            expected: Default::default(),
            open: [false; VCS],
            eep_due: [false; VCS],
            granted: [0; VCS],
            monitor: Monitor::new(SEGMENT_WORDS * usize::from(MULTIPLIER)),
            words_read: 0,
            retries: 0,
            rows_before_up: 0,
        }
    }

    /// Sequence number that this end expects next.
    fn next_seq(&self) -> u8 {
        let sequence = self.dl.sequence();
        (sequence.count() + 1) & 0x7f | u8::from(sequence.is_negative()) << 7
    }

    /// A row of a far end that keeps the rules: it continues frames, and its numbers are right.
    fn fitting_row(&mut self) -> ReceivedRow<LANES> {
        let seq = self.next_seq();
        let current = seq & 0x80 | self.dl.sequence().count();
        let vc = self.random.u32(..VCS as u32) as u8;
        let word = match self.dl.identification() {
            IdentificationState::RxDataFrame if self.random.u32(..4) != 0 => {
                let words = [Word::data(self.random.u32(..)), EOP];
                let count = 1 + self.random.u32(..2) as u8;
                return ReceivedRow::Data { words, count };
            }
            IdentificationState::RxDataFrame => ControlWord::Edf { seq, crc: 0 }.encode(),
            IdentificationState::RxBroadcastFrame
            | IdentificationState::RxBroadcastAndDataFrame => match self.random.u32(..3) {
                0 => control::ebf(self.crc8, 0, seq),
                _ => Word::data(self.random.u32(..)),
            },
            _ => match self.random.u32(..9) {
                0 => ControlWord::Sif { seq: current, crc: 0 }.sealed(),
                1 => ControlWord::Sbf { channel: vc, kind: 1 }.encode(),
                2 => ControlWord::Ack { seq: self.monitor.last(), crc: 0 }.sealed(),
                3 => ControlWord::Nack { seq: self.monitor.last(), crc: 0 }.sealed(),
                4 => ControlWord::Fct { multiplier: MULTIPLIER, vc, seq, crc: 0 }.sealed(),
                _ => ControlWord::Sdf { vc }.encode(),
            },
        };
        ReceivedRow::Control { word, crc16_good: true }
    }

    /// A row of any kind.
    fn any_row(&mut self) -> ReceivedRow<LANES> {
        let random = &mut self.random;
        let (any, vc) = (random.u32(..256) as u8, random.u32(..40) as u8);
        let next = (self.dl.sequence().count() + 1) & 0x7f;
        let seq = if random.u32(..2) == 0 { any } else { next };
        let word = match random.u32(..12) {
            0 => ControlWord::Sdf { vc }.encode(),
            1 => ControlWord::Edf { seq, crc: 0 }.encode(),
            2 => ControlWord::Sbf { channel: vc, kind: vc }.encode(),
            3 => ControlWord::Ebf { status: vc, seq, crc: seq }.encode(),
            4 => ControlWord::Sif { seq, crc: 0 }.sealed(),
            5 => ControlWord::Fct { multiplier: vc & 7 | 1, vc, seq, crc: any & 1 }.encode(),
            6 => ControlWord::Ack { seq, crc: 0 }.sealed(),
            7 => ControlWord::Nack { seq, crc: 0 }.sealed(),
            8 => ControlWord::Full { seq, crc: 0 }.sealed(),
            9 => ControlWord::Retry.encode(),
            10 => Word { bits: random.u32(..), k: random.u32(..16) as u8 },
            _ => Word::data(random.u32(..)),
        };
        match random.u32(..8) {
            0 => ReceivedRow::RxErr,
            1 | 2 => ReceivedRow::Data { words: [word; LANES], count: any },
            _ => ReceivedRow::Control { word, crc16_good: random.u32(..4) != 0 },
        }
    }

    fn receive(&mut self) {
        let row = if self.random.u32(..20) == 0 { self.any_row() } else { self.fitting_row() };
        let before = State::of(&self.dl);
        if let ReceivedRow::Control { word, .. } = row {
            self.monitor.arrived(word);
        }
        let good_ebf = self.follow_broadcast(&row, &before);
        self.dl.receive(row);
        let after = State::of(&self.dl);
        if !before.is_initialised() {
            assert_eq!(
                format!("{before:?}"),
                format!("{after:?}"),
                "{row:?} before the link is up"
            );
            self.rows_before_up += 1;
            return;
        }
        let accepted = after.items() - before.items();
        let must = must_accept(&row, &before, good_ebf);
        assert_eq!(accepted == 1, must, "{row:?} after {before:?}");
        let count = before.sequence.count() + accepted as u8;
        assert_eq!(after.sequence.count(), count & 0x7f, "the count goes up with accepted items");
        let errors = after.damage() - before.damage();
        assert!(accepted + errors <= 1, "{row:?} is accepted or an error, and counted once");
        if matches!(row, ReceivedRow::RxErr) {
            assert_eq!(after.errors.rxerr, before.errors.rxerr + 1, "each RXERR is counted");
        }
        if after.sequence.is_negative() != before.sequence.is_negative() {
            assert_eq!(errors, 1, "only an error changes the polarity");
        }
        self.check_words(&row, &before, &after);
        self.check_credit(&row, &before, &after);
        self.check_reset(&before, &after);
    }

    /// Follows the CRC-8 of a broadcast frame. Returns whether the row ends a complete frame with a
    /// good CRC.
    fn follow_broadcast(&mut self, row: &ReceivedRow<LANES>, before: &State) -> bool {
        let inside = before.in_broadcast();
        if inside && let Some(word) = data_words(row).first() {
            self.crc8 = self.crc8.symbols(*word, 4);
            self.broadcast_words += 1;
        }
        let ReceivedRow::Control { word, .. } = row else { return false };
        match ControlWord::decode(*word) {
            Some(ControlWord::Sbf { .. }) if !inside => {
                self.crc8 = Crc8::new().symbols(*word, 4);
                self.broadcast_words = 0;
                false
            }
            Some(ControlWord::Ebf { crc, .. }) => {
                let good = self.crc8.symbols(*word, 3).value() == crc;
                inside && self.broadcast_words == 2 && good
            }
            _ => false,
        }
    }

    /// Words become readable exactly when their frame is accepted.
    fn check_words(&mut self, row: &ReceivedRow<LANES>, before: &State, after: &State) {
        let in_frame = |state: &State| state.identification == IdentificationState::RxDataFrame;
        if let ReceivedRow::Control { word, .. } = row
            && let Some(ControlWord::Sdf { vc }) = ControlWord::decode(*word)
            && in_frame(after)
            && !in_frame(before)
        {
            self.vc = usize::from(vc);
            self.staged.clear();
            self.overflow = false;
        }
        if in_frame(before) && in_frame(after) && self.vc < VCS {
            let room = INPUT - self.expected[self.vc].len();
            let words = data_words(row);
            let fit = words.len().min(room - self.staged.len());
            self.staged.extend(&words[..fit]);
            self.overflow |= fit < words.len();
        }
        if after.received.data_frames != before.received.data_frames && self.vc < VCS {
            let overflows =
                after.errors.input_buffer_overflow - before.errors.input_buffer_overflow;
            assert_eq!(overflows, u64::from(self.overflow), "each overflow is counted");
            if !self.overflow {
                self.expected[self.vc].extend(&self.staged);
            }
        }
        for vc in 0..VCS {
            let expected = self.expected[vc].len() + usize::from(self.eep_due[vc]);
            assert_eq!(after.readable[vc], expected, "words of accepted frames only");
        }
    }

    /// An accepted FCT adds its words to the credit of its virtual channel, up to the limit;
    /// nothing else does.
    fn check_credit(&mut self, row: &ReceivedRow<LANES>, before: &State, after: &State) {
        let limit = self.dl.config().fct_credit_limit_words;
        let mut credit = before.credit;
        if after.received.fcts != before.received.fcts
            && let ReceivedRow::Control { word, .. } = row
            && let Some(ControlWord::Fct { multiplier, vc, .. }) = ControlWord::decode(*word)
            && let Some(credit) = credit.get_mut(usize::from(vc))
        {
            let words = u32::from(multiplier) * SEGMENT_WORDS as u32;
            *credit = (*credit + words).min(limit);
            self.granted[usize::from(vc)] += u64::from(words);
        }
        assert_eq!(after.credit, credit);
    }

    /// Only a protocol error or an overflow resets the link.
    fn check_reset(&mut self, before: &State, after: &State) {
        let causes = |state: &State| state.errors.protocol + state.errors.input_buffer_overflow;
        assert_eq!(!after.is_initialised(), causes(after) != causes(before));
        assert!(after.attempts - before.attempts <= 1);
    }

    fn read(&mut self) {
        let vc = self.random.u32(..4) as usize;
        let mut words = [Word::default(); 5];
        let count = self.dl.read(vc, &mut words);
        assert!(count == 0 || vc < VCS);
        for word in &words[..count] {
            let expected = match std::mem::take(&mut self.eep_due[vc]) {
                true => Some(EEP),
                false => self.expected[vc].pop_front(),
            };
            assert_eq!(Some(*word), expected, "in order and unchanged");
            self.open[vc] = content(*word) != WordContent::End;
            self.words_read += 1;
        }
    }

    fn write(&mut self) {
        let word =
            Word { bits: self.random.u32(..), k: self.random.u32(..20).saturating_sub(4) as u8 };
        let vc = self.random.u32(..8) as usize;
        let taken = self.dl.write(vc, &[word, word]);
        assert!(taken == 0 || vc < VCS, "no words for a channel that does not exist");
    }

    fn transmit(&mut self) {
        let before = self.dl.reset_state();
        let row = self.dl.transmit(self.random.u32(..4) as usize);
        if self.dl.reset_state() == LinkResetState::CheckFarEndReset
            && before != self.dl.reset_state()
        {
            self.flush();
        }
        if let Some(row) = row {
            assert_eq!(before, LinkResetState::LinkInitialised, "no row before the link is up");
            self.monitor.row(&row);
            self.retries += u64::from(row == Row::Control(ControlWord::Retry.encode()));
        }
        for (vc, granted) in self.granted.iter().enumerate() {
            assert!(self.dl.sent_words(vc) <= *granted, "VC {vc} sends within its credit");
        }
    }

    /// A link reset empties the buffers; an EEP ends the packet that the user is reading.
    fn flush(&mut self) {
        self.monitor = Monitor::new(SEGMENT_WORDS * usize::from(MULTIPLIER));
        for vc in 0..VCS {
            self.expected[vc].clear();
            self.eep_due[vc] |= std::mem::take(&mut self.open[vc]);
            self.granted[vc] = self.dl.sent_words(vc);
        }
    }

    /// Brings the lanes up again after a reset, and sometimes delivers a capability that asks for a
    /// reset.
    fn lanes(&mut self) {
        let reset = self.dl.take_lane_reset() || !self.dl.is_initialised();
        if reset || self.random.u32(..400) == 0 {
            let lane = self.random.u32(..16) as u8;
            self.dl.far_end_capability(lane, self.random.u32(..256) as u8, false);
        }
    }

    /// Runs the rows of one seed. Returns how often each checked event happened.
    fn run(mut self) -> Vec<(&'static str, u64)> {
        for step in 0..6000 {
            self.lanes();
            self.receive();
            self.write();
            // The user stops reading for a while, so that the buffers fill up.
            if step / 400 % 2 == 0 {
                self.read();
            }
            self.transmit();
        }
        let status = self.dl.status();
        let (received, errors) = (status.received, status.errors);
        vec![
            ("words read", self.words_read),
            ("RETRY sent", self.retries),
            ("rows before the link is up", self.rows_before_up),
            ("data frames", received.data_frames),
            ("broadcast frames", received.broadcast_frames),
            ("FCTs", received.fcts),
            ("RXERR", errors.rxerr),
            ("CRC-16 errors", errors.crc16),
            ("CRC-8 errors", errors.crc8),
            ("frame errors", errors.frame),
            ("sequence errors", errors.sequence),
            ("protocol errors", errors.protocol),
            ("input buffer overflows", errors.input_buffer_overflow),
            ("link resets of the far end", errors.far_end_link_reset),
        ]
    }
}

/// Data words of a row: those of a data frame, or the one word of a replicated row.
fn data_words(row: &ReceivedRow<LANES>) -> &[Word] {
    match row {
        ReceivedRow::Data { words, count } => &words[..usize::from(*count).min(LANES)],
        ReceivedRow::Control { word, .. }
            if ControlWord::decode(*word).is_none() && word.is_n_chars() =>
        {
            std::slice::from_ref(word)
        }
        _ => &[],
    }
}

/// Whether a row carries the next item, undamaged and in its place (50-11C 5.7.6.3, 5.7.8).
fn must_accept(row: &ReceivedRow<LANES>, before: &State, good_ebf: bool) -> bool {
    let ReceivedRow::Control { word, crc16_good } = *row else { return false };
    let sequence = before.sequence;
    let next = (sequence.count() + 1) & 0x7f | u8::from(sequence.is_negative()) << 7;
    match ControlWord::decode(word) {
        Some(ControlWord::Edf { seq, .. }) => {
            seq == next && crc16_good && before.identification == IdentificationState::RxDataFrame
        }
        Some(ControlWord::Ebf { seq, .. }) => seq == next && good_ebf,
        Some(control @ ControlWord::Fct { seq, .. }) => seq == next && control.crc8_is_good(),
        _ => false,
    }
}

/// The link keeps to the reference model, and every checked event happens often enough.
#[test]
fn any_rows() {
    let mut totals = BTreeMap::new();
    for seed in seeds(400, 40) {
        eprintln!("seed {seed}");
        for (event, count) in Hostile::new(seed).run() {
            *totals.entry(event).or_insert(0) += count;
        }
    }
    if std::env::var_os("SPFE_SEED").is_none() {
        assert!(totals.values().all(|count| *count >= 20), "{totals:?}");
    }
}
