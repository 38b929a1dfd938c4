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
use super::send::{DATA_VC, lost, not_sent};
use hdrhistogram::Histogram;
use spfe::{
    Buf, End, Endpoint, Error, Pattern, QueueOptions, Received, Result, Rx, Status, Threshold, Tx,
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

/// The transmit and receive queue of one end.
struct LatencyQueues {
    tx: Tx,
    rx: Rx,
    /// Received buffers that wait to be reposted.
    back: Vec<Buf>,
    looks: u32,
    meter: Meter,
    count: Count,
}

impl LatencyQueues {
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

    /// Waits for the next packet.
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

    /// Takes the sent buffer back. Its completion is already there or about to arrive.
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

    /// Keeps a buffer and reposts a whole batch.
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

/// The near end: sends a packet and waits for the answer, repeatedly. Records half round-trip times.
pub struct Pinger {
    ends: LatencyQueues,
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
        let ends = LatencyQueues::open(endpoint, case, meter)?;
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
                // Until `next` returns, the far end is busy.
                packet = ends.sent()?;
                if let Some(buf) = last.take() {
                    ends.keep(buf);
                }
                let back = ends.next()?;
                // One clock reading ends this round trip and starts the next.
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
            // Looking at the meter is not part of a round trip.
            before = ticks();
        }
        let ns_per_tick = (ends.meter.now_ns() - start.0) as f64 / (before - start.1).max(1) as f64;
        ends.tx.send_ending(goodbye, End::Eep)?;
        ends.tx.drain(ends.meter.deadline())?;
        Ok((ends.meter.tally(&ends.count), distribution(&times, ns_per_tick / 2.0)))
    }
}

/// The distribution of times in units of `ns`; `None` without samples.
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

/// The cheapest time stamp of this machine. Its unit must be calibrated.
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

/// The far end: answers each packet with one of the same length, from its own memory or, with
/// `--check`, with the received one.
pub struct Echo {
    ends: LatencyQueues,
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
        Ok(Self { ends: LatencyQueues::open(endpoint, case, meter)?, own })
    }

    /// Runs until the near end says goodbye.
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
                // Only now, while the answer is in flight.
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
