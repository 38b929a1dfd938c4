//! The packets of a file transfer: a header, packets with the bytes of the file, and a trailer; and
//! what the receiver answers.
//!
//! | header, bytes | field |
//! | --- | --- |
//! | 0 to 7 | `SPFEFILE` |
//! | 8 to 9 | version, 2 |
//! | 10 to 11 | flags: bit 0, the length is known; bit 1, the receiver shall answer |
//! | 12 to 13 | bytes of the name, at most 255 |
//! | 14 to 15 | bytes of the address that answers begin with, at most 16 |
//! | 16 to 23 | length in bytes, 0 if not known (standard input) |
//! | 24 to 39 | id of this transfer, random |
//! | 40 and on | name, UTF-8; address of answers |
//!
//! | trailer, bytes | field |
//! | --- | --- |
//! | 0 to 7 | `SPFEDONE` |
//! | 8 to 23 | id of this transfer |
//! | 24 to 31 | length in bytes |
//! | 32 to 63 | SHA-256 of the bytes |
//!
//! | answer, bytes | field |
//! | --- | --- |
//! | 0 to 7 | `SPFEBACK` |
//! | 8 to 9 | 1 ready, 2 alive, 3 done, 4 failed, 5 not a transfer |
//! | 10 to 11 | bytes of the text, at most 200 |
//! | 12 to 27 | id of the transfer, zero if not known |
//! | 28 and on | text, UTF-8 |
//!
//! A logical address may precede a packet: routers do not delete it. The receiver answers "ready" to
//! the header, "alive" twice a second, and at the end "done" or "failed" with the reason. Packets
//! that no header precedes belong to a transfer whose receiver has died: "not a transfer".
//!
//! Numbers are little-endian. Data packets carry file bytes only; the link ensures order and
//! completeness. No file can contain the trailer of its own transfer, because the id is random. A
//! sender that gives up sends a packet that ends with EEP.
//!
//! This module does no I/O and accepts any input.

use std::hash::{BuildHasher, RandomState};

const MAGIC: [u8; 8] = *b"SPFEFILE";
const MAGIC_END: [u8; 8] = *b"SPFEDONE";
const MAGIC_BACK: [u8; 8] = *b"SPFEBACK";
const VERSION: u16 = 2;
const LENGTH_KNOWN: u16 = 1;
const ANSWER: u16 = 2;
/// Limit of the address of answers, bytes.
pub const REPLY_MAX: usize = 16;
/// Limit of the text of an answer, bytes.
const TEXT_MAX: usize = 200;
/// Length of an answer without text, bytes.
const ANSWER_BYTES: usize = 28;
/// Length of the longest answer with an address before it, bytes.
pub const ANSWER_MAX: usize = ANSWER_BYTES + TEXT_MAX + REPLY_MAX;
/// Limit of the name, bytes.
const NAME_MAX: usize = 255;
/// Length of a header without the name, bytes.
const HEADER_BYTES: usize = 40;
/// Length of a trailer, bytes.
const TRAILER_BYTES: usize = 64;
/// Length of the longest header and a logical address, bytes. Receive buffers are at least this
/// long.
pub const HEADER_MAX: usize = HEADER_BYTES + NAME_MAX + REPLY_MAX + 1;

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
    /// Address that answers begin with; `None` if none are wanted.
    pub reply: Option<Vec<u8>>,
}

/// What a receiver answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has the header and waits for data.
    Ready,
    /// It works.
    Alive,
    /// It has the whole file, and its SHA-256 is right.
    Done,
    /// It has failed for this reason.
    Failed(String),
    /// It received packets that no header preceded.
    Stranger,
}

impl Answer {
    /// Encodes it as a packet.
    pub fn encode(&self, id: &Id) -> Vec<u8> {
        let (code, text) = match self {
            Self::Ready => (1u16, ""),
            Self::Alive => (2, ""),
            Self::Done => (3, ""),
            Self::Failed(text) => (4, text.as_str()),
            Self::Stranger => (5, ""),
        };
        let text = cut(text, TEXT_MAX);
        let mut packet = Vec::with_capacity(ANSWER_BYTES + text.len());
        packet.extend(MAGIC_BACK);
        packet.extend(code.to_le_bytes());
        packet.extend((text.len() as u16).to_le_bytes());
        packet.extend(id);
        packet.extend(text.as_bytes());
        packet
    }

    /// Decodes a packet, behind a logical address or not. `None` for what is no answer.
    pub fn decode(packet: &[u8]) -> Option<(Id, Self)> {
        let packet = &packet[offset(packet, MAGIC_BACK)?..];
        let (head, text) = packet.split_first_chunk::<ANSWER_BYTES>()?;
        let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let text = (text.len() == usize::from(half(10))).then_some(text)?;
        let answer = match half(8) {
            1 => Self::Ready,
            2 => Self::Alive,
            3 => Self::Done,
            4 => Self::Failed(String::from_utf8_lossy(text).into_owned()),
            5 => Self::Stranger,
            _ => return None,
        };
        Some((array(&head[12..28]), answer))
    }
}

