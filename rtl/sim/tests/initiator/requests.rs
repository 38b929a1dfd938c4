//! Random work requests, as the host posts them and as the model takes them.

use crate::far::{KEY, REGION};
use crate::memory::{KEY_BOTH, KEY_BROKEN, KEY_HOLES, KEY_READ, PAGE, SIZE};
use spfe_contract::{
    EntryType, InlineSubmission, Operand, Status, Submission, WorkEntry, WorkOpcode,
};
use spfe_contract::{submit_flags as sf, work_flags as wf};
use spfe_rdma::{Local, WorkFlags, WorkKind, WorkRequest};
use spfe_rtl_sim::once_in;

/// Lengths at the edges of a beat and of a segment.
const LENGTHS: [u32; 13] = [0, 1, 3, 4, 15, 16, 17, 2948, 4095, 4096, 4097, 8192, 10_007];

/// A work request.
pub struct Request {
    pub entries: Vec<[u64; 2]>,
    /// What the model gets, or the status of a request that cannot be executed.
    pub work: Result<WorkRequest, Status>,
    pub bytes: u32,
}

/// How wild the requests are.
#[derive(Clone, Copy)]
pub struct Mixture {
    /// Once in so many requests has an error that the initiator or the target finds.
    pub errors: u32,
    /// The partner has a receive queue.
    pub messages: bool,
}

fn data(local: &Local) -> [u64; 2] {
    let word = u64::from(local.memory) << 48 | local.offset;
    let mut entry = Submission::from_words([word, 0]);
    entry.length = local.length;
    entry.flags = EntryType::Data.raw().into();
    entry.to_words()
}

fn short(bytes: &[u8]) -> [u64; 2] {
    let byte = |at: usize| u64::from(bytes.get(at).copied().unwrap_or(0)) << (8 * (at % 8));
    InlineSubmission {
        data_lo: (0..8).map(byte).sum(),
        data_hi: (8..11).map(byte).sum::<u64>() as u32,
        count: bytes.len() as u8,
        flags: EntryType::Inline.raw().into(),
        phase: 0,
    }
    .to_words()
}

fn operand(value: u64, immediate: u32) -> [u64; 2] {
    Operand { value, immediate, flags: EntryType::Operand.raw().into(), phase: 0 }.to_words()
}

/// Local pieces of so many bytes in all.
fn pieces(rng: &mut fastrand::Rng, total: u32, key: u16) -> Vec<Local> {
    let mut left = total;
    let count = if once_in(rng, 2) { 1 } else { rng.usize(1..=4) };
    (0..count)
        .map(|index| {
            let length = if index + 1 == count { left } else { rng.u32(..=left) };
            left -= length;
            let offset = rng.u64(..=SIZE - u64::from(length));
            Local { memory: key.into(), offset, length }
        })
        .collect()
}

