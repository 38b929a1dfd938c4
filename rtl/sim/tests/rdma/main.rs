//! The target of RDMA beside the model `spfe_rdma::TargetNode`: the same packets of SFRP and RMAP, and
//! the same responses byte for byte, results, notifications and memory. Packets are damaged, cut,
//! repeated, out of sequence and wrong in every way that has a status.

mod rmap;

use std::collections::VecDeque;

use spfe_link::Word;
use spfe_link::word::k;
use spfe_proto::PacketEnd;
use spfe_proto::sfrp::{Flags, Opcode, ReplyPath, SfrpHeader};
use spfe_rdma::config::RmapFile;
use spfe_rdma::target::{Dropped, Handled};
use spfe_rdma::{
    Local, Notification, RegionRights, RemoteKey, TargetFile, TargetNode, TargetRegion,
};
use spfe_rtl_sim::{Axi, Core, Packer, Unpacker, once_in, seeds};

const PACKETS: usize = 2500;
const PACKETS_WITH_RMAP: usize = 600;
const MOST_CYCLES: u64 = 1_500_000;
const TARGET: u8 = 0x42;
const VC: u8 = 3;
const VCS: u32 = 8;
const TIME: u64 = 0x0123_4567_89ab_cdef;
const MEMORY: usize = 0x3_0000;
const NOTES: usize = 4;

/// A region: index, base, bytes, address on the bus.
const REGIONS: [(u32, u64, u64, u64); 7] = [
    (0, 0, 8192, 0x1000),
    (1, 0x1_0000_0000_0003, 5000, 0x4003),
    (2, 0x1800, 4096, 0x8000),
    (3, u64::MAX - 4095, 4096, 0xa00c),
    (4, 0x4000, 64, 0xc000),
    (6, 0x2800, 4096, 0x10_0000),
    (7, 0x4040, 3, 0xd001),
];
const GENERATION: u32 = 0x5a1;

fn region(index: u32, base: u64, bytes: u64) -> TargetRegion {
    let window = Local { memory: 0, offset: 0, length: bytes as u32 };
    let region = match index {
        // Nobody has its memory.
        6 => TargetRegion::of_program("broken", window),
        _ => TargetRegion::new("region", bytes),
    };
    let rights = |read, write, atomic| RegionRights { read, write, atomic };
    TargetRegion {
        base,
        rights: match index {
            2 => rights(true, false, false),
            3 => rights(false, true, false),
            4 => rights(false, false, true),
            _ => RegionRights::ALL,
        },
        initiators: (index == 3).then(|| vec![0x60, 0x62]),
        notify: index == 1,
        hidden: index == 4,
        ..region
    }
}

/// What became of a packet: of RMAP, why it was dropped, status, and unless it was either, whether
/// it was executed before, and its opcode or instruction.
type Outcome = (bool, u64, u64, Option<(bool, u8)>);

/// An initiator, as far as a sender of random packets has to know it.
#[derive(Clone, Copy)]
struct Initiator {
    address: u8,
    queue: u16,
    next: u16,
    /// Its sequence has ended or has a gap.
    refused: bool,
}

struct Bed {
    rng: fastrand::Rng,
    model: TargetNode,
    /// One of so many messages is of SFRP, the others are of RMAP; 0: all are of SFRP.
    sfrp_share: u32,
    rmap: rmap::Settings,
    /// Memory of the model's broken region: none.
    nothing: Vec<Vec<u8>>,
    initiators: Vec<Initiator>,
    /// Packets that were sent, for repetitions.
    sent: Vec<Vec<u8>>,
    request: u32,
    responses: VecDeque<(u8, Vec<u8>)>,
    handled: VecDeque<Outcome>,
    /// Opcode or instruction, and the rest.
    notes: VecDeque<(u8, Notification)>,
    counts: [usize; 4],
}

