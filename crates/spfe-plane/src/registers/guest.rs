//! Memory of a host behind a bus, by bus address.
//!
//! The memory of the host, for example the RAM of a virtual machine, is in files. A mapping assigns a
//! range of a file to a range of bus addresses. A region is assembled from such ranges in contiguous
//! addresses of this process, so the engine treats it like any other region.
//!
//! When the host removes a mapping, the regions that use it lose all their memory before the host is
//! notified: zeroes replace it. The engine may still access such a region without harm. The registers
//! then disable it ([`RegisterFile::withdraw`](super::RegisterFile::withdraw)).

pub use super::bus::Rights;
use super::bus::{Bus, RegionRequest};
use super::local_dma::LocalDma;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{SealFlags, fcntl_get_seals, fstat, fstatfs};
use spfe_contract::{
    PAGE_LEVELS_MAX, PAGE_LOG2_MAX, PAGE_LOG2_MIN, PAGE_TABLE_ENTRIES, Status, capability,
};
use spfe_device::memory::BusWindow;
use spfe_host::os::{self, SharedMemory};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Maximum number of mappings: 1 GiB in pages of 4 KiB.
pub const MAPPINGS_MAX: usize = 1 << 18;
/// Maximum number of entries of a page list: a region of 8 GiB in pages of 4 KiB.
pub const PAGES_MAX: u64 = 1 << 21;
/// Maximum number of ranges of files in a region. A process has about 2^16 mappings by default.
const RUNS_MAX: usize = 1 << 18;
/// Bytes of a table of a page list with levels.
const TABLE_BYTES: u64 = 8 * PAGE_TABLE_ENTRIES;
/// File system of memfds of ordinary pages (`TMPFS_MAGIC`).
const TMPFS: u32 = 0x0102_1994;

/// Why the device cannot access a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The mapping has no file.
    #[error("it is in no file: the virtual machine's memory must be shared (share=on)")]
    NoFile,
    /// The file can shrink, which would make accesses fault.
    #[error("its file can shrink: use memory that is sealed (memory-backend-memfd)")]
    NotSealed,
    /// The file has huge pages. A hole in it may not be refilled, and the device would get SIGBUS.
    #[error("its file has huge pages: use memory of ordinary pages (hugetlb=off)")]
    HugePages,
    /// The file ends before the mapping does.
    #[error("its file is shorter")]
    TooShort,
    /// The mapping does not consist of whole pages.
    #[error("it does not consist of whole pages")]
    NotPages,
}

/// A file with memory of the host. All mappings of it share one descriptor.
struct Backing {
    fd: OwnedFd,
    id: (u64, u64),
    bytes: u64,
}

struct Mapping {
    bytes: u64,
    /// `None` if the device cannot access the mapping.
    file: Option<Arc<Backing>>,
    offset: u64,
    rights: Rights,
}

impl Mapping {
    /// Shows the mapping in a window. If the window has no room for it, accesses fail.
    fn add_to(&self, window: &LocalDma, address: u64) {
        if let Some(file) = &self.file {
            let _ = window.add(address, self.bytes, file.fd.as_fd(), self.offset, self.rights);
        }
    }
}

/// A contiguous range of a file.
struct Run {
    file: Arc<Backing>,
    offset: u64,
    bytes: u64,
}

/// An assembled region and its ranges of bus addresses {first, last + 1}, in order.
struct Placed {
    memory: Weak<SharedMemory>,
    spans: Vec<(u64, u64)>,
}

impl Placed {
    fn touches(&self, from: u64, to: u64) -> bool {
        let after = self.spans.partition_point(|span| span.1 <= from);
        self.spans.get(after).is_some_and(|span| span.0 < to)
    }
}

#[derive(Default)]
struct Inner {
    mappings: BTreeMap<u64, Mapping>,
    files: Vec<Weak<Backing>>,
    regions: Vec<Placed>,
    /// Regions of everything, and what stands for each of them.
    windows: Vec<(Weak<SharedMemory>, Weak<LocalDma>)>,
    /// The device may not access the bus: its bus master bit is off.
    off: bool,
}

/// The memory that a host behind a bus has mapped for the device.
pub struct GuestMemory(Mutex<Inner>);

