//! [`Registers`]: the backend.

use crate::discover::{Map, PRIORITY_WORDS};
use crate::event::EventTable;
use crate::{Interrupts, RegisterSpace};
use rustix::fd::OwnedFd;
use spfe_contract::{
    Command, DoorbellKind, MibItem, Status, capability, global_block as global, port_block,
};
use spfe_host::{
    Backend, Clock, DeviceInfo, Error, LinkCommand, MibEntry, Mode, PortInfo, QueueRequest,
    RegionKey, Result, SharedMemory, os,
};
use spfe_ring::AtomicDeviceLine;
use spfe_ring::sync::{AtomicU64, Ordering};
use std::collections::HashMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// EventTable beyond one for each queue context: a queue gets its event before it gets its context.
const SPARE_EVENTS: u32 = 16;

/// An open queue.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Number of the queue context.
    pub context: u32,
    pub event: u32,
    pub request: QueueRequest,
}

/// A region of the table.
pub(crate) struct Slot {
    pub key: RegionKey,
    pub base: u64,
    /// The device may access it until the region is disabled, so it must stay.
    pub memory: Arc<SharedMemory>,
}

/// What changes with commands.
#[derive(Default)]
pub(crate) struct State {
    /// Last CFG_SEQ.
    pub sequence: u32,
    /// Open queues, by {port, VC or the library's number, kind}.
    pub queues: HashMap<(u32, u32, u8), Place>,
    pub regions: Vec<Option<Slot>>,
    /// VC_PRIORITY of each port.
    pub priorities: Vec<[u32; PRIORITY_WORDS]>,
}

/// A device that this process drives through its registers.
pub struct Registers {
    pub(crate) space: Arc<dyn RegisterSpace>,
    pub(crate) uri: String,
    kind: &'static str,
    pub(crate) map: Map,
    pub(crate) events: Arc<EventTable>,
    pub(crate) offset_ns: AtomicI64,
    pub(crate) offset_at: AtomicU64,
    clock: Clock,
    /// Contexts of the open queues, which are rung.
    pub(crate) open: Mutex<Vec<u32>>,
    state: Mutex<State>,
}

impl Registers {
    /// Finds the parts of a device, resets it, and starts its links. `kind` is the name of the
    /// backend for people.
    ///
    /// # Errors
    /// NOT_FOUND or DEVICE_GONE if there is no device, BAD_VERSION for another major version of the
    /// contract, BAD_FIELD for registers that make no sense, and the status of a failed command.
    pub fn open(space: Arc<dyn RegisterSpace>, uri: &str, kind: &'static str) -> Result<Self> {
        let map = Map::read(&*space)?;
        os::join_bus();
        let events = Arc::new(EventTable::new(map.events, map.queues + SPARE_EVENTS));
        let sink: Weak<EventTable> = Arc::downgrade(&events);
        space.connect(sink);
        let mut state = State::default();
        state.regions.resize_with(map.regions as usize, || None);
        let registers = Self {
            space,
            uri: uri.to_owned(),
            kind,
            events,
            offset_ns: AtomicI64::new(0),
            offset_at: AtomicU64::new(0),
            clock: Clock::Real,
            open: Mutex::default(),
            state: Mutex::default(),
            map,
        };
        registers.start(&mut state)?;
        *registers.lock() = state;
        Ok(registers)
    }

    fn start(&self, state: &mut State) -> Result<()> {
        // Sequence numbers continue where an earlier driver left off.
        state.sequence = self.read(global::CFG_ACK);
        self.command_patiently(state, Command::Reset, 0, format_args!("reset"))?;
        for (number, port) in (0..).zip(&self.map.ports) {
            let words = std::array::from_fn(|word| {
                self.read(port.at + port_block::VC_PRIORITY_0 + 4 * word as u32)
            });
            state.priorities.push(words);
            self.configure_port(state, number)?;
        }
        self.read_device_clock();
        Ok(())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held for a moment only: posting takes this lock.
    pub(crate) fn open_contexts(&self) -> MutexGuard<'_, Vec<u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn mark_gone(&self) {
        if !self.events.is_gone() {
            self.events.gone();
        }
    }

