//! What is at the far ends of the ports.

use crate::pins::LaneWord;
use spfe_contract::Status;
use spfe_foreign::{ForeignEnd, StreamShape};
use spfe_host::{Error, Result};
use spfe_link::Word;
use spfe_sim::foreign::{FarStream, SIGNAL, cell_of_word, word_of_cell};
use spfe_topology::{ForeignStream, StreamKind};
use std::time::{Duration, Instant};

/// Signalling rate of a lane of the core, bit/s.
const RATE_BPS: u64 = 6_250_000_000;
/// Cycles between two looks for a foreign end.
const LOOK: u32 = 256;
/// Longest wait for a message before the thread looks at its users again.
const MOMENT: Duration = Duration::from_millis(1);
/// A foreign end that sends nothing for this long is gone. The core stands still meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

/// The far end of a port.
#[derive(Clone, Debug, PartialEq)]
pub enum Far {
    /// Nothing.
    Open,
    /// A port of a core of the same machine.
    Port {
        /// Number of the core.
        core: usize,
        /// Number of the port.
        port: usize,
    },
    /// An end of an exact link, another core or another simulator, over a stream of words
    /// (docs/foreign-ends.md).
    Foreign(ForeignStream),
}

/// A cable to a foreign end.
pub struct ForeignCable {
    end: ForeignEnd,
    lanes: usize,
    /// Cells of this message, in both directions, and the word period that comes next.
    sent: Vec<u64>,
    received: Vec<u64>,
    period: usize,
    connected: bool,
    /// When the wait for a message began.
    since: Option<Instant>,
    look: u32,
}

impl ForeignCable {
    /// Opens the stream. A foreign end may come later if this side listens.
    ///
    /// # Errors
    /// BAD_FIELD for a stream of anything but words, DEVICE_GONE if nobody listens there.
    pub fn open(stream: &ForeignStream, lanes: usize) -> Result<Self> {
        if stream.kind != StreamKind::Words {
            let what = "rtl: the core has words at its lanes, so kind=groups is not possible";
            return Err(Error::device(Status::BadField, what));
        }
        let shape = StreamShape {
            kind: Some(stream.kind),
            lanes: lanes as u32,
            words: stream.words,
            rate_bps: RATE_BPS,
        };
        let end = ForeignEnd::later(stream, shape, "spfe rtl")
            .map_err(|error| Error::device(Status::DeviceGone, error.to_string()))?;
        let cells = stream.words as usize * lanes;
        Ok(Self {
            end,
            lanes,
            sent: vec![0; cells],
            received: vec![0; cells],
            period: 0,
            connected: false,
            since: None,
            look: 0,
        })
    }

    fn begin(&mut self) {
        self.period = 0;
        self.received.fill(0);
        self.connected = true;
        self.since = None;
    }

    fn lose(&mut self) {
        self.connected = false;
        self.received.fill(0);
    }

    /// Whether the next word period can be simulated. Waits a moment for the words of it.
    pub fn is_ready(&mut self) -> bool {
        if !self.connected {
            self.look = self.look.wrapping_add(1);
            if self.look % LOOK == 1 && self.end.is_connected() {
                self.begin();
            }
            return true;
        }
        let Some(since) = self.since else { return true };
        if !self.end.is_ready(MOMENT) {
            if since.elapsed() > PATIENCE {
                self.lose();
                return true;
            }
            return false;
        }
        self.since = None;
        if !self.end.receive(&mut self.received) {
            self.lose();
        }
        true
    }

    /// The words of the next word period.
    pub fn give(&self, lanes: &mut [LaneWord]) {
        let cells = self.received.get(self.period * self.lanes..).unwrap_or_default();
        for (lane, cell) in lanes.iter_mut().zip(cells) {
            let word = word_of_cell(*cell).filter(|_| self.connected);
            *lane = word.map_or_else(LaneWord::default, |word| LaneWord {
                word: u64::from(word.k) << 32 | u64::from(word.bits),
                on: true,
            });
        }
    }

    /// Takes the words of the word period.
    pub fn take(&mut self, lanes: &[LaneWord]) {
        if !self.connected {
            return;
        }
        let cells = self.sent.get_mut(self.period * self.lanes..).unwrap_or_default();
        for (cell, lane) in cells.iter_mut().zip(lanes) {
            let word = Word { bits: lane.word as u32, k: (lane.word >> 32) as u8 & 0xf };
            *cell = cell_of_word(lane.on.then_some(word));
            debug_assert_eq!(*cell & SIGNAL != 0, lane.on);
        }
        self.period += 1;
        if self.period * self.lanes == self.sent.len() {
            self.period = 0;
            if self.end.send(&self.sent) {
                self.since = Some(Instant::now());
            } else {
                self.lose();
            }
        }
    }
}
