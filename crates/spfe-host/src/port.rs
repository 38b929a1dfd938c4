//! What a port is, and what has moved on it.

use crate::topology::{Link, LinkModel, LinkRate, Peer};
use serde::{Deserialize, Serialize};
use spfe_contract::{PortKind, PortState};

/// A port, its far end and its counters, at one moment .
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortInfo {
    /// What it speaks.
    #[serde(with = "kind")]
    pub kind: PortKind,
    /// Whether its link is up.
    #[serde(with = "state")]
    pub state: PortState,
    /// Virtual channels; SpaceWire ports have 1.
    pub vcs: u32,
    /// Rate of the link.
    pub rate: LinkRate,
    /// Packet level or word by word.
    pub model: LinkModel,
    /// What it is connected to.
    pub peer: Peer,
    /// One for each virtual channel, by number.
    pub channels: Vec<ChannelInfo>,
    /// Broadcast messages and time-codes of all clients.
    pub messages: MessageCounters,
    /// Time-codes received.
    pub time_codes: TimeCodeInfo,
}

impl PortInfo {
    /// Its link, as device names write it.
    pub fn link(&self) -> Link {
        Link { rate: self.rate, model: self.model }
    }
}

/// One virtual channel of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelInfo {
    /// Priority on the way out: 0 (the most urgent) to 15.
    pub priority: u8,
    /// The client that sends here.
    pub sender: Option<u32>,
    /// The client that receives here.
    pub receiver: Option<u32>,
    /// The far end has a receiver.
    pub far_receives: bool,
    /// The far end has a sender.
    pub far_sends: bool,
    /// What went out.
    pub tx: ChannelCounters,
    /// What came in.
    pub rx: ChannelCounters,
}

/// What has moved in one direction of a virtual channel since the network was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelCounters {
    /// Packets.
    pub packets: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Submissions refused with an error.
    pub errors: u64,
    /// Times a packet had to wait for a receive buffer.
    pub stalls: u64,
    /// Wake-ups the device gave to the host.
    pub wakes: u64,
}

/// Broadcast messages and time-codes since the network was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCounters {
    /// Sent.
    pub sent: u64,
    /// Received: once for each listener.
    pub received: u64,
    /// Not received because a listener's ring was full.
    pub dropped: u64,
}

/// Time-codes that a port has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeCodeInfo {
    /// The last one; its time of reception is not kept and 0.
    pub last: TimeCodeValue,
    /// Those that were not one more than the one before.
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
    /// Device time in ns at which it was received.
    pub time_ns: u64,
}

impl TimeCodeValue {
    /// From the byte on the link: two flag bits, six bits of time.
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
