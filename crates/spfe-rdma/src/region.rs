//! Regions of remote memory, and the keys that give access to them.

use crate::direct::{Payload, PayloadFault, PayloadSource, carry};
use crate::local::{Local, LocalMemory};
use crate::memory::SparseMemory;
use spfe_proto::sfrp::{RegionEntry, RegionFlags, SfrpStatus};
use std::fmt;

/// Maximum number of regions of a target: their list fits one packet of 4096 bytes.
pub const REGIONS_MAX: usize = 128;
const GENERATION_BITS: u32 = 12;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;

/// A remote key: 20 bits of index and 12 bits of generation, which are never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteKey(pub u32);

impl RemoteKey {
    /// A key; `None` for generation 0 or fields that are too large.
    pub fn new(index: u32, generation: u32) -> Option<Self> {
        let fits = index < 1 << 20 && (1..=GENERATION_MASK).contains(&generation);
        fits.then_some(Self(index << GENERATION_BITS | generation))
    }

    /// A key with a random generation; `None` for an index that is too large.
    pub fn random(index: u32) -> Option<Self> {
        Self::new(index, fastrand::u32(1..=GENERATION_MASK))
    }

    /// Index of the region.
    pub fn index(self) -> usize {
        (self.0 >> GENERATION_BITS) as usize
    }
}

impl fmt::Display for RemoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

/// What initiators may do with a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRights {
    /// READ.
    pub read: bool,
    /// WRITE.
    pub write: bool,
    /// FETCH_ADD and CMP_SWAP.
    pub atomic: bool,
}

impl RegionRights {
    /// Everything.
    pub const ALL: Self = Self { read: true, write: true, atomic: true };

    /// Whether all of `other` is allowed.
    fn allow(self, other: Self) -> bool {
        (self.read || !other.read) && (self.write || !other.write) && (self.atomic || !other.atomic)
    }
}

/// A region of a target.
#[derive(Debug)]
pub struct TargetRegion {
    /// Name, for people.
    pub name: String,
    /// Address of the first byte.
    pub base: u64,
    /// Rights.
    pub rights: RegionRights,
    /// Logical addresses of the initiators that may use it; `None`: all.
    pub initiators: Option<Vec<u8>>,
    /// Operations raise a notification.
    pub notify: bool,
    /// The list of regions does not tell the key.
    pub hidden: bool,
    /// The memory.
    pub memory: SparseMemory,
    /// Memory of the target's program, instead of `memory`.
    pub window: Option<Local>,
}

impl TargetRegion {
    /// A region of zeros that everybody may use, at address 0.
    pub fn new(name: impl Into<String>, bytes: u64) -> Self {
        Self {
            name: name.into(),
            base: 0,
            rights: RegionRights::ALL,
            initiators: None,
            notify: false,
            hidden: false,
            memory: SparseMemory::new(bytes),
            window: None,
        }
    }

    /// A region of the program's memory, like [`TargetRegion::new`].
    pub fn of_program(name: impl Into<String>, window: Local) -> Self {
        Self { window: Some(window), ..Self::new(name, 0) }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.window.map_or(self.memory.bytes(), |window| window.length.into())
    }

    /// The piece of the program's memory at an offset that was checked.
    fn piece(&self, offset: u64, bytes: usize) -> Option<Local> {
        let window = self.window?;
        Some(Local { offset: window.offset + offset, length: bytes as u32, ..window })
    }

    /// Copies bytes out that [`RegionTable::check`] has found inside the region.
    pub(crate) fn read(
        &self,
        program: &dyn LocalMemory,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), SfrpStatus> {
        let read = match self.piece(offset, out.len()) {
            Some(piece) => program.read(piece, out).is_ok(),
            None => self.memory.read(offset, out).is_ok(),
        };
        read.then_some(()).ok_or(SfrpStatus::MEMORY)
    }

    /// Copies bytes in, like [`TargetRegion::read`].
    pub(crate) fn write(
        &mut self,
        program: &mut dyn LocalMemory,
        offset: u64,
        data: &[u8],
    ) -> Result<(), SfrpStatus> {
        let written = match self.piece(offset, data.len()) {
            // There may be nothing at the end of the program's memory.
            Some(_) if data.is_empty() => true,
            Some(piece) => program.write(piece, data).is_ok(),
            None => self.memory.write(offset, data).is_ok(),
        };
        written.then_some(()).ok_or(SfrpStatus::MEMORY)
    }

    /// Copies a payload in, like [`TargetRegion::read`].
    pub(crate) fn write_payload(
        &mut self,
        program: &mut dyn LocalMemory,
        offset: u64,
        length: u32,
        payload: Payload<'_>,
    ) -> Result<(), SfrpStatus> {
        if let Payload::Bytes(data) = payload {
            return self.write(program, offset, data);
        }
        if length == 0 {
            return Ok(());
        }
        if let Some(piece) = self.piece(offset, length as usize) {
            return Ok(payload.copy_into(0, program, piece)?);
        }
        let filled = self
            .memory
            .fill(offset, length as usize, |at, place| payload.part(at as u32).copy_to(place));
        Ok(filled?)
    }

