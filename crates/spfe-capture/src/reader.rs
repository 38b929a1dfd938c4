//! The reader: strict, and safe on anything.
//!
//! It reads what [`crate::CaptureWriter`] writes, and what tools make of that when they keep byte order
//! and time resolution: one section, little-endian. Blocks of other kinds are skipped. Whatever the
//! bytes are, it neither panics nor takes more memory than [`BLOCK_MAX`], besides names.

use crate::block::{self, option};
use crate::content::RecordContent;
use crate::error::{FormatError, ReadError};
use crate::layout::{LINKTYPE, PseudoHeader};
use crate::options::SNAPLEN_MAX;
use std::io::{ErrorKind, Read};

/// The longest block that is read.
pub const BLOCK_MAX: u32 = SNAPLEN_MAX + 2 * 65_536 + 4096;
/// The most interfaces that are read.
pub const INTERFACES_MAX: usize = 65_536;

/// An interface, as the file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceInfo {
    /// Its name.
    pub name: String,
    /// Its description, empty if there is none.
    pub description: String,
    /// Its signalling rate in bit/s.
    pub speed_bps: Option<u64>,
    /// Time zero, in seconds since 1970.
    pub start_s: i64,
    /// Records of it in the network, from its statistics at the end of the file.
    pub received: Option<u64>,
    /// Those of them that the capture left out.
    pub left_out: Option<u64>,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureRecord<'a> {
    /// Time since the time zero of its interface.
    pub time_ps: u64,
    /// Number of its interface.
    pub interface: u32,
    /// The pseudo-header.
    pub header: PseudoHeader,
    /// What follows it.
    pub content: RecordContent<'a>,
    /// The comment, empty if there is none.
    pub comment: &'a str,
}

/// Reads a capture from its start to its end.
#[derive(Debug)]
pub struct CaptureReader<R> {
    from: R,
    /// The body of the block under way: without its type and its lengths.
    body: Vec<u8>,
    /// Where the block under way starts, and the next one.
    offset: u64,
    next: u64,
    comment: String,
    interfaces: Vec<InterfaceInfo>,
    begun: bool,
}

/// Fields of a block, in order.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn padded(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.bytes(count)?;
        self.bytes(count.next_multiple_of(4) - count)?;
        Some(bytes)
    }

    /// The next option; `None` at their end, an error where it is broken.
    fn option(&mut self) -> Result<Option<(u16, &'a [u8])>, ()> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let code = self.u16().ok_or(())?;
        let length = self.u16().ok_or(())?;
        if code == option::END {
            return if length == 0 && self.0.is_empty() { Ok(None) } else { Err(()) };
        }
        self.padded(length.into()).map(|value| Some((code, value))).ok_or(())
    }
}

const OPTIONS: &str = "broken options";

fn text(value: &[u8]) -> Result<String, &'static str> {
    std::str::from_utf8(value).map(str::to_owned).map_err(|_| "text is not UTF-8")
}

fn number(value: &[u8]) -> Result<u64, &'static str> {
    value.try_into().map(u64::from_le_bytes).map_err(|_| OPTIONS)
}

impl<R: Read> CaptureReader<R> {
    /// Begins to read; looks at nothing yet.
    pub const fn new(from: R) -> Self {
        Self {
            from,
            body: Vec::new(),
            offset: 0,
            next: 0,
            comment: String::new(),
            interfaces: Vec::new(),
            begun: false,
        }
    }

    /// The comment of the file, empty if there is none (or it was not read yet).
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The interfaces that were read until now, by number.
    pub fn interfaces(&self) -> &[InterfaceInfo] {
        &self.interfaces
    }

