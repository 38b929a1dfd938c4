//! Requests of a client and replies of the daemon.

use serde::{Deserialize, Serialize};
use spfe_contract::{CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR};
use spfe_host::{Attachment, FaultInfo, LinkCommand, MibEntry, PortInfo, QueueRequest, Topology};

/// Bit in [`Hello::wants`]: the client can run the engine. Networks of the modes auto, inline
/// and coop require it, because their clients run the engine.
pub const WANT_ENGINE: u32 = 1;

/// Maximum number of entries in a reply to [`Request::PortMib`].
pub const MIB_ENTRIES: usize = 128;

/// The request that attaches a connection as a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Contract version of the client {major, minor}. Client and daemon must have the same major
    /// version.
    pub contract: (u16, u16),
    /// Endpoint; `None` for the endpoint with the fewest clients, lowest number first.
    pub endpoint: Option<u32>,
    /// Abilities of the client: `WANT_` bits; all others are zero.
    pub wants: u32,
    /// Name of the client, for messages; at most [`NAME_MAX`](crate::NAME_MAX) bytes.
    pub name: String,
}

impl Hello {
    /// The request of a client of this build that can run the engine. Longer names are cut.
    pub fn new(endpoint: Option<u32>, name: &str) -> Self {
        let contract = (CONTRACT_VERSION_MAJOR, CONTRACT_VERSION_MINOR);
        let mut end = name.len().min(crate::NAME_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        Self { contract, endpoint, wants: WANT_ENGINE, name: name[..end].to_owned() }
    }
}

/// The reply to [`Hello`]. Its descriptors are the client's doorbell, an eventfd, and, in modes
/// auto, inline and coop, the memory of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// Contract version of the daemon {major, minor}.
    pub contract: (u16, u16),
    /// Most buffers from which the device gathers one packet.
    pub chain_max: u32,
    /// Identity of the client.
    pub attachment: Attachment,
    /// Name of the endpoint; empty if it has none.
    pub name: String,
    /// The network.
    pub topology: Topology,
}

/// The reply to [`Request::Network`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkInfo {
    /// Contract version of the daemon {major, minor}.
    pub contract: (u16, u16),
    /// The network.
    pub topology: Topology,
    /// Names of its endpoints; empty if they have none.
    pub names: Vec<String>,
}

/// Requests of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Attach. It comes first, and only once.
    Hello(Hello),
    /// Detach. The daemon closes the connection after its reply.
    Goodbye,
    /// Do nothing; checks that the daemon answers.
    Ping,
    /// Register memory. Its descriptor is attached; it must be sealed against shrinking.
    AddRegion {
        /// Size in bytes, from the start of the memory.
        size: u64,
        /// Access bits of the contract.
        access: u32,
    },
    /// Revoke a region.
    RemoveRegion {
        /// Key of the region.
        key: u16,
    },
    /// Get the memory of a region of any endpoint, in modes auto, inline and coop only.
    RegionMemory {
        /// Endpoint.
        endpoint: u32,
        /// Key.
        key: u16,
    },
    /// Register an eventfd, which is attached.
    AddEvent,
    /// Get an eventfd of another participant, in modes auto, inline and coop only.
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
    /// Get state and counters of a port of the client's endpoint.
    PortInfo {
        /// Port.
        port: u32,
    },
    /// Set the transmit priority of a virtual channel.
    SetPriority {
        /// Port.
        port: u32,
        /// Virtual channel.
        vc: u32,
        /// 0, the most urgent, to 15.
        priority: u8,
    },
    /// Get states, counters and MIB items of a port and its link, at most [`MIB_ENTRIES`] of them.
    PortMib {
        /// Port.
        port: u32,
        /// Number of the first entry.
        first: u32,
    },
    /// Read a MIB item of a port's link.
    MibItem {
        /// Port.
        port: u32,
        /// `mib_item`.
        item: u8,
        /// Lane or virtual channel; 0 for an item of the link.
        index: u32,
    },
    /// Reset, configure or cut a port's link.
    Link {
        /// Port.
        port: u32,
        /// The operation.
        command: LinkCommand,
    },
    /// Stop the queues of the client and revoke its regions.
    Reset,
    /// List the clients. Works without attaching.
    Clients,
    /// Describe the network. Works without attaching.
    Network,
    /// Get state and counters of a port of any endpoint. Works without attaching.
    NetworkPort {
        /// Endpoint.
        endpoint: u32,
        /// Port.
        port: u32,
    },
    /// Describe the queue pair of a virtual channel of any endpoint. Works without attaching.
    Pair {
        /// Endpoint.
        endpoint: u32,
        /// Port.
        port: u32,
        /// Virtual channel.
        vc: u32,
    },
    /// Start a capture of links; a connection has at most one. Works without attaching, for the
    /// daemon's own user and root only. The capture ends with the connection at the latest.
    Capture(CaptureRequest),
    /// End the capture.
    EndCapture,
    /// Give a fault to the exact links. Works without attaching, for the daemon's own user and root
    /// only.
    Fault {
        /// The keys of a `[[fault]]` (docs/scenarios.md). Times count from now.
        fault: String,
    },
    /// End faults. Works without attaching, for the daemon's own user and root only.
    EndFaults {
        /// Number of a fault, or name of a link, flow or node; empty for all.
        which: String,
    },
    /// List the faults that wait, repeat or last. Works without attaching.
    Faults,
}

