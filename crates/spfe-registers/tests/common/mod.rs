//! The soft device behind its registers, as a driver in user space finds it.

#![allow(missing_docs, dead_code)]

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_host::{Error, Result, SharedMemory};
use spfe_plane::registers::guest::{GuestMemory, Rights};
use spfe_plane::{DeviceThread, Network, RegisterFile, Segments, Stride};
use spfe_registers::{Interrupts, RegisterSpace};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;

/// Bus addresses start above 4 GiB.
const FIRST: u64 = 1 << 32;

enum Bus {
    Guest(Arc<GuestMemory>),
    Segments(Arc<Segments>),
}

/// The registers of an endpoint of the soft device.
pub struct Face {
    pub registers: Arc<RegisterFile>,
    bus: Bus,
    /// Next free bus address, and the size of each mapping.
    mappings: Mutex<(u64, HashMap<u64, u64>)>,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    // The thread that moves packets.
    _device: Arc<DeviceThread>,
}

impl Face {
    /// `iova`: the device reaches memory by bus address, else by the number of a segment.
    pub fn new(
        network: &Arc<Network>,
        device: &Arc<DeviceThread>,
        endpoint: u32,
        iova: bool,
    ) -> Arc<Self> {
        let guest = Arc::new(GuestMemory::default());
        let segments = Arc::new(Segments::default());
        let registers = if iova {
            RegisterFile::new(network.clone(), endpoint, guest.clone(), Stride::Usual)
        } else {
            RegisterFile::new(network.clone(), endpoint, segments.clone(), Stride::Usual)
        };
        Arc::new(Self {
            registers: Arc::new(registers.unwrap()),
            bus: if iova { Bus::Guest(guest) } else { Bus::Segments(segments) },
            mappings: Mutex::new((FIRST, HashMap::new())),
            stop: Arc::default(),
            thread: Mutex::default(),
            _device: device.clone(),
        })
    }
}

impl Face {
    /// Takes a mapping away, as a bus does. Returns the queues and regions that end.
    pub fn take_away(&self, base: u64) -> (usize, usize) {
        let Bus::Guest(guest) = &self.bus else { return (0, 0) };
        let bytes = self.mappings.lock().unwrap().1.remove(&base).unwrap();
        self.registers.withdraw(&guest.unmap(base, bytes).unwrap())
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.lock().unwrap().take() {
            thread.join().unwrap();
        }
    }
}

fn watch(registers: &RegisterFile, stop: &AtomicBool, sink: &Weak<dyn Interrupts>) {
    let vectors: Vec<OwnedFd> = (0..).map_while(|at| registers.event_descriptor(at)).collect();
    let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while !stop.load(Ordering::Acquire) {
        let mut set: Vec<_> = vectors.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        if poll(&mut set, Some(&moment)).is_err() {
            continue;
        }
        let ready = (0..).zip(&set).filter(|(_, fd)| !fd.revents().is_empty());
        for vector in ready.map(|(vector, _)| vector) {
            if registers.take_event(vector)
                && let Some(sink) = sink.upgrade()
            {
                sink.raise(vector);
            }
        }
    }
}

impl RegisterSpace for Face {
    fn size(&self) -> u32 {
        self.registers.size()
    }

    fn read32(&self, offset: u32) -> u32 {
        self.registers.read32(offset)
    }

    fn write32(&self, offset: u32, value: u32) {
        self.registers.write32(offset, value);
    }

    fn ring(&self, offset: u32, value: u64) {
        self.registers.write64(offset, value);
    }

    fn map(&self, memory: &Arc<SharedMemory>) -> Result<u64> {
        let guest = match &self.bus {
            Bus::Guest(guest) => guest,
            Bus::Segments(segments) => return Ok(segments.add(memory.clone()).into()),
        };
        let mut mappings = self.mappings.lock().unwrap();
        let (at, bytes) = (mappings.0, memory.size() as u64);
        let fd = memory.fd().try_clone_to_owned()?;
        let rights = Rights { read: true, write: true };
        let done = guest.map(at, bytes, Some((fd, 0)), rights)?;
        done.map_err(|why| Error::device(Status::NoResources, why.to_string()))?;
        // A page between mappings, so that nothing is reached by accident.
        mappings.0 += bytes + 4096;
        mappings.1.insert(at, bytes);
        Ok(at)
    }

    fn unmap(&self, base: u64) {
        let Bus::Guest(guest) = &self.bus else { return };
        if let Some(bytes) = self.mappings.lock().unwrap().1.remove(&base) {
            let lost = guest.unmap(base, bytes).unwrap();
            assert_eq!(self.registers.withdraw(&lost), (0, 0), "a region was still enabled");
        }
    }

    fn connect(&self, sink: Weak<dyn Interrupts>) {
        let (registers, stop) = (self.registers.clone(), self.stop.clone());
        let thread = std::thread::spawn(move || watch(&registers, &stop, &sink));
        *self.thread.lock().unwrap() = Some(thread);
    }
}
