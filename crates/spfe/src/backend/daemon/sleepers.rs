//! Queues and event descriptors to wake when the device is gone.

use rustix::fd::OwnedFd;
use spfe_host::os::{self, SharedMemory};
use spfe_ring::AtomicDeviceLine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Offset of the device line in a queue's memory, behind the host line.
const DEVICE_LINE: usize = 64;

#[derive(Default)]
struct Lists {
    queues: Vec<Arc<SharedMemory>>,
    events: Vec<(u32, OwnedFd)>,
}

/// Memory of queues, with the host line at 0 and the device line at 64, and event descriptors.
#[derive(Default)]
pub(super) struct Sleepers {
    gone: AtomicBool,
    lists: Mutex<Lists>,
}

fn wake(memory: &SharedMemory) {
    if memory.size() < DEVICE_LINE + size_of::<AtomicDeviceLine>() {
        return;
    }
    // SAFETY: inside the mapping, which is aligned to pages; atomics only.
    let line = unsafe { &*memory.base().as_ptr().add(DEVICE_LINE).cast::<AtomicDeviceLine>() };
    line.bump();
    os::futex_wake(&line.wake_seq, u32::MAX);
}

fn signal(event: &OwnedFd) {
    // A full counter already signals.
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

impl Sleepers {
    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_gone(&self) -> bool {
        // Acquire pairs with the swap in `set_gone`. A sleeper that reads false here has read
        // `wake_seq` before `set_gone` increments it, so it does not go to sleep.
        self.gone.load(Ordering::Acquire)
    }

    /// Marks the device gone and wakes every sleeper.
    pub fn set_gone(&self) {
        let lists = self.lock();
        if self.gone.swap(true, Ordering::AcqRel) {
            return;
        }
        lists.queues.iter().for_each(|memory| wake(memory));
        lists.events.iter().for_each(|(_, event)| signal(event));
    }

    pub fn watch(&self, memory: &Arc<SharedMemory>) {
        let mut lists = self.lock();
        lists.queues.push(memory.clone());
        if self.is_gone() {
            wake(memory);
        }
    }

    pub fn unwatch(&self, memory: &Arc<SharedMemory>) {
        let mut lists = self.lock();
        if let Some(index) = lists.queues.iter().position(|known| Arc::ptr_eq(known, memory)) {
            lists.queues.swap_remove(index);
        }
    }

    pub fn add_event(&self, vector: u32, event: OwnedFd) {
        let mut lists = self.lock();
        if self.is_gone() {
            signal(&event);
        }
        lists.events.push((vector, event));
    }

    pub fn remove_event(&self, vector: u32) {
        self.lock().events.retain(|(known, _)| *known != vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};

    #[test]
    fn every_sleeper_is_woken_once() {
        let memory = Arc::new(SharedMemory::create("t", 4096).unwrap());
        let late = Arc::new(SharedMemory::create("t", 4096).unwrap());
        let other = Arc::new(SharedMemory::create("t", 4096).unwrap());
        let event = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        let sleepers = Sleepers::default();
        sleepers.watch(&memory);
        sleepers.watch(&other);
        sleepers.unwatch(&other);
        let closed = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        sleepers.add_event(1, event.try_clone().unwrap());
        sleepers.add_event(2, closed.try_clone().unwrap());
        sleepers.remove_event(2);
        sleepers.set_gone();
        sleepers.set_gone();
        sleepers.watch(&late);
        let woken = |memory: &SharedMemory| {
            // SAFETY: a mapped page of atomics.
            let line =
                unsafe { &*memory.base().as_ptr().add(DEVICE_LINE).cast::<AtomicDeviceLine>() };
            line.wake_seq.load(std::sync::atomic::Ordering::Relaxed)
        };
        assert_eq!((woken(&memory), woken(&late), woken(&other)), (1, 1, 0));
        let mut count = [0u8; 8];
        rustix::io::read(&event, &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 1);
        assert!(rustix::io::read(&closed, &mut count).is_err(), "its queue is closed");
    }
}
