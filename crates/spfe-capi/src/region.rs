//! Regions and buffers.

use crate::args::give;
use crate::endpoint::EndpointHandle;
use crate::handle::{self, Handle, Object, Spare};
use crate::result::{Fault, run};
use spfe::{Buf, Region, Status};
use std::ffi::c_int;

impl Object for Region {
    const NAME: &'static str = "region";
    type Head = ();
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

pub type RegionHandle = Handle<Region>;

/// Who has a buffer.
pub enum Holder {
    /// The program.
    Owned(Buf),
    /// A queue.
    Posted,
    /// Nobody: its queue could not give it back.
    Lost,
}

/// The part of a buffer that C sees.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Seen {
    data: *mut u8,
    length: u32,
    capacity: u32,
    tag: u64,
}

impl Object for Holder {
    const NAME: &'static str = "buffer";
    type Head = Seen;
    fn spare() -> &'static Spare {
        static SPARE: Spare = Spare::new();
        &SPARE
    }
}

/// A buffer of a C program.
pub type BufHandle = Handle<Holder>;

/// Takes the buffer out of its handle to post it, with the length that the program has set.
pub fn take_out(buf: *mut BufHandle, sends: bool) -> Result<Buf, Fault> {
    handle::with(buf, |place| {
        // SAFETY: the handle is open, and the program does not write it during the call.
        let length = unsafe { (*handle::head_of(buf)).length };
        match place {
            Holder::Owned(inner) if sends => {
                if length as usize > inner.capacity() || length == 0 {
                    let status = if length == 0 { Status::Empty } else { Status::OutOfBounds };
                    let what = format!(
                        "length {length} of a buffer of {} bytes: 1 to {} allowed",
                        inner.capacity(),
                        inner.capacity()
                    );
                    return Err(Fault::new(status, what));
                }
                inner.set_len(length as usize);
            }
            Holder::Owned(_) => {}
            Holder::Posted => {
                return Err(Fault::new(Status::Busy, "buffer: it is posted already"));
            }
            Holder::Lost => return Err(lost()),
        }
        match std::mem::replace(place, Holder::Posted) {
            Holder::Owned(inner) => Ok(inner),
            _ => Err(lost()),
        }
    })
}

/// Gives a buffer back to its handle.
pub fn put_in(buf: *mut BufHandle, inner: Buf) {
    // The handle is open while the buffer is posted: `spfe_buf_put` refuses it.
    let _ = handle::with(buf, |place| {
        // SAFETY: the handle is open, and the program reads it only after the call.
        unsafe { (*handle::head_of(buf)).length = inner.len() as u32 };
        *place = Holder::Owned(inner);
        Ok(())
    });
}

/// Marks a buffer whose queue could not give it back.
pub fn lose(buf: *mut BufHandle) {
    let _ = handle::with(buf, |place| {
        *place = Holder::Lost;
        Ok(())
    });
}

#[cold]
fn lost() -> Fault {
    Fault::new(
        Status::BadRegion,
        "buffer: its queue could not give it back; put it and get another",
    )
}

/// Registers memory.
///
/// # Safety
/// `region` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_region_alloc(
    endpoint: *mut EndpointHandle,
    bytes: usize,
    region: *mut *mut RegionHandle,
) -> c_int {
    run(|| {
        let make = || {
            if bytes == 0 {
                return Err(Fault::new(Status::Empty, "region of 0 bytes: at least 1"));
            }
            handle::with(endpoint, |endpoint| Ok(handle::open((), endpoint.alloc(bytes)?)))
        };
        // SAFETY: the caller's promise.
        unsafe { give(region, make) }
    })
}

/// Closes a region.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_region_free(region: *mut RegionHandle) -> c_int {
    run(|| handle::close(region, |_| Ok(())).map(|()| 0))
}

/// Size of a region.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_region_size(region: *mut RegionHandle) -> usize {
    let mut size = 0;
    run(|| {
        size = handle::with(region, |region| Ok(region.size()))?;
        Ok(0)
    });
    size
}

/// Cuts a buffer.
///
/// # Safety
/// `buf` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn spfe_buf_get(
    region: *mut RegionHandle,
    offset: usize,
    bytes: usize,
    buf: *mut *mut BufHandle,
) -> c_int {
    run(|| {
        let make = || {
            handle::with(region, |region| {
                let end = offset.checked_add(bytes).ok_or_else(|| {
                    let what = format!("buffer of {bytes} bytes at {offset}: past the end");
                    Fault::new(Status::OutOfBounds, what)
                })?;
                let mut inner = region.buf(offset..end)?;
                let (data, length) = (inner.as_mut_ptr(), inner.len() as u32);
                let seen = Seen { data, length, capacity: length, tag: 0 };
                Ok(handle::open(seen, Holder::Owned(inner)))
            })
        };
        // SAFETY: the caller's promise.
        unsafe { give(buf, make) }
    })
}

/// Gives a buffer back to its region.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_buf_put(buf: *mut BufHandle) -> c_int {
    run(|| {
        let allow = |place: &mut Holder| match place {
            Holder::Posted => {
                let what = "buffer: it is posted; take it from its queue first";
                Err(Fault::new(Status::Busy, what))
            }
            _ => Ok(()),
        };
        handle::close(buf, allow).map(|()| 0)
    })
}
