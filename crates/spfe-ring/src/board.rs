//! The board: copies that both ends of a flow share.
//!
//! The holder of the flow's seat plans a *round* of up to [`SEGMENTS`] copies in up to [`JOBS`]
//! jobs, and opens it. Then the holder and any helper take jobs. The holder publishes a packet to a
//! ring only after the jobs it depends on are done, so no host sees an unfinished copy. Copies are
//! idempotent: if a helper dies, the holder repeats its jobs.
//!
//! The ticket word is {round 32, jobs 16, next 16}. A job is taken with one compare-and-swap on it,
//! so a late helper cannot take a job of a round that has ended.

use crate::sync::{AtomicU32, AtomicU64, Ordering, relax};

/// Maximum number of copies in a round. Few in a loom model, where each atomic takes time.
pub const SEGMENTS: usize = if cfg!(loom) { 4 } else { 256 };
/// Maximum number of jobs in a round.
pub const JOBS: usize = if cfg!(loom) { 4 } else { 64 };

/// One copy, with addresses that any process can translate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Source address {region 16, offset 48}, in the regions of the sender.
    pub source: u64,
    /// Destination address {region 16, offset 48}, in the regions of the receiver.
    pub target: u64,
    /// Number of bytes.
    pub length: u32,
}

#[repr(C)]
#[derive(Default)]
struct SharedSegment {
    source: AtomicU64,
    target: AtomicU64,
    length: AtomicU32,
    pad: AtomicU32,
}

#[repr(C)]
#[derive(Default)]
struct Job {
    first: AtomicU32,
    count: AtomicU32,
    /// Id of the participant that took the job. 0 until it has signed.
    worker: AtomicU32,
    /// Round in which the job was done. With [`DECLINED`] its worker could not do it.
    done: AtomicU32,
}

const DECLINED: u32 = 1 << 31;
const ROUND_MASK: u32 = DECLINED - 1;

/// The board, in shared memory. All zero is a board without jobs.
#[repr(C, align(64))]
pub struct Board {
    ticket: AtomicU64,
    pad: [AtomicU64; 7],
    jobs: [Job; JOBS],
    segments: [SharedSegment; SEGMENTS],
}

impl Default for Board {
    fn default() -> Self {
        Self {
            ticket: AtomicU64::default(),
            pad: Default::default(),
            jobs: core::array::from_fn(|_| Job::default()),
            segments: core::array::from_fn(|_| SharedSegment::default()),
        }
    }
}

/// A job that the caller has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenJob {
    round: u32,
    index: u32,
}

/// A round being planned by the holder of the seat.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundPlan {
    segments: u32,
    jobs: u32,
    job_first: u32,
    job_bytes: u32,
}

impl RoundPlan {
    /// Whether another copy fits.
    #[inline(always)]
    pub const fn has_room(&self) -> bool {
        (self.segments as usize) < SEGMENTS && (self.jobs as usize) < JOBS - 1
    }

    /// Whether the plan has no copies.
    pub const fn is_empty(&self) -> bool {
        self.segments == 0
    }

    /// Index of the job of the last planned copy.
    #[inline(always)]
    pub const fn last_job(&self) -> u32 {
        if self.segments == self.job_first && self.jobs > 0 { self.jobs - 1 } else { self.jobs }
    }
}

impl Board {
    /// Adds a copy to the plan. A job is closed when it has `job_bytes` bytes.
    #[inline(always)]
    pub fn add(&self, plan: &mut RoundPlan, segment: Segment, job_bytes: u32) {
        let index = plan.segments as usize;
        debug_assert!(plan.has_room());
        let shared = &self.segments[index & (SEGMENTS - 1)];
        shared.source.store(segment.source, Ordering::Relaxed);
        shared.target.store(segment.target, Ordering::Relaxed);
        shared.length.store(segment.length, Ordering::Relaxed);
        plan.segments += 1;
        plan.job_bytes += segment.length;
        if plan.job_bytes >= job_bytes {
            self.close_job(plan);
        }
    }

    fn close_job(&self, plan: &mut RoundPlan) {
        let job = &self.jobs[plan.jobs as usize & (JOBS - 1)];
        job.first.store(plan.job_first, Ordering::Relaxed);
        job.count.store(plan.segments - plan.job_first, Ordering::Relaxed);
        job.worker.store(0, Ordering::Relaxed);
        // The current round number marks the job as not done in the next round, whatever was stored
        // here 2^31 rounds ago.
        job.done.store(self.round(), Ordering::Relaxed);
        plan.jobs += 1;
        plan.job_first = plan.segments;
        plan.job_bytes = 0;
    }

