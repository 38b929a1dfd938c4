//! Input lines from a file, standard input or the command line.

use crate::error::Failure;
use crate::output::printable;
use crate::signal;
use flate2::bufread::MultiGzDecoder;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// Limit of a line, bytes.
const LINE_MAX_BYTES: u64 = 1 << 20;
/// Name of the input in messages if it is not a file.
const ARGUMENT: &str = "command line";
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A source of lines.
pub struct Input {
    name: String,
    reader: Box<dyn BufRead>,
    line: u64,
    /// The argument may have been meant as the name of a file.
    maybe_file: bool,
}

impl Input {
    /// Opens the input: standard input for `-` or no argument, a file if the single argument names
    /// one, otherwise the arguments as text, joined by `separator`.
    pub fn open(what: &[String], separator: &str) -> Result<Self, Failure> {
        match what {
            [] => Self::new("stdin", io::stdin().lock(), false),
            [dash] if dash == "-" => Self::new("stdin", io::stdin().lock(), false),
            [path] if Path::new(path).exists() => {
                let name = format!("file '{}'", printable(path));
                let file = File::open(path).map_err(|error| Failure::io(&name, &error))?;
                Self::new(&name, BufReader::new(file), false)
            }
            words => {
                let text = words.join(separator);
                Self::new(ARGUMENT, Cursor::new(text), words.len() == 1)
            }
        }
    }

    /// Reads lines, of gzip if they begin like it. `name` stands in messages.
    pub fn new(
        name: &str,
        mut reader: impl BufRead + 'static,
        maybe_file: bool,
    ) -> Result<Self, Failure> {
        let first = reader.fill_buf().map_err(|error| Failure::io(name, &error))?;
        let reader: Box<dyn BufRead> = if first.starts_with(&GZIP) {
            Box::new(BufReader::new(MultiGzDecoder::new(reader)))
        } else {
            Box::new(reader)
        };
        Ok(Self { name: name.to_owned(), reader, line: 0, maybe_file })
    }

    /// Reads the next line into `line`; false at the end.
    pub fn next(&mut self, line: &mut String) -> Result<bool, Failure> {
        if signal::caught() {
            return Err(Failure::interrupted());
        }
        self.line += 1;
        let mut bytes = std::mem::take(line).into_bytes();
        bytes.clear();
        let mut limited = (&mut self.reader).take(LINE_MAX_BYTES);
        let read = limited.read_until(b'\n', &mut bytes);
        let read = read.map_err(|error| Failure::io(self.place(), &error))?;
        if read as u64 == LINE_MAX_BYTES && bytes.last() != Some(&b'\n') {
            let what = format!("{}: longer than {LINE_MAX_BYTES} bytes", self.place());
            return Err(Failure::usage(what));
        }
        *line = String::from_utf8(bytes)
            .map_err(|_| Failure::usage(format!("{}: not text in UTF-8", self.place())))?;
        Ok(read != 0)
    }

    fn place(&self) -> String {
        if self.name == ARGUMENT {
            return self.name.clone();
        }
        format!("{}, line {}", self.name, self.line)
    }

    /// The failure for an error in the last line.
    pub fn wrong(&self, error: &impl Display) -> Failure {
        let file = if self.maybe_file { "; and there is no such file" } else { "" };
        Failure::usage(format!("{}: {error}{file}", self.place()))
    }
}
