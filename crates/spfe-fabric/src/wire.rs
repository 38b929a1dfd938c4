//! Messages between the backplane and its clients, on a SOCK_SEQPACKET socket.

use crate::topology::NodeNumber;
use serde::{Deserialize, Serialize};
use spfe_contract::Status;
use spfe_session::DATAGRAM_MAX;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Version of these messages.
pub const FABRIC_PROTOCOL: u32 = 1;
/// Most IP addresses of a node.
pub const ADDRESSES_MAX: usize = 16;

/// State of a node, seen by the backplane or by another node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PeerState {
    /// No process runs the node.
    #[default]
    Absent,
    /// No path leads there: no link, a link that is down, or another partition.
    NoLink,
    /// Connected; the other end has not answered yet.
    Link,
    /// Frames and accesses go both ways.
    Ready,
    /// The peer broke a rule; it must start again.
    Error,
}

impl PeerState {
    /// Name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "ABSENT",
            Self::NoLink => "NOLINK",
            Self::Link => "LINK",
            Self::Ready => "READY",
            Self::Error => "ERROR",
        }
    }
}

/// Rights of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WindowRights {
    /// Peers read.
    Read,
    /// Peers write, and could read through a mapping: the processor has no other protection.
    Write,
    /// Peers read and write.
    ReadWrite,
}

impl WindowRights {
    /// Whether peers may read.
    pub const fn can_read(self) -> bool {
        !matches!(self, Self::Write)
    }

    /// Whether peers may write.
    pub const fn can_write(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// A window in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowInfo {
    /// Key.
    pub key: u64,
    /// Owner.
    pub owner: NodeNumber,
    /// Address in the fabric.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
    /// Bit n - 1: node n may use it.
    pub peers: u64,
    /// What they may do.
    pub rights: WindowRights,
}

/// A port of a node on the path to a peer: its number at the node, and its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortRate {
    /// Number of the port at the node.
    pub port: u8,
    /// Bytes per second.
    pub bytes_per_s: u64,
    /// Bytes per second of the slowest link on the path.
    pub path_bytes_per_s: u64,
}

/// A change of a running fabric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FabricChange {
    /// Adds a node that is linked like another node.
    Add {
        /// The new node.
        node: NodeNumber,
        /// Its model.
        like: NodeNumber,
    },
    /// Removes a node. Its processes end.
    Remove {
        /// The node.
        node: NodeNumber,
    },
    /// Moves a node to another partition.
    Partition {
        /// The node.
        node: NodeNumber,
        /// The partition; empty: the common one.
        name: String,
    },
    /// Takes a link down or up.
    Link {
        /// Names of the ends.
        ends: [String; 2],
        /// Whether it works.
        up: bool,
    },
    /// Turns the rates of links on or off.
    Rate {
        /// Whether links limit transfers.
        limited: bool,
    },
}

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FabricRequest {
    /// This process runs a node.
    JoinNode {
        /// [`FABRIC_PROTOCOL`].
        version: u32,
        /// The node.
        node: NodeNumber,
    },
    /// State of a link of the node.
    PeerState {
        /// The peer.
        peer: NodeNumber,
        /// Identity of the link.
        link: u64,
        /// What the node sees.
        state: PeerState,
    },
    /// The node's interface.
    Interface {
        /// Its name.
        name: String,
        /// Its IP addresses.
        addresses: Vec<IpAddr>,
    },
    /// This process uses raw mode on a node.
    JoinRaw {
        /// [`FABRIC_PROTOCOL`].
        version: u32,
        /// The node.
        node: NodeNumber,
    },
    /// Shows memory to other nodes. The datagram has its descriptor.
    Expose {
        /// Bytes.
        bytes: u64,
        /// Bit n - 1: node n may use it.
        peers: u64,
        /// What they may do.
        rights: WindowRights,
    },
    /// Ends an exposure.
    Revoke {
        /// Key of the window.
        key: u64,
    },
    /// Asks for a window of another node.
    Map {
        /// Key of the window.
        key: u64,
    },
    /// Asks for the mailboxes from and to a peer.
    Mailboxes {
        /// The peer.
        peer: NodeNumber,
    },
    /// Asks for the windows that the client's node may use, in the reply's document.
    Windows,
    /// Asks for the state of everything.
    Status,
    /// Changes the fabric.
    Change(FabricChange),
    /// Ends the fabric.
    Down,
    /// This process has an end of a TCP connection between two nodes and offers to move its stream to
    /// memory.
    Stream {
        /// [`FABRIC_PROTOCOL`].
        version: u32,
        /// Address of this end.
        local: SocketAddr,
        /// Address of the other end.
        remote: SocketAddr,
    },
}

