//! `spfe decode`: decodes recorded traffic of a link, and encodes names to words.

mod counts;
mod encode;
mod event;
mod fibre;
pub mod input;
pub mod show;
mod wire;

use crate::context::Context;
use crate::error::Failure;
use crate::output::plural;
use clap::{Args, ValueEnum};
use input::Input;
use show::Out;

const EXAMPLES: &str = "\
Words and symbols:
  7F7FCEFC/1     a word: symbols 3 to 0 in hexadecimal, then the K mask (bit 0 for symbol 0)
  7F7FCEFC       without the mask: a control word if it can be one, data otherwise
  K28.7 D14.6    symbols; four make a word
  0011111000     ten bits in the order of the line (20, 30, 40: more symbols), or 0x0F8
  x64            repeats the word before it, 64 times in all

Characters (SpaceWire): NULL FCT EOP EEP 41 TIME=5 INT=3 ACK=3 CODE=0xC0, x64 to repeat.

Examples:
  spfe decode AC01A2FC 000350FC/1
  spfe decode --frames --format recording cnes_b2b.txt.gz
  spfe decode --encode 'SDF vc=3; DATA 01 02 03 EOP; EDF seq=+1'
  spfe decode --format bits --frames < bits.txt";

/// Decode words, symbols or characters of a link: names, frames, packets, violations.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DecodeArgs {
    /// A file (may be gzipped), - for standard input, or the words themselves [default: -].
    #[arg(value_name = "FILE|WORDS")]
    what: Vec<String>,
    /// Format of the input.
    #[arg(long, value_enum, default_value_t = Format::Words)]
    format: Format,
    /// Number of lanes: this many words form a row, lane 0 first.
    #[arg(long, value_name = "1-16", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    lanes: u8,
    /// Whether data frames are scrambled [default: as INIT3 says; scrambled without INIT3].
    #[arg(long, value_enum)]
    scrambling: Option<Scrambling>,
    /// Check the CRC-16 of the words before scrambling.
    #[arg(long)]
    plain_crc: bool,
    /// Show frames, packets and events instead of words.
    #[arg(long, conflicts_with = "encode")]
    frames: bool,
    /// Encode names with fields to words, symbols and ten-bit codes.
    #[arg(long)]
    encode: bool,
    /// Exit with code 1 if there is a violation.
    #[arg(long, conflicts_with = "encode")]
    check: bool,
}

/// Format of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// SpaceFibre words, symbols or ten-bit codes of one direction.
    Words,
    /// SpaceFibre words of both directions: WORD K WORD K [xN] on each line.
    Recording,
    /// SpaceWire characters of one direction.
    Characters,
    /// SpaceWire bits in the order of the wire.
    Bits,
    /// SpaceWire samples of data and strobe: 00, 01, 10 or 11.
    Signals,
}

/// Whether data frames are scrambled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Scrambling {
    /// Data frames are scrambled.
    On,
    /// Data frames are not scrambled.
    Off,
}

/// Runs `spfe decode`.
pub fn run(args: &DecodeArgs, context: &Context) -> Result<(), Failure> {
    let input = Input::open(&args.what, if args.encode { "; " } else { " " })?;
    let mut out = Out::new(context.json, std::io::stdout().lock());
    match convert(args, context, input, &mut out)? {
        count if args.check && count != 0 => Err(Failure::failed(plural(count, "violation"))),
        _ => Ok(()),
    }
}

/// Decodes or encodes an input, and returns the number of violations.
pub fn convert(
    args: &DecodeArgs,
    context: &Context,
    input: Input,
    out: &mut Out,
) -> Result<u64, Failure> {
    let multi = matches!(args.format, Format::Recording) || args.encode;
    if args.lanes > 1 && multi {
        let what = format!("--lanes {}: only --format words has more than one lane", args.lanes);
        return Err(Failure::usage(what));
    }
    let violations = match (args.encode, args.format) {
        (true, _) => encode::run(args, input, out).map(|()| 0),
        (_, Format::Words | Format::Recording) => fibre::run(args, context, input, out),
        _ => wire::run(args, context, input, out),
    };
    out.end()?;
    violations
}
