//! Rings of a fabric whose other end writes anything: words of the ring, positions, credit.
//!
//! Each step takes nine bytes: what is done, and a number.

use spfe_fabric::memory::{PairMemory, create};
use spfe_fabric::ring::{RECORD_HEADER, RECORD_MAX, RingReader, RingWriter};
use std::sync::atomic::Ordering;

const RING: usize = 1 << 18;
const STEPS: usize = 2000;

fn memory() -> Option<PairMemory> {
    PairMemory::open(create("fuzz", PairMemory::bytes(RING)).ok()?, RING).ok()
}

crate::target!(|input: Vec<u8>| {
    let (Some(ring), Some(back)) = (memory(), memory()) else { return };
    let (mut reader, mut writer) = (RingReader::default(), RingWriter::default());
    let (mut reads, mut writes, mut place) = (true, true, 0u64);
    for step in input.chunks_exact(9).take(STEPS) {
        let number = u64::from_le_bytes(step[1..].try_into().unwrap_or_default());
        match step[0] % 8 {
            0 => ring.produced().store(number, Ordering::Relaxed),
            1 => back.consumed().store(number, Ordering::Relaxed),
            2 => ring.ring_word(number & !7).store(number, Ordering::Relaxed),
            // A header that may be right: kind, length and number of a record.
            3 => {
                let kind = 0x4652_0000 | (number & 3);
                ring.ring_word(place).store(kind << 32 | number >> 48, Ordering::Relaxed);
                ring.ring_word(place + 8).store(number >> 8 & 0xff, Ordering::Relaxed);
                let bytes = (RECORD_HEADER + (number >> 48)).next_multiple_of(64);
                place = place.wrapping_add(bytes);
                ring.produced().store(place, Ordering::Relaxed);
            }
            4 | 5 if reads => match reader.next(&ring) {
                Ok(Some(record)) => {
                    let start = ring.ring_at(0) as usize;
                    let at = record.at as usize;
                    assert!(record.bytes <= RECORD_MAX && at >= start);
                    assert!(at + record.bytes <= start + RING, "a record outside of the ring");
                    reader.release();
                    reader.give_back(&back);
                }
                Ok(None) => {}
                Err(_) => reads = false,
            },
            6 if writes => {
                let bytes = number as usize % (RECORD_MAX + 1);
                match writer.room(&ring, &back, bytes) {
                    Ok(Some(room)) => {
                        let start = ring.ring_at(0) as usize;
                        assert!(room.at as usize + bytes <= start + RING);
                        writer.push(&ring, bytes);
                    }
                    Ok(None) => {}
                    Err(_) => writes = false,
                }
            }
            _ => writer.publish(&ring),
        }
    }
});
