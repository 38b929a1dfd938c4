//! Headers, and the payload behind them.

use super::opcode::RESPONSE;
use super::{
    Flags, HEADER_MAX, HEADER_MIN, Opcode, PAYLOAD_CRC_BYTES, PID, REPLY_PATH_MAX, SfrpStatus,
    VC_OF_ARRIVAL, VERSION, crc,
};
use crate::packet::{NoRoom, PacketEnd, room};
use core::fmt;

/// Bytes before the reply path.
const FIXED: usize = 38;
/// Unit of the header length.
const UNIT: usize = 8;

/// Path bytes that the target puts before a response.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplyPath {
    bytes: [u8; REPLY_PATH_MAX],
    length: u8,
}

/// A reply path that does not fit a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyPathTooLong {
    /// Its length in bytes.
    pub bytes: usize,
}

impl fmt::Display for ReplyPathTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reply path of {} bytes: at most {REPLY_PATH_MAX} allowed", self.bytes)
    }
}

impl core::error::Error for ReplyPathTooLong {}

impl ReplyPath {
    /// A path.
    ///
    /// # Errors
    /// More than 24 bytes.
    pub fn new(path: &[u8]) -> Result<Self, ReplyPathTooLong> {
        let mut reply = Self::default();
        let place = reply.bytes.get_mut(..path.len());
        place.ok_or(ReplyPathTooLong { bytes: path.len() })?.copy_from_slice(path);
        reply.length = path.len() as u8;
        Ok(reply)
    }

    /// The bytes of the path.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Debug for ReplyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x?}", self.as_bytes())
    }
}

/// Header of a packet. Offsets in the packet count from the receiver's logical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfrpHeader {
    /// Logical address of the receiver of this packet.
    pub receiver: u8,
    /// Protocol identifier.
    pub protocol: u8,
    /// Version of the protocol.
    pub version: u8,
    /// Code of the opcode, with the bit of a response.
    pub code: u8,
    /// Flags.
    pub flags: Flags,
    /// In a response its status; in a request the virtual channel for the response.
    pub status: u8,
    /// Logical address of the sender of this packet.
    pub sender: u8,
    /// Path of the response; empty in responses.
    pub reply_path: ReplyPath,
    /// Queue pair of the sender.
    pub sender_queue: u16,
    /// Queue pair of the receiver; 0 is a target without queue pairs, and questions to any target.
    pub receiver_queue: u16,
    /// Number that the initiator has given to the request.
    pub request: u32,
    /// Key of the remote region, or 0.
    pub key: u32,
    /// Bytes of payload in this packet; in a READ request, number of bytes wanted.
    pub length: u32,
    /// Remote address; in SEND the length of the message << 32 | offset of this packet; in READ data
    /// the offset; in other responses the number of bytes executed.
    pub address: u64,
    /// Immediate data, or a value that belongs to the opcode or status.
    pub immediate: u32,
    /// Number of the message in the sequence of its queue pair.
    pub sequence: u16,
}

impl SfrpHeader {
    /// A request of this opcode, all other fields zero, with the response on the virtual channel of
    /// arrival.
    pub const fn request(opcode: Opcode) -> Self {
        let reply_path = ReplyPath { bytes: [0; REPLY_PATH_MAX], length: 0 };
        Self {
            receiver: 0,
            protocol: PID,
            version: VERSION,
            code: opcode as u8,
            flags: Flags::NONE,
            status: VC_OF_ARRIVAL,
            sender: 0,
            reply_path,
            sender_queue: 0,
            receiver_queue: 0,
            request: 0,
            key: 0,
            length: 0,
            address: 0,
            immediate: 0,
            sequence: 0,
        }
    }

    /// The response to this request, one packet without payload.
    pub fn response(&self, status: SfrpStatus) -> Self {
        Self {
            receiver: self.sender,
            version: VERSION,
            code: self.code | RESPONSE,
            flags: Flags::FIRST | Flags::LAST,
            status: status.0,
            sender: self.receiver,
            reply_path: ReplyPath::default(),
            sender_queue: self.receiver_queue,
            receiver_queue: self.sender_queue,
            length: 0,
            address: 0,
            immediate: 0,
            ..*self
        }
    }

