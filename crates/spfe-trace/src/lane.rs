//! A single lane: the state of its sender, as its words show it (50-11C 5.5.2).

use spfe_link::code::invert_word;
use spfe_link::control::ControlWord;
use spfe_link::prbs::Prbs;
use spfe_link::word::Word;

use crate::event::{LanePhase, TraceEvent, TraceEventKind, TraceSink, TraceViolation};
use crate::name::{NamedWord, WordKind, name};

/// Number of LOST_SIGNAL or STANDBY words in a burst; fewer if the far end restarts the lane.
const BURST: u32 = 32;
/// Maximum number of words after an INIT word.
const FILLER: u32 = 64;

/// Follows the sender of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    number: u8,
    phase: LanePhase,
    /// Whether the wires are swapped.
    inverted: bool,
    /// Consecutive inverted INIT words.
    inverts: u8,
    capability: Option<u8>,
    /// Words since the last INIT word.
    filler: u32,
    filler_odd: bool,
    burst: u32,
}

impl Lane {
    pub const fn new(number: u8) -> Self {
        Self {
            number,
            phase: LanePhase::Unknown,
            inverted: false,
            inverts: 0,
            capability: None,
            filler: 0,
            filler_odd: false,
            burst: 0,
        }
    }

    pub const fn phase(&self) -> LanePhase {
        self.phase
    }

    /// Capability field of the last INIT3.
    pub const fn capability(&self) -> Option<u8> {
        self.capability
    }

    /// Processes a word; `None` without signal. Returns the word for the layer above while the lane
    /// is active, and an RXERR when it stops being active.
    #[inline]
    pub fn push(&mut self, word: Option<Word>, at: u64, sink: &mut TraceSink<'_>) -> Option<Word> {
        let Some(word) = word else { return self.leave(LanePhase::Unknown, at, sink) };
        let word = if self.inverted { invert_word(word) } else { word };
        if word.k == 0 && self.phase == LanePhase::Active {
            return Some(word);
        }
        self.control(name(word), at, sink)
    }

    fn control(&mut self, named: NamedWord, at: u64, sink: &mut TraceSink<'_>) -> Option<Word> {
        let lane = self.number;
        let mut violation = |what| sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
        match named.kind {
            WordKind::Data => {
                self.fill(named.word, &mut violation);
                return None;
            }
            WordKind::RxErr => {
                self.inverts = 0;
                // A signal that comes up is not damage.
                if self.phase != LanePhase::Unknown {
                    violation(TraceViolation::DamagedWord { lane });
                }
                return (self.phase == LanePhase::Active).then_some(Word::RXERR);
            }
            WordKind::Unknown if self.phase == LanePhase::Unknown => return None,
            WordKind::Unknown => {
                violation(TraceViolation::UnknownControl { lane, word: named.word });
                return (self.phase == LanePhase::Active).then_some(named.word);
            }
            WordKind::Init1Inverted | WordKind::Init2Inverted => {
                self.inverts += 1;
                if self.inverts == 3 {
                    self.inverts = 0;
                    self.inverted = !self.inverted;
                    sink(TraceEvent { at, what: TraceEventKind::Swapped { lane } });
                }
                return self.leave(LanePhase::Init1, at, sink);
            }
            // The sender of these words is unknown.
            WordKind::NChars if self.phase != LanePhase::Active => return None,
            _ => {}
        }
        self.inverts = 0;
        let phase = match named.kind {
            WordKind::Init1 => LanePhase::Init1,
            WordKind::Init2 => LanePhase::Init2,
            WordKind::Init3 => LanePhase::Init3,
            WordKind::Standby => LanePhase::Standby,
            WordKind::LostSignal => LanePhase::LostSignal,
            WordKind::Skip | WordKind::Idle if self.phase == LanePhase::Active => return None,
            _ => LanePhase::Active,
        };
        let lost = self.leave(phase, at, sink);
        if let Some(ControlWord::Init3 { capability }) = named.control {
            self.tell(capability, at, sink);
        }
        if phase == LanePhase::Active {
            let up = !matches!(named.kind, WordKind::Skip | WordKind::Idle);
            return up.then_some(named.word);
        }
        self.burst += 1;
        lost
    }

    /// Processes a data word during initialisation.
    fn fill(&mut self, word: Word, violation: &mut impl FnMut(TraceViolation)) {
        let lane = self.number;
        if !matches!(self.phase, LanePhase::Init1 | LanePhase::Init2 | LanePhase::Init3) {
            return;
        }
        self.filler += 1;
        if self.filler == 1 && self.phase == LanePhase::Init3 {
            violation(TraceViolation::Init3Filler { lane });
        }
        if self.filler == FILLER + 1 {
            violation(TraceViolation::LongFiller { lane });
        }
        if !self.filler_odd && !is_prbs(word.bits) {
            self.filler_odd = true;
            violation(TraceViolation::InitFiller { lane, word });
        }
    }

    /// Enters a phase, possibly the current one. Returns an RXERR if the lane stops being active.
    fn leave(&mut self, phase: LanePhase, at: u64, sink: &mut TraceSink<'_>) -> Option<Word> {
        let (lane, from) = (self.number, self.phase);
        self.filler = 0;
        self.filler_odd = false;
        if from == phase {
            return None;
        }
        let mut violation = |what| sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
        let legal = match phase {
            LanePhase::Unknown | LanePhase::Init1 => true,
            LanePhase::Init2 => matches!(from, LanePhase::Unknown | LanePhase::Init1),
            LanePhase::Init3 => matches!(from, LanePhase::Unknown | LanePhase::Init2),
            LanePhase::Active => matches!(from, LanePhase::Unknown | LanePhase::Init3),
            LanePhase::Standby | LanePhase::LostSignal => {
                matches!(from, LanePhase::Unknown | LanePhase::Active)
            }
        };
        if !legal {
            violation(TraceViolation::PhaseOrder { lane, from, to: phase });
        }
        if matches!(from, LanePhase::Standby | LanePhase::LostSignal) && self.burst > BURST {
            violation(TraceViolation::Burst { lane, words: self.burst });
        }
        self.phase = phase;
        self.burst = 0;
        if matches!(phase, LanePhase::Init1 | LanePhase::Unknown) {
            self.capability = None;
        }
        sink(TraceEvent { at, what: TraceEventKind::Phase { lane, phase } });
        (from == LanePhase::Active).then_some(Word::RXERR)
    }

    fn tell(&mut self, field: u8, at: u64, sink: &mut TraceSink<'_>) {
        let lane = self.number;
        match self.capability.replace(field) {
            Some(before) if before == field => return,
            Some(before) => {
                let what = TraceViolation::Capability { lane, before, now: field };
                sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
            }
            None => {}
        }
        sink(TraceEvent { at, what: TraceEventKind::Capability { lane, field } });
    }
}

/// Whether the pseudo-random generator can produce the word: the first half determines the second.
pub(crate) const fn is_prbs(word: u32) -> bool {
    let mut prbs = Prbs::after(word << 16);
    let rest = u16::from_le_bytes([prbs.byte(), prbs.byte()]);
    word != 0 && rest as u32 == word >> 16
}
