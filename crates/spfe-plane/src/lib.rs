//! Runs a soft device.
//!
//! A [`Network`] holds endpoints, the cables between them and the instruments on them, in one block
//! of shared memory (the [`arena`]). It is the control plane: it attaches clients, registers their
//! memory, creates their queues and cleans up after them. The data plane is a [`View`]: one
//! participant's mappings, from which it makes [`Runner`]s for the flows it drives.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`arena`] | the shared memory layout |
//! | [`network`] | the control plane |
//! | [`view`] | the data plane of one participant: region maps and runners |
//! | [`instrument`] | generator, sink with check, echo, RMAP target |
//! | [`links`] | traits by which the lab adds exact links and observers |
//! | [`device_thread`] | a thread that stands for the hardware |
//! | [`engine_time`] | processor time of the engine inside a thread of the application |
//! | [`registers`] | the register face of an endpoint, as a driver sees it over a bus |
//! | [`event`] | descriptors that tell a host of an event |

pub mod arena;
pub mod device_thread;
mod engine_time;
pub mod event;
pub mod instrument;
pub mod links;
pub mod network;
pub mod registers;
pub mod view;

pub use device_thread::DeviceThread;
pub use event::Event;
pub use network::{Extensions, Network, Placement};
pub use registers::guest::GuestMemory;
pub use registers::{RegisterFile, Segments, Stride};
pub use view::{Runner, View};
