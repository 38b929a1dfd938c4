//! The target block: entries that a driver sets, and notifications (capability TARGET).

use super::bus::RegionRequest;
use super::{RegisterFile, State, high, low};
use crate::network::{Placement, RegionMemory, TARGET_ENTRIES};
use spfe_contract::{
    BlockType, Command, Status, capability, key_options as ko, target_block as block,
    target_note_flags as flags, target_note_request as request, target_note_sender as sender,
};
use spfe_device::memory::{REGIONS, RegionKey};
use spfe_device::rdma::target::NoteBell;
use spfe_device::rdma::window::{self, KeyWindow};
use spfe_host::SharedMemory;
use spfe_rdma::{Local, Notification, RdmaTarget, RemoteKey};
use std::sync::Arc;

/// Regions for entries of the table, the last ones. The host does not see them.
pub(super) const KEPT_REGIONS: usize = TARGET_ENTRIES;
/// The bus maps whole pages.
const PAGE: u64 = 4096;

type Done = Result<(), Status>;

/// An entry that the host has set.
pub(super) struct TargetEntry {
    key: RemoteKey,
    region: RegionKey,
    memory: Arc<SharedMemory>,
}

impl RegisterFile {
    fn target_word(&self, state: &State, offset: u32) -> u32 {
        self.configured(state, BlockType::Target, 0, offset)
    }

    fn target_pair(&self, state: &State, offset: u32) -> u64 {
        let (low, high) = (self.target_word(state, offset), self.target_word(state, offset + 4));
        u64::from(low) | u64::from(high) << 32
    }

    /// Number of entries that are there from power-up on.
    fn fixed(&self) -> usize {
        let fixed = |target: &mut RdmaTarget| {
            let regions = target.regions();
            let own = regions.iter().filter(|(_, region)| region.window.is_none());
            own.map(|(key, _)| key.index() + 1).max().unwrap_or(0)
        };
        self.target.as_ref().and_then(|target| target.channel.with_target(fixed)).unwrap_or(0)
    }

    /// Value of a register of the target block that the device writes.
    pub(super) fn target(&self, offset: u32) -> u32 {
        let Some(place) = &self.target else { return 0 };
        match offset {
            block::PORT => place.port,
            block::VC => place.vc,
            block::ENTRIES => TARGET_ENTRIES as u32,
            block::FIXED => self.fixed() as u32,
            _ => place.channel.with_target(|target| of_target(target, offset)).unwrap_or(0),
        }
    }

    pub(super) fn command_target(&self, state: &mut State, command: Command, index: u32) -> Done {
        let known = self.target.as_ref().filter(|_| self.can(capability::TARGET));
        let place = known.ok_or(Status::BadOpcode)?;
        let vector = self.event_of(self.target_word(state, block::NOTE_VECTOR));
        let event = vector.as_ref().ok().cloned().flatten();
        let bell = event.map(|event| -> NoteBell { Arc::new(move || event.signal()) });
        place.channel.set_bell(bell);
        match command {
            Command::TargetSet => vector.and_then(|_| self.set_entry(state, index)),
            Command::TargetClear => self.clear_entry(state, index),
            _ => {
                let taken = place.channel.with_target(RdmaTarget::notification).flatten();
                taken.map(drop).ok_or(Status::NotFound)
            }
        }
    }

