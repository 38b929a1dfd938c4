//! Rings of frames between two nodes.
//!
//! The ring from writer to owner lies in the owner's memory; the writer only stores into it, and the
//! owner's credit lies in the writer's memory, so nobody reads across the fabric. A record has a
//! header of 16 bytes and never wraps; a pad fills the end of the ring. Positions are bytes and never
//! wrap either.
//!
//! Both ends treat what the other end writes as hostile: positions and headers are loaded once and
//! checked; a record that breaks a rule ends the link, and nothing panics.

use crate::memory::PairMemory;
use std::fmt;
use std::sync::atomic::Ordering;

/// Bytes of a record's header.
pub const RECORD_HEADER: u64 = 16;
/// Records start at multiples of this, bytes.
const ALIGN: u64 = 64;
/// In the header of a frame.
const FRAME: u32 = 0x4652_0001;
/// In the header of a pad.
const PAD: u32 = 0x4652_0002;
/// Longest content of a record: offload header, Ethernet header with tag, and the longest packet.
pub const RECORD_MAX: usize = 12 + 18 + 65_536;

/// How a peer broke the rules of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingFault {
    /// A position went back, or lies further ahead than the ring is long.
    Position {
        /// The position.
        position: u64,
        /// Our position.
        ours: u64,
    },
    /// A record is neither a frame nor a pad.
    Kind {
        /// What its header says.
        kind: u32,
    },
    /// A record is empty, longer than allowed, or does not fit.
    Length {
        /// Its length.
        bytes: u32,
    },
    /// A record has the wrong number: one was lost or repeated.
    Sequence {
        /// Its number.
        number: u64,
        /// The number that was due.
        due: u64,
    },
}

impl fmt::Display for RingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position { position, ours } => {
                write!(f, "ring position {position} beside ours at {ours}")
            }
            Self::Kind { kind } => write!(f, "ring record of kind {kind:#x}"),
            Self::Length { bytes } => {
                write!(f, "ring record of {bytes} bytes, 1 to {RECORD_MAX} are allowed")
            }
            Self::Sequence { number, due } => write!(f, "ring record {number}, {due} was due"),
        }
    }
}

/// The writing end of a ring.
#[derive(Debug, Default)]
pub struct RingWriter {
    produced: u64,
    /// The credit that was seen last.
    consumed: u64,
    sequence: u64,
}

/// Room for a record.
#[derive(Clone, Copy, Debug)]
pub struct RingRoom {
    /// Address of its content.
    pub at: *mut u8,
    /// Most bytes of content.
    pub bytes: usize,
}

impl RingWriter {
    /// Room for a record of at most `bytes` bytes; `None` while the ring is full. `out` is the memory
    /// with the ring, `back` that with the reader's credit.
    ///
    /// # Errors
    /// The reader's credit is impossible.
    pub fn room(
        &mut self,
        out: &PairMemory,
        back: &PairMemory,
        bytes: usize,
    ) -> Result<Option<RingRoom>, RingFault> {
        let need = (RECORD_HEADER + bytes as u64).next_multiple_of(ALIGN);
        let size = out.ring() as u64;
        let to_end = size - (self.produced & (size - 1));
        let wanted = if to_end < need { to_end + need } else { need };
        if size - (self.produced - self.consumed) < wanted {
            // Acquire pairs with the release in `RingReader::release`: what the reader took is free.
            let consumed = back.consumed().load(Ordering::Acquire);
            if consumed < self.consumed || consumed > self.produced {
                return Err(RingFault::Position { position: consumed, ours: self.produced });
            }
            self.consumed = consumed;
            if size - (self.produced - consumed) < wanted {
                return Ok(None);
            }
        }
        if to_end < need {
            self.header(out, PAD, (to_end - RECORD_HEADER) as u32);
            self.produced += to_end;
        }
        let at = out.ring_at(self.produced + RECORD_HEADER);
        Ok(Some(RingRoom { at, bytes }))
    }

    fn header(&mut self, out: &PairMemory, kind: u32, bytes: u32) {
        let first = u64::from(kind) << 32 | u64::from(bytes);
        out.ring_word(self.produced).store(first, Ordering::Relaxed);
        out.ring_word(self.produced + 8).store(self.sequence, Ordering::Relaxed);
        self.sequence += 1;
    }

