//! Reasons why a packet did not arrive, or not complete.

use crate::scenario::Scenario;
use spfe_link::network::DiscardReason;
use spfe_proto::rmap::RmapStatus;

/// A reason that the standard allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A link on its route was reset (50-11C 5.7.9). Both ends discard their buffers.
    LinkReset(u32),
    /// A SpaceWire link on its route failed (50-12C 5.5.7).
    Disconnect(u32),
    /// A fault hit a SpaceWire link on its route. SpaceWire detects errors by parity only, so a
    /// packet may arrive altered.
    Fault(u32),
    /// A router discarded it.
    Router(u32, &'static str),
    /// The target refused a command, with this status in its reply (50-52C 5.6).
    Status(u8),
}

/// Name of a router's reason.
pub const fn name_of(reason: DiscardReason) -> &'static str {
    match reason {
        DiscardReason::Empty => "no address",
        DiscardReason::InvalidAddress => "invalid address",
        DiscardReason::NoPort => "no such port",
        DiscardReason::InputUnmapped => "input channel without virtual network",
        DiscardReason::OutputUnmapped => "output port without the virtual network",
        DiscardReason::NotRunning => "output port did not run",
        DiscardReason::Blocked => "waiting time-out",
        DiscardReason::Timeout => "packet time-out",
    }
}

impl Cause {
    /// Place and reason in words.
    pub fn text(self, scenario: &Scenario) -> (String, String) {
        let link = |link: u32| {
            scenario.links.get(link as usize).map_or(String::new(), |link| link.name.clone())
        };
        match self {
            Self::LinkReset(of) => (link(of), "link reset".into()),
            Self::Disconnect(of) => (link(of), "SpaceWire link disconnected".into()),
            Self::Fault(of) => (link(of), "fault on a SpaceWire link".into()),
            Self::Router(of, reason) => {
                let router = scenario.routers.get(of as usize);
                (router.map_or(String::new(), |router| router.name.clone()), reason.into())
            }
            Self::Status(status) => ("target".into(), RmapStatus(status).to_string()),
        }
    }
}
