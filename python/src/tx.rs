//! The transmit end of a virtual channel.

use crate::buffer::{Buffer, Rows};
use crate::bytes::Bytes;
use crate::endpoint::{Child, Shared};
use crate::error::{fault, raise, timed_out};
use crate::packet::end_of;
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spfe::{Buf, Deadline, End, QueueOptions, Status, Threshold};
use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::Arc;

/// Most memory of the buffers that a queue makes for longer packets than it was opened for.
const POOL_BYTES: usize = 4 << 20;

/// Sends packets on a virtual channel; `Port.tx` opens it.
///
/// Data of any kind (bytes, NumPy arrays) is copied into the queue's buffers. A `Buffer` is sent as it
/// is, without a copy, and comes back when it has been sent.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     rx = endpoint.port(1).rx()
/// ...     with endpoint.port(0).tx() as tx:
/// ...         tx.send(b"one")
/// ...         tx.send_group([b"two", b"three"])
/// ...     [bytes(rx.recv(1)) for _ in range(3)]
/// 2
/// [b'one', b'two', b'three']
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Tx {
    core: Arc<TxCore>,
}

pub struct TxCore {
    seat: Seat<Inner>,
    shared: Arc<Shared>,
}

/// Who gets a buffer that was sent.
enum Owner {
    Pool,
    Rows(Arc<Rows>),
}

struct Inner {
    tx: spfe::Tx,
    /// Owners of the posted buffers, in the order of posting, each with a number of buffers.
    owners: VecDeque<(Owner, usize)>,
    /// Buffers on their way back.
    back: Vec<Buf>,
    pool: Vec<Buf>,
    /// Size of the pool's buffers.
    slot: usize,
    /// The first packet that was not sent since the last call that said so.
    failed: Option<Status>,
}

impl Inner {
    /// Takes what has been sent.
    fn collect(&mut self) {
        while let Some(sent) = self.tx.poll() {
            if sent.status != Status::Ok {
                self.failed.get_or_insert(sent.status);
            }
        }
        while let Some((_, missing)) = self.owners.front() {
            let tx = &mut self.tx;
            self.back.extend(std::iter::from_fn(|| tx.take()).take(*missing));
            if !self.came_back() {
                break;
            }
        }
    }

    /// Gives the buffers in `back` to the first owner. True if it has all of its own.
    fn came_back(&mut self) -> bool {
        let Some((owner, missing)) = self.owners.front_mut() else { return false };
        *missing -= self.back.len();
        let has_all = *missing == 0;
        match owner {
            Owner::Rows(rows) => rows.give(self.back.drain(..)),
            // Smaller buffers are those of an earlier pool.
            Owner::Pool => {
                self.pool.extend(self.back.drain(..).filter(|buf| buf.capacity() == self.slot));
            }
        }
        if has_all {
            self.owners.pop_front();
        }
        has_all
    }

    /// Buffers of an owner have been posted.
    fn posted(&mut self, owner: Owner, count: usize) {
        if count != 0 {
            self.owners.push_back((owner, count));
        }
    }

    fn outstanding(&self) -> usize {
        self.owners.iter().map(|(_, count)| count).sum()
    }

    /// Reports a packet that was not sent.
    fn check(&mut self) -> PyResult<()> {
        match self.failed.take() {
            Some(status) => Err(fault(status, format!("a packet was not sent: {}", status.doc()))),
            None => Ok(()),
        }
    }

    /// Makes larger buffers for packets of so many bytes.
    fn grow(&mut self, shared: &Shared, bytes: usize) -> PyResult<()> {
        if bytes <= self.slot {
            return Ok(());
        }
        let slot = bytes.checked_next_power_of_two().unwrap_or(bytes);
        let count = (POOL_BYTES / slot).clamp(2, 64);
        let cut = || shared.endpoint()?.alloc(slot * count)?.split(slot, count);
        self.pool = cut().map_err(raise)?;
        self.slot = slot;
        Ok(())
    }
}

/// A group of packets in the memory of Python.
enum Group {
    Rows(Bytes, usize, usize),
    List(Vec<Bytes>),
}

