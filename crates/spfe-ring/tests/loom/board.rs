//! Copies shared between the holder of a flow's seat (the poster) and helpers.

use super::{Bytes, check, check_cases};
use loom::thread;
use spfe_ring::Board;
use spfe_ring::board::{JOBS, NOTES, Segment};
use spfe_ring::sync::{AtomicU32, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

const POSTER: u32 = 1;
const HELPER: u32 = 2;
const CONTROL: u32 = 3;
/// Jobs of a model: one more than the board has, so that one place is used twice.
const ALL: u32 = JOBS as u32 + 1;

/// A board and the memory its copies go to. Job `n` copies `value(n)` to target `n`.
struct Workplace {
    board: Board,
    targets: Arc<Bytes>,
    /// Number of jobs published. Only the participant that settles accesses it.
    published: Arc<Bytes>,
    /// Id of a dead participant, 0 for none.
    dead: AtomicU32,
    /// Copies made to each target. Loom does not see these atomics.
    copies: [AtomicUsize; ALL as usize],
}

const fn value(job: u32) -> u32 {
    100 + job
}

impl Workplace {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            board: Board::default(),
            targets: Bytes::new(ALL),
            published: Bytes::new(1),
            dead: AtomicU32::new(0),
            copies: Default::default(),
        })
    }

    fn post(&self, job: u32) {
        let mut draft = self.board.draft();
        let segment = Segment {
            source: value(job).into(),
            target: job.into(),
            length: 64 + job,
            marked: job % 2 == 1,
        };
        draft.add(segment);
        self.board.post(draft, [job; NOTES]);
    }

    fn copy(&self, number: u32) {
        let mut segments = self.board.segments(number);
        let segment = segments.next().expect("a copy");
        assert!(segments.next().is_none());
        assert_eq!(segment.length, 64 + segment.target as u32);
        assert_eq!(segment.marked, segment.target % 2 == 1);
        self.targets.put(segment.target as u32, segment.source as u32);
        self.copies[segment.target as usize].fetch_add(1, Ordering::SeqCst);
    }

    fn is_dead(&self, id: u32) -> bool {
        id != 0 && id == self.dead.load(Ordering::Acquire)
    }

    /// Publishes a job: it comes after the one before, and its copy can be seen.
    fn publish(&self, number: u32) {
        let [job] = self.board.notes(number);
        assert_eq!(self.targets.get(job), value(job), "published before it was copied");
        let next = self.published.get(0);
        // A participant that died while it settled may have published this one.
        assert!(job == next || job + 1 == next, "job {job} published after {next} jobs");
        self.published.put(0, job + 1);
    }

    fn settle(&self, id: u32) -> bool {
        self.board.settle(id, |id| self.is_dead(id), |number| self.publish(number))
    }

    /// Carries out one job. False if there is none.
    fn work(&self, id: u32) -> bool {
        let Some(number) = self.board.claim(id) else { return false };
        self.carry_out(number, id);
        true
    }

    fn carry_out(&self, number: u32, id: u32) {
        self.copy(number);
        if self.board.finish(number) {
            self.settle(id);
        }
    }

    /// Carries out everything, as the holder of the seat, until nothing is pending.
    fn drain(&self, id: u32) {
        loop {
            while self.work(id) {}
            while let Some(number) = self.board.take_left(id, |id| self.is_dead(id)) {
                self.carry_out(number, id);
            }
            if self.settle(id) {
                return;
            }
            thread::yield_now();
        }
    }

    /// Posts jobs, helps with them and drains the board.
    fn post_all(&self, jobs: u32) {
        for job in 0..jobs {
            while !self.board.has_room() {
                if !self.work(POSTER) {
                    self.settle(POSTER);
                    thread::yield_now();
                }
            }
            self.post(job);
        }
        self.drain(POSTER);
    }

    /// Checks that the caller sees every copy, and that all were published.
    fn use_up(&self, jobs: u32) {
        for job in 0..jobs {
            assert_eq!(self.targets.get(job), value(job));
        }
        assert_eq!(self.published.get(0), jobs);
        assert_eq!(self.board.pending(), 0);
    }

    fn copies(&self, job: u32) -> usize {
        self.copies[job as usize].load(Ordering::SeqCst)
    }
}

fn helper<T: Send + 'static>(
    place: &Arc<Workplace>,
    run: impl FnOnce(&Workplace) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let place = place.clone();
    thread::spawn(move || run(&place))
}

#[test]
fn every_copy_is_made_once_and_published_in_order() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = helper(&place, |place| place.work(HELPER));
        place.post_all(ALL);
        let helped = helper.join().unwrap();
        place.use_up(ALL);
        assert!((0..ALL).all(|job| place.copies(job) == 1));
        [helped, !helped]
    });
}

