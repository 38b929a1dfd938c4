//! The receiving side of a queue pair beside the model `spfe_rdma::RdmaTarget`, packet by packet:
//! the same outcome, the same responses byte for byte, the same completions with immediate data, and
//! the same memory. The partner is an initiator of the model, behind a network that loses, repeats,
//! reorders and damages packets. Memory, channel and completions stall at random.

#[path = "../initiator/memory.rs"]
mod memory;
mod partner;
mod pins;

use memory::{KEY_BOTH, KEY_BROKEN, KEY_HOLES, KEY_READ, Memory, SIZE};
use partner::{ADDRESS, OWN, Partner};
use pins::{Inputs, Job, Outcome, Outputs};
use spfe_contract::{
    EntryType, PairCounter, Status, Submission, completion_flags as cf, submit_flags as sf,
};
use spfe_link::Word;
use spfe_link::word::k;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpHeaderError, SfrpStatus};
use spfe_rdma::target::{Dropped, Handled};
use spfe_rdma::{Local, LocalMemory, RdmaTarget, RdmaTargetOptions};
use spfe_rtl_sim::{Axi, Core, Packer, Unpacker, once_in, seeds};
use std::collections::VecDeque;

/// Nanoseconds of a cycle.
const CYCLE_NS: u64 = 50;
/// Cycles without any packet after which a queue pair with requests has stopped.
const MOST_STILL: u64 = 400_000;
/// Cycles within which a queue pair stops.
const MOST_STOPPING: u64 = 50_000;
/// The first bytes of a region: the side array.
const SIDE_BYTES: u64 = 0x1000;
/// Why a packet is discarded that finds no room for a response.
const DROP_FULL: u8 = 13;

/// What happened in all lives of a run.
#[derive(Debug, Default)]
struct Seen {
    executed: usize,
    repeated: usize,
    refused: std::collections::BTreeMap<u8, usize>,
    dropped: std::collections::BTreeMap<u8, usize>,
    full: usize,
    received: usize,
    immediates: usize,
    faults: usize,
    credits: usize,
    sent: usize,
    statuses: std::collections::BTreeSet<u8>,
    errors: std::collections::BTreeMap<String, usize>,
    counted: std::collections::BTreeMap<&'static str, u64>,
}

struct Bed {
    rng: fastrand::Rng,
    core: Core,
    packer: Packer,
    axi: Axi,
    memory: Memory,
    time: u64,
    inputs: Inputs,
    /// A translation that was asked for, and the cycles until its answer.
    asked: Option<((u8, u64, u64), u32)>,
    seen: Seen,
}

/// A queue pair, from its start to its stop.
struct Life {
    options: RdmaTargetOptions,
    model: RdmaTarget,
    partner: Partner,
    /// Region of the side array, and logarithm of the completions.
    side: (u16, u8),
    /// Entries that the core has not taken.
    ring: VecDeque<[u64; 2]>,
    /// Those that it has not kept or refused.
    posted: VecDeque<Result<Local, Status>>,
    position: u16,
    /// Those that it has not completed, with their positions.
    kept: VecDeque<(u16, Result<Local, Status>)>,
    jobs: VecDeque<Job>,
    done: u64,
    /// Packets on their way into the core.
    arriving: VecDeque<(Vec<u8>, PacketEnd)>,
    words: VecDeque<Word>,
    outcomes: VecDeque<Outcome>,
    /// Packets that the core has to send, and the credit that it has to tell.
    expected: VecDeque<Vec<u8>>,
    credit: Option<Vec<u8>>,
    told: bool,
    sent: Vec<u8>,
    busy: u8,
    /// How often the channel takes words, of 16.
    drains: u8,
    still: u64,
}

fn word(symbols: &[(u8, bool)]) -> Word {
    let symbol = |index: usize| symbols.get(index).copied().unwrap_or((k::FILL, true));
    let flags = (0..4).map(|index| u8::from(symbol(index).1) << index).sum();
    Word::from_symbols(std::array::from_fn(|index| symbol(index).0), flags)
}

fn words(packet: &[u8], end: PacketEnd) -> Vec<Word> {
    let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
    symbols.push((if end == PacketEnd::Eop { k::EOP } else { k::EEP }, true));
    symbols.chunks(4).map(word).collect()
}

