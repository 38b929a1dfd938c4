//! Local memory of the queue pair: once for the model, and once as scattered pages on a bus.

use spfe_rdma::{Local, LocalMemory, initiator::LocalFault};

/// Status BAD_REGION, OUT_OF_BOUNDS and ACCESS_DENIED.
const BAD_REGION: u8 = 0x41;
const OUT_OF_BOUNDS: u8 = 0x42;
const ACCESS_DENIED: u8 = 0x43;

pub const DOMAIN: u16 = 3;
/// May be read and written.
pub const KEY_BOTH: u16 = 0x1001;
/// May be read.
pub const KEY_READ: u16 = 0x2002;
/// Nobody has its addresses.
pub const KEY_BROKEN: u16 = 0x3003;
/// Nobody has the addresses of every second page, from the second on.
pub const KEY_HOLES: u16 = 0x4004;
pub const SIZE: u64 = 0x1_0000;
pub const PAGE: u64 = 0x1000;
const PAGES: u64 = SIZE / PAGE;

/// A translation that the core asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub region: u16,
    pub offset: u64,
    pub length: u64,
    pub domain: u16,
    pub write: bool,
}

/// Regions of the same content for the model and for the core.
pub struct Memory {
    /// Memory behind the bus.
    pub bus: Vec<u8>,
    pages: Vec<u64>,
    /// Contents for the model, of KEY_BOTH, KEY_READ and KEY_HOLES.
    pub model: Model,
}

/// Memory of the model.
pub struct Model(pub [Vec<u8>; 3]);

fn region(key: u16) -> Option<usize> {
    [KEY_BOTH, KEY_READ, KEY_HOLES].into_iter().position(|known| known == key)
}

impl Memory {
    pub fn new(rng: &mut fastrand::Rng) -> Self {
        let mut pages: Vec<u64> = (0..4 * PAGES).collect();
        rng.shuffle(&mut pages);
        let mut bus = vec![0; (4 * SIZE) as usize];
        let model = Model([(); 3].map(|()| (0..SIZE).map(|_| rng.u8(..)).collect()));
        for (index, contents) in model.0.iter().enumerate() {
            for (page, bytes) in contents.chunks(PAGE as usize).enumerate() {
                let at = (pages[index * PAGES as usize + page] * PAGE) as usize;
                bus[at..at + PAGE as usize].copy_from_slice(bytes);
            }
        }
        Self { bus, pages, model }
    }

    /// Status, bus address and contiguous bytes.
    pub fn translate(&self, asked: &Asked) -> (u8, u64, u64) {
        if asked.domain != DOMAIN {
            return (BAD_REGION, 0, 0);
        }
        let place = asked.offset % PAGE;
        let page = asked.offset / PAGE;
        let index = region(asked.region);
        if index.is_none() && asked.region != KEY_BROKEN {
            return (BAD_REGION, 0, 0);
        }
        if asked.offset.saturating_add(asked.length) > SIZE {
            return (OUT_OF_BOUNDS, 0, 0);
        }
        if asked.write && asked.region == KEY_READ {
            return (ACCESS_DENIED, 0, 0);
        }
        let at = match index.filter(|_| asked.region != KEY_HOLES || page.is_multiple_of(2)) {
            None => 4 * SIZE + asked.offset,
            Some(index) => self.pages[(index as u64 * PAGES + page) as usize] * PAGE + place,
        };
        (0, at, asked.length.min(PAGE - place))
    }

    /// Compares the contents but those of KEY_HOLES, where a part of a failed write may be.
    pub fn check(&self, at: &str) {
        for (index, contents) in self.model.0[..2].iter().enumerate() {
            for (page, bytes) in contents.chunks(PAGE as usize).enumerate() {
                let start = (self.pages[index * PAGES as usize + page] * PAGE) as usize;
                let found = &self.bus[start..start + PAGE as usize];
                let wrong = found.iter().zip(bytes).position(|(found, byte)| found != byte);
                assert_eq!(wrong, None, "{at}: region {index} page {page}");
            }
        }
    }
}

impl Model {
    fn place(&self, piece: Local) -> Option<(usize, std::ops::Range<usize>)> {
        let index = region(piece.memory as u16)?;
        let end = piece.offset.checked_add(piece.length.into())?;
        (end <= SIZE).then_some((index, piece.offset as usize..end as usize))
    }

    /// A place that has memory behind it.
    fn memory(&self, piece: Local) -> Option<(usize, std::ops::Range<usize>)> {
        let mut pages = piece.offset / PAGE..=(piece.offset + u64::from(piece.length) - 1) / PAGE;
        let whole = piece.memory != KEY_HOLES.into() || pages.all(|page| page.is_multiple_of(2));
        self.place(piece).filter(|_| whole)
    }
}

impl LocalMemory for Model {
    fn check(&self, piece: Local) -> bool {
        piece.memory == u32::from(KEY_BROKEN) || self.place(piece).is_some()
    }

    fn can_read(&self, piece: Local) -> bool {
        self.memory(piece).is_some()
    }

    fn read(&self, piece: Local, out: &mut [u8]) -> Result<(), LocalFault> {
        let (index, range) = self.memory(piece).ok_or(LocalFault(piece))?;
        out.copy_from_slice(&self.0[index][range]);
        Ok(())
    }

    fn write(&mut self, piece: Local, data: &[u8]) -> Result<(), LocalFault> {
        let (index, range) = self.memory(piece).ok_or(LocalFault(piece))?;
        self.0[index][range].copy_from_slice(data);
        Ok(())
    }
}
