//! What a host posts into a transmit queue, and what must become of it.

use std::collections::VecDeque;

use spfe_rtl_sim::once_in;

use crate::memory::{BUFFERS, KEY_BUS, KEY_OTHER, KEY_RX, KEY_TX, Memory};
use crate::ring::{Completion, Ring};

pub const DATA: u16 = 1;
const INLINE: u16 = 2;
const BURST: u16 = 3;
const BURST_EXT: u16 = 4;
pub const BUFFER: u16 = 5;
const SIGNAL: u16 = 0x10;
const CHAIN: u16 = 0x40;
const EEP: u16 = 0x80;
const NONE: u16 = 0x100;

pub const BAD_OPCODE: u8 = 0x40;
pub const BAD_REGION: u8 = 0x41;
pub const OUT_OF_BOUNDS: u8 = 0x42;
pub const ACCESS_DENIED: u8 = 0x43;
pub const EMPTY: u8 = 0x44;
const TOO_LONG: u8 = 0x45;
const CHAIN_TOO_LONG: u8 = 0x46;
/// Entries of a packet, as of `ChainMax` in `spfe_host_pkg`.
const CHAIN_MAX: usize = 24;
pub const BAD_FIELD: u8 = 0x48;

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Packet {
    pub bytes: Vec<u8>,
    pub cut: bool,
    /// Only a prefix of it is known.
    pub loose: bool,
    /// It may be missing, because a queue was stopped.
    pub unsure: bool,
}

#[derive(Debug)]
struct Submission {
    entries: u32,
    status: u8,
    signals: bool,
    bytes: u32,
    packets: u32,
    burst: bool,
}

#[derive(Default)]
pub struct Sender {
    pub ring: Ring,
    submissions: VecDeque<Submission>,
    /// Bytes of the packet that goes on in the next submission.
    open: Option<Vec<u8>>,
    place: u64,
    /// Nothing more is posted before everything is completed.
    waits: bool,
    pub sent: usize,
    pub wrong: usize,
    number: u32,
}

fn entry(region: u16, offset: u64, flags: u16, length: u32) -> [u64; 2] {
    [u64::from(region) << 48 | offset, u64::from(flags) << 32 | u64::from(length)]
}

impl Sender {
    pub fn is_idle(&self) -> bool {
        self.submissions.iter().all(|entry| entry.status == 0 && !entry.signals)
    }

    /// Everything that was posted is completed.
    pub fn is_empty(&self) -> bool {
        self.submissions.is_empty()
    }

    /// The queue has stopped: packets that were not reported may be missing or cut.
    pub fn unfinished(&mut self, packets: &mut VecDeque<Packet>) {
        if let Some(bytes) = self.open.take() {
            packets.push_back(Packet { bytes, cut: true, loose: false, unsure: true });
            self.sent += 1;
        }
        for packet in packets {
            packet.unsure = true;
        }
    }

    /// What the queue had is forgotten.
    pub fn forget(&mut self) {
        self.submissions.clear();
        self.open = None;
        self.waits = false;
    }

    /// A place for bytes that no submission uses.
    fn place(&mut self, queue: usize, length: u64) -> u64 {
        if self.place + length > BUFFERS {
            self.place = 0;
        }
        let place = self.place;
        self.place += length;
        queue as u64 * BUFFERS + place
    }

    fn bytes(&mut self, rng: &mut fastrand::Rng, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
        self.number += 1;
        let count = length.min(4);
        bytes[..count].copy_from_slice(&self.number.to_le_bytes()[..count]);
        bytes
    }

    /// Elements of a submission with these bytes.
    fn elements(
        &mut self,
        rng: &mut fastrand::Rng,
        memory: &mut Memory,
        queue: usize,
        bytes: &[u8],
        pieces: usize,
    ) -> Vec<[u64; 2]> {
        let mut rest = bytes;
        let mut entries = Vec::new();
        for piece in 0..pieces {
            let last = piece + 1 == pieces;
            let mut count = if last { rest.len() } else { rng.usize(..=rest.len().min(90)) };
            if rng.bool() && (1..=11).contains(&count) || count != 0 && !last && once_in(rng, 3) {
                count = count.min(11);
                if last && count != rest.len() {
                    count = rest.len();
                }
            }
            let (part, behind) = rest.split_at(count);
            rest = behind;
            if (1..=11).contains(&count) && rng.bool() {
                let mut data = [0; 16];
                data[..count].copy_from_slice(part);
                let low = u64::from_le_bytes(data[..8].try_into().expect("8 bytes"));
                let high = u64::from_le_bytes(data[8..].try_into().expect("8 bytes"));
                entries.push([low, u64::from(INLINE) << 32 | high << 8 | count as u64]);
            } else {
                let place = self.place(queue, count as u64 + 16) + rng.u64(..16);
                memory.put(KEY_TX, place, part);
                entries.push(entry(KEY_TX, place, DATA, count as u32));
            }
        }
        entries
    }

