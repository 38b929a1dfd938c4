//! The primary header of a CCSDS space packet (CCSDS 133.0-B 4.1.3).

use crate::packet::put;
use core::fmt;

/// Bytes of the primary header.
pub const PRIMARY_HEADER: usize = 6;
/// The shortest space packet, in bytes.
pub const PACKET_MIN: usize = 7;
/// The longest space packet, in bytes.
pub const PACKET_MAX: usize = 65_542;
/// Highest application process identifier; it marks idle packets.
pub const APID_MAX: u16 = 0x07ff;
/// Highest sequence count or packet name.
pub const COUNT_MAX: u16 = 0x3fff;

/// Direction of a space packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// 0: from space.
    Telemetry,
    /// 1: to space.
    Telecommand,
}

/// Part of the user data that a space packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceFlags {
    /// 00: a middle part.
    Continuation,
    /// 01: the first part.
    First,
    /// 10: the last part.
    Last,
    /// 11: all of the data.
    Unsegmented,
}

/// The primary header without the length, which follows from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrimaryHeader {
    /// Telemetry or telecommand.
    pub kind: PacketKind,
    /// Whether the data starts with a secondary header.
    pub secondary_header: bool,
    /// Application process identifier, 11 bits.
    pub apid: u16,
    /// Part of the user data.
    pub sequence_flags: SequenceFlags,
    /// Sequence count, or packet name of a telecommand; 14 bits.
    pub sequence_count: u16,
}

/// A space packet whose length matches its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpacePacket<'a> {
    /// The primary header.
    pub header: PrimaryHeader,
    /// The packet data field: 1 to 65536 bytes.
    pub data: &'a [u8],
}

/// Reason why bytes are not a space packet, or why a space packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpacePacketError {
    /// Fewer bytes than a header and one byte of data.
    Short {
        /// Number of bytes.
        bytes: usize,
    },
    /// The version is not 0.
    Version {
        /// The version, 0 to 7.
        version: u8,
    },
    /// The number of bytes differs from the length in the header.
    Length {
        /// Number of bytes.
        bytes: usize,
        /// Length in the header, including the header itself.
        declared: usize,
    },
    /// Writing: the data field has no bytes, or more than 65536.
    Data {
        /// Bytes of the data field.
        bytes: usize,
    },
    /// Writing: the application process identifier has more than 11 bits.
    Apid {
        /// The identifier.
        apid: u16,
    },
    /// Writing: the sequence count has more than 14 bits.
    Count {
        /// The count.
        count: u16,
    },
    /// The buffer is too small.
    NoRoom(crate::NoRoom),
}

impl fmt::Display for SpacePacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes } => {
                write!(f, "space packet: {bytes} bytes, at least {PACKET_MIN} needed")
            }
            Self::Version { version } => write!(f, "space packet: version {version}, 0 expected"),
            Self::Length { bytes, declared } => {
                write!(f, "space packet: {bytes} bytes, its header says {declared}")
            }
            Self::Data { bytes } => {
                write!(f, "packet data field: {bytes} bytes, 1 to 65536 allowed")
            }
            Self::Apid { apid } => {
                write!(f, "application process: {apid}, at most {APID_MAX} allowed")
            }
            Self::Count { count } => {
                write!(f, "sequence count: {count}, at most {COUNT_MAX} allowed")
            }
            Self::NoRoom(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SpacePacketError {}

impl From<crate::NoRoom> for SpacePacketError {
    fn from(error: crate::NoRoom) -> Self {
        Self::NoRoom(error)
    }
}

impl SequenceFlags {
    const fn of(bits: u16) -> Self {
        match bits & 3 {
            0 => Self::Continuation,
            1 => Self::First,
            2 => Self::Last,
            _ => Self::Unsegmented,
        }
    }
}

impl PrimaryHeader {
    /// Whether this is an idle packet.
    pub const fn is_idle(&self) -> bool {
        self.apid == APID_MAX
    }

    /// Encodes the header of a packet with `data` bytes of data.
    pub fn to_bytes(&self, data: usize) -> Result<[u8; PRIMARY_HEADER], SpacePacketError> {
        let too_long = SpacePacketError::Data { bytes: data };
        let length = data.checked_sub(1).ok_or(too_long)?;
        let length = u16::try_from(length).map_err(|_| too_long)?;
        if self.apid > APID_MAX {
            return Err(SpacePacketError::Apid { apid: self.apid });
        }
        if self.sequence_count > COUNT_MAX {
            return Err(SpacePacketError::Count { count: self.sequence_count });
        }
        let kind = u16::from(self.kind == PacketKind::Telecommand) << 12;
        let identification = kind | u16::from(self.secondary_header) << 11 | self.apid;
        let sequence = (self.sequence_flags as u16) << 14 | self.sequence_count;
        let ([i1, i0], [s1, s0]) = (identification.to_be_bytes(), sequence.to_be_bytes());
        let [l1, l0] = length.to_be_bytes();
        Ok([i1, i0, s1, s0, l1, l0])
    }
}

impl<'a> SpacePacket<'a> {
    /// Parses a space packet, and checks its version and its length.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, SpacePacketError> {
        let short = SpacePacketError::Short { bytes: bytes.len() };
        let ([i1, i0, s1, s0, l1, l0], data) = bytes.split_first_chunk().ok_or(short)?;
        if data.is_empty() {
            return Err(short);
        }
        let identification = u16::from_be_bytes([*i1, *i0]);
        let sequence = u16::from_be_bytes([*s1, *s0]);
        let version = (identification >> 13) as u8;
        if version != 0 {
            return Err(SpacePacketError::Version { version });
        }
        let declared = usize::from(u16::from_be_bytes([*l1, *l0])) + PACKET_MIN;
        if declared != bytes.len() {
            return Err(SpacePacketError::Length { bytes: bytes.len(), declared });
        }
        let telecommand = identification >> 12 & 1 != 0;
        let header = PrimaryHeader {
            kind: if telecommand { PacketKind::Telecommand } else { PacketKind::Telemetry },
            secondary_header: identification >> 11 & 1 != 0,
            apid: identification & APID_MAX,
            sequence_flags: SequenceFlags::of(sequence >> 14),
            sequence_count: sequence & COUNT_MAX,
        };
        Ok(Self { header, data })
    }

    /// Writes the space packet. Returns the number of bytes written.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, SpacePacketError> {
        let header = self.header.to_bytes(self.data.len())?;
        Ok(put(out, &[&header, self.data])?)
    }
}
