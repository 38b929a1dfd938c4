//! Rings of bytes under TCP connections: what `vxrun` moves streams through.
//!
//! Each end of a connection owns one memory, which only the other end writes: a page of words, and
//! the ring from there to here. Positions count bytes and never wrap. Each direction begins on TCP;
//! its sender says at which byte of TCP it goes on in the ring.
//!
//! Both ends treat what the other one writes as hostile: a position is loaded once and checked, and
//! a wrong one is a [`StreamFault`], which ends the connection.

mod way;

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

pub use way::{PutChoice, PutWay};

/// Bytes of the words before a ring.
pub const STREAM_CONTROL: usize = 4096;
/// Bytes of a ring between two programs.
pub const STREAM_RING: usize = 1 << 20;
/// In [`StreamView::closing`]: no more bytes come.
pub const STREAM_ENDED: u64 = 1;
/// In [`StreamView::closing`]: nobody reads any more.
pub const STREAM_CLOSED: u64 = 2;

/// A position that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamFault {
    /// What the other end says.
    pub position: u64,
    /// Our position.
    pub ours: u64,
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream position {} beside ours at {}", self.position, self.ours)
    }
}

/// A memory of a stream, mapped by someone else. Its writer is the sender of the ring in it.
#[derive(Clone, Copy, Debug)]
pub struct StreamView {
    base: NonNull<u8>,
    ring: usize,
}

// SAFETY: the memory has no thread affinity; all words are atomic, and users copy bytes.
unsafe impl Send for StreamView {}
// SAFETY: as above.
unsafe impl Sync for StreamView {}

impl StreamView {
    /// Bytes of a memory with a ring of so many bytes.
    pub const fn bytes(ring: usize) -> usize {
        STREAM_CONTROL + ring
    }

    /// A view of mapped memory. `None` unless the ring is a power of two from 4096.
    ///
    /// # Safety
    /// [`StreamView::bytes`] bytes at `base`, which is a multiple of 8, stay mapped as long as a copy
    /// of the view is used, and for writing if words are stored or [`StreamView::put`] is called.
    pub unsafe fn new(base: NonNull<u8>, ring: usize) -> Option<Self> {
        (ring.is_power_of_two() && ring >= 4096).then_some(Self { base, ring })
    }

    /// Address of the memory.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes of the ring.
    pub fn ring(&self) -> usize {
        self.ring
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: aligned and inside the control page, by the promise of `new`. The other end may
        // write it at any time, which atomics allow.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().wrapping_add(offset).cast()) }
    }

    /// Not 0 once the writer of this memory waits for its bells and no longer for TCP alone.
    pub fn listens(&self) -> &AtomicU64 {
        self.word(0)
    }

    /// One more than the bytes after which the writer's stream goes on in the ring; 0 before.
    pub fn start(&self) -> &AtomicU64 {
        self.word(8)
    }

    /// [`STREAM_ENDED`] and [`STREAM_CLOSED`].
    pub fn closing(&self) -> &AtomicU64 {
        self.word(16)
    }

    /// Bytes that the writer has put into the ring.
    pub fn produced(&self) -> &AtomicU64 {
        self.word(64)
    }

    /// Bytes that the writer has taken from the ring of the other direction.
    pub fn consumed(&self) -> &AtomicU64 {
        self.word(128)
    }

    /// How often the writer has gone to sleep until data comes.
    pub fn data_sleeps(&self) -> &AtomicU64 {
        self.word(192)
    }

    /// How often the writer has gone to sleep until the ring has room.
    pub fn room_sleeps(&self) -> &AtomicU64 {
        self.word(200)
    }

    /// One more than the number of the processor on which the writer ran last.
    pub fn processor(&self) -> &AtomicU64 {
        self.word(208)
    }

    /// Bytes of room in this ring after `produced` bytes; `back` is the other memory.
    ///
    /// # Errors
    /// The reader says that it has taken what was never sent.
    pub fn room(&self, back: &Self, produced: u64) -> Result<usize, StreamFault> {
        // Acquire pairs with the release of the reader: what it took is free.
        let position = back.consumed().load(Ordering::Acquire);
        let used = produced.wrapping_sub(position);
        if used > self.ring as u64 {
            return Err(StreamFault { position, ours: produced });
        }
        Ok(self.ring - used as usize)
    }

    /// Bytes in this ring behind `consumed` bytes.
    ///
    /// # Errors
    /// The sender went back, or beyond the length of the ring.
    pub fn available(&self, consumed: u64) -> Result<usize, StreamFault> {
        // Acquire pairs with the release of the sender: its bytes are there.
        let position = self.produced().load(Ordering::Acquire);
        let ahead = position.wrapping_sub(consumed);
        if ahead > self.ring as u64 {
            return Err(StreamFault { position, ours: consumed });
        }
        Ok(ahead as usize)
    }

    /// The parts of the ring that `bytes` bytes at a position take, with their lengths.
    fn parts(&self, position: u64, bytes: usize) -> [(*mut u8, usize); 2] {
        let bytes = bytes.min(self.ring);
        let at = position as usize & (self.ring - 1);
        let first = bytes.min(self.ring - at);
        let start = self.base.as_ptr().wrapping_add(STREAM_CONTROL);
        [(start.wrapping_add(at), first), (start, bytes - first)]
    }

