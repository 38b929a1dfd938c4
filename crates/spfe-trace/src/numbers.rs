//! Sequence numbers of one direction, as an observer sees them (50-11C 5.7.6.3, 5.7.7).
//!
//! A receiver takes the next number only and asks for the rest again. An observer wants every
//! frame by name, says what was wrong with its number, and knows those it has seen before when
//! they are sent again.

use std::collections::VecDeque;

use crate::event::{TraceEvent, TraceEventKind, TraceSink, TraceViolation};

/// Most items without an ACK.
pub(crate) const OUTSTANDING_MAX: usize = 127;
/// A sender that has not come back to what is missing after so many words never does.
const PATIENCE_WORDS: u64 = 8192;

/// What a numbered item was, to know it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(u64);

impl Digest {
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// With more of its content.
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

/// What is to be made of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// It was seen before.
    pub resent: bool,
    /// It is new, and nothing before it is missing.
    pub accepted: bool,
}

/// Follows the numbers of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    last: Option<u8>,
    retry: bool,
    damaged: bool,
    /// Since when an item is missing, and how many are.
    lost: Option<(u64, u8)>,
    /// Accepted items, the oldest first.
    history: VecDeque<Item>,
    /// Those of them that are to be sent again.
    pending: VecDeque<Item>,
}

const fn negative(seq: u8) -> bool {
    seq & 0x80 != 0
}

/// From one count to another, 0 to 127.
pub(crate) const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) & 0x7f
}

/// The number after one.
pub(crate) const fn next(seq: u8) -> u8 {
    seq & 0x80 | seq.wrapping_add(1) & 0x7f
}

impl Numbers {
    /// A link reset: the next item has number 1.
    pub fn reset(&mut self) {
        *self = Self { last: Some(0), ..Self::default() };
    }

    /// RETRY.
    pub fn retry(&mut self) {
        self.retry = true;
    }

    /// Words were lost, perhaps items with them.
    pub fn damage(&mut self) {
        self.damaged = true;
    }

    /// Whether items are missing now.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// An EDF, EBF or FCT with a good CRC.
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

    /// A SIF or FULL with a good CRC.
    pub fn current(&mut self, seq: u8, at: u64, sink: &mut TraceSink<'_>) {
        self.check(seq, |last| last, seq, at, sink);
        self.last = Some(seq);
    }

    /// Judges a number by the one before; `base` is the count before the first of this polarity.
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

    /// Nothing is missing from here on; what was, perhaps never comes.
    fn found(&mut self, at: u64, sink: &mut TraceSink<'_>, never: bool) {
        if let Some((_, count)) = self.lost.take()
            && never
        {
            sink(TraceEvent { at, what: TraceEventKind::Missing { count } });
        }
    }

    /// Everything after a count is sent again, with new numbers.
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
