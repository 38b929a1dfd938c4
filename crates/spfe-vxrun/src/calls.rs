//! The functions that programs call instead of those of libc.

use crate::real;
use libc::{
    c_char, c_int, c_uint, c_ulong, c_void, epoll_event, fd_set, iovec, msghdr, nfds_t, off_t,
    off64_t, pid_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec, timeval,
};

macro_rules! pass {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// # Safety
        /// As for the function of libc.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $kind),*) -> $result {
            // SAFETY: the caller's promise.
            unsafe { real::$name($($arg),*) }
        }
    )*};
}

pass! {
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
    sendfile(fd: c_int, from: c_int, offset: *mut off_t, bytes: size_t) -> ssize_t;
    splice(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, bytes: size_t,
        flags: c_uint) -> ssize_t;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    accept(fd: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t) -> c_int;
    accept4(fd: c_int, name: *mut sockaddr, name_bytes: *mut socklen_t, flags: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    closefrom(first: c_int) -> ();
    dup(fd: c_int) -> c_int;
    dup2(fd: c_int, to: c_int) -> c_int;
    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
    fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: c_ulong) -> c_int;
    fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE;
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

/// A child of vfork would change the tables of its parent, so it becomes a child of fork.
///
/// # Safety
/// As for the function of libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vfork() -> pid_t {
    // SAFETY: the caller's promise.
    unsafe { fork() }
}

/// The function has another name where files are large.
///
/// # Safety
/// As for the function of libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sendfile64(
    fd: c_int,
    from: c_int,
    offset: *mut off64_t,
    bytes: size_t,
) -> ssize_t {
    // SAFETY: the caller's promise; both types have 64 bits on the machines that we support.
    unsafe { sendfile(fd, from, offset, bytes) }
}

// Programs that were compiled with _FORTIFY_SOURCE call functions that know how long the buffer is,
// and these would go to the kernel directly.

/// Ends a program whose buffer is too short, as libc does.
fn check(is_long_enough: bool) {
    if !is_long_enough {
        std::process::abort();
    }
}

/// # Safety
/// As for `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __read_chk(
    fd: c_int,
    to: *mut c_void,
    n: size_t,
    room: size_t,
) -> ssize_t {
    check(n <= room);
    // SAFETY: the caller's promise.
    unsafe { read(fd, to, n) }
}

/// # Safety
/// As for `recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recv_chk(
    fd: c_int,
    to: *mut c_void,
    bytes: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    check(bytes <= room);
    // SAFETY: the caller's promise.
    unsafe { recv(fd, to, bytes, flags) }
}

/// # Safety
/// As for `recvfrom`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __recvfrom_chk(
    fd: c_int,
    to: *mut c_void,
    bytes: size_t,
    room: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_bytes: *mut socklen_t,
) -> ssize_t {
    check(bytes <= room);
    // SAFETY: the caller's promise.
    unsafe { recvfrom(fd, to, bytes, flags, name, name_bytes) }
}

/// # Safety
/// As for `poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __poll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: c_int,
    room: size_t,
) -> c_int {
    check(room / size_of::<pollfd>() >= count as usize);
    // SAFETY: the caller's promise.
    unsafe { poll(fds, count, timeout) }
}

/// # Safety
/// As for `ppoll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __ppoll_chk(
    fds: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
    room: size_t,
) -> c_int {
    check(room / size_of::<pollfd>() >= count as usize);
    // SAFETY: the caller's promise.
    unsafe { ppoll(fds, count, timeout, mask) }
}
