//! Layout of the stream: a greeting from each side, then messages. All numbers are little-endian.

use spfe_topology::{ForeignStream, StreamKind};
use std::fmt;

/// Size of a greeting in bytes.
pub const GREETING: usize = 64;
/// Size of the head of a message in bytes.
pub const HEAD: usize = 16;
/// Size of a cell in bytes.
pub const CELL: usize = 8;
/// Version of the stream.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 8] = *b"SPFEWORD";
const NAME: usize = 24;
const CELLS: u32 = 1;
const END: u32 = 2;

/// What both sides of a stream must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamShape {
    /// Contents of the cells; `None` for those of the other side.
    pub kind: Option<StreamKind>,
    /// Number of lanes, 1 to 16; 0 for that of the other side.
    pub lanes: u32,
    /// Word periods in a message; 0 for that of the other side.
    pub words: u32,
    /// Signalling rate of a lane in bit/s; 0 for that of the other side.
    pub rate_bps: u64,
}

impl StreamShape {
    /// Takes everything from the other side.
    pub const ANY: Self = Self { kind: None, lanes: 0, words: 0, rate_bps: 0 };

    /// The greeting of a side. The name may be cut.
    pub fn greeting(&self, name: &str) -> [u8; GREETING] {
        let mut bytes = [0; GREETING];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&number(self.kind).to_le_bytes());
        bytes[16..20].copy_from_slice(&self.lanes.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.words.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.rate_bps.to_le_bytes());
        let length = name.len().min(NAME - 1);
        bytes[40..40 + length].copy_from_slice(&name.as_bytes()[..length]);
        bytes
    }

    /// Joins this side's shape with the other side's greeting. Returns the other side's name, too.
    ///
    /// # Errors
    /// A sentence that names what differs.
    pub fn agree(&self, greeting: &[u8; GREETING]) -> Result<(Self, String), String> {
        if greeting[..8] != MAGIC {
            return Err("its first bytes are not those of a word stream (SPFEWORD)".to_owned());
        }
        let version = u16::from_le_bytes([greeting[8], greeting[9]]);
        if version != VERSION {
            return Err(format!("it has version {version} of the stream; this is {VERSION}"));
        }
        let word = |at: usize| {
            u32::from_le_bytes([greeting[at], greeting[at + 1], greeting[at + 2], greeting[at + 3]])
        };
        let same = |name: &str, ours: u64, theirs: u64| match (ours, theirs) {
            (0, 0) => Err(format!("neither side says its {name}")),
            (0, value) | (value, 0) => Ok(value),
            (ours, theirs) if ours == theirs => Ok(ours),
            _ => Err(format!("its {name} is {theirs}, ours {ours}")),
        };
        let kind = same("kind", number(self.kind).into(), word(12).into())?;
        let lanes = same("number of lanes", self.lanes.into(), word(16).into())? as u32;
        let words = same("words in a message", self.words.into(), word(20).into())? as u32;
        let theirs = u64::from(word(24)) | u64::from(word(28)) << 32;
        let rate_bps = same("signalling rate in bit/s", self.rate_bps, theirs)?;
        let kind = match kind {
            1 => StreamKind::Words,
            2 => StreamKind::Groups,
            _ => return Err(format!("its kind is {kind}; 1 (words) or 2 (groups) allowed")),
        };
        if !(1..=16).contains(&lanes) {
            return Err(format!("{lanes} lanes; 1 to 16 allowed"));
        }
        let most = ForeignStream::WORDS_MAX.min(ForeignStream::CELLS_MAX / lanes);
        if !(1..=most).contains(&words) {
            return Err(format!("{words} words in a message; 1 to {most} allowed"));
        }
        let name = greeting[40..].split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        Ok((Self { kind: Some(kind), lanes, words, rate_bps }, name))
    }

    /// Number of cells in a message.
    pub const fn cells(&self) -> usize {
        self.lanes as usize * self.words as usize
    }
}

