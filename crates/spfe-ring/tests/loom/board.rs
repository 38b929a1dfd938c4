//! Copies shared between the runner of a flow (the holder) and helpers.

use super::{Bytes, check, check_cases};
use loom::thread;
use spfe_ring::Board;
use spfe_ring::board::{RoundPlan, Segment};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

const HOLDER: u32 = 1;
const HELPER: u32 = 2;
/// Bytes of each copy.
const COPY: u32 = 64;

/// A board and the memory its copies go to. The source address of a copy is the value it copies.
struct Workplace {
    board: Board,
    targets: Arc<Bytes>,
    /// Id of a dead helper, 0 for none.
    dead: AtomicU32,
    /// Copies made to each target. Loom does not see these atomics.
    copies: [AtomicUsize; 3],
}

impl Workplace {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            board: Board::default(),
            targets: Bytes::new(3),
            dead: AtomicU32::new(0),
            copies: Default::default(),
        })
    }

    fn copy(&self, segment: Segment) {
        assert_eq!(segment.length, COPY);
        self.targets.put(segment.target as u32, segment.source as u32);
        self.copies[segment.target as usize].fetch_add(1, Ordering::SeqCst);
    }

    /// Plans copies of `values` to the first targets, `per_job` in each job, and opens the round.
    fn open(&self, values: &[u32], per_job: u32) -> u32 {
        let mut plan = RoundPlan::default();
        for (target, &value) in (0..).zip(values) {
            assert!(plan.has_room());
            let segment = Segment { source: value.into(), target, length: COPY };
            self.board.add(&mut plan, segment, per_job * COPY);
        }
        self.board.open(&mut plan)
    }

    /// Takes one job and carries it out. False if there is no job.
    fn take(&self, id: u32) -> bool {
        let Some(taken) = self.board.take(id) else {
            return false;
        };
        self.board.segments(taken).for_each(|segment| self.copy(segment));
        self.board.finish(taken, true);
        true
    }

    /// Waits for the jobs of the round as the holder does. Returns the number of copies it
    /// repeated.
    fn settle(&self, jobs: u32) -> u32 {
        let mut repeated = 0;
        for job in 0..jobs {
            let is_dead = |id| id != 0 && id == self.dead.load(Ordering::Acquire);
            let again = |segment| {
                repeated += 1;
                self.copy(segment);
            };
            self.board.settle(job, is_dead, again, || {});
        }
        repeated
    }

    /// Checks that the holder sees every copy, and writes to the targets: helpers must be done.
    fn use_up(&self, values: &[u32]) {
        for (target, &value) in (0..).zip(values) {
            assert_eq!(self.targets.get(target), value);
            self.targets.put(target, 0);
        }
    }

    fn copies(&self) -> [usize; 3] {
        [0, 1, 2].map(|target: usize| self.copies[target].load(Ordering::SeqCst))
    }
}

/// The cases of a helper that looked for two jobs, by the number it got.
fn jobs_taken(helped: usize) -> [bool; 3] {
    [helped == 0, helped == 1, helped == 2]
}

#[test]
fn every_copy_is_made_once_and_is_visible_to_the_holder() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = thread::spawn({
            let place = place.clone();
            move || (0..2).filter(|_| place.take(HELPER)).count()
        });
        let values = [11, 12, 13];
        let jobs = place.open(&values, 2);
        assert_eq!(jobs, 2);
        while place.take(HOLDER) {}
        assert_eq!(place.settle(jobs), 0);
        place.use_up(&values);
        assert_eq!(place.copies(), [1; 3]);
        jobs_taken(helper.join().unwrap())
    });
}

#[test]
fn late_helper_takes_nothing_from_a_finished_round() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = thread::spawn({
            let place = place.clone();
            move || (0..2).filter(|_| place.take(HELPER)).count()
        });
        for values in [&[11, 12][..], &[21]] {
            let jobs = place.open(values, 1);
            while place.take(HOLDER) {}
            assert_eq!(place.settle(jobs), 0);
            place.use_up(values);
            assert!(!place.board.has_work());
        }
        let helped = helper.join().unwrap();
        assert_eq!(place.copies(), [2, 1, 0]);
        assert_eq!(place.targets.get(0), 0, "a helper copied after the round had ended");
        assert_eq!(place.targets.get(1), 0, "a helper copied after the round had ended");
        jobs_taken(helped)
    });
}

#[test]
fn declined_job_is_repeated_by_the_holder() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = thread::spawn({
            let place = place.clone();
            move || {
                let taken = place.board.take(HELPER);
                if let Some(taken) = taken {
                    place.board.finish(taken, false);
                }
                taken.is_some()
            }
        });
        let values = [11, 12];
        let jobs = place.open(&values, 1);
        while place.take(HOLDER) {}
        let repeated = place.settle(jobs);
        place.use_up(&values);
        assert_eq!(helper.join().unwrap(), repeated == 1);
        assert_eq!(place.copies(), [1, 1, 0]);
        [repeated == 0, repeated == 1]
    });
}

#[test]
fn job_of_a_dead_helper_is_repeated_by_the_holder() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = thread::spawn({
            let place = place.clone();
            move || {
                let taken = place.board.take(HELPER);
                let half_done = taken.and_then(|taken| place.board.segments(taken).next());
                half_done.into_iter().for_each(|segment| place.copy(segment));
                // Dies after its last access; the control plane reports the death.
                place.dead.store(HELPER, Ordering::Release);
                taken.is_some()
            }
        });
        let values = [11, 12];
        let jobs = place.open(&values, 2);
        while place.take(HOLDER) {}
        let repeated = place.settle(jobs);
        place.use_up(&values);
        let had_job = helper.join().unwrap();
        assert_eq!(repeated, if had_job { 2 } else { 0 });
        assert_eq!(place.copies(), [1 + usize::from(had_job), 1, 0]);
        [!had_job, had_job]
    });
}

#[test]
fn death_of_a_helper_does_not_repeat_a_later_round() {
    check(|| {
        const DEAD: u32 = 3;
        let place = Workplace::new();
        let jobs = place.open(&[11], 1);
        assert!(place.take(DEAD));
        assert_eq!(place.settle(jobs), 0);
        place.dead.store(DEAD, Ordering::Release);
        let helper = thread::spawn({
            let place = place.clone();
            move || place.take(HELPER)
        });
        let jobs = place.open(&[21], 1);
        while place.take(HOLDER) {}
        assert_eq!(place.settle(jobs), 0);
        place.use_up(&[21]);
        helper.join().unwrap();
    });
}

#[test]
fn round_of_a_dead_holder_ends_before_the_next_begins() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = thread::spawn({
            let place = place.clone();
            move || (0..2).filter(|_| place.take(HELPER)).count()
        });
        let holder = thread::spawn({
            let place = place.clone();
            move || {
                place.open(&[11, 12], 1);
                place.board.take(HOLDER).is_some()
            }
        });
        let had_job = holder.join().unwrap();
        // A job that the dead holder took stays undone; the dead round needs no result.
        place.board.end_round(|id| had_job && id == HOLDER, || {});
        assert!(place.board.take(HOLDER).is_none());
        for target in 0..2 {
            place.targets.put(target, 0);
        }
        let values = [21, 22];
        let jobs = place.open(&values, 1);
        while place.take(HOLDER) {}
        assert_eq!(place.settle(jobs), 0);
        place.use_up(&values);
        jobs_taken(helper.join().unwrap())
    });
}
