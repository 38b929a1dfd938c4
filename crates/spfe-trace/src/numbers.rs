//! Sequence numbers of one direction, as an observer sees them (50-11C 5.7.6.3, 5.7.7).
//!
//! A receiver accepts only the next number and asks for the rest again. An observer wants to see
//! every frame, to report what is wrong with its number, and to recognise resends.

use std::collections::VecDeque;

use crate::event::{TraceEvent, TraceEventKind, TraceSink, TraceViolation};

/// Maximum number of unacknowledged items.
pub(crate) const OUTSTANDING_MAX: usize = 127;
/// After this many words a sender will no longer resend missing items.
const PATIENCE_WORDS: u64 = 8192;

/// Digest of a numbered item, to recognise its resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a word of the content.
    #[inline]
    pub const fn add(self, value: u64) -> Self {
        Self((self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[derive(Clone, Copy, Debug)]
struct Item {
    seq: u8,
    digest: Digest,
}

/// Classification of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Whether the item was seen before.
    pub resent: bool,
    /// Whether the item is new, and nothing before it is missing.
    pub accepted: bool,
}

/// Follows the numbers of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    last: Option<u8>,
    retry: bool,
    damaged: bool,
    /// Word period since which items are missing, and their number.
    lost: Option<(u64, u8)>,
    /// Accepted items, oldest first.
    history: VecDeque<Item>,
    /// Accepted items that will be sent again.
    pending: VecDeque<Item>,
}

const fn negative(seq: u8) -> bool {
    seq & 0x80 != 0
}

/// Distance between two counts, 0 to 127.
pub(crate) const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) & 0x7f
}

/// The next number.
pub(crate) const fn next(seq: u8) -> u8 {
    seq & 0x80 | seq.wrapping_add(1) & 0x7f
}

impl Numbers {
    /// Starts again after a link reset: the next item has number 1.
    pub fn reset(&mut self) {
        *self = Self { last: Some(0), ..Self::default() };
    }

    /// Processes a RETRY.
    pub fn retry(&mut self) {
        self.retry = true;
    }

    /// Words were lost, possibly with items.
    pub fn damage(&mut self) {
        self.damaged = true;
    }

    /// Whether items are missing now.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Processes an EDF, EBF or FCT with a good CRC.
    pub fn item(&mut self, seq: u8, digest: Digest, at: u64, sink: &mut TraceSink<'_>) -> Verdict {
        self.check(seq, next, seq.wrapping_sub(1), at, sink);
        self.last = Some(seq);
        if self.lost.is_some() {
            return Verdict { resent: false, accepted: false };
        }
        let before = self.pending.iter().position(|item| item.digest == digest);
        let resent = before.is_some_and(|place| self.pending.remove(place).is_some());
        if self.history.len() > OUTSTANDING_MAX {
            self.history.pop_front();
        }
        self.history.push_back(Item { seq, digest });
        Verdict { resent, accepted: !resent }
    }

    /// Processes a SIF or FULL with a good CRC.
    pub fn current(&mut self, seq: u8, at: u64, sink: &mut TraceSink<'_>) {
        self.check(seq, |last| last, seq, at, sink);
        self.last = Some(seq);
    }

    /// Checks a number against the one before. `base` is the count before the first number of this
    /// polarity.
    fn check(
        &mut self,
        seq: u8,
        follow: impl Fn(u8) -> u8,
        base: u8,
        at: u64,
        sink: &mut TraceSink<'_>,
    ) {
        let retry = core::mem::take(&mut self.retry);
        let damaged = core::mem::take(&mut self.damaged);
        let Some(last) = self.last else { return };
        let mut violation = |what| sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
        let turned = negative(seq) != negative(last);
        let expected = follow(last);
        if retry || turned {
            if retry && !turned && !damaged {
                violation(TraceViolation::RetryPolarity { got: seq });
            }
            if !retry && !damaged {
                violation(TraceViolation::PolarityWithoutRetry { before: last, got: seq });
            }
            let goes_on = distance(expected, seq) == 0;
            if retry || damaged || !goes_on {
                self.restart(last, base);
            }
            self.found(at, sink, !retry && goes_on);
        } else if seq != expected {
            if damaged {
                let missing = distance(expected, seq);
                self.lost = Some((at, missing.saturating_add(self.lost.map_or(0, |l| l.1))));
            } else {
                violation(TraceViolation::Sequence { expected, got: seq });
            }
        } else if self.lost.is_some_and(|(since, _)| at.saturating_sub(since) > PATIENCE_WORDS) {
            self.found(at, sink, true);
        }
    }

    /// Nothing is missing from here on. `never`: the missing items never came.
    fn found(&mut self, at: u64, sink: &mut TraceSink<'_>, never: bool) {
        if let Some((_, count)) = self.lost.take()
            && never
        {
            sink(TraceEvent { at, what: TraceEventKind::Missing { count } });
        }
    }

    /// Everything after a count is sent again with new numbers.
    fn restart(&mut self, last: u8, base: u8) {
        let outstanding = distance(base, last);
        let history = core::mem::take(&mut self.history);
        let again = history
            .into_iter()
            .filter(|item| (1..=outstanding).contains(&distance(base, item.seq)));
        let before = core::mem::take(&mut self.pending);
        self.pending = again.chain(before).take(2 * OUTSTANDING_MAX).collect();
    }
}
