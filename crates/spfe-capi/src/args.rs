//! Arguments and results in the memory of the C program.

use crate::result::{Answer, Fault};
use spfe::{End, Status};
use std::ffi::{CStr, c_char};

/// Stores what was found, and answers 1.
///
/// # Safety
/// `place` is null or valid for a write.
pub unsafe fn found<T>(place: *mut T, value: T) -> Answer {
    // SAFETY: the caller's promise.
    unsafe { write(place, value).map(|_| 1) }
}

/// The number of an end.
pub fn end(end: End) -> u32 {
    match end {
        End::Eop => 0,
        End::Eep => 1,
        End::More => 2,
    }
}

/// Reads a string.
///
/// # Safety
/// `text` is null or a string that lives as long as the result is used.
pub unsafe fn read_text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Fault> {
    if text.is_null() {
        return Err(Fault::new(Status::BadField, format!("{what}: NULL")));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Fault::new(Status::BadField, format!("{what}: not UTF-8")))
}

/// Reads bytes that C describes by address and length.
///
/// # Safety
/// `data` is null or points to as many bytes, which live as long as the result is used.
pub unsafe fn read_bytes<'a>(data: *const u8, bytes: usize, what: &str) -> Result<&'a [u8], Fault> {
    match (data.is_null(), bytes) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Fault::new(Status::BadField, format!("{what}: NULL, with {bytes} bytes"))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(data, bytes) }),
    }
}

/// Stores a value where C asked for it.
///
/// # Safety
/// `place` is null or valid for a write.
pub unsafe fn write<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        return Err(Fault::new(Status::BadField, "place for the result: NULL"));
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(value) };
    Ok(0)
}

/// Stores a structure that starts with its size: as much of it as the program has room for.
///
/// # Safety
/// `place` is null or points to as many bytes as its first word says.
pub unsafe fn write_sized<T>(place: *mut T, value: T) -> Answer {
    if place.is_null() {
        return Err(Fault::new(Status::BadField, "place for the result: NULL"));
    }
    // SAFETY: the caller's promise; the first field is the size.
    let room = unsafe { place.cast::<usize>().read() };
    let bytes = check_size(room)?.min(size_of::<T>());
    let head = size_of::<usize>();
    // SAFETY: both have at least `bytes` bytes, which are more than the size.
    unsafe {
        let from = std::ptr::from_ref(&value).cast::<u8>().add(head);
        std::ptr::copy_nonoverlapping(from, place.cast::<u8>().add(head), bytes - head);
    }
    Ok(0)
}

/// Reads options that start with their size. What the program's version lacks is zero; what this
/// version lacks must be zero.
///
/// # Safety
/// `options` is null or points to as many bytes as its first word says. `T` may be all zero.
pub unsafe fn read_sized<T>(options: *const T) -> Result<T, Fault> {
    // SAFETY: the caller's promise.
    let mut value: T = unsafe { std::mem::zeroed() };
    if options.is_null() {
        return Ok(value);
    }
    // SAFETY: the caller's promise; the first field is the size.
    let size = check_size(unsafe { options.cast::<usize>().read() })?;
    let known = size.min(size_of::<T>());
    // SAFETY: both have at least `known` bytes.
    unsafe {
        let to = std::ptr::from_mut(&mut value).cast::<u8>();
        std::ptr::copy_nonoverlapping(options.cast::<u8>(), to, known);
        let beyond = std::slice::from_raw_parts(options.cast::<u8>().add(known), size - known);
        if beyond.iter().any(|byte| *byte != 0) {
            let what = format!(
                "options of {size} bytes: this version of the library knows the first {known}, and \
                 the others are not 0"
            );
            return Err(Fault::new(Status::BadField, what));
        }
    }
    Ok(value)
}

fn check_size(size: usize) -> Result<usize, Fault> {
    if (2 * size_of::<usize>()..=4096).contains(&size) {
        return Ok(size);
    }
    let what = format!("size {size} of a structure: set it to its sizeof");
    Err(Fault::new(Status::BadField, what))
}

/// Stores the handle of a new object where C asked for it.
///
/// # Safety
/// `place` is null, or valid for a write.
pub unsafe fn give<T>(place: *mut *mut T, make: impl FnOnce() -> Result<*mut T, Fault>) -> Answer {
    if place.is_null() {
        return Err(Fault::new(Status::BadField, "place for the new handle: NULL"));
    }
    let handle = make()?;
    // SAFETY: the caller's promise.
    unsafe { place.write(handle) };
    Ok(0)
}
