//! A flow between two hosts in one process, without a network around it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use spfe_contract::{
    Completion, EndMarker, EntryType, QueueKind, QueueSetup, Status, access,
    completion_flags as cf, queue_options, submit_flags as sf,
};
use spfe_device::flow::{NoInstrument, SharePolicy, SingleEnd};
use spfe_device::memory::{Address, RegionKey, RegionMap, RegionShared, RegionTag, Regions};
use spfe_device::queue::{Host, QueueView};
use spfe_device::receive::RxPacked;
use spfe_device::shared::{QueueConfig, RxState, TxState};
use spfe_device::{Flow, FlowShared, StepOutcome};
use spfe_ring::packed::PackedReader;
use spfe_ring::sync::Ordering;
use spfe_ring::{AtomicDeviceLine, Consumer, Producer, Ring, RingCredit, Slot};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

pub const LOG2: u32 = 4;
pub const SIZE: u32 = 1 << LOG2;
pub const BYTES: usize = 1 << 20;
/// Offsets in the memory of a side: lines at 0, then rings, time stamps and data.
pub const SQ: u64 = 128;
pub const CQ: u64 = SQ + 16 * SIZE as u64;
pub const STAMPS: u64 = CQ + 16 * SIZE as u64;
pub const DATA: u64 = 4096;

pub struct Quiet;

impl Host for Quiet {
    fn now_ns(&mut self) -> u64 {
        1
    }
    fn wake(&mut self, _: &AtomicDeviceLine, _: &QueueConfig, _: bool) {}
}

/// Zeroed memory with the alignment of a cache line. Flow and host access it through raw pointers.
struct Memory(NonNull<u8>);

const LAYOUT: Layout = match Layout::from_size_align(BYTES, 64) {
    Ok(layout) => layout,
    Err(_) => panic!("a layout"),
};

impl Memory {
    fn new() -> Self {
        // SAFETY: the layout has a size.
        Self(NonNull::new(unsafe { alloc_zeroed(LAYOUT) }).expect("memory"))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.0.as_ptr(), LAYOUT) };
    }
}

/// The host at one end: its memory, mapped as region 0, and its view of the rings.
pub struct Side {
    memory: Memory,
    pub regions: Regions,
    pub sq: Producer,
    pub cq: Consumer,
    pub credit: RingCredit,
    pub config: QueueConfig,
}

pub const KEY: RegionKey = RegionKey::new(0, 1);

impl Side {
    pub fn new(kind: QueueKind, area: u32) -> Self {
        let memory = Memory::new();
        let base = memory.0.as_ptr();
        let tag = RegionTag::new(KEY, 0, access::LOCAL_READ | access::LOCAL_WRITE);
        let map = Arc::new(RegionMap::default());
        // SAFETY: the memory lives as long as the side, and the flow no longer.
        unsafe { map.set(tag, base, BYTES as u64) };
        let table = Box::leak(Box::<[RegionShared; 1]>::default());
        table[0].tag.store(tag.0, Ordering::Relaxed);
        let ring = |offset: u64| {
            let at = NonNull::new(base.wrapping_add(offset as usize)).unwrap();
            // SAFETY: inside the memory, aligned.
            unsafe { Ring::new(at.cast::<Slot>(), LOG2) }
        };
        let at = |offset| Address::new(KEY, offset).0;
        let setup = QueueSetup {
            kind: u32::from(kind.raw()),
            sq_log2: LOG2,
            cq_log2: LOG2,
            sq: at(SQ),
            cq: at(CQ),
            stamp: at(STAMPS),
            lines: at(0),
            area: if kind == QueueKind::RxPacked { at(DATA) } else { 0 },
            area_bytes: if kind == QueueKind::RxPacked { area } else { 0 },
            ..QueueSetup::default()
        };
        let config = QueueConfig { setup, ..QueueConfig::default() };
        let (sq, cq) = (Producer::new(ring(SQ)), Consumer::new(ring(CQ)));
        let regions = Regions { map, table };
        Self { memory, regions, sq, cq, credit: RingCredit::default(), config }
    }

    pub fn base(&self) -> *mut u8 {
        self.memory.0.as_ptr()
    }

    pub fn bytes(&self, offset: u64, length: u32) -> Vec<u8> {
        let at = self.base().wrapping_add(offset as usize);
        assert!(offset as usize + length as usize <= BYTES);
        // SAFETY: inside the memory; one thread.
        unsafe { std::slice::from_raw_parts(at, length as usize) }.to_vec()
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) {
        let at = self.base().wrapping_add(offset as usize);
        assert!(offset as usize + bytes.len() <= BYTES);
        // SAFETY: inside the memory; one thread.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn fill(&mut self, offset: u64, length: u32, value: u8) {
        let at = self.base().wrapping_add(offset as usize);
        assert!(offset as usize + length as usize <= BYTES);
        // SAFETY: inside the memory; one thread.
        unsafe { at.write_bytes(value, length as usize) };
    }

