//! Counters of each port of a switch.

use super::ports::DiscardReason;
use super::unit::PacketUnit;

/// Traffic of a port in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTraffic {
    /// Packets, counted by their end markers.
    pub packets: u64,
    /// Packets that ended with EEP.
    pub eeps: u64,
    /// N-Chars of a SpaceWire port, or words of a SpaceFibre port.
    pub units: u64,
    /// Data characters.
    pub bytes: u64,
}

impl PortTraffic {
    #[inline]
    pub(super) fn add<U: PacketUnit>(&mut self, unit: U) {
        self.units += 1;
        self.bytes += u64::from(unit.data_chars());
        if unit.is_end() {
            self.packets += 1;
            self.eeps += u64::from(unit.is_error_end());
        }
    }
}

/// Counters of a port since the switch was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortCounters {
    /// Received traffic, including discarded packets.
    pub received: PortTraffic,
    /// Sent traffic, including the EEPs of cut packets.
    pub sent: PortTraffic,
    /// N-Chars or words received here and thrown away.
    pub spilled_units: u64,
    dropped: [u64; DiscardReason::ALL.len()],
}

impl SwitchPortCounters {
    /// All counters at 0.
    pub const fn new() -> Self {
        const NONE: PortTraffic = PortTraffic { packets: 0, eeps: 0, units: 0, bytes: 0 };
        Self {
            received: NONE,
            sent: NONE,
            spilled_units: 0,
            dropped: [0; DiscardReason::ALL.len()],
        }
    }

    /// Packets received here that were discarded or cut for a reason.
    pub const fn dropped(&self, reason: DiscardReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets received here that were discarded or cut for any reason.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Packets lost to time-outs: they waited too long, or made no progress for too long.
    pub const fn timeouts(&self) -> u64 {
        self.dropped(DiscardReason::NotRunning)
            + self.dropped(DiscardReason::Blocked)
            + self.dropped(DiscardReason::Timeout)
    }

    pub(super) fn drop(&mut self, reason: DiscardReason) {
        self.dropped[reason as usize] += 1;
    }
}
