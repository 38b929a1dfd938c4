//! Simulated memory: regions of pages in any order, and AXI4 ports that answer late.

use std::collections::VecDeque;

use spfe_rtl_sim::once_in;

pub const MEMORY: u64 = 0x10_0000;
pub const PAGE: u64 = 0x1000;
pub const DOMAIN: u16 = 3;

const BAD_REGION: u8 = 0x41;
const OUT_OF_BOUNDS: u8 = 0x42;
const ACCESS_DENIED: u8 = 0x43;

/// Bytes of rings and lines of a queue.
pub const RINGS: u64 = 0x2000;
/// Bytes of buffers of a queue.
pub const BUFFERS: u64 = 0x1_0000;

/// A region.
pub struct Region {
    pub key: u16,
    domain: u16,
    pub size: u64,
    read: bool,
    write: bool,
    pages: Vec<u64>,
}

pub const KEY_RINGS: u16 = 0x1001;
pub const KEY_TX: u16 = 0x2002;
pub const KEY_RX: u16 = 0x3003;
/// Behind the end of the memory.
pub const KEY_BUS: u16 = 0x4004;
pub const KEY_OTHER: u16 = 0x5005;

/// What a translation asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub region: u16,
    pub offset: u64,
    pub length: u64,
    pub domain: u16,
    pub read: bool,
    pub write: bool,
}

pub struct Memory {
    pub bytes: Vec<u8>,
    regions: Vec<Region>,
}

impl Memory {
    pub fn new(rng: &mut fastrand::Rng, queues: u64) -> Self {
        let mut pages: Vec<u64> = (0..MEMORY / PAGE).map(|page| page * PAGE).collect();
        rng.shuffle(&mut pages);
        let mut region = |key, domain, size: u64, read, write| {
            let count = size.div_ceil(PAGE) as usize;
            let pages = if key == KEY_BUS {
                (0..count as u64).map(|page| MEMORY + page * PAGE).collect()
            } else {
                pages.split_off(pages.len() - count)
            };
            Region { key, domain, size, read, write, pages }
        };
        let regions = vec![
            region(KEY_RINGS, DOMAIN, 2 * queues * RINGS, true, true),
            region(KEY_TX, DOMAIN, queues * BUFFERS, true, false),
            region(KEY_RX, DOMAIN, queues * BUFFERS, false, true),
            region(KEY_BUS, DOMAIN, 0x4000, true, true),
            region(KEY_OTHER, DOMAIN + 1, PAGE, true, true),
        ];
        Self { bytes: vec![0; MEMORY as usize], regions }
    }

    /// Status, bus address and contiguous bytes.
    pub fn translate(&self, asked: &Asked) -> (u8, u64, u64) {
        let region = self.regions.iter().find(|region| region.key == asked.region);
        let Some(region) = region.filter(|region| region.domain == asked.domain) else {
            return (BAD_REGION, 0, 0);
        };
        if asked.offset + asked.length > region.size {
            return (OUT_OF_BOUNDS, 0, 0);
        }
        if asked.read && !region.read || asked.write && !region.write {
            return (ACCESS_DENIED, 0, 0);
        }
        let place = asked.offset % PAGE;
        let address = region.pages[(asked.offset / PAGE) as usize] + place;
        (0, address, asked.length.min(PAGE - place))
    }

    /// Where a byte of a region is.
    pub fn at(&self, key: u16, offset: u64) -> usize {
        let region = self.regions.iter().find(|region| region.key == key).expect("exists");
        (region.pages[(offset / PAGE) as usize] + offset % PAGE) as usize
    }

    pub fn put(&mut self, key: u16, offset: u64, bytes: &[u8]) {
        for (index, byte) in bytes.iter().enumerate() {
            let at = self.at(key, offset + index as u64);
            self.bytes[at] = *byte;
        }
    }

    pub fn get(&self, key: u16, offset: u64, count: usize) -> Vec<u8> {
        (0..count as u64).map(|index| self.bytes[self.at(key, offset + index)]).collect()
    }

    pub fn word(&self, key: u16, offset: u64) -> u64 {
        u64::from_le_bytes(self.get(key, offset, 8).try_into().expect("8 bytes"))
    }

    /// Region and offset of a bus address.
    pub fn whose(&self, address: u64) -> Option<(u16, u64)> {
        let page = address & !(PAGE - 1);
        self.regions.iter().find_map(|region| {
            let index = region.pages.iter().position(|at| *at == page)?;
            Some((region.key, index as u64 * PAGE + address % PAGE))
        })
    }
}

