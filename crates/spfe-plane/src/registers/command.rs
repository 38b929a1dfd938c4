//! The configuration latch: executes commands with the configuration that the host wrote.

use super::bus::RegionRequest;
use super::layout::{Context, ContextUse, NO_VC};
use super::{EVENTS, Region, RegisterFile, State};
use crate::event::Event;
use crate::network::{Placement, RegionMemory};
use spfe_contract::{
    BlockType, Command, MibItem, QueueKind, QueueSetup, QueueState, Status, VC_MAX, access,
    broadcast_block as broadcast, capability, event_block as event, fabric_block,
    global_block as global, message_filter, port_block, queue_options, region_block as region,
    region_options,
};
use spfe_device::memory::{Address, RegionKey};
use spfe_host::{ControlError as Error, QueueRequest, SharedMemory};
use std::sync::Arc;

/// Number of virtual channels in a register VC_PRIORITY, 4 bits each.
const VCS_PER_REGISTER: u32 = 8;
/// Bits of register ACCESS that have a meaning.
const ACCESS: u32 =
    access::LOCAL_WRITE | access::LOCAL_READ | access::REMOTE_WRITE | access::REMOTE_READ;

type Done = Result<(), Status>;

fn status(error: Error) -> Status {
    error.status()
}

impl RegisterFile {
    /// Executes the command if CFG_SEQ has changed.
    pub(super) fn latch(&self, state: &mut State) {
        let sequence = self.configured(state, BlockType::Global, 0, global::CFG_SEQ);
        if sequence == 0 || sequence == state.acknowledged {
            return;
        }
        self.latch_events(state);
        let command = self.configured(state, BlockType::Global, 0, global::CFG_COMMAND);
        let index = self.configured(state, BlockType::Global, 0, global::CFG_INDEX);
        let done = self.carry_out(state, command, index);
        state.status = done.err().unwrap_or(Status::Ok);
        state.acknowledged = sequence;
    }

    /// Latches register ENABLE of all event vectors; every command does this.
    fn latch_events(&self, state: &mut State) {
        for vector in 0..EVENTS {
            let enable = self.configured(state, BlockType::Event, vector, event::ENABLE);
            state.events[vector as usize].enable(enable & 1 != 0);
        }
    }

    fn carry_out(&self, state: &mut State, command: u32, index: u32) -> Done {
        let command = u8::try_from(command).ok().and_then(Command::from_raw);
        let command = command.ok_or(Status::BadOpcode)?;
        match command {
            Command::Nop => Ok(()),
            Command::QueueEnable => self.enable_queue(state, index),
            Command::QueueDisable => self.disable_queue(state, index),
            Command::RegionEnable => self.enable_region(state, index),
            Command::RegionDisable => self.disable_region(state, index),
            Command::PortConfigure => self.configure_port(state, index),
            Command::Reset => self.carry_out_reset(state),
            Command::MibSet => self.set_mib_item(state, index),
            Command::TargetSet | Command::TargetClear | Command::TargetTake => {
                self.command_target(state, command, index)
            }
        }
    }

    /// Value of a configuration register.
    pub(super) fn configured(
        &self,
        state: &State,
        kind: BlockType,
        element: u32,
        offset: u32,
    ) -> u32 {
        let at = self.layout.offset(kind, element, offset);
        at.and_then(|at| state.words.get(at as usize / 4)).copied().unwrap_or(0)
    }

    fn context(&self, index: u32) -> Result<Context, Status> {
        self.layout.contexts.get(index as usize).copied().ok_or(Status::NotFound)
    }

    fn enable_queue(&self, state: &mut State, index: u32) -> Done {
        let context = self.context(index)?;
        if state.queues[index as usize].state == QueueState::Enabled {
            return Err(Status::Busy);
        }
        let (request, domain) = self.queue_request(state, context, index)?;
        let slot = if let ContextUse::Message(slot) = context.end { Some(slot) } else { None };
        let place = Placement { domain, index: slot };
        let is_packed = request.queue_kind() == Some(QueueKind::RxPacked);
        let area = if is_packed { request.area } else { 0 };
        let holds = [request.sq, request.cq, request.stamp, request.lines, area];
        if holds.iter().any(|address| state.is_local_dma(*address)) {
            return Err(Status::BadRegion);
        }
        self.network.create_queue_at(self.at, request, place).map_err(status)?;
        let queue = &mut state.queues[index as usize];
        queue.state = QueueState::Enabled;
        queue.error = Status::Ok;
        queue.holds = holds;
        Ok(())
    }

