//! A target-only endpoint: RDMA and RMAP on the same port and the same memory.

use crate::config::{RmapAddressing, RmapFile, TargetFile, TargetFileError};
use crate::direct::{Payload, Taker};
use crate::local::NoMemory;
use crate::region::RegionTable;
use crate::target::{Dropped, Handled, RdmaTarget};
use spfe_proto::PacketEnd;
use spfe_proto::rmap::target::{REPLY_OVERHEAD, TargetCounters};
use spfe_proto::rmap::{
    self, CommandHeader, Denial, LENGTH_MAX, Memory, MemoryFault, RMW_MAX, RmapOperation,
    RmapTarget, RmapTargetConfig, TargetOutcome,
};
use spfe_proto::sfrp::SfrpHeader;
use std::collections::VecDeque;

/// Virtual channels.
const VCS: usize = 32;
/// Number of RMAP replies and of their bytes that may wait; further packets wait then.
const REPLIES_MAX: usize = 256;
const REPLY_BYTES_MAX: usize = 32 << 20;

/// Replies of RMAP that wait on a virtual channel, with the time from which they may be sent.
type Replies = VecDeque<(u64, Vec<u8>)>;

/// A target with RMAP beside it.
pub struct TargetNode {
    /// The regions and the RDMA side.
    pub target: RdmaTarget,
    rmap: Option<(RmapTarget, RmapFile)>,
    replies: [Replies; VCS],
    reply_bytes: usize,
}

impl TargetNode {
    /// The node of a file.
    ///
    /// # Errors
    /// A region cannot be added.
    pub fn new(file: &TargetFile) -> Result<Self, TargetFileError> {
        let config = |rmap: &RmapFile| RmapTargetConfig {
            logical_address: Some(file.logical_address),
            accept_default: false,
            key: rmap.key,
            // Whole commands are kept, so data of any length can be verified first.
            verify_bytes: rmap.verify.unwrap_or(LENGTH_MAX),
            ..RmapTargetConfig::default()
        };
        let rmap = file.rmap.map(|rmap| (RmapTarget::new(config(&rmap)), rmap));
        let replies = std::array::from_fn(|_| VecDeque::new());
        Ok(Self { target: file.target()?, rmap, replies, reply_bytes: 0 })
    }

    /// Counters of RMAP, if there is RMAP.
    pub fn rmap_counters(&self) -> Option<&TargetCounters> {
        self.rmap.as_ref().map(|(target, _)| target.counters())
    }

    /// Longest packet that is not certainly refused, bytes.
    pub fn packet_bytes_max(&self) -> usize {
        let command = rmap::command::HEADER_MAX + LENGTH_MAX as usize + 1;
        let request = 64 + self.target.options().segment_bytes as usize + 4;
        if self.rmap.is_some() { command } else { request }
    }

    /// Whether packets of a virtual channel must wait until responses have gone out.
    pub fn is_full(&self, vc: u8) -> bool {
        let waiting = self.replies.get(usize::from(vc)).map_or(0, VecDeque::len);
        self.target.is_full(vc) || waiting >= REPLIES_MAX || self.reply_bytes >= REPLY_BYTES_MAX
    }

    /// Takes a packet that arrived on a virtual channel. Its response is not sent before `now_ns`.
    /// False if it was refused or discarded.
    pub fn handle(&mut self, packet: &[u8], end: PacketEnd, vc: u8, now_ns: u64) -> bool {
        let is_rmap = packet.get(1) == Some(&rmap::PID);
        if let Some((target, file)) = self.rmap.as_mut().filter(|_| is_rmap) {
            let mut reply = Vec::new();
            let executed = run(target, *file, self.target.regions_mut(), packet, end, &mut reply);
            if !reply.is_empty() {
                self.reply_bytes += reply.len();
                self.replies[usize::from(vc) % VCS].push_back((now_ns, reply));
            }
            return executed;
        }
        is_good(self.target.handle(packet, end, vc, now_ns))
    }

    /// Takes a packet that was handed over ([`crate::direct`]). False if it was refused or discarded.
    pub fn handle_direct(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        vc: u8,
        now_ns: u64,
    ) -> bool {
        is_good(self.target.handle_direct(header, payload, vc, now_ns, &mut NoMemory))
    }

    /// Hands the next response of a virtual channel over ([`crate::direct`]). Returns the bytes of the
    /// packet that it stands for; `None` if there is none, or if it has to be sent as a packet.
    pub fn hand_response(&mut self, vc: u8, take: Taker<'_>) -> Option<usize> {
        let replies = self.replies.get(usize::from(vc))?;
        replies.is_empty().then(|| self.target.hand_response(vc, &NoMemory, take))?
    }

    /// Whether replies of RMAP wait on a virtual channel.
    pub fn has_replies(&self, vc: u8) -> bool {
        self.replies.get(usize::from(vc)).is_none_or(|replies| !replies.is_empty())
    }

    /// When the next packet of a virtual channel may be sent; `None` if there is none.
    pub fn ready_ns(&self, vc: u8) -> Option<u64> {
        let reply = self.replies.get(usize::from(vc))?.front().map(|(ready_ns, _)| *ready_ns);
        reply.or_else(|| self.target.ready_ns(vc))
    }

