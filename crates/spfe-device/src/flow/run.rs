//! The general path of a step: piece by piece from a source to a sink.

use crate::memory::Regions;
use crate::observer::ObservedFlow;
use crate::pace::BOOKED_MAX_NS;
use crate::piece::Piece;
use crate::queue::{Host, QueueView};
use crate::rdma::{RdmaChannel, RdmaSource};
use crate::shared::FlowShared;
use crate::step::{
    AHEAD_NS, Accepted, NextPiece, PieceSink, PieceSource, StepContext, StepOutcome,
};
use spfe_contract::Status;
use spfe_ring::sync::{Ordering, light_fence};

/// Number of times that a stalled step looks again for new room.
const LOOKS: u32 = 64;

pub(super) struct GeneralStep<'a> {
    pub(super) shared: &'a FlowShared,
    /// Others set the mark of a stalled flow as well (`Flow::is_marked`).
    pub(super) is_marked: bool,
    pub(super) tx_regions: &'a Regions,
    pub(super) rx_regions: &'a Regions,
    pub(super) piece: &'a mut Piece,
    pub(super) observer: Option<&'a mut ObservedFlow>,
    /// The queue pair whose lock two ends of RDMA need to hand packets over.
    pub(super) gate: Option<&'a RdmaChannel>,
    pub(super) budget: u32,
    /// Bytes left to copy ([`StepLimits::bytes`](crate::step::StepLimits)).
    pub(super) bytes: u64,
}

