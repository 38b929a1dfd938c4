//! Descriptions as objects with attributes (spfe/_record.py).

use crate::error::fault;
use pyo3::prelude::*;
use spfe::Status;

/// An object with the keys of a JSON text as attributes.
pub fn parse<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("spfe._record")?.getattr("parse")?.call1((text,))
}

/// A description as an object.
pub fn of<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    parse(py, &value.to_string())
}

/// A value as JSON. What cannot be written is a defect of the library, and says so.
pub fn json<T>(made: Result<T, serde_json::Error>) -> PyResult<T> {
    made.map_err(|error| fault(Status::BadField, format!("description: {error}")))
}
