//! Memory that a program owns: rows of bytes in registered memory, each a packet.

use crate::error::{fault, in_use, raise};
use crate::held::Held;
use crate::view::{self, Shape, Views};
use pyo3::ffi;
use pyo3::prelude::*;
use spfe::{Buf, Endpoint, Status};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Registered memory: one packet, or a row for each packet of a group.
///
/// It supports the buffer protocol: `memoryview(buffer)` and `numpy.asarray(buffer)` are the memory
/// itself, without a copy. `Tx.send`, `Tx.send_group` and `Rx.post` give it to a queue; until it comes
/// back, and as long as views of it exist when it is given away, an attempt raises BufferError.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     buffer = endpoint.alloc(4096)
/// ...     with memoryview(buffer) as view:
/// ...         view[:5] = b"hello"
/// ...     len(buffer), bytes(buffer)[:5]
/// (4096, b'hello')
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Buffer {
    shape: Shape,
    pub rows: Arc<Rows>,
}

/// The rows of a buffer. A queue that has them returns them here.
pub struct Rows {
    count: usize,
    bytes: usize,
    state: Mutex<State>,
    views: Arc<Views>,
}

struct State {
    /// The rows that are here, by number.
    bufs: Held<Vec<Option<Buf>>>,
    /// Bytes used of each row, as received.
    lengths: Vec<u32>,
    /// Number of rows that a queue has.
    away: usize,
    views: usize,
    closed: bool,
}

impl Rows {
    /// Cuts rows out of new memory.
    pub fn new(
        endpoint: &Endpoint,
        views: &Arc<Views>,
        count: usize,
        bytes: usize,
    ) -> PyResult<Self> {
        let total = count.checked_mul(bytes).filter(|total| isize::try_from(*total).is_ok());
        let Some(total) = total.filter(|total| *total != 0) else {
            let what = format!("buffer of {count} rows of {bytes} bytes: at least 1 byte");
            return Err(fault(Status::Empty, what));
        };
        let cut = || endpoint.alloc(total)?.split(bytes, count);
        let bufs: Vec<Option<Buf>> = cut()
            .map_err(raise)?
            .into_iter()
            .enumerate()
            .map(|(row, mut buf)| {
                buf.set_tag(row as u64);
                Some(buf)
            })
            .collect();
        let lengths = vec![bytes as u32; count];
        let bufs = Held::new(bufs);
        let state = State { bufs, lengths, away: 0, views: 0, closed: false };
        Ok(Self { count, bytes, state: Mutex::new(state), views: views.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, if the memory is here and nobody looks at it.
    fn alone(&self) -> PyResult<MutexGuard<'_, State>> {
        let state = self.here()?;
        if state.views != 0 {
            return Err(in_use(format!(
                "buffer: {} views of it exist (memoryview, NumPy array): release or delete them \
                 before a queue gets it",
                state.views
            )));
        }
        Ok(state)
    }

    /// The state, if the memory is here.
    fn here(&self) -> PyResult<MutexGuard<'_, State>> {
        let state = self.lock();
        state.bufs.check("buffer")?;
        if state.closed {
            return Err(in_use("buffer: it is released"));
        }
        if state.away != 0 {
            return Err(in_use(format!(
                "buffer: a queue has {} of its {} rows: wait until they are sent (Tx.drain) or \
                 received (Rx.recv_group)",
                state.away, self.count
            )));
        }
        Ok(state)
    }

    /// Takes all rows for a queue. `length` is the number of bytes of each to use.
    pub fn take(&self, length: Option<usize>) -> PyResult<Vec<Buf>> {
        let length = length.unwrap_or(self.bytes);
        if length == 0 || length > self.bytes {
            let status = if length == 0 { Status::Empty } else { Status::TooLong };
            let what = format!("{length} bytes of rows of {}: 1 to {0}", self.bytes);
            return Err(fault(status, what));
        }
        let mut state = self.alone()?;
        let mut bufs: Vec<Buf> = state.bufs.iter_mut().filter_map(Option::take).collect();
        bufs.iter_mut().for_each(|buf| buf.set_len(length));
        state.away = bufs.len();
        Ok(bufs)
    }

    /// Takes back rows.
    pub fn give(&self, bufs: impl IntoIterator<Item = Buf>) {
        let mut state = self.lock();
        let State { bufs: places, lengths, away, .. } = &mut *state;
        for buf in bufs {
            let row = buf.tag() as usize;
            if let Some(length) = lengths.get_mut(row) {
                *length = buf.len() as u32;
            }
            if let Some(place) = places.get_mut(row) {
                *place = Some(buf);
            }
            *away = away.saturating_sub(1);
        }
    }

    /// Gives up rows that a queue could not return.
    pub fn lose(&self) {
        let mut state = self.lock();
        state.away = 0;
        state.closed = true;
        state.bufs.clear();
    }

    pub fn count(&self) -> usize {
        self.count
    }

    fn release(&self) -> PyResult<()> {
        if self.lock().closed {
            return Ok(());
        }
        let mut state = self.alone()?;
        state.closed = true;
        state.bufs.clear();
        Ok(())
    }
}

impl Buffer {
    pub fn new(rows: Rows, flat: bool) -> Self {
        let shape = match flat {
            true => Shape::bytes(rows.bytes),
            false => Shape::rows(rows.count, rows.bytes),
        };
        Self { shape, rows: Arc::new(rows) }
    }
}

#[pymethods]
impl Buffer {
    /// Number of rows and bytes of each.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows.count, self.rows.bytes)
    }

    /// Bytes of each row that were received, or are to be sent.
    #[getter]
    fn lengths(&self) -> PyResult<Vec<u32>> {
        Ok(self.rows.here()?.lengths.clone())
    }

    /// Whether a queue has it.
    #[getter]
    fn posted(&self) -> bool {
        self.rows.lock().away != 0
    }

    /// A NumPy array over the memory, without a copy; `dtype` is that of its elements (uint8).
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

    /// Gives the memory back to the device. BufferError while views of it exist or a queue has it.
    fn release(&self) -> PyResult<()> {
        self.rows.release()
    }

    fn __len__(&self) -> usize {
        self.rows.count * self.rows.bytes
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.release()
    }

    fn __repr__(&self) -> String {
        let state = self.rows.lock();
        let word = match (state.closed, state.away) {
            (true, _) => "released",
            (_, 0) => "here",
            _ => "posted",
        };
        format!("Buffer({} x {} bytes, {word})", self.rows.count, self.rows.bytes)
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let rows = slf.get().rows.clone();
        let mut state = rows.here()?;
        let Some(Some(first)) = state.bufs.first_mut() else {
            return Err(in_use("buffer: it is released"));
        };
        first.set_len(first.capacity());
        // The rows are adjacent: `Rows::new` cut them one after the other.
        let data = first.as_mut_ptr();
        // SAFETY: Python calls this with a view to fill. The memory stays here until the view is
        // released: `alone` refuses to move it before. The shape is part of the frozen object.
        unsafe { view::fill(view, flags, slf.clone().into_any(), data, &slf.get().shape)? };
        state.views += 1;
        rows.views.add();
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        let mut state = self.rows.lock();
        state.views = state.views.saturating_sub(1);
        self.rows.views.remove();
    }
}
