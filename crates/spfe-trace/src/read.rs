//! Text tokens to words.

use spfe_link::word::Word;

use crate::symbols::{DecodedWord, WordAssembler};
use crate::text::{TextError, TextToken, split, token_at};

/// Converts lines of text to words. A line may hold words, or four symbols or four codes per word.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordReader {
    symbols: WordAssembler,
    last: Option<DecodedWord>,
}

impl WordReader {
    /// Creates a reader before the first line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of symbols that wait for the rest of their word, 0 to 3.
    pub const fn held(&self) -> u8 {
        self.symbols.held()
    }

    /// Passes the words of a line to `sink`, until it returns false.
    ///
    /// # Errors
    /// An invalid token, a word among the symbols of another word, or a repetition of nothing.
    pub fn line(
        &mut self,
        line: &str,
        sink: &mut dyn FnMut(DecodedWord) -> bool,
    ) -> Result<(), TextError> {
        for (column, part) in split(line) {
            let wrong = |what| TextError::new(column, part, what);
            let more = match token_at(column, part)? {
                TextToken::Word(_) if self.held() != 0 => {
                    return Err(wrong("the word before it lacks symbols"));
                }
                TextToken::Word(word) => self.give(Some(whole(word)), sink),
                TextToken::Symbol { value, is_k } => {
                    let decoded = self.symbols.push_symbol(value, is_k);
                    self.give(decoded, sink)
                }
                TextToken::Codes { bits, count } => self.codes(bits, count, sink),
                TextToken::Times(times) => {
                    let last = self.last.take().filter(|_| self.held() == 0);
                    let last = last.ok_or_else(|| wrong("there is no word before it to repeat"))?;
                    (1..times).all(|_| sink(last))
                }
            };
            if !more {
                break;
            }
        }
        Ok(())
    }

    fn give(
        &mut self,
        decoded: Option<DecodedWord>,
        sink: &mut dyn FnMut(DecodedWord) -> bool,
    ) -> bool {
        self.last = decoded;
        decoded.is_none_or(sink)
    }

    fn codes(&mut self, bits: u64, count: u8, sink: &mut dyn FnMut(DecodedWord) -> bool) -> bool {
        (0..count).all(|index| {
            let decoded = self.symbols.push((bits >> (10 * index)) as u16);
            self.give(decoded, sink)
        })
    }
}

const fn whole(word: Word) -> DecodedWord {
    DecodedWord { word, not_in_table: 0, disparity: 0, dropped: 0 }
}
