//! Queue pairs: two hosts that write anything into their rings of work requests and buffers, at any
//! time. The device touches nothing behind their regions, writes completions only within its own
//! rings, and stops.

use crate::memory::{BEHIND, bytes, bytes_mut, is_all, pooled};
use arbitrary::Arbitrary;
use spfe_contract::{
    Completion, EntryType, InlineSubmission, Operand, QueueKind, QueueSetup, Submission, WorkEntry, access,
    queue_options, queue_pair, submit_flags as sf, work_flags as wf,
};
use spfe_device::flow::{FlowPairs, NoInstrument};
use spfe_device::memory::{Address, RegionKey, RegionMap, RegionShared, RegionTag, Regions};
use spfe_device::queue::Host;
use spfe_device::rdma::RdmaChannel;
use spfe_device::shared::{QueueConfig, RxState, TxState};
use spfe_device::{Flow, FlowShared};
use spfe_host::SharedMemory;
use spfe_ring::sync::{AtomicU64, Ordering};
use spfe_ring::{AtomicDeviceLine, Ring, Slot};
use std::sync::Arc;

/// Entries of a ring, log2.
const LOG2: u32 = 5;
/// Memory of the lines and rings of one queue.
const QUEUE: u64 = 4096;
/// Start of the bytes that requests use, and the end of the region.
const DATA: u64 = 2 * QUEUE;
const REGION: u64 = 32 << 10;
const MEMORY: usize = 64 << 10;
const KEY: RegionKey = RegionKey::new(1, 3);
const SQ: u64 = 128;
const CQ: u64 = SQ + (16 << LOG2);
const STAMPS: u64 = CQ + (16 << LOG2);

#[derive(Arbitrary, Debug)]
struct Input {
    receive: [bool; 2],
    partner: u8,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// A work request, more or less right.
    Work {
        side: bool,
        opcode: u8,
        flags: u16,
        key: u32,
        address: u16,
        operands: u8,
        elements: Vec<Element>,
    },
    Buffer {
        side: bool,
        offset: u16,
        length: u16,
    },
    /// Any words in the next slot of a ring.
    Slot {
        side: bool,
        receive: bool,
        words: [u64; 2],
    },
    /// Any word anywhere in the memory of a queue.
    Scribble {
        side: bool,
        word: u16,
        value: u64,
    },
    Run {
        side: bool,
        budget: u8,
    },
    Time(u32),
    /// Takes completions.
    Take {
        side: bool,
    },
    Close {
        side: bool,
        send: bool,
    },
}

#[derive(Arbitrary, Debug)]
enum Element {
    Data { offset: u16, length: u16 },
    Far { offset: u64, length: u32, key: u16 },
    Inline { count: u8, bytes: u64 },
}

struct Quiet(u64);

impl Host for Quiet {
    fn now_ns(&mut self) -> u64 {
        self.0
    }
    fn wake(&mut self, _: &AtomicDeviceLine, _: &QueueConfig, _: bool) {}
}

thread_local! {
    /// The flows out of the two sides, and the tables of their regions.
    static FLOWS: [&'static FlowShared; 2] = [leak(), leak()];
    static TABLES: [&'static [RegionShared]; 2] = [table(), table()];
}

fn leak() -> &'static FlowShared {
    Box::leak(Box::default())
}

fn table() -> &'static [RegionShared] {
    Box::leak((0..4).map(|_| RegionShared::default()).collect::<Box<[_]>>())
}

/// One end: its memory, and the positions of its host.
struct Side {
    memory: Arc<SharedMemory>,
    regions: Regions,
    channel: Arc<RdmaChannel>,
    /// Positions of the next submission and completion, of the RDMA and of the RDMA_RX queue.
    posted: [u32; 2],
    taken: [u32; 2],
}

