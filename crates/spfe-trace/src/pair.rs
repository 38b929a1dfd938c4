//! Both directions of a link: checks acknowledgements, credit and resends.

use std::collections::VecDeque;

use spfe_link::control::ControlWord;
use spfe_link::word::Word;

use crate::config::ListenerConfig;
use crate::event::{TraceEvent, TraceEventKind, TraceSink, TraceViolation};
use crate::frame::VCS;
use crate::listener::LinkListener;
use crate::numbers::{OUTSTANDING_MAX, distance, next};

/// Words of credit per FCT at a multiplier of 1.
const FCT_WORDS: u64 = 64;
/// Maximum number of FCTs remembered during a frame; with more, the credit check is less strict.
const RECENT_FCTS: usize = 32;
/// Word periods after damage in which either end may know more or less than the observer.
const DAMAGE_WORDS: u64 = 8192;

/// Direction on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkDirection {
    /// From the first end to the second.
    AToB,
    /// From the second end to the first.
    BToA,
}

impl LinkDirection {
    /// Both directions, in the order of the parameters of [`LinkPair::push`].
    pub const BOTH: [Self; 2] = [Self::AToB, Self::BToA];

    /// Name of the direction.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AToB => "A>B",
            Self::BToA => "B>A",
        }
    }
}

/// State of the sender of one direction.
#[derive(Clone, Debug)]
struct SenderState {
    /// Last number that it sent.
    last: Option<u8>,
    /// Last number that was acknowledged to it.
    acked: Option<u8>,
    /// Number of the last NACK that was sent to it.
    nack: Option<u8>,
    retry: bool,
    /// Word period in which its words were last damaged.
    damaged: Option<u64>,
    /// Words were lost since the last number.
    gap: bool,
    /// Words that it may send on each virtual channel, if its link reset was seen.
    credit: Option<[u64; VCS]>,
    /// Latest FCTs for it: word period, virtual channel, words.
    recent: VecDeque<(u64, u8, u64)>,
}

impl SenderState {
    const fn new() -> Self {
        Self {
            last: None,
            acked: None,
            nack: None,
            retry: false,
            damaged: None,
            gap: false,
            credit: None,
            recent: VecDeque::new(),
        }
    }

    fn reset(&mut self) {
        *self = Self { last: Some(0), acked: Some(0), credit: Some([0; VCS]), ..Self::new() };
    }

    /// Whether its words were damaged recently.
    fn is_damaged(&self, at: u64) -> bool {
        self.damaged.is_some_and(|since| at.saturating_sub(since) < DAMAGE_WORDS)
    }

    /// Processes a number that it sent. `base` is the count before, if the number is the first of
    /// its polarity.
    fn number(
        &mut self,
        seq: u8,
        base: u8,
        lenient: bool,
        mut violation: impl FnMut(TraceViolation),
    ) {
        let retry = core::mem::take(&mut self.retry);
        let gap = core::mem::take(&mut self.gap);
        let turned = self.last.is_some_and(|last| (last ^ seq) & 0x80 != 0);
        if retry || turned {
            match self.nack.take() {
                Some(nack) if distance(nack, base) != 0 && !gap => violation(if retry {
                    TraceViolation::RetryFrom { expected: next(nack) ^ 0x80, got: seq }
                } else {
                    TraceViolation::NotResent { from: next(nack), got: seq }
                }),
                None if retry && !lenient => violation(TraceViolation::RetryWithoutNack),
                _ => {}
            }
        }
        if let (Some(acked), Some(last)) = (self.acked, self.last)
            && usize::from(distance(acked, last)) == OUTSTANDING_MAX
            && distance(last, seq) == 1
        {
            violation(TraceViolation::TooManyOutstanding);
            self.acked = Some(seq);
        }
        self.last = Some(seq);
    }

    /// Processes an FCT for it.
    fn grant(&mut self, vc: u8, words: u64, at: u64) {
        let credit = self.credit.as_mut().and_then(|credit| credit.get_mut(usize::from(vc)));
        let Some(credit) = credit else { return };
        *credit = credit.saturating_add(words);
        if self.recent.len() == RECENT_FCTS {
            self.recent.pop_front();
        }
        self.recent.push_back((at, vc, words));
    }

    /// Charges a data frame that it began at a given time: the credit at that time must suffice.
    fn spend(
        &mut self,
        vc: u8,
        words: u64,
        from: u64,
        lenient: bool,
        mut violation: impl FnMut(TraceViolation),
    ) {
        let credit = self.credit.as_mut().and_then(|credit| credit.get_mut(usize::from(vc)));
        let Some(credit) = credit else { return };
        let since = self.recent.iter().filter(|(at, to, _)| *at > from && *to == vc);
        let then = credit.saturating_sub(since.map(|(_, _, words)| words).sum());
        if then < words && !lenient {
            violation(TraceViolation::NoCredit { vc, words: (words - then) as u32 });
        }
        *credit = credit.saturating_sub(words);
    }

