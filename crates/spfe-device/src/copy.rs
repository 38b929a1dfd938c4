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
    // SAFETY: both are mapped for `length` bytes. `copy` allows source and target to overlap.
    unsafe {
        match length {
            8..=16 => copy_ends::<8>(source, target, length),
            17..=32 => copy_ends::<16>(source, target, length),
            33..=64 => copy_ends::<32>(source, target, length),
            _ => core::ptr::copy(source, target, length as usize),
        }
    };
}

/// Copies the first and the last `N` bytes of `length`, which may overlap.
///
/// # Safety
/// Both are mapped for `length` bytes, and `length` is at least `N` and at most twice that.
#[inline(always)]
pub unsafe fn copy_ends<const N: usize>(from: *const u8, to: *mut u8, length: u32) {
    let tail = length as usize - N;
    // SAFETY: the caller's promise. All loads come before the first store, so that source and target
    // may overlap.
    unsafe {
        let first = from.cast::<[u8; N]>().read_unaligned();
        let last = from.add(tail).cast::<[u8; N]>().read_unaligned();
        to.cast::<[u8; N]>().write_unaligned(first);
        to.add(tail).cast::<[u8; N]>().write_unaligned(last);
    }
}
