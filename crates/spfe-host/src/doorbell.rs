//! Doorbells of a soft device: eventfds that a sleeping device thread watches.
//!
//! Each client in another process has its own. Whatever a client does to its descriptor delays only
//! its own packets: the device never reads it.

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;

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

    /// The doorbell behind a descriptor that a daemon has sent.
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
