//! What a port is, and what has moved on it.

use crate::TimeCodeValue;
use spfe_contract::{PortKind, PortState};
use spfe_net::{Link, LinkModel, LinkRate, Peer};

/// A port, its far end and its counters, at one moment ([`crate::Port::info`]).
#[derive(Clone, Debug, PartialEq)]
pub struct PortInfo {
    /// What it speaks.
    pub kind: PortKind,
    /// Whether its link is up.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Sent.
    pub sent: u64,
    /// Received: once for each listener.
    pub received: u64,
    /// Not received because a listener's ring was full.
    pub dropped: u64,
}

/// Time-codes that a port has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

impl From<spfe_net::network::ChannelInfo> for ChannelInfo {
    fn from(info: spfe_net::network::ChannelInfo) -> Self {
        let client = |owner| (owner != 0).then_some(owner);
        Self {
            priority: info.priority,
            sender: client(info.tx_owner),
            receiver: client(info.rx_owner),
            far_receives: info.far_receives,
            far_sends: info.far_sends,
            tx: info.tx.into(),
            rx: info.rx.into(),
        }
    }
}

impl From<spfe_net::PortInfo> for PortInfo {
    /// A kind or a state this library does not know is none, or down.
    fn from(info: spfe_net::PortInfo) -> Self {
        let (sent, received, dropped) = info.messages;
        let (code, out_of_sequence) = info.time_code;
        Self {
            kind: PortKind::from_raw(info.kind).unwrap_or(PortKind::None),
            state: PortState::from_raw(info.state).unwrap_or(PortState::Down),
            vcs: info.vcs,
            rate: info.rate,
            model: info.model,
            peer: info.peer,
            channels: info.channels.into_iter().map(ChannelInfo::from).collect(),
            messages: MessageCounters { sent, received, dropped },
            time_codes: TimeCodeInfo { last: TimeCodeValue::new(code, 0), out_of_sequence },
        }
    }
}
