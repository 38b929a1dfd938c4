//! Posted buffers.

use super::RxShared;
use crate::copy::CopyTarget;
use crate::fast;
use crate::memory::{AccessRefusal, Address, RegionKey, RegionMap, WRITE};
use crate::piece::Piece;
use crate::queue::{Host, QueueView, completion};
use crate::shared::{FlowShared, QueueCounters, RxState, bump};
use crate::step::{Accepted, PieceSink, StepContext};
use spfe_contract::{
    self as contract, EndMarker, EntryType, Status, Submission, completion_flags as cf,
    submit_flags as sf,
};

/// A receive queue with posted buffers: every buffer has exactly one completion.
pub struct RxPosted {
    view: QueueView,
    shared: RxShared,
    /// The buffer being filled, with the position it was posted at. It is stale if the position has
    /// changed, because another process has completed it.
    buffer: Option<(u32, Buffer)>,
}

#[derive(Clone, Copy)]
struct Buffer {
    target: CopyTarget,
    length: u32,
}

// SAFETY: the pointers are to shared state that the creator keeps mapped, and only the holder of
// the seat uses them.
unsafe impl Send for RxPosted {}

impl RxPosted {
    /// The receive side of a flow.
    pub fn new(view: QueueView, flow: &FlowShared) -> Self {
        Self { view, shared: RxShared::new(flow), buffer: None }
    }

    /// The buffer being filled, or the next posted one. `Err` names a region to be mapped first.
    #[inline(always)]
    fn buffer<H: Host>(
        &mut self,
        map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) -> Result<Option<Buffer>, RegionKey> {
        if let Some((position, buffer)) = self.buffer
            && position == self.shared.state().at.submission
        {
            return Ok(Some(buffer));
        }
        // Each further turn follows a refused entry, so one lap is the bound.
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

    /// Completes the next posted buffer with an error.
    #[cold]
    fn refuse<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, H>) {
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
        self.view.complete_at(position, done, time);
    }

    /// Where the bytes of a piece go that may be beside the completion of an unused buffer: a whole
    /// packet, short and with EOP.
    #[inline(always)]
    fn beside(&self, piece: &Piece, room: u32) -> Option<CopyTarget> {
        let state = self.shared.peek();
        let at = self.view.completions.beside(state.at.completion)?;
        let most = room.min(contract::BESIDE_BYTES as u32);
        let starts = state.fill | state.open | piece.done == 0;
        let fits = starts && piece.length <= most && piece.end == EndMarker::Eop;
        fits.then_some(CopyTarget { at: at.as_ptr(), address: None })
    }

    /// Completes the buffer being filled. `flags`: MORE if the packet continues in the next one,
    /// BESIDE if it is beside the completion.
    #[inline(always)]
    fn complete<H: Host>(&mut self, end: EndMarker, flags: u16, cx: &mut StepContext<'_, H>) {
        let config = &self.view.config;
        let state = self.shared.state();
        let cut = end == EndMarker::Eep;
        let status = if cut { Status::PacketCut } else { Status::Ok };
        state.at.urgent |= u32::from(cut);
        let mut done = completion(config, state.at.submission, status);
        done.bytes = state.fill;
        done.packets = 1;
        done.flags = u16::from(end.raw()) | flags;
        let position = state.at.completion;
        state.at.completion = position.wrapping_add(1);
        state.at.submission = state.at.submission.wrapping_add(1);
        let bytes = u64::from(state.fill);
        state.at.reported_bytes = state.at.reported_bytes.wrapping_add(bytes);
        state.fill = 0;
        self.buffer = None;
        bump(&self.shared.counters().packets, u64::from(flags & cf::MORE == 0));
        bump(&self.shared.counters().bytes, bytes);
        let time = cx.time(self.view.wants_stamps());
        self.view.complete_at(position, done, time);
    }
}

