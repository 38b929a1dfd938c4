//! Random operations over a network that drops, repeats, reorders, damages and cuts packets.
//!
//! After every run, memory, messages and results are compared with a model of verbs semantics: what
//! completed with OK was executed exactly once and in order, what failed at most once, and what is
//! said not to have been executed was not.

mod net;

use fastrand::Rng;
use net::{Faults, Net};
use spfe_proto::sfrp::SfrpSegments;
use spfe_rdma::{
    Execution, Local, PairState, RdmaInitiator, RdmaInitiatorOptions, RdmaTarget,
    RdmaTargetOptions, TargetRegion, WorkCompletion, WorkKind, WorkRequest,
};
use std::collections::VecDeque;

const REGION: usize = 4096;
/// Bytes of the program's memory on each side of the region.
const AROUND: usize = 64;
const SEGMENT: u32 = 256;
const QUEUE: u16 = 5;
const TARGET: u8 = 0x42;

/// An operation with what the model needs.
struct Operation {
    request: WorkRequest,
    data: Vec<u8>,
}

struct Run {
    rng: Rng,
    net: Net,
    initiator: RdmaInitiator,
    target: RdmaTarget,
    key: u32,
    guard: u32,
    memory: Vec<Vec<u8>>,
    /// Memory of the target's program, which has the region in its middle in every other run.
    program: Vec<Vec<u8>>,
    in_program: bool,
    received: VecDeque<(Vec<u8>, Option<u32>)>,
    done: Vec<WorkCompletion>,
    buffers: u64,
}

impl Run {
    fn new(seed: u64, faults: Faults) -> Self {
        fastrand::seed(seed);
        let mut target = RdmaTarget::new(RdmaTargetOptions {
            logical_address: TARGET,
            segment_bytes: SEGMENT,
            ..RdmaTargetOptions::default()
        });
        let in_program = seed % 2 == 1;
        let window = Local { memory: 0, offset: AROUND as u64, length: REGION as u32 };
        let region = match in_program {
            true => TargetRegion::of_program("data", window),
            false => TargetRegion::new("data", REGION as u64),
        };
        let key = target.regions_mut().add(region, None).unwrap().0;
        let guard = target.regions_mut().add(TargetRegion::new("guard", 64), None).unwrap().0;
        target.open_queue(QUEUE).unwrap();
        let defaults = RdmaInitiatorOptions::default();
        // Buffers come at random. Without faults nothing may fail, however late they are.
        let is_faultless = faults == Faults::default();
        let not_ready_retries = if is_faultless { 10_000 } else { defaults.not_ready_retries };
        let initiator = RdmaInitiator::new(RdmaInitiatorOptions {
            target: TARGET,
            target_queue: QUEUE,
            address: 0x67,
            segment_bytes: SEGMENT,
            depth: 64,
            window: 8,
            reads: 4,
            retries: 6,
            not_ready_retries,
            ..defaults
        });
        let rng = Rng::with_seed(seed);
        Self {
            net: Net::new(seed ^ 0x5eed, faults),
            rng,
            initiator,
            target,
            key,
            guard,
            memory: vec![vec![0; 1 << 18]],
            program: vec![vec![0; REGION + 2 * AROUND]],
            in_program,
            received: VecDeque::new(),
            done: Vec::new(),
            buffers: 0,
        }
    }

    /// A random operation. Local bytes lie at `at`; reads have a place of their own.
    fn operation(&mut self, id: u64, at: &mut usize) -> Operation {
        let length = match self.rng.u32(..8) {
            0 => 0,
            1..4 => self.rng.usize(1..64),
            _ => self.rng.usize(1..1400),
        };
        let local = Local { memory: 0, offset: *at as u64, length: length as u32 };
        *at += length.max(8);
        let address = self.rng.usize(..=REGION - length) as u64;
        let word = self.rng.u64(..(REGION / 8) as u64) * 8;
        let mut request = match self.rng.u32(..10) {
            0..4 => WorkRequest::write(id, local, self.key, address),
            4..6 => WorkRequest::read(id, local, self.key, address),
            6..8 => WorkRequest::send(id, local),
            8 => {
                let kind = match self.rng.bool() {
                    true => WorkKind::FetchAdd { add: self.rng.u64(1..1 << 40) },
                    false => WorkKind::CompareSwap { compare: 0, swap: self.rng.u64(..) },
                };
                WorkRequest { key: self.key, address: word, ..WorkRequest::new(id, kind) }
            }
            _ => WorkRequest::new(id, WorkKind::Flush),
        };
        request.flags.fence = self.rng.u32(..6) == 0;
        if self.rng.u32(..8) == 0 && matches!(request.kind, WorkKind::Write | WorkKind::Send) {
            request.immediate = Some(id as u32);
        }
        let mut data = vec![0; if request.local.is_empty() { 0 } else { length }];
        self.rng.fill(&mut data);
        if request.kind != WorkKind::Read
            && let Some(local) = request.local.first()
        {
            let start = local.offset as usize;
            self.memory[0][start..start + data.len()].copy_from_slice(&data);
            // Two pieces instead of one: gather.
            if length > 1 && self.rng.bool() {
                let cut = self.rng.u32(1..length as u32);
                let rest = Local {
                    offset: local.offset + u64::from(cut),
                    length: length as u32 - cut,
                    ..*local
                };
                request.local = [Local { length: cut, ..*local }, rest].into();
            }
        }
        Operation { request, data }
    }

