//! Counters of an interface, as text and as JSON.

use super::inbound::Drops;
use crate::context::Context;
use crate::output;
use serde_json::json;
use std::io::Write;

/// Frames and their bytes without encapsulation headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Frames.
    pub frames: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Moved {
    /// Counts a frame.
    pub fn add(&mut self, bytes: usize) {
        self.frames += 1;
        self.bytes += bytes as u64;
    }
}

/// Counters of an interface since it was created.
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
    /// Version that the far end understands; 0 while that is unknown.
    pub peer_version: u8,
    /// Number of sleeps of the thread.
    pub sleeps: u64,
}

impl Counters {
    /// Names and values of the loss counters.
    fn lost(&self) -> [(&'static str, u64); 9] {
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
            ("not_sent_failed", self.failed),
        ]
    }

    fn json(&self, name: &str) -> serde_json::Value {
        let moved = |moved: Moved| json!({ "frames": moved.frames, "bytes": moved.bytes });
        let lost = self.lost().map(|(name, count)| (name.to_owned(), count.into()));
        json!({
            "interface": name,
            "sent": moved(self.sent),
            "groups": self.groups,
            "received": moved(self.received),
            "large": { "sent": self.sent_large, "received": self.received_large },
            "peer_version": self.peer_version,
            "dropped": serde_json::Map::from_iter(lost),
            "sleeps": self.sleeps,
        })
    }

    /// The counters as text; loss counters only if they are not zero.
    fn text(&self, name: &str) -> String {
        let moved = |moved: Moved| {
            format!("{}, {}", output::plural(moved.frames, "frame"), output::bytes(moved.bytes))
        };
        let groups = output::plural(self.groups, "group");
        let far = match self.peer_version {
            0 => "the far end says nothing yet".to_owned(),
            version => format!("the far end understands version {version}"),
        };
        let mut text = format!(
            "{name}: sent {} in {groups}, {} with segments; received {}, {} with segments; {far}; \
             dropped",
            moved(self.sent),
            self.sent_large,
            moved(self.received),
            self.received_large
        );
        let lost = self.lost().into_iter().filter(|(_, count)| *count != 0);
        let lost: Vec<_> =
            lost.map(|(name, count)| format!("{count} {}", name.replace('_', " "))).collect();
        text.push(' ');
        text.push_str(if lost.is_empty() { "none" } else { "" });
        text.push_str(&lost.join(", "));
        text
    }

    /// Prints the counters.
    pub fn print(&self, name: &str, context: &Context) {
        let line = if context.json { self.json(name).to_string() } else { self.text(name) };
        // Ignore errors: the interface works without a reader of its counters.
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}");
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_named() {
        let mut counters = Counters::default();
        counters.sent.add(60);
        let text = "spfe0: sent 1 frame, 60 bytes in 0 groups, 0 with segments; received 0 frames, \
                    0 bytes, 0 with segments; the far end says nothing yet; dropped";
        assert_eq!(counters.text("spfe0"), format!("{text} none"));
        counters.drops.header = 2;
        counters.failed = 1;
        let lost = "2 wrong header, 1 not sent failed";
        assert_eq!(counters.text("spfe0"), format!("{text} {lost}"));
        let object = counters.json("spfe0");
        assert_eq!(object["dropped"]["wrong_header"], 2);
        assert_eq!(object["sent"]["bytes"], 60);
    }
}
