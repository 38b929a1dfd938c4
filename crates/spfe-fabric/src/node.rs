//! A node: the process that owns an interface and its ends of the links to all peers.
//!
//! One thread moves frames between the interface and the rings. It makes no system call for the
//! fabric itself, unless a peer sleeps.

mod frames;

use crate::client::FabricClient;
use crate::ether;
use crate::memory::{Directory, NodePage, PairMemory, PeerCounter};
use crate::peer::PeerLink;
use crate::topology::{NODES_MAX, NodeNumber};
use crate::wire::{FABRIC_PROTOCOL, FabricError, FabricReply, FabricRequest, PeerState, PortRate};
pub use frames::FrameTap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use spfe_contract::Status;
use spfe_host::os::now_ns;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

/// Interval at which a node without events looks whether it should end, ns.
const LOOK_NS: u64 = 100_000_000;
/// Interval between attempts to find a backplane that is gone, ns.
const RETRY_NS: u64 = 50_000_000;
/// How long a node waits for the end of a process that runs it, ns, and how often it looks.
const BUSY_NS: u64 = 1_000_000_000;
const BUSY_PAUSE: Duration = Duration::from_millis(2);

/// What happens to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The backplane has accepted the node.
    Joined {
        /// How often the node has started.
        epoch: u64,
    },
    /// A link has another state.
    Peer {
        /// The peer.
        peer: NodeNumber,
        /// The state.
        state: PeerState,
        /// Why, if something failed.
        why: String,
    },
    /// The backplane is gone. Links work on; the node looks for the next one.
    BackplaneGone,
    /// The node was removed, or the fabric has ended.
    Ended,
}

/// How a node works.
#[derive(Clone, Debug)]
pub struct NodeOptions {
    /// Socket of the backplane.
    pub socket: PathBuf,
    /// The node.
    pub node: NodeNumber,
    /// How long an idle node polls before it sleeps, ns.
    pub spin_ns: u64,
    /// IP addresses to announce.
    pub addresses: Vec<IpAddr>,
}

/// A node that has joined.
pub struct NodeRunner {
    options: NodeOptions,
    backplane: Option<FabricClient>,
    /// The next backplane, while it has not answered yet.
    next: Option<FabricClient>,
    /// The backplane did not read, so it does not know everything.
    unsaid: bool,
    page: NodePage,
    mac: [u8; 6],
    mtu: u32,
    highest: NodeNumber,
    epoch: u64,
    peers: Vec<Option<PeerLink>>,
    tap: Option<FrameTap>,
    retry_ns: u64,
    ended: bool,
}

impl NodeRunner {
    /// Joins the fabric. A former process of the node that has just been killed gets a second to end.
    ///
    /// # Errors
    /// No fabric is up at the socket; the node is not in the topology, or another process runs it.
    pub fn join(options: NodeOptions) -> Result<Self, FabricError> {
        let until = now_ns() + BUSY_NS;
        let joined = loop {
            match join(&options) {
                Err(error) if error.status == Status::Busy && now_ns() < until => {
                    std::thread::sleep(BUSY_PAUSE);
                }
                joined => break joined?,
            }
        };
        Ok(Self {
            options,
            backplane: Some(joined.backplane),
            next: None,
            unsaid: false,
            page: joined.page,
            mac: joined.mac,
            mtu: joined.mtu,
            highest: joined.highest,
            epoch: joined.epoch,
            peers: (0..NODES_MAX).map(|_| None).collect(),
            tap: None,
            retry_ns: 0,
            ended: false,
        })
    }

    /// The node's Ethernet address.
    pub fn mac(&self) -> [u8; 6] {
        self.mac
    }

    /// MTU of the fabric.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Highest number of a node in the topology.
    pub fn highest(&self) -> NodeNumber {
        self.highest
    }

    /// How often the node has started.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Moves the frames of an interface from now on, and announces its addresses.
    pub fn attach(&mut self, tap: FrameTap) {
        self.tap = Some(tap);
        self.announce();
    }

    fn announce(&mut self) {
        let Some(tap) = &self.tap else { return };
        let addresses = self.options.addresses.clone();
        let name = tap.name().to_owned();
        self.say(&FabricRequest::Interface { name, addresses });
    }

    /// Tells the backplane something. If it does not read, everything is said again later; if it is
    /// gone, the next poll notices.
    fn say(&mut self, request: &FabricRequest) {
        let Some(backplane) = &self.backplane else { return };
        let said = backplane.send_now(request);
        self.unsaid |= said.is_err_and(|error| error.status == Status::Busy);
    }