/// What the core says of a packet.
fn outcome(handled: Handled, code: u8) -> Outcome {
    let dropped = |reason: Dropped| match reason {
        Dropped::OtherProtocol => 1,
        Dropped::Header(SfrpHeaderError::Short { .. }) => 2,
        Dropped::Header(SfrpHeaderError::Length { .. }) => 3,
        Dropped::Header(SfrpHeaderError::Crc) => 4,
        Dropped::Header(SfrpHeaderError::Layout) => 5,
        Dropped::NotOurs => 6,
        Dropped::Drained => 8,
        Dropped::Forgotten => 9,
    };
    match handled {
        Handled::Executed(_) => (0, 0, false, code),
        Handled::Repeated(_) => (0, 0, true, code),
        Handled::Refused(status) => (0, status.0, false, code),
        Handled::Dropped(reason) => (dropped(reason), 0, false, 0),
        Handled::ForInitiator => (7, 0, false, 0),
    }
}

/// Whether two packets are the same but for the time in INFO.
fn same(found: &[u8], expected: &[u8]) -> bool {
    let info = |packet: &[u8]| {
        let at = (0..9).find(|at| SfrpHeader::parse(packet.get(*at..).unwrap_or_default()).is_ok());
        let packet = &packet[at?..];
        let header = SfrpHeader::parse(packet).ok()?;
        let payload = header.payload(packet, PacketEnd::Eop).ok()?;
        (header.opcode() == Some(Opcode::Info)).then(|| (header, payload[..24].to_vec()))
    };
    found == expected || info(found).is_some_and(|found| Some(found) == info(expected))
}

impl Life {
    fn new(rng: &mut fastrand::Rng) -> Self {
        let options = RdmaTargetOptions {
            logical_address: ADDRESS,
            segment_bytes: rng.choice([4096, 4096, 1024, 256]).expect("has some"),
            ..RdmaTargetOptions::default()
        };
        let mut model = RdmaTarget::new(options);
        model.set_vcs(1);
        let broken = rng.choice([KEY_READ, KEY_BROKEN]).expect("has some");
        Self {
            model,
            partner: Partner::new(rng, &options),
            options,
            side: (if once_in(rng, 8) { broken } else { KEY_BOTH }, rng.u8(3..8)),
            ring: VecDeque::new(),
            posted: VecDeque::new(),
            position: 0,
            kept: VecDeque::new(),
            jobs: VecDeque::new(),
            done: 0,
            arriving: VecDeque::new(),
            words: VecDeque::new(),
            outcomes: VecDeque::new(),
            expected: VecDeque::new(),
            credit: None,
            told: true,
            sent: Vec::new(),
            busy: 2,
            drains: 12,
            still: 0,
        }
    }

    /// Posts buffers now and then.
    fn post(&mut self, rng: &mut fastrand::Rng) {
        if self.posted.len() + self.kept.len() > 20 || !once_in(rng, 900) {
            return;
        }
        for _ in 0..rng.usize(1..6) {
            let mut length = match once_in(rng, 3) {
                true => rng.choice([1, 16, 300, 4096, 5000]).expect("has some"),
                false => 12_000,
            };
            let mut region = KEY_BOTH;
            if once_in(rng, 8) {
                region = rng.choice([KEY_BROKEN, KEY_HOLES, KEY_HOLES]).expect("has some");
            }
            let mut offset = rng.u64(SIDE_BYTES..SIZE - u64::from(length));
            let mut flags = u16::from(EntryType::Buffer.raw());
            let mut status = None;
            if once_in(rng, 12) {
                let wrong = match rng.u8(..7) {
                    0 => (flags = u16::from(EntryType::Data.raw()), Status::BadOpcode).1,
                    1 => (flags |= sf::MBZ_MASK & 0x8000, Status::BadField).1,
                    2 => (length = 0, Status::Empty).1,
                    3 => (length = 1 << 30 | 1, Status::TooLong).1,
                    4 => (region = 0x7007, Status::BadRegion).1,
                    5 => (offset = SIZE - u64::from(length) + 1, Status::OutOfBounds).1,
                    _ => (region = KEY_READ, Status::AccessDenied).1,
                };
                status = Some(wrong);
            }
            let mut entry = Submission::from_words([u64::from(region) << 48 | offset, 0]);
            (entry.length, entry.flags) = (length, flags);
            self.ring.push_back(entry.to_words());
            let place = Local { memory: region.into(), offset, length };
            self.posted.push_back(status.map_or(Ok(place), Err));
        }
    }

