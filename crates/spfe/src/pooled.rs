//! Pooled queues: each ring entry has a buffer of its own, all of one size.
//!
//! An entry never changes its buffer, so posting is a single 8-byte store, the least that the
//! contract allows per packet. Where the bytes are elsewhere in memory, use [`crate::Tx`] and
//! [`crate::Rx`].

#[cfg(feature = "fast")]
mod fast;

use crate::device::Device;
use crate::queue::{Place, Queue, QueueOptions, status_of};
use crate::tx::{End, Sent};
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Error, Region, Result};
use spfe_contract::{
    self as contract, Completion, EntryType, QueueKind, Status, completion_flags as cf,
    submit_flags as sf,
};
use spfe_ring::Ring;
use spfe_ring::cursor::{Cursor, Mark, Recycler};
use std::sync::Arc;

#[cfg(feature = "fast")]
pub use fast::FastRxState;

/// Options of a pooled queue.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// Size of a slot in bytes, 1 to 1 GiB.
    pub slot_bytes: u32,
    /// Options of the queue; its depth is the number of slots.
    pub queue: QueueOptions,
}

impl PoolOptions {
    /// Options for `slots` slots of `bytes` each.
    pub fn new(slots: u32, bytes: u32) -> Self {
        Self { slot_bytes: bytes, queue: QueueOptions::default().depth(slots) }
    }

    /// Sets the options of the queue, except its depth, which stays the number of slots.
    pub fn queue(mut self, options: QueueOptions) -> Self {
        let depth = self.queue.depth;
        self.queue = options.depth(depth);
        self
    }
}

/// Memory of the slots: one for each ring entry, each on its own cache lines.
struct Pool {
    region: Region,
    stride: usize,
    bytes: u32,
}

impl Pool {
    fn new(device: &Arc<Device>, options: &PoolOptions) -> Result<Self> {
        let bytes = options.slot_bytes;
        if bytes == 0 || u64::from(bytes) > contract::PACKET_MAX_BYTES {
            let what =
                format!("slots of {bytes} bytes: 1 to {} allowed", contract::PACKET_MAX_BYTES);
            return Err(Error::device(Status::BadField, what));
        }
        let stride = (bytes as usize).next_multiple_of(64);
        let region = Region::new(device.clone(), "spfe-pool", stride << options.queue.log2()?)?;
        Ok(Self { region, stride, bytes })
    }

    #[inline(always)]
    fn at(&self, index: u32) -> *mut u8 {
        // SAFETY: there are as many slots as ring entries, and the index is masked to the ring.
        unsafe { self.region.base().as_ptr().add(self.stride * index as usize) }
    }

    /// The packet in a completed slot.
    #[inline(always)]
    fn packet(&self, [w0, w1]: [u64; 2], index: u32) -> Packet<'_> {
        // Only a broken device writes a greater length.
        let length = (w0 as u32).min(self.bytes);
        // SAFETY: the slot has completed. The device does not access it until it is released, which
        // needs the queue mutably.
        let bytes = unsafe { std::slice::from_raw_parts(self.at(index), length as usize) };
        let end = match (w1 >> 32) as u16 & (cf::END_MASK | cf::MORE) {
            0 => End::Eop,
            1 => End::Eep,
            _ => End::More,
        };
        Packet { bytes, end, status: status_of(&Completion::from_words([w0, w1])) }
    }

    fn address(&self, index: u32) -> u64 {
        self.region.address(self.stride * index as usize)
    }
}

const DATA: u64 = (EntryType::Data.raw() as u64) << 32;
const SIGNAL: u64 = ((sf::SIGNAL | sf::LAST) as u64) << 32;
const BUFFER: u64 = (EntryType::Buffer.raw() as u64) << 32;
const TIMED: u64 = (cf::TIMED as u64) << 32;
const BESIDE: u64 = (cf::BESIDE as u64) << 32;

/// The transmit end of a virtual channel with its own buffers: reserve, fill, submit.
///
/// ```
/// use spfe::{Deadline, Endpoint, LinkRate, Mode, PoolOptions};
/// let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
/// let mut rx = b.port(0)?.vc(0)?.rx_pooled(PoolOptions::new(64, 4096))?;
/// let mut tx = a.port(0)?.vc(0)?.tx_pooled(PoolOptions::new(64, 4096))?;
/// // A group of three packets: one submission, one completion.
/// for word in ["one", "two", "three"] {
///     tx.slot().expect("64 slots are free")[..word.len()].copy_from_slice(word.as_bytes());
///     tx.stage(word.len())?;
/// }
/// tx.submit();
/// rx.wait(&spfe::Threshold::count(3), Deadline::NEVER)?;
/// let mut words = Vec::new();
/// while let Some(packet) = rx.peek() {
///     words.push(packet.bytes.to_vec());
///     rx.release();
/// }
/// assert_eq!(words.concat(), b"onetwothree");
/// # Ok::<(), spfe::Error>(())
/// ```
pub struct PooledTx {
    pub(crate) queue: Queue,
    pool: Pool,
    next: Cursor<Ring>,
    done: Cursor<Ring>,
    /// Number of free slots.
    free: u32,
    /// Number of slots posted and not completed.
    posted: u32,
    /// Number of packets staged, which the device does not see yet.
    staged: u32,
    /// Position of the first posted slot, as completions carry it.
    freed: u16,
    /// The first staged entry and its second word, whose store makes the group visible.
    first: (Mark, u64),
}

