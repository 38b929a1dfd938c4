//! Work requests as slots of a ring, and completions as results.

use spfe_contract::{
    self as contract, EntryType, InlineSubmission, Operand, QueuePairWait, Status, WorkEntry,
    WorkOpcode, pair_status, submit_flags as sf, work_flags as wf,
};
use spfe_proto::sfrp::{READ_MAX, SfrpStatus};
use spfe_rdma::initiator::PostError;
use spfe_rdma::{Execution, WorkError, WorkKind, WorkRequest};
use spfe_ring::ring::RingEntry;

const SLOTS: usize = contract::WORK_SLOTS_MAX as usize;
const ELEMENTS: usize = contract::WORK_ELEMENTS_MAX as usize;
const INLINE: usize = contract::INLINE_MAX_BYTES as usize;

/// The slots of one request: the first one and the elements. The end puts the operands between them.
pub struct Slots {
    all: [RingEntry; SLOTS],
    count: usize,
}

impl Slots {
    pub fn new(key: u32, address: u64, flags: u16) -> Self {
        let mut all = [[0; 2]; SLOTS];
        all[0] = WorkEntry { address, key, flags, phase: 0 }.to_words();
        Self { all, count: 1 }
    }

    /// Adds a local element. Callers have checked that there are not too many.
    pub fn element(&mut self, address: u64, length: u32) {
        let kind = u64::from(EntryType::Data.raw());
        self.push([address, kind << 32 | u64::from(length)]);
    }

    fn push(&mut self, element: RingEntry) {
        self.all[self.count] = element;
        self.count += 1;
    }

    /// Adds inline bytes. Callers have checked that they fit.
    pub fn inline(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(INLINE) {
            let mut padded = [0; 12];
            padded[..part.len()].copy_from_slice(part);
            let (low, high) = padded.split_at(8);
            let inline = InlineSubmission {
                data_lo: u64::from_le_bytes(low.try_into().unwrap_or_default()),
                data_hi: u32::from_le_bytes(high.try_into().unwrap_or_default()),
                count: part.len() as u8,
                flags: u16::from(EntryType::Inline.raw()),
                ..InlineSubmission::default()
            };
            self.push(inline.to_words());
        }
    }

    /// All slots: the first one, an element, the operands, the other elements.
    pub fn finish(&mut self, request: &WorkRequest) -> &[RingEntry] {
        let operand = |value, immediate| {
            let flags = u16::from(EntryType::Operand.raw());
            Operand { value, immediate, flags, phase: 0 }.to_words()
        };
        match (request.kind, request.immediate) {
            (WorkKind::FetchAdd { add }, _) => self.lay(&[operand(add, 0)]),
            (WorkKind::CompareSwap { compare, swap }, _) => {
                self.lay(&[operand(compare, 0), operand(swap, 0)])
            }
            (_, Some(immediate)) => self.lay(&[operand(0, immediate)]),
            (_, None) => self.lay(&[]),
        }
    }

    /// The slots of BIND, with key_options and initiators.
    pub fn bind(&mut self, options: u32, initiators: u64) -> &[RingEntry] {
        let flags = u16::from(EntryType::Operand.raw());
        let operand = Operand { value: initiators, immediate: options, flags, phase: 0 };
        self.lay(&[operand.to_words()])
    }

    /// The slots of a request without operands.
    pub fn question(&mut self) -> &[RingEntry] {
        self.lay(&[])
    }

    /// The slots in the order of the contract: operands are behind the first element.
    fn lay(&mut self, operands: &[RingEntry]) -> &[RingEntry] {
        if self.count == 1 {
            // There is always a first element.
            self.element(0, 0);
        }
        if !operands.is_empty() {
            self.all.copy_within(2..self.count, 2 + operands.len());
            self.all[2..2 + operands.len()].copy_from_slice(operands);
            self.count += operands.len();
        }
        for slot in &mut self.all[..self.count - 1] {
            slot[1] |= u64::from(sf::CHAIN) << 32;
        }
        &self.all[..self.count]
    }
}

/// Flags of a question.
pub fn question(opcode: WorkOpcode) -> u16 {
    u16::from(EntryType::Rdma.raw()) | wf::SIGNAL | u16::from(opcode.raw()) << wf::OPCODE_SHIFT
}

