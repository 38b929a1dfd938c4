//! The transmit and the receive engine with many queues in simulated memory. The memory answers
//! late, in any order, and refuses now and then; pages lie in any order; hosts post entries that
//! are wrong, arm and sleep, and stop queues at any moment.

mod far;
mod memory;
mod pins;
mod rate;
mod receive;
mod ring;
mod transmit;

use std::collections::VecDeque;

use memory::{Axi, KEY_RINGS, KEY_RX, KEY_TX, Memory, RINGS};
use pins::{Context, Inputs};
use receive::Receiver;
use ring::{RX, RX_PACKED, TX};
use spfe_rtl_sim::{Core, Packer, Unpacker, once_in, seeds};
use transmit::{Packet, Sender};

const QUEUES: usize = 4;
/// Cycles in which something has to happen.
const PATIENCE: u64 = 60_000;

/// What a run may do.
#[derive(Clone, Copy)]
struct Plan {
    words: usize,
    /// The channels lead through a port and a far end, which sends everything back.
    port: bool,
    packets: usize,
    /// Queues are stopped and started again.
    stops: bool,
}

#[derive(Default, Debug)]
struct Totals {
    wrong: usize,
    pieces: usize,
    wraps: usize,
    stops: usize,
    events: usize,
    fences: usize,
    fulls: usize,
    cycles: u64,
    /// Cycles for which the latest wake-up was due.
    late: u64,
}

struct Bed {
    rng: fastrand::Rng,
    memory: Memory,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    packets: Vec<VecDeque<Packet>>,
    stopping: [u64; 2],
    starting: Option<(usize, usize)>,
    totals: Totals,
}

impl Bed {
    fn ring(&mut self, engine: usize, queue: usize) -> &mut ring::Ring {
        if engine == 0 { &mut self.senders[queue].ring } else { &mut self.receivers[queue].ring }
    }

    fn wants_doorbell(&self, engine: usize, queue: usize) -> bool {
        let ring =
            if engine == 0 { &self.senders[queue].ring } else { &self.receivers[queue].ring };
        ring.wants_doorbell(&self.memory)
    }

    /// A receive queue without room says so in its device line.
    fn check_full(&mut self, engine: usize, queue: usize, waits: u8, at: &str) {
        const WAIT_BUFFER: u8 = 4;
        const LATE: u32 = 3000;
        if engine == 1 {
            let ring = &mut self.receivers[queue].ring;
            let same = waits == WAIT_BUFFER && ring.room_at == ring.posted;
            ring.room_at = ring.posted;
            ring.starved = if same { ring.starved + 1 } else { 0 };
            if ring.starved == LATE {
                let seen = (ring.posted, ring.completions);
                assert_eq!(
                    ring.full(&self.memory),
                    seen,
                    "{at} queue {queue}: mark of a full queue"
                );
                self.totals.fulls += 1;
            }
        }
    }

    /// The host of a queue has let it stop: what was under way may be lost.
    fn stopped(&mut self, engine: usize, queue: usize, axi: &[Axi; 2], at: &str) {
        let base = (2 * queue + engine) as u64 * RINGS;
        for address in axi[engine].open() {
            if let Some((key, offset)) = self.memory.whose(address) {
                let ours = match key {
                    KEY_RINGS => (base..base + RINGS).contains(&offset),
                    KEY_TX | KEY_RX => offset / memory::BUFFERS == queue as u64,
                    _ => false,
                };
                assert!(!ours, "{at}: access to {key:x} {offset:x} of queue {queue}, which is off");
            }
        }
        // Completions that came with the stop.
        if engine == 0 {
            while let Some(done) = self.senders[queue].ring.next(&self.memory) {
                self.senders[queue].complete(&done, at);
            }
            self.senders[queue].unfinished(&mut self.packets[queue]);
        } else {
            while let Some(done) = self.receivers[queue].ring.next(&self.memory) {
                self.receivers[queue].complete(&self.memory, &done, &mut self.packets[queue], at);
            }
        }
        self.ring(engine, queue).on = false;
        self.stopping[engine] &= !(1 << queue);
        self.totals.stops += 1;
    }

