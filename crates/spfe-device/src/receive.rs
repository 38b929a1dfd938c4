//! Posted buffers and the packed area as sinks of packets.

use crate::copy::{CopyTarget, FlowEnd};
use crate::fast;
use crate::flow::{Accepted, Piece, PieceSink, StepContext};
use crate::memory::{AccessRefusal, Address, RegionKey, RegionMap, WRITE};
use crate::queue::{Host, QueueView, completion};
use crate::shared::{AreaMark, FlowShared, QueueCounters, RxState, bump};
use spfe_contract::{
    self as contract, EndMarker, EntryType, RecordHeader, Release, Status, Submission,
    completion_flags as cf, record_flags, submit_flags as sf,
};
use spfe_ring::packed::{PackedWriter, record_bytes};
use std::ptr::NonNull;

/// Longest stretch of link time one run of packed records may cover, so that the first record of
/// a run on a paced link is not reported much later than it arrived.
const RUN_MAX_NS: u64 = 2_000;

/// State and counters of the receive side, reached under the seat.
struct RxShared {
    state: NonNull<RxState>,
    counters: NonNull<QueueCounters>,
}

impl RxShared {
    fn new(flow: &FlowShared) -> Self {
        // SAFETY: an UnsafeCell's pointer is not null.
        let state = unsafe { NonNull::new_unchecked(flow.rx.get()) };
        Self { state, counters: NonNull::from(&flow.rx_count) }
    }

    #[inline(always)]
    fn state(&mut self) -> &mut RxState {
        // SAFETY: the runner holds the seat (rule of `FlowShared`), so this is the only access.
        unsafe { self.state.as_mut() }
    }

    #[inline(always)]
    fn counters(&self) -> &QueueCounters {
        // SAFETY: in shared memory that outlives the queue; atomics only.
        unsafe { self.counters.as_ref() }
    }

    #[inline(always)]
    fn notify<H: Host>(&mut self, view: &QueueView, host: &mut H) {
        // SAFETY: seat held; the counters are atomics elsewhere in shared memory.
        let (state, counters) = unsafe { (self.state.as_mut(), self.counters.as_ref()) };
        view.notify(&mut state.at, counters, host);
    }

    /// A host that waits for more than it has room for is woken for what is there. One that arms
    /// later finds the mark when it looks again.
    fn mark_full(&mut self, view: &QueueView) {
        let at = &mut self.state().at;
        view.device_line().set_full(at.completion, at.submission);
        if view.host_line().armed().is_some() && view.host_line().wishes().has_first(at.completion)
        {
            at.urgent = 1;
        }
    }
}

/// A receive queue with posted buffers.
pub struct RxPosted {
    view: QueueView,
    shared: RxShared,
    /// The buffer being filled and the position it was posted at: another process may have
    /// completed it meanwhile.
    buffer: Option<(u32, Buffer)>,
}

#[derive(Clone, Copy)]
struct Buffer {
    target: CopyTarget,
    length: u32,
}

// SAFETY: points into shared state its holder keeps mapped; used only by who holds the seat.
unsafe impl Send for RxPosted {}

impl RxPosted {
    /// The receive side of a flow.
    pub fn new(view: QueueView, flow: &FlowShared) -> Self {
        Self { view, shared: RxShared::new(flow), buffer: None }
    }

    /// The buffer being filled, or the next one the host has posted.
    #[inline(always)]
    fn buffer<H: Host>(
        &mut self,
        map: &RegionMap,
        cx: &mut StepContext<'_, '_, H>,
    ) -> Result<Option<Buffer>, RegionKey> {
        if let Some((position, buffer)) = self.buffer
            && position == self.shared.state().at.submission
        {
            return Ok(Some(buffer));
        }
        // At most one lap: each turn takes an entry that was refused.
        for _ in 0..=self.view.submissions.size() {
            let position = self.shared.state().at.submission;
            let Some(entry) = self.view.submissions.read(position) else {
                return Ok(None);
            };
            self.view.submissions.prefetch(position.wrapping_add(8));
            match Self::check(&self.view, map, entry) {
                Ok(buffer) => {
                    self.buffer = Some((position, buffer));
                    return Ok(Some(buffer));
                }
                Err(AccessRefusal::Unmapped(key)) => return Err(key),
                Err(AccessRefusal::Fault(status)) => self.refuse(status, cx),
            }
        }
        Ok(None)
    }

