//! Replies (50-52C 5.3.2, 5.4.2, 5.5.2).

use super::crc::crc;
use super::{
    BuildError, HeaderError, Instruction, LENGTH_MAX, PID, PacketError, PacketType, RmapStatus,
    body,
};
use crate::packet::{PacketEnd, gather, put, room};

/// Header of a write reply in bytes; it is the whole reply.
pub const WRITE_HEADER: usize = 8;
/// Header of a read or read-modify-write reply in bytes.
pub const READ_HEADER: usize = 12;

/// The header of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyHeader {
    /// Initiator logical address: the destination of the reply.
    pub initiator: u8,
    /// The instruction of the command with packet type 00.
    pub instruction: Instruction,
    /// Result of the command.
    pub status: RmapStatus,
    /// Target logical address of the command.
    pub target: u8,
    /// Transaction identifier of the command.
    pub transaction: u16,
    /// Data length in bytes, 24 bits; 0 in the reply to a write, which has no such field.
    pub length: u32,
}

impl ReplyHeader {
    /// Parses the header of a reply. Checks the CRC but not the command code.
    pub fn parse(packet: &[u8]) -> Result<Self, HeaderError> {
        let instruction = super::instruction_of(packet, WRITE_HEADER)?;
        if instruction.packet_type() != PacketType::Reply {
            return Err(HeaderError::PacketType { instruction });
        }
        let needed = if instruction.is_write() { WRITE_HEADER } else { READ_HEADER };
        let short = HeaderError::Short { bytes: packet.len(), needed };
        let header = packet.get(..needed).ok_or(short)?;
        let (found, fields) = header.split_last().ok_or(short)?;
        super::check_header(header, *found)?;
        let ([initiator, _, _, status, target, t1, t0], rest) =
            fields.split_first_chunk().ok_or(short)?;
        let length = match rest {
            [0, l2, l1, l0] => u32::from_be_bytes([0, *l2, *l1, *l0]),
            [value, _, _, _] => return Err(HeaderError::Reserved { value: *value }),
            _ => 0,
        };
        Ok(Self {
            initiator: *initiator,
            instruction,
            status: RmapStatus(*status),
            target: *target,
            transaction: u16::from_be_bytes([*t1, *t0]),
            length,
        })
    }

    /// Bytes of the header, including its CRC.
    pub const fn bytes(&self) -> usize {
        if self.instruction.is_write() { WRITE_HEADER } else { READ_HEADER }
    }

    /// Writes the header with its CRC. Returns [`ReplyHeader::bytes`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, BuildError> {
        let instruction = self.checked_instruction()?;
        let [t1, t0] = self.transaction.to_be_bytes();
        let [_, l2, l1, l0] = self.length.to_be_bytes();
        let (initiator, target, status) = (self.initiator, self.target, self.status.0);
        let fields = [initiator, PID, instruction.0, status, target, t1, t0, 0, l2, l1, l0];
        let fields = fields.get(..self.bytes() - 1).unwrap_or(&[]);
        Ok(put(out, &[fields, &[crc(fields)]])?)
    }

    /// The instruction, or the reason why the header cannot be written.
    fn checked_instruction(&self) -> Result<Instruction, BuildError> {
        let instruction = self.instruction;
        if instruction.packet_type() != PacketType::Reply {
            return Err(BuildError::Instruction { instruction });
        }
        let limit = if instruction.is_write() { 0 } else { LENGTH_MAX };
        match self.length > limit {
            true => Err(BuildError::Length { length: self.length as usize }),
            false => Ok(instruction),
        }
    }
}

/// A complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmapReply<'a> {
    /// Header of the reply.
    pub header: ReplyHeader,
    /// Data without CRC; empty in the reply to a write.
    pub data: &'a [u8],
}

impl<'a> RmapReply<'a> {
    /// Parses a packet that starts at its initiator logical address.
    pub fn parse(packet: &'a [u8], end: PacketEnd) -> Result<Self, PacketError> {
        let header = ReplyHeader::parse(packet)?;
        let rest = packet.get(header.bytes()..).unwrap_or(&[]);
        if header.instruction.is_write() {
            body::nothing(rest, end)?;
            return Ok(Self { header, data: &[] });
        }
        Ok(Self { header, data: body::data(rest, header.length, end)? })
    }

    /// Writes the path bytes and the packet. Returns the number of bytes written.
    pub fn write(&self, path: &[u8], out: &mut [u8]) -> Result<usize, BuildError> {
        self.header.checked_instruction()?;
        let (bytes, expected) = (self.data.len(), self.header.length as usize);
        if bytes != expected {
            return Err(BuildError::Data { bytes, expected });
        }
        let tail = if self.header.instruction.is_write() { 0 } else { bytes + 1 };
        let packet = room(out, path.len() + self.header.bytes() + tail)?;
        let needed = packet.len();
        self.header.write(packet.get_mut(path.len()..).unwrap_or_default())?;
        gather(packet, &[path]);
        if tail != 0 {
            let place = packet.get_mut(path.len() + self.header.bytes()..).unwrap_or_default();
            gather(place, &[self.data, &[crc(self.data)]]);
        }
        Ok(needed)
    }
}
