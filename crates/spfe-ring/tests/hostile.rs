//! Any bits in shared memory, which may change at any time: readers do not panic, do not loop for
//! ever and do not access memory outside of the ring, the board or the area.
#![cfg(not(loom))]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use spfe_ring::board::{JOBS, RoundPlan, SEGMENTS, Segment};
use spfe_ring::packed::record_bytes;
use spfe_ring::sync::{AtomicU32, AtomicU64, Ordering};
use spfe_ring::{
    AtomicDeviceLine, AtomicHostLine, Board, Consumer, PackedReader, PackedWriter, Producer, Ring,
    RingCredit, Seat, Slot,
};
use std::hash::{BuildHasher, RandomState};
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;

/// Each test prints its seed. PROPTEST_RNG_SEED repeats a run.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().hash_one(0),
    };
    println!("PROPTEST_RNG_SEED={seed}");
    config.rng_seed = RngSeed::Fixed(seed);
    config
}

/// Random bits, and values close to the limits.
fn bits32() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0..4u32,
        Just(u32::MAX),
        Just(1 << 31),
        (0..512u32).prop_map(|back| u32::MAX - back),
    ]
}

fn bits64() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..4u64,
        Just(u64::MAX),
        (bits32(), bits32()).prop_map(|(high, low)| u64::from(high) << 32 | u64::from(low)),
    ]
}

/// Shared memory as a hostile peer accesses it: by offset. `T` is a structure of atomics.
struct Raw<'a, T>(&'a T);

impl<T> Raw<'_, T> {
    /// The atomic at a byte offset.
    fn at<A>(&self, offset: usize) -> &A {
        assert!(
            offset.is_multiple_of(align_of::<A>()) && offset + size_of::<A>() <= size_of::<T>()
        );
        // SAFETY: inside `T` and aligned. `T` consists of atomics, and callers name the atomic type
        // that is at that offset.
        unsafe { &*std::ptr::from_ref(self.0).byte_add(offset).cast::<A>() }
    }

    fn set32(&self, offset: usize, value: u32) {
        self.at::<AtomicU32>(offset).store(value, Ordering::Relaxed);
    }

    fn set64(&self, offset: usize, value: u64) {
        self.at::<AtomicU64>(offset).store(value, Ordering::Relaxed);
    }
}

/// Random numbers, most of them close to all zeros or all ones.
struct EdgeNumbers(fastrand::Rng);

impl EdgeNumbers {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn next(&mut self) -> u64 {
        let number = self.0.u64(..);
        match number >> 61 {
            0..2 => number & 0x0000_0007_0000_0007,
            2..4 => !(number & 0x0000_0007_0000_0007),
            _ => number.rotate_left(23),
        }
    }
}

/// Runs `victim` while another thread calls `peer` again and again.
fn beside(peer: impl FnMut() + Send, victim: impl FnOnce()) {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (stop, mut peer) = (AtomicBool::new(false), peer);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                peer();
            }
        });
        // The thread stops even if the victim panics. Otherwise the scope would wait for ever.
        let _stop = Stop(&stop);
        victim();
    });
}

// --------------------------------------------------------------------------------------- rings

const BODY_MASK: u64 = (1 << 48) - 1;

fn slots(log2: u32) -> Box<[Slot]> {
    (0..1 << log2).map(|_| Slot::default()).collect()
}

fn ring(slots: &[Slot]) -> Ring {
    // SAFETY: a power of two of slots, which every test keeps longer than the view.
    unsafe { Ring::new(NonNull::from(slots).cast(), slots.len().trailing_zeros()) }
}