impl PooledTx {
    pub(crate) fn open(
        device: Arc<Device>,
        port: u32,
        vc: u32,
        options: PoolOptions,
    ) -> Result<Self> {
        let pool = Pool::new(&device, &options)?;
        let place = Place { port, vc, kind: QueueKind::Tx };
        let mut queue = Queue::open(device.clone(), place, &options.queue, |_| {})?;
        queue.runner =
            device.engine(port).map(|engine| engine.transmit(device.endpoint(), port, vc));
        let (next, done) = (Cursor::new(queue.sq.ring, 0), Cursor::new(queue.cq.ring, 0));
        for index in 0..queue.sq.ring.size() {
            queue.sq.ring.prepare(index, pool.address(index));
        }
        let free = queue.sq.ring.size();
        let first = (next.mark(), 0);
        Ok(Self { queue, pool, next, done, free, posted: 0, staged: 0, freed: 0, first })
    }

    /// The next free slot, to be filled; `None` while all are busy. Returns the same slot until it is
    /// staged or sent.
    #[inline(always)]
    pub fn slot(&mut self) -> Option<&mut [u8]> {
        if self.free == 0 {
            self.queue.stats.full += 1;
            return None;
        }
        let at = self.pool.at(self.next.index());
        // SAFETY: the device does not access a free slot, and the queue is borrowed mutably.
        Some(unsafe { std::slice::from_raw_parts_mut(at, self.pool.bytes as usize) })
    }

    /// Sends the first `length` bytes of the slot as a packet with a completion of its own. Submits
    /// staged packets together with it.
    ///
    /// # Errors
    /// EMPTY for 0, TOO_LONG for more than the slot has, BUSY without a free slot.
    #[inline(always)]
    pub fn send(&mut self, length: usize) -> Result<()> {
        self.check(length)?;
        if self.staged != 0 {
            self.stage_checked(length);
            self.submit();
            return Ok(());
        }
        self.next.publish_next(length as u64 | DATA | SIGNAL);
        self.free -= 1;
        self.posted += 1;
        self.queue.start_posted();
        Ok(())
    }

    /// Adds the first `length` bytes of the slot to the group as a packet.
    ///
    /// # Errors
    /// Those of [`PooledTx::send`].
    #[inline(always)]
    pub fn stage(&mut self, length: usize) -> Result<()> {
        self.check(length)?;
        self.stage_checked(length);
        Ok(())
    }

    #[inline(always)]
    fn stage_checked(&mut self, length: usize) {
        let word = length as u64 | DATA;
        // The first entry is stored last: its phase makes the whole group visible.
        if self.staged == 0 {
            self.first = (self.next.mark(), word);
            self.next.advance();
        } else {
            self.next.publish_next(word);
        }
        self.staged += 1;
        self.free -= 1;
    }

    /// Sends the staged packets as a group: one doorbell, one completion.
    #[inline]
    pub fn submit(&mut self) {
        let (first, mut word) = self.first;
        match self.staged {
            0 => return,
            1 => word |= SIGNAL,
            _ => {
                let last = self.next.slot_before();
                last.publish_word1(last.word1() | SIGNAL);
            }
        }
        self.next.at(first).publish(word);
        self.posted += std::mem::take(&mut self.staged);
        self.queue.start_posted();
    }

    #[inline(always)]
    fn check(&self, length: usize) -> Result<()> {
        if length.wrapping_sub(1) >= self.pool.bytes as usize {
            return Err(self.refuse(length, self.free == 0));
        }
        if self.free == 0 {
            return Err(self.refuse(length, true));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, length: usize, full: bool) -> Error {
        let status = match length {
            _ if full => Status::Busy,
            0 => Status::Empty,
            _ => Status::TooLong,
        };
        let what = format!(
            "packet of {length} bytes in a slot of {}; {} of {} slots busy",
            self.pool.bytes,
            self.outstanding(),
            self.queue.sq.ring.size()
        );
        Error::device(status, what)
    }

    /// The next completion, if there is one. Its slots are free afterwards.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Sent> {
        match self.done.take_plain() {
            Some(words) => self.finish(words, None),
            None => self.poll_other(),
        }
    }

