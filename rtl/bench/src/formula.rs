//! Closed forms of latency: of the published figures (F1 to F6) and of this core. A measured point that is not
//! on its formula is an error.

use serde::{Deserialize, Serialize};

/// Headers without tag and options: Ethernet 14, IPv4 20, TCP 20.
pub const HEADERS: u64 = 54;
/// Shortest frame, without FCS.
const MIN_FRAME: u64 = 60;

/// Clock in which word `k` of a frame is on the bus, the first one being in clock 0 (F3).
#[must_use]
pub fn arrival(k: u64, khz: u32, width_bits: u32) -> u64 {
    let excess = i128::from(khz) * i128::from(width_bits) - 10_000_000;
    let stalls = (i128::from(k) * excess + 9_999_999).div_euclid(10_000_000) - 1;
    k + u64::try_from(stalls).unwrap_or(0)
}

/// A frame as a formula sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Clock rate in kHz; the limiter's, see [`crate::rate::Pattern::Limiter`].
    pub khz: u32,
    /// Width towards the MAC in bytes.
    pub mac_bytes: u64,
    /// Bytes before the payload.
    pub headers: u64,
}

impl Line {
    /// The published runs: 32 bits, no tag, no options.
    #[must_use]
    pub fn published(khz: u32) -> Self {
        Self { khz, mac_bytes: 4, headers: HEADERS }
    }

    /// Clock of the word with byte `index` of the frame.
    #[must_use]
    pub fn byte(&self, index: u64) -> u64 {
        arrival(index / self.mac_bytes, self.khz, self.mac_bytes as u32 * 8)
    }

    /// Clock of the last word of a frame with `n` bytes of payload.
    #[must_use]
    pub fn end(&self, n: u64) -> u64 {
        self.byte((self.headers + n).max(MIN_FRAME) - 1)
    }
}

/// What is measured.
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
    /// Length and sum known.
    TxCutThrough,
    /// Nothing known.
    TxStore {
        /// Width of the user side in bytes.
        user: u64,
    },
    /// Length known.
    TxLength {
        /// Width of the user side in bytes.
        user: u64,
        /// Beats that the header hides.
        hidden: u64,
    },
    /// Verified, then delivered.
    RxStore,
    /// The first beat has the two bytes that come first.
    RxUnpacked,
    /// The first beat is full, or has all there is.
    RxPacked {
        /// Width of the user side in bytes.
        user: u64,
    },
    /// As packed; the last beat waits for the end of the frame.
    RxMerged {
        /// Width of the user side in bytes.
        user: u64,
    },
}

impl Formula {
    /// Clocks from first beat to first beat for `n` bytes of payload.
    #[must_use]
    pub fn cycles(&self, line: &Line, n: u64) -> u64 {
        let packed = |user: u64| line.byte(line.headers + n.min(user) - 1) + 1;
        match *self {
            Formula::PublishedTxCutThrough => 2,
            Formula::PublishedTxStore => 1 + n.div_ceil(16),
            Formula::PublishedRxStore => line.end(n) + 6,
            Formula::PublishedRxCutThrough if n < 8 => line.end(n) + 1,
            Formula::PublishedRxCutThrough => line.byte(line.headers + 7) + 1,
            Formula::TxCutThrough => 1,
            Formula::TxStore { user } => n.div_ceil(user),
            Formula::TxLength { user, hidden } => n.div_ceil(user).saturating_sub(hidden).max(1),
            Formula::RxStore => line.end(n) + 2,
            Formula::RxUnpacked => line.byte(line.headers) + 1,
            Formula::RxMerged { user } if n <= user => line.end(n) + 1,
            Formula::RxPacked { user } | Formula::RxMerged { user } => packed(user),
        }
    }

    /// In words, `a(k)` being the clock of word `k` and `n` the payload.
    #[must_use]
    pub fn text(&self) -> String {
        match *self {
            Formula::PublishedTxCutThrough => "2".to_owned(),
            Formula::PublishedTxStore => "1 + ceil(n / 16)".to_owned(),
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
                format!("a(word of payload byte {user}) + 1; n <= {user}: a(last word) + 1")
            }
        }
    }
}

/// Nanoseconds of clocks at the clock rates of the report: 322 MHz stands for 322.265625 MHz.
#[must_use]
pub fn ns(cycles: f64, khz: u32) -> f64 {
    let khz = if khz == 322_000 { 322_265.625 } else { f64::from(khz) };
    cycles * 1e6 / khz
}
