//! Handles: pointers that stay valid after what they stand for is closed.
//!
//! A handle points to a shell that is never freed. Closing empties the shell; thousands of closes
//! later it is used again. So a closed handle is recognised, as long as the program does not go on
//! with it for ever. One thread at a time may be inside a shell; a second one is told BUSY.
//!
//! After a fork, the child must not touch what it shares with its parent: shells know the epoch in
//! which they were opened, and the child is in a new one.

use crate::result::Fault;
use spfe::Status;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Number of closed shells of a kind that are kept before the oldest is used again.
const KEEP: usize = 4096;

const CLOSED: u32 = 0;
const IDLE: u32 = 1;
const USED: u32 = 2;

/// Number of forks in the history of this process.
static EPOCH: AtomicU32 = AtomicU32::new(0);

/// What a handle can stand for.
pub trait Object: Sized + 'static {
    /// Name for messages.
    const NAME: &'static str;
    /// The part that can be read without entering. For buffers, C sees it.
    type Head;
    /// Closed shells of this kind.
    fn spare() -> &'static Spare;
}

/// Closed shells: their addresses, the longest closed first.
#[derive(Default)]
pub struct Spare(Mutex<VecDeque<usize>>);

impl Spare {
    pub const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }
}

/// A shell. The head comes first, because C knows the address of a shell as that of a buffer.
#[repr(C)]
pub struct Handle<T: Object> {
    /// Written when the shell was first opened.
    head: UnsafeCell<MaybeUninit<T::Head>>,
    state: AtomicU32,
    epoch: AtomicU32,
    inner: UnsafeCell<Option<T>>,
}

/// The right to be inside a shell.
struct Inside<'a>(&'a AtomicU32);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        // Release pairs with the acquire in `enter`.
        self.0.store(IDLE, Ordering::Release);
    }
}

/// Opens a handle.
pub fn open<T: Object>(head: T::Head, inner: T) -> *mut Handle<T> {
    static WATCH: Once = Once::new();
    // SAFETY: the function adds to an atomic and walks a list, which a child may do after any fork.
    WATCH.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(forked));
    });
    let mut spare = T::spare().0.lock().unwrap_or_else(PoisonError::into_inner);
    let old = if spare.len() > KEEP { spare.pop_front() } else { None };
    drop(spare);
    let again = old.is_some();
    let shell = old.map_or_else(
        || {
            Box::into_raw(Box::new(Handle {
                head: UnsafeCell::new(MaybeUninit::uninit()),
                state: AtomicU32::new(CLOSED),
                epoch: AtomicU32::new(0),
                inner: UnsafeCell::new(None),
            }))
        },
        |address| address as *mut Handle<T>,
    );
    // SAFETY: the shell came from a box that is never freed. It is closed and in no list, so nobody
    // else writes it.
    unsafe {
        if again {
            (*(*shell).head.get()).assume_init_drop();
        }
        (*(*shell).head.get()).write(head);
        *(*shell).inner.get() = Some(inner);
        (*shell).epoch.store(EPOCH.load(Ordering::Relaxed), Ordering::Relaxed);
        (*shell).state.store(IDLE, Ordering::Release);
    }
    shell
}

extern "C" fn forked() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
    crate::fast::forked();
}

#[cold]
fn unusable<T: Object>(why: &str) -> Fault {
    Fault::new(Status::BadField, format!("{} handle: {why}", T::NAME))
}

/// The shell of a handle of this epoch.
fn shell<'a, T: Object>(handle: *const Handle<T>) -> Result<&'a Handle<T>, Fault> {
    if handle.is_null() || !handle.is_aligned() {
        return Err(unusable::<T>("not one that this library has given out"));
    }
    // SAFETY: C passes what `open` returned, as the header demands; shells are never freed.
    let shell = unsafe { &*handle };
    if shell.epoch.load(Ordering::Relaxed) != EPOCH.load(Ordering::Relaxed) {
        return Err(unusable::<T>("opened before a fork: open another in the child"));
    }
    Ok(shell)
}

fn enter<T: Object>(shell: &Handle<T>) -> Result<Inside<'_>, Fault> {
    match shell.state.compare_exchange(IDLE, USED, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => Ok(Inside(&shell.state)),
        Err(CLOSED) => Err(unusable::<T>("closed")),
        Err(_) => {
            let what = format!("{}: another thread is using it at this moment", T::NAME);
            Err(Fault::new(Status::Busy, what))
        }
    }
}

/// Calls `body` with the object of a handle.
pub fn with<T: Object, R>(
    handle: *const Handle<T>,
    body: impl FnOnce(&mut T) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let shell = shell(handle)?;
    let _inside = enter(shell)?;
    // SAFETY: only the thread that is inside touches the object.
    let object = unsafe { &mut *shell.inner.get() };
    object.as_mut().map_or_else(|| Err(unusable::<T>("closed")), body)
}

/// Calls `body` with the head of an open handle, which another thread may be using.
pub fn head<T: Object, R>(
    handle: *const Handle<T>,
    body: impl FnOnce(&T::Head) -> R,
) -> Result<R, Fault>
where
    T::Head: Sync,
{
    let shell = shell(handle)?;
    // Acquire pairs with the release in `open`, so the head is there.
    if shell.state.load(Ordering::Acquire) == CLOSED {
        return Err(unusable::<T>("closed"));
    }
    // SAFETY: heads that threads share are only replaced in `open`, and the header forbids to close a
    // handle while another call has it; a shell that is closed meanwhile keeps its head.
    Ok(body(unsafe { (*shell.head.get()).assume_init_ref() }))
}

/// Address of the head of a handle that the caller is inside. C knows it as the handle's.
pub fn head_of<T: Object>(handle: *mut Handle<T>) -> *mut T::Head {
    handle.cast()
}

/// Closes a handle if `allow` agrees.
pub fn close<T: Object>(
    handle: *const Handle<T>,
    allow: impl FnOnce(&mut T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let shell = shell(handle)?;
    let inside = enter(shell)?;
    // SAFETY: as in `with`.
    let object = unsafe { &mut *shell.inner.get() };
    if let Some(object) = object {
        allow(object)?;
    }
    drop(object.take());
    std::mem::forget(inside);
    shell.state.store(CLOSED, Ordering::Release);
    T::spare().0.lock().unwrap_or_else(PoisonError::into_inner).push_back(handle as usize);
    Ok(())
}
