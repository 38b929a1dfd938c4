//! Memory of this process by bus address. The core reaches what is registered here, and nothing
//! else; or, in place of that, the memory of somebody else.

use spfe_contract::Status;
use spfe_host::{Error, Result, SharedMemory};
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The first bus address: above what 32 bits can name, so that cut addresses are noticed.
const FIRST: u64 = 1 << 32;
/// Bus addresses that are never given out, behind each mapping.
const GAP: u64 = 1 << 16;
/// One more than the last bus address: the offset of an entry has 48 bits.
const END: u64 = 1 << 48;
/// Bytes of a beat.
const BEAT: u64 = 16;

/// Memory of somebody else, by bus address.
///
/// # Safety
/// The 16 bytes at an address that `beat` returns can be read and written as long as the object
/// lives. Others may change them at any time.
pub unsafe trait ForeignMemory: Send + Sync {
    /// The aligned 16 bytes at a bus address, if the core may read or write them.
    fn beat(&self, address: u64, write: bool) -> Option<NonNull<u8>>;
}

#[derive(Default)]
struct Inner {
    next: u64,
    parts: BTreeMap<u64, Arc<SharedMemory>>,
    foreign: Option<Arc<dyn ForeignMemory>>,
}

/// The memory that a core reaches.
#[derive(Default)]
pub struct BusMemory(RwLock<Inner>);

impl BusMemory {
    /// Makes memory reachable. Addresses are never used again, so an access that comes too late is
    /// refused.
    ///
    /// # Errors
    /// NO_RESOURCES if the bus has no address left.
    pub fn map(&self, memory: &Arc<SharedMemory>) -> Result<u64> {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let at = inner.next.max(FIRST);
        let next = at.checked_add(memory.size() as u64 + GAP).filter(|next| *next <= END);
        let next = next.map(|next| next.next_multiple_of(4096)).ok_or_else(|| {
            Error::device(Status::NoResources, "rtl: the bus has no address left")
        })?;
        inner.next = next;
        inner.parts.insert(at, memory.clone());
        Ok(at)
    }

    /// Makes memory reachable at a bus address below those of [`BusMemory::map`].
    pub fn map_at(&self, at: u64, memory: &Arc<SharedMemory>) {
        debug_assert!(at + memory.size() as u64 <= FIRST);
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        inner.parts.insert(at, memory.clone());
    }

    /// Takes memory back.
    pub fn unmap(&self, base: u64) {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        inner.parts.remove(&base);
    }

    /// Puts memory of somebody else in place of what is mapped, or nothing. When this returns, no
    /// access to what was there before is under way.
    pub fn set_foreign(&self, memory: Option<Arc<dyn ForeignMemory>>) {
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        inner.foreign = memory;
    }

    /// Calls `with` with a pointer to the aligned beat at an address, if memory is there.
    fn beat<T>(&self, address: u64, write: bool, with: impl FnOnce(NonNull<u8>) -> T) -> Option<T> {
        let address = address & !(BEAT - 1);
        let inner = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(foreign) = &inner.foreign {
            return foreign.beat(address, write).map(with);
        }
        let (at, memory) = inner.parts.range((Unbounded, Included(address))).next_back()?;
        let inside = address - at;
        // The size of memory is a multiple of a page.
        let fits = inside + BEAT <= memory.size() as u64;
        // SAFETY: inside the mapping, which stays while the lock is held.
        fits.then(|| with(unsafe { memory.base().add(inside as usize) }))
    }

    /// Reads the aligned beat that contains an address. `None` if no memory is there.
    ///
    /// The upper half comes first: the phase of a ring entry is in it, and whoever sees it must see
    /// the rest of the entry.
    pub fn read(&self, address: u64) -> Option<u128> {
        self.beat(address, false, |at| {
            let words = at.cast::<AtomicU64>();
            // SAFETY: inside the mapping and aligned to 16; atomics only.
            let (low, high) = unsafe { (words.as_ref(), words.add(1).as_ref()) };
            let high = high.load(Ordering::Acquire);
            u128::from(high) << 64 | u128::from(low.load(Ordering::Acquire))
        })
    }

    /// Writes the bytes of the aligned beat whose strobe is set, the lower half first. False if no
    /// memory is there.
    pub fn write(&self, address: u64, data: u128, strobes: u16) -> bool {
        let written = self.beat(address, true, |at| {
            for half in 0..2 {
                let strobes = (strobes >> (8 * half)) as u8;
                let data = (data >> (64 * half)) as u64;
                // SAFETY: as in `read`.
                let word = unsafe { at.cast::<AtomicU64>().add(half) };
                if strobes == u8::MAX {
                    // SAFETY: as in `read`.
                    unsafe { word.as_ref() }.store(data.to_le(), Ordering::Release);
                    continue;
                }
                for (index, byte) in data.to_le_bytes().into_iter().enumerate() {
                    if strobes >> index & 1 != 0 {
                        // SAFETY: as in `read`.
                        let at = unsafe { word.cast::<AtomicU8>().add(index).as_ref() };
                        at.store(byte, Ordering::Release);
                    }
                }
            }
        });
        written.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registered_memory_is_reached() {
        let memory = Arc::new(SharedMemory::create("test", 8192).unwrap());
        let bus = BusMemory::default();
        let at = bus.map(&memory).unwrap();
        let other = bus.map(&memory).unwrap();
        assert!(at >= FIRST && other >= at + 8192 + GAP);
        assert!(bus.write(at + 32, 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100, 0x81ff));
        assert_eq!(bus.read(at + 40), Some(0x0f00_0000_0000_0008_0706_0504_0302_0100));
        for address in [0, at - 1, at + 8192, other - 1, other + 8192, u64::MAX] {
            assert!(!bus.write(address, 0, u16::MAX), "{address:#x}");
            assert_eq!(bus.read(address), None, "{address:#x}");
        }
        bus.unmap(at);
        assert_eq!((bus.read(at), bus.read(other)), (None, Some(0)));
        bus.unmap(at);
        assert!(bus.map(&memory).unwrap() > other, "an address is not used again");
    }
}
