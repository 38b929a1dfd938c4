//! The device behind the socket: what a virtual machine's accesses do.

use crate::Log;
use crate::config::{self, ConfigSpace};
use crate::interrupts::{Action, Raiser, Vectors};
use spfe_net::os::SharedMemory;
use spfe_net::registers::guest::{Rights, Unusable};
use spfe_net::{GuestMemory, Network, RegisterFile, Stride};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vfio_bindings::bindings::vfio;
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

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
struct Counters {
    connections: AtomicU64,
    resets: AtomicU64,
    withdrawn: AtomicU64,
    refused: AtomicU64,
}

fn add(counter: &AtomicU64, more: u64) {
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
    memory: Arc<GuestMemory>,
    vectors: Arc<Vectors>,
    plugged: Mutex<Slot>,
    count: Counters,
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
    fn registers(&self) -> Option<(Arc<RegisterFile>, u64)> {
        let slot = self.slot();
        slot.plugged.as_ref().map(|plugged| (plugged.registers.clone(), plugged.serial))
    }

    /// Puts a device in its state after power-up in the slot; no change if there is one, or if the
    /// slot is closed. Bytes of its registers.
    pub fn plug(&self) -> Result<u32, spfe_net::Error> {
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

    /// Regions have lost their memory: they are contained.
    fn withdraw(&self, lost: &[Arc<SharedMemory>], why: &str) {
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

    fn set_master(&self, on: bool) {
        self.vectors.set_master(on);
        match self.memory.set_on(on) {
            Ok(lost) => self.withdraw(&lost, "bus mastering was turned off"),
            Err(error) => self.say(format_args!("bus master {on}: {error}")),
        }
    }
}

/// One connection: what its client has configured.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    /// The face all of this was written for.
    serial: u64,
    config: ConfigSpace,
    /// The MSI-X table, as last written. The client has its own, which counts.
    table: Vec<u8>,
    /// Mappings the device cannot use have been spoken of.
    warned: Option<Unusable>,
}

/// Longest access: the whole configuration space.
const ACCESS_MAX: usize = config::BYTES;
/// Bytes of the MSI-X table.
const TABLE_BYTES: usize = 16 * spfe_net::registers::EVENTS as usize;
const _: () = assert!(TABLE_BYTES as u64 <= config::PENDING);

impl Connection {
    pub fn new(shared: Arc<Shared>, register_bytes: u32) -> Self {
        shared.set_master(false);
        let table = vec![0; TABLE_BYTES];
        let config = ConfigSpace::new(register_bytes);
        Self { shared, serial: 0, config, table, warned: None }
    }

    /// The registers, if the device is there; a new one has its state after power-up.
    fn registers(&mut self) -> Option<Arc<RegisterFile>> {
        let (registers, serial) = self.shared.registers()?;
        if serial != self.serial {
            self.serial = serial;
            self.power_up(&registers);
        }
        Some(registers)
    }

    fn power_up(&mut self, registers: &RegisterFile) {
        self.config = ConfigSpace::new(registers.size());
        self.table.fill(0);
        self.shared.set_master(false);
    }

    fn refuse(&self) {
        add(&self.shared.count.refused, 1);
    }

    /// What a reset of the bus and a function level reset do.
    fn reset_device(&mut self) {
        add(&self.shared.count.resets, 1);
        let Some(registers) = self.registers() else { return };
        if let Err(status) = registers.reset() {
            self.shared.say(format_args!("reset: {}", status.name()));
        }
        // What could not be stopped finds no memory.
        self.power_up(&registers);
    }

    fn read_registers(&self, registers: &RegisterFile, offset: u64, data: &mut [u8]) {
        data.fill(0xff);
        let Some(offset) = access(offset, data.len(), u64::from(registers.size())) else {
            self.refuse();
            return;
        };
        for (at, word) in (offset..).step_by(4).zip(data.chunks_exact_mut(4)) {
            word.copy_from_slice(&registers.read32(at).to_le_bytes());
        }
    }

    fn write_registers(&self, registers: &RegisterFile, offset: u64, data: &[u8]) {
        let size = u64::from(registers.size());
        match (access(offset, data.len(), size), data.first_chunk::<8>(), data.first_chunk()) {
            (Some(offset), Some(double), _) => {
                registers.write64(offset, u64::from_le_bytes(*double));
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
        } else if let Some(on) = effect.master {
            self.shared.set_master(on);
        }
    }
}

/// The offset of an access the registers take: 4 or 8 bytes, aligned, inside.
fn access(offset: u64, bytes: usize, size: u64) -> Option<u32> {
    let good = matches!(bytes, 4 | 8) && offset.is_multiple_of(bytes as u64) && offset < size;
    u32::try_from(offset).ok().filter(|_| good)
}

fn too_long(bytes: usize) -> io::Error {
    let what = format!("an access of {bytes} bytes; {ACCESS_MAX} at most");
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

impl ServerBackend for Connection {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        if data.len() > ACCESS_MAX {
            self.refuse();
            return Err(too_long(data.len()));
        }
        let Some(registers) = self.registers() else {
            data.fill(0xff);
            return Ok(());
        };
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => self.read_registers(&registers, offset, data),
            vfio::VFIO_PCI_BAR2_REGION_INDEX => self.read_msix(offset, data),
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => self.config.read(offset, data),
            _ => data.fill(0xff),
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        if data.len() > ACCESS_MAX {
            self.refuse();
            return Err(too_long(data.len()));
        }
        let Some(registers) = self.registers() else { return Ok(()) };
        match region {
            vfio::VFIO_PCI_BAR0_REGION_INDEX => self.write_registers(&registers, offset, data),
            vfio::VFIO_PCI_BAR2_REGION_INDEX => self.write_msix(offset, data),
            vfio::VFIO_PCI_CONFIG_REGION_INDEX => self.write_config(offset, data),
            _ => self.refuse(),
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        let rights = Rights {
            read: flags.contains(DmaMapFlags::READ),
            write: flags.contains(DmaMapFlags::WRITE),
        };
        let has_file = fd.is_some();
        let file = fd.map(|fd| (fd.into(), offset));
        let mapped = self.shared.memory.map(address, size, file, rights);
        let mapped = mapped.inspect_err(|error| {
            self.shared.say(format_args!("map {size:#x} bytes at {address:#x}: {error}"));
        })?;
        // Read-only memory of the machine comes without a file: nobody misses it.
        if let Err(why) = mapped
            && has_file
            && self.warned != Some(why)
        {
            self.warned = Some(why);
            self.shared.say(format_args!("memory at {address:#x} cannot be used: {why}"));
        }
        Ok(())
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let memory = &self.shared.memory;
        let lost = if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            memory.clear()
        } else {
            memory.unmap(address, size)
        };
        let lost = lost.inspect_err(|error| {
            self.shared.say(format_args!("unmap {size:#x} bytes at {address:#x}: {error}"));
        })?;
        self.shared.withdraw(&lost, "memory was unmapped");
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.reset_device();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        match index {
            vfio::VFIO_PCI_MSIX_IRQ_INDEX => {}
            // There are no such errors: nobody will signal it.
            vfio::VFIO_PCI_ERR_IRQ_INDEX => return Ok(()),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "MSI-X only")),
        }
        let has = |bit: u32| flags & bit != 0;
        let vectors = &self.shared.vectors;
        if has(vfio::VFIO_IRQ_SET_ACTION_TRIGGER) {
            if has(vfio::VFIO_IRQ_SET_DATA_EVENTFD) {
                return vectors.set(start, count, Action::Descriptors(fds));
            }
            if count == 0 {
                vectors.clear();
                return Ok(());
            }
            return vectors.set(start, count, Action::Trigger);
        }
        vectors.set(start, count, Action::Mask(has(vfio::VFIO_IRQ_SET_ACTION_MASK)))
    }
}
