//! Encodes names with fields to words, symbols and ten-bit codes.

use super::input::Input;
use super::show::Out;
use super::{DecodeArgs, Scrambling};
use crate::error::Failure;
use serde_json::json;
use spfe_trace::encode::TextEncoder;
use spfe_trace::name;
use spfe_trace::text::{GroupBits, SymbolNames};

/// Encodes all of the input, one word per line or between semicolons.
pub fn run(args: &DecodeArgs, mut input: Input, out: &mut Out) -> Result<(), Failure> {
    let mut encoder = TextEncoder::new(args.scrambling == Some(Scrambling::On));
    let (mut code, mut line) = (spfe_trace::symbols::SymbolEncoder::default(), String::new());
    while input.next(&mut line)? {
        let line = line.split('#').next().unwrap_or_default();
        let mut before = 0;
        for form in line.split(';') {
            let word = encoder.encode(form).map_err(|mut error| {
                error.column += before;
                input.wrong(&error)
            })?;
            before += form.chars().count() + 1;
            let Some(word) = word else { continue };
            let (symbols, codes) = (SymbolNames(word), GroupBits(code.word(word)));
            if out.json {
                let object = json!({
                    "word": format!("{:08X}", word.bits),
                    "k": word.k,
                    "symbols": symbols.to_string(),
                    "codes": codes.to_string(),
                    "text": name(word).to_string(),
                });
                out.line(format_args!("{object}"));
            } else {
                out.line(format_args!("{word}  {symbols:<23}  {codes}"));
            }
        }
    }
    Ok(())
}
