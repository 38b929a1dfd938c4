//! The board: copies that both ends of a flow share.
//!
//! The holder of the flow's seat posts *jobs*, each with up to [`SEGMENTS`] copies. The holder and
//! any helper claim them one by one with a shared counter, and the claim names its owner. Whoever
//! finishes a job *settles* all jobs up to the first unfinished one: it publishes what depends on
//! their copies, in the order in which they were posted. So nobody waits for a copy that it could
//! make itself, and the holder goes on posting while others copy.
//!
//! The state word of a job is {number 32, owner 32}. The number says to which turn of the board the
//! word belongs, so a late helper cannot take a job of a later turn. The owner is 0 before the job
//! is claimed, and [`DONE`] afterwards.
//!
//! Copies and publications are idempotent until a job is settled. If an owner dies, another
//! participant takes its job and repeats the copies; if it dies while it settles, the next one
//! publishes again.

use crate::lock::HolderLock;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Number of jobs. Few in a loom model, where each atomic takes time.
pub const JOBS: usize = if cfg!(loom) { 2 } else { 16 };
/// Maximum number of copies in a job.
pub const SEGMENTS: usize = if cfg!(loom) { 2 } else { 32 };
/// Number of words that the poster attaches to a job for those who settle it.
pub const NOTES: usize = if cfg!(loom) { 1 } else { 8 };

/// One copy, with addresses that any process can translate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Source address {region 16, offset 48}, in the regions of the sender.
    pub source: u64,
    /// Destination address {region 16, offset 48}, in the regions of the receiver.
    pub target: u64,
    /// Number of bytes, at most [`LENGTH_MAX`].
    pub length: u32,
    /// A mark of the poster, for those who settle the job.
    pub marked: bool,
}

/// Maximum length of a segment, bytes.
pub const LENGTH_MAX: u32 = MARK - 1;
const MARK: u32 = 1 << 31;

/// Owner of a job that nobody has claimed.
const FREE: u32 = 0;
/// Owner of a finished job. No participant has this id.
pub const DONE: u32 = u32::MAX;

#[repr(C, align(64))]
#[derive(Default)]
struct Job {
    /// {number, owner}
    state: AtomicU64,
    count: AtomicU32,
    notes: [AtomicU32; NOTES],
    /// Length and mark of each segment.
    lengths: [AtomicU32; SEGMENTS],
    sources: [AtomicU64; SEGMENTS],
    targets: [AtomicU64; SEGMENTS],
}

#[repr(C, align(64))]
#[derive(Default)]
struct OwnLine<T>(T);

/// The board, in shared memory. All zero is a board without jobs.
#[repr(C)]
#[derive(Default)]
pub struct Board {
    /// Jobs posted so far. Only the holder of the seat writes it.
    posted: OwnLine<AtomicU32>,
    /// Jobs that somebody has tried to claim.
    next: OwnLine<AtomicU32>,
    /// Jobs settled, and who settles.
    settled: OwnLine<(AtomicU32, HolderLock)>,
    jobs: [Job; JOBS],
}

/// The state word of a job.
#[inline(always)]
fn word(number: u32, owner: u32) -> u64 {
    // Numbers in the words start at 1, so that no word of a new board belongs to a job.
    u64::from(number.wrapping_add(1)) << 32 | u64::from(owner)
}

/// A job that is being filled by the holder of the seat.
pub struct JobDraft<'a> {
    job: &'a Job,
    count: usize,
}

impl JobDraft<'_> {
    /// Adds a copy. The caller adds at most [`SEGMENTS`].
    #[inline(always)]
    pub fn add(&mut self, segment: Segment) {
        let at = self.count & (SEGMENTS - 1);
        debug_assert!(self.count < SEGMENTS && segment.length <= LENGTH_MAX);
        let mark = if segment.marked { MARK } else { 0 };
        self.job.lengths[at].store(segment.length & LENGTH_MAX | mark, Ordering::Relaxed);
        self.job.sources[at].store(segment.source, Ordering::Relaxed);
        self.job.targets[at].store(segment.target, Ordering::Relaxed);
        self.count += 1;
    }
}

impl Board {
    #[inline(always)]
    fn job(&self, number: u32) -> &Job {
        &self.jobs[number as usize & (JOBS - 1)]
    }

