//! Live captures: who looks on at the links of a network, and the bounded buffer between the links
//! and a reader that may be slow.
//!
//! Links never wait for a reader. What does not fit into the buffer of a capture is left out of it
//! and counted; the file's statistics and [`Capture::finish`] say how much that was.
//!
//! Nobody looks on: an exact link asks one flag in each step, a flow of a packet-level link has its
//! fast path, and nothing is looked at. With a capture, flows take their general path.

mod buffer;
mod hub;

use crate::network::{Error, Network};
pub use buffer::BUFFER_BYTES;
pub(crate) use buffer::Buffer;
pub(crate) use hub::wiring;
pub use hub::{CAPTURES_MAX, Hub, LinkEnd, Look, Now};
pub use spfe_capture::CaptureSummary;
use std::io::Write;
use std::sync::{Arc, Weak};

/// What is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// Names of links ([`Network::link_names`]); none for all.
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

/// A capture under way; it ends when dropped.
pub struct Capture {
    network: Weak<Network>,
    hub: Arc<Hub>,
    buffer: Arc<Buffer>,
    id: u32,
}

impl Capture {
    /// Begins a capture of a network's links, a pcapng file (docs/capture.md) that a thread of its
    /// own writes. In real time its times are those of the day; in virtual time they are the
    /// network's.
    ///
    /// # Errors
    /// NOT_FOUND for a name that is no link's, BUSY when there are [`CAPTURES_MAX`] captures.
    pub fn start(
        network: &Arc<Network>,
        options: &CaptureOptions,
        to: Box<dyn Write + Send>,
    ) -> Result<Self, Error> {
        let hub = network.hub().clone();
        let buffer = Buffer::new(options.buffer_bytes);
        let id = network.begin_capture(options, &buffer)?;
        let capture = Self { network: Arc::downgrade(network), hub, buffer, id };
        capture.buffer.write_to(to)?;
        Ok(capture)
    }

    /// Whether it has ended by itself: it has as many packets as it wanted, or its writer failed.
    pub fn has_ended(&self) -> bool {
        self.buffer.has_ended()
    }

    /// Ends the file: what became of the records. The thread goes on until all is written.
    pub fn end(&mut self) -> CaptureSummary {
        let summary = self.hub.end(self.id);
        if let Some(network) = self.network.upgrade() {
            network.retap();
        }
        summary
    }

    /// Ends the file, and waits until all of it is written.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> std::io::Result<CaptureSummary> {
        let summary = self.end();
        self.buffer.wait()?;
        Ok(summary)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.end();
    }
}
