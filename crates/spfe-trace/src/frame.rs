//! Frames of one direction: identification, CRCs, unscrambling, numbers, packets (50-11C 5.7).

use spfe_link::column::Column;
use spfe_link::control::ControlWord;
use spfe_link::crc::Crc8;
use spfe_link::datalink::{
    CheckedWord as Identify, Identification, IdentificationState as State, WordVerdict,
};
use spfe_link::prbs::Prbs;
use spfe_link::word::Word;

use crate::LANES_MAX;
use crate::align::Row;
use crate::config::ListenerConfig;
use crate::event::{
    BroadcastFrame, DataFrame, IdleFrame, TraceEvent, TraceEventKind, TraceSink, TraceViolation,
};
use crate::lane::is_prbs;
use crate::name::{NamedWord, WordKind, name};
use crate::numbers::{Digest, Numbers, Verdict};
use crate::packet::Reassembly;

/// Virtual channels of a link.
pub(crate) const VCS: usize = 32;
/// Maximum words of a data frame per data-sending lane.
const FRAME_WORDS: usize = 64;
/// Minimum number of words between two ACKs.
const ACK_SPACING: u64 = 15;

/// A broadcast frame in progress.
#[derive(Clone, Copy, Debug)]
struct Broadcast {
    from: u64,
    channel: u8,
    kind: u8,
    data: [u32; 2],
    words: usize,
    crc: Crc8,
}

/// Decodes the frames of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    packet_limit: usize,
    identification: Identification,
    columns: [Column; LANES_MAX],
    scrambled: bool,
    /// Mask of lanes of the frame in progress.
    lanes: u16,
    from: u64,
    vc: u8,
    payload: Vec<Word>,
    broadcast: Broadcast,
    idle: Option<IdleFrame>,
    /// Generator of the next idle word, if its state is known.
    idle_prbs: Option<Prbs>,
    idle_odd: bool,
    /// Data words outside a frame are explained by what came before.
    excused: bool,
    numbers: Numbers,
    packets: Vec<Reassembly>,
    ack_at: Option<u64>,
}

impl Frames {
    pub fn new(config: &ListenerConfig) -> Self {
        let words = FRAME_WORDS * usize::from(config.lanes.clamp(1, LANES_MAX as u8));
        let broadcast =
            Broadcast { from: 0, channel: 0, kind: 0, data: [0; 2], words: 0, crc: Crc8::new() };
        Self {
            packet_limit: config.packet_limit_bytes,
            identification: Identification::new(words as u32),
            columns: [Column::new(config.crc_covers_scrambled); LANES_MAX],
            scrambled: config.scrambled.unwrap_or(true),
            lanes: 0,
            from: 0,
            vc: 0,
            payload: Vec::with_capacity(words),
            broadcast,
            idle: None,
            idle_prbs: None,
            idle_odd: false,
            excused: true,
            numbers: Numbers::default(),
            packets: vec![Reassembly::new(true); VCS],
            ack_at: None,
        }
    }

    /// Sets whether data frames are scrambled.
    pub fn set_scrambled(&mut self, scrambled: bool) {
        self.scrambled = scrambled;
    }

    /// Starts again after a link reset.
    pub fn reset(&mut self, at: u64, sink: &mut TraceSink<'_>) {
        self.finish(at, sink);
        self.packets.fill(Reassembly::new(false));
        self.identification.step(Identify::Retry);
        self.numbers.reset();
        self.idle_prbs = Some(Prbs::new());
        self.excused = true;
        self.ack_at = None;
    }

    /// Ends the input.
    pub fn finish(&mut self, at: u64, sink: &mut TraceSink<'_>) {
        self.end_idle(at, sink);
        for (vc, packet) in self.packets.iter_mut().enumerate() {
            packet.cut(vc as u8, at, sink);
        }
    }

    /// A word or row was lost.
    pub fn damage(&mut self, at: u64, sink: &mut TraceSink<'_>) {
        self.end_idle(at, sink);
        self.identification.step(Identify::RxErr);
        self.lose();
        self.idle_prbs = None;
    }

    /// Items may have been lost, and the next words may belong to one of them.
    fn lose(&mut self) {
        self.numbers.damage();
        self.excused = true;
    }

