//! The transmit end of a virtual channel: post buffers, get them back when they have been sent.

#[cfg(feature = "fast")]
mod fast;

use crate::device::Device;
use crate::error::{Full, Refused};
use crate::queue::{Place, Queue, QueueOptions, status_of};
use crate::slots::{Returned, Slots};
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Buf, Error, Result};
use spfe_contract::{
    self as contract, BurstExt, Completion, EndMarker, EntryType, InlineSubmission, QueueKind,
    Status, submit_flags as sf,
};
use spfe_proto::PacketEnd;
use spfe_ring::Producer;
use std::sync::Arc;

/// Flags of a packet with a completion of its own.
const SINGLE: u16 = EntryType::Data.raw() as u16 | sf::SIGNAL | sf::LAST;
/// Flags of the last submission of a group, which asks for its completion, in the second word.
const SIGNAL: u64 = ((sf::SIGNAL | sf::LAST) as u64) << 32;

/// How a packet ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// End of packet.
    #[default]
    Eop,
    /// Error end of packet: tells the receiver that the packet is incomplete.
    Eep,
    /// No end yet: the next submission continues the packet.
    More,
}

impl From<PacketEnd> for End {
    fn from(end: PacketEnd) -> Self {
        match end {
            PacketEnd::Eop => Self::Eop,
            PacketEnd::Eep => Self::Eep,
        }
    }
}

impl End {
    /// The end marker of a whole packet, as [`crate::ccsds`] takes it; `None` for [`End::More`].
    pub fn packet_end(self) -> Option<PacketEnd> {
        match self {
            Self::Eop => Some(PacketEnd::Eop),
            Self::Eep => Some(PacketEnd::Eep),
            Self::More => None,
        }
    }

    #[inline(always)]
    fn flags(self) -> u16 {
        let marker = match self {
            Self::Eop => EndMarker::Eop,
            Self::Eep => EndMarker::Eep,
            Self::More => EndMarker::None,
        };
        u16::from(marker.raw()) << sf::END_SHIFT
    }
}

/// A completion of the transmit queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// OK, or why the last of the submissions was not sent.
    pub status: Status,
    /// Number of packets sent since the previous completion.
    pub packets: u32,
    /// Number of bytes sent since the previous completion. With an error: bytes of the failed packet
    /// that reached the receiver, where the packet ends with EEP.
    pub bytes: u32,
    /// Device time in ns, if the queue has stamps or the link is paced.
    pub time_ns: Option<u64>,
}

/// The transmit end of a virtual channel. Closing discards, and counts, what has not been sent
/// ([`Tx::drain`] waits for it).
///
/// ```
/// use spfe::{Deadline, Endpoint, LinkRate, Mode};
/// let (a, b) = Endpoint::pair(LinkRate::Unlimited, Mode::Inline)?;
/// let mut rx = b.port(0)?.vc(0)?.rx()?;
/// rx.post(b.alloc(4096)?.buf(0..4096)?)?;
/// let mut tx = a.port(0)?.vc(0)?.tx()?;
/// let mut packet = a.alloc(4096)?.buf(0..4096)?;
/// packet.put(b"hello");
/// tx.send(packet)?;
/// assert_eq!(&rx.recv(Deadline::NEVER)?.buf[..], b"hello");
/// # Ok::<(), spfe::Error>(())
/// ```
pub struct Tx {
    queue: Queue,
    slots: Slots,
    /// Position of the next buffer for [`Tx::take`].
    taken: u32,
}

/// Packets that are posted together. Dropping a batch without [`Batch::submit`] posts nothing and
/// drops its buffers.
pub struct Batch<'a> {
    tx: &'a mut Tx,
    batch: spfe_ring::EntryBatch,
    last: spfe_ring::ring::RingEntry,
}

impl Tx {
    /// Most buffers of one packet ([`Batch::push_gather`]).
    pub fn chain_max(&self) -> u32 {
        self.queue.device.backend().chain_max().min(self.queue.sq.ring.size())
    }