    /// Expects the completions that are due.
    fn publish(&mut self, bed: &mut Bed) {
        while let Some((position, place)) = self.kept.front().copied() {
            let packets = 1;
            let refusal = |status: Status| Job {
                position,
                status: status.raw(),
                packets,
                bytes: 0,
                flags: 0,
                urgent: true,
            };
            let job = match place {
                Err(status) => refusal(status),
                Ok(_) => {
                    let Some(message) = self.model.received(OWN).expect("is open") else { break };
                    assert_eq!(message.id, u64::from(position));
                    let status = match message.status {
                        SfrpStatus::OK if message.fault => Status::BadRegion,
                        SfrpStatus::OK => Status::Ok,
                        _ => Status::TooLong,
                    };
                    if let Some(immediate) = message.immediate {
                        self.immediate(bed, immediate);
                    }
                    Job {
                        bytes: message.bytes,
                        flags: message.immediate.map_or(0, |_| cf::IMMEDIATE),
                        urgent: status != Status::Ok,
                        ..refusal(status)
                    }
                }
            };
            self.kept.pop_front();
            self.done += 1;
            self.jobs.push_back(job);
        }
    }

    /// Immediate data belongs in the second half of the side array.
    fn immediate(&mut self, bed: &mut Bed, immediate: u32) {
        bed.seen.immediates += 1;
        let size = 1 << self.side.1;
        let offset = 8 * (size + (self.done & (size - 1)));
        let place = Local { memory: KEY_BOTH.into(), offset, length: 8 };
        if self.side.0 == KEY_BOTH {
            let bytes = u64::from(immediate).to_le_bytes();
            bed.memory.model.write(place, &bytes).expect("is there");
        } else {
            bed.seen.faults += 1;
        }
    }

    /// Takes what the model sends.
    fn collect(&mut self) {
        while self.model.waiting_vc().is_some() {
            let mut out = Vec::new();
            self.model.respond(0, &mut out).expect("has a response");
            let credit = (0..9).any(|at| {
                let header = SfrpHeader::parse(out.get(at..).unwrap_or_default());
                header.is_ok_and(|header| header.opcode() == Some(Opcode::Credit))
            });
            if credit {
                (self.credit, self.told) = (Some(out), false);
            } else {
                self.expected.push_back(out);
            }
        }
    }

    /// The core judges the packet that has arrived first.
    fn judge(&mut self, bed: &mut Bed, at: &str) {
        let (packet, end) = self.arriving.front().expect("a packet has arrived");
        let memory = &mut bed.memory.model;
        let handled = self.model.handle_with(packet, *end, 0, bed.time, memory);
        match handled {
            Handled::Executed(Opcode::Connect) => {
                // The answer tells all credit.
                (self.credit, self.told) = (None, true);
                bed.seen.executed += 1;
            }
            Handled::Executed(_) => bed.seen.executed += 1,
            Handled::Repeated(_) => bed.seen.repeated += 1,
            Handled::Refused(status) => *bed.seen.refused.entry(status.0).or_default() += 1,
            Handled::Dropped(_) | Handled::ForInitiator => {
                *bed.seen.dropped.entry(outcome(handled, 0).0).or_default() += 1;
            }
        }
        assert!(self.outcomes.is_empty(), "{at}: two packets at once");
        self.outcomes.push_back(outcome(handled, packet.get(3).copied().unwrap_or(0)));
        self.collect();
    }

    /// Compares what became of a packet.
    fn handled(&mut self, bed: &mut Bed, found: Outcome, at: &str) {
        self.still = 0;
        self.arriving.pop_front();
        if found.0 == DROP_FULL {
            bed.seen.full += 1;
            return;
        }
        let expected = self.outcomes.pop_front().expect("a packet was judged");
        let found = if found.0 == 0 { found } else { (found.0, 0, false, 0) };
        let found = if found.1 == 0 { found } else { (0, found.1, false, found.3) };
        assert_eq!(found, expected, "{at}: what became of a packet");
    }