    /// The place of an entry that the host may set.
    fn entry<'a>(
        &self,
        state: &'a mut State,
        index: u32,
    ) -> Result<&'a mut Option<TargetEntry>, Status> {
        let slot = state.entries.get_mut(index as usize).ok_or(Status::NotFound)?;
        if (index as usize) < self.fixed() { Err(Status::AccessDenied) } else { Ok(slot) }
    }

    fn set_entry(&self, state: &mut State, index: u32) -> Done {
        let place = self.target.as_ref().ok_or(Status::BadOpcode)?;
        if self.entry(state, index)?.is_some() {
            return Err(Status::Busy);
        }
        let key = RemoteKey(self.target_word(state, block::KEY));
        let options = self.target_word(state, block::OPTIONS);
        let address = self.target_pair(state, block::ADDRESS_LO);
        let size = self.target_pair(state, block::SIZE_LO);
        let memory = self.target_pair(state, block::MEMORY_LO);
        let initiators = self.target_word(state, block::INITIATORS);
        let named = RemoteKey::new(index, key.0 & 0xfff) == Some(key);
        let aligned = options & ko::ATOMIC == 0 || (address | memory).is_multiple_of(8);
        let last = size.checked_sub(1).and_then(|last| address.checked_add(last));
        if !named || !aligned || options & ko::MBZ_MASK != 0 || last.is_none() {
            return Err(Status::BadField);
        }
        let length = u32::try_from(size).map_err(|_| Status::OutOfBounds)?;
        let offset = memory % PAGE;
        let access = window::needs(options);
        let (base, bytes) = (memory - offset, size + offset);
        let wish = RegionRequest { base, bytes, page_list: 0, levels: 0, access };
        let shared = self.bus.memory(&wish).map_err(|_| Status::OutOfBounds)?;
        let what = RegionMemory { memory: shared.clone(), bytes, window: None };
        let at = Placement { domain: 0, index: Some(REGIONS - KEPT_REGIONS + index as usize) };
        let added = self.network.add_region_at(self.at, what, access, at);
        let region = added.map_err(|error| error.status())?;
        let local = Local { memory: region.0.into(), offset, length };
        let window = KeyWindow { key, address, local, options, initiators: u64::from(initiators) };
        let status = place.channel.set_entry(&window, at.domain_of(self.at.client));
        let bound = self.network.rebind_target(self.at.endpoint, place);
        if status != Status::Ok || bound.is_err() {
            place.channel.clear_entry(key);
            let _ = self.network.remove_region(self.at, region);
            return Err(if status == Status::Ok { Status::Busy } else { status });
        }
        *self.entry(state, index)? = Some(TargetEntry { key, region, memory: shared });
        Ok(())
    }

    fn clear_entry(&self, state: &mut State, index: u32) -> Done {
        let slot = self.entry(state, index)?;
        let entry = slot.as_ref().ok_or(Status::NotFound)?;
        self.end_entry(entry).map_err(|_| Status::Busy)?;
        *slot = None;
        Ok(())
    }

    /// Takes an entry back. After an error it fails already, and its memory may be in use.
    fn end_entry(&self, entry: &TargetEntry) -> Result<(), spfe_host::ControlError> {
        if let Some(place) = &self.target {
            place.channel.clear_entry(entry.key);
        }
        self.network.remove_region(self.at, entry.region)
    }

    /// Before all regions of the host end: its entries fail, and nothing signals its events.
    pub(super) fn forget_target(&self, state: &mut State) {
        let Some(place) = &self.target else { return };
        place.channel.set_bell(None);
        for entry in state.entries.iter_mut().filter_map(Option::take) {
            place.channel.clear_entry(entry.key);
        }
    }

    /// Takes back entries whose memory the bus has unmapped. Returns their number.
    pub(super) fn withdraw_entries(&self, state: &mut State, lost: &[Arc<SharedMemory>]) -> usize {
        let is_lost = |entry: &TargetEntry| lost.iter().any(|it| Arc::ptr_eq(it, &entry.memory));
        let mut count = 0;
        for slot in &mut state.entries {
            if slot.as_ref().is_some_and(|entry| is_lost(entry) && self.end_entry(entry).is_ok()) {
                *slot = None;
                count += 1;
            }
        }
        count
    }
}

/// Value of a register that a target knows.
fn of_target(target: &RdmaTarget, offset: u32) -> u32 {
    let options = target.options();
    let [executed, repeated, refused, discarded] = target.counts().totals();
    let (first, waiting) = target.first_notification();
    match offset {
        block::PROTOCOL => options.protocol.into(),
        block::LOGICAL_ADDRESS => options.logical_address.into(),
        block::SEGMENT => options.segment_bytes,
        block::EXECUTED => low(executed),
        block::REPEATED => low(repeated),
        block::REFUSED => low(refused),
        block::DISCARDED => low(discarded),
        block::NOTES_LOST => low(target.counts().notifications_dropped),
        block::NOTES => waiting as u32,
        _ => first.map_or(0, |note| of_note(note, offset)),
    }
}

/// Value of a register that shows the oldest notification.
fn of_note(note: &Notification, offset: u32) -> u32 {
    match offset {
        block::NOTE_SENDER => {
            u32::from(note.initiator) << sender::INITIATOR_SHIFT
                | u32::from(note.opcode as u8) << sender::OPCODE_SHIFT
                | u32::from(note.queue) << sender::PAIR_SHIFT
        }
        block::NOTE_REQUEST => {
            u32::from(note.region.unwrap_or(0)) << request::ENTRY_SHIFT
                | u32::from(note.sequence) << request::NUMBER_SHIFT
        }
        block::NOTE_LENGTH => note.length,
        block::NOTE_ADDRESS_LO => low(note.address),
        block::NOTE_ADDRESS_HI => high(note.address),
        block::NOTE_TIME_LO => low(note.time_ns),
        block::NOTE_TIME_HI => high(note.time_ns),
        block::NOTE_IMMEDIATE => note.immediate.unwrap_or(0),
        block::NOTE_FLAGS => {
            let flag = |on, flag| if on { flag } else { 0 };
            flag(note.region.is_some(), flags::ENTRY)
                | flag(note.immediate.is_some(), flags::IMMEDIATE)
        }
        block::NOTE_DATA_0..=block::NOTE_DATA_7 => {
            let word = (offset - block::NOTE_DATA_0) as usize / 4;
            let words = note.data.as_chunks::<4>().0;
            words.get(word).map_or(0, |bytes| u32::from_le_bytes(*bytes))
        }
        _ => 0,
    }
}
