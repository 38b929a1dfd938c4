//! Rings, batches, credit, packed areas and thresholds compared with simple models. Start positions
//! are often where counters wrap.
#![cfg(not(loom))]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use spfe_contract as contract;
use spfe_ring::packed::{PackedRun, record_bytes, record_max};
use spfe_ring::ring::RingEntry;
use spfe_ring::{
    Arm, AtomicHostLine, Consumer, Cursor, EntryBatch, PackedReader, PackedWriter, Producer, Ring,
    RingCell, RingCredit, RingPair, Slot,
};
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::ptr::NonNull;

const BODY_MASK: u64 = (1 << 48) - 1;

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

/// Memory of a ring, and a view of it.
struct Memory {
    slots: Box<[Slot]>,
    log2: u32,
}

impl Memory {
    fn new(log2: u32) -> Self {
        Self { slots: (0..1 << log2).map(|_| Slot::default()).collect(), log2 }
    }

    fn ring(&self) -> Ring {
        // SAFETY: there are `1 << log2` slots, and every test keeps the memory longer than the
        // ring.
        unsafe { Ring::new(NonNull::from(&*self.slots).cast(), self.log2) }
    }

    /// The ring after every position before `position` was written and read.
    fn used_up_to(&self, position: u32) -> Ring {
        let ring = self.ring();
        for back in (1..=ring.size()).rev() {
            ring.write(position.wrapping_sub(back), [u64::MAX, u64::MAX]);
        }
        ring
    }
}

/// Positions to start from: near the wraps of position and phase, in the first lap, and anywhere.
fn starts(log2: u32) -> impl Strategy<Value = u32> {
    let near = 0..3u32 << log2;
    let laps = 0x1_0000u64 << log2;
    prop_oneof![
        near.clone(),
        near.clone().prop_map(|back| 0u32.wrapping_sub(back)),
        (near, 1..=(1u64 << 32) / laps).prop_map(move |(back, round)| {
            // The phase of a position wraps one lap before the lap count, because laps count from
            // 1.
            ((round * laps) as u32).wrapping_sub(back)
        }),
        any::<u32>(),
    ]
}

// --------------------------------------------------------------------------------------- rings

/// An operation on a ring.
#[derive(Clone, Debug)]
enum Step {
    /// Pushes one entry.
    Push(RingEntry),
    /// Pushes as many of these as fit in one batch, and amends some of them.
    Batch(Vec<RingEntry>, Vec<(prop::sample::Index, RingEntry)>),
    /// Fills a batch and cancels it.
    Cancel(Vec<RingEntry>),
    /// Takes up to this many entries.
    Pop(u32),
    /// Peeks at up to this many entries, then takes them.
    Look(u32),
}

fn entries(most: usize) -> impl Strategy<Value = Vec<RingEntry>> {
    vec(any::<RingEntry>(), 0..=most)
}

fn step(log2: u32) -> impl Strategy<Value = Step> {
    let size = 1usize << log2;
    let amends = vec((any::<prop::sample::Index>(), any::<RingEntry>()), 0..4);
    prop_oneof![
        2 => any::<RingEntry>().prop_map(Step::Push),
        4 => (entries(size + 2), amends).prop_map(|(batch, amends)| Step::Batch(batch, amends)),
        1 => entries(size).prop_map(Step::Cancel),
        3 => (0..=size as u32).prop_map(Step::Pop),
        2 => (0..=size as u32).prop_map(Step::Look),
    ]
}

/// A ring, and a queue as its model.
struct Pair {
    producer: Producer,
    consumer: Consumer,
    model: VecDeque<RingEntry>,
}

impl Pair {
    fn free(&self) -> u32 {
        let credit = RingCredit { freed: self.consumer.position };
        let free = credit.free(self.producer.ring.size(), self.producer.position);
        assert_eq!(free as usize, self.producer.ring.size() as usize - self.model.len());
        free
    }

