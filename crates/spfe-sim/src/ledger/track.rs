//! The packets of a stream to one destination.

use super::Cause;
use crate::scenario::route::RouteElements;
use crate::time::Ps;
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of remembered explanations.
const EXCUSES: usize = 8;
/// Number of packets before the oldest one in flight whose fate is remembered.
const HISTORY: u32 = 64;

/// Counters of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackTotals<'a> {
    /// Packets sent.
    pub sent: u64,
    /// Packets delivered complete.
    pub delivered: u64,
    /// Bytes of delivered packets.
    pub bytes: u64,
    /// Packets delivered with an EEP, for a known reason.
    pub cut: u64,
    /// Their bytes.
    pub cut_bytes: u64,
    /// Packets that did not arrive or arrived altered, for a known reason.
    pub lost: u64,
    /// Packets in flight.
    pub in_flight: u64,
    /// Their bytes.
    pub in_flight_bytes: u64,
    /// For each reason, the number of lost and of truncated packets.
    pub causes: &'a BTreeMap<Cause, [u64; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct TrackEntry {
    start: Ps,
    bytes: u32,
    /// Whether the packet was delivered (true) or lost (false); `None` while it is in flight.
    ended: Option<bool>,
}

/// State of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketState {
    /// In flight, sent at this time.
    Outstanding(Ps),
    Delivered,
    Gone,
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Track {
    pub flow: u16,
    pub node: u32,
    pub elements: RouteElements,
    ordered: bool,
    /// An application takes the packets, so their fate is not followed.
    foreign: bool,
    /// Number of the oldest packet in flight, which is the first of the window.
    base: u64,
    window: VecDeque<TrackEntry>,
    /// Bit N: packet `base - 1 - N` was delivered.
    history: u64,
    /// Explanations, each valid for packets with numbers below this.
    excuses: VecDeque<(u64, Cause)>,
    delivered: u64,
    bytes: u64,
    cut: u64,
    cut_bytes: u64,
    lost: u64,
    in_flight: u64,
    in_flight_bytes: u64,
    causes: BTreeMap<Cause, [u64; 2]>,
}

impl Track {
    pub fn new(flow: u16, node: u32, elements: RouteElements, ordered: bool) -> Self {
        Self {
            flow,
            node,
            elements,
            ordered,
            foreign: false,
            base: 0,
            window: VecDeque::new(),
            history: 0,
            excuses: VecDeque::new(),
            delivered: 0,
            bytes: 0,
            cut: 0,
            cut_bytes: 0,
            lost: 0,
            in_flight: 0,
            in_flight_bytes: 0,
            causes: BTreeMap::new(),
        }
    }

    pub fn hand_over(&mut self) {
        self.foreign = true;
    }

    pub fn begin(&mut self, start: Ps, bytes: u32) {
        if self.foreign && self.window.is_empty() {
            self.base += 1;
            self.history = self.history << 1 | 1;
            return;
        }
        self.window.push_back(TrackEntry { start, bytes, ended: None });
        self.in_flight += 1;
        self.in_flight_bytes += u64::from(bytes);
    }

    fn sent(&self) -> u64 {
        self.base + self.window.len() as u64
    }

