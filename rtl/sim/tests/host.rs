//! A transmit and a receive queue of the contract in simulated memory: packets go from a ring
//! through a port of the core to a port of the model, and back. The memory answers late, in any
//! order, and refuses now and then; the host also posts entries that are wrong.

use std::collections::VecDeque;

use spfe_link::datalink::{Buffers, DataLink, DataLinkConfig};
use spfe_link::multilane::{MultiLane, MultiLaneConfig};
use spfe_link::word::k;
use spfe_link::{SpaceFibrePort, Word};
use spfe_rtl_sim::{Core, Packer, Unpacker, damage, once_in, seeds};

/// Packets of each direction.
const PACKETS: usize = 400;
const MOST_CYCLES: u64 = 1_500_000;

const MEMORY: u64 = 0x4_0000;
const RING: [[u64; 2]; 2] = [[0x1000, 0x2000], [0x3000, 0x4000]];
const BASE: [u64; 2] = [0x1_0000, 0x2_0000];
/// Bytes of the regions, which go on behind the end of the memory.
const REGION_BYTES: u64 = 0x8_0000;
const REGION: [u16; 2] = [0x1003, 0x2007];
const SQ_LOG2: u32 = 3;
const CQ_LOG2: u32 = 4;
/// Room for the buffer of an entry.
const SLOT: u64 = 0x1000;

const TYPE_DATA: u16 = 1;
const TYPE_BUFFER: u16 = 5;
const SIGNAL: u16 = 0x10;
const CHAIN: u16 = 0x40;
const MORE: u64 = 4;

const OK: u8 = 0x00;
const BAD_OPCODE: u8 = 0x40;
const BAD_REGION: u8 = 0x41;
const OUT_OF_BOUNDS: u8 = 0x42;
const ACCESS_DENIED: u8 = 0x43;
const EMPTY: u8 = 0x44;
const BAD_FIELD: u8 = 0x48;

type Port = SpaceFibrePort<Vec<Word>, 1, 1>;

fn model() -> Port {
    let memory = || vec![Word::default(); 512];
    let buffers = Buffers { output: [memory()], input: [memory()], recovery: memory() };
    let link = DataLink::new(DataLinkConfig::default(), buffers).expect("is valid");
    SpaceFibrePort::new_starting(link, MultiLane::new(&MultiLaneConfig::new()))
}

/// A memory behind an AXI4 port.
#[derive(Default)]
struct Axi {
    /// Bursts to read: address, ID, beats that are left.
    reads: VecDeque<(u64, u64, u64)>,
    /// Addresses of bursts to write, with IDs.
    addresses: VecDeque<(u64, u64)>,
    beats: Vec<(u128, u16)>,
    /// Bursts whose data came, which are not in memory yet.
    writes: Vec<(u64, u64, Vec<(u128, u16)>)>,
    whole: VecDeque<Vec<(u128, u16)>>,
    ar_ready: bool,
    aw_ready: bool,
    w_ready: bool,
    r: Option<(u128, u64, u64, bool)>,
    b: Option<(u64, u64)>,
}

fn load(memory: &[u8], address: u64) -> Option<u128> {
    let at = usize::try_from(address & !15).ok()?;
    Some(u128::from_le_bytes(memory.get(at..at + 16)?.try_into().ok()?))
}

impl Axi {
    /// Drives the inputs of the core for a cycle.
    fn drive(&mut self, memory: &mut [u8], rng: &mut fastrand::Rng) {
        self.ar_ready = rng.u8(..4) != 0;
        self.aw_ready = rng.u8(..4) != 0;
        self.w_ready = rng.u8(..4) != 0;
        self.r = None;
        if rng.u8(..3) != 0
            && let Some((address, id, left)) = self.reads.front_mut()
        {
            let data = load(memory, *address);
            self.r = Some((data.unwrap_or(0), *id, if data.is_some() { 0 } else { 3 }, *left == 1));
            *address = (*address & !15) + 16;
            *left -= 1;
            if *left == 0 {
                self.reads.pop_front();
            }
        }
        // Late, and in any order: only an answered write is in memory.
        self.b = None;
        if !self.writes.is_empty() && once_in(rng, 6) {
            let (mut address, id, beats) = self.writes.swap_remove(rng.usize(..self.writes.len()));
            let mut answer = 0;
            for (data, strobes) in beats {
                for (place, byte) in data.to_le_bytes().into_iter().enumerate() {
                    let at = (address & !15) as usize + place;
                    if strobes >> place & 1 != 0 {
                        match memory.get_mut(at) {
                            Some(cell) => *cell = byte,
                            None => answer = 3,
                        }
                    }
                }
                address = (address & !15) + 16;
            }
            self.b = Some((id, answer));
        }
    }
}

