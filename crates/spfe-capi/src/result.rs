//! Results: numbers for C, and the message of the last failure of each thread.

use spfe::{Error, Status, StatusClass, rmap};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

const TIMED_OUT: c_int = -0x100;
const SYSTEM: c_int = -0x101;
const INTERNAL: c_int = -0x102;
const BAD_REPLY: c_int = -0x103;
const RMAP_REFUSED: c_int = -0x200;
const RDMA_REFUSED: c_int = -0x300;

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
    /// errno of the last SPFE_SYSTEM.
    static ERRNO: Cell<c_int> = const { Cell::new(0) };
}

/// A failure on its way to C.
pub struct Fault {
    pub code: c_int,
    what: String,
    errno: c_int,
}

/// The result of the body of a function.
pub type Answer = Result<c_int, Fault>;

impl Fault {
    pub fn new(status: Status, what: impl Into<String>) -> Self {
        Self { code: code(status), what: what.into(), errno: 0 }
    }

    /// A wait has ended without what it waited for.
    pub fn timed_out(what: String) -> Self {
        Self::of_code(TIMED_OUT, what)
    }

    /// A failure with a number that is none of the contract's statuses.
    pub fn of_code(code: c_int, what: String) -> Self {
        Self { code, what, errno: 0 }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::TimedOut(_) => TIMED_OUT,
            Error::Io { .. } => SYSTEM,
            _ => error.status().map_or(INTERNAL, code),
        };
        Self { code, what: error.to_string(), errno: error.errno() }
    }
}

impl From<rmap::Error> for Fault {
    fn from(error: rmap::Error) -> Self {
        let what = error.to_string();
        let code = match error {
            rmap::Error::Device(error) => return error.into(),
            rmap::Error::Refused { status, .. } => RMAP_REFUSED - c_int::from(status.0),
            rmap::Error::Invalid { .. } => BAD_REPLY,
            rmap::Error::TimedOut { .. } => TIMED_OUT,
            rmap::Error::Command(_) => code(Status::BadField),
        };
        Self { code, what, errno: 0 }
    }
}

/// The number for a status: 0 or negative.
pub fn code(status: Status) -> c_int {
    -c_int::from(status.raw())
}

/// The number for the status of an RDMA response.
pub fn rdma_refused(status: u8) -> c_int {
    RDMA_REFUSED - c_int::from(status)
}

/// The status of a number, if it has one.
fn status(result: c_int) -> Option<Status> {
    match result {
        0.. => Some(Status::Ok),
        BAD_REPLY => Some(Status::PacketCut),
        _ => u8::try_from(-i64::from(result)).ok().and_then(Status::from_raw),
    }
}

/// Runs the body of a function. Remembers the message of a failure, and catches panics.
pub fn run(body: impl FnOnce() -> Answer) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(fault)) => fail(fault),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
            let what = format!("a defect of the library, please report it: {text}");
            fail(Fault { code: INTERNAL, what, errno: libc::EIO })
        }
    }
}

#[cold]
fn fail(fault: Fault) -> c_int {
    // A message with a NUL inside, which a device name cannot have, would be lost.
    let what = CString::new(fault.what).unwrap_or_default();
    MESSAGE.with(|message| message.replace(what));
    if fault.code == SYSTEM {
        ERRNO.set(fault.errno);
    }
    fault.code
}

/// Version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Message of the last call that failed in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_error() -> *const c_char {
    MESSAGE.with(|message| message.borrow().as_ptr())
}

/// Name of a result.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_status_name(result: c_int) -> *const c_char {
    let name = match result {
        0.. => c"OK",
        TIMED_OUT => c"TIMED_OUT",
        SYSTEM => c"SYSTEM",
        INTERNAL => c"INTERNAL",
        BAD_REPLY => c"BAD_REPLY",
        ..=RMAP_REFUSED if result > RMAP_REFUSED - 0x100 => c"RMAP_REFUSED",
        ..=RDMA_REFUSED if result > RDMA_REFUSED - 0x100 => c"RDMA_REFUSED",
        _ => status(result).map_or(c"UNKNOWN", text),
    };
    name.as_ptr()
}

/// Where the cause of a result is.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_status_class(result: c_int) -> *const c_char {
    let class = match result {
        ..=RMAP_REFUSED => StatusClass::Remote,
        _ => status(result).map_or(StatusClass::Local, Status::class),
    };
    let name: &CStr = match class {
        StatusClass::Ok => c"ok",
        StatusClass::Local => c"local",
        StatusClass::Remote => c"remote",
        StatusClass::Link => c"link",
        StatusClass::Usage => c"usage",
    };
    name.as_ptr()
}

/// The errno for a result.
#[unsafe(no_mangle)]
pub extern "C" fn spfe_errno(result: c_int) -> c_int {
    match result {
        TIMED_OUT => libc::ETIMEDOUT,
        SYSTEM => ERRNO.get(),
        _ => status(result).map_or(libc::EIO, Status::errno),
    }
}

/// The name of a status with a NUL behind it. The list of statuses is short, so each is made once.
fn text(status: Status) -> &'static CStr {
    static NAMES: std::sync::OnceLock<Vec<Option<CString>>> = std::sync::OnceLock::new();
    let names = NAMES.get_or_init(|| {
        (0..=u8::MAX)
            .map(|raw| Status::from_raw(raw).and_then(|status| CString::new(status.name()).ok()))
            .collect()
    });
    names.get(usize::from(status.raw())).and_then(Option::as_deref).unwrap_or(c"UNKNOWN")
}