    #[inline(always)]
    fn check(view: &QueueView, map: &RegionMap, entry: [u64; 2]) -> Result<Buffer, AccessRefusal> {
        let submission = Submission::from_words(entry);
        let flags = submission.flags;
        if flags & (sf::TYPE_MASK | sf::MBZ_MASK) != u16::from(EntryType::Buffer.raw()) {
            let known = flags & sf::TYPE_MASK == u16::from(EntryType::Buffer.raw());
            let status = if known { Status::BadField } else { Status::BadOpcode };
            return Err(AccessRefusal::Fault(status));
        }
        let length = submission.length;
        if length == 0 {
            return Err(AccessRefusal::Fault(Status::Empty));
        }
        if u64::from(length) > contract::PACKET_MAX_BYTES {
            return Err(AccessRefusal::Fault(Status::TooLong));
        }
        let address = Address(entry[0]);
        let at = map.translate(address, u64::from(length), view.config.domain as u16, WRITE)?;
        Ok(Buffer { target: CopyTarget { at, address: Some(address) }, length })
    }

    #[cold]
    fn refuse<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, '_, H>) {
        let state = self.shared.state();
        let done = completion(&self.view.config, state.at.submission, status);
        let position = state.at.completion;
        state.at.completion = position.wrapping_add(1);
        state.at.submission = state.at.submission.wrapping_add(1);
        state.fill = 0;
        state.at.urgent = 1;
        self.buffer = None;
        bump(&self.shared.counters().errors, 1);
        let time = cx.time(self.view.wants_stamps());
        cx.copier.complete(FlowEnd::Rx, &self.view, position, done, time);
    }

    /// Completes the buffer in hand.
    #[inline(always)]
    fn complete<H: Host>(&mut self, end: EndMarker, more: bool, cx: &mut StepContext<'_, '_, H>) {
        let config = &self.view.config;
        let state = self.shared.state();
        let cut = end == EndMarker::Eep;
        let status = if cut { Status::PacketCut } else { Status::Ok };
        state.at.urgent |= u32::from(cut);
        let mut done = completion(config, state.at.submission, status);
        done.bytes = state.fill;
        done.packets = 1;
        done.flags = u16::from(end.raw()) | if more { cf::MORE } else { 0 };
        let position = state.at.completion;
        state.at.completion = position.wrapping_add(1);
        state.at.submission = state.at.submission.wrapping_add(1);
        let bytes = u64::from(state.fill);
        state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
        state.fill = 0;
        self.buffer = None;
        bump(&self.shared.counters().packets, u64::from(!more));
        bump(&self.shared.counters().bytes, bytes);
        let time = cx.time(self.view.wants_stamps());
        cx.copier.complete(FlowEnd::Rx, &self.view, position, done, time);
    }
}

impl RxPosted {
    /// The fast path of a step: see `fast`.
    #[inline(always)]
    pub(crate) fn run_fast(
        &mut self,
        mut sender: fast::FastSender<'_>,
        map: &RegionMap,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        // The buffer in hand, if any, is untouched: the general path looks it up again.
        self.buffer = None;
        match self.quick(sender.places, map) {
            Some(posted) => sender.packets(posted, budget),
            None => (0, fast::LoopEnd::General),
        }
    }

