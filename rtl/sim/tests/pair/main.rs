//! A queue pair of an endpoint, from registers and rings alone: a driver enables a queue of kind RDMA
//! and posts work requests. At the far end of an exact link is a target of the model. Memory, link and
//! target stall, and words are damaged.

mod beside;
mod messages;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use spfe_contract::{
    BlockType, Command, Completion, EntryType, InlineSubmission, Operand, QueueKind,
    QueuePairState, QueueState, Status, Submission, WorkEntry, WorkOpcode, access, arm_flags,
    capability, completion_flags as cf, device_line, doorbell, event_block as event,
    global_block as global, pair_limits, pair_status, port_block, queue_block as queue,
    queue_options, queue_pair, region_block as region, statistics_block as statistics,
    submit_flags as sf, work_flags as wf,
};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Info, Opcode, SfrpStatus};
use spfe_rdma::{
    RdmaInitiator, RdmaTarget, RdmaTargetOptions, RegionRights, RemoteKey, TargetRegion,
};
use spfe_rtl_sim::endpoint::{Endpoint, PORTS};
use spfe_rtl_sim::{damage, once_in, seeds};

const VCS: usize = 4;
const EVENTS: usize = 8;
const CYCLE_PS: u64 = 6400;
/// The contexts of the queue pair's channel, and of another one.
const PAIR: u32 = 0;
const RECEIVE: u32 = 1;
const OTHER: u32 = 2;
/// Regions: rings and data, data that may only be read, and the same in another domain.
const RINGS: u64 = 0x1_0000;
const READ_ONLY: u64 = 0x4_0000;
const BYTES: u64 = 0x1_0000;
const DOMAIN: u32 = 3;
/// log2 of the entries of the rings, and where they are in the region.
const LOG2: u32 = 5;
const CQ: u64 = 0x200;
const STAMPS: u64 = 0x400;
const LINES: u64 = 0x800;
/// Local bytes, from the start of the region: what is written, and where reads arrive.
const FROM: u64 = 0x1000;
const TO: u64 = 0x8000;
/// Remote memory: its key, and that of a region that may only be read.
const KEY: u32 = 2 << 12 | 0x5a1;
const REMOTE: u64 = 0x1_0000;
const READ_KEY: u32 = 3 << 12 | 0x5a2;
/// Number of the queue pair with a receive queue.
const PARTNER: u16 = 9;
/// Time-out of a message, us, and repetitions.
const TIMEOUT_US: u64 = 100;
const RETRIES: u64 = 3;
/// Cycles in which a request ends, with all repetitions.
const MOST: u32 = 1_500_000;
/// Lengths of a beat, around it, of a segment, and around the payload of a frame.
const LENGTHS: [u32; 9] = [0, 1, 15, 16, 17, 2948, 4095, 4096, 9000];

type Port = SpaceFibrePort<Vec<Word>, 1, VCS>;

/// The far end of port 0: a target on channel 0, and what comes on the same channel without being
/// for it. Nothing is at port 1.
struct Far {
    port: Port,
    target: RdmaTarget,
    /// Sends messages to the core, with its memory.
    initiator: Option<(RdmaInitiator, Vec<Vec<u8>>)>,
    /// Uses a target of the core, on another channel.
    side: Option<beside::Side>,
    rng: fastrand::Rng,
    /// One of so many words is damaged; 0: none.
    errors: u32,
    cables: [VecDeque<Option<Word>>; 2],
    cycle: u64,
    out: VecDeque<Word>,
    bytes: Vec<u8>,
    /// Packets that are not SFRP, and packets that were cut.
    others: Vec<Vec<u8>>,
    cut: u32,
    /// The target answers.
    lives: bool,
    /// The far user takes words.
    listens: bool,
    plugged: bool,
}

fn model() -> Port {
    let memory = || vec![Word::default(); 512];
    let buffers = Buffers {
        output: std::array::from_fn(|_| memory()),
        input: std::array::from_fn(|_| memory()),
        recovery: memory(),
    };
    let link = DataLink::new(DataLinkConfig::default(), buffers).expect("is valid");
    SpaceFibrePort::new_starting(link, MultiLane::new(&MultiLaneConfig::new()))
}

fn words(packet: &[u8]) -> impl Iterator<Item = Word> {
    let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
    symbols.push((k::EOP, true));
    symbols.resize(symbols.len().next_multiple_of(4), (k::FILL, true));
    let words: Vec<_> = symbols
        .chunks(4)
        .map(|four| {
            let flags = (0..4).map(|index| u8::from(four[index].1) << index).sum();
            Word::from_symbols(std::array::from_fn(|index| four[index].0), flags)
        })
        .collect();
    words.into_iter()
}

