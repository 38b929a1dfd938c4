//! State and counters of a port.

use crate::topology::{Link, LinkModel, LinkRate, Peer};
use serde::{Deserialize, Serialize};
use spfe_contract::{PortKind, PortState};

/// A port, its far end and its counters, at one moment .
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortInfo {
    /// SpaceFibre or SpaceWire.
    #[serde(with = "kind")]
    pub kind: PortKind,
    /// State of the link.
    #[serde(with = "state")]
    pub state: PortState,
    /// Number of virtual channels; 1 for SpaceWire.
    pub vcs: u32,
    /// Rate of the link.
    pub rate: LinkRate,
    /// How the link is simulated.
    pub model: LinkModel,
    /// Far end of the link.
    pub peer: Peer,
    /// The virtual channels, by number.
    pub channels: Vec<ChannelInfo>,
    /// Counters of the broadcast messages or time-codes of all clients.
    pub messages: MessageCounters,
    /// Received time-codes.
    pub time_codes: TimeCodeInfo,
}

impl PortInfo {
    /// Rate and model of the link, which have a text form in device names.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, model: self.model }
    }
}

/// One virtual channel of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelInfo {
    /// Transmit priority: 0, the most urgent, to 15.
    pub priority: u8,
    /// Client that has the transmit end open.
    pub sender: Option<u32>,
    /// Client that has the receive end open.
    pub receiver: Option<u32>,
    /// The far end has a receiver.
    pub far_receives: bool,
    /// The far end has a sender.
    pub far_sends: bool,
    /// Counters of the transmit end.
    pub tx: ChannelCounters,
    /// Counters of the receive end.
    pub rx: ChannelCounters,
}

/// Counters of one direction of a virtual channel since the device was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelCounters {
    /// Number of packets.
    pub packets: u64,
    /// Number of payload bytes.
    pub bytes: u64,
    /// Number of submissions that ended with an error, or unsent when their queue closed.
    pub errors: u64,
    /// Number of times that a packet had to wait for a receive buffer.
    pub stalls: u64,
    /// Number of times that the device woke the host.
    pub wakes: u64,
}

/// Counters of broadcast messages or time-codes since the device was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounters {
    /// Number of messages sent.
    pub sent: u64,
    /// Number of messages received, counted once for each listener.
    pub received: u64,
    /// Number of messages lost because a listener's ring was full.
    pub dropped: u64,
}

/// Time-codes that a port has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeCodeInfo {
    /// The last time-code. Its time of reception is not kept and is 0.
    pub last: TimeCodeValue,
    /// Number of time-codes that did not follow their predecessor.
    pub out_of_sequence: u32,
}

impl From<[u64; 5]> for ChannelCounters {
    fn from([packets, bytes, errors, stalls, wakes]: [u64; 5]) -> Self {
        Self { packets, bytes, errors, stalls, wakes }
    }
}

/// A SpaceWire time-code (ECSS-E-ST-50-12C).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeCodeValue {
    /// Time, 0 to 63.
    pub time: u8,
    /// The two flag bits.
    pub flags: u8,
    /// Device time of reception in ns.
    pub time_ns: u64,
}

impl TimeCodeValue {
    /// A time-code from its byte on the link: two flag bits on top of six bits of time.
    pub fn new(code: u8, time_ns: u64) -> Self {
        Self { time: code & 63, flags: code >> 6, time_ns }
    }
}

/// A port kind as its number; one that this build does not know becomes NONE.
mod kind {
    use serde::{Deserialize, Deserializer, Serializer};
    use spfe_contract::PortKind;

    pub fn serialize<S: Serializer>(kind: &PortKind, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(kind.raw())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PortKind, D::Error> {
        Ok(PortKind::from_raw(u8::deserialize(from)?).unwrap_or(PortKind::None))
    }
}

/// A port state as its number; one that this build does not know becomes DOWN.
mod state {
    use serde::{Deserialize, Deserializer, Serializer};
    use spfe_contract::PortState;

    pub fn serialize<S: Serializer>(state: &PortState, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u8(state.raw())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PortState, D::Error> {
        Ok(PortState::from_raw(u8::deserialize(from)?).unwrap_or(PortState::Down))
    }
}
