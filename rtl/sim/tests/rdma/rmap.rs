//! RMAP on the target: random commands beside the model, and entries that are taken back while a
//! command is under way.

use std::collections::VecDeque;

use spfe_link::word::k;
use spfe_proto::PacketEnd;
use spfe_proto::rmap::CommandHeader;
use spfe_proto::rmap::crc::crc;
use spfe_proto::rmap::target::TargetCounters;
use spfe_proto::sfrp::Opcode;
use spfe_rdma::Notification;
use spfe_rdma::config::RmapAddressing;
use spfe_rtl_sim::{Axi, Core, Packer, Unpacker, once_in, seeds};

use crate::{
    Bed, MEMORY, Outcome, Pins, REGIONS, Received, TARGET, TIME, VC, get_note, get_outcome,
    parameters, run, word,
};

/// Most bytes of a verified write.
pub const VERIFY_MAX: u32 = 4096;
/// Lengths around a word, a beat, a frame of a link and a store.
const LENGTHS: [u32; 16] = [0, 1, 2, 3, 4, 15, 16, 17, 31, 32, 2948, 4095, 4096, 4097, 5000, 8192];

/// Settings of the target.
#[derive(Clone, Copy, Default)]
pub struct Settings {
    /// Key that commands must have; without it any.
    pub key: Option<u8>,
    absolute: bool,
}

impl Settings {
    /// The settings that a seed stands for.
    pub fn new(seed: u64) -> Self {
        Self { key: (seed & 1 != 0).then_some(0x20), absolute: seed & 2 != 0 }
    }

    /// What an address means.
    pub fn addressing(self) -> RmapAddressing {
        if self.absolute { RmapAddressing::Absolute } else { RmapAddressing::Region }
    }

    /// Writes the inputs of the core.
    pub fn put(self, packer: &mut Packer) {
        packer.flag(self.absolute).put(self.key.unwrap_or(0).into(), 8).flag(self.key.is_none());
    }
}

/// A command with its check sequences.
fn encode(
    target: u8,
    instruction: u8,
    key: u8,
    reply: &[u8],
    rest: (u8, u16, u64, u32),
) -> Vec<u8> {
    let (initiator, transaction, address, length) = rest;
    let mut packet = vec![target, 1, instruction, key];
    packet.extend(reply);
    packet.push(initiator);
    packet.extend(transaction.to_be_bytes());
    packet.extend(&address.to_be_bytes()[3..]);
    packet.extend(&length.to_be_bytes()[1..]);
    packet.push(crc(&packet));
    packet
}

fn with_data(mut packet: Vec<u8>, data: &[u8]) -> Vec<u8> {
    packet.extend(data);
    packet.push(crc(data));
    packet
}

impl Bed {
    /// A random command, mostly one that can be executed.
    pub fn command(&mut self) -> Vec<u8> {
        let settings = self.rmap;
        let rng = &mut self.rng;
        let code = match rng.u8(..16) {
            0..=4 => 0b0011,
            5 => 0b0010,
            6..=8 => 0b0111,
            _ if once_in(rng, 12) => rng.u8(..16),
            _ => 0b1000 | rng.u8(..8) | u8::from(!once_in(rng, 5)),
        };
        let kind = if once_in(rng, 30) { rng.u8(..4) } else { 1 };
        let words = if once_in(rng, 2) { 0 } else { rng.u8(..4) };
        let instruction = kind << 6 | code << 2 | words;
        // Zeroes in front are padding, and nothing but zeroes is a path.
        let zeroes = if once_in(rng, 4) { rng.u8(..=4 * words) } else { rng.u8(..4) };
        let reply: Vec<u8> =
            (0..4 * words).map(|at| if at < zeroes { 0 } else { rng.u8(..32) }).collect();
        let fixed = code & 1 == 0;
        let (index, base, bytes, _) = REGIONS[rng.usize(..REGIONS.len())];
        let length = match rng.u8(..8) {
            0 if !fixed || once_in(rng, 16) => rng.choice(LENGTHS).expect("has some"),
            _ => rng.u32(..70),
        };
        let length = match code {
            0b0111 if !once_in(rng, 10) => 2 * rng.u32(..5),
            0b0111 => rng.u32(..12),
            _ if fixed => length,
            _ => length.min(bytes as u32),
        };
        let used = if fixed { length.min(1) } else { length };
        let offset = rng.u64(..=bytes.saturating_sub(used.into()));
        let mut address = if settings.absolute {
            base.wrapping_add(offset)
        } else {
            u64::from(index) << 32 | offset
        };
        if once_in(rng, 25) {
            address = rng
                .choice([!0, !7, bytes, address.wrapping_add(bytes), 5 << 32, 200 << 32])
                .expect("has");
        }
        let address = address & 0xff_ffff_ffff;
        // The whole field, and less data. A read of one address would really take so long.
        let reads_one = fixed && code & 0b1000 == 0;
        let announced = if once_in(rng, 40) && !reads_one { rng.u32(..1 << 24) } else { length };
        let target = if once_in(rng, 40) { rng.u8(..) } else { TARGET };
        let key = if once_in(rng, 30) { rng.u8(..) } else { settings.key.unwrap_or(7) };
        let rest = (0x60 + rng.u8(..5), rng.u16(..), address, announced);
        let packet = encode(target, instruction, key, &reply, rest);
        if code & 0b1000 == 0 && code != 0b0111 {
            return packet;
        }
        let data: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
        with_data(packet, &data)
    }

