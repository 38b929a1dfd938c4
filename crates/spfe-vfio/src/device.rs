//! The device behind the socket: handles accesses, mappings and resets of a virtual machine.

use crate::config::{self, ConfigSpace};
use crate::interrupts::Action;
use crate::shared::{Shared, add};
use crate::slot::Device;
use rustix::fd::OwnedFd;
use spfe_plane::registers::guest::{Rights, Unusable};
use std::io;
use std::sync::Arc;
use vfio_bindings::bindings::vfio;

/// A connection and the configuration that its client has made.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    /// Serial number of the register file that the configuration belongs to.
    serial: u64,
    config: ConfigSpace,
    /// The MSI-X table as last written. It has no effect: the client uses a table of its own.
    table: Vec<u8>,
    register_bytes: u32,
    /// The last reason for an unusable mapping, so that it is logged once.
    warned: Option<Unusable>,
}

/// Flags of a mapping: what the device may do.
const MAP_READ: u32 = 1;
const MAP_WRITE: u32 = 2;
/// Flag of an unmapping: everything.
const UNMAP_ALL: u32 = 2;
/// Size of the MSI-X table in bytes.
const TABLE_BYTES: usize = 16 * spfe_plane::registers::EVENTS as usize;
const _: () = assert!(TABLE_BYTES as u64 <= config::PENDING);

impl Connection {
    pub fn new(shared: Arc<Shared>, register_bytes: u32) -> Self {
        shared.set_master(false);
        let table = vec![0; TABLE_BYTES];
        let config = ConfigSpace::new(register_bytes, shared.has_line());
        Self { shared, serial: 0, config, table, register_bytes, warned: None }
    }

    /// The registers, or `None` if the device is unplugged. If another device was plugged in, this
    /// first puts the connection into its state after power-up.
    fn registers(&mut self) -> Option<Arc<dyn Device>> {
        let (registers, serial) = self.shared.registers()?;
        if serial != self.serial {
            self.serial = serial;
            self.power_up(&*registers);
        }
        Some(registers)
    }

    fn power_up(&mut self, registers: &dyn Device) {
        self.config = ConfigSpace::new(registers.size(), self.has_line());
        self.table.fill(0);
        self.shared.vectors.set_line_off(false);
        self.shared.set_master(false);
    }

    /// Whether the device has an interrupt line.
    pub fn has_line(&self) -> bool {
        self.shared.has_line()
    }

    /// Counts an access that addresses no register.
    pub fn refuse(&self) {
        add(&self.shared.count.refused, 1);
    }

    /// Performs a bus reset or a function level reset.
    pub fn reset_device(&mut self) {
        add(&self.shared.count.resets, 1);
        let Some(registers) = self.registers() else { return };
        if let Err(status) = registers.reset() {
            self.shared.say(format_args!("reset: {}", status.name()));
        }
        // Queues that could not be stopped find no memory.
        self.power_up(&*registers);
    }

    fn read_registers(&self, registers: &dyn Device, offset: u64, data: &mut [u8]) {
        data.fill(0xff);
        let Some(offset) = access(offset, data.len(), u64::from(registers.size())) else {
            self.refuse();
            return;
        };
        for (at, word) in (offset..).step_by(4).zip(data.chunks_exact_mut(4)) {
            word.copy_from_slice(&registers.read32(at).to_le_bytes());
        }
    }

    fn write_registers(&self, registers: &dyn Device, offset: u64, data: &[u8]) {
        let size = u64::from(registers.size());
        match (access(offset, data.len(), size), data.first_chunk::<8>(), data.first_chunk()) {
            (Some(offset), Some(double), _) => {
                registers.write64(offset, u64::from_le_bytes(*double));
                if let Some(what) = registers.take_refusal() {
                    self.shared.say(format_args!("{what}"));
                }
            }
            (Some(offset), None, Some(word)) => {
                registers.write32(offset, u32::from_le_bytes(*word));
            }
            _ => self.refuse(),
        }
    }

    fn read_msix(&self, offset: u64, data: &mut [u8]) {
        let pending = self.shared.vectors.pending().to_le_bytes();
        for (at, byte) in config::places(offset).zip(data) {
            let inside = at.checked_sub(config::PENDING as usize);
            let found = self.table.get(at).or(inside.and_then(|at| pending.get(at)));
            *byte = found.copied().unwrap_or(0);
        }
    }

    fn write_msix(&mut self, offset: u64, data: &[u8]) {
        for (at, byte) in config::places(offset).zip(data) {
            if let Some(place) = self.table.get_mut(at) {
                *place = *byte;
            }
        }
    }

    fn write_config(&mut self, offset: u64, data: &[u8]) {
        let effect = self.config.write(offset, data);
        if effect.reset {
            self.reset_device();
            return;
        }
        if let Some(on) = effect.master {
            self.shared.set_master(on);
        }
        self.shared.vectors.set_line_off(self.config.is_line_off());
        self.shared.update_line();
    }

