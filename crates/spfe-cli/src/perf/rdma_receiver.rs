//! The far end of messages: a queue pair whose thread posts buffers again.

use super::case::Case;
use super::rdma_thread::{FAR, NEAR, Thread};
use spfe::{Endpoint, QueueOptions, Status};
use spfe_remote::engine::Local;
use spfe_remote::{RdmaError, RdmaQueue, RdmaQueueOptions};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Most buffers posted.
const BUFFERS_MAX: u64 = 1024;
/// Bytes of all buffers.
const BYTES_MAX: u64 = 64 << 20;
/// Interval between checks whether the measurement has ended.
const CHECK: Duration = Duration::from_millis(20);

type Result<T> = std::result::Result<T, RdmaError>;

/// Opens the queue pair, posts buffers, and takes messages in a thread on this processor.
pub fn start(far: &Endpoint, cpu: Option<usize>, case: &Case) -> Result<Thread> {
    let bytes = case.sizes.max;
    let wanted = 2 * u64::from(case.group) * u64::from(case.most_under_way());
    let most = (BYTES_MAX / u64::from(bytes.max(1))).clamp(4, BUFFERS_MAX);
    let count = wanted.clamp(4, most).next_power_of_two().min(most) as u32;
    let wait = QueueOptions::default().strategy(case.wait.strategy());
    let mut options = RdmaQueueOptions { queue: wait, ..RdmaQueueOptions::default() };
    (options.initiator.queue, options.initiator.target_queue) = (FAR, NEAR);
    let mut queue = RdmaQueue::open(&case.seen_from_far().channel(far)?, options)?;
    queue.open_buffers(&wait.depth(count))?;
    let memory = queue.register(vec![0; count as usize * bytes as usize])?;
    for index in 0..u64::from(count) {
        let offset = index * u64::from(bytes);
        queue.post_buffer(index, Local { memory, offset, length: bytes })?;
    }
    Thread::start(cpu, move |stop| {
        while !stop.load(Ordering::Relaxed) {
            take(&mut queue)?;
        }
        Ok(())
    })
}

/// Takes what has come, or waits for it.
fn take(queue: &mut RdmaQueue) -> Result<()> {
    match queue.wait_message(CHECK) {
        Err(RdmaError::TimedOut { .. }) => return Ok(()),
        waited => waited?,
    }
    while let Some(message) = queue.poll_message() {
        if message.status != Status::Ok {
            let what = format!("message of {} bytes", message.bytes);
            return Err(spfe::Error::device(message.status, what).into());
        }
        queue.post_buffer(message.id, message.buffer)?;
    }
    Ok(())
}
