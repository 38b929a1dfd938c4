//! Simulated cores as devices of virtual machines (`--device rtl`).
//!
//! Two cores, joined port by port, are the endpoints 0 and 1. They belong to one machine of
//! [`spfe_rtl`], which runs its cycles while there is something to do, and slowly otherwise. A core
//! reaches the memory that its virtual machine has mapped for it, by bus address, and nothing else.

use crate::devices::{DeviceConfig, Devices};
use spfe_contract::{Status, access, global_block as global};
use spfe_device::memory::BusWindow;
use spfe_host::SharedMemory;
use spfe_plane::GuestMemory;
use spfe_plane::registers::Bus;
use spfe_registers::{Interrupts, RegisterSpace};
use spfe_rtl::{ForeignMemory, Machine, Name, Rtl};
use spfe_session::{Error, Result};
use spfe_vfio::{Device, Maker, VfioHost};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that a core reads or writes at once.
const BEAT: u64 = 16;

/// Cycles of a beat of the heart; an idle machine runs several times as many in a second.
const BEAT_CYCLES: u64 = 1024;

fn error_of(error: &spfe_host::Error) -> Error {
    Error::new(error.status().unwrap_or(Status::NoResources), error.to_string())
}

/// Starts the cores of a device name and serves them.
///
/// # Errors
/// NOT_FOUND without a model of the core or without a core of this number, BUSY if a socket is in
/// use.
pub fn start(name: &Name, configs: &[DeviceConfig]) -> Result<Arc<Devices>> {
    let machine = Machine::start(name.plan()).map_err(|error| error_of(&error))?;
    Devices::serve(configs, |core| {
        Ok(Box::new(CoreMaker { machine: machine.clone(), core }) as Box<dyn Maker>)
    })
}

/// Makes devices of one core.
struct CoreMaker {
    machine: Arc<Machine>,
    core: u32,
}

impl Maker for CoreMaker {
    fn number(&self) -> u32 {
        self.core
    }

    /// Every core has level lines.
    fn has_line(&self) -> bool {
        true
    }

    fn plug(&self, host: &VfioHost) -> Result<Arc<dyn Device>> {
        let space = Rtl::take(&self.machine, self.core as usize).map_err(|e| error_of(&e))?;
        space.reset().map_err(|error| error_of(&error))?;
        let interrupts = host.interrupts();
        space.connect(Arc::downgrade(&interrupts));
        let memory = host.memory().clone();
        Ok(Arc::new(Plugged { space, memory, _interrupts: interrupts, removed: Mutex::new(false) }))
    }
}

/// A core in a slot.
struct Plugged {
    space: Arc<Rtl>,
    memory: Arc<GuestMemory>,
    _interrupts: Arc<dyn Interrupts>,
    /// It is out of its slot. Locked while it gets or loses memory.
    removed: Mutex<bool>,
}

/// The memory of a virtual machine. It is lost if the second part is dropped.
struct Window(Arc<dyn BusWindow>, #[expect(dead_code)] Arc<SharedMemory>);

// SAFETY: that is what `BusWindow` promises for the length and access asked for.
unsafe impl ForeignMemory for Window {
    fn beat(&self, address: u64, write: bool) -> Option<NonNull<u8>> {
        let wanted = if write { access::LOCAL_WRITE } else { access::LOCAL_READ };
        NonNull::new(self.0.at(address, BEAT, wanted).ok()?)
    }
}

impl Device for Plugged {
    fn size(&self) -> u32 {
        self.space.size()
    }

    /// HEARTBEAT must change in each second, and a second of simulated time takes hours. So cycles
    /// count too: they stand still when the core does.
    fn read32(&self, offset: u32) -> u32 {
        let value = self.space.read32(offset);
        if offset == global::HEARTBEAT && value != u32::MAX {
            let beats = self.space.machine().cycles() / BEAT_CYCLES;
            return value.wrapping_add(beats as u32);
        }
        value
    }

    fn write32(&self, offset: u32, value: u32) {
        self.space.write32(offset, value);
    }

    fn write64(&self, offset: u32, value: u64) {
        self.space.ring(offset, value);
    }

    fn reset(&self) -> std::result::Result<(), Status> {
        self.space.reset().map_err(|error| error.status().unwrap_or(Status::DeviceGone))
    }

    /// A store that is still on its way may let it fall, as on a real bus.
    fn line(&self) -> bool {
        self.space.line()
    }

    fn set_master(&self, on: bool) {
        let removed = self.removed.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if on && !*removed { self.memory.everything().ok() } else { None };
        let window = found.map(|(memory, window)| Window(window, memory));
        self.space.reach(window.map(|window| Arc::new(window) as Arc<dyn ForeignMemory>));
    }

    fn detach(&self) -> Result<()> {
        *self.removed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.space.reach(None);
        // A core that does not run accesses nothing either.
        let _ = self.space.reset();
        Ok(())
    }
}
