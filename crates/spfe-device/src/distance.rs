//! The distance between the processors of both ends of a flow: the time of a cache line on its way
//! between them.
//!
//! A virtual machine may move, and a thread as well, so the ends measure it again and again. The
//! holder of the seat stores a number, and the far end stores the same number as its answer when it
//! polls. After the first answer of a round it waits for the others, so that those are as quick as
//! the processors allow. Both sides wait for a bounded time.

use crate::shared::FlowShared;
use spfe_ring::sync::Ordering;

/// Questions of a round. The first one waits until the far end polls, so it is not a measurement.
const QUESTIONS: u32 = 4;
/// How long a round may take, ns. A far end that polls answers within a fraction of it.
const PATIENCE_NS: u64 = 4_000;
/// Looks at a line between two readings of the clock, and of a far end that waits for the next
/// question.
const LOOKS: u32 = 16;
const ANSWER_LOOKS: u32 = 512;
/// Longest time of a cache line with which both ends are near, ns. Processors with a common cache
/// take 40 to 70 ns, others 150 ns and more.
const NEAR_NS: u64 = 110;
/// Decisions between two rounds: at first and after a change, and at most.
const FEW: u32 = 16;
const MOST: u32 = 4096;

/// What a runner knows of the distance to the far end.
#[derive(Default)]
pub struct Distance {
    near: bool,
    /// Decisions for which this holds, and how many of them there were after the last round.
    left: u32,
    lasts: u32,
}

impl Distance {
    /// Whether the far end is near and polls. `measure` returns the time of a line, or `None` if
    /// the far end does not answer.
    pub fn is_near(&mut self, measure: impl FnOnce() -> Option<u64>) -> bool {
        if self.left == 0 {
            let near = measure().is_some_and(|ns| ns <= NEAR_NS);
            self.lasts = if near == self.near { (2 * self.lasts).clamp(FEW, MOST) } else { FEW };
            (self.near, self.left) = (near, self.lasts);
        }
        self.left -= 1;
        self.near
    }
}

/// Holder of the seat: measures the time of a cache line, ns. `None` if the far end does not answer
/// in time. `now` returns device time.
#[cold]
pub fn measure(flow: &FlowShared, mut now: impl FnMut() -> u64) -> Option<u64> {
    let mut from = now();
    let deadline = from + PATIENCE_NS;
    let mut trip = u64::MAX;
    // Nothing is published with the numbers, so relaxed accesses are enough.
    let first = flow.asked.load(Ordering::Relaxed).wrapping_add(QUESTIONS) / QUESTIONS * QUESTIONS;
    for question in 1..=QUESTIONS {
        let number = first.wrapping_add(question);
        flow.asked.store(number, Ordering::Relaxed);
        let mut looks = 0u32;
        while flow.answered.load(Ordering::Relaxed) != number {
            looks += 1;
            if looks.is_multiple_of(LOOKS) && now() >= deadline {
                return None;
            }
        }
        let at = now();
        if question > 1 {
            trip = trip.min(at.saturating_sub(from));
        }
        from = at;
    }
    Some(trip / 2)
}

/// The far end: answers a question that differs from the last one, and the others of its round.
/// `last` is the last number that this end has seen.
#[inline(always)]
pub fn answer(flow: &FlowShared, last: &mut u32) {
    if flow.asked.load(Ordering::Relaxed) != *last {
        answer_round(flow, last);
    }
}

#[cold]
fn answer_round(flow: &FlowShared, last: &mut u32) {
    for _ in 0..ANSWER_LOOKS {
        let number = flow.asked.load(Ordering::Relaxed);
        if number != *last {
            *last = number;
            flow.answered.store(number, Ordering::Relaxed);
            if number.is_multiple_of(QUESTIONS) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Option<u64> = Some(NEAR_NS);
    const FAR: Option<u64> = Some(NEAR_NS + 1);

    /// Decides `count` times with this answer. Returns the number of rounds.
    fn rounds(distance: &mut Distance, count: u32, answer: Option<u64>) -> u32 {
        let mut rounds = 0;
        for _ in 0..count {
            distance.is_near(|| {
                rounds += 1;
                answer
            });
        }
        rounds
    }

    #[test]
    fn near_ends_that_answer_share_and_others_do_not() {
        for (answer, near) in [(NEAR, true), (FAR, false), (None, false)] {
            let mut distance = Distance::default();
            assert_eq!(distance.is_near(|| answer), near, "{answer:?}");
        }
    }

    #[test]
    fn rounds_become_rare_while_nothing_changes() {
        for answer in [NEAR, FAR, None] {
            let mut distance = Distance::default();
            assert_eq!(rounds(&mut distance, FEW, answer), 1, "{answer:?}");
            rounds(&mut distance, 4 * MOST, answer);
            assert!(rounds(&mut distance, 4 * MOST, answer) <= 5, "{answer:?}");
        }
    }

    #[test]
    fn a_change_is_noticed_and_watched() {
        for other in [FAR, None] {
            let mut distance = Distance::default();
            rounds(&mut distance, 4 * MOST, NEAR);
            // What the last round found holds until the next one.
            for _ in 0..distance.left {
                assert!(distance.is_near(|| unreachable!("it was measured not long ago")));
            }
            assert_eq!(rounds(&mut distance, FEW, other), 1);
            assert!(!distance.near);
            assert!(distance.is_near(|| NEAR), "it is measured again after few decisions");
        }
    }

    #[test]
    fn nobody_answers() {
        let flow = Box::<FlowShared>::default();
        let mut time = 0;
        let mut readings = 0;
        let ns = measure(&flow, || {
            readings += 1;
            time += PATIENCE_NS / 4;
            time
        });
        assert_eq!((ns, readings), (None, 5));
    }

    #[test]
    fn a_round_is_timed_without_its_first_question() {
        let flow = Box::<FlowShared>::default();
        let mut last = 0;
        for round in 0..3 {
            // Before each question is answered its time passes, and none until the next one.
            let mut trips = [0, 500, 0, 90, 0, 70, 0, 100, 0].into_iter();
            let mut time = 0;
            let ns = measure(&flow, || {
                answer(&flow, &mut last);
                time += trips.next().expect("two readings for each question");
                time
            });
            assert_eq!((ns, trips.next()), (Some(35), None), "round {round}");
        }
    }

    #[test]
    fn answers_to_any_number_end() {
        let flow = Box::<FlowShared>::default();
        let mut last = 0;
        for number in [1, 2, 7, 4, u32::MAX, 0, 1 << 31] {
            flow.asked.store(number, Ordering::Relaxed);
            answer(&flow, &mut last);
            assert_eq!((last, flow.answered.load(Ordering::Relaxed)), (number, number));
        }
    }
}
