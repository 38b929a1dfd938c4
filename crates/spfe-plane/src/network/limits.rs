//! What the clients of one user may have. A user is whoever the daemon counts together, such as a user
//! of the system; clients without one have no limit.

use super::{Attachment, Error, Inner, Network, Result};
use spfe_contract::Status;

/// What all clients of one user may have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserLimits {
    /// Registered memory in bytes.
    pub bytes: u64,
    /// Registered memory of the clients of all users in bytes.
    pub total_bytes: u64,
    /// Regions at each endpoint.
    pub regions: usize,
    /// Queues of packets and messages.
    pub queues: usize,
    /// Event vectors.
    pub events: usize,
}

impl Default for UserLimits {
    /// No limits.
    fn default() -> Self {
        let many = usize::MAX;
        Self { bytes: u64::MAX, total_bytes: u64::MAX, regions: many, queues: many, events: many }
    }
}

fn refuse<T>(what: String) -> Result<T> {
    Err(Error::new(Status::QuotaExceeded, what))
}

impl Inner {
    fn user(&self, client: u32) -> Option<u32> {
        self.clients.get(&client)?.user
    }
}

impl Network {
    /// Sets the limits of users. They hold for what is created from now on.
    pub fn set_limits(&self, limits: UserLimits) {
        self.lock().limits = limits;
        self.shares().events_max = limits.events;
    }

    /// Checks that the limits of its user allow a client a region of this size.
    ///
    /// # Errors
    /// QUOTA_EXCEEDED with the limit that it would exceed; NO_RESOURCES if it is that of all users.
    pub fn check_region(&self, at: Attachment, bytes: u64) -> Result<()> {
        self.limit_region(&self.lock(), at, bytes)
    }

    pub(super) fn limit_region(&self, inner: &Inner, at: Attachment, bytes: u64) -> Result<()> {
        let Some(user) = inner.user(at.client) else { return Ok(()) };
        let limits = inner.limits;
        let regions = inner.regions[at.endpoint as usize].iter();
        let count = regions
            .filter(|region| region.memory.is_some() && inner.user(region.client) == Some(user))
            .count();
        if count >= limits.regions {
            return refuse(format!(
                "the clients of user {user} have {count} regions at endpoint {}, the limit of a user; \
                 use fewer, larger regions, or raise the limit with spfed --max-regions",
                at.endpoint
            ));
        }
        let counted = inner.clients.values().filter(|client| client.user.is_some());
        let (mut own, mut total) = (0u64, 0u64);
        for client in counted {
            total += client.bytes;
            own += if client.user == Some(user) { client.bytes } else { 0 };
        }
        if bytes > limits.bytes.saturating_sub(own) {
            return refuse(format!(
                "region of {bytes} bytes: the clients of user {user} have registered {own} of their {} \
                 bytes; raise the limit with spfed --max-memory",
                limits.bytes
            ));
        }
        if bytes > limits.total_bytes.saturating_sub(total) {
            // Not this user's share is used up but the device's.
            let what = format!(
                "region of {bytes} bytes: all clients have registered {total} of their {} bytes; raise \
                 the limit with spfed --max-total-memory",
                limits.total_bytes
            );
            return Err(Error::new(Status::NoResources, what));
        }
        Ok(())
    }

    /// Checks that a client may create a queue.
    ///
    /// # Errors
    /// QUOTA_EXCEEDED if its user has the largest number.
    pub(super) fn check_queues(&self, inner: &Inner, at: Attachment) -> Result<()> {
        let Some(user) = inner.user(at.client) else { return Ok(()) };
        let clients = inner.clients.values().filter(|client| client.user == Some(user));
        let count: usize = clients.map(|client| client.queues + client.messages.len()).sum();
        if count < inner.limits.queues {
            return Ok(());
        }
        refuse(format!(
            "the clients of user {user} have {count} queues, the limit of a user; close some, or raise \
             the limit with spfed --max-queues"
        ))
    }
}
