//! Operations on the memory of a target-only endpoint, and messages to another endpoint.

use super::args::RdmaOperation;
use super::case::Case;
use super::latency::Ticks;
use super::meter::{Count, Meter, Tally};
use super::rdma_receiver::{FAR, NEAR, Receiver};
use spfe::{Endpoint, Error, QueueOptions, Result, Status};
use spfe_remote::engine::{Local, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
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

/// Runs groups of operations until the meter ends the measurement. A group has one doorbell and one
/// completion, that of its last operation. With one group at a time, the times from post to completion
/// are the latency. Messages go to a queue pair of `far`, whose thread posts their buffers again.
pub fn measure(
    near: &Endpoint,
    far: Option<&Endpoint>,
    case: &Case,
    operation: RdmaOperation,
    meter: Meter,
) -> Result<(Tally, Option<LatencyNs>)> {
    let plain = |error| match error {
        RdmaError::Device(error) => error,
        error => Error::device(Status::PeerGone, error.to_string()),
    };
    let receiver = match (operation, far) {
        (RdmaOperation::Send, Some(far)) => Some(Receiver::start(far, case).map_err(plain)?),
        _ => None,
    };
    let run = Run::open(near, case, operation).and_then(|run| run.run(meter));
    let received = receiver.map_or(Ok(()), |receiver| receiver.end().map_err(plain));
    let measured = run.map_err(plain)?;
    received.map(|()| measured)
}

struct Run {
    queue: RdmaQueue,
    key: u32,
    memory: u32,
    kind: WorkKind,
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
        let wait = QueueOptions::default().strategy(case.wait.strategy());
        let mut options = RdmaQueueOptions { slots: SLOTS, queue: wait, ..Default::default() };
        let sends = operation == RdmaOperation::Send;
        if sends {
            (options.initiator.queue, options.initiator.target_queue) = (NEAR, FAR);
        }
        let under_way = case.most_under_way();
        options.initiator.depth = (case.group * under_way) as usize;
        options.initiator.window = options.initiator.depth;
        let mut queue = RdmaQueue::open(&case.channel(near)?, options)?;
        let region = if sends { Vec::new() } else { queue.regions(PATIENCE)? };
        let key = region.first().map_or(0, |region| region.key);
        queue.connect(PATIENCE)?;
        let kind = match operation {
            RdmaOperation::Write => WorkKind::Write,
            RdmaOperation::Read => WorkKind::Read,
            RdmaOperation::Atomic => WorkKind::FetchAdd { add: 1 },
            RdmaOperation::Send => WorkKind::Send,
        };
        // As in the publication, each operation has a buffer of its own.
        let bytes = case.sizes.max;
        let total = bytes as usize * (case.group * under_way) as usize;
        let memory = queue.register(vec![0x5a; total])?;
        Ok(Self { queue, key, memory, kind, bytes, group: case.group, under_way })
    }

    fn run(
        mut self,
        mut meter: Meter,
    ) -> std::result::Result<(Tally, Option<LatencyNs>), RdmaError> {
        let mut count = Count::default();
        let (mut begun, mut done) = (0u64, 0u64);
        meter.start(&count);
        let mut times = Ticks::start(&meter)?;
        loop {
            for _ in 0..meter.turns() {
                let start = Ticks::now();
                while begun - done < u64::from(self.under_way) {
                    self.post(begun)?;
                    begun += 1;
                }
                self.queue.wait(1, PATIENCE)?;
                while let Some(completion) = self.queue.poll()? {
                    let what = "operation of a group".to_owned();
                    completion.result.map_err(|error| RdmaError::Work { what, error })?;
                    done += 1;
                    count.packets += u64::from(self.group);
                    count.bytes += u64::from(self.group) * u64::from(self.bytes);
                }
                if self.under_way == 1 {
                    times.record(Ticks::now() - start);
                }
            }
            let warming_up = !meter.is_measuring();
            (count.sleeps, count.engine_ns) = (self.queue.sleeps(), self.queue.engine_ns());
            if !meter.look(&count) {
                break;
            }
            if warming_up && meter.is_measuring() {
                times.clear();
            }
        }
        let latency = times.distribution(&meter, 1.0);
        Ok((meter.tally(&count), latency))
    }

    /// Posts a group and rings.
    fn post(&mut self, number: u64) -> std::result::Result<(), RdmaError> {
        let place = number % u64::from(self.under_way) * u64::from(self.group);
        for index in 0..self.group {
            let offset = (place + u64::from(index)) * u64::from(self.bytes);
            let local = Local { memory: self.memory, offset, length: self.bytes };
            let signaled = index + 1 == self.group;
            self.queue.post(WorkRequest {
                local: [local].into(),
                key: self.key,
                address: if self.kind == WorkKind::Send { 0 } else { offset },
                flags: WorkFlags { signaled, ..WorkFlags::default() },
                ..WorkRequest::new(number, self.kind)
            })?;
        }
        self.queue.ring()
    }
}