    /// Says everything again to a backplane that did not read.
    fn say_again(&mut self) {
        if !std::mem::take(&mut self.unsaid) {
            return;
        }
        self.announce();
        for index in 0..self.peers.len() {
            if self.unsaid {
                return;
            }
            self.say_state(index);
        }
    }

    /// Tells the backplane the state of a link.
    fn say_state(&mut self, index: usize) {
        let Some(entry) = &self.peers[index] else { return };
        let (peer, link, state) = (NodeNumber(index as u8 + 1), entry.link, entry.state());
        self.say(&FabricRequest::PeerState { peer, link, state });
    }

    /// Runs until `stop` says true or the fabric ends. Tells `tell` what happens.
    ///
    /// # Errors
    /// The interface was removed, or the operating system fails.
    pub fn run(
        &mut self,
        stop: impl Fn() -> bool,
        mut tell: impl FnMut(NodeEvent),
    ) -> Result<(), FabricError> {
        let mut idle_since = 0;
        while !self.ended && !stop() {
            let moved = self.step(&mut tell)?;
            if moved {
                idle_since = 0;
                continue;
            }
            let now = now_ns();
            if idle_since == 0 {
                idle_since = now;
            }
            if now - idle_since < self.options.spin_ns {
                std::hint::spin_loop();
                self.look(0, &mut tell)?;
                continue;
            }
            self.idle(&mut tell)?;
            self.say_again();
        }
        Ok(())
    }

    /// Moves what can be moved without waiting. True if something was.
    fn step(&mut self, tell: &mut impl FnMut(NodeEvent)) -> Result<bool, FabricError> {
        let mut moved = false;
        for index in 0..self.peers.len() {
            let Some(peer) = &mut self.peers[index] else { continue };
            if peer.shake_hands() {
                self.report(index, tell, String::new());
                moved = true;
            }
            match self.receive_from(index) {
                Ok(frames) => moved |= frames,
                Err(fault) => self.fail(index, tell, &fault),
            }
            match self.send_backlog(index) {
                Ok(frames) => moved |= frames,
                Err(fault) => self.fail(index, tell, &fault),
            }
        }
        Ok(moved)
    }

    /// Sleeps until something happens.
    fn idle(&mut self, tell: &mut impl FnMut(NodeEvent)) -> Result<(), FabricError> {
        for peer in self.peers.iter_mut().flatten() {
            peer.sleep(true);
        }
        // Pairs with the fence in `PeerLink::wake_reader`: either the peer sees that we sleep, or we
        // see its frame here.
        fence(Ordering::SeqCst);
        let now = now_ns();
        let paced = self.peers.iter().flatten().any(|peer| peer.has_news());
        let due = if paced { self.inbound_due(now) } else { now + LOOK_NS };
        let result = self.look(due.saturating_sub(now).min(LOOK_NS), tell);
        for peer in self.peers.iter_mut().flatten() {
            peer.sleep(false);
        }
        result
    }

    /// Waits for events for at most `wait_ns`, and handles them.
    fn look(&mut self, wait_ns: u64, tell: &mut impl FnMut(NodeEvent)) -> Result<(), FabricError> {
        let mut wait_ns = wait_ns;
        let mut fds = Vec::with_capacity(2 * self.peers.len());
        let mut sources = Vec::with_capacity(2 * self.peers.len());
        if let Some(backplane) = self.backplane.as_ref().or(self.next.as_ref()) {
            fds.push(PollFd::from_borrowed_fd(backplane.fd(), PollFlags::IN));
            sources.push(Source::Backplane);
        } else {
            wait_ns = wait_ns.min(RETRY_NS);
        }
        for (index, peer) in self.peers.iter().enumerate() {
            if let Some(wire) = peer.as_ref().and_then(PeerLink::wire) {
                fds.push(PollFd::from_borrowed_fd(wire, PollFlags::IN));
                sources.push(Source::Wire(index));
            }
        }
        let now = now_ns();
        if let Some(tap) = &self.tap {
            for (queue, one) in tap.queues().iter().enumerate() {
                match frames::readiness(queue, &self.peers, &self.page, now) {
                    frames::Readiness::Now => {
                        fds.push(PollFd::from_borrowed_fd(one.fd(), PollFlags::IN));
                        sources.push(Source::Queue(queue));
                    }
                    frames::Readiness::At(due) => {
                        wait_ns = wait_ns.min(due.saturating_sub(now).max(1));
                    }
                    frames::Readiness::Full => {}
                }
            }
        }
        let time = Timespec {
            tv_sec: (wait_ns / 1_000_000_000) as i64,
            tv_nsec: (wait_ns % 1_000_000_000) as i64,
        };
        match poll(&mut fds, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(FabricError::io("poll", &error.into())),
        }
        let events: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        for (source, _) in sources.iter().zip(events).filter(|(_, event)| *event) {
            match *source {
                Source::Backplane if self.next.is_some() => self.join_next(tell),
                Source::Backplane => self.hear(tell),
                Source::Wire(index) => self.hear_peer(index, tell),
                Source::Queue(queue) => self.read_queue(queue, tell)?,
            }
        }
        if self.backplane.is_none() && self.next.is_none() {
            self.find_backplane();
        }
        Ok(())
    }

