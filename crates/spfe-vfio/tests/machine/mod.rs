//! A simulated virtual machine: memory in a file, a vfio-user client, and a driver that only relies
//! on the contract.
#![allow(dead_code)]

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use spfe_contract::{
    BlockType, Command, Completion, EntryType, QueueKind, Status, Submission, access, doorbell,
    event_block as event, global_block as global, port_block as port, queue_block as queue,
    region_block as region, submit_flags,
};
use spfe_host::SharedMemory;
use spfe_ring::{Arm, AtomicHostLine, Consumer, Producer, Ring};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::time::{Duration, Instant};
use vfio_user::Client;

/// Size of a page, and of the machine's memory.
pub const PAGE: u64 = 4096;
pub const RAM: u64 = 16 << 20;
/// Bus addresses of the two halves of the machine's memory. The second is above 4 GiB.
pub const LOW: u64 = 0;
pub const HIGH: u64 = 4 << 30;
/// Number of entries of a ring, as a power of two.
pub const LOG2: u32 = 6;
/// Number of pages for a queue's rings, times and lines.
const QUEUE_PAGES: u64 = 4;

pub const BAR0: u32 = 0;
pub const BAR2: u32 = 2;
pub const CONFIG: u32 = 7;
const MSIX: u32 = 2;
const INTX: u32 = 0;
/// SET_IRQS flags: unmask.
const UNMASK: u32 = 1 | 16;
/// SET_IRQS flags: set the trigger descriptors.
const EVENTFD: u32 = 4 | 32;

/// A socket path that no other test uses.
pub fn socket_path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spfe-vm-{}-{name}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Waits until `come` returns true. Fails after half a minute.
pub fn wait(what: &str, mut come: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !come() {
        assert!(Instant::now() < deadline, "{what} did not come");
        std::thread::yield_now();
    }
}

/// Waits for an event for at most `seconds` and consumes it. Returns whether it came.
pub fn signalled(event: &OwnedFd, seconds: i64) -> bool {
    let mut fds = [PollFd::new(event, PollFlags::IN)];
    let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
    poll(&mut fds, Some(&timeout)).unwrap();
    rustix::io::read(event, &mut [0u8; 8]).is_ok()
}

/// A region of the machine.
pub struct Region {
    pub index: u32,
    pub key: u16,
    /// Offset of each of its pages in the file.
    pub pages: Vec<u64>,
}

impl Region {
    fn place(&self, offset: u64) -> u64 {
        self.pages[(offset / PAGE) as usize] + offset % PAGE
    }
}

pub struct Machine {
    pub client: Client,
    pub ram: SharedMemory,
    blocks: Vec<(BlockType, u32, u32, u32)>,
    free: Vec<u64>,
}

/// The bus address of a byte of the file.
pub fn bus(offset: u64) -> u64 {
    if offset < RAM / 2 { LOW + offset } else { HIGH + offset - RAM / 2 }
}

impl Machine {
    /// Connects a machine that has found its device, with bus mastering on.
    pub fn new(path: &Path, seed: u64) -> Self {
        let mut machine = Self::bare(path, seed);
        machine.set_master(true);
        machine.blocks = machine.walk();
        machine
    }

    /// Connects a machine and maps its memory.
    pub fn bare(path: &Path, seed: u64) -> Self {
        let client = Client::new(path).unwrap();
        let ram = SharedMemory::create("ram", RAM as usize).unwrap();
        let mut free: Vec<u64> = (0..RAM / PAGE).map(|page| page * PAGE).collect();
        let mut random = fastrand::Rng::with_seed(seed);
        for last in (1..free.len()).rev() {
            free.swap(last, random.u64(..last as u64 + 1) as usize);
        }
        let mut machine = Self { client, ram, blocks: Vec::new(), free };
        machine.map(LOW);
        machine.map(HIGH);
        machine
    }

    /// Maps the half of the memory at a bus address.
    pub fn map(&mut self, half: u64) {
        let offset = if half == LOW { 0 } else { RAM / 2 };
        let fd = self.ram.fd().as_raw_fd();
        self.client.dma_map(offset, half, RAM / 2, fd).unwrap();
    }

    pub fn unmap(&mut self, half: u64) {
        self.client.dma_unmap(half, RAM / 2).unwrap();
    }

    pub fn set_master(&mut self, on: bool) {
        let command: u16 = if on { 0x0006 } else { 0x0002 };
        self.client.region_write(CONFIG, 4, &command.to_le_bytes()).unwrap();
    }

    pub fn read(&mut self, offset: u32) -> u32 {
        let mut data = [0; 4];
        self.client.region_read(BAR0, offset.into(), &mut data).unwrap();
        u32::from_le_bytes(data)
    }

    pub fn write(&mut self, offset: u32, value: u32) {
        self.client.region_write(BAR0, offset.into(), &value.to_le_bytes()).unwrap();
    }

