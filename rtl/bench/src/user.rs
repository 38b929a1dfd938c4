//! The user's two ends: messages into beats, beats into segments.

use std::collections::VecDeque;

use crate::mac::keep;
use crate::model::{PinsIn, PinsOut};
use crate::rate::{Pace, Pattern};

/// What the user tells with the first beat of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: the core waits for the last beat.
    #[default]
    Store,
    /// Its length.
    Length,
    /// Its length and the sum of its bytes.
    CutThrough,
}

/// A message to be sent.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Session.
    pub sid: u16,
    /// Payload; not empty.
    pub data: Vec<u8>,
    /// What is told of it.
    pub mode: Mode,
    /// The segment has PSH.
    pub push: bool,
    /// Told instead of the length.
    pub wrong_length: Option<u16>,
    /// Told instead of the sum.
    pub wrong_sum: Option<u16>,
}

/// Clocks of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSpan {
    /// First beat was offered.
    pub offered: u64,
    /// First beat was taken.
    pub first: u64,
    /// Last beat was taken.
    pub last: u64,
}

/// Ones-complement sum of bytes, as the checksum of TCP takes them: the first one is the high half.
#[must_use]
pub fn sum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// Gives messages to the core.
#[derive(Debug)]
pub struct UserSource {
    width: usize,
    pace: Pace,
    queue: VecDeque<Message>,
    at: usize,
    offered: Option<u64>,
    first: u64,
    /// A beat was offered and not taken.
    held: bool,
    /// Messages that were given, oldest first.
    pub spans: Vec<MessageSpan>,
}

impl UserSource {
    /// For a bus of `width` bytes.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            pace: Pace::new(Pattern::Every),
            queue: VecDeque::new(),
            at: 0,
            offered: None,
            first: 0,
            held: false,
            spans: Vec::new(),
        }
    }

    /// When beats are offered.
    pub fn set_pace(&mut self, pattern: Pattern) {
        self.pace = Pace::new(pattern);
    }

    /// A message to be given after those before it.
    pub fn push(&mut self, message: Message) {
        assert!(!message.data.is_empty(), "a message for the core has no bytes");
        self.queue.push_back(message);
    }

    /// Messages not yet given, or not to their end.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn drive(&mut self, pins: &mut PinsIn, clock: u64) {
        pins.user_tx_valid = false;
        pins.user_tx_last = false;
        // What was offered stays until it is taken.
        let open = self.pace.open() || self.held;
        let Some(message) = self.queue.front() else { return };
        if !open {
            return;
        }
        self.offered.get_or_insert(clock);
        self.held = true;
        let count = (message.data.len() - self.at).min(self.width);
        let mut beat = [0; 16];
        beat[..count].copy_from_slice(&message.data[self.at..self.at + count]);
        let (low, high) = beat.split_at(8);
        pins.user_tx_data = [low, high]
            .map(|half| half.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        pins.user_tx_keep = keep(count);
        pins.user_tx_valid = true;
        pins.user_tx_last = self.at + count == message.data.len();
        pins.user_tx_sid = message.sid;
        pins.user_tx_mode = message.mode as u8;
        pins.user_tx_push = message.push;
        pins.user_tx_len = message.wrong_length.unwrap_or(message.data.len() as u16);
        pins.user_tx_sum = message.wrong_sum.unwrap_or_else(|| sum(&message.data));
        if message.mode == Mode::Store {
            pins.user_tx_len = 0;
        }
        if message.mode != Mode::CutThrough {
            pins.user_tx_sum = 0;
        }
    }

    pub(crate) fn take(&mut self, pins: &PinsIn, out: &PinsOut, clock: u64) {
        if !(pins.user_tx_valid && out.user_tx_ready) {
            return;
        }
        self.held = false;
        if self.at == 0 {
            self.first = clock;
        }
        self.at += pins.user_tx_keep.count_ones() as usize;
        self.pace.spend(self.width);
        if pins.user_tx_last {
            let offered = self.offered.take().unwrap_or(clock);
            self.spans.push(MessageSpan { offered, first: self.first, last: clock });
            self.queue.pop_front();
            self.at = 0;
        }
    }
}

