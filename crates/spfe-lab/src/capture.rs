//! Live captures: observers of links, and the bounded buffer between links and a slow reader.
//!
//! Links never wait for a reader. Records that do not fit into the buffer of a capture are left out
//! and counted, in the file's statistics and in the result of [`crate::Capture::finish`].
//!
//! Without a capture, an exact link checks one flag in each step, and flows of packet-level links use
//! their fast path. With a capture, flows use their general path.

mod buffer;
mod hub;

pub use buffer::BUFFER_BYTES;
pub(crate) use buffer::Buffer;
pub(crate) use hub::wiring;
pub use hub::{ActiveCaptures, CAPTURES_MAX, Hub, LinkEnd, Now};
pub use spfe_capture::CaptureSummary;

/// Options of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Names of the links, such as `0.0-1.0`; empty for all links.
    pub links: Vec<String>,
    /// Capture every word or character of exact links as well.
    pub words: bool,
    /// Number of packets after which the capture ends.
    pub packets: Option<u64>,
    /// Size of the buffer in bytes.
    pub buffer_bytes: usize,
}

impl Default for CaptureOptions {
    /// All links, without words, without an end, with a buffer of 8 MiB.
    fn default() -> Self {
        Self { links: Vec::new(), words: false, packets: None, buffer_bytes: BUFFER_BYTES }
    }
}