    fn hear_peer(&mut self, index: usize, tell: &mut impl FnMut(NodeEvent)) {
        let Some(peer) = &mut self.peers[index] else { return };
        if !peer.drain_wire() {
            // The peer has died. The backplane says so, too, if it is there.
            self.drop_peer(index, tell);
        }
    }

    fn drop_peer(&mut self, index: usize, tell: &mut impl FnMut(NodeEvent)) {
        if self.peers[index].take().is_some() {
            let (peer, state) = (NodeNumber(index as u8 + 1), PeerState::Absent);
            tell(NodeEvent::Peer { peer, state, why: String::new() });
        }
        self.show_carrier();
    }

    /// The interface has a carrier while a peer is READY.
    fn show_carrier(&mut self) {
        let ready = self.peers.iter().flatten().any(PeerLink::is_ready);
        if let Some(tap) = &mut self.tap {
            tap.show_carrier(ready);
        }
    }

    /// Tells the backplane and the caller about a link.
    fn report(&mut self, index: usize, tell: &mut impl FnMut(NodeEvent), why: String) {
        let Some(link) = &self.peers[index] else { return };
        let (peer, state) = (NodeNumber(index as u8 + 1), link.state());
        self.say_state(index);
        tell(NodeEvent::Peer { peer, state, why });
        self.show_carrier();
    }

    fn fail(
        &mut self,
        index: usize,
        tell: &mut impl FnMut(NodeEvent),
        fault: &impl std::fmt::Display,
    ) {
        if let Some(peer) = &mut self.peers[index] {
            peer.fail();
            self.page.counter(index, PeerCounter::BadRecords).fetch_add(1, Ordering::Relaxed);
            self.report(index, tell, fault.to_string());
        }
    }

    /// Handles the messages of the backplane.
    fn hear(&mut self, tell: &mut impl FnMut(NodeEvent)) {
        while let Some(backplane) = &self.backplane {
            match backplane.receive_now() {
                Ok(Some((reply, fds))) => self.obey(reply, fds, tell),
                Ok(None) => return,
                Err(error) if error.status == Status::DeviceGone => {
                    self.backplane = None;
                    self.retry_ns = now_ns() + RETRY_NS;
                    tell(NodeEvent::BackplaneGone);
                }
                // A message that we do not understand harms only its subject.
                Err(_) => {}
            }
        }
    }

    fn obey(&mut self, reply: FabricReply, fds: Vec<OwnedFd>, tell: &mut impl FnMut(NodeEvent)) {
        match reply {
            FabricReply::PeerMemory { peer, link, ring } => {
                let Some(index) = peer.index() else { return };
                self.drop_peer(index, tell);
                let mut memory = fds.into_iter().map(|fd| PairMemory::open(fd, ring as usize));
                if let (Some(Ok(inward)), Some(Ok(outward))) = (memory.next(), memory.next()) {
                    self.peers[index] = Some(PeerLink::new(link, inward, outward));
                    self.report(index, tell, String::new());
                }
            }
            FabricReply::PeerWire { peer, link, addresses, port } => {
                self.update(peer, link, addresses, port);
                let entry = peer.index().and_then(|index| self.peers[index].as_mut());
                if let (Some(entry), Some(wire)) = (entry, fds.into_iter().next())
                    && entry.link == link
                {
                    entry.set_wire(wire);
                }
            }
            FabricReply::PeerNews { peer, link, addresses, port } => {
                self.update(peer, link, addresses, port);
            }
            FabricReply::PeerGone { peer, link } => {
                let Some(index) = peer.index() else { return };
                if self.peers[index].as_ref().is_some_and(|entry| entry.link == link) {
                    self.drop_peer(index, tell);
                }
            }
            FabricReply::Ended => {
                self.ended = true;
                tell(NodeEvent::Ended);
            }
            _ => {}
        }
    }

