//! A host across a bus that maps, unmaps and names any memory, page lists included. A region must
//! be exactly the memory that its request names, and no other memory may be accessible.

use arbitrary::Arbitrary;
use rustix::fd::OwnedFd;
use spfe_contract::{Status, access};
use spfe_device::memory::BusWindow;
use spfe_host::SharedMemory;
use spfe_plane::GuestMemory;
use spfe_plane::registers::bus::{Bus, RegionRequest};
use spfe_plane::registers::guest::Rights;
use std::sync::{Arc, OnceLock};

const PAGE: u64 = 4096;
const PAGES: u64 = 64;
/// Bus address of page 0. Page numbers of one byte count from it.
const NEAR: u64 = 1 << 32;

/// An operation of the host. Numbers of one byte count pages.
#[derive(Arbitrary, Debug)]
enum Step {
    Map { page: u8, pages: u8, offset: u8, read: bool, write: bool },
    MapAnywhere { address: u64, bytes: u64, offset: u64 },
    Unmap { page: u8, pages: u8 },
    UnmapAnywhere { address: u64, bytes: u64 },
    Contiguous { page: u8, bytes: u32, access: u16 },
    List { pages: [u8; 8], at: u16, bytes: u32, log2: u8, access: u16 },
    Anywhere { base: u64, bytes: u64, page_list: u32, access: u32 },
    Bus(bool),
    Tables { page: u8, at: u16, bytes: u32, log2: u8, levels: u8, access: u16 },
    Everything,
    Look { page: u8, inside: u16, length: u32, access: u16 },
}

/// An expected mapping: page on the bus, number of pages, page of the file, rights.
type Known = (u64, u64, u64, Rights);

struct Host {
    memory: GuestMemory,
    known: Vec<Known>,
    on: bool,
    held: Vec<Arc<SharedMemory>>,
    /// A region of everything, and what stands for it.
    window: Option<(Arc<SharedMemory>, Arc<dyn BusWindow>)>,
}

/// Memory of the host. The last word of each page is its number.
fn ram() -> &'static SharedMemory {
    static RAM: OnceLock<SharedMemory> = OnceLock::new();
    RAM.get_or_init(|| SharedMemory::create("ram", (PAGES * PAGE) as usize).expect("memory"))
}

fn word(memory: &SharedMemory, at: u64) -> *mut u64 {
    assert!(at + 8 <= memory.size() as u64 && at.is_multiple_of(8));
    memory.base().as_ptr().wrapping_add(at as usize).cast()
}

fn store(at: u64, value: u64) {
    // SAFETY: inside the mapping and aligned, and there are no references to it.
    unsafe { word(ram(), at).write_volatile(value) }
}

fn load(memory: &SharedMemory, at: u64) -> u64 {
    // SAFETY: as in `store`.
    unsafe { word(memory, at).read_volatile() }
}

impl Host {
    /// The page of the file behind a page of the bus, if a region with these rights may contain it.
    fn file_page(&self, page: u64, wanted: Rights) -> Option<u64> {
        let found = self.known.iter().find(|known| (known.0..known.0 + known.1).contains(&page))?;
        let allowed = (found.3.read || !wanted.read) && (found.3.write || !wanted.write);
        allowed.then_some(found.2 + page - found.0)
    }

    fn wanted(access: u32) -> Rights {
        let has = |bits: u32| access & bits != 0;
        Rights {
            read: has(access::LOCAL_READ | access::REMOTE_READ),
            write: has(access::LOCAL_WRITE | access::REMOTE_WRITE),
        }
    }

    /// Requests a region of these pages of the bus, and compares it with the expected one.
    fn ask(&mut self, request: RegionRequest, pages: &[u64]) {
        let wanted = Self::wanted(request.access);
        let files: Option<Vec<u64>> =
            pages.iter().map(|page| self.file_page(*page, wanted)).collect();
        match (self.memory.memory(&request), files) {
            (Ok(memory), Some(files)) => {
                assert!(self.on);
                assert_eq!(memory.size() as u64, files.len() as u64 * PAGE);
                for (at, page) in (0..).step_by(PAGE as usize).zip(files) {
                    assert_eq!(load(&memory, at + PAGE - 8), page);
                }
                self.held.push(memory);
            }
            (Ok(_), None) => panic!("{request:?}: memory that is not mapped"),
            (Err(status), files) => {
                let fair = files.is_none() || !self.on || pages.is_empty();
                assert!(fair || status == Status::BadField, "{request:?}: {}", status.name());
            }
        }
    }

