//! Models of the ring protocols: loom runs them in every order of events, and with every value
//! that weak memory allows a load to return, up to a few preemptions.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
//!     cargo test -p spfe-ring --release --test loom
//! ```
//!
//! What both sides use in turn is in [`Bytes`], where loom fails a model whose accesses are not
//! ordered. A lost wake-up leaves a thread spinning, which loom reports as too many branches.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::thread;
use spfe_ring::board::{RoundPlan, Segment};
use spfe_ring::ring::{RingEntry, Spot};
use spfe_ring::sync::{AtomicU32, Ordering, full_fence};
use spfe_ring::{
    Arm, Board, Consumer, DeviceLine, EntryBatch, HostLine, PackedReader, PackedWriter, Producer,
    Ring, RingCredit, Seat, Slot,
};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The smallest ring: 4 entries.
const LOG2: u32 = 2;
const SIZE: u32 = 1 << LOG2;

/// Runs a model, with at most three preemptions unless the environment says otherwise.
fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(model);
}

/// Runs a model that says which ways a run took; each has to be taken by some run.
fn check_ways<const WAYS: usize>(model: impl Fn() -> [bool; WAYS] + Sync + Send + 'static) {
    // Of the standard library, so that loom does not see them.
    let taken: Arc<[AtomicBool; WAYS]> = Arc::new([const { AtomicBool::new(false) }; WAYS]);
    let ways = taken.clone();
    check(move || {
        for (way, took) in ways.iter().zip(model()) {
            way.fetch_or(took, Ordering::SeqCst);
        }
    });
    let taken = taken.each_ref().map(|way| way.load(Ordering::SeqCst));
    assert_eq!(taken, [true; WAYS], "some way was never taken");
}

/// Memory of a ring; the owner joins every thread that uses a view before it drops it.
struct Memory(Box<[Slot]>);

impl Memory {
    fn new(log2: u32) -> Self {
        Self((0..1 << log2).map(|_| Slot::new()).collect())
    }

    fn ring(&self) -> Ring {
        // SAFETY: the slice has a power of two of slots, which outlive the threads of the model.
        unsafe { Ring::new(NonNull::from(&*self.0).cast(), self.0.len().trailing_zeros()) }
    }
}

/// Payload that both sides use in turn.
struct Bytes(Box<[UnsafeCell<u32>]>);

// SAFETY: loom fails the model at the first pair of accesses that are not ordered.
unsafe impl Sync for Bytes {}

impl Bytes {
    fn new(count: u32) -> Arc<Self> {
        Arc::new(Self((0..count).map(|_| UnsafeCell::new(0)).collect()))
    }

    fn put(&self, at: u32, value: u32) {
        // SAFETY: loom has just checked that every other access is before or after this one.
        self.0[at as usize].with_mut(|cell| unsafe { *cell = value });
    }

    fn get(&self, at: u32) -> u32 {
        // SAFETY: as in `put`.
        self.0[at as usize].with(|cell| unsafe { *cell })
    }
}

/// An entry that says its number in both words.
fn entry(number: u32) -> RingEntry {
    [0xa000_0000 | u64::from(number), u64::from(number)]
}

/// The number of an entry whose words belong together.
fn number(entry: RingEntry) -> u32 {
    let number = entry[1] as u32;
    assert_eq!(entry[0], 0xa000_0000 | u64::from(number), "the words of two laps mixed");
    number
}

fn pop_waiting(consumer: &mut Consumer) -> RingEntry {
    loop {
        if let Some(entry) = consumer.pop() {
            return entry;
        }
        thread::yield_now();
    }
}

// ---------------------------------------------------------------- submissions and completions

/// The device of the ring models: takes `entries` submissions, answers in their buffers, completes
/// every `every`th.
fn echo(submissions: Ring, completions: Ring, buffers: &Bytes, entries: u32, every: u32) {
    let (mut taken, mut done) = (Consumer::new(submissions), Producer::new(completions));
    for expected in 0..entries {
        assert_eq!(number(pop_waiting(&mut taken)), expected);
        let at = expected % SIZE;
        assert_eq!(buffers.get(at), 100 + expected);
        buffers.put(at, 200 + expected);
        if (expected + 1) % every == 0 {
            done.push(entry(expected));
        }
    }
}

