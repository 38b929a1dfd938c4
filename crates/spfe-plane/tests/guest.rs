//! Memory of a host behind a bus, tested without a bus.

use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spfe_contract::{Status, access};
use spfe_host::os::{heavy_barrier, join_barriers};
use spfe_host::{LinkRate, Mode, SharedMemory, Topology};
use spfe_plane::registers::bus::{Bus, RegionRequest};
use spfe_plane::registers::guest::{PAGES_MAX, Rights, Unusable};
use spfe_plane::{GuestMemory, Network};
use spfe_ring::sync::{FenceMode, fence_mode};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};

const PAGE: u64 = 4096;
const BOTH: Rights = Rights { read: true, write: true };

/// Held by tests that need many of the mappings that a process may have.
static MANY: Mutex<()> = Mutex::new(());

struct Host {
    memory: GuestMemory,
    ram: SharedMemory,
}

impl Host {
    /// A host with `pages` pages, all of them mapped at `address`.
    fn new(pages: u64, address: u64) -> Self {
        let ram = SharedMemory::create("ram", (pages * PAGE) as usize).unwrap();
        let host = Self { memory: GuestMemory::default(), ram };
        host.map(address, pages * PAGE, 0, BOTH);
        host
    }

    fn fd(&self) -> OwnedFd {
        self.ram.fd().try_clone_to_owned().unwrap()
    }

    fn map(&self, address: u64, bytes: u64, offset: u64, rights: Rights) {
        let file = Some((self.fd(), offset));
        assert_eq!(self.memory.map(address, bytes, file, rights).unwrap(), Ok(()));
    }

    fn word(&self, memory: &SharedMemory, offset: u64) -> *mut u64 {
        assert!(offset + 8 <= memory.size() as u64);
        memory.base().as_ptr().wrapping_add(offset as usize).cast()
    }

    fn store(&self, offset: u64, value: u64) {
        // SAFETY: inside the mapping, aligned, and not referred to in this process.
        unsafe { self.word(&self.ram, offset).write_volatile(value) };
    }

    fn load(&self, memory: &SharedMemory, offset: u64) -> u64 {
        // SAFETY: as for `store`.
        unsafe { self.word(memory, offset).read_volatile() }
    }

    fn region(&self, base: u64, bytes: u64, page_list: u32) -> Result<Arc<SharedMemory>, Status> {
        let access = access::LOCAL_READ | access::LOCAL_WRITE;
        self.memory.memory(&RegionRequest { base, bytes, page_list, levels: 0, access })
    }
}

#[test]
fn a_region_has_the_pages_of_its_list_in_order() {
    // Two mappings of 8 pages each, adjacent on the bus, in reverse order in the file.
    let host = Host::new(16, 0x100_0000);
    host.memory.unmap(0x100_0000, 16 * PAGE).unwrap();
    let (low, high) = (0x10_0000, 0x10_0000 + 8 * PAGE);
    host.map(low, 8 * PAGE, 8 * PAGE, BOTH);
    host.map(high, 8 * PAGE, 0, BOTH);
    assert_eq!(host.memory.mappings(), 2);
    for page in 0..16 {
        host.store(page * PAGE, 0xabcd_0000 + page);
    }
    // The list itself crosses from one mapping to the other.
    let list = high - 16;
    let offset = |address: u64| (address - low + 8 * PAGE) % (16 * PAGE);
    let pages = [high + 5 * PAGE, low + PAGE, low + 2 * PAGE, high + 5 * PAGE];
    for (at, page) in (list..).step_by(8).zip(pages) {
        host.store(offset(at), page);
    }
    let memory = host.region(list, 3 * PAGE + 8, 12).unwrap();
    assert_eq!(memory.size() as u64, 4 * PAGE);
    for (at, page) in pages.into_iter().enumerate() {
        assert_eq!(host.load(&memory, at as u64 * PAGE), host.load(&host.ram, offset(page)));
    }
    host.store(offset(low + PAGE) + 64, 77);
    assert_eq!(host.load(&memory, PAGE + 64), 77, "it is the same memory");
    // Contiguous on the bus, in two pieces of the file.
    let memory = host.region(low + 7 * PAGE, 2 * PAGE, 0).unwrap();
    assert_eq!(host.load(&memory, 0), 0xabcd_0000 + 15);
    assert_eq!(host.load(&memory, PAGE), low + 2 * PAGE, "the rest of the list");
}

