//! Batches: the first entry publishes all of them.

use super::{LOG2, Memory, SIZE, check, check_cases, entry, number, pop_waiting};
use loom::thread;
use spfe_ring::{Consumer, EntryBatch, Producer};

/// Publishes batches of these sizes one after the other. A consumer that sees the first entry of a
/// batch must see all of it.
fn batches(log2: u32, start: u32, counts: &'static [u32]) {
    // In some run the consumer has to see a batch before the producer has ended.
    check_cases(move || {
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
    // The batch holds back two entries; a whole cache line and a part of the next follow.
    batches(3, 10, &[7]);
}

#[test]
fn first_entry_publishes_a_batch_across_the_end_of_the_ring() {
    // Positions 6 and 7 are held back. Positions 8 and 9 go to the slots in front of them at once.
    batches(2, 6, &[4]);
}

#[test]
fn consecutive_batches_stay_whole() {
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
