//! Counters of an interface, as text and as JSON.

use super::inbound::Drops;
use crate::context::Context;
use crate::output;
use serde_json::{Value, json};
use std::io::Write;

/// Frames and their bytes without encapsulation headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub frames: u64,
    pub bytes: u64,
}

impl Moved {
    /// Counts a frame.
    pub fn add(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
    }

    fn sum(self, other: Self) -> Self {
        Self { frames: self.frames + other.frames, bytes: self.bytes + other.bytes }
    }

    fn json(self) -> Value {
        json!({ "frames": self.frames, "bytes": self.bytes })
    }

    fn text(self) -> String {
        format!("{}, {}", output::plural(self.frames, "frame"), output::bytes(self.bytes))
    }
}

/// What an interface has exchanged with one far end since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// From the interface to the network.
    pub sent: Moved,
    /// Submitted groups of frames; each has one completion.
    pub groups: u64,
    /// Frames sent that stand for several segments.
    pub sent_large: u64,
    /// Frames of the interface longer than its MTU.
    pub sent_long: u64,
    /// Frames of the interface whose segments the far end does not understand (any more).
    pub sent_offload: u64,
    /// Frames for a node that had no room.
    pub sent_full: u64,
    /// Frames for a node that was not there.
    pub sent_absent: u64,
    /// Groups that were not sent because the far end went away or the device failed.
    pub failed: u64,
    /// From the network to the interface.
    pub received: Moved,
    /// Frames received that stand for several segments.
    pub received_large: u64,
    /// Packets of the network that were dropped.
    pub drops: Drops,
    /// Frames that the kernel refused because the interface was down or memory was short.
    pub refused: u64,
}

impl Counters {
    fn sum(self, other: Self) -> Self {
        Self {
            sent: self.sent.sum(other.sent),
            groups: self.groups + other.groups,
            sent_large: self.sent_large + other.sent_large,
            sent_long: self.sent_long + other.sent_long,
            sent_offload: self.sent_offload + other.sent_offload,
            sent_full: self.sent_full + other.sent_full,
            sent_absent: self.sent_absent + other.sent_absent,
            failed: self.failed + other.failed,
            received: self.received.sum(other.received),
            received_large: self.received_large + other.received_large,
            drops: self.drops.sum(other.drops),
            refused: self.refused + other.refused,
        }
    }

    /// Names and values of the loss counters.
    fn lost(&self) -> [(&'static str, u64); 11] {
        let Drops { cut, short, long, header, offload } = self.drops;
        [
            ("cut", cut),
            ("short", short),
            ("long", long),
            ("wrong_header", header),
            ("wrong_offload", offload),
            ("refused", self.refused),
            ("not_sent_long", self.sent_long),
            ("not_sent_offload", self.sent_offload),
            ("not_sent_full", self.sent_full),
            ("not_sent_absent", self.sent_absent),
            ("not_sent_failed", self.failed),
        ]
    }

    fn json(&self) -> Value {
        let lost = self.lost().map(|(name, count)| (name.to_owned(), count.into()));
        json!({
            "sent": self.sent.json(),
            "groups": self.groups,
            "received": self.received.json(),
            "large": { "sent": self.sent_large, "received": self.received_large },
            "dropped": serde_json::Map::from_iter(lost),
        })
    }

    /// The counters as text; loss counters only if they are not zero.
    fn text(&self, version: Option<u8>, unknown: u64) -> String {
        let far = match version {
            None => "",
            Some(0) => "the far end says nothing yet; ",
            Some(1) => "the far end understands version 1; ",
            Some(_) => "the far end understands version 2; ",
        };
        let lost = self.lost().into_iter().chain([("not_sent_unknown", unknown)]);
        let lost = lost.filter(|(_, count)| *count != 0);
        let lost: Vec<_> =
            lost.map(|(name, count)| format!("{count} {}", name.replace('_', " "))).collect();
        let lost = if lost.is_empty() { "none".to_owned() } else { lost.join(", ") };
        format!(
            "sent {} in {}, {} with segments; received {}, {} with segments; {far}dropped {lost}",
            self.sent.text(),
            output::plural(self.groups, "group"),
            self.sent_large,
            self.received.text(),
            self.received_large
        )
    }
}

/// A far end and its counters.
#[derive(Clone, Copy, Debug)]
pub struct FarReport {
    /// Number of the node; 0 on a link, which has one far end.
    pub node: u16,
    /// The far end is there.
    pub ready: bool,
    /// Version that it understands; 0 while that is unknown.
    pub version: u8,
    pub counters: Counters,
}

/// All counters of an interface.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    pub name: &'a str,
    pub far_ends: Vec<FarReport>,
    /// Frames to addresses of no node.
    pub unknown: u64,
    /// Number of sleeps of the thread.
    pub sleeps: u64,
}

