//! Errors of the writer and the reader.

use crate::options::BLOCK_MAX;
use std::io;

/// Why a record or an interface could not be added to a capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The underlying writer failed. The file ends in the middle of a block.
    #[error("capture: {0}")]
    Io(#[from] io::Error),
    /// The snapshot length is out of range.
    #[error("snapshot length: {bytes} bytes, allowed are {min} to {max}")]
    Snaplen {
        /// Requested length.
        bytes: u32,
        /// Minimum.
        min: u32,
        /// Maximum.
        max: u32,
    },
    /// A name, description or comment is longer than a pcapng option can hold.
    #[error("{what}: {bytes} bytes, at most {max}")]
    Text {
        /// The kind of text, for example "comment".
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// Maximum length.
        max: usize,
    },
    /// The interface does not belong to this capture.
    #[error("interface {number}: the capture has {count} interfaces; add it before its records")]
    Interface {
        /// Number of the interface.
        number: u32,
        /// Number of interfaces in the capture.
        count: u32,
    },
    /// The caller passed flags that only the writer sets, or that have no meaning.
    #[error("flags: {flags:#06x}, only {allowed:#06x} can be set")]
    Flags {
        /// Flags passed.
        flags: u16,
        /// Mask of the flags that callers may set.
        allowed: u16,
    },
    /// A value does not fit into its field.
    #[error("{field}: {value}, at most {max}")]
    Value {
        /// Name of the field.
        field: &'static str,
        /// Value passed.
        value: u64,
        /// Maximum of the field.
        max: u64,
    },
}

/// Why the bytes of a packet block are not a valid record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The record ends too early.
    #[error("record: {bytes} bytes, at least {needed} needed")]
    Short {
        /// Length of the record.
        bytes: usize,
        /// Minimum length.
        needed: usize,
    },
    /// The record does not start with the magic bytes.
    #[error("record: starts with {found:02x?}, \"SF\" expected")]
    Magic {
        /// First two bytes of the record.
        found: [u8; 2],
    },
    /// The format version is unknown.
    #[error("record: version {found}, only version 1 is known")]
    Version {
        /// Version of the record.
        found: u8,
    },
    /// The header length is less than the fixed fields need, or more than the record has.
    #[error("record: header of {found} bytes, must be at least 32 and end within the record")]
    HeaderBytes {
        /// Header length that the record states.
        found: u8,
    },
    /// A field has a value without a meaning.
    #[error("record: {field} {value} has no meaning")]
    Value {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The content does not match the record's kind, or its length differs from the header's.
    #[error("record: {bytes} bytes of content do not match its kind and length")]
    Content {
        /// Length of the content.
        bytes: usize,
    },
    /// The text of an event is not UTF-8.
    #[error("record: text of the event is not UTF-8")]
    Text,
}

/// Why the reader stopped. `offset` is the place in the file where the block starts.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source failed, or the file ends within a block.
    #[error("block at byte {offset}: {error}")]
    Io {
        /// Start of the block in bytes.
        offset: u64,
        /// Error of the source.
        error: io::Error,
    },
    /// The block violates pcapng, or is of a form that this crate does not write.
    #[error("block at byte {offset}: {what}")]
    Block {
        /// Start of the block in bytes.
        offset: u64,
        /// Description of the error.
        what: &'static str,
    },
    /// The length of the block is out of range.
    #[error("block at byte {offset}: {bytes} bytes long, must be 12 to {BLOCK_MAX} in steps of 4")]
    Length {
        /// Start of the block in bytes.
        offset: u64,
        /// Length that the block states.
        bytes: u32,
    },
    /// The packet block does not hold a valid record.
    #[error("block at byte {offset}: {error}")]
    Record {
        /// Start of the block in bytes.
        offset: u64,
        /// Error in the record.
        error: FormatError,
    },
}