impl Group {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = Bytes::of(object) {
            let (rows, length) = bytes.rows()?;
            return Ok(Self::Rows(bytes, rows, length));
        }
        let parts: PyResult<_> = object.try_iter()?.map(|part| Bytes::of(&part?)).collect();
        Ok(Self::List(parts?))
    }

    fn count(&self) -> usize {
        match self {
            Self::Rows(_, rows, _) => *rows,
            Self::List(parts) => parts.len(),
        }
    }

    fn length(&self, index: usize) -> usize {
        match self {
            Self::Rows(_, _, length) => *length,
            Self::List(parts) => parts.get(index).map_or(0, Bytes::len),
        }
    }

    fn longest(&self) -> PyResult<usize> {
        for index in 0..self.count() {
            if self.length(index) == 0 {
                let what = format!("packet {index} of 0 bytes: at least 1");
                return Err(fault(Status::Empty, what));
            }
        }
        Ok((0..self.count()).map(|index| self.length(index)).max().unwrap_or(0))
    }

    fn copy_to(&self, py: Python<'_>, index: usize, to: &mut [u8]) {
        match self {
            Self::Rows(bytes, _, length) => bytes.copy_to(py, index * length, to),
            Self::List(parts) => {
                if let Some(part) = parts.get(index) {
                    part.copy_to(py, 0, to);
                }
            }
        }
    }
}

/// Where the packets of a burst lie: length and distance in bytes, and their number.
#[derive(Clone, Copy)]
struct Burst {
    length: u32,
    stride: u32,
    count: u32,
}

impl Burst {
    fn of(
        bytes: usize,
        length: usize,
        stride: Option<usize>,
        count: Option<usize>,
    ) -> PyResult<Self> {
        let stride = stride.unwrap_or(length);
        let count = count.unwrap_or_else(|| {
            let behind = bytes.saturating_sub(length).checked_div(stride);
            behind.map_or(1, |behind| behind + 1)
        });
        let number = |name: &str, value: usize| {
            let what = || format!("burst: {name} of {value}: less than 4 Gi");
            u32::try_from(value).map_err(|_| fault(Status::TooLong, what()))
        };
        let (length, stride) = (number("length", length)?, number("stride", stride)?);
        Ok(Self { length, stride, count: number("count", count)? })
    }
}

impl TxCore {
    pub fn open(
        shared: &Arc<Shared>,
        vc: &spfe::Vc,
        options: QueueOptions,
        buffers: usize,
        bytes: usize,
    ) -> PyResult<Arc<Self>> {
        let mut tx = vc.tx_with(options).map_err(raise)?;
        let cut = || shared.endpoint()?.alloc((buffers * bytes).max(1))?.split(bytes, buffers);
        let pool = cut().map_err(raise)?;
        let canceller = tx.canceller();
        let owners = VecDeque::new();
        let inner = Inner { tx, owners, back: Vec::new(), pool, slot: bytes, failed: None };
        let seat = Seat::new("transmit queue", inner, Some(canceller));
        let core = Arc::new(Self { seat, shared: shared.clone() });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(core)
    }

    /// Waits until `ready` has a result. It is asked after each completion.
    fn wait_for<R>(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        until: Until,
        mut ready: impl FnMut(&mut Inner) -> Option<R>,
    ) -> PyResult<R> {
        loop {
            inner.collect();
            if let Some(result) = ready(inner) {
                return Ok(result);
            }
            let endpoint = self.shared.endpoint().map_err(raise)?;
            let tx = &mut inner.tx;
            until.wait(py, endpoint, |at| tx.wait(at), |error| self.seat.ended(error))?;
        }
    }

    fn send(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        end: End,
        until: Until,
    ) -> PyResult<()> {
        let data = Bytes::of(data)?;
        if data.len() == 0 {
            return Err(fault(Status::Empty, "packet of 0 bytes: at least 1"));
        }
        self.seat.with(py, until, |inner| {
            inner.collect();
            inner.check()?;
            inner.grow(&self.shared, data.len())?;
            let mut buf = self.wait_for(py, inner, until, |inner| {
                if inner.tx.free() == 0 { None } else { inner.pool.pop() }
            })?;
            buf.set_len(data.len());
            data.copy_to(py, 0, &mut buf);
            post(py, inner, buf, Owner::Pool, end);
            Ok(())
        })
    }

