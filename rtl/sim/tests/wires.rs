//! A SpaceWire port of an endpoint, beside a SpaceFibre port, with the model `spfe-link` at the far
//! end of its data and strobe: registers, commands, packets and time-codes in both directions, link
//! events, and packets that bit errors and a cut cable end.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use spfe_contract::{
    BlockType, Command, Completion, Message, MessageKind, MibItem, PortKind, PortState, QueueKind,
    Release, Status, Submission, access, event_block as event, global_block as global,
    mib_block as mib, port_block, queue_block as queue, region_block as region, submit_flags,
    time_code_block as time_code,
};
use spfe_link::spacewire::ds::DsSignals;
use spfe_link::spacewire::serial::SerialPort;
use spfe_link::spacewire::state::SpaceWireControl;
use spfe_link::spacewire::timecode::TimeCodeRegister;
use spfe_link::spacewire::{BroadcastCode, NChar, SpaceWirePort, SpaceWireState, SpaceWireTiming};
use spfe_rtl_sim::endpoint::Endpoint;
use spfe_rtl_sim::{once_in, seeds};

const VCS: u32 = 2;
const CONTEXTS: u32 = 4;
const EVENTS: usize = 4;
/// The port, its first context, and its message contexts.
const PORT: u32 = 1;
const FIRST: u32 = 2 * VCS + 2 * CONTEXTS;
const SENDER: u32 = FIRST + 2;
const LISTENER: u32 = SENDER + CONTEXTS;
/// Event vector of the port.
const VECTOR: u32 = 3;
/// Bus address and bytes of the region; the place of a queue in it, and of packets and buffers.
const BASE: u64 = 0x1_0000;
const BYTES: u64 = 0x8000;
const QUEUE: u64 = 0x400;
const PACKETS: u64 = 0x4000;
const BUFFERS: u64 = 0x6000;
/// log2 of the entries of all rings.
const LOG2: u32 = 3;
const CYCLE_PS: u64 = 6400;
/// Cycles of a bit at the far end, outside Run and in Run.
const START_CYCLES: u64 = 16;
const BIT_CYCLES: u64 = 3;
/// Cycles in which anything happens.
const MOST: u32 = 600_000;

/// The far end, and its user.
struct Far {
    port: SerialPort<512, 64>,
    rng: fastrand::Rng,
    cycle: u64,
    until_bit: u64,
    signals: DsSignals,
    /// Signals on the cable, to the core and to the far end.
    cables: [VecDeque<DsSignals>; 2],
    /// Cycles for which the cable is cut.
    cut: u32,
    /// One of so many bits is inverted; 0: none.
    errors: u32,
    out: VecDeque<NChar>,
    bytes: Vec<u8>,
    /// Packets that came, and whether they ended with EOP.
    packets: VecDeque<(Vec<u8>, bool)>,
    codes: VecDeque<u8>,
    falls: u64,
}

impl Far {
    fn new(seed: u64) -> Self {
        let control =
            SpaceWireControl { link_start: false, auto_start: true, ..SpaceWireControl::default() };
        let port = SpaceWirePort::new(0, control, SpaceWireTiming::NOMINAL, 10_000_000);
        Self {
            port: SerialPort::new(port),
            rng: fastrand::Rng::with_seed(seed),
            cycle: 0,
            until_bit: 0,
            signals: DsSignals::default(),
            cables: [(); 2].map(|()| vec![DsSignals::default(); 9].into()),
            cut: 0,
            errors: 0,
            out: VecDeque::new(),
            bytes: Vec::new(),
            packets: VecDeque::new(),
            codes: VecDeque::new(),
            falls: 0,
        }
    }

