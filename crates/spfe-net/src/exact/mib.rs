//! What there is to see of a port, and what can be set.
//!
//! Items of the management information base have a number in the contract ([`MibItem`]); the rest
//! are states and counters of our own.

use super::Exact;
use serde::{Deserialize, Serialize};
use spfe_contract::{MIB_ITEMS, MibAccess, MibItem, MibLayer, MibScope};
use spfe_link::mib::Error;
use spfe_sim::fault::{Command, Fault, Kind, Target};
use spfe_sim::link::{End, Event, Observer, Side};
use spfe_sim::time::{NS, Ps};
use std::collections::BTreeMap;

/// Something to see of a port: an item of its management information base, a state or a counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MibEntry {
    /// Layer that it belongs to: `lane`, `multi-lane`, `data link`, `port`, ...
    pub layer: String,
    /// Name in the layer.
    pub name: String,
    /// Lane or virtual channel, where there are several.
    pub index: Option<u32>,
    /// Value.
    pub value: MibValue,
    /// Number in the contract, of an item of the standard's tables.
    pub item: Option<u8>,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MibValue {
    /// A number, or a counter that only goes up.
    Number(u64),
    /// A state, by name.
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
    /// An entry of a layer that is no item of the standard.
    pub fn new(layer: &str, name: &str, index: Option<u32>, value: impl Into<MibValue>) -> Self {
        let (layer, name) = (layer.to_owned(), name.to_owned());
        Self { layer, name, index, value: value.into(), item: None }
    }

    /// An item of the standard's tables.
    pub fn of_item(item: MibItem, index: u32, value: u64) -> Self {
        let info = item.info();
        let index = (info.scope != MibScope::Link).then_some(index);
        let item = Some(item.raw());
        Self { item, ..Self::new(layer_name(info.layer), info.title, index, value) }
    }
}

/// Name of a layer.
pub fn layer_name(layer: MibLayer) -> &'static str {
    match layer {
        MibLayer::Network => "network",
        MibLayer::DataLink => "data link",
        MibLayer::MultiLane => "multi-lane",
        MibLayer::Lane => "lane",
        MibLayer::Physical => "physical",
    }
}

/// The items that are there, in order, but for commands.
pub fn items_of(mut get: impl FnMut(MibItem, usize) -> Result<u64, Error>) -> Vec<MibEntry> {
    let mut list = Vec::new();
    for info in MIB_ITEMS.iter().filter(|info| info.access != MibAccess::Command) {
        let values = (0..).map_while(|index| Some((index, get(info.item, index as usize).ok()?)));
        list.extend(values.map(|(index, value)| MibEntry::of_item(info.item, index, value)));
    }
    list
}

/// Something done to a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkCommand {
    /// Link reset: what is in the buffers of both ends is gone, packets cut by it end with EEP.
    Reset,
    /// Sets an item of the management information base.
    Set {
        /// Its number: that of a [`MibItem`].
        item: u8,
        /// Lane or virtual channel; 0 for an item of the link.
        index: u32,
        /// Its value.
        value: u64,
    },
    /// What this end sends does not arrive for a while: the wire is open.
    Cut {
        /// Lane; none for all.
        lane: Option<u32>,
        /// How long in ns, 1 to 10 ms of link time.
        duration_ns: u64,
    },
}

/// Longest cut of a wire, ns.
pub const CUT_MAX_NS: u64 = 10_000_000;

/// What has been seen of an end of a link.
#[derive(Clone, Debug, Default)]
struct Seen {
    lanes: BTreeMap<u8, &'static str>,
    alignment: Option<(&'static str, u16, u16)>,
    reset: Option<&'static str>,
    recoveries: u64,
    longest_ps: Ps,
}

/// Remembers what happens at the ends of links.
#[derive(Debug, Default)]
pub struct Watch {
    ends: Vec<[Seen; 2]>,
}

impl Watch {
    /// Looks at so many links.
    pub fn new(links: usize) -> Self {
        Self { ends: (0..links).map(|_| Default::default()).collect() }
    }