    /// Compares an entry with the model: word 0 and the body of word 1. The ring sets the phase.
    fn compare(&self, ahead: u32, got: RingEntry) {
        let sent = self.model[ahead as usize];
        assert_eq!(got[0], sent[0]);
        assert_eq!(got[1] & BODY_MASK, sent[1] & BODY_MASK);
        let position = self.consumer.position.wrapping_add(ahead);
        assert_eq!((got[1] >> 48) as u16, self.consumer.ring.phase(position));
    }

    /// Fills a batch until it is full.
    fn fill(&self, entries: &[RingEntry]) -> EntryBatch {
        let free = self.free();
        let mut batch = EntryBatch::new(&self.producer, free);
        for (index, &entry) in entries.iter().enumerate() {
            let room = (index as u32) < free;
            assert_eq!(batch.space(), free - batch.len());
            assert_eq!(batch.push(&self.producer, entry), room);
        }
        assert_eq!(batch.len(), free.min(entries.len() as u32));
        batch
    }

    fn batch(&mut self, mut entries: Vec<RingEntry>, amends: &[(prop::sample::Index, RingEntry)]) {
        let mut batch = self.fill(&entries);
        let count = batch.len();
        entries.truncate(count as usize);
        for (index, entry) in amends {
            if count > 0 {
                let index = index.index(count as usize);
                entries[index] = *entry;
                batch.amend(&self.producer, count - index as u32, *entry);
            }
        }
        if self.model.is_empty() {
            assert_eq!(self.consumer.peek(), None, "visible before it was published");
        }
        assert_eq!(batch.publish(&mut self.producer), count);
        self.model.extend(entries);
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Push(entry) if self.free() > 0 => {
                self.producer.push(entry);
                self.model.push_back(entry);
            }
            Step::Push(_) => {}
            Step::Batch(entries, amends) => self.batch(entries, &amends),
            Step::Cancel(entries) => self.fill(&entries).cancel(&self.producer),
            Step::Pop(most) => {
                for _ in 0..most.min(self.model.len() as u32) {
                    let position = self.consumer.position;
                    assert_eq!(self.consumer.peek(), self.consumer.peek_at(0));
                    let entry = self.consumer.peek().expect("an entry");
                    self.compare(0, entry);
                    assert_eq!(self.consumer.pop(), Some(entry));
                    assert_eq!(self.consumer.position, position.wrapping_add(1));
                    self.model.pop_front();
                }
            }
            Step::Look(most) => {
                let count = most.min(self.model.len() as u32);
                for ahead in 0..count {
                    self.consumer.ring.prefetch(self.consumer.position.wrapping_add(ahead));
                    let entry = self.consumer.peek_at(ahead).expect("an entry");
                    self.compare(ahead, entry);
                }
                self.consumer.advance(count);
                self.model.drain(..count as usize);
            }
        }
        // No entry is valid after the last one.
        let ahead = self.model.len() as u32;
        if ahead < self.producer.ring.size() {
            assert_eq!(self.consumer.peek_at(ahead), None);
        }
    }
}