    pub(crate) fn open(
        device: Arc<Device>,
        port: u32,
        vc: u32,
        options: QueueOptions,
    ) -> Result<Self> {
        let place = Place { port, vc, kind: QueueKind::Tx };
        let mut queue = Queue::open(device.clone(), place, &options, |_| {})?;
        let runner = device.engine(port).map(|of| of.transmit(device.endpoint(), port, vc));
        queue.set_posted(runner, u64::from(SINGLE) << 32);
        let slots = Slots::new(queue.sq.ring.size());
        Ok(Self { queue, slots, taken: 0 })
    }

    /// Sends the bytes in use of `packet` as one packet, with a completion of its own.
    ///
    /// # Errors
    /// Returns the buffer if the queue is full: take completions first.
    #[inline]
    pub fn send(&mut self, packet: Buf) -> Result<(), Full<Buf>> {
        self.send_ending(packet, End::Eop)
    }

    /// Sends a packet or a piece of one, with the given end.
    #[inline]
    pub fn send_ending(&mut self, packet: Buf, end: End) -> Result<(), Full<Buf>> {
        let mut position = self.queue.sq.position;
        if !self.slots.fits(self.taken, position) {
            if !self.make_room(position) {
                return Err(Full(packet));
            }
            // Loaded again, so that it needs no register over the call.
            position = self.queue.sq.position;
        }
        let entry = entry(&packet, end.flags());
        self.slots.put(position, packet);
        self.queue.push(entry);
        if !self.queue.is_awake() {
            self.queue.start_asleep();
        }
        Ok(())
    }

    /// Sends packets as a group: one doorbell, one completion. Takes as many buffers from the front
    /// of `packets` as fit into the queue, and returns their number.
    pub fn send_group(&mut self, packets: &mut Vec<Buf>) -> usize {
        let count = packets.len().min(self.queue.free() as usize);
        if count == 0 {
            self.queue.stats.full += u64::from(!packets.is_empty());
            return 0;
        }
        self.keep_up(self.queue.sq.position.wrapping_add(count as u32 - 1));
        self.slots.put_all(self.queue.next(), packets, count, SIGNAL, |packet| {
            entry(packet, EntryType::Data.raw() as u16)
        });
        self.queue.pushed(count as u32);
        if !self.queue.is_awake() {
            self.queue.start_asleep();
        }
        count
    }

    /// Sends `count` packets (1 to 65535) of `length` bytes that lie `stride` bytes apart in one
    /// buffer, with a single submission. A stride of 0 repeats the same bytes.
    ///
    /// # Errors
    /// Returns the buffer. OUT_OF_BOUNDS if a packet lies outside it, EMPTY for no packets or no
    /// bytes, TOO_LONG for 4 GiB or more in all, BUSY if the queue is full: take completions first.
    pub fn send_burst(
        &mut self,
        packets: Buf,
        length: u32,
        stride: u32,
        count: u32,
    ) -> Result<(), Refused<Buf>> {
        let (packets, [head, ext]) = burst(packets, length, stride, count, self.queue.free())?;
        let Producer { ring, position } = self.queue.sq;
        self.put(position, packets);
        // The first entry makes both visible.
        ring.write(position.wrapping_add(1), ext);
        ring.write(position, [head[0], head[1] | SIGNAL]);
        self.queue.pushed(2);
        if !self.queue.is_awake() {
            self.queue.start_asleep();
        }
        Ok(())
    }

