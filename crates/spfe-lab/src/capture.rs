//! Live captures: who looks on at the links of a network, and the bounded buffer between the links
//! and a reader that may be slow.
//!
//! Links never wait for a reader. What does not fit into the buffer of a capture is left out of it
//! and counted; the file's statistics and [`crate::Capture::finish`] say how much that was.
//!
//! Nobody looks on: an exact link asks one flag in each step, a flow of a packet-level link has its
//! fast path, and nothing is looked at. With a capture, flows take their general path.

mod buffer;
mod hub;

pub use buffer::BUFFER_BYTES;
pub(crate) use buffer::Buffer;
pub(crate) use hub::wiring;
pub use hub::{ActiveCaptures, CAPTURES_MAX, Hub, LinkEnd, Now};
pub use spfe_capture::CaptureSummary;

/// What is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Names of links ([`crate::Lab::link_names`]); none for all.
    pub links: Vec<String>,
    /// Every word, or character, of exact links, too.
    pub words: bool,
    /// Ends after so many packets.
    pub packets: Option<u64>,
    /// Bytes that wait for the reader at most.
    pub buffer_bytes: usize,
}

impl Default for CaptureOptions {
    /// All links, no words, no end, 8 MiB.
    fn default() -> Self {
        Self { links: Vec::new(), words: false, packets: None, buffer_bytes: BUFFER_BYTES }
    }
}
