//! The fast path of a queue pair: writes and reads that are executed at once ([`spfe_rdma::near`]),
//! straight from the slots of the ring, with one copy from memory to memory.
//!
//! It takes requests with one local piece while nothing else is outstanding, on a link without limit
//! between two ends of this process. What it does not take stays in the ring for the general path,
//! which hands packets over (`direct`) or sends them.

use super::ends::{RdmaSink, RdmaSource};
use super::far::FarMemory;
use super::results::WorkResults;
use super::send::SendSide;
use super::{ChannelState, Pair, VC, Views};
use crate::fast::LoopEnd;
use crate::memory::{Address, FixedWindow, READ, RegionMap, WRITE};
use crate::queue::{CompletionTime, Host};
use crate::shared::{FlowShared, count};
use crate::step::{HandSink, NearFar, StepLimits};
use spfe_contract::{EntryType, WorkOpcode, access, work_flags as wf};
use spfe_proto::sfrp::READ_MAX;
use spfe_rdma::near::{NearKind, NearPair, NearTally};
use spfe_ring::cursor::Cursor;
use spfe_ring::ring::RingEntry;
use spfe_ring::sync::light_fence;
use spfe_ring::{Ring, Slot};

/// Slots of a request.
const SLOTS: u32 = 2;
/// Bits of the first slot that differ among requests that are otherwise alike.
const FREE: u64 = ((wf::SIGNAL | wf::LAST) as u64) << 32;
/// Flags of the first slot, without those, FENCE and the opcode: with a fence or without, nothing is
/// outstanding.
const FIRST: u16 = EntryType::Rdma.raw() as u16 | wf::CHAIN;
const FIRST_CHECK: u16 = !(wf::SIGNAL | wf::LAST | wf::FENCE | wf::OPCODE_MASK);
/// Flags of the second slot.
const SECOND: u16 = EntryType::Data.raw() as u16;

impl RdmaSource {
    /// Executes requests at once. Returns their number, and whether the general path has to go on.
    pub fn near<H: Host>(
        &mut self,
        map: &RegionMap,
        sink: &mut impl HandSink,
        far_map: &RegionMap,
        (budget, limits): (u32, StepLimits),
        host: &mut H,
    ) -> (u32, LoopEnd) {
        let (channel, clock, views) = self.parts();
        let state = &mut *channel.lock();
        let Some(view) = &views.send else { return (0, LoopEnd::General) };
        let Some(pair) = state.near(views).filter(|_| budget != 0) else {
            return (0, LoopEnd::General);
        };
        let send = &mut pair.send;
        let mut run = NearRun {
            results: &mut send.results,
            ring: view.submissions,
            position: send.at.submission,
            domain: view.config.domain as u16,
            maps: (map, far_map),
            budget,
            bytes: limits.bytes,
            longest: limits.fast_packet,
        };
        let (initiator, mut end) = (&mut send.initiator, LoopEnd::General);
        let tally = sink.lend(|far| {
            let Some(mut near) = NearPair::new(initiator, far.target, VC, || clock()) else {
                return NearTally::default();
            };
            end = run.go(&mut near, far.domain);
            near.tally()
        });
        let done = budget - run.budget;
        if done == 0 {
            return (0, LoopEnd::General);
        }
        send.at.submission = run.position;
        let counters = &channel.out().tx_count;
        count(counters, tally.requests, tally.request_bytes);
        let stamps = view.wants_stamps();
        let time = if stamps { CompletionTime::Stamp(clock()) } else { CompletionTime::None };
        send.results.publish(view, &mut send.at, counters, time);
        send.show_idle(view);
        // Pairs with the heavy fence of a host that falls asleep.
        light_fence();
        view.notify(&mut send.at, counters, host);
        (done, end)
    }
}

impl ChannelState {
    /// The queue pair, if everything that it has to do is in the ring of requests.
    fn near(&mut self, views: &Views) -> Option<&mut Pair> {
        let pair = self.pair.as_mut().filter(|_| !self.busy)?;
        // Posted buffers wait for the general path.
        let buffers = views
            .receive
            .is_some_and(|view| view.submissions.read(pair.receive.at.submission).is_some());
        let quiet = !buffers && !pair.target.has_response(VC) && pair.send.is_idle();
        quiet.then_some(pair)
    }

