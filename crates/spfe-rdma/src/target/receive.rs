//! Receive queues of a full endpoint.

use super::RdmaTarget;
use crate::direct::{Payload, PayloadFault};
use crate::local::{Local, LocalMemory};
use spfe_proto::sfrp::{Opcode, SfrpHeader, SfrpStatus};
use std::collections::VecDeque;

/// A buffer that a message or immediate data has filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// Identifier given when the buffer was posted.
    pub id: u64,
    /// The buffer, empty if it is memory of the program. Its first bytes are the message.
    pub buffer: Vec<u8>,
    /// The memory of the program could not be written.
    pub fault: bool,
    /// Bytes of the message, or of the WRITE that carried immediate data.
    pub bytes: u32,
    /// SEND; WRITE or an atomic operation if it left the buffer as it was.
    pub opcode: Opcode,
    /// The key of a WRITE or an atomic operation.
    pub key: u32,
    /// Immediate data.
    pub immediate: Option<u32>,
    /// The sender asks to wake the receiver.
    pub solicited: bool,
    /// OK, or MESSAGE_TOO_LONG.
    pub status: SfrpStatus,
}

/// Why a receive queue does not take a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveQueueError {
    /// There is no queue pair with this number.
    #[error("queue pair {queue}: not open")]
    NoQueue {
        /// Its number.
        queue: u16,
    },
    /// Queue pair 0 belongs to the target itself, and a number can be used once.
    #[error("queue pair {queue}: 0 is reserved, and this number may be open already")]
    NotFree {
        /// Its number.
        queue: u16,
    },
}

/// A buffer that was posted.
struct PostedBuffer {
    id: u64,
    /// Longest message that fits.
    room: usize,
    place: Place,
}

/// Where a message goes.
enum Place {
    /// A buffer of the target.
    Own(Vec<u8>),
    /// Memory of the program. True if it could not be written.
    Program(Local, bool),
}

/// Buffers for messages to a queue pair.
#[derive(Default)]
pub struct ReceiveQueue {
    posted: VecDeque<PostedBuffer>,
    done: VecDeque<ReceivedMessage>,
    /// Buffers posted since the start, without those that notifications took; the credit of the sender.
    pub total: u32,
}

impl ReceiveQueue {
    /// Size of the next buffer.
    pub fn front(&self) -> Option<usize> {
        self.posted.front().map(|buffer| buffer.room)
    }

    /// Copies a part of a message into the next buffer. Memory of the program that is gone is no matter
    /// of the sender.
    pub fn fill(
        &mut self,
        offset: usize,
        length: usize,
        data: Payload<'_>,
        program: &mut dyn LocalMemory,
    ) -> bool {
        let Some(buffer) = self.posted.front_mut() else { return false };
        let end = offset.checked_add(length).filter(|end| *end <= buffer.room);
        let Some(end) = end else { return false };
        match &mut buffer.place {
            Place::Own(bytes) => data.copy_to(&mut bytes[offset..end]).is_ok(),
            Place::Program(place, fault) => {
                let (offset, length) = (offset as u64, length as u32);
                let piece = Local { offset: place.offset + offset, length, ..*place };
                // A message that is repeated starts at the front again.
                *fault = (*fault && offset != 0)
                    || length != 0 && receive(data, program, piece).is_err();
                true
            }
        }
    }

    /// Tells of an operation with the next buffer. False if there is none.
    pub fn note(&mut self, header: &SfrpHeader, bytes: u32) -> bool {
        let taken = !self.posted.is_empty();
        if taken {
            self.total = self.total.wrapping_sub(1);
            self.complete(header, bytes, SfrpStatus::OK);
        }
        taken
    }

    /// Completes the next buffer.
    pub fn complete(&mut self, header: &SfrpHeader, bytes: u32, status: SfrpStatus) {
        use spfe_proto::sfrp::Flags;
        let Some(PostedBuffer { id, place, .. }) = self.posted.pop_front() else { return };
        let (buffer, fault) = match place {
            Place::Own(bytes) => (bytes, false),
            Place::Program(_, fault) => (Vec::new(), fault),
        };
        let immediate = header.has(Flags::IMMEDIATE).then_some(header.immediate);
        let solicited = header.has(Flags::SOLICITED);
        let opcode = header.opcode().unwrap_or(Opcode::Send);
        self.done.push_back(ReceivedMessage {
            id,
            buffer,
            fault,
            bytes,
            opcode,
            key: header.key,
            immediate,
            solicited,
            status,
        });
    }
}

