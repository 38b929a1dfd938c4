//! Event vectors: which descriptor a queue's event goes to, and for how long.
//!
//! A vector's number is never given to another one, neither of this client nor of the next with its
//! id: who asks late, with the number of a queue that is gone, finds nothing.

use super::{Attachment, Error, Network, Result, Shares};
use crate::event::Event;
use spfe_contract::Status;
use std::sync::Arc;

/// Most event vectors of a client at a time.
pub const EVENTS_MAX: usize = 64;

/// An event vector of a client.
pub(super) struct Vector {
    number: u32,
    event: Arc<Event>,
    /// Queues that name it.
    queues: u32,
    /// It stays when the last queue that names it goes.
    keep: bool,
}

impl Shares {
    /// A number no vector had before; 0 is none.
    fn vector_number(&mut self) -> u32 {
        self.last_vector = self.last_vector.wrapping_add(1).max(1);
        self.last_vector
    }

    fn vector(&mut self, client: u32, number: u32) -> Option<&mut Vector> {
        self.events.get_mut(&client)?.iter_mut().find(|vector| vector.number == number)
    }
}

impl Network {
    /// What signals a participant's event vector.
    pub fn event(&self, participant: u32, vector: u32) -> Option<Arc<Event>> {
        self.shares().vector(participant, vector).map(|vector| vector.event.clone())
    }

    /// Registers what is signalled when a queue's event is due; the vector queues name it by, never
    /// 0. It goes with the last queue that names it, and also if creating a first one is refused.
    ///
    /// # Errors
    /// NO_RESOURCES beyond [`EVENTS_MAX`] of a client, NOT_FOUND if the client is not attached.
    pub fn add_event(&self, at: Attachment, event: Event) -> Result<u32> {
        self.add_vector(at, event, false)
    }

    /// As [`Network::add_event`], for as long as the client is attached.
    pub fn add_event_for_good(&self, at: Attachment, event: Event) -> Result<u32> {
        self.add_vector(at, event, true)
    }

    fn add_vector(&self, at: Attachment, event: Event, keep: bool) -> Result<u32> {
        let mut shares = self.shares();
        let number = shares.vector_number();
        let vectors = shares.events.get_mut(&at.client).ok_or_else(|| {
            Error::new(Status::NotFound, format!("client {} is not attached", at.client))
        })?;
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

    /// A queue of the client names the vector from now on (0: it has none).
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

    /// A queue that named the vector has gone.
    pub(super) fn leave_event(&self, client: u32, number: u32) {
        let mut shares = self.shares();
        let Some(vectors) = shares.events.get_mut(&client) else { return };
        vectors.retain_mut(|vector| {
            if vector.number != number {
                return true;
            }
            vector.queues = vector.queues.saturating_sub(1);
            vector.keep || vector.queues != 0
        });
    }
}
