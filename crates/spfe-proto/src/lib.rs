//! Protocols above SpaceWire and SpaceFibre packets: identifiers, RMAP, CCSDS packet transfer,
//! Ethernet frames.
//!
//! Pure packet logic, `no_std` and without allocation: packets come in as borrowed bytes, replies
//! and commands go out into the caller's buffers, time is a parameter. No input makes it panic.
//! A packet here starts at its target logical address: routers have taken the path bytes off.
//!
//! | module | clause | what it holds |
//! | --- | --- | --- |
//! | [`pid`] | ECSS-E-ST-50-51C | which protocol a packet belongs to |
//! | [`rmap`] | ECSS-E-ST-50-52C | remote memory access: packets, initiator, target |
//! | [`ptp`] | ECSS-E-ST-50-53C | CCSDS packet transfer, and the header of a space packet |
//! | `ethernet` (feature) | `docs/netdev.md` | Ethernet frames in packets |
//! | `sfrp` (feature) | `docs/rdma.md` | RDMA over SpaceFibre: packets |
//!
//! # Example
//!
//! An initiator writes four bytes into the memory of a target, and reads them back:
//!
//! ```
//! use spfe_proto::PacketEnd;
//! use spfe_proto::rmap::{RmapTargetConfig, RmapInitiator, RmapNode, Ram, RmapRequest, RmapTarget};
//!
//! let mut bytes = [0; 64];
//! let mut memory = Ram { base: 0x4000_0000, word_bytes: 4, bytes: &mut bytes };
//! let mut target = RmapTarget::new(RmapTargetConfig { key: Some(0x20), ..RmapTargetConfig::default() });
//! let mut initiator = RmapInitiator::<8>::new();
//! let node = RmapNode { key: 0x20, initiator: 0x67, ..RmapNode::default() };
//! let (mut command, mut reply) = ([0; 64], [0; 64]);
//! let (now_ns, timeout_ns) = (0, 1_000_000);
//!
//! // A verified, acknowledged write: the command goes out, its reply comes back.
//! let write = RmapRequest::write(&[0xde, 0xad, 0xbe, 0xef]);
//! let sent = initiator
//!     .begin(&node, 0x4000_0010, &write, now_ns, timeout_ns, &mut command)
//!     .unwrap();
//! let outcome = target
//!     .handle(&command[..sent.bytes], PacketEnd::Eop, &mut memory, |_| Ok(()), &mut reply)
//!     .unwrap();
//! let done = initiator.handle(&reply[..outcome.reply_bytes()], PacketEnd::Eop).unwrap();
//! assert_eq!((done.transaction, done.result), (sent.transaction, Ok(&[][..])));
//!
//! // A read: its reply carries the data.
//! let sent = initiator
//!     .begin(&node, 0x4000_0010, &RmapRequest::read(4), now_ns, timeout_ns, &mut command)
//!     .unwrap();
//! let outcome = target
//!     .handle(&command[..sent.bytes], PacketEnd::Eop, &mut memory, |_| Ok(()), &mut reply)
//!     .unwrap();
//! let done = initiator.handle(&reply[..outcome.reply_bytes()], PacketEnd::Eop).unwrap();
//! assert_eq!(done.result, Ok(&[0xde, 0xad, 0xbe, 0xef][..]));
//! ```
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "sfrp")]
extern crate std;

#[cfg(feature = "ethernet")]
pub mod ethernet;
mod packet;
pub mod pid;
pub mod ptp;
pub mod rmap;
#[cfg(feature = "sfrp")]
pub mod sfrp;

pub use packet::{DEFAULT_LOGICAL_ADDRESS, NoRoom, PacketEnd};
