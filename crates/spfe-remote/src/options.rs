//! Options of a queue of work requests.

use spfe::QueueOptions;
use spfe_rdma::RdmaInitiatorOptions;

/// Options of an [`crate::RdmaQueue`].
#[derive(Clone, Debug)]
pub struct RdmaQueueOptions {
    /// Partner, limits and timers.
    pub initiator: RdmaInitiatorOptions,
    /// Packets in each of the two queues.
    pub slots: u32,
    /// How the queues wait, among others.
    pub queue: QueueOptions,
    /// Execute requests in the program, also on a device that has queue pairs.
    pub in_program: bool,
}

impl Default for RdmaQueueOptions {
    fn default() -> Self {
        // A queue pair of our own number, so that several programs on a node do not meet.
        let queue = (std::process::id() as u16).max(1);
        let initiator = RdmaInitiatorOptions {
            queue,
            timeout_ns: 200_000_000,
            retries: 5,
            ..RdmaInitiatorOptions::default()
        };
        Self { initiator, slots: 64, queue: QueueOptions::default(), in_program: false }
    }
}
