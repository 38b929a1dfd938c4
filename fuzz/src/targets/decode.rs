//! `spfe decode`: recorded traffic in every format, and names to encode, as files and as gzip.

use crate::context::Context;
use crate::decode::input::Input as Lines;
use crate::decode::show::Out;
use crate::decode::{DecodeArgs, convert};
use arbitrary::Arbitrary;
use clap::Parser;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Cursor, Write};

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: DecodeArgs,
}

#[derive(Arbitrary, Debug)]
struct Input {
    format: u8,
    lanes: u8,
    scrambling: Option<bool>,
    plain_crc: bool,
    /// Frames instead of words, JSON instead of text, compressed: a bit each.
    ways: u8,
    text: Text,
}

#[derive(Arbitrary, Debug)]
enum Text {
    Bytes(Vec<u8>),
    /// Numbers of words that belong to the formats.
    Words(Vec<u8>),
}

const FORMATS: [&str; 6] = ["words", "recording", "characters", "bits", "signals", "--encode"];

/// Words of all formats.
const WORDS: [&str; 64] = [
    "\n", " ", ";", "#", "x2", "x64", "x0", "7F7FCEFC/1", "7F7FCEFC", "AC01A2FC", "000350FC/1", "1",
    "0", "K28.7", "K28.5", "D14.6", "D0.0", "D31.7", "0011111000", "1100000111", "0x0F8", "0x3FF",
    "00111110001100000111", "NULL", "FCT", "EOP", "EEP", "41", "TIME=5", "INT=3", "ACK=3",
    "CODE=0xC0", "01", "10", "11", "00", "0110100", "SDF vc=3", "DATA 01 02 03 EOP", "EDF seq=+1",
    "SBF channel=3 type=1", "EBF seq=+1", "SIF", "SKIP", "IDLE", "INIT1", "INIT2",
    "INIT3 capability=0x01", "ACK seq=0x01", "NACK seq=0x81", "FULL seq=0", "FCT seq=+1 vc=2",
    "RETRY", "ACTIVE lanes=3", "ALIGN lane=1 lanes=2", "STANDBY reason=1", "LOST_SIGNAL cause=2",
    "RXERR", "PAD", "iINIT1", "iINIT2", "BCDF0000 0 ", "50BC1234 1 ", "ffffffff F ",
];

impl Text {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Words(numbers) => {
                let words = numbers.iter().map(|number| WORDS[usize::from(number % 64)]);
                words.flat_map(|word| [word, " "]).collect::<String>().into_bytes()
            }
        }
    }
}

/// Whether the text repeats a word more than 9999 times, which only takes long.
fn repeats(text: &[u8]) -> bool {
    let mut digits = 0;
    text.iter().any(|byte| {
        digits = match byte {
            b'x' | b'X' => 1,
            b'0'..=b'9' if digits != 0 => digits + 1,
            _ => 0,
        };
        digits > 5
    })
}

crate::target!(|input: Input| {
    let text = input.text.bytes();
    if repeats(&text) {
        return;
    }
    let format = FORMATS[usize::from(input.format) % FORMATS.len()];
    let encode = format.starts_with('-');
    let lanes = if format == "words" { 1 + input.lanes % 16 } else { 1 };
    let mut words = vec!["decode".to_owned(), format!("--lanes={lanes}")];
    words.push(if encode { format.to_owned() } else { format!("--format={format}") });
    if let Some(on) = input.scrambling {
        words.push(format!("--scrambling={}", if on { "on" } else { "off" }));
    }
    if input.plain_crc {
        words.push("--plain-crc".to_owned());
    }
    if input.ways & 1 != 0 && !encode {
        words.push("--frames".to_owned());
    }
    let Command { args } = Command::parse_from(words);
    let context = Context { json: input.ways & 2 != 0, ..Context::default() };
    let bytes = if input.ways & 12 == 12 {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&text).expect("memory");
        packed.finish().expect("memory")
    } else {
        text
    };
    let lines = match Lines::new("input", Cursor::new(bytes), false) {
        Ok(lines) => lines,
        Err(failure) => {
            assert!(!failure.what.is_empty());
            return;
        }
    };
    if let Err(failure) = convert(&args, &context, lines, &mut Out::new(context.json, std::io::sink())) {
        assert!(failure.kind.code() != 0 && !failure.what.is_empty());
    }
});
