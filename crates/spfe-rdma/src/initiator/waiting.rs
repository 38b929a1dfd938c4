//! What a queue pair waits for.

use super::{PairState, RdmaInitiator};
use spfe_proto::sfrp::Opcode;
use std::fmt;

/// The credit, timer or peer that a queue pair waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairWait {
    /// Nothing is outstanding and nothing was posted.
    Nothing,
    /// The queue pair can send.
    Transmit,
    /// Requests were posted and not rung.
    Ring,
    /// The queue pair is not connected, or has failed.
    Connection,
    /// The answer to CONNECT.
    Connect {
        /// How often it was sent.
        attempts: u32,
        /// When it is sent again.
        until_ns: u64,
    },
    /// The answer to a message.
    Answer {
        /// Its opcode.
        opcode: Opcode,
        /// Its number.
        sequence: u16,
        /// How often it was repeated.
        attempts: u32,
        /// When it is repeated.
        until_ns: u64,
    },
    /// A message may not be sent before earlier ones are acknowledged.
    Window {
        /// Messages that may be outstanding.
        messages: usize,
    },
    /// Reads and atomic operations before a fence.
    Fence,
    /// As many reads and atomic operations as allowed are outstanding.
    Reads {
        /// How many.
        reads: usize,
    },
    /// The partner has posted no receive buffer.
    Credit {
        /// When a message is tried without.
        until_ns: u64,
    },
    /// The receiver was not ready or busy, and asked to wait.
    Receiver {
        /// Until when.
        until_ns: u64,
    },
}

impl RdmaInitiator {
    /// What the queue pair waits for.
    pub fn why(&self, now_ns: u64) -> PairWait {
        match self.state {
            PairState::Reset | PairState::Error => PairWait::Connection,
            PairState::Connecting => PairWait::Connect {
                attempts: self.connecting.attempts,
                until_ns: self.connecting.again_ns,
            },
            PairState::Ready => match self.waits(now_ns) {
                None => PairWait::Transmit,
                Some(PairWait::Nothing) if !self.work.is_empty() => PairWait::Ring,
                Some(waiting) => waiting,
            },
        }
    }

    /// The same as a sentence that names the partner.
    pub fn why_text(&self, now_ns: u64) -> String {
        let waiting = self.why(now_ns);
        let (target, queue) = (self.options.target, self.options.target_queue);
        format!("queue pair {} to {target:#04x}.{queue}: {waiting}", self.options.queue)
    }
}

impl fmt::Display for PairWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => write!(f, "nothing is outstanding"),
            Self::Transmit => write!(f, "can send; waits for room in the transmit queue"),
            Self::Ring => write!(f, "requests are posted; ring the doorbell"),
            Self::Connection => write!(f, "not connected; connect first"),
            Self::Connect { attempts, .. } => {
                write!(f, "waits for the answer to CONNECT, sent {attempts} times")
            }
            Self::Answer { opcode, sequence, attempts, .. } => write!(
                f,
                "waits for the answer to {} number {sequence}, repeated {attempts} times",
                opcode.name()
            ),
            Self::Window { messages } => {
                write!(f, "waits for an acknowledgement: {messages} messages are outstanding")
            }
            Self::Fence => write!(f, "a fence waits for earlier reads and atomic operations"),
            Self::Reads { reads } => {
                write!(f, "waits for a result: {reads} reads and atomic operations are outstanding")
            }
            Self::Credit { .. } => write!(f, "waits for the partner to post a receive buffer"),
            Self::Receiver { .. } => write!(f, "the receiver was not ready and asked to wait"),
        }
    }
}