    /// Looks up an address in the region of everything.
    fn look(&self, page: u8, inside: u16, length: u32, access: u16) {
        let Some((_, window)) = &self.window else { return };
        let (length, access) = (u64::from(length) % (8 * PAGE), u32::from(access));
        let address = NEAR + u64::from(page) * PAGE + u64::from(inside) % PAGE;
        let wanted = Self::wanted(access);
        let (first, end) = (address / PAGE, (address + length).div_ceil(PAGE));
        let pages = (first..end).filter(|_| length != 0).map(|page| page - NEAR / PAGE);
        let files: Option<Vec<u64>> = pages.map(|page| self.file_page(page, wanted)).collect();
        match (window.at(address, length, access), files) {
            (Ok(memory), Some(files)) => {
                let start = memory.wrapping_sub((address % PAGE) as usize);
                for (at, file) in (0..).step_by(PAGE as usize).zip(files) {
                    let word = start.wrapping_add(at + PAGE as usize - 8).cast::<u64>();
                    // SAFETY: the page is in the window, whose memory stays accessible.
                    assert_eq!(unsafe { word.read_volatile() }, file);
                }
            }
            (Ok(_), None) => panic!("{length} bytes at {address:#x} are not mapped"),
            (Err(status), files) => assert!(files.is_none(), "{}", status.name()),
        }
    }

    fn lost(&mut self, lost: &[Arc<SharedMemory>]) {
        for memory in lost {
            for at in (0..memory.size() as u64).step_by(PAGE as usize) {
                assert_eq!(load(memory, at + PAGE - 8), 0, "the memory is still accessible");
            }
        }
        self.held.retain(|memory| !lost.iter().any(|lost| Arc::ptr_eq(lost, memory)));
    }