    /// Looks for a completion with flags.
    #[inline(never)]
    fn poll_other(&mut self) -> Option<Sent> {
        let Some(words) = self.done.read() else {
            if self.posted != 0 {
                self.queue.help_stalled();
            }
            return None;
        };
        if words[1] & TIMED != 0 && !self.queue.is_due() {
            return None;
        }
        self.done.advance();
        let flags = Completion::from_words(words).flags;
        let time_ns = self.queue.time_of(flags, self.queue.cq.position);
        self.finish(words, time_ns)
    }

    /// Counts a completion that was taken.
    #[inline(always)]
    fn finish(&mut self, words: [u64; 2], time_ns: Option<u64>) -> Option<Sent> {
        let done = Completion::from_words(words);
        let count = done.position.wrapping_sub(self.freed).wrapping_add(1);
        if u32::from(count).wrapping_sub(1) >= self.posted {
            self.queue.set_broken();
            return None;
        }
        self.freed = done.position.wrapping_add(1);
        self.posted -= u32::from(count);
        self.free += u32::from(count);
        self.queue.take_uncredited(&done);
        let packets = u32::from(done.packets);
        Some(Sent { status: status_of(&done), packets, bytes: done.bytes, time_ns })
    }

    /// Waits for a completion and leaves it to [`PooledTx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more completions will arrive.
    pub fn wait(&mut self, deadline: Deadline) -> Result<Ready> {
        self.queue.wait(&Threshold::ONE, deadline)
    }

    /// Waits for a threshold of completions and leaves them to [`PooledTx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more completions will arrive.
    pub fn wait_for(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.queue.wait(threshold, deadline)
    }

    /// Makes the descriptor readable when the threshold is met. True if it is met already; then the
    /// descriptor may stay silent.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without [`QueueOptions::event`].
    pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
        self.queue.request_event(threshold)
    }

    /// Number of free slots.
    pub fn free(&self) -> u32 {
        self.free
    }

    /// Number of slots filled and not completed.
    pub fn outstanding(&self) -> u32 {
        self.posted + self.staged
    }

    /// Size of a slot in bytes.
    pub fn slot_bytes(&self) -> usize {
        self.pool.bytes as usize
    }

    /// Device time in ns.
    pub fn now_ns(&self) -> u64 {
        self.queue.device.backend().clock().now_ns()
    }
}

crate::queue::common_methods!(PooledTx);

impl Drop for PooledTx {
    fn drop(&mut self) {
        // The device must have released the pool before it is unmapped; otherwise leak it.
        if !self.queue.stop() {
            std::mem::forget(self.pool.region.clone());
        }
    }
}

/// A received packet, or the part of one that filled a slot, still in the slot.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// How the packet ended; [`End::More`] if it continues in the next slot.
    pub end: End,
    /// OK, or PACKET_CUT with EEP.
    pub status: Status,
}

/// The receive end of a virtual channel with its own buffers: peek, use, release.
pub struct PooledRx {
    queue: Queue,
    pool: Pool,
    next: Recycler,
    /// Position of the next completion when a stalled sender was last offered the released slots.
    offered: u32,
    /// The completions are wide. Then `next` has the ring of slots in place of their ring, so that it
    /// finds no plain completion.
    wide: bool,
}

/// Number of slots released before they are offered to a stalled sender. An empty poll offers them
/// as well.
const OFFER_EVERY: u32 = 32;

impl PooledRx {
    pub(crate) fn open(
        device: Arc<Device>,
        port: u32,
        vc: u32,
        options: PoolOptions,
    ) -> Result<Self> {
        let pool = Pool::new(&device, &options)?;
        let place = Place { port, vc, kind: QueueKind::Rx };
        let mut queue = Queue::open(device.clone(), place, &options.queue, |_| {})?;
        for index in 0..queue.sq.ring.size() {
            queue.sq.ring.prepare(index, pool.address(index));
            Cursor::new(queue.sq.ring, index).publish(u64::from(pool.bytes) | BUFFER);
        }
        queue.sq.position = queue.sq.ring.size();
        queue.runner =
            device.engine(port).map(|engine| engine.receive(device.endpoint(), port, vc));
        let buffer = u64::from(pool.bytes) | BUFFER;
        let wide = queue.cq.ring.is_wide();
        let done = if wide { queue.sq.ring } else { queue.cq.ring };
        let next = Recycler::new(done, queue.sq.ring, buffer, OFFER_EVERY);
        let next = next.expect("both rings of a queue have one size");
        let mut pooled = Self { next, queue, pool, offered: 0, wide };
        pooled.queue.offer_buffers(true);
        Ok(pooled)
    }

