//! Transmit side: precedence of words (50-11C 5.3.10), framing (5.7.6), medium access (5.7.4).

use super::buffer::Store;
use super::sequence::Acknowledgement;
use super::{DataLink, SEGMENT_WORDS};
use crate::control::{self, ControlWord};
use crate::crc::Crc8;
use crate::qos::UPDATE_ROWS;
use crate::row::Row;
use crate::word::Word;

/// Minimum number of rows between two FULLs.
const FULL_ROWS: u64 = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CurrentFrame {
    #[default]
    None,
    Idle {
        /// Pseudo-random words that may still follow.
        left: u8,
    },
    /// A frame of the error recovery buffer, and the position of its next word.
    Data {
        position: usize,
        end: usize,
        /// Virtual channel to charge for the bandwidth; `None` for a resend.
        vc: Option<u8>,
        rows: u32,
    },
}

/// State of the transmit side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Transmitter {
    pub(super) frame: CurrentFrame,
    /// Words already sent of the broadcast frame in progress; 0 if there is none.
    broadcast: u8,
    crc8: Crc8,
    retry: bool,
    no_lane: bool,
    /// Rows sent since the link reset.
    rows: u64,
    /// First row in which an ACK may be sent.
    next_ack: u64,
    /// Number in the last NACK, and the first row in which it may be repeated.
    last_nack: Option<u8>,
    next_nack: u64,
    /// Something waits for room in the error recovery buffer.
    full: bool,
    next_full: u64,
    full_after_error: bool,
    /// Rows since the bandwidth credits were last updated.
    since_update: u32,
    fct_turn: u32,
    /// Rows for which the frame in progress can continue without checking anything else.
    pub(super) quiet: u32,
    /// Rows of those that are not accounted for yet.
    pub(super) skipped: u32,
}

impl Transmitter {
    pub fn no_lane(&self) -> bool {
        self.no_lane
    }

    pub fn is_retrying(&self) -> bool {
        self.retry
    }

    pub fn in_broadcast(&self) -> bool {
        self.broadcast != 0
    }

    /// A valid NACK was received: RETRY is sent next.
    pub fn retry(&mut self) {
        self.retry = true;
    }

    /// A word was damaged, and may have been an acknowledgement.
    pub fn ask_when_idle(&mut self) {
        self.full_after_error = true;
    }

    /// The error recovery buffer got room.
    pub fn acknowledged(&mut self) {
        self.full = false;
    }

    /// Something changed: checks everything before the next row.
    #[inline(always)]
    pub fn recheck(&mut self) {
        self.quiet = 0;
    }

    fn blocked(&mut self) {
        if !self.full {
            self.full = true;
            self.next_full = self.next_full.max(self.rows);
        }
    }
}

impl<B: Store, const L: usize, const V: usize> DataLink<B, L, V> {
    /// Returns the row of this word period for `lanes` data-sending lanes. `lanes` is 0 while no
    /// lane is active or the lanes are not aligned. Then, and during a link reset, there is no row.
    #[inline(always)]
    pub fn transmit(&mut self, lanes: usize) -> Option<Row<L>> {
        if lanes == 0 || !self.reset.is_initialised() {
            self.transmit_nothing(lanes);
            return None;
        }
        if self.transmitter.quiet != 0 {
            self.transmitter.quiet -= 1;
            self.transmitter.skipped += 1;
            if let Some(row) = self.continue_frame(lanes) {
                return Some(row);
            }
            self.transmitter.skipped -= 1;
        }
        Some(self.transmit_checked(lanes))
    }

    /// The next row of the frame in progress; `None` if the frame is complete.
    #[inline(always)]
    fn continue_frame(&mut self, lanes: usize) -> Option<Row<L>> {
        match &mut self.transmitter.frame {
            CurrentFrame::Data { position, end, rows, .. } if position != end => {
                let first = *position;
                let count = end.wrapping_sub(first).min(lanes).min(L);
                *position = first.wrapping_add(count);
                *rows += 1;
                let ring = self.recovery.words();
                let mut words = [Word::default(); L];
                for (index, word) in words.iter_mut().enumerate().take(count) {
                    *word = ring.at(first.wrapping_add(index));
                }
                Some(Row::Data { words, count: count as u8 })
            }
            CurrentFrame::Idle { left } if *left != 0 => {
                *left -= 1;
                Some(Row::Control(Word::data(self.prbs.word())))
            }
            _ => None,
        }
    }

