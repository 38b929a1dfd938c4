//! A flow as one process runs it.
//!
//! [`Flow::step`] tries the fast path first (`fast`). What that leaves goes piece by piece from the
//! source to the sink (`run`), or is handed over between two ends of RDMA (`hand`), or meets the
//! hostile-network instrument on its way (`hostile`). `upkeep` has the work beside the steps: helping
//! with copies, wake-ups, resets and recovery.

mod hand;
mod hostile;
mod none;
mod run;
mod upkeep;

pub use hostile::HostileFlow;
pub use none::NoInstrument;

pub use crate::fast::SingleEnd;
pub use crate::memory::Regions;
pub use crate::piece::Piece;
pub use crate::step::{
    AHEAD_NS, Accepted, NextPiece, PieceSink, PieceSource, StepContext, StepLimits, StepOutcome,
};

use crate::distance::{self, Distance};
pub use crate::fast::SharePolicy;
use crate::fast::{self, PlanEnd, SharedCopies, SharedSender};
use crate::memory::{AccessRefusal, RegionKey};
use crate::observer::{DeliveryObserver, ObservedFlow};
use crate::pace::Pacer;
use crate::queue::{Host, bind_view};
use crate::rdma::{DeviceClock, RdmaChannel, RdmaSink, RdmaSource};
use crate::receive::{RxPacked, RxPosted};
use crate::shared::FlowShared;
use crate::transmit::TxQueue;
use run::GeneralStep;
use spfe_contract::QueueKind;
use spfe_ring::sync::{Ordering, light_fence};
use std::sync::Arc;

/// The sending end of a flow.
pub enum TxEnd<S> {
    /// No transmit queue is open.
    None,
    /// The transmit queue.
    Queue(TxQueue),
    /// A queue pair.
    Rdma(RdmaSource),
    /// An instrument.
    Instrument(S),
}

/// The receiving end of a flow.
pub enum RxEnd<D> {
    /// No receive queue is open, so the sender waits.
    None,
    /// Posted buffers.
    Posted(RxPosted),
    /// A packed area.
    Packed(RxPacked),
    /// A queue pair.
    Rdma(RdmaSink),
    /// An instrument.
    Instrument(D),
}

/// A flow as one process runs it. The caller holds the seat during every call but [`Flow::help`].
pub struct Flow<S, D> {
    shared: &'static FlowShared,
    epoch: u32,
    tx: TxEnd<S>,
    rx: RxEnd<D>,
    tx_regions: Regions,
    rx_regions: Regions,
    pacer: Option<Pacer<'static>>,
    piece: Piece,
    id: u32,
    share: Option<SharePolicy>,
    distance: Distance,
    timed: bool,
    /// State of the fast path, if the configuration allows it.
    plain: Option<fast::FastState>,
    /// State of its single packets, if the receiver has wide completions.
    wide: Option<fast::FastState>,
    single: fast::SinglePath,
    observer: Option<ObservedFlow>,
    limits: StepLimits,
    /// The queue pairs that may be at its ends.
    pairs: Option<FlowPairs>,
    /// The hostile-network instrument, and whether packets pass through it.
    hostile: Option<Arc<HostileFlow>>,
    through_hostile: bool,
    /// The gate for that, if the ends can do it now.
    gate: Option<Arc<RdmaChannel>>,
}

/// The queue pairs of the virtual channel at the two ends of a flow, open or not.
#[derive(Clone)]
pub struct FlowPairs {
    /// At the sending end.
    pub tx: Option<Arc<RdmaChannel>>,
    /// At the receiving end.
    pub rx: Option<Arc<RdmaChannel>>,
    /// Device time.
    pub clock: DeviceClock,
}

