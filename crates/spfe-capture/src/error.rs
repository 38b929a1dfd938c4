//! What goes wrong.

use std::io;

/// Why something is not captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The writer failed. The file ends in the middle of a block.
    #[error("capture: {0}")]
    Io(#[from] io::Error),
    /// The snapshot length has no room for a record of every kind.
    #[error("snapshot length: {bytes} bytes, {min} to {max}")]
    Snaplen {
        /// As asked for.
        bytes: u32,
        /// The shortest.
        min: u32,
        /// The longest.
        max: u32,
    },
    /// A name, description or comment longer than a pcapng option holds.
    #[error("{what}: {bytes} bytes, at most {max}")]
    Text {
        /// Which one.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The most.
        max: usize,
    },
    /// No such interface in this capture.
    #[error("interface {number}: {count} interfaces; add it with CaptureWriter::interface")]
    Interface {
        /// Its number.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// Flags that the caller does not set, or that mean nothing.
    #[error("flags: {flags:#06x}, only {allowed:#06x} can be set")]
    Flags {
        /// As given.
        flags: u16,
        /// All that can be.
        allowed: u16,
    },
    /// A field has a value that no record can hold.
    #[error("{field}: {value}, at most {max}")]
    Value {
        /// Which one.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The highest.
        max: u64,
    },
}

/// Why bytes are no record of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// It ends too early.
    #[error("record: {bytes} bytes, at least {needed}")]
    Short {
        /// Its bytes.
        bytes: usize,
        /// As many are needed.
        needed: usize,
    },
    /// It is something else.
    #[error("record: starts with {found:02x?}, \"SF\" expected")]
    Magic {
        /// Its first bytes.
        found: [u8; 2],
    },
    /// A version this crate does not know.
    #[error("record: version {found}, 1 is known")]
    Version {
        /// Its version.
        found: u8,
    },
    /// The header is shorter than its fields, or longer than the record.
    #[error("record: header of {found} bytes, at least 32 and not beyond its end")]
    HeaderBytes {
        /// As it says.
        found: u8,
    },
    /// A field has a value without a meaning.
    #[error("record: {field} {value} has no meaning")]
    Value {
        /// Which one.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The content does not have the length that the header says, or not one of its kind.
    #[error("record: {bytes} bytes of content do not fit its kind and length")]
    Content {
        /// Bytes there are.
        bytes: usize,
    },
    /// The text of an event is not UTF-8.
    #[error("record: text of event is not UTF-8")]
    Text,
}

/// Why a file is not read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source failed, or it ends within a block.
    #[error("block at byte {offset}: {error}")]
    Io {
        /// Where the block starts.
        offset: u64,
        /// What the source said.
        error: io::Error,
    },
    /// The file breaks a rule of pcapng, or is of a kind this crate does not write.
    #[error("block at byte {offset}: {what}")]
    Block {
        /// Where the block starts.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A block has a length out of range.
    #[error("block at byte {offset}: {bytes} bytes, 12 to {max} in steps of 4", max = crate::reader::BLOCK_MAX)]
    Length {
        /// Where the block starts.
        offset: u64,
        /// Its length.
        bytes: u32,
    },
    /// A packet block that holds no record of this crate.
    #[error("block at byte {offset}: {error}")]
    Record {
        /// Where the block starts.
        offset: u64,
        /// What is wrong.
        error: FormatError,
    },
}
