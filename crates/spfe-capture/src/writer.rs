//! Writes captures of SpaceFibre and SpaceWire traffic.

use crate::error::CaptureError;
use crate::event::LinkEvent;
use crate::layout::{HEADER, LINKTYPE, LinkKind, PseudoHeader, RecordDirection, RecordKind, flag};
use crate::options::{CaptureSummary, Interface, InterfaceId, WriterOptions};
use crate::pcapng::{PacketInfo, PcapngWriter, packet_flag};
use crate::record::{
    self, BroadcastRecord, CharactersRecord, CodeRecord, FrameRecord, LineCharacter, LineWord,
    PacketRecord, WordsRecord,
};
use std::io::Write;

/// Writes a capture of SpaceFibre and SpaceWire records.
///
/// Records may be added in any order of time. Without [`CaptureWriter::finish`] the file has no
/// statistics and, with [`Keep::Last`](crate::Keep::Last), no records.
///
/// Each method that adds a record fails if the underlying writer fails, if the interface does not
/// belong to this capture, or if a value does not fit into its field.
pub struct CaptureWriter<W: Write> {
    file: PcapngWriter<W>,
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a file by writing its section header.
    ///
    /// # Errors
    ///
    /// The snapshot length is out of range, the comment is longer than 65535 bytes, or `to` fails.
    pub fn new(to: W, options: &WriterOptions<'_>) -> Result<Self, CaptureError> {
        Ok(Self { file: PcapngWriter::new(to, options)? })
    }

    /// Adds one direction of a link. This is possible at any time before its first record.
    ///
    /// # Errors
    ///
    /// The name or the description is longer than 65535 bytes, or the underlying writer fails.
    pub fn interface(&mut self, interface: &Interface<'_>) -> Result<InterfaceId, CaptureError> {
        self.file.interface(LINKTYPE, interface)
    }

    /// With [`Keep::First`](crate::Keep::First), allows this many more bytes of records, whatever
    /// was left out before. Writers with a buffer that fills and drains use it.
    pub fn allow(&mut self, bytes: u64) {
        self.file.allow(bytes);
    }

