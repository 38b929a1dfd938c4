//! The data plane of one participant: its mappings of all regions, and its runners.

mod host;
mod messages;
mod runner;

pub use host::ViewHost;
pub use messages::MessageRunner;
pub use runner::Runner;

use crate::arena::Arena;
use crate::engine_time::EngineTime;
use crate::event::Event;
use crate::instrument::{self, FlowSink, FlowSource, Generator, SinkCheck};
use crate::links::{ExactLinks, LinkObserver};
use spfe_contract::Status;
use spfe_device::flow::{Flow, FlowPairs, Regions, SharePolicy, StepLimits};
use spfe_device::memory::{AccessRefusal, BusWindow, RegionMap};
use spfe_device::message::Messages;
use spfe_device::pace::{LinkTime, Pacer};
use spfe_device::queue::QueueView;
use spfe_device::receive::RxPacked;
use spfe_device::shared::{FlowShared, QueueConfig};
use spfe_host::clock::VirtualClock;
use spfe_host::{Clock, LinkRate, Mode, Peer, RegionKey, SharedMemory, os};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Source of the regions and eventfds that a view does not have yet: the network in the same process,
/// or the daemon that owns it.
pub trait Fetch: Send + Sync {
    /// Memory of a region of any endpoint; `None` if it does not exist.
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>>;
    /// The bus addresses that a region has instead of memory, in the process that owns the network.
    fn window(&self, _endpoint: u32, _key: RegionKey) -> Option<Arc<dyn BusWindow>> {
        None
    }
    /// The eventfd of a participant's event vector; `None` if the vector does not exist. The caller
    /// holds the seat of a flow, so this must not wait for the control plane.
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>>;
    /// The observer of the network's links, in the process that owns the network. The caller holds
    /// the seat of a flow, so this must not wait for the control plane.
    fn observer(&self) -> Option<Arc<dyn LinkObserver>> {
        None
    }
}

/// Limits of a step in mode thread, in which the clients do not trust each other. With the device
/// thread's budget of pieces, a step copies at most 256 KiB.
const LIMITS: StepLimits = StepLimits { bytes: 128 << 10, fast_packet: 8 << 10 };

/// What is shared in mode coop. Shorter packets cost more on the board than their copy takes, and
/// little data would be copied by the time the other end has seen it.
const COOP: SharePolicy = SharePolicy { near: false, packet: 512, total: 64 << 10, room: 64 << 10 };
/// The same in mode auto: two jobs, one for each end, and buffers that do not run out meanwhile.
const AUTO: SharePolicy = SharePolicy { near: true, total: 96 << 10, room: 512 << 10, ..COOP };

type Echo = Arc<Mutex<instrument::EchoStore>>;

/// One participant's view of a network.
pub struct View {
    arena: Arc<Arena>,
    id: u32,
    clock: Clock,
    maps: Vec<Arc<RegionMap>>,
    held: Mutex<HashMap<(u32, usize), Arc<SharedMemory>>>,
    echoes: Mutex<HashMap<(u32, u32, u32), Echo>>,
    fetch: Arc<dyn Fetch>,
    measure: AtomicU32,
    exact: Option<Arc<dyn ExactLinks>>,
}

impl View {
    /// Creates the view of a participant. `exact` are the exact links, in the process that owns them.
    pub fn new(
        arena: Arc<Arena>,
        id: u32,
        fetch: Arc<dyn Fetch>,
        clock: Clock,
        exact: Option<Arc<dyn ExactLinks>>,
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

    /// Whether the users of a port run the engine of its flows. On an exact link the device or the
    /// clock does.
    pub fn runs(&self, endpoint: u32, port: u32) -> bool {
        let ports = self.arena.topology().endpoints.get(endpoint as usize);
        ports.and_then(|ports| ports.get(port as usize)).is_none_or(|port| !port.is_exact())
    }

    /// The clock of a network whose participants are all in this process.
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

    /// Id of the participant.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The clock of the network.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Sets whether runners created from now on measure the processor time of their engine.
    pub fn set_measure(&self, on: bool) {
        self.measure.store(u32::from(on), Ordering::Relaxed);
    }

    /// The regions of an endpoint.
    fn regions(&self, endpoint: u32) -> Regions {
        let map = self.maps[endpoint as usize].clone();
        Regions { map, table: self.arena.regions(endpoint) }
    }

    /// Maps a region. False if it does not exist or cannot be fetched.
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
        let map = &self.maps[endpoint as usize];
        if let Some(window) = self.fetch.window(endpoint, key) {
            map.set_window(tag, window);
        } else {
            let size = shared.size.load(Ordering::Acquire).min(memory.size() as u64);
            // SAFETY: `held` keeps the mapping until the region is revoked, which happens after
            // every flow has been stopped (`Network::remove_region`), or until another region has
            // its index.
            unsafe { map.set(tag, memory.base().as_ptr(), size) };
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert((endpoint, key.index()), memory);
        true
    }

    /// Forgets a revoked region. The control plane calls it when no step uses the region any more.
    /// Returns the mapping; unmapping it takes long, so the caller drops it without a lock.
    pub fn release(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.maps[endpoint as usize].clear(key.index());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&(endpoint, key.index()))
    }

