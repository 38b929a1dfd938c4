//! The sending end, at maximum rate.
//!
//! * Buffers are created before the first packet and reused: nothing is allocated, registered or
//!   unmapped while packets move. There are few, so that they stay in the cache.
//! * Pooled slots cost least: a slot keeps its buffer, and posting is one store.
//! * A group of packets has one publication and one completion, so that cost is shared. A burst
//!   describes the whole group in one *entry*.
//! * If a link or another thread moves the packets, several groups are outstanding, so that it never
//!   waits for this thread to wake up. The thread then waits for half of them.
//! * The completion ring is polled before a wait: `wait` reads clocks and may sleep, and with the
//!   engine in this thread the completion is usually there.

use super::case::Case;
use super::meter::{Count, Meter, Tally};
use spfe::{
    Buf, Deadline, End, Endpoint, Error, Lengths, Pattern, PoolOptions, PooledTx, QueueOptions,
    Ready, Result, Sent, Status, Threshold, Tx,
};
use std::collections::VecDeque;

/// Virtual channel of the measured packets.
pub const DATA_VC: u32 = 0;

/// Generates lengths and, if they are verified, contents of packets.
struct Writer {
    size: usize,
    lengths: Option<Lengths>,
    pattern: Option<Pattern>,
    number: u64,
}

impl Writer {
    fn new(case: &Case) -> Self {
        let size = case.sizes.max as usize;
        let lengths = (!case.sizes.is_fixed()).then(|| case.sizes.lengths());
        let pattern = case.check.then(|| Pattern::new(size));
        Self { size, lengths, pattern, number: 0 }
    }

    /// Length of the next packet.
    #[inline]
    fn length(&mut self) -> usize {
        self.lengths.as_mut().map_or(self.size, |lengths| lengths.next_length() as usize)
    }

    /// Fills the next packet if contents are verified.
    #[inline]
    fn fill(&mut self, packet: &mut [u8]) {
        if let Some(pattern) = &self.pattern {
            pattern.fill(self.number, packet);
            self.number += 1;
        }
    }
}

/// Transmit queue of either kind.
enum TransmitQueue {
    /// Pooled, for single packets and groups: reserve, fill, submit.
    Slots(PooledTx),
    /// Bursts: a buffer holds the packets of a group back to back; the buffers are used in turn.
    Bursts(Tx, VecDeque<Buf>),
}

impl TransmitQueue {
    fn open(endpoint: &Endpoint, case: &Case) -> Result<Self> {
        let vc = endpoint.port(0)?.vc(DATA_VC)?;
        let (size, group, groups) = (case.sizes.max, case.group as usize, case.tx_groups());
        let queue = QueueOptions::default().strategy(case.wait.strategy());
        if !case.burst {
            let slots = (group * groups).next_power_of_two().clamp(4, 32768) as u32;
            return Ok(Self::Slots(vc.tx_pooled(PoolOptions::new(slots, size).queue(queue))?));
        }
        // A burst takes two entries.
        let tx = vc.tx_with(queue.depth((2 * groups).next_power_of_two().max(16) as u32))?;
        let bytes = size as usize * group;
        Ok(Self::Bursts(tx, endpoint.alloc(bytes * groups)?.split(bytes, groups)?.into()))
    }

    /// Submits a packet or a group.
    #[inline]
    fn post(&mut self, writer: &mut Writer, group: u32) -> Result<()> {
        match self {
            Self::Slots(tx) if group == 1 => {
                let length = slot(tx, writer)?;
                tx.send(length)
            }
            Self::Slots(tx) => {
                for _ in 0..group {
                    let length = slot(tx, writer)?;
                    tx.stage(length)?;
                }
                tx.submit();
                Ok(())
            }
            Self::Bursts(tx, free) => {
                let mut packets = free.pop_front().ok_or_else(lost)?;
                if writer.pattern.is_some() {
                    packets.chunks_exact_mut(writer.size).for_each(|packet| writer.fill(packet));
                }
                let size = writer.size as u32;
                Ok(tx.send_burst(packets, size, size, group)?)
            }
        }
    }

