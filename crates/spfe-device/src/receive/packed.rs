//! Packed areas.

use super::RxShared;
use crate::copy::CopyTarget;
use crate::fast;
use crate::memory::{AccessRefusal, Address, RegionMap, WRITE};
use crate::piece::Piece;
use crate::queue::{Host, QueueView, completion, is_release};
use crate::shared::{AreaMark, FlowShared, RxState, bump};
use crate::step::{Accepted, PieceSink, StepContext};
use spfe_contract::{
    self as contract, EndMarker, RecordHeader, Release, Status, completion_flags as cf,
    record_flags, submit_flags as sf,
};
use spfe_ring::packed::{PackedWriter, RecordPlace, record_bytes};

/// Longest stretch of link time that one run may cover, ns. Without it the first record of a run
/// on a paced link would be reported much later than it arrived.
const RUN_MAX_NS: u64 = 2_000;

/// A receive queue with a packed area ([`spfe_ring::packed`]).
pub struct RxPacked {
    view: QueueView,
    shared: RxShared,
    area: CopyTarget,
    /// A run with this many bytes is published.
    run_limit: u32,
}

// SAFETY: as for `RxPosted`.
unsafe impl Send for RxPacked {}

impl RxPacked {
    /// The receive side of a flow. Fails if the area is not mapped or its size is not allowed.
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

    /// Runs the fast path over DATA entries. Unless the general path goes on, it publishes the run.
    #[inline(always)]
    pub(crate) fn run_fast<H: Host>(
        &mut self,
        mut sender: fast::FastSender<'_>,
        host: &mut H,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let Some(packed) = self.fast_sink() else { return (0, fast::LoopEnd::General) };
        let result = sender.packets(packed, budget);
        if !matches!(result.1, fast::LoopEnd::General | fast::LoopEnd::Burst) {
            self.publish_fast(host);
        }
        result
    }

    /// Runs the fast path over bursts and the DATA entries between them.
    #[inline(never)]
    pub(crate) fn run_bursts<H: Host>(
        &mut self,
        mut sender: fast::FastSender<'_>,
        host: &mut H,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let mut moved = 0;
        let ended = loop {
            let Some(packed) = self.fast_sink() else { break fast::LoopEnd::General };
            let (packets, ended) = sender.burst(packed, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                break ended;
            }
            if sender.is_idle() {
                break fast::LoopEnd::Idle;
            }
            let Some(packed) = self.fast_sink() else { break fast::LoopEnd::General };
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
    fn fast_sink(&mut self) -> Option<fast::PackedSink<'_>> {
        let (state, count) = self.shared.parts();
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

    /// Initializes the state of a queue that is being enabled.
    pub fn start(state: &mut RxState, view: &QueueView) {
        state.packed = PackedWriter::new(view.config.area_bytes);
        state.credits = view.completions.size();
    }

    /// Takes the runs that the host has given back. Bounded by the ring size.
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

    /// Reserves room for a record. Two completions must be free: one for the run being built and
    /// one for the run that this record may begin.
    #[inline(always)]
    fn place(&mut self, length: u32) -> Option<RecordPlace> {
        let state = self.shared.state();
        if state.credits < 2 {
            return None;
        }
        state.packed.reserve(length)
    }

    /// Publishes the run, takes what the host has given back, and tries again.
    #[cold]
    fn place_after_release<H: Host>(
        &mut self,
        length: u32,
        cx: &mut StepContext<'_, H>,
    ) -> Option<RecordPlace> {
        self.publish_run(cx);
        self.drain_releases();
        self.place(length)
    }

    #[inline(always)]
    fn record<H: Host>(
        &mut self,
        place: RecordPlace,
        piece: &mut Piece,
        length: u32,
        cx: &mut StepContext<'_, H>,
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
        unsafe { piece.take(target, length) };
        cx.book(length, ends);
        self.add_to_run(place, length, ends, cx);
    }

    #[inline(always)]
    fn put_header(&mut self, offset: u32, header: RecordHeader) {
        let at = self.area.plus(offset).at.cast::<RecordHeader>();
        // SAFETY: the offset is inside the area. Area and records are aligned to 8 bytes.
        unsafe { at.write(header) };
    }

    #[inline(always)]
    fn add_to_run<H: Host>(
        &mut self,
        place: RecordPlace,
        length: u32,
        ends: bool,
        cx: &mut StepContext<'_, H>,
    ) {
        if place.wrapped && self.shared.state().run_records != 0 {
            // The tail skipped for this record belongs to the run that begins here.
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

    fn publish_run<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
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
        state.known = state.handed;
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
        self.view.complete_at(position, done, time);
    }
}

impl PieceSink for RxPacked {
    #[inline(always)]
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        _map: &RegionMap,
        cx: &mut StepContext<'_, H>,
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

    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
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

    fn fail_unmapped<H: Host>(&mut self, _status: Status, _cx: &mut StepContext<'_, H>) {}

    #[inline(always)]
    fn publish<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
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
        self.shared.peek().open != 0
    }

    #[inline(always)]
    fn is_cut(&self) -> bool {
        self.shared.peek().cut != 0
    }

    fn mark_full(&mut self) {
        self.shared.mark_full(&self.view);
    }

    fn has_room(&self) -> bool {
        self.view.submissions.read(self.shared.peek().at.submission).is_some()
    }
}
