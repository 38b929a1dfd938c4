//! Copies that both ends may share: when they do, and what happens if the other end does not go on or
//! its memory was written over.

mod pair;

use pair::{Got, Pair, Quiet, poll_posted, poll_tx};
use spfe_contract::{
    EndMarker, EntryType, InlineSubmission, QueueKind, Status, submit_flags as sf,
};
use spfe_device::distance;
use spfe_device::flow::{SharePolicy, StepOutcome};
use spfe_device::queue::Host;
use spfe_device::shared::QueueConfig;
use spfe_ring::AtomicDeviceLine;
use spfe_ring::board::{JOBS, NOTES, Segment};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::sync::atomic::AtomicBool;

/// Mode auto, with thresholds that a test reaches: 4 long packets, and buffers for 7.
const AUTO: SharePolicy = SharePolicy { near: true, packet: 800, total: 8_000, room: 16_000 };
/// Lengths of packets, in units of 40 bytes, and their number.
const LONG: u32 = 60;
const SHORT: u32 = 10;
const PACKETS: usize = 12;

/// A host whose clock advances by so many ns with each reading.
struct Clocked(u64, u64);

impl Host for Clocked {
    fn now_ns(&mut self) -> u64 {
        self.0 += self.1;
        self.0
    }
    fn wake(&mut self, _: &AtomicDeviceLine, _: &QueueConfig, _: bool) {}
}

fn post(pair: &mut Pair, packets: usize, length: u32) {
    for _ in 0..packets {
        pair.post_buffer();
        pair.post(length, EndMarker::Eop, true);
    }
}

/// Checks that packets have arrived, and were reported as sent.
fn arrived(pair: &mut Pair, got: &mut Got, packets: usize) {
    let before = got.packets.len();
    poll_posted(pair, got);
    got.check();
    assert_eq!(got.packets.len() - before, packets);
    let sent = poll_tx(pair);
    assert_eq!(sent.len(), packets);
    assert!(sent.iter().all(|done| done.status == Status::Ok.raw()), "{sent:?}");
}

/// Sends packets of a length while the far end polls, if `answers`, on a clock with this step.
/// Returns the number of jobs on the board.
fn jobs_of(length: u32, answers: bool, clock_step: u64) -> u32 {
    let mut pair = Pair::with_policy(QueueKind::Rx, Some(AUTO));
    let (shared, over) = (pair.shared, AtomicBool::new(false));
    std::thread::scope(|scope| {
        if answers {
            scope.spawn(|| {
                let mut last = 0;
                while !over.load(Ordering::Relaxed) {
                    distance::answer(shared, &mut last);
                    std::thread::yield_now();
                }
            });
        }
        let (mut host, mut got) = (Clocked(0, clock_step), Got::default());
        for _ in 0..4 {
            post(&mut pair, PACKETS, length);
            let step = pair.flow.step(&mut host, 1000);
            assert_eq!(step, StepOutcome::Idle(PACKETS as u32));
            arrived(&mut pair, &mut got, PACKETS);
        }
        over.store(true, Ordering::Relaxed);
    });
    shared.board.passed()
}

#[test]
fn mode_auto_shares_long_groups_with_a_near_end_that_polls() {
    assert_ne!(jobs_of(LONG, true, 0), 0, "near");
    assert_eq!(jobs_of(SHORT, true, 0), 0, "short packets");
    assert_eq!(jobs_of(LONG, true, 800), 0, "far away");
    assert_eq!(jobs_of(LONG, false, 500), 0, "nobody polls");
}

#[test]
fn a_short_group_and_one_with_few_buffers_are_not_shared() {
    // The first is short of packets, and the second of buffers.
    for packets in [2, 6] {
        let mut pair = Pair::with_policy(QueueKind::Rx, Some(AUTO));
        post(&mut pair, packets, LONG);
        // The clock would fail the test if the distance were measured.
        let step = pair.flow.step(&mut Clocked(0, u64::MAX), 1000);
        assert_eq!(step, StepOutcome::Idle(packets as u32));
        arrived(&mut pair, &mut Got::default(), packets);
        assert_eq!(pair.shared.board.passed(), 0, "{packets} packets");
    }
}

/// Note of a job that completes nothing.
const PART: [u32; NOTES] = [1, 0, 0, 0, 0, 0, 0, 0];
/// Participants: one that lives and does nothing, and one that is dead.
const IDLE: u32 = 9;
const DEAD: u32 = 11;

/// Puts jobs that complete nothing on the board and claims them for a participant.
fn claimed(pair: &Pair, jobs: usize, id: u32) -> Vec<u32> {
    let board = &pair.shared.board;
    let claim = |_| {
        let mut draft = board.draft();
        draft.add(Segment::default());
        board.post(draft, PART);
        board.claim(id).expect("a job")
    };
    (0..jobs).map(claim).collect()
}

/// Posts a packet that does not take the way of shared copies.
fn post_inline(pair: &mut Pair) {
    pair.post_buffer();
    let flags = u16::from(EntryType::Inline.raw())
        | u16::from(EndMarker::Eop.raw()) << sf::END_SHIFT
        | sf::SIGNAL;
    let data_lo = u64::from(pair.next);
    let entry = InlineSubmission { data_lo, count: 1, flags, ..Default::default() };
    pair.next += 1;
    pair.tx.sq.push(entry.to_words());
}

