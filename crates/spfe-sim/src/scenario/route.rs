//! Routes of packets through a network.
//!
//! A [`RouteFinder`] computes path addresses, and follows address bytes from router to router with
//! the forwarding rule of the routing switch itself ([`spfe_link::network::forward()`]). The
//! checker of scenarios, the simulation and `spfe topo` all use it, so that they cannot disagree.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `finder` | single steps through a network, and shortest routes |
//! | `trace` | all routes that some address bytes lead to |
//! | `plan` | the address bytes of the scenario's packets |

mod finder;
mod plan;
mod trace;

#[cfg(test)]
mod tests;

pub use finder::RouteFinder;
pub use plan::{RoutePlan, Ways};
pub use trace::Trace;

use super::{Scenario, UnitId};
use crate::link::Side;
use spfe_link::network::DiscardReason;
use std::fmt;

/// Where packets enter a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One end of a link sends them.
    Link {
        /// The link, an index into [`Scenario::links`].
        link: usize,
        /// The end that sends.
        side: Side,
        /// Virtual channel on this link.
        vc: u8,
    },
    /// The configuration port of a router sends them: an index into [`Scenario::routers`].
    Configuration(usize),
}

/// One virtual channel of a router's port, where packets come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RouterInput {
    /// The router, an index into [`Scenario::routers`].
    pub router: u32,
    /// The port; 0 is the configuration port.
    pub port: u8,
    /// The virtual channel.
    pub vc: u8,
}

/// One router of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where packets come in.
    pub input: RouterInput,
    /// Port where they leave; 0 is the configuration port.
    pub output: u8,
}

/// Where packets end up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// A node, or a router whose configuration port they reach.
    pub unit: UnitId,
    /// Port of the unit; 0 is a router's configuration port.
    pub port: u8,
    /// Virtual channel of that port.
    pub vc: u8,
    /// Address bytes that no router on the route deleted.
    pub rest: Vec<u8>,
}

/// The routers between the origin of packets and their destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Routers, from the origin on. None if one link connects both.
    pub hops: Vec<Hop>,
    /// Where it ends.
    pub to: Destination,
}

/// Links and router inputs that packets may cross on any of their routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteElements {
    /// Indices into [`Scenario::links`], ascending, each once.
    pub links: Vec<u32>,
    /// Router inputs, each once.
    pub inputs: Vec<RouterInput>,
}

impl RouteElements {
    /// Adds those of other routes.
    pub fn merge(&mut self, other: &Self) {
        other.links.iter().for_each(|link| self.add_link(*link));
        other.inputs.iter().for_each(|input| self.add_input(*input));
    }

    fn add_link(&mut self, link: u32) {
        if let Err(place) = self.links.binary_search(&link) {
            self.links.insert(place, link);
        }
    }

    fn add_input(&mut self, input: RouterInput) {
        if !self.inputs.contains(&input) {
            self.inputs.push(input);
        }
    }
}

/// Why packets reach no destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadEndCause {
    /// The router discards them. [`DiscardReason::NotRunning`] stands for an output port without a
    /// link: packets wait there until a time-out ends it.
    Discarded(DiscardReason),
    /// They come back to this input with the same address bytes.
    Loop,
}

/// A router that packets do not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadEnd {
    /// Where they come in.
    pub input: RouterInput,
    /// The address byte in front; none if no byte is left.
    pub address: Option<u8>,
    /// The output port, if the router chose one.
    pub output: Option<u8>,
    /// Why they do not leave.
    pub cause: DeadEndCause,
}

impl DeadEnd {
    /// A sentence that names the router.
    pub fn text(&self, scenario: &Scenario) -> String {
        Explained { dead_end: self, scenario }.to_string()
    }
}

/// A dead end with the scenario that has the names.
struct Explained<'a> {
    dead_end: &'a DeadEnd,
    scenario: &'a Scenario,
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeadEnd { input, address, output, cause } = *self.dead_end;
        let address = address.unwrap_or_default();
        let router = self.scenario.routers.get(input.router as usize);
        write!(f, "router '{}'", router.map_or("", |router| &router.name))?;
        let (port, vc) = (input.port, input.vc);
        let network = router.and_then(|router| router.network_of(port, vc)).unwrap_or_default();
        match cause {
            DeadEndCause::Loop => write!(f, ", port {port}: packets go round in a loop"),
            DeadEndCause::Discarded(reason) => match reason {
                DiscardReason::Empty => write!(f, ", port {port}: no address byte is left"),
                DiscardReason::InvalidAddress => {
                    write!(f, " has no entry for address {address} on virtual network {network}")
                }
                DiscardReason::NoPort if address < spfe_link::network::table::FIRST => {
                    write!(f, " has no port {address}")
                }
                DiscardReason::NoPort => {
                    write!(f, " lacks a port of its entry for address {address}")
                }
                DiscardReason::InputUnmapped => {
                    write!(f, ", port {port}: virtual channel {vc} has no virtual network")
                }
                DiscardReason::OutputUnmapped => write!(
                    f,
                    ": virtual network {network} has no virtual channel at the port for address \
                     {address}"
                ),
                DiscardReason::NotRunning => {
                    write!(f, ", port {}: no link", output.unwrap_or_default())
                }
                DiscardReason::Blocked | DiscardReason::Timeout => {
                    write!(f, ", port {port}: time-out")
                }
            },
        }
    }
}