/// The host: posts whatever the credit allows, frees what completions name.
fn post(submissions: Ring, completions: Ring, buffers: &Bytes, entries: u32) {
    let (mut posted, mut done) = (Producer::new(submissions), Consumer::new(completions));
    let mut credit = RingCredit::default();
    while credit.freed < entries {
        while posted.position < entries && credit.free(SIZE, posted.position) > 0 {
            let position = posted.position;
            buffers.put(position % SIZE, 100 + position);
            posted.push(entry(position));
        }
        let position = number(pop_waiting(&mut done)) as u16;
        let freed = credit.free_to(position, posted.position).expect("an outstanding position");
        assert_eq!(freed.end, u32::from(position) + 1);
        for position in freed {
            assert_eq!(buffers.get(position % SIZE), 200 + position);
        }
    }
    assert!(done.pop().is_none());
}

fn ring_pair(entries: u32, every: u32) {
    check(move || {
        let memory = [Memory::new(LOG2), Memory::new(LOG2)];
        let (submissions, completions) = (memory[0].ring(), memory[1].ring());
        let buffers = Bytes::new(SIZE);
        let device = thread::spawn({
            let buffers = buffers.clone();
            move || echo(submissions, completions, &buffers, entries, every)
        });
        post(submissions, completions, &buffers, entries);
        device.join().unwrap();
    });
}

#[test]
fn rings_keep_order_and_overwrite_nothing_over_laps() {
    ring_pair(6, 1);
}

#[test]
fn one_completion_frees_several_submissions() {
    ring_pair(8, 2);
}

/// Slots that keep their first word go round: completed, used, posted for the next lap.
#[test]
fn slots_are_posted_again_for_the_next_lap() {
    const PACKETS: u32 = 6;
    check(|| {
        let memory = [Memory::new(LOG2), Memory::new(LOG2)];
        let (submissions, completions) = (memory[0].ring(), memory[1].ring());
        let buffers = Bytes::new(SIZE);
        for index in 0..SIZE {
            submissions.prepare(index, entry(index)[0]);
            Spot::new(&submissions, index).publish(&submissions, u64::from(index));
        }
        let device = thread::spawn({
            let buffers = buffers.clone();
            move || {
                let mut spot = Spot::new(&submissions, 0);
                for packet in 0..PACKETS {
                    let posted = loop {
                        match spot.read(&submissions) {
                            Some(entry) => break number(entry),
                            None => thread::yield_now(),
                        }
                    };
                    assert_eq!(posted, packet % SIZE);
                    buffers.put(posted, packet);
                    spot.write(&completions, entry(packet));
                    spot.advance(&submissions);
                }
            }
        });
        let mut spot = Spot::new(&completions, 0);
        for packet in 0..PACKETS {
            let done = loop {
                match spot.read(&completions) {
                    Some(entry) => break number(entry),
                    None => thread::yield_now(),
                }
            };
            assert_eq!(done, packet);
            assert_eq!(buffers.get(spot.index()), packet);
            spot.publish_next_lap(&submissions, u64::from(spot.index()));
            spot.advance(&completions);
        }
        device.join().unwrap();
    });
}

// ------------------------------------------------------------------------------------- batches

/// Publishes `counts` batches behind each other; whoever sees the first entry sees the batch.
fn batches(log2: u32, start: u32, counts: &'static [u32]) {
    // Some run has to see a batch while its producer goes on.
    check_ways(move || {
        let memory = Memory::new(log2);
        let ring = memory.ring();
        for back in 1..=ring.size() {
            ring.write(start.wrapping_sub(back), entry(9000 + back));
        }
        let host = thread::spawn(move || {
            let mut producer = Producer { ring, position: start };
            for &count in counts {
                let mut batch = EntryBatch::new(&producer, count);
                let first = producer.position;
                while batch.space() > 0 {
                    assert!(batch.push(&producer, entry(first.wrapping_add(batch.len()))));
                }
                assert_eq!(batch.publish(&mut producer), count);
            }
        });
        let mut consumer = Consumer { ring, position: start };
        let mut take = |count: u32| {
            let first = consumer.position;
            let Some(head) = consumer.pop() else {
                return false;
            };
            assert_eq!(number(head), first);
            for index in 1..count {
                let next = consumer.pop().expect("all entries of the batch");
                assert_eq!(number(next), first + index);
            }
            true
        };
        let early = counts.iter().take_while(|&&count| take(count)).count();
        host.join().unwrap();
        assert!(counts[early..].iter().all(|&count| take(count)));
        assert!(consumer.pop().is_none());
        [early > 0]
    });
}

