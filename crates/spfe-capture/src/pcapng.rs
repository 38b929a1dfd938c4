//! Writes pcapng files of any link type.
//!
//! [`CaptureWriter`](crate::CaptureWriter) uses it for SpaceFibre and SpaceWire records. Use it
//! directly for Ethernet frames. Times are given in picoseconds; the file has nanoseconds, and only
//! the records of [`CaptureWriter`](crate::CaptureWriter) hold the picoseconds after them.

use crate::block::{self, BlockBuilder, option};
use crate::block_ring::BlockRing;
use crate::error::CaptureError;
use crate::options::{
    CaptureSummary, Interface, InterfaceId, Keep, SNAPLEN_MAX, SNAPLEN_MIN, WriterOptions,
};
use std::io::Write;

/// Link type of Ethernet interfaces: frames without preamble and FCS (LINKTYPE_ETHERNET).
pub const ETHERNET: u16 = 1;

/// Values of a packet's link-layer flags. Combine them with `|`.
pub mod packet_flag {
    /// The interface received the packet.
    pub const INBOUND: u32 = 1;
    /// The interface sent the packet.
    pub const OUTBOUND: u32 = 2;
    /// The packet is a broadcast.
    pub const BROADCAST: u32 = 3 << 2;
    /// The packet has a CRC error.
    pub const CRC_ERROR: u32 = 1 << 24;
    /// The packet contains a symbol error.
    pub const SYMBOL_ERROR: u32 = 1 << 31;
}

#[derive(Clone, Copy, Default)]
struct InterfaceCounters {
    records: u64,
    left_out: u64,
    /// Earliest and latest time stamp.
    span: Option<(u64, u64)>,
}

/// The running state of [`Keep`].
enum Store {
    All,
    First { left: u64 },
    Last(BlockRing),
}

/// Writes a pcapng file: one section, its interfaces, packets and statistics.
///
/// Packets may be added in any order of time. Without [`PcapngWriter::finish`] the file has no
/// statistics and, with [`Keep::Last`], no packets.
pub struct PcapngWriter<W: Write> {
    to: W,
    snaplen: u32,
    start_s: i64,
    store: Store,
    /// The block that is being built.
    buffer: Vec<u8>,
    interfaces: Vec<InterfaceCounters>,
}

/// A packet without its time, interface and captured bytes.
pub(crate) struct PacketInfo<'a> {
    /// Length of the packet before it was cut at the snapshot length.
    pub original: u32,
    /// [`packet_flag`] bits. The option is left out if they are 0.
    pub flags: u32,
    /// Parts of the comment, written one after the other. No comment is written without parts.
    pub comment: &'a [&'a [u8]],
}

impl<W: Write> PcapngWriter<W> {
    /// Starts a file by writing its section header.
    ///
    /// # Errors
    ///
    /// The snapshot length is out of range, the comment is longer than 65535 bytes, or `to` fails.
    pub fn new(to: W, options: &WriterOptions<'_>) -> Result<Self, CaptureError> {
        let snaplen = options.snaplen;
        if !(SNAPLEN_MIN..=SNAPLEN_MAX).contains(&snaplen) {
            let (min, max) = (SNAPLEN_MIN, SNAPLEN_MAX);
            return Err(CaptureError::Snaplen { bytes: snaplen, min, max });
        }
        check_text("comment", options.comment)?;
        let store = match options.keep {
            Keep::All => Store::All,
            Keep::First(left) => Store::First { left },
            Keep::Last(bytes) => Store::Last(BlockRing::new(bytes)),
        };
        let (buffer, interfaces) = (Vec::with_capacity(4096), Vec::new());
        let start_s = options.start_s;
        let mut file = Self { to, snaplen, start_s, store, buffer, interfaces };
        block::section(&mut file.buffer, options.comment);
        file.to.write_all(&file.buffer)?;
        Ok(file)
    }

    /// Adds an interface. This is possible at any time before the interface's first packet.
    ///
    /// # Errors
    ///
    /// The name or the description is longer than 65535 bytes, or the underlying writer fails.
    pub fn interface(
        &mut self,
        link_type: u16,
        interface: &Interface<'_>,
    ) -> Result<InterfaceId, CaptureError> {
        check_text("name of interface", interface.name)?;
        check_text("description of interface", interface.description)?;
        block::interface(&mut self.buffer, link_type, interface, self.snaplen, self.start_s);
        self.to.write_all(&self.buffer)?;
        let id = InterfaceId(self.interfaces.len() as u32);
        self.interfaces.push(InterfaceCounters::default());
        Ok(id)
    }

    /// With [`Keep::First`], allows this many more bytes of packets, whatever was left out before.
    /// Writers with a buffer that fills and drains use it. Otherwise it does nothing.
    pub fn allow(&mut self, bytes: u64) {
        if let Store::First { left } = &mut self.store {
            *left = bytes;
        }
    }

