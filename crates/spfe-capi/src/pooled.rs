//! Pooled queues: slots that are filled and read in place.

use crate::args::{end, found};
use crate::handle;
use crate::queue::{Queue, QueueHandle};
use crate::result::{Fault, code, run};
use spfe::{PooledRx, PooledTx};
use std::ffi::c_int;

fn with_tx<R>(
    queue: *mut QueueHandle,
    call: &str,
    body: impl FnOnce(&mut PooledTx) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |queue| match queue {
        Queue::PooledTx(tx) => body(&mut tx.inside()),
        other => Err(other.wrong(call)),
    })
}

fn with_rx<R>(
    queue: *mut QueueHandle,
    call: &str,
    body: impl FnOnce(&mut PooledRx) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |queue| match queue {
        Queue::PooledRx(rx) => body(&mut rx.inside()),
        other => Err(other.wrong(call)),
    })
}

/// The next free slot.
///
/// # Safety
/// `data` and `capacity` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_slot(
    queue: *mut QueueHandle,
    data: *mut *mut u8,
    capacity: *mut u32,
) -> c_int {
    run(|| {
        let slot = with_tx(queue, "spfe_slot", |tx| {
            Ok(tx.slot().map(|slot| (slot.as_mut_ptr(), slot.len() as u32)))
        })?;
        let Some((at, bytes)) = slot else { return Ok(0) };
        // SAFETY: the caller's promise. The size of a slot may be left out.
        unsafe {
            if !capacity.is_null() {
                capacity.write(bytes);
            }
            found(data, at)
        }
    })
}

/// Adds a slot to the group.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_slot_stage(queue: *mut QueueHandle, length: u32) -> c_int {
    run(|| {
        with_tx(queue, "spfe_slot_stage", |tx| {
            tx.stage(length as usize)?;
            Ok(0)
        })
    })
}

/// Sends the group.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_slot_submit(queue: *mut QueueHandle) -> c_int {
    run(|| {
        with_tx(queue, "spfe_slot_submit", |tx| {
            tx.submit();
            Ok(0)
        })
    })
}

/// Sends a slot.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_slot_send(queue: *mut QueueHandle, length: u32) -> c_int {
    run(|| {
        with_tx(queue, "spfe_slot_send", |tx| {
            tx.send(length as usize)?;
            Ok(0)
        })
    })
}

/// A packet in its slot, as C reads it.
#[repr(C)]
pub struct CPacket {
    data: *const u8,
    length: u32,
    end: u32,
    status: i32,
    reserved: u32,
}

/// The next packet.
///
/// # Safety
/// `packet` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_slot_peek(queue: *mut QueueHandle, packet: *mut CPacket) -> c_int {
    run(|| {
        let next = with_rx(queue, "spfe_slot_peek", |rx| {
            Ok(rx.peek().map(|packet| CPacket {
                data: packet.bytes.as_ptr(),
                length: packet.bytes.len() as u32,
                end: end(packet.end),
                status: code(packet.status),
                reserved: 0,
            }))
        })?;
        let Some(next) = next else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(packet, next) }
    })
}

/// Returns a slot.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_slot_release(queue: *mut QueueHandle) -> c_int {
    run(|| {
        with_rx(queue, "spfe_slot_release", |rx| {
            rx.release();
            Ok(0)
        })
    })
}
