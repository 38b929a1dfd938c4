//! The buffer protocol, and counts of views.
//!
//! A view (memoryview, NumPy array) refers to the object that gave it, which is not freed before.
//! While views exist, memory stays where it is: whoever would give it to a queue, or close the
//! object, asks the counts first.

use crate::error::in_use;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of views of the memory of something, which is part of something larger.
#[derive(Default)]
pub struct Views {
    count: AtomicUsize,
    parent: Option<Arc<Views>>,
}

impl Views {
    pub fn of(parent: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { count: AtomicUsize::new(0), parent: Some(parent.clone()) })
    }

    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.add();
        }
    }

    pub fn remove(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(parent) = &self.parent {
            parent.remove();
        }
    }

    /// Refuses while there are views.
    pub fn none(&self, what: &str) -> PyResult<()> {
        match self.count.load(Ordering::Relaxed) {
            0 => Ok(()),
            count => Err(in_use(format!(
                "{what}: {count} views of its memory exist (memoryview, NumPy array): \
                 release or delete them first"
            ))),
        }
    }
}

/// An address in memory that something else keeps.
#[derive(Clone, Copy)]
pub struct Place(pub *mut u8);

// SAFETY: an address is only a number; who uses it has to know that the memory is there.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

/// Shape and strides of memory, which a view points to.
pub struct Shape {
    shape: [ffi::Py_ssize_t; 2],
    strides: [ffi::Py_ssize_t; 2],
    dimensions: usize,
    read_only: bool,
}

impl Shape {
    /// A row of bytes.
    pub fn bytes(count: usize) -> Self {
        Self { shape: [count as isize, 0], strides: [1, 0], dimensions: 1, read_only: false }
    }

    /// Rows of bytes.
    pub fn rows(rows: usize, bytes: usize) -> Self {
        let shape = [rows as isize, bytes as isize];
        Self { shape, strides: [bytes as isize, 1], dimensions: 2, read_only: false }
    }

    /// Rows of bytes that lie `stride` bytes apart, only to be read.
    pub fn strided(rows: usize, bytes: usize, stride: usize) -> Self {
        let mut shape = Self::rows(rows, bytes).read_only();
        shape.strides[0] = stride as isize;
        shape
    }

    /// Number of bytes.
    pub fn count(&self) -> usize {
        self.shape[..self.dimensions].iter().product::<isize>() as usize
    }

    /// The same, only to be read.
    pub fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Whether the bytes are adjacent.
    fn is_contiguous(&self) -> bool {
        self.dimensions == 1 || self.shape[0] <= 1 || self.strides[0] == self.shape[1]
    }
}

/// Fills a view.
///
/// # Safety
/// `view` is null or valid for writes. `data` has the bytes that `shape` says. `data` and `shape`
/// are valid and stay where they are until the view is released, which keeps `object` alive.
pub unsafe fn fill(
    view: *mut ffi::Py_buffer,
    flags: c_int,
    object: Bound<'_, PyAny>,
    data: *mut u8,
    shape: &Shape,
) -> PyResult<()> {
    if view.is_null() {
        return Err(in_use("there is no place for the view"));
    }
    let wants = |flag: c_int| flags & flag == flag;
    if shape.read_only && wants(ffi::PyBUF_WRITABLE) {
        return Err(in_use("received packets in an area: they can only be read"));
    }
    let adjacent =
        [ffi::PyBUF_C_CONTIGUOUS, ffi::PyBUF_F_CONTIGUOUS, ffi::PyBUF_ANY_CONTIGUOUS].map(wants);
    if !shape.is_contiguous() && (!wants(ffi::PyBUF_STRIDES) || adjacent.contains(&true)) {
        return Err(in_use("rows of bytes: they are not adjacent; take each by itself"));
    }
    let Shape { shape, strides, dimensions, read_only } = shape;
    let len = shape[..*dimensions].iter().product();
    // SAFETY: the caller's promise. The format is a constant.
    unsafe {
        (*view).buf = data.cast::<c_void>();
        (*view).len = len;
        (*view).readonly = (*read_only).into();
        (*view).itemsize = 1;
        (*view).format = match wants(ffi::PyBUF_FORMAT) {
            true => c"B".as_ptr().cast_mut(),
            false => ptr::null_mut(),
        };
        let with_shape = wants(ffi::PyBUF_ND);
        (*view).ndim = if with_shape { *dimensions as c_int } else { 1 };
        (*view).shape = if with_shape { shape.as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).strides = match wants(ffi::PyBUF_STRIDES) {
            true => strides.as_ptr().cast_mut(),
            false => ptr::null_mut(),
        };
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = ptr::null_mut();
        (*view).obj = object.into_ptr();
    }
    Ok(())
}

/// A NumPy array over an object's memory, with elements of a type.
pub fn array<'py>(
    object: &Bound<'py, PyAny>,
    dtype: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    // NumPy would make an array of one object of what refuses a view.
    let view = PyMemoryView::from(object)?;
    let array = object.py().import("numpy")?.call_method1("asarray", (view,))?;
    match dtype {
        Some(dtype) => array.call_method1("view", (dtype,)),
        None => Ok(array),
    }
}
