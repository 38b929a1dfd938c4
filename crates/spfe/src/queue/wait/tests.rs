use super::*;
#[cfg(test)] // For tools/modules.py: tests are not part of the modules.
use crate::{Endpoint, LinkRate, Mode, PoolOptions, QueueOptions};

/// Sleeps of a sender that waits for single packets of about 150 us of link time, after a sleep that
/// ended much later than asked for.
fn sleeps_of_a_sender(strategy: Strategy) -> u64 {
    let link = LinkRate::SpaceFibre { lanes: 1, mbps: 1000 };
    let (near, far) = Endpoint::pair(link, Mode::Inline).unwrap();
    let options =
        |slots| PoolOptions::new(slots, 14 << 10).queue(QueueOptions::default().strategy(strategy));
    let open = |end: &Endpoint| end.port(0).unwrap().vc(0).unwrap();
    let mut rx = open(&far).rx_pooled(options(16)).unwrap();
    let mut tx = open(&near).tx_pooled(options(4)).unwrap();
    for _ in 0..20 {
        tx.send(14 << 10).unwrap();
        tx.queue.guard_ns = GUARD_MAX_NS;
        tx.wait(Deadline::NEVER).unwrap();
        assert!(tx.poll().is_some());
        while rx.peek().is_some() {
            rx.release();
        }
    }
    tx.stats().sleeps
}

#[test]
fn a_spinning_thread_yields_often_only_where_the_other_end_needs_its_core() {
    let mut turns = vec![TURN_NS];
    for _ in 0..10 {
        turns.push(next_turn(turns[turns.len() - 1], SWITCH_NS.start - 1));
    }
    assert_eq!(turns[..4], [TURN_NS, 2 * TURN_NS, 4 * TURN_NS, 8 * TURN_NS]);
    assert_eq!(turns[10], TURN_MAX_NS);
    for turn in [0, TURN_NS, TURN_MAX_NS] {
        assert_eq!(next_turn(turn, SWITCH_NS.start), 0);
        assert_eq!(next_turn(turn, SWITCH_NS.end - 1), 0);
    }
    assert_eq!(next_turn(0, SWITCH_NS.start - 1), TURN_NS);
    assert_eq!(next_turn(TURN_NS, SWITCH_NS.end), 2 * TURN_NS, "a thread of somebody else");
}

#[test]
fn a_blocking_sender_sleeps_however_late_it_was_before() {
    assert!(sleeps_of_a_sender(Strategy::Block) > 0);
    assert_eq!(sleeps_of_a_sender(Strategy::Poll), 0);
}
