//! Remote memory access, RMAP (ECSS-E-ST-50-52C), over the queues of an endpoint.
//!
//! An [`Initiator`] reads and writes the memory of another node. A [`Target`] gives other nodes
//! access to [`Window`]s of local memory. `spfe-proto` encodes and decodes the packets.
//!
//! ```
//! use spfe::rmap::{Initiator, InitiatorOptions, Remote};
//! use spfe::{Deadline, Endpoint};
//! // Port 0 is connected to an RMAP target with 1 MiB of memory.
//! let endpoint = Endpoint::open("virtual:?peer=rmap:1M:key=0x20")?;
//! let options = InitiatorOptions::new(Remote { key: 0x20, ..Remote::default() });
//! let mut initiator = Initiator::open(&endpoint.port(0)?.vc(0)?, options)?;
//! initiator.write(0x100, b"from here to there", Deadline::NEVER)?;
//! let mut back = [0; 18];
//! initiator.read(0x100, &mut back, Deadline::NEVER)?;
//! assert_eq!(&back, b"from here to there");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod initiator;
mod options;
mod target;
mod window;

pub use error::{Access, Error};
pub use initiator::Initiator;
pub use options::{InitiatorCounters, InitiatorOptions, Remote, Write};
pub use spfe_host::topology::Allow;
pub use spfe_proto::rmap::initiator::{RmapRequest, TransactionFailure};
pub use spfe_proto::rmap::target::{TargetCounters, TargetDiscard, TargetOutcome};
pub use spfe_proto::rmap::{
    ADDRESS_MAX, BuildError, LENGTH_MAX, Memory, MemoryFault, RMW_MAX, ReplyAddress,
    ReplyPathError, RmapStatus, RmapTargetConfig as TargetConfig,
};
pub use target::Target;
pub use window::{Backing, Window};
