//! Ring entries from fuzz input: most of them valid, with every kind of error in some.

use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_contract::{EndMarker, EntryType, submit_flags as sf};
use spfe_device::memory::RegionKey;

/// The region that an entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The buffers of the client.
    Data,
    /// The rings of the client.
    Rings,
    /// A region of the client that the device may only read.
    ReadOnly,
    /// A region of the client that the device may only write.
    WriteOnly,
    /// A region of another client on the same endpoint.
    Foreign,
    /// Any number.
    Key(u16),
}

impl<'a> Arbitrary<'a> for Place {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=15u8)? {
            11 => Self::Rings,
            12 => Self::ReadOnly,
            13 => Self::WriteOnly,
            14 => Self::Foreign,
            15 => Self::Key(u.arbitrary()?),
            _ => Self::Data,
        })
    }
}

/// Keys of the regions of a client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys {
    /// The buffers.
    pub data: RegionKey,
    /// The rings.
    pub rings: RegionKey,
    /// A region that the device may only read.
    pub read_only: RegionKey,
    /// A region that the device may only write.
    pub write_only: RegionKey,
    /// A region of another client.
    pub foreign: RegionKey,
}

impl Keys {
    /// The key of a place.
    pub fn of(&self, place: Place) -> RegionKey {
        match place {
            Place::Data => self.data,
            Place::Rings => self.rings,
            Place::ReadOnly => self.read_only,
            Place::WriteOnly => self.write_only,
            Place::Foreign => self.foreign,
            Place::Key(key) => RegionKey(key),
        }
    }

    /// An address in a region.
    pub fn address(&self, place: Place, offset: u64) -> u64 {
        spfe_device::Address::new(self.of(place), offset).0
    }
}

/// A number of bytes: small, about the size of the memory, or any.
#[derive(Clone, Copy, Debug)]
pub struct Length(pub u32);

impl<'a> Arbitrary<'a> for Length {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(match u.int_in_range(0..=7u8)? {
            0..=4 => u.int_in_range(1..=64)?,
            5 => u32::from(u.arbitrary::<u16>()?),
            6 => u.int_in_range(0..=100_000)?,
            _ => u.arbitrary()?,
        }))
    }
}

/// Flags of an entry without its type.
#[derive(Clone, Copy, Debug)]
pub struct Flags(u16);

impl<'a> Arbitrary<'a> for Flags {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let end = |marker: EndMarker| u16::from(marker.raw()) << sf::END_SHIFT;
        Ok(Self(match u.int_in_range(0..=15u8)? {
            0..=4 => sf::SIGNAL | sf::LAST,
            5..=7 => 0,
            8..=10 => end(EndMarker::None),
            11 => end(EndMarker::None) | sf::SIGNAL,
            12 => end(EndMarker::Eep) | sf::SIGNAL,
            13 => sf::CHAIN,
            _ => u.arbitrary()?,
        }))
    }
}

impl Flags {
    /// The packet ends with this entry and asks for a completion.
    pub const END: Self = Self(sf::SIGNAL | sf::LAST);

    fn with(self, kind: EntryType) -> u16 {
        u16::from(kind.raw()) | self.0 & !sf::TYPE_MASK
    }
}

/// A submission of any queue.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    /// DATA: bytes in memory.
    Data(Place, u16, Length, Flags),
    /// INLINE: bytes in the entry.
    Inline(u64, u32, u8, Flags),
    /// BURST: first entry of a burst.
    Burst(Place, u16, Length, Flags),
    /// BURST_EXT: second entry of a burst.
    BurstExt(Length, u16, bool),
    /// BUFFER: a receive buffer.
    Buffer(Place, u16, Length, bool),
    /// RELEASE: bytes and completions that the host gives back.
    Release(Length, u32, Flags),
    /// A broadcast message or time-code.
    Message(u64, [u8; 4], Flags),
    /// Any two words.
    Raw([u64; 2]),
}

