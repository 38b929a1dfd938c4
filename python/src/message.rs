//! Broadcast messages, time-codes and distributed interrupts.

use crate::endpoint::{Child, Shared, until};
use crate::error::{fault, raise};
use crate::seat::Seat;
use crate::time::{Timeout, Until};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use spfe::{Deadline, Status, Threshold};
use std::os::fd::AsRawFd;
use std::sync::Arc;

struct Core<T> {
    seat: Seat<T>,
    shared: Arc<Shared>,
}

impl<T: Send + 'static> Core<T> {
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // Dropping it waits for messages under way.
        let taken = self.seat.close(py, |_| Ok(()))?;
        py.detach(|| drop(taken));
        Ok(())
    }
}

impl<T: Send + 'static> Child for Core<T> {
    fn close_with_parent(&self, py: Python<'_>) -> PyResult<()> {
        self.close(py)
    }
}

/// A received broadcast message.
#[pyclass(frozen, module = "spfe", eq)]
#[derive(PartialEq)]
pub struct BroadcastMessage {
    message: spfe::BroadcastMessage,
}

#[pymethods]
impl BroadcastMessage {
    /// Broadcast channel.
    #[getter]
    fn channel(&self) -> u8 {
        self.message.channel
    }

    /// Broadcast type.
    #[getter]
    fn kind(&self) -> u8 {
        self.message.kind
    }

    /// The eight data bytes.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.message.data)
    }

    /// Whether a retry of the link delayed it.
    #[getter]
    fn late(&self) -> bool {
        self.message.late
    }

    /// Whether it waited for another message.
    #[getter]
    fn delayed(&self) -> bool {
        self.message.delayed
    }

    /// Whether earlier messages were dropped, because nobody took them in time.
    #[getter]
    fn lost_before(&self) -> bool {
        self.message.lost_before
    }

    /// Device time of reception in ns.
    #[getter]
    fn time_ns(&self) -> u64 {
        self.message.time_ns
    }

    fn __repr__(&self) -> String {
        let spfe::BroadcastMessage { channel, kind, data, .. } = self.message;
        format!("BroadcastMessage(channel={channel}, kind={kind:#04x}, data={data:02x?})")
    }
}

/// A received time-code.
#[pyclass(frozen, get_all, eq, module = "spfe")]
#[derive(PartialEq)]
pub struct TimeCode {
    /// Time, 0 to 63.
    time: u8,
    /// Control flags, 0 to 3.
    flags: u8,
    /// Device time of reception in ns.
    time_ns: u64,
}

#[pymethods]
impl TimeCode {
    fn __repr__(&self) -> String {
        format!("TimeCode(time={}, flags={})", self.time, self.flags)
    }
}

/// A received distributed interrupt, or the acknowledgement of one.
#[pyclass(frozen, get_all, eq, module = "spfe")]
#[derive(PartialEq)]
pub struct InterruptCode {
    /// Its identifier, 0 to 31.
    number: u8,
    /// Whether the code acknowledges the interrupt.
    acknowledge: bool,
    /// Whether earlier interrupts were dropped, because nobody took them in time.
    lost_before: bool,
    /// Device time of reception in ns.
    time_ns: u64,
}

#[pymethods]
impl InterruptCode {
    fn __repr__(&self) -> String {
        let acknowledge = if self.acknowledge { "True" } else { "False" };
        format!("InterruptCode(number={}, acknowledge={acknowledge})", self.number)
    }
}

/// Sends and receives broadcast messages of a SpaceFibre port; `Port.broadcast` opens it.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     listener = endpoint.port(1).broadcast()
/// ...     endpoint.port(0).broadcast().send(b"8 bytes!", channel=1, kind=0x20)
/// ...     listener.recv(timeout=1).data
/// b'8 bytes!'
#[pyclass(frozen, weakref, module = "spfe")]
pub struct Broadcast {
    core: Arc<Core<spfe::Broadcast>>,
}

/// Sends and receives time-codes of a SpaceWire port; `Port.time_codes` opens it.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     listener = endpoint.port(3).time_codes()
/// ...     endpoint.port(2).time_codes().tick()
/// ...     listener.recv(timeout=1).time
/// 1
/// 1
#[pyclass(frozen, weakref, module = "spfe")]
pub struct TimeCodes {
    core: Arc<Core<spfe::TimeCode>>,
}

/// Sends and receives distributed interrupts of a SpaceWire port; `Port.interrupts` opens it.
///
/// >>> import spfe
/// >>> with spfe.open("virtual:") as endpoint:
/// ...     listener = endpoint.port(3).interrupts()
/// ...     endpoint.port(2).interrupts().send(5)
/// ...     listener.recv(timeout=1)
/// InterruptCode(number=5, acknowledge=False)
#[pyclass(frozen, weakref, module = "spfe")]
pub struct InterruptCodes {
    core: Arc<Core<spfe::InterruptCodes>>,
}

fn interrupt(of: spfe::InterruptCode) -> InterruptCode {
    let spfe::InterruptCode { number, acknowledge, lost_before, time_ns } = of;
    InterruptCode { number, acknowledge, lost_before, time_ns }
}

fn message(message: spfe::BroadcastMessage) -> BroadcastMessage {
    BroadcastMessage { message }
}

fn time_code(code: spfe::TimeCodeValue) -> TimeCode {
    TimeCode { time: code.time, flags: code.flags, time_ns: code.time_ns }
}

