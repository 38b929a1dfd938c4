//! The lifetime of the memory of regions.

#[path = "raw/mod.rs"]
mod raw;

use raw::{Client, DATA, buffer, data, network};
use spfe_contract::{QueueKind, Status, access};
use spfe_device::memory::Address;
use spfe_host::{Mode, SharedMemory};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The memory of a revoked region is not kept by the runners that moved its packets.
#[test]
fn a_revoked_region_is_unmapped_everywhere() {
    let network = network(Mode::Inline);
    let (mut a, mut b) = (Client::new(&network, 0), Client::new(&network, 1));
    let (mut tx, mut rx) = (a.queue(QueueKind::Tx, 0), b.queue(QueueKind::Rx, 0));
    let mut runner = a.runner(0, true);
    for turn in 0..3 {
        let memory = Arc::new(SharedMemory::create("packet", 4096).unwrap());
        let key = network.add_region(a.at, memory.clone(), access::LOCAL_READ).unwrap();
        rx.push(buffer(b.address(DATA), 64));
        tx.push(data(Address::new(key, 0).0, 64));
        runner.run(u32::MAX).unwrap();
        assert_eq!(rx.wait().bytes, 64, "turn {turn}");
        assert!(Arc::strong_count(&memory) > 1);
        network.remove_region(a.at, key).unwrap();
        assert_eq!(Arc::strong_count(&memory), 1, "turn {turn}: the memory is still mapped");
    }
}

/// A participant that does not leave a flow holds up only what has to wait for it.
#[test]
fn waiting_for_a_participant_holds_up_no_other_client() {
    let network = network(Mode::Inline);
    let (mut a, b) = (Client::new(&network, 0), Client::new(&network, 1));
    let _tx = a.queue(QueueKind::Tx, 0);
    let memory = |name| Arc::new(SharedMemory::create(name, 4096).unwrap());
    let key = network.add_region(a.at, memory("a"), access::LOCAL_READ).unwrap();
    let seat = &network.arena().flow_out(0, 0, 0).seat;
    assert!(seat.enter(77), "nobody else runs the flow");
    std::thread::scope(|scope| {
        let removal = scope.spawn(|| network.remove_region(a.at, key));
        while network.arena().regions(0)[key.index()].tag().is_valid() {
            std::thread::yield_now();
        }
        let start = Instant::now();
        let added = network.add_region(b.at, memory("b"), access::LOCAL_READ).unwrap();
        network.remove_region(b.at, added).unwrap();
        network.port_info(0, 0).unwrap();
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        assert!(!removal.is_finished());
        seat.leave();
        removal.join().unwrap().unwrap();
    });
    assert_eq!(network.remove_region(a.at, key).unwrap_err().status(), Status::BadRegion);
}

/// The KEY register is 0 when there is no region, so no region has key 0.
#[test]
fn no_key_is_0_and_tags_do_not_repeat_soon() {
    let network = network(Mode::Inline);
    let at = network.attach(0, "keys").unwrap();
    let table = network.arena().regions(0);
    let mut tags = std::collections::HashSet::new();
    for _ in 0..64 {
        let memory = Arc::new(SharedMemory::create("keys", 4096).unwrap());
        let key = network.add_region(at, memory, access::LOCAL_READ).unwrap();
        assert_eq!(key.index(), 0);
        assert_ne!(key.0, 0);
        assert!(tags.insert(table[0].tag().0), "{key:?}");
        network.remove_region(at, key).unwrap();
    }
}
