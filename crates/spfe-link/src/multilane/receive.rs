//! Receive side: words on lanes to rows (50-11C 5.6.4.4 to 5.6.4.6).

use super::mib::{Alignment, Misaligned};
use super::{FrameKind, MultiLane, each};
use crate::control::ControlWord;
use crate::lane::{LaneState, capability};
use crate::row::ReceivedRow;
use crate::word::{Word, k};

/// Kinds of words in a row.
#[derive(Clone, Copy, Default)]
struct Kinds {
    data: u32,
    pad: u32,
    rxerr: u32,
    active: u32,
    align: u32,
    control: u32,
    /// A data word follows a PAD.
    gap: bool,
}

impl Kinds {
    fn add(&mut self, word: Word) {
        if word.k & 1 == 0 {
            self.gap |= self.pad != 0;
            self.data += 1;
            return;
        }
        match ControlWord::decode(word) {
            Some(ControlWord::RxErr) => self.rxerr += 1,
            Some(ControlWord::Pad) => self.pad += 1,
            Some(ControlWord::Active { .. }) => self.active += 1,
            Some(ControlWord::Align { .. }) => self.align += 1,
            _ if matches!(word.symbol(0), k::FILL | k::EOP | k::EEP) => {
                self.gap |= self.pad != 0;
                self.data += 1;
            }
            _ => self.control += 1,
        }
    }

    /// Whether the row has only ACTIVE and ALIGN.
    fn is_multi_lane(&self) -> bool {
        self.data + self.pad + self.rxerr + self.control == 0
    }
}

/// Whether a word is a control word of the data link layer, or PAD. A lane in reserve has none.
fn is_data_link(word: Word) -> bool {
    word.k & 1 != 0
        && matches!(
            ControlWord::decode(word),
            Some(
                ControlWord::Pad
                    | ControlWord::Sdf { .. }
                    | ControlWord::Edf { .. }
                    | ControlWord::Sbf { .. }
                    | ControlWord::Ebf { .. }
                    | ControlWord::Sif { .. }
                    | ControlWord::Fct { .. }
                    | ControlWord::Ack { .. }
                    | ControlWord::Nack { .. }
                    | ControlWord::Full { .. }
                    | ControlWord::Retry
            )
        )
}

impl<const L: usize> MultiLane<L> {
    /// Runs the receivers for one word period.
    #[inline(always)]
    pub fn receive(&mut self, lines: [Option<Word>; L]) -> Option<ReceivedRow<L>> {
        let mut up = [None; L];
        for (index, line) in lines.into_iter().enumerate() {
            let before = self.lanes[index].state();
            up[index] = self.lanes[index].receive(line);
            if before != LaneState::Active || !self.lanes[index].is_active() {
                self.follow(index, before == LaneState::Active);
            }
        }
        if self.changed || !self.all_lanes_active() {
            self.update();
        }
        self.receive_up(up)
    }

    /// Processes the words that the lanes hand up.
    #[inline(always)]
    pub(super) fn receive_up(&mut self, up: [Option<Word>; L]) -> Option<ReceivedRow<L>> {
        if self.is_bypassed() {
            self.misaligned = None;
            let word = up[0]?;
            self.receive_single(word)
        } else {
            self.receive_row(up)
        }
    }

    /// Processes the words of all lanes. Rows of data on aligned lanes take a fast path.
    #[inline(always)]
    fn receive_row(&mut self, up: [Option<Word>; L]) -> Option<ReceivedRow<L>> {
        if self.misaligned.is_some() || !self.is_data(&up) {
            return self.receive_any_row(&up);
        }
        let lanes = self.status.data_receiving;
        let (mut words, mut place) = ([Word::default(); L], 0);
        for (lane, word) in up.into_iter().enumerate() {
            if let Some(word) = word
                && lanes >> lane & 1 != 0
            {
                words[place] = self.fifos[lane].pass(word);
                place += 1;
            }
        }
        let row = self.judge(words, Kinds { data: place as u32, ..Kinds::default() });
        self.advance();
        row
    }

