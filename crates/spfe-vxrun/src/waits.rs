//! `poll` and `select` over connections in memory and everything else.

use crate::conn::{Using, find};
use crate::offer::advance;
use crate::{moves, real, sys};
use libc::{c_int, c_short, fd_set, nfds_t, pollfd, sigset_t};

const IN: c_short = libc::POLLIN | libc::POLLRDNORM;
const OUT: c_short = libc::POLLOUT | libc::POLLWRNORM;

/// Whether one of these descriptors is a connection that may move to memory.
pub fn concerns(fds: &[pollfd]) -> bool {
    fds.iter().any(|one| find(one.fd).is_some())
}

/// A connection in a call.
struct Member {
    index: usize,
    conn: Using,
    /// Whether the call hears its bells; otherwise the kernel knows that it waits.
    hears: bool,
}

impl Member {
    /// Events of the ring.
    fn events(&self, one: &pollfd) -> c_short {
        let Some(stream) = self.conn.stream().filter(|_| self.hears) else { return 0 };
        let mut events = 0;
        if one.events & IN != 0 && moves::has_data(&self.conn, one.fd, stream) {
            events |= one.events & IN;
        }
        if one.events & OUT != 0
            && moves::sends_in_ring(&self.conn)
            && moves::is_writable(&self.conn, stream)
        {
            events |= one.events & OUT;
        }
        events
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if !self.hears {
            self.conn.leave_kernel();
        }
    }
}

/// Waits for events as `ppoll` does. `ns` is how long; `None`: for ever.
///
/// # Safety
/// The mask is one, or null.
pub unsafe fn poll(fds: &mut [pollfd], ns: Option<u64>, mask: *const sigset_t) -> c_int {
    let limit = ns.map(|ns| sys::now_ns().saturating_add(ns));
    loop {
        let mut members = Vec::new();
        for (index, one) in fds.iter().enumerate() {
            if let Some(conn) = find(one.fd) {
                advance(&conn, one.fd);
                let hears = !conn.enter_kernel();
                members.push(Member { index, conn, hears });
            }
        }
        let ready = || members.iter().any(|member| member.events(&fds[member.index]) != 0);
        let mut is_ready = ready() || ns == Some(0);
        // How polling went on one connection decides for all.
        let one = members.iter().find_map(|member| Some((&*member.conn, member.conn.stream()?)));
        if let Some((conn, stream)) = one.filter(|_| !is_ready) {
            is_ready = moves::spin_for(conn, stream, ready);
        }
        let mut all = fds.to_vec();
        for member in &members {
            let Some(stream) = member.conn.stream().filter(|_| member.hears) else { continue };
            let wanted = fds[member.index].events;
            let mut bell = |which: usize| {
                if !is_ready {
                    moves::sleepy(&member.conn, stream, which);
                }
                all.push(pollfd { fd: stream.bells[which], events: libc::POLLIN, revents: 0 });
            };
            if wanted & IN != 0 {
                bell(0);
            }
            if wanted & OUT != 0 && moves::sends_in_ring(&member.conn) {
                bell(1);
                all[member.index].events &= !OUT;
            }
        }
        is_ready = is_ready || ready();
        let left = limit.map(|limit| limit.saturating_sub(sys::now_ns()));
        let time = if is_ready { Some(0) } else { left }.map(sys::span);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the list and the time live during the call; the caller's promise for the mask.
        let found = unsafe { real::ppoll(all.as_mut_ptr(), all.len() as nfds_t, time, mask) };
        if found < 0 {
            return found;
        }
        for (one, seen) in fds.iter_mut().zip(&all) {
            one.revents = seen.revents;
        }
        for member in &members {
            fds[member.index].revents |= member.events(&fds[member.index]);
        }
        let count = fds.iter().filter(|one| one.revents != 0).count() as c_int;
        if count > 0 || limit.is_some_and(|limit| sys::now_ns() >= limit) {
            return count;
        }
    }
}

/// The sets of `select` as a list for `poll`; `None` if no connection is in them.
///
/// # Safety
/// The sets are sets, or null.
pub unsafe fn list(count: c_int, sets: [*mut fd_set; 3]) -> Option<Vec<pollfd>> {
    let mut fds = Vec::new();
    for fd in 0..count.clamp(0, libc::FD_SETSIZE as c_int) {
        // SAFETY: the caller's promise; the number is below the size of a set.
        let is_in = |set: *mut fd_set| !set.is_null() && unsafe { libc::FD_ISSET(fd, set) };
        let events = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
        let events = sets.iter().zip(events).filter(|(set, _)| is_in(**set));
        let events = events.fold(0, |sum, (_, event)| sum | event);
        if events != 0 {
            fds.push(pollfd { fd, events, revents: 0 });
        }
    }
    concerns(&fds).then_some(fds)
}

/// Writes the result of `poll` into the sets of `select`.
///
/// # Safety
/// The sets are those that the list was made of.
pub unsafe fn unlist(fds: &[pollfd], sets: [*mut fd_set; 3]) -> c_int {
    if fds.iter().any(|one| one.revents & libc::POLLNVAL != 0) {
        return sys::fail(libc::EBADF) as c_int;
    }
    let bad = libc::POLLERR;
    let means = [IN | libc::POLLHUP | bad, OUT | bad, libc::POLLPRI];
    let asked = [libc::POLLIN, libc::POLLOUT, libc::POLLPRI];
    let mut count = 0;
    for (which, set) in sets.into_iter().enumerate().filter(|(_, set)| !set.is_null()) {
        // SAFETY: the caller's promise.
        unsafe { libc::FD_ZERO(set) };
        for one in fds {
            if one.events & asked[which] != 0 && one.revents & means[which] != 0 {
                // SAFETY: the caller's promise; the number came out of a set.
                unsafe { libc::FD_SET(one.fd, set) };
                count += 1;
            }
        }
    }
    count
}
