//! Data word identification state machine (50-11C 5.7.8).

/// Its states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
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
pub enum Event {
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
pub enum Outcome {
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
    state: State,
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
        Self { state: State::RxNothing, words: 0, broadcast_words: 0, limit }
    }

    /// The state.
    #[inline(always)]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether an error now loses a data or broadcast frame.
    const fn in_frame(&self) -> bool {
        !matches!(self.state, State::RxNothing | State::RxIdleFrame)
    }

    fn frame_error(&mut self) -> Outcome {
        self.state = State::RxNothing;
        Outcome::FrameError
    }

    fn crc_error(&mut self) -> Outcome {
        let nack = self.in_frame();
        self.state = State::RxNothing;
        Outcome::CrcError { nack }
    }

    fn sequence_error(&mut self) -> Outcome {
        self.state = State::RxNothing;
        Outcome::SequenceError
    }

    /// Takes one word.
    #[inline]
    pub fn step(&mut self, event: Event) -> Outcome {
        match event {
            Event::Data(count) => self.data(count),
            Event::Sdf => self.start(State::RxDataFrame),
            Event::Sbf => self.broadcast(),
            Event::Edf { crc, seq } => self.end(State::RxDataFrame, crc, seq),
            Event::Ebf { crc, seq } => self.end_broadcast(crc, seq),
            Event::Sif { crc: false, .. } | Event::Single { crc: false, .. } => self.crc_error(),
            Event::Sif { seq: false, .. } | Event::Single { seq: false, .. } => {
                self.sequence_error()
            }
            Event::Sif { .. } => self.start(State::RxIdleFrame),
            Event::Single { .. } => Outcome::Accept,
            Event::Retry => {
                self.state = State::RxNothing;
                Outcome::Accept
            }
            Event::RxErr => {
                let nack = self.in_frame();
                self.state = State::RxNothing;
                Outcome::RxErr { nack }
            }
        }
    }

    #[inline(always)]
    fn data(&mut self, count: u32) -> Outcome {
        let over = match self.state {
            State::RxNothing => return Outcome::Ignore,
            State::RxDataFrame | State::RxIdleFrame => {
                self.words += count;
                self.words > self.limit
            }
            State::RxBroadcastFrame | State::RxBroadcastAndDataFrame => {
                self.broadcast_words += count;
                self.broadcast_words > 2
            }
        };
        if over { self.frame_error() } else { Outcome::Accept }
    }

    /// Start of a data or idle frame.
    fn start(&mut self, state: State) -> Outcome {
        if self.in_frame() {
            return self.frame_error();
        }
        self.words = 0;
        self.state = state;
        Outcome::Accept
    }

    fn broadcast(&mut self) -> Outcome {
        self.state = match self.state {
            State::RxNothing | State::RxIdleFrame => State::RxBroadcastFrame,
            State::RxDataFrame => State::RxBroadcastAndDataFrame,
            _ => return self.frame_error(),
        };
        self.broadcast_words = 0;
        Outcome::Accept
    }

    fn end(&mut self, state: State, crc: bool, seq: bool) -> Outcome {
        if self.state == State::RxNothing {
            Outcome::Ignore
        } else if self.state != state {
            self.frame_error()
        } else if !crc {
            self.crc_error()
        } else if !seq {
            self.sequence_error()
        } else {
            self.state = State::RxNothing;
            Outcome::Accept
        }
    }

    fn end_broadcast(&mut self, crc: bool, seq: bool) -> Outcome {
        let after = match self.state {
            State::RxBroadcastAndDataFrame => State::RxDataFrame,
            _ => State::RxNothing,
        };
        let inside = match self.state {
            State::RxBroadcastAndDataFrame => State::RxBroadcastAndDataFrame,
            _ => State::RxBroadcastFrame,
        };
        // Both checks come before the number of words.
        let short = self.broadcast_words != 2;
        if self.state == inside && crc && seq && short {
            return self.frame_error();
        }
        let outcome = self.end(inside, crc, seq);
        if outcome == Outcome::Accept {
            self.state = after;
        }
        outcome
    }
}
