//! Captures of links into pcapng files (docs/capture.md).

use crate::error::{fault, raise, raise_io};
use crate::held::Held;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spfe::backend::daemon::{LiveCapture, socket};
use spfe::{CaptureOptions, CaptureRequest, Endpoint, Status};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// A running capture of links; `Endpoint.capture` starts it. It ends with its `with` statement or with
/// `end`; only then the file is complete.
///
/// >>> import pathlib, spfe, tempfile
/// >>> with tempfile.TemporaryDirectory() as folder, spfe.open("virtual:") as endpoint:
/// ...     file = pathlib.Path(folder) / "links.pcapng"
/// ...     with endpoint.capture(file, links=["0.0-0.1"]) as capture:
/// ...         with endpoint.port(0).tx() as tx, endpoint.port(1).rx() as rx:
/// ...             tx.send(b"from here to there")
/// ...             packet = bytes(rx.recv(timeout=1))
/// ...     packet in file.read_bytes()
/// True
#[pyclass(frozen, module = "spfe")]
pub struct Capture {
    path: PathBuf,
    state: Mutex<State>,
}

enum State {
    Running(Held<Source>),
    /// The number of records in the file, and of those left out.
    Ended((u64, u64)),
    /// Ending it failed.
    Failed,
}

enum Source {
    /// Of a network in this process.
    Here(spfe::Capture),
    /// Of a daemon's network, and the thread that writes what the daemon sends.
    Daemon(LiveCapture, JoinHandle<io::Result<u64>>),
}

impl Source {
    fn end(self, path: &Path) -> PyResult<(u64, u64)> {
        match self {
            Self::Here(capture) => {
                let summary = capture.finish().map_err(|error| raise_io(path, &error))?;
                Ok((summary.records, summary.left_out))
            }
            Self::Daemon(mut live, writer) => {
                let counts = live.end().map_err(raise)?;
                let written = writer.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
                written.map_err(|error| raise_io(path, &error))?;
                Ok(counts)
            }
        }
    }
}

impl Capture {
    pub fn start(
        py: Python<'_>,
        endpoint: &Endpoint,
        path: PathBuf,
        wanted: CaptureRequest,
    ) -> PyResult<Self> {
        let source = py.detach(|| {
            let create = || File::create(&path).map_err(|error| raise_io(&path, &error));
            if let Some(network) = endpoint.embedded() {
                let CaptureRequest { links, words, packets } = wanted;
                let options = CaptureOptions { links, words, packets, ..CaptureOptions::default() };
                return Ok(Source::Here(network.capture(&options, create()?).map_err(raise)?));
            }
            let device = endpoint.info().uri;
            let Some(socket) = socket(&device) else {
                let what = format!(
                    "device '{device}': captures need a network in this process or a daemon"
                );
                return Err(fault(Status::BadOpcode, what));
            };
            let live = LiveCapture::open(socket, wanted).map_err(raise)?;
            let system = |error: io::Error| raise_io(&path, &error);
            let (pipe, file) = (live.pipe().try_clone().map_err(system)?, create()?);
            let writer = std::thread::Builder::new()
                .name("spfe capture".into())
                .spawn(move || copy(File::from(pipe), file))
                .map_err(system)?;
            Ok(Source::Daemon(live, writer))
        })?;
        Ok(Self { path, state: Mutex::new(State::Running(Held::new(source))) })
    }
}

/// Copies a file from the daemon's pipe, which does not block, until its end.
fn copy(mut from: File, mut to: File) -> io::Result<u64> {
    let mut ready = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut bytes = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        // SAFETY: one entry, of a descriptor that is open as long as `from`.
        unsafe { libc::poll(&mut ready, 1, -1) };
        match from.read(&mut bytes) {
            Ok(0) => return Ok(total),
            Ok(count) => {
                to.write_all(bytes.get(..count).unwrap_or_default())?;
                total += count as u64;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
}

#[pymethods]
impl Capture {
    /// Ends the capture and waits until the file is complete. Returns the number of records in it, and
    /// of those left out because the file was not written fast enough; the same in every call.
    fn end(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        py.detach(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let State::Running(source) = &*state {
                source.check("capture")?;
            }
            match std::mem::replace(&mut *state, State::Failed) {
                State::Ended(counts) => *state = State::Ended(counts),
                State::Running(source) => {
                    if let Some(source) = source.into_inner() {
                        *state = State::Ended(source.end(&self.path)?);
                    }
                }
                State::Failed => {}
            }
            match &*state {
                State::Ended(counts) => Ok(*counts),
                _ => Err(fault(Status::DeviceGone, "capture: it has failed before")),
            }
        })
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.end(py).map(drop)
    }
}
