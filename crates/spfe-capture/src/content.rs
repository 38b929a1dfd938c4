//! The content of a record, behind its header.

use crate::error::FormatError;
use crate::event::{EventCode, LinkEvent, Severity};
use crate::layout::{PseudoHeader, RecordKind, flag};
use crate::record::{BroadcastMessage, LineCharacter, LineWord};
use spfe_link::spacewire::BroadcastCode;

/// The content of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordContent<'a> {
    /// Bytes of a packet.
    Packet(&'a [u8]),
    /// A broadcast message.
    Broadcast(BroadcastMessage),
    /// A broadcast code.
    Code(BroadcastCode),
    /// An event.
    Event {
        /// Its code; none for one that this version does not know.
        code: Option<EventCode>,
        /// Its code as a number.
        number: u16,
        /// How bad it is.
        severity: Severity,
        /// Its value.
        value: u32,
        /// Its text.
        text: &'a str,
    },
    /// Words of a lane.
    Words(WordList<'a>),
    /// Characters of a link.
    Characters(CharacterList<'a>),
    /// The words of a frame.
    Frame(WordList<'a>),
}

/// Words, read when they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordList<'a>(&'a [u8]);

impl WordList<'_> {
    /// The words.
    pub fn iter(&self) -> impl Iterator<Item = LineWord> + '_ {
        let (words, _) = self.0.as_chunks::<{ LineWord::BYTES }>();
        words.iter().map(|bytes| LineWord::from_bytes(*bytes))
    }
}

/// Characters, read when they are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharacterList<'a>(&'a [u8]);

impl CharacterList<'_> {
    /// The characters.
    pub fn iter(&self) -> impl Iterator<Item = LineCharacter> + '_ {
        let (characters, _) = self.0.as_chunks::<{ LineCharacter::BYTES }>();
        characters.iter().filter_map(|bytes| LineCharacter::from_bytes(*bytes))
    }
}

impl<'a> RecordContent<'a> {
    /// Reads what follows a header.
    ///
    /// # Errors
    ///
    /// Another length than the header says, or a value that has no meaning.
    pub fn parse(header: &PseudoHeader, bytes: &'a [u8]) -> Result<Self, FormatError> {
        let wrong = FormatError::Content { bytes: bytes.len() };
        let unit = match header.kind {
            RecordKind::Words | RecordKind::Frame => LineWord::BYTES,
            RecordKind::Characters => LineCharacter::BYTES,
            _ => 1,
        };
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