    fn post_buffers(&mut self, count: usize) {
        for _ in 0..count {
            self.buffers += 1;
            self.target.post_receive(QUEUE, self.buffers, vec![0; 1500]).unwrap();
        }
    }

    /// Runs until nothing is outstanding, then until the network is empty.
    fn run(&mut self) {
        let start = self.net.now_ns;
        let mut steps = 0u64;
        while self.initiator.outstanding() > 0 || !self.net.is_empty() {
            steps += 1;
            assert!(steps < 2_000_000, "{}", self.initiator.why_text(self.net.now_ns));
            let (near, far) = (&mut self.initiator, &mut self.target);
            self.net.exchange_with(near, far, &mut self.memory, &mut self.program);
            while let Some(received) = self.target.received(QUEUE).unwrap() {
                assert!(received.status.0 == 0);
                let message = match received.opcode {
                    spfe_proto::sfrp::Opcode::Send => {
                        received.buffer[..received.bytes as usize].to_vec()
                    }
                    _ => Vec::new(),
                };
                self.received.push_back((message, received.immediate));
                // Sometimes late: the sender runs out of credit.
                if self.rng.u32(..4) > 0 {
                    self.post_buffers(1);
                }
            }
            if self.rng.u32(..64) == 0 {
                self.post_buffers(1);
            }
            while let Some(completion) = self.initiator.poll() {
                self.done.push(completion);
            }
        }
        let bound = self.initiator.options().bound_ns();
        let operations = self.done.len() as u64 + 1;
        assert!(self.net.now_ns - start < bound * operations, "a bound that was not kept");
    }

    fn content(&self) -> Vec<u8> {
        let inside = AROUND..AROUND + REGION;
        let program = &self.program[0];
        let outside = program[..inside.start].iter().chain(&program[inside.end..]);
        assert!(outside.copied().all(|byte| byte == 0), "memory around the region");
        if self.in_program {
            return program[inside].to_vec();
        }
        let mut content = vec![0; REGION];
        let key = spfe_rdma::RemoteKey(self.key);
        self.target.regions().get(key).unwrap().memory.read(0, &mut content).unwrap();
        content
    }
}

/// What the model expects after some of the operations.
#[derive(Clone)]
struct Model {
    memory: Vec<u8>,
    received: VecDeque<(Vec<u8>, Option<u32>)>,
}

impl Model {
    /// Executes an operation; returns the old value of an atomic one.
    fn execute(&mut self, operation: &Operation, limit: usize) -> Option<u64> {
        let request = &operation.request;
        let at = request.address as usize;
        match request.kind {
            WorkKind::Write => {
                let part = &operation.data[..limit.min(operation.data.len())];
                self.memory[at..at + part.len()].copy_from_slice(part);
                if let Some(immediate) = request.immediate.filter(|_| limit == usize::MAX) {
                    self.received.push_back((Vec::new(), Some(immediate)));
                }
            }
            WorkKind::Send if limit == usize::MAX => {
                self.received.push_back((operation.data.clone(), request.immediate));
            }
            WorkKind::FetchAdd { .. } | WorkKind::CompareSwap { .. } if limit == usize::MAX => {
                let word = &mut self.memory[at..at + 8];
                let old = u64::from_le_bytes(word.try_into().unwrap());
                let new = match request.kind {
                    WorkKind::FetchAdd { add } => old.wrapping_add(add),
                    WorkKind::CompareSwap { compare, swap } if old == compare => swap,
                    _ => old,
                };
                word.copy_from_slice(&new.to_le_bytes());
                return Some(old);
            }
            _ => {}
        }
        None
    }
}

