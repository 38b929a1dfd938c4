//! A target of RDMA in an endpoint: an initiator of the model, at the far end of an exact link,
//! writes and reads the memory of the core without any software beside it. Then a driver sets, uses
//! and clears entries, reads notifications, and sends packets between the responses.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use spfe_contract::{
    BlockType, Command, QueueKind, Status, Submission, access, capability, event_block as event,
    global_block as global, key_options, queue_block as queue, region_block as region,
    submit_flags, target_block as target,
};
use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::{
    CommandHeader, Instruction, ReplyAddress, RmapCommand, RmapOperation, RmapReply,
};
use spfe_proto::sfrp::SfrpStatus;
use spfe_rdma::{
    Local, RdmaInitiator, RdmaInitiatorOptions, WorkCompletion, WorkError, WorkKind, WorkRequest,
};
use spfe_rtl_sim::endpoint::Endpoint;
use spfe_rtl_sim::{damage, once_in, seeds};

const VCS: usize = 2;
/// The channel of the target.
const VC: usize = VCS - 1;
const EVENTS: usize = 4;
const ENTRIES: u32 = 4;
/// The entry that is there from power-up on: key, address, bytes and bus address.
const FIXED: (u32, u64, u64, u64) = (0xabc, 0x1000, 0x1_0000, 0);
const CYCLE_PS: u64 = 6400;
/// Logical address of the initiator of RMAP; that of RDMA has another one.
const RMAP_INITIATOR: u8 = 0x67;
/// Cycles in which any group of requests ends.
const MOST: u32 = 400_000;
/// Lengths of a beat, around it, of a segment, and around the payload of a frame.
const LENGTHS: [u32; 9] = [0, 1, 3, 15, 16, 17, 2948, 4095, 4096];

type Port = SpaceFibrePort<Vec<Word>, 1, VCS>;

/// The far end: an initiator on the channel of the target, and what comes on the other channel.
struct Far {
    port: Port,
    rng: fastrand::Rng,
    /// One of so many words is damaged; 0: none.
    errors: u32,
    /// Packets of the initiator so far.
    sent: u32,
    /// Words on the cable in each direction.
    cables: [VecDeque<Option<Word>>; 2],
    cycle: u64,
    initiator: RdmaInitiator,
    memory: Vec<Vec<u8>>,
    out: VecDeque<Word>,
    bytes: [Vec<u8>; VCS],
    /// Packets of the queues.
    packets: Vec<Vec<u8>>,
    /// Replies of RMAP.
    replies: Vec<Vec<u8>>,
    done: VecDeque<WorkCompletion>,
    /// The far user takes responses.
    listens: bool,
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
    let whole = symbols.len().next_multiple_of(4);
    symbols.resize(whole, (k::FILL, true));
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
        let options = RdmaInitiatorOptions {
            target: 0x42,
            address: 0x60,
            segment_bytes: 4096,
            timeout_ns: 1_000_000,
            ..RdmaInitiatorOptions::default()
        };
        let mut initiator = RdmaInitiator::new(options);
        initiator.connect();
        Self {
            port: model(),
            rng: fastrand::Rng::with_seed(seed),
            errors: 0,
            sent: 0,
            cables: [(); 2].map(|()| vec![None; 7].into()),
            cycle: 0,
            initiator,
            memory: vec![vec![0; 0x1_0000]; 2],
            out: VecDeque::new(),
            bytes: Default::default(),
            packets: Vec::new(),
            replies: Vec::new(),
            done: VecDeque::new(),
            listens: true,
        }
    }

    /// A cycle of the link: the word of the core arrives, and the next one for it is returned.
    fn step(&mut self, said: Option<Word>) -> Option<Word> {
        self.cycle += 1;
        let now = self.cycle * CYCLE_PS / 1000;
        if self.out.is_empty() {
            let mut packet = vec![0; self.initiator.packet_bytes_max()];
            if let Some(bytes) = self.initiator.transmit(now, &self.memory, &mut packet) {
                self.out.extend(words(&packet[..bytes]));
                self.sent += 1;
            }
        }
        // Random stalls of the sender and the receiver.
        if let Some(word) = self.out.front().copied()
            && self.rng.u8(..4) != 0
            && self.port.link.write(VC, &[word]) == 1
        {
            self.out.pop_front();
        }
        for vc in 0..VCS {
            if self.rng.u8(..4) != 0 && (self.listens || vc != VC) {
                let mut one = [Word::default()];
                if self.port.link.read(vc, &mut one) == 1 {
                    self.take(vc, one[0], now);
                }
            }
        }
        while let Some(completion) = self.initiator.poll() {
            self.done.push_back(completion);
        }
        let errors = self.errors;
        let mut pass = |cable: usize, word: Option<Word>, rng: &mut fastrand::Rng| {
            let hit = errors != 0 && once_in(rng, errors);
            let word = word.map(|word| if hit { damage(rng, word) } else { word });
            self.cables[cable].push_back(word);
            self.cables[cable].pop_front().flatten()
        };
        let [word] = self.port.transmit();
        let to_core = pass(0, word, &mut self.rng);
        let to_far = pass(1, said, &mut self.rng);
        self.port.receive([to_far]);
        to_core
    }

    fn take(&mut self, vc: usize, word: Word, now: u64) {
        for (index, symbol) in word.symbols().into_iter().enumerate() {
            match (word.k >> index & 1 != 0, symbol) {
                (false, byte) => self.bytes[vc].push(byte),
                (true, k::FILL) => {}
                (true, end) => {
                    let packet = std::mem::take(&mut self.bytes[vc]);
                    let end = if end == k::EOP { PacketEnd::Eop } else { PacketEnd::Eep };
                    // A packet of a queue begins with this byte.
                    if packet.first() == Some(&0x77) {
                        self.packets.push(packet);
                    } else if packet.first() == Some(&RMAP_INITIATOR) {
                        self.replies.push(packet);
                    } else {
                        self.initiator.handle(&packet, end, now, &mut self.memory);
                    }
                }
            }
        }
    }
}