/// What the backplane tells a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FabricReply {
    /// The node or raw client has joined. Descriptors: the node's page; the directory.
    Joined {
        /// How often the node has started.
        epoch: u64,
        /// Ethernet address.
        mac: [u8; 6],
        /// MTU.
        mtu: u32,
        /// Highest number of a node in the topology.
        highest: NodeNumber,
    },
    /// A peer has joined. Descriptors: the memory that the node reads; the memory that it writes. A
    /// [`FabricReply::PeerWire`] follows.
    PeerMemory {
        /// The peer.
        peer: NodeNumber,
        /// Identity of the link.
        link: u64,
        /// Bytes of a ring.
        ring: u64,
    },
    /// The descriptor of the socket to the peer that wakes it, and what is known of it.
    PeerWire {
        /// The peer.
        peer: NodeNumber,
        /// Identity of the link.
        link: u64,
        /// IP addresses of the peer.
        addresses: Vec<IpAddr>,
        /// The node's port on the way to the peer and from it, if their rates are limited.
        port: Option<PortRate>,
    },
    /// A peer is gone, or no path leads to it any more.
    PeerGone {
        /// The peer.
        peer: NodeNumber,
        /// Identity of the link that ends.
        link: u64,
    },
    /// Addresses or rate of a peer have changed.
    PeerNews {
        /// The peer.
        peer: NodeNumber,
        /// Identity of the link.
        link: u64,
        /// IP addresses of the peer.
        addresses: Vec<IpAddr>,
        /// The node's port, if its rate is limited.
        port: Option<PortRate>,
    },
    /// The node was removed from the fabric, or the fabric ends.
    Ended,
    /// The window's key and address in the fabric.
    Exposed {
        /// Key for peers.
        key: u64,
        /// Address.
        address: u64,
    },
    /// Done.
    Done,
    /// The window. Its descriptor is in the datagram.
    Mapped {
        /// Owner.
        owner: NodeNumber,
        /// Bytes.
        bytes: u64,
        /// Rights.
        rights: WindowRights,
        /// The client's port on the way, if its rate is limited.
        port: Option<PortRate>,
    },
    /// The mailbox that the client reads, and the one that it writes: two descriptors.
    Mailboxes,
    /// A document of JSON in the memory whose descriptor is in the datagram.
    Document {
        /// Its length.
        bytes: u64,
    },
    /// The request is refused.
    Refused {
        /// Code of the status.
        status: u8,
        /// Object, value, limit, and what to do.
        what: String,
    },
    /// Both ends of a connection have offered. Descriptors: the memory that this end reads, the one
    /// that it writes, its bells for data and for room, those of the other end, the node's page.
    Stream {
        /// The node of this end.
        node: NodeNumber,
        /// The node of the other end.
        peer: NodeNumber,
        /// Bytes of a ring.
        ring: u64,
        /// The node's port on the way, if its rate is limited.
        port: Option<PortRate>,
    },
}

/// Why the backplane, a node or a raw access refused something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricError {
    /// The contract's status.
    pub status: Status,
    /// Object, value, limit, and what to do.
    pub what: String,
}

impl FabricError {
    /// An error with a status.
    pub fn new(status: Status, what: impl Into<String>) -> Self {
        Self { status, what: what.into() }
    }

    /// The operating system failed.
    pub fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        let status = match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                Status::NotFound
            }
            std::io::ErrorKind::PermissionDenied => Status::AccessDenied,
            _ => Status::NoResources,
        };
        Self::new(status, format!("{what}: {error}"))
    }

    /// A reply that does not belong to the request.
    pub fn unexpected(reply: &FabricReply) -> Self {
        match reply {
            FabricReply::Refused { status, what } => {
                let status = Status::from_raw(*status).unwrap_or(Status::BadField);
                Self::new(status, what.clone())
            }
            FabricReply::Ended => Self::new(Status::DeviceGone, "the fabric has ended"),
            _ => {
                Self::new(Status::BadField, "the backplane gave another answer than was asked for")
            }
        }
    }
}

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.status.name())
    }
}

impl std::error::Error for FabricError {}

/// Encodes a message.
///
/// # Errors
/// TOO_LONG if it does not fit a datagram.
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FabricError> {
    let bytes = postcard::to_stdvec(message)
        .map_err(|error| FabricError::new(Status::BadField, error.to_string()))?;
    if bytes.len() > DATAGRAM_MAX {
        let what = format!("message of {} bytes: at most {DATAGRAM_MAX}", bytes.len());
        return Err(FabricError::new(Status::TooLong, what));
    }
    Ok(bytes)
}

/// Decodes a request or a reply; the input may be any bytes.
///
/// # Errors
/// BAD_FIELD for anything that is not a whole message.
pub fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, FabricError> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => {
            let what = format!("message with {} bytes behind its end", rest.len());
            Err(FabricError::new(Status::BadField, what))
        }
        Err(error) => Err(FabricError::new(Status::BadField, format!("message: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_and_garbage_is_refused() {
        let request = FabricRequest::JoinNode { version: FABRIC_PROTOCOL, node: NodeNumber(7) };
        let bytes = encode(&request).unwrap();
        assert_eq!(decode::<FabricRequest>(&bytes), Ok(request));
        let request = FabricRequest::Interface {
            name: "vxeth0".to_owned(),
            addresses: vec!["192.168.20.7".parse().unwrap(), "fe80::1".parse().unwrap()],
        };
        let bytes = encode(&request).unwrap();
        assert_eq!(decode::<FabricRequest>(&bytes), Ok(request));
        for cut in 0..bytes.len() {
            assert!(decode::<FabricRequest>(&bytes[..cut]).is_err());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode::<FabricRequest>(&longer).unwrap_err().what.contains("1 bytes behind"));
    }
}