    /// Compares a packet that the core has sent.
    fn compare(&mut self, bed: &mut Bed, cycle: u64, packet: &[u8], at: &str) {
        self.partner.respond(&mut bed.rng, cycle, packet);
        let parsed = |packet: &[u8]| {
            let from = |at| SfrpHeader::parse(packet.get(at..).unwrap_or_default()).ok();
            (0..9).find_map(|at| Some((packet[..at].to_vec(), from(at)?)))
        };
        if let Some((path, mut header)) = parsed(packet)
            && header.opcode() == Some(Opcode::Credit)
        {
            bed.seen.credits += 1;
            let model = self.credit.as_ref().and_then(|credit| parsed(credit));
            let Some((model_path, model)) = model else { return };
            assert_eq!(path, model_path, "{at}: path of credit");
            self.told = header.immediate == model.immediate;
            assert!(header.immediate <= model.immediate, "{at}: credit");
            header.immediate = model.immediate;
            assert_eq!(header, model, "{at}: credit");
            return;
        }
        let expected = self.expected.pop_front().unwrap_or_default();
        assert!(
            same(packet, &expected),
            "{at}: response\n{packet:02x?}, expected\n{expected:02x?}"
        );
    }

    /// Takes the outputs of a cycle.
    fn take(&mut self, bed: &mut Bed, outputs: &Outputs, cycle: u64, at: &str) {
        if bed.inputs.entry.is_some() && outputs.entry_ready {
            self.ring.pop_front();
        }
        if bed.inputs.word.is_some() && outputs.word_ready {
            self.words.pop_front();
        }
        if let Some(good) = outputs.kept {
            assert!(!outputs.judged, "{at}: a buffer during a judgement");
            let place = self.posted.pop_front().expect("it was posted");
            assert_eq!(good, place.is_ok(), "{at}: {place:?}");
            if let Ok(place) = place {
                self.model.post_place(OWN, self.position.into(), place).expect("is open");
            }
            self.kept.push_back((self.position, place));
            self.position = self.position.wrapping_add(1);
            self.collect();
        }
        if outputs.judged {
            self.judge(bed, at);
        }
        if bed.inputs.open {
            self.publish(bed);
        }
        if let Some(found) = outputs.handled {
            self.handled(bed, found, at);
        }
        assert!(!outputs.fault || self.side.0 != KEY_BOTH, "{at}: the side array is there");
        if let Some(job) = outputs.job.filter(|_| bed.inputs.job_ready) {
            assert_eq!(Some(job), self.jobs.pop_front(), "{at}: completion");
            bed.seen.received += usize::from(job.status == 0);
            bed.seen.statuses.insert(job.status);
        }
        if let Some(word) = outputs.word.filter(|_| bed.inputs.word_ready) {
            for (index, symbol) in word.symbols().into_iter().enumerate() {
                match (word.k >> index & 1 != 0, symbol) {
                    (false, byte) => self.sent.push(byte),
                    (true, k::FILL) => {}
                    (true, end) => {
                        assert_eq!(end, k::EOP, "{at}: end of a packet");
                        let packet = std::mem::take(&mut self.sent);
                        self.compare(bed, cycle, &packet, at);
                    }
                }
            }
        }
    }

    /// Nothing is under way, and everything was told.
    fn is_done(&self, outputs: &Outputs) -> bool {
        self.partner.is_done()
            && self.words.is_empty()
            && self.arriving.is_empty()
            && self.jobs.is_empty()
            && self.expected.is_empty()
            && outputs.silent
            && (self.told || self.credit.is_none())
    }
}