    /// Starts a batch of packets that are posted together.
    pub fn batch(&mut self) -> Batch<'_> {
        let batch = spfe_ring::EntryBatch::new(&self.queue.sq, self.queue.free());
        Batch { tx: self, batch, last: [0; 2] }
    }

    /// The next completion, if there is one. Afterwards [`Tx::take`] returns its buffers.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Sent> {
        let Some(done) = self.queue.pop_plain(|_| true) else {
            // Into a place of its own, so that the caller's can stay in registers.
            let Sent { status, packets, bytes, time_ns } = self.poll_other()?;
            return Some(Sent { status, packets, bytes, time_ns });
        };
        Some(self.finish(&done, None))
    }

    /// The same for a completion with flags.
    #[inline(never)]
    fn poll_other(&mut self) -> Option<Sent> {
        let (done, time_ns) = self.queue.pop()?;
        Some(self.finish(&done, time_ns))
    }

    #[inline(always)]
    fn finish(&mut self, done: &Completion, time_ns: Option<u64>) -> Sent {
        self.queue.settle(done);
        let packets = u32::from(done.packets);
        Sent { status: status_of(done), packets, bytes: done.bytes, time_ns }
    }

    /// The next buffer that has completed, in the order of posting.
    #[inline]
    pub fn take(&mut self) -> Option<Buf> {
        while self.taken != self.queue.credit.freed {
            let position = self.taken;
            self.taken = position.wrapping_add(1);
            if let Some(buf) = self.slots.take(position) {
                return Some(buf);
            }
        }
        None
    }

    /// Moves all buffers that have completed to the end of `bufs`, in the order of posting.
    pub fn take_all(&mut self, bufs: &mut Vec<Buf>) {
        let first = std::mem::replace(&mut self.taken, self.queue.credit.freed);
        self.slots.take_into(first, self.taken, bufs);
    }

    /// Waits for a completion and leaves it to [`Tx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more completions will arrive.
    pub fn wait(&mut self, deadline: Deadline) -> Result<Ready> {
        self.queue.wait(&Threshold::ONE, deadline)
    }

    /// Waits for a threshold of completions and leaves them to [`Tx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more completions will arrive.
    pub fn wait_for(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.queue.wait(threshold, deadline)
    }

    /// Waits until everything posted has completed, and polls. Returns the number of packets sent.
    ///
    /// # Errors
    /// Timed out, or the first completion with an error.
    pub fn drain(&mut self, deadline: Deadline) -> Result<u64> {
        let mut packets = 0;
        while self.queue.outstanding() != 0 {
            self.wait(deadline)?;
            while let Some(sent) = self.poll() {
                packets += u64::from(sent.packets);
                if sent.status != Status::Ok {
                    let what = format!("a packet was not sent: {}", sent.status.doc());
                    return Err(Error::device(sent.status, what));
                }
            }
        }
        Ok(packets)
    }

    /// Takes back all buffers: stops the queue and starts it again. A packet that was partly sent
    /// ends with EEP at the receiver. Returns the buffers, oldest first, including those that were
    /// sent but not taken. Buffers not sent have the status CANCELLED, and so has every buffer of a
    /// group that was partly sent.
    ///
    /// # Errors
    /// BUSY if the queue cannot be stopped now; then nothing has changed. With any other error the
    /// queue is stopped and cannot be started again.
    pub fn cancel(&mut self) -> Result<Vec<Returned>> {
        self.queue.halt()?;
        let bufs = self.slots.take_back(&mut self.queue, false);
        self.taken = 0;
        self.queue.start_again()?;
        if let Some(runner) = &mut self.queue.runner {
            runner.run(0);
        }
        Ok(bufs)
    }

    /// Number of entries that can be posted now.
    pub fn free(&self) -> u32 {
        self.queue.free()
    }

    /// Number of entries posted and not completed.
    pub fn outstanding(&self) -> u32 {
        self.queue.outstanding()
    }

    /// Makes the descriptor readable when the threshold is met. True if it is met already; then the
    /// descriptor may stay silent.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without [`QueueOptions::event`].
    pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
        self.queue.request_event(threshold)
    }

    #[inline(always)]
    fn put(&mut self, position: u32, packet: Buf) {
        self.keep_up(position);
        self.slots.put(position, packet);
    }

    /// An entry at `position` needs the slot one lap back: drops the buffers up to there that were
    /// never taken.
    #[inline(always)]
    fn keep_up(&mut self, position: u32) {
        if !self.slots.fits(self.taken, position) {
            let first = self.slots.first_kept(position);
            self.slots.drop_between(std::mem::replace(&mut self.taken, first), first);
        }
    }

    /// Makes room for an entry where a buffer was not taken. False if the queue is full.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, position: u32) -> bool {
        if self.queue.free() == 0 {
            self.queue.stats.full += 1;
            return false;
        }
        self.keep_up(position);
        true
    }
}

crate::queue::common_methods!(Tx);

impl Drop for Tx {
    fn drop(&mut self) {
        // The device must have released the buffers before they are dropped; otherwise leak them.
        if !self.queue.stop() {
            self.slots.take_all().into_iter().for_each(std::mem::forget);
        }
    }
}

