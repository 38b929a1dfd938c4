//! Counters of a target.

use super::{Dropped, Handled};
use spfe_contract::PairCounter;
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
const STATUSES: [(SfrpStatus, PairCounter); 18] = [
    (SfrpStatus::BAD_VERSION, PairCounter::TargetBadVersion),
    (SfrpStatus::BAD_OPCODE, PairCounter::TargetBadOpcode),
    (SfrpStatus::BAD_KEY, PairCounter::TargetBadKey),
    (SfrpStatus::BOUNDS, PairCounter::TargetBounds),
    (SfrpStatus::ACCESS, PairCounter::TargetAccess),
    (SfrpStatus::BAD_LENGTH, PairCounter::TargetBadLength),
    (SfrpStatus::RECEIVER_NOT_READY, PairCounter::TargetReceiverNotReady),
    (SfrpStatus::MESSAGE_TOO_LONG, PairCounter::TargetMessageTooLong),
    (SfrpStatus::PAYLOAD_CRC, PairCounter::TargetPayloadCrc),
    (SfrpStatus::SHORT, PairCounter::TargetShort),
    (SfrpStatus::LONG, PairCounter::TargetLong),
    (SfrpStatus::EEP, PairCounter::TargetEep),
    (SfrpStatus::MEMORY, PairCounter::TargetMemory),
    (SfrpStatus::BUSY, PairCounter::TargetBusy),
    (SfrpStatus::BAD_QUEUE, PairCounter::TargetBadQueue),
    (SfrpStatus::SEQUENCE, PairCounter::TargetSequence),
    (SfrpStatus::REVOKED, PairCounter::TargetRevoked),
    (SfrpStatus::GENERAL, PairCounter::TargetGeneral),
];

const EXECUTED: [PairCounter; Opcode::ALL.len()] = [
    PairCounter::TargetWrites,
    PairCounter::TargetReads,
    PairCounter::TargetSends,
    PairCounter::TargetFetchAdds,
    PairCounter::TargetCompareSwaps,
    PairCounter::TargetFlushes,
    PairCounter::TargetInfos,
    PairCounter::TargetRegionLists,
    PairCounter::TargetCredits,
    PairCounter::TargetConnects,
    PairCounter::TargetDisconnects,
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

    /// Every counter with its number in the contract, in the contract's order.
    pub fn numbered(&self) -> impl Iterator<Item = (PairCounter, u64)> + use<> {
        let executed = EXECUTED.into_iter().zip(self.executed);
        let refused = STATUSES.iter().map(|(_, counter)| *counter).zip(self.refused);
        let others = [
            (PairCounter::TargetRepeated, self.repeated),
            (PairCounter::TargetOtherProtocol, self.other_protocol),
            (PairCounter::TargetShortHeader, self.short_header),
            (PairCounter::TargetHeaderLength, self.header_length),
            (PairCounter::TargetHeaderCrc, self.header_crc),
            (PairCounter::TargetHeaderLayout, self.header_layout),
            (PairCounter::TargetNotOurs, self.not_ours),
            (PairCounter::TargetDrained, self.drained),
            (PairCounter::TargetForgotten, self.forgotten),
            (PairCounter::TargetNotificationsDropped, self.notifications_dropped),
        ];
        executed.chain(refused).chain(others)
    }

    /// Every counter with its name: that of the contract, in lower case and without `target_`.
    pub fn named(&self) -> impl Iterator<Item = (String, u64)> + use<> {
        self.numbered().map(|(counter, count)| {
            let name = counter.name().to_ascii_lowercase();
            (name.trim_start_matches("target_").to_owned(), count)
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::initiator::InitiatorCounts;

    #[test]
    fn every_counter_of_the_contract_is_there_once_and_in_order() {
        let own = InitiatorCounts::default().numbered().map(|(counter, _)| counter);
        let others = TargetCounts::default().numbered().map(|(counter, _)| counter).collect();
        assert_eq!([own.to_vec(), others].concat(), PairCounter::ALL);
    }

    #[test]
    fn each_kind_counts_under_its_name() {
        let mut counts = TargetCounts::default();
        counts.add_executed(Opcode::Flush, 2);
        counts.count(Handled::Refused(SfrpStatus::BOUNDS));
        counts.count(Handled::Refused(SfrpStatus(200)));
        counts.count(Handled::Dropped(Dropped::NotOurs));
        counts.count(Handled::Repeated(Opcode::Write));
        let found: Vec<_> = counts.named().filter(|(_, count)| *count != 0).collect();
        let wanted =
            [("flushes", 2), ("bounds", 1), ("general", 1), ("repeated", 1), ("not_ours", 1)];
        assert_eq!(found, wanted.map(|(name, count)| (name.to_owned(), count)));
    }
}
