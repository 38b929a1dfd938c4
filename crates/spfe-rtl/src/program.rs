//! Programs that run beside the cores, a step in each cycle.
//!
//! A thread that drives a simulated core runs much faster than the core, and how much depends on
//! this machine. A program has the time of the core instead, so what it measures is the same
//! everywhere.

use crate::core::{Core, Counts};
use crate::pins::LaneWord;
use spfe_link::{ControlWord, Word};
use std::any::Any;

/// A program; see [`Machine::run`](crate::Machine::run).
pub trait Program: Any + Send {
    /// Called after each cycle. False ends the program.
    ///
    /// It runs in the thread of the cores, so it must not wait for one: it may post, poll and ring,
    /// but not read registers, open or close.
    fn cycle(&mut self, now: &mut Moment<'_>) -> bool;
}

/// What becomes of a word on a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A bit of its value, 0 to 31, is inverted: a CRC finds it.
    Bit(u32),
    /// A symbol, 0 to 3, is none of the code: the lane finds it.
    Symbol(u32),
}

/// The cores at the end of a cycle.
pub struct Moment<'a> {
    pub(crate) cycle: u64,
    pub(crate) cores: &'a mut [Core],
}

impl Moment<'_> {
    /// Number of the cycle.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// What a core has done.
    pub fn counts(&self, core: usize) -> Counts {
        self.cores[core].counts()
    }

    /// Whether packets can pass a port.
    pub fn is_up(&self, core: usize, port: usize) -> bool {
        self.cores[core].is_up(port)
    }

    /// The words that the lanes of a port have sent in this cycle.
    pub fn sent(&self, core: usize, port: usize) -> &[LaneWord] {
        self.cores[core].lanes_out(port)
    }

    /// The control word that lane 0 of a port has sent in this cycle, if it was one.
    pub fn control(&self, core: usize, port: usize) -> Option<ControlWord> {
        let lane = self.sent(core, port).first().filter(|lane| lane.on)?;
        ControlWord::decode(Word { bits: lane.word as u32, k: (lane.word >> 32) as u8 & 0xf })
    }

    /// Damages the word that a lane has sent in this cycle.
    pub fn damage(&mut self, core: usize, port: usize, lane: usize, damage: Damage) {
        let word = &mut self.cores[core].lanes_out_mut(port)[lane].word;
        *word = match damage {
            Damage::Bit(bit) => *word ^ 1 << bit,
            Damage::Symbol(symbol) => *word & !(0xff << (8 * symbol)) | 1 << (32 + symbol),
        };
    }
}
