//! Receive side: checks, data word identification, replies (50-11C 5.7.7, 5.7.8).

use super::broadcast::LinkBroadcast;
use super::buffer::Store;
use super::identify::{CheckedWord, IdentificationState, WordVerdict};
use super::{DataLink, SEGMENT_WORDS};
use crate::control::ControlWord;
use crate::crc::Crc8;
use crate::row::ReceivedRow;
use crate::word::Word;

/// Stands for the virtual channel of a data frame whose channel does not exist.
const NO_CHANNEL: u8 = u8::MAX;

/// State of the frame that is being received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Receiver {
    /// Virtual channel of the data frame.
    pub(super) vc: u8,
    pub(super) words: u32,
    broadcast: LinkBroadcast,
    second: bool,
    crc8: Crc8,
}

impl Receiver {
    fn broadcast_word(&mut self, word: Word) {
        self.crc8 = self.crc8.symbols(word, 4);
        let [a, b, c, d] = word.symbols();
        let [e, f, g, h] = {
            let data = self.broadcast.data;
            if self.second { [data[0], data[1], data[2], data[3]] } else { [0; 4] }
        };
        self.broadcast.data =
            if self.second { [e, f, g, h, a, b, c, d] } else { [a, b, c, d, 0, 0, 0, 0] };
        self.second = true;
    }
}

impl<B: Store, const L: usize, const V: usize> DataLink<B, L, V> {
    /// Processes the row of this word period. Words that belong to the lanes (SKIP, IDLE) are not
    /// rows.
    #[inline(always)]
    pub fn receive(&mut self, row: ReceivedRow<L>) {
        if !self.reset.is_initialised() {
            // An acknowledgement from before the reset would look like a protocol error.
            return;
        }
        match row {
            ReceivedRow::Data { words, count } => {
                let count = usize::from(count).min(L);
                self.receive_data(words.get(..count).unwrap_or(&[]));
            }
            ReceivedRow::Control { word, .. } if word.k == 0 => self.receive_data(&[word]),
            ReceivedRow::Control { word, crc16_good } => self.receive_control(word, crc16_good),
            ReceivedRow::RxErr => {
                self.transmitter.recheck();
                self.receive_event(CheckedWord::RxErr, 0);
            }
        }
    }

    #[inline(always)]
    fn receive_data(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        let state = self.identification.state();
        let count = if state == IdentificationState::RxDataFrame { words.len() as u32 } else { 1 };
        match self.identification.step(CheckedWord::Data(count)) {
            WordVerdict::Accept if state == IdentificationState::RxDataFrame => {
                self.receiver.words += count;
                if let Some(input) = self.inputs.get_mut(usize::from(self.receiver.vc)) {
                    for word in words {
                        input.stage(*word);
                    }
                }
            }
            WordVerdict::Accept if state != IdentificationState::RxIdleFrame => {
                self.receiver.broadcast_word(*first);
            }
            WordVerdict::FrameError => self.frame_error(),
            _ => {}
        }
    }

    #[inline(never)]
    fn receive_control(&mut self, word: Word, crc16_good: bool) {
        self.transmitter.recheck();
        let Some(control) = ControlWord::decode(word) else {
            if word.is_n_chars() {
                self.receive_data(&[word]);
            }
            return;
        };
        match control {
            ControlWord::Sdf { vc } => self.receive_sdf(vc),
            ControlWord::Edf { seq, .. } => {
                let event = CheckedWord::Edf { crc: crc16_good, seq: self.sequence.is_next(seq) };
                if self.check(event, seq) {
                    self.accept_data_frame();
                }
            }
            ControlWord::Sbf { channel, kind } => {
                if self.check(CheckedWord::Sbf, 0) {
                    self.receiver.broadcast =
                        LinkBroadcast { channel, kind, ..LinkBroadcast::default() };
                    self.receiver.second = false;
                    self.receiver.crc8 = Crc8::new().symbols(word, 4);
                }
            }
            ControlWord::Ebf { status, seq, crc } => {
                let good = self.receiver.crc8.symbols(word, 3).value() == crc;
                let event = CheckedWord::Ebf { crc: good, seq: self.sequence.is_next(seq) };
                if self.check(event, seq) {
                    self.accept_broadcast(status);
                }
            }
            ControlWord::RxErr => self.receive_event(CheckedWord::RxErr, 0),
            ControlWord::Retry => {
                self.status.received.retries += 1;
                self.receive_event(CheckedWord::Retry, 0);
            }
            _ => self.receive_single(control),
        }
    }

    /// Processes SIF, FCT, ACK, NACK and FULL. Words of other layers and unknown words are ignored.
    fn receive_single(&mut self, control: ControlWord) {
        let crc = control.crc8_is_good();
        let (event, seq) = match control {
            ControlWord::Sif { seq, .. } => {
                (CheckedWord::Sif { crc, seq: self.sequence.is_current(seq) }, seq)
            }
            ControlWord::Fct { seq, .. } => {
                (CheckedWord::Single { crc, seq: self.sequence.is_next(seq) }, seq)
            }
            ControlWord::Full { seq, .. } => {
                (CheckedWord::Single { crc, seq: self.sequence.is_current(seq) }, seq)
            }
            ControlWord::Ack { seq, .. } | ControlWord::Nack { seq, .. } => {
                (CheckedWord::Single { crc, seq: true }, seq)
            }
            _ => return,
        };
        if self.check(event, seq) {
            self.accept_single(control);
        }
    }

