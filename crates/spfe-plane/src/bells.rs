//! The doorbells that a device thread watches while it sleeps: eventfds, one for each client in another
//! process.
//!
//! They are watched edge-triggered, so a ring is one event and the device never reads a counter that
//! a client could empty or fill. A client rings only a device that says it sleeps; the path of a
//! packet to an awake device has no system call.

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use spfe_host::os;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Maximum number of rings that end one sleep. Others end the next one.
const RINGS_MAX: usize = 64;
/// Longest sleep if the kernel cannot wait for doorbells, ns.
const POLL_NS: u64 = 1_000_000;

/// A doorbell. A ring ends the sleep of the device, or its next sleep.
#[derive(Debug)]
pub struct Doorbell(OwnedFd);

impl Doorbell {
    /// A new doorbell.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// The doorbell behind a descriptor.
    pub fn open(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Wakes the device.
    pub fn ring(&self) {
        // The write fails only if the counter is full, after 2^64 - 2 rings.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Number of rings since the last call. The device does not use it.
    pub fn rings(&self) -> u64 {
        let mut count = [0; 8];
        let read = rustix::io::read(&self.0, &mut count);
        read.map_or(0, |_| u64::from_ne_bytes(count))
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The doorbells of a network's device thread.
pub struct Bells {
    epoll: OwnedFd,
    /// That of this process: the control plane, clients in this process, virtual machines.
    own: Doorbell,
}

impl Bells {
    /// Doorbells of a network, with the one of this process.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let bells =
            Self { epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?, own: Doorbell::new()? };
        bells.watch(&bells.own)?;
        Ok(bells)
    }

    fn watch(&self, bell: &Doorbell) -> io::Result<()> {
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        Ok(epoll::add(&self.epoll, bell, epoll::EventData::new_u64(0), flags)?)
    }

    /// The doorbell of this process.
    pub fn own(&self) -> &Doorbell {
        &self.own
    }

    /// Sleeps until a doorbell rings, at most until a time in ns. A ring since the last call counts.
    pub fn wait(&self, until_ns: u64) {
        let left = until_ns.saturating_sub(os::now_ns());
        let timeout =
            Timespec { tv_sec: (left / 1_000_000_000) as _, tv_nsec: (left % 1_000_000_000) as _ };
        let mut rings = [MaybeUninit::uninit(); RINGS_MAX];
        match epoll::wait(&self.epoll, &mut rings, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => os::sleep_until(until_ns.min(os::now_ns() + POLL_NS)),
        }
    }
}

/// The doorbell of a client in another process. Dropping it closes a descriptor that the client may
/// have made slow to close, so this is not for threads that others wait for.
pub struct ClientBell {
    bells: Arc<Bells>,
    bell: Doorbell,
}

impl ClientBell {
    /// A doorbell that wakes the device thread from now on.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(bells: &Arc<Bells>) -> io::Result<Self> {
        let bell = Doorbell::new()?;
        bells.watch(&bell)?;
        Ok(Self { bells: bells.clone(), bell })
    }
}

impl AsFd for ClientBell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

impl Drop for ClientBell {
    fn drop(&mut self) {
        // The client may keep its copy, so closing ours would not end the watch.
        let _ = epoll::delete(&self.bells.epoll, &self.bell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG_NS: u64 = 60_000_000_000;

    #[test]
    fn every_ring_ends_one_sleep() {
        let bells = Arc::new(Bells::new().unwrap());
        let client = ClientBell::new(&bells).unwrap();
        let start = os::now_ns();
        for _ in 0..3 {
            bells.own().ring();
            bells.wait(start + LONG_NS);
            client.bell.ring();
            bells.wait(start + LONG_NS);
        }
        assert!(os::now_ns() < start + LONG_NS, "a ring was lost");
        let until = os::now_ns() + 2_000_000;
        bells.wait(until);
        assert!(os::now_ns() >= until, "nobody rang");
    }

    #[test]
    fn a_client_that_empties_or_fills_its_doorbell_delays_no_other() {
        let bells = Arc::new(Bells::new().unwrap());
        let hostile = ClientBell::new(&bells).unwrap();
        let good = ClientBell::new(&bells).unwrap();
        let start = os::now_ns();
        hostile.bell.ring();
        hostile.bell.rings();
        rustix::io::write(&hostile, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        hostile.bell.ring();
        bells.wait(start + LONG_NS);
        good.bell.ring();
        bells.wait(start + LONG_NS);
        assert!(os::now_ns() < start + LONG_NS);
    }

    #[test]
    fn the_doorbell_of_a_client_that_has_gone_is_not_watched() {
        let bells = Arc::new(Bells::new().unwrap());
        let client = ClientBell::new(&bells).unwrap();
        let copy = Doorbell::open(client.as_fd().try_clone_to_owned().unwrap());
        drop(client);
        copy.ring();
        let until = os::now_ns() + 2_000_000;
        bells.wait(until);
        assert!(os::now_ns() >= until);
    }
}
