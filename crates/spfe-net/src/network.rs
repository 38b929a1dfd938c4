//! The control plane: clients, regions, queues, and cleaning up after all of them.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `clients` | who is attached |
//! | `regions` | memory of clients |
//! | `queues` | queues of packets, and what a client asks for |
//! | `messages` | queues of messages |
//! | `events` | event vectors |
//! | `ports` | what a port is and what moves on it |
//! | `cleanup` | taking back what a client had |
//!
//! One lock, `Inner`, orders what changes; what runners ask for while it is held is behind a lock of
//! its own, `Shares`.

mod capture;
mod cleanup;
mod clients;
mod error;
mod events;
mod messages;
mod mib;
mod ports;
mod queues;
mod regions;

pub use clients::Attachment;
pub use error::Error;
pub use events::EVENTS_MAX;
pub use ports::{ChannelInfo, PortInfo};
pub use queues::{Placement, QueueRequest};

use crate::arena::{Arena, CONTROL, DEVICE, FIRST_CLIENT};
use crate::capture::Hub;
use crate::clock::Clock;
use crate::event::Event;
use crate::exact::Exact;
use crate::exact::driver::{Driver, Shared};
use crate::os::{self, SharedMemory};
use crate::topology::{Mode, Port, Topology};
use crate::view::{Fetch, Runner, View};
use events::Vector;
use spfe_contract::Status;
use spfe_device::memory::{REGIONS, RegionKey};
use spfe_device::shared::QueueConfig;
use spfe_ring::sync::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

type Result<T> = std::result::Result<T, Error>;

struct Client {
    endpoint: u32,
    name: String,
    messages: Vec<MessageQueue>,
}

/// A message queue of a client.
#[derive(Clone, Copy)]
struct MessageQueue {
    port: u32,
    tx: bool,
    slot: usize,
    /// The number its client gave it.
    number: u32,
}

#[derive(Default)]
struct Region {
    memory: Option<Arc<SharedMemory>>,
    client: u32,
    key: RegionKey,
    /// Rounds of generations so far.
    serial: u16,
}

struct Inner {
    clients: HashMap<u32, Client>,
    next_client: u32,
    regions: Vec<Vec<Region>>,
    runners: HashMap<(u32, u32, u32), Runner>,
}

/// What runners ask for while the control plane may be busy with their flow: behind a lock of its
/// own, which nobody keeps while waiting for anything.
#[derive(Default)]
struct Shares {
    memories: HashMap<(u32, RegionKey), Arc<SharedMemory>>,
    /// Event vectors of each client.
    events: HashMap<u32, Vec<Vector>>,
    last_vector: u32,
}

/// A network and its control plane.
pub struct Network {
    arena: Arc<Arena>,
    view: Arc<View>,
    doorbell: Arc<SharedMemory>,
    clock: Clock,
    inner: Mutex<Inner>,
    shares: Mutex<Shares>,
    /// Views of participants in this process.
    views: Mutex<Vec<Weak<View>>>,
    exact: Option<Arc<Exact>>,
    hub: Arc<Hub>,
    names: Vec<String>,
    /// What the virtual clock runs.
    _driver: Option<Arc<Shared>>,
}

struct Owned(Weak<Network>);

impl Fetch for Owned {
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.0.upgrade()?.region_memory(endpoint, key)
    }
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        self.0.upgrade()?.event(participant, vector)
    }
    fn hub(&self) -> Option<Arc<Hub>> {
        Some(self.0.upgrade()?.hub.clone())
    }
}

impl Network {
    /// A network of this topology.
    pub fn new(topology: Topology) -> Result<Arc<Self>> {
        let bad = |what| Error::new(Status::BadField, what);
        topology.check().map_err(bad)?;
        let exact = Exact::of(&topology).map_err(bad)?;
        Self::with_exact(topology, exact, Vec::new())
    }

    /// The same with exact links that were made for the topology, and names of the endpoints.
    pub fn with_exact(
        topology: Topology,
        exact: Option<Arc<Exact>>,
        names: Vec<String>,
    ) -> Result<Arc<Self>> {
        topology.check().map_err(|what| Error::new(Status::BadField, what))?;
        os::join_barriers();
        let endpoints = topology.endpoints.len();
        let hub = Hub::new(&topology, exact.as_deref());
        if let Some(exact) = &exact {
            exact.show_to(&hub);
        }
        let arena = Arc::new(Arena::create(topology)?);
        let clock = View::make_clock(&arena);
        let doorbell = Arc::new(SharedMemory::create("spfe-doorbell", 4096)?);
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
        };
        Ok(Arc::new_cyclic(|weak: &Weak<Self>| {
            let fetch = Arc::new(Owned(weak.clone()));
            let view_of =
                |id| View::new(arena.clone(), id, fetch.clone(), clock.clone(), exact.clone());
            let view = view_of(CONTROL);
            let driver = match &clock {
                Clock::Virtual(clock) => Driver::new(&view_of(DEVICE)).map(|driver| {
                    let driver = Shared::new(driver);
                    let weak: Weak<Shared> = Arc::downgrade(&driver);
                    clock.set_driver(weak);
                    driver
                }),
                Clock::Real => None,
            };
            Self {
                arena,
                view,
                doorbell,
                clock,
                inner: Mutex::new(inner),
                shares: Mutex::default(),
                views: Mutex::default(),
                exact,
                hub,
                names,
                _driver: driver,
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
        &self.names
    }

    /// What the network is.
    pub fn topology(&self) -> &Topology {
        self.arena.topology()
    }

    /// Whether a [`DeviceThread`](crate::DeviceThread) has to run: in mode thread, and for exact
    /// links in real time.
    pub fn needs_device(&self) -> bool {
        let exact = self.exact.is_some() && !self.clock.is_virtual();
        self.topology().mode == Mode::Thread || exact
    }

    /// The time its participants share.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The page clients ring.
    pub fn doorbell(&self) -> &Arc<SharedMemory> {
        &self.doorbell
    }

    /// A data-plane view for a participant in this process.
    pub fn view(self: &Arc<Self>, participant: u32) -> Arc<View> {
        let fetch = Arc::new(Owned(Arc::downgrade(self)));
        let exact = self.exact.clone();
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

    /// The configuration of this endpoint's queue on a virtual channel. Only the control plane
    /// writes configurations, and it holds its lock while it does.
    fn config(&self, endpoint: u32, port: u32, vc: u32, tx: bool) -> QueueConfig {
        // SAFETY: only written under `inner`'s lock, which every caller holds.
        unsafe {
            if tx {
                *self.arena.flow_out(endpoint, port, vc).tx_config.get()
            } else {
                *self.arena.flow_into(endpoint, port, vc).rx_config.get()
            }
        }
    }

    fn port(&self, endpoint: u32, port: u32) -> Result<&Port> {
        let ports = &self.topology().endpoints[endpoint as usize];
        ports.get(port as usize).ok_or_else(|| {
            let what =
                format!("port {port}: endpoint {endpoint} has ports 0 to {}", ports.len() - 1);
            Error::new(Status::NotFound, what)
        })
    }

    /// Tells device threads that queues have changed.
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
        let word = crate::device_thread::doorbell_word(&self.doorbell);
        word.fetch_add(1, Ordering::Release);
        os::futex_wake(word);
    }
}