fn ring_case() -> impl Strategy<Value = (u32, u32, Vec<Step>)> {
    (2..=6u32).prop_flat_map(|log2| (Just(log2), starts(log2), vec(step(log2), 1..60)))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn ring_is_a_queue((log2, start, steps) in ring_case()) {
        let memory = Memory::new(log2);
        let ring = if start == 0 { memory.ring() } else { memory.used_up_to(start) };
        let mut pair = Pair {
            producer: Producer { ring, position: start },
            consumer: Consumer { ring, position: start },
            model: VecDeque::new(),
        };
        assert_eq!(pair.consumer.peek(), None);
        steps.into_iter().for_each(|step| pair.step(step));
    }

    /// A slot is valid in its own lap only, until the phase repeats after 65536 laps.
    #[test]
    fn phase_tells_laps_apart(log2 in 2..=15u32, position: u32, laps in 1..0x1_0000u32) {
        let memory = Memory::new(log2);
        let ring = memory.ring();
        ring.write(position, [1, 2]);
        prop_assert!(ring.read(position).is_some());
        prop_assert_eq!(ring.read(position.wrapping_add(laps << log2)), None);
    }

    /// At every position a cursor reads and writes what the position does, and its partner ring
    /// gets the same slot of the same lap.
    #[test]
    fn cursor_agrees_with_its_position(
        (log2, start) in (2..=6u32).prop_flat_map(|log2| (Just(log2), starts(log2))),
        entries in vec((0..1u64 << 48, 0..1u64 << 48, 0..4u8), 1..300),
    ) {
        let memory = [Memory::new(log2), Memory::new(log2)];
        let [ring, partner] = [memory[0].used_up_to(start), memory[1].used_up_to(start)];
        let cell = RingCell::new(RingPair::new(ring, partner).expect("rings of one size"));
        let mut cursor = Cursor::new(&cell, start);
        for (ahead, (word0, word1, way)) in (0..).zip(entries) {
            let position = start.wrapping_add(ahead);
            let phased = word1 | u64::from(cursor.phase()) << 32;
            prop_assert_eq!(cursor.index(), position & (ring.size() - 1));
            prop_assert_eq!(cursor.read(), None);
            let (written, valid) = match way {
                0 => {
                    cursor.partner_write([word0, phased]);
                    (partner, position)
                }
                1 => {
                    // The same slot is taken and published again by a cursor that moves on.
                    ring.write(position, [word0, word1 & 0xffff_ffff]);
                    let mut taker = cursor;
                    prop_assert!(taker.take_plain_if(|low| low != word1 as u32).is_none());
                    prop_assert_eq!(taker.take_plain().map(|entry| entry[0]), Some(word0));
                    prop_assert_eq!(taker.slot_before().word1(), cursor.slot().word1());
                    ring.write(position, [word0, word1 | 1 << 32]);
                    prop_assert!(cursor.take_plain().is_none());
                    cursor.publish(word1);
                    (ring, position)
                }
                2 => {
                    ring.prepare(position, word0);
                    prop_assert_eq!(cursor.read(), None);
                    cursor.publish(word1);
                    (ring, position)
                }
                _ => {
                    let mut pusher = cursor;
                    let laps = pusher.push([word0, phased]);
                    prop_assert_eq!(laps, cursor.left() == 1);
                    let mut moved = cursor;
                    moved.move_to(position.wrapping_add(1));
                    prop_assert_eq!(moved.index(), pusher.index());
                    prop_assert_eq!(moved.phase(), pusher.phase());
                    prop_assert_eq!(pusher.slot_before().word0(), word0);
                    (ring, position)
                }
            };
            let entry = written.read(valid).expect("the entry just written");
            prop_assert_eq!((entry[0], entry[1] & BODY_MASK), (word0, word1));
            prop_assert_eq!(cursor.read(), (way >= 1).then_some(entry));
            prop_assert_eq!(Cursor::new(written, valid).read(), Some(entry));
            // Both rings stay at the same lap, and the next lap does not find this entry.
            ring.write(position, entry);
            partner.write(position, entry);
            let here = cursor;
            prop_assert_eq!(cursor.left(), ring.size() - cursor.index());
            // SAFETY: `left` is at least 1, and `turn` follows.
            unsafe { cursor.step() };
            prop_assert_eq!(cursor.left(), here.left() - 1);
            cursor.turn();
            let mut other = here;
            other.advance();
            prop_assert_eq!((cursor.index(), cursor.phase()), (other.index(), other.phase()));
            let back = cursor.at(here.mark());
            prop_assert_eq!((back.index(), back.phase()), (here.index(), here.phase()));
            prop_assert_eq!(cursor.slot_before().word1(), here.slot().word1());
            prop_assert_eq!(ring.word0_behind(here.mark()), cursor.slot().word0());
        }
    }

    /// A mark of a large ring stays inside a small one.
    #[test]
    fn mark_of_another_ring_is_harmless(large in 3..=6u32, position: u32) {
        let memory = [Memory::new(large), Memory::new(2)];
        let mark = Cursor::new(memory[0].ring(), position).mark();
        let small = Cursor::new(memory[1].ring(), 0).at(mark);
        prop_assert_eq!(small.index(), position & 3);
        prop_assert_eq!(memory[1].ring().word0_behind(mark), 0);
    }

    #[test]
    fn rings_of_different_size_make_no_pair(first in 2..=6u32, second in 2..=6u32) {
        let memory = [Memory::new(first), Memory::new(second)];
        let pair = RingPair::new(memory[0].ring(), memory[1].ring());
        prop_assert_eq!(pair.is_some(), first == second);
    }

    #[test]
    fn cleared_ring_is_empty(log2 in 2..=6u32, start: u32) {
        let memory = Memory::new(log2);
        let ring = memory.used_up_to(start);
        ring.clear();
        for position in 0..ring.size() {
            prop_assert_eq!(ring.read(position), None);
        }
    }
}

