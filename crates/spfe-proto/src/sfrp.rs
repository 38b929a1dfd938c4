//! SFRP version 1: remote memory access and messages between queue pairs (`docs/rdma.md`).
//!
//! SFRP is this project's own protocol, on an identifier that 50-51C leaves to projects. All fields
//! are big-endian.
//!
//! | module | content |
//! | --- | --- |
//! | [`opcode`], [`status`], [`flags`] | the codes in a header |
//! | [`header`] | reading and writing headers, and the payload behind them |
//! | [`segment`] | how a message is cut into packets |
//! | [`info`] | what a target tells about itself and its regions |
//! | [`crc`] | CRC-16 of headers, CRC-32C of payloads |
//!
//! ```
//! use spfe_proto::PacketEnd;
//! use spfe_proto::sfrp::{Flags, HEADER_MIN, Opcode, SfrpHeader, SfrpStatus};
//!
//! let data = *b"from here to there";
//! let write = SfrpHeader {
//!     receiver: 0x42,
//!     sender: 0x67,
//!     flags: Flags::ACK | Flags::FIRST | Flags::LAST | Flags::PAYLOAD_CRC,
//!     length: data.len() as u32,
//!     address: 0x1000,
//!     ..SfrpHeader::request(Opcode::Write)
//! };
//! let mut packet = [0; HEADER_MIN + 18 + 4];
//! assert_eq!(write.encode(&data, &mut packet), Ok(packet.len()));
//!
//! let header = SfrpHeader::parse(&packet).unwrap();
//! assert_eq!(header, write);
//! assert_eq!(header.payload(&packet, PacketEnd::Eop), Ok(&data[..]));
//! packet[45] ^= 1;
//! assert_eq!(header.payload(&packet, PacketEnd::Eop), Err(SfrpStatus::PAYLOAD_CRC));
//! ```

pub mod crc;
pub mod flags;
pub mod header;
pub mod info;
pub mod opcode;
pub mod segment;
pub mod status;

pub use flags::Flags;
pub use header::{ReplyPath, ReplyPathTooLong, SfrpHeader, SfrpHeaderError};
pub use info::{Capabilities, Info, RegionEntry, RegionFlags};
pub use opcode::Opcode;
pub use segment::{SfrpSegment, SfrpSegments};
pub use status::SfrpStatus;

/// Protocol identifier, the first that is free for projects (50-51C).
pub const PID: u8 = 0xf0;
/// Version of the protocol.
pub const VERSION: u8 = 1;
/// Shortest header in bytes: one without a reply path.
pub const HEADER_MIN: usize = 40;
/// Longest header in bytes.
pub const HEADER_MAX: usize = 64;
/// Maximum number of bytes of a reply path.
pub const REPLY_PATH_MAX: usize = 24;
/// Bytes of the CRC behind a payload.
pub const PAYLOAD_CRC_BYTES: usize = 4;
/// Limits of the largest payload of a packet, a power of two, and its usual value.
pub const SEGMENT_MIN: u32 = 256;
/// Largest value that two sides can agree on.
pub const SEGMENT_MAX: u32 = 65536;
/// Usual value.
pub const SEGMENT_DEFAULT: u32 = 4096;
/// Maximum number of bytes of a READ request.
pub const READ_MAX: u32 = 1 << 31;
/// The response comes back on the virtual channel on which the request arrived.
pub const VC_OF_ARRIVAL: u8 = 0xff;
