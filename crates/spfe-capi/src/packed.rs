//! Packed receive queues.

use crate::args::found;
use crate::handle;
use crate::queue::{Queue, QueueHandle};
use crate::result::run;
use spfe::Run;
use std::ffi::c_int;

/// A run, as C reads it.
#[repr(C)]
pub struct CRun {
    data: *const u8,
    bytes: u32,
    packets: u32,
    stamped: u32,
    reserved: u32,
    time_ns: u64,
}

impl From<&Run<'_>> for CRun {
    fn from(run: &Run<'_>) -> Self {
        Self {
            data: run.as_bytes().as_ptr(),
            bytes: run.as_bytes().len() as u32,
            packets: run.packets,
            stamped: run.time_ns.is_some().into(),
            reserved: 0,
            time_ns: run.time_ns.unwrap_or(0),
        }
    }
}

/// Takes a run.
///
/// # Safety
/// `run` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_run_poll(queue: *mut QueueHandle, run_out: *mut CRun) -> c_int {
    run(|| {
        let next = handle::with(queue, |queue| match queue {
            Queue::Packed(packed) => Ok(packed.poll()?.map(CRun::from)),
            other => Err(other.wrong("spfe_run_poll")),
        })?;
        let Some(next) = next else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(run_out, next) }
    })
}

/// Returns a run.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_run_release(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::Packed(packed) => {
                packed.run = None;
                Ok(0)
            }
            other => Err(other.wrong("spfe_run_release")),
        })
    })
}