#[test]
fn first_entry_publishes_a_batch_across_cache_lines() {
    // Two held entries, a whole line and a part of one behind them.
    batches(3, 10, &[7]);
}

#[test]
fn first_entry_publishes_a_batch_across_the_end_of_the_ring() {
    // Held: positions 6 and 7. In the ring at once: 8 and 9, in the slots in front of them.
    batches(2, 6, &[4]);
}

#[test]
fn batches_follow_each_other() {
    batches(3, 11, &[2, 5, 1]);
}

#[test]
fn cancelled_batch_is_never_seen() {
    check(|| {
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let host = thread::spawn(move || {
            let mut producer = Producer { ring, position: 2 };
            let mut batch = EntryBatch::new(&producer, SIZE);
            while batch.push(&producer, entry(9000)) {}
            batch.cancel(&producer);
            for number in 2..5 {
                producer.push(entry(number));
            }
        });
        let mut consumer = Consumer { ring, position: 2 };
        for expected in 2..5 {
            assert_eq!(number(pop_waiting(&mut consumer)), expected);
        }
        assert!(consumer.pop().is_none());
        host.join().unwrap();
    });
}

// ------------------------------------------------------------------------------------ wake-ups

#[derive(Default)]
struct Lines {
    host: HostLine,
    device: DeviceLine,
}

/// The device of the wake-up models: completes, and wakes the host if it waits for that.
fn complete(lines: &Lines, completions: Ring, bytes: &[u32]) {
    let mut producer = Producer::new(completions);
    let (mut total, mut answered) = (0, 0);
    for &bytes in bytes {
        producer.push(entry(bytes));
        total += u64::from(bytes);
        if let Some(sequence) = lines.host.armed()
            && sequence != answered
            && lines.host.wishes().is_met(producer.position, total)
        {
            answered = sequence;
            lines.device.bump();
        }
    }
}

/// What the host of the wake-up models has seen of its completions.
struct Waiter {
    lines: Arc<Lines>,
    completions: Consumer,
    bytes: u64,
    sequence: u32,
}

impl Waiter {
    fn new(lines: &Arc<Lines>, ring: Ring) -> Self {
        Self { lines: lines.clone(), completions: Consumer::new(ring), bytes: 0, sequence: 0 }
    }

    fn look(&mut self, arm: &Arm) -> bool {
        while let Some(entry) = self.completions.pop() {
            self.bytes += u64::from(number(entry));
        }
        arm.is_met(self.completions.position, self.bytes)
    }

    /// Arms and looks again; `Some` is the value of the futex word to sleep on.
    fn arm(&mut self, arm: &Arm) -> Option<u32> {
        let seen = self.lines.device.wake_seq.load(Ordering::Acquire);
        self.sequence = self.sequence.wrapping_add(2) | 1;
        self.lines.host.arm(self.sequence, arm, full_fence);
        (!self.look(arm)).then_some(seen)
    }

    /// Waits as a host does that never spins.
    fn wait(&mut self, arm: &Arm) {
        while !self.look(arm) {
            if let Some(seen) = self.arm(arm) {
                while self.lines.device.wake_seq.load(Ordering::Acquire) == seen {
                    thread::yield_now();
                }
            }
            self.lines.host.disarm();
        }
    }
}

/// Whoever would sleep after arming and looking again has been woken when the device is through.
fn armed_once(arm: Arm, bytes: &'static [u32]) {
    check_ways(move || {
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let lines = Arc::new(Lines::default());
        let device = thread::spawn({
            let lines = lines.clone();
            move || complete(&lines, ring, bytes)
        });
        let mut host = Waiter::new(&lines, ring);
        let sleeps = host.arm(&arm);
        device.join().unwrap();
        if let Some(seen) = sleeps {
            let now = lines.device.wake_seq.load(Ordering::Acquire);
            assert_ne!(now, seen, "the host sleeps for ever");
            assert!(host.look(&arm), "woken for nothing");
        }
        [sleeps.is_some(), sleeps.is_none()]
    });
}