    /// The same where bursts come, too.
    #[inline(never)]
    pub(crate) fn run_bursts(
        &mut self,
        mut sender: fast::FastSender<'_>,
        map: &RegionMap,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let mut moved = 0;
        loop {
            let Some(posted) = self.quick(sender.places, map) else {
                return (moved, fast::LoopEnd::General);
            };
            let (packets, ended) = sender.burst(posted, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                return (moved, ended);
            }
            let Some(posted) = self.quick(sender.places, map) else {
                return (moved, fast::LoopEnd::General);
            };
            let (packets, ended) = sender.packets(posted, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                return (moved, ended);
            }
        }
    }

    #[inline(always)]
    fn quick<'a>(
        &'a mut self,
        places: &'a fast::FastState,
        map: &'a RegionMap,
    ) -> Option<fast::PostedSink<'a>> {
        // SAFETY: the runner holds the seat; counters are atomics elsewhere in shared memory.
        let (state, count) = unsafe { (self.shared.state.as_mut(), self.shared.counters.as_ref()) };
        fast::PostedSink::new(places, state, count, map)
    }

    /// Completes every posted buffer with `status` (reset). Bounded by the ring size.
    pub fn flush<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, '_, H>) -> u32 {
        let mut flushed = 0;
        for _ in 0..self.view.submissions.size() {
            if self.view.submissions.read(self.shared.state().at.submission).is_none() {
                break;
            }
            self.refuse(status, cx);
            flushed += 1;
        }
        self.shared.state().open = 0;
        flushed
    }
}

impl PieceSink for RxPosted {
    #[inline(always)]
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        map: &RegionMap,
        cx: &mut StepContext<'_, '_, H>,
    ) -> Accepted {
        if self.shared.state().cut != 0 {
            self.cut(cx);
            if self.shared.state().cut != 0 {
                return Accepted::Full;
            }
        }
        loop {
            let buffer = match self.buffer(map, cx) {
                Ok(Some(buffer)) => buffer,
                Ok(None) => return Accepted::Full,
                Err(key) => return Accepted::Unmapped(key),
            };
            let fill = self.shared.state().fill;
            if fill > buffer.length {
                // The host has shortened it since part of the packet went into it.
                self.refuse(Status::BadField, cx);
                continue;
            }
            let part = piece.rest().min(buffer.length - fill);
            // SAFETY: the buffer was translated for its whole length; `part` fits behind `fill`.
            unsafe { piece.take(buffer.target.plus(fill), part, &mut cx.copier) };
            self.shared.state().fill = fill + part;
            let whole = piece.rest() == 0;
            let ends = whole && piece.end != EndMarker::None;
            cx.book(part, ends);
            self.shared.state().open = u32::from(!ends);
            if ends {
                self.complete(piece.end, false, cx);
                return Accepted::Whole;
            }
            if fill + part == buffer.length {
                self.complete(EndMarker::None, true, cx);
            }
            if whole {
                return Accepted::Whole;
            }
        }
    }

    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>) {
        if self.shared.state().open == 0 {
            return;
        }
        // A packet that filled its buffers exactly needs one more to carry the EEP; until one is
        // posted nothing else may be delivered.
        let position = self.shared.state().at.submission;
        let room = self.view.submissions.read(position).is_some();
        if room {
            self.complete(EndMarker::Eep, false, cx);
            self.shared.state().open = 0;
        }
        self.shared.state().cut = u32::from(!room);
    }

    fn fail_unmapped<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, '_, H>) {
        self.refuse(status, cx);
    }

    #[inline(always)]
    fn publish<H: Host>(&mut self, _cx: &mut StepContext<'_, '_, H>) {}

    #[inline(always)]
    fn flush_step<H: Host>(&mut self, host: &mut H) {
        self.shared.notify(&self.view, host);
    }

    #[inline(always)]
    fn view(&self) -> Option<&QueueView> {
        Some(&self.view)
    }

    #[inline(always)]
    fn domain(&self) -> u16 {
        self.view.config.domain as u16
    }

    fn is_open(&self) -> bool {
        // SAFETY: seat held.
        unsafe { self.shared.state.as_ref().open != 0 }
    }

    #[inline(always)]
    fn is_cut(&self) -> bool {
        // SAFETY: seat held.
        unsafe { self.shared.state.as_ref().cut != 0 }
    }

    fn has_room(&self) -> bool {
        // SAFETY: seat held.
        let position = unsafe { self.shared.state.as_ref().at.submission };
        self.view.submissions.read(position).is_some()
    }
}

