//! Reports events at the ends to the observer.
//!
//! As long as nothing changes, it checks the ends once in many word periods. After a fault it
//! checks them in every word period.

use super::LinkEnd;
use super::end::SpaceFibreEnd;
use crate::link::{EndEvent, Observer, Side};
use crate::time::Ps;
use spfe_link::datalink::{DataLinkErrors, LinkResetState, ReceiveError};
use spfe_link::lane::LaneState;
use spfe_link::multilane::Alignment;

/// Word periods between two checks while nothing happens.
const CALM: u64 = 64;
/// Word periods without a change until it returns to rare checks.
const NEAR: u64 = 4096;

#[derive(Clone, Copy, PartialEq)]
struct Seen<const L: usize> {
    lanes: [LaneState; L],
    alignment: (Alignment, u16, u16),
    reset: LinkResetState,
    errors: DataLinkErrors,
    retries: u64,
    receive: ReceiveError,
}

impl<const L: usize> Seen<L> {
    fn of(end: &SpaceFibreEnd<L>) -> Self {
        let (lanes, status) = (end.lanes.status(), end.data_link.latched());
        Self {
            lanes: core::array::from_fn(|lane| end.lanes.lanes()[lane].state()),
            alignment: (lanes.alignment, lanes.data_sending, lanes.data_receiving),
            reset: end.data_link.reset_state(),
            errors: status.errors,
            retries: status.error_recovery_attempts,
            receive: end.data_link.sequence().state(),
        }
    }
}

/// State of both ends at the last check, and the recovery from faults.
pub struct RecoveryWatch<const L: usize> {
    lanes: usize,
    seen: [Option<Seen<L>>; 2],
    /// Remaining word periods with a check in each.
    near: u64,
    /// For each end, the time of the fault it has to recover from, and whether its effect was seen.
    wrong: [Option<(Ps, bool)>; 2],
}

impl<const L: usize> RecoveryWatch<L> {
    pub const fn new(lanes: usize) -> Self {
        Self { lanes, seen: [None; 2], near: NEAR, wrong: [None; 2] }
    }

    /// Notes that a damaged word is on its way to an end.
    #[cold]
    pub fn damage(&mut self, side: Side, now: Ps) {
        self.near = NEAR;
        let wrong = &mut self.wrong[side as usize];
        if wrong.is_none() {
            *wrong = Some((now, false));
        }
    }

    /// Checks both ends. Returns the word periods until the next check.
    pub fn look(
        &mut self,
        now: Ps,
        link: u32,
        ends: &mut [LinkEnd<L>; 2],
        observer: &mut dyn Observer,
    ) -> u64 {
        self.near = self.near.saturating_sub(1);
        for side in Side::BOTH {
            let at = side as usize;
            let Some(end) = ends[at].exact() else { continue };
            let seen = Seen::of(end);
            if end.touched || !end.commands.is_empty() {
                self.near = NEAR;
                end.touched = false;
                for command in end.commands.drain(..) {
                    observer.event(now, link, side, EndEvent::Command(command));
                }
            }
            let before = self.seen[at].replace(seen);
            if before != Some(seen) {
                self.near = NEAR;
                tell(now, link, side, self.lanes, before.as_ref(), &seen, observer);
            }
            self.wrong[at] = match self.wrong[at] {
                Some((since, shown)) if end.is_healthy() => {
                    if shown {
                        let after_ps = now - since;
                        observer.event(now, link, side, EndEvent::Recovered { after_ps });
                    }
                    // The damaged word may still be on its way.
                    (!shown && self.near != 0).then_some((since, false))
                }
                Some((since, _)) => Some((since, true)),
                None => None,
            };
        }
        if self.near == 0 { CALM } else { 1 }
    }
}

const fn lane_state(state: LaneState) -> &'static str {
    match state {
        LaneState::ClearLine => "ClearLine",
        LaneState::Disabled => "Disabled",
        LaneState::Wait => "Wait",
        LaneState::Started => "Started",
        LaneState::InvertRxPolarity => "InvertRxPolarity",
        LaneState::Connecting => "Connecting",
        LaneState::Connected => "Connected",
        LaneState::Active => "Active",
        LaneState::PrepareStandby => "PrepareStandby",
        LaneState::LossOfSignal => "LossOfSignal",
    }
}

const fn alignment(state: Alignment) -> &'static str {
    match state {
        Alignment::NotReady => "Not Ready",
        Alignment::NearEndReady => "Near-End Ready",
        Alignment::BothEndsReady => "Both-Ends Ready",
    }
}

const fn reset(state: LinkResetState) -> &'static str {
    match state {
        LinkResetState::ConfigurationReset => "ConfigurationReset",
        LinkResetState::NearEndReset => "NearEndReset",
        LinkResetState::CheckFarEndReset => "CheckFarEndReset",
        LinkResetState::LinkInitialised => "LinkInitialised",
    }
}

/// Reports what changed since the last check.
fn tell<const L: usize>(
    now: Ps,
    link: u32,
    side: Side,
    lanes: usize,
    before: Option<&Seen<L>>,
    seen: &Seen<L>,
    observer: &mut dyn Observer,
) {
    let mut event = |event| observer.event(now, link, side, event);
    for lane in 0..lanes {
        if before.is_none_or(|before| before.lanes[lane] != seen.lanes[lane]) {
            let state = lane_state(seen.lanes[lane]);
            event(EndEvent::LaneState { lane: lane as u8, state });
        }
    }
    if lanes > 1 && before.is_none_or(|before| before.alignment != seen.alignment) {
        let (state, sending, receiving) = seen.alignment;
        event(EndEvent::Alignment { state: alignment(state), sending, receiving });
    }
    if before.is_none_or(|before| before.reset != seen.reset) {
        event(EndEvent::LinkReset { state: reset(seen.reset) });
    }
    let Some(before) = before else { return };
    let (was, is) = (&before.errors, &seen.errors);
    for (name, count) in [
        ("RXERR", is.rxerr.wrapping_sub(was.rxerr)),
        ("CRC-16 error", is.crc16.wrapping_sub(was.crc16)),
        ("CRC-8 error", is.crc8.wrapping_sub(was.crc8)),
        ("frame error", is.frame.wrapping_sub(was.frame)),
        ("sequence error", is.sequence.wrapping_sub(was.sequence)),
        ("protocol error", is.protocol.wrapping_sub(was.protocol)),
        ("far-end link reset", is.far_end_link_reset.wrapping_sub(was.far_end_link_reset)),
        ("input buffer overflow", is.input_buffer_overflow.wrapping_sub(was.input_buffer_overflow)),
        ("FCT credit overflow", is.fct_credit_overflow.wrapping_sub(was.fct_credit_overflow)),
    ] {
        if count != 0 {
            event(EndEvent::Error { name });
        }
    }
    if before.retries != seen.retries {
        event(EndEvent::Retry);
    }
}
