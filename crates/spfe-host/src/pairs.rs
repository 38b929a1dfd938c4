//! Counters of queue pairs, as entries of their port.

use crate::MibEntry;
use spfe_contract::PairCounter;

/// Layer of the entries.
pub const PAIR_LAYER: &str = "queue pair";

/// Name of a counter: that of the contract in lower case.
pub fn counter_name(counter: PairCounter) -> String {
    counter.name().to_ascii_lowercase()
}

/// The counters of the queue pair of a virtual channel that are not zero.
pub fn pair_entries(
    vc: u32,
    counters: impl IntoIterator<Item = (PairCounter, u64)>,
) -> impl Iterator<Item = MibEntry> {
    let counted = counters.into_iter().filter(|(_, count)| *count != 0);
    counted.map(move |(counter, count)| {
        MibEntry::new(PAIR_LAYER, &counter_name(counter).replace('_', " "), Some(vc), count)
    })
}

/// The counters in a mask of a device (PRESENT of the contract). Numbers that this side does not know
/// are left out.
pub fn present(mask: u64) -> impl Iterator<Item = PairCounter> {
    PairCounter::ALL.iter().copied().filter(move |counter| mask >> counter.raw() & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MibValue;

    #[test]
    fn counters_have_the_names_of_the_contract() {
        let counters = [
            (PairCounter::Packets, 0),
            (PairCounter::TargetBadKey, 3),
            (PairCounter::TargetNotificationsDropped, 1),
        ];
        let found: Vec<_> = pair_entries(2, counters)
            .map(|entry| {
                assert_eq!((&*entry.layer, entry.index, entry.item), ("queue pair", Some(2), None));
                (entry.name, entry.value)
            })
            .collect();
        let wanted = [("target bad key", 3), ("target notifications dropped", 1)];
        assert_eq!(found, wanted.map(|(name, count)| (name.to_owned(), MibValue::Number(count))));
    }

    #[test]
    fn counters_of_a_newer_device_are_left_out() {
        assert_eq!(present(u64::MAX).collect::<Vec<_>>(), PairCounter::ALL);
        assert_eq!(present(0).count(), 0);
        let last = PairCounter::TargetNotificationsDropped;
        assert_eq!(present(1 << last.raw() | 1 << 62).collect::<Vec<_>>(), [last]);
    }
}
