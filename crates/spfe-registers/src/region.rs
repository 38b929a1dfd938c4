//! Regions: memory of this process that the device may access.

use crate::backend::{Registers, Slot, State};
use spfe_contract::{Command, Status, region_block as region};
use spfe_host::backend::create_memory;
use spfe_host::{Error, RegionKey, Result, SharedMemory};
use std::sync::Arc;

impl Registers {
    pub(crate) fn add_region(
        &self,
        name: &str,
        size: usize,
        access: u32,
    ) -> Result<(Arc<SharedMemory>, RegionKey)> {
        let memory = create_memory(name, size)?;
        let base = self.space.map(&memory)?;
        let mut state = self.lock();
        match self.enable_region(&mut state, &memory, base, access) {
            Ok(key) => Ok((memory, key)),
            Err(error) => {
                self.space.unmap(base);
                Err(error)
            }
        }
    }

    fn enable_region(
        &self,
        state: &mut State,
        memory: &Arc<SharedMemory>,
        base: u64,
        access: u32,
    ) -> Result<RegionKey> {
        let bytes = memory.size() as u64;
        let Some(index) = state.regions.iter().position(Option::is_none) else {
            let count = state.regions.len();
            let what = format!("{}: all {count} regions of the device are in use", self.uri);
            return Err(Error::device(Status::NoResources, what));
        };
        let at = self.map.region_at + index as u32 * region::STRIDE;
        self.write_pair(at + region::BASE_LO, base);
        self.write_pair(at + region::SIZE_LO, bytes);
        self.write(at + region::ACCESS, access);
        for zero in [region::DOMAIN, region::PAGE_LIST, region::PAGE_LEVELS, region::OPTIONS] {
            self.write(at + zero, 0);
        }
        let what = format_args!("region of {bytes} bytes");
        self.command(state, Command::RegionEnable, index as u32, what)?;
        let key = self.read(at + region::KEY);
        let key = u16::try_from(key).ok().map(RegionKey);
        let Some(key) = key.filter(|key| key.0 != 0 && key.index() == index) else {
            let what = format!("{}: region {index} has an impossible key", self.uri);
            let what = Error::device(Status::BadField, what);
            // The device may use the memory until it acknowledges.
            let name = format_args!("region {index}");
            self.command_patiently(state, Command::RegionDisable, index as u32, name)?;
            return Err(what);
        };
        state.regions[index] = Some(Slot { key, base, memory: memory.clone() });
        Ok(key)
    }

    pub(crate) fn revoke(&self, key: RegionKey) -> Result<()> {
        let mut state = self.lock();
        let index = key.index();
        let slot = state.regions.get(index).and_then(Option::as_ref);
        if slot.is_none_or(|slot| slot.key != key) {
            return Err(self.not_found(format_args!("no region {:#06x}", key.0)));
        }
        let what = format_args!("region {:#06x}", key.0);
        self.command_patiently(&mut state, Command::RegionDisable, index as u32, what)?;
        if let Some(slot) = state.regions[index].take() {
            self.space.unmap(slot.base);
        }
        Ok(())
    }
}
