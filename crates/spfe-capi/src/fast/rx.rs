//! Receive queues, pooled and posted.

use super::{FastQueue, NO_PHASE, Registry, SLOT, VERSION, nothing, offers, phase_word};
use spfe::{FAST_BUFFER, FastMemory, FastPostedState, FastRxState, PooledRx, Rx};
use std::ffi::c_void;
use std::ptr::null_mut;

/// `struct spfe_fast_rx`.
#[repr(C)]
pub struct CFastRx {
    version: u32,
    slot_bytes: u32,
    queue: *mut c_void,
    pool: *mut u8,
    stride: usize,
    sq: *mut u8,
    cq: *mut u8,
    need_doorbell: *const u32,
    fence_mode: *const u8,
    buffer: u64,
    taken_bytes: u64,
    last: u32,
    mask: u32,
    next: u32,
    phase: u32,
    laps: u32,
    offered: u32,
}

impl FastQueue for PooledRx {
    type Fast = CFastRx;

    fn registry() -> &'static Registry<CFastRx> {
        static REGISTRY: Registry<CFastRx> = Registry::new();
        &REGISTRY
    }

    fn begin(&self, queue: *mut c_void) -> CFastRx {
        let of: FastMemory = self.fast_memory();
        let mut fast = CFastRx {
            version: VERSION,
            slot_bytes: of.slot_bytes,
            queue,
            pool: of.pool,
            stride: of.stride,
            sq: of.sq,
            cq: of.cq,
            need_doorbell: of.need_doorbell,
            fence_mode: of.fence_mode,
            buffer: 0,
            taken_bytes: 0,
            last: of.last,
            mask: 0,
            next: 0,
            phase: 0,
            laps: 0,
            // Nothing was offered yet.
            offered: u32::MAX,
        };
        self.state_to(&mut fast);
        fast
    }

    fn state_to(&self, fast: &mut CFastRx) {
        let FastRxState { next, laps, buffer, mask } = self.fast_state();
        (fast.next, fast.phase, fast.laps) = (next.offset as u32, next.phase, laps);
        (fast.buffer, fast.mask) = (buffer, mask);
    }

    fn continue_from(&mut self, fast: &mut CFastRx) {
        self.fast_continue(fast.laps, fast.next as usize, fast.taken_bytes);
        fast.taken_bytes = 0;
    }

    fn end(fast: &mut CFastRx) {
        (fast.next, fast.phase) = (0, NO_PHASE);
        fast.need_doorbell = std::ptr::null();
        fast.cq = nothing();
    }
}

/// `struct spfe_fast_buffer`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CFastBuffer {
    pub id: u64,
    pub capacity: u64,
}

/// `struct spfe_fast_posted`.
#[repr(C)]
pub struct CFastPosted {
    version: u32,
    slots: u32,
    queue: *mut c_void,
    buffers: *mut CFastBuffer,
    sq: *mut u8,
    cq: *mut u8,
    need_doorbell: *const u32,
    fence_mode: *const u8,
    next_word: u64,
    taken_bytes: u64,
    last: u32,
    mask: u32,
    next: u32,
    done: u32,
    done_phase: u32,
    free: u32,
    freed: u32,
    taken: u32,
    offered: u32,
    reserved: u32,
}

impl CFastPosted {
    /// The oldest posted buffer.
    pub fn oldest(&self) -> CFastBuffer {
        let index = ((self.done / SLOT) & (self.slots - 1)) as usize;
        // SAFETY: there is one for each slot, a power of two, until `free`.
        unsafe { *self.buffers.add(index) }
    }
}

impl FastQueue for Rx {
    type Fast = CFastPosted;

    fn registry() -> &'static Registry<CFastPosted> {
        static REGISTRY: Registry<CFastPosted> = Registry::new();
        &REGISTRY
    }

    fn begin(&self, queue: *mut c_void) -> CFastPosted {
        let of: FastMemory = self.fast_memory();
        let slots = of.last / SLOT + 1;
        let buffers = vec![CFastBuffer::default(); slots as usize].into_boxed_slice();
        let mut fast = CFastPosted {
            version: VERSION,
            slots,
            queue,
            buffers: Box::into_raw(buffers).cast(),
            sq: of.sq,
            cq: of.cq,
            need_doorbell: of.need_doorbell,
            fence_mode: of.fence_mode,
            next_word: 0,
            taken_bytes: 0,
            last: of.last,
            mask: offers(of.last),
            next: 0,
            done: 0,
            done_phase: 0,
            free: 0,
            freed: 0,
            taken: 0,
            // Nothing was offered yet.
            offered: u32::MAX,
            reserved: 0,
        };
        self.state_to(&mut fast);
        fast
    }

    fn state_to(&self, fast: &mut CFastPosted) {
        let FastPostedState { next, done, free, freed } = self.fast_state();
        (fast.next, fast.next_word) = (next.offset as u32, FAST_BUFFER | phase_word(next));
        (fast.done, fast.done_phase) = (done.offset as u32, done.phase);
        (fast.free, fast.freed) = (free, freed.into());
    }

    fn continue_from(&mut self, fast: &mut CFastPosted) {
        self.fast_continue(fast.slots.wrapping_sub(fast.free), fast.taken, fast.taken_bytes);
        (fast.taken, fast.taken_bytes) = (0, 0);
    }

    fn end(fast: &mut CFastPosted) {
        (fast.free, fast.done, fast.done_phase) = (0, 0, NO_PHASE);
        fast.need_doorbell = std::ptr::null();
        fast.cq = nothing();
    }

    fn free(fast: &mut CFastPosted) {
        let buffers = std::ptr::slice_from_raw_parts_mut(fast.buffers, fast.slots as usize);
        fast.buffers = null_mut();
        // SAFETY: from `begin`, and freed once: the queue is closed only once.
        drop(unsafe { Box::from_raw(buffers) });
    }
}
