//! The control plane: clients, regions, queues, and cleaning up after all of them.

mod cleanup;
mod events;

use crate::arena::{Arena, CONTROL, FIRST_CLIENT, PARTICIPANTS};
use crate::clock::Clock;
use crate::event::Event;
use crate::os::{self, SharedMemory};
use crate::topology::{Peer, Topology};
use crate::view::{Fetch, Runner, View, ViewHost};
use cleanup::{bind, claim, patiently};
pub use events::EVENTS_MAX;
use events::Vector;
use serde::{Deserialize, Serialize};
use spfe_contract::{MessageKind, QueueKind, QueueState, Status};
use spfe_device::memory::{Address, REGIONS, RegionKey, RegionTag};
use spfe_device::message::{FILTER_CHANNEL, FILTER_TYPE, Guard, MessagePort, SLOTS};
use spfe_device::queue::QueueView;
use spfe_device::receive::RxPacked;
use spfe_device::shared::{CounterValues, QueueConfig, RxState, TxState};
use spfe_ring::sync::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// What went wrong in the control plane: the status and a sentence with object, value and limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{what} ({})", self.status().name())]
pub struct Error {
    code: u8,
    /// Object, value, limit, and what to do.
    pub what: String,
}

impl Error {
    /// An error with its status.
    pub fn new(status: Status, what: impl Into<String>) -> Self {
        Self { code: status.raw(), what: what.into() }
    }

    /// The contract's status.
    pub fn status(&self) -> Status {
        Status::from_raw(self.code).unwrap_or(Status::BadField)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let status = match error.kind() {
            ErrorKind::OutOfMemory => Status::NoResources,
            ErrorKind::InvalidInput | ErrorKind::InvalidData => Status::BadField,
            _ => Status::NoResources,
        };
        Self::new(status, error.to_string())
    }
}

type Result<T> = std::result::Result<T, Error>;

/// A queue a client wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRequest {
    /// Port.
    pub port: u32,
    /// Virtual channel. For messages any number: what [`Network::destroy_queue`] finds it by, where
    /// a client has several on a port.
    pub vc: u32,
    /// `queue_kind`.
    pub kind: u8,
    /// `queue_options`.
    pub options: u32,
    /// Event vector ([`Network::add_event`]); 0: none.
    pub vector: u32,
    /// Submission ring entries, log2.
    pub sq_log2: u32,
    /// Completion ring entries, log2.
    pub cq_log2: u32,
    /// Submission ring {region, offset}.
    pub sq: u64,
    /// Completion ring.
    pub cq: u64,
    /// Side array of times.
    pub stamps: u64,
    /// Host line, then device line.
    pub lines: u64,
    /// Packed area.
    pub area: u64,
    /// Packed area bytes.
    pub area_bytes: u32,
    /// Message filter.
    pub filter: u32,
}

/// Where an object is to be, for clients that number them as hardware does (register faces).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Protection domain inside the client: its queues name only regions of their own domain.
    pub domain: u8,
    /// Message slot or region index; `None` is any free one. Data queues have no choice.
    pub index: Option<usize>,
}

impl Placement {
    /// The domain as queues and region tags carry it: {domain 8, client 8}.
    fn domain_of(self, client: u32) -> u16 {
        const { assert!(PARTICIPANTS <= 256) };
        u16::from(self.domain) << 8 | client as u16
    }
}

impl QueueRequest {
    fn config(&self, client: u32, place: Placement) -> QueueConfig {
        QueueConfig {
            kind: u32::from(self.kind),
            options: self.options,
            domain: u32::from(place.domain_of(client)),
            vector: self.vector,
            sq_log2: self.sq_log2,
            cq_log2: self.cq_log2,
            sq: self.sq,
            cq: self.cq,
            stamps: self.stamps,
            lines: self.lines,
            area: self.area,
            area_bytes: self.area_bytes,
            filter: self.filter,
            vc: self.vc,
            owner: client,
        }
    }
}

/// What a client holds after attaching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Participant id, also its protection domain.
    pub client: u32,
    /// Endpoint.
    pub endpoint: u32,
}

