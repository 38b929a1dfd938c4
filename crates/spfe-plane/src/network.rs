//! The control plane: clients, regions, queues, and cleaning up after all of them.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `clients` | attaching clients |
//! | `regions` | memory of clients |
//! | `queues` | queues of packets |
//! | `messages` | queues of messages |
//! | `pairs` | queues of queue pairs |
//! | `targets` | targets of RDMA without queues |
//! | `events` | event vectors |
//! | `ports` | state and counters of ports |
//! | `fabric` | nodes behind fabric ports |
//! | `mib` | management information base of ports |
//! | `cleanup` | after a client has left or died |
//! | `seats` | the control plane's claims of flows, in bounded time |
//! | `limits` | what the clients of one user may have |
//!
//! The lock of `Inner` serialises changes. Runners need regions and event vectors while the control
//! plane holds that lock, so these are behind another lock, that of `Shares`.

mod cleanup;
mod clients;
mod events;
mod fabric;
mod limits;
mod messages;
mod mib;
mod pairs;
mod ports;
mod queues;
mod regions;
mod seats;
mod targets;

pub use events::EVENTS_MAX;
pub use limits::UserLimits;
pub use queues::Placement;
pub use regions::RegionMemory;
pub(crate) use targets::{TARGET_ENTRIES, TargetPlace};

use crate::arena::{Arena, CONTROL, FIRST_CLIENT};
use crate::bells::Bells;
use crate::event::Event;
use crate::links::{ExactLinks, LinkObserver};
use crate::view::{Fetch, Runner, View};
use events::ClientEvents;
use spfe_contract::Status;
use spfe_device::memory::{BusWindow, REGIONS, RegionKey};
use spfe_device::shared::QueueConfig;
use spfe_host::topology::PortConfig;
use spfe_host::topology::hostile::{Hostile, HostileCounts};
use spfe_host::{
    Attachment, Clock, ControlError as Error, Mode, QueueRequest, SharedMemory, Topology, os,
};
use spfe_ring::sync::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

type Result<T> = std::result::Result<T, Error>;

struct Client {
    endpoint: u32,
    name: String,
    /// The user whose limits it counts to; `None` without limits.
    user: Option<u32>,
    messages: Vec<MessageQueue>,
    /// Number of queues of packets.
    queues: usize,
    /// Size of its regions in bytes.
    bytes: u64,
}

/// A message queue of a client.
#[derive(Clone, Copy)]
struct MessageQueue {
    port: u32,
    tx: bool,
    slot: usize,
    /// Number that the client has given it.
    number: u32,
}

#[derive(Default)]
struct Region {
    memory: Option<Arc<SharedMemory>>,
    client: u32,
    key: RegionKey,
    /// Number of times that the generation has wrapped.
    serial: u16,
    /// Number of flows and message ports stopped since the revocation began.
    stopped: usize,
}

struct Inner {
    clients: HashMap<u32, Client>,
    next_client: u32,
    regions: Vec<Vec<Region>>,
    runners: HashMap<(u32, u32, u32), Runner>,
    limits: UserLimits,
    /// Memory of revoked regions, to be unmapped without the lock.
    revoked: Vec<Arc<SharedMemory>>,
}

/// What runners need while the control plane may be working on their flow. No thread waits for
/// anything else while it holds this lock.
struct Shares {
    memories: HashMap<(u32, RegionKey), RegionMemory>,
    /// User and event vectors of each client.
    events: HashMap<u32, ClientEvents>,
    /// Largest number of event vectors of the clients of one user.
    events_max: usize,
    last_vector: u32,
}

/// A network and its control plane.
pub struct Network {
    arena: Arc<Arena>,
    view: Arc<View>,
    bells: Arc<Bells>,
    clock: Clock,
    inner: Mutex<Inner>,
    shares: Mutex<Shares>,
    /// Views of the participants in this process.
    views: Mutex<Vec<Weak<View>>>,
    fabrics: fabric::Fabrics,
    extensions: Extensions,
}

