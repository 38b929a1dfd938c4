//! Work requests as they lie in a ring.
//!
//! The host can write to the ring at any time, so each slot is read once, and only the copy is checked
//! and used.

use super::window::{self, KeyWindow};
use crate::memory::{AccessRefusal, Address, READ, RegionMap, WRITE};
use spfe_contract::{
    self as contract, EntryType, InlineSubmission, Operand, Status, Submission, WorkEntry,
    WorkOpcode, submit_flags as sf, work_flags as wf,
};
use spfe_rdma::{InlineBytes, Local, Pieces, RemoteKey, WorkFlags, WorkKind, WorkRequest};
use spfe_ring::Ring;
use spfe_ring::ring::RingEntry;

const ELEMENTS: usize = contract::WORK_ELEMENTS_MAX as usize;
const SLOTS: u32 = contract::WORK_SLOTS_MAX as u32;

/// What a work request asks for.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// A request of the sequence.
    Request(WorkRequest),
    /// A question outside of it: INFO or REGIONS.
    Question(WorkOpcode, Pieces),
    /// A remote key for local memory.
    Bind(KeyWindow),
    /// The end of a remote key.
    Unbind(RemoteKey),
}

/// A work request that was read from a ring.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Number of its slots.
    pub slots: u32,
    /// It asks for a completion.
    pub signal: bool,
    /// It ends a group.
    pub last: bool,
    /// What it asks for.
    pub wanted: Wanted,
}

/// A work request that cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEntry {
    /// Number of its slots, as far as they can be told.
    pub slots: u32,
    /// Why.
    pub refusal: AccessRefusal,
}

/// Reads the work request at a position. `None` if there is none yet.
///
/// # Errors
/// See [`BadEntry`]. A region that is not mapped here may be good after it was mapped.
pub fn read(
    ring: &Ring,
    position: u32,
    map: &RegionMap,
    domain: u16,
) -> Option<Result<Entry, BadEntry>> {
    let first = ring.read(position)?;
    let mut slots = Slots { ring, position, count: 1, chained: flags_of(first) & wf::CHAIN != 0 };
    let entry = parse(first, &mut slots, map, domain);
    if entry.is_err() {
        slots.skip();
    }
    let slots = slots.count;
    Some(entry.map(|entry| Entry { slots, ..entry }).map_err(|refusal| BadEntry { slots, refusal }))
}

fn flags_of(entry: RingEntry) -> u16 {
    (entry[1] >> 32) as u16
}

fn fault<T>(status: Status) -> Result<T, AccessRefusal> {
    Err(AccessRefusal::Fault(status))
}

/// The slots of a work request, in order.
struct Slots<'a> {
    ring: &'a Ring,
    position: u32,
    /// Slots read so far.
    count: u32,
    /// The last slot says that another one follows.
    chained: bool,
}

impl Slots<'_> {
    /// The next slot. The host publishes a request as a whole, so it must be there.
    fn next(&mut self) -> Result<RingEntry, AccessRefusal> {
        if !self.chained {
            return fault(Status::BadField);
        }
        let slot = self.ring.read(self.position.wrapping_add(self.count));
        let slot = slot.ok_or(AccessRefusal::Fault(Status::BadField))?;
        self.count += 1;
        self.chained = flags_of(slot) & sf::CHAIN != 0;
        if flags_of(slot) & !(sf::TYPE_MASK | sf::CHAIN) != 0 {
            return fault(Status::BadField);
        }
        Ok(slot)
    }

    /// Moves to the end of a request that is refused. Bounded by the size of the ring.
    fn skip(&mut self) {
        while self.chained && self.count < self.ring.size() {
            let Some(slot) = self.ring.read(self.position.wrapping_add(self.count)) else { break };
            self.count += 1;
            self.chained = flags_of(slot) & sf::CHAIN != 0;
        }
    }
}

/// Local bytes of a request.
#[derive(Default)]
struct Elements {
    local: Pieces,
    inline: InlineBytes,
    total: u64,
}

impl Elements {
    /// Adds a slot, whose memory must allow the access. Only what is sent can be inline.
    fn add(
        &mut self,
        slot: RingEntry,
        access: u32,
        map: &RegionMap,
        domain: u16,
    ) -> Result<(), AccessRefusal> {
        match EntryType::from_raw((flags_of(slot) & sf::TYPE_MASK) as u8) {
            Some(EntryType::Data) => {
                let (address, length) = (Address(slot[0]), Submission::from_words(slot).length);
                if length == 0 {
                    return Ok(());
                }
                if !self.inline.is_empty() {
                    return fault(Status::BadField);
                }
                map.translate(address, length.into(), domain, access)?;
                let memory = u32::from(address.key().0);
                if !self.local.push(Local { memory, offset: address.offset(), length }) {
                    return fault(Status::ChainTooLong);
                }
                self.total += u64::from(length);
            }
            Some(EntryType::Inline) => {
                let inline = InlineSubmission::from_words(slot);
                let count = usize::from(inline.count);
                if access != READ
                    || count == 0
                    || count as u64 > contract::INLINE_MAX_BYTES
                    || !self.local.is_empty()
                {
                    return fault(Status::BadField);
                }
                let mut bytes = [0; 12];
                bytes[..8].copy_from_slice(&inline.data_lo.to_le_bytes());
                bytes[8..].copy_from_slice(&inline.data_hi.to_le_bytes());
                if !bytes[..count].iter().all(|byte| self.inline.push(*byte)) {
                    return fault(Status::ChainTooLong);
                }
                self.total += count as u64;
            }
            _ => return fault(Status::BadOpcode),
        }
        if self.total > u64::from(spfe_proto::sfrp::READ_MAX) {
            return fault(Status::TooLong);
        }
        Ok(())
    }
}

