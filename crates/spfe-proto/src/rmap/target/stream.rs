//! Commands that arrive in pieces, in bounded memory.
//!
//! The data of an unverified write goes to the memory as it arrives. Only data that must be
//! complete before it is used is buffered: that of verified writes and read-modify-writes.

use super::{
    Denial, Execution, REPLY_OVERHEAD, RmapTarget, TargetDiscard, TargetOutcome, status_of,
};
use crate::packet::{NoRoom, PacketEnd, room};
use crate::rmap::body::{self, BodyError};
use crate::rmap::command::{HEADER_MAX, HEADER_MIN};
use crate::rmap::crc::RmapCrc;
use crate::rmap::{CommandHeader, Instruction, Memory, PID, PacketType, RmapOperation, RmapStatus};

/// Data goes to the memory in multiples of this many bytes, except at its end, so that no word up
/// to this size is written in two parts.
pub const UNIT: usize = 16;
/// Bytes of a packet that determine the length of its header.
const FIRST: usize = 3;
/// Bytes buffered after the data: the data CRC, and one byte too many.
const BEHIND: usize = 2;

/// A packet in progress, and the buffer for data that must be complete before it is used. The
/// buffer is two bytes longer than the longest verified write.
#[derive(Clone, Debug)]
pub struct CommandStream<B> {
    buffer: B,
    head: [u8; HEADER_MAX],
    head_bytes: usize,
    state: State,
    /// Bytes received after the header.
    rest: usize,
}

#[derive(Clone, Debug)]
enum State {
    /// The header is not complete.
    Header,
    /// The packet is not for this target.
    Discard(TargetDiscard),
    /// The header was refused.
    Refused(CommandHeader, RmapStatus),
    /// A read: nothing should follow.
    Read(CommandHeader, RmapOperation),
    /// The data is buffered.
    Keep(CommandHeader, RmapOperation),
    /// The data goes to the memory as it arrives.
    Through(CommandHeader, Through),
}

/// Data that goes to the memory as it arrives.
#[derive(Clone, Debug)]
struct Through {
    increment: bool,
    /// CRC over the data and its CRC: 0 at the end.
    crc: RmapCrc,
    /// Bytes written to the memory.
    written: usize,
    /// The last bytes that arrived: at least one, because it may be the data CRC.
    held: [u8; UNIT],
    held_bytes: usize,
    result: Result<(), RmapStatus>,
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> CommandStream<B> {
    /// Creates a stream without a packet in progress.
    pub const fn new(buffer: B) -> Self {
        Self { buffer, head: [0; HEADER_MAX], head_bytes: 0, state: State::Header, rest: 0 }
    }

    /// Whether a packet has begun and not ended.
    pub const fn is_open(&self) -> bool {
        self.head_bytes != 0
    }

    /// Maximum data of a verified write, in bytes.
    fn limit(&self) -> u32 {
        let bytes = self.buffer.as_ref().len().saturating_sub(BEHIND);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    fn header(&self) -> &[u8] {
        self.head.get(..self.head_bytes).unwrap_or(&[])
    }

    /// Bytes of the header still missing, as far as known; `None` if the header is complete.
    fn missing(&self) -> Option<usize> {
        let needed = match self.header() {
            [_, PID, instruction, ..] => {
                let instruction = Instruction(*instruction);
                match instruction.packet_type() {
                    PacketType::Reply => FIRST,
                    _ => HEADER_MIN + instruction.reply_address_bytes(),
                }
            }
            _ => FIRST,
        };
        needed.checked_sub(self.head_bytes).filter(|missing| *missing != 0)
    }

    /// Consumes the header's part of a piece.
    fn take_header<'a>(&mut self, mut piece: &'a [u8]) -> &'a [u8] {
        // Twice, because the first bytes determine the length.
        while let Some(missing) = self.missing().filter(|_| !piece.is_empty()) {
            let (part, rest) = piece.split_at(missing.min(piece.len()));
            let end = self.head_bytes + part.len();
            if let Some(place) = self.head.get_mut(self.head_bytes..end) {
                place.copy_from_slice(part);
            }
            self.head_bytes = end;
            piece = rest;
        }
        piece
    }

