//! Exceptions. Their classes are in spfe/errors.py; the statuses are those of the contract.
//!
//! An exception is made when Python gets it. No Python code runs here, so locks may be held.

use pyo3::PyErr;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use spfe::{Error, Status, StatusClass, rmap};

mod classes {
    pyo3::import_exception!(spfe.errors, LinkError);
    pyo3::import_exception!(spfe.errors, LocalError);
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

/// The exception for memory that cannot be used now.
pub fn in_use(what: impl Into<String>) -> PyErr {
    PyBufferError::new_err(what.into())
}
