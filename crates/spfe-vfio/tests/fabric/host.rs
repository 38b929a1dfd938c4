//! The two ways to the registers of a node.

use rustix::fd::AsRawFd;
use spfe_host::SharedMemory;
use spfe_plane::RegisterFile;
use spfe_vfio::VfioDevice;
use std::path::Path;
use vfio_user::Client;

/// Bytes of a node's memory, and its bus address.
pub const RAM: usize = 256 << 10;
pub const RAM_AT: u64 = 0x10_0000;

/// The registers of a node.
pub trait Face {
    fn read32(&mut self, offset: u32) -> u32;
    fn write32(&mut self, offset: u32, value: u32);
    fn write64(&mut self, offset: u32, value: u64);
    fn bus_reset(&mut self);
}

/// The register file in this process.
pub struct Direct(pub RegisterFile);

impl Face for Direct {
    fn read32(&mut self, offset: u32) -> u32 {
        self.0.read32(offset)
    }
    fn write32(&mut self, offset: u32, value: u32) {
        self.0.write32(offset, value);
    }
    fn write64(&mut self, offset: u32, value: u64) {
        self.0.write64(offset, value);
    }
    fn bus_reset(&mut self) {
        self.0.reset().unwrap();
    }
}

/// A device on a socket, with its client.
pub struct Overseas {
    client: Client,
    _device: VfioDevice,
}

const BAR0: u32 = 0;
const CONFIG: u32 = 7;

impl Overseas {
    pub fn new(device: VfioDevice, path: &Path, ram: &SharedMemory) -> Self {
        let mut client = Client::new(path).unwrap();
        client.dma_map(0, RAM_AT, RAM as u64, ram.fd().as_raw_fd()).unwrap();
        let mut face = Self { client, _device: device };
        face.set_master();
        face
    }

    fn set_master(&mut self) {
        self.client.region_write(CONFIG, 4, &6u16.to_le_bytes()).unwrap();
    }
}

impl Face for Overseas {
    fn read32(&mut self, offset: u32) -> u32 {
        let mut data = [0; 4];
        self.client.region_read(BAR0, offset.into(), &mut data).unwrap();
        u32::from_le_bytes(data)
    }
    fn write32(&mut self, offset: u32, value: u32) {
        self.client.region_write(BAR0, offset.into(), &value.to_le_bytes()).unwrap();
    }
    fn write64(&mut self, offset: u32, value: u64) {
        self.client.region_write(BAR0, offset.into(), &value.to_le_bytes()).unwrap();
    }
    fn bus_reset(&mut self) {
        self.client.reset().unwrap();
        self.set_master();
    }
}
