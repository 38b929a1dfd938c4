//! The pooled form of a queue: requests that repeat.

use super::{Core, Form, Queue, SLICE, left};
use crate::bytes::Bytes;
use crate::endpoint::until;
use crate::error::{fault, raise, raise_rdma, raise_work};
use crate::time::{Timeout, Until};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use spfe::{Deadline, Status};
use spfe_remote::engine::{Local, WorkKind, WorkRequest};
use spfe_remote::{PooledPair, PooledWork, RdmaError, RdmaQueue};
use std::sync::Arc;

/// Requests that repeat; `Rdma.pooled` opens it. They have numbers from 0 on, are posted in this order,
/// and begin again behind the last one.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:?peer=target:1M") as endpoint:
/// ...     with endpoint.port(0).rdma(depth=8) as rdma:
/// ...         region = rdma.regions(timeout=5)[0]
/// ...         with rdma.pooled("write", region.address, 4, region.key) as pooled:
/// ...             for number in range(3):
/// ...                 pooled.fill(number, b"%04d" % number)
/// ...             pooled.stage(3)
/// ...             pooled.submit()
/// ...             pooled.wait(timeout=5)
/// ...             pooled.poll().requests
/// ...         rdma.connect(timeout=5)
/// ...         rdma.read(region.address, 12, region.key, timeout=5)
/// 3
/// 3
/// b'000000010002'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct RdmaPooled {
    core: Arc<Core>,
    /// Which time of pooling.
    number: u64,
}

/// The end of a group.
#[pyclass(frozen, module = "spfe")]
pub struct RdmaGroup {
    /// Number of its first request.
    #[pyo3(get)]
    first: u32,
    done: PooledWork,
}

#[pymethods]
impl RdmaGroup {
    /// Number of requests that have ended. After an error a group may end in several parts.
    #[getter]
    fn requests(&self) -> u32 {
        self.done.requests
    }

    /// Raises why the last of them failed.
    fn result(&self) -> PyResult<()> {
        self.done.error().map_or(Ok(()), |error| Err(raise_work("group", error)))
    }

    fn __repr__(&self) -> String {
        let Self { first, done } = self;
        match done.error() {
            None => format!("RdmaGroup(first={first}, requests={}, done)", done.requests),
            Some(error) => format!("RdmaGroup(first={first}, requests={}, {error})", done.requests),
        }
    }
}

impl Queue {
    /// Turns it into its pooled form, with memory of its own.
    fn pool(
        &mut self,
        (kind, address, length, key): (WorkKind, u64, u32, u32),
        (stride, remote): (u32, u64),
    ) -> Result<u64, RdmaError> {
        let queue = self.queue()?;
        let places = u64::from(queue.pooled_requests().max(1) - 1) * u64::from(stride);
        let bytes = (places + u64::from(length)) as usize;
        let mut data = Vec::new();
        data.try_reserve_exact(bytes).map_err(|_| {
            let what = format!("RDMA queue: {bytes} bytes for pooled requests");
            spfe::Error::device(Status::NoResources, what)
        })?;
        data.resize(bytes, 0);
        let memory = if bytes == 0 { 0 } else { queue.register(data)? };
        let local = Local { memory, offset: 0, length };
        let request =
            WorkRequest { local: [local].into(), address, key, ..WorkRequest::new(0, kind) };
        if let Err(error) = queue.can_pool(&request, stride) {
            if bytes > 0 {
                queue.release(memory);
            }
            return Err(error.into());
        }
        let Form::Queue(queue) = std::mem::replace(&mut self.form, Form::Lost) else {
            return Err(Form::lost());
        };
        self.form = Form::Pooled(Box::new(queue.pooled(&request, stride, remote)?), memory);
        self.pooled += 1;
        Ok(self.pooled)
    }

    /// Turns it into an ordinary queue. Does nothing if it is one.
    fn unpool(&mut self) {
        match std::mem::replace(&mut self.form, Form::Lost) {
            Form::Pooled(pooled, memory) => {
                let mut queue = RdmaQueue::from_pooled(*pooled);
                queue.release(memory);
                self.form = Form::Queue(queue);
            }
            form => self.form = form,
        }
    }
}

/// The bytes of a request that is not outstanding.
fn bytes(pooled: &mut PooledPair, request: u32) -> PyResult<&mut [u8]> {
    let requests = pooled.requests();
    let what = format!("request {request} of {requests} pooled ones: it is outstanding");
    if request >= requests {
        return Err(fault(Status::OutOfBounds, format!("request {request}: there are {requests}")));
    }
    pooled.bytes(request).ok_or_else(|| fault(Status::Busy, what))
}

