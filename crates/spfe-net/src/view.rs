//! The data plane of one process: its mappings of everybody's regions, and runners of flows.

use crate::arena::Arena;
use crate::capture::Hub;
use crate::clock::{Clock, VirtualClock};
use crate::engine_time::EngineTime;
use crate::event::Event;
use crate::exact::Exact;
use crate::exact::ends::{LinkIn, LinkOut};
use crate::instrument::{self, Generator, Listener, SinkCheck, Talker};
use crate::os::{self, SharedMemory};
use crate::topology::{Mode, Peer};
use spfe_contract::{Message, Status};
use spfe_device::flow::{Flow, Regions, StepOutcome};
use spfe_device::memory::{AccessRefusal, RegionKey, RegionMap};
use spfe_device::message::{Carry, Messages};
use spfe_device::pace::Pacer;
use spfe_device::queue::{Host, QueueView};
use spfe_device::receive::RxPacked;
use spfe_device::shared::{FlowShared, QueueConfig};
use spfe_ring::DeviceLine;
use spfe_ring::sync::{AtomicU32, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Where a view gets what it has not mapped yet: the network itself, or the daemon that owns it.
pub trait Fetch: Send + Sync {
    /// Memory of a region of any endpoint.
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>>;
    /// What signals an event vector of a participant; `None` if there is no such vector (any more).
    /// Called with a flow's seat held: it must not wait for the control plane.
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>>;
    /// Who looks on at the network's links, in the process that owns it. Called with a flow's seat
    /// held: it must not wait for the control plane.
    fn hub(&self) -> Option<Arc<Hub>> {
        None
    }
}

type Echo = Arc<Mutex<instrument::EchoStore>>;

/// One process's (or one client's) view of a network.
pub struct View {
    arena: Arc<Arena>,
    id: u32,
    clock: Clock,
    maps: Vec<Arc<RegionMap>>,
    held: Mutex<HashMap<(u32, usize), Arc<SharedMemory>>>,
    echoes: Mutex<HashMap<(u32, u32, u32), Echo>>,
    fetch: Arc<dyn Fetch>,
    measure: AtomicU32,
    exact: Option<Arc<Exact>>,
}

impl View {
    /// A view for participant `id`; `exact` are the network's exact links, in the process that owns
    /// them.
    pub fn new(
        arena: Arc<Arena>,
        id: u32,
        fetch: Arc<dyn Fetch>,
        clock: Clock,
        exact: Option<Arc<Exact>>,
    ) -> Arc<Self> {
        os::join_barriers();
        let maps = (0..arena.topology().endpoints.len()).map(|_| Arc::default()).collect();
        Arc::new(Self {
            arena,
            id,
            clock,
            maps,
            held: Mutex::default(),
            echoes: Mutex::default(),
            fetch,
            measure: AtomicU32::new(0),
            exact,
        })
    }

    /// The network's exact links, where this process runs them.
    pub fn exact(&self) -> Option<&Arc<Exact>> {
        self.exact.as_ref()
    }

    /// Whether whoever uses a port runs its engine: not where a device or the clock runs its link.
    pub fn runs(&self, endpoint: u32, port: u32) -> bool {
        let ports = self.arena.topology().endpoints.get(endpoint as usize);
        ports.and_then(|ports| ports.get(port as usize)).is_none_or(|port| !port.is_exact())
    }

    /// The clock a network's participants share, when it is theirs alone.
    pub fn make_clock(arena: &Arena) -> Clock {
        if arena.topology().virtual_time {
            Clock::Virtual(VirtualClock::new(&arena.header().virtual_ns))
        } else {
            Clock::Real
        }
    }

    /// The network's memory.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Participant.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Whether runners made from now on measure the time of their engine.
    pub fn set_measure(&self, on: bool) {
        self.measure.store(u32::from(on), Ordering::Relaxed);
    }

    /// Regions of an endpoint.
    fn regions(&self, endpoint: u32) -> Regions {
        let map = self.maps[endpoint as usize].clone();
        Regions { map, table: self.arena.regions(endpoint) }
    }

    /// Maps a region; false if it does not exist or cannot be had.
    pub fn map_region(&self, endpoint: u32, key: RegionKey) -> bool {
        let table = self.arena.regions(endpoint);
        let Some(shared) = table.get(key.index()) else { return false };
        let tag = shared.tag();
        if !tag.is_valid() || tag.key() != key {
            return false;
        }
        if self.maps[endpoint as usize].has(tag) {
            return true;
        }
        let Some(memory) = self.fetch.region(endpoint, key) else { return false };
        let size = shared.size.load(Ordering::Acquire).min(memory.size() as u64);
        // SAFETY: the mapping is held until the region is revoked, which the control plane says
        // only after every flow has been stopped (`Network::remove_region`), or until another
        // region takes its index.
        unsafe { self.maps[endpoint as usize].set(tag, memory.base().as_ptr(), size) };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert((endpoint, key.index()), memory);
        true
    }

    /// Lets go of a revoked region's memory (control plane, when no step uses it any more).
    pub fn release(&self, endpoint: u32, key: RegionKey) {
        self.maps[endpoint as usize].clear(key.index());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = held.remove(&(endpoint, key.index()));
        drop(held);
        // Unmapping takes its time: without the lock.
        drop(memory);
    }

    /// Checks a queue's configuration and translates it (control plane).
    pub fn queue_view(&self, endpoint: u32, config: QueueConfig) -> Result<QueueView, Status> {
        QueueView::new(config, &self.maps[endpoint as usize]).map_err(refusal)
    }

    /// Checks the area of a packed receive queue (control plane).
    pub fn check_area(
        &self,
        endpoint: u32,
        view: QueueView,
        flow: &FlowShared,
    ) -> Result<(), Status> {
        RxPacked::new(view, flow, &self.maps[endpoint as usize]).map(drop).map_err(refusal)
    }

    /// Signals an event vector of a participant. What it is, is asked every time: a queue's vector
    /// goes with the queue.
    fn signal(&self, participant: u32, vector: u32) {
        if let Some(event) = self.fetch.event(participant, vector) {
            event.signal();
        }
    }

    /// A runner of the flow out of a port.
    pub fn runner_out(self: &Arc<Self>, endpoint: u32, port: u32, vc: u32, owner: bool) -> Runner {
        let shared = self.arena.flow_out(endpoint, port, vc);
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        if config.is_exact() {
            let mut runner = self.runner(shared, (endpoint, endpoint), None, owner);
            if let Some((exact, face)) = self.face(endpoint, port) {
                runner.flow.set_timed();
                runner.flow.set_sink(Listener::Link(LinkOut::new(exact, face, vc)));
            }
            return runner;
        }
        let rx_endpoint = config.joined().map_or(endpoint, |(endpoint, _)| endpoint);
        let (link, reverse) = self.arena.times_out(endpoint, port);
        let pacer = self.pacer(config.rate.rate(), link, reverse, vc);
        let ends = (endpoint, rx_endpoint);
        let mut runner = self.runner(shared, ends, pacer, owner);
        runner.way = Some((endpoint, port, vc, true));
        match config.peer {
            Peer::Sink { check } => {
                runner.flow.set_sink(Listener::Sink(SinkCheck::new(shared, check)));
            }
            Peer::Echo
            | Peer::Rmap(_)
            | Peer::Generator { .. }
            | Peer::None
            | Peer::Network
            | Peer::Port { .. } => {}
        }
        runner
    }

    /// A runner of the flow into a port.
    pub fn runner_into(self: &Arc<Self>, endpoint: u32, port: u32, vc: u32, owner: bool) -> Runner {
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        if let Some((endpoint, port)) = config.joined() {
            return self.runner_out(endpoint, port, vc, owner);
        }
        let shared = self.arena.flow_into(endpoint, port, vc);
        if config.is_exact() {
            let mut runner = self.runner(shared, (endpoint, endpoint), None, owner);
            if let Some((exact, face)) = self.face(endpoint, port) {
                runner.flow.set_timed();
                runner.flow.set_source(Talker::Link(LinkIn::new(exact, face, vc, shared)));
            }
            return runner;
        }
        let (link, reverse) = self.arena.times_out(endpoint, port);
        let pacer = self.pacer(config.rate.rate(), reverse, link, vc);
        let mut runner = self.runner(shared, (endpoint, endpoint), pacer, owner);
        runner.way = Some((endpoint, port, vc, false));
        if let Peer::Generator { min_bytes, max_bytes, seed } = config.peer {
            let generator = Generator::new(shared, min_bytes, max_bytes, seed ^ u64::from(vc));
            runner.flow.set_source(Talker::Generator(generator));
        }
        runner
    }

    /// The exact link behind a port, and the port's face on it.
    fn face(&self, endpoint: u32, port: u32) -> Option<(&Arc<Exact>, usize)> {
        let exact = self.exact.as_ref()?;
        Some((exact, exact.face(endpoint, port)?))
    }

    /// What a port is connected to.
    pub fn peer(&self, endpoint: u32, port: u32) -> Peer {
        self.arena.topology().endpoints[endpoint as usize][port as usize].peer
    }

    /// Runners of both directions of an instrument that answers: out of the port into it, and back.
    /// All runners of one view share the instrument's memory.
    pub fn runners_answering(
        self: &Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
    ) -> (Runner, Runner) {
        let mut out = self.runner_out(endpoint, port, vc, true);
        let mut into = self.runner_into(endpoint, port, vc, true);
        if let Some(target) = self.arena.rmap(endpoint, port) {
            let (commands, replies) = (out.flow.shared(), into.flow.shared());
            let (listener, talker) = target.ends(vc, commands, replies, &self.clock);
            out.flow.set_sink(Listener::Rmap(listener));
            into.flow.set_source(Talker::Rmap(talker));
            return (out, into);
        }
        let mut echoes = self.echoes.lock().unwrap_or_else(PoisonError::into_inner);
        let store = echoes.entry((endpoint, port, vc)).or_insert_with(instrument::EchoStore::new);
        let (listener, talker) = instrument::echo(store, out.flow.shared(), &self.clock);
        out.flow.set_sink(Listener::Echo(listener));
        into.flow.set_source(Talker::Echo(talker));
        (out, into)
    }

    fn pacer(
        &self,
        rate: spfe_device::pace::Rate,
        link: &'static spfe_device::pace::LinkTime,
        reverse: &'static spfe_device::pace::LinkTime,
        vc: u32,
    ) -> Option<Pacer<'static>> {
        rate.is_paced().then_some(Pacer { link, reverse, rate, vc, id: self.id })
    }

    fn runner(
        self: &Arc<Self>,
        shared: &'static FlowShared,
        ends: (u32, u32),
        pacer: Option<Pacer<'static>>,
        owner: bool,
    ) -> Runner {
        let share = self.arena.topology().mode == Mode::Coop;
        let (tx, rx) = (self.regions(ends.0), self.regions(ends.1));
        let flow = Flow::new(shared, tx, rx, pacer, self.id, share);
        let time = EngineTime::new(self.measure.load(Ordering::Relaxed) != 0);
        Runner {
            flow,
            id: self.id,
            view: self.clone(),
            ends,
            way: None,
            owner,
            time,
            engine_ns: 0,
            due_ns: None,
        }
    }

    /// A runner of the messages into a port, where another endpoint sends them.
    pub fn messages_into(self: &Arc<Self>, endpoint: u32, port: u32) -> Option<MessageRunner> {
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        config.joined().map(|(endpoint, port)| self.messages_out(endpoint, port))
    }

    /// A runner of the messages out of a port.
    pub fn messages_out(self: &Arc<Self>, endpoint: u32, port: u32) -> MessageRunner {
        let near = self.arena.messages(endpoint, port);
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        // At an exact link the port itself is where messages go that have come over the link.
        let far = config.joined().or_else(|| config.is_exact().then_some((endpoint, port)));
        let (far, far_endpoint) = match far {
            Some((endpoint, port)) => {
                (Some((self.arena.messages(endpoint, port), self.regions(endpoint))), endpoint)
            }
            None => (None, endpoint),
        };
        let mut messages =
            Messages::new(config.carries(), near, far, self.regions(endpoint), self.id);
        if !config.is_exact() {
            let fetch = self.fetch.clone();
            messages.set_observer(Box::new(move || fetch.hub()?.message_tap(endpoint, port)));
        }
        MessageRunner { messages, view: self.clone(), ends: (endpoint, far_endpoint) }
    }
}

