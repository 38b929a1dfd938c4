//! Timeouts and deadlines, and waits that let other threads and signals in.

use crate::error::{fault, timed_out};
use crate::held::Held;
use crate::seat::LOOK;
use pyo3::prelude::*;
use spfe::{Endpoint, Error, Status};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A time on the clock of an endpoint, for the `timeout` of several calls.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     deadline = endpoint.deadline(0.25)
/// ...     0 < deadline.remaining <= 0.25
/// True
#[pyclass(frozen, from_py_object, module = "spfe")]
#[derive(Clone)]
pub struct Deadline {
    endpoint: Arc<Held<Endpoint>>,
    ns: u64,
}

#[pymethods]
impl Deadline {
    /// Device time in ns.
    #[getter]
    fn time_ns(&self) -> u64 {
        self.ns
    }

    /// Seconds left; 0 when it has passed.
    #[getter]
    fn remaining(&self) -> f64 {
        self.ns.saturating_sub(self.endpoint.now_ns()) as f64 * 1e-9
    }

    fn __repr__(&self) -> String {
        format!("Deadline({:.6} s left)", self.remaining())
    }
}

impl Deadline {
    pub fn new(endpoint: &Endpoint, seconds: f64) -> PyResult<Self> {
        let ns = at(endpoint, seconds)?;
        Ok(Self { endpoint: Arc::new(Held::new(endpoint.clone())), ns })
    }
}

/// The `timeout` of a call: seconds, or a deadline; none is without limit.
#[derive(FromPyObject)]
pub enum Timeout {
    At(Deadline),
    After(f64),
}

fn at(endpoint: &Endpoint, seconds: f64) -> PyResult<u64> {
    let length = Duration::try_from_secs_f64(seconds).map_err(|_| {
        let what = format!("timeout of {seconds} s: 0 or more, or None for no limit");
        fault(Status::BadField, what)
    })?;
    let ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    Ok(endpoint.now_ns().saturating_add(ns))
}

/// The end of a wait.
#[derive(Clone, Copy)]
pub struct Until {
    /// Device time in ns; `None` for never.
    ns: Option<u64>,
    /// The same in real time, for waits on other threads.
    real: Option<Instant>,
}

impl Until {
    pub fn never() -> Self {
        Self { ns: None, real: None }
    }

    pub fn now() -> Self {
        Self { ns: Some(0), real: Some(Instant::now()) }
    }

    pub fn of(endpoint: &Endpoint, timeout: Option<Timeout>) -> PyResult<Self> {
        let ns = match timeout {
            None => return Ok(Self::never()),
            Some(Timeout::After(0.0)) => return Ok(Self::now()),
            Some(Timeout::After(seconds)) => at(endpoint, seconds)?,
            Some(Timeout::At(deadline)) => deadline.ns,
        };
        let left = Duration::from_nanos(ns.saturating_sub(endpoint.now_ns()));
        Ok(Self { ns: Some(ns), real: Instant::now().checked_add(left) })
    }

    pub fn real(self) -> Option<Instant> {
        self.real
    }

    pub fn deadline(self) -> spfe::Deadline {
        self.ns.map_or(spfe::Deadline::NEVER, spfe::Deadline::at_ns)
    }

    /// The end of a wait of this length at most, and whether it is the whole. On a virtual clock it
    /// is: time would pass while the program looks for signals.
    pub fn slice(self, endpoint: &Endpoint, length: Duration) -> (spfe::Deadline, bool) {
        let slice = endpoint.now_ns().saturating_add(length.as_nanos() as u64);
        let last = endpoint.clock().is_virtual() || self.ns.is_some_and(|ns| ns <= slice);
        (if last { self.deadline() } else { spfe::Deadline::at_ns(slice) }, last)
    }

    /// Waits with `wait`, which gets a deadline and is called again after each look for signals.
    pub fn wait<R>(
        self,
        py: Python<'_>,
        endpoint: &Endpoint,
        mut wait: impl FnMut(spfe::Deadline) -> spfe::Result<R> + Send,
        failed: impl FnOnce(Error) -> PyErr,
    ) -> PyResult<R>
    where
        R: Send,
    {
        loop {
            let (deadline, last) = self.slice(endpoint, LOOK);
            match py.detach(|| wait(deadline)) {
                Ok(result) => return Ok(result),
                Err(error) if error.is_timeout() && !last => py.check_signals()?,
                Err(error) if error.is_timeout() => return Err(timed_out(error.to_string())),
                Err(error) => return Err(failed(error)),
            }
        }
    }
}
