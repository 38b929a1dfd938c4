//! Groups rows into sections, one per scenario.

use crate::model::{Document, ResultRow};
use crate::num::{size, trimmed};
use crate::scenario;

/// Rows that share a table and a chart.
pub(crate) struct Section<'a> {
    /// Name of the scenario, or `random` for all random scenarios.
    pub key: String,
    pub title: String,
    /// One sentence about the scenario, may be empty.
    pub about: &'static str,
    /// Rows, sorted by size and group. Random tests keep their order.
    pub rows: Vec<&'a ResultRow>,
}

/// Groups all rows of a document by scenario, in order of first appearance.
pub(crate) fn sections(document: &Document) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for row in &document.results {
        let key = key(&row.scenario);
        match sections.iter_mut().find(|section| section.key == key) {
            Some(section) => section.rows.push(row),
            None => sections.push(Section {
                key: key.to_owned(),
                title: title(key),
                about: about(key),
                rows: vec![row],
            }),
        }
    }
    for section in sections.iter_mut().filter(|section| !section.is_named()) {
        section.rows.sort_by_key(|row| (row.size_bytes, row.group));
    }
    sections
}

impl Section<'_> {
    /// Whether sizes are random.
    pub(crate) fn is_random(&self) -> bool {
        self.key == RANDOM
    }

    /// Whether each row has a name of its own. Charts then do not join the points by lines.
    pub(crate) fn is_named(&self) -> bool {
        self.key == RANDOM || self.key == MESSAGES
    }

    /// Whether the section measures latency instead of rate.
    pub(crate) fn is_latency(&self) -> bool {
        [scenario::LATENCY, scenario::LATENCY_LOOP, MESSAGES].contains(&self.key.as_str())
    }

    /// What the latencies are, as the title of an axis.
    pub(crate) fn latency_name(&self) -> &'static str {
        match self.key.as_str() {
            scenario::LATENCY => "Half of a round trip",
            scenario::LATENCY_LOOP => "From one end of a link to the other",
            MESSAGES => "From sending to reception of a message",
            _ => "Latency",
        }
    }

    /// Whether any row has a latency distribution.
    pub(crate) fn has_latency(&self) -> bool {
        self.rows.iter().any(|row| row.latency_ns.is_some())
    }

    /// Labels of rows on an axis, of one or two lines, and the title of the axis.
    pub(crate) fn categories(&self, rows: &[&ResultRow]) -> (Vec<Vec<String>>, &'static str) {
        if self.key == MESSAGES {
            let lines = |row: &&ResultRow| row.scenario.split('-').map(str::to_owned).collect();
            return (rows.iter().map(lines).collect(), "Message, and what else the link carries");
        }
        if self.is_random() {
            let lines = |row: &&ResultRow| vec![row.scenario.clone(), size(row.size_bytes)];
            return (rows.iter().map(lines).collect(), "Test and mean packet length");
        }
        let groups = rows.iter().any(|row| row.group != 1);
        // Numbers of KB are short enough for a label at each row.
        let whole = rows.iter().all(|row| row.size_bytes >= 1024);
        let title = match (whole, groups) {
            (true, false) => "Packet length (KB)",
            (true, true) => "Packet length (KB) × packets per operation",
            (false, false) => "Packet length",
            (false, true) => "Packet length × packets per operation",
        };
        let length = |bytes| if whole { trimmed(bytes as f64 / 1024.0) } else { size(bytes) };
        let lines = |row: &&ResultRow| {
            let group = groups.then(|| format!("×{}", row.group));
            std::iter::once(length(row.size_bytes)).chain(group).collect()
        };
        (rows.iter().map(lines).collect(), title)
    }

    /// The row with the highest rate.
    pub(crate) fn fastest(&self) -> Option<&ResultRow> {
        let finite = self.rows.iter().filter(|row| row.rate_gbps.is_finite());
        finite.copied().reduce(|best, row| if row.rate_gbps > best.rate_gbps { row } else { best })
    }
}

const RANDOM: &str = "random";
const MESSAGES: &str = "messages";

fn key(scenario: &str) -> &str {
    match scenario {
        scenario::BROADCAST_IDLE
        | scenario::BROADCAST_DATA
        | scenario::TIME_CODE_IDLE
        | scenario::TIME_CODE_DATA => MESSAGES,
        random if random.starts_with(scenario::RANDOM_PREFIX) => RANDOM,
        other => other,
    }
}