    /// The packet number whose lower 32 bits are in a header.
    pub fn number_of(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.base as u32) as i32;
        self.base.saturating_add_signed(i64::from(ahead))
    }

    pub fn look_up(&self, number: u64) -> PacketState {
        let Some(index) = number.checked_sub(self.base) else {
            let age = self.base - 1 - number;
            let delivered = age >= u64::from(HISTORY) || self.history >> age & 1 != 0;
            return if delivered { PacketState::Delivered } else { PacketState::Gone };
        };
        match self.window.get(index as usize) {
            None => PacketState::Never,
            Some(TrackEntry { start, ended: None, .. }) => PacketState::Outstanding(*start),
            Some(TrackEntry { ended: Some(true), .. }) => PacketState::Delivered,
            Some(TrackEntry { ended: Some(false), .. }) => PacketState::Gone,
        }
    }

    /// The oldest packet in flight.
    pub fn first(&self) -> Option<u64> {
        (!self.window.is_empty()).then_some(self.base)
    }

    /// The oldest packet that should have arrived before `number`.
    pub fn missing_before(&self, number: u64) -> Option<u64> {
        (self.ordered && self.base < number).then_some(self.base)
    }

    /// The link event that may have cost a packet.
    pub fn cause_of(&self, number: u64) -> Option<Cause> {
        self.excuses.iter().find(|(before, _)| number < *before).map(|(_, cause)| *cause)
    }

    /// The fault that may have altered a packet.
    pub fn fault_of(&self, number: u64) -> Option<Cause> {
        let fits =
            |(before, cause): &&(u64, Cause)| number < *before && matches!(cause, Cause::Fault(_));
        self.excuses.iter().find(fits).map(|(_, cause)| *cause)
    }

    /// Whether there is an explanation for a packet in flight.
    pub fn is_excused(&self) -> bool {
        self.excuses.back().is_some_and(|(before, _)| *before > self.base)
    }

    pub fn has_fault(&self) -> bool {
        self.excuses.iter().any(|(_, cause)| matches!(cause, Cause::Fault(_)))
    }

    /// Adds an explanation for all packets in flight.
    pub fn excuse(&mut self, cause: Cause) {
        if self.window.is_empty() {
            return;
        }
        let before = self.sent();
        if let Some(known) = self.excuses.iter_mut().find(|known| known.1 == cause) {
            known.0 = before;
        } else {
            if self.excuses.len() == EXCUSES {
                self.excuses.pop_front();
            }
            self.excuses.push_back((before, cause));
        }
    }

    pub fn delivered(&mut self, number: u64, bytes: u64) {
        self.delivered += 1;
        self.bytes += bytes;
        self.end(number, true);
    }

    pub fn cut(&mut self, number: u64, bytes: u64, cause: Option<Cause>) {
        if let Some(cause) = cause {
            self.cut += 1;
            self.cut_bytes += bytes;
            self.causes.entry(cause).or_default()[1] += 1;
        }
        self.end(number, true);
    }

    /// Notes that a packet will not arrive any more, or arrived altered.
    pub fn gone(&mut self, number: u64, cause: Option<Cause>) {
        if let Some(cause) = cause {
            self.lost += 1;
            self.causes.entry(cause).or_default()[0] += 1;
        }
        self.end(number, false);
    }

    fn end(&mut self, number: u64, delivered: bool) {
        let index = number.saturating_sub(self.base) as usize;
        if let Some(entry) = self.window.get_mut(index).filter(|entry| entry.ended.is_none()) {
            entry.ended = Some(delivered);
            self.in_flight -= 1;
            self.in_flight_bytes -= u64::from(entry.bytes);
        }
        while let Some(TrackEntry { ended: Some(delivered), .. }) = self.window.front() {
            self.history = self.history << 1 | u64::from(*delivered);
            self.window.pop_front();
            self.base += 1;
        }
        if self.excuses.iter().any(|(before, _)| *before <= self.base) && self.faults_expired() {
            self.excuses.retain(|(before, _)| *before > self.base);
        }
    }

    /// Faults are remembered a little longer, because altered packets may still arrive.
    fn faults_expired(&self) -> bool {
        let keep = |(before, cause): &(u64, Cause)| {
            matches!(cause, Cause::Fault(_)) && *before + u64::from(HISTORY) > self.base
        };
        !self.excuses.iter().any(keep)
    }

    pub fn totals(&self) -> TrackTotals<'_> {
        TrackTotals {
            sent: self.sent(),
            delivered: self.delivered,
            bytes: self.bytes,
            cut: self.cut,
            cut_bytes: self.cut_bytes,
            lost: self.lost,
            in_flight: self.in_flight,
            in_flight_bytes: self.in_flight_bytes,
            causes: &self.causes,
        }
    }
}