#[test]
fn no_wake_up_is_lost_by_count() {
    armed_once(Arm { count: Some(1), ..Arm::default() }, &[10]);
    armed_once(Arm { count: Some(2), ..Arm::default() }, &[10, 10, 10]);
}

#[test]
fn no_wake_up_is_lost_by_bytes() {
    armed_once(Arm { bytes: Some(25), ..Arm::default() }, &[10, 20]);
    armed_once(Arm { bytes: Some(10), count: Some(4), ..Arm::default() }, &[10, 20]);
}

#[test]
fn arming_again_loses_no_wake_up() {
    check(|| {
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let lines = Arc::new(Lines::default());
        let device = thread::spawn({
            let lines = lines.clone();
            move || complete(&lines, ring, &[10, 20])
        });
        let mut host = Waiter::new(&lines, ring);
        host.wait(&Arm { count: Some(1), ..Arm::default() });
        host.wait(&Arm { bytes: Some(30), ..Arm::default() });
        device.join().unwrap();
        assert_eq!(host.completions.position, 2);
    });
}

#[test]
fn who_sees_an_arming_sees_its_wishes() {
    check(|| {
        let line = Arc::new(HostLine::default());
        let host = thread::spawn({
            let line = line.clone();
            move || {
                for sequence in [1, 3] {
                    let position = 10 * sequence;
                    let count = Some(position);
                    let arm = Arm { count, first_position: position, ..Arm::default() };
                    line.arm(sequence, &arm, full_fence);
                }
            }
        });
        if let Some(sequence) = line.armed() {
            let wishes = line.wishes();
            // Not older; a later arming may be on its way.
            assert!(wishes.count.expect("a count") >= 10 * sequence);
            assert!(wishes.first_position >= 10 * sequence);
        }
        host.join().unwrap();
    });
}

// ----------------------------------------------------------------------------------- doorbells

/// The device of the doorbell models: takes entries, sleeps on the doorbell word in between.
fn serve(line: &DeviceLine, doorbell: &AtomicU32, submissions: Ring, entries: u32) {
    let mut consumer = Consumer::new(submissions);
    while consumer.position < entries {
        if let Some(entry) = consumer.peek() {
            assert_eq!(number(entry), consumer.position);
            consumer.advance(1);
            continue;
        }
        let seen = doorbell.load(Ordering::Acquire);
        line.set_need_doorbell(true);
        full_fence();
        if consumer.peek().is_none() {
            while doorbell.load(Ordering::Acquire) == seen {
                thread::yield_now();
            }
        }
        line.set_need_doorbell(false);
    }
}

#[test]
fn device_and_host_never_both_miss() {
    check_ways(|| {
        const ENTRIES: u32 = 2;
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let shared = Arc::new((DeviceLine::default(), AtomicU32::new(0)));
        let device = thread::spawn({
            let shared = shared.clone();
            move || serve(&shared.0, &shared.1, ring, ENTRIES)
        });
        let mut producer = Producer::new(ring);
        let mut rung = 0;
        for number in 0..ENTRIES {
            producer.push(entry(number));
            if shared.0.needs_doorbell() {
                shared.1.fetch_add(1, Ordering::Release);
                rung += 1;
            }
        }
        device.join().unwrap();
        [rung == 0, rung == ENTRIES]
    });
}

// ---------------------------------------------------------------------------------------- seat

/// A seat and what it guards: loom fails the model if two use it at once.
struct Guarded {
    seat: Seat,
    state: Arc<Bytes>,
}

const OWNER: u32 = 1;

impl Guarded {
    fn new() -> Arc<Self> {
        Arc::new(Self { seat: Seat::default(), state: Bytes::new(1) })
    }

    fn work(&self) {
        self.state.put(0, self.state.get(0) + 1);
    }

    /// The owner's turn; whether it got in.
    fn own(&self) -> bool {
        let inside = self.seat.enter(OWNER);
        if inside {
            self.work();
            self.seat.leave();
        }
        inside
    }

