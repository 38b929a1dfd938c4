//! Link reset state machine and the capability exchange of INIT3 (50-11C 5.7.9, 5.7.10, 5.3.3.8).

pub use crate::lane::capability;

/// States of the link reset state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkResetState {
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
    state: LinkResetState,
    /// The lanes have not been told of the reset yet.
    lane_reset: bool,
    /// Lanes that told of a capability since the link is initialised and no lane was active.
    heard: u16,
    /// Word periods that this end has waited for the far end although rows could be sent.
    waited: u32,
}

impl LinkReset {
    /// The state.
    #[inline(always)]
    pub const fn state(&self) -> LinkResetState {
        self.state
    }

    /// Normal operation.
    #[inline(always)]
    pub const fn is_initialised(&self) -> bool {
        matches!(self.state, LinkResetState::LinkInitialised)
    }

    /// Interface Reset.
    pub fn interface_reset(&mut self) {
        self.state = LinkResetState::ConfigurationReset;
        self.lane_reset = true;
    }

    /// Link Reset command, protocol error or overflow of an input buffer.
    pub fn link_reset(&mut self) {
        if self.state != LinkResetState::ConfigurationReset {
            self.state = LinkResetState::NearEndReset;
        }
        self.lane_reset = true;
    }

    /// Whether LaneReset goes to all lanes now. It is asked in every word period.
    pub fn take_lane_reset(&mut self) -> bool {
        core::mem::take(&mut self.lane_reset)
    }

    /// A word period without a row has gone by. `rows_pass`: lanes are active and aligned. True
    /// when this end has to be reset now.
    ///
    /// Lanes that are active bring no INIT3: a far end that is initialised and has missed the flag
    /// of this end would never be asked again. After `retry` word periods (0 is never) the lanes
    /// start anew, and it hears the flag while none of its lanes is active.
    pub fn step(&mut self, rows_pass: bool, retry: u32) -> bool {
        match self.state {
            LinkResetState::ConfigurationReset => {
                self.lane_reset = true;
                self.state = LinkResetState::NearEndReset;
                false
            }
            // The lanes are reset before the far end is listened to.
            LinkResetState::NearEndReset if !self.lane_reset => {
                self.state = LinkResetState::CheckFarEndReset;
                self.waited = 0;
                true
            }
            LinkResetState::CheckFarEndReset if rows_pass => {
                self.waited = self.waited.wrapping_add(1);
                if retry != 0 && self.waited >= retry {
                    self.waited = 0;
                    self.lane_reset = true;
                }
                false
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
            LinkResetState::CheckFarEndReset => {
                self.heard = bit;
                self.state = LinkResetState::LinkInitialised;
                false
            }
            LinkResetState::LinkInitialised if !any_lane_active => {
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
