//! Phases of a lane as its words show them (50-11C 5.5.2).

/// Phase of a lane's sender, as its words show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LanePhase {
    /// Unknown: no signal, or only data words so far.
    #[default]
    Unknown,
    /// INIT1: states Started and InvertRxPolarity.
    Init1,
    /// INIT2: state Connecting.
    Init2,
    /// INIT3: state Connected.
    Init3,
    /// State Active.
    Active,
    /// STANDBY: state PrepareStandby.
    Standby,
    /// LOST_SIGNAL: state LossOfSignal.
    LostSignal,
}

impl LanePhase {
    /// Name of the word that shows the phase.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Init1 => "INIT1",
            Self::Init2 => "INIT2",
            Self::Init3 => "INIT3",
            Self::Active => "active",
            Self::Standby => "STANDBY",
            Self::LostSignal => "LOST_SIGNAL",
        }
    }
}