    /// Takes the next completion, if there is one.
    #[inline]
    fn poll(&mut self) -> Result<Option<Sent>> {
        match self {
            Self::Slots(tx) => Ok(tx.poll()),
            Self::Bursts(tx, free) => {
                let Some(sent) = tx.poll() else { return Ok(None) };
                free.push_back(tx.take().ok_or_else(lost)?);
                Ok(Some(sent))
            }
        }
    }

    fn wait(&mut self, completions: u32, deadline: Deadline) -> Result<Ready> {
        let half = Threshold::count(completions);
        match self {
            Self::Slots(tx) => tx.wait_for(&half, deadline),
            Self::Bursts(tx, _) => tx.wait_for(&half, deadline),
        }
    }

    /// Sleeps and engine time (ns) so far.
    fn totals(&self) -> (u64, u64) {
        match self {
            Self::Slots(tx) => (tx.stats().sleeps, tx.engine_ns()),
            Self::Bursts(tx, _) => (tx.stats().sleeps, tx.engine_ns()),
        }
    }
}

/// Prepares the next packet in its slot and returns its length.
#[inline]
fn slot(tx: &mut PooledTx, writer: &mut Writer) -> Result<usize> {
    let length = writer.length();
    if writer.pattern.is_some() {
        writer.fill(&mut tx.slot().ok_or_else(lost)?[..length]);
    }
    Ok(length)
}

/// Sends packets until the time is over.
pub struct Sender {
    outlet: TransmitQueue,
    endpoint: Endpoint,
    writer: Writer,
    group: u32,
    /// Outstanding groups, and their limit.
    under_way: u32,
    most: u32,
    count: Count,
    meter: Meter,
}

impl Sender {
    /// Opens the transmit queue and creates its buffers.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        Ok(Self {
            outlet: TransmitQueue::open(endpoint, case)?,
            endpoint: endpoint.clone(),
            writer: Writer::new(case),
            group: case.group,
            under_way: 0,
            most: case.most_under_way(),
            count: Count::default(),
            meter,
        })
    }

    /// Sends until the time is over. With `goodbye` the receiver is then told.
    pub fn run(mut self, goodbye: bool) -> Result<Tally> {
        self.meter.start(&self.count);
        loop {
            for _ in 0..self.meter.turns() {
                self.outlet.post(&mut self.writer, self.group)?;
                self.under_way += 1;
                // A wait has read the clocks anyway.
                if self.settle(self.most)? {
                    break;
                }
            }
            (self.count.sleeps, self.count.engine_ns) = self.outlet.totals();
            if !self.meter.look(&self.count) {
                break;
            }
        }
        self.settle(1)?;
        if goodbye {
            drop(self.outlet);
            say_goodbye(&self.endpoint, self.meter.deadline())?;
        }
        Ok(self.meter.tally(&self.count))
    }

    /// Takes completions, and waits until fewer than `most` groups are outstanding. Returns whether
    /// it has waited.
    #[inline]
    fn settle(&mut self, most: u32) -> Result<bool> {
        let mut waited = false;
        loop {
            while self.under_way > 0
                && let Some(sent) = self.outlet.poll()?
            {
                self.add(&sent)?;
            }
            if self.under_way < most {
                return Ok(waited);
            }
            self.outlet.wait((self.under_way / 2).max(1), self.meter.deadline())?;
            waited = true;
        }
    }

    #[inline]
    fn add(&mut self, sent: &Sent) -> Result<()> {
        self.under_way -= 1;
        self.count.packets += u64::from(sent.packets);
        self.count.bytes += u64::from(sent.bytes);
        if sent.status == Status::Ok { Ok(()) } else { Err(not_sent(sent.status)) }
    }
}

/// Sends one byte with an error end of packet, which no measured packet has. The transmit queue must
/// be closed before.
fn say_goodbye(endpoint: &Endpoint, deadline: Deadline) -> Result<()> {
    let mut tx = endpoint.port(0)?.vc(DATA_VC)?.tx()?;
    tx.send_ending(endpoint.alloc(1)?.buf(0..1)?, End::Eep)?;
    tx.drain(deadline)?;
    Ok(())
}

/// The error of a packet that was not sent.
#[cold]
pub fn not_sent(status: Status) -> Error {
    Error::device(status, format!("a packet was not sent: {}", status.doc()))
}

#[cold]
pub fn lost() -> Error {
    Error::device(Status::BadRing, "a completion returned no buffer")
}
