//! The network layer of routing switches: SpaceFibre (ECSS-E-ST-50-11C 5.8) and SpaceWire
//! (ECSS-E-ST-50-12C 5.6).
//!
//! | module | clause | what it holds |
//! | --- | --- | --- |
//! | [`mod@unit`] | 50-11C 5.3.7 | what moves: words of a virtual channel, or N-Chars |
//! | [`table`] | 50-11C 5.8, 50-12C 5.6.8 | logical addresses: groups, multicast, header deletion |
//! | [`mod@forward`] | 50-12C 5.6.8.3, 50-11C 5.8 | the outputs of a packet, found by its first byte |
//! | [`ports`] | | the queues of a switch, which the caller owns |
//! | [`router`] | 50-11C 5.8, 50-12C 5.6.8 | addressing, arbitration, wormholes, time-outs |
//! | [`broadcast`] | 50-11C 5.8 | broadcast messages, each once in spite of loops |
//! | [`config`] | 50-12C 5.6.8 | the registers behind the configuration port |
//! | [`bridge`] | 50-11C 5.8, 50-12C 5.6 | SpaceWire broadcast codes as broadcast messages, and back |
//! | [`counters`] | | what a switch counts |
//! | [`codes`] | 50-12C 5.6.3, 5.6.4 | time-codes and interrupts of a SpaceWire switch |
//!
//! A SpaceWire switch is one with a single virtual channel per port, on virtual network 0.

pub mod bridge;
pub mod broadcast;
pub mod codes;
pub mod config;
pub mod counters;
pub mod forward;
pub mod ports;
pub mod router;
pub mod table;
pub mod unit;

pub use bridge::Bridge;
pub use forward::forward;
pub use ports::{DiscardReason, DiscardedPacket, SwitchPorts};
pub use router::RoutingSwitch;
pub use table::{RouteLookup, RoutingEntry, RoutingTable};
pub use unit::PacketUnit;

/// Virtual networks, 0 to 63.
pub const NETWORKS: usize = 64;
/// The most ports of a switch; port 0 is its configuration port.
pub const MAX_PORTS: usize = 32;

/// The numbers of the set bits of a mask of ports, lowest first.
pub fn bits_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    core::iter::from_fn(move || {
        let bit = (rest != 0).then(|| rest.trailing_zeros() as usize);
        rest &= rest.wrapping_sub(1);
        bit
    })
}