    /// Whether bytes that [`RegionTable::check`] has found inside the region can be read now.
    pub(crate) fn can_read(&self, program: &dyn LocalMemory, offset: u64, length: u32) -> bool {
        length == 0
            || self.piece(offset, length as usize).is_none_or(|piece| program.can_read(piece))
    }

    /// Changes a number of 8 bytes, and returns the old one.
    pub(crate) fn update(
        &mut self,
        program: &mut dyn LocalMemory,
        offset: u64,
        mut change: impl FnMut(u64) -> u64,
    ) -> Result<u64, SfrpStatus> {
        if let Some(piece) = self.piece(offset, 8) {
            return program.update(piece, &mut change).map_err(|_| SfrpStatus::MEMORY);
        }
        let mut bytes = [0; 8];
        self.memory.read(offset, &mut bytes).map_err(|_| SfrpStatus::MEMORY)?;
        let old = u64::from_le_bytes(bytes);
        let new = change(old).to_le_bytes();
        self.memory.write(offset, &new).map_err(|_| SfrpStatus::MEMORY)?;
        Ok(old)
    }

    /// Whether an initiator has these rights.
    #[inline]
    pub(crate) fn allows(&self, needed: RegionRights, initiator: u8) -> bool {
        let listed = self.initiators.as_ref().is_none_or(|list| list.contains(&initiator));
        self.rights.allow(needed) && listed
    }

    /// Offset of an address if an access of `length` bytes at it lies inside the region.
    pub fn offset_of(&self, address: u64, length: u64) -> Option<u64> {
        let offset = address.checked_sub(self.base)?;
        let bytes = self.bytes();
        (length <= bytes && offset <= bytes - length).then_some(offset)
    }

    fn entry(&self, index: usize, key: RemoteKey) -> RegionEntry {
        let mut flags = RegionFlags::default();
        for (on, flag) in [
            (self.rights.read, RegionFlags::READ),
            (self.rights.write, RegionFlags::WRITE),
            (self.rights.atomic, RegionFlags::ATOMIC),
            (self.base == 0, RegionFlags::ZERO_BASED),
            (self.notify, RegionFlags::NOTIFY),
        ] {
            flags = if on { flags | flag } else { flags };
        }
        let key = if self.hidden { 0 } else { key.0 };
        let (index, bytes) = (index as u16, self.bytes());
        RegionEntry { index, flags, key, base: self.base, bytes }
    }
}

/// A region as the place of a payload.
pub(crate) struct RegionSource<'a> {
    pub region: &'a TargetRegion,
    pub program: &'a dyn LocalMemory,
}

impl PayloadSource for RegionSource<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), PayloadFault> {
        Ok(self.region.read(self.program, offset, out)?)
    }

    fn copy_into(
        &self,
        offset: u64,
        to: &mut dyn LocalMemory,
        place: Local,
    ) -> Result<(), PayloadFault> {
        let length = place.length as usize;
        if let Some(piece) = self.region.piece(offset, length) {
            return carry(self.program, piece, to, place);
        }
        self.region.memory.show(offset, length, |at, bytes| {
            let (offset, length) = (place.offset + at as u64, bytes.len() as u32);
            Ok(to.write(Local { offset, length, ..place }, bytes)?)
        })
    }
}

struct Slot {
    region: TargetRegion,
    key: RemoteKey,
    /// The region goes when nothing uses it any more.
    revoked: bool,
    /// Reads that are being answered.
    users: u32,
}

/// The regions of a target by index.
#[derive(Default)]
pub struct RegionTable {
    slots: Vec<Option<Slot>>,
}

/// Why a region cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// All indices are in use.
    #[error("region '{name}': the target has {REGIONS_MAX} regions already")]
    TooMany {
        /// Its name.
        name: String,
    },
    /// The generation of the key is not allowed.
    #[error("region '{name}': generation {generation:#x} of its key, 0x1 to 0xfff allowed")]
    Generation {
        /// Its name.
        name: String,
        /// The generation.
        generation: u32,
    },
    /// The addresses wrap.
    #[error("region '{name}': {bytes} bytes at {base:#x} end beyond 2^64")]
    Wraps {
        /// Its name.
        name: String,
        /// Its first address.
        base: u64,
        /// Its size.
        bytes: u64,
    },
}