#[inline(always)]
fn entry(packet: &Buf, flags: u16) -> [u64; 2] {
    [packet.address(), u64::from(packet.length32()) | u64::from(flags) << 32]
}

/// A burst and its two entries, unless it does not fit into so many.
#[inline(always)]
fn burst(
    packets: Buf,
    length: u32,
    stride: u32,
    count: u32,
    space: u32,
) -> Result<(Buf, [[u64; 2]; 2]), Refused<Buf>> {
    let span = u64::from(stride) * u64::from(count.saturating_sub(1)) + u64::from(length);
    let fault = if length == 0 || count == 0 {
        Some(Status::Empty)
    } else if u64::from(count) > contract::BURST_MAX
        || u64::from(length) * u64::from(count) > u64::from(u32::MAX)
    {
        Some(Status::TooLong)
    } else if span > packets.len() as u64 {
        Some(Status::OutOfBounds)
    } else if space < 2 {
        Some(Status::Busy)
    } else {
        None
    };
    if let Some(status) = fault {
        let what = format!(
            "burst of {count} packets of {length} bytes, {stride} apart, in a buffer of {} bytes; \
             queue room for {space} entries, a burst takes 2",
            packets.len()
        );
        return Err(Refused::new(packets, status, what));
    }
    let head = u64::from(length) | u64::from(EntryType::Burst.raw()) << 32;
    let flags = u16::from(EntryType::BurstExt.raw());
    let ext = BurstExt { stride, count: count as u16, flags, ..BurstExt::default() };
    let entries = [[packets.address(), head], ext.to_words()];
    Ok((packets, entries))
}