    /// Decodes a row.
    #[inline]
    pub fn row(&mut self, row: &Row, at: u64, sink: &mut TraceSink<'_>) {
        let word = row.words[0];
        if row.count == 0 {
            let named = name(word);
            self.same(row, named, at, sink);
            self.control(named, row, at, sink);
        } else {
            self.data(row, at, sink);
        }
    }

    /// Checks that all lanes of a control row carry the same word; EDFs may differ in their CRC.
    fn same(&mut self, row: &Row, named: NamedWord, at: u64, sink: &mut TraceSink<'_>) {
        let mask = if named.kind == WordKind::Edf { 0xffff } else { u32::MAX };
        let word = row.words[0];
        let rest = row.words.iter().take(row.lanes.count_ones() as usize).skip(1);
        if rest.into_iter().any(|other| (other.bits ^ word.bits) & mask != 0 || other.k != word.k) {
            sink(TraceEvent { at, what: TraceEventKind::Violation(TraceViolation::RowDiffers) });
        }
    }

    fn data(&mut self, row: &Row, at: u64, sink: &mut TraceSink<'_>) {
        let state = self.identification.state();
        let words = if state == State::RxDataFrame { row.count } else { 1 };
        let outcome = self.identification.step(Identify::Data(words as u32));
        if outcome == WordVerdict::FrameError {
            return self.frame_error("too many data words", at, sink);
        }
        match state {
            State::RxNothing => {
                if !core::mem::replace(&mut self.excused, true) {
                    sink(TraceEvent {
                        at,
                        what: TraceEventKind::Violation(TraceViolation::DataOutsideFrame),
                    });
                }
            }
            State::RxDataFrame => {
                let words = row.words.iter().take(row.count);
                for (word, column) in words.zip(&mut self.columns) {
                    self.payload.push(column.receive(*word));
                }
            }
            State::RxBroadcastFrame | State::RxBroadcastAndDataFrame => {
                let word = row.words[0];
                if let Some(slot) = self.broadcast.data.get_mut(self.broadcast.words) {
                    *slot = word.bits;
                }
                self.broadcast.words += 1;
                self.broadcast.crc = self.broadcast.crc.symbols(word, 4);
            }
            State::RxIdleFrame => self.idle_word(row.words[0].bits, at, sink),
        }
    }

    fn idle_word(&mut self, word: u32, at: u64, sink: &mut TraceSink<'_>) {
        if let Some(idle) = &mut self.idle {
            idle.words += 1;
        }
        let good = match &mut self.idle_prbs {
            Some(prbs) => prbs.word() == word,
            None => is_prbs(word),
        };
        if !good || self.idle_prbs.is_none() {
            self.idle_prbs = Some(Prbs::after(word));
        }
        if !good && !core::mem::replace(&mut self.idle_odd, true) {
            sink(TraceEvent {
                at,
                what: TraceEventKind::Violation(TraceViolation::IdleSequence { got: word }),
            });
        }
    }

    fn end_idle(&mut self, at: u64, sink: &mut TraceSink<'_>) {
        if let Some(idle) = self.idle.take() {
            sink(TraceEvent { at, what: TraceEventKind::IdleFrame(idle) });
        }
    }

    fn frame_error(&mut self, what: &'static str, at: u64, sink: &mut TraceSink<'_>) {
        self.end_idle(at, sink);
        self.lose();
        sink(TraceEvent { at, what: TraceEventKind::Violation(TraceViolation::Frame { what }) });
    }

