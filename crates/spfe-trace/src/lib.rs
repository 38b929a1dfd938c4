//! Passive decoding of SpaceFibre (ECSS-E-ST-50-11C) and SpaceWire (ECSS-E-ST-50-12C Rev.1)
//! traffic.
//!
//! Words or symbols come in; names, frames, packets and violations come out. Nothing here sends,
//! waits or fails: anything that is not valid traffic is reported as a violation. Memory is
//! bounded, and nothing is allocated per word.
//!
//! | module | task |
//! | --- | --- |
//! | [`text`] | words, symbols and ten-bit codes from and to text |
//! | [`mod@name`], [`encode`] | every word by its name and fields, and back |
//! | [`read`] | lines of such text to words |
//! | [`symbols`] | ten-bit symbols to words: comma alignment and 8b/10b |
//! | [`LinkListener`] | one direction: lane phases, rows, frames, numbers, packets |
//! | [`LinkPair`] | both directions: acknowledgements, credit, resends |
//! | [`spacewire`] | bits or characters of a SpaceWire link to packets and codes |
//! | [`TraceSummary`] | counters of all of it |
//!
//! # Example
//!
//! ```
//! use spfe_trace::{ListenerConfig, LinkListener, TraceEventKind, Word};
//!
//! // A data frame of virtual channel 5 that holds a packet of three bytes.
//! let words = [
//!     Word::control(0x000550fc),
//!     Word { bits: 0xfd121110, k: 8 },
//!     Word::control(0x1f5e011c),
//! ];
//! let config = ListenerConfig { scrambled: Some(false), ..ListenerConfig::default() };
//! let (mut listener, mut packets) = (LinkListener::new(&config), vec![]);
//! for word in words {
//!     listener.push(&[Some(word)], &mut |event| {
//!         if let TraceEventKind::Packet(packet) = event.what {
//!             packets.push((packet.vc, packet.bytes.to_vec()));
//!         }
//!     });
//! }
//! assert_eq!(packets, [(5, vec![0x10, 0x11, 0x12])]);
//! ```

mod align;
mod config;
pub mod encode;
pub mod event;
mod frame;
mod lane;
mod listener;
pub mod name;
mod numbers;
mod packet;
mod pair;
mod phase;
pub mod read;
pub mod spacewire;
mod summary;
pub mod symbols;
pub mod text;
mod violation;

pub use config::ListenerConfig;
pub use event::{TraceEvent, TraceEventKind, TraceSink, TraceViolation};
pub use listener::LinkListener;
pub use name::{NamedWord, WordKind, name};
pub use pair::{LinkDirection, LinkPair};
pub use spfe_link::word::Word;
pub use summary::TraceSummary;

/// Maximum number of lanes of a link.
pub const LANES_MAX: usize = 16;