fn bed(seed: u64, has_rmap: bool, sfrp_share: u32) -> Bed {
    let mut rng = fastrand::Rng::with_seed(seed);
    let settings = rmap::Settings::new(seed);
    let rmap = RmapFile {
        key: settings.key,
        addressing: settings.addressing(),
        verify: Some(rmap::VERIFY_MAX),
    };
    let file = TargetFile {
        logical_address: TARGET,
        notifications: 64,
        vendor: 0x11,
        device: 0x22,
        serial: 0x33,
        rmap: has_rmap.then_some(rmap),
        regions: Vec::new(),
        ..TargetFile::of_size(1)
    };
    let mut model = TargetNode::new(&file).expect("is valid");
    model.target.set_vcs(VCS);
    for (index, base, bytes, _) in REGIONS {
        let key = RemoteKey::new(index, GENERATION).expect("is valid");
        assert!(model.target.regions_mut().add_at(key, region(index, base, bytes)));
    }
    // More than a target remembers.
    let initiators = (0..40)
        .map(|index| Initiator {
            address: 0x60 + index % 5,
            queue: index as u16 / 5,
            next: rng.u16(..),
            refused: false,
        })
        .collect();
    Bed {
        rng,
        model,
        sfrp_share,
        rmap: settings,
        nothing: Vec::new(),
        initiators,
        sent: Vec::new(),
        request: 0,
        responses: VecDeque::new(),
        handled: VecDeque::new(),
        notes: VecDeque::new(),
        counts: [0; 4],
    }
}

impl Bed {
    /// An address and a length, mostly inside a region.
    fn place(&mut self, header: &mut SfrpHeader) {
        let rng = &mut self.rng;
        let (index, base, bytes, _) = REGIONS[rng.usize(..REGIONS.len())];
        let generation = if once_in(rng, 60) { 1 } else { GENERATION };
        let index =
            if once_in(rng, 60) { rng.choice([5, 8, 0xf_ffff]).expect("has some") } else { index };
        header.key = index << 12 | generation;
        let most = if once_in(rng, 6) { 4096 } else { 70 };
        header.length = rng.u64(..=bytes.min(most)) as u32;
        header.address = base.wrapping_add(rng.u64(..=bytes - u64::from(header.length)));
        if once_in(rng, 40) {
            header.address =
                rng.choice([base.wrapping_sub(1), base + bytes / 2, !0, 0]).expect("has some");
            header.length = rng.choice([0, bytes as u32, u32::MAX]).expect("has some");
        }
    }

    fn request(&mut self, who: usize) -> SfrpHeader {
        let opcode = match self.rng.u8(..24) {
            0..=8 => Opcode::Write,
            9..=12 => Opcode::Read,
            13..=14 => Opcode::Send,
            15..=16 => Opcode::FetchAdd,
            17..=18 => Opcode::CompareSwap,
            19 => Opcode::Flush,
            20 => Opcode::Info,
            21 => Opcode::Regions,
            22 => Opcode::Connect,
            _ if once_in(&mut self.rng, 3) => Opcode::Disconnect,
            _ => Opcode::Connect,
        };
        // An initiator that was refused starts again, mostly.
        let refused = std::mem::take(&mut self.initiators[who].refused);
        let opcode = if refused && !once_in(&mut self.rng, 4) { Opcode::Connect } else { opcode };
        self.request += 1;
        let Initiator { address, queue, next, .. } = self.initiators[who];
        let path: Vec<u8> = match once_in(&mut self.rng, 3) {
            true => (0..self.rng.usize(..=24)).map(|_| self.rng.u8(1..32)).collect(),
            false => Vec::new(),
        };
        let status = if once_in(&mut self.rng, 2) { self.rng.u8(..) } else { 1 };
        let mut header = SfrpHeader {
            receiver: TARGET,
            sender: address,
            sender_queue: queue,
            request: self.request,
            sequence: next,
            flags: Flags::FIRST | Flags::LAST | Flags::ACK.when(!once_in(&mut self.rng, 4)),
            status,
            reply_path: ReplyPath::new(&path).expect("fits"),
            immediate: self.rng.u32(..),
            ..SfrpHeader::request(opcode)
        };
        header.flags |= Flags::SOLICITED.when(once_in(&mut self.rng, 8));
        header.flags |= Flags::IMMEDIATE.when(once_in(&mut self.rng, 8));
        self.place(&mut header);
        match opcode {
            Opcode::Read if header.length > 0 && once_in(&mut self.rng, 4) => {
                (header.key, header.address) = (GENERATION, self.rng.u64(..4000));
                header.length = self.rng.u32(..4192);
            }
            Opcode::Send => {
                header.length = self.rng.u32(..36);
                header.address = u64::from(header.length) << 32;
            }
            Opcode::FetchAdd => (header.length, header.address) = (8, header.address & !7),
            Opcode::CompareSwap => (header.length, header.address) = (16, header.address & !7),
            _ => {}
        }
        if opcode.is_atomic() && once_in(&mut self.rng, 20) {
            (header.length, header.address) = (self.rng.u32(..24), header.address + 1);
        }
        if opcode == Opcode::Connect {
            self.initiators[who].next = next.wrapping_add(1);
        }
        header
    }

