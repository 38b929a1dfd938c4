//! RDMA over the queues of an endpoint.
//!
//! An [`RdmaQueue`] reads and writes the memory of another node and sends it messages; an
//! [`RdmaServer`] gives other nodes access to regions of this process. On devices with queue pairs the
//! requests of an [`RdmaQueue`] go to the device. Otherwise both run the engines of `spfe-rdma` in the
//! calling thread, on two pooled queues of a virtual channel, so they work over every device and
//! link. `docs/rdma.md` describes protocol and errors.
//!
//! ```
//! use spfe::Endpoint;
//! use spfe_remote::{RdmaQueue, RdmaQueueOptions};
//! use std::time::Duration;
//!
//! // Port 0 is connected to a target-only endpoint with a region of 1 MiB.
//! let endpoint = Endpoint::open("virtual:?peer=target:1M")?;
//! let vc = endpoint.port(0)?.vc(0)?;
//! let mut queue = RdmaQueue::open(&vc, RdmaQueueOptions::default())?;
//! let patience = Duration::from_secs(5);
//! let region = queue.regions(patience)?[0];
//! queue.connect(patience)?;
//! queue.write(region.key, 0x100, b"from here to there".to_vec(), patience)?;
//! assert_eq!(queue.read(region.key, 0x100, 18, patience)?, b"from here to there");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod options;
mod program;
mod queue;
mod server;

pub use error::RdmaError;
pub use options::RdmaQueueOptions;
pub use queue::RdmaQueue;
pub use server::RdmaServer;
pub use spfe::pair::{KeyOptions, PairMessage, PooledPair, PooledWork};
pub use spfe_proto::sfrp::{Info, RegionEntry, RegionFlags, ReplyPath, SfrpStatus};
pub use spfe_rdma as engine;