/// A region the control plane has not mapped does not exist.
fn refusal(refusal: AccessRefusal) -> Status {
    match refusal {
        AccessRefusal::Fault(status) => status,
        AccessRefusal::Unmapped(_) => Status::BadRegion,
    }
}

/// What the engine needs of a process.
pub struct ViewHost<'a>(pub &'a View);

impl Host for ViewHost<'_> {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        self.0.clock.now_ns()
    }

    #[cold]
    fn wake(&mut self, line: &DeviceLine, queue: &QueueConfig, event: bool) {
        os::futex_wake(&line.wake_seq);
        if event {
            self.0.signal(queue.owner, queue.vector);
        }
        if let Clock::Virtual(clock) = &self.0.clock {
            clock.poke();
        }
    }

    fn is_dead(&mut self, participant: u32) -> bool {
        self.0.arena.is_dead(participant)
    }
}

/// Turns a guest waits for the owner to leave the seat.
const CLAIM_SPINS: u32 = 200;
/// Times a region that cannot be mapped is asked for, a millisecond apart.
const FETCH_TRIES: u32 = 64;

/// A flow, driven by this process.
pub struct Runner {
    flow: Flow<Talker, Listener>,
    view: Arc<View>,
    ends: (u32, u32),
    /// Endpoint, port, virtual channel, out of it or into it, where the link is packet level.
    way: Option<(u32, u32, u32, bool)>,
    owner: bool,
    id: u32,
    time: EngineTime,
    /// Time the engine has taken in this thread, ns, if it is measured.
    pub engine_ns: u64,
    /// When the engine could do more than at its last run, ns.
    due_ns: Option<u64>,
}