    /// A row before which everything is checked. A separate function keeps the common path short.
    #[inline(never)]
    fn transmit_checked(&mut self, lanes: usize) -> Row<L> {
        self.count_rows();
        if let Some(word) = self.urgent() {
            return Row::Control(word);
        }
        match self.transmitter.frame {
            CurrentFrame::Data { position, end, vc, rows } if position == end => {
                Row::Control(self.end_data_frame(vc, rows))
            }
            CurrentFrame::Data { .. } => self.go_on(lanes),
            _ => match self.between_frames() {
                Some(word) => Row::Control(word),
                None => self.go_on(lanes),
            },
        }
    }

    /// Continues the frame, and computes for how many rows nothing else needs checking.
    fn go_on(&mut self, lanes: usize) -> Row<L> {
        let row = self.continue_frame(lanes);
        let t = &self.transmitter;
        let mut quiet = self.flow.quiet_rows();
        if !matches!(t.frame, CurrentFrame::Data { vc: Some(_), .. }) {
            quiet = quiet.min((UPDATE_ROWS - 1).saturating_sub(t.since_update));
        }
        let until = |row: u64| row.saturating_sub(t.rows + 1).min(u64::from(u32::MAX)) as u32;
        if self.sequence.reply() != Acknowledgement::None {
            quiet = quiet.min(until(self.reply_row(self.sequence.reply())));
        }
        if t.full {
            quiet = quiet.min(until(t.next_full));
        }
        // Something waits for room, or for the end of an idle frame.
        let idle = matches!(t.frame, CurrentFrame::Idle { .. });
        if self.fct_due != 0 || idle && self.qos.competing(self.ready) != 0 {
            quiet = 0;
        }
        self.transmitter.quiet = quiet;
        // There is always a row here. If there were none, a SIF would do no harm.
        row.unwrap_or_else(|| Row::Control(self.start_idle_frame()))
    }

    #[cold]
    fn transmit_nothing(&mut self, lanes: usize) {
        self.transmitter.recheck();
        if self.reset.step(lanes != 0, self.config.link_reset_retry_words) {
            self.reset_layer();
        }
        if lanes == 0 {
            self.transmitter.no_lane = true;
            self.waiting.for_each(|message| message.late = true);
            let mut rest = self.parameters.continuous_mode;
            while rest != 0 {
                let vc = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                if let Some(output) = self.output_mut(vc) {
                    output.lane_lost();
                    self.refresh(vc);
                }
            }
        }
    }

    /// Accounts for rows of idle frames that were skipped: the credits of broadcast messages and
    /// virtual channels go on. No effect while no rows are sent.
    pub fn skip_idle_rows(&mut self, rows: u32) {
        if rows != 0 && self.reset.is_initialised() && !self.transmitter.no_lane {
            self.transmitter.skipped = self.transmitter.skipped.saturating_add(rows - 1);
            self.count_rows();
        }
    }

    /// Accounts for this row and the skipped ones.
    fn count_rows(&mut self) {
        self.reset.lane_active();
        let t = &mut self.transmitter;
        let rows = t.skipped.saturating_add(1);
        t.no_lane = false;
        t.quiet = 0;
        t.skipped = 0;
        t.rows += u64::from(rows);
        // The credits are full long before this saturates.
        t.since_update = t.since_update.saturating_add(rows);
        self.flow.rows(rows);
        let t = &self.transmitter;
        if t.since_update >= UPDATE_ROWS
            && !matches!(t.frame, CurrentFrame::Data { vc: Some(_), .. })
        {
            self.update_qos(None);
        }
    }

    fn update_qos(&mut self, used: Option<(usize, u32)>) {
        self.qos.update(self.transmitter.since_update, used);
        self.transmitter.since_update = 0;
    }

