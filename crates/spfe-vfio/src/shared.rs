//! What the threads of a device share: the register face that is plugged in, the machine's memory, its
//! interrupts.

use crate::Log;
use crate::interrupts::{Raiser, Vectors};
use spfe_host::SharedMemory;
use spfe_plane::{GuestMemory, Network, RegisterFile, Stride};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What has happened at a device since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Clients that have come and gone.
    pub connections: u64,
    /// Resets by the bus or by function level reset.
    pub resets: u64,
    /// Interrupts raised.
    pub interrupts: u64,
    /// Regions whose memory was taken away while they were enabled.
    pub withdrawn: u64,
    /// Accesses that name no register or have a width of neither 4 nor 8 bytes.
    pub refused: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    connections: AtomicU64,
    pub resets: AtomicU64,
    withdrawn: AtomicU64,
    pub refused: AtomicU64,
}

/// Counts more.
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// A register face that is plugged in, and the thread that waits for its events.
struct Plugged {
    registers: Arc<RegisterFile>,
    /// Which one it is: another one each time.
    serial: u64,
    _raiser: Raiser,
}

/// What the serving thread, the interrupt thread and the owner of a device share.
pub(crate) struct Shared {
    pub network: Arc<Network>,
    pub endpoint: u32,
    pub stride: Stride,
    pub log: Log,
    pub memory: Arc<GuestMemory>,
    pub vectors: Arc<Vectors>,
    plugged: Mutex<Slot>,
    pub count: Counters,
}

/// Where a register face is plugged in.
#[derive(Default)]
struct Slot {
    plugged: Option<Plugged>,
    /// Faces so far.
    serial: u64,
    /// For good: nothing is plugged in any more.
    closed: bool,
}

impl Shared {
    pub fn new(network: Arc<Network>, endpoint: u32, stride: Stride, log: Log) -> Self {
        Self {
            network,
            endpoint,
            stride,
            log,
            memory: Arc::default(),
            vectors: Arc::default(),
            plugged: Mutex::default(),
            count: Counters::default(),
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.plugged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The registers and which face they are, if the device is there.
    pub fn registers(&self) -> Option<(Arc<RegisterFile>, u64)> {
        let slot = self.slot();
        slot.plugged.as_ref().map(|plugged| (plugged.registers.clone(), plugged.serial))
    }

    /// Puts a device in its state after power-up in the slot; no change if there is one, or if the
    /// slot is closed. Bytes of its registers.
    pub fn plug(&self) -> Result<u32, spfe_host::ControlError> {
        let mut slot = self.slot();
        if let Some(plugged) = &slot.plugged {
            return Ok(plugged.registers.size());
        }
        if slot.closed {
            return Ok(0);
        }
        let (network, memory) = (self.network.clone(), self.memory.clone());
        let registers = RegisterFile::new(network, self.endpoint, memory, self.stride)?;
        let registers = Arc::new(registers);
        let raiser = Raiser::start(registers.clone(), self.vectors.clone())?;
        slot.serial += 1;
        let bytes = registers.size();
        slot.plugged = Some(Plugged { registers, serial: slot.serial, _raiser: raiser });
        Ok(bytes)
    }

    /// Takes the device out: every read is all ones from now on.
    pub fn unplug(&self) {
        let taken = self.slot().plugged.take();
        if let Some(plugged) = taken
            && let Err(error) = plugged.registers.detach()
        {
            self.say(format_args!("detach: {error}"));
        }
    }

    /// Takes the device out for good.
    pub fn close(&self) {
        self.slot().closed = true;
        self.unplug();
    }

    /// Whether the device was taken out for good.
    pub fn is_closed(&self) -> bool {
        self.slot().closed
    }

    /// The client is gone: nothing of it is left.
    pub fn disconnected(&self) {
        self.vectors.set_master(false);
        self.unplug();
        self.vectors.clear();
        if let Err(error) = self.memory.clear() {
            self.say(format_args!("unmap: {error}"));
        }
        add(&self.count.connections, 1);
    }

    pub fn counts(&self) -> Counts {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            connections: of(&self.count.connections),
            resets: of(&self.count.resets),
            interrupts: self.vectors.raised(),
            withdrawn: of(&self.count.withdrawn),
            refused: of(&self.count.refused),
        }
    }

    pub fn say(&self, what: std::fmt::Arguments<'_>) {
        (self.log)(format_args!("vfio-user, endpoint {}: {what}", self.endpoint));
    }

    /// Regions have lost their memory: they are disabled, and what used them stops.
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

    /// Whether the device may use the bus.
    pub fn set_master(&self, on: bool) {
        self.vectors.set_master(on);
        match self.memory.set_on(on) {
            Ok(lost) => self.withdraw(&lost, "bus mastering was turned off"),
            Err(error) => self.say(format_args!("bus master {on}: {error}")),
        }
    }
}
