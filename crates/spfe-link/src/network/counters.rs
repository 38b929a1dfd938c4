//! What a switch counts at each port.

use super::ports::DiscardReason;
use super::unit::PacketUnit;

/// What went through a port in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortTraffic {
    /// End markers.
    pub packets: u64,
    /// EEPs alone or in a word, among them.
    pub eeps: u64,
    /// N-Chars of a SpaceWire port, words of a SpaceFibre port.
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

/// The counters of a port, from the making of its switch on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchPortCounters {
    /// Taken in, what was discarded included.
    pub received: PortTraffic,
    /// Put out, the EEPs of cut packets included.
    pub sent: PortTraffic,
    /// Units of packets that came in here and were thrown away.
    pub spilled_units: u64,
    dropped: [u64; DiscardReason::ALL.len()],
}

impl SwitchPortCounters {
    /// At 0.
    pub const fn new() -> Self {
        const NONE: PortTraffic = PortTraffic { packets: 0, eeps: 0, units: 0, bytes: 0 };
        Self {
            received: NONE,
            sent: NONE,
            spilled_units: 0,
            dropped: [0; DiscardReason::ALL.len()],
        }
    }

    /// Packets that came in here and were discarded, or cut, for a reason.
    pub const fn dropped(&self, reason: DiscardReason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets discarded or cut, for any reason.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Time-outs: packets that waited for too long, or did not move for too long.
    pub const fn timeouts(&self) -> u64 {
        self.dropped(DiscardReason::NotRunning)
            + self.dropped(DiscardReason::Blocked)
            + self.dropped(DiscardReason::Timeout)
    }

    pub(super) fn drop(&mut self, reason: DiscardReason) {
        self.dropped[reason as usize] += 1;
    }
}