/// More than 65536 laps, which would take minutes under Miri.
#[test]
#[cfg_attr(miri, ignore)]
fn every_phase_is_used_once_around() {
    let memory = Memory::new(2);
    let (mut producer, mut consumer) = (Producer::new(memory.ring()), Consumer::new(memory.ring()));
    for number in 0..0x1_0002u64 * 4 {
        assert_eq!(consumer.pop(), None);
        producer.push([number, !number]);
        let entry = consumer.pop().expect("the entry just pushed");
        assert_eq!((entry[0], entry[1] & BODY_MASK), (number, !number & BODY_MASK));
        assert_eq!((entry[1] >> 48) as u16, (number / 4 + 1) as u16);
    }
}

// -------------------------------------------------------------------------------------- credit

#[derive(Clone, Debug)]
enum Account {
    /// Posts this share of the free entries.
    Post(prop::sample::Index),
    /// Completes this share of the outstanding entries.
    Complete(prop::sample::Index),
    /// A completion with any position.
    Hostile(u16),
    /// A completion with a position near the oldest outstanding entry or the next one to post.
    Off(bool, i16),
}

fn account() -> impl Strategy<Value = Account> {
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Account::Post),
        any::<prop::sample::Index>().prop_map(Account::Complete),
        any::<u16>().prop_map(Account::Hostile),
        (any::<bool>(), -2..=2i16).prop_map(|(oldest, by)| Account::Off(oldest, by)),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn credit_frees_outstanding_entries_only(
        (log2, start) in (2..=15u32).prop_flat_map(|log2| (Just(log2), starts(log2))),
        steps in vec(account(), 1..60),
    ) {
        let size = 1u32 << log2;
        // The model counts without wrapping.
        let (mut freed, mut posted) = (u64::from(start), u64::from(start));
        let mut credit = RingCredit { freed: start };
        for step in steps {
            let outstanding = posted - freed;
            let position = match step {
                Account::Post(share) => {
                    posted += share.index((u64::from(size) - outstanding + 1) as usize) as u64;
                    prop_assert_eq!(
                        u64::from(credit.free(size, posted as u32)),
                        u64::from(size) - (posted - freed)
                    );
                    continue;
                }
                Account::Complete(_) if outstanding == 0 => continue,
                Account::Complete(share) => {
                    (freed + share.index(outstanding as usize) as u64) as u16
                }
                Account::Hostile(position) => position,
                Account::Off(oldest, by) => {
                    (if oldest { freed } else { posted } as u16).wrapping_add_signed(by)
                }
            };
            let named = (freed..posted).find(|at| *at as u16 == position);
            let before = credit;
            match (credit.free_to(position, posted as u32), named) {
                (Some(range), Some(last)) => {
                    prop_assert_eq!(range, freed as u32..(last + 1) as u32);
                    freed = last + 1;
                    prop_assert_eq!(credit.freed, freed as u32);
                }
                (None, None) => prop_assert_eq!(credit, before),
                (got, named) => prop_assert!(false, "{position}: got {got:?}, named {named:?}"),
            }
        }
    }
}

// -------------------------------------------------------------------------------- packed areas

#[derive(Clone, Debug)]
enum Packing {
    /// Writes a record of this many bytes.
    Record(u32),
    /// Writes the longest record.
    Longest,
    /// Publishes the run.
    Publish,
    /// The host gives back this many runs with one release, if it has them.
    Release(usize),
}

fn packing() -> impl Strategy<Value = Packing> {
    prop_oneof![
        6 => (0..=2048u32).prop_map(Packing::Record),
        2 => (0..=16u32).prop_map(Packing::Record),
        1 => Just(Packing::Longest),
        2 => Just(Packing::Publish),
        3 => (1..5usize).prop_map(Packing::Release),
    ]
}

