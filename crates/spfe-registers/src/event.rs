//! Event vectors. An event belongs to one queue. Events share a vector where the device has fewer
//! vectors than queues; their sleepers then wake up more often than they must.

use crate::Interrupts;
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_host::{Error, Result, os};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Entry {
    vector: u32,
    descriptor: Option<OwnedFd>,
}

/// The events of a device.
pub struct EventTable {
    vectors: u32,
    /// One count for each possible event. It rises with every interrupt.
    counts: Vec<AtomicU32>,
    entries: Mutex<Vec<Option<Entry>>>,
    gone: AtomicBool,
}

impl EventTable {
    pub fn new(vectors: u32, most: u32) -> Self {
        let counts = (0..most).map(|_| AtomicU32::new(0)).collect();
        let entries = Mutex::new((0..most).map(|_| None).collect());
        Self { vectors, counts, entries, gone: AtomicBool::new(false) }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Option<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event on the vector that has the fewest.
    pub fn add(&self, descriptor: Option<OwnedFd>) -> Result<u32> {
        let mut entries = self.entries();
        let free = entries.iter().position(Option::is_none).ok_or_else(|| {
            let what = format!("event: all {} are in use", self.counts.len());
            Error::device(Status::NoResources, what)
        })?;
        let mut users = vec![0u32; self.vectors as usize];
        for entry in entries.iter().flatten() {
            users[entry.vector as usize] += 1;
        }
        let vector = (0..self.vectors).min_by_key(|vector| users[*vector as usize]).unwrap_or(0);
        entries[free] = Some(Entry { vector, descriptor });
        Ok(free as u32)
    }

    /// Removes an event and wakes its sleepers. Returns its vector if no other event uses it.
    pub fn remove(&self, event: u32) -> Option<u32> {
        let mut entries = self.entries();
        let entry = entries.get_mut(event as usize)?.take()?;
        self.bump(event);
        let shared = entries.iter().flatten().any(|other| other.vector == entry.vector);
        (!shared).then_some(entry.vector)
    }

    /// Vector of an event.
    pub fn vector(&self, event: u32) -> Option<u32> {
        self.entries().get(event as usize)?.as_ref().map(|entry| entry.vector)
    }

    pub fn count(&self, event: u32) -> u32 {
        self.counts.get(event as usize).map_or(0, |count| count.load(Ordering::Acquire))
    }

    pub fn sleep(&self, event: u32, seen: u32, until_ns: Option<u64>) {
        if let Some(count) = self.counts.get(event as usize)
            && !self.is_gone()
        {
            os::futex_wait(count, seen, until_ns);
        }
    }

    /// Wakes the sleepers of an event.
    pub fn bump(&self, event: u32) {
        if let Some(count) = self.counts.get(event as usize) {
            count.fetch_add(1, Ordering::AcqRel);
            os::futex_wake(count, u32::MAX);
        }
    }

    /// Wakes the sleepers of an event and signals its descriptor.
    pub fn raise_event(&self, event: u32) {
        if let Some(Some(entry)) = self.entries().get(event as usize) {
            self.signal(event as usize, entry);
        }
    }

    pub fn is_gone(&self) -> bool {
        self.gone.load(std::sync::atomic::Ordering::Acquire)
    }

    fn signal(&self, event: usize, entry: &Entry) {
        // First the descriptor: a sleeper that wakes up makes it unreadable again.
        if let Some(descriptor) = &entry.descriptor {
            // It fails only if the counter is full, and then it is readable anyway.
            let _ = rustix::io::write(descriptor, &1u64.to_ne_bytes());
        }
        self.bump(event as u32);
    }
}

impl Interrupts for EventTable {
    fn raise(&self, vector: u32) {
        for (event, entry) in self.entries().iter().enumerate() {
            if let Some(entry) = entry.as_ref().filter(|entry| entry.vector == vector) {
                self.signal(event, entry);
            }
        }
    }

    fn gone(&self) {
        self.gone.store(true, std::sync::atomic::Ordering::Release);
        for (event, entry) in self.entries().iter().enumerate() {
            if let Some(entry) = entry {
                self.signal(event, entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_spread_over_the_vectors_and_share_them_when_they_must() {
        let events = EventTable::new(2, 3);
        let all: Vec<u32> = (0..3).map(|_| events.add(None).unwrap()).collect();
        let vectors: Vec<_> = all.iter().map(|event| events.vector(*event).unwrap()).collect();
        assert_eq!((all, vectors), (vec![0, 1, 2], vec![0, 1, 0]));
        assert_eq!(events.add(None).unwrap_err().status(), Some(Status::NoResources));
        events.raise(0);
        events.raise(7);
        assert_eq!([events.count(0), events.count(1), events.count(2)], [1, 0, 1]);
        assert_eq!(events.remove(0), None, "event 2 uses the vector");
        assert_eq!(events.remove(2), Some(0));
        assert_eq!(events.remove(2), None);
        assert_eq!(events.vector(2), None);
    }

    #[test]
    fn nobody_sleeps_on_a_device_that_is_gone() {
        let events = EventTable::new(1, 1);
        let event = events.add(None).unwrap();
        let seen = events.count(event);
        events.gone();
        events.sleep(event, seen, None);
        events.sleep(event, events.count(event), None);
        assert!(events.is_gone());
    }
}
