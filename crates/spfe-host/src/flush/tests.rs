//! Flushing rings at any position, including phases that wrap.

use super::*;
use spfe_contract::{EndMarker, EntryType, QueueSetup, Submission, submit_flags as sf};
use spfe_ring::Slot;
use std::ptr::NonNull;

struct Memory(Vec<Slot>);

impl Memory {
    fn new(log2: u32) -> Self {
        Self((0..1 << log2).map(|_| Slot::default()).collect())
    }

    fn ring(&self) -> Ring {
        let slots = NonNull::from(&self.0[0]);
        // SAFETY: the ring has as many slots as the memory, which outlives it in each test; only
        // atomics inside the slots are written.
        unsafe { Ring::new(slots, self.0.len().trailing_zeros()) }
    }
}

fn queue(kind: QueueKind) -> QueueRequest {
    let setup = QueueSetup { kind: u32::from(kind.raw()), ..QueueSetup::default() };
    QueueRequest { port: 0, vc: 5, setup }
}

/// Writes the last lap of a ring into which `end` entries have been written.
fn fill(ring: &Ring, end: u64, entry: impl Fn(u32) -> [u64; 2]) {
    for position in end.saturating_sub(u64::from(ring.size()))..end {
        ring.write(position as u32, entry(position as u32));
    }
}

fn done_at(position: u32) -> [u64; 2] {
    Completion { position: position as u16, packets: 1, ..Completion::default() }.to_words()
}

/// The position in a completion, which must be one of a reset.
fn reset_at(ring: &Ring, position: u32) -> u16 {
    let done = Completion::from_words(ring.read(position).expect("a completion"));
    assert_eq!((done.status, done.vc, done.bytes), (Status::DeviceReset.raw(), 5, 0));
    done.position
}

#[test]
fn each_pending_buffer_completes_once_and_in_order() {
    for log2 in [2, 3, 15] {
        let size = 1u64 << log2;
        // New rings, rings after some laps, and rings whose phase wraps.
        let wrap = size << 16;
        let ends = (0..3 * size).step_by(if log2 == 15 { 4099 } else { 1 });
        let later = [wrap - 1, wrap, wrap + 1, wrap + size - 1, wrap + size + 1];
        for end in ends.chain(later) {
            let all = (0..=size.min(end)).step_by(if log2 == 15 { 8191 } else { 1 });
            for pending in all {
                let (sq, cq) = (Memory::new(log2), Memory::new(log2));
                let (sq, cq) = (sq.ring(), cq.ring());
                let from = end - pending;
                fill(&sq, end, |position| [u64::from(position), 64]);
                fill(&cq, from, done_at);
                let flushed = flush(&queue(QueueKind::Rx), &sq, &cq);
                assert_eq!(u64::from(flushed), pending, "{end} posted in 2^{log2}");
                for position in from..end {
                    assert_eq!(reset_at(&cq, position as u32), position as u16);
                }
                assert_eq!(flush(&queue(QueueKind::Rx), &sq, &cq), 0, "all have completed");
            }
        }
    }
}

#[test]
fn a_submission_of_many_entries_completes_as_one() {
    let entry = |kind: EntryType, chain: u16| {
        let end = u16::from(EndMarker::Eop.raw()) << sf::END_SHIFT;
        let flags = u16::from(kind.raw()) | chain | end;
        Submission { length: 8, flags, ..Submission::default() }.to_words()
    };
    let one = entry(EntryType::Data, 0);
    let chained = entry(EntryType::Data, sf::CHAIN);
    let burst = [entry(EntryType::Burst, 0), entry(EntryType::BurstExt, 0)];
    for start in [0, 3, 13, 70_000] {
        let (sq, cq) = (Memory::new(4), Memory::new(4));
        let (sq, cq) = (sq.ring(), cq.ring());
        // Packets without a completion of their own complete with the next one that has one.
        fill(&sq, start, |_| one);
        if start != 0 {
            cq.write(0, done_at(start as u32 - 1));
        }
        let pending = [one, burst[0], burst[1], chained, chained, one, one];
        for (at, words) in (start as u32..).zip(pending) {
            sq.write(at, words);
        }
        assert_eq!(flush(&queue(QueueKind::Tx), &sq, &cq), 4);
        let first = u32::from(start != 0);
        let ends: Vec<u16> = (first..first + 4).map(|at| reset_at(&cq, at)).collect();
        assert_eq!(ends, [0, 2, 5, 6].map(|at| (start as u32 + at) as u16));
    }
}

#[test]
fn released_room_gets_no_completion() {
    for kind in [QueueKind::RxPacked, QueueKind::MessageRx] {
        let (sq, cq) = (Memory::new(2), Memory::new(2));
        let (sq, cq) = (sq.ring(), cq.ring());
        fill(&sq, 3, |_| [1, 0]);
        assert_eq!(flush(&queue(kind), &sq, &cq), 0);
        assert!(cq.read(0).is_none());
    }
}
