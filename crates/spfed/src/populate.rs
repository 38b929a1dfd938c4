//! Maps the pages of regions before the device touches them.
//!
//! Mapping a large region in one go would delay other threads that map memory. The daemon therefore
//! replies at once, and the connection's thread maps one piece in each turn of its loop, while there is
//! no request. If the device is faster, it takes a page fault.

use spfe_host::SharedMemory;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

/// Bytes mapped in one step; takes well under a millisecond.
const STEP_BYTES: usize = 4 << 20;

/// Queue of regions whose pages are not all mapped yet, each with the next offset to map.
#[derive(Default)]
pub(crate) struct Unmapped(VecDeque<(Weak<SharedMemory>, usize)>);

impl Unmapped {
    pub fn add(&mut self, memory: &Arc<SharedMemory>) {
        // A client that adds and removes regions without a pause gives no time to drop them below.
        self.0.retain(|(region, _)| region.strong_count() != 0);
        self.0.push_back((Arc::downgrade(memory), 0));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Maps a piece of the first region in the queue. A revoked region is dropped from it.
    pub fn step(&mut self) {
        let Some((region, from)) = self.0.pop_front() else { return };
        let Some(memory) = region.upgrade() else { return };
        let next = memory.populate(from, STEP_BYTES);
        if next < memory.size() {
            self.0.push_back((region, next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_take_turns_until_they_are_done_or_gone() {
        let sizes = [2 * STEP_BYTES + 4096, 4096, 3 * STEP_BYTES];
        let mut regions: Vec<_> =
            sizes.map(|size| Arc::new(SharedMemory::create("t", size).unwrap())).into();
        let mut unmapped = Unmapped::default();
        regions.iter().for_each(|region| unmapped.add(region));
        drop(regions.pop());
        let mut left = Vec::new();
        while !unmapped.is_empty() {
            unmapped.step();
            left.push(unmapped.0.len());
        }
        assert_eq!(left, [3, 2, 1, 1, 0]);
    }

    #[test]
    fn revoked_regions_do_not_pile_up() {
        let mut unmapped = Unmapped::default();
        for _ in 0..100 {
            unmapped.add(&Arc::new(SharedMemory::create("t", 4096).unwrap()));
            assert!(unmapped.0.len() <= 1);
        }
    }
}
