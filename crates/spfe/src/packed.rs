//! Packed receive: packets back to back in one area. The cheapest way to receive small packets.

#[cfg(feature = "fast")]
mod fast;

use crate::device::Device;
use crate::queue::{Place, Queue, QueueOptions};
use crate::tx::End;
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Error, Region, Result};
use spfe_contract::{
    self as contract, Completion, EndMarker, EntryType, QueueKind, RecordHeader, Release, Status,
    completion_flags as cf,
};
use spfe_ring::PackedReader;
use spfe_ring::packed::record_bytes;
use std::sync::Arc;

#[cfg(feature = "fast")]
pub use fast::FastPackedState;

/// Options of a packed receive queue.
#[derive(Clone, Copy, Debug)]
pub struct PackedOptions {
    /// Size of the area in bytes: 4096 to 1 GiB, rounded up to a multiple of 8.
    pub area_bytes: u32,
    /// Options of the queue. The depth is in runs; at most depth - 1 runs can wait to be taken,
    /// because the device keeps one completion for the run it is writing.
    pub queue: QueueOptions,
}

impl Default for PackedOptions {
    fn default() -> Self {
        Self { area_bytes: 1 << 20, queue: QueueOptions::default() }
    }
}

impl PackedOptions {
    /// Sets the size of the area in bytes.
    pub fn area(mut self, bytes: u32) -> Self {
        self.area_bytes = bytes;
        self
    }

    /// Sets the options of the queue.
    pub fn queue(mut self, options: QueueOptions) -> Self {
        self.queue = options;
        self
    }
}

/// The receive end of a virtual channel with a packed area.
///
/// A packet longer than a quarter of the area arrives in several records ([`Record::more`]). While
/// the area is full the sender waits; no packet is lost.
///
/// ```
/// use spfe::{Deadline, Endpoint, LinkRate, Mode, PackedOptions, Threshold};
/// let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
/// let mut rx = b.port(0)?.vc(0)?.rx_packed(PackedOptions::default())?;
/// let mut tx = a.port(0)?.vc(0)?.tx()?;
/// tx.send_burst(a.alloc(4096)?.buf(0..4096)?, 64, 64, 64)?;
/// rx.wait(&Threshold::count(64), Deadline::NEVER)?;
/// let mut packets = 0;
/// while let Some(run) = rx.poll() {
///     packets += run.records().filter(|record| record.bytes.len() == 64).count();
/// }
/// assert_eq!(packets, 64);
/// # Ok::<(), spfe::Error>(())
/// ```
pub struct PackedRx {
    queue: Queue,
    area: Region,
    size: u32,
    reader: PackedReader,
    owed_bytes: u32,
    owed_runs: u32,
}

/// Records that arrived together. Dropping the run returns its bytes to the device.
pub struct Run<'a> {
    rx: &'a mut PackedRx,
    offset: u32,
    bytes: u32,
    /// Number of records, as the device reports it.
    pub packets: u32,
    /// Device time in ns, if the queue has stamps or the link is paced.
    pub time_ns: Option<u64>,
}

/// A packet or part of one, in the packed area.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// How the packet ended; [`End::More`] if it continues in the next record.
    pub end: End,
}

impl Record<'_> {
    /// Whether the packet continues in the next record.
    pub fn more(&self) -> bool {
        self.end == End::More
    }
}

/// Iterator over the records of a run.
pub struct Records<'a> {
    bytes: &'a [u8],
}

impl PackedRx {
    pub(crate) fn open(
        device: Arc<Device>,
        port: u32,
        vc: u32,
        options: PackedOptions,
    ) -> Result<Self> {
        let limits = contract::PACKED_AREA_MIN_BYTES..=contract::PACKET_MAX_BYTES;
        if !limits.contains(&u64::from(options.area_bytes)) {
            let what = format!("packed area of {} bytes: {limits:?} allowed", options.area_bytes);
            return Err(Error::device(Status::BadRing, what));
        }
        let size = options.area_bytes.next_multiple_of(contract::PACKED_ALIGN as u32);
        let area = Region::new(device.clone(), "spfe-packed", size as usize)?;
        let place = Place { port, vc, kind: QueueKind::RxPacked };
        let mut queue = Queue::open(device.clone(), place, &options.queue, |request| {
            request.area = area.address(0);
            request.area_bytes = size;
        })?;
        queue.runner =
            device.engine(port).map(|engine| engine.receive(device.endpoint(), port, vc));
        let reader = PackedReader::new(size);
        Ok(Self { queue, area, size, reader, owed_bytes: 0, owed_runs: 0 })
    }

