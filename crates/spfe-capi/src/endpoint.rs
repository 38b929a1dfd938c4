//! Endpoints, ports and virtual channels.

use crate::args::{give, read_text, write, write_sized};
use crate::handle::{self, Handle, Object, Spare};
use crate::result::{Answer, run};
use spfe::{ChannelCounters, Clock, Endpoint};
use std::ffi::{c_char, c_int};

/// An endpoint of a C program.
pub type EndpointHandle = Handle<Endpoint>;

impl Object for Endpoint {
    const NAME: &'static str = "endpoint";
    /// Deadlines come from it, so every thread may read it while another one is inside.
    type Head = Clock;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

/// A device, as C reads it.
#[repr(C)]
pub struct CEndpointInfo {
    size: usize,
    endpoint: u32,
    client: u32,
    ports: u32,
    contract_major: u16,
    contract_minor: u16,
}

/// A port, as C reads it.
#[repr(C)]
pub struct CPortInfo {
    size: usize,
    kind: u32,
    state: u32,
    vcs: u32,
    reserved: u32,
    messages_sent: u64,
    messages_received: u64,
    messages_dropped: u64,
}

/// CCounters of one direction, as C reads them.
#[repr(C)]
pub struct CCounters {
    packets: u64,
    bytes: u64,
    errors: u64,
    stalls: u64,
    wakes: u64,
}

impl From<ChannelCounters> for CCounters {
    fn from(of: ChannelCounters) -> Self {
        let ChannelCounters { packets, bytes, errors, stalls, wakes } = of;
        Self { packets, bytes, errors, stalls, wakes }
    }
}

/// A virtual channel, as C reads it.
#[repr(C)]
pub struct CVcInfo {
    size: usize,
    priority: u32,
    far_sends: u32,
    far_receives: u32,
    reserved: u32,
    tx: CCounters,
    rx: CCounters,
}

/// Opens a device.
///
/// # Safety
/// `name` is null or a string; `endpoint` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_open(
    name: *const c_char,
    endpoint: *mut *mut EndpointHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    run(|| unsafe {
        let name = read_text(name, "device name")?;
        give(endpoint, || {
            let endpoint = Endpoint::open(name)?;
            Ok(handle::open(endpoint.clock().clone(), endpoint))
        })
    })
}

/// Closes a device.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_close(endpoint: *mut EndpointHandle) -> c_int {
    run(|| handle::close(endpoint, |_| Ok(())).map(|()| 0))
}

/// Describes a device.
///
/// # Safety
/// `info` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_endpoint_info(
    endpoint: *mut EndpointHandle,
    info: *mut CEndpointInfo,
) -> c_int {
    run(|| {
        let of = handle::with(endpoint, |endpoint| Ok(endpoint.info()))?;
        let (contract_major, contract_minor) = of.contract;
        let (endpoint, client, ports) = (of.endpoint, of.client, of.ports);
        let size = size_of::<CEndpointInfo>();
        let of = CEndpointInfo { size, endpoint, client, ports, contract_major, contract_minor };
        // SAFETY: the caller's promise.
        unsafe { write_sized(info, of) }
    })
}

/// Describes a port.
///
/// # Safety
/// `info` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_port_info(
    endpoint: *mut EndpointHandle,
    port: u32,
    info: *mut CPortInfo,
) -> c_int {
    run(|| {
        let of = handle::with(endpoint, |endpoint| Ok(endpoint.port(port)?.info()?))?;
        let of = CPortInfo {
            size: size_of::<CPortInfo>(),
            kind: of.kind.raw().into(),
            state: of.state.raw().into(),
            vcs: of.vcs,
            reserved: 0,
            messages_sent: of.messages.sent,
            messages_received: of.messages.received,
            messages_dropped: of.messages.dropped,
        };
        // SAFETY: the caller's promise.
        unsafe { write_sized(info, of) }
    })
}

/// Describes a virtual channel.
///
/// # Safety
/// `info` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_vc_info(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    info: *mut CVcInfo,
) -> c_int {
    run(|| {
        let of = handle::with(endpoint, |endpoint| {
            let port = endpoint.port(port)?;
            let vc = port.vc(vc)?.number();
            Ok(port.info()?.channels.get(vc as usize).copied().unwrap_or_default())
        })?;
        let of = CVcInfo {
            size: size_of::<CVcInfo>(),
            priority: of.priority.into(),
            far_sends: of.far_sends.into(),
            far_receives: of.far_receives.into(),
            reserved: 0,
            tx: of.tx.into(),
            rx: of.rx.into(),
        };
        // SAFETY: the caller's promise.
        unsafe { write_sized(info, of) }
    })
}

/// Sets the priority of a virtual channel.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_vc_set_priority(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    priority: u8,
) -> c_int {
    run(|| {
        handle::with(endpoint, |endpoint| {
            endpoint.port(port)?.vc(vc)?.set_priority(priority)?;
            Ok(0)
        })
    })
}

/// Reads an item of the management information base.
///
/// # Safety
/// `name` is null or a string; `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_mib_get(
    endpoint: *mut EndpointHandle,
    port: u32,
    name: *const c_char,
    value: *mut u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let name = unsafe { read_text(name, "name of a MIB item")? };
        let item = handle::with(endpoint, |endpoint| Ok(endpoint.port(port)?.mib().get(name)?))?;
        // SAFETY: the caller's promise.
        unsafe { write(value, item) }
    })
}

/// Sets an item of the management information base.
///
/// # Safety
/// `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_mib_set(
    endpoint: *mut EndpointHandle,
    port: u32,
    name: *const c_char,
    value: u64,
) -> c_int {
    run(|| -> Answer {
        // SAFETY: the caller's promise.
        let name = unsafe { read_text(name, "name of a MIB item")? };
        handle::with(endpoint, |endpoint| {
            endpoint.port(port)?.mib().set(name, value)?;
            Ok(0)
        })
    })
}

/// Resets this client.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_reset(endpoint: *mut EndpointHandle) -> c_int {
    run(|| {
        handle::with(endpoint, |endpoint| {
            endpoint.reset()?;
            Ok(0)
        })
    })
}

/// Device time in ns.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_now_ns(endpoint: *mut EndpointHandle) -> u64 {
    let mut now = 0;
    run(|| {
        now = handle::head(endpoint, Clock::now_ns)?;
        Ok(0)
    });
    now
}
