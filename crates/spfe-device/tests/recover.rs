//! A runner dies between a change of the state and the write to a ring. Afterwards every entry has
//! exactly one completion, and no packet is joined to another.

mod pair;

use pair::{CQ, Got, Pair, Quiet, SIZE, Side, area, poll_packed, poll_posted, poll_tx, unit};
use proptest::collection::vec;
use proptest::prelude::*;
use spfe_contract::{EndMarker, QueueKind, Status};
use spfe_device::Flow;
use spfe_device::shared::{QueueConfig, RxState, TxState};
use spfe_ring::RingCredit;
use spfe_ring::packed::PackedReader;

/// PROPTEST_RNG_SEED repeats a run, PROPTEST_CASES sets the number of cases.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { None } else { Some(400) };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    ProptestConfig { cases: cases.unwrap_or(config.cases), ..config }
}

/// The bytes of a completion ring.
fn snapshot(side: &Side) -> Vec<u8> {
    side.bytes(CQ, 16 * SIZE)
}

/// Restores the completion ring to a snapshot, but for the first `keep` completions since then.
fn unwrite(side: &mut Side, before: &[u8], from: u32, to: u32, keep: u32) {
    for position in from.wrapping_add(keep)..to {
        let slot = (position % SIZE) as usize * 16;
        let at = side.base().wrapping_add(CQ as usize + slot);
        for (i, byte) in before[slot..slot + 16].iter().enumerate() {
            // SAFETY: inside the memory.
            unsafe { at.add(i).write_volatile(*byte) };
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Post(u32, bool, bool),
    Buffer,
    Step(u32),
    Poll,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (1u32..200, any::<bool>(), any::<bool>()).prop_map(|(l, e, s)| Op::Post(l, e, s)),
        4 => Just(Op::Buffer),
        3 => (1u32..6).prop_map(Op::Step),
        2 => Just(Op::Poll),
    ];
    vec(op, 0..60)
}

/// The point of its last step at which the runner died.
#[derive(Clone, Copy, Debug)]
struct Tear {
    /// Completions of that step that were written, in eighths.
    written: u32,
    /// The state is the one from before the step: the loop had not stored its registers yet.
    early: bool,
    /// The state is one completion ahead of the ring.
    ahead: bool,
}

fn tears() -> impl Strategy<Value = Tear> {
    (0u32..=8, any::<bool>(), any::<bool>()).prop_map(|(written, early, ahead)| Tear {
        written,
        early,
        ahead,
    })
}

/// Runs a load, and leaves the flow as a runner that dies in the last step does.
fn tear(pair: &mut Pair, ops: &[Op], last: u32, torn: Tear, mut poll: impl FnMut(&mut Pair)) {
    for op in ops {
        match *op {
            Op::Post(length, ends, signal) => {
                pair.post(length, if ends { EndMarker::Eop } else { EndMarker::None }, signal);
            }
            Op::Buffer if pair.rx.config.area == 0 => pair.post_buffer(),
            Op::Buffer => {}
            Op::Step(budget) => pair.step(budget),
            Op::Poll => {
                poll(pair);
                poll_tx(pair);
            }
        }
    }
    let before = (snapshot(&pair.tx), snapshot(&pair.rx));
    let (tx_before, rx_before) = pair.states();
    pair.step(last);
    let (mut tx, mut rx) = pair.states();
    let packed = pair.rx.config.area != 0;
    let (tx_from, tx_to) = (tx_before.at.completion, tx.at.completion);
    let (rx_from, rx_to) = (rx_before.at.completion, rx.at.completion);
    // With shared copies the state is ahead of the ring by up to a round. Otherwise it is ahead by
    // at most one completion or, in a loop that keeps cursors in registers, behind the ring.
    let keep = |from: u32, to: u32| match to - from {
        count if !pair.share && (packed || torn.ahead) => count.saturating_sub(torn.written % 2),
        count => count * torn.written / 8,
    };
    let (tx_keep, rx_keep) = (keep(tx_from, tx_to), keep(rx_from, rx_to));
    unwrite(&mut pair.tx, &before.0, tx_from, tx_to, tx_keep);
    unwrite(&mut pair.rx, &before.1, rx_from, rx_to, rx_keep);
    if rx_keep != rx_to - rx_from && !packed {
        // Nothing happened after the missing completion.
        rx.fill = 0;
    }
    if !pair.share && !packed && !torn.ahead {
        let counts = |state: u32, keep: u32| if torn.early { state } else { state + keep };
        (rx.at.completion, tx.at.completion) = (counts(rx_from, rx_keep), counts(tx_from, tx_keep));
        rx.at.submission = counts(rx_before.at.submission, rx_keep);
        if torn.early {
            tx = tx_before;
        }
    }
    pair.set_states(tx, rx);
}

/// A new sender opens the transmit queue after the old one died.
fn new_sender(pair: &mut Pair) {
    pair.flow.cut(&mut Quiet);
    // SAFETY: one thread.
    unsafe { *pair.shared.tx.get() = TxState::default() };
    let next = pair.next.wrapping_add(1).max(1);
    pair.tx.sq.ring.clear();
    pair.tx.cq.ring.clear();
    (pair.tx.sq.position, pair.tx.cq.position) = (0, 0);
    pair.tx.credit = RingCredit::default();
    pair.next = next;
    assert_eq!(pair.flow.bind(), Ok(()));
}

proptest! {
    #![proptest_config(config())]

    /// The sender dies. The receiver gets every buffer back once and in order, then whole packets
    /// of the next sender.
    #[test]
    fn posted_buffers_survive_their_sender(
        ops in ops(), last in 1u32..20, torn in tears(), share in any::<bool>(),
    ) {
        let mut pair = Pair::new(QueueKind::Rx, share);
        let mut got = Got::default();
        tear(&mut pair, &ops, last, torn, |pair| poll_posted(pair, &mut got));
        pair.flow.recover();
        new_sender(&mut pair);
        let first = pair.next;
        let mut sent = 0;
        for _ in 0..20 {
            while pair.rx.free() != 0 {
                pair.post_buffer();
            }
            pair.post(100, EndMarker::Eop, true);
            sent += 1;
            pair.step(100);
            poll_posted(&mut pair, &mut got);
            poll_tx(&mut pair);
        }
        got.check();
        let arrived = got.packets.iter().filter(|(bytes, cut)| {
            !cut && bytes.len() == 100 * unit(share) as usize && bytes[0] >= first
        });
        prop_assert_eq!(arrived.count(), sent);
    }

    /// The same with a packed area: runs stay readable, and no byte of the area leaks.
    #[test]
    fn packed_area_survives_its_sender(
        ops in ops(), last in 1u32..20, torn in tears(), share in any::<bool>(),
    ) {
        let mut pair = Pair::new(QueueKind::RxPacked, share);
        let (mut got, mut reader) = (Got::default(), PackedReader::new(area(share)));
        tear(&mut pair, &ops, last, torn, |pair| poll_packed(pair, &mut reader, &mut got));
        pair.flow.recover();
        new_sender(&mut pair);
        let first = pair.next;
        let mut sent = 0;
        // More than the area holds, so that it wraps and every byte is given back.
        for _ in 0..60 {
            pair.post(150, EndMarker::Eop, true);
            sent += 1;
            pair.step(100);
            poll_packed(&mut pair, &mut reader, &mut got);
            pair.step(100);
            poll_packed(&mut pair, &mut reader, &mut got);
            poll_tx(&mut pair);
        }
        got.check();
        let arrived = got.packets.iter().filter(|(bytes, cut)| {
            !cut && bytes.len() == 150 * unit(share) as usize && bytes[0] >= first
        });
        prop_assert_eq!(arrived.count(), sent);
    }

    /// The receiver dies while it runs the engine. The sender gets every entry back once.
    #[test]
    fn transmit_queue_survives_its_receiver(
        ops in ops(), last in 1u32..20, torn in tears(), packed in any::<bool>(),
        share in any::<bool>(),
    ) {
        let kind = if packed { QueueKind::RxPacked } else { QueueKind::Rx };
        let mut pair = Pair::new(kind, share);
        let (mut got, mut reader) = (Got::default(), PackedReader::new(area(share)));
        tear(&mut pair, &ops, last, torn, |pair| match packed {
            true => poll_packed(pair, &mut reader, &mut got),
            false => poll_posted(pair, &mut got),
        });
        pair.flow.recover();
        pair.flow.flush(&mut Quiet, Status::PeerGone, false);
        poll_tx(&mut pair);
        prop_assert_eq!(pair.tx.free(), SIZE, "entries without a completion");
        // SAFETY: one thread.
        unsafe {
            *pair.shared.rx.get() = RxState::default();
            *pair.shared.rx_config.get() = QueueConfig::default();
        }
        pair.shared.bump_epoch();
        pair.rx = Side::new(QueueKind::Rx, 0);
        // SAFETY: one thread.
        unsafe { *pair.shared.rx_config.get() = pair.rx.config };
        let (tx, rx) = (pair.tx.regions.clone(), pair.rx.regions.clone());

        pair.flow = Flow::new(pair.shared, tx, rx, None, 7, pair::policy(share));
        prop_assert_eq!(pair.flow.bind(), Ok(()));
        // If the dead receiver had the beginning of a packet, the rest of that packet is refused.
        pair.post(10, EndMarker::Eop, true);
        pair.step(1);
        poll_tx(&mut pair);
        let mut got = Got::default();
        let mut sent = 0;
        for _ in 0..20 {
            pair.post_buffer();
            pair.post_buffer();
            pair.post(100, EndMarker::Eop, true);
            pair.step(100);
            poll_posted(&mut pair, &mut got);
            sent += poll_tx(&mut pair).iter().filter(|done| done.status == 0).count();
        }
        got.check();
        prop_assert_eq!(sent, 20);
    }
}