    fn send_buffer(
        &self,
        py: Python<'_>,
        buffer: &Buffer,
        length: Option<usize>,
        end: End,
        until: Until,
    ) -> PyResult<usize> {
        self.seat.with(py, until, |inner| {
            inner.collect();
            inner.check()?;
            let mut bufs = buffer.rows.take(length)?;
            let count = bufs.len();
            while !bufs.is_empty() {
                match self.wait_for(py, inner, until, |inner| (inner.tx.free() != 0).then_some(()))
                {
                    Ok(()) => {}
                    Err(error) => {
                        let sent = count - bufs.len();
                        buffer.rows.give(bufs);
                        return if sent == 0 { Err(error) } else { Ok(sent) };
                    }
                }
                if count == 1 {
                    if let Some(buf) = bufs.pop() {
                        post(py, inner, buf, Owner::Rows(buffer.rows.clone()), end);
                    }
                    continue;
                }
                let posted = py.detach(|| inner.tx.send_group(&mut bufs));
                inner.posted(Owner::Rows(buffer.rows.clone()), posted);
            }
            Ok(count)
        })
    }

    fn send_group(&self, py: Python<'_>, group: &Group, until: Until) -> PyResult<usize> {
        let longest = group.longest()?;
        self.seat.with(py, until, |inner| {
            inner.collect();
            inner.check()?;
            inner.grow(&self.shared, longest)?;
            let mut sent = 0;
            while sent < group.count() {
                let room = self.wait_for(py, inner, until, |inner| {
                    let room = inner.pool.len().min(inner.tx.free() as usize);
                    (room != 0).then_some(room)
                });
                let room = match room {
                    Ok(room) => room.min(group.count() - sent),
                    Err(error) if sent == 0 => return Err(error),
                    Err(_) => return Ok(sent),
                };
                let at = inner.pool.len() - room;
                let mut bufs = inner.pool.split_off(at);
                for (index, buf) in bufs.iter_mut().enumerate() {
                    buf.set_len(group.length(sent + index));
                    group.copy_to(py, sent + index, buf);
                }
                let posted = py.detach(|| inner.tx.send_group(&mut bufs));
                inner.posted(Owner::Pool, posted);
                inner.pool.append(&mut bufs);
                sent += posted;
            }
            Ok(sent)
        })
    }

    /// Sends a burst; `fill` gives the buffer, once there is room for it.
    fn send_burst(
        &self,
        py: Python<'_>,
        burst: Burst,
        until: Until,
        fill: impl FnOnce(&mut Inner) -> PyResult<(Buf, Owner)>,
    ) -> PyResult<u32> {
        self.seat.with(py, until, |inner| {
            inner.collect();
            inner.check()?;
            // A burst takes two entries.
            self.wait_for(py, inner, until, |inner| {
                (inner.tx.free() >= 2 && !inner.pool.is_empty()).then_some(())
            })?;
            let (buf, owner) = fill(inner)?;
            let (tx, Burst { length, stride, count }) = (&mut inner.tx, burst);
            match py.detach(|| tx.send_burst(buf, length, stride, count)) {
                Ok(()) => inner.posted(owner, 1),
                Err(refused) => {
                    match owner {
                        Owner::Pool => inner.pool.push(refused.back),
                        Owner::Rows(rows) => rows.give([refused.back]),
                    }
                    return Err(raise(refused.error));
                }
            }
            Ok(count)
        })
    }

    fn drain(&self, py: Python<'_>, until: Until) -> PyResult<()> {
        self.seat.with(py, until, |inner| {
            self.wait_for(py, inner, until, |inner| inner.owners.is_empty().then_some(()))?;
            inner.check()
        })
    }

    /// Waits until everything has been sent, at most for `linger` seconds, and closes the queue.
    fn close(&self, py: Python<'_>, linger: f64) -> PyResult<()> {
        let endpoint = self.shared.endpoint().map_err(raise)?;
        let until = Until::of(endpoint, Some(Timeout::After(linger)))?;
        let mut late = Ok(());
        let taken = self.seat.close(py, |inner| {
            late = self.linger(py, inner, until);
            Ok(())
        })?;
        py.detach(|| drop(taken));
        late
    }