#[test]
fn unmapping_removes_the_memory_of_regions_that_use_it() {
    let host = Host::new(8, 0);
    host.map(1 << 32, 8 * PAGE, 0, BOTH);
    let low = host.region(2 * PAGE, 2 * PAGE, 0).unwrap();
    let high = host.region((1 << 32) + 2 * PAGE, 2 * PAGE, 0).unwrap();
    host.store(2 * PAGE, 5);
    assert_eq!((host.load(&low, 0), host.load(&high, 0)), (5, 5));
    assert!(host.memory.unmap(PAGE, PAGE).is_err(), "a part of a mapping");
    assert!(host.memory.unmap(0, PAGE).is_err());
    assert!(host.memory.unmap(1 << 40, PAGE).unwrap().is_empty(), "nothing is there");
    let lost = host.memory.unmap(0, 8 * PAGE).unwrap();
    assert!(lost.len() == 1 && Arc::ptr_eq(&lost[0], &low));
    assert_eq!((host.load(&low, 0), host.load(&high, 0)), (0, 5));
    // A write to it has no effect now.
    // SAFETY: inside the mapping.
    unsafe { host.word(&low, 0).write_volatile(9) };
    assert_eq!(host.load(&host.ram, 2 * PAGE), 5);
    assert_eq!(host.region(2 * PAGE, PAGE, 0).err(), Some(Status::OutOfBounds));
    // Dropped regions are not reported; when the bus goes, all regions lose their memory.
    drop(high);
    let last = host.region(1 << 32, PAGE, 0).unwrap();
    let lost = host.memory.set_on(false).unwrap();
    assert!(lost.len() == 1 && Arc::ptr_eq(&lost[0], &last));
    assert_eq!(host.region(1 << 32, PAGE, 0).err(), Some(Status::AccessDenied));
    host.memory.set_on(true).unwrap();
    assert!(host.region(1 << 32, PAGE, 0).is_ok());
}

#[test]
fn memory_that_can_shrink_is_not_used() {
    let host = Host::new(4, 0);
    let map = |address, file| host.memory.map(address, PAGE, file, BOTH).map_err(|e| e.kind());
    let open = memfd_create("open", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&open, PAGE).unwrap();
    let at = 1 << 20;
    assert_eq!(map(at, Some((open, 0))), Ok(Err(Unusable::NotSealed)));
    assert_eq!(host.region(at, PAGE, 0).err(), Some(Status::OutOfBounds));
    assert_eq!(map(at, None), Err(ErrorKind::AlreadyExists));
    assert!(host.memory.unmap(at, PAGE).unwrap().is_empty());
    assert_eq!(map(at, None), Ok(Err(Unusable::NoFile)));
    assert_eq!(map(at + PAGE, Some((host.fd(), 4 * PAGE))), Ok(Err(Unusable::TooShort)));
    assert_eq!(map(at + 2 * PAGE, Some((host.fd(), u64::MAX - 4095))), Ok(Err(Unusable::TooShort)));
    assert_eq!(map(at + 3 * PAGE, Some((host.fd(), 8))), Ok(Err(Unusable::NotPages)));
    assert_eq!(map(at + 4 * PAGE + 8, Some((host.fd(), 0))), Ok(Err(Unusable::NotPages)));
    assert_eq!(map(u64::MAX - 100, None), Err(ErrorKind::InvalidInput));
    assert_eq!(map(3 * PAGE, None), Err(ErrorKind::AlreadyExists));
    assert_eq!(host.memory.map(at, 0, None, BOTH).unwrap_err().kind(), ErrorKind::InvalidInput);
    // A regular file can shrink.
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    assert_eq!(map(at + 6 * PAGE, Some((file.into(), 0))), Ok(Err(Unusable::NotSealed)));
}

#[test]
fn memory_of_huge_pages_is_not_used() {
    let host = Host::new(4, 0);
    let flags = MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    let Ok(huge) = memfd_create("huge", flags) else {
        println!("this kernel has no huge pages");
        return;
    };
    // No huge page is taken until somebody touches the memory.
    ftruncate(&huge, 1 << 21).unwrap();
    fcntl_add_seals(&huge, SealFlags::SHRINK).unwrap();
    let (at, file) = (1 << 30, Some((huge, 0)));
    assert_eq!(host.memory.map(at, 1 << 21, file, BOTH).unwrap(), Err(Unusable::HugePages));
    assert_eq!(host.region(at, PAGE, 0).err(), Some(Status::OutOfBounds));
}

