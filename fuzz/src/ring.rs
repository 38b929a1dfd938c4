//! The host side of a queue: positions, credit, and stores that no honest host makes.

use crate::entry::{Keys, Place};
use arbitrary::{Arbitrary, Result, Unstructured};
use spfe_contract::{Completion, PACKED_AREA_MIN_BYTES, QueueKind, QueueSetup, queue_options};
use spfe_host::{QueueRequest, SharedMemory};
use spfe_ring::{AtomicDeviceLine, AtomicHostLine, Ring, RingCredit, Slot};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of the memory of rings and lines.
pub const RINGS_BYTES: usize = 8192;
/// Maximum number of entries of a ring, log2.
const LOG2_MAX: u32 = 4;
/// Offset of the submission ring, after the lines.
const SQ: u64 = 128;

/// Configuration of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    log2: u8,
    more: bool,
    stamps: bool,
    area: u16,
    /// Unusual addresses of submissions, completions, times, lines and area.
    odd: Option<[(Place, u16); 5]>,
    /// Unusual sizes of the rings and of the area.
    sizes: Option<(u32, u32, u32)>,
}

impl<'a> Arbitrary<'a> for Shape {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            log2: u.arbitrary()?,
            more: !u.ratio(3, 4)?,
            stamps: !u.ratio(3, 4)?,
            area: u.arbitrary()?,
            // The normal configuration once the input has ended.
            odd: if u.ratio(15, 16)? { None } else { Some(u.arbitrary()?) },
            sizes: if u.ratio(15, 16)? { None } else { Some(u.arbitrary()?) },
        })
    }
}

impl Shape {
    /// Whether rings and area are where an honest host puts them.
    pub fn is_plain(&self) -> bool {
        self.odd.is_none() && self.sizes.is_none()
    }

    /// Removes everything unusual, so that the area fits its region.
    pub fn plain(mut self) -> Self {
        self.odd = None;
        self.area %= 1 << 15;
        self.sizes = None;
        self
    }

    /// Limits the area to a region of this many bytes, unless an input asks for unusual sizes.
    pub fn within(mut self, bytes: usize) -> Self {
        if self.is_plain() {
            let most = (bytes - PACKED_AREA_MIN_BYTES as usize) / 8 * 4;
            self.area %= u16::try_from(most).unwrap_or(u16::MAX);
        }
        self
    }

    /// Whether a ring or the area is among the buffers of the client.
    pub fn touches_data(&self) -> bool {
        self.odd.is_some_and(|odd| odd.iter().any(|(place, _)| !matches!(place, Place::Rings)))
    }

    /// The request to open the queue.
    pub fn request(&self, kind: QueueKind, keys: &Keys) -> QueueRequest {
        let log2 = 2 + u32::from(self.log2) % (LOG2_MAX - 1);
        let equal = matches!(kind, QueueKind::RxPacked | QueueKind::MessageRx);
        let cq_log2 = log2 + u32::from(self.more && !equal);
        let cq = SQ + (16 << LOG2_MAX);
        let stamps = cq + (16 << (LOG2_MAX + 1));
        let setup = QueueSetup {
            kind: u32::from(kind.raw()),
            options: if self.stamps { queue_options::STAMP } else { 0 },
            sq_log2: log2,
            cq_log2,
            sq: keys.address(Place::Rings, SQ),
            cq: keys.address(Place::Rings, cq),
            stamp: keys.address(Place::Rings, stamps),
            lines: keys.address(Place::Rings, 0),
            area: keys.address(Place::Data, 0),
            area_bytes: PACKED_AREA_MIN_BYTES as u32 + u32::from(self.area) / 4 * 8,
            ..QueueSetup::default()
        };
        let mut request = QueueRequest { setup, ..QueueRequest::default() };
        if let Some(odd) = self.odd {
            let [sq, cq, stamps, lines, area] =
                odd.map(|(place, offset)| keys.address(place, u64::from(offset & !7)));
            (request.sq, request.cq, request.stamp) = (sq & !63, cq & !63, stamps);
            (request.lines, request.area) = (lines & !63, area);
        }
        if let Some((sq, cq, area)) = self.sizes {
            (request.sq_log2, request.cq_log2, request.area_bytes) = (sq % 20, cq % 20, area);
        }
        request
    }
}

