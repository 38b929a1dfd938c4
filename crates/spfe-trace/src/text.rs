//! Words, symbols and codes from and to text.
//!
//! | token | meaning |
//! | --- | --- |
//! | `7F7FCEFC/1` | a word: symbols 3 to 0 in hexadecimal, a slash, the K mask |
//! | `7F7FCEFC` | a word without its mask: 1 (F for PAD) if that makes it a control word, else 0 |
//! | `K28.7`, `D14.6` | a symbol |
//! | `0011111000` | ten bits in the order of the line; 20, 30 or 40 bits are two to four symbols |
//! | `0x0F8` | the same ten bits in hexadecimal |
//! | `x64` | repeats the token before it on the line, 64 times in all |
//!
//! Blanks, commas and semicolons separate tokens; `#` starts a comment.

use core::fmt;

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

/// Maximum number of repetitions in `xN`.
pub const TIMES_MAX: u32 = 1 << 24;

/// Tokens that [`tokens`] accepts, for messages.
const ACCEPTED: &str = "a word (7F7FCEFC/1), a symbol (K28.7, D14.6), symbols of ten bits \
                        (0011111000, 0x0F8) or a repetition (x64)";

/// A token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextToken {
    /// Four symbols.
    Word(Word),
    /// A symbol.
    Symbol {
        /// Value of the symbol.
        value: u8,
        /// Whether it is a K character.
        is_k: bool,
    },
    /// 1 to 4 symbols of ten bits each. The first symbol is in bits 9:0 with bit 0 first on the
    /// line, as in [`spfe_link::code`].
    Codes {
        /// The bits.
        bits: u64,
        /// Number of symbols.
        count: u8,
    },
    /// Repeats the token before it; the number includes that token.
    Times(u32),
}

/// An error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Column of the token in its line, from 1; 0 if the whole line is meant.
    pub column: usize,
    /// The token, at most 40 characters of it.
    pub token: String,
    /// The error, or the expected form.
    pub what: &'static str,
}

impl TextError {
    pub(crate) fn new(column: usize, token: &str, what: &'static str) -> Self {
        let token = token.chars().take(40).flat_map(char::escape_debug).collect();
        Self { column, token, what }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.column != 0 {
            write!(f, "column {}: ", self.column)?;
        }
        write!(f, "'{}': {}", self.token, self.what)
    }
}

impl std::error::Error for TextError {}

/// Parts of a line with their columns, from 1, up to a comment.
pub(crate) fn split(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let line = line.split('#').next().unwrap_or_default();
    let start = line.as_ptr() as usize;
    line.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|part| !part.is_empty())
        .map(move |part| {
            let before = line.get(..part.as_ptr() as usize - start).unwrap_or_default();
            (before.chars().count() + 1, part)
        })
}

/// Tokens of a line.
pub fn tokens(line: &str) -> impl Iterator<Item = Result<TextToken, TextError>> {
    split(line).map(|(column, part)| token_at(column, part))
}

/// Parses the token at a column.
pub(crate) fn token_at(column: usize, part: &str) -> Result<TextToken, TextError> {
    token(part).map_err(|what| TextError::new(column, part, what.unwrap_or(ACCEPTED)))
}

fn token(part: &str) -> Result<TextToken, Option<&'static str>> {
    let bytes = part.as_bytes();
    match bytes {
        [b'K' | b'k' | b'D' | b'd', rest @ ..] if rest.contains(&b'.') => {
            let (value, is_k) =
                symbol(part).ok_or(Some("x of Kx.y or Dx.y is 0 to 31, y 0 to 7"))?;
            Ok(TextToken::Symbol { value, is_k })
        }
        [b'x' | b'X', digits @ ..] if !digits.is_empty() => times(part).map(TextToken::Times),
        _ if is_codes(bytes) => Ok(codes(bytes)),
        [b'0', b'x' | b'X', _, _, _] => {
            let code = hex(&part[2..]).filter(|code| *code < 1 << 10);
            let code = code.ok_or(Some("ten bits are 0x000 to 0x3FF"))?;
            let bits = u64::from((code as u16).reverse_bits() >> 6);
            Ok(TextToken::Codes { bits, count: 1 })
        }
        _ => word(part).map(TextToken::Word),
    }
}

