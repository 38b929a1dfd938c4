//! The receiving end, at maximum rate.
//!
//! * A pooled queue needs no posting: a packet is read in place, and releasing its slot is one
//!   store. There are few slots, so that they stay in the cache.
//! * In a packed area packets lie back to back, and one completion publishes a run of them. This is
//!   the cheapest way to receive small packets.
//! * Everything that has arrived is taken before the next wait, so under load there are no waits.
//! * With a fill threshold the thread sleeps through a whole batch and is woken once.

use super::args::Wait;
use super::case::Case;
use super::meter::{Count, Meter, Tally};
use spfe::{
    Deadline, End, Endpoint, Lengths, PackedOptions, PackedRx, Pattern, PoolOptions, PooledRx,
    QueueOptions, Ready, Result, Threshold,
};
use std::time::Duration;

/// Pause instructions between two polls, and polls before the first wait, which lets others have the
/// core: a device thread may need it.
const PAUSES: u32 = 32;
const LOOKS: u32 = 1000;
const LOOKS_BESIDE_THREAD: u32 = 2;
/// Completion entries of a packed area, one for each run of packets.
const RUNS: u32 = 1024;

/// Verifies and counts what is received.
pub struct Reader {
    size: usize,
    lengths: Option<Lengths>,
    pattern: Option<Pattern>,
    number: u64,
    /// Received part of an unfinished packet: its length, and its bytes if they are verified.
    length: usize,
    parts: Vec<u8>,
    /// Counts of received packets.
    pub count: Count,
    /// The sender has said goodbye.
    pub goodbye: bool,
}

impl Reader {
    /// A reader for the packets of a case, starting with the first.
    pub fn new(case: &Case) -> Self {
        Self {
            size: case.sizes.max as usize,
            lengths: (!case.sizes.is_fixed()).then(|| case.sizes.lengths()),
            pattern: case.check.then(|| Pattern::new(case.sizes.max as usize)),
            number: 0,
            length: 0,
            parts: Vec::new(),
            count: Count::default(),
            goodbye: false,
        }
    }

    /// Takes a packet, or a part of one.
    #[inline(always)]
    pub fn take(&mut self, bytes: &[u8], end: End) {
        if end == End::Eop && self.length == 0 {
            self.packet(bytes.len(), bytes);
        } else {
            self.part(bytes, end);
        }
    }

    #[inline(always)]
    fn packet(&mut self, length: usize, bytes: &[u8]) {
        let good = self.accepts(length, bytes);
        self.count.packets += 1;
        self.count.bytes += length as u64;
        self.count.errors += u64::from(!good);
    }

    /// Whether the next packet has the expected length and contents.
    #[inline(always)]
    pub fn accepts(&mut self, length: usize, bytes: &[u8]) -> bool {
        let expected = match &mut self.lengths {
            Some(lengths) => lengths.next_length() as usize,
            None => self.size,
        };
        let number = self.number;
        self.number += 1;
        length == expected
            && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(number, bytes))
    }

    #[cold]
    fn part(&mut self, bytes: &[u8], end: End) {
        self.length += bytes.len();
        if self.pattern.is_some() {
            self.parts.extend_from_slice(bytes);
        }
        match end {
            End::More => return,
            End::Eep => self.goodbye = true,
            End::Eop => {
                let parts = std::mem::take(&mut self.parts);
                self.packet(self.length, &parts);
            }
        }
        self.parts.clear();
        self.length = 0;
    }
}

/// Receive queue of either kind.
enum ReceiveQueue {
    /// Pooled: peek, use, release.
    Slots(PooledRx),
    /// A packed area.
    Packed(PackedRx),
}

impl ReceiveQueue {
    fn open(endpoint: &Endpoint, case: &Case) -> Result<Self> {
        let vc = case.channel(endpoint)?;
        let queue = QueueOptions::default().strategy(case.wait.strategy());
        let size = case.sizes.max;
        if case.packed {
            // At least eight packets, so that sender and receiver can work at the same time.
            let area = case.rx_window.max(8 * (u64::from(size) + 8)).max(65536) as u32;
            let options = PackedOptions::default().area(area).queue(queue.depth(RUNS));
            return Ok(Self::Packed(vc.rx_packed(options)?));
        }
        let slots = case.rx_buffers().next_power_of_two().clamp(4, 32768) as u32;
        Ok(Self::Slots(vc.rx_pooled(PoolOptions::new(slots, size).queue(queue))?))
    }

