//! One packet out, one back, and how to be fast at it.
//!
//! * The packet goes out before anything else is tidied up: buffers are taken back and posted again
//!   while the other end is busy.
//! * Buffers are posted again a few at a time, so that the device rarely reads a line of the ring
//!   that this processor has just written.
//! * The answer is a packet of the other end's own, as in the tests of other systems: what has come
//!   need not be read before it can be answered. With `--check` the very buffer goes back.
//! * Polling looks at the completion queue many times, without a pause, before it asks `wait` to,
//!   which also looks at the clock and at the health of the device.

use super::args::Wait;
use super::case::Case;
use super::meter::{Count, Meter, Tally};
use super::receive::Reader;
use super::send::{DATA_VC, lost, not_sent};
use hdrhistogram::Histogram;
use spfe::{
    Buf, End, Endpoint, Error, Pattern, QueueOptions, Received, Result, Rx, Status, Threshold, Tx,
};
use spfe_report::LatencyNs;

/// One packet is on its way at a time; more buffers only so that posting can wait.
const BUFFERS: usize = 16;
/// Buffers that are posted again together: a cache line of entries.
const BATCH: usize = 4;
/// Looks at the completion queue before the first wait.
const LOOKS: u32 = 10_000;
/// Longest round trip that is told from longer ones, ticks: minutes.
const TICKS_MAX: u64 = 1 << 40;

/// Both queues of an end.
struct Ends {
    tx: Tx,
    rx: Rx,
    /// Received, and to be posted again.
    back: Vec<Buf>,
    looks: u32,
    meter: Meter,
    count: Count,
}

impl Ends {
    fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let vc = endpoint.port(0)?.vc(DATA_VC)?;
        let options = QueueOptions::default().depth(64).strategy(case.wait.strategy());
        let size = case.sizes.max as usize;
        let mut rx = vc.rx_with(options)?;
        rx.post_all(&mut endpoint.alloc(size * BUFFERS)?.split(size, BUFFERS)?);
        let looks = if case.wait == Wait::Poll { LOOKS } else { 1 };
        let (back, count) = (Vec::with_capacity(BATCH), Count::default());
        Ok(Self { tx: vc.tx_with(options)?, rx, back, looks, meter, count })
    }

    /// The next packet.
    #[inline]
    fn next(&mut self) -> Result<Received> {
        loop {
            for _ in 0..self.looks {
                if let Some(received) = self.rx.poll() {
                    return Ok(received);
                }
            }
            match self.rx.wait(&Threshold::ONE, self.meter.deadline()) {
                Err(error) if error.is_timeout() && self.meter.progressed(&self.count) => {}
                other => drop(other?),
            }
        }
    }

    /// The buffer that was sent; its completion is there already, or soon.
    #[inline]
    fn sent(&mut self) -> Result<Buf> {
        loop {
            if let Some(sent) = self.tx.poll() {
                if sent.status != Status::Ok {
                    return Err(not_sent(sent.status));
                }
                return self.tx.take().ok_or_else(lost);
            }
            self.tx.wait(self.meter.deadline())?;
        }
    }

    /// Keeps a buffer; posts them again when there are a few.
    #[inline]
    fn keep(&mut self, buf: Buf) {
        self.back.push(buf);
        if self.back.len() == BATCH {
            self.rx.post_all(&mut self.back);
        }
    }

    fn look(&mut self) -> bool {
        self.count.sleeps = self.tx.stats().sleeps + self.rx.stats().sleeps;
        self.count.engine_ns = self.tx.engine_ns() + self.rx.engine_ns();
        self.meter.look(&self.count)
    }
}

/// Sends, waits for the packet to come back, again and again. The times are half round trips.
pub struct Pinger {
    ends: Ends,
    packet: Buf,
    goodbye: Buf,
    pattern: Option<Pattern>,
    reader: Reader,
    times: Histogram<u64>,
}