    /// Opens the planned round. Returns its number of jobs.
    pub fn open(&self, plan: &mut RoundPlan) -> u32 {
        if plan.job_first < plan.segments {
            self.close_job(plan);
        }
        let round = self.round().wrapping_add(1) & ROUND_MASK;
        // Release pairs with the acquire in `take`: a helper that takes a job sees its segments.
        let ticket = u64::from(round) << 32 | u64::from(plan.jobs) << 16;
        self.ticket.store(ticket, Ordering::Release);
        plan.jobs
    }

    fn round(&self) -> u32 {
        (self.ticket.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Whether a job can be taken. A relaxed load, for polling.
    #[inline(always)]
    pub fn has_work(&self) -> bool {
        let ticket = self.ticket.load(Ordering::Relaxed);
        (ticket & 0xffff) < (ticket >> 16 & 0xffff)
    }

    /// Takes a job of the open round. `id` is the participant, not 0.
    pub fn take(&self, id: u32) -> Option<TakenJob> {
        let mut ticket = self.ticket.load(Ordering::Acquire);
        loop {
            let (jobs, next) = (ticket >> 16 & 0xffff, ticket & 0xffff);
            if next >= jobs.min(JOBS as u64) {
                return None;
            }
            match self.ticket.compare_exchange_weak(
                ticket,
                ticket + 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => {
                    let taken = TakenJob { round: (ticket >> 32) as u32, index: next as u32 };
                    self.jobs[next as usize].worker.store(id, Ordering::Relaxed);
                    return Some(taken);
                }
                Err(seen) => ticket = seen,
            }
        }
    }

    /// The copies of a job. Each word is read once, and their number is limited to the board.
    pub fn segments(&self, taken: TakenJob) -> impl Iterator<Item = Segment> + '_ {
        self.job_segments(taken.index)
    }

    fn job_segments(&self, index: u32) -> impl Iterator<Item = Segment> + '_ {
        let job = &self.jobs[index as usize & (JOBS - 1)];
        let first = job.first.load(Ordering::Relaxed) as usize & (SEGMENTS - 1);
        let count = (job.count.load(Ordering::Relaxed) as usize).min(SEGMENTS);
        (first..first + count).map(|at| {
            let shared = &self.segments[at & (SEGMENTS - 1)];
            Segment {
                source: shared.source.load(Ordering::Relaxed),
                target: shared.target.load(Ordering::Relaxed),
                length: shared.length.load(Ordering::Relaxed),
            }
        })
    }

    /// Reports a job as done, or as declined so that the holder does it. The release store pairs
    /// with the acquire load in [`Board::settle`]: the holder sees the copied bytes.
    pub fn finish(&self, taken: TakenJob, done: bool) {
        let mark = taken.round | if done { 0 } else { DECLINED };
        self.jobs[taken.index as usize & (JOBS - 1)].done.store(mark, Ordering::Release);
    }

    /// Holder: waits until a job of the current round is done. If the job was declined, or its
    /// worker
    /// `is_dead`, it calls `again` with each of its copies instead. It calls `idle` in each turn.
    pub fn settle(
        &self,
        index: u32,
        mut is_dead: impl FnMut(u32) -> bool,
        mut again: impl FnMut(Segment),
        mut idle: impl FnMut(),
    ) {
        let round = self.round();
        let job = &self.jobs[index as usize & (JOBS - 1)];
        loop {
            // Acquire pairs with the release in `finish`.
            let done = job.done.load(Ordering::Acquire);
            if done == round {
                return;
            }
            if done == round | DECLINED || is_dead(job.worker.load(Ordering::Relaxed)) {
                self.job_segments(index).for_each(&mut again);
                return;
            }
            relax();
            idle();
        }
    }

    /// Ends the round of a holder that died. The participant that has taken over the seat calls it
    /// before it plans a round. It waits until every taken job is done or its worker `is_dead`.
    /// Otherwise a late helper could read a job of the next round while that is being planned.
    pub fn end_round(&self, mut is_dead: impl FnMut(u32) -> bool, mut idle: impl FnMut()) {
        // The round number stays, so that the marks of its workers match. Acquire pairs with the
        // release in `open`: the jobs are those of that round.
        let ticket = self.ticket.fetch_and(!0xffff_ffff, Ordering::AcqRel);
        for index in 0..(ticket & 0xffff).min(JOBS as u64) as u32 {
            self.settle(index, &mut is_dead, |_| {}, &mut idle);
        }
    }
}
