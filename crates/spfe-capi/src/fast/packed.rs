//! Packed receive queues.

use super::{FastQueue, NO_PHASE, Registry, SLOT, VERSION, mark, nothing};
use spfe::{FastMemory, FastPackedState, PackedRx};
use std::ffi::c_void;

/// `struct spfe_fast_packed`.
#[repr(C)]
pub struct CFastPacked {
    version: u32,
    size: u32,
    queue: *mut c_void,
    area: *const u8,
    cq: *mut u8,
    need_doorbell: *const u32,
    taken_bytes: u64,
    last: u32,
    next: u32,
    phase: u32,
    tail: u32,
    owed_bytes: u32,
    owed_runs: u32,
    many_bytes: u32,
    many_runs: u32,
    taken: u32,
    reserved: u32,
}

impl FastQueue for PackedRx {
    type Fast = CFastPacked;

    fn registry() -> &'static Registry<CFastPacked> {
        static REGISTRY: Registry<CFastPacked> = Registry::new();
        &REGISTRY
    }

    fn begin(&self, queue: *mut c_void) -> CFastPacked {
        let of: FastMemory = self.fast_memory();
        let mut fast = CFastPacked {
            version: VERSION,
            size: of.slot_bytes,
            queue,
            area: of.pool,
            cq: of.cq,
            need_doorbell: of.need_doorbell,
            taken_bytes: 0,
            last: of.last,
            next: 0,
            phase: 0,
            tail: 0,
            owed_bytes: 0,
            owed_runs: 0,
            // As in Rust: an eighth of the area or a quarter of the ring.
            many_bytes: of.slot_bytes / 8,
            many_runs: (of.last / SLOT + 1) / 4,
            taken: 0,
            reserved: 0,
        };
        self.state_to(&mut fast);
        fast
    }

    fn state_to(&self, fast: &mut CFastPacked) {
        let FastPackedState { next, tail, owed_bytes, owed_runs } = self.fast_state();
        (fast.next, fast.phase, fast.tail) = (next.offset as u32, next.phase, tail);
        (fast.owed_bytes, fast.owed_runs) = (owed_bytes, owed_runs);
    }

    fn continue_from(&mut self, fast: &mut CFastPacked) {
        let at = FastPackedState {
            next: mark(fast.next, fast.phase),
            tail: fast.tail,
            owed_bytes: fast.owed_bytes,
            owed_runs: fast.owed_runs,
        };
        self.fast_continue(&at, fast.taken, fast.taken_bytes);
        (fast.taken, fast.taken_bytes) = (0, 0);
    }

    fn end(fast: &mut CFastPacked) {
        (fast.next, fast.phase) = (0, NO_PHASE);
        (fast.owed_bytes, fast.owed_runs) = (u32::MAX, u32::MAX);
        fast.need_doorbell = std::ptr::null();
        fast.cq = nothing();
    }
}
