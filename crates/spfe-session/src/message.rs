//! Requests of a client and replies of the daemon.

use serde::{Deserialize, Serialize};
use spfe_contract::{CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR};
use spfe_host::{Attachment, LinkCommand, MibEntry, PortInfo, QueueRequest, Topology};

/// In [`Hello::wants`]: the client can run the engine itself. Networks of mode inline and coop have
/// nobody else to run it and refuse a client without.
pub const WANT_ENGINE: u32 = 1;

/// Most entries in one reply to [`Request::PortMib`].
pub const MIB_ENTRIES: usize = 128;

/// The first request on a connection that is to be a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Contract version of the client {major, minor}. The major versions must be equal.
    pub contract: (u16, u16),
    /// Endpoint; `None`: the one with the fewest clients, the lowest number first.
    pub endpoint: Option<u32>,
    /// What the client can do: `WANT_` bits, all others zero.
    pub wants: u32,
    /// Name of the client, for messages to people; at most [`NAME_MAX`](crate::NAME_MAX) bytes.
    pub name: String,
}

impl Hello {
    /// The greeting of a client of this build that can run the engine.
    pub fn new(endpoint: Option<u32>, name: &str) -> Self {
        let contract = (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR);
        let mut end = name.len().min(crate::NAME_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        Self { contract, endpoint, wants: WANT_ENGINE, name: name[..end].to_owned() }
    }
}

/// The answer to [`Hello`]. Beside it: the doorbell page, and in modes inline and coop the memory
/// of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Contract version of the daemon {major, minor}.
    pub contract: (u16, u16),
    /// Who the client is from now on.
    pub attachment: Attachment,
    /// What the network is, and who copies.
    pub topology: Topology,
}

/// The answer to [`Request::Look`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkInfo {
    /// Contract version of the daemon {major, minor}.
    pub contract: (u16, u16),
    /// What the network is, and who copies.
    pub topology: Topology,
    /// Names of its endpoints, if they have any.
    pub names: Vec<String>,
}

/// What a client asks for. The daemon carries each out on its network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Attach. First, and once.
    Hello(Hello),
    /// Detach in good order; the daemon closes the connection after its reply.
    Goodbye,
    /// Nothing: is anybody there?
    Ping,
    /// Register memory; its descriptor comes along, sealed against shrinking.
    AddRegion {
        /// Bytes from the start of the memory.
        size: u64,
        /// Access bits of the contract.
        access: u32,
    },
    /// Revoke a region.
    RemoveRegion {
        /// Its key.
        key: u16,
    },
    /// Memory of a region of any endpoint (modes inline and coop only).
    RegionMemory {
        /// Endpoint.
        endpoint: u32,
        /// Key.
        key: u16,
    },
    /// Register an eventfd; it comes along.
    AddEvent,
    /// The eventfd of a participant (modes inline and coop only).
    Event {
        /// Participant.
        participant: u32,
        /// Vector.
        vector: u32,
    },
    /// Create a queue.
    CreateQueue(QueueRequest),
    /// Destroy a queue.
    DestroyQueue {
        /// Port.
        port: u32,
        /// Virtual channel.
        vc: u32,
        /// `queue_kind`.
        kind: u8,
    },
    /// State and counters of a port of the client's endpoint.
    PortInfo {
        /// Port.
        port: u32,
    },
    /// Set the priority of a virtual channel.
    SetPriority {
        /// Port.
        port: u32,
        /// Virtual channel.
        vc: u32,
        /// 0, the most urgent, to 15.
        priority: u8,
    },
    /// What there is to see of a port and its link, from an entry on: at most [`MIB_ENTRIES`] of
    /// them.
    PortMib {
        /// Port.
        port: u32,
        /// The first entry.
        first: u32,
    },
    /// The value of an item of the management information base of a port's link.
    MibItem {
        /// Port.
        port: u32,
        /// `mib_item`.
        item: u8,
        /// Lane or virtual channel; 0 for an item of the link.
        index: u32,
    },
    /// Do something to a port's link.
    Link {
        /// Port.
        port: u32,
        /// What.
        command: LinkCommand,
    },
    /// Reset the client's share of the device.
    Reset,
    /// Who is attached. Also without attaching.
    Clients,
    /// What the network is. Also without attaching: whoever only looks is no client.
    Look,
    /// State and counters of a port of any endpoint. Also without attaching.
    LookAtPort {
        /// Endpoint.
        endpoint: u32,
        /// Port.
        port: u32,
    },
    /// Begin a capture of links, one of this connection at a time. Also without attaching, but for
    /// the daemon's own user or root only. It ends with the connection, too.
    Capture(CaptureRequest),
    /// End the capture in good order.
    EndCapture,
}

/// What is captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Names of links; none for all.
    pub links: Vec<String>,
    /// Every word, or character, of exact links, too.
    pub words: bool,
    /// End after so many packets.
    pub packets: Option<u64>,
}

impl Request {
    /// Its name, for messages to people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Goodbye => "Goodbye",
            Self::Ping => "Ping",
            Self::AddRegion { .. } => "AddRegion",
            Self::RemoveRegion { .. } => "RemoveRegion",
            Self::RegionMemory { .. } => "RegionMemory",
            Self::AddEvent => "AddEvent",
            Self::Event { .. } => "Event",
            Self::CreateQueue(_) => "CreateQueue",
            Self::DestroyQueue { .. } => "DestroyQueue",
            Self::PortInfo { .. } => "PortInfo",
            Self::SetPriority { .. } => "SetPriority",
            Self::PortMib { .. } => "PortMib",
            Self::MibItem { .. } => "MibItem",
            Self::Link { .. } => "Link",
            Self::Reset => "Reset",
            Self::Clients => "Clients",
            Self::Look => "Look",
            Self::LookAtPort { .. } => "LookAtPort",
            Self::Capture(_) => "Capture",
            Self::EndCapture => "EndCapture",
        }
    }
}

/// What the daemon answers when it did what was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Done; there is nothing to say.
    Done,
    /// To Hello.
    Welcome(Welcome),
    /// To AddRegion.
    Region {
        /// The key entries name the region by.
        key: u16,
    },
    /// To RegionMemory; its descriptor comes along.
    Memory {
        /// Bytes.
        size: u64,
    },
    /// To AddEvent.
    Vector {
        /// The vector queues name the event by.
        vector: u32,
    },
    /// To Event; the eventfd comes along.
    Event,
    /// To PortInfo and LookAtPort.
    Port(PortInfo),
    /// To PortMib.
    Mib(Vec<MibEntry>),
    /// To MibItem.
    Value(u64),
    /// To Clients.
    Clients(Vec<ClientInfo>),
    /// To Look.
    Network(NetworkInfo),
    /// To Capture; the end of a pipe comes along, out of which the file is read up to its end.
    Capturing,
    /// To EndCapture, or when it ended before: what became of the records.
    Captured {
        /// In the file.
        records: u64,
        /// Left out, because the reader did not keep up.
        left_out: u64,
    },
}

/// One client of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Participant.
    pub client: u32,
    /// Endpoint.
    pub endpoint: u32,
    /// Name.
    pub name: String,
}