/// The bytes before a magic number: none, or a logical address.
fn offset(packet: &[u8], magic: [u8; 8]) -> Option<usize> {
    (0..2).find(|&at| packet.get(at..at + 8) == Some(&magic[..]))
}

/// The start of a text, at most this many bytes.
fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
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
        let name = cut(&self.name, NAME_MAX);
        let known = if self.length.is_some() { LENGTH_KNOWN } else { 0 };
        let flags = known | if self.reply.is_some() { ANSWER } else { 0 };
        let reply = self.reply.as_deref().unwrap_or_default();
        let reply = &reply[..reply.len().min(REPLY_MAX)];
        let mut packet = Vec::with_capacity(HEADER_MAX);
        packet.extend(MAGIC);
        packet.extend(VERSION.to_le_bytes());
        packet.extend(flags.to_le_bytes());
        packet.extend((name.len() as u16).to_le_bytes());
        packet.extend((reply.len() as u16).to_le_bytes());
        packet.extend(self.length.unwrap_or(0).to_le_bytes());
        packet.extend(self.id);
        packet.extend(name.as_bytes());
        packet.extend(reply);
        packet
    }

    /// Decodes a packet. Returns the number of address bytes before the header, too.
    ///
    /// # Errors
    /// A description of the malformed field.
    pub fn decode(packet: &[u8]) -> Result<(Self, usize), String> {
        let offset = offset(packet, MAGIC).unwrap_or(0);
        let packet = &packet[offset..];
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
        if half(10) & !(LENGTH_KNOWN | ANSWER) != 0 || usize::from(half(14)) > REPLY_MAX {
            return Err("bits that must be zero are not".to_owned());
        }
        let (long, reply) = (name.len(), usize::from(half(14)));
        if long != usize::from(half(12)) + reply || usize::from(half(12)) > NAME_MAX {
            let said = half(12);
            return Err(format!("a name and an address of {long} bytes, not {said} and {reply}"));
        }
        let (name, reply) = name.split_at(long - reply);
        let name = std::str::from_utf8(name).map_err(|_| "the name is not UTF-8".to_owned())?;
        let length = u64::from_le_bytes(array(&head[16..24]));
        let header = Self {
            id: array(&head[24..40]),
            length: (half(10) & LENGTH_KNOWN != 0).then_some(length),
            name: name.to_owned(),
            reply: (half(10) & ANSWER != 0).then(|| reply.to_vec()),
        };
        Ok((header, offset))
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
        let reply = Some(vec![1, 2]);
        let header = Header { id: [7; 16], length: Some(3), name: "a.bin".into(), reply };
        let good = header.encode();
        assert_eq!(Header::decode(&[&[0xfe], &good[..]].concat()), Ok((header.clone(), 1)));
        assert_eq!(Header::decode(&good), Ok((header, 0)));
        let broken = |at: usize, value: u8| {
            let mut packet = good.clone();
            packet[at] = value;
            Header::decode(&packet).unwrap_err()
        };
        assert!(broken(0, 0).contains("SPFEFILE"));
        assert!(broken(8, 9).contains("version 9, this spfe reads 2"));
        assert!(broken(10, 0xff).contains("must be zero"));
        assert!(broken(12, 4).contains("a name and an address of 7 bytes, not 4 and 2"));
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

    #[test]
    fn answers_come_back() {
        for answer in [Answer::Ready, Answer::Done, Answer::Failed("disk".into()), Answer::Stranger]
        {
            let packet = answer.encode(&[7; 16]);
            assert_eq!(Answer::decode(&packet), Some(([7; 16], answer.clone())));
            assert_eq!(Answer::decode(&[&[0x40], &packet[..]].concat()), Some(([7; 16], answer)));
            assert_eq!(Answer::decode(&packet[..20]), None);
        }
        let long = Answer::Failed("é".repeat(300)).encode(&[0; 16]);
        assert!(long.len() <= ANSWER_MAX && Answer::decode(&long).is_some());
    }

    proptest! {
        #[test]
        fn headers_come_back(
            id in any::<Id>(),
            length in any::<Option<u64>>(),
            name in ".{0,300}",
            reply in any::<Option<[u8; 3]>>(),
        ) {
            let reply = reply.map(|bytes| bytes.to_vec());
            let packet = Header { id, length, name: name.clone(), reply: reply.clone() }.encode();
            prop_assert!(packet.len() < HEADER_MAX);
            let (header, _) = Header::decode(&packet).unwrap();
            prop_assert_eq!((header.id, header.length, header.reply), (id, length, reply));
            prop_assert!(name.starts_with(&header.name));
            prop_assert!(header.name.len() > NAME_MAX - 4 || header.name == name);
        }

        #[test]
        fn any_packet_is_survived(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (Header::decode(&bytes), Trailer::decode(&bytes, &[0; 16]), Answer::decode(&bytes));
            let header = Header { id: [0; 16], length: None, name: String::new(), reply: None };
            let mut header = header.encode();
            header.truncate(16);
            header.extend(&bytes);
            let _ = Header::decode(&header);
        }
    }
}
