//! States, counters and items of the management information base of an exact link.

use spfe_host::mib::items_of;
use spfe_host::{MibEntry, MibFault};
use spfe_link::mib::Error;
use spfe_sim::link::{EndEvent, Observer, Side, SimulatedEnd};
use spfe_sim::time::Ps;
use std::collections::BTreeMap;

/// States of an end of a link, from its events.
#[derive(Clone, Debug, Default)]
struct Seen {
    lanes: BTreeMap<u8, &'static str>,
    alignment: Option<(&'static str, u16, u16)>,
    reset: Option<&'static str>,
    recoveries: u64,
    longest_ps: Ps,
}

/// Observer that keeps the states of the ends of links.
#[derive(Debug, Default)]
pub struct Watch {
    ends: Vec<[Seen; 2]>,
}

impl Watch {
    /// An observer of a number of links.
    pub fn new(links: usize) -> Self {
        Self { ends: (0..links).map(|_| Default::default()).collect() }
    }

    /// The states of an end.
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
            list.push(MibEntry::new("multi-lane", "lanes sending", None, &*lanes(sending)));
            list.push(MibEntry::new("multi-lane", "lanes receiving", None, &*lanes(receiving)));
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

/// The lanes of a mask: `0-1`, `0,2`, `none`.
fn lanes(mask: impl Into<u64>) -> String {
    let (mask, mut parts, mut lane) = (mask.into(), Vec::new(), 0);
    while mask.checked_shr(lane).is_some_and(|rest| rest != 0) {
        let count = (mask >> lane).trailing_ones();
        match count {
            0 => {}
            1 => parts.push(lane.to_string()),
            _ => parts.push(format!("{lane}-{}", lane + count - 1)),
        }
        lane += count.max(1);
    }
    if parts.is_empty() { "none".to_owned() } else { parts.join(",") }
}

impl Observer for Watch {
    fn event(&mut self, _at: Ps, link: u32, side: Side, event: EndEvent) {
        let Some(seen) = self.ends.get_mut(link as usize).map(|ends| &mut ends[side as usize])
        else {
            return;
        };
        match event {
            EndEvent::LaneState { lane, state } => drop(seen.lanes.insert(lane, state)),
            EndEvent::Alignment { state, sending, receiving } => {
                seen.alignment = Some((state, sending, receiving));
            }
            EndEvent::LinkReset { state } => seen.reset = Some(state),
            EndEvent::Recovered { after_ps } => {
                seen.recoveries += 1;
                seen.longest_ps = seen.longest_ps.max(after_ps);
            }
            EndEvent::Error { .. }
            | EndEvent::Retry
            | EndEvent::Fault { .. }
            | EndEvent::Command(_) => {}
            EndEvent::Lasting { .. } | EndEvent::CodeLost { .. } => {}
        }
    }
}

/// Counters and MIB items of an end.
pub fn of_end(end: &mut dyn SimulatedEnd) -> Vec<MibEntry> {
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
    list.extend(items_of(|item, index| end.mib(item, index as usize).map_err(fault)));
    list
}

/// Converts an error of a link into that of the host crate.
pub fn fault(error: Error) -> MibFault {
    match error {
        Error::Name | Error::Absent => MibFault::Absent,
        Error::Index { count } => MibFault::Index { count },
        Error::ReadOnly => MibFault::ReadOnly,
        Error::Range { min, max } => MibFault::Range { min, max },
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lanes_of_a_mask() {
        for (mask, text) in
            [(0u64, "none"), (1, "0"), (3, "0-1"), (0b1_0110, "1-2,4"), (0xffff, "0-15")]
        {
            assert_eq!(super::lanes(mask), text);
        }
    }
}
