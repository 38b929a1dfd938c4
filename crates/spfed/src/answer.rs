//! Answers to requests: a reply and the descriptors that go with it.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use spfe_contract::Status;
use spfe_host::SharedMemory;
use spfe_plane::{ClientBell, Event, Network};
use spfe_session::{Error, Reply, Result};
use std::sync::Arc;

/// Descriptors that are sent with a reply.
pub(crate) enum Descriptors {
    None,
    /// The client's doorbell; if true, also the memory of the network.
    Network(Arc<ClientBell>, bool),
    Memory(Arc<SharedMemory>),
    Event(Arc<Event>),
    Pipe(OwnedFd),
}

impl Descriptors {
    /// The descriptors, in the order in which the client expects them.
    pub fn list<'a>(&'a self, network: &'a Network) -> Vec<BorrowedFd<'a>> {
        match self {
            Self::None => Vec::new(),
            Self::Network(bell, false) => vec![bell.as_fd()],
            Self::Network(bell, true) => vec![bell.as_fd(), network.arena().memory().fd()],
            Self::Memory(memory) => vec![memory.fd()],
            Self::Event(event) => vec![event.fd()],
            Self::Pipe(pipe) => vec![pipe.as_fd()],
        }
    }
}

/// The reply to a request, or the reason why it is refused.
pub(crate) type Answer = Result<(Reply, Descriptors)>;

/// The answer to a request that returns nothing.
pub(crate) const DONE: Answer = Ok((Reply::Done, Descriptors::None));

/// Refuses a request with this status; `what` names the object, the value and the limit.
pub(crate) fn refuse<T>(status: Status, what: impl Into<String>) -> Result<T> {
    Err(Error::new(status, what))
}

/// The error for a client whose request needs a descriptor that the daemon does not have.
pub(crate) fn no_descriptor() -> Error {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = limit.map_or("no limit".to_owned(), |limit| limit.to_string());
    let what = format!(
        "the daemon has no descriptor left (limit {limit}): close regions, events or connections, or \
         raise its limit (ulimit -n, LimitNOFILE)"
    );
    Error::new(Status::NoResources, what)
}
