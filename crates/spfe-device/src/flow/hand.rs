//! Steps between two ends of RDMA: requests that need no packets ([`crate::rdma::near`]), and packets
//! that are handed over (`rdma::direct`).

use super::run::GeneralStep;
use super::{Flow, RxEnd, TxEnd};
use crate::fast::LoopEnd;
use crate::queue::Host;
use crate::step::{
    AHEAD_NS, HandRoom, HandSink, HandSource, NextHanded, PieceSink, PieceSource, StepContext,
    StepOutcome,
};
use spfe_contract::Status;
use spfe_ring::sync::Ordering;

/// How handing over ended.
enum HandEnd {
    Step(StepOutcome),
    /// The next packet has to be sent.
    Packet,
}

impl<S: PieceSource, D: PieceSink> Flow<S, D> {
    /// Executes requests of a queue pair at once, on a link that takes no time. Returns their number,
    /// and whether the general path has to go on.
    #[inline(never)]
    pub(super) fn run_near<H: Host>(&mut self, host: &mut H, budget: u32) -> (u32, LoopEnd) {
        let none = (0, LoopEnd::General);
        if budget != 0 && self.is_marked() && self.shared.stalled.load(Ordering::Relaxed) != 0 {
            // The lock of the queue pair orders this before the look that follows.
            self.shared.stalled.store(0, Ordering::Relaxed);
        }
        let (Some(gate), None, TxEnd::Rdma(source)) = (&self.gate, &self.pacer, &mut self.tx)
        else {
            return none;
        };
        let (map, far_map) = (&self.tx_regions.map, &self.rx_regions.map);
        let limits = (budget, self.limits);
        let _gate = gate.gate();
        match &mut self.rx {
            RxEnd::Rdma(sink) => source.near(map, sink, far_map, limits, host),
            RxEnd::Instrument(sink) => match sink.takes() {
                Some(sink) => source.near(map, sink, far_map, limits, host),
                None => none,
            },
            _ => none,
        }
    }
}

impl GeneralStep<'_> {
    /// A step between two ends of RDMA: hands packets over while it can, and sends what is left.
    pub(super) fn go_hand<S: PieceSource, D: PieceSink, H: Host>(
        mut self,
        source: &mut S,
        sink: &mut D,
        cx: &mut StepContext<'_, H>,
    ) -> StepOutcome {
        let Some(gate) = self.gate else { return self.go(source, sink, cx) };
        let mut packets = 0;
        let end = {
            let (Some(from), Some(to)) = (source.hands(), sink.takes()) else {
                return self.go(source, sink, cx);
            };
            let _gate = gate.gate();
            self.hand_over(from, to, &mut packets, cx)
        };
        let step = match end {
            HandEnd::Packet => {
                self.budget -= packets;
                return self.go(source, sink, cx).after(packets);
            }
            HandEnd::Step(StepOutcome::Unmapped(from_source, key)) => {
                let regions = if from_source { self.tx_regions } else { self.rx_regions };
                if regions.exists(key) {
                    return StepOutcome::Unmapped(from_source, key);
                }
                if from_source {
                    source.fail_unmapped(self.piece, Status::BadRegion);
                } else {
                    sink.fail_unmapped(Status::BadRegion, cx);
                }
                StepOutcome::More(packets)
            }
            HandEnd::Step(step) => step,
        };
        if self.budget != 0 {
            self.clear_mark();
        }
        source.flush_step(cx.host);
        sink.flush_step(cx.host);
        step
    }

    fn hand_over<H: Host>(
        &mut self,
        source: &mut impl HandSource,
        sink: &mut impl HandSink,
        packets: &mut u32,
        cx: &mut StepContext<'_, H>,
    ) -> HandEnd {
        while *packets < self.budget && self.bytes != 0 {
            if let Some(pacer) = cx.pacer
                && let Some(at) = pacer.full_until(cx.now(), AHEAD_NS)
            {
                return HandEnd::Step(StepOutcome::Until(at, *packets));
            }
            let rx_map = &self.rx_regions.map;
            match sink.hand_room(rx_map) {
                HandRoom::Free => {}
                HandRoom::Packet => return HandEnd::Packet,
                HandRoom::Unmapped(key) => {
                    return HandEnd::Step(StepOutcome::Unmapped(false, key));
                }
            }
            let next = source.hand(&self.tx_regions.map, &mut |header, payload| {
                sink.take_handed(header, payload, rx_map, cx);
            });
            match next {
                NextHanded::Handed(bytes) => {
                    self.bytes = self.bytes.saturating_sub(bytes.into());
                    *packets += 1;
                }
                NextHanded::Packet => return HandEnd::Packet,
                NextHanded::Idle => return HandEnd::Step(StepOutcome::Idle(*packets)),
                NextHanded::At(ns) => return HandEnd::Step(StepOutcome::Until(ns, *packets)),
                NextHanded::Unmapped(key) => {
                    return HandEnd::Step(StepOutcome::Unmapped(true, key));
                }
            }
        }
        HandEnd::Step(StepOutcome::More(*packets))
    }
}
