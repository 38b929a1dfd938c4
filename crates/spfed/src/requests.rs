//! What each request does.

use crate::connection::{Connection, Shared};
use crate::{CLIENTS_MAX, say};
use rustix::fd::OwnedFd;
use spfe_contract::{CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR, MibItem, Status};
use spfe_device::memory::RegionKey;
use spfe_net::os::SharedMemory;
use spfe_net::{Attachment, Event, Mode, Network};
use spfe_session::{
    ClientInfo, Error, Hello, MIB_ENTRIES, NetworkInfo, Reply, Request, Result, WANT_ENGINE,
    Welcome,
};
use std::sync::Arc;

/// Descriptors that go with a reply.
pub(crate) enum Carry {
    Nothing,
    Network(bool),
    Memory(Arc<SharedMemory>),
    Event(Arc<Event>),
    Pipe(OwnedFd),
}

/// The reply to a request, or why it is refused.
pub(crate) type Answer = Result<(Reply, Carry)>;

const DONE: Answer = Ok((Reply::Done, Carry::Nothing));

pub(crate) fn refuse<T>(status: Status, what: impl Into<String>) -> Result<T> {
    Err(Error::new(status, what))
}

impl Connection {
    /// Does what is asked.
    pub fn answer(&mut self, request: &Request, fds: Vec<OwnedFd>, shared: &mut Shared) -> Answer {
        if let Request::Hello(hello) = request {
            return self.hello(hello, shared);
        }
        if let Some(answer) = look(request, &shared.network) {
            return answer;
        }
        match request {
            Request::Capture(wanted) => return self.begin_capture(wanted, &shared.network),
            Request::EndCapture => return self.end_capture(),
            _ => {}
        }
        let Some(at) = self.at else {
            return refuse(Status::BadField, format!("{} before Hello", request.name()));
        };
        let network = shared.network.clone();
        match *request {
            Request::Hello(_) | Request::Ping => DONE,
            Request::Goodbye => network.detach(at, false).and(DONE),
            Request::AddRegion { size, access } => self.add_region(at, size, access, fds, shared),
            Request::RemoveRegion { key } => {
                network.remove_region(at, RegionKey(key))?;
                self.regions.remove(&key);
                DONE
            }
            Request::RegionMemory { endpoint, key } => region_memory(&network, endpoint, key),
            Request::AddEvent => {
                let vector = network.add_event(at, event(fds)?)?;
                Ok((Reply::Vector { vector }, Carry::Nothing))
            }
            Request::Event { participant, vector } => event_of(&network, participant, vector),
            Request::CreateQueue(ref queue) => network.create_queue(at, *queue).and(DONE),
            Request::DestroyQueue { port, vc, kind } => {
                network.destroy_queue(at, port, vc, kind).and(DONE)
            }
            Request::PortInfo { port } => {
                let info = network.port_info(at.endpoint, port)?;
                Ok((Reply::Port(info), Carry::Nothing))
            }
            Request::SetPriority { port, vc, priority } => {
                network.set_priority(at, port, vc, priority).and(DONE)
            }
            Request::PortMib { port, first } => {
                let list = network.port_mib(at.endpoint, port)?;
                let part = list.into_iter().skip(first as usize).take(MIB_ENTRIES);
                Ok((Reply::Mib(part.collect()), Carry::Nothing))
            }
            Request::MibItem { port, item, index } => {
                let Some(item) = MibItem::from_raw(item) else {
                    return refuse(
                        Status::NotFound,
                        format!("port {port}: there is no item {item}"),
                    );
                };
                let value = network.mib_item(at.endpoint, port, item, index)?;
                Ok((Reply::Value(value), Carry::Nothing))
            }
            Request::Link { port, command } => network.link_command(at, port, command).and(DONE),
            Request::Reset => {
                network.reset(at)?;
                self.regions.clear();
                DONE
            }
            // Answered above.
            Request::Clients
            | Request::Look
            | Request::LookAtPort { .. }
            | Request::Capture(_)
            | Request::EndCapture => DONE,
        }
    }

