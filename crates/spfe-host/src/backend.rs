//! How the library reaches a device: every operation that is not the data path.

use crate::mib::{LinkCommand, MibEntry};
use crate::os::{self, SharedMemory};
use crate::{Clock, Error, Mode, PortInfo, QueueRequest, RegionKey, Result};
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use spfe_contract::MibItem;
use spfe_ring::DeviceLine;
use spfe_ring::sync::Ordering;
use std::sync::Arc;

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// How it was opened.
    pub uri: String,
    /// What stands behind it.
    pub backend: &'static str,
    /// Number of the endpoint in its network.
    pub endpoint: u32,
    /// Number of this client.
    pub client: u32,
    /// Ports.
    pub ports: u32,
    /// Who copies.
    pub mode: Mode,
    /// Contract version {major, minor}.
    pub contract: (u16, u16),
}

/// A way to a device.
pub trait Backend: Send + Sync {
    /// What it is.
    fn info(&self) -> DeviceInfo;
    /// State and counters of a port.
    fn port_info(&self, port: u32) -> Result<PortInfo>;
    /// Fresh zeroed memory of `size` bytes (rounded up to whole pages) that the device may access;
    /// the key is what entries name.
    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)>;
    /// Revokes a region: when this returns the device does not touch it any more.
    fn remove_region(&self, key: RegionKey) -> Result<()>;
    /// An event vector for a queue, which goes with it; the descriptor is written when the queue's
    /// event is due. One without a descriptor is asked for only where the device
    /// [interrupts](Backend::interrupts).
    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32>;
    /// Between a store of the host and its next look, so that the device sees the one or this the
    /// other.
    fn heavy_barrier(&self) {
        os::heavy_barrier();
    }
    /// Whether sleepers are woken by event vectors, not by the word in the device line.
    fn interrupts(&self) -> bool {
        false
    }
    /// What [`Backend::sleep`] compares: taken before arming.
    fn seen(&self, vector: u32, line: &DeviceLine) -> u32 {
        let _ = vector;
        line.wake_seq.load(Ordering::Acquire)
    }
    /// Sleeps until something is to be seen that `seen` had not, at most until then. Returns early
    /// for any reason; the caller looks again.
    fn sleep(&self, vector: u32, line: &DeviceLine, seen: u32, until_ns: Option<u64>) {
        let _ = vector;
        os::futex_wait(&line.wake_seq, seen, until_ns);
    }
    /// Ends a sleep, as the device would.
    fn wake(&self, vector: u32, line: &DeviceLine) {
        let _ = vector;
        line.bump();
        os::futex_wake(&line.wake_seq);
    }
    /// What the device's clock is ahead of [`Backend::clock`], ns: what completions are stamped with
    /// is that much later.
    fn offset_ns(&self) -> i64 {
        0
    }
    /// Creates a queue.
    fn create_queue(&self, request: &QueueRequest) -> Result<()>;
    /// Destroys a queue: when this returns its rings and buffers are the host's again.
    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()>;
    /// Sets the priority of a virtual channel (0, the most urgent, to 15).
    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()>;
    /// What there is to see of a port and its link.
    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>>;
    /// The value of an item of the management information base of a port's link.
    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64>;
    /// Does something to a port's link.
    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()>;
    /// Resets this client's share of the device.
    fn reset(&self) -> Result<()>;
    /// A queue was stopped: returns when everything that was pending in it has completed.
    fn settle(&self) {}
    /// Rings the doorbell of a sleeping device.
    fn ring(&self);
    /// The time completions are stamped with.
    fn clock(&self) -> &Clock;
    /// A queue's memory (its device line at offset 64): wake its sleepers when the device is gone.
    fn watch(&self, memory: &Arc<SharedMemory>) {
        let _ = memory;
    }
    /// That queue is no more.
    fn unwatch(&self, memory: &Arc<SharedMemory>) {
        let _ = memory;
    }
    /// Whether the device is gone (its daemon died).
    fn is_gone(&self) -> bool;
}

/// A client of a device's control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Participant id, also its protection domain.
    pub client: u32,
    /// Endpoint it is attached to.
    pub endpoint: u32,
}

/// Fresh zeroed memory that this process can share with a device on the same machine.
///
/// # Errors
/// [`Error::Io`] if the system has no memory for it.
pub fn create_memory(name: &str, size: usize) -> Result<Arc<SharedMemory>> {
    let memory = SharedMemory::create(name, size)
        .map_err(|source| Error::io(format!("region of {size} bytes"), source))?;
    Ok(Arc::new(memory))
}