impl Far {
    fn new(seed: u64) -> Self {
        let mut target = RdmaTarget::new(RdmaTargetOptions {
            logical_address: 0x42,
            ..RdmaTargetOptions::default()
        });
        let read_only = TargetRegion {
            rights: RegionRights { read: true, ..RegionRights::default() },
            ..TargetRegion::new("read", REMOTE)
        };
        for (key, region) in [(KEY, TargetRegion::new("data", REMOTE)), (READ_KEY, read_only)] {
            assert!(target.regions_mut().add_at(RemoteKey(key), region));
        }
        target.open_queue(PARTNER).expect("is free");
        Self {
            port: model(),
            target,
            initiator: None,
            side: None,
            rng: fastrand::Rng::with_seed(seed),
            errors: 0,
            cables: [(); 2].map(|()| vec![None; 7].into()),
            cycle: 0,
            out: VecDeque::new(),
            bytes: Vec::new(),
            others: Vec::new(),
            cut: 0,
            lives: true,
            listens: true,
            plugged: true,
        }
    }

    fn now_ns(&self) -> u64 {
        self.cycle * CYCLE_PS / 1000
    }

    /// A cycle of the link: the word of the core arrives, and the next one for it is returned.
    fn step(&mut self, said: Option<Word>) -> Option<Word> {
        self.cycle += 1;
        if self.out.is_empty()
            && let Some(vc) = self.target.waiting_vc()
        {
            let mut packet = Vec::new();
            self.target.respond(vc, &mut packet).expect("has a response");
            self.out.extend(words(&packet));
        }
        let now = self.now_ns();
        if self.out.is_empty()
            && let Some((initiator, memory)) = &mut self.initiator
        {
            let mut packet = vec![0; initiator.packet_bytes_max()];
            if let Some(bytes) = initiator.transmit(now, memory, &mut packet) {
                self.out.extend(words(&packet[..bytes]));
            }
            initiator.tick(now);
        }
        if let Some(word) = self.out.front().copied()
            && self.rng.u8(..4) != 0
            && self.port.link.write(0, &[word]) == 1
        {
            self.out.pop_front();
        }
        if self.listens && self.rng.u8(..4) != 0 {
            let mut one = [Word::default()];
            if self.port.link.read(0, &mut one) == 1 {
                self.take(one[0]);
            }
        }
        if let Some(side) = &mut self.side {
            side.step(&mut self.port, now, &mut self.rng);
        }
        let errors = self.errors;
        let plugged = self.plugged;
        let mut pass = |cable: usize, word: Option<Word>, rng: &mut fastrand::Rng| {
            let hit = errors != 0 && once_in(rng, errors);
            let word = word.map(|word| if hit { damage(rng, word) } else { word });
            self.cables[cable].push_back(word.filter(|_| plugged));
            self.cables[cable].pop_front().flatten()
        };
        let [word] = self.port.transmit();
        let to_core = pass(0, word, &mut self.rng);
        let to_far = pass(1, said, &mut self.rng);
        self.port.receive([to_far]);
        to_core
    }

    fn take(&mut self, word: Word) {
        for (index, symbol) in word.symbols().into_iter().enumerate() {
            match (word.k >> index & 1 != 0, symbol) {
                (false, byte) => self.bytes.push(byte),
                (true, k::FILL) => {}
                (true, end) => {
                    let packet = std::mem::take(&mut self.bytes);
                    self.cut += u32::from(end != k::EOP);
                    let end = if end == k::EOP { PacketEnd::Eop } else { PacketEnd::Eep };
                    let now = self.now_ns();
                    // A packet of a transmit queue begins with this byte.
                    if packet.first() == Some(&0x77) {
                        self.others.push(packet);
                    } else if let Some((initiator, memory)) = &mut self.initiator
                        && let Some(code) = packet.get(3)
                        && (code & 0x80 != 0 || *code == Opcode::Credit as u8)
                    {
                        initiator.handle(&packet, end, now, memory);
                    } else if self.lives {
                        self.target.handle(&packet, end, 0, now);
                    }
                }
            }
        }
    }

    fn remote(&self, at: u64, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        let region = self.target.regions().get(RemoteKey(KEY)).expect("is there");
        region.memory.read(at, &mut out).expect("is inside");
        out
    }
}

struct Bed {
    device: Endpoint,
    far: Rc<RefCell<Far>>,
    rng: fastrand::Rng,
    queues: u32,
    statistics: u32,
    regions: u32,
    ports: u32,
    events: u32,
    /// Keys of the regions, in the place of an address.
    keys: [u64; 3],
    posted: u32,
    completed: u32,
}

/// A local element.
fn data(address: u64, length: u32) -> [u64; 2] {
    let flags = EntryType::Data.raw().into();
    let (offset, region) = (address & ((1 << 48) - 1), (address >> 48) as u16);
    Submission { offset, region, length, flags, phase: 0 }.to_words()
}

