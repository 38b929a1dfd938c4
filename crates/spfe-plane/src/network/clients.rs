//! Attaching clients.

use super::events::ClientEvents;
use super::{Attachment, Client, Error, Network, Result};
use crate::arena::{FIRST_CLIENT, PARTICIPANTS};
use spfe_contract::Status;
use spfe_host::printable;

impl Network {
    /// Attaches a client without limits to an endpoint. The name is for messages; at most 64 characters
    /// are kept, and those that control a terminal are replaced.
    ///
    /// # Errors
    /// NOT_FOUND if there is no such endpoint, NO_RESOURCES if there are too many clients.
    pub fn attach(&self, endpoint: u32, name: &str) -> Result<Attachment> {
        self.attach_for(endpoint, name, None)
    }

    /// Attaches a client that counts to the limits of a user ([`Network::set_limits`]).
    ///
    /// # Errors
    /// Those of [`Network::attach`].
    pub fn attach_for(&self, endpoint: u32, name: &str, user: Option<u32>) -> Result<Attachment> {
        let at = self.attach_stopped(endpoint, name, user)?;
        self.start_nodes(at);
        Ok(at)
    }

    /// The same for a client that starts the nodes at fabric ports itself: registers.
    pub(crate) fn attach_stopped(
        &self,
        endpoint: u32,
        name: &str,
        user: Option<u32>,
    ) -> Result<Attachment> {
        self.exists(endpoint)?;
        let mut inner = self.lock();
        let room = PARTICIPANTS as u32 - FIRST_CLIENT;
        let id = (0..room)
            .map(|step| FIRST_CLIENT + (inner.next_client - FIRST_CLIENT + step) % room)
            .find(|id| !inner.clients.contains_key(id))
            .ok_or_else(|| {
                Error::new(
                    Status::NoResources,
                    format!("{room} clients attached, the most there can be"),
                )
            })?;
        inner.next_client = FIRST_CLIENT + (id + 1 - FIRST_CLIENT) % room;
        self.arena.mark_dead(id, false);
        let name = printable(name).chars().take(64).collect();
        let client = Client { endpoint, name, user, messages: Vec::new(), queues: 0, bytes: 0 };
        inner.clients.insert(id, client);
        self.shares().events.insert(id, ClientEvents { user, vectors: Vec::new() });
        Ok(Attachment { client: id, endpoint })
    }

    /// The attached clients: id, endpoint, name.
    pub fn clients(&self) -> Vec<(u32, u32, String)> {
        let inner = self.lock();
        let mut list: Vec<_> =
            inner.clients.iter().map(|(id, c)| (*id, c.endpoint, c.name.clone())).collect();
        list.sort_unstable();
        list
    }
}
