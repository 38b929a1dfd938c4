//! The receive end of a virtual channel with posted buffers.

#[cfg(feature = "fast")]
mod fast;

use crate::device::Device;
use crate::error::Full;
use crate::queue::{Place, Queue, QueueOptions, status_of};
use crate::slots::{Returned, Slots};
use crate::tx::End;
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Buf, Result};
use spfe_contract::{Completion, EntryType, QueueKind, Status, completion_flags as cf};
use std::sync::Arc;

/// Second word of the entry of a buffer, without its length.
const BUFFER: u64 = (EntryType::Buffer.raw() as u64) << 32;
/// First words of completions with the status OK, which is 0 and at the top, are not greater.
const STATUS_OK: u64 = u64::MAX >> 8;
const _: () = assert!(Status::Ok.raw() == 0);

#[cfg(feature = "fast")]
pub use fast::{FastPostedState, FastReceived};

/// A received packet, or the part of one that filled a buffer.
#[derive(Debug)]
pub struct Received {
    /// The buffer; its length is the number of bytes received.
    pub buf: Buf,
    /// How the packet ended; [`End::More`] if it continues in the next buffer.
    pub end: End,
    /// OK; PACKET_CUT with EEP; or why the device could not use the buffer, which is then empty.
    pub status: Status,
    /// Device time in ns, if the queue has stamps or the link is paced.
    pub time_ns: Option<u64>,
}

impl Received {
    /// Whether the packet continues in the next buffer.
    pub fn more(&self) -> bool {
        self.end == End::More
    }
}

/// The receive end of a virtual channel with posted buffers.
///
/// Packets fill the buffers in the order of posting. A packet longer than a buffer continues in the
/// next one ([`Received::more`]). Without a buffer the sender waits; no packet is lost.
pub struct Rx {
    queue: Queue,
    slots: Slots,
}

impl Rx {
    pub(crate) fn open(
        device: Arc<Device>,
        port: u32,
        vc: u32,
        options: QueueOptions,
    ) -> Result<Self> {
        let place = Place { port, vc, kind: QueueKind::Rx };
        let mut queue = Queue::open(device.clone(), place, &options.beside(false), |_| {})?;
        let engine = device.engine(port);
        queue.set_posted(engine.map(|of| of.receive(device.endpoint(), port, vc)), BUFFER);
        let slots = Slots::new(queue.sq.ring.size());
        Ok(Self { queue, slots })
    }

    /// Posts a buffer. The device may use all of its capacity.
    ///
    /// # Errors
    /// Returns the buffer if the queue is full.
    #[inline]
    pub fn post(&mut self, buf: Buf) -> Result<(), Full<Buf>> {
        let position = self.queue.sq.position;
        if !self.slots.fits(self.queue.credit.freed, position) {
            self.queue.stats.full += 1;
            return Err(Full(buf));
        }
        let entry = Self::entry(&buf, 0);
        self.slots.put(position, buf);
        self.queue.push(entry);
        if !self.queue.is_awake() {
            self.queue.offer_buffers(false);
        }
        Ok(())
    }

    /// Posts as many buffers from the front of `bufs` as fit into the queue, with one doorbell.
    /// Returns their number.
    pub fn post_all(&mut self, bufs: &mut Vec<Buf>) -> usize {
        let count = bufs.len().min(self.queue.free() as usize);
        if count == 0 {
            return 0;
        }
        self.slots.put_all(self.queue.next(), bufs, count, 0, |buf| Self::entry(buf, BUFFER));
        self.queue.pushed(count as u32);
        if !self.queue.is_awake() {
            self.queue.offer_buffers(true);
        }
        count
    }

    /// The next packet or part of one, if there is one.
    #[inline(always)]
    pub fn poll(&mut self) -> Option<Received> {
        let freed = self.queue.credit.freed;
        let Some(done) = self.queue.pop_plain(|word| word as u16 == freed as u16) else {
            // Into a place of its own, so that the caller's can stay in registers.
            let Received { buf, end, status, time_ns } = self.poll_other()?;
            return Some(Received { buf, end, status, time_ns });
        };
        // A buffer in its place says that the entry was posted.
        let Some(mut buf) = self.slots.take(freed) else {
            self.queue.set_broken();
            return None;
        };
        self.queue.settle_one(&done);
        buf.received(done.bytes);
        Some(Received { buf, end: End::Eop, status: status_of(&done), time_ns: None })
    }

