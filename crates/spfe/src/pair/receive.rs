//! The receive queue of a queue pair: buffers for messages.

use super::PairQueue;
use crate::queue::{Place, Queue, QueueOptions, status_of};
use crate::wait::{Deadline, Ready, Threshold};
use crate::{Error, Result};
use spfe_contract::{Completion, EntryType, QueueKind, Status, Submission, completion_flags as cf};
use spfe_rdma::Local;
use std::collections::VecDeque;

/// A buffer that the device has filled, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairMessage {
    /// Identifier that the buffer was posted with.
    pub id: u64,
    /// The buffer. Without immediate data of a WRITE, its first bytes are the message.
    pub buffer: Local,
    /// Bytes of the message, or of the WRITE that carried immediate data.
    pub bytes: u32,
    /// Immediate data.
    pub immediate: Option<u32>,
    /// A WRITE with immediate data, or an operation on shared memory with `notify`, used the buffer and
    /// left it as it was.
    pub is_write: bool,
    /// The remote key of that operation; 0 for a message.
    pub key: u32,
    /// OK; TOO_LONG for a message that is longer than the buffer; or why the buffer was refused.
    pub status: Status,
}

/// The RDMA_RX queue, and the buffers that the device has.
pub(super) struct Buffers {
    queue: Queue,
    posted: VecDeque<(u32, u64, Local)>,
}

impl PairQueue {
    /// Opens the receive queue of the queue pair, for this many buffers.
    ///
    /// # Errors
    /// Those of a queue of this depth.
    pub fn open_buffers(&mut self, options: &QueueOptions) -> Result<()> {
        let Place { port, vc, .. } = self.send.place;
        let place = Place { port, vc, kind: QueueKind::RdmaRx };
        let (pair, limits) = (self.send.setup().pair, self.send.setup().limits);
        let queue = Queue::open(self.device.clone(), place, options, |request| {
            (request.pair, request.limits) = (pair, limits);
        })?;
        let posted = VecDeque::with_capacity(queue.sq.ring.size() as usize);
        self.buffers = Some(Buffers { queue, posted });
        Ok(())
    }

    /// Posts a buffer for a message, and gives the partner credit for it.
    ///
    /// # Errors
    /// BUSY while all entries are in use, OUT_OF_BOUNDS if the memory does not have these bytes, EMPTY
    /// for none, NOT_FOUND without a receive queue.
    pub fn post_buffer(&mut self, id: u64, buffer: Local) -> Result<()> {
        let address = self.address(buffer);
        let Some(buffers) = &mut self.buffers else { return Err(closed()) };
        let refuse = |status, what: &str| {
            let Local { memory, offset, length } = buffer;
            let what =
                format!("buffer of {length} bytes at {offset:#x} of memory {memory}: {what}");
            Err(Error::device(status, what))
        };
        if buffer.length == 0 {
            return refuse(Status::Empty, "a buffer has at least one byte");
        }
        let Some(address) = address else {
            return refuse(Status::OutOfBounds, "the memory does not have them");
        };
        if buffers.queue.free() == 0 {
            return refuse(Status::Busy, "the receive queue is full: take messages first");
        }
        let flags = u16::from(EntryType::Buffer.raw());
        let entry = Submission { length: buffer.length, flags, ..Submission::default() };
        let position = buffers.queue.sq.position;
        buffers.queue.sq.push([address, entry.to_words()[1]]);
        buffers.posted.push_back((position, id, buffer));
        self.memory[buffer.memory as usize].busy += 1;
        match &mut self.send.runner {
            Some(runner) => runner.run_posted(),
            None => buffers.queue.start_posted(),
        }
        Ok(())
    }

    /// Takes the next message, if there is one.
    pub fn poll_message(&mut self) -> Option<PairMessage> {
        if let Some(message) = self.take_message() {
            return Some(message);
        }
        self.send.progress();
        self.take_message()
    }

    fn take_message(&mut self) -> Option<PairMessage> {
        let buffers = self.buffers.as_mut()?;
        let words = buffers.queue.peek()?;
        let position = buffers.queue.cq.position;
        let done = Completion::from_words(words);
        let word = buffers.queue.second_stamp(position);
        buffers.queue.take(&done)?;
        let (_, id, buffer) = buffers.posted.pop_front()?;
        self.memory[buffer.memory as usize].busy -= 1;
        Some(PairMessage {
            id,
            buffer,
            bytes: done.bytes,
            immediate: (done.flags & cf::IMMEDIATE != 0).then_some(word as u32),
            is_write: done.flags & cf::WRITE != 0,
            key: if done.flags & cf::WRITE != 0 { (word >> 32) as u32 } else { 0 },
            status: status_of(&done),
        })
    }

    /// Waits until a message can be taken.
    ///
    /// # Errors
    /// The deadline has passed, the queue was stopped, or NOT_FOUND without a receive queue.
    pub fn wait_message(&mut self, deadline: Deadline) -> Result<()> {
        self.wait_messages(&Threshold::ONE, deadline).map(drop)
    }

    /// Waits until the messages that can be taken meet a threshold.
    ///
    /// # Errors
    /// Those of [`PairQueue::wait_message`].
    pub fn wait_messages(&mut self, goal: &Threshold, deadline: Deadline) -> Result<Ready> {
        let Some(buffers) = &mut self.buffers else { return Err(closed()) };
        self.send.lend(&mut buffers.queue);
        let waited = buffers.queue.wait(goal, deadline);
        buffers.queue.lend(&mut self.send);
        waited
    }

    /// The threshold at which `percent` of the buffers posted now are taken, at least one.
    pub fn fill_threshold(&self, percent: u32) -> Threshold {
        let posted = self.buffers.as_ref().map_or(0, |buffers| buffers.posted.len() as u64);
        Threshold::count((posted * u64::from(percent)).div_ceil(100).max(1) as u32)
    }
}

impl Buffers {
    /// Stops the queue. False if the device may still use the buffers.
    pub fn stop(&mut self) -> bool {
        self.queue.stop()
    }
}

fn closed() -> Error {
    Error::device(Status::NotFound, "the queue pair has no receive queue: open_buffers first")
}
