//! The lock of a message port: participants that send, and a control plane that takes the lock from
//! a dead one.

use super::{Bytes, check, check_cases};
use loom::thread;
use spfe_ring::HolderLock;
use spfe_ring::sync::{AtomicU32, Ordering, relax};
use std::sync::Arc;

const DEAD: u32 = 9;
const CONTROL: u32 = 1;

/// A lock and the contexts it guards. Loom fails the model if two threads use them at once.
struct Port {
    lock: HolderLock,
    contexts: Arc<Bytes>,
}

impl Port {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: HolderLock::default(), contexts: Bytes::new(1) })
    }

    fn work(&self) {
        self.contexts.put(0, self.contexts.get(0) + 1);
    }

    /// A step that ends at once if the lock is not free. Returns whether it got in.
    fn try_send(&self, id: u32) -> bool {
        let inside = self.lock.try_lock(id);
        if inside {
            self.work();
            self.lock.unlock();
        }
        inside
    }

    /// The control plane waits for its turn.
    fn configure(&self) {
        self.lock.lock(CONTROL, relax);
        self.work();
        self.lock.unlock();
    }
}

#[test]
fn holders_of_a_message_port_exclude_each_other() {
    check_cases(|| {
        let port = Port::new();
        let senders = [2, 3].map(|id| {
            let port = port.clone();
            thread::spawn(move || port.try_send(id))
        });
        port.configure();
        let sent = senders.map(|sender| u32::from(sender.join().unwrap()));
        assert_eq!(port.contexts.get(0), 1 + sent[0] + sent[1]);
        assert_eq!(port.lock.holder(), 0);
        [sent == [1, 1], sent != [1, 1]]
    });
}

/// Two ports are locked in one order by everybody who needs both, so that nobody waits for ever.
#[test]
fn both_ports_of_a_link_are_locked_in_one_order() {
    check(|| {
        let ports = [Port::new(), Port::new()];
        let both = |[first, second]: &[Arc<Port>; 2], id| {
            first.lock.lock(id, relax);
            second.lock.lock(id, relax);
            first.work();
            second.work();
            second.lock.unlock();
            first.lock.unlock();
        };
        let other = ports.clone();
        let configuring = thread::spawn(move || both(&other, 2));
        both(&ports, CONTROL);
        configuring.join().unwrap();
        assert_eq!(ports.map(|port| port.contexts.get(0)), [2, 2]);
    });
}

/// A participant dies inside, if it gets in, beside one that sends. The control plane hears of the
/// death, takes the lock over and repairs the contexts before anybody else gets in. Returns whether
/// it died inside, and whether the other sent.
fn death(announce: Ordering) -> (bool, bool) {
    const INSIDE: u32 = 1;
    const OUTSIDE: u32 = 2;
    let port = Port::new();
    let dead = Arc::new(AtomicU32::new(0));
    let dying = thread::spawn({
        let (port, dead) = (port.clone(), dead.clone());
        move || {
            let inside = port.lock.try_lock(DEAD);
            if inside {
                port.work();
            }
            // The kernel closes the socket of a process after the last store of its threads.
            dead.store(if inside { INSIDE } else { OUTSIDE }, announce);
        }
    });
    let sender = thread::spawn({
        let port = port.clone();
        move || port.try_send(2)
    });
    while dead.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
    let inside = port.lock.take_over(DEAD, CONTROL);
    assert_eq!(inside, dead.load(Ordering::Relaxed) == INSIDE);
    if inside {
        assert!(!port.lock.take_over(DEAD, CONTROL), "taken over twice");
        port.work();
        port.lock.unlock();
    }
    dying.join().unwrap();
    let sent = sender.join().unwrap();
    let works = if inside { 2 } else { 0 } + u32::from(sent);
    assert_eq!((port.contexts.get(0), port.lock.holder()), (works, 0));
    (inside, sent)
}

#[test]
fn the_lock_of_a_dead_holder_is_taken_over_once() {
    check_cases(|| {
        let (inside, sent) = death(Ordering::Release);
        [inside && sent, inside && !sent, !inside]
    });
}

/// What orders the dead participant's stores before the repair is how its death is heard of.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_death_has_to_be_heard_of_in_order() {
    check(|| {
        death(Ordering::Relaxed);
    });
}
