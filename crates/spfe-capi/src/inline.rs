//! The functions of `include/spfe/fast.h`: its inline functions need these calls.

use crate::args::{self, found, write};
use crate::fast::{CFastPacked, CFastPosted, CFastRx, CFastTx, VERSION};
use crate::handle;
use crate::packed::CRun;
use crate::queue::{Queue, QueueHandle};
use crate::region::RegionHandle;
use crate::result::{Answer, Fault, code, run};
use spfe::Status;
use std::ffi::c_int;

/// Whether the program's inline functions know this layout.
fn check(version: u32) -> Result<(), Fault> {
    if version == VERSION {
        return Ok(());
    }
    let what = format!("fast path of layout {version}: this library has {VERSION}; use the calls");
    Err(Fault::new(Status::BadVersion, what))
}

/// Gives the program the structure of a queue.
///
/// # Safety
/// `fast` is null or valid for a write.
unsafe fn give<F>(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut F,
    make: impl FnOnce(&mut Queue) -> Result<*mut F, Fault>,
) -> c_int {
    run(|| -> Answer {
        check(version)?;
        if fast.is_null() {
            return Err(Fault::new(Status::BadField, "place for the fast path: NULL"));
        }
        let made = handle::with(queue, make)?;
        // SAFETY: the caller's promise.
        unsafe { write(fast, made) }
    })
}

/// The fast path of a transmit queue.
///
/// # Safety
/// `fast` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_tx(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut CFastTx,
) -> c_int {
    let make = |inner: &mut Queue| match inner {
        Queue::PooledTx(pooled) => Ok(pooled.fast(queue.cast())),
        Queue::Tx(posted) => Ok(posted.queue.fast(queue.cast())),
        other => Err(other.wrong("spfe_fast_tx")),
    };
    // SAFETY: the caller's promise.
    unsafe { give(queue, version, fast, make) }
}

/// The fast path of a pooled receive queue.
///
/// # Safety
/// `fast` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_rx(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut CFastRx,
) -> c_int {
    let make = |inner: &mut Queue| match inner {
        Queue::PooledRx(pooled) => Ok(pooled.fast(queue.cast())),
        other => Err(other.wrong("spfe_fast_rx")),
    };
    // SAFETY: the caller's promise.
    unsafe { give(queue, version, fast, make) }
}

/// The fast path of a receive queue with posted buffers.
///
/// # Safety
/// `fast` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_posted(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut CFastPosted,
) -> c_int {
    let make = |inner: &mut Queue| match inner {
        Queue::Rx(posted) if !posted.posted.is_empty() => {
            let what = format!(
                "receive queue with {} posted buffers: take them back first",
                posted.posted.len()
            );
            Err(Fault::new(Status::Busy, what))
        }
        Queue::Rx(posted) => Ok(posted.queue.fast(queue.cast())),
        other => Err(other.wrong("spfe_fast_posted")),
    };
    // SAFETY: the caller's promise.
    unsafe { give(queue, version, fast, make) }
}

/// The fast path of a packed receive queue.
///
/// # Safety
/// `fast` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_packed(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut CFastPacked,
) -> c_int {
    let make = |inner: &mut Queue| match inner {
        Queue::Packed(packed) => Ok(packed.fast()?.fast(queue.cast())),
        other => Err(other.wrong("spfe_fast_packed")),
    };
    // SAFETY: the caller's promise.
    unsafe { give(queue, version, fast, make) }
}

/// `struct spfe_fast_region`.
#[repr(C)]
pub struct CFastRegion {
    data: *mut u8,
    address: u64,
    bytes: usize,
}

