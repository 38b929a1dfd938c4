//! Random operations of a queue pair over hostile links, packet level and exact, with bit errors, link
//! resets and packets that are cut on exact ones. After each group of operations memory, messages and
//! completions are compared with a model of verbs (`spfe-rdma/tests/model`). All in virtual time.
//!
//! `SPFE_RDMA_OPERATIONS=N` runs N operations of each kind of network instead of a few hundred, and
//! `SPFE_RDMA_SECONDS=N` ends each kind after this time. `SPFE_RDMA_FIRST=N` begins at a seed: a run that
//! was ended prints the next one.

#[path = "../../spfe-rdma/tests/model/mod.rs"]
mod model;

use fastrand::Rng;
use model::{AROUND, Episode, MESSAGE_MAX, Message, Model, REGION, SEGMENT};
use spfe::pair::KeyOptions;
use spfe::{Embedded, Endpoint, LinkModel, Mode, QueueOptions, Topology};
use spfe_rdma::{Local, PairState, WorkCompletion};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operations of an episode.
const COUNT: usize = 24;
/// Episodes of one network.
const EPISODES: usize = 10;
const LOCAL: usize = COUNT * MESSAGE_MAX;
const BUFFERS: u64 = 64;
/// Longer than the greatest lateness, and than the queue pair's bound.
const QUIET: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// A kind of network.
#[derive(Clone, Copy)]
struct Kind {
    link: &'static str,
    model: LinkModel,
    hostile: &'static str,
    /// Faults of the wire, which an exact link has: how often an episode meets each.
    wire: bool,
    /// Share of the operations that must be OK.
    least: f64,
}

struct Run {
    rng: Rng,
    network: Arc<Embedded>,
    near: RdmaQueue,
    far: RdmaQueue,
    key: u32,
    shared: u32,
    buffers: u32,
    /// Buffers that are not posted.
    free: Vec<u64>,
    received: VecDeque<Message>,
    done: Vec<WorkCompletion>,
    kind: Kind,
    _ends: (Endpoint, Endpoint),
}

fn options(own: u16, partner: u16) -> RdmaQueueOptions {
    let mut options = RdmaQueueOptions::default();
    let of = &mut options.initiator;
    (of.queue, of.target_queue) = (own, partner);
    (of.address, of.target) = (0x50 + own as u8, 0x50 + partner as u8);
    (of.segment_bytes, of.depth, of.window, of.reads) = (SEGMENT, 64, 8, 4);
    (of.timeout_ns, of.retries) = (1_000_000, 6);
    options
}

impl Run {
    fn new(seed: u64, kind: Kind) -> Self {
        fastrand::seed(seed);
        let topology = Topology::pairs(2, kind.link.parse().unwrap(), Mode::Inline);
        let topology = Topology { virtual_time: true, ..topology.with_model(kind.model) };
        let network = Embedded::new(topology).unwrap();
        let a = Endpoint::attach(&network, 0, "a").unwrap();
        let b = Endpoint::attach(&network, 1, "b").unwrap();
        let vc = |end: &Endpoint| end.port(0).unwrap().vc(0).unwrap();
        let near = RdmaQueue::open(&vc(&a), options(5, 7)).unwrap();
        let mut far = RdmaQueue::open(&vc(&b), options(7, 5)).unwrap();
        assert!(near.is_on_device() && far.is_on_device());
        far.open_buffers(&QueueOptions::default()).unwrap();
        // Shared, so that messages can be read while other buffers of it are posted.
        let buffers = far.register_shared(&vec![0; BUFFERS as usize * MESSAGE_MAX]).unwrap();
        let shared = far.register_shared(&[0; REGION + 2 * AROUND]).unwrap();
        let window = Local { memory: shared, offset: AROUND as u64, length: REGION as u32 };
        let key = far.share(window, &KeyOptions::default(), PATIENCE).unwrap().0;
        let hostile = format!("{},seed={seed}", kind.hostile).parse().unwrap();
        network.set_hostile(Some(hostile));
        Self {
            rng: Rng::with_seed(seed),
            network,
            near,
            far,
            key,
            shared,
            buffers,
            free: (0..BUFFERS).collect(),
            received: VecDeque::new(),
            done: Vec::new(),
            kind,
            _ends: (a, b),
        }
    }

