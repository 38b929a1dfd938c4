//! Received packets: memory of a receive queue, until they are released.

use crate::error::{fault, in_use};
use crate::held::Held;
use crate::view::{self, Shape, Views};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spfe::{Buf, End, Received, Status};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where the buffers of released packets go: back to their queue.
pub struct Home {
    /// `None` when the queue is closed.
    bufs: Mutex<Option<Held<Vec<Buf>>>>,
    pub views: Arc<Views>,
}

impl Home {
    pub fn new(views: Arc<Views>) -> Arc<Self> {
        Arc::new(Self { bufs: Mutex::new(Some(Held::new(Vec::new()))), views })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held<Vec<Buf>>>> {
        self.bufs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, buf: Buf) {
        if let Some(bufs) = &mut *self.lock() {
            bufs.push(buf);
        }
    }

    /// The buffers that have come back.
    pub fn take(&self) -> Vec<Buf> {
        self.lock().as_mut().map(|bufs| std::mem::take(&mut **bufs)).unwrap_or_default()
    }

    /// Drops what comes back from now on.
    pub fn close(&self) {
        *self.lock() = None;
    }
}

/// A received packet, in the memory into which the device wrote it.
///
/// It supports the buffer protocol: `bytes(packet)` copies it, `memoryview(packet)` and
/// `numpy.asarray(packet)` do not. Its memory goes back to the queue when the packet is released, by a
/// `with` statement, by `release()`, or because nothing refers to it any more. Releasing it while a
/// view exists raises BufferError.
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Packet {
    state: Mutex<State>,
    shape: Shape,
    home: Arc<Home>,
    length: usize,
    /// How it ended: "eop", "eep" (the packet was cut), or "more" (the next packet continues it).
    #[pyo3(get)]
    end: &'static str,
    status: Status,
    /// Device time of reception in ns, if the queue has stamps or the link is paced.
    #[pyo3(get)]
    time_ns: Option<u64>,
}

struct State {
    buf: Option<Held<Buf>>,
    views: usize,
}

pub fn end_name(end: End) -> &'static str {
    match end {
        End::Eop => "eop",
        End::Eep => "eep",
        End::More => "more",
    }
}

pub fn end_of(name: &str) -> PyResult<End> {
    match name {
        "eop" => Ok(End::Eop),
        "eep" => Ok(End::Eep),
        "more" => Ok(End::More),
        _ => Err(fault(Status::BadField, format!("end '{name}': eop, eep or more"))),
    }
}

impl Packet {
    pub fn new(received: Received, home: &Arc<Home>) -> Self {
        let Received { buf, end, status, time_ns } = received;
        let length = buf.len();
        Self {
            state: Mutex::new(State { buf: Some(Held::new(buf)), views: 0 }),
            shape: Shape::bytes(length),
            home: home.clone(),
            length,
            end: end_name(end),
            status,
            time_ns,
        }
    }

    /// Whether the network cut it.
    pub fn is_cut(&self) -> bool {
        self.end == end_name(End::Eep)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Packet {
    fn drop(&mut self) {
        // Views keep the packet alive, so there are none.
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(buf) = state.buf.take().and_then(Held::into_inner) {
            self.home.give(buf);
        }
    }
}

#[pymethods]
impl Packet {
    /// Whether the next packet continues this one, which was longer than a buffer of the queue.
    #[getter]
    fn more(&self) -> bool {
        self.end == "more"
    }

    /// Number of the status: OK, PACKET_CUT with EEP, or why the device could not use the buffer.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("spfe.errors")?.getattr("Status")?.call1((self.status.raw(),))
    }

    /// A NumPy array over the bytes, without a copy; `dtype` is that of its elements (uint8).
    #[pyo3(signature = (dtype=None))]
    fn array<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        view::array(slf.as_any(), dtype)
    }

    /// NumPy asks for this if it gets no view, and so reports why.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = view::array(slf.as_any(), dtype)?;
        if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
    }

    /// Gives the memory back to the queue. BufferError while views of it exist.
    fn release(&self) -> PyResult<()> {
        let mut state = self.lock();
        if state.views != 0 {
            return Err(in_use(format!(
                "packet: {} views of it exist (memoryview, NumPy array): release or delete them \
                 first",
                state.views
            )));
        }
        if let Some(buf) = state.buf.take().and_then(Held::into_inner) {
            self.home.give(buf);
        }
        Ok(())
    }

    fn __len__(&self) -> usize {
        self.length
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.release()
    }

    fn __repr__(&self) -> String {
        format!("Packet({} bytes, {})", self.length, self.end)
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let packet = slf.get();
        let mut state = packet.lock();
        let Some(buf) = &mut state.buf else {
            return Err(in_use("packet: it is released"));
        };
        buf.check("packet")?;
        let data = buf.as_mut_ptr();
        // SAFETY: Python calls this with a view to fill. The memory stays in the packet until the
        // view is released: `release` refuses before. The shape is part of the frozen object.
        unsafe { view::fill(view, flags, slf.clone().into_any(), data, &packet.shape)? };
        state.views += 1;
        packet.home.views.add();
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        let mut state = self.lock();
        state.views = state.views.saturating_sub(1);
        self.home.views.remove();
    }
}
