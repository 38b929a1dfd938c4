//! Remote keys of a queue pair: which registered memory others may use.

use super::keys::KeysInUse;
use crate::memory::{RegionKey, RegionMap};
use spfe_contract::{REMOTE_KEYS_MAX, Status, access, key_options as ko};
use spfe_rdma::{Local, RdmaTarget, RegionRights, RemoteKey, TargetRegion};

/// What BIND asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyWindow {
    /// The key.
    pub key: RemoteKey,
    /// Address of the first byte, as others see it.
    pub address: u64,
    /// The memory.
    pub local: Local,
    /// key_options.
    pub options: u32,
    /// Logical addresses that may use it, one in each byte that is not 0; 0: all.
    pub initiators: u64,
}

/// The accesses that a region must allow for these key_options.
pub fn needs(options: u32) -> u32 {
    let flag = |option, access| if options & option != 0 { access } else { 0 };
    flag(ko::READ | ko::ATOMIC, access::REMOTE_READ)
        | flag(ko::WRITE | ko::ATOMIC, access::REMOTE_WRITE)
}

impl KeyWindow {
    /// Whether the fields fit together. Region and bounds were checked before.
    fn is_good(&self) -> bool {
        let aligned = (self.address | self.local.offset).is_multiple_of(8);
        self.options & ko::MBZ_MASK == 0
            && self.key.index() < REMOTE_KEYS_MAX as usize
            && (self.options & ko::ATOMIC == 0 || aligned)
    }

    /// Makes the key valid at a target. Returns OK, BAD_FIELD, or BUSY for an index in use.
    pub fn bind(&self, target: &mut RdmaTarget, keys: &mut KeysInUse) -> Status {
        let taken = |(key, _): (RemoteKey, _)| key.index() == self.key.index();
        if !self.is_good() {
            return Status::BadField;
        }
        if target.regions().iter().any(taken) {
            return Status::Busy;
        }
        let has = |option| self.options & option != 0;
        let listed = self.initiators.to_le_bytes().into_iter().filter(|byte| *byte != 0);
        let region = TargetRegion {
            base: self.address,
            rights: RegionRights {
                read: has(ko::READ),
                write: has(ko::WRITE),
                atomic: has(ko::ATOMIC),
            },
            initiators: (self.initiators != 0).then(|| listed.collect()),
            notify: has(ko::NOTIFY),
            hidden: has(ko::HIDDEN),
            ..TargetRegion::of_program("", self.local)
        };
        if !target.regions_mut().add_at(self.key, region) {
            return Status::BadField;
        }
        keys.add(RegionKey(self.local.memory as u16));
        Status::Ok
    }
}

/// Takes a key back. Nothing touches its memory afterwards; a read that is being answered ends with
/// REVOKED. Returns OK or NOT_FOUND.
pub fn unbind(key: RemoteKey, target: &mut RdmaTarget, keys: &mut KeysInUse) -> Status {
    let window = target.regions().get(key).and_then(|region| region.window);
    match window {
        Some(local) if target.regions_mut().revoke(key) => {
            keys.remove(RegionKey(local.memory as u16));
            Status::Ok
        }
        _ => Status::NotFound,
    }
}

/// Takes all keys back.
pub fn unbind_all(target: &mut RdmaTarget, keys: &mut KeysInUse) {
    let all: Vec<_> = target.regions().iter().map(|(key, _)| key).collect();
    for key in all {
        unbind(key, target, keys);
    }
}

/// Checks that registered memory is there and allows what the options say.
pub fn check(
    map: &RegionMap,
    domain: u16,
    local: Local,
    options: u32,
) -> Result<(), crate::memory::AccessRefusal> {
    let fault = crate::memory::AccessRefusal::Fault(Status::BadField);
    let address = super::memory::address(local).ok_or(fault)?;
    map.translate(address, local.length.into(), domain, needs(options)).map(drop)
}
