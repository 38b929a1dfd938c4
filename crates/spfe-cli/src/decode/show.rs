//! Output of decoded traffic, and the parts that several formats share.

use crate::error::Failure;
use crate::parse;
use serde_json::{Map, Value, json};
use spfe_trace::event::TracePacket;
use std::fmt::Arguments;
use std::io::{self, BufWriter, Write};

/// Number of bytes of a packet or frame shown as text.
const SHOWN_BYTES: usize = 32;

/// Standard output, or another writer: lines of text, or JSON.
pub struct Out {
    pub json: bool,
    writer: BufWriter<Box<dyn Write>>,
    failed: Option<io::Error>,
}

impl Out {
    pub fn new(json: bool, writer: impl Write + 'static) -> Self {
        Self { json, writer: BufWriter::new(Box::new(writer)), failed: None }
    }

    /// Prints a line.
    pub fn line(&mut self, text: Arguments<'_>) {
        if self.failed.is_none() {
            self.failed = writeln!(self.writer, "{text}").err();
        }
    }

    /// Whether the reader has closed the output.
    pub fn is_over(&self) -> bool {
        self.failed.is_some()
    }

    /// Flushes the output.
    pub fn end(&mut self) -> Result<(), Failure> {
        let result = self.failed.take().map_or_else(|| self.writer.flush(), Err);
        result.map_err(|error| Failure::io("standard output", &error))
    }
}

/// The first bytes in hexadecimal.
pub fn bytes(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN_BYTES).unwrap_or(bytes);
    let more = if shown.len() < bytes.len() { "..." } else { "" };
    format!("{}{more}", parse::hex(shown))
}

/// A packet as text.
pub fn packet(packet: &TracePacket<'_>) -> String {
    let partial = if packet.partial { ", perhaps not all of it" } else { "" };
    let TracePacket { length, end, from, .. } = packet;
    let data = bytes(packet.bytes);
    format!("{length} bytes, {}, from {from}{partial}: {data}", end.name())
}

/// A packet as JSON.
pub fn packet_json(packet: &TracePacket<'_>) -> Map<String, Value> {
    let mut object = Map::new();
    let TracePacket { from, vc, bytes, length, end, partial } = packet;
    object.insert("from".into(), json!(from));
    object.insert("vc".into(), json!(vc));
    object.insert("length".into(), json!(length));
    object.insert("end".into(), json!(end.name()));
    object.insert("partial".into(), json!(partial));
    object.insert("bytes".into(), json!(parse::hex(bytes)));
    object
}
