//! All memory of a host that a device can reach, by bus address.
//!
//! A large range of address space stands for the bus: a bus address is an offset in it. Each mapping
//! of the host has its file there, so that an access needs no more than a look at a table. Memory
//! that the host takes away is replaced by zeroes before the host is told so.

use super::bus::Rights;
use rustix::fd::BorrowedFd;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};
use spfe_contract::{OFFSET_BITS, Status};
use spfe_device::memory::BusWindow;
use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::{PoisonError, RwLock};

/// Most mappings of the host in a window. A process has about 2^16 of its own by default.
const PARTS_MAX: usize = 1 << 13;
/// Least size of the address space, log2. A process of a machine with few address bits has no more.
const SPACE_LOG2_MIN: u32 = 36;
/// Protection of everything that was ever mapped.
const ACCESSIBLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);
/// Bytes unmapped in one call; other threads that map memory wait for it.
const UNMAP_BYTES: u64 = 16 << 20;

/// A mapping of the host: its size and what the device may do.
struct Part {
    bytes: u64,
    rights: Rights,
}

/// The bus as a device sees it.
pub(super) struct LocalDma {
    base: NonNull<u8>,
    bytes: u64,
    parts: RwLock<BTreeMap<u64, Part>>,
}

// SAFETY: a mapping has no thread affinity; its users allow the contents to change at any time.
unsafe impl Send for LocalDma {}
// SAFETY: as above.
unsafe impl Sync for LocalDma {}

impl LocalDma {
    /// A bus without memory, with as many addresses as this process has room for.
    pub fn new() -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let mut last = io::Error::from(io::ErrorKind::OutOfMemory);
        for log2 in (SPACE_LOG2_MIN..OFFSET_BITS as u32).rev() {
            let Ok(size) = usize::try_from(1u64 << log2) else { continue };
            // SAFETY: a fresh mapping at an address the kernel chooses.
            match unsafe { mmap_anonymous(std::ptr::null_mut(), size, ProtFlags::empty(), flags) } {
                Ok(base) => {
                    let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
                    return Ok(Self { base, bytes: size as u64, parts: RwLock::default() });
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }

    fn place(&self, address: u64) -> *mut u8 {
        self.base.as_ptr().wrapping_add(address as usize)
    }

    /// Adds a range of a file. Multiples of the page size; the file does not shrink.
    ///
    /// # Errors
    /// `InvalidInput` for addresses that the window does not have, `OutOfMemory` for too many
    /// mappings. The device cannot reach the range then.
    pub fn add(
        &self,
        address: u64,
        bytes: u64,
        file: BorrowedFd<'_>,
        offset: u64,
        rights: Rights,
    ) -> io::Result<()> {
        if address.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= PARTS_MAX {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // A step that has looked up memory which was here before may write yet. That must not fault,
        // and must not reach memory that the device may only read.
        let kind = if rights.write { MapFlags::SHARED } else { MapFlags::PRIVATE };
        let (prot, flags) = (ACCESSIBLE, kind | MapFlags::NORESERVE | MapFlags::FIXED);
        let (at, size) = (self.place(address).cast(), bytes as usize);
        // SAFETY: inside our own mapping, whose users expect the contents to change at any time.
        unsafe { mmap(at, size, prot, flags, file, offset) }?;
        parts.insert(address, Part { bytes, rights });
        Ok(())
    }

    /// Takes all mappings that lie in a range from the device.
    ///
    /// # Errors
    /// The kernel refuses; what could not be taken is still accessible.
    pub fn remove(&self, from: u64, to: u64) -> io::Result<()> {
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<_> = parts.range(from..to).map(|(at, part)| (*at, part.bytes)).collect();
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED;
        for (address, bytes) in gone {
            let at = self.place(address).cast();
            // SAFETY: replaces a part of our own mapping. A step that has looked the part up may
            // still use it: it finds zeroes, or writes to a page that nobody reads.
            unsafe { mmap_anonymous(at, bytes as usize, ACCESSIBLE, flags) }?;
            parts.remove(&address);
        }
        Ok(())
    }
}

// SAFETY: once mapped, an address can be read and written until `drop`, whatever the host does: see
// `add` and `remove`.
unsafe impl BusWindow for LocalDma {
    fn at(&self, address: u64, length: u64, access: u32) -> Result<*mut u8, Status> {
        let end = address.checked_add(length).ok_or(Status::OutOfBounds)?;
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        let mut next = address;
        while next < end {
            let (at, part) = parts.range(..=next).next_back().ok_or(Status::OutOfBounds)?;
            let after = at + part.bytes;
            if after <= next {
                return Err(Status::OutOfBounds);
            }
            if !part.rights.allows(Rights::of(access)) {
                return Err(Status::AccessDenied);
            }
            next = after;
        }
        Ok(self.place(address))
    }
}

impl Drop for LocalDma {
    fn drop(&mut self) {
        let parts = std::mem::take(&mut self.parts).into_inner();
        let unmap = |at: u64, bytes: u64| {
            // SAFETY: the mapping is ours, and every holder of a pointer into it keeps `self` alive.
            let _ = unsafe { munmap(self.place(at).cast(), bytes as usize) };
        };
        for (at, part) in parts.unwrap_or_else(PoisonError::into_inner) {
            for from in (0..part.bytes).step_by(UNMAP_BYTES as usize) {
                unmap(at + from, UNMAP_BYTES.min(part.bytes - from));
            }
        }
        unmap(0, self.bytes);
    }
}
