//! CCSDS packet transfer protocol (ECSS-E-ST-50-53C): space packets in SpaceWire packets.
//!
//! Four bytes go in front of a space packet: target logical address, protocol identifier 2, a
//! reserved zero, and the user application value. There is no CRC, no reply, no retry and no
//! segmentation: one packet, one transfer.

pub mod space_packet;

pub use space_packet::{PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, SpacePacketError};

use crate::packet::{NoRoom, PacketEnd, put};
use core::fmt;

/// The protocol identifier of CCSDS packet transfer (50-51C).
pub const PID: u8 = 2;
/// Bytes in front of the space packet.
pub const HEADER: usize = 4;

/// One transfer, as a user asks for it and as another one gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// Target logical address.
    pub target: u8,
    /// User application: its meaning is the mission's, 0 if it has none.
    pub user_application: u8,
    /// The space packet, unchanged.
    pub cargo: &'a [u8],
}

/// Why a packet is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferError {
    /// The network cut it; nothing in it was looked at.
    Eep {
        /// Bytes that came.
        bytes: usize,
    },
    /// It ends in the header.
    Short {
        /// Bytes that came.
        bytes: usize,
    },
    /// Another protocol: one that may want it.
    Protocol {
        /// Its identifier.
        pid: u8,
    },
    /// The reserved byte is not zero.
    Reserved {
        /// Its value.
        value: u8,
    },
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eep { bytes } => {
                write!(f, "packet transfer: error end of packet behind {bytes} bytes")
            }
            Self::Short { bytes } => {
                write!(f, "packet transfer: packet of {bytes} bytes, {HEADER} needed")
            }
            Self::Protocol { pid } => {
                write!(f, "protocol identifier: {pid}, packet transfer has {PID}")
            }
            Self::Reserved { value } => {
                write!(f, "packet transfer: reserved byte {value}, 0 expected")
            }
        }
    }
}

impl core::error::Error for TransferError {}

impl<'a> Transfer<'a> {
    /// Reads a packet that starts at its target logical address. The cargo is delivered whatever it
    /// is; what is wrong with it [`Transfer::space_packet`] says.
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

    /// The cargo as a space packet: an error is reported beside the delivery, and nothing repaired.
    pub fn space_packet(&self) -> Result<SpacePacket<'a>, SpacePacketError> {
        SpacePacket::parse(self.cargo)
    }

    /// Writes the packet behind the bytes of its path; returns how many bytes it wrote. The cargo is
    /// the user's and goes as it is.
    pub fn write(&self, path: &[u8], out: &mut [u8]) -> Result<usize, NoRoom> {
        let header = [self.target, PID, 0, self.user_application];
        put(out, &[path, &header, self.cargo])
    }
}

/// What a receiver counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransferCounters {
    /// Transfers delivered, those with an invalid space packet included.
    pub delivered: u64,
    /// Of them, those whose cargo is no valid space packet.
    pub invalid_cargo: u64,
    /// Packets cut by the network.
    pub eep: u64,
    /// Packets that end in the header.
    pub short: u64,
    /// Packets whose reserved byte is not zero.
    pub reserved: u64,
}

/// A receiver: [`Transfer::parse`] with counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferReceiver {
    counters: TransferCounters,
}

/// What a receiver hands to its user: the indication of 50-53C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferIndication<'a> {
    /// The transfer, its cargo unchanged.
    pub transfer: Transfer<'a>,
    /// Whether the cargo is a valid space packet.
    pub space_packet: Result<SpacePacket<'a>, SpacePacketError>,
}

impl TransferReceiver {
    /// What it counted.
    pub const fn counters(&self) -> &TransferCounters {
        &self.counters
    }

    /// Takes a packet that starts at its target logical address.
    ///
    /// # Errors
    ///
    /// The packet is not delivered. It was counted, unless it is of another protocol.
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