    /// Damages a command, with or without a header check that fits.
    pub fn damage_command(&mut self, packet: &mut Vec<u8>, end: &mut PacketEnd) {
        let rng = &mut self.rng;
        let header = 16 + usize::from(packet[2] & 3) * 4;
        match rng.u8(..9) {
            0 => packet.truncate(rng.usize(..=packet.len())),
            1 => {
                packet.truncate(rng.usize(..=packet.len()));
                *end = PacketEnd::Eep;
            }
            2 => {
                packet.extend((0..rng.usize(1..9)).map(|_| rng.u8(..)));
                *end = if once_in(rng, 2) { PacketEnd::Eep } else { PacketEnd::Eop };
            }
            3 => *end = PacketEnd::Eep,
            4 => {
                packet.truncate(header);
                *end = if once_in(rng, 2) { PacketEnd::Eep } else { PacketEnd::Eop };
            }
            5 => *packet.last_mut().expect("is not empty") ^= 1 << rng.u8(..8),
            6 => packet.truncate(header + rng.usize(..=packet.len() - header)),
            7 => {
                let at = rng.usize(..packet.len());
                // Not the protocol, which leads elsewhere.
                packet[at] ^= if at == 1 { 0 } else { 1 << rng.u8(..8) };
            }
            _ => {
                let at = rng.usize(2..header - 1);
                packet[at] ^= 1 << rng.u8(..8);
                let header = 16 + usize::from(packet[2] & 3) * 4;
                if packet.len() >= header {
                    packet[header - 1] = crc(&packet[..header - 1]);
                }
            }
        }
    }

    /// Gives a packet of RMAP to the model.
    pub fn expect_rmap(&mut self, packet: &[u8], end: PacketEnd) {
        let counters = |bed: &Self| *bed.model.rmap_counters().expect("has RMAP");
        let before = counters(self);
        let executed = self.model.handle(packet, end, VC, TIME);
        let (drop, status) = reason(&before, &counters(self));
        assert_eq!(executed, (drop, status) == (0, 0), "the model is not sure");
        self.counts[if drop != 0 { 3 } else { 2 * usize::from(status != 0) }] += 1;
        let code = executed.then(|| (false, packet[2]));
        self.handled.push_back((true, drop, status, code));
        let mut reply = Vec::new();
        if self.model.respond(VC, &mut reply).is_some() {
            self.responses.push_back((VC, reply));
        }
        if let (true, Ok(header)) = (executed, CommandHeader::parse(packet)) {
            self.expect_note(&header, packet[2]);
        }
    }

    /// Only entry 1 wants notifications. No address of 40 bits is in it.
    fn expect_note(&mut self, header: &CommandHeader, instruction: u8) {
        let modifies = instruction >> 2 & 15 == 0b0111;
        let length = if modifies { header.length / 2 } else { header.length };
        let inside = header.address & 0xffff_ffff <= REGIONS[1].2;
        if !self.rmap.absolute && header.address >> 32 == 1 && inside {
            let note = Notification {
                time_ns: TIME,
                initiator: header.initiator,
                queue: 0,
                opcode: Opcode::Info,
                region: Some(1),
                sequence: header.transaction,
                address: header.address,
                length,
                immediate: None,
                data: [0; 32],
            };
            self.notes.push_back((instruction, note));
        }
    }
}