impl Default for GuestMemory {
    fn default() -> Self {
        os::join_bus();
        Self(Mutex::default())
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl GuestMemory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Maps a range of bus addresses to a range of a file. `Ok(Err(..))` if the mapping exists now
    /// but the device cannot access it.
    ///
    /// # Errors
    /// `InvalidInput` for an empty range or one beyond the address space, `AlreadyExists` if it
    /// overlaps another mapping, `OutOfMemory` beyond [`MAPPINGS_MAX`].
    pub fn map(
        &self,
        address: u64,
        bytes: u64,
        file: Option<(OwnedFd, u64)>,
        rights: Rights,
    ) -> io::Result<Result<(), Unusable>> {
        let end = address.checked_add(bytes).filter(|_| bytes != 0);
        let end = end.ok_or_else(|| invalid("an empty or endless mapping"))?;
        let mut inner = self.lock();
        if inner.mappings.len() >= MAPPINGS_MAX {
            let what = format!("{MAPPINGS_MAX} mappings, the most there can be");
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, what));
        }
        let before = inner.mappings.range(..end).next_back();
        if before.is_some_and(|(at, mapping)| at + mapping.bytes > address) {
            let what = format!("{bytes:#x} bytes at {address:#x} overlap another mapping");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        let offset = file.as_ref().map_or(0, |(_, offset)| *offset);
        let found = inner.usable(address, bytes, file)?;
        let done = found.as_ref().map(drop).map_err(|why| *why);
        let mapping = Mapping { bytes, file: found.ok(), offset, rights };
        for window in inner.windows.iter().filter_map(|(_, window)| window.upgrade()) {
            mapping.add_to(&window, address);
        }
        inner.mappings.insert(address, mapping);
        Ok(done)
    }

    /// Unmaps a range of bus addresses. Returns the regions that have lost their memory. Afterwards
    /// the device cannot access the range.
    ///
    /// # Errors
    /// `InvalidInput` if the range covers only part of a mapping.
    pub fn unmap(&self, address: u64, bytes: u64) -> io::Result<Vec<Arc<SharedMemory>>> {
        let mut inner = self.lock();
        let end = address.saturating_add(bytes);
        let before = inner.mappings.range(..address).next_back();
        let last = inner.mappings.range(address..end).next_back();
        let cuts = before.is_some_and(|(at, mapping)| at + mapping.bytes > address)
            || last.is_some_and(|(at, mapping)| at + mapping.bytes > end);
        if cuts {
            return Err(invalid("a part of a mapping cannot be unmapped"));
        }
        let gone: Vec<u64> = inner.mappings.range(address..end).map(|(at, _)| *at).collect();
        for at in gone {
            inner.mappings.remove(&at);
        }
        inner.take_away(address, end)
    }

    /// Unmaps everything. Returns the regions that have lost their memory.
    ///
    /// # Errors
    /// The kernel refuses to unmap.
    pub fn clear(&self) -> io::Result<Vec<Arc<SharedMemory>>> {
        let mut inner = self.lock();
        inner.mappings.clear();
        inner.take_everything()
    }

    /// Sets whether the device may access the bus. If not, every region loses its memory; returns
    /// these regions.
    ///
    /// # Errors
    /// The kernel refuses to unmap.
    pub fn set_on(&self, on: bool) -> io::Result<Vec<Arc<SharedMemory>>> {
        let mut inner = self.lock();
        inner.off = !on;
        if on { Ok(Vec::new()) } else { inner.take_everything() }
    }

    /// Number of mappings.
    pub fn mappings(&self) -> usize {
        self.lock().mappings.len()
    }
}