    /// Copies bytes into the ring; at most its length.
    ///
    /// # Safety
    /// `from` has so many bytes, and this end is the sender.
    pub unsafe fn put(&self, way: PutWay, position: u64, from: *const u8, bytes: usize) {
        let copy: unsafe fn(*const u8, *mut u8, usize) = match way {
            PutWay::Cached => std::ptr::copy_nonoverlapping,
            PutWay::Streaming => way::stream,
        };
        let mut from = from;
        for (to, bytes) in self.parts(position, bytes) {
            // SAFETY: inside the ring; the caller's promise for the source. The reader may look at
            // these bytes only after the sender has said that they are there.
            unsafe { copy(from, to, bytes) };
            from = from.wrapping_add(bytes);
        }
    }

    /// Copies bytes out of the ring; at most its length.
    ///
    /// # Safety
    /// `to` has room for so many bytes.
    pub unsafe fn take(&self, position: u64, to: *mut u8, bytes: usize) {
        let mut to = to;
        for (from, bytes) in self.parts(position, bytes) {
            // SAFETY: inside the ring; the caller's promise for the target. A hostile sender can
            // change these bytes meanwhile, which garbles its own stream.
            unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, bytes) };
            to = to.wrapping_add(bytes);
        }
    }
}

/// Bytes of TCP that a reader still has to take before it goes on in the ring: the sender changed
/// over after `start` bytes, the kernel has received `received` of them, and `waiting` are not read
/// yet. The end of a stream counts as a byte in some kernels, which the limit to `start` takes out.
/// `None` if more bytes were read than the sender says to have sent.
pub fn left_on_tcp(start: u64, received: u64, waiting: u64) -> Option<u64> {
    let read = received.min(start).checked_sub(waiting.min(received.min(start)))?;
    start.checked_sub(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{SharedWords, create};
    use proptest::prelude::*;

    const RING: usize = 4096;

    fn memory() -> (SharedWords, StreamView) {
        let bytes = StreamView::bytes(RING);
        let words = SharedWords::open(create("t", bytes).unwrap(), bytes).unwrap();
        let base = NonNull::new(words.at(0)).unwrap();
        // SAFETY: the mapping has this size, and the caller keeps it.
        let view = unsafe { StreamView::new(base, RING) }.unwrap();
        (words, view)
    }

    proptest! {
        #[test]
        fn bytes_arrive_in_order(
            writes in proptest::collection::vec(0usize..6000, 1..40),
            reads in proptest::collection::vec(0usize..6000, 40),
        ) {
            let ((_a, ring), (_b, back)) = (memory(), memory());
            let (mut produced, mut consumed) = (0u64, 0u64);
            for (number, (write, read)) in writes.iter().zip(&reads).enumerate() {
                let way = [PutWay::Cached, PutWay::Streaming][number % 2];
                let bytes = ring.room(&back, produced).unwrap().min(*write);
                let content: Vec<u8> = (0..bytes as u64).map(|i| (produced + i) as u8).collect();
                // SAFETY: the content has this length.
                unsafe { ring.put(way, produced, content.as_ptr(), bytes) };
                produced += bytes as u64;
                ring.produced().store(produced, Ordering::Release);
                let bytes = ring.available(consumed).unwrap().min(*read);
                let mut content = vec![0u8; bytes];
                // SAFETY: the content has this length.
                unsafe { ring.take(consumed, content.as_mut_ptr(), bytes) };
                let due: Vec<u8> = (0..bytes as u64).map(|i| (consumed + i) as u8).collect();
                prop_assert_eq!(content, due);
                consumed += bytes as u64;
                back.consumed().store(consumed, Ordering::Release);
            }
        }
    }

    #[test]
    fn impossible_positions_are_faults() {
        let ((_a, ring), (_b, back)) = (memory(), memory());
        ring.produced().store(RING as u64 + 1, Ordering::Relaxed);
        assert_eq!(ring.available(0), Err(StreamFault { position: 4097, ours: 0 }));
        assert_eq!(ring.available(1), Ok(RING));
        assert!(ring.available(RING as u64 + 2).unwrap_err().to_string().contains("4097"), "back");
        back.consumed().store(5, Ordering::Relaxed);
        assert_eq!(ring.room(&back, 4), Err(StreamFault { position: 5, ours: 4 }));
        assert_eq!(ring.room(&back, 5), Ok(RING));
        // SAFETY: never used.
        assert!(unsafe { StreamView::new(ring.base(), 5000) }.is_none());
    }

    #[test]
    fn tcp_is_read_up_to_the_change() {
        assert_eq!(left_on_tcp(100, 100, 0), Some(0));
        assert_eq!(left_on_tcp(100, 70, 30), Some(60), "30 wait, 30 are on the way");
        assert_eq!(left_on_tcp(100, 101, 40), Some(40), "the end has arrived, too");
        assert_eq!(left_on_tcp(0, 1, 0), Some(0));
        assert_eq!(left_on_tcp(0, 0, 7), Some(0), "nothing was sent that could wait");
    }
}
