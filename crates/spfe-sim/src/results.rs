//! Measurements of a simulation: the JSON document of `spfe sim`.
//!
//! Times are in ps since the start, sizes in bytes, rates in bit/s. Series have one value for each
//! time step of [`Results::step_ps`]; the last step may be shorter. A direction of a link is named
//! after the end that sends.

mod histogram;
mod text;

pub use histogram::{Bucket, Histogram, LatencyRecorder};
pub use text::fingerprint;

use crate::time::Ps;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document. It grows when a key is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// All measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// Always [`VERSION`].
    pub version: u32,
    /// Title of the scenario.
    pub title: String,
    /// Description of the scenario.
    pub description: String,
    /// [`fingerprint`] of the scenario's text; empty if the scenario was not read from a file.
    pub scenario: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Simulated time.
    pub duration_ps: Ps,
    /// Time step of the series.
    pub step_ps: Ps,
    /// Words (SpaceWire: characters) sent on all lanes of all links in both directions.
    pub words: u64,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkResults>,
    /// Traffic streams, in the order of the scenario.
    pub flows: Vec<StreamResults>,
    /// RMAP initiators, in the order of the scenario.
    pub rmaps: Vec<RmapResults>,
    /// RDMA operations, in the order of the scenario.
    pub rdmas: Vec<RdmaResults>,
    /// Hostile links, in the order of the scenario, by direction.
    pub hostile: Vec<HostileResults>,
    /// Broadcast messages and time-codes, by their source.
    pub broadcasts: Vec<BroadcastResults>,
    /// Routers, in the order of the scenario.
    pub routers: Vec<RouterResults>,
    /// Nodes, in the order of the scenario.
    pub nodes: Vec<NodeResults>,
    /// Faults, in the order of the scenario.
    pub faults: Vec<FaultResults>,
    /// Events in the order of time, up to a maximum number.
    pub events: Vec<RecordedEvent>,
    /// Number of events beyond the maximum.
    pub events_left_out: u64,
    /// Result of the conservation check.
    pub conservation: Conservation,
}

/// Measurements of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkResults {
    /// Name.
    pub name: String,
    /// "spacefibre" or "spacewire".
    pub kind: String,
    /// Ports of end A and end B, as "unit:port".
    pub ends: [String; 2],
    /// Number of lanes.
    pub lanes: u32,
    /// Signalling rate of a lane.
    pub rate_bps: u64,
    /// Words (SpaceWire: characters) sent on all lanes in both directions.
    pub words: u64,
    /// From A to B, and from B to A.
    pub directions: [DirectionResults; 2],
    /// Counters of A and B, with the names of the standard.
    pub counters: [BTreeMap<String, u64>; 2],
    /// Lane states at A and B over time.
    pub lane_states: [Vec<LaneStateChange>; 2],
    /// Durations from a damaged word to a recovered receiver, after single errors.
    pub recovery_after_error: Histogram,
    /// The same after a cut of a lane.
    pub recovery_after_cut: Histogram,
}

/// Measurements of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DirectionResults {
    /// Words that all lanes together can carry in a full time step; for SpaceWire N-Chars
    /// of the kinds that were sent.
    pub capacity_words: f64,
    /// Words in data frames, without retries, for each virtual channel that was used; for SpaceWire
    /// N-Chars.
    pub channels: Vec<ChannelResults>,
    /// Words in data frames on all virtual channels.
    pub data_words: u64,
    /// Share of the capacity that was used for them, 0 to 1.
    pub utilisation: f64,
}

/// Words in data frames of a virtual channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChannelResults {
    /// Virtual channel.
    pub vc: u32,
    /// Total.
    pub words: u64,
    /// In each time step.
    pub series: Vec<u64>,
}

/// A change of a lane's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneStateChange {
    /// Time of the change.
    pub at_ps: Ps,
    /// The lane.
    pub lane: u32,
    /// The new state, named as in the standard.
    pub state: String,
}

/// Number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketTally {
    /// Packets.
    pub packets: u64,
    /// Bytes, without address bytes that routers deleted.
    pub bytes: u64,
}

impl PacketTally {
    /// Adds a packet.
    pub const fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// Packets discarded for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DropCount {
    /// Node or router that discarded them.
    pub place: String,
    /// Reason in the terms of the standard.
    pub reason: String,
    /// Number of packets.
    pub packets: u64,
}

/// Measurements of a traffic stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamResults {
    /// Name.
    pub name: String,
    /// The port that sends.
    pub from: String,
    /// The ports that receive.
    pub to: Vec<String>,
    /// Virtual channel at the sender.
    pub vc: u32,
    /// Address bytes of its packets.
    pub route: String,
    /// Packets that were due.
    pub offered: PacketTally,
    /// Packets handed to the link completely.
    pub sent: PacketTally,
    /// Packets received complete, in order and unaltered.
    pub delivered: PacketTally,
    /// Packets received with an EEP.
    pub truncated: PacketTally,
    /// Packets that did not arrive, by reason.
    pub dropped: Vec<DropCount>,
    /// Packets in the network at the end.
    pub in_flight: PacketTally,
    /// Rate of delivered bytes in bit/s, from the first word sent to the last word received.
    pub goodput_bps: f64,
    /// Bytes delivered in each time step.
    pub series: Vec<u64>,
    /// Durations from the time a packet is due to its last word at the receiver.
    pub latency: Histogram,
}

