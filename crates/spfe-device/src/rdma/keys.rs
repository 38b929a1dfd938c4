//! The regions that outstanding requests and posted buffers name.

use super::memory::Mapped;
use crate::memory::{RegionKey, RegionMap};

/// How often each region is named. Requests name few regions, so a list is enough.
///
/// A runner maps all of them before it moves packets: an answer can arrive in a process, or with a view
/// of the network, that has not seen the request.
#[derive(Default)]
pub struct KeysInUse {
    used: Vec<(RegionKey, u32)>,
    /// A region that was to be mapped and does not exist.
    absent: Option<RegionKey>,
}

impl KeysInUse {
    pub fn add(&mut self, key: RegionKey) {
        match self.used.iter_mut().find(|(used, _)| *used == key) {
            Some((_, count)) => *count += 1,
            None => self.used.push((key, 1)),
        }
    }

    pub fn remove(&mut self, key: RegionKey) {
        let Some(at) = self.used.iter().position(|(used, _)| *used == key) else { return };
        self.used[at].1 -= 1;
        if self.used[at].1 == 0 {
            self.used.swap_remove(at);
        }
    }

    /// Notes that a region does not exist. Accesses to it fail.
    pub fn set_absent(&mut self, key: RegionKey) {
        self.absent = Some(key);
        // What still names it fails when it touches the memory; nobody has to map it.
        self.used.retain(|(used, _)| *used != key);
    }

    /// Regions may have come and gone.
    pub fn set_changed(&mut self) {
        self.absent = None;
    }

    pub fn is_absent(&self, key: RegionKey) -> bool {
        self.absent == Some(key)
    }

    /// A region that is not mapped here.
    pub fn unmapped(&self, map: &RegionMap) -> Option<RegionKey> {
        let mapped = Mapped { map, domain: 0 };
        self.used.iter().map(|(key, _)| *key).find(|key| mapped.unmapped(*key))
    }
}
