//! Operations on the memory of a target-only endpoint.

use super::args::RdmaOperation;
use super::case::Case;
use super::meter::{Count, Meter, Tally};
use spfe::{Endpoint, Error, QueueOptions, Result, Status};
use spfe_remote::engine::{Local, WorkFlags, WorkKind, WorkRequest};
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
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
/// completion, that of its last operation.
pub fn measure(
    near: &Endpoint,
    case: &Case,
    operation: RdmaOperation,
    meter: Meter,
) -> Result<Tally> {
    Run::open(near, case, operation).and_then(|run| run.run(meter)).map_err(|error| match error {
        RdmaError::Device(error) => error,
        error => Error::device(Status::PeerGone, error.to_string()),
    })
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
        let under_way = case.most_under_way();
        options.initiator.depth = (case.group * under_way) as usize;
        options.initiator.window = options.initiator.depth;
        let mut queue = RdmaQueue::open(&case.channel(near)?, options)?;
        let region = queue.regions(PATIENCE)?;
        let key = region.first().map_or(0, |region| region.key);
        queue.connect(PATIENCE)?;
        let kind = match operation {
            RdmaOperation::Write => WorkKind::Write,
            RdmaOperation::Read => WorkKind::Read,
            RdmaOperation::Atomic => WorkKind::FetchAdd { add: 1 },
        };
        // As in the publication, each operation has a buffer of its own.
        let bytes = case.sizes.max;
        let total = bytes as usize * (case.group * under_way) as usize;
        let memory = queue.register(vec![0x5a; total])?;
        Ok(Self { queue, key, memory, kind, bytes, group: case.group, under_way })
    }

    fn run(mut self, mut meter: Meter) -> std::result::Result<Tally, RdmaError> {
        let mut count = Count::default();
        let (mut begun, mut done) = (0u64, 0u64);
        meter.start(&count);
        loop {
            for _ in 0..meter.turns() {
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
            }
            (count.sleeps, count.engine_ns) = (self.queue.sleeps(), self.queue.engine_ns());
            if !meter.look(&count) {
                break;
            }
        }
        Ok(meter.tally(&count))
    }

    /// Posts a group and rings.
    fn post(&mut self, number: u64) -> std::result::Result<(), RdmaError> {
        let place = number % u64::from(self.under_way) * u64::from(self.group);
        for index in 0..self.group {
            let offset = (place + u64::from(index)) * u64::from(self.bytes);
            let local = Local { memory: self.memory, offset, length: self.bytes };
            let signaled = index + 1 == self.group;
            self.queue.post(WorkRequest {
                local: vec![local],
                key: self.key,
                address: offset,
                flags: WorkFlags { signaled, ..WorkFlags::default() },
                ..WorkRequest::new(number, self.kind)
            })?;
        }
        self.queue.ring()
    }
}
