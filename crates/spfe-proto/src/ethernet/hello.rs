//! The packet with which the ends of a link tell each other what they understand.

use super::plain::PID;
use crate::packet::DEFAULT_LOGICAL_ADDRESS;

/// Bytes of a hello.
pub const HELLO_BYTES: usize = 20;
/// The first four bytes of a hello: address, protocol, version 2, kind 1.
const START: [u8; 4] = [DEFAULT_LOGICAL_ADDRESS, PID, 2, 1];

/// What a hello wants and says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HelloFlags {
    /// The far end is asked to answer.
    pub ask: bool,
    /// The sender has heard a hello of the far end: it sends version 2 from here on.
    pub seen: bool,
}

/// What an end can receive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerFeatures(pub u16);

impl PeerFeatures {
    /// Frames whose checksum is not complete.
    pub const CHECKSUM: Self = Self(1);
    /// Segments of TCP over IPv4.
    pub const TCP_IPV4: Self = Self(2);
    /// Segments of TCP over IPv6.
    pub const TCP_IPV6: Self = Self(4);
    /// Segments of TCP with ECN.
    pub const TCP_ECN: Self = Self(8);
    /// Segments of UDP.
    pub const UDP: Self = Self(16);
    /// All but segments of UDP, which older kernels do not have.
    pub const BASIC: Self = Self(15);

    /// Whether it has all features of another set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What an end says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EthernetHello {
    /// What it wants.
    pub flags: HelloFlags,
    /// Highest version that the sender understands.
    pub version: u8,
    /// What the sender can receive.
    pub features: PeerFeatures,
    /// Length of the longest packet that the sender can receive, bytes.
    pub packet_max: u32,
}

impl EthernetHello {
    /// The packet.
    pub fn encode(&self) -> [u8; HELLO_BYTES] {
        let mut packet = [0; HELLO_BYTES];
        let (start, rest) = packet.split_at_mut(8);
        start[..4].copy_from_slice(&START);
        rest[0] = u8::from(self.flags.ask) | u8::from(self.flags.seen) << 1;
        rest[1] = self.version;
        rest[2..4].copy_from_slice(&self.features.0.to_le_bytes());
        rest[4..8].copy_from_slice(&self.packet_max.to_le_bytes());
        packet
    }

    /// Reads the bytes behind the prefix of a packet; `None` if there are too few. Bytes that a
    /// later version adds, and bits it sets, are ignored.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let [flags, version, f0, f1, m0, m1, m2, m3] = *bytes.first_chunk::<8>()?;
        bytes.get(..HELLO_BYTES - 8)?;
        Some(Self {
            flags: HelloFlags { ask: flags & 1 != 0, seen: flags & 2 != 0 },
            version,
            features: PeerFeatures(u16::from_le_bytes([f0, f1])),
            packet_max: u32::from_le_bytes([m0, m1, m2, m3]),
        })
    }
}