    /// Reads the block list: kind, offset, size, instance.
    pub fn walk(&mut self) -> Vec<(BlockType, u32, u32, u32)> {
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            let kind = BlockType::from_raw(self.read(at) as u16).expect("block type");
            blocks.push((kind, at, self.read(at + 4), self.read(at + 12)));
            assert!(blocks.len() <= 64, "the block list does not end");
            at = self.read(at + 8);
            if at == 0 {
                return blocks;
            }
        }
    }

    /// Offset of a register.
    pub fn at(&self, kind: BlockType, element: u32, register: u32) -> u32 {
        let stride = match kind {
            BlockType::Queue => queue::STRIDE,
            BlockType::Region => region::STRIDE,
            BlockType::Event => event::STRIDE,
            _ => 0,
        };
        let mut found = self.blocks.iter().filter(|block| block.0 == kind);
        let block = found.find(|block| stride != 0 || block.3 == element).unwrap();
        let element = if stride == 0 { 0 } else { block.2 + stride * element };
        block.1 + element + register
    }

    pub fn get(&mut self, kind: BlockType, element: u32, register: u32) -> u32 {
        self.read(self.at(kind, element, register))
    }

    pub fn put(&mut self, kind: BlockType, element: u32, register: u32, value: u32) {
        self.write(self.at(kind, element, register), value);
    }

    fn put64(&mut self, kind: BlockType, element: u32, register: u32, value: u64) {
        self.put(kind, element, register, value as u32);
        self.put(kind, element, register + 4, (value >> 32) as u32);
    }

    /// Makes a 64-bit store to the first doorbell page.
    pub fn ring(&mut self, kind: u64) {
        let value = kind << doorbell::KIND_SHIFT;
        let at = self.read(global::DOORBELL_OFFSET);
        self.client.region_write(BAR0, at.into(), &value.to_le_bytes()).unwrap();
    }

    pub fn command(&mut self, command: Command, index: u32) -> Status {
        let sequence = self.read(global::CFG_ACK).wrapping_add(1).max(1);
        self.write(global::CFG_COMMAND, command.raw().into());
        self.write(global::CFG_INDEX, index);
        self.write(global::CFG_SEQ, sequence);
        self.ring(2);
        wait("CFG_ACK", || self.read(global::CFG_ACK) == sequence);
        Status::from_raw(self.read(global::CFG_STATUS) as u8).unwrap()
    }

    /// Returns an unused page of the file.
    pub fn page(&mut self) -> u64 {
        self.free.pop().expect("memory")
    }

    pub fn store(&self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= RAM);
        let at = self.ram.base().as_ptr().wrapping_add(offset as usize);
        // SAFETY: the bytes are inside the mapping, which this process accesses only by raw copies.
        unsafe { std::ptr::copy(bytes.as_ptr(), at, bytes.len()) };
    }

    pub fn load(&self, offset: u64, length: usize) -> Vec<u8> {
        assert!(offset + length as u64 <= RAM);
        let at = self.ram.base().as_ptr().wrapping_add(offset as usize);
        let mut bytes = vec![0; length];
        // SAFETY: the same as for `store`.
        unsafe { std::ptr::copy(at, bytes.as_mut_ptr(), length) };
        bytes
    }

    /// Writes to a region, page by page.
    pub fn store_in(&self, region: &Region, offset: u64, bytes: &[u8]) {
        for (at, byte) in (offset..).zip(bytes) {
            self.store(region.place(at), &[*byte]);
        }
    }

    pub fn load_from(&self, region: &Region, offset: u64, length: u64) -> Vec<u8> {
        (offset..offset + length).map(|at| self.load(region.place(at), 1)[0]).collect()
    }

    /// Writes the registers of a region.
    pub fn configure_region(&mut self, index: u32, base: u64, bytes: u64, page_list: u32) {
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        self.put64(BlockType::Region, index, region::BASE_LO, base);
        self.put64(BlockType::Region, index, region::SIZE_LO, bytes);
        self.put(BlockType::Region, index, region::ACCESS, both);
        self.put(BlockType::Region, index, region::DOMAIN, 0);
        self.put(BlockType::Region, index, region::PAGE_LIST, page_list);
    }

    /// Writes a page list into the machine's memory and returns its bus address.
    pub fn list(&mut self, addresses: &[u64]) -> u64 {
        assert!(addresses.len() * 8 <= PAGE as usize);
        let at = self.page();
        let bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
        self.store(at, &bytes);
        bus(at)
    }

    /// Enables a region of scattered pages of the machine's memory.
    pub fn region(&mut self, index: u32, pages: u64) -> Region {
        let pages: Vec<u64> = (0..pages).map(|_| self.page()).collect();
        self.region_of(index, pages)
    }

    pub fn region_of(&mut self, index: u32, pages: Vec<u64>) -> Region {
        let addresses: Vec<u64> = pages.iter().map(|page| bus(*page)).collect();
        let list = self.list(&addresses);
        self.configure_region(index, list, pages.len() as u64 * PAGE, 12);
        assert_eq!(self.command(Command::RegionEnable, index), Status::Ok);
        let key = self.get(BlockType::Region, index, region::KEY);
        // The device has read the list, so its content may change now.
        let at = if list < HIGH { list } else { list - HIGH + RAM / 2 };
        self.store(at, &[0xff; PAGE as usize]);
        Region { index, key: u16::try_from(key).unwrap(), pages }
    }

    /// Number of a queue context of port 0.
    pub fn context(&mut self, vc: u32, rx: bool) -> u32 {
        self.get(BlockType::Port, 0, port::FIRST_QUEUE) + 2 * vc + u32::from(rx)
    }

    /// Enables a queue of port 0, with its rings in a region from page `place` on.
    pub fn queue(&mut self, region: &Region, vc: u32, rx: bool, place: u64, vector: u32) -> Queue {
        let index = self.context(vc, rx);
        let ring = |page: u64| {
            let at = region.place((place + page) * PAGE) as usize;
            let slots = NonNull::new(self.ram.base().as_ptr().wrapping_add(at)).unwrap();
            // SAFETY: the page is in the machine's memory, which lives as long as the machine.
            unsafe { Ring::new(slots.cast(), LOG2) }
        };
        let (submissions, completions) = (ring(0), ring(1));
        submissions.clear();
        completions.clear();
        self.store(region.place((place + 3) * PAGE), &[0; 128]);
        let kind = if rx { QueueKind::Rx } else { QueueKind::Tx };
        let base = u64::from(region.key) << 48;
        let address = |page| base + (place + page) * PAGE;
        self.put(BlockType::Queue, index, queue::KIND, kind.raw().into());
        self.put(BlockType::Queue, index, queue::VECTOR, vector);
        self.put(BlockType::Queue, index, queue::SQ_LOG2, LOG2);
        self.put(BlockType::Queue, index, queue::CQ_LOG2, LOG2);
        self.put64(BlockType::Queue, index, queue::SQ_LO, address(0));
        self.put64(BlockType::Queue, index, queue::CQ_LO, address(1));
        self.put64(BlockType::Queue, index, queue::STAMP_LO, address(2));
        self.put64(BlockType::Queue, index, queue::LINES_LO, address(3));
        assert_eq!(self.command(Command::QueueEnable, index), Status::Ok);
        Queue {
            index,
            key: region.key,
            lines: region.place((place + 3) * PAGE),
            submissions: Producer::new(submissions),
            completions: Consumer::new(completions),
        }
    }

    /// Gives a vector an event descriptor and enables it.
    pub fn interrupt(&mut self, vector: u32) -> OwnedFd {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
        self.client.set_irqs(MSIX, EVENTFD, vector, 1, &[event.as_raw_fd()]).unwrap();
        self.put(BlockType::Event, vector, event::ENABLE, 1);
        assert_eq!(self.command(Command::Nop, 0), Status::Ok);
        event
    }

    /// Gives the device's line an event.
    pub fn line(&mut self) -> OwnedFd {
        let event = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).unwrap();
        self.client.set_irqs(INTX, EVENTFD, 0, 1, &[event.as_raw_fd()]).unwrap();
        event
    }

    /// Unmasks the line, which every interrupt masks.
    pub fn unmask_line(&mut self) {
        self.client.set_irqs(INTX, UNMASK, 0, 1, &[]).unwrap();
    }

    /// Posts a buffer and rings the doorbell.
    pub fn post(&mut self, queue: &mut Queue, rx: bool, offset: u64, length: u32) {
        queue.post(rx, offset, length);
        self.ring(0);
    }

    /// Arms a queue to raise an event at its next completion.
    pub fn arm(&mut self, queue: &Queue, sequence: u32) {
        let at = self.ram.base().as_ptr().wrapping_add(queue.lines as usize);
        // SAFETY: the line is in the machine's memory and aligned, and all its fields are atomics.
        let line = unsafe { &*at.cast::<AtomicHostLine>() };
        let count = Some(queue.completions.position.wrapping_add(1));
        let arm = Arm { count, event: true, ..Arm::default() };
        line.arm(sequence, &arm, spfe_host::os::heavy_barrier);
        self.ring(1);
    }
}

pub struct Queue {
    pub index: u32,
    key: u16,
    lines: u64,
    pub submissions: Producer,
    pub completions: Consumer,
}

impl Queue {
    pub fn post(&mut self, rx: bool, offset: u64, length: u32) {
        let flags = if rx {
            u16::from(EntryType::Buffer.raw())
        } else {
            u16::from(EntryType::Data.raw()) | submit_flags::SIGNAL | submit_flags::LAST
        };
        let entry = Submission { offset, region: self.key, length, flags, phase: 0 };
        self.submissions.push(entry.to_words());
    }

    pub fn complete(&mut self) -> Completion {
        wait("a completion", || self.completions.peek().is_some());
        Completion::from_words(self.completions.pop().unwrap())
    }
}

/// Offset of the first buffer of a region, after the rings of `queues` queues.
pub fn buffers(queues: u64) -> u64 {
    queues * QUEUE_PAGES * PAGE
}

/// Bytes that depend on their position.
pub fn pattern(length: u64, seed: u64) -> Vec<u8> {
    (0..length).map(|at| (at * 31 + at / 256 + seed * 7 + 1) as u8).collect()
}