    /// Whether every data-receiving lane has a data word and passes one on, and all other lanes
    /// have nothing.
    #[inline(always)]
    fn is_data(&self, up: &[Option<Word>; L]) -> bool {
        let from = self.status.data_receiving;
        let mut lanes = 0;
        for (lane, word) in up.iter().enumerate() {
            if let Some(word) = word {
                let bit = from & 1 << lane;
                if word.k != 0 || bit != 0 && !self.fifos[lane].passes_data() {
                    return false;
                }
                lanes |= bit;
            }
        }
        lanes == from && lanes != 0 && lanes & !self.receiving == 0
    }

    #[inline(never)]
    fn receive_any_row(&mut self, up: &[Option<Word>; L]) -> Option<ReceivedRow<L>> {
        let mut room = true;
        for (index, word) in up.iter().copied().enumerate() {
            if let Some(word) = word {
                room &= self.arrive(index, word);
            }
        }
        if !room {
            // All lanes together: otherwise one lane would keep a word more than the others.
            self.flush();
            self.misaligned = Some(Misaligned::FifoOverflow);
        }
        let lost = self.settle();
        let row = self.read();
        let lost = self.settle() || lost;
        let row = if lost {
            self.frame = FrameKind::None;
            Some(ReceivedRow::RxErr)
        } else {
            row
        };
        self.advance();
        row
    }

    /// Processes a word of lane 0 while the layer is bypassed.
    #[inline(always)]
    fn receive_single(&mut self, word: Word) -> Option<ReceivedRow<L>> {
        if word.k != 0 {
            return self.receive_single_with_k(word);
        }
        let word = match self.frame {
            FrameKind::Data => self.columns_received[0].receive(word),
            FrameKind::None => word,
            _ => return Some(ReceivedRow::Control { word, crc16_good: true }),
        };
        Some(ReceivedRow::Data { words: [word; L], count: 1 })
    }

    #[inline(never)]
    fn receive_single_with_k(&mut self, word: Word) -> Option<ReceivedRow<L>> {
        let mut kinds = Kinds::default();
        kinds.add(word);
        if kinds.rxerr != 0 {
            self.frame = FrameKind::None;
            return Some(ReceivedRow::RxErr);
        }
        (kinds.data + kinds.control != 0).then(|| self.pass([word; L], 1, kinds))
    }

    /// Processes a word of an active lane and puts it into the alignment buffer. Returns false if
    /// the buffer is full.
    fn arrive(&mut self, lane: usize, word: Word) -> bool {
        let bit = 1 << lane;
        if self.receiving & bit == 0 {
            return true;
        }
        let control = if word.k == 1 { ControlWord::decode(word) } else { None };
        match control {
            Some(ControlWord::Active { lanes }) => self.receive_active(lane, lanes),
            Some(ControlWord::Align { lanes: 0, inverse: 0 }) => {
                self.heard |= bit;
                if self.status.data_receiving & bit != 0 {
                    self.status.data_receiving &= !bit;
                    self.fifos[lane].flush();
                    self.misaligned = Some(Misaligned::DataReceivingLanes);
                }
            }
            Some(ControlWord::Align { lanes, inverse }) if inverse == !lanes => {
                self.heard |= bit;
                if self.status.data_receiving & bit == 0 {
                    self.status.data_receiving |= bit;
                    self.misaligned = Some(Misaligned::DataReceivingLanes);
                }
                if !self.is_valid_align(lane, word) {
                    self.misaligned = Some(Misaligned::InvalidAlign);
                }
            }
            _ => {}
        }
        if self.status.data_receiving & bit != 0 {
            return self.fifos[lane].push(word);
        }
        let runs = self.checks_reserve && self.status.alignment != Alignment::NotReady;
        if runs && is_data_link(word) {
            self.misaligned = Some(Misaligned::ReserveInUse);
        }
        true
    }

