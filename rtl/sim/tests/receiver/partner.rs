//! The partner: an initiator of the model with messages of all lengths, behind a network that
//! loses, repeats, reorders and damages packets, and among others that send what is wrong.

use spfe_contract::Status;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, ReplyPath, SfrpHeader};
use spfe_rdma::{
    Local, PairState, RdmaInitiator, RdmaInitiatorOptions, RdmaTargetOptions, WorkFlags, WorkKind,
    WorkRequest,
};
use spfe_rtl_sim::once_in;

pub const OWN: u16 = 9;
pub const ADDRESS: u8 = 0x42;
const PARTNER: u8 = 0x67;
const PARTNER_QUEUE: u16 = 7;
const CYCLE_NS: u64 = crate::CYCLE_NS;
/// Lengths of messages, at the edges of a word, a beat and a segment.
const LENGTHS: [u32; 13] = [0, 1, 3, 4, 5, 15, 16, 17, 2948, 4096, 4097, 8192, 10_007];

/// Faults of the network: once in so many packets; 0: never.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    lost: u32,
    repeated: u32,
    damaged: u32,
    late: u32,
    /// Packets of others, and wrong ones.
    noise: u32,
    /// Requests for memory, which end the queue pair.
    memory: u32,
}

/// A packet on its way, and when it arrives.
type Carried = (u64, Vec<u8>, PacketEnd);

pub struct Partner {
    model: RdmaInitiator,
    memory: Vec<Vec<u8>>,
    faults: Faults,
    reply: usize,
    left: usize,
    id: u64,
    requests: Vec<Carried>,
    responses: Vec<Carried>,
    /// Messages that have succeeded, and statuses of those that have not.
    pub sent: usize,
    pub errors: Vec<Status>,
}

fn happens(rng: &mut fastrand::Rng, once: u32) -> bool {
    once > 0 && once_in(rng, once)
}

impl Partner {
    pub fn new(rng: &mut fastrand::Rng, target: &RdmaTargetOptions) -> Self {
        let reply: Vec<u8> = (0..rng.usize(..9)).map(|_| rng.u8(1..32)).collect();
        let reply = if once_in(rng, 2) { reply } else { Vec::new() };
        let options = RdmaInitiatorOptions {
            target: ADDRESS,
            target_queue: OWN,
            reply_path: ReplyPath::new(&reply).expect("fits"),
            address: PARTNER,
            queue: PARTNER_QUEUE,
            segment_bytes: rng.choice([target.segment_bytes, 256]).expect("has some"),
            depth: 16,
            window: 16,
            timeout_ns: CYCLE_NS * rng.u64(4_000..9_000),
            retries: rng.u32(2..5),
            not_ready_retries: rng.u32(..8),
            ..RdmaInitiatorOptions::default()
        };
        let faults = match rng.u8(..4) {
            0 => Faults::default(),
            1 => Faults { lost: 40, repeated: 40, damaged: 40, late: 60, ..Faults::default() },
            2 => Faults { noise: 4, memory: 80, ..Faults::default() },
            _ => Faults { lost: 80, repeated: 20, damaged: 20, late: 40, noise: 10, memory: 120 },
        };
        Self {
            model: RdmaInitiator::with_seed(options, rng.u64(..)),
            memory: vec![(0..20_000).map(|_| rng.u8(..)).collect()],
            faults,
            reply: reply.len(),
            left: rng.usize(10..60),
            id: 0,
            requests: Vec::new(),
            responses: Vec::new(),
            sent: 0,
            errors: Vec::new(),
        }
    }

