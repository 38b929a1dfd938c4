//! Any bits in shared memory, which may change at any time: readers do not panic, do not loop for
//! ever and do not access memory outside of the ring, the board or the area.
#![cfg(not(loom))]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use spfe_ring::board::{JOBS, NOTES, SEGMENTS, Segment};
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

/// Where the counters and the jobs are.
const NEXT_AT: usize = 64;
const SETTLED_AT: usize = 128;
const SETTLER_AT: usize = 132;
const JOBS_AT: usize = 192;
const JOB_BYTES: usize = (size_of::<Board>() - JOBS_AT) / JOBS;
const COUNT_AT: usize = 8;

/// Content of a board that a hostile participant wrote.
#[derive(Clone, Debug)]
struct Garbage {
    posted: u32,
    next: u32,
    settled: u32,
    settler: u32,
    words: Vec<u64>,
}

fn garbage() -> impl Strategy<Value = Garbage> {
    let near = (bits32(), 0..40u32, 0..40u32).prop_map(|(posted, next, settled)| {
        (posted, posted.wrapping_sub(next), posted.wrapping_sub(settled))
    });
    let any = (bits32(), bits32(), bits32());
    // Random words from one seed: a strategy for each of a thousand words would be slow.
    (prop_oneof![near, any], prop_oneof![Just(0), bits32()], 1..=u64::MAX)
        .prop_map(|(counters, settler, seed)| Garbage::new(counters, settler, seed))
}

impl Garbage {
    fn new((posted, next, settled): (u32, u32, u32), settler: u32, seed: u64) -> Self {
        let mut random = EdgeNumbers::new(seed);
        let words = (0..JOBS * JOB_BYTES / 8).map(|_| random.next()).collect();
        let mut garbage = Self { posted, next, settled, settler, words };
        // Some jobs are those of this turn: free, owned or done.
        for ahead in 0..JOBS as u32 {
            let number = settled.wrapping_add(ahead);
            let owner = match random.next() % 5 {
                0 => continue,
                1 => u32::MAX,
                2 => 0,
                _ => 7,
            };
            let job = number as usize % JOBS * JOB_BYTES / 8;
            garbage.words[job] = u64::from(number.wrapping_add(1)) << 32 | u64::from(owner);
        }
        garbage
    }

    fn write(&self, board: &Board) {
        let raw = Raw(board);
        for (index, &word) in self.words.iter().enumerate() {
            raw.set64(JOBS_AT + index * 8, word);
        }
        raw.set32(NEXT_AT, self.next);
        raw.set32(SETTLED_AT, self.settled);
        raw.set32(SETTLER_AT, self.settler);
        raw.at::<AtomicU32>(0).store(self.posted, Ordering::Release);
    }

    fn board(&self) -> Box<Board> {
        let board = Box::<Board>::default();
        self.write(&board);
        board
    }
}

/// Claims and finishes jobs until there is none. Returns their number.
fn work(board: &Board, id: u32) -> usize {
    let mut jobs = 0;
    while let Some(number) = board.claim(id) {
        assert!(board.segments(number).count() <= SEGMENTS);
        if board.finish(number) {
            settle(board, id);
        }
        jobs += 1;
        assert!(jobs <= JOBS, "more jobs than the board has");
    }
    jobs
}

/// Settles. Returns the number of jobs published.
fn settle(board: &Board, id: u32) -> usize {
    let mut published = 0;
    board.settle(
        id,
        |_| true,
        |number| {
            assert!(board.segments(number).count() <= SEGMENTS);
            published += 1;
        },
    );
    published
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn users_of_any_board_end(garbage in garbage(), id in 1..u32::MAX) {
        let board = garbage.board();
        let unclaimed = garbage.posted.wrapping_sub(garbage.next);
        prop_assert_eq!(board.has_work(), (1..=JOBS as u32).contains(&unclaimed));
        work(&board, id);
        let published = settle(&board, id);
        prop_assert!(published <= JOBS, "published {} jobs", published);
        for _ in 0..=JOBS {
            if let Some(number) = board.take_left(id, |_| true) {
                let _ = board.finish(number);
            }
        }
        board.awaited();
        board.notes(garbage.next);
    }

    /// A holder that forgets what is pending can use the board again, whatever was there.
    #[test]
    fn abandoned_board_works_again(garbage in garbage()) {
        let mut garbage = garbage;
        // A dead participant may hold the lock.
        garbage.settler %= 3;
        garbage.next = garbage.posted;
        let board = garbage.board();
        board.abandon();
        prop_assert_eq!(board.pending(), 0);
        for round in 0..3 * JOBS as u32 {
            let mut draft = board.draft();
            for target in 0..SEGMENTS as u64 {
                draft.add(Segment { source: 7, target, length: round, marked: target == 1 });
            }
            board.post(draft, [round; NOTES]);
            let number = board.claim(5).unwrap();
            prop_assert_eq!(board.notes(number), [round; NOTES]);
            let lengths = board.segments(number).filter(|s| s.length == round && s.source == 7);
            prop_assert_eq!(lengths.count(), SEGMENTS);
            prop_assert_eq!(board.segments(number).filter(|s| s.marked).count(), 1);
            prop_assert!(board.finish(number));
            prop_assert_eq!(settle(&board, 5), 1);
        }
    }
}

#[test]
fn board_that_changes_under_its_users() {
    let board = Box::<Board>::default();
    let mut random = EdgeNumbers::new(0x5bfe_0002);
    let scribble = || {
        let posted = random.next() as u32;
        let counter = |back: u64| posted.wrapping_sub((back % 20) as u32);
        let counters = (posted, counter(random.next()), counter(random.next()));
        let garbage = Garbage::new(counters, random.next() as u32 % 3, random.next() | 1);
        garbage.write(&board);
        Raw(&*board).set32(JOBS_AT + COUNT_AT, random.next() as u32);
    };
    beside(scribble, || {
        for turn in 0..if cfg!(miri) { 3 } else { 2_000u32 } {
            for _ in 0..2 * JOBS {
                let Some(number) = board.claim(turn + 1) else { break };
                assert!(board.segments(number).count() <= SEGMENTS);
                let _ = board.finish(number);
            }
            settle(&board, turn + 1);
            if let Some(number) = board.take_left(turn + 1, |id| id % 2 == 0) {
                board.decline(number);
            }
            board.abandon();
        }
    });
}
