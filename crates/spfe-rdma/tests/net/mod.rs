//! A network between an initiator and a target, in virtual time.
#![allow(dead_code)] // each test uses its part

use spfe_proto::PacketEnd;
use spfe_rdma::initiator::NoMemory;
use spfe_rdma::{LocalMemory, RdmaInitiator, RdmaTarget};
use spfe_topology::hostile::{Hostile, HostilePacket, HostileStream};

/// Time that a packet takes, ns.
const FLIGHT_NS: u64 = 2_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    Target,
    Initiator,
}

pub struct Net {
    pub now_ns: u64,
    to_target: HostileStream,
    to_initiator: HostileStream,
    /// Nothing arrives at this side.
    pub deaf: Option<To>,
}

impl Net {
    pub fn new(seed: u64, faults: Hostile) -> Self {
        let direction =
            |number| HostileStream::new(Hostile { seed, ..faults }.of_direction(number));
        let (to_target, to_initiator) = (direction(0), direction(1));
        Self { now_ns: 1, to_target, to_initiator, deaf: None }
    }

    pub fn is_empty(&self) -> bool {
        self.to_target.is_empty() && self.to_initiator.is_empty()
    }

    fn direction(&mut self, to: To) -> &mut HostileStream {
        match to {
            To::Target => &mut self.to_target,
            To::Initiator => &mut self.to_initiator,
        }
    }

    pub fn send(&mut self, to: To, packet: &[u8]) {
        if self.deaf != Some(to) {
            let at = self.now_ns + FLIGHT_NS;
            let packet = HostilePacket { bytes: packet.to_vec(), eep: false };
            self.direction(to).put(packet, at);
        }
    }

    /// The side at which the next packet arrives, and when.
    fn next(&self) -> Option<(u64, To)> {
        let of = |stream: &HostileStream, to| Some((stream.next_ns()?, to));
        [of(&self.to_target, To::Target), of(&self.to_initiator, To::Initiator)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Sends what the two sides have to send, then moves on to the next packet or timer.
    pub fn exchange<M: LocalMemory>(
        &mut self,
        initiator: &mut RdmaInitiator,
        target: &mut RdmaTarget,
        memory: &mut M,
    ) {
        self.exchange_with(initiator, target, memory, &mut NoMemory);
    }

    /// The same for a target with regions of the program's memory.
    pub fn exchange_with<M: LocalMemory>(
        &mut self,
        initiator: &mut RdmaInitiator,
        target: &mut RdmaTarget,
        memory: &mut M,
        program: &mut dyn LocalMemory,
    ) {
        let mut packet = vec![0; initiator.packet_bytes_max()];
        while let Some(bytes) = initiator.transmit(self.now_ns, memory, &mut packet) {
            self.send(To::Target, &packet[..bytes]);
        }
        let mut response = Vec::new();
        while let Some(vc) = target.waiting_vc() {
            if target.respond_with(vc, program, &mut response).is_some() {
                self.send(To::Initiator, &response);
            }
        }
        let timer = initiator.wake_ns(self.now_ns);
        match self.next() {
            Some((at, to)) if at <= timer => {
                self.now_ns = self.now_ns.max(at);
                let Some(packet) = self.direction(to).take(at) else { return };
                let end = if packet.eep { PacketEnd::Eep } else { PacketEnd::Eop };
                match to {
                    To::Target => {
                        target.handle_with(&packet.bytes, end, 0, self.now_ns, program);
                    }
                    To::Initiator => {
                        initiator.handle(&packet.bytes, end, self.now_ns, memory);
                    }
                }
            }
            _ if timer != u64::MAX => self.now_ns = self.now_ns.max(timer),
            _ => {}
        }
    }
}