    /// The next record; none at the end of the file. After an error, what follows is not to be
    /// trusted.
    pub fn record(&mut self) -> Result<Option<CaptureRecord<'_>>, ReadError> {
        while let Some(kind) = self.block()? {
            let known = match kind {
                block::SECTION => self.section(),
                _ if !self.begun => Err("no section header before it"),
                block::INTERFACE => self.interface(),
                block::STATISTICS => self.statistics(),
                block::PACKET => return self.packet().map(Some),
                _ => Ok(()),
            };
            let offset = self.offset;
            known.map_err(|what| ReadError::Block { offset, what })?;
        }
        Ok(None)
    }

    /// Reads a block into the buffer; gives back its type, or none at the end of the file.
    fn block(&mut self) -> Result<Option<u32>, ReadError> {
        self.body.clear();
        self.offset = self.next;
        let offset = self.offset;
        let io = |error| ReadError::Io { offset, error };
        let mut head = [0; 8];
        let mut have = 0;
        while have < head.len() {
            let place = head.get_mut(have..).unwrap_or_default();
            match self.from.read(place) {
                Ok(0) if have == 0 => return Ok(None),
                Ok(0) => return Err(io(ErrorKind::UnexpectedEof.into())),
                Ok(count) => have += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(io(error)),
            }
        }
        let [t0, t1, t2, t3, l0, l1, l2, l3] = head;
        let (kind, bytes) = (u32::from_le_bytes([t0, t1, t2, t3]), [l0, l1, l2, l3]);
        let bytes = u32::from_le_bytes(bytes);
        if !(12..=BLOCK_MAX).contains(&bytes) || bytes % 4 != 0 {
            return Err(ReadError::Length { offset, bytes });
        }
        let rest = u64::from(bytes) - 8;
        let read = (&mut self.from).take(rest).read_to_end(&mut self.body).map_err(io)?;
        if (read as u64) < rest {
            return Err(io(ErrorKind::UnexpectedEof.into()));
        }
        let end = self.body.len().saturating_sub(4);
        let trailer = self.body.get(end..).and_then(|trailer| trailer.try_into().ok());
        if trailer.map(u32::from_le_bytes) != Some(bytes) {
            return Err(ReadError::Block { offset, what: "its two lengths differ" });
        }
        self.body.truncate(end);
        self.next += u64::from(bytes);
        Ok(Some(kind))
    }

    fn section(&mut self) -> Result<(), &'static str> {
        if self.begun {
            return Err("a second section");
        }
        let mut fields = Fields(&self.body);
        let order = fields.u32().ok_or("too short")?;
        if order == block::BYTE_ORDER.swap_bytes() {
            return Err("big-endian: not written by spfe");
        }
        if order != block::BYTE_ORDER {
            return Err("no byte-order magic");
        }
        let version = (fields.u16().ok_or("too short")?, fields.u16().ok_or("too short")?);
        if version != block::VERSION {
            return Err("version other than 1.0");
        }
        fields.bytes(8).ok_or("too short")?;
        while let Some((code, value)) = fields.option().map_err(|()| OPTIONS)? {
            if code == option::COMMENT {
                self.comment = text(value)?;
            }
        }
        self.begun = true;
        Ok(())
    }

    fn interface(&mut self) -> Result<(), &'static str> {
        let mut fields = Fields(&self.body);
        let linktype = fields.u16().ok_or("too short")?;
        fields.bytes(6).ok_or("too short")?;
        if linktype != LINKTYPE {
            return Err("link type other than 147");
        }
        if self.interfaces.len() == INTERFACES_MAX {
            return Err("more than 65536 interfaces");
        }
        let (mut described, mut resolution) = (InterfaceInfo::default(), None);
        while let Some((code, value)) = fields.option().map_err(|()| OPTIONS)? {
            match code {
                option::IF_NAME => described.name = text(value)?,
                option::IF_DESCRIPTION => described.description = text(value)?,
                option::IF_SPEED => described.speed_bps = Some(number(value)?),
                option::IF_TSRESOL => resolution = value.first().copied(),
                option::IF_TSOFFSET => described.start_s = number(value)?.cast_signed(),
                _ => {}
            }
        }
        if resolution != Some(block::RESOLUTION) {
            return Err("time resolution other than 1 ps");
        }
        self.interfaces.push(described);
        Ok(())
    }

    fn statistics(&mut self) -> Result<(), &'static str> {
        let mut fields = Fields(&self.body);
        let number_of = fields.u32().ok_or("too short")?;
        fields.bytes(8).ok_or("too short")?;
        let interface = self.interfaces.get_mut(number_of as usize).ok_or("no such interface")?;
        while let Some((code, value)) = fields.option().map_err(|()| OPTIONS)? {
            match code {
                option::STATISTICS_RECEIVED => interface.received = Some(number(value)?),
                option::STATISTICS_DROPPED => interface.left_out = Some(number(value)?),
                _ => {}
            }
        }
        Ok(())
    }

    /// The record in the block under way.
    fn packet(&self) -> Result<CaptureRecord<'_>, ReadError> {
        let offset = self.offset;
        let wrong = |what| ReadError::Block { offset, what };
        let mut fields = Fields(&self.body);
        let mut next = || fields.u32().ok_or(wrong("too short"));
        let (interface, high, low, captured) = (next()?, next()?, next()?, next()?);
        next()?;
        if interface as usize >= self.interfaces.len() {
            return Err(wrong("no such interface"));
        }
        if captured > SNAPLEN_MAX {
            return Err(wrong("record longer than 262144 bytes"));
        }
        let record = fields.padded(captured as usize).ok_or(wrong("too short"))?;
        let mut comment = "";
        while let Some((code, value)) = fields.option().map_err(|()| wrong(OPTIONS))? {
            if code == option::COMMENT {
                comment = std::str::from_utf8(value).map_err(|_| wrong("text is not UTF-8"))?;
            }
        }
        let time_ps = u64::from(high) << 32 | u64::from(low);
        let format = |error| ReadError::Record { offset, error };
        let (header, content) = PseudoHeader::parse(record).map_err(format)?;
        if u64::from(header.sub_ns_ps) != time_ps % 1000 {
            let value = header.sub_ns_ps.into();
            return Err(format(FormatError::Value { field: "sub-nanosecond", value }));
        }
        let content = RecordContent::parse(&header, content).map_err(format)?;
        Ok(CaptureRecord { time_ps, interface, header, content, comment })
    }
}