/// What the lab adds to a network.
#[derive(Clone, Default)]
pub struct Extensions {
    /// Its exact links; needed if the topology has any.
    pub exact: Option<Arc<dyn ExactLinks>>,
    /// Observes its packet-level links.
    pub observer: Option<Arc<dyn LinkObserver>>,
    /// Names of the endpoints; none in a network without names.
    pub names: Vec<String>,
}

struct Owned(Weak<Network>);

impl Fetch for Owned {
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.0.upgrade()?.region_memory(endpoint, key)
    }
    fn window(&self, endpoint: u32, key: RegionKey) -> Option<Arc<dyn BusWindow>> {
        self.0.upgrade()?.shares().memories.get(&(endpoint, key))?.window.clone()
    }
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        self.0.upgrade()?.event(participant, vector)
    }
    fn observer(&self) -> Option<Arc<dyn LinkObserver>> {
        self.0.upgrade()?.extensions.observer.clone()
    }
}

impl Network {
    /// A network of packet-level links.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong, or has exact links.
    pub fn new(topology: Topology) -> Result<Arc<Self>> {
        Self::with(topology, Extensions::default())
    }

    /// A network with what the lab adds to it.
    ///
    /// # Errors
    /// BAD_FIELD if the topology is wrong, or has exact links and `extensions` has none.
    pub fn with(topology: Topology, extensions: Extensions) -> Result<Arc<Self>> {
        topology.check().map_err(|what| Error::new(Status::BadField, what))?;
        if topology.has_exact() && extensions.exact.is_none() {
            let what = "exact links are simulated by the lab: make the network with it";
            return Err(Error::new(Status::BadField, what));
        }
        os::join_barriers();
        let endpoints = topology.endpoints.len();
        let fabrics = fabric::Fabrics::new(&topology);
        let arena = Arc::new(Arena::create(topology)?);
        let clock = View::make_clock(&arena);
        let bells = Arc::new(Bells::new()?);
        let regions = (0..endpoints)
            .map(|_| {
                (0..REGIONS)
                    .map(|i| Region { key: RegionKey::new(i, 0), ..Region::default() })
                    .collect()
            })
            .collect();
        let inner = Inner {
            clients: HashMap::new(),
            next_client: FIRST_CLIENT,
            regions,
            runners: HashMap::new(),
            limits: UserLimits::default(),
            revoked: Vec::new(),
        };
        Ok(Arc::new_cyclic(|weak: &Weak<Self>| {
            let fetch = Arc::new(Owned(weak.clone()));
            let exact = extensions.exact.clone();
            let view = View::new(arena.clone(), CONTROL, fetch, clock.clone(), exact);
            Self {
                arena,
                view,
                bells,
                clock,
                inner: Mutex::new(inner),
                shares: Mutex::new(Shares::new()),
                views: Mutex::default(),
                fabrics,
                extensions,
            }
        }))
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The network's memory.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Names of the endpoints; none in a network without names.
    pub fn names(&self) -> &[String] {
        &self.extensions.names
    }

    /// The topology of the network.
    pub fn topology(&self) -> &Topology {
        self.arena.topology()
    }

    /// Whether the network needs a [`DeviceThread`](crate::DeviceThread): in mode thread, and for
    /// exact links in real time.
    pub fn needs_device(&self) -> bool {
        let exact = self.extensions.exact.is_some() && !self.clock.is_virtual();
        self.topology().mode == Mode::Thread || exact
    }

    /// The clock that its participants share.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The doorbells of the device thread.
    pub fn bells(&self) -> &Arc<Bells> {
        &self.bells
    }

    /// Creates the view of a participant in this process.
    pub fn view(self: &Arc<Self>, participant: u32) -> Arc<View> {
        let fetch = Arc::new(Owned(Arc::downgrade(self)));
        let exact = self.extensions.exact.clone();
        let view = View::new(self.arena.clone(), participant, fetch, self.clock.clone(), exact);
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        views.retain(|view| view.strong_count() != 0);
        views.push(Arc::downgrade(&view));
        view
    }

    fn exists(&self, endpoint: u32) -> Result<()> {
        let count = self.topology().endpoints.len();
        if (endpoint as usize) < count {
            return Ok(());
        }
        let what = format!("endpoint {endpoint}: this network has endpoints 0 to {}", count - 1);
        Err(Error::new(Status::NotFound, what))
    }

    fn flows(&self, endpoint: u32) -> Vec<(u32, u32, bool)> {
        let ports = &self.topology().endpoints[endpoint as usize];
        let all = ports.iter().enumerate().flat_map(|(port, config)| {
            (0..config.vcs).flat_map(move |vc| [(port as u32, vc, true), (port as u32, vc, false)])
        });
        all.collect()
    }

    /// The control plane's own runner of a flow.
    fn control<'a>(
        &self,
        inner: &'a mut Inner,
        endpoint: u32,
        port: u32,
        vc: u32,
        out: bool,
    ) -> &'a mut Runner {
        let view = &self.view;
        inner.runners.entry((endpoint, port, vc << 1 | u32::from(out))).or_insert_with(|| {
            if out {
                view.runner_out(endpoint, port, vc, false)
            } else {
                view.runner_into(endpoint, port, vc, false)
            }
        })
    }

    /// The configuration of this endpoint's queue on a virtual channel. Only the control plane writes
    /// configurations, while it holds its lock.
    fn config(&self, endpoint: u32, port: u32, vc: u32, tx: bool) -> QueueConfig {
        // SAFETY: written only under the lock of `inner`, which every caller holds.
        unsafe {
            if tx {
                *self.arena.flow_out(endpoint, port, vc).tx_config.get()
            } else {
                *self.arena.flow_into(endpoint, port, vc).rx_config.get()
            }
        }
    }

    fn port(&self, endpoint: u32, port: u32) -> Result<&PortConfig> {
        let ports = &self.topology().endpoints[endpoint as usize];
        ports.get(port as usize).ok_or_else(|| {
            let what =
                format!("port {port}: endpoint {endpoint} has ports 0 to {}", ports.len() - 1);
            Error::new(Status::NotFound, what)
        })
    }

    /// Tells the device thread that queues have changed.
    fn changed(&self) {
        let header = self.arena.header();
        header.config_epoch.fetch_add(1, Ordering::AcqRel);
        self.ring();
        if let Clock::Virtual(clock) = &self.clock {
            clock.poke();
        }
    }

    /// Rings the doorbell of the device thread.
    pub fn ring(&self) {
        self.bells.own().ring();
    }

    /// Makes the links hostile, or ends that: from then on, things happen to packets on their way.
    pub fn set_hostile(&self, hostile: Option<Hostile>) {
        self.arena.set_hostile(hostile);
        for (e, ports) in (0..).zip(&self.topology().endpoints) {
            (0..ports.len() as u32).for_each(|p| self.bump_epochs(e, p));
        }
        self.changed();
    }

    /// What has happened to packets on hostile links.
    pub fn hostile_counts(&self) -> HostileCounts {
        self.arena.hostile_counts()
    }

    /// Makes the runners of a port's flows read their configuration again.
    fn bump_epochs(&self, e: u32, p: u32) {
        let port = &self.topology().endpoints[e as usize][p as usize];
        for vc in 0..port.vcs {
            self.arena.flow_out(e, p, vc).bump_epoch();
            if port.far_end(e, p, vc).is_none() {
                self.arena.flow_into(e, p, vc).bump_epoch();
            }
        }
    }

    /// Makes every runner ask the network's observer for its tap again, because a capture has started
    /// or ended.
    pub fn retap(&self) {
        for (e, ports) in self.topology().endpoints.iter().enumerate() {
            for (p, _) in ports.iter().enumerate().filter(|(_, port)| !port.is_exact()) {
                let (e, p) = (e as u32, p as u32);
                self.bump_epochs(e, p);
                let messages = self.arena.messages(e, p);
                // Without the lock of a participant that does not leave, a tap may start a step late.
                let _guard = seats::briefly(|| messages.try_lock(CONTROL), || 0).ok();
                messages.touch();
            }
        }
        self.changed();
    }

    /// The exact link behind a port.
    fn exact(&self, endpoint: u32, port: u32) -> Option<&dyn ExactLinks> {
        self.extensions.exact.as_deref().filter(|exact| exact.has(endpoint, port))
    }
}

/// Why a queue ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Closed,
    Died,
    Reset,
}