/// Why the counters have changed: the reason to drop a packet, and the status.
fn reason(before: &TargetCounters, after: &TargetCounters) -> (u64, u64) {
    let dropped = |of: &TargetCounters| {
        [
            (of.early_eop_in_header, 2),
            (of.header_crc, 4),
            (of.reply_received, 7),
            (of.early_eep_in_header, 10),
            (of.eep_after_header, 11),
            (of.reserved_type, 12),
        ]
    };
    let refused = |of: &TargetCounters| {
        [
            (of.general_error, 1),
            (of.unused_type_or_code, 2),
            (of.invalid_key, 3),
            (of.invalid_data_crc, 4),
            (of.early_eop, 5),
            (of.too_much_data, 6),
            (of.eep, 7),
            (of.verify_buffer_overrun, 9),
            (of.not_authorised, 10),
            (of.rmw_data_length, 11),
            (of.invalid_logical_address, 12),
        ]
    };
    let changed = |before: &[(u64, u64)], after: &[(u64, u64)]| {
        before.iter().zip(after).find(|(one, other)| one.0 != other.0).map_or(0, |(one, _)| one.1)
    };
    (changed(&dropped(before), &dropped(after)), changed(&refused(before), &refused(after)))
}

#[test]
fn rmap_same_as_the_model() {
    // The fixed seeds have both kinds of addresses, with a key and without.
    for seed in seeds(2) {
        let [executed, _, refused, dropped] = run(seed, true, 4);
        println!("seed {seed}: {executed} executed, {refused} refused, {dropped} dropped");
        assert!(
            executed > 150 && refused > 50 && dropped > 30,
            "seed {seed}: {executed} executed, {refused} refused, {dropped} dropped"
        );
    }
}

/// What came out in a cycle.
struct Seen {
    fenced: bool,
    outcome: Option<Outcome>,
    reply: Option<(Vec<u8>, u8)>,
}

/// A core, its memory, and one packet for it.
struct Bench {
    core: Core,
    pins: Pins,
    memory: Vec<u8>,
    axi: Axi,
    rng: fastrand::Rng,
    to_send: VecDeque<spfe_link::Word>,
    received: Received,
}

impl Bench {
    fn new(packet: &[u8]) -> Self {
        let mut bench = Self::with(Pins::default());
        bench.send(packet);
        bench
    }

    /// A core with these inputs, after its reset.
    fn with(pins: Pins) -> Self {
        let mut bench = Self {
            core: Core::new("spfe_sim_rdma", &parameters(true), 1),
            pins,
            memory: vec![0x11; MEMORY],
            axi: Axi::default(),
            rng: fastrand::Rng::with_seed(1),
            to_send: VecDeque::new(),
            received: Received::default(),
        };
        for _ in 0..64 {
            bench.step(true);
        }
        bench
    }

    fn send(&mut self, packet: &[u8]) {
        self.send_with(packet, k::EOP);
    }

    /// Sends a packet with this marker at its end.
    fn send_with(&mut self, packet: &[u8], end: u8) {
        let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
        symbols.push((end, true));
        self.to_send = symbols.chunks(4).map(word).collect();
    }

    fn step(&mut self, listens: bool) -> Seen {
        let cycle = self.core.cycles();
        self.axi.drive(&mut self.memory, &mut self.rng);
        let word = self.to_send.front().copied();
        self.pins.put(cycle, &self.axi, word, listens, true);
        let mut bits = Unpacker::new(self.core.step(self.pins.packer.words()));
        let mut nowhere = Axi::default();
        let port = if cycle < 8 { &mut nowhere } else { &mut self.axi };
        port.take(&mut bits);
        let (_failed, fenced, handled) = (bits.flag(), bits.flag(), bits.flag());
        let outcome = get_outcome(&mut bits);
        bits.get(2);
        get_note(&mut bits);
        let (valid, vc, response) = (bits.flag(), bits.get(5) as u8, bits.word());
        if bits.flag() && cycle >= 8 {
            self.to_send.pop_front();
        }
        let taken = valid && listens && cycle >= 8;
        let reply = if taken { self.received.take(response, vc) } else { None };
        Seen {
            fenced,
            outcome: (handled && cycle >= 8).then_some(outcome),
            reply: reply.map(|(_, bytes, end)| (bytes, end)),
        }
    }

