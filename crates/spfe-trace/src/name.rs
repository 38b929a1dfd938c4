//! Every word by its name.
//!
//! [`name`] looks at one word and keeps nothing; showing it writes the text form that
//! [`crate::encode`] reads back:
//!
//! ```
//! use spfe_trace::{Word, name};
//!
//! let ack = name(Word::control(0xac01a2fc));
//! assert_eq!(ack.kind.name(), "ACK");
//! assert_eq!(ack.to_string(), "ACK seq=+1");
//! assert_eq!(ack.crc8_expected(), None);
//! ```

use core::fmt;

use spfe_link::control::ControlWord;
use spfe_link::crc::Crc8;
use spfe_link::word::{Word, k};

/// A sequence number: sign for the polarity, then the count (`+5`, `-127`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seq(pub u8);

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 & 0x80 != 0 { '-' } else { '+' };
        write!(f, "{sign}{}", self.0 & 0x7f)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal,)*) => {
        /// What words are called.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum WordKind { $($(#[$doc])* $kind,)* }

        impl WordKind {
            /// All of them; [`WordKind`] as a number is the place in it.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The name, in the standard's terms.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// Four data characters.
    Data "DATA",
    /// Characters of a virtual channel with EOP, EEP or Fill among them.
    NChars "N-CHARS",
    /// Taken out or repeated by receivers.
    Skip "SKIP",
    /// Nothing to send.
    Idle "IDLE",
    /// First step of initialisation.
    Init1 "INIT1",
    /// INIT1 through swapped wires.
    Init1Inverted "iINIT1",
    /// Second step of initialisation.
    Init2 "INIT2",
    /// INIT2 through swapped wires.
    Init2Inverted "iINIT2",
    /// Third step of initialisation.
    Init3 "INIT3",
    /// The lane is being put to sleep.
    Standby "STANDBY",
    /// The lane starts again because of an error.
    LostSignal "LOST_SIGNAL",
    /// The sender's active lanes.
    Active "ACTIVE",
    /// Marks a row for alignment.
    Align "ALIGN",
    /// Fills the last row of a data frame.
    Pad "PAD",
    /// Start of data frame.
    Sdf "SDF",
    /// End of data frame.
    Edf "EDF",
    /// Start of broadcast frame.
    Sbf "SBF",
    /// End of broadcast frame.
    Ebf "EBF",
    /// Start of idle frame.
    Sif "SIF",
    /// SIF with D4.4 in place of D4.2, as one published core sends it.
    SifD44 "SIF(D4.4)",
    /// Flow control token.
    Fct "FCT",
    /// Acknowledge.
    Ack "ACK",
    /// Negative acknowledge.
    Nack "NACK",
    /// The error recovery buffer is full.
    Full "FULL",
    /// What follows is sent again.
    Retry "RETRY",
    /// A damaged word.
    RxErr "RXERR",
    /// A control word that the standard does not have.
    Unknown "unknown",
}

/// Symbol 1 of a SIF as one published core sends it.
const D4_4: u8 = 0x84;

/// A word with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedWord {
    /// The word.
    pub word: Word,
    /// What it is.
    pub kind: WordKind,
    /// Its fields, if it is a control word of the standard, or nearly ([`WordKind::SifD44`]).
    pub control: Option<ControlWord>,
}

/// What a word is.
#[inline]
pub fn name(word: Word) -> NamedWord {
    if word.k == 0 {
        return NamedWord { word, kind: WordKind::Data, control: None };
    }
    let control = ControlWord::decode(word);
    let kind = match control {
        Some(control) => kind_of(control),
        None if word.is_n_chars() => WordKind::NChars,
        None if has_error(word) => WordKind::RxErr,
        None => return name_unknown(word),
    };
    NamedWord { word, kind, control }
}

fn name_unknown(word: Word) -> NamedWord {
    let [s0, s1, s2, s3] = word.symbols();
    if word.k == 1 && s0 == k::COMMA && s1 == D4_4 {
        let control = Some(ControlWord::Sif { seq: s2, crc: s3 });
        return NamedWord { word, kind: WordKind::SifD44, control };
    }
    NamedWord { word, kind: WordKind::Unknown, control: None }
}

/// Whether a symbol is K0.0.
fn has_error(word: Word) -> bool {
    (0..4).any(|index| word.is_k(index) && word.symbol(index) == k::ERROR)
}

const fn kind_of(control: ControlWord) -> WordKind {
    match control {
        ControlWord::Skip => WordKind::Skip,
        ControlWord::Idle => WordKind::Idle,
        ControlWord::Init1 => WordKind::Init1,
        ControlWord::Init1Inverted => WordKind::Init1Inverted,
        ControlWord::Init2 => WordKind::Init2,
        ControlWord::Init2Inverted => WordKind::Init2Inverted,
        ControlWord::Init3 { .. } => WordKind::Init3,
        ControlWord::Standby { .. } => WordKind::Standby,
        ControlWord::LostSignal { .. } => WordKind::LostSignal,
        ControlWord::Active { .. } => WordKind::Active,
        ControlWord::Align { .. } => WordKind::Align,
        ControlWord::Pad => WordKind::Pad,
        ControlWord::Sdf { .. } => WordKind::Sdf,
        ControlWord::Edf { .. } => WordKind::Edf,
        ControlWord::Sbf { .. } => WordKind::Sbf,
        ControlWord::Ebf { .. } => WordKind::Ebf,
        ControlWord::Sif { .. } => WordKind::Sif,
        ControlWord::Fct { .. } => WordKind::Fct,
        ControlWord::Ack { .. } => WordKind::Ack,
        ControlWord::Nack { .. } => WordKind::Nack,
        ControlWord::Full { .. } => WordKind::Full,
        ControlWord::Retry => WordKind::Retry,
        ControlWord::RxErr => WordKind::RxErr,
    }
}