    fn encode(&mut self, header: &SfrpHeader) -> Vec<u8> {
        let bytes = header.payload_bytes().min(6000);
        let mut header = *header;
        if header.payload_bytes() > 0 {
            header.length = if header.length > 8192 { header.length } else { bytes as u32 };
            header.flags |= Flags::PAYLOAD_CRC;
        }
        // Few values, so that an exchange finds what it expects now and then.
        let payload: Vec<u8> = (0..bytes).map(|_| self.rng.u8(..3)).collect();
        let whole = SfrpHeader { length: bytes as u32, ..header };
        if header.payload_bytes() > bytes {
            // Longer than any packet: only the header tells.
            let mut packet =
                vec![0; SfrpHeader { flags: Flags::NONE, length: 0, ..header }.packet_bytes()];
            let empty = SfrpHeader { length: 0, flags: header.flags, ..header };
            let _ = empty.encode(&[], &mut packet);
            return packet;
        }
        let mut packet =
            vec![0; if header.payload_bytes() > 0 { whole } else { header }.packet_bytes()];
        header.encode(&payload, &mut packet).expect("fits");
        packet
    }

    /// The next packets: a message, one of several packets, or a repetition.
    fn message(&mut self) -> Vec<Vec<u8>> {
        if once_in(&mut self.rng, 12) && !self.sent.is_empty() {
            let newest = self.sent.len() - 1;
            return vec![self.sent[newest - self.rng.usize(..self.sent.len().min(40))].clone()];
        }
        // Most packets are of a few initiators.
        let who =
            if once_in(&mut self.rng, 4) { self.rng.usize(..40) } else { self.rng.usize(..3) };
        let header = self.request(who);
        let opcode = header.opcode().expect("is known");
        let mut packets = Vec::new();
        if opcode == Opcode::Write
            && header.length >= 3
            && header.length < 6000
            && once_in(&mut self.rng, 2)
        {
            let cut = self.rng.u32(1..header.length);
            let first =
                SfrpHeader { length: cut, flags: Flags(header.flags.0 & !Flags::LAST.0), ..header };
            let second = SfrpHeader {
                length: header.length - cut,
                address: header.address.wrapping_add(cut.into()),
                flags: Flags(header.flags.0 & !Flags::FIRST.0),
                ..header
            };
            packets.extend([self.encode(&first), self.encode(&second)]);
            if once_in(&mut self.rng, 8) {
                packets.swap(0, 1);
            }
        } else {
            packets.push(self.encode(&header));
        }
        let lost = once_in(&mut self.rng, 30);
        if opcode.is_sequenced() && !once_in(&mut self.rng, 40) {
            self.initiators[who].next = header.sequence.wrapping_add(1);
        }
        if lost { Vec::new() } else { packets }
    }

