//! Who is attached.

use super::{Client, Error, Network, Result};
use crate::arena::{FIRST_CLIENT, PARTICIPANTS};
use serde::{Deserialize, Serialize};
use spfe_contract::Status;

/// What a client holds after attaching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Participant id, also its protection domain.
    pub client: u32,
    /// Endpoint.
    pub endpoint: u32,
}

impl Network {
    /// A new client on an endpoint.
    pub fn attach(&self, endpoint: u32, name: &str) -> Result<Attachment> {
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
        let client =
            Client { endpoint, name: name.chars().take(64).collect(), messages: Vec::new() };
        inner.clients.insert(id, client);
        self.shares().events.insert(id, Vec::new());
        Ok(Attachment { client: id, endpoint })
    }

    /// Clients attached: id, endpoint, name.
    pub fn clients(&self) -> Vec<(u32, u32, String)> {
        let inner = self.lock();
        let mut list: Vec<_> =
            inner.clients.iter().map(|(id, c)| (*id, c.endpoint, c.name.clone())).collect();
        list.sort_unstable();
        list
    }
}