impl Side {
    fn new(number: usize, out: &'static FlowShared, into: &'static FlowShared) -> Self {
        let memory = pooled(number, MEMORY);
        bytes_mut(&memory)[..REGION as usize].fill(0);
        bytes_mut(&memory)[REGION as usize..].fill(BEHIND);
        let remote = access::REMOTE_READ | access::REMOTE_WRITE;
        let tag = RegionTag::new(KEY, 0, access::LOCAL_READ | access::LOCAL_WRITE | remote);
        let map = Arc::new(RegionMap::default());
        // SAFETY: the memory is kept, and the flows of this run end before it.
        unsafe { map.set(tag, memory.base().as_ptr(), REGION) };
        let table = TABLES.with(|tables| tables[number]);
        table[KEY.index()].tag.store(tag.0, Ordering::Relaxed);
        let channel = Arc::new(RdmaChannel::new(out, into));
        let regions = Regions { map, table };
        Self { memory, regions, channel, posted: [0; 2], taken: [0; 2] }
    }

    fn ring(&self, receive: bool, offset: u64) -> Ring {
        let at = QUEUE * u64::from(receive) + offset;
        // SAFETY: inside the memory, aligned to 64 bytes.
        unsafe { Ring::new(self.memory.base().add(at as usize).cast::<Slot>(), LOG2) }
    }

    fn config(&self, receive: bool, partner: u8) -> QueueConfig {
        let at = |offset| Address::new(KEY, QUEUE * u64::from(receive) + offset).0;
        let kind = if receive { QueueKind::RdmaRx } else { QueueKind::Rdma };
        let pair = 5 << queue_pair::OWN_SHIFT
            | u64::from(partner % 8) << queue_pair::PARTNER_SHIFT
            | 0xfe << queue_pair::ADDRESS_SHIFT
            | 0xfe << queue_pair::TARGET_SHIFT
            | 8 << queue_pair::SEGMENT_LOG2_SHIFT;
        let setup = QueueSetup {
            kind: u32::from(kind.raw()),
            options: queue_options::REMOTE_KEYS,
            sq_log2: LOG2,
            cq_log2: LOG2,
            sq: at(SQ),
            cq: at(CQ),
            stamp: at(STAMPS),
            lines: at(0),
            pair,
            limits: 10 << 32 | 2,
            ..QueueSetup::default()
        };
        QueueConfig { setup, ..QueueConfig::default() }
    }

    fn post(&mut self, receive: bool, words: [u64; 2]) {
        let position = self.posted[usize::from(receive)];
        self.ring(receive, SQ).write(position, words);
        self.posted[usize::from(receive)] = position.wrapping_add(1);
    }

    /// Publishes the slots of a request, the first one last.
    fn post_all(&mut self, slots: &[[u64; 2]]) {
        let first = self.posted[0];
        for (ahead, slot) in slots.iter().enumerate().rev() {
            self.ring(false, SQ).write(first.wrapping_add(ahead as u32), *slot);
        }
        self.posted[0] = first.wrapping_add(slots.len() as u32);
    }

    fn take(&mut self) {
        for receive in [false, true] {
            for _ in 0..1 << LOG2 {
                let position = self.taken[usize::from(receive)];
                let Some(words) = self.ring(receive, CQ).read(position) else { break };
                let _ = Completion::from_words(words);
                self.taken[usize::from(receive)] = position.wrapping_add(1);
            }
        }
    }
}

fn slot(kind: EntryType, word0: u64, middle: u32) -> [u64; 2] {
    [word0, u64::from(kind.raw()) << 32 | u64::from(middle)]
}

fn element(element: &Element) -> [u64; 2] {
    match *element {
        Element::Data { offset, length } => {
            let offset = DATA + u64::from(offset) % (REGION - DATA);
            slot(EntryType::Data, Address::new(KEY, offset).0, u32::from(length % 2048))
        }
        Element::Far { offset, length, key } => {
            let submission = Submission { offset, region: key, length, ..Submission::default() };
            let words = submission.to_words();
            [words[0], words[1] | u64::from(EntryType::Data.raw()) << 32]
        }
        Element::Inline { count, bytes } => {
            let inline = InlineSubmission {
                data_lo: bytes,
                count: count % 16,
                data_hi: bytes as u32,
                flags: u16::from(EntryType::Inline.raw()),
                ..InlineSubmission::default()
            };
            inline.to_words()
        }
    }
}

