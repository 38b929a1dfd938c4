//! The driver's user interface (`driver/linux/uapi/linux/spfe.h`): structures, calls, errors.

use crate::{Error, Result};
use rustix::fd::{AsRawFd, OwnedFd};
use spfe_contract::{QueueKind, QueueSetup, Status};
use spfe_host::QueueRequest;
use std::io;

/// `SPFE_UAPI_VERSION` of the oldest driver that works with this library.
pub const VERSION: u32 = 1;
/// `SPFE_UAPI_VERSION` of the first driver with queue pairs.
pub const PAIRS_SINCE: u32 = 4;
/// `SPFE_UAPI_VERSION` of the first driver that reads the counters of queue pairs.
#[cfg(feature = "rdma")]
pub const PAIR_COUNTERS_SINCE: u32 = 6;
/// `SPFE_INFO_BOUNCE`.
pub const INFO_BOUNCE: u32 = 0x1;
/// `SPFE_MIB_SET`.
pub const MIB_SET: u32 = 0x1;
/// `SPFE_PORT_PRIORITY`.
pub const PORT_PRIORITY: u32 = 0x2;

const MAGIC: u32 = 0xBB;
const WRITE: u32 = 1;
const READ: u32 = 2;

/// An ioctl: its name for error messages, and its number (`_IOC` of linux/ioctl.h).
pub struct Call<T> {
    pub name: &'static str,
    request: u32,
    argument: std::marker::PhantomData<fn(T)>,
}

impl<T> Call<T> {
    const fn new(name: &'static str, direction: u32, number: u32) -> Self {
        let request = direction << 30 | (size_of::<T>() as u32) << 16 | MAGIC << 8 | number;
        Self { name, request, argument: std::marker::PhantomData }
    }
}