impl Bed {
    fn new(seed: u64, buffers: usize, protect: usize) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let memory = Memory::new(&mut rng);
        let parameters = [("Buffers", buffers), ("Responses", 4), ("Protect", protect)];
        Self {
            core: Core::new("spfe_sim_receiver", &parameters, seed),
            memory,
            rng,
            packer: Packer::default(),
            axi: Axi::default(),
            time: 1000,
            inputs: Inputs::default(),
            asked: None,
            seen: Seen::default(),
        }
    }

    /// A cycle of the core.
    fn cycle(&mut self, options: &RdmaTargetOptions) -> Outputs {
        self.time += CYCLE_NS;
        self.inputs.time = self.time;
        self.axi.drive(&mut self.memory.bus, &mut self.rng);
        self.inputs.translation = None;
        if let Some((answer, cycles)) = &mut self.asked {
            *cycles -= 1;
            if *cycles == 0 {
                self.inputs.translation = Some(*answer);
                self.asked = None;
            }
        }
        pins::pack(&mut self.packer, &self.inputs, OWN, options, &self.axi);
        let mut bits = Unpacker::new(self.core.step(self.packer.words()));
        // Until it is reset the core says anything.
        if self.inputs.rst {
            return Outputs::default();
        }
        let outputs = pins::unpack(&mut bits, &mut self.axi);
        if let Some(asked) = outputs.asked {
            self.asked = Some((self.memory.translate(&asked), self.rng.u32(1..6)));
        }
        outputs
    }

    /// A counter as a host reads it: the upper half, the lower one, and the upper one again.
    fn counter(&mut self, options: &RdmaTargetOptions, number: u8) -> u64 {
        let [high, low, again] = [1, 0, 1].map(|half| {
            let mut value = 0;
            for _ in 0..2 {
                self.inputs.read = Some(2 * number + half);
                let outputs = self.cycle(options);
                value = outputs.count;
            }
            self.inputs.read = None;
            self.cycle(options);
            self.cycle(options);
            value
        });
        assert_eq!(high, again);
        u64::from(high) << 32 | u64::from(low)
    }

    /// The counters of the core are those of the model.
    fn compare(&mut self, life: &Life, at: &str) {
        (self.inputs.entry, self.inputs.word) = (None, None);
        let present = self.counter(&life.options, 63);
        for (counter, count) in life.model.counts().numbered() {
            let there = present >> counter.raw() & 1 != 0;
            assert_eq!(there, counter != PairCounter::TargetNotificationsDropped, "{at}");
            let found = self.counter(&life.options, counter.raw());
            assert_eq!(found, count, "{at}: {counter:?}");
            *self.seen.counted.entry(counter.name()).or_default() += found;
        }
    }

    /// Starts a queue pair.
    fn start(&mut self) -> Life {
        let life = Life::new(&mut self.rng);
        let words = (life.side.0, 0);
        self.inputs = Inputs { words, cq_log2: life.side.1, ..Inputs::default() };
        let first = self.core.cycles() == 0;
        for cycle in 0..16 {
            self.inputs.rst = first && cycle < 8;
            self.cycle(&life.options);
        }
        life
    }

    /// Runs a queue pair until it is stopped.
    fn live(&mut self, seed: u64) {
        let mut life = self.start();
        let start = self.core.cycles();
        // For a while requests are answered, and there is no queue for messages.
        let open_from = start + if once_in(&mut self.rng, 3) { 20_000 } else { 0 };
        let stops = once_in(&mut self.rng, 4).then(|| start + self.rng.u64(1..60_000));
        let mut off = 0;
        let mut done = false;
        loop {
            let cycle = self.core.cycles();
            let at = format!("seed {seed} cycle {cycle}");
            if once_in(&mut self.rng, 2000) {
                life.busy = self.rng.u8(1..5);
                life.drains = self.rng.choice([0, 1, 12, 16]).expect("has some");
            }
            off += u64::from(done || off > 0 || stops.is_some_and(|at| cycle >= at));
            if off == 1 && self.inputs.open {
                life.model.close_queue(OWN);
            }
            self.inputs.on = off == 0;
            if off == 0 && cycle >= open_from && !self.inputs.open {
                life.model.open_queue(OWN).expect("is closed");
            }
            self.inputs.open = off == 0 && cycle >= open_from;
            if self.inputs.open {
                life.post(&mut self.rng);
            }
            life.partner.step(&mut self.rng, cycle, self.time);
            if life.words.len() < 8
                && off == 0
                && let Some((packet, end)) = life.partner.receive(cycle)
            {
                life.words.extend(words(&packet, end));
                life.arriving.push_back((packet, end));
            }
            let busy = life.busy;
            let mut often = || self.rng.u8(..4) < busy;
            let entry = life.ring.front().copied().filter(|_| often() && off == 0);
            self.inputs.entry = entry.filter(|_| self.inputs.open);
            self.inputs.word = life.words.front().copied().filter(|_| often());
            self.inputs.job_ready = often();
            self.inputs.word_ready = self.rng.u8(..16) < life.drains || off > 0;
            let outputs = self.cycle(&life.options);
            assert!(!outputs.failed, "{at}: a memory has failed");
            if off == 0 {
                life.take(self, &outputs, cycle, &at);
                done = life.is_done(&outputs);
                if done {
                    self.compare(&life, &at);
                }
            } else {
                life.finish(self, &outputs);
            }
            if off > 4 && outputs.idle && outputs.silent && life.words.is_empty() {
                break;
            }
            assert!(off < MOST_STOPPING, "{at}: does not stop");
            life.still += 1;
            let why = life.partner.why(self.time);
            assert!(
                life.still < MOST_STILL,
                "{at}: nothing happens; {} words, {} packets, {} completions missing, told {}; {why}",
                life.words.len(),
                life.arriving.len(),
                life.jobs.len(),
                life.told,
            );
        }
        self.seen.sent += life.partner.sent;
        for status in &life.partner.errors {
            *self.seen.errors.entry(format!("{status:?}")).or_default() += 1;
        }
        self.memory.check(&format!("seed {seed}"));
    }
}