impl RxPosted {
    /// Runs the fast path over DATA entries.
    #[inline(always)]
    pub(crate) fn run_fast(
        &mut self,
        mut sender: fast::FastSender<'_>,
        map: &RegionMap,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        // The buffer in hand, if any, is unused yet: the general path looks it up again.
        self.buffer = None;
        match self.fast_sink(sender.fast, map) {
            Some(posted) => sender.packets(posted, budget),
            None => (0, fast::LoopEnd::General),
        }
    }

    /// Runs the fast path over bursts and the DATA entries between them.
    #[inline(never)]
    pub(crate) fn run_bursts(
        &mut self,
        mut sender: fast::FastSender<'_>,
        map: &RegionMap,
        budget: u32,
    ) -> (u32, fast::LoopEnd) {
        let mut moved = 0;
        loop {
            let Some(posted) = self.fast_sink(sender.fast, map) else {
                return (moved, fast::LoopEnd::General);
            };
            let (packets, ended) = sender.burst(posted, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                return (moved, ended);
            }
            if sender.is_idle() {
                return (moved, fast::LoopEnd::Idle);
            }
            let Some(posted) = self.fast_sink(sender.fast, map) else {
                return (moved, fast::LoopEnd::General);
            };
            let (packets, ended) = sender.packets(posted, budget - moved);
            moved += packets;
            if ended != fast::LoopEnd::Burst {
                return (moved, ended);
            }
        }
    }

    /// State and counters of the queue.
    pub(crate) fn parts(&mut self) -> (&mut RxState, &QueueCounters) {
        // The buffer in hand, if any, is unused yet: the general path looks it up again.
        self.buffer = None;
        self.shared.parts()
    }

    #[inline(always)]
    fn fast_sink<'a>(
        &'a mut self,
        places: &'a fast::FastState,
        map: &'a RegionMap,
    ) -> Option<fast::PostedSink<'a>> {
        let (state, count) = self.shared.parts();
        fast::PostedSink::new(places, state, count, map)
    }

    /// Completes every posted buffer with `status` (reset). Bounded by the ring size.
    pub fn flush<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, H>) -> u32 {
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
        cx: &mut StepContext<'_, H>,
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
                // The host has shortened the buffer after part of the packet went into it.
                self.refuse(Status::BadField, cx);
                continue;
            }
            let part = piece.rest().min(buffer.length - fill);
            let beside = self.beside(piece, buffer.length);
            let flags = if beside.is_some() { cf::BESIDE } else { 0 };
            // SAFETY: the buffer was translated for its whole length, and `part` fits after `fill`.
            // What goes beside a completion is no longer than that allows.
            unsafe { piece.take(beside.unwrap_or(buffer.target.plus(fill)), part) };
            self.shared.state().fill = fill + part;
            let whole = piece.rest() == 0;
            let ends = whole && piece.end != EndMarker::None;
            cx.book(part, ends);
            self.shared.state().open = u32::from(!ends);
            if ends {
                self.complete(piece.end, flags, cx);
                return Accepted::Whole;
            }
            if fill + part == buffer.length {
                self.complete(EndMarker::None, cf::MORE, cx);
            }
            if whole {
                return Accepted::Whole;
            }
        }
    }

    fn cut<H: Host>(&mut self, cx: &mut StepContext<'_, H>) {
        if self.shared.state().open == 0 {
            return;
        }
        // A packet that filled its buffers exactly needs another buffer to carry the EEP. Until the
        // host posts one, no other packet may be delivered.
        let position = self.shared.state().at.submission;
        let room = self.view.submissions.read(position).is_some();
        if room {
            self.complete(EndMarker::Eep, 0, cx);
            self.shared.state().open = 0;
        }
        self.shared.state().cut = u32::from(!room);
    }

    fn fail_unmapped<H: Host>(&mut self, status: Status, cx: &mut StepContext<'_, H>) {
        self.refuse(status, cx);
    }

    #[inline(always)]
    fn publish<H: Host>(&mut self, _cx: &mut StepContext<'_, H>) {}

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

    fn has_room(&self) -> bool {
        self.view.submissions.read(self.shared.peek().at.submission).is_some()
    }
}
