//! What a simulation has measured: the JSON document of `spfe sim`.
//!
//! Times are in ps since the start, sizes in bytes, rates in bit/s. Series have one value for each
//! time step of [`Results::step_ps`], the last of which may be cut short. A direction of a link has
//! the name of the end that sends.

mod histogram;
mod text;

pub use histogram::{Bucket, Histogram, LatencyRecorder};
pub use text::fingerprint;

use crate::time::Ps;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the document. It changes when a key goes or changes its meaning.
pub const VERSION: u32 = 1;

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// [`VERSION`].
    pub version: u32,
    /// Title of the scenario.
    pub title: String,
    /// What it shows.
    pub description: String,
    /// [`fingerprint`] of the scenario's text; empty if it came from no file.
    pub scenario: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Simulated time.
    pub duration_ps: Ps,
    /// Time step of the series.
    pub step_ps: Ps,
    /// Words (SpaceWire: characters) that went over all lanes of all links, both directions.
    pub words: u64,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkResults>,
    /// Flows, in the order of the scenario.
    pub flows: Vec<StreamResults>,
    /// RMAP initiators, in the order of the scenario.
    pub rmaps: Vec<RmapResults>,
    /// Broadcast messages and time-codes, by their source.
    pub broadcasts: Vec<BroadcastResults>,
    /// Routers, in the order of the scenario.
    pub routers: Vec<RouterResults>,
    /// Nodes, in the order of the scenario.
    pub nodes: Vec<NodeResults>,
    /// Faults, in the order of the scenario.
    pub faults: Vec<FaultResults>,
    /// What happened, in the order of time; the first ones, if there were too many.
    pub events: Vec<RecordedEvent>,
    /// Events that were not kept.
    pub events_left_out: u64,
    /// Whether nothing was lost without a reason.
    pub conservation: Conservation,
}

/// A link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkResults {
    /// Name.
    pub name: String,
    /// "spacefibre" or "spacewire".
    pub kind: String,
    /// Ports of end A and end B, as "unit:port".
    pub ends: [String; 2],
    /// Lanes.
    pub lanes: u32,
    /// Signalling rate of a lane.
    pub rate_bps: u64,
    /// Words (characters) sent, both directions, all lanes.
    pub words: u64,
    /// What A sends, what B sends.
    pub directions: [DirectionResults; 2],
    /// What A and B counted, by the standard's names.
    pub counters: [BTreeMap<String, u64>; 2],
    /// Lane states at A and B over time.
    pub lane_states: [Vec<LaneStateChange>; 2],
    /// From a damaged word to a receiver that is in order again, after single errors.
    pub recovery_after_error: Histogram,
    /// The same, after a lane was cut.
    pub recovery_after_cut: Histogram,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DirectionResults {
    /// Words that all lanes together could carry in a full time step.
    pub capacity_words: f64,
    /// Words of data frames, sent for the first time, of each virtual channel that was used.
    pub channels: Vec<ChannelResults>,
    /// Words of data frames in all.
    pub data_words: u64,
    /// Part of the capacity that they are.
    pub utilisation: f64,
}

/// Words of a virtual channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ChannelResults {
    /// Virtual channel.
    pub vc: u32,
    /// In all.
    pub words: u64,
    /// In each time step.
    pub series: Vec<u64>,
}

/// A lane came into a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneStateChange {
    /// When.
    pub at_ps: Ps,
    /// Lane.
    pub lane: u32,
    /// State, as the standard names it.
    pub state: String,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PacketTally {
    /// Packets.
    pub packets: u64,
    /// Bytes, without addresses that were taken off on the way.
    pub bytes: u64,
}

