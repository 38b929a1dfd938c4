//! How the library reaches a device: every operation that is not the data path.

use crate::mib::{LinkCommand, MibEntry};
use crate::os::{self, SharedMemory};
use crate::{Clock, Error, Mode, PortInfo, QueueRequest, RegionKey, Result};
use rustix::fd::OwnedFd;
use serde::{Deserialize, Serialize};
use spfe_contract::MibItem;
use spfe_ring::AtomicDeviceLine;
use spfe_ring::sync::Ordering;
use std::sync::Arc;

/// Description of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name by which it was opened.
    pub uri: String,
    /// Kind of backend, for people.
    pub backend: &'static str,
    /// Number of the endpoint in its network.
    pub endpoint: u32,
    /// Number of this client.
    pub client: u32,
    /// Number of ports.
    pub ports: u32,
    /// Mode of the device: which thread runs the engine.
    pub mode: Mode,
    /// Version of the contract {major, minor}.
    pub contract: (u16, u16),
}

/// Control operations of a device, and the few parts of waiting that depend on it.
///
/// Methods without an errors section return the status of the device as [`Error::Device`], and
/// DEVICE_GONE if the device is gone.
pub trait Backend: Send + Sync {
    /// Description of the device.
    fn info(&self) -> DeviceInfo;
    /// State and counters of a port.
    fn port_info(&self, port: u32) -> Result<PortInfo>;
    /// Allocates and registers memory of `size` zero bytes, rounded up to whole pages. Ring entries
    /// name it by the key.
    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)>;
    /// Revokes a region. Afterwards the device no longer accesses it.
    fn remove_region(&self, key: RegionKey) -> Result<()>;
    /// Adds an event vector for a queue; the device drops it together with the queue. When the
    /// queue's event is due, the eventfd is signalled. Without an eventfd the vector only serves
    /// [`Backend::sleep`], for a device that [interrupts](Backend::interrupts).
    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32>;
    /// Full fence between arming and the last poll before a sleep: either the device sees our
    /// arming, or we see its completion.
    fn heavy_barrier(&self) {
        os::heavy_barrier();
    }
    /// Whether event vectors wake sleepers instead of the futex word in the device line.
    fn interrupts(&self) -> bool {
        false
    }
    /// The value that [`Backend::sleep`] compares. Read it before arming.
    fn seen(&self, vector: u32, line: &AtomicDeviceLine) -> u32 {
        let _ = vector;
        line.wake_seq.load(Ordering::Acquire)
    }
    /// Sleeps while the value is still `seen`, at most until a time. It may return early; the caller
    /// must poll again.
    fn sleep(&self, vector: u32, line: &AtomicDeviceLine, seen: u32, until_ns: Option<u64>) {
        let _ = vector;
        os::futex_wait(&line.wake_seq, seen, until_ns);
    }
    /// Ends a sleep, as the device does.
    fn wake(&self, vector: u32, line: &AtomicDeviceLine) {
        let _ = vector;
        line.bump();
        os::futex_wake(&line.wake_seq, u32::MAX);
    }
    /// Device time, which completions carry, minus the time of [`Backend::clock`], ns.
    fn offset_ns(&self) -> i64 {
        0
    }
    /// Creates a queue.
    fn create_queue(&self, request: &QueueRequest) -> Result<()>;
    /// Destroys a queue. Afterwards the host owns its rings and buffers.
    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()>;
    /// Sets the transmit priority of a virtual channel: 0, the most urgent, to 15.
    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()>;
    /// States, counters and MIB items of a port and its link.
    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>>;
    /// Reads a MIB item of a port's link.
    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64>;
    /// Resets, configures or cuts a port's link.
    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()>;
    /// Stops the queues of this client and revokes its regions.
    fn reset(&self) -> Result<()>;
    /// After a queue was stopped: waits until its pending submissions have completed.
    fn settle(&self) {}
    /// Most buffers from which the device gathers one packet.
    fn chain_max(&self) -> u32 {
        spfe_contract::CHAIN_MAX as u32
    }
    /// Whether the device has queue pairs (capability RDMA).
    fn has_pairs(&self) -> bool {
        false
    }
    /// Whether receive queues can have wide completions (capability BESIDE).
    fn has_beside(&self) -> bool {
        false
    }
    /// Rings the doorbell of the device.
    fn ring(&self);
    /// The clock of deadlines and of converted completion times.
    fn clock(&self) -> &Clock;
    /// Adds the memory of a queue, which has its device line at offset 64: its sleepers are woken
    /// when the device is gone.
    fn watch(&self, memory: &Arc<SharedMemory>) {
        let _ = memory;
    }
    /// Removes the memory of a queue.
    fn unwatch(&self, memory: &Arc<SharedMemory>) {
        let _ = memory;
    }
    /// Whether the device is gone: its daemon died, or the hardware was removed.
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
