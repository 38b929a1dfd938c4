//! One lane: what its sender is doing, as its words show (50-11C 5.5.2).

use spfe_link::code::invert_word;
use spfe_link::control::Control;
use spfe_link::prbs::Prbs;
use spfe_link::word::Word;

use crate::event::{Event, Phase, Sink, Violation, What};
use crate::name::{Kind, Named, name};

/// LOST_SIGNAL and STANDBY come so many times, or fewer if the far end starts anew.
const BURST: u32 = 32;
/// Most words after an INIT word.
const FILLER: u32 = 64;

/// Follows the sender of one lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lane {
    number: u8,
    phase: Phase,
    /// The wires are swapped.
    inverted: bool,
    /// iINIT words in a row.
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
            phase: Phase::Unknown,
            inverted: false,
            inverts: 0,
            capability: None,
            filler: 0,
            filler_odd: false,
            burst: 0,
        }
    }

    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Capability field of the last INIT3.
    pub const fn capability(&self) -> Option<u8> {
        self.capability
    }

    /// Takes a word, `None` without signal; gives what goes up while the lane is active, and an
    /// RXERR when it no longer is.
    #[inline]
    pub fn push(&mut self, word: Option<Word>, at: u64, sink: &mut Sink<'_>) -> Option<Word> {
        let Some(word) = word else { return self.leave(Phase::Unknown, at, sink) };
        let word = if self.inverted { invert_word(word) } else { word };
        if word.k == 0 && self.phase == Phase::Active {
            return Some(word);
        }
        self.control(name(word), at, sink)
    }

    fn control(&mut self, named: Named, at: u64, sink: &mut Sink<'_>) -> Option<Word> {
        let lane = self.number;
        let mut violation = |what| sink(Event { at, what: What::Violation(what) });
        match named.kind {
            Kind::Data => {
                self.fill(named.word, &mut violation);
                return None;
            }
            Kind::RxErr => {
                self.inverts = 0;
                // A signal that comes up is not damage.
                if self.phase != Phase::Unknown {
                    violation(Violation::DamagedWord { lane });
                }
                return (self.phase == Phase::Active).then_some(Word::RXERR);
            }
            Kind::Unknown if self.phase == Phase::Unknown => return None,
            Kind::Unknown => {
                violation(Violation::UnknownControl { lane, word: named.word });
                return (self.phase == Phase::Active).then_some(named.word);
            }
            Kind::Init1Inverted | Kind::Init2Inverted => {
                self.inverts += 1;
                if self.inverts == 3 {
                    self.inverts = 0;
                    self.inverted = !self.inverted;
                    sink(Event { at, what: What::Swapped { lane } });
                }
                return self.leave(Phase::Init1, at, sink);
            }
            // Nothing shows who sent these.
            Kind::NChars if self.phase != Phase::Active => return None,
            _ => {}
        }
        self.inverts = 0;
        let phase = match named.kind {
            Kind::Init1 => Phase::Init1,
            Kind::Init2 => Phase::Init2,
            Kind::Init3 => Phase::Init3,
            Kind::Standby => Phase::Standby,
            Kind::LostSignal => Phase::LostSignal,
            Kind::Skip | Kind::Idle if self.phase == Phase::Active => return None,
            _ => Phase::Active,
        };
        let lost = self.leave(phase, at, sink);
        if let Some(Control::Init3 { capability }) = named.control {
            self.tell(capability, at, sink);
        }
        if phase == Phase::Active {
            let up = !matches!(named.kind, Kind::Skip | Kind::Idle);
            return up.then_some(named.word);
        }
        self.burst += 1;
        lost
    }

    /// A data word of an initialisation.
    fn fill(&mut self, word: Word, violation: &mut impl FnMut(Violation)) {
        let lane = self.number;
        if !matches!(self.phase, Phase::Init1 | Phase::Init2 | Phase::Init3) {
            return;
        }
        self.filler += 1;
        if self.filler == 1 && self.phase == Phase::Init3 {
            violation(Violation::Init3Filler { lane });
        }
        if self.filler == FILLER + 1 {
            violation(Violation::LongFiller { lane });
        }
        if !self.filler_odd && !is_prbs(word.bits) {
            self.filler_odd = true;
            violation(Violation::InitFiller { lane, word });
        }
    }

    /// Comes to a phase, perhaps the one it is in. An RXERR if it is no longer active.
    fn leave(&mut self, phase: Phase, at: u64, sink: &mut Sink<'_>) -> Option<Word> {
        let (lane, from) = (self.number, self.phase);
        self.filler = 0;
        self.filler_odd = false;
        if from == phase {
            return None;
        }
        let mut violation = |what| sink(Event { at, what: What::Violation(what) });
        let legal = match phase {
            Phase::Unknown | Phase::Init1 => true,
            Phase::Init2 => matches!(from, Phase::Unknown | Phase::Init1),
            Phase::Init3 => matches!(from, Phase::Unknown | Phase::Init2),
            Phase::Active => matches!(from, Phase::Unknown | Phase::Init3),
            Phase::Standby | Phase::LostSignal => matches!(from, Phase::Unknown | Phase::Active),
        };
        if !legal {
            violation(Violation::PhaseOrder { lane, from, to: phase });
        }
        if matches!(from, Phase::Standby | Phase::LostSignal) && self.burst > BURST {
            violation(Violation::Burst { lane, words: self.burst });
        }
        self.phase = phase;
        self.burst = 0;
        if matches!(phase, Phase::Init1 | Phase::Unknown) {
            self.capability = None;
        }
        sink(Event { at, what: What::Phase { lane, phase } });
        (from == Phase::Active).then_some(Word::RXERR)
    }

    fn tell(&mut self, field: u8, at: u64, sink: &mut Sink<'_>) {
        let lane = self.number;
        match self.capability.replace(field) {
            Some(before) if before == field => return,
            Some(before) => {
                let what = Violation::Capability { lane, before, now: field };
                sink(Event { at, what: What::Violation(what) });
            }
            None => {}
        }
        sink(Event { at, what: What::Capability { lane, field } });
    }
}

/// Whether the pseudo-random generator can make a word: its first half tells the second.
pub(crate) const fn is_prbs(word: u32) -> bool {
    let mut prbs = Prbs::after(word << 16);
    let rest = u16::from_le_bytes([prbs.byte(), prbs.byte()]);
    word != 0 && rest as u32 == word >> 16
}
