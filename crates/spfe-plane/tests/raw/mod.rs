//! Clients that write their rings themselves, without the library.
#![allow(dead_code)]

use spfe_contract::{
    BurstExt, Completion, EndMarker, EntryType, QueueKind, QueueSetup, Release, Status, access,
    submit_flags as sf,
};
use spfe_device::memory::{Address, RegionKey};
use spfe_host::port::ChannelCounters;
use spfe_host::{
    Attachment, ControlError as Error, LinkRate, Mode, QueueRequest, SharedMemory, Topology,
};
use spfe_plane::view::MessageRunner;
use spfe_plane::{Network, Runner};
use spfe_ring::ring::RingEntry;
use spfe_ring::{Consumer, Producer, Ring, Slot};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time of a bounded action on a busy machine.
pub const SOON: Duration = Duration::from_secs(10);

/// Entries of every ring, log2.
pub const LOG2: u32 = 5;
pub const SIZE: u32 = 1 << LOG2;
/// Bytes of a client's region: 16 KiB of rings of its queues, then data.
pub const BYTES: usize = 1 << 18;
pub const DATA: u64 = 1 << 16;
/// Bytes a queue takes in the region: lines, rings, times, and a guard area that must stay
/// unchanged.
const QUEUE_BYTES: u64 = 1 << 11;
const SQ: u64 = 128;
const CQ: u64 = SQ + 16 * SIZE as u64;
pub const STAMPS: u64 = CQ + 16 * SIZE as u64;
const GUARD: u64 = STAMPS + 8 * SIZE as u64;

pub fn network(mode: Mode) -> Arc<Network> {
    Network::new(Topology::pairs(2, LinkRate::Unlimited, mode)).unwrap()
}

/// A client of a network with one region.
pub struct Client {
    pub network: Arc<Network>,
    pub at: Attachment,
    pub memory: Arc<SharedMemory>,
    pub key: RegionKey,
    queues: u64,
}

impl Client {
    pub fn new(network: &Arc<Network>, endpoint: u32) -> Self {
        let at = network.attach(endpoint, "raw").unwrap();
        let memory = Arc::new(SharedMemory::create("raw", BYTES).unwrap());
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        let key = network.add_region(at, memory.clone(), both).unwrap();
        let queues = 0;
        Self { network: network.clone(), at, memory, key, queues }
    }

    pub fn address(&self, offset: u64) -> u64 {
        Address::new(self.key, offset).0
    }

    /// The engine of the flow out of port 0, or into it.
    pub fn runner(&self, vc: u32, out: bool) -> Runner {
        let view = self.network.view(self.at.client);
        if out {
            view.runner_out(self.at.endpoint, 0, vc, true)
        } else {
            view.runner_into(self.at.endpoint, 0, vc, false)
        }
    }

    pub fn message_runner(&self, port: u32) -> MessageRunner {
        self.network.view(self.at.client).messages_out(self.at.endpoint, port)
    }

    /// A request for a queue in the next free part of the region.
    pub fn request(&mut self, kind: QueueKind, vc: u32) -> (QueueRequest, u64) {
        let base = self.queues * QUEUE_BYTES;
        self.queues += 1;
        assert!(base + QUEUE_BYTES <= DATA);
        let packed = kind == QueueKind::RxPacked;
        let setup = QueueSetup {
            kind: u32::from(kind.raw()),
            sq_log2: LOG2,
            cq_log2: LOG2,
            sq: self.address(base + SQ),
            cq: self.address(base + CQ),
            stamp: self.address(base + STAMPS),
            lines: self.address(base),
            area: if packed { self.address(DATA) } else { 0 },
            area_bytes: if packed { 4096 } else { 0 },
            ..QueueSetup::default()
        };
        (QueueRequest { port: 0, vc, setup }, base)
    }

    pub fn try_queue(&mut self, kind: QueueKind, vc: u32) -> Result<Queue, Error> {
        let (request, base) = self.request(kind, vc);
        self.network.create_queue(self.at, request)?;
        Ok(self.queue_at(base))
    }

    pub fn queue(&mut self, kind: QueueKind, vc: u32) -> Queue {
        self.try_queue(kind, vc).unwrap()
    }

