//! RDMA: remote memory and messages with queues of work requests (docs/rdma.md).

use crate::bytes::Bytes;
use crate::endpoint::{Child, Shared, until};
use crate::error::{fault, raise_rdma, raise_work};
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use spfe::{Canceller, Status};
use spfe_remote::engine::{Local, TargetFile, TargetNode, WorkCompletion, WorkKind, WorkRequest};
use spfe_remote::{PooledPair, RdmaError, RdmaQueue, RdmaQueueOptions, RdmaServer};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

mod pooled;
pub use pooled::{RdmaGroup, RdmaPooled};

/// Longest wait in one piece: then signals are looked for, and other threads have a turn.
pub const SLICE: Duration = Duration::from_millis(20);

/// Reads and writes the memory of another node; `Port.rdma` opens it.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:?peer=target:1M") as endpoint:
/// ...     with endpoint.port(0).rdma() as rdma:
/// ...         region = rdma.regions(timeout=5)[0]
/// ...         rdma.connect(timeout=5)
/// ...         rdma.write(region.address, b"from here to there", region.key, timeout=5)
/// ...         rdma.read(region.address, 18, region.key, timeout=5)
/// b'from here to there'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Rdma {
    core: Arc<Core>,
}

/// A queue, and the memory of its requests by their numbers.
struct Queue {
    form: Form,
    memory: HashMap<u64, u32>,
    next: u64,
    /// Number of times that it was pooled.
    pooled: u64,
}

/// The queue as it is now.
enum Form {
    Queue(RdmaQueue),
    /// Pooled, with the number of its memory.
    Pooled(Box<PooledPair>, u32),
    /// The device could not start it again.
    Lost,
}

impl Form {
    fn lost() -> RdmaError {
        let what = "RDMA queue: the device did not start it again: close it";
        spfe::Error::device(Status::DeviceGone, what).into()
    }
}

struct Core {
    seat: Seat<Queue>,
    shared: Arc<Shared>,
}

impl Core {
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.seat.close(py, |_| Ok(()))?;
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl Child for Core {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        self.close(py)
    }
}

/// A region of the target.
#[pyclass(frozen, module = "spfe")]
pub struct RdmaRegion {
    /// Address of the first byte.
    #[pyo3(get)]
    address: u64,
    /// Number of bytes.
    #[pyo3(get)]
    size: u64,
    /// Remote key; 0 if the target does not tell it.
    #[pyo3(get)]
    key: u32,
}

#[pymethods]
impl RdmaRegion {
    fn __repr__(&self) -> String {
        let Self { address, size, key } = self;
        format!("RdmaRegion(address={address:#x}, size={size}, key={key:#x})")
    }
}

/// The end of a request.
#[pyclass(frozen, module = "spfe")]
pub struct RdmaCompletion {
    /// Number of the request, as posting returned it.
    #[pyo3(get)]
    id: u64,
    done: WorkCompletion,
    data: Vec<u8>,
}

#[pymethods]
impl RdmaCompletion {
    /// The bytes of a read, the old value of an atomic operation, or None. Raises what went wrong.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.done.result.map_err(|error| raise_work("request", error))?;
        if let Some(old) = self.done.old {
            return Ok(Some(old.into_pyobject(py)?.into_any()));
        }
        let is_read = matches!(self.done.kind, WorkKind::Read);
        Ok(is_read.then(|| PyBytes::new(py, &self.data).into_any()))
    }

    fn __repr__(&self) -> String {
        match self.done.result {
            Ok(()) => format!("RdmaCompletion(id={}, done)", self.id),
            Err(error) => format!("RdmaCompletion(id={}, {error})", self.id),
        }
    }
}

fn left(at: Until) -> Duration {
    at.real().map_or(Duration::MAX, |end| end.saturating_duration_since(Instant::now()))
}