crate::target!(|input: Input| {
    let flows = FLOWS.with(|flows| *flows);
    for flow in flows {
        // SAFETY: one thread, and no flow of an earlier run exists.
        unsafe {
            (*flow.tx.get(), *flow.rx.get()) = (TxState::default(), RxState::default());
            *flow.tx_config.get() = QueueConfig::default();
            *flow.rx_config.get() = QueueConfig::default();
        }
    }
    let mut sides = [Side::new(0, flows[0], flows[1]), Side::new(1, flows[1], flows[0])];
    for (index, side) in sides.iter().enumerate() {
        let opened = side.channel.open(true, side.config(false, input.partner));
        assert_eq!(opened, Ok(()), "a plain configuration");
        if input.receive[index] {
            assert_eq!(side.channel.open(false, side.config(true, input.partner)), Ok(()));
        }
    }
    let time = Arc::new(AtomicU64::new(1));
    let mut runs: [Flow<NoInstrument, NoInstrument>; 2] = [0, 1].map(|index| {
        let (near, far) = (&sides[index], &sides[1 - index]);
        let (tx, rx) = (near.regions.clone(), far.regions.clone());
        let mut flow = Flow::new(flows[index], tx, rx, None, 7, None);
        let clock = time.clone();
        flow.set_pairs(FlowPairs {
            tx: Some(near.channel.clone()),
            rx: Some(far.channel.clone()),
            clock: Arc::new(move || clock.load(Ordering::Relaxed)),
        });
        assert_eq!(flow.bind(), Ok(()));
        flow
    });
    for step in input.steps {
        match step {
            Step::Work { side, opcode, flags, key, address, operands, elements } => {
                let kind = u16::from(EntryType::Rdma.raw());
                let flags = kind
                    | flags & (wf::SIGNAL | wf::LAST | wf::FENCE | wf::SOLICITED)
                    | u16::from(opcode & 15) << wf::OPCODE_SHIFT;
                // Few keys and addresses, so that some requests find what others have bound.
                let options = key % 64;
                let (key, address) = (1 + (key % 6) * 0x800, u64::from(address) % 4096);
                let work = WorkEntry { address, key, flags, phase: 0 };
                let mut slots = vec![work.to_words()];
                let (first, rest) = elements.split_at(elements.len().min(1));
                slots.extend(first.iter().map(element));
                for value in 0..u64::from(operands % 4) {
                    let flags = u16::from(EntryType::Operand.raw());
                    let operand = Operand { value, immediate: options, flags, phase: 0 };
                    slots.push(operand.to_words());
                }
                slots.extend(rest.iter().take(5).map(element));
                let last = slots.len() - 1;
                for slot in &mut slots[..last] {
                    slot[1] |= u64::from(sf::CHAIN) << 32;
                }
                sides[usize::from(side)].post_all(&slots);
            }
            Step::Buffer { side, offset, length } => {
                let offset = DATA + u64::from(offset) % (REGION - DATA);
                let address = Address::new(KEY, offset).0;
                let words = slot(EntryType::Buffer, address, u32::from(length % 4096));
                sides[usize::from(side)].post(true, words);
            }
            Step::Slot { side, receive, words } => sides[usize::from(side)].post(receive, words),
            Step::Scribble { side, word, value } => {
                let at = usize::from(word) % (DATA as usize / 8) * 8;
                bytes_mut(&sides[usize::from(side)].memory)[at..at + 8]
                    .copy_from_slice(&value.to_le_bytes());
            }
            Step::Run { side, budget } => {
                let now_ns = time.load(Ordering::Relaxed);
                let run = &mut runs[usize::from(side)];
                if run.is_stale() {
                    let _ = run.bind();
                }
                run.step(&mut Quiet(now_ns), u32::from(budget));
            }
            Step::Time(ns) => {
                time.fetch_add(u64::from(ns), Ordering::Relaxed);
            }
            Step::Take { side } => sides[usize::from(side)].take(),
            Step::Close { side, send } => {
                sides[usize::from(side)].channel.close(send);
                flows.iter().for_each(|flow| flow.bump_epoch());
            }
        }
        for side in &sides {
            assert!(is_all(&bytes(&side.memory)[REGION as usize..], BEHIND), "behind the region");
        }
    }
});