/// A run that the device is building.
#[derive(Clone, Copy, Debug)]
struct Begun {
    offset: u32,
    bytes: u32,
    wrapped: bool,
}

/// Words of the largest areas in these tests. Few under Miri, which is slow.
const LARGE_AREA: u32 = if cfg!(miri) { 600 } else { 4096 };

/// Both sides of an area, which of its bytes are in use, and a model that does not wrap.
struct Area {
    writer: PackedWriter,
    reader: PackedReader,
    taken: Vec<bool>,
    begun: Option<Begun>,
    published: VecDeque<PackedRun>,
    /// All bytes ever reserved, and ever given back, skipped tails included.
    head: u64,
    tail: u64,
}

impl Area {
    fn new(size: u32) -> Self {
        Self {
            writer: PackedWriter::new(size),
            reader: PackedReader::new(size),
            taken: vec![false; size as usize],
            begun: None,
            published: VecDeque::new(),
            head: 0,
            tail: 0,
        }
    }

    fn size(&self) -> u32 {
        self.taken.len() as u32
    }

    /// Place of a record in the model: bytes skipped and offset.
    fn expected(&self, length: u32) -> Option<(u32, u32)> {
        let need = u64::from(8 + length).next_multiple_of(8);
        let size = u64::from(self.size());
        let at = self.head % size;
        let (skip, offset) = if at + need <= size { (0, at) } else { (size - at, 0) };
        (self.head + skip + need - self.tail <= size).then_some((skip as u32, offset as u32))
    }

    fn record(&mut self, length: u32) {
        let place = self.writer.reserve(length);
        let expected = self.expected(length);
        assert_eq!(place.map(|place| place.offset), expected.map(|(_, offset)| offset));
        let (Some(place), Some((skip, offset))) = (place, expected) else {
            return;
        };
        let bytes = record_bytes(length);
        assert!(bytes >= 8 + length && bytes < 8 + length + 8 && bytes.is_multiple_of(8));
        assert_eq!(place.wrapped, offset == 0 && self.head > 0);
        for byte in &mut self.taken[offset as usize..][..bytes as usize] {
            assert!(!*byte, "record at {offset} overlaps another");
            *byte = true;
        }
        self.head += u64::from(skip + bytes);
        if place.wrapped {
            self.publish();
        }
        let begun = self.begun.get_or_insert(Begun { offset, bytes: 0, wrapped: place.wrapped });
        begun.bytes += bytes;
    }

    /// The device completes the run, and the host finds its place.
    fn publish(&mut self) {
        let Some(begun) = self.begun.take() else {
            return;
        };
        let run = self.reader.run(begun.bytes, begun.wrapped).expect("a run in the area");
        assert_eq!((run.offset, run.bytes), (begun.offset, begun.bytes));
        self.published.push_back(run);
    }

    fn release(&mut self, runs: usize) {
        let runs = runs.min(self.published.len());
        let mut owed = 0;
        for run in self.published.drain(..runs) {
            self.taken[run.offset as usize..][..run.bytes as usize].fill(false);
            owed += run.owed;
        }
        assert!(self.writer.release(owed));
        self.tail += u64::from(owed);
        assert!(!self.writer.release(self.writer.used() + 1), "released more than was in use");
    }