    /// A cycle: data and strobe of the core come in, and those for it are returned.
    fn step(&mut self, said: u8) -> u8 {
        self.cycle += 1;
        let now = self.cycle * CYCLE_PS / 1000;
        if self.until_bit == 0 {
            if self.port.port.push_room() != 0
                && self.rng.u8(..4) != 0
                && let Some(n_char) = self.out.pop_front()
            {
                self.port.port.push(n_char);
            }
            if self.errors != 0 && once_in(&mut self.rng, self.errors) {
                self.port.flip_next_bit();
            }
            self.signals = self.port.transmit(now);
            let runs = self.port.port.state() == SpaceWireState::Run;
            self.until_bit = if runs { BIT_CYCLES } else { START_CYCLES };
        }
        self.until_bit -= 1;
        let pass = |cable: &mut VecDeque<DsSignals>, signals, cut| {
            cable.push_back(signals);
            let arrives = cable.pop_front().unwrap_or_default();
            if cut { DsSignals::default() } else { arrives }
        };
        let core = DsSignals { d: said & 2 != 0, s: said & 1 != 0 };
        let cut = self.cut != 0;
        self.cut = self.cut.saturating_sub(1);
        let at_far = pass(&mut self.cables[1], core, cut);
        let code = self.port.receive(now, at_far);
        self.codes.extend(code.map(|code| code.0));
        if self.rng.u8(..12) == 0 {
            match self.port.port.pop() {
                Some(NChar::Data(byte)) => self.bytes.push(byte),
                Some(end) => {
                    let packet = std::mem::take(&mut self.bytes);
                    self.packets.push_back((packet, end == NChar::Eop));
                }
                None => {}
            }
        }
        self.falls = self.port.port.counters().falls;
        let at_core = pass(&mut self.cables[0], self.signals, cut);
        u8::from(at_core.d) << 1 | u8::from(at_core.s)
    }

    fn send(&mut self, packet: &[u8]) {
        self.out.extend(packet.iter().map(|byte| NChar::Data(*byte)));
        self.out.push_back(NChar::Eop);
    }
}

struct Bed {
    device: Endpoint,
    far: Rc<RefCell<Far>>,
    rng: fastrand::Rng,
    /// {type, instance, offset, bytes before the first element}
    blocks: Vec<(BlockType, u32, u32, u32)>,
    /// Key of the region, where addresses have it.
    key: u64,
}

/// The bytes of packet `number`.
fn packet(number: u32, bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|at| (at * 7 + number * 13) as u8).collect()
}

fn phase(position: u32) -> u16 {
    (position >> LOG2) as u16 + 1
}

fn slot(position: u32) -> u64 {
    16 * u64::from(position % (1 << LOG2))
}

impl Bed {
    fn new(seed: u64) -> Self {
        println!("seed {seed}");
        let far = Rc::new(RefCell::new(Far::new(seed)));
        let parameters = [
            ("Wires", 1),
            ("Vcs", VCS as usize),
            ("Regions", 4),
            ("Events", EVENTS),
            ("Pages", 16),
        ];
        let mut device = Endpoint::with(&parameters, (2, EVENTS), None, seed);
        let hook = Rc::clone(&far);
        device.far_wires = Some(Box::new(move |said| vec![0, hook.borrow_mut().step(said[1])]));
        let rng = fastrand::Rng::with_seed(seed);
        let mut bed = Self { device, far, rng, blocks: Vec::new(), key: 0 };
        let mut at = 0;
        loop {
            assert!(bed.blocks.len() < 32, "the list of blocks does not end");
            let (first, second) = (bed.device.read64(at), bed.device.read64(at + 8));
            let kind = BlockType::from_raw(first as u16).expect("a type of the contract");
            bed.blocks.push((kind, (second >> 32) as u32, at, (first >> 32) as u32));
            at = second as u32;
            if at == 0 {
                break;
            }
        }
        let region = bed.element(BlockType::Region, 0, 0);
        bed.device.write64(region + region::BASE_LO, BASE);
        bed.device.write64(region + region::SIZE_LO, BYTES);
        bed.device.write(region + region::ACCESS, access::LOCAL_READ | access::LOCAL_WRITE);
        assert_eq!(bed.command(Command::RegionEnable, 0), Status::Ok);
        bed.key = u64::from(bed.device.read(region + region::KEY)) << 48;
        bed
    }

    fn block(&self, kind: BlockType, instance: u32) -> Option<u32> {
        let same = |block: &&(BlockType, u32, u32, u32)| (block.0, block.1) == (kind, instance);
        self.blocks.iter().find(same).map(|block| block.2)
    }

    fn element(&self, kind: BlockType, instance: u32, element: u32) -> u32 {
        let stride = match kind {
            BlockType::Queue => queue::STRIDE,
            BlockType::Region => region::STRIDE,
            BlockType::Event => event::STRIDE,
            _ => mib::STRIDE,
        };
        let same = |block: &&(BlockType, u32, u32, u32)| (block.0, block.1) == (kind, instance);
        let block = self.blocks.iter().find(same).expect("the block is there");
        block.2 + block.3 + element * stride
    }

