//! The native part of the Python package `spfe` (docs/python.md).
//!
//! | module | what it has |
//! | --- | --- |
//! | [`error`] | exceptions from errors of the library |
//! | [`held`] | values that a forked child must not drop |
//! | [`seat`] | one thread at a time uses a queue, and closing waits for it |
//! | [`time`] | timeouts and deadlines, and waits that let other threads and signals in |
//! | [`view`] | the buffer protocol, and counts of views |
//! | [`buffer`], [`packet`] | memory that Python sees: its own, and received |
//! | [`bytes`] | memory of Python that is sent |
//! | [`endpoint`], [`tx`], [`rx`], [`packed`], [`message`] | endpoints, ports and their queues |
//! | [`rmap`], [`rmap_target`], [`rdma`], [`ccsds`] | protocols above packets |
//! | [`network`], [`scenario`], [`capture`] | networks in this process, simulations, captures |
//!
//! No class is ever borrowed mutably: each is frozen, and what changes is behind a mutex that is
//! held for a few instructions and never while Python code runs.

mod buffer;
mod bytes;
mod capture;
mod ccsds;
mod endpoint;
mod error;
mod held;
mod message;
mod network;
mod packed;
mod packet;
mod rdma;
mod record;
mod rmap;
mod rmap_target;
mod rx;
mod scenario;
mod seat;
mod time;
mod tx;
mod view;

use pyo3::prelude::*;

/// Native part of the package; use `import spfe`.
#[pymodule]
mod _spfe {
    #[pymodule_export]
    use crate::buffer::Buffer;
    #[pymodule_export]
    use crate::capture::Capture;
    #[pymodule_export]
    use crate::ccsds::SpacePacket;
    #[pymodule_export]
    use crate::endpoint::{Endpoint, Mib, Port};
    #[pymodule_export]
    use crate::error::statuses;
    #[pymodule_export]
    use crate::message::{
        Broadcast, BroadcastMessage, InterruptCode, InterruptCodes, TimeCode, TimeCodes,
    };
    #[pymodule_export]
    use crate::network::Network;
    #[pymodule_export]
    use crate::packed::{PackedRx, Record, Run};
    #[pymodule_export]
    use crate::packet::Packet;
    #[pymodule_export]
    use crate::rdma::{Rdma, RdmaCompletion, RdmaGroup, RdmaPooled, RdmaRegion, Server};
    #[pymodule_export]
    use crate::rmap::Rmap;
    #[pymodule_export]
    use crate::rmap_target::{RmapTarget, RmapWindow};
    #[pymodule_export]
    use crate::rx::Rx;
    #[pymodule_export]
    use crate::scenario::{Results, Scenario};
    #[pymodule_export]
    use crate::time::Deadline;
    #[pymodule_export]
    use crate::tx::Tx;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
