//! Bits to characters (50-12C 5.4.4, 5.4.7): the first NULL, parity and escape errors.
//!
//! The parity bit that covers a character is in the next one. A character is therefore delivered
//! two bits after its end, together with the flag of the next one. No character is delivered before
//! its parity is checked.

use super::character::{BroadcastCode, NChar, SpaceWireCharacter};
use super::encode::kind;

/// The NULL that ends the search, and the parity bit of the next control character: the last nine
/// bits, the newest in bit 0.
const FIRST_NULL: u16 = 0b0_1110_1000;

/// A decoded character, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodedCharacter {
    /// A character with right parity. The first one is always the NULL of gotNull.
    Character(SpaceWireCharacter),
    /// The parity is wrong.
    ParityError,
    /// ESC was followed by ESC, EOP or EEP.
    EscapeError,
}

/// A complete character whose parity has not been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Data(u8),
    Control(u8),
}

/// Decoder of the receiver, called once per bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterDecoder {
    got_null: bool,
    /// An error was reported; the decoder is silent until it is created again.
    stopped: bool,
    /// During the search: the last bits. Afterwards: the bits of the character in progress.
    shift: u16,
    /// Number of bits of the character in progress.
    count: u8,
    /// The previous character, until its parity is checked.
    held: Option<Part>,
    /// An ESC came before the held character.
    escape: bool,
    odd: bool,
}

impl Default for CharacterDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl CharacterDecoder {
    /// State after the receiver is enabled: searches for the first NULL.
    pub const fn new() -> Self {
        Self {
            got_null: false,
            stopped: false,
            // Ones, so that the first eight bits cannot match.
            shift: 0x1ff,
            count: 0,
            held: None,
            escape: false,
            odd: false,
        }
    }

    /// gotNull: whether the first NULL was found. Errors count only from then on.
    pub const fn got_null(&self) -> bool {
        self.got_null
    }

    /// Processes a bit. After an error the decoder returns nothing more.
    pub fn bit(&mut self, bit: bool) -> Option<DecodedCharacter> {
        if self.stopped {
            return None;
        }
        if !self.got_null {
            return self.search(bit);
        }
        self.shift |= u16::from(bit) << self.count;
        self.count += 1;
        if self.count == 2 {
            return self.flag();
        }
        self.complete();
        None
    }

    fn search(&mut self, bit: bool) -> Option<DecodedCharacter> {
        self.shift = (self.shift << 1 | u16::from(bit)) & 0x1ff;
        if self.shift != FIRST_NULL {
            return None;
        }
        self.got_null = true;
        // The ninth bit starts the next character: parity 0, because the content before it counts
        // as 0.
        self.shift = 0;
        self.count = 1;
        Some(DecodedCharacter::Character(SpaceWireCharacter::Null))
    }

    /// Parity bit and flag are complete: the held character can be checked.
    fn flag(&mut self) -> Option<DecodedCharacter> {
        let (parity, flag) = (self.shift & 1 != 0, self.shift & 2 != 0);
        if !(parity ^ flag ^ self.odd) {
            self.stopped = true;
            return Some(DecodedCharacter::ParityError);
        }
        let received = self.release();
        self.stopped = matches!(received, Some(DecodedCharacter::EscapeError));
        received
    }

    /// Delivers the held character, alone or as part of a control code.
    fn release(&mut self) -> Option<DecodedCharacter> {
        let part = self.held.take()?;
        let escape = core::mem::replace(&mut self.escape, part == Part::Control(kind::ESC));
        let character = match (escape, part) {
            (false, Part::Control(kind::ESC)) => return None,
            (false, Part::Control(kind::FCT)) => SpaceWireCharacter::Fct,
            (false, Part::Control(kind::EOP)) => SpaceWireCharacter::NChar(NChar::Eop),
            (false, Part::Control(_)) => SpaceWireCharacter::NChar(NChar::Eep),
            (false, Part::Data(data)) => SpaceWireCharacter::NChar(NChar::Data(data)),
            (true, Part::Control(kind::FCT)) => SpaceWireCharacter::Null,
            (true, Part::Data(data)) => SpaceWireCharacter::Broadcast(BroadcastCode(data)),
            (true, Part::Control(_)) => return Some(DecodedCharacter::EscapeError),
        };
        Some(DecodedCharacter::Character(character))
    }

    fn complete(&mut self) {
        let control = self.shift & 2 != 0;
        let length = if control { 4 } else { 10 };
        if self.count < length {
            return;
        }
        let content = (self.shift >> 2) as u8;
        self.held = Some(if control { Part::Control(content) } else { Part::Data(content) });
        self.odd = content.count_ones() & 1 != 0;
        self.shift = 0;
        self.count = 0;
    }
}
