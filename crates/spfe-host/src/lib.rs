//! What a host needs to talk to any spfe device.
//!
//! The library, the session protocol and every soft device build on this crate. It depends only on
//! the contract, the ring algorithms and the types that describe a network.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`backend`] | the trait [`Backend`]: how the library reaches a device |
//! | [`queue`] | [`QueueRequest`]: which queue a client opens, and how |
//! | [`port`] | state and counters of a port |
//! | [`mib`] | entries of a port's management information base, commands to its link |
//! | [`topology`] | endpoints, links and instruments of a virtual network, and their text forms |
//! | [`clock`] | real and virtual time |
//! | [`flush`] | completion of what a stopped queue had pending |
//! | [`os`] | shared memory, futexes, `membarrier`, sleeping |
//! | [`error`] | errors of the library and of a control plane |

pub mod backend;
pub mod clock;
pub mod error;
pub mod flush;
pub mod mib;
pub mod os;
#[cfg(feature = "rdma")]
pub mod pairs;
pub mod port;
pub mod queue;

pub use backend::{Attachment, Backend, DeviceInfo};
pub use clock::Clock;
pub use error::{ControlError, Error, Result, printable};
pub use mib::{FaultInfo, LinkCommand, MibEntry, MibFault, MibValue};
pub use os::SharedMemory;
pub use port::PortInfo;
pub use queue::QueueRequest;
pub use spfe_contract::{Address, RegionKey};
pub use spfe_topology as topology;
pub use topology::{Link, LinkModel, LinkRate, LinkTiming, Mode, Peer, Topology};
