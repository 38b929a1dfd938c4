//! Submission ring, completion ring, and the credit between them.

use super::{Bytes, LOG2, Memory, SIZE, check, entry, number, pop_waiting};
use loom::thread;
use spfe_ring::cursor::Recycler;
use spfe_ring::ring::RingEntry;
use spfe_ring::{Consumer, Cursor, Producer, Ring, RingCredit, RingPair};

/// The device: takes `entries` submissions, writes an answer into the buffer of each, and completes
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

/// The host: posts as many entries as its credit allows, and reuses buffers that completions free.
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
fn rings_keep_order_and_overwrite_nothing() {
    ring_pair(6, 1);
}

#[test]
fn one_completion_frees_several_submissions() {
    ring_pair(8, 2);
}

/// Waits for the entry at a cursor.
fn read_waiting(cursor: &Cursor<RingPair>) -> RingEntry {
    loop {
        if let Some(entry) = cursor.read() {
            return entry;
        }
        thread::yield_now();
    }
}

/// The host sends buffers in slots whose first word never changes: storing the second word
/// publishes the buffer. It posts each buffer once.
#[test]
fn publishing_a_slot_publishes_its_buffer() {
    check(|| {
        let memory = Memory::new(LOG2);
        let ring = memory.ring();
        let buffers = Bytes::new(SIZE);
        (0..SIZE).for_each(|index| ring.prepare(index, entry(index)[0]));
        let host = thread::spawn({
            let buffers = buffers.clone();
            move || {
                let mut cursor = Cursor::new(ring, 0);
                for index in 0..SIZE {
                    buffers.put(index, 100 + index);
                    cursor.publish(u64::from(index));
                    cursor.advance();
                }
            }
        });
        let mut consumer = Consumer::new(ring);
        for index in 0..SIZE {
            assert_eq!(number(pop_waiting(&mut consumer)), index);
            assert_eq!(buffers.get(index), 100 + index);
        }
        host.join().unwrap();
    });
}

/// Slots whose first word never changes: each is completed, used, and posted for the next lap.
#[test]
fn slots_are_posted_again_for_the_next_lap() {
    const PACKETS: u32 = 6;
    check(|| {
        let memory = [Memory::new(LOG2), Memory::new(LOG2)];
        let (submissions, completions) = (memory[0].ring(), memory[1].ring());
        let buffers = Bytes::new(SIZE);
        for index in 0..SIZE {
            submissions.prepare(index, entry(index)[0]);
            Cursor::new(submissions, index).publish(0);
        }
        let device = thread::spawn({
            let buffers = buffers.clone();
            move || {
                let rings = RingPair::new(submissions, completions).expect("one size");
                let mut cursor = Cursor::new(rings, 0);
                for packet in 0..PACKETS {
                    assert_eq!(read_waiting(&cursor)[0], entry(packet % SIZE)[0]);
                    buffers.put(cursor.index(), packet);
                    let [word0, word1] = entry(packet);
                    cursor.partner_write([word0, word1 | u64::from(cursor.phase()) << 32]);
                    cursor.advance();
                }
            }
        });
        let mut host = Recycler::new(completions, submissions, 0, 2).expect("one size");
        for packet in 0..PACKETS {
            assert_eq!(number(read_waiting(host.cursor())), packet);
            assert_eq!(buffers.get(host.cursor().index()), packet);
            assert_eq!(host.position(), packet);
            host.recycle();
        }
        device.join().unwrap();
    });
}
