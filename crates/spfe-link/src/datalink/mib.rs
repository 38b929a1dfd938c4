//! Parameters and status of the data link layer (50-11C 5.9, tables 5-36 and 5-37).
//!
//! The parameters of the quality of service are in [`crate::qos`]. In masks, bit V stands for
//! virtual channel V.

use crate::qos::QosLimits;

/// Settings that are fixed when a link is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLinkConfig {
    /// Virtual channels in use, from 1 to the number of the link type; 0 means all. Higher channels
    /// do not exist: writes to them take nothing, no FCT is sent for them, and data frames and FCTs
    /// for them are accepted without effect.
    pub virtual_channels: u8,
    /// FCT multiplier M, 1 to 8: an FCT grants M times 64 words, also after lanes fail.
    pub fct_multiplier: u8,
    /// Segment multiplier P, 1 to 16: the maximum number of data-sending lanes, the same at both
    /// ends. A data frame has up to P times 64 words, also after lanes fail.
    pub segment_multiplier: u8,
    /// FCT credit limit in words, at least four FCTs. Credit above it is lost and reported.
    pub fct_credit_limit_words: u32,
    /// Minimum number of words between two ACKs, 15 or more. An ACK covers everything before it.
    ///
    /// With 16 lanes a frame is worth two FCTs. A gap of 64 words (one ACK per frame) then keeps
    /// the rate of fewer lanes: 0.7640 of the signalling rate one way, 0.7419 both ways. With a gap
    /// of 15 it is 0.753. A larger gap needs as many more rows in the far end's error recovery
    /// buffer.
    pub ack_gap_words: u8,
    /// Whether a NACK keeps the same gap after an ACK. The standard asks for the gap between ACKs
    /// only (5.7.7).
    pub nack_keeps_gap: bool,
    /// Minimum number of words between two equal NACKs; 0 for none. A new NACK is sent at once. One
    /// that repeats the last one says nothing new, and an end that has lost the sequence for good
    /// would otherwise get one for every other word.
    pub nack_repeat_words: u8,
    /// Whether a CRC error in FCT, FULL, ACK, NACK or SIF inside a data or broadcast frame causes a
    /// NACK.
    pub nack_on_single_crc: bool,
    /// Word periods with active, aligned lanes after which an end that waits for the link reset of
    /// the far end resets the lanes again; 0 means never. Not less than the initialisation timer of
    /// a lane.
    ///
    /// This goes beyond the standard. When several lanes come up one after the other, some may
    /// deliver an INIT3 from before a reset and some one from after it. A far end that takes two
    /// resets for one would then never answer.
    pub link_reset_retry_words: u32,
    /// Capability: supports the multi-lane protocol.
    pub multi_lane_capable: bool,
    /// Capability: this end is a routing switch.
    pub routing_switch: bool,
    /// Limits of the quality of service.
    pub qos: QosLimits,
}

impl Default for DataLinkConfig {
    fn default() -> Self {
        Self {
            virtual_channels: 0,
            fct_multiplier: 1,
            segment_multiplier: 1,
            fct_credit_limit_words: 65535,
            ack_gap_words: 15,
            nack_keeps_gap: false,
            nack_repeat_words: 15,
            nack_on_single_crc: true,
            link_reset_retry_words: 5000,
            multi_lane_capable: false,
            routing_switch: false,
            qos: QosLimits::default(),
        }
    }
}

/// Parameters that Interface Reset sets to their defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLinkParameters {
    /// DataScrambled: data frames are scrambled. Takes effect at the next link reset; a new link
    /// begins with one, so a value set before the first word period holds from the start.
    pub data_scrambled: bool,
    /// Expected broadcast bandwidth in 65536ths of the link; 0 stops broadcast messages.
    pub expected_broadcast_bandwidth: u16,
    /// Mask of virtual channels in continuous mode.
    pub continuous_mode: u32,
}

impl Default for DataLinkParameters {
    fn default() -> Self {
        Self { data_scrambled: true, expected_broadcast_bandwidth: 6554, continuous_mode: 0 }
    }
}

/// Status and errors. An error flag stays set until it is cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataLinkStatus {
    /// Mask of virtual channels with FCT credit.
    pub has_credit: u32,
    /// Mask of virtual channels whose input buffer overflowed. An overflow resets the link.
    pub input_buffer_overflow: u32,
    /// Mask of virtual channels whose FCT credit went over the limit.
    pub fct_credit_overflow: u32,
    /// A data frame had a wrong CRC-16.
    pub crc16_error: bool,
    /// A broadcast frame or single word had a wrong CRC-8.
    pub crc8_error: bool,
    /// A word came where the standard does not allow it.
    pub frame_error: bool,
    /// A sequence number was not the expected one.
    pub sequence_error: bool,
    /// Link Reset Caused by Protocol Error: an ACK or NACK matched nothing.
    pub protocol_error: bool,
    /// The far end asked for a link reset.
    pub far_end_link_reset: bool,
    /// Everything sent is acknowledged.
    pub error_recovery_buffer_empty: bool,
    /// Number of valid NACKs received. There is no limit that resets the link.
    pub error_recovery_attempts: u64,
    /// Broadcast messages lost because the receive queue was full.
    pub broadcasts_dropped: u64,
    /// Error counters.
    pub errors: DataLinkErrors,
    /// Counters of what was sent.
    pub sent: DataLinkCounters,
    /// Counters of what was received and accepted.
    pub received: DataLinkCounters,
}

/// Number of errors of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataLinkErrors {
    /// RXERR words and rows.
    pub rxerr: u64,
    /// CRC-16 errors.
    pub crc16: u64,
    /// CRC-8 errors.
    pub crc8: u64,
    /// Frame errors.
    pub frame: u64,
    /// Sequence errors.
    pub sequence: u64,
    /// Link resets caused by a protocol error.
    pub protocol: u64,
    /// Link resets that the far end asked for.
    pub far_end_link_reset: u64,
    /// Input buffer overflows.
    pub input_buffer_overflow: u64,
    /// FCT credit overflows.
    pub fct_credit_overflow: u64,
}

/// Number of words and frames in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataLinkCounters {
    /// Data frames.
    pub data_frames: u64,
    /// Words of data frames.
    pub data_words: u64,
    /// Broadcast frames.
    pub broadcast_frames: u64,
    /// FCTs.
    pub fcts: u64,
    /// ACKs.
    pub acks: u64,
    /// NACKs.
    pub nacks: u64,
    /// FULLs.
    pub fulls: u64,
    /// RETRYs.
    pub retries: u64,
    /// SIFs.
    pub idle_frames: u64,
}

impl DataLinkStatus {
    pub(super) fn clear_errors(&mut self) {
        *self = Self {
            error_recovery_attempts: self.error_recovery_attempts,
            broadcasts_dropped: self.broadcasts_dropped,
            errors: self.errors,
            sent: self.sent,
            received: self.received,
            ..Self::default()
        };
    }
}
