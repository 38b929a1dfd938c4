//! Lane initialisation and standby: its states, and when they change (50-11C 5.5.2).

use super::Lane;

/// State of a lane; the codes are those of the status register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LaneState {
    /// Everything off for 2 us.
    #[default]
    ClearLine = 0,
    /// Off.
    Disabled = 1,
    /// Listening for a signal.
    Wait = 2,
    /// Sending INIT1.
    Started = 3,
    /// The same, with the received bits inverted.
    InvertRxPolarity = 4,
    /// Sending INIT2.
    Connecting = 5,
    /// Sending INIT3.
    Connected = 6,
    /// Words of the upper layers.
    Active = 7,
    /// Sending STANDBY.
    PrepareStandby = 8,
    /// Sending LOST_SIGNAL.
    LossOfSignal = 9,
}

impl LaneState {
    /// The line driver is on (unless the lane only receives).
    pub const fn drives(self) -> bool {
        self as u8 >= Self::Started as u8
    }

    /// Words are received (unless the lane only sends).
    pub const fn receives(self) -> bool {
        self as u8 >= Self::Started as u8
    }
}

/// Why a lane left Active by itself, as in LOST_SIGNAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LostSignalCause {
    /// No signal.
    NoSignal = 0,
    /// The RXERR counter reached 255.
    RxerrOverflow = 1,
    /// The far end starts again.
    Init1Received = 2,
}

/// INIT words in a row that are believed.
const INITS: u8 = 3;
/// STANDBY or LOST_SIGNAL words in a row that are believed.
const STOPS: u8 = 3;
/// The RXERR counter's last value.
pub(super) const RXERR_LIMIT: u8 = 255;

impl Lane {
    /// The state after this word period. Conditions are in the order of the standard.
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

    /// The end of an initialisation that does not get on.
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

    /// Enough words without RXERR, and an INIT1 or INIT2 among them.
    fn far_end_started(&self) -> bool {
        self.seen.good_words >= self.config.started_words && self.seen.init1_or_init2
    }

    /// Three STANDBY or three LOST_SIGNAL in a row.
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

    /// A lane that only sends has no signal to lose.
    fn no_signal(&self) -> bool {
        self.status.no_signal && !self.tx_only()
    }
}