impl Queue {
    /// The queue, if it is not pooled.
    fn queue(&mut self) -> Result<&mut RdmaQueue, RdmaError> {
        match &mut self.form {
            Form::Queue(queue) => Ok(queue),
            Form::Pooled(..) => {
                let what = "RDMA queue: it is pooled: close its pooled form first";
                Err(spfe::Error::device(Status::Busy, what).into())
            }
            Form::Lost => Err(Form::lost()),
        }
    }

    /// Posts a request with memory of its own.
    fn post(
        &mut self,
        kind: WorkKind,
        address: u64,
        data: Vec<u8>,
        key: u32,
    ) -> Result<u64, RdmaError> {
        let (id, length) = (self.next, data.len() as u32);
        let queue = self.queue()?;
        let memory = if data.is_empty() { None } else { Some(queue.register(data)?) };
        let local = memory.map(|memory| Local { memory, offset: 0, length });
        let request = WorkRequest {
            local: local.map(|local| [local].into()).unwrap_or_default(),
            address,
            key,
            ..WorkRequest::new(id, kind)
        };
        if let Err(error) = queue.post(request) {
            memory.map(|memory| queue.release(memory));
            return Err(error.into());
        }
        self.memory.extend(memory.map(|memory| (id, memory)));
        self.next += 1;
        Ok(id)
    }

    fn poll(&mut self) -> Result<Option<RdmaCompletion>, RdmaError> {
        let Some(done) = self.queue()?.poll()? else { return Ok(None) };
        let memory = self.memory.remove(&done.id);
        let queue = self.queue()?;
        let data = memory.map(|memory| queue.release(memory)).unwrap_or_default();
        Ok(Some(RdmaCompletion { id: done.id, done, data }))
    }
}

impl Rdma {
    pub fn open(shared: &Arc<Shared>, vc: &spfe::Vc, options: RdmaQueueOptions) -> PyResult<Self> {
        let mut queue = RdmaQueue::open(vc, options).map_err(crate::error::raise)?;
        let canceller: Canceller = queue.canceller();
        let form = Form::Queue(queue);
        let queue = Queue { form, memory: HashMap::new(), next: 0, pooled: 0 };
        let seat = Seat::new("RDMA queue", queue, Some(canceller));
        let core = Arc::new(Core { seat, shared: shared.clone() });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(Self { core })
    }

    /// Calls the queue, without the interpreter, with the time that is left.
    fn call<R: Send>(
        &self,
        py: Python<'_>,
        timeout: Option<Timeout>,
        body: impl FnOnce(&mut RdmaQueue, Duration) -> Result<R, RdmaError> + Send,
    ) -> PyResult<R> {
        let at = until(&self.core.shared, timeout)?;
        self.core.seat.with(py, at, |inside| {
            py.detach(|| body(inside.queue()?, left(at))).map_err(raise_rdma)
        })
    }

    fn post(&self, py: Python<'_>, kind: WorkKind, at: (u64, u32), data: Vec<u8>) -> PyResult<u64> {
        self.core.seat.with(py, Until::never(), |inside| {
            inside.post(kind, at.0, data, at.1).map_err(raise_rdma)
        })
    }
}

#[pymethods]
impl Rdma {
    /// Asks the target for its regions.
    #[pyo3(signature = (timeout=None))]
    fn regions(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Vec<RdmaRegion>> {
        let list = self.call(py, timeout, |queue, left| queue.regions(left))?;
        let region = |entry: &spfe_remote::RegionEntry| RdmaRegion {
            address: entry.base,
            size: entry.bytes,
            key: entry.key,
        };
        Ok(list.iter().map(region).collect())
    }

    /// Connects to the target, also again after an error.
    #[pyo3(signature = (timeout=None))]
    fn connect(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        self.call(py, timeout, |queue, left| queue.connect(left))
    }

    /// Writes bytes and waits. No posted request may be outstanding.
    #[pyo3(signature = (address, data, key, *, timeout=None))]
    fn write(
        &self,
        py: Python<'_>,
        address: u64,
        data: &Bound<'_, PyAny>,
        key: u32,
        timeout: Option<Timeout>,
    ) -> PyResult<()> {
        let data = Bytes::of(data)?.to_vec(py);
        self.alone(py)?;
        self.call(py, timeout, move |queue, left| queue.write(key, address, data, left))
    }

    /// Reads bytes and waits. No posted request may be outstanding.
    #[pyo3(signature = (address, length, key, *, timeout=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        length: usize,
        key: u32,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.alone(py)?;
        let read = |queue: &mut RdmaQueue, left| queue.read(key, address, length, left);
        Ok(PyBytes::new(py, &self.call(py, timeout, read)?))
    }

