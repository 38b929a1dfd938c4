//! Decodes the content of a record, which follows its pseudo-header.

use crate::error::FormatError;
use crate::event::{EventCode, LinkEvent, Severity};
use crate::layout::{PseudoHeader, RecordKind, flag};
use crate::record::{BroadcastMessage, LineCharacter, LineWord, item_bytes};
use spfe_link::spacewire::BroadcastCode;

/// The decoded content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordContent<'a> {
    /// The bytes of a packet, without its end marker.
    Packet(&'a [u8]),
    /// A broadcast message of SpaceFibre.
    Broadcast(BroadcastMessage),
    /// A broadcast code of SpaceWire: time-code or distributed interrupt.
    Code(BroadcastCode),
    /// A link event.
    Event {
        /// The event's code, or `None` for a code that this version does not know.
        code: Option<EventCode>,
        /// The event's code as a number.
        number: u16,
        /// The event's severity.
        severity: Severity,
        /// The event's value; see [`EventCode::value_meaning`].
        value: u32,
        /// The event's text, empty if it has none.
        text: &'a str,
    },
    /// Consecutive words of a lane.
    Words(WordList<'a>),
    /// Consecutive characters of a SpaceWire link.
    Characters(CharacterList<'a>),
    /// The words of a frame.
    Frame(WordList<'a>),
}

/// The words of a record, decoded on access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordList<'a>(&'a [u8]);

impl WordList<'_> {
    /// Decodes the words in order.
    pub fn iter(&self) -> impl Iterator<Item = LineWord> + '_ {
        let (words, _) = self.0.as_chunks::<{ LineWord::BYTES }>();
        words.iter().map(|bytes| LineWord::from_bytes(*bytes))
    }
}

/// The characters of a record, decoded on access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterList<'a>(&'a [u8]);

impl CharacterList<'_> {
    /// Decodes the characters in order.
    pub fn iter(&self) -> impl Iterator<Item = LineCharacter> + '_ {
        let (characters, _) = self.0.as_chunks::<{ LineCharacter::BYTES }>();
        characters.iter().filter_map(|bytes| LineCharacter::from_bytes(*bytes))
    }
}

impl<'a> RecordContent<'a> {
    /// Decodes the bytes that follow a pseudo-header.
    ///
    /// # Errors
    ///
    /// The length differs from the header's, or a value has no meaning.
    pub fn parse(header: &PseudoHeader, bytes: &'a [u8]) -> Result<Self, FormatError> {
        let wrong = FormatError::Content { bytes: bytes.len() };
        let unit = item_bytes(header.kind);
        let whole = u64::from(header.length) * unit as u64;
        let cut = header.flags & flag::TRUNCATED != 0;
        let kept = bytes.len() as u64;
        if !bytes.len().is_multiple_of(unit) || if cut { kept >= whole } else { kept != whole } {
            return Err(wrong);
        }
        Ok(match header.kind {
            RecordKind::Packet => Self::Packet(bytes),
            RecordKind::Broadcast => Self::Broadcast(message(bytes).ok_or(wrong)?),
            RecordKind::Code => match bytes {
                [code] => Self::Code(BroadcastCode(*code)),
                _ => return Err(wrong),
            },
            RecordKind::Event => Self::event(bytes)?,
            RecordKind::Words => Self::Words(WordList(bytes)),
            RecordKind::Frame => Self::Frame(WordList(bytes)),
            RecordKind::Characters => {
                let (characters, _) = bytes.as_chunks::<{ LineCharacter::BYTES }>();
                if characters.iter().any(|bytes| LineCharacter::from_bytes(*bytes).is_none()) {
                    return Err(wrong);
                }
                Self::Characters(CharacterList(bytes))
            }
        })
    }

    fn event(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let needed = LinkEvent::FIXED;
        let short = FormatError::Short { bytes: bytes.len(), needed };
        let ([c0, c1, severity, _, value @ ..], text) =
            bytes.split_first_chunk::<{ LinkEvent::FIXED }>().ok_or(short)?;
        let number = u16::from_le_bytes([*c0, *c1]);
        let found = FormatError::Value { field: "severity", value: (*severity).into() };
        Ok(Self::Event {
            code: EventCode::of(number),
            number,
            severity: Severity::of(*severity).ok_or(found)?,
            value: u32::from_le_bytes(*value),
            text: std::str::from_utf8(text).map_err(|_| FormatError::Text)?,
        })
    }
}

fn message(bytes: &[u8]) -> Option<BroadcastMessage> {
    let ([channel, kind, status, _], data) = bytes.split_first_chunk::<4>()?;
    let (data, rest) = data.split_first_chunk::<8>()?;
    let (late, delayed) = (status & 1 != 0, status & 2 != 0);
    (rest.is_empty() && *status < 4).then_some(BroadcastMessage {
        channel: *channel,
        kind: *kind,
        data: *data,
        late,
        delayed,
    })
}
