//! The pseudo-header at the start of every record (`docs/capture.md`).
//!
//! It has 32 bytes, is little-endian, and each field is aligned to its size. A later version may
//! make it longer: the content starts at `HEADER_BYTES`, not always at byte 32.

use crate::error::FormatError;

/// Link type of all interfaces: `LINKTYPE_USER0`.
pub const LINKTYPE: u16 = 147;
/// The first two bytes of a record.
pub const MAGIC: [u8; 2] = *b"SF";
/// The version that this crate writes.
pub const VERSION: u8 = 1;
/// Length in bytes of the header that this crate writes.
pub const HEADER: usize = 32;

/// Offsets of the fields in bytes from the start of the record.
pub mod offset {
    /// [`MAGIC`](super::MAGIC), 2 bytes.
    pub const MAGIC: usize = 0;
    /// Format version, 1 byte.
    pub const VERSION: usize = 2;
    /// Length of the header in bytes, 1 byte.
    pub const HEADER_BYTES: usize = 3;
    /// [`RecordKind`](super::RecordKind), 1 byte.
    pub const KIND: usize = 4;
    /// [`LinkKind`](super::LinkKind), 1 byte.
    pub const LINK: usize = 5;
    /// [`RecordDirection`](super::RecordDirection), 1 byte.
    pub const DIRECTION: usize = 6;
    /// Lane 0 to 15, or [`NONE`](super::NONE), 1 byte.
    pub const LANE: usize = 7;
    /// Virtual channel 0 to 31, or `NONE`, 1 byte.
    pub const VC: usize = 8;
    /// Virtual network 0 to 63, or `NONE`, 1 byte.
    pub const NETWORK: usize = 9;
    /// [`PacketEnd`](super::PacketEnd), 1 byte.
    pub const END: usize = 10;
    /// Number of data-sending lanes of the link, 1 to 16, or 0 if unknown, 1 byte.
    pub const LANES: usize = 11;
    /// [`flag`](super::flag) bits, 2 bytes.
    pub const FLAGS: usize = 12;
    /// The time stamp's picoseconds modulo 1000, 2 bytes.
    pub const SUB_NS: usize = 14;
    /// Length of the uncut content in bytes, words or characters, 4 bytes.
    pub const LENGTH: usize = 16;
    /// Word period or bit period in ps, 4 bytes.
    pub const PERIOD: usize = 20;
    /// Identity of the packet, or number of the first word or character, 8 bytes.
    pub const ID: usize = 24;
}

/// Value of the lane, virtual channel or virtual network field if there is none.
pub const NONE: u8 = 0xff;

/// Bits of the flags field.
pub mod flag {
    /// The record shows an error.
    pub const ERROR: u16 = 1;
    /// A fault was injected into the recorded data.
    pub const FAULT: u16 = 1 << 1;
    /// The content was cut at the snapshot length.
    pub const TRUNCATED: u16 = 1 << 2;
    /// The data was sent before; error recovery sends it again.
    pub const RESENT: u16 = 1 << 3;
    /// The words of data frames are scrambled.
    pub const SCRAMBLED: u16 = 1 << 4;
    /// The words of data frames are not scrambled.
    pub const PLAIN: u16 = 1 << 5;
}

