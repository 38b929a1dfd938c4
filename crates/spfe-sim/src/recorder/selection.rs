//! Links and records that a capture contains.

use crate::scenario::{self, Medium};

/// Description of a link in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDescription {
    /// Its name.
    pub name: String,
    /// End A and end B, as `unit.port`.
    pub ends: [String; 2],
    /// Whether the link is SpaceWire.
    pub spacewire: bool,
    /// Number of lanes; 1 for SpaceWire.
    pub lanes: u8,
    /// Signalling rate of a lane in bit/s; 0 if there is none or it is unknown.
    pub rate_bps: u64,
    /// Whether data frames are scrambled.
    pub scrambled: bool,
}

impl LinkDescription {
    /// Description of a link of a scenario.
    pub fn of(link: &scenario::ScenarioLink) -> Self {
        let spacewire = link.is_spacewire();
        Self {
            name: link.name.clone(),
            ends: link.ends.each_ref().map(|place| format!("{}.{}", place.unit, place.port)),
            spacewire,
            lanes: if spacewire { 1 } else { link.lanes() },
            rate_bps: link.rate.0,
            scrambled: match &link.medium {
                Medium::SpaceFibre(fibre) => fibre.scramble,
                Medium::SpaceWire(_) => false,
            },
        }
    }
}

/// Selects what is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureFilter<'a> {
    /// Packets.
    pub packets: bool,
    /// Broadcast messages, time-codes and interrupts.
    pub messages: bool,
    /// States, errors and faults.
    pub events: bool,
    /// Names of the links; empty for all.
    pub links: &'a [String],
}
