//! Captures of SpaceFibre and SpaceWire traffic in pcapng files.
//!
//! A capture records the traffic on the links of a network: packets, broadcast messages, broadcast
//! codes and link events. On request it also holds frames, every word of a lane, or every character
//! of a SpaceWire link. Each direction of a link is an interface of the file. Each record starts
//! with the [pseudo-header](layout), which `docs/capture.md` describes byte by byte. The dissector
//! `wireshark/spfe.lua` decodes all records in Wireshark.
//!
//! The crate starts no thread, reads no clock and has no global state. Times are parameters, in
//! picoseconds. Adding a record copies its content once, into a buffer that is used again, and
//! calls the underlying writer once.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`layout`] | the pseudo-header: offsets, constants, encoding and decoding |
//! | [`record`] | the kinds of record, except link events |
//! | [`event`] | link events: codes, names, severities |
//! | [`options`], [`writer`] | the writer |
//! | [`batch`] | collects single words or characters into records |
//! | [`reader`], [`content`] | the reader: strict, and safe on untrusted files |
//! | [`pcapng`] | writes pcapng files of any link type, for example Ethernet |
//!
//! ```
//! use spfe_capture::{
//!     CaptureReader, CaptureWriter, Interface, LinkKind, PacketEnd, PacketRecord, RecordContent,
//!     WriterOptions,
//! };
//!
//! let mut capture = CaptureWriter::new(Vec::new(), &WriterOptions::default())?;
//! let link = capture.interface(&Interface {
//!     name: "camera.1>router.3",
//!     description: "camera port 1 to router port 3",
//!     speed_bps: Some(6_250_000_000),
//! })?;
//! let packet = PacketRecord {
//!     link: LinkKind::SpaceFibre,
//!     vc: Some(4),
//!     ..PacketRecord::new(b"\xfe\xf0data", PacketEnd::Eop)
//! };
//! capture.packet(1_500, link, &packet)?;
//! let (file, summary) = capture.finish()?;
//! assert_eq!(summary.records, 1);
//!
//! let mut reader = CaptureReader::new(&file[..]);
//! let record = reader.record()?.expect("one record");
//! assert_eq!((record.time_ps, record.header.vc), (1_500, Some(4)));
//! assert_eq!(record.content, RecordContent::Packet(b"\xfe\xf0data"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

pub mod batch;
mod block;
mod block_ring;
pub mod content;
mod error;
pub mod event;
pub mod layout;
pub mod options;
pub mod pcapng;
pub mod reader;
pub mod record;
pub mod writer;

pub use batch::RecordBatch;
pub use content::RecordContent;
pub use error::{CaptureError, FormatError, ReadError};
pub use event::{EventCode, LinkEvent, Severity};
pub use layout::{LinkKind, PacketEnd, PseudoHeader, RecordDirection, RecordKind};
pub use options::{CaptureSummary, Interface, InterfaceId, Keep, WriterOptions};
pub use pcapng::PcapngWriter;
pub use reader::{CaptureReader, CaptureRecord};
pub use record::{
    BroadcastRecord, CharactersRecord, CodeRecord, FrameRecord, LineCharacter, LineWord,
    PacketRecord, WordsRecord,
};
pub use writer::CaptureWriter;