/// Lets inline functions use a region until the queue is closed.
///
/// # Safety
/// `of` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_region(
    queue: *mut QueueHandle,
    region: *mut RegionHandle,
    of: *mut CFastRegion,
) -> c_int {
    run(|| -> Answer {
        if of.is_null() {
            return Err(Fault::new(Status::BadField, "place for the region: NULL"));
        }
        let region = handle::with(region, |region| Ok(region.clone()))?;
        let found = handle::with(queue, |queue| match queue {
            Queue::Tx(posted) => Ok(posted.queue.engine().fast_region(&region)?),
            Queue::Rx(posted) => Ok(posted.queue.engine().fast_region(&region)?),
            other => Err(other.wrong("spfe_fast_region")),
        })?;
        let spfe::FastRegion { data, address, bytes } = found;
        // SAFETY: the caller's promise.
        unsafe { write(of, CFastRegion { data, address, bytes }) }
    })
}

/// Makes packets move that an inline function has posted.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fast_start(queue: *mut QueueHandle) -> c_int {
    run(|| {
        // Only the runner or the doorbell: the state of the queue is not needed.
        handle::with(queue, |queue| match queue {
            Queue::PooledTx(pooled) => {
                pooled.engine().fast_start();
                Ok(0)
            }
            Queue::Tx(posted) => {
                posted.queue.engine().fast_start();
                Ok(0)
            }
            other => Err(other.wrong("spfe_fast_start")),
        })
    })
}

/// Lets a stalled sender use what an inline function has released or posted.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fast_pause(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::with(queue, |queue| {
            match queue {
                Queue::PooledRx(pooled) => pooled.inside().fast_pause(),
                Queue::Rx(posted) => posted.queue.inside().fast_pause(),
                Queue::Packed(packed) => packed.idle()?.fast_pause(),
                other => return Err(other.wrong("spfe_fast_pause")),
            }
            Ok(0)
        })
    })
}

/// Why a posted queue does not take an entry.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fast_refused(queue: *mut QueueHandle, bytes: u32) -> c_int {
    run(|| -> Answer {
        handle::with(queue, |queue| match queue {
            Queue::Tx(posted) => Err(posted.queue.inside().fast_refuse(bytes.into()).into()),
            Queue::Rx(posted) => Err(posted.queue.inside().fast_refuse(bytes.into()).into()),
            other => Err(other.wrong("posting")),
        })
    })
}

/// `struct spfe_fast_packet`.
#[repr(C)]
pub struct CFastPacket {
    id: u64,
    length: u32,
    end: u32,
    status: i32,
    reserved: u32,
}

/// Takes a packet whose completion is not plain.
///
/// # Safety
/// `packet` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_take(
    queue: *mut QueueHandle,
    packet: *mut CFastPacket,
) -> c_int {
    run(|| {
        let next = handle::with(queue, |inner| match inner {
            Queue::Rx(posted) if posted.queue.is_inline() => {
                // SAFETY: the structure of an open queue, which the caller is inside.
                let buffer = unsafe { (*posted.queue.fast(queue.cast())).oldest() };
                Ok(posted.queue.inside().fast_poll().map(|received| CFastPacket {
                    id: buffer.id,
                    length: received.bytes.min(buffer.capacity as u32),
                    end: args::end(received.end),
                    status: code(received.status),
                    reserved: 0,
                }))
            }
            other => Err(other.wrong("spfe_fast_take")),
        })?;
        let Some(next) = next else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(packet, next) }
    })
}

/// Takes a run whose completion is not plain.
///
/// # Safety
/// `run_out` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_take_run(queue: *mut QueueHandle, run_out: *mut CRun) -> c_int {
    run(|| {
        let next = handle::with(queue, |queue| match queue {
            Queue::Packed(packed) => {
                let mut rx = packed.idle()?;
                let next = rx.poll();
                let found = next.as_ref().map(CRun::from);
                // Its bytes are counted already; spfe_fast_run_done() returns them.
                std::mem::forget(next);
                Ok(found)
            }
            other => Err(other.wrong("spfe_fast_take_run")),
        })?;
        let Some(next) = next else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(run_out, next) }
    })
}
