//! Closed formulas of latency, for the published figures (F1 to F6) and for this core. A measured
//! point that differs from its formula is an error.

use serde::{Deserialize, Serialize};

/// Length of the headers without tag and options: Ethernet 14, IPv4 20, TCP 20.
pub const HEADERS: u64 = 54;
/// Length of the Ethernet header without tag.
pub const ETHERNET: u64 = 14;
/// Width in bytes of the user side that the published store-and-forward transmitter needs.
pub const PUBLISHED_TX_USER: u64 = 16;
/// Minimum length of a frame without FCS.
const MIN_FRAME: u64 = 60;
/// Bytes of a tag before the EtherType. Other longer headers have options, behind all fields.
const TAG: u64 = 4;
/// Last byte of the acknowledgement number in a frame without a tag.
const ACK: u64 = 45;
/// Clocks from the acknowledgement number to the earliest verdict on the segment.
const JUDGED: u64 = 3;

/// Clock in which word `k` of a frame is on the bus (F3). Word 0 is in clock 0.
#[must_use]
pub fn arrival(k: u64, khz: u32, width_bits: u32) -> u64 {
    let excess = i128::from(khz) * i128::from(width_bits) - 10_000_000;
    let stalls = (i128::from(k) * excess + 9_999_999).div_euclid(10_000_000) - 1;
    k + u64::try_from(stalls).unwrap_or(0)
}

/// Parameters of a frame on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Clock rate of the limiter in kHz, see [`crate::rate::Pattern::Limiter`].
    pub khz: u32,
    /// Width of the MAC interface in bytes.
    pub mac_bytes: u64,
    /// Length of the headers before the payload in bytes.
    pub headers: u64,
}

impl Line {
    /// Parameters of the published runs: 32 bits, no tag, no options.
    #[must_use]
    pub fn published(khz: u32) -> Self {
        Self { khz, mac_bytes: 4, headers: HEADERS }
    }

    /// Clock of the word that contains byte `index` of the frame.
    #[must_use]
    pub fn byte(&self, index: u64) -> u64 {
        arrival(index / self.mac_bytes, self.khz, self.mac_bytes as u32 * 8)
    }

    /// Clock in which a frame with `n` bytes of payload has its verdict: that of its last word, or
    /// later if its ACK is not judged by then.
    fn verdict(&self, n: u64) -> u64 {
        let tag = if self.headers == HEADERS + TAG { TAG } else { 0 };
        self.end(n).max(self.byte(ACK + tag) + JUDGED)
    }

    /// Clock of the last word of a frame with `n` bytes of payload.
    #[must_use]
    pub fn end(&self, n: u64) -> u64 {
        self.byte((self.headers + n).max(MIN_FRAME) - 1)
    }
}

/// Formulas by kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "rule")]
pub enum Formula {
    /// F1: cut-through transmitter, published.
    PublishedTxCutThrough,
    /// F2: store-and-forward transmitter, published.
    PublishedTxStore,
    /// F4: store-and-forward receiver, published.
    PublishedRxStore,
    /// F5: cut-through receiver, published.
    PublishedRxCutThrough,
    /// This core's transmitter with known length and checksum.
    TxCutThrough,
    /// This core's transmitter with unknown length and checksum.
    TxStore {
        /// Width of the user side in bytes.
        user: u64,
    },
    /// This core's transmitter with known length.
    TxLength {
        /// Width of the user side in bytes.
        user: u64,
        /// Number of beats that arrive while the core sends the headers.
        hidden: u64,
    },
    /// This core's store-and-forward receiver.
    RxStore,
    /// This core's cut-through receiver, unpacked: the first beat holds the first two bytes.
    RxUnpacked,
    /// This core's cut-through receiver, packed: the first beat is full, or holds all bytes.
    RxPacked {
        /// Width of the user side in bytes.
        user: u64,
    },
    /// Like `RxPacked`, but the last beat waits for the end of the frame.
    RxMerged {
        /// Width of the user side in bytes.
        user: u64,
    },
}

impl Formula {
    /// Number of clocks from the first beat in to the first beat out, for `n` bytes of payload.
    #[must_use]
    pub fn cycles(&self, line: &Line, n: u64) -> u64 {
        let packed = |user: u64| line.byte(line.headers + n.min(user) - 1) + 1;
        match *self {
            Formula::PublishedTxCutThrough => 2,
            Formula::PublishedTxStore => 1 + n.div_ceil(PUBLISHED_TX_USER),
            Formula::PublishedRxStore => line.end(n) + 6,
            Formula::PublishedRxCutThrough if n < 8 => line.end(n) + 1,
            Formula::PublishedRxCutThrough => line.byte(line.headers + 7) + 1,
            Formula::TxCutThrough => 1,
            Formula::TxStore { user } => n.div_ceil(user),
            Formula::TxLength { user, hidden } => n.div_ceil(user).saturating_sub(hidden).max(1),
            Formula::RxStore => line.end(n) + 2,
            Formula::RxUnpacked => line.byte(line.headers) + 1,
            Formula::RxMerged { user } if n <= user => line.verdict(n) + 1,
            Formula::RxPacked { user } | Formula::RxMerged { user } => packed(user),
        }
    }

    /// The formula as text. `a(k)` is the clock of word `k`, and `n` the length of the payload.
    #[must_use]
    pub fn text(&self) -> String {
        match *self {
            Formula::PublishedTxCutThrough => "2".to_owned(),
            Formula::PublishedTxStore => format!("1 + ceil(n / {PUBLISHED_TX_USER})"),
            Formula::PublishedRxStore => "a(last word) + 6".to_owned(),
            Formula::PublishedRxCutThrough => {
                "a(word of payload byte 8) + 1; n < 8: a(last word) + 1".to_owned()
            }
            Formula::TxCutThrough => "1".to_owned(),
            Formula::TxStore { user } => format!("ceil(n / {user})"),
            Formula::TxLength { user, hidden } => format!("max(1, ceil(n / {user}) - {hidden})"),
            Formula::RxStore => "a(last word) + 2".to_owned(),
            Formula::RxUnpacked => "a(word of the first payload byte) + 1".to_owned(),
            Formula::RxPacked { user } => format!("a(word of payload byte min(n, {user})) + 1"),
            Formula::RxMerged { user } => {
                format!(
                    "a(word of payload byte {user}) + 1; n <= {user}: a(last word) + 1, at least \
                     a(word of ACK) + {}",
                    JUDGED + 1
                )
            }
        }
    }
}

/// Exact clock rate in kHz of a published one: 322 MHz means 322.265625 MHz.
#[must_use]
pub fn exact_khz(khz: u32) -> f64 {
    if khz == 322_000 { 322_265.625 } else { f64::from(khz) }
}

/// Converts clocks to nanoseconds at a published clock rate.
#[must_use]
pub fn ns(cycles: f64, khz: u32) -> f64 {
    cycles * 1e6 / exact_khz(khz)
}
