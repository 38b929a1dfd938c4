//! The registers of an endpoint, as a driver sees them over a bus.
//!
//! A [`RegisterFile`] lays out the blocks of the contract as a linked list, stores what the host
//! writes, and executes commands on the network when CFG_SEQ changes. It is a client of the network.
//! A [`DeviceThread`](crate::DeviceThread) usually runs the flows of its queues.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `layout` | blocks, offsets, queue contexts |
//! | `status` | registers that the device writes |
//! | `command` | the configuration latch |
//! | `event` | event vectors |
//! | `watch` | link events |
//! | `fabric` | fabric ports |
//! | `target` | a target of RDMA without queues |
//! | [`bus`] | source of the memory of regions |
//! | [`guest`] | memory of a host behind a bus |
//! | `local_dma` | all of that memory, by bus address |
//!
//! Reads have no side effect. Offsets without a register, and offsets that are not a multiple of 4,
//! read 0 and ignore writes.

pub mod bus;
mod command;
mod event;
mod fabric;
pub mod guest;
mod layout;
mod local_dma;
mod status;
mod target;
mod watch;

use crate::network::{Network, TARGET_ENTRIES, TargetPlace};
pub use bus::{Bus, Segments, Stride, Variant};
use event::EventVector;
use layout::{Layout, Place};
use rustix::fd::OwnedFd;
use spfe_contract::{
    CONTRACT_VERSION_MINOR, DoorbellKind, QueueState, SEEN_OFFSET, SEEN_VECTORS, Status,
    capability, doorbell, global_block as global,
};
use spfe_device::memory::RegionKey;
use spfe_host::os::{self, SharedMemory};
use spfe_host::topology::PortConfig;
use spfe_host::{Attachment, ControlError as Error};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use target::TargetEntry;
use watch::PortWatch;

/// Number of event vectors.
pub const EVENTS: u32 = 64;
/// Number of protection domains; [`Placement`](crate::Placement) has 8 bits.
const DOMAINS: u32 = 1 << u8::BITS;
/// Value of every register of a device that is gone.
const GONE: u32 = u32::MAX;
/// Doorbell kind that executes the command in the configuration latch.
const RING_LATCH: u64 = DoorbellKind::Latch.raw() as u64;
/// Doorbell kind that rings a doorbell of another node.
const RING_PEER: u64 = DoorbellKind::Peer.raw() as u64;

/// Capabilities that came with minor version 2.
const SINCE_2: u32 = capability::COUNT_FIRST
    | capability::LINK_EVENT
    | capability::LOCAL_DMA
    | capability::PAGE_LEVELS
    | capability::LEVEL;
const _: () = assert!(EVENTS as u64 <= SEEN_VECTORS);

/// Capabilities that came with minor version 3.
const SINCE_3: u32 = capability::RDMA;

/// Capabilities that came with minor version 4.
const SINCE_4: u32 = capability::REMOTE_KEYS;

/// Capabilities that came with minor version 5.
const SINCE_5: u32 = capability::FABRIC;

/// Capabilities that came with minor version 6.
const SINCE_6: u32 = capability::TARGET;

/// Capabilities that came with minor version 7.
const SINCE_7: u32 = capability::BESIDE;

/// Capabilities that came with minor version 8.
const SINCE_8: u32 = capability::PAIR_COUNTERS;

/// Capabilities that came with minor version 9.
const SINCE_9: u32 = capability::INTERRUPTS;

/// Whether registers of a minor version can show a capability.
const fn shows(minor: u16, capability: u32) -> bool {
    (minor >= 2 || capability & SINCE_2 == 0)
        && (minor >= 3 || capability & SINCE_3 == 0)
        && (minor >= 4 || capability & SINCE_4 == 0)
        && (minor >= 5 || capability & SINCE_5 == 0)
        && (minor >= 6 || capability & SINCE_6 == 0)
        && (minor >= 7 || capability & SINCE_7 == 0)
        && (minor >= 8 || capability & SINCE_8 == 0)
        && (minor >= 9 || capability & SINCE_9 == 0)
}