fn operand(value: u64, immediate: u32) -> [u64; 2] {
    Operand { value, immediate, flags: EntryType::Operand.raw().into(), phase: 0 }.to_words()
}

/// The first slot of a request with these flags.
fn work(opcode: WorkOpcode, key: u32, address: u64, flags: u16) -> [u64; 2] {
    let opcode = u16::from(opcode.raw()) << wf::OPCODE_SHIFT;
    let flags = u16::from(EntryType::Rdma.raw()) | wf::CHAIN | opcode | flags;
    WorkEntry { address, key, flags, ..WorkEntry::default() }.to_words()
}

fn with_flags(slot: [u64; 2], flags: u16) -> [u64; 2] {
    [slot[0], slot[1] ^ u64::from(flags) << 32]
}

impl Bed {
    fn new(seed: u64) -> Self {
        Self::with(seed, 0)
    }

    /// A core with a target of so many entries beside the queue pair.
    fn with(seed: u64, target: usize) -> Self {
        println!("seed {seed}");
        let far = Rc::new(RefCell::new(Far::new(seed)));
        let hook = Rc::clone(&far);
        let hook =
            Box::new(move |said: &[Option<Word>]| vec![hook.borrow_mut().step(said[0]), None]);
        // Without a target those of tests/endpoint, so that both use one model.
        let mut parameters = vec![("Regions", 16), ("Events", EVENTS), ("Pages", 64), ("Pairs", 1)];
        parameters.extend((target > 0).then_some(("Target", target)));
        let mut device = Endpoint::with(&parameters, (PORTS, EVENTS), Some(hook), seed);
        let (mut blocks, mut at) = (Vec::new(), 0);
        loop {
            let (first, second) = (device.read64(at), device.read64(at + 8));
            let kind = BlockType::from_raw(first as u16).expect("a type of the contract");
            blocks.push((kind, at, at + (first >> 32) as u32));
            at = second as u32;
            if at == 0 || blocks.len() == 32 {
                break;
            }
        }
        let find = |kind| *blocks.iter().find(|block| block.0 == kind).expect("is there");
        let rng = fastrand::Rng::with_seed(seed);
        let mut bed = Self {
            device,
            far,
            rng,
            queues: find(BlockType::Queue).2,
            statistics: find(BlockType::Statistics).2,
            regions: find(BlockType::Region).2,
            ports: find(BlockType::Port).1,
            events: find(BlockType::Event).2,
            keys: [0; 3],
            posted: 0,
            completed: 0,
        };
        let has = bed.device.read(global::CAPABILITY);
        assert_eq!(has & (capability::RDMA | capability::REMOTE_KEYS), capability::RDMA);
        let both = access::LOCAL_READ | access::LOCAL_WRITE;
        bed.region(0, RINGS, both, DOMAIN);
        bed.region(1, READ_ONLY, access::LOCAL_READ, DOMAIN);
        bed.region(2, READ_ONLY, both, DOMAIN + 1);
        bed.device.write(bed.ports + port_block::LINK_START, 1);
        assert_eq!(bed.command(Command::PortConfigure, 0), Status::Ok);
        bed.device.until("the link is up", |device| device.up & 1 != 0);
        bed
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        let status = self.device.command(command.raw().into(), index);
        u8::try_from(status).ok().and_then(Status::from_raw).expect("a status of the contract")
    }

    fn region(&mut self, index: u32, base: u64, access: u32, domain: u32) {
        let at = self.regions + region::STRIDE * index;
        self.device.write64(at + region::BASE_LO, base);
        self.device.write64(at + region::SIZE_LO, BYTES);
        self.device.write(at + region::ACCESS, access);
        self.device.write(at + region::DOMAIN, domain);
        assert_eq!(self.command(Command::RegionEnable, index), Status::Ok);
        self.keys[index as usize] = u64::from(self.device.read(at + region::KEY)) << 48;
    }

    /// Writes a context, and zeroes its rings.
    fn context(&mut self, number: u32, kind: QueueKind, partner: u16) {
        let at = self.queues + queue::STRIDE * number;
        for (register, value) in [
            (queue::KIND, u32::from(kind.raw())),
            (queue::OPTIONS, queue_options::STAMP),
            (queue::DOMAIN, DOMAIN),
            (queue::VECTOR, number),
            (queue::SQ_LOG2, LOG2),
            (queue::CQ_LOG2, LOG2),
        ] {
            self.device.write(at + register, value);
        }
        let pair = 7 << queue_pair::OWN_SHIFT
            | u64::from(partner) << queue_pair::PARTNER_SHIFT
            | 0x50 << queue_pair::ADDRESS_SHIFT
            | 0x42 << queue_pair::TARGET_SHIFT;
        let limits = RETRIES << pair_limits::RETRIES_SHIFT
            | 7 << pair_limits::NOT_READY_SHIFT
            | TIMEOUT_US << pair_limits::TIMEOUT_US_SHIFT;
        for (register, value) in [
            (queue::SQ_LO, self.keys[0]),
            (queue::CQ_LO, self.keys[0] + CQ),
            (queue::STAMP_LO, self.keys[0] + STAMPS),
            (queue::LINES_LO, self.keys[0] + LINES),
            (queue::PAIR_LO, pair),
            (queue::LIMITS_LO, limits),
            (queue::PATH_LO, 0),
            (queue::REPLY_LO, 0),
        ] {
            self.device.write64(at + register, value);
        }
        let rings = RINGS as usize..(RINGS + LINES) as usize;
        self.device.memory[rings].fill(0);
        (self.posted, self.completed) = (0, 0);
    }

