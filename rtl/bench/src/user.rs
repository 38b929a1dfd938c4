//! Models of the user: turns messages into beats for the core, and beats of the core into segments.

use std::collections::VecDeque;

use crate::mac::keep;
use crate::model::{PinsIn, PinsOut};
use crate::rate::{Pace, Pattern};

/// Information that the user gives with the first beat of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// None: the core waits for the last beat.
    #[default]
    Store,
    /// The length.
    Length,
    /// The length and the sum of the bytes.
    CutThrough,
}

/// A message to send.
#[derive(Clone, Debug, Default)]
pub struct Message {
    /// Session.
    pub sid: u16,
    /// Payload, not empty.
    pub data: Vec<u8>,
    /// Information given with the first beat.
    pub mode: Mode,
    /// Whether the segment has the PSH flag.
    pub push: bool,
    /// A wrong length to give instead of the length.
    pub wrong_length: Option<u16>,
    /// A wrong sum to give instead of the sum.
    pub wrong_sum: Option<u16>,
}

/// Clocks of a message on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSpan {
    /// Clock in which the first beat was offered.
    pub offered: u64,
    /// Clock in which the core accepted the first beat.
    pub first: u64,
    /// Clock in which the core accepted the last beat.
    pub last: u64,
}

/// One's complement sum of bytes as in the TCP checksum: the first byte is the high half of a word.
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

/// Sends messages to the core.
#[derive(Debug)]
pub struct UserSource {
    width: usize,
    pace: Pace,
    queue: VecDeque<Message>,
    at: usize,
    offered: Option<u64>,
    first: u64,
    /// Whether a beat was offered but not accepted.
    held: bool,
    /// Messages sent so far, oldest first.
    pub spans: Vec<MessageSpan>,
}

impl UserSource {
    /// Makes a model for a bus of `width` bytes.
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

    /// Sets when beats are offered.
    pub fn set_pace(&mut self, pattern: Pattern) {
        self.pace = Pace::new(pattern);
    }

    /// Queues a message.
    pub fn push(&mut self, message: Message) {
        assert!(!message.data.is_empty(), "a message for the core must not be empty");
        self.queue.push_back(message);
    }

    /// Number of messages that are not sent completely.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    pub(crate) fn drive(&mut self, pins: &mut PinsIn, clock: u64) {
        pins.user_tx_valid = false;
        pins.user_tx_last = false;
        // An offered beat stays until the core accepts it.
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

/// The payload of a segment from the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Session.
    pub sid: u16,
    /// Payload.
    pub data: Vec<u8>,
    /// Whether the user must discard it.
    pub err: bool,
    /// Distance from the next byte in sequence, if the segment is out of sequence.
    pub ahead: Option<u32>,
    /// First clock in which the core offered the first beat.
    pub first: u64,
    /// Clock in which the last beat was accepted.
    pub last: u64,
}

/// Accepts payload from the core and checks the protocol of the bus.
#[derive(Debug)]
pub struct UserSink {
    width: usize,
    /// Whether the user may stall the core (store-and-forward).
    stallable: bool,
    pace: Pace,
    /// Whether the user accepts no beats.
    pub blocked: bool,
    part: Vec<u8>,
    beats: usize,
    /// Whether only the beat with the verdict is missing.
    ended: bool,
    first: Option<u64>,
    sid: u16,
    held: Option<(u16, bool, [u64; 2])>,
    /// Segments received, oldest first.
    pub segments: VecDeque<Segment>,
}

impl UserSink {
    /// Makes a model for a bus of `width` bytes.
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

    /// Sets when beats are accepted.
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
            assert!(self.held.is_none(), "clock {clock}: the core withdrew a beat to the user");
            return;
        }
        let beat = (out.user_rx_keep, out.user_rx_last, out.user_rx_data);
        if let Some(held) = self.held {
            assert!(
                held == beat,
                "clock {clock}: a beat to the user changed before the user accepted it"
            );
        }
        if self.first.is_none() {
            self.first = Some(clock);
            self.sid = out.user_rx_sid;
        }
        assert!(
            self.sid == out.user_rx_sid,
            "clock {clock}: a segment of session {} continues as one of session {}",
            self.sid,
            out.user_rx_sid
        );
        if self.stallable && !pins.user_rx_ready {
            self.held = Some(beat);
            return;
        }
        self.held = None;
        let count = out.user_rx_keep.count_ones() as usize;
        // The first beat may be short (unpacked), and the last beat short or empty. A short beat in
        // between ends the payload although the frame continues; an empty beat with the verdict
        // follows.
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