/// Posts operations in groups, runs them, and compares. Returns how many completed with OK.
fn episode(run: &mut Run, seed: u64, count: usize) -> usize {
    let (mut at, mut operations) = (0, Vec::new());
    let before = Model { memory: run.content(), received: VecDeque::new() };
    run.received.clear();
    run.done.clear();
    if run.initiator.state() != PairState::Ready {
        run.initiator.connect();
    }
    run.post_buffers(4);
    for id in 0..count {
        let operation = run.operation(id as u64, &mut at);
        run.initiator.post(operation.request.clone(), &run.memory).unwrap();
        operations.push(operation);
        if run.rng.u32(..4) == 0 {
            run.initiator.ring();
        }
    }
    run.initiator.ring();
    run.run();

    let done = &run.done;
    let ids: Vec<_> = done.iter().map(|completion| completion.id).collect();
    assert_eq!(ids, (0..count as u64).collect::<Vec<_>>(), "seed {seed}: one completion each");
    let good = done.iter().take_while(|completion| completion.result.is_ok()).count();
    assert!(done[good..].iter().all(|completion| completion.result.is_err()), "seed {seed}");
    let sure = |completion: &WorkCompletion| {
        completion.result.is_err_and(|error| error.execution() == Execution::NotExecuted)
    };
    let most = done.iter().position(sure).unwrap_or(count);
    assert!(good <= most, "seed {seed}: {done:?}");

    // The states after 0, 1, 2, ... operations, and the results on the way.
    let (mut states, mut olds) = (vec![before], Vec::new());
    for operation in &operations {
        let mut next = states.last().unwrap().clone();
        olds.push(next.execute(operation, usize::MAX));
        states.push(next);
    }
    let content = run.content();
    let is = |model: &Model| model.memory == content && model.received == run.received;
    let found = (good..=most).find(|executed| {
        is(&states[*executed])
            || *executed < most && {
                // A write of several packets may have stopped on the way.
                let operation = &operations[*executed];
                let (address, length) = (operation.request.address, operation.data.len() as u32);
                operation.request.kind == WorkKind::Write
                    && SfrpSegments::new(address, length, SEGMENT).any(|segment| {
                        let mut part = states[*executed].clone();
                        part.execute(operation, (segment.offset + segment.length) as usize);
                        is(&part)
                    })
            }
    });
    assert!(found.is_some(), "seed {seed}: memory or messages match no number of {good} to {most}");

    for (index, (operation, completion)) in operations.iter().zip(done).take(good).enumerate() {
        assert_eq!(completion.old, olds[index], "seed {seed}: result of {index}");
        if operation.request.kind == WorkKind::Read {
            let local = operation.request.local[0];
            let start = local.offset as usize;
            let got = &run.memory[0][start..start + local.length as usize];
            for (offset, byte) in got.iter().enumerate() {
                let place = operation.request.address as usize + offset;
                let mut values = states[index..].iter().map(|model| model.memory[place]);
                assert!(
                    values.any(|value| value == *byte),
                    "seed {seed}: byte {offset} of {index}"
                );
            }
        }
    }
    let mut guard = [0; 64];
    let key = spfe_rdma::RemoteKey(run.guard);
    run.target.regions().get(key).unwrap().memory.read(0, &mut guard).unwrap();
    assert_eq!(guard, [0; 64], "seed {seed}: memory outside the region");
    good
}

fn campaign(seeds: u64, faults: Faults, least: f64) {
    let (mut good, mut all) = (0, 0);
    for seed in 0..seeds {
        let mut run = Run::new(seed, faults);
        for _ in 0..4 {
            good += episode(&mut run, seed, 24);
            all += 24;
        }
    }
    assert!(good as f64 >= all as f64 * least, "{good} of {all} completed");
}

/// How many random networks; more in a soak test.
fn seeds() -> u64 {
    std::env::var("SPFE_RDMA_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
}

#[test]
fn without_faults_everything_completes() {
    campaign(seeds(), Faults::default(), 1.0);
}

#[test]
fn lost_packets() {
    campaign(seeds(), Faults { drop: 30, ..Faults::default() }, 0.95);
}

#[test]
fn repeated_packets() {
    campaign(seeds(), Faults { repeat: 60, ..Faults::default() }, 0.98);
}

#[test]
fn reordered_packets() {
    campaign(seeds(), Faults { delay: 60, ..Faults::default() }, 0.9);
}

#[test]
fn damaged_and_cut_packets() {
    campaign(seeds(), Faults { damage: 20, cut: 20, ..Faults::default() }, 0.95);
}

#[test]
fn all_faults_at_once() {
    let faults = Faults { drop: 20, repeat: 20, delay: 20, damage: 10, cut: 10 };
    campaign(seeds() * 2, faults, 0.8);
}

#[test]
fn most_packets_are_lost() {
    campaign(seeds(), Faults { drop: 600, repeat: 100, ..Faults::default() }, 0.0);
}