    /// A claimer's turn; whether it got the seat.
    fn visit(&self, id: u32, spins: u32) -> bool {
        let inside = self.seat.claim(id, full_fence, spins);
        if inside {
            self.work();
            self.seat.release();
        }
        inside
    }
}

/// The owner takes `turns` turns beside claimers with these patiences.
fn seat(turns: u32, claimers: &'static [u32]) {
    check_ways(move || {
        let guarded = Guarded::new();
        let threads: Vec<_> = (2..)
            .zip(claimers)
            .map(|(id, &spins)| {
                let guarded = guarded.clone();
                thread::spawn(move || guarded.visit(id, spins))
            })
            .collect();
        let owned = (0..turns).filter(|_| guarded.own()).count();
        let visits: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let visits = visits.into_iter().filter(|&inside| inside).count();
        assert_eq!(guarded.state.get(0) as usize, owned + visits);
        assert_eq!((guarded.seat.busy(), guarded.seat.claimed()), (0, 0));
        assert!(guarded.own() && guarded.visit(2, 1), "the seat is not free");
        let (refused, gave_up) = (owned < turns as usize, visits < claimers.len());
        [refused, gave_up, !refused && !gave_up]
    });
}

#[test]
fn owner_and_claimer_exclude_each_other() {
    seat(2, &[2]);
}

#[test]
fn owner_and_two_claimers_exclude_each_other() {
    seat(1, &[1, 2]);
}

#[test]
fn seat_of_a_dead_owner_is_broken_and_claimed() {
    check_ways(|| {
        let guarded = Guarded::new();
        let visitor = thread::spawn({
            let guarded = guarded.clone();
            move || guarded.visit(2, 2)
        });
        let owner = thread::spawn({
            let guarded = guarded.clone();
            move || {
                let inside = guarded.seat.enter(OWNER);
                if inside {
                    guarded.work();
                }
                inside
            }
        });
        // Its end is how the control plane knows.
        let died_inside = owner.join().unwrap();
        assert!(!guarded.seat.break_dead(9), "somebody else's seat was broken");
        assert_eq!(guarded.seat.break_dead(OWNER), died_inside);
        while !guarded.visit(3, 1) {
            thread::yield_now();
        }
        let visited = visitor.join().unwrap();
        assert_eq!(guarded.state.get(0), u32::from(died_inside) + u32::from(visited) + 1);
        assert_eq!((guarded.seat.busy(), guarded.seat.claimed()), (0, 0));
        [died_inside, visited]
    });
}

#[test]
fn seat_of_a_dead_claimer_is_broken_and_entered() {
    check_ways(|| {
        let guarded = Guarded::new();
        let claimer = thread::spawn({
            let guarded = guarded.clone();
            move || {
                let inside = guarded.seat.claim(2, full_fence, 1);
                if inside {
                    guarded.work();
                }
                inside
            }
        });
        let owner = thread::spawn({
            let guarded = guarded.clone();
            move || (guarded.own(), guarded.own())
        });
        let died_inside = claimer.join().unwrap();
        assert_eq!(guarded.seat.break_dead(2), died_inside);
        let (first, second) = owner.join().unwrap();
        let turns = [died_inside, first, second].into_iter().filter(|&turn| turn).count();
        assert_eq!(guarded.state.get(0) as usize, turns);
        assert!(guarded.own(), "the seat is not free");
        [died_inside, first, second, first && second]
    });
}

// --------------------------------------------------------------------------------------- board

const HOLDER: u32 = 1;
const HELPER: u32 = 2;
/// Bytes of a copy in the models.
const COPY: u32 = 64;

/// A board and the memory its copies go to; the source of a copy is the value itself.
struct Shop {
    board: Board,
    targets: Arc<Bytes>,
    /// A helper that has died, or 0.
    dead: AtomicU32,
    /// Copies made, by target (not seen by loom).
    copies: [AtomicUsize; 3],
}

impl Shop {
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

    /// Plans copies of `values` to the first targets, `per_job` to a job, and opens the round.
    fn open(&self, values: &[u32], per_job: u32) -> u32 {
        let mut plan = RoundPlan::default();
        for (target, &value) in (0..).zip(values) {
            assert!(plan.has_room());
            let segment = Segment { source: value.into(), target, length: COPY };
            self.board.add(&mut plan, segment, per_job * COPY);
        }
        self.board.open(&mut plan)
    }

