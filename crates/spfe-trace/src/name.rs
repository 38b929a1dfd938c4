//! Names of words.
//!
//! [`name`] looks at a single word and keeps no state. The `Display` form of the result is the text
//! form that [`crate::encode`] reads:
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

/// A sequence number, displayed as the sign of the polarity and the count (`+5`, `-127`).
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
        /// Kinds of words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum WordKind { $($(#[$doc])* $kind,)* }

        impl WordKind {
            /// All kinds; a kind as a number is its index here.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Name of the kind, in the terms of the standard.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// Four data characters.
    Data "DATA",
    /// Characters of a virtual channel, including EOP, EEP or Fill.
    NChars "N-CHARS",
    /// Receivers delete or repeat this word.
    Skip "SKIP",
    /// Sent when there is nothing else to send.
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
    /// The sender is about to switch the lane off.
    Standby "STANDBY",
    /// The sender starts the lane again because of an error.
    LostSignal "LOST_SIGNAL",
    /// Active lanes of the sender.
    Active "ACTIVE",
    /// Aligns the lanes of a link.
    Align "ALIGN",
    /// Fills up the last row of a data frame.
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
    /// SIF with D4.4 instead of D4.2, as one published core sends it.
    SifD44 "SIF(D4.4)",
    /// Flow control token.
    Fct "FCT",
    /// Acknowledgement.
    Ack "ACK",
    /// Negative acknowledgement.
    Nack "NACK",
    /// The error recovery buffer of the sender is full.
    Full "FULL",
    /// Everything after this word is a resend.
    Retry "RETRY",
    /// A damaged word.
    RxErr "RXERR",
    /// An unknown control word.
    Unknown "unknown",
}

/// Symbol 1 of a SIF as one published core sends it.
const D4_4: u8 = 0x84;

/// A word with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedWord {
    /// The word.
    pub word: Word,
    /// Kind of the word.
    pub kind: WordKind,
    /// Fields of the word, if it is a control word of the standard or [`WordKind::SifD44`].
    pub control: Option<ControlWord>,
}

/// Names a word.
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

/// Whether a symbol of the word is K0.0.
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
    /// For SIF, FCT, ACK, NACK and FULL: the right CRC-8, if the word carries a wrong one.
    pub fn crc8_expected(&self) -> Option<u8> {
        let carries = matches!(
            self.kind,
            WordKind::Sif | WordKind::SifD44 | WordKind::Fct | WordKind::Ack | WordKind::Nack
        ) || self.kind == WordKind::Full;
        let expected = Crc8::new().symbols(self.word, 3).value();
        (carries && expected != self.word.symbol(3)).then_some(expected)
    }

    /// Remark about the word by itself, if there is one.
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

/// A peculiarity that a word shows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The CRC-8 is wrong.
    Crc8 {
        /// The right CRC-8.
        expected: u8,
    },
    /// The virtual channel is above 31.
    VcRange,
    /// The second field of an ALIGN is not the inverse of the first.
    AlignField,
    /// A SIF has D4.4 instead of D4.2.
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

/// A character in its text form: two hexadecimal digits, EOP, EEP, Fill, or the name of the K
/// character.
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
