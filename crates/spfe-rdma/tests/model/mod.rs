//! Random operations, and a model of what verbs say about them.
//!
//! What completed with OK was executed exactly once and in order, what failed at most once, and what is
//! said not to have been executed was not. Memory outside of the addressed ranges never changes.
#![allow(dead_code)] // each test uses its part

use fastrand::Rng;
use spfe_proto::sfrp::SfrpSegments;
use spfe_rdma::{Execution, Local, WorkCompletion, WorkKind, WorkRequest};
use std::collections::VecDeque;

/// Bytes of the remote region.
pub const REGION: usize = 4096;
/// Bytes of the target program's memory on each side of the region.
pub const AROUND: usize = 64;
/// Largest payload of a packet.
pub const SEGMENT: u32 = 256;
/// Longest message.
pub const MESSAGE_MAX: usize = 1400;

/// A message, or an empty one for the immediate data of a write.
pub type Message = (Vec<u8>, Option<u32>);

/// An operation with what the model needs.
pub struct Operation {
    pub request: WorkRequest,
    data: Vec<u8>,
}

/// A random operation on the region of a key. Its local bytes lie at `at` of memory `number`, which is
/// `memory`; reads have a place of their own.
pub fn operation(
    rng: &mut Rng,
    id: u64,
    (key, number): (u32, u32),
    at: &mut usize,
    memory: &mut [u8],
) -> Operation {
    let length = match rng.u32(..8) {
        0 => 0,
        1..4 => rng.usize(1..64),
        _ => rng.usize(1..MESSAGE_MAX),
    };
    let local = Local { memory: number, offset: *at as u64, length: length as u32 };
    *at += length.max(8);
    let address = rng.usize(..=REGION - length) as u64;
    let word = rng.u64(..(REGION / 8) as u64) * 8;
    let mut request = match rng.u32(..10) {
        0..4 => WorkRequest::write(id, local, key, address),
        4..6 => WorkRequest::read(id, local, key, address),
        6..8 => WorkRequest::send(id, local),
        8 => {
            let kind = match rng.bool() {
                true => WorkKind::FetchAdd { add: rng.u64(1..1 << 40) },
                false => WorkKind::CompareSwap { compare: 0, swap: rng.u64(..) },
            };
            WorkRequest { key, address: word, ..WorkRequest::new(id, kind) }
        }
        _ => WorkRequest::new(id, WorkKind::Flush),
    };
    request.flags.fence = rng.u32(..6) == 0;
    if rng.u32(..8) == 0 && matches!(request.kind, WorkKind::Write | WorkKind::Send) {
        request.immediate = Some(id as u32);
    }
    let mut data = vec![0; if request.local.is_empty() { 0 } else { length }];
    rng.fill(&mut data);
    if request.kind != WorkKind::Read
        && let Some(local) = request.local.first()
    {
        let start = local.offset as usize;
        memory[start..start + data.len()].copy_from_slice(&data);
        // Two pieces instead of one: gather.
        if length > 1 && rng.bool() {
            let cut = rng.u32(1..length as u32);
            let offset = local.offset + u64::from(cut);
            let rest = Local { offset, length: length as u32 - cut, ..*local };
            request.local = [Local { length: cut, ..*local }, rest].into();
        }
    }
    Operation { request, data }
}

/// Memory of the region, and the messages that its program got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub memory: Vec<u8>,
    pub received: VecDeque<Message>,
}

impl Model {
    /// Executes an operation; returns the old value of an atomic one. Of a write only the first bytes up
    /// to a limit.
    fn execute(&mut self, operation: &Operation, limit: usize) -> Option<u64> {
        let request = &operation.request;
        let at = request.address as usize;
        match request.kind {
            WorkKind::Write => {
                let part = &operation.data[..limit.min(operation.data.len())];
                self.memory[at..at + part.len()].copy_from_slice(part);
                if let Some(immediate) = request.immediate.filter(|_| limit == usize::MAX) {
                    self.received.push_back((Vec::new(), Some(immediate)));
                }
            }
            WorkKind::Send if limit == usize::MAX => {
                self.received.push_back((operation.data.clone(), request.immediate));
            }
            WorkKind::FetchAdd { .. } | WorkKind::CompareSwap { .. } if limit == usize::MAX => {
                let word = &mut self.memory[at..at + 8];
                let old = u64::from_le_bytes(word.try_into().unwrap());
                let new = match request.kind {
                    WorkKind::FetchAdd { add } => old.wrapping_add(add),
                    WorkKind::CompareSwap { compare, swap } if old == compare => swap,
                    _ => old,
                };
                word.copy_from_slice(&new.to_le_bytes());
                return Some(old);
            }
            _ => {}
        }
        None
    }
}

