//! Transmit queues, pooled and posted: one structure for both.

use super::{FastQueue, NO_PHASE, Registry, SLOT, VERSION, mark, nothing, phase_of, phase_word};
use spfe::{FAST_DATA, FastMemory, FastTxState, PooledTx, Tx};
use std::ffi::c_void;

/// `struct spfe_fast_tx`.
#[repr(C)]
pub struct CFastTx {
    version: u32,
    slot_bytes: u32,
    entry_bytes: u32,
    slots: u32,
    queue: *mut c_void,
    pool: *mut u8,
    stride: usize,
    sq: *mut u8,
    cq: *mut u8,
    need_doorbell: *const u32,
    fence_mode: *const u8,
    /// Second word of the next entry but its length: type and phase.
    next_word: u64,
    /// The same of the first staged entry, with its length.
    first_word: u64,
    taken_bytes: u64,
    last: u32,
    next: u32,
    done: u32,
    done_phase: u32,
    first: u32,
    free: u32,
    staged: u32,
    freed: u32,
    taken: u32,
    reserved: u32,
}

impl CFastTx {
    fn new(of: FastMemory, queue: *mut c_void) -> Self {
        Self {
            version: VERSION,
            slot_bytes: of.slot_bytes,
            entry_bytes: 0,
            slots: of.last / SLOT + 1,
            queue,
            pool: of.pool,
            stride: of.stride,
            sq: of.sq,
            cq: of.cq,
            need_doorbell: of.need_doorbell,
            fence_mode: of.fence_mode,
            next_word: 0,
            first_word: 0,
            taken_bytes: 0,
            last: of.last,
            next: 0,
            done: 0,
            done_phase: 0,
            first: 0,
            free: 0,
            staged: 0,
            freed: 0,
            taken: 0,
            reserved: 0,
        }
    }

    fn set(&mut self, at: &FastTxState) {
        (self.next, self.next_word) = (at.next.offset as u32, FAST_DATA | phase_word(at.next));
        (self.done, self.done_phase) = (at.done.offset as u32, at.done.phase);
        self.first = at.first.offset as u32;
        self.first_word = at.first_word | phase_word(at.first);
        (self.free, self.staged, self.freed) = (at.free, at.staged, at.freed);
    }

    /// The state, and completions and bytes taken since it was set.
    fn take(&mut self) -> (FastTxState, u32, u64) {
        let at = FastTxState {
            next: mark(self.next, phase_of(self.next_word)),
            done: mark(self.done, self.done_phase),
            first: mark(self.first, phase_of(self.first_word)),
            first_word: self.first_word & !super::PHASES,
            free: self.free,
            posted: self.slots.wrapping_sub(self.free).wrapping_sub(self.staged),
            staged: self.staged,
            freed: self.freed,
        };
        (at, std::mem::take(&mut self.taken), std::mem::take(&mut self.taken_bytes))
    }

    fn end(&mut self) {
        (self.free, self.staged, self.done, self.done_phase) = (0, 0, 0, NO_PHASE);
        self.need_doorbell = std::ptr::null();
        self.cq = nothing();
    }
}

/// What pooled and posted queues do alike.
macro_rules! as_every_transmit_queue {
    () => {
        fn registry() -> &'static Registry<CFastTx> {
            static REGISTRY: Registry<CFastTx> = Registry::new();
            &REGISTRY
        }

        fn state_to(&self, fast: &mut CFastTx) {
            fast.set(&self.fast_state());
        }

        fn continue_from(&mut self, fast: &mut CFastTx) {
            let (at, taken, bytes) = fast.take();
            self.fast_continue(&at, taken, bytes);
        }

        fn end(fast: &mut CFastTx) {
            fast.end();
        }
    };
}

impl FastQueue for PooledTx {
    type Fast = CFastTx;

    as_every_transmit_queue!();

    fn begin(&self, queue: *mut c_void) -> CFastTx {
        let mut fast = CFastTx::new(self.fast_memory(), queue);
        fast.set(&self.fast_state());
        fast
    }
}

impl FastQueue for Tx {
    type Fast = CFastTx;

    as_every_transmit_queue!();

    fn begin(&self, queue: *mut c_void) -> CFastTx {
        let mut fast = CFastTx::new(self.fast_memory(), queue);
        (fast.entry_bytes, fast.slot_bytes) = (fast.slot_bytes, 0);
        fast.set(&self.fast_state());
        fast
    }
}
