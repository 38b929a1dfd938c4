//! Parameters and status of the Data Link layer (50-11C 5.9, tables 5-36 and 5-37).
//!
//! Those of the quality of service are in [`crate::qos`]. Bit V of a mask is of virtual channel V.

use crate::qos::QosLimits;

/// What is fixed when the link is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLinkConfig {
    /// Virtual channels there are: 1 to those that the link is made for; 0 is all of these. A
    /// channel above them is one that does not exist: nothing is taken for it and no FCT sent, and
    /// a data frame or an FCT to it is accepted and has no effect.
    pub virtual_channels: u8,
    /// FCT multiplier M, 1 to 8: an FCT is worth M times 64 words. It stays the same when lanes
    /// fail.
    pub fct_multiplier: u8,
    /// Segment multiplier P, 1 to 16: the maximum number of data-sending lanes. Both ends have the
    /// same; a data frame has up to P times 64 words. It stays the same when lanes fail.
    pub segment_multiplier: u8,
    /// FCT credit limit in words: what goes above is lost, with a status. Four FCTs at least.
    pub fct_credit_limit_words: u32,
    /// Words between one ACK and the next: 15 or more. An ACK covers all that came before it. With
    /// 16 lanes a frame is worth two FCTs, and 64 words, one ACK for a frame, keep the rate of
    /// fewer lanes (0.7640 of the signalling rate one way and 0.7419 both ways); with 15 it is
    /// 0.753. The far end's error recovery buffer has to hold as many rows more.
    pub ack_gap_words: u8,
    /// Whether a NACK keeps that distance from an ACK too. The standard is read as: it does not.
    pub nack_keeps_gap: bool,
    /// Whether a CRC error of FCT, FULL, ACK, NACK or SIF inside a data or broadcast frame asks for
    /// a NACK.
    pub nack_on_single_crc: bool,
    /// Word periods with lanes active and aligned after which an end whose link reset waits for
    /// that of the far end resets the lanes again; 0 is never. It goes beyond the standard: of
    /// several lanes that come up one after the other some bring INIT3 of before a reset and some
    /// of after it, and a far end that takes two resets for one would be waited for without end.
    /// Not less than the initialisation timer of a lane.
    pub link_reset_retry_words: u32,
    /// Capability: can operate the Multi-Lane protocol.
    pub multi_lane_capable: bool,
    /// Capability: is a routing switch.
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
            nack_on_single_crc: true,
            link_reset_retry_words: 5000,
            multi_lane_capable: false,
            routing_switch: false,
            qos: QosLimits::default(),
        }
    }
}

/// What Interface Reset puts back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLinkParameters {
    /// DataScrambled: data frames are scrambled. Taken over by the next link reset.
    pub data_scrambled: bool,
    /// Expected broadcast bandwidth in 65536ths of the link; 0 stops broadcast messages.
    pub expected_broadcast_bandwidth: u16,
    /// Virtual channels in continuous mode.
    pub continuous_mode: u32,
}

impl Default for DataLinkParameters {
    fn default() -> Self {
        Self { data_scrambled: true, expected_broadcast_bandwidth: 6554, continuous_mode: 0 }
    }
}

/// Status and errors. Errors stay until they are cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataLinkStatus {
    /// Virtual channels with FCT credit.
    pub has_credit: u32,
    /// Input buffer overflow. It resets the link.
    pub input_buffer_overflow: u32,
    /// FCT credit overflow.
    pub fct_credit_overflow: u32,
    /// CRC-16 error.
    pub crc16_error: bool,
    /// CRC-8 error.
    pub crc8_error: bool,
    /// Frame error.
    pub frame_error: bool,
    /// Sequence error.
    pub sequence_error: bool,
    /// Link Reset Caused by Protocol Error.
    pub protocol_error: bool,
    /// Far-End Link Reset.
    pub far_end_link_reset: bool,
    /// The error recovery buffer is empty.
    pub error_recovery_buffer_empty: bool,
    /// Error recovery attempts: valid NACKs received. No number of them resets the link.
    pub error_recovery_attempts: u64,
    /// Broadcast messages lost because the user did not fetch earlier ones.
    pub broadcasts_dropped: u64,
    /// How often each error came.
    pub errors: DataLinkErrors,
    /// What was sent.
    pub sent: DataLinkCounters,
    /// What was received and accepted.
    pub received: DataLinkCounters,
}

/// How often errors came.
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

/// Words and frames.
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