    fn step(&mut self, step: &Packing) {
        match *step {
            Packing::Record(length) => self.record(length.min(self.writer.record_max())),
            Packing::Longest => self.record(self.writer.record_max()),
            Packing::Publish => self.publish(),
            Packing::Release(runs) => self.release(runs),
        }
        assert_eq!(u64::from(self.writer.used()), self.head - self.tail);
        if self.begun.is_none() && self.published.is_empty() {
            assert_eq!(self.writer.used(), 0, "bytes are in use without a run");
            assert!(self.taken.iter().all(|byte| !byte));
        }
        if self.writer.used() == 0 {
            let mut probe = self.writer;
            let longest = probe.reserve(probe.record_max());
            assert!(longest.is_some(), "an empty area is too small");
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn packed_area_is_exact_to_the_byte(
        words in prop_oneof![Just(512u32), 512..600u32, 512..LARGE_AREA],
        steps in vec(packing(), 1..if cfg!(miri) { 30 } else { 300 }),
    ) {
        let mut area = Area::new(words * 8);
        steps.iter().for_each(|step| area.step(step));
        area.publish();
        area.release(usize::MAX);
        area.step(&Packing::Longest);
    }

    /// Wherever the last record ended.
    #[test]
    fn empty_area_takes_the_longest_record(
        words in prop_oneof![Just(512u32), 512..0x800_0000u32],
        lengths in vec(any::<prop::sample::Index>(), 0..100),
    ) {
        let size = words * 8;
        let mut writer = PackedWriter::new(size);
        prop_assert!(record_bytes(record_max(size)) <= size / 4);
        prop_assert!(record_max(size) + 8 > size / 4 - 8);
        for length in lengths {
            let length = length.index(record_max(size) as usize + 1) as u32;
            let mut probe = writer;
            prop_assert!(probe.reserve(record_max(size)).is_some());
            prop_assert!(writer.reserve(length).is_some());
            prop_assert!(writer.release(writer.used()));
        }
        prop_assert!(u64::from(size) <= contract::PACKET_MAX_BYTES);
    }
}

// ------------------------------------------------------------------------------------ wake-ups

/// A distance of two positions that still has a direction: less than 2^31.
fn distance() -> impl Strategy<Value = u32> {
    const MOST: u32 = (1 << 31) - 1;
    prop_oneof![0..3u32, 0..=MOST, MOST - 3..=MOST]
}

fn arm() -> impl Strategy<Value = Arm> {
    let option = || proptest::option::of(any::<u64>());
    (proptest::option::of(any::<u32>()), option(), option(), any::<u32>(), any::<bool>()).prop_map(
        |(count, bytes, after_first_ns, first_position, event)| Arm {
            count,
            bytes,
            after_first_ns,
            first_position,
            event,
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn count_is_met_at_or_past_a_position_that_wraps(want: u32, by in distance()) {
        let arm = Arm { count: Some(want), ..Arm::default() };
        prop_assert!(arm.is_met(want.wrapping_add(by), 0));
        prop_assert!(!arm.is_met(want.wrapping_sub(by + 1), u64::MAX));
    }

    #[test]
    fn first_completion_is_found_when_positions_wrap(first_position: u32, by in distance()) {
        let by = by.max(1);
        let arm = Arm { first_position, ..Arm::default() };
        prop_assert!(arm.has_first(first_position.wrapping_add(by)));
        prop_assert!(!arm.has_first(first_position.wrapping_sub(by)));
        prop_assert!(!arm.has_first(first_position));
    }

    #[test]
    fn count_or_bytes_meet_it(arm in arm(), position: u32, bytes: u64, near in -1..2i64) {
        let bytes = match arm.bytes {
            Some(want) if position & 1 == 0 => want.saturating_add_signed(near),
            _ => bytes,
        };
        let count = Arm { bytes: None, ..arm };
        let total = Arm { count: None, ..arm };
        prop_assert_eq!(total.is_met(position, bytes), arm.bytes.is_some_and(|want| bytes >= want));
        prop_assert_eq!(
            arm.is_met(position, bytes),
            count.is_met(position, bytes) || total.is_met(position, bytes)
        );
        let none = Arm { count: None, bytes: None, ..arm };
        prop_assert!(!none.is_met(position, bytes));
    }

    #[test]
    fn device_reads_the_threshold_of_the_last_arming(arms in vec((any::<u32>(), arm()), 1..8)) {
        let line = AtomicHostLine::default();
        prop_assert_eq!(line.armed(), None);
        for (sequence, arm) in arms {
            let mut fences = 0;
            line.arm(sequence, &arm, || fences += 1);
            prop_assert_eq!(fences, 1);
            prop_assert_eq!(line.armed(), Some(sequence | 1));
            prop_assert_eq!(line.threshold(), arm);
            line.disarm();
            prop_assert_eq!(line.armed(), None);
        }
    }
}
