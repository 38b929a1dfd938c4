//! The measured paths through the core, each with its build and its formula.

use serde::{Deserialize, Serialize};

use crate::formula::Formula;
use crate::user::Mode;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the MAC to the user.
    Rx,
    /// From the user to the MAC.
    Tx,
}

/// A path through the core.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Name in records.
    pub id: &'static str,
    /// Name for users.
    pub label: &'static str,
    /// Direction of the transfer.
    pub direction: Direction,
    /// Build with 16 sessions.
    pub build: &'static str,
    /// Information that the user gives with a message. Unused for [`Direction::Rx`].
    pub mode: Mode,
    /// Formula of the latency with a MAC interface of 32 bits.
    pub formula: Formula,
}

const fn rx(id: &'static str, label: &'static str, build: &'static str, formula: Formula) -> Way {
    Way { id, label, direction: Direction::Rx, build, mode: Mode::Store, formula }
}

const fn tx(
    id: &'static str,
    label: &'static str,
    build: &'static str,
    mode: Mode,
    formula: Formula,
) -> Way {
    Way { id, label, direction: Direction::Tx, build, mode, formula }
}

/// Beats of a message with known length that arrive while the core sends the headers: 13 words
/// before the checksum, minus the time of the adders. For a MAC interface of 32 bits.
const HIDDEN: u64 = 9;
/// The same for a MAC interface of 64 bits.
const HIDDEN_64: u64 = 3;

/// All paths with a MAC interface of 32 bits.
pub const WAYS: [Way; 11] = [
    // The counterpart of the published receiver: its last beat waits for the end of the frame.
    rx(
        "rx_merged64",
        "Rx cut-through, 64-bit user side, last beat with the verdict",
        "ct64_merge",
        Formula::RxMerged { user: 8 },
    ),
    rx("rx_packed64", "Rx cut-through, 64-bit user side", "ct64", Formula::RxPacked { user: 8 }),
    rx("rx_packed32", "Rx cut-through, 32-bit user side", "ctp32", Formula::RxPacked { user: 4 }),
    rx(
        "rx_unpacked32",
        "Rx cut-through, 32-bit user side, first beat unaligned",
        "ctraw",
        Formula::RxUnpacked,
    ),
    rx("rx_store64", "Rx store-and-forward, 64-bit user side", "sf64", Formula::RxStore),
    tx(
        "tx_ct64",
        "Tx cut-through, 64-bit user side",
        "ct64_merge",
        Mode::CutThrough,
        Formula::TxCutThrough,
    ),
    tx(
        "tx_ct128",
        "Tx cut-through, 128-bit user side",
        "ctp32",
        Mode::CutThrough,
        Formula::TxCutThrough,
    ),
    tx(
        "tx_store128",
        "Tx store-and-forward, 128-bit user side",
        "ctraw",
        Mode::Store,
        Formula::TxStore { user: 16 },
    ),
    tx(
        "tx_store64",
        "Tx store-and-forward, 64-bit user side",
        "sf64",
        Mode::Store,
        Formula::TxStore { user: 8 },
    ),
    tx(
        "tx_length64",
        "Tx with length at start, 64-bit user side",
        "sf64",
        Mode::Length,
        Formula::TxLength { user: 8, hidden: HIDDEN },
    ),
    tx(
        "tx_length128",
        "Tx with length at start, 128-bit user side",
        "ctraw",
        Mode::Length,
        Formula::TxLength { user: 16, hidden: HIDDEN },
    ),
];

/// Builds with a larger MTU, for the payloads that do not fit into a segment of the build.
pub const JUMBO: [(&str, &str); 1] = [("sf64", "sf64_jumbo")];

/// Maximum payload of a segment with the published MTU of 1500.
pub const MSS: u64 = 1460;

