// SPDX-License-Identifier: MIT OR Apache-2.0
// Generated from contract/spfe.toml: do not edit; run `make gen`.
/// Maximum virtual channels of a fabric port: VC 0 to 254, because 255 stands for message contexts.
pub const FABRIC_VC_MAX: u64 = 255;
/// Most nodes of a PCIe fabric; node numbers are 1 to 64.
pub const FABRIC_NODES_MAX: u64 = 64;
/// Doorbells from one node of a fabric to another.
pub const PEER_DOORBELLS: u64 = 16;
/// Scratchpads from one node of a fabric to another, 32 bits each.
pub const PEER_SCRATCHPADS: u64 = 16;

/// State of a node of a fabric, as another node sees it.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeState {
    /// The node has not started its port, or there is no such node.
    Absent = 0,
    /// No path leads to the node.
    NoLink = 1,
    /// The node has started its port; this one has not.
    Link = 2,
    /// Packets, accesses and doorbells go both ways.
    Ready = 3,
    /// The node broke a rule of the fabric. It must start again.
    Error = 4,
}

impl NodeState {
    /// All values, in the order of the contract.
    pub const ALL: &[Self] = &[
        Self::Absent, Self::NoLink, Self::Link, Self::Ready, Self::Error,
    ];

    /// The value with this number, if there is one.
    pub const fn from_raw(v: u8) -> Option<Self> {
        match v {
            0 => Some(Self::Absent),
            1 => Some(Self::NoLink),
            2 => Some(Self::Link),
            3 => Some(Self::Ready),
            4 => Some(Self::Error),
            _ => None,
        }
    }

    /// Number of the value.
    pub const fn raw(self) -> u8 {
        self as u8
    }

    /// Name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "ABSENT",
            Self::NoLink => "NO_LINK",
            Self::Link => "LINK",
            Self::Ready => "READY",
            Self::Error => "ERROR",
        }
    }
}

/// The node behind the fabric port in the block's instance field (capability FABRIC).
pub mod fabric_block {
    /// block_type FABRIC.
    pub const TYPE: u16 = 10;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes.
    pub const SIZE: u32 = 0x100;
    /// Number of this node, 1 to NODES. (ro)
    pub const NODE: u32 = 0x10;
    /// Number of nodes, at most FABRIC_NODES_MAX: elements of the peer block. (ro)
    pub const NODES: u32 = 0x14;
    /// Virtual channels to each node. Channel C to node N is virtual channel CHANNELS * (N - 1) + C
    /// of this port; at its other end it is channel C to this node. Those to the own node are not
    /// used. (ro)
    pub const CHANNELS: u32 = 0x18;
    /// Number of times that this node has started its port. (ro)
    pub const EPOCH: u32 = 0x1c;
    /// Doorbells that all nodes have rung here (mod 2^32). (ro)
    pub const RINGS: u32 = 0x20;
    /// Doorbells of this host that were refused (mod 2^32). (ro)
    pub const REFUSED: u32 = 0x24;
    /// status of the last one: BAD_FIELD (NUMBER), NOT_FOUND (QUEUE leads to no node of this port),
    /// LINK_DOWN (the node is not READY); OK if there was none. (ro)
    pub const REFUSED_STATUS: u32 = 0x28;
    /// Event vector to signal when RINGS rises, plus 1: 1 to EVENTS; 0 for none. Latched by
    /// PORT_CONFIGURE. (rw)
    pub const BELL_VECTOR: u32 = 0x80;
}

/// What the fabric port in the block's instance field sees of each node: element N - 1 is node N.
/// The first register of a row of PEER_DOORBELLS or PEER_SCRATCHPADS has its name; the others
/// follow, 4 bytes apart.
pub mod peer_block {
    /// block_type PEER.
    pub const TYPE: u16 = 11;
    /// Version of the block.
    pub const VERSION: u16 = 1;
    /// Size in bytes of the header; the elements follow.
    pub const SIZE: u32 = 0x10;
    /// Bytes from one element to the next. Register offsets are relative to an element.
    pub const STRIDE: u32 = 0x100;
    /// node_state. (ro)
    pub const STATE: u32 = 0x00;
    /// Number of times that the node has started its port. (ro)
    pub const EPOCH: u32 = 0x04;
    /// Doorbells that the node has rung here: the sum of all numbers (mod 2^32). (ro)
    pub const RINGS: u32 = 0x08;
    /// How often the node has rung doorbell 0 (mod 2^32); 0 again when it starts with a new epoch.
    /// (ro)
    pub const DOORBELL: u32 = 0x40;
    /// Scratchpad 0 that the node has published; 0 again when it starts with a new epoch. (ro)
    pub const INWARD: u32 = 0x80;
    /// Scratchpad 0 for the node. A doorbell to it publishes all of them. (rw)
    pub const OUTWARD: u32 = 0xc0;
}
