//! Regions: registering, finding and revoking memory of clients.

use super::seats::{Attempt, claim};
use super::{Attachment, Error, Inner, Network, Placement, Result};
use spfe_contract::Status;
use spfe_device::memory::{Address, BusWindow, REGIONS, RegionKey, RegionTag};
use spfe_device::shared::QueueConfig;
use spfe_host::SharedMemory;
use spfe_ring::sync::Ordering;
use std::sync::{Arc, PoisonError, Weak};

/// What a region is to consist of.
#[derive(Clone)]
pub struct RegionMemory {
    /// Its memory; a page that counts for it if it has a window.
    pub memory: Arc<SharedMemory>,
    /// Bytes at the start of the memory that belong to it; 0 with a window.
    pub bytes: u64,
    /// The bus addresses that it has instead of memory.
    pub window: Option<Arc<dyn BusWindow>>,
}

impl From<Arc<SharedMemory>> for RegionMemory {
    fn from(memory: Arc<SharedMemory>) -> Self {
        Self { bytes: memory.size() as u64, memory, window: None }
    }
}

impl Network {
    /// The memory of a region, for a participant that maps it.
    pub fn region_memory(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        self.shares().memories.get(&(endpoint, key)).map(|region| region.memory.clone())
    }

    /// Registers memory of a client. The memory stays mapped until the region is removed.
    ///
    /// # Errors
    /// NO_RESOURCES if all region indices are taken.
    pub fn add_region(
        &self,
        at: Attachment,
        memory: Arc<SharedMemory>,
        access: u32,
    ) -> Result<RegionKey> {
        self.add_region_at(at, memory.into(), access, Placement::default())
    }

    /// Registers memory of a client, with the domain and index of `place`.
    ///
    /// # Errors
    /// BUSY if the requested index is taken, NO_RESOURCES if all are.
    pub fn add_region_at(
        &self,
        at: Attachment,
        what: RegionMemory,
        access: u32,
        place: Placement,
    ) -> Result<RegionKey> {
        let memory = what.memory.clone();
        let bytes = what.bytes.min(memory.size() as u64);
        let mut inner = self.lock();
        self.limit_region(&inner, at, memory.size() as u64)?;
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
        let last = region.key;
        // Skip key 0, which a KEY register shows for a disabled region.
        region.key = Some(last.next()).filter(|key| key.0 != 0).unwrap_or(last.next().next());
        let round = region.key.generation() < last.generation();
        region.serial = region.serial.wrapping_add(u16::from(round));
        region.client = at.client;
        region.stopped = 0;
        region.memory = Some(memory.clone());
        self.shares().memories.insert((at.endpoint, region.key), what);
        let (key, serial) = (region.key, region.serial);
        let shared = &self.arena.regions(at.endpoint)[key.index()];
        shared.size.store(bytes, Ordering::Relaxed);
        let domain = place.domain_of(at.client);
        let tag = RegionTag::new(key, domain, access).with_serial(serial);
        shared.tag.store(tag.0, Ordering::Release);
        if let Some(client) = inner.clients.get_mut(&at.client) {
            client.bytes += memory.size() as u64;
        }
        drop(inner);
        self.view.map_region(at.endpoint, key);
        Ok(key)
    }

    /// Revokes a region. Afterwards no participant accesses it.
    ///
    /// # Errors
    /// BAD_REGION if the client has not registered it, BUSY if it has the rings of an open queue or a
    /// flow cannot be stopped.
    pub fn remove_region(&self, at: Attachment, key: RegionKey) -> Result<()> {
        self.patiently(|inner| {
            let region = &inner.regions[at.endpoint as usize];
            let known = region.get(key.index()).is_some_and(|region| {
                region.key == key && region.client == at.client && region.memory.is_some()
            });
            if !known {
                let what = format!("region key {:#06x} is not registered by this client", key.0);
                return Err(Error::new(Status::BadRegion, what).into());
            }
            if let Some((port, vc)) = self.holds_rings(at, key) {
                let what = format!(
                    "region {:#06x} holds the rings of port {port} VC {vc}: close them first",
                    key.0
                );
                return Err(Error::new(Status::Busy, what).into());
            }
            self.revoke(inner, at.endpoint, &[key])
        })
    }

    /// Revokes regions of an endpoint. Leaves their memory in `inner.revoked`, because unmapping takes
    /// long.
    pub(super) fn revoke(
        &self,
        inner: &mut Inner,
        endpoint: u32,
        keys: &[RegionKey],
    ) -> Attempt<()> {
        for key in keys {
            self.arena.regions(endpoint)[key.index()].tag.store(0, Ordering::Release);
        }
        self.stop_all(inner, endpoint, keys)?;
        // The device thread may have passed by a flow that was claimed, on its way to sleep.
        self.ring();
        // Every runner reads the table again before its next step, so none uses the memory now.
        let views = self.views.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for key in keys {
            let region = &mut inner.regions[endpoint as usize][key.index()];
            let Some(memory) = region.memory.take() else { continue };
            if let Some(client) = inner.clients.get_mut(&region.client) {
                client.bytes -= memory.size() as u64;
            }
            self.shares().memories.remove(&(endpoint, *key));
            let mapped = views.iter().filter_map(Weak::upgrade);
            inner.revoked.extend(mapped.filter_map(|view| view.release(endpoint, *key)));
            inner.revoked.extend(self.view.release(endpoint, *key));
            inner.revoked.push(memory);
        }
        Ok(())
    }

    /// Claims every flow of an endpoint that has a queue there once, so that every earlier step has
    /// ended, and makes every runner read regions and configuration again. After an interruption it
    /// goes on behind the flows that it has stopped for all of these regions.
    fn stop_all(&self, inner: &mut Inner, endpoint: u32, keys: &[RegionKey]) -> Attempt<()> {
        let all = &mut inner.regions[endpoint as usize];
        let Some(first) = keys.iter().map(|key| all[key.index()].stopped).min() else {
            return Ok(());
        };
        let flows = self.flows(endpoint);
        let ports = self.topology().endpoints[endpoint as usize].len();
        for step in first..flows.len() + ports {
            match flows.get(step) {
                // A flow without a queue here does not use regions of this endpoint.
                Some(&(port, vc, out)) if !self.uses_regions(endpoint, port, vc, out) => {}
                Some(&(port, vc, out)) => {
                    let runner = self.control(inner, endpoint, port, vc, out);
                    claim(runner)?;
                    runner.shared().bump_epoch();
                    runner.shared().seat.release();
                }
                None => {
                    // The sending port writes receive queues under its own lock, so take both.
                    let port = (step - flows.len()) as u32;
                    let _both = self.message_locks(endpoint, port)?;
                    self.arena.messages(endpoint, port).touch();
                }
            }
            let all = &mut inner.regions[endpoint as usize];
            keys.iter().for_each(|key| all[key.index()].stopped = step + 1);
        }
        Ok(())
    }

    /// Whether a flow has a queue at this endpoint. A queue pair uses both directions.
    fn uses_regions(&self, endpoint: u32, port: u32, vc: u32, out: bool) -> bool {
        let pair = self.arena.pair(endpoint, port, vc);
        self.config(endpoint, port, vc, out).kind != 0 || pair.is_some_and(|pair| pair.is_open())
    }

    fn holds_rings(&self, at: Attachment, key: RegionKey) -> Option<(u32, u32)> {
        let holds = |config: QueueConfig| {
            let used = [config.sq, config.cq, config.stamp, config.lines, config.area];
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
}
