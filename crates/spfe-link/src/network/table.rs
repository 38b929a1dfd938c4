//! Routing tables: from logical addresses to ports (50-11C 5.8, 50-12C 5.6.8).

use super::NETWORKS;

/// First logical address.
pub const FIRST: u8 = 32;
/// Last logical address; 255 is reserved.
pub const LAST: u8 = 254;

/// Entry of a logical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingEntry {
    /// Mask of ports 1 to 31: a single port, a group, or all ports of a multicast.
    pub ports: u32,
    /// Send a copy to each of the ports, instead of using one free port of the group.
    pub multicast: bool,
    /// Header deletion: remove the address.
    pub delete: bool,
    /// Packets with priority go before all others in arbitration.
    pub priority: bool,
}

impl RoutingEntry {
    /// Sends to one free port of the mask.
    pub const fn any_of(ports: u32) -> Self {
        Self { ports, multicast: false, delete: false, priority: false }
    }

    /// Sends a copy to each port of the mask.
    pub const fn each_of(ports: u32) -> Self {
        Self { multicast: true, ..Self::any_of(ports) }
    }

    /// The same entry with header deletion.
    pub const fn deleting(self) -> Self {
        Self { delete: true, ..self }
    }

    /// The same entry with priority.
    pub const fn urgent(self) -> Self {
        Self { priority: true, ..self }
    }
}

/// Source of routing entries for a switch.
pub trait RouteLookup {
    /// Entry of an address on a virtual network; `None` if it is invalid.
    fn entry(&self, network: u8, address: u8) -> Option<RoutingEntry>;
}

/// Reason why an entry cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The address is not 32 to 254.
    NotLogical,
    /// The entry names no port, or the configuration port, which only path addresses can reach.
    Ports,
    /// The table or virtual network does not exist.
    NoTable,
}

const BYTES: usize = 224;

/// `T` routing tables. Each virtual network uses one of them, at reset table 0. At reset all
/// entries are invalid.
#[derive(Clone, Debug)]
pub struct RoutingTable<const T: usize> {
    /// An entry with an empty mask of ports is invalid.
    entries: [[RoutingEntry; BYTES]; T],
    table_of: [u8; NETWORKS],
}

impl<const T: usize> Default for RoutingTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const T: usize> RoutingTable<T> {
    /// State after reset.
    pub const fn new() -> Self {
        const { assert!(T >= 1 && T <= NETWORKS, "1 to 64 tables") };
        Self { entries: [[RoutingEntry::any_of(0); BYTES]; T], table_of: [0; NETWORKS] }
    }

    /// Sets an entry; `None` makes it invalid.
    pub fn set(
        &mut self,
        table: u8,
        address: u8,
        entry: Option<RoutingEntry>,
    ) -> Result<(), TableError> {
        if !(FIRST..=LAST).contains(&address) {
            return Err(TableError::NotLogical);
        }
        if entry.is_some_and(|entry| entry.ports == 0 || entry.ports & 1 != 0) {
            return Err(TableError::Ports);
        }
        let entries = self.entries.get_mut(usize::from(table)).ok_or(TableError::NoTable)?;
        entries[usize::from(address - FIRST)] = entry.unwrap_or(RoutingEntry::any_of(0));
        Ok(())
    }

    /// Entry of a logical address in a table; `None` if it is invalid.
    pub fn get(&self, table: u8, address: u8) -> Option<RoutingEntry> {
        let index = usize::from(address.checked_sub(FIRST)?);
        let entry = *self.entries.get(usize::from(table))?.get(index)?;
        (entry.ports != 0).then_some(entry)
    }

    /// The table of a virtual network.
    pub fn table_of(&self, network: u8) -> Option<u8> {
        self.table_of.get(usize::from(network)).copied()
    }

    /// Assigns a table to a virtual network.
    pub fn use_table(&mut self, network: u8, table: u8) -> Result<(), TableError> {
        let place = self.table_of.get_mut(usize::from(network)).ok_or(TableError::NoTable)?;
        if usize::from(table) >= T {
            return Err(TableError::NoTable);
        }
        *place = table;
        Ok(())
    }
}

impl<const T: usize> RouteLookup for RoutingTable<T> {
    fn entry(&self, network: u8, address: u8) -> Option<RoutingEntry> {
        self.get(self.table_of(network)?, address)
    }
}