    /// Posts a write of at most 2 GiB and returns its number; `submit` releases what was posted.
    fn post_write(
        &self,
        py: Python<'_>,
        address: u64,
        data: &Bound<'_, PyAny>,
        key: u32,
    ) -> PyResult<u64> {
        let data = Bytes::of(data)?.to_vec(py);
        self.post(py, WorkKind::Write, (address, key), data)
    }

    /// Posts a read and returns its number.
    fn post_read(&self, py: Python<'_>, address: u64, length: u32, key: u32) -> PyResult<u64> {
        self.post(py, WorkKind::Read, (address, key), vec![0; length as usize])
    }

    /// Posts an addition to 8 bytes and returns its number; the result is their old value.
    fn post_fetch_add(&self, py: Python<'_>, address: u64, value: u64, key: u32) -> PyResult<u64> {
        self.post(py, WorkKind::FetchAdd { add: value }, (address, key), Vec::new())
    }

    /// Posts a replacement of 8 bytes that are equal to `compare`; the result is their old value.
    fn post_compare_swap(
        &self,
        py: Python<'_>,
        address: u64,
        compare: u64,
        swap: u64,
        key: u32,
    ) -> PyResult<u64> {
        self.post(py, WorkKind::CompareSwap { compare, swap }, (address, key), Vec::new())
    }

    /// Releases what was posted, as one group.
    fn submit(&self, py: Python<'_>) -> PyResult<()> {
        self.core.seat.with(py, Until::never(), |inside| {
            inside.queue().and_then(RdmaQueue::ring).map_err(raise_rdma)
        })
    }

    /// Moves packets and takes the next completion, or None.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<RdmaCompletion>> {
        self.core.seat.with(py, Until::never(), |inside| inside.poll().map_err(raise_rdma))
    }

    /// Waits until a completion can be taken. Other threads have turns meanwhile.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
        let at = until(&self.core.shared, timeout)?;
        loop {
            let waited = self.core.seat.with(py, at, |inside| {
                Ok(py.detach(|| inside.queue()?.wait(1, left(at).min(SLICE))))
            })?;
            match waited {
                Ok(()) => return Ok(()),
                Err(error) if error.is_timeout() && !left(at).is_zero() => py.check_signals()?,
                Err(error) => return Err(raise_rdma(error)),
            }
        }
    }

    /// The pooled form of the queue, for groups of one request that repeats: a "write", "read" or "send"
    /// of `length` bytes, each time `stride` bytes further in memory of its own and `remote_stride` bytes
    /// further at the target, by default `length`. There are twice as many requests as the queue's depth.
    /// The queue connects with the first group. Until it is closed, other methods of the queue raise.
    #[pyo3(signature = (kind, address, length, key, *, stride=None, remote_stride=None))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn pooled(
        &self,
        py: Python<'_>,
        kind: &str,
        address: u64,
        length: u32,
        key: u32,
        stride: Option<u32>,
        remote_stride: Option<u64>,
    ) -> PyResult<RdmaPooled> {
        let kind = match kind {
            "write" => WorkKind::Write,
            "read" => WorkKind::Read,
            "send" => WorkKind::Send,
            _ => {
                let what = format!("kind {kind:?} of pooled requests: write, read or send");
                return Err(fault(Status::BadField, what));
            }
        };
        let strides = (stride.unwrap_or(length), remote_stride.unwrap_or(length.into()));
        RdmaPooled::open(py, &self.core, (kind, address, length, key), strides)
    }

    /// In an asyncio task: the completion of a request that was posted and submitted.
    fn acompletion<'py>(slf: &Bound<'py, Self>, id: u64) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spfe._aio")?.getattr("completion")?.call1((slf, id))
    }

    /// In an asyncio task: writes bytes. Several tasks may use the queue.
    fn awrite<'py>(
        slf: &Bound<'py, Self>,
        address: u64,
        data: &Bound<'py, PyAny>,
        key: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = slf.get().post_write(slf.py(), address, data, key)?;
        slf.py().import("spfe._aio")?.getattr("result")?.call1((slf, id))
    }

    /// In an asyncio task: reads bytes.
    fn aread<'py>(
        slf: &Bound<'py, Self>,
        address: u64,
        length: u32,
        key: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = slf.get().post_read(slf.py(), address, length, key)?;
        slf.py().import("spfe._aio")?.getattr("result")?.call1((slf, id))
    }

    /// Ends the wait of another thread, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Ends all requests and closes the queue.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.core.close(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.core.close(py)
    }
}

