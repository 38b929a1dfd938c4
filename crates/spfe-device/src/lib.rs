//! The spfe soft device.
//!
//! Pure logic over shared memory: no thread, clock or I/O. A [`Flow`] is one virtual channel in one
//! direction of one link: it reads the transmit ring of one endpoint and fills the receive buffers
//! (or the packed area) of the other, copying each payload byte once. [`Flow::step`] does a bounded
//! amount of that. *Who* calls it is policy: the posting thread, both ends, a device thread or a
//! daemon; the seat of the flow keeps them apart.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`memory`] | regions, addresses, access checks |
//! | [`shared`] | the state of a flow, in memory every runner can map |
//! | [`queue`] | a queue as its runner sees it: rings, lines, completions, wake-ups |
//! | [`transmit`] | the transmit ring as a source of pieces of packets |
//! | [`receive`] | posted buffers and packed area as sinks of them |
//! | [`flow`] | source to sink: the step |
//! | `fast` | the common case of a step, short |
//! | [`copy`] | the copy itself, alone or shared with the far end |
//! | [`pace`] | link time: when a paced link would have delivered |
//! | [`observer`] | what a flow delivers, for who looks on |
//! | [`message`] | broadcast messages and time-codes |
//! | [`recover`] | putting a flow right after a runner died |
//!
//! The host side of every ring is hostile: entries are read once, checked with overflow-safe
//! arithmetic, and a bad one costs its owner an error completion and nobody else anything.

pub mod copy;
mod fast;
pub mod flow;
pub mod memory;
pub mod message;
pub mod observer;
pub mod pace;
pub mod queue;
pub mod receive;
pub mod recover;
pub mod shared;
pub mod transmit;

pub use flow::{Flow, PieceSink, PieceSource, StepOutcome};
pub use memory::{Address, RegionKey, RegionMap};
pub use queue::Host;
pub use shared::{FlowShared, QueueConfig};