    /// Prepares a queue that is to start.
    fn start(&mut self, engine: usize, queue: usize) {
        let rng = &mut self.rng;
        let sq_log2 = rng.u32(2..6);
        let packed = engine == 1 && rng.bool();
        let kind = if engine == 0 {
            TX
        } else if packed {
            RX_PACKED
        } else {
            RX
        };
        let cq_log2 = if packed { sq_log2 } else { rng.u32(sq_log2..6) };
        let area_bytes = [4096, 8200, 16384][rng.usize(..3)];
        let context =
            Context { kind, stamp: rng.bool(), sq_log2, cq_log2, area_bytes, ..Context::default() };
        let memory = &mut self.memory;
        if engine == 0 {
            self.senders[queue].forget();
            self.senders[queue].ring.start(memory, engine, queue, context);
        } else {
            self.receivers[queue].restart();
            self.receivers[queue].ring.start(memory, engine, queue, context);
        }
        self.starting = Some((engine, queue));
    }

    /// What the host of a queue does in a cycle, and the doorbells that it rings.
    fn host(&mut self, engine: usize, queue: usize, more: bool, at: &str) -> [Option<u8>; 2] {
        let mut posted = false;
        if engine == 0 {
            // An entry just before the device line asks for doorbells is seen without one, or never.
            let at_once = self.senders[queue].is_empty() && !self.wants_doorbell(0, queue);
            if more && once_in(&mut self.rng, if at_once { 12 } else { 60 }) {
                let sender = &mut self.senders[queue];
                let packets = &mut self.packets[queue];
                posted = sender.post(&mut self.rng, &mut self.memory, queue, packets);
            }
            while let Some(done) = self.senders[queue].ring.next(&self.memory) {
                self.senders[queue].complete(&done, &format!("{at} queue {queue}"));
            }
        } else {
            if once_in(&mut self.rng, 60) {
                posted = self.receivers[queue].post(&mut self.rng, &mut self.memory, queue);
            }
            while let Some(done) = self.receivers[queue].ring.next(&self.memory) {
                let packets = &mut self.packets[queue];
                self.receivers[queue].complete(
                    &self.memory,
                    &done,
                    packets,
                    &format!("{at} queue {queue}"),
                );
            }
        }
        let rings = posted && self.wants_doorbell(engine, queue);
        [self.arm(engine, queue, at), rings.then_some(0)]
    }

    /// Arms now and then, and checks that the host is woken in time.
    fn arm(&mut self, engine: usize, queue: usize, at: &str) -> Option<u8> {
        // A queue that stops wakes nobody.
        if self.stopping[engine] >> queue & 1 != 0 {
            return None;
        }
        let draw = self.rng.u32(..400);
        let (count, after) = match self.rng.u8(..3) {
            0 => (Some(self.rng.u32(1..4)), None),
            1 => (None, Some(self.rng.u64(..2000))),
            _ => (Some(self.rng.u32(1..9)), Some(self.rng.u64(..9000))),
        };
        let memory = &mut self.memory;
        let ring = if engine == 0 {
            &mut self.senders[queue].ring
        } else {
            &mut self.receivers[queue].ring
        };
        if ring.armed {
            if ring.wakes(memory) != ring.woken {
                // The word changes once for each arming, and an event comes with it.
                ring.woken += 1;
                assert_eq!(ring.wakes(memory), ring.woken, "{at}: wake-ups");
                ring.disarm(memory);
            } else if ring.is_due() {
                ring.due += 1;
                self.totals.late = self.totals.late.max(ring.late());
                assert!(
                    u64::from(ring.due) < ring.patience(),
                    "{at} engine {engine} queue {queue}: not woken: {}",
                    ring.show(memory)
                );
            }
        } else if draw == 0 {
            ring.arm(memory, count, after);
            return Some(1);
        }
        None
    }
}

