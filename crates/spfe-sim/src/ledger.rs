//! The conservation check: every packet that was sent arrives once, in order and unaltered, or
//! there is a reason that the standard allows.
//!
//! The packets of a stream to one destination form a [track](Track). A track remembers the time of
//! each packet in flight. A packet that is missing or ends with an EEP needs an event that explains
//! it: a link on its route was reset, or a SpaceWire link failed, while it was in flight; or a
//! router discarded or truncated it. Everything else is a [`Violation`].

mod cause;
mod track;

pub use cause::{Cause, name_of as reason_name};
pub use track::TrackTotals;

use crate::packet::{ArrivedPacket, PacketHeader};
use crate::scenario::Time;
use crate::scenario::route::{RouteElements, RouterInput};
use crate::time::Ps;
use spfe_link::network::DiscardReason;
use spfe_proto::PacketEnd;
use std::collections::BTreeMap;
use std::fmt;
use track::{PacketState, Track};

/// Maximum number of violations kept as text; further ones are counted.
const KEPT: usize = 100;
/// Maximum number of truncated packets remembered for an input of a router.
const CUTS: usize = 64;

/// A violation of the conservation check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Time at which it was found.
    pub at_ps: Ps,
    /// Description.
    pub text: String,
    /// Number of further violations of the same kind.
    pub more: u64,
}

/// One line, however often it occurred.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", Time(self.at_ps), self.text)?;
        if self.more > 0 {
            write!(f, " ({} more of these)", self.more)?;
        }
        Ok(())
    }
}

/// Result of the check of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketVerdict {
    /// The packet is correct.
    Delivered {
        /// Its track.
        track: usize,
        /// Its number within the stream.
        number: u64,
        /// Time since its first byte was sent.
        latency_ps: Ps,
    },
    /// It ended with an EEP, for a known reason.
    Cut,
    /// It violates the check.
    Bad,
}

#[derive(Clone, Debug)]
struct LedgerStream {
    name: String,
    target: u8,
    tracks: Vec<usize>,
    next: u64,
}

