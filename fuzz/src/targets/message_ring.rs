//! Message rings at both ends of a cable, with any entries and any RELEASE.

use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_contract::{EntryType, QueueKind, Release, Status, access};
use crate::entry::{Entry, Keys};
use crate::lab::{Lent, cable};
use crate::memory;
use crate::ring::{HostQueue, RINGS_BYTES, Shape};
use spfe_host::{Attachment, LinkRate, Mode, SharedMemory};
use spfe_plane::arena::DEVICE;
use spfe_plane::view::MessageRunner;
use std::sync::Arc;

/// Number of queues: two to send and two to receive at each end.
const QUEUES: usize = 8;
const OPS_MAX: usize = 200;
const FOREIGN_BYTES: usize = 4096;

/// An operation of the input. Queues have numbers.
#[derive(Debug)]
enum Op {
    Post(usize, Entry),
    Step(bool, u8),
    Consume(usize, u8),
    Give(usize, u8),
    Scribble(usize, u16, u64),
    Open(usize, Shape, u32),
    Close(usize),
    Die(bool),
}

fn op(u: &mut Unstructured<'_>) -> Result<Op> {
    let queue = usize::from(u.arbitrary::<u8>()?) % QUEUES;
    Ok(match u.int_in_range(0..=31u8)? {
        0..=11 => Op::Post(queue, Entry::message(u)?),
        12..=17 => Op::Step(u.arbitrary()?, u.arbitrary()?),
        18..=21 => Op::Consume(queue, u.arbitrary()?),
        22..=24 => Op::Give(queue, u.arbitrary()?),
        25 => Op::Scribble(queue, u.arbitrary()?, u.arbitrary()?),
        26..=28 => Op::Open(queue, u.arbitrary()?, u.arbitrary::<u32>()? & 0x3_0303),
        29 | 30 => Op::Close(queue),
        _ => Op::Die(u.arbitrary()?),
    })
}

#[derive(Debug)]
struct Input {
    honest: bool,
    ops: Vec<Op>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let honest = !u.ratio(2, 3)?;
        let mut ops = Vec::new();
        while !u.is_empty() && ops.len() < OPS_MAX {
            ops.push(op(u)?);
        }
        Ok(Self { honest, ops })
    }
}

struct Queue {
    end: usize,
    kind: QueueKind,
    memory: Arc<SharedMemory>,
    keys: Keys,
    host: Option<HostQueue>,
    /// Completions that were consumed and not given back.
    owed: u32,
}

struct Lab {
    network: Lent,
    at: [Attachment; 2],
    neighbours: Vec<Attachment>,
    foreign: Vec<Arc<SharedMemory>>,
    runners: [MessageRunner; 2],
    queues: Vec<Queue>,
    honest: bool,
}

const BOTH: u32 = access::LOCAL_READ | access::LOCAL_WRITE;

impl Lab {
    fn new(honest: bool) -> Self {
        let topology = cable(LinkRate::Unlimited, Mode::Thread, true);
        let network = Lent::new(topology);
        let attach = |end| network.attach(end, "fuzz").expect("room");
        let at = [attach(0), attach(1)];
        let (mut foreign, mut neighbours) = (Vec::new(), Vec::new());
        let mut foreign_keys = Vec::new();
        for end in 0..2 {
            let memory = memory::pooled(QUEUES + end, RINGS_BYTES);
            memory::bytes_mut(&memory).fill(memory::FOREIGN);
            let neighbour = attach(end as u32);
            foreign_keys.push(network.add_region(neighbour, memory.clone(), BOTH).expect("room"));
            foreign.push(memory);
            neighbours.push(neighbour);
        }
        let view = network.view(DEVICE);
        let runners = [view.messages_out(0, 0), view.messages_out(1, 0)];
        let queue = |number: usize| {
            let (end, kind) = match number % 4 {
                0 => (0, QueueKind::MessageTx),
                1 => (1, QueueKind::MessageRx),
                2 => (1, QueueKind::MessageTx),
                _ => (0, QueueKind::MessageRx),
            };
            let memory = memory::pooled(number, RINGS_BYTES);
            let keys = Keys { foreign: foreign_keys[end], ..Keys::default() };
            Queue { end, kind, memory, keys, host: None, owed: 0 }
        };
        let queues = (0..QUEUES).map(queue).collect();
        let mut lab = Self { network, at, neighbours, foreign, runners, queues, honest };
        (0..QUEUES).for_each(|number| lab.register(number));
        lab
    }