    fn command(&mut self, command: Command, index: u32) -> Status {
        let status = self.device.command(command.raw().into(), index);
        u8::try_from(status).ok().and_then(Status::from_raw).expect("a status of the contract")
    }

    fn port(&mut self, register: u32) -> u32 {
        let at = self.block(BlockType::Port, PORT).expect("is there");
        self.device.read(at + register)
    }

    fn time_code(&mut self, register: u32) -> u32 {
        let at = self.block(BlockType::TimeCode, PORT).expect("is there");
        self.device.read(at + register)
    }

    fn set_mib(&mut self, item: MibItem, element: u32, value: u64) -> Status {
        self.device.write(global::MIB_ITEM, item.raw().into());
        self.device.write(global::MIB_ELEMENT, element);
        self.device.write64(global::MIB_VALUE_LO, value);
        self.command(Command::MibSet, PORT)
    }

    /// QUEUE_ENABLE of a context, whose rings are at its place in the region.
    fn enable(&mut self, context: u32, kind: QueueKind, filter: u32) -> Status {
        let at = self.element(BlockType::Queue, 0, context);
        for (register, value) in [
            (queue::KIND, kind.raw().into()),
            (queue::SQ_LOG2, LOG2),
            (queue::CQ_LOG2, LOG2),
            (queue::FILTER, filter),
        ] {
            self.device.write(at + register, value);
        }
        let place = self.key + Self::place(context);
        for (register, offset) in [
            (queue::SQ_LO, 0),
            (queue::CQ_LO, 0x80),
            (queue::STAMP_LO, 0x100),
            (queue::LINES_LO, 0x180),
        ] {
            self.device.write64(at + register, place + offset);
        }
        self.command(Command::QueueEnable, context)
    }

    fn place(context: u32) -> u64 {
        u64::from(context - FIRST) * QUEUE
    }

    fn configure(&mut self) {
        let at = self.block(BlockType::Port, PORT).expect("is there");
        self.device.write(at + port_block::LINK_START, 1);
        self.device.write(at + port_block::LINK_VECTOR, VECTOR);
        let vector = self.element(BlockType::Event, 0, VECTOR - 1);
        self.device.write(vector + event::ENABLE, 1);
        assert_eq!(self.command(Command::PortConfigure, PORT), Status::Ok);
    }

    fn starts(&mut self) {
        self.until("the link is up", |bed| bed.device.up == 1 << PORT);
    }

    fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        for _ in 0..MOST {
            if holds(self) {
                return;
            }
            self.device.run(1);
        }
        panic!("never: {what}");
    }

    fn put(&mut self, at: u64, words: [u64; 2]) {
        let at = (BASE + at) as usize;
        self.device.memory[at..at + 8].copy_from_slice(&words[0].to_le_bytes());
        self.device.memory[at + 8..at + 16].copy_from_slice(&words[1].to_le_bytes());
    }

    fn post(&mut self, context: u32, position: u32, words: [u64; 2]) {
        self.put(Self::place(context) + slot(position), words);
        let page = self.device.read(global::DOORBELL_OFFSET);
        self.device.write64(page, context.into());
    }

    fn entry(&self, offset: u64, length: u32, flags: u16, position: u32) -> [u64; 2] {
        let region = (self.key >> 48) as u16;
        Submission { offset, region, length, flags, phase: phase(position) }.to_words()
    }

    /// Waits for what the device writes at a position of the completion ring of a context.
    fn completion(&mut self, context: u32, position: u32) -> [u64; 2] {
        let at = (BASE + Self::place(context) + 0x80 + slot(position)) as usize;
        let word = |bed: &Self, at: usize| {
            u64::from_le_bytes(bed.device.memory[at..at + 8].try_into().expect("eight bytes"))
        };
        self.until("a completion comes", |bed| word(bed, at + 8) >> 48 == phase(position).into());
        [word(self, at), word(self, at + 8)]
    }

    /// Sends a packet to the far end; does not wait.
    fn send(&mut self, position: u32, bytes: &[u8]) {
        let from = PACKETS + u64::from(position % (1 << LOG2)) * 0x400;
        let at = (BASE + from) as usize;
        self.device.memory[at..at + bytes.len()].copy_from_slice(bytes);
        let entry = self.entry(from, bytes.len() as u32, 1 | submit_flags::SIGNAL, position);
        self.post(FIRST, position, entry);
    }

    /// Posts a buffer of 1 KiB.
    fn offer(&mut self, position: u32) {
        let entry = self.entry(Self::buffer(position), 0x400, 5, position);
        self.post(FIRST + 1, position, entry);
    }

    fn buffer(position: u32) -> u64 {
        BUFFERS + u64::from(position % (1 << LOG2)) * 0x400
    }

    /// The packet in the buffer at a position, and whether it ends with EOP.
    fn received(&mut self, position: u32) -> (Vec<u8>, bool) {
        let got = Completion::from_words(self.completion(FIRST + 1, position));
        let cut = Status::from_raw(got.status) == Some(Status::PacketCut);
        assert!((got.status == 0 || cut) && (got.packets, got.vc) == (1, 0), "{got:?}");
        let at = (BASE + Self::buffer(position)) as usize;
        let bytes = self.device.memory[at..at + got.bytes as usize].to_vec();
        (bytes, !cut)
    }
}