    /// Words that take precedence over data and idle frames, in the order of the standard.
    fn urgent(&mut self) -> Option<Word> {
        if self.transmitter.retry {
            return Some(self.send_retry());
        }
        if self.transmitter.broadcast != 0 {
            return Some(self.continue_broadcast());
        }
        if self.recovery.broadcasts.is_pending() || self.take_broadcast() {
            return Some(self.start_broadcast());
        }
        let reply = self.sequence.reply();
        if reply != Acknowledgement::None && self.transmitter.rows >= self.reply_row(reply) {
            return Some(self.send_reply(reply));
        }
        if self.recovery.fcts.is_pending() || self.fct_due != 0 && self.take_fct() {
            return Some(self.send_fct());
        }
        if self.transmitter.full && self.transmitter.rows >= self.transmitter.next_full {
            self.transmitter.next_full = self.transmitter.rows + FULL_ROWS;
            return Some(self.send_full());
        }
        None
    }

    /// RETRY ends every frame in progress; an unfinished frame is sent again.
    fn send_retry(&mut self) -> Word {
        self.transmitter.retry = false;
        self.transmitter.broadcast = 0;
        if let CurrentFrame::Data { vc: Some(vc), rows, .. } = self.transmitter.frame {
            self.update_qos(Some((usize::from(vc), rows + 1)));
        }
        self.transmitter.frame = CurrentFrame::None;
        self.status.sent.retries += 1;
        ControlWord::Retry.encode()
    }

    /// Moves a new broadcast message to the error recovery buffer, if one may be sent.
    #[inline(always)]
    fn take_broadcast(&mut self) -> bool {
        self.waiting.len() != 0 && self.flow.may_send() && self.take_waiting_broadcast()
    }

    fn take_waiting_broadcast(&mut self) -> bool {
        if !self.recovery.has_broadcast_room() {
            self.transmitter.blocked();
            return false;
        }
        let Some(message) = self.waiting.pop() else { return false };
        self.recovery.store_broadcast(message);
        self.flow.sent();
        true
    }

    fn start_broadcast(&mut self) -> Word {
        let message = self.recovery.broadcasts.next().map(|m| m.broadcast).unwrap_or_default();
        let word = ControlWord::Sbf { channel: message.channel, kind: message.kind }.encode();
        if matches!(self.transmitter.frame, CurrentFrame::Idle { .. }) {
            self.transmitter.frame = CurrentFrame::None;
        }
        self.transmitter.crc8 = Crc8::new().symbols(word, 4);
        self.transmitter.broadcast = 1;
        word
    }

    fn continue_broadcast(&mut self) -> Word {
        let message = self.recovery.broadcasts.next().map(|m| m.broadcast).unwrap_or_default();
        if self.transmitter.broadcast == 3 {
            self.transmitter.broadcast = 0;
            self.status.sent.broadcast_frames += 1;
            let seq = self.recovery.send_broadcast();
            return control::ebf(self.transmitter.crc8, message.status(), seq);
        }
        let word = message.word(self.transmitter.broadcast == 2);
        self.transmitter.crc8 = self.transmitter.crc8.symbols(word, 4);
        self.transmitter.broadcast += 1;
        word
    }

    /// First row in which a reply may be sent.
    fn reply_row(&self, reply: Acknowledgement) -> u64 {
        let t = &self.transmitter;
        if reply == Acknowledgement::Ack {
            return t.next_ack;
        }
        let gap = if self.config.nack_keeps_gap { t.next_ack } else { 0 };
        let repeats = t.last_nack == Some(self.sequence.reply_seq());
        if repeats { gap.max(t.next_nack) } else { gap }
    }

    fn send_reply(&mut self, reply: Acknowledgement) -> Word {
        let seq = self.sequence.reply_seq();
        self.sequence.replied();
        if reply == Acknowledgement::Nack {
            self.status.sent.nacks += 1;
            let repeat = u64::from(self.config.nack_repeat_words);
            self.transmitter.last_nack = Some(seq);
            self.transmitter.next_nack = self.transmitter.rows + repeat + 1;
            return ControlWord::Nack { seq, crc: 0 }.sealed();
        }
        self.transmitter.next_ack =
            self.transmitter.rows + u64::from(self.config.ack_gap_words.max(15)) + 1;
        self.status.sent.acks += 1;
        ControlWord::Ack { seq, crc: 0 }.sealed()
    }

