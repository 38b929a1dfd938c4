//! Status codes of responses.

use core::fmt;

/// Result of a request, as its response carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SfrpStatus(pub u8);

impl SfrpStatus {
    /// The request was executed.
    pub const OK: Self = Self(0);
    /// The target does not speak this version. IMM: lowest version << 8 | highest version.
    pub const BAD_VERSION: Self = Self(1);
    /// The target does not know the opcode or does not offer it.
    pub const BAD_OPCODE: Self = Self(2);
    /// No region has this key.
    pub const BAD_KEY: Self = Self(3);
    /// The access reaches beyond the region.
    pub const BOUNDS: Self = Self(4);
    /// The region does not give this right, or not to this initiator.
    pub const ACCESS: Self = Self(5);
    /// The payload is longer than the target takes, or an atomic operation is not aligned.
    pub const BAD_LENGTH: Self = Self(6);
    /// No receive buffer is posted. IMM: time to wait, µs.
    pub const RECEIVER_NOT_READY: Self = Self(7);
    /// The message is longer than the receive buffer. IMM: size of the buffer.
    pub const MESSAGE_TOO_LONG: Self = Self(8);
    /// The CRC of the payload is wrong or missing.
    pub const PAYLOAD_CRC: Self = Self(9);
    /// The packet ends before its payload does.
    pub const SHORT: Self = Self(10);
    /// The packet continues after its payload.
    pub const LONG: Self = Self(11);
    /// The network cut the packet.
    pub const EEP: Self = Self(12);
    /// The memory of the target failed.
    pub const MEMORY: Self = Self(13);
    /// The target has as many requests as it can hold. IMM: time to wait, µs.
    pub const BUSY: Self = Self(14);
    /// The queue pair does not exist or is not connected.
    pub const BAD_QUEUE: Self = Self(15);
    /// A message before this one is missing. IMM: the expected sequence number.
    pub const SEQUENCE: Self = Self(16);
    /// The region is being removed.
    pub const REVOKED: Self = Self(17);
    /// Any other reason. IMM: a code of the vendor.
    pub const GENERAL: Self = Self(255);

    /// What a status code means; unknown codes have no name.
    pub const fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::OK => "done",
            Self::BAD_VERSION => "the target does not speak this version of SFRP",
            Self::BAD_OPCODE => "the target does not offer this operation",
            Self::BAD_KEY => "no region of the target has this key",
            Self::BOUNDS => "the access reaches beyond the region",
            Self::ACCESS => "the region does not allow this access to this initiator",
            Self::BAD_LENGTH => "the length or the alignment is not allowed",
            Self::RECEIVER_NOT_READY => "the receiver has posted no buffer",
            Self::MESSAGE_TOO_LONG => "the message is longer than the receive buffer",
            Self::PAYLOAD_CRC => "the payload was damaged on the way",
            Self::SHORT => "the packet ended before its payload",
            Self::LONG => "the packet continued after its payload",
            Self::EEP => "the network cut the packet",
            Self::MEMORY => "the memory of the target failed",
            Self::BUSY => "the target is busy",
            Self::BAD_QUEUE => "the queue pair does not exist or is not connected",
            Self::SEQUENCE => "an earlier message is missing at the target",
            Self::REVOKED => "the region is being removed",
            Self::GENERAL => "the target failed",
            _ => return None,
        })
    }

    /// Whether repeating the request may help. After any other error the queue pair stops.
    pub const fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RECEIVER_NOT_READY
                | Self::PAYLOAD_CRC
                | Self::SHORT
                | Self::LONG
                | Self::EEP
                | Self::BUSY
                | Self::SEQUENCE
        )
    }
}

impl fmt::Display for SfrpStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.meaning() {
            Some(meaning) => write!(f, "status {}: {meaning}", self.0),
            None => write!(f, "status {}: not defined by SFRP", self.0),
        }
    }
}
