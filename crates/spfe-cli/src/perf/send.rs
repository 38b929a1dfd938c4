//! The sending end, and how to be fast at it.
//!
//! * Buffers are cut from one region at the start and used again and again: nothing is allocated,
//!   registered or unmapped while packets move.
//! * A group of packets is one publication and has one completion, so its cost is paid once for
//!   all of them. A burst is one *entry* for all of them.
//! * A look at the completion queue comes before a wait: `wait` reads clocks and may sleep, and
//!   with the engine in this thread the completion is usually there already.

use super::case::Case;
use super::meter::{Count, Meter, Tally};
use spfe::{Buf, End, Endpoint, Error, Lengths, Pattern, QueueOptions, Result, Sent, Status, Tx};
use std::collections::VecDeque;

/// The virtual channel packets are measured on.
pub const DATA_VC: u32 = 0;

/// Writes what is sent: lengths, and contents where they are verified.
struct Writer {
    lengths: Option<Lengths>,
    pattern: Option<Pattern>,
    number: u64,
}

impl Writer {
    fn new(case: &Case) -> Self {
        let lengths = (!case.sizes.is_fixed()).then(|| case.sizes.lengths());
        let pattern = case.check.then(|| Pattern::new(case.sizes.max as usize));
        Self { lengths, pattern, number: 0 }
    }

    /// Whether the packets are all alike and can be sent as they are.
    fn is_idle(&self) -> bool {
        self.lengths.is_none() && self.pattern.is_none()
    }

    fn prepare(&mut self, packet: &mut Buf) {
        if let Some(lengths) = &mut self.lengths {
            packet.set_len(lengths.next_length() as usize);
        }
        if let Some(pattern) = &self.pattern {
            pattern.fill(self.number, packet);
        }
        self.number += 1;
    }

    /// The packets of a burst lie one behind the other in one buffer.
    fn prepare_burst(&mut self, packets: &mut Buf, size: usize) {
        if let Some(pattern) = &self.pattern {
            for packet in packets.chunks_exact_mut(size) {
                pattern.fill(self.number, packet);
                self.number += 1;
            }
        }
    }
}

/// Sends packets until the time is over.
pub struct Sender {
    tx: Tx,
    /// Groups of buffers, used in turn; each keeps its place in memory and its vector.
    groups: Vec<Vec<Buf>>,
    turn: usize,
    /// Buffers for single packets, or for whole bursts, used in turn.
    ring: VecDeque<Buf>,
    goodbye: Option<Buf>,
    writer: Writer,
    size: u32,
    group: u32,
    burst: bool,
    count: Count,
    meter: Meter,
}

impl Sender {
    /// Opens the transmit end and cuts the buffers.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let (size, group, groups) =
            (case.sizes.max as usize, case.group as usize, case.tx_groups());
        let options = QueueOptions::default()
            .depth((group * groups + 2).next_power_of_two().clamp(16, 32768) as u32)
            .strategy(case.wait.strategy());
        let tx = endpoint.port(0)?.vc(DATA_VC)?.tx_with(options)?;
        let memory = endpoint.alloc(size * group * groups + 1)?;
        let end = size * group * groups;
        let each = if case.burst { size * group } else { size };
        let mut bufs = memory.split(each, end / each)?;
        // Every page is there before the first packet.
        bufs.iter_mut().for_each(|buf| buf.fill(0x5a));
        let (mut sets, mut ring) = (Vec::new(), VecDeque::new());
        if case.burst || group == 1 {
            ring.extend(bufs);
        } else {
            while !bufs.is_empty() {
                let rest = bufs.split_off(group);
                sets.push(std::mem::replace(&mut bufs, rest));
            }
        }
        Ok(Self {
            tx,
            groups: sets,
            turn: 0,
            ring,
            goodbye: Some(memory.buf(end..end + 1)?),
            writer: Writer::new(case),
            size: case.sizes.max,
            group: case.group,
            burst: case.burst,
            count: Count::default(),
            meter,
        })
    }

    /// Sends until the time is over. Then `goodbye` tells a receiver that was all: one byte, ended
    /// by an error end of packet, which no packet of a measurement has.
    pub fn run(mut self, goodbye: bool) -> Result<Tally> {
        self.meter.start(&self.count);
        match (self.burst, self.group) {
            (true, _) => self.repeat(Self::burst)?,
            (false, 1) => self.repeat(Self::single)?,
            (false, _) => self.repeat(Self::group)?,
        }
        if let Some(packet) = self.goodbye.take().filter(|_| goodbye) {
            self.tx.send_ending(packet, End::Eep)?;
            self.tx.drain(self.meter.deadline())?;
        }
        Ok(self.meter.tally(&self.count))
    }

    #[inline]
    fn repeat(&mut self, operation: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        loop {
            for _ in 0..self.meter.turns() {
                operation(self)?;
            }
            self.count.sleeps = self.tx.stats().sleeps;
            self.count.engine_ns = self.tx.engine_ns();
            if !self.meter.look(&self.count) {
                return Ok(());
            }
        }
    }

    /// One packet: submit it, wait for its completion.
    #[inline]
    fn single(&mut self) -> Result<()> {
        let Some(mut packet) = self.ring.pop_front() else { return Err(lost()) };
        if !self.writer.is_idle() {
            self.writer.prepare(&mut packet);
        }
        self.tx.send(packet)?;
        self.completed()?;
        let back = self.tx.take().ok_or_else(lost)?;
        self.ring.push_back(back);
        Ok(())
    }

    /// A group: submit all of it at once, wait for its one completion.
    #[inline]
    fn group(&mut self) -> Result<()> {
        let packets = &mut self.groups[self.turn];
        if !self.writer.is_idle() {
            packets.iter_mut().for_each(|packet| self.writer.prepare(packet));
        }
        // Takes the buffers out of the vector, whose memory stays for the next time.
        self.tx.send_group(packets);
        self.completed()?;
        let packets = &mut self.groups[self.turn];
        while let Some(packet) = self.tx.take() {
            packets.push(packet);
        }
        self.turn = (self.turn + 1) % self.groups.len();
        Ok(())
    }

    /// A burst: one entry describes the whole group.
    #[inline]
    fn burst(&mut self) -> Result<()> {
        let Some(mut packets) = self.ring.pop_front() else { return Err(lost()) };
        self.writer.prepare_burst(&mut packets, self.size as usize);
        self.tx.send_burst(packets, self.size, self.size, self.group)?;
        self.completed()?;
        let back = self.tx.take().ok_or_else(lost)?;
        self.ring.push_back(back);
        Ok(())
    }

    #[inline]
    fn completed(&mut self) -> Result<()> {
        let sent = loop {
            if let Some(sent) = self.tx.poll() {
                break sent;
            }
            self.tx.wait(self.meter.deadline())?;
        };
        let Sent { status, packets, bytes, .. } = sent;
        if status != Status::Ok {
            return Err(Error::device(status, format!("a packet was not sent: {}", status.doc())));
        }
        self.count.packets += u64::from(packets);
        self.count.bytes += u64::from(bytes);
        Ok(())
    }
}

#[cold]
fn lost() -> Error {
    Error::device(Status::BadRing, "a completion gave back no buffer")
}
