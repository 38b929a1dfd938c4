//! Region keys and addresses: what entries name memory by.

use crate::{OFFSET_BITS, REGION_GENERATION_BITS, REGION_INDEX_BITS};

const INDEX_BITS: u32 = REGION_INDEX_BITS as u32;
const GENERATIONS: u16 = 1 << REGION_GENERATION_BITS;
const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;

/// Region and byte offset in one word {region 16, offset 48}: the first word of most entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// An address in a region; bits of the offset above 48 are dropped.
    #[inline(always)]
    pub const fn new(key: RegionKey, offset: u64) -> Self {
        Self((key.0 as u64) << OFFSET_BITS | offset & OFFSET_MASK)
    }

    /// Key of the region.
    #[inline(always)]
    pub const fn key(self) -> RegionKey {
        RegionKey((self.0 >> OFFSET_BITS) as u16)
    }

    /// Byte offset in the region.
    #[inline(always)]
    pub const fn offset(self) -> u64 {
        self.0 & OFFSET_MASK
    }
}

/// The region field of an entry: index into the region table and generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegionKey(pub u16);

impl RegionKey {
    /// A key from its parts; the generation is taken modulo 16.
    pub const fn new(index: usize, generation: u16) -> Self {
        Self((generation % GENERATIONS) << INDEX_BITS | (index as u16 & ((1 << INDEX_BITS) - 1)))
    }

    /// Index into the region table.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }

    /// Generation: how many regions have had this index before, modulo 16.
    pub const fn generation(self) -> u16 {
        self.0 >> INDEX_BITS
    }

    /// The key of the next region at the same index.
    pub const fn next(self) -> Self {
        Self::new(self.index(), self.generation() + 1)
    }
}
