//! Captures of SpaceFibre and SpaceWire traffic in pcapng files.
//!
//! A capture holds what went over the links of a network: packets, broadcast messages, broadcast
//! codes and link events, and, where wanted, frames, every word of a lane, or every character of a
//! SpaceWire link. Each direction of a link is an interface of the file. Each record starts with the
//! [pseudo-header](layout), which `docs/capture.md` describes byte by byte; `wireshark/spfe.lua`
//! shows it all in Wireshark.
//!
//! Pure: no thread, no clock, no global state. Times are parameters, in picoseconds. A record costs
//! one copy into a buffer that is used again, and one call of the writer.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`layout`] | the pseudo-header: offsets, sizes, constants, reading and writing |
//! | [`record`] | what can be captured |
//! | [`event`] | link events: codes, names, severities |
//! | [`options`], [`mod@capture`] | the writer |
//! | [`batch`] | words and characters that come one by one, to records |
//! | [`reader`], [`content`] | the reader: strict, and safe on anything |
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
pub mod capture;
pub mod content;
mod error;
pub mod event;
pub mod layout;
pub mod options;
pub mod reader;
pub mod record;
mod ring;

pub use batch::RecordBatch;
pub use capture::CaptureWriter;
pub use content::RecordContent;
pub use error::{CaptureError, FormatError, ReadError};
pub use event::{EventCode, LinkEvent, Severity};
pub use layout::{LinkKind, PacketEnd, PseudoHeader, RecordDirection, RecordKind};
pub use options::{CaptureSummary, Interface, InterfaceId, Keep, WriterOptions};
pub use reader::{CaptureReader, CaptureRecord};
pub use record::{
    BroadcastRecord, CharactersRecord, CodeRecord, FrameRecord, LineCharacter, LineWord,
    PacketRecord, WordsRecord,
};
