//! The receive end of a virtual channel.

use crate::buffer::{Buffer, Rows};
use crate::endpoint::{Child, Shared};
use crate::error::{fault, raise};
use crate::packet::{Home, Packet};
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use crate::view::Views;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spfe::{Buf, QueueOptions, Received, Status, Threshold};
use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

/// Receives packets of a virtual channel; `Port.rx` opens it.
///
/// With buffers of its own (the default) `recv` returns packets that lie in them. Opened with
/// `buffers=0`, it fills the rows of `Buffer`s that `post` gives it, and `recv_group` returns them. A
/// packet longer than a buffer or row continues in the next one. Without a buffer the sender waits; no
/// packet is lost.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
/// ...         tx.send(b"from here to there")
/// ...         with rx.recv(timeout=1) as packet:
/// ...             bytes(packet)
/// b'from here to there'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Rx {
    core: Arc<RxCore>,
}

pub struct RxCore {
    seat: Seat<Inner>,
    shared: Arc<Shared>,
    home: Arc<Home>,
    /// Number of buffers of its own.
    buffers: usize,
}

struct Inner {
    rx: spfe::Rx,
    /// Buffers of its own that are neither posted nor in a packet.
    spare: Vec<Buf>,
    /// The program's buffers that are posted, in order, with the number of rows that are not filled.
    posted: VecDeque<(Arc<Rows>, usize)>,
    /// Number of the program's buffers that are full.
    full: usize,
    /// Rows on their way back.
    back: Vec<Buf>,
    /// The Python objects of posted and full buffers, in order.
    objects: VecDeque<Py<Buffer>>,
}

impl Inner {
    /// Posts the buffers of packets that were released.
    fn repost(&mut self, home: &Home) {
        let mut back = home.take();
        if self.spare.is_empty() {
            self.spare = back;
        } else {
            self.spare.append(&mut back);
        }
        if !self.spare.is_empty() {
            self.rx.post_all(&mut self.spare);
        }
    }

    /// Takes what has been received into the program's rows.
    fn fill(&mut self) {
        while let Some((_, missing)) = self.posted.front() {
            let rx = &mut self.rx;
            let received = std::iter::from_fn(|| Some(rx.poll()?.buf));
            self.back.extend(received.take(*missing));
            if !self.filled() {
                break;
            }
        }
    }

    /// Gives the rows in `back` to the first buffer, which has room for them. True if it is full.
    fn filled(&mut self) -> bool {
        let Some((rows, missing)) = self.posted.front_mut() else { return false };
        *missing -= self.back.len();
        rows.give(self.back.drain(..));
        let is_full = *missing == 0;
        if is_full {
            self.posted.pop_front();
            self.full += 1;
        }
        is_full
    }
}

impl Drop for Inner {
    /// Buffers of the program go back to it.
    fn drop(&mut self) {
        self.fill();
        if self.posted.is_empty() {
            return;
        }
        if let Ok(returned) = self.rx.cancel() {
            for mut returned in returned {
                if returned.status == Status::Cancelled {
                    returned.buf.set_len(0);
                }
                self.back.push(returned.buf);
                self.filled();
            }
        }
        self.posted.drain(..).for_each(|(rows, _)| rows.lose());
    }
}

impl RxCore {
    pub fn open(
        shared: &Arc<Shared>,
        vc: &spfe::Vc,
        options: QueueOptions,
        buffers: usize,
        bytes: usize,
    ) -> PyResult<Arc<Self>> {
        let options = options.depth(options.depth.max(u32::try_from(buffers).unwrap_or(u32::MAX)));
        let mut rx = vc.rx_with(options).map_err(raise)?;
        let mut spare = Vec::new();
        if buffers != 0 {
            let cut = || shared.endpoint()?.alloc(buffers * bytes)?.split(bytes, buffers);
            spare = cut().map_err(raise)?;
            rx.post_all(&mut spare);
        }
        let canceller = rx.canceller();
        let (posted, objects) = (VecDeque::new(), VecDeque::new());
        let inner = Inner { rx, spare, posted, full: 0, back: Vec::new(), objects };
        let home = Home::new(Views::of(&shared.views));
        let seat = Seat::new("receive queue", inner, Some(canceller));
        let core = Arc::new(Self { seat, shared: shared.clone(), home, buffers });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(core)
    }

