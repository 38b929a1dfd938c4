//! Source to sink: the step that moves packets.

use crate::copy::{Copier, DeferredList, Ends, Stretch};
use crate::fast;
use crate::memory::{Refusal, RegionKey, RegionMap, RegionShared};
use crate::pace::Pacer;
use crate::queue::{Host, QueueView, Time};
use crate::receive::{RxPacked, RxPosted};
use crate::shared::{FlowShared, QueueConfig};
use crate::tap::{Tap, Tapped};
use crate::transmit::TxQueue;
use spfe_contract::{self as contract, EndMarker, QueueKind, QueueState, Status};
use spfe_ring::sync::{Ordering, light_barrier};
use std::sync::Arc;

/// Times a stalled step looks again whether room was made meanwhile.
const LOOKS: u32 = 64;

/// A packet, or a piece of one, gathered from its stretches.
pub struct Piece {
    stretches: [Stretch; contract::CHAIN_MAX as usize],
    count: usize,
    /// Bytes in all.
    pub length: u32,
    /// Bytes already delivered.
    pub done: u32,
    /// How it ends.
    pub end: EndMarker,
    /// Submission entries it takes.
    pub entries: u32,
    /// `submit_flags` of its last entry.
    pub flags: u16,
}

// SAFETY: the pointers are only followed inside a step, by the thread that made them.
unsafe impl Send for Piece {}

impl Default for Piece {
    fn default() -> Self {
        let nowhere = Stretch { at: core::ptr::null(), address: None, length: 0 };
        Self {
            stretches: [nowhere; contract::CHAIN_MAX as usize],
            count: 0,
            length: 0,
            done: 0,
            end: EndMarker::Eop,
            entries: 0,
            flags: 0,
        }
    }
}

impl Piece {
    /// One stretch is the whole piece.
    #[inline(always)]
    pub fn set_one(&mut self, stretch: Stretch, end: EndMarker, flags: u16) {
        self.stretches[0] = stretch;
        self.count = 1;
        self.length = stretch.length;
        self.end = end;
        self.entries = 1;
        self.flags = flags;
    }

    /// Starts gathering.
    pub fn clear(&mut self) {
        self.count = 0;
        self.length = 0;
    }

    /// Adds a stretch; the caller keeps the count within a chain and the sum within a packet.
    pub fn add(&mut self, stretch: Stretch) {
        self.stretches[self.count] = stretch;
        self.count += 1;
        self.length += stretch.length;
    }

    /// Ends gathering.
    pub fn finish(&mut self, end: EndMarker, flags: u16, entries: u32) {
        self.end = end;
        self.flags = flags;
        self.entries = entries;
    }

    /// Bytes not yet delivered.
    #[inline(always)]
    pub fn rest(&self) -> u32 {
        self.length - self.done
    }

    /// Appends some of its bytes, delivered or not.
    #[cold]
    pub(crate) fn append(&self, range: core::ops::Range<u32>, to: &mut Vec<u8>) {
        let mut start = 0;
        for stretch in &self.stretches[..self.count] {
            let end = start + stretch.length;
            let (from, until) = (range.start.max(start), range.end.min(end));
            if from < until {
                let (length, at) = (until - from, to.len());
                to.resize(at + length as usize, 0);
                let source = stretch.plus(from - start).at;
                // SAFETY: within the stretch, which is mapped while its step runs; made room for.
                unsafe { crate::copy::move_bytes(source, to[at..].as_mut_ptr(), length) };
            }
            start = end;
        }
    }

    /// Copies the next `length` bytes (at most [`Piece::rest`]) to a target.
    ///
    /// # Safety
    /// The target is mapped for `length` bytes.
    #[inline(always)]
    pub unsafe fn take(
        &mut self,
        target: crate::copy::Target,
        length: u32,
        copier: &mut Copier<'_>,
    ) {
        if self.count == 1 {
            let whole = self.stretches[0];
            let from = whole.plus(self.done);
            // SAFETY: `length` is within the stretch; the target is the caller's promise.
            unsafe { copier.copy(from, target, length) };
        } else {
            // SAFETY: as above, stretch by stretch.
            unsafe { self.take_gathered(target, length, copier) };
        }
        self.done += length;
    }

    #[cold]
    unsafe fn take_gathered(
        &self,
        mut target: crate::copy::Target,
        mut length: u32,
        copier: &mut Copier<'_>,
    ) {
        let mut skip = self.done;
        for stretch in &self.stretches[..self.count] {
            if skip >= stretch.length {
                skip -= stretch.length;
                continue;
            }
            let part = (stretch.length - skip).min(length);
            // SAFETY: `part` is within the stretch and within the target.
            unsafe { copier.copy(stretch.plus(skip), target, part) };
            target = target.plus(part);
            length -= part;
            skip = 0;
            if length == 0 {
                break;
            }
        }
    }
}