    fn accept_single(&mut self, control: ControlWord) {
        let received = &mut self.status.received;
        match control {
            ControlWord::Sif { .. } => received.idle_frames += 1,
            ControlWord::Fct { multiplier, vc, .. } => self.accept_fct(usize::from(vc), multiplier),
            ControlWord::Full { .. } => {
                received.fulls += 1;
                self.sequence.request_ack();
            }
            ControlWord::Ack { seq, .. } => {
                received.acks += 1;
                self.acknowledged(seq);
            }
            ControlWord::Nack { seq, .. } => {
                received.nacks += 1;
                self.refused(seq);
            }
            _ => {}
        }
    }

    /// Returns whether to use a word, and handles errors.
    #[inline]
    fn check(&mut self, event: CheckedWord, seq: u8) -> bool {
        let outcome = self.identification.step(event);
        if outcome != WordVerdict::Accept {
            self.refuse(event, outcome, seq);
        }
        outcome == WordVerdict::Accept
    }

    #[inline(never)]
    fn receive_event(&mut self, event: CheckedWord, seq: u8) {
        self.check(event, seq);
    }

    #[cold]
    fn refuse(&mut self, event: CheckedWord, outcome: WordVerdict, seq: u8) {
        match outcome {
            WordVerdict::Ignore | WordVerdict::Accept => {}
            WordVerdict::FrameError => self.frame_error(),
            WordVerdict::CrcError { nack } => {
                let single = matches!(event, CheckedWord::Single { .. } | CheckedWord::Sif { .. });
                if matches!(event, CheckedWord::Edf { .. }) {
                    self.status.crc16_error = true;
                    self.status.errors.crc16 += 1;
                } else {
                    self.status.crc8_error = true;
                    self.status.errors.crc8 += 1;
                }
                self.transmitter.ask_when_idle();
                if nack && (!single || self.config.nack_on_single_crc) {
                    self.sequence.request_nack();
                }
            }
            WordVerdict::SequenceError => {
                self.status.sequence_error = true;
                self.status.errors.sequence += 1;
                self.sequence.sequence_error(seq);
            }
            WordVerdict::RxErr { nack } => {
                self.status.errors.rxerr += 1;
                self.transmitter.ask_when_idle();
                if nack {
                    self.sequence.request_nack();
                }
            }
        }
    }

    fn receive_sdf(&mut self, vc: u8) {
        if self.check(CheckedWord::Sdf, 0) {
            let vc = if usize::from(vc) < self.channels { vc } else { NO_CHANNEL };
            self.receiver.vc = vc;
            self.receiver.words = 0;
            if let Some(input) = self.inputs.get_mut(usize::from(vc)) {
                input.begin();
            }
        }
    }

    /// Accepts a data frame. Data for a channel that does not exist is dropped.
    fn accept_data_frame(&mut self) {
        self.sequence.accept();
        self.status.received.data_frames += 1;
        self.status.received.data_words += u64::from(self.receiver.words);
        let vc = usize::from(self.receiver.vc);
        if let Some(words) = self.words[1].get_mut(vc) {
            *words += u64::from(self.receiver.words);
        }
        let Some(input) = self.inputs.get_mut(vc) else { return };
        if input.accept() {
            self.readable |= u32::from(input.len() != 0) << (vc & 31);
        } else {
            self.status.input_buffer_overflow |= 1 << (vc & 31);
            self.status.errors.input_buffer_overflow += 1;
            self.reset.link_reset();
        }
    }

    fn accept_broadcast(&mut self, status: u8) {
        self.sequence.accept();
        self.status.received.broadcast_frames += 1;
        let mut message = self.receiver.broadcast;
        message.late = status & 1 != 0;
        message.delayed = status & 2 != 0;
        if !self.arrived.push(message) {
            self.status.broadcasts_dropped += 1;
        }
    }

    fn accept_fct(&mut self, vc: usize, multiplier: u8) {
        self.sequence.accept();
        self.status.received.fcts += 1;
        let Some(credit) = self.credit.get_mut(vc).filter(|_| vc < self.channels) else { return };
        *credit += u32::from(multiplier) * SEGMENT_WORDS as u32;
        if *credit > self.config.fct_credit_limit_words {
            *credit = self.config.fct_credit_limit_words;
            self.status.fct_credit_overflow |= 1 << (vc & 31);
            self.status.errors.fct_credit_overflow += 1;
        }
        self.refresh(vc);
    }

    fn acknowledged(&mut self, seq: u8) {
        if !self.recovery.is_valid(seq) {
            return;
        }
        if self.recovery.acknowledge(seq).is_err() {
            self.protocol_error();
            return;
        }
        self.transmitter.acknowledged();
    }

    fn refused(&mut self, seq: u8) {
        if !self.recovery.is_valid(seq) {
            return;
        }
        if self.recovery.refuse(seq).is_err() {
            self.protocol_error();
            return;
        }
        self.status.error_recovery_attempts += 1;
        // A NACK acknowledges what was sent before its number.
        self.transmitter.acknowledged();
        self.transmitter.retry();
        self.waiting.for_each(|message| message.late = true);
    }

    #[cold]
    fn frame_error(&mut self) {
        self.status.frame_error = true;
        self.status.errors.frame += 1;
    }

    fn protocol_error(&mut self) {
        self.status.protocol_error = true;
        self.status.errors.protocol += 1;
        self.reset.link_reset();
    }
}