/// What a port is, and what moves on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PortInfo {
    /// `port_kind`.
    pub kind: u8,
    /// `port_state`.
    pub state: u8,
    /// Virtual channels.
    pub vcs: u32,
    /// Rate of the link.
    pub rate: crate::topology::LinkRate,
    /// What it is connected to.
    pub peer: Peer,
    /// Per virtual channel: who sends, who receives at the far end, priority, counters.
    pub channels: Vec<ChannelInfo>,
    /// Messages sent, received and dropped.
    pub messages: (u64, u64, u64),
    /// Last time-code, and how many were not one more than the one before.
    pub time_code: (u8, u32),
}

/// One virtual channel of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelInfo {
    /// Priority, 0 the most urgent.
    pub priority: u8,
    /// Participant that sends here, 0 if none.
    pub tx_owner: u32,
    /// Participant that receives here, 0 if none.
    pub rx_owner: u32,
    /// The far end has a receiver.
    pub far_receives: bool,
    /// The far end has a sender.
    pub far_sends: bool,
    /// Transmit counters: packets, bytes, errors, stalls, wakes.
    pub tx: [u64; 5],
    /// Receive counters.
    pub rx: [u64; 5],
}

fn five(values: CounterValues) -> [u64; 5] {
    [values.packets, values.bytes, values.errors, values.stalls, values.wakes]
}

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
}

struct Owned(Weak<Network>);

impl Fetch for Owned {
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.0.upgrade()?.region_memory(endpoint, key)
    }
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        self.0.upgrade()?.event(participant, vector)
    }
}

