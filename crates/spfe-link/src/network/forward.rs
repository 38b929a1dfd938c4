//! The outputs of a packet, found by its first byte (50-12C 5.6.8.3, 50-11C 5.8).
//!
//! The switch and everything that predicts where packets go share this rule.

use super::bits_of;
use super::ports::DiscardReason;
use super::table::{FIRST, RoutingEntry};

/// Finds the outputs of a packet whose first byte is `address`.
///
/// `exists` has a bit for each port of the switch, port 0 included. `entry` looks the address up in
/// the routing table of the packet's virtual network. `carries` says whether a port has a virtual
/// channel of that virtual network.
///
/// Ports of the result are those that the packet may take. A path address is always deleted and has
/// no priority of its own.
///
/// # Errors
///
/// Why the switch discards the packet.
pub fn forward(
    address: u8,
    exists: u32,
    entry: impl FnOnce() -> Option<RoutingEntry>,
    carries: impl Fn(usize) -> bool,
) -> Result<RoutingEntry, DiscardReason> {
    if address < FIRST {
        let ports = 1 << address;
        if exists & ports == 0 {
            return Err(DiscardReason::NoPort);
        }
        if !carries(usize::from(address)) {
            return Err(DiscardReason::OutputUnmapped);
        }
        return Ok(RoutingEntry::any_of(ports).deleting());
    }
    let entry = entry().filter(|_| address != u8::MAX).ok_or(DiscardReason::InvalidAddress)?;
    let existing = entry.ports & exists & !1;
    let carrying = bits_of(existing).filter(|port| carries(*port));
    let ports = carrying.fold(0, |mask, port| mask | 1 << port);
    if existing == 0 || entry.multicast && existing != entry.ports {
        return Err(DiscardReason::NoPort);
    }
    if ports == 0 || entry.multicast && ports != existing {
        return Err(DiscardReason::OutputUnmapped);
    }
    Ok(RoutingEntry { ports, ..entry })
}
