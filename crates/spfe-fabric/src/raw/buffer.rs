//! Memory that can be exposed.

use crate::memory;
use crate::wire::{FabricError, WindowRights};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{SealFlags, fcntl_get_seals};
use spfe_contract::Status;
use spfe_host::os::SharedMemory;
use std::io;
use std::sync::atomic::AtomicU64;

/// Memory that can be exposed. Peers may write it at any time while it is, so it is accessed by
/// copying, by atomic words, or through [`FabricBuffer::as_ptr`].
#[derive(Debug)]
pub struct FabricBuffer {
    space: SharedMemory,
    file: OwnedFd,
    bytes: usize,
    key: Option<u64>,
}

fn failed(error: io::Error) -> FabricError {
    FabricError::io("buffer", &error)
}

impl FabricBuffer {
    /// A buffer of zeroes.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS for no bytes; NO_RESOURCES without memory.
    pub fn new(bytes: usize) -> Result<Self, FabricError> {
        let whole = bytes.checked_next_multiple_of(rustix::param::page_size());
        let Some(whole) = whole.filter(|whole| *whole > 0) else {
            return Err(FabricError::new(Status::OutOfBounds, format!("buffer of {bytes} bytes")));
        };
        let file = memory::create("spfe-fabric-window", whole).map_err(failed)?;
        let space = SharedMemory::reserve(whole).map_err(failed)?;
        space.place(0, file.as_fd(), 0, whole, true).map_err(failed)?;
        Ok(Self { space, file, bytes, key: None })
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Key of its window while it is exposed.
    pub fn key(&self) -> Option<u64> {
        self.key
    }

    pub(super) fn set_key(&mut self, key: Option<u64>) {
        self.key = key;
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Address of its first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.space.base().as_ptr()
    }

    fn check(&self, offset: usize, bytes: usize) -> Result<(), FabricError> {
        if offset.checked_add(bytes).is_some_and(|end| end <= self.bytes) {
            return Ok(());
        }
        let what = format!("buffer of {} bytes: {bytes} bytes at {offset}", self.bytes);
        Err(FabricError::new(Status::OutOfBounds, what))
    }

    /// Copies bytes into the buffer.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), FabricError> {
        self.check(offset, bytes.len())?;
        let at = self.as_ptr().wrapping_add(offset);
        // SAFETY: inside the mapping, which peers may access at the same time.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        Ok(())
    }

    /// Copies bytes out of the buffer.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS.
    pub fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<(), FabricError> {
        self.check(offset, bytes.len())?;
        let at = self.as_ptr().wrapping_add(offset);
        // SAFETY: inside the mapping, which peers may access at the same time.
        unsafe { std::ptr::copy_nonoverlapping(at, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// A word, for flags that peers set.
    ///
    /// # Errors
    /// OUT_OF_BOUNDS; BAD_FIELD unless the offset is a multiple of 8.
    pub fn word(&self, offset: usize) -> Result<&AtomicU64, FabricError> {
        self.check(offset, 8)?;
        if !offset.is_multiple_of(8) {
            let what = format!("word at {offset}: a multiple of 8 is needed");
            return Err(FabricError::new(Status::BadField, what));
        }
        // SAFETY: aligned and inside the mapping, which lives as long as `self`.
        Ok(unsafe { AtomicU64::from_ptr(self.as_ptr().wrapping_add(offset).cast()) })
    }

    /// Makes it ready to be exposed with these rights.
    pub(super) fn prepare(&mut self, rights: WindowRights) -> Result<(), FabricError> {
        if let Some(key) = self.key {
            let what = format!("expose: the buffer is exposed as window {key:#x}; revoke it first");
            return Err(FabricError::new(Status::Busy, what));
        }
        let seals = fcntl_get_seals(&self.file).map_err(|error| failed(error.into()))?;
        if !rights.can_write() {
            return memory::forbid_writers(&self.file).map_err(failed);
        }
        if seals.contains(SealFlags::FUTURE_WRITE) {
            let what = "expose: peers could only read this buffer before, which the kernel keeps so; \
                use another buffer for writing";
            return Err(FabricError::new(Status::AccessDenied, what));
        }
        Ok(())
    }

    /// Moves to fresh memory at the same address.
    pub(super) fn renew(&mut self) -> Result<(), FabricError> {
        let whole = self.space.size();
        let file = memory::create("spfe-fabric-window", whole).map_err(failed)?;
        let fresh = SharedMemory::open(file.try_clone().map_err(failed)?, whole).map_err(failed)?;
        // SAFETY: both mappings have this size; nobody else has the new one.
        unsafe { std::ptr::copy_nonoverlapping(self.as_ptr(), fresh.base().as_ptr(), whole) };
        self.space.place(0, file.as_fd(), 0, whole, true).map_err(failed)?;
        self.file = file;
        Ok(())
    }
}
