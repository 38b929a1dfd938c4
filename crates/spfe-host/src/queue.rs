//! Which queue a client opens, and how.

use serde::{Deserialize, Serialize};

/// A queue a client wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRequest {
    /// Port.
    pub port: u32,
    /// Virtual channel. For messages any number: what [`crate::Backend::destroy_queue`] finds it by,
    /// where a client has several on a port.
    pub vc: u32,
    /// `queue_kind`.
    pub kind: u8,
    /// `queue_options`.
    pub options: u32,
    /// Event vector ([`crate::Backend::add_event`]); 0: none.
    pub vector: u32,
    /// Submission ring entries, log2.
    pub sq_log2: u32,
    /// Completion ring entries, log2.
    pub cq_log2: u32,
    /// Submission ring {region, offset}.
    pub sq: u64,
    /// Completion ring.
    pub cq: u64,
    /// Side array of times.
    pub stamps: u64,
    /// Host line, then device line.
    pub lines: u64,
    /// Packed area.
    pub area: u64,
    /// Packed area bytes.
    pub area_bytes: u32,
    /// Message filter.
    pub filter: u32,
}
