//! Packets that are handed over from one end of a flow to the other, in one copy from memory to memory.
//!
//! Both ends belong to this process, and nothing lies between them: no observer, no router, no fault.
//! Whatever cannot be handed over goes as a packet, and a packet that has begun ends as one. Link
//! time, counters, statuses and completions are those of the packet.

use super::ends::{Looked, RdmaSink, RdmaSource};
use super::memory::{Mapped, ServedMemory};
use super::{ChannelState, VC, Views};
use crate::memory::RegionMap;
use crate::queue::Host;
use crate::shared::count;
use crate::step::{HandRoom, HandSink, HandSource, NearFar, NextHanded, StepContext};
use spfe_proto::sfrp::{Opcode, SfrpHeader};
use spfe_rdma::direct::{Payload, Taker};
use spfe_rdma::initiator::InitiatorOutcome;
use spfe_rdma::near::NearTally;
use spfe_rdma::target::Handled;

impl ChannelState {
    /// Hands the next packet over. `None` if there is none now, or if it has to be sent.
    fn hand(
        &mut self,
        views: &Views,
        map: &RegionMap,
        now_ns: u64,
        take: Taker<'_>,
    ) -> Option<NextHanded> {
        let pair = self.pair.as_mut()?;
        if pair.target.ready_ns(VC).is_some_and(|ready| ready <= now_ns) {
            if !pair.target.is_near(VC) {
                return Some(NextHanded::Packet);
            }
            let served = ServedMemory(Mapped { map, domain: views.domain() });
            let bytes = pair.target.hand_response(VC, &served, take)?;
            return Some(NextHanded::Handed(bytes as u32));
        }
        let view = views.send.as_ref()?;
        if !pair.send.can_hand() {
            return Some(NextHanded::Packet);
        }
        let memory = Mapped { map, domain: view.config.domain as u16 };
        let bytes = pair.send.initiator.hand(now_ns, &memory, take)?;
        Some(NextHanded::Handed(bytes as u32))
    }

    /// Takes a packet that was handed over. False if it was refused or discarded.
    fn take_handed(
        &mut self,
        views: &Views,
        map: &RegionMap,
        header: &SfrpHeader,
        payload: Payload<'_>,
        now_ns: u64,
    ) -> bool {
        let Some(pair) = &mut self.pair else { return false };
        if !header.is_response() && header.opcode() != Some(Opcode::Credit) {
            let mut served = ServedMemory(Mapped { map, domain: views.domain() });
            let handled = pair.target.handle_direct(header, payload, VC, now_ns, &mut served);
            return matches!(handled, Handled::Executed(_) | Handled::Repeated(_));
        }
        let mut memory = Mapped { map, domain: views.domain() };
        match pair.send.initiator.handle_direct(header, payload, now_ns, &mut memory) {
            InitiatorOutcome::Taken => true,
            InitiatorOutcome::Stale | InitiatorOutcome::Invalid => false,
            InitiatorOutcome::Answer(number, answer) => {
                pair.send.answer(number, answer, &mut memory, &mut pair.keys);
                true
            }
        }
    }
}

impl HandSource for RdmaSource {
    fn hand(&mut self, map: &RegionMap, take: Taker<'_>) -> NextHanded {
        let out = self.parts().0.out();
        let looked = self.look(map, |state, views, now_ns| {
            if state.busy {
                return Some(NextHanded::Packet);
            }
            let next = state.hand(views, map, now_ns, take)?;
            if let NextHanded::Handed(bytes) = next {
                count(&out.tx_count, 1, bytes.into());
            }
            Some(next)
        });
        match looked {
            Looked::Found(next) => next,
            Looked::Idle => NextHanded::Idle,
            Looked::At(ns) => NextHanded::At(ns),
            Looked::Unmapped(key) => NextHanded::Unmapped(key),
        }
    }
}

impl HandSink for RdmaSink {
    fn hand_room(&mut self, map: &RegionMap) -> HandRoom {
        self.room(map)
    }

    fn lend(&mut self, work: impl FnOnce(NearFar<'_>) -> NearTally) -> NearTally {
        self.lend_target(work)
    }

    fn take_handed<H: Host>(
        &mut self,
        header: &SfrpHeader,
        payload: Payload<'_>,
        map: &RegionMap,
        cx: &mut StepContext<'_, H>,
    ) {
        cx.book(header.packet_bytes() as u32, true);
        self.finish_with(cx, |state, views, now_ns| {
            state.take_handed(views, map, header, payload, now_ns)
        });
    }
}
