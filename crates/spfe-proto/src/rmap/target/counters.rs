//! Counters of a target.

use super::super::{CommandHeader, RmapOperation, RmapStatus};
use core::fmt;

/// Reason why a packet is discarded without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetDiscard {
    /// Not RMAP; another protocol may use the packet.
    Protocol {
        /// Protocol identifier.
        pid: u8,
    },
    /// A reply, for an initiator.
    Reply,
    /// The packet ends within its header (5.3.3.4.2).
    EarlyEop,
    /// The network cut the packet within its header (5.3.3.4.2).
    EarlyEep,
    /// The network cut the packet directly after its header (5.3.3.4.3).
    EepAfterHeader,
    /// The header CRC is wrong, so the reply address cannot be trusted (5.3.3.4.5).
    HeaderCrc,
    /// The packet type is reserved (5.3.3.4.6).
    ReservedType,
}

impl fmt::Display for TargetDiscard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Protocol { pid } => {
                return write!(f, "protocol identifier: {pid}, 1 (RMAP) expected");
            }
            Self::Reply => "reply received by target",
            Self::EarlyEop => "end of packet in header",
            Self::EarlyEep => "error end of packet in header",
            Self::EepAfterHeader => "error end of packet directly after header",
            Self::HeaderCrc => "invalid header CRC",
            Self::ReservedType => "reserved packet type",
        })
    }
}

/// Counters of packets and commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the status or discard of its name")]
pub struct TargetCounters {
    /// Commands executed with status 0, by kind.
    pub reads: u64,
    pub writes: u64,
    pub modifies: u64,
    /// Replies written, including error replies.
    pub replies: u64,
    /// Packets discarded without a reply, by reason.
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

impl TargetCounters {
    pub(super) fn discarded(&mut self, discard: TargetDiscard) {
        *match discard {
            TargetDiscard::Protocol { .. } => &mut self.other_protocol,
            TargetDiscard::Reply => &mut self.reply_received,
            TargetDiscard::EarlyEop => &mut self.early_eop_in_header,
            TargetDiscard::EarlyEep => &mut self.early_eep_in_header,
            TargetDiscard::EepAfterHeader => &mut self.eep_after_header,
            TargetDiscard::HeaderCrc => &mut self.header_crc,
            TargetDiscard::ReservedType => &mut self.reserved_type,
        } += 1;
    }

    pub(super) fn executed(
        &mut self,
        command: &CommandHeader,
        result: Result<u32, RmapStatus>,
        replied: bool,
    ) {
        self.replies += u64::from(replied);
        *match (result, command.instruction.operation()) {
            (Err(status), _) => self.refused(status),
            (Ok(_), Some(RmapOperation::Read { .. })) => &mut self.reads,
            (Ok(_), Some(RmapOperation::ReadModifyWrite)) => &mut self.modifies,
            (Ok(_), _) => &mut self.writes,
        } += 1;
    }

    fn refused(&mut self, status: RmapStatus) -> &mut u64 {
        match status {
            RmapStatus::UNUSED_TYPE_OR_CODE => &mut self.unused_type_or_code,
            RmapStatus::INVALID_KEY => &mut self.invalid_key,
            RmapStatus::INVALID_DATA_CRC => &mut self.invalid_data_crc,
            RmapStatus::EARLY_EOP => &mut self.early_eop,
            RmapStatus::TOO_MUCH_DATA => &mut self.too_much_data,
            RmapStatus::EEP => &mut self.eep,
            RmapStatus::VERIFY_BUFFER_OVERRUN => &mut self.verify_buffer_overrun,
            RmapStatus::NOT_AUTHORISED => &mut self.not_authorised,
            RmapStatus::RMW_DATA_LENGTH => &mut self.rmw_data_length,
            RmapStatus::INVALID_LOGICAL_ADDRESS => &mut self.invalid_logical_address,
            _ => &mut self.general_error,
        }
    }
}