    pub fn view(&self) -> QueueView {
        QueueView::new(self.config, &self.regions.map).unwrap()
    }

    pub fn free(&self) -> u32 {
        self.credit.free(SIZE, self.sq.position)
    }
}

/// A flow between two hosts.
pub struct Pair {
    pub shared: &'static FlowShared,
    pub flow: Flow<NoInstrument, NoInstrument>,
    pub tx: Side,
    pub rx: Side,
    /// Number of the next packet. All its bytes have this value.
    pub next: u8,
    /// Long copies are shared through the board.
    pub share: bool,
    /// Factor of all lengths. Only long copies are shared.
    pub unit: u32,
}

/// A policy that shares everything.
pub fn policy(share: bool) -> Option<SharePolicy> {
    share.then_some(SharePolicy { near: false, packet: 1, total: 0, room: 0 })
}

pub fn unit(share: bool) -> u32 {
    if share { 40 } else { 1 }
}

/// Bytes of a packed area.
pub fn area(share: bool) -> u32 {
    4096 * unit(share)
}

impl Pair {
    pub fn new(kind: QueueKind, share: bool) -> Self {
        Self::with_policy(kind, policy(share))
    }

    pub fn with_policy(kind: QueueKind, policy: Option<SharePolicy>) -> Self {
        Self::between(Side::new(kind, area(policy.is_some())), kind, policy)
    }

    /// A receiver with wide completions.
    pub fn wide() -> Self {
        let mut rx = Side::new(QueueKind::Rx, 0);
        rx.config.setup.options |= queue_options::BESIDE;
        // SAFETY: 64 bytes for each entry end before `DATA`; aligned.
        rx.cq = Consumer::new(unsafe { Ring::wide(rx.cq.ring.first(), LOG2) });
        Self::between(rx, QueueKind::Rx, None)
    }

    fn between(rx: Side, kind: QueueKind, policy: Option<SharePolicy>) -> Self {
        let share = policy.is_some();
        let shared: &'static FlowShared = Box::leak(Box::default());
        let tx = Side::new(QueueKind::Tx, 0);
        let mut state = RxState::default();
        if kind == QueueKind::RxPacked {
            RxPacked::start(&mut state, &rx.view());
        }
        // SAFETY: no other thread knows the flow.
        unsafe {
            *shared.rx.get() = state;
            *shared.tx_config.get() = tx.config;
            *shared.rx_config.get() = rx.config;
        }
        let regions = (tx.regions.clone(), rx.regions.clone());
        let mut flow = Flow::new(shared, regions.0, regions.1, None, 7, policy);
        assert_eq!(flow.bind(), Ok(()));
        // The bytes of a packed area are never shared.
        let (share, unit) = (share && kind != QueueKind::RxPacked, unit(share));
        Self { shared, flow, tx, rx, next: 1, share, unit }
    }

    /// Bytes of a receive buffer.
    pub fn buffer(&self) -> u32 {
        64 * self.unit
    }

    /// Posts a packet, or a piece of one, of `length` units. Does nothing while the ring is full.
    pub fn post(&mut self, length: u32, end: EndMarker, signal: bool) {
        if self.tx.free() == 0 {
            return;
        }
        let slot = u64::from(self.tx.sq.position % SIZE);
        let (offset, length) = (DATA + slot * 1024 * u64::from(self.unit), length * self.unit);
        self.tx.fill(offset, length, self.next);
        if end != EndMarker::None {
            self.next = self.next.wrapping_add(1).max(1);
        }
        let signal = if signal { sf::SIGNAL } else { 0 };
        let flags = u16::from(EntryType::Data.raw()) | u16::from(end.raw()) << sf::END_SHIFT;
        let word = u64::from(length) | u64::from(flags | signal) << 32;
        self.tx.sq.push([Address::new(KEY, offset).0, word]);
    }

    pub fn post_buffer(&mut self) {
        if self.rx.free() != 0 {
            let slot = u64::from(self.rx.sq.position % SIZE);
            let address = Address::new(KEY, DATA + slot * u64::from(self.buffer())).0;
            let flags = u64::from(EntryType::Buffer.raw()) << 32;
            self.rx.sq.push([address, u64::from(self.buffer()) | flags]);
        }
    }

    pub fn step(&mut self, budget: u32) {
        self.flow.step(&mut Quiet, budget);
    }