macro_rules! calls {
    ($($(#[$when:meta])? $name:ident($argument:ty) = $direction:expr, $number:expr;)*) => {
        $($(#[$when])? pub const $name: Call<$argument> =
            Call::new(concat!("SPFE_IOC_", stringify!($name)), $direction, $number);)*
        /// Every ioctl by its name in the header.
        #[cfg(test)]
        const CALLS: &[(&str, u32)] = &[$($(#[$when])? ($name.name, $name.request)),*];
    };
}

calls! {
    INFO(Info) = READ, 0x00;
    TIME(Time) = READ, 0x01;
    PORT(Port) = READ | WRITE, 0x02;
    PORT_SET(PortSet) = WRITE, 0x03;
    REGISTER(Register) = READ | WRITE, 0x04;
    ALLOC(Alloc) = READ | WRITE, 0x05;
    UNREGISTER(Key) = WRITE, 0x06;
    EVENT_CREATE(Event) = READ | WRITE, 0x07;
    EVENT_DESTROY(Event) = WRITE, 0x08;
    WAIT(Wait) = READ | WRITE, 0x09;
    WAKE(Index) = WRITE, 0x0a;
    QUEUE_CREATE(Queue) = READ | WRITE, 0x0b;
    QUEUE_DESTROY(Index) = WRITE, 0x0c;
    STATISTICS(Statistics) = READ | WRITE, 0x0d;
    RESET(()) = 0, 0x0e;
    MIB(Mib) = READ | WRITE, 0x0f;
    PAIR_CREATE(Pair) = READ | WRITE, 0x10;
    #[cfg(feature = "rdma")]
    PAIR_COUNTERS(PairCounters) = READ | WRITE, 0x16;
}

macro_rules! structures {
    ($($(#[$when:meta])? $name:ident as $header:literal { $($field:ident: $kind:ty,)* })*) => {
        $($(#[$when])?
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name { $(pub $field: $kind,)* })*
        /// Every structure: name in the header, size, offsets of the fields.
        #[cfg(test)]
        const STRUCTURES: &[(&str, usize, &[(&str, usize)])] = &[$($(#[$when])? (
            $header,
            size_of::<$name>(),
            &[$((stringify!($field), std::mem::offset_of!($name, $field)),)*],
        )),*];
    };
}

structures! {
    Info as "spfe_info" {
        uapi_version: u32,
        contract_version: u32,
        capability: u32,
        flags: u32,
        ports: u32,
        queues: u32,
        regions: u32,
        events: u32,
        domain: u32,
        doorbell_bytes: u32,
        counts_bytes: u32,
        resets: u32,
        doorbell_offset: u64,
        counts_offset: u64,
        packet_max: u64,
        chain_max: u32,
        reserved0: u32,
        reserved: u64,
    }
    Time as "spfe_time" {
        before_ns: u64,
        device_ns: u64,
        after_ns: u64,
        reserved: u64,
    }
    Port as "spfe_port" {
        port: u32,
        kind: u32,
        state: u32,
        vcs: u32,
        lanes: u32,
        lane_rate_mbps: u32,
        user_rate_kbps: u32,
        first_queue: u32,
        queue_count: u32,
        link_start: u32,
        priority: [u32; 4],
        channel: u32,
        sent: u32,
        received: u32,
        dropped: u32,
        time_code: u32,
        invalid: u32,
        node: u32,
        nodes: u32,
        node_ready: u32,
        node_epoch: u32,
    }
    PortSet as "spfe_port_set" {
        port: u32,
        what: u32,
        link_start: u32,
        vc: u32,
        priority: u32,
        channel: u32,
        reserved: u64,
    }
    Register as "spfe_register" {
        addr: u64,
        size: u64,
        access: u32,
        flags: u32,
        key: u32,
        reserved: u32,
    }
    Alloc as "spfe_alloc" {
        size: u64,
        access: u32,
        flags: u32,
        offset: u64,
        key: u32,
        reserved: u32,
    }
    Key as "spfe_key" {
        key: u32,
        reserved: u32,
    }
    Event as "spfe_event" {
        eventfd: i32,
        flags: u32,
        event: u32,
        reserved: u32,
    }
    Wait as "spfe_wait" {
        event: u32,
        seen: u32,
        deadline_ns: i64,
    }
    Queue as "spfe_queue" {
        port: u32,
        vc: u32,
        kind: u32,
        options: u32,
        event: u32,
        sq_log2: u32,
        cq_log2: u32,
        area_bytes: u32,
        sq: u64,
        cq: u64,
        stamps: u64,
        lines: u64,
        area: u64,
        filter: u32,
        queue: u32,
        status: u32,
        reserved: u32,
    }
    Pair as "spfe_pair" {
        queue: Queue,
        pair: u64,
        limits: u64,
        path: u64,
        reply: u64,
        reserved: u64,
    }
    Index as "spfe_index" {
        index: u32,
        reserved: u32,
    }
    Statistics as "spfe_statistics" {
        queue: u32,
        reserved: u32,
        packets: u64,
        bytes: u64,
        errors: u64,
        stalls: u64,
        wakes: u64,
        dropped: u64,
    }
    #[cfg(feature = "rdma")]
    PairCounters as "spfe_pair_counters" {
        port: u32,
        vc: u32,
        first: u32,
        reserved: u32,
        present: u64,
        values: [u64; 13],
    }
    Mib as "spfe_mib" {
        port: u32,
        item: u32,
        element: u32,
        flags: u32,
        value: u64,
        status: u32,
        reserved: u32,
    }
}

impl From<&QueueRequest> for Queue {
    /// The driver takes a virtual channel for data queues only, and sets the domain itself.
    fn from(request: &QueueRequest) -> Self {
        let messages = [Some(QueueKind::MessageTx), Some(QueueKind::MessageRx)];
        let QueueSetup { kind, options, vector, sq_log2, cq_log2, sq, cq, .. } = request.setup;
        let QueueSetup { stamp, lines, area, area_bytes, filter, .. } = request.setup;
        Self {
            port: request.port,
            vc: if messages.contains(&request.queue_kind()) { 0 } else { request.vc },
            kind,
            options,
            event: vector,
            sq_log2,
            cq_log2,
            area_bytes,
            sq,
            cq,
            stamps: stamp,
            lines,
            area,
            filter,
            ..Self::default()
        }
    }
}

/// Calls the driver. The structures consist of integers, so any bytes it writes are valid.
pub fn call<T>(device: &OwnedFd, call: &Call<T>, argument: &mut T) -> io::Result<()> {
    let request = libc::c_ulong::from(call.request);
    let place = std::ptr::from_mut(argument);
    // SAFETY: the request number encodes the size of `T`, and `place` points to a `T`.
    if unsafe { libc::ioctl(device.as_raw_fd(), request as _, place) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The contract's status for an error of the driver.
pub fn status_of(error: &io::Error) -> Option<Status> {
    Some(match error.raw_os_error()? {
        libc::ENODEV => Status::DeviceGone,
        libc::ESHUTDOWN => Status::DeviceReset,
        libc::ENOENT => Status::NotFound,
        libc::EBUSY => Status::Busy,
        libc::EDQUOT => Status::QuotaExceeded,
        libc::ENOMEM | libc::ENOSPC => Status::NoResources,
        libc::EPERM | libc::EACCES => Status::AccessDenied,
        libc::EINVAL => Status::BadField,
        libc::EOPNOTSUPP => Status::BadOpcode,
        _ => return None,
    })
}

/// The error of a call. `what` names the object.
pub fn error(call: &str, what: std::fmt::Arguments<'_>, source: io::Error) -> Error {
    let Some(status) = status_of(&source) else {
        return Error::io(format!("{what}: {call}"), source);
    };
    let advice = match source.raw_os_error() {
        Some(libc::EPERM) => "; ports need CAP_NET_ADMIN, and an open device serves one process",
        Some(libc::EACCES) => "; the device must be opened for writing",
        Some(libc::EDQUOT) => "; one user may have half of the device's objects: release some",
        Some(libc::ENOMEM) => "; raise RLIMIT_MEMLOCK (ulimit -l) or register less",
        Some(libc::ENODEV) => "; the device is gone: open it again when it is back",
        Some(libc::ESHUTDOWN) => "; the device was reset: open it again",
        _ => "",
    };
    Error::device(status, format!("{what}: {call}: {source}{advice}"))
}

/// Calls the driver. `what` names the object for the error message.
pub fn checked<T>(
    device: &OwnedFd,
    number: &Call<T>,
    argument: &mut T,
    what: std::fmt::Arguments<'_>,
) -> Result<()> {
    call(device, number, argument).map_err(|source| error(number.name, what, source))
}

#[cfg(test)]
mod tests;
