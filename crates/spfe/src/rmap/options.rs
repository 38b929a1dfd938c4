//! How an initiator works, and what it counted.

use spfe_proto::DEFAULT_LOGICAL_ADDRESS;
use spfe_proto::rmap::ReplyAddress;
use spfe_proto::rmap::initiator::TransactionCounters;

const MAX_DATA: u32 = 64 << 10;

/// A target as it is reached from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Path bytes in front of commands, at most 32.
    pub path: Vec<u8>,
    /// Target logical address.
    pub target: u8,
    /// The key the target wants.
    pub key: u8,
    /// The path back.
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

/// How an initiator works.
#[derive(Clone, Debug)]
pub struct InitiatorOptions {
    /// The target, until another one is set.
    pub remote: Remote,
    /// The most data of one command, in bytes, 1 to 16777215: longer accesses are cut. The slots of
    /// the queues may allow less.
    pub max_data: u32,
    /// The most transactions outstanding, 1 to 64.
    pub outstanding: usize,
    /// The first transaction identifier: another one after a restart, so that old replies are not
    /// taken for new ones.
    pub first_transaction: u16,
}

impl InitiatorOptions {
    /// 64 KiB of data in a command, 16 transactions outstanding.
    pub fn new(remote: Remote) -> Self {
        Self { remote, max_data: MAX_DATA, outstanding: 16, first_transaction: 0 }
    }
}

/// How data is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The target checks all data of a command before it writes any.
    pub verify: bool,
    /// The target acknowledges.
    pub reply: bool,
    /// To consecutive addresses; otherwise all data to one address.
    pub increment: bool,
}

impl Default for Write {
    /// Verified, acknowledged, to consecutive addresses.
    fn default() -> Self {
        Self { verify: true, reply: true, increment: true }
    }
}

/// What an initiator counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitiatorCounters {
    /// Commands and replies; late replies are `unknown`.
    pub packets: TransactionCounters,
    /// Packets discarded because they were longer than a slot of the receive queue.
    pub too_long: u64,
}