/// Methods that both kinds of messages have.
macro_rules! receives {
    ($class:ident, $queue:ty, $item:ident, $make:ident, { $($own:tt)* }) => {
        impl $class {
            pub fn new(shared: &Arc<Shared>, mut queue: $queue) -> Self {
                let canceller = queue.canceller();
                let what = concat!("messages (", stringify!($class), ")");
                let seat = Seat::new(what, queue, Some(canceller));
                let core = Arc::new(Core { seat, shared: shared.clone() });
                shared.adopt(Arc::downgrade(&core) as _);
                Self { core }
            }
        }

        #[pymethods]
        impl $class {
            $($own)*

            /// Waits for a message and takes it.
            #[pyo3(signature = (timeout=None))]
            fn recv(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<$item> {
                let core = &self.core;
                let until = until(&core.shared, timeout)?;
                let endpoint = core.shared.endpoint().map_err(raise)?;
                let got = core.seat.with(py, until, |queue| {
                    let wait = |at: Deadline| queue.recv(at);
                    until.wait(py, endpoint, wait, |error| core.seat.ended(error))
                })?;
                Ok($make(got))
            }

            /// The next message if there is one, else None. Does not wait.
            fn poll(&self, py: Python<'_>) -> PyResult<Option<$item>> {
                self.core.seat.with(py, Until::never(), |queue| {
                    Ok(py.detach(|| queue.poll()).map($make))
                })
            }

            /// Waits until all messages have been sent.
            #[pyo3(signature = (timeout=None))]
            fn drain(&self, py: Python<'_>, timeout: Option<Timeout>) -> PyResult<()> {
                let core = &self.core;
                let until = until(&core.shared, timeout)?;
                let endpoint = core.shared.endpoint().map_err(raise)?;
                core.seat.with(py, until, |queue| {
                    let wait = |at: Deadline| queue.drain(at);
                    until.wait(py, endpoint, wait, |error| core.seat.ended(error))
                })
            }

            /// The descriptor for poll and epoll, if opened with event=True.
            fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
                self.core.seat.with(py, Until::never(), |queue| {
                    Ok(queue.fd().map_err(raise)?.as_raw_fd())
                })
            }

            /// Makes the descriptor readable when a message is there. True if one is there already.
            fn request_event(&self, py: Python<'_>) -> PyResult<bool> {
                self.core.seat.with(py, Until::never(), |queue| {
                    py.detach(|| queue.request_event(&Threshold::ONE)).map_err(raise)
                })
            }

            /// Waits for a message in an asyncio task; needs event=True.
            fn arecv<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                slf.py().import("spfe._aio")?.getattr("recv")?.call1((slf,))
            }

            /// Ends the wait of another thread, or its next one, with CANCELLED.
            fn cancel(&self) -> PyResult<()> {
                self.core.seat.cancel()
            }

            /// Waits up to a second for messages under way, and closes the queue.
            fn close(&self, py: Python<'_>) -> PyResult<()> {
                self.core.close(py)
            }

            fn __iter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __next__(&self, py: Python<'_>) -> PyResult<$item> {
                self.recv(py, None)
            }

            fn __aiter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            fn __anext__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                Self::arecv(slf)
            }

            fn __enter__(slf: Py<Self>) -> Py<Self> {
                slf
            }

            #[pyo3(signature = (*_exception))]
            fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
                self.core.close(py)
            }
        }
    };
}

receives!(Broadcast, spfe::Broadcast, BroadcastMessage, message, {
    /// Sends eight bytes ahead of all data. BUSY if 64 messages are waiting already.
    #[pyo3(signature = (data, *, channel=0, kind=0))]
    fn send(&self, py: Python<'_>, data: &[u8], channel: u8, kind: u8) -> PyResult<()> {
        let data = <[u8; 8]>::try_from(data).map_err(|_| {
            let what = format!("broadcast message of {} bytes: exactly 8", data.len());
            fault(Status::BadField, what)
        })?;
        self.core.seat.with(py, Until::never(), |queue| {
            py.detach(|| queue.send(channel, kind, data)).map_err(raise)
        })
    }
});
receives!(TimeCodes, spfe::TimeCode, TimeCode, time_code, {
    /// Sends a time-code: time 0 to 63, flags 0 to 3.
    #[pyo3(signature = (time, flags=0))]
    fn send(&self, py: Python<'_>, time: u8, flags: u8) -> PyResult<()> {
        self.core
            .seat
            .with(py, Until::never(), |queue| py.detach(|| queue.send(time, flags)).map_err(raise))
    }

    /// Sends the time-code that follows the last one sent here, and returns its time.
    fn tick(&self, py: Python<'_>) -> PyResult<u8> {
        self.core.seat.with(py, Until::never(), |queue| py.detach(|| queue.tick()).map_err(raise))
    }
});
receives!(InterruptCodes, spfe::InterruptCodes, InterruptCode, interrupt, {
    /// Sends an interrupt, 0 to 31.
    fn send(&self, py: Python<'_>, number: u8) -> PyResult<()> {
        self.core
            .seat
            .with(py, Until::never(), |queue| py.detach(|| queue.send(number)).map_err(raise))
    }

    /// Acknowledges an interrupt, 0 to 31.
    fn acknowledge(&self, py: Python<'_>, number: u8) -> PyResult<()> {
        self.core.seat.with(py, Until::never(), |queue| {
            py.detach(|| queue.acknowledge(number)).map_err(raise)
        })
    }
});