    /// Damages a packet, with or without a header check that fits.
    fn damage(&mut self, packet: &mut Vec<u8>, end: &mut PacketEnd) {
        let rng = &mut self.rng;
        match rng.u8(..8) {
            0 => packet.truncate(rng.usize(..=packet.len())),
            1 => packet.extend((0..rng.usize(1..9)).map(|_| rng.u8(..))),
            2 => *end = PacketEnd::Eep,
            3 => *packet.last_mut().expect("is not empty") ^= 1 << rng.u8(..8),
            4 => {
                let at = rng.usize(..packet.len());
                packet[at] ^= 1 << rng.u8(..8);
            }
            _ => {
                let at = rng.usize(..40);
                packet[at] ^= 1 << rng.u8(..8);
                // The check of the header is right again.
                let bytes = usize::from(packet[2] & 15) * 8;
                if (40..=64).contains(&bytes) && packet.len() >= bytes {
                    let crc = crc16(&packet[..bytes - 2]);
                    packet[bytes - 2..bytes].copy_from_slice(&crc.to_be_bytes());
                }
            }
        }
    }

    /// Gives a packet to the model.
    fn expect(&mut self, packet: &[u8], end: PacketEnd) {
        if self.sfrp_share != 0 && packet.get(1) == Some(&1) {
            self.expect_rmap(packet, end);
            return;
        }
        let handled = self.model.target.handle_with(packet, end, VC, TIME, &mut self.nothing);
        self.counts[match handled {
            Handled::Executed(_) => 0,
            Handled::Repeated(_) => 1,
            Handled::Refused(_) => 2,
            _ => 3,
        }] += 1;
        if matches!(handled, Handled::Refused(_) | Handled::Dropped(Dropped::Drained))
            && let Ok(header) = SfrpHeader::parse(packet)
            && let Some(who) = self
                .initiators
                .iter_mut()
                .find(|who| (who.address, who.queue) == (header.sender, header.sender_queue))
        {
            who.refused = true;
        }
        self.handled.push_back(outcome(handled));
        while let Some(vc) = self.model.target.waiting_vc() {
            let mut out = Vec::new();
            self.model.target.respond_with(vc, &self.nothing, &mut out).expect("has a response");
            self.responses.push_back((vc, out));
        }
        while let Some(note) = self.model.target.notification() {
            self.notes.push_back((note.opcode as u8, note));
        }
    }

    /// The words of the next packets, with Fill at places where it may be.
    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        let of_rmap = self.sfrp_share != 0 && !once_in(&mut self.rng, self.sfrp_share);
        let packets = if of_rmap { vec![self.command()] } else { self.message() };
        for mut packet in packets {
            let mut end = PacketEnd::Eop;
            if of_rmap && once_in(&mut self.rng, 5) {
                self.damage_command(&mut packet, &mut end);
            } else if !of_rmap && once_in(&mut self.rng, 8) && packet.len() >= 40 {
                self.damage(&mut packet, &mut end);
            } else if !of_rmap {
                self.sent.push(packet.clone());
            }
            self.expect(&packet, end);
            let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
            symbols.push((if end == PacketEnd::Eop { k::EOP } else { k::EEP }, true));
            if once_in(&mut self.rng, 4) {
                for _ in 0..3 {
                    symbols.insert(self.rng.usize(..symbols.len()), (k::FILL, true));
                }
            }
            words.extend(symbols.chunks(4).map(word));
        }
        words
    }

    fn check_handled(&mut self, found: Outcome, at: &str) {
        let expected = self.handled.pop_front().unwrap_or_else(|| panic!("{at}: nothing was sent"));
        assert_eq!(found, expected, "{at}: what became of a packet");
    }

    fn check_memory(&self, memory: &[u8], at: &str) {
        for (index, _, bytes, bus) in REGIONS {
            let key = RemoteKey::new(index, GENERATION).expect("is valid");
            let region = self.model.target.regions().get(key).expect("is there");
            let Some(found) = memory.get(bus as usize..(bus + bytes) as usize) else { continue };
            let mut expected = vec![0; bytes as usize];
            region.memory.read(0, &mut expected).expect("is inside");
            let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
            assert_eq!(wrong, None, "{at}: region {index}");
        }
        let inside = |at: usize| {
            REGIONS.iter().any(|(_, _, bytes, bus)| (*bus..bus + bytes).contains(&(at as u64)))
        };
        let stray = memory.iter().enumerate().position(|(at, byte)| *byte != 0 && !inside(at));
        assert_eq!(stray, None, "{at}: a byte outside of all regions");
    }
}

