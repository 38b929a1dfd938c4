//! The initiator of RDMA beside the model `spfe_rdma::RdmaInitiator`, step by step: the same packets
//! byte for byte, with all repetitions, the same completions, and the same memory. The far end is a
//! target of the model, behind a network that loses, repeats, reorders and damages packets, and
//! answers with refusals of its own. Memory, channel and completions stall at random.

mod far;
mod memory;
mod pins;
mod requests;
mod results;

use far::{ADDRESS, Far, Faults, OWN, TARGET};
use memory::Memory;
use pins::{Inputs, Job, Outputs, Step};
use requests::{Mixture, Request};
use results::Results;
use spfe_contract::{PairCounter, Status};
use spfe_link::Word;
use spfe_link::word::k;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::ReplyPath;
use spfe_rdma::initiator::InitiatorOutcome;
use spfe_rdma::{PairState, RdmaInitiator, RdmaInitiatorOptions};
use spfe_rtl_sim::{Axi, Core, Packer, Unpacker, once_in, seeds};
use std::collections::VecDeque;

/// Nanoseconds of a cycle.
const CYCLE_NS: u64 = 50;
/// Cycles without any step after which a queue pair with requests has stopped.
const MOST_STILL: u64 = 200_000;
/// Cycles within which a queue pair starts or stops.
const MOST_STOPPING: u64 = 50_000;
/// Cycles that a step may be late, behind a packet of 4096 bytes in a slow memory.
const MOST_LATE: u64 = 6_000;

/// What happened in all lives of a run.
#[derive(Debug, Default)]
struct Seen {
    succeeded: usize,
    failed: usize,
    flushed: usize,
    unknown: usize,
    bad: usize,
    timers: usize,
    repeated: u64,
    starved: usize,
    stale: usize,
    invalid: usize,
    refused_links: usize,
    statuses: std::collections::BTreeSet<u8>,
    counted: std::collections::BTreeMap<&'static str, u64>,
}

struct Bed {
    rng: fastrand::Rng,
    core: Core,
    packer: Packer,
    axi: Axi,
    memory: Memory,
    works: usize,
    time: u64,
    inputs: Inputs,
    /// A translation that was asked for, and the cycles until its answer.
    asked: Option<((u8, u64, u64), u32)>,
    seen: Seen,
}

/// A queue pair, from its start to its stop.
struct Life {
    options: RdmaInitiatorOptions,
    model: RdmaInitiator,
    results: Results,
    far: Far,
    mixture: Mixture,
    /// Slots of the ring that the core has not taken.
    ring: VecDeque<[u64; 2]>,
    /// Requests that the core has not told about.
    posted: VecDeque<(Request, u16)>,
    position: u16,
    /// Requests that are still to be posted.
    left: usize,
    /// Packets on their way into the core.
    arriving: VecDeque<(Vec<u8>, PacketEnd)>,
    words: VecDeque<Word>,
    /// Packets that the core has to send.
    expected: VecDeque<Vec<u8>>,
    sent: Vec<u8>,
    early: Option<Job>,
    busy: u8,
    still: u64,
    stops: bool,
    /// Requests that could not be executed, those behind them, and unasked answers.
    bad: u64,
    flushed: u64,
    answers: u64,
}

fn word(symbols: &[(u8, bool)]) -> Word {
    let symbol = |index: usize| symbols.get(index).copied().unwrap_or((k::FILL, true));
    let flags = (0..4).map(|index| u8::from(symbol(index).1) << index).sum();
    Word::from_symbols(std::array::from_fn(|index| symbol(index).0), flags)
}

fn words(rng: &mut fastrand::Rng, packet: &[u8], end: PacketEnd) -> Vec<Word> {
    let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
    symbols.push((if end == PacketEnd::Eop { k::EOP } else { k::EEP }, true));
    if once_in(rng, 4) {
        for _ in 0..3 {
            symbols.insert(rng.usize(..symbols.len()), (k::FILL, true));
        }
    }
    symbols.chunks(4).map(word).collect()
}

