//! The engine of a client gets regions and event descriptors of its peers from the daemon.

use super::{Link, lock};
use spfe_host::{RegionKey, SharedMemory};
use spfe_plane::Event;
use spfe_plane::view::Fetch;
use spfe_session::{Reply, Request};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

type EventKey = (u32, u32);

/// Maximum number of event descriptors kept. Most of them belong to queues that are closed.
const KNOWN_MAX: usize = 256;

#[derive(Default)]
struct Lists {
    /// Descriptors by participant and vector. Numbers are never reused, so an old entry is never
    /// wrong.
    known: HashMap<EventKey, Arc<Event>>,
    wanted: Vec<EventKey>,
}

/// Event descriptors of other participants that the engine has asked for.
#[derive(Default)]
pub struct Events(Mutex<Lists>);

impl Link {
    /// Gets the event descriptors that the engine has asked for, and signals each once.
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
            // The daemon passes these on in modes auto, inline and coop only, whose clients trust
            // each other.
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

    /// The engine calls this while it holds a flow's seat. The daemon may be waiting for that seat,
    /// so this must not wait for the daemon: the watcher asks it and then signals the event.
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
