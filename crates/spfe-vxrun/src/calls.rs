//! The functions that programs call instead of those of libc.

use crate::conn::{self, find};
use crate::{epolls, life, moves, offer, real, sys, waits};
use libc::{
    c_char, c_int, c_uint, c_ulong, c_void, epoll_event, fd_set, iovec, mmsghdr, msghdr, nfds_t,
    off_t, off64_t, pid_t, pollfd, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec,
    timeval,
};

/// The parts of a call's buffers.
unsafe fn parts<'a>(at: *const iovec, count: usize) -> &'a [iovec] {
    if at.is_null() || count > libc::UIO_MAXIOV as usize {
        return &[];
    }
    // SAFETY: the caller of libc passes so many parts.
    unsafe { std::slice::from_raw_parts(at, count) }
}

macro_rules! calls {
    ($($name:ident($($arg:ident: $kind:ty),*) -> $result:ty $body:block)*) => {$(
        /// # Safety
        /// As for the function of libc.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $kind),*) -> $result {
            // SAFETY: the caller's promise, which is that of libc.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

calls! {
    read(fd: c_int, to: *mut c_void, bytes: size_t) -> ssize_t {
        let Some(conn) = find(fd) else { return real::read(fd, to, bytes) };
        let part = [iovec { iov_base: to, iov_len: bytes }];
        moves::receive(&conn, fd, &part, 0, || real::read(fd, to, bytes))
    }

    write(fd: c_int, from: *const c_void, bytes: size_t) -> ssize_t {
        let Some(conn) = find(fd) else { return real::write(fd, from, bytes) };
        let part = [iovec { iov_base: from.cast_mut(), iov_len: bytes }];
        moves::send(&conn, fd, &part, 0, || real::write(fd, from, bytes))
    }

    readv(fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
        let Some(conn) = find(fd) else { return real::readv(fd, at, count) };
        let list = parts(at, count as usize);
        moves::receive(&conn, fd, list, 0, || real::readv(fd, at, count))
    }

    writev(fd: c_int, at: *const iovec, count: c_int) -> ssize_t {
        let Some(conn) = find(fd) else { return real::writev(fd, at, count) };
        let list = parts(at, count as usize);
        moves::send(&conn, fd, list, 0, || real::writev(fd, at, count))
    }

    recv(fd: c_int, to: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t {
        let Some(conn) = find(fd) else { return real::recv(fd, to, bytes, flags) };
        let part = [iovec { iov_base: to, iov_len: bytes }];
        moves::receive(&conn, fd, &part, flags, || real::recv(fd, to, bytes, flags))
    }

    send(fd: c_int, from: *const c_void, bytes: size_t, flags: c_int) -> ssize_t {
        let Some(conn) = find(fd) else { return real::send(fd, from, bytes, flags) };
        let part = [iovec { iov_base: from.cast_mut(), iov_len: bytes }];
        moves::send(&conn, fd, &part, flags, || real::send(fd, from, bytes, flags))
    }

    recvfrom(fd: c_int, to: *mut c_void, bytes: size_t, flags: c_int, name: *mut sockaddr,
        name_bytes: *mut socklen_t) -> ssize_t {
        let Some(conn) = find(fd) else {
            return real::recvfrom(fd, to, bytes, flags, name, name_bytes);
        };
        let part = [iovec { iov_base: to, iov_len: bytes }];
        if !name_bytes.is_null() && conn.stream().is_some() {
            *name_bytes = 0;
        }
        let kernel = || real::recvfrom(fd, to, bytes, flags, name, name_bytes);
        moves::receive(&conn, fd, &part, flags, kernel)
    }

    sendto(fd: c_int, from: *const c_void, bytes: size_t, flags: c_int, name: *const sockaddr,
        name_bytes: socklen_t) -> ssize_t {
        let Some(conn) = find(fd) else {
            return real::sendto(fd, from, bytes, flags, name, name_bytes);
        };
        let part = [iovec { iov_base: from.cast_mut(), iov_len: bytes }];
        let kernel = || real::sendto(fd, from, bytes, flags, name, name_bytes);
        moves::send(&conn, fd, &part, flags, kernel)
    }

    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        let Some(conn) = find(fd).filter(|_| !message.is_null()) else {
            return real::recvmsg(fd, message, flags);
        };
        let list = parts((*message).msg_iov, (*message).msg_iovlen);
        // Streams in memory have neither names nor control messages.
        if conn.stream().is_some() && flags & libc::MSG_ERRQUEUE == 0 {
            (*message).msg_namelen = 0;
            (*message).msg_controllen = 0;
            (*message).msg_flags = 0;
        }
        moves::receive(&conn, fd, list, flags, || real::recvmsg(fd, message, flags))
    }

    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        let Some(conn) = find(fd).filter(|_| !message.is_null()) else {
            return real::sendmsg(fd, message, flags);
        };
        let list = parts((*message).msg_iov, (*message).msg_iovlen);
        moves::send(&conn, fd, list, flags, || real::sendmsg(fd, message, flags))
    }

    // A stream has no borders between messages, so the first one takes all there is.
    recvmmsg(fd: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec)
        -> c_int {
        if list.is_null() || count == 0 || find(fd).is_none() {
            return real::recvmmsg(fd, list, count, flags, timeout);
        }
        let bytes = recvmsg(fd, &raw mut (*list).msg_hdr, flags & !libc::MSG_WAITFORONE);
        first_message(list, bytes)
    }

    sendmmsg(fd: c_int, list: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
        if list.is_null() || count == 0 || find(fd).is_none() {
            return real::sendmmsg(fd, list, count, flags);
        }
        let bytes = sendmsg(fd, &raw const (*list).msg_hdr, flags);
        first_message(list, bytes)
    }

    sendfile(fd: c_int, from: c_int, offset: *mut off_t, bytes: size_t) -> ssize_t {
        let kernel = || real::sendfile(fd, from, offset, bytes);
        let Some(conn) = find(fd) else { return kernel() };
        moves::send_on_tcp(&conn, fd, &kernel).unwrap_or_else(|| copied(fd, from, offset, bytes))
    }

    splice(from: c_int, from_at: *mut off64_t, to: c_int, to_at: *mut off64_t, bytes: size_t,
        flags: c_uint) -> ssize_t {
        // Programs that use splice can do without it: they get the error of descriptors that cannot.
        if [from, to].into_iter().any(|fd| find(fd).is_some_and(|conn| conn.stream().is_some())) {
            return sys::fail(libc::EINVAL);
        }
        life::pin(from);
        life::pin(to);
        real::splice(from, from_at, to, to_at, bytes, flags)
    }

    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
        let fd = real::socket(domain, kind, protocol);
        life::fresh(fd);
        fd
    }

    connect(fd: c_int, name: *const sockaddr, bytes: socklen_t) -> c_int {
        let done = real::connect(fd, name, bytes);
        let error = sys::errno();
        if done == 0 || error == libc::EINPROGRESS {
            life::adopt(fd, life::target(name, bytes));
        }
        sys::fail(error);
        done
    }

    accept(fd: c_int, name: *mut sockaddr, bytes: *mut socklen_t) -> c_int {
        accepted(real::accept(fd, name, bytes))
    }

    accept4(fd: c_int, name: *mut sockaddr, bytes: *mut socklen_t, flags: c_int) -> c_int {
        accepted(real::accept4(fd, name, bytes, flags))
    }

    shutdown(fd: c_int, how: c_int) -> c_int {
        match find(fd) {
            Some(conn) => life::shutdown(&conn, fd, how),
            None => real::shutdown(fd, how),
        }
    }

    close(fd: c_int) -> c_int {
        let closing = life::before_close(fd);
        let done = real::close(fd);
        let error = sys::errno();
        drop(closing);
        sys::fail(error);
        done
    }

    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        // The other flag only marks descriptors.
        let closes = flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0;
        let range = first..=last;
        let open: Vec<c_int> = conn::descriptors().collect();
        let open = open.into_iter().filter(|fd| closes && range.contains(&(*fd as c_uint)));
        let closing: Vec<life::Closing> = open.map(life::before_close).collect();
        let done = real::close_range(first, last, flags);
        let error = sys::errno();
        drop(closing);
        sys::fail(error);
        done
    }

    closefrom(first: c_int) -> () {
        close_range(first.max(0) as c_uint, c_uint::MAX, 0);
    }

    dup(fd: c_int) -> c_int {
        duplicated(fd, real::dup(fd))
    }

    dup2(fd: c_int, to: c_int) -> c_int {
        if fd == to {
            return real::dup2(fd, to);
        }
        replaced(fd, to, || real::dup2(fd, to))
    }

    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
        replaced(fd, to, || real::dup3(fd, to, flags))
    }

    fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
        let done = real::fcntl(fd, command, argument);
        let copies = command == libc::F_DUPFD || command == libc::F_DUPFD_CLOEXEC;
        if copies { duplicated(fd, done) } else { done }
    }

    fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
        fcntl(fd, command, argument)
    }

    ioctl(fd: c_int, request: c_ulong, argument: c_ulong) -> c_int {
        let done = real::ioctl(fd, request, argument);
        if request == libc::FIONREAD && done == 0
            && let Some(conn) = find(fd)
            && let Some(stream) = conn.stream()
        {
            let waiting = moves::waiting(&conn, fd, stream);
            *(argument as *mut c_int) = c_int::try_from(waiting).unwrap_or(c_int::MAX);
        }
        done
    }

    fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE {
        // Functions of stdio go past this library.
        life::pin(fd);
        real::fdopen(fd, mode)
    }

    poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
        if fds.is_null() || count == 0 {
            return real::poll(fds, count, timeout);
        }
        let list = std::slice::from_raw_parts_mut(fds, count as usize);
        if !waits::concerns(list) {
            return real::poll(fds, count, timeout);
        }
        let ns = u64::try_from(timeout).ok().map(|ms| ms * 1_000_000);
        waits::poll(list, ns, std::ptr::null())
    }

    ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t)
        -> c_int {
        if fds.is_null() || count == 0 {
            return real::ppoll(fds, count, timeout, mask);
        }
        let list = std::slice::from_raw_parts_mut(fds, count as usize);
        if !waits::concerns(list) {
            return real::ppoll(fds, count, timeout, mask);
        }
        waits::poll(list, nanoseconds(timeout), mask)
    }

    select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *mut timeval) -> c_int {
        let sets = [read, write, except];
        let Some(mut fds) = waits::list(count, sets) else {
            return real::select(count, read, write, except, timeout);
        };
        let ns = timeout.as_ref().map(|time| {
            time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
        });
        let start = sys::now_ns();
        if waits::poll(&mut fds, ns, std::ptr::null()) < 0 {
            return -1;
        }
        // Linux leaves what is left of the time.
        if let (Some(time), Some(ns)) = (timeout.as_mut(), ns) {
            let left = ns.saturating_sub(sys::now_ns() - start);
            time.tv_sec = (left / 1_000_000_000) as i64;
            time.tv_usec = (left % 1_000_000_000 / 1000) as i64;
        }
        waits::unlist(&fds, sets)
    }

    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t) -> c_int {
        let sets = [read, write, except];
        let Some(mut fds) = waits::list(count, sets) else {
            return real::pselect(count, read, write, except, timeout, mask);
        };
        if waits::poll(&mut fds, nanoseconds(timeout), mask) < 0 {
            return -1;
        }
        waits::unlist(&fds, sets)
    }

    epoll_ctl(epoll: c_int, what: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
        match find(fd) {
            Some(conn) => epolls::ctl(&conn, epoll, what, fd, event),
            None => real::epoll_ctl(epoll, what, fd, event),
        }
    }

    epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int {
        epolls::wait(epoll, events, most, timeout, std::ptr::null())
            .unwrap_or_else(|| real::epoll_wait(epoll, events, most, timeout))
    }

    epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int,
        mask: *const sigset_t) -> c_int {
        epolls::wait(epoll, events, most, timeout, mask)
            .unwrap_or_else(|| real::epoll_pwait(epoll, events, most, timeout, mask))
    }

    epoll_pwait2(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: *const timespec,
        mask: *const sigset_t) -> c_int {
        let ms = nanoseconds(timeout).map_or(-1, |ns| {
            c_int::try_from(ns.div_ceil(1_000_000)).unwrap_or(c_int::MAX)
        });
        epoll_pwait(epoll, events, most, ms, mask)
    }

    fork() -> pid_t {
        conn::fork(|| real::fork())
    }

    _exit(code: c_int) -> () {
        life::leave();
        libc::syscall(libc::SYS_exit_group, code);
        std::process::abort();
    }

    _Exit(code: c_int) -> () {
        _exit(code);
    }
}