/// What the host knows of a queue.
#[derive(Default)]
struct Queue {
    posted: u32,
    freed: u32,
    completions: u32,
    /// Entries that are not freed: status, length, whether a completion was asked for.
    entries: VecDeque<(u8, u32, bool)>,
    offsets: [u64; 1 << SQ_LOG2],
}

fn phase(position: u32, log2: u32) -> u64 {
    u64::from(((position >> log2) + 1) as u16)
}

impl Queue {
    fn has_room(&self) -> bool {
        self.posted - self.freed < 1 << SQ_LOG2
    }

    fn post(&mut self, memory: &mut [u8], sq: u64, word: u64, flags: u16, length: u32) {
        let slot = self.posted & ((1 << SQ_LOG2) - 1);
        let at = (sq + 16 * u64::from(slot)) as usize;
        let second = phase(self.posted, SQ_LOG2) << 48 | u64::from(flags) << 32 | u64::from(length);
        memory[at..at + 8].copy_from_slice(&word.to_le_bytes());
        memory[at + 8..at + 16].copy_from_slice(&second.to_le_bytes());
        self.posted += 1;
    }

    /// The next completion, if it is there.
    fn completion(&mut self, memory: &[u8], cq: u64) -> Option<(u64, u64)> {
        let slot = self.completions & ((1 << CQ_LOG2) - 1);
        let entry = load(memory, cq + 16 * u64::from(slot)).expect("is in memory");
        let (first, second) = (entry as u64, (entry >> 64) as u64);
        (second >> 48 == phase(self.completions, CQ_LOG2)).then(|| {
            self.completions += 1;
            (first, second)
        })
    }
}

/// Words of a packet.
fn words(bytes: &[u8], end: u8) -> Vec<Word> {
    let mut symbols: Vec<(u8, bool)> = bytes.iter().map(|byte| (*byte, false)).collect();
    symbols.push((end, true));
    let word = |part: &[(u8, bool)]| {
        let symbol = |index: usize| part.get(index).copied().unwrap_or((k::FILL, true));
        let k = (0..4).map(|index| u8::from(symbol(index).1) << index).sum();
        Word::from_symbols(std::array::from_fn(|index| symbol(index).0), k)
    };
    symbols.chunks(4).map(word).collect()
}

struct Bed {
    seed: u64,
    rng: fastrand::Rng,
    memory: Vec<u8>,
    queues: [Queue; 2],
    /// Packets on their way to the far end and from it, with their end markers.
    expected: [VecDeque<(Vec<u8>, u8)>; 2],
    doorbell: [bool; 2],
    sent: usize,
    arrived: usize,
    wrong: usize,
    pieces: usize,
}