    /// Lends the target to requests that are executed at once, while it neither sends nor receives.
    fn lend(
        &mut self,
        domain: u16,
        out: &FlowShared,
        work: impl FnOnce(NearFar<'_>) -> NearTally,
    ) -> NearTally {
        let still = !self.busy && !self.open;
        let Some(pair) = self.pair.as_mut().filter(|_| still) else { return NearTally::default() };
        let tally = work(NearFar { target: &mut pair.target, domain });
        count(&out.tx_count, tally.responses, tally.response_bytes);
        tally
    }
}

impl RdmaSink {
    /// Lends its target ([`HandSink::lend`]).
    pub(super) fn lend_target(&mut self, work: impl FnOnce(NearFar<'_>) -> NearTally) -> NearTally {
        let (channel, _, views) = self.parts();
        channel.lock().lend(views.domain(), channel.out(), work)
    }
}

impl SendSide {
    /// Whether nothing is outstanding and nothing waits to be reported at once.
    fn is_idle(&self) -> bool {
        self.has_no_requests() && self.results.waiting() == 0
    }
}

/// Requests of a ring that are executed at once.
struct NearRun<'a> {
    results: &'a mut WorkResults,
    ring: Ring,
    /// Position of the next request.
    position: u32,
    domain: u16,
    /// The regions of both ends.
    maps: (&'a RegionMap, &'a RegionMap),
    /// Requests left, bytes left, and bytes of the longest request.
    budget: u32,
    bytes: u64,
    longest: u32,
}

/// Requests that are alike: kind, key, length and local region.
struct Alike {
    /// Second words of the two slots.
    words: [u64; 2],
    length: u32,
    local: FixedWindow,
}

impl NearRun<'_> {
    fn go(&mut self, near: &mut NearPair<'_>, far_domain: u16) -> LoopEnd {
        loop {
            if self.budget == 0 || self.bytes == 0 {
                return LoopEnd::Budget;
            }
            let cursor = Cursor::new(self.ring, self.position);
            let Some(first) = cursor.read() else {
                // What was posted last ends a group.
                near.acknowledge();
                return LoopEnd::Idle;
            };
            let opcode = ((first[1] >> 32) as u16 & wf::OPCODE_MASK) >> wf::OPCODE_SHIFT;
            let done = match WorkOpcode::from_raw(opcode as u8) {
                Some(WorkOpcode::Write) => self.row::<true>(cursor, first, near, far_domain),
                Some(WorkOpcode::Read) => self.row::<false>(cursor, first, near, far_domain),
                _ => None,
            };
            if done.is_none() {
                return LoopEnd::General;
            }
        }
    }

    /// Executes the next request and those behind it that are alike. `None` if it has to go another
    /// way.
    #[inline(always)]
    fn row<const WRITES: bool>(
        &mut self,
        cursor: Cursor<Ring>,
        first: RingEntry,
        near: &mut NearPair<'_>,
        far_domain: u16,
    ) -> Option<()> {
        let (kind, from, to) = match WRITES {
            true => (NearKind::Write, READ, access::REMOTE_WRITE),
            false => (NearKind::Read, WRITE, access::REMOTE_READ),
        };
        let mut behind = cursor;
        behind.advance();
        let second = behind.read()?;
        let length = second[1] as u32;
        if (first[1] >> 32) as u16 & FIRST_CHECK != FIRST
            || (second[1] >> 32) as u16 != SECOND
            || length > self.longest.min(READ_MAX)
        {
            return None;
        }
        let window = |map: &RegionMap, address: Address, domain, access| {
            map.window(address, domain, access, u32::MAX)?.fixed(length)
        };
        let local = window(self.maps.0, Address(second[0]), self.domain, from)?;
        let room = (self.bytes / u64::from(length)).clamp(1, self.budget.into()) as u32;
        let mut most = room.min(self.results.room(length));
        if WRITES {
            most = most.min(near.until_asked() as u32);
        }
        let segment_log2 = near.segment_bytes(kind).ilog2();
        let region = near.region(first[1] as u32, kind, length)?;
        let mut far = FarMemory::<WRITES>::new(region, length, segment_log2, |address| {
            window(self.maps.1, address, far_domain, to)
        })?;
        far.reach_to(first[0]);
        let alike = Alike { words: [first[1] & !FREE, second[1]], length, local };
        let whole;
        let requests = match self.ring.straight(cursor.mark()).as_chunks::<2>().0 {
            [] => {
                // Its second slot is at the start of the ring.
                whole = [first, second].map(slot);
                std::slice::from_ref(&whole)
            }
            requests => &requests[..requests.len().min(most as usize)],
        };
        let (requests, flags) = alike.each(requests, &mut far);
        if requests == 0 {
            return None;
        }
        let bytes = u64::from(requests) * u64::from(length);
        let packets = u64::from(requests) + far.crossings;
        near.executed(kind, requests, packets, bytes);
        if flags & u64::from(wf::LAST) << 32 != 0 {
            near.acknowledge();
        }
        self.budget -= requests;
        self.bytes = self.bytes.saturating_sub(bytes);
        self.position = self.position.wrapping_add(SLOTS * requests);
        let (last, signal) = (self.position.wrapping_sub(1), u64::from(wf::SIGNAL) << 32);
        self.results.succeed_all(last, requests, bytes, flags & signal != 0);
        Some(())
    }
}

/// A slot with an entry.
fn slot(entry: RingEntry) -> Slot {
    let slot = Slot::default();
    slot.write_entry(entry);
    slot
}

impl Alike {
    /// Executes requests. Returns their number, and the free flags of the last one, which ends the row
    /// if it has any. Each word of a slot is read once here, and only that value counts.
    #[inline(always)]
    fn each<const WRITES: bool>(
        &self,
        requests: &[[Slot; 2]],
        far: &mut FarMemory<'_, WRITES>,
    ) -> (u32, u64) {
        let mut done = 0;
        for [first, second] in requests {
            let flags = first.word1() ^ self.words[0];
            if flags != 0 {
                let fits = flags & !FREE == 0 && self.one(first, second, far);
                return if fits { (done + 1, flags) } else { (done, 0) };
            }
            if !self.one(first, second, far) {
                break;
            }
            done += 1;
        }
        (done, 0)
    }

    /// Executes a request whose first slot is alike.
    #[inline(always)]
    fn one<const WRITES: bool>(
        &self,
        first: &Slot,
        second: &Slot,
        far: &mut FarMemory<'_, WRITES>,
    ) -> bool {
        if second.word1() != self.words[1] {
            return false;
        }
        let local = self.local.at(second.word0());
        local.is_some_and(|local| far.carry(first.word0(), local, self.length))
    }
}