/// Account of every packet's fate.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    flows: Vec<LedgerStream>,
    tracks: Vec<Track>,
    /// Packets truncated at an input of a router that no track has claimed yet.
    cuts: BTreeMap<RouterInput, Vec<(Ps, DiscardReason)>>,
    violations: Vec<Violation>,
    violation_count: u64,
    /// Violations that may occur again, as indices of their texts.
    repeated: BTreeMap<String, Option<usize>>,
    /// Names of the nodes.
    nodes: Vec<String>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the nodes, for messages.
    pub fn name_nodes<'n>(&mut self, names: impl Iterator<Item = &'n String>) {
        self.nodes = names.cloned().collect();
    }

    /// Adds a stream whose packets arrive with a logical address. Returns its number.
    pub fn add_flow(&mut self, name: &str, target: u8) -> u16 {
        self.flows.push(LedgerStream { name: name.into(), target, tracks: Vec::new(), next: 0 });
        (self.flows.len() - 1) as u16
    }

    /// Adds a destination of a stream. `ordered` is false if packets may overtake each other.
    pub fn add_track(
        &mut self,
        flow: u16,
        node: u32,
        elements: RouteElements,
        ordered: bool,
    ) -> usize {
        let track = self.tracks.len();
        if let Some(flow) = self.flows.get_mut(usize::from(flow)) {
            flow.tracks.push(track);
        }
        self.tracks.push(Track::new(flow, node, elements, ordered));
        track
    }

    /// Stops following packets to a node, because an application takes them from now on.
    pub fn hand_over(&mut self, node: u32) {
        self.tracks.iter_mut().filter(|track| track.node == node).for_each(Track::hand_over);
    }

    /// Notes that the first byte of a stream's next packet is sent. Returns the packet's number.
    pub fn begin(&mut self, flow: u16, at: Ps, bytes: u32) -> u64 {
        let Some(flow) = self.flows.get_mut(usize::from(flow)) else { return 0 };
        for track in &flow.tracks {
            self.tracks[*track].begin(at, bytes);
        }
        flow.next += 1;
        flow.next - 1
    }

    /// Checks a packet that arrived at a node.
    pub fn arrive(&mut self, node: u32, at: Ps, arrived: &ArrivedPacket) -> PacketVerdict {
        match arrived {
            ArrivedPacket::Traffic { header, bytes, altered, end } => {
                self.arrive_traffic(node, at, *header, *bytes, *altered, *end)
            }
            ArrivedPacket::Other { end: PacketEnd::Eep, .. } => self.arrive_fragment(node, at),
            ArrivedPacket::Other { bytes, .. } => {
                let text = format!("a packet of {} bytes that was never sent", bytes.len());
                self.stray(node, at, &text)
            }
        }
    }

    fn arrive_traffic(
        &mut self,
        node: u32,
        at: Ps,
        header: PacketHeader,
        bytes: u64,
        altered: Option<u64>,
        end: PacketEnd,
    ) -> PacketVerdict {
        let Some(flow) = self.flows.get(usize::from(header.flow)) else {
            return self.stray(node, at, &format!("a packet of unknown flow {}", header.flow));
        };
        let target = flow.target;
        let found = flow.tracks.iter().copied().find(|track| self.tracks[*track].node == node);
        let Some(index) = found else {
            let text = format!(
                "{}: packet {} arrived here, which is not its destination",
                flow.name, header.number
            );
            return self.stray(node, at, &text);
        };
        let number = self.tracks[index].number_of(header.number);
        let start = match self.tracks[index].look_up(number) {
            PacketState::Outstanding(start) => start,
            PacketState::Never => {
                let text = format!("{}: packet {number} was never sent", flow.name);
                return self.stray(node, at, &text);
            }
            PacketState::Delivered => return self.wrong(at, index, number, "arrived twice"),
            PacketState::Gone => {
                return self.wrong(at, index, number, "arrived after it was counted as lost");
            }
        };
        self.account_before(index, number, at);
        let wrong_target = (header.target != target).then_some(0);
        let problem = match (altered.or(wrong_target), end) {
            (Some(byte), _) => format!("is altered at byte {byte}"),
            (None, PacketEnd::Eop) if bytes == u64::from(header.bytes) => {
                self.tracks[index].delivered(number, bytes);
                return PacketVerdict::Delivered {
                    track: index,
                    number,
                    latency_ps: at - start.min(at),
                };
            }
            (None, PacketEnd::Eop) => format!("has {bytes} of {} bytes but no EEP", header.bytes),
            (None, PacketEnd::Eep) => {
                let cause = self.explain(index, number);
                self.tracks[index].cut(number, bytes, cause);
                if cause.is_some() {
                    return PacketVerdict::Cut;
                }
                let expected = header.bytes;
                let text = format!("has {bytes} of {expected} bytes and an EEP without a reason");
                return self.wrong(at, index, number, &text);
            }
        };
        let cause = self.tracks[index].fault_of(number);
        self.tracks[index].gone(number, cause);
        match cause {
            Some(_) => PacketVerdict::Cut,
            None => self.wrong(at, index, number, &problem),
        }
    }

    /// Reports a violation by a packet.
    fn wrong(&mut self, at: Ps, track: usize, number: u64, what: &str) -> PacketVerdict {
        let text = format!("{}: packet {number} {what}", self.name_of(track));
        self.bad(at, text)
    }

    /// Handles an EEP with too few bytes to tell whose packet it was.
    fn arrive_fragment(&mut self, node: u32, at: Ps) -> PacketVerdict {
        let cuts = &self.cuts;
        let excused = self.tracks.iter().any(|track| {
            let cut = |input| cuts.get(input).is_some_and(|cuts| !cuts.is_empty());
            track.node == node && (track.is_excused() || track.elements.inputs.iter().any(cut))
        });
        if excused {
            return PacketVerdict::Cut;
        }
        let name = self.node_name(node);
        self.bad(at, format!("node {name}: a fragment with an EEP without a reason"))
    }

    /// Accounts for all missing packets of an ordered track before one that arrived.
    fn account_before(&mut self, track: usize, number: u64, at: Ps) {
        while let Some(missing) = self.tracks[track].missing_before(number) {
            self.account(track, missing, at);
        }
    }

    /// Accounts for a packet that will not arrive any more.
    fn account(&mut self, track: usize, number: u64, at: Ps) {
        let cause = self.explain(track, number);
        self.tracks[track].gone(number, cause);
        if cause.is_none() {
            self.wrong(at, track, number, "is lost without a reason");
        }
    }

    /// Finds the reason why a packet is missing or truncated.
    fn explain(&mut self, index: usize, number: u64) -> Option<Cause> {
        let track = self.tracks.get(index)?;
        if let Some(cause) = track.cause_of(number) {
            return Some(cause);
        }
        let start = match track.look_up(number) {
            PacketState::Outstanding(start) => start,
            _ => return None,
        };
        for input in &track.elements.inputs {
            let cuts = self.cuts.entry(*input).or_default();
            if let Some(place) = cuts.iter().position(|(at, _)| *at >= start) {
                let (_, reason) = cuts.remove(place);
                return Some(Cause::Router(input.router, cause::name_of(reason)));
            }
        }
        None
    }

    /// Notes an event of a link that can cost packets in flight.
    pub fn link_event(&mut self, cause: Cause) {
        let (Cause::LinkReset(link) | Cause::Disconnect(link) | Cause::Fault(link)) = cause else {
            return;
        };
        for track in &mut self.tracks {
            if track.elements.links.binary_search(&link).is_ok() {
                track.excuse(cause);
            }
        }
    }

    /// Finds the packet in flight that begins with these bytes.
    pub fn identify(&self, bytes: &[u8]) -> Option<PacketHeader> {
        let fits = |header: &PacketHeader| {
            let Some(flow) = self.flows.get(usize::from(header.flow)) else { return false };
            let outstanding = |track: &usize| {
                let track = &self.tracks[*track];
                matches!(track.look_up(track.number_of(header.number)), PacketState::Outstanding(_))
            };
            flow.target == header.target && flow.tracks.iter().any(outstanding)
        };
        PacketHeader::candidates(bytes).find(fits)
    }

    /// Notes that a router discarded or truncated a packet at one of its inputs. Which packet it
    /// was is known only if its header was complete.
    pub fn dropped(
        &mut self,
        at: Ps,
        input: RouterInput,
        reason: DiscardReason,
        header: Option<PacketHeader>,
    ) {
        let flow = header.and_then(|header| self.flows.get(usize::from(header.flow)));
        let (Some(header), Some(flow)) = (header, flow) else {
            let cuts = self.cuts.entry(input).or_default();
            if cuts.len() == CUTS {
                cuts.remove(0);
            }
            cuts.push((at, reason));
            return;
        };
        let cause = Cause::Router(input.router, cause::name_of(reason));
        let several = flow.tracks.len() > 1;
        for &index in &flow.tracks {
            let track = &mut self.tracks[index];
            let number = track.number_of(header.number);
            if several && !track.elements.inputs.contains(&input) {
                continue;
            }
            if matches!(track.look_up(number), PacketState::Outstanding(_)) {
                track.gone(number, Some(cause));
            }
        }
    }

    /// Notes the success of an RMAP transaction. Returns its latency.
    pub fn complete(&mut self, track: usize, number: u64, at: Ps, bytes: u64) -> Option<Ps> {
        let PacketState::Outstanding(start) = self.tracks.get(track)?.look_up(number) else {
            return None;
        };
        self.tracks[track].delivered(number, bytes);
        Some(at - start.min(at))
    }

    /// Notes the failure of an RMAP transaction. Without a cause, the ledger has to find one.
    pub fn fail(&mut self, track: usize, number: u64, at: Ps, cause: Option<Cause>) {
        match cause {
            Some(cause) => self.tracks[track].gone(number, Some(cause)),
            None => self.account(track, number, at),
        }
    }

    /// Reports any other violation.
    pub fn violation(&mut self, at: Ps, text: String) {
        let _ = self.bad(at, text);
    }

    /// Reports a violation that may occur many times with the same cause, `key`. It counts once.
    pub fn repeated(&mut self, at: Ps, key: &str, text: impl FnOnce(&Self) -> String) {
        if let Some(index) = self.repeated.get(key) {
            if let Some(violation) = index.and_then(|index| self.violations.get_mut(index)) {
                violation.more += 1;
            }
            return;
        }
        let index = self.violations.len();
        self.repeated.insert(key.to_owned(), (index < KEPT).then_some(index));
        self.violation(at, text(self));
    }

    /// Name of a node, or its number.
    pub fn node_name(&self, node: u32) -> String {
        self.nodes.get(node as usize).map_or(node.to_string(), |name| format!("'{name}'"))
    }

    /// Ends the check. If the network is empty, packets that did not arrive are lost.
    pub fn finish(&mut self, at: Ps, nothing_under_way: bool) {
        for track in 0..self.tracks.len() {
            while let Some(number) = self.tracks[track].first().filter(|_| nothing_under_way) {
                self.account(track, number, at);
            }
        }
    }

    /// Handles a packet that belongs to no track.
    fn stray(&mut self, node: u32, at: Ps, text: &str) -> PacketVerdict {
        let of_node = |track: &Track| track.node == node && track.has_fault();
        if self.tracks.iter().any(of_node) {
            return PacketVerdict::Cut;
        }
        let name = self.node_name(node);
        self.bad(at, format!("node {name}: {text}"))
    }

    fn bad(&mut self, at_ps: Ps, text: String) -> PacketVerdict {
        self.violation_count += 1;
        if self.violations.len() < KEPT {
            self.violations.push(Violation { at_ps, text, more: 0 });
        }
        PacketVerdict::Bad
    }

    fn name_of(&self, track: usize) -> &str {
        let flow = self.tracks.get(track).map(|track| usize::from(track.flow));
        flow.and_then(|flow| self.flows.get(flow)).map_or("", |flow| &flow.name)
    }

    /// The first violations.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Number of violations.
    pub const fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// Counters of a track.
    pub fn totals(&self, track: usize) -> TrackTotals<'_> {
        self.tracks[track].totals()
    }

    /// Stream and node of each track.
    pub fn tracks(&self) -> impl Iterator<Item = (u16, u32)> {
        self.tracks.iter().map(|track| (track.flow, track.node))
    }
}

#[cfg(test)]
mod tests;
