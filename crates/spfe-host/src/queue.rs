//! Which queue a client opens, and how.

use serde::{Deserialize, Serialize};
use spfe_contract::{QueueKind, QueueSetup};
use std::ops::{Deref, DerefMut};

/// The queue that a client asks for. Reads and writes as its [`QueueSetup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRequest {
    /// Port.
    pub port: u32,
    /// Virtual channel. For messages any number: [`crate::Backend::destroy_queue`] finds the queue
    /// by it, where a client has several on a port.
    pub vc: u32,
    /// How the queue is set up. `vector` is an event vector of [`crate::Backend::add_event`], 0 for
    /// none. The control plane sets `domain`.
    pub setup: QueueSetup,
}

impl QueueRequest {
    /// What the queue does; `None` for a number that the contract does not have.
    pub fn queue_kind(&self) -> Option<QueueKind> {
        QueueKind::from_raw(u8::try_from(self.setup.kind).ok()?)
    }
}

impl Deref for QueueRequest {
    type Target = QueueSetup;
    fn deref(&self) -> &QueueSetup {
        &self.setup
    }
}

impl DerefMut for QueueRequest {
    fn deref_mut(&mut self) -> &mut QueueSetup {
        &mut self.setup
    }
}
