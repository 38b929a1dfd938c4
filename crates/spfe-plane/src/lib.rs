//! Runs a soft device.
//!
//! A [`Network`] is the control plane of endpoints, the links between them and the instruments on
//! them. It attaches clients, registers their memory, creates their queues and cleans up after them.
//! Its state is in one block of shared memory, the [`arena`]. A [`View`] is the data plane: one
//! participant's mappings, from which it creates a [`Runner`] for each flow that it runs.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`arena`] | the shared memory layout |
//! | [`network`] | the control plane |
//! | [`view`] | the data plane of one participant: region maps and runners |
//! | [`instrument`] | generator, sink with check, echo, RMAP target |
//! | [`links`] | traits by which the lab adds exact links and observers |
//! | [`device_thread`] | a thread that takes the place of the hardware |
//! | [`bells`] | the doorbells that it watches while it sleeps |
//! | `engine_time` | processor time of the engine inside a thread of the application |
//! | [`registers`] | the registers of an endpoint, as a driver sees them over a bus |
//! | [`event`] | eventfds that signal events to a host |

pub mod arena;
pub mod bells;
pub mod device_thread;
mod engine_time;
pub mod event;
pub mod instrument;
pub mod links;
pub mod network;
pub mod registers;
pub mod view;

pub use bells::{Bells, ClientBell, Doorbell};
pub use device_thread::DeviceThread;
pub use event::{Event, Signaller};
pub use network::{Extensions, Network, Placement, UserLimits};
pub use registers::guest::GuestMemory;
pub use registers::{RegisterFile, Segments, Stride, Variant};
pub use spfe_device::CHAIN_MAX;
pub use view::{Runner, View};
