//! The transmit ring as a source of pieces of packets.

use crate::copy::{Copier, CopySource, FlowEnd};
use crate::flow::{NextPiece, Piece, PieceSource};
use crate::memory::{AccessRefusal, Address, READ, RegionMap};
use crate::queue::{CompletionTime, Host, QueueView, completion};
use crate::shared::{BurstState, FlowShared, QueueCounters, TxState, bump};
use spfe_contract::{
    self as contract, BurstExt, EndMarker, EntryType, InlineSubmission, Status, Submission,
    submit_flags as sf,
};
use spfe_ring::ring::RingEntry;
use spfe_ring::submission::extent;
use std::ptr::NonNull;

const CHAIN_MAX: usize = contract::CHAIN_MAX as usize;
const PACKET_MAX: u64 = contract::PACKET_MAX_BYTES;
/// The last packet has its end.
const CLOSED: u32 = 0;
/// The open packet's receiver is gone: its pieces up to its end complete with PEER_GONE.
const LOST: u32 = 2;
const NOT_SIMPLE: u16 = sf::TYPE_MASK | sf::CHAIN | sf::MBZ_MASK;

/// A transmit queue and what is needed to read it.
pub struct TxQueue {
    /// Rings and lines.
    pub view: QueueView,
    state: NonNull<TxState>,
    counters: NonNull<QueueCounters>,
    inline_bytes: [[u8; 16]; CHAIN_MAX],
}

// SAFETY: points into the flow's shared state, which its holder keeps mapped; used by one thread
// at a time, the one that holds the seat.
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
            // SAFETY: an UnsafeCell's pointer is not null.
            state: unsafe { NonNull::new_unchecked(flow.tx.get()) },
            counters: NonNull::from(&flow.tx_count),
            inline_bytes: [[0; 16]; CHAIN_MAX],
        }
    }

    #[inline(always)]
    fn state(&mut self) -> &mut TxState {
        // SAFETY: the runner holds the seat (rule of `FlowShared`), so this is the only access.
        unsafe { self.state.as_mut() }
    }

    /// View, state and counters, borrowed apart.
    #[inline(always)]
    pub(crate) fn parts(&mut self) -> (&QueueView, &mut TxState, &QueueCounters) {
        // SAFETY: the runner holds the seat; the counters are atomics elsewhere in shared memory.
        unsafe { (&self.view, self.state.as_mut(), self.counters.as_ref()) }
    }

    #[inline(always)]
    fn counters(&self) -> &QueueCounters {
        // SAFETY: in shared memory that outlives the queue; atomics only.
        unsafe { self.counters.as_ref() }
    }

    /// The address of an entry's bytes, or the status it deserves.
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

    /// An entry on its own: DATA, not part of a chain.
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

    /// INLINE entries and chains of DATA and INLINE entries. A fault takes the whole chain with it.
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
            // A chain is published whole, so its next entry must be there.
            let next = self.state().at.submission.wrapping_add(entries);
            entry = self.view.submissions.read(next).ok_or(fault(Status::BadField))?;
        }
        Err(AccessRefusal::Fault(Status::ChainTooLong))
    }

    /// Entries the submission in hand takes, and whether the packet ends with it. Bounded by the
    /// ring size.
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

    /// Opens a burst: both entries checked, the whole range translated once.
    ///
    /// What is pending before it is reported first, so that the counts of the burst's completion
    /// are its own.
    #[cold]
    fn open_burst(
        &mut self,
        map: &RegionMap,
        first: RingEntry,
        copier: &mut Copier<'_>,
    ) -> Result<(), Fault> {
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
        self.report_pending(copier);
        self.state().burst = BurstState {
            address: first[0],
            length: head.length,
            stride: ext.stride,
            left: u32::from(ext.count),
            flags: u32::from(flags),
        };
        Ok(())
    }

    /// Opens a burst for the fast path; false leaves it, and what is wrong with it, to the general.
    #[cold]
    #[inline(never)]
    pub(crate) fn open_burst_plain(&mut self, map: &RegionMap, first: RingEntry) -> bool {
        self.open_burst(map, first, &mut Copier::Alone).is_ok()
    }

    /// The next packet of the open burst. Its region may have been revoked since it was opened.
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

    fn next_piece(
        &mut self,
        map: &RegionMap,
        piece: &mut Piece,
        copier: &mut Copier<'_>,
    ) -> Result<NextPiece, Fault> {
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
            self.open_burst(map, entry, copier)?;
            self.burst_piece(map, piece)?;
        } else {
            self.gather(map, entry, piece)?;
        }
        Ok(NextPiece::Ready)
    }

    fn write_completion(
        &mut self,
        status: Status,
        bytes: u32,
        time: CompletionTime,
        copier: &mut Copier<'_>,
    ) {
        let (view, state, _) = self.parts();
        let mut done = completion(&view.config, state.at.submission.wrapping_sub(1), status);
        done.packets = state.pending_packets as u16;
        done.bytes = bytes;
        state.pending_packets = 0;
        state.pending_bytes = 0;
        let position = state.at.completion;
        state.at.completion = position.wrapping_add(1);
        state.at.reported_bytes = state.at.reported_bytes.wrapping_add(u64::from(bytes));
        copier.complete(FlowEnd::Tx, view, position, done, time);
    }

    /// Completes everything before the entry in hand, if it has not been reported yet, so that an
    /// error completion speaks of one submission only.
    fn report_pending(&mut self, copier: &mut Copier<'_>) {
        if self.state().pending_packets != 0 || self.state().pending_bytes != 0 {
            let bytes = self.state().pending_bytes as u32;
            self.write_completion(Status::Ok, bytes, CompletionTime::None, copier);
        }
    }

    /// Ends a submission with an error: always signalled, and only this one.
    pub fn fail(&mut self, status: Status, entries: u32, copier: &mut Copier<'_>) {
        // The pending report frees the entries before this one and takes a completion slot that is
        // theirs. Inside a burst the packets already sent are in the error completion's count.
        if self.state().burst.left == 0 {
            self.report_pending(copier);
        }
        let state = self.state();
        state.at.submission = state.at.submission.wrapping_add(entries);
        let done = state.done;
        state.done = 0;
        state.burst.left = 0;
        state.at.urgent = 1;
        self.write_completion(status, done, CompletionTime::None, copier);
        bump(&self.counters().errors, 1);
    }

    /// Completes the submission in hand with `status`. What is still to come of its packet is lost.
    pub fn flush_one(&mut self, status: Status, copier: &mut Copier<'_>) -> u32 {
        let position = self.state().at.submission;
        if self.view.submissions.read(position).is_none() {
            return 0;
        }
        let (entries, ends) = self.submission();
        self.fail(status, entries, copier);
        self.state().open = if ends { CLOSED } else { LOST };
        1
    }

    /// The receiver of the open packet is gone: the rest of the packet must not look like one.
    pub fn lose(&mut self) {
        let state = self.state();
        if state.open != CLOSED {
            state.open = LOST;
        }
    }

    /// Completes every valid entry of the ring with `status` (reset, dead peer). Bounded by the
    /// ring size.
    pub fn flush(&mut self, status: Status, copier: &mut Copier<'_>) -> u32 {
        let mut flushed = 0;
        for _ in 0..self.view.submissions.size() {
            if self.flush_one(status, copier) == 0 {
                break;
            }
            flushed += 1;
        }
        self.lose();
        flushed
    }
}

