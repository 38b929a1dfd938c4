//! Lane initialisation and standby: states and transitions (50-11C 5.5.2).

use super::Lane;

/// State of a lane. The values are those of the status register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LaneState {
    /// Driver and receiver are off for 2 us.
    #[default]
    ClearLine = 0,
    /// Driver and receiver are off.
    Disabled = 1,
    /// Waiting for a signal.
    Wait = 2,
    /// Sending INIT1.
    Started = 3,
    /// Sending INIT1, with the received bits inverted.
    InvertRxPolarity = 4,
    /// Sending INIT2.
    Connecting = 5,
    /// Sending INIT3.
    Connected = 6,
    /// Passing words of the layers above.
    Active = 7,
    /// Sending STANDBY.
    PrepareStandby = 8,
    /// Sending LOST_SIGNAL.
    LossOfSignal = 9,
}

impl LaneState {
    /// Whether the line driver is on, unless the lane only receives.
    pub const fn drives(self) -> bool {
        self as u8 >= Self::Started as u8
    }

    /// Whether words are received, unless the lane only sends.
    pub const fn receives(self) -> bool {
        self as u8 >= Self::Started as u8
    }
}

/// Reason why a lane left Active by itself, as sent in LOST_SIGNAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LostSignalCause {
    /// The signal was lost.
    NoSignal = 0,
    /// The RXERR counter reached 255.
    RxerrOverflow = 1,
    /// The far end started the lane again.
    Init1Received = 2,
}

/// Consecutive INIT words that are needed to take effect.
const INITS: u8 = 3;
/// Consecutive STANDBY or LOST_SIGNAL words that are needed to take effect.
const STOPS: u8 = 3;
/// Value at which the RXERR counter stops.
pub(super) const RXERR_LIMIT: u8 = 255;

impl Lane {
    /// State after this word period. The conditions are in the order of the standard.
    pub(super) fn next_state(&mut self) -> LaneState {
        let start = self.parameters.lane_start;
        let wanted = start || self.parameters.auto_start;
        match self.status.state {
            LaneState::ClearLine if self.periods >= self.clear_line_words => LaneState::Disabled,
            LaneState::Disabled if wanted => LaneState::Wait,
            LaneState::Wait if !wanted => LaneState::Disabled,
            LaneState::Wait if start || !self.status.no_signal => LaneState::Started,
            LaneState::Started => self.after_started(),
            LaneState::InvertRxPolarity if self.no_signal() => LaneState::ClearLine,
            LaneState::InvertRxPolarity if self.far_end_started() => LaneState::Connecting,
            LaneState::InvertRxPolarity => self.after_failure(LaneState::InvertRxPolarity),
            LaneState::Connecting => self.after_connecting(),
            LaneState::Connected => self.after_connected(),
            LaneState::Active => self.after_active(wanted),
            state @ (LaneState::PrepareStandby | LaneState::LossOfSignal) => {
                let done = self.periods >= u32::from(self.config.burst_words);
                if done || self.stopped() { LaneState::ClearLine } else { state }
            }
            state => state,
        }
    }

    fn after_started(&mut self) -> LaneState {
        if self.far_end_active || self.far_end_started() {
            LaneState::Connecting
        } else if self.seen.init1_inverted >= INITS || self.seen.init2_inverted >= INITS {
            LaneState::InvertRxPolarity
        } else {
            self.after_failure(LaneState::Started)
        }
    }

    fn after_connecting(&mut self) -> LaneState {
        if self.no_signal() {
            LaneState::ClearLine
        } else if self.rx_only
            || self.far_end_active
            || self.seen.init2 >= INITS
            || self.seen.init3 >= INITS
        {
            LaneState::Connected
        } else {
            self.after_failure(LaneState::Connecting)
        }
    }

    fn after_connected(&mut self) -> LaneState {
        let ready = self.seen.init3 >= INITS && self.init3_sent >= INITS;
        if self.no_signal() {
            LaneState::ClearLine
        } else if self.rx_only || self.far_end_active && self.init3_sent >= 1 || ready {
            LaneState::Active
        } else {
            let stay = self.after_failure(LaneState::Connected);
            if self.seen.comma { LaneState::ClearLine } else { stay }
        }
    }

    fn after_active(&mut self, wanted: bool) -> LaneState {
        let tx_only = self.tx_only();
        let cause = if self.no_signal() {
            Some(LostSignalCause::NoSignal)
        } else if self.status.rxerr_count == RXERR_LIMIT && !tx_only {
            Some(LostSignalCause::RxerrOverflow)
        } else if self.seen.init1 && !self.rx_only {
            Some(LostSignalCause::Init1Received)
        } else {
            None
        };
        if cause.is_some() {
            self.status.lost_signal_cause = cause;
            LaneState::LossOfSignal
        } else if !wanted {
            LaneState::PrepareStandby
        } else if self.stopped() {
            LaneState::ClearLine
        } else {
            LaneState::Active
        }
    }

    /// State after a transition failed: leaves the initialisation on timeout.
    fn after_failure(&mut self, state: LaneState) -> LaneState {
        if self.timer >= self.config.init_timeout_words {
            self.status.timeout = true;
            LaneState::ClearLine
        } else if self.stopped() {
            LaneState::ClearLine
        } else {
            state
        }
    }

    /// Whether enough words without RXERR came, and an INIT1 or INIT2 among them.
    fn far_end_started(&self) -> bool {
        self.seen.good_words >= self.config.started_words && self.seen.init1_or_init2
    }

    /// Whether three consecutive STANDBY or LOST_SIGNAL came; records the reason.
    fn stopped(&mut self) -> bool {
        if self.seen.standby >= STOPS {
            self.status.far_end_standby = true;
            self.status.far_end_standby_reason = self.seen.stop_field;
        } else if self.seen.lost_signal >= STOPS {
            self.status.far_end_lost_signal = true;
            self.status.far_end_lost_signal_cause = self.seen.stop_field & 3;
        } else {
            return false;
        }
        true
    }

    /// Whether the signal is lost. A lane that only sends cannot lose it.
    fn no_signal(&self) -> bool {
        self.status.no_signal && !self.tx_only()
    }
}
