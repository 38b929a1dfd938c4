//! How the two ends of a connection find each other: both offer it to the backplane, which gives
//! memory to both. Nobody waits for that: until the answer is there, the connection stays on TCP.

use crate::conn::{Conn, MOVED, Offer, Stream};
use crate::settings::settings;
use crate::{real, sys};
use libc::c_int;
use spfe_fabric::client::FabricClient;
use spfe_fabric::memory::NodePage;
use spfe_fabric::pace::PathPace;
use spfe_fabric::stream::StreamView;
use spfe_fabric::wire::{FABRIC_PROTOCOL, FabricReply, FabricRequest};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Our own descriptors have at least this number where the limit allows, so that programs get the
/// numbers that they expect.
const HIDDEN: libc::c_ulong = 600;
/// Most streams of a process: each takes four descriptors.
const STREAMS_MAX: u64 = 4096;

/// Address in the form that both ends use.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The address that a call of libc gives.
pub fn address(call: impl FnOnce(*mut libc::sockaddr, *mut u32) -> c_int) -> Option<SocketAddr> {
    // SAFETY: an address of zeroes is valid.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut bytes = size_of::<libc::sockaddr_storage>() as u32;
    if call(std::ptr::from_mut(&mut storage).cast(), &mut bytes) != 0 {
        return None;
    }
    // SAFETY: the storage has room for every kind of address.
    unsafe { parse(std::ptr::from_ref(&storage).cast(), bytes) }
}

/// Reads an address of IP.
///
/// # Safety
/// `at` has so many bytes.
pub unsafe fn parse(at: *const libc::sockaddr, bytes: u32) -> Option<SocketAddr> {
    if at.is_null() || (bytes as usize) < size_of::<libc::sockaddr_in>() {
        return None;
    }
    // SAFETY: the family comes first in all kinds.
    match c_int::from(unsafe { (*at).sa_family }) {
        libc::AF_INET => {
            // SAFETY: the size was checked; the caller's pointer may be unaligned.
            let v4 = unsafe { at.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddr::new(IpAddr::V4(ip), u16::from_be(v4.sin_port)))
        }
        libc::AF_INET6 if bytes as usize >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above.
            let v6 = unsafe { at.cast::<libc::sockaddr_in6>().read_unaligned() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Some(SocketAddr::new(IpAddr::V6(ip), u16::from_be(v6.sin6_port)))
        }
        _ => None,
    }
    .map(plain)
}

/// Moves a connection on towards its memory. Called by every call on it; cheap where there is
/// nothing to do.
pub fn advance(conn: &Conn, fd: c_int) {
    if conn.stream().is_some() || conn.pinned.load(Ordering::Relaxed) {
        return;
    }
    let Ok(mut offer) = conn.offer.try_lock() else { return };
    match &mut *offer {
        Some(waiting) => {
            waiting.calls += 1;
            if waiting.calls < waiting.look_at {
                return;
            }
            // At each call first, then less and less often: there may never be an answer.
            waiting.look_at = waiting.calls + 1 + (waiting.calls / 100).pow(2);
            let answer = waiting.client.receive_now();
            let done = match answer {
                Ok(None) => return,
                Ok(Some((reply, fds))) => accept(conn, &reply, fds),
                Err(_) => None,
            };
            *offer = None;
            if done.is_none() {
                conn.pinned.store(true, Ordering::SeqCst);
            }
        }
        None => {
            let ready = conn.carried() >= settings().after
                && conn.shared().refs.load(Ordering::SeqCst) == 1
                && MOVED.load(Ordering::Relaxed) < STREAMS_MAX;
            if !ready {
                return;
            }
            let saved = sys::errno();
            match make(fd) {
                Some(made) => *offer = Some(made),
                None => conn.pinned.store(true, Ordering::SeqCst),
            }
            sys::fail(saved);
        }
    }
}

fn make(fd: c_int) -> Option<Offer> {
    // SAFETY: `address` passes room for an address.
    let local = address(|at, bytes| unsafe { libc::getsockname(fd, at, bytes) })?;
    // SAFETY: as above.
    let remote = address(|at, bytes| unsafe { libc::getpeername(fd, at, bytes) })?;
    // A program that waits for notes about its zero-copy sends would wait for ever.
    let zero_copy: c_int = sys::option(fd, libc::SOL_SOCKET, libc::SO_ZEROCOPY).unwrap_or(0);
    if zero_copy != 0 || local.ip() == remote.ip() {
        return None;
    }
    let client = FabricClient::connect_now(settings().fabric.as_deref()?).ok()?;
    let request = FabricRequest::Stream { version: FABRIC_PROTOCOL, local, remote };
    client.send_now(&request).ok()?;
    Some(Offer { client, calls: 0, look_at: 0 })
}

/// Maps the memory of an answer.
fn accept(conn: &Conn, reply: &FabricReply, fds: Vec<OwnedFd>) -> Option<()> {
    let FabricReply::Stream { peer, ring, port, .. } = reply else { return None };
    let [inward, outward, b0, b1, p0, p1, page]: [OwnedFd; 7] = fds.try_into().ok()?;
    let ring = usize::try_from(*ring).ok().filter(|ring| *ring <= 1 << 30)?;
    let page = page_of(page)?;
    let inward = map(&inward, ring, libc::PROT_READ)?;
    let outward = map(&outward, ring, libc::PROT_READ | libc::PROT_WRITE)?;
    let hide = |fd: OwnedFd| {
        // SAFETY: no memory is passed.
        let high = unsafe { real::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIDDEN) };
        if high >= 0 { high } else { std::os::fd::IntoRawFd::into_raw_fd(fd) }
    };
    conn.set_stream(Stream {
        inward,
        outward,
        bells: [hide(b0), hide(b1)],
        peer_bells: [hide(p0), hide(p1)],
        page,
        peer: peer.index()?,
        pace: PathPace::new(*port),
    });
    Some(())
}

/// The counters of this node. All connections of a process are on one node.
fn page_of(fd: OwnedFd) -> Option<&'static NodePage> {
    static PAGE: OnceLock<Option<NodePage>> = OnceLock::new();
    PAGE.get_or_init(|| {
        // SAFETY: no memory is passed.
        let high = unsafe { real::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, HIDDEN) };
        // SAFETY: the descriptor is new and ours.
        let fd = if high >= 0 { unsafe { OwnedFd::from_raw_fd(high) } } else { fd };
        NodePage::open(fd).ok()
    })
    .as_ref()
}

/// Maps memory that nobody can shrink.
fn map(fd: &OwnedFd, ring: usize, protection: c_int) -> Option<StreamView> {
    let bytes = StreamView::bytes(ring);
    // SAFETY: no memory is passed.
    let seals = unsafe { real::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS, 0) };
    // SAFETY: a status of zeroes is valid, and the call only writes it.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let known = unsafe { libc::fstat(fd.as_raw_fd(), &mut status) } == 0;
    let is_sound = seals >= 0
        && seals & libc::F_SEAL_SHRINK != 0
        && known
        && status.st_size.unsigned_abs() >= bytes as u64;
    if !is_sound {
        return None;
    }
    // SAFETY: a fresh mapping, which the memory cannot fall short of.
    let at = unsafe {
        libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, fd.as_raw_fd(), 0)
    };
    let base = NonNull::new(at.cast::<u8>()).filter(|_| at != libc::MAP_FAILED)?;
    // SAFETY: mapped with this size until `Conn::release`; words of the inward memory are only
    // loaded.
    unsafe { StreamView::new(base, ring) }
}