/// The poster goes on while the helper copies, and the helper publishes what the poster finished.
#[test]
fn the_last_to_finish_publishes() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = helper(&place, |place| place.work(HELPER));
        for job in 0..JOBS as u32 {
            place.post(job);
        }
        while place.work(POSTER) {}
        let early = place.board.pending() != 0;
        let helped = helper.join().unwrap();
        // Nobody settles any more, and nothing is left.
        place.use_up(JOBS as u32);
        [helped && early, helped && !early, !helped]
    });
}

#[test]
fn late_helper_takes_nothing_from_an_earlier_turn() {
    check(|| {
        let place = Workplace::new();
        let helper = helper(&place, |place| (0..3).filter(|_| place.work(HELPER)).count());
        for job in 0..ALL {
            place.post(job);
            place.drain(POSTER);
        }
        helper.join().unwrap();
        place.use_up(ALL);
        assert!((0..ALL).all(|job| place.copies(job) == 1));
    });
}

#[test]
fn declined_job_is_done_by_the_poster() {
    check_cases(|| {
        let place = Workplace::new();
        let helper = helper(&place, |place| {
            let claimed = place.board.claim(HELPER);
            claimed.inspect(|number| place.board.decline(*number)).is_some()
        });
        place.post_all(2);
        let declined = helper.join().unwrap();
        place.use_up(2);
        assert_eq!((place.copies(0), place.copies(1)), (1, 1));
        [declined, !declined]
    });
}

/// The points at which a helper dies.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    Claimed,
    Copied,
    Finished,
    Settling,
    Settled,
}

/// Dies at a point of its only job. False if it got no job.
fn die(place: &Workplace, id: u32, point: Death) -> bool {
    let claimed = place.board.claim(id);
    if let Some(number) = claimed {
        if point != Death::Claimed {
            place.copy(number);
        }
        if !matches!(point, Death::Claimed | Death::Copied) {
            let due = place.board.finish(number);
            if due && point == Death::Settling {
                let torn = || {
                    let publish = |number| {
                        place.publish(number);
                        resume_unwind(Box::new(()));
                    };
                    place.board.settle(id, |id| place.is_dead(id), publish)
                };
                let _ = catch_unwind(AssertUnwindSafe(torn));
            } else if due && point == Death::Settled {
                place.settle(id);
            }
        }
    }
    // The control plane reports the death after the last access.
    place.dead.store(id, Ordering::Release);
    claimed.is_some()
}

fn helper_dies(point: Death) {
    check_cases(move || {
        let place = Workplace::new();
        let helper = helper(&place, move |place| die(place, HELPER, point));
        place.post_all(2);
        let had_job = helper.join().unwrap();
        place.use_up(2);
        let again = had_job && point == Death::Copied;
        assert_eq!(place.copies(0) + place.copies(1), 2 + usize::from(again));
        [had_job, !had_job]
    });
}

#[test]
fn job_of_a_helper_that_dies_before_its_copy_is_done() {
    helper_dies(Death::Claimed);
}

#[test]
fn job_of_a_helper_that_dies_after_its_copy_is_repeated() {
    helper_dies(Death::Copied);
}

#[test]
fn job_of_a_helper_that_dies_after_it_has_finished_is_published() {
    helper_dies(Death::Finished);
}

#[test]
fn jobs_of_a_helper_that_dies_while_it_settles_are_published() {
    helper_dies(Death::Settling);
}

/// The poster dies at a point of a job, the helper goes on, and the control plane ends the rest.
fn poster_dies(point: Death) {
    check(move || {
        let place = Workplace::new();
        let helper = helper(&place, |place| {
            place.work(HELPER);
        });
        let poster = self::helper(&place, move |place| {
            place.post(0);
            place.post(1);
            die(place, POSTER, point);
        });
        poster.join().unwrap();
        place.drain(CONTROL);
        helper.join().unwrap();
        place.use_up(2);
    });
}

#[test]
fn jobs_of_a_poster_that_dies_before_its_copy_are_done() {
    poster_dies(Death::Claimed);
}

#[test]
fn jobs_of_a_poster_that_dies_after_its_copy_are_done() {
    poster_dies(Death::Copied);
}

#[test]
fn jobs_of_a_poster_that_dies_while_it_settles_are_published() {
    poster_dies(Death::Settling);
}

#[test]
fn jobs_of_a_poster_that_dies_after_it_has_settled_are_done() {
    poster_dies(Death::Settled);
}
