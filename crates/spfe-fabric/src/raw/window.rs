//! Windows of other nodes, and transfers.

use crate::memory::{Directory, NodePage, PeerCounter, SharedWords, WINDOWS_MAX};
use crate::pace::PathPace;
use crate::topology::NodeNumber;
use crate::wire::{FabricError, PortRate, WindowRights};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_host::os::{now_ns, sleep_until};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// Most segments of one transfer.
pub const SEGMENTS_MAX: usize = 256;
/// Bytes that are copied between two looks at the limit of a port.
const CHUNK: usize = 256 << 10;
/// Shorter waits poll the clock instead of sleeping, ns.
const SPIN_NS: u64 = 80_000;

/// A part of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteSegment {
    /// Offset in the window.
    pub offset: u64,
    /// Bytes.
    pub bytes: usize,
}

/// A part of this process's memory.
#[derive(Clone, Copy, Debug)]
pub struct LocalSegment {
    /// Address of its first byte.
    pub at: *mut u8,
    /// Bytes.
    pub bytes: usize,
}

/// What a transfer does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Put,
    Get,
}

/// A window of another node.
#[derive(Debug)]
pub struct RawWindow {
    page: Arc<NodePage>,
    directory: Arc<Directory>,
    memory: SharedWords,
    node: usize,
    owner: NodeNumber,
    key: u64,
    bytes: u64,
    rights: WindowRights,
    pace: PathPace,
}

impl RawWindow {
    pub(super) fn open(
        (page, directory): (Arc<NodePage>, Arc<Directory>),
        node: NodeNumber,
        key: u64,
        (owner, bytes, rights): (NodeNumber, u64, WindowRights),
        port: Option<PortRate>,
        fd: OwnedFd,
    ) -> Result<Self, FabricError> {
        let size = usize::try_from(bytes)
            .map_err(|_| FabricError::new(Status::OutOfBounds, "window: too long"))?;
        let memory = if rights.can_write() {
            SharedWords::open(fd, size)
        } else {
            SharedWords::open_to_read(&fd, size)
        };
        let memory = memory.map_err(|error| FabricError::io("window", &error))?;
        let node = node.index().unwrap_or(0);
        let pace = PathPace::new(port);
        Ok(Self { page, directory, memory, node, owner, key, bytes, rights, pace })
    }

    /// Its key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// What it may be used for.
    pub fn rights(&self) -> WindowRights {
        self.rights
    }

    /// Owner of the memory.
    pub fn owner(&self) -> NodeNumber {
        self.owner
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Address of its first byte, for plain loads and stores. Nobody checks or counts these. A store
    /// to a window for reading, or beyond its end, faults this process alone; after the window was
    /// revoked or its owner died, stores reach memory that nobody else uses.
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory.at(0)
    }

    fn count(&self, counter: PeerCounter, by: u64) {
        let peer = self.owner.index().unwrap_or(0);
        self.page.counter(peer, counter).fetch_add(by, Ordering::Relaxed);
    }

    fn refuse(&self, status: Status, what: String) -> FabricError {
        self.count(PeerCounter::Refused, 1);
        FabricError::new(status, format!("window {:#x} of node {}: {what}", self.key, self.owner))
    }

    /// Checks an access to all these parts before any byte is moved. Returns their bytes.
    fn check(&self, access: Access, parts: &[RemoteSegment]) -> Result<usize, FabricError> {
        // Acquire pairs with the release of the backplane: what it says is so now.
        let key = self.directory.window(self.key as usize % WINDOWS_MAX).load(Ordering::Acquire);
        if key != self.key {
            return Err(
                self.refuse(Status::BadRegion, "its owner has revoked it, or is gone".into())
            );
        }
        let owner = self.owner.index().map_or(0, |index| 1u64 << index);
        if self.directory.reach(self.node).load(Ordering::Acquire) & owner == 0 {
            return Err(self.refuse(Status::LinkDown, "the owner is not READY".into()));
        }
        let allowed = match access {
            Access::Put => self.rights.can_write(),
            Access::Get => self.rights.can_read(),
        };
        if !allowed {
            let verb = if access == Access::Put { "writing" } else { "reading" };
            return Err(self.refuse(Status::AccessDenied, format!("not exposed for {verb}")));
        }
        if parts.len() > SEGMENTS_MAX {
            let what = format!("{} segments: at most {SEGMENTS_MAX}", parts.len());
            return Err(self.refuse(Status::ChainTooLong, what));
        }
        let mut total = 0usize;
        for part in parts {
            let end = part.offset.checked_add(part.bytes as u64);
            if end.is_none_or(|end| end > self.bytes) {
                let what =
                    format!("{} bytes at {}: it has {} bytes", part.bytes, part.offset, self.bytes);
                return Err(self.refuse(Status::OutOfBounds, what));
            }
            total = total.saturating_add(part.bytes);
        }
        Ok(total)
    }

