//! The register face of an endpoint: what a driver sees of it over a bus.
//!
//! A [`RegisterFile`] lays the blocks of the contract out as a linked list, keeps what the host
//! writes, and carries commands out on the network when CFG_SEQ changes. It is one client of the
//! network; its queues are worked by whoever drives the network's flows, as a rule a
//! [`DeviceThread`](crate::DeviceThread).
//!
//! | module | what it holds |
//! | --- | --- |
//! | `layout` | blocks, offsets, queue contexts |
//! | `status` | registers the device writes |
//! | `command` | the configuration latch |
//! | `event` | event vectors |
//! | [`bus`] | where the memory of regions comes from |
//! | [`guest`] | memory of a host on the far side of a bus |
//!
//! Reading changes nothing a host can see. Offsets that are no register, and those that are not a
//! multiple of 4, read 0 and take no writes.

pub mod bus;
mod command;
mod event;
pub mod guest;
mod layout;
mod status;

use crate::network::Network;
pub use bus::{Bus, Segments, Stride};
use event::EventVector;
use layout::{Layout, Place};
use rustix::fd::OwnedFd;
use spfe_contract::{DoorbellKind, QueueState, Status, doorbell, global_block as global};
use spfe_device::memory::{REGIONS, RegionKey};
use spfe_host::os::{self, SharedMemory};
use spfe_host::topology::PortConfig;
use spfe_host::{Attachment, ControlError as Error};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Event vectors of a register face.
pub const EVENTS: u32 = 64;
/// Protection domains of a register face: what [`Placement`](crate::Placement) has room for.
const DOMAINS: u32 = 1 << u8::BITS;
/// What every register of a device that is gone reads.
const GONE: u32 = u32::MAX;
/// Doorbell kind: look at the configuration latch.
const RING_LATCH: u64 = DoorbellKind::Latch.raw() as u64;

fn low(value: u64) -> u32 {
    value as u32
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

/// What the face knows of a queue context.
struct Queue {
    state: QueueState,
    error: Status,
    /// Addresses of rings, lines and area, in use while the queue is enabled.
    holds: [u64; 5],
}

/// What the face knows of an enabled region.
struct Region {
    key: RegionKey,
    memory: Arc<SharedMemory>,
}

/// Everything that changes.
struct State {
    attached: bool,
    /// The registers the host writes, at a quarter of their offset; inert until latched.
    words: Box<[u32]>,
    acknowledged: u32,
    status: Status,
    resets: u32,
    queues: Vec<Queue>,
    regions: Vec<Option<Region>>,
    events: Vec<EventVector>,
}

/// The registers and doorbells of one endpoint.
pub struct RegisterFile {
    network: Arc<Network>,
    at: Attachment,
    layout: Layout,
    bus: Arc<dyn Bus>,
    stride: Stride,
    /// The network's number of each event vector.
    vectors: Vec<u32>,
    start_ns: u64,
    gone: AtomicBool,
    state: Mutex<State>,
}

impl RegisterFile {
    /// The register face of an endpoint, attached to its network as a client. Regions are memory
    /// of the bus.
    pub fn new(
        network: Arc<Network>,
        endpoint: u32,
        bus: Arc<dyn Bus>,
        stride: Stride,
    ) -> Result<Self, Error> {
        let events = (0..EVENTS).map(|_| EventVector::new()).collect::<Result<Vec<_>, _>>()?;
        let descriptors = events.iter().map(|vector| vector.descriptor().try_clone_to_owned());
        let descriptors = descriptors.collect::<std::io::Result<Vec<OwnedFd>>>()?;
        let at = network.attach(endpoint, "registers")?;
        let vectors = descriptors
            .into_iter()
            .map(|descriptor| network.add_event_for_good(at, crate::Event::own(descriptor)))
            .collect::<Result<Vec<_>, _>>()?;
        let layout = Layout::new(&network.topology().endpoints[endpoint as usize], stride);
        let idle = || Queue { state: QueueState::Disabled, error: Status::Ok, holds: [0; 5] };
        let state = State {
            attached: true,
            words: vec![0; layout.doorbells as usize / 4].into(),
            acknowledged: 0,
            status: Status::Ok,
            resets: 0,
            queues: layout.contexts.iter().map(|_| idle()).collect(),
            regions: (0..REGIONS).map(|_| None).collect(),
            events,
        };
        let (gone, state) = (AtomicBool::new(false), Mutex::new(state));
        let start_ns = os::now_ns();
        Ok(Self { network, at, layout, bus, stride, vectors, start_ns, gone, state })
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

    /// Bytes of the register space, doorbell pages included: a power of two, and all pages from
    /// DOORBELL_OFFSET to here are doorbell pages.
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

    /// Writes a register by its byte offset. A new CFG_SEQ carries the command out before this
    /// returns; the low word of a doorbell page rings it.
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
            _ => {}
        }
    }

    /// Writes 8 bytes at once: a doorbell, or two registers, the low one first.
    pub fn write64(&self, offset: u32, value: u64) {
        if let Some(Place::Doorbell(page, 0)) = self.layout.find(offset) {
            self.doorbell(page, value);
        } else {
            self.write32(offset, low(value));
            self.write32(offset.saturating_add(4), high(value));
        }
    }

    /// A 64-bit store to a doorbell page (contract `doorbell`). A hint: what there is to do is in
    /// the rings.
    pub fn doorbell(&self, page: u32, value: u64) {
        if self.is_gone() || page >= self.layout.pages() {
            return;
        }
        match (value & doorbell::KIND_MASK) >> doorbell::KIND_SHIFT {
            RING_LATCH => self.latch(&mut self.lock()),
            _ => self.network.ring(),
        }
    }

    /// A descriptor that becomes readable when an event vector is signalled, for whoever turns
    /// vectors into interrupts; then [`RegisterFile::take_event`]. `None` past the last vector.
    pub fn event_descriptor(&self, vector: u32) -> Option<OwnedFd> {
        let state = self.lock();
        state.events.get(vector as usize)?.descriptor().try_clone_to_owned().ok()
    }

    /// Takes what an event vector was signalled; whether the host is to be interrupted (it was
    /// signalled, and the host has enabled it).
    pub fn take_event(&self, vector: u32) -> bool {
        let mut state = self.lock();
        state.events.get_mut(vector as usize).is_some_and(EventVector::take)
    }

    /// What a reset of the bus does: the RESET command, and every register the host writes is 0
    /// again.
    pub fn reset(&self) -> Result<(), Status> {
        let mut state = self.lock();
        self.carry_out_reset(&mut state)?;
        state.words.fill(0);
        state.acknowledged = 0;
        state.status = Status::Ok;
        state.events.iter_mut().for_each(|vector| vector.enabled = false);
        Ok(())
    }

    /// The device is gone: every read is all ones from now on, writes do nothing, and the network
    /// takes back what the host had.
    pub fn detach(&self) -> Result<(), Error> {
        // A command in hand is finished first.
        let mut state = self.lock();
        self.gone.store(true, Ordering::Release);
        // Once only: the network gives the client's number to others.
        if state.attached {
            self.network.detach(self.at, false)?;
            state.attached = false;
        }
        Ok(())
    }
}

impl Drop for RegisterFile {
    fn drop(&mut self) {
        // A flow that cannot be stopped has nobody left to be told.
        let _ = self.detach();
    }
}
