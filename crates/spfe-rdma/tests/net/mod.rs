//! A network between an initiator and a target, in virtual time.
#![allow(dead_code)] // each test uses its part

use fastrand::Rng;
use spfe_proto::PacketEnd;
use spfe_rdma::initiator::NoMemory;
use spfe_rdma::{LocalMemory, RdmaInitiator, RdmaTarget};
use std::collections::BTreeMap;

/// Time that a packet takes, ns.
const FLIGHT_NS: u64 = 2_000;

/// How many of 1000 packets suffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    pub drop: u32,
    pub repeat: u32,
    pub delay: u32,
    /// One to three bits change.
    pub damage: u32,
    /// The packet ends early, with EEP or EOP, or continues.
    pub cut: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    Target,
    Initiator,
}

pub struct Net {
    pub now_ns: u64,
    rng: Rng,
    faults: Faults,
    sent: u64,
    packets: BTreeMap<(u64, u64), (To, Vec<u8>, PacketEnd)>,
    /// Nothing arrives at this side.
    pub deaf: Option<To>,
}

impl Net {
    pub fn new(seed: u64, faults: Faults) -> Self {
        let rng = Rng::with_seed(seed);
        Self { now_ns: 1, rng, faults, sent: 0, packets: BTreeMap::new(), deaf: None }
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    fn hit(&mut self, of_1000: u32) -> bool {
        of_1000 > 0 && self.rng.u32(..1000) < of_1000
    }

    pub fn send(&mut self, to: To, packet: &[u8]) {
        if self.hit(self.faults.drop) || self.deaf == Some(to) {
            return;
        }
        let copies = 1 + u32::from(self.hit(self.faults.repeat));
        for _ in 0..copies {
            let (mut packet, mut end) = (packet.to_vec(), PacketEnd::Eop);
            let mut at = self.now_ns + FLIGHT_NS;
            if self.hit(self.faults.delay) {
                at += self.rng.u64(1..60_000);
            }
            if self.hit(self.faults.damage) {
                for _ in 0..self.rng.u32(1..=3) {
                    let bit = self.rng.usize(..packet.len() * 8);
                    packet[bit / 8] ^= 1 << (bit % 8);
                }
            }
            if self.hit(self.faults.cut) {
                match self.rng.u32(..4) {
                    0 => packet.push(0),
                    kind => packet.truncate({
                        end = if kind == 1 { PacketEnd::Eop } else { PacketEnd::Eep };
                        self.rng.usize(1..packet.len())
                    }),
                }
            }
            self.sent += 1;
            self.packets.insert((at, self.sent), (to, packet, end));
        }
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
        match self.packets.first_key_value() {
            Some((&(at, _), _)) if at <= timer => {
                self.now_ns = self.now_ns.max(at);
                let (to, packet, end) = self.packets.pop_first().unwrap().1;
                match to {
                    To::Target => {
                        target.handle_with(&packet, end, 0, self.now_ns, program);
                    }
                    To::Initiator => {
                        initiator.handle(&packet, end, self.now_ns, memory);
                    }
                }
            }
            _ if timer != u64::MAX => self.now_ns = self.now_ns.max(timer),
            _ => {}
        }
    }
}
