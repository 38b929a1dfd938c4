//! The RDMA target: requests as anybody on a network may send them.

use arbitrary::Arbitrary;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, SfrpHeader, crc};
use spfe_rdma::target::Handled;
use spfe_rdma::{RdmaTarget, RdmaTargetOptions, RegionRights, RemoteKey, TargetRegion};

/// Address of the region that may be written.
const BASE: u64 = 0x1000;

#[derive(Arbitrary, Debug)]
struct Input {
    notifications: u8,
    steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
enum Step {
    /// Any bytes.
    Raw {
        bytes: Vec<u8>,
        eep: bool,
    },
    /// An intact packet with likely values, so that it comes further.
    Packet {
        code: u8,
        flags: u8,
        queue: u8,
        key: u8,
        address: u16,
        high: u8,
        sequence: u8,
        length: u16,
        payload: Vec<u8>,
        /// A bit of the packet that changes; beyond the end none.
        damage: u16,
    },
    /// Takes some responses.
    Respond(u8),
    Post(u8),
    Revoke,
    Reset,
}

/// Bytes of the regions.
const BYTES: [u64; 3] = [8192, 8192, 64];

struct Bench {
    target: RdmaTarget,
    keys: [RemoteKey; 3],
    /// What the open region holds.
    content: Vec<u8>,
}

fn bench(notifications: u8) -> Bench {
    let notifications = usize::from(notifications % 4);
    let mut target =
        RdmaTarget::new(RdmaTargetOptions { notifications, ..RdmaTargetOptions::default() });
    let open = TargetRegion { base: BASE, ..TargetRegion::new("open", BYTES[0]) };
    let rights = RegionRights { write: false, atomic: false, read: true };
    let read = TargetRegion { rights, notify: true, ..TargetRegion::new("read", BYTES[1]) };
    let closed = TargetRegion { initiators: Some(vec![1]), ..TargetRegion::new("closed", BYTES[2]) };
    let regions = target.regions_mut();
    let keys = [open, read, closed].map(|region| regions.add(region, Some(1)).unwrap());
    target.open_queue(5).unwrap();
    Bench { target, keys, content: vec![0; BYTES[0] as usize] }
}

impl Bench {
    /// The bytes of the open region, in place, while it exists.
    fn open(&self) -> Option<&[u8]> {
        Some(&self.page()?[..self.content.len()])
    }

    /// The page that holds them.
    fn page(&self) -> Option<&[u8]> {
        let region = self.target.regions().get(self.keys[0])?;
        Some(region.memory.page(0)?.1)
    }

    /// Whatever comes, only the addressed bytes of the open region may change, and only by a packet
    /// that was executed.
    fn handle(&mut self, packet: &[u8], end: PacketEnd) {
        if self.target.is_full(0) {
            return;
        }
        let handled = self.target.handle(packet, end, 0, 0);
        let Some(after) = self.open().filter(|after| *after != self.content) else { return };
        assert!(matches!(handled, Handled::Executed(_)), "{handled:?}");
        let header = SfrpHeader::parse(packet).unwrap();
        let length = if header.opcode().unwrap().is_atomic() { 8 } else { header.length as usize };
        let start = (header.address - BASE) as usize;
        let (front, back) = (start, start + length);
        assert_eq!(self.content[..front], after[..front]);
        assert_eq!(self.content[back..], after[back..]);
        self.content = after.to_vec();
    }

    fn respond(&mut self, count: u8) {
        let mut out = Vec::new();
        for _ in 0..count {
            let Some(vc) = self.target.waiting_vc() else { return };
            self.target.respond(vc, &mut out).unwrap();
            let path = out.len().saturating_sub(40 + 4096 + 4);
            assert!(path <= 24);
            // A response is intact. Behind a path the header starts somewhere in its first bytes.
            let intact = (0..=24.min(out.len())).any(|path| {
                let packet = &out[path..];
                SfrpHeader::parse(packet)
                    .is_ok_and(|header| header.payload(packet, PacketEnd::Eop).is_ok())
            });
            assert!(intact, "{out:x?}");
        }
    }
}

crate::target!(|input: Input| {
    let mut bench = bench(input.notifications);
    for step in input.steps {
        match step {
            Step::Raw { mut bytes, eep } => {
                // The right CRC, if there is a header.
                let header = bytes.get(2).map_or(0, |units| usize::from(units & 15) * 8);
                if header >= 40 && bytes.len() >= header {
                    let crc = crc::header(&bytes[..header - 2]);
                    bytes[header - 2..header].copy_from_slice(&crc.to_be_bytes());
                }
                let end = if eep { PacketEnd::Eep } else { PacketEnd::Eop };
                bench.handle(&bytes, end);
            }
            Step::Packet {
                code,
                flags,
                queue,
                key,
                address,
                high,
                sequence,
                length,
                payload,
                damage,
            } => {
                let opcode = spfe_proto::sfrp::Opcode::ALL[usize::from(code) % 11];
                let mut header = SfrpHeader {
                    receiver: 0xfe,
                    flags: Flags(flags & !0x11),
                    sender_queue: u16::from(queue >> 4),
                    receiver_queue: if queue & 1 == 1 { 5 } else { 0 },
                    request: u32::from(sequence),
                    key: u32::from(key % 4) << 12 | 1,
                    address: u64::from(high) << 32 | u64::from(address),
                    sequence: u16::from(sequence % 8),
                    ..SfrpHeader::request(opcode)
                };
                header.length = match opcode.request_has_payload() {
                    true => payload.len() as u32,
                    false => length.into(),
                };
                header.flags |= Flags::PAYLOAD_CRC.when(header.payload_bytes() > 0);
                let mut packet = vec![0; header.packet_bytes()];
                header.encode(&payload, &mut packet).unwrap();
                if let Some(byte) = packet.get_mut(usize::from(damage) / 8) {
                    *byte ^= 1 << (damage % 8);
                }
                bench.handle(&packet, PacketEnd::Eop);
            }
            Step::Respond(count) => bench.respond(count),
            Step::Post(bytes) => {
                bench.target.post_receive(5, 1, vec![0; bytes.into()]).unwrap();
                while bench.target.received(5).unwrap().is_some() {}
            }
            Step::Revoke => {
                bench.target.regions_mut().revoke(bench.keys[0]);
            }
            Step::Reset => bench.target.reset(),
        }
        for key in &bench.keys[1..] {
            let memory = &bench.target.regions().get(*key).unwrap().memory;
            assert_eq!(memory.used_bytes(), 0, "a region without the right");
        }
        while bench.target.notification().is_some() {}
    }
    if let Some(page) = bench.page() {
        let behind = &page[bench.content.len()..];
        assert!(behind.iter().all(|byte| *byte == 0), "written behind the region");
    }
    bench.respond(u8::MAX);
});
