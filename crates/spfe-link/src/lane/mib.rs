//! Parameters and status of a lane (50-11C 5.9, tables 5-36 and 5-37).

use super::state::{LaneState, LostSignalCause};

/// Settings that never change while a lane exists: rates, and choices that the standard leaves
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// Words per second: the signalling rate in bit/s divided by 40.
    pub word_rate_hz: u64,
    /// Data words after each INIT1 and INIT2, 0 to 64.
    pub filler_words: u8,
    /// Data words after each INIT3. Receivers accept any number.
    pub init3_filler_words: u8,
    /// Words between two SKIPs; 0: the layer above inserts the SKIPs.
    pub skip_interval_words: u32,
    /// Initialisation timer in words, from Started until Active.
    pub init_timeout_words: u32,
    /// Words without RXERR that are needed to leave Started.
    pub started_words: u32,
    /// Number of STANDBY or LOST_SIGNAL words in a burst.
    pub burst_words: u8,
    /// Number of words after which the RXERR counter goes down by one (15000 to 16384).
    pub rxerr_leak_words: u32,
    /// Whether a damaged symbol also makes an RXERR of the word before it (50-11C 5.5.7).
    pub rxerr_preceding: bool,
    /// Number of consecutive erroneous words that lose synchronisation.
    pub sync_error_words: u8,
    /// Whether the erroneous word that ends Ready counts as the first of them.
    pub sync_counts_first: bool,
    /// The lane itself corrects swapped wires, on words. If not, [`super::LaneCoder`] or a
    /// transceiver has to invert the bits while [`super::Lane::invert_rx`] says so.
    pub inverts_words: bool,
}

impl LaneConfig {
    /// A lane at a signalling rate of 6.25 Gbit/s.
    pub const fn new() -> Self {
        Self {
            word_rate_hz: 156_250_000,
            filler_words: 64,
            init3_filler_words: 0,
            skip_interval_words: 5000,
            init_timeout_words: 5000,
            started_words: 1023,
            burst_words: 32,
            rxerr_leak_words: 16384,
            rxerr_preceding: true,
            sync_error_words: 5,
            sync_counts_first: true,
            inverts_words: true,
        }
    }

    /// Converts a time to word periods, rounded up.
    pub const fn words_in_ns(&self, ns: u64) -> u32 {
        let words = (self.word_rate_hz as u128 * ns as u128).div_ceil(1_000_000_000);
        if words > u32::MAX as u128 { u32::MAX } else { words as u32 }
    }
}

impl Default for LaneConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Parameters that management may change at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneParameters {
    /// Start the lane, and keep trying.
    pub lane_start: bool,
    /// Start the lane when the far end starts.
    pub auto_start: bool,
    /// Hold the lane in ClearLine.
    pub lane_reset: bool,
    /// Near-end parallel loopback: the lane receives its own words.
    pub near_end_parallel_loopback: bool,
    /// Far-end parallel loopback: the lane sends back the received words.
    pub far_end_parallel_loopback: bool,
    /// Near-end serial loopback: the lane receives its own bits. Done by [`super::LaneCoder`].
    pub near_end_serial_loopback: bool,
    /// Far-end serial loopback: the lane sends back the received bits. Done by
    /// [`super::LaneCoder`].
    pub far_end_serial_loopback: bool,
    /// Reason to send in STANDBY.
    pub standby_reason: u8,
    /// Enables the transmitter (a parameter of the multi-lane layer).
    pub tx_en: bool,
    /// Enables the receiver (a parameter of the multi-lane layer).
    pub rx_en: bool,
}

impl LaneParameters {
    /// Values after reset. A lane waits for its far end to start: if both ends of a lane have these
    /// values, it never starts (50-11C 5.5.2).
    pub const fn new() -> Self {
        Self {
            lane_start: false,
            auto_start: true,
            lane_reset: false,
            near_end_parallel_loopback: false,
            far_end_parallel_loopback: false,
            near_end_serial_loopback: false,
            far_end_serial_loopback: false,
            standby_reason: 0,
            tx_en: true,
            rx_en: true,
        }
    }
}

impl Default for LaneParameters {
    fn default() -> Self {
        Self::new()
    }
}

/// Status. A flag stays set until it is cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStatus {
    /// Lane state.
    pub state: LaneState,
    /// RXERR counter, 0 to 255.
    pub rxerr_count: u8,
    /// The RXERR counter reached 255.
    pub rxerr_overflow: bool,
    /// The far end went into standby.
    pub far_end_standby: bool,
    /// Reason that the far end gave for its standby.
    pub far_end_standby_reason: u8,
    /// The initialisation timer ran out.
    pub timeout: bool,
    /// The far end lost its signal.
    pub far_end_lost_signal: bool,
    /// Cause that the far end gave: 0 no signal, 1 RXERR counter, 2 INIT1.
    pub far_end_lost_signal_cause: u8,
    /// Cause of the LOST_SIGNAL that this end sent last.
    pub lost_signal_cause: Option<LostSignalCause>,
    /// Capability field of the last three identical INIT3.
    pub far_end_capability: Option<u8>,
    /// The received bits are inverted.
    pub rx_polarity_inverted: bool,
    /// The physical layer receives no signal.
    pub no_signal: bool,
}