    /// The queue request in the configuration of a context, and its protection domain.
    fn queue_request(
        &self,
        state: &State,
        context: Context,
        index: u32,
    ) -> Result<(QueueRequest, u8), Status> {
        let read = |offset| self.configured(state, BlockType::Queue, index, offset);
        let mut setup = QueueSetup::from_registers(read);
        let pairs = self.can(capability::RDMA);
        let vector = self.vectors.get(setup.vector as usize).copied();
        let vc = context.vc();
        let mut request =
            QueueRequest { port: context.port, vc: if vc == NO_VC { 0 } else { vc }, setup };
        let known = request.queue_kind().is_some_and(|kind| context.can_be(kind, pairs));
        setup.vector = vector.filter(|_| known).ok_or(Status::BadField)?;
        if !self.can(capability::REMOTE_KEYS) {
            setup.options &= !queue_options::REMOTE_KEYS;
        }
        if !self.can(capability::BESIDE) {
            setup.options &= !queue_options::BESIDE;
        }
        if setup.filter & message_filter::INTERRUPTS != 0 && !self.can(capability::INTERRUPTS) {
            return Err(Status::BadField);
        }
        request.setup = setup;
        let domain = u8::try_from(setup.domain).map_err(|_| Status::BadField)?;
        Ok((request, domain))
    }

    fn disable_queue(&self, state: &mut State, index: u32) -> Done {
        let context = self.context(index)?;
        let queue = &mut state.queues[index as usize];
        match queue.state {
            QueueState::Disabled => return Err(Status::NotFound),
            QueueState::Enabled => self.destroy_queue(context)?,
            // The network has already destroyed it.
            QueueState::Error => {}
        }
        queue.stop(QueueState::Disabled, Status::Ok);
        Ok(())
    }

    fn destroy_queue(&self, context: Context) -> Done {
        let (network, at, port) = (&self.network, self.at, context.port);
        let done = match context.end {
            ContextUse::Message(slot) => network.destroy_message_at(at, port, context.tx, slot),
            ContextUse::Data(vc) => {
                let kind = if context.tx { QueueKind::Tx } else { QueueKind::Rx };
                network.destroy_queue(at, port, vc, kind.raw())
            }
        };
        done.map_err(status)
    }

    fn enable_region(&self, state: &mut State, index: u32) -> Done {
        let slot = state.regions.get(index as usize).ok_or(Status::NotFound)?;
        if slot.is_some() {
            return Err(Status::Busy);
        }
        let word = |offset| self.configured(state, BlockType::Region, index, offset);
        let pair = |low, high| u64::from(word(low)) | u64::from(word(high)) << 32;
        let access = word(region::ACCESS) & ACCESS;
        let request = RegionRequest {
            base: pair(region::BASE_LO, region::BASE_HI),
            bytes: pair(region::SIZE_LO, region::SIZE_HI),
            page_list: word(region::PAGE_LIST),
            levels: word(region::PAGE_LEVELS),
            access,
        };
        let domain = u8::try_from(word(region::DOMAIN)).map_err(|_| Status::BadField)?;
        let local_dma = match word(region::OPTIONS) {
            0 => false,
            region_options::LOCAL_DMA if self.can(capability::LOCAL_DMA) => true,
            _ => return Err(Status::BadField),
        };
        let what = if local_dma {
            self.local_dma(&request, domain)?
        } else {
            let memory = self.bus.memory(&request)?;
            RegionMemory { memory, bytes: request.bytes, window: None }
        };
        let memory = what.memory.clone();
        let place = Placement { domain, index: Some(index as usize) };
        let key = self.network.add_region_at(self.at, what, access, place).map_err(status)?;
        state.regions[index as usize] = Some(Region { key, memory, local_dma });
        Ok(())
    }

    /// The region of all bus addresses.
    fn local_dma(&self, request: &RegionRequest, domain: u8) -> Result<RegionMemory, Status> {
        let RegionRequest { base, bytes, page_list, levels, access } = *request;
        let remote = access & (access::REMOTE_READ | access::REMOTE_WRITE);
        if (base, bytes, page_list, levels, remote) != (0, 0, 0, 0, 0) {
            return Err(Status::BadField);
        }
        let (memory, window) = self.bus.everything()?;
        if domain != 0 {
            return Err(Status::AccessDenied);
        }
        Ok(RegionMemory { memory, bytes: 0, window: Some(window) })
    }

    fn disable_region(&self, state: &mut State, index: u32) -> Done {
        let slot = state.regions.get(index as usize).ok_or(Status::NotFound)?;
        let key = slot.as_ref().ok_or(Status::BadRegion)?.key;
        // The network checks queues of packets itself, but not those of messages.
        if state.queues.iter().any(|queue| queue.is_in(key)) {
            return Err(Status::Busy);
        }
        self.network.remove_region(self.at, key).map_err(status)?;
        state.regions[index as usize] = None;
        Ok(())
    }