struct Bed {
    device: Endpoint,
    far: Rc<RefCell<Far>>,
    blocks: Vec<(BlockType, u32, u32)>,
    next: u64,
}

impl Bed {
    fn new(seed: u64, queues: usize) -> Self {
        println!("seed {seed}");
        let far = Rc::new(RefCell::new(Far::new(seed)));
        let hook = Rc::clone(&far);
        let parameters = [
            ("Ports", 1),
            ("Vcs", VCS),
            ("Regions", 4),
            ("Events", EVENTS),
            ("Pages", 16),
            ("Queues", queues),
            ("Target", ENTRIES as usize),
        ];
        let hook = Box::new(move |said: &[Option<Word>]| vec![hook.borrow_mut().step(said[0])]);
        let device = Endpoint::with(&parameters, (1, EVENTS), Some(hook), seed);
        Self { device, far, blocks: Vec::new(), next: 0 }
    }

    /// Walks the list of register blocks.
    fn discover(&mut self) {
        let mut at = 0;
        loop {
            assert!(self.blocks.len() < 32, "the list of blocks does not end");
            let (first, second) = (self.device.read64(at), self.device.read64(at + 8));
            let kind = BlockType::from_raw(first as u16).expect("a type of the contract");
            self.blocks.push((kind, at, (first >> 32) as u32));
            at = second as u32;
            if at == 0 {
                return;
            }
        }
    }

    fn at(&self, kind: BlockType) -> u32 {
        self.blocks.iter().find(|block| block.0 == kind).expect("the block is there").1
    }

    fn get(&mut self, register: u32) -> u32 {
        let at = self.at(BlockType::Target);
        self.device.read(at + register)
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        let status = self.device.command(command.raw().into(), index);
        u8::try_from(status).ok().and_then(Status::from_raw).expect("a status of the contract")
    }

    /// Writes an entry, and gives TARGET_SET.
    fn set(&mut self, index: u32, entry: Entry) -> Status {
        let at = self.at(BlockType::Target);
        self.device.write(at + target::KEY, entry.key);
        self.device.write(at + target::OPTIONS, entry.options);
        self.device.write64(at + target::ADDRESS_LO, entry.address);
        self.device.write64(at + target::SIZE_LO, entry.bytes);
        self.device.write64(at + target::MEMORY_LO, entry.memory);
        self.device.write(at + target::INITIATORS, entry.initiators);
        self.device.write(at + target::NOTE_VECTOR, entry.vector);
        self.command(Command::TargetSet, index)
    }

    fn post(&mut self, request: WorkRequest) {
        let far = &mut *self.far.borrow_mut();
        far.initiator.post(request, &far.memory).expect("has room");
        far.initiator.ring();
    }

    fn finish(&mut self) -> WorkCompletion {
        for _ in 0..MOST {
            if let Some(done) = self.far.borrow_mut().done.pop_front() {
                return done;
            }
            self.device.run(1);
        }
        panic!("a request does not end");
    }

