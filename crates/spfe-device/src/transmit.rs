//! The transmit queue as a source of pieces.

use crate::CHAIN_MAX;
use crate::copy::CopySource;
use crate::memory::{AccessRefusal, Address, READ, RegionMap};
use crate::piece::Piece;
use crate::queue::{CompletionTime, Host, QueueView, completion};
use crate::shared::{BurstState, FlowShared, QueueCounters, TxState, bump};
use crate::step::{NextPiece, PieceSource};
use spfe_contract::{
    self as contract, BurstExt, EndMarker, EntryType, InlineSubmission, Status, Submission,
    submit_flags as sf,
};
use spfe_ring::ring::RingEntry;
use spfe_ring::submission::extent;
use std::ptr::NonNull;

const PACKET_MAX: u64 = contract::PACKET_MAX_BYTES;
/// `TxState::open`: no packet is open.
const CLOSED: u32 = 0;
/// `TxState::open`: the receiver of the open packet is gone. The remaining pieces of the packet
/// complete with PEER_GONE.
const LOST: u32 = 2;
/// Flags that make an entry more than a DATA entry of its own.
const NOT_SIMPLE: u16 = sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK;

/// A transmit queue.
pub struct TxQueue {
    /// Rings and lines.
    pub view: QueueView,
    state: NonNull<TxState>,
    counters: NonNull<QueueCounters>,
    /// Bytes of the INLINE entries of the current chain. Boxed, because a piece points to them
    /// while methods borrow the queue mutably.
    inline_bytes: Box<[[u8; 16]; CHAIN_MAX]>,
}

// SAFETY: the pointers are to the shared state of the flow, which the creator keeps mapped. Only
// the holder of the seat uses them.
unsafe impl Send for TxQueue {}

#[inline(always)]
fn flags_of(entry: RingEntry) -> u16 {
    (entry[1] >> 32) as u16
}

#[inline(always)]
fn end_of(flags: u16) -> Option<EndMarker> {
    EndMarker::from_raw((flags >> sf::END_SHIFT & 3) as u8)
}

impl TxQueue {
    /// The transmit side of a flow.
    pub fn new(view: QueueView, flow: &FlowShared) -> Self {
        Self {
            view,
            // SAFETY: the pointer of an `UnsafeCell` is not null.
            state: unsafe { NonNull::new_unchecked(flow.tx.get()) },
            counters: NonNull::from(&flow.tx_count),
            inline_bytes: Box::new([[0; 16]; CHAIN_MAX]),
        }
    }

    #[inline(always)]
    fn state(&mut self) -> &mut TxState {
        // SAFETY: the runner holds the seat (see `FlowShared`), so there is no other access.
        unsafe { self.state.as_mut() }
    }

