//! The register space of a core.

use crate::lite::RegisterAccess;
use crate::machine::Machine;
use crate::memory::ForeignMemory;
use spfe_contract::{DOORBELL_STRIDE, Status, capability, global_block as global};
use spfe_host::{Error, Peer, Result, SharedMemory};
use spfe_registers::{Interrupts, RegisterSpace};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Largest register space.
const SIZE_MAX: u64 = 1 << 26;

/// The registers of a core of a machine, and the memory that it reaches. One driver at a time has
/// them.
pub struct Rtl {
    machine: Arc<Machine>,
    core: usize,
    size: u32,
}

impl Rtl {
    /// Takes a core.
    ///
    /// # Errors
    /// NOT_FOUND if the machine has no such core, BUSY if somebody has it, DEVICE_GONE if it does
    /// not answer, BAD_FIELD if its registers make no sense.
    pub fn take(machine: &Arc<Machine>, core: usize) -> Result<Arc<Self>> {
        let shared = machine.core(core).ok_or_else(|| {
            Error::device(Status::NotFound, format!("rtl: there is no core {core}"))
        })?;
        if shared.taken.swap(true, Ordering::AcqRel) {
            let what = format!("rtl: core {core} has a user; a core has one at a time");
            return Err(Error::device(Status::Busy, what));
        }
        // From here on the core is given back when this is dropped.
        let mut space = Self { machine: machine.clone(), core, size: 0 };
        let read = |offset| machine.read(shared, offset);
        let wide = read(global::CAPABILITY) & capability::DOORBELL_64K != 0;
        let stride = if wide { 65_536 } else { DOORBELL_STRIDE };
        let pages = u64::from(read(global::DOORBELL_PAGES));
        let size = u64::from(read(global::DOORBELL_OFFSET)) + pages * stride;
        if machine.is_gone() {
            let why = machine.failure().unwrap_or_else(|| "the core has stopped".to_owned());
            return Err(Error::device(Status::DeviceGone, format!("rtl: {why}")));
        }
        if size > SIZE_MAX {
            let what = format!("rtl: registers of {size:#x} bytes are too many");
            return Err(Error::device(Status::BadField, what));
        }
        space.size = size.next_power_of_two() as u32;
        Ok(Arc::new(space))
    }

    /// The machine of the core.
    pub fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Resets the core, its links included, as a reset of its bus does.
    ///
    /// # Errors
    /// DEVICE_GONE if the core does not run.
    pub fn reset(&self) -> Result<()> {
        if self.machine.reset(self.shared()) {
            return Ok(());
        }
        let why = self.machine.failure().unwrap_or_else(|| "it does not answer".to_owned());
        Err(Error::device(Status::DeviceGone, format!("rtl: reset of core {}: {why}", self.core)))
    }

    /// Lets the core reach memory of somebody else in place of what is mapped, or none of it. When
    /// this returns, no access to what was there before is under way.
    pub fn reach(&self, memory: Option<Arc<dyn ForeignMemory>>) {
        self.shared().memory.set_foreign(memory);
    }

    /// Whether the level line of any vector is high, the line INTA# of PCI.
    pub fn line(&self) -> bool {
        !self.machine.is_gone() && self.shared().level.load(Ordering::SeqCst)
    }

    fn shared(&self) -> &crate::core::CoreFace {
        self.machine.core(self.core).expect("it was there when it was taken")
    }
}

impl Drop for Rtl {
    fn drop(&mut self) {
        let shared = self.shared();
        shared.connect(None);
        shared.memory.set_foreign(None);
        shared.taken.store(false, Ordering::Release);
    }
}

impl RegisterSpace for Rtl {
    fn size(&self) -> u32 {
        self.size
    }

    fn read32(&self, offset: u32) -> u32 {
        self.machine.read(self.shared(), offset)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.machine.access(self.shared(), RegisterAccess::write32(offset, value));
    }

    fn ring(&self, offset: u32, value: u64) {
        let access = RegisterAccess::Write { address: offset, data: value, strobes: u8::MAX };
        self.machine.access(self.shared(), access);
    }

    fn map(&self, memory: &Arc<SharedMemory>) -> Result<u64> {
        self.shared().memory.map(memory)
    }

    fn unmap(&self, base: u64) {
        self.shared().memory.unmap(base);
    }

    fn connect(&self, sink: Weak<dyn Interrupts>) {
        self.shared().connect(Some(sink));
    }

    fn peer(&self, port: u32) -> Peer {
        self.machine.peer(self.core, port)
    }

    /// A core of a busy machine runs a few thousand cycles in a second.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Simulated time passes a thousand times slower than that of this machine, so the difference
    /// of both changes fast. Programs of a stepped machine must not read registers.
    fn clock_age_ns(&self) -> u64 {
        if self.machine.is_stepped() { u64::MAX } else { 20_000_000 }
    }
}
