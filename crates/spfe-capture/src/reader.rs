//! Reads captures. The reader is strict, and safe on untrusted files.
//!
//! It reads files of [`crate::CaptureWriter`], also after other tools processed them, as long as
//! they kept the byte order (little-endian), the time resolution and the single section. It skips
//! blocks of unknown types. It never panics, and it uses at most [`BLOCK_MAX`] bytes of memory plus
//! the names of interfaces.

use crate::block::{self, option};
use crate::content::RecordContent;
use crate::error::ReadError;
use crate::layout::{LINKTYPE, PseudoHeader};
use crate::options::{BLOCK_MAX, SNAPLEN_MAX};
use std::io::{ErrorKind, Read};

/// Maximum number of interfaces in a file.
pub const INTERFACES_MAX: usize = 65_536;

/// An interface as described in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceInfo {
    /// Name.
    pub name: String,
    /// Description, empty if there is none.
    pub description: String,
    /// Signalling rate in bit/s.
    pub speed_bps: Option<u64>,
    /// Time zero in seconds since 1970-01-01 00:00 UTC.
    pub start_s: i64,
    /// Number of records offered to the capture, from the statistics at the end of the file.
    pub received: Option<u64>,
    /// Number of these records that the capture left out.
    pub left_out: Option<u64>,
}

/// A record read from a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureRecord<'a> {
    /// Time since time zero of the interface.
    pub time_ps: u64,
    /// Number of the interface.
    pub interface: u32,
    /// The pseudo-header.
    pub header: PseudoHeader,
    /// The decoded content.
    pub content: RecordContent<'a>,
    /// Comment, empty if there is none.
    pub comment: &'a str,
}

/// Reads the records of a capture in the order of the file.
#[derive(Debug)]
pub struct CaptureReader<R> {
    from: R,
    /// The current block without its type and its two lengths.
    body: Vec<u8>,
    /// Start of the current block in the file.
    offset: u64,
    /// Start of the next block in the file.
    next: u64,
    comment: String,
    interfaces: Vec<InterfaceInfo>,
    begun: bool,
}

/// Takes the fields of a block in order.
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

    /// Takes the next option. Returns `None` at the end of the options.
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
    /// Makes a reader. It does not access `from` yet.
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

    /// Comment of the file, empty if there is none or before the first call of
    /// [`CaptureReader::record`].
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// The interfaces read so far, indexed by their number.
    pub fn interfaces(&self) -> &[InterfaceInfo] {
        &self.interfaces
    }

    /// Reads the next record. Returns `None` at the end of the file.
    ///
    /// # Errors
    ///
    /// The source fails or the file is not valid. Do not use the reader after an error.
    pub fn record(&mut self) -> Result<Option<CaptureRecord<'_>>, ReadError> {
        while let Some(kind) = self.block()? {
            let known = match kind {
                block::SECTION => self.section(),
                _ if !self.begun => Err("no section header precedes it"),
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

    /// Reads a block into the buffer. Returns its type, or `None` at the end of the file.
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
            return Err("a second section, only one is supported");
        }
        let mut fields = Fields(&self.body);
        let order = fields.u32().ok_or("too short")?;
        if order == block::BYTE_ORDER.swap_bytes() {
            return Err("big-endian byte order is not supported");
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
            return Err("time resolution other than 1 ns");
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

    /// Decodes the record in the current packet block.
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
        let stamp = u64::from(high) << 32 | u64::from(low);
        let format = |error| ReadError::Record { offset, error };
        let (header, content) = PseudoHeader::parse(record).map_err(format)?;
        let time_ps = stamp
            .checked_mul(block::UNIT_PS)
            .and_then(|ps| ps.checked_add(u64::from(header.sub_ns_ps)))
            .ok_or(wrong("a time after 213 days"))?;
        let content = RecordContent::parse(&header, content).map_err(format)?;
        Ok(CaptureRecord { time_ps, interface, header, content, comment })
    }
}