    /// Takes one job and does it; false if there was none.
    fn take(&self, id: u32) -> bool {
        let Some(taken) = self.board.take(id) else {
            return false;
        };
        self.board.segments(taken).for_each(|segment| self.copy(segment));
        self.board.finish(taken, true);
        true
    }

    /// The holder's part of an open round; the number of copies repeated.
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

    /// The holder sees every copy and may use the bytes as it likes.
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

/// Jobs the helper got of the two it looked for: each number has to occur.
fn ways(helped: usize) -> [bool; 3] {
    [helped == 0, helped == 1, helped == 2]
}

#[test]
fn every_job_is_done_once_and_seen() {
    check_ways(|| {
        let shop = Shop::new();
        let helper = thread::spawn({
            let shop = shop.clone();
            move || (0..2).filter(|_| shop.take(HELPER)).count()
        });
        let values = [11, 12, 13];
        let jobs = shop.open(&values, 2);
        assert_eq!(jobs, 2);
        while shop.take(HOLDER) {}
        assert_eq!(shop.settle(jobs), 0);
        shop.use_up(&values);
        assert_eq!(shop.copies(), [1; 3]);
        ways(helper.join().unwrap())
    });
}

#[test]
fn late_helper_takes_nothing_from_a_finished_round() {
    check_ways(|| {
        let shop = Shop::new();
        let helper = thread::spawn({
            let shop = shop.clone();
            move || (0..2).filter(|_| shop.take(HELPER)).count()
        });
        for values in [&[11, 12][..], &[21]] {
            let jobs = shop.open(values, 1);
            while shop.take(HOLDER) {}
            assert_eq!(shop.settle(jobs), 0);
            shop.use_up(values);
            assert!(!shop.board.has_work());
        }
        let helped = helper.join().unwrap();
        assert_eq!(shop.copies(), [2, 1, 0]);
        assert_eq!(shop.targets.get(0), 0, "copied after the round was over");
        assert_eq!(shop.targets.get(1), 0, "copied after the round was over");
        ways(helped)
    });
}

#[test]
fn declined_job_is_repeated_by_the_holder() {
    check_ways(|| {
        let shop = Shop::new();
        let helper = thread::spawn({
            let shop = shop.clone();
            move || {
                let taken = shop.board.take(HELPER);
                if let Some(taken) = taken {
                    shop.board.finish(taken, false);
                }
                taken.is_some()
            }
        });
        let values = [11, 12];
        let jobs = shop.open(&values, 1);
        while shop.take(HOLDER) {}
        let repeated = shop.settle(jobs);
        shop.use_up(&values);
        assert_eq!(helper.join().unwrap(), repeated == 1);
        assert_eq!(shop.copies(), [1, 1, 0]);
        [repeated == 0, repeated == 1]
    });
}

#[test]
fn job_of_a_dead_helper_is_repeated_by_the_holder() {
    check_ways(|| {
        let shop = Shop::new();
        let helper = thread::spawn({
            let shop = shop.clone();
            move || {
                let taken = shop.board.take(HELPER);
                let half_done = taken.and_then(|taken| shop.board.segments(taken).next());
                half_done.into_iter().for_each(|segment| shop.copy(segment));
                // The control plane's word that it is dead, after its last act.
                shop.dead.store(HELPER, Ordering::Release);
                taken.is_some()
            }
        });
        let values = [11, 12];
        let jobs = shop.open(&values, 2);
        while shop.take(HOLDER) {}
        let repeated = shop.settle(jobs);
        shop.use_up(&values);
        let had_job = helper.join().unwrap();
        assert_eq!(repeated, if had_job { 2 } else { 0 });
        assert_eq!(shop.copies(), [1 + usize::from(had_job), 1, 0]);
        [!had_job, had_job]
    });
}

#[test]
fn dead_helper_is_not_blamed_for_a_later_round() {
    check(|| {
        const DEAD: u32 = 3;
        let shop = Shop::new();
        let jobs = shop.open(&[11], 1);
        assert!(shop.take(DEAD));
        assert_eq!(shop.settle(jobs), 0);
        shop.dead.store(DEAD, Ordering::Release);
        let helper = thread::spawn({
            let shop = shop.clone();
            move || shop.take(HELPER)
        });
        let jobs = shop.open(&[21], 1);
        while shop.take(HOLDER) {}
        assert_eq!(shop.settle(jobs), 0);
        shop.use_up(&[21]);
        helper.join().unwrap();
    });
}

#[test]
fn round_of_a_dead_holder_ends_before_the_next_begins() {
    check_ways(|| {
        let shop = Shop::new();
        let helper = thread::spawn({
            let shop = shop.clone();
            move || (0..2).filter(|_| shop.take(HELPER)).count()
        });
        let holder = thread::spawn({
            let shop = shop.clone();
            move || {
                shop.open(&[11, 12], 1);
                shop.board.take(HOLDER).is_some()
            }
        });
        let had_job = holder.join().unwrap();
        // What the dead holder took, nobody does.
        shop.board.end_round(|id| had_job && id == HOLDER, || {});
        assert!(shop.board.take(HOLDER).is_none());
        for target in 0..2 {
            shop.targets.put(target, 0);
        }
        let values = [21, 22];
        let jobs = shop.open(&values, 1);
        while shop.take(HOLDER) {}
        assert_eq!(shop.settle(jobs), 0);
        shop.use_up(&values);
        ways(helper.join().unwrap())
    });
}

// ------------------------------------------------------------------------------ packed receive

/// Payload bytes of a record in the model; four of them fill the area.
const RECORD: u32 = 8;
const AREA: u32 = 64;

/// The device of the packed model: one record a run, completions only while there is credit.
fn pack(submissions: Ring, completions: Ring, area: &Bytes, packets: u32) {
    let (mut released, mut done) = (Consumer::new(submissions), Producer::new(completions));
    let (mut writer, mut credits) = (PackedWriter::new(AREA), SIZE);
    for packet in 0..packets {
        let place = loop {
            // As a real device does, which may have to end one run and begin another.
            let place = if credits >= 2 { writer.reserve(RECORD) } else { None };
            if let Some(place) = place {
                break place;
            }
            while let Some(entry) = released.pop() {
                credits += number(entry) >> 16;
                assert!(credits <= SIZE, "more completions given back than there are");
                assert!(writer.release(number(entry) & 0xffff), "more bytes given back");
            }
            thread::yield_now();
        };
        area.put(place.offset / 8, RECORD);
        area.put(place.offset / 8 + 1, packet);
        credits -= 1;
        done.push(entry(u32::from(place.wrapped)));
    }
}

/// The host takes every run and gives them back `lump` at a time, without counting its entries.
fn unpack(submissions: Ring, completions: Ring, area: &Bytes, packets: u32, lump: usize) {
    let (mut released, mut done) = (Producer::new(submissions), Consumer::new(completions));
    let mut reader = PackedReader::new(AREA);
    let mut owed = VecDeque::new();
    for packet in 0..packets {
        let wrapped = number(pop_waiting(&mut done)) != 0;
        let run = reader.run(8 + RECORD, wrapped).expect("a run in the area");
        assert_eq!(area.get(run.offset / 8), RECORD);
        assert_eq!(area.get(run.offset / 8 + 1), packet);
        owed.push_back(run.owed);
        if owed.len() == lump {
            let bytes: u32 = owed.drain(..).sum();
            released.push(entry((lump as u32) << 16 | bytes));
        }
    }
}

fn packed(packets: u32, lump: usize) {
    check(move || {
        let memory = [Memory::new(LOG2), Memory::new(LOG2)];
        let (submissions, completions) = (memory[0].ring(), memory[1].ring());
        let area = Bytes::new(AREA / 8);
        let device = thread::spawn({
            let area = area.clone();
            move || pack(submissions, completions, &area, packets)
        });
        unpack(submissions, completions, &area, packets, lump);
        device.join().unwrap();
    });
}

#[test]
fn releases_and_completions_never_overflow() {
    packed(6, 1);
}

#[test]
fn one_release_gives_back_several_runs() {
    packed(8, 3);
}
