//! SpaceWire characters, bits and signals from and to text.
//!
//! | token | meaning |
//! | --- | --- |
//! | `NULL`, `FCT`, `EOP`, `EEP` | control characters and the control code NULL |
//! | `41` | a data character, two hexadecimal digits |
//! | `TIME=5`, `INT=3`, `ACK=3`, `CODE=0xC0` | broadcast codes |
//! | `x64` | repeats the character before it, 64 times in all |

use core::fmt;

use spfe_link::spacewire::character::CodeMeaning;
use spfe_link::spacewire::ds::DsSignals;
use spfe_link::spacewire::{BroadcastCode, NChar, SpaceWireCharacter};

use crate::text::{TIMES_MAX, TextError, split};

const ACCEPTED: &str = "a character is NULL, FCT, EOP, EEP, two hexadecimal digits, TIME=0..63, \
                        INT=0..31, ACK=0..31 or CODE=0x00..0xFF; xN repeats it";

/// Characters of a line, each with its number of repetitions.
pub fn characters(
    line: &str,
) -> impl Iterator<Item = Result<(SpaceWireCharacter, u32), TextError>> {
    let mut parts = split(line).peekable();
    core::iter::from_fn(move || {
        let (column, part) = parts.next()?;
        let Some(character) = character(part) else {
            return Some(Err(TextError::new(column, part, ACCEPTED)));
        };
        let again = parts.peek().and_then(|(_, next)| times(next));
        if again.is_some() {
            parts.next();
        }
        Some(Ok((character, again.unwrap_or(1))))
    })
}

fn times(part: &str) -> Option<u32> {
    let digits = part.strip_prefix(['x', 'X'])?;
    let plain = digits.bytes().all(|c| c.is_ascii_digit());
    digits.parse().ok().filter(|times| plain && (1..=TIMES_MAX).contains(times))
}

/// Parses the text form of a character.
pub fn character(part: &str) -> Option<SpaceWireCharacter> {
    let upper = part.to_ascii_uppercase();
    if let Some((kind, value)) = upper.split_once('=') {
        let value = match value.strip_prefix("0X") {
            Some(digits) => hex_byte(digits)?,
            None => value.parse().ok().filter(|_| value.bytes().all(|c| c.is_ascii_digit()))?,
        };
        return Some(SpaceWireCharacter::Broadcast(match kind {
            "TIME" if value < 64 => BroadcastCode::time(value),
            "INT" if value < 32 => BroadcastCode::interrupt(value),
            "ACK" if value < 32 => BroadcastCode::acknowledge(value),
            "CODE" => BroadcastCode(value),
            _ => return None,
        }));
    }
    Some(match upper.as_str() {
        "NULL" => SpaceWireCharacter::Null,
        "FCT" => SpaceWireCharacter::Fct,
        "EOP" => SpaceWireCharacter::NChar(NChar::Eop),
        "EEP" => SpaceWireCharacter::NChar(NChar::Eep),
        digits if digits.len() == 2 => SpaceWireCharacter::NChar(NChar::Data(hex_byte(digits)?)),
        _ => return None,
    })
}

fn hex_byte(digits: &str) -> Option<u8> {
    let plain = digits.bytes().all(|c| c.is_ascii_hexdigit()) && !digits.is_empty();
    plain.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Displays a character in its text form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterName(pub SpaceWireCharacter);

impl fmt::Display for CharacterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SpaceWireCharacter::Null => f.write_str("NULL"),
            SpaceWireCharacter::Fct => f.write_str("FCT"),
            SpaceWireCharacter::NChar(NChar::Eop) => f.write_str("EOP"),
            SpaceWireCharacter::NChar(NChar::Eep) => f.write_str("EEP"),
            SpaceWireCharacter::NChar(NChar::Data(value)) => write!(f, "{value:02X}"),
            SpaceWireCharacter::Broadcast(code) => match code.meaning() {
                CodeMeaning::Time(time) => write!(f, "TIME={time}"),
                CodeMeaning::Interrupt(id) => write!(f, "INT={id}"),
                CodeMeaning::Acknowledge(id) => write!(f, "ACK={id}"),
                CodeMeaning::Reserved => write!(f, "CODE=0x{:02X}", code.0),
            },
        }
    }
}

/// Bits of a line in the order of the wire: digits 0 and 1.
pub fn bits(line: &str) -> impl Iterator<Item = Result<bool, TextError>> {
    split(line).flat_map(|(column, part)| {
        part.chars().enumerate().map(move |(place, digit)| match digit {
            '0' => Ok(false),
            '1' => Ok(true),
            _ => Err(TextError::new(column + place, part, "bits are 0 and 1")),
        })
    })
}

/// Samples of a line: two digits each, data then strobe.
pub fn signals(line: &str) -> impl Iterator<Item = Result<DsSignals, TextError>> {
    split(line).map(|(column, part)| match part {
        "00" => Ok(DsSignals { d: false, s: false }),
        "01" => Ok(DsSignals { d: false, s: true }),
        "10" => Ok(DsSignals { d: true, s: false }),
        "11" => Ok(DsSignals { d: true, s: true }),
        _ => Err(TextError::new(column, part, "a sample is data then strobe: 00, 01, 10 or 11")),
    })
}