impl PacketTally {
    /// One more packet.
    pub const fn add(&mut self, bytes: u64) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// Packets dropped for a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DropCount {
    /// Node or router.
    pub place: String,
    /// Why, in the words of the standard.
    pub reason: String,
    /// How many.
    pub packets: u64,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StreamResults {
    /// Name.
    pub name: String,
    /// Port that sends.
    pub from: String,
    /// Ports that receive.
    pub to: Vec<String>,
    /// Virtual channel at the source.
    pub vc: u32,
    /// The way that was taken.
    pub route: String,
    /// Due by the flow's rate.
    pub offered: PacketTally,
    /// Handed to the link completely.
    pub sent: PacketTally,
    /// Received completely, in order and unaltered.
    pub delivered: PacketTally,
    /// Received with an EEP at their end.
    pub truncated: PacketTally,
    /// Not received, with the reason.
    pub dropped: Vec<DropCount>,
    /// On their way at the end.
    pub in_flight: PacketTally,
    /// Bits of delivered packets in a second, from the first sent word to the last received.
    pub goodput_bps: f64,
    /// Delivered bytes in each time step.
    pub series: Vec<u64>,
    /// From the time a packet is due to its last word at the receiver.
    pub latency: Histogram,
}

/// An RMAP initiator.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RmapResults {
    /// Name.
    pub name: String,
    /// Initiator.
    pub from: String,
    /// Target.
    pub to: String,
    /// Commands sent.
    pub commands: u64,
    /// Replies with status 0.
    pub succeeded: u64,
    /// Other replies, by their status' name.
    pub failed: BTreeMap<String, u64>,
    /// No reply in time.
    pub timed_out: u64,
    /// No reply yet at the end.
    pub outstanding: u64,
    /// Data that read back was not what was written.
    pub mismatches: u64,
    /// Data bytes of commands that succeeded.
    pub bytes: u64,
    /// From the command to its reply.
    pub latency: Histogram,
}

/// Broadcast messages, or time-codes, of one source.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BroadcastResults {
    /// Name; "time-codes" and "schedule" for those.
    pub name: String,
    /// Port that sends.
    pub from: String,
    /// Sent.
    pub sent: u64,
    /// The link did not take them.
    pub refused: u64,
    /// Received, over all nodes.
    pub received: u64,
    /// Of these, with LATE.
    pub late: u64,
    /// Of these, with DELAYED.
    pub delayed: u64,
    /// From sending to receiving, over all nodes.
    pub latency: Histogram,
}

/// A router.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RouterResults {
    /// Name.
    pub name: String,
    /// Counters.
    pub counters: BTreeMap<String, u64>,
    /// Packets dropped, by reason and port they came in at.
    pub drops: Vec<PortDropCount>,
}

/// Packets that a router dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortDropCount {
    /// Port that they came in at.
    pub port: u32,
    /// Virtual channel.
    pub vc: u32,
    /// Why.
    pub reason: String,
    /// How many.
    pub packets: u64,
}

/// A node.
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
    /// Counters.
    pub counters: BTreeMap<String, u64>,
}

/// A fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultResults {
    /// Name.
    pub name: String,
    /// How often it was brought about.
    pub times: u64,
}

/// What kind of event it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedEventKind {
    /// A lane, alignment, or link reset state changed.
    #[default]
    State,
    /// An error was found.
    Error,
    /// Something is sent again.
    Retry,
    /// The receiver is in order again.
    Recovered,
    /// Something was done to the wires, or by a unit at its end.
    Fault,
}

/// Something happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordedEvent {
    /// When.
    pub at_ps: Ps,
    /// Link, as an index into [`Results::links`]; none: it is of a node or the whole.
    pub link: Option<u32>,
    /// End: 0 for A, 1 for B.
    pub end: u8,
    /// What kind.
    pub kind: RecordedEventKind,
    /// What happened, in words.
    pub text: String,
}

/// Whether every packet was delivered once, in order and unaltered, or accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Conservation {
    /// It was so.
    pub kept: bool,
    /// Packets that were checked.
    pub packets: u64,
    /// What was not so, in words.
    pub violations: Vec<String>,
    /// Violations that are not listed.
    pub left_out: u64,
}

impl Results {
    /// The document.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// Time steps of the series.
    pub fn steps(&self) -> usize {
        self.duration_ps.div_ceil(self.step_ps.max(1)) as usize
    }
}