    /// Processes an ACTIVE. It is valid if the one before on its lane was the same.
    fn receive_active(&mut self, lane: usize, active: u16) {
        if self.act_before[lane].replace(active) != Some(active) {
            return;
        }
        self.far_end_starts = true;
        self.far_end_asks = self.repeats_active;
        if active != self.status.far_end_active {
            self.status.far_end_active = active;
            self.changed = true;
            self.misaligned = Some(Misaligned::FarEndActiveLanes);
        }
    }

    fn is_valid_align(&self, lane: usize, word: Word) -> bool {
        let Some(ControlWord::Align { lanes, inverse }) = ControlWord::decode(word) else {
            return false;
        };
        let count = self.receiving.count_ones() as u8 & 0xf;
        inverse == !lanes && lanes & 0xf == count && usize::from(lanes >> 4) == lane
    }

    /// Reads a row when every data-receiving lane has a word.
    fn read(&mut self) -> Option<ReceivedRow<L>> {
        let from = self.status.data_receiving;
        let (mut held, mut ready) = (0, from != 0);
        for lane in 0..L {
            if from >> lane & 1 != 0 {
                match self.fifos[lane].head() {
                    None => ready = false,
                    Some(word) if word.k == 1 && self.is_valid_align(lane, word) => {
                        held |= 1 << lane;
                    }
                    Some(_) => {}
                }
            }
        }
        if !ready {
            return None;
        }
        let taken = if held == from { from } else { from & !held };
        let (mut words, mut kinds) = ([Word::default(); L], Kinds::default());
        let mut place = 0;
        for lane in 0..L {
            if taken >> lane & 1 != 0
                && let Some(word) = self.fifos[lane].pop()
            {
                words[place] = word;
                kinds.add(word);
                place += 1;
            }
        }
        if held == from {
            self.aligned = true;
            return None;
        }
        if held != 0 {
            if self.aligned {
                self.misaligned = Some(Misaligned::HeldAlign);
            }
            return if kinds.is_multi_lane() { None } else { Some(self.lose()) };
        }
        self.judge(words, kinds)
    }

    fn lose(&mut self) -> ReceivedRow<L> {
        self.frame = FrameKind::None;
        if self.status.alignment != Alignment::NotReady && self.ready_periods < self.early {
            self.misaligned = Some(Misaligned::EarlyRxErr);
        }
        ReceivedRow::RxErr
    }

    /// Checks the words of a row (50-11C 5.6.4.6).
    #[inline(always)]
    fn judge(&mut self, words: [Word; L], kinds: Kinds) -> Option<ReceivedRow<L>> {
        let lanes = self.status.data_receiving;
        let count = lanes.count_ones();
        if kinds.active == count || kinds.align == count {
            return None;
        }
        if self.status.alignment == Alignment::NotReady {
            return if kinds.is_multi_lane() { None } else { Some(self.lose()) };
        }
        if kinds.rxerr != 0 {
            if self.rxerr_row_misaligns {
                self.misaligned = Some(Misaligned::RxErrRow);
            }
            return Some(self.lose());
        }
        if kinds.active + kinds.align != 0 {
            return Some(self.lose());
        }
        let data_row = kinds.control == 0 && kinds.data != 0 && !kinds.gap;
        let control_row = kinds.control == count;
        if !data_row && !control_row {
            self.misaligned = Some(Misaligned::InvalidRow);
            return Some(self.lose());
        }
        self.data_received |= data_row;
        Some(self.pass(words, lanes, kinds))
    }

