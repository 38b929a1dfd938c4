//! What a host posts into a receive queue, and what it finds there.

use std::collections::VecDeque;

use spfe_rtl_sim::once_in;

use crate::memory::{BUFFERS, KEY_BUS, KEY_RX, KEY_TX, Memory};
use crate::ring::{Completion, RX_PACKED, Ring};
use crate::transmit::{
    ACCESS_DENIED, BAD_OPCODE, BAD_REGION, BUFFER, DATA, EMPTY, OUT_OF_BOUNDS, Packet,
};

const RELEASE: u64 = 6;
const MORE: u16 = 4;
const WRAP: u16 = 0x20;
const PACKET_CUT: u8 = 0x31;

#[derive(Default)]
pub struct Receiver {
    pub ring: Ring,
    /// Status, offset and length of buffers.
    buffers: VecDeque<(u8, u64, u32)>,
    place: u64,
    /// Packed: end of the last run, and bytes and completions to give back.
    tail: u32,
    owed: u32,
    owed_runs: u32,
    /// Bytes of the packet that is not complete.
    open: Vec<u8>,
    pub arrived: usize,
    pub pieces: usize,
    pub wrong: usize,
    pub wraps: usize,
    /// The queue was stopped: packets before the next one may be lost.
    pub lost: bool,
    bad_bytes: bool,
}

impl Receiver {
    pub fn is_packed(&self) -> bool {
        self.ring.context.kind == RX_PACKED
    }

    pub fn restart(&mut self) {
        self.buffers.clear();
        (self.tail, self.owed, self.owed_runs) = (0, 0, 0);
        self.open.clear();
        self.lost = true;
    }

    pub fn post(&mut self, rng: &mut fastrand::Rng, memory: &mut Memory, queue: usize) -> bool {
        if self.is_packed() {
            return self.release(rng, memory);
        }
        if self.ring.room() == 0 {
            return false;
        }
        let length = if once_in(rng, 3) { rng.u32(1..40) } else { rng.u32(1..2000) };
        if self.place + 2048 > BUFFERS {
            self.place = 0;
        }
        let offset = queue as u64 * BUFFERS + self.place + rng.u64(..40);
        self.place += 2048 + 48;
        let (flags, region, offset, length, status) = if once_in(rng, 20) {
            self.wrong += 1;
            match rng.u8(..6) {
                0 => (DATA, KEY_RX, offset, length, BAD_OPCODE),
                1 => (BUFFER, KEY_TX, offset, length, ACCESS_DENIED),
                2 => (BUFFER, KEY_RX + 0x1000, offset, length, BAD_REGION),
                3 => (BUFFER, KEY_RX, 4 * BUFFERS - 1, 2, OUT_OF_BOUNDS),
                4 => (BUFFER, KEY_RX, offset, 0, EMPTY),
                // Its bytes do not get into memory.
                _ => (BUFFER, KEY_BUS, rng.u64(..64), length, 0xff),
            }
        } else {
            (BUFFER, KEY_RX, offset, length, 0)
        };
        self.buffers.push_back((status, offset, length));
        let entry = [u64::from(region) << 48 | offset, u64::from(flags) << 32 | u64::from(length)];
        self.ring.post(memory, &[entry]);
        true
    }

    fn release(&mut self, rng: &mut fastrand::Rng, memory: &mut Memory) -> bool {
        if self.owed_runs == 0 || self.ring.room() < 2 {
            return false;
        }
        let mut entries = vec![];
        if once_in(rng, 10) {
            // More than is due gives nothing back.
            self.wrong += 1;
            let (runs, bytes) = match rng.u8(..3) {
                0 => (1000, self.owed),
                1 => (0, self.owed),
                _ => (self.owed_runs, self.owed + self.ring.context.area_bytes),
            };
            entries.push([u64::from(runs) << 32 | u64::from(bytes), RELEASE << 32]);
        }
        let good = u64::from(self.owed_runs) << 32 | u64::from(self.owed);
        entries.push([good, RELEASE << 32]);
        for entry in entries {
            self.ring.post(memory, &[entry]);
        }
        (self.owed, self.owed_runs) = (0, 0);
        true
    }

