//! Copying payload.

use crate::memory::Address;

/// A stretch of bytes to send.
#[derive(Clone, Copy, Debug)]
pub struct CopySource {
    /// First byte, in this process.
    pub at: *const u8,
    /// Address of the first byte. `None` for bytes outside of any region: inline data and
    /// instruments.
    pub address: Option<Address>,
    /// Number of bytes.
    pub length: u32,
}

/// A place to copy to.
#[derive(Clone, Copy, Debug)]
pub struct CopyTarget {
    /// First byte, in this process.
    pub at: *mut u8,
    /// Address of the first byte. `None` for memory outside of any region.
    pub address: Option<Address>,
}

impl CopyTarget {
    /// The place `bytes` further.
    #[inline(always)]
    pub fn plus(self, bytes: u32) -> Self {
        Self {
            at: self.at.wrapping_add(bytes as usize),
            address: self.address.map(|a| Address(a.0 + u64::from(bytes))),
        }
    }
}

/// Copies payload. A host may write to the memory at the same time; then the bytes are undefined,
/// but nothing else is affected.
///
/// # Safety
/// Source and target are mapped for `length` bytes ([`crate::memory::RegionMap::translate`]).
#[inline(always)]
pub unsafe fn move_bytes(source: *const u8, target: *mut u8, length: u32) {
    // SAFETY: both are mapped for `length` bytes. The two words of a short copy may overlap, and
    // both are loaded before the first store. `copy` allows source and target to overlap.
    unsafe {
        match length {
            8..=16 => {
                let tail = length as usize - 8;
                let first = source.cast::<u64>().read_unaligned();
                let last = source.add(tail).cast::<u64>().read_unaligned();
                target.cast::<u64>().write_unaligned(first);
                target.add(tail).cast::<u64>().write_unaligned(last);
            }
            _ => core::ptr::copy(source, target, length as usize),
        }
    };
}
