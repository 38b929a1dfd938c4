//! Commands (50-52C 5.3.1, 5.4.1, 5.5.1).

use super::crc::RmapCrc;
use super::{
    ADDRESS_MAX, BuildError, HeaderError, Instruction, LENGTH_MAX, PID, PacketError, PacketType,
    ReplyAddress, body,
};
use crate::packet::{PacketEnd, gather, put, room};

/// Shortest header of a command in bytes: without a reply address.
pub const HEADER_MIN: usize = 16;
/// Longest header of a command in bytes.
pub const HEADER_MAX: usize = 28;

/// The header of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandHeader {
    /// Target logical address.
    pub target: u8,
    /// Instruction. When written, it gets the length of `reply_address`, whatever its lowest bits
    /// are.
    pub instruction: Instruction,
    /// Key that the target checks.
    pub key: u8,
    /// Path of the reply.
    pub reply_address: ReplyAddress,
    /// Initiator logical address.
    pub initiator: u8,
    /// Transaction identifier.
    pub transaction: u16,
    /// Byte address of 40 bits; the extended address is in the upper 8.
    pub address: u64,
    /// Data length in bytes, 24 bits; for a read-modify-write, data and mask together.
    pub length: u32,
}

impl CommandHeader {
    /// Parses the header of a command, or of a packet of a reserved type. Checks the CRC but not
    /// the command code.
    pub fn parse(packet: &[u8]) -> Result<Self, HeaderError> {
        let instruction = super::instruction_of(packet, HEADER_MIN)?;
        if instruction.packet_type() == PacketType::Reply {
            return Err(HeaderError::PacketType { instruction });
        }
        let needed = HEADER_MIN + instruction.reply_address_bytes();
        let short = HeaderError::Short { bytes: packet.len(), needed };
        let header = packet.get(..needed).ok_or(short)?;
        let ([target, _, _, key], rest) = header.split_first_chunk().ok_or(short)?;
        let (field, rest) =
            rest.split_at_checked(instruction.reply_address_bytes()).ok_or(short)?;
        let [initiator, t1, t0, a4, a3, a2, a1, a0, l2, l1, l0, found] = rest else {
            return Err(short);
        };
        super::check_header(header, *found)?;
        Ok(Self {
            target: *target,
            instruction,
            key: *key,
            reply_address: ReplyAddress::from_field(field).ok_or(short)?,
            initiator: *initiator,
            transaction: u16::from_be_bytes([*t1, *t0]),
            address: u64::from_be_bytes([0, 0, 0, *a4, *a3, *a2, *a1, *a0]),
            length: u32::from_be_bytes([0, *l2, *l1, *l0]),
        })
    }

    /// Bytes of the header, including its CRC.
    pub fn bytes(&self) -> usize {
        HEADER_MIN + self.reply_address.field().len()
    }

    /// Writes the header with its CRC. Returns [`CommandHeader::bytes`]. The caller adds path bytes
    /// and data; [`RmapCommand::write`] does both.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, BuildError> {
        let instruction = self.checked_instruction()?;
        let start = [self.target, PID, instruction.0, self.key];
        let [t1, t0] = self.transaction.to_be_bytes();
        let [_, _, _, a4, a3, a2, a1, a0] = self.address.to_be_bytes();
        let [_, l2, l1, l0] = self.length.to_be_bytes();
        let rest = [self.initiator, t1, t0, a4, a3, a2, a1, a0, l2, l1, l0];
        let field = self.reply_address.field();
        let sum = RmapCrc::new().bytes(&start).bytes(field).bytes(&rest).value();
        Ok(put(out, &[&start, field, &rest, &[sum]])?)
    }

    /// The instruction to write, or the reason why the header cannot be written.
    fn checked_instruction(&self) -> Result<Instruction, BuildError> {
        if self.address > ADDRESS_MAX {
            return Err(BuildError::Address { address: self.address });
        }
        if self.length > LENGTH_MAX {
            return Err(BuildError::Length { length: self.length as usize });
        }
        let instruction = self.instruction.with_words(self.reply_address.words());
        match instruction.packet_type() {
            PacketType::Reply => Err(BuildError::Instruction { instruction }),
            _ => Ok(instruction),
        }
    }

    /// Writes path, header and, if the command has data, the parts of the data with their CRC.
    pub fn write_packet(
        &self,
        path: &[u8],
        parts: [&[u8]; 2],
        out: &mut [u8],
    ) -> Result<usize, BuildError> {
        let instruction = self.checked_instruction()?;
        let operation = match (instruction.packet_type(), instruction.operation()) {
            (PacketType::Command, Some(operation)) => operation,
            _ => return Err(BuildError::Instruction { instruction }),
        };
        let bytes = parts[0].len().saturating_add(parts[1].len());
        let expected = if operation.carries_data() { self.length as usize } else { 0 };
        if bytes != expected {
            return Err(BuildError::Data { bytes, expected });
        }
        let tail = if operation.carries_data() { bytes + 1 } else { 0 };
        let packet = room(out, path.len() + self.bytes() + tail)?;
        let needed = packet.len();
        self.write(packet.get_mut(path.len()..).unwrap_or_default())?;
        gather(packet, &[path]);
        if operation.carries_data() {
            let sum = parts.iter().fold(RmapCrc::new(), |sum, part| sum.bytes(part)).value();
            let place = packet.get_mut(path.len() + self.bytes()..).unwrap_or_default();
            gather(place, &[parts[0], parts[1], &[sum]]);
        }
        Ok(needed)
    }
}

/// A complete command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapCommand<'a> {
    /// Header of the command.
    pub header: CommandHeader,
    /// Data without CRC; for a read-modify-write the data, then the mask of the same length.
    pub data: &'a [u8],
}

impl<'a> RmapCommand<'a> {
    /// Parses a packet that starts at its target logical address.
    pub fn parse(packet: &'a [u8], end: PacketEnd) -> Result<Self, PacketError> {
        let header = CommandHeader::parse(packet)?;
        let instruction = header.instruction;
        let operation = match (instruction.packet_type(), instruction.operation()) {
            (PacketType::Command, Some(operation)) => operation,
            _ => return Err(PacketError::Code { instruction }),
        };
        let rest = packet.get(header.bytes()..).unwrap_or(&[]);
        if operation.carries_data() {
            return Ok(Self { header, data: body::data(rest, header.length, end)? });
        }
        body::nothing(rest, end)?;
        Ok(Self { header, data: &[] })
    }

    /// Writes the path bytes and the packet. Returns the number of bytes written.
    pub fn write(&self, path: &[u8], out: &mut [u8]) -> Result<usize, BuildError> {
        self.header.write_packet(path, [self.data, &[]], out)
    }
}
