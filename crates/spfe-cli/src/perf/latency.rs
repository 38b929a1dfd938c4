//! Round trips of single packets, at minimal latency.
//!
//! * Both ends have pooled queues, the interface with the fewest instructions.
//! * The next packet is sent first. Slots are released, completions taken and times recorded
//!   afterwards, while the far end is busy.
//! * The answer comes from the far end's own memory, as in other systems' tests, so that no end must
//!   read a packet before it answers. With `--check` the received bytes are copied and sent back.
//! * Polling looks at the completion ring many times without a pause before it calls `wait`, which
//!   also reads the clock, checks that the device is alive and yields. Where another thread is the
//!   device it looks less often, because that may need the core.

use super::args::Wait;
use super::case::Case;
use super::meter::{Count, Meter, Tally};
use super::receive::Reader;
use super::send::{lost, not_sent, say_goodbye};
use hdrhistogram::Histogram;
use spfe::{
    End, Endpoint, Error, Packet, Pattern, PoolOptions, PooledRx, PooledTx, QueueOptions, Result,
    Status, Threshold, Vc,
};
use spfe_report::LatencyNs;

/// Only one packet is in flight; the other slots keep what both ends write on different lines.
const SLOTS: u32 = 16;
/// Polls of the completion ring before the first wait, which lets others have the core: a device
/// thread may need it.
const LOOKS: u32 = 10_000;
const LOOKS_BESIDE_THREAD: u32 = 64;
/// Longest round trip that the histogram distinguishes, in ticks: several minutes.
const TICKS_MAX: u64 = 1 << 40;

/// A transmit and a receive queue for single packets.
pub struct LatencyQueues {
    tx: PooledTx,
    rx: PooledRx,
    looks: u32,
    /// Read each packet that arrives.
    read: bool,
}

impl LatencyQueues {
    /// Opens both queues of an end.
    fn open(endpoint: &Endpoint, case: &Case) -> Result<Self> {
        let vc = case.channel(endpoint)?;
        Self::on(&vc, &vc, endpoint, case)
    }

    /// Opens the transmit queue of one end and the receive queue of the other.
    pub fn between(from: &Endpoint, to: &Endpoint, case: &Case) -> Result<Self> {
        Self::on(&case.channel(from)?, &case.seen_from_far().channel(to)?, to, case)
    }

    fn on(out: &Vc, into: &Vc, to: &Endpoint, case: &Case) -> Result<Self> {
        if !case.measures_engine() {
            to.measure_engine(false);
        }
        let queue = QueueOptions::default().strategy(case.wait.strategy()).beside(case.beside);
        let options = PoolOptions::new(SLOTS, case.sizes.max).queue(queue);
        let rx = into.rx_pooled(options)?;
        let looks = match case.wait {
            Wait::Poll if case.immediate => LOOKS,
            Wait::Poll => LOOKS_BESIDE_THREAD,
            _ => 1,
        };
        Ok(Self { tx: out.tx_pooled(options)?, rx, looks, read: case.read })
    }

    /// Memory of the next packet.
    pub fn slot(&mut self) -> Result<&mut [u8]> {
        self.tx.slot().ok_or_else(lost)
    }

    /// Sends the next packet.
    #[inline]
    pub fn send(&mut self, length: usize) -> Result<()> {
        self.tx.send(length)
    }

    /// Waits for the next packet. Returns its length and its end; [`LatencyQueues::packet`] has it
    /// until it is released.
    #[inline]
    pub fn next(&mut self, count: &Count, meter: &mut Meter) -> Result<(usize, End)> {
        loop {
            for _ in 0..self.looks {
                if let Some(packet) = self.rx.peek() {
                    if self.read {
                        touch(packet.bytes);
                    }
                    return Ok((packet.bytes.len(), packet.end));
                }
            }
            match self.rx.wait(&Threshold::ONE, meter.deadline()) {
                Err(error) if error.is_timeout() && meter.progressed(count) => {}
                other => drop(other?),
            }
        }
    }

