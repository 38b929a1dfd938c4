//! State shared by the threads of a device: the plugged-in registers, the memory of the machine and
//! its interrupts.

use crate::Log;
use crate::interrupts::Vectors;
use crate::slot::{Device, Maker, VfioHost};
use spfe_host::SharedMemory;
use spfe_plane::GuestMemory;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counters of a device since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Clients that connected.
    pub connections: u64,
    /// Resets by the bus or by function level reset.
    pub resets: u64,
    /// Interrupts raised.
    pub interrupts: u64,
    /// Regions whose memory was unmapped while they were enabled.
    pub withdrawn: u64,
    /// Accesses that address no register, or that are not 4 or 8 bytes wide.
    pub refused: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    connections: AtomicU64,
    pub resets: AtomicU64,
    withdrawn: AtomicU64,
    pub refused: AtomicU64,
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// A plugged-in device.
struct Plugged {
    registers: Arc<dyn Device>,
    /// Serial number, different each time a device is plugged in.
    serial: u64,
}

/// State shared by the serving thread, the interrupt thread and the owner of a device.
pub(crate) struct Shared {
    maker: Box<dyn Maker>,
    pub log: Log,
    pub memory: Arc<GuestMemory>,
    pub vectors: Arc<Vectors>,
    plugged: Mutex<Slot>,
    pub count: Counters,
}

/// The slot into which a device is plugged.
#[derive(Default)]
struct Slot {
    plugged: Option<Plugged>,
    /// Number of devices plugged in so far.
    serial: u64,
    /// Whether the slot is closed for ever.
    closed: bool,
}

impl Shared {
    pub fn new(maker: Box<dyn Maker>, log: Log) -> Self {
        Self {
            maker,
            log,
            memory: Arc::default(),
            vectors: Arc::default(),
            plugged: Mutex::default(),
            count: Counters::default(),
        }
    }

    /// Number of the device.
    pub fn number(&self) -> u32 {
        self.maker.number()
    }

    /// Whether the device has an interrupt line.
    pub fn has_line(&self) -> bool {
        self.maker.has_line()
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.plugged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The registers and their serial number, or `None` if the device is unplugged.
    pub fn registers(&self) -> Option<(Arc<dyn Device>, u64)> {
        let slot = self.slot();
        slot.plugged.as_ref().map(|plugged| (plugged.registers.clone(), plugged.serial))
    }

    /// Plugs in a device in its state after power-up, and returns the size of its registers in
    /// bytes. Does nothing if a device is plugged in or the slot is closed.
    pub fn plug(&self) -> Result<u32, spfe_host::ControlError> {
        let mut slot = self.slot();
        if let Some(plugged) = &slot.plugged {
            return Ok(plugged.registers.size());
        }
        if slot.closed {
            return Ok(0);
        }
        let host = VfioHost { memory: self.memory.clone(), vectors: self.vectors.clone() };
        let registers = self.maker.plug(&host)?;
        slot.serial += 1;
        let bytes = registers.size();
        slot.plugged = Some(Plugged { registers, serial: slot.serial });
        Ok(bytes)
    }

    /// Removes the device: every read returns all ones from now on.
    pub fn unplug(&self) {
        let taken = self.slot().plugged.take();
        if let Some(plugged) = taken
            && let Err(error) = plugged.registers.detach()
        {
            self.say(format_args!("detach: {error}"));
        }
    }

    /// Removes the device and closes the slot for ever.
    pub fn close(&self) {
        self.slot().closed = true;
        self.unplug();
    }

    /// Whether the slot is closed.
    pub fn is_closed(&self) -> bool {
        self.slot().closed
    }

    /// Releases everything that the disconnected client had.
    pub fn disconnected(&self) {
        self.vectors.set_master(false);
        self.unplug();
        self.vectors.clear();
        if let Err(error) = self.memory.clear() {
            self.say(format_args!("unmap: {error}"));
        }
        add(&self.count.connections, 1);
    }

    pub fn counts(&self) -> DeviceCounts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DeviceCounts {
            connections: of(&self.count.connections),
            resets: of(&self.count.resets),
            interrupts: self.vectors.raised(),
            withdrawn: of(&self.count.withdrawn),
            refused: of(&self.count.refused),
        }
    }

    pub fn say(&self, what: std::fmt::Arguments<'_>) {
        (self.log)(format_args!("vfio-user, endpoint {}: {what}", self.number()));
    }

    /// Disables regions that have lost their memory, and stops the queues that use them.
    pub fn withdraw(&self, lost: &[Arc<SharedMemory>], why: &str) {
        if lost.is_empty() {
            return;
        }
        add(&self.count.withdrawn, lost.len() as u64);
        let found = self.registers();
        let (queues, regions) = found.map_or((0, 0), |(registers, _)| registers.withdraw(lost));
        self.say(format_args!(
            "{why} while regions were in use: {regions} regions disabled, {queues} queues stopped"
        ));
    }

    /// Raises INTA# if a write to the registers or the configuration made it high, and takes an
    /// interrupt back if that made it low.
    pub fn update_line(&self) {
        if self.vectors.uses_line()
            && let Some((registers, _)) = self.registers()
        {
            self.vectors.update_line(|| registers.line());
        }
    }

    /// Turns bus mastering on or off.
    pub fn set_master(&self, on: bool) {
        self.vectors.set_master(on);
        let device = self.registers().map(|(device, _)| device);
        if let Some(device) = device.as_ref().filter(|_| !on) {
            device.set_master(false);
        }
        match self.memory.set_on(on) {
            Ok(lost) => self.withdraw(&lost, "bus mastering was turned off"),
            Err(error) => self.say(format_args!("setting bus mastering to {on} failed: {error}")),
        }
        if let Some(device) = device.filter(|_| on) {
            device.set_master(true);
        }
    }
}