    /// Takes entry 0 back, and waits until nothing accesses its memory.
    fn take_back(&mut self, listens: bool) {
        self.pins.revoke = Some((0, true));
        self.step(listens);
        self.pins.revoke = Some((0, false));
        for _ in 0..4000 {
            if self.step(listens).fenced {
                self.pins.revoke = None;
                return;
            }
        }
        panic!("seed 1: the fence does not end");
    }

    /// Runs until the packet is handled and its reply sent.
    fn finish(&mut self) -> (Outcome, Option<(Vec<u8>, u8)>) {
        let (mut outcome, mut reply) = (None, None);
        for _ in 0..40_000 {
            let seen = self.step(true);
            outcome = outcome.or(seen.outcome);
            reply = reply.or(seen.reply);
            if let Some(outcome) = outcome {
                return (outcome, reply);
            }
        }
        panic!("seed 1: the packet does not end");
    }
}

/// An unverified write has begun to fill memory when its entry is taken back: nothing more is
/// written, although the rest of the data arrives, and the reply says 10.
#[test]
fn an_entry_is_taken_back_during_a_write() {
    let head = encode(TARGET, 0x6c, 0, &[], (0x60, 9, 0, 8192));
    let mut bench = Bench::new(&with_data(head, &[0x22; 8192]));
    // The first store is on its way to memory; the rest of the packet is not sent yet.
    let rest = bench.to_send.split_off(1100);
    for _ in 0..3000 {
        bench.step(true);
    }
    assert!(bench.memory[0x1000..0x2000].iter().all(|byte| *byte == 0x22), "seed 1: begun");
    bench.take_back(true);
    bench.to_send = rest;
    let (outcome, reply) = bench.finish();
    assert_eq!(outcome, (true, 0, 10, None), "seed 1");
    assert_eq!(reply.expect("has one").0[..7], [0x60, 1, 0x2c, 10, TARGET, 0, 9]);
    assert!(bench.memory[0x2000..0x3000].iter().all(|byte| *byte == 0x11), "seed 1: not more");
}

/// A verified write waits for its last bytes when its entry is taken back: nothing is written.
#[test]
fn an_entry_is_taken_back_before_a_verified_write() {
    let head = encode(TARGET, 0x7c, 0, &[], (0x60, 9, 0, 64));
    let mut bench = Bench::new(&with_data(head, &[0x22; 64]));
    let rest = bench.to_send.split_off(12);
    for _ in 0..100 {
        bench.step(true);
    }
    bench.take_back(true);
    bench.to_send = rest;
    assert_eq!(bench.finish().0, (true, 0, 10, None), "seed 1");
    assert!(bench.memory.iter().all(|byte| *byte == 0x11), "seed 1: nothing is written");
}

/// A read is answered to somebody who does not listen, and its entry is taken back: no more is read,
/// and the reply ends with EEP.
#[test]
fn an_entry_is_taken_back_during_a_read() {
    let mut bench = Bench::new(&encode(TARGET, 0x4c, 0, &[], (0x60, 9, 0, 8192)));
    for _ in 0..4000 {
        bench.step(false);
    }
    bench.take_back(false);
    bench.memory[0x1000..0x3000].fill(0x33);
    let (outcome, reply) = bench.finish();
    let (bytes, end) = reply.expect("has one");
    assert_eq!(bytes[..12], [0x60, 1, 0x0c, 0, TARGET, 0, 9, 0, 0, 0x20, 0, bytes[11]]);
    assert_eq!((outcome, end), ((true, 0, 10, None), k::EEP), "seed 1");
    assert!(bytes.len() > 4096 && !bytes.contains(&0x33), "seed 1: {} bytes", bytes.len());
}