impl Bed {
    /// Posts an entry with a packet, or a wrong one.
    fn post_transmit(&mut self) {
        let rng = &mut self.rng;
        let queue = &mut self.queues[0];
        let slot = u64::from(queue.posted & ((1 << SQ_LOG2) - 1));
        let mut offset = slot * SLOT + rng.u64(..40);
        let mut length = if once_in(rng, 10) { rng.u32(1..3000) } else { rng.u32(1..70) };
        let signals = once_in(rng, 2) || queue.entries.len() >= 6;
        let mut flags = TYPE_DATA | if signals { SIGNAL } else { 0 };
        let end = if once_in(rng, 10) { k::EEP } else { k::EOP };
        flags |= u16::from(end == k::EEP) << 7;
        let mut region = REGION[0];
        let mut status = OK;
        if once_in(rng, 8) {
            (flags, region, offset, length, status) = match rng.u8(..7) {
                0 => (flags & !15 | TYPE_BUFFER, region, offset, length, BAD_OPCODE),
                1 => (flags, region + 0x1000, offset, length, BAD_REGION),
                2 => (flags, region, REGION_BYTES - 5, 6, OUT_OF_BOUNDS),
                3 => (flags, region, (1 << 48) - 1, u32::MAX, OUT_OF_BOUNDS),
                4 => (flags | CHAIN, region, offset, length, BAD_FIELD),
                5 => (flags, region, REGION_BYTES - u64::from(length), length, ACCESS_DENIED),
                _ => (flags, region, offset, 0, EMPTY),
            };
            self.wrong += 1;
        }
        if status == OK {
            let at = (BASE[0] + offset) as usize;
            let bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
            self.memory[at..at + bytes.len()].copy_from_slice(&bytes);
            self.expected[0].push_back((bytes, end));
            self.sent += 1;
        } else if status == ACCESS_DENIED {
            // The bus cuts the packet; what the bytes are does not matter.
            self.expected[0].push_back((vec![0; length as usize], k::EEP));
        }
        queue.entries.push_back((status, length, signals));
        let word = u64::from(region) << 48 | offset;
        queue.post(&mut self.memory, RING[0][0], word, flags, length);
        self.doorbell[0] = true;
    }

    fn post_receive(&mut self) {
        let rng = &mut self.rng;
        let queue = &mut self.queues[1];
        let slot = queue.posted & ((1 << SQ_LOG2) - 1);
        let offset = u64::from(slot) * SLOT + rng.u64(..40);
        let length = if once_in(rng, 3) { rng.u32(1..40) } else { rng.u32(1..3000) };
        let wrong = once_in(rng, 20);
        let kind = if wrong { TYPE_DATA } else { TYPE_BUFFER };
        queue.offsets[slot as usize] = offset;
        queue.entries.push_back((if wrong { BAD_OPCODE } else { OK }, length, true));
        let word = u64::from(REGION[1]) << 48 | offset;
        queue.post(&mut self.memory, RING[1][0], word, kind, length);
        self.doorbell[1] = true;
    }

    fn complete_transmit(&mut self, cycle: u64) {
        let queue = &mut self.queues[0];
        while let Some((first, second)) = queue.completion(&self.memory, RING[0][1]) {
            let at = format!("seed {} cycle {cycle}", self.seed);
            let (mut packets, mut bytes) = (0, 0);
            loop {
                let (status, length, signals) = queue.entries.pop_front().expect("was posted");
                let last = queue.freed as u16 == second as u16;
                queue.freed += 1;
                packets += u64::from(status == OK);
                bytes += if status == OK { u64::from(length) } else { 0 };
                assert_eq!(last, signals || status != OK, "{at}: entry without its completion");
                if last {
                    assert_eq!((first >> 56) as u8, status, "{at}: status");
                    if status == OK {
                        assert_eq!(first & 0xffff_ffff, bytes, "{at}: bytes");
                        assert_eq!(first >> 32 & 0xffff, packets, "{at}: packets");
                    }
                    break;
                }
            }
        }
    }

    fn complete_receive(&mut self, cycle: u64) {
        let queue = &mut self.queues[1];
        while let Some((first, second)) = queue.completion(&self.memory, RING[1][1]) {
            let at = format!("seed {} cycle {cycle}", self.seed);
            let (status, length, _) = queue.entries.pop_front().expect("was posted");
            assert_eq!(queue.freed as u16, second as u16, "{at}: position");
            let slot = (queue.freed & ((1 << SQ_LOG2) - 1)) as usize;
            queue.freed += 1;
            assert_eq!((first >> 56) as u8, status, "{at}: status");
            if status != OK {
                continue;
            }
            let bytes = (first & 0xffff_ffff) as usize;
            assert!(bytes <= length as usize && bytes != 0, "{at}: {bytes} bytes of {length}");
            let start = (BASE[1] + queue.offsets[slot]) as usize;
            let (packet, end) = self.expected[1].front_mut().expect("was sent");
            assert_eq!(self.memory[start..start + bytes], packet[..bytes], "{at}: bytes");
            packet.drain(..bytes);
            let (more, end_flag) = (second >> 32 & MORE != 0, second >> 32 & 3);
            assert_eq!(more, !packet.is_empty(), "{at}: MORE");
            self.pieces += usize::from(more);
            if !more {
                assert_eq!(end_flag, u64::from(*end == k::EEP), "{at}: end marker");
                self.expected[1].pop_front();
                self.arrived += 1;
            }
        }
    }
}

