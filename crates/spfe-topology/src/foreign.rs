//! Streams to foreign ends: where they are, and what they carry (docs/foreign-ends.md).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Contents of a stream to a foreign end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamKind {
    /// Words of four symbols with K and error flags.
    #[default]
    Words,
    /// Groups of 40 bits, as on the line.
    Groups,
}

/// How a stream to a foreign end is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamTransport {
    /// A UNIX socket.
    Unix,
    /// A TCP connection.
    Tcp,
    /// Two named pipes.
    Pipes,
}

/// A stream to a foreign end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignStream {
    /// How the stream is carried.
    pub transport: StreamTransport,
    /// This side listens, and the foreign end connects.
    pub listens: bool,
    /// A path, `HOST:PORT`, or the paths of the pipe to read and the pipe to write with a colon
    /// between.
    pub place: String,
    /// Contents.
    pub kind: StreamKind,
    /// Word periods in a message, 1 to [`ForeignStream::WORDS_MAX`].
    pub words: u32,
}

impl ForeignStream {
    /// Maximum number of word periods in a message.
    pub const WORDS_MAX: u32 = 1024;
    /// Maximum number of cells (word periods times lanes) in a message.
    pub const CELLS_MAX: u32 = 4096;
    const WORDS: u32 = 64;
    /// The forms of an address, with their transports, and whether this side listens.
    const FORMS: [(&str, StreamTransport, bool); 5] = [
        ("unix:", StreamTransport::Unix, false),
        ("unix-listen:", StreamTransport::Unix, true),
        ("tcp:", StreamTransport::Tcp, false),
        ("tcp-listen:", StreamTransport::Tcp, true),
        ("pipes:", StreamTransport::Pipes, true),
    ];

    /// Checks the size of a message for a link of this many lanes.
    ///
    /// # Errors
    /// The number of words and its limit.
    pub fn check(&self, lanes: u32) -> Result<(), String> {
        let most = Self::WORDS_MAX.min(Self::CELLS_MAX / lanes.max(1));
        if (1..=most).contains(&self.words) {
            return Ok(());
        }
        let words = self.words;
        Err(format!("foreign end '{self}': words={words} is not in 1 to {most} for {lanes} lanes"))
    }
}

impl FromStr for ForeignStream {
    type Err = String;

    /// `unix:PATH`, `unix-listen:PATH`, `tcp:HOST:PORT`, `tcp-listen:HOST:PORT` or `pipes:IN:OUT`,
    /// then the options `,words=N` and `,kind=words` or `,kind=groups`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            format!(
                "foreign end '{text}': {why}; write unix:PATH, unix-listen:PATH, tcp:HOST:PORT, \
                 tcp-listen:HOST:PORT or pipes:IN:OUT, and after it ,words=N or ,kind=groups"
            )
        };
        let mut parts = text.split(',');
        let address = parts.next().unwrap_or_default();
        let form = Self::FORMS.into_iter().find_map(|(prefix, transport, listens)| {
            Some((address.strip_prefix(prefix)?, transport, listens))
        });
        let (place, transport, listens) = form.ok_or_else(|| bad("no such kind of address"))?;
        let of_two = place.split_once(':').is_some_and(|(a, b)| !a.is_empty() && !b.is_empty());
        if place.is_empty() || transport != StreamTransport::Unix && !of_two {
            return Err(bad("the address is not complete"));
        }
        let place = place.to_owned();
        let (kind, words) = (StreamKind::Words, Self::WORDS);
        let mut stream = Self { transport, listens, place, kind, words };
        for option in parts {
            match option.split_once('=') {
                Some(("kind", "words")) => stream.kind = StreamKind::Words,
                Some(("kind", "groups")) => stream.kind = StreamKind::Groups,
                Some(("words", count)) => {
                    let count = count.parse().ok().filter(|n| (1..=Self::WORDS_MAX).contains(n));
                    let limit = || bad(&format!("{option} is not in 1 to {}", Self::WORDS_MAX));
                    stream.words = count.ok_or_else(limit)?;
                }
                _ => return Err(bad(&format!("unknown option '{option}'"))),
            }
        }
        Ok(stream)
    }
}

impl fmt::Display for ForeignStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_form = |form: &&(&str, StreamTransport, bool)| {
            (form.1, form.2) == (self.transport, self.listens)
        };
        let prefix = Self::FORMS.iter().find(is_form).map_or("", |form| form.0);
        write!(f, "{prefix}{}", self.place)?;
        if self.words != Self::WORDS {
            write!(f, ",words={}", self.words)?;
        }
        f.write_str(if self.kind == StreamKind::Groups { ",kind=groups" } else { "" })
    }
}

#[cfg(test)]
mod tests;
