//! What is plugged into a slot: registers, and what stands behind them.

use crate::interrupts::{Raiser, Vectors};
use spfe_contract::Status;
use spfe_host::{ControlError as Error, SharedMemory};
use spfe_plane::{GuestMemory, Network, RegisterFile, Variant};
use spfe_registers::Interrupts;
use std::sync::Arc;

/// The machine at the other end of the bus.
#[derive(Clone)]
pub struct VfioHost {
    pub(crate) memory: Arc<GuestMemory>,
    pub(crate) vectors: Arc<Vectors>,
}

impl VfioHost {
    /// Its memory, by bus address. There is none while bus mastering is off.
    pub fn memory(&self) -> &Arc<GuestMemory> {
        &self.memory
    }

    /// Takes the interrupts of a device. An interrupt is lost while bus mastering is off.
    pub fn interrupts(&self) -> Arc<dyn Interrupts> {
        self.vectors.clone()
    }
}

/// Makes the devices that are plugged into a slot, one after the other.
pub trait Maker: Send + Sync {
    /// Number of the device, for messages and lists.
    fn number(&self) -> u32;
    /// Whether the device has the interrupt line INTA# besides MSI-X.
    fn has_line(&self) -> bool;
    /// Makes a device in its state after power-up.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this number, NO_RESOURCES or BUSY if it cannot be had now.
    fn plug(&self, host: &VfioHost) -> Result<Arc<dyn Device>, Error>;
}

/// A device in a slot. Offsets are below its size and multiples of the width of the access.
pub trait Device: Send + Sync {
    /// Size of the registers in bytes, a power of two.
    fn size(&self) -> u32;
    /// Reads a register.
    fn read32(&self, offset: u32) -> u32;
    /// Writes a register.
    fn write32(&self, offset: u32, value: u32);
    /// Writes 8 bytes: a doorbell, or two registers.
    fn write64(&self, offset: u32, value: u64);
    /// Takes the message about a doorbell that was refused, if there is a new one.
    fn take_refusal(&self) -> Option<String> {
        None
    }
    /// Performs a reset of the bus.
    ///
    /// # Errors
    /// BUSY if something of the device cannot be stopped.
    fn reset(&self) -> Result<(), Status>;
    /// Whether the interrupt line is high.
    fn line(&self) -> bool {
        false
    }
    /// Turns bus mastering on or off. Off: it accesses no memory when this returns.
    fn set_master(&self, on: bool) {
        let _ = on;
    }
    /// Disables the regions that have lost their memory. Returns the numbers of queues that were
    /// stopped for it, and of regions.
    fn withdraw(&self, lost: &[Arc<SharedMemory>]) -> (usize, usize) {
        let _ = lost;
        (0, 0)
    }
    /// Removes the device: it accesses nothing any more.
    ///
    /// # Errors
    /// BUSY if something of the device cannot be stopped.
    fn detach(&self) -> Result<(), Error>;
}

/// An endpoint of a network.
pub(crate) struct SoftMaker {
    pub network: Arc<Network>,
    pub endpoint: u32,
    pub variant: Variant,
}

struct Soft {
    registers: Arc<RegisterFile>,
    _raiser: Raiser,
}

impl Maker for SoftMaker {
    fn number(&self) -> u32 {
        self.endpoint
    }

    fn has_line(&self) -> bool {
        self.variant.has_line()
    }

    fn plug(&self, host: &VfioHost) -> Result<Arc<dyn Device>, Error> {
        let (network, memory) = (self.network.clone(), host.memory.clone());
        let Variant { stride, minor } = self.variant;
        let registers = RegisterFile::with_minor(network, self.endpoint, memory, stride, minor)?;
        let registers = Arc::new(registers);
        let raiser = Raiser::start(registers.clone(), host.vectors.clone())?;
        Ok(Arc::new(Soft { registers, _raiser: raiser }))
    }
}

impl Device for Soft {
    fn size(&self) -> u32 {
        self.registers.size()
    }

    fn read32(&self, offset: u32) -> u32 {
        self.registers.read32(offset)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.registers.write32(offset, value);
    }

    fn write64(&self, offset: u32, value: u64) {
        self.registers.write64(offset, value);
    }

    fn take_refusal(&self) -> Option<String> {
        self.registers.take_refusal()
    }

    fn reset(&self) -> Result<(), Status> {
        self.registers.reset()
    }

    fn line(&self) -> bool {
        self.registers.line()
    }

    fn withdraw(&self, lost: &[Arc<SharedMemory>]) -> (usize, usize) {
        self.registers.withdraw(lost)
    }

    fn detach(&self) -> Result<(), Error> {
        self.registers.detach()
    }
}
