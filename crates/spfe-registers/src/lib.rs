//! A driver in user space: reaches a device through its registers alone.
//!
//! A [`RegisterSpace`] gives access to the registers of a device, makes memory reachable for it and
//! reports its interrupts. [`Registers`] is the [`Backend`](spfe_host::Backend) on top of it: it
//! finds the blocks, issues commands, and keeps account of queues, regions and event vectors. It is
//! the only driver of its device.
//!
//! | module | what it does |
//! | --- | --- |
//! | `discover` | walks the list of register blocks |
//! | `command` | configuration latch, registers of 64 bits, device time |
//! | `event` | event vectors, sleepers, descriptors |
//! | `region` | memory of the device |
//! | `queue` | queue contexts, reset |
//! | `port` | ports, counters, management information base |
//!
//! Nothing that a device says is trusted: offsets and counts are checked against the size of the
//! registers, every loop and every wait is bounded, and a number without a meaning is an error.

mod backend;
mod command;
mod discover;
mod event;
mod port;
mod queue;
mod region;

pub use backend::Registers;

use spfe_host::{Peer, Result, SharedMemory};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The registers of a device, and the bus between it and the memory of this process.
pub trait RegisterSpace: Send + Sync {
    /// Size of the registers in bytes, doorbell pages included.
    fn size(&self) -> u32;
    /// Reads a register. All ones if the device is gone.
    fn read32(&self, offset: u32) -> u32;
    /// Writes a register.
    fn write32(&self, offset: u32, value: u32);
    /// Stores 8 bytes to a doorbell page.
    fn ring(&self, offset: u32, value: u64);
    /// Makes memory reachable for the device. Returns the value of register BASE: the bus address
    /// of contiguous memory, or the number of the segment for a device without IOVA.
    ///
    /// # Errors
    /// NO_RESOURCES if the bus has no room.
    fn map(&self, memory: &Arc<SharedMemory>) -> Result<u64>;
    /// Takes memory back. The device has acknowledged that it no longer accesses it.
    fn unmap(&self, base: u64);
    /// Reports the interrupts of the device to `sink` from now on, from any thread.
    fn connect(&self, sink: Weak<dyn Interrupts>);
    /// Longest time that a working device takes for a command.
    fn patience(&self) -> Duration {
        Duration::from_secs(5)
    }
    /// The far end of a port, where the space knows it.
    fn peer(&self, port: u32) -> Peer {
        let _ = port;
        Peer::Network
    }
    /// How long a reading of the device's clock is good for, ns.
    fn clock_age_ns(&self) -> u64 {
        1_000_000_000
    }
}

/// The receiver of a device's interrupts.
pub trait Interrupts: Send + Sync {
    /// An event vector interrupts. Unknown vectors are ignored.
    fn raise(&self, vector: u32);
    /// The level line of a vector has become high, and none was before. For hosts without messages.
    fn raise_line(&self) {}
    /// The device is gone.
    fn gone(&self);
}
