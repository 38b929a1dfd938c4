//! The RMAP target (ECSS-E-ST-50-52C).

use crate::endpoint::{Child, Shared, until};
use crate::error::raise;
use crate::held::Held;
use crate::rdma::SLICE;
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use crate::view::{self, Place, Shape, Views};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spfe::Region;
use spfe::rmap::{Allow, Target, TargetConfig, Window};
use std::ffi::c_int;
use std::sync::Arc;

/// Gives other nodes access to memory of this process; `Port.rmap_target` opens it. Commands are
/// executed while `serve` runs, so give it a thread.
///
/// >>> import spfe, threading
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     target = endpoint.port(1).rmap_target()
/// ...     memory = target.window(0x4000_0000, 4096, key=0x20)
/// ...     server = threading.Thread(target=target.serve, args=[1])
/// ...     server.start()
/// ...     with endpoint.port(0).rmap(key=0x20) as rmap:
/// ...         rmap.write(0x4000_0010, b"from here to there", timeout=5)
/// ...     server.join()
/// ...     bytes(memory)[0x10:0x22]
/// b'from here to there'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct RmapTarget {
    core: Arc<Core>,
}

struct Core {
    seat: Seat<Target>,
    shared: Arc<Shared>,
}

impl Child for Core {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        let taken = self.seat.close(py, |_| Ok(()))?;
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl RmapTarget {
    pub fn open(
        shared: &Arc<Shared>,
        vc: &spfe::Vc,
        config: TargetConfig,
        max_data: u32,
    ) -> PyResult<Self> {
        let mut target = Target::open(vc, config, max_data).map_err(raise)?;
        let canceller = target.canceller();
        let seat = Seat::new("RMAP target", target, Some(canceller));
        let core = Arc::new(Core { seat, shared: shared.clone() });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(Self { core })
    }
}

#[pymethods]
impl RmapTarget {
    /// Gives access to `size` bytes of new memory from a 40-bit address on, and returns them. Commands
    /// need the `key` if there is one; those that are not allowed are refused with status 10.
    #[pyo3(signature = (address, size, *, key=None, read=true, write=true, modify=true))]
    #[allow(clippy::too_many_arguments)] // by name in Python
    fn window(
        &self,
        py: Python<'_>,
        address: u64,
        size: usize,
        key: Option<u8>,
        read: bool,
        write: bool,
        modify: bool,
    ) -> PyResult<RmapWindow> {
        let shared = &self.core.shared;
        self.core.seat.with(py, Until::never(), |target| {
            let region = shared.endpoint().and_then(|of| of.alloc(size.max(1))).map_err(raise)?;
            let mut buf = region.buf(0..size).map_err(raise)?;
            let first = Place(buf.as_mut_ptr());
            let window = Window::new(address, buf).allow(Allow { read, write, modify });
            let window = key.into_iter().fold(window, Window::key);
            target.add(window).map_err(raise)?;
            Ok(RmapWindow {
                first,
                region: Held::new(region),
                shape: Shape::bytes(size),
                views: shared.views.clone(),
            })
        })
    }

    /// Executes commands until the time is over. Returns the number of packets taken. `cancel` and
    /// `close` end it with CANCELLED.
    #[pyo3(signature = (timeout=None))]
    fn serve(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<u64> {
        let at = until(&self.core.shared, timeout)?;
        let endpoint = self.core.shared.endpoint().map_err(raise)?;
        let mut count = 0;
        loop {
            // In slices, to look for signals and to let others add windows.
            let (slice, last) = at.slice(endpoint, SLICE);
            count += self.core.seat.with(py, at, |target| {
                let served = py.detach(|| target.serve_until(slice));
                served.map_err(|error| self.core.seat.ended(error))
            })?;
            if last {
                return Ok(count);
            }
            py.check_signals()?;
        }
    }

    /// Ends the serving of another thread, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Closes the target. Its windows stay readable here.
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

/// Memory that an RMAP target gives to other nodes. It supports the buffer protocol:
/// `memoryview(window)` and `window.array()` are the memory itself, which changes while the target
/// serves.
#[pyclass(frozen, weakref, module = "spfe")]
pub struct RmapWindow {
    first: Place,
    /// Keeps the memory.
    region: Held<Region>,
    shape: Shape,
    views: Arc<Views>,
}

#[pymethods]
impl RmapWindow {
    /// A NumPy array over the memory, without a copy; `dtype` is that of its elements (uint8).
    #[pyo3(signature = (dtype=None))]
    fn array<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        view::array(slf.as_any(), dtype)
    }

    fn __len__(&self) -> usize {
        self.shape.count()
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let window = slf.get();
        window.region.check("RMAP window")?;
        // SAFETY: Python calls this with a view to fill. The view keeps this object, which keeps the
        // memory. The shape is part of the frozen object. The target accesses the memory meanwhile
        // as a device would; the bytes that a view reads then are old or new ones.
        unsafe { view::fill(view, flags, slf.clone().into_any(), window.first.0, &window.shape)? };
        window.views.add();
        Ok(())
    }

    unsafe fn __releasebuffer__(&self, _view: *mut ffi::Py_buffer) {
        self.views.remove();
    }
}
