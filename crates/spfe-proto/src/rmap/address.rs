//! The reply address field: the path of a reply through the network (50-52C 5.1).

use core::fmt;

/// Maximum length of the reply address field in bytes.
pub const REPLY_ADDRESS_MAX: usize = 12;

/// A reply address field of 0, 4, 8 or 12 bytes, as in the command.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ReplyAddress {
    field: [u8; REPLY_ADDRESS_MAX],
    words: u8,
}

/// Reason why a path cannot be encoded as a reply address field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyPathError {
    /// The path is longer than 12 bytes.
    Long {
        /// Bytes of the path.
        bytes: usize,
    },
    /// The path starts with 0 and continues. Leading zeros are padding, so this one would be lost.
    LeadingZero,
}

impl fmt::Display for ReplyPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long { bytes } => {
                write!(f, "reply path: {bytes} bytes, at most {REPLY_ADDRESS_MAX} allowed")
            }
            Self::LeadingZero => {
                write!(f, "reply path: first byte 0, allowed only in a path of one byte")
            }
        }
    }
}

impl core::error::Error for ReplyPathError {}

impl ReplyAddress {
    /// No field: the initiator logical address alone routes the reply.
    pub const NONE: Self = Self { field: [0; REPLY_ADDRESS_MAX], words: 0 };

    /// The shortest field for a path, padded with leading zeros.
    pub fn from_path(path: &[u8]) -> Result<Self, ReplyPathError> {
        if path.len() > REPLY_ADDRESS_MAX {
            return Err(ReplyPathError::Long { bytes: path.len() });
        }
        if path.len() > 1 && path.first() == Some(&0) {
            return Err(ReplyPathError::LeadingZero);
        }
        let words = path.len().div_ceil(4);
        let mut field = [0; REPLY_ADDRESS_MAX];
        if let Some(place) = field.get_mut(words * 4 - path.len()..words * 4) {
            place.copy_from_slice(path);
        }
        Ok(Self { field, words: words as u8 })
    }

    /// A field as received; `None` unless it has 0, 4, 8 or 12 bytes.
    pub fn from_field(bytes: &[u8]) -> Option<Self> {
        let mut field = [0; REPLY_ADDRESS_MAX];
        if !bytes.len().is_multiple_of(4) {
            return None;
        }
        field.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { field, words: (bytes.len() / 4) as u8 })
    }

    /// The field, including padding.
    pub fn field(&self) -> &[u8] {
        self.field.get(..usize::from(self.words) * 4).unwrap_or(&[])
    }

    /// Bytes that precede the reply: the field without leading zeros; a single zero byte if all
    /// bytes are zero.
    pub fn path(&self) -> &[u8] {
        let field = self.field();
        let last = field.len().saturating_sub(1);
        let start = field.iter().position(|byte| *byte != 0).unwrap_or(last);
        field.get(start..).unwrap_or(&[])
    }

    /// Number of four-byte words, 0 to 3.
    pub(super) const fn words(&self) -> u8 {
        self.words
    }
}

impl fmt::Debug for ReplyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplyAddress({:02x?})", self.field())
    }
}
