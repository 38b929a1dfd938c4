//! Transmit side: rows to words on lanes (50-11C 5.6.4.2).

use super::mib::{AlignCount, Alignment};
use super::{MultiLane, each};
use crate::control::ControlWord;
use crate::row::Row;
use crate::word::{Word, k};

/// Words between two ALIGNs.
const BETWEEN_ALIGNS: u8 = 7;

/// Contents of a word period.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Nothing,
    Skip,
    Active,
    Align,
    Row,
}

impl<const L: usize> MultiLane<L> {
    /// Number of data words in a row: the number of data-sending lanes, or 0 while no lane is
    /// active or the lanes are not aligned.
    #[inline]
    pub fn width(&self) -> u8 {
        if self.is_bypassed() {
            self.lanes.first().map_or(0, |lane| u8::from(lane.is_active()))
        } else if self.status.alignment == Alignment::NotReady {
            0
        } else {
            self.width
        }
    }

    /// Returns [`MultiLane::width`] if a row will be taken in this word period, and 0 if a SKIP,
    /// ALIGN or ACTIVE is due.
    #[inline]
    pub fn wants(&self) -> u8 {
        if self.held_back != 0 {
            0
        } else if self.is_bypassed() {
            let skips = self.skips_for_lane() && self.skip_left == 0;
            self.lanes.first().map_or(0, |lane| u8::from(lane.takes() && !skips))
        } else if self.slot() == Slot::Row {
            self.width
        } else {
            0
        }
    }

    fn slot(&self) -> Slot {
        if self.transmitting == 0 {
            return Slot::Nothing;
        }
        if self.skip_left == 0 && self.skip_interval != 0 {
            return Slot::Skip;
        }
        match self.status.alignment {
            Alignment::NotReady if self.position < BETWEEN_ALIGNS => Slot::Active,
            Alignment::NotReady => Slot::Align,
            Alignment::NearEndReady if self.position >= BETWEEN_ALIGNS => Slot::Align,
            Alignment::NearEndReady if self.far_end_asks && self.position == BETWEEN_ALIGNS - 1 => {
                Slot::Active
            }
            _ => Slot::Row,
        }
    }

    /// Runs the drivers for one word period. Returns the words on the lines, and whether the row
    /// was taken. A data row with no words, or with more than [`MultiLane::wants`], is not taken.
    #[inline(always)]
    pub fn transmit(&mut self, offered: Option<&Row<L>>) -> ([Option<Word>; L], bool) {
        let mut words = [None; L];
        let taken = if self.held_back != 0 {
            self.held_back -= 1;
            // SKIP goes on: the far end's elastic buffer needs it.
            self.skip_in_time(&mut words);
            false
        } else if self.is_bypassed() {
            let takes = self.lanes.first().is_some_and(crate::lane::Lane::takes);
            takes && !self.bypassed_skip(&mut words) && self.row(offered, 1, &mut words)
        } else {
            self.fill(offered, &mut words)
        };
        for (word, lane) in words.iter_mut().zip(&mut self.lanes) {
            *word = lane.transmit(*word).0;
        }
        (words, taken)
    }

    /// Whether the SKIPs of a bypassed link come from here: its far end turned out to have one lane,
    /// and the lanes were made without SKIPs of their own.
    #[inline(always)]
    pub(super) const fn skips_for_lane(&self) -> bool {
        L > 1 && self.multi_lane && self.skip_interval != 0
    }

    /// Puts a SKIP on lane 0 if this bypassed link needs one now.
    #[inline(always)]
    fn bypassed_skip(&mut self, words: &mut [Option<Word>; L]) -> bool {
        if !self.skips_for_lane() {
            return false;
        }
        if self.skip_left == 0 {
            self.skip_left = self.skip_interval - 1;
            words[0] = Some(ControlWord::Skip.encode());
            return true;
        }
        self.skip_left -= 1;
        false
    }