impl RegionTable {
    /// Adds a region. Without a generation its key gets a random one.
    ///
    /// # Errors
    /// See [`RegionError`].
    pub fn add(
        &mut self,
        region: TargetRegion,
        generation: Option<u32>,
    ) -> Result<RemoteKey, RegionError> {
        let (name, base, bytes) = (region.name.clone(), region.base, region.bytes());
        if bytes > 0 && base.checked_add(bytes - 1).is_none() {
            return Err(RegionError::Wraps { name, base, bytes });
        }
        let free = self.slots.iter().position(Option::is_none);
        let index = free.unwrap_or(self.slots.len());
        if index >= REGIONS_MAX {
            return Err(RegionError::TooMany { name });
        }
        let generation = generation.unwrap_or_else(|| fastrand::u32(1..=GENERATION_MASK));
        let key = RemoteKey::new(index as u32, generation)
            .ok_or(RegionError::Generation { name, generation })?;
        let slot = Slot { region, key, revoked: false, users: 0 };
        match self.slots.get_mut(index) {
            Some(place) => *place = Some(slot),
            None => self.slots.push(Some(slot)),
        }
        Ok(key)
    }

    /// Adds a region under a key that the caller has chosen. False if its index is in use or too large,
    /// its generation is 0, or the addresses wrap.
    pub fn add_at(&mut self, key: RemoteKey, region: TargetRegion) -> bool {
        let (index, bytes) = (key.index(), region.bytes());
        let good = RemoteKey::new(index as u32, key.0 & GENERATION_MASK).is_some()
            && (bytes == 0 || region.base.checked_add(bytes - 1).is_some());
        if !good || index >= REGIONS_MAX || self.slots.get(index).is_some_and(Option::is_some) {
            return false;
        }
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(Slot { region, key, revoked: false, users: 0 });
        true
    }

    /// Takes a key back. False if it is not valid. The region goes when no read uses it.
    pub fn revoke(&mut self, key: RemoteKey) -> bool {
        let Some(place) = self.slots.get_mut(key.index()) else { return false };
        match place {
            Some(slot) if slot.key == key && !slot.revoked => slot.revoked = true,
            _ => return false,
        }
        if place.as_ref().is_some_and(|slot| slot.users == 0) {
            *place = None;
        }
        true
    }

    /// The region of a key, valid or being removed.
    pub fn get(&self, key: RemoteKey) -> Option<&TargetRegion> {
        self.slot(key).map(|slot| &slot.region)
    }

    /// The region of a key, to change its memory.
    pub fn get_mut(&mut self, key: RemoteKey) -> Option<&mut TargetRegion> {
        self.slots
            .get_mut(key.index())?
            .as_mut()
            .filter(|slot| slot.key == key)
            .map(|slot| &mut slot.region)
    }

    /// The regions with their keys, in order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = (RemoteKey, &TargetRegion)> {
        self.slots.iter().flatten().map(|slot| (slot.key, &slot.region))
    }

    /// Number of regions.
    pub fn count(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// The list of regions as initiators see it.
    pub fn entries(&self) -> Vec<u8> {
        let listed = self.iter().filter(|(key, _)| !self.is_revoked(*key));
        listed.flat_map(|(key, region)| region.entry(key.index(), key).encode()).collect()
    }

    /// The region of a key that was not taken back.
    #[inline]
    pub(crate) fn get_mut_valid(&mut self, key: RemoteKey) -> Option<&mut TargetRegion> {
        let slot = self.slots.get_mut(key.index())?.as_mut();
        slot.filter(|slot| slot.key == key && !slot.revoked).map(|slot| &mut slot.region)
    }

    /// Checks an access: key, bounds, rights, initiator. Returns the region and the offset in it.
    pub(crate) fn check(
        &mut self,
        key: RemoteKey,
        address: u64,
        length: u64,
        needed: RegionRights,
        initiator: u8,
    ) -> Result<(&mut TargetRegion, u64), SfrpStatus> {
        let slot = self.slots.get_mut(key.index()).and_then(Option::as_mut);
        let slot = slot.filter(|slot| slot.key == key).ok_or(SfrpStatus::BAD_KEY)?;
        if slot.revoked {
            return Err(SfrpStatus::REVOKED);
        }
        let region = &mut slot.region;
        let offset = region.offset_of(address, length).ok_or(SfrpStatus::BOUNDS)?;
        if !region.allows(needed, initiator) {
            return Err(SfrpStatus::ACCESS);
        }
        Ok((region, offset))
    }

    /// Keeps a region while a read of it is being answered.
    pub(crate) fn hold(&mut self, key: RemoteKey) {
        if let Some(slot) = self.slots.get_mut(key.index()).and_then(Option::as_mut) {
            slot.users += 1;
        }
    }

    /// Ends a [`RegionTable::hold`].
    pub(crate) fn release(&mut self, key: RemoteKey) {
        let Some(place) = self.slots.get_mut(key.index()) else { return };
        let Some(slot) = place.as_mut().filter(|slot| slot.key == key) else { return };
        slot.users -= 1;
        if slot.revoked && slot.users == 0 {
            *place = None;
        }
    }

    pub(crate) fn is_revoked(&self, key: RemoteKey) -> bool {
        self.slot(key).is_none_or(|slot| slot.revoked)
    }

    fn slot(&self, key: RemoteKey) -> Option<&Slot> {
        self.slots.get(key.index())?.as_ref().filter(|slot| slot.key == key)
    }
}
