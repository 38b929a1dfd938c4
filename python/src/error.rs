//! Exceptions. Their classes are in spfe/errors.py; the statuses are those of the contract.
//!
//! An exception is made when Python gets it. No Python code runs here, so locks may be held.

use pyo3::PyErr;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use spfe::{Error, Status, StatusClass, rmap};
use spfe_remote::RdmaError;
use spfe_remote::engine::WorkError;
use spfe_remote::engine::initiator::PostError;
use std::path::Path;

mod classes {
    pyo3::import_exception!(spfe.errors, LinkError);
    pyo3::import_exception!(spfe.errors, LocalError);
    pyo3::import_exception!(spfe.errors, RdmaRefused);
    pyo3::import_exception!(spfe.errors, RemoteError);
    pyo3::import_exception!(spfe.errors, RmapInvalid);
    pyo3::import_exception!(spfe.errors, RmapRefused);
    pyo3::import_exception!(spfe.errors, SystemCallError);
    pyo3::import_exception!(spfe.errors, TimedOut);
    pyo3::import_exception!(spfe.errors, UsageError);
}

/// Every status of the contract: name, value, class, errno, meaning.
#[pyfunction]
pub fn statuses() -> Vec<(&'static str, u8, &'static str, i32, &'static str)> {
    let row = |status: &Status| {
        let class = match status.class() {
            StatusClass::Ok => "ok",
            StatusClass::Local => "local",
            StatusClass::Remote => "remote",
            StatusClass::Link => "link",
            StatusClass::Usage => "usage",
        };
        (status.name(), status.raw(), class, status.errno(), status.doc())
    };
    Status::ALL.iter().map(row).collect()
}

/// An exception for a status.
pub fn fault(status: Status, what: impl Into<String>) -> PyErr {
    let arguments = (what.into(), status.raw());
    match status.class() {
        StatusClass::Remote => classes::RemoteError::new_err(arguments),
        StatusClass::Link => classes::LinkError::new_err(arguments),
        StatusClass::Usage => classes::UsageError::new_err(arguments),
        StatusClass::Local | StatusClass::Ok => classes::LocalError::new_err(arguments),
    }
}

/// An exception for an error of the library.
pub fn raise(error: Error) -> PyErr {
    let what = error.to_string();
    match &error {
        Error::TimedOut(_) => timed_out(what),
        Error::Io { .. } => {
            classes::SystemCallError::new_err((what, None::<u8>, Some(error.errno())))
        }
        _ => fault(error.status().unwrap_or(Status::BadField), what),
    }
}

/// An exception for a file that could not be used.
pub fn raise_io(path: &Path, error: &std::io::Error) -> PyErr {
    let what = format!("'{}': {error}", path.display());
    classes::SystemCallError::new_err((what, None::<u8>, error.raw_os_error()))
}

/// The exception for a deadline that has passed.
pub fn timed_out(what: impl Into<String>) -> PyErr {
    classes::TimedOut::new_err((what.into(),))
}

/// An exception for an error of an RMAP transaction.
pub fn raise_rmap(error: rmap::Error) -> PyErr {
    let what = error.to_string();
    match error {
        rmap::Error::Device(error) => raise(error),
        rmap::Error::TimedOut { .. } => timed_out(what),
        rmap::Error::Refused { status, .. } => classes::RmapRefused::new_err((what, status.0)),
        rmap::Error::Invalid { .. } => classes::RmapInvalid::new_err((what,)),
        rmap::Error::Command(_) => fault(Status::BadField, what),
    }
}

/// An exception for a request of RDMA that failed.
pub fn raise_work(what: &str, error: WorkError) -> PyErr {
    let text = format!("RDMA {what}: {error}");
    match error {
        WorkError::Refused(status, _) => classes::RdmaRefused::new_err((text, status.0)),
        _ => fault(error.status(), text),
    }
}

/// An exception for an error of RDMA.
pub fn raise_rdma(error: RdmaError) -> PyErr {
    let what = error.to_string();
    match error {
        RdmaError::Device(error) => raise(error),
        RdmaError::TimedOut { .. } => timed_out(what),
        RdmaError::Refused { status, .. } => classes::RdmaRefused::new_err((what, status.0)),
        RdmaError::Work { what, error } => raise_work(&what, error),
        RdmaError::Answer { .. } => fault(Status::PacketCut, what),
        RdmaError::Post(PostError::Full { .. }) => fault(Status::Busy, what),
        RdmaError::Post(PostError::TooLong { .. }) => fault(Status::TooLong, what),
        RdmaError::Post(PostError::Local(_)) => fault(Status::OutOfBounds, what),
        RdmaError::Post(_) => fault(Status::BadField, what),
    }
}

/// The exception for memory that cannot be used now.
pub fn in_use(what: impl Into<String>) -> PyErr {
    PyBufferError::new_err(what.into())
}
