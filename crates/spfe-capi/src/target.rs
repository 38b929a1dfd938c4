//! The RMAP target.

use crate::args::{give, read_sized, write};
use crate::endpoint::EndpointHandle;
use crate::handle::{self, Handle, Object, Spare};
use crate::queue::deadline;
use crate::result::{Fault, run};
use spfe::rmap::{Allow, Target, TargetConfig, Window};
use spfe::{Canceller, Endpoint, Status};
use std::ffi::c_int;

/// A target, and the endpoint whose memory its windows have.
pub struct Served {
    target: Target,
    endpoint: Endpoint,
}

impl Object for Served {
    const NAME: &'static str = "RMAP target";
    type Head = Canceller;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

type TargetHandle = Handle<Served>;

const READ: u32 = 1;
const WRITE: u32 = 2;
const MODIFY: u32 = 4;

/// CTargetOptions, as C passes them.
#[repr(C)]
pub struct CTargetOptions {
    size: usize,
    max_data: u32,
    verify_bytes: u32,
    logical_address: u8,
    only_this_address: u8,
    reserved: [u8; 6],
}

/// Longest reply by default, bytes of data.
const MAX_DATA: u32 = 64 << 10;

impl CTargetOptions {
    fn config(&self) -> Result<(TargetConfig, u32), Fault> {
        if self.reserved != [0; 6] || self.only_this_address > 1 {
            let what = format!(
                "RMAP target options: only_this_address {}, reserved {:?}: 0 or 1, and zeros",
                self.only_this_address, self.reserved
            );
            return Err(Fault::new(Status::BadField, what));
        }
        let accept_default = self.only_this_address == 0;
        let mut config = TargetConfig { accept_default, ..TargetConfig::default() };
        if self.logical_address != 0 {
            config.logical_address = Some(self.logical_address);
        }
        if self.verify_bytes != 0 {
            config.verify_bytes = self.verify_bytes;
        }
        Ok((config, if self.max_data == 0 { MAX_DATA } else { self.max_data }))
    }
}

/// Opens a target.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says; `target` is null or valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_target_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    options: *const CTargetOptions,
    target: *mut *mut TargetHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise; integers may be zero.
            let (config, max_data) = unsafe { read_sized(options)?.config()? };
            handle::with(endpoint, |endpoint| {
                let vc = endpoint.port(port)?.vc(vc)?;
                let mut target = Target::open(&vc, config, max_data)?;
                let canceller = target.canceller();
                Ok(handle::open(canceller, Served { target, endpoint: endpoint.clone() }))
            })
        };
        // SAFETY: the caller's promise.
        unsafe { give(target, make) }
    })
}

/// Closes a target.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rmap_target_close(target: *mut TargetHandle) -> c_int {
    run(|| handle::close(target, |_| Ok(())).map(|()| 0))
}

/// Gives access to new memory.
///
/// # Safety
/// `data` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_target_window(
    target: *mut TargetHandle,
    address: u64,
    bytes: usize,
    flags: u32,
    key: c_int,
    data: *mut *mut u8,
) -> c_int {
    run(|| {
        let refuse = |what: String| Fault::new(Status::BadField, what);
        if data.is_null() {
            return Err(refuse("place for the result: NULL".into()));
        }
        if flags == 0 || flags & !(READ | WRITE | MODIFY) != 0 || bytes == 0 {
            return Err(refuse(format!(
                "RMAP window of {bytes} bytes, flags {flags:#x}: at least 1 byte; 1 read, 2 write, \
                 4 modify"
            )));
        }
        let key = match key {
            -1 => None,
            _ => Some(u8::try_from(key).map_err(|_| {
                refuse(format!("key {key} of an RMAP window: 0 to 255, or SPFE_ANY"))
            })?),
        };
        let first = handle::with(target, |served| {
            let mut buf = served.endpoint.alloc(bytes)?.buf(0..bytes)?;
            let first = buf.as_mut_ptr();
            let allow = |flag| flags & flag != 0;
            let allow = Allow { read: allow(READ), write: allow(WRITE), modify: allow(MODIFY) };
            let mut window = Window::new(address, buf).allow(allow);
            if let Some(key) = key {
                window = window.key(key);
            }
            served.target.add(window)?;
            Ok(first)
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(data, first) }
    })
}

/// Executes commands until the deadline.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rmap_target_serve(target: *mut TargetHandle, deadline_ns: u64) -> c_int {
    run(|| {
        handle::with(target, |served| {
            let packets = served.target.serve_until(deadline(deadline_ns))?;
            Ok(c_int::try_from(packets).unwrap_or(c_int::MAX))
        })
    })
}

/// Ends the serving of another thread.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rmap_target_cancel(target: *mut TargetHandle) -> c_int {
    run(|| handle::head(target, |canceller| canceller.cancel()).map(|()| 0))
}