    fn control(&mut self, named: NamedWord, row: &Row, at: u64, sink: &mut TraceSink<'_>) {
        let Some(control) = named.control else {
            // Receivers ignore an unknown word, but it may be a damaged word of a frame.
            return self.lose();
        };
        match control {
            ControlWord::Sdf { vc } => self.start_data(vc, row, at, sink),
            ControlWord::Edf { seq, .. } => self.end_data(seq, row, at, sink),
            ControlWord::Sbf { channel, kind } => {
                self.end_idle(at, sink);
                if self.identification.step(Identify::Sbf) == WordVerdict::FrameError {
                    return self.frame_error("SBF inside a broadcast frame", at, sink);
                }
                let crc = Crc8::new().symbols(named.word, 4);
                self.broadcast = Broadcast { from: at, channel, kind, data: [0; 2], words: 0, crc };
                self.excused = false;
            }
            ControlWord::Ebf { status, seq, .. } => {
                self.end_broadcast(named, status, seq, at, sink)
            }
            ControlWord::Sif { seq, .. } => self.start_idle(named, seq, at, sink),
            ControlWord::Fct { .. }
            | ControlWord::Ack { .. }
            | ControlWord::Nack { .. }
            | ControlWord::Full { .. } => {
                self.token(named, control, at, sink);
            }
            ControlWord::Retry => {
                self.end_idle(at, sink);
                self.identification.step(Identify::Retry);
                self.numbers.retry();
                // A frame that RETRY cuts does not continue.
                self.excused = false;
                sink(TraceEvent { at, what: TraceEventKind::Token { control, resent: false } });
            }
            _ => {}
        }
    }

    fn start_data(&mut self, vc: u8, row: &Row, at: u64, sink: &mut TraceSink<'_>) {
        self.end_idle(at, sink);
        if self.identification.step(Identify::Sdf) == WordVerdict::FrameError {
            return self.frame_error("SDF inside a frame", at, sink);
        }
        if usize::from(vc) >= VCS {
            sink(TraceEvent {
                at,
                what: TraceEventKind::Violation(TraceViolation::VcRange { vc }),
            });
        }
        self.vc = vc & 0x1f;
        self.from = at;
        self.lanes = row.lanes;
        self.payload.clear();
        self.excused = false;
        let lanes = row.lanes.count_ones() as usize;
        for (word, column) in row.words.iter().take(lanes).zip(&mut self.columns) {
            column.start(*word, self.scrambled);
        }
    }

    fn end_data(&mut self, seq: u8, row: &Row, at: u64, sink: &mut TraceSink<'_>) {
        let lanes = row.lanes.count_ones() as usize;
        let columns = row.words.iter().take(lanes).zip(&self.columns).enumerate();
        let mut bad = columns
            .filter(|(_, (word, column))| !column.is_good(**word))
            .fold(0u16, |bad, (lane, _)| bad | 1 << lane);
        if row.lanes != self.lanes {
            bad |= row.lanes ^ self.lanes;
        }
        match self.identification.step(Identify::Edf { crc: bad == 0, seq: true }) {
            WordVerdict::Accept => {}
            WordVerdict::FrameError => {
                return self.frame_error("EDF outside a data frame", at, sink);
            }
            WordVerdict::CrcError { .. } => {
                self.lose();
                sink(TraceEvent {
                    at,
                    what: TraceEventKind::Violation(TraceViolation::Crc16 { lanes: bad }),
                });
                return;
            }
            // The end of a lost frame: its number is unknown.
            _ => return self.lose(),
        }
        if self.payload.is_empty() {
            let what = TraceViolation::Frame { what: "no data words" };
            sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
        }
        let digest = Digest::new().add(u64::from(self.vc));
        let digest = self.payload.iter().fold(digest, |digest, word| {
            digest.add(u64::from(word.bits) | u64::from(word.k) << 32)
        });
        let Verdict { resent, accepted } = self.number(seq, digest, at, sink);
        let (from, vc, words) = (self.from, self.vc, self.payload.as_slice());
        let frame = DataFrame { from, vc, seq, words, resent, accepted };
        sink(TraceEvent { at, what: TraceEventKind::DataFrame(frame) });
        let Some(packet) = self.packets.get_mut(usize::from(vc)).filter(|_| accepted) else {
            return;
        };
        for word in &self.payload {
            if !packet.word(*word, vc, self.packet_limit, (from, at), sink) {
                let what = TraceViolation::Characters { word: *word };
                sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
            }
        }
    }