    fn register(&mut self, number: usize) {
        let queue = &mut self.queues[number];
        let key = self.network.add_region(self.at[queue.end], queue.memory.clone(), BOTH);
        let key = key.expect("a free region");
        let foreign = queue.keys.foreign;
        queue.keys = Keys { rings: key, data: key, read_only: key, write_only: key, foreign };
    }

    fn open(&mut self, number: usize, shape: Shape, filter: u32) {
        let queue = &mut self.queues[number];
        if queue.host.is_some() {
            return;
        }
        let shape = if self.honest { shape.plain() } else { shape };
        let mut request = shape.request(queue.kind, &queue.keys);
        request.filter = filter;
        let host = HostQueue::new(queue.memory.clone(), &request);
        if self.network.create_queue(self.at[queue.end], request).is_ok() {
            queue.host = Some(host);
            queue.owed = 0;
        }
    }

    fn close(&mut self, number: usize) {
        let (end, kind) = (self.queues[number].end, self.queues[number].kind);
        // A queue is closed by kind: the one of this kind that was opened first.
        let closed = self.network.destroy_queue(self.at[end], 0, 0, kind.raw());
        closed.expect("a port with messages");
        for queue in &mut self.queues {
            if queue.end == end && queue.kind == kind {
                queue.host = None;
            }
        }
        let again = self.network.destroy_queue(self.at[end], 0, 0, kind.raw());
        again.expect("a port with messages");
    }

    fn take(&mut self, op: Op) {
        match op {
            Op::Post(number, entry) => self.post(number, entry),
            Op::Step(back, budget) => {
                self.runners[usize::from(back)].run(u32::from(budget));
                self.check_rings();
            }
            Op::Consume(number, count) => (0..count % 8).for_each(|_| self.consume(number)),
            Op::Give(number, count) => self.give(number, count),
            Op::Scribble(number, at, value) if !self.honest => {
                if let Some(host) = &self.queues[number].host {
                    host.scribble(at, value);
                }
            }
            Op::Scribble(..) => {}
            Op::Open(number, shape, filter) => self.open(number, shape, filter),
            Op::Close(number) => self.close(number),
            Op::Die(far) => self.die(usize::from(far)),
        }
    }

    fn post(&mut self, number: usize, entry: Entry) {
        let queue = &mut self.queues[number];
        let words = entry.words(&queue.keys);
        let receives = queue.kind == QueueKind::MessageRx;
        let Some(host) = &mut queue.host else { return };
        if !self.honest || (!receives && host.free() != 0) {
            host.post(words);
        }
    }

    fn consume(&mut self, number: usize) {
        let queue = &mut self.queues[number];
        let Some(host) = &mut queue.host else { return };
        if self.honest && queue.kind == QueueKind::MessageTx {
            if let Some((done, _)) = host.take() {
                assert!(Status::from_raw(done.status).is_some());
            }
        } else if host.take_uncredited().is_some() {
            queue.owed += 1;
        }
    }

    fn give(&mut self, number: usize, count: u8) {
        let queue = &mut self.queues[number];
        let completions = queue.owed.min(u32::from(count % 8) + 1);
        if completions == 0 || queue.kind != QueueKind::MessageRx {
            return;
        }
        if let Some(host) = &mut queue.host {
            queue.owed -= completions;
            let flags = u16::from(EntryType::Release.raw());
            host.post(Release { completions, flags, ..Release::default() }.to_words());
        }
    }

    fn die(&mut self, end: usize) {
        self.network.detach(self.at[end], true).expect("a clean end");
        self.at[end] = self.network.attach(end as u32, "fuzz").expect("room");
        for number in 0..QUEUES {
            if self.queues[number].end == end {
                self.queues[number].host = None;
                self.register(number);
            }
        }
    }

    /// Checks for honest hosts that no unread completion was overwritten by the next lap.
    fn check_rings(&self) {
        for host in self.queues.iter().filter_map(|queue| queue.host.as_ref()) {
            let next_lap = host.consumed.wrapping_add(host.cq.size());
            assert!(
                !self.honest || host.cq.read(next_lap).is_none(),
                "an unread completion was overwritten"
            );
        }
    }

    fn check(&self) {
        for memory in &self.foreign {
            let whole = memory::is_all(&memory::bytes(memory)[..FOREIGN_BYTES], memory::FOREIGN);
            assert!(whole, "the device wrote to memory of another client");
        }
    }
}

crate::target!(|input: Input| {
    let mut lab = Lab::new(input.honest);
    for op in input.ops {
        lab.take(op);
    }
    for runner in &mut lab.runners {
        runner.run(u32::MAX);
        runner.wake_due();
    }
    lab.check_rings();
    lab.check();
    let Lab { network, at, neighbours, .. } = lab;
    network.give_back(&[&at[..], &neighbours].concat());
});