impl Inner {
    fn usable(
        &mut self,
        address: u64,
        bytes: u64,
        file: Option<(OwnedFd, u64)>,
    ) -> io::Result<Result<Arc<Backing>, Unusable>> {
        let Some((fd, offset)) = file else { return Ok(Err(Unusable::NoFile)) };
        let page = rustix::param::page_size() as u64;
        if [address, bytes, offset].iter().any(|value| !value.is_multiple_of(page)) {
            return Ok(Err(Unusable::NotPages));
        }
        let sealed = fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SealFlags::SHRINK));
        if !sealed {
            return Ok(Err(Unusable::NotSealed));
        }
        // Files that have seals are memfds, so that this does not wait for a foreign file system.
        if fstatfs(&fd)?.f_type as u32 != TMPFS {
            return Ok(Err(Unusable::HugePages));
        }
        let stat = fstat(&fd)?;
        let size = stat.st_size as u64;
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Ok(Err(Unusable::TooShort));
        }
        let id = (stat.st_dev, stat.st_ino);
        self.files.retain(|file| file.strong_count() != 0);
        let mut known = self.files.iter().filter_map(Weak::upgrade);
        // A file that has grown since counts as another file, because the size was checked above.
        if let Some(file) = known.find(|file| file.id == id && file.bytes >= size) {
            return Ok(Ok(file));
        }
        let file = Arc::new(Backing { fd, id, bytes: size });
        self.files.push(Arc::downgrade(&file));
        Ok(Ok(file))
    }

    /// Unmaps the regions that use any of these addresses, and returns them.
    fn take_away(&mut self, from: u64, to: u64) -> io::Result<Vec<Arc<SharedMemory>>> {
        let mut lost = Vec::new();
        let mut done = Ok(());
        for window in self.windows.iter().filter_map(|(_, window)| window.upgrade()) {
            window.remove(from, to)?;
        }
        self.regions.retain(|region| {
            let Some(memory) = region.memory.upgrade() else { return false };
            if !region.touches(from, to) {
                return true;
            }
            // One mapping replaces many, so the process cannot run out of mappings.
            if let Err(error) = memory.take_away() {
                done = Err(error);
                return true;
            }
            lost.push(memory);
            false
        });
        done.map(|()| lost)
    }

    /// Unmaps all regions, those of everything as well, and returns them.
    fn take_everything(&mut self) -> io::Result<Vec<Arc<SharedMemory>>> {
        let mut lost = self.take_away(0, u64::MAX)?;
        lost.extend(self.windows.drain(..).filter_map(|(memory, _)| memory.upgrade()));
        Ok(lost)
    }

    /// Calls `each` for every range of a file behind a range of bus addresses, in order.
    fn walk(
        &self,
        mut address: u64,
        bytes: u64,
        wanted: Rights,
        mut each: impl FnMut(&Arc<Backing>, u64, u64) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let end = address.checked_add(bytes).ok_or(Status::OutOfBounds)?;
        // Each iteration covers one mapping.
        while address < end {
            let found = self.mappings.range(..=address).next_back();
            let (at, mapping) = found.ok_or(Status::OutOfBounds)?;
            let inside = address - at;
            let left = mapping.bytes.checked_sub(inside).filter(|left| *left != 0);
            let left = left.ok_or(Status::OutOfBounds)?.min(end - address);
            let file = mapping.file.as_ref().ok_or(Status::OutOfBounds)?;
            if !mapping.rights.allows(wanted) {
                return Err(Status::AccessDenied);
            }
            each(file, mapping.offset + inside, left)?;
            address += left;
        }
        Ok(())
    }

    /// The ranges of bus addresses of a region, in the order of its bytes, in whole pages.
    fn pages(&self, request: &RegionRequest) -> Result<Vec<(u64, u64)>, Status> {
        let host = rustix::param::page_size() as u64;
        let bytes = request.bytes.checked_next_multiple_of(host).ok_or(Status::OutOfBounds)?;
        if request.page_list == 0 {
            if request.levels != 0 {
                return Err(Status::BadField);
            }
            if !request.base.is_multiple_of(host) {
                return Err(Status::BadField);
            }
            return Ok(vec![(request.base, bytes)]);
        }
        let known = PAGE_LOG2_MIN as u32..=PAGE_LOG2_MAX as u32;
        if !known.contains(&request.page_list) || !request.base.is_multiple_of(8) {
            return Err(Status::BadField);
        }
        let page = 1u64 << request.page_list;
        let count = bytes.div_ceil(page);
        if count > PAGES_MAX {
            return Err(Status::NoResources);
        }
        let list = match request.levels {
            0 | 1 => self.addresses(request.base, count)?,
            levels => self.tree(request.base, levels, count)?,
        };
        let mut pages = Vec::with_capacity(list.len());
        let mut left = bytes;
        for address in list {
            if !address.is_multiple_of(page.max(host)) {
                return Err(Status::BadField);
            }
            // The region may end inside the last page.
            let bytes = left.min(page);
            pages.push((address, bytes));
            left -= bytes;
        }
        Ok(pages)
    }

    /// Reads a list of addresses.
    fn addresses(&self, at: u64, count: u64) -> Result<Vec<u64>, Status> {
        let list = self.read(at, count * 8)?;
        let entries = list.chunks_exact(8);
        Ok(entries.map(|entry| entry.try_into().map_or(0, u64::from_le_bytes)).collect())
    }

    /// Reads the `count` addresses in the last of several levels of tables, the first of which is
    /// at `root`. Every level is read in whole tables of known number, so the depth and the work
    /// are bounded by `count`, whatever the tables say.
    fn tree(&self, root: u64, levels: u32, count: u64) -> Result<Vec<u64>, Status> {
        let room = PAGE_TABLE_ENTRIES.checked_pow(levels).filter(|room| count <= *room);
        if levels > PAGE_LEVELS_MAX as u32 || room.is_none() {
            return Err(Status::BadField);
        }
        let mut tables = vec![root];
        for below in (0..levels).rev() {
            let mut left = count.div_ceil(PAGE_TABLE_ENTRIES.pow(below));
            let mut entries = Vec::with_capacity(left as usize);
            for table in tables {
                if !table.is_multiple_of(TABLE_BYTES) {
                    return Err(Status::BadField);
                }
                let here = left.min(PAGE_TABLE_ENTRIES);
                entries.extend(self.addresses(table, here)?);
                left -= here;
            }
            tables = entries;
        }
        Ok(tables)
    }

    /// Copies memory from bus addresses.
    fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, Status> {
        let mut copy = Vec::new();
        let readable = Rights { read: true, write: false };
        self.walk(address, bytes, readable, |file, mut offset, bytes| {
            let from = copy.len();
            copy.resize(from + bytes as usize, 0u8);
            let mut rest = copy.get_mut(from..).unwrap_or_default();
            while !rest.is_empty() {
                match rustix::io::pread(&file.fd, &mut *rest, offset) {
                    Ok(0) | Err(_) => return Err(Status::OutOfBounds),
                    Ok(count) => {
                        rest = rest.get_mut(count..).unwrap_or_default();
                        offset += count as u64;
                    }
                }
            }
            Ok(())
        })?;
        Ok(copy)
    }

    /// The ranges of files of a region, with adjacent ranges joined.
    fn runs(&self, pages: &[(u64, u64)], wanted: Rights) -> Result<Vec<Run>, Status> {
        let mut runs: Vec<Run> = Vec::new();
        for &(address, bytes) in pages {
            self.walk(address, bytes, wanted, |file, offset, bytes| {
                let full = runs.len() == RUNS_MAX;
                match runs.last_mut() {
                    Some(last)
                        if Arc::ptr_eq(&last.file, file) && last.offset + last.bytes == offset =>
                    {
                        last.bytes += bytes;
                    }
                    _ if full => return Err(Status::NoResources),
                    _ => runs.push(Run { file: file.clone(), offset, bytes }),
                }
                Ok(())
            })?;
        }
        Ok(runs)
    }
}