impl Runner {
    /// The state all runners of the flow share.
    pub fn shared(&self) -> &'static FlowShared {
        self.flow.shared()
    }

    /// Runs the engine for at most `budget` pieces, and as many again after each region that had to
    /// be mapped first. `None` if somebody else holds the seat, or if a region it needs cannot be
    /// mapped (its daemon is gone).
    #[inline(never)]
    pub fn run(&mut self, budget: u32) -> Option<StepOutcome> {
        // Regions that cannot be had are retried for a while: their owner may be removing them.
        let mut missed = 0;
        while missed < FETCH_TRIES {
            if !self.enter() {
                // What was begun did not come to anything.
                self.time.end(false);
                return None;
            }
            let step = self.step(budget);
            match step {
                StepOutcome::Stale => {
                    let bound = self.bind();
                    self.leave();
                    if let Err((tx, key)) = bound {
                        missed += u32::from(!self.fetch(tx, key));
                    }
                }
                StepOutcome::Unmapped(tx, key) => {
                    self.leave();
                    missed += u32::from(!self.fetch(tx, key));
                }
                _ => {
                    self.leave();
                    self.due_ns = match step {
                        StepOutcome::Until(at, _) => Some(at),
                        _ => None,
                    };
                    return Some(step);
                }
            }
        }
        None
    }

    /// What a poster does after posting: the common case without detours, everything else through
    /// [`Runner::run`].
    #[inline(always)]
    pub fn kick(&mut self) {
        let seat = &self.flow.shared().seat;
        if self.owner && seat.enter(self.id) {
            self.time.begin();
            let done = self.flow.sweep(&mut ViewHost(&self.view));
            seat.leave();
            if done {
                self.engine_ns += self.time.end(true);
                return;
            }
        }
        self.run(u32::MAX);
    }

    #[inline]
    fn step(&mut self, budget: u32) -> StepOutcome {
        self.time.begin();
        let step = self.flow.step(&mut ViewHost(&self.view), budget);
        self.engine_ns += self.time.end(step.packets() > 0);
        step
    }

    /// Reads configuration and regions again, and whether somebody looks on.
    #[cold]
    fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let tap = self.way.and_then(|(endpoint, port, vc, out)| {
            self.view.fetch.hub()?.tap(endpoint, port, vc, out)
        });
        self.flow.set_observer(tap);
        self.flow.bind()
    }

    /// Gets a region that is missing here; false if it cannot be had (now).
    #[cold]
    fn fetch(&mut self, tx: bool, key: RegionKey) -> bool {
        let endpoint = if tx { self.ends.0 } else { self.ends.1 };
        let mapped = self.view.map_region(endpoint, key);
        if !mapped {
            // The daemon is gone or out of mappings: do not spin on it.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        mapped
    }

    #[inline(always)]
    fn enter(&self) -> bool {
        let (seat, id) = (&self.flow.shared().seat, self.view.id);
        if !self.owner {
            // With the owner inside there is nothing for a guest to do.
            return seat.busy() == 0 && seat.claim(id, os::heavy_barrier, CLAIM_SPINS);
        }
        let mut turns = 0u32;
        while !seat.enter(id) {
            turns += 1;
            if turns.is_multiple_of(64) {
                std::thread::yield_now();
            }
            if turns > 1 << 20 {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    fn leave(&self) {
        let seat = &self.flow.shared().seat;
        if self.owner { seat.leave() } else { seat.release() }
    }

    /// When the engine could do more than at its last run, ns: an instrument's next packet.
    pub fn due_ns(&self) -> Option<u64> {
        self.due_ns
    }

    /// Whether this runner usually runs the flow.
    pub fn is_owner(&self) -> bool {
        self.owner
    }

    /// Whether there may be something to do (a plain look, for polling).
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        let shared = self.flow.shared();
        self.owner || shared.stalled.load(Ordering::Relaxed) != 0 || shared.board.has_work()
    }

    /// Helps with copies somebody else shares out. Returns jobs done.
    #[inline]
    pub fn help(&mut self) -> u32 {
        if !self.flow.shared().board.has_work() {
            return 0;
        }
        if self.flow.is_stale() {
            self.run(0);
        }
        self.time.begin();
        let (jobs, missing) = self.flow.help();
        self.engine_ns += self.time.end(jobs > 0);
        if let Some((tx, key)) = missing {
            self.fetch(tx, key);
        }
        jobs
    }

    /// Wakes hosts whose time has come; returns when the next one is due.
    pub fn wake_due(&mut self) -> Option<u64> {
        if !self.enter() {
            return None;
        }
        self.flow.wake_due(&mut ViewHost(&self.view));
        let due = self.flow.deadline();
        self.leave();
        due
    }

    /// Tells both hosts whether the device sleeps and wants a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        // In the seat: rings may be taken away by who holds it.
        if self.enter() {
            self.flow.set_need_doorbell(on);
            self.leave();
        }
    }

    /// Reads configuration and regions again without a step, for who has claimed the seat: the
    /// state may be torn.
    pub fn rebind(&mut self) -> bool {
        // Each turn maps one region; a flow has few.
        (0..64).any(|_| match self.bind() {
            Ok(()) => true,
            Err((tx, key)) => {
                self.fetch(tx, key);
                false
            }
        })
    }

    /// The flow, for who has claimed its seat.
    pub fn flow_mut(&mut self) -> &mut Flow<Talker, Listener> {
        &mut self.flow
    }

    /// The flow, for looks that need no seat.
    pub fn flow(&self) -> &Flow<Talker, Listener> {
        &self.flow
    }
}

/// Messages out of a port, driven by this process.
pub struct MessageRunner {
    messages: Messages,
    view: Arc<View>,
    ends: (u32, u32),
}

impl MessageRunner {
    /// Sends what is posted; the number of messages.
    pub fn run(&mut self, budget: u32) -> u32 {
        // Each turn maps one region; an endpoint has few message queues.
        for _ in 0..64 {
            match self.messages.step(&mut ViewHost(&self.view), budget) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// Sends what is posted over an exact link; the number of messages.
    pub fn run_over(&mut self, budget: u32, carry: Carry<'_>) -> u32 {
        for _ in 0..64 {
            match self.messages.step_over(&mut ViewHost(&self.view), budget, carry) {
                Ok(sent) => return sent,
                Err(missing) => self.map(missing),
            }
        }
        0
    }

    /// A message came over an exact link.
    pub fn arrive(&mut self, message: Message) {
        for _ in 0..64 {
            match self.messages.arrive(&mut ViewHost(&self.view), message) {
                Ok(()) => return,
                Err(missing) => self.map(missing),
            }
        }
    }

    fn map(&self, (near, key): (bool, RegionKey)) {
        let endpoint = if near { self.ends.0 } else { self.ends.1 };
        self.view.map_region(endpoint, key);
    }

    /// Whether anything is posted.
    pub fn has_work(&self) -> bool {
        self.messages.has_work()
    }

    /// Tells senders whether the device sleeps.
    pub fn set_need_doorbell(&self, on: bool) {
        self.messages.set_need_doorbell(on);
    }

    /// Wakes receivers whose arming came late.
    pub fn wake_due(&mut self) {
        self.messages.wake_due(&mut ViewHost(&self.view));
    }
}