    /// Moves a new FCT to the error recovery buffer, round-robin over the virtual channels.
    fn take_fct(&mut self) -> bool {
        if !self.recovery.has_fct_room() {
            self.transmitter.blocked();
            return false;
        }
        let turn = self.transmitter.fct_turn;
        let vc = (self.fct_due.rotate_right(turn).trailing_zeros() + turn) & 31;
        self.transmitter.fct_turn = (vc + 1) & 31;
        let quantum = self.quantum();
        let Some(input) = self.inputs.get_mut(vc as usize) else { return false };
        input.grant(quantum);
        if !input.has_room(quantum) {
            self.fct_due &= !(1 << vc);
        }
        self.recovery.store_fct(vc as u8);
        true
    }

    fn send_fct(&mut self) -> Word {
        let (vc, seq) = self.recovery.send_fct();
        self.status.sent.fcts += 1;
        ControlWord::Fct { multiplier: self.config.fct_multiplier, vc, seq, crc: 0 }.sealed()
    }

    fn send_full(&mut self) -> Word {
        self.status.sent.fulls += 1;
        ControlWord::Full { seq: self.recovery.seq(), crc: 0 }.sealed()
    }

    fn end_data_frame(&mut self, vc: Option<u8>, rows: u32) -> Word {
        if let Some(vc) = vc {
            self.update_qos(Some((usize::from(vc), rows + 2)));
        }
        self.transmitter.frame = CurrentFrame::None;
        let words = self.recovery.frames.next().map_or(0, |frame| frame.words);
        if let Some(count) = vc.and_then(|vc| self.words[0].get_mut(usize::from(vc))) {
            *count += words as u64;
        }
        self.status.sent.data_frames += 1;
        self.status.sent.data_words += words as u64;
        let seq = self.recovery.send_frame();
        ControlWord::Edf { seq, crc: 0 }.encode()
    }

    /// The first word of a data frame if there is one to send, otherwise a SIF; `None` if the idle
    /// frame continues.
    fn between_frames(&mut self) -> Option<Word> {
        if let Some(frame) = self.recovery.frames.next().copied() {
            return Some(self.start_data_frame(frame.vc, frame.start, frame.words, false));
        }
        if self.qos.competing(self.ready) != 0
            && let Some(vc) = self.qos.select(self.ready)
        {
            if let Some((start, words)) = self.take_segment(vc) {
                return Some(self.start_data_frame(vc as u8, start, words, true));
            }
            self.transmitter.blocked();
            if self.transmitter.rows >= self.transmitter.next_full {
                self.transmitter.next_full = self.transmitter.rows + FULL_ROWS;
                return Some(self.send_full());
            }
        } else if self.transmitter.full_after_error {
            self.transmitter.full_after_error = false;
            if !self.recovery.is_empty() {
                return Some(self.send_full());
            }
        }
        match self.transmitter.frame {
            CurrentFrame::Idle { left } if left != 0 => None,
            _ => Some(self.start_idle_frame()),
        }
    }

    /// Moves a segment of a virtual channel to the error recovery buffer if it has room (5.7.2).
    fn take_segment(&mut self, vc: usize) -> Option<(usize, usize)> {
        let most = self.segment();
        let (Some(output), Some(credit)) = (self.outputs.get_mut(vc), self.credit.get_mut(vc))
        else {
            return None;
        };
        let words = output.len().min(most).min(*credit as usize);
        if !self.recovery.has_room(words) {
            return None;
        }
        self.recovery.store_frame(vc as u8, words);
        let start = self.recovery.words().tail();
        output.take(words, self.recovery.words());
        *credit -= words as u32;
        self.qos.selected(vc);
        self.refresh(vc);
        Some((start, words))
    }

    fn start_data_frame(&mut self, vc: u8, start: usize, words: usize, new: bool) -> Word {
        let end = start.wrapping_add(words);
        let charged = new.then_some(vc);
        self.transmitter.frame = CurrentFrame::Data { position: start, end, vc: charged, rows: 0 };
        ControlWord::Sdf { vc }.encode()
    }

    fn start_idle_frame(&mut self) -> Word {
        self.transmitter.frame = CurrentFrame::Idle { left: SEGMENT_WORDS as u8 };
        self.status.sent.idle_frames += 1;
        ControlWord::Sif { seq: self.recovery.seq(), crc: 0 }.sealed()
    }
}
