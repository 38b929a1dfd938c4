//! The virtual SpaceFibre network.
//!
//! A [`Network`] holds endpoints, the cables between them and the instruments on them, in one block
//! of shared memory (the [`arena`]). It is the control plane: it attaches clients, registers their
//! memory, creates their queues and cleans up after them. The data plane is a [`View`]: one
//! process's mappings, from which it makes [`Runner`]s for the flows it drives.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`topology`] | endpoints, cables, rates, instruments, and their text forms |
//! | [`arena`] | the shared memory layout |
//! | [`network`] | the control plane |
//! | [`view`] | the data plane of one process: region maps and runners |
//! | [`instrument`] | generator, sink with check, echo, RMAP target |
//! | [`exact`] | cables that are made word by word |
//! | [`capture`] | live captures of links |
//! | [`device_thread`] | a thread that stands for the hardware |
//! | [`engine_time`] | processor time of the engine inside a thread of the application |
//! | [`registers`] | the register face of an endpoint, as a driver sees it over a bus |
//! | [`event`] | descriptors that tell a host of an event |
//! | [`clock`] | real and virtual time |
//! | [`os`] | shared memory, futexes, barriers |

pub mod arena;
pub mod capture;
pub mod clock;
pub mod device_thread;
mod engine_time;
pub mod event;
pub mod exact;
pub mod instrument;
pub mod network;
pub mod os;
pub mod registers;
pub mod topology;
pub mod view;

pub use capture::{Capture, CaptureOptions};
pub use clock::Clock;
pub use device_thread::DeviceThread;
pub use event::Event;
pub use network::{Attachment, Error, Network, Placement, PortInfo, QueueRequest};
pub use registers::guest::GuestMemory;
pub use registers::{RegisterFile, Segments, Stride};
pub use spfe_sim::scenario::Scenario;
pub use topology::{Link, LinkModel, LinkRate, Mode, Peer, Topology};
pub use view::{Runner, View};