    /// Adds a packet. The time is that of its end marker on this link.
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
        self.record(time_ps, id, header, packet.bytes)
    }

    /// Adds a broadcast message. The time is that of its end on this link.
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
        self.record(time_ps, id, header, &content)
    }

    /// Adds a time-code or distributed interrupt. The time is that of its end on this link.
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
        self.record(time_ps, id, header, &[code.code.0])
    }

    /// Adds a link event. Its name and text are also the comment of the record.
    pub fn event(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        event: &LinkEvent<'_>,
    ) -> Result<(), CaptureError> {
        let code = event.code;
        let ([c0, c1], [v0, v1, v2, v3]) = ((code as u16).to_le_bytes(), event.value.to_le_bytes());
        let fixed: [u8; LinkEvent::FIXED] = [c0, c1, code.severity() as u8, 0, v0, v1, v2, v3];
        let room = self.content_max() - fixed.len();
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
        self.put(time_ps, id, header, &comment, |to| {
            to.extend_from_slice(&fixed);
            to.extend_from_slice(kept.as_bytes());
        })
    }

    /// Adds words of a lane. The time is the start of the first word. The words are split into
    /// several records if the snapshot length requires it, never within a word.
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
        for part in words.words.chunks(self.content_max() / LineWord::BYTES) {
            let header = PseudoHeader { length: part.len() as u32, id: first, ..header };
            self.put(time_ps, id, header, &[], |to| put_words(to, part))?;
            let ps = u64::from(words.period_ps).saturating_mul(part.len() as u64);
            (time_ps, first) = (time_ps.saturating_add(ps), first.wrapping_add(part.len() as u64));
        }
        Ok(())
    }

    /// Adds characters of a SpaceWire link. The time is the start of the first character. They are
    /// split into several records as in [`CaptureWriter::words`].
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
        for part in characters.characters.chunks(self.content_max() / LineCharacter::BYTES) {
            let header = PseudoHeader { length: part.len() as u32, id: first, ..header };
            self.put(time_ps, id, header, &[], |to| {
                part.iter().for_each(|character| to.extend_from_slice(&character.to_bytes()));
            })?;
            let bits: u64 = part.iter().map(|character| u64::from(character.length_bits())).sum();
            let ps = bits.saturating_mul(characters.bit_ps.into());
            (time_ps, first) = (time_ps.saturating_add(ps), first.wrapping_add(part.len() as u64));
        }
        Ok(())
    }

    /// Adds a frame. The time is the start of its first word. A frame longer than the snapshot
    /// length is cut after a whole word.
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
        let kept = frame.words.get(..self.content_max() / LineWord::BYTES).unwrap_or(frame.words);
        self.put(time_ps, id, header, &[], |to| put_words(to, kept))
    }

    /// Ends the file: writes the records that were held back and the statistics of each interface.
    ///
    /// # Errors
    ///
    /// The underlying writer fails.
    pub fn finish(self) -> Result<(W, CaptureSummary), CaptureError> {
        self.file.finish()
    }

    /// Number of bytes of content that a record may have.
    fn content_max(&self) -> usize {
        self.file.snaplen() - HEADER
    }

    fn record(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        header: PseudoHeader,
        content: &[u8],
    ) -> Result<(), CaptureError> {
        self.check(id, &header)?;
        let kept = content.get(..self.content_max()).unwrap_or(content);
        self.put(time_ps, id, header, &[], |to| to.extend_from_slice(kept))
    }

    fn check(&self, id: InterfaceId, header: &PseudoHeader) -> Result<(), CaptureError> {
        self.file.check(id)?;
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

    /// Writes a record: the header, then the bytes that `content` appends.
    fn put(
        &mut self,
        time_ps: u64,
        id: InterfaceId,
        mut header: PseudoHeader,
        comment: &[&[u8]],
        content: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), CaptureError> {
        header.sub_ns_ps = (time_ps % 1000) as u16;
        let whole = (header.length as usize).saturating_mul(record::item_bytes(header.kind));
        let original = u32::try_from(HEADER + whole).unwrap_or(u32::MAX);
        let info = PacketInfo { original, flags: packet_flags(&header), comment };
        self.file.packet_with(time_ps, id, &info, |to| {
            let start = to.len();
            to.extend_from_slice(&[0; HEADER]);
            content(to);
            if to.len() - start - HEADER < whole {
                header.flags |= flag::TRUNCATED;
            }
            if let Some(place) = to.get_mut(start..start + HEADER) {
                place.copy_from_slice(&header.to_bytes());
            }
        })
    }
}

/// Link-layer flags of a record's packet block.
fn packet_flags(header: &PseudoHeader) -> u32 {
    let mut flags = match header.direction {
        RecordDirection::Unknown => 0,
        RecordDirection::Received => packet_flag::INBOUND,
        RecordDirection::Sent => packet_flag::OUTBOUND,
    };
    if matches!(header.kind, RecordKind::Broadcast | RecordKind::Code) {
        flags |= packet_flag::BROADCAST;
    }
    let on_line =
        matches!(header.kind, RecordKind::Words | RecordKind::Characters | RecordKind::Frame);
    if on_line && header.flags & flag::ERROR != 0 {
        flags |= packet_flag::SYMBOL_ERROR;
    }
    flags
}

fn put_words(to: &mut Vec<u8>, words: &[LineWord]) {
    words.iter().for_each(|word| to.extend_from_slice(&word.to_bytes()));
}

fn length(length: usize) -> Result<u32, CaptureError> {
    let max = u64::from(u32::MAX);
    u32::try_from(length).map_err(|_| CaptureError::Value {
        field: "length",
        value: length as u64,
        max,
    })
}

/// The longest start of a text that has at most this many bytes and ends between characters.
fn start_of(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|index| text.is_char_boundary(*index));
    text.get(..end.unwrap_or(0)).unwrap_or(text)
}
