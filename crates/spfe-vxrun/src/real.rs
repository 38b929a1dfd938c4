//! The functions of libc that this library replaces, as they are.

use libc::{
    c_int, c_uint, c_ulong, c_void, epoll_event, fd_set, iovec, mmsghdr, msghdr, nfds_t, off_t,
    off64_t, pid_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec, timeval,
};
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next definition of a function behind this library, looked up once.
fn resolve(place: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = place.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        // A program cannot run without these functions, and nothing of it may unwind here.
        std::process::abort();
    }
    place.store(found, Ordering::Relaxed);
    found
}

macro_rules! functions {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// The function of libc with this name.
        ///
        /// # Safety
        /// That of the function.
        #[inline]
        pub unsafe fn $name($($arg: $kind),*) -> $result {
            static PLACE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let name = const {
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!(),
                }
            };
            let at = resolve(&PLACE, name);
            // SAFETY: libc declares the function with this type.
            let function = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> $result>(at)
            };
            // SAFETY: the caller's promise.
            unsafe { function($($arg),*) }
        }
    )*};
}

functions! {
    read(fd: c_int, to: *mut c_void, bytes: size_t) -> ssize_t;
    write(fd: c_int, from: *const c_void, bytes: size_t) -> ssize_t;
    readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    recv(fd: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t;
    send(fd: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t;
    recvfrom(fd: c_int, to: *mut c_void, bytes: size_t, flags: c_int, name: *mut sockaddr,
        name_bytes: *mut socklen_t) -> ssize_t;
    sendto(fd: c_int, from: *const c_void, bytes: size_t, flags: c_int, name: *const sockaddr,
        name_bytes: socklen_t) -> ssize_t;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    recvmmsg(fd: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec)
        -> c_int;
    sendmmsg(fd: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    sendfile(fd: c_int, from: c_int, offset: *mut off_t, bytes: size_t) -> ssize_t;
    splice(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, bytes: size_t,
        flags: c_uint) -> ssize_t;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    connect(fd: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int;
    accept(fd: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t) -> c_int;
    accept4(fd: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t, flags: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(fd: c_int, to: c_int) -> c_int;
    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: c_ulong) -> c_int;
    fdopen(fd: c_int, mode: *const libc::c_char) -> *mut libc::FILE;
    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t)
        -> c_int;
    select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *mut timeval) -> c_int;
    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t) -> c_int;
    epoll_ctl(epoll: c_int, what: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int,
        mask: *const sigset_t) -> c_int;
    fork() -> pid_t;
}