/// Parses hexadecimal digits without a sign.
fn hex(digits: &str) -> Option<u32> {
    digits.bytes().all(|c| c.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

fn times(part: &str) -> Result<u32, Option<&'static str>> {
    let digits = part.get(1..).unwrap_or_default();
    let times = digits.bytes().all(|c| c.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    times
        .filter(|times| (1..=TIMES_MAX).contains(times))
        .ok_or(Some("a repetition is x1 to x16777216"))
}

/// Whether the token is 10, 20, 30 or 40 digits 0 and 1.
fn is_codes(part: &[u8]) -> bool {
    let whole = matches!(part.len(), 10 | 20 | 30 | 40);
    whole && part.iter().all(|digit| matches!(digit, b'0' | b'1'))
}

fn codes(part: &[u8]) -> TextToken {
    let place = |bits, (place, digit): (usize, &u8)| bits | u64::from(*digit == b'1') << place;
    let bits = part.iter().enumerate().fold(0, place);
    TextToken::Codes { bits, count: (part.len() / 10) as u8 }
}

fn word(part: &str) -> Result<Word, Option<&'static str>> {
    let (digits, mask) = match part.split_once('/') {
        Some((digits, mask)) => (digits, Some(mask)),
        None => (part, None),
    };
    let digits = digits.strip_prefix("0x").or(digits.strip_prefix("0X")).unwrap_or(digits);
    let bits = hex(digits).filter(|_| digits.len() == 8);
    let Some(bits) = bits else {
        return Err(mask.map(|_| "a word has 8 hexadecimal digits before the slash"));
    };
    match mask {
        None => Ok(guess(bits)),
        Some(mask) => {
            let k = hex(mask).filter(|k| *k < 16 && mask.len() == 1);
            let k = k.ok_or(Some("a K mask is 0 to F, bit 0 for symbol 0"))?;
            Ok(Word { bits, k: k as u8 })
        }
    }
}

/// A word without a mask: chooses the mask.
fn guess(bits: u32) -> Word {
    let is_control =
        |k| ControlWord::decode(Word { bits, k }).is_some_and(|c| c != ControlWord::RxErr);
    let k = [1, 0xf].into_iter().find(|k| is_control(*k)).unwrap_or(0);
    Word { bits, k }
}

/// Value and K flag of a symbol, from its name: `K28.7`, `D14.6`.
pub fn symbol(name: &str) -> Option<(u8, bool)> {
    let (kind, numbers) = name.split_at_checked(1)?;
    let is_k = match kind {
        "K" | "k" => true,
        "D" | "d" => false,
        _ => return None,
    };
    let (x, y) = numbers.split_once('.')?;
    let number = |digits: &str, limit: u8| {
        let plain = digits.bytes().all(|c| c.is_ascii_digit());
        digits.parse::<u8>().ok().filter(|value| plain && *value <= limit)
    };
    Some((number(y, 7)? << 5 | number(x, 31)?, is_k))
}

/// Displays the name of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolName {
    /// Value of the symbol.
    pub value: u8,
    /// Whether it is a K character.
    pub is_k: bool,
}

impl fmt::Display for SymbolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_k { 'K' } else { 'D' };
        write!(f, "{kind}{}.{}", self.value & 0x1f, self.value >> 5)
    }
}

/// Displays a word as the names of its symbols, the first on the line first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolNames(pub Word);

impl fmt::Display for SymbolNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for index in 0..4 {
            let separator = if index == 0 { "" } else { " " };
            let name = SymbolName { value: self.0.symbol(index), is_k: self.0.is_k(index) };
            write!(f, "{separator}{name}")?;
        }
        Ok(())
    }
}

/// Displays the 40 bits of a word, as in [`spfe_link::code`], in the order of the line: four groups
/// of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupBits(pub u64);

impl fmt::Display for GroupBits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for index in 0..4 {
            let separator = if index == 0 { "" } else { " " };
            let code = ((self.0 >> (10 * index)) as u16).reverse_bits() >> 6;
            write!(f, "{separator}{code:010b}")?;
        }
        Ok(())
    }
}

/// Parses a line of a recording of both directions, such as `vectors/cnes_b2b.txt.gz`: hexadecimal
/// word and K mask of each direction, then an optional `xN`. Returns `None` for an empty line.
///
/// # Errors
/// Anything else on the line.
pub fn recording(line: &str) -> Result<Option<([Word; 2], u32)>, TextError> {
    const WHAT: &str = "a line of a recording is WORD K WORD K [xN] (4646CEBC 1 00000000 0 x3)";
    let mut numbers = [0; 4];
    let mut count = 0;
    let mut repeat = 1;
    for (column, part) in split(line) {
        let wrong = || TextError::new(column, part, WHAT);
        match numbers.get_mut(count) {
            Some(number) => {
                let digits = if count % 2 == 0 { 8 } else { 1 };
                *number = hex(part).filter(|_| part.len() == digits).ok_or_else(wrong)?;
            }
            None if count == 4 && part.starts_with(['x', 'X']) => {
                repeat = times(part).map_err(|_| wrong())?;
            }
            None => return Err(wrong()),
        }
        count += 1;
    }
    let [a, ka, b, kb] = numbers;
    match count {
        0 => Ok(None),
        4 | 5 => Ok(Some(([Word { bits: a, k: ka as u8 }, Word { bits: b, k: kb as u8 }], repeat))),
        _ => Err(TextError::new(0, line.trim(), WHAT)),
    }
}