#[test]
fn registers_and_commands_of_a_space_wire_port() {
    let mut bed = Bed::new(1);
    for (register, value) in [
        (port_block::KIND, u32::from(PortKind::Spacewire.raw())),
        (port_block::STATE, PortState::Down.raw().into()),
        (port_block::VCS, 1),
        (port_block::LANES, 1),
        (port_block::LANE_RATE_MBPS, 78),
        (port_block::USER_RATE_KBPS, 62_400),
        (port_block::FIRST_QUEUE, FIRST),
        (port_block::QUEUE_COUNT, 2 + 2 * CONTEXTS),
    ] {
        assert_eq!(bed.port(register), value, "register {register:#x}");
    }
    assert_eq!(bed.device.read(global::QUEUES), FIRST + 2 + 2 * CONTEXTS);
    assert!(
        bed.block(BlockType::Broadcast, 0).is_some()
            && bed.block(BlockType::Broadcast, 1).is_none()
    );
    assert!(bed.block(BlockType::TimeCode, PORT).is_some());
    for context in 0..FIRST + 2 + 2 * CONTEXTS {
        let (port, own) = if context < FIRST { (0, context) } else { (1, context - FIRST) };
        let vc = if own < [2 * VCS, 2][port] { own / 2 } else { 255 };
        let at = bed.element(BlockType::Queue, 0, context);
        let found = (bed.device.read(at + queue::PORT), bed.device.read(at + queue::VC));
        assert_eq!(found, (port as u32, vc), "context {context}");
    }
    // No item of a SpaceFibre link, on any element.
    for element in 0..VCS {
        let at = bed.element(BlockType::Mib, PORT, element);
        assert_eq!(bed.device.read64(at + mib::PRESENT_LO), 0);
    }
    assert_eq!(bed.set_mib(MibItem::LaneStart, 0, 1), Status::BadOpcode);
    assert_eq!(bed.set_mib(MibItem::Priority, 0, 1), Status::BadOpcode);
    assert_eq!(bed.set_mib(MibItem::Priority, 1, 1), Status::NotFound);
    assert_eq!(bed.set_mib(MibItem::LinkReset, 0, 1), Status::Ok);
    // A time-code has no channel and no type.
    for (context, kind, filter, status) in [
        (LISTENER, QueueKind::MessageRx, 1 << 16, Status::BadField),
        (LISTENER, QueueKind::MessageRx, 1, Status::BadField),
        (LISTENER, QueueKind::MessageTx, 0, Status::BadField),
        (LISTENER + CONTEXTS - 1, QueueKind::MessageRx, 0, Status::Ok),
        (SENDER, QueueKind::Rx, 0, Status::BadField),
        (SENDER, QueueKind::MessageTx, 0, Status::Ok),
        (FIRST, QueueKind::Rx, 0, Status::BadField),
        (FIRST, QueueKind::Tx, 0, Status::Ok),
        (FIRST + 1, QueueKind::Rx, 0, Status::Ok),
        (LISTENER + CONTEXTS, QueueKind::MessageRx, 0, Status::NotFound),
    ] {
        if context < LISTENER + CONTEXTS {
            assert_eq!(bed.enable(context, kind, filter), status, "context {context}");
        } else {
            assert_eq!(bed.command(Command::QueueEnable, context), status);
        }
    }
}