#[test]
fn a_region_allows_what_its_mapping_allows() {
    let host = Host::new(4, 0);
    host.map(1 << 20, 4 * PAGE, 0, Rights { read: true, write: false });
    host.map(2 << 20, 4 * PAGE, 0, Rights { read: false, write: true });
    let with = |base, access| {
        let request = RegionRequest { base, bytes: PAGE, access, ..RegionRequest::default() };
        host.memory.memory(&request).err()
    };
    let denied = Some(Status::AccessDenied);
    assert_eq!(with(0, access::LOCAL_READ | access::LOCAL_WRITE), None);
    assert_eq!(with(1 << 20, access::LOCAL_READ), None);
    assert_eq!(with(1 << 20, access::LOCAL_WRITE), denied);
    assert_eq!(with(1 << 20, access::REMOTE_WRITE), denied);
    assert_eq!(with(2 << 20, access::LOCAL_WRITE), None);
    assert_eq!(with(2 << 20, access::LOCAL_READ), denied);
    assert_eq!(with(2 << 20, access::REMOTE_READ), denied);
    // The device has to read a list.
    let request = RegionRequest { base: 2 << 20, bytes: PAGE, page_list: 12, levels: 0, access: 0 };
    assert_eq!(host.memory.memory(&request).err(), denied);
}

#[test]
fn everything_is_what_is_mapped_at_the_moment() {
    let host = Host::new(8, 0x10_0000);
    host.map(0x20_0000, 2 * PAGE, 6 * PAGE, Rights { read: true, write: false });
    let (memory, window) = host.memory.everything().unwrap();
    let (read, write) = (access::LOCAL_READ, access::LOCAL_WRITE);
    let at = |address, length, access| {
        // SAFETY: the window has just returned the memory, which is long enough and aligned.
        window.at(address, length, access).map(|at| unsafe { at.cast::<u64>().read_volatile() })
    };
    host.store(0, 10);
    host.store(6 * PAGE, 16);
    assert_eq!(at(0x10_0000, 8 * PAGE, read | write), Ok(10));
    assert_eq!(at(0x20_0000, 8, read), Ok(16));
    assert_eq!(at(0x20_0000, 8, write), Err(Status::AccessDenied));
    assert_eq!(at(0x10_0000 + 8, 8 * PAGE, read), Err(Status::OutOfBounds), "a byte too many");
    assert_eq!(at(0x10_0000 - 8, 16, read), Err(Status::OutOfBounds), "begins before");
    assert_eq!(at(u64::MAX - 7, 8, read), Err(Status::OutOfBounds));
    assert_eq!(at((1 << 48) - 8, 8, read), Err(Status::OutOfBounds));
    // A mapping that comes later, behind the first one: accesses go from one to the other.
    host.map(0x10_0000 + 8 * PAGE, PAGE, 5 * PAGE, BOTH);
    host.store(5 * PAGE, 15);
    assert_eq!(at(0x10_0000 + 8 * PAGE, 8, write), Ok(15));
    assert_eq!(at(0x10_0000 + 7 * PAGE, 2 * PAGE, write), Ok(0));
    // What the host takes away cannot be reached, also not by who has just looked it up.
    let late = window.at(0x10_0000, 8, write).unwrap().cast::<u64>();
    assert!(host.memory.unmap(0x10_0000, 8 * PAGE).unwrap().is_empty(), "the region stays");
    assert_eq!(at(0x10_0000, 8, read), Err(Status::OutOfBounds));
    assert_eq!(at(0x10_0000 + 7 * PAGE, 2 * PAGE, write), Err(Status::OutOfBounds));
    assert_eq!(at(0x10_0000 + 8 * PAGE, 8, write), Ok(15));
    // SAFETY: memory stays accessible as long as the window exists.
    unsafe {
        assert_eq!(late.read_volatile(), 0);
        late.write_volatile(99);
    }
    assert_eq!(host.load(&host.ram, 0), 10);
    // The same place, now read-only: the late access reaches neither this memory nor faults.
    host.map(0x10_0000, PAGE, 0, Rights { read: true, write: false });
    assert_eq!(at(0x10_0000, 8, read), Ok(10));
    // SAFETY: as above.
    unsafe { late.write_volatile(99) };
    assert_eq!(host.load(&host.ram, 0), 10);
    // Without the bus it is lost as every region.
    let lost = host.memory.set_on(false).unwrap();
    assert!(lost.len() == 1 && Arc::ptr_eq(&lost[0], &memory));
    assert_eq!(at(0x20_0000, 8, read), Err(Status::OutOfBounds));
    assert_eq!(host.memory.everything().err(), Some(Status::AccessDenied));
}

