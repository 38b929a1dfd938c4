//! The target: executes commands on a [`Memory`] and writes their replies (50-52C 5.3.3, 5.4.3,
//! 5.5.3, 5.6).
//!
//! If several statuses apply the standard leaves the choice open (5.6.1). Here the first of these
//! wins: 2, 12, 3, 11, 9, 10 for the header; 7, 5, 6 for the end of the packet; 4 for the data; 10
//! and 1 for what the memory says.
//!
//! The write bit alone decides the form of a reply. So the one command code out of use that has the
//! reply bit, 0110, is replied to as a read is: no data, and a data CRC of 0.

mod counters;
mod stream;

pub use counters::{TargetCounters, TargetDiscard};
pub use stream::CommandStream;

use super::crc::crc;
use super::reply::READ_HEADER;
use super::{
    ADDRESS_MAX, CommandHeader, HeaderError, Memory, MemoryFault, PacketType, REPLY_ADDRESS_MAX,
    RMW_MAX, ReplyHeader, RmapOperation, RmapStatus, body,
};
use crate::packet::{DEFAULT_LOGICAL_ADDRESS, NoRoom, PacketEnd, gather, room};

/// Bytes of a reply around its data, at most: the smallest reply buffer.
pub const REPLY_OVERHEAD: usize = REPLY_ADDRESS_MAX + READ_HEADER + 1;

/// What a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapTargetConfig {
    /// Its logical address; `None`, if it has several, leaves them to the authorisation.
    pub logical_address: Option<u8>,
    /// It answers to 254 besides its own.
    pub accept_default: bool,
    /// The key it wants; `None` leaves keys to the authorisation.
    pub key: Option<u8>,
    /// The longest data it verifies before it writes, in bytes; longer gets status 9.
    pub verify_bytes: u32,
    /// It checks unverified writes too before it writes. If not, the data of a write that is cut,
    /// too long or damaged is in the memory as far as it came, as in hardware that writes while data
    /// arrives; the last byte that came is not written where it may be the data CRC.
    pub check_all_writes: bool,
    /// It answers reserved packet types with status 2 if their reply bit is set; the standard leaves
    /// that open (5.3.3.4.6).
    pub reply_to_reserved: bool,
}

impl Default for RmapTargetConfig {
    fn default() -> Self {
        Self {
            logical_address: Some(DEFAULT_LOGICAL_ADDRESS),
            accept_default: true,
            key: None,
            verify_bytes: 4096,
            check_all_writes: false,
            reply_to_reserved: false,
        }
    }
}

/// Why the authorisation denies a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Not with this target logical address: status 12.
    LogicalAddress,
    /// Not with this key: status 3.
    Key,
    /// Not at all: status 10.
    Access,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetOutcome {
    /// Executed, with status 0.
    Executed {
        /// The header of the command.
        command: CommandHeader,
        /// Bytes of the reply, path in front; 0 if none is wanted.
        reply_bytes: usize,
    },
    /// Not executed, or not all of it.
    Refused {
        /// The header of the command.
        command: CommandHeader,
        /// Why.
        status: RmapStatus,
        /// Bytes of the reply, path in front; 0 if none is wanted.
        reply_bytes: usize,
    },
    /// Thrown away; never replied to.
    Discarded(TargetDiscard),
}

impl TargetOutcome {
    /// Bytes of the reply at the start of the buffer: 0 if there is none to send.
    pub const fn reply_bytes(&self) -> usize {
        match self {
            Self::Executed { reply_bytes, .. } | Self::Refused { reply_bytes, .. } => *reply_bytes,
            Self::Discarded(_) => 0,
        }
    }
}

/// A target. All commands of the standard; one command at a time, so each is atomic.
#[derive(Clone, Debug, Default)]
pub struct RmapTarget {
    config: RmapTargetConfig,
    counters: TargetCounters,
}

/// A command under execution.
struct Execution<'a> {
    header: &'a CommandHeader,
    rest: &'a [u8],
    end: PacketEnd,
    config: &'a RmapTargetConfig,
}

impl RmapTarget {
    /// A target.
    pub fn new(config: RmapTargetConfig) -> Self {
        Self { config, counters: TargetCounters::default() }
    }

    /// What it is.
    pub fn config(&self) -> &RmapTargetConfig {
        &self.config
    }

    /// What it counted.
    pub fn counters(&self) -> &TargetCounters {
        &self.counters
    }