/// Flags of the first slot of a request.
pub fn flags(request: &WorkRequest) -> u16 {
    let opcode = match (request.kind, request.immediate) {
        (WorkKind::Write, None) => WorkOpcode::Write,
        (WorkKind::Write, Some(_)) => WorkOpcode::WriteImm,
        (WorkKind::Send, None) => WorkOpcode::Send,
        (WorkKind::Send, Some(_)) => WorkOpcode::SendImm,
        (WorkKind::Read, _) => WorkOpcode::Read,
        (WorkKind::FetchAdd { .. }, _) => WorkOpcode::FetchAdd,
        (WorkKind::CompareSwap { .. }, _) => WorkOpcode::CmpSwap,
        (WorkKind::Flush, _) => WorkOpcode::Flush,
    };
    let flag = |on, flag| if on { flag } else { 0 };
    u16::from(EntryType::Rdma.raw())
        | u16::from(opcode.raw()) << wf::OPCODE_SHIFT
        | flag(request.flags.signaled, wf::SIGNAL)
        | flag(request.flags.fence, wf::FENCE)
        | flag(request.flags.solicited, wf::SOLICITED)
}

/// Checks what does not depend on memory, and returns the bytes of a request.
pub fn check(request: &WorkRequest) -> Result<u32, PostError> {
    let local: u64 = request.local.iter().map(|piece| u64::from(piece.length)).sum();
    let inline = request.inline.as_ref().map_or(0, |inline| inline.len());
    let bytes = local + inline as u64;
    if bytes > u64::from(READ_MAX) {
        return Err(PostError::TooLong { bytes });
    }
    let sends = matches!(request.kind, WorkKind::Write | WorkKind::Send);
    let atomic = request.kind.opcode().is_atomic();
    if (request.inline.is_some() || request.immediate.is_some()) && !sends
        || inline > 0 && local > 0
        || inline > ELEMENTS * INLINE
        || request.local.len() > ELEMENTS
        || atomic && !(matches!(bytes, 0 | 8) && request.address.is_multiple_of(8))
        || request.kind == WorkKind::Flush && bytes > 0
    {
        return Err(PostError::Shape);
    }
    Ok(bytes as u32)
}

/// Why a request failed, from a completion with a status: its bytes are the status of the target, and
/// `unknown` tells that nobody knows whether it was executed.
pub fn error_of(status: Status, bytes: u32, unknown: bool) -> WorkError {
    let execution = if unknown { Execution::Unknown } else { Execution::NotExecuted };
    let target = SfrpStatus(bytes as u8);
    match status {
        Status::NotReady => WorkError::NotReadyExceeded(target),
        Status::Flushed => WorkError::Flushed(execution),
        Status::DeviceReset => WorkError::Flushed(Execution::Unknown),
        _ if target != SfrpStatus::OK => WorkError::Refused(target, execution),
        Status::NoAnswer => WorkError::RetryExceeded,
        Status::RemoteData => WorkError::BadResponse,
        _ => WorkError::LocalMemory(execution),
    }
}

/// What a queue pair waits for, in words.
pub fn why(shown: u64) -> String {
    let field = |mask, shift: u32| (shown & mask) >> shift;
    let attempts = field(pair_status::ATTEMPTS_MASK, pair_status::ATTEMPTS_SHIFT);
    let sequence = field(pair_status::SEQUENCE_MASK, pair_status::SEQUENCE_SHIFT);
    let wait = field(pair_status::WAIT_MASK, pair_status::WAIT_SHIFT) as u8;
    match QueuePairWait::from_raw(wait) {
        Some(QueuePairWait::Nothing) => "nothing is outstanding".to_owned(),
        Some(QueuePairWait::Transmit) => "can send; waits for the virtual channel".to_owned(),
        Some(QueuePairWait::Connect) => {
            format!("waits for the answer to CONNECT, sent {attempts} times")
        }
        Some(QueuePairWait::Answer) => {
            format!("waits for the answer to number {sequence}, repeated {attempts} times")
        }
        Some(QueuePairWait::Window) => {
            "waits for an acknowledgement: the window is full".to_owned()
        }
        Some(QueuePairWait::Fence) => {
            "a fence waits for earlier reads and atomic operations".to_owned()
        }
        Some(QueuePairWait::Reads) => {
            "waits for a result: as many reads are outstanding as allowed".to_owned()
        }
        Some(QueuePairWait::Credit) => "waits for the partner to post a receive buffer".to_owned(),
        Some(QueuePairWait::Receiver) => "the receiver was not ready and asked to wait".to_owned(),
        None => format!("unknown state {shown:#x}"),
    }
}
