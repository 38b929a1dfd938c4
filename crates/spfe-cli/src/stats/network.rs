//! What `spfe stats` shows of a network with exact links: its time, and what routers discard.

use crate::output::{printable, table};
use serde_json::{Value, json};
use spfe::{MibEntry, MibValue};

/// State of a network with exact links.
#[derive(Default)]
pub struct NetworkState {
    /// Time of the links, us; `None` without exact links.
    pub link_time_us: Option<u64>,
    is_busy: bool,
    /// Packets that routers discarded or cut: router, port and reason; virtual channel; number.
    drops: Vec<(String, u32, u64)>,
}

impl NetworkState {
    /// Takes it from the entries of a port.
    pub fn of(entries: &[MibEntry]) -> Self {
        let mut state = Self::default();
        for entry in entries {
            match (&*entry.layer, &*entry.name, &entry.value) {
                ("network", "link time (us)", MibValue::Number(us)) => {
                    state.link_time_us = Some(*us);
                }
                ("network", "links", MibValue::Text(text)) => state.is_busy = text == "busy",
                ("router", name, MibValue::Number(packets)) => {
                    let vc = entry.index.unwrap_or_default();
                    state.drops.push((printable(name), vc, *packets));
                }
                _ => {}
            }
        }
        state
    }

    /// Link time over real time since an earlier state, while the links are busy.
    fn pace(&self, before: &Self, seconds: f64) -> Option<f64> {
        let passed = self.link_time_us?.checked_sub(before.link_time_us?)?;
        (self.is_busy && before.is_busy).then_some(passed as f64 / 1e6 / seconds)
    }

    /// Lines below the counters; empty for a network without exact links.
    pub fn text(&self, before: Option<(&Self, Option<f64>)>) -> String {
        let Some(us) = self.link_time_us else { return String::new() };
        let state = if self.is_busy { "busy" } else { "idle" };
        let mut text = format!("\nlink time {:.6} s, links {state}", us as f64 / 1e6);
        let pace = before.and_then(|(before, seconds)| self.pace(before, seconds?));
        if let Some(pace) = pace {
            text += &format!(", {pace:.4} times real time");
        }
        text.push('\n');
        if !self.drops.is_empty() {
            let row = |(name, vc, packets): &(String, u32, u64)| {
                vec![name.clone(), vc.to_string(), packets.to_string()]
            };
            let rows: Vec<_> = self.drops.iter().map(row).collect();
            text += &format!("\n{}", table(&["DISCARDED BY ROUTER", "VC", "PACKETS"], 1, &rows));
        }
        text
    }

    /// Adds it to a JSON object.
    pub fn add_to(&self, object: &mut Value) {
        let Some(us) = self.link_time_us else { return };
        let drop = |(name, vc, packets): &(String, u32, u64)| json!({ "what": name, "vc": vc, "packets": packets });
        object["link_time_us"] = us.into();
        object["links_busy"] = self.is_busy.into();
        object["discarded"] = self.drops.iter().map(drop).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_and_pace_come_from_the_entries() {
        let entries = |us: u64| {
            [
                MibEntry::new("network", "link time (us)", None, us),
                MibEntry::new("network", "links", None, "busy"),
                MibEntry::new("router", "left port 1: NoPort", Some(2), 7u64),
            ]
        };
        let (before, now) = (NetworkState::of(&entries(1000)), NetworkState::of(&entries(51_000)));
        let text = now.text(Some((&before, Some(1.0))));
        assert!(
            text.contains("link time 0.051000 s, links busy, 0.0500 times real time"),
            "{text}"
        );
        assert!(text.contains("left port 1: NoPort   2        7"), "{text}");
        assert_eq!(NetworkState::of(&[]).text(None), "");
    }
}
