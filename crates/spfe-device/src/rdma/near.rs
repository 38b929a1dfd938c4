//! The fast path of a queue pair: writes and reads that are executed at once ([`spfe_rdma::near`]),
//! straight from the slots of the ring, with one copy from memory to memory.
//!
//! It takes requests with one local piece while nothing else is outstanding, on a link without limit
//! between two ends of this process. What it does not take stays in the ring for the general path,
//! which hands packets over (`direct`) or sends them.

use super::ends::{RdmaSink, RdmaSource};
use super::results::WorkResults;
use super::send::SendSide;
use super::{ChannelState, Pair, VC, Views};
use crate::copy::move_bytes;
use crate::fast::LoopEnd;
use crate::memory::{Address, FixedWindow, READ, RegionMap, WRITE};
use crate::queue::{CompletionTime, Host};
use crate::shared::{FlowShared, count};
use crate::step::{HandSink, NearFar, NearWork, StepLimits};
use spfe_contract::{EntryType, WorkOpcode, access, work_flags as wf};
use spfe_proto::sfrp::READ_MAX;
use spfe_rdma::memory::{BeyondMemory, SparseMemory};
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
        let tally = sink.lend(&mut |far| {
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
    fn lend(&mut self, domain: u16, out: &FlowShared, work: NearWork<'_>) -> NearTally {
        let still = !self.busy && !self.open;
        let Some(pair) = self.pair.as_mut().filter(|_| still) else { return NearTally::default() };
        let tally = work(NearFar { target: &mut pair.target, domain });
        count(&out.tx_count, tally.responses, tally.response_bytes);
        tally
    }
}

impl RdmaSink {
    /// Lends its target ([`HandSink::lend`]).
    pub(super) fn lend_target(&mut self, work: NearWork<'_>) -> NearTally {
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
    /// Address of the region's first byte, and offset of the last access that is all in it.
    base: u64,
    last: u64,
    /// Segments end at multiples of the largest payload: of addresses, or of offsets.
    skew: u64,
    segment_log2: u32,
}

/// What a row of requests that are alike has come to.
struct Row {
    requests: u32,
    /// Packets that would have carried the data.
    packets: u64,
    /// Free flags of the last one, which ends the row if it has any.
    flags: u64,
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
            let Some((kind, length, row)) = self.row(cursor, first, near, far_domain) else {
                return LoopEnd::General;
            };
            let bytes = u64::from(row.requests) * u64::from(length);
            near.executed(kind, row.requests, row.packets, bytes);
            if row.flags & u64::from(wf::LAST) << 32 != 0 {
                near.acknowledge();
            }
            self.budget -= row.requests;
            self.bytes = self.bytes.saturating_sub(bytes);
            self.position = self.position.wrapping_add(SLOTS * row.requests);
            let (last, signal) = (self.position.wrapping_sub(1), u64::from(wf::SIGNAL) << 32);
            self.results.succeed_all(last, row.requests, bytes, row.flags & signal != 0);
        }
    }

    /// Executes the next request and those behind it that are alike. `None` if it has to go another
    /// way.
    #[inline]
    fn row(
        &mut self,
        cursor: Cursor<Ring>,
        first: RingEntry,
        near: &mut NearPair<'_>,
        far_domain: u16,
    ) -> Option<(NearKind, u32, Row)> {
        let flags = (first[1] >> 32) as u16;
        let opcode = (flags & wf::OPCODE_MASK) >> wf::OPCODE_SHIFT;
        let (kind, from, to) = match WorkOpcode::from_raw(opcode as u8)? {
            WorkOpcode::Write => (NearKind::Write, READ, access::REMOTE_WRITE),
            WorkOpcode::Read => (NearKind::Read, WRITE, access::REMOTE_READ),
            _ => return None,
        };
        let mut behind = cursor;
        behind.advance();
        let second = behind.read()?;
        let length = second[1] as u32;
        if flags & FIRST_CHECK != FIRST
            || (second[1] >> 32) as u16 != SECOND
            || length > self.longest.min(READ_MAX)
        {
            return None;
        }
        let window = |map: &RegionMap, address: u64, domain, access| {
            map.window(Address(address), domain, access, u32::MAX)?.fixed(length)
        };
        let local = window(self.maps.0, second[0], self.domain, from)?;
        let room = (self.bytes / u64::from(length)).clamp(1, self.budget.into()) as u32;
        let mut most = room.min(self.results.room(length));
        if kind == NearKind::Write {
            most = most.min(near.until_asked() as u32);
        }
        let segment_log2 = near.segment_bytes(kind).ilog2();
        let region = near.region(first[1] as u32, kind, length)?;
        let (base, last) = (region.base, region.bytes() - u64::from(length));
        let skew = if kind == NearKind::Write { base } else { 0 };
        let words = [first[1] & !FREE, second[1]];
        let alike = Alike { words, length, local, base, last, skew, segment_log2 };
        let whole;
        let requests = match self.ring.straight(cursor.mark()).as_chunks::<2>().0 {
            [] => {
                // Its second slot is at the start of the ring.
                whole = [first, second].map(slot);
                std::slice::from_ref(&whole)
            }
            requests => &requests[..requests.len().min(most as usize)],
        };
        let row = match (region.window, kind) {
            (Some(served), _) => {
                let served = super::memory::address(served)?.0;
                let far = window(self.maps.1, served, far_domain, to)?;
                alike.each(requests, |at, offset| {
                    let Some(place) = far.at(served + offset) else { return false };
                    let (source, target) =
                        if kind == NearKind::Write { (at, place) } else { (place, at) };
                    // SAFETY: both windows have `length` bytes there, mapped for this step.
                    unsafe { move_bytes(source, target, length) };
                    true
                })
            }
            (None, NearKind::Write) => {
                let memory = &mut region.memory;
                let mut page = Page::to_write(memory, first[0].wrapping_sub(base), length);
                alike.each(requests, |at, offset| match page.place(offset) {
                    Some(place) => {
                        // SAFETY: the page has `length` bytes there, and so has the local window. Nobody
                        // else uses it: `memory` is borrowed, and gives away another page only below.
                        unsafe { move_bytes(at, place, length) };
                        true
                    }
                    None => write(memory, offset, at, length, &mut page),
                })
            }
            (None, NearKind::Read) => {
                let memory = &region.memory;
                let mut page = Page::to_read(memory, first[0].wrapping_sub(base), length);
                alike.each(requests, |at, offset| match page.place(offset) {
                    Some(place) => {
                        // SAFETY: as above.
                        unsafe { move_bytes(place, at, length) };
                        true
                    }
                    None => read(memory, offset, at, length, &mut page),
                })
            }
        };
        (row.requests != 0).then_some((kind, length, row))
    }
}