/// A page list in tables, written into a host's memory from an offset on, which is also its bus
/// address. Returns the address of the first table.
fn tables(host: &Host, mut at: u64, levels: u32, pages: impl Iterator<Item = u64>) -> u64 {
    let mut entries: Vec<u64> = pages.collect();
    for _ in 0..levels {
        let mut above = Vec::new();
        for table in entries.chunks(512) {
            for (offset, entry) in (at..).step_by(8).zip(table) {
                host.store(offset, *entry);
            }
            above.push(at);
            at += PAGE;
        }
        entries = above;
    }
    assert_eq!(entries.len(), 1, "{levels} levels");
    entries[0]
}

fn in_levels(host: &Host, base: u64, bytes: u64, levels: u32) -> Result<Arc<SharedMemory>, Status> {
    let access = access::LOCAL_READ | access::LOCAL_WRITE;
    host.memory.memory(&RegionRequest { base, bytes, page_list: 12, levels, access })
}

#[test]
fn a_page_list_may_have_levels() {
    let _alone = MANY.lock();
    let host = Host::new(1024, 0);
    for page in 0..8 {
        host.store(page * PAGE, 0xfeed_0000 + page);
    }
    // One table; a full one; two; and as many as three levels need. Seven pages repeat.
    for count in [1, 3, 511, 512, 513, 1000, 512 * 512 - 1, 512 * 512, 512 * 512 + 5] {
        for levels in [2, 3].into_iter().filter(|levels| count <= 512u64.pow(*levels)) {
            let page = |number: u64| number % 7 * PAGE;
            // Long lists repeat one range of pages, because a process has few mappings.
            let long = |number: u64| number % 256 * PAGE;
            let at = |number| if count < 2000 { page(number) } else { long(number) };
            let root = tables(&host, 300 * PAGE, levels, (0..count).map(at));
            let memory = in_levels(&host, root, count * PAGE, levels).unwrap();
            assert_eq!(memory.size() as u64, count * PAGE);
            for number in [0, 1, 6, 7, 511, 512, 513, 999, count - 1] {
                if number < count {
                    let (got, want) =
                        (host.load(&memory, number * PAGE), host.load(&host.ram, at(number)));
                    assert_eq!(got, want, "page {number} of {count} in {levels} levels");
                }
            }
        }
    }
}

/// 8 GiB in pages of 4 KiB: no part of the list is longer than a page.
#[test]
fn a_region_of_8_gib_needs_no_contiguous_list() {
    let (bytes, lists) = (8u64 << 30, 1u64 << 40);
    // The file is sparse and takes almost no memory.
    let file = memfd_create("large", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&file, bytes).unwrap();
    fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    let host = Host::new(4200, lists);
    assert_eq!(host.memory.map(0, bytes, Some((file, 0)), BOTH).unwrap(), Ok(()));
    // The tables are stored at offsets of the lists' own mapping.
    let shift = |at: u64| at + lists;
    let pages = bytes / PAGE;
    assert_eq!(pages, PAGES_MAX);
    let (mut at, mut entries) = (0, (0..pages).map(|page| page * PAGE).collect::<Vec<_>>());
    while entries.len() > 1 {
        let mut above = Vec::new();
        for table in entries.chunks(512) {
            for (offset, entry) in (at..).step_by(8).zip(table) {
                host.store(offset, *entry);
            }
            above.push(shift(at));
            at += PAGE;
        }
        entries = above;
    }
    let memory = in_levels(&host, entries[0], bytes, 3).unwrap();
    assert_eq!(memory.size() as u64, bytes);
    let whole = host.memory.memory(&RegionRequest {
        base: 0,
        bytes,
        access: access::LOCAL_READ | access::LOCAL_WRITE,
        ..RegionRequest::default()
    });
    let whole = whole.unwrap();
    for page in [0, 1, 511, 512, 262_143, 262_144, pages - 1] {
        // SAFETY: inside the mapping.
        unsafe { host.word(&memory, page * PAGE + 8).write_volatile(page + 1) };
        assert_eq!(host.load(&whole, page * PAGE + 8), page + 1);
    }
    assert_eq!(in_levels(&host, entries[0], bytes + PAGE, 3).err(), Some(Status::NoResources));
}

