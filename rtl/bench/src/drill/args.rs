//! Splits a script line into words, parses their values and reports errors.

use super::wire::FLAG_NAMES;
use std::net::Ipv4Addr;

/// An error in a line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// Description of the error and of what is allowed.
    pub text: String,
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

impl std::error::Error for ScriptError {}

/// A position in sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seq {
    /// Relative to the initial sequence number, may be negative.
    Rel(i64),
    /// Absolute, as in the segment.
    Abs(u32),
}

/// An inclusive range of expected values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// Minimum.
    pub lo: u64,
    /// Maximum.
    pub hi: u64,
}

impl NumberRange {
    /// Whether the range contains a value.
    #[must_use]
    pub fn has(self, v: u64) -> bool {
        self.lo <= v && v <= self.hi
    }
}

/// The plain words and `key=value` words of a line. Each word must be taken exactly once.
#[derive(Clone, Debug)]
pub struct ScriptLine {
    /// Number of the line, counted from 1.
    pub no: usize,
    words: std::collections::VecDeque<String>,
    keys: Vec<(String, String)>,
}

impl ScriptLine {
    /// Splits a line. Returns `None` if it is empty or only a comment.
    #[must_use]
    pub fn new(no: usize, text: &str) -> Option<Self> {
        let text = text.split('#').next().unwrap_or("");
        let mut line = Self { no, words: std::collections::VecDeque::new(), keys: Vec::new() };
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some((k, v)) if !k.ends_with('>') && !k.is_empty() => {
                    line.keys.push((k.into(), v.into()));
                }
                _ => line.words.push_back(word.into()),
            }
        }
        (!line.words.is_empty() || !line.keys.is_empty()).then_some(line)
    }

    /// Makes an error for this line.
    #[must_use]
    pub fn error(&self, text: impl Into<String>) -> ScriptError {
        ScriptError { line: self.no, text: text.into() }
    }

    /// Takes the next plain word, if there is one.
    pub fn word(&mut self) -> Option<String> {
        self.words.pop_front()
    }

    /// Takes the next plain word. `what` names it in the error.
    pub fn need(&mut self, what: &str) -> Result<String, ScriptError> {
        self.words.pop_front().ok_or_else(|| self.error(format!("{what} is missing")))
    }

    /// Takes the next plain word as a number.
    pub fn number(&mut self, what: &str, max: u64) -> Result<u64, ScriptError> {
        let word = self.need(what)?;
        self.check(what, &word, max)
    }

    /// Takes the value of a key.
    pub fn key(&mut self, name: &str) -> Option<String> {
        let at = self.keys.iter().position(|(k, _)| k == name)?;
        Some(self.keys.remove(at).1)
    }

    /// Takes the value of a key as a number of at most `max`.
    pub fn num(&mut self, name: &str, max: u64) -> Result<Option<u64>, ScriptError> {
        self.key(name).map(|v| self.check(name, &v, max)).transpose()
    }

    fn check(&self, what: &str, text: &str, max: u64) -> Result<u64, ScriptError> {
        match number(text) {
            Some(v) if v <= max => Ok(v),
            Some(v) => Err(self.error(format!("{what} is {v}; at most {max}"))),
            None => Err(self.error(format!("{what} is `{text}`; a number is needed"))),
        }
    }

    /// Takes the value of a key as a number or a range `a..b`.
    pub fn span(&mut self, name: &str) -> Result<Option<NumberRange>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let ends = match text.split_once("..") {
            Some((a, b)) => number(a).zip(number(b)),
            None => number(&text).map(|v| (v, v)),
        };
        match ends {
            Some((lo, hi)) if lo <= hi => Ok(Some(NumberRange { lo, hi })),
            _ => Err(self.error(format!("{name} is `{text}`; a number or a..b is needed"))),
        }
    }

    /// Takes the value of a key as a position in sequence space: `5`, `-1` or `@0x10`.
    pub fn seq(&mut self, name: &str) -> Result<Option<Seq>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let parsed = match (text.strip_prefix('@'), text.strip_prefix('-')) {
            (Some(abs), _) => number(abs).and_then(|v| u32::try_from(v).ok()).map(Seq::Abs),
            (_, Some(minus)) => {
                number(minus).filter(|v| *v <= 1 << 32).map(|v| Seq::Rel(-(v as i64)))
            }
            _ => number(&text).filter(|v| *v <= 1 << 32).map(|v| Seq::Rel(v as i64)),
        };
        let hint = "a number relative to the first one, or @ and an absolute one, is needed";
        parsed.map(Some).ok_or_else(|| self.error(format!("{name} is `{text}`; {hint}")))
    }

    /// Takes the value of a key as an IPv4 address.
    pub fn ip(&mut self, name: &str) -> Result<Option<Ipv4Addr>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| self.error(format!("{name} is `{text}`; an IPv4 address is needed")))
    }

    /// Takes the value of a key as a MAC address.
    pub fn mac(&mut self, name: &str) -> Result<Option<[u8; 6]>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let parsed = mac(&text);
        parsed.map(Some).ok_or_else(|| self.error(format!("{name} is `{text}`; six bytes a:b:..")))
    }

    /// Takes the value of a key as bytes in hexadecimal.
    pub fn hex(&mut self, name: &str) -> Result<Option<Vec<u8>>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let parsed = hex(&text);
        parsed
            .map(Some)
            .ok_or_else(|| self.error(format!("{name} is `{text}`; pairs of hex digits")))
    }

    /// Takes the value of a key that is one of `words`. Returns the index of the word.
    pub fn choice(&mut self, name: &str, words: &[&str]) -> Result<Option<usize>, ScriptError> {
        let Some(text) = self.key(name) else { return Ok(None) };
        let at = words.iter().position(|w| *w == text);
        at.map(Some)
            .ok_or_else(|| self.error(format!("{name} is `{text}`; one of {}", words.join(", "))))
    }

    /// Takes all remaining plain words as control bits.
    pub fn flags(&mut self) -> Result<u8, ScriptError> {
        let mut all = 0;
        while let Some(word) = self.word() {
            match FLAG_NAMES.iter().find(|(n, _)| *n == word) {
                Some((_, bit)) => all |= bit,
                None if word == "none" => {}
                None => return Err(self.error(format!("`{word}` is not a control bit"))),
            }
        }
        Ok(all)
    }

    /// Checks that all words were taken.
    pub fn end(self) -> Result<(), ScriptError> {
        match (self.words.front(), self.keys.first()) {
            (Some(word), _) => Err(self.error(format!("`{word}` is not understood here"))),
            (_, Some((key, _))) => Err(self.error(format!("key `{key}` is not known here"))),
            _ => Ok(()),
        }
    }
}