impl Stretch {
    /// The stretch without its first `bytes` bytes.
    #[inline(always)]
    pub fn plus(self, bytes: u32) -> Self {
        Self {
            at: self.at.wrapping_add(bytes as usize),
            address: self.address.map(|a| crate::memory::Address(a.0 + u64::from(bytes))),
            length: self.length - bytes,
        }
    }
}

/// What a source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A piece.
    Ready,
    /// Nothing now.
    Idle,
    /// Nothing before this time in ns (instruments).
    At(u64),
    /// A submission was refused and completed with its error; `cut`: the open packet ends here.
    Failed {
        /// The receiver has part of a packet that will not go on.
        cut: bool,
    },
    /// The piece is in a region this process has not mapped.
    Unmapped(RegionKey),
}

/// How far an instrument may run ahead of the time on a paced link. What it has sent ahead is not
/// visible before its time, and its receiver can sleep until then without being woken.
pub const AHEAD_NS: u64 = 1_000_000;

/// Where pieces come from.
pub trait Source {
    /// It could send for ever: on a paced link it runs only [`AHEAD_NS`] ahead of time.
    const ENDLESS: bool = false;
    /// The next piece, or the rest of the one that was paused.
    fn next(&mut self, map: &RegionMap, piece: &mut Piece, copier: &mut Copier<'_>) -> Next;
    /// The sink took part of the piece and waits.
    fn pause(&mut self, piece: &Piece);
    /// The sink took all of it.
    fn done(&mut self, piece: &Piece, time: Time, copier: &mut Copier<'_>);
    /// The piece names a region that does not exist after all; true if a packet is cut.
    fn fail_unmapped(&mut self, piece: &Piece, status: Status, copier: &mut Copier<'_>) -> bool;
    /// End of a step: wake who waits.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The queue behind it.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of its regions.
    fn domain(&self) -> u16;
    /// The receiver is gone: what is still to come of a packet it has part of is nobody's.
    fn lose(&mut self) {}
}

/// What became of a piece at the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All of it.
    Whole,
    /// No room for the rest.
    Full,
    /// The room is in a region this process has not mapped.
    Unmapped(RegionKey),
}

/// Where pieces go.
pub trait Sink {
    /// Takes as much of the piece as there is room for.
    fn take<H: Host>(
        &mut self,
        piece: &mut Piece,
        map: &RegionMap,
        cx: &mut Cx<'_, '_, H>,
    ) -> Taken;
    /// The open packet will not go on: end it with EEP.
    fn cut<H: Host>(&mut self, cx: &mut Cx<'_, '_, H>);
    /// Its room names a region that does not exist after all.
    fn fail_unmapped<H: Host>(&mut self, status: Status, cx: &mut Cx<'_, '_, H>);
    /// End of a step: publish what is held back (before the copies are settled).
    fn publish<H: Host>(&mut self, cx: &mut Cx<'_, '_, H>);
    /// End of a step: wake who waits.
    fn flush_step<H: Host>(&mut self, host: &mut H);
    /// The queue behind it.
    fn view(&self) -> Option<&QueueView>;
    /// Protection domain of its regions.
    fn domain(&self) -> u16;
    /// Whether the last packet has begun and not ended.
    fn is_open(&self) -> bool;
    /// Whether an EEP waits for room.
    fn is_cut(&self) -> bool {
        false
    }
    /// A packet waits for room: tells a host that waits for more than it has room for.
    fn mark_full(&mut self) {}
    /// Whether the host has made room that no step has seen yet.
    fn has_room(&self) -> bool {
        false
    }
}

/// What a step works with.
pub struct Cx<'c, 'a, H> {
    /// Time and wake-ups.
    pub host: &'c mut H,
    /// The link, if it is paced.
    pub pacer: Option<Pacer<'c>>,
    /// How bytes are copied.
    pub copier: Copier<'a>,
    /// Time of the step, read when first needed; 0 is not yet.
    pub now_ns: u64,
    /// Link time at which the bytes taken so far are through.
    pub through_ns: u64,
    /// Every completion has the time of its step.
    pub timed: bool,
}

impl<'c, 'a, H: Host> Cx<'c, 'a, H> {
    /// Outside of a step: no link time passes.
    pub fn quiet(host: &'c mut H) -> Self {
        let (pacer, copier) = (None, Copier::Alone);
        Self { host, pacer, copier, now_ns: 0, through_ns: 0, timed: false }
    }

    /// Time of this step.
    #[inline]
    pub fn now(&mut self) -> u64 {
        if self.now_ns == 0 {
            self.now_ns = self.host.now_ns();
        }
        self.now_ns
    }

    /// Books bytes on the link, if it is paced.
    #[inline(always)]
    pub fn book(&mut self, bytes: u32, ends: bool) {
        if let Some(pacer) = self.pacer {
            let now = self.now();
            self.through_ns = pacer.book(now, bytes, ends);
        }
    }

    /// The time that goes with a completion of this queue.
    #[inline(always)]
    pub fn time(&mut self, stamps: bool) -> Time {
        if self.pacer.is_some() {
            Time::Visible(self.through_ns)
        } else if self.timed {
            Time::Visible(self.now())
        } else if stamps {
            Time::Stamp(self.now())
        } else {
            Time::None
        }
    }
}

/// What a step did and why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Everything that was there has moved; the number of packets.
    Idle(u32),
    /// The budget is used up; there is more.
    More(u32),
    /// The receiver has no room; the number of packets before that.
    Stalled(u32),
    /// Nothing more before this time in ns (instruments).
    Until(u64, u32),
    /// Configuration or regions changed: [`Flow::bind`] first.
    Stale,
    /// A region has to be mapped first: {sender's side, key}.
    Unmapped(bool, RegionKey),
}

impl Step {
    /// The same after `before` more packets.
    fn after(self, before: u32) -> Self {
        self.with(self.packets() + before)
    }

