//! Faults that can be injected into links.

use crate::time::Ps;
use serde::Deserialize;

/// Words or characters that a fault can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultTarget {
    /// Any word.
    Any,
    /// ACK: acknowledges everything up to a sequence number.
    Ack,
    /// NACK: asks to send everything after a sequence number again.
    Nack,
    /// RETRY: begins a resend.
    Retry,
    /// FULL: asks for an acknowledgement, because the error recovery buffer is full.
    Full,
    /// FCT: flow control token.
    Fct,
    /// SDF: start of a data frame.
    Sdf,
    /// EDF: end of a data frame.
    Edf,
    /// SBF: start of a broadcast frame.
    Sbf,
    /// EBF: end of a broadcast frame.
    Ebf,
    /// SIF: start of an idle frame.
    Sif,
    /// A data word in any frame. SpaceWire: a data character.
    Data,
    /// SpaceWire: NULL.
    Null,
    /// SpaceWire: EOP or EEP.
    EndMarker,
    /// SpaceWire: a time-code or interrupt.
    Code,
}

impl FaultTarget {
    /// Whether SpaceWire links have this kind of character.
    pub const fn is_spacewire(self) -> bool {
        matches!(
            self,
            Self::Any | Self::Fct | Self::Data | Self::Null | Self::EndMarker | Self::Code
        )
    }

    /// Whether SpaceFibre links have this kind of word.
    pub const fn is_spacefibre(self) -> bool {
        !matches!(self, Self::Null | Self::EndMarker | Self::Code)
    }
}

/// Duration of a fault that lasts until it is restored.
pub const FOREVER: Ps = Ps::MAX;

/// Effect of a fault on the words of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// Inverts one random bit of the word.
    BitError,
    /// Replaces a number of bits, from this word on, by random ones.
    Burst {
        /// Length of the burst in bits.
        bits: u32,
    },
    /// Removes the word; the next one follows at once.
    Drop,
    /// Sends the word twice.
    Duplicate,
    /// Swaps the word with the one before it.
    Reorder,
    /// Interrupts the signal.
    Cut {
        /// Length of the interruption.
        duration_ps: Ps,
    },
    /// The signal keeps one level, so that the receiver gets bits without a transition.
    Stuck {
        /// The level.
        high: bool,
        /// Length of the fault.
        duration_ps: Ps,
    },
    /// Makes the wire longer, or shorter if negative, from now on.
    Delay {
        /// Change of the delay.
        delay_ps: i64,
    },
    /// Swaps the two conductors of the pair, or swaps them back, from now on.
    PolaritySwap,
    /// Makes the wire longer or shorter from now on.
    Skew {
        /// Change of the delay in bits.
        bits: i32,
    },
}

/// A single fault on the wires of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireFault {
    /// The lane; `None` for all lanes.
    pub lane: Option<u8>,
    /// The fault hits the first of these words after its time.
    pub target: FaultTarget,
    /// Its effect.
    pub kind: FaultKind,
}

/// A fault that lasts for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LastingFault {
    /// Bits of the sent words are inverted at random.
    BitErrorRate {
        /// The lane; `None` for all lanes.
        lane: Option<u8>,
        /// Probability for each bit.
        rate: f64,
    },
    /// A node sends on a virtual channel as fast as the link takes words.
    Babbling {
        /// The virtual channel.
        channel: u8,
    },
    /// A node reads nothing.
    Blocked {
        /// The virtual channel; `None` for all.
        channel: Option<u8>,
    },
}

/// A command of a node or router to its end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCommand {
    /// Link Reset.
    LinkReset,
    /// Interface Reset.
    InterfaceReset,
    /// LaneReset of a lane, or of all lanes for `None`.
    LaneReset(Option<u8>),
    /// Sets or clears LaneStart of a lane, or of all lanes for `None`.
    LaneStart(Option<u8>, bool),
    /// Sets or clears AutoStart of a lane, or of all lanes for `None`.
    AutoStart(Option<u8>, bool),
}