    /// Processes a valid row by the frame it belongs to.
    #[inline(always)]
    fn pass(&mut self, words: [Word; L], lanes: u16, kinds: Kinds) -> ReceivedRow<L> {
        let word = words.first().copied().unwrap_or(Word::RXERR);
        if kinds.control != 0 {
            return ReceivedRow::Control { word, crc16_good: self.control(&words, lanes) };
        }
        match self.frame {
            FrameKind::Broadcast | FrameKind::BroadcastInData | FrameKind::Idle => {
                ReceivedRow::Control { word, crc16_good: true }
            }
            FrameKind::None => ReceivedRow::Data { words, count: kinds.data as u8 },
            FrameKind::Data => {
                let (mut words, mut place) = (words, 0);
                let columns = &mut self.columns_received;
                each(lanes, columns, |_, column| {
                    if place < kinds.data as usize {
                        words[place] = column.receive(words[place]);
                        place += 1;
                    }
                });
                ReceivedRow::Data { words, count: kinds.data as u8 }
            }
        }
    }

    /// Follows the frames through a control row. Returns whether the CRC-16 of all columns is good.
    fn control(&mut self, words: &[Word; L], lanes: u16) -> bool {
        let before = self.frame;
        match words.first().copied().and_then(ControlWord::decode) {
            Some(ControlWord::Sdf { .. }) => {
                self.frame = FrameKind::Data;
                self.start_columns(words, lanes);
            }
            Some(ControlWord::Edf { .. }) => {
                self.frame = FrameKind::None;
                let (mut good, mut place) = (before == FrameKind::Data, 0);
                each(lanes, &mut self.columns_received, |_, column| {
                    good &= column.is_good(words[place]);
                    place += 1;
                });
                return good;
            }
            Some(ControlWord::Sbf { .. }) => {
                self.frame = match before {
                    FrameKind::Data => FrameKind::BroadcastInData,
                    FrameKind::None | FrameKind::Idle => FrameKind::Broadcast,
                    FrameKind::Broadcast | FrameKind::BroadcastInData => FrameKind::None,
                };
            }
            Some(ControlWord::Ebf { .. }) => {
                let inside = before == FrameKind::BroadcastInData;
                self.frame = if inside { FrameKind::Data } else { FrameKind::None };
            }
            Some(ControlWord::Sif { .. }) => self.frame = FrameKind::Idle,
            Some(ControlWord::Retry) => self.frame = FrameKind::None,
            _ => {}
        }
        true
    }

    fn start_columns(&mut self, words: &[Word; L], lanes: u16) {
        let mut place = 0;
        let (scrambled, heard) = (self.far_end_scrambles, self.capability_heard);
        each(lanes, &mut self.columns_received, |lane, column| {
            let bit = 1 << lane;
            // A lane that only receives has no INIT3; the last INIT3 of any lane applies to it.
            let bits = if heard & bit != 0 { scrambled & bit != 0 } else { self.any_scrambles };
            column.start(words[place], bits);
            place += 1;
        });
    }

    /// Processes a word of a lane that was not or is not active.
    #[inline(never)]
    fn follow(&mut self, index: usize, was_active: bool) {
        self.changed = true;
        let bit = 1 << index;
        let lane = &mut self.lanes[index];
        if let Some(bits) = lane.take_far_end_capability() {
            let scrambles = bits & capability::DATA_SCRAMBLED != 0;
            self.any_scrambles = scrambles;
            self.capability_heard |= bit;
            self.far_end_scrambles &= !bit;
            self.far_end_scrambles |= if scrambles { bit } else { 0 };
            self.capability_events |= bit;
            self.lane_was_active = self.status.active != 0;
            if index == 0 && self.multi_lane {
                self.status.bypass = bits & capability::MULTI_LANE == 0;
            }
        }
        if lane.is_active() && !was_active {
            self.fifos[index].flush();
            self.act_before[index] = None;
            self.heard &= !bit;
            self.held_back = self.held_back.max(u32::from(self.active_idle));
        }
        if lane.state() == LaneState::ClearLine {
            self.status.far_end_active &= !bit;
        }
    }
}