    fn keep(&mut self, header: &CommandHeader, piece: &[u8]) {
        let end = (header.length as usize).saturating_add(BEHIND);
        let place = self.buffer.as_mut().get_mut(self.rest.min(end)..end).unwrap_or_default();
        for (to, from) in place.iter_mut().zip(piece) {
            *to = *from;
        }
    }
}

impl RmapTarget {
    /// Processes a piece of a packet that starts at its target logical address. Pieces may have any
    /// length;
    /// [`RmapTarget::end`] processes the end of the packet.
    ///
    /// `allow` is called when the header is complete, before the memory is accessed.
    pub fn piece<B: AsRef<[u8]> + AsMut<[u8]>, M: Memory + ?Sized>(
        &mut self,
        stream: &mut CommandStream<B>,
        piece: &[u8],
        memory: &mut M,
        allow: impl FnOnce(&CommandHeader) -> Result<(), Denial>,
    ) {
        let mut piece = piece;
        if matches!(stream.state, State::Header) {
            piece = stream.take_header(piece);
            if stream.missing().is_some() {
                return;
            }
            stream.state = self.plan_data(stream.header(), allow, stream.limit());
        }
        match &mut stream.state {
            State::Through(header, through) => through.take(header, piece, memory),
            State::Keep(header, _) => {
                let header = *header;
                stream.keep(&header, piece);
            }
            State::Header | State::Discard(_) | State::Refused(..) | State::Read(..) => {}
        }
        stream.rest = stream.rest.saturating_add(piece.len());
    }

    /// Decides what happens to the data of a packet with this header.
    fn plan_data(
        &self,
        header: &[u8],
        allow: impl FnOnce(&CommandHeader) -> Result<(), Denial>,
        limit: u32,
    ) -> State {
        let header = match self.admit(header, PacketEnd::Eop) {
            Ok(header) => header,
            Err(discard) => return State::Discard(discard),
        };
        let limit = limit.min(self.config.verify_bytes);
        match self.decide(&header, allow, limit) {
            Err(status) => State::Refused(header, status),
            Ok(operation @ RmapOperation::Read { .. }) => State::Read(header, operation),
            Ok(RmapOperation::Write { verify: false, increment, .. })
                if !self.config.check_all_writes =>
            {
                State::Through(header, Through::new(increment))
            }
            Ok(_) if header.length > limit => {
                State::Refused(header, RmapStatus::VERIFY_BUFFER_OVERRUN)
            }
            Ok(operation) => State::Keep(header, operation),
        }
    }

    /// Processes the end of a packet, with the same result as [`RmapTarget::handle`] on the whole
    /// packet.
    /// The stream is then ready for the next packet.
    ///
    /// # Errors
    ///
    /// `out` has less than [`REPLY_OVERHEAD`] bytes; nothing was done.
    pub fn end<B: AsRef<[u8]> + AsMut<[u8]>, M: Memory + ?Sized>(
        &mut self,
        stream: &mut CommandStream<B>,
        end: PacketEnd,
        memory: &mut M,
        out: &mut [u8],
    ) -> Result<TargetOutcome, NoRoom> {
        room(out, REPLY_OVERHEAD)?;
        let state = core::mem::replace(&mut stream.state, State::Header);
        let (rest, cut) = (core::mem::take(&mut stream.rest), end == PacketEnd::Eep);
        let (header, result) = match state {
            State::Header => {
                // The header is not complete, so it cannot be admitted.
                let discard = self.admit(stream.header(), end).err();
                stream.head_bytes = 0;
                return Ok(self.discard(discard.unwrap_or(TargetDiscard::EarlyEop)));
            }
            // Before the packet type, because the header is intact either way.
            State::Discard(TargetDiscard::ReservedType)
            | State::Refused(..)
            | State::Read(..)
            | State::Keep(..)
            | State::Through(..)
                if cut && rest == 0 =>
            {
                stream.head_bytes = 0;
                return Ok(self.discard(TargetDiscard::EepAfterHeader));
            }
            State::Discard(discard) => {
                stream.head_bytes = 0;
                return Ok(self.discard(discard));
            }
            State::Refused(header, status) => (header, Err(status)),
            State::Read(header, operation) => {
                let rest = [0].get(..rest.min(1)).unwrap_or(&[]);
                let execution = Execution { header: &header, rest, end, config: &self.config };
                (header, execution.run(operation, memory, out))
            }
            State::Keep(header, operation) => {
                let kept = rest.min((header.length as usize).saturating_add(BEHIND));
                let rest = stream.buffer.as_ref().get(..kept).unwrap_or(&[]);
                let execution = Execution { header: &header, rest, end, config: &self.config };
                (header, execution.run(operation, memory, out))
            }
            State::Through(header, through) => {
                let result = through.finish(&header, rest, end, memory);
                (header, result.map(|()| 0))
            }
        };
        stream.head_bytes = 0;
        self.conclude(header, result, out)
    }
}