    /// Takes the packets that have arrived, but at most as many as there are buffers: released ones
    /// may be full again, and the caller must look at the time. False if there are none.
    #[inline]
    fn take(&mut self, reader: &mut Reader) -> bool {
        match self {
            Self::Slots(rx) => {
                for turn in 0..rx.slots() {
                    let Some(packet) = rx.peek() else { return turn != 0 };
                    reader.take(packet.bytes, packet.end);
                    rx.release();
                }
            }
            Self::Packed(rx) => {
                for turn in 0..RUNS {
                    let Some(run) = rx.poll() else { return turn != 0 };
                    // The records are read in place; dropping the run releases their bytes.
                    run.records().for_each(|record| reader.take(record.bytes, record.end));
                }
            }
        }
        true
    }

    /// Waits without taking packets.
    fn wait(&mut self, threshold: &Threshold, deadline: Deadline) -> Result<Ready> {
        match self {
            Self::Slots(rx) => rx.wait(threshold, deadline),
            Self::Packed(rx) => rx.wait(threshold, deadline),
        }
    }

    fn fill_threshold(&self, percent: u32) -> Threshold {
        match self {
            Self::Slots(rx) => rx.fill_threshold(percent),
            Self::Packed(rx) => rx.fill_threshold(percent),
        }
    }

    /// Sleeps and engine time (ns) so far.
    fn totals(&self) -> (u64, u64) {
        match self {
            Self::Slots(rx) => (rx.stats().sleeps, rx.engine_ns()),
            Self::Packed(rx) => (rx.stats().sleeps, rx.engine_ns()),
        }
    }
}

/// Receives packets until the time is over or the sender says goodbye.
pub struct Receiver {
    inlet: ReceiveQueue,
    threshold: Option<Threshold>,
    looks: u32,
    reader: Reader,
    meter: Meter,
}

impl Receiver {
    /// Opens the receive queue with all buffers posted.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let inlet = ReceiveQueue::open(endpoint, case)?;
        let threshold = case.threshold.map(|(percent, timeout_us)| {
            inlet.fill_threshold(percent).or_after_first(Duration::from_micros(timeout_us))
        });
        let looks = match case.wait {
            Wait::Poll if case.immediate => LOOKS,
            Wait::Poll => LOOKS_BESIDE_THREAD,
            _ => 1,
        };
        Ok(Self { inlet, threshold, looks, reader: Reader::new(case), meter })
    }

    /// Receives until the sender says goodbye or, unless `patient`, the time is over.
    pub fn run(mut self, patient: bool) -> Result<Tally> {
        // The time before the first packet does not count.
        self.wait(Threshold::ONE)?;
        self.meter.start(&self.reader.count);
        while !self.reader.goodbye {
            for _ in 0..self.meter.turns() {
                // A wait has read the clocks anyway.
                if self.turn()? || self.reader.goodbye {
                    break;
                }
            }
            (self.reader.count.sleeps, self.reader.count.engine_ns) = self.inlet.totals();
            if !self.meter.look(&self.reader.count) && !patient {
                break;
            }
        }
        self.meter.finish(&self.reader.count);
        Ok(self.meter.tally(&self.reader.count))
    }

    /// Takes the packets that have arrived, or waits; returns whether it has waited. Polling an empty
    /// slot takes its cache line from the sender, which is about to write it. Hence the pause between
    /// polls, in which several packets arrive.
    #[inline]
    fn turn(&mut self) -> Result<bool> {
        if let Some(threshold) = self.threshold {
            self.wait(threshold)?;
            self.inlet.take(&mut self.reader);
            return Ok(true);
        }
        for look in 0..self.looks {
            if look != 0 {
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
            }
            if self.inlet.take(&mut self.reader) {
                return Ok(false);
            }
        }
        self.wait(Threshold::ONE)?;
        Ok(true)
    }

    fn wait(&mut self, threshold: Threshold) -> Result<()> {
        loop {
            match self.inlet.wait(&threshold, self.meter.deadline()) {
                Err(error)
                    if error.is_timeout()
                        && (self.meter.progressed(&self.reader.count)
                            || self.meter.is_patient()) => {}
                other => return other.map(drop),
            }
            // The threshold may never be reached: take what has arrived.
            if self.inlet.wait(&Threshold::ONE, Deadline::NOW).is_ok() {
                return Ok(());
            }
        }
    }
}
