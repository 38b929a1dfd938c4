//! Lanes to rows (50-11C 5.6.4): alignment by ALIGN words, PAD, replicated words.

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

use crate::LANES_MAX;
use crate::event::{TraceEvent, TraceEventKind, TraceSink, TraceViolation};

/// Capacity of a lane's queue: a lane may be one word less ahead.
const DEPTH: usize = 4;

/// Words of a lane that wait for the words of the other lanes.
#[derive(Clone, Copy, Debug, Default)]
struct Fifo {
    words: [Word; DEPTH],
    count: usize,
}

impl Fifo {
    fn push(&mut self, word: Word) -> bool {
        match self.words.get_mut(self.count) {
            Some(slot) => {
                *slot = word;
                self.count += 1;
                true
            }
            None => false,
        }
    }

    fn head(&self) -> Option<Word> {
        (self.count != 0).then(|| self.words[0])
    }

    fn pop(&mut self) -> Word {
        let word = self.words[0];
        self.words.rotate_left(1);
        self.count = self.count.saturating_sub(1);
        word
    }
}

/// A row, as the frame decoder needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Words of the lanes in the row, lowest lane first.
    pub words: [Word; LANES_MAX],
    /// Mask of the lanes in the row.
    pub lanes: u16,
    /// Number of words that are not PAD, for a row of data.
    pub count: usize,
}

/// Result of the words of a word period.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aligned {
    None,
    Row(Row),
    RxErr,
}

/// Combines the words of lanes to rows.
#[derive(Clone, Debug)]
pub(crate) struct Align {
    fifos: [Fifo; LANES_MAX],
    /// Mask of lanes that make rows: all lanes with words, until an ALIGN names them.
    receiving: u16,
    /// Whether an ALIGN has named the lanes.
    told: bool,
    aligned: bool,
}

impl Align {
    pub const fn new() -> Self {
        let fifo = Fifo { words: [Word { bits: 0, k: 0 }; DEPTH], count: 0 };
        Self { fifos: [fifo; LANES_MAX], receiving: 0, told: false, aligned: false }
    }

    fn flush(&mut self) {
        for fifo in &mut self.fifos {
            fifo.count = 0;
        }
        self.aligned = false;
    }

    /// Starts again after a link reset, or when all lanes restart: an ALIGN must name the lanes
    /// again.
    pub fn reset(&mut self) {
        *self = Self::new();
    }

    /// A lane is no longer active.
    pub fn drop_lane(&mut self, lane: usize) {
        if let Some(fifo) = self.fifos.get_mut(lane) {
            fifo.count = 0;
            self.receiving &= !(1 << lane);
            self.aligned = false;
        }
    }

    /// Processes the words of one word period; `None` for a lane without one.
    pub fn push(&mut self, words: &[Option<Word>], at: u64, sink: &mut TraceSink<'_>) -> Aligned {
        let before = self.receiving;
        let mut room = true;
        for (lane, word) in words.iter().enumerate().take(LANES_MAX) {
            if let Some(word) = word {
                room &= self.arrive(lane, *word, at, sink);
            }
        }
        let changed = before != self.receiving;
        if !room {
            let lost = self.aligned;
            self.flush();
            if !lost {
                return Aligned::None;
            }
            sink(TraceEvent { at, what: TraceEventKind::Violation(TraceViolation::Skew) });
            return Aligned::RxErr;
        }
        if changed {
            if self.told {
                sink(TraceEvent { at, what: TraceEventKind::Aligned { lanes: self.receiving } });
            }
            self.aligned = false;
            let row = self.read(at, sink);
            // A frame in progress does not continue on other lanes.
            return if before == 0 { row } else { Aligned::RxErr };
        }
        self.read(at, sink)
    }