    /// The opcode, if it is known.
    pub fn opcode(&self) -> Option<Opcode> {
        Opcode::of(self.code)
    }

    /// Whether this is a response.
    pub const fn is_response(&self) -> bool {
        self.code & RESPONSE != 0
    }

    /// Whether the flags contain all of these.
    pub const fn has(&self, flags: Flags) -> bool {
        self.flags.has(flags)
    }

    /// Length of the header in bytes.
    pub const fn bytes(&self) -> usize {
        (HEADER_MIN + self.reply_path.length as usize).next_multiple_of(UNIT)
    }

    /// Bytes of payload behind the header.
    pub fn payload_bytes(&self) -> usize {
        let carries = match self.opcode() {
            Some(opcode) if self.is_response() => self.status == 0 && opcode.response_has_payload(),
            Some(opcode) => opcode.request_has_payload(),
            None => false,
        };
        if carries { self.length as usize } else { 0 }
    }

    /// Bytes of the whole packet.
    pub fn packet_bytes(&self) -> usize {
        let crc = if self.has(Flags::PAYLOAD_CRC) { PAYLOAD_CRC_BYTES } else { 0 };
        self.bytes().saturating_add(self.payload_bytes()).saturating_add(crc)
    }

    /// Reads the header of a packet whose path bytes are stripped.
    ///
    /// # Errors
    /// Why the packet is to be discarded without a response: nothing in it can be trusted, the
    /// return address included.
    pub fn parse(packet: &[u8]) -> Result<Self, SfrpHeaderError> {
        let short = |needed| SfrpHeaderError::Short { bytes: packet.len(), needed };
        let Some(fixed) = packet.first_chunk::<HEADER_MIN>() else { return Err(short(HEADER_MIN)) };
        let (version, units) = (fixed[2] >> 4, fixed[2] & 0x0f);
        let bytes = usize::from(units) * UNIT;
        if !(HEADER_MIN..=HEADER_MAX).contains(&bytes) {
            return Err(SfrpHeaderError::Length { units });
        }
        let header = packet.get(..bytes).ok_or(short(bytes))?;
        if crc::header(header) != 0 {
            return Err(SfrpHeaderError::Crc);
        }
        let (path, padding) = header[FIXED..bytes - 2]
            .split_at_checked(usize::from(fixed[7]))
            .ok_or(SfrpHeaderError::Layout)?;
        let half = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        let parsed = Self {
            receiver: fixed[0],
            protocol: fixed[1],
            version,
            code: fixed[3],
            flags: Flags(fixed[4]),
            status: fixed[5],
            sender: fixed[6],
            reply_path: ReplyPath::new(path).map_err(|_| SfrpHeaderError::Layout)?,
            sender_queue: half(8),
            receiver_queue: half(10),
            request: word(12),
            key: word(16),
            length: word(20),
            address: u64::from(word(24)) << 32 | u64::from(word(28)),
            immediate: word(32),
            sequence: half(36),
        };
        // Later versions may use these bits; they keep the first 38 bytes.
        let strict = parsed.bytes() == bytes
            && padding.iter().all(|byte| *byte == 0)
            && !parsed.has(Flags::RESERVED)
            && (path.is_empty() || !parsed.is_response())
            && (parsed.payload_bytes() > 0 || !parsed.has(Flags::PAYLOAD_CRC));
        if version == VERSION && !strict {
            return Err(SfrpHeaderError::Layout);
        }
        Ok(parsed)
    }

