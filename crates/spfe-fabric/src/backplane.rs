//! The backplane: knows who is there, gives each pair its memory, and carries no payload.
//!
//! One thread serves all clients. It never waits for one of them: what a client does not take is
//! kept up to a limit, and a client beyond it is disconnected.

mod clients;
mod pairs;
mod report;
mod streams;
mod windows;

use crate::memory::{Directory, NodePage};
use crate::topology::{FabricTopology, NODES_MAX, NodeNumber};
use crate::wire::{
    self, ADDRESSES_MAX, FABRIC_PROTOCOL, FabricChange, FabricError, FabricReply, FabricRequest,
    PeerState,
};
use clients::{Client, ClientRole};
use pairs::PairEntry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::net::{SocketAddrUnix, SocketFlags};
use spfe_contract::Status;
use spfe_session::socket;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use streams::StreamOffer;
use windows::WindowTable;

/// How long the backplane waits for an event before it looks whether it should end, ns.
const LOOK_NS: i64 = 100_000_000;
/// Messages of one client that are handled before the others get their turn.
const TURN: usize = 32;
/// Longest name of a network interface.
const INTERFACE_MAX: usize = 15;

/// A node that has started at least once.
#[derive(Debug)]
struct NodeEntry {
    /// The client that runs it.
    client: Option<u64>,
    process: Option<i32>,
    epoch: u64,
    page: NodePage,
    interface: String,
    addresses: Vec<IpAddr>,
}

/// A fabric that is up.
#[derive(Debug)]
pub struct Backplane {
    path: PathBuf,
    listener: OwnedFd,
    topology: FabricTopology,
    down: BTreeSet<usize>,
    directory: Directory,
    nodes: BTreeMap<NodeNumber, NodeEntry>,
    pairs: BTreeMap<(NodeNumber, NodeNumber), PairEntry>,
    clients: BTreeMap<u64, Client>,
    windows: WindowTable,
    /// Ends of connections, by own and other address, that wait for the other ends.
    offers: BTreeMap<(SocketAddr, SocketAddr), StreamOffer>,
    /// Source of identities of clients and links. Starts at the clock, so that those of an earlier
    /// backplane are not repeated.
    last: u64,
    ended: bool,
}