    /// The same with another number of packets.
    fn with(self, packets: u32) -> Self {
        match self {
            Self::Idle(_) => Self::Idle(packets),
            Self::More(_) => Self::More(packets),
            Self::Stalled(_) => Self::Stalled(packets),
            Self::Until(at, _) => Self::Until(at, packets),
            other => other,
        }
    }

    /// Packets moved.
    pub const fn packets(self) -> u32 {
        match self {
            Self::Idle(n) | Self::More(n) | Self::Stalled(n) | Self::Until(_, n) => n,
            Self::Stale | Self::Unmapped(..) => 0,
        }
    }
}

/// Who fills receive queues when it is not the far end's transmit queue.
#[expect(clippy::large_enum_variant, reason = "one per flow; a box would cost a load per step")]
pub enum TxEnd<S> {
    /// Nobody.
    None,
    /// The transmit queue.
    Queue(TxQueue),
    /// An instrument.
    Instrument(S),
}

/// Who takes packets when it is not the far end's receive queue.
pub enum RxEnd<D> {
    /// Nobody yet: the sender waits.
    None,
    /// Posted buffers.
    Posted(RxPosted),
    /// A packed area.
    Packed(RxPacked),
    /// An instrument.
    Instrument(D),
}

/// One side's regions: the shared table and this process's map of it.
#[derive(Clone)]
pub struct Regions {
    /// This process's mappings.
    pub map: Arc<RegionMap>,
    /// The table in shared memory.
    pub table: &'static [RegionShared],
}

impl Regions {
    /// Whether a key that is not mapped here exists (then it has to be mapped).
    fn exists(&self, key: RegionKey) -> bool {
        self.table.get(key.index()).is_some_and(|region| {
            let tag = region.tag();
            tag.is_valid() && tag.key() == key
        })
    }
}

/// A flow as one process runs it. The caller holds the seat around every call.
pub struct Flow<S, D> {
    shared: &'static FlowShared,
    epoch: u32,
    tx: TxEnd<S>,
    rx: RxEnd<D>,
    tx_regions: Regions,
    rx_regions: Regions,
    pacer: Option<Pacer<'static>>,
    piece: Piece,
    deferred: DeferredList,
    id: u32,
    share: bool,
    timed: bool,
    /// What the fast path uses, if it can be used.
    plain: Option<fast::Places>,
    /// Who looks on.
    tap: Option<Tapped>,
}

impl<S: Source, D: Sink> Flow<S, D> {
    /// A runner of a flow, not yet bound to its configuration.
    ///
    /// The `'static` references stand for shared memory that stays mapped while the runner lives.
    pub fn new(
        shared: &'static FlowShared,
        tx_regions: Regions,
        rx_regions: Regions,
        pacer: Option<Pacer<'static>>,
        id: u32,
        share: bool,
    ) -> Self {
        Self {
            shared,
            epoch: shared.epoch().wrapping_sub(1),
            tx: TxEnd::None,
            rx: RxEnd::None,
            tx_regions,
            rx_regions,
            pacer,
            piece: Piece::default(),
            deferred: DeferredList::default(),
            id,
            share,
            timed: false,
            plain: None,
            tap: None,
        }
    }

