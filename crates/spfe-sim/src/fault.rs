//! What can go wrong on a link.

use crate::time::Ps;
use serde::Deserialize;

/// The words that a fault waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultTarget {
    /// Any word.
    Any,
    /// ACK.
    Ack,
    /// NACK.
    Nack,
    /// RETRY.
    Retry,
    /// FULL.
    Full,
    /// FCT.
    Fct,
    /// SDF.
    Sdf,
    /// EDF.
    Edf,
    /// SBF.
    Sbf,
    /// EBF.
    Ebf,
    /// SIF.
    Sif,
    /// A data word of a frame of any kind; SpaceWire: a data character.
    Data,
    /// SpaceWire: NULL.
    Null,
    /// SpaceWire: EOP or EEP.
    EndMarker,
    /// SpaceWire: a time-code or interrupt.
    Code,
}

impl FaultTarget {
    /// Whether a SpaceWire link has such characters.
    pub const fn is_spacewire(self) -> bool {
        matches!(
            self,
            Self::Any | Self::Fct | Self::Data | Self::Null | Self::EndMarker | Self::Code
        )
    }

    /// Whether a SpaceFibre link has such words.
    pub const fn is_spacefibre(self) -> bool {
        !matches!(self, Self::Null | Self::EndMarker | Self::Code)
    }
}

/// What goes wrong with words on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// A bit of the word is inverted, at a place the random numbers choose.
    BitError,
    /// So many bits in a row are random.
    Burst {
        /// Their number.
        bits: u32,
    },
    /// The word is missing; the next follows at once.
    Drop,
    /// The word comes twice.
    Duplicate,
    /// The word and the one before it change places.
    Reorder,
    /// The wire is open for so long.
    Cut {
        /// How long.
        duration_ps: Ps,
    },
    /// The pair is swapped from now on, or swapped back.
    PolaritySwap,
    /// The wire is longer, or shorter, by so many bits from now on.
    Skew {
        /// Bits.
        bits: i32,
    },
}

/// Something that goes wrong on the wires of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WireFault {
    /// Lane; none for all.
    pub lane: Option<u8>,
    /// The first word from the given time on that is one of these.
    pub target: FaultTarget,
    /// What happens to it.
    pub kind: FaultKind,
}

/// What lasts for a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LastingFault {
    /// Bits of what is sent are wrong.
    BitErrorRate {
        /// Lane; none for all.
        lane: Option<u8>,
        /// Probability for each bit.
        rate: f64,
    },
    /// A virtual channel sends as fast as it can.
    Babbling {
        /// The channel.
        channel: u8,
    },
    /// Nothing is taken.
    Blocked {
        /// Virtual channel; none for all.
        channel: Option<u8>,
    },
}

/// Something a unit does at its end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCommand {
    /// Link Reset.
    LinkReset,
    /// Interface Reset.
    InterfaceReset,
    /// LaneReset of a lane, none for all.
    LaneReset(Option<u8>),
    /// LaneStart of a lane, none for all.
    LaneStart(Option<u8>, bool),
    /// AutoStart of a lane, none for all.
    AutoStart(Option<u8>, bool),
}