/// What the core says of a packet.
fn outcome(handled: Handled) -> Outcome {
    let dropped = |reason: Dropped| match reason {
        Dropped::OtherProtocol => 1,
        Dropped::Header(spfe_proto::sfrp::SfrpHeaderError::Short { .. }) => 2,
        Dropped::Header(spfe_proto::sfrp::SfrpHeaderError::Length { .. }) => 3,
        Dropped::Header(spfe_proto::sfrp::SfrpHeaderError::Crc) => 4,
        Dropped::Header(spfe_proto::sfrp::SfrpHeaderError::Layout) => 5,
        Dropped::NotOurs => 6,
        Dropped::Drained => 8,
        Dropped::Forgotten => 9,
    };
    match handled {
        Handled::Executed(opcode) => (false, 0, 0, Some((false, opcode as u8))),
        Handled::Repeated(opcode) => (false, 0, 0, Some((true, opcode as u8))),
        Handled::Refused(status) => (false, 0, status.0.into(), None),
        Handled::Dropped(reason) => (false, dropped(reason), 0, None),
        Handled::ForInitiator => (false, 7, 0, None),
    }
}

fn word(symbols: &[(u8, bool)]) -> Word {
    let symbol = |index: usize| symbols.get(index).copied().unwrap_or((k::FILL, true));
    let flags = (0..4).map(|index| u8::from(symbol(index).1) << index).sum();
    Word::from_symbols(std::array::from_fn(|index| symbol(index).0), flags)
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 }
        })
    })
}

/// Inputs and outputs of the core beside those of the memory.
#[derive(Default)]
struct Pins {
    packer: Packer,
    set: usize,
    rmap: rmap::Settings,
    /// Index of a region to take back, and whether to do so now or to wait for the fence.
    revoke: Option<(u32, bool)>,
    /// Bytes and bus address of region 0, instead of its own.
    window: Option<(u64, u64)>,
    /// Logical address, instead of TARGET.
    logical: Option<u8>,
}

impl Pins {
    /// Applies a cycle; the region table is set in the first ones.
    fn put(&mut self, cycle: u64, axi: &Axi, word: Option<Word>, ready: bool, note_ready: bool) {
        self.packer.clear();
        axi.put(&mut self.packer);
        self.packer.flag(note_ready).flag(ready).flag(word.is_some());
        self.packer.word(word.unwrap_or_default());
        let sets = cycle >= 8 && self.set < REGIONS.len();
        let (index, base, bytes, bus) = REGIONS[self.set.min(REGIONS.len() - 1)];
        let (at, clears) = self.revoke.unwrap_or((index, false));
        self.packer.flag(self.revoke.is_some() && !clears).flag(sets || clears);
        self.packer.flag(!clears).put(at.into(), 3);
        let region = region(index, base, bytes);
        let listed = region.initiators.clone();
        for place in 0..4 {
            let list = listed.as_deref().unwrap_or(&[]);
            self.packer.put(list.get(place).or(list.first()).copied().unwrap_or(0).into(), 8);
        }
        self.packer.flag(listed.is_some()).flag(region.hidden).flag(region.notify);
        self.packer.flag(region.rights.atomic).flag(region.rights.write).flag(region.rights.read);
        let (bytes, bus) = self.window.filter(|_| index == 0).unwrap_or((bytes, bus));
        self.packer.put(bus, 64).put(bytes, 64).put(base, 64);
        self.packer.put((index << 12 | GENERATION).into(), 32);
        self.set += usize::from(sets);
        self.packer.put(TIME, 64);
        self.rmap.put(&mut self.packer);
        self.packer.put(self.logical.unwrap_or(TARGET).into(), 8).put(0xf0, 8).flag(cycle < 4);
    }
}

