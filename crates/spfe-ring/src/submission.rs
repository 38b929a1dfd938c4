//! Submissions that take more than one entry: bursts and chains.

use crate::ring::{Ring, RingEntry};
use spfe_contract::{EndMarker, EntryType, submit_flags as sf};

/// Number of entries of the submission at a position of a transmit ring, and whether it ends a
/// packet. Reads at most one lap of the ring, whatever the entries say.
pub fn extent(ring: &Ring, position: u32) -> (u32, bool) {
    let flags_of = |entry: RingEntry| (entry[1] >> 32) as u16;
    let flags_at = |ahead| ring.read(position.wrapping_add(ahead)).map(flags_of);
    let kind = |flags: u16| EntryType::from_raw((flags & sf::TYPE_MASK) as u8);
    let mut flags = flags_at(0).unwrap_or_default();
    if kind(flags) == Some(EntryType::Burst) {
        let whole = flags_at(1).and_then(kind) == Some(EntryType::BurstExt);
        return (1 + u32::from(whole), true);
    }
    let mut entries = 1;
    while flags & sf::CHAIN != 0 && entries < ring.size() {
        let Some(next) = flags_at(entries) else { break };
        flags = next;
        entries += 1;
    }
    let end = EndMarker::from_raw((flags >> sf::END_SHIFT & 3) as u8);
    (entries, end != Some(EndMarker::None))
}