#[test]
fn wrong_levels_and_tables_get_their_status() {
    let _alone = MANY.lock();
    let host = Host::new(64, 0);
    let root = tables(&host, 8 * PAGE, 2, (0..600).map(|page| page % 8 * PAGE));
    let bytes = 600 * PAGE;
    let with = |base, levels| in_levels(&host, base, bytes, levels).err();
    assert_eq!(with(root, 2), None);
    for levels in [4, 5, 64, u32::MAX] {
        assert_eq!(with(root, levels), Some(Status::BadField), "{levels} levels");
    }
    let most = 512 * 512 * PAGE;
    assert_eq!(in_levels(&host, root, most + 1, 2).err(), Some(Status::BadField), "two levels");
    assert_eq!(with(root + 8, 2), Some(Status::BadField), "alignment of the first table");
    assert_eq!(with(1 << 40, 2), Some(Status::OutOfBounds), "no such table");
    let second = root + 8;
    let good = host.load(&host.ram, second);
    for (entry, status) in [
        (good + 8, Status::BadField),
        (1 << 40, Status::OutOfBounds),
        (u64::MAX - 4095, Status::OutOfBounds),
    ] {
        host.store(second, entry);
        assert_eq!(with(root, 2), Some(status), "{entry:#x}");
    }
    // A table that names itself is as deep as the host says, and no deeper. It is 600 pages too.
    host.store(root, root);
    host.store(second, root);
    assert_eq!(with(root, 3), None);
    // Levels without a page list make no sense.
    let request = RegionRequest { bytes: PAGE, levels: 2, ..RegionRequest::default() };
    assert_eq!(host.memory.memory(&request).err(), Some(Status::BadField));
}

/// Every second page, backwards, so that no two are neighbours: one mapping each.
#[test]
fn a_region_of_too_many_mappings_is_refused_without_a_leak() {
    let _alone = MANY.lock();
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    let most = text.trim().parse::<u64>().unwrap() / 2;
    let pages = most.min(PAGES_MAX) + 1;
    // The file is sparse and takes almost no memory.
    let file = memfd_create("large", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&file, 2 * pages * PAGE).unwrap();
    rustix::fs::fcntl_add_seals(&file, rustix::fs::SealFlags::SHRINK).unwrap();
    let list: Vec<u8> = (0..pages).rev().flat_map(|page| (2 * page * PAGE).to_le_bytes()).collect();
    let host = Host::new((list.len() as u64).div_ceil(PAGE), 1 << 40);
    let mapped = host.memory.map(0, 2 * pages * PAGE, Some((file, 0)), BOTH).unwrap();
    assert_eq!(mapped, Ok(()));
    for (at, page) in (0..).step_by(8).zip(list.chunks_exact(8)) {
        host.store(at, u64::from_le_bytes(page.try_into().unwrap()));
    }
    for _ in 0..3 {
        assert_eq!(host.region(1 << 40, pages * PAGE, 12).err(), Some(Status::NoResources));
        // A leak of mappings would make this fail.
        let some = host.region(1 << 40, 1000 * PAGE, 12).unwrap();
        assert_eq!(host.memory.set_on(false).unwrap().len(), 1);
        host.memory.set_on(true).unwrap();
        assert_eq!(host.load(&some, 0), 0);
    }
}

/// `membarrier` does not reach a host behind a bus. From then on the light side uses a fence, also
/// when other clients join this process later.
#[test]
fn with_a_bus_the_light_barrier_is_a_fence() {
    let _host = Host::new(1, 0);
    let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
    let _network = Network::new(topology).unwrap();
    join_barriers();
    assert_ne!(fence_mode(), FenceMode::Asymmetric);
    heavy_barrier();
}