/// Whether an entry gives back at all; otherwise it is an error.
pub(crate) fn is_release(entry: &Release) -> bool {
    let kind = entry.flags & (sf::TYPE_MASK | sf::MBZ_MASK);
    kind == u16::from(EntryType::Release.raw()) && entry.reserved0 == 0 && entry.completions != 0
}

/// A receive queue with a packed area.
pub struct RxPacked {
    view: QueueView,
    shared: RxShared,
    area: CopyTarget,
    run_limit: u32,
}

// SAFETY: as for `RxPosted`.
unsafe impl Send for RxPacked {}

impl RxPacked {
    /// The receive side of a flow; checks the area.
    pub fn new(view: QueueView, flow: &FlowShared, map: &RegionMap) -> Result<Self, AccessRefusal> {
        let config = view.config;
        let size = u64::from(config.area_bytes);
        let fits = (contract::PACKED_AREA_MIN_BYTES..=contract::PACKET_MAX_BYTES).contains(&size);
        if !fits || !size.is_multiple_of(contract::PACKED_ALIGN) || config.sq_log2 < config.cq_log2
        {
            return Err(AccessRefusal::Fault(Status::BadRing));
        }
        let address = Address(config.area);
        let at = map.translate(address, size, config.domain as u16, WRITE)?;
        if !(at as usize).is_multiple_of(contract::PACKED_ALIGN as usize) {
            return Err(AccessRefusal::Fault(Status::BadRing));
        }
        let area = CopyTarget { at, address: Some(address) };
        let run_limit = (config.area_bytes / 8).min(64 * 1024);
        Ok(Self { view, shared: RxShared::new(flow), area, run_limit })
    }

    /// The fast path of a step: see `fast`. The run is published before it returns idle.
    #[inline(always)]
    pub(crate) fn run_fast<H: Host>(
        &mut self,
        mut sender: fast::FastSender<'_>,
        host: &mut H,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let Some(packed) = self.quick() else { return (0, fast::LoopEnd::General) };
        let result = sender.packets(packed, budget);
        if !matches!(result.1, fast::LoopEnd::General | fast::LoopEnd::Burst) {
            self.publish_fast(host);
        }
        result
    }

    /// The same where bursts come, too.
    #[inline(never)]
    pub(crate) fn run_bursts<H: Host>(
        &mut self,
        mut sender: fast::FastSender<'_>,
        host: &mut H,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let mut moved = 0;
        let ended = loop {
            let Some(packed) = self.quick() else { break fast::LoopEnd::General };
            let (packets, ended) = sender.burst(packed, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                break ended;
            }
            let Some(packed) = self.quick() else { break fast::LoopEnd::General };
            let (packets, ended) = sender.packets(packed, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                break ended;
            }
        };
        if ended != fast::LoopEnd::General {
            self.publish_fast(host);
        }
        (moved, ended)
    }