/// The result of a call for several messages that has moved the first one.
unsafe fn first_message(list: *mut mmsghdr, bytes: ssize_t) -> c_int {
    if bytes < 0 {
        return -1;
    }
    // SAFETY: the caller of libc passes at least one message.
    unsafe { (*list).msg_len = bytes as c_uint };
    1
}

/// A connection that `accept` has made.
fn accepted(fd: c_int) -> c_int {
    let error = sys::errno();
    if fd >= 0 {
        life::fresh(fd);
        // SAFETY: `address` passes room for an address.
        let remote = offer::address(|at, bytes| unsafe { libc::getpeername(fd, at, bytes) });
        life::adopt(fd, remote);
    }
    sys::fail(error);
    fd
}

/// A second descriptor `new` of what `fd` is.
fn duplicated(fd: c_int, new: c_int) -> c_int {
    if new >= 0 {
        let error = sys::errno();
        life::fresh(new);
        if let Some(conn) = find(fd) {
            conn::duplicate(&conn, new);
        }
        sys::fail(error);
    }
    new
}

/// The same for a number that may have been in use.
fn replaced(fd: c_int, to: c_int, call: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: no memory is passed. A call that fails leaves the old descriptor as it is.
    let is_open = unsafe { real::fcntl(fd, libc::F_GETFD, 0) } >= 0 && fd != to;
    let closing = is_open.then(|| life::before_close(to));
    let new = call();
    let error = sys::errno();
    drop(closing);
    if new >= 0
        && let Some(conn) = find(fd)
    {
        if new <= 2 {
            conn.pinned.store(true, std::sync::atomic::Ordering::SeqCst);
        }
        conn::duplicate(&conn, new);
    }
    sys::fail(error);
    new
}