    fn hello(&mut self, hello: &Hello, shared: &mut Shared) -> Answer {
        if self.at.is_some() {
            return refuse(Status::BadField, "a second Hello on a connection");
        }
        let ours = (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR);
        let theirs = hello.contract;
        if theirs.0 != ours.0 {
            let what = format!(
                "the daemon has contract {}.{}, the client {}.{}: the major versions must be \
                 equal; install both of the same release",
                ours.0, ours.1, theirs.0, theirs.1
            );
            return refuse(Status::BadVersion, what);
        }
        let topology = shared.network.topology().clone();
        let shares = topology.mode != Mode::Thread;
        if hello.wants & !WANT_ENGINE != 0 {
            let what =
                format!("Hello wants {:#x}; this daemon knows {WANT_ENGINE:#x}", hello.wants);
            return refuse(Status::BadVersion, what);
        }
        if shares && hello.wants & WANT_ENGINE == 0 {
            let what = format!(
                "mode {}: the clients move the packets, and this one cannot: start the daemon with \
                 --mode thread",
                topology.mode
            );
            return refuse(Status::BadField, what);
        }
        if shared.clients >= CLIENTS_MAX {
            let what = format!("{CLIENTS_MAX} clients attached, the most there can be");
            return refuse(Status::NoResources, what);
        }
        let endpoint = hello.endpoint.unwrap_or_else(|| least_used(&shared.network));
        let at = shared.network.attach(endpoint, &hello.name)?;
        (self.at, self.name) = (Some(at), hello.name.clone());
        shared.clients += 1;
        shared.served = true;
        if shared.config.verbose {
            say(format_args!("{} attached to endpoint {endpoint}", self.label()));
        }
        let welcome = Welcome { contract: ours, attachment: at, topology };
        Ok((Reply::Welcome(welcome), Carry::Network(shares)))
    }

    fn add_region(
        &mut self,
        at: Attachment,
        size: u64,
        access: u32,
        fds: Vec<OwnedFd>,
        shared: &mut Shared,
    ) -> Answer {
        let config = &shared.config;
        if self.regions.len() >= config.max_regions {
            let what = format!(
                "{} regions registered, the most a client can have: use fewer and larger ones",
                config.max_regions
            );
            return refuse(Status::NoResources, what);
        }
        let used: u64 = self.regions.values().sum();
        if size > config.max_memory.saturating_sub(used) {
            let what = format!(
                "region of {size} bytes: {used} of the {} bytes a client can register are in use; \
                 spfed --max-memory sets the limit",
                config.max_memory
            );
            return refuse(Status::NoResources, what);
        }
        let memory = Arc::new(crate::peer::memory(one(fds, "AddRegion")?, size)?);
        let key = shared.network.add_region(at, memory.clone(), access)?;
        if shared.network.topology().mode == Mode::Thread {
            shared.unmapped.add(&memory);
        }
        self.regions.insert(key.0, size);
        Ok((Reply::Region { key: key.0 }, Carry::Nothing))
    }
}

/// The one descriptor a request must come with.
fn one(fds: Vec<OwnedFd>, request: &str) -> Result<OwnedFd> {
    let count = fds.len();
    match <[OwnedFd; 1]>::try_from(fds) {
        Ok([fd]) => Ok(fd),
        Err(_) => {
            refuse(Status::BadField, format!("{request} with {count} descriptors; it takes one"))
        }
    }
}

fn event(fds: Vec<OwnedFd>) -> Result<Event> {
    crate::peer::event(one(fds, "AddEvent")?)
}

/// What changes nothing and needs no attachment.
fn look(request: &Request, network: &Network) -> Option<Answer> {
    let reply = match *request {
        Request::Clients => Reply::Clients(clients(network)),
        Request::Look => Reply::Network(NetworkInfo {
            contract: (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR),
            topology: network.topology().clone(),
            names: network.names().to_vec(),
        }),
        Request::LookAtPort { endpoint, port } => match network.port_info(endpoint, port) {
            Ok(info) => Reply::Port(info),
            Err(error) => return Some(Err(error)),
        },
        _ => return None,
    };
    Some(Ok((reply, Carry::Nothing)))
}

fn closed<T>(network: &Network, what: &str) -> Result<T> {
    let what = format!("mode {}: {what} of others are not given out", network.topology().mode);
    refuse(Status::AccessDenied, what)
}

fn region_memory(network: &Network, endpoint: u32, key: u16) -> Answer {
    if network.topology().mode == Mode::Thread {
        return closed(network, "regions");
    }
    match network.region_memory(endpoint, RegionKey(key)) {
        Some(memory) => Ok((Reply::Memory { size: memory.size() as u64 }, Carry::Memory(memory))),
        None => {
            let what = format!("endpoint {endpoint}: region {key:#06x} is not registered");
            refuse(Status::BadRegion, what)
        }
    }
}

fn event_of(network: &Network, participant: u32, vector: u32) -> Answer {
    if network.topology().mode == Mode::Thread {
        return closed(network, "events");
    }
    match network.event(participant, vector) {
        Some(event) => Ok((Reply::Event, Carry::Event(event))),
        None => refuse(Status::NotFound, format!("client {participant} has no event {vector}")),
    }
}

fn clients(network: &Network) -> Vec<ClientInfo> {
    let info = |(client, endpoint, name)| ClientInfo { client, endpoint, name };
    network.clients().into_iter().map(info).collect()
}

/// The endpoint with the fewest clients, the lowest number first.
fn least_used(network: &Network) -> u32 {
    let clients = network.clients();
    let used = |endpoint: &u32| clients.iter().filter(|client| client.1 == *endpoint).count();
    (0..network.topology().endpoints.len() as u32).min_by_key(used).unwrap_or(0)
}