pub fn random(rng: &mut fastrand::Rng, mixture: Mixture) -> Request {
    let wrong = once_in(rng, mixture.errors);
    let opcode = loop {
        let opcode = match rng.u8(..16) {
            0..=5 => WorkOpcode::Write,
            6..=8 => WorkOpcode::Read,
            9 => WorkOpcode::WriteImm,
            10 => WorkOpcode::Send,
            11 => WorkOpcode::SendImm,
            12 => WorkOpcode::FetchAdd,
            13 => WorkOpcode::CmpSwap,
            _ => WorkOpcode::Flush,
        };
        let message = matches!(opcode, WorkOpcode::Send | WorkOpcode::SendImm);
        if mixture.messages || !(message || opcode == WorkOpcode::WriteImm) {
            break opcode;
        }
    };
    let immediate = rng.u32(..);
    let (value, second) = (rng.u64(..3), rng.u64(..));
    let (kind, operands, has_immediate) = match opcode {
        WorkOpcode::Write => (WorkKind::Write, vec![], false),
        WorkOpcode::WriteImm => (WorkKind::Write, vec![operand(0, immediate)], true),
        WorkOpcode::Read => (WorkKind::Read, vec![], false),
        WorkOpcode::Send => (WorkKind::Send, vec![], false),
        WorkOpcode::SendImm => (WorkKind::Send, vec![operand(0, immediate)], true),
        WorkOpcode::FetchAdd => (WorkKind::FetchAdd { add: value }, vec![operand(value, 0)], false),
        WorkOpcode::CmpSwap => (
            WorkKind::CompareSwap { compare: value, swap: second },
            vec![operand(value, 0), operand(second, 0)],
            false,
        ),
        _ => (WorkKind::Flush, vec![], false),
    };
    let atomic = kind.opcode().is_atomic();
    let sends = matches!(kind, WorkKind::Write | WorkKind::Send);
    let bytes = match kind {
        WorkKind::Flush => 0,
        _ if atomic => rng.choice([0, 8]).expect("has some"),
        WorkKind::Send => rng.choice([0, 1, 17, 32, 4096, 5000]).expect("has some"),
        _ if once_in(rng, 3) => rng.choice(LENGTHS).expect("has some"),
        _ => rng.u32(..200),
    };
    let is_inline = sends && bytes > 0 && bytes <= 44 && once_in(rng, 2);
    let key = if !sends || once_in(rng, 2) { KEY_BOTH } else { KEY_READ };
    let local = if is_inline || kind == WorkKind::Flush { vec![] } else { pieces(rng, bytes, key) };
    let inline: Vec<u8> = (0..bytes).filter(|_| is_inline).map(|_| rng.u8(..)).collect();
    let mut elements: Vec<[u64; 2]> = match is_inline {
        true => inline.chunks(bytes.div_ceil(4).max(rng.u32(1..=11)) as usize).map(short).collect(),
        false if local.is_empty() => {
            vec![data(&Local { memory: 0, offset: 0, length: 0 })]
        }
        false => local.iter().map(data).collect(),
    };
    let mut address = rng.u64(..=REGION - u64::from(bytes));
    if atomic {
        address = rng.u64(..8) * 8;
    }
    let flags =
        WorkFlags { signaled: once_in(rng, 2), fence: once_in(rng, 6), solicited: once_in(rng, 8) };
    let last = once_in(rng, 3);
    let mut entry = WorkEntry { address, key: KEY, flags: EntryType::Rdma.raw().into(), phase: 0 };
    let mut flag = |on: bool, mask: u16| entry.flags |= if on { mask } else { 0 };
    flag(flags.signaled, wf::SIGNAL);
    flag(flags.fence, wf::FENCE);
    flag(flags.solicited, wf::SOLICITED);
    flag(last, wf::LAST);
    entry.flags |= u16::from(opcode.raw()) << wf::OPCODE_SHIFT;

    let mut bad = None;
    let mut local = local;
    if wrong {
        match rng.u8(..9) {
            0 => (entry.key, _) = (KEY ^ 1, ()),
            1 => (entry.address, _) = (REGION - u64::from(bytes / 2), ()),
            2 if !local.is_empty() && bytes > 0 && !is_inline => {
                let (key, offset) =
                    rng.choice([(KEY_BROKEN, 8), (KEY_HOLES, PAGE / 2)]).expect("has some");
                local = vec![Local { memory: key.into(), offset, length: bytes }];
                elements = local.iter().map(data).collect();
            }
            which => bad = spoil(rng, which, &mut entry, &mut elements, kind),
        }
        if atomic {
            entry.address &= !7;
        }
    }
    address = entry.address;
    let mut entries = vec![entry.to_words()];
    entries.push(elements[0]);
    entries.extend(&operands);
    entries.extend(&elements[1..]);
    let count = entries.len();
    for slot in &mut entries[..count - 1] {
        slot[1] |= u64::from(sf::CHAIN) << 32;
    }
    if bad == Some(Status::Empty) {
        // The last slot is never posted.
        entries.truncate(rng.usize(1..count));
        bad = Some(Status::BadField);
    }
    let mut work = WorkRequest {
        address,
        key: entry.key,
        immediate: has_immediate.then_some(immediate),
        flags,
        inline: None,
        ..WorkRequest::new(0, kind)
    };
    for piece in local.iter().filter(|piece| piece.length > 0) {
        assert!(work.local.push(*piece));
    }
    if is_inline {
        let mut bytes = spfe_rdma::InlineBytes::default();
        assert!(inline.iter().all(|byte| bytes.push(*byte)));
        work.inline = Some(bytes);
    }
    Request { entries, work: bad.map_or(Ok(work), Err), bytes }
}

/// Makes a request wrong. Returns its status; EMPTY stands for a slot that is missing.
fn spoil(
    rng: &mut fastrand::Rng,
    which: u8,
    entry: &mut WorkEntry,
    elements: &mut Vec<[u64; 2]>,
    kind: WorkKind,
) -> Option<Status> {
    let local = |key, offset, length| data(&Local { memory: key, offset, length });
    let writes = !matches!(kind, WorkKind::Write | WorkKind::Send);
    match which {
        3 => entry.flags ^= 0xf & !u16::from(EntryType::Rdma.raw()),
        4 => {
            entry.flags |= wf::MBZ0;
            return Some(Status::BadField);
        }
        5 => {
            let key = rng.choice([0x7007, u32::from(KEY_BOTH)]).expect("has some");
            let offset = if key == 0x7007 { 0 } else { SIZE - 1 };
            *elements = vec![local(key, offset, 8)];
            return Some(if key == 0x7007 { Status::BadRegion } else { Status::OutOfBounds });
        }
        6 if writes => {
            *elements = vec![local(KEY_READ.into(), 0, 8)];
            return Some(Status::AccessDenied);
        }
        7 => {
            *elements = vec![local(KEY_BOTH.into(), 0, 1); 5];
            return Some(Status::ChainTooLong);
        }
        8 if writes => {
            *elements = vec![short(&[1])];
            return Some(Status::BadField);
        }
        _ => return Some(Status::Empty),
    }
    Some(Status::BadOpcode)
}
