//! Steps in which packets of RDMA are handed over ([`crate::rdma::direct`]).

use super::run::GeneralStep;
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
        if self.budget != 0 && self.shared.stalled.load(Ordering::Relaxed) != 0 {
            self.shared.stalled.store(0, Ordering::Release);
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
                    source.handed(bytes);
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