#[test]
fn packets_in_both_directions() {
    for seed in seeds(1) {
        let mut bed = Bed::new(seed);
        assert_eq!(bed.enable(FIRST, QueueKind::Tx, 0), Status::Ok);
        assert_eq!(bed.enable(FIRST + 1, QueueKind::Rx, 0), Status::Ok);
        bed.configure();
        bed.starts();
        assert_eq!(bed.port(port_block::STATE), PortState::Up.raw().into());
        for position in 0..14 {
            let lengths = [1, 2, 3, 4, 5, 8, 63, 64];
            let length = *bed.rng.choice(&lengths).expect("not empty") + bed.rng.usize(..100);
            let (there, back) = (packet(position, length), packet(position + 99, length + 1));
            bed.offer(position);
            bed.far.borrow_mut().send(&back);
            bed.send(position, &there);
            assert_eq!(bed.received(position), (back, true), "seed {seed}");
            bed.until("the far end has a packet", |bed| !bed.far.borrow().packets.is_empty());
            let got = bed.far.borrow_mut().packets.pop_front();
            assert_eq!(got, Some((there, true)), "seed {seed}");
            let sent = Completion::from_words(bed.completion(FIRST, position));
            assert_eq!((sent.status, sent.bytes, sent.vc), (0, length as u32, 0), "seed {seed}");
        }
        assert_eq!(bed.far.borrow().falls, 0, "seed {seed}: the link falls back");
    }
}

/// An entry that sends a broadcast code. Every other interrupt is one of kind INTERRUPT.
fn code(value: u8, position: u32) -> [u64; 2] {
    let as_interrupt = value >> 6 == 0b10 && position.is_multiple_of(2);
    let kind = if as_interrupt { MessageKind::Interrupt } else { MessageKind::TimeCode }.raw();
    let value = if as_interrupt { value & 0x3f } else { value };
    let flags = 7 | submit_flags::SIGNAL;
    Message { data: value.into(), kind, flags, phase: phase(position), ..Message::default() }
        .to_words()
}