    fn start(&mut self, partner: u16) {
        self.context(PAIR, QueueKind::Rdma, partner);
        assert_eq!(self.command(Command::QueueEnable, PAIR), Status::Ok);
    }

    fn stop(&mut self) {
        assert_eq!(self.command(Command::QueueDisable, PAIR), Status::Ok);
    }

    fn put(&mut self, at: u64, words: [u64; 2]) {
        let at = at as usize;
        self.device.memory[at..at + 8].copy_from_slice(&words[0].to_le_bytes());
        self.device.memory[at + 8..at + 16].copy_from_slice(&words[1].to_le_bytes());
    }

    fn word(&self, at: u64) -> u64 {
        let at = at as usize;
        u64::from_le_bytes(self.device.memory[at..at + 8].try_into().expect("eight bytes"))
    }

    fn local(&mut self, at: u64, bytes: u32) -> &mut [u8] {
        let at = (RINGS + at) as usize;
        &mut self.device.memory[at..at + bytes as usize]
    }

    /// Writes the slots of a request. Every one but the last has CHAIN.
    fn post(&mut self, slots: &[[u64; 2]]) {
        for (index, slot) in slots.iter().enumerate() {
            let chain = if index > 0 && index + 1 < slots.len() { sf::CHAIN } else { 0 };
            let phase = u64::from((self.posted >> LOG2) as u16 + 1) << 48;
            let at = RINGS + 16 * u64::from(self.posted % (1 << LOG2));
            let [low, high] = with_flags(*slot, chain);
            self.put(at, [low, high | phase]);
            self.posted += 1;
        }
    }

    fn ring(&mut self) {
        let page = self.device.read(global::DOORBELL_OFFSET);
        self.device.write64(page, u64::from(PAIR) & doorbell::QUEUE_MASK);
    }

    fn peek(&self) -> Option<Completion> {
        let at = RINGS + CQ + 16 * u64::from(self.completed % (1 << LOG2));
        let done = Completion::from_words([self.word(at), self.word(at + 8)]);
        (done.phase == (self.completed >> LOG2) as u16 + 1).then_some(done)
    }

    fn complete(&mut self) -> Completion {
        for _ in 0..MOST {
            if let Some(done) = self.peek() {
                let stamp = RINGS + STAMPS + 8 * u64::from(self.completed % (1 << LOG2));
                assert!(self.word(stamp) > 0 && done.flags & cf::STAMPED != 0, "has its time");
                self.completed += 1;
                return done;
            }
            self.device.run(1);
        }
        panic!("a request does not end: the line says {:#x}", self.pair_status());
    }

    fn pair_status(&self) -> u64 {
        self.word(RINGS + LINES + 64 + device_line::PAIR_OFFSET as u64)
    }

    fn state(&self) -> u8 {
        (self.pair_status() & pair_status::STATE_MASK) as u8
    }

    /// Posts a request that succeeds.
    fn succeed(&mut self, slots: &[[u64; 2]], bytes: u32) {
        self.post(slots);
        self.ring();
        let done = self.complete();
        let position = (self.posted - 1) as u16;
        assert_eq!(
            (done.status, done.position, done.packets, done.bytes),
            (0, position, 1, bytes),
            "{slots:x?}"
        );
    }

    /// Posts a request that fails. The queue pair starts anew afterwards.
    fn fail(&mut self, slots: &[[u64; 2]], status: Status, detail: SfrpStatus) {
        self.post(slots);
        self.ring();
        let done = self.complete();
        let position = (self.posted - 1) as u16;
        assert_eq!(Status::from_raw(done.status), Some(status), "{slots:x?}");
        assert_eq!((done.position, done.packets), (position, 1), "{slots:x?}");
        // Such a target says nothing of the requests before.
        let unknown = if detail == SfrpStatus::BAD_QUEUE { cf::UNKNOWN } else { 0 };
        assert_eq!((done.bytes, done.flags & cf::UNKNOWN), (detail.0.into(), unknown));
        // What is posted later ends, too.
        self.post(&[work(WorkOpcode::Flush, 0, 0, wf::SIGNAL), data(0, 0)]);
        self.ring();
        let done = self.complete();
        assert_eq!(Status::from_raw(done.status), Some(Status::Flushed));
        self.settle(QueuePairState::Error);
        self.stop();
        assert_eq!(self.pair_status(), 0);
        self.start(0);
    }

