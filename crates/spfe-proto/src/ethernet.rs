//! Ethernet frames in packets: one frame, one packet (`docs/netdev.md`).
//!
//! The kernel driver's network interface speaks it too; nothing else of either is shared.
//! Version 1 has a fixed header. Version 2 adds what the sender left to the receiver: checksums and
//! segments of large frames. [`EthernetPeer`] finds out which of them the far end understands.
//!
//! ```
//! use spfe_proto::{PacketEnd, ethernet};
//! let mut packet = [0; 64];
//! // The frame is made in place, behind the header.
//! let frame = ethernet::begin(&mut packet)?;
//! frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
//! frame[12..14].copy_from_slice(&[0x08, 0x00]);
//! let most = ethernet::packet_bytes(1500);
//! let frame = ethernet::parse(&packet, PacketEnd::Eop, most).expect("a frame of 58 bytes");
//! assert_eq!(frame.len(), 58);
//! # Ok::<(), spfe_proto::NoRoom>(())
//! ```

mod hello;
mod offload;
mod peer;
mod plain;
mod second;

pub use hello::{EthernetHello, HELLO_BYTES, HelloFlags, PeerFeatures};
pub use offload::{OFFLOAD_BYTES, Offload, complete_checksum};
pub use peer::{ASK_INTERVAL_NS, ASK_TRIES, EthernetPeer, EthernetPeerState, Heard};
pub use plain::{
    DropReason, FRAME_HEADER_MAX_BYTES, FRAME_MIN_BYTES, HEADER, HEADER_BYTES, MTU_DEFAULT,
    MTU_MAX, MTU_MIN, PID, VERSION, begin, packet_bytes, parse,
};
pub use second::{
    EthernetPacket, FRAME_MAX_BYTES, HEADER2_BYTES, PACKET_MAX_BYTES, PREFIX, PREFIX_BYTES,
    parse_any, parse_between, prefix,
};
