//! The kinds of record, except link events.

use crate::layout::{LinkKind, PacketEnd, RecordDirection, RecordKind, flag};
use spfe_link::Word;
use spfe_link::spacewire::{self, DecodedCharacter, NChar};

pub use spfe_link::datalink::LinkBroadcast as BroadcastMessage;

/// A packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRecord<'a> {
    /// Bytes on this link, beginning with the path bytes that are left.
    pub bytes: &'a [u8],
    /// How the packet ended.
    pub end: PacketEnd,
    /// Kind of link.
    pub link: LinkKind,
    /// End of the link at which it was recorded.
    pub direction: RecordDirection,
    /// Virtual channel.
    pub vc: Option<u8>,
    /// Virtual network.
    pub network: Option<u8>,
    /// Identity of the packet: the same number on every link that it crosses, 0 if unknown.
    pub id: u64,
    /// [`flag`] bits: ERROR, FAULT, RESENT.
    pub flags: u16,
}

impl<'a> PacketRecord<'a> {
    /// Makes a packet record whose other fields are unknown.
    pub const fn new(bytes: &'a [u8], end: PacketEnd) -> Self {
        let (link, direction) = (LinkKind::Unknown, RecordDirection::Unknown);
        Self { bytes, end, link, direction, vc: None, network: None, id: 0, flags: 0 }
    }
}

/// A broadcast message of SpaceFibre.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadcastRecord {
    /// The message.
    pub message: BroadcastMessage,
    /// End of the link at which it was recorded.
    pub direction: RecordDirection,
    /// [`flag`] bits: ERROR, FAULT, RESENT.
    pub flags: u16,
}

/// A broadcast code of SpaceWire: time-code or distributed interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeRecord {
    /// The code.
    pub code: spacewire::BroadcastCode,
    /// End of the link at which it was recorded.
    pub direction: RecordDirection,
    /// [`flag`] bits: ERROR, FAULT.
    pub flags: u16,
}

/// Bits of [`LineWord::flags`].
pub mod word_flag {
    /// A word was lost or damaged; the receiver replaced it with RXERR.
    pub const RXERR: u8 = 1;
    /// The line was off, so there is no word.
    pub const OFF: u8 = 1 << 1;
    /// A fault was injected into this word.
    pub const FAULT: u8 = 1 << 2;
}

/// One word period of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineWord {
    /// The word.
    pub word: Word,
    /// [`word_flag`] bits.
    pub flags: u8,
}

impl From<Word> for LineWord {
    fn from(word: Word) -> Self {
        Self { word, flags: if word == Word::RXERR { word_flag::RXERR } else { 0 } }
    }
}

impl From<Option<Word>> for LineWord {
    /// Converts the result of [`spfe_link::Lane`]: `None` means that the line is off.
    fn from(word: Option<Word>) -> Self {
        match word {
            Some(word) => Self::from(word),
            None => Self { word: Word::default(), flags: word_flag::OFF },
        }
    }
}

impl LineWord {
    /// Size in a record: the symbols (4), the K mask (1), the flags (1), two zeros.
    pub const BYTES: usize = 8;

    pub(crate) const fn to_bytes(self) -> [u8; Self::BYTES] {
        let [s0, s1, s2, s3] = self.word.symbols();
        [s0, s1, s2, s3, self.word.k & 0xf, self.flags, 0, 0]
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [s0, s1, s2, s3, k, flags, _, _] = bytes;
        Self { word: Word::from_symbols([s0, s1, s2, s3], k), flags }
    }
}

/// Consecutive words of a lane, none left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordsRecord<'a> {
    /// The words. The first one starts at the time of the record.
    pub words: &'a [LineWord],
    /// Duration of a word.
    pub period_ps: u32,
    /// Number of the first word, counted from the start of the lane.
    pub first: u64,
    /// Lane, 0 to 15.
    pub lane: u8,
    /// Number of data-sending lanes of the link, 0 if unknown.
    pub lanes: u8,
    /// End of the link at which they were recorded.
    pub direction: RecordDirection,
    /// [`flag`] bits: SCRAMBLED or PLAIN if known, FAULT, ERROR.
    pub flags: u16,
}

