//! Captures of a daemon's links.

use crate::args::{give, read_text, write};
use crate::handle::{self, Handle, Object, Spare};
use crate::result::{Fault, run};
use spfe::backend::daemon::{LiveCapture, socket};
use spfe::{CaptureRequest, Status};
use std::ffi::{c_char, c_int};
use std::os::fd::AsRawFd;

/// A capture of a C program.
pub type CaptureHandle = Handle<LiveCapture>;

impl Object for LiveCapture {
    const NAME: &'static str = "capture";
    type Head = ();
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

const WORDS: u32 = 1;
/// More links than a network can have.
const LINKS_MAX: u32 = 65536;

/// Starts a capture.
///
/// # Safety
/// `device` is null or a string, `links` null or a list of as many strings, `capture` null or valid
/// for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_capture_open(
    device: *const c_char,
    links: *const *const c_char,
    count: u32,
    flags: u32,
    packets: u64,
    capture: *mut *mut CaptureHandle,
) -> c_int {
    run(|| {
        let make = || {
            // SAFETY: the caller's promise.
            let device = unsafe { read_text(device, "device name")? };
            if flags & !WORDS != 0 || count > LINKS_MAX || (links.is_null() && count != 0) {
                let what = format!(
                    "capture: flags {flags:#x}, {count} links at {links:p}: 0 or \
                     SPFE_CAPTURE_WORDS, and a list of at most {LINKS_MAX}"
                );
                return Err(Fault::new(Status::BadField, what));
            }
            let name = |index: u32| {
                // SAFETY: the caller's promise; the list is not null.
                unsafe { read_text(*links.add(index as usize), "name of a link") }
            };
            let links = (0..count).map(|index| name(index).map(str::to_owned));
            let wanted = CaptureRequest {
                links: links.collect::<Result<_, _>>()?,
                words: flags & WORDS != 0,
                packets: (packets != 0).then_some(packets),
            };
            let socket = socket(device).ok_or_else(|| {
                let what = format!("device '{device}': captures need a daemon, unix:SOCKET");
                Fault::new(Status::BadField, what)
            })?;
            Ok(handle::open((), LiveCapture::open(socket, wanted)?))
        };
        // SAFETY: the caller's promise.
        unsafe { give(capture, make) }
    })
}

/// The descriptor of the file.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_capture_fd(capture: *mut CaptureHandle) -> c_int {
    run(|| handle::with(capture, |capture| Ok(capture.pipe().as_raw_fd())))
}

/// Ends the file.
///
/// # Safety
/// `records` and `left_out` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_capture_end(
    capture: *mut CaptureHandle,
    records: *mut u64,
    left_out: *mut u64,
) -> c_int {
    run(|| {
        let (kept, lost) = handle::with(capture, |capture| Ok(capture.end()?))?;
        for (place, value) in [(records, kept), (left_out, lost)] {
            if !place.is_null() {
                // SAFETY: the caller's promise.
                unsafe { write(place, value)? };
            }
        }
        Ok(0)
    })
}

/// Closes a capture.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_capture_close(capture: *mut CaptureHandle) -> c_int {
    run(|| handle::close(capture, |_| Ok(())).map(|()| 0))
}
