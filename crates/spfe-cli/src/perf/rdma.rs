//! Operations on the memory of a target-only endpoint, and what two endpoints exchange.
//!
//! Writes and reads use the form of the queue for requests that repeat, as long as its ring has no more
//! requests than the case, or all of them stay in the cache.

use super::args::RdmaOperation;
use super::case::Case;
use super::latency::Ticks;
use super::meter::{Count, Meter, Tally};
use super::rdma_exchange::Exchange;
use super::rdma_receiver;
use super::rdma_thread::{FAR, NEAR};
use spfe::{Deadline, Endpoint, Error, QueueOptions, Result, Status};
use spfe_remote::engine::{Local, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{PooledPair, RdmaError, RdmaQueue, RdmaQueueOptions};
use spfe_report::LatencyNs;
use std::time::Duration;

/// Size of the target's memory: as many bytes as a case may have under way.
pub const MEMORY: &str = "1G";
/// Most operations under way.
pub const DEPTH_MAX: u64 = 1 << 14;
/// Time without a completion before giving up.
const PATIENCE: Duration = Duration::from_secs(5);
/// Packets in each queue of the endpoint.
const SLOTS: u32 = 512;
/// Fewest requests of a pooled ring, and bytes of all of them that stay in the cache.
const POOLED_MIN: u32 = 8;
const CACHED: u64 = 512 << 10;

type Measured = std::result::Result<(Tally, Option<LatencyNs>), RdmaError>;

/// Measures a case. `far` is the other endpoint and the processor of its thread, for what two endpoints
/// exchange.
pub fn measure(
    near: &Endpoint,
    far: Option<(&Endpoint, Option<usize>)>,
    case: &Case,
    operation: RdmaOperation,
    meter: Meter,
) -> Result<(Tally, Option<LatencyNs>)> {
    let plain = |error| match error {
        RdmaError::Device(error) => error,
        error => Error::device(Status::PeerGone, error.to_string()),
    };
    let alone = |meter| Run::open(near, case, operation).and_then(|run| run.run(meter));
    let measured = match (operation, far) {
        (RdmaOperation::Send, Some((far, cpu))) => {
            let receiver = rdma_receiver::start(far, cpu, case).map_err(plain)?;
            let measured = alone(meter);
            receiver.end().map_err(plain)?;
            measured
        }
        (RdmaOperation::Latency, Some((far, cpu))) => exchange(near, (far, cpu), case, meter),
        _ => alone(meter),
    };
    measured.map_err(plain)
}

/// Exchanges writes until the meter ends the measurement.
fn exchange(
    near: &Endpoint,
    (far, far_cpu): (&Endpoint, Option<usize>),
    case: &Case,
    mut meter: Meter,
) -> Measured {
    let (mut end, thread) = Exchange::start(near, far, far_cpu, case)?;
    let mut count = Count::default();
    meter.start(&count);
    let mut times = Ticks::start(&meter)?;
    let rounds = repeat(&mut meter, &mut count, &mut times, |meter, count, times| {
        let start = Ticks::now();
        end.round(meter)?;
        times.record(Ticks::now() - start);
        count.packets += 2;
        count.bytes += 2 * u64::from(case.sizes.max);
        (count.sleeps, count.engine_ns) = end.totals();
        Ok(())
    });
    let ended = thread.end();
    rounds?;
    ended?;
    let latency = times.distribution(&meter, 0.5);
    Ok((meter.tally(&count), latency))
}

/// Takes turns until the meter ends the measurement.
fn repeat(
    meter: &mut Meter,
    count: &mut Count,
    times: &mut Ticks,
    mut turn: impl FnMut(&Meter, &mut Count, &mut Ticks) -> std::result::Result<(), RdmaError>,
) -> std::result::Result<(), RdmaError> {
    loop {
        for _ in 0..meter.turns() {
            turn(meter, count, times)?;
        }
        let warming_up = !meter.is_measuring();
        if !meter.look(count) {
            return Ok(());
        }
        if warming_up && meter.is_measuring() {
            times.clear();
        }
    }
}

/// How groups are posted.
enum Way {
    /// Request by request.
    Posted { queue: Box<RdmaQueue>, key: u32, memory: u32, kind: WorkKind },
    /// The same requests again and again.
    Pooled(Box<PooledPair>),
}

/// Groups of operations. A group has one doorbell and one completion, that of its last operation. With
/// one group at a time, the times from post to completion are the latency.
struct Run {
    way: Way,
    bytes: u32,
    group: u32,
    under_way: u32,
}

impl Run {
    fn open(
        near: &Endpoint,
        case: &Case,
        operation: RdmaOperation,
    ) -> std::result::Result<Self, RdmaError> {
        let (bytes, under_way) = (case.sizes.max, case.most_under_way());
        let total = case.group * under_way;
        let requests = total.next_power_of_two().max(POOLED_MIN);
        let repeats = matches!(operation, RdmaOperation::Write | RdmaOperation::Read);
        let cached = u64::from(requests) * u64::from(bytes) <= CACHED;
        let pooled = repeats && (requests == total || cached);
        let wait = QueueOptions::default().strategy(case.wait.strategy());
        let mut options = RdmaQueueOptions { slots: SLOTS, queue: wait, ..Default::default() };
        let exchanges = operation == RdmaOperation::Send;
        if exchanges {
            (options.initiator.queue, options.initiator.target_queue) = (NEAR, FAR);
        }
        // A pooled ring has twice as many requests.
        options.initiator.depth = if pooled { requests / 2 } else { total } as usize;
        options.initiator.window = options.initiator.depth;
        let mut queue = RdmaQueue::open(&case.channel(near)?, options)?;
        let pooled = pooled && queue.is_on_device();
        let region = if exchanges { Vec::new() } else { queue.regions(PATIENCE)? };
        let key = region.first().map_or(0, |region| region.key);
        queue.connect(PATIENCE)?;
        let kind = match operation {
            RdmaOperation::Write | RdmaOperation::Latency => WorkKind::Write,
            RdmaOperation::Read => WorkKind::Read,
            RdmaOperation::Atomic => WorkKind::FetchAdd { add: 1 },
            RdmaOperation::Send => WorkKind::Send,
        };
        // As in the publication, each operation has a buffer of its own.
        let places = if pooled { requests } else { total };
        let memory = queue.register(vec![0x5a; bytes as usize * places as usize])?;
        let way = if pooled {
            let local = Local { memory, offset: 0, length: bytes };
            let request = WorkRequest { local: [local].into(), key, ..WorkRequest::new(0, kind) };
            let remote = if requests == total { bytes } else { 0 };
            Way::Pooled(Box::new(queue.pooled(&request, bytes, remote.into())?))
        } else {
            Way::Posted { queue: Box::new(queue), key, memory, kind }
        };
        Ok(Self { way, bytes, group: case.group, under_way })
    }

    fn run(mut self, mut meter: Meter) -> Measured {
        let mut count = Count::default();
        let (mut begun, mut done) = (0u64, 0u64);
        meter.start(&count);
        let mut times = Ticks::start(&meter)?;
        repeat(&mut meter, &mut count, &mut times, |_, count, times| {
            let start = Ticks::now();
            while begun - done < u64::from(self.under_way) {
                self.post(begun)?;
                begun += 1;
            }
            let groups = self.collect()?;
            done += groups;
            count.packets += groups * u64::from(self.group);
            count.bytes += groups * u64::from(self.group) * u64::from(self.bytes);
            if self.under_way == 1 {
                times.record(Ticks::now() - start);
            }
            (count.sleeps, count.engine_ns) = match &self.way {
                Way::Posted { queue, .. } => (queue.sleeps(), queue.engine_ns()),
                Way::Pooled(pair) => (pair.sleeps(), pair.engine_ns()),
            };
            Ok(())
        })?;
        let latency = times.distribution(&meter, 1.0);
        Ok((meter.tally(&count), latency))
    }

    /// Waits for completions. Returns the number of groups that have ended.
    fn collect(&mut self) -> std::result::Result<u64, RdmaError> {
        let mut groups = 0;
        match &mut self.way {
            Way::Posted { queue, .. } => {
                queue.wait(1, PATIENCE)?;
                while let Some(completion) = queue.poll()? {
                    let what = "operation of a group".to_owned();
                    completion.result.map_err(|error| RdmaError::Work { what, error })?;
                    groups += 1;
                }
            }
            Way::Pooled(pair) => loop {
                while let Some(done) = pair.poll() {
                    if done.status != Status::Ok {
                        return Err(Error::device(done.status, "operation of a group").into());
                    }
                    groups += 1;
                }
                if groups != 0 {
                    break;
                }
                pair.wait(Deadline::after(PATIENCE))?;
            },
        }
        Ok(groups)
    }

    /// Posts a group and rings.
    fn post(&mut self, number: u64) -> std::result::Result<(), RdmaError> {
        let place = number % u64::from(self.under_way) * u64::from(self.group);
        let (queue, key, memory, kind) = match &mut self.way {
            Way::Posted { queue, key, memory, kind } => (queue, *key, *memory, *kind),
            Way::Pooled(pair) => {
                for _ in 0..self.group {
                    pair.stage();
                }
                pair.submit();
                return Ok(());
            }
        };
        for index in 0..self.group {
            let offset = (place + u64::from(index)) * u64::from(self.bytes);
            let local = Local { memory, offset, length: self.bytes };
            let signaled = index + 1 == self.group;
            queue.post(WorkRequest {
                local: [local].into(),
                key,
                address: if kind == WorkKind::Send { 0 } else { offset },
                flags: WorkFlags { signaled, ..WorkFlags::default() },
                ..WorkRequest::new(number, kind)
            })?;
        }
        queue.ring()
    }
}
