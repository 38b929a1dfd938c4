//! The packets of a file transfer: a header, packets with the bytes of the file, and a trailer.
//!
//! | header, bytes | field |
//! | --- | --- |
//! | 0 to 7 | `SPFEFILE` |
//! | 8 to 9 | version, 1 |
//! | 10 to 11 | flags: bit 0, the length is known |
//! | 12 to 13 | bytes of the name, at most 255 |
//! | 14 to 15 | zero |
//! | 16 to 23 | length in bytes, 0 if not known (standard input) |
//! | 24 to 39 | id of this transfer, random |
//! | 40 and on | name, UTF-8 |
//!
//! | trailer, bytes | field |
//! | --- | --- |
//! | 0 to 7 | `SPFEDONE` |
//! | 8 to 23 | id of this transfer |
//! | 24 to 31 | length in bytes |
//! | 32 to 63 | SHA-256 of the bytes |
//!
//! Numbers are little-endian. Data packets carry file bytes only; the link ensures order and
//! completeness. No file can contain the trailer of its own transfer, because the id is random. A
//! sender that gives up sends a packet that ends with EEP.
//!
//! This module does no I/O and accepts any input.

use std::hash::{BuildHasher, RandomState};

const MAGIC: [u8; 8] = *b"SPFEFILE";
const MAGIC_END: [u8; 8] = *b"SPFEDONE";
const VERSION: u16 = 1;
const LENGTH_KNOWN: u16 = 1;
/// Limit of the name, bytes.
const NAME_MAX: usize = 255;
/// Length of a header without the name, bytes.
const HEADER_BYTES: usize = 40;
/// Length of a trailer, bytes.
const TRAILER_BYTES: usize = 64;
/// Length of the longest header, bytes. Receive buffers are at least this long.
pub const HEADER_MAX: usize = HEADER_BYTES + NAME_MAX;

/// Random number of a transfer.
pub type Id = [u8; 16];

/// The first packet of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the transfer.
    pub id: Id,
    /// Length in bytes, if known. A hint only: the trailer decides.
    pub length: Option<u64>,
    /// Name without directories; empty for standard input.
    pub name: String,
}

/// The last packet of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// Number of the transfer.
    pub id: Id,
    /// Length in bytes.
    pub length: u64,
    /// SHA-256 of the bytes.
    pub sha256: [u8; 32],
}

/// An unpredictable number.
pub fn random_id() -> Id {
    let word = || RandomState::new().hash_one(std::process::id()).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&word());
    id[8..].copy_from_slice(&word());
    id
}

impl Header {
    /// Encodes it as a packet.
    pub fn encode(&self) -> Vec<u8> {
        let mut end = self.name.len().min(NAME_MAX);
        while !self.name.is_char_boundary(end) {
            end -= 1;
        }
        let flags = if self.length.is_some() { LENGTH_KNOWN } else { 0 };
        let mut packet = Vec::with_capacity(HEADER_BYTES + end);
        packet.extend(MAGIC);
        packet.extend(VERSION.to_le_bytes());
        packet.extend(flags.to_le_bytes());
        packet.extend((end as u16).to_le_bytes());
        packet.extend([0, 0]);
        packet.extend(self.length.unwrap_or(0).to_le_bytes());
        packet.extend(self.id);
        packet.extend(&self.name.as_bytes()[..end]);
        packet
    }

    /// Decodes a packet.
    ///
    /// # Errors
    /// A description of the malformed field.
    pub fn decode(packet: &[u8]) -> Result<Self, String> {
        let Some((head, name)) = packet.split_first_chunk::<HEADER_BYTES>() else {
            return Err(format!("{} bytes, a header has {HEADER_BYTES} or more", packet.len()));
        };
        if head[..8] != MAGIC {
            return Err("it does not start with SPFEFILE".to_owned());
        }
        let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        if half(8) != VERSION {
            return Err(format!("it has version {}, this spfe reads {VERSION}", half(8)));
        }
        if half(10) & !LENGTH_KNOWN != 0 || half(14) != 0 {
            return Err("bits that must be zero are not".to_owned());
        }
        if name.len() != usize::from(half(12)) || name.len() > NAME_MAX {
            return Err(format!("a name of {} bytes where {} are said", name.len(), half(12)));
        }
        let name = std::str::from_utf8(name).map_err(|_| "the name is not UTF-8".to_owned())?;
        let length = u64::from_le_bytes(array(&head[16..24]));
        Ok(Self {
            id: array(&head[24..40]),
            length: (half(10) & LENGTH_KNOWN != 0).then_some(length),
            name: name.to_owned(),
        })
    }
}

impl Trailer {
    /// Encodes it as a packet.
    pub fn encode(&self) -> Vec<u8> {
        let mut packet = Vec::with_capacity(TRAILER_BYTES);
        packet.extend(MAGIC_END);
        packet.extend(self.id);
        packet.extend(self.length.to_le_bytes());
        packet.extend(self.sha256);
        packet
    }

    /// Decodes a packet if it is the trailer of this transfer.
    pub fn decode(packet: &[u8], id: &Id) -> Option<Self> {
        let packet: &[u8; TRAILER_BYTES] = packet.try_into().ok()?;
        if packet[..8] != MAGIC_END || packet[8..24] != id[..] {
            return None;
        }
        let length = u64::from_le_bytes(array(&packet[24..32]));
        Some(Self { id: *id, length, sha256: array(&packet[32..64]) })
    }
}

/// Copies a slice of length N into an array; zeros if the length differs.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_say_what_is_wrong() {
        let header = Header { id: [7; 16], length: Some(3), name: "a.bin".into() };
        let good = header.encode();
        assert_eq!(Header::decode(&good), Ok(header));
        let broken = |at: usize, value: u8| {
            let mut packet = good.clone();
            packet[at] = value;
            Header::decode(&packet).unwrap_err()
        };
        assert!(broken(0, 0).contains("SPFEFILE"));
        assert!(broken(8, 9).contains("version 9, this spfe reads 1"));
        assert!(broken(10, 0xff).contains("must be zero"));
        assert!(broken(12, 4).contains("a name of 5 bytes where 4 are said"));
        assert!(broken(40, 0xff).contains("UTF-8"));
        assert!(Header::decode(&good[..39]).unwrap_err().contains("39 bytes"));
    }

    #[test]
    fn a_trailer_belongs_to_its_transfer() {
        let trailer = Trailer { id: random_id(), length: 5, sha256: [9; 32] };
        let packet = trailer.encode();
        assert_eq!(Trailer::decode(&packet, &trailer.id), Some(trailer));
        assert_eq!(Trailer::decode(&packet, &random_id()), None);
        assert_eq!(Trailer::decode(&packet[1..], &trailer.id), None);
    }

    proptest! {
        #[test]
        fn headers_come_back(id in any::<Id>(), length in any::<Option<u64>>(), name in ".{0,300}") {
            let packet = Header { id, length, name: name.clone() }.encode();
            prop_assert!(packet.len() <= HEADER_MAX);
            let header = Header::decode(&packet).unwrap();
            prop_assert_eq!((header.id, header.length), (id, length));
            prop_assert!(name.starts_with(&header.name));
            prop_assert!(header.name.len() > NAME_MAX - 4 || header.name == name);
        }

        #[test]
        fn any_packet_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (Header::decode(&bytes), Trailer::decode(&bytes, &[0; 16]));
            let mut header = Header { id: [0; 16], length: None, name: String::new() }.encode();
            header.truncate(16);
            header.extend(&bytes);
            let _ = Header::decode(&header);
        }
    }
}