/// The host side of a queue with its rings where an honest host puts them.
pub struct HostQueue {
    memory: Arc<SharedMemory>,
    /// Submission ring.
    pub sq: Ring,
    /// Completion ring.
    pub cq: Ring,
    /// Position of the next submission.
    pub posted: u32,
    /// Position of the next completion.
    pub consumed: u32,
    credit: RingCredit,
}

impl HostQueue {
    /// Clears the rings. Comes before the queue is opened.
    pub fn new(memory: Arc<SharedMemory>, request: &QueueRequest) -> Self {
        crate::memory::bytes_mut(&memory)[..].fill(0);
        let at = |address: u64, log2: u32| {
            let offset = spfe_device::Address(address).offset() as usize;
            let last = memory.size() - (16 << log2);
            // SAFETY: inside the mapping, which the queue keeps, and aligned to 64 bytes.
            unsafe {
                let slots = memory.base().add(offset.min(last) & !63).cast::<Slot>();
                Ring::new(slots, log2)
            }
        };
        let log2 = |log2: u32| log2.clamp(2, LOG2_MAX + 1);
        let sq = at(request.sq, log2(request.sq_log2));
        let cq = at(request.cq, log2(request.cq_log2));
        Self { memory, sq, cq, posted: 0, consumed: 0, credit: RingCredit::default() }
    }

    /// Number of submissions that an honest host may post.
    pub fn free(&self) -> u32 {
        self.credit.free(self.sq.size(), self.posted)
    }

    /// Publishes a submission.
    pub fn post(&mut self, words: [u64; 2]) {
        self.sq.write(self.posted, words);
        self.posted = self.posted.wrapping_add(1);
    }

    /// Changes a posted submission, which no honest host does.
    pub fn rewrite(&self, back: u8, words: [u64; 2]) {
        let back = 1 + u32::from(back) % self.sq.size();
        self.sq.write(self.posted.wrapping_sub(back), words);
    }

    /// Stores a word anywhere in the ring memory, which no honest host does.
    pub fn scribble(&self, offset: u16, value: u64) {
        let word = usize::from(offset) % (RINGS_BYTES / 8);
        crate::memory::bytes_mut(&self.memory)[word * 8..][..8]
            .copy_from_slice(&value.to_le_bytes());
    }

    /// The next completion. It stays in place.
    pub fn peek(&self) -> Option<Completion> {
        self.cq.read(self.consumed).map(Completion::from_words)
    }

    /// Takes the next completion and the submissions that it frees. Fails if it names no
    /// outstanding one.
    pub fn take(&mut self) -> Option<(Completion, std::ops::Range<u32>)> {
        let done = self.peek()?;
        self.consumed = self.consumed.wrapping_add(1);
        let freed = self.credit.free_to(done.position, self.posted);
        Some((done, freed.expect("an outstanding submission")))
    }

    /// Takes the next completion of a queue whose completions free nothing.
    pub fn take_uncredited(&mut self) -> Option<Completion> {
        let done = self.peek()?;
        self.consumed = self.consumed.wrapping_add(1);
        Some(done)
    }

    /// The line the host writes.
    pub fn host_line(&self) -> &AtomicHostLine {
        // SAFETY: at the start of the mapping, which the queue keeps. The line consists of atomics.
        unsafe { self.memory.base().cast::<AtomicHostLine>().as_ref() }
    }

    /// The line the device writes.
    pub fn device_line(&self) -> &AtomicDeviceLine {
        // SAFETY: as for the host line.
        let line: NonNull<AtomicDeviceLine> = unsafe { self.memory.base().add(64) }.cast();
        // SAFETY: as above.
        unsafe { line.as_ref() }
    }
}