/// The ranges of bus addresses of pages, sorted, with adjacent ranges joined.
fn spans(pages: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut pages: Vec<_> = pages.into_iter().map(|(at, bytes)| (at, at + bytes)).collect();
    pages.sort_unstable();
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for (from, to) in pages {
        match spans.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => spans.push((from, to)),
        }
    }
    spans
}

impl Bus for GuestMemory {
    fn capability(&self) -> u32 {
        capability::IOVA | capability::PAGE_LEVELS | capability::LOCAL_DMA
    }

    fn pages_max(&self) -> u32 {
        PAGES_MAX as u32
    }

    fn memory(&self, request: &RegionRequest) -> Result<Arc<SharedMemory>, Status> {
        if request.bytes == 0 {
            return Err(Status::BadField);
        }
        let mut inner = self.lock();
        if inner.off {
            return Err(Status::AccessDenied);
        }
        let wanted = Rights::of(request.access);
        let pages = inner.pages(request)?;
        let runs = inner.runs(&pages, wanted)?;
        let bytes = runs.iter().map(|run| run.bytes).sum::<u64>();
        let memory =
            usize::try_from(bytes).ok().and_then(|bytes| SharedMemory::reserve(bytes).ok());
        let memory = memory.ok_or(Status::NoResources)?;
        let mut at = 0;
        for run in &runs {
            let (fd, bytes) = (run.file.fd.as_fd(), run.bytes as usize);
            let placed = memory.place(at, fd, run.offset, bytes, wanted.write);
            placed.map_err(|_| Status::NoResources)?;
            at += bytes;
        }
        let memory = Arc::new(memory);
        inner.regions.retain(|region| region.memory.strong_count() != 0);
        inner.regions.push(Placed { memory: Arc::downgrade(&memory), spans: spans(pages) });
        Ok(memory)
    }
    fn everything(&self) -> Result<(Arc<SharedMemory>, Arc<dyn BusWindow>), Status> {
        let mut inner = self.lock();
        if inner.off {
            return Err(Status::AccessDenied);
        }
        let window = Arc::new(LocalDma::new().map_err(|_| Status::NoResources)?);
        let memory = Arc::new(SharedMemory::reserve(1).map_err(|_| Status::NoResources)?);
        for (address, mapping) in &inner.mappings {
            mapping.add_to(&window, *address);
        }
        inner.windows.retain(|(_, window)| window.strong_count() != 0);
        inner.windows.push((Arc::downgrade(&memory), Arc::downgrade(&window)));
        Ok((memory, window))
    }
}
