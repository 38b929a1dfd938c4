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

/// Generates lengths and, if they are verified, contents of packets.
struct Writer {
    size: usize,
    /// Path and logical address in front of every packet, and the length of the path.
    address: Vec<u8>,
    path: usize,
    lengths: Option<Lengths>,
    pattern: Option<Pattern>,
    number: u64,
}

impl Writer {
    fn new(case: &Case) -> Self {
        let size = case.sizes.max as usize;
        let lengths = (!case.sizes.is_fixed()).then(|| case.sizes.lengths());
        let pattern = case.check.then(|| Pattern::new(size));
        let (address, path) = (case.address(), case.path.len());
        Self { size, address, path, lengths, pattern, number: 0 }
    }

    /// Length of the next packet, with its path.
    #[inline]
    fn length(&mut self) -> usize {
        let length = self.lengths.as_mut().map(|lengths| lengths.next_length() as usize);
        self.path + length.unwrap_or(self.size)
    }

    /// Whether packets have contents to write.
    #[inline]
    fn writes(&self) -> bool {
        self.pattern.is_some() || !self.address.is_empty()
    }

    /// Writes the address of the next packet, and its contents if they are verified.
    #[inline]
    fn fill(&mut self, packet: &mut [u8]) {
        if let Some(pattern) = &self.pattern {
            pattern.fill(self.number, &mut packet[self.path..]);
            self.number += 1;
        }
        let count = self.address.len().min(packet.len());
        packet[..count].copy_from_slice(&self.address[..count]);
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
        let vc = case.channel(endpoint)?;
        let (size, group, groups) = (case.sizes.max, case.group as usize, case.tx_groups());
        // Routers delete the path.
        let size = size + case.path.len() as u32;
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
                let size = writer.path + writer.size;
                if writer.writes() {
                    packets.chunks_exact_mut(size).for_each(|packet| writer.fill(packet));
                }
                let size = size as u32;
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
    if writer.writes() {
        writer.fill(&mut tx.slot().ok_or_else(lost)?[..length]);
    }
    Ok(length)
}

/// Sends packets until the time is over.
pub struct Sender {
    outlet: TransmitQueue,
    endpoint: Endpoint,
    case: Case,
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
            case: case.clone(),
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
        let mut left = self.case.count;
        loop {
            for _ in 0..self.meter.turns() {
                let group = left.map_or(self.group, |left| left.min(self.group.into()) as u32);
                if group == 0 {
                    break;
                }
                left = left.map(|left| left - u64::from(group));
                self.outlet.post(&mut self.writer, group)?;
                self.under_way += 1;
                // A wait has read the clocks anyway.
                if self.settle(self.most)? {
                    break;
                }
            }
            (self.count.sleeps, self.count.engine_ns) = self.outlet.totals();
            if !self.meter.look(&self.count) || left == Some(0) {
                break;
            }
        }
        self.settle(1)?;
        if left == Some(0) {
            (self.count.sleeps, self.count.engine_ns) = self.outlet.totals();
            self.meter.finish(&self.count);
        }
        if goodbye {
            drop(self.outlet);
            say_goodbye(&self.endpoint, &self.case, &self.meter)?;
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
            match self.outlet.wait((self.under_way / 2).max(1), self.meter.deadline()) {
                Err(error) if error.is_timeout() && self.meter.is_patient() => {}
                other => drop(other?),
            }
            waited = true;
        }
    }

    #[inline]
    fn add(&mut self, sent: &Sent) -> Result<()> {
        self.under_way -= 1;
        self.count.packets += u64::from(sent.packets);
        let path = u64::from(sent.packets) * self.writer.path as u64;
        self.count.bytes += u64::from(sent.bytes).saturating_sub(path);
        if sent.status == Status::Ok { Ok(()) } else { Err(not_sent(sent.status)) }
    }
}

/// Sends one byte behind the address with an error end of packet, which no measured packet has. The transmit queue must
/// be closed before.
pub fn say_goodbye(endpoint: &Endpoint, case: &Case, meter: &Meter) -> Result<()> {
    let mut tx = case.channel(endpoint)?.tx()?;
    let address = case.address();
    let length = address.len() + 1;
    let mut packet = endpoint.alloc(length)?.buf(0..length)?;
    packet[..address.len()].copy_from_slice(&address);
    tx.send_ending(packet, End::Eep)?;
    loop {
        match tx.drain(meter.deadline()) {
            Err(error) if error.is_timeout() && meter.is_patient() => {}
            other => return other.map(drop),
        }
    }
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
