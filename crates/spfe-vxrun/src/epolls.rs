//! epoll over connections in memory and everything else.
//!
//! The kernel's set has the connection with data of ours, and its bells, so that a wait in the kernel
//! hears everything; what the program asked for is kept here. Each wait first looks at the rings.

use crate::conn::{Conn, FDS_MAX, Using, find};
use crate::offer::advance;
use crate::{moves, real, sys};
use libc::{c_int, epoll_event, sigset_t};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

const IN: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const OUT: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const ONCE: u32 = libc::EPOLLONESHOT as u32;
/// Data of our events: no pointer, no descriptor and no number that programs use begins like this.
const OURS: u64 = 0x7678_7274_0000_0000;
const OURS_MASK: u64 = 0xffff_fffe_0000_0000;
/// An event of a bell.
const BELL: u64 = 1 << 32;
/// Most events of one call.
const EVENTS_MAX: usize = 1024;

/// A connection in a set.
#[derive(Debug)]
struct Entry {
    fd: c_int,
    conn: *const Conn,
    events: u32,
    data: u64,
    /// With EPOLLET: how far the other end was in the ring at the last event; `None` if what is
    /// there could not be read yet.
    seen: Option<u64>,
    /// Whether the next event does not need anything new: after EPOLL_CTL_ADD and EPOLL_CTL_MOD.
    fresh: bool,
    /// After an event with EPOLLONESHOT.
    disabled: bool,
    /// Bells in the set: data, room.
    bells: [bool; 2],
}

// SAFETY: the pointer is compared only.
unsafe impl Send for Entry {}

/// A set.
#[derive(Debug)]
struct Set {
    entries: Mutex<Vec<Entry>>,
}

static SETS: [AtomicPtr<Set>; FDS_MAX] = [const { AtomicPtr::new(std::ptr::null_mut()) }; FDS_MAX];
/// Descriptors below this can be sets.
static HIGH: AtomicU32 = AtomicU32::new(0);

fn set_of(epoll: c_int) -> Option<&'static Set> {
    // SAFETY: sets are never freed.
    unsafe { SETS.get(epoll as usize)?.load(Ordering::Acquire).as_ref() }
}

/// The set of a descriptor is gone.
pub fn forget_set(epoll: c_int) {
    if let Some(place) = SETS.get(epoll as usize)
        && !place.load(Ordering::Relaxed).is_null()
    {
        // A thread may still wait with it, so its few bytes stay.
        place.store(std::ptr::null_mut(), Ordering::Release);
    }
}

fn control(epoll: c_int, what: c_int, fd: c_int, events: u32, data: u64) -> c_int {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: the event lives during the call.
    unsafe { real::epoll_ctl(epoll, what, fd, &mut event) }
}

impl Entry {
    /// What the kernel watches the connection itself for.
    fn kernel_events(&self, conn: &Conn) -> u32 {
        if moves::sends_in_ring(conn) { self.events & !OUT } else { self.events }
    }

    /// Puts bells into the set as far as they are needed and missing.
    fn join(&mut self, epoll: c_int, conn: &Using) {
        let Some(stream) = conn.stream() else { return };
        let data = OURS | BELL | self.fd as u64;
        for which in 0..2 {
            let is_due = which == 0 || moves::sends_in_ring(conn);
            if !is_due || self.bells[which] {
                continue;
            }
            self.bells[which] = true;
            let bell = stream.bells[which];
            control(epoll, libc::EPOLL_CTL_ADD, bell, libc::EPOLLIN as u32 | EDGE, data);
            if which == 1 && !self.disabled {
                let events = self.kernel_events(conn);
                control(epoll, libc::EPOLL_CTL_MOD, self.fd, events, OURS | self.fd as u64);
            }
        }
    }

    fn leave(&mut self, epoll: c_int, conn: &Conn) {
        let Some(stream) = conn.stream() else { return };
        for which in 0..2 {
            if std::mem::take(&mut self.bells[which]) {
                control(epoll, libc::EPOLL_CTL_DEL, stream.bells[which], 0, 0);
            }
        }
    }

    /// Events of the rings that are due now.
    fn due(&self, conn: &Using) -> u32 {
        let Some(stream) = conn.stream().filter(|_| !self.disabled) else { return 0 };
        let mut events = 0;
        if self.events & IN != 0 && moves::has_data(conn, self.fd, stream) {
            events |= self.events & IN;
        }
        if self.events & OUT != 0 && moves::sends_in_ring(conn) && moves::is_writable(conn, stream)
        {
            events |= self.events & OUT;
        }
        let is_new = self.events & EDGE == 0
            || self.fresh
            || events & IN != 0 && moves::visible(conn, stream) != self.seen
            || events & OUT != 0 && conn.shared().was_full.load(Ordering::Relaxed) != 0;
        if is_new { events } else { 0 }
    }