    /// Posts a submission. Adds the packets that it will send.
    pub fn post(
        &mut self,
        rng: &mut fastrand::Rng,
        memory: &mut Memory,
        queue: usize,
        packets: &mut VecDeque<Packet>,
    ) -> bool {
        if self.waits && !self.submissions.is_empty() || self.ring.room() < 3 {
            return false;
        }
        self.waits = false;
        let room = (self.ring.room() as usize).min(CHAIN_MAX);
        let pieces = if rng.bool() { 1 } else { rng.usize(1..=room) };
        // Without a completion nothing more could be posted.
        let signals = once_in(rng, 2) || room < pieces.max(2) + 4;
        let signal = if signals { SIGNAL } else { 0 };
        // A later doorbell would hide that the device has not seen this entry.
        self.waits = signals && rng.bool();
        if once_in(rng, 8) {
            self.post_wrong(rng, memory, queue, packets);
            return true;
        }
        if once_in(rng, 8) && self.open.is_none() {
            let length = rng.u32(1..300);
            let stride = if once_in(rng, 4) { 0 } else { rng.u32(..400) };
            let count = rng.u32(1..6);
            let span = u64::from(stride) * u64::from(count - 1) + u64::from(length);
            let place = self.place(queue, span);
            let bytes = self.bytes(rng, span as usize);
            memory.put(KEY_TX, place, &bytes);
            let cut = once_in(rng, 5);
            let flags = BURST | signal | if cut { EEP } else { 0 };
            let ext = [u64::from(count) << 32 | u64::from(stride), u64::from(BURST_EXT) << 32];
            self.ring.post(memory, &[entry(KEY_TX, place, flags, length), ext]);
            for index in 0..count {
                let start = (stride * index) as usize;
                let bytes = bytes[start..start + length as usize].to_vec();
                packets.push_back(Packet { bytes, cut, loose: false, unsure: false });
            }
            self.sent += count as usize;
            self.push(2, 0, signals, length * count, count, true);
            return true;
        }
        let length = match rng.u8(..12) {
            0 => rng.usize(1500..3000),
            1..=3 => rng.usize(100..600),
            _ => rng.usize(4..70),
        };
        let bytes = self.bytes(rng, length);
        let mut entries = self.elements(rng, memory, queue, &bytes, pieces);
        let goes_on = once_in(rng, 8);
        let cut = !goes_on && once_in(rng, 10);
        for entry in &mut entries[..pieces - 1] {
            entry[1] |= u64::from(CHAIN) << 32;
        }
        let end = if goes_on {
            NONE
        } else if cut {
            EEP
        } else {
            0
        };
        entries[pieces - 1][1] |= u64::from(signal | end) << 32;
        self.ring.post(memory, &entries);
        self.push(pieces as u32, 0, signals, length as u32, u32::from(!goes_on), false);
        let mut whole = self.open.take().unwrap_or_default();
        whole.extend(&bytes);
        if goes_on {
            self.open = Some(whole);
        } else {
            packets.push_back(Packet { bytes: whole, cut, loose: false, unsure: false });
            self.sent += 1;
        }
        true
    }

    fn push(
        &mut self,
        entries: u32,
        status: u8,
        signals: bool,
        bytes: u32,
        packets: u32,
        burst: bool,
    ) {
        self.submissions.push_back(Submission { entries, status, signals, bytes, packets, burst });
    }

