//! Word synchronisation and RXERR (50-11C 5.5.7, 5.5.8).

use super::mib::LaneConfig;
use crate::word::{Word, k};

/// State of the receive synchronisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncState {
    /// No word boundary: every word counts as RXERR.
    #[default]
    LostSync,
    /// Errors came recently.
    CheckSync,
    /// Synchronised.
    Ready,
}

/// Receive synchronisation of a lane. Each word comes out one call late, because an erroneous word
/// turns the word before it into an RXERR.
#[derive(Clone, Copy, Debug)]
pub struct WordSync {
    state: SyncState,
    errors: u8,
    held: Word,
    preceding: bool,
    error_words: u8,
    counts_first: bool,
}

impl WordSync {
    /// Initial state: not synchronised.
    pub const fn new(config: &LaneConfig) -> Self {
        Self {
            state: SyncState::LostSync,
            errors: 0,
            held: Word::RXERR,
            preceding: config.rxerr_preceding,
            error_words: config.sync_error_words,
            counts_first: config.sync_counts_first,
        }
    }

    /// Current state.
    pub const fn state(&self) -> SyncState {
        self.state
    }

    /// The word boundary moved: synchronisation is lost, and with it the word in progress. The word
    /// before it stays as it is (50-11C 5.5.7).
    pub fn realign(&mut self) {
        self.state = SyncState::LostSync;
        self.errors = 0;
    }

    /// Loses synchronisation: the lane was reset, or the receiver is off.
    pub fn lose(&mut self) {
        self.state = SyncState::LostSync;
        self.errors = 0;
        self.held = Word::RXERR;
    }

    /// Takes one word and returns the word before it.
    #[inline]
    pub fn receive(&mut self, raw: Word) -> Word {
        if self.state == SyncState::Ready && raw.k == 0 {
            return core::mem::replace(&mut self.held, raw);
        }
        self.receive_slowly(raw)
    }

    /// The word that comes out next.
    #[inline(always)]
    pub const fn held(&self) -> Word {
        self.held
    }

    /// Goes on after words without an error that were taken in Ready, the last of which is held.
    #[inline(always)]
    pub const fn hold(&mut self, last: Word) {
        self.held = last;
    }

    fn receive_slowly(&mut self, raw: Word) -> Word {
        let bad = has_error_symbol(raw);
        match self.state {
            SyncState::LostSync => {
                if !bad && raw.k & 1 != 0 && matches!(raw.symbol(0), k::COMMA | k::INIT_COMMA) {
                    self.state = SyncState::CheckSync;
                    self.errors = 0;
                }
                return core::mem::replace(&mut self.held, Word::RXERR);
            }
            SyncState::CheckSync if bad => self.error(1),
            SyncState::CheckSync => self.state = SyncState::Ready,
            SyncState::Ready if bad => {
                self.state = SyncState::CheckSync;
                self.errors = 0;
                self.error(u8::from(self.counts_first));
            }
            SyncState::Ready => {}
        }
        if bad {
            let before = core::mem::replace(&mut self.held, Word::RXERR);
            if self.preceding { Word::RXERR } else { before }
        } else {
            core::mem::replace(&mut self.held, raw)
        }
    }

    fn error(&mut self, count: u8) {
        self.errors = self.errors.saturating_add(count);
        if self.errors >= self.error_words {
            self.state = SyncState::LostSync;
        }
    }
}

/// Whether a symbol of the word is K0.0.
fn has_error_symbol(word: Word) -> bool {
    word.k != 0 && (0..4).any(|index| word.is_k(index) && word.symbol(index) == k::ERROR)
}
