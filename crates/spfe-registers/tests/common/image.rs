//! Registers that are only memory, with any contents: a device that lies.

use spfe_contract::{QueueSetup, access, global_block as global};
use spfe_host::{
    Backend, LinkCommand, LinkRate, Mode, QueueRequest, RegionKey, Result, SharedMemory, Topology,
};
use spfe_plane::{Network, RegisterFile, Segments, Stride};
use spfe_registers::{Interrupts, RegisterSpace, Registers};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

/// How the image differs from a device that does everything at once and well.
#[derive(Clone, Copy, Debug, Default)]
pub struct Habits {
    /// Commands are not acknowledged from this one on, counted from 1; 0 for never.
    pub deaf_from: u8,
    /// CFG_STATUS of commands after the first.
    pub status: u32,
    /// Register KEY of an enabled region is what it should be, plus this.
    pub key_off: u32,
}

/// The registers of a soft device, as words.
pub fn soft_device() -> &'static [u32] {
    static WORDS: OnceLock<Vec<u32>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let topology = Topology::pairs(2, LinkRate::Unlimited, Mode::Thread);
        let network = Network::new(topology).expect("a network");
        let bus = Arc::new(Segments::default());
        let file = RegisterFile::new(network, 0, bus, Stride::Usual).expect("registers");
        (0..file.size() / 4).map(|word| file.read32(4 * word)).collect()
    })
}

/// The image, and how often each operation of a driver was called.
pub struct Image {
    words: Mutex<Vec<u32>>,
    habits: Habits,
    commands: Mutex<u32>,
    mapped: Mutex<Vec<Weak<SharedMemory>>>,
}

impl Image {
    /// `patches`: word offsets with other contents.
    pub fn new(patches: &[(u32, u32)], habits: Habits) -> Self {
        let mut words = soft_device().to_vec();
        for (at, value) in patches {
            let at = *at as usize % words.len();
            words[at] = *value;
        }
        let (commands, mapped) = (Mutex::default(), Mutex::default());
        Self { words: Mutex::new(words), habits, commands, mapped }
    }

    /// The register KEY that belongs to the region of the last command, by its word.
    fn key(&self, words: &[u32]) -> Option<(usize, u32)> {
        let index = words[global::CFG_INDEX as usize / 4];
        // The block is at the same place in every image of the same device.
        let region = region_at(words)?;
        let at = region.checked_add(index.checked_mul(spfe_contract::region_block::STRIDE)?)? / 4;
        let key = RegionKey::new(index as usize & 0xfff, 1).0;
        ((at as usize) < words.len()).then_some((at as usize, u32::from(key)))
    }
}

fn region_at(words: &[u32]) -> Option<u32> {
    let mut at = 0u32;
    for _ in 0..64 {
        let word = |offset: u32| words.get((at + offset) as usize / 4).copied();
        if word(0)? & 0xffff == u32::from(spfe_contract::region_block::TYPE) {
            return at.checked_add(16);
        }
        at = word(8)?;
        if at > 1 << 24 {
            return None;
        }
    }
    None
}

impl RegisterSpace for Image {
    fn size(&self) -> u32 {
        4 * self.words.lock().unwrap().len() as u32
    }

    fn read32(&self, offset: u32) -> u32 {
        let words = self.words.lock().unwrap();
        assert!(offset.is_multiple_of(4), "{offset:#x} is read");
        *words.get(offset as usize / 4).expect("a register behind the end is read")
    }

    fn write32(&self, offset: u32, value: u32) {
        let mut words = self.words.lock().unwrap();
        assert!(offset.is_multiple_of(4), "{offset:#x} is written");
        *words.get_mut(offset as usize / 4).expect("a register behind the end is written") = value;
        if offset != global::CFG_SEQ {
            return;
        }
        let mut commands = self.commands.lock().unwrap();
        *commands += 1;
        if self.habits.deaf_from != 0 && *commands >= u32::from(self.habits.deaf_from) {
            return;
        }
        words[global::CFG_ACK as usize / 4] = value;
        let status = if *commands == 1 { 0 } else { self.habits.status };
        words[global::CFG_STATUS as usize / 4] = status;
        if let Some((at, key)) = self.key(&words) {
            words[at] = key.wrapping_add(self.habits.key_off);
        }
    }

    fn ring(&self, offset: u32, _: u64) {
        assert!(u64::from(offset) + 8 <= u64::from(self.size()), "doorbell at {offset:#x}");
    }

    fn map(&self, memory: &Arc<SharedMemory>) -> Result<u64> {
        let mut mapped = self.mapped.lock().unwrap();
        mapped.push(Arc::downgrade(memory));
        Ok(mapped.len() as u64 - 1)
    }

    fn unmap(&self, base: u64) {
        let mut mapped = self.mapped.lock().unwrap();
        let slot = mapped.get_mut(base as usize).expect("memory is unmapped that was mapped");
        assert!(slot.strong_count() > 0, "memory is unmapped once, and before it is freed");
        *slot = Weak::new();
    }

    fn connect(&self, _: Weak<dyn Interrupts>) {}

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

/// Uses everything that a backend offers. What it returns does not matter; that it returns does.
pub fn exercise(image: Image) {
    let Ok(device) = Registers::open(Arc::new(image), "image:", "image") else { return };
    let info = device.info();
    for port in (0..info.ports.min(4)).chain([info.ports, u32::MAX]) {
        let _ = device.port_info(port);
        let _ = device.port_mib(port);
        let _ = device.set_priority(port, 3, 7);
        let _ = device.link_command(port, LinkCommand::Reset);
        let _ = device.link_command(port, LinkCommand::Set { item: 6, index: 40, value: 3 });
    }
    let memory = device.add_memory("test", 4096, access::LOCAL_READ | access::LOCAL_WRITE);
    for kind in 0..9 {
        for vc in [0, 1, 300] {
            let Ok(vector) = device.add_event(None) else { return };
            let setup = QueueSetup { kind, vector, sq_log2: 40, ..QueueSetup::default() };
            let request = QueueRequest { port: 0, vc, setup };
            let _ = device.create_queue(&request);
        }
        let _ = device.destroy_queue(0, 1, kind as u8);
    }
    if let Ok((_, key)) = memory {
        let _ = device.remove_region(key);
        assert!(device.remove_region(RegionKey(key.0 ^ 0x10)).is_err());
    }
    let _ = device.offset_ns();
    device.ring();
    let _ = device.reset();
    let _ = (device.has_pairs(), device.chain_max(), device.is_gone());
}