impl Life {
    fn new(rng: &mut fastrand::Rng, works: usize, start: u64) -> (Self, u64) {
        let queue = if once_in(rng, 2) { 7 } else { 0 };
        let path: Vec<u8> = (0..rng.usize(..9)).filter(|_| true).map(|_| rng.u8(1..32)).collect();
        let path = if once_in(rng, 2) { path } else { Vec::new() };
        let reply: Vec<u8> = (0..rng.usize(..9)).map(|_| rng.u8(1..32)).collect();
        let reply = if once_in(rng, 2) { reply } else { Vec::new() };
        let options = RdmaInitiatorOptions {
            path: path.clone(),
            target: TARGET,
            target_queue: queue,
            reply_path: ReplyPath::new(&reply).expect("fits"),
            address: ADDRESS,
            queue: OWN,
            segment_bytes: rng.choice([4096, 4096, 1024, 256]).expect("has some"),
            depth: works,
            window: works,
            timeout_ns: CYCLE_NS * rng.u64(4_000..9_000),
            retries: rng.u32(..4),
            not_ready_retries: rng.u32(..8),
            ..RdmaInitiatorOptions::default()
        };
        let clean = once_in(rng, 4);
        let faults = match rng.u8(..4) {
            0 => Faults::default(),
            1 => Faults { lost: 40, repeated: 40, damaged: 40, late: 60, ..Faults::default() },
            2 => Faults { transient: 40, fatal: 1500, lost: 100, ..Faults::default() },
            _ => Faults {
                lost: 80,
                repeated: 80,
                damaged: 80,
                late: 80,
                transient: 80,
                fatal: 1500,
                dead_from: if once_in(rng, 3) { start + rng.u64(1..60_000) } else { 0 },
            },
        };
        // The numbers that the model begins with.
        let seed = rng.u64(..);
        let mut numbers = fastrand::Rng::with_seed(seed);
        let (request, message) = (numbers.u32(..), numbers.u16(..));
        let life = Self {
            model: RdmaInitiator::with_seed(options.clone(), seed),
            results: Results::default(),
            far: Far::new(faults, queue, path.len(), reply.len()),
            mixture: Mixture { errors: if clean { 100_000 } else { 100 }, messages: queue != 0 },
            options,
            ring: VecDeque::new(),
            posted: VecDeque::new(),
            position: 0,
            left: rng.usize(1..60),
            arriving: VecDeque::new(),
            words: VecDeque::new(),
            expected: VecDeque::new(),
            sent: Vec::new(),
            early: None,
            busy: 2,
            still: 0,
            stops: once_in(rng, 4),
            bad: 0,
            flushed: 0,
            answers: 0,
        };
        (life, u64::from(message) << 32 | u64::from(request))
    }

    /// Posts requests now and then.
    fn post(&mut self, rng: &mut fastrand::Rng) {
        let waits_for_bad = self.posted.iter().any(|(request, _)| request.work.is_err());
        if waits_for_bad || self.left == 0 || self.posted.len() > 20 || !once_in(rng, 150) {
            return;
        }
        for _ in 0..rng.usize(1..8) {
            let request = requests::random(rng, self.mixture);
            self.position = self.position.wrapping_add(request.entries.len() as u16);
            self.ring.extend(&request.entries);
            let bad = request.work.is_err();
            self.posted.push_back((request, self.position.wrapping_sub(1)));
            self.left = self.left.saturating_sub(1);
            if bad || self.left == 0 {
                break;
            }
        }
    }