    fn settle(&mut self, state: QueuePairState) {
        for _ in 0..2000 {
            if self.state() == state.raw() {
                return;
            }
            self.device.run(1);
        }
        panic!("the line says {:#x}, not {state:?}", self.pair_status());
    }

    /// Writes random bytes and reads them back, into another place.
    fn write_and_read(&mut self, length: u32) {
        let mut bytes = vec![0; length as usize];
        self.rng.fill(&mut bytes);
        let from = FROM + self.rng.u64(..64);
        let to = TO + self.rng.u64(..64);
        let remote = self.rng.u64(..=REMOTE - u64::from(length));
        self.local(from, length).copy_from_slice(&bytes);
        self.local(to, length).fill(0xee);
        let write = work(WorkOpcode::Write, KEY, remote, wf::SIGNAL);
        self.succeed(&[write, data(self.keys[0] + from, length)], length);
        assert_eq!(self.far.borrow().remote(remote, bytes.len()), bytes, "{length} bytes");
        let read = work(WorkOpcode::Read, KEY, remote, wf::SIGNAL);
        self.succeed(&[read, data(self.keys[0] + to, length)], length);
        assert_eq!(self.local(to, length), bytes, "{length} bytes");
    }
}

#[test]
fn every_length_arrives_once() {
    for seed in seeds(1) {
        let mut bed = Bed::new(seed);
        bed.start(0);
        for length in LENGTHS {
            bed.write_and_read(length);
        }
        bed.far.borrow_mut().errors = 2000;
        for length in LENGTHS {
            bed.write_and_read(length);
        }
        assert_eq!(bed.state(), QueuePairState::Ready.raw());
    }
}

fn short(bytes: &[u8]) -> [u64; 2] {
    let byte = |at: usize| u64::from(bytes.get(at).copied().unwrap_or(0)) << (8 * (at % 8));
    InlineSubmission {
        data_lo: (0..8).map(byte).sum(),
        data_hi: (8..11).map(byte).sum::<u64>() as u32,
        count: bytes.len() as u8,
        flags: EntryType::Inline.raw().into(),
        phase: 0,
    }
    .to_words()
}