fn low(value: u64) -> u32 {
    value as u32
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

/// State of a queue context.
struct Queue {
    state: QueueState,
    error: Status,
    /// Addresses of rings, lines and area while the queue is enabled.
    holds: [u64; 5],
}

/// An enabled region.
struct Region {
    key: RegionKey,
    memory: Arc<SharedMemory>,
    /// It is everything that the device can reach on the bus.
    local_dma: bool,
}

/// The mutable state of a register file.
struct State {
    attached: bool,
    /// The registers that the host writes, indexed by offset / 4. They take effect when latched.
    words: Box<[u32]>,
    acknowledged: u32,
    status: Status,
    resets: u32,
    queues: Vec<Queue>,
    regions: Vec<Option<Region>>,
    /// Entries of the target that the host has set.
    entries: Vec<Option<TargetEntry>>,
    events: Vec<EventVector>,
    /// Doorbells that were refused and the last reason, by port.
    refused: Vec<(u32, Status)>,
    /// The last refusal that should be told.
    refusal: Option<String>,
}

/// The registers and doorbells of one endpoint.
pub struct RegisterFile {
    network: Arc<Network>,
    at: Attachment,
    layout: Layout,
    bus: Arc<dyn Bus>,
    stride: Stride,
    /// The network's number for each event vector.
    vectors: Vec<u32>,
    start_ns: u64,
    gone: AtomicBool,
    /// There is a refusal to tell.
    refuses: AtomicBool,
    /// Observers of the ports' links.
    watches: Vec<Arc<PortWatch>>,
    /// Observers of the doorbells of the nodes at fabric ports.
    bells: Vec<Arc<PortWatch>>,
    /// The target of the endpoint.
    target: Option<TargetPlace>,
    /// The minor version of the contract that the registers present.
    minor: u16,
    state: Mutex<State>,
}

impl RegisterFile {
    /// Creates the registers of an endpoint and attaches to its network. The bus provides the memory
    /// of regions.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such endpoint, NO_RESOURCES if there are too many clients.
    pub fn new(
        network: Arc<Network>,
        endpoint: u32,
        bus: Arc<dyn Bus>,
        stride: Stride,
    ) -> Result<Self, Error> {
        Self::with_minor(network, endpoint, bus, stride, CONTRACT_VERSION_MINOR)
    }

    /// Creates registers that present an older minor version of the contract: they lack the
    /// capabilities and registers that came later.
    ///
    /// # Errors
    /// Those of [`RegisterFile::new`].
    pub fn with_minor(
        network: Arc<Network>,
        endpoint: u32,
        bus: Arc<dyn Bus>,
        stride: Stride,
        minor: u16,
    ) -> Result<Self, Error> {
        let late = !shows(minor, capability::COUNT_FIRST);
        let events = (0..EVENTS).map(|_| EventVector::new(late)).collect::<Result<Vec<_>, _>>()?;
        let descriptors = events.iter().map(|vector| vector.descriptor().try_clone_to_owned());
        let descriptors = descriptors.collect::<std::io::Result<Vec<OwnedFd>>>()?;
        let at = network.attach_stopped(endpoint, "registers", None)?;
        let vectors = descriptors
            .into_iter()
            .map(|descriptor| network.add_event_for_good(at, crate::Event::own(descriptor)))
            .collect::<Result<Vec<_>, _>>()?;
        let ports = &network.topology().endpoints[endpoint as usize];
        let target = network.target_of(endpoint);
        let layout = Layout::new(ports, stride, minor, target.is_some());
        let watches = (0..ports.len()).map(|_| Arc::<PortWatch>::default()).collect::<Vec<_>>();
        for (port, watch) in (0..).zip(&watches) {
            let watcher: Weak<PortWatch> = Arc::downgrade(watch);
            network.watch_port(endpoint, port, watcher);
        }
        let bells = (0..ports.len()).map(|_| Arc::<PortWatch>::default()).collect::<Vec<_>>();
        for (port, watch) in (0..).zip(&bells) {
            let watcher: Weak<PortWatch> = Arc::downgrade(watch);
            network.watch_bells(endpoint, port, watcher);
        }
        let idle = || Queue { state: QueueState::Disabled, error: Status::Ok, holds: [0; 5] };
        let state = State {
            attached: true,
            words: vec![0; layout.doorbells as usize / 4].into(),
            acknowledged: 0,
            status: Status::Ok,
            resets: 0,
            queues: layout.contexts.iter().map(|_| idle()).collect(),
            regions: (0..layout.regions).map(|_| None).collect(),
            entries: (0..target.iter().len() * TARGET_ENTRIES).map(|_| None).collect(),
            events,
            refused: vec![(0, Status::Ok); ports.len()],
            refusal: None,
        };
        let (gone, state) = (AtomicBool::new(false), Mutex::new(state));
        let start_ns = os::now_ns();
        Ok(Self {
            network,
            at,
            layout,
            bus,
            stride,
            vectors,
            start_ns,
            gone,
            refuses: AtomicBool::new(false),
            watches,
            bells,
            target,
            minor,
            state,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ports(&self) -> &[PortConfig] {
        &self.network.topology().endpoints[self.at.endpoint as usize]
    }

    fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire)
    }

    /// Size of the register space in bytes, a power of two. All pages from DOORBELL_OFFSET to the end
    /// are doorbell pages.
    pub fn size(&self) -> u32 {
        self.layout.size
    }

    /// Reads a register by its byte offset.
    pub fn read32(&self, offset: u32) -> u32 {
        if self.is_gone() {
            return GONE;
        }
        match self.layout.find(offset) {
            Some(Place::Header(block, word)) => block.header(word),
            Some(Place::Register(register)) => {
                let mut state = self.lock();
                if register.is_configuration() {
                    state.words.get(offset as usize / 4).copied().unwrap_or(0)
                } else {
                    self.status(&mut state, register)
                }
            }
            Some(Place::Doorbell(..)) | None => 0,
        }
    }

    /// Writes a register by its byte offset. A new CFG_SEQ executes the command before this returns.
    /// A write to the low word of a doorbell page rings it.
    pub fn write32(&self, offset: u32, value: u32) {
        if self.is_gone() {
            return;
        }
        match self.layout.find(offset) {
            Some(Place::Register(register)) if register.is_configuration() => {
                let mut state = self.lock();
                if let Some(word) = state.words.get_mut(offset as usize / 4) {
                    *word = value;
                }
                if offset == global::CFG_SEQ {
                    self.latch(&mut state);
                }
            }
            Some(Place::Doorbell(page, 0)) => self.doorbell(page, u64::from(value)),
            Some(Place::Doorbell(0, at)) if self.can(capability::LEVEL) => {
                let vector = at.checked_sub(SEEN_OFFSET as u32).map(|inside| inside / 4);
                let mut state = self.lock();
                if let Some(vector) = vector.and_then(|at| state.events.get_mut(at as usize)) {
                    vector.see(value);
                }
            }
            _ => {}
        }
    }

    /// Writes 8 bytes: a doorbell, or two registers, the low one first.
    pub fn write64(&self, offset: u32, value: u64) {
        if let Some(Place::Doorbell(page, 0)) = self.layout.find(offset) {
            self.doorbell(page, value);
        } else {
            self.write32(offset, low(value));
            self.write32(offset.saturating_add(4), high(value));
        }
    }

    /// Handles a 64-bit store to a doorbell page (contract `doorbell`). It is a hint; the work is in
    /// the rings.
    pub fn doorbell(&self, page: u32, value: u64) {
        if self.is_gone() || page >= self.layout.pages() {
            return;
        }
        match (value & doorbell::KIND_MASK) >> doorbell::KIND_SHIFT {
            RING_LATCH => self.latch(&mut self.lock()),
            RING_PEER if page == 0 && self.can(capability::FABRIC) => self.ring_peer(value),
            _ => self.network.ring(),
        }
    }

    /// A descriptor that becomes readable when an event vector is signalled, for the code that raises
    /// interrupts. Call [`RegisterFile::take_event`] then. `None` past the last vector.
    pub fn event_descriptor(&self, vector: u32) -> Option<OwnedFd> {
        let state = self.lock();
        state.events.get(vector as usize)?.descriptor().try_clone_to_owned().ok()
    }

    /// Takes the signals of an event vector. True if it was signalled and the host has enabled it, so
    /// that an interrupt is due.
    pub fn take_event(&self, vector: u32) -> bool {
        let mut state = self.lock();
        state.events.get_mut(vector as usize).is_some_and(EventVector::take)
    }

    /// Whether the interrupt line of any event vector is high (capability LEVEL).
    pub fn line(&self) -> bool {
        let mut state = self.lock();
        self.can(capability::LEVEL) && state.events.iter_mut().any(EventVector::line)
    }

    /// Whether the registers present a capability that came after the first version.
    fn can(&self, capability: u32) -> bool {
        shows(self.minor, capability)
    }

    /// Performs a reset of the bus: the command RESET, and all registers of the host become 0.
    ///
    /// # Errors
    /// BUSY if a flow cannot be stopped.
    pub fn reset(&self) -> Result<(), Status> {
        let mut state = self.lock();
        self.carry_out_reset(&mut state)?;
        state.words.fill(0);
        state.acknowledged = 0;
        state.status = Status::Ok;
        state.events.iter_mut().for_each(|vector| vector.enable(false));
        self.watches.iter().chain(&self.bells).for_each(|watch| watch.set_event(None));
        (0..self.ports().len() as u32).for_each(|port| self.network.stop_node(self.at, port));
        Ok(())
    }

    /// Removes the device: reads return all ones from now on, writes are ignored, and the network
    /// destroys the host's queues and regions.
    ///
    /// # Errors
    /// BUSY if a flow cannot be stopped.
    pub fn detach(&self) -> Result<(), Error> {
        // Wait for a running command.
        let mut state = self.lock();
        self.gone.store(true, Ordering::Release);
        // Detach only once: the network reuses the client's id.
        if state.attached {
            self.forget_target(&mut state);
            self.network.detach(self.at, false)?;
            state.attached = false;
        }
        Ok(())
    }
}

impl Drop for RegisterFile {
    fn drop(&mut self) {
        // An error cannot be reported here.
        let _ = self.detach();
    }
}