/// Options of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRequest {
    /// Names of the links; empty for all links.
    pub links: Vec<String>,
    /// Capture every word or character of exact links as well.
    pub words: bool,
    /// Number of packets after which the capture ends.
    pub packets: Option<u64>,
}

impl Request {
    /// Name of the request, for messages.
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
            Self::Network => "Network",
            Self::NetworkPort { .. } => "NetworkPort",
            Self::Pair { .. } => "Pair",
            Self::Capture(_) => "Capture",
            Self::EndCapture => "EndCapture",
            Self::Fault { .. } => "Fault",
            Self::EndFaults { .. } => "EndFaults",
            Self::Faults => "Faults",
        }
    }
}

/// Replies of the daemon to successful requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Reply without a value.
    Done,
    /// Reply to Hello.
    Welcome(Welcome),
    /// Reply to AddRegion.
    Region {
        /// Key by which ring entries name the region.
        key: u16,
    },
    /// Reply to RegionMemory; the descriptor is attached.
    Memory {
        /// Size in bytes.
        size: u64,
    },
    /// Reply to AddEvent.
    Vector {
        /// Event vector for queues.
        vector: u32,
    },
    /// Reply to Event; the eventfd is attached.
    Event,
    /// Reply to PortInfo and NetworkPort.
    Port(PortInfo),
    /// Reply to PortMib.
    Mib(Vec<MibEntry>),
    /// Reply to MibItem; to Fault, its number; to EndFaults, how many there were.
    Value(u64),
    /// Reply to Clients.
    Clients(Vec<ClientInfo>),
    /// Reply to Pair; `None` if none is open.
    Pair(Option<PairInfo>),
    /// Reply to Network.
    Network(NetworkInfo),
    /// Reply to Capture. The reading end of a pipe with the capture file is attached.
    Capturing,
    /// Reply to Faults.
    Faults(Vec<FaultInfo>),
    /// Reply to EndCapture.
    Captured {
        /// Number of records in the file.
        records: u64,
        /// Number of records left out because the reader was too slow.
        left_out: u64,
    },
}

/// A queue pair that a device runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairInfo {
    /// Participant that opened it.
    pub client: u32,
    /// Its number.
    pub queue: u16,
    /// Requests that have not completed.
    pub outstanding: u32,
    /// What it waits for, as a sentence that names the partner.
    pub waiting: String,
    /// Counters of its requests, and of those of others (`target_`), that are not 0.
    pub counters: Vec<(String, u64)>,
}

/// A client of a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Participant id.
    pub client: u32,
    /// Endpoint that it is attached to.
    pub endpoint: u32,
    /// Name from its Hello.
    pub name: String,
}