    fn linger(&self, py: Python<'_>, inner: &mut Inner, until: Until) -> PyResult<()> {
        let endpoint = self.shared.endpoint().map_err(raise)?;
        loop {
            inner.collect();
            if inner.owners.is_empty() {
                return inner.check();
            }
            let tx = &mut inner.tx;
            // Whoever closes may have cancelled a wait that had ended by itself.
            let wait = |at: Deadline| match tx.wait(at) {
                Err(error) if error.is_cancelled() => Ok(()),
                result => result.map(drop),
            };
            if let Err(error) = until.wait(py, endpoint, wait, raise) {
                let count = inner.outstanding();
                let what = format!(
                    "transmit queue: closed before {count} packets were sent: {}",
                    error.value(py)
                );
                return Err(timed_out(what));
            }
        }
    }
}

impl Drop for Inner {
    /// Buffers of the program go back to it.
    fn drop(&mut self) {
        self.collect();
        if self.owners.is_empty() {
            return;
        }
        if let Ok(returned) = self.tx.cancel() {
            for returned in returned {
                self.back.push(returned.buf);
                self.came_back();
            }
        }
        for (owner, _) in self.owners.drain(..) {
            if let Owner::Rows(rows) = owner {
                rows.lose();
            }
        }
    }
}

/// The interface of a queue's owner.
impl Child for TxCore {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        if self.seat.is_closed() { Ok(()) } else { self.close(py, 1.0) }
    }
}

fn post(py: Python<'_>, inner: &mut Inner, buf: Buf, owner: Owner, end: End) {
    let tx = &mut inner.tx;
    // There is room: the caller has waited for it.
    if py.detach(|| tx.send_ending(buf, end)).is_ok() {
        inner.posted(owner, 1);
    }
}

#[pymethods]
impl Tx {
    /// Sends a packet: any data with the buffer protocol, which is copied, or a `Buffer`, which is not.
    ///
    /// Waits while the queue is full. `end` is "eop", "eep" (tells the receiver that the packet is
    /// incomplete) or "more" (the next call continues the packet). `length` is the number of bytes of
    /// each row of a `Buffer`; all by default. A packet that could not be sent is reported by the
    /// next call of `send`, `send_group` or `drain`.
    #[pyo3(signature = (data, *, end="eop", length=None, timeout=None))]
    fn send(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        end: &str,
        length: Option<usize>,
        timeout: Option<Timeout>,
    ) -> PyResult<()> {
        let end = end_of(end)?;
        let until = Until::of(self.core.shared.endpoint().map_err(raise)?, timeout)?;
        if let Ok(buffer) = data.cast::<Buffer>() {
            let buffer = buffer.get();
            if buffer.rows.count() != 1 {
                let what = format!("buffer of {} rows: use send_group", buffer.rows.count());
                return Err(fault(Status::BadField, what));
            }
            return self.core.send_buffer(py, buffer, length, end, until).map(drop);
        }
        if length.is_some() {
            let what = "length: only for a Buffer; pass memoryview(data)[:length]";
            return Err(fault(Status::BadField, what));
        }
        self.core.send(py, data, end, until)
    }

    /// Sends packets as groups: one doorbell, one completion. Takes the rows of a `Buffer` without a
    /// copy, the rows of an array with two dimensions, or a list of data. Returns how many were taken:
    /// fewer than asked if the time is over.
    #[pyo3(signature = (packets, *, length=None, timeout=None))]
    fn send_group(
        &self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        length: Option<usize>,
        timeout: Option<Timeout>,
    ) -> PyResult<usize> {
        let until = Until::of(self.core.shared.endpoint().map_err(raise)?, timeout)?;
        if let Ok(buffer) = packets.cast::<Buffer>() {
            return self.core.send_buffer(py, buffer.get(), length, End::Eop, until);
        }
        self.core.send_group(py, &Group::of(packets)?, until)
    }

