//! Error recovery buffer and numbering of sent items (50-11C 5.7.6.3, 5.7.7).
//!
//! An item is stored before it gets its number, because a resend gives it another one. The kinds of
//! items have separate queues, so that data never takes the room of an FCT or a broadcast message.

use super::broadcast::LinkBroadcast;
use super::buffer::{Ring, Store};
use super::queue::ResendQueue;
use super::sequence::seq_num;

/// Maximum number of unacknowledged items.
pub const ITEMS: usize = 127;
/// Items that data leaves free for FCTs and broadcast messages.
const RESERVE: usize = 8;
/// Maximum number of unacknowledged broadcast messages.
pub const BROADCASTS: usize = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoredFrame {
    pub vc: u8,
    seq: u8,
    pub words: usize,
    pub start: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fct {
    pub vc: u8,
    seq: u8,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    pub broadcast: LinkBroadcast,
    seq: u8,
}

/// An ACK or NACK matches no outstanding item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProtocolError;

pub(super) struct Recovery<B> {
    words: Ring<B>,
    pub frames: ResendQueue<StoredFrame, 128>,
    pub fcts: ResendQueue<Fct, 128>,
    pub broadcasts: ResendQueue<Message, BROADCASTS>,
    /// Number of the last item sent.
    count: u8,
    /// Number of the last acknowledged item.
    acknowledged: u8,
    /// Transmit polarity flag.
    negative: bool,
}

impl<B: Store> Recovery<B> {
    pub fn new(words: B) -> Self {
        Self {
            words: Ring::new(words),
            frames: ResendQueue::new(),
            fcts: ResendQueue::new(),
            broadcasts: ResendQueue::new(),
            count: 0,
            acknowledged: 0,
            negative: false,
        }
    }

    pub fn capacity(&self) -> usize {
        self.words.capacity()
    }

    #[inline(always)]
    pub fn words(&mut self) -> &mut Ring<B> {
        &mut self.words
    }

    #[inline(always)]
    pub fn items(&self) -> usize {
        self.frames.len() + self.fcts.len() + self.broadcasts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items() == 0
    }

    /// Whether a segment of this many words fits.
    pub fn has_room(&self, words: usize) -> bool {
        self.words.free() >= words && self.items() < ITEMS - RESERVE
    }

    pub fn has_fct_room(&self) -> bool {
        !self.fcts.is_full() && self.items() < ITEMS - 1
    }

    pub fn has_broadcast_room(&self) -> bool {
        !self.broadcasts.is_full() && self.items() < ITEMS
    }

    /// Number of the last item sent, for SIF and FULL.
    pub fn seq(&self) -> u8 {
        seq_num(self.count, self.negative)
    }

    fn number(&mut self) -> u8 {
        self.count = (self.count + 1) & 0x7f;
        self.seq()
    }

    /// Gives the next frame its number when its EDF is sent.
    pub fn send_frame(&mut self) -> u8 {
        let seq = self.number();
        if let Some(frame) = self.frames.next_mut() {
            frame.seq = seq;
        }
        self.frames.advance();
        seq
    }

    /// Gives the next FCT its number when it is sent. Returns its virtual channel and number.
    pub fn send_fct(&mut self) -> (u8, u8) {
        let seq = self.number();
        let mut vc = 0;
        if let Some(fct) = self.fcts.next_mut() {
            fct.seq = seq;
            vc = fct.vc;
        }
        self.fcts.advance();
        (vc, seq)
    }

    /// Gives the next broadcast frame its number when its EBF is sent.
    pub fn send_broadcast(&mut self) -> u8 {
        let seq = self.number();
        if let Some(message) = self.broadcasts.next_mut() {
            message.seq = seq;
        }
        self.broadcasts.advance();
        seq
    }

    /// Adds a frame; the caller puts its words into [`Self::words`] right after.
    pub fn store_frame(&mut self, vc: u8, words: usize) {
        let start = self.words.tail();
        self.frames.push(StoredFrame { vc, seq: 0, words, start });
    }

    pub fn store_fct(&mut self, vc: u8) {
        self.fcts.push(Fct { vc, seq: 0 });
    }

    pub fn store_broadcast(&mut self, broadcast: LinkBroadcast) {
        self.broadcasts.push(Message { broadcast, seq: 0 });
    }

    /// Whether an ACK or NACK has the polarity of the items being sent.
    pub fn is_valid(&self, seq: u8) -> bool {
        (seq >> 7 != 0) == self.negative
    }

    /// Processes a valid ACK: removes the acknowledged items.
    pub fn acknowledge(&mut self, seq: u8) -> Result<(), ProtocolError> {
        let last = self.acknowledged;
        let age = |seq: u8| seq.wrapping_sub(last) & 0x7f;
        let upto = age(seq);
        if upto > age(self.count) {
            return Err(ProtocolError);
        }
        self.acknowledged = seq & 0x7f;
        while self.frames.first_sent().is_some_and(|frame| age(frame.seq) <= upto) {
            if let Some(frame) = self.frames.pop() {
                self.words.advance_head(frame.words);
            }
        }
        while self.fcts.first_sent().is_some_and(|fct| age(fct.seq) <= upto) {
            self.fcts.pop();
        }
        while self.broadcasts.first_sent().is_some_and(|message| age(message.seq) <= upto) {
            self.broadcasts.pop();
        }
        Ok(())
    }

    /// Processes a valid NACK: the remaining items are sent again with the other polarity.
    pub fn refuse(&mut self, seq: u8) -> Result<(), ProtocolError> {
        self.acknowledge(seq)?;
        self.count = seq & 0x7f;
        self.negative = !self.negative;
        self.frames.rewind();
        self.fcts.rewind();
        self.broadcasts.rewind();
        self.broadcasts.for_each(|message| message.broadcast.late = true);
        Ok(())
    }

    pub fn link_reset(&mut self) {
        self.words.clear();
        self.frames.clear();
        self.fcts.clear();
        self.broadcasts.clear();
        (self.count, self.acknowledged, self.negative) = (0, 0, false);
    }
}