    /// Takes a packet that starts at its target logical address; writes the reply, path bytes in
    /// front, to the start of `out`.
    ///
    /// `allow` is asked once about each command whose header is intact and whose command code is in
    /// use, before the memory is touched. A read that has a reply longer than `out` gets status 10.
    ///
    /// # Errors
    ///
    /// `out` has less than [`REPLY_OVERHEAD`] bytes; the packet was not looked at.
    pub fn handle<M: Memory + ?Sized>(
        &mut self,
        packet: &[u8],
        end: PacketEnd,
        memory: &mut M,
        allow: impl FnOnce(&CommandHeader) -> Result<(), Denial>,
        out: &mut [u8],
    ) -> Result<TargetOutcome, NoRoom> {
        room(out, REPLY_OVERHEAD)?;
        let header = match self.admit(packet, end) {
            Ok(header) => header,
            Err(discard) => return Ok(self.discard(discard)),
        };
        let rest = packet.get(header.bytes()..).unwrap_or(&[]);
        let limit = self.config.verify_bytes;
        let result = self.decide(&header, allow, limit).and_then(|operation| {
            let execution = Execution { header: &header, rest, end, config: &self.config };
            execution.run(operation, memory, out)
        });
        self.conclude(header, result, out)
    }

    fn discard(&mut self, discard: TargetDiscard) -> TargetOutcome {
        self.counters.discarded(discard);
        TargetOutcome::Discarded(discard)
    }

    /// Writes the reply and counts.
    fn conclude(
        &mut self,
        header: CommandHeader,
        result: Result<u32, RmapStatus>,
        out: &mut [u8],
    ) -> Result<TargetOutcome, NoRoom> {
        let reply_bytes = match header.instruction.wants_reply() {
            true => write_reply(&header, result, out)?,
            false => 0,
        };
        self.counters.executed(&header, result, reply_bytes != 0);
        Ok(match result {
            Ok(_) => TargetOutcome::Executed { command: header, reply_bytes },
            Err(status) => TargetOutcome::Refused { command: header, status, reply_bytes },
        })
    }

    /// The header of a command that may get a reply (5.3.3.4.2 to 5.3.3.4.6).
    fn admit(&self, packet: &[u8], end: PacketEnd) -> Result<CommandHeader, TargetDiscard> {
        let cut = match end {
            PacketEnd::Eop => TargetDiscard::EarlyEop,
            PacketEnd::Eep => TargetDiscard::EarlyEep,
        };
        let header = match CommandHeader::parse(packet) {
            Ok(header) => header,
            Err(HeaderError::Protocol { pid }) => return Err(TargetDiscard::Protocol { pid }),
            Err(HeaderError::PacketType { .. }) => return Err(TargetDiscard::Reply),
            Err(HeaderError::Short { .. }) => return Err(cut),
            Err(HeaderError::Crc { .. } | HeaderError::Reserved { .. }) => {
                return Err(TargetDiscard::HeaderCrc);
            }
        };
        if end == PacketEnd::Eep && packet.len() == header.bytes() {
            return Err(TargetDiscard::EepAfterHeader);
        }
        if header.instruction.packet_type() == PacketType::Reserved
            && !self.config.reply_to_reserved
        {
            return Err(TargetDiscard::ReservedType);
        }
        Ok(header)
    }

    /// What the header alone decides: what to do, or why not. Data that has to be whole first has
    /// at most `limit` bytes.
    fn decide(
        &self,
        header: &CommandHeader,
        allowed: impl FnOnce(&CommandHeader) -> Result<(), Denial>,
        limit: u32,
    ) -> Result<RmapOperation, RmapStatus> {
        let (config, instruction) = (&self.config, header.instruction);
        let command = instruction.packet_type() == PacketType::Command;
        let operation = instruction.operation().filter(|_| command);
        let operation = operation.ok_or(RmapStatus::UNUSED_TYPE_OR_CODE)?;
        let allowed = allowed(header);
        let ours = config.logical_address.is_none_or(|own| own == header.target)
            || config.accept_default && header.target == DEFAULT_LOGICAL_ADDRESS;
        if !ours || allowed == Err(Denial::LogicalAddress) {
            return Err(RmapStatus::INVALID_LOGICAL_ADDRESS);
        }
        if config.key.is_some_and(|key| key != header.key) || allowed == Err(Denial::Key) {
            return Err(RmapStatus::INVALID_KEY);
        }
        let modifies = operation == RmapOperation::ReadModifyWrite;
        if modifies && !matches!(header.length, 0 | 2 | 4 | 6 | 8) {
            return Err(RmapStatus::RMW_DATA_LENGTH);
        }
        let buffered = modifies || matches!(operation, RmapOperation::Write { verify: true, .. });
        if buffered && header.length > limit {
            return Err(RmapStatus::VERIFY_BUFFER_OVERRUN);
        }
        let bytes = if modifies { header.length / 2 } else { header.length };
        let beyond = ADDRESS_MAX + 1 - header.address.min(ADDRESS_MAX);
        if allowed.is_err() || operation.increments() && u64::from(bytes) > beyond {
            return Err(RmapStatus::NOT_AUTHORISED);
        }
        Ok(operation)
    }
}