impl Report<'_> {
    fn total(&self) -> Counters {
        let counters = self.far_ends.iter().map(|far| far.counters);
        counters.reduce(Counters::sum).unwrap_or_default()
    }

    /// The version of the far end of a link.
    fn version(&self) -> Option<u8> {
        self.far_ends.first().filter(|far| far.node == 0).map(|far| far.version)
    }

    fn json(&self) -> Value {
        let mut object = self.total().json();
        object["interface"] = self.name.into();
        object["sleeps"] = self.sleeps.into();
        match self.version() {
            Some(version) => object["peer_version"] = version.into(),
            None => {
                object["dropped"]["not_sent_unknown"] = self.unknown.into();
                let nodes = self.far_ends.iter().map(|far| {
                    let mut object = far.counters.json();
                    object["node"] = far.node.into();
                    object["ready"] = far.ready.into();
                    object["peer_version"] = far.version.into();
                    object
                });
                object["nodes"] = nodes.collect();
            }
        }
        object
    }

    fn text(&self) -> String {
        let mut text =
            format!("{}: {}", self.name, self.total().text(self.version(), self.unknown));
        for far in self.far_ends.iter().filter(|far| far.node != 0) {
            let state = if far.ready { "READY" } else { "not READY" };
            let counters = far.counters.text(Some(far.version), 0);
            text.push_str(&format!("\n  node {}, {state}: {counters}", far.node));
        }
        text
    }

    pub fn print(&self, context: &Context) {
        let text = if context.json { self.json().to_string() } else { self.text() };
        // Ignore errors: the interface works without a reader of its counters.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{text}");
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(node: u16, counters: Counters) -> Report<'static> {
        let far = FarReport { node, ready: true, version: 0, counters };
        Report { name: "spfe0", far_ends: vec![far], unknown: 0, sleeps: 7 }
    }

    #[test]
    fn losses_are_named() {
        let mut counters = Counters::default();
        counters.sent.add(60);
        let text = "spfe0: sent 1 frame, 60 bytes in 0 groups, 0 with segments; received 0 frames, \
                    0 bytes, 0 with segments; the far end says nothing yet; dropped";
        assert_eq!(report(0, counters).text(), format!("{text} none"));
        counters.drops.header = 2;
        counters.failed = 1;
        let lost = "2 wrong header, 1 not sent failed";
        assert_eq!(report(0, counters).text(), format!("{text} {lost}"));
        let object = report(0, counters).json();
        assert_eq!(object["dropped"]["wrong_header"], 2);
        assert_eq!(object["sent"]["bytes"], 60);
        assert_eq!((&object["peer_version"], &object["sleeps"]), (&0.into(), &7.into()));
        assert!(object.get("nodes").is_none());
    }

    #[test]
    fn nodes_have_counters_of_their_own() {
        let mut counters = Counters { sent_absent: 3, ..Counters::default() };
        counters.received.add(100);
        let mut report = report(2, counters);
        report.far_ends.push(FarReport { node: 3, ready: false, version: 2, counters });
        report.unknown = 5;
        let object = report.json();
        assert_eq!(object["received"], json!({ "frames": 2, "bytes": 200 }));
        assert_eq!(object["dropped"]["not_sent_absent"], 6);
        assert_eq!(object["dropped"]["not_sent_unknown"], 5);
        assert_eq!(
            (&object["nodes"][1]["node"], &object["nodes"][1]["ready"]),
            (&3.into(), &false.into())
        );
        let lines: Vec<_> = report.text().lines().map(str::to_owned).collect();
        assert!(
            lines[0].ends_with("dropped 6 not sent absent, 5 not sent unknown"),
            "{}",
            lines[0]
        );
        assert!(lines[1].starts_with("  node 2, READY: sent 0 frames"), "{}", lines[1]);
        assert!(lines[2].starts_with("  node 3, not READY: ") && lines[2].contains("version 2"));
    }
}
