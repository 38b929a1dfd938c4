//! Readable values and commands of a port and its link.
//!
//! Items of the management information base have their number in the contract ([`MibItem`]); other
//! entries are states and counters of the implementation.

use serde::{Deserialize, Serialize};
use spfe_contract::{MIB_ITEMS, MibAccess, MibItem, MibLayer, MibScope};

/// A parameter, state, error or counter of a port or its link, with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MibEntry {
    /// Layer: `lane`, `multi-lane`, `data link`, `network`, `physical`, `fabric`, `port`,
    /// `rdma target` or `queue pair`.
    pub layer: String,
    /// Name, unique in the layer.
    pub name: String,
    /// Number of the lane, virtual channel or node; `None` for a value of the whole link.
    pub index: Option<u32>,
    /// Value.
    pub value: MibValue,
    /// Number of the [`MibItem`]; `None` for a state or counter that the standard does not define.
    pub item: Option<u8>,
}

/// A value of a [`MibEntry`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MibValue {
    /// A number; counters only go up.
    Number(u64),
    /// The name of a state.
    Text(String),
}

impl From<u64> for MibValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for MibValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl MibEntry {
    /// An entry that is not an item of the standard.
    pub fn new(layer: &str, name: &str, index: Option<u32>, value: impl Into<MibValue>) -> Self {
        let (layer, name) = (layer.to_owned(), name.to_owned());
        Self { layer, name, index, value: value.into(), item: None }
    }

    /// An item of the standard's tables; `index` is ignored for an item of the whole link.
    pub fn of_item(item: MibItem, index: u32, value: u64) -> Self {
        let info = item.info();
        let index = (info.scope != MibScope::Link).then_some(index);
        let item = Some(item.raw());
        Self { item, ..Self::new(layer_name(info.layer), info.title, index, value) }
    }
}

/// Name of a layer, as [`MibEntry::layer`] has it.
pub fn layer_name(layer: MibLayer) -> &'static str {
    match layer {
        MibLayer::Network => "network",
        MibLayer::DataLink => "data link",
        MibLayer::MultiLane => "multi-lane",
        MibLayer::Lane => "lane",
        MibLayer::Physical => "physical",
    }
}

/// Every readable item for which `get` returns a value, in the order of [`MIB_ITEMS`]. For each
/// item, `get` is called with index 0, 1, 2 and so on until it fails.
pub fn items_of(mut get: impl FnMut(MibItem, u32) -> Result<u64, MibFault>) -> Vec<MibEntry> {
    let mut list = Vec::new();
    for info in MIB_ITEMS.iter().filter(|info| info.access != MibAccess::Command) {
        let values = (0..).map_while(|index| Some((index, get(info.item, index).ok()?)));
        list.extend(values.map(|(index, value)| MibEntry::of_item(info.item, index, value)));
    }
    list
}

/// Why an item cannot be read or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MibFault {
    /// This kind of link does not have the item.
    Absent,
    /// The lane or virtual channel does not exist.
    Index {
        /// Number of lanes or virtual channels; 1 for an item of the whole link.
        count: usize,
    },
    /// The item can only be read.
    ReadOnly,
    /// The value is out of range.
    Range {
        /// Least value allowed.
        min: u64,
        /// Greatest value allowed.
        max: u64,
    },
}

/// An operation on a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkCommand {
    /// Link reset: discards the buffers of both ends; packets that are cut end with EEP.
    Reset,
    /// Sets an item of the management information base.
    Set {
        /// Number of the [`MibItem`].
        item: u8,
        /// Lane or virtual channel; 0 for an item of the link.
        index: u32,
        /// New value.
        value: u64,
    },
    /// Opens the wire: what this end sends is lost for a while.
    Cut {
        /// Lane; `None` for all lanes.
        lane: Option<u32>,
        /// Duration in ns of link time, 1 to [`CUT_MAX_NS`].
        duration_ns: u64,
    },
}

/// A fault given to a running network that waits, repeats or lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultInfo {
    /// Its number in this network.
    pub number: u32,
    /// Its name: kind and place, unless it was given one.
    pub name: String,
    /// Whether it is in effect now.
    pub active: bool,
    /// How often it has occurred.
    pub times: u64,
    /// Time until it occurs again, in ns of link time.
    pub next_ns: Option<u64>,
    /// Time until its effect ends, in ns of link time; `None` until it is restored.
    pub left_ns: Option<u64>,
}

/// Longest cut of a wire: 10 ms.
pub const CUT_MAX_NS: u64 = 10_000_000;