    fn carry(
        faults: Faults,
        rng: &mut fastrand::Rng,
        cycle: u64,
        mut packet: Vec<u8>,
        to: &mut Vec<Carried>,
    ) {
        if happens(rng, faults.lost) {
            return;
        }
        let last = to.iter().map(|(at, ..)| *at).max().unwrap_or(0);
        let late = happens(rng, faults.late);
        let at = if late { cycle + rng.u64(2000..8000) } else { last.max(cycle + rng.u64(1..40)) };
        if happens(rng, faults.repeated) {
            to.push((at + rng.u64(..3000), packet.clone(), PacketEnd::Eop));
        }
        let mut end = PacketEnd::Eop;
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

    /// The next work request.
    fn request(&mut self, rng: &mut fastrand::Rng) -> WorkRequest {
        let memory = happens(rng, self.faults.memory);
        let kind = match rng.u8(..4) {
            0 if memory => WorkKind::Write,
            1 if memory => WorkKind::Read,
            _ if memory => WorkKind::FetchAdd { add: 1 },
            _ if once_in(rng, 10) => WorkKind::Flush,
            _ => WorkKind::Send,
        };
        self.id += 1;
        let mut work = WorkRequest::new(self.id, kind);
        let length = match kind {
            WorkKind::Flush => 0,
            WorkKind::FetchAdd { .. } => 8,
            _ if once_in(rng, 2) => rng.choice(LENGTHS).expect("has some"),
            _ => rng.u32(..300),
        };
        if length > 0 {
            let offset = rng.u64(..8000);
            assert!(work.local.push(Local { memory: 0, offset, length }));
        }
        if memory {
            (work.key, work.address) = (rng.u32(..), rng.u64(..1000) * 8);
        }
        if matches!(kind, WorkKind::Write | WorkKind::Send) && once_in(rng, 3) {
            work.immediate = Some(rng.u32(..));
        }
        work.flags = WorkFlags { solicited: once_in(rng, 8), ..WorkFlags::default() };
        work.flags.signaled = true;
        work
    }

    /// A packet of somebody else, or a wrong one.
    fn noise(rng: &mut fastrand::Rng) -> Vec<u8> {
        let opcode = match rng.u8(..10) {
            0..=2 => Opcode::Info,
            3 => Opcode::Regions,
            4 => Opcode::Disconnect,
            5 => rng.choice([Opcode::Connect, Opcode::Credit, Opcode::Credit]).expect("has some"),
            _ => rng.choice([Opcode::Send, Opcode::Write, Opcode::Flush]).expect("has some"),
        };
        let own = once_in(rng, 2);
        let payload: Vec<u8> = match opcode {
            Opcode::Send | Opcode::Write => (0..rng.u8(1..90)).collect(),
            _ => Vec::new(),
        };
        let length = payload.len() as u32;
        let mut header = SfrpHeader {
            receiver: if once_in(rng, 8) { 0x43 } else { ADDRESS },
            sender: if own && opcode != Opcode::Disconnect { PARTNER } else { 0x70 },
            sender_queue: PARTNER_QUEUE,
            // Queue pair 0 has its own test.
            receiver_queue: if own && opcode != Opcode::Connect || once_in(rng, 16) {
                OWN
            } else {
                rng.u16(10..)
            },
            flags: Flags(
                Flags::ACK.0 | Flags::FIRST.0 | Flags::LAST.0 | rng.u8(..) & Flags::RETRY.0,
            ),
            request: rng.u32(..),
            key: rng.u32(..),
            length,
            address: u64::from(length) << 32,
            sequence: rng.u16(..),
            ..SfrpHeader::request(opcode)
        };
        if length > 0 {
            header.flags |= Flags::PAYLOAD_CRC;
        }
        match rng.u8(..16) {
            0 => header.version = 2,
            1 => header.protocol = 0xf1,
            2 => header.code = rng.choice([0, 12, 0x7f]).expect("has some"),
            _ => {}
        }
        if !matches!(header.code, 1 | 3) {
            (header.length, header.flags) = (0, Flags(header.flags.0 & !Flags::PAYLOAD_CRC.0));
        }
        let payload = if header.length == 0 { Vec::new() } else { payload };
        let mut out = vec![0; header.packet_bytes()];
        header.encode(&payload, &mut out).expect("fits");
        if once_in(rng, 10) {
            out.truncate(rng.usize(1..out.len()));
        }
        out
    }

    /// Posts, sends and repeats.
    pub fn step(&mut self, rng: &mut fastrand::Rng, cycle: u64, now_ns: u64) {
        if self.left > 0 && self.model.outstanding() < 8 && once_in(rng, 100) {
            if self.model.state() != PairState::Ready {
                self.model.connect();
            }
            for _ in 0..rng.usize(1..4) {
                let work = self.request(rng);
                self.model.post(work, &self.memory).expect("has room");
                self.left = self.left.saturating_sub(1);
            }
            self.model.ring();
        }
        if happens(rng, self.faults.noise * 200) {
            let packet = Self::noise(rng);
            Self::carry(Faults::default(), rng, cycle, packet, &mut self.requests);
        }
        let mut packet = vec![0; self.model.packet_bytes_max()];
        if self.requests.len() < 4
            && let Some(bytes) = self.model.transmit(now_ns, &self.memory, &mut packet)
        {
            packet.truncate(bytes);
            Self::carry(self.faults, rng, cycle, packet, &mut self.requests);
        }
        self.model.tick(now_ns);
        while let Some(index) = due(&self.responses, cycle) {
            let (_, packet, end) = self.responses.remove(index);
            self.model.handle(&packet, end, now_ns, &mut self.memory);
        }
        while let Some(done) = self.model.poll() {
            match done.result {
                Ok(()) => self.sent += 1,
                Err(error) => self.errors.push(error.status()),
            }
        }
    }

    /// A packet of the core has arrived.
    pub fn respond(&mut self, rng: &mut fastrand::Rng, cycle: u64, packet: &[u8]) {
        let packet = match packet.first() {
            Some(&PARTNER) => packet.to_vec(),
            // The noise has no reply path.
            _ if packet.get(self.reply) == Some(&PARTNER) => packet[self.reply..].to_vec(),
            _ => return,
        };
        Self::carry(self.faults, rng, cycle, packet, &mut self.responses);
    }

    /// A packet for the core.
    pub fn receive(&mut self, cycle: u64) -> Option<(Vec<u8>, PacketEnd)> {
        let index = due(&self.requests, cycle)?;
        let (_, packet, end) = self.requests.remove(index);
        Some((packet, end))
    }

    pub fn is_done(&self) -> bool {
        self.left == 0 && self.model.outstanding() == 0 && self.requests.is_empty()
    }

    pub fn why(&self, now_ns: u64) -> String {
        self.model.why_text(now_ns)
    }
}

/// The packet that arrives first, if it has.
fn due(packets: &[Carried], cycle: u64) -> Option<usize> {
    let first = packets.iter().enumerate().min_by_key(|(_, (at, ..))| *at)?;
    (first.1.0 <= cycle).then_some(first.0)
}