    fn step(&mut self, step: Step) {
        let at = |page: u64| NEAR + page * PAGE;
        match step {
            Step::Map { page, pages, offset, read, write } => {
                let [page, pages, offset] = [page, pages, offset].map(u64::from);
                let rights = Rights { read, write };
                let file = Some((fd(), offset * PAGE));
                let free = |known: &Known| known.0 >= page + pages || known.0 + known.1 <= page;
                let free = pages != 0 && self.known.iter().all(free);
                match self.memory.map(at(page), pages * PAGE, file, rights) {
                    Ok(Ok(())) => {
                        assert!(free && offset + pages <= PAGES);
                        self.known.push((page, pages, offset, rights));
                    }
                    // The range is registered but not accessible, so no mapping is expected.
                    Ok(Err(_)) => {
                        assert!(offset + pages > PAGES);
                        self.memory.unmap(at(page), pages * PAGE).expect("just mapped");
                    }
                    Err(_) => assert!(!free),
                }
            }
            Step::MapAnywhere { address, bytes, offset } => {
                let both = Rights { read: true, write: true };
                let end = address.saturating_add(bytes);
                // Addresses near the pages of the other operations are left to those.
                if (end < NEAR || address > at(512))
                    && self.memory.map(address, bytes, Some((fd(), offset)), both).is_ok()
                {
                    let lost = self.memory.unmap(address, bytes).expect("just mapped");
                    self.lost(&lost);
                }
            }
            Step::Unmap { page, pages } => {
                let (page, end) = (u64::from(page), u64::from(page) + u64::from(pages));
                let inside = |known: &Known| known.0 >= page && known.0 + known.1 <= end;
                let outside = |known: &Known| known.0 >= end || known.0 + known.1 <= page;
                match self.memory.unmap(at(page), (end - page) * PAGE) {
                    Ok(lost) => {
                        self.known.retain(|known| !inside(known));
                        self.lost(&lost);
                    }
                    Err(_) => assert!(!self.known.iter().all(|k| inside(k) || outside(k))),
                }
            }
            Step::UnmapAnywhere { address, bytes } => {
                if address.saturating_add(bytes) < NEAR || address > at(512) {
                    let lost =
                        self.memory.unmap(address, bytes).expect("a range without a mapping");
                    self.lost(&lost);
                }
            }
            Step::Contiguous { page, bytes, access } => {
                let bytes = u64::from(bytes) % (PAGES * PAGE);
                let page = u64::from(page);
                let pages: Vec<u64> = (page..page + bytes.div_ceil(PAGE)).collect();
                let (base, access) = (at(page), u32::from(access));
                self.ask(RegionRequest { base, bytes, page_list: 0, levels: 0, access }, &pages);
            }
            Step::List { pages, at: place, bytes, log2, access } => {
                let place = u64::from(place) * 8 % (PAGES * PAGE - PAGE);
                // Not over the number at the end of a page.
                if place % PAGE > PAGE - 8 * 9 {
                    return;
                }
                for (step, page) in (0..).step_by(8).zip(pages) {
                    store(place + step, at(page.into()));
                }
                // Through any mapping of that page.
                let file = place / PAGE;
                let found = self.known.iter().find(|k| (k.2..k.2 + k.1).contains(&file));
                let Some(found) = found.filter(|known| known.3.read) else { return };
                let base = at(found.0 + file - found.2) + place % PAGE;
                let bytes = u64::from(bytes) % (8 * PAGE);
                let (page_list, access) = (12 + u32::from(log2 % 3), u32::from(access));
                let size = 1u64 << (page_list - 12);
                let named = pages.iter().flat_map(|page| {
                    let page = u64::from(*page);
                    page..page + size
                });
                let pages: Vec<u64> = named.take(bytes.div_ceil(PAGE) as usize).collect();
                self.ask(RegionRequest { base, bytes, page_list, levels: 1, access }, &pages);
            }
            Step::Anywhere { base, bytes, page_list, access } => {
                // Any result is fine if it does no damage.
                let request = RegionRequest { base, bytes, page_list, levels: 0, access };
                drop(self.memory.memory(&request));
            }
            Step::Tables { page, at: place, bytes, log2, levels, access } => {
                // Tables in what the lists have left there. Any result is fine here, too.
                let base = at(page.into()) + u64::from(place) * 8 % PAGE;
                let (page_list, levels) = (12 + u32::from(log2 % 3), u32::from(levels % 8));
                let (bytes, access) = (u64::from(bytes), access.into());
                let request = RegionRequest { base, bytes, page_list, levels, access };
                drop(self.memory.memory(&request));
            }
            Step::Everything => match self.memory.everything() {
                Ok(window) => self.window = Some(window),
                Err(status) => assert!(!self.on, "{}", status.name()),
            },
            Step::Look { page, inside, length, access } => self.look(page, inside, length, access),
            Step::Bus(on) => {
                let mut lost = self.memory.set_on(on).expect("a mapping");
                if let Some((memory, _)) = self.window.take_if(|_| !on) {
                    let whole = lost.iter().position(|lost| Arc::ptr_eq(lost, &memory));
                    lost.remove(whole.expect("without the bus nothing can be reached"));
                }
                assert!(!on || lost.is_empty());
                self.on = on;
                self.lost(&lost);
                assert!(on || self.held.is_empty(), "regions still have memory");
            }
        }
    }
}

fn fd() -> OwnedFd {
    ram().fd().try_clone_to_owned().expect("a descriptor")
}

crate::target!(|steps: Vec<Step>| {
    for page in 0..PAGES {
        store(page * PAGE + PAGE - 8, page);
    }
    let memory = GuestMemory::default();
    let mut host = Host { memory, known: Vec::new(), on: true, held: Vec::new(), window: None };
    steps.into_iter().take(200).for_each(|step| host.step(step));
});