fn get_note(bits: &mut Unpacker<'_>) -> (u8, Notification) {
    let data = std::array::from_fn(|_| bits.get(8) as u8);
    let (immediate, has_immediate) = (bits.get(32) as u32, bits.flag());
    let (length, address, sequence) = (bits.get(32) as u32, bits.get(64), bits.get(16) as u16);
    let (region, has_region) = (bits.get(16) as u16, bits.flag());
    let code = bits.get(8) as u8;
    let (queue, initiator, time_ns) = (bits.get(16) as u16, bits.get(8) as u8, bits.get(64));
    let note = Notification {
        time_ns,
        initiator,
        queue,
        opcode: Opcode::of(code).unwrap_or(Opcode::Info),
        region: has_region.then_some(region),
        sequence,
        address,
        length,
        immediate: has_immediate.then_some(immediate),
        data,
    };
    (code, note)
}

/// Takes the words of responses apart.
#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
}

impl Received {
    fn take(&mut self, word: Word, vc: u8) -> Option<(u8, Vec<u8>, u8)> {
        let mut packet = None;
        for (index, symbol) in word.symbols().into_iter().enumerate() {
            match (word.k >> index & 1 != 0, symbol) {
                (false, byte) => self.bytes.push(byte),
                (true, k::FILL) => {}
                (true, end) => packet = Some((vc, std::mem::take(&mut self.bytes), end)),
            }
        }
        packet
    }
}

/// Runs a core with or without RMAP and check bits. Returns the number of packets that were
/// executed, repeated, refused and dropped.
fn run(seed: u64, whole: bool, sfrp_share: u32) -> [usize; 4] {
    let mut core = Core::new("spfe_sim_rdma", &parameters(whole), seed);
    let mut bed = bed(seed, whole, sfrp_share);
    let (mut memory, mut axi) = (vec![0; MEMORY], Axi::default());
    let mut pins = Pins { rmap: bed.rmap, ..Pins::default() };
    let mut received = Received::default();
    let (mut to_send, mut busy) = (VecDeque::new(), 2);
    let packets = if sfrp_share == 0 { PACKETS } else { PACKETS_WITH_RMAP };
    loop {
        let cycle = core.cycles();
        let at = format!("seed {seed} cycle {cycle}");
        let sent: usize = bed.counts.iter().sum();
        if sent >= packets
            && to_send.is_empty()
            && bed.handled.is_empty()
            && bed.responses.is_empty()
        {
            assert!(bed.notes.is_empty(), "{at}: {} notifications are missing", bed.notes.len());
            bed.check_memory(&memory, &at);
            return bed.counts;
        }
        assert!(
            cycle < MOST_CYCLES,
            "{at}: {} packets and {} responses are missing, first {:?}",
            bed.handled.len(),
            bed.responses.len(),
            bed.handled.front()
        );
        if once_in(&mut bed.rng, 2000) {
            busy = bed.rng.u8(1..5);
        }
        if to_send.len() < 40 && sent < packets {
            to_send.extend(bed.words());
        }
        axi.drive(&mut memory, &mut bed.rng);
        let offers = cycle > 64 && bed.rng.u8(..4) < busy;
        let word = to_send.front().copied().filter(|_| offers);
        let ready = bed.rng.u8(..4) < busy;
        pins.put(cycle, &axi, word, ready, true);
        let outputs = core.step(pins.packer.words());
        let mut bits = Unpacker::new(outputs);
        // What comes before the reset means nothing.
        let mut nowhere = Axi::default();
        let port = if cycle < 8 { &mut nowhere } else { &mut axi };
        port.take(&mut bits);
        let (failed, _fence, handled_valid) = (bits.flag(), bits.flag(), bits.flag());
        let outcome = get_outcome(&mut bits);
        let (dropped, note_valid) = (bits.flag(), bits.flag());
        let note = get_note(&mut bits);
        let (valid, vc, response, taken) =
            (bits.flag(), bits.get(5) as u8, bits.word(), bits.flag());
        if cycle < 8 {
            continue;
        }
        assert!(!failed && !dropped, "{at}: failed {failed}, dropped {dropped}");
        if handled_valid {
            bed.check_handled(outcome, &at);
        }
        if note_valid {
            assert_eq!(Some(note), bed.notes.pop_front(), "{at}: notification");
        }
        if valid
            && ready
            && let Some((vc, bytes, end)) = received.take(response, vc)
        {
            let expected = bed.responses.pop_front();
            assert_eq!(Some((vc, bytes)), expected, "{at}: response");
            assert_eq!(end, k::EOP, "{at}: end of a response");
        }
        if taken && word.is_some() {
            to_send.pop_front();
        }
    }
}