macro_rules! byte_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $value,)+ }

        impl $name {
            /// All variants, in the order of their values.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Converts from the byte in a record. Returns `None` for a value without a meaning.
            pub const fn of(value: u8) -> Option<Self> {
                match value { $($value => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

byte_enum! {
    /// Kind of a record.
    RecordKind {
        /// A packet with the path bytes that are left on this link.
        #[default]
        Packet = 1,
        /// A broadcast message of SpaceFibre.
        Broadcast = 2,
        /// A broadcast code of SpaceWire: time-code or distributed interrupt.
        Code = 3,
        /// A link event.
        Event = 4,
        /// Consecutive words of a lane, none left out.
        Words = 5,
        /// Consecutive characters of a SpaceWire link, none left out.
        Characters = 6,
        /// The words of one frame, or one control word, without the words sent in between.
        Frame = 7,
    }
}

byte_enum! {
        /// Kind of link.
        LinkKind {
        /// Unknown.
        #[default]
        Unknown = 0,
        /// SpaceFibre (ECSS-E-ST-50-11C).
        SpaceFibre = 1,
        /// SpaceWire (ECSS-E-ST-50-12C Rev.1).
        SpaceWire = 2,
    }
}

byte_enum! {
        /// End of the link at which a record was made.
        RecordDirection {
        /// Unknown.
        #[default]
        Unknown = 0,
        /// At the sender.
        Sent = 1,
        /// At the receiver.
        Received = 2,
    }
}

byte_enum! {
    /// How a packet ends.
    PacketEnd {
        /// No end marker seen.
        #[default]
        None = 0,
        /// End of packet.
        Eop = 1,
        /// Error end of packet.
        Eep = 2,
    }
}

/// The pseudo-header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PseudoHeader {
    /// Kind of record.
    pub kind: RecordKind,
    /// Kind of link.
    pub link: LinkKind,
    /// End of the link at which the record was made.
    pub direction: RecordDirection,
    /// Lane 0 to 15.
    pub lane: Option<u8>,
    /// Virtual channel 0 to 31.
    pub vc: Option<u8>,
    /// Virtual network 0 to 63.
    pub network: Option<u8>,
    /// How the packet ends.
    pub end: PacketEnd,
    /// Number of data-sending lanes, 0 if unknown.
    pub lanes: u8,
    /// [`flag`] bits. All other bits are 0.
    pub flags: u16,
    /// The time stamp's picoseconds modulo 1000.
    pub sub_ns_ps: u16,
    /// Length of the uncut content in bytes, words or characters.
    pub length: u32,
    /// Word period or bit period in ps, 0 if unknown.
    pub period_ps: u32,
    /// Identity of the packet, or number of the first word or character.
    pub id: u64,
}

const fn number(value: Option<u8>) -> u8 {
    match value {
        Some(value) => value,
        None => NONE,
    }
}

impl PseudoHeader {
    /// Encodes the header.
    pub fn to_bytes(&self) -> [u8; HEADER] {
        let [f0, f1] = self.flags.to_le_bytes();
        let [s0, s1] = self.sub_ns_ps.to_le_bytes();
        let [l0, l1, l2, l3] = self.length.to_le_bytes();
        let [p0, p1, p2, p3] = self.period_ps.to_le_bytes();
        let [i0, i1, i2, i3, i4, i5, i6, i7] = self.id.to_le_bytes();
        let [kind, link] = [self.kind as u8, self.link as u8];
        let [lane, vc, network] = [number(self.lane), number(self.vc), number(self.network)];
        let (direction, end, lanes) = (self.direction as u8, self.end as u8, self.lanes);
        [
            MAGIC[0],
            MAGIC[1],
            VERSION,
            HEADER as u8,
            kind,
            link,
            direction,
            lane,
            vc,
            network,
            end,
            lanes,
            f0,
            f1,
            s0,
            s1,
            l0,
            l1,
            l2,
            l3,
            p0,
            p1,
            p2,
            p3,
            i0,
            i1,
            i2,
            i3,
            i4,
            i5,
            i6,
            i7,
        ]
    }

    /// Decodes a header and returns it with the content, which follows it.
    ///
    /// # Errors
    ///
    /// The record is too short, has another magic or version, or a field has no valid value.
    pub fn parse(record: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        let short = FormatError::Short { bytes: record.len(), needed: HEADER };
        let (fixed, _) = record.split_first_chunk::<HEADER>().ok_or(short)?;
        let [m0, m1, version, bytes, kind, link, direction, lane, vc, network, rest @ ..] = *fixed;
        if [m0, m1] != MAGIC {
            return Err(FormatError::Magic { found: [m0, m1] });
        }
        if version != VERSION {
            return Err(FormatError::Version { found: version });
        }
        let content = record.get(usize::from(bytes)..);
        let content = content.filter(|_| usize::from(bytes) >= HEADER);
        let content = content.ok_or(FormatError::HeaderBytes { found: bytes })?;
        let [end, lanes, f0, f1, s0, s1, l0, l1, l2, l3, p0, p1, p2, p3, id @ ..] = rest;
        let value = |field, value: u8| FormatError::Value { field, value: value.into() };
        let optional = |field, found: u8, limit: u8| match found {
            NONE => Ok(None),
            found if found < limit => Ok(Some(found)),
            found => Err(value(field, found)),
        };
        let sub_ns_ps = u16::from_le_bytes([s0, s1]);
        if sub_ns_ps > 999 {
            return Err(FormatError::Value { field: "sub-nanosecond", value: sub_ns_ps.into() });
        }
        if lanes > 16 {
            return Err(value("lanes", lanes));
        }
        let header = Self {
            kind: RecordKind::of(kind).ok_or(value("kind", kind))?,
            link: LinkKind::of(link).ok_or(value("link", link))?,
            direction: RecordDirection::of(direction).ok_or(value("direction", direction))?,
            lane: optional("lane", lane, 16)?,
            vc: optional("virtual channel", vc, 32)?,
            network: optional("virtual network", network, 64)?,
            end: PacketEnd::of(end).ok_or(value("end", end))?,
            lanes,
            flags: u16::from_le_bytes([f0, f1]),
            sub_ns_ps,
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            period_ps: u32::from_le_bytes([p0, p1, p2, p3]),
            id: u64::from_le_bytes(id),
        };
        Ok((header, content))
    }
}