    /// Checks the configuration of a queue and translates its addresses, for the control plane.
    ///
    /// # Errors
    /// The status of the first wrong field.
    pub fn queue_view(&self, endpoint: u32, config: QueueConfig) -> Result<QueueView, Status> {
        QueueView::new(config, &self.maps[endpoint as usize]).map_err(refusal)
    }

    /// Checks the area of a packed receive queue, for the control plane.
    ///
    /// # Errors
    /// BAD_RING, or the status of the area's address.
    pub fn check_area(
        &self,
        endpoint: u32,
        view: QueueView,
        flow: &FlowShared,
    ) -> Result<(), Status> {
        RxPacked::new(view, flow, &self.maps[endpoint as usize]).map(drop).map_err(refusal)
    }

    /// Signals an event vector of a participant. It is fetched every time, because a vector can be
    /// dropped at any time together with its queue.
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
            self.make_hostile(&mut runner);
            runner.flow_mut().set_pairs(self.pairs(Some((endpoint, port, vc)), None));
            let exact = self.exact.clone();
            if let Some(sink) = exact.and_then(|exact| exact.sink(endpoint, port, vc)) {
                runner.flow_mut().set_timed();
                runner.flow_mut().set_sink(FlowSink::Link(sink));
            }
            return runner;
        }
        let far = config.far_end(endpoint, port, vc);
        let rx_endpoint = far.map_or(endpoint, |(endpoint, ..)| endpoint);
        let (link, reverse) = self.arena.times_out(endpoint, port);
        let pacer = self.pacer(config.rate, link, reverse, vc);
        let ends = (endpoint, rx_endpoint);
        let mut runner = self.runner(shared, ends, pacer, owner);
        self.make_hostile(&mut runner);
        runner.flow_mut().set_pairs(self.pairs(Some((endpoint, port, vc)), far));
        runner.observe(endpoint, port, vc, true);
        match config.peer {
            Peer::Sink { check } => {
                runner.flow_mut().set_sink(FlowSink::Sink(SinkCheck::new(shared, check)));
            }
            Peer::Echo
            | Peer::Rmap(_)
            | Peer::Target { .. }
            | Peer::Generator { .. }
            | Peer::None
            | Peer::Network
            | Peer::Foreign { .. }
            | Peer::Fabric { .. }
            | Peer::Port { .. } => {}
        }
        runner
    }

    /// A runner of the flow into a port.
    pub fn runner_into(self: &Arc<Self>, endpoint: u32, port: u32, vc: u32, owner: bool) -> Runner {
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        if let Some((endpoint, port, vc)) = config.far_end(endpoint, port, vc) {
            return self.runner_out(endpoint, port, vc, owner);
        }
        let shared = self.arena.flow_into(endpoint, port, vc);
        if config.is_exact() {
            let mut runner = self.runner(shared, (endpoint, endpoint), None, owner);
            runner.flow_mut().set_pairs(self.pairs(None, Some((endpoint, port, vc))));
            let exact = self.exact.clone();
            if let Some(source) = exact.and_then(|exact| exact.source(endpoint, port, vc, shared)) {
                runner.flow_mut().set_timed();
                runner.flow_mut().set_source(FlowSource::Link(source));
            }
            return runner;
        }
        let (link, reverse) = self.arena.times_out(endpoint, port);
        let pacer = self.pacer(config.rate, reverse, link, vc);
        let mut runner = self.runner(shared, (endpoint, endpoint), pacer, owner);
        self.make_hostile(&mut runner);
        runner.flow_mut().set_pairs(self.pairs(None, Some((endpoint, port, vc))));
        runner.observe(endpoint, port, vc, false);
        if let Peer::Generator { min_bytes, max_bytes, seed } = config.peer {
            let generator = Generator::new(shared, min_bytes, max_bytes, seed ^ u64::from(vc));
            runner.flow_mut().set_source(FlowSource::Generator(generator));
        }
        runner
    }

    /// Lets packets of a flow meet the hostile-network instrument. Packets out of an exact link have
    /// met it on their way into it.
    fn make_hostile(&self, runner: &mut Runner) {
        if let Some(hostile) = self.arena.hostile(runner.shared()) {
            runner.flow_mut().set_hostile(hostile);
        }
    }

    /// The far end of a port's link.
    pub fn peer(&self, endpoint: u32, port: u32) -> Peer {
        self.arena.topology().endpoints[endpoint as usize][port as usize].peer
    }

    /// Runners of both directions of an instrument that answers: out of the port, and into it. All
    /// runners of a view share the memory of the instrument.
    pub fn runners_answering(
        self: &Arc<Self>,
        endpoint: u32,
        port: u32,
        vc: u32,
    ) -> (Runner, Runner) {
        let mut out = self.runner_out(endpoint, port, vc, true);
        let mut into = self.runner_into(endpoint, port, vc, true);
        if let Some(target) = self.arena.rmap(endpoint, port) {
            let (commands, replies) = (out.shared(), into.shared());
            let (listener, talker) = target.ends(vc, commands, replies, &self.clock);
            out.flow_mut().set_sink(FlowSink::Rmap(listener));
            into.flow_mut().set_source(FlowSource::Rmap(talker));
            return (out, into);
        }
        if let Some(target) = self.arena.target(endpoint, port) {
            let (requests, responses) = (out.shared(), into.shared());
            let (listener, talker) = target.ends(vc, requests, responses, &self.clock);
            out.flow_mut().set_sink(FlowSink::Target(listener));
            into.flow_mut().set_source(FlowSource::Target(talker));
            return (out, into);
        }
        let mut echoes = self.echoes.lock().unwrap_or_else(PoisonError::into_inner);
        let store = echoes.entry((endpoint, port, vc)).or_insert_with(instrument::EchoStore::new);
        let (listener, talker) = instrument::echo(store, out.shared(), &self.clock);
        out.flow_mut().set_sink(FlowSink::Echo(listener));
        into.flow_mut().set_source(FlowSource::Echo(talker));
        (out, into)
    }

    /// The queue pairs that may be at the ends of a flow, by endpoint, port and virtual channel.
    fn pairs(&self, tx: Option<(u32, u32, u32)>, rx: Option<(u32, u32, u32)>) -> FlowPairs {
        let pair = |end: Option<(u32, u32, u32)>| {
            let (endpoint, port, vc) = end?;
            self.arena.pair(endpoint, port, vc).cloned()
        };
        let clock = self.clock.clone();
        FlowPairs { tx: pair(tx), rx: pair(rx), clock: Arc::new(move || clock.now_ns()) }
    }

    fn pacer(
        &self,
        rate: LinkRate,
        link: &'static LinkTime,
        reverse: &'static LinkTime,
        vc: u32,
    ) -> Option<Pacer<'static>> {
        // Where clients run the engine themselves they trust each other, and one that does not come
        // back must not leave packets behind.
        let limited = self.arena.topology().mode == Mode::Thread;
        rate.timing().map(|timing| Pacer { link, reverse, timing, vc, id: self.id, limited })
    }

    fn runner(
        self: &Arc<Self>,
        shared: &'static FlowShared,
        ends: (u32, u32),
        pacer: Option<Pacer<'static>>,
        owner: bool,
    ) -> Runner {
        let share = match self.arena.topology().mode {
            Mode::Coop => Some(COOP),
            Mode::Auto => Some(AUTO),
            Mode::Inline | Mode::Thread => None,
        };
        let share = share.filter(|_| matches!(self.clock, Clock::Real));
        let (tx, rx) = (self.regions(ends.0), self.regions(ends.1));
        let mut flow = Flow::new(shared, tx, rx, pacer, self.id, share);
        if self.arena.topology().mode == Mode::Thread {
            flow.set_limits(LIMITS);
        }
        let time = EngineTime::new(self.measure.load(Ordering::Relaxed) != 0);
        Runner::new(self, flow, ends, owner, time)
    }

    /// A runner of the messages into a port; `None` unless another port sends them.
    pub fn messages_into(self: &Arc<Self>, endpoint: u32, port: u32) -> Option<MessageRunner> {
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        config.joined().map(|(endpoint, port)| self.messages_out(endpoint, port))
    }

    /// A runner of the messages out of a port.
    pub fn messages_out(self: &Arc<Self>, endpoint: u32, port: u32) -> MessageRunner {
        let near = self.arena.messages(endpoint, port);
        let config = self.arena.topology().endpoints[endpoint as usize][port as usize];
        // Messages that arrive over an exact link are delivered to the port itself.
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
            messages.set_observer(Box::new(move || fetch.observer()?.message_tap(endpoint, port)));
        }
        MessageRunner::new(self, messages, (endpoint, far_endpoint))
    }
}

/// For the control plane, which maps all regions, an unmapped region does not exist.
fn refusal(refusal: AccessRefusal) -> Status {
    match refusal {
        AccessRefusal::Fault(status) => status,
        AccessRefusal::Unmapped(_) => Status::BadRegion,
    }
}
