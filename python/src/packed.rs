//! Packed receive: packets that lie back to back in one area.

use crate::endpoint::{Child, Shared, until};
use crate::error::{fault, in_use, raise};
use crate::held::Held;
use crate::packet::end_name;
use crate::rx::threshold;
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use crate::view::{self, Place, Shape, Views};
use pyo3::exceptions::PyIndexError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};
use spfe::{End, PackedOptions, Status, Threshold};
use std::ffi::c_int;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Receives packets back to back in one area, which is the cheapest way to receive many small ones;
/// `Port.rx_packed` opens it.
///
/// `recv` returns a `Run` of packets that arrived together. Its memory goes back to the device when it
/// is released, or when the next run is asked for; that raises BufferError while views of it exist.
/// While the area is full the sender waits.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     with endpoint.port(0).tx() as tx, endpoint.port(1).rx_packed() as rx:
/// ...         tx.send_burst(b"onetwosix", 3)
/// ...         [bytes(packet) for packet in rx.recv(timeout=1)]
/// 3
/// [b'one', b'two', b'six']
#[pyclass(frozen, weakref, module = "spfe")]
pub struct PackedRx {
    core: Arc<Core>,
}

struct Core {
    seat: Seat<Inner>,
    shared: Arc<Shared>,
    home: Arc<Home>,
}

/// A queue and the run that the program has.
struct Inner {
    /// Borrows the queue behind `rx`. Dropped before it.
    run: Option<spfe::Run<'static>>,
    /// The queue, in memory of its own, so that a run stays valid when this moves.
    rx: *mut spfe::PackedRx,
}

// SAFETY: the pointer is owned; a run belongs to the queue, which can move to another thread.
unsafe impl Send for Inner {}

/// What a run holds.
struct Taken {
    base: Place,
    records: Vec<(u32, u32, End)>,
    time_ns: Option<u64>,
}

impl Inner {
    fn new(rx: spfe::PackedRx) -> Self {
        Self { run: None, rx: Box::into_raw(Box::new(rx)) }
    }

    /// The queue; the run before goes back.
    fn queue(&mut self) -> &mut spfe::PackedRx {
        self.run = None;
        // SAFETY: the pointer is of a box that is freed on drop, and no run borrows the queue.
        unsafe { &mut *self.rx }
    }

    fn poll(&mut self) -> Option<Taken> {
        self.run = None;
        // SAFETY: as in `queue`. The run borrows the queue until it is dropped, which happens before
        // anything else touches the queue.
        let rx: &'static mut spfe::PackedRx = unsafe { &mut *self.rx };
        let run = rx.poll()?;
        let bytes = run.as_bytes();
        let first = bytes.as_ptr();
        let place = |record: spfe::Record<'_>| {
            let offset = record.bytes.as_ptr() as usize - first as usize;
            (offset as u32, record.bytes.len() as u32, record.end)
        };
        let records = run.records().map(place).collect();
        let taken = Taken { base: Place(first.cast_mut()), records, time_ns: run.time_ns };
        self.run = Some(run);
        Some(taken)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.run = None;
        // SAFETY: from `Box::into_raw`, and dropped once; the run that borrowed it is gone.
        drop(unsafe { Box::from_raw(self.rx) });
    }
}

/// Which run the program may look at, and its views.
struct Home {
    state: Mutex<HomeState>,
    views: Arc<Views>,
}

struct HomeState {
    /// Number of the newest run.
    number: u64,
    /// The program has it.
    held: bool,
    views: usize,
}

impl Home {
    fn lock(&self) -> MutexGuard<'_, HomeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run that the program has, if nobody looks at it.
    fn release(&self) -> PyResult<()> {
        let mut state = self.lock();
        if state.views != 0 {
            return Err(in_use(format!(
                "run of packets: {} views of it exist (memoryview, NumPy array): release or delete \
                 them first",
                state.views
            )));
        }
        state.held = false;
        Ok(())
    }

    fn begin(&self) -> u64 {
        let mut state = self.lock();
        state.number += 1;
        state.held = true;
        state.number
    }
}

impl Core {
    /// Lets `body` use the queue, once the run before is released.
    fn with<R>(
        &self,
        py: Python<'_>,
        until: Until,
        body: impl FnOnce(&mut Inner) -> PyResult<R>,
    ) -> PyResult<R> {
        self.seat.with(py, until, |inner| {
            self.home.release()?;
            body(inner)
        })
    }

    fn take(&self, py: Python<'_>, inner: &mut Inner) -> Option<Run> {
        let taken = py.detach(|| inner.poll())?;
        Some(Run { data: Arc::new(Data::new(taken, &self.home)) })
    }

