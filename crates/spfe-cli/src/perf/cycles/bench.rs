//! Two cores, a cable, and the runs of hosts on them.

use super::host::{Mark, Receiver, Receiving, Sender, Sending};
use crate::error::Failure;
use spfe::{Buf, Endpoint, QueueOptions, Region};
use spfe_registers::Registers;
use spfe_rtl::{Machine, Moment, Name, Plan, Program, Rtl, Shape};
use std::sync::Arc;

/// Shape of a core where the device name does not say it.
const SHAPE: Shape =
    Shape { ports: 1, wires: 0, lanes: 4, vcs: 4, events: 16, pair: false, target: false };
/// Cycles in which a link comes up.
const START: u64 = 200_000;
/// Cycles without a byte after which a run has failed.
const PATIENCE: u64 = 200_000;
/// Largest transmit buffers: two groups of the largest packets.
const TX_BYTES: usize = 2 << 20;

/// Two cores whose ports 0 a cable joins.
pub struct Bench {
    pub machine: Arc<Machine>,
    pub lanes: usize,
    ends: [Endpoint; 2],
    tx: [Region; 2],
    rx: [Region; 2],
    /// What the transmit buffers hold.
    pattern: Arc<Vec<u8>>,
}

/// Runs until the links are up.
struct Start;

impl Program for Start {
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool {
        now.cycle() < START && !(now.is_up(0, 0) && now.is_up(1, 0))
    }
}

impl Bench {
    /// Opens the cores of a device name, with a cable of so many word periods and receive buffers
    /// of so many bytes.
    pub fn open(device: &str, cable: usize, rx_bytes: usize) -> Result<Self, Failure> {
        let name = Name::parse_for(device, SHAPE)?;
        let shape = name.plan().cores[0];
        let pair = Plan::pair(shape);
        let plan = Plan { far: pair.far, cores: pair.cores, cable, stepped: true, ..name.plan() };
        let machine = Machine::start(plan)?;
        let open = |core| -> spfe::Result<Endpoint> {
            let space = Rtl::take(&machine, core)?;
            Ok(Endpoint::with_backend(Registers::open(space, device, "rtl")?))
        };
        let ends = [open(0)?, open(1)?];
        machine.run(Start)?;
        let mut random = 1u64;
        let pattern: Vec<u8> = (0..TX_BYTES)
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 56) as u8
            })
            .collect();
        let tx = [ends[0].alloc(TX_BYTES)?, ends[1].alloc(TX_BYTES)?];
        for region in &tx {
            region.buf(0..TX_BYTES)?.put(&pattern);
        }
        let rx = [ends[0].alloc(rx_bytes)?, ends[1].alloc(rx_bytes)?];
        Ok(Self { machine, lanes: shape.lanes, ends, tx, rx, pattern: Arc::new(pattern) })
    }

    /// A sender of packets of so many bytes at an end.
    pub fn sender(&self, end: usize, size: usize, how: Sending) -> spfe::Result<Sender> {
        let count = how.group * how.most;
        let options = QueueOptions::default().depth(depth(count)).event(true);
        let tx = self.ends[end].port(0)?.vc(0)?.tx_with(options)?;
        Ok(Sender::new(tx, end, self.tx[end].split(size, count)?, how))
    }

    /// A receiver of what such a sender at the other end sends, with buffers of so many bytes in
    /// all, but two at least.
    pub fn receiver(
        &self,
        end: usize,
        size: usize,
        how: Receiving,
        (window, sent): (usize, usize),
    ) -> spfe::Result<Receiver> {
        let count = (window / size).clamp(2, 4096);
        let options = QueueOptions::default().depth(depth(count)).event(true);
        let rx = self.ends[end].port(0)?.vc(0)?.rx_with(options)?;
        let buffers: Vec<Buf> = self.rx[end].split(size, count)?;
        let sent = Arc::new(self.pattern[..sent * size].to_vec());
        Receiver::new(rx, end, buffers, how, (sent, size))
    }
}

fn depth(count: usize) -> u32 {
    count.next_power_of_two().max(16) as u32
}

/// Hosts at both ends.
#[derive(Default)]
pub struct Run {
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    /// Whose marks are measured: those of the senders, or those of the receivers.
    pub by_sender: bool,
    /// Marks that are needed.
    pub needed: usize,
    pub failure: Option<spfe::Error>,
    /// Since when no byte has moved, and how many had then.
    pub since: (u64, u64),
}

impl Run {
    fn marks(&self) -> Vec<&[Mark]> {
        if self.by_sender {
            self.senders.iter().map(|sender| &sender.marks[..]).collect()
        } else {
            self.receivers.iter().map(|receiver| &receiver.marks[..]).collect()
        }
    }

    fn step(&mut self, now: &Moment<'_>) -> spfe::Result<bool> {
        for sender in &mut self.senders {
            sender.step(now)?;
        }
        for receiver in &mut self.receivers {
            receiver.step(now)?;
        }
        let bytes = self.bytes();
        if bytes != self.since.1 || self.since.0 == 0 {
            self.since = (now.cycle(), bytes);
        }
        if now.cycle() - self.since.0 > PATIENCE {
            return Err(spfe::Error::TimedOut("no byte moves any more"));
        }
        if self.senders.iter().any(|sender| sender.left != 0) {
            if self.marks().iter().all(|marks| marks.len() >= self.needed) {
                self.stop();
            }
            return Ok(true);
        }
        let submitted: u64 = self.senders.iter().map(|sender| sender.submitted).sum();
        Ok(bytes != submitted || !self.senders.iter().all(Sender::is_idle))
    }

    /// Sends no more groups, and takes what is under way.
    pub fn stop(&mut self) {
        self.senders.iter_mut().for_each(|sender| sender.left = 0);
        self.receivers.iter_mut().for_each(Receiver::hurry);
    }

    /// Bytes that have arrived.
    pub fn bytes(&self) -> u64 {
        self.receivers.iter().map(|receiver| receiver.bytes).sum()
    }

    /// From the mark with this number to the last one that was needed, for each measured end.
    pub fn measured(&self, first: usize) -> Vec<(Mark, Mark)> {
        let ends = self.marks().into_iter();
        ends.map(|marks| (marks[first], marks[self.needed - 1])).collect()
    }

    /// A step; false at the end and after a failure.
    pub fn go_on(&mut self, now: &Moment<'_>) -> bool {
        match self.step(now) {
            Ok(on) => on,
            Err(error) => {
                self.failure = Some(error);
                false
            }
        }
    }
}

impl Program for Run {
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool {
        self.go_on(now)
    }
}