fn run(seed: u64) -> (usize, usize) {
    let mut core = Core::new("spfe_sim_host", &[], seed);
    let mut far = model();
    let mut bed = Bed {
        seed,
        rng: fastrand::Rng::with_seed(seed),
        memory: vec![0; MEMORY as usize],
        queues: Default::default(),
        expected: Default::default(),
        doorbell: [false; 2],
        sent: 0,
        arrived: 0,
        wrong: 0,
        pieces: 0,
    };
    let mut axi = [Axi::default(), Axi::default()];
    let mut cables = [(); 2].map(|()| VecDeque::from(vec![None; 10]));
    let (mut packer, mut to_core) = (Packer::default(), None);
    // What the far end has received of a packet, and has still to send.
    let (mut got, mut to_send) = (Vec::new(), VecDeque::new());
    let (mut delivered, mut far_sent, mut started, mut interrupts) = (0, 0, 0, [0u32; 2]);
    loop {
        let cycle = core.cycles();
        if bed.sent >= PACKETS
            && bed.arrived == PACKETS
            && bed.expected.iter().all(VecDeque::is_empty)
            && bed.queues[0].entries.iter().all(|(status, _, signals)| *status == OK && !signals)
            // One event for each completion, behind it.
            && interrupts == [0, 1].map(|queue| bed.queues[queue].completions)
        {
            return (bed.wrong, bed.pieces);
        }
        assert!(
            cycle < MOST_CYCLES,
            "seed {seed}: {} sent, {delivered} delivered, {far_sent} of the far end, {} arrived, \
             {interrupts:?} events",
            bed.sent,
            bed.arrived
        );
        for axi in &mut axi {
            axi.drive(&mut bed.memory, &mut bed.rng);
        }
        if started == 100 {
            if bed.sent < PACKETS && bed.queues[0].has_room() && once_in(&mut bed.rng, 40) {
                bed.post_transmit();
            }
            if bed.queues[1].has_room() && once_in(&mut bed.rng, 40) {
                bed.post_receive();
            }
        }

        packer.clear();
        packer.flag(to_core.is_some()).word(to_core.unwrap_or_default());
        for axi in &axi {
            packer.flag(axi.b.is_some());
        }
        for axi in &axi {
            packer.put(axi.b.map_or(0, |(_, answer)| answer), 2);
        }
        for axi in &axi {
            packer.put(axi.b.map_or(0, |(id, _)| id), 3);
        }
        for axi in &axi {
            packer.flag(axi.w_ready);
        }
        for axi in &axi {
            packer.flag(axi.aw_ready);
        }
        for axi in &axi {
            packer.flag(axi.r.is_some());
        }
        for axi in &axi {
            packer.flag(axi.r.is_some_and(|(_, _, _, last)| last));
        }
        for axi in &axi {
            packer.put(axi.r.map_or(0, |(_, _, answer, _)| answer), 2);
        }
        for axi in &axi {
            packer.put(axi.r.map_or(0, |(_, id, _, _)| id), 3);
        }
        for axi in &axi {
            let data = axi.r.map_or(0, |(data, ..)| data);
            packer.put(data as u64, 64).put((data >> 64) as u64, 64);
        }
        for axi in &axi {
            packer.flag(axi.ar_ready);
        }
        for doorbell in &mut bed.doorbell {
            packer.flag(std::mem::take(doorbell));
        }
        for queue in 0..2 {
            packer.put(REGION_BYTES, 48).put(BASE[queue], 64).put(REGION[queue].into(), 16);
            packer.put(RING[queue][1], 64).put(RING[queue][0], 64);
            packer.put(CQ_LOG2.into(), 4).put(SQ_LOG2.into(), 4).flag(true);
        }
        packer.flag(cycle < 3);

        let mut bits = Unpacker::new(core.step(packer.words()));
        let line_on = bits.flag();
        let line = bits.word();
        let _b_ready = bits.get(2);
        let w_valid = [bits.flag(), bits.flag()];
        let w_last = [bits.flag(), bits.flag()];
        let w_strb = [bits.get(16), bits.get(16)];
        let w_data = [(); 2].map(|()| u128::from(bits.get(64)) | u128::from(bits.get(64)) << 64);
        let aw_valid = [bits.flag(), bits.flag()];
        let aw_len = [bits.get(8), bits.get(8)];
        let aw_id = [bits.get(3), bits.get(3)];
        let aw_addr = [bits.get(64), bits.get(64)];
        let _r_ready = bits.get(2);
        let ar_valid = [bits.flag(), bits.flag()];
        let ar_len = [bits.get(8), bits.get(8)];
        let ar_id = [bits.get(3), bits.get(3)];
        let ar_addr = [bits.get(64), bits.get(64)];
        let interrupt = [bits.flag(), bits.flag()];
        let initialised = bits.flag();
        if cycle < 3 {
            continue;
        }
        for (i, axi) in axi.iter_mut().enumerate() {
            if ar_valid[i] && axi.ar_ready {
                axi.reads.push_back((ar_addr[i], ar_id[i], ar_len[i] + 1));
            }
            if aw_valid[i] && axi.aw_ready {
                assert!(aw_len[i] < 16, "seed {seed} cycle {cycle}: burst");
                axi.addresses.push_back((aw_addr[i], aw_id[i]));
            }
            if w_valid[i] && axi.w_ready {
                axi.beats.push((w_data[i], w_strb[i] as u16));
                if w_last[i] {
                    axi.whole.push_back(std::mem::take(&mut axi.beats));
                }
            }
            while !axi.whole.is_empty() && !axi.addresses.is_empty() {
                let (address, id) = axi.addresses.pop_front().expect("is there");
                axi.writes.push((address, id, axi.whole.pop_front().expect("is there")));
            }
            interrupts[i] += u32::from(interrupt[i]);
        }
        started = if initialised && far.link.is_initialised() { 100.min(started + 1) } else { 0 };
        bed.complete_transmit(cycle);
        bed.complete_receive(cycle);

        // The far end.
        let mut word = [Word::default()];
        if bed.rng.u8(..4) != 0 && far.link.read(0, &mut word) != 0 {
            for symbol in 0..4 {
                let value = word[0].symbol(symbol);
                if !word[0].is_k(symbol) {
                    got.push(value);
                } else if value != k::FILL {
                    let (bytes, end) = bed.expected[0].pop_front().expect("was sent");
                    let same = got == bytes || end == k::EEP && got.len() == bytes.len();
                    assert!(same && value == end, "seed {seed} cycle {cycle}: packet {delivered}");
                    got.clear();
                    delivered += 1;
                }
            }
        }
        if started == 100 && to_send.is_empty() && far_sent < PACKETS {
            let length = if once_in(&mut bed.rng, 10) { 2000 } else { bed.rng.usize(1..100) };
            let bytes: Vec<u8> = (0..length).map(|_| bed.rng.u8(..)).collect();
            let end = if once_in(&mut bed.rng, 10) { k::EEP } else { k::EOP };
            to_send.extend(words(&bytes, end));
            if once_in(&mut bed.rng, 10) {
                // An empty packet is dropped.
                to_send.extend(words(&[], k::EOP));
            }
            bed.expected[1].push_back((bytes, end));
            far_sent += 1;
        }
        if let Some(word) = to_send.front()
            && far.link.write(0, &[*word]) != 0
        {
            to_send.pop_front();
        }
        let [from_far] = far.transmit();
        let mut pass = |cable: usize, word: Option<Word>| {
            let hit = started == 100 && once_in(&mut bed.rng, 2000);
            cables[cable].push_back(word.map(|w| if hit { damage(&mut bed.rng, w) } else { w }));
            cables[cable].pop_front().flatten()
        };
        to_core = pass(1, from_far);
        let arrives = pass(0, line_on.then_some(line));
        far.receive([arrives]);
    }
}

#[test]
fn packets_go_from_ring_to_ring() {
    let mut total = (0, 0);
    for seed in seeds(2) {
        let (wrong, pieces) = run(seed);
        total = (total.0 + wrong, total.1 + pieces);
    }
    assert!(total.0 > 20 && total.1 > 20, "wrong entries, pieces: {total:?}");
}