impl Network {
    /// A network of this topology.
    pub fn new(topology: Topology) -> Result<Arc<Self>> {
        topology.check().map_err(|what| Error::new(Status::BadField, what))?;
        os::join_barriers();
        let endpoints = topology.endpoints.len();
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
            let view = View::new(arena.clone(), CONTROL, fetch, clock.clone());
            Self {
                arena,
                view,
                doorbell,
                clock,
                inner: Mutex::new(inner),
                shares: Mutex::default(),
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

    /// What the network is.
    pub fn topology(&self) -> &Topology {
        self.arena.topology()
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
        View::new(self.arena.clone(), participant, fetch, self.clock.clone())
    }

    fn exists(&self, endpoint: u32) -> Result<()> {
        let count = self.topology().endpoints.len();
        if (endpoint as usize) < count {
            return Ok(());
        }
        let what = format!("endpoint {endpoint}: this network has endpoints 0 to {}", count - 1);
        Err(Error::new(Status::NotFound, what))
    }

    /// A new client on an endpoint.
    pub fn attach(&self, endpoint: u32, name: &str) -> Result<Attachment> {
        self.exists(endpoint)?;
        let mut inner = self.lock();
        let room = PARTICIPANTS as u32 - FIRST_CLIENT;
        let id = (0..room)
            .map(|step| FIRST_CLIENT + (inner.next_client - FIRST_CLIENT + step) % room)
            .find(|id| !inner.clients.contains_key(id))
            .ok_or_else(|| {
                Error::new(
                    Status::NoResources,
                    format!("{room} clients attached, the most there can be"),
                )
            })?;
        inner.next_client = FIRST_CLIENT + (id + 1 - FIRST_CLIENT) % room;
        self.arena.mark_dead(id, false);
        let client =
            Client { endpoint, name: name.chars().take(64).collect(), messages: Vec::new() };
        inner.clients.insert(id, client);
        self.shares().events.insert(id, Vec::new());
        Ok(Attachment { client: id, endpoint })
    }

    /// Memory of a region, for a participant that has to map it.
    pub fn region_memory(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.shares().memories.get(&(endpoint, key)).cloned()
    }

    /// Registers memory of a client. The memory stays mapped until the region is removed.
    pub fn add_region(
        &self,
        at: Attachment,
        memory: Arc<SharedMemory>,
        access: u32,
    ) -> Result<RegionKey> {
        let bytes = memory.size() as u64;
        self.add_region_at(at, memory, bytes, access, Placement::default())
    }

    /// Registers the first `bytes` bytes of memory of a client, where the client wants it.
    ///
    /// # Errors
    /// BUSY if the wished index is taken, NO_RESOURCES if all are.
    pub fn add_region_at(
        &self,
        at: Attachment,
        memory: Arc<SharedMemory>,
        bytes: u64,
        access: u32,
        place: Placement,
    ) -> Result<RegionKey> {
        let mut inner = self.lock();
        let regions = &mut inner.regions[at.endpoint as usize];
        let mut free = regions.iter_mut().enumerate().filter(|(_, region)| region.memory.is_none());
        let found = match place.index {
            Some(wish) => free.find(|(index, _)| *index == wish),
            None => free.next(),
        };
        let (_, region) = found.ok_or_else(|| match place.index {
            Some(wish) => Error::new(Status::Busy, format!("region index {wish} is taken")),
            None => Error::new(
                Status::NoResources,
                format!("{REGIONS} regions registered, the most there can be"),
            ),
        })?;
        region.key = region.key.next();
        region.serial = region.serial.wrapping_add(u16::from(region.key.generation() == 0));
        region.client = at.client;
        region.memory = Some(memory.clone());
        self.shares().memories.insert((at.endpoint, region.key), memory.clone());
        let (key, serial) = (region.key, region.serial);
        let shared = &self.arena.regions(at.endpoint)[key.index()];
        shared.size.store(bytes.min(memory.size() as u64), Ordering::Relaxed);
        let domain = place.domain_of(at.client);
        let tag = RegionTag::new(key, domain, access).with_serial(serial);
        shared.tag.store(tag.0, Ordering::Release);
        drop(inner);
        self.view.map_region(at.endpoint, key);
        Ok(key)
    }

    /// Revokes a region. When this returns nobody accesses it any more.
    pub fn remove_region(&self, at: Attachment, key: RegionKey) -> Result<()> {
        let mut inner = self.lock();
        let region = &inner.regions[at.endpoint as usize];
        let known = region.get(key.index()).is_some_and(|region| {
            region.key == key && region.client == at.client && region.memory.is_some()
        });
        if !known {
            let what = format!("region key {:#06x} is not registered by this client", key.0);
            return Err(Error::new(Status::BadRegion, what));
        }
        if let Some((port, vc)) = self.holds_rings(at, key) {
            let what = format!(
                "region {:#06x} holds the rings of port {port} VC {vc}: close them first",
                key.0
            );
            return Err(Error::new(Status::Busy, what));
        }
        self.revoke(&mut inner, at.endpoint, key)
    }

    fn revoke(&self, inner: &mut Inner, endpoint: u32, key: RegionKey) -> Result<()> {
        self.arena.regions(endpoint)[key.index()].tag.store(0, Ordering::Release);
        self.stop_all(inner, endpoint)?;
        inner.regions[endpoint as usize][key.index()].memory = None;
        self.shares().memories.remove(&(endpoint, key));
        Ok(())
    }

    /// Passes through every flow of an endpoint, so that no step that began before is running, and
    /// makes every runner look at regions and configuration again.
    fn stop_all(&self, inner: &mut Inner, endpoint: u32) -> Result<()> {
        for (port, vc, out) in self.flows(endpoint) {
            let runner = self.control(inner, endpoint, port, vc, out);
            let shared = runner.shared();
            claim(runner)?;
            shared.bump_epoch();
            shared.seat.release();
        }
        for port in 0..self.topology().endpoints[endpoint as usize].len() as u32 {
            // Receive slots are written under the sending port's lock, hence both.
            let _both = self.message_locks(endpoint, port)?;
            self.arena.messages(endpoint, port).touch();
        }
        Ok(())
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

    fn holds_rings(&self, at: Attachment, key: RegionKey) -> Option<(u32, u32)> {
        let holds = |config: QueueConfig| {
            let used = [config.sq, config.cq, config.stamps, config.lines, config.area];
            let mine = config.kind != 0 && config.owner == at.client;
            mine && used.iter().any(|a| *a != 0 && Address(*a).key() == key)
        };
        let data = self.flows(at.endpoint).into_iter().find_map(|(port, vc, out)| {
            holds(self.config(at.endpoint, port, vc, out)).then_some((port, vc))
        });
        data.or_else(|| {
            (0..self.topology().endpoints[at.endpoint as usize].len() as u32).find_map(|port| {
                let messages = self.arena.messages(at.endpoint, port);
                let mut slots = messages.tx.iter().chain(&messages.rx);
                slots.any(|slot| holds(slot.config())).then_some((port, 255))
            })
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

    fn port(&self, endpoint: u32, port: u32) -> Result<&crate::topology::Port> {
        let ports = &self.topology().endpoints[endpoint as usize];
        ports.get(port as usize).ok_or_else(|| {
            let what =
                format!("port {port}: endpoint {endpoint} has ports 0 to {}", ports.len() - 1);
            Error::new(Status::NotFound, what)
        })
    }

    /// Creates a queue of a client.
    pub fn create_queue(&self, at: Attachment, request: QueueRequest) -> Result<()> {
        self.create_queue_at(at, request, Placement::default())
    }

    /// Creates a queue of a client, where the client wants it.
    ///
    /// # Errors
    /// BUSY if the virtual channel or the wished message slot is taken; NOT_FOUND if the port or the
    /// event vector is none of the client's.
    pub fn create_queue_at(
        &self,
        at: Attachment,
        request: QueueRequest,
        place: Placement,
    ) -> Result<()> {
        let mut inner = self.lock();
        self.use_event(at.client, request.vector)?;
        let done = self.create(&mut inner, at, request, place);
        if done.is_err() {
            self.leave_event(at.client, request.vector);
        }
        done
    }

    fn create(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        place: Placement,
    ) -> Result<()> {
        let port = self.port(at.endpoint, request.port)?;
        let kind = QueueKind::from_raw(request.kind);
        match kind {
            Some(QueueKind::Tx | QueueKind::Rx | QueueKind::RxPacked) => {
                if request.vc >= port.vcs {
                    let what = format!(
                        "VC {}: port {} has VCs 0 to {}",
                        request.vc,
                        request.port,
                        port.vcs - 1
                    );
                    return Err(Error::new(Status::BadVc, what));
                }
                self.create_data(inner, at, request, kind == Some(QueueKind::Tx), place)
            }
            Some(QueueKind::MessageTx | QueueKind::MessageRx) => {
                let tx = kind == Some(QueueKind::MessageTx);
                self.create_message(inner, at, request, tx, place)
            }
            _ => {
                let what = format!("queue kind {} is not one a client can create", request.kind);
                Err(Error::new(Status::BadOpcode, what))
            }
        }
    }

    fn check_view(&self, at: Attachment, config: QueueConfig) -> Result<QueueView> {
        self.view.queue_view(at.endpoint, config).map_err(|status| {
            let what = format!(
                "rings of port VC {}: 2^{} submissions at {:#x}, 2^{} completions at {:#x}: must lie in \
                 a region of this client, aligned to 64 bytes, 4 to 32768 entries, completions not \
                 fewer than submissions",
                config.vc, config.sq_log2, config.sq, config.cq_log2, config.cq
            );
            Error::new(status, what)
        })
    }

    fn create_data(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        tx: bool,
        place: Placement,
    ) -> Result<()> {
        let (port, vc) = (request.port, request.vc);
        let current = self.config(at.endpoint, port, vc, tx);
        if current.kind != 0 {
            let name = inner.clients.get(&current.owner).map_or("?", |client| &client.name);
            let end = if tx { "transmit" } else { "receive" };
            let what = format!(
                "{end} end of port {port} VC {vc} is open in client {} ({name})",
                current.owner
            );
            return Err(Error::new(Status::Busy, what));
        }
        let config = request.config(at.client, place);
        let view = self.check_view(at, config)?;
        let mut state = RxState::default();
        if request.kind == QueueKind::RxPacked.raw() {
            let flow = self.arena.flow_into(at.endpoint, port, vc);
            self.view.check_area(at.endpoint, view, flow).map_err(|status| {
                let what = format!(
                    "packed area of {} bytes: 4096 bytes to 1 GiB, a multiple of 8, in a region of \
                     this client; submission ring not smaller than completion ring",
                    config.area_bytes
                );
                Error::new(status, what)
            })?;
            RxPacked::start(&mut state, &view);
        }
        let runner = self.control(inner, at.endpoint, port, vc, tx);
        let shared = runner.shared();
        claim(runner)?;
        // SAFETY: the seat is claimed.
        unsafe {
            if tx {
                *shared.tx.get() = TxState::default();
                *shared.tx_config.get() = config;
            } else {
                *shared.rx.get() = state;
                *shared.rx_config.get() = config;
            }
        }
        shared.dead.store(0, Ordering::Release);
        view.device_line().set_state(u32::from(QueueState::Enabled.raw()), 0);
        shared.bump_epoch();
        shared.seat.release();
        self.changed();
        Ok(())
    }

    /// Channels and types are those of broadcast messages.
    fn check_filter(&self, at: Attachment, request: QueueRequest) -> Result<()> {
        let port = self.port(at.endpoint, request.port)?;
        let known = match port.carries() {
            MessageKind::Broadcast => FILTER_CHANNEL | FILTER_TYPE | 0xffff,
            MessageKind::TimeCode => 0,
        };
        if request.filter & !known == 0 {
            return Ok(());
        }
        let what = format!(
            "filter {:#x}: port {} speaks {}, allowed are the bits {known:#x}",
            request.filter,
            request.port,
            port.kind().name()
        );
        Err(Error::new(Status::BadField, what))
    }

    fn create_message(
        &self,
        inner: &mut Inner,
        at: Attachment,
        request: QueueRequest,
        tx: bool,
        place: Placement,
    ) -> Result<()> {
        self.check_filter(at, request)?;
        let mut config = request.config(at.client, place);
        config.vc = 255;
        let view = self.check_view(at, config)?;
        if !tx && config.sq_log2 != config.cq_log2 {
            let what = format!(
                "message queue of port {}: 2^{} submissions, 2^{} completions: must be equal",
                request.port, config.sq_log2, config.cq_log2
            );
            return Err(Error::new(Status::BadRing, what));
        }
        let messages = self.arena.messages(at.endpoint, request.port);
        let slots = if tx { &messages.tx } else { &messages.rx };
        let guards = self.message_locks(at.endpoint, request.port)?;
        let free = |index: &usize| slots.get(*index).is_some_and(|slot| slot.config().kind == 0);
        let index = match place.index {
            Some(wish) => Some(wish).filter(free),
            None => (0..SLOTS).find(free),
        };
        let index = index.ok_or_else(|| match place.index {
            Some(wish) => {
                let what =
                    format!("port {}: message slot {wish} of {SLOTS} is taken", request.port);
                Error::new(Status::Busy, what)
            }
            None => {
                let what = format!(
                    "port {}: {SLOTS} message queues are open, the most there can be",
                    request.port
                );
                Error::new(Status::NoResources, what)
            }
        })?;
        view.device_line().set_state(u32::from(QueueState::Enabled.raw()), 0);
        slots[index].configure(config, messages);
        drop(guards);
        if let Some(client) = inner.clients.get_mut(&at.client) {
            let number = request.vc;
            client.messages.push(MessageQueue { port: request.port, tx, slot: index, number });
        }
        self.changed();
        Ok(())
    }

    /// Locks the messages of a port: its own sending, and the far port's sending to it. Always in
    /// order of address, so that two control operations cannot wait for each other.
    fn message_locks(&self, endpoint: u32, port: u32) -> Result<Vec<Guard<'static>>> {
        let mut ports = vec![self.arena.messages(endpoint, port)];
        if let Peer::Port { endpoint: far, port: far_port } =
            self.topology().endpoints[endpoint as usize][port as usize].peer
        {
            ports.push(self.arena.messages(far, far_port));
        }
        ports.sort_by_key(|port| std::ptr::from_ref(*port) as usize);
        let lock = |port: &'static MessagePort| {
            patiently(|| port.try_lock(CONTROL)).ok_or_else(|| {
                let what = format!(
                    "client {} has held a message port too long; is it stopped?",
                    port.holder()
                );
                Error::new(Status::Busy, what)
            })
        };
        ports.into_iter().map(lock).collect()
    }

    /// Destroys a queue of a client: when this returns its rings and buffers belong to the client.
    pub fn destroy_queue(&self, at: Attachment, port: u32, vc: u32, kind: u8) -> Result<()> {
        let mut inner = self.lock();
        self.port(at.endpoint, port)?;
        match QueueKind::from_raw(kind) {
            Some(QueueKind::MessageTx | QueueKind::MessageRx) => {
                let tx = kind == QueueKind::MessageTx.raw();
                let mine =
                    |queue: &MessageQueue| (queue.port, queue.tx, queue.number) == (port, tx, vc);
                self.destroy_message(&mut inner, at, mine).map(drop)
            }
            _ => {
                if vc >= self.port(at.endpoint, port)?.vcs {
                    return Err(Error::new(Status::BadVc, format!("port {port} has no VC {vc}")));
                }
                let tx = kind == QueueKind::Tx.raw();
                let config = self.config(at.endpoint, port, vc, tx);
                if config.kind == 0 || config.owner != at.client {
                    let what = format!("port {port} VC {vc} has no such queue of this client");
                    return Err(Error::new(Status::NotFound, what));
                }
                self.destroy_data(&mut inner, at.endpoint, port, vc, tx, Ended::Closed)
            }
        }
    }

    /// Destroys the message queue of a client in one slot of a port.
    ///
    /// # Errors
    /// NOT_FOUND if the client has no message queue there.
    pub fn destroy_message_at(
        &self,
        at: Attachment,
        port: u32,
        tx: bool,
        slot: usize,
    ) -> Result<()> {
        let mut inner = self.lock();
        self.port(at.endpoint, port)?;
        let mine = |queue: &MessageQueue| (queue.port, queue.tx, queue.slot) == (port, tx, slot);
        if self.destroy_message(&mut inner, at, mine)? {
            return Ok(());
        }
        let what = format!("port {port} message slot {slot} has no such queue of this client");
        Err(Error::new(Status::NotFound, what))
    }

    fn destroy_message(
        &self,
        inner: &mut Inner,
        at: Attachment,
        is_meant: impl Fn(&MessageQueue) -> bool,
    ) -> Result<bool> {
        let Some(client) = inner.clients.get_mut(&at.client) else { return Ok(false) };
        let Some(found) = client.messages.iter().position(is_meant) else { return Ok(false) };
        let queue = client.messages[found];
        self.free_slot(at.endpoint, queue.port, queue.tx, queue.slot, Ended::Closed)?;
        client.messages.remove(found);
        Ok(true)
    }

    fn free_slot(
        &self,
        endpoint: u32,
        port: u32,
        tx: bool,
        index: usize,
        ended: Ended,
    ) -> Result<()> {
        let messages = self.arena.messages(endpoint, port);
        let slots = if tx { &messages.tx } else { &messages.rx };
        let _guards = self.message_locks(endpoint, port)?;
        let slot = &slots[index];
        if ended != Ended::Died
            && let Ok(view) = self.view.queue_view(endpoint, slot.config())
        {
            let reset = ended == Ended::Reset;
            let status = if reset { Status::DeviceReset } else { Status::Ok };
            slot.end(&view, tx && reset, status, &mut ViewHost(&self.view));
        }
        let QueueConfig { owner, vector, .. } = slot.config();
        slot.configure(QueueConfig::default(), messages);
        self.leave_event(owner, vector);
        Ok(())
    }

    fn destroy_data(
        &self,
        inner: &mut Inner,
        endpoint: u32,
        port: u32,
        vc: u32,
        tx: bool,
        ended: Ended,
    ) -> Result<()> {
        let view = self.view.clone();
        let QueueConfig { owner, vector, .. } = self.config(endpoint, port, vc, tx);
        let runner = self.control(inner, endpoint, port, vc, tx);
        let shared = runner.shared();
        bind(runner)?;
        claim(runner)?;
        let flow = runner.flow_mut();
        let mut host = ViewHost(&view);
        match (tx, ended) {
            (true, Ended::Reset) => {
                flow.flush(&mut host, Status::DeviceReset, false);
            }
            // What the sender had begun will not go on: EEP for the receiver.
            (true, _) => flow.cut(&mut host),
            (false, Ended::Closed) => {
                flow.flush(&mut host, Status::PeerGone, true);
            }
            (false, Ended::Died) => {
                flow.flush(&mut host, Status::PeerGone, false);
            }
            (false, Ended::Reset) => {
                flow.flush_receive(&mut host, Status::DeviceReset);
                flow.flush(&mut host, Status::PeerGone, true);
            }
        }
        let error = if ended == Ended::Reset { Status::DeviceReset } else { Status::Ok };
        if ended != Ended::Died {
            flow.set_state(&mut host, tx, QueueState::Disabled, error);
        }
        // SAFETY: the seat is claimed.
        unsafe {
            let config = if tx { &shared.tx_config } else { &shared.rx_config };
            *config.get() = QueueConfig::default();
        }
        shared.bump_epoch();
        shared.seat.release();
        self.leave_event(owner, vector);
        self.changed();
        Ok(())
    }

    /// Resets the client's share of the device: queues stop, what was pending completes with
    /// DEVICE_RESET, regions are revoked.
    pub fn reset(&self, at: Attachment) -> Result<()> {
        let mut inner = self.lock();
        self.end_queues(&mut inner, at, Ended::Reset)?;
        self.end_regions(&mut inner, at)
    }

    fn end_queues(&self, inner: &mut Inner, at: Attachment, ended: Ended) -> Result<()> {
        for (port, vc, out) in self.flows(at.endpoint) {
            let config = self.config(at.endpoint, port, vc, out);
            if config.kind != 0 && config.owner == at.client {
                self.destroy_data(inner, at.endpoint, port, vc, out, ended)?;
            }
        }
        let Some(client) = inner.clients.get_mut(&at.client) else { return Ok(()) };
        while let Some(queue) = client.messages.last().copied() {
            self.free_slot(at.endpoint, queue.port, queue.tx, queue.slot, ended)?;
            client.messages.pop();
        }
        Ok(())
    }

    fn end_regions(&self, inner: &mut Inner, at: Attachment) -> Result<()> {
        let keys: Vec<RegionKey> = inner.regions[at.endpoint as usize]
            .iter()
            .filter(|region| region.client == at.client && region.memory.is_some())
            .map(|region| region.key)
            .collect();
        for key in keys {
            self.revoke(inner, at.endpoint, key)?;
        }
        Ok(())
    }

    /// Sets the priority of a virtual channel out of a port (0, the most urgent, to 15).
    pub fn set_priority(&self, at: Attachment, port: u32, vc: u32, priority: u8) -> Result<()> {
        let config = self.port(at.endpoint, port)?;
        if vc >= config.vcs || priority > 15 {
            let what = format!(
                "VC {vc} priority {priority}: port {port} has VCs 0 to {}, priorities 0 to 15",
                config.vcs - 1
            );
            return Err(Error::new(Status::BadVc, what));
        }
        self.arena.times_out(at.endpoint, port).0.set_priority(vc, priority);
        Ok(())
    }

    /// What a port is and what moves on it.
    pub fn port_info(&self, endpoint: u32, port: u32) -> Result<PortInfo> {
        let inner = self.lock();
        self.exists(endpoint)?;
        let config = self.port(endpoint, port)?;
        let connected = config.peer != Peer::None;
        let state =
            if connected { spfe_contract::PortState::Up } else { spfe_contract::PortState::Down };
        let messages = self.arena.messages(endpoint, port);
        let sum = |slots: &[spfe_device::message::MessageSlot; SLOTS],
                   pick: fn(CounterValues) -> u64| {
            slots.iter().map(|slot| pick(slot.count.values())).sum::<u64>()
        };
        let channels = (0..config.vcs).map(|vc| self.channel(endpoint, port, vc)).collect();
        drop(inner);
        Ok(PortInfo {
            kind: config.kind().raw(),
            state: state.raw(),
            vcs: config.vcs,
            rate: config.rate,
            peer: config.peer,
            channels,
            messages: (
                sum(&messages.tx, |values| values.packets),
                sum(&messages.rx, |values| values.packets),
                sum(&messages.rx, |values| values.dropped),
            ),
            time_code: (
                messages.time_code.load(Ordering::Relaxed) as u8,
                messages.time_code_invalid.load(Ordering::Relaxed),
            ),
        })
    }

    fn channel(&self, endpoint: u32, port: u32, vc: u32) -> ChannelInfo {
        let (out, into) =
            (self.arena.flow_out(endpoint, port, vc), self.arena.flow_into(endpoint, port, vc));
        // SAFETY: configurations are only written under the lock the caller holds.
        let (far_rx, far_tx) =
            unsafe { ((*out.rx_config.get()).kind, (*into.tx_config.get()).kind) };
        let peer = self.topology().endpoints[endpoint as usize][port as usize].peer;
        ChannelInfo {
            priority: self.arena.times_out(endpoint, port).0.priority(vc),
            tx_owner: self.config(endpoint, port, vc, true).owner,
            rx_owner: self.config(endpoint, port, vc, false).owner,
            far_receives: far_rx != 0 || matches!(peer, Peer::Sink { .. } | Peer::Echo),
            far_sends: far_tx != 0 || matches!(peer, Peer::Generator { .. } | Peer::Echo),
            tx: five(out.tx_count.values()),
            rx: five(into.rx_count.values()),
        }
    }

    /// Clients attached: id, endpoint, name.
    pub fn clients(&self) -> Vec<(u32, u32, String)> {
        let inner = self.lock();
        let mut list: Vec<_> =
            inner.clients.iter().map(|(id, c)| (*id, c.endpoint, c.name.clone())).collect();
        list.sort_unstable();
        list
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

/// How a queue came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Closed,
    Died,
    Reset,
}