fn words(word0: u64, length: u32, flags: u16) -> [u64; 2] {
    [word0, u64::from(length) | u64::from(flags) << 32]
}

impl Entry {
    /// An entry as a sender posts it, in most cases.
    pub fn to_send(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match u.int_in_range(0..=15u8)? {
            0..=9 => Self::Data(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            10 | 11 => Self::Inline(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            12 => Self::burst(u)?,
            13 => Self::burst_ext(u)?,
            14 => Self::Raw(u.arbitrary()?),
            _ => Self::Buffer(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, false),
        })
    }

    /// BURST: first entry of a burst.
    pub fn burst(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self::Burst(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?))
    }

    /// BURST_EXT: second entry of a burst.
    pub fn burst_ext(u: &mut Unstructured<'_>) -> Result<Self> {
        let count = if u.ratio(7, 8)? { u.int_in_range(0..=64)? } else { u.arbitrary()? };
        Ok(Self::BurstExt(u.arbitrary()?, count, !u.ratio(15, 16)?))
    }

    /// An entry as a receiver posts it, in most cases: a buffer, or a release of a packed area.
    pub fn to_receive(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match u.int_in_range(0..=15u8)? {
            0..=9 => {
                let wrong = !u.ratio(15, 16)?;
                Self::Buffer(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, wrong)
            }
            10..=12 => Self::release(u)?,
            13 => Self::Data(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            _ => Self::Raw(u.arbitrary()?),
        })
    }

    /// RELEASE: bytes and completions that the host gives back.
    pub fn release(u: &mut Unstructured<'_>) -> Result<Self> {
        let completions = if u.ratio(7, 8)? { u.int_in_range(0..=20)? } else { u.arbitrary()? };
        let flags = if u.ratio(7, 8)? { Flags(0) } else { u.arbitrary()? };
        Ok(Self::Release(u.arbitrary()?, completions, flags))
    }

    /// An entry of a message queue.
    pub fn message(u: &mut Unstructured<'_>) -> Result<Self> {
        Ok(match u.int_in_range(0..=7u8)? {
            0..=4 => Self::Message(u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            5 | 6 => Self::release(u)?,
            _ => Self::Raw(u.arbitrary()?),
        })
    }

    /// The two words of the entry. The ring sets the phase.
    pub fn words(self, keys: &Keys) -> [u64; 2] {
        match self {
            Self::Data(place, offset, length, flags) => {
                let address = keys.address(place, u64::from(offset));
                words(address, length.0, flags.with(EntryType::Data))
            }
            Self::Inline(low, high, count, flags) => {
                // In most cases a count that is allowed.
                let count = if count & 0x80 == 0 { count % 12 } else { count };
                let word = u32::from(count) | high << 8;
                words(low, word, flags.with(EntryType::Inline))
            }
            Self::Burst(place, offset, length, flags) => {
                let address = keys.address(place, u64::from(offset));
                let flags = flags.with(EntryType::Burst);
                words(address, length.0, flags & !sf::CHAIN)
            }
            Self::BurstExt(stride, count, wrong) => {
                let word0 = u64::from(stride.0) | u64::from(count) << 32;
                words(word0, u32::from(wrong), u16::from(EntryType::BurstExt.raw()))
            }
            Self::Buffer(place, offset, length, wrong) => {
                let flags = u16::from(EntryType::Buffer.raw()) | u16::from(wrong) << 12;
                words(keys.address(place, u64::from(offset)), length.0, flags)
            }
            Self::Release(bytes, completions, flags) => {
                let completions = u64::from(completions) << 32;
                let flags = flags.with(EntryType::Release);
                words(u64::from(bytes.0) | completions, 0, flags)
            }
            Self::Message(data, [channel, kind, status, class], flags) => {
                let word = u32::from_le_bytes([channel, kind, class % 4, status]);
                words(data, word, flags.with(EntryType::Message))
            }
            Self::Raw(words) => words,
        }
    }
}