    /// The program gets an event.
    fn report(&mut self, epoll: c_int, conn: &Using) {
        self.fresh = false;
        if let Some(stream) = conn.stream() {
            self.seen = moves::visible(conn, stream);
            conn.shared().was_full.store(0, Ordering::Relaxed);
        }
        if self.events & ONCE != 0 {
            self.disabled = true;
            control(epoll, libc::EPOLL_CTL_MOD, self.fd, 0, OURS | self.fd as u64);
        }
    }

    /// The connection, unless the descriptor has another one by now.
    fn conn(&self) -> Option<Using> {
        find(self.fd).filter(|conn| std::ptr::eq::<Conn>(&**conn, self.conn))
    }
}

/// `epoll_ctl` for a connection.
///
/// # Safety
/// The event is one, or null for EPOLL_CTL_DEL.
pub unsafe fn ctl(
    conn: &Using,
    epoll: c_int,
    what: c_int,
    fd: c_int,
    event: *const epoll_event,
) -> c_int {
    let Some(place) = SETS.get(epoll as usize) else {
        conn.pinned.store(true, Ordering::SeqCst);
        // SAFETY: the caller's promise.
        return unsafe { real::epoll_ctl(epoll, what, fd, event.cast_mut()) };
    };
    if event.is_null() && what != libc::EPOLL_CTL_DEL {
        return sys::fail(libc::EFAULT) as c_int;
    }
    let set = set_of(epoll).unwrap_or_else(|| {
        let set = Box::into_raw(Box::new(Set { entries: Mutex::new(Vec::new()) }));
        let old =
            place.compare_exchange(std::ptr::null_mut(), set, Ordering::AcqRel, Ordering::Acquire);
        HIGH.fetch_max(epoll as u32 + 1, Ordering::Relaxed);
        // SAFETY: sets are never freed; this one is, if another thread was first.
        unsafe {
            match old {
                Ok(_) => &*set,
                Err(other) => {
                    drop(Box::from_raw(set));
                    &*other
                }
            }
        }
    });
    let Ok(mut entries) = set.entries.lock() else { return sys::fail(libc::ENOMEM) as c_int };
    let known = entries.iter().position(|entry| entry.fd == fd);
    if what == libc::EPOLL_CTL_DEL {
        if let Some(index) = known {
            entries.swap_remove(index).leave(epoll, conn);
        }
        return control(epoll, what, fd, 0, 0);
    }
    // SAFETY: the caller's promise; the type is packed.
    let event = unsafe { event.read_unaligned() };
    let mut entry = Entry {
        fd,
        conn: std::ptr::from_ref::<Conn>(conn),
        events: event.events,
        data: event.u64,
        seen: None,
        fresh: true,
        disabled: false,
        bells: [false; 2],
    };
    let done = control(epoll, what, fd, entry.kernel_events(conn), OURS | fd as u64);
    if done < 0 {
        return done;
    }
    conn.watched.store(true, Ordering::Relaxed);
    match known {
        Some(index) => {
            if what == libc::EPOLL_CTL_MOD {
                entry.bells = entries[index].bells;
            }
            entries[index] = entry;
        }
        None => entries.push(entry),
    }
    let index = known.unwrap_or(entries.len() - 1);
    entries[index].join(epoll, conn);
    // A thread that waits with this set may have to hear of what is there already.
    if let Some(stream) = conn.stream()
        && entries[index].due(conn) != 0
    {
        sys::ring(stream.bells[0]);
    }
    done
}

/// A descriptor of a connection is closed: no set has it any more.
pub fn forget_conn(conn: &Conn, fd: c_int) {
    if !conn.watched.load(Ordering::Relaxed) {
        return;
    }
    for epoll in 0..HIGH.load(Ordering::Relaxed) as c_int {
        let Some(set) = set_of(epoll) else { continue };
        let Ok(mut entries) = set.entries.lock() else { continue };
        let own = |entry: &Entry| entry.fd == fd && std::ptr::eq(entry.conn, conn);
        if let Some(index) = entries.iter().position(own) {
            entries.swap_remove(index).leave(epoll, conn);
        }
    }
}

/// Calls that wait in the kernel without hearing the bells.
struct Deaf(Vec<Using>);

