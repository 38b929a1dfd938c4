//! Shared memory that is used again in every run, with patterns that have to stay.

use spfe_host::SharedMemory;
use std::cell::RefCell;
use std::sync::Arc;

/// What is behind the end of a region, in the same mapping.
pub const BEHIND: u8 = 0xc5;
/// What another client has.
pub const FOREIGN: u8 = 0xee;
/// What the device may write and not read.
pub const SECRET: u8 = 0xdd;
/// A run of a byte that must not get out is a leak from this length on.
const LEAK_BYTES: usize = 24;

thread_local! {
    static POOL: RefCell<Vec<Arc<SharedMemory>>> = const { RefCell::new(Vec::new()) };
}

/// Memory of the pool, by number; made on first use, of `bytes` bytes.
pub fn pooled(number: usize, bytes: usize) -> Arc<SharedMemory> {
    POOL.with_borrow_mut(|pool| {
        while pool.len() <= number {
            let memory = SharedMemory::create("spfe-fuzz", bytes).expect("shared memory");
            pool.push(Arc::new(memory));
        }
        assert!(pool[number].size() >= bytes, "memory {number} has another size");
        pool[number].clone()
    })
}

/// The bytes of a mapping. Nobody else runs: the engine is called from this thread.
pub fn bytes(memory: &SharedMemory) -> &[u8] {
    // SAFETY: mapped while borrowed; only this thread touches it, and not during the borrow.
    unsafe { std::slice::from_raw_parts(memory.base().as_ptr(), memory.size()) }
}

/// The same, to be written.
#[allow(clippy::mut_from_ref)]
pub fn bytes_mut(memory: &SharedMemory) -> &mut [u8] {
    // SAFETY: as for `bytes`; no caller keeps two of them.
    unsafe { std::slice::from_raw_parts_mut(memory.base().as_ptr(), memory.size()) }
}

/// Payload that can be told from everything that must not get out: 1 to 127, by place.
pub fn fill_payload(memory: &mut [u8]) {
    for (index, byte) in memory.iter_mut().enumerate() {
        *byte = 1 + (index % 127) as u8;
    }
}

/// Fails if a long run of bytes is there that no client was allowed to read.
pub fn check_no_leak(received: &[u8]) {
    // A run of that length has a byte at one of these places, and half of it on one side of it.
    for at in (0..received.len()).step_by(LEAK_BYTES / 2) {
        let byte = received[at];
        if [BEHIND, FOREIGN, SECRET].contains(&byte) {
            let run = received[at..].iter().take_while(|next| **next == byte).count();
            assert!(run < LEAK_BYTES / 2, "{byte:#x} bytes that nobody may read were delivered");
        }
    }
}

/// Bytes of a region the device was told it may write.
#[derive(Debug, Default)]
pub struct Allowed {
    ranges: Vec<(usize, usize)>,
}

impl Allowed {
    /// These may be written from now on.
    pub fn add(&mut self, offset: u64, length: u64, size: usize) {
        let end = offset.saturating_add(length).min(size as u64);
        if offset < end {
            self.ranges.push((offset as usize, end as usize));
        }
    }

    /// Fails if a byte of `memory` that is not allowed differs from `clean`; looks for leaks in the
    /// others.
    pub fn check(&mut self, memory: &[u8], clean: &[u8]) {
        self.ranges.sort_unstable();
        let mut at = 0;
        for (start, end) in self.ranges.iter().copied().chain([(memory.len(), memory.len())]) {
            if at < start {
                let same = memory[at..start] == clean[at..start];
                assert!(same, "the device wrote in bytes {at}..{start}, which are in no buffer");
            }
            check_no_leak(&memory[start..end]);
            at = at.max(end);
        }
    }
}
