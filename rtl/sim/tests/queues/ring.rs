//! The host's side of a queue: rings, lines and doorbells.

use crate::QUEUES;
use crate::memory::{BUFFERS, DOMAIN, KEY_RINGS, KEY_RX, Memory, RINGS};
use crate::pins::Context;

pub const TX: u8 = 1;
pub const RX: u8 = 2;
pub const RX_PACKED: u8 = 3;

const STAMPED: u64 = 0x10;
const CQ: u64 = 0x400;
const STAMPS: u64 = 0x800;
const LINES: u64 = 0xc00;

/// Rings of a queue.
#[derive(Default)]
pub struct Ring {
    pub context: Context,
    /// Entries posted, entries freed, completions seen.
    pub posted: u32,
    pub freed: u32,
    pub completions: u32,
    pub on: bool,
    /// Number of the last arming, and whether it is answered.
    pub arm: u32,
    pub armed: bool,
    /// Wake-ups that were seen, and cycles for which one is due.
    pub woken: u32,
    pub due: u32,
    /// Cycles for which a packet waits for room, and entries posted by then.
    pub starved: u32,
    pub room_at: u32,
    wanted: Option<u32>,
    due_after: u64,
    /// Time of the last completion.
    time: u64,
}

/// A completion.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    pub bytes: u32,
    pub packets: u16,
    pub status: u8,
    pub position: u16,
    pub flags: u16,
}

pub fn phase(position: u32, log2: u32) -> u64 {
    u64::from(((position >> log2) + 1) as u16)
}

impl Ring {
    /// A new life of queue `queue` of an engine (0: transmit).
    pub fn start(
        &mut self,
        memory: &mut Memory,
        engine: usize,
        queue: usize,
        mut context: Context,
    ) {
        let base = (2 * queue + engine) as u64 * RINGS;
        context.domain = DOMAIN;
        context.vector = (2 * queue + engine) as u16;
        context.at = [0, CQ, STAMPS, LINES, 0].map(|offset| (KEY_RINGS, base + offset));
        context.at[4] = (KEY_RX, queue as u64 * BUFFERS);
        memory.put(KEY_RINGS, base, &[0; RINGS as usize]);
        *self = Self { context, ..Self::default() };
    }

    fn base(&self) -> u64 {
        self.context.at[0].1
    }

    pub fn slots(&self) -> u32 {
        1 << self.context.sq_log2
    }

    pub fn room(&self) -> u32 {
        self.slots() - (self.posted - self.freed)
    }

    /// Posts entries, the first one last; of a torn batch all but the entries from `torn` on.
    pub fn post(&mut self, memory: &mut Memory, entries: &[[u64; 2]]) {
        for (index, entry) in entries.iter().enumerate().rev() {
            let position = self.posted + index as u32;
            let slot = u64::from(position & (self.slots() - 1));
            let second = entry[1] & 0xffff_ffff_ffff | phase(position, self.context.sq_log2) << 48;
            let at = self.base() + 16 * slot;
            memory.put(KEY_RINGS, at, &entry[0].to_le_bytes());
            memory.put(KEY_RINGS, at + 8, &second.to_le_bytes());
        }
        self.posted += entries.len() as u32;
    }

    /// The next completion, if it is there.
    pub fn next(&mut self, memory: &Memory) -> Option<Completion> {
        let slot = u64::from(self.completions & ((1 << self.context.cq_log2) - 1));
        let at = self.base() + CQ + 16 * slot;
        let (first, second) = (memory.word(KEY_RINGS, at), memory.word(KEY_RINGS, at + 8));
        if second >> 48 != phase(self.completions, self.context.cq_log2) {
            return None;
        }
        self.completions += 1;
        let time = memory.word(KEY_RINGS, self.base() + STAMPS + 8 * slot);
        // Stamped completions have times in order.
        assert_eq!((second >> 32 & STAMPED) != 0, self.context.stamp, "STAMPED");
        if self.context.stamp {
            assert!(time > self.time, "time {time} after {}", self.time);
            self.time = time;
        }
        Some(Completion {
            bytes: first as u32,
            packets: (first >> 32) as u16,
            status: (first >> 56) as u8,
            position: second as u16,
            flags: (second >> 32) as u16,
        })
    }

