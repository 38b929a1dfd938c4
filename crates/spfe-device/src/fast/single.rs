//! A single packet: what a sender posts that waits for each completion.
//!
//! The loops look up positions, phases and pointers for each call, which pays only for several
//! packets. A [`SinglePath`] keeps them from packet to packet. It checks that nobody else has run the
//! flow since, and leaves everything but a plain packet with a completion of its own to the loops.
//!
//! It reads the buffer of the next packet as soon as it has published one: the receiver wrote the
//! entry, and its cache line is here by the time the next packet is posted. It also fills wide
//! completions, which no loop does.

use super::{BUFFER, DATA, FastState, ONE_PACKET, RX_CHECK, SIGNAL, prefetch_write};
use crate::copy::move_bytes;
use crate::memory::{FixedWindow, RegionWindow};
use crate::queue::QueueView;
use crate::shared::{FlowShared, bump};
use spfe_contract::{
    self as contract, completion_flags as cf, submit_flags as sf, wide_completion,
};
use spfe_ring::cursor::{Cursor, RingPair};
use spfe_ring::sync::{FenceMode, Ordering, fence_mode};
use spfe_ring::{AtomicHostLine, Ring, Slot};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::compiler_fence;

/// Result of [`SinglePath::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleEnd {
    /// The packet was moved and the seat left.
    Moved,
    /// The packet was moved. The caller holds the seat and has to wake a host that is armed.
    Awaited,
    /// Nothing was done. The caller holds the seat.
    Entered,
    /// Nothing was done and the seat is not held.
    Refused,
}

/// log2 of the slots that a wide completion takes.
const WIDE_SHIFT: u32 = (wide_completion::SIZE / size_of::<Slot>()).trailing_zeros();
/// Flags of an entry that this path takes; the phase follows.
const PLAIN: u32 = DATA | SIGNAL | sf::LAST as u32;

/// Rings, positions and windows of a flow, for the packets up to the end of a lap.
pub struct SinglePath {
    shared: &'static FlowShared,
    /// Packets left before [`SinglePath::prepare`] has to come again, with ordinary and with wide
    /// completions. One of the two is 0; both are if it has not been called.
    left: [u32; 2],
    epoch: u32,
    /// Slots from the place of the next packet on: posted and sent packets, buffers, filled ones.
    posted: NonNull<Slot>,
    sent: NonNull<Slot>,
    buffers: NonNull<Slot>,
    filled: NonNull<Slot>,
    /// Offset of the next packet in all four, bytes.
    offset: usize,
    /// Positions of the next packet at the sender and the receiver ([`Positions::word`]).
    ///
    /// [`Positions::word`]: crate::shared::Positions::word
    at: (u64, u64),
    /// Upper half of the second word of a posted packet.
    plain: u32,
    /// Second word of a buffer.
    buffer: u64,
    /// Memory of the next packet's buffer if that was there when the packet before was published,
    /// else null.
    next: *mut u8,
    source: RegionWindow,
    target: FixedWindow,
    /// Constant bits of the words of completions: of the sender, and of the receiver.
    sent_bits: [u64; 2],
    filled_bits: [u64; 2],
    lines: (NonNull<AtomicHostLine>, NonNull<AtomicHostLine>),
}

// SAFETY: the pointers are into memory that stays mapped while the epoch is the one they were made
// in; the slots are atomics.
unsafe impl Send for SinglePath {}

impl SinglePath {
    /// A path that refuses everything until it is prepared.
    pub fn new(shared: &'static FlowShared) -> Self {
        Self {
            shared,
            left: [0; 2],
            epoch: 0,
            posted: NonNull::dangling(),
            sent: NonNull::dangling(),
            buffers: NonNull::dangling(),
            filled: NonNull::dangling(),
            offset: 0,
            at: (0, 0),
            plain: 0,
            buffer: 0,
            next: null_mut(),
            source: RegionWindow::default(),
            target: FixedWindow::default(),
            sent_bits: [0; 2],
            filled_bits: [0; 2],
            lines: (NonNull::dangling(), NonNull::dangling()),
        }
    }

    /// Refuses everything from now on, until it is prepared.
    pub fn reset(&mut self) {
        self.left = [0; 2];
    }

