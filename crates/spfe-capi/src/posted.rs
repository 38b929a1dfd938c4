//! Queues with posted buffers.

use crate::args::{self, found, read_bytes};
use crate::handle;
use crate::hold::Posted;
use crate::queue::{Queue, QueueHandle};
use crate::region::{self, BufHandle};
use crate::result::{Answer, Fault, code, run};
use spfe::{Buf, End, Error, Full, Refused, Rx, Sent, Status, Tx};
use std::collections::VecDeque;
use std::ffi::c_int;

fn with_tx<R>(
    queue: *mut QueueHandle,
    call: &str,
    body: impl FnOnce(&mut Posted<Tx>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |queue| match queue {
        Queue::Tx(posted) => body(posted),
        other => Err(other.wrong(call)),
    })
}

fn with_rx<R>(
    queue: *mut QueueHandle,
    call: &str,
    body: impl FnOnce(&mut Posted<Rx>) -> Result<R, Fault>,
) -> Result<R, Fault> {
    handle::with(queue, |queue| match queue {
        Queue::Rx(posted) if posted.queue.is_inline() => {
            let what = format!("{call}: receive queue with inline functions: spfe_fast_post");
            Err(Fault::new(Status::BadOpcode, what))
        }
        Queue::Rx(posted) => body(posted),
        other => Err(other.wrong(call)),
    })
}

/// Posts one buffer. If the queue refuses it, the program has it again.
fn post_one(
    posted: &mut VecDeque<*mut BufHandle>,
    buf: *mut BufHandle,
    sends: bool,
    post: impl FnOnce(Buf) -> Result<(), (Buf, Error)>,
) -> Answer {
    let inner = region::take_out(buf, sends)?;
    match post(inner) {
        Ok(()) => {
            posted.push_back(buf);
            Ok(0)
        }
        Err((inner, error)) => {
            region::put_in(buf, inner);
            Err(error.into())
        }
    }
}

fn full(Full(buf): Full<Buf>) -> (Buf, Error) {
    (buf, Error::device(Status::Busy, "the queue is full: take completions first"))
}

fn refused(Refused { back, error }: Refused<Buf>) -> (Buf, Error) {
    (back, error)
}

/// Sends a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_send(queue: *mut QueueHandle, buf: *mut BufHandle, end: c_int) -> c_int {
    run(|| {
        let end = match end {
            0 => End::Eop,
            1 => End::Eep,
            2 => End::More,
            _ => {
                let what = format!("end {end} of a packet: 0 (EOP), 1 (EEP) or 2 (no end)");
                return Err(Fault::new(Status::BadField, what));
            }
        };
        with_tx(queue, "spfe_send", |tx| {
            let Posted { queue, posted, .. } = tx;
            post_one(posted, buf, true, |buf| queue.inside().send_ending(buf, end).map_err(full))
        })
    })
}

/// Handles that C passes as an array.
///
/// # Safety
/// `bufs` is null or points to `count` pointers.
unsafe fn handles<'a>(
    bufs: *const *mut BufHandle,
    count: u32,
) -> Result<&'a [*mut BufHandle], Fault> {
    match (bufs.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Fault::new(Status::BadField, format!("array of {count} buffers: NULL"))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(bufs, count as usize) }),
    }
}

/// Sends a group.
///
/// # Safety
/// `bufs` is null or points to `count` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_send_group(
    queue: *mut QueueHandle,
    bufs: *const *mut BufHandle,
    count: u32,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let handles = unsafe { handles(bufs, count)? };
        with_tx(queue, "spfe_send_group", |tx| {
            let free = tx.queue.inside().free() as usize;
            let handles = handles.get(..handles.len().min(free)).unwrap_or_default();
            tx.gather(handles)?;
            let sent = tx.queue.inside().send_group(&mut tx.group);
            let (posted, rest) = handles.split_at(sent.min(handles.len()));
            tx.posted.extend(posted);
            tx.group.drain(..).zip(rest).for_each(|(buf, to)| region::put_in(*to, buf));
            Ok(sent as c_int)
        })
    })
}

/// Sends a packet with a path address.
///
/// # Safety
/// `path` is null or points to `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_send_with_path(
    queue: *mut QueueHandle,
    path: *const u8,
    bytes: u32,
    buf: *mut BufHandle,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let path = unsafe { read_bytes(path, bytes as usize, "path address")? };
        with_tx(queue, "spfe_send_with_path", |tx| {
            let Posted { queue, posted, .. } = tx;
            post_one(posted, buf, true, |buf| {
                let mut queue = queue.inside();
                let mut batch = queue.batch();
                batch.push_with_path(path, buf).map_err(refused)?;
                batch.submit();
                Ok(())
            })
        })
    })
}