impl Pinger {
    /// Opens both queues.
    pub fn open(endpoint: &Endpoint, case: &Case, meter: Meter) -> Result<Self> {
        let size = case.sizes.max as usize;
        let memory = endpoint.alloc(size + 1)?;
        let pattern = case.check.then(|| Pattern::new(size));
        let mut packet = memory.buf(0..size)?;
        packet.fill(0x5a);
        let ends = Ends::open(endpoint, case, meter)?;
        let goodbye = memory.buf(size..size + 1)?;
        let reader = Reader::new(case);
        let times = Histogram::new_with_bounds(1, TICKS_MAX, 3)
            .map_err(|error| Error::device(Status::BadField, error.to_string()))?;
        Ok(Self { ends, packet, goodbye, pattern, reader, times })
    }

    /// Runs until the time is over.
    pub fn run(self) -> Result<(Tally, Option<LatencyNs>)> {
        let Self { mut ends, mut packet, goodbye, pattern, mut reader, mut times } = self;
        ends.meter.start(&ends.count);
        let start = (ends.meter.now_ns(), ticks());
        let (mut before, mut last) = (start.1, None);
        loop {
            for _ in 0..ends.meter.turns() {
                if let Some(pattern) = &pattern {
                    pattern.fill(ends.count.packets / 2, &mut packet);
                    before = ticks();
                }
                ends.tx.send(packet)?;
                // From here to `next` the other end is busy.
                packet = ends.sent()?;
                if let Some(buf) = last.take() {
                    ends.keep(buf);
                }
                let back = ends.next()?;
                // One reading ends this round trip and begins the next.
                let now = ticks();
                times.saturating_record(now - before);
                before = now;
                ends.count.packets += 2;
                ends.count.bytes += 2 * back.buf.len() as u64;
                ends.count.errors += u64::from(!reader.accepts(back.buf.len(), &back.buf));
                last = Some(back.buf);
            }
            let warming_up = !ends.meter.is_measuring();
            if !ends.look() {
                break;
            }
            if warming_up && ends.meter.is_measuring() {
                times.clear();
            }
            // A look is no part of a round trip.
            before = ticks();
        }
        let ns_per_tick = (ends.meter.now_ns() - start.0) as f64 / (before - start.1).max(1) as f64;
        ends.tx.send_ending(goodbye, End::Eep)?;
        ends.tx.drain(ends.meter.deadline())?;
        Ok((ends.meter.tally(&ends.count), distribution(&times, ns_per_tick / 2.0)))
    }
}

/// The distribution of times, each times `ns`; none without samples.
fn distribution(times: &Histogram<u64>, ns: f64) -> Option<LatencyNs> {
    let percentile = |percent| times.value_at_percentile(percent) as f64 * ns;
    (!times.is_empty()).then(|| LatencyNs {
        mean: times.mean() * ns,
        p50: percentile(50.0),
        p99: percentile(99.0),
        p999: percentile(99.9),
        max: times.max() as f64 * ns,
        min: times.min() as f64 * ns,
    })
}

/// A time stamp that costs as little as this machine allows; its unit has to be measured.
#[inline(always)]
fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user space use it.
    unsafe {
        std::arch::x86_64::_rdtsc()
    }
    #[cfg(not(target_arch = "x86_64"))]
    spfe_measure::now_ns()
}

/// Answers every packet with one of its length: an own one, or with the one that came.
pub struct Echo {
    ends: Ends,
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
        Ok(Self { ends: Ends::open(endpoint, case, meter)?, own })
    }

    /// Runs until the other end says goodbye.
    pub fn run(self) -> Result<Tally> {
        let Self { mut ends, mut own } = self;
        let mut first = Some(ends.next()?);
        ends.meter.start(&ends.count);
        loop {
            for _ in 0..ends.meter.turns() {
                let received = match first.take() {
                    Some(received) => received,
                    None => ends.next()?,
                };
                if received.end != End::Eop {
                    ends.look();
                    ends.meter.finish(&ends.count);
                    return Ok(ends.meter.tally(&ends.count));
                }
                ends.count.packets += 2;
                ends.count.bytes += 2 * received.buf.len() as u64;
                let (answer, rest) = match own.take() {
                    Some(mut own) => {
                        own.set_len(received.buf.len());
                        (own, Some(received.buf))
                    }
                    None => (received.buf, None),
                };
                ends.tx.send(answer)?;
                // Only now, while the packet is on its way back.
                let answer = ends.sent()?;
                ends.keep(match rest {
                    Some(buf) => {
                        own = Some(answer);
                        buf
                    }
                    None => answer,
                });
            }
            ends.look();
        }
    }
}