    /// Whether it may take packets, whose completions are wide if `WIDE`.
    #[inline(always)]
    pub fn is_ready<const WIDE: bool>(&self) -> bool {
        self.left[usize::from(WIDE)] != 0
    }

    /// Prepares for packets like the ones that `fast` has the windows of, in the epoch `epoch`. The
    /// caller holds the seat. `most` is the length of the longest packet that this path may take.
    #[cold]
    #[inline(never)]
    pub fn prepare(
        &mut self,
        fast: &FastState,
        (tx, rx): (&QueueView, &QueueView),
        epoch: u32,
        most: u32,
    ) {
        // SAFETY: the caller holds the seat.
        let (send, receive) = unsafe { (&*self.shared.tx.get(), &*self.shared.rx.get()) };
        let (posted, sent) = (fast.posted.get(), fast.sent.get());
        let wide = rx.completions.is_wide();
        let done = if wide { rx.submissions } else { rx.completions };
        let Some(rings) = RingPair::new(rx.submissions, done) else { return };
        let from = Cursor::new(posted, send.at.submission);
        let done = Cursor::new(sent, send.at.completion);
        let to = Cursor::new(rings, receive.at.submission);
        // The buffer whose window `fast` has tells what the next ones are like.
        let like = if wide { to.slot() } else { to.slot_before() };
        let buffer = like.word1() & 0xffff_ffff_ffff | u64::from(to.phase()) << 32;
        let (flags, room) = ((buffer >> 32) as u32, buffer as u32);
        let window = fast.target.fixed(room);
        let Some(target) = window.filter(|_| (flags ^ (to.phase() | BUFFER)) & RX_CHECK == 0)
        else {
            return;
        };
        fn first(ring: &Ring, mark: spfe_ring::cursor::Mark) -> (NonNull<Slot>, usize) {
            let slots = ring.straight(mark);
            (NonNull::from(slots).cast(), slots.len())
        }
        let (posted, from_left) = first(&posted, from.mark());
        let (sent, done_left) = first(&sent, done.mark());
        let (buffers, to_left) = first(&rings.first(), to.mark());
        let filled = if wide {
            rx.completions.entry(receive.at.completion)
        } else {
            first(&rings.second(), to.mark()).0
        };
        // The slot behind each packet is looked at too, so the last one of a lap is left out.
        let left = from_left.min(done_left).min(to_left) - 1;
        let phase = |phase: u32| u64::from(phase) << 32;
        let vc = fast.vc.get();
        *self = Self {
            shared: self.shared,
            left: [u32::from(!wide), wide.into()].map(|kind| kind * left as u32),
            epoch,
            posted,
            sent,
            buffers,
            filled,
            offset: 0,
            at: (send.at.word(), receive.at.word()),
            plain: PLAIN | from.phase(),
            buffer,
            next: null_mut(),
            source: fast.source.at_most(room.min(most)),
            target,
            sent_bits: [vc.0 | ONE_PACKET, phase(done.phase())],
            filled_bits: [vc.1, phase(to.phase())],
            lines: (tx.host_line().into(), rx.host_line().into()),
        };
    }

    /// Enters the seat as its owner `id` and moves the next packet, if it is the only one posted and
    /// needs nothing but a copy and two completions.
    #[inline(always)]
    pub fn run<const WIDE: bool>(&mut self, id: u32) -> SingleEnd {
        if !self.is_ready::<WIDE>() || fence_mode() != FenceMode::Asymmetric {
            return SingleEnd::Refused;
        }
        let shared = self.shared;
        if !shared.seat.enter_by(id, || compiler_fence(Ordering::SeqCst)) {
            return SingleEnd::Refused;
        }
        let end = self.packet::<WIDE>();
        if end == SingleEnd::Moved {
            shared.seat.leave();
        }
        end
    }

