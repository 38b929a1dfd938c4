//! Link reset state machine and the capability exchange of INIT3 (50-11C 5.7.9, 5.7.10, 5.3.3.8).

pub use crate::lane::capability;

/// States of the link reset state machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkResetState {
    /// Power-on, or Interface Reset.
    #[default]
    ConfigurationReset,
    /// This end is being reset, its lanes too.
    NearEndReset,
    /// Waiting for the far end to be reset.
    CheckFarEndReset,
    /// Normal operation.
    LinkInitialised,
}

/// The link reset state machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkReset {
    state: LinkResetState,
    /// LaneReset has not been sent to the lanes yet.
    lane_reset: bool,
    /// Mask of lanes that delivered a capability since the link came up, while no lane was active.
    heard: u16,
    /// Word periods for which this end has waited for the far end while rows could be sent.
    waited: u32,
}

impl LinkReset {
    /// Current state.
    #[inline(always)]
    pub const fn state(&self) -> LinkResetState {
        self.state
    }

    /// Whether the link works normally.
    #[inline(always)]
    pub const fn is_initialised(&self) -> bool {
        matches!(self.state, LinkResetState::LinkInitialised)
    }

    /// Starts an Interface Reset.
    pub fn interface_reset(&mut self) {
        self.state = LinkResetState::ConfigurationReset;
        self.lane_reset = true;
    }

    /// Starts a link reset: by command, after a protocol error, or after an input buffer overflow.
    pub fn link_reset(&mut self) {
        if self.state != LinkResetState::ConfigurationReset {
            self.state = LinkResetState::NearEndReset;
        }
        self.lane_reset = true;
    }

    /// Whether to send LaneReset to all lanes now. Call it in every word period.
    pub fn take_lane_reset(&mut self) -> bool {
        core::mem::take(&mut self.lane_reset)
    }

    /// A word period without a row has passed. `rows_pass`: the lanes are active and aligned.
    /// Returns true when this end must reset its state now.
    ///
    /// Active lanes deliver no INIT3. A far end that works normally and missed this end's LinkReset
    /// flag would therefore never see it. After `retry` word periods (0 means never) the lanes
    /// restart, and the far end receives the flag while none of its lanes is active.
    pub fn step(&mut self, rows_pass: bool, retry: u32) -> bool {
        match self.state {
            LinkResetState::ConfigurationReset => {
                self.lane_reset = true;
                self.state = LinkResetState::NearEndReset;
                false
            }
            // The lanes are reset before this end listens to the far end.
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

    /// A lane received three identical INIT3. Returns true if the far end asks for a link reset.
    ///
    /// All lanes of one initialisation report the flag one after the other. The first report of
    /// each lane is therefore not a new reset; the second one is.
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

    /// A lane is active: from now on, every capability with the flag is a new reset.
    #[inline(always)]
    pub fn lane_active(&mut self) {
        self.heard = u16::MAX;
    }
}