    /// Makes the content in the room that [`RingWriter::room`] gave a record. The reader sees it
    /// after [`RingWriter::publish`]. A length of more than [`RECORD_MAX`] is cut.
    pub fn push(&mut self, out: &PairMemory, bytes: usize) {
        let bytes = bytes.min(RECORD_MAX) as u32;
        self.header(out, FRAME, bytes);
        self.produced += (RECORD_HEADER + u64::from(bytes)).next_multiple_of(ALIGN);
    }

    /// Shows the reader every record.
    pub fn publish(&self, out: &PairMemory) {
        // Release pairs with the acquire in `RingReader::next`.
        out.produced().store(self.produced, Ordering::Release);
    }
}

/// The reading end of a ring.
#[derive(Debug, Default)]
pub struct RingReader {
    consumed: u64,
    /// The end of the records that was seen last.
    produced: u64,
    sequence: u64,
    /// Where the record that [`RingReader::next`] gave ends.
    end: u64,
}

/// A record. Its bytes can change at any time.
#[derive(Clone, Copy, Debug)]
pub struct RingRecord {
    /// Address of its content.
    pub at: *mut u8,
    /// Bytes of its content.
    pub bytes: usize,
}

impl RingReader {
    /// The next record; `None` if there is none. The caller calls [`RingReader::release`] after it.
    ///
    /// # Errors
    /// The writer broke a rule.
    pub fn next(&mut self, ring: &PairMemory) -> Result<Option<RingRecord>, RingFault> {
        let size = ring.ring() as u64;
        // At most one pad comes before a record.
        for _ in 0..2 {
            if self.consumed == self.produced {
                // Acquire pairs with the release in `RingWriter::publish`.
                let produced = ring.produced().load(Ordering::Acquire);
                let ahead = produced.wrapping_sub(self.consumed);
                if ahead > size || !produced.is_multiple_of(ALIGN) {
                    return Err(RingFault::Position { position: produced, ours: self.consumed });
                }
                self.produced = produced;
                if ahead == 0 {
                    return Ok(None);
                }
            }
            let first = ring.ring_word(self.consumed).load(Ordering::Relaxed);
            let number = ring.ring_word(self.consumed + 8).load(Ordering::Relaxed);
            let (kind, bytes) = ((first >> 32) as u32, first as u32);
            if number != self.sequence {
                return Err(RingFault::Sequence { number, due: self.sequence });
            }
            let whole = (RECORD_HEADER + u64::from(bytes)).next_multiple_of(ALIGN);
            let to_end = size - (self.consumed & (size - 1));
            if whole > to_end || whole > self.produced - self.consumed {
                return Err(RingFault::Length { bytes });
            }
            self.sequence += 1;
            match kind {
                FRAME if bytes == 0 || bytes as usize > RECORD_MAX => {
                    return Err(RingFault::Length { bytes });
                }
                FRAME => {
                    self.end = self.consumed + whole;
                    let at = ring.ring_at(self.consumed + RECORD_HEADER);
                    return Ok(Some(RingRecord { at, bytes: bytes as usize }));
                }
                PAD if whole == to_end => self.consumed += whole,
                kind => return Err(RingFault::Kind { kind }),
            }
        }
        Ok(None)
    }

    /// Ends the use of the record that [`RingReader::next`] gave.
    pub fn release(&mut self) {
        self.consumed = self.consumed.max(self.end);
    }

    /// Gives the writer the room of all released records. `back` is the memory that we write.
    pub fn give_back(&self, back: &PairMemory) {
        // Release pairs with the acquire in `RingWriter::room`.
        back.consumed().store(self.consumed, Ordering::Release);
    }