    /// Moves the next packet as [`SinglePath::run`] does. The caller holds the seat, and still does
    /// afterwards. The path is ready.
    #[inline(always)]
    pub fn packet<const WIDE: bool>(&mut self) -> SingleEnd {
        let shared = self.shared;
        // SAFETY: the seat is held.
        let (send, receive) = unsafe { (&mut *shared.tx.get(), &mut *shared.rx.get()) };
        let at = (send.at.word(), receive.at.word());
        if shared.epoch() != self.epoch || at != self.at {
            self.reset();
            return SingleEnd::Entered;
        }
        let open = send.done | send.open | send.burst.left | send.pending_packets;
        if open | receive.fill | receive.open | receive.cut != 0 {
            return SingleEnd::Entered;
        }
        let offset = self.offset;
        // SAFETY: the path is ready, so this slot of each ring and the one behind it are in the lap.
        // The epoch is that in which the rings were mapped.
        let here = |slots: NonNull<Slot>| unsafe { slots.byte_add(offset).as_ref() };
        // SAFETY: as above.
        let behind = |slots: NonNull<Slot>| unsafe { slots.byte_add(offset).add(1).as_ref() };
        // Loaded before the acquire loads, after which the compiler would load it again.
        let posted = self.posted;
        let word1 = here(posted).word1();
        let (flags, length) = ((word1 >> 32) as u32, word1 as u32);
        // A packet behind this one has the same phase.
        let more = behind(posted).word1() ^ word1;
        if flags != self.plain || more >> 48 == 0 {
            return SingleEnd::Entered;
        }
        // The source takes no packet that is longer than a buffer.
        let Some(source) = self.source.at(here(posted).word0(), length) else {
            return SingleEnd::Entered;
        };
        let mut target = self.next;
        if target.is_null() {
            target = self.buffer(here(self.buffers));
            if target.is_null() {
                return SingleEnd::Entered;
            }
        }
        let bytes = u64::from(length);
        let [word0, phase] = self.filled_bits;
        let mut word1 = at.1 & 0xffff | phase;
        let shift = if WIDE { WIDE_SHIFT } else { 0 };
        // SAFETY: the completion of this slot, as above. A ready path was prepared for this size.
        let filled = unsafe { self.filled.byte_add(offset << shift) };
        if WIDE && length <= contract::BESIDE_BYTES as u32 {
            // SAFETY: the data of a wide completion are behind its words and its time.
            target = unsafe { filled.cast().add(wide_completion::DATA0_OFFSET) }.as_ptr();
            word1 |= u64::from(cf::BESIDE) << 32;
        }
        // SAFETY: both were checked, the target for `room` bytes, which is enough; beside a completion
        // there is room for BESIDE_BYTES.
        unsafe { move_bytes(source, target, length) };
        // SAFETY: as above.
        unsafe { filled.as_ref() }.write_entry([bytes | word0, word1]);
        let [word0, phase] = self.sent_bits;
        here(self.sent).write_entry([bytes | word0, at.0 & 0xffff | phase]);
        self.next = self.buffer(behind(self.buffers));
        prefetch_write(self.next);
        self.offset = offset + size_of::<Slot>();
        self.left[usize::from(WIDE)] -= 1;
        // The submission position does not carry: it wraps at the end of a lap.
        const BOTH: u64 = 1 << 32 | 1;
        let at = (at.0.wrapping_add(BOTH), at.1.wrapping_add(BOTH));
        self.at = at;
        send.at.set_word(at.0);
        receive.at.set_word(at.1);
        send.at.reported_bytes = send.at.reported_bytes.wrapping_add(bytes);
        receive.at.reported_bytes = receive.at.reported_bytes.wrapping_add(bytes);
        bump(&shared.tx_count.packets, 1);
        bump(&shared.tx_count.bytes, bytes);
        bump(&shared.rx_count.packets, 1);
        bump(&shared.rx_count.bytes, bytes);
        if shared.stalled.load(Ordering::Relaxed) != 0 {
            shared.stalled.store(0, Ordering::Release);
        }
        // Pairs with the heavy fence in `AtomicHostLine::arm`.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the lines are mapped as the rings are.
        let armed = unsafe { self.lines.0.as_ref().is_armed() | self.lines.1.as_ref().is_armed() };
        if armed { SingleEnd::Awaited } else { SingleEnd::Moved }
    }

    /// Memory of a posted buffer if it is like the others, else null.
    #[inline(always)]
    fn buffer(&self, slot: &Slot) -> *mut u8 {
        if slot.word1() != self.buffer {
            return null_mut();
        }
        self.target.at(slot.word0()).unwrap_or(null_mut())
    }
}