fn run(seed: u64, plan: Plan) -> Totals {
    let parameters = [("Words", plan.words), ("Port", 1)];
    let mut core = Core::new("spfe_sim_queues", &parameters[..1 + usize::from(plan.port)], seed);
    let mut rng = fastrand::Rng::with_seed(seed);
    let memory = Memory::new(&mut rng, QUEUES as u64);
    let mut bed = Bed {
        rng,
        memory,
        senders: (0..QUEUES).map(|_| Sender::default()).collect(),
        receivers: (0..QUEUES).map(|_| Receiver::default()).collect(),
        packets: vec![VecDeque::new(); QUEUES],
        stopping: [0; 2],
        starting: None,
        totals: Totals::default(),
    };
    let mut axi = [Axi::default(), Axi::default()];
    let mut inputs = Inputs::default();
    let mut packer = Packer::default();
    let mut doorbells = VecDeque::new();
    // Bursts that had begun at a fence.
    let mut fences = [0; 2];
    let mut far = far::FarEnd::new();
    let (mut woken, mut packets_counted, mut errors) = (0, 0, 0);
    let mut last = (0, 0);
    loop {
        let cycle = core.cycles();
        let at = format!("seed {seed} cycle {cycle}");
        let sent: usize = bed.senders.iter().map(|sender| sender.sent).sum();
        let arrived: usize = bed.receivers.iter().map(|receiver| receiver.arrived).sum();
        if sent + arrived != last.0 {
            last = (sent + arrived, cycle);
        }
        let more = sent < plan.packets;
        let ready = !plan.port || far.is_ready();
        // What a receive queue dropped when it stopped does not come any more.
        let quiet = cycle - last.1 > PATIENCE / 2;
        let mut ways = bed.receivers.iter().zip(&bed.packets);
        if !more
            && ways.all(|(receiver, packets)| {
                quiet && receiver.lost || packets.iter().all(|packet| packet.unsure)
            })
            && bed.senders.iter().all(Sender::is_idle)
        {
            assert_eq!(woken, bed.totals.events, "{at}: wake-ups and events");
            assert!(
                plan.stops || packets_counted == arrived as u64,
                "{at}: {packets_counted} counted"
            );
            assert!(errors != 0, "{at}: no error was counted");
            bed.totals.cycles = cycle;
            bed.totals.wrong += bed.senders.iter().map(|sender| sender.wrong).sum::<usize>();
            bed.totals.wrong += bed.receivers.iter().map(|receiver| receiver.wrong).sum::<usize>();
            bed.totals.pieces = bed.receivers.iter().map(|receiver| receiver.pieces).sum();
            bed.totals.wraps = bed.receivers.iter().map(|receiver| receiver.wraps).sum();
            return bed.totals;
        }
        for axi in &mut axi {
            axi.drive(&mut bed.memory.bytes, &mut bed.rng);
        }
        inputs.rst = cycle < 3;
        inputs.time = 5 * cycle;
        inputs.event_ready = bed.rng.u8(..3) != 0;
        if once_in(&mut bed.rng, 300) {
            inputs.hold = if bed.rng.bool() { 0 } else { bed.rng.u64(..1 << QUEUES) };
        }
        inputs.doorbell = doorbells.pop_front();
        inputs.start = [0, 1].map(|engine| bed.starting.is_some_and(|(which, _)| which == engine));
        if let Some((engine, queue)) = bed.starting {
            inputs.start_queue = queue;
            inputs.context = bed.ring(engine, queue).context;
        }
        inputs.stop = bed.stopping;
        pins::pack(&mut packer, &inputs, &axi, QUEUES);
        let mut bits = Unpacker::new(core.step(packer.words()));
        let outputs = pins::unpack(&mut bits, &mut axi, QUEUES);
        inputs.line = far.step(outputs.line, outputs.initialised, &mut bed.rng);
        if cycle < 3 {
            axi = Default::default();
            continue;
        }
        assert!(
            cycle - last.1 < PATIENCE,
            "{at}: nothing happens: {sent} sent, {arrived} arrived, waits {:?}, levels {:?}",
            outputs.waits,
            bed.packets.iter().map(VecDeque::len).collect::<Vec<_>>()
        );
        for engine in 0..2 {
            inputs.translation[engine] =
                outputs.asked[engine].map(|asked| bed.memory.translate(&asked));
            assert!(outputs.error[engine].is_none(), "{at}: error {:?}", outputs.error[engine]);
            if outputs.start_ready[engine] && inputs.start[engine] {
                let (_, queue) = bed.starting.take().expect("was asked for");
                let ring = bed.ring(engine, queue);
                ring.on = true;
                let state =
                    if engine == 0 { &bed.senders[queue].ring } else { &bed.receivers[queue].ring };
                assert_eq!(state.state(&bed.memory), (1, 0), "{at}: state");
            }
            if let Some(vector) = outputs.event[engine].filter(|_| inputs.event_ready) {
                assert_eq!(usize::from(vector) % 2, engine, "{at}: vector {vector}");
                bed.totals.events += 1;
            }
            if let Some(counts) = outputs.counts[engine] {
                assert!(counts.queue < QUEUES as u64, "{at}: {counts:?}");
                woken += usize::from(counts.wake);
                errors += u64::from(counts.error);
                packets_counted += if engine == 1 { counts.packets } else { 0 };
            }
            if inputs.fence[engine] && outputs.fence_ready[engine] {
                assert!(axi[engine].has_answered(fences[engine]), "{at}: a fence too early");
                bed.totals.fences += 1;
                inputs.fence[engine] = false;
            } else if !inputs.fence[engine] && once_in(&mut bed.rng, 3000) {
                inputs.fence[engine] = true;
                fences[engine] = axi[engine].bursts;
            }
            for queue in 0..QUEUES {
                bed.check_full(engine, queue, outputs.waits[engine][queue], &at);
                let stopped = outputs.stopped[engine] >> queue & 1 != 0;
                if bed.stopping[engine] >> queue & 1 != 0 && stopped {
                    bed.stopped(engine, queue, &axi, &at);
                } else if plan.stops
                    && more
                    && bed.ring(engine, queue).on
                    && once_in(&mut bed.rng, 12_000)
                {
                    bed.stopping[engine] |= 1 << queue;
                }
                if bed.ring(engine, queue).on {
                    for kind in bed.host(engine, queue, more && ready, &at).into_iter().flatten() {
                        doorbells.push_back((engine, queue, kind));
                    }
                } else if bed.starting.is_none() && outputs.stopped[engine] >> queue & 1 != 0 {
                    bed.start(engine, queue);
                }
            }
        }
    }
}

fn add(total: &mut Totals, one: &Totals) {
    total.wrong += one.wrong;
    total.pieces += one.pieces;
    total.wraps += one.wraps;
    total.stops += one.stops;
    total.events += one.events;
    total.fences += one.fences;
    total.fulls += one.fulls;
}

fn check(plans: &[Plan]) {
    let mut total = Totals::default();
    for seed in seeds(2) {
        for plan in plans {
            let totals = run(seed, *plan);
            println!("seed {seed} words {} port {}: {totals:?}", plan.words, plan.port);
            add(&mut total, &totals);
        }
    }
    let all = [total.wrong, total.pieces, total.events, total.fences];
    assert!(all.iter().all(|count| *count > 20), "{total:?}");
    assert!(total.wraps > 3 && total.stops > 5, "{total:?}");
}

#[test]
fn packets_of_many_queues_go_through_a_port() {
    let plan = Plan { words: 1, port: true, packets: 400, stops: false };
    check(&[plan, Plan { stops: true, ..plan }]);
}

#[test]
fn packets_of_many_queues_go_from_ring_to_ring() {
    let plan = Plan { words: 4, port: false, packets: 800, stops: false };
    check(&[plan, Plan { stops: true, ..plan }]);
}