impl Life {
    /// Takes the outputs of a cycle in which the queue pair stops.
    fn finish(&mut self, bed: &Bed, outputs: &Outputs) {
        if bed.inputs.word.is_some() && outputs.word_ready {
            self.words.pop_front();
        }
    }
}

fn run(seed: u64, buffers: usize, protect: usize, lives: usize) -> Seen {
    let mut bed = Bed::new(seed, buffers, protect);
    for _ in 0..lives {
        bed.live(seed);
    }
    bed.seen
}

#[test]
fn same_as_the_model() {
    for seed in seeds(2) {
        let seen = run(seed, 8, 0, 150);
        println!("seed {seed}: {seen:?}");
        // The mixture has something of everything.
        let refused = [1, 2, 3, 7, 8, 9, 10, 11, 12, 15, 16];
        assert!(
            seen.executed > 1000
                && seen.received > 300
                && seen.repeated > 30
                && refused.iter().all(|status| seen.refused.contains_key(status))
                && [1, 2, 4, 6, 7, 8].iter().all(|reason| seen.dropped.contains_key(reason))
                && seen.full > 10
                && seen.immediates > 50
                && seen.faults > 5
                && seen.credits > 100
                && seen.sent > 300
                && seen.statuses.len() == 8,
            "seed {seed}: {seen:?}"
        );
    }
}

#[test]
fn with_check_bits_and_two_buffers() {
    run(1, 2, 2, 30);
}

/// Queue pair 0 is not served: sequences cannot begin there, and questions are answered.
#[test]
fn queue_pair_0() {
    let mut bed = Bed::new(1, 8, 0);
    let life = bed.start();
    (bed.inputs.on, bed.inputs.open, bed.inputs.word_ready) = (true, true, true);
    let statuses = [
        (Opcode::Connect, SfrpStatus::BAD_QUEUE),
        (Opcode::Flush, SfrpStatus::BAD_QUEUE),
        (Opcode::Read, SfrpStatus::BAD_QUEUE),
        (Opcode::Info, SfrpStatus::OK),
        (Opcode::Regions, SfrpStatus::OK),
    ];
    for (opcode, expected) in statuses {
        let flags = Flags::ACK | Flags::FIRST | Flags::LAST;
        let request = SfrpHeader { receiver: ADDRESS, flags, ..SfrpHeader::request(opcode) };
        let mut packet = vec![0; request.packet_bytes()];
        request.encode(&[], &mut packet).expect("fits");
        let mut words: VecDeque<Word> = words(&packet, PacketEnd::Eop).into();
        let mut answer = Vec::new();
        for _ in 0..500 {
            bed.inputs.word = words.front().copied();
            let outputs = bed.cycle(&life.options);
            if outputs.word_ready {
                words.pop_front();
            }
            if let Some(word) = outputs.word {
                let data = |at: &usize| word.k >> at & 1 == 0;
                answer.extend((0..4).filter(data).map(|at| word.symbols()[at]));
            }
        }
        let header = SfrpHeader::parse(&answer).expect("an answer has come");
        assert_eq!((header.opcode(), header.status), (Some(opcode), expected.0));
    }
}
