//! The spfe soft device: the engine that moves packets between the rings of two endpoints.
//!
//! Pure logic over shared memory: no thread, clock or I/O. A [`Flow`] is one virtual channel in one
//! direction of one link. It reads the transmit ring of one endpoint and fills the receive buffers,
//! or the packed area, of the other. It copies each payload byte once. [`Flow::step`] does a
//! bounded amount of that work. The caller decides which participant steps a flow: the thread that
//! posts, both ends, a device thread or a daemon. The seat of the flow lets in one at a time.
//!
//! Each module uses only modules above it:
//!
//! | module | content |
//! | --- | --- |
//! | [`memory`] | regions, addresses and access checks |
//! | [`shared`] | state of a flow, in memory that every runner maps |
//! | [`distance`] | time of a cache line between both ends |
//! | [`pace`] | time of links with a limited rate |
//! | [`queue`] | a queue as its runner sees it: rings, lines, completions, wake-ups |
//! | [`copy`] | copying payload, alone or shared with the far end |
//! | [`piece`] | a packet, or a piece of one, between source and sink |
//! | [`step`] | sources, sinks and outcomes of the general path |
//! | [`observer`] | observers of delivered packets: captures |
//! | [`transmit`] | transmit queue as a source of pieces |
//! | `fast` | fast path of a step: loops for the common cases |
//! | [`receive`] | posted buffers and packed areas as sinks of pieces |
//! | [`rdma`] | queue pairs: work requests as packets of RDMA |
//! | [`recover`] | repair of a flow after its runner died |
//! | [`flow`] | a flow as one process runs it: the step |
//! | [`message`] | broadcast messages and time-codes |
//! | [`fabric`] | nodes of a PCIe fabric, their doorbells and scratchpads |
//!
//! The host side of every ring is hostile. Entries are read once and checked with arithmetic that
//! cannot overflow. A bad entry costs its owner an error completion and affects no other queue.

pub mod copy;
pub mod distance;
pub mod fabric;
mod fast;
pub mod flow;
pub mod memory;
pub mod message;
pub mod observer;
pub mod pace;
pub mod piece;
pub mod queue;
pub mod rdma;
pub mod receive;
pub mod recover;
pub mod shared;
pub mod step;
pub mod transmit;

/// Most entries from which this device gathers one packet (register CHAIN_MAX): room for the 17
/// fragments of a network packet of Linux with its two headers, and to spare.
pub const CHAIN_MAX: usize = 24;
const _: () = assert!(CHAIN_MAX >= spfe_contract::CHAIN_MAX as usize);

pub use flow::Flow;
pub use memory::{Address, RegionKey, RegionMap};
pub use queue::Host;
pub use shared::{FlowShared, QueueConfig};
pub use step::{PieceSink, PieceSource, StepOutcome};