fn parse(
    first: RingEntry,
    slots: &mut Slots<'_>,
    map: &RegionMap,
    domain: u16,
) -> Result<Entry, AccessRefusal> {
    let work = WorkEntry::from_words(first);
    let flags = work.flags;
    if flags & wf::TYPE_MASK != u16::from(EntryType::Rdma.raw()) {
        return fault(Status::BadOpcode);
    }
    if flags & (wf::MBZ0 | wf::MBZ1_MASK) != 0 || !slots.chained {
        return fault(Status::BadField);
    }
    let opcode = WorkOpcode::from_raw((flags >> wf::OPCODE_SHIFT & 0xf) as u8);
    let Some(opcode) = opcode else { return fault(Status::BadOpcode) };
    let access = match opcode {
        WorkOpcode::Write | WorkOpcode::WriteImm | WorkOpcode::Send | WorkOpcode::SendImm => READ,
        // What it must allow is in the operand.
        WorkOpcode::Bind => 0,
        _ => WRITE,
    };
    let operands = match opcode {
        WorkOpcode::WriteImm | WorkOpcode::SendImm | WorkOpcode::FetchAdd | WorkOpcode::Bind => 1,
        WorkOpcode::CmpSwap => 2,
        _ => 0,
    };
    let mut elements = Elements::default();
    elements.add(slots.next()?, access, map, domain)?;
    let mut operand = [Operand::default(); 2];
    for operand in &mut operand[..operands] {
        let slot = slots.next()?;
        if flags_of(slot) & sf::TYPE_MASK != u16::from(EntryType::Operand.raw()) {
            return fault(Status::BadOpcode);
        }
        *operand = Operand::from_words(slot);
    }
    while slots.chained {
        if slots.count - 1 - operands as u32 >= ELEMENTS as u32 || slots.count >= SLOTS {
            return fault(Status::ChainTooLong);
        }
        elements.add(slots.next()?, access, map, domain)?;
    }
    let kind = match opcode {
        WorkOpcode::Write | WorkOpcode::WriteImm => WorkKind::Write,
        WorkOpcode::Read => WorkKind::Read,
        WorkOpcode::Send | WorkOpcode::SendImm => WorkKind::Send,
        WorkOpcode::FetchAdd => WorkKind::FetchAdd { add: operand[0].value },
        WorkOpcode::CmpSwap => {
            WorkKind::CompareSwap { compare: operand[0].value, swap: operand[1].value }
        }
        WorkOpcode::Flush => WorkKind::Flush,
        WorkOpcode::Info | WorkOpcode::Regions => {
            let wanted = Wanted::Question(opcode, elements.local);
            return Ok(entry(flags, wanted));
        }
        WorkOpcode::Bind => {
            let [local] = elements.local[..] else { return fault(Status::BadField) };
            let (options, initiators) = (operand[0].immediate, operand[0].value);
            window::check(map, domain, local, options)?;
            let (key, address) = (RemoteKey(work.key), work.address);
            let window = KeyWindow { key, address, local, options, initiators };
            return Ok(entry(flags, Wanted::Bind(window)));
        }
        WorkOpcode::Unbind if elements.total == 0 => {
            return Ok(entry(flags, Wanted::Unbind(RemoteKey(work.key))));
        }
        WorkOpcode::Unbind => return fault(Status::BadField),
    };
    let takes = matches!(kind, WorkKind::Write | WorkKind::Send | WorkKind::Read);
    let atomic = kind.opcode().is_atomic();
    if atomic && !(matches!(elements.total, 0 | 8) && work.address.is_multiple_of(8))
        || !atomic && !takes && elements.total != 0
    {
        return fault(Status::BadField);
    }
    let with_immediate = matches!(opcode, WorkOpcode::WriteImm | WorkOpcode::SendImm);
    let request = WorkRequest {
        local: elements.local,
        inline: (!elements.inline.is_empty()).then_some(elements.inline),
        address: work.address,
        key: work.key,
        immediate: with_immediate.then_some(operand[0].immediate),
        flags: WorkFlags {
            signaled: flags & wf::SIGNAL != 0,
            fence: flags & wf::FENCE != 0,
            solicited: flags & wf::SOLICITED != 0,
        },
        ..WorkRequest::new(0, kind)
    };
    Ok(entry(flags, Wanted::Request(request)))
}

fn entry(flags: u16, wanted: Wanted) -> Entry {
    let (signal, last) = (flags & wf::SIGNAL != 0, flags & wf::LAST != 0);
    Entry { slots: 0, signal, last, wanted }
}