/// Atomic operations, messages with immediate data, inline bytes, several elements, and a group of
/// requests with one completion.
#[test]
fn requests_of_every_kind() {
    let mut bed = Bed::new(2);
    bed.start(0);
    let key = bed.keys[0];
    bed.write_and_read(100);
    let bytes: Vec<u8> = (1..=8).collect();
    let add = work(WorkOpcode::FetchAdd, KEY, 0x100, wf::SIGNAL);
    bed.succeed(&[work(WorkOpcode::Write, KEY, 0x100, wf::SIGNAL), short(&bytes)], 8);
    bed.succeed(&[add, data(key + TO, 8), operand(2, 0)], 8);
    assert_eq!(bed.local(TO, 8), bytes);
    let swap = work(WorkOpcode::CmpSwap, KEY, 0x100, wf::SIGNAL | wf::FENCE);
    let now = u64::from_le_bytes(bytes.try_into().expect("eight bytes")) + 2;
    bed.succeed(&[swap, data(0, 0), operand(now, 0), operand(77, 0)], 0);
    assert_eq!(bed.far.borrow().remote(0x100, 8), 77u64.to_le_bytes());
    bed.succeed(&[work(WorkOpcode::Flush, 0, 0, wf::SIGNAL), data(0, 0)], 0);
    // Four elements, of which one is of a region that may only be read.
    let gather = [
        work(WorkOpcode::Write, KEY, 0x203, 0),
        data(key + FROM + 1, 5),
        data(bed.keys[1] + 7, 20),
        data(0, 0),
        data(key + FROM + 40, 33),
    ];
    let expected: Vec<u8> = (0..58).map(|at: u8| at ^ 0xa5).collect();
    bed.local(FROM + 1, 5).copy_from_slice(&expected[..5]);
    let at = READ_ONLY as usize + 7;
    bed.device.memory[at..at + 20].copy_from_slice(&expected[5..25]);
    bed.local(FROM + 40, 33).copy_from_slice(&expected[25..]);
    // One completion for all of them.
    bed.post(&gather);
    bed.post(&[work(WorkOpcode::Write, KEY, 0x300, 0), short(b"hello")]);
    bed.post(&[work(WorkOpcode::Read, KEY, 0x203, wf::SIGNAL | wf::LAST), data(key + TO, 58)]);
    bed.ring();
    let done = bed.complete();
    let position = (bed.posted - 1) as u16;
    assert_eq!((done.status, done.position, done.packets), (0, position, 3));
    assert_eq!(done.bytes, 58 + 5 + 58);
    assert_eq!(bed.local(TO, 58), expected);
    assert_eq!(bed.far.borrow().remote(0x300, 5), b"hello");
    let counts = bed.statistics + statistics::STRIDE * PAIR;
    assert_eq!(bed.device.read(counts + statistics::ERRORS_LO), 0);
    assert_eq!(bed.device.read(counts + statistics::PACKETS_LO), 9);
    assert_eq!(bed.device.read(counts + statistics::BYTES_LO), 200 + 8 + 8 + 121);
    bed.stop();
    // Messages need a partner with a receive queue, and wait for a buffer.
    bed.start(PARTNER);
    let send = [
        work(WorkOpcode::SendImm, 0, 0, wf::SIGNAL | wf::SOLICITED),
        data(key + FROM + 40, 33),
        operand(0, 0xcafe_f00d),
    ];
    bed.post(&send);
    bed.ring();
    bed.device.run(20_000);
    assert!(bed.peek().is_none(), "there is no buffer yet");
    bed.far.borrow_mut().target.post_receive(PARTNER, 1, vec![0; 64]).expect("is open");
    let done = bed.complete();
    assert_eq!((done.status, done.bytes), (0, 33));
    let got = bed.far.borrow_mut().target.received(PARTNER).expect("is open").expect("has one");
    assert_eq!((got.bytes, got.immediate), (33, Some(0xcafe_f00d)));
    assert_eq!(got.buffer[..33], expected[25..]);
    // The host sleeps, and is woken.
    let armed = RINGS + LINES;
    let flags = u64::from(arm_flags::COUNT | arm_flags::EVENT) << 32;
    bed.device.write(bed.events + event::STRIDE * PAIR + event::ENABLE, 1);
    assert_eq!(bed.command(Command::Nop, 0), Status::Ok);
    let count = u64::from(bed.completed) + 1;
    bed.put(armed, [flags | 1, count]);
    let before = bed.device.messages[PAIR as usize];
    bed.far.borrow_mut().target.post_receive(PARTNER, 2, vec![0; 64]).expect("is open");
    bed.succeed(&[work(WorkOpcode::Send, 0, 0, wf::SIGNAL), short(b"wake up")], 7);
    let messages = move |device: &mut Endpoint| device.messages[PAIR as usize] > before;
    bed.device.until("the host is woken", messages);
}

/// INFO and REGIONS wait for earlier requests, and later ones wait for them. They have no number in
/// the sequence of messages, and are asked again when the answer is lost.
#[test]
fn a_target_tells_what_it_has() {
    let mut bed = Bed::new(6);
    bed.start(0);
    let place = data(bed.keys[0] + TO, 4096);
    let info = [work(WorkOpcode::Info, 0, 0, wf::SIGNAL), place];
    let regions = [work(WorkOpcode::Regions, 0, 0, wf::SIGNAL), place];
    let known = bed.far.borrow().target.regions().entries();
    // The first request connects.
    bed.post(&info);
    bed.ring();
    let done = bed.complete();
    assert_eq!(done.status, 0);
    let told = Info::decode(bed.local(TO, done.bytes)).expect("is one");
    assert_eq!(told.regions, 2);
    bed.far.borrow_mut().errors = 2000;
    for _ in 0..3 {
        bed.local(TO, 4096).fill(0);
        for at in 0..3 {
            let write = work(WorkOpcode::Write, KEY, at * 0x1000, 0);
            bed.post(&[write, data(bed.keys[0] + FROM, 700)]);
        }
        bed.post(&regions);
        bed.post(&[work(WorkOpcode::Write, KEY, 0x4000, wf::SIGNAL), short(b"behind")]);
        bed.ring();
        let done = [(); 2].map(|()| bed.complete());
        let wanted = [(0, 4, 3 * 700 + known.len() as u32), (0, 1, 6)];
        assert_eq!(done.map(|done| (done.status, done.packets, done.bytes)), wanted);
        assert_eq!(bed.local(TO, known.len() as u32), known);
        assert_eq!(bed.far.borrow().remote(0x4000, 6), b"behind");
        bed.write_and_read(2948);
    }
    let little = [regions[0], data(bed.keys[0] + TO, known.len() as u32 - 1)];
    bed.fail(&little, Status::TooLong, SfrpStatus::MESSAGE_TOO_LONG);
    bed.write_and_read(17);
    bed.far.borrow_mut().lives = false;
    bed.post(&info);
    bed.ring();
    let done = bed.complete();
    assert_eq!(Status::from_raw(done.status), Some(Status::NoAnswer));
}