/// Paths through cores with all options: 64 sessions, congestion control, reordering or delivery
/// out of sequence, events.
pub const FULL: [Way; 5] = [
    rx("rx_packed64", "Rx cut-through, 64-bit user side", "full_ct", Formula::RxPacked { user: 8 }),
    rx("rx_store64", "Rx store-and-forward, 64-bit user side", "full_sf", Formula::RxStore),
    tx(
        "tx_ct64",
        "Tx cut-through, 64-bit user side",
        "full_ct",
        Mode::CutThrough,
        Formula::TxCutThrough,
    ),
    tx(
        "tx_store64",
        "Tx store-and-forward, 64-bit user side",
        "full_sf",
        Mode::Store,
        Formula::TxStore { user: 8 },
    ),
    tx(
        "tx_length64",
        "Tx with length at start, 64-bit user side",
        "full_sf",
        Mode::Length,
        Formula::TxLength { user: 8, hidden: HIDDEN },
    ),
];

/// Paths through a core with 256 sessions.
pub const LARGE: [Way; 3] = [
    rx("rx_store64", "Rx store-and-forward, 64-bit user side", "large", Formula::RxStore),
    tx(
        "tx_store64",
        "Tx store-and-forward, 64-bit user side",
        "large",
        Mode::Store,
        Formula::TxStore { user: 8 },
    ),
    tx(
        "tx_length64",
        "Tx with length at start, 64-bit user side",
        "large",
        Mode::Length,
        Formula::TxLength { user: 8, hidden: HIDDEN },
    ),
];

/// Largest payload with [`LARGE`]: that for which each of 256 windows has room.
pub const LARGE_MOST: u64 = 512;

/// Paths with a MAC interface of 64 bits.
pub const WIDE: [Way; 5] = [
    rx("rx_packed64", "Rx cut-through", "ct64_mac64", Formula::RxPacked { user: 8 }),
    rx("rx_store64", "Rx store-and-forward", "sf64_mac64", Formula::RxStore),
    tx("tx_ct64", "Tx cut-through", "ct64_mac64", Mode::CutThrough, Formula::TxCutThrough),
    tx(
        "tx_store64",
        "Tx store-and-forward",
        "sf64_mac64",
        Mode::Store,
        Formula::TxStore { user: 8 },
    ),
    tx(
        "tx_length64",
        "Tx with length at start",
        "sf64_mac64",
        Mode::Length,
        Formula::TxLength { user: 8, hidden: HIDDEN_64 },
    ),
];

/// The 257 payload sizes of the published runs: 1, then all multiples of 8 up to 2048.
#[must_use]
pub fn sizes() -> Vec<u64> {
    std::iter::once(1).chain((1..=256).map(|step| step * 8)).collect()
}

/// Payload sizes of the published latency tables.
pub const TABLE_SIZES: [u64; 10] = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// Clock rates of the published runs in kHz.
pub const RATES: [u32; 2] = [322_000, 350_000];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Line;

    /// The table of latencies in docs/tcp-core.md, from the formulas to which `tcp-bench` holds
    /// each measured point.
    fn table() -> String {
        let row = |label: &str, cells: &mut dyn Iterator<Item = u64>| {
            cells.fold(format!("| {label} |"), |row, cell| format!("{row} {cell} |")) + "\n"
        };
        let head = row("payload, bytes", &mut TABLE_SIZES.into_iter());
        let rule = format!("|{}\n", " --- |".repeat(TABLE_SIZES.len() + 1));
        let line = Line::published(RATES[0]);
        WAYS.iter().fold(head + &rule, |table, way| {
            table + &row(way.label, &mut TABLE_SIZES.iter().map(|n| way.formula.cycles(&line, *n)))
        })
    }

    #[test]
    fn the_guide_has_the_latencies_of_the_formulas() {
        let guide = std::fs::read_to_string(crate::builds::root().join("docs/tcp-core.md"))
            .expect("docs/tcp-core.md");
        assert!(guide.contains(&table()), "docs/tcp-core.md must have this table:\n{}", table());
    }
}
