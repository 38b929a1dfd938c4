//! Messages to the backplane of a fabric: any datagrams, and requests of clients in any order, those of
//! the preloaded library above all. Nobody makes the backplane end or wait, and it goes on answering.

use arbitrary::{Arbitrary, Result, Unstructured};
use rustix::fd::{AsFd, OwnedFd};
use spfe_fabric::backplane::Backplane;
use spfe_fabric::memory::create;
use spfe_fabric::topology::{FabricTopology, NodeNumber};
use spfe_fabric::wire::{
    FABRIC_PROTOCOL, FabricChange, FabricReply, FabricRequest, PeerState, WindowRights, decode,
    encode,
};
use spfe_session::socket;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

const OPS_MAX: usize = 60;
const CLIENTS: usize = 4;

/// What a client does.
#[derive(Debug)]
enum Op {
    /// It sends these bytes.
    Bytes(Vec<u8>),
    /// It sends a request, with a descriptor or without.
    Request(FabricRequest, bool),
    /// It reads what it was sent.
    Read,
    /// It says of all links that it was told of that they are READY.
    Ready,
    /// It ends, and another one takes its place.
    Ends,
}

#[derive(Debug)]
struct Input(Vec<(usize, Op)>);

/// A node of the fabric, or one that does not exist.
fn node(u: &mut Unstructured<'_>) -> Result<NodeNumber> {
    Ok(NodeNumber(if u.ratio(15, 16)? { [1, 3, 5][u.choose_index(3)?] } else { u.arbitrary()? }))
}

/// The address of a node, or any.
fn address(u: &mut Unstructured<'_>) -> Result<IpAddr> {
    Ok(if u.ratio(15, 16)? { Ipv4Addr::new(10, 0, 0, node(u)?.0).into() } else { u.arbitrary()? })
}

fn end(u: &mut Unstructured<'_>) -> Result<SocketAddr> {
    Ok(SocketAddr::new(address(u)?, u.int_in_range(1..=3)?))
}

fn version(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(if u.ratio(15, 16)? { FABRIC_PROTOCOL } else { u.arbitrary()? })
}

fn change(u: &mut Unstructured<'_>) -> Result<FabricChange> {
    let text = |u: &mut Unstructured<'_>| -> Result<String> {
        let known = ["1A", "2A", "3A", "", "red"];
        Ok(if u.ratio(7, 8)? { known[u.choose_index(known.len())?].into() } else { u.arbitrary()? })
    };
    Ok(match u.int_in_range(0..=4u8)? {
        0 => FabricChange::Add { node: node(u)?, like: node(u)? },
        1 => FabricChange::Remove { node: node(u)? },
        2 => FabricChange::Partition { node: node(u)?, name: text(u)? },
        3 => FabricChange::Link { ends: [text(u)?, text(u)?], up: u.arbitrary()? },
        _ => FabricChange::Rate { limited: u.arbitrary()? },
    })
}