impl RdmaPooled {
    pub(super) fn open(
        py: Python<'_>,
        core: &Arc<Core>,
        request: (WorkKind, u64, u32, u32),
        strides: (u32, u64),
    ) -> PyResult<Self> {
        let number = core.seat.with(py, Until::never(), |inside| {
            py.detach(|| inside.pool(request, strides)).map_err(raise_rdma)
        })?;
        Ok(Self { core: core.clone(), number })
    }

    fn with<R>(
        &self,
        py: Python<'_>,
        at: Until,
        body: impl FnOnce(&mut PooledPair) -> PyResult<R>,
    ) -> PyResult<R> {
        self.core.seat.with(py, at, |inside| match &mut inside.form {
            Form::Pooled(pooled, _) if inside.pooled == self.number => body(pooled),
            Form::Lost => Err(raise_rdma(Form::lost())),
            _ => Err(fault(Status::BadField, "pooled RDMA requests: closed")),
        })
    }
}

#[pymethods]
impl RdmaPooled {
    /// Number of requests.
    #[getter]
    fn requests(&self, py: Python<'_>) -> PyResult<u32> {
        self.with(py, Until::never(), |pooled| Ok(pooled.requests()))
    }

    /// Number of requests that can be staged now.
    #[getter]
    fn free(&self, py: Python<'_>) -> PyResult<u32> {
        self.with(py, Until::never(), |pooled| Ok(pooled.free()))
    }

    /// Number of the request that is staged next.
    #[getter]
    fn next(&self, py: Python<'_>) -> PyResult<u32> {
        self.with(py, Until::never(), |pooled| Ok(pooled.next_request()))
    }

    /// Copies bytes to the front of a request that is not outstanding.
    fn fill(&self, py: Python<'_>, request: u32, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = Bytes::of(data)?;
        self.with(py, Until::never(), |pooled| {
            let place = bytes(pooled, request)?;
            let length = place.len();
            let Some(place) = place.get_mut(..data.len()) else {
                let what = format!("{} bytes for a pooled request of {length}", data.len());
                return Err(fault(Status::TooLong, what));
            };
            data.copy_to(py, 0, place);
            Ok(())
        })
    }

    /// A copy of the bytes of a request that is not outstanding.
    fn data<'py>(&self, py: Python<'py>, request: u32) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, Until::never(), |pooled| {
            bytes(pooled, request).map(|bytes| PyBytes::new(py, bytes))
        })
    }

    /// Adds the next requests to the group. Returns how many: fewer if the others are outstanding.
    #[pyo3(signature = (count=1))]
    fn stage(&self, py: Python<'_>, count: u32) -> PyResult<usize> {
        self.with(py, Until::never(), |pooled| {
            Ok((0..count).take_while(|_| pooled.stage()).count())
        })
    }

    /// Posts the group: one doorbell, one acknowledgement, one completion.
    fn submit(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Until::never(), |pooled| {
            py.detach(|| pooled.submit());
            Ok(())
        })
    }

    /// Takes the end of the oldest group, or None.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<RdmaGroup>> {
        self.with(py, Until::never(), |pooled| {
            let first = pooled.oldest_request();
            Ok(pooled.poll().map(|done| RdmaGroup { first, done }))
        })
    }

    /// Waits until the end of a group can be taken. Other threads have turns meanwhile.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        let at = until(&self.core.shared, timeout)?;
        loop {
            let waited = self.with(py, at, |pooled| {
                let slice = left(at).min(SLICE).as_nanos() as u64;
                let end = Deadline::at_ns(pooled.now_ns().saturating_add(slice));
                Ok(py.detach(|| pooled.wait(end)))
            })?;
            match waited {
                Ok(_) => return Ok(()),
                Err(error) if error.is_timeout() && !left(at).is_zero() => py.check_signals()?,
                Err(error) => return Err(raise(error)),
            }
        }
    }

    /// Ends the wait of another thread, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Makes the queue an ordinary one again, which has to connect. What was outstanding is forgotten.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.core.seat.is_closed() {
            return Ok(());
        }
        self.core.seat.with(py, Until::never(), |inside| {
            if inside.pooled == self.number {
                py.detach(|| inside.unpool());
            }
            Ok(())
        })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}