    /// The same for a completion with flags.
    #[inline(never)]
    fn poll_other(&mut self) -> Option<Received> {
        let (done, time_ns) = self.queue.pop()?;
        let freed = self.queue.settle(&done)?;
        let buf = self.slots.take(freed.start);
        // Only a broken device completes several buffers at once.
        self.slots.drop_between(freed.start.wrapping_add(1), freed.end);
        let mut buf = buf?;
        buf.received(done.bytes);
        Some(Received { buf, end: end(&done), status: status_of(&done), time_ns })
    }

    /// Moves the buffers of packets that have arrived to the end of `bufs`, in their order. Returns
    /// their number. Costs less than a [`Rx::poll`] for each.
    ///
    /// Stops before a buffer of which there is more to say than its bytes: the packet continues in the
    /// next one, EEP, an error, a time. [`Rx::poll`] takes it. So call that when this returns 0.
    pub fn take_all(&mut self, bufs: &mut Vec<Buf>) -> usize {
        bufs.reserve(self.queue.outstanding() as usize);
        let before = bufs.len();
        loop {
            let places = self.slots.row(self.queue.credit.freed);
            let room = bufs.spare_capacity_mut();
            let row = places.len().min(room.len());
            let with = places[..row].iter_mut().zip(&mut room[..row]);
            let (count, ended) = self.queue.take_row(with, |word0, (place, to)| {
                let Some(mut buf) = place.take_if(|_| word0 <= STATUS_OK) else { return false };
                buf.received(word0 as u32);
                to.write(buf);
                true
            });
            // SAFETY: so many were written behind those that were there.
            unsafe { bufs.set_len(bufs.len() + count as usize) };
            if !ended {
                break;
            }
        }
        let count = bufs.len() - before;
        if count == 0 {
            self.queue.help_stalled();
        }
        count
    }

    /// Waits for a packet or part of one, and takes it.
    ///
    /// # Errors
    /// Timed out, or why no more packets will arrive.
    pub fn recv(&mut self, deadline: Deadline) -> Result<Received> {
        loop {
            if let Some(received) = self.poll() {
                return Ok(received);
            }
            self.queue.wait(&Threshold::ONE, deadline)?;
        }
    }

    /// Waits for a threshold of packets and leaves them to [`Rx::poll`].
    ///
    /// # Errors
    /// Timed out, or why no more packets will arrive.
    pub fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        self.queue.wait(threshold, deadline)
    }

    /// The threshold at which `percent` of the buffers posted now are full, at least one buffer.
    pub fn fill_threshold(&self, percent: u32) -> Threshold {
        let posted = u64::from(self.queue.outstanding());
        Threshold::count(((posted * u64::from(percent)).div_ceil(100) as u32).max(1))
    }

    /// Takes back all buffers: stops the queue and starts it again. The sender of a packet that was
    /// partly received gets PEER_GONE. Returns the buffers, oldest first, including those received
    /// but not polled. Buffers without a packet have the status CANCELLED.
    ///
    /// # Errors
    /// BUSY if the queue cannot be stopped now; then nothing has changed. With any other error the
    /// queue is stopped and cannot be started again.
    pub fn cancel(&mut self) -> Result<Vec<Returned>> {
        self.queue.halt()?;
        let bufs = self.slots.take_back(&mut self.queue, true);
        self.queue.start_again()?;
        if let Some(runner) = &mut self.queue.runner {
            runner.run(0);
        }
        Ok(bufs)
    }

    /// Number of buffers that can be posted now.
    pub fn free(&self) -> u32 {
        self.queue.free()
    }

    /// Number of buffers posted and not polled.
    pub fn posted_buffers(&self) -> u32 {
        self.queue.outstanding()
    }

    /// Makes the descriptor readable when the threshold is met. True if it is met already; then the
    /// descriptor may stay silent. Where the sender's thread is the engine, a threshold in time
    /// signals at the first packet: call it again then.
    ///
    /// # Errors
    /// BAD_FIELD if the queue was opened without [`QueueOptions::event`].
    pub fn request_event(&mut self, threshold: &Threshold) -> Result<bool> {
        self.queue.request_event(threshold)
    }

    #[inline(always)]
    fn entry(buf: &Buf, flags: u64) -> [u64; 2] {
        [buf.address(), u64::from(buf.capacity32()) | flags]
    }
}

crate::queue::common_methods!(Rx);

impl Drop for Rx {
    fn drop(&mut self) {
        // The device must have released the buffers before they are dropped; otherwise leak them.
        if !self.queue.stop() {
            self.slots.take_all().into_iter().for_each(std::mem::forget);
        }
    }
}

#[inline(always)]
fn end(done: &Completion) -> End {
    match done.flags & (cf::END_MASK | cf::MORE) {
        0 => End::Eop,
        1 => End::Eep,
        _ => End::More,
    }
}

#[cfg(all(test, feature = "virtual"))]
mod tests;
