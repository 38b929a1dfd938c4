//! Many word periods at once, see [`crate::burst`].

use super::{Lane, SyncState};
use crate::burst::PERIODS;
use crate::control::ControlWord;
use crate::word::{Word, k};

const SKIP: Word = ControlWord::Skip.encode();
const IDLE: Word = ControlWord::Idle.encode();

/// What a lane does with a received word that is not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneWord {
    /// It is for the layers above.
    Passes,
    /// It fills a word period.
    Fills,
    /// It is for the lane, and may change its state.
    Stays,
}

impl LaneWord {
    #[inline]
    pub fn of(word: Word) -> Self {
        match word {
            SKIP | IDLE => Self::Fills,
            Word { k: 1, .. } => match word.symbols() {
                [k::INIT_COMMA | k::ERROR, ..] => Self::Stays,
                // LANE is the second symbol of all words of the lane layer.
                [k::COMMA, second, ..] if second == SKIP.symbol(1) => Self::Stays,
                _ => Self::Passes,
            },
            _ => Self::Passes,
        }
    }
}

impl Lane {
    /// Whether data passes in both directions without a change of state for the length of a burst.
    #[inline(always)]
    pub fn is_passing(&self) -> bool {
        let parameters = &self.parameters;
        let sends = parameters.tx_en && !parameters.far_end_parallel_loopback && !self.rx_only;
        let calm = self.leak as usize > PERIODS && self.sync.state() == SyncState::Ready;
        sends && calm && self.is_steady()
    }

    /// Word periods for which an active lane takes words of the layer above.
    #[inline(always)]
    pub const fn periods_to_skip(&self) -> u64 {
        self.skip_left
    }

    /// Accounts for words that were sent, at most [`Lane::periods_to_skip`].
    #[inline(always)]
    pub fn pass_sent(&mut self, words: &[Word]) {
        self.skip_left -= words.len() as u64;
        self.sent = words.last().copied().or(self.sent);
    }

    /// The word that the lane hands up next. Each word comes out one period after it arrived.
    #[inline(always)]
    pub const fn held(&self) -> Word {
        self.sync.held()
    }

    /// Accounts for the word periods of a burst. `words` are those that the lane handed up, and the
    /// one that arrived last.
    #[inline(always)]
    pub fn pass_received(&mut self, words: &[Word]) {
        let Some((last, passed)) = words.split_last() else { return };
        if passed.is_empty() {
            return;
        }
        self.line = Some(*last);
        self.leak -= passed.len() as u32;
        // SKIP may stand between the words that stop a lane.
        if passed.iter().any(|word| *word != SKIP) {
            self.seen.stop(None);
        }
        self.sync.hold(*last);
    }
}