/// A read with data that nobody asked for gets status 6, or 7 if its end is missing, too.
#[test]
fn a_read_has_no_data() {
    for (end, status) in [(k::EOP, 6), (k::EEP, 7)] {
        let mut bench = Bench::with(Pins::default());
        let mut packet = encode(TARGET, 0x4c, 0, &[], (0x60, 9, 0, 4));
        packet.extend([1, 2, 3]);
        bench.send_with(&packet, end);
        let (outcome, reply) = bench.finish();
        assert_eq!(outcome, (true, 0, status, None), "seed 1");
        let (bytes, end) = reply.expect("has one");
        assert_eq!(bytes[..8], [0x60, 1, 0x0c, status as u8, TARGET, 0, 9, 0], "seed 1");
        assert_eq!((bytes.len(), end), (13, k::EOP), "seed 1: no data");
    }
}

/// Commands and replies of the annex of the standard (A) and of our own (E, X), as in
/// `crates/spfe-proto/tests/rmap/vectors.rs`: address, memory before and after, command, reply.
const VECTORS: [(u64, &str, &str, &str, &str); 10] = [
    (
        0xa000_0000,
        "00000000000000000000000000000000",
        "0123456789ABCDEF1011121314151617",
        "FE016C0067000000A0000000000010 9F 0123456789ABCDEF1011121314151617 56",
        "67012C00FE0000ED",
    ),
    (
        0xa000_0000,
        "0123456789ABCDEF1011121314151617",
        "0123456789ABCDEF1011121314151617",
        "FE014C00670001 00A0000000 000010 C9",
        "67010C00FE0001 00 000010 6D 0123456789ABCDEF1011121314151617 56",
    ),
    (
        0xa000_0010,
        "00000000000000000000000000000000",
        "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF",
        "FE016E00 0099AABBCCDDEE00 67000200A0000010000010 7F A0A1A2A3A4A5A6A7A8A9AAABACADAEAF B4",
        "99AABBCCDDEE00 67012E00FE00021D",
    ),
    (
        0xa000_0010,
        "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF",
        "A0A1A2A3A4A5A6A7A8A9AAABACADAEAF",
        "FE014D00 99AABBCC 67000300A0000010000010 F7",
        "99AABBCC 67010D00FE000300000010 52 A0A1A2A3A4A5A6A7A8A9AAABACADAEAF B4",
    ),
    (
        0xa000_0010,
        "A0A1A2",
        "C099A2",
        "FE015C00670004 00A0000010 000006 9D C01802 F03C03 E3",
        "67011C00FE0004 00 000003 4F A0A1A2 D7",
    ),
    (
        0xa000_0010,
        "E099A2A3",
        "E71AA200",
        "FE015D00 00000088 67000500A0000010000008 C6 0702A000 0F83E0FF 1D",
        "88 67011D00FE000500000004 FF E099A2A3 7D",
    ),
    (
        0x4000_0000,
        "00000000",
        "DEADBEEF",
        "FE017C20670010 0040000000 000004 3C DEADBEEF 48",
        "67013C00FE001069",
    ),
    (
        0x4000_0000,
        "00000000",
        "00000000",
        "FE017C20670010 0040000000 000004 3C DEADBEEF 49",
        "67013C04FE00101A",
    ),
    (0, "", "", "FE016C00670012 0000000000 000000 0D 00", "67012C00FE001212"),
    (
        0x4000_0000,
        "DEADBEEF",
        "DEADBEEF",
        "FE015C20670013 0040000000 000008 3B 000000FF 0000000F E7",
        "67011C00FE001300000004 7E DEADBEEF 48",
    ),
];

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("is text"), 16);
    digits.chunks(2).map(|pair| byte(pair).expect("is hexadecimal")).collect()
}

#[test]
fn vectors() {
    const BUS: u64 = 0x1000;
    for (address, before, after, command, reply) in VECTORS {
        // Entry 0 ends 64 bytes behind the address, which lies at a fixed place on the bus.
        let window = Some((address + 64, BUS.wrapping_sub(address)));
        let mut bench = Bench::with(Pins { window, logical: Some(0xfe), ..Pins::default() });
        let at = BUS as usize;
        let (before, after) = (hex(before), hex(after));
        bench.memory[at..at + before.len()].copy_from_slice(&before);
        bench.send(&hex(command));
        let (_, found) = bench.finish();
        assert_eq!(found, Some((hex(reply), k::EOP)), "seed 1: reply to {command}");
        assert_eq!(bench.memory[at..at + after.len()], after, "seed 1: memory after {command}");
        assert_eq!(bench.memory[at + after.len()], 0x11, "seed 1: behind {command}");
    }
}