/// What is wrong with a request, or refused by the target, costs its own queue pair, with a status.
#[test]
fn errors_have_a_status() {
    let mut bed = Bed::new(3);
    bed.start(0);
    let none = SfrpStatus(0);
    let element = data(bed.keys[0] + FROM, 8);
    let write = work(WorkOpcode::Write, KEY, 0, wf::SIGNAL);
    let read = work(WorkOpcode::Read, KEY, 0, wf::SIGNAL);
    let immediate = work(WorkOpcode::WriteImm, KEY, 0, wf::SIGNAL);
    let gone = data((bed.keys[0] ^ 0x1000 << 48) + FROM, 8);
    let cases: [(&[[u64; 2]], Status); 14] = [
        (&[with_flags(write, wf::MBZ0), element], Status::BadField),
        (&[with_flags(write, EntryType::Rdma.raw() as u16), element], Status::BadOpcode),
        (&[work(WorkOpcode::Info, 0, 0, wf::SIGNAL), short(b"x")], Status::BadField),
        (&[work(WorkOpcode::Bind, 0, 0, wf::SIGNAL), element, operand(0, 1)], Status::BadOpcode),
        (&[immediate, element], Status::BadField),
        (&[immediate, element, element], Status::BadOpcode),
        (&[read, short(b"x")], Status::BadField),
        (&[write, element, element, element, element, element], Status::ChainTooLong),
        (&[work(WorkOpcode::FetchAdd, KEY, 4, 0), element, operand(1, 0)], Status::BadField),
        (&[write, gone], Status::BadRegion),
        (&[write, data(bed.keys[0] + BYTES - 7, 8)], Status::OutOfBounds),
        (&[read, data(bed.keys[1], 8)], Status::AccessDenied),
        (&[write, data(bed.keys[2], 8)], Status::BadRegion),
        (&[write, data(0, 8)], Status::BadRegion),
    ];
    for (slots, status) in cases {
        bed.fail(slots, status, none);
    }
    let remote: [(&[[u64; 2]], Status, SfrpStatus); 5] = [
        (
            &[work(WorkOpcode::Write, KEY ^ 1, 0, 0), element],
            Status::RemoteAccess,
            SfrpStatus::BAD_KEY,
        ),
        (
            &[work(WorkOpcode::Write, KEY, REMOTE, 0), element],
            Status::RemoteAccess,
            SfrpStatus::BOUNDS,
        ),
        (
            &[work(WorkOpcode::Write, READ_KEY, 0, 0), element],
            Status::RemoteAccess,
            SfrpStatus::ACCESS,
        ),
        (&[work(WorkOpcode::Send, 0, 0, 0), element], Status::RemoteRequest, SfrpStatus::BAD_QUEUE),
        (
            &[work(WorkOpcode::FetchAdd, READ_KEY, 0, 0), element, operand(1, 0)],
            Status::RemoteAccess,
            SfrpStatus::ACCESS,
        ),
    ];
    for (slots, status, detail) in remote {
        bed.fail(slots, status, detail);
    }
    let counts = bed.statistics + statistics::STRIDE * PAIR;
    assert_eq!(bed.device.read(counts + statistics::ERRORS_LO), 2 * (14 + 5));
    // What was asked for before an error is done.
    bed.post(&[work(WorkOpcode::Write, KEY, 0, 0), element]);
    bed.post(&[work(WorkOpcode::Write, KEY ^ 1, 0, 0), element]);
    bed.post(&[work(WorkOpcode::Write, KEY, 8, 0), element]);
    bed.ring();
    let done: [_; 3] = std::array::from_fn(|_| bed.complete());
    let statuses = done.map(|done| Status::from_raw(done.status));
    let wanted = [Status::Ok, Status::RemoteAccess, Status::Flushed];
    assert_eq!(statuses, wanted.map(Some));
    bed.stop();
    bed.start(0);
    bed.write_and_read(17);
}