/// With RMAP and check bits, or without.
fn parameters(whole: bool) -> [(&'static str, usize); 2] {
    [("Protect", 2 * usize::from(whole)), ("Rmap", whole.into())]
}

fn get_outcome(bits: &mut Unpacker<'_>) -> Outcome {
    let (code, repeated) = (bits.get(8) as u8, bits.flag());
    let (status, drop, of_rmap) = (bits.get(8), bits.get(4), bits.flag());
    let status = if drop == 0 { status } else { 0 };
    (of_rmap, drop, status, (drop == 0 && status == 0).then_some((repeated, code)))
}

#[test]
fn same_as_the_model() {
    for seed in seeds(2) {
        let [executed, repeated, refused, dropped] = run(seed, seed & 1 != 0, 0);
        println!(
            "seed {seed}: {executed} executed, {repeated} repeated, {refused} refused, {dropped} dropped"
        );
        // The mixture has something of everything.
        assert!(
            executed > 500 && repeated > 20 && refused > 100 && dropped > 100,
            "seed {seed}: \
            {executed} executed, {repeated} repeated, {refused} refused, {dropped} dropped"
        );
    }
}

/// Sends 12 messages while nobody reads notifications: the first ones are kept, the rest is counted,
/// and each message is acknowledged.
#[test]
fn notifications_never_stall() {
    let mut core = Core::new("spfe_sim_rdma", &parameters(true), 1);
    let mut pins = Pins::default();
    let (mut memory, mut axi) = (vec![0; MEMORY], Axi::default());
    let mut rng = fastrand::Rng::with_seed(1);
    let mut to_send = VecDeque::new();
    for number in 0..12 {
        let header = SfrpHeader {
            receiver: TARGET,
            sender: 0x60,
            request: number,
            sequence: number as u16,
            length: 8,
            address: 8 << 32,
            flags: Flags::FIRST | Flags::LAST | Flags::ACK | Flags::PAYLOAD_CRC,
            ..SfrpHeader::request(Opcode::Send)
        };
        let mut packet = vec![0; header.packet_bytes()];
        header.encode(&[number as u8; 8], &mut packet).expect("fits");
        let mut symbols: Vec<(u8, bool)> = packet.iter().map(|byte| (*byte, false)).collect();
        symbols.push((k::EOP, true));
        to_send.extend(symbols.chunks(4).map(word));
    }
    let (mut dropped, mut answers, mut kept) = (0, 0, Vec::new());
    let mut received = Received::default();
    for cycle in 0..6000 {
        let reads = cycle > 5000;
        axi.drive(&mut memory, &mut rng);
        let word = to_send.front().copied().filter(|_| cycle > 64);
        pins.put(cycle, &axi, word, true, reads);
        let mut bits = Unpacker::new(core.step(pins.packer.words()));
        // What comes before the reset means nothing.
        let mut nowhere = Axi::default();
        let port = if cycle < 8 { &mut nowhere } else { &mut axi };
        port.take(&mut bits);
        bits.get(25);
        dropped += usize::from(bits.flag() && cycle > 8);
        let note_valid = bits.flag();
        let (_, note) = get_note(&mut bits);
        let (valid, vc, response, taken) =
            (bits.flag(), bits.get(5) as u8, bits.word(), bits.flag());
        if note_valid && reads {
            kept.push(note.data[0]);
        }
        if valid && cycle > 8 && received.take(response, vc).is_some() {
            answers += 1;
        }
        if taken && word.is_some() {
            to_send.pop_front();
        }
    }
    assert_eq!((answers, dropped), (12, 12 - NOTES));
    assert_eq!(kept, [0, 1, 2, 3]);
}