    /// Processes a numbered item. Missing items make all open packets partial.
    fn number(&mut self, seq: u8, digest: Digest, at: u64, sink: &mut TraceSink<'_>) -> Verdict {
        let before = self.numbers.is_lost();
        let mut missing = false;
        let verdict = self.numbers.item(seq, digest, at, &mut |event: TraceEvent<'_>| {
            missing |= matches!(event.what, TraceEventKind::Missing { .. });
            sink(event);
        });
        if missing && before {
            self.packets.iter_mut().for_each(Reassembly::spoil);
        }
        verdict
    }

    fn end_broadcast(
        &mut self,
        named: NamedWord,
        status: u8,
        seq: u8,
        at: u64,
        sink: &mut TraceSink<'_>,
    ) {
        let expected = self.broadcast.crc.symbols(named.word, 3).value();
        let crc = expected == named.word.symbol(3);
        match self.identification.step(Identify::Ebf { crc, seq: true }) {
            WordVerdict::Accept => {}
            WordVerdict::FrameError => {
                return self.frame_error("EBF that ends no broadcast frame", at, sink);
            }
            WordVerdict::CrcError { .. } => {
                self.lose();
                let what = TraceViolation::Crc8 { word: named.word, expected };
                sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
                return;
            }
            // The end of a lost frame: its number is unknown.
            _ => return self.lose(),
        }
        let Broadcast { from, channel, kind, data: [low, high], .. } = self.broadcast;
        let data = (u64::from(low) | u64::from(high) << 32).to_le_bytes();
        let digest = Digest::new().add(0x100 | u64::from(channel) << 16 | u64::from(kind) << 24);
        let digest = digest.add(u64::from_le_bytes(data));
        let Verdict { resent, accepted } = self.number(seq, digest, at, sink);
        let (late, delayed) = (status & 1 != 0, status & 2 != 0);
        let frame =
            BroadcastFrame { from, channel, kind, data, late, delayed, seq, resent, accepted };
        sink(TraceEvent { at, what: TraceEventKind::BroadcastFrame(frame) });
    }

    fn start_idle(&mut self, named: NamedWord, seq: u8, at: u64, sink: &mut TraceSink<'_>) {
        self.end_idle(at, sink);
        if !self.crc8(named, |crc| Identify::Sif { crc, seq: true }, at, sink) {
            return;
        }
        if named.kind == WordKind::SifD44 {
            sink(TraceEvent { at, what: TraceEventKind::Violation(TraceViolation::SifSymbol) });
        }
        self.numbers.current(seq, at, sink);
        self.idle = Some(IdleFrame { from: at, seq, words: 0 });
        self.idle_odd = false;
        self.excused = false;
    }

    /// Checks the CRC-8 of a word. Returns whether to use the word.
    fn crc8(
        &mut self,
        named: NamedWord,
        identify: impl Fn(bool) -> Identify,
        at: u64,
        sink: &mut TraceSink<'_>,
    ) -> bool {
        let wrong = named.crc8_expected();
        match self.identification.step(identify(wrong.is_none())) {
            WordVerdict::Accept => return true,
            WordVerdict::FrameError => self.frame_error("SIF inside a frame", at, sink),
            _ => {
                self.end_idle(at, sink);
                self.lose();
                let what = TraceViolation::Crc8 { word: named.word, expected: wrong.unwrap_or(0) };
                sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
            }
        }
        false
    }

    fn token(&mut self, named: NamedWord, control: ControlWord, at: u64, sink: &mut TraceSink<'_>) {
        let state = self.identification.state();
        if matches!(state, State::RxBroadcastFrame | State::RxBroadcastAndDataFrame) {
            let what = TraceViolation::InsideBroadcast { word: named.word };
            sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
        }
        if !self.crc8(named, |crc| Identify::Single { crc, seq: true }, at, sink) {
            return;
        }
        let mut resent = false;
        match control {
            ControlWord::Fct { vc, multiplier, seq, .. } => {
                let what = 0x200 | u64::from(vc) << 16 | u64::from(multiplier) << 24;
                let verdict = self.number(seq, Digest::new().add(what), at, sink);
                resent = !verdict.accepted;
            }
            ControlWord::Full { seq, .. } => self.numbers.current(seq, at, sink),
            ControlWord::Ack { .. } => {
                let words = self.ack_at.replace(at).map_or(u64::MAX, |before| at - before);
                if words < ACK_SPACING {
                    sink(TraceEvent {
                        at,
                        what: TraceEventKind::Violation(TraceViolation::AckSpacing { words }),
                    });
                }
            }
            _ => {}
        }
        sink(TraceEvent { at, what: TraceEventKind::Token { control, resent } });
    }
}
