//! Counters of a target.

use super::{Dropped, Handled};
use spfe_proto::sfrp::{Opcode, SfrpHeaderError, SfrpStatus};

/// What happened to the packets of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TargetCounts {
    executed: [u64; Opcode::ALL.len()],
    refused: [u64; STATUSES.len()],
    /// Packets of messages that were executed before.
    pub repeated: u64,
    /// Packets of other protocols.
    pub other_protocol: u64,
    /// Packets that ended in their header.
    pub short_header: u64,
    /// Packets with a header length that is not allowed.
    pub header_length: u64,
    /// Packets with a wrong header CRC.
    pub header_crc: u64,
    /// Packets whose header contradicts itself.
    pub header_layout: u64,
    /// Packets for another logical address.
    pub not_ours: u64,
    /// Packets after a refusal or a gap that was reported.
    pub drained: u64,
    /// Repeated atomic operations whose result is no longer kept.
    pub forgotten: u64,
    /// Notifications lost because nobody read them in time.
    pub notifications_dropped: u64,
}

/// Statuses with a counter; the last one also counts all others.
const STATUSES: [(SfrpStatus, &str); 18] = [
    (SfrpStatus::BAD_VERSION, "bad_version"),
    (SfrpStatus::BAD_OPCODE, "bad_opcode"),
    (SfrpStatus::BAD_KEY, "bad_key"),
    (SfrpStatus::BOUNDS, "bounds"),
    (SfrpStatus::ACCESS, "access"),
    (SfrpStatus::BAD_LENGTH, "bad_length"),
    (SfrpStatus::RECEIVER_NOT_READY, "receiver_not_ready"),
    (SfrpStatus::MESSAGE_TOO_LONG, "message_too_long"),
    (SfrpStatus::PAYLOAD_CRC, "payload_crc"),
    (SfrpStatus::SHORT, "short"),
    (SfrpStatus::LONG, "long"),
    (SfrpStatus::EEP, "eep"),
    (SfrpStatus::MEMORY, "memory"),
    (SfrpStatus::BUSY, "busy"),
    (SfrpStatus::BAD_QUEUE, "bad_queue"),
    (SfrpStatus::SEQUENCE, "sequence"),
    (SfrpStatus::REVOKED, "revoked"),
    (SfrpStatus::GENERAL, "general"),
];

const EXECUTED: [&str; Opcode::ALL.len()] = [
    "writes",
    "reads",
    "sends",
    "fetch_adds",
    "compare_swaps",
    "flushes",
    "infos",
    "region_lists",
    "credits",
    "connects",
    "disconnects",
];

fn slot(status: SfrpStatus) -> usize {
    STATUSES.iter().position(|(known, _)| *known == status).unwrap_or(STATUSES.len() - 1)
}

impl TargetCounts {
    /// Packets executed with this opcode; a message of several packets counts each.
    pub fn executed(&self, opcode: Opcode) -> u64 {
        self.executed[opcode as usize - 1]
    }

    /// Packets refused with this status.
    pub fn refused(&self, status: SfrpStatus) -> u64 {
        self.refused[slot(status)]
    }

    /// Every counter with its name.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let executed = EXECUTED.into_iter().zip(self.executed);
        let refused = STATUSES.iter().map(|(_, name)| *name).zip(self.refused);
        let others = [
            ("repeated", self.repeated),
            ("other_protocol", self.other_protocol),
            ("short_header", self.short_header),
            ("header_length", self.header_length),
            ("header_crc", self.header_crc),
            ("header_layout", self.header_layout),
            ("not_ours", self.not_ours),
            ("drained", self.drained),
            ("forgotten", self.forgotten),
            ("notifications_dropped", self.notifications_dropped),
        ];
        executed.chain(refused).chain(others).collect()
    }

    /// Packets executed, repeated, refused, and discarded.
    pub fn totals(&self) -> [u64; 4] {
        let discarded = [
            self.other_protocol,
            self.short_header,
            self.header_length,
            self.header_crc,
            self.header_layout,
            self.not_ours,
            self.drained,
            self.forgotten,
        ];
        let [executed, refused] = [&self.executed[..], &self.refused[..]].map(|of| of.iter().sum());
        [executed, self.repeated, refused, discarded.iter().sum()]
    }

    /// Counts packets that were executed.
    pub(super) fn add_executed(&mut self, opcode: Opcode, packets: u64) {
        self.executed[opcode as usize - 1] += packets;
    }

    pub(super) fn count(&mut self, handled: Handled) {
        let counter = match handled {
            Handled::Executed(opcode) => &mut self.executed[opcode as usize - 1],
            Handled::Refused(status) => &mut self.refused[slot(status)],
            Handled::Repeated(_) => &mut self.repeated,
            Handled::ForInitiator => return,
            Handled::Dropped(dropped) => match dropped {
                Dropped::OtherProtocol => &mut self.other_protocol,
                Dropped::Header(SfrpHeaderError::Short { .. }) => &mut self.short_header,
                Dropped::Header(SfrpHeaderError::Length { .. }) => &mut self.header_length,
                Dropped::Header(SfrpHeaderError::Crc) => &mut self.header_crc,
                Dropped::Header(SfrpHeaderError::Layout) => &mut self.header_layout,
                Dropped::NotOurs => &mut self.not_ours,
                Dropped::Drained => &mut self.drained,
                Dropped::Forgotten => &mut self.forgotten,
            },
        };
        *counter += 1;
    }
}