    pub(crate) fn not_found(&self, what: impl std::fmt::Display) -> Error {
        Error::device(Status::NotFound, format!("{}: {what}", self.uri))
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        let mut state = self.lock();
        // If it fails the device is gone, and accesses nothing.
        let _ = self.command_patiently(&mut state, Command::Reset, 0, format_args!("reset"));
        for slot in state.regions.iter_mut().filter_map(Option::take) {
            self.space.unmap(slot.base);
        }
    }
}

impl Backend for Registers {
    fn info(&self) -> DeviceInfo {
        let version = self.map.version;
        DeviceInfo {
            uri: self.uri.clone(),
            backend: self.kind,
            endpoint: 0,
            client: 0,
            ports: self.map.ports.len() as u32,
            mode: Mode::Thread,
            contract: ((version >> 16) as u16, version as u16),
        }
    }

    fn chain_max(&self) -> u32 {
        self.map.chain_max
    }

    fn has_pairs(&self) -> bool {
        self.map.can(capability::RDMA)
    }

    fn has_beside(&self) -> bool {
        // Without RESET this side would have to complete what is pending, and writes no wide ones.
        self.map.can(capability::BESIDE) && self.map.can(capability::RESET)
    }

    fn port_info(&self, number: u32) -> Result<PortInfo> {
        self.port_info_of(number)
    }

    fn add_memory(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)> {
        self.add_region(name, size, access)
    }

    fn remove_region(&self, key: RegionKey) -> Result<()> {
        self.revoke(key)
    }

    fn heavy_barrier(&self) {
        // `membarrier` reaches threads of this machine only, not a device behind a bus.
        spfe_ring::sync::full_fence();
    }

    fn interrupts(&self) -> bool {
        true
    }

    fn add_event(&self, event: Option<OwnedFd>) -> Result<u32> {
        self.add_event_of(event)
    }

    fn seen(&self, vector: u32, _: &AtomicDeviceLine) -> u32 {
        self.events.count(vector)
    }

    fn sleep(&self, vector: u32, _: &AtomicDeviceLine, seen: u32, until_ns: Option<u64>) {
        self.events.sleep(vector, seen, until_ns);
    }

    fn wake(&self, vector: u32, _: &AtomicDeviceLine) {
        self.events.bump(vector);
    }

    fn offset_ns(&self) -> i64 {
        let age = os::now_ns().wrapping_sub(self.offset_at.load(Ordering::Relaxed));
        if age > self.space.clock_age_ns() {
            return self.read_device_clock();
        }
        self.offset_ns.load(Ordering::Relaxed)
    }

    fn create_queue(&self, request: &QueueRequest) -> Result<()> {
        self.enable_queue(request)
    }

    fn destroy_queue(&self, port: u32, vc: u32, kind: u8) -> Result<()> {
        self.disable_queue(port, vc, kind)
    }

    fn set_priority(&self, port: u32, vc: u32, priority: u8) -> Result<()> {
        self.set_priority_of(port, vc, priority)
    }

    fn port_mib(&self, port: u32) -> Result<Vec<MibEntry>> {
        self.mib_of(port)
    }

    fn mib_item(&self, port: u32, item: MibItem, index: u32) -> Result<u64> {
        self.mib_item_of(port, item, index)
    }

    fn link_command(&self, port: u32, command: LinkCommand) -> Result<()> {
        self.command_link(port, command)
    }

    fn reset(&self) -> Result<()> {
        self.reset_all()
    }

    fn settle(&self) {
        drop(self.lock());
    }

    fn ring(&self) {
        // Callers do not say which queue they mean, and a device may look at the named queue only.
        for context in self.open_contexts().iter() {
            self.ring_kind(DoorbellKind::Submit, *context);
        }
    }

    fn clock(&self) -> &Clock {
        &self.clock
    }

    fn is_gone(&self) -> bool {
        self.events.is_gone()
    }
}