    fn update(
        &mut self,
        peer: NodeNumber,
        link: u64,
        addresses: Vec<IpAddr>,
        port: Option<PortRate>,
    ) {
        let entry = peer.index().and_then(|index| self.peers[index].as_mut());
        if let Some(entry) = entry.filter(|entry| entry.link == link) {
            entry.addresses = addresses;
            entry.pace_out.port = port;
            entry.pace_in.port = port;
        }
    }

    /// Asks a backplane that has started again to join. It may not answer: it may be stopped.
    fn find_backplane(&mut self) {
        let now = now_ns();
        if now < self.retry_ns {
            return;
        }
        self.retry_ns = now + RETRY_NS;
        let asked = FabricClient::connect_now(&self.options.socket)
            .and_then(|next| next.send_now(&join_request(self.options.node)).map(|()| next));
        self.next = asked.ok();
    }

    /// Joins the next backplane, which has answered. Links of the former one work until it replaces
    /// them.
    fn join_next(&mut self, tell: &mut impl FnMut(NodeEvent)) {
        let Some(next) = self.next.take() else { return };
        let answer = match next.receive_now() {
            Ok(None) => {
                self.next = Some(next);
                return;
            }
            Ok(Some(answer)) => joined(next, answer),
            Err(error) => Err(error),
        };
        // A refusal, too, is answered by another attempt.
        if let Ok(joined) = answer {
            (self.backplane, self.page) = (Some(joined.backplane), joined.page);
            (self.mac, self.mtu, self.epoch) = (joined.mac, joined.mtu, joined.epoch);
            self.unsaid = false;
            self.announce();
            tell(NodeEvent::Joined { epoch: self.epoch });
        }
    }

    /// The peer that a question of our kernel is about, if it asks for a node's address.
    fn owner_of(&self, address: IpAddr) -> Option<usize> {
        self.peers.iter().enumerate().position(|(index, peer)| {
            peer.as_ref().is_some_and(|peer| {
                peer.is_ready()
                    && (peer.addresses.contains(&address)
                        || address == IpAddr::V6(ether::link_local(self.mac_of(index))))
            })
        })
    }

    /// Ethernet address of the node with this index.
    fn mac_of(&self, index: usize) -> [u8; 6] {
        let number = NodeNumber(index as u8 + 1);
        let [a, b, c, fabric, _, _] = self.mac;
        [a, b, c, fabric, number.slot(), number.0]
    }
}

/// Where an event comes from.
#[derive(Clone, Copy)]
enum Source {
    Backplane,
    Wire(usize),
    Queue(usize),
}

struct JoinedNode {
    backplane: FabricClient,
    page: NodePage,
    mac: [u8; 6],
    mtu: u32,
    highest: NodeNumber,
    epoch: u64,
}

fn join(options: &NodeOptions) -> Result<JoinedNode, FabricError> {
    let backplane = FabricClient::connect(&options.socket)?;
    let answer = backplane.call(&join_request(options.node), &[])?;
    joined(backplane, answer)
}

fn join_request(node: NodeNumber) -> FabricRequest {
    FabricRequest::JoinNode { version: FABRIC_PROTOCOL, node }
}

/// What a backplane has answered to a request to join.
fn joined(
    backplane: FabricClient,
    (reply, fds): (FabricReply, Vec<OwnedFd>),
) -> Result<JoinedNode, FabricError> {
    let FabricReply::Joined { epoch, mac, mtu, highest } = reply else {
        return Err(FabricError::unexpected(&reply));
    };
    let (page, _) = open_shared(fds)?;
    Ok(JoinedNode { backplane, page, mac, mtu, highest, epoch })
}

/// Maps what comes with [`FabricReply::Joined`].
pub fn open_shared(fds: Vec<OwnedFd>) -> Result<(NodePage, Directory), FabricError> {
    let mut fds = fds.into_iter();
    let (Some(page), Some(directory)) = (fds.next(), fds.next()) else {
        return Err(FabricError::new(Status::BadField, "the backplane sent no memory"));
    };
    let failed = |error: std::io::Error| FabricError::io("memory of the node", &error);
    Ok((NodePage::open(page).map_err(failed)?, Directory::open(&directory).map_err(failed)?))
}

/// The socket of a fabric: `SPFE_FABRIC`, else `spfe-fabric.sock` in `XDG_RUNTIME_DIR`, else in
/// `/run`.
pub fn default_socket() -> PathBuf {
    let of = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(path) = of("SPFE_FABRIC") {
        return path.into();
    }
    let folder = of("XDG_RUNTIME_DIR").map_or_else(|| PathBuf::from("/run"), PathBuf::from);
    Path::new(&folder).join("spfe-fabric.sock")
}
