//! Sends and receives packets between user memory and a SpaceFibre network.
//!
//! A program registers memory ([`Region`]), cuts buffers from it ([`Buf`]) and posts them to the
//! transmit or receive end of a virtual channel ([`Tx`], [`Rx`], [`PackedRx`]). The device reads and
//! writes this memory directly: hardware by DMA; in a virtual network a thread of the application or
//! of the daemon copies each byte once. While there is work the library makes no system call.
//!
//! ```
//! use spfe::{Deadline, Endpoint};
//! // An endpoint of a virtual network; ports 0 and 1 are joined by a cable.
//! let endpoint = Endpoint::open("virtual:")?;
//! let (mut tx, mut rx) = (endpoint.port(0)?.vc(0)?.tx()?, endpoint.port(1)?.vc(0)?.rx()?);
//! let memory = endpoint.alloc(1 << 16)?;
//! rx.post_all(&mut memory.split(4096, 8)?);
//! let mut packet = memory.buf(32768..36864)?;
//! packet.put(b"from here to there");
//! tx.send(packet)?;
//! let received = rx.recv(Deadline::NEVER)?;
//! assert_eq!(&received.buf[..], b"from here to there");
//! # Ok::<(), spfe::Error>(())
//! ```
//!
//! | to send or receive | use |
//! | --- | --- |
//! | packets in your own memory layout | [`Tx`], [`Rx`] and [`Buf`]s |
//! | packets that are built and read in place, fastest | [`PooledTx`], [`PooledRx`] |
//! | many small packets | [`Tx::send_burst`], [`PackedRx`] |
//! | reads and writes of remote memory (RMAP) | [`rmap`] |
//! | CCSDS space packets | [`ccsds`] |
//! | parameters, status and errors of a link | [`Port::mib`] |
//!
//! The same program runs on a daemon's network (`unix:/run/spfe.sock/0`) and on hardware
//! (`/dev/spfe0`) unchanged.
//!
//! In virtual networks of mode auto, inline or coop, the threads that post and wait run the engine,
//! so all clients must trust each other. Mode thread isolates them, best in a daemon.
//!
//! | cargo feature (all on by default) | devices |
//! | --- | --- |
//! | `kernel` | `/dev/spfeN`, devices of the kernel driver |
//! | `daemon` | `unix:SOCKET`, endpoints of a `spfed` daemon; modes auto, inline and coop need `virtual` as well |
//! | `virtual` | `virtual:`, networks inside the process |
//!
//! The feature `rtl` adds simulated cores, `rtl:`. The feature `rdma` adds the queue pairs of devices, for `spfe-remote`.
//!
//! With `kernel` alone the library compiles neither the soft device nor the simulator.

#[doc(hidden)]
pub mod backend;
mod cancel;
pub mod ccsds;
mod device;
mod endpoint;
#[cfg_attr(not(feature = "virtual"), path = "engine_none.rs")]
mod engine;
mod error;
#[cfg(feature = "fast")]
mod fast;
mod message;
mod mib;
mod packed;
#[cfg(feature = "rdma")]
pub mod pair;
mod pooled;
mod queue;
mod region;
pub mod rmap;
mod rx;
mod slots;
mod timer;
mod tx;
mod uri;
mod wait;

#[cfg(feature = "virtual")]
pub use backend::embedded::Embedded;
pub use cancel::Canceller;
pub use endpoint::{Endpoint, Port, Vc};
pub use error::{Error, Full, Refused, Result};
#[cfg(feature = "fast")]
pub use fast::{FAST_BUFFER, FAST_DATA, FastMemory, FastRegion, FastTxState};
pub use message::{
    Broadcast, BroadcastMessage, InterruptCode, InterruptCodes, MessageOptions, TimeCode,
};
pub use mib::{Mib, MibName};
#[cfg(feature = "fast")]
pub use packed::FastPackedState;
pub use packed::{PackedOptions, PackedRx, Record, Records, Run};
#[cfg(feature = "fast")]
pub use pooled::FastRxState;
pub use pooled::{Packet, PoolOptions, PooledRx, PooledTx};
pub use queue::{QueueOptions, QueueStats};
pub use region::{Buf, Region};
#[cfg(feature = "fast")]
pub use rx::{FastPostedState, FastReceived};
pub use rx::{Received, Rx};
pub use slots::Returned;
pub use spfe_contract::{MIB_ITEMS, MibAccess, MibInfo, MibItem, MibKind, MibLayer, MibScope};
pub use spfe_contract::{PortKind, PortState, Status, StatusClass};
pub use spfe_host::mib::layer_name;
pub use spfe_host::port::{
    ChannelCounters, ChannelInfo, MessageCounters, PortInfo, TimeCodeInfo, TimeCodeValue,
};
pub use spfe_host::{
    Clock, DeviceInfo, FaultInfo, Link, LinkCommand, LinkModel, LinkRate, LinkTiming, MibEntry,
    MibValue, Mode, Peer, RegionKey, Topology,
};
#[cfg(feature = "virtual")]
pub use spfe_lab::{Capture, CaptureOptions, CaptureSummary, Scenario};
#[cfg(feature = "virtual")]
#[doc(hidden)]
pub use spfe_plane::instrument::{Lengths, Pattern};
#[cfg(feature = "fast")]
pub use spfe_ring::cursor::Mark;
#[cfg(feature = "daemon")]
pub use spfe_session::CaptureRequest;
pub use tx::{Batch, End, Sent, Tx};
pub use wait::{Deadline, Ready, SleepCost, Strategy, Threshold, sleep_cost};
