//! The RMAP initiator.

use crate::args::{give, read_bytes, read_sized};
use crate::endpoint::EndpointHandle;
use crate::handle::{self, Handle, Object, Spare};
use crate::queue::deadline;
use crate::result::{Fault, run};
use spfe::Status;
use spfe::rmap::{Initiator, InitiatorOptions, Remote, ReplyAddress};
use std::ffi::{c_int, c_void};

impl Object for Initiator {
    const NAME: &'static str = "RMAP initiator";
    type Head = ();
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

type RmapHandle = Handle<Initiator>;

/// CRmapOptions, as C passes them.
#[repr(C)]
pub struct CRmapOptions {
    size: usize,
    path: *const u8,
    path_bytes: u32,
    reply_path: *const u8,
    reply_path_bytes: u32,
    target: u8,
    initiator: u8,
    key: u8,
    reserved: u8,
    max_data: u32,
    outstanding: u32,
}

impl CRmapOptions {
    /// # Safety
    /// The paths are null or have as many bytes as is said.
    unsafe fn initiator(&self) -> Result<InitiatorOptions, Fault> {
        // SAFETY: the caller's promise.
        let (path, reply) = unsafe {
            (
                read_bytes(self.path, self.path_bytes as usize, "path address")?,
                read_bytes(self.reply_path, self.reply_path_bytes as usize, "reply path")?,
            )
        };
        let refuse = |what: String| Fault::new(Status::BadField, what);
        if self.reserved != 0 || path.len() > 32 || self.outstanding > 64 {
            return Err(refuse(format!(
                "RMAP options: path of {} bytes, {} outstanding, reserved {}: at most 32, at most \
                 64, and 0",
                path.len(),
                self.outstanding,
                self.reserved
            )));
        }
        let default = Remote::default();
        let or = |value: u8, other: u8| if value == 0 { other } else { value };
        let remote = Remote {
            path: path.to_vec(),
            target: or(self.target, default.target),
            key: self.key,
            reply_address: ReplyAddress::from_path(reply)
                .map_err(|error| refuse(format!("reply path: {error}")))?,
            initiator: or(self.initiator, default.initiator),
        };
        let mut options = InitiatorOptions::new(remote);
        if self.max_data != 0 {
            options.max_data = self.max_data;
        }
        if self.outstanding != 0 {
            options.outstanding = self.outstanding as usize;
        }
        Ok(options)
    }
}

/// Opens an initiator.
///
/// # Safety
/// `options` is null or points to as many bytes as its size says, and so do its paths; `rmap` is null
/// or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_open(
    endpoint: *mut EndpointHandle,
    port: u32,
    vc: u32,
    options: *const CRmapOptions,
    rmap: *mut *mut RmapHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise; integers and pointers may be zero.
            let options = unsafe { read_sized(options)?.initiator()? };
            handle::with(endpoint, |endpoint| {
                let vc = endpoint.port(port)?.vc(vc)?;
                Ok(handle::open((), Initiator::open(&vc, options)?))
            })
        };
        // SAFETY: the caller's promise.
        unsafe { give(rmap, make) }
    })
}

/// Closes an initiator.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_rmap_close(rmap: *mut RmapHandle) -> c_int {
    run(|| handle::close(rmap, |_| Ok(())).map(|()| 0))
}

/// Reads remote memory.
///
/// # Safety
/// `data` is null or points to `bytes` bytes that can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_read(
    rmap: *mut RmapHandle,
    address: u64,
    data: *mut c_void,
    bytes: usize,
    deadline_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { writable(data, bytes)? };
        handle::with(rmap, |rmap| {
            rmap.read(address, data, deadline(deadline_ns))?;
            Ok(0)
        })
    })
}

/// Writes remote memory.
///
/// # Safety
/// `data` is null or points to `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_write(
    rmap: *mut RmapHandle,
    address: u64,
    data: *const c_void,
    bytes: usize,
    deadline_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let data = unsafe { read_bytes(data.cast(), bytes, "data to write")? };
        handle::with(rmap, |rmap| {
            rmap.write(address, data, deadline(deadline_ns))?;
            Ok(0)
        })
    })
}

/// Modifies bits of remote memory.
///
/// # Safety
/// `data` and `mask` are null or point to `bytes` bytes; `old` is null or points to as many that can
/// be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_rmap_modify(
    rmap: *mut RmapHandle,
    address: u64,
    data: *const c_void,
    mask: *const c_void,
    old: *mut c_void,
    bytes: usize,
    deadline_ns: u64,
) -> c_int {
    run(|| {
        // SAFETY: the caller's promise.
        let (data, mask, old) = unsafe {
            (
                read_bytes(data.cast(), bytes, "data")?,
                read_bytes(mask.cast(), bytes, "mask")?,
                writable(old, bytes)?,
            )
        };
        handle::with(rmap, |rmap| {
            rmap.modify(address, data, mask, old, deadline(deadline_ns))?;
            Ok(0)
        })
    })
}

/// Memory of the program to write to.
///
/// # Safety
/// `data` is null or points to `bytes` bytes that can be written.
unsafe fn writable<'a>(data: *mut c_void, bytes: usize) -> Result<&'a mut [u8], Fault> {
    match (data.is_null(), bytes) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Fault::new(Status::BadField, format!("place for {bytes} bytes: NULL"))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(data.cast(), bytes) }),
    }
}
