//! The management information base of a port's link, by the names of the standard.

use crate::device::Device;
use crate::{Error, LinkCommand, MibEntry, MibValue, Result};
use spfe_contract::{MIB_ITEMS, MibItem, MibScope, Status};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Name of a value: an item, and the lane or virtual channel.
///
/// The text form is the item's name in the standard or in the contract, followed by the number of
/// the lane or virtual channel where there are several: `Link Reset`, `Lane State[1]`,
/// `PRIORITY[3]`. Case, blanks and dashes do not matter. `lane-state.1` is the same as
/// `Lane State[1]`.
///
/// ```
/// use spfe::{MibItem, MibName};
/// let name: MibName = "lane-state.1".parse().unwrap();
/// assert_eq!((name.item, name.index), (MibItem::LaneState, 1));
/// assert_eq!(name.to_string(), "Lane State[1]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MibName {
    /// The item.
    pub item: MibItem,
    /// Lane or virtual channel; 0 for an item of the link.
    pub index: u32,
}

impl fmt::Display for MibName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.item.info();
        match info.scope {
            MibScope::Link => f.write_str(info.title),
            MibScope::Lane | MibScope::Vc => write!(f, "{}[{}]", info.title, self.index),
        }
    }
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase())
}

fn find(name: &str) -> Option<MibItem> {
    let same = |other: &str| letters(name).eq(letters(other));
    let info = MIB_ITEMS.iter().find(|info| same(info.title) || same(info.item.name()))?;
    Some(info.item)
}

/// Splits a text into name and number.
fn split(text: &str) -> (&str, Option<&str>) {
    if let Some((name, number)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        return (name, Some(number));
    }
    match text.split_once('.') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    }
}

impl FromStr for MibName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |status, what: String| Error::device(status, format!("'{text}': {what}"));
        let (name, number) = split(text);
        let item = find(name).ok_or_else(|| {
            let what = "no parameter, status or error of a link has this name; \
                        contract/REFERENCE.md and `spfe link --mib` list them";
            bad(Status::NotFound, what.to_owned())
        })?;
        let info = item.info();
        let of = match info.scope {
            MibScope::Link if number.is_none() => return Ok(Self { item, index: 0 }),
            MibScope::Link => {
                let what = format!("{} is of the link and takes no number", info.title);
                return Err(bad(Status::BadField, what));
            }
            MibScope::Lane => "lane",
            MibScope::Vc => "virtual channel",
        };
        let index = number.and_then(|number| number.parse().ok()).ok_or_else(|| {
            let title = info.title;
            bad(Status::BadField, format!("say which {of}, by number: '{title}[0]'"))
        })?;
        Ok(Self { item, index })
    }
}

/// The management information base of a port's link (ECSS-E-ST-50-11C 5.9): parameters, status and
/// errors of all layers, by the names of the standard. [`MIB_ITEMS`] lists them with unit and range.
///
/// An exact link has all items. A packet-level SpaceFibre link has Priority, Lane State, No Signal,
/// Data-Sending Lanes and Data-Receiving Lanes. A SpaceWire link has at most Priority.
///
/// ```
/// use spfe::Endpoint;
/// let endpoint = Endpoint::open("virtual:?link=exact:2x6.25G&time=virtual")?;
/// let mib = endpoint.port(0)?.mib();
/// mib.set("Expected Bandwidth[3]", 16384)?; // a quarter of the link for virtual channel 3
/// assert_eq!(mib.get("Expected Bandwidth[3]")?, 16384);
/// for (name, value) in mib.items()? {
///     println!("{name} = {value} {}", name.item.info().unit);
/// }
/// # Ok::<(), spfe::Error>(())
/// ```
pub struct Mib {
    device: Arc<Device>,
    port: u32,
}

impl Mib {
    pub(crate) fn new(device: Arc<Device>, port: u32) -> Self {
        Self { device, port }
    }

    /// Reads an item by name.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown name or number, BAD_FIELD for a missing number, BAD_OPCODE if this
    /// kind of link does not have the item.
    pub fn get(&self, name: &str) -> Result<u64> {
        self.read(name.parse()?)
    }

    /// Sets an item by name.
    ///
    /// # Errors
    /// Those of [`Mib::get`]; BAD_OPCODE for an item that can only be read, BAD_FIELD for a value out
    /// of range.
    pub fn set(&self, name: &str, value: u64) -> Result<()> {
        self.write(name.parse()?, value)
    }

    /// Reads an item.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown number, BAD_OPCODE if this kind of link does not have the item.
    pub fn read(&self, name: MibName) -> Result<u64> {
        self.device.backend().mib_item(self.port, name.item, name.index)
    }

    /// Sets an item.
    ///
    /// # Errors
    /// Those of [`Mib::read`]; BAD_OPCODE for an item that can only be read, BAD_FIELD for a value
    /// out of range.
    pub fn write(&self, name: MibName, value: u64) -> Result<()> {
        let MibName { item, index } = name;
        let command = LinkCommand::Set { item: item.raw(), index, value };
        self.device.backend().link_command(self.port, command)
    }

    /// All readable items of the link with their values, in the order of [`MIB_ITEMS`] and for each
    /// lane or virtual channel.
    ///
    /// # Errors
    /// DEVICE_GONE if the device is gone.
    pub fn items(&self) -> Result<Vec<(MibName, u64)>> {
        let list = self.device.backend().port_mib(self.port)?;
        Ok(list.iter().filter_map(item_of).collect())
    }
}

fn item_of(entry: &MibEntry) -> Option<(MibName, u64)> {
    let item = MibItem::from_raw(entry.item?)?;
    let MibValue::Number(value) = entry.value else { return None };
    Some((MibName { item, index: entry.index.unwrap_or(0) }, value))
}

#[cfg(test)]
mod tests;
