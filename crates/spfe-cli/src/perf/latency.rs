//! Round trips of single packets, at minimal latency.
//!
//! * The next packet is sent first. Completed buffers are taken back and reposted afterwards, while
//!   the far end is busy.
//! * Buffers are reposted in batches, so that the device rarely reads a line of the ring that this
//!   processor has just written.
//! * The answer comes from the far end's own memory, as in other systems' tests, so that no end must
//!   read a packet before it answers. With `--check` the received buffer is sent back.
//! * Polling looks at the completion ring many times without a pause before it calls `wait`, which
//!   also reads the clock and checks that the device is alive.

use super::args::Wait;
use super::case::Case;
use super::meter::{Count, Meter, Tally};
use super::receive::Reader;
use super::send::{lost, not_sent};
use hdrhistogram::Histogram;
use spfe::{
    Buf, End, Endpoint, Error, Pattern, QueueOptions, Received, Result, Rx, Status, Threshold, Tx,
    Vc,
};
use spfe_report::LatencyNs;

/// Only one packet is in flight; the other buffers allow reposting in batches.
const BUFFERS: usize = 16;
/// Buffers reposted together: one cache line of entries.
const BATCH: usize = 4;
/// Polls of the completion ring before the first wait.
const LOOKS: u32 = 10_000;
/// Longest round trip that the histogram distinguishes, in ticks: several minutes.
const TICKS_MAX: u64 = 1 << 40;

/// A transmit and a receive queue for single packets.
pub struct LatencyQueues {
    tx: Tx,
    rx: Rx,
    /// Received buffers that wait to be reposted.
    back: Vec<Buf>,
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
        let options = QueueOptions::default().depth(64).strategy(case.wait.strategy());
        let size = case.sizes.max as usize;
        let mut rx = into.rx_with(options)?;
        rx.post_all(&mut to.alloc(size * BUFFERS)?.split(size, BUFFERS)?);
        let looks = if case.wait == Wait::Poll { LOOKS } else { 1 };
        let tx = out.tx_with(options)?;
        Ok(Self { tx, rx, back: Vec::with_capacity(BATCH), looks, read: case.read })
    }

    /// Sends a packet.
    #[inline]
    pub fn send(&mut self, packet: Buf) -> Result<()> {
        Ok(self.tx.send(packet)?)
    }

    /// Waits for the next packet.
    #[inline]
    pub fn next(&mut self, count: &Count, meter: &mut Meter) -> Result<Received> {
        loop {
            for _ in 0..self.looks {
                if let Some(received) = self.rx.poll() {
                    if self.read {
                        touch(&received.buf);
                    }
                    return Ok(received);
                }
            }
            match self.rx.wait(&Threshold::ONE, meter.deadline()) {
                Err(error) if error.is_timeout() && meter.progressed(count) => {}
                other => drop(other?),
            }
        }
    }

    /// Takes the sent buffer back. Its completion is already there or about to arrive.
    #[inline]
    pub fn sent(&mut self, meter: &Meter) -> Result<Buf> {
        loop {
            if let Some(sent) = self.tx.poll() {
                if sent.status != Status::Ok {
                    return Err(not_sent(sent.status));
                }
                return self.tx.take().ok_or_else(lost);
            }
            self.tx.wait(meter.deadline())?;
        }
    }

    /// Keeps a buffer and reposts a whole batch.
    #[inline]
    pub fn keep(&mut self, buf: Buf) {
        self.back.push(buf);
        if self.back.len() == BATCH {
            self.rx.post_all(&mut self.back);
        }
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
    meter: Meter,
    packet: Buf,
    goodbye: Buf,
    pattern: Option<Pattern>,
    reader: Reader,
}

impl Pinger {
    /// Opens both queues.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let size = case.sizes.max as usize;
        let memory = endpoint.alloc(size + 1)?;
        let pattern = case.check.then(|| Pattern::new(size));
        let mut packet = memory.buf(0..size)?;
        packet.fill(0x5a);
        let ends = LatencyQueues::open(endpoint, case)?;
        let goodbye = memory.buf(size..size + 1)?;
        let reader = Reader::new(case);
        Ok(Self { ends, meter, packet, goodbye, pattern, reader })
    }

    /// Runs until the time is over.
    pub fn run(self) -> Result<(Tally, Option<LatencyNs>)> {
        let Self { mut ends, mut meter, mut packet, goodbye, pattern, mut reader } = self;
        let mut count = Count::default();
        meter.start(&count);
        let mut times = Ticks::start(&meter)?;
        let (mut before, mut last) = (Ticks::now(), None);
        loop {
            for _ in 0..meter.turns() {
                if let Some(pattern) = &pattern {
                    pattern.fill(count.packets / 2, &mut packet);
                    before = Ticks::now();
                }
                ends.send(packet)?;
                // Until `next` returns, the far end is busy.
                packet = ends.sent(&meter)?;
                if let Some(buf) = last.take() {
                    ends.keep(buf);
                }
                let back = ends.next(&count, &mut meter)?;
                // One clock reading ends this round trip and starts the next.
                let now = Ticks::now();
                times.record(now - before);
                before = now;
                count.packets += 2;
                count.bytes += 2 * back.buf.len() as u64;
                count.errors += u64::from(!reader.accepts(back.buf.len(), &back.buf));
                last = Some(back.buf);
                if meter.is_complete(&count) {
                    break;
                }
            }
            let warming_up = !meter.is_measuring();
            (count.sleeps, count.engine_ns) = ends.totals();
            if !meter.look(&count) {
                break;
            }
            if warming_up && meter.is_measuring() {
                times.clear();
            }
            // Looking at the meter is not part of a round trip.
            before = Ticks::now();
        }
        let distribution = times.distribution(&meter, 0.5);
        ends.tx.send_ending(goodbye, End::Eep)?;
        ends.tx.drain(meter.deadline())?;
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
/// `--check`, with the received one.
pub struct Echo {
    ends: LatencyQueues,
    meter: Meter,
    own: Option<Buf>,
}

impl Echo {
    /// Opens both queues.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let size = case.sizes.max as usize;
        let own = match case.check {
            true => None,
            false => Some(endpoint.alloc(size)?.buf(0..size)?),
        };
        Ok(Self { ends: LatencyQueues::open(endpoint, case)?, meter, own })
    }

    /// Runs until the near end says goodbye.
    pub fn run(self) -> Result<Tally> {
        let Self { mut ends, mut meter, mut own } = self;
        let mut count = Count::default();
        let mut first = Some(ends.next(&count, &mut meter)?);
        meter.start(&count);
        loop {
            for _ in 0..meter.turns() {
                let received = match first.take() {
                    Some(received) => received,
                    None => ends.next(&count, &mut meter)?,
                };
                if received.end != End::Eop {
                    (count.sleeps, count.engine_ns) = ends.totals();
                    meter.finish(&count);
                    return Ok(meter.tally(&count));
                }
                count.packets += 2;
                count.bytes += 2 * received.buf.len() as u64;
                let (answer, rest) = match own.take() {
                    Some(mut own) => {
                        own.set_len(received.buf.len());
                        (own, Some(received.buf))
                    }
                    None => (received.buf, None),
                };
                ends.send(answer)?;
                // Only now, while the answer is in flight.
                let answer = ends.sent(&meter)?;
                ends.keep(match rest {
                    Some(buf) => {
                        own = Some(answer);
                        buf
                    }
                    None => answer,
                });
            }
            (count.sleeps, count.engine_ns) = ends.totals();
            meter.look(&count);
        }
    }
}