    /// The payload behind this header, complete and intact.
    ///
    /// # Errors
    /// The status with which a target refuses the packet.
    pub fn payload<'a>(&self, packet: &'a [u8], end: PacketEnd) -> Result<&'a [u8], SfrpStatus> {
        let (bytes, behind) = (self.payload_bytes(), packet.get(self.bytes()..).unwrap_or(&[]));
        if end == PacketEnd::Eep {
            return Err(SfrpStatus::EEP);
        }
        let with_crc = self.packet_bytes().saturating_sub(self.bytes());
        if behind.len() < with_crc {
            return Err(SfrpStatus::SHORT);
        }
        if behind.len() > with_crc {
            return Err(SfrpStatus::LONG);
        }
        let (payload, found) = behind.split_at_checked(bytes).ok_or(SfrpStatus::SHORT)?;
        if bytes > 0 && found != crc::payload(payload).to_be_bytes() {
            return Err(SfrpStatus::PAYLOAD_CRC);
        }
        Ok(payload)
    }

    /// Writes the packet: header, payload, and the payload's CRC if its flag is set.
    ///
    /// # Errors
    /// The buffer is too small; nothing was written.
    ///
    /// # Panics
    /// Never: a payload of another length than the header says is cut or filled with zeros.
    pub fn encode(&self, payload: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        self.encode_with(out, |place| {
            let bytes = payload.len().min(place.len());
            place[..bytes].copy_from_slice(&payload[..bytes]);
            place[bytes..].fill(0);
            Ok(())
        })
    }

    /// Writes the packet, with a payload that `fill` writes in place.
    ///
    /// # Errors
    /// The buffer is too small, or the error of `fill`.
    pub fn encode_with<E: From<NoRoom>>(
        &self,
        out: &mut [u8],
        fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
    ) -> Result<usize, E> {
        let packet = room(out, self.packet_bytes())?;
        let total = packet.len();
        let (header, behind) = packet.split_at_mut(self.bytes());
        self.put(header);
        let (payload, crc) = behind.split_at_mut(self.payload_bytes().min(behind.len()));
        fill(payload)?;
        if crc.len() == PAYLOAD_CRC_BYTES {
            crc.copy_from_slice(&crc::payload(payload).to_be_bytes());
        }
        Ok(total)
    }

    /// Writes the header into as many bytes as it has.
    fn put(&self, header: &mut [u8]) {
        let path = self.reply_path.as_bytes();
        header.fill(0);
        header[0] = self.receiver;
        header[1] = self.protocol;
        header[2] = self.version << 4 | (header.len() / UNIT) as u8;
        header[3] = self.code;
        header[4] = self.flags.0;
        header[5] = self.status;
        header[6] = self.sender;
        header[7] = path.len() as u8;
        header[8..10].copy_from_slice(&self.sender_queue.to_be_bytes());
        header[10..12].copy_from_slice(&self.receiver_queue.to_be_bytes());
        header[12..16].copy_from_slice(&self.request.to_be_bytes());
        header[16..20].copy_from_slice(&self.key.to_be_bytes());
        header[20..24].copy_from_slice(&self.length.to_be_bytes());
        header[24..32].copy_from_slice(&self.address.to_be_bytes());
        header[32..36].copy_from_slice(&self.immediate.to_be_bytes());
        header[36..FIXED].copy_from_slice(&self.sequence.to_be_bytes());
        header[FIXED..FIXED + path.len()].copy_from_slice(path);
        let at = header.len() - 2;
        let crc = crc::header(&header[..at]);
        header[at..].copy_from_slice(&crc.to_be_bytes());
    }
}

/// Why a header cannot be trusted. The packet is discarded without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SfrpHeaderError {
    /// The packet ends before its header does.
    Short {
        /// Bytes of the packet.
        bytes: usize,
        /// Bytes of the header.
        needed: usize,
    },
    /// The header length is not allowed.
    Length {
        /// The length in units of 8 bytes.
        units: u8,
    },
    /// The CRC of the header is wrong.
    Crc,
    /// The reply path does not fit the header length, or a reserved bit is set.
    Layout,
}

impl fmt::Display for SfrpHeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { bytes, needed } => {
                write!(f, "SFRP header: packet of {bytes} bytes, {needed} needed")
            }
            Self::Length { units } => {
                write!(f, "SFRP header length: {units} units of 8 bytes, 5 to 8 allowed")
            }
            Self::Crc => write!(f, "SFRP header: its CRC is wrong"),
            Self::Layout => write!(
                f,
                "SFRP header: the reply path does not fit its length, or a reserved bit is set"
            ),
        }
    }
}

impl core::error::Error for SfrpHeaderError {}