    /// View, state and counters, borrowed together.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&QueueView, &mut TxState, &QueueCounters) {
        // SAFETY: as in `state` and `counters`; the two do not overlap.
        unsafe { (&self.view, self.state.as_mut(), self.counters.as_ref()) }
    }

    #[inline(always)]
    fn counters(&self) -> &QueueCounters {
        // SAFETY: the counters are atomics in shared memory that outlives the queue.
        unsafe { self.counters.as_ref() }
    }

    /// The memory that an entry names.
    #[inline(always)]
    fn stretch(&self, map: &RegionMap, entry: RingEntry) -> Result<CopySource, AccessRefusal> {
        let submission = Submission::from_words(entry);
        let length = submission.length;
        if u64::from(length) > PACKET_MAX {
            return Err(AccessRefusal::Fault(Status::TooLong));
        }
        let address = Address(entry[0]);
        let domain = self.view.config.domain as u16;
        let at = map.translate(address, u64::from(length), domain, READ)?;
        Ok(CopySource { at, address: Some(address), length })
    }

    /// Makes a piece of a DATA entry that is not part of a chain.
    #[inline(always)]
    fn simple(
        &mut self,
        map: &RegionMap,
        entry: RingEntry,
        piece: &mut Piece,
    ) -> Result<(), AccessRefusal> {
        let flags = flags_of(entry);
        let stretch = self.stretch(map, entry)?;
        let Some(end) = end_of(flags) else {
            return Err(AccessRefusal::Fault(Status::BadField));
        };
        if stretch.length == 0 && (end == EndMarker::None || self.state().open == 0) {
            return Err(AccessRefusal::Fault(Status::Empty));
        }
        piece.set_one(stretch, end, flags);
        Ok(())
    }

    /// Makes a piece of an INLINE entry or a chain of DATA and INLINE entries. A fault fails the
    /// whole chain.
    #[cold]
    fn gather(
        &mut self,
        map: &RegionMap,
        first: RingEntry,
        piece: &mut Piece,
    ) -> Result<(), Fault> {
        self.gather_chain(map, first, piece)
            .map_err(|refusal| Fault { refusal, entries: self.submission().0 })
    }

    fn gather_chain(
        &mut self,
        map: &RegionMap,
        first: RingEntry,
        piece: &mut Piece,
    ) -> Result<(), AccessRefusal> {
        piece.clear();
        let (mut entry, mut total) = (first, 0u64);
        for index in 0..CHAIN_MAX {
            let fault = AccessRefusal::Fault;
            let flags = flags_of(entry);
            if flags & sf::MBZ_MASK != 0 {
                return Err(fault(Status::BadField));
            }
            let stretch = match EntryType::from_raw((flags & sf::TYPE_MASK) as u8) {
                Some(EntryType::Data) => self.stretch(map, entry)?,
                Some(EntryType::Inline) => self.inline(index, entry).map_err(fault)?,
                _ => return Err(fault(Status::BadOpcode)),
            };
            total += u64::from(stretch.length);
            if total > PACKET_MAX {
                return Err(fault(Status::TooLong));
            }
            piece.add(stretch);
            let entries = index as u32 + 1;
            if flags & sf::CHAIN == 0 {
                let end = end_of(flags).ok_or(fault(Status::BadField))?;
                if total == 0 && (end == EndMarker::None || self.state().open == 0) {
                    return Err(fault(Status::Empty));
                }
                piece.finish(end, flags, entries);
                return Ok(());
            }
            // The host publishes a chain as a whole, so its next entry must be there.
            let next = self.state().at.submission.wrapping_add(entries);
            entry = self.view.submissions.read(next).ok_or(fault(Status::BadField))?;
        }
        Err(AccessRefusal::Fault(Status::ChainTooLong))
    }

    /// [`extent`] of the current submission. Bounded by the ring size.
    fn submission(&mut self) -> (u32, bool) {
        let (position, in_burst) = (self.state().at.submission, self.state().burst.left != 0);
        if in_burst { (2, true) } else { extent(&self.view.submissions, position) }
    }

    fn inline(&mut self, index: usize, entry: RingEntry) -> Result<CopySource, Status> {
        let inline = InlineSubmission::from_words(entry);
        let count = inline.count;
        if count == 0 || u64::from(count) > contract::INLINE_MAX_BYTES {
            return Err(Status::BadField);
        }
        let bytes = &mut self.inline_bytes[index];
        bytes[..8].copy_from_slice(&inline.data_lo.to_le_bytes());
        bytes[8..12].copy_from_slice(&inline.data_hi.to_le_bytes());
        Ok(CopySource { at: bytes.as_ptr(), address: None, length: u32::from(count) })
    }

    /// Opens a burst: checks both entries and translates the range of all its packets.
    ///
    /// Packets before the burst are reported first, so that the completion of the burst counts its
    /// own packets only.
    #[cold]
    fn open_burst(&mut self, map: &RegionMap, first: RingEntry) -> Result<(), Fault> {
        let fault = |status, entries| Fault { refusal: AccessRefusal::Fault(status), entries };
        let position = self.state().at.submission;
        let second = self.view.submissions.read(position.wrapping_add(1));
        let Some(second) = second else { return Err(fault(Status::BadField, 1)) };
        let ext = BurstExt::from_words(second);
        if ext.flags & (sf::TYPE_MASK | sf::MBZ_MASK) != u16::from(EntryType::BurstExt.raw()) {
            return Err(fault(Status::BadOpcode, 1));
        }
        let head = Submission::from_words(first);
        let flags = head.flags;
        if ext.reserved0 != 0
            || ext.reserved1 != 0
            || ext.count == 0
            || flags & (sf::MBZ_MASK | sf::CHAIN) != 0
        {
            return Err(fault(Status::BadField, 2));
        }
        match end_of(flags) {
            Some(EndMarker::Eop | EndMarker::Eep) => {}
            _ => return Err(fault(Status::BadField, 2)),
        }
        if head.length == 0 {
            return Err(fault(Status::Empty, 2));
        }
        let count = u64::from(ext.count);
        let total = u64::from(head.length) * count;
        if u64::from(head.length) > PACKET_MAX || total > u64::from(u32::MAX) {
            return Err(fault(Status::TooLong, 2));
        }
        let span = u64::from(ext.stride) * (count - 1) + u64::from(head.length);
        let domain = self.view.config.domain as u16;
        map.translate(Address(first[0]), span, domain, READ)
            .map_err(|refusal| Fault { refusal, entries: 2 })?;
        self.report_pending();
        self.state().burst = BurstState {
            address: first[0],
            length: head.length,
            stride: ext.stride,
            left: u32::from(ext.count),
            flags: u32::from(flags),
        };
        Ok(())
    }

    /// Opens a burst for the fast path. False leaves a faulty burst, or one whose packets are longer than
    /// `most` bytes, to the general path.
    #[cold]
    #[inline(never)]
    pub(crate) fn open_burst_plain(
        &mut self,
        map: &RegionMap,
        first: RingEntry,
        most: u32,
    ) -> bool {
        self.open_burst(map, first).is_ok() && self.state().burst.length <= most
    }

    /// Makes a piece of the next packet of the open burst. The region is translated again, because
    /// it may have been revoked since the burst was opened.
    #[inline(always)]
    fn burst_piece(&mut self, map: &RegionMap, piece: &mut Piece) -> Result<(), Fault> {
        let domain = self.view.config.domain as u16;
        let burst = &mut self.state().burst;
        let (address, length) = (Address(burst.address), burst.length);
        let last = burst.left == 1;
        let flags = burst.flags as u16;
        let at = map
            .translate(address, u64::from(length), domain, READ)
            .map_err(|refusal| Fault { refusal, entries: 2 })?;
        let end = end_of(flags).unwrap_or(EndMarker::Eop);
        let flags = if last { flags } else { flags & !(sf::SIGNAL | sf::LAST) };
        piece.set_one(CopySource { at, address: Some(address), length }, end, flags);
        piece.entries = if last { 2 } else { 0 };
        Ok(())
    }

    fn next_piece(&mut self, map: &RegionMap, piece: &mut Piece) -> Result<NextPiece, Fault> {
        if self.state().burst.left != 0 {
            self.burst_piece(map, piece)?;
            return Ok(NextPiece::Ready);
        }
        let position = self.state().at.submission;
        let Some(entry) = self.view.submissions.read(position) else {
            return Ok(NextPiece::Idle);
        };
        let flags = flags_of(entry);
        if flags & NOT_SIMPLE == u16::from(EntryType::Data.raw()) {
            let one = |refusal| Fault { refusal, entries: 1 };
            self.simple(map, entry, piece).map_err(one)?;
        } else if flags & sf::TYPE_MASK == u16::from(EntryType::Burst.raw()) {
            self.open_burst(map, entry)?;
            self.burst_piece(map, piece)?;
        } else {
            self.gather(map, entry, piece)?;
        }
        Ok(NextPiece::Ready)
    }

    fn write_completion(&mut self, status: Status, bytes: u32, time: CompletionTime) {
        let (view, state, _) = self.parts();
        let mut done = completion(&view.config, state.at.submission.wrapping_sub(1), status);
        done.packets = state.pending_packets as u16;
        done.bytes = bytes;
        state.pending_packets = 0;
        state.pending_bytes = 0;
        let position = state.at.completion;
        state.at.completion = position.wrapping_add(1);
        state.at.reported_bytes = state.at.reported_bytes.wrapping_add(u64::from(bytes));
        view.complete_at(position, done, time);
    }

    /// Completes all packets before the current entry that are not reported yet, so that an error
    /// completion is about one submission only.
    fn report_pending(&mut self) {
        if self.state().pending_packets != 0 || self.state().pending_bytes != 0 {
            let bytes = self.state().pending_bytes as u32;
            self.write_completion(Status::Ok, bytes, CompletionTime::None);
        }
    }

    /// Completes the current submission, which has `entries` entries, with an error.
    pub fn fail(&mut self, status: Status, entries: u32) {
        // The report takes a completion slot of the entries it frees, so there is room for both
        // completions. Inside a burst the error completion counts the packets already sent.
        if self.state().burst.left == 0 {
            self.report_pending();
        }
        let state = self.state();
        state.at.submission = state.at.submission.wrapping_add(entries);
        let done = state.done;
        state.done = 0;
        state.burst.left = 0;
        state.at.urgent = 1;
        self.write_completion(status, done, CompletionTime::None);
        bump(&self.counters().errors, 1);
    }

    /// Completes the current submission with `status` and discards the rest of its packet. Returns
    /// the number of submissions completed, 0 or 1.
    pub fn flush_one(&mut self, status: Status) -> u32 {
        let position = self.state().at.submission;
        if self.view.submissions.read(position).is_none() {
            return 0;
        }
        let (entries, ends) = self.submission();
        self.fail(status, entries);
        self.state().open = if ends { CLOSED } else { LOST };
        1
    }

    /// The receiver of the open packet is gone: the rest of the packet must not be taken for a new
    /// packet.
    pub fn lose(&mut self) {
        let state = self.state();
        if state.open != CLOSED {
            state.open = LOST;
        }
    }

    /// Discards what is posted and not sent, because the queue closes, and counts it. Nothing is
    /// reported: the sender wants no more completions, or is dead. Bounded by the ring size.
    pub fn discard(&mut self) {
        let mut discarded = 0;
        for _ in 0..self.view.submissions.size() {
            let position = self.state().at.submission;
            if self.view.submissions.read(position).is_none() {
                break;
            }
            let (entries, _) = self.submission();
            let state = self.state();
            state.at.submission = state.at.submission.wrapping_add(entries);
            state.burst.left = 0;
            discarded += 1;
        }
        bump(&self.counters().errors, discarded);
    }

    /// Completes every posted submission with `status`, for a reset or a dead peer. Returns their
    /// number. Bounded by the ring size.
    pub fn flush(&mut self, status: Status) -> u32 {
        let mut flushed = 0;
        for _ in 0..self.view.submissions.size() {
            if self.flush_one(status) == 0 {
                break;
            }
            flushed += 1;
        }
        self.lose();
        flushed
    }
}

