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

    /// Copies between local segments and remote ones. `each` copies one stretch: local address,
    /// remote address, bytes.
    fn walk(
        &self,
        locals: impl Iterator<Item = (*mut u8, usize)>,
        remote: &[RemoteSegment],
        each: impl Fn(*mut u8, *mut u8, usize),
    ) {
        let mut parts = remote.iter().filter(|part| part.bytes > 0);
        let mut part = parts.next().copied();
        for (mut at, mut left) in locals {
            while let (Some(to), true) = (part.as_mut(), left > 0) {
                let bytes = left.min(to.bytes).min(CHUNK);
                self.pace(bytes);
                each(at, self.memory.at(to.offset as usize), bytes);
                at = at.wrapping_add(bytes);
                left -= bytes;
                to.offset += bytes as u64;
                to.bytes -= bytes;
                if to.bytes == 0 {
                    part = parts.next().copied();
                }
            }
        }
    }

    /// Writes local segments to remote ones, in order. Both have the same number of bytes together.
    ///
    /// # Errors
    /// BAD_REGION after revocation; LINK_DOWN if the owner is not READY; ACCESS_DENIED without the
    /// right; OUT_OF_BOUNDS; BAD_FIELD if the lengths differ. Nothing was written then.
    pub fn put(&self, local: &[&[u8]], remote: &[RemoteSegment]) -> Result<(), FabricError> {
        let bytes = local.iter().map(|part| part.len()).sum();
        self.check_transfer(Access::Put, remote, bytes, local.len())?;
        let locals = local.iter().map(|part| (part.as_ptr().cast_mut(), part.len()));
        self.walk(locals, remote, |at, to, bytes| {
            // SAFETY: the local bytes are borrowed; the remote ones were checked to be inside the
            // mapping, which others may access at the same time.
            unsafe { std::ptr::copy_nonoverlapping(at.cast_const(), to, bytes) };
        });
        self.count(PeerCounter::PutJobs, 1);
        self.count(PeerCounter::PutBytes, bytes as u64);
        Ok(())
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
        let bytes = local.iter().map(|part| part.len()).sum();
        self.check_transfer(Access::Get, remote, bytes, local.len())?;
        let locals = local.iter_mut().map(|part| (part.as_mut_ptr(), part.len()));
        self.walk(locals, remote, |at, from, bytes| {
            // SAFETY: as in `put`, the other way round; the local bytes are borrowed for writing.
            unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), at, bytes) };
        });
        self.count(PeerCounter::GetJobs, 1);
        self.count(PeerCounter::GetBytes, bytes as u64);
        Ok(())
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
        if !flag.is_multiple_of(8) {
            let what = format!("flag at {flag}: a multiple of 8 is needed");
            return Err(self.refuse(Status::BadField, what));
        }
        self.check(Access::Put, &[RemoteSegment { offset: flag, bytes: 8 }])?;
        self.put(local, remote)?;
        // Release pairs with the acquire of the program that waits for the flag.
        self.memory.word(flag as usize).store(value, Ordering::Release);
        self.count(PeerCounter::PutBytes, 8);
        Ok(())
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