/// Measurements of an RMAP initiator.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RmapResults {
    /// Name.
    pub name: String,
    /// Port of the initiator.
    pub from: String,
    /// Port of the target.
    pub to: String,
    /// Commands sent.
    pub commands: u64,
    /// Replies with status 0.
    pub succeeded: u64,
    /// Replies with another status, by its name.
    pub failed: BTreeMap<String, u64>,
    /// Commands whose reply did not arrive in time.
    pub timed_out: u64,
    /// Commands without a reply at the end.
    pub outstanding: u64,
    /// Commands whose data differs between initiator and target.
    pub mismatches: u64,
    /// Data bytes of successful commands.
    pub bytes: u64,
    /// Durations from a command to its reply.
    pub latency: Histogram,
}

/// Measurements of the RDMA operations of a queue pair.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RdmaResults {
    /// Name.
    pub name: String,
    /// Port of the initiator.
    pub from: String,
    /// Port of the target.
    pub to: String,
    /// "write", "read", "send" or "atomic".
    pub operation: String,
    /// Operations posted.
    pub posted: u64,
    /// Operations completed with OK.
    pub completed: u64,
    /// Operations completed with an error, by its text.
    pub failed: BTreeMap<String, u64>,
    /// Operations that have not completed at the end.
    pub outstanding: u64,
    /// Completed operations whose data is not where it should be.
    pub mismatches: u64,
    /// Bytes of completed operations.
    pub bytes: u64,
    /// Their rate in bit/s, from the first operation posted to the last one completed.
    pub goodput_bps: f64,
    /// Packets sent.
    pub packets: u64,
    /// Packets sent again.
    pub resent: u64,
    /// Messages repeated because no answer came in time.
    pub timeouts: u64,
    /// Refusals after which messages were repeated.
    pub refusals: u64,
    /// Durations from the time an operation is due to its completion.
    pub latency: Histogram,
}

/// What happened to the packets of RDMA in one direction of a hostile link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostileResults {
    /// Name of the link.
    pub link: String,
    /// The port that sends.
    pub from: String,
    /// Packets.
    pub packets: u64,
    /// Packets that did not arrive.
    pub dropped: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
    /// Packets that others may have overtaken.
    pub reordered: u64,
    /// Packets that were late together with those after them.
    pub delayed: u64,
    /// Packets with changed bits.
    pub damaged: u64,
    /// Packets with a wrong end.
    pub cut: u64,
}

/// Broadcast messages or time-codes of one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BroadcastResults {
    /// Its name, "time-codes" or "schedule".
    pub name: String,
    /// The port that sends.
    pub from: String,
    /// Messages sent.
    pub sent: u64,
    /// Messages that the link did not accept.
    pub refused: u64,
    /// Messages received, added over all nodes.
    pub received: u64,
    /// Received messages with LATE set.
    pub late: u64,
    /// Received messages with DELAYED set.
    pub delayed: u64,
    /// Durations from sending to receiving, over all nodes.
    pub latency: Histogram,
}

/// Measurements of a router.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouterResults {
    /// Name.
    pub name: String,
    /// Counters by name.
    pub counters: BTreeMap<String, u64>,
    /// Discarded packets, by input port and reason.
    pub drops: Vec<PortDropCount>,
}

/// Packets that arrived at one port and were discarded for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortDropCount {
    /// The input port.
    pub port: u32,
    /// The virtual channel.
    pub vc: u32,
    /// Reason in the terms of the standard.
    pub reason: String,
    /// Number of packets.
    pub packets: u64,
}

/// Measurements of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NodeResults {
    /// Name.
    pub name: String,
    /// Packets handed to its links.
    pub sent: PacketTally,
    /// Packets received with an EOP.
    pub received: PacketTally,
    /// Packets received with an EEP.
    pub truncated: PacketTally,
    /// Counters by name.
    pub counters: BTreeMap<String, u64>,
}

/// A fault of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultResults {
    /// Name.
    pub name: String,
    /// How often it was applied.
    pub times: u64,
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedEventKind {
    /// A lane, alignment, or link reset state changed.
    #[default]
    State,
    /// An end found an error.
    Error,
    /// An end sends data again.
    Retry,
    /// A receiver works without errors again.
    Recovered,
    /// A fault was applied, or a unit gave a command.
    Fault,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordedEvent {
    /// Time of the event.
    pub at_ps: Ps,
    /// Index into [`Results::links`]; `None` for an event of a node or of the whole network.
    pub link: Option<u32>,
    /// Name of the link.
    pub link_name: Option<String>,
    /// The end: 0 for A, 1 for B.
    pub end: u8,
    /// The unit and port of the end.
    pub end_name: Option<String>,
    /// Kind of the event.
    pub kind: RecordedEventKind,
    /// Description.
    pub text: String,
}

/// Result of the conservation check: every packet arrived once, in order and unaltered, or there is
/// a valid reason why not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conservation {
    /// Whether the check passed.
    pub kept: bool,
    /// Number of checked packets.
    pub packets: u64,
    /// Descriptions of the first violations.
    pub violations: Vec<String>,
    /// Number of further violations.
    pub left_out: u64,
}

impl Results {
    /// The JSON document.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Number of time steps of the series.
    pub fn steps(&self) -> usize {
        self.duration_ps.div_ceil(self.step_ps.max(1)) as usize
    }
}