    /// The packet that has arrived.
    #[inline]
    pub fn packet(&mut self) -> Result<Packet<'_>> {
        self.rx.peek().ok_or_else(lost)
    }

    /// Sends the packet that has arrived back.
    fn send_back(&mut self) -> Result<()> {
        let (packet, slot) = (self.rx.peek().ok_or_else(lost)?, self.tx.slot().ok_or_else(lost)?);
        let length = packet.bytes.len();
        slot[..length].copy_from_slice(packet.bytes);
        self.tx.send(length)
    }

    /// Takes the completion of the packet that was sent. It is already there or about to arrive.
    #[inline]
    pub fn sent(&mut self, meter: &Meter) -> Result<()> {
        loop {
            if let Some(sent) = self.tx.poll() {
                return if sent.status == Status::Ok { Ok(()) } else { Err(not_sent(sent.status)) };
            }
            self.tx.wait(meter.deadline())?;
        }
    }

    /// Releases the packet that has arrived.
    #[inline]
    pub fn release(&mut self) {
        self.rx.release();
    }

    /// Sleeps and engine time (ns) so far.
    pub fn totals(&self) -> (u64, u64) {
        let sleeps = self.tx.stats().sleeps + self.rx.stats().sleeps;
        (sleeps, self.tx.engine_ns() + self.rx.engine_ns())
    }
}

/// Reads a byte of each cache line, one after the other: the packet is used when all have arrived.
#[inline]
fn touch(packet: &[u8]) {
    let read = |sum: u8, line: &[u8]| sum.wrapping_add(line[0]);
    let sum = packet.chunks(64).fold(0, read);
    // The next packet leaves after these bytes have arrived.
    if std::hint::black_box(sum) == u8::MAX {
        std::hint::spin_loop();
    }
}

/// The near end: sends a packet and waits for the answer, repeatedly. Records half round-trip times.
pub struct Pinger {
    ends: LatencyQueues,
    endpoint: Endpoint,
    case: Case,
    meter: Meter,
    pattern: Option<Pattern>,
    reader: Reader,
}

impl Pinger {
    /// Opens both queues.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let pattern = case.check.then(|| Pattern::new(case.sizes.max as usize));
        let ends = LatencyQueues::open(endpoint, case)?;
        let (endpoint, case) = (endpoint.clone(), case.clone());
        Ok(Self { ends, endpoint, meter, pattern, reader: Reader::new(&case), case })
    }

    /// Runs until the time is over.
    pub fn run(self) -> Result<(Tally, Option<LatencyNs>)> {
        let Self { mut ends, endpoint, case, mut meter, pattern, mut reader } = self;
        let size = case.sizes.max as usize;
        let mut count = Count::default();
        meter.start(&count);
        let mut times = Ticks::start(&meter)?;
        // A packet has arrived and is not released yet.
        let mut last = false;
        loop {
            // When the packet before was sent. Looking at the meter is not part of a round trip.
            let mut before = None;
            for _ in 0..meter.turns() {
                if let Some(pattern) = &pattern {
                    // Writing a packet is not part of a round trip either.
                    pattern.fill(count.packets / 2, &mut ends.slot()?[..size]);
                    before = Some(Ticks::now());
                }
                ends.send(size)?;
                // Until `next` returns, the far end is busy.
                if pattern.is_none() {
                    times.end(&mut before);
                }
                if last {
                    ends.release();
                }
                ends.sent(&meter)?;
                let (length, _) = ends.next(&count, &mut meter)?;
                last = true;
                count.packets += 2;
                count.bytes += 2 * length as u64;
                if pattern.is_some() {
                    times.end(&mut before);
                    before = None;
                    count.errors += u64::from(!reader.accepts(length, ends.packet()?.bytes));
                } else {
                    count.errors += u64::from(!reader.accepts(length, &[]));
                }
                if meter.is_complete(&count) {
                    break;
                }
            }
            // No packet follows the last one.
            times.end(&mut before);
            let warming_up = !meter.is_measuring();
            (count.sleeps, count.engine_ns) = ends.totals();
            if !meter.look(&count) {
                break;
            }
            if warming_up && meter.is_measuring() {
                times.clear();
            }
        }
        let distribution = times.distribution(&meter, 0.5);
        drop(ends);
        say_goodbye(&endpoint, &case, &meter)?;
        Ok((meter.tally(&count), distribution))
    }
}