    /// Makes the step of the core with the model.
    fn follow(&mut self, bed: &mut Bed, step: Step, now: u64, at: &str) {
        let mut packet = vec![0; self.model.packet_bytes_max()];
        let memory = &mut bed.memory.model;
        match step {
            Step::Post => {
                let (request, position) = self.posted.pop_front().expect("something was posted");
                let mut work = request.work.unwrap_or_else(|s| panic!("{at}: {s:?} is missing"));
                if self.model.state() == PairState::Reset {
                    self.model.connect();
                }
                work.id = position.into();
                self.results.post(position, request.bytes);
                self.model.post(work, memory).unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            Step::Bad => {
                let (request, position) = self.posted.pop_front().expect("something was posted");
                if self.model.state() == PairState::Error {
                    bed.seen.flushed += 1;
                    self.flushed += 1;
                    self.results.fail(position, Status::Flushed, 0, false);
                } else {
                    bed.seen.bad += 1;
                    self.bad += 1;
                    let status = request.work.expect_err("is a request that cannot be executed");
                    self.results.fail(position, status, 0, false);
                    self.model.abort();
                }
            }
            Step::Ring => self.model.ring(),
            Step::Taken | Step::Stale | Step::Invalid => {
                let (packet, end) = self.arriving.pop_front().expect("a packet has arrived");
                let outcome = match self.model.handle(&packet, end, now, memory) {
                    InitiatorOutcome::Taken => Step::Taken,
                    InitiatorOutcome::Stale => Step::Stale,
                    InitiatorOutcome::Answer(..) => {
                        self.answers += 1;
                        Step::Stale
                    }
                    InitiatorOutcome::Invalid => Step::Invalid,
                };
                bed.seen.stale += usize::from(outcome == Step::Stale);
                bed.seen.invalid += usize::from(outcome == Step::Invalid);
                assert_eq!(step, outcome, "{at}: {:02x?}", &packet[..packet.len().min(64)]);
            }
            Step::Timer | Step::Tick => {
                let (due, before) = (self.model.wake_ns(now), self.model.counts().timeouts);
                assert!(now >= due && now <= due + MOST_LATE * CYCLE_NS, "{at}: due at {due}");
                self.model.tick(now);
                let timed_out = self.model.counts().timeouts > before;
                assert_eq!(timed_out, step == Step::Timer, "{at}: {step:?}");
                bed.seen.timers += usize::from(timed_out);
            }
            Step::Connect | Step::Starve | Step::Send => {
                let sent = self.model.transmit(now, memory, &mut packet);
                let why = self.model.why_text(now);
                match (step, sent, self.model.state()) {
                    (Step::Starve, None, _) => bed.seen.starved += 1,
                    (Step::Connect | Step::Send, None, PairState::Error) => {}
                    (Step::Connect | Step::Send, Some(bytes), _) => {
                        packet.truncate(bytes);
                        self.expected.push_back(packet);
                    }
                    other => panic!("{at}: {other:?}, {why}"),
                }
            }
            Step::Stop => {}
        }
        self.results.collect(&mut self.model);
    }

    /// Compares a completion with what the model expects.
    fn compare(&mut self, bed: &mut Bed, at: &str) {
        let Some(expected) = self.results.jobs.front() else { return };
        let Some(job) = self.early.take() else { return };
        assert_eq!(job, *expected, "{at}: completion");
        self.results.jobs.pop_front();
        match job.status {
            0 => bed.seen.succeeded += usize::from(job.requests),
            _ => bed.seen.failed += 1,
        }
        bed.seen.unknown += usize::from(job.flags != 0);
        bed.seen.statuses.insert(job.status);
    }

    /// Takes the outputs of a cycle.
    fn take(&mut self, bed: &mut Bed, outputs: &Outputs, cycle: u64, at: &str) {
        if let Some(step) = outputs.step {
            self.still = 0;
            self.follow(bed, step, outputs.step_time, at);
        }
        if bed.inputs.entry.is_some() && outputs.entry_ready {
            self.ring.pop_front();
        }
        if bed.inputs.word.is_some() && outputs.word_ready {
            self.words.pop_front();
        }
        let job = outputs.job.filter(|_| bed.inputs.job_ready);
        // Successes before a request that is not executed are reported a little before its step.
        self.compare(bed, at);
        if let Some(job) = job {
            assert!(self.early.is_none(), "{at}: {:?} was not expected", self.early);
            self.early = Some(job);
        }
        self.compare(bed, at);
        if let Some(word) = outputs.word.filter(|_| bed.inputs.word_ready) {
            for (index, symbol) in word.symbols().into_iter().enumerate() {
                match (word.k >> index & 1 != 0, symbol) {
                    (false, byte) => self.sent.push(byte),
                    (true, k::FILL) => {}
                    (true, end) => {
                        assert_eq!(end, k::EOP, "{at}: end of a packet");
                        let packet = std::mem::take(&mut self.sent);
                        let expected = self.expected.pop_front();
                        assert_eq!(Some(&packet), expected.as_ref(), "{at}: packet");
                        self.far.send(&mut bed.rng, cycle, &packet);
                    }
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        let posted = self.left == 0 && self.ring.is_empty() && self.posted.is_empty();
        posted
            && self.model.outstanding() == 0
            && self.early.is_none()
            && self.expected.is_empty()
            && self.results.jobs.is_empty()
    }
}

impl Bed {
    fn new(seed: u64, works: usize, protect: usize) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let memory = Memory::new(&mut rng);
        let parameters = [("Works", works), ("Protect", protect)];
        Self {
            core: Core::new("spfe_sim_initiator", &parameters, seed),
            memory,
            rng,
            packer: Packer::default(),
            axi: Axi::default(),
            works,
            time: 1000,
            inputs: Inputs::default(),
            asked: None,
            seen: Seen::default(),
        }
    }

    /// A cycle of the core.
    fn cycle(&mut self, options: &RdmaInitiatorOptions) -> Outputs {
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
        pins::pack(&mut self.packer, &self.inputs, options, &self.axi);
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
    fn counter(&mut self, options: &RdmaInitiatorOptions, number: u8) -> u64 {
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
        let present = self.counter(&life.options, 63);
        for (counter, count) in life.model.counts().numbered() {
            let there = present >> counter.raw() & 1 != 0;
            assert_eq!(there, counter != PairCounter::Near, "{at}: {counter:?}");
            // The model has nothing of requests that cannot be executed, and of answers to
            // questions that nobody has asked.
            let own = match counter {
                PairCounter::Failed => life.bad,
                PairCounter::Flushed => life.flushed,
                PairCounter::Stale => life.answers,
                _ => 0,
            };
            let found = self.counter(&life.options, counter.raw());
            assert_eq!(found, count + own, "{at}: {counter:?}");
            *self.seen.counted.entry(counter.name()).or_default() += found;
        }
    }

    /// Runs a queue pair until it is stopped.
    fn live(&mut self, seed: u64) {
        let start = self.core.cycles();
        let (mut life, first) = Life::new(&mut self.rng, self.works, start);
        self.inputs = Inputs { seed: first, dry: true, ..Inputs::default() };
        for cycle in 0..16 {
            self.inputs.rst = start == 0 && cycle < 8;
            self.cycle(&life.options);
        }
        let until = start + self.rng.u64(1..60_000);
        let mut off = 0;
        loop {
            let cycle = self.core.cycles();
            let at = format!("seed {seed} cycle {cycle}");
            if once_in(&mut self.rng, 2000) {
                life.busy = self.rng.u8(1..5);
            }
            let stops = life.is_done() || life.stops && cycle >= until;
            off += u64::from(stops || off > 0);
            if off == 0 {
                life.post(&mut self.rng);
            }
            life.far.step(&mut self.rng, cycle, self.time);
            if life.words.len() < 8
                && off == 0
                && let Some((packet, end)) = life.far.receive(cycle)
            {
                life.words.extend(words(&mut self.rng, &packet, end));
                life.arriving.push_back((packet, end));
            }
            let busy = life.busy;
            let mut often = || self.rng.u8(..4) < busy;
            self.inputs.on = off == 0;
            self.inputs.entry = life.ring.front().copied().filter(|_| often());
            self.inputs.dry = life.ring.is_empty();
            self.inputs.word = life.words.front().copied().filter(|_| often());
            self.inputs.word_ready = often();
            self.inputs.job_ready = often();
            let outputs = self.cycle(&life.options);
            assert!(!outputs.failed, "{at}: a memory has failed");
            life.take(self, &outputs, cycle, &at);
            if off > 4 && outputs.idle && life.words.is_empty() && self.axi.is_idle() {
                assert!(life.expected.is_empty(), "{at}: packets are missing");
                break;
            }
            assert!(
                off < MOST_STOPPING,
                "{at}: does not stop: {} words, {} expected, bus idle {}, idle {}",
                life.words.len(),
                life.expected.len(),
                self.axi.is_idle(),
                outputs.idle,
            );
            life.still += 1;
            let why = life.model.why_text(self.time);
            assert!(
                life.still < MOST_STILL,
                "{at}: nothing happens, state {} waits {}; {} posted, {} completions missing; {why}",
                outputs.state,
                outputs.waits,
                life.posted.len(),
                life.results.jobs.len(),
            );
        }
        self.compare(&life, &format!("seed {seed}"));
        self.seen.repeated += life.model.counts().resent;
        self.seen.refused_links += usize::from(life.model.refusal().is_some());
        self.memory.check(&format!("seed {seed}"));
    }
}

fn run(seed: u64, works: usize, protect: usize, lives: usize) -> Seen {
    let mut bed = Bed::new(seed, works, protect);
    for _ in 0..lives {
        bed.live(seed);
    }
    bed.seen
}

#[test]
fn same_as_the_model() {
    for seed in seeds(2) {
        let seen = run(seed, 8, 0, 120);
        println!("seed {seed}: {seen:?}");
        // The mixture has something of everything.
        assert!(
            seen.succeeded > 200
                && seen.failed > 20
                && seen.flushed > 20
                && seen.unknown > 5
                && seen.bad > 5
                && seen.timers > 20
                && seen.repeated > 50
                && seen.starved > 0
                && seen.stale > 10
                && seen.invalid > 10
                && seen.counted.iter().all(|(name, count)| (*count == 0) == (*name == "NEAR")),
            "seed {seed}: {seen:?}"
        );
    }
}