    fn until(&self, timeout: Option<Timeout>) -> PyResult<Until> {
        Until::of(self.shared.endpoint().map_err(raise)?, timeout)
    }

    /// Refuses to wait for what cannot come.
    fn own_buffers(&self, inner: &Inner) -> PyResult<()> {
        if self.buffers == 0 {
            let what = "receive queue opened with buffers=0: use post and recv_group";
            return Err(fault(Status::BadField, what));
        }
        if inner.rx.posted_buffers() == 0 {
            let what = format!(
                "receive queue: packets that are not released hold all of its {} buffers: release \
                 some, or open it with more",
                self.buffers
            );
            return Err(fault(Status::Busy, what));
        }
        Ok(())
    }

    /// The next packet, if it is there.
    fn poll(&self, py: Python<'_>, inner: &mut Inner) -> Option<Received> {
        let home = &self.home;
        py.detach(|| {
            inner.repost(home);
            inner.rx.poll()
        })
    }

    fn wait(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        threshold: &Threshold,
        until: Until,
    ) -> PyResult<spfe::Ready> {
        let endpoint = self.shared.endpoint().map_err(raise)?;
        let rx = &mut inner.rx;
        until.wait(py, endpoint, |at| rx.wait(threshold, at), |error| self.seat.ended(error))
    }

    fn recv(&self, py: Python<'_>, until: Until) -> PyResult<Packet> {
        self.seat.with(py, until, |inner| {
            loop {
                if let Some(received) = self.poll(py, inner) {
                    return Ok(Packet::new(received, &self.home));
                }
                self.own_buffers(inner)?;
                self.wait(py, inner, &Threshold::ONE, until)?;
            }
        })
    }

    fn recv_group(&self, py: Python<'_>, until: Until) -> PyResult<Py<Buffer>> {
        self.seat.with(py, until, |inner| {
            loop {
                py.detach(|| inner.fill());
                if inner.full != 0
                    && let Some(object) = inner.objects.pop_front()
                {
                    inner.full -= 1;
                    return Ok(object);
                }
                let Some(&(_, missing)) = inner.posted.front() else {
                    let what = "receive queue: no buffer is posted: use post first";
                    return Err(fault(Status::Empty, what));
                };
                // Wake up when the first buffer is full, or as far as one threshold can count.
                let threshold = Threshold::count(missing.clamp(1, 1024) as u32);
                self.wait(py, inner, &threshold, until)?;
            }
        })
    }