/// A slot with an entry.
fn slot(entry: RingEntry) -> Slot {
    let slot = Slot::default();
    slot.write_entry(entry);
    slot
}

/// Copies mapped memory into a region, and keeps the page for the next request.
#[inline(never)]
fn write(
    memory: &mut SparseMemory,
    offset: u64,
    at: *mut u8,
    length: u32,
    page: &mut Page,
) -> bool {
    let filled = memory.fill(offset, length as usize, |done, place| {
        // SAFETY: the parts make up the `length` bytes at `at`.
        unsafe { move_bytes(at.wrapping_add(done), place.as_mut_ptr(), place.len() as u32) };
        Ok::<(), BeyondMemory>(())
    });
    *page = Page::to_write(memory, offset, length);
    filled.is_ok()
}

/// Copies a region into mapped memory, and keeps the page for the next request.
#[inline(never)]
fn read(memory: &SparseMemory, offset: u64, at: *mut u8, length: u32, page: &mut Page) -> bool {
    let shown = memory.show(offset, length as usize, |done, place| {
        // SAFETY: the parts make up the `length` bytes at `at`.
        unsafe { move_bytes(place.as_ptr(), at.wrapping_add(done), place.len() as u32) };
        Ok::<(), BeyondMemory>(())
    });
    *page = Page::to_read(memory, offset, length);
    shown.is_ok()
}

impl Alike {
    /// Executes requests with `copy`, which gets the local bytes and the offset in the region. Each word
    /// of a slot is read once here, and only that value counts.
    #[inline(always)]
    fn each(&self, requests: &[[Slot; 2]], mut copy: impl FnMut(*mut u8, u64) -> bool) -> Row {
        let mask = (1u64 << self.segment_log2) - 1;
        let behind = u64::from(self.length) + mask;
        let (mut rest, mut packets, mut last) = (requests, 0, 0);
        while let Some(([first, second], behind_it)) = rest.split_first() {
            let flags = first.word1() ^ self.words[0];
            if flags != 0 && flags & !FREE != 0 || second.word1() != self.words[1] {
                break;
            }
            let Some(at) = self.local.at(second.word0()) else { break };
            // The offset of an address before the region is huge.
            let offset = first.word0().wrapping_sub(self.base);
            if offset > self.last || !copy(at, offset) {
                break;
            }
            packets += ((offset.wrapping_add(self.skew) & mask) + behind) >> self.segment_log2;
            rest = behind_it;
            if flags != 0 {
                last = flags;
                break;
            }
        }
        Row { requests: (requests.len() - rest.len()) as u32, packets, flags: last }
    }
}

/// The page of a region that was used last.
struct Page {
    /// Offset of its first byte, and of the last request in it from there on.
    start: u64,
    last: u64,
    at: *mut u8,
}

impl Page {
    /// No page: no offset is in it.
    const NONE: Self = Self { start: u64::MAX, last: 0, at: std::ptr::null_mut() };

    /// The page of an offset, if it has been written before.
    #[inline]
    fn to_write(memory: &mut SparseMemory, offset: u64, length: u32) -> Self {
        let found = memory.page_mut(offset);
        found.map_or(Self::NONE, |(start, page)| {
            Self::new(start, page.as_mut_ptr(), page.len(), length)
        })
    }

    /// The page of an offset. Nothing may be written to it.
    #[inline]
    fn to_read(memory: &SparseMemory, offset: u64, length: u32) -> Self {
        let found = memory.page(offset);
        found.map_or(Self::NONE, |(start, page)| {
            Self::new(start, page.as_ptr().cast_mut(), page.len(), length)
        })
    }

    #[inline]
    fn new(start: u64, at: *mut u8, bytes: usize, length: u32) -> Self {
        match (bytes as u64).checked_sub(length.into()) {
            Some(last) => Self { start, last, at },
            None => Self::NONE,
        }
    }

    /// The bytes at an offset, if all of a request is in this page.
    #[inline(always)]
    fn place(&self, offset: u64) -> Option<*mut u8> {
        let inside = offset.wrapping_sub(self.start);
        (inside <= self.last).then(|| self.at.wrapping_add(inside as usize))
    }
}