    /// The next packet or part of one, if there is one. Returns the same until it is released.
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Packet<'_>> {
        let words = self.look()?;
        Some(self.packet(words))
    }

    /// Returns the slot of the packet that [`PooledRx::peek`] returned to the device. Does nothing if
    /// there is no packet.
    #[inline(always)]
    pub fn release(&mut self) {
        if let Some(words) = self.entry() {
            let pause = self.next.recycle();
            self.count(words[0] & 0xffff_ffff, pause);
        }
    }

    /// Passes the next packet or part of one to `using` and releases it. Costs less than
    /// [`PooledRx::peek`] and [`PooledRx::release`], which read the completion twice.
    #[inline(always)]
    pub fn take<R>(&mut self, using: impl FnOnce(Packet<'_>) -> R) -> Option<R> {
        let (pool, mut bytes) = (&self.pool, 0);
        let mut using = Some(using);
        let plain = self.next.take_plain(|words, index| {
            bytes = words[0] & 0xffff_ffff;
            using.take().map(|using| using(pool.packet(words, index)))
        });
        if let Some((result, pause)) = plain {
            self.count(bytes, pause);
            return result;
        }
        let words = self.look()?;
        let result = using.map(|using| using(self.packet(words)));
        let pause = self.next.recycle();
        self.count(words[0] & 0xffff_ffff, pause);
        result
    }

    /// Looks for a completion, and offers slots if there is none.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Option<[u64; 2]> {
        let Some(words) = self.entry() else {
            self.offer();
            return None;
        };
        self.catch_up();
        (words[1] & TIMED == 0 || self.queue.is_due()).then_some(words)
    }

    /// The next completion, if there is one.
    #[inline(always)]
    fn entry(&self) -> Option<[u64; 2]> {
        match self.wide {
            true => self.queue.cq.ring.read(self.next.position()),
            false => self.next.cursor().read(),
        }
    }

    /// Sets the positions of the queue, which the loop over packets leaves behind.
    fn catch_up(&mut self) {
        let position = self.next.position();
        self.queue.cq.position = position;
        self.queue.sq.position = position.wrapping_add(self.queue.sq.ring.size());
    }

    fn packet(&self, words: [u64; 2]) -> Packet<'_> {
        let mut packet = self.pool.packet(words, self.next.cursor().index());
        if words[1] & BESIDE != 0
            && let Some(data) = self.queue.cq.ring.beside(self.next.position())
        {
            let length = packet.bytes.len().min(contract::BESIDE_BYTES as usize);
            // SAFETY: inside the completion, which stays as it is until its slot is released.
            packet.bytes = unsafe { std::slice::from_raw_parts(data.as_ptr(), length) };
        }
        packet
    }

    /// Counts the bytes of a packet whose slot was released.
    #[inline(always)]
    fn count(&mut self, bytes: u64, pause: bool) {
        self.queue.taken_bytes = self.queue.taken_bytes.wrapping_add(bytes);
        if pause {
            self.offer();
        }
    }

    /// Offers released slots to a stalled sender; called for an empty poll, or for many slots.
    #[inline(never)]
    fn offer(&mut self) {
        self.catch_up();
        let position = self.queue.cq.position;
        if std::mem::replace(&mut self.offered, position) != position {
            self.queue.offer_buffers(true);
        } else {
            self.queue.help_stalled();
        }
    }

    /// Waits for a threshold of packets and leaves them to [`PooledRx::peek`].
    ///
    /// # Errors
    /// Timed out, or why no more packets will arrive.
    pub fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.offer();
        self.queue.wait(threshold, deadline)
    }

    /// Makes the descriptor readable when the threshold is met. True if it is met already; then the
    /// descriptor may stay silent.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without [`QueueOptions::event`].
    /// Where the sender's thread is the engine, a time after the first packet signals at the first
    /// packet: ask again.
    pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
        self.catch_up();
        self.queue.request_event(threshold)
    }

    /// Size of a slot in bytes.
    pub fn slot_bytes(&self) -> usize {
        self.pool.bytes as usize
    }

    /// Slots.
    pub fn slots(&self) -> u32 {
        self.queue.sq.ring.size()
    }

    /// A threshold of `percent` of the slots, at least one.
    pub fn fill_threshold(&self, percent: u32) -> Threshold {
        Threshold::count((self.slots() * percent).div_ceil(100).max(1))
    }
}

crate::queue::common_methods!(PooledRx);

impl Drop for PooledRx {
    fn drop(&mut self) {
        // The device must have released the pool before it is unmapped; otherwise leak it.
        if !self.queue.stop() {
            std::mem::forget(self.pool.region.clone());
        }
    }
}