    /// Why a request is refused. The initiator connects again afterwards.
    fn refusal(&mut self, request: WorkRequest) -> SfrpStatus {
        self.post(request);
        let done = self.finish();
        self.far.borrow_mut().initiator.connect();
        match done.result {
            Err(WorkError::Refused(status, _)) => status,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Writes random bytes to an entry and reads them back, into another place.
    fn write_and_read(&mut self, (key, base, bytes, bus): (u32, u64, u64, u64), length: u32) {
        let offset = {
            let far = &mut *self.far.borrow_mut();
            let local = &mut far.memory[0][..length as usize];
            far.rng.fill(local);
            far.rng.u64(..=bytes - u64::from(length))
        };
        let (at, length64) = (base.wrapping_add(offset), u64::from(length));
        let local = |memory| Local { memory, offset: 0, length };
        self.next += 2;
        self.post(WorkRequest::write(self.next, local(0), key, at));
        self.post(WorkRequest::read(self.next + 1, local(1), key, at));
        for id in [self.next, self.next + 1] {
            let done = self.finish();
            assert_eq!((done.id, &done.result), (id, &Ok(())), "{length} bytes: {done:?}");
        }
        let far = self.far.borrow();
        let place = (bus + offset) as usize..(bus + offset + length64) as usize;
        let (sent, read) = (&far.memory[0], &far.memory[1]);
        assert_eq!(self.device.memory[place], sent[..length as usize], "in memory: {length}");
        assert_eq!(read[..length as usize], sent[..length as usize], "read: {length}");
    }

    fn every_length(&mut self, entry: (u32, u64, u64, u64)) {
        for length in LENGTHS {
            self.write_and_read(entry, length);
        }
    }
}

/// What TARGET_SET reads.
#[derive(Clone, Copy)]
struct Entry {
    key: u32,
    options: u32,
    address: u64,
    bytes: u64,
    memory: u64,
    initiators: u32,
    vector: u32,
}

const ENTRY: Entry = Entry {
    key: 2 << 12 | 0x5a5,
    options: key_options::READ | key_options::WRITE | key_options::ATOMIC | key_options::NOTIFY,
    address: u64::MAX - 0xfff,
    bytes: 0x1000,
    memory: 0x2_0008,
    initiators: 0,
    vector: 3,
};

#[test]
fn memory_without_software() {
    for seed in seeds(1) {
        let mut bed = Bed::new(seed, 0);
        bed.every_length(FIXED);
        bed.far.borrow_mut().errors = 2000;
        bed.every_length(FIXED);
        // A segment that is cut, and what is behind the end of the entry.
        bed.write_and_read(FIXED, 9000);
        bed.far.borrow_mut().errors = 0;
        bed.device.run(2000);
        let add = WorkRequest {
            key: FIXED.0,
            address: 0x1008,
            ..WorkRequest::new(1, WorkKind::FetchAdd { add: 5 })
        };
        bed.device.memory[8..16].copy_from_slice(&40u64.to_le_bytes());
        bed.post(add);
        let done = bed.finish();
        assert_eq!((done.result, done.old), (Ok(()), Some(40)));
        assert_eq!(bed.device.memory[8], 45);
        let local = Local { memory: 0, offset: 0, length: 8 };
        let beyond = WorkRequest::read(2, local, FIXED.0, FIXED.1 + FIXED.2 - 7);
        assert_eq!(bed.refusal(beyond), SfrpStatus::BOUNDS);
        let stranger = WorkRequest::read(3, local, FIXED.0 + 1, FIXED.1);
        assert_eq!(bed.refusal(stranger), SfrpStatus::BAD_KEY);
    }
}

/// A driver beside the target: its registers, entries that it sets and takes back, notifications
/// with their event, and RESET.
#[test]
fn a_driver_sets_entries_and_reads_notifications() {
    let mut bed = Bed::new(2, 0);
    bed.discover();
    let has = bed.device.read(global::CAPABILITY);
    assert_ne!(has & capability::TARGET, 0);
    for (register, value) in [
        (target::PORT, 0),
        (target::VC, VC as u32),
        (target::ENTRIES, ENTRIES),
        (target::FIXED, 1),
        (target::PROTOCOL, 0xf0),
        (target::LOGICAL_ADDRESS, 0x42),
        (target::SEGMENT, 4096),
        (target::NOTES, 0),
        (target::NOTE_ADDRESS_LO, 0),
    ] {
        assert_eq!(bed.get(register), value, "register {register:#x}");
    }
    let wrong = |change: fn(&mut Entry)| {
        let mut entry = ENTRY;
        change(&mut entry);
        entry
    };
    for (index, entry, status) in [
        (ENTRIES, ENTRY, Status::NotFound),
        (0, ENTRY, Status::AccessDenied),
        (1, ENTRY, Status::BadField),
        (2, wrong(|entry| entry.key &= !0xfff), Status::BadField),
        (2, wrong(|entry| entry.options |= 0x20), Status::BadField),
        (2, wrong(|entry| entry.address += 1), Status::BadField),
        (2, wrong(|entry| entry.bytes = 0), Status::BadField),
        (2, wrong(|entry| entry.memory = !0 - 0x800), Status::BadField),
        (2, wrong(|entry| entry.memory = !7 - 0x800), Status::OutOfBounds),
        (2, wrong(|entry| entry.vector = EVENTS as u32 + 1), Status::BadField),
        (2, ENTRY, Status::Ok),
        (2, ENTRY, Status::Busy),
    ] {
        assert_eq!(bed.set(index, entry), status, "entry {index}");
    }
    assert_eq!(bed.command(Command::TargetClear, 0), Status::AccessDenied);
    assert_eq!(bed.command(Command::TargetClear, 1), Status::NotFound);
    assert_eq!(bed.command(Command::TargetClear, ENTRIES), Status::NotFound);
    assert_eq!(bed.command(Command::TargetTake, 0), Status::NotFound);
    notifications(&mut bed);
    rmap_beside(&mut bed);
    // Only one initiator may use it.
    let (key, bytes) = (3 << 12 | 7, 64);
    let own = Entry { key, address: 0, bytes, memory: 0x3_0000, initiators: 0x61_00, ..ENTRY };
    assert_eq!(bed.set(3, own), Status::Ok);
    let read = WorkRequest::read(1, Local { memory: 0, offset: 0, length: 8 }, key, 0);
    assert_eq!(bed.refusal(read.clone()), SfrpStatus::ACCESS);
    assert_eq!(bed.command(Command::TargetClear, 3), Status::Ok);
    assert_eq!(bed.set(3, Entry { initiators: 0x60_61_00_00, ..own }), Status::Ok);
    bed.write_and_read((key, 0, bytes, own.memory), 17);
    revoked(&mut bed);
    // RESET takes back what the driver has set, and nothing else.
    assert_eq!(bed.command(Command::Reset, 0), Status::Ok);
    assert_eq!(bed.refusal(read), SfrpStatus::BAD_KEY);
    assert_eq!(bed.set(3, own), Status::Ok);
    bed.write_and_read(FIXED, 100);
    let counts = [target::EXECUTED, target::REPEATED, target::REFUSED, target::DISCARDED];
    let [executed, repeated, refused, discarded] = counts.map(|register| bed.get(register));
    assert!(executed > 12 && refused == 2, "{executed} executed, {refused} refused");
    assert_eq!((repeated, discarded), (0, 0));
}

/// A write that wants one, and more messages than wait.
fn notifications(bed: &mut Bed) {
    let at = bed.blocks.iter().find(|block| block.0 == BlockType::Event).expect("is there");
    let vector = at.1 + at.2 + event::STRIDE * (ENTRY.vector - 1);
    bed.device.write(vector + event::ENABLE, 1);
    assert_eq!(bed.command(Command::Nop, 0), Status::Ok);
    bed.write_and_read((ENTRY.key, ENTRY.address, ENTRY.bytes, ENTRY.memory), 2948);
    assert_eq!(bed.get(target::NOTES), 2);
    assert_eq!(bed.get(target::NOTE_SENDER), 1 << 16 | 1 << 8 | 0x60, "WRITE of 0x60, pair 1");
    assert_eq!(bed.get(target::NOTE_REQUEST) & 0xffff, 2);
    assert_eq!(bed.get(target::NOTE_LENGTH), 2948);
    assert_eq!(bed.get(target::NOTE_FLAGS), 1);
    assert!(bed.get(target::NOTE_ADDRESS_HI) == !0 && bed.get(target::NOTE_TIME_LO) > 0);
    assert_eq!(bed.command(Command::TargetTake, 0), Status::Ok);
    assert_eq!(bed.get(target::NOTE_SENDER) >> 8 & 0xff, 2, "READ");
    assert_eq!(bed.command(Command::TargetTake, 0), Status::Ok);
    assert_eq!(bed.get(target::NOTE_LENGTH), 0);
    assert_eq!(bed.device.messages[ENTRY.vector as usize - 1], 2);
    for number in 0..5 {
        let message: Vec<u8> = (0..9).map(|byte| number * 16 + byte).collect();
        bed.far.borrow_mut().memory[0][..9].copy_from_slice(&message);
        bed.post(WorkRequest::send(9, Local { memory: 0, offset: 0, length: 9 }));
        assert_eq!(bed.finish().result, Ok(()), "nobody waits for a reader");
    }
    assert_eq!((bed.get(target::NOTES), bed.get(target::NOTES_LOST)), (4, 1));
    for number in 0..4 {
        let base = 0x0302_0100 + number * 0x1010_1010;
        assert_eq!(bed.get(target::NOTE_DATA_0), base);
        assert_eq!(bed.get(target::NOTE_DATA_0 + 4), base + 0x0404_0404);
        assert_eq!(bed.get(target::NOTE_DATA_0 + 8), 8 + number * 16);
        assert_eq!((bed.get(target::NOTE_FLAGS), bed.get(target::NOTE_LENGTH)), (0, 9));
        assert_eq!(bed.command(Command::TargetTake, 0), Status::Ok);
    }
    assert_eq!(bed.command(Command::TargetTake, 0), Status::NotFound);
    assert_eq!(bed.device.messages[ENTRY.vector as usize - 1], 6);
}

/// RMAP on the same channel, entry and counters, with notifications, while RDMA goes on.
fn rmap_beside(bed: &mut Bed) {
    let write = RmapOperation::Write { verify: true, reply: true, increment: true };
    let read = RmapOperation::Read { increment: true };
    let before = bed.get(target::EXECUTED);
    let sent = bed.far.borrow().sent;
    let mut ask = |operation, transaction, address, length, data: &[u8]| {
        let header = CommandHeader {
            target: 0x42,
            instruction: Instruction::command(operation),
            key: 9,
            reply_address: ReplyAddress::NONE,
            initiator: RMAP_INITIATOR,
            transaction,
            address,
            length,
        };
        let mut packet = vec![0; 32 + data.len()];
        let bytes = RmapCommand { header, data }.write(&[], &mut packet).expect("fits");
        {
            let far = &mut *bed.far.borrow_mut();
            assert!(far.out.is_empty(), "a packet is being sent");
            far.out.extend(words(&packet[..bytes]));
        }
        bed.write_and_read(FIXED, 300);
        let packet = bed.far.borrow_mut().replies.remove(0);
        let reply = RmapReply::parse(&packet, PacketEnd::Eop).expect("is one");
        assert_eq!(reply.header.transaction, transaction);
        (reply.header.status.0, reply.data.to_vec())
    };
    // The entry has number 2.
    let place = 2 << 32 | 0x10;
    assert_eq!(ask(write, 7, place, 5, b"hello"), (0, Vec::new()));
    assert_eq!(ask(read, 8, place + 1, 4, b""), (0, b"ello".to_vec()));
    let at = (ENTRY.memory + 0x10) as usize;
    assert_eq!(bed.device.memory[at..at + 5], *b"hello");
    // A write over the end of a page is two packets.
    let sent = bed.far.borrow().sent - sent;
    assert!(sent >= 4);
    assert_eq!(bed.get(target::EXECUTED), before + sent + 2, "both protocols count");
    assert_eq!(bed.get(target::NOTES), 2);
    for (instruction, transaction, address, length) in
        [(0x7c, 7, place, 5), (0x4c, 8, place + 1, 4)]
    {
        assert_eq!(bed.get(target::NOTE_SENDER), instruction << 8 | u32::from(RMAP_INITIATOR));
        assert_eq!(bed.get(target::NOTE_REQUEST), transaction << 16 | 2);
        assert_eq!(bed.get(target::NOTE_ADDRESS_LO), address as u32);
        assert_eq!(bed.get(target::NOTE_ADDRESS_HI), 2);
        assert_eq!(bed.get(target::NOTE_LENGTH), length);
        assert_eq!(bed.command(Command::TargetTake, 0), Status::Ok);
    }
}

/// An entry is taken back while a READ of it is answered, to somebody who listens again later.
fn revoked(bed: &mut Bed) {
    let (key, bytes) = (1 << 12 | 9, 0x8000);
    let entry = Entry { key, address: 0, bytes, memory: 0x4_0000, ..ENTRY };
    assert_eq!(bed.set(1, entry), Status::Ok);
    bed.far.borrow_mut().listens = false;
    bed.post(WorkRequest::read(5, Local { memory: 1, offset: 0, length: bytes as u32 }, key, 0));
    bed.device.run(12_000);
    assert_eq!(bed.command(Command::TargetClear, 1), Status::Ok);
    bed.device.memory[0x4_0000..0x4_8000].fill(0xee);
    bed.far.borrow_mut().listens = true;
    let done = bed.finish();
    let refused = matches!(done.result, Err(WorkError::Refused(SfrpStatus::REVOKED, _)));
    assert!(refused && done.bytes > 0, "{done:?}");
    let far = &mut *bed.far.borrow_mut();
    assert!(!far.memory[1].contains(&0xee), "memory was read after TARGET_CLEAR");
    far.initiator.connect();
}

/// Queues beside the target: packets of a transmit queue go out between the responses on the same
/// channel, and arrive whole, while an initiator writes and reads. Builds a model of its own, so it
/// runs with the planted bugs.
#[cfg_attr(feature = "planted", test)]
#[cfg_attr(not(feature = "planted"), expect(dead_code))]
fn packets_of_a_queue_between_responses() {
    const RING: u64 = 0x5_0000;
    const LOG2: u32 = 4;
    const PACKETS: u32 = 40;
    let mut bed = Bed::new(3, 1);
    bed.discover();
    let region = bed.at(BlockType::Region) + region::SIZE;
    bed.device.write64(region + region::BASE_LO, RING);
    bed.device.write64(region + region::SIZE_LO, 0x4000);
    bed.device.write(region + region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE);
    assert_eq!(bed.command(Command::RegionEnable, 0), Status::Ok);
    let key = u64::from(bed.device.read(region + region::KEY)) << 48;
    // The receive context of the target's channel is none; the transmit context is one.
    for (context, kind, status) in [
        (2 * VC as u32 + 1, QueueKind::Rx, Status::BadField),
        (2 * VC as u32, QueueKind::Tx, Status::Ok),
    ] {
        let at = bed.at(BlockType::Queue) + queue::SIZE + queue::STRIDE * context;
        bed.device.write(at + queue::KIND, kind.raw().into());
        bed.device.write(at + queue::SQ_LOG2, LOG2);
        bed.device.write(at + queue::CQ_LOG2, LOG2);
        for (register, offset) in [
            (queue::SQ_LO, 0),
            (queue::CQ_LO, 0x100),
            (queue::STAMP_LO, 0x200),
            (queue::LINES_LO, 0x300),
        ] {
            bed.device.write64(at + register, key + offset);
        }
        assert_eq!(bed.command(Command::QueueEnable, context), status, "context {context}");
    }
    let doorbell = bed.device.read(global::DOORBELL_OFFSET);
    for at in 0x1000..0x3000 {
        bed.device.memory[RING as usize + at] = at as u8 ^ 0x5a;
    }
    bed.device.memory[RING as usize + 0x1000] = 0x77;
    let (mut posted, mut round) = (0, 0);
    let length = |number: u32| 1 + number * 37 % 1500;
    while bed.far.borrow().packets.len() < PACKETS as usize {
        let came = bed.far.borrow().packets.len() as u32;
        // Packets that came have left their entries.
        while posted < PACKETS && posted < came + 8 {
            let entry = Submission {
                offset: 0x1000,
                region: (key >> 48) as u16,
                length: length(posted),
                flags: 1 | submit_flags::SIGNAL,
                phase: (posted >> LOG2) as u16 + 1,
            };
            let at = RING as usize + 16 * (posted as usize % (1 << LOG2));
            let words = entry.to_words();
            bed.device.memory[at..at + 8].copy_from_slice(&words[0].to_le_bytes());
            bed.device.memory[at + 8..at + 16].copy_from_slice(&words[1].to_le_bytes());
            posted += 1;
        }
        bed.device.write64(doorbell, 2 * VC as u64);
        bed.write_and_read(FIXED, 1 + round * 311 % 3000);
        round += 1;
        assert!(round < 500, "packets of the queue starve");
    }
    for (number, packet) in bed.far.borrow().packets.iter().enumerate() {
        let at = RING as usize + 0x1000;
        let expected = &bed.device.memory[at..at + length(number as u32) as usize];
        assert_eq!(packet, expected, "packet {number}");
    }
}