    /// The next run of records, if there is one.
    #[inline]
    pub fn poll(&mut self) -> Option<Run<'_>> {
        let Some(words) = self.queue.peek() else {
            self.give_back();
            self.queue.help_stalled();
            return None;
        };
        let done = Completion::from_words(words);
        let time_ns = self.queue.time_of(done.flags, self.queue.cq.position);
        self.queue.take_uncredited(&done);
        let Some(run) = self.reader.run(done.bytes, done.flags & cf::WRAP != 0) else {
            self.queue.set_broken();
            return None;
        };
        self.owed_bytes += run.owed;
        self.owed_runs += 1;
        let packets = u32::from(done.packets);
        Some(Run { offset: run.offset, bytes: run.bytes, packets, time_ns, rx: self })
    }

    /// Waits for a threshold and leaves the records to [`PackedRx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more packets will arrive.
    pub fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.give_back();
        self.queue.wait(threshold, deadline)
    }

    /// The threshold at which `percent` of the area is full, headers and padding included. Above
    /// 50 %, the sender may run out of room before, which ends the wait as well: a record takes up to
    /// a quarter of the area, and up to a quarter may be skipped at the end of the area.
    pub fn fill_threshold(&self, percent: u32) -> Threshold {
        Threshold::bytes((u64::from(self.size) * u64::from(percent) / 100).max(1))
    }

    /// Size of the area in bytes.
    pub fn area_bytes(&self) -> u32 {
        self.size
    }

    /// Makes the descriptor readable when the threshold is met. True if it is met already; then the
    /// descriptor may stay silent.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without [`QueueOptions::event`].
    pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
        self.give_back();
        self.queue.request_event(threshold)
    }

    /// Returns used bytes and completions to the device, with one entry for all of them.
    #[inline]
    fn give_back(&mut self) {
        if self.owed_runs == 0 {
            return;
        }
        let release = Release {
            bytes: self.owed_bytes,
            completions: self.owed_runs,
            flags: u16::from(EntryType::Release.raw()),
            ..Release::default()
        };
        self.queue.sq.push(release.to_words());
        self.owed_bytes = 0;
        self.owed_runs = 0;
        self.queue.offer_buffers(true);
    }

    /// Returns bytes and completions once they are an eighth of the area or a quarter of the ring.
    #[inline]
    fn settle(&mut self) {
        let many = self.owed_runs * 4 >= self.queue.cq.ring.size();
        if many || self.owed_bytes >= self.size / 8 {
            self.give_back();
        }
    }
}

crate::queue::common_methods!(PackedRx);

impl Drop for PackedRx {
    fn drop(&mut self) {
        // The device must have released the area before it is unmapped; otherwise leak it.
        if !self.queue.stop() {
            std::mem::forget(self.area.clone());
        }
    }
}

impl Run<'_> {
    /// The records, in order.
    #[inline]
    pub fn records(&self) -> Records<'_> {
        Records { bytes: self.as_bytes() }
    }

    /// The records as they lie in the area, with headers and padding.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: `PackedReader::run` checked that the run lies in the area. The device does not
        // write there before the bytes are returned, which needs the run to be dropped.
        unsafe {
            let first = self.rx.area.base().as_ptr().add(self.offset as usize);
            std::slice::from_raw_parts(first, self.bytes as usize)
        }
    }
}

impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        self.rx.settle();
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    /// Ends at a header that does not fit into the run, which only a broken device writes.
    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        const HEADER: usize = size_of::<RecordHeader>();
        let header = self.bytes.first_chunk::<HEADER>()?;
        let word = u64::from_le_bytes(*header);
        let length = word as u32;
        let total = record_bytes_checked(length)?;
        let bytes = self.bytes.get(HEADER..HEADER + length as usize)?;
        self.bytes = self.bytes.get(total..).unwrap_or_default();
        let end = match EndMarker::from_raw((word >> 32) as u8) {
            Some(EndMarker::Eop) => End::Eop,
            Some(EndMarker::None) => End::More,
            _ => End::Eep,
        };
        Some(Record { bytes, end })
    }
}

#[inline(always)]
fn record_bytes_checked(length: u32) -> Option<usize> {
    (u64::from(length) <= contract::PACKET_MAX_BYTES).then(|| record_bytes(length) as usize)
}