    /// Whether the writer has published something new.
    pub fn has_news(&self, ring: &PairMemory) -> bool {
        ring.produced().load(Ordering::Relaxed) != self.consumed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;
    use proptest::prelude::*;

    fn pair(ring: usize) -> (PairMemory, PairMemory) {
        let one = || PairMemory::open(memory::create("t", PairMemory::bytes(ring)).unwrap(), ring);
        (one().unwrap(), one().unwrap())
    }

    fn put(writer: &mut RingWriter, out: &PairMemory, back: &PairMemory, content: &[u8]) -> bool {
        let Some(room) = writer.room(out, back, content.len()).unwrap() else { return false };
        // SAFETY: room for `content.len()` bytes of memory that nobody else uses in this test.
        unsafe { std::ptr::copy_nonoverlapping(content.as_ptr(), room.at, content.len()) };
        writer.push(out, content.len());
        true
    }

    fn take(reader: &mut RingReader, ring: &PairMemory) -> Option<Vec<u8>> {
        let record = reader.next(ring).unwrap()?;
        let mut content = vec![0; record.bytes];
        // SAFETY: the record has so many bytes, and nobody writes them in this test.
        unsafe { std::ptr::copy_nonoverlapping(record.at, content.as_mut_ptr(), record.bytes) };
        reader.release();
        Some(content)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn records_arrive_once_and_in_order(
            lengths in proptest::collection::vec(1usize..30_000, 1..80),
            takes in proptest::collection::vec(0usize..6, 80),
        ) {
            let (out, back) = pair(1 << 18);
            let (mut writer, mut reader) = (RingWriter::default(), RingReader::default());
            let mut due = std::collections::VecDeque::new();
            for (index, length) in lengths.iter().enumerate() {
                let content: Vec<u8> = (0..*length).map(|at| (at + index) as u8).collect();
                while !put(&mut writer, &out, &back, &content) {
                    writer.publish(&out);
                    prop_assert_eq!(take(&mut reader, &out), due.pop_front());
                    reader.give_back(&back);
                }
                due.push_back(content);
                writer.publish(&out);
                for _ in 0..takes[index] {
                    prop_assert_eq!(take(&mut reader, &out), due.pop_front());
                }
                reader.give_back(&back);
            }
            while let Some(content) = due.pop_front() {
                prop_assert_eq!(take(&mut reader, &out), Some(content));
            }
            prop_assert_eq!(take(&mut reader, &out), None);
        }

        #[test]
        fn a_hostile_ring_is_refused_and_harms_nobody(
            words in proptest::collection::vec(any::<u64>(), 64),
            positions in proptest::collection::vec(0u64..(1 << 19), 8),
        ) {
            let (ring, back) = pair(4096);
            for (index, word) in words.iter().enumerate() {
                ring.ring_word(8 * index as u64).store(*word, Ordering::Relaxed);
            }
            let (mut reader, mut writer) = (RingReader::default(), RingWriter::default());
            for position in positions {
                ring.produced().store(position, Ordering::Relaxed);
                back.consumed().store(position, Ordering::Relaxed);
                if reader.next(&ring).is_err() || writer.room(&ring, &back, 4000).is_err() {
                    break;
                }
                reader.release();
            }
        }
    }

    #[test]
    fn each_broken_rule_has_its_name() {
        let word = |kind: u32, bytes: u32| u64::from(kind) << 32 | u64::from(bytes);
        let cases = [
            (8192, word(FRAME, 8), 0, "ring position 8192"),
            (65, word(FRAME, 8), 0, "ring position 65"),
            (64, word(77, 8), 0, "kind 0x4d"),
            (64, word(FRAME, 0), 0, "record of 0 bytes"),
            (64, word(FRAME, 49), 0, "record of 49 bytes"),
            (64, word(FRAME, u32::MAX), 0, "record of 4294967295 bytes"),
            (64, word(PAD, 8), 0, "kind 0x46520002"),
            (64, word(FRAME, 8), 1, "record 1, 0 was due"),
        ];
        for (produced, first, number, text) in cases {
            let (ring, _) = pair(4096);
            ring.ring_word(0).store(first, Ordering::Relaxed);
            ring.ring_word(8).store(number, Ordering::Relaxed);
            ring.produced().store(produced, Ordering::Relaxed);
            let fault = RingReader::default().next(&ring).unwrap_err().to_string();
            assert!(fault.contains(text), "{fault}");
        }
        let (out, back) = pair(4096);
        let mut writer = RingWriter::default();
        assert!(writer.room(&out, &back, 4000).unwrap().is_some());
        writer.push(&out, 4000);
        assert!(writer.room(&out, &back, 4000).unwrap().is_none(), "full");
        back.consumed().store(8192, Ordering::Relaxed);
        assert!(writer.room(&out, &back, 4000).is_err());
    }
}