    fn wait(
        &self,
        py: Python<'_>,
        inner: &mut Inner,
        threshold: &Threshold,
        until: Until,
    ) -> PyResult<spfe::Ready> {
        let endpoint = self.shared.endpoint().map_err(raise)?;
        let rx = inner.queue();
        until.wait(py, endpoint, |at| rx.wait(threshold, at), |error| self.seat.ended(error))
    }

    fn recv(&self, py: Python<'_>, until: Until) -> PyResult<Run> {
        self.with(py, until, |inner| {
            loop {
                if let Some(run) = self.take(py, inner) {
                    return Ok(run);
                }
                self.wait(py, inner, &Threshold::ONE, until)?;
            }
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.seat.is_closed() {
            return Ok(());
        }
        self.home.release()?;
        let taken = self.seat.close(py, |_| self.home.release())?;
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl Child for Core {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        self.close(py)
    }
}

impl PackedRx {
    pub fn open(shared: &Arc<Shared>, vc: &spfe::Vc, options: PackedOptions) -> PyResult<Self> {
        let mut rx = vc.rx_packed(options).map_err(raise)?;
        let canceller = rx.canceller();
        let state = Mutex::new(HomeState { number: 0, held: false, views: 0 });
        let home = Arc::new(Home { state, views: Views::of(&shared.views) });
        let seat = Seat::new("packed receive queue", Inner::new(rx), Some(canceller));
        let core = Arc::new(Core { seat, shared: shared.clone(), home });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(Self { core })
    }
}

#[pymethods]
impl PackedRx {
    /// Waits for packets and returns all that arrived together. The run before is released.
    #[pyo3(signature = (timeout=None))]
    fn recv(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<Run> {
        let at = until(&self.core.shared, timeout)?;
        self.core.recv(py, at)
    }

    /// The next run if there is one, else None. Does not wait. The run before is released.
    fn poll(&self, py: Python<'_>) -> PyResult<Option<Run>> {
        self.core.with(py, Until::never(), |inner| Ok(self.core.take(py, inner)))
    }

    /// Waits for `count` packets, or until `after_first` seconds have passed since the first one, and
    /// leaves them in the queue. True if there are `count`. The run before is released.
    #[pyo3(signature = (count=1, *, after_first=None, timeout=None))]
    fn wait(
        &self,
        py: Python<'_>,
        count: u32,
        after_first: Option<f64>,
        timeout: Option<Timeout>,
    ) -> PyResult<bool> {
        let at = until(&self.core.shared, timeout)?;
        let threshold = threshold(count, after_first)?;
        self.core.with(py, at, |inner| {
            Ok(self.core.wait(py, inner, &threshold, at)? == spfe::Ready::Threshold)
        })
    }

    /// The descriptor for poll and epoll, for a queue opened with event=True.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.core
            .with(py, Until::never(), |inner| Ok(inner.queue().fd().map_err(raise)?.as_raw_fd()))
    }

    /// Makes the descriptor readable when a packet is there. True if one is there already.
    fn request_event(&self, py: Python<'_>) -> PyResult<bool> {
        self.core.with(py, Until::never(), |inner| {
            let rx = inner.queue();
            py.detach(|| rx.request_event(&Threshold::ONE)).map_err(raise)
        })
    }

    /// Waits for packets in an asyncio task; the queue needs event=True.
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

    fn __next__(&self, py: Python<'_>) -> PyResult<Run> {
        self.core.recv(py, Until::never())
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.core.close(py)
    }
}

/// A run and its packets, which share it. The run is released with the last of them.
struct Data {
    base: Held<Place>,
    records: Vec<(u32, u32, End)>,
    time_ns: Option<u64>,
    number: u64,
    home: Arc<Home>,
    /// A row for each packet, if all have the same length.
    shape: Option<Shape>,
}

impl Data {
    fn new(taken: Taken, home: &Arc<Home>) -> Self {
        let Taken { base, records, time_ns } = taken;
        let number = home.begin();
        let shape = records.first().and_then(|&(offset, length, _)| {
            let alike = records.iter().all(|record| record.1 == length);
            let stride = records.get(1).map_or(length, |second| second.0 - offset);
            alike.then(|| Shape::strided(records.len(), length as usize, stride as usize))
        });
        Self { base: Held::new(base), records, time_ns, number, home: home.clone(), shape }
    }

    /// The address of a packet, for a view that is counted.
    fn view(&self, record: usize) -> PyResult<(*mut u8, MutexGuard<'_, HomeState>)> {
        self.base.check("run of packets")?;
        let state = self.home.lock();
        if !state.held || state.number != self.number {
            return Err(in_use("run of packets: it is released"));
        }
        let offset = self.records.get(record).map_or(0, |record| record.0 as usize);
        // SAFETY: the offset is that of a record in the run.
        Ok((unsafe { self.base.0.add(offset) }, state))
    }

    fn viewed(&self, mut state: MutexGuard<'_, HomeState>) {
        state.views += 1;
        self.home.views.add();
    }

    fn unviewed(&self) {
        let mut state = self.home.lock();
        state.views = state.views.saturating_sub(1);
        self.home.views.remove();
    }

    fn release(&self) -> PyResult<()> {
        let newest = self.home.lock().number == self.number;
        if newest { self.home.release() } else { Ok(()) }
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        // Views keep the run alive, so there are none, and nothing is refused.
        let _ = self.release();
    }
}

/// Packets that arrived together, in the area of a packed receive queue: a sequence of `Record`s.
///
/// If all have the same length, `run.array()` is a NumPy array with a row for each, without a copy.
/// Views are read-only.
#[pyclass(frozen, weakref, module = "spfe", sequence)]
pub struct Run {
    data: Arc<Data>,
}

impl Run {
    fn record(&self, index: usize) -> Record {
        let length = self.data.records.get(index).map_or(0, |record| record.1 as usize);
        Record { data: self.data.clone(), index, shape: Shape::bytes(length).read_only() }
    }
}

#[pymethods]
impl Run {
    /// Device time in ns, if the queue has stamps or the link is paced.
    #[getter]
    fn time_ns(&self) -> Option<u64> {
        self.data.time_ns
    }

    /// A NumPy array with a row for each packet, without a copy; all must have the same length.
    /// `dtype` is that of its elements (uint8).
    #[pyo3(signature = (dtype=None))]
    fn array<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().data.shape.is_none() {
            let what =
                "run of packets: their lengths differ, so they are no array; use each record";
            return Err(fault(Status::BadField, what));
        }
        view::array(slf.as_any(), dtype)
    }

    /// Gives the memory back to the queue. BufferError while views of it exist.
    fn release(&self) -> PyResult<()> {
        self.data.release()
    }

    fn __len__(&self) -> usize {
        self.data.records.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Record> {
        let count = self.data.records.len();
        let from_end = if index < 0 { index + count as isize } else { index };
        match usize::try_from(from_end) {
            Ok(at) if at < count => Ok(self.record(at)),
            _ => Err(PyIndexError::new_err(format!("packet {index} of a run of {count}"))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let records = (0..self.data.records.len()).map(|index| self.record(index));
        let records: PyResult<Vec<_>> = records.map(|record| Py::new(py, record)).collect();
        PyList::new(py, records?)?.try_iter()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.release()
    }

    fn __repr__(&self) -> String {
        format!("Run({} packets)", self.data.records.len())
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let data = &slf.get().data;
        let Some(shape) = &data.shape else {
            return Err(in_use("run of packets: their lengths differ; use each record"));
        };
        let (first, state) = data.view(0)?;
        // SAFETY: Python calls this with a view to fill. The memory stays with the run until the view
        // is released: `Home::release` refuses before. The shape is part of the frozen object.
        unsafe { view::fill(view, flags, slf.clone().into_any(), first, shape)? };
        data.viewed(state);
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.data.unviewed();
    }
}

/// A packet of a `Run`, or a part of one that was longer than a quarter of the area.
///
/// It supports the buffer protocol, read-only: `memoryview(record)` and `record.array()` do not copy.
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Record {
    data: Arc<Data>,
    index: usize,
    shape: Shape,
}

#[pymethods]
impl Record {
    /// How it ended: "eop", "eep" (the packet was cut), or "more" (the next record continues it).
    #[getter]
    fn end(&self) -> &'static str {
        self.data.records.get(self.index).map_or("eep", |record| end_name(record.2))
    }

    /// Whether the next record continues this one.
    #[getter]
    fn more(&self) -> bool {
        self.end() == "more"
    }

    /// A NumPy array over the bytes, without a copy; `dtype` is that of its elements (uint8).
    #[pyo3(signature = (dtype=None))]
    fn array<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        view::array(slf.as_any(), dtype)
    }

    fn __len__(&self) -> usize {
        self.data.records.get(self.index).map_or(0, |record| record.1 as usize)
    }

    fn __repr__(&self) -> String {
        format!("Record({} bytes, {})", self.__len__(), self.end())
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let record = slf.get();
        let (first, state) = record.data.view(record.index)?;
        // SAFETY: as for a run.
        unsafe { view::fill(view, flags, slf.clone().into_any(), first, &record.shape)? };
        record.data.viewed(state);
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.data.unviewed();
    }
}