    /// The same, with as many bytes on the local side.
    fn check_transfer(
        &self,
        access: Access,
        remote: &[RemoteSegment],
        local: usize,
        locals: usize,
    ) -> Result<usize, FabricError> {
        let total = self.check(access, remote)?;
        if locals > SEGMENTS_MAX {
            let what = format!("{locals} local segments: at most {SEGMENTS_MAX}");
            return Err(self.refuse(Status::ChainTooLong, what));
        }
        if total != local {
            let what = format!("{local} bytes here, {total} bytes there: they must agree");
            return Err(self.refuse(Status::BadField, what));
        }
        Ok(total)
    }

    /// Waits until the port takes the next bytes, and books them.
    fn pace(&self, bytes: usize) {
        let Some(port) = self.pace.port else { return };
        let free = self.page.pacer(usize::from(port.port), false);
        loop {
            let now = now_ns();
            let due = self.pace.due_ns(free, now);
            if due <= now {
                self.pace.book(free, now, bytes as u64);
                return;
            }
            if due - now > SPIN_NS {
                sleep_until(due - SPIN_NS / 2);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Copies between local segments, which are so many and have so many bytes, and remote ones.
    ///
    /// # Safety
    /// The local segments are memory of this process, valid for what `access` does.
    unsafe fn transfer(
        &self,
        access: Access,
        (count, total): (usize, usize),
        locals: impl Iterator<Item = LocalSegment>,
        remote: &[RemoteSegment],
    ) -> Result<(), FabricError> {
        self.check_transfer(access, remote, total, count)?;
        let mut parts = remote.iter().filter(|part| part.bytes > 0);
        let mut part = parts.next().copied();
        for LocalSegment { mut at, bytes: mut left } in locals {
            while let (Some(to), true) = (part.as_mut(), left > 0) {
                let bytes = left.min(to.bytes).min(CHUNK);
                self.pace(bytes);
                let there = self.memory.at(to.offset as usize);
                // SAFETY: the caller's promise; the remote bytes were checked to be inside the mapping,
                // which others may access at the same time.
                unsafe {
                    match access {
                        Access::Put => std::ptr::copy(at.cast_const(), there, bytes),
                        Access::Get => std::ptr::copy(there.cast_const(), at, bytes),
                    }
                }
                at = at.wrapping_add(bytes);
                left -= bytes;
                to.offset += bytes as u64;
                to.bytes -= bytes;
                if to.bytes == 0 {
                    part = parts.next().copied();
                }
            }
        }
        let (jobs, bytes) = match access {
            Access::Put => (PeerCounter::PutJobs, PeerCounter::PutBytes),
            Access::Get => (PeerCounter::GetJobs, PeerCounter::GetBytes),
        };
        self.count(jobs, 1);
        self.count(bytes, total as u64);
        Ok(())
    }

    /// Writes local segments to remote ones, in order. Both have the same number of bytes together.
    ///
    /// # Errors
    /// BAD_REGION after revocation; LINK_DOWN if the owner is not READY; ACCESS_DENIED without the
    /// right; OUT_OF_BOUNDS; BAD_FIELD if the lengths differ. Nothing was written then.
    pub fn put(&self, local: &[&[u8]], remote: &[RemoteSegment]) -> Result<(), FabricError> {
        let size = (local.len(), local.iter().map(|part| part.len()).sum());
        let locals = local
            .iter()
            .map(|part| LocalSegment { at: part.as_ptr().cast_mut(), bytes: part.len() });
        // SAFETY: the local bytes are borrowed.
        unsafe { self.transfer(Access::Put, size, locals, remote) }
    }

    /// The same from memory that others may write meanwhile, such as an exposed buffer.
    ///
    /// # Errors
    /// As for [`RawWindow::put`].
    ///
    /// # Safety
    /// The local segments are memory of this process that stays mapped and readable.
    pub unsafe fn put_from(
        &self,
        local: &[LocalSegment],
        remote: &[RemoteSegment],
    ) -> Result<(), FabricError> {
        // SAFETY: the caller's promise.
        unsafe { self.transfer(Access::Put, size_of(local), local.iter().copied(), remote) }
    }

    /// Reads remote segments into local ones, in order.
    ///
    /// # Errors
    /// As for [`RawWindow::put`].
    pub fn get(
        &self,
        remote: &[RemoteSegment],
        local: &mut [&mut [u8]],
    ) -> Result<(), FabricError> {
        let size = (local.len(), local.iter().map(|part| part.len()).sum());
        let locals =
            local.iter_mut().map(|part| LocalSegment { at: part.as_mut_ptr(), bytes: part.len() });
        // SAFETY: the local bytes are borrowed for writing.
        unsafe { self.transfer(Access::Get, size, locals, remote) }
    }

    /// The same into memory that others may access meanwhile.
    ///
    /// # Errors
    /// As for [`RawWindow::put`].
    ///
    /// # Safety
    /// The local segments are memory of this process that stays mapped and writable, and that no
    /// reference points to.
    pub unsafe fn get_into(
        &self,
        remote: &[RemoteSegment],
        local: &[LocalSegment],
    ) -> Result<(), FabricError> {
        // SAFETY: the caller's promise.
        unsafe { self.transfer(Access::Get, size_of(local), local.iter().copied(), remote) }
    }

    /// Writes as [`RawWindow::put`] does, and then a word. Who sees the word sees the bytes.
    ///
    /// # Errors
    /// As for [`RawWindow::put`]; BAD_FIELD unless the word's offset is a multiple of 8.
    pub fn put_with_flag(
        &self,
        local: &[&[u8]],
        remote: &[RemoteSegment],
        flag: u64,
        value: u64,
    ) -> Result<(), FabricError> {
        self.check_flag(flag)?;
        self.put(local, remote)?;
        self.raise(flag, value);
        Ok(())
    }

    /// The same from memory that others may write meanwhile.
    ///
    /// # Errors
    /// As for [`RawWindow::put_with_flag`].
    ///
    /// # Safety
    /// As for [`RawWindow::put_from`].
    pub unsafe fn put_from_with_flag(
        &self,
        local: &[LocalSegment],
        remote: &[RemoteSegment],
        flag: u64,
        value: u64,
    ) -> Result<(), FabricError> {
        self.check_flag(flag)?;
        // SAFETY: the caller's promise.
        unsafe { self.put_from(local, remote)? };
        self.raise(flag, value);
        Ok(())
    }

    fn check_flag(&self, flag: u64) -> Result<(), FabricError> {
        if !flag.is_multiple_of(8) {
            let what = format!("flag at {flag}: a multiple of 8 is needed");
            return Err(self.refuse(Status::BadField, what));
        }
        self.check(Access::Put, &[RemoteSegment { offset: flag, bytes: 8 }]).map(drop)
    }

    fn raise(&self, flag: u64, value: u64) {
        // Release pairs with the acquire of the program that waits for the flag.
        self.memory.word(flag as usize).store(value, Ordering::Release);
        self.count(PeerCounter::PutBytes, 8);
    }

    /// Orders everything before it before everything after it, for all windows of this thread.
    pub fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// Copies bytes through the mapping, counted as access by the processor and not as a transfer.
    ///
    /// # Errors
    /// As for [`RawWindow::put`].
    pub fn pio_write(&self, offset: u64, bytes: &[u8]) -> Result<(), FabricError> {
        self.check(Access::Put, &[RemoteSegment { offset, bytes: bytes.len() }])?;
        // SAFETY: the bytes are borrowed; the offset was checked.
        unsafe {
            let to = self.memory.at(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
        }
        self.count(PeerCounter::PioWritten, bytes.len() as u64);
        Ok(())
    }

    /// The same for reading.
    ///
    /// # Errors
    /// As for [`RawWindow::put`].
    pub fn pio_read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), FabricError> {
        self.check(Access::Get, &[RemoteSegment { offset, bytes: bytes.len() }])?;
        // SAFETY: the bytes are borrowed for writing; the offset was checked.
        unsafe {
            let from = self.memory.at(offset as usize);
            std::ptr::copy_nonoverlapping(from.cast_const(), bytes.as_mut_ptr(), bytes.len());
        }
        self.count(PeerCounter::PioRead, bytes.len() as u64);
        Ok(())
    }
}

/// Number of segments, and their bytes.
fn size_of(local: &[LocalSegment]) -> (usize, usize) {
    let bytes = local.iter().fold(0usize, |sum, part| sum.saturating_add(part.bytes));
    (local.len(), bytes)
}