impl Rdma {
    /// The library's own reads and writes drop the completions of other requests.
    fn alone(&self, py: Python<'_>) -> PyResult<()> {
        self.core.seat.with(py, Until::never(), |inside| match inside.memory.len() {
            0 => Ok(()),
            posted => {
                let what =
                    format!("RDMA queue: {posted} requests are outstanding: take them first");
                Err(fault(Status::Busy, what))
            }
        })
    }
}

/// Gives other nodes access to regions of this process; `Port.rdma_server` opens it. Requests are
/// executed while `serve` runs, so give it a thread.
#[pyclass(frozen, weakref, module = "spfe", name = "RdmaServer")]
pub struct Server {
    core: Arc<ServerCore>,
}

struct ServerCore {
    seat: Seat<RdmaServer>,
    shared: Arc<Shared>,
}

impl Child for ServerCore {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.seat.close(py, |_| Ok(()))?;
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl Server {
    pub fn open(shared: &Arc<Shared>, vc: &spfe::Vc, target: &str) -> PyResult<Self> {
        let node = TargetFile::open(target).and_then(|file| TargetNode::new(&file));
        let node = node.map_err(|error| fault(Status::BadField, error.to_string()))?;
        let mut server = RdmaServer::open(vc, node).map_err(crate::error::raise)?;
        let canceller = server.canceller();
        let seat = Seat::new("RDMA server", server, Some(canceller));
        let core = Arc::new(ServerCore { seat, shared: shared.clone() });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(Self { core })
    }
}

#[pymethods]
impl Server {
    /// Executes requests until the time is over. Returns their number. `cancel` and `close` end it
    /// with CANCELLED.
    #[pyo3(signature = (timeout=None))]
    fn serve(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<u64> {
        let at = until(&self.core.shared, timeout)?;
        let endpoint = self.core.shared.endpoint().map_err(crate::error::raise)?;
        let mut count = 0;
        loop {
            // In slices, to look for signals.
            let now = endpoint.now_ns();
            let slice = spfe::Deadline::at_ns(now.saturating_add(SLICE.as_nanos() as u64));
            count += self
                .core
                .seat
                .with(py, at, |server| py.detach(|| server.serve(slice)).map_err(raise_rdma))?;
            if left(at).is_zero() {
                return Ok(count);
            }
            py.check_signals()?;
        }
    }

    /// Ends the serving of another thread, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Closes the server. Its regions go with it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.core.close_with_parent(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.core.close_with_parent(py)
    }
}
