//! Notifications of operations, for optional software at a target.

use super::NOTE_BYTES;
use spfe_proto::sfrp::Opcode;
use std::collections::VecDeque;

/// An operation that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The target's time, ns.
    pub time_ns: u64,
    /// Logical address of the initiator.
    pub initiator: u8,
    /// Queue pair of the initiator.
    pub queue: u16,
    /// The operation.
    pub opcode: Opcode,
    /// Index of the region; `None` for SEND.
    pub region: Option<u16>,
    /// Number of the message.
    pub sequence: u16,
    /// Address of the last packet of the operation.
    pub address: u64,
    /// Bytes of the operation.
    pub length: u32,
    /// Immediate data.
    pub immediate: Option<u32>,
    /// Content of a message.
    pub data: [u8; NOTE_BYTES],
}

/// The notifications that nobody has read yet. A full queue drops and counts; it never stalls.
pub struct Notifications {
    queue: VecDeque<Notification>,
    capacity: usize,
    /// Notifications kept so far.
    pub kept: u64,
}

impl Notifications {
    pub fn new(capacity: usize) -> Self {
        Self { queue: VecDeque::new(), capacity, kept: 0 }
    }

    /// Whether there is a queue at all.
    pub fn exist(&self) -> bool {
        self.capacity > 0
    }

    /// Keeps a notification. False if there is a queue and it is full.
    pub fn put(&mut self, notification: Notification) -> bool {
        let room = self.queue.len() < self.capacity;
        if room {
            self.queue.push_back(notification);
            self.kept += 1;
        }
        room || !self.exist()
    }

    /// The oldest one, and how many there are.
    pub fn first(&self) -> (Option<&Notification>, usize) {
        (self.queue.front(), self.queue.len())
    }

    pub fn take(&mut self) -> Option<Notification> {
        self.queue.pop_front()
    }
}
