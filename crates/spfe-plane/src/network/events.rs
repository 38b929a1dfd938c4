//! Event vectors: the eventfds of queues, and their lifetime.
//!
//! Numbers of vectors are never reused, not even by a later client with the same id. A late request
//! with the number of a closed queue finds no vector.

use super::{Attachment, Error, Network, Result, Shares};
use crate::event::Event;
use spfe_contract::Status;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of event vectors of a client: two for each other node of a fabric of 64.
pub const EVENTS_MAX: usize = 128;

/// The event vectors of a client.
pub(super) struct ClientEvents {
    /// The user whose limits the client counts to; `None` without limits.
    pub user: Option<u32>,
    pub vectors: Vec<Vector>,
}

/// An event vector of a client.
pub(super) struct Vector {
    number: u32,
    event: Arc<Event>,
    /// Number of queues that use it.
    queues: u32,
    /// It stays when the last queue that uses it is destroyed.
    keep: bool,
}

impl Shares {
    pub fn new() -> Self {
        Self {
            memories: HashMap::new(),
            events: HashMap::new(),
            events_max: usize::MAX,
            last_vector: 0,
        }
    }

    /// Number of event vectors of the clients of a user.
    fn events_of(&self, user: u32) -> usize {
        let clients = self.events.values().filter(|client| client.user == Some(user));
        clients.map(|client| client.vectors.len()).sum()
    }

    /// A new number, never 0.
    fn vector_number(&mut self) -> u32 {
        self.last_vector = self.last_vector.wrapping_add(1).max(1);
        self.last_vector
    }

    fn vector(&mut self, client: u32, number: u32) -> Option<&mut Vector> {
        self.events.get_mut(&client)?.vectors.iter_mut().find(|vector| vector.number == number)
    }
}

impl Network {
    /// The eventfd of a participant's event vector.
    pub fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        self.shares().vector(participant, vector).map(|vector| vector.event.clone())
    }

    /// Adds an event vector and returns its number, which is never 0. It is dropped with the last
    /// queue that uses it, or if the creation of its first queue fails.
    ///
    /// # Errors
    /// NO_RESOURCES if the client has [`EVENTS_MAX`], QUOTA_EXCEEDED if its user has its share, NOT_FOUND if the client is not attached.
    pub fn add_event(&self, at: Attachment, event: Event) -> Result<u32> {
        self.add_vector(at, event, false)
    }

    /// Adds an event vector that stays until the client is detached.
    ///
    /// # Errors
    /// Those of [`Network::add_event`].
    pub fn add_event_for_good(&self, at: Attachment, event: Event) -> Result<u32> {
        self.add_vector(at, event, true)
    }

    fn add_vector(&self, at: Attachment, event: Event, keep: bool) -> Result<u32> {
        let mut shares = self.shares();
        let number = shares.vector_number();
        let user = shares.events.get(&at.client).and_then(|client| client.user);
        if let Some(user) = user
            && shares.events_of(user) >= shares.events_max
        {
            let what = format!(
                "the clients of user {user} have registered {} events, the limit of a user; close \
                 queues that have one, or raise the limit with spfed --max-events",
                shares.events_max
            );
            return Err(Error::new(Status::QuotaExceeded, what));
        }
        let client = shares.events.get_mut(&at.client).ok_or_else(|| {
            Error::new(Status::NotFound, format!("client {} is not attached", at.client))
        })?;
        let vectors = &mut client.vectors;
        if vectors.len() >= EVENTS_MAX {
            let what = format!(
                "client {}: {EVENTS_MAX} events registered, the most there can be at a time: close \
                 queues that have one",
                at.client
            );
            return Err(Error::new(Status::NoResources, what));
        }
        vectors.push(Vector { number, event: Arc::new(event), queues: 0, keep });
        Ok(number)
    }

    /// Counts a queue that uses the vector; 0 stands for no vector.
    pub(super) fn use_event(&self, client: u32, number: u32) -> Result<()> {
        if number == 0 {
            return Ok(());
        }
        let mut shares = self.shares();
        let Some(vector) = shares.vector(client, number) else {
            let what = format!(
                "event vector {number} is not registered by client {client}: register it first"
            );
            return Err(Error::new(Status::NotFound, what));
        };
        vector.queues += 1;
        Ok(())
    }

    /// Removes a queue that used the vector.
    pub(super) fn leave_event(&self, client: u32, number: u32) {
        let mut shares = self.shares();
        let Some(client) = shares.events.get_mut(&client) else { return };
        client.vectors.retain_mut(|vector| {
            if vector.number != number {
                return true;
            }
            vector.queues = vector.queues.saturating_sub(1);
            vector.keep || vector.queues != 0
        });
    }
}