/// Why a submission was refused, and the number of its entries.
struct Fault {
    refusal: AccessRefusal,
    entries: u32,
}

impl PieceSource for TxQueue {
    #[inline(always)]
    fn next(&mut self, map: &RegionMap, piece: &mut Piece) -> NextPiece {
        match self.next_piece(map, piece) {
            Ok(NextPiece::Ready) if self.state().open == LOST => {
                let (entries, ends) = self.submission();
                self.fail(Status::PeerGone, entries);
                self.state().open = if ends { CLOSED } else { LOST };
                NextPiece::Failed { cut: false }
            }
            Ok(NextPiece::Ready) if self.state().done > piece.length => {
                // The host has shortened the submission after part of it was sent.
                let (entries, _) = self.submission();
                self.fail(Status::BadField, entries);
                self.state().open = 0;
                NextPiece::Failed { cut: true }
            }
            Ok(next) => {
                piece.done = self.state().done;
                next
            }
            Err(Fault { refusal: AccessRefusal::Unmapped(key), entries }) => {
                piece.entries = entries;
                NextPiece::Unmapped(key)
            }
            Err(Fault { refusal: AccessRefusal::Fault(status), entries }) => {
                let cut = self.state().open != 0 || self.state().done != 0;
                self.fail(status, entries);
                self.state().open = 0;
                NextPiece::Failed { cut }
            }
        }
    }

