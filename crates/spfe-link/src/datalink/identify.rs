//! Data word identification state machine (50-11C 5.7.8).

/// States of the data word identification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentificationState {
    /// Between frames.
    #[default]
    RxNothing,
    /// In a data frame.
    RxDataFrame,
    /// In a broadcast frame.
    RxBroadcastFrame,
    /// In a broadcast frame inside a data frame.
    RxBroadcastAndDataFrame,
    /// In an idle frame.
    RxIdleFrame,
}

/// A received word, with the results of its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedWord {
    /// Data words: the number of words of a row in a data frame, 1 for a replicated row.
    Data(u32),
    /// Start of data frame.
    Sdf,
    /// End of data frame.
    Edf {
        /// The CRC-16 is right.
        crc: bool,
        /// The sequence number is the next one.
        seq: bool,
    },
    /// Start of broadcast frame.
    Sbf,
    /// End of broadcast frame.
    Ebf {
        /// The CRC-8 is right.
        crc: bool,
        /// The sequence number is the next one.
        seq: bool,
    },
    /// Start of idle frame.
    Sif {
        /// The CRC-8 is right.
        crc: bool,
        /// The sequence number is the current one.
        seq: bool,
    },
    /// FCT, FULL, ACK or NACK.
    Single {
        /// The CRC-8 is right.
        crc: bool,
        /// The sequence number is as expected; always true for ACK and NACK.
        seq: bool,
    },
    /// RETRY: a resend follows.
    Retry,
    /// A word was lost or damaged.
    RxErr,
}

/// What the receiver does with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordVerdict {
    /// Ignores it.
    Ignore,
    /// Uses it.
    Accept,
    /// Reports a frame error; sends no NACK.
    FrameError,
    /// Reports a CRC error.
    CrcError {
        /// Whether to send a NACK.
        nack: bool,
    },
    /// Reports a sequence error and sends a NACK.
    SequenceError,
    /// Reports an RXERR.
    RxErr {
        /// Whether to send a NACK.
        nack: bool,
    },
}

/// The data word identification state machine.
#[derive(Clone, Copy, Debug)]
pub struct Identification {
    state: IdentificationState,
    /// Words so far in the data or idle frame.
    words: u32,
    /// Words so far in the broadcast frame.
    broadcast_words: u32,
    /// Maximum number of words of a data or idle frame.
    limit: u32,
}

impl Identification {
    /// State after a link reset. `limit` is 64 times the number of data-sending lanes.
    pub const fn new(limit: u32) -> Self {
        Self { state: IdentificationState::RxNothing, words: 0, broadcast_words: 0, limit }
    }

    /// Current state.
    #[inline(always)]
    pub const fn state(&self) -> IdentificationState {
        self.state
    }

    /// Whether an error at this point damages a data or broadcast frame.
    const fn in_frame(&self) -> bool {
        !matches!(self.state, IdentificationState::RxNothing | IdentificationState::RxIdleFrame)
    }

    /// Words that the data or idle frame may still have.
    #[inline(always)]
    pub const fn words_left(&self) -> usize {
        self.limit.saturating_sub(self.words) as usize
    }

    /// Accounts for words of the data or idle frame, at most [`Identification::words_left`].
    #[inline(always)]
    pub const fn pass(&mut self, words: u32) {
        self.words += words;
    }

    fn frame_error(&mut self) -> WordVerdict {
        self.state = IdentificationState::RxNothing;
        WordVerdict::FrameError
    }

    fn crc_error(&mut self) -> WordVerdict {
        let nack = self.in_frame();
        self.state = IdentificationState::RxNothing;
        WordVerdict::CrcError { nack }
    }

    fn sequence_error(&mut self) -> WordVerdict {
        self.state = IdentificationState::RxNothing;
        WordVerdict::SequenceError
    }

    /// Processes one word.
    #[inline]
    pub fn step(&mut self, event: CheckedWord) -> WordVerdict {
        match event {
            CheckedWord::Data(count) => self.data(count),
            CheckedWord::Sdf => self.start(IdentificationState::RxDataFrame),
            CheckedWord::Sbf => self.broadcast(),
            CheckedWord::Edf { crc, seq } => self.end(IdentificationState::RxDataFrame, crc, seq),
            CheckedWord::Ebf { crc, seq } => self.end_broadcast(crc, seq),
            CheckedWord::Sif { crc: false, .. } | CheckedWord::Single { crc: false, .. } => {
                self.crc_error()
            }
            CheckedWord::Sif { seq: false, .. } | CheckedWord::Single { seq: false, .. } => {
                self.sequence_error()
            }
            CheckedWord::Sif { .. } => self.start(IdentificationState::RxIdleFrame),
            CheckedWord::Single { .. } => WordVerdict::Accept,
            CheckedWord::Retry => {
                self.state = IdentificationState::RxNothing;
                WordVerdict::Accept
            }
            CheckedWord::RxErr => {
                let nack = self.in_frame();
                self.state = IdentificationState::RxNothing;
                WordVerdict::RxErr { nack }
            }
        }
    }

    #[inline(always)]
    fn data(&mut self, count: u32) -> WordVerdict {
        let over = match self.state {
            IdentificationState::RxNothing => return WordVerdict::Ignore,
            IdentificationState::RxDataFrame | IdentificationState::RxIdleFrame => {
                self.words += count;
                self.words > self.limit
            }
            IdentificationState::RxBroadcastFrame
            | IdentificationState::RxBroadcastAndDataFrame => {
                self.broadcast_words += count;
                self.broadcast_words > 2
            }
        };
        if over { self.frame_error() } else { WordVerdict::Accept }
    }

    /// Starts a data or idle frame.
    fn start(&mut self, state: IdentificationState) -> WordVerdict {
        if self.in_frame() {
            return self.frame_error();
        }
        self.words = 0;
        self.state = state;
        WordVerdict::Accept
    }

    fn broadcast(&mut self) -> WordVerdict {
        self.state = match self.state {
            IdentificationState::RxNothing | IdentificationState::RxIdleFrame => {
                IdentificationState::RxBroadcastFrame
            }
            IdentificationState::RxDataFrame => IdentificationState::RxBroadcastAndDataFrame,
            _ => return self.frame_error(),
        };
        self.broadcast_words = 0;
        WordVerdict::Accept
    }

    fn end(&mut self, state: IdentificationState, crc: bool, seq: bool) -> WordVerdict {
        if self.state == IdentificationState::RxNothing {
            WordVerdict::Ignore
        } else if self.state != state {
            self.frame_error()
        } else if !crc {
            self.crc_error()
        } else if !seq {
            self.sequence_error()
        } else {
            self.state = IdentificationState::RxNothing;
            WordVerdict::Accept
        }
    }

    fn end_broadcast(&mut self, crc: bool, seq: bool) -> WordVerdict {
        let after = match self.state {
            IdentificationState::RxBroadcastAndDataFrame => IdentificationState::RxDataFrame,
            _ => IdentificationState::RxNothing,
        };
        let inside = match self.state {
            IdentificationState::RxBroadcastAndDataFrame => {
                IdentificationState::RxBroadcastAndDataFrame
            }
            _ => IdentificationState::RxBroadcastFrame,
        };
        // CRC and number are checked before the number of words.
        let short = self.broadcast_words != 2;
        if self.state == inside && crc && seq && short {
            return self.frame_error();
        }
        let outcome = self.end(inside, crc, seq);
        if outcome == WordVerdict::Accept {
            self.state = after;
        }
        outcome
    }
}
