//! RDMA over SpaceFibre: the two engines, without I/O.
//!
//! An [`RdmaInitiator`] is the sending side of a queue pair: work requests go in, packets come out, and
//! responses become completions. A [`RdmaTarget`] executes the requests of other nodes on its regions.
//! Packets, time and local memory are parameters, so the same code runs behind the queues of an
//! endpoint, in an instrument of a virtual network, and in tests that lose, repeat and reorder
//! packets. `docs/rdma.md` describes the protocol.
//!
//! | module | content |
//! | --- | --- |
//! | [`region`], [`memory`] | regions, keys and rights; sparse memory |
//! | [`target`] | the side that has the memory |
//! | [`initiator`] | the side that asks |
//! | [`direct`] | packets that do not leave the machine, in one copy |
//! | [`near`] | requests that need no packets at all |
//! | [`node`], [`config`] | a target-only endpoint, which serves RMAP, too; its TOML file |
//!
//! No packet makes an engine panic. A target checks everything before it touches memory; an
//! initiator ends every operation within a bound that its options give.
#![forbid(unsafe_code)]

pub mod config;
pub mod direct;
mod few;
pub mod initiator;
pub mod local;
pub mod memory;
pub mod near;
pub mod node;
pub mod region;
pub mod target;

pub use config::{TargetFile, TargetFileError};
pub use few::Few;
pub use initiator::{
    Execution, InlineBytes, Local, LocalMemory, PairState, PairWait, Pieces, RdmaInitiator,
    RdmaInitiatorOptions, WorkCompletion, WorkError, WorkFlags, WorkKind, WorkRequest,
};
pub use node::TargetNode;
pub use region::{RegionRights, RegionTable, RemoteKey, TargetRegion};
pub use target::{Notification, RdmaTarget, RdmaTargetOptions};
