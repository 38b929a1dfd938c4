//! The queue behind a `Tx`, and the buffers that are on their way.

use super::group::{Burst, Group};
use crate::buffer::{Buffer, Rows};
use crate::bytes::Bytes;
use crate::endpoint::{Child, Shared};
use crate::error::{fault, raise, timed_out};
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use pyo3::prelude::*;
use spfe::{Buf, Deadline, End, QueueOptions, Status};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most memory of the buffers that a queue makes for longer packets than it was opened for.
const POOL_BYTES: usize = 4 << 20;

pub struct TxCore {
    pub seat: Seat<Inner>,
    pub shared: Arc<Shared>,
}

/// Who gets a buffer that was sent.
pub enum Owner {
    Pool,
    Rows(Arc<Rows>),
}

pub struct Inner {
    pub tx: spfe::Tx,
    /// Owners of the posted buffers, in the order of posting, each with a number of buffers.
    owners: VecDeque<(Owner, usize)>,
    /// Buffers on their way back.
    back: Vec<Buf>,
    pub pool: Vec<Buf>,
    /// Size of the pool's buffers.
    slot: usize,
    /// The first packet that was not sent since the last call that said so.
    failed: Option<Status>,
}

impl Inner {
    /// Takes what has been sent.
    pub fn collect(&mut self) {
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

    pub fn outstanding(&self) -> usize {
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
    pub fn grow(&mut self, shared: &Shared, bytes: usize) -> PyResult<()> {
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

    pub fn send(
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

    pub fn send_buffer(
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

    pub fn send_group(&self, py: Python<'_>, group: &Group, until: Until) -> PyResult<usize> {
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
    pub fn send_burst(
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

    pub fn drain(&self, py: Python<'_>, until: Until) -> PyResult<()> {
        self.seat.with(py, until, |inner| {
            self.wait_for(py, inner, until, |inner| inner.owners.is_empty().then_some(()))?;
            inner.check()
        })
    }

    /// Waits until everything has been sent, at most for `linger` seconds, and closes the queue.
    pub fn close(&self, py: Python<'_>, linger: f64) -> PyResult<()> {
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