/// A refused submission: why, and how many entries it takes with it.
struct Fault {
    refusal: AccessRefusal,
    entries: u32,
}

impl PieceSource for TxQueue {
    #[inline(always)]
    fn next(&mut self, map: &RegionMap, piece: &mut Piece, copier: &mut Copier<'_>) -> NextPiece {
        match self.next_piece(map, piece, copier) {
            Ok(NextPiece::Ready) if self.state().open == LOST => {
                let (entries, ends) = self.submission();
                self.fail(Status::PeerGone, entries, copier);
                self.state().open = if ends { CLOSED } else { LOST };
                NextPiece::Failed { cut: false }
            }
            Ok(NextPiece::Ready) if self.state().done > piece.length => {
                // The host has shortened the submission since part of it was sent.
                let (entries, _) = self.submission();
                self.fail(Status::BadField, entries, copier);
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
                self.fail(status, entries, copier);
                self.state().open = 0;
                NextPiece::Failed { cut }
            }
        }
    }

    #[inline(always)]
    fn pause(&mut self, piece: &Piece) {
        self.state().done = piece.done;
        bump(&self.counters().stalls, 1);
    }

    #[inline(always)]
    fn done(&mut self, piece: &Piece, time: CompletionTime, copier: &mut Copier<'_>) {
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
        // Not signalled, but the counts of a completion would not hold more: report now.
        let full = state.pending_packets >= 0xf000 || state.pending_bytes > 0x8000_0000;
        let bytes = state.pending_bytes as u32;
        if piece.entries != 0 && (signal || full) {
            self.write_completion(Status::Ok, bytes, time, copier);
        }
        bump(&self.counters().packets, u64::from(ends));
        bump(&self.counters().bytes, u64::from(length));
    }

    fn fail_unmapped(&mut self, piece: &Piece, status: Status, copier: &mut Copier<'_>) -> bool {
        let cut = self.state().open != 0 || self.state().done != 0;
        self.fail(status, piece.entries, copier);
        self.state().open = 0;
        cut
    }

    #[inline(always)]
    fn flush_step<H: Host>(&mut self, host: &mut H) {
        // SAFETY: seat held; counters are atomics elsewhere in shared memory.
        let (state, counters) = unsafe { (self.state.as_mut(), self.counters.as_ref()) };
        self.view.notify(&mut state.at, counters, host);
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