/// Copies a part of a message into a receive buffer.
fn receive(
    data: Payload<'_>,
    program: &mut dyn LocalMemory,
    piece: Local,
) -> Result<(), PayloadFault> {
    match program.buffers() {
        Some(buffers) => data.copy_into(0, buffers, piece),
        None => data.copy_into(0, program, piece),
    }
}

impl RdmaTarget {
    /// Opens a queue pair that takes messages.
    ///
    /// # Errors
    /// The number is 0 or in use.
    pub fn open_queue(&mut self, queue: u16) -> Result<(), ReceiveQueueError> {
        if self.has_queue(queue) {
            return Err(ReceiveQueueError::NotFree { queue });
        }
        self.queues.insert(queue, ReceiveQueue::default());
        Ok(())
    }

    /// Closes a queue pair: its buffers and its partner are forgotten.
    pub fn close_queue(&mut self, queue: u16) {
        if self.queues.remove(&queue).is_some() {
            for peer in self.peers.remove_queue(queue) {
                self.responses.release(&mut self.regions, &peer);
            }
        }
    }

    /// Posts a buffer for a message, and tells the partner of the queue pair.
    ///
    /// # Errors
    /// The queue pair is not open.
    pub fn post_receive(
        &mut self,
        queue: u16,
        id: u64,
        buffer: Vec<u8>,
    ) -> Result<(), ReceiveQueueError> {
        self.post_buffer(queue, PostedBuffer { id, room: buffer.len(), place: Place::Own(buffer) })
    }

    /// Posts memory of the program. A message is copied into it as its packets arrive.
    ///
    /// # Errors
    /// The queue pair is not open.
    pub fn post_place(
        &mut self,
        queue: u16,
        id: u64,
        place: Local,
    ) -> Result<(), ReceiveQueueError> {
        let room = place.length as usize;
        self.post_buffer(queue, PostedBuffer { id, room, place: Place::Program(place, false) })
    }

    fn post_buffer(&mut self, queue: u16, buffer: PostedBuffer) -> Result<(), ReceiveQueueError> {
        let to = self.queues.get_mut(&queue).ok_or(ReceiveQueueError::NoQueue { queue })?;
        to.posted.push_back(buffer);
        to.total = to.total.wrapping_add(1);
        let total = to.total;
        if let Some(peer) = self.peers.of_queue(queue) {
            let credit = SfrpHeader {
                receiver: peer.sender,
                sender: self.options.logical_address,
                protocol: self.options.protocol,
                sender_queue: queue,
                receiver_queue: peer.sender_queue,
                immediate: total,
                ..SfrpHeader::request(Opcode::Credit)
            };
            self.responses.announce(credit, peer.reply_path, peer.vc);
        }
        Ok(())
    }

    /// The next buffer that was filled.
    ///
    /// # Errors
    /// The queue pair is not open.
    pub fn received(&mut self, queue: u16) -> Result<Option<ReceivedMessage>, ReceiveQueueError> {
        let from = self.queues.get_mut(&queue).ok_or(ReceiveQueueError::NoQueue { queue })?;
        Ok(from.done.pop_front())
    }

    /// Number of messages that the sender of this header may have sent in all.
    pub(super) fn credit_of(&mut self, header: &SfrpHeader) -> u32 {
        let sends = self.peers.find(header).map_or(0, |peer| peer.sends);
        self.credit(header.receiver_queue, sends)
    }

    /// The same for a sender that has sent `sends` messages to a target without receive queues.
    pub(super) fn credit(&self, queue: u16, sends: u32) -> u32 {
        /// Messages that a target without receive queues takes at any time.
        const ALWAYS: u32 = 1 << 16;
        match self.queues.get(&queue) {
            Some(queue) => queue.total,
            None => sends.wrapping_add(ALWAYS),
        }
    }
}
