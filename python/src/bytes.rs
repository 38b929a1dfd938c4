//! Memory of Python that is sent: anything with the buffer protocol whose bytes are adjacent.

use crate::error::fault;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::prelude::*;
use spfe::Status;

/// Bytes of a Python object, which keeps them alive and in place.
pub struct Bytes {
    buffer: PyUntypedBuffer,
}

impl Bytes {
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyUntypedBuffer::get(object)?;
        if !buffer.is_c_contiguous() {
            let what = "data: its bytes are not adjacent; pass numpy.ascontiguousarray(data)";
            return Err(fault(Status::BadField, what));
        }
        Ok(Self { buffer })
    }

    pub fn len(&self) -> usize {
        self.buffer.len_bytes()
    }

    /// Number of rows and bytes of each: the first dimension counts rows.
    pub fn rows(&self) -> PyResult<(usize, usize)> {
        let shape = self.buffer.shape();
        match shape.first() {
            Some(&rows) if shape.len() > 1 && rows != 0 => Ok((rows, self.len() / rows)),
            Some(0) => Ok((0, 0)),
            _ => {
                let what = "group: pass an array with two dimensions, a row for each packet, or a \
                            list of packets";
                Err(fault(Status::BadField, what))
            }
        }
    }

    /// Copies bytes from an offset. The caller holds the interpreter.
    pub fn copy_to(&self, _py: Python<'_>, offset: usize, to: &mut [u8]) {
        assert!(offset + to.len() <= self.len(), "past the end of the data");
        let from = self.buffer.buf_ptr().cast::<u8>();
        // SAFETY: the range is inside the buffer, which Python keeps in place while we have it. Raw
        // copies, because other threads of Python may write to it.
        unsafe { std::ptr::copy_nonoverlapping(from.add(offset), to.as_mut_ptr(), to.len()) };
    }

    pub fn to_vec(&self, py: Python<'_>) -> Vec<u8> {
        let mut bytes = vec![0; self.len()];
        self.copy_to(py, 0, &mut bytes);
        bytes
    }
}