    fn arrive(&mut self, lane: usize, word: Word, at: u64, sink: &mut TraceSink<'_>) -> bool {
        let bit = 1u16 << lane;
        match ControlWord::decode(word).filter(|_| word.k == 1) {
            Some(ControlWord::Align { lanes: 0, inverse: 0 }) => {
                self.tell();
                self.receiving &= !bit;
                if let Some(fifo) = self.fifos.get_mut(lane) {
                    fifo.count = 0;
                }
            }
            Some(ControlWord::Align { lanes, inverse }) if inverse == !lanes => {
                self.tell();
                self.receiving |= bit;
            }
            Some(ControlWord::Align { lanes, inverse }) => {
                let what = TraceViolation::AlignField { lane: lane as u8, lanes, inverse };
                sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
            }
            _ if !self.told => self.receiving |= bit,
            _ => {}
        }
        let fifo = self.fifos.get_mut(lane).filter(|_| self.receiving & bit != 0);
        fifo.is_none_or(|fifo| fifo.push(word))
    }

    fn tell(&mut self) {
        if !self.told {
            self.told = true;
            self.receiving = 0;
            self.flush();
        }
    }

    fn read(&mut self, at: u64, sink: &mut TraceSink<'_>) -> Aligned {
        let from = self.receiving;
        let (mut held, mut ready) = (0u16, from != 0);
        for (lane, fifo) in self.fifos.iter().enumerate().filter(|(lane, _)| from >> lane & 1 != 0)
        {
            match fifo.head() {
                None => ready = false,
                Some(word) if is_align(word) => held |= 1 << lane,
                Some(_) => {}
            }
        }
        if !ready {
            return Aligned::None;
        }
        let taken = if held == from { from } else { from & !held };
        let mut words = [Word::default(); LANES_MAX];
        let mut kinds = Kinds::default();
        let lanes = self.fifos.iter_mut().enumerate().filter(|(lane, _)| taken >> lane & 1 != 0);
        for ((_, fifo), slot) in lanes.zip(&mut words) {
            *slot = fifo.pop();
            kinds.add(*slot);
        }
        if held == from {
            self.aligned = true;
            return Aligned::None;
        }
        if held != 0 {
            let lost = core::mem::take(&mut self.aligned);
            if lost {
                sink(TraceEvent {
                    at,
                    what: TraceEventKind::Violation(TraceViolation::Misaligned),
                });
            }
            return if lost { Aligned::RxErr } else { Aligned::None };
        }
        if self.told && !self.aligned {
            return Aligned::None;
        }
        kinds.check_event(Row { words, lanes: from, count: kinds.data }, at, sink)
    }
}

fn is_align(word: Word) -> bool {
    matches!(ControlWord::decode(word), Some(ControlWord::Align { .. }))
}

/// Kinds of words in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Kinds {
    data: usize,
    pad: usize,
    control: usize,
    multi_lane: usize,
    rxerr: usize,
    /// A data word follows a PAD.
    gap: bool,
}

impl Kinds {
    fn add(&mut self, word: Word) {
        if word.is_n_chars() {
            self.gap |= self.pad != 0;
            self.data += 1;
            return;
        }
        match ControlWord::decode(word) {
            Some(ControlWord::Pad) => self.pad += 1,
            Some(ControlWord::Active { .. } | ControlWord::Align { .. }) => self.multi_lane += 1,
            Some(ControlWord::RxErr) => self.rxerr += 1,
            _ => self.control += 1,
        }
    }

    fn check_event(self, row: Row, at: u64, sink: &mut TraceSink<'_>) -> Aligned {
        let count = row.lanes.count_ones() as usize;
        if self.rxerr != 0 {
            return Aligned::RxErr;
        }
        if self.multi_lane == count {
            return Aligned::None;
        }
        let data = self.data + self.pad == count && self.data != 0 && !self.gap;
        if !data && self.control != count {
            sink(TraceEvent { at, what: TraceEventKind::Violation(TraceViolation::InvalidRow) });
            return Aligned::RxErr;
        }
        Aligned::Row(row)
    }
}
