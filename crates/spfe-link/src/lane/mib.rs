//! Parameters and status of a lane (50-11C 5.9, tables 5-36 and 5-37).

use super::state::{LaneState, LostSignalCause};

/// What never changes while a lane exists: rates, and the choices the standard leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneConfig {
    /// Words per second: the signalling rate divided by 40.
    pub word_rate_hz: u64,
    /// Data words after each INIT1 and INIT2, 0 to 64.
    pub filler_words: u8,
    /// Data words after each INIT3. Receivers take any number.
    pub init3_filler_words: u8,
    /// Words from one SKIP to the next; 0: the layer above gives the SKIP words.
    pub skip_interval_words: u32,
    /// Initialisation timer, from Started until Active.
    pub init_timeout_words: u32,
    /// Words without RXERR that Started waits for.
    pub started_words: u32,
    /// STANDBY or LOST_SIGNAL words of a burst.
    pub burst_words: u8,
    /// One is taken off the RXERR counter each time so many words came in (15000 to 16384).
    pub rxerr_leak_words: u32,
    /// A damaged symbol makes an RXERR of the word before, too (50-11C 5.5.7).
    pub rxerr_preceding: bool,
    /// So many erroneous words in a row lose synchronisation.
    pub sync_error_words: u8,
    /// Whether the erroneous word that ends Ready is the first of them.
    pub sync_counts_first: bool,
    /// The lane undoes a swapped pair on words; false where [`super::LaneCoder`] does it on bits.
    pub inverts_words: bool,
}

impl LaneConfig {
    /// Lane at a signalling rate of 6.25 Gbit/s.
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

    /// A time in word periods, rounded up.
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

/// Parameters, which management may change at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneParameters {
    /// Start, and keep trying.
    pub lane_start: bool,
    /// Start when the far end does.
    pub auto_start: bool,
    /// Held in ClearLine.
    pub lane_reset: bool,
    /// What is received is what is sent here.
    pub near_end_parallel_loopback: bool,
    /// What is sent is what is received.
    pub far_end_parallel_loopback: bool,
    /// Physical layer: the bits received are those sent here. [`super::LaneCoder`] does it.
    pub near_end_serial_loopback: bool,
    /// Physical layer: the bits sent are those received. [`super::LaneCoder`] does it.
    pub far_end_serial_loopback: bool,
    /// Sent in STANDBY.
    pub standby_reason: u8,
    /// The lane sends (a multi-lane parameter).
    pub tx_en: bool,
    /// The lane receives (a multi-lane parameter).
    pub rx_en: bool,
}

impl LaneParameters {
    /// After reset.
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

/// Status. Flags stay until they are cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneStatus {
    /// Lane state.
    pub state: LaneState,
    /// RXERR counter, 0 to 255.
    pub rxerr_count: u8,
    /// It reached 255.
    pub rxerr_overflow: bool,
    /// The far end went to standby.
    pub far_end_standby: bool,
    /// Why, as it said.
    pub far_end_standby_reason: u8,
    /// The initialisation timer ran out.
    pub timeout: bool,
    /// The far end lost its signal.
    pub far_end_lost_signal: bool,
    /// Why, as it said: 0 no signal, 1 RXERR counter, 2 INIT1.
    pub far_end_lost_signal_cause: u8,
    /// Why this end last sent LOST_SIGNAL.
    pub lost_signal_cause: Option<LostSignalCause>,
    /// Capability field of the last three equal INIT3.
    pub far_end_capability: Option<u8>,
    /// Received bits are inverted.
    pub rx_polarity_inverted: bool,
    /// No signal is received (physical layer).
    pub no_signal: bool,
}