    /// Sends many packets of `length` bytes with a single entry of the queue: the parts of data that
    /// is copied, or of a `Buffer` of one row, which is not. They lie `stride` bytes apart (`length`;
    /// 0 repeats the first); there are `count` (all that fit), at most 65535. An array with two
    /// dimensions needs no `length`: its rows are the packets. Returns their number.
    #[pyo3(signature = (packets, length=None, *, stride=None, count=None, timeout=None))]
    fn send_burst(
        &self,
        py: Python<'_>,
        packets: &Bound<'_, PyAny>,
        length: Option<usize>,
        stride: Option<usize>,
        count: Option<usize>,
        timeout: Option<Timeout>,
    ) -> PyResult<u32> {
        let until = Until::of(self.core.shared.endpoint().map_err(raise)?, timeout)?;
        if let Ok(buffer) = packets.cast::<Buffer>() {
            let rows = &buffer.get().rows;
            if rows.count() != 1 {
                let what = format!("buffer of {} rows: a burst takes one row", rows.count());
                return Err(fault(Status::BadField, what));
            }
            let bytes = buffer.len()?;
            let burst = Burst::of(bytes, length.unwrap_or(bytes), stride, count)?;
            return self.core.send_burst(py, burst, until, |_| {
                let buf = rows.take(None)?.pop();
                let what = "buffer: it is released";
                let buf = buf.ok_or_else(|| fault(Status::BadField, what))?;
                Ok((buf, Owner::Rows(rows.clone())))
            });
        }
        let data = Bytes::of(packets)?;
        let length = length.map_or_else(|| data.rows().map(|(_, length)| length), Ok)?;
        let burst = Burst::of(data.len(), length, stride, count)?;
        self.core.send_burst(py, burst, until, |inner| {
            inner.grow(&self.core.shared, data.len())?;
            let buf = inner.pool.pop();
            let mut buf = buf.ok_or_else(|| fault(Status::Busy, "transmit queue: no buffer"))?;
            buf.set_len(data.len());
            data.copy_to(py, 0, &mut buf);
            Ok((buf, Owner::Pool))
        })
    }

    /// Waits until everything has been sent; buffers are then the program's again.
    #[pyo3(signature = (timeout=None))]
    fn drain(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        let until = Until::of(self.core.shared.endpoint().map_err(raise)?, timeout)?;
        self.core.drain(py, until)
    }

    /// Number of packets that have not been sent yet; a burst counts as one.
    #[getter]
    fn outstanding(&self, py: Python<'_>) -> PyResult<usize> {
        self.core.seat.with(py, Until::never(), |inner| {
            inner.collect();
            Ok(inner.outstanding())
        })
    }

    /// The descriptor for poll and epoll, for a queue opened with event=True.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.core
            .seat
            .with(py, Until::never(), |inner| Ok(inner.tx.fd().map_err(raise)?.as_raw_fd()))
    }

    /// Makes the descriptor readable at the next completion. True if there is one already.
    fn request_event(&self, py: Python<'_>) -> PyResult<bool> {
        self.core.seat.with(py, Until::never(), |inner| {
            inner.collect();
            let tx = &mut inner.tx;
            py.detach(|| tx.request_event(&Threshold::ONE)).map_err(raise)
        })
    }

    /// Sends a packet from an asyncio task; the queue needs event=True.
    #[pyo3(signature = (data, *, end="eop"))]
    fn asend<'py>(
        slf: &Bound<'py, Self>,
        data: &Bound<'py, PyAny>,
        end: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spfe._aio")?.getattr("send")?.call1((slf, data, end))
    }

    /// As drain, from an asyncio task; the queue needs event=True.
    fn adrain<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spfe._aio")?.getattr("drain")?.call1((slf,))
    }

    /// Ends the wait of another thread in this queue, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Waits until everything has been sent, at most `linger` seconds, and closes the queue. Raises
    /// TimedOut if packets were left; the queue is closed all the same.
    #[pyo3(signature = (linger=1.0))]
    fn close(&self, py: Python<'_>, linger: f64) -> PyResult<()> {
        self.core.close(py, linger)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let failed = exception.get_item(0).is_ok_and(|class| !class.is_none());
        self.core.close(py, if failed { 0.0 } else { 1.0 })
    }
}

impl Tx {
    pub fn new(core: Arc<TxCore>) -> Self {
        Self { core }
    }
}