    /// Adds a packet, cut at the snapshot length. `flags` are [`packet_flag`] bits.
    ///
    /// # Errors
    ///
    /// The interface is not part of this file, or the underlying writer fails.
    pub fn packet(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        bytes: &[u8],
        flags: u32,
    ) -> Result<(), CaptureError> {
        self.check(id)?;
        let original = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let kept = bytes.get(..self.snaplen as usize).unwrap_or(bytes);
        let info = PacketInfo { original, flags, comment: &[] };
        self.packet_with(time_ps, id, &info, |to| to.extend_from_slice(kept))
    }

    /// Ends the file: writes the packets that were held back and the statistics of each interface.
    ///
    /// # Errors
    ///
    /// The underlying writer fails.
    pub fn finish(mut self) -> Result<(W, CaptureSummary), CaptureError> {
        if let Store::Last(ring) = &self.store {
            ring.write(&mut self.to)?;
        }
        let mut summary = CaptureSummary::default();
        for (number, counters) in self.interfaces.iter().enumerate() {
            summary.records += counters.records;
            summary.left_out += counters.left_out;
            let (start, end) = counters.span.unwrap_or_default();
            let mut block =
                BlockBuilder::new(&mut self.buffer, block::STATISTICS).u32(number as u32).time(end);
            if counters.span.is_some() {
                block = block
                    .option(option::STATISTICS_START, &[&block::stamp(start)])
                    .option(option::STATISTICS_END, &[&block::stamp(end)]);
            }
            let received = counters.records + counters.left_out;
            block
                .option(option::STATISTICS_RECEIVED, &[&received.to_le_bytes()])
                .option(option::STATISTICS_DROPPED, &[&counters.left_out.to_le_bytes()])
                .finish();
            self.to.write_all(&self.buffer)?;
        }
        self.to.flush()?;
        Ok((self.to, summary))
    }

    pub(crate) fn snaplen(&self) -> usize {
        self.snaplen as usize
    }

    /// Checks that the interface belongs to this file.
    pub(crate) fn check(&self, id: InterfaceId) -> Result<(), CaptureError> {
        let count = self.interfaces.len() as u32;
        if id.0 < count { Ok(()) } else { Err(CaptureError::Interface { number: id.0, count }) }
    }

    /// Adds a packet. `content` appends its bytes, at most the snapshot length, to the buffer.
    pub(crate) fn packet_with(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        info: &PacketInfo<'_>,
        content: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), CaptureError> {
        const CAPTURED_AT: usize = 20;
        let mut block = BlockBuilder::new(&mut self.buffer, block::PACKET)
            .u32(id.0)
            .time(time_ps)
            .u32(0)
            .u32(info.original);
        let start = block.buffer().len();
        content(block.buffer());
        let captured = (block.buffer().len() - start) as u32;
        if let Some(place) = block.buffer().get_mut(CAPTURED_AT..CAPTURED_AT + 4) {
            place.copy_from_slice(&captured.to_le_bytes());
        }
        let mut block = block.pad();
        if info.flags != 0 {
            block = block.option(option::PACKET_FLAGS, &[&info.flags.to_le_bytes()]);
        }
        if !info.comment.is_empty() {
            block = block.option(option::COMMENT, info.comment);
        }
        block.finish();
        self.put(time_ps, id)
    }

    /// Writes, stores or drops the finished block, as [`Keep`] demands, and counts it.
    fn put(&mut self, time_ps: u64, id: InterfaceId) -> Result<(), CaptureError> {
        let bytes = self.buffer.len() as u64;
        let kept = match &mut self.store {
            Store::All => true,
            Store::First { left } => {
                let rest = left.checked_sub(bytes);
                // After the first block that does not fit, leave out smaller ones too: no gaps.
                *left = rest.unwrap_or(0);
                rest.is_some()
            }
            Store::Last(ring) => {
                let interfaces = &mut self.interfaces;
                ring.push(&self.buffer, |number| {
                    if let Some(counters) = interfaces.get_mut(number as usize) {
                        counters.records -= 1;
                        counters.left_out += 1;
                    }
                })
            }
        };
        if kept && !matches!(self.store, Store::Last(_)) {
            self.to.write_all(&self.buffer)?;
        }
        if let Some(counters) = self.interfaces.get_mut(id.0 as usize) {
            *(if kept { &mut counters.records } else { &mut counters.left_out }) += 1;
            let (start, end) = counters.span.unwrap_or((time_ps, time_ps));
            counters.span = Some((start.min(time_ps), end.max(time_ps)));
        }
        Ok(())
    }
}

fn check_text(what: &'static str, text: &str) -> Result<(), CaptureError> {
    let (bytes, max) = (text.len(), block::OPTION_MAX);
    if bytes > max { Err(CaptureError::Text { what, bytes, max }) } else { Ok(()) }
}