    /// Frees entries up to a position; their number.
    pub fn free(&mut self, position: u16) -> u32 {
        let count = u32::from(position.wrapping_sub(self.freed as u16)) + 1;
        assert!(count <= self.posted - self.freed, "position {position} frees {count}");
        self.freed += count;
        count
    }

    pub fn wants_doorbell(&self, memory: &Memory) -> bool {
        memory.word(KEY_RINGS, self.base() + LINES + 64) >> 32 != 0
    }

    pub fn state(&self, memory: &Memory) -> (u32, u32) {
        let word = memory.word(KEY_RINGS, self.base() + LINES + 72);
        (word as u32, (word >> 32) as u32)
    }

    pub fn wakes(&self, memory: &Memory) -> u32 {
        memory.word(KEY_RINGS, self.base() + LINES + 64) as u32
    }

    /// Submissions and completions of the mark of a full queue.
    pub fn full(&self, memory: &Memory) -> (u32, u32) {
        let word = memory.word(KEY_RINGS, self.base() + LINES + 80);
        ((word >> 32) as u32, word as u32)
    }

    /// Arms for a number of further completions, or for a time after the first one.
    pub fn arm(&mut self, memory: &mut Memory, count: Option<u32>, after_ns: Option<u64>) {
        let lines = self.base() + LINES;
        self.arm = (self.arm + 2) | 1;
        let flags = 8 | u64::from(count.is_some()) | u64::from(after_ns.is_some()) << 2;
        let wanted = self.completions.wrapping_add(count.unwrap_or(0));
        memory.put(KEY_RINGS, lines + 24, &after_ns.unwrap_or(0).to_le_bytes());
        memory.put(KEY_RINGS, lines + 32, &self.completions.to_le_bytes());
        memory.put(KEY_RINGS, lines + 8, &wanted.to_le_bytes());
        memory.put(KEY_RINGS, lines, &(flags << 32 | u64::from(self.arm)).to_le_bytes());
        self.armed = true;
        self.due = 0;
        // A completion past the last one that was seen starts the time.
        self.wanted = count.map(|_| wanted).filter(|_| after_ns.is_none());
        if self.wanted.is_none() {
            self.wanted = Some(self.completions.wrapping_add(1));
            self.due_after = after_ns.unwrap_or(0) / 5;
        } else {
            self.due_after = 0;
        }
    }

    pub fn show(&self, memory: &Memory) -> String {
        let words: Vec<_> = (0..12)
            .map(|i| format!("{:x}", memory.word(KEY_RINGS, self.base() + LINES + 8 * i)))
            .collect();
        format!(
            "{words:?} completions {} wanted {:?} due {} posted {} freed {} {:?}",
            self.completions, self.wanted, self.due, self.posted, self.freed, self.context
        )
    }

    /// The condition of the arming is met.
    pub fn is_due(&self) -> bool {
        self.wanted.is_some_and(|wanted| self.completions.wrapping_sub(wanted) as i32 >= 0)
    }

    /// Cycles after which a wake-up that is due has come. The lines of the queues are served in
    /// turn, with up to three accesses each; a completion may come just after the look at its line,
    /// so two turns may pass. Reads are answered in order, each behind those in flight.
    pub fn patience(&self) -> u64 {
        const TURNS: u64 = 2;
        const ACCESSES: u64 = 3;
        const IN_FLIGHT: u64 = 16;
        /// Cycles that the simulated memory needs for the longest access.
        const CYCLES: u64 = 32;
        TURNS * QUEUES as u64 * ACCESSES * IN_FLIGHT * CYCLES + self.due_after
    }

    /// Cycles for which a wake-up has been due.
    pub fn late(&self) -> u64 {
        u64::from(self.due).saturating_sub(self.due_after)
    }

    pub fn disarm(&mut self, memory: &mut Memory) {
        memory.put(KEY_RINGS, self.base() + LINES, &0u32.to_le_bytes());
        self.armed = false;
    }
}
