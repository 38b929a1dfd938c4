use super::*;

fn clock() -> Arc<VirtualClock> {
    VirtualClock::new(Box::leak(Box::new(AtomicU64::new(0))))
}

#[test]
fn a_single_participant_jumps() {
    let clock = clock();
    assert!(clock.wait(clock.ticket(), Some(5_000_000_000)));
    assert_eq!(clock.now.load(Ordering::Relaxed), 5_000_000_000);
}

#[test]
fn a_wait_that_can_never_end_is_reported() {
    let clock = clock();
    assert!(!clock.wait(clock.ticket(), None));
}

#[test]
fn the_earliest_of_two_goes_first() {
    let clock = clock();
    clock.join();
    let other = clock.clone();
    let thread = std::thread::spawn(move || {
        assert!(other.wait(other.ticket(), Some(200)));
        let woke = other.now.load(Ordering::Relaxed);
        other.leave();
        woke
    });
    assert!(clock.wait(clock.ticket(), Some(100)));
    assert_eq!(clock.now.load(Ordering::Relaxed), 100);
    assert!(clock.wait(clock.ticket(), Some(300)));
    assert_eq!(thread.join().unwrap(), 200);
    assert_eq!(clock.now.load(Ordering::Relaxed), 300);
}

#[test]
fn time_stands_still_for_a_woken_participant() {
    const TURNS: u64 = 2000;
    let clock = clock();
    let (here, there) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    clock.join();
    let (other, theirs, ours) = (clock.clone(), there.clone(), here.clone());
    // The threads take turns, so no deadline is ever reached.
    let turn = |clock: &VirtualClock, mine: &AtomicU64, other: &AtomicU64, turn: u64| {
        mine.store(turn, Ordering::Release);
        clock.poke();
        loop {
            let ticket = clock.ticket();
            if other.load(Ordering::Acquire) >= turn {
                return;
            }
            assert!(clock.wait(ticket, Some(1_000_000)));
        }
    };
    let thread = std::thread::spawn(move || {
        (1..=TURNS).for_each(|number| turn(&other, &theirs, &ours, number));
        other.leave();
    });
    (1..=TURNS).for_each(|number| turn(&clock, &here, &there, number));
    assert!(thread.join().is_ok());
    assert_eq!(clock.now.load(Ordering::Relaxed), 0);
}
