//! Settings of a listener.

/// How a listener reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerConfig {
    /// Lanes, 1 to 16; data frames have at most 64 words for each.
    pub lanes: u8,
    /// Whether data frames are scrambled; `None`: as INIT3 says, and scrambled until then.
    pub scrambled: Option<bool>,
    /// CRC-16 is over the words on the line, not over those before scrambling.
    pub crc_covers_scrambled: bool,
    /// Bytes of a packet that are kept.
    pub packet_limit_bytes: usize,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self { lanes: 1, scrambled: None, crc_covers_scrambled: true, packet_limit_bytes: 64 << 10 }
    }
}