    fn post_wrong(
        &mut self,
        rng: &mut fastrand::Rng,
        memory: &mut Memory,
        queue: usize,
        packets: &mut VecDeque<Packet>,
    ) {
        self.wrong += 1;
        let good = queue as u64 * BUFFERS;
        let end = 4 * BUFFERS;
        let ext = |count: u64, stride: u64| [count << 32 | stride, u64::from(BURST_EXT) << 32];
        // Of a packet whose bytes fail on the bus, what comes before them is known.
        let mut loose = false;
        let (entries, status) = match rng.u8(..22) {
            0 => (vec![entry(KEY_TX, good, BUFFER, 9)], BAD_OPCODE),
            1 => (vec![entry(KEY_TX + 0x1000, good, DATA, 9)], BAD_REGION),
            2 => (vec![entry(KEY_OTHER, 0, DATA, 9)], BAD_REGION),
            3 => (vec![entry(KEY_TX, end - 5, DATA, 6)], OUT_OF_BOUNDS),
            4 => (vec![entry(KEY_TX, (1 << 48) - 1, DATA, 1 << 30)], OUT_OF_BOUNDS),
            5 => (vec![entry(KEY_RX, good, DATA, 600)], ACCESS_DENIED),
            6 if self.open.is_none() => (vec![entry(KEY_TX, good, DATA, 0)], EMPTY),
            7 => (vec![entry(KEY_TX, good, DATA | 0x800, 9)], BAD_FIELD),
            8 => (vec![entry(KEY_TX, good, DATA | NONE | EEP, 9)], BAD_FIELD),
            9 => (vec![entry(KEY_TX, good, DATA, (1 << 30) + 1)], TOO_LONG),
            10 => (vec![[0, u64::from(INLINE) << 32 | 12]], BAD_FIELD),
            11 => (vec![entry(KEY_TX, good, 0, 9)], BAD_OPCODE),
            12 => {
                // Wrong in the middle: nothing of it is sent.
                let middle = entry(KEY_TX, end - 1, DATA | CHAIN, 2);
                let first = entry(KEY_TX, good, DATA | CHAIN, 20);
                (vec![first, middle, entry(KEY_TX, good, DATA, 9)], OUT_OF_BOUNDS)
            }
            13 if self.ring.room() as usize >= CHAIN_MAX + 2 => {
                let mut entries = vec![entry(KEY_TX, good, DATA | CHAIN, 3); CHAIN_MAX + 1];
                entries.push(entry(KEY_TX, good, DATA, 3));
                (entries, CHAIN_TOO_LONG)
            }
            14 => {
                self.waits = true;
                (vec![entry(KEY_TX, good, DATA | CHAIN, 3)], BAD_FIELD)
            }
            15 => {
                self.waits = true;
                (vec![entry(KEY_TX, good, BURST, 3)], BAD_FIELD)
            }
            16 => (vec![entry(KEY_TX, good, BURST, 3), ext(0, 3)], BAD_FIELD),
            17 => (
                vec![entry(KEY_TX, good, BURST, 8), ext(65535, u64::from(u32::MAX))],
                OUT_OF_BOUNDS,
            ),
            18 => (vec![entry(KEY_TX, good, BURST, 1 << 20), ext(5000, 0)], TOO_LONG),
            19 => (vec![entry(KEY_TX, good, BURST | NONE, 8), ext(2, 8)], BAD_FIELD),
            20 => {
                loose = true;
                let bytes: Vec<u8> = (0..100).map(|_| rng.u8(..)).collect();
                let place = self.place(queue, 100);
                memory.put(KEY_TX, place, &bytes);
                let first = entry(KEY_TX, place, DATA | CHAIN, 100);
                self.open.get_or_insert_default().extend(bytes);
                (vec![first, entry(KEY_BUS, 8, DATA, 700)], ACCESS_DENIED)
            }
            _ => {
                loose = true;
                (vec![entry(KEY_BUS, 3, DATA, rng.u32(1..1000))], ACCESS_DENIED)
            }
        };
        let count = entries.len() as u32;
        self.ring.post(memory, &entries);
        self.push(count, status, false, 0, 0, false);
        if loose || self.open.is_some() {
            let bytes = self.open.take().unwrap_or_default();
            packets.push_back(Packet { bytes, cut: true, loose, unsure: false });
            self.sent += 1;
        }
    }

    /// Checks a completion.
    pub fn complete(&mut self, done: &Completion, at: &str) {
        let mut count = self.ring.free(done.position);
        let (mut bytes, mut packets, mut last) = (0, 0, None);
        let mut parts = 0;
        while count != 0 {
            let submission = self.submissions.pop_front().expect("was posted");
            assert!(submission.entries <= count, "{at}: {done:?} ends inside {submission:?}");
            assert!(
                last.as_ref().is_none_or(|last: &Submission| last.status == 0 && !last.signals),
                "{at}: {last:?} has no completion of its own"
            );
            count -= submission.entries;
            bytes += submission.bytes;
            packets += submission.packets;
            parts += 1;
            last = Some(submission);
        }
        let last = last.expect("frees something");
        assert_eq!(done.status, last.status, "{at}: {last:?}");
        if done.status == 0 {
            assert_eq!((done.bytes, u32::from(done.packets)), (bytes, packets), "{at}: {last:?}");
            let next = self.submissions.front();
            let due = next.is_some_and(|next| next.status != 0 || next.burst);
            assert!(last.signals || due, "{at}: completion without a reason for {last:?}");
        } else {
            assert_eq!(parts, 1, "{at}: an error with earlier submissions");
        }
    }
}
