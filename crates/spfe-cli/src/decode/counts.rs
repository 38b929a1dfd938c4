//! Counts of a decoded SpaceFibre link, as text and as JSON.

use crate::output::plural;
use serde_json::{Map, Value, json};
use spfe_trace::{TraceSummary, WordKind};

fn counted(summary: &TraceSummary) -> [(u64, &'static str); 12] {
    [
        (summary.data_frames, "data frame"),
        (summary.broadcast_frames, "broadcast frame"),
        (summary.idle_frames, "idle frame"),
        (summary.fcts, "FCT"),
        (summary.acks, "ACK"),
        (summary.nacks, "NACK"),
        (summary.fulls, "FULL"),
        (summary.retries, "RETRY"),
        (summary.packets, "packet"),
        (summary.cut_packets, "cut packet"),
        (summary.bytes, "packet byte"),
        (summary.link_resets, "link reset"),
    ]
}

/// The counts as lines of text.
pub fn lines(summary: &TraceSummary) -> Vec<String> {
    let words = WordKind::ALL.iter().map(|kind| (summary.words(*kind), kind.name()));
    let total = words.clone().map(|(count, _)| count).sum();
    let words = words.filter(|(count, _)| *count != 0);
    let words: Vec<_> = words.map(|(count, name)| format!("{count} {name}")).collect();
    let mut lines = vec![format!("{}: {}", plural(total, "word"), words.join(", "))];
    let things = counted(summary);
    let things = things.iter().filter(|(count, _)| *count != 0);
    let mut things: Vec<_> = things.map(|(count, name)| plural(*count, name)).collect();
    things.extend((summary.resent != 0).then(|| format!("{} sent again", summary.resent)));
    things.extend((summary.missing != 0).then(|| format!("{} never came", summary.missing)));
    if !things.is_empty() {
        lines.push(things.join(", "));
    }
    let violations = summary.violations.iter().map(|(name, count)| format!("{count} {name}"));
    let violations: Vec<_> = violations.collect();
    lines.push(if violations.is_empty() {
        "no violations".to_owned()
    } else {
        let count = plural(summary.violation_count(), "violation");
        format!("{count}: {}", violations.join(", "))
    });
    lines
}

/// The counts as JSON.
pub fn json(summary: &TraceSummary) -> Map<String, Value> {
    let words = WordKind::ALL.iter().map(|kind| (kind.name().to_owned(), summary.words(*kind)));
    let words: Map<_, _> =
        words.filter(|(_, count)| *count != 0).map(|(name, count)| (name, json!(count))).collect();
    let mut object = Map::new();
    object.insert("words".into(), json!(words));
    for (count, name) in counted(summary) {
        object.insert(name.to_lowercase().replace(' ', "_"), json!(count));
    }
    object.insert("resent".into(), json!(summary.resent));
    object.insert("missing".into(), json!(summary.missing));
    object.insert("violations".into(), json!(summary.violations));
    object
}