    /// Runs the flow as its owner does after it has posted something.
    pub fn run_posted(&mut self) -> SingleEnd {
        let end = self.flow.move_single(1);
        if end == SingleEnd::Refused {
            assert!(self.shared.seat.enter(1));
        }
        let done = match end {
            SingleEnd::Moved | SingleEnd::Awaited => true,
            SingleEnd::Entered | SingleEnd::Refused => self.flow.sweep(&mut Quiet, true),
        };
        self.shared.seat.leave();
        if !done {
            self.step(1000);
        }
        end
    }

    /// Steps until there is no more to do. False if a packet waits for room.
    pub fn drain(&mut self) -> bool {
        loop {
            match self.flow.step(&mut Quiet, 1000) {
                StepOutcome::More(_) => {}
                outcome => return !matches!(outcome, StepOutcome::Stalled(_)),
            }
        }
    }

    pub fn states(&self) -> (TxState, RxState) {
        // SAFETY: one thread.
        unsafe { (*self.shared.tx.get(), *self.shared.rx.get()) }
    }

    pub fn set_states(&self, tx: TxState, rx: RxState) {
        // SAFETY: one thread.
        unsafe {
            *self.shared.tx.get() = tx;
            *self.shared.rx.get() = rx;
        }
    }
}

/// Packets received so far, with whether each was cut.
#[derive(Default)]
pub struct Got {
    pub open: Vec<u8>,
    pub packets: Vec<(Vec<u8>, bool)>,
}

impl Got {
    pub fn add(&mut self, bytes: &[u8], more: bool, cut: bool) {
        self.open.extend_from_slice(bytes);
        if !more {
            self.packets.push((std::mem::take(&mut self.open), cut));
        }
    }

    /// Checks that no packet has bytes of two, and that each number occurs once and in order.
    pub fn check(&self) {
        let mut last = 0;
        for (bytes, cut) in &self.packets {
            let Some(first) = bytes.first() else {
                assert!(cut, "an empty packet without EEP");
                continue;
            };
            let other = bytes.iter().find(|byte| *byte != first);
            assert!(other.is_none(), "packets {first} and {other:?} are joined");
            assert!(*first > last, "packet {first} after packet {last}");
            last = *first;
        }
    }
}

pub fn poll_posted(pair: &mut Pair, got: &mut Got) {
    loop {
        let position = pair.rx.cq.position;
        let Some(words) = pair.rx.cq.pop() else { break };
        let done = Completion::from_words(words);
        let freed = pair.rx.credit.free_to(done.position, pair.rx.sq.position);
        let freed = freed.expect("the position of an outstanding entry");
        assert_eq!(freed.len(), 1, "one completion for each buffer");
        let offset = match done.flags & cf::BESIDE {
            0 => DATA + u64::from(freed.start % SIZE) * u64::from(pair.buffer()),
            _ => CQ + 64 * u64::from(position % SIZE) + 24,
        };
        let bytes = pair.rx.bytes(offset, done.bytes);
        let more = done.flags & cf::MORE != 0;
        got.add(&bytes, more, done.status == Status::PacketCut.raw());
    }
}

pub fn poll_packed(pair: &mut Pair, reader: &mut PackedReader, got: &mut Got) {
    let (mut owed, mut runs) = (0u32, 0u32);
    while let Some(words) = pair.rx.cq.pop() {
        let done = Completion::from_words(words);
        let run = reader.run(done.bytes, done.flags & cf::WRAP != 0).expect("a run in the area");
        owed += run.owed;
        runs += 1;
        let (mut at, end) = (run.offset, run.offset + run.bytes);
        let mut records = 0;
        while at < end {
            let header = pair.rx.bytes(DATA + u64::from(at), 8);
            let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
            assert!(at + 8 + length <= end, "a record exceeds its run");
            let bytes = pair.rx.bytes(DATA + u64::from(at) + 8, length);
            got.add(&bytes, header[5] != 0, header[4] == EndMarker::Eep.raw());
            at += spfe_ring::packed::record_bytes(length);
            records += 1;
        }
        assert_eq!(records, u32::from(done.packets));
    }
    if runs != 0 {
        let word = u64::from(EntryType::Release.raw()) << 32;
        pair.rx.sq.push([u64::from(owed) | u64::from(runs) << 32, word]);
    }
}

pub fn poll_tx(pair: &mut Pair) -> Vec<Completion> {
    let mut all = Vec::new();
    while let Some(words) = pair.tx.cq.pop() {
        let done = Completion::from_words(words);
        let freed = pair.tx.credit.free_to(done.position, pair.tx.sq.position);
        freed.unwrap_or_else(|| panic!("{done:?} names no outstanding entry"));
        all.push(done);
    }
    all
}