/// A partner that does not answer, a channel that takes no words, and a link that is down: requests
/// end, and the queue stops and starts again.
#[test]
fn dead_partners_end_within_the_bound() {
    let mut bed = Bed::new(4);
    bed.start(0);
    let element = data(bed.keys[0] + FROM, 4096);
    let write = [work(WorkOpcode::Write, KEY, 0, wf::SIGNAL), element];
    // 100 + 200 + 400 + 800 us, and what was sent before.
    let bound = (TIMEOUT_US * ((1 << (RETRIES + 1)) - 1) + 200) * 1_000_000 / CYCLE_PS;
    for round in 0..3 {
        bed.write_and_read(17);
        match round {
            0 => bed.far.borrow_mut().lives = false,
            1 => bed.far.borrow_mut().listens = false,
            _ => bed.far.borrow_mut().plugged = false,
        }
        let began = bed.device.cycles();
        for _ in 0..3 {
            bed.post(&write);
        }
        bed.ring();
        let done: [_; 3] = std::array::from_fn(|_| bed.complete());
        assert!(bed.device.cycles() - began < bound, "round {round}");
        assert_eq!(Status::from_raw(done[0].status), Some(Status::NoAnswer), "round {round}");
        assert_ne!(done[0].flags & cf::UNKNOWN, 0, "round {round}");
        assert_eq!(Status::from_raw(done[2].status), Some(Status::Flushed), "round {round}");
        bed.stop();
        let cut = bed.far.borrow().cut;
        {
            let far = &mut *bed.far.borrow_mut();
            (far.lives, far.listens, far.plugged) = (true, true, true);
        }
        bed.device.until("the link is up", |device| device.up & 1 != 0);
        bed.start(0);
        bed.write_and_read(4096);
        // A packet that waited for the channel when the queue stopped ends with EEP.
        assert_eq!(bed.far.borrow().cut > cut, round > 0, "round {round}");
    }
    // In the middle of a request, and of a connection.
    for cycles in [0, 200, 900, 2500] {
        bed.post(&write);
        bed.ring();
        bed.device.run(cycles);
        bed.stop();
        assert_eq!(bed.pair_status(), 0);
        bed.start(0);
    }
    bed.post(&write);
    bed.ring();
    bed.device.run(1500);
    assert_eq!(bed.command(Command::Reset, 0), Status::Ok);
    assert_eq!(bed.device.read(bed.queues + queue::STATE), QueueState::Disabled.raw().into());
    let both = access::LOCAL_READ | access::LOCAL_WRITE;
    bed.region(0, RINGS, both, DOMAIN);
    bed.start(0);
    bed.write_and_read(16);
}

/// The registers of a queue pair, and its channel, which has other queues at other times.
#[test]
fn a_channel_has_one_use_at_a_time() {
    let mut bed = Bed::new(5);
    let at = bed.queues + queue::STRIDE * PAIR;
    for (register, value) in [
        // An own number of 0, a protocol outside its range, a segment of 2^7 and of 2^17 bytes.
        (queue::PAIR_LO, 9 << 16),
        (queue::PAIR_HI, 0x0001_0000),
        (queue::PAIR_HI, 0x00ff_0000),
        (queue::PAIR_HI, 0x0700_0000),
        (queue::PAIR_HI, 0x1100_0000),
        (queue::LIMITS_LO, 17),
        (queue::LIMITS_LO, 9 << pair_limits::PATH_SHIFT),
        (queue::LIMITS_LO, 9 << pair_limits::REPLY_SHIFT),
    ] {
        bed.context(PAIR, QueueKind::Rdma, 0);
        bed.device.write(at + register, value);
        let status = bed.command(Command::QueueEnable, PAIR);
        assert_eq!(status, Status::BadField, "{register:#x}: {value:#x}");
    }
    for (number, kind) in [
        (OTHER, QueueKind::Rdma),
        (RECEIVE, QueueKind::Rdma),
        (PAIR, QueueKind::RdmaRx),
        (OTHER + 1, QueueKind::RdmaRx),
    ] {
        bed.context(number, kind, 0);
        assert_eq!(bed.command(Command::QueueEnable, number), Status::BadField, "{kind:?}");
    }
    bed.context(RECEIVE, QueueKind::Rx, 0);
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Ok);
    bed.context(PAIR, QueueKind::Rdma, 0);
    assert_eq!(bed.command(Command::QueueEnable, PAIR), Status::Busy);
    assert_eq!(bed.command(Command::QueueDisable, RECEIVE), Status::Ok);
    bed.start(0);
    assert_eq!(bed.command(Command::QueueEnable, RECEIVE), Status::Busy);
    assert_eq!(bed.command(Command::RegionDisable, 0), Status::Busy, "it has the rings");
    bed.write_and_read(17);
    bed.stop();
    // A packet of an ordinary queue.
    bed.context(PAIR, QueueKind::Tx, 0);
    assert_eq!(bed.command(Command::QueueEnable, PAIR), Status::Ok);
    bed.local(FROM, 3).copy_from_slice(&[0x77, 1, 2]);
    bed.post(&[with_flags(data(bed.keys[0] + FROM, 3), sf::SIGNAL)]);
    bed.ring();
    let done = bed.complete();
    assert_eq!((done.status, done.bytes), (0, 3));
    bed.device.run(3000);
    assert_eq!(bed.far.borrow().others, [[0x77, 1, 2]]);
    bed.stop();
    bed.start(0);
    bed.write_and_read(17);
    // A region that goes while the queue works.
    assert_eq!(bed.command(Command::RegionDisable, 1), Status::Ok);
    let gone = data(bed.keys[1], 8);
    bed.fail(&[work(WorkOpcode::Write, KEY, 0, 0), gone], Status::BadRegion, SfrpStatus(0));
    bed.write_and_read(17);
}
