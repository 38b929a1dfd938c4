//! The far end: a target of the model, behind a network that loses, repeats, reorders and damages
//! packets, and that puts in refusals of its own.

use crate::memory::SIZE;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, SfrpHeader, SfrpStatus};
use spfe_rdma::{RdmaTarget, RdmaTargetOptions, RemoteKey, TargetRegion};
use spfe_rtl_sim::once_in;

pub const TARGET: u8 = 0x42;
pub const ADDRESS: u8 = 0x67;
pub const OWN: u16 = 9;
pub const KEY: u32 = 2 << 12 | 0x5a1;
pub const REGION: u64 = SIZE;

/// Faults of the network: once in so many packets; 0: never.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub lost: u32,
    pub repeated: u32,
    pub damaged: u32,
    pub late: u32,
    /// Answers that ask for a repetition.
    pub transient: u32,
    /// Answers that end the queue pair, or mean nothing.
    pub fatal: u32,
    /// From this cycle on nothing arrives.
    pub dead_from: u64,
}

pub struct Far {
    pub target: RdmaTarget,
    faults: Faults,
    queue: u16,
    path: usize,
    reply: usize,
    buffers: u64,
    requests: Vec<(u64, Vec<u8>, PacketEnd)>,
    responses: Vec<(u64, Vec<u8>, PacketEnd)>,
}

fn happens(rng: &mut fastrand::Rng, once: u32) -> bool {
    once > 0 && once_in(rng, once)
}

impl Far {
    pub fn new(faults: Faults, queue: u16, path: usize, reply: usize) -> Self {
        let mut target = RdmaTarget::new(RdmaTargetOptions {
            logical_address: TARGET,
            ..RdmaTargetOptions::default()
        });
        let region = TargetRegion::new("data", REGION);
        assert!(target.regions_mut().add_at(RemoteKey(KEY), region));
        if queue != 0 {
            target.open_queue(queue).expect("is free");
        }
        let (requests, responses) = (Vec::new(), Vec::new());
        Self { target, faults, queue, path, reply, buffers: 0, requests, responses }
    }

    /// What the network makes of a packet: when and how it arrives.
    fn carry(
        faults: Faults,
        rng: &mut fastrand::Rng,
        cycle: u64,
        packet: Vec<u8>,
        to: &mut Vec<(u64, Vec<u8>, PacketEnd)>,
    ) {
        if happens(rng, faults.lost) || faults.dead_from != 0 && cycle >= faults.dead_from {
            return;
        }
        let last = to.iter().map(|(at, ..)| *at).max().unwrap_or(0);
        let late = happens(rng, faults.late);
        let at = if late { cycle + rng.u64(2000..8000) } else { last.max(cycle + rng.u64(1..40)) };
        if happens(rng, faults.repeated) {
            to.push((at + rng.u64(..3000), packet.clone(), PacketEnd::Eop));
        }
        let (mut packet, mut end) = (packet, PacketEnd::Eop);
        if happens(rng, faults.damaged) {
            match rng.u8(..4) {
                0 => end = PacketEnd::Eep,
                1 => packet.truncate(rng.usize(1..=packet.len())),
                2 => packet.extend([1, 2, 3]),
                _ => {
                    let at = rng.usize(..packet.len());
                    packet[at] ^= 1 << rng.u8(..8);
                }
            }
        }
        to.push((at, packet, end));
    }

    /// A packet leaves the initiator.
    pub fn send(&mut self, rng: &mut fastrand::Rng, cycle: u64, packet: &[u8]) {
        let packet = packet[self.path..].to_vec();
        Self::carry(self.faults, rng, cycle, packet, &mut self.requests);
    }

    /// Changes an answer now and then.
    fn change(&mut self, rng: &mut fastrand::Rng, response: Vec<u8>) -> Vec<u8> {
        let Ok(mut header) = SfrpHeader::parse(&response) else { return response };
        if !header.is_response() {
            return response;
        }
        let status = if happens(rng, self.faults.transient) {
            let all = [SfrpStatus::BUSY, SfrpStatus::RECEIVER_NOT_READY, SfrpStatus::PAYLOAD_CRC];
            rng.choice(all).expect("has some")
        } else if happens(rng, self.faults.fatal) {
            let all = [3, 5, 1, 13, 255, 16, 77].map(SfrpStatus);
            rng.choice(all).expect("has some")
        } else if happens(rng, self.faults.fatal) && header.opcode() == Some(Opcode::Read) {
            // Its end is told wrong.
            let payload = header.payload(&response, PacketEnd::Eop).map(<[u8]>::to_vec);
            header.flags = Flags(header.flags.0 ^ Flags::LAST.0);
            let mut out = vec![0; header.packet_bytes()];
            header.encode(&payload.unwrap_or_default(), &mut out).expect("fits");
            return out;
        } else {
            return response;
        };
        let mut refusal = header;
        (refusal.status, refusal.length) = (status.0, 0);
        refusal.flags = Flags::FIRST | Flags::LAST;
        refusal.address = if once_in(rng, 2) { 0 } else { 64 };
        refusal.immediate = match status {
            SfrpStatus::SEQUENCE => {
                u32::from(header.sequence.wrapping_add(rng.u16(..3)).wrapping_sub(1))
            }
            _ => rng.u32(..400),
        };
        let mut out = vec![0; refusal.packet_bytes()];
        refusal.encode(&[], &mut out).expect("fits");
        out
    }

    /// Runs the target.
    pub fn step(&mut self, rng: &mut fastrand::Rng, cycle: u64, now_ns: u64) {
        if self.queue != 0 && once_in(rng, 3000) {
            self.buffers += 1;
            let buffer = vec![0; 5000];
            self.target.post_receive(self.queue, self.buffers, buffer).expect("is open");
        }
        while let Some(index) = due(&self.requests, cycle) {
            let (_, packet, end) = self.requests.remove(index);
            self.target.handle(&packet, end, 0, now_ns);
        }
        while self.target.waiting_vc().is_some() {
            let mut out = Vec::new();
            let vc = self.target.waiting_vc().expect("is there");
            self.target.respond(vc, &mut out).expect("has a response");
            let response = self.change(rng, out[self.reply..].to_vec());
            Self::carry(self.faults, rng, cycle, response, &mut self.responses);
        }
        if self.queue != 0 {
            while self.target.received(self.queue).expect("is open").is_some() {}
        }
    }

    /// A packet for the initiator.
    pub fn receive(&mut self, cycle: u64) -> Option<(Vec<u8>, PacketEnd)> {
        let index = due(&self.responses, cycle)?;
        let (_, packet, end) = self.responses.remove(index);
        Some((packet, end))
    }
}

/// The packet that arrives first, if it has.
fn due(packets: &[(u64, Vec<u8>, PacketEnd)], cycle: u64) -> Option<usize> {
    let first = packets.iter().enumerate().min_by_key(|(_, (at, ..))| *at)?;
    (first.1.0 <= cycle).then_some(first.0)
}