/// A time for `ppoll`; `None` if it waits for ever.
unsafe fn nanoseconds(time: *const timespec) -> Option<u64> {
    // SAFETY: the caller of libc passes a time or null.
    let time = unsafe { time.as_ref() }?;
    Some(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

/// Sends a part of a file through the ring.
unsafe fn copied(fd: c_int, from: c_int, offset: *mut off_t, bytes: size_t) -> ssize_t {
    let mut buffer = vec![0u8; bytes.min(256 << 10)];
    let at = buffer.as_mut_ptr().cast::<c_void>();
    // SAFETY: the caller of libc passes an offset or null.
    let start = match unsafe { offset.as_ref() } {
        Some(offset) => *offset,
        // SAFETY: no memory is passed.
        None => unsafe { libc::lseek(from, 0, libc::SEEK_CUR) },
    };
    // SAFETY: the buffer has this length.
    let read = unsafe { libc::pread(from, at, buffer.len(), start) };
    if read <= 0 {
        return read;
    }
    // SAFETY: so many bytes were read.
    let sent = unsafe { send(fd, at, read as usize, 0) };
    if sent > 0 {
        // SAFETY: as above.
        match unsafe { offset.as_mut() } {
            Some(offset) => *offset += sent as off_t,
            // SAFETY: no memory is passed.
            None => drop(unsafe { libc::lseek(from, start + sent as off_t, libc::SEEK_SET) }),
        }
    }
    sent
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