/// Sends a gathered packet.
///
/// # Safety
/// `parts` is null or points to `count` pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_send_gather(
    queue: *mut QueueHandle,
    parts: *const *mut BufHandle,
    count: u32,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let handles = unsafe { handles(parts, count)? };
        with_tx(queue, "spfe_send_gather", |tx| {
            tx.gather(handles)?;
            let parts = std::mem::take(&mut tx.group);
            let mut queue = tx.queue.inside();
            let mut batch = queue.batch();
            match batch.push_gather(parts) {
                Ok(()) => {
                    batch.submit();
                    tx.posted.extend(handles);
                    Ok(0)
                }
                Err(Refused { back, error }) => {
                    back.into_iter().zip(handles).for_each(|(buf, to)| region::put_in(*to, buf));
                    Err(error.into())
                }
            }
        })
    })
}

/// Sends a burst.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_send_burst(
    queue: *mut QueueHandle,
    buf: *mut BufHandle,
    length: u32,
    stride: u32,
    count: u32,
) -> c_int {
    run(|| {
        with_tx(queue, "spfe_send_burst", |tx| {
            let Posted { queue, posted, .. } = tx;
            post_one(posted, buf, true, |buf| {
                queue.inside().send_burst(buf, length, stride, count).map_err(refused)
            })
        })
    })
}

/// A completion, as C reads it.
#[repr(C)]
pub struct CSent {
    status: i32,
    packets: u32,
    bytes: u32,
    stamped: u32,
    time_ns: u64,
}

impl From<Sent> for CSent {
    fn from(of: Sent) -> Self {
        Self {
            status: code(of.status),
            packets: of.packets,
            bytes: of.bytes,
            stamped: of.time_ns.is_some().into(),
            time_ns: of.time_ns.unwrap_or(0),
        }
    }
}

/// Takes a completion of a transmit queue.
///
/// # Safety
/// `sent` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_sent_poll(queue: *mut QueueHandle, sent: *mut CSent) -> c_int {
    run(|| {
        if sent.is_null() {
            return Err(Fault::new(Status::BadField, "place for the completion: NULL"));
        }
        let done = handle::with(queue, |queue| match queue {
            Queue::Tx(tx) => {
                let done = tx.queue.inside().poll();
                while let Some(buf) = tx.queue.engine().take() {
                    let handle = tx.came_back(buf);
                    tx.keep(handle);
                }
                Ok(done)
            }
            Queue::PooledTx(tx) => Ok(tx.inside().poll()),
            other => Err(other.wrong("spfe_sent_poll")),
        })?;
        let Some(done) = done else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(sent, done.into()) }
    })
}

/// Returns a buffer that came back.
///
/// # Safety
/// `buf` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_buf_take(queue: *mut QueueHandle, buf: *mut *mut BufHandle) -> c_int {
    run(|| {
        if buf.is_null() {
            return Err(Fault::new(Status::BadField, "place for the buffer: NULL"));
        }
        let back = handle::with(queue, |queue| match queue {
            Queue::Tx(tx) => Ok(tx.back.pop_front()),
            Queue::Rx(rx) => Ok(rx.back.pop_front()),
            other => Err(other.wrong("spfe_buf_take")),
        })?;
        let Some(back) = back else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(buf, back) }
    })
}

/// Posts a buffer to receive into.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rx_post(queue: *mut QueueHandle, buf: *mut BufHandle) -> c_int {
    run(|| {
        with_rx(queue, "spfe_rx_post", |rx| {
            let Posted { queue, posted, .. } = rx;
            post_one(posted, buf, false, |buf| queue.inside().post(buf).map_err(full))
        })
    })
}

/// A received packet, as C reads it.
#[repr(C)]
pub struct CReceived {
    buf: *mut BufHandle,
    status: i32,
    end: u32,
    stamped: u32,
    reserved: u32,
    time_ns: u64,
}

/// Takes a received packet.
///
/// # Safety
/// `received` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rx_poll(queue: *mut QueueHandle, received: *mut CReceived) -> c_int {
    run(|| {
        if received.is_null() {
            return Err(Fault::new(Status::BadField, "place for the packet: NULL"));
        }
        let packet = with_rx(queue, "spfe_rx_poll", |rx| {
            let packet = rx.queue.inside().poll();
            Ok(packet.map(|packet| CReceived {
                buf: rx.came_back(packet.buf),
                status: code(packet.status),
                end: args::end(packet.end),
                stamped: packet.time_ns.is_some().into(),
                reserved: 0,
                time_ns: packet.time_ns.unwrap_or(0),
            }))
        })?;
        let Some(packet) = packet else { return Ok(0) };
        // SAFETY: the caller's promise.
        unsafe { found(received, packet) }
    })
}

/// Takes back all posted buffers.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_queue_take_back(queue: *mut QueueHandle) -> c_int {
    run(|| {
        handle::with(queue, |queue| match queue {
            Queue::Tx(posted) => posted.take_back(),
            Queue::Rx(posted) => posted.take_back(),
            other => Err(other.wrong("spfe_queue_take_back")),
        })
    })
}