    fn post(&self, py: Python<'_>, buffer: Py<Buffer>) -> PyResult<()> {
        self.seat.with(py, Until::never(), |inner| {
            if self.buffers != 0 {
                let what = "receive queue with buffers of its own: open it with buffers=0 to post";
                return Err(fault(Status::BadField, what));
            }
            let rows = buffer.get().rows.clone();
            let (count, free) = (rows.count(), inner.rx.free() as usize);
            if count > free {
                let what = format!(
                    "buffer of {count} rows: the queue has room for {free}; take others with \
                     recv_group, or open it with a larger depth"
                );
                return Err(fault(Status::Busy, what));
            }
            let mut bufs = rows.take(None)?;
            inner.posted.push_back((rows.clone(), count));
            inner.objects.push_back(buffer);
            py.detach(|| inner.rx.post_all(&mut bufs));
            Ok(())
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.seat.is_closed() {
            return Ok(());
        }
        self.home.views.none("receive queue")?;
        let taken = self.seat.close(py, |_| self.home.views.none("receive queue"))?;
        self.home.close();
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl Child for RxCore {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        self.close(py)
    }
}

/// So many packets, or this many seconds after the first one.
pub fn threshold(count: u32, after_first: Option<f64>) -> PyResult<Threshold> {
    let threshold = Threshold::count(count);
    let Some(seconds) = after_first else { return Ok(threshold) };
    let after = Duration::try_from_secs_f64(seconds)
        .map_err(|_| fault(Status::BadField, format!("after_first of {seconds} s: 0 or more")))?;
    Ok(threshold.or_after_first(after))
}

#[pymethods]
impl Rx {
    /// Waits for a packet, or the part of one that filled a buffer, and returns it.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Packet> {
        let until = self.core.until(timeout)?;
        self.core.recv(py, until)
    }

    /// Waits for a packet and returns all that are there, at most `most`.
    #[pyo3(signature = (most=1024, *, timeout=None))]
    fn recv_many(
        &self,
        py: Python<'_>,
        most: usize,
        timeout: Option<Timeout>,
    ) -> PyResult<Vec<Packet>> {
        let until = self.core.until(timeout)?;
        let first = self.core.recv(py, until)?;
        let mut packets = vec![first];
        self.core.seat.with(py, Until::never(), |inner| {
            while packets.len() < most
                && let Some(received) = self.core.poll(py, inner)
            {
                packets.push(Packet::new(received, &self.core.home));
            }
            Ok(())
        })?;
        Ok(packets)
    }

    /// The next packet if there is one, else None. Does not wait.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<Packet>> {
        self.core.seat.with(py, Until::never(), |inner| {
            let received = self.core.poll(py, inner);
            if received.is_none() {
                self.core.own_buffers(inner)?;
            }
            Ok(received.map(|received| Packet::new(received, &self.core.home)))
        })
    }

    /// Gives a buffer to a queue that was opened with buffers=0: each row receives a packet. The queue
    /// has it until `recv_group` returns it.
    fn post(&self, py: Python<'_>, buffer: Py<Buffer>) -> PyResult<()> {
        self.core.post(py, buffer)
    }

    /// Waits until all rows of the oldest posted buffer have received a packet, and returns it.
    #[pyo3(signature = (timeout=None))]
    fn recv_group(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Py<Buffer>> {
        let until = self.core.until(timeout)?;
        self.core.recv_group(py, until)
    }

    /// Waits for `count` packets, or until `after_first` seconds have passed since the first one, and
    /// leaves them in the queue. True if there are `count`.
    #[pyo3(signature = (count=1, *, after_first=None, timeout=None))]
    fn wait(
        &self,
        py: Python<'_>,
        count: u32,
        after_first: Option<f64>,
        timeout: Option<Timeout>,
    ) -> PyResult<bool> {
        let until = self.core.until(timeout)?;
        let threshold = threshold(count, after_first)?;
        self.core.seat.with(py, until, |inner| {
            inner.repost(&self.core.home);
            let ready = self.core.wait(py, inner, &threshold, until)?;
            Ok(ready == spfe::Ready::Threshold)
        })
    }

    /// The descriptor for poll and epoll, for a queue opened with event=True.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.core
            .seat
            .with(py, Until::never(), |inner| Ok(inner.rx.fd().map_err(raise)?.as_raw_fd()))
    }

    /// Makes the descriptor readable when a packet is there. True if one is there already.
    fn request_event(&self, py: Python<'_>) -> PyResult<bool> {
        self.core.seat.with(py, Until::never(), |inner| {
            let home = &self.core.home;
            py.detach(|| {
                inner.repost(home);
                inner.rx.request_event(&Threshold::ONE)
            })
            .map_err(raise)
        })
    }

    /// Waits for a packet in an asyncio task; the queue needs event=True.
    fn arecv<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spfe._aio")?.getattr("recv")?.call1((slf,))
    }

    /// Ends the wait of another thread in this queue, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Closes the queue. BufferError while views of its packets exist; then it stays open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.core.close(py)
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Packet> {
        self.core.recv(py, Until::never())
    }

    fn __aiter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __anext__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::arecv(slf)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.core.close(py)
    }
}

impl Rx {
    pub fn new(core: Arc<RxCore>) -> Self {
        Self { core }
    }
}
