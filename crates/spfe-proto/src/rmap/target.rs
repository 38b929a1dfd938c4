//! The target: executes commands on a [`Memory`] and writes their replies (50-52C 5.3.3, 5.4.3,
//! 5.5.3, 5.6).
//!
//! If several statuses apply, the standard leaves the choice open (5.6.1). This target uses the
//! first of the following. For the header: 2, 12, 3, 11, 9, 10. For the end of the packet: 7, 5, 6.
//! For the data: 4. For the memory: 10 and 1.
//!
//! The write bit alone decides the form of a reply. The only unused command code with the reply
//! bit, 0110, therefore gets a reply like a read: no data, and a data CRC of 0.

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

/// Maximum bytes of a reply besides its data: the smallest reply buffer.
pub const REPLY_OVERHEAD: usize = REPLY_ADDRESS_MAX + READ_HEADER + 1;

/// Settings of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapTargetConfig {
    /// Logical address; `None` if the target has several and the authorisation checks them.
    pub logical_address: Option<u8>,
    /// Also accept the logical address 254.
    pub accept_default: bool,
    /// Key; `None` if the authorisation checks keys.
    pub key: Option<u8>,
    /// Maximum data that the target verifies before it writes, in bytes. More gets status 9.
    pub verify_bytes: u32,
    /// Check unverified writes completely before writing, too. Otherwise a write that is cut, too
    /// long or damaged leaves the data that arrived in memory, as in hardware that writes while
    /// data arrives. The last byte that arrived is not written where it may be the data CRC.
    pub check_all_writes: bool,
    /// Answer reserved packet types with status 2 if their reply bit is set. The standard leaves
    /// this open (5.3.3.4.6).
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

/// Reason why the authorisation denies a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The target logical address is not allowed: status 12.
    LogicalAddress,
    /// The key is not allowed: status 3.
    Key,
    /// The access is not allowed: status 10.
    Access,
}

/// Result of processing a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetOutcome {
    /// The command was executed with status 0.
    Executed {
        /// Header of the command.
        command: CommandHeader,
        /// Bytes of the reply, including the path; 0 if none is wanted.
        reply_bytes: usize,
    },
    /// The command was not executed, or only in part.
    Refused {
        /// Header of the command.
        command: CommandHeader,
        /// Status that tells the reason.
        status: RmapStatus,
        /// Bytes of the reply, including the path; 0 if none is wanted.
        reply_bytes: usize,
    },
    /// The packet was discarded without a reply.
    Discarded(TargetDiscard),
}

impl TargetOutcome {
    /// Bytes of the reply at the start of the buffer; 0 if there is none to send.
    pub const fn reply_bytes(&self) -> usize {
        match self {
            Self::Executed { reply_bytes, .. } | Self::Refused { reply_bytes, .. } => *reply_bytes,
            Self::Discarded(_) => 0,
        }
    }
}

/// A target for all commands of the standard. It executes one command at a time, so each is atomic.
#[derive(Clone, Debug, Default)]
pub struct RmapTarget {
    config: RmapTargetConfig,
    counters: TargetCounters,
}

/// A command that is being executed.
struct Execution<'a> {
    header: &'a CommandHeader,
    rest: &'a [u8],
    end: PacketEnd,
    config: &'a RmapTargetConfig,
}

impl RmapTarget {
    /// Creates a target.
    pub fn new(config: RmapTargetConfig) -> Self {
        Self { config, counters: TargetCounters::default() }
    }

    /// Settings of the target.
    pub fn config(&self) -> &RmapTargetConfig {
        &self.config
    }

    /// Counters of the target.
    pub fn counters(&self) -> &TargetCounters {
        &self.counters
    }

    /// Processes a packet that starts at its target logical address. Writes path bytes and reply to
    /// the start of `out`.
    ///
    /// `allow` is called once for each command with an intact header and a known command code,
    /// before the memory is accessed. A read whose reply is longer than `out` gets status 10.
    ///
    /// # Errors
    ///
    /// `out` has less than [`REPLY_OVERHEAD`] bytes; the packet was not processed.
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

    /// Writes the reply and updates the counters.
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

    /// Parses the header of a command that may get a reply (5.3.3.4.2 to 5.3.3.4.6).
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

    /// Decides by the header alone what to do, or why not. Data that must be complete before it is
    /// used has at most `limit` bytes.
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
    /// Executes the command. Returns the number of data bytes of the reply, which are in their
    /// place in `out`.
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

    /// The part of a broken packet that is certainly data: not its last byte if that may be the
    /// CRC, and not more than the header announces.
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

/// The part of the reply buffer for the data.
fn data_place<'a>(header: &CommandHeader, bytes: usize, out: &'a mut [u8]) -> &'a mut [u8] {
    let start = header.reply_address.path().len() + READ_HEADER;
    out.get_mut(start..start + bytes).unwrap_or_default()
}

/// Writes the parts of a reply around its data. An error reply with a data CRC has no data.
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
