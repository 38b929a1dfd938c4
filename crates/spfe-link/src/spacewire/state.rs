//! The link state machine (50-12C 5.5.7) with its timers.

use core::ops::RangeInclusive;

/// Limits of the standard for the 6.4 us timer, in ns (5.5.7.2).
pub const RESET_NS: RangeInclusive<u64> = 5_820..=7_220;
/// Limits of the standard for the 12.8 us timer, in ns.
pub const WAIT_NS: RangeInclusive<u64> = 11_640..=14_330;
/// Limits of the disconnect time-out in ns (5.4.8).
pub const DISCONNECT_NS: RangeInclusive<u64> = 727..=1_000;

/// Timers of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceWireTiming {
    /// Time in ErrorReset.
    pub reset_ns: u64,
    /// Time in ErrorWait, and maximum time in Started and in Connecting.
    pub wait_ns: u64,
    /// Maximum time without an edge.
    pub disconnect_ns: u64,
}

impl Default for SpaceWireTiming {
    fn default() -> Self {
        Self::NOMINAL
    }
}

impl SpaceWireTiming {
    /// The nominal values.
    pub const NOMINAL: Self = Self { reset_ns: 6_400, wait_ns: 12_800, disconnect_ns: 850 };

    /// Whether all timers are within the limits of the standard.
    pub fn is_standard(&self) -> bool {
        RESET_NS.contains(&self.reset_ns)
            && WAIT_NS.contains(&self.wait_ns)
            && DISCONNECT_NS.contains(&self.disconnect_ns)
    }
}

/// States of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpaceWireState {
    /// Transmitter and receiver off.
    #[default]
    ErrorReset,
    /// Receiver on.
    ErrorWait,
    /// Waiting for permission to start.
    Ready,
    /// Sending NULLs.
    Started,
    /// Sending FCTs and NULLs.
    Connecting,
    /// Sending everything.
    Run,
}

/// Reason why a link fell back to ErrorReset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorResetCause {
    /// No edge for the disconnect time-out.
    Disconnect,
    /// Parity error.
    Parity,
    /// Escape error.
    Escape,
    /// Credit error.
    Credit,
    /// A character that is not allowed in the state of the link.
    Sequence,
    /// The far end did not answer in time, in Started or Connecting.
    Timeout,
    /// Management disabled the port.
    Disabled,
    /// Port reset.
    Reset,
}

/// Control bits that management sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceWireControl {
    /// Inverse of LinkDisabled. A port that is not enabled stays in ErrorReset.
    pub enabled: bool,
    /// LinkDisabled has the meaning of the standard of 2008 (5.5.7.8): it ends only Run, and a port
    /// that is not enabled still reaches Ready.
    pub legacy_disable: bool,
    /// Start the link when Ready.
    pub link_start: bool,
    /// Start the link when Ready and the far end sends NULLs.
    pub auto_start: bool,
    /// Hold the port in reset; empties both queues.
    pub reset: bool,
}

impl SpaceWireControl {
    /// Whether the port may leave ErrorReset.
    const fn may_try(&self) -> bool {
        (self.enabled || self.legacy_disable) && !self.reset
    }
}

impl Default for SpaceWireControl {
    fn default() -> Self {
        Self {
            enabled: true,
            legacy_disable: false,
            link_start: true,
            auto_start: false,
            reset: false,
        }
    }
}

/// Events since ErrorReset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkEvents {
    pub got_null: bool,
    pub got_fct: bool,
    pub null_sent: bool,
    pub fct_sent: bool,
    /// The first failure.
    pub cause: Option<ErrorResetCause>,
}

/// The state and the time at which it was entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub state: SpaceWireState,
    pub since_ns: u64,
    pub seen: LinkEvents,
}

impl Machine {
    pub fn new(now_ns: u64) -> Self {
        Self { state: SpaceWireState::ErrorReset, since_ns: now_ns, seen: LinkEvents::default() }
    }

    /// The failure that ends the current state now, if any.
    pub fn failure(
        &self,
        now_ns: u64,
        control: &SpaceWireControl,
        timing: &SpaceWireTiming,
    ) -> Option<ErrorResetCause> {
        if self.state == SpaceWireState::ErrorReset {
            return None;
        }
        if control.reset {
            return Some(ErrorResetCause::Reset);
        }
        if !control.enabled && (!control.legacy_disable || self.state == SpaceWireState::Run) {
            return Some(ErrorResetCause::Disabled);
        }
        match self.seen.cause {
            // Credit errors count only in Run; before that they wait.
            Some(ErrorResetCause::Credit) if self.state != SpaceWireState::Run => {}
            Some(cause) => return Some(cause),
            None => {}
        }
        let waits = matches!(self.state, SpaceWireState::Started | SpaceWireState::Connecting);
        let late = now_ns.saturating_sub(self.since_ns) >= timing.wait_ns;
        // A success at the same time takes precedence.
        (waits && late && self.success(now_ns, control, timing).is_none())
            .then_some(ErrorResetCause::Timeout)
    }

    /// The next state, if its conditions are met.
    pub fn success(
        &self,
        now_ns: u64,
        control: &SpaceWireControl,
        timing: &SpaceWireTiming,
    ) -> Option<SpaceWireState> {
        let spent_ns = now_ns.saturating_sub(self.since_ns);
        let seen = &self.seen;
        let (next, when) = match self.state {
            SpaceWireState::ErrorReset => {
                (SpaceWireState::ErrorWait, control.may_try() && spent_ns >= timing.reset_ns)
            }
            SpaceWireState::ErrorWait => (SpaceWireState::Ready, spent_ns >= timing.wait_ns),
            SpaceWireState::Ready => {
                let starts = control.link_start || control.auto_start && seen.got_null;
                (SpaceWireState::Started, control.enabled && starts)
            }
            SpaceWireState::Started => {
                (SpaceWireState::Connecting, seen.got_null && seen.null_sent)
            }
            SpaceWireState::Connecting => (SpaceWireState::Run, seen.got_fct && seen.fct_sent),
            SpaceWireState::Run => return None,
        };
        when.then_some(next)
    }

    pub fn enter(&mut self, now_ns: u64, state: SpaceWireState) {
        self.state = state;
        self.since_ns = now_ns;
        if state == SpaceWireState::ErrorReset {
            self.seen = LinkEvents::default();
        }
    }

    /// Time at which the state changes without input, if any.
    pub fn deadline_ns(&self, control: &SpaceWireControl, timing: &SpaceWireTiming) -> Option<u64> {
        let after = match self.state {
            SpaceWireState::ErrorReset if control.may_try() => timing.reset_ns,
            SpaceWireState::ErrorWait | SpaceWireState::Started | SpaceWireState::Connecting => {
                timing.wait_ns
            }
            _ => return None,
        };
        Some(self.since_ns.saturating_add(after))
    }
}