/// A segment's payload from the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Session.
    pub sid: u16,
    /// Payload.
    pub data: Vec<u8>,
    /// To be forgotten.
    pub err: bool,
    /// How far it is ahead of what comes next, if it is out of sequence.
    pub ahead: Option<u32>,
    /// Clock in which its first beat was first on the bus.
    pub first: u64,
    /// Clock in which its last beat was taken.
    pub last: u64,
}

/// Takes payload from the core and checks how it comes.
#[derive(Debug)]
pub struct UserSink {
    width: usize,
    /// The core can be stalled (store-and-forward).
    stallable: bool,
    pace: Pace,
    /// The user takes nothing at all.
    pub blocked: bool,
    part: Vec<u8>,
    beats: usize,
    /// Only the verdict is to come.
    ended: bool,
    first: Option<u64>,
    sid: u16,
    held: Option<(u16, bool, [u64; 2])>,
    /// Segments that have come, oldest first.
    pub segments: VecDeque<Segment>,
}

impl UserSink {
    /// For a bus of `width` bytes, of a core that can be stalled or not.
    #[must_use]
    pub fn new(width: usize, stallable: bool) -> Self {
        Self {
            width,
            stallable,
            pace: Pace::new(Pattern::Every),
            blocked: false,
            part: Vec::new(),
            beats: 0,
            ended: false,
            first: None,
            sid: 0,
            held: None,
            segments: VecDeque::new(),
        }
    }

    /// When beats are taken.
    ///
    /// # Panics
    /// The core cannot be stalled.
    pub fn set_pace(&mut self, pattern: Pattern) {
        assert!(
            self.stallable || pattern == Pattern::Every,
            "a cut-through receiver cannot be stalled"
        );
        self.pace = Pace::new(pattern);
    }

    pub(crate) fn drive(&mut self, pins: &mut PinsIn) {
        pins.user_rx_ready = self.pace.open() && !(self.blocked && self.stallable);
    }

    pub(crate) fn take(&mut self, pins: &PinsIn, out: &PinsOut, clock: u64) {
        if !out.user_rx_valid {
            assert!(self.held.is_none(), "clock {clock}: a beat to the user was taken back");
            return;
        }
        let beat = (out.user_rx_keep, out.user_rx_last, out.user_rx_data);
        if let Some(held) = self.held {
            assert!(held == beat, "clock {clock}: a beat to the user changed before it was taken");
        }
        if self.first.is_none() {
            self.first = Some(clock);
            self.sid = out.user_rx_sid;
        }
        assert!(
            self.sid == out.user_rx_sid,
            "clock {clock}: a segment of session {} goes on as {}",
            self.sid,
            out.user_rx_sid
        );
        if self.stallable && !pins.user_rx_ready {
            self.held = Some(beat);
            return;
        }
        self.held = None;
        let count = out.user_rx_keep.count_ones() as usize;
        // The first beat may be short (unpacked), the last one short or empty. A short one between
        // them ends the payload, where the frame goes on; the verdict follows in an empty beat.
        let ended = std::mem::take(&mut self.ended);
        self.ended = count < self.width && !out.user_rx_last && self.beats > 0;
        assert!(
            out.user_rx_keep == keep(count)
                && count <= self.width
                && (count > 0 || out.user_rx_last)
                && !(ended && count > 0),
            "clock {clock}: keep {:#b} of beat {} to the user, last {}",
            out.user_rx_keep,
            self.beats,
            out.user_rx_last
        );
        let [low, high] = out.user_rx_data.map(u64::to_le_bytes);
        self.part.extend(low.iter().chain(&high).take(count));
        self.beats += 1;
        if out.user_rx_last {
            self.segments.push_back(Segment {
                sid: self.sid,
                data: std::mem::take(&mut self.part),
                err: out.user_rx_err,
                ahead: out.user_rx_oos.then_some(out.user_rx_rel),
                first: self.first.take().unwrap_or(clock),
                last: clock,
            });
            self.beats = 0;
        }
    }
}