impl NamedWord {
    /// Of SIF, FCT, ACK, NACK and FULL: the CRC-8 it ought to have, if it has another.
    pub fn crc8_expected(&self) -> Option<u8> {
        let carries = matches!(
            self.kind,
            WordKind::Sif | WordKind::SifD44 | WordKind::Fct | WordKind::Ack | WordKind::Nack
        ) || self.kind == WordKind::Full;
        let expected = Crc8::new().symbols(self.word, 3).value();
        (carries && expected != self.word.symbol(3)).then_some(expected)
    }

    /// What is odd about the word by itself.
    pub fn remark(&self) -> Option<Remark> {
        if let Some(expected) = self.crc8_expected() {
            return Some(Remark::Crc8 { expected });
        }
        match self.control {
            Some(ControlWord::Sdf { vc: 32.. }) => Some(Remark::VcRange),
            Some(ControlWord::Align { lanes, inverse })
                if inverse != !lanes && (lanes, inverse) != (0, 0) =>
            {
                Some(Remark::AlignField)
            }
            Some(_) if self.kind == WordKind::SifD44 => Some(Remark::SifSymbol),
            Some(ControlWord::RxErr) | None => None,
            Some(control) if control.encode() != self.word => Some(Remark::Reserved),
            Some(_) => None,
        }
    }
}

/// What is odd about a word by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The CRC-8 is wrong.
    Crc8 {
        /// What it ought to be.
        expected: u8,
    },
    /// A virtual channel over 31.
    VcRange,
    /// The second field of ALIGN is not the inverse of the first.
    AlignField,
    /// D4.4 where D4.2 belongs.
    SifSymbol,
    /// Reserved symbols are not 0.
    Reserved,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crc8 { expected } => write!(f, "CRC-8 error: 0x{expected:02X} expected"),
            Self::VcRange => f.write_str("virtual channel over 31"),
            Self::AlignField => f.write_str("second field is not the inverse of the first"),
            Self::SifSymbol => f.write_str("D4.4 where D4.2 belongs"),
            Self::Reserved => f.write_str("reserved symbols are not 0"),
        }
    }
}

/// A character as it is written: two hexadecimal digits, EOP, EEP, Fill, or the K character.
struct Character(u8, bool);

impl fmt::Display for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.0) {
            (false, value) => write!(f, "{value:02X}"),
            (true, k::EOP) => f.write_str("EOP"),
            (true, k::EEP) => f.write_str("EEP"),
            (true, k::FILL) => f.write_str("Fill"),
            (true, value) => write!(f, "K{}.{}", value & 0x1f, value >> 5),
        }
    }
}

impl fmt::Display for NamedWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        let Some(control) = self.control else {
            for index in 0..4 {
                write!(f, " {}", Character(self.word.symbol(index), self.word.is_k(index)))?;
            }
            return Ok(());
        };
        match control {
            ControlWord::Init3 { capability } => write!(f, " capability=0x{capability:02X}")?,
            ControlWord::Standby { reason } => write!(f, " reason=0x{reason:02X}")?,
            ControlWord::LostSignal { cause } => write!(f, " cause={cause}")?,
            ControlWord::Active { lanes } => write!(f, " lanes=0x{lanes:04X}")?,
            ControlWord::Align { lanes: 0, inverse: 0 } => f.write_str(" hot-redundant")?,
            ControlWord::Align { lanes, inverse } if inverse == !lanes => {
                let count = if lanes & 0xf == 0 { 16 } else { lanes & 0xf };
                write!(f, " lane={} lanes={count}", lanes >> 4)?;
            }
            ControlWord::Align { lanes, inverse } => {
                write!(f, " field=0x{lanes:02X} inverse=0x{inverse:02X}")?;
            }
            ControlWord::Sdf { vc } => write!(f, " vc={vc}")?,
            ControlWord::Edf { seq, crc } => write!(f, " seq={} crc=0x{crc:04X}", Seq(seq))?,
            ControlWord::Sbf { channel, kind } => {
                write!(f, " channel=0x{channel:02X} type=0x{kind:02X}")?;
            }
            ControlWord::Ebf { status, seq, crc } => {
                f.write_str(if status & 1 != 0 { " late" } else { "" })?;
                f.write_str(if status & 2 != 0 { " delayed" } else { "" })?;
                if status & !3 != 0 {
                    write!(f, " reserved=0x{:02X}", status & !3)?;
                }
                write!(f, " seq={} crc=0x{crc:02X}", Seq(seq))?;
            }
            ControlWord::Fct { multiplier, vc, seq, .. } => {
                write!(f, " vc={vc} m={multiplier} seq={}", Seq(seq))?;
            }
            ControlWord::Sif { seq, .. }
            | ControlWord::Ack { seq, .. }
            | ControlWord::Nack { seq, .. }
            | ControlWord::Full { seq, .. } => write!(f, " seq={}", Seq(seq))?,
            _ => {}
        }
        if self.crc8_expected().is_some() {
            write!(f, " crc=0x{:02X}", self.word.symbol(3))?;
        }
        Ok(())
    }
}
