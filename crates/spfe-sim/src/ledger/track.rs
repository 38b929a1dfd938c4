//! Packets of a flow to one destination.

use super::Cause;
use crate::scenario::route::RouteElements;
use crate::time::Ps;
use std::collections::{BTreeMap, VecDeque};

/// Excuses that are kept.
const EXCUSES: usize = 8;
/// Packets that went before the oldest outstanding one, whose end is remembered.
const HISTORY: u32 = 64;

/// What a track has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals<'a> {
    /// Handed in.
    pub sent: u64,
    /// Delivered whole.
    pub delivered: u64,
    /// Bytes of those.
    pub bytes: u64,
    /// Delivered with an EEP, for a reason.
    pub cut: u64,
    /// Bytes of those.
    pub cut_bytes: u64,
    /// Not delivered, or not as they were, for a reason.
    pub lost: u64,
    /// On their way.
    pub in_flight: u64,
    /// Bytes of those.
    pub in_flight_bytes: u64,
    /// The reasons, and how often packets were lost and cut for them.
    pub causes: &'a BTreeMap<Cause, [u64; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct TrackEntry {
    start: Ps,
    bytes: u32,
    /// Delivered, or gone.
    ended: Option<bool>,
}

/// Where a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// Handed in at a time.
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
    /// An application takes the packets: what becomes of them is its affair.
    foreign: bool,
    /// Number of the oldest outstanding packet, the first of the window.
    base: u64,
    window: VecDeque<TrackEntry>,
    /// Bit N: packet `base - 1 - N` was delivered.
    history: u64,
    /// Packets with lower numbers than these may be gone.
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

    /// An application takes the packets from now on.
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

    /// The number whose lower half came in a header.
    pub fn number_of(&self, low: u32) -> u64 {
        let ahead = low.wrapping_sub(self.base as u32) as i32;
        self.base.saturating_add_signed(i64::from(ahead))
    }

    pub fn look_up(&self, number: u64) -> Lookup {
        let Some(index) = number.checked_sub(self.base) else {
            let age = self.base - 1 - number;
            let delivered = age >= u64::from(HISTORY) || self.history >> age & 1 != 0;
            return if delivered { Lookup::Delivered } else { Lookup::Gone };
        };
        match self.window.get(index as usize) {
            None => Lookup::Never,
            Some(TrackEntry { start, ended: None, .. }) => Lookup::Outstanding(*start),
            Some(TrackEntry { ended: Some(true), .. }) => Lookup::Delivered,
            Some(TrackEntry { ended: Some(false), .. }) => Lookup::Gone,
        }
    }

    /// The oldest outstanding packet.
    pub fn first(&self) -> Option<u64> {
        (!self.window.is_empty()).then_some(self.base)
    }

    /// The oldest packet that should have come before one that came.
    pub fn missing_before(&self, number: u64) -> Option<u64> {
        (self.ordered && self.base < number).then_some(self.base)
    }

    /// What happened to a packet, as far as its links know.
    pub fn cause_of(&self, number: u64) -> Option<Cause> {
        self.excuses.iter().find(|(before, _)| number < *before).map(|(_, cause)| *cause)
    }

    /// The fault that may have altered a packet.
    pub fn fault_of(&self, number: u64) -> Option<Cause> {
        let fits =
            |(before, cause): &&(u64, Cause)| number < *before && matches!(cause, Cause::Fault(_));
        self.excuses.iter().find(fits).map(|(_, cause)| *cause)
    }

    /// Whether something may have happened to a packet that is outstanding.
    pub fn is_excused(&self) -> bool {
        self.excuses.back().is_some_and(|(before, _)| *before > self.base)
    }

    pub fn has_fault(&self) -> bool {
        self.excuses.iter().any(|(_, cause)| matches!(cause, Cause::Fault(_)))
    }

    /// Something happened on the way to all that is outstanding.
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

    /// It will not come any more, or came altered.
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
        if self.excuses.iter().any(|(before, _)| *before <= self.base) && self.lost_sight() {
            self.excuses.retain(|(before, _)| *before > self.base);
        }
    }

    /// A fault is remembered a little longer: what it made of a packet may still come.
    fn lost_sight(&self) -> bool {
        let keep = |(before, cause): &(u64, Cause)| {
            matches!(cause, Cause::Fault(_)) && *before + u64::from(HISTORY) > self.base
        };
        !self.excuses.iter().any(keep)
    }

    pub fn totals(&self) -> Totals<'_> {
        Totals {
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
