//! The RMAP initiator (ECSS-E-ST-50-52C).

use crate::bytes::Bytes;
use crate::endpoint::{Child, Shared, until};
use crate::error::{fault, raise, raise_rmap};
use crate::seat::Seat;
use crate::time::Timeout;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use spfe::Status;
use spfe::rmap::{Initiator, InitiatorOptions, Remote, ReplyAddress};
use std::sync::Arc;

/// Longest path address of a command, bytes.
const PATH_MAX: usize = 32;

/// Addresses of a target, as Python gives them.
pub struct Target {
    pub target: u8,
    pub key: u8,
    pub path: Vec<u8>,
    pub reply_path: Vec<u8>,
    pub initiator: u8,
}

/// Reads and writes the memory of another node; `Port.rmap` opens it.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:?peer=rmap:1M:key=0x20") as endpoint:
/// ...     with endpoint.port(0).rmap(key=0x20) as rmap:
/// ...         rmap.write(0x100, b"from here to there")
/// ...         rmap.read(0x100, 18)
/// b'from here to there'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Rmap {
    core: Arc<Core>,
}

struct Core {
    seat: Seat<Initiator>,
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

impl Rmap {
    pub fn open(shared: &Arc<Shared>, vc: &spfe::Vc, to: Target) -> PyResult<Self> {
        if to.path.len() > PATH_MAX {
            let what = format!("path address of {} bytes: at most {PATH_MAX}", to.path.len());
            return Err(fault(Status::BadField, what));
        }
        let reply_address = ReplyAddress::from_path(&to.reply_path)
            .map_err(|error| fault(Status::BadField, format!("reply path: {error}")))?;
        let Target { target, key, path, initiator, .. } = to;
        let remote = Remote { path, target, key, reply_address, initiator };
        let mut rmap = Initiator::open(vc, InitiatorOptions::new(remote)).map_err(raise)?;
        let canceller = rmap.canceller();
        let seat = Seat::new("RMAP initiator", rmap, Some(canceller));
        let core = Arc::new(Core { seat, shared: shared.clone() });
        shared.adopt(Arc::downgrade(&core) as _);
        Ok(Self { core })
    }
}

#[pymethods]
impl Rmap {
    /// Reads `length` bytes of consecutive addresses (40 bits). Long accesses take several commands.
    #[pyo3(signature = (address, length, *, timeout=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        length: usize,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let at = until(&self.core.shared, timeout)?;
        let data = self.core.seat.with(py, at, |rmap| {
            py.detach(|| {
                let mut data = vec![0; length];
                rmap.read(address, &mut data, at.deadline()).map(|()| data)
            })
            .map_err(raise_rmap)
        })?;
        Ok(PyBytes::new(py, &data))
    }

    /// Writes data to consecutive addresses, verified and with a reply.
    #[pyo3(signature = (address, data, *, timeout=None))]
    fn write(
        &self,
        py: Python<'_>,
        address: u64,
        data: &Bound<'_, PyAny>,
        timeout: Option<Timeout>,
    ) -> PyResult<()> {
        let at = until(&self.core.shared, timeout)?;
        let data = Bytes::of(data)?.to_vec(py);
        self.core.seat.with(py, at, |rmap| {
            py.detach(|| rmap.write(address, &data, at.deadline())).map_err(raise_rmap)
        })
    }

    /// Writes the bits of `data` where `mask` is one, and returns the previous value. Both have 1 to 4
    /// bytes.
    #[pyo3(signature = (address, data, mask, *, timeout=None))]
    fn modify<'py>(
        &self,
        py: Python<'py>,
        address: u64,
        data: &[u8],
        mask: &[u8],
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let at = until(&self.core.shared, timeout)?;
        let mut old = vec![0; data.len()];
        self.core.seat.with(py, at, |rmap| {
            let old = &mut old;
            py.detach(|| rmap.modify(address, data, mask, old, at.deadline())).map_err(raise_rmap)
        })?;
        Ok(PyBytes::new(py, &old))
    }

    /// Ends the wait of another thread, or its next one, with CANCELLED.
    fn cancel(&self) -> PyResult<()> {
        self.core.seat.cancel()
    }

    /// Closes the initiator and its queues.
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