fn request(u: &mut Unstructured<'_>) -> Result<FabricRequest> {
    let rights = [WindowRights::Read, WindowRights::Write, WindowRights::ReadWrite];
    let states = [PeerState::NoLink, PeerState::Link, PeerState::Ready, PeerState::Error];
    Ok(match u.int_in_range(0..=15u8)? {
        0..=2 => FabricRequest::JoinNode { version: version(u)?, node: node(u)? },
        3 => FabricRequest::JoinRaw { version: version(u)?, node: node(u)? },
        4 => FabricRequest::PeerState {
            peer: node(u)?,
            link: u.arbitrary()?,
            state: *u.choose(&states)?,
        },
        5 => FabricRequest::Interface {
            name: u.arbitrary()?,
            addresses: u.arbitrary_iter()?.take(20).collect::<Result<_>>()?,
        },
        6 => {
            let name = "vxeth0".to_owned();
            FabricRequest::Interface { name, addresses: vec![address(u)?] }
        }
        7 => FabricRequest::Expose {
            bytes: if u.arbitrary()? { 4096 } else { u.arbitrary()? },
            peers: if u.arbitrary()? { 0x15 } else { u.arbitrary()? },
            rights: *u.choose(&rights)?,
        },
        8 => FabricRequest::Revoke { key: u.arbitrary()? },
        9 => FabricRequest::Map { key: u.arbitrary()? },
        10 => FabricRequest::Mailboxes { peer: node(u)? },
        11 => FabricRequest::Windows,
        12 => FabricRequest::Change(change(u)?),
        _ => FabricRequest::Stream { version: version(u)?, local: end(u)?, remote: end(u)? },
    })
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut ops = Vec::new();
        while !u.is_empty() && ops.len() < OPS_MAX {
            let op = match u.int_in_range(0..=15u8)? {
                0 => Op::Bytes(u.arbitrary()?),
                1 => Op::Ends,
                2..=4 => Op::Read,
                5..=7 => Op::Ready,
                _ => Op::Request(request(u)?, u.arbitrary()?),
            };
            ops.push((u.choose_index(CLIENTS)?, op));
        }
        Ok(Self(ops))
    }
}

struct Fabric {
    path: PathBuf,
    backplane: Backplane,
}

impl Fabric {
    fn new() -> Self {
        let name = format!("spfe-fuzz-fabric-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let topology = FabricTopology::preset("dist3-x8").expect("a preset");
        Self { backplane: Backplane::open(&path, topology).expect("a backplane"), path }
    }

    fn turn(&mut self) {
        self.backplane.turn(0).expect("events");
    }

    /// A client that does not wait.
    fn connect(&mut self) -> OwnedFd {
        let client = socket::connect(&self.path).expect("it accepts");
        rustix::io::ioctl_fionbio(&client, true).expect("a socket");
        self.turn();
        client
    }
}

/// Takes all messages to a client, which have to be whole.
fn read(client: &OwnedFd) -> Vec<FabricReply> {
    let mut all = Vec::new();
    while let Ok(datagram) = socket::receive(client) {
        if datagram.is_end() {
            break;
        }
        all.push(decode(&datagram.bytes).expect("a whole message"));
    }
    all
}

crate::target!(|input: Input| {
    let mut fabric = Fabric::new();
    let mut clients: [OwnedFd; CLIENTS] = std::array::from_fn(|_| fabric.connect());
    let mut links: [Vec<(NodeNumber, u64)>; CLIENTS] = Default::default();
    for (number, op) in input.0 {
        let client = &clients[number];
        match op {
            Op::Bytes(bytes) => drop(socket::send(client, &bytes, &[], false)),
            Op::Request(request, with_fd) => {
                let memory = create("fuzz", 4096).expect("memory");
                let fds: &[_] = if with_fd { &[memory.as_fd()] } else { &[] };
                let bytes = encode(&request).unwrap_or_default();
                assert!(bytes.is_empty() || decode(&bytes) == Ok(request), "it reads otherwise");
                drop(socket::send(client, &bytes, fds, false));
            }
            Op::Read => {
                for reply in read(client) {
                    if let FabricReply::PeerMemory { peer, link, .. } = reply {
                        links[number].push((peer, link));
                    }
                }
            }
            Op::Ready => {
                for &(peer, link) in &links[number] {
                    let state = PeerState::Ready;
                    let bytes = encode(&FabricRequest::PeerState { peer, link, state }).unwrap();
                    drop(socket::send(client, &bytes, &[], false));
                }
            }
            Op::Ends => {
                clients[number] = fabric.connect();
                links[number].clear();
            }
        }
        fabric.turn();
    }
    let last = fabric.connect();
    drop(clients);
    fabric.turn();
    socket::send(&last, &encode(&FabricRequest::Status).unwrap(), &[], false).expect("it reads");
    fabric.turn();
    fabric.turn();
    let status = read(&last);
    assert!(matches!(status[..], [FabricReply::Document { .. }]), "{status:?}");
});