    #[inline(always)]
    fn quick(&mut self) -> Option<fast::PackedSink<'_>> {
        // SAFETY: the runner holds the seat; counters are atomics elsewhere in shared memory.
        let (state, count) = unsafe { (self.shared.state.as_mut(), self.shared.counters.as_ref()) };
        fast::PackedSink::new(
            self.area.at,
            self.view.config.area_bytes,
            self.run_limit,
            state,
            count,
        )
    }

    #[inline(always)]
    fn publish_fast<H: Host>(&mut self, host: &mut H) {
        self.publish_run(&mut StepContext::quiet(host));
    }

    /// Prepares the state of a fresh queue.
    pub fn start(state: &mut RxState, config: &QueueView) {
        state.packed = PackedWriter::new(config.config.area_bytes);
        state.credits = config.completions.size();
    }

    /// Takes what the host has given back since the last look. Bounded by the ring size.
    fn drain_releases(&mut self) {
        for _ in 0..self.view.submissions.size() {
            let position = self.shared.state().at.submission;
            let Some(entry) = self.view.submissions.read(position) else { return };
            let release = Release::from_words(entry);
            let size = self.view.completions.size();
            let state = self.shared.state();
            state.at.submission = position.wrapping_add(1);
            let credits = state.credits.saturating_add(release.completions);
            if is_release(&release) && credits <= size && state.packed.release(release.bytes) {
                state.credits = credits;
                state.released = state.released.wrapping_add(release.completions);
                state.released_bytes = state.released_bytes.wrapping_add(release.bytes);
            } else {
                bump(&self.shared.counters().errors, 1);
            }
        }
    }

    /// Room for a record, with the completions its run and the one before need.
    #[inline(always)]
    fn place(&mut self, length: u32) -> Option<spfe_ring::packed::RecordPlace> {
        let state = self.shared.state();
        if state.credits < 2 {
            return None;
        }
        state.packed.reserve(length)
    }

    #[cold]
    fn place_after_release<H: Host>(
        &mut self,
        length: u32,
        cx: &mut StepContext<'_, '_, H>,
    ) -> Option<spfe_ring::packed::RecordPlace> {
        self.publish_run(cx);
        self.drain_releases();
        self.place(length)
    }

    #[inline(always)]
    fn record<H: Host>(
        &mut self,
        place: spfe_ring::packed::RecordPlace,
        piece: &mut Piece,
        length: u32,
        cx: &mut StepContext<'_, '_, H>,
    ) {
        let whole = length == piece.rest();
        let ends = whole && piece.end != EndMarker::None;
        let header = RecordHeader {
            length,
            end: if whole { piece.end.raw() } else { EndMarker::None.raw() },
            flags: if ends { 0 } else { record_flags::MORE },
            reserved0: 0,
        };
        self.put_header(place.offset, header);
        let target = self.area.plus(place.offset + contract::PACKED_HEADER_BYTES as u32);
        // SAFETY: `reserve` placed header and payload inside the area, which was translated.
        unsafe { piece.take(target, length, &mut cx.copier) };
        cx.book(length, ends);
        self.add_to_run(place, length, ends, cx);
    }

    #[inline(always)]
    fn put_header(&mut self, offset: u32, header: RecordHeader) {
        let at = self.area.plus(offset).at.cast::<RecordHeader>();
        // SAFETY: inside the area, aligned to 8 (records and the area are).
        unsafe { at.write(header) };
    }

    #[inline(always)]
    fn add_to_run<H: Host>(
        &mut self,
        place: spfe_ring::packed::RecordPlace,
        length: u32,
        ends: bool,
        cx: &mut StepContext<'_, '_, H>,
    ) {
        if place.wrapped && self.shared.state().run_records != 0 {
            // The tail skipped for this record belongs to the run that now begins.
            self.publish_run(cx);
        }
        let state = self.shared.state();
        if state.run_records == 0 {
            state.run_offset = place.offset;
            state.run_wrapped = u32::from(place.wrapped);
            state.run_first_ns = cx.through_ns;
        }
        state.run_bytes += record_bytes(length);
        state.run_records += 1;
        state.open = u32::from(!ends);
        let full = state.run_bytes >= self.run_limit
            || state.run_records >= 0xf000
            || cx.through_ns.saturating_sub(state.run_first_ns) > RUN_MAX_NS;
        bump(&self.shared.counters().packets, u64::from(ends));
        bump(&self.shared.counters().bytes, u64::from(length));
        if full {
            self.publish_run(cx);
        }
    }

    fn publish_run<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>) {
        let config = self.view.config;
        let state = self.shared.state();
        if state.run_records == 0 {
            return;
        }
        let last = state.at.submission.wrapping_sub(1);
        let mut done = completion(&config, last, Status::Ok);
        done.bytes = state.run_bytes;
        done.packets = state.run_records as u16;
        done.flags = if state.run_wrapped != 0 { cf::WRAP } else { 0 };
        let position = state.at.completion;
        if !cx.copier.is_deferring() {
            state.known = state.handed;
        }
        let skipped =
            if state.run_wrapped != 0 { config.area_bytes - state.handed.head } else { 0 };
        state.handed = AreaMark {
            head: state.run_offset + state.run_bytes,
            bytes: state.handed.bytes.wrapping_add(skipped + state.run_bytes),
            open: state.open,
            position: position.wrapping_add(1),
        };
        state.at.completion = position.wrapping_add(1);
        state.at.reported_bytes = state.at.reported_bytes.wrapping_add(u64::from(state.run_bytes));
        state.credits -= 1;
        state.run_records = 0;
        state.run_bytes = 0;
        let time = cx.time(self.view.wants_stamps());
        cx.copier.complete(FlowEnd::Rx, &self.view, position, done, time);
    }
}