    /// Processes an ACK or NACK for it.
    fn acknowledge(
        &mut self,
        seq: u8,
        is_nack: bool,
        lenient: bool,
        mut violation: impl FnMut(TraceViolation),
    ) {
        let Some(last) = self.last else { return };
        // An acknowledgement of the other polarity is ignored.
        if (last ^ seq) & 0x80 != 0 {
            return;
        }
        if let Some(acked) = self.acked
            && distance(acked, seq) > distance(acked, last)
        {
            if !lenient {
                violation(TraceViolation::AckUnknown { seq });
            }
            return;
        }
        self.acked = Some(seq);
        if is_nack {
            self.nack = Some(seq);
        }
    }
}

/// Decodes both directions of a link, recorded with the same clock.
#[derive(Clone, Debug)]
pub struct LinkPair {
    listeners: [LinkListener; 2],
    flows: [SenderState; 2],
}

impl LinkPair {
    /// Creates a pair that has received nothing. Both directions use the same settings.
    pub fn new(config: &ListenerConfig) -> Self {
        Self {
            listeners: [LinkListener::new(config), LinkListener::new(config)],
            flows: [SenderState::new(), SenderState::new()],
        }
    }

    /// Listener of a direction.
    pub fn listener(&self, direction: LinkDirection) -> &LinkListener {
        let [a, b] = &self.listeners;
        if direction == LinkDirection::AToB { a } else { b }
    }

    /// Processes one word period: words from the first end to the second, then words back, as for
    /// [`LinkListener::push`].
    pub fn push(
        &mut self,
        a: &[Option<Word>],
        b: &[Option<Word>],
        sink: &mut dyn FnMut(LinkDirection, TraceEvent<'_>),
    ) {
        let Self { listeners: [to_b, to_a], flows: [from_a, from_b] } = self;
        to_b.push(a, &mut |event| {
            check_event(event, from_a, from_b, &mut |e| sink(LinkDirection::AToB, e))
        });
        to_a.push(b, &mut |event| {
            check_event(event, from_b, from_a, &mut |e| sink(LinkDirection::BToA, e))
        });
    }

    /// Ends the input.
    pub fn finish(&mut self, sink: &mut dyn FnMut(LinkDirection, TraceEvent<'_>)) {
        for (listener, direction) in self.listeners.iter_mut().zip(LinkDirection::BOTH) {
            listener.finish(&mut |event| sink(direction, event));
        }
    }
}

/// Checks an event of one direction against both: `own` is its sender, `other` its receiver.
fn check_event(
    event: TraceEvent<'_>,
    own: &mut SenderState,
    other: &mut SenderState,
    sink: &mut TraceSink<'_>,
) {
    let at = event.at;
    let lenient = other.is_damaged(at) || own.is_damaged(at);
    let mut found = [None; 3];
    let mut slots = found.iter_mut();
    let mut violation = |what| {
        if let Some(slot) = slots.next() {
            *slot = Some(what);
        }
    };
    match event.what {
        TraceEventKind::LinkReset => own.reset(),
        TraceEventKind::Aligned { .. } | TraceEventKind::Phase { .. } => own.gap = true,
        TraceEventKind::DataFrame(frame) => {
            own.number(frame.seq, frame.seq.wrapping_sub(1), lenient, &mut violation);
            if !frame.resent {
                own.spend(frame.vc, frame.words.len() as u64, frame.from, lenient, &mut violation);
            }
        }
        TraceEventKind::BroadcastFrame(frame) => {
            own.number(frame.seq, frame.seq.wrapping_sub(1), lenient, &mut violation);
        }
        TraceEventKind::IdleFrame(_) => {}
        TraceEventKind::Token { control, resent } => match control {
            ControlWord::Fct { multiplier, vc, seq, .. } => {
                own.number(seq, seq.wrapping_sub(1), lenient, &mut violation);
                if !resent {
                    other.grant(vc, FCT_WORDS * u64::from(multiplier), at);
                }
            }
            ControlWord::Full { seq, .. } => own.number(seq, seq, lenient, &mut violation),
            ControlWord::Retry => own.retry = true,
            ControlWord::Ack { seq, .. } => other.acknowledge(seq, false, lenient, &mut violation),
            ControlWord::Nack { seq, .. } => other.acknowledge(seq, true, lenient, &mut violation),
            _ => {}
        },
        TraceEventKind::Violation(
            TraceViolation::DamagedWord { .. }
            | TraceViolation::Crc8 { .. }
            | TraceViolation::Crc16 { .. }
            | TraceViolation::Frame { .. }
            | TraceViolation::UnknownControl { .. }
            | TraceViolation::Skew
            | TraceViolation::Misaligned
            | TraceViolation::InvalidRow,
        ) => (own.damaged, own.gap) = (Some(at), true),
        _ => {}
    }
    sink(event);
    for what in found.into_iter().flatten() {
        sink(TraceEvent { at, what: TraceEventKind::Violation(what) });
    }
}
