//! Names of the scenarios of `spfe perf`. Other names are valid too and are rendered the same way.

/// Single packets: each is submitted after the one before has completed.
pub const SEND_SINGLE: &str = "send-single";
/// Groups of packets, one operation per group.
pub const SEND_GROUP: &str = "send-group";
/// Each received packet is handled by itself.
pub const RECEIVE_SINGLE: &str = "receive-single";
/// Received packets are handled at a fill threshold or after a timeout.
pub const RECEIVE_THRESHOLD: &str = "receive-threshold";
/// As [`SEND_GROUP`], but the next group is submitted before the one before has completed.
pub const SEND_GROUP_AHEAD: &str = "send-group-ahead";
/// As [`SEND_GROUP_AHEAD`], with one entry for each group instead of one for each packet.
pub const SEND_BURST_AHEAD: &str = "send-burst-ahead";
/// As [`RECEIVE_THRESHOLD`], into one area where packets lie back to back.
pub const RECEIVE_PACKED: &str = "receive-packed";
/// RDMA writes, each submitted after the one before has completed.
pub const RDMA_WRITE_SINGLE: &str = "rdma-write-single";
/// RDMA reads, each submitted after the one before has completed.
pub const RDMA_READ_SINGLE: &str = "rdma-read-single";
/// Groups of RDMA writes, one group at a time.
pub const RDMA_WRITE_GROUP: &str = "rdma-write-group";
/// Groups of RDMA reads, one group at a time.
pub const RDMA_READ_GROUP: &str = "rdma-read-group";
/// As [`RDMA_WRITE_GROUP`], but the next group is submitted before the one before has completed.
pub const RDMA_WRITE_AHEAD: &str = "rdma-write-ahead";
/// As [`RDMA_READ_GROUP`], but the next group is submitted before the one before has completed.
pub const RDMA_READ_AHEAD: &str = "rdma-read-ahead";
/// RDMA writes with a chosen group and number of groups under way.
pub const RDMA_WRITE: &str = "rdma-write";
/// RDMA reads with a chosen group and number of groups under way.
pub const RDMA_READ: &str = "rdma-read";
/// Atomic operations on 8 bytes of remote memory.
pub const RDMA_ATOMIC: &str = "rdma-atomic";
/// Messages to the queue pair of another endpoint.
pub const RDMA_SEND: &str = "rdma-send";
/// Half of a round trip of writes: each end polls its own memory.
pub const RDMA_LATENCY: &str = "rdma-latency";
/// Highest rate, transmitting.
pub const RATE_TX: &str = "rate-tx";
/// Highest rate, receiving.
pub const RATE_RX: &str = "rate-rx";
/// Highest rate in both directions at once. The rate is that of one direction.
pub const RATE_BOTH: &str = "rate-both";
/// Packets of random size and content, transmitting.
pub const RANDOM_TX: &str = "random-tx";
/// Packets of random size and content, receiving.
pub const RANDOM_RX: &str = "random-rx";
/// Packets of random size and content in both directions at once.
pub const RANDOM_BOTH: &str = "random-both";
/// Half of a round trip: of a packet and of the answer to it.
pub const LATENCY: &str = "latency";
/// Time from submission at one end of a cable to reception at the other end, in one thread.
pub const LATENCY_LOOP: &str = "latency-loop";
/// Latency of broadcast messages on an idle link.
pub const BROADCAST_IDLE: &str = "broadcast-idle";
/// Latency of broadcast messages on a link that is busy with data.
pub const BROADCAST_DATA: &str = "broadcast-data";
/// Latency of time-codes on an idle link.
pub const TIME_CODE_IDLE: &str = "timecode-idle";
/// Latency of time-codes on a link that is busy with data.
pub const TIME_CODE_DATA: &str = "timecode-data";

/// Prefix of the names of all random scenarios.
pub const RANDOM_PREFIX: &str = "random-";