    #[inline(always)]
    fn pause(&mut self, piece: &Piece) {
        self.state().done = piece.done;
    }

    fn count_stall(&mut self) {
        bump(&self.counters().stalls, 1);
    }

    #[inline(always)]
    fn done(&mut self, piece: &Piece, time: CompletionTime) {
        let length = piece.length;
        let ends = piece.end != EndMarker::None;
        let state = self.state();
        state.done = 0;
        state.open = u32::from(!ends);
        state.at.submission = state.at.submission.wrapping_add(piece.entries);
        if state.burst.left != 0 {
            state.burst.left -= 1;
            state.burst.address = state.burst.address.wrapping_add(u64::from(state.burst.stride));
        }
        state.pending_packets += u32::from(ends);
        state.pending_bytes += u64::from(length);
        let signal = piece.flags & sf::SIGNAL != 0;
        // Without a signal too: the counts of a completion would overflow.
        let full = state.pending_packets >= 0xf000 || state.pending_bytes > 0x8000_0000;
        let bytes = state.pending_bytes as u32;
        if piece.entries != 0 && (signal || full) {
            self.write_completion(Status::Ok, bytes, time);
        }
        bump(&self.counters().packets, u64::from(ends));
        bump(&self.counters().bytes, u64::from(length));
    }

    fn fail_unmapped(&mut self, piece: &Piece, status: Status) -> bool {
        let cut = self.state().open != 0 || self.state().done != 0;
        self.fail(status, piece.entries);
        self.state().open = 0;
        cut
    }

    #[inline(always)]
    fn flush_step<H: Host>(&mut self, host: &mut H) {
        let (view, state, counters) = self.parts();
        view.notify(&mut state.at, counters, host);
    }

    #[inline(always)]
    fn view(&self) -> Option<&QueueView> {
        Some(&self.view)
    }

    #[inline(always)]
    fn domain(&self) -> u16 {
        self.view.config.domain as u16
    }
}
