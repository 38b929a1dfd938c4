//! Link reset state machine and the capability exchange of INIT3 (50-11C 5.7.9, 5.7.10, 5.3.3.8).

/// Capability field of INIT3.
pub mod capability {
    /// The sender's link reset is not through.
    pub const LINK_RESET: u8 = 1 << 0;
    /// LaneStart of the sending lane; put in by the Lane layer.
    pub const LANE_START: u8 = 1 << 1;
    /// The sender scrambles its data frames.
    pub const DATA_SCRAMBLED: u8 = 1 << 2;
    /// The sender can operate the Multi-Lane protocol.
    pub const MULTI_LANE: u8 = 1 << 3;
    /// The sender is a routing switch.
    pub const ROUTING_SWITCH: u8 = 1 << 4;
}

/// States of the link reset state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Power-on, or Interface Reset.
    #[default]
    ConfigurationReset,
    /// Everything of this end is reset, the lanes too.
    NearEndReset,
    /// Waits for the far end to be reset.
    CheckFarEndReset,
    /// Normal operation.
    LinkInitialised,
}

/// The machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkReset {
    state: State,
    /// The lanes have not been told of the reset yet.
    lane_reset: bool,
    /// Lanes that told of a capability since the link is initialised and no lane was active.
    heard: u16,
}

impl LinkReset {
    /// The state.
    #[inline(always)]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Normal operation.
    #[inline(always)]
    pub const fn is_initialised(&self) -> bool {
        matches!(self.state, State::LinkInitialised)
    }

    /// Interface Reset.
    pub fn interface_reset(&mut self) {
        self.state = State::ConfigurationReset;
        self.lane_reset = true;
    }

    /// Link Reset command, protocol error or overflow of an input buffer.
    pub fn link_reset(&mut self) {
        if self.state != State::ConfigurationReset {
            self.state = State::NearEndReset;
        }
        self.lane_reset = true;
    }

    /// Whether LaneReset goes to all lanes now. It is asked in every word period.
    pub fn take_lane_reset(&mut self) -> bool {
        core::mem::take(&mut self.lane_reset)
    }

    /// A word period has gone by. True when this end has to be reset now.
    pub fn step(&mut self) -> bool {
        match self.state {
            State::ConfigurationReset => {
                self.lane_reset = true;
                self.state = State::NearEndReset;
                false
            }
            // The lanes are reset before the far end is listened to.
            State::NearEndReset if !self.lane_reset => {
                self.state = State::CheckFarEndReset;
                true
            }
            _ => false,
        }
    }

    /// Three identical INIT3 were received on a lane. True when the far end asks for a link reset.
    ///
    /// The lanes of one initialisation tell of it one after the other, so the first word of each
    /// is not taken for a new reset; a second one is.
    pub fn far_end_capability(&mut self, lane: u8, field: u8, any_lane_active: bool) -> bool {
        let bit = 1u16 << (lane & 15);
        let heard = self.heard & bit != 0;
        if any_lane_active {
            self.heard = u16::MAX;
        }
        if field & capability::LINK_RESET == 0 {
            return false;
        }
        match self.state {
            State::CheckFarEndReset => {
                self.heard = bit;
                self.state = State::LinkInitialised;
                false
            }
            State::LinkInitialised if !any_lane_active => {
                self.heard |= bit;
                if heard {
                    self.link_reset();
                }
                heard
            }
            _ => false,
        }
    }

    /// A lane is active: from now on any capability with the flag is a new reset.
    #[inline(always)]
    pub fn lane_active(&mut self) {
        self.heard = u16::MAX;
    }
}
