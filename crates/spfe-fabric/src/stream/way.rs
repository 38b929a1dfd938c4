//! Two ways to store into a ring, and the choice between them.
//!
//! A store through the caches has to fetch each line from the processor of the reader first. Between
//! near processors that costs little, and the reader finds the bytes in a cache. Between far ones it
//! can take ten times as long as to store past the caches, into memory. Which it is depends on where
//! both ends run now, so the writer measures both from time to time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Shorter stores say little about the time of each byte.
const BYTES: usize = 16 << 10;
/// A trial begins with the first long store after so many, and again whenever there were `PERIOD`.
const FIRST: u64 = 64;
const PERIOD: u64 = 1024;
/// Stores of each way in a trial.
const EACH: u64 = 8;

/// How bytes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutWay {
    /// Through the caches.
    Cached,
    /// Past the caches, where the processor can.
    Streaming,
}

/// Which way a sender uses. Starts as zeroes; one sender at a time uses it.
#[derive(Debug, Default)]
pub struct PutChoice {
    /// Long stores so far.
    count: AtomicU64,
    /// The shortest time of each way in the present trial, ps for each byte; 0 for none.
    best_ps: [AtomicU64; 2],
    /// 1 if streaming is faster.
    streams: AtomicU64,
}

impl PutChoice {
    /// The way of the next store, and whether [`note`](Self::note) wants to know its time.
    pub fn next(&self, bytes: usize) -> (PutWay, bool) {
        let ways = [PutWay::Cached, PutWay::Streaming];
        let usual = ways[usize::from(self.streams.load(Ordering::Relaxed) != 0)];
        if bytes < BYTES || cfg!(not(target_arch = "x86_64")) {
            return (usual, false);
        }
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1), Ordering::Relaxed);
        match (count % PERIOD).wrapping_sub(FIRST) {
            place if place < EACH => (PutWay::Cached, true),
            place if place < 2 * EACH => (PutWay::Streaming, true),
            _ => (usual, false),
        }
    }

    /// Notes the time of a store. A store that was interrupted took longer, so the shortest counts.
    pub fn note(&self, way: PutWay, bytes: usize, ns: u64) {
        let place = &self.best_ps[way as usize];
        let (best, now) = (place.load(Ordering::Relaxed), (ns * 1000 / bytes.max(1) as u64).max(1));
        place.store(if best == 0 { now } else { best.min(now) }, Ordering::Relaxed);
        if self.count.load(Ordering::Relaxed) % PERIOD == FIRST + 2 * EACH {
            let [cached, streaming] =
                [0, 1].map(|way: usize| self.best_ps[way].swap(0, Ordering::Relaxed));
            // The reader then fetches the bytes from memory, which can cost it twice as much as this
            // store costs us.
            let streams = streaming * 4 < cached;
            self.streams.store(u64::from(streams), Ordering::Relaxed);
        }
    }
}

/// Copies bytes past the caches. Who is told of them afterwards sees them.
///
/// # Safety
/// As for `copy_nonoverlapping`.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    const LINE: usize = 64;
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: the three parts are those of the copy; the middle one begins at a line of the target,
    // and this instruction set is part of every x86-64.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let source = from.add(at).cast::<__m128i>();
            let target = to.add(at).cast::<__m128i>();
            for part in 0..LINE / size_of::<__m128i>() {
                _mm_stream_si128(target.add(part), _mm_loadu_si128(source.add(part)));
            }
        }
        std::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), bytes - tail);
        _mm_sfence();
    }
}

/// There is no such instruction.
///
/// # Safety
/// As for `copy_nonoverlapping`.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Runs stores of 64 KiB, of which each takes so long; returns the ways of the last hundred.
    fn run(choice: &PutChoice, stores: u64, [cached, streaming]: [u64; 2]) -> Vec<PutWay> {
        let mut ways = Vec::new();
        for _ in 0..stores {
            let (way, timed) = choice.next(65536);
            if timed {
                choice.note(way, 65536, if way == PutWay::Cached { cached } else { streaming });
            }
            ways.push(way);
        }
        ways.split_off(ways.len() - 100)
    }

    #[test]
    fn the_faster_way_is_used_and_found_again() {
        let choice = PutChoice::default();
        let all = |way| vec![way; 100];
        assert_eq!(run(&choice, 900, [6000, 1900]), all(PutWay::Cached), "not worth it");
        assert_eq!(run(&choice, 1024, [20_000, 2000]), all(PutWay::Streaming));
        assert_eq!(
            run(&choice, 1024, [2000, 1900]),
            all(PutWay::Cached),
            "the processors are near"
        );
        // Three trials of 16 stores each were measured.
        assert_eq!(choice.count.load(Ordering::Relaxed), 2948);
    }

    #[test]
    fn an_interrupted_store_decides_nothing() {
        let choice = PutChoice::default();
        for number in 0..200 {
            let (way, timed) = choice.next(65536);
            if timed {
                choice.note(way, 65536, if number % 3 == 0 { 4_000_000 } else { 2000 });
            }
        }
        assert_eq!(choice.next(65536).0, PutWay::Cached);
    }

    #[test]
    fn short_stores_are_not_measured() {
        let choice = PutChoice::default();
        assert!((0..5000).all(|_| choice.next(16383) == (PutWay::Cached, false)));
        assert!((0..100).any(|_| choice.next(16384).1));
    }
}