    /// The shared state.
    pub fn shared(&self) -> &'static FlowShared {
        self.shared
    }

    /// Gives every completion the time of its step, as a paced link does: one end is a link that
    /// takes its own time.
    pub fn set_timed(&mut self) {
        self.timed = true;
    }

    /// Shows what is delivered to somebody, from the next [`Flow::bind`] on, or to nobody.
    pub fn set_tap(&mut self, tap: Option<Tap>) {
        self.tap = tap.map(Tapped::new);
    }

    /// Puts an instrument at the sending end.
    pub fn set_source(&mut self, source: S) {
        self.tx = TxEnd::Instrument(source);
    }

    /// Puts an instrument at the receiving end.
    pub fn set_sink(&mut self, sink: D) {
        self.rx = RxEnd::Instrument(sink);
    }

    /// The instrument at the receiving end.
    pub fn sink_mut(&mut self) -> Option<&mut D> {
        if let RxEnd::Instrument(sink) = &mut self.rx { Some(sink) } else { None }
    }

    /// The instrument at the sending end.
    pub fn source_mut(&mut self) -> Option<&mut S> {
        if let TxEnd::Instrument(source) = &mut self.tx { Some(source) } else { None }
    }

    /// Reads the configuration again after the control plane changed it. `Err` names a region that
    /// has to be mapped first; then call again.
    pub fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let epoch = self.shared.epoch();
        self.tx_regions.map.sync(self.tx_regions.table);
        self.rx_regions.map.sync(self.rx_regions.table);
        // SAFETY: the caller holds the seat.
        let (tx, rx) = unsafe { (*self.shared.tx_config.get(), *self.shared.rx_config.get()) };
        if !matches!(self.tx, TxEnd::Instrument(_)) {
            self.tx = TxEnd::None;
            if tx.kind == u32::from(QueueKind::Tx.raw())
                && let Some(view) = view(tx, &self.tx_regions, true)?
            {
                self.tx = TxEnd::Queue(TxQueue::new(view, self.shared));
            }
        }
        if !matches!(self.rx, RxEnd::Instrument(_)) {
            self.rx = RxEnd::None;
            let view = if rx.kind != 0 { view(rx, &self.rx_regions, false)? } else { None };
            match (view, QueueKind::from_raw(rx.kind as u8)) {
                (Some(view), Some(QueueKind::Rx)) => {
                    self.rx = RxEnd::Posted(RxPosted::new(view, self.shared));
                }
                (Some(view), Some(QueueKind::RxPacked)) => {
                    let map = &self.rx_regions.map;
                    match RxPacked::new(view, self.shared, map) {
                        Ok(packed) => self.rx = RxEnd::Packed(packed),
                        Err(Refusal::Unmapped(key)) if self.rx_regions.exists(key) => {
                            return Err((false, key));
                        }
                        Err(_) => {}
                    }
                }
                _ => {}
            }
        }
        let alone = self.pacer.is_none() && !self.share && self.tap.is_none();
        self.plain = match (&self.tx, &self.rx) {
            _ if !alone => None,
            (TxEnd::Queue(tx), _) if tx.view.wants_stamps() => None,
            (TxEnd::Queue(tx), RxEnd::Posted(rx)) => rx
                .view()
                .filter(|view| fast::Posted::suits(view))
                .map(|view| fast::Places::new(&tx.view, view)),
            (TxEnd::Queue(tx), RxEnd::Packed(rx)) => rx
                .view()
                .filter(|view| !view.wants_stamps())
                .map(|view| fast::Places::new(&tx.view, view)),
            _ => None,
        };
        self.epoch = epoch;
        Ok(())
    }

    /// Moves at most `budget` pieces. See [`Step`].
    #[inline]
    pub fn step<H: Host>(&mut self, host: &mut H, budget: u32) -> Step {
        if self.shared.epoch() != self.epoch {
            return Step::Stale;
        }
        let (fast, step) = self.step_fast(host, budget);
        match step {
            Some(step) => step,
            None => self.step_general(host, budget - fast).after(fast),
        }
    }

    /// The fast path alone: packets moved, and the end of the step if there was nothing else.
    #[inline(always)]
    fn step_fast<H: Host>(&mut self, host: &mut H, budget: u32) -> (u32, Option<Step>) {
        let (mut packets, mut ended) = self.run_fast(host, budget, false);
        if ended == fast::Ended::Burst {
            let more;
            (more, ended) = self.run_fast(host, budget - packets, true);
            packets += more;
        }
        if ended == fast::Ended::General {
            return (packets, None);
        }
        // A look (budget 0) says nothing about what waits.
        if self.shared.stalled.load(Ordering::Relaxed) != 0 && budget != 0 {
            self.shared.stalled.store(0, Ordering::Release);
        }
        if packets != 0 && self.is_awaited() {
            self.wake(host);
        }
        match ended {
            fast::Ended::Budget => (packets, Some(Step::More(packets))),
            _ => (packets, Some(Step::Idle(packets))),
        }
    }

    /// The loops of the fast path, with or without bursts.
    #[inline(always)]
    fn run_fast<H: Host>(&mut self, host: &mut H, budget: u32, bursts: bool) -> (u32, fast::Ended) {
        let (Some(places), TxEnd::Queue(tx)) = (&self.plain, &mut self.tx) else {
            return (0, fast::Ended::General);
        };
        let sender = fast::Sender { tx, map: &self.tx_regions.map, places };
        let map = &self.rx_regions.map;
        match &mut self.rx {
            RxEnd::Posted(rx) if bursts => rx.run_bursts(sender, map, budget),
            RxEnd::Posted(rx) => rx.run_fast(sender, map, budget),
            RxEnd::Packed(rx) if bursts => rx.run_bursts(sender, host, budget),
            RxEnd::Packed(rx) => rx.run_fast(sender, host, budget),
            _ => (0, fast::Ended::General),
        }
    }

    /// Whether a host of either end is armed. Pairs with its heavy barrier after arming.
    #[inline(always)]
    fn is_awaited(&self) -> bool {
        light_barrier();
        let (TxEnd::Queue(tx), Some(rx)) = (&self.tx, self.rx_view()) else { return false };
        tx.view.host_line().is_armed() | rx.host_line().is_armed()
    }

    #[cold]
    #[inline(never)]
    fn wake<H: Host>(&mut self, host: &mut H) {
        self.wake_due(host);
    }

    /// What a poster does: moves everything that is plain and ready. False if there is more to it
    /// (then [`Flow::step`] goes on).
    #[inline(always)]
    pub fn sweep<H: Host>(&mut self, host: &mut H) -> bool {
        self.shared.epoch() == self.epoch && self.step_fast(host, u32::MAX).1.is_some()
    }

    /// Everything the fast path leaves.
    #[inline(never)]
    fn step_general<H: Host>(&mut self, host: &mut H, budget: u32) -> Step {
        let copier = if self.share {
            Copier::shared(&self.shared.board, &mut self.deferred, self.id)
        } else {
            Copier::Alone
        };
        let (pacer, timed) = (self.pacer, self.timed);
        let mut cx = Cx { host, pacer, copier, now_ns: 0, through_ns: 0, timed };
        if cx.pacer.is_some() {
            // Link time starts before the copy, not after it: hardware sends while it reads.
            cx.now();
        }
        let run = Run {
            shared: self.shared,
            tx_regions: &self.tx_regions,
            rx_regions: &self.rx_regions,
            piece: &mut self.piece,
            tap: self.tap.as_mut(),
            budget,
        };
        match (&mut self.tx, &mut self.rx) {
            (TxEnd::Queue(tx), RxEnd::Posted(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::Packed(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::Instrument(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Posted(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Packed(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Instrument(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::None) => match tx.view.submissions.read(
                // SAFETY: the caller holds the seat.
                unsafe { (*self.shared.tx.get()).at.submission },
            ) {
                Some(_) => {
                    // Whoever receives here one day has to fetch it.
                    self.shared.stalled.store(1, Ordering::Release);
                    Step::Stalled(0)
                }
                None => Step::Idle(0),
            },
            (TxEnd::Instrument(_), RxEnd::None) => Step::Stalled(0),
            (TxEnd::None, RxEnd::Posted(rx)) => run.only_cut(rx, &mut cx),
            (TxEnd::None, RxEnd::Packed(rx)) => run.only_cut(rx, &mut cx),
            (TxEnd::None, RxEnd::None | RxEnd::Instrument(_)) => Step::Idle(0),
        }
    }

    /// Helps with the copies of a round somebody else runs; needs no seat. Returns jobs done, and
    /// a region that has to be mapped for the next time.
    pub fn help(&self) -> (u32, Option<(bool, RegionKey)>) {
        let (TxEnd::Queue(tx), rx) = (&self.tx, &self.rx) else { return (0, None) };
        let rx_domain = match rx {
            RxEnd::Posted(rx) => rx.domain(),
            RxEnd::Packed(rx) => rx.domain(),
            _ => return (0, None),
        };
        let ends = Ends {
            tx_map: &self.tx_regions.map,
            rx_map: &self.rx_regions.map,
            tx_domain: tx.domain(),
            rx_domain,
        };
        ends.help(&self.shared.board, self.id)
    }

    /// When a waiting host has to be woken because of time (device threads ask).
    pub fn deadline(&self) -> Option<u64> {
        if self.is_stale() {
            return None;
        }
        // SAFETY: the caller holds the seat.
        let (tx, rx) = unsafe { (&*self.shared.tx.get(), &*self.shared.rx.get()) };
        let tx_view = if let TxEnd::Queue(queue) = &self.tx { Some(&queue.view) } else { None };
        let sent = tx_view.and_then(|view| view.deadline(&tx.at));
        let got = self.rx_view().and_then(|view| view.deadline(&rx.at));
        sent.into_iter().chain(got).min()
    }

    fn rx_view(&self) -> Option<&QueueView> {
        match &self.rx {
            RxEnd::Posted(rx) => rx.view(),
            RxEnd::Packed(rx) => rx.view(),
            _ => None,
        }
    }

    /// Whether the configuration has changed since it was bound.
    pub fn is_stale(&self) -> bool {
        self.shared.epoch() != self.epoch
    }

    /// Whether a device has to look at this flow: it has a queue at either end. A receiver alone may
    /// still wait for the end of its last packet, or for a time.
    pub fn is_active(&self) -> bool {
        !matches!((&self.tx, &self.rx), (TxEnd::None, RxEnd::None | RxEnd::Instrument(_)))
    }

    /// Whether either end has a queue.
    pub fn has_queue(&self) -> bool {
        self.tx_view().is_some() || self.rx_view().is_some()
    }

    /// The transmit queue's lines and rings, if there is one and it is bound.
    pub fn tx_view(&self) -> Option<&QueueView> {
        if let TxEnd::Queue(queue) = &self.tx { Some(&queue.view) } else { None }
    }

    /// Wakes hosts whose time condition is due, and those that a late arming missed.
    pub fn wake_due<H: Host>(&mut self, host: &mut H) {
        if self.is_stale() {
            return;
        }
        match &mut self.tx {
            TxEnd::Queue(tx) => tx.flush_step(host),
            TxEnd::None | TxEnd::Instrument(_) => {}
        }
        match &mut self.rx {
            RxEnd::Posted(rx) => rx.flush_step(host),
            RxEnd::Packed(rx) => rx.flush_step(host),
            _ => {}
        }
    }

    /// Tells both hosts whether the device sleeps and wants a doorbell.
    pub fn set_need_doorbell(&self, on: bool) {
        // The rings bound before the change may be somebody else's memory by now.
        if self.is_stale() {
            return;
        }
        let tx = if let TxEnd::Queue(queue) = &self.tx { Some(&queue.view) } else { None };
        for view in tx.into_iter().chain(self.rx_view()) {
            view.device_line().set_need_doorbell(on);
        }
    }

    /// Completes what the sender has pending with `status` and ends the receiver's open packet with
    /// EEP. With `only_open`, just the packet that has begun. Returns the submissions completed.
    pub fn flush<H: Host>(&mut self, host: &mut H, status: Status, only_open: bool) -> u32 {
        let mut flushed = 0;
        if let TxEnd::Instrument(source) = &mut self.tx {
            source.lose();
        }
        if let TxEnd::Queue(tx) = &mut self.tx {
            // SAFETY: the caller holds the seat.
            let begun = unsafe { (*self.shared.tx.get()).done != 0 };
            if !only_open {
                flushed = tx.flush(status, &mut Copier::Alone);
            } else if begun {
                flushed = tx.flush_one(status, &mut Copier::Alone);
            } else {
                tx.lose();
            }
            if flushed != 0 {
                tx.view.kick(host);
            }
        }
        self.cut(host);
        flushed
    }

    /// Completes every posted receive buffer with `status` (reset).
    pub fn flush_receive<H: Host>(&mut self, host: &mut H, status: Status) -> u32 {
        let mut cx = Cx::quiet(host);
        match &mut self.rx {
            RxEnd::Posted(rx) => rx.flush(status, &mut cx),
            _ => 0,
        }
    }

    /// Tells an end's host that its queue has changed state, and wakes it.
    pub fn set_state<H: Host>(&self, host: &mut H, tx: bool, state: QueueState, error: Status) {
        let view = if tx { self.tx_view() } else { self.rx_view() };
        if let Some(view) = view {
            view.device_line().set_state(u32::from(state.raw()), u32::from(error.raw()));
            view.kick(host);
        }
    }

    /// Puts the state in line with the rings after a participant died while it ran the engine.
    pub fn recover(&mut self) {
        let dead = self.shared.dead.load(Ordering::Acquire);
        // A worker that has taken a job but not signed it yet may live: it signs within a few turns.
        let mut turns = 0u32;
        let gone = |id| {
            turns = turns.saturating_add(1);
            (id == dead && dead != 0) || (id == 0 && turns > 100_000)
        };
        self.shared.board.end_round(gone, || {});
        if let Some(view) = self.rx_view() {
            crate::recover::receive(self.shared, view, self.share);
        }
        if let Some(view) = self.tx_view() {
            crate::recover::transmit(self.shared, view);
        }
    }

    /// Ends the receiver's open packet with EEP, if there is one: its sender will not go on.
    pub fn cut<H: Host>(&mut self, host: &mut H) {
        let mut cx = Cx::quiet(host);
        let was_open = match &self.rx {
            RxEnd::Posted(rx) => rx.is_open(),
            RxEnd::Packed(rx) => rx.is_open(),
            RxEnd::Instrument(rx) => rx.is_open(),
            RxEnd::None => false,
        };
        match &mut self.rx {
            RxEnd::Posted(rx) if rx.is_open() => {
                rx.cut(&mut cx);
                rx.flush_step(cx.host);
            }
            RxEnd::Packed(rx) if rx.is_open() => {
                rx.cut(&mut cx);
                rx.publish(&mut cx);
                rx.flush_step(cx.host);
            }
            RxEnd::Instrument(rx) if rx.is_open() => rx.cut(&mut cx),
            _ => {}
        }
        if was_open
            && !self.rx_is_cut()
            && let Some(tap) = &mut self.tap
        {
            tap.cut(&mut Cx::quiet(host));
        }
        if self.rx_is_cut() {
            // The receiver that makes room runs the engine for it.
            self.shared.stalled.store(1, Ordering::Release);
        }
    }

    fn rx_is_cut(&self) -> bool {
        match &self.rx {
            RxEnd::Posted(rx) => rx.is_cut(),
            RxEnd::Packed(rx) => rx.is_cut(),
            _ => false,
        }
    }
}

/// A queue's view; `Ok(None)` when its configuration is not usable, `Err` when a region it lies in
/// has to be mapped first.
pub(crate) fn view(
    config: QueueConfig,
    regions: &Regions,
    tx: bool,
) -> Result<Option<QueueView>, (bool, RegionKey)> {
    match QueueView::new(config, &regions.map) {
        Ok(view) => Ok(Some(view)),
        Err(Refusal::Unmapped(key)) if regions.exists(key) => Err((tx, key)),
        Err(_) => Ok(None),
    }
}

struct Run<'a> {
    shared: &'a FlowShared,
    tx_regions: &'a Regions,
    rx_regions: &'a Regions,
    piece: &'a mut Piece,
    tap: Option<&'a mut Tapped>,
    budget: u32,
}

impl Run<'_> {
    #[inline(always)]
    fn go<S: Source, D: Sink, H: Host>(
        mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut Cx<'_, '_, H>,
    ) -> Step {
        let mut step = self.pieces(source, sink, cx);
        sink.publish(cx);
        self.settle(source, sink, cx);
        if self.budget != 0 {
            if let Step::Stalled(packets) = step {
                step = self.stall(source, sink, cx, packets);
            } else if self.shared.stalled.load(Ordering::Relaxed) != 0 {
                self.shared.stalled.store(0, Ordering::Release);
            }
        }
        source.flush_step(cx.host);
        sink.flush_step(cx.host);
        step
    }

    /// Says that the sender waits for room. A receiver that posts and then looks at the flag may
    /// have looked too early: then its room is there now.
    #[cold]
    fn stall<S: Source, D: Sink, H: Host>(
        &mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut Cx<'_, '_, H>,
        mut packets: u32,
    ) -> Step {
        // Bounded: a host that posts nonsense as fast as it is refused may stay stalled.
        for _ in 0..LOOKS {
            self.shared.stalled.store(1, Ordering::Release);
            sink.mark_full();
            // Pairs with the heavy barrier of a receiver that falls asleep: it sees the flag, or
            // its room is seen here.
            light_barrier();
            if !sink.has_room() {
                break;
            }
            let step = self.pieces(source, sink, cx);
            sink.publish(cx);
            self.settle(source, sink, cx);
            packets += step.packets();
            match step {
                Step::Stalled(_) => {}
                Step::Unmapped(..) | Step::Stale => return step,
                _ => {
                    self.shared.stalled.store(0, Ordering::Release);
                    return step.with(packets);
                }
            }
        }
        Step::Stalled(packets)
    }

    /// Nobody sends; the last sender's packet may still need its EEP.
    fn only_cut<D: Sink, H: Host>(mut self, sink: &mut D, cx: &mut Cx<'_, '_, H>) -> Step {
        for _ in 0..LOOKS {
            if !sink.is_cut() {
                break;
            }
            self.cut(sink, cx);
            sink.publish(cx);
            let waits = sink.is_cut();
            self.shared.stalled.store(u32::from(waits), Ordering::Release);
            light_barrier();
            if waits && !sink.has_room() {
                return Step::Stalled(0);
            }
            sink.flush_step(cx.host);
        }
        Step::Idle(0)
    }

    #[inline(always)]
    fn pieces<S: Source, D: Sink, H: Host>(
        &mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut Cx<'_, '_, H>,
    ) -> Step {
        let mut packets = 0;
        if sink.is_cut() {
            self.cut(sink, cx);
            if sink.is_cut() {
                return Step::Stalled(0);
            }
        }
        for _ in 0..self.budget {
            if cx.copier.is_full() {
                self.settle(source, sink, cx);
            }
            if S::ENDLESS
                && let Some(pacer) = cx.pacer
            {
                let (free, now) = (pacer.free_ns(), cx.now());
                if free > now + AHEAD_NS {
                    return Step::Until(free - AHEAD_NS / 2, packets);
                }
            }
            let map = &self.tx_regions.map;
            match source.next(map, self.piece, &mut cx.copier) {
                Next::Ready => {}
                Next::Idle => return Step::Idle(packets),
                Next::At(ns) => return Step::Until(ns, packets),
                Next::Failed { cut } => {
                    if cut {
                        self.cut(sink, cx);
                    }
                    continue;
                }
                Next::Unmapped(key) => {
                    if self.tx_regions.exists(key) {
                        return Step::Unmapped(true, key);
                    }
                    if source.fail_unmapped(self.piece, Status::BadRegion, &mut cx.copier) {
                        self.cut(sink, cx);
                    }
                    continue;
                }
            }
            let before = self.tap.is_some().then(|| {
                // The next part of a piece that was paused, or of a packet.
                (self.piece.done, self.piece.done != 0 || sink.is_open())
            });
            let taken = sink.take(self.piece, &self.rx_regions.map, cx);
            if let (Some(before), Some(tap)) = (before, &mut self.tap) {
                tap.see(self.piece, before, taken, cx);
            }
            match taken {
                Taken::Whole => {
                    let stamps = source.view().is_some_and(QueueView::wants_stamps);
                    let time = cx.time(stamps);
                    source.done(self.piece, time, &mut cx.copier);
                    packets += 1;
                }
                Taken::Full => {
                    source.pause(self.piece);
                    return Step::Stalled(packets);
                }
                Taken::Unmapped(key) => {
                    source.pause(self.piece);
                    if self.rx_regions.exists(key) {
                        return Step::Unmapped(false, key);
                    }
                    sink.fail_unmapped(Status::BadRegion, cx);
                }
            }
        }
        Step::More(packets)
    }

    /// The open packet ends with an EEP, now or when there is room.
    #[cold]
    fn cut<D: Sink, H: Host>(&mut self, sink: &mut D, cx: &mut Cx<'_, '_, H>) {
        sink.cut(cx);
        if !sink.is_cut()
            && let Some(tap) = &mut self.tap
        {
            tap.cut(cx);
        }
    }

    /// Ends a round of shared copies.
    #[inline(always)]
    fn settle<S: Source, D: Sink, H: Host>(&self, source: &S, sink: &D, cx: &mut Cx<'_, '_, H>) {
        if matches!(cx.copier, Copier::Alone) {
            return;
        }
        let ends = Ends {
            tx_map: &self.tx_regions.map,
            rx_map: &self.rx_regions.map,
            tx_domain: source.domain(),
            rx_domain: sink.domain(),
        };
        let host = &mut *cx.host;
        let dead = &self.shared.dead;
        let mut is_dead = |id: u32| {
            let dead = dead.load(Ordering::Acquire);
            dead != 0 && (id == 0 || id == dead || host.is_dead(id))
        };
        cx.copier.settle(&ends, source.view(), sink.view(), &mut is_dead);
    }
}