    pub fn queue_at(&self, base: u64) -> Queue {
        let at = |offset: u64| {
            let at = self.memory.base().as_ptr().wrapping_add((base + offset) as usize);
            NonNull::new(at.cast::<Slot>()).unwrap()
        };
        // SAFETY: inside the mapping, aligned; the queue keeps it.
        let (sq, cq) = unsafe { (Ring::new(at(SQ), LOG2), Ring::new(at(CQ), LOG2)) };
        Queue { sq: Producer::new(sq), cq: Consumer::new(cq), memory: self.memory.clone(), base }
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) {
        let at = self.at_offset(offset, bytes.len());
        // SAFETY: inside the mapping, as `at_offset` checks; the other side only reads bytes.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let at = self.at_offset(offset, length);
        // SAFETY: inside the mapping; what is read was completed before.
        unsafe { std::slice::from_raw_parts(at, length) }.to_vec()
    }

    fn at_offset(&self, offset: u64, length: usize) -> *mut u8 {
        assert!(offset as usize + length <= BYTES);
        self.memory.base().as_ptr().wrapping_add(offset as usize)
    }

    /// Counters of a channel of port 0: transmit, receive {packets, bytes, errors, stalls, wakes}.
    pub fn counters(&self, vc: u32) -> ([u64; 5], [u64; 5]) {
        let info = self.network.port_info(self.at.endpoint, 0).unwrap();
        let channel = info.channels[vc as usize];
        let five = |of: ChannelCounters| [of.packets, of.bytes, of.errors, of.stalls, of.wakes];
        (five(channel.tx), five(channel.rx))
    }
}

/// A queue's rings.
pub struct Queue {
    pub sq: Producer,
    pub cq: Consumer,
    memory: Arc<SharedMemory>,
    base: u64,
}

impl Queue {
    pub fn push(&mut self, entry: RingEntry) {
        self.sq.push(entry);
    }

    /// Entries published as one batch.
    pub fn push_all(&mut self, entries: &[RingEntry]) {
        for (index, entry) in entries.iter().enumerate().rev() {
            self.sq.ring.write(self.sq.position.wrapping_add(index as u32), *entry);
        }
        self.sq.position = self.sq.position.wrapping_add(entries.len() as u32);
    }

    /// The next completion.
    pub fn pop(&mut self) -> Option<Completion> {
        self.cq.pop().map(Completion::from_words)
    }

    /// Waits for the next completion.
    pub fn wait(&mut self) -> Completion {
        let end = Instant::now() + SOON;
        loop {
            if let Some(done) = self.pop() {
                return done;
            }
            assert!(Instant::now() < end, "no completion in {SOON:?}");
            std::thread::yield_now();
        }
    }

    /// Overwrites lines, rings and times, but not the guard area.
    pub fn scribble(&self, bytes: &[u8]) {
        let length = bytes.len().min(GUARD as usize);
        let at = self.memory.base().as_ptr().wrapping_add(self.base as usize);
        // SAFETY: inside the mapping.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), length) };
    }

    /// Whether the guard area is unchanged.
    pub fn is_guarded(&self) -> bool {
        let length = (QUEUE_BYTES - GUARD) as usize;
        let at = self.memory.base().as_ptr().wrapping_add((self.base + GUARD) as usize);
        // SAFETY: inside the mapping; no correct device or client writes there.
        unsafe { std::slice::from_raw_parts(at, length) }.iter().all(|byte| *byte == 0)
    }
}

pub fn flags(kind: EntryType, rest: u16) -> u16 {
    u16::from(kind.raw()) | rest
}

pub fn end(marker: EndMarker) -> u16 {
    u16::from(marker.raw()) << sf::END_SHIFT
}

/// An entry with an address.
pub fn entry(address: u64, length: u32, flags: u16) -> RingEntry {
    [address, u64::from(length) | u64::from(flags) << 32]
}

pub fn data(address: u64, length: u32) -> RingEntry {
    entry(address, length, flags(EntryType::Data, sf::SIGNAL))
}

pub fn buffer(address: u64, length: u32) -> RingEntry {
    entry(address, length, flags(EntryType::Buffer, 0))
}

pub fn burst(address: u64, length: u32, stride: u32, count: u16) -> [RingEntry; 2] {
    let ext =
        BurstExt { stride, count, flags: flags(EntryType::BurstExt, 0), ..Default::default() };
    [entry(address, length, flags(EntryType::Burst, sf::SIGNAL)), ext.to_words()]
}

pub fn release(bytes: u32, completions: u32) -> RingEntry {
    let flags = flags(EntryType::Release, 0);
    Release { bytes, completions, flags, ..Release::default() }.to_words()
}

pub fn status(done: &Completion) -> Status {
    Status::from_raw(done.status).unwrap()
}
