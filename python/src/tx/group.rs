//! What Python passes to be sent together: groups of packets, and bursts.

use crate::bytes::Bytes;
use crate::error::fault;
use pyo3::prelude::*;
use spfe::Status;

/// A group of packets in the memory of Python.
pub enum Group {
    Rows(Bytes, usize, usize),
    List(Vec<Bytes>),
}

impl Group {
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = Bytes::of(object) {
            let (rows, length) = bytes.rows()?;
            return Ok(Self::Rows(bytes, rows, length));
        }
        let parts: PyResult<_> = object.try_iter()?.map(|part| Bytes::of(&part?)).collect();
        Ok(Self::List(parts?))
    }

    pub fn count(&self) -> usize {
        match self {
            Self::Rows(_, rows, _) => *rows,
            Self::List(parts) => parts.len(),
        }
    }

    pub fn length(&self, index: usize) -> usize {
        match self {
            Self::Rows(_, _, length) => *length,
            Self::List(parts) => parts.get(index).map_or(0, Bytes::len),
        }
    }

    pub fn longest(&self) -> PyResult<usize> {
        for index in 0..self.count() {
            if self.length(index) == 0 {
                let what = format!("packet {index} of 0 bytes: at least 1");
                return Err(fault(Status::Empty, what));
            }
        }
        Ok((0..self.count()).map(|index| self.length(index)).max().unwrap_or(0))
    }

    pub fn copy_to(&self, py: Python<'_>, index: usize, to: &mut [u8]) {
        match self {
            Self::Rows(bytes, _, length) => bytes.copy_to(py, index * length, to),
            Self::List(parts) => {
                if let Some(part) = parts.get(index) {
                    part.copy_to(py, 0, to);
                }
            }
        }
    }
}

/// Where the packets of a burst lie: length and distance in bytes, and their number.
#[derive(Clone, Copy)]
pub struct Burst {
    pub length: u32,
    pub stride: u32,
    pub count: u32,
}

impl Burst {
    pub fn of(
        bytes: usize,
        length: usize,
        stride: Option<usize>,
        count: Option<usize>,
    ) -> PyResult<Self> {
        let stride = stride.unwrap_or(length);
        let count = count.unwrap_or_else(|| {
            let behind = bytes.saturating_sub(length).checked_div(stride);
            behind.map_or(1, |behind| behind + 1)
        });
        let number = |name: &str, value: usize| {
            let what = || format!("burst: {name} of {value}: less than 4 Gi");
            u32::try_from(value).map_err(|_| fault(Status::TooLong, what()))
        };
        let (length, stride) = (number("length", length)?, number("stride", stride)?);
        Ok(Self { length, stride, count: number("count", count)? })
    }
}