impl Backplane {
    /// Opens the fabric at a socket path. A socket file that nobody serves is replaced.
    ///
    /// # Errors
    /// The topology is unsound; another fabric uses the path; the system refuses.
    pub fn open(path: &Path, topology: FabricTopology) -> Result<Self, FabricError> {
        topology
            .check()
            .map_err(|error| FabricError::new(Status::BadField, format!("topology: {error}")))?;
        let failed = |error: io::Error| FabricError::io(path.display(), &error);
        if socket::connect(path).is_ok() {
            let what = format!("{}: another fabric uses it; choose another socket", path.display());
            return Err(FabricError::new(Status::Busy, what));
        }
        let _ = std::fs::remove_file(path);
        let listener = socket::new(SocketFlags::NONBLOCK).map_err(failed)?;
        let address = SocketAddrUnix::new(path).map_err(|error| failed(error.into()))?;
        rustix::net::bind(&listener, &address).map_err(|error| failed(error.into()))?;
        rustix::net::listen(&listener, 128).map_err(|error| failed(error.into()))?;
        raise_descriptor_limit();
        let directory = Directory::create().map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            listener,
            topology,
            down: BTreeSet::new(),
            directory,
            nodes: BTreeMap::new(),
            pairs: BTreeMap::new(),
            clients: BTreeMap::new(),
            windows: WindowTable::default(),
            offers: BTreeMap::new(),
            last: spfe_host::os::now_ns(),
            ended: false,
        })
    }

    /// Serves the fabric until `stop` says true or a client ends it.
    ///
    /// # Errors
    /// The operating system fails.
    pub fn run(&mut self, stop: impl Fn() -> bool) -> Result<(), FabricError> {
        while !self.ended && !stop() {
            self.turn(LOOK_NS).map_err(|error| FabricError::io("backplane", &error))?;
        }
        self.end();
        Ok(())
    }

    /// Waits for events for at most `wait_ns` and handles them.
    ///
    /// # Errors
    /// The operating system fails.
    pub fn turn(&mut self, wait_ns: i64) -> io::Result<()> {
        let mut numbers = Vec::with_capacity(self.clients.len());
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for (number, client) in &self.clients {
            numbers.push(*number);
            fds.push(PollFd::from_borrowed_fd(client.socket(), client.wanted()));
        }
        let time = Timespec { tv_sec: 0, tv_nsec: wait_ns };
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let events: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        drop(fds);
        // Who is gone makes room for the next life of the same node, so these come first.
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        for (number, event) in numbers.iter().zip(&events[1..]) {
            if event.intersects(gone) {
                self.remove_client(*number);
            }
        }
        for (number, event) in numbers.iter().zip(&events[1..]) {
            if event.contains(PollFlags::OUT)
                && let Some(client) = self.clients.get_mut(number)
            {
                client.flush();
            }
            if event.contains(PollFlags::IN) {
                self.receive(*number);
            }
        }
        if events[0].contains(PollFlags::IN) {
            self.accept();
        }
        let broken: Vec<u64> =
            self.clients.iter().filter(|(_, client)| client.is_broken()).map(|(n, _)| *n).collect();
        for number in broken {
            self.remove_client(number);
        }
        Ok(())
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn accept(&mut self) {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        while let Ok(socket) = rustix::net::accept_with(&self.listener, flags) {
            let number = self.next();
            self.clients.insert(number, Client::new(socket));
        }
    }

    fn receive(&mut self, number: u64) {
        for _ in 0..TURN {
            let Some(client) = self.clients.get_mut(&number) else { return };
            let mut datagram = match socket::receive(client.socket()) {
                Ok(datagram) if datagram.is_end() => return self.remove_client(number),
                Ok(datagram) => datagram,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => return self.remove_client(number),
            };
            let request = wire::decode::<FabricRequest>(&datagram.bytes);
            let fd = if datagram.fds.is_empty() { None } else { Some(datagram.fds.swap_remove(0)) };
            let answer = request.and_then(|request| self.serve(number, request, fd));
            let Some(client) = self.clients.get_mut(&number) else { return };
            match answer {
                Ok(Some((reply, fds))) => client.send(&reply, fds),
                Ok(None) => {}
                Err(error) => {
                    let FabricError { status, what } = error;
                    client.send(&FabricReply::Refused { status: status as u8, what }, Vec::new());
                }
            }
        }
    }

    fn serve(
        &mut self,
        number: u64,
        request: FabricRequest,
        fd: Option<OwnedFd>,
    ) -> Result<Option<(FabricReply, Vec<OwnedFd>)>, FabricError> {
        let done = Ok(Some((FabricReply::Done, Vec::new())));
        match request {
            FabricRequest::JoinNode { version, node } => {
                check_version(version)?;
                self.join_node(number, node)?;
                Ok(None)
            }
            FabricRequest::JoinRaw { version, node } => {
                check_version(version)?;
                self.join_raw(number, node).map(Some)
            }
            FabricRequest::PeerState { peer, link, state } => {
                let node = self.node_of(number)?;
                self.note_state(node, peer, link, state);
                Ok(None)
            }
            FabricRequest::Interface { name, addresses } => {
                let node = self.node_of(number)?;
                self.set_interface(node, &name, addresses);
                Ok(None)
            }
            FabricRequest::Expose { bytes, peers, rights } => {
                self.expose(number, fd, bytes, peers, rights).map(Some)
            }
            FabricRequest::Revoke { key } => {
                self.revoke(number, key)?;
                done
            }
            FabricRequest::Map { key } => self.map(number, key).map(Some),
            FabricRequest::Mailboxes { peer } => self.mailboxes(number, peer).map(Some),
            FabricRequest::Windows => {
                let list = self.windows_of(number)?;
                report::document(&list).map(Some)
            }
            FabricRequest::Status => report::document(&self.status()).map(Some),
            FabricRequest::Change(change) => {
                self.change(&change)?;
                done
            }
            FabricRequest::Stream { version, local, remote } => {
                check_version(version)?;
                self.offer_stream(number, local, remote)?;
                Ok(None)
            }
            FabricRequest::Down => {
                self.ended = true;
                done
            }
        }
    }

    /// The node that a client runs.
    fn node_of(&self, number: u64) -> Result<NodeNumber, FabricError> {
        match self.clients.get(&number).map(Client::role) {
            Some(ClientRole::Node(node)) => Ok(node),
            _ => Err(FabricError::new(Status::AccessDenied, "this client runs no node")),
        }
    }

    fn join_node(&mut self, number: u64, node: NodeNumber) -> Result<(), FabricError> {
        if self.topology.node(node).is_none() {
            return Err(no_node(&self.topology, node));
        }
        if self.nodes.get(&node).is_some_and(|entry| entry.client.is_some()) {
            let what = format!("node {node}: another process runs it");
            return Err(FabricError::new(Status::Busy, what));
        }
        let Some(client) = self.clients.get_mut(&number) else { return Ok(()) };
        if client.role() != ClientRole::New {
            return Err(FabricError::new(Status::Busy, "this client has joined before"));
        }
        let process = client.process();
        let refused = |error: io::Error| FabricError::io("memory of a node", &error);
        let entry = match self.nodes.remove(&node) {
            Some(entry) => entry,
            None => {
                let page = crate::memory::create("spfe-fabric-node", NodePage::BYTES);
                let page = page.and_then(NodePage::open).map_err(refused)?;
                let (interface, addresses) = (String::new(), Vec::new());
                NodeEntry { client: None, process: None, epoch: 0, page, interface, addresses }
            }
        };
        let epoch = entry.epoch + 1;
        let fds = [entry.page.fd(), self.directory.fd()].map(|fd| fd.try_clone_to_owned());
        let [page, directory] = fds;
        let fds = vec![page.map_err(refused)?, directory.map_err(refused)?];
        self.nodes.insert(node, NodeEntry { client: Some(number), process, epoch, ..entry });
        if let Some(index) = node.index() {
            self.directory.epoch(index).store(epoch, std::sync::atomic::Ordering::Release);
        }
        let joined = self.joined(node, epoch);
        if let Some(client) = self.clients.get_mut(&number) {
            client.join(ClientRole::Node(node));
            client.send(&joined, fds);
        }
        self.connect_pairs(Some(node), false);
        Ok(())
    }

    fn joined(&self, node: NodeNumber, epoch: u64) -> FabricReply {
        let highest = self.topology.nodes.iter().map(|node| node.number).max();
        FabricReply::Joined {
            epoch,
            mac: self.topology.mac(node),
            mtu: self.topology.mtu,
            highest: highest.unwrap_or(node),
        }
    }

    fn set_interface(&mut self, node: NodeNumber, name: &str, addresses: Vec<IpAddr>) {
        if let Some(entry) = self.nodes.get_mut(&node) {
            let shown = name.chars().filter(|c| c.is_ascii_graphic()).take(INTERFACE_MAX);
            entry.interface = shown.collect();
            entry.addresses = addresses.into_iter().take(ADDRESSES_MAX).collect();
        }
        self.tell_news(node);
    }

    /// Forgets a client, with everything that lives only as long as it.
    fn remove_client(&mut self, number: u64) {
        let Some(client) = self.clients.remove(&number) else { return };
        self.drop_windows(|window| window.client == number);
        if client.role() == ClientRole::Stream {
            self.drop_offer(number);
        }
        if let ClientRole::Node(node) = client.role() {
            self.node_gone(node);
        }
    }

    fn node_gone(&mut self, node: NodeNumber) {
        if let Some(entry) = self.nodes.get_mut(&node) {
            entry.client = None;
            entry.process = None;
            entry.addresses.clear();
            entry.interface.clear();
        }
        if let Some(index) = node.index() {
            self.directory.epoch(index).store(0, std::sync::atomic::Ordering::Release);
        }
        self.drop_windows(|window| window.owner == node);
        self.windows.drop_mailboxes(node);
        let pairs: Vec<_> =
            self.pairs.keys().filter(|(a, b)| *a == node || *b == node).copied().collect();
        for pair in pairs {
            self.disconnect(pair);
        }
        // What raw clients of the node have mapped belongs to its former life.
        for client in self.clients.values_mut() {
            if client.role() == ClientRole::Raw(node) {
                client.send(&FabricReply::Ended, Vec::new());
            }
        }
    }

    fn change(&mut self, change: &FabricChange) -> Result<(), FabricError> {
        let mut changed = self.topology.clone();
        let mut down = self.down.clone();
        changed.apply(change, &mut down)?;
        changed
            .check()
            .map_err(|error| FabricError::new(Status::BadField, format!("change: {error}")))?;
        if let FabricChange::Remove { node } = change {
            let client = self.nodes.get(node).and_then(|entry| entry.client);
            if let Some(client) = client.and_then(|number| self.clients.get_mut(&number)) {
                client.send(&FabricReply::Ended, Vec::new());
                client.flush();
            }
            if let Some(number) = client {
                self.remove_client(number);
            }
        }
        (self.topology, self.down) = (changed, down);
        self.connect_pairs(None, true);
        Ok(())
    }

    /// Whether a client has ended the fabric.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// How many nodes of the topology are READY, and how many there are.
    pub fn ready(&self) -> (usize, usize) {
        let nodes = &self.topology.nodes;
        let ready = |number| self.node_state(number) == PeerState::Ready;
        (nodes.iter().filter(|node| ready(node.number)).count(), nodes.len())
    }

    /// Tells every client that the fabric ends.
    pub fn end(&mut self) {
        for client in self.clients.values_mut() {
            client.send(&FabricReply::Ended, Vec::new());
        }
    }

    /// State of a node as a whole: READY if each peer that it can reach is.
    fn node_state(&self, node: NodeNumber) -> PeerState {
        if self.nodes.get(&node).is_none_or(|entry| entry.client.is_none()) {
            return PeerState::Absent;
        }
        let pairs = self.pairs.iter().filter(|((a, b), _)| *a == node || *b == node);
        pairs.map(|(_, pair)| pair.state()).fold(PeerState::Ready, |all, one| match one {
            PeerState::Ready => all,
            PeerState::Error => PeerState::Error,
            _ if all == PeerState::Error => all,
            _ => PeerState::Link,
        })
    }
}

