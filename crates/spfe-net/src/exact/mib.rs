//! What there is to see of a port, and what can be set.

use serde::{Deserialize, Serialize};
use spfe_link::qos;
use spfe_sim::fault::Command;
use spfe_sim::link::{End, Event, Observer, Side};
use spfe_sim::time::Ps;
use std::collections::BTreeMap;

/// A value of a port's management information base.
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
    /// An entry of a layer.
    pub fn new(layer: &str, name: &str, index: Option<u32>, value: impl Into<MibValue>) -> Self {
        Self { layer: layer.to_owned(), name: name.to_owned(), index, value: value.into() }
    }
}

/// A parameter of a virtual channel's quality of service (50-11C 5.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VcParameter {
    /// Priority, 0 (the most urgent) to 15.
    Priority,
    /// Expected share of the link in 65536ths, 0 to 65535.
    Bandwidth,
    /// Bit T: may send in time-slot T.
    Slots,
}

/// Something done to a port's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LinkCommand {
    /// Link reset: what is in the buffers of both ends is gone, packets cut by it end with EEP.
    Reset,
    /// Sets a parameter of a virtual channel.
    Set {
        /// Virtual channel.
        vc: u32,
        /// Parameter.
        parameter: VcParameter,
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

/// Counters and parameters of an end.
pub fn of_end(end: &dyn End) -> Vec<MibEntry> {
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
        if let Some(qos) = end.qos(vc) {
            list.push(number("priority", vc, u64::from(qos.priority)));
            list.push(number("expected bandwidth", vc, u64::from(qos.expected_bandwidth)));
            list.push(number("time-slots", vc, qos.time_slots));
        }
        for (name, words) in
            [("words sent", &counters.sent_words), ("words received", &counters.received_words)]
        {
            list.extend(words.get(vc).map(|words| number(name, vc, *words)));
        }
    }
    list
}

/// Does as told at an end; why not, if so.
pub fn command(end: &mut dyn End, command: LinkCommand) -> Result<(), String> {
    match command {
        LinkCommand::Reset if end.command(Command::LinkReset) => Ok(()),
        LinkCommand::Reset => Err("this link has no reset".to_owned()),
        LinkCommand::Set { vc, parameter, value } => set(end, vc, parameter, value),
        // A fault of the wire, not of its end.
        LinkCommand::Cut { .. } => Ok(()),
    }
}

fn set(end: &mut dyn End, vc: u32, parameter: VcParameter, value: u64) -> Result<(), String> {
    let channel = vc as usize;
    let most = end.channels().saturating_sub(1);
    let Some(mut qos) = end.qos(channel) else {
        return Err(format!("VC {vc}: this link has quality of service on VCs 0 to {most}"));
    };
    let limit = |most: u64| {
        if value <= most {
            Ok(value)
        } else {
            Err(format!("VC {vc}: {value}; 0 to {most} allowed"))
        }
    };
    match parameter {
        VcParameter::Priority => qos.priority = limit(15)? as u8,
        VcParameter::Bandwidth => qos.expected_bandwidth = limit(0xffff)? as u16,
        VcParameter::Slots => qos.time_slots = value,
    }
    let qos: qos::Parameters = qos;
    if end.set_qos(channel, qos) { Ok(()) } else { Err(format!("VC {vc}: refused by the link")) }
}
