//! Shared memory that every run reuses, with patterns that must not change.

use spfe_host::SharedMemory;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fills the mapping after the end of a region.
pub const BEHIND: u8 = 0xc5;
/// Fills the memory of another client.
pub const FOREIGN: u8 = 0xee;
/// Fills memory that the device may write and not read.
pub const SECRET: u8 = 0xdd;
/// From this length on, a sequence of a secret byte is a leak.
const LEAK_BYTES: usize = 24;

thread_local! {
    /// By number and length.
    static POOL: RefCell<BTreeMap<(usize, usize), Arc<SharedMemory>>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// Memory number `number` of those with `bytes` bytes. The first use creates it.
pub fn pooled(number: usize, bytes: usize) -> Arc<SharedMemory> {
    let create = || Arc::new(SharedMemory::create("spfe-fuzz", bytes).expect("shared memory"));
    POOL.with_borrow_mut(|pool| pool.entry((number, bytes)).or_insert_with(create).clone())
}

/// The bytes of a mapping. The engine runs in the calling thread only.
pub fn bytes(memory: &SharedMemory) -> &[u8] {
    // SAFETY: mapped while borrowed. Only this thread accesses it, and not during the borrow.
    unsafe { std::slice::from_raw_parts(memory.base().as_ptr(), memory.size()) }
}

/// The same bytes, mutable.
#[allow(clippy::mut_from_ref)]
pub fn bytes_mut(memory: &SharedMemory) -> &mut [u8] {
    // SAFETY: as in `bytes`, and no caller keeps two borrows.
    unsafe { std::slice::from_raw_parts_mut(memory.base().as_ptr(), memory.size()) }
}

/// Whether all bytes have this value. One comparison of memory with itself, because sanitizers make
/// a loop over bytes slow.
pub fn is_all(bytes: &[u8], value: u8) -> bool {
    match bytes {
        [] => true,
        [first, rest @ ..] => *first == value && *rest == bytes[..rest.len()],
    }
}

/// Payload that differs from every secret byte: 1 to 127, depending on the place.
pub fn fill_payload(memory: &mut [u8]) {
    for (index, byte) in memory.iter_mut().enumerate() {
        *byte = 1 + (index % 127) as u8;
    }
}

/// Fails on a long sequence of a byte that no client may read.
pub fn check_no_leak(received: &[u8]) {
    // A sequence of that length covers one of these places, and half of it lies on one side of it.
    for at in (0..received.len()).step_by(LEAK_BYTES / 2) {
        let byte = received[at];
        if [BEHIND, FOREIGN, SECRET].contains(&byte) {
            let run = received[at..].iter().take_while(|next| **next == byte).count();
            assert!(run < LEAK_BYTES / 2, "secret bytes {byte:#x} were delivered");
        }
    }
}

/// The bytes of a region that the device may write.
#[derive(Debug, Default)]
pub struct Allowed {
    ranges: Vec<(usize, usize)>,
}

impl Allowed {
    /// Allows a range of bytes.
    pub fn add(&mut self, offset: u64, length: u64, size: usize) {
        let end = offset.saturating_add(length).min(size as u64);
        if offset < end {
            self.ranges.push((offset as usize, end as usize));
        }
    }

    /// Fails if a byte of `memory` that is not allowed differs from `clean`, or if the others
    /// contain a leak.
    pub fn check(&mut self, memory: &[u8], clean: &[u8]) {
        self.ranges.sort_unstable();
        let mut at = 0;
        for (start, end) in self.ranges.iter().copied().chain([(memory.len(), memory.len())]) {
            if at < start {
                let same = memory[at..start] == clean[at..start];
                assert!(same, "the device wrote to bytes {at}..{start}, which are in no buffer");
            }
            check_no_leak(&memory[start..end]);
            at = at.max(end);
        }
    }
}