    fn configure_port(&self, state: &State, index: u32) -> Done {
        let port = *self.ports().get(index as usize).ok_or(Status::NotFound)?;
        let word = |offset| self.configured(state, BlockType::Port, index, offset);
        // Links of a virtual network are always up if they are connected.
        if word(port_block::LINK_START) > 1 {
            return Err(Status::BadField);
        }
        let channel = self.configured(state, BlockType::Broadcast, index, broadcast::CHANNEL);
        if !port.space_wire && channel > u32::from(u8::MAX) {
            return Err(Status::BadField);
        }
        let event = self.event_of(word(port_block::LINK_VECTOR))?;
        let bell = self.configured(state, BlockType::Fabric, index, fabric_block::BELL_VECTOR);
        let bell = self.event_of(bell)?;
        for vc in 0..port.vcs.min(VC_MAX as u32) {
            let register = port_block::VC_PRIORITY_0 + 4 * (vc / VCS_PER_REGISTER);
            let priority = word(register) >> (vc % VCS_PER_REGISTER * 4) & 0xf;
            self.network.set_priority(self.at, index, vc, priority as u8).map_err(status)?;
        }
        self.watches[index as usize].set_event(event);
        self.bells[index as usize].set_event(bell);
        if word(port_block::LINK_START) == 1 {
            self.network.start_node(self.at, index);
        } else {
            self.network.stop_node(self.at, index);
        }
        Ok(())
    }

    /// The event of a register that holds the number of a vector plus 1; 0 for none.
    pub(super) fn event_of(&self, register: u32) -> Result<Option<Arc<Event>>, Status> {
        let Some(vector) = register.checked_sub(1) else { return Ok(None) };
        let number = self.vectors.get(vector as usize).ok_or(Status::BadField)?;
        Ok(self.network.event(self.at.client, *number))
    }

    fn set_mib_item(&self, state: &State, port: u32) -> Done {
        let word = |offset| self.configured(state, BlockType::Global, 0, offset);
        let item = u8::try_from(word(global::MIB_ITEM)).ok().and_then(MibItem::from_raw);
        let item = item.filter(|item| self.has_item(*item));
        let (item, element) = (item.ok_or(Status::NotFound)?, word(global::MIB_ELEMENT));
        let (low, high) = (word(global::MIB_VALUE_LO), word(global::MIB_VALUE_HI));
        let value = u64::from(low) | u64::from(high) << 32;
        self.network.set_mib_item(self.at, port, item, element, value).map_err(status)
    }

    pub(super) fn carry_out_reset(&self, state: &mut State) -> Done {
        self.forget_target(state);
        self.network.reset(self.at).map_err(status)?;
        for queue in &mut state.queues {
            if queue.state != QueueState::Disabled {
                queue.stop(QueueState::Disabled, Status::DeviceReset);
            }
        }
        state.regions.fill_with(|| None);
        state.resets = state.resets.wrapping_add(1);
        Ok(())
    }

    /// Disables regions whose memory the bus has unmapped, and stops queues in them with BAD_REGION.
    /// Returns the number of queues and of regions.
    pub fn withdraw(&self, lost: &[Arc<SharedMemory>]) -> (usize, usize) {
        let state = &mut *self.lock();
        let (mut queues, mut regions) = (0, self.withdraw_entries(state, lost));
        for slot in &mut state.regions {
            let is_lost =
                |region: &Region| lost.iter().any(|lost| Arc::ptr_eq(lost, &region.memory));
            let Some(key) = slot.as_ref().filter(|region| is_lost(region)).map(|region| region.key)
            else {
                continue;
            };
            for (context, queue) in self.layout.contexts.iter().zip(&mut state.queues) {
                // A queue that cannot be stopped works on empty memory until the next reset.
                if queue.is_in(key) && self.destroy_queue(*context).is_ok() {
                    queue.stop(QueueState::Error, Status::BadRegion);
                    queues += 1;
                }
            }
            if self.network.remove_region(self.at, key).is_ok() {
                *slot = None;
                regions += 1;
            }
        }
        (queues, regions)
    }
}

impl State {
    /// Whether an address is in a region of all bus addresses.
    fn is_local_dma(&self, address: u64) -> bool {
        let key = Address(address).key();
        let region = self.regions.get(key.index()).and_then(Option::as_ref);
        region.is_some_and(|region| region.key == key && region.local_dma)
    }
}

impl super::Queue {
    fn stop(&mut self, state: QueueState, error: Status) {
        *self = Self { state, error, holds: [0; 5] };
    }

    /// Whether the queue's rings, lines or area lie in a region.
    fn is_in(&self, key: RegionKey) -> bool {
        let used = self.holds.iter().filter(|address| **address != 0);
        let mut used = used.map(|address| Address(*address).key());
        self.state == QueueState::Enabled && used.any(|used| used == key)
    }
}