fn title(key: &str) -> String {
    let known = match key {
        scenario::SEND_SINGLE => "Sending single packets",
        scenario::SEND_GROUP => "Sending groups of packets, one at a time",
        scenario::SEND_GROUP_AHEAD => "Sending groups, several under way",
        scenario::SEND_BURST_AHEAD => "Sending burst entries, several under way",
        scenario::RECEIVE_SINGLE => "Receiving single packets",
        scenario::RECEIVE_THRESHOLD => "Receiving at a fill threshold",
        scenario::RECEIVE_PACKED => "Receiving at a fill threshold into a packed area",
        scenario::RDMA_WRITE_SINGLE => "RDMA: single writes",
        scenario::RDMA_READ_SINGLE => "RDMA: single reads",
        scenario::RDMA_WRITE_GROUP => "RDMA: groups of writes, one at a time",
        scenario::RDMA_READ_GROUP => "RDMA: groups of reads, one at a time",
        scenario::RDMA_WRITE_AHEAD => "RDMA: groups of writes, two under way",
        scenario::RDMA_READ_AHEAD => "RDMA: groups of reads, two under way",
        scenario::RDMA_WRITE => "RDMA: writes",
        scenario::RDMA_READ => "RDMA: reads",
        scenario::RDMA_ATOMIC => "RDMA: atomic operations",
        scenario::RDMA_LATENCY => "RDMA: half of a round trip of writes",
        scenario::RATE_TX => "Highest rate, transmitting",
        scenario::RATE_RX => "Highest rate, receiving",
        scenario::RATE_BOTH => "Highest rate, both directions",
        scenario::LATENCY => "Latency, half of a round trip",
        scenario::LATENCY_LOOP => "Latency in a loop",
        MESSAGES => "Latency of broadcast messages and time-codes",
        RANDOM => "Random packets",
        other => other,
    };
    known.to_owned()
}

fn about(key: &str) -> &'static str {
    match key {
        scenario::SEND_SINGLE => {
            "Each packet is one operation; the next is submitted when it has completed."
        }
        scenario::SEND_GROUP => {
            "One operation carries a whole group, so submission and completion are paid once for \
             all of its packets. The next group is submitted when the one before has completed."
        }
        scenario::SEND_GROUP_AHEAD => {
            "Not published. The next group is submitted before the one before has completed, so \
             the link does not wait for this processor to wake up."
        }
        scenario::SEND_BURST_AHEAD => {
            "Not published. Several groups are under way, and each is a single entry of the ring."
        }
        scenario::RECEIVE_PACKED => {
            "Not published. Packets lie back to back in one area, and one completion covers a run \
             of them."
        }
        scenario::RECEIVE_SINGLE => "The completion of each packet is handled before the next.",
        scenario::RECEIVE_THRESHOLD => {
            "Completions are handled together, once the buffers have filled to a threshold or the \
             timeout after the first packet has passed."
        }
        scenario::RDMA_WRITE_SINGLE | scenario::RDMA_READ_SINGLE => {
            "Each operation on the memory of a target-only endpoint is submitted when the one before \
             has completed. The host's load includes making and checking the packets."
        }
        scenario::RDMA_WRITE_GROUP | scenario::RDMA_READ_GROUP => {
            "128 operations, or as many as fit into 2 MiB, have one doorbell and one completion. The \
             next group is submitted when the one before has completed. The host's load includes \
             making and checking the packets."
        }
        scenario::RDMA_WRITE_AHEAD | scenario::RDMA_READ_AHEAD => {
            "Not published. The next group is submitted before the one before has completed."
        }
        scenario::RATE_TX | scenario::RATE_RX => "Many operations in flight, in one direction.",
        scenario::RATE_BOTH => {
            "Many operations in flight in both directions; the rate is that of one direction."
        }
        scenario::LATENCY => {
            "Half of the time from the submission of a packet to the reception of the answer, a \
             packet of the same length."
        }
        scenario::LATENCY_LOOP => {
            "One thread sends a packet at one end of a link, receives it at the other end, and then \
             sends the next: transmit and receive latency together."
        }
        MESSAGES => {
            "One thread sends a message at one end of a link and receives it at the other, with and \
             without data that fills the link."
        }
        RANDOM => "Size and content are drawn at random from a seed and every packet is checked.",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Labels and title of the axis of packets of these sizes, in groups.
    fn axis(sizes: &[u64], group: u32) -> (Vec<String>, &'static str) {
        let row = |size: &u64| ResultRow::new(scenario::LATENCY, *size, group);
        let rows: Vec<_> = sizes.iter().map(row).collect();
        let document = Document { results: rows, ..Document::default() };
        let section = &sections(&document)[0];
        let (labels, title) = section.categories(&section.rows);
        (labels.iter().map(|lines| lines.join(" ")).collect(), title)
    }

    #[test]
    fn the_title_of_the_axis_fits_its_labels() {
        let kb = "Packet length (KB)";
        assert_eq!(axis(&[1024, 1536, 1 << 20], 1).0, ["1", "1.5", "1024"]);
        assert_eq!(axis(&[1024, 1536, 1 << 20], 1).1, kb);
        assert_eq!(axis(&[1024], 8).0, ["1 ×8"]);
        assert_eq!(axis(&[1024], 8).1, format!("{kb} × packets per operation"));
        assert_eq!(axis(&[64, 4096], 1).0, ["64 B", "4 KB"]);
        assert_eq!(axis(&[64, 4096], 1).1, "Packet length");
        assert_eq!(axis(&[64], 2).1, "Packet length × packets per operation");
    }

    #[test]
    fn latencies_are_named_for_what_is_measured() {
        let name = |scenario| {
            let results = vec![ResultRow::new(scenario, 64, 1)];
            sections(&Document { results, ..Document::default() })[0].latency_name()
        };
        assert_eq!(name(scenario::LATENCY), "Half of a round trip");
        assert_eq!(name(scenario::LATENCY_LOOP), "From one end of a link to the other");
        assert_eq!(name(scenario::TIME_CODE_DATA), "From sending to reception of a message");
        assert_eq!(name(scenario::RATE_TX), "Latency");
    }
}