    /// Reads the configuration, in which one bit of STATUS shows the line.
    fn read_config(&mut self, registers: &dyn Device, offset: u64, data: &mut [u8]) {
        let shows_status = offset <= config::STATUS as u64 && self.shared.vectors.uses_line();
        self.config.set_line(shows_status && registers.line());
        self.config.read(offset, data);
    }
}

/// The offset of a valid register access: 4 or 8 bytes, aligned, within the registers.
fn access(offset: u64, bytes: usize, size: u64) -> Option<u32> {
    let good = matches!(bytes, 4 | 8) && offset.is_multiple_of(bytes as u64) && offset < size;
    u32::try_from(offset).ok().filter(|_| good)
}

/// What a client asks for.
impl Connection {
    /// Size of a region in bytes; 0 if there is none.
    pub fn region_bytes(&self, region: u32) -> u64 {
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => self.register_bytes.into(),
            vfio::VFIO_PCI_BAR2_REGION_INDEX => config::MSIX_BYTES,
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => config::BYTES as u64,
            _ => 0,
        }
    }

    pub fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) {
        let Some(registers) = self.registers() else {
            data.fill(0xff);
            return;
        };
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => self.read_registers(&*registers, offset, data),
            vfio::VFIO_PCI_BAR2_REGION_INDEX => self.read_msix(offset, data),
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => self.read_config(&*registers, offset, data),
            _ => data.fill(0xff),
        }
    }

    pub fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) {
        let Some(registers) = self.registers() else { return };
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => {
                self.write_registers(&*registers, offset, data);
                self.shared.update_line();
            }
            vfio::VFIO_PCI_BAR2_REGION_INDEX => self.write_msix(offset, data),
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => self.write_config(offset, data),
            _ => self.refuse(),
        }
    }

    /// Maps memory of the machine: a file from an offset on.
    pub fn dma_map(
        &mut self,
        flags: u32,
        address: u64,
        size: u64,
        file: Option<(OwnedFd, u64)>,
    ) -> io::Result<()> {
        let rights = Rights { read: flags & MAP_READ != 0, write: flags & MAP_WRITE != 0 };
        let has_file = file.is_some();
        let mapped = self.shared.memory.map(address, size, file, rights);
        let mapped = mapped.inspect_err(|error| {
            self.shared.say(format_args!("map {size:#x} bytes at {address:#x}: {error}"));
        })?;
        // Read-only memory of the machine comes without a file. The device does not need it.
        if let Err(why) = mapped
            && has_file
            && self.warned != Some(why)
        {
            self.warned = Some(why);
            self.shared.say(format_args!("memory at {address:#x} cannot be used: {why}"));
        }
        Ok(())
    }

    pub fn dma_unmap(&mut self, flags: u32, address: u64, size: u64) -> io::Result<()> {
        let memory = &self.shared.memory;
        let lost =
            if flags & UNMAP_ALL != 0 { memory.clear() } else { memory.unmap(address, size) };
        let lost = lost.inspect_err(|error| {
            self.shared.say(format_args!("unmap {size:#x} bytes at {address:#x}: {error}"));
        })?;
        self.shared.withdraw(&lost, "memory was unmapped");
        Ok(())
    }

    pub fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<OwnedFd>,
    ) -> io::Result<()> {
        let is_line = match index {
            vfio::VFIO_PCI_MSIX_IRQ_INDEX => false,
            vfio::VFIO_PCI_INTX_IRQ_INDEX if self.has_line() => true,
            // The device never reports bus errors.
            vfio::VFIO_PCI_ERR_IRQ_INDEX => return Ok(()),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "no such interrupt")),
        };
        if is_line && (start, count.min(1)) != (0, count) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the device has one line"));
        }
        if flags & vfio::VFIO_IRQ_SET_DATA_BOOL != 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let has = |bit: u32| flags & bit != 0;
        let vectors = &self.shared.vectors;
        let action = if !has(vfio::VFIO_IRQ_SET_ACTION_TRIGGER) {
            if has(vfio::VFIO_IRQ_SET_DATA_EVENTFD) {
                return Err(io::ErrorKind::Unsupported.into());
            }
            Action::Mask(has(vfio::VFIO_IRQ_SET_ACTION_MASK))
        } else if has(vfio::VFIO_IRQ_SET_DATA_EVENTFD) {
            Action::Descriptors(fds)
        } else if count == 0 {
            if is_line {
                vectors.clear_line()
            } else {
                vectors.clear_vectors()
            }
            return Ok(());
        } else {
            Action::Trigger
        };
        if is_line {
            vectors.set_line(action)?;
            self.shared.update_line();
            return Ok(());
        }
        vectors.set(start, count, action)
    }
}