/// Data with byte enables.
type Beats = Vec<(u128, u16)>;

/// An AXI4 port.
#[derive(Default)]
pub struct Axi {
    /// Bursts to read: address, ID, beats that are left, number.
    reads: VecDeque<(u64, u64, u64, u64)>,
    /// Addresses of bursts to write, with IDs and numbers.
    addresses: VecDeque<(u64, u64, u64)>,
    /// Bursts so far.
    pub bursts: u64,
    pub beats: Beats,
    /// Bursts whose data came, which are not in memory yet.
    writes: Vec<(u64, u64, Beats, u64)>,
    pub whole: VecDeque<Beats>,
    pub ar_ready: bool,
    pub aw_ready: bool,
    pub w_ready: bool,
    pub r: Option<(u128, u64, u64, bool)>,
    pub b: Option<(u64, u64)>,
    prompt: bool,
}

fn load(memory: &[u8], address: u64) -> Option<u128> {
    let at = usize::try_from(address & !15).ok()?;
    Some(u128::from_le_bytes(memory.get(at..at + 16)?.try_into().ok()?))
}

impl Axi {
    /// A port that answers as early as possible.
    pub fn prompt() -> Self {
        Self { prompt: true, ..Self::default() }
    }

    /// Drives the inputs of the core for a cycle.
    pub fn drive(&mut self, memory: &mut [u8], rng: &mut fastrand::Rng) {
        self.ar_ready = self.prompt || rng.u8(..4) != 0;
        self.aw_ready = self.prompt || rng.u8(..4) != 0;
        self.w_ready = self.prompt || rng.u8(..4) != 0;
        self.r = None;
        if (self.prompt || rng.u8(..3) != 0) && !self.reads.is_empty() {
            // Bursts are answered in any order, beat by beat.
            let which = if self.prompt { 0 } else { rng.usize(..self.reads.len().min(3)) };
            let (address, id, left, _) = &mut self.reads[which];
            let data = load(memory, *address);
            self.r = Some((data.unwrap_or(0), *id, if data.is_some() { 0 } else { 3 }, *left == 1));
            *address = (*address & !15) + 16;
            *left -= 1;
            if *left == 0 {
                self.reads.remove(which);
            }
        }
        // Late, and in any order: only an answered write is in memory.
        self.b = None;
        if !self.writes.is_empty() && (self.prompt || once_in(rng, 6)) {
            let (mut address, id, beats, _) =
                self.writes.swap_remove(rng.usize(..self.writes.len()));
            let mut answer = 0;
            for (data, strobes) in beats {
                for (place, byte) in data.to_le_bytes().into_iter().enumerate() {
                    let at = (address & !15) as usize + place;
                    if strobes >> place & 1 != 0 {
                        match memory.get_mut(at) {
                            Some(cell) => *cell = byte,
                            None => answer = 3,
                        }
                    }
                }
                address = (address & !15) + 16;
            }
            self.b = Some((id, answer));
        }
    }

    /// Takes addresses and data that belong together.
    pub fn join(&mut self) {
        while !self.whole.is_empty() && !self.addresses.is_empty() {
            let (address, id, number) = self.addresses.pop_front().expect("is there");
            self.writes.push((address, id, self.whole.pop_front().expect("is there"), number));
        }
    }

    pub fn read(&mut self, address: u64, id: u64, beats: u64) {
        self.bursts += 1;
        self.reads.push_back((address, id, beats, self.bursts));
    }

    pub fn write(&mut self, address: u64, id: u64) {
        self.bursts += 1;
        self.addresses.push_back((address, id, self.bursts));
    }

    /// The first so many bursts are answered.
    pub fn has_answered(&self, bursts: u64) -> bool {
        let reads = self.reads.iter().map(|read| read.3);
        let writes = self.writes.iter().map(|write| write.3);
        reads.chain(self.addresses.iter().map(|a| a.2)).chain(writes).all(|number| number > bursts)
    }

    /// Addresses of everything that is not answered.
    pub fn open(&self) -> impl Iterator<Item = u64> + '_ {
        let reads = self.reads.iter().map(|read| read.0);
        reads.chain(self.addresses.iter().map(|a| a.0)).chain(self.writes.iter().map(|w| w.0))
    }
}
