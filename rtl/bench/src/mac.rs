//! Models of the MAC: turns frames into words for the core, and words of the core into frames.

use std::collections::VecDeque;

use crate::model::{PinsIn, PinsOut};
use crate::rate::{Pace, Pattern};

/// Bytes on the line in addition to each frame: preamble and delimiter 8, FCS 4, gap 12.
pub const LINE_OVERHEAD: usize = 24;
/// Minimum length of a frame without FCS.
pub const MIN_FRAME: usize = 60;

/// A frame for the core.
#[derive(Clone, Debug, Default)]
pub struct RxFrame {
    /// Bytes from the destination address on, without FCS. [`MacSource::push`] pads them to
    /// [`MIN_FRAME`].
    pub bytes: Vec<u8>,
    /// Whether the FCS is wrong.
    pub bad_fcs: bool,
    /// Whether to leave out the padding.
    pub runt: bool,
}

/// Clocks in which a frame was on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSpan {
    /// Clock of the first beat.
    pub first: u64,
    /// Clock of the last beat.
    pub last: u64,
    /// Length of the frame.
    pub bytes: usize,
}

/// Sends frames to the core.
#[derive(Debug)]
pub struct MacSource {
    width: usize,
    pace: Pace,
    gap: usize,
    queue: VecDeque<RxFrame>,
    at: usize,
    rest: usize,
    first: u64,
    /// Frames sent so far, oldest first.
    pub spans: Vec<FrameSpan>,
}

impl MacSource {
    /// Makes a model for a bus of `width` bytes.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            pace: Pace::new(Pattern::Every),
            gap: 0,
            queue: VecDeque::new(),
            at: 0,
            rest: 0,
            first: 0,
            spans: Vec::new(),
        }
    }

    /// Sets when words are sent, and the gap between two frames in bytes: 0, or [`LINE_OVERHEAD`]
    /// as on a line.
    pub fn set_pace(&mut self, pattern: Pattern, gap: usize) {
        self.pace = Pace::new(pattern);
        self.gap = gap;
    }

    /// Queues a frame.
    pub fn push(&mut self, mut frame: RxFrame) {
        assert!(!frame.bytes.is_empty(), "a frame for the core must not be empty");
        if !frame.runt && frame.bytes.len() < MIN_FRAME {
            frame.bytes.resize(MIN_FRAME, 0);
        }
        self.queue.push_back(frame);
    }

    /// Number of frames that are not sent completely.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is no frame and no gap to send.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.rest == 0
    }

    pub(crate) fn drive(&mut self, pins: &mut PinsIn, clock: u64) {
        pins.mac_rx_valid = false;
        pins.mac_rx_last = false;
        pins.mac_rx_err = false;
        pins.mac_rx_keep = 0;
        let open = self.pace.open();
        if self.rest > 0 {
            if open {
                let bytes = self.rest.min(self.width);
                self.pace.spend(bytes);
                self.rest -= bytes;
            }
            return;
        }
        let Some(frame) = self.queue.front() else { return };
        if !open {
            return;
        }
        let count = (frame.bytes.len() - self.at).min(self.width);
        let mut word = [0; 8];
        word[..count].copy_from_slice(&frame.bytes[self.at..self.at + count]);
        if self.at == 0 {
            self.first = clock;
        }
        self.at += count;
        let last = self.at == frame.bytes.len();
        pins.mac_rx_data = u64::from_le_bytes(word);
        pins.mac_rx_keep = keep(count) as u8;
        pins.mac_rx_valid = true;
        pins.mac_rx_last = last;
        pins.mac_rx_err = last && frame.bad_fcs;
        self.pace.spend(count);
        if last {
            self.spans.push(FrameSpan { first: self.first, last: clock, bytes: self.at });
            self.queue.pop_front();
            self.at = 0;
            self.rest = self.gap;
        }
    }
}

/// A frame from the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxFrame {
    /// Bytes from the destination address on, without FCS.
    pub bytes: Vec<u8>,
    /// Whether the core asks the MAC to send it with an invalid FCS.
    pub spoilt: bool,
    /// First clock in which the core offered the first beat.
    pub first: u64,
    /// Clock in which the last beat was accepted.
    pub last: u64,
}

/// Accepts frames from the core and checks the protocol of the bus.
#[derive(Debug)]
pub struct MacSink {
    width: usize,
    pace: Pace,
    gap: usize,
    rest: usize,
    /// Bytes of the current frame, and the first clock of its first beat.
    part: Vec<u8>,
    first: Option<u64>,
    /// A beat that was offered but not accepted, which must not change.
    held: Option<(u64, u8, bool, bool)>,
    /// Frames received, oldest first.
    pub frames: VecDeque<TxFrame>,
    /// Number of frames received since the model was made.
    pub count: u64,
}

impl MacSink {
    /// Makes a model for a bus of `width` bytes.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self {
            width,
            pace: Pace::new(Pattern::Every),
            gap: 0,
            rest: 0,
            part: Vec::new(),
            first: None,
            held: None,
            frames: VecDeque::new(),
            count: 0,
        }
    }

    /// Sets when words are accepted, and the gap between two frames in bytes.
    pub fn set_pace(&mut self, pattern: Pattern, gap: usize) {
        self.pace = Pace::new(pattern);
        self.gap = gap;
    }

    /// Whether no frame is in progress.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn drive(&mut self, pins: &mut PinsIn) {
        let open = self.pace.open();
        pins.mac_tx_ready = open && self.rest == 0;
        if open && self.rest > 0 {
            let bytes = self.rest.min(self.width);
            self.pace.spend(bytes);
            self.rest -= bytes;
        }
    }

    pub(crate) fn take(&mut self, pins: &PinsIn, out: &PinsOut, clock: u64) {
        if !out.mac_tx_valid {
            assert!(
                self.first.is_none(),
                "clock {clock}: the core pauses in a frame after {} bytes; a MAC would underrun",
                self.part.len()
            );
            return;
        }
        let beat = (out.mac_tx_data, out.mac_tx_keep, out.mac_tx_last, out.mac_tx_err);
        if let Some(held) = self.held {
            assert!(
                held == beat,
                "clock {clock}: a beat to the MAC changed before the MAC accepted it"
            );
        }
        self.first.get_or_insert(clock);
        if !pins.mac_tx_ready {
            self.held = Some(beat);
            return;
        }
        self.held = None;
        let count = out.mac_tx_keep.count_ones() as usize;
        assert!(
            out.mac_tx_keep as u16 == keep(count)
                && count <= self.width
                && (count == self.width || out.mac_tx_last && count > 0),
            "clock {clock}: keep {:#b} of a beat to the MAC, last {}",
            out.mac_tx_keep,
            out.mac_tx_last
        );
        self.part.extend_from_slice(&out.mac_tx_data.to_le_bytes()[..count]);
        self.pace.spend(count);
        if out.mac_tx_last {
            let bytes = std::mem::take(&mut self.part);
            let first = self.first.take().unwrap_or(clock);
            self.frames.push_back(TxFrame { bytes, spoilt: out.mac_tx_err, first, last: clock });
            self.count += 1;
            self.rest = self.gap;
        }
    }
}

/// The keep bits of a beat with `count` bytes.
pub(crate) fn keep(count: usize) -> u16 {
    ((1_u32 << count) - 1) as u16
}
