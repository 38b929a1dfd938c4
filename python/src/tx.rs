//! The transmit end of a virtual channel.

mod group;
mod queue;

use crate::buffer::Buffer;
use crate::bytes::Bytes;
use crate::error::{fault, raise};
use crate::packet::end_of;
use crate::time::{Timeout, Until};
use group::{Burst, Group};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use queue::Owner;
pub use queue::TxCore;
use spfe::{End, Status, Threshold};
use std::os::fd::AsRawFd;
use std::sync::Arc;

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
