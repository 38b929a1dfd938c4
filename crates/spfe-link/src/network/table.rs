//! Routing tables: logical addresses to ports (50-11C 5.8, 50-12C 5.6.8).

use super::NETWORKS;

/// First logical address.
pub const FIRST: u8 = 32;
/// Last logical address; 255 is reserved.
pub const LAST: u8 = 254;

/// What a switch does with a logical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutingEntry {
    /// The ports, bit per number, 1 to 31: one port, a group, or all that get a copy.
    pub ports: u32,
    /// A copy to each of the ports, instead of one port of a group that is free.
    pub multicast: bool,
    /// Header deletion: the address is taken off.
    pub delete: bool,
    /// Goes before packets without it in arbitration.
    pub priority: bool,
}

impl RoutingEntry {
    /// One of a group of ports, or the only one.
    pub const fn any_of(ports: u32) -> Self {
        Self { ports, multicast: false, delete: false, priority: false }
    }

    /// A copy to each port.
    pub const fn each_of(ports: u32) -> Self {
        Self { multicast: true, ..Self::any_of(ports) }
    }

    /// With header deletion.
    pub const fn deleting(self) -> Self {
        Self { delete: true, ..self }
    }

    /// With priority.
    pub const fn urgent(self) -> Self {
        Self { priority: true, ..self }
    }
}

/// Where a switch looks logical addresses up.
pub trait RouteLookup {
    /// The entry of an address on a virtual network; none if it is invalid.
    fn entry(&self, network: u8, address: u8) -> Option<RoutingEntry>;
}

/// Why an entry is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Not 32 to 254.
    NotLogical,
    /// No port, or the configuration port, which only path addresses reach.
    Ports,
    /// No such table or virtual network.
    NoTable,
}

const BYTES: usize = 224;

/// `T` tables; each virtual network uses one of them, table 0 at reset. All entries are invalid at
/// reset.
#[derive(Clone, Debug)]
pub struct RoutingTable<const T: usize> {
    /// Ports are 0 for an invalid entry.
    entries: [[RoutingEntry; BYTES]; T],
    table_of: [u8; NETWORKS],
}

impl<const T: usize> Default for RoutingTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const T: usize> RoutingTable<T> {
    /// As at reset.
    pub const fn new() -> Self {
        const { assert!(T >= 1 && T <= NETWORKS, "1 to 64 tables") };
        Self { entries: [[RoutingEntry::any_of(0); BYTES]; T], table_of: [0; NETWORKS] }
    }

    /// Sets an entry, or makes it invalid.
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

    /// The entry of a logical address in a table; none if it is invalid.
    pub fn get(&self, table: u8, address: u8) -> Option<RoutingEntry> {
        let index = usize::from(address.checked_sub(FIRST)?);
        let entry = *self.entries.get(usize::from(table))?.get(index)?;
        (entry.ports != 0).then_some(entry)
    }

    /// The table of a virtual network.
    pub fn table_of(&self, network: u8) -> Option<u8> {
        self.table_of.get(usize::from(network)).copied()
    }

    /// Gives a virtual network its table.
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