/// The words of a frame on one lane, or one control word, without the words sent in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRecord<'a> {
    /// The words from SDF to EDF, from SBF to EBF or from SIF to the end, or one control word.
    pub words: &'a [LineWord],
    /// Lane, 0 to 15.
    pub lane: u8,
    /// Number of data-sending lanes of the link, 0 if unknown.
    pub lanes: u8,
    /// End of the link at which it was recorded.
    pub direction: RecordDirection,
    /// [`flag`] bits: SCRAMBLED or PLAIN if known, RESENT, FAULT, ERROR.
    pub flags: u16,
}

/// A character of a SpaceWire link, or an error of the decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineCharacter {
    /// A valid character or control code.
    Good(spacewire::SpaceWireCharacter),
    /// A parity error.
    ParityError,
    /// An escape error: ESC followed by ESC, EOP or EEP.
    EscapeError,
}

impl From<DecodedCharacter> for LineCharacter {
    fn from(received: DecodedCharacter) -> Self {
        match received {
            DecodedCharacter::Character(character) => Self::Good(character),
            DecodedCharacter::ParityError => Self::ParityError,
            DecodedCharacter::EscapeError => Self::EscapeError,
        }
    }
}

impl LineCharacter {
    /// Size in a record: the kind (1), the value (1).
    pub const BYTES: usize = 2;

    pub(crate) const fn to_bytes(self) -> [u8; Self::BYTES] {
        use spacewire::SpaceWireCharacter as C;
        match self {
            Self::Good(C::NChar(NChar::Data(value))) => [0, value],
            Self::Good(C::NChar(NChar::Eop)) => [1, 0],
            Self::Good(C::NChar(NChar::Eep)) => [2, 0],
            Self::Good(C::Fct) => [3, 0],
            Self::Good(C::Null) => [4, 0],
            Self::Good(C::Broadcast(code)) => [5, code.0],
            Self::ParityError => [6, 0],
            Self::EscapeError => [7, 0],
        }
    }

    pub(crate) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        use spacewire::SpaceWireCharacter as C;
        Some(match bytes {
            [0, value] => Self::Good(C::NChar(NChar::Data(value))),
            [1, 0] => Self::Good(C::NChar(NChar::Eop)),
            [2, 0] => Self::Good(C::NChar(NChar::Eep)),
            [3, 0] => Self::Good(C::Fct),
            [4, 0] => Self::Good(C::Null),
            [5, code] => Self::Good(C::Broadcast(spacewire::BroadcastCode(code))),
            [6, 0] => Self::ParityError,
            [7, 0] => Self::EscapeError,
            _ => return None,
        })
    }

    /// Length on the line in bits. It is 0 for an error, whose length is unknown.
    pub const fn length_bits(self) -> u8 {
        match self {
            Self::Good(character) => character.length_bits(),
            Self::ParityError | Self::EscapeError => 0,
        }
    }
}

/// Consecutive characters of a SpaceWire link, none left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharactersRecord<'a> {
    /// The characters. The first one starts at the time of the record.
    pub characters: &'a [LineCharacter],
    /// Duration of a bit.
    pub bit_ps: u32,
    /// Number of the first character, counted from the start of the link.
    pub first: u64,
    /// End of the link at which they were recorded.
    pub direction: RecordDirection,
    /// [`flag`] bits: FAULT, ERROR.
    pub flags: u16,
}

/// Mask of the flags that a caller may set.
pub(crate) const FLAGS: u16 =
    flag::ERROR | flag::FAULT | flag::RESENT | flag::SCRAMBLED | flag::PLAIN;

/// Size in bytes of what a header's length counts: bytes, words or characters.
pub(crate) const fn item_bytes(kind: RecordKind) -> usize {
    match kind {
        RecordKind::Words | RecordKind::Frame => LineWord::BYTES,
        RecordKind::Characters => LineCharacter::BYTES,
        _ => 1,
    }
}
