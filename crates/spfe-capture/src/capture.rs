//! The writer.

use crate::block::{self, BlockBuilder, option};
use crate::error::CaptureError;
use crate::event::LinkEvent;
use crate::layout::{LinkKind, PseudoHeader, RecordDirection, RecordKind, flag};
use crate::options::{
    CaptureSummary, Interface, InterfaceId, Keep, SNAPLEN_MAX, SNAPLEN_MIN, WriterOptions,
};
use crate::record::{
    self, BroadcastRecord, CharactersRecord, CodeRecord, FrameRecord, LineCharacter, LineWord,
    PacketRecord, WordsRecord,
};
use crate::ring::BlockRing;
use std::io::Write;

#[derive(Clone, Copy, Default)]
struct Counters {
    records: u64,
    left_out: u64,
    /// Time stamps of the first and the last record.
    span: Option<(u64, u64)>,
}

enum Store {
    All,
    First { left: u64 },
    Last(BlockRing),
}

/// A capture being written. Drop it without [`CaptureWriter::finish`] and the file has no statistics (and,
/// with [`Keep::Last`], no records).
///
/// Records may come in any order of time. All methods that take one fail when the writer fails,
/// when the interface is not one of this capture, and when a field has a value that no record
/// holds.
pub struct CaptureWriter<W: Write> {
    to: W,
    snaplen: u32,
    start_s: i64,
    store: Store,
    /// The block under way.
    buffer: Vec<u8>,
    interfaces: Vec<Counters>,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// A snapshot length out of range, a comment longer than 65535 bytes, a writer that fails.
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
        let mut capture = Self { to, snaplen, start_s, store, buffer, interfaces };
        block::section(&mut capture.buffer, options.comment);
        capture.to.write_all(&capture.buffer)?;
        Ok(capture)
    }

    /// Adds one direction of a link. It may come at any time before its first record.
    ///
    /// # Errors
    ///
    /// A name or description longer than 65535 bytes, a writer that fails.
    pub fn interface(&mut self, interface: &Interface<'_>) -> Result<InterfaceId, CaptureError> {
        check_text("name of interface", interface.name)?;
        check_text("description of interface", interface.description)?;
        block::interface(&mut self.buffer, interface, self.snaplen, self.start_s);
        self.to.write_all(&self.buffer)?;
        let id = InterfaceId(self.interfaces.len() as u32);
        self.interfaces.push(Counters::default());
        Ok(id)
    }

    /// With [`Keep::First`]: from now on so many bytes of records are kept, whatever was left out
    /// before. For a writer whose room comes and goes.
    pub fn allow(&mut self, bytes: u64) {
        if let Store::First { left } = &mut self.store {
            *left = bytes;
        }
    }

    /// A packet, at the time of its end on this link.
    pub fn packet(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        packet: &PacketRecord<'_>,
    ) -> Result<(), CaptureError> {
        let header = PseudoHeader {
            kind: RecordKind::Packet,
            link: packet.link,
            direction: packet.direction,
            vc: packet.vc,
            network: packet.network,
            end: packet.end,
            flags: packet.flags,
            length: length(packet.bytes.len())?,
            id: packet.id,
            ..PseudoHeader::default()
        };
        self.record(time_ps, id, header, packet.bytes, &[])
    }

    /// A broadcast message, at the time of its end on this link.
    pub fn broadcast(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        broadcast: &BroadcastRecord,
    ) -> Result<(), CaptureError> {
        let message = &broadcast.message;
        let [a, b, c, d, e, f, g, h] = message.data;
        let content = [message.channel, message.kind, message.status(), 0, a, b, c, d, e, f, g, h];
        let header = PseudoHeader {
            kind: RecordKind::Broadcast,
            link: LinkKind::SpaceFibre,
            direction: broadcast.direction,
            flags: broadcast.flags,
            length: content.len() as u32,
            ..PseudoHeader::default()
        };
        self.record(time_ps, id, header, &content, &[])
    }

    /// A time-code or distributed interrupt, at the time of its end on this link.
    pub fn time_code(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        code: &CodeRecord,
    ) -> Result<(), CaptureError> {
        let header = PseudoHeader {
            kind: RecordKind::Code,
            link: LinkKind::SpaceWire,
            direction: code.direction,
            flags: code.flags,
            length: 1,
            ..PseudoHeader::default()
        };
        self.record(time_ps, id, header, &[code.code.0], &[])
    }

    /// A link event. Name and text are the comment of the record, too.
    pub fn event(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        event: &LinkEvent<'_>,
    ) -> Result<(), CaptureError> {
        let code = event.code;
        let ([c0, c1], [v0, v1, v2, v3]) = ((code as u16).to_le_bytes(), event.value.to_le_bytes());
        let fixed: [u8; LinkEvent::FIXED] = [c0, c1, code.severity() as u8, 0, v0, v1, v2, v3];
        let room = self.snaplen as usize - crate::layout::HEADER - fixed.len();
        let kept = start_of(event.text, room);
        let header = PseudoHeader {
            kind: RecordKind::Event,
            link: event.link,
            direction: event.direction,
            lane: event.lane,
            vc: event.vc,
            network: event.network,
            flags: event.flags(),
            length: length(fixed.len().saturating_add(event.text.len()))?,
            id: event.id,
            ..PseudoHeader::default()
        };
        let separator = if kept.is_empty() { "" } else { ": " };
        let comment = [code.name().as_bytes(), separator.as_bytes(), kept.as_bytes()];
        self.check(id, &header)?;
        self.compose(time_ps, id, header, &comment, |to, _| {
            to.extend_from_slice(&fixed);
            to.extend_from_slice(kept.as_bytes());
        });
        self.put(time_ps, id)
    }

    /// Words of a lane, at the time the first one starts. As many records as the snapshot length
    /// makes necessary: no word is cut.
    pub fn words(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        words: &WordsRecord<'_>,
    ) -> Result<(), CaptureError> {
        let header = PseudoHeader {
            kind: RecordKind::Words,
            link: LinkKind::SpaceFibre,
            direction: words.direction,
            lane: Some(words.lane),
            lanes: words.lanes,
            flags: words.flags,
            period_ps: words.period_ps,
            ..PseudoHeader::default()
        };
        self.check(id, &header)?;
        let (mut time_ps, mut first) = (time_ps, words.first);
        for part in words.words.chunks(self.room(LineWord::BYTES)) {
            let header = PseudoHeader { length: part.len() as u32, id: first, ..header };
            self.compose(time_ps, id, header, &[], |to, _| put_words(to, part));
            self.put(time_ps, id)?;
            let ps = u64::from(words.period_ps).saturating_mul(part.len() as u64);
            (time_ps, first) = (time_ps.saturating_add(ps), first.wrapping_add(part.len() as u64));
        }
        Ok(())
    }

    /// Characters of a SpaceWire link, at the time the first one starts; as for
    /// [`CaptureWriter::words`], none is cut.
    pub fn characters(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        characters: &CharactersRecord<'_>,
    ) -> Result<(), CaptureError> {
        let header = PseudoHeader {
            kind: RecordKind::Characters,
            link: LinkKind::SpaceWire,
            direction: characters.direction,
            flags: characters.flags,
            period_ps: characters.bit_ps,
            ..PseudoHeader::default()
        };
        self.check(id, &header)?;
        let (mut time_ps, mut first) = (time_ps, characters.first);
        for part in characters.characters.chunks(self.room(LineCharacter::BYTES)) {
            let header = PseudoHeader { length: part.len() as u32, id: first, ..header };
            self.compose(time_ps, id, header, &[], |to, _| {
                part.iter().for_each(|character| to.extend_from_slice(&character.to_bytes()));
            });
            self.put(time_ps, id)?;
            let bits: u64 = part.iter().map(|character| u64::from(character.length_bits())).sum();
            let ps = bits.saturating_mul(characters.bit_ps.into());
            (time_ps, first) = (time_ps.saturating_add(ps), first.wrapping_add(part.len() as u64));
        }
        Ok(())
    }

    /// A frame, at the time its first word starts. Cut to whole words if it is longer than the
    /// snapshot length.
    pub fn frame(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        frame: &FrameRecord<'_>,
    ) -> Result<(), CaptureError> {
        let header = PseudoHeader {
            kind: RecordKind::Frame,
            link: LinkKind::SpaceFibre,
            direction: frame.direction,
            lane: Some(frame.lane),
            lanes: frame.lanes,
            flags: frame.flags,
            length: length(frame.words.len())?,
            ..PseudoHeader::default()
        };
        self.check(id, &header)?;
        let kept = frame.words.get(..self.room(LineWord::BYTES)).unwrap_or(frame.words);
        self.compose(time_ps, id, header, &[], |to, _| put_words(to, kept));
        self.put(time_ps, id)
    }

    /// Ends the file: the records that were held back, and the statistics of each interface.
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
                    .option(option::STATISTICS_START, &[&halves(start)])
                    .option(option::STATISTICS_END, &[&halves(end)]);
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

    /// How many items of a size a record holds.
    fn room(&self, size: usize) -> usize {
        (self.snaplen as usize - crate::layout::HEADER) / size
    }

    fn record(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        header: PseudoHeader,
        content: &[u8],
        comment: &[&[u8]],
    ) -> Result<(), CaptureError> {
        self.check(id, &header)?;
        self.compose(time_ps, id, header, comment, |to, room| {
            to.extend_from_slice(content.get(..room).unwrap_or(content));
        });
        self.put(time_ps, id)
    }

    fn check(&self, id: InterfaceId, header: &PseudoHeader) -> Result<(), CaptureError> {
        let count = self.interfaces.len() as u32;
        if id.0 >= count {
            return Err(CaptureError::Interface { number: id.0, count });
        }
        let (flags, allowed) = (header.flags, record::FLAGS);
        if flags & !allowed != 0 {
            return Err(CaptureError::Flags { flags, allowed });
        }
        let limits = [
            ("lane", header.lane.map_or(0, u64::from), 15),
            ("virtual channel", header.vc.map_or(0, u64::from), 31),
            ("virtual network", header.network.map_or(0, u64::from), 63),
            ("lanes", header.lanes.into(), 16),
        ];
        match limits.into_iter().find(|(_, value, max)| value > max) {
            Some((field, value, max)) => Err(CaptureError::Value { field, value, max }),
            None => Ok(()),
        }
    }

    /// Puts a packet block together in the buffer.
    fn compose(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        mut header: PseudoHeader,
        comment: &[&[u8]],
        content: impl FnOnce(&mut Vec<u8>, usize),
    ) {
        const LENGTHS: usize = 20;
        const CONTENT: usize = 28 + crate::layout::HEADER;
        header.sub_ns_ps = (time_ps % 1000) as u16;
        let mut block = BlockBuilder::new(&mut self.buffer, block::PACKET)
            .u32(id.0)
            .time(time_ps)
            .u32(0)
            .u32(0)
            .bytes(&[0; crate::layout::HEADER]);
        content(block.content(), self.snaplen as usize - crate::layout::HEADER);
        let kept = block.content().len() - CONTENT;
        let unit = match header.kind {
            RecordKind::Words | RecordKind::Frame => LineWord::BYTES,
            RecordKind::Characters => LineCharacter::BYTES,
            _ => 1,
        };
        let whole = (header.length as usize).saturating_mul(unit);
        if kept < whole {
            header.flags |= flag::TRUNCATED;
        }
        let captured = ((crate::layout::HEADER + kept) as u32).to_le_bytes();
        let original = u32::try_from(crate::layout::HEADER + whole).unwrap_or(u32::MAX);
        let start = block.content();
        for (at, bytes) in [
            (LENGTHS, &captured[..]),
            (LENGTHS + 4, &original.to_le_bytes()),
            (LENGTHS + 8, &header.to_bytes()),
        ] {
            if let Some(place) = start.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
        let mut block = block.pad();
        let flags = packet_flags(&header);
        if flags != 0 {
            block = block.option(option::PACKET_FLAGS, &[&flags.to_le_bytes()]);
        }
        if !comment.is_empty() {
            block = block.option(option::COMMENT, comment);
        }
        block.finish();
    }

    /// Writes the block in the buffer, or keeps it, or counts it.
    fn put(&mut self, time_ps: u64, id: InterfaceId) -> Result<(), CaptureError> {
        let bytes = self.buffer.len() as u64;
        let kept = match &mut self.store {
            Store::All => true,
            Store::First { left } => {
                let rest = left.checked_sub(bytes);
                // Once one is left out, so are all that follow: no gaps.
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

/// Flags of a packet block: direction in bits 1:0, kind of reception in bits 4:2, symbol error in
/// bit 31.
fn packet_flags(header: &PseudoHeader) -> u32 {
    let direction = match header.direction {
        RecordDirection::Unknown => 0,
        RecordDirection::Received => 1,
        RecordDirection::Sent => 2,
    };
    let broadcast = u32::from(matches!(header.kind, RecordKind::Broadcast | RecordKind::Code)) * 3;
    let on_line =
        matches!(header.kind, RecordKind::Words | RecordKind::Characters | RecordKind::Frame);
    let symbol_error = u32::from(on_line && header.flags & flag::ERROR != 0);
    direction | broadcast << 2 | symbol_error << 31
}

fn put_words(to: &mut Vec<u8>, words: &[LineWord]) {
    words.iter().for_each(|word| to.extend_from_slice(&word.to_bytes()));
}

fn halves(time_ps: u64) -> [u8; 8] {
    time_ps.rotate_left(32).to_le_bytes()
}

fn length(length: usize) -> Result<u32, CaptureError> {
    let max = u64::from(u32::MAX);
    u32::try_from(length).map_err(|_| CaptureError::Value {
        field: "length",
        value: length as u64,
        max,
    })
}

fn check_text(what: &'static str, text: &str) -> Result<(), CaptureError> {
    let (bytes, max) = (text.len(), block::OPTION_MAX);
    if bytes > max { Err(CaptureError::Text { what, bytes, max }) } else { Ok(()) }
}

/// The start of a text that has at most so many bytes, cut between characters.
fn start_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|index| text.is_char_boundary(*index));
    text.get(..end.unwrap_or(0)).unwrap_or(text)
}