    /// Jobs posted and not settled.
    #[inline(always)]
    pub fn pending(&self) -> u32 {
        // Acquire pairs with the release in `settle`: what was published can be seen.
        let settled = self.settled.0.0.load(Ordering::Acquire);
        self.posted.0.load(Ordering::Relaxed).wrapping_sub(settled)
    }

    /// Whether another job fits.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.pending() < JOBS as u32
    }

    /// Holder of the seat: whether the counters can be those of a board. If not, somebody has
    /// written over them.
    pub fn is_sound(&self) -> bool {
        // Nobody settles a job before it was claimed, so the order of these loads matters.
        self.pending() <= JOBS as u32 && self.unclaimed(self.passed()) <= JOBS as u32
    }

    /// Jobs that nobody has claimed, more than [`JOBS`] if `passed` is out of date. `passed` is what
    /// [`Board::passed`] returned.
    #[inline(always)]
    pub fn unclaimed(&self, passed: u32) -> u32 {
        self.posted.0.load(Ordering::Relaxed).wrapping_sub(passed)
    }

    /// Number of jobs that somebody has tried to claim so far.
    #[inline(always)]
    pub fn passed(&self) -> u32 {
        self.next.0.load(Ordering::Relaxed)
    }

    /// Whether a job can be claimed. Relaxed loads, for polling.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        self.unclaimed(self.passed()).wrapping_sub(1) < JOBS as u32
    }

    /// Holder of the seat: begins a job. [`Board::post`] follows. The caller has found room for it;
    /// a counter that has lied about that costs a job of this board, and nothing else.
    #[inline(always)]
    pub fn draft(&self) -> JobDraft<'_> {
        JobDraft { job: self.job(self.posted.0.load(Ordering::Relaxed)), count: 0 }
    }

    /// Holder of the seat: posts the job. `notes` are for those who settle it.
    #[inline(always)]
    pub fn post(&self, draft: JobDraft<'_>, notes: [u32; NOTES]) {
        let number = self.posted.0.load(Ordering::Relaxed);
        let job = draft.job;
        for (to, note) in job.notes.iter().zip(notes) {
            to.store(note, Ordering::Relaxed);
        }
        job.count.store(draft.count as u32, Ordering::Relaxed);
        job.state.store(word(number, FREE), Ordering::Relaxed);
        // Release pairs with the acquire in `claim`, `settle` and `take_left`.
        self.posted.0.store(number.wrapping_add(1), Ordering::Release);
    }

    /// Claims the next job for a participant. `id` is neither 0 nor [`DONE`].
    #[inline]
    pub fn claim(&self, id: u32) -> Option<u32> {
        let mut number = self.next.0.load(Ordering::Relaxed);
        // Each turn passes a job or follows one that another participant has passed. The bound is
        // for a board that changes for no reason.
        for _ in 0..4 * JOBS {
            let unclaimed = self.posted.0.load(Ordering::Acquire).wrapping_sub(number);
            if unclaimed.wrapping_sub(1) >= JOBS as u32 {
                return None;
            }
            let after = number.wrapping_add(1);
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.next.0.compare_exchange(number, after, order, failed) {
                Ok(_) if self.own(number, word(number, FREE), id) => return Some(number),
                Ok(_) => number = after,
                Err(seen) => number = seen,
            }
        }
        None
    }

    /// Makes a participant the owner of a job, if that has this state.
    fn own(&self, number: u32, state: u64, id: u32) -> bool {
        let (of, to) = (&self.job(number).state, word(number, id));
        of.compare_exchange(state, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The copies of a job. Each word is read once.
    #[inline(always)]
    pub fn segments(&self, number: u32) -> impl Iterator<Item = Segment> + '_ {
        let job = self.job(number);
        let count = (job.count.load(Ordering::Relaxed) as usize).min(SEGMENTS);
        job.lengths.iter().zip(job.sources.iter().zip(&job.targets)).take(count).map(
            |(length, (source, target))| {
                let length = length.load(Ordering::Relaxed);
                Segment {
                    source: source.load(Ordering::Relaxed),
                    target: target.load(Ordering::Relaxed),
                    length: length & LENGTH_MAX,
                    marked: length & MARK != 0,
                }
            },
        )
    }

    /// The words attached to a job.
    #[inline(always)]
    pub fn notes(&self, number: u32) -> [u32; NOTES] {
        self.job(number).notes.each_ref().map(|note| note.load(Ordering::Relaxed))
    }

    /// Owner of a job: its copies are made. True if [`Board::settle`] has to follow: no job before
    /// this one is unfinished. Otherwise the participant that finishes those settles this one too.
    #[inline(always)]
    #[must_use]
    pub fn finish(&self, number: u32) -> bool {
        // Release pairs with the acquire in `settle`: the copied bytes come before what is
        // published.
        self.job(number).state.store(word(number, DONE), Ordering::Release);
        // Pairs with the fence in `settle`: either this participant sees that its job is the next
        // one, or the one that settles those before it sees the job done.
        fence(Ordering::SeqCst);
        self.settled.0.0.load(Ordering::Relaxed) == number
    }

    /// Owner of a job: it cannot make the copies. The holder of the seat takes the job
    /// ([`Board::take_left`]).
    pub fn decline(&self, number: u32) {
        self.job(number).state.store(word(number, FREE), Ordering::Release);
    }

    /// Publishes finished jobs in order, up to the first unfinished one. Another participant may do
    /// it instead. True if nothing is pending.
    #[inline]
    pub fn settle(
        &self,
        id: u32,
        mut is_dead: impl FnMut(u32) -> bool,
        mut publish: impl FnMut(u32),
    ) -> bool {
        let (settled, lock) = &self.settled.0;
        // The bounds are for a board that changes for no reason.
        for _ in 0..4 * JOBS {
            let holder = lock.holder();
            let locked = match holder {
                0 => lock.try_lock(id),
                _ => is_dead(holder) && lock.take_over(holder, id),
            };
            if !locked {
                return false;
            }
            let mut number = settled.load(Ordering::Relaxed);
            for _ in 0..4 * JOBS {
                if !self.is_done(number) {
                    break;
                }
                publish(number);
                number = number.wrapping_add(1);
                // Release pairs with the acquire in `pending`: the poster may use the job again.
                settled.store(number, Ordering::Release);
            }
            lock.unlock();
            // Pairs with the fence in `finish`.
            fence(Ordering::SeqCst);
            if !self.is_done(number) {
                return number == self.posted.0.load(Ordering::Relaxed);
            }
        }
        false
    }

    /// Whether a job is posted and done.
    #[inline(always)]
    fn is_done(&self, number: u32) -> bool {
        let posted = self.posted.0.load(Ordering::Acquire);
        // Acquire pairs with the release in `finish`.
        posted.wrapping_sub(number).wrapping_sub(1) < JOBS as u32
            && self.job(number).state.load(Ordering::Acquire) == word(number, DONE)
    }

    /// Holder of the seat: takes the oldest unfinished job if its owner declined it or is dead, or
    /// died before it could sign, or if its state is none that a participant writes. The caller has
    /// found nothing to claim.
    pub fn take_left(&self, id: u32, mut is_dead: impl FnMut(u32) -> bool) -> Option<u32> {
        let posted = self.posted.0.load(Ordering::Relaxed);
        let mut number = self.settled.0.0.load(Ordering::Acquire);
        for _ in 0..JOBS {
            if posted.wrapping_sub(number).wrapping_sub(1) >= JOBS as u32 {
                return None;
            }
            let state = self.job(number).state.load(Ordering::Acquire);
            if state != word(number, DONE) {
                let owner = state as u32;
                let left = state != word(number, owner) || owner == FREE || is_dead(owner);
                return (left && self.own(number, state, id)).then_some(number);
            }
            number = number.wrapping_add(1);
        }
        None
    }

    /// Control plane: forgets what is pending. Nobody can make these copies any more.
    pub fn abandon(&self) {
        let posted = self.posted.0.load(Ordering::Acquire);
        self.next.0.store(posted, Ordering::Relaxed);
        // Release pairs with the acquire in `pending`.
        self.settled.0.0.store(posted, Ordering::Release);
    }

    /// Id of the participant that the oldest unfinished job waits for, or 0.
    pub fn awaited(&self) -> u32 {
        let number = self.settled.0.0.load(Ordering::Acquire);
        let owner = self.job(number).state.load(Ordering::Relaxed) as u32;
        if self.pending() == 0 || owner == DONE { 0 } else { owner }
    }
}
