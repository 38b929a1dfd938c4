//! How a capture is made, and what became of it.

/// The shortest snapshot length: a header, and the longest content that is never cut.
pub const SNAPLEN_MIN: u32 = 64;
/// The longest: what Wireshark takes.
pub const SNAPLEN_MAX: u32 = 262_144;

/// What is kept of a long capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Everything, in the order it comes.
    #[default]
    All,
    /// The beginning: records that would make the file longer than so many bytes are counted and
    /// left out. Interfaces and the end are always written, and not counted here.
    First(u64),
    /// The end: the last records that fit so many bytes, which are held in memory and written by
    /// [`crate::CaptureWriter::finish`].
    Last(usize),
}

/// Settings of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterOptions<'a> {
    /// Bytes of a record that are kept at most, the pseudo-header included: [`SNAPLEN_MIN`] to
    /// [`SNAPLEN_MAX`].
    pub snaplen: u32,
    /// What is kept.
    pub keep: Keep,
    /// For people: scenario, seed. Empty for none.
    pub comment: &'a str,
    /// Time zero of the capture, in seconds since 1970-01-01 00:00 UTC: 0 in virtual time.
    pub start_s: i64,
}

impl Default for WriterOptions<'_> {
    fn default() -> Self {
        Self { snaplen: SNAPLEN_MAX, keep: Keep::All, comment: "", start_s: 0 }
    }
}

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Its name in the topology, as `camera.1>router.3`: from node and port, to node and port.
    pub name: &'a str,
    /// For people. Empty for none.
    pub description: &'a str,
    /// Signalling rate of all lanes together, in bit/s.
    pub speed_bps: Option<u64>,
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InterfaceId(pub(crate) u32);

impl InterfaceId {
    /// Its number in the file, from 0.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// What became of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureSummary {
    /// Records in the file.
    pub records: u64,
    /// Records left out because of [`Keep`].
    pub left_out: u64,
}