/// Parses a decimal or hexadecimal (0x) number.
#[must_use]
pub fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len() / 2).map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect()
}

/// Parses a MAC address.
#[must_use]
pub fn mac(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> = text.split(':').map(|b| u8::from_str_radix(b, 16).ok()).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_into_words_and_keys() {
        let mut l = ScriptLine::new(3, "> SYN ACK seq=-1 len=0x10 # text").expect("a line");
        assert_eq!(l.word().as_deref(), Some(">"));
        assert_eq!(l.seq("seq"), Ok(Some(Seq::Rel(-1))));
        assert_eq!(l.num("len", 99), Ok(Some(16)));
        assert_eq!(l.flags(), Ok(0x12));
        assert_eq!(l.end(), Ok(()));
        assert!(ScriptLine::new(1, "  # only").is_none());
    }

    #[test]
    fn errors_name_line_value_and_limit() {
        let mut l = ScriptLine::new(7, "x len=70000 seq=q foo=1").expect("a line");
        assert_eq!(l.word().as_deref(), Some("x"));
        let e = l.num("len", 65535).expect_err("too large");
        assert_eq!(e.to_string(), "line 7: len is 70000; at most 65535");
        assert!(l.seq("seq").is_err());
        assert!(l.end().expect_err("key").text.contains("`foo`"));
    }

    #[test]
    fn ranges_are_parsed() {
        let mut l = ScriptLine::new(1, "w=1..5 v=5..1").expect("a line");
        assert_eq!(l.span("w"), Ok(Some(NumberRange { lo: 1, hi: 5 })));
        assert!(l.span("v").is_err());
    }
}
