//! What a target counts.

use super::super::{CommandHeader, Operation, Status};
use core::fmt;

/// Why a packet is thrown away without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// Not RMAP: another protocol may want it.
    Protocol {
        /// Its identifier.
        pid: u8,
    },
    /// A reply: for an initiator.
    Reply,
    /// The packet ends in its header (5.3.3.4.2).
    EarlyEop,
    /// The network cut the packet in its header (5.3.3.4.2).
    EarlyEep,
    /// The network cut the packet directly behind its header (5.3.3.4.3).
    EepAfterHeader,
    /// The header CRC does not match, so the way back cannot be trusted (5.3.3.4.5).
    HeaderCrc,
    /// A reserved packet type (5.3.3.4.6).
    ReservedType,
}

impl fmt::Display for Discard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol { pid } => return write!(f, "protocol identifier: {pid}, RMAP has 1"),
            Self::Reply => "reply received by target",
            Self::EarlyEop => "end of packet in header",
            Self::EarlyEep => "error end of packet in header",
            Self::EepAfterHeader => "error end of packet directly behind header",
            Self::HeaderCrc => "invalid header CRC",
            Self::ReservedType => "reserved packet type",
        })
    }
}

/// Packets and events of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the status or discard of its name")]
pub struct Counters {
    /// Commands executed with status 0, by kind.
    pub reads: u64,
    pub writes: u64,
    pub modifies: u64,
    /// Replies written, those with an error included.
    pub replies: u64,
    /// Packets discarded without a reply.
    pub other_protocol: u64,
    pub reply_received: u64,
    pub early_eop_in_header: u64,
    pub early_eep_in_header: u64,
    pub eep_after_header: u64,
    pub header_crc: u64,
    pub reserved_type: u64,
    /// Commands refused, by status.
    pub general_error: u64,
    pub unused_type_or_code: u64,
    pub invalid_key: u64,
    pub invalid_data_crc: u64,
    pub early_eop: u64,
    pub too_much_data: u64,
    pub eep: u64,
    pub verify_buffer_overrun: u64,
    pub not_authorised: u64,
    pub rmw_data_length: u64,
    pub invalid_logical_address: u64,
}

impl Counters {
    pub(super) fn discarded(&mut self, discard: Discard) {
        *match discard {
            Discard::Protocol { .. } => &mut self.other_protocol,
            Discard::Reply => &mut self.reply_received,
            Discard::EarlyEop => &mut self.early_eop_in_header,
            Discard::EarlyEep => &mut self.early_eep_in_header,
            Discard::EepAfterHeader => &mut self.eep_after_header,
            Discard::HeaderCrc => &mut self.header_crc,
            Discard::ReservedType => &mut self.reserved_type,
        } += 1;
    }

    pub(super) fn executed(
        &mut self,
        command: &CommandHeader,
        result: Result<u32, Status>,
        replied: bool,
    ) {
        self.replies += u64::from(replied);
        *match (result, command.instruction.operation()) {
            (Err(status), _) => self.refused(status),
            (Ok(_), Some(Operation::Read { .. })) => &mut self.reads,
            (Ok(_), Some(Operation::ReadModifyWrite)) => &mut self.modifies,
            (Ok(_), _) => &mut self.writes,
        } += 1;
    }

    fn refused(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::UNUSED_TYPE_OR_CODE => &mut self.unused_type_or_code,
            Status::INVALID_KEY => &mut self.invalid_key,
            Status::INVALID_DATA_CRC => &mut self.invalid_data_crc,
            Status::EARLY_EOP => &mut self.early_eop,
            Status::TOO_MUCH_DATA => &mut self.too_much_data,
            Status::EEP => &mut self.eep,
            Status::VERIFY_BUFFER_OVERRUN => &mut self.verify_buffer_overrun,
            Status::NOT_AUTHORISED => &mut self.not_authorised,
            Status::RMW_DATA_LENGTH => &mut self.rmw_data_length,
            Status::INVALID_LOGICAL_ADDRESS => &mut self.invalid_logical_address,
            _ => &mut self.general_error,
        }
    }
}
