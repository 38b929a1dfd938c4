//! The end of descriptors and of the process.

use crate::conn::{self, Conn, Count, MOVED, Using};
use crate::settings::settings;
use crate::{epolls, moves, offer, real, sys};
use libc::c_int;
use spfe_fabric::stream::{STREAM_CLOSED, STREAM_ENDED};
use std::io::Write;
use std::sync::atomic::Ordering;

/// Notes a connection that may move to memory.
pub fn adopt(fd: c_int, remote: Option<std::net::SocketAddr>) {
    let is_candidate = settings().fabric.is_some()
        // Programs write to these with functions of stdio, which go past this library.
        && fd > 2
        && remote.is_some_and(|remote| !remote.ip().is_loopback() && remote.port() != 0)
        && sys::option::<c_int>(fd, libc::SOL_SOCKET, libc::SO_PROTOCOL) == Some(libc::IPPROTO_TCP);
    if is_candidate && conn::find(fd).is_none() {
        conn::adopt(fd);
    }
}

/// A new descriptor of the kernel has this number: whatever had it was closed behind our back.
pub fn fresh(fd: c_int) {
    if fd >= 0 {
        drop(conn::forget(fd));
        epolls::forget_set(fd);
    }
}

/// What is left to do after the kernel has closed a descriptor.
pub struct Closing(Option<Using>);

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(stream) = self.0.as_ref().and_then(|conn| conn.stream()) {
            moves::wake_all(stream);
        }
    }
}

/// A descriptor is about to be closed.
pub fn before_close(fd: c_int) -> Closing {
    epolls::forget_set(fd);
    let Some(conn) = conn::find(fd) else { return Closing(None) };
    epolls::forget_conn(&conn, fd);
    drop(conn);
    match conn::forget(fd) {
        Some((conn, true)) => {
            finish(&conn, fd);
            Closing(Some(conn))
        }
        _ => Closing(None),
    }
}

/// The last descriptor of a connection goes.
fn finish(conn: &Conn, fd: c_int) {
    let Some(stream) = conn.stream() else { return };
    let unread = moves::has_data(conn, fd, stream) || moves::is_broken(conn);
    stream.outward.closing().fetch_or(STREAM_ENDED | STREAM_CLOSED, Ordering::SeqCst);
    if unread {
        // The kernel resets a connection whose program leaves bytes unread. These are in the ring.
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let (at, bytes) = (std::ptr::from_ref(&linger).cast(), size_of_val(&linger) as u32);
        // SAFETY: the option has this size.
        unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, at, bytes) };
    }
}

/// `shutdown` for a connection.
pub fn shutdown(conn: &Conn, fd: c_int, how: c_int) -> c_int {
    let ends = how == libc::SHUT_WR || how == libc::SHUT_RDWR;
    let held = if ends { conn.shared().send_lock.take() } else { None };
    if let Some(stream) = conn.stream().filter(|_| ends) {
        stream.outward.closing().fetch_or(STREAM_ENDED, Ordering::SeqCst);
    }
    // SAFETY: no memory is passed.
    let done = unsafe { real::shutdown(fd, how) };
    drop(held);
    if let Some(stream) = conn.stream() {
        moves::wake_all(stream);
    }
    done
}

/// A connection that stdio reads from must stay where the kernel has it.
pub fn pin(fd: c_int) {
    if let Some(conn) = conn::find(fd) {
        conn.pinned.store(true, Ordering::SeqCst);
    }
}

/// The address to which a socket connects.
///
/// # Safety
/// `at` has so many bytes.
pub unsafe fn target(at: *const libc::sockaddr, bytes: u32) -> Option<std::net::SocketAddr> {
    // SAFETY: the caller's promise.
    unsafe { offer::parse(at, bytes) }
}

/// The process ends: its connections end as if it had closed them.
pub fn leave() {
    let open: Vec<c_int> = conn::descriptors().collect();
    let closing: Vec<Closing> = open.into_iter().map(before_close).collect();
    report();
    drop(closing);
}

extern "C" fn at_exit() {
    leave();
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_EXIT: extern "C" fn() = at_exit;

/// Adds a line about this process to the report.
fn report() {
    let Some(path) = &settings().report else { return };
    let counts = [
        ("ring_sent_bytes", conn::total(Count::RingSent)),
        ("ring_received_bytes", conn::total(Count::RingReceived)),
        ("tcp_sent_bytes", conn::total(Count::TcpSent)),
        ("tcp_received_bytes", conn::total(Count::TcpReceived)),
        ("wakes", conn::total(Count::Wakes)),
        ("sleeps", conn::total(Count::Sleeps)),
        ("moved_connections", MOVED.load(Ordering::Relaxed)),
    ];
    if counts.iter().all(|(_, value)| *value == 0) {
        return;
    }
    let counts: Vec<String> =
        counts.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    let line = format!("{{\"process\":{},{}}}\n", std::process::id(), counts.join(","));
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    // A report that cannot be written is no reason to disturb the program.
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}
