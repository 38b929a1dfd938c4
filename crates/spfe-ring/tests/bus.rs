//! The barriers of a process whose rings are used from the far side of a bus, on the real machine.

use spfe_ring::sync::{Barriers, barriers, light_barrier, set_barriers};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};

/// The host across the bus has a full fence and cannot be forced to anything; the device has its
/// light side. One of the two sees the other's store. With a light side that is free (as
/// `Asymmetric` has it) both miss it, many times in so many turns on any processor that keeps stores
/// in a buffer.
#[test]
fn a_light_barrier_pairs_with_a_fence_on_the_far_side_of_a_bus() {
    assert_eq!(barriers(), Barriers::Fences, "the choice that is right everywhere comes first");
    set_barriers(Barriers::Asymmetric);
    assert_eq!(barriers(), Barriers::Asymmetric);
    set_barriers(Barriers::Bus);
    assert_eq!(barriers(), Barriers::Bus);
    const TURNS: usize = 1_000;
    const LANES: usize = 256;
    let words = || (0..LANES).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let (arm, done) = (words(), words());
    let start = Barrier::new(2);
    // In each turn every lane is a pair of its own, so that the two sides need not meet for each.
    let side = |mine: &[AtomicU32], theirs: &[AtomicU32], fence: fn()| {
        (1..=TURNS as u32)
            .map(|turn| {
                start.wait();
                let seen = mine.iter().zip(theirs).map(|(mine, theirs)| {
                    mine.store(turn, Ordering::Relaxed);
                    fence();
                    theirs.load(Ordering::Relaxed) == turn
                });
                let seen: Vec<bool> = seen.collect();
                start.wait();
                seen
            })
            .collect::<Vec<_>>()
    };
    let (host, device) = std::thread::scope(|scope| {
        let host = scope.spawn(|| side(&arm, &done, || std::sync::atomic::fence(Ordering::SeqCst)));
        let device = side(&done, &arm, light_barrier);
        (host.join().unwrap(), device)
    });
    let missed = host.iter().flatten().zip(device.iter().flatten()).filter(|(a, b)| !**a && !**b);
    assert_eq!(missed.count(), 0);
}
