//! The functions of `include/spfe/fast.h`: its inline functions need these four calls.

use crate::args::write;
use crate::fast::{CFastRx, CFastTx, VERSION};
use crate::handle;
use crate::queue::{Queue, QueueHandle};
use crate::result::{Answer, Fault, run};
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

/// The fast path of a pooled transmit queue.
///
/// # Safety
/// `fast` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_fast_tx(
    queue: *mut QueueHandle,
    version: u32,
    fast: *mut *mut CFastTx,
) -> c_int {
    run(|| -> Answer {
        check(version)?;
        let made = handle::with(queue, |inner| match inner {
            Queue::PooledTx(pooled) => Ok(pooled.fast(queue.cast())),
            other => Err(other.wrong("spfe_fast_tx")),
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(fast, made) }
    })
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
    run(|| -> Answer {
        check(version)?;
        let made = handle::with(queue, |inner| match inner {
            Queue::PooledRx(pooled) => Ok(pooled.fast(queue.cast())),
            other => Err(other.wrong("spfe_fast_rx")),
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(fast, made) }
    })
}

/// Makes packets move that an inline function has posted.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fast_start(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::PooledTx(pooled) => {
                // Only the runner or the doorbell: the state of the queue is not needed.
                pooled.engine().fast_start();
                Ok(0)
            }
            other => Err(other.wrong("spfe_fast_start")),
        })
    })
}

/// Lets a stalled sender use slots that an inline function has released.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_fast_pause(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::PooledRx(pooled) => {
                pooled.inside().fast_pause();
                Ok(0)
            }
            other => Err(other.wrong("spfe_fast_pause")),
        })
    })
}