    /// Writes the next packet for a virtual channel, path included. `None` if there is none.
    pub fn respond(&mut self, vc: u8, out: &mut Vec<u8>) -> Option<usize> {
        if let Some((_, reply)) = self.replies.get_mut(usize::from(vc))?.pop_front() {
            self.reply_bytes -= reply.len();
            *out = reply;
            return Some(out.len());
        }
        self.target.respond(vc, out)
    }
}

/// Whether a packet was neither refused nor discarded, except behind a refusal.
fn is_good(handled: Handled) -> bool {
    !matches!(handled, Handled::Refused(_) | Handled::Dropped(_) | Handled::ForInitiator)
        || handled == Handled::Dropped(Dropped::Drained)
}

/// Executes an RMAP command on the regions.
fn run(
    target: &mut RmapTarget,
    file: RmapFile,
    regions: &mut RegionTable,
    packet: &[u8],
    end: PacketEnd,
    reply: &mut Vec<u8>,
) -> bool {
    let header = CommandHeader::parse(packet).ok();
    let mut memory = Regions { addressing: file.addressing, regions };
    let allowed = header.as_ref().is_some_and(|header| memory.allows(header));
    let data = match header.as_ref().map(|header| (header.instruction.operation(), header)) {
        // A read beyond the memory is refused and needs no room.
        Some((Some(RmapOperation::Read { .. }), header)) if allowed => header.length as usize,
        _ => RMW_MAX,
    };
    reply.resize(REPLY_OVERHEAD + data, 0);
    let permit = |_: &CommandHeader| if allowed { Ok(()) } else { Err(Denial::Access) };
    let outcome = target.handle(packet, end, &mut memory, permit, reply);
    // Cannot fail: there is room for the smallest reply.
    reply.truncate(outcome.map_or(0, |outcome| outcome.reply_bytes()));
    matches!(outcome, Ok(TargetOutcome::Executed { .. }))
}

/// Regions as the memory behind RMAP.
struct Regions<'a> {
    addressing: RmapAddressing,
    regions: &'a mut RegionTable,
}

impl Regions<'_> {
    /// The region of an address, and the offset in it.
    fn place(&self, address: u64, bytes: usize) -> Option<(crate::RemoteKey, u64)> {
        let mut all = self.regions.iter().filter(|(key, _)| !self.regions.is_revoked(*key));
        let length = bytes as u64;
        match self.addressing {
            RmapAddressing::Region => {
                let (index, offset) = ((address >> 32) as usize, address & 0xffff_ffff);
                let (key, region) = all.find(|(key, _)| key.index() == index)?;
                let inside = length <= region.bytes() && offset <= region.bytes() - length;
                inside.then_some((key, offset))
            }
            RmapAddressing::Absolute => {
                all.find_map(|(key, region)| Some((key, region.offset_of(address, length)?)))
            }
        }
    }

    /// Whether all bytes of a command lie in a region that has the right, for this initiator. A
    /// command without data needs no region, but the right to one that it names.
    fn allows(&self, header: &CommandHeader) -> bool {
        let Some(operation) = header.instruction.operation() else {
            return true; // nothing is accessed
        };
        let bytes = match operation {
            RmapOperation::ReadModifyWrite => header.length / 2,
            _ if operation.increments() => header.length,
            _ => header.length.min(1),
        };
        let found = self.place(header.address, bytes as usize);
        let Some(region) = found.and_then(|(key, _)| self.regions.get(key)) else {
            return bytes == 0;
        };
        let rights = region.rights;
        let listed = region.initiators.as_ref().is_none_or(|list| list.contains(&header.initiator));
        listed && operation.is_among(rights.read, rights.write, rights.atomic)
    }
}

impl Memory for Regions<'_> {
    fn read(&mut self, address: u64, increment: bool, data: &mut [u8]) -> Result<(), MemoryFault> {
        let bytes = if increment { data.len() } else { 1 };
        let (key, offset) = self.place(address, bytes).ok_or(MemoryFault::Refused)?;
        let region = self.regions.get(key).ok_or(MemoryFault::Refused)?;
        if increment {
            return region.read(&NoMemory, offset, data).map_err(|_| MemoryFault::Failed);
        }
        let mut byte = [0];
        region.read(&NoMemory, offset, &mut byte).map_err(|_| MemoryFault::Failed)?;
        data.fill(byte[0]);
        Ok(())
    }

    fn write(&mut self, address: u64, increment: bool, data: &[u8]) -> Result<(), MemoryFault> {
        let bytes = if increment { data.len() } else { 1 };
        let (key, offset) = self.place(address, bytes).ok_or(MemoryFault::Refused)?;
        let region = self.regions.get_mut(key).ok_or(MemoryFault::Refused)?;
        let data = if increment { data } else { data.last_chunk::<1>().map_or(&[][..], |b| b) };
        region.write(&mut NoMemory, offset, data).map_err(|_| MemoryFault::Failed)
    }
}