/// Measured times, in units of the cheapest time stamp of this machine.
pub struct Ticks {
    times: Histogram<u64>,
    start: (u64, u64),
}

impl Ticks {
    /// Starts to compare the time stamps with the clock.
    pub fn start(meter: &Meter) -> Result<Self> {
        let times = Histogram::new_with_bounds(1, TICKS_MAX, 3)
            .map_err(|error| Error::device(Status::BadField, error.to_string()))?;
        Ok(Self { times, start: (meter.now_ns(), Self::now()) })
    }

    /// A time stamp.
    #[inline(always)]
    pub fn now() -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction, and Linux lets user space use it.
        unsafe {
            std::arch::x86_64::_rdtsc()
        }
        #[cfg(not(target_arch = "x86_64"))]
        spfe_measure::now_ns()
    }

    /// Records the time since `since`, if there is one, and begins the next one.
    #[inline(always)]
    pub fn end(&mut self, since: &mut Option<u64>) {
        let now = Self::now();
        if let Some(since) = since.replace(now) {
            self.record(now - since);
        }
    }

    /// Records a time.
    #[inline(always)]
    pub fn record(&mut self, ticks: u64) {
        self.times.saturating_record(ticks);
    }

    /// Forgets all times.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// The distribution of `share` of each time; `None` without times.
    pub fn distribution(&self, meter: &Meter, share: f64) -> Option<LatencyNs> {
        let elapsed = (meter.now_ns() - self.start.0) as f64;
        let ns = share * elapsed / (Self::now() - self.start.1).max(1) as f64;
        let percentile = |percent| self.times.value_at_percentile(percent) as f64 * ns;
        (!self.times.is_empty()).then(|| LatencyNs {
            mean: self.times.mean() * ns,
            p50: percentile(50.0),
            p99: percentile(99.0),
            p999: percentile(99.9),
            max: self.times.max() as f64 * ns,
            min: self.times.min() as f64 * ns,
        })
    }
}

/// The far end: answers each packet with one of the same length, from its own memory or, with
/// `--check`, with the received bytes.
pub struct Echo {
    ends: LatencyQueues,
    meter: Meter,
    check: bool,
}

impl Echo {
    /// Opens both queues.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        Ok(Self { ends: LatencyQueues::open(endpoint, case)?, meter, check: case.check })
    }

    /// Runs until the near end says goodbye.
    pub fn run(self) -> Result<Tally> {
        let Self { mut ends, mut meter, check } = self;
        let mut count = Count::default();
        let mut first = Some(ends.next(&count, &mut meter)?);
        meter.start(&count);
        loop {
            for _ in 0..meter.turns() {
                let (length, end) = match first.take() {
                    Some(first) => first,
                    None => ends.next(&count, &mut meter)?,
                };
                if end != End::Eop {
                    (count.sleeps, count.engine_ns) = ends.totals();
                    meter.finish(&count);
                    return Ok(meter.tally(&count));
                }
                if check {
                    ends.send_back()?;
                } else {
                    ends.send(length)?;
                }
                // Only now, while the answer is in flight.
                ends.release();
                ends.sent(&meter)?;
                count.packets += 2;
                count.bytes += 2 * length as u64;
            }
            (count.sleeps, count.engine_ns) = ends.totals();
            meter.look(&count);
        }
    }
}
