//! Data word identification state machine (50-11C 5.7.8).

/// Its states.
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
    /// Data words: those of a row of a data frame; one for a replicated row.
    Data(u32),
    /// Start of data frame.
    Sdf,
    /// End of data frame.
    Edf {
        /// CRC-16 good.
        crc: bool,
        /// Number in sequence.
        seq: bool,
    },
    /// Start of broadcast frame.
    Sbf,
    /// End of broadcast frame.
    Ebf {
        /// CRC-8 good.
        crc: bool,
        /// Number in sequence.
        seq: bool,
    },
    /// Start of idle frame.
    Sif {
        /// CRC-8 good.
        crc: bool,
        /// Number in sequence.
        seq: bool,
    },
    /// FCT, FULL, ACK and NACK; the latter two are always in sequence here.
    Single {
        /// CRC-8 good.
        crc: bool,
        /// Number in sequence.
        seq: bool,
    },
    /// RETRY.
    Retry,
    /// A word was lost or damaged.
    RxErr,
}

/// What to do with the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordVerdict {
    /// Nothing.
    Ignore,
    /// Use it.
    Accept,
    /// Frame error: status only.
    FrameError,
    /// CRC error.
    CrcError {
        /// NACK asked for.
        nack: bool,
    },
    /// Sequence error: NACK asked for.
    SequenceError,
    /// RXERR.
    RxErr {
        /// NACK asked for.
        nack: bool,
    },
}

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Identification {
    state: IdentificationState,
    /// Words of the data or idle frame.
    words: u32,
    /// Words of the broadcast frame.
    broadcast_words: u32,
    /// Most words of a data or idle frame.
    limit: u32,
}

impl Identification {
    /// After link reset; `limit` is 64 times the number of data-sending lanes.
    pub const fn new(limit: u32) -> Self {
        Self { state: IdentificationState::RxNothing, words: 0, broadcast_words: 0, limit }
    }

    /// The state.
    #[inline(always)]
    pub const fn state(&self) -> IdentificationState {
        self.state
    }

    /// Whether an error now loses a data or broadcast frame.
    const fn in_frame(&self) -> bool {
        !matches!(self.state, IdentificationState::RxNothing | IdentificationState::RxIdleFrame)
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

    /// Takes one word.
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

    /// Start of a data or idle frame.
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
        // Both checks come before the number of words.
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