impl Through {
    fn new(increment: bool) -> Self {
        let (held, result) = ([0; UNIT], Ok(()));
        Self { increment, crc: RmapCrc::new(), written: 0, held, held_bytes: 0, result }
    }

    /// Processes data and the data CRC after it.
    fn take<M: Memory + ?Sized>(&mut self, header: &CommandHeader, piece: &[u8], memory: &mut M) {
        let due = (header.length as usize).saturating_sub(self.written + self.held_bytes);
        self.crc = self.crc.bytes(piece);
        self.pass(header, piece.get(..due.min(piece.len())).unwrap_or(&[]), memory);
    }

    /// Writes whole units, and holds at least one byte back.
    fn pass<M: Memory + ?Sized>(
        &mut self,
        header: &CommandHeader,
        mut data: &[u8],
        memory: &mut M,
    ) {
        let there = self.held_bytes + data.len();
        let mut due = there.saturating_sub(1) / UNIT * UNIT;
        if due != 0 && self.held_bytes != 0 {
            let (part, rest) = data.split_at((UNIT - self.held_bytes).min(data.len()));
            self.hold(part);
            data = rest;
            let held = self.held;
            self.write(header, &held, memory);
            self.held_bytes = 0;
            due -= UNIT;
        }
        let (part, rest) = data.split_at(due.min(data.len()));
        self.write(header, part, memory);
        self.hold(rest);
    }

    fn hold(&mut self, part: &[u8]) {
        let end = self.held_bytes + part.len();
        if let Some(place) = self.held.get_mut(self.held_bytes..end) {
            place.copy_from_slice(part);
        }
        self.held_bytes = end.min(UNIT);
    }

    fn write<M: Memory + ?Sized>(&mut self, header: &CommandHeader, data: &[u8], memory: &mut M) {
        if data.is_empty() {
            return;
        }
        let offset = if self.increment { self.written as u64 } else { 0 };
        self.written += data.len();
        if self.result.is_ok() {
            let address = header.address.saturating_add(offset);
            self.result = memory.write(address, self.increment, data).map_err(status_of);
        }
    }

    /// Writes the bytes held back, except a byte that may be the data CRC.
    fn finish<M: Memory + ?Sized>(
        mut self,
        header: &CommandHeader,
        rest: usize,
        end: PacketEnd,
        memory: &mut M,
    ) -> Result<(), RmapStatus> {
        let length = header.length as usize;
        let sure = if rest > length { self.held_bytes } else { self.held_bytes.saturating_sub(1) };
        let held = self.held;
        self.write(header, held.get(..sure).unwrap_or(&[]), memory);
        body::ending(rest, length.saturating_add(1), end).map_err(BodyError::status)?;
        match self.crc.value() {
            0 => self.result,
            _ => Err(RmapStatus::INVALID_DATA_CRC),
        }
    }
}