#[test]
fn time_codes_in_both_directions() {
    for seed in seeds(1) {
        let mut bed = Bed::new(seed);
        assert_eq!(bed.enable(SENDER, QueueKind::MessageTx, 0), Status::Ok);
        assert_eq!(bed.enable(LISTENER, QueueKind::MessageRx, 0), Status::Ok);
        // A code that is posted before the link is up waits.
        bed.post(SENDER, 0, code(17, 0));
        bed.configure();
        bed.starts();
        let mut register = TimeCodeRegister::new();
        let (mut invalid, mut last, mut time_code) = (0, 0u8, 0u8);
        for position in 0..40 {
            let value = if position == 0 { 17 } else { bed.rng.u8(..) };
            if position != 0 {
                bed.post(SENDER, position, code(value, position));
            }
            let done = Completion::from_words(bed.completion(SENDER, position));
            assert_eq!((done.status, done.packets), (0, 1), "seed {seed}");
            bed.until("the far end has a code", |bed| !bed.far.borrow().codes.is_empty());
            assert_eq!(bed.far.borrow_mut().codes.pop_front(), Some(value), "seed {seed}");
            // And back: the next one, or any.
            let any = once_in(&mut bed.rng, 3);
            let back = if any { bed.rng.u8(..) } else { last.wrapping_add(1) & 0x3f };
            last = back;
            // Distributed interrupts are no time-codes.
            if back >> 6 != 0b10 {
                time_code = back;
                invalid += u32::from(!register.receive(back & 0x3f));
            }
            bed.far.borrow_mut().port.port.broadcast_any(BroadcastCode(back));
            let got = Message::from_words(bed.completion(LISTENER, position));
            assert_eq!((got.data, got.kind), (back.into(), MessageKind::TimeCode.raw()));
            assert_eq!((got.flags, got.channel, got.r#type), (0, 0, 0), "seed {seed}");
            assert_eq!(bed.time_code(time_code::LAST), time_code.into(), "seed {seed}");
            assert_eq!(bed.time_code(time_code::RECEIVED), position + 1, "seed {seed}");
            assert_eq!(bed.time_code(time_code::INVALID), invalid, "seed {seed}");
            let release =
                Release { flags: 6, phase: phase(position), completions: 1, ..Release::default() };
            bed.post(LISTENER, position, release.to_words());
        }
        // What SpaceWire does not carry.
        for (position, kind, data, status) in [
            (40, MessageKind::Broadcast.raw(), 1, Status::BadOpcode),
            (41, MessageKind::TimeCode.raw(), 256, Status::BadField),
            (42, 9, 1, Status::BadField),
        ] {
            let entry =
                Message { data, kind, flags: 7, phase: phase(position), ..Message::default() };
            bed.post(SENDER, position, entry.to_words());
            let done = Completion::from_words(bed.completion(SENDER, position));
            assert_eq!(Status::from_raw(done.status), Some(status), "seed {seed}");
        }
        bed.device.run(5000);
        assert!(bed.far.borrow().codes.is_empty(), "seed {seed}: a wrong entry is sent");
    }
}

/// Bit errors and a cut cable while packets go both ways: a packet arrives whole or ends with EEP,
/// nothing is added, and the link comes up again each time.
#[test]
fn cut_packets_end_with_an_error() {
    let (mut cut_there, mut cut_back) = (0, 0);
    for seed in seeds(1) {
        let mut bed = Bed::new(seed + 50);
        assert_eq!(bed.enable(FIRST, QueueKind::Tx, 0), Status::Ok);
        assert_eq!(bed.enable(FIRST + 1, QueueKind::Rx, 0), Status::Ok);
        bed.configure();
        bed.starts();
        let changes = bed.port(port_block::CHANGES);
        let falls = bed.far.borrow().falls;
        let (mut there, mut back, mut position) = (0u32, 0u32, 0);
        bed.offer(0);
        for round in 0..16 {
            let what = round % 4;
            bed.far.borrow_mut().errors = if what == 1 { 700 } else { 0 };
            bed.send(round, &packet(there, 200));
            bed.far.borrow_mut().send(&packet(back + 77, 200));
            let pause = bed.rng.u32(500..5000);
            bed.device.run(pause);
            match what {
                2 => bed.far.borrow_mut().cut = 600,
                3 if round > 8 => assert_eq!(bed.set_mib(MibItem::LinkReset, 0, 1), Status::Ok),
                _ => {}
            }
            bed.device.run(if what == 1 { 6000 } else { 2000 });
            bed.far.borrow_mut().errors = 0;
            bed.starts();
            // What is under way comes now: two packets of 200 bytes, of which each takes 30 cycles.
            bed.device.run(14_000);
            there += 1;
            back += 1;
            while bed.device.memory
                [(BASE + Bed::place(FIRST + 1) + 0x80 + slot(position)) as usize + 14..][..2]
                == phase(position).to_le_bytes()
            {
                let (bytes, whole) = bed.received(position);
                let sent = packet(back - 1 + 77, 200);
                assert_eq!(bytes.len() == 200, whole, "seed {seed} round {round}");
                // The rest of a packet whose start the far end had sent before may come first.
                assert!(
                    bytes.len() <= 200 && sent.starts_with(&bytes),
                    "seed {seed} round {round}"
                );
                cut_back += u32::from(!whole);
                position += 1;
                bed.offer(position);
            }
            let next = || bed.far.borrow_mut().packets.pop_front();
            while let Some((bytes, whole)) = next() {
                assert_eq!(bytes.len() == 200, whole, "seed {seed} round {round}");
                assert!(packet(there - 1, 200).starts_with(&bytes), "seed {seed} round {round}");
                cut_there += u32::from(!whole);
            }
            assert!(bed.far.borrow().out.is_empty(), "seed {seed} round {round}: packets wait");
        }
        let fallen = bed.far.borrow().falls - falls;
        assert!(fallen >= 4, "seed {seed}: the link fell back {fallen} times");
        let changed = bed.port(port_block::CHANGES) - changes;
        assert!(changed >= 2 * 4, "seed {seed}: {changed} changes");
        let count = bed.element(BlockType::Event, 0, VECTOR - 1);
        assert!(bed.device.read(count + event::COUNT) > 4 && bed.device.messages[2] > 4);
    }
    assert!(cut_there > 1 && cut_back > 1, "{cut_there} and {cut_back} packets were cut");
}
