//! Executes the requests of clients.

use crate::answer::{Answer, DONE, Descriptors, refuse};
use crate::capture::LiveCapture;
use crate::client::{Client, ServerState};
use crate::populate::Unmapped;
use crate::roster::{Phase, Place};
use crate::say;
use rustix::fd::OwnedFd;
use spfe_contract::{
    CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR, MibItem, MibScope, QueueKind, Status,
};
use spfe_device::memory::RegionKey;
use spfe_host::pairs::counter_name;
use spfe_host::{Attachment, LinkCommand, Mode, QueueRequest};
use spfe_lab::FaultChoice;
use spfe_plane::{ClientBell, Network};
use spfe_session::{
    CaptureRequest, ClientInfo, Hello, MIB_ENTRIES, NetworkInfo, PairInfo, Reply, Request, Result,
    WANT_ENGINE, Welcome,
};
use std::sync::Arc;

impl Client {
    /// Executes one request.
    pub fn answer(
        &mut self,
        request: &Request,
        fd: Option<OwnedFd>,
        server: &ServerState,
        place: &Place,
        unmapped: &mut Unmapped,
    ) -> Answer {
        if let Request::Hello(hello) = request {
            return self.hello(hello, server, place);
        }
        if let Some(answer) = inspect(request, &server.network) {
            return answer;
        }
        match request {
            Request::Capture(wanted) => return self.begin_capture(wanted, server, place),
            Request::EndCapture => return self.end_capture(),
            Request::Fault { fault } => return self.add_fault(fault, server),
            Request::EndFaults { which } => return self.end_faults(which, server),
            Request::Faults => {
                return Ok((Reply::Faults(server.lab.faults()), Descriptors::None));
            }
            _ => {}
        }
        let Some(at) = self.attachment else {
            return refuse(Status::BadField, format!("{} before Hello", request.name()));
        };
        let network = server.network.clone();
        match *request {
            Request::Hello(_) | Request::Ping => DONE,
            Request::Goodbye => network.detach(at, false).and(DONE),
            Request::AddRegion { size, access } => {
                network.check_region(at, size)?;
                let memory = Arc::new(crate::peer::memory(one(fd, "AddRegion")?, size)?);
                let isolated = network.topology().mode == Mode::Thread;
                if isolated {
                    crate::peer::keep_pages(&memory)?;
                }
                let key = network.add_region(at, memory.clone(), access)?;
                if isolated {
                    unmapped.add(&memory);
                }
                Ok((Reply::Region { key: key.0 }, Descriptors::None))
            }
            Request::RemoveRegion { key } => network.remove_region(at, RegionKey(key)).and(DONE),
            Request::RegionMemory { endpoint, key } => foreign_memory(&network, endpoint, key),
            Request::AddEvent => {
                let event = crate::peer::event(one(fd, "AddEvent")?, &mut self.signaller)?;
                let vector = network.add_event(at, event)?;
                Ok((Reply::Vector { vector }, Descriptors::None))
            }
            Request::Event { participant, vector } => foreign_event(&network, participant, vector),
            Request::CreateQueue(ref queue) => {
                check_pair(&network, queue)?;
                network.create_queue(at, *queue).and(DONE)
            }
            Request::DestroyQueue { port, vc, kind } => {
                network.destroy_queue(at, port, vc, kind).and(DONE)
            }
            Request::PortInfo { port } => {
                let info = network.port_info(at.endpoint, port)?;
                Ok((Reply::Port(info), Descriptors::None))
            }
            Request::SetPriority { port, vc, priority } => {
                self.check_channel(at, &network, port, vc)?;
                network.set_priority(at, port, vc, priority).and(DONE)
            }
            Request::PortMib { port, first } => {
                let list = network.port_mib(at.endpoint, port)?;
                let part = list.into_iter().skip(first as usize).take(MIB_ENTRIES);
                Ok((Reply::Mib(part.collect()), Descriptors::None))
            }
            Request::MibItem { port, item, index } => {
                let Some(item) = MibItem::from_raw(item) else {
                    return refuse(Status::NotFound, format!("port {port}: no MIB item {item}"));
                };
                let value = network.mib_item(at.endpoint, port, item, index)?;
                Ok((Reply::Value(value), Descriptors::None))
            }
            Request::Link { port, command } => {
                self.check_command(at, &network, port, command)?;
                network.link_command(at, port, command).and(DONE)
            }
            Request::Reset => network.reset(at).and(DONE),
            // Handled above.
            Request::Clients
            | Request::Network
            | Request::NetworkPort { .. }
            | Request::Pair { .. }
            | Request::Capture(_)
            | Request::EndCapture
            | Request::Fault { .. }
            | Request::EndFaults { .. }
            | Request::Faults => DONE,
        }
    }

