//! CCSDS space packets in SpaceFibre and SpaceWire packets (ECSS-E-ST-50-53C).
//!
//! ```
//! use spfe::ccsds::{PacketKind, PrimaryHeader, SequenceFlags, SpacePacket, Transfer};
//! use spfe::{Deadline, Endpoint};
//! let endpoint = Endpoint::open("virtual:")?;
//! let (mut tx, mut rx) = (endpoint.port(0)?.vc(0)?.tx()?, endpoint.port(1)?.vc(0)?.rx()?);
//! let memory = endpoint.alloc(8192)?;
//! rx.post_all(&mut memory.split(4096, 1)?);
//! let header = PrimaryHeader {
//!     kind: PacketKind::Telemetry,
//!     secondary_header: false,
//!     apid: 0x123,
//!     sequence_flags: SequenceFlags::Unsegmented,
//!     sequence_count: 7,
//! };
//! let mut cargo = [0; 64];
//! let bytes = SpacePacket { header, data: b"housekeeping" }.write(&mut cargo).expect("it fits");
//! let transfer = Transfer { target: 0xfe, user_application: 0, cargo: &cargo[..bytes] };
//! let mut packet = memory.buf(4096..8192)?;
//! packet.set_len(4096);
//! let bytes = transfer.write(&[], &mut packet).expect("it fits");
//! packet.set_len(bytes);
//! tx.send(packet)?;
//!
//! let received = rx.recv(Deadline::NEVER)?;
//! let end = received.end.packet_end().expect("a whole packet");
//! let transfer = Transfer::parse(&received.buf, end).expect("a transfer");
//! let packet = transfer.space_packet().expect("a space packet");
//! assert_eq!((packet.header.apid, packet.data), (0x123, &b"housekeeping"[..]));
//! # Ok::<(), spfe::Error>(())
//! ```

pub use spfe_proto::PacketEnd;
pub use spfe_proto::ptp::*;
