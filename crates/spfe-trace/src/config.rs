//! Settings of a listener.

/// Settings of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListenerConfig {
    /// Number of lanes, 1 to 16. Data frames have at most 64 words per lane.
    pub lanes: u8,
    /// Whether data frames are scrambled. `None`: as INIT3 says, and scrambled before the first
    /// INIT3.
    pub scrambled: Option<bool>,
    /// The CRC-16 covers the words on the line, not those before scrambling.
    pub crc_covers_scrambled: bool,
    /// Maximum number of bytes kept of each packet.
    pub packet_limit_bytes: usize,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self { lanes: 1, scrambled: None, crc_covers_scrambled: true, packet_limit_bytes: 64 << 10 }
    }
}