impl GeneralStep<'_> {
    #[inline(always)]
    pub(super) fn go<S: PieceSource, D: PieceSink, H: Host>(
        mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut StepContext<'_, H>,
    ) -> StepOutcome {
        let mut step = self.pieces(source, sink, cx);
        sink.publish(cx);
        if self.budget != 0 {
            if let StepOutcome::Stalled(packets) = step {
                step = self.stall(source, sink, cx, packets);
            } else {
                self.clear_mark();
            }
        }
        source.flush_step(cx.host);
        sink.flush_step(cx.host);
        step
    }

    /// Takes away the mark of a stalled flow, unless it may be that of somebody else.
    #[inline(always)]
    pub(super) fn clear_mark(&self) {
        if self.shared.stalled.load(Ordering::Relaxed) != 0 && !self.is_marked {
            self.shared.stalled.store(0, Ordering::Release);
        }
    }

    /// Marks the flow as stalled, and looks for room again: a receiver that posted before it could
    /// see the mark will not run the engine.
    #[cold]
    fn stall<S: PieceSource, D: PieceSink, H: Host>(
        &mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut StepContext<'_, H>,
        mut packets: u32,
    ) -> StepOutcome {
        // The bound is for a host that posts bad entries as fast as they are refused.
        for _ in 0..LOOKS {
            self.shared.stalled.store(1, Ordering::Release);
            sink.mark_full();
            // Pairs with the heavy fence of a receiver that falls asleep: either it sees the mark,
            // or this step sees its room.
            light_fence();
            if !sink.has_room() {
                break;
            }
            let step = self.pieces(source, sink, cx);
            sink.publish(cx);
            packets += step.packets();
            match step {
                StepOutcome::Stalled(_) => {}
                StepOutcome::Unmapped(..) | StepOutcome::Stale => return step,
                _ => {
                    self.clear_mark();
                    return step.with(packets);
                }
            }
        }
        StepOutcome::Stalled(packets)
    }

    /// A step of a queue pair without a receiver: its timers run.
    pub(super) fn only_send<H: Host>(
        self,
        source: &mut RdmaSource,
        cx: &mut StepContext<'_, H>,
    ) -> StepOutcome {
        let map = &self.tx_regions.map;
        let step = match source.wait(map) {
            NextPiece::Unmapped(key) if self.tx_regions.exists(key) => {
                return StepOutcome::Unmapped(true, key);
            }
            NextPiece::Unmapped(_) => {
                source.fail_unmapped(self.piece, Status::BadRegion);
                StepOutcome::More(0)
            }
            NextPiece::At(ns) => StepOutcome::Until(ns, 0),
            NextPiece::Ready => {
                self.shared.stalled.store(1, Ordering::Release);
                StepOutcome::Stalled(0)
            }
            NextPiece::Idle | NextPiece::Failed { .. } => StepOutcome::Idle(0),
        };
        source.flush_step(cx.host);
        step
    }

    /// A step without a sender. The last packet of the former sender may still need its EEP.
    pub(super) fn only_cut<D: PieceSink, H: Host>(
        mut self,
        sink: &mut D,
        cx: &mut StepContext<'_, H>,
    ) -> StepOutcome {
        for _ in 0..LOOKS {
            if !sink.is_cut() {
                break;
            }
            self.cut(sink, cx);
            sink.publish(cx);
            let waits = sink.is_cut();
            self.shared.stalled.store(u32::from(waits), Ordering::Release);
            light_fence();
            if waits && !sink.has_room() {
                return StepOutcome::Stalled(0);
            }
            sink.flush_step(cx.host);
        }
        StepOutcome::Idle(0)
    }

    #[inline(always)]
    fn pieces<S: PieceSource, D: PieceSink, H: Host>(
        &mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut StepContext<'_, H>,
    ) -> StepOutcome {
        let mut packets = 0;
        if sink.is_cut() {
            self.cut(sink, cx);
            if sink.is_cut() {
                return StepOutcome::Stalled(0);
            }
        }
        for _ in 0..self.budget {
            if self.bytes == 0 {
                break;
            }
            if let Some(pacer) = cx.pacer
                && (S::ENDLESS || pacer.limited)
            {
                let ahead = if S::ENDLESS { AHEAD_NS } else { BOOKED_MAX_NS };
                if let Some(at) = pacer.full_until(cx.now(), ahead) {
                    return StepOutcome::Until(at, packets);
                }
            }
            let map = &self.tx_regions.map;
            match source.next(map, self.piece) {
                NextPiece::Ready => {}
                NextPiece::Idle => return StepOutcome::Idle(packets),
                NextPiece::At(ns) => return StepOutcome::Until(ns, packets),
                NextPiece::Failed { cut } => {
                    if cut {
                        self.cut(sink, cx);
                    }
                    continue;
                }
                NextPiece::Unmapped(key) => {
                    if self.tx_regions.exists(key) {
                        return StepOutcome::Unmapped(true, key);
                    }
                    if source.fail_unmapped(self.piece, Status::BadRegion) {
                        self.cut(sink, cx);
                    }
                    continue;
                }
            }
            let before = self.observer.is_some().then(|| {
                // It continues a paused piece or an open packet.
                (self.piece.done, self.piece.done != 0 || sink.is_open())
            });
            let start = self.piece.done;
            let is_part = self.piece.limit(self.bytes);
            let taken = sink.take(self.piece, &self.rx_regions.map, cx);
            self.bytes -= u64::from(self.piece.done - start);
            if let (Some(before), Some(observer)) = (before, &mut self.observer) {
                observer.see(self.piece, before, taken, cx);
            }
            match taken {
                Accepted::Whole if is_part => source.pause(self.piece),
                Accepted::Whole => {
                    let stamps = source.view().is_some_and(QueueView::wants_stamps);
                    let time = cx.time(stamps);
                    source.done(self.piece, time);
                    packets += 1;
                }
                Accepted::Full => {
                    source.pause(self.piece);
                    source.count_stall();
                    return StepOutcome::Stalled(packets);
                }
                Accepted::Unmapped(key) => {
                    source.pause(self.piece);
                    if self.rx_regions.exists(key) {
                        return StepOutcome::Unmapped(false, key);
                    }
                    sink.fail_unmapped(Status::BadRegion, cx);
                }
            }
        }
        StepOutcome::More(packets)
    }

    /// Ends the open packet with EEP, now or as soon as there is room.
    #[cold]
    fn cut<D: PieceSink, H: Host>(&mut self, sink: &mut D, cx: &mut StepContext<'_, H>) {
        sink.cut(cx);
        if !sink.is_cut()
            && let Some(observer) = &mut self.observer
        {
            observer.cut(cx);
        }
    }
}
