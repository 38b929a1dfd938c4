//! The registers of a queue pair, and statuses.

use spfe_contract::{QueueKind, QueueSetup, Status, pair_limits, queue_pair};
use spfe_proto::sfrp::{PID, ReplyPath};
use spfe_rdma::{Execution, RdmaInitiatorOptions, RdmaTargetOptions, WorkError};

/// Bytes of a path in the registers.
const PATH_MAX: u64 = 8;
/// Most repetitions of a message.
const RETRIES_MAX: u64 = 16;
/// Time-out that 0 stands for, us.
const TIMEOUT_US: u64 = 200_000;

fn field(value: u64, mask: u64, shift: u32) -> u64 {
    (value & mask) >> shift
}

/// Options of an initiator from the registers.
///
/// # Errors
/// BAD_FIELD for a value out of its range.
pub fn options(setup: &QueueSetup) -> Result<RdmaInitiatorOptions, Status> {
    use pair_limits as limits;
    let pair = |mask, shift| field(setup.pair, mask, shift);
    let limit = |mask, shift| field(setup.limits, mask, shift);
    let queue = pair(queue_pair::OWN_MASK, queue_pair::OWN_SHIFT) as u16;
    let protocol = match pair(queue_pair::PROTOCOL_MASK, queue_pair::PROTOCOL_SHIFT) as u8 {
        0 => PID,
        protocol => protocol,
    };
    let segment_log2 = match pair(queue_pair::SEGMENT_LOG2_MASK, queue_pair::SEGMENT_LOG2_SHIFT) {
        0 => 12,
        log2 => log2,
    };
    let retries = limit(limits::RETRIES_MASK, limits::RETRIES_SHIFT);
    let path = limit(limits::PATH_MASK, limits::PATH_SHIFT);
    let reply = limit(limits::REPLY_MASK, limits::REPLY_SHIFT);
    let good = queue != 0
        && (0xf0..=0xfe).contains(&protocol)
        && (8..=16).contains(&segment_log2)
        && retries <= RETRIES_MAX
        && path <= PATH_MAX
        && reply <= PATH_MAX;
    if !good {
        return Err(Status::BadField);
    }
    let timeout_us = match limit(limits::TIMEOUT_US_MASK, limits::TIMEOUT_US_SHIFT) {
        0 => TIMEOUT_US,
        timeout => timeout,
    };
    let reply = &setup.reply.to_le_bytes()[..reply as usize];
    Ok(RdmaInitiatorOptions {
        path: setup.path.to_le_bytes()[..path as usize].to_vec(),
        target: pair(queue_pair::TARGET_MASK, queue_pair::TARGET_SHIFT) as u8,
        target_queue: pair(queue_pair::PARTNER_MASK, queue_pair::PARTNER_SHIFT) as u16,
        reply_path: ReplyPath::new(reply).map_err(|_| Status::BadField)?,
        address: pair(queue_pair::ADDRESS_MASK, queue_pair::ADDRESS_SHIFT) as u8,
        queue,
        protocol,
        segment_bytes: 1 << segment_log2,
        depth: 1 << setup.sq_log2.min(14),
        window: 1024,
        timeout_ns: timeout_us * 1000,
        retries: retries as u32,
        not_ready_retries: limit(limits::NOT_READY_MASK, limits::NOT_READY_SHIFT) as u32,
        ..RdmaInitiatorOptions::default()
    })
}

/// Options of the target beside an initiator.
pub fn target(options: &RdmaInitiatorOptions) -> RdmaTargetOptions {
    RdmaTargetOptions {
        logical_address: options.address,
        protocol: options.protocol,
        segment_bytes: options.segment_bytes,
        ..RdmaTargetOptions::default()
    }
}

/// Whether a kind is one of the two of a queue pair.
pub fn is_rdma(kind: u32) -> bool {
    kind == u32::from(QueueKind::Rdma.raw()) || kind == u32::from(QueueKind::RdmaRx.raw())
}

/// Status of a request that has failed, the status of the target, and whether it may have been
/// executed.
pub fn status_of(error: WorkError) -> (Status, u32, bool) {
    let unknown = error.execution() == Execution::Unknown;
    (error.status(), error.refusal().0.into(), unknown)
}