impl Drop for Backplane {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl FabricTopology {
    /// Applies a change; `down` holds the links that are down. The caller checks the outcome.
    ///
    /// # Errors
    /// The change names something that does not exist.
    pub fn apply(
        &mut self,
        change: &FabricChange,
        down: &mut BTreeSet<usize>,
    ) -> Result<(), FabricError> {
        use crate::topology::{FabricEnd, FabricNode, RateLimit};
        match change {
            FabricChange::Add { node, like } => {
                let model = self.node(*like).ok_or_else(|| no_node(self, *like))?;
                let partition = model.partition.clone();
                if self.nodes.len() >= NODES_MAX {
                    let what = format!("node {node}: the fabric has {NODES_MAX} nodes, the most");
                    return Err(FabricError::new(Status::NoResources, what));
                }
                self.nodes.push(FabricNode { number: *node, master: false, partition });
                self.nodes.sort_by_key(|node| node.number);
                let model = FabricEnd::Node(*like);
                let copies: Vec<_> = self
                    .links_at(model)
                    .filter_map(|(_, link)| {
                        let other = link.other(model)?;
                        let mut link = link.clone();
                        link.ends = [FabricEnd::Node(*node), other];
                        Some(link)
                    })
                    .collect();
                self.links.extend(copies);
            }
            FabricChange::Remove { node } => {
                if self.node(*node).is_none() {
                    return Err(no_node(self, *node));
                }
                self.nodes.retain(|entry| entry.number != *node);
                let end = FabricEnd::Node(*node);
                // Links that are down keep their mark although the indices change.
                let (mut links, mut marks) = (Vec::new(), BTreeSet::new());
                for (index, link) in self.links.drain(..).enumerate() {
                    if link.other(end).is_none() {
                        if down.contains(&index) {
                            marks.insert(links.len());
                        }
                        links.push(link);
                    }
                }
                (self.links, *down) = (links, marks);
            }
            FabricChange::Partition { node, name } => {
                let unknown = no_node(self, *node);
                let entry = self.nodes.iter_mut().find(|entry| entry.number == *node);
                entry.ok_or(unknown)?.partition.clone_from(name);
            }
            FabricChange::Link { ends: [a, b], up } => {
                let names =
                    |link: &crate::topology::FabricLink| link.ends.map(|end| self.end_name(end));
                let is_it = |link| {
                    let [x, y] = names(link);
                    (&x == a && &y == b) || (&x == b && &y == a)
                };
                let index = self.links.iter().position(is_it).ok_or_else(|| {
                    let what =
                        format!("link {a} - {b}: not in the topology; ends are 4A or switch1");
                    FabricError::new(Status::NotFound, what)
                })?;
                if *up {
                    down.remove(&index);
                } else {
                    down.insert(index);
                }
            }
            FabricChange::Rate { limited } => {
                self.limit = if *limited { RateLimit::Pcie } else { RateLimit::Unlimited };
            }
        }
        Ok(())
    }
}

fn no_node(topology: &FabricTopology, node: NodeNumber) -> FabricError {
    let numbers: Vec<String> = topology.nodes.iter().map(|node| node.number.to_string()).collect();
    let what = format!("node {node}: not in the topology, which has {}", numbers.join(", "));
    FabricError::new(Status::NotFound, what)
}

fn check_version(version: u32) -> Result<(), FabricError> {
    if version == FABRIC_PROTOCOL {
        return Ok(());
    }
    let what = format!(
        "protocol {version} of the client, {FABRIC_PROTOCOL} of the backplane: use \
         the same release"
    );
    Err(FabricError::new(Status::BadVersion, what))
}

/// Raises the limit of descriptors as far as this process may. Pairs take some while they are made.
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
