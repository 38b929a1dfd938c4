//! The area of packed receive: where the device puts records, and how the host gives them back.
//!
//! The device writes records {header, payload, padding to 8} one after the other. A *run* is a
//! sequence of records without a gap, which one completion reports. If a record does not fit before
//! the end of the area, the device starts a run at offset 0 and sets WRAP in its completion. The
//! skipped tail counts as used until the host gives that run back.
//!
//! A record takes at most a quarter of the area, so that an empty area has room for it even with a
//! skipped tail. Longer packets come in several records.

use spfe_contract as contract;

const ALIGN: u32 = contract::PACKED_ALIGN as u32;
const HEADER: u32 = contract::PACKED_HEADER_BYTES as u32;

/// Bytes that a record of `length` payload bytes takes in the area.
#[inline(always)]
pub const fn record_bytes(length: u32) -> u32 {
    (HEADER + length + (ALIGN - 1)) & !(ALIGN - 1)
}

/// Maximum payload of a record in an area of this size, bytes.
#[inline(always)]
pub const fn record_max(area: u32) -> u32 {
    area / 4 / ALIGN * ALIGN - HEADER
}

/// The place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Offset of the record header in the area.
    pub offset: u32,
    /// The record starts at offset 0 again. The bytes up to the end of the area were skipped.
    pub wrapped: bool,
}

/// Device side of an area. It counts positions and does not access the memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PackedWriter {
    size: u32,
    /// Offset of the next record.
    head: u32,
    /// Bytes in use, skipped tails included.
    used: u32,
}

impl PackedWriter {
    /// An empty area of `size` bytes (a multiple of 8, at least `PACKED_AREA_MIN_BYTES`).
    pub const fn new(size: u32) -> Self {
        Self { size, head: 0, used: 0 }
    }

    /// An area with the next record at `head` and `used` bytes in use.
    pub const fn at(size: u32, head: u32, used: u32) -> Self {
        Self { size, head, used }
    }

    /// Maximum payload of a record, bytes.
    #[inline(always)]
    pub const fn record_max(&self) -> u32 {
        record_max(self.size)
    }

    /// Bytes in use, skipped tails included.
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// Offset of the next record, if it fits before the end of the area.
    #[inline(always)]
    pub const fn head(&self) -> u32 {
        self.head
    }

    /// Free bytes at the head, without a wrap.
    #[inline(always)]
    pub const fn straight(&self) -> u32 {
        let (to_end, free) = (self.size - self.head, self.size - self.used);
        if to_end < free { to_end } else { free }
    }

    /// Takes bytes of whole records at the head, at most [`PackedWriter::straight`].
    #[inline(always)]
    pub fn take_straight(&mut self, bytes: u32) {
        debug_assert!(bytes <= self.straight());
        self.head += bytes;
        self.used += bytes;
    }

    /// Reserves room for a record of `length` payload bytes. `None` while there is too little room.
    /// `length` must not exceed [`PackedWriter::record_max`].
    #[inline(always)]
    pub fn reserve(&mut self, length: u32) -> Option<RecordPlace> {
        debug_assert!(length <= self.record_max());
        let need = record_bytes(length);
        let to_end = self.size - self.head;
        let (skip, offset) = if need <= to_end { (0, self.head) } else { (to_end, 0) };
        if self.size - self.used < skip + need {
            return None;
        }
        self.used += skip + need;
        self.head = offset + need;
        Some(RecordPlace { offset, wrapped: skip != 0 || (offset == 0 && to_end == 0) })
    }

    /// Frees bytes that the host gave back. False, and no change, if that is more than are in use.
    #[inline(always)]
    pub fn release(&mut self, bytes: u32) -> bool {
        if bytes > self.used {
            return false;
        }
        self.used -= bytes;
        true
    }
}

/// Host side of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedReader {
    size: u32,
    /// Offset after the last run.
    tail: u32,
}

/// A run of records, as a completion reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedRun {
    /// Offset of the first record header.
    pub offset: u32,
    /// Bytes of all records, headers and padding included.
    pub bytes: u32,
    /// Bytes to give back after use: the run and the tail skipped before it.
    pub owed: u32,
}

impl PackedReader {
    /// A reader at the start of a fresh area.
    pub const fn new(size: u32) -> Self {
        Self { size, tail: 0 }
    }

    /// A reader that goes on at an offset.
    pub const fn at(size: u32, tail: u32) -> Self {
        Self { size, tail: if tail < size { tail } else { size } }
    }

    /// Offset of the next run.
    pub const fn tail(&self) -> u32 {
        self.tail
    }

    /// The place of the run that a completion reports. `None` if it would exceed the area, which
    /// only a broken device reports.
    #[inline(always)]
    pub fn run(&mut self, bytes: u32, wrapped: bool) -> Option<PackedRun> {
        let (offset, skipped) = if wrapped { (0, self.size - self.tail) } else { (self.tail, 0) };
        if bytes > self.size - offset {
            return None;
        }
        self.tail = offset + bytes;
        Some(PackedRun { offset, bytes, owed: skipped + bytes })
    }
}