impl Execution<'_> {
    /// Executes; returns how many bytes of data the reply carries. They are in their place in `out`
    /// then.
    fn run<M: Memory + ?Sized>(
        &self,
        operation: RmapOperation,
        memory: &mut M,
        out: &mut [u8],
    ) -> Result<u32, RmapStatus> {
        match operation {
            RmapOperation::Read { increment } => self.read(increment, memory, out),
            RmapOperation::Write { verify, increment, .. } => self.write(verify, increment, memory),
            RmapOperation::ReadModifyWrite => self.modify(memory, out),
        }
    }

    fn read<M: Memory + ?Sized>(
        &self,
        increment: bool,
        memory: &mut M,
        out: &mut [u8],
    ) -> Result<u32, RmapStatus> {
        let bytes = self.header.length as usize;
        if out.len() - REPLY_OVERHEAD.min(out.len()) < bytes {
            return Err(RmapStatus::NOT_AUTHORISED);
        }
        body::nothing(self.rest, self.end).map_err(|error| error.status())?;
        let data = data_place(self.header, bytes, out);
        if !data.is_empty() {
            memory.read(self.header.address, increment, data).map_err(status_of)?;
        }
        Ok(self.header.length)
    }

    fn write<M: Memory + ?Sized>(
        &self,
        verify: bool,
        increment: bool,
        memory: &mut M,
    ) -> Result<u32, RmapStatus> {
        let checked = body::data(self.rest, self.header.length, self.end);
        let checked = checked.map_err(|error| error.status());
        let data = match checked {
            Ok(data) => data,
            Err(status) if verify || self.config.check_all_writes => return Err(status),
            Err(_) => self.arrived(),
        };
        let written = match data {
            [] => Ok(()),
            data => memory.write(self.header.address, increment, data).map_err(status_of),
        };
        checked?;
        written?;
        Ok(0)
    }

    /// The data that surely is data of a packet that ended wrong: never its last byte if that may be
    /// the CRC, never more than the header says.
    fn arrived(&self) -> &[u8] {
        let bytes = self.rest.len().saturating_sub(1).min(self.header.length as usize);
        self.rest.get(..bytes).unwrap_or(&[])
    }

    fn modify<M: Memory + ?Sized>(
        &self,
        memory: &mut M,
        out: &mut [u8],
    ) -> Result<u32, RmapStatus> {
        let body = body::data(self.rest, self.header.length, self.end);
        let body = body.map_err(|error| error.status())?;
        let (data, mask) = body.split_at_checked(body.len() / 2).unwrap_or((&[], &[]));
        let mut old = [0; RMW_MAX];
        let old = old.get_mut(..data.len()).ok_or(RmapStatus::RMW_DATA_LENGTH)?;
        if !old.is_empty() {
            memory.modify(self.header.address, data, mask, old).map_err(status_of)?;
        }
        gather(data_place(self.header, old.len(), out), &[old]);
        Ok(old.len() as u32)
    }
}

const fn status_of(fault: MemoryFault) -> RmapStatus {
    match fault {
        MemoryFault::Refused => RmapStatus::NOT_AUTHORISED,
        MemoryFault::Failed => RmapStatus::GENERAL_ERROR,
    }
}

/// Where the data of a reply is.
fn data_place<'a>(header: &CommandHeader, bytes: usize, out: &'a mut [u8]) -> &'a mut [u8] {
    let start = header.reply_address.path().len() + READ_HEADER;
    out.get_mut(start..start + bytes).unwrap_or_default()
}

/// Writes what is around the data of a reply; an error reply with a data CRC has no data.
fn write_reply(
    command: &CommandHeader,
    result: Result<u32, RmapStatus>,
    out: &mut [u8],
) -> Result<usize, NoRoom> {
    let header = ReplyHeader {
        initiator: command.initiator,
        instruction: command.instruction.to_reply(),
        status: result.err().unwrap_or(RmapStatus::SUCCESS),
        target: command.target,
        transaction: command.transaction,
        length: result.unwrap_or(0),
    };
    let path = command.reply_address.path();
    let start = path.len() + header.bytes();
    let needed = NoRoom { bytes: out.len(), needed: start };
    gather(out, &[path]);
    header.write(out.get_mut(path.len()..).unwrap_or_default()).map_err(|_| needed)?;
    if header.instruction.is_write() {
        return Ok(start);
    }
    let data = data_place(command, header.length as usize, out);
    let (sum, bytes) = (crc(data), start + data.len());
    *out.get_mut(bytes).ok_or(needed)? = sum;
    Ok(bytes + 1)
}
