//! What a switch counts at each port.

use super::ports::Reason;
use super::unit::Unit;

/// What went through a port in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// End markers.
    pub packets: u64,
    /// EEPs alone or in a word, among them.
    pub eeps: u64,
    /// N-Chars of a SpaceWire port, words of a SpaceFibre port.
    pub units: u64,
    /// Data characters.
    pub bytes: u64,
}

impl Traffic {
    #[inline]
    pub(super) fn add<U: Unit>(&mut self, unit: U) {
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
pub struct Counters {
    /// Taken in, what was discarded included.
    pub received: Traffic,
    /// Put out, the EEPs of cut packets included.
    pub sent: Traffic,
    /// Units of packets that came in here and were thrown away.
    pub spilled_units: u64,
    dropped: [u64; Reason::ALL.len()],
}

impl Counters {
    /// At 0.
    pub const fn new() -> Self {
        const NONE: Traffic = Traffic { packets: 0, eeps: 0, units: 0, bytes: 0 };
        Self { received: NONE, sent: NONE, spilled_units: 0, dropped: [0; Reason::ALL.len()] }
    }

    /// Packets that came in here and were discarded, or cut, for a reason.
    pub const fn dropped(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }

    /// Packets discarded or cut, for any reason.
    pub fn all_dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Time-outs: packets that waited for too long, or did not move for too long.
    pub const fn timeouts(&self) -> u64 {
        self.dropped(Reason::NotRunning)
            + self.dropped(Reason::Blocked)
            + self.dropped(Reason::Timeout)
    }

    pub(super) fn drop(&mut self, reason: Reason) {
        self.dropped[reason as usize] += 1;
    }
}