    fn post_buffers(&mut self, count: usize) {
        for _ in 0..count.min(self.free.len()) {
            let id = self.free.pop().unwrap();
            let offset = id * MESSAGE_MAX as u64;
            let buffer = Local { memory: self.buffers, offset, length: MESSAGE_MAX as u32 };
            self.far.post_buffer(id, buffer).unwrap();
        }
    }

    /// Takes completions and messages; posts buffers, sometimes late.
    fn collect(&mut self) {
        while let Some(done) = self.near.poll().unwrap() {
            self.done.push(done);
        }
        while let Some(message) = self.far.poll_message() {
            assert_eq!(message.status, spfe::Status::Ok);
            let mut bytes = vec![0; if message.is_write { 0 } else { message.bytes as usize }];
            self.far.load(self.buffers, message.buffer.offset, &mut bytes).unwrap();
            self.received.push_back((bytes, message.immediate));
            self.free.push(message.id);
            if self.rng.u32(..4) > 0 {
                self.post_buffers(1);
            }
        }
        if self.rng.u32(..8) == 0 {
            self.post_buffers(1);
        }
    }

    /// Lets time pass until nothing has arrived for two times [`QUIET`]. A wait ends at once while there
    /// are messages, so they are taken. The sender's thread moves packets: one that the link held back
    /// is moved at the end of a wait, and arrives in the next one.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 2 {
            self.collect();
            quiet = match self.far.wait_message(QUIET) {
                Ok(()) => 0,
                Err(RdmaError::TimedOut { .. }) => quiet + 1,
                Err(error) => panic!("{error}"),
            };
        }
        self.collect();
    }

    /// Connects, however often that takes.
    fn connect(&mut self) {
        for _ in 0..100 {
            match self.near.connect(PATIENCE) {
                Ok(()) => return,
                Err(RdmaError::TimedOut { .. } | RdmaError::Refused { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        panic!("never connected: {}", self.near.why());
    }

    /// What is in the region, and the messages.
    fn content(&mut self) -> Model {
        let mut all = vec![0; REGION + 2 * AROUND];
        self.far.load(self.shared, 0, &mut all).unwrap();
        let memory = all[AROUND..AROUND + REGION].to_vec();
        let around = [&all[..AROUND], &all[AROUND + REGION..]].concat();
        assert_eq!(around, [0; 2 * AROUND], "memory around the region");
        Model { memory, received: self.received.clone() }
    }

    /// Disturbs the wires of an exact link.
    fn disturb(&mut self) {
        if !self.kind.wire {
            return;
        }
        let end = if self.rng.bool() { ("0.0", "a") } else { ("1.0", "b") };
        let fault = match self.rng.u32(..6) {
            0 => format!("what = \"eep\"\nnode = \"{}\"\n", end.0),
            1 => format!("what = \"link-reset\"\nlink = \"0.0-1.0\"\nend = \"{}\"\n", end.1),
            2 => "what = \"bit-errors\"\nlink = \"0.0-1.0\"\nrate = 2e-5\n".to_owned(),
            3 => {
                "what = \"cut\"\nlink = \"0.0-1.0\"\nduration = \"20us\"\nat = \"5us\"\n".to_owned()
            }
            _ => return,
        };
        self.network.add_fault(&fault).unwrap();
    }

    /// Posts operations in groups, waits for all of them, and compares. Returns how many were OK.
    fn episode(&mut self) -> Result<usize, String> {
        if self.near.state() != PairState::Ready {
            self.connect();
            // What an earlier connection has sent.
            self.settle();
        }
        self.received.clear();
        self.done.clear();
        let before = self.content();
        self.post_buffers(8);
        let (mut at, mut bytes, mut operations) = (0, vec![0x5a; LOCAL], Vec::new());
        let number = self.near.register(bytes.clone()).unwrap();
        for id in 0..COUNT {
            let place = (self.key, number);
            let mut of = model::operation(&mut self.rng, id as u64, place, &mut at, &mut bytes);
            of.request.flags.signaled = id + 1 == COUNT || self.rng.u32(..4) > 0;
            operations.push(of);
        }
        self.near.memory_mut(number).copy_from_slice(&bytes);
        self.disturb();
        for of in &operations {
            self.near.post(of.request.clone()).unwrap();
            if self.rng.u32(..4) == 0 {
                self.near.ring().unwrap();
                self.collect();
            }
        }
        self.near.ring().unwrap();
        // The last one has a completion.
        for turn in 0.. {
            self.collect();
            if self.done.iter().any(|done| done.id + 1 == COUNT as u64) {
                break;
            }
            assert!(turn < 100_000, "{}", self.near.why());
            match self.near.wait(1, Duration::from_micros(50)) {
                Ok(()) | Err(RdmaError::TimedOut { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        self.network.end_faults("").ok();
        // What is still on its way arrives.
        self.settle();
        let after = self.content();
        let local = self.near.release(number);
        let got = |of: Local| local[of.offset as usize..][..of.length as usize].to_vec();
        let episode = Episode { before, operations: &operations, done: &self.done };
        let good = episode.check(&after, got)?;
        // Only reads change local memory.
        for of in operations.iter().filter(|of| of.request.kind == spfe_rdma::WorkKind::Read) {
            for piece in of.request.local.iter() {
                let range = piece.offset as usize..piece.offset as usize + piece.length as usize;
                bytes[range.clone()].copy_from_slice(&local[range]);
            }
        }
        let changed = bytes.iter().zip(&local).position(|(was, is)| was != is);
        changed.map_or(Ok(good), |at| Err(format!("byte {at} of the local memory")))
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn campaign(name: &str, kind: Kind) {
    let operations = number("SPFE_RDMA_OPERATIONS").unwrap_or(240);
    let limit = number("SPFE_RDMA_SECONDS").map(Duration::from_secs);
    let (start, mut seed) = (Instant::now(), number("SPFE_RDMA_FIRST").unwrap_or(1));
    let (mut good, mut all) = (0, 0);
    let mut counts = spfe_topology::hostile::HostileCounts::default();
    while all < operations && limit.is_none_or(|limit| start.elapsed() < limit) {
        let mut run = Run::new(seed, kind);
        for episode in 0..EPISODES {
            match run.episode() {
                Ok(ok) => good += ok,
                Err(what) => panic!("{name}, seed {seed}, episode {episode}: {what}"),
            }
            all += COUNT as u64;
        }
        counts = counts.plus(run.network.hostile_counts());
        seed += 1;
    }
    let seconds = start.elapsed().as_secs();
    println!(
        "{name}: {all} operations, {good} with completions and OK, {counts:?}, {seconds} s; next seed \
         {seed}"
    );
    assert!(good as f64 >= all as f64 * kind.least, "{good} of {all} completed");
    if kind.hostile != "drop=0" {
        let hit = counts.dropped.min(counts.duplicated).min(counts.reordered).min(counts.damaged);
        assert!(hit > 0, "{counts:?}");
    }
}

const ALL: &str = "drop=0.01,duplicate=0.02,reorder=0.02,delay=0.01,damage=0.01,cut=0.01,time=60us";

#[test]
fn hostile_packet_level_link() {
    let (link, model) = ("4x6.25G", LinkModel::Packet);
    campaign("packet level", Kind { link, model, hostile: ALL, wire: false, least: 0.5 });
}

#[test]
fn hostile_unlimited_link() {
    let (link, model) = ("unlimited", LinkModel::Packet);
    campaign("unlimited", Kind { link, model, hostile: ALL, wire: false, least: 0.5 });
}

/// So hostile that operations fail.
#[test]
fn very_hostile_link() {
    let (link, model) = ("4x6.25G", LinkModel::Packet);
    let hostile = "drop=0.45,duplicate=0.1,reorder=0.1,damage=0.1,time=60us";
    campaign("very hostile", Kind { link, model, hostile, wire: false, least: 0.05 });
}

#[test]
fn exact_link_with_faults_of_the_wire() {
    let (link, model, hostile) = ("2x2.5G", LinkModel::Exact, "drop=0");
    campaign("exact, wire", Kind { link, model, hostile, wire: true, least: 0.5 });
}

#[test]
fn hostile_exact_link_with_faults_of_the_wire() {
    let (link, model) = ("2x2.5G", LinkModel::Exact);
    campaign("exact, wire and packets", Kind { link, model, hostile: ALL, wire: true, least: 0.4 });
}