    /// What has been seen at an end.
    pub fn entries(&self, link: usize, side: Side) -> Vec<MibEntry> {
        let Some(seen) = self.ends.get(link).map(|ends| &ends[side as usize]) else {
            return vec![];
        };
        let mut list = Vec::new();
        for (lane, state) in &seen.lanes {
            list.push(MibEntry::new("lane", "state", Some(u32::from(*lane)), *state));
        }
        if let Some((state, sending, receiving)) = seen.alignment {
            list.push(MibEntry::new("multi-lane", "alignment", None, state));
            list.push(MibEntry::new("multi-lane", "lanes sending", None, u64::from(sending)));
            list.push(MibEntry::new("multi-lane", "lanes receiving", None, u64::from(receiving)));
        }
        if let Some(state) = seen.reset {
            list.push(MibEntry::new("data link", "link reset state", None, state));
        }
        list.push(MibEntry::new("data link", "recoveries", None, seen.recoveries));
        let longest = seen.longest_ps.div_ceil(1000);
        list.push(MibEntry::new("data link", "longest recovery (ns)", None, longest));
        list
    }
}

impl Observer for Watch {
    fn event(&mut self, _at: Ps, link: u32, side: Side, event: Event) {
        let Some(seen) = self.ends.get_mut(link as usize).map(|ends| &mut ends[side as usize])
        else {
            return;
        };
        match event {
            Event::LaneState { lane, state } => drop(seen.lanes.insert(lane, state)),
            Event::Alignment { state, sending, receiving } => {
                seen.alignment = Some((state, sending, receiving));
            }
            Event::LinkReset { state } => seen.reset = Some(state),
            Event::Recovered { after_ps } => {
                seen.recoveries += 1;
                seen.longest_ps = seen.longest_ps.max(after_ps);
            }
            Event::Error { .. } | Event::Retry | Event::Fault { .. } | Event::Command(_) => {}
            Event::Lasting { .. } | Event::CodeLost { .. } => {}
        }
    }
}

/// Counters and items of an end.
pub fn of_end(end: &mut dyn End) -> Vec<MibEntry> {
    let counters = end.counters();
    let number = |name: &str, vc: usize, value: u64| {
        MibEntry::new("data link", name, Some(vc as u32), value)
    };
    let mut list: Vec<_> = counters
        .named
        .iter()
        .map(|(name, value)| MibEntry::new("data link", name, None, *value))
        .collect();
    for vc in 0..end.channels() {
        for (name, words) in
            [("words sent", &counters.sent_words), ("words received", &counters.received_words)]
        {
            list.extend(words.get(vc).map(|words| number(name, vc, *words)));
        }
    }
    list.extend(items_of(|id, index| end.mib(id, index)));
    list
}

impl Exact {
    /// What there is to see of a port's link.
    pub fn mib(&self, face: usize) -> Vec<MibEntry> {
        self.lock().fabric.mib(face)
    }

    /// The value of an item of a port's link.
    pub fn item(&self, face: usize, id: MibItem, index: usize) -> Result<u64, Error> {
        self.at(face, |at| at.end.mib(id, index))
    }

    /// Sets an item of a port's link.
    pub fn set_item(
        &self,
        face: usize,
        id: MibItem,
        index: usize,
        value: u64,
    ) -> Result<(), Error> {
        self.at(face, |at| {
            at.end.set_mib(id, index, value)?;
            // The link will do something by itself.
            at.moved = true;
            Ok(())
        })
    }

    /// Resets a port's link; false if it has no reset.
    pub fn reset(&self, face: usize) -> bool {
        self.at(face, |at| {
            at.moved = true;
            at.end.set_mib(MibItem::LinkReset, 0, 1).is_ok() || at.end.command(Command::LinkReset)
        })
    }

    /// What a port sends does not arrive for a while; why not, if so.
    pub fn cut(&self, face: usize, lane: Option<u32>, duration_ns: u64) -> Result<(), String> {
        if !(1..=CUT_MAX_NS).contains(&duration_ns) {
            return Err(format!("a cut of {duration_ns} ns; 1 to {CUT_MAX_NS} allowed"));
        }
        let fault = Fault {
            lane: lane.map(|lane| u8::try_from(lane).unwrap_or(u8::MAX)),
            target: Target::Any,
            kind: Kind::Cut { duration_ps: duration_ns * NS },
        };
        let mut state = self.lock();
        state.moved_at = state.fabric.now();
        if state.fabric.inject(face, fault) {
            return Ok(());
        }
        Err(format!("lane {}: this link has no such lane", lane.unwrap_or(0)))
    }
}