const fn number(kind: Option<StreamKind>) -> u32 {
    match kind {
        None => 0,
        Some(StreamKind::Words) => 1,
        Some(StreamKind::Groups) => 2,
    }
}

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageHead {
    /// Cells follow.
    Cells {
        /// Word periods.
        words: u32,
        /// Number of the first word period since the greeting.
        first: u64,
    },
    /// The side ends the stream.
    End,
}

impl MessageHead {
    /// The bytes of the head.
    pub fn bytes(self) -> [u8; HEAD] {
        let (kind, words, first) = match self {
            Self::Cells { words, first } => (CELLS, words, first),
            Self::End => (END, 0, 0),
        };
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&words.to_le_bytes());
        bytes[8..].copy_from_slice(&first.to_le_bytes());
        bytes
    }

    /// Reads a head. `None` if it is none.
    pub fn of(bytes: [u8; HEAD]) -> Option<Self> {
        let [k0, k1, k2, k3, w0, w1, w2, w3, first @ ..] = bytes;
        match u32::from_le_bytes([k0, k1, k2, k3]) {
            CELLS => Some(Self::Cells {
                words: u32::from_le_bytes([w0, w1, w2, w3]),
                first: u64::from_le_bytes(first),
            }),
            END => Some(Self::End),
            _ => None,
        }
    }
}

impl fmt::Display for StreamShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == Some(StreamKind::Groups) { "groups" } else { "words" };
        let Self { lanes, words, rate_bps, .. } = self;
        write!(f, "{lanes} lanes of {rate_bps} bit/s, {words} word periods of {kind} in a message")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: StreamShape =
        StreamShape { kind: Some(StreamKind::Words), lanes: 4, words: 64, rate_bps: 6_250_000_000 };

    #[test]
    fn the_greeting_has_the_documented_layout() {
        let bytes = SHAPE.greeting("a name that is longer than its field");
        assert_eq!(&bytes[..12], b"SPFEWORD\x01\0\0\0");
        assert_eq!(bytes[12..24], [1, 0, 0, 0, 4, 0, 0, 0, 64, 0, 0, 0]);
        assert_eq!(bytes[24..32], 6_250_000_000u64.to_le_bytes());
        assert_eq!(&bytes[40..], b"a name that is longer t\0");
        let head = MessageHead::Cells { words: 64, first: 128 };
        assert_eq!(head.bytes(), [1, 0, 0, 0, 64, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(MessageHead::of(head.bytes()), Some(head));
        assert_eq!(MessageHead::of(MessageHead::End.bytes()), Some(MessageHead::End));
        assert_eq!(MessageHead::of([0; HEAD]), None);
    }

    #[test]
    fn shapes_agree_or_the_difference_is_named() {
        let with = |shape: StreamShape| SHAPE.agree(&shape.greeting("b"));
        assert_eq!(with(SHAPE), Ok((SHAPE, "b".to_owned())));
        assert_eq!(with(StreamShape::ANY), Ok((SHAPE, "b".to_owned())));
        let any = StreamShape::ANY;
        assert_eq!(any.agree(&SHAPE.greeting("")), Ok((SHAPE, String::new())));
        let most = StreamShape { lanes: 16, words: 257, ..SHAPE };
        for (ours, theirs, part) in [
            (SHAPE, StreamShape { lanes: 2, ..SHAPE }, "its number of lanes is 2, ours 4"),
            (SHAPE, StreamShape { words: 8, ..SHAPE }, "its words in a message is 8, ours 64"),
            (SHAPE, StreamShape { kind: Some(StreamKind::Groups), ..SHAPE }, "its kind is 2"),
            (SHAPE, StreamShape { rate_bps: 5, ..SHAPE }, "its signalling rate"),
            (any, any, "neither side says its kind"),
            (any, StreamShape { lanes: 17, ..SHAPE }, "17 lanes; 1 to 16"),
            (any, most, "257 words in a message; 1 to 256 allowed"),
        ] {
            let error = ours.agree(&theirs.greeting("x")).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let mut greeting = SHAPE.greeting("x");
        greeting[8] = 2;
        assert!(SHAPE.agree(&greeting).unwrap_err().contains("version 2"));
        assert!(SHAPE.agree(&[0; GREETING]).unwrap_err().contains("SPFEWORD"));
    }
}