impl PieceSink for RxPacked {
    #[inline(always)]
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        _map: &RegionMap,
        cx: &mut StepContext<'_, '_, H>,
    ) -> Accepted {
        let most = self.shared.state().packed.record_max();
        if self.shared.state().cut != 0 {
            self.cut(cx);
            if self.shared.state().cut != 0 {
                return Accepted::Full;
            }
        }
        loop {
            let length = piece.rest().min(most);
            let place = match self.place(length) {
                Some(place) => place,
                None => match self.place_after_release(length, cx) {
                    Some(place) => place,
                    None => return Accepted::Full,
                },
            };
            self.record(place, piece, length, cx);
            if piece.rest() == 0 {
                if piece.flags & sf::LAST != 0 {
                    self.publish_run(cx);
                }
                return Accepted::Whole;
            }
        }
    }

    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>) {
        if self.shared.state().open == 0 {
            return;
        }
        self.drain_releases();
        let place = self.place(0);
        self.shared.state().cut = u32::from(place.is_none());
        if let Some(place) = place {
            let end = EndMarker::Eep.raw();
            self.put_header(place.offset, RecordHeader { length: 0, end, flags: 0, reserved0: 0 });
            self.add_to_run(place, 0, true, cx);
        }
    }

    fn fail_unmapped<H: Host>(&mut self, _status: Status, _cx: &mut StepContext<'_, '_, H>) {}

    #[inline(always)]
    fn publish<H: Host>(&mut self, cx: &mut StepContext<'_, '_, H>) {
        self.publish_run(cx);
    }

    #[inline(always)]
    fn flush_step<H: Host>(&mut self, host: &mut H) {
        self.shared.notify(&self.view, host);
    }

    #[inline(always)]
    fn view(&self) -> Option<&QueueView> {
        Some(&self.view)
    }

    #[inline(always)]
    fn domain(&self) -> u16 {
        self.view.config.domain as u16
    }

    fn is_open(&self) -> bool {
        // SAFETY: seat held.
        unsafe { self.shared.state.as_ref().open != 0 }
    }

    #[inline(always)]
    fn is_cut(&self) -> bool {
        // SAFETY: seat held.
        unsafe { self.shared.state.as_ref().cut != 0 }
    }

    fn mark_full(&mut self) {
        self.shared.mark_full(&self.view);
    }

    fn has_room(&self) -> bool {
        // SAFETY: seat held.
        let position = unsafe { self.shared.state.as_ref().at.submission };
        self.view.submissions.read(position).is_some()
    }
}