#[test]
fn a_live_participant_that_does_not_finish_stalls_the_flow() {
    // All jobs of the board, or one before a packet that has to wait for it.
    for full in [true, false] {
        let mut pair = Pair::new(QueueKind::Rx, true);
        let mut got = Got::default();
        let numbers = claimed(&pair, if full { JOBS } else { 1 }, IDLE);
        if full {
            post(&mut pair, 1, LONG);
        } else {
            post_inline(&mut pair);
        }
        for _ in 0..2 {
            assert_eq!(pair.flow.step(&mut Quiet, 1000), StepOutcome::Stalled(0));
        }
        assert_eq!(pair.flow.quiesce(&mut Quiet), Ok(false));
        assert_eq!(pair.shared.stalled.load(Ordering::Relaxed), 1, "the receiver goes on");
        assert_eq!(pair.shared.tx_count.values().stalls, 2);
        for number in numbers {
            let _ = pair.shared.board.finish(number);
        }
        assert!(pair.drain());
        arrived(&mut pair, &mut got, 1);
        assert_eq!(pair.shared.stalled.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn the_jobs_of_a_dead_participant_are_repeated() {
    let mut pair = Pair::new(QueueKind::Rx, true);
    claimed(&pair, JOBS, DEAD);
    post(&mut pair, PACKETS, LONG);
    pair.shared.dead.store(DEAD, Ordering::Release);
    assert_eq!(pair.flow.step(&mut Quiet, 1000), StepOutcome::Idle(PACKETS as u32));
    arrived(&mut pair, &mut Got::default(), PACKETS);
}

/// A word of the board. `at` is the offset in bytes.
fn word(pair: &Pair, at: usize) -> &AtomicU32 {
    assert!(at.is_multiple_of(4) && at < size_of_val(&pair.shared.board));
    let base = std::ptr::from_ref(&pair.shared.board).cast::<AtomicU32>();
    // SAFETY: inside the board, which consists of atomics.
    unsafe { &*base.wrapping_byte_add(at) }
}

/// Offsets of the counters of claimed and settled jobs, and of the first job.
const NEXT: usize = 64;
const SETTLED: usize = 128;
const FIRST_JOB: usize = 192;

#[test]
fn counters_that_no_board_has_fail_what_is_posted_and_nothing_else() {
    for (at, value) in [(SETTLED, 1_000), (SETTLED, u32::MAX - 40), (NEXT, 1_000)] {
        let mut pair = Pair::new(QueueKind::Rx, true);
        let mut got = Got::default();
        post(&mut pair, PACKETS, LONG);
        assert!(pair.drain());
        arrived(&mut pair, &mut got, PACKETS);
        word(&pair, at).store(value, Ordering::Relaxed);
        post(&mut pair, 3, LONG);
        let before = pair.shared.tx_count.values().errors;
        assert!(pair.drain());
        poll_posted(&mut pair, &mut got);
        let failed = poll_tx(&mut pair);
        let statuses: Vec<u8> = failed.iter().map(|done| done.status).collect();
        assert_eq!(statuses, [Status::BadRing.raw(); 3], "{at}");
        assert_eq!(pair.shared.tx_count.values().errors - before, 3);
        assert_eq!(got.packets.len(), PACKETS, "nothing of them arrives");
        assert!(pair.shared.board.is_sound());
        // The three buffers are still posted.
        for _ in 0..3 {
            pair.post(LONG, EndMarker::Eop, true);
        }
        assert!(pair.drain());
        arrived(&mut pair, &mut got, 3);
    }
}

#[test]
fn counters_are_repaired_before_a_flow_changes() {
    let mut pair = Pair::new(QueueKind::Rx, true);
    claimed(&pair, 1, IDLE);
    word(&pair, SETTLED).store(77, Ordering::Relaxed);
    assert_eq!(pair.flow.quiesce(&mut Quiet), Ok(true));
    assert!(!pair.flow.is_pending());
}

/// A state that no participant writes does not hold up the packets behind it.
#[test]
fn a_job_whose_state_was_written_over_is_repeated() {
    let mut pair = Pair::new(QueueKind::Rx, true);
    claimed(&pair, 1, IDLE);
    for at in [0, 4] {
        word(&pair, FIRST_JOB + at).store(0x1234_5678, Ordering::Relaxed);
    }
    post(&mut pair, PACKETS, LONG);
    assert!(pair.drain());
    assert_eq!(pair.flow.quiesce(&mut Quiet), Ok(true));
    arrived(&mut pair, &mut Got::default(), PACKETS);
}

#[test]
fn a_helper_returns_from_a_board_that_never_ends() {
    let pair = Pair::new(QueueKind::Rx, true);
    let (board, over) = (&pair.shared.board, AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Somebody posts jobs as fast as they are carried out.
            while !over.load(Ordering::Relaxed) {
                if board.has_room() {
                    let mut draft = board.draft();
                    draft.add(Segment::default());
                    board.post(draft, PART);
                }
            }
        });
        for _ in 0..100 {
            let (jobs, missing) = pair.flow.help();
            assert!(jobs <= 2 * JOBS as u32 && missing.is_none());
        }
        over.store(true, Ordering::Relaxed);
    });
}
