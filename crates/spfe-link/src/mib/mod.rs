//! The management information base (50-11C 5.9, 6.5): parameters, status and errors of all layers
//! of one end of a link, each under its name in the standard.
//!
//! Values are numbers: a flag is 0 or 1, a mask has a bit per lane or time-slot. An error stays set
//! until [`LinkMib::clear_errors`]. The routing tables and time-outs of a switch are not here but
//! in [`crate::network::RoutingTable`] and [`crate::network::RoutingSwitch`].

mod read;
mod write;

pub use spfe_contract::{MIB_ITEMS, MibAccess, MibInfo, MibItem, MibKind, MibLayer, MibScope};

use crate::datalink::{DataLink, LinkBroadcast, Store};
use crate::multilane::MultiLane;
use core::fmt;

/// Finds the item with this name, in the spelling of the standard.
pub fn find(name: &str) -> Option<&'static MibInfo> {
    MIB_ITEMS.iter().find(|info| info.title == name)
}

/// Reason why an item cannot be read or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// No item has this name.
    Name,
    /// This kind of link has no such item.
    Absent,
    /// The index is out of range.
    Index {
        /// Number of lanes or virtual channels of the link; 1 for an item of the link itself.
        count: usize,
    },
    /// The item is read-only.
    ReadOnly,
    /// The value is out of range.
    Range {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("no parameter, status or error has this name"),
            Self::Absent => f.write_str("this kind of link has no such item"),
            Self::Index { count } => write!(f, "index: 0 to {} allowed", count.saturating_sub(1)),
            Self::ReadOnly => f.write_str("the item is read-only"),
            Self::Range { min, max } => write!(f, "value: {min} to {max} allowed"),
        }
    }
}

impl core::error::Error for Error {}

/// An item with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MibReading {
    /// Description of the item.
    pub item: &'static MibInfo,
    /// Lane or virtual channel; 0 for the link.
    pub index: usize,
    /// Value of the item.
    pub value: u64,
}

/// Registers of the network layer of a node (50-11C 5.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRegisters<const V: usize> {
    virtual_network: [u8; V],
    /// Broadcast channel on which the node sends.
    pub broadcast_channel: u8,
    /// Type of the broadcast messages that begin a time-slot; none has type [`NO_SCHEDULE`].
    pub schedule_type: u16,
}

/// No broadcast message begins a time-slot.
pub const NO_SCHEDULE: u16 = 256;

impl<const V: usize> Default for NodeRegisters<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const V: usize> NodeRegisters<V> {
    /// Values after reset: each virtual channel is on the virtual network of the same number.
    pub fn new() -> Self {
        let virtual_network = core::array::from_fn(|vc| vc as u8);
        Self { virtual_network, broadcast_channel: 0, schedule_type: NO_SCHEDULE }
    }

    /// The time-slot that begins with a broadcast message, sent or received.
    pub fn slot_of(&self, message: &LinkBroadcast) -> Option<u8> {
        (u16::from(message.kind) == self.schedule_type).then_some(message.data[0] & 63)
    }

    /// Virtual network of a virtual channel, if the channel exists.
    pub fn virtual_network(&self, vc: usize) -> Option<u8> {
        self.virtual_network.get(vc).copied()
    }
}

/// The management information base of one end of a link.
pub struct LinkMib<'a, B, const L: usize, const V: usize> {
    /// Data link layer.
    pub link: &'a mut DataLink<B, L, V>,
    /// Multi-lane layer and lanes.
    pub lanes: &'a mut MultiLane<L>,
    /// Number of lanes, at most `L`. The other lanes are held in reset and have no items.
    pub lane_count: usize,
    /// Network layer.
    pub node: &'a mut NodeRegisters<V>,
}

impl<B: Store, const L: usize, const V: usize> LinkMib<'_, B, L, V> {
    /// Number of lanes or virtual channels that have this item; 1 for an item of the link.
    pub fn count(&self, item: &MibInfo) -> usize {
        match item.scope {
            MibScope::Link => 1,
            MibScope::Lane => self.lane_count.min(L),
            MibScope::Vc => self.link.virtual_channels(),
        }
    }

    /// Range of an item on this link. It is the standard's range, reduced to what this link
    /// supports.
    pub fn range(&self, item: &MibInfo) -> (u64, u64) {
        let max = match item.item {
            MibItem::MaxDataSendingLanes => self.lane_count.min(L) as u64,
            MibItem::Priority => u64::from(self.link.qos().limits().priority_levels) - 1,
            _ => item.max,
        };
        (item.min, max)
    }

    /// Reads an item. Fails if there is no such lane or virtual channel.
    pub fn get(&self, id: MibItem, index: usize) -> Result<u64, Error> {
        let count = self.count(id.info());
        if index < count { Ok(self.read(id, index)) } else { Err(Error::Index { count }) }
    }

    /// Sets an item. Fails if there is no such lane or virtual channel, if the item is read-only,
    /// or if the value is out of range.
    pub fn set(&mut self, id: MibItem, index: usize, value: u64) -> Result<(), Error> {
        let item = id.info();
        let count = self.count(item);
        if index >= count {
            return Err(Error::Index { count });
        }
        let fixed = id == MibItem::VirtualNetwork && index == 0;
        let (min, max) = if fixed { (0, 0) } else { self.range(item) };
        if item.access == MibAccess::Ro {
            Err(Error::ReadOnly)
        } else if value < min || value > max {
            Err(Error::Range { min, max })
        } else {
            self.write(id, index, value);
            Ok(())
        }
    }

    /// Reads an item by its name.
    pub fn get_by_name(&self, name: &str, index: usize) -> Result<u64, Error> {
        self.get(find(name).ok_or(Error::Name)?.item, index)
    }

    /// Sets an item by its name.
    pub fn set_by_name(&mut self, name: &str, index: usize, value: u64) -> Result<(), Error> {
        self.set(find(name).ok_or(Error::Name)?.item, index, value)
    }

    /// Calls `each` with the value of every item but commands, for each lane and virtual channel.
    pub fn visit(&self, mut each: impl FnMut(MibReading)) {
        for item in MIB_ITEMS.iter().filter(|item| item.access != MibAccess::Command) {
            for index in 0..self.count(item) {
                each(MibReading { item, index, value: self.read(item.item, index) });
            }
        }
    }

    /// Clears the errors of all layers.
    pub fn clear_errors(&mut self) {
        self.link.clear_errors();
        self.lanes.clear_status();
    }
}