fn garbage_ring() -> impl Strategy<Value = (u32, Vec<(u64, u64)>)> {
    (2..=6u32).prop_flat_map(|log2| {
        let size = 1usize << log2;
        let position = bits32();
        // Some entries get the phase of this lap or of one of the next two.
        (position, vec((bits64(), bits64(), 0..4u8), size)).prop_map(move |(position, words)| {
            let words = words.into_iter().map(|(word0, word1, phase)| {
                let lap = (position >> log2).wrapping_add(u32::from(phase));
                let phase_bits = u64::from(lap as u16) << 48;
                let tagged = word1 & BODY_MASK | phase_bits;
                (word0, if phase == 0 { word1 } else { tagged })
            });
            (position, words.collect())
        })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bits_are_an_entry_of_their_lap_or_none((position, words) in garbage_ring()) {
        let memory = slots(words.len().trailing_zeros());
        for (slot, words) in memory.iter().zip(&words) {
            Raw(slot).set64(0, words.0);
            Raw(slot).set64(8, words.1);
        }
        let mut consumer = Consumer { ring: ring(&memory), position };
        let size = consumer.ring.size();
        for ahead in 0..2 * size {
            let at = position.wrapping_add(ahead);
            let (word0, word1) = words[(at & (size - 1)) as usize];
            let valid = (word1 >> 48) as u16 == consumer.ring.phase(at);
            prop_assert_eq!(consumer.peek_at(ahead), valid.then_some([word0, word1]));
            consumer.ring.prefetch(at);
        }
        // No slot is valid in two consecutive laps, so this ends within a lap.
        let mut popped = 0;
        while consumer.pop().is_some() {
            popped += 1;
            prop_assert!(popped <= size);
        }
    }
}

#[test]
fn ring_that_changes_under_its_reader() {
    let memory = slots(3);
    let mut random = EdgeNumbers::new(0x5bfe_0001);
    let scribble = || {
        for slot in &memory {
            let phase = random.next() & 3;
            Raw(slot).set64(0, random.next());
            Raw(slot).set64(8, random.next() & BODY_MASK | phase << 48);
        }
    };
    beside(scribble, || {
        let mut consumer = Consumer::new(ring(&memory));
        let mut credit = RingCredit::default();
        let mut reader = PackedReader::new(4096);
        let mut producer = Producer::new(ring(&memory));
        for _ in 0..if cfg!(miri) { 300 } else { 200_000 } {
            let phase = consumer.ring.phase(consumer.position);
            let Some([_, word1]) = consumer.peek() else {
                consumer.position = consumer.position.wrapping_add(1) & 31;
                continue;
            };
            assert_eq!((word1 >> 48) as u16, phase);
            consumer.advance(1);
            // As a host does with a completion: free submissions, and place a run.
            while credit.free(8, producer.position) > 0 {
                producer.position = producer.position.wrapping_add(1);
            }
            if let Some(freed) = credit.free_to(word1 as u16, producer.position) {
                assert!((1..=8).contains(&freed.end.wrapping_sub(freed.start)));
            }
            assert!(credit.free(8, producer.position) <= 8);
            if let Some(run) = reader.run(word1 as u32, word1 & 1 << 40 != 0) {
                assert!(u64::from(run.offset) + u64::from(run.bytes) <= 4096);
            }
        }
    });
}

// --------------------------------------------------------------------------------------- areas

proptest! {
    #![proptest_config(config())]

    #[test]
    fn host_places_no_run_outside_its_area(
        words in 512..0x800_0000u32,
        runs in vec((bits32(), any::<bool>(), any::<bool>()), 1..50),
    ) {
        let size = words * 8;
        let mut reader = PackedReader::new(size);
        for (bytes, wrapped, small) in runs {
            let bytes = if small { bytes % (size + 1) } else { bytes };
            let before = reader;
            match reader.run(bytes, wrapped) {
                Some(run) => {
                    prop_assert_eq!(run.bytes, bytes);
                    prop_assert!(u64::from(run.offset) + u64::from(bytes) <= u64::from(size));
                    prop_assert!(!wrapped || run.offset == 0);
                    prop_assert!(run.owed >= bytes && run.owed - bytes <= size);
                }
                None => prop_assert_eq!(reader, before),
            }
        }
    }

    #[test]
    fn device_writes_no_record_outside_its_area(
        words in 512..4096u32,
        steps in vec((bits32(), any::<bool>(), any::<bool>()), 1..100),
    ) {
        let size = words * 8;
        let mut writer = PackedWriter::new(size);
        for (value, give_back, small) in steps {
            let used = writer.used();
            if give_back {
                let bytes = if small { value % (size + 1) } else { value };
                prop_assert_eq!(writer.release(bytes), bytes <= used);
                prop_assert_eq!(writer.used(), if bytes <= used { used - bytes } else { used });
            } else if let Some(place) = writer.reserve(value % (writer.record_max() + 1)) {
                let bytes = record_bytes(value % (writer.record_max() + 1));
                prop_assert!(place.offset.is_multiple_of(8));
                prop_assert!(u64::from(place.offset) + u64::from(bytes) <= u64::from(size));
            }
            prop_assert!(writer.used() <= size);
        }
    }
}

// ------------------------------------------------------------------------------ lines and seats

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bits_in_the_lines_are_thresholds_and_states(
        words in vec(bits32(), 16),
        longs in vec(bits64(), 2),
        position in bits32(),
        bytes in bits64(),
    ) {
        let (host, device) = (AtomicHostLine::default(), AtomicDeviceLine::default());
        for index in [0, 1, 2, 8] {
            Raw(&host).set32(index * 4, words[index]);
        }
        Raw(&host).set64(16, longs[0]);
        Raw(&host).set64(24, longs[1]);
        for index in 0..4 {
            Raw(&device).set32(index * 4, words[index + 9]);
        }
        prop_assert_eq!(host.armed(), (words[0] != 0).then_some(words[0]));
        let threshold = host.threshold();
        prop_assert!(threshold.count.is_none_or(|count| count == words[2]));
        prop_assert!(threshold.bytes.is_none_or(|bytes| bytes == longs[0]));
        prop_assert_eq!(threshold.event, words[1] & 8 != 0);
        threshold.is_met(position, bytes);
        threshold.has_first(position);
        prop_assert_eq!(device.needs_doorbell(), words[10] != 0);
        prop_assert_eq!(device.state(), (words[11], words[12]));
        device.bump();
        let seq = device.wake_seq.load(Ordering::Relaxed);
        prop_assert_eq!(seq, words[9].wrapping_add(1));
    }

    #[test]
    fn any_bits_in_a_seat_end_the_waiting(busy in bits32(), claim in bits32(), id in 1..9u32) {
        let seat = Seat::default();
        Raw(&seat).set32(0, busy);
        Raw(&seat).set32(4, claim);
        let claimed = seat.claim(id, || {}, 10);
        prop_assert_eq!(claimed, busy == 0 && claim == 0);
        if claimed {
            seat.release();
        }
        prop_assert_eq!((seat.busy(), seat.claimed()), (busy, claim));
        prop_assert_eq!(seat.enter(id), claim == 0);
        seat.leave();
    }

    /// The control plane takes over a seat with any ids in it, of which some are dead. It gets the
    /// seat unless a living participant holds it, and then it leaves the claim as it was.
    #[test]
    fn any_bits_in_a_seat_end_the_take_over(
        busy in bits32(), claim in bits32(), dead in any::<[bool; 2]>(), id in 1..9u32,
    ) {
        let seat = Seat::default();
        Raw(&seat).set32(0, busy);
        Raw(&seat).set32(4, claim);
        let is_dead = |id| id == busy && dead[0] || id == claim && dead[1];
        let taken = seat.take_over(id, is_dead, || {}, 10);
        let claimed = claim != 0 && is_dead(claim);
        let inside = busy != 0 && is_dead(busy);
        let alive = (claim != 0 && !claimed) || (busy != 0 && !inside);
        prop_assert_eq!(taken, (!alive).then_some(claimed || inside));
        prop_assert_eq!(seat.claimed(), if alive { claim } else { id });
        prop_assert_eq!(seat.busy(), if alive { busy } else { 0 });
    }
}

// --------------------------------------------------------------------------------------- board

const JOBS_AT: usize = 64;
const JOB_BYTES: usize = 16;
const SEGMENTS_AT: usize = JOBS_AT + JOBS * JOB_BYTES;
const SEGMENT_BYTES: usize = 24;
const DECLINED: u32 = 1 << 31;
const ROUND_MASK: u32 = DECLINED - 1;

/// Content of a board that a hostile participant wrote.
#[derive(Clone, Debug)]
struct Garbage {
    ticket: u64,
    /// {first, count, worker, done}
    jobs: Vec<[u32; 4]>,
    segments: Vec<(u64, u64, u32)>,
}

fn garbage() -> impl Strategy<Value = Garbage> {
    let small = (bits32(), 0..80u64, 0..80u64)
        .prop_map(|(round, jobs, next)| u64::from(round) << 32 | jobs << 16 | next);
    // Random words from one seed: a strategy for each of a thousand words would be slow.
    (prop_oneof![bits64(), small], 1..=u64::MAX)
        .prop_map(|(ticket, seed)| Garbage::new(ticket, &mut EdgeNumbers::new(seed)))
}

impl Garbage {
    fn new(ticket: u64, random: &mut EdgeNumbers) -> Self {
        let mut next = || random.next();
        let jobs = (0..JOBS).map(|_| [(); 4].map(|()| next() as u32)).collect();
        let segments = (0..SEGMENTS).map(|_| (next(), next(), next() as u32)).collect();
        Self { ticket, jobs, segments }
    }

    fn write(&self, board: &Board) {
        let raw = Raw(board);
        for (index, job) in self.jobs.iter().enumerate() {
            for (word, &value) in job.iter().enumerate() {
                raw.set32(JOBS_AT + index * JOB_BYTES + word * 4, value);
            }
        }
        for (index, &(source, target, length)) in self.segments.iter().enumerate() {
            let at = SEGMENTS_AT + index * SEGMENT_BYTES;
            raw.set64(at, source);
            raw.set64(at + 8, target);
            raw.set32(at + 16, length);
        }
        raw.at::<AtomicU64>(0).store(self.ticket, Ordering::Release);
    }

    fn board(&self) -> Box<Board> {
        assert_eq!(size_of::<Board>(), SEGMENTS_AT + SEGMENTS * SEGMENT_BYTES);
        let board = Box::<Board>::default();
        self.write(&board);
        board
    }
}

fn ticket(board: &Board) -> u64 {
    Raw(board).at::<AtomicU64>(0).load(Ordering::Relaxed)
}

fn word(board: &Board, job: usize, index: usize) -> u32 {
    Raw(board).at::<AtomicU32>(JOBS_AT + job * JOB_BYTES + index * 4).load(Ordering::Relaxed)
}

/// Settles a job whose worker is reported dead after `patience` calls. Returns the copies repeated.
fn settle_within(board: &Board, job: u32, patience: u32) -> u32 {
    let (mut looks, mut turns, mut repeated) = (0, 0, 0);
    let is_dead = |_| {
        looks += 1;
        looks > patience
    };
    board.settle(job, is_dead, |_| repeated += 1, || turns += 1);
    assert!(turns <= patience, "waited for a dead worker");
    assert!(repeated <= SEGMENTS as u32);
    repeated
}

fn two_job_round(board: &Board) -> u32 {
    let mut plan = RoundPlan::default();
    for target in 0..3 {
        assert!(plan.has_room());
        board.add(&mut plan, Segment { source: 7, target, length: 64 }, 128);
    }
    board.open(&mut plan)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn helper_of_any_board_ends(garbage in garbage(), id in bits32()) {
        let board = garbage.board();
        let (jobs, next) = (garbage.ticket >> 16 & 0xffff, garbage.ticket & 0xffff);
        prop_assert_eq!(board.has_work(), next < jobs);
        let mut taken = 0;
        while let Some(job) = board.take(id) {
            taken += 1;
            // The ticket has the index of the job.
            let index = (ticket(&board) & 0xffff) as usize - 1;
            prop_assert!(index < JOBS);
            prop_assert_eq!(word(&board, index, 2), id);
            let segments: Vec<_> = board.segments(job).collect();
            prop_assert!(segments.len() <= SEGMENTS);
            for segment in segments {
                let known = (segment.source, segment.target, segment.length);
                prop_assert!(garbage.segments.contains(&known));
            }
            board.finish(job, taken % 2 == 0);
            let mark = word(&board, index, 3) & ROUND_MASK;
            prop_assert_eq!(mark, (garbage.ticket >> 32) as u32 & ROUND_MASK);
        }
        prop_assert_eq!(taken, jobs.min(JOBS as u64).saturating_sub(next));
    }

    #[test]
    fn holder_of_any_board_ends(garbage in garbage(), job in bits32(), patience in 0..20u32) {
        let board = garbage.board();
        settle_within(&board, job, patience);
    }

    /// A new round replaces everything on the board, marks of earlier rounds included.
    #[test]
    fn new_round_is_independent_of_old_content(garbage in garbage(), round in bits32()) {
        let mut garbage = garbage;
        garbage.ticket = u64::from(round & ROUND_MASK) << 32;
        let next = round.wrapping_add(1) & ROUND_MASK;
        for (job, mark) in garbage.jobs.iter_mut().zip([next, next | DECLINED]) {
            job[3] = mark;
        }
        let board = garbage.board();
        prop_assert_eq!(two_job_round(&board), 2);
        prop_assert_eq!(ticket(&board), u64::from(next) << 32 | 2 << 16);
        // No job is done yet.
        for (job, copies) in [(0, 2), (1, 1)] {
            let mut turns = 0;
            board.settle(job, |worker| worker == 0 && turns_up(&mut turns), |_| (), || ());
            prop_assert_eq!(turns, 5);
            prop_assert_eq!(settle_within(&board, job, 0), copies);
        }
        while let Some(job) = board.take(3) {
            prop_assert!(board.segments(job).all(|segment| segment.source == 7));
            board.finish(job, true);
        }
        prop_assert_eq!(settle_within(&board, 0, 0) + settle_within(&board, 1, 0), 0);
    }

    #[test]
    fn round_on_any_board_opens_and_ends(garbage in garbage(), patience in 0..20u32) {
        let board = garbage.board();
        prop_assert_eq!(two_job_round(&board), 2);
        prop_assert!(board.has_work());
        prop_assert!(board.take(1).is_some());
        let mut looks = 0;
        let is_dead = |_| {
            looks += 1;
            looks > patience
        };
        board.end_round(is_dead, || {});
        prop_assert!(!board.has_work());
        prop_assert!(board.take(1).is_none());
    }

    #[test]
    fn any_round_is_ended(garbage in garbage(), patience in 0..20u32) {
        let board = garbage.board();
        let (mut looks, mut turns) = (0, 0);
        let is_dead = |_| {
            looks += 1;
            looks > patience
        };
        board.end_round(is_dead, || turns += 1);
        prop_assert!(turns <= patience && looks <= patience + JOBS as u32);
        prop_assert!(board.take(1).is_none());
        prop_assert_eq!(ticket(&board), garbage.ticket & !0xffff_ffff);
    }
}

/// True at the fifth call.
fn turns_up(turns: &mut u32) -> bool {
    *turns += 1;
    *turns == 5
}

#[test]
fn board_that_changes_under_its_users() {
    let board = Box::<Board>::default();
    let mut random = EdgeNumbers::new(0x5bfe_0002);
    let scribble = || {
        let ticket = random.next() & !0xffff_ffff | (random.next() & 127) << 16;
        Garbage::new(ticket | random.next() & 63, &mut random).write(&board);
    };
    beside(scribble, || {
        for turn in 0..if cfg!(miri) { 3 } else { 2_000u32 } {
            for _ in 0..2 * JOBS {
                let Some(job) = board.take(turn) else { break };
                assert!(board.segments(job).count() <= SEGMENTS);
                board.finish(job, turn % 2 == 0);
            }
            two_job_round(&board);
            settle_within(&board, turn, turn % 8);
            let mut looks = 0;
            let is_dead = |_| {
                looks += 1;
                looks > 8
            };
            board.end_round(is_dead, || {});
        }
    });
}
