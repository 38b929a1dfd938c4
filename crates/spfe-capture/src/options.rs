//! Settings of a capture, descriptions of its interfaces, and limits of the format.

/// Minimum snapshot length in bytes: a pseudo-header and the longest content that is never cut.
pub const SNAPLEN_MIN: u32 = 64;
/// Maximum snapshot length in bytes. Wireshark refuses longer packets.
pub const SNAPLEN_MAX: u32 = 262_144;
/// Maximum length in bytes of a block that the reader accepts.
pub const BLOCK_MAX: u32 = SNAPLEN_MAX + 2 * 65_536 + 4096;

/// Which records of a long capture are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All records, written in the order in which they arrive.
    #[default]
    All,
    /// The first records, up to this many bytes. Later records are only counted. Interface blocks
    /// and statistics are always written and do not count towards the limit.
    First(u64),
    /// The last records that fit into this many bytes. They stay in memory until the capture ends.
    Last(usize),
}

/// Settings of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions<'a> {
    /// Maximum number of bytes kept of a record, including its pseudo-header: [`SNAPLEN_MIN`] to
    /// [`SNAPLEN_MAX`].
    pub snaplen: u32,
    /// Which records are kept.
    pub keep: Keep,
    /// Comment in the section header, for example scenario and seed. An empty text is not written.
    pub comment: &'a str,
    /// Time zero of the capture, in seconds since 1970-01-01 00:00 UTC. Use 0 for virtual time.
    pub start_s: i64,
}

impl Default for WriterOptions<'_> {
    fn default() -> Self {
        Self { snaplen: SNAPLEN_MAX, keep: Keep::All, comment: "", start_s: 0 }
    }
}

/// Describes one interface of a file: one direction of a link, or one Ethernet device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Name in the topology: sending node and port, then receiving node and port, as in
    /// `camera.1>router.3`.
    pub name: &'a str,
    /// Description for the user. An empty text is not written.
    pub description: &'a str,
    /// Signalling rate in bit/s, the sum of all lanes.
    pub speed_bps: Option<u64>,
}

/// Identifies an interface within its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InterfaceId(pub(crate) u32);

impl InterfaceId {
    /// The interface's number in the file, counted from 0.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Number of records kept and left out, summed over all interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureSummary {
    /// Records in the file.
    pub records: u64,
    /// Records left out because of [`Keep`].
    pub left_out: u64,
}
