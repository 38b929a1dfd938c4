//! Streams in memory whose other end writes anything: positions, the place where the ring begins.
//!
//! Each step takes nine bytes: what is done, and a number. What a reader takes and a writer puts stays
//! inside the ring, and no more is taken or put than there is.

use spfe_fabric::memory::{SharedWords, create};
use spfe_fabric::stream::{PutWay, StreamView, left_on_tcp};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

const RING: usize = 4096;
const STEPS: usize = 2000;
/// Behind the memory of a stream: nobody may write it.
const GUARD: usize = 4096;

fn memory() -> Option<(SharedWords, StreamView)> {
    let bytes = StreamView::bytes(RING) + GUARD;
    let words = SharedWords::open(create("fuzz", bytes).ok()?, bytes).ok()?;
    let base = NonNull::new(words.at(0))?;
    // SAFETY: the mapping is longer than this view, and returned with it.
    let view = unsafe { StreamView::new(base, RING) }?;
    Some((words, view))
}

fn guard_is_clean(words: &SharedWords) -> bool {
    (0..GUARD / 8)
        .all(|index| words.word(StreamView::bytes(RING) + 8 * index).load(Ordering::Relaxed) == 0)
}

crate::target!(|input: Vec<u8>| {
    let (Some((out_words, out)), Some((_in_words, inward))) = (memory(), memory()) else { return };
    let (mut produced, mut consumed) = (0u64, 0u64);
    let mut buffer = [0u8; RING + 1];
    let content = [0xa5u8; RING];
    for step in input.chunks_exact(9).take(STEPS) {
        let number = u64::from_le_bytes(step[1..].try_into().unwrap_or_default());
        match step[0] % 6 {
            0 => inward.produced().store(number, Ordering::Relaxed),
            1 => inward.consumed().store(number, Ordering::Relaxed),
            // Positions that may be right.
            2 => inward.produced().store(consumed.wrapping_add(number % 5000), Ordering::Relaxed),
            3 => inward.consumed().store(produced.wrapping_sub(number % 5000), Ordering::Relaxed),
            4 => {
                if let Ok(available) = inward.available(consumed) {
                    assert!(available <= RING);
                    let bytes = available.min(number as usize % (RING + 1));
                    // SAFETY: the buffer is longer than the ring.
                    unsafe { inward.take(consumed, buffer.as_mut_ptr(), bytes) };
                    assert_eq!(buffer[RING], 0, "more was taken than the ring has");
                    consumed = consumed.wrapping_add(bytes as u64);
                }
                let [start, received] = [number >> 32, number & 0xffff_ffff];
                assert!(
                    left_on_tcp(start, received, number % 1000).is_none_or(|left| left <= start)
                );
            }
            _ => {
                let way = if number % 2 == 0 { PutWay::Cached } else { PutWay::Streaming };
                if let Ok(room) = out.room(&inward, produced) {
                    assert!(room <= RING);
                    let bytes = room.min(number as usize % (RING + 1));
                    // SAFETY: the content is as long as the ring.
                    unsafe { out.put(way, produced, content.as_ptr(), bytes) };
                    produced = produced.wrapping_add(bytes as u64);
                }
            }
        }
    }
    assert!(guard_is_clean(&out_words), "more was put than the ring takes");
});
