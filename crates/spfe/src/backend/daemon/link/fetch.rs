//! What the engine of a client asks the daemon for: regions and event descriptors of its peers.

use super::{Link, lock};
use spfe_host::{RegionKey, SharedMemory};
use spfe_plane::Event;
use spfe_plane::view::Fetch;
use spfe_session::{Reply, Request};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

type EventKey = (u32, u32);

/// Most descriptors of others kept: most are of queues that are gone.
const KNOWN_MAX: usize = 256;

#[derive(Default)]
struct Lists {
    /// What others' vectors are; numbers are never used again, so what is old is never wrong.
    known: HashMap<EventKey, Arc<Event>>,
    wanted: Vec<EventKey>,
}

/// Event descriptors of other participants, as far as this client has asked for them.
#[derive(Default)]
pub struct Events(Mutex<Lists>);

impl Link {
    /// Gets the event descriptors the data path has asked for, and signals them once.
    pub(super) fn fetch_events(&self) {
        let wanted = std::mem::take(&mut lock(&self.events.0).wanted);
        for (participant, vector) in wanted {
            let answer = self.call(&Request::Event { participant, vector }, &[]);
            let Ok((Reply::Event, fds)) = answer else {
                continue;
            };
            let Some(fd) = fds.into_iter().next() else {
                continue;
            };
            // One trust domain: the daemon gives these out in modes inline and coop only.
            let event = Event::own(fd);
            event.signal();
            let mut events = lock(&self.events.0);
            if events.known.len() >= KNOWN_MAX {
                events.known.clear();
            }
            events.known.insert((participant, vector), Arc::new(event));
        }
    }
}

impl Fetch for Link {
    fn region(&self, endpoint: u32, key: RegionKey) -> Option<Arc<SharedMemory>> {
        let request = Request::RegionMemory { endpoint, key: key.0 };
        let Ok((Reply::Memory { size }, fds)) = self.call(&request, &[]) else {
            return None;
        };
        let fd = fds.into_iter().next()?;
        let memory = SharedMemory::open(fd, usize::try_from(size).ok()?).ok()?;
        memory.populate(0, memory.size());
        Some(Arc::new(memory))
    }

    /// Called by the engine with a flow's seat held, which the daemon may be waiting for: it must
    /// not wait for the daemon. The watcher asks, and signals when it has the answer.
    fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        let mut events = lock(&self.events.0);
        let key = (participant, vector);
        let known = events.known.get(&key).cloned();
        if known.is_none() && !events.wanted.contains(&key) {
            events.wanted.push(key);
            self.ring();
        }
        known
    }
}