impl Batch<'_> {
    /// Number of entries that still fit.
    pub fn space(&self) -> u32 {
        self.batch.space()
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// Returns the buffer if the queue is full.
    #[inline]
    pub fn push(&mut self, packet: Buf) -> Result<(), Full<Buf>> {
        self.push_ending(packet, End::Eop)
    }

    /// Adds a packet or a piece of one, with the given end.
    ///
    /// # Errors
    /// Returns the buffer if the queue is full.
    #[inline]
    pub fn push_ending(&mut self, packet: Buf, end: End) -> Result<(), Full<Buf>> {
        self.add(packet, u16::from(EntryType::Data.raw()) | end.flags())
    }

    /// Adds a packet with up to 11 bytes in front of it, such as a path address, that need no buffer.
    ///
    /// # Errors
    /// Returns the buffer. TOO_LONG for a longer path, or for more than 1 GiB in all; BUSY if the
    /// queue is full: take completions first.
    pub fn push_with_path(&mut self, path: &[u8], packet: Buf) -> Result<(), Refused<Buf>> {
        let total = (path.len() + packet.len()) as u64;
        if path.len() as u64 > contract::INLINE_MAX_BYTES || total > contract::PACKET_MAX_BYTES {
            let what = format!(
                "path of {} bytes before a packet of {}: at most {} and {} in all; put a longer \
                 path at the front of the packet",
                path.len(),
                packet.len(),
                contract::INLINE_MAX_BYTES,
                contract::PACKET_MAX_BYTES
            );
            return Err(Refused::new(packet, Status::TooLong, what));
        }
        let entries = 1 + u32::from(!path.is_empty());
        if self.batch.space() < entries {
            return Err(self.no_room(packet, entries));
        }
        if !path.is_empty() {
            self.inline(path);
        }
        // Cannot fail: the room was checked above.
        let _ = self.push(packet);
        Ok(())
    }

    /// Adds one packet gathered from up to 16 buffers, or as many as the device takes
    /// ([`Tx::chain_max`]).
    ///
    /// # Errors
    /// Returns the buffers. EMPTY for none, CHAIN_TOO_LONG for more, or for more than the queue has
    /// entries, TOO_LONG for more than 1 GiB, BUSY if the queue is full: take completions first.
    pub fn push_gather(&mut self, parts: Vec<Buf>) -> Result<(), Refused<Vec<Buf>>> {
        let count = parts.len();
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let most = u64::from(self.tx.chain_max());
        let fault = if count == 0 {
            Some(Status::Empty)
        } else if count as u64 > most {
            Some(Status::ChainTooLong)
        } else if bytes > contract::PACKET_MAX_BYTES {
            Some(Status::TooLong)
        } else {
            None
        };
        if let Some(status) = fault {
            let what = format!(
                "packet of {bytes} bytes gathered from {count} buffers: at most {} bytes and 1 \
                 to {most} buffers; send pieces",
                contract::PACKET_MAX_BYTES
            );
            return Err(Refused::new(parts, status, what));
        }
        if self.batch.space() < count as u32 {
            return Err(self.no_room(parts, count as u32));
        }
        for (index, part) in parts.into_iter().enumerate() {
            let chain = if index + 1 < count { sf::CHAIN } else { 0 };
            // Cannot fail: the room was checked above.
            let _ = self.add(part, u16::from(EntryType::Data.raw()) | chain);
        }
        Ok(())
    }

    #[cold]
    fn no_room<T>(&mut self, back: T, entries: u32) -> Refused<T> {
        self.tx.queue.stats.full += 1;
        let what = format!(
            "queue room for {} entries, {entries} asked for: take completions first",
            self.batch.space()
        );
        Refused::new(back, Status::Busy, what)
    }

    /// Adds a burst; arguments and errors are those of [`Tx::send_burst`].
    pub fn push_burst(
        &mut self,
        packets: Buf,
        length: u32,
        stride: u32,
        count: u32,
    ) -> Result<(), Refused<Buf>> {
        let (packets, [head, ext]) = burst(packets, length, stride, count, self.batch.space())?;
        let position = self.tx.queue.sq.position.wrapping_add(self.batch.len());
        self.tx.put(position, packets);
        self.batch.push(&self.tx.queue.sq, head);
        self.batch.push(&self.tx.queue.sq, ext);
        self.last = head;
        Ok(())
    }

    fn inline(&mut self, bytes: &[u8]) {
        let mut data = [0u8; 12];
        data[..bytes.len()].copy_from_slice(bytes);
        let low = u64::from_le_bytes([
            data[0], data[1], data[2], data[3], data[4], data[5], data[6], data[7],
        ]);
        let entry = InlineSubmission {
            data_lo: low,
            data_hi: u32::from_le_bytes([data[8], data[9], data[10], 0]),
            count: bytes.len() as u8,
            flags: u16::from(EntryType::Inline.raw()) | sf::CHAIN,
            phase: 0,
        };
        self.batch.push(&self.tx.queue.sq, entry.to_words());
    }

    #[inline(always)]
    fn add(&mut self, packet: Buf, flags: u16) -> Result<(), Full<Buf>> {
        let entry = entry(&packet, flags);
        if !self.batch.push(&self.tx.queue.sq, entry) {
            self.tx.queue.stats.full += 1;
            return Err(Full(packet));
        }
        let position = self.tx.queue.sq.position.wrapping_add(self.batch.len() - 1);
        self.tx.put(position, packet);
        self.last = entry;
        Ok(())
    }

    /// Posts the batch as a group, which gets one completion when all of it is sent. Returns the
    /// number of entries.
    pub fn submit(mut self) -> u32 {
        if self.batch.is_empty() {
            return 0;
        }
        // The last submission requests the completion. A burst has its flags in its first entry.
        let marked = [self.last[0], self.last[1] | SIGNAL];
        let burst =
            (self.last[1] >> 32) as u16 & sf::TYPE_MASK == u16::from(EntryType::Burst.raw());
        let sq = &mut self.tx.queue.sq;
        self.batch.amend(sq, if burst { 2 } else { 1 }, marked);
        let count = self.batch.len();
        let batch = std::mem::replace(&mut self.batch, spfe_ring::EntryBatch::new(sq, 0));
        batch.publish(sq);
        self.tx.queue.catch_up();
        self.tx.queue.start_posted();
        count
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // The entries were never visible to the device. Dropping the buffers returns them to their
        // regions.
        let sq = &self.tx.queue.sq;
        let first = sq.position;
        let batch = std::mem::replace(&mut self.batch, spfe_ring::EntryBatch::new(sq, 0));
        let count = batch.len();
        batch.cancel(sq);
        for index in 0..count {
            self.tx.slots.take(first.wrapping_add(index));
        }
    }
}

#[cfg(all(test, feature = "virtual"))]
mod tests;
