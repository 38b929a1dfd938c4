//! Options and counters of an initiator.

use spfe_proto::DEFAULT_LOGICAL_ADDRESS;
use spfe_proto::rmap::ReplyAddress;
use spfe_proto::rmap::initiator::TransactionCounters;

const MAX_DATA: u32 = 64 << 10;

/// Addresses of a target, and of the route back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Path address in front of commands, at most 32 bytes.
    pub path: Vec<u8>,
    /// Logical address of the target.
    pub target: u8,
    /// Key that the target expects.
    pub key: u8,
    /// Path address of replies.
    pub reply_address: ReplyAddress,
    /// Logical address of this initiator.
    pub initiator: u8,
}

impl Default for Remote {
    fn default() -> Self {
        Self {
            path: Vec::new(),
            target: DEFAULT_LOGICAL_ADDRESS,
            key: 0,
            reply_address: ReplyAddress::NONE,
            initiator: DEFAULT_LOGICAL_ADDRESS,
        }
    }
}

/// Options of an initiator.
#[derive(Clone, Debug)]
pub struct InitiatorOptions {
    /// The target; [`Initiator::set_remote`](super::Initiator::set_remote) changes it.
    pub remote: Remote,
    /// Maximum number of data bytes in a command, 1 to 16777215. Longer accesses take several
    /// commands. The slots of the queues may allow less.
    pub max_data: u32,
    /// Maximum number of outstanding transactions, 1 to 64.
    pub outstanding: usize,
    /// First transaction identifier. Change it after a restart, so that late replies are not mistaken
    /// for new ones.
    pub first_transaction: u16,
}

impl InitiatorOptions {
    /// Options for commands of up to 64 KiB and 16 outstanding transactions.
    pub fn new(remote: Remote) -> Self {
        Self { remote, max_data: MAX_DATA, outstanding: 16, first_transaction: 0 }
    }
}

/// Kind of a write command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The target checks all data of a command before it writes.
    pub verify: bool,
    /// The target replies to the command.
    pub reply: bool,
    /// Data goes to consecutive addresses; otherwise all data goes to one address.
    pub increment: bool,
}

impl Default for Write {
    /// Verified, with a reply, to consecutive addresses.
    fn default() -> Self {
        Self { verify: true, reply: true, increment: true }
    }
}

/// Counters of an initiator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitiatorCounters {
    /// Commands and replies. Late replies count as `unknown`.
    pub packets: TransactionCounters,
    /// Number of packets discarded because they were longer than a slot of the receive queue.
    pub too_long: u64,
}