    /// The SKIP of all lanes while rows are held back. A single lane sends its own.
    #[cold]
    fn skip_in_time(&mut self, words: &mut [Option<Word>; L]) {
        if self.is_bypassed() || self.transmitting == 0 {
            return;
        }
        if self.skip_left == 0 && self.skip_interval != 0 {
            self.skip_left = self.skip_interval;
            each(self.transmitting, words, |_, word| *word = Some(ControlWord::Skip.encode()));
        }
        self.skip_left = self.skip_left.saturating_sub(1);
    }

    fn fill(&mut self, offered: Option<&Row<L>>, words: &mut [Option<Word>; L]) -> bool {
        let slot = self.slot();
        if slot == Slot::Skip {
            self.skip_left = self.skip_interval - 1;
            each(self.transmitting, words, |_, word| *word = Some(ControlWord::Skip.encode()));
            return false;
        }
        self.skip_left = self.skip_left.saturating_sub(1);
        if slot == Slot::Align {
            self.position = 0;
            self.far_end_asks = false;
        } else {
            self.position = self.position.saturating_add(1);
        }
        match slot {
            Slot::Active => {
                let active = ControlWord::Active { lanes: self.status.active }.encode();
                each(self.transmitting, words, |_, word| *word = Some(active));
                false
            }
            Slot::Align => {
                self.align(words);
                false
            }
            Slot::Row => {
                if self.status.hot_redundant != 0 {
                    let idle = Word::data(self.idle.word());
                    each(self.status.hot_redundant, words, |_, word| *word = Some(idle));
                }
                self.row(offered, self.status.data_sending, words)
            }
            Slot::Nothing | Slot::Skip => false,
        }
    }

    fn align(&self, words: &mut [Option<Word>; L]) {
        let counted = match self.align_count {
            AlignCount::Transmitting => self.transmitting,
            AlignCount::Active => self.status.active,
        };
        // 16 lanes are encoded as 0.
        let count = counted.count_ones() as u8 & 0xf;
        each(self.status.data_sending, words, |lane, word| {
            let lanes = (lane as u8) << 4 | count;
            *word = Some(ControlWord::Align { lanes, inverse: !lanes }.encode());
        });
        each(self.status.hot_redundant, words, |_, word| {
            *word = Some(ControlWord::Align { lanes: 0, inverse: 0 }.encode());
        });
    }

    /// Distributes a row over the lanes.
    #[inline(always)]
    fn row(
        &mut self,
        offered: Option<&Row<L>>,
        sending: u16,
        words: &mut [Option<Word>; L],
    ) -> bool {
        match offered {
            None => return false,
            Some(Row::Data { words: data, count: 1 }) if L == 1 && sending == 1 => {
                words[0] = Some(self.columns_sent[0].send(data[0]));
            }
            Some(Row::Control(control)) => {
                each(sending, words, |_, word| *word = Some(*control));
                if control.k == 1 && matches!(control.symbol(0), k::COMMA | k::EDF) {
                    self.frame_limits(*control, sending, words);
                }
            }
            Some(Row::Data { words: data, count }) => {
                let count = usize::from(*count);
                if count == 0 || count > sending.count_ones() as usize {
                    return false;
                }
                let (mut place, columns) = (0, &mut self.columns_sent);
                each(sending, words, |lane, word| {
                    *word = Some(if place < count {
                        columns[lane].send(data[place])
                    } else {
                        const { ControlWord::Pad.encode() }
                    });
                    place += 1;
                });
            }
        }
        true
    }

    /// Starts the columns at an SDF, and inserts their CRCs at an EDF.
    #[inline(never)]
    fn frame_limits(&mut self, control: Word, sending: u16, words: &mut [Option<Word>; L]) {
        match ControlWord::decode(control) {
            Some(ControlWord::Sdf { .. }) => {
                for (column, lane) in self.columns_sent.iter_mut().zip(&self.lanes) {
                    let sent = lane.capability_sent();
                    column.start(control, sent & crate::lane::capability::DATA_SCRAMBLED != 0);
                }
            }
            Some(ControlWord::Edf { seq, .. }) => {
                let columns = &self.columns_sent;
                each(sending, words, |lane, word| *word = Some(columns[lane].end(seq)));
            }
            _ => {}
        }
    }
}