/// The operations of a run, what was there before, and all completions.
pub struct Episode<'a> {
    pub before: Model,
    pub operations: &'a [Operation],
    pub done: &'a [WorkCompletion],
}

/// How many of the operations were executed at least and at most, and how many completed with OK.
struct Bounds {
    least: usize,
    most: usize,
}

impl Episode<'_> {
    /// Looks for each operation at its completion: in order, one for each that asked for one or failed.
    fn bounds(&self) -> Result<Bounds, String> {
        let (mut least, mut most, mut next, mut failed) = (0, self.operations.len(), 0, false);
        let mut done = self.done.iter().peekable();
        for (index, operation) in self.operations.iter().enumerate() {
            let request = &operation.request;
            let Some(end) = done.next_if(|end| end.id == request.id) else {
                if request.flags.signaled || failed {
                    return Err(format!("operation {index} has no completion"));
                }
                continue;
            };
            next = index + 1;
            match end.result {
                Ok(()) if failed => return Err(format!("{index} is OK after a failure")),
                Ok(()) => least = next,
                Err(error) => {
                    // What had no completion before was executed, because its failure had made one.
                    least = if failed { least } else { index };
                    failed = true;
                    if error.execution() == Execution::NotExecuted {
                        most = most.min(index);
                    }
                }
            }
        }
        match done.next() {
            Some(end) => Err(format!("completion of {} after {next}: {:?}", end.id, self.done)),
            None if least > most => {
                Err(format!("{least} executed, {most} at most: {:?}", self.done))
            }
            None => Ok(Bounds { least, most }),
        }
    }

    /// Compares with what is there afterwards. `got` are the local bytes of a read. Returns how many
    /// operations completed with OK.
    pub fn check(&self, after: &Model, got: impl Fn(Local) -> Vec<u8>) -> Result<usize, String> {
        let Bounds { least, most } = self.bounds()?;
        // The states after 0, 1, 2, ... operations, and the results on the way.
        let (mut states, mut olds) = (vec![self.before.clone()], Vec::new());
        for operation in self.operations {
            let mut next = states.last().unwrap().clone();
            olds.push(next.execute(operation, usize::MAX));
            states.push(next);
        }
        let partly = |executed: usize| {
            // A write of several packets may have stopped on the way.
            let operation = &self.operations[executed];
            let (address, length) = (operation.request.address, operation.data.len() as u32);
            operation.request.kind == WorkKind::Write
                && SfrpSegments::new(address, length, SEGMENT).any(|segment| {
                    let mut part = states[executed].clone();
                    part.execute(operation, (segment.offset + segment.length) as usize);
                    part == *after
                })
        };
        let found = (least..=most)
            .any(|executed| states[executed] == *after || executed < most && partly(executed));
        if !found {
            return Err(format!("memory or messages match no number of {least} to {most}"));
        }
        for end in self.done.iter().filter(|end| end.result.is_ok()) {
            let find = |of: &Operation| of.request.id == end.id;
            let index = self.operations.iter().position(find).unwrap();
            if end.old != olds[index] {
                return Err(format!("result of {index}: {:?}, not {:?}", end.old, olds[index]));
            }
            self.check_read(index, &states[index..], &got)?;
        }
        Ok(self.done.iter().filter(|end| end.result.is_ok()).count())
    }

    /// A read sees each byte as it was at its turn or later.
    fn check_read(
        &self,
        index: usize,
        states: &[Model],
        got: impl Fn(Local) -> Vec<u8>,
    ) -> Result<(), String> {
        let request = &self.operations[index].request;
        let Some(local) = request.local.first().filter(|_| request.kind == WorkKind::Read) else {
            return Ok(());
        };
        for (offset, byte) in got(*local).iter().enumerate() {
            let place = request.address as usize + offset;
            if !states.iter().any(|model| model.memory[place] == *byte) {
                return Err(format!("byte {offset} of read {index}"));
            }
        }
        Ok(())
    }
}