impl Drop for Deaf {
    fn drop(&mut self) {
        self.0.iter().for_each(|conn| conn.leave_kernel());
    }
}

/// `epoll_pwait`; `None` if the set has no connection.
///
/// # Safety
/// There is room for so many events; the mask is one, or null.
pub unsafe fn wait(
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
    mask: *const sigset_t,
) -> Option<c_int> {
    let set = set_of(epoll)?;
    if most <= 0 || set.entries.lock().ok()?.is_empty() {
        return None;
    }
    let most = (most as usize).min(EVENTS_MAX);
    let limit = u64::try_from(timeout).ok().map(|ms| sys::now_ns() + ms * 1_000_000);
    let mut found: Vec<epoll_event> = Vec::with_capacity(most);
    loop {
        let mut deaf = Deaf(Vec::new());
        if let Ok(mut entries) = set.entries.lock() {
            for entry in entries.iter_mut() {
                let Some(conn) = entry.conn() else { continue };
                advance(&conn, entry.fd);
                if conn.enter_kernel() {
                    deaf.0.push(conn);
                } else {
                    entry.join(epoll, &conn);
                }
            }
        }
        let ready = || {
            set.entries.lock().is_ok_and(|entries| {
                entries.iter().any(|entry| entry.conn().is_some_and(|conn| entry.due(&conn) != 0))
            })
        };
        let mut is_ready = ready() || timeout == 0;
        // How polling went on one connection decides for all.
        let one = set.entries.lock().ok().and_then(|entries| {
            entries.iter().find_map(|one| one.conn().filter(|conn| conn.stream().is_some()))
        });
        if let Some(conn) = one.filter(|_| !is_ready) {
            is_ready = conn.stream().is_some_and(|stream| moves::spin_for(&conn, stream, ready));
            if !is_ready {
                fall_asleep(set);
                is_ready = ready();
            }
        }
        let mut seen = vec![epoll_event { events: 0, u64: 0 }; most];
        let ms = match limit {
            _ if is_ready => 0,
            None => -1,
            Some(limit) => limit.saturating_sub(sys::now_ns()).div_ceil(1_000_000) as c_int,
        };
        // SAFETY: the list has this length; the caller's promise for the mask.
        let count = unsafe { real::epoll_pwait(epoll, seen.as_mut_ptr(), most as c_int, ms, mask) };
        if count < 0 {
            return Some(count);
        }
        drop(deaf);
        seen.truncate(count as usize);
        collect(epoll, set, &seen, most, &mut found);
        if !found.is_empty() || limit.is_some_and(|limit| sys::now_ns() >= limit) {
            // SAFETY: the caller's promise; at most `most` events were found.
            unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), events, found.len()) };
            return Some(found.len() as c_int);
        }
    }
}

/// Tells the other ends that this thread sleeps.
fn fall_asleep(set: &Set) {
    let Ok(entries) = set.entries.lock() else { return };
    for entry in entries.iter().filter(|entry| !entry.disabled) {
        let Some(conn) = entry.conn() else { continue };
        let Some(stream) = conn.stream() else { continue };
        if entry.events & IN != 0 {
            moves::sleepy(&conn, stream, 0);
        }
        if entry.events & OUT != 0 && moves::sends_in_ring(&conn) {
            moves::sleepy(&conn, stream, 1);
        }
    }
}

/// Makes the events that the program gets out of those of the kernel and of the rings.
fn collect(
    epoll: c_int,
    set: &Set,
    seen: &[epoll_event],
    most: usize,
    found: &mut Vec<epoll_event>,
) {
    let Ok(mut entries) = set.entries.lock() else { return };
    let is_ours = |event: &epoll_event| event.u64 & OURS_MASK == OURS;
    found.extend(seen.iter().filter(|event| !is_ours(event)));
    for entry in entries.iter_mut() {
        if found.len() >= most {
            break;
        }
        let Some(conn) = entry.conn() else { continue };
        let own = OURS | entry.fd as u64;
        let kernel = seen.iter().filter(|event| event.u64 == own).fold(0, |all, e| all | e.events);
        let wanted = entry.events | (libc::EPOLLERR | libc::EPOLLHUP) as u32;
        let mut due = kernel & wanted;
        if moves::sends_in_ring(&conn) {
            due &= !OUT;
        }
        due |= entry.due(&conn);
        if due != 0 && !entry.disabled {
            entry.report(epoll, &conn);
            found.push(epoll_event { events: due, u64: entry.data });
        }
    }
}
