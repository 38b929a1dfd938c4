//! CCSDS packet transfer protocol (ECSS-E-ST-50-53C): space packets in SpaceWire packets.
//!
//! Four bytes precede the space packet: target logical address, protocol identifier 2, a reserved
//! zero, and the user application value. The protocol has no CRC, reply, retry or segmentation: one
//! packet is one transfer.

pub mod space_packet;

pub use space_packet::{PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, SpacePacketError};

use crate::packet::{NoRoom, PacketEnd, put};
use core::fmt;

/// Protocol identifier of CCSDS packet transfer (50-51C).
pub const PID: u8 = 2;
/// Bytes before the space packet.
pub const HEADER: usize = 4;

/// One transfer: the request of the sending user, and the indication to the receiving user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// Target logical address.
    pub target: u8,
    /// User application value, defined by the mission; 0 if it defines none.
    pub user_application: u8,
    /// The space packet, unchanged.
    pub cargo: &'a [u8],
}

/// Reason why a packet is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferError {
    /// The network cut the packet; its content was not examined.
    Eep {
        /// Bytes received.
        bytes: usize,
    },
    /// The packet ends within the header.
    Short {
        /// Bytes received.
        bytes: usize,
    },
    /// The packet belongs to another protocol.
    Protocol {
        /// Protocol identifier.
        pid: u8,
    },
    /// The reserved byte is not zero.
    Reserved {
        /// Value of the reserved byte.
        value: u8,
    },
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eep { bytes } => {
                write!(f, "packet transfer: error end of packet after {bytes} bytes")
            }
            Self::Short { bytes } => {
                write!(f, "packet transfer: packet of {bytes} bytes, {HEADER} needed")
            }
            Self::Protocol { pid } => {
                write!(f, "protocol identifier: {pid}, {PID} (packet transfer) expected")
            }
            Self::Reserved { value } => {
                write!(f, "packet transfer: reserved byte {value}, 0 expected")
            }
        }
    }
}

impl core::error::Error for TransferError {}

impl<'a> Transfer<'a> {
    /// Parses a packet that starts at its target logical address. Any cargo is delivered;
    /// [`Transfer::space_packet`] checks it.
    pub fn parse(packet: &'a [u8], end: PacketEnd) -> Result<Self, TransferError> {
        let bytes = packet.len();
        if end == PacketEnd::Eep {
            return Err(TransferError::Eep { bytes });
        }
        match packet {
            [target, PID, 0, user_application, cargo @ ..] => {
                Ok(Self { target: *target, user_application: *user_application, cargo })
            }
            [_, PID, value, _, ..] => Err(TransferError::Reserved { value: *value }),
            [_, pid, ..] if *pid != PID => Err(TransferError::Protocol { pid: *pid }),
            _ => Err(TransferError::Short { bytes }),
        }
    }

    /// Parses the cargo as a space packet. An invalid cargo is reported here, but delivered
    /// unchanged.
    pub fn space_packet(&self) -> Result<SpacePacket<'a>, SpacePacketError> {
        SpacePacket::parse(self.cargo)
    }

    /// Writes the path bytes and the packet. Returns the number of bytes written. The cargo is not
    /// checked.
    pub fn write(&self, path: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let header = [self.target, PID, 0, self.user_application];
        put(out, &[path, &header, self.cargo])
    }
}

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferCounters {
    /// Transfers delivered, including those with an invalid space packet.
    pub delivered: u64,
    /// Delivered transfers whose cargo is not a valid space packet.
    pub invalid_cargo: u64,
    /// Packets that the network cut.
    pub eep: u64,
    /// Packets that end within the header.
    pub short: u64,
    /// Packets whose reserved byte is not zero.
    pub reserved: u64,
}

/// A receiver: [`Transfer::parse`] with counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferReceiver {
    counters: TransferCounters,
}

/// A delivered transfer: the indication of 50-53C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferIndication<'a> {
    /// The transfer with its cargo unchanged.
    pub transfer: Transfer<'a>,
    /// The cargo as a space packet, or the reason why it is not valid.
    pub space_packet: Result<SpacePacket<'a>, SpacePacketError>,
}

impl TransferReceiver {
    /// Counters of the receiver.
    pub const fn counters(&self) -> &TransferCounters {
        &self.counters
    }

    /// Processes a packet that starts at its target logical address.
    ///
    /// # Errors
    ///
    /// The packet is not delivered. It is counted, unless it belongs to another protocol.
    pub fn handle<'a>(
        &mut self,
        packet: &'a [u8],
        end: PacketEnd,
    ) -> Result<TransferIndication<'a>, TransferError> {
        let counters = &mut self.counters;
        let transfer = Transfer::parse(packet, end).inspect_err(|error| match error {
            TransferError::Eep { .. } => counters.eep += 1,
            TransferError::Short { .. } => counters.short += 1,
            TransferError::Reserved { .. } => counters.reserved += 1,
            TransferError::Protocol { .. } => {}
        })?;
        let space_packet = transfer.space_packet();
        self.counters.delivered += 1;
        self.counters.invalid_cargo += u64::from(space_packet.is_err());
        Ok(TransferIndication { transfer, space_packet })
    }
}