    fn hello(&mut self, hello: &Hello, server: &ServerState, place: &Place) -> Answer {
        if self.attachment.is_some() {
            return refuse(Status::BadField, "Hello: this connection is attached already");
        }
        let ours = (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR);
        let theirs = hello.contract;
        if theirs.0 != ours.0 {
            let what = format!(
                "the daemon implements contract {}.{}, the client {}.{}; the major versions \
                 must be equal: install both from one release",
                ours.0, ours.1, theirs.0, theirs.1
            );
            return refuse(Status::BadVersion, what);
        }
        let topology = server.network.topology().clone();
        let shares = topology.mode != Mode::Thread;
        if hello.wants & !WANT_ENGINE != 0 {
            let what =
                format!("Hello wants {:#x}; this daemon knows {WANT_ENGINE:#x}", hello.wants);
            return refuse(Status::BadVersion, what);
        }
        if shares && hello.wants & WANT_ENGINE == 0 {
            let what = format!(
                "mode {}: clients must move packets themselves, and this client cannot; start the \
                 daemon with --mode thread",
                topology.mode
            );
            return refuse(Status::BadField, what);
        }
        let endpoint = hello.endpoint.unwrap_or_else(|| least_used(&server.network));
        let bell = Arc::new(ClientBell::new(server.network.bells())?);
        place.attach()?;
        let at = server
            .network
            .attach_for(endpoint, &hello.name, Some(place.user))
            .inspect_err(|_| place.set(Phase::Asking))?;
        self.bell = Some(bell.clone());
        (self.attachment, self.name) = (Some(at), hello.name.clone());
        if server.config.verbose {
            say(format_args!("{} attached to endpoint {endpoint}", self.label()));
        }
        let name = server.network.names().get(endpoint as usize).cloned().unwrap_or_default();
        let chain_max = spfe_plane::CHAIN_MAX as u32;
        let welcome = Welcome { contract: ours, chain_max, attachment: at, name, topology };
        Ok((Reply::Welcome(welcome), Descriptors::Network(bell, shares)))
    }

    fn begin_capture(
        &mut self,
        wanted: &CaptureRequest,
        server: &ServerState,
        place: &Place,
    ) -> Answer {
        if !self.is_admin {
            let what = "capture: it shows the packets of all clients, so only the daemon's own \
                        user and root may start one";
            return refuse(Status::AccessDenied, what);
        }
        if self.capture.is_some() {
            return refuse(Status::Busy, "capture: this connection has one already; end it first");
        }
        let (capture, reader) = LiveCapture::start(&server.lab, wanted)?;
        self.capture = Some(capture);
        if self.attachment.is_none() {
            place.set(Phase::Capturing);
        }
        Ok((Reply::Capturing, Descriptors::Pipe(reader)))
    }

    /// Faults concern all clients, so they are for the daemon's own user and root.
    fn may_disturb(&self) -> Result<()> {
        if self.is_admin {
            return Ok(());
        }
        let what = "fault: it disturbs the links of all clients, so only the daemon's own user and \
                    root may give or end one";
        refuse(Status::AccessDenied, what)
    }

    fn add_fault(&self, fault: &str, server: &ServerState) -> Answer {
        self.may_disturb()?;
        let number = server.lab.add_fault(fault)?;
        Ok((Reply::Value(number.into()), Descriptors::None))
    }

    fn end_faults(&self, which: &str, server: &ServerState) -> Answer {
        self.may_disturb()?;
        let count = server.lab.end_faults(&FaultChoice::of(which))?;
        Ok((Reply::Value(count as u64), Descriptors::None))
    }

    fn end_capture(&mut self) -> Answer {
        let Some(capture) = &mut self.capture else {
            return refuse(Status::BadField, "EndCapture: this connection has no capture");
        };
        let (records, left_out) = capture.end();
        Ok((Reply::Captured { records, left_out }, Descriptors::None))
    }

    /// Checks that the client may change settings of a virtual channel.
    fn check_channel(&self, at: Attachment, network: &Network, port: u32, vc: u32) -> Result<()> {
        if self.is_admin || network.owns_channel(at, port, vc) {
            return Ok(());
        }
        let what = format!(
            "port {port} VC {vc}: only the client that has opened it, the daemon's own user and root \
             may change its settings; open a queue on it first"
        );
        refuse(Status::AccessDenied, what)
    }

