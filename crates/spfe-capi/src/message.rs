//! Broadcast messages, time-codes and distributed interrupts.

use crate::args::{found, give, read_bytes};
use crate::endpoint::EndpointHandle;
use crate::handle;
use crate::queue::{CQueueOptions, Queue, QueueHandle, deadline};
use crate::result::{Fault, run};
use spfe::{MessageOptions, Status};
use std::ffi::c_int;

/// A channel or type to listen to; -1 means all.
fn filter(value: c_int, what: &str) -> Result<Option<u8>, Fault> {
    match value {
        -1 => Ok(None),
        _ => u8::try_from(value).map(Some).map_err(|_| {
            let what = format!("broadcast {what} {value}: 0 to 255, or -1 for all");
            Fault::new(Status::BadField, what)
        }),
    }
}

/// Opens the broadcast messages of a port.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `queue` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_broadcast_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    channel: c_int,
    kind: c_int,
    options: *const CQueueOptions,
    queue: *mut *mut QueueHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let options = unsafe { CQueueOptions::read(options)? };
            let default = MessageOptions::default();
            let options = MessageOptions {
                channel: filter(channel, "channel")?,
                kind: filter(kind, "type")?,
                queue: options.queue(default.queue.depth),
            };
            let open =
                |endpoint: &mut spfe::Endpoint| Ok(endpoint.port(port)?.broadcast_with(options)?);
            Queue::Broadcast(Box::new(handle::with(endpoint, open)?)).open()
        };
        // SAFETY: the caller's promise.
        unsafe { give(queue, make) }
    })
}

/// Sends a broadcast message.
///
/// # Safety
/// `data` is null or points to 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_broadcast_send(
    queue: *mut QueueHandle,
    channel: u8,
    kind: u8,
    data: *const u8,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { read_bytes(data, 8, "data of a broadcast message")? };
        let mut data = [0; 8];
        data.copy_from_slice(bytes);
        handle::with(queue, |queue| match queue {
            Queue::Broadcast(broadcast) => {
                broadcast.send(channel, kind, data)?;
                Ok(0)
            }
            other => Err(other.wrong("spfe_broadcast_send")),
        })
    })
}

/// A broadcast message, as C reads it.
#[repr(C)]
pub struct CBroadcast {
    channel: u8,
    kind: u8,
    late: u8,
    delayed: u8,
    lost_before: u8,
    reserved: [u8; 3],
    data: [u8; 8],
    time_ns: u64,
}

/// Takes a broadcast message.
///
/// # Safety
/// `message` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_broadcast_poll(
    queue: *mut QueueHandle,
    message: *mut CBroadcast,
) -> c_int {
    run(|| {
        let next = handle::with(queue, |queue| match queue {
            Queue::Broadcast(broadcast) => Ok(broadcast.poll()),
            other => Err(other.wrong("spfe_broadcast_poll")),
        })?;
        let Some(of) = next else { return Ok(0) };
        let of = CBroadcast {
            channel: of.channel,
            kind: of.kind,
            late: of.late.into(),
            delayed: of.delayed.into(),
            lost_before: of.lost_before.into(),
            reserved: [0; 3],
            data: of.data,
            time_ns: of.time_ns,
        };
        // SAFETY: the caller's promise.
        unsafe { found(message, of) }
    })
}

/// Opens the time-codes of a port.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `queue` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_time_code_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    options: *const CQueueOptions,
    queue: *mut *mut QueueHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let options = unsafe { CQueueOptions::read(options)? };
            let options = options.queue(MessageOptions::default().queue.depth);
            let open =
                |endpoint: &mut spfe::Endpoint| Ok(endpoint.port(port)?.time_code_with(options)?);
            Queue::TimeCode(Box::new(handle::with(endpoint, open)?)).open()
        };
        // SAFETY: the caller's promise.
        unsafe { give(queue, make) }
    })
}

/// Sends a time-code.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_time_code_send(queue: *mut QueueHandle, time: u8, flags: u8) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::TimeCode(codes) => {
                codes.send(time, flags)?;
                Ok(0)
            }
            other => Err(other.wrong("spfe_time_code_send")),
        })
    })
}

/// A time-code, as C reads it.
#[repr(C)]
pub struct CTimeCode {
    time: u8,
    flags: u8,
    reserved: [u8; 6],
    time_ns: u64,
}

/// Takes a time-code.
///
/// # Safety
/// `time_code` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_time_code_poll(
    queue: *mut QueueHandle,
    time_code: *mut CTimeCode,
) -> c_int {
    run(|| {
        let next = handle::with(queue, |queue| match queue {
            Queue::TimeCode(codes) => Ok(codes.poll()),
            other => Err(other.wrong("spfe_time_code_poll")),
        })?;
        let Some(of) = next else { return Ok(0) };
        let of =
            CTimeCode { time: of.time, flags: of.flags, reserved: [0; 6], time_ns: of.time_ns };
        // SAFETY: the caller's promise.
        unsafe { found(time_code, of) }
    })
}

/// Opens the distributed interrupts of a port.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `queue` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_interrupt_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    options: *const CQueueOptions,
    queue: *mut *mut QueueHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let options = unsafe { CQueueOptions::read(options)? };
            let options = options.queue(MessageOptions::default().queue.depth);
            let open = |endpoint: &mut spfe::Endpoint| {
                Ok(endpoint.port(port)?.interrupts_with(options)?)
            };
            Queue::Interrupts(Box::new(handle::with(endpoint, open)?)).open()
        };
        // SAFETY: the caller's promise.
        unsafe { give(queue, make) }
    })
}

/// Sends an interrupt, or its acknowledgement.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_interrupt_send(
    queue: *mut QueueHandle,
    number: u8,
    acknowledge: u8,
) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::Interrupts(interrupts) => {
                match acknowledge {
                    0 => interrupts.send(number)?,
                    _ => interrupts.acknowledge(number)?,
                }
                Ok(0)
            }
            other => Err(other.wrong("spfe_interrupt_send")),
        })
    })
}

/// A distributed interrupt, as C reads it.
#[repr(C)]
pub struct CInterrupt {
    number: u8,
    acknowledge: u8,
    lost_before: u8,
    reserved: [u8; 5],
    time_ns: u64,
}

/// Takes a distributed interrupt.
///
/// # Safety
/// `interrupt` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_interrupt_poll(
    queue: *mut QueueHandle,
    interrupt: *mut CInterrupt,
) -> c_int {
    run(|| {
        let next = handle::with(queue, |queue| match queue {
            Queue::Interrupts(interrupts) => Ok(interrupts.poll()),
            other => Err(other.wrong("spfe_interrupt_poll")),
        })?;
        let Some(of) = next else { return Ok(0) };
        let of = CInterrupt {
            number: of.number,
            acknowledge: of.acknowledge.into(),
            lost_before: of.lost_before.into(),
            reserved: [0; 5],
            time_ns: of.time_ns,
        };
        // SAFETY: the caller's promise.
        unsafe { found(interrupt, of) }
    })
}

/// Waits until all messages have been sent.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_messages_drain(queue: *mut QueueHandle, deadline_ns: u64) -> c_int {
    run(|| {
        handle::with(queue, |queue| {
            match queue {
                Queue::Broadcast(broadcast) => broadcast.drain(deadline(deadline_ns))?,
                Queue::TimeCode(codes) => codes.drain(deadline(deadline_ns))?,
                Queue::Interrupts(interrupts) => interrupts.drain(deadline(deadline_ns))?,
                other => return Err(other.wrong("spfe_messages_drain")),
            }
            Ok(0)
        })
    })
}
