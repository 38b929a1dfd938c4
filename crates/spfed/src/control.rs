//! Requests from other threads to the serving thread.

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_session::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connected socket, and the user at its other end.
pub(crate) struct Incoming {
    pub socket: OwnedFd,
    pub user: u32,
}

/// State shared by the [`Server`](crate::Server) handle and the serving thread.
pub(crate) struct Control {
    stop: AtomicBool,
    /// An eventfd that wakes the serving thread.
    bell: Arc<OwnedFd>,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    sockets: Vec<Incoming>,
    closed: bool,
}

impl Control {
    pub fn new() -> Result<Arc<Self>> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = Arc::new(eventfd(0, flags).map_err(std::io::Error::from)?);
        Ok(Arc::new(Self { stop: AtomicBool::new(false), bell, inbox: Mutex::default() }))
    }

    /// Asks the serving thread to stop.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ring();
    }

    /// Passes a connected socket to the serving thread.
    ///
    /// # Errors
    /// DEVICE_GONE if the thread has stopped.
    pub fn adopt(&self, incoming: Incoming) -> Result<()> {
        let mut inbox = self.inbox();
        if inbox.closed {
            return Err(Error::new(Status::DeviceGone, "the server has stopped"));
        }
        inbox.sockets.push(incoming);
        drop(inbox);
        self.ring();
        Ok(())
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the serving thread.
    pub fn ring(&self) {
        // A write to a full eventfd fails, but the eventfd is readable then.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    pub fn bell(&self) -> &Arc<OwnedFd> {
        &self.bell
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Returns the sockets to adopt and clears the bell.
    pub fn take(&self) -> Vec<Incoming> {
        let _ = rustix::io::read(&self.bell, &mut [0u8; 8]);
        std::mem::take(&mut self.inbox().sockets)
    }

    /// Refuses further sockets and drops those not yet adopted.
    pub fn close(&self) {
        let mut inbox = self.inbox();
        inbox.closed = true;
        inbox.sockets.clear();
    }
}