impl<S: PieceSource, D: PieceSink> Flow<S, D> {
    /// A runner of a flow. [`Flow::bind`] comes before the first step.
    ///
    /// The `'static` references are to shared memory that stays mapped while the runner lives. `id`
    /// is this participant; with `share` copies are shared with the far end.
    pub fn new(
        shared: &'static FlowShared,
        tx_regions: Regions,
        rx_regions: Regions,
        pacer: Option<Pacer<'static>>,
        id: u32,
        share: Option<SharePolicy>,
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
            id,
            share,
            distance: Distance::default(),
            timed: false,
            plain: None,
            wide: None,
            single: fast::SinglePath::new(shared),
            observer: None,
            limits: StepLimits::NONE,
            pairs: None,
            hostile: None,
            through_hostile: false,
            gate: None,
        }
    }

    /// Sets the queue pairs that may be at the ends, from the next [`Flow::bind`] on.
    pub fn set_pairs(&mut self, pairs: FlowPairs) {
        self.pairs = Some(pairs);
    }

    /// The shared state.
    pub fn shared(&self) -> &'static FlowShared {
        self.shared
    }

    /// The queue pair whose gate lets packets be handed over between the ends of the flow; `None` if
    /// they have to be sent.
    fn find_gate(&mut self) -> Option<Arc<RdmaChannel>> {
        if self.through_hostile || self.observer.is_some() {
            return None;
        }
        match (&mut self.tx, &mut self.rx) {
            (TxEnd::Rdma(tx), RxEnd::Rdma(rx)) => {
                let (from, to) = (tx.channel(), rx.channel());
                // Both directions of a link take the same gate.
                match Arc::as_ptr(from).cmp(&Arc::as_ptr(to)) {
                    std::cmp::Ordering::Less => Some(from.clone()),
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Greater => Some(to.clone()),
                }
            }
            (TxEnd::Rdma(tx), RxEnd::Instrument(rx)) => {
                rx.takes().is_some().then(|| tx.channel().clone())
            }
            (TxEnd::Instrument(tx), RxEnd::Rdma(rx)) => {
                tx.hands().is_some().then(|| rx.channel().clone())
            }
            _ => None,
        }
    }

    /// Gives every completion the time of its step. For flows with an exact link at one end.
    pub fn set_timed(&mut self) {
        self.timed = true;
    }

    /// Limits each step, from the next [`Flow::bind`] on.
    pub fn set_limits(&mut self, limits: StepLimits) {
        self.limits = limits;
    }

    /// Sets or removes the observer of delivered packets, from the next [`Flow::bind`] on.
    pub fn set_observer(&mut self, observer: Option<DeliveryObserver>) {
        self.observer = observer.map(ObservedFlow::new);
    }

    /// Puts an instrument at the sending end.
    pub fn set_source(&mut self, source: S) {
        self.tx = TxEnd::Instrument(source);
    }

    /// Puts an instrument at the receiving end.
    pub fn set_sink(&mut self, sink: D) {
        self.rx = RxEnd::Instrument(sink);
    }

    /// Reads the configuration, which the control plane may have changed. `Err` names a region to
    /// map first (true: a region of the sender); then call it again.
    pub fn bind(&mut self) -> Result<(), (bool, RegionKey)> {
        let epoch = self.shared.epoch();
        self.tx_regions.map.sync(self.tx_regions.table);
        self.rx_regions.map.sync(self.rx_regions.table);
        // SAFETY: the caller holds the seat.
        let (tx, rx) = unsafe { (*self.shared.tx_config.get(), *self.shared.rx_config.get()) };
        if !matches!(self.tx, TxEnd::Instrument(_)) {
            self.tx = TxEnd::None;
            if tx.kind == u32::from(QueueKind::Tx.raw())
                && let Some(view) = bind_view(tx, &self.tx_regions, true)?
            {
                self.tx = TxEnd::Queue(TxQueue::new(view, self.shared));
            } else if let Some(FlowPairs { tx: Some(channel), clock, .. }) = &self.pairs
                && let Some(source) = RdmaSource::bind(channel, clock, &self.tx_regions)?
            {
                self.tx = TxEnd::Rdma(source);
            }
        }
        if !matches!(self.rx, RxEnd::Instrument(_)) {
            self.rx = RxEnd::None;
            let pair = match &self.pairs {
                Some(FlowPairs { rx: Some(channel), clock, .. }) => {
                    RdmaSink::bind(channel, clock, &self.rx_regions)?
                }
                _ => None,
            };
            let taken = pair.is_some() || rx.kind == 0;
            if let Some(sink) = pair {
                self.rx = RxEnd::Rdma(sink);
            }
            let view = if taken { None } else { bind_view(rx, &self.rx_regions, false)? };
            match (view, QueueKind::from_raw(rx.kind as u8)) {
                (Some(view), Some(QueueKind::Rx)) => {
                    self.rx = RxEnd::Posted(RxPosted::new(view, self.shared));
                }
                (Some(view), Some(QueueKind::RxPacked)) => {
                    let map = &self.rx_regions.map;
                    match RxPacked::new(view, self.shared, map) {
                        Ok(packed) => self.rx = RxEnd::Packed(packed),
                        Err(AccessRefusal::Unmapped(key)) if self.rx_regions.exists(key) => {
                            return Err((false, key));
                        }
                        Err(_) => {}
                    }
                }
                _ => {}
            }
        }
        self.through_hostile = self.is_hostile();
        let alone = self.pacer.is_none() && self.observer.is_none() && !self.through_hostile;
        let most = self.limits.fast_packet;
        self.plain = match (&self.tx, &self.rx) {
            _ if !alone => None,
            (TxEnd::Queue(tx), RxEnd::Posted(rx)) => {
                rx.view().and_then(|view| fast::FastState::posted(&tx.view, view, most))
            }
            (TxEnd::Queue(tx), RxEnd::Packed(rx)) => {
                rx.view().and_then(|view| fast::FastState::packed(&tx.view, view, most))
            }
            _ => None,
        };
        self.wide = match (&self.tx, &self.rx) {
            (TxEnd::Queue(tx), RxEnd::Posted(rx)) if alone => {
                rx.view().and_then(|view| fast::FastState::wide(&tx.view, view, most))
            }
            _ => None,
        };
        self.single.reset();
        self.gate = self.find_gate();
        self.epoch = epoch;
        Ok(())
    }

    /// Moves at most `budget` pieces, within the limits.
    #[inline]
    pub fn step<H: Host>(&mut self, host: &mut H, budget: u32) -> StepOutcome {
        if self.shared.epoch() != self.epoch {
            return StepOutcome::Stale;
        }
        let mut before = 0;
        loop {
            let (fast, step) = self.step_fast(host, budget - before);
            before += fast;
            if let Some(step) = step {
                return step.with(before);
            }
            // The general path copies alone, so it gets no more than it needs.
            let shares = self.shares();
            let general = if shares { 1.min(budget - before) } else { budget - before };
            let step = self.step_general(host, general).after(before);
            before = step.packets();
            if !shares || !matches!(step, StepOutcome::More(_)) || before >= budget {
                return step;
            }
        }
    }

    /// Whether others mark the flow as well: a packet to a queue pair lets it send more. Each step
    /// takes such a mark away before it looks ([`Flow::run_near`]), because one that comes later tells
    /// of something that it has not seen.
    fn is_marked(&self) -> bool {
        matches!(self.tx, TxEnd::Rdma(_))
    }

    /// Whether packets may be shared with the far end.
    #[inline(always)]
    fn shares(&self) -> bool {
        self.share.is_some() && self.plain.is_some() && matches!(self.rx, RxEnd::Posted(_))
    }

    /// The jobs of the board, for this participant. `None` if this flow has none.
    fn copies(&self) -> Option<SharedCopies<'_>> {
        let fast = self.plain.as_ref().filter(|_| self.shares())?;
        Some(SharedCopies {
            board: &self.shared.board,
            fast,
            tx_regions: &self.tx_regions,
            rx_regions: &self.rx_regions,
            id: self.id,
        })
    }

    /// Moves packets together with the far end. `None` if the fast path is to go on alone: then
    /// nothing is pending. Otherwise the packets planned, and the outcome of the step unless the
    /// general path must go on.
    #[inline(never)]
    fn step_shared<H: Host>(
        &mut self,
        host: &mut H,
        budget: u32,
    ) -> Option<(u32, Option<StepOutcome>)> {
        let shared = self.shared;
        let policy = self.share?;
        let (Some(fast), TxEnd::Queue(tx), RxEnd::Posted(rx)) =
            (&self.plain, &mut self.tx, &mut self.rx)
        else {
            return None;
        };
        let (tx_regions, rx_regions) = (&self.tx_regions, &self.rx_regions);
        let copies =
            SharedCopies { board: &shared.board, fast, tx_regions, rx_regions, id: self.id };
        let idle = copies.board.pending() == 0 || copies.settle(|id| is_dead(shared, host, id));
        let mut sender = SharedSender { copies, tx, rx: rx.parts(), stalled: &shared.stalled };
        let distance = &mut self.distance;
        let mut is_near =
            || !policy.near || distance.is_near(|| distance::measure(shared, || host.now_ns()));
        if idle && (budget == 0 || !sender.is_worth_it(policy) || !is_near()) {
            return None;
        }
        let mut is_dead = |id: u32| is_dead(shared, host, id);
        let (packets, ended) = sender.run(budget, &mut is_dead);
        let outcome = match ended {
            PlanEnd::Missing((tx, key)) => Some(StepOutcome::Unmapped(tx, key)),
            PlanEnd::Stalled => Some(StepOutcome::Stalled(packets)),
            PlanEnd::Loop(fast::LoopEnd::Budget) => Some(StepOutcome::More(packets)),
            PlanEnd::Loop(fast::LoopEnd::Idle) => Some(StepOutcome::Idle(packets)),
            // The other paths publish at once, so everything before must be published.
            PlanEnd::Loop(_) => match copies.drain(fast::DRAIN_TURNS, &mut is_dead) {
                Ok(true) => None,
                Ok(false) => {
                    sender.wait();
                    Some(StepOutcome::Stalled(packets))
                }
                Err((tx, key)) => Some(StepOutcome::Unmapped(tx, key)),
            },
        };
        self.single.reset();
        let stalls = matches!(outcome, Some(StepOutcome::Stalled(_)));
        if stalls && !shared.board.is_sound() {
            self.break_board(host);
            return Some((packets, Some(StepOutcome::More(packets))));
        }
        if !stalls && budget != 0 && shared.stalled.load(Ordering::Relaxed) != 0 {
            shared.stalled.store(0, Ordering::Release);
        }
        if self.is_awaited() {
            self.wake(host);
        }
        Some((packets, outcome))
    }

    /// Runs the fast path. Returns the packets moved and, unless the general path must go on, the
    /// outcome of the step.
    #[inline(always)]
    fn step_fast<H: Host>(&mut self, host: &mut H, budget: u32) -> (u32, Option<StepOutcome>) {
        if self.share.is_some()
            && let Some(step) = self.step_shared(host, budget)
        {
            return step;
        }
        let (mut packets, mut ended) = self.run_fast(host, budget, false);
        if ended == fast::LoopEnd::Burst {
            let more;
            (more, ended) = self.run_fast(host, budget - packets, true);
            packets += more;
        }
        if ended == fast::LoopEnd::General {
            return (packets, None);
        }
        // With a budget of 0 nothing was tried, so the mark stays.
        if self.shared.stalled.load(Ordering::Relaxed) != 0 && budget != 0 && !self.is_marked() {
            self.shared.stalled.store(0, Ordering::Release);
        }
        if packets != 0 && self.is_awaited() {
            self.wake(host);
        }
        match ended {
            fast::LoopEnd::Budget => (packets, Some(StepOutcome::More(packets))),
            _ => (packets, Some(StepOutcome::Idle(packets))),
        }
    }

    /// Runs the loops over DATA entries, or those over bursts; between queue pairs, the requests.
    #[inline(always)]
    fn run_fast<H: Host>(
        &mut self,
        host: &mut H,
        budget: u32,
        bursts: bool,
    ) -> (u32, fast::LoopEnd) {
        let (Some(fast), TxEnd::Queue(tx)) = (&self.plain, &mut self.tx) else {
            return self.run_near(host, budget);
        };
        let sender = fast::FastSender { tx, map: &self.tx_regions.map, fast };
        let map = &self.rx_regions.map;
        match &mut self.rx {
            RxEnd::Posted(rx) if bursts => rx.run_bursts(sender, map, budget),
            RxEnd::Posted(rx) => rx.run_fast(sender, map, budget),
            RxEnd::Packed(rx) if bursts => rx.run_bursts(sender, host, budget),
            RxEnd::Packed(rx) => rx.run_fast(sender, host, budget),
            _ => (0, fast::LoopEnd::General),
        }
    }

    /// Whether the host of either end is armed. The light fence pairs with the heavy fence in
    /// [`spfe_ring::AtomicHostLine::arm`].
    #[inline(always)]
    fn is_awaited(&self) -> bool {
        light_fence();
        // The fast path knows these ends only.
        let rx = match &self.rx {
            RxEnd::Posted(rx) => rx.view(),
            RxEnd::Packed(rx) => rx.view(),
            _ => None,
        };
        let (TxEnd::Queue(tx), Some(rx)) = (&self.tx, rx) else { return false };
        tx.view.host_line().is_armed() | rx.host_line().is_armed()
    }

    #[cold]
    #[inline(never)]
    fn wake<H: Host>(&mut self, host: &mut H) {
        self.wake_due(host);
    }

    /// Enters the seat as its owner, and moves the packet that was posted if it is a single plain
    /// one. Faster than [`Flow::sweep`]. It works once [`Flow::sweep`] has moved such a packet.
    #[inline(always)]
    pub fn move_single(&mut self, id: u32) -> SingleEnd {
        match self.single.run::<false>(id) {
            SingleEnd::Refused if self.single.is_ready::<true>() => self.single.run::<true>(id),
            end => end,
        }
    }

    /// Moves everything that the fast path can move. False if [`Flow::step`] has to go on.
    /// With `keep`, [`Flow::move_single`] may take the next packets.
    #[inline(always)]
    pub fn sweep<H: Host>(&mut self, host: &mut H, keep: bool) -> bool {
        if self.shared.epoch() != self.epoch {
            return false;
        }
        if keep && self.wide.is_some() {
            return self.sweep_wide(host);
        }
        let (packets, step) = self.step_fast(host, u32::MAX);
        if packets == 1
            && keep
            && !self.single.is_ready::<false>()
            && self.shared.board.pending() == 0
            && let (Some(fast), TxEnd::Queue(tx), RxEnd::Posted(rx)) =
                (&self.plain, &self.tx, &self.rx)
            && let Some(rx) = rx.view()
        {
            let most = self.share.map_or(u32::MAX, |share| share.packet.max(share.total) - 1);
            self.single.prepare(fast, (&tx.view, rx), self.epoch, most);
        }
        step.is_some_and(|step| !matches!(step, StepOutcome::Unmapped(..)))
    }

    /// Moves a single packet to a receiver with wide completions, if it is plain.
    #[inline(never)]
    fn sweep_wide<H: Host>(&mut self, host: &mut H) -> bool {
        if !self.single.is_ready::<true>()
            && let (Some(fast), TxEnd::Queue(tx), RxEnd::Posted(rx)) =
                (&self.wide, &mut self.tx, &mut self.rx)
        {
            let at = (tx.parts().1.at.submission, rx.parts().0.at.submission);
            let maps = (&*self.tx_regions.map, &*self.rx_regions.map);
            if fast.find_windows(maps, at)
                && let Some(rx) = rx.view()
            {
                self.single.prepare(fast, (&tx.view, rx), self.epoch, self.limits.fast_packet);
            }
        }
        match self.single.is_ready::<true>().then(|| self.single.packet::<true>()) {
            Some(SingleEnd::Moved) => true,
            Some(SingleEnd::Awaited) => {
                self.wake(host);
                true
            }
            _ => false,
        }
    }

    /// The general path, and the ends that it runs between.
    fn general(&mut self, budget: u32) -> (GeneralStep<'_>, &mut TxEnd<S>, &mut RxEnd<D>) {
        let step = GeneralStep {
            is_marked: self.is_marked(),
            shared: self.shared,
            tx_regions: &self.tx_regions,
            rx_regions: &self.rx_regions,
            piece: &mut self.piece,
            observer: self.observer.as_mut(),
            gate: self.gate.as_deref(),
            budget,
            bytes: self.limits.bytes,
        };
        (step, &mut self.tx, &mut self.rx)
    }

    /// Runs the general path.
    #[inline(never)]
    fn step_general<H: Host>(&mut self, host: &mut H, budget: u32) -> StepOutcome {
        if self.through_hostile {
            return self.step_hostile(host, budget);
        }
        let (pacer, timed) = (self.pacer, self.timed);
        let mut cx = StepContext { host, pacer, now_ns: 0, through_ns: 0, timed };
        if cx.pacer.is_some() {
            // Link time starts before the copy, because hardware sends while it reads.
            cx.now();
        }
        let shared = self.shared;
        let (run, tx, rx) = self.general(budget);
        match (tx, rx) {
            (TxEnd::Queue(tx), RxEnd::Posted(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::Packed(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::Instrument(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::Rdma(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Rdma(tx), RxEnd::Posted(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Rdma(tx), RxEnd::Packed(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Rdma(tx), RxEnd::Instrument(rx)) => run.go_hand(tx, rx, &mut cx),
            (TxEnd::Rdma(tx), RxEnd::Rdma(rx)) => run.go_hand(tx, rx, &mut cx),
            (TxEnd::Rdma(tx), RxEnd::None) => run.only_send(tx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Rdma(rx)) => run.go_hand(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Posted(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Packed(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Instrument(tx), RxEnd::Instrument(rx)) => run.go(tx, rx, &mut cx),
            (TxEnd::Queue(tx), RxEnd::None) => match tx.view.submissions.read(
                // SAFETY: the caller holds the seat.
                unsafe { (*shared.tx.get()).at.submission },
            ) {
                Some(_) => {
                    // A receiver that opens later has to fetch the packet.
                    shared.stalled.store(1, Ordering::Release);
                    StepOutcome::Stalled(0)
                }
                None => StepOutcome::Idle(0),
            },
            (TxEnd::Instrument(_), RxEnd::None) => StepOutcome::Stalled(0),
            (TxEnd::None, RxEnd::Posted(rx)) => run.only_cut(rx, &mut cx),
            (TxEnd::None, RxEnd::Packed(rx)) => run.only_cut(rx, &mut cx),
            (TxEnd::None, RxEnd::Rdma(rx)) => run.only_cut(rx, &mut cx),
            (TxEnd::None, RxEnd::None | RxEnd::Instrument(_)) => StepOutcome::Idle(0),
        }
    }
}

/// Whether a participant of a flow is known to be dead.
fn is_dead<H: Host>(shared: &FlowShared, host: &mut H, id: u32) -> bool {
    let dead = shared.dead.load(Ordering::Acquire);
    dead != 0 && (id == dead || host.is_dead(id))
}
