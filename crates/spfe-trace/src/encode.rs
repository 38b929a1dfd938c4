//! Words from their text form.
//!
//! One word per line or between semicolons: `SDF vc=3`, `DATA 00 01 02 EOP`, `EDF seq=+5`, `FCT
//! vc=1 m=1 seq=-0`, `ALIGN lane=2 lanes=4`. Case does not matter. Numbers are decimal, or
//! hexadecimal with 0x. A sequence number has the sign of its polarity, or is the byte (0x85). The
//! default of a field is 0, or 1 for `m` and `lanes`. Missing CRCs are computed; the CRC of an EDF
//! or EBF covers the frame since its SDF or SBF.

use spfe_link::control::{ControlWord, ebf, edf};
use spfe_link::crc::{Crc8, Crc16};
use spfe_link::prbs::Prbs;
use spfe_link::word::{Word, k};

use crate::name::WordKind;
use crate::text::{TextError, split, symbol};

const KEYS: usize = 8;

/// Encodes words from text, and follows the CRCs of their frames.
#[derive(Clone, Copy, Debug)]
pub struct TextEncoder {
    scrambled: bool,
    data: Option<(Crc16, Prbs)>,
    broadcast: Option<Crc8>,
}

/// A line, split into name and fields.
struct Fields<'a> {
    name: (usize, &'a str),
    given: [Option<(usize, &'a str)>; KEYS],
}

impl TextEncoder {
    /// Creates an encoder outside a frame. `scrambled`: whether data frames are scrambled.
    pub const fn new(scrambled: bool) -> Self {
        Self { scrambled, data: None, broadcast: None }
    }

    /// Encodes one word; returns `None` if there is only a comment.
    ///
    /// # Errors
    /// An unknown name or field, or a value out of its range.
    pub fn encode(&mut self, form: &str) -> Result<Option<Word>, TextError> {
        let mut parts = split(form);
        let Some(name) = parts.next() else { return Ok(None) };
        let mut fields = Fields { name, given: [None; KEYS] };
        for slot in &mut fields.given {
            *slot = parts.next();
        }
        if let Some((column, part)) = parts.next() {
            return Err(TextError::new(column, part, "too many fields"));
        }
        let word = if is(name.1, WordKind::Data.name()) || is(name.1, WordKind::NChars.name()) {
            let plain = characters(&fields)?;
            self.scramble(plain)
        } else {
            self.control(&fields)?
        };
        self.follow(word);
        Ok(Some(word))
    }

    fn scramble(&mut self, plain: Word) -> Word {
        match &mut self.data {
            Some((_, prbs)) if self.scrambled && self.broadcast.is_none() => prbs.scramble(plain),
            _ => plain,
        }
    }

    /// Follows the CRCs.
    fn follow(&mut self, word: Word) {
        match ControlWord::decode(word) {
            Some(ControlWord::Sdf { .. }) => {
                self.data = Some((Crc16::new().word(word), Prbs::new()))
            }
            Some(ControlWord::Edf { .. } | ControlWord::Retry) => self.data = None,
            Some(ControlWord::Sbf { .. }) => self.broadcast = Some(Crc8::new().symbols(word, 4)),
            Some(ControlWord::Ebf { .. }) => self.broadcast = None,
            None => match (&mut self.broadcast, &mut self.data) {
                (Some(crc), _) => *crc = crc.symbols(word, 4),
                (None, Some((crc, _))) => *crc = crc.word(word),
                (None, None) => {}
            },
            _ => {}
        }
    }

    fn control(&self, fields: &Fields<'_>) -> Result<Word, TextError> {
        let (_, name) = fields.name;
        let kind = WordKind::ALL.iter().copied().find(|kind| is(name, kind.name()));
        if let Some(control) = kind.and_then(without_fields) {
            fields.only(&[])?;
            return Ok(control.encode());
        }
        let Some(kind) = kind else { return Err(unknown(fields)) };
        match kind {
            WordKind::Edf => self.edf(fields),
            WordKind::Ebf => self.ebf(fields),
            _ => {
                let control = match lane_word(kind, fields)? {
                    Some(control) => control,
                    None => link_word(kind, fields)?.ok_or_else(|| unknown(fields))?,
                };
                fields.finish(kind == WordKind::SifD44, control)
            }
        }
    }

    fn edf(&self, fields: &Fields<'_>) -> Result<Word, TextError> {
        fields.only(&["seq", "crc"])?;
        let seq = fields.seq()?;
        if fields.get("crc").is_some() {
            let crc = fields.number("crc", 0, 0..=0xffff)? as u16;
            return Ok(ControlWord::Edf { seq, crc }.encode());
        }
        let (crc, _) = self.data.ok_or_else(|| fields.alone("no SDF before it; give crc="))?;
        Ok(edf(crc, seq))
    }

    fn ebf(&self, fields: &Fields<'_>) -> Result<Word, TextError> {
        fields.only(&["seq", "crc", "late", "delayed", "reserved"])?;
        let seq = fields.seq()?;
        let flags = u8::from(fields.flag("late")) | u8::from(fields.flag("delayed")) << 1;
        let status = flags | fields.byte("reserved")?;
        if fields.get("crc").is_some() {
            return Ok(ControlWord::Ebf { status, seq, crc: fields.byte("crc")? }.encode());
        }
        let crc = self.broadcast.ok_or_else(|| fields.alone("no SBF before it; give crc="))?;
        Ok(ebf(crc, status, seq))
    }
}

/// Words of the lane and multi-lane layers that have fields.
fn lane_word(kind: WordKind, fields: &Fields<'_>) -> Result<Option<ControlWord>, TextError> {
    Ok(Some(match kind {
        WordKind::Init3 => {
            fields.only(&["capability"])?;
            ControlWord::Init3 { capability: fields.byte("capability")? }
        }
        WordKind::Standby => {
            fields.only(&["reason"])?;
            ControlWord::Standby { reason: fields.byte("reason")? }
        }
        WordKind::LostSignal => {
            fields.only(&["cause"])?;
            ControlWord::LostSignal { cause: fields.byte("cause")? }
        }
        WordKind::Active => {
            fields.only(&["lanes"])?;
            ControlWord::Active { lanes: fields.number("lanes", 0, 0..=0xffff)? as u16 }
        }
        WordKind::Align => fields.align()?,
        _ => return Ok(None),
    }))
}

/// Words of the data link layer, except those that end a frame.
fn link_word(kind: WordKind, fields: &Fields<'_>) -> Result<Option<ControlWord>, TextError> {
    let numbered = |rest: &[&str]| {
        fields.only(&[&["seq", "crc"], rest].concat())?;
        fields.seq()
    };
    Ok(Some(match kind {
        WordKind::Sdf => {
            fields.only(&["vc"])?;
            ControlWord::Sdf { vc: fields.byte("vc")? }
        }
        WordKind::Sbf => {
            fields.only(&["channel", "type"])?;
            ControlWord::Sbf { channel: fields.byte("channel")?, kind: fields.byte("type")? }
        }
        WordKind::Fct => {
            let seq = numbered(&["vc", "m"])?;
            let multiplier = fields.number("m", 1, 1..=8)? as u8;
            let vc = fields.number("vc", 0, 0..=31)? as u8;
            ControlWord::Fct { multiplier, vc, seq, crc: 0 }
        }
        WordKind::Sif | WordKind::SifD44 => ControlWord::Sif { seq: numbered(&[])?, crc: 0 },
        WordKind::Ack => ControlWord::Ack { seq: numbered(&[])?, crc: 0 },
        WordKind::Nack => ControlWord::Nack { seq: numbered(&[])?, crc: 0 },
        WordKind::Full => ControlWord::Full { seq: numbered(&[])?, crc: 0 },
        _ => return Ok(None),
    }))
}

/// The error for a name that is not that of a word.
fn unknown(fields: &Fields<'_>) -> TextError {
    let (column, name) = fields.name;
    let what = "no such word: DATA, SDF, EDF, SBF, EBF, SIF, FCT, ACK, NACK, FULL, RETRY, SKIP, \
                IDLE, INIT1, INIT2, INIT3, STANDBY, LOST_SIGNAL, ACTIVE, ALIGN, PAD and RXERR are \
                known";
    TextError::new(column, name, what)
}

/// Words without fields.
const fn without_fields(kind: WordKind) -> Option<ControlWord> {
    Some(match kind {
        WordKind::Skip => ControlWord::Skip,
        WordKind::Idle => ControlWord::Idle,
        WordKind::Init1 => ControlWord::Init1,
        WordKind::Init1Inverted => ControlWord::Init1Inverted,
        WordKind::Init2 => ControlWord::Init2,
        WordKind::Init2Inverted => ControlWord::Init2Inverted,
        WordKind::Pad => ControlWord::Pad,
        WordKind::Retry => ControlWord::Retry,
        WordKind::RxErr => ControlWord::RxErr,
        _ => return None,
    })
}

fn is(text: &str, name: &str) -> bool {
    text.eq_ignore_ascii_case(name)
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|c| c.is_ascii_hexdigit()) => {
            u32::from_str_radix(digits, 16).ok()
        }
        None if text.bytes().all(|c| c.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Characters of a data word. Missing characters after an end marker are Fill.
fn characters(fields: &Fields<'_>) -> Result<Word, TextError> {
    const WHAT: &str = "a character is two hexadecimal digits, EOP, EEP, Fill or Kx.y";
    let (mut symbols, mut mask, mut count) = ([k::FILL; 4], 0xf, 0);
    for (column, part) in fields.given.iter().flatten() {
        let (value, is_k) = match part {
            part if is(part, "EOP") => (k::EOP, true),
            part if is(part, "EEP") => (k::EEP, true),
            part if is(part, "Fill") => (k::FILL, true),
            part if part.starts_with(['K', 'k']) => {
                symbol(part).ok_or_else(|| TextError::new(*column, part, WHAT))?
            }
            part => {
                let digits = part.len() == 2 && part.bytes().all(|c| c.is_ascii_hexdigit());
                let value = digits.then(|| u8::from_str_radix(part, 16).ok()).flatten();
                (value.ok_or_else(|| TextError::new(*column, part, WHAT))?, false)
            }
        };
        let Some(slot) = symbols.get_mut(count) else {
            return Err(TextError::new(*column, part, "a word has four characters"));
        };
        *slot = value;
        if !is_k {
            mask &= !(1 << count);
        }
        count += 1;
    }
    if count == 0 {
        return Err(fields.alone("give one to four characters after the name"));
    }
    Ok(Word::from_symbols(symbols, mask))
}

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<(usize, &'a str)> {
        self.given.iter().flatten().find_map(|(column, part)| {
            let (name, value) = part.split_once('=')?;
            is(name, key).then_some((*column, value))
        })
    }

    fn flag(&self, key: &str) -> bool {
        self.given.iter().flatten().any(|(_, part)| is(part, key))
    }

    /// An error that concerns the word itself.
    fn alone(&self, what: &'static str) -> TextError {
        TextError::new(self.name.0, self.name.1, what)
    }

    /// Checks that the line has no other fields.
    fn only(&self, keys: &[&str]) -> Result<(), TextError> {
        for (column, part) in self.given.iter().flatten() {
            let key = part.split('=').next().unwrap_or_default();
            if !keys.iter().any(|known| is(key, known)) {
                let what = "the word has no such field, or the field has no =VALUE";
                return Err(TextError::new(*column, part, what));
            }
        }
        Ok(())
    }

    fn number(
        &self,
        key: &str,
        default: u32,
        range: core::ops::RangeInclusive<u32>,
    ) -> Result<u32, TextError> {
        let Some((column, text)) = self.get(key) else { return Ok(default) };
        let value = number(text).filter(|value| range.contains(value));
        value.ok_or_else(|| TextError::new(column, text, "not a number in the range of the field"))
    }

    fn byte(&self, key: &str) -> Result<u8, TextError> {
        Ok(self.number(key, 0, 0..=0xff)? as u8)
    }

    fn seq(&self) -> Result<u8, TextError> {
        const WHAT: &str = "a sequence number is +0 to +127, -0 to -127 or 0x00 to 0xFF";
        let Some((column, text)) = self.get("seq") else { return Ok(0) };
        let (digits, polarity, most) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (text, 0, 0xff),
            [b'-', ..] => (text.get(1..).unwrap_or_default(), 0x80, 0x7f),
            [b'+', ..] => (text.get(1..).unwrap_or_default(), 0, 0x7f),
            _ => (text, 0, 0x7f),
        };
        let value = number(digits).filter(|value| *value <= most && !digits.is_empty());
        let value = value.ok_or_else(|| TextError::new(column, text, WHAT))?;
        Ok(value as u8 | polarity)
    }

    fn align(&self) -> Result<ControlWord, TextError> {
        self.only(&["lane", "lanes", "field", "inverse", "hot-redundant"])?;
        if self.flag("hot-redundant") {
            return Ok(ControlWord::Align { lanes: 0, inverse: 0 });
        }
        if self.get("field").is_some() {
            return Ok(ControlWord::Align {
                lanes: self.byte("field")?,
                inverse: self.byte("inverse")?,
            });
        }
        let lane = self.number("lane", 0, 0..=15)? as u8;
        let lanes = lane << 4 | (self.number("lanes", 1, 1..=16)? & 0xf) as u8;
        Ok(ControlWord::Align { lanes, inverse: !lanes })
    }

    /// The word, with its CRC-8 computed or as given.
    fn finish(&self, d4_4: bool, control: ControlWord) -> Result<Word, TextError> {
        let mut word = control.encode();
        if d4_4 {
            word.bits = word.bits & !0xff00 | 0x8400;
        }
        let carries = control.sealed() != control.encode() || self.get("crc").is_some();
        if carries || d4_4 {
            let crc = match self.get("crc") {
                Some(_) => self.byte("crc")?,
                None => Crc8::new().symbols(word, 3).value(),
            };
            word.bits = word.bits & 0x00ff_ffff | u32::from(crc) << 24;
        }
        Ok(word)
    }
}