    /// Checks that the client may administer a link, which others use as well.
    fn check_command(
        &self,
        at: Attachment,
        network: &Network,
        port: u32,
        command: LinkCommand,
    ) -> Result<()> {
        if let LinkCommand::Set { item, index, .. } = command
            && MibItem::from_raw(item).is_some_and(|item| item.info().scope == MibScope::Vc)
        {
            return self.check_channel(at, network, port, index);
        }
        if self.is_admin {
            return Ok(());
        }
        let what = format!(
            "port {port}: its link serves all clients, so only the daemon's own user and root may \
             reset, cut or configure it"
        );
        refuse(Status::AccessDenied, what)
    }
}

/// Returns the descriptor that must come with a request.
fn one(fd: Option<OwnedFd>, request: &str) -> Result<OwnedFd> {
    let what = || format!("{request} with 0 descriptors; it takes one");
    fd.map_or_else(|| refuse(Status::BadField, what()), Ok)
}

/// Answers requests that change nothing and need no attachment.
fn inspect(request: &Request, network: &Network) -> Option<Answer> {
    let reply = match *request {
        Request::Clients => Reply::Clients(clients(network)),
        Request::Network => Reply::Network(NetworkInfo {
            contract: (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR),
            topology: network.topology().clone(),
            names: network.names().to_vec(),
        }),
        Request::NetworkPort { endpoint, port } => match network.port_info(endpoint, port) {
            Ok(info) => Reply::Port(info),
            Err(error) => return Some(Err(error)),
        },
        Request::Pair { endpoint, port, vc } => Reply::Pair(pair(network, endpoint, port, vc)),
        _ => return None,
    };
    Some(Ok((reply, Descriptors::None)))
}

/// Queue pairs live in the process that owns the network, so it must run the flows.
fn check_pair(network: &Network, queue: &QueueRequest) -> Result<()> {
    let mode = network.topology().mode;
    let pair = matches!(queue.queue_kind(), Some(QueueKind::Rdma | QueueKind::RdmaRx));
    if mode == Mode::Thread || !pair {
        return Ok(());
    }
    refuse(Status::BadOpcode, format!("queue pair: mode {mode} has none; mode thread has"))
}

/// Refuses access to another client's objects in mode thread.
fn deny_foreign<T>(network: &Network, what: &str) -> Result<T> {
    let mode = network.topology().mode;
    let what = format!("mode {mode}: clients cannot get {what} of other clients");
    refuse(Status::AccessDenied, what)
}

fn foreign_memory(network: &Network, endpoint: u32, key: u16) -> Answer {
    if network.topology().mode == Mode::Thread {
        return deny_foreign(network, "regions");
    }
    match network.region_memory(endpoint, RegionKey(key)) {
        Some(memory) => {
            Ok((Reply::Memory { size: memory.size() as u64 }, Descriptors::Memory(memory)))
        }
        None => {
            let what = format!("endpoint {endpoint}: region {key:#06x} is not registered");
            refuse(Status::BadRegion, what)
        }
    }
}

fn foreign_event(network: &Network, participant: u32, vector: u32) -> Answer {
    if network.topology().mode == Mode::Thread {
        return deny_foreign(network, "events");
    }
    match network.event(participant, vector) {
        Some(event) => Ok((Reply::Event, Descriptors::Event(event))),
        None => refuse(Status::NotFound, format!("client {participant} has no event {vector}")),
    }
}

fn clients(network: &Network) -> Vec<ClientInfo> {
    let info = |(client, endpoint, name)| ClientInfo { client, endpoint, name };
    network.clients().into_iter().map(info).collect()
}

fn pair(network: &Network, endpoint: u32, port: u32, vc: u32) -> Option<PairInfo> {
    let report = network.pair_report(endpoint, port, vc)?;
    let counters = report.counters.into_iter().filter(|(_, count)| *count != 0);
    let counters = counters.map(|(counter, count)| (counter_name(counter), count)).collect();
    Some(PairInfo {
        client: report.owner,
        queue: report.queue,
        outstanding: report.outstanding,
        waiting: report.waiting,
        counters,
    })
}

/// The endpoint with the fewest clients, the lowest number first.
fn least_used(network: &Network) -> u32 {
    let clients = network.clients();
    let used = |endpoint: &u32| clients.iter().filter(|client| client.1 == *endpoint).count();
    (0..network.topology().endpoints.len() as u32).min_by_key(used).unwrap_or(0)
}
