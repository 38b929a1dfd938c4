//! Random operations over a network that drops, repeats, reorders, damages and cuts packets.
//!
//! After every run, memory, messages and results are compared with a model of verbs semantics: what
//! completed with OK was executed exactly once and in order, what failed at most once, and what is
//! said not to have been executed was not.

mod model;
mod net;

use fastrand::Rng;
use model::{AROUND, Episode, Message, Model, REGION, SEGMENT};
use net::Net;
use spfe_rdma::{
    Local, PairState, RdmaInitiator, RdmaInitiatorOptions, RdmaTarget, RdmaTargetOptions,
    TargetRegion, WorkCompletion,
};
use spfe_topology::hostile::Hostile;
use std::collections::VecDeque;

const QUEUE: u16 = 5;
const TARGET: u8 = 0x42;

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
    received: VecDeque<Message>,
    done: Vec<WorkCompletion>,
    buffers: u64,
}

impl Run {
    fn new(seed: u64, faults: Hostile) -> Self {
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
        let is_faultless = faults == Hostile::NONE;
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
        let memory = &mut run.memory[0];
        let operation = model::operation(&mut run.rng, id as u64, (run.key, 0), &mut at, memory);
        run.initiator.post(operation.request.clone(), &run.memory).unwrap();
        operations.push(operation);
        if run.rng.u32(..4) == 0 {
            run.initiator.ring();
        }
    }
    run.initiator.ring();
    run.run();

    let after = Model { memory: run.content(), received: run.received.clone() };
    let episode = Episode { before, operations: &operations, done: &run.done };
    let got = |local: Local| {
        let start = local.offset as usize;
        run.memory[0][start..start + local.length as usize].to_vec()
    };
    let good = episode.check(&after, got).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    let mut guard = [0; 64];
    let key = spfe_rdma::RemoteKey(run.guard);
    run.target.regions().get(key).unwrap().memory.read(0, &mut guard).unwrap();
    assert_eq!(guard, [0; 64], "seed {seed}: memory outside the region");
    good
}

fn campaign(seeds: u64, faults: &str, least: f64) {
    let faults: Hostile = faults.parse().unwrap();
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
    campaign(seeds(), "drop=0", 1.0);
}

#[test]
fn lost_packets() {
    campaign(seeds(), "drop=0.03", 0.95);
}

#[test]
fn repeated_packets() {
    campaign(seeds(), "duplicate=0.06", 0.98);
}

#[test]
fn reordered_packets() {
    campaign(seeds(), "reorder=0.06,time=60us", 0.9);
}

#[test]
fn late_packets() {
    // Later than the time-out: messages are repeated that were only slow.
    campaign(seeds(), "delay=0.02,time=15ms", 0.5);
}

#[test]
fn damaged_and_cut_packets() {
    campaign(seeds(), "damage=0.02,cut=0.02", 0.95);
}

#[test]
fn all_faults_at_once() {
    let faults = "drop=0.02,duplicate=0.02,reorder=0.02,delay=0.01,damage=0.01,cut=0.01,time=60us";
    campaign(seeds() * 2, faults, 0.8);
}

#[test]
fn most_packets_are_lost() {
    campaign(seeds(), "drop=0.6,duplicate=0.1", 0.0);
}
