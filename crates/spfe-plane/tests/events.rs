//! Event vectors: where the event of a queue goes, and how long a vector lives.

#[path = "raw/mod.rs"]
mod raw;

use raw::{Client, network};
use rustix::event::{EventfdFlags, eventfd};
use spfe_contract::{QueueKind, QueueSetup, Status};
use spfe_host::{ControlError as Error, Mode, QueueRequest};
use spfe_plane::network::EVENTS_MAX;
use spfe_plane::{Event, RegisterFile, Segments, Stride};
use std::sync::Arc;

fn event() -> Event {
    Event::own(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap())
}

impl Client {
    fn vector(&self) -> Result<u32, Error> {
        self.network.add_event(self.at, event())
    }

    fn knows(&self, vector: u32) -> bool {
        self.network.event(self.at.client, vector).is_some()
    }

    fn create(&self, request: &QueueRequest, vc: u32, vector: u32) -> Result<(), Error> {
        self.network.create_queue(
            self.at,
            QueueRequest { vc, setup: QueueSetup { vector, ..request.setup }, ..*request },
        )
    }

    fn destroy(&self, request: &QueueRequest, vc: u32) {
        self.network.destroy_queue(self.at, request.port, vc, request.kind as u8).unwrap();
    }
}

#[test]
fn a_vector_ends_with_the_last_queue_that_uses_it() {
    let network = network(Mode::Inline);
    let mut client = Client::new(&network, 0);
    let (first, _) = client.request(QueueKind::Tx, 0);
    let (second, _) = client.request(QueueKind::Rx, 0);
    let (messages, _) = client.request(QueueKind::MessageRx, 9);
    for _ in 0..2 * EVENTS_MAX {
        let vector = client.vector().unwrap();
        client.create(&first, 0, vector).unwrap();
        client.create(&second, 0, vector).unwrap();
        client.create(&messages, 9, vector).unwrap();
        client.destroy(&first, 0);
        client.destroy(&second, 0);
        assert!(client.knows(vector), "the message queue still uses it");
        client.destroy(&messages, 9);
        assert!(!client.knows(vector));
    }
    let vector = client.vector().unwrap();
    client.create(&first, 0, vector).unwrap();
    network.reset(client.at).unwrap();
    assert!(!client.knows(vector), "a reset ends queues too");
}

#[test]
fn a_refused_queue_frees_its_vector() {
    let network = network(Mode::Inline);
    let mut client = Client::new(&network, 0);
    let (request, _) = client.request(QueueKind::Tx, 0);
    for _ in 0..2 * EVENTS_MAX {
        let vector = client.vector().unwrap();
        let error = client.create(&request, 99, vector).unwrap_err();
        assert_eq!(error.status(), Status::BadVc);
        assert!(!client.knows(vector));
        let error = client.create(&request, 0, vector).unwrap_err();
        assert_eq!(error.status(), Status::NotFound);
        assert!(error.what.contains(&format!("event vector {vector} ")), "{error}");
    }
    let vectors: Vec<_> = (0..EVENTS_MAX).map(|_| client.vector().unwrap()).collect();
    assert_eq!(client.vector().unwrap_err().status(), Status::NoResources);
    let error = client.create(&request, 99, vectors[0]).unwrap_err();
    assert_eq!(error.status(), Status::BadVc);
    client.vector().expect("one vector is free");
}

#[test]
fn a_late_request_does_not_find_the_next_clients_vector() {
    let network = network(Mode::Inline);
    let client = Client::new(&network, 0);
    let (id, old) = (client.at.client, client.vector().unwrap());
    network.detach(client.at, true).unwrap();
    // Client ids are used again.
    let mut next = Client::new(&network, 0);
    for _ in 0..spfe_plane::arena::PARTICIPANTS {
        if next.at.client == id {
            break;
        }
        network.detach(next.at, false).unwrap();
        next = Client::new(&network, 0);
    }
    assert_eq!(next.at.client, id, "the id is used again");
    for _ in 0..EVENTS_MAX {
        assert_ne!(next.vector().unwrap(), old);
        assert!(!next.knows(old));
    }
}

#[test]
fn a_register_file_has_only_its_own_vectors() {
    let network = network(Mode::Inline);
    let segments = Arc::new(Segments::default());
    let face = RegisterFile::new(network.clone(), 0, segments, Stride::Usual).unwrap();
    let id = network.clients()[0].0;
    let known = |vector: &u32| network.event(id, *vector).is_some();
    let before: Vec<_> = (1..100).filter(known).collect();
    assert_eq!(before.len(), 64);
    drop(face);
    assert!(!before.iter().any(known));
}