    /// Bytes of the next packet, with its end.
    fn piece(&mut self, bytes: &[u8], end: Option<bool>, packets: &mut VecDeque<Packet>, at: &str) {
        self.open.extend(bytes);
        let Some(cut) = end else {
            self.pieces += 1;
            return;
        };
        let got = std::mem::take(&mut self.open);
        let bad_bytes = std::mem::take(&mut self.bad_bytes);
        let mut first = true;
        let matched = loop {
            let Some(packet) = packets.pop_front() else {
                panic!(
                    "{at}: {} bytes that were not sent: {:x?}",
                    got.len(),
                    &got[..got.len().min(8)]
                );
            };
            let same = if packet.loose {
                cut && got.starts_with(&packet.bytes)
            } else {
                cut == packet.cut && got == packet.bytes
            };
            // A packet of which the transmit queue was stopped.
            let stub = cut && packet.unsure && packet.bytes.starts_with(&got);
            // Bytes that did not get into memory: the length is known.
            let (length, most) = (got.len(), packet.bytes.len());
            let fits = length == most
                || cut && packet.loose && length >= most
                || cut && packet.unsure && length <= most;
            if same || stub || bad_bytes && fits {
                break packet;
            }
            assert!(
                packet.unsure || self.lost,
                "{at}: packet of {} bytes, cut {cut}: {:x?}; {first} expected {} bytes cut {} loose {}: {:x?}",
                got.len(),
                &got[..got.len().min(8)],
                packet.bytes.len(),
                packet.cut,
                packet.loose,
                &packet.bytes[..packet.bytes.len().min(8)]
            );
            first = false;
        };
        // The bytes may fit more than one packet, and then it is not known which of them were lost.
        let known =
            got == matched.bytes && packets.front().is_none_or(|next| next.bytes != matched.bytes);
        self.lost = !known && (self.lost || matched.unsure);
        self.arrived += 1;
    }

    pub fn complete(
        &mut self,
        memory: &Memory,
        done: &Completion,
        packets: &mut VecDeque<Packet>,
        at: &str,
    ) {
        if self.is_packed() {
            return self.complete_run(memory, done, packets, at);
        }
        let count = self.ring.free(done.position);
        assert_eq!(count, 1, "{at}: {done:?}");
        let (status, offset, length) = self.buffers.pop_front().expect("was posted");
        if status == 0xff {
            assert!(matches!(done.status, ACCESS_DENIED | PACKET_CUT), "{at}: {done:?}");
            self.bad_bytes = true;
        } else if status != 0 {
            assert_eq!(done.status, status, "{at}: {done:?}");
            return;
        }
        let (end, more) = (done.flags & 3, done.flags & MORE != 0);
        assert!(done.bytes <= length, "{at}: {done:?} of {length}");
        assert_eq!(more, end == 2, "{at}: {done:?}");
        if status == 0 {
            assert_eq!(done.status, if end == 1 { PACKET_CUT } else { 0 }, "{at}: {done:?}");
            assert!(!more || done.bytes == length, "{at}: {done:?} of {length}");
        }
        let bytes = if status == 0xff {
            vec![0; done.bytes as usize]
        } else {
            memory.get(KEY_RX, offset, done.bytes as usize)
        };
        self.piece(&bytes, (!more).then_some(end == 1), packets, at);
    }

    fn complete_run(
        &mut self,
        memory: &Memory,
        done: &Completion,
        packets: &mut VecDeque<Packet>,
        at: &str,
    ) {
        assert_eq!(done.status, 0, "{at}: {done:?}");
        let size = self.ring.context.area_bytes;
        let wraps = done.flags & WRAP != 0;
        self.wraps += usize::from(wraps);
        let (mut place, skipped) = if wraps { (0, size - self.tail) } else { (self.tail, 0) };
        assert!(
            done.bytes <= size - place && done.bytes.is_multiple_of(8),
            "{at}: {done:?} at {place}"
        );
        self.owed += skipped + done.bytes;
        self.owed_runs += 1;
        self.tail = place + done.bytes;
        let base = self.ring.context.at[4].1;
        for _ in 0..done.packets {
            let header = memory.word(KEY_RX, base + u64::from(place));
            let (length, end) = (header as u32, (header >> 32) as u8);
            let more = header >> 40 & 1 != 0;
            assert_eq!(more, end == 2, "{at}: header {header:x}");
            assert!(place + 8 + length <= self.tail, "{at}: header {header:x} at {place}");
            let bytes = memory.get(KEY_RX, base + u64::from(place) + 8, length as usize);
            self.piece(&bytes, (!more).then_some(end == 1), packets, at);
            place = (place + 8 + length).next_multiple_of(8);
        }
        assert_eq!(place, self.tail, "{at}: {done:?}");
        self.ring.freed = self.ring.posted.min(
            self.ring.freed
                + u32::from(done.position.wrapping_sub(self.ring.freed as u16).wrapping_add(1)),
        );
    }
}
